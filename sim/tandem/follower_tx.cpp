// Transmit: grants, segments, their payload, FPDUs, records.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

// Cycles from the decision on a segment size to the first grant of it.
constexpr uint64_t kSizeOnItsWay = 64;

}  // namespace

void Steps::tx_want(const spec::TxWant& want) {
  (want.is_term != 0 ? qps_[want.qpn].wants_term : qps_[want.qpn].wants) = true;
}

/// A Terminate makes ddp drop the rest of its QP, so it waits until the RTL's ddp has done so.
void Steps::terminate(model::TxMessage m) { qps_[m.hdr.qpn].term = std::move(m); }

void Steps::step(const spec::DdpDropCommit& c) {
  if (!known(c.qpn, "ddp_drop")) return;
  Followed& q = qps_[c.qpn];
  if (c.is_term != 0) {
    if (!q.term)
      return tally_.differ(
          "ddp_drop: QP {}: a Terminate has come to RTL's ddp; model has sent none", c.qpn);
    ddp_.tx.message(*std::exchange(q.term, std::nullopt));
    return;
  }
  if (!q.tx_failed) apply_fault(c.qpn);
  if (!q.tx_failed)
    return tally_.differ(
        "ddp_drop: QP {}: RTL's ddp drops what waits, for a payload that came back bad; model has "
        "none",
        c.qpn);
  ddp_.tx.fault(c.qpn);
}

void Steps::step(const spec::LlpGrantCommit& c) {
  if (!known(c.qpn, "llp_grant")) return;
  Followed& q = qps_[c.qpn];
  bool& wants = c.is_term != 0 ? q.wants_term : q.wants;
  if (!wants)
    return tally_.differ("llp_grant: QP {}: RTL grants {}; model wants none", c.qpn,
                         c.is_term != 0 ? "a Terminate" : "a segment");
  wants = false;
  auto grant = llp_.grant({.qpn = c.qpn, .is_term = c.is_term});
  if (!grant && q.stopped_llp) {  // llp_if's stop reaches its table of grants later
    tally_.followed("grants after a stop");
    grant = spec::TxGrant{.qpn = c.qpn, .is_term = c.is_term, .mulpdu = c.mulpdu};
  }
  if (!grant)
    return tally_.differ("llp_grant: QP {}: RTL grants; model must wait: {}", c.qpn,
                         llp_.waiting_for());
  if (grant->mulpdu != c.mulpdu) {
    if (c.mulpdu != q.mulpdu_before || tally_.cycle() - q.resized > kSizeOnItsWay)
      return tally_.differ("llp_grant: QP {}: segment size: RTL {} / model {}", c.qpn, c.mulpdu,
                           grant->mulpdu);
    tally_.followed("segment sizes on their way");
    grant->mulpdu = c.mulpdu;
  }
  q.mulpdu_before = tally_.cycle() - q.resized > kSizeOnItsWay ? c.mulpdu : q.mulpdu_before;
  grants_.push_back(*grant);
  const auto can = [this](uint16_t q) {
    return qps_[q].wants && !qps_[q].stopped_llp && llp_.may_grant(q);
  };
  if (const auto starved = grants_given_.given(c.qpn, tally_.cycle(), can))
    tally_.differ(
        "llp_grant: QP {} wants a segment, has credit, and RTL has passed it by for {} cycles and "
        "{} grants to other QPs",
        *starved, Turns::kCycles, Turns::kTurns);
}

void Steps::step(const spec::DdpSegmentCommit& c) {
  const auto grant = take(grants_, c.qpn, "ddp_segment", "a grant");
  if (!grant) return;
  const bool nothing = c.nothing != 0;
  if (nothing) {
    if (const auto source = ddp_.tx.choice(c.qpn))
      return tally_.differ("ddp_segment: QP {}: RTL has nothing to send; model a segment of {}",
                           c.qpn, to_string(*source));
  } else if (!ddp_.tx.may_choose(c.qpn, c.source)) {
    const auto choice = ddp_.tx.choice(c.qpn);
    return tally_.differ("ddp_segment: QP {}: RTL sends a segment of {}; model may send {}", c.qpn,
                         to_string(c.source), choice ? to_string(*choice) : "nothing");
  }
  TxSegment s;
  s.qpn = c.qpn;
  scheduling_ = &s;
  auto scheduled = ddp_.tx.schedule(*grant, c.source);
  if (scheduled) ddp_.tx.fetch(*scheduled);
  scheduling_ = nullptr;
  if (!scheduled) return;
  s.segment = std::move(scheduled->segment);
  s.length = scheduled->fetch.hdr.length;
  s.whole = !s.segment.fetches;
  s.serial = ++scheduled_;
  segments_.push_back(std::move(s));
}

/// Gathers payload from the RTL's reads, in the order of the segments.
void Steps::gather() {
  for (TxSegment& s : segments_) {
    if (s.whole) continue;
    if (!gather(s)) return;
  }
}

