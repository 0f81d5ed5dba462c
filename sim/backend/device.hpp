// The interface between a device and the platform. A device is a model, the RTL, or the RTL in
// tandem with a model.
//
// Both directions transfer whole items (a TLP, a record), never beats. A backend with beats cuts
// and joins them. A caller checks `can_...` before each offer. When an env has returned false and
// can accept again, it calls Device::wake(). When a device has returned false, the platform offers
// the item again in each device cycle. All calls happen in the simulation's one thread, at the
// kernel's present time. No call blocks. Architecture 3 and 11. The structs follow the streams of
// docs/spec/streams.yaml.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/payload.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"

namespace rnic::sim {

/// The client (purpose) of a DMA transfer, only for checkers, traces and counters. No simulated
/// behaviour may depend on it. The first eight keep their order: device_rtl.cpp casts the numbers
/// of the RTL's commits to them, 0 to 3 of reads and 4 to 7 of writes (docs/spec/commits.yaml).
enum class Client : uint8_t {
  kSqFetch,
  kRqFetch,
  kAdmin,
  kPayload,
  kPlace,
  kCq,
  kMsix,
  kAdminWrite,
  kQn1,   ///< read of an old value, for an atomic
  kReg,   ///< read of a page list, for a fast registration
  kWord,  ///< store of 8 bytes: atomic, Atomic Write, result of an atomic
  kUnknown
};
inline std::string_view to_string(Client client) {
  constexpr std::string_view kNames[] = {"sq_fetch", "rq_fetch", "admin", "payload",
                                         "place",    "cq",       "msix",  "admin_write",
                                         "qn1",      "reg",      "word",  "unknown"};
  return kNames[static_cast<size_t>(client)];
}

// relaxed: PCIe's relaxed ordering. no_alloc: a hint not to keep the bytes in a cache.
struct DmaWrite {  // stream dma_wr, one TLP
  uint64_t address = 0;
  Payload data;  // 1..MPS bytes, never across 4 KiB
  bool relaxed = false, no_alloc = false;
  Client client = Client::kUnknown;
};
struct DmaRead {  // stream dma_rd_req
  uint8_t tag = 0;
  uint64_t address = 0;
  uint32_t length = 0;  // 1..MRRS, never across 4 KiB
  bool relaxed = false, no_alloc = false;
  Client client = Client::kUnknown;
};
struct DmaPiece {  // stream dma_rd_rsp, one completion TLP
  uint8_t tag = 0;
  spec::RdStatus status = spec::RdStatus::kOk;
  bool is_last = false;
  Payload data;
};
struct Mmio {  // stream mmio_req
  bool is_write = false;
  uint8_t bar = 0;
  uint32_t offset = 0;
  uint8_t bytes = 8;   // 4, 8, or 64 (a push)
  uint64_t value = 0;  // writes of 4 and 8 bytes
  Payload data;        // writes of 64 bytes
};
struct Record {  // streams llp_rx, llp_tx
  uint16_t connection = 0;
  bool is_stream = false;  // bytes of streaming mode; else an FPDU
  bool error = false;      // damaged; llp_rx only
  Payload data;
};

/// The outputs of a device; the platform implements them, once per device.
class DeviceEnv {
 public:
  virtual ~DeviceEnv() = default;
  virtual bool can_dma_write() const = 0;  // posted credit for one more TLP
  virtual void dma_write(DmaWrite w) = 0;
  virtual bool can_dma_read() const = 0;  // non-posted credit
  virtual void dma_read(DmaRead r) = 0;
  virtual void mmio_response(uint64_t value) = 0;  // responses to reads, in order
  virtual bool can_llp_tx() const = 0;
  virtual void llp_tx(Record r) = 0;
  virtual void llp_ctl(const spec::LlpCtlReq& req) = 0;  // always accepted
};

/// A device. Backend factories create it; the simulation owns it.
class Device {
 public:
  virtual ~Device() = default;
  virtual void attach(DeviceEnv& env) = 0;  // before simulation starts, once
  virtual void reset() = 0;                 // all state as after power-on; drops what is in flight
  virtual void set_pcie(const spec::PcieCfg& cfg) = 0;  // from configuration space
  virtual bool can_mmio() const = 0;
  virtual void mmio(Mmio m) = 0;
  virtual void dma_piece(DmaPiece p) = 0;  // always accepted: the device reserved the space
  virtual bool can_llp_rx() const = 0;
  virtual void llp_rx(Record r) = 0;
  virtual void llp_event(
      const spec::LlpCtlEvt& evt) = 0;  // always accepted, in order with llp_rx records
  virtual void llp_credit(const spec::LlpCredit& credit) = 0;  // always accepted
  virtual void wake() = 0;  // env may accept an item now that it refused before
  virtual const spec::Sizes& sizes() const = 0;
  virtual std::string describe() const = 0;  // "rtl", "model (default)", "tandem (minimum)"
  /// During and after the run: empty, or the first failure (an assertion, a mismatch).
  virtual std::string failure() const = 0;
  /// For the watchdog: one line for each part that waits, with what it waits for. Empty if no item
  /// is outstanding.
  virtual std::string waiting_for() const = 0;
  /// From the watchdog: there was no progress for half of its period. A device may record its state
  /// now, so that waiting_for() can report the parts that have not changed since.
  virtual void stands_still() {}
  virtual uint64_t cycles() const = 0;  // device cycles stepped so far
};

}  // namespace rnic::sim
