// Items that carry bytes between units: the generated header of a packet stream, and its payload by
// reference. One item here is x_hdr and the beats of x in the RTL.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/payload.hpp"
#include "gen/streams.hpp"

namespace rnic::model {

/// Send, with or without Invalidate; Immediate Data is is_immediate().
constexpr bool is_send(spec::WrOpcode op) {
  return op == spec::WrOpcode::kSend || op == spec::WrOpcode::kSendWithInv;
}

/// Send WQEs that carry Immediate Data: an Immediate, or the end of a Write with Immediate.
constexpr bool is_immediate(spec::WrOpcode op) {
  return op == spec::WrOpcode::kImmediate || op == spec::WrOpcode::kRdmaWriteWithImm;
}

/// Requests to our own table with operands inline: fast registration, bind. The next WQE waits
/// until the request is done, because it may use the key that the request opens.
constexpr bool opens_key(spec::WrOpcode op) {
  return op == spec::WrOpcode::kRegMr || op == spec::WrOpcode::kBindMw;
}

/// Why memory is read or written. Units set the purpose, and the follower of the tandem finds reads
/// by it. Of the model's behaviour, only HostIf::Wr::next() depends on it: kMsix marks an
/// MSI-X message.
enum class Purpose : uint8_t {
  kSqFetch,
  kRqFetch,
  kAdmin,
  kPayload,
  kPlace,
  kCq,
  kMsix,
  kAdminWrite,
  kQn1,  // read of an old value, for an atomic
  kReg,  // page list of a fast registration
  kWord  // store of 8 bytes
};

/// A read of host memory that a unit requests. Responses arrive in the requester's order.
struct MemRead {
  Purpose purpose{};
  uint16_t qpn = 0;
  uint64_t address = 0;
  uint32_t length = 0;
};
struct MemData {  // the response to a MemRead
  spec::RdStatus status{};
  Payload data;  // empty if the status is not ok
};

/// The bus extents of a segment. The lists are pooled, because most segments have one extent and a
/// few have thirty.
class ExtentList {
 public:
  ExtentList() = default;
  ExtentList(ExtentList&& o) noexcept : list_(std::exchange(o.list_, nullptr)) {}
  ExtentList& operator=(ExtentList&& o) noexcept {
    std::swap(list_, o.list_);
    return *this;
  }
  ~ExtentList() {
    if (list_ == nullptr) return;
    list_->clear();
    pool().push_back(list_);
  }
  void add(const spec::Extent& e) {
    if (list_ == nullptr) list_ = take();
    list_->push_back(e);
  }
  bool empty() const { return list_ == nullptr || list_->empty(); }
  std::span<const spec::Extent> all() const {
    return list_ == nullptr ? std::span<const spec::Extent>{}
                            : std::span<const spec::Extent>{*list_};
  }
  spec::Extent& back() { return list_->back(); }

 private:
  using List = std::vector<spec::Extent>;
  static std::vector<List*>& pool() {
    static std::vector<List*> p;
    return p;
  }
  static List* take() {
    if (pool().empty()) return new List;  // lives in the pool for the whole run
    List* l = pool().back();
    pool().pop_back();
    return l;
  }
  List* list_ = nullptr;
};

struct Wqe {  // wqe_hdr, wqe: body is num_sge SGEs of 16 bytes, or the inline data
  spec::WqeHdr hdr;
  Payload body;
};
struct TxMessage {  // tx_message_hdr, tx_message
  spec::TxMessageHdr hdr;
  Payload body;
};
struct PayloadFetch {  // payload_req, tx_extent
  spec::PayloadReq hdr;
  uint16_t qpn = 0;
  ExtentList extents;
};
struct PayloadData {  // payload_hdr, payload
  spec::PayloadHdr hdr;
  rnic::Payload data;
};
struct TxUlpdu {  // tx_ulpdu_hdr, tx_ulpdu: the DDP header, then the payload
  spec::TxUlpduHdr hdr;
  uint8_t header_bytes = 0;
  std::array<uint8_t, 18> header{};
  rnic::Payload payload;
};
struct TxFpdu {  // tx_fpdu_hdr, tx_fpdu
  spec::TxFpduHdr hdr;
  rnic::Payload data;
};
struct RxFpdu {  // rx_fpdu_hdr, rx_fpdu
  spec::RxFpduHdr hdr;
  rnic::Payload data;
  bool error = false;
};
struct RxUlpdu {  // rx_ulpdu_hdr, rx_ulpdu
  spec::RxUlpduHdr hdr;
  rnic::Payload data;
};
struct Place {  // place_hdr, place_extent, place
  uint16_t qpn = 0;
  ExtentList extents;
  rnic::Payload data;
};
struct RawBytes {  // raw_tx_hdr, raw_tx; raw_rx_hdr, raw_rx
  uint16_t connection = 0;
  rnic::Payload data;
  bool ended = false;  // raw_rx: no bytes, the connection has ended
};

}  // namespace rnic::model
