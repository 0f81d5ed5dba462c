// RtlPins that replace those of sim/backend: the plain builds, or the builds with faults
// (RNIC_MUTANT_RTL: `stall` and default). The chosen fault is enabled in the RTL or in its trace.
#include "VRnicMin.h"
#include "VRnicMin___024root.h"
#include "VRnicStall.h"
#include "VRnicStall___024root.h"
#include "VRnicStall_rnic_stall_pkg.h"
#ifdef RNIC_MUTANT_RTL
#include "VRnic.h"
#include "VRnicMutant.h"
#include "VRnicMutantFull.h"
#include "VRnicMutantFull___024root.h"
#include "VRnicMutantFull_rnic_mutant_pkg.h"
#include "VRnicMutant___024root.h"
#include "VRnicMutant_rnic_mutant_pkg.h"
#include "VRnicMutant_rnic_stall_pkg.h"
#include "VRnic___024root.h"
#endif

#include <concepts>

#include "backend/stall_pins.hpp"
#include "mutants/faults.hpp"
#include "mutants/trace.hpp"

namespace rnic::mutants {
namespace {

#ifdef RNIC_MUTANT_RTL
template <class V>
class Faulty final : public V {
 public:
  explicit Faulty(VerilatedContext* context) : V(context) {
    this->__PVT__rnic_mutant_pkg->selected = chosen().rtl;
  }
  void trace(VerilatedFstC*, int) {}  // built without tracing
};
#endif

using Inner = std::unique_ptr<sim::RtlPins>;

[[maybe_unused]] bool has_sleepers() { return chosen().rtl != 0 || chosen().with_sleepers; }

Inner make_minimum(uint64_t seed) { return std::make_unique<sim::VerilatedRnic<VRnicMin>>(seed); }

Inner make_stall(uint64_t seed, const sim::Stalls& stalls) {
#ifdef RNIC_MUTANT_RTL
  if (has_sleepers()) return std::make_unique<sim::StallPins<Faulty<VRnicMutant>>>(seed, stalls);
#endif
  return std::make_unique<sim::StallPins<VRnicStall>>(seed, stalls);
}

// The program without faults in the RTL has no default build: none of its programs uses one.
Inner make_default(uint64_t seed) {
#ifdef RNIC_MUTANT_RTL
  if (has_sleepers()) return std::make_unique<sim::VerilatedRnic<Faulty<VRnicMutantFull>>>(seed);
  return std::make_unique<sim::VerilatedRnic<VRnic>>(seed);
#else
  return make_minimum(seed);
#endif
}

/// Adds a number to the hash of the pins (FNV-1a, by words in place of bytes).
void fold(std::integral auto v) {
  pins_fold = (pins_fold ^ static_cast<uint64_t>(v)) * 0x100000001b3;
}
template <class T>
void fold_words(const T& item) {
  for (const uint32_t w : item.to_words()) fold(w);
}

class Pins final : public sim::RtlPins {
 public:
  explicit Pins(Inner inner) : inner_(std::move(inner)) {
    if (chosen().has_trace) spoiler_ = std::make_unique<TraceSpoiler>(chosen().trace);
  }
  void cycle() override {
    inner_->rst_n = rst_n;
    inner_->pcie_cfg = pcie_cfg;
    inner_->want_commits = want_commits;
    inner_->want_streams = want_streams;
    inner_->in = in;
    inner_->out = out;
    inner_->cycle();
    in = inner_->in;
    out = inner_->out;
    commits = inner_->commits;
    streams = inner_->streams;
    see();
    if (spoiler_) spoiler_->edit(commits, out);
    // This cycle is reported to the follower next; Watch::cycle_done() (runs.cpp) resets the
    // number.
    model_selected = chosen().model;
  }
  sim::StreamStates streams_now() const override { return inner_->streams_now(); }
  std::string failure() override { return inner_->failure(); }
  void open_wave(const std::string& file, const std::string& unit) override {
    inner_->open_wave(file, unit);
  }
  void close_wave() override { inner_->close_wave(); }
  void snapshot(const std::string& file) override { inner_->snapshot(file); }
  void snapshot_idle(const std::string& file, uint64_t cycles) override {
    inner_->snapshot_idle(file, cycles);
  }

 private:
  /// Adds this cycle's handshakes, transferred items and commits to the hash.
  void see() {
    const auto see_in = [](const auto& pin) { fold(pin.valid << 1 | int{pin.ready}); };
    const auto see_out = [](const auto& pin) {
      fold(pin.valid << 1 | int{pin.ready});
      if (pin.fired()) fold_words(pin.item);
    };
    see_in(in.mmio_req), see_in(in.dma_rd_rsp), see_in(in.llp_rx_hdr), see_in(in.llp_rx);
    see_in(in.llp_ctl_evt), see_in(in.llp_credit);
    see_out(out.mmio_rsp), see_out(out.dma_rd_req), see_out(out.dma_wr), see_out(out.llp_tx_hdr);
    see_out(out.llp_tx), see_out(out.llp_ctl_req);
    for (const auto& c : commits) std::visit([](const auto& x) { fold_words(x); }, c);
  }

  Inner inner_;
  std::unique_ptr<TraceSpoiler> spoiler_;
};

}  // namespace

bool has_rtl_faults() {
#ifdef RNIC_MUTANT_RTL
  return true;
#else
  return false;
#endif
}

}  // namespace rnic::mutants

namespace rnic::sim {

std::unique_ptr<RtlPins> make_rtl_pins_minimum(uint64_t seed) {
  return std::make_unique<mutants::Pins>(mutants::make_minimum(seed));
}
std::unique_ptr<RtlPins> make_rtl_pins_default(uint64_t seed) {
  return std::make_unique<mutants::Pins>(mutants::make_default(seed));
}
std::unique_ptr<RtlPins> make_rtl_pins_stall(uint64_t seed, const Stalls& stalls) {
  return std::make_unique<mutants::Pins>(mutants::make_stall(seed, stalls));
}

}  // namespace rnic::sim
