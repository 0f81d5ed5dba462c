// The path of an item through atomic: look_up, looked, begin, store, end, answer. An item is a
// request (FetchAdd, CmpSwap or Atomic Write of the peer) or a result (the old value that came back
// to our own FetchAdd or CmpSwap, stored at that request's sink without a lock). For both kinds
// Item::result is the verdict of tpt's lookup.
#include "atomic/atomic_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace rnic::model {

using spec::AtomicEnd;
using spec::AtomicOp;

AtomicUnit::AtomicUnit(Units& u, Translation& tpt)
    : u_(u),
      qn1_rd("qn1_rd", 2 * kInside),
      tpt_(tpt),
      arriving_("atomics", 2 * u.sizes.num_qps + u.sizes.ord_slots),
      looked_("qn1_extent", u.sizes.num_qps + u.sizes.ord_slots),
      held_(kBuckets),
      granted_("grants", u.sizes.num_qps),
      ended_("atomic_rsp", u.sizes.num_qps + u.sizes.ord_slots),
      inside_(u.sizes.num_qps),
      results_(u.sizes.num_qps) {
  u.attach(step_, StageNo::kAtomic);
  qn1_rd.feeds(step_);
  arriving_.feeds(step_);
  looked_.feeds(step_);
  granted_.feeds(step_);
  ended_.feeds(step_);
}

/// The XOR of the address bits from bit 3 up, 8 at a time (atomic_lock).
uint32_t AtomicUnit::bucket_of(uint64_t address) {
  uint32_t bucket = 0;
  for (address >>= 3; address != 0; address >>= 8) bucket ^= address & (kBuckets - 1);
  return bucket;
}

void AtomicUnit::request(const Rdmap::Turn& turn, Cycle at) {
  ++inside_[turn.request.qpn];
  arriving_.push({.req = turn.request, .watermark = turn.watermark, .extents = {}},
                 at + u_.timing.atomic.turn);
}

void AtomicUnit::result(const spec::AtomicReq& result, Cycle at) {
  ++inside_[result.qpn];
  ++results_[result.qpn];
  arriving_.push({.req = result, .extents = {}}, at + 1);
}

void AtomicUnit::step() {
  const Cycle now = u_.now();
  while (arriving_.ready()) {
    Item i = arriving_.pop();
    if (i.req.op == AtomicOp::kResult) {
      look_up(std::move(i), now);
    } else {
      turn_.push_back(std::move(i));
    }
  }
  // A request's turn comes when the placements of its watermark are done, the payload of its QP's
  // earlier Read Responses is fetched, and atomic has an entry (kInside). Requests do not wait for
  // each other. A request of a QP that has failed or stopped is dropped.
  for (auto i = turn_.begin(); i != turn_.end();) {
    const uint16_t qpn = i->req.qpn;
    const bool dead = !qp_alive_i(qpn);
    if (!dead && (!qp_fetched_i(qpn) || placed_i() < i->watermark || requests_ >= kInside)) {
      ++i;
      continue;
    }
    Item item = std::move(*i);
    i = turn_.erase(i);
    if (dead) {
      answer({.op = item.req.op, .qpn = qpn, .ending = AtomicEnd::kDropped});
    } else {
      ++requests_;
      look_up(std::move(item), now);
    }
  }
  while (looked_.ready()) looked(looked_.pop());
  while (granted_.ready()) begin(granted_.pop(), now);
  while (qn1_rd.ready()) {
    MemData d = qn1_rd.pop();
    Item i = std::move(reading_.front());
    reading_.pop_front();
    if (d.status != spec::RdStatus::kOk) {
      i.status = d.status;
      end(std::move(i), AtomicEnd::kUnread, now);
      continue;
    }
    i.old = base::load_le<uint64_t>(d.data.bytes().data());
    const AtomicResult r = perform(i.req, i.old);
    if (r.writes) {
      store(std::move(i), now + u_.timing.atomic.compute, r.value);
    } else {
      end(std::move(i), AtomicEnd::kDone, now + u_.timing.atomic.compute);
    }
  }
  while (ended_.ready()) answer(ended_.pop().rsp);
}

void AtomicUnit::look_up(Item item, Cycle at) {
  meter_.item(1);
  meter_.busy(1);  // beats: atomic_req and qn1_xlate
  item.result = tpt_.translate(target_of(item.req), item.extents);
  item.result = aligned(item.result, item.extents);
  const TptTiming& t = u_.timing.tpt;
  const Cycle asked = at + u_.timing.atomic.xlate, found = asked + t.check + t.walk;
  u_.pass(Stream::kAtomicReq, at);
  u_.pass(Stream::kQn1Xlate, asked);
  u_.pass(Stream::kQn1Extent, found);
  looked_.push(std::move(item), found);
}