/// Gathers the payload of one segment, extent by extent, in the order of the reads: two extents of
/// a segment may overlap. The RTL may read the first extents before it looks up the last STag.
/// Returns true if the payload is whole, or if it failed.
bool Steps::gather(TxSegment& s) {
  if (s.segment.result == spec::TptResult::kOk) {
    model::PayloadData& p = s.payload;
    if (p.data.empty()) {
      p.hdr.length = s.length;
      p.data = Payload::make(s.length);
    }
    const auto extents = s.extents.all();
    for (; s.gathered < extents.size(); ++s.gathered) {
      const spec::Extent& e = extents[s.gathered];
      const auto got = log_.take(Client::kPayload, e.address, e.length);
      if (got.state != ReadLog::State::kDone) return false;
      if (p.hdr.status == spec::RdStatus::kOk) p.hdr.status = got.status;
      if (got.status == spec::RdStatus::kOk)
        std::memcpy(p.data.writable().data() + s.filled, got.data.bytes().data(), e.length);
      s.filled += e.length;
      in_flight_.retire(e.epoch);  // host_if reports each extent, not the segment
    }
    if (!s.asks.empty()) return false;
    if (p.hdr.status != spec::RdStatus::kOk) p.data = {};
    s.extents = {};
  }
  if (!s.asks.empty()) return false;
  s.whole = true;
  log_.settle(s.serial);
  return true;
}

void Steps::tx_fault(const spec::TxFault& f) {
  qps_[f.qpn].tx_failed = true;
  tx_faults_.push_back(f);
}

/// ddp holds one response per QP, so rdmap uses each free slot before ddp frees the next.
void Steps::resp_slot_free(const spec::RespSlotFree& f) {
  if (++qps_[f.qpn].slots_free > 1)
    tally_.differ("QP {}: model frees the responder's slot {} times; RTL has used none of them",
                  f.qpn, qps_[f.qpn].slots_free);
}

/// ddp judges the oldest segment. False if its payload is missing.
bool Steps::assemble_next() {
  TxSegment& s = segments_.front();
  if (!s.whole) {
    std::string why = fmt::format("{} lookups of its STags have not come", s.asks.size());
    if (s.asks.empty()) {
      const spec::Extent& e = s.extents.all()[s.gathered];
      const auto got = log_.peek(Client::kPayload, e.address, e.length);
      why = (got.state == ReadLog::State::kNever ? "RTL never read " : "RTL still waits for ") +
            got.why;
    }
    tally_.differ("ddp_ulpdu: QP {}: RTL sends a segment of {} bytes of payload: {}", s.qpn,
                  s.length, why);
    return false;
  }
  TxSegment out = std::move(s);
  segments_.pop_front();
  if (auto u = ddp_.tx.assemble(std::move(out.segment), std::move(out.payload)))
    ulpdus_out_.push_back(std::move(*u));
  return true;
}

/// The RTL has found that a payload of this QP is bad. The model finds it too, after it has judged
/// the segments in front of it in `segments_`.
void Steps::apply_fault(uint16_t qpn) {
  size_t at = 0;
  for (; at < segments_.size(); ++at) {
    const TxSegment& s = segments_[at];
    const bool bad = s.whole && (s.segment.result != spec::TptResult::kOk ||
                                 s.payload.hdr.status != spec::RdStatus::kOk);
    if (s.qpn == qpn && bad) break;
    if (!s.whole) return;
  }
  if (at == segments_.size()) return;
  for (size_t i = 0; i <= at; ++i) assemble_next();
}

/// The RTL has sent the Flush Response of this QP. The model judges the segments in front of it in
/// `segments_`, then the response. It judges none if the payload of one is missing, or if one
/// without payload waits for a placement; the caller then reports the mismatch.
void Steps::finish_response(uint16_t qpn) {
  const auto is_its = [qpn](const TxSegment& s) {
    return s.qpn == qpn && s.segment.source == spec::TxSource::kResp &&
           (s.segment.ulpdu.header[0] & 0x80) == 0;
  };
  const auto at = std::ranges::find_if(segments_, is_its);
  if (at == segments_.end()) return;
  const auto n = at - segments_.begin();
  const auto is_open = [this](const TxSegment& s) {
    return !s.whole || !ddp_.tx.may_leave(s.segment);
  };
  if (std::any_of(segments_.begin(), at + 1, is_open)) return;
  for (auto i = n; i >= 0; --i) assemble_next();
}

void Steps::step(const spec::DdpUlpduCommit& c) {
  while (ulpdus_out_.empty()) {
    if (segments_.empty())
      return tally_.differ("ddp_ulpdu: QP {}: RTL sends a segment; model has scheduled none",
                           c.qpn);
    if (!assemble_next()) return;
  }
  if (auto u = take(ulpdus_out_, c.qpn, "ddp_ulpdu", "a segment")) send(std::move(*u));
}

