// Placement, RFC 5041: places received segments in memory and cuts messages into segments. RTL:
// rtl/ddp/ddp.sv
//
//   Ddp ddp(sizes, tpt, rdmap, out);   ddp.control({QpOp::kStart, qpn, params});
//   ddp.tx.message(m);                                  // calls out.tx_want(...); after a grant:
//   auto s = ddp.tx.schedule(grant, source);            // a segment, or nothing
//   ddp.tx.fetch(*s);                                   // finds the extents of its payload
//   auto u = ddp.tx.assemble(s->segment, payload);      // a ULPDU, if the payload is good
//   ddp.rx.enters(qpn);                                 // a received ULPDU, then:
//   if (ddp.rx.needs_receive(u)) ddp.rx.received(qpn, take);
//   auto place = ddp.rx.take(u);                        // after placement: out.rx_done(...)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/errors.hpp"
#include "gen/iwarp.hpp"
#include "gen/sizes.hpp"
#include "sc/ring.hpp"
#include "stream/packets.hpp"
#include "tpt/tpt.hpp"

namespace rnic::model {

/// The unit that judges a received segment: rdmap. RTL: rx_segment, rx_verdict.
class SegmentJudge {
 public:
  virtual ~SegmentJudge() = default;
  virtual spec::RxVerdict rx_segment(const spec::RxSegment& segment) = 0;
};

class Ddp {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void qp_ack_ddp(const spec::QpAckDdp& ack) = 0;
    virtual void tx_want(const spec::TxWant& want) = 0;
    virtual void tx_fault(const spec::TxFault& fault) = 0;
    virtual void sq_slot_free(const spec::SqSlotFree& free) = 0;
    virtual void resp_slot_free(const spec::RespSlotFree& free) = 0;
    virtual void resp_fetched(const spec::RespFetched& /*fetched*/) {}
    virtual void rx_done(const spec::RxDone& done) = 0;
    /// Answered by Rx::invalidated(), at once or later.
    virtual void invalidate(const spec::Invalidate& inv) = 0;
  };

  /// A segment between the scheduler and mpa.
  struct Segment {
    TxUlpdu ulpdu;  // without the payload, if that is fetched
    spec::TxSource source{};
    uint32_t offset = 0;        // of the segment in its message
    bool fetches = false;       // its payload comes from host_if, as PayloadData
    bool probe = false;         // fetches the read-back byte of a Flush Response: it is dropped
    bool is_fetch_end = false;  // has the last payload of a Read Response
    bool is_flush = false;      // a Flush Response: assemble() frees its slot, not fetch()
    bool waits = false;         // a response without a fetch: ddp itself waits for the watermark
    uint64_t watermark = 0;
    spec::TptResult result{};  // of the lookup tx_xlate
  };
  struct Scheduled {
    Segment segment;
    PayloadFetch fetch;  // valid if segment.fetches; its extents after Tx::fetch()
    // For Tx::fetch(): the message's SGEs, and where the segment begins in them.
    rnic::Payload body;
    uint32_t sge = 0, sge_offset = 0;
    uint16_t rights = 0;
    bool frees_slot = false;  // the last segment of its message
  };

  /// Orders of qp for one QP, and what they wait for: segments that were in ddp at the latest order
  /// and have not left. held: received segments whose reports are held (Rx::deliver()). They have
  /// a count of their own, because later segments pass them.
  struct Drain {
    std::optional<spec::QpParams> start;  // of a start that is not carried out
    uint32_t orders = 0;                  // not acknowledged yet
    uint32_t rx = 0, tx = 0;
    uint32_t held = 0;
  };