void AtomicUnit::looked(Item item) {
  const Cycle now = u_.now();
  const AtomicTiming& t = u_.timing.atomic;
  if (item.result != spec::TptResult::kOk) return end(std::move(item), AtomicEnd::kRefused, now);
  if (item.req.op == AtomicOp::kResult) {
    const uint64_t word = item.req.data;
    return store(std::move(item), now + t.result, word);
  }
  const uint32_t bucket = bucket_of(item.extents.all()[0].address);
  if (held_[bucket]) {
    locks_[bucket].push_back(std::move(item));
    return;
  }
  held_[bucket] = true;
  item.is_locked = true;
  granted_.push(std::move(item), now + t.begin);
}

/// The request has its lock: reads the old value, or stores an Atomic Write at once. Drops the
/// request if its QP has failed or stopped since the lookup.
void AtomicUnit::begin(Item item, Cycle at) {
  if (!qp_alive_i(item.req.qpn)) return end(std::move(item), AtomicEnd::kDropped, at);
  if (!reads_old(item.req)) {
    const uint64_t word = item.req.data;
    return store(std::move(item), at + u_.timing.atomic.store, word);
  }
  meter_.busy(1);
  u_.pass(Stream::kQn1RdReq, at);
  qn1_rd_req_o.push({.purpose = Purpose::kQn1,
                     .qpn = item.req.qpn,
                     .address = item.extents.all()[0].address,
                     .length = sizeof(uint64_t)},
                    at + u_.timing.host.rd_request);
  reading_.push_back(std::move(item));
}

void AtomicUnit::store(Item item, Cycle at, uint64_t word) {
  meter_.busy(1);
  u_.pass(Stream::kWordWr, at);
  word_wr_o.push({.address = item.extents.all()[0].address, .data = word},
                 at + u_.timing.host.wr_word);
  storing_.push_back(std::move(item));
}

void AtomicUnit::word_done() {
  Item i = std::move(storing_.front());
  storing_.pop_front();
  end(std::move(i), AtomicEnd::kDone, u_.now() + u_.timing.atomic.done);
}

/// Retires the item's extent, passes its lock to the next item of the bucket, and queues its
/// response.
void AtomicUnit::end(Item item, AtomicEnd ending, Cycle at) {
  const AtomicTiming& t = u_.timing.atomic;
  meter_.busy(1);
  for (const spec::Extent& e : item.extents.all()) tpt_.retired({e.epoch});
  if (item.is_locked) {
    const uint32_t bucket = bucket_of(item.extents.all()[0].address);
    auto waiting = locks_.find(bucket);
    if (waiting == locks_.end()) {
      held_[bucket] = false;
    } else {
      Item next = std::move(waiting->second.front());
      waiting->second.pop_front();
      if (waiting->second.empty()) locks_.erase(waiting);
      next.is_locked = true;
      granted_.push(std::move(next), at + t.next);
    }
  }
  if (item.req.op != AtomicOp::kResult) --requests_;
  const Cycle more = item.req.op == AtomicOp::kResult ? t.res_done : t.message;
  u_.pass(item.req.op == AtomicOp::kResult ? Stream::kResDone : Stream::kAtomicRsp, at + t.end);
  ended_.push({{.op = item.req.op,
                .qpn = item.req.qpn,
                .slot = item.req.slot,
                .ending = ending,
                .result = item.result,
                .status = item.status,
                .value = item.old}},
              at + t.end + more);
  step_.wake(u_.now() + 1);  // requests_ < kInside again: the next request may have its turn
}

void AtomicUnit::answer(const spec::AtomicRsp& rsp) {
  atomic_rsp_o(rsp);
  if (rsp.op == AtomicOp::kResult) --results_[rsp.qpn];
  left(rsp.qpn);
}

void AtomicUnit::left(uint16_t qpn) {
  --inside_[qpn];
  item_left_o(qpn);
}

std::string AtomicUnit::waiting_for() const {
  std::string s;
  for (const Item& i : turn_)
    s += fmt::format(
        "atomic: a request of QP {} waits for {}\n", i.req.qpn,
        qp_fetched_i(i.req.qpn) ? "earlier placements" : "the payload of an earlier Read Response");
  if (!reading_.empty()) s += fmt::format("atomic: {} reads are not answered\n", reading_.size());
  if (!storing_.empty()) s += fmt::format("atomic: {} stores have not left\n", storing_.size());
  for (const auto& [bucket, items] : locks_)
    s += fmt::format("atomic: {} requests wait for a lock\n", items.size());
  return s;
}

}  // namespace rnic::model