void Steps::send(model::TxUlpdu u) {
  const uint16_t qpn = u.hdr.qpn;
  mpa_.enters(qpn, false);
  mpa_.tx.take(std::move(u));
  model::TxFpdu f = mpa_.tx.next();
  const Followed& q = qps_[qpn];
  Expect::Sent out{
      .connection = q.connection, .hdr = f.hdr, .data = f.data, .may_drop = q.stopped_llp};
  if (!llp_.send(f)) out.may_drop = true;
  if (out.may_drop) tally_.followed("segments of a stopped QP");
  expect_.record(std::move(out));
}

void Steps::llp_tx(const Record& r) {
  if (r.connection < bytes_left_.size()) bytes_left_[r.connection] += r.data.size();
  if (r.is_stream) {
    if (raw_out_.empty() || raw_out_.front().bytes.connection != r.connection ||
        !raw_out_.front().checked)
      return tally_.differ("connection {}: RTL sent {} streaming bytes; model sends none now",
                           r.connection, r.data.size());
    if (llp_.may_send_raw(raw_out_.front().bytes) != model::LlpIf::Raw::kSend)
      return tally_.differ(
          "connection {}: RTL sent {} streaming bytes; model has no credit for them", r.connection,
          r.data.size());
    model::LlpRecord raw = llp_.send_raw(std::move(raw_out_.front().bytes));
    raw_out_.pop_front();
    // Streaming bytes are of no QP: 0xffff.
    expect_.record(
        {.connection = raw.connection, .hdr = {.qpn = 0xffff}, .data = std::move(raw.data)});
    expect_.sent(r);
    return credit_covers(r.connection);
  }
  const auto hdr = expect_.sent(r);
  if (!hdr) return;
  if (!qps_[hdr->qpn].stopped_llp)
    credit_covers(r.connection);  // the model reserves no credit for grants after a stop
  if (hdr->done != 0)
    llp_.sent({.qpn = hdr->qpn, .length = hdr->length, .done = 1, .slot = hdr->slot, .is_term = 0});
  if (hdr->is_term != 0) terms_left_.push_back(hdr->qpn);  // its effects come with llp_rule 0
}

/// Checks that the model has reserved credit for all bytes sent.
void Steps::credit_covers(uint16_t connection) {
  const uint32_t used = llp_.used(connection), left = bytes_left_[connection];
  if (static_cast<int32_t>(used - left) < 0)
    tally_.differ("connection {}: RTL has sent {} bytes; model has taken {} of its credit",
                  connection, left, used);
}

void Steps::step(const spec::DdpCtlCommit& c) {
  if (c.op == spec::QpOp::kSync) return;  // its condition is checked at the QP's queue check
  const auto ctl = take_of(ctl_ddp_, c.qpn, "ddp_ctl", "an order of qp");
  if (!ctl) return;
  if (ctl->op != c.op)
    return tally_.differ("ddp_ctl: QP {}: RTL {} / model {}", c.qpn, to_string(c.op),
                         to_string(ctl->op));
  Followed& q = qps_[c.qpn];
  const bool is_stop = c.op == spec::QpOp::kStop;
  // WQEs that a stopped QP has taken from an SRQ stay: segment() reports them.
  if (!is_stop || q.takes.empty() || q.takes.front().shared == 0) q.takes.clear();
  q.term.reset();
  q.ddp_stopped = is_stop;
  if (c.op == spec::QpOp::kStart) q.tx_failed = q.wants = q.wants_term = false;
  ddp_.control(*ctl);
}

/// Segments that were in ddp when the order took effect have a verdict and are placed, or were sent
/// to mpa. The RTL may acknowledge later than that, but not before. A segment that arrived after
/// the order (ddp_rx) may still be in ddp: it is refused.
void Steps::step(const spec::DdpAckCommit& c) {
  if (c.op == spec::QpOp::kSync || !known(c.qpn, "ddp_ack")) return;
  // A payload of the QP may have come back bad, and no commit has reported it yet.
  if (!qps_[c.qpn].tx_failed) apply_fault(c.qpn);
  const auto is_its = [&](const spec::QpAckDdp& a) { return a.qpn == c.qpn; };
  const auto done = std::ranges::find_if(acks_ddp_, is_its);
  if (done == acks_ddp_.end())
    return tally_.differ("ddp_ack: QP {}: RTL acknowledges; in the model it has not stopped: {}",
                         c.qpn, ddp_.waiting_for());
  if (std::ranges::any_of(inside_, [&](const model::RxUlpdu& u) { return u.hdr.qpn == c.qpn; }))
    tally_.followed("segments after a stop");
  acks_ddp_.erase(done);
  acks_.push_back({model::Qp::Peer::kDdp, c.qpn});
}

}  // namespace rnic::sim
