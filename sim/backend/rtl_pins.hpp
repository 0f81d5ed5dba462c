// The pins of `rnic` (rtl/gen/rnic.sv), one cycle per call, without the headers of Verilator or
// SystemC: the two cannot share a translation unit. verilated_rnic.hpp implements it for each
// Verilated build.
//
//   auto pins = make_rtl_pins(RtlBuild::kDefault, 0);
//   pins->in.mmio_req.set(req);
//   pins->out.dma_wr.ready = true;
//   pins->cycle();
//   if (pins->out.dma_wr.fired()) ...
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/gen/stream_taps.hpp"
#include "gen/commits.hpp"
#include "gen/streams.hpp"

namespace rnic::sim {

/// A stream into the device: offered until accepted. set() starts an offer.
template <class T>
struct PinIn {
  bool valid = false;
  T item{};
  bool ready = false;  // as sampled before the edge
  void set(const T& t) {
    item = t;
    valid = dirty = true;
  }
  /// True in the cycle in which the item was accepted; the offer then ends.
  bool take_fired() {
    const bool f = valid && ready;
    if (f) {
      valid = false;
      dirty = true;
    }
    return f;
  }
  bool dirty = true;  // must be written to the port
};

/// A stream out of the device; `ready` applies to the next edge.
template <class T>
struct PinOut {
  bool ready = false;
  bool valid = false;
  T item{};  // valid only if `valid`
  bool fired() const { return valid && ready; }
};

/// The Verilated builds (architecture 3): all sizes at their defaults; all sizes at their minimum;
/// small sizes with inner streams that stall at random (rtl/stall). Values above kStall are the
/// builds of RNIC_BUILDS, in their order (rtl_builds.hpp).
enum class RtlBuild : uint8_t { kDefault, kMinimum, kStall };

/// How the build `stall` stalls streams.
struct Stalls {
  uint32_t percent = 0;  ///< of the cycles, for most of the cells
  uint64_t seed = 0;
};

class RtlPins {
 public:
  struct In {
    PinIn<spec::MmioReq> mmio_req;
    PinIn<spec::DmaRdRsp> dma_rd_rsp;
    PinIn<spec::LlpRxHdr> llp_rx_hdr;
    PinIn<spec::LlpRx> llp_rx;
    PinIn<spec::LlpCtlEvt> llp_ctl_evt;
    PinIn<spec::LlpCredit> llp_credit;
  };
  struct Out {
    PinOut<spec::MmioRsp> mmio_rsp;
    PinOut<spec::DmaRdReq> dma_rd_req;
    PinOut<spec::DmaWr> dma_wr;
    PinOut<spec::LlpTxHdr> llp_tx_hdr;
    PinOut<spec::LlpTx> llp_tx;
    PinOut<spec::LlpCtlReq> llp_ctl_req;
  };
  virtual ~RtlPins() = default;
  bool rst_n = false;
  spec::PcieCfg pcie_cfg{};
  In in;
  Out out;
  /// The commits of this edge, in the order of docs/spec/commits.yaml: all of them if wanted.
  /// Otherwise only those of an edge that accepted a DMA request or write (they name its client).
  bool want_commits = false;
  std::vector<spec::AnyCommit> commits;
  /// Every stream at this edge, if wanted.
  bool want_streams = false;
  StreamStates streams{};
  /// Settles the inputs, samples both directions, then clocks. After the call, `in.*.ready` and
  /// `out.*.valid, item` are those of this edge.
  virtual void cycle() = 0;
  /// The state of every stream between two edges.
  virtual StreamStates streams_now() const = 0;
  /// The first assertion that failed, or empty.
  virtual std::string failure() = 0;
  /// `unit`: writes only the signals of this unit below the top; empty: all.
  virtual void open_wave(const std::string& file, const std::string& unit) = 0;
  virtual void close_wave() = 0;
  /// Writes a waveform of only this instant, for RtlSnapshot::read(). Writes nothing if the build
  /// has no waveforms.
  virtual void snapshot(const std::string& file) = 0;
  /// The same for another device of this build that has idled for `cycles` after its reset.
  virtual void snapshot_idle(const std::string& file, uint64_t cycles) = 0;
};

/// Seed 0: every register starts at zero; otherwise random (Verilator's --x-initial unique).
std::unique_ptr<RtlPins> make_rtl_pins(RtlBuild build, uint64_t seed, const Stalls& stalls = {});
std::unique_ptr<RtlPins> make_rtl_pins_default(uint64_t seed);
std::unique_ptr<RtlPins> make_rtl_pins_minimum(uint64_t seed);
std::unique_ptr<RtlPins> make_rtl_pins_stall(uint64_t seed, const Stalls& stalls);

}  // namespace rnic::sim
