// Message layer, RFC 5040: turns work requests into messages, interprets received segments, serves
// Reads and Flushes in both directions, and is the only unit that decides a QP's error. RTL:
// rtl/rdmap/rdmap.sv
//
//   Rdmap rdmap(sizes, tpt, out);   rdmap.control({QpOp::kStart, qpn, params});
//   auto m = rdmap.request(wqe);                    // a message of the send queue
//   auto v = rdmap.rx_segment(segment);             // verdict: accept, place, deliver
//   auto r = rdmap.respond(rdmap.responders().next(last + 1));
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddp/ddp.hpp"
#include "gen/errors.hpp"
#include "gen/iwarp.hpp"
#include "gen/sizes.hpp"
#include "sc/ready_set.hpp"
#include "stream/packets.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

class Rdmap final : public SegmentJudge {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void qp_ack_rdmap(const spec::QpAckRdmap& ack) = 0;
    virtual void qp_error(const spec::QpError& error) = 0;
    virtual void terminate(TxMessage m) = 0;  // tx_message of source term; its slot is always free
    virtual void responder_ready(uint16_t qpn) = 0;  // the QP is now in responders()
    /// The old value of an Atomic Response, to be stored in its sink.
    virtual void result(const spec::AtomicReq& result) = 0;
    /// A request of the send queue to our own table: invalidation, fast registration or bind.
    virtual void sq_local(const spec::SqLocal& request) = 0;
  };
  Rdmap(const spec::Sizes& sizes, const Translation& tpt, Out& out);

  void control(const spec::QpCtlRdmap& ctl);

  /// Returns the message of a WQE. Nothing if the QP has stopped or failed, or if the WQE is for
  /// our own table (Out::sq_local()).
  std::optional<TxMessage> request(Wqe wqe);

  /// QPs with a pending inbound request and a free response slot.
  const ReadySet& responders() const { return responders_; }
  /// Starts to serve the QP's oldest request, a Read or Flush, and returns its response message.
  /// Nothing if its range fails the check.
  std::optional<TxMessage> respond(uint16_t qpn);
  /// ddp has sent the response: the request leaves the IRD.
  void resp_slot_free(const spec::RespSlotFree& free);

  // Atomics and Atomic Writes: RFC 7306 section 5, draft-talpey-rdma-commit-01 section 3.1.3.
  struct Turn {
    spec::AtomicReq request;
    uint64_t watermark = 0;   // number of placements before the request
    uint32_t request_id = 0;  // of an Atomic Request
  };
  /// Whether the QP's oldest request is an atomic or Atomic Write.
  bool is_atomic(uint16_t qpn) const;
  /// Returns that request for unit atomic. atomic may begin it when its watermark is placed and
  /// fetched() is true for the QP.
  Turn begin_atomic(uint16_t qpn);
  /// All payload of earlier Read Responses has been read (ambiguities.md 2.2).
  bool fetched(uint16_t qpn) const { return qps_[qpn].unfetched == 0; }
  void resp_fetched(const spec::RespFetched& f);
  /// Unit atomic drops a request that has not begun if its QP is not alive.
  bool is_alive(uint16_t qpn) const { return qps_[qpn].running && !qps_[qpn].failed; }
  /// Returns the response message; nothing if the request or its QP has failed.
  std::optional<TxMessage> atomic_rsp(const spec::AtomicRsp& rsp);
  /// The response message of a request with this Request Identifier, which was executed.
  static TxMessage atomic_message(const spec::AtomicRsp& rsp, uint32_t request_id);

  /// Judges a received segment after ddp's checks.
  spec::RxVerdict rx_segment(const spec::RxSegment& segment) override;

  void qp_fault(const spec::QpFault& fault);  // an error that qp found: the QP fails
  void tx_fault(const spec::TxFault& fault);  // ddp or tpt could not execute a request or response
  /// The tx_fault of a request to our own table that has failed.
  static spec::TxFault failure_of(const spec::SqLocalDone& done) {
    return {.qpn = done.qpn,
            .source = spec::TxSource::kSq,
            .slot = done.slot,
            .status = done.status,
            .result = done.result};
  }
  std::string waiting_for() const;
  /// For benches: sets the count of placements accepted since reset, to reach values that take too
  /// many segments to simulate.
  void set_placed(uint64_t count) { placed_ = count; }

 private:
  enum class Kind : uint8_t { kRead, kFlush, kAtomic, kAtomicWrite };
  struct Outstanding {  // a request of ours: ORD
    Kind kind = Kind::kRead;
    uint32_t msn = 0;
    uint32_t sink_stag = 0, length = 0, received = 0;  // length, received: bytes of a Read
    uint64_t sink_to = 0;
    uint8_t slot = 0;  // of its WQE in qp's window
  };
  struct Inbound {  // a request of the peer: IRD
    Kind kind = Kind::kRead;
    spec::ReadRequest read{};
    spec::FlushRequest flush{};
    spec::AtomicRequest atomic{};
    spec::AtomicWriteRequest write{};
    std::array<uint8_t, 70> head{};  // as received: DDP header 18, longest request (atomic) 52
    uint16_t ulpdu_length = 0;
    uint64_t watermark = 0;  // placements accepted before the request
  };
  struct Qp {
    // heard: a segment of the peer has come. responding: a response is in ddp or unit atomic.
    bool running = false, failed = false, heard = false, responding = false;
    bool closing = false;  // qp has ordered half_close
    /// No response is left to send: qp may send the FIN.
    bool closed() const { return closing && ird_count == 0; }
    spec::QpParams params;
    uint8_t ord_head = 0, ord_count = 0, ird_head = 0, ird_count = 0;
    uint32_t msn = 1;        // MSN of the next request
    uint32_t unfetched = 0;  // Read Responses whose last payload has not been read
  };
  struct Failure {
    spec::Cause cause{};
    std::span<const uint8_t> head;  // of the offending segment
    uint16_t ulpdu_length = 0;
    bool has_wr = false, has_peer_term = false;
    uint8_t slot = 0;  // has_wr: the WQE that failed, with its status
    spec::WcStatus status{};
    uint16_t peer_term = 0;  // has_peer_term: layer, type and code of the peer's Terminate
  };
  // The QP's i-th oldest request: of ours, of the peer.
  Outstanding& ord(const Qp& q, uint32_t i) {
    return ord_[q.params.ord_base + (q.ord_head + i) % q.params.ord];
  }
  Inbound& ird(const Qp& q, uint32_t i) {
    return ird_[q.params.ird_base + (q.ird_head + i) % q.params.ird];
  }
  const Inbound& ird(const Qp& q, uint32_t i) const {
    return ird_[q.params.ird_base + (q.ird_head + i) % q.params.ird];
  }
  void fail(uint16_t qpn, const Failure& f);
  void update_responder(uint16_t qpn);
  void tell_closed(uint16_t qpn);
  spec::Cause rx_check(Qp& q, const spec::RxSegment& s, spec::RxVerdict& v);
  spec::Cause request_in(Qp& q, const spec::RxSegment& s, Inbound in);
  spec::Cause flush_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last);
  spec::Cause atomic_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last);
  spec::Cause atomic_write_request(Qp& q, const spec::RxSegment& s, uint32_t length, bool last);
  spec::Cause atomic_response(Qp& q, const spec::RxSegment& s, uint32_t length, bool last);
  spec::Cause empty_response(Qp& q, Kind kind, uint32_t length, bool last, spec::RxVerdict& v);
  void own_request(Qp& q, const Wqe& wqe, TxMessage& m);
  void answered(Qp& q, spec::RxVerdict& v);
  spec::TptResult check_range(uint16_t qpn, const Inbound& in) const;
  spec::Cause read_response(Qp& q, const spec::RxSegment& s, uint32_t length, bool last,
                            spec::RxVerdict& v);
  void peer_terminate(uint16_t qpn, const spec::RxSegment& s);

  const Translation& tpt_;
  Out& out_;
  std::vector<Qp> qps_;
  std::vector<Outstanding> ord_;
  std::vector<Inbound> ird_;
  ReadySet responders_;
  uint64_t placed_ = 0;  // placements accepted so far, over all QPs
};

/// Returns the bytes of a Terminate. head, ulpdu_length: of the segment with the error; head is
/// empty if there is none. RFC 5040 section 4.8, requirements.md 5.2: absent headers take no bytes.
std::vector<uint8_t> terminate_bytes(spec::Cause cause, std::span<const uint8_t> head,
                                     uint16_t ulpdu_length);

}  // namespace rnic::model