  class Tx {
   public:
    Tx(Ddp& ddp, const spec::Sizes& sizes);
    void message(TxMessage m);  // stores a message of rdmap in a slot, and calls Out::tx_want()
    /// The source of the next segment: Terminate first, then the source whose message has begun,
    /// then the source that was not served last.
    std::optional<spec::TxSource> choice(uint16_t qpn) const;
    /// The source has a message, and the next segment may be of it. A Terminate may interrupt a
    /// message of another source; send queue and responder do not interrupt each other.
    bool may_choose(uint16_t qpn, spec::TxSource source) const;
    /// One message is left, and none of its segments was scheduled.
    bool has_one_new(uint16_t qpn) const {
      const Qp& q = qps_[qpn];
      return !q.inside_message &&
             q.sq_count + has(qpn, spec::TxSource::kResp) + has(qpn, spec::TxSource::kTerm) == 1;
    }
    /// Returns the grant's segment; nothing if its message was dropped in the meantime. Each
    /// segment then goes through fetch(), in the same order.
    std::optional<Scheduled> schedule(const spec::TxGrant& grant, spec::TxSource source);
    /// Looks up the payload of a scheduled segment. Frees the slot of the message if this is its
    /// last segment. Scheduled segments may queue between schedule() and fetch().
    void fetch(Scheduled& s);
    /// Makes the ULPDU of a segment. Returns nothing if the segment is dropped: its lookup or read
    /// failed (Out::tx_fault() is called once), or an earlier one of its QP.
    std::optional<TxUlpdu> assemble(Segment s, PayloadData payload);
    /// Whether all placements that the segment waits for are done. RFC 5040 section 5.5, rule 12.
    bool may_leave(const Segment& s) const { return !s.waits || ddp_.rx.placed_ >= s.watermark; }
    /// For benches: sets the MSN of the next message, to reach values that take too many messages
    /// to simulate.
    void set_msn(uint16_t qpn, uint32_t qn, uint32_t msn) { qps_[qpn].msn[qn] = msn; }
    /// A payload of this QP has failed, or its Terminate has come: drops its other messages.
    void fault(uint16_t qpn);

   private:
    friend class Ddp;
    struct Message {
      TxMessage m;
      uint32_t offset = 0, msn = 0;      // offset: bytes already cut into segments
      uint32_t sge = 0, sge_offset = 0;  // where the next byte is
      uint16_t mulpdu = 0;
      bool full = false;  // the slot holds a message
    };
    struct Qp {
      // wants, wants_term: a want is outstanding for a segment, for a Terminate
      bool running = false, wants = false, wants_term = false;
      bool dropping = false;  // only a Terminate is sent
      bool bad = false;       // a payload could not be fetched: scheduled segments are dropped
      spec::TxSource last = spec::TxSource::kSq;
      bool inside_message = false;  // of source `last`
      uint16_t pd = 0;
      uint8_t sq_head = 0, sq_count = 0;
      std::array<uint32_t, 4> msn{1, 1, 1, 1};
      uint32_t in_flight = 0;  // segments between schedule() and tx_ulpdu
    };
    Message& slot(uint16_t qpn, spec::TxSource source);
    const Message& slot(uint16_t qpn, spec::TxSource source) const;
    bool has(uint16_t qpn, spec::TxSource source) const { return slot(qpn, source).full; }
    void want(uint16_t qpn);  // sends a tx_want if a message waits and none is outstanding
    void drop_waiting(uint16_t qpn, size_t slots);
    void put_header(TxUlpdu& u, const Message& m, bool last) const;
    void skip(Message& m, uint32_t length) const;  // moves sge, sge_offset on by `length` bytes
    Ddp& ddp_;
    uint32_t sq_slots_;
    std::vector<Qp> qps_;
    // Per QP: sq_slots of the send queue, one of the responder, one Terminate.
    std::vector<Message> messages_;
  };

  class Rx {
   public:
    explicit Rx(Ddp& ddp, const spec::Sizes& sizes) : ddp_(ddp), qps_(sizes.num_qps) {}
    /// A received segment is at the input: from now on orders wait for it.
    void enters(uint16_t qpn) {
      Qp& q = qps_[qpn];
      ++q.inside;
      if (!q.stopping) ++q.counted;
    }
    /// Whether a message that needs a receive WQE begins with this segment. If so, call received()
    /// first.
    bool needs_receive(const RxUlpdu& u) const;
    /// Gives qp's response to rq_take_req.
    void received(uint16_t qpn, const spec::RqTakeRsp& take);
    /// Performs all checks and gets rdmap's verdict; returns the data to place.
    std::optional<Place> take(RxUlpdu u);
    /// The oldest Place has been sent on dma_wr.
    void place_done(const spec::PlaceDone& done);
    /// tpt has invalidated the STag of the oldest Out::invalidate().
    void invalidated();
    uint32_t held() const { return held_.size(); }     // held reports: see deliver()
    bool idle() const { return deliveries_.empty(); }  // no segment waits for place_done
    /// For benches, as Tx::set_msn: the next expected MSN; packets placed since reset.
    void set_msn(uint16_t qpn, uint32_t qn, uint32_t msn) { qps_[qpn].msn[qn] = msn; }
    void set_placed(uint64_t count) { placed_ = count; }

