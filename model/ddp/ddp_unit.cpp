// The times of ddp. *_free_: the first cycle in which that path may begin its next item.
#include "ddp/ddp_unit.hpp"

#include <algorithm>

namespace rnic::model {

DdpUnit::DdpUnit(Units& u, Translation& tpt, SegmentJudge& judge)
    : u_(u),
      rx_ulpdu("rx_ulpdu", u.sizes.fifo_depth),
      // host_if reserves a beat of rd_buffer at least for each; its tags are free again by then.
      payload("payload", std::max(u.sizes.rd_tags, u.sizes.rd_buffer)),
      wants("tx_want", 4 * u.sizes.num_qps),
      control("qp_ctl_ddp", u.sizes.num_qps + 1),
      ddp_(u.sizes, tpt, judge, *this),
      scheduled_("scheduled", u.sizes.seg_depth),
      segments_("segments", u.sizes.seg_depth),
      came_(u.sizes.num_qps),
      left_(u.sizes.num_qps) {
  u.attach(sched_, StageNo::kDdpSched);
  u.attach(cut_, StageNo::kDdpSegment);
  u.attach(out_, StageNo::kDdpOut);
  u.attach(rx_, StageNo::kDdpRx);
  u.attach(ctl_, StageNo::kDdpCtl);
  rx_ulpdu.feeds(rx_);
  payload.feeds(out_);
  wants.feeds(sched_);
  scheduled_.feeds(cut_);
  segments_.feeds(out_);
  control.feeds(ctl_);
}

/// Takes grants in the order of wants, then schedules the segment that choice() selects.
void DdpUnit::step_sched() {
  const Cycle now = u_.now();
  if (now < sched_free_) return sched_.wake(sched_free_);
  if (!wants.ready()) return;
  if (scheduled_.size() + segments_.size() >= u_.sizes.seg_depth) {
    tx_meter_.blocked(now);
    return segments_.wake_on_credit(sched_);
  }
  tx_meter_.moved(now);
  const spec::TxWant want = wants.pop();
  sched_free_ = now + 1;
  if (const auto grant = tx_want_o(want)) {
    if (const auto source = ddp_.tx.choice(want.qpn)) {
      if (auto s = ddp_.tx.schedule(*grant, *source)) {
        left_[want.qpn] = now + u_.timing.ddp.want_next;
        u_.pass(Stream::kTxGrant, now);
        scheduled_.push(std::move(*s), now + scheduled());
      }
    }
  }
  if (!wants.empty()) sched_.wake(std::max(sched_free_, wants.visible_at()));
}

/// Looks up the payload of the scheduled segments, one after the other, and requests it.
void DdpUnit::step_segment() {
  const Cycle now = u_.now();
  if (now < segment_free_) return cut_.wake(segment_free_);
  if (!scheduled_.ready()) return;
  if (scheduled_.front().segment.fetches && payload_req_o.full()) {
    tx_meter_.blocked(now);
    return payload_req_o.wake_on_credit(cut_);
  }
  Ddp::Scheduled s = scheduled_.pop();
  ddp_.tx.fetch(s);
  const DdpTiming& t = u_.timing.ddp;
  const TptTiming& x = u_.timing.tpt;
  const Cycle walk = s.segment.offset != 0 ? t.walk : 0;
  const Cycle extents = s.fetch.extents.all().size();
  segment_free_ = now + std::max(t.occupancy + walk, extents);
  const Cycle asked = now + t.segment + walk;
  if (s.segment.fetches) {
    const Cycle found = asked + x.check + x.walk;
    u_.pass(Stream::kPayloadReq, asked);
    u_.pass(Stream::kTxExtent, found);
    payload_req_o.push(std::move(s.fetch), found + u_.timing.host.rd_extent);
  }
  // The queue of headers needs a cycle to fill its output register (block memory only). While
  // another segment waits in it, that register is full already.
  const Cycle header = segments_.empty() ? block() : 0;
  const Cycle until = s.segment.fetches ? asked : now + t.in_line + header;
  segments_.push(std::move(s.segment), until);
  if (!scheduled_.empty()) cut_.wake(std::max(segment_free_, scheduled_.visible_at()));
}

void DdpUnit::step_out() {
  const Cycle now = u_.now();
  if (now < out_free_) return out_.wake(out_free_);
  if (!segments_.ready()) return;
  const bool fetches = segments_.front().fetches;
  if (fetches && !payload.ready()) return;
  if (!ddp_.tx.may_leave(segments_.front())) return;  // place_done wakes this stage
  if (tx_ulpdu_o.full()) return tx_ulpdu_o.wake_on_credit(out_);
  const uint16_t length = segments_.front().ulpdu.hdr.length;
  is_final_ = true;
  auto ulpdu = ddp_.tx.assemble(segments_.pop(), fetches ? payload.pop() : PayloadData{});
  is_final_ = false;
  if (fetches) payload_taken_o();
  out_free_ = now + u_.timing.path.occupancy(length);
  if (ulpdu) {
    tx_meter_.item(u_.timing.path.beats(length));
    u_.pass(Stream::kTxUlpduHdr, now);  // ahead of the beats
    tx_ulpdu_o.push(std::move(*ulpdu), now + u_.timing.ddp.assemble);
  }
  if (!segments_.empty()) out_.wake(std::max(out_free_, segments_.visible_at()));
}

/// Whether the DDP header is untagged with QN 0: Send or Immediate Data (RFC 5041 section 4.3).
bool DdpUnit::is_send(const RxUlpdu& u) {
  const auto b = u.data.bytes();
  return b.size() >= 10 && (b[0] & 0x80U) == 0 && (b[6] | b[7] | b[8] | b[9]) == 0;
}

/// Whether the segment needs a lookup: it has payload, and is on QN 0 or tagged.
bool DdpUnit::asks_tpt(const RxUlpdu& u) {
  const auto b = u.data.bytes();
  const bool is_tagged = !b.empty() && (b[0] & 0x80U) != 0;
  return is_tagged ? u.hdr.length > spec::kTaggedHeaderBytes
                   : is_send(u) && u.hdr.length > spec::kUntaggedHeaderBytes;
}

void DdpUnit::step_rx() {
  const Cycle now = u_.now();
  if (now < rx_free_) return rx_.wake(rx_free_);
  if (!rx_ulpdu.ready()) return;
  if (place_o.full()) {
    rx_meter_.blocked(now);
    return place_o.wake_on_credit(rx_);
  }
  // Room of ddp_rx_deliver's u_entries (4 * FifoDepth) and qp_retire's u_ops (FifoDepth).
  if (rx_done_o.size() >= 5 * u_.sizes.fifo_depth) {
    rx_meter_.blocked(now);
    return rx_done_o.wake_on_credit(rx_);
  }
  // Room of ddp_rx_hold (2 * FifoDepth) and u_entries.
  if (ddp_.rx.held() >= 6 * u_.sizes.fifo_depth)
    return rx_meter_.blocked(now);  // invalidated() wakes
  const DdpTiming& t = u_.timing.ddp;
  // The extents arrive before the verdict.
  Cycle latency =
      t.rx_header + u_.timing.tpt.check + t.rx_check + u_.timing.rdmap.verdict + t.rx_place;
  // While the payload waits, headers run ahead as far as u_body has room.
  const Cycle body = latency + 4 * u_.sizes.beat_depth;  // u_body has 4 x BeatDepth beats
  if (place_free_ > now + body) {
    rx_meter_.blocked(now);
    return rx_.wake(place_free_ - body);
  }
  const RxUlpdu& front = rx_ulpdu.front();
  const bool begins = ddp_.rx.needs_receive(front);
  // ddp_rx takes a header every 2 cycles (Datapath::occupancy), and longer for a Send.
  const Cycle header = 2 + (is_send(front) ? t.rx_send + (begins ? 0 : t.rx_later) : 0);
  const Cycle busy = std::max(u_.timing.path.occupancy(front.hdr.length), header);
  const Cycle came = std::max(rx_ulpdu.visible_at(), beats_free_);
  Cycle taken = 0;
  if (begins) {
    // The cycle of rq_take_rsp. A take that waited is repeated in qp_rq_fetch, and later takes wait
    // behind it.
    const QpTiming& rq = u_.timing.qp;
    Cycle at = now + rq.rq_take;
    if (!take_waits_)
      at = std::max({at, came + t.rx_header + rq.rq_map + rq.rq_take, taken_at_ + rq.rq_next});
    const auto rsp = rq_take_req_o(front.hdr.qpn, at - now - (rq.rq_take - rq.rq_give));
    if (!take_waits_) u_.pass(Stream::kRqTakeReq, now + t.rx_header);
    take_waits_ = !rsp;
    if (!rsp) {
      rx_meter_.blocked(now);
      return;  // receive_ready() wakes this stage
    }
    ddp_.rx.received(front.hdr.qpn, *rsp);
    u_.pass(Stream::kRqTakeRsp, at);
    taken_at_ = at;
    taken = at - now + t.rx_take - t.rx_header;
  }
  // Segments reach rdmap in order. One without a lookup is faster than the one before it, so it
  // waits for its turn.
  const Cycle early = now + t.rx_header + taken + t.rx_check;
  const Cycle turn = asks_tpt(front) || segment_ < early ? 0 : segment_ + 1 - early;
  latency += taken + turn;
  rx_meter_.moved(now);
  const uint16_t length = front.hdr.length;
  rx_segment_in_o(t.rx_header + t.rx_check + turn);
  judged_in_ = t.rx_header + taken + t.rx_check + turn + u_.timing.rdmap.verdict;
  auto placed = ddp_.rx.take(rx_ulpdu.pop());
  judged_in_ = 0;
  rx_segment_in_o(0);
  const Cycle late = rx_verdict_late_i();
  latency += late;
  rx_meter_.item(1);
  if (placed) rx_meter_.busy(u_.timing.path.beats(placed->data.size()));
  // Beats arrived while the header waited, for example for its receive WQE.
  beats_free_ = came + busy;
  rx_free_ = std::max(beats_free_, now + header);
  const Cycle begin = std::max(now + latency, place_free_);
  place_free_ = begin + u_.timing.path.occupancy(length);
  const Cycle segment = early + turn + (placed ? u_.timing.tpt.check : 0);
  segment_ = segment;
  u_.pass(Stream::kRxSegment, segment);
  u_.pass(Stream::kRxVerdict, segment + u_.timing.rdmap.verdict + late);
  if (placed) {
    u_.pass(Stream::kRxXlate, segment - t.rx_check - u_.timing.tpt.check);
    u_.pass(Stream::kRxXlateRsp, segment - t.rx_check);
    u_.pass(Stream::kPlaceHdr, begin);
  }
  if (placed) {
    const Cycle wait = place_latency_i(placed->data.size());
    place_o.push(std::move(*placed), begin + wait);
  }
  if (!rx_ulpdu.empty()) rx_.wake(std::max(rx_free_, rx_ulpdu.visible_at()));
}

void DdpUnit::qp_ack_ddp(const spec::QpAckDdp& ack) { qp_ack_ddp_o.push(ack, u_.now()); }
void DdpUnit::tx_want(const spec::TxWant& want) {
  const DdpTiming& t = u_.timing.ddp;
  Cycle at = u_.now() + until_want_.value_or(t.want_next);
  // ddp_tx_sched handles a message and a grant of one QP one after the other (`inside` cycles).
  const bool after_grant =
      until_want_ || (ddp_.tx.has_one_new(want.qpn) && came_[want.qpn] + t.inside >= at);
  if (after_grant) at = std::max(came_[want.qpn], left_[want.qpn]) + t.inside;
  u_.pass(Stream::kTxWant, at);
  // llp_if_grant begins an item every second cycle.
  const Cycle phase = (at + t.credit) % 2;
  wants.push(want, at + t.credit + phase);
}
void DdpUnit::tx_fault(const spec::TxFault& fault) {
  ddp_.tx.fault(fault.qpn);
  tx_fault_o.push(fault, u_.now() + u_.timing.rdmap.control);
}
void DdpUnit::sq_slot_free(const spec::SqSlotFree& free) {
  sq_slot_free_o.push(free,
                      u_.now() + u_.timing.ddp.slot_free + u_.timing.qp.slot + u_.timing.qp.pick);
}
void DdpUnit::resp_slot_free(const spec::RespSlotFree& free) {
  resp_slot_free_o.push(free,
                        u_.now() + (is_final_ ? u_.timing.ddp.final : u_.timing.ddp.slot_free));
}
void DdpUnit::resp_fetched(const spec::RespFetched& f) { resp_fetched_o(f); }
void DdpUnit::rx_done(const spec::RxDone& done) {
  const Cycle at = u_.now() + until_report_.value_or(judged_in_ + u_.timing.ddp.deliver);
  u_.pass(Stream::kRxDone, at);
  rx_done_o.push(done, at + u_.timing.qp.received);
}

void DdpUnit::invalidate(const spec::Invalidate& inv) {
  const Cycle asked = u_.now() + judged_in_ + u_.timing.ddp.deliver;
  invalidate_o.push(inv, asked + u_.timing.tpt.invalidate);
}

spec::UnitCount DdpUnit::count() const {
  const auto &r = rx_meter_.count(), &t = tx_meter_.count();
  return {.items = r.items + t.items, .busy = r.busy + t.busy, .stalled = r.stalled + t.stalled};
}

std::string DdpUnit::waiting_for() const {
  std::string s = ddp_.waiting_for() + rx_ulpdu.describe() + scheduled_.describe() +
                  segments_.describe() + wants.describe();
  if (!segments_.empty() && segments_.front().fetches && payload.empty()) {
    s += "ddp: the oldest segment waits for its payload from host_if\n";
  }
  if (!segments_.empty() && !ddp_.tx.may_leave(segments_.front()))
    s += "ddp: the oldest segment waits for earlier placements\n";
  return s;
}

}  // namespace rnic::model
