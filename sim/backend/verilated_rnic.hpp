// RtlPins over a Verilated `rnic`. Include the Verilated header first, then this; one .cpp per
// build.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstring>
#include <memory>
#include <string>

#include "backend/gen/commit_taps.hpp"
#include "backend/gen/stream_taps.hpp"
#include "backend/rtl_coverage.hpp"
#include "backend/rtl_pins.hpp"
#include "base/clock.hpp"

namespace rnic::sim {

// A generated struct is the packed SystemVerilog vector as 32-bit words, bit 0 first. A port is an
// integer or VlWide words.
template <class Port, class T>
void put_port(Port& port, const T& item) {
  const auto w = item.to_words();
  if constexpr (std::is_integral_v<Port>) {
    uint64_t v = w[0];
    if constexpr (w.size() > 1) v |= uint64_t{w[1]} << 32;
    port = static_cast<Port>(v);
  } else {
    std::memcpy(port.data(), w.data(), sizeof w);
  }
}
template <class T, class Port>
T get_port(const Port& port) {
  if constexpr (std::is_integral_v<Port>) {
    const uint32_t w[2] = {static_cast<uint32_t>(port),
                           static_cast<uint32_t>(uint64_t{port} >> 32)};
    return T::from_words(w);
  } else {
    return T::from_words(port.data());
  }
}

template <class V>
class VerilatedRnic : public RtlPins {
 public:
  explicit VerilatedRnic(uint64_t seed) {
    ctx_.randReset(seed == 0 ? 0 : 2);  // 0: zeros; 2: random by randSeed
    ctx_.randSeed(static_cast<int>(seed & 0x7fffffff));
    ctx_.fatalOnError(false);
    ctx_.traceEverOn(true);
    top_ = std::make_unique<V>(&ctx_);
  }
  ~VerilatedRnic() override {
    close_wave();
    top_->final();
    write_rtl_coverage(ctx_);
    Verilated::threadContextp(&ctx_);  // Verilator removes scopes from this context, for any device
    top_.reset();
  }

  // In each macro, s is the stream's name in RtlPins and in the ports of `rnic`.
  void cycle() override {
    V& t = *top_;
    t.rst_ni = rst_n;
    put_port(t.pcie_cfg_i, pcie_cfg);
#define RNIC_PIN_IN(s)                            \
  t.s##_valid_i = in.s.valid;                     \
  if (in.s.dirty) {                               \
    if (in.s.valid) put_port(t.s##_i, in.s.item); \
    in.s.dirty = false;                           \
  }
    RNIC_PIN_IN(mmio_req)
    RNIC_PIN_IN(dma_rd_rsp)
    RNIC_PIN_IN(llp_rx_hdr)
    RNIC_PIN_IN(llp_rx)
    RNIC_PIN_IN(llp_ctl_evt)
    RNIC_PIN_IN(llp_credit)
#undef RNIC_PIN_IN
#define RNIC_PIN_READY(s) t.s##_ready_i = out.s.ready;
    RNIC_PIN_READY(mmio_rsp)
    RNIC_PIN_READY(dma_rd_req)
    RNIC_PIN_READY(dma_wr)
    RNIC_PIN_READY(llp_tx_hdr)
    RNIC_PIN_READY(llp_tx)
    RNIC_PIN_READY(llp_ctl_req)
#undef RNIC_PIN_READY
    t.clk_i = 0;
    t.eval();
    dump(0);
    in.mmio_req.ready = t.mmio_req_ready_o;
    in.dma_rd_rsp.ready = t.dma_rd_rsp_ready_o;
    in.llp_rx_hdr.ready = t.llp_rx_hdr_ready_o;
    in.llp_rx.ready = t.llp_rx_ready_o;
    in.llp_ctl_evt.ready = t.llp_ctl_evt_ready_o;
    in.llp_credit.ready = t.llp_credit_ready_o;
#define RNIC_PIN_OUT(s, T)     \
  out.s.valid = t.s##_valid_o; \
  if (out.s.valid && out.s.ready) out.s.item = get_port<spec::T>(t.s##_o);
    RNIC_PIN_OUT(mmio_rsp, MmioRsp)
    RNIC_PIN_OUT(dma_rd_req, DmaRdReq)
    RNIC_PIN_OUT(dma_wr, DmaWr)
    RNIC_PIN_OUT(llp_tx_hdr, LlpTxHdr)
    RNIC_PIN_OUT(llp_tx, LlpTx)
    RNIC_PIN_OUT(llp_ctl_req, LlpCtlReq)
#undef RNIC_PIN_OUT
    commits.clear();
    if (rst_n && (want_commits || out.dma_wr.fired() || out.dma_rd_req.fired()))
      sample_commits(*t.rootp, [this](const auto& c) { commits.emplace_back(c); });
    if (want_streams) sample_streams(*t.rootp, streams);
    t.clk_i = 1;
    t.eval();
    dump(1551);  // half of a cycle (base/clock.hpp), rounded down: the rising edge
    ++cycles_;
    if (ctx_.gotError() && failure_.empty()) {
      failure_ = "an assertion of the RTL failed in device cycle " + std::to_string(cycles_) +
                 " (its name is on the error output)";
    }
  }

  StreamStates streams_now() const override {
    StreamStates s{};
    sample_streams(*top_->rootp, s);
    return s;
  }

  std::string failure() override { return failure_; }

  void open_wave(const std::string& file, const std::string& unit) override {
    wave_ = std::make_unique<VerilatedFstC>();
    if (!unit.empty()) wave_->dumpvars(kAllLevels, "TOP.rnic.u_" + unit);
    top_->trace(wave_.get(), kAllLevels);
    wave_->open(file.c_str());
  }
  void close_wave() override {
    if (wave_) wave_->close();
    wave_.reset();
  }
  void snapshot(const std::string& file) override {
    VerilatedFstC to;
    top_->trace(&to, kAllLevels);
    to.open(file.c_str());
    to.dump(uint64_t{0});
    to.close();
  }
  void snapshot_idle(const std::string& file, uint64_t cycles) override {
    constexpr uint64_t kReset = 8;  // cycles under reset
    {
      VerilatedRnic<V> other(0);
      other.out.mmio_rsp.ready = other.out.dma_rd_req.ready = other.out.dma_wr.ready = true;
      other.out.llp_tx_hdr.ready = other.out.llp_tx.ready = other.out.llp_ctl_req.ready = true;
      for (uint64_t c = 0; c < kReset + cycles; ++c) {
        other.rst_n = c >= kReset;
        other.cycle();
      }
      other.snapshot(file);
    }
    Verilated::threadContextp(&ctx_);  // `other` has set its own, which is gone
  }

 protected:
  V& top() { return *top_; }

 private:
  static constexpr int kAllLevels = 99;  // levels of the hierarchy
  void dump(uint64_t offset_ps) {
    if (wave_) wave_->dump(base::time_of_cycle(cycles_) + offset_ps);
  }
  VerilatedContext ctx_;
  std::unique_ptr<V> top_;
  std::unique_ptr<VerilatedFstC> wave_;
  uint64_t cycles_ = 0;
  std::string failure_;
};

}  // namespace rnic::sim
