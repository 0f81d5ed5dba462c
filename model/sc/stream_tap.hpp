// Reports when an item crosses from one unit of the model to the next. The names are those of
// docs/spec/streams.yaml, so that an observer sees the model like the RTL.
//
//   struct Record final : StreamTap { void pass(Stream s, Cycle at) override { ... } };
//   Rnic rnic(sizes, timing, clock, world, &record);
//
// A unit calls pass() where it knows the cycle: when it sends the item, or when it computes the
// item's time. Hence `at` may lie ahead of the present cycle. `at` is the cycle in which the item
// reaches the consumer's input queue; waits in that queue belong to the consumer.
#pragma once

#include <array>
#include <cstdint>

#include "sc/dispatcher.hpp"

namespace rnic::model {

enum class Stream : uint8_t {
  kQpDoorbell,
  kSqRdReq,
  kSqRdHdr,
  kWqeCheck,
  kWqeCheckRsp,
  kWqeHdr,
  kTxMessageHdr,
  kTxWant,
  kTxGrant,
  kPayloadReq,
  kTxExtent,
  kPayloadHdr,
  kTxUlpduHdr,
  kTxFpduHdr,
  kRxFpduHdr,
  kRxUlpduHdr,
  kRqTakeReq,
  kRqTakeRsp,
  kRxXlate,
  kRxXlateRsp,
  kRxSegment,
  kRxVerdict,
  kPlaceHdr,
  kRespCheck,
  kRespCheckRsp,
  kAtomicReq,
  kQn1Xlate,
  kQn1Extent,
  kQn1RdReq,
  kQn1RdHdr,
  kRegRdReq,
  kRegRdHdr,
  kWordWr,
  kWordDone,
  kAtomicRsp,
  kWrDone,
  kRxDone,
  kResDone,
  kCqeReq,
  kCqWr,
};
/// Names of docs/spec/streams.yaml, in the order of Stream.
inline constexpr std::array kTappedStreams = {
    "qp_doorbell",    "sq_rd_req",    "sq_rd_hdr",   "wqe_check",    "wqe_check_rsp", "wqe_hdr",
    "tx_message_hdr", "tx_want",      "tx_grant",    "payload_req",  "tx_extent",     "payload_hdr",
    "tx_ulpdu_hdr",   "tx_fpdu_hdr",  "rx_fpdu_hdr", "rx_ulpdu_hdr", "rq_take_req",   "rq_take_rsp",
    "rx_xlate",       "rx_xlate_rsp", "rx_segment",  "rx_verdict",   "place_hdr",     "resp_check",
    "resp_check_rsp", "atomic_req",   "qn1_xlate",   "qn1_extent",   "qn1_rd_req",    "qn1_rd_hdr",
    "reg_rd_req",     "reg_rd_hdr",   "word_wr",     "word_done",    "atomic_rsp",    "wr_done",
    "rx_done",        "res_done",     "cqe_req",     "cq_wr"};
static_assert(kTappedStreams.size() == static_cast<size_t>(Stream::kCqWr) + 1);

class StreamTap {
 public:
  virtual ~StreamTap() = default;
  virtual void pass(Stream stream, Cycle at) = 0;
};

}  // namespace rnic::model
