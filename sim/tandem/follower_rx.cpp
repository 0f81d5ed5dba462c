// Receive: records, framing, segments and their verdict, the responder.
#include <algorithm>

#include "base/bytes.hpp"
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// `way` of commit llp_rx; 2: dropped.
constexpr uint8_t kFpdu = 0, kStream = 1;
// Operations of commit rdmap_op (docs/spec/commits.yaml).
constexpr uint8_t kCtl = 0, kQpFault = 1, kTxFault = 2, kRespFailed = 3, kSegment = 4,
                  kSlotFree = 6, kWqe = 7;

/// The first segment of a message on QN 0.
bool begins_send(const model::RxUlpdu& u) {
  const auto b = u.data.bytes();
  // Untagged (RFC 5041 section 4.3), QN at byte 6, MO at byte 14.
  return b.size() >= spec::kUntaggedHeaderBytes && (b[0] & 0x80) == 0 &&
         base::load_be<uint32_t>(&b[6]) == spec::kQnSend && base::load_be<uint32_t>(&b[14]) == 0;
}

}  // namespace

void Steps::llp_rx(const Record& r) {
  records_.push_back(
      {.connection = r.connection, .is_stream = r.is_stream, .error = r.error, .data = r.data});
}

void Steps::step(const spec::LlpRxCommit& c) {
  if (records_.empty())
    return tally_.differ("llp_rx: connection {}: RTL took a record; none has come", c.connection);
  model::LlpRecord r = std::move(records_.front());
  records_.pop_front();
  if (r.connection != c.connection)
    return tally_.differ(
        "llp_rx: a record: RTL of connection {} / model's next is of connection {}", c.connection,
        r.connection);
  if (c.way != kFpdu) {
    const bool stream = llp_.known_stream(r);
    if ((c.way == kStream) != stream || (!stream && llp_.receive(r)))
      return tally_.differ("llp_rx: connection {}: record of {} bytes: RTL {}; model does not",
                           r.connection, r.data.size(),
                           c.way == kStream ? "gives it to admin" : "drops it");
    if (!stream) return;
    if (give_ != r.connection) return tally_.followed("streaming bytes without a request");
    give_.reset();
    return admin_.raw_rx({.connection = r.connection, .data = std::move(r.data)});
  }
  if (!known(c.qpn, "llp_rx")) return;
  const Followed& q = qps_[c.qpn];
  const rnic::Payload data = r.data;
  auto f = llp_.receive(r);
  if (!f && q.stopped_llp &&
      q.connection ==
          c.connection) {  // until the stop has taken effect, records still reach the QP
    tally_.followed("records after a stop");
    f = model::RxFpdu{.hdr = {.qpn = c.qpn, .length = data.size()}, .data = data, .error = r.error};
  }
  if (!f)
    return tally_.differ("llp_rx: connection {}: RTL gives a record to QP {}; model drops it",
                         c.connection, c.qpn);
  if (f->hdr.qpn != c.qpn)
    return tally_.differ("llp_rx: connection {}: a record: RTL to QP {} / model to QP {}",
                         c.connection, c.qpn, f->hdr.qpn);
  mpa_.enters(c.qpn, true);
  mpa_.rx.take(std::move(*f));
  ulpdus_.push_back(mpa_.rx.next());
}

/// From this commit on, a stop waits for the segment.
void Steps::step(const spec::DdpRxCommit& c) {
  if (!known(c.qpn, "ddp_rx")) return;
  auto u = take(ulpdus_, c.qpn, "ddp_rx", "a received segment");
  if (!u) return;
  ddp_.rx.enters(c.qpn);
  inside_.push_back(std::move(*u));
}

void Steps::step(const spec::RdmapOpCommit& c) {
  if (!known(c.qpn, "rdmap_op")) return;
  const bool answers = rdmap_.responders().test(c.qpn);
  // rdmap_op 3 reports one of three: a failed request of the own send queue (local_failed), a
  // failed atomic (atomic_failed), or else a refused Read of the peer (respond).
  const bool is_read = c.op == kRespFailed && !local_failed(c.qpn) && !atomic_failed(c.qpn);
  if (is_read)
    respond(c.qpn);
  else
    operation(c);
  if (answers && !is_read && !rdmap_.responders().test(c.qpn)) ++cancelled_;
}