   private:
    friend class Ddp;
    enum class Receive : uint8_t { kNone, kActive, kMissing };
    struct Qp {
      bool running = false, stopping = false;  // stopping: a stop is not carried out yet
      bool failed = false;                     // ddp has found an error in a header
      bool refused = false;                    // a segment has an error, found here or by rdmap
      bool persist = false;  // the extensions are enabled: QN 3 and the fifth opcode bit are valid
      uint16_t pd = 0;
      Receive receive = Receive::kNone;
      spec::RqTake take{};  // result of the latest rq_take_req
      std::array<uint32_t, 4> msn{1, 1, 1, 1};
      uint32_t mo = 0;  // offset in the current Send
      // Bytes of the last Write since the last message on QN 0, and whether it has ended.
      uint32_t write_len = 0;
      bool written = true;
      uint32_t inside = 0;   // segments from enters() to report()
      uint32_t held = 0;     // reports held for an invalidation, or behind such a report
      uint32_t counted = 0;  // segments before take(), without those that entered after a stop
      spec::RecvWqe wqe;
      uint64_t capacity = 0;  // bytes of wqe's SGEs
      bool shared = false;    // takes come from an SRQ
      // Tag of the WQE taken from an SRQ, until its report is made: ddp reports each one, since qp
      // flushes none of an SRQ.
      std::optional<uint16_t> owed;
    };
    struct Delivery {
      bool placed = false;    // its payload is placed: waits for place_done
      bool reported = false;  // `done` is to be reported as rx_done
      spec::RxDone done;
    };
    struct Judged {  // ddp's checks of one segment
      spec::Cause cause{};
      spec::WcStatus receive_status{};  // of a receive that ends here
      uint32_t header = 0;              // bytes
      uint32_t qn = 0;
      uint32_t total = 0;  // bytes of the Send so far; of Immediate Data, of the last Write
      bool is_tagged = false, is_last = false;
    };
    Judged header_check(const Qp& q, const RxUlpdu& u) const;
    void tagged(Qp& q, const RxUlpdu& u, Judged& j, ExtentList& extents);
    void untagged(Qp& q, const RxUlpdu& u, Judged& j, ExtentList& extents);
    spec::TptResult place(uint16_t qpn, uint64_t from, uint32_t length, ExtentList& extents);
    static bool is_invalidation(const Qp& q, const RxUlpdu& u);
    spec::Cause check_invalidation(const Qp& q, const RxUlpdu& u, bool pieces_follow);
    void give_back(ExtentList& extents);  // retires extents through which nothing is placed
    void flush_owed(uint16_t qpn);
    void deliver(const Delivery& d);
    /// Makes a report; the segment leaves ddp. way: the count of Drain that includes it.
    void report(const Delivery& d, uint32_t Drain::*way);
    Ddp& ddp_;
    std::vector<Qp> qps_;
    Ring<Delivery> deliveries_;  // segments in order; the oldest waits for place_done
    Ring<Delivery> held_;        // segments whose reports wait for an invalidation, in order
    uint64_t placed_ = 0;        // packets since reset
  };

  Ddp(const spec::Sizes& sizes, Translation& tpt, SegmentJudge& judge, Out& out)
      : tx(*this, sizes),
        rx(*this, sizes),
        tpt_(tpt),
        judge_(judge),
        out_(out),
        drains_(sizes.num_qps) {}
  Tx tx;
  Rx rx;

  void control(const spec::QpCtlDdp& ctl);
  std::string waiting_for() const;

 private:
  void left(uint16_t qpn, uint32_t Drain::*way);
  void maybe_drained(uint16_t qpn);

  Translation& tpt_;
  SegmentJudge& judge_;
  Out& out_;
  std::vector<Drain> drains_;
};

}  // namespace rnic::model