void Steps::operation(const spec::RdmapOpCommit& c) {
  Followed& q = qps_[c.qpn];
  switch (c.op) {
    case kCtl:
      if (const auto ctl = take_of(ctl_rdmap_, c.qpn, "rdmap_op", "an order of qp")) {
        // An atomic of the QP's former life that the RTL never served ends here.
        if (ctl->op == spec::QpOp::kStart) in_hand_[c.qpn].reset();
        if (ctl->op == spec::QpOp::kStop) q.dead = q.dead.value_or(tally_.cycle());
        rdmap_.control(*ctl);
      }
      return;
    case kQpFault:
      if (const auto f = take_of(qp_faults_, c.qpn, "rdmap_op", "a fault of qp")) {
        if (f->cause == spec::Cause::kLlpLost &&
            !is_delivered(c.qpn, "rdmap_op", "hears that the connection is lost"))
          return;
        rdmap_.qp_fault(*f);
      }
      return;
    case kTxFault:
      if (std::ranges::none_of(tx_faults_, [&](const auto& f) { return f.qpn == c.qpn; }))
        apply_fault(c.qpn);
      if (const auto f = take(tx_faults_, c.qpn, "rdmap_op", "a payload that came back bad"))
        rdmap_.tx_fault(*f);
      return;
    case kRespFailed:  // local_failed() or atomic_failed() has handled it
      return;
    case kSegment:
      return segment(c.qpn);
    case kSlotFree:
      if (q.slots_free == 0) finish_response(c.qpn);
      if (q.slots_free == 0)
        return tally_.differ(
            "rdmap_op: QP {}: RTL frees the responder's slot; model's response is not all "
            "scheduled, or its Flush Response not final",
            c.qpn);
      --q.slots_free;
      return rdmap_.resp_slot_free({c.qpn});
    case kWqe:
      if (auto wqe = take(wqes_, c.qpn, "rdmap_op", "a work request")) {
        if (auto m = rdmap_.request(std::move(*wqe))) ddp_.tx.message(std::move(*m));
      }
      return;
    default:
      tally_.differ("rdmap_op: QP {}: operation {} is not one", c.qpn, c.op);
  }
}

// --- segments

void Steps::segment(uint16_t qpn) {
  auto u = take(inside_, qpn, "rdmap_op", "a received segment");
  if (!u) return;
  Followed& q = qps_[qpn];
  if (q.ddp_stopped)
    u->hdr.cause = spec::Cause::kLocalCatastrophic;  // ddp refuses it, checked before or not
  // The segment may have taken a WQE of an SRQ before the stop; ddp then still reports that WQE.
  const bool took =
      q.ddp_stopped && !q.takes.empty() && q.takes.front().shared != 0 && begins_send(*u);
  if (took || ddp_.rx.needs_receive(*u)) {
    if (q.takes.empty())
      return tally_.differ("rdmap_op: QP {}: a Send begins; RTL has taken no receive WQE for it",
                           qpn);
    q.receive = q.takes.front().wqe;
    ddp_.rx.received(qpn, q.takes.front());
    q.takes.pop_front();
  }
  const model::RxUlpdu copy = *u;
  open_[0] = false;
  auto place = ddp_.rx.take(std::move(*u));
  drop_open(0);
  if (q.ddp_stopped) drop_answers(q, copy);
  if (!place) return;
  if (expect_.writes()) return expect_.place(*place);
  give_back(place->extents);
  ++placed_;
  ddp_.rx.place_done({});
}

/// A segment of a stopped QP may have been looked up before the stop. Discards the results if the
/// STag shows that they are of this segment. Else counts the segment in refused_: answered() then
/// discards results that fit no lookup of the model.
void Steps::drop_answers(const Followed& q, const model::RxUlpdu& u) {
  auto& edge = answered_[0];  // of client rx (tpt_check)
  if (edge.empty()) return;
  const uint32_t stag = edge.front().request.stag;
  const auto bytes = u.data.bytes();
  const bool is_tagged = bytes.size() >= spec::kTaggedHeaderBytes && (bytes[0] & 0x80) != 0;
  const auto names = [stag](const spec::RecvWqe& w) {
    return w.sge0.stag == stag || w.sge1.stag == stag || w.sge2.stag == stag;
  };
  bool its = is_tagged && base::load_be<uint32_t>(&bytes[2]) == stag;
  if (!is_tagged)
    its = names(q.receive) ||
          std::ranges::any_of(q.takes, [&](const spec::RqTakeRsp& t) { return names(t.wqe); });
  if (its) {
    open_[0] = true;
    return drop_open(0);
  }
  ++refused_;
}

// --- Reads of the peer

/// The RTL refuses the oldest Read Request of the QP because its source is bad (rdmap_op 3).
void Steps::respond(uint16_t qpn) {
  if (!rdmap_.responders().test(qpn)) {  // the QP has failed or stopped since the lookup
    if (!answered_[3].empty()) answered_[3].pop_front();
    if (cancelled_ != 0) --cancelled_;
    return;
  }
  if (auto m = rdmap_.respond(qpn)) {
    tally_.differ("rdmap_op: QP {}: RTL refuses a Read of the peer; model answers it: {}", qpn,
                  m->hdr.describe());
  }
}

void Steps::step(const spec::RdmapResponseCommit& c) {
  if (!known(c.qpn, "rdmap_response")) return;
  if (!rdmap_.responders().test(c.qpn))
    return tally_.differ("rdmap_response: QP {}: RTL answers a Read; model has none to answer",
                         c.qpn);
  if (auto m = rdmap_.respond(c.qpn)) return ddp_.tx.message(std::move(*m));
  tally_.differ("rdmap_response: QP {}: RTL answers a Read whose source the model refuses", c.qpn);
}

}  // namespace rnic::sim
