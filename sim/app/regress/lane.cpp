// A lane's transitions from phase to phase, and its posts. See regress/host.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "gen/regs.hpp"
#include "regress/host.hpp"

namespace rnic::app::regress {

using namespace verbs;

namespace {

constexpr Time kLook = 2 * kUs;  // between two queries of a draining QP
// First wr_id of empty Writes that age a queue; of local invalidations.
constexpr uint64_t kAgeId = 2'000'000, kInvalidationId = 3'000'000;

WrOpcode opcode_of(const Operation& o) {
  switch (o.op) {
    case Op::kWrite:
      return o.immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    case Op::kRead:
      return IBV_WR_RDMA_READ;
    case Op::kFlush:
      return IBV_WR_FLUSH;
    case Op::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Op::kCmpSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Op::kAtomicWrite:
      return IBV_WR_ATOMIC_WRITE;
    case Op::kRegMr:
      return IBV_WR_REG_MR;
    case Op::kBindMw:
      return IBV_WR_BIND_MW;
    case Op::kLocalInv:
      return IBV_WR_LOCAL_INV;
    default:
      return o.immediate ? RNIC_WR_IMM : o.invalidates() ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
  }
}

}  // namespace

Sge Host::sge(const Lane& lane, const Piece& p, bool in_landing, bool pointer) const {
  const Region& region = in_landing ? lane.landing : source_;
  if (pointer) return {base::address_of(region.bytes().data() + p.offset), p.length, 0};
  return {(in_landing ? plan_.iova(side_, lane.number) : kSourceIova) + p.offset, p.length,
          in_landing ? lane.mr.lkey() : domain(lane).source.lkey()};
}

Result<void> Host::step(Lane& lane) {
  const Life& life = *lane.life;
  switch (lane.phase) {
    case Phase::kWaiting: {
      const auto before = plan_.before(lane.number);
      if (before && !own_.lane[*before].over) return {};
      const Hold hold(*this);
      shared_.begun.insert(life.number);
      return open_lane(lane);
    }
    case Phase::kOpen: {
      if (side_ == kServer || !theirs(lane).ready) return {};
      const Hold hold(*this);
      return connect(lane);
    }
    case Phase::kRunning: {
      if (!std::exchange(lane.refused, true))
        if (auto r = refuse(lane); !r) return r;
      if (auto r = post(lane); !r) return r;
      if (auto r = post_receives(lane); !r) return r;
      const bool prepared = life.shares[side_] || (lane.spares_posted == life.spare[side_] &&
                                                   lane.receives_posted == lane.receives.size());
      const bool quiet = prepared && lane.completed == lane.sends.size() &&
                         lane.receives_done == lane.receives.size();
      mine(lane).prepared = prepared;
      mine(lane).quiet = quiet;
      const Published& other = theirs(lane);
      // Without load the life ends when both sides are quiet. A busy life ends with requests in
      // flight: `who` aborts after a percentage of its requests, or posts the error when its own
      // requests have completed and the peer has posted all receives. Then the peer follows.
      if (!is_victim_of(lane)) {
        if (!quiet || !other.quiet) return {};
      } else if (life.who == side_) {
        if (!other.connected) return {};
        if (life.end == End::kAbort && lane.posted * 100 < lane.sends.size() * life.after)
          return {};
        if (life.end == End::kFault && (!other.prepared || lane.completed != lane.sends.size()))
          return {};
      } else if (!other.is_ending) {
        return {};
      }
      lane.phase = Phase::kEnding;
      shared_.progress = dev_.now();
      return {};
    }
    case Phase::kEnding: {
      const bool first = lane.life->end == End::kBothClose ||
                         (lane.life->end == End::kClientCloses && side_ == kClient) ||
                         (lane.life->end == End::kServerCloses && side_ == kServer);
      // The side that does not close first waits for the other, once end() has called look().
      if (life.closes() && !first && lane.looked && !theirs(lane).is_ending) return {};
      const Hold hold(*this);
      return end(lane);
    }
    case Phase::kDraining: {
      if (!is_drained(lane) || dev_.now() < lane.look_at) return {};
      const Hold hold(*this);
      return drain(lane);
    }
    case Phase::kOver:
      return {};
  }
  return {};
}

Result<void> Host::end(Lane& lane) {
  const Life& life = *lane.life;
  const auto leave = [&](QpState to) -> Result<void> {
    auto r = lane.qp.modify(to);
    if (!r && r.error().code != Errc::kBadState) return r;  // the QP may have left RTS meanwhile
    return {};
  };
  const bool other_ends = theirs(lane).is_ending;
  if (!is_victim_of(lane) && !other_ends && !lane.looked) {
    lane.looked = true;
    // look() queries the device; the reply arrives after posted writes that the platform delayed.
    if (auto r = look(lane); !r) return r;
    if (auto r = compare_all(lane); !r) return r;
    if (auto r = refuse(lane); !r) return r;
  }
  const bool first = life.end == End::kBothClose ||
                     (life.end == End::kClientCloses && side_ == kClient) ||
                     (life.end == End::kServerCloses && side_ == kServer);
  if (life.closes() && !first && !other_ends) return {};
  // Publish the end before the device changes state, since the peer may notice that at once.
  mine(lane).is_ending = true;
  if (life.closes()) {
    if (auto r = leave(IBV_QPS_SQD); !r) return r;
  } else if (life.who == side_ && life.end == End::kAbort) {
    if (auto r = leave(IBV_QPS_ERR); !r) return r;
  } else if (life.who == side_) {
    if (auto r = post_wrong(lane); !r) return r;
  }
  lane.phase = Phase::kDraining;
  shared_.progress = dev_.now();
  return {};
}

// True if no more completions are to come. Unsignalled requests that completed before the end get
// no CQE if the end cuts the QP (is_cut).
bool Host::is_drained(const Lane& lane) const {
  if (!lane.received.empty()) return false;
  if (overflows(lane)) return lane.cq_emptied;
  return std::ranges::all_of(lane.sent,
                             [&](const Posted& p) { return !p.signaled && is_cut(lane, false); });
}

Result<void> Host::drain(Lane& lane) {
  const Life& life = *lane.life;
  lane.look_at = dev_.now() + kLook;
  const auto info = lane.qp.query();
  if (!info) return error_of(info);
  if (!info->drained && info->state != IBV_QPS_INIT) return {};
  const bool has_shared = life.shares[side_] && !life.closes();
  if (has_shared || (!overflows(lane) && !lane.sent.empty())) {
    // The requests left in lane.sent are complete without a CQE, or their flush CQEs are not yet
    // polled. kAfterwards is enough time to poll these.
    if (lane.drained_at == 0) lane.drained_at = dev_.now();
    if (dev_.now() < lane.drained_at + kAfterwards) return {};
    // The number of SRQ receives that are still to complete is unknown, and destroy() drops
    // completions that were not polled. So wait for one more empty poll of all CQs.
    if (has_shared && !lane.emptied) lane.emptied = emptied_;
    if (has_shared && *lane.emptied == emptied_) return {};
  }
  if (life.late && !life.closes() && !lane.late_posted && !overflows(lane)) {
    lane.late_posted = true;
    const Sge from = sge(lane, {(1 + lane.number * 2 + side_) * kPage, 8}, false, false);
    return post_one(lane, Kind::kLate,
                    {.wr_id = kOtherId + 50,
                     .sg_list = {&from, 1},
                     .opcode = IBV_WR_SEND,
                     .send_flags = IBV_SEND_SIGNALED});
  }
  return finish(lane, *info);
}

Result<void> Host::finish(Lane& lane, const QpInfo& info) {
  if (auto r = take_events(); !r) return r;
  const Expected want = expected(lane);
  const bool as_planned = want.event
                              ? lane.events.size() == 1 && lane.events[0].type == *want.event &&
                                    lane.events[0].cause == want.cause &&
                                    lane.events[0].peer_term == want.peer_term
                              : lane.events.empty();
  if (!as_planned) {
    std::string is;
    for (const AsyncEvent& e : lane.events)
      is += fmt::format(" event {} cause {} Terminate {:#06x};", static_cast<unsigned>(e.type),
                        e.cause, e.peer_term);
    return fail(Errc::kProtocol,
                "qp {}: its end should bring {}, but brought:{} query_qp: state {} cause {} "
                "Terminate {:#06x}\n{}",
                lane.number,
                want.event
                    ? fmt::format("event {} cause {} Terminate {:#06x}",
                                  static_cast<unsigned>(*want.event), want.cause, want.peer_term)
                    : "no event",
                is, to_string(info.state), info.cause, info.peer_term, standing());
  }
  if (overflows(lane) && lane.overflowed != kOverflowRing) {
    return fail(Errc::kProtocol,
                "qp {}: its CQ of {} entries had {} completions when it overflowed", lane.number,
                kOverflowRing, lane.overflowed);
  }
  if (lane.life->shares[side_] && !is_cut(lane, true) && lane.receives_done != lane.receives.size())
    return fail(Errc::kProtocol,
                "qp {}: it has ended, and {} of {} messages have completed receives of SRQ {}\n{}",
                lane.number, lane.receives_done, lane.receives.size(), domain(lane).srq.number(),
                standing());
  if (auto r = compare_all(lane); !r) return r;
  dev_.before_shared();
  own_.owner.erase(lane.qp.qp_num());
  lane.phase = Phase::kOver;
  for (Mr& key : lane.keys) {
    if (auto r = key.dereg(); !r)
      return fail(r.error().code, "qp {}: dereg of a bound region: {}", lane.number,
                  r.error().what);
  }
  lane.keys.clear();
  for (Lane::Loan& loan : lane.loans) {
    auto r = loan.mw.core() != nullptr ? loan.mw.dealloc() : loan.mr.dereg();
    if (!r) return fail(r.error().code, "qp {}: end of a loan: {}", lane.number, r.error().what);
  }
  lane.loans.clear();
  if (auto r = lane.qp.destroy(); !r)
    return fail(r.error().code, "qp {}: destroy: {}", lane.number, r.error().what);
  lane.connection = Connection();
  lane.qp = Qp();
  lane.own_cq = Cq();
  if (auto r = lane.mr.dereg(); !r)
    return fail(r.error().code, "qp {}: dereg: {}", lane.number, r.error().what);
  if (auto r = compare_all(lane); !r) return r;  // drained: no write since then
  lane.mr = Mr();
  mine(lane).memory = {};
  lane.landing = {};
  dev_.before_shared();
  mine(lane).over = true;
  ++shared_.lives;
  shared_.progress = dev_.now();
  return {};
}

// Posts the next group of joined requests, if the whole group fits.
Result<void> Host::post(Lane& lane) {
  if (lane.send_failed) return {};
  if (lane.life->aged && lane.life->who == side_ && lane.aged < kAge) return age(lane);
  if (lane.posted == lane.sends.size() || dev_.now() < lane.rest_until) return {};
  const Operation& first = *lane.sends[lane.posted];
  if (first.pause_ns != 0 && lane.rest_until == 0) {
    lane.rest_until = dev_.now() + first.pause_ns * kNs;
    return {};
  }
  size_t end = lane.posted + 1;
  while (end < lane.sends.size() && lane.sends[end]->joined) ++end;
  const std::span<const Operation* const> group(&lane.sends[lane.posted], end - lane.posted);
  const auto sends = static_cast<size_t>(
      std::ranges::count_if(group, [](const Operation* o) { return o->takes_receive(); }));
  // Entries of the send queue: of the group, and outstanding. An invalidation has its own Posted.
  size_t entries = 0;
  for (const Operation* o : group) entries += o->entries();
  for (const Posted& p : lane.sent)
    entries += p.op != nullptr && p.op->sink_key == 0 ? p.op->entries() : 1;
  // Wait until the send queue has room, and until the peer has posted the receives.
  if (entries > plan_.shape[side_][lane.number].send_depth) return {};
  if (lane.sends_posted + sends > theirs(lane).receives) return {};
  if (!std::ranges::all_of(group, [&](const Operation* o) { return may_post(lane, *o); }))
    return {};
  std::vector<std::vector<Sge>> sges(group.size());
  std::vector<SendWr> wrs;
  for (size_t k = 0; k < group.size(); ++k) {
    const Operation& o = *group[k];
    for (const Piece& p : o.local) sges[k].push_back(sge(lane, p, o.local_landing, o.is_inline));
    SendWr wr{.wr_id = o.number, .sg_list = sges[k], .opcode = opcode_of(o)};
    wr.send_flags = (o.signaled ? IBV_SEND_SIGNALED : 0u) | (o.fence ? IBV_SEND_FENCE : 0u) |
                    (o.is_inline ? IBV_SEND_INLINE : 0u) |
                    (o.op == Op::kSendSolicited ? IBV_SEND_SOLICITED : 0u);
    if (!o.is_send() && !o.is_of_loan()) {
      wr.remote_addr =
          (o.remote_landing ? plan_.iova(peer_, lane.number) : kSourceIova) + o.remote.offset;
      wr.rkey = o.remote_landing ? theirs(lane).landing : theirs(lane).source;
    }
    if (o.immediate) wr.imm = o.data;
    if (o.key != 0) wr.rkey = theirs(lane).keys.at(o.key - 1);
    if (o.sink_key != 0) sges[k][0].lkey = lane.keys.at(o.sink_key - 1).lkey();
    if (o.is_of_loan()) {
      if (auto r = put_loan(lane, o, wr); !r) return r;
    } else if (o.loan != 0) {
      const Published::Loan& loan = theirs(lane).loans.at(o.loan - 1);
      wr.rkey = loan.key;
      if (!o.is_send()) wr.remote_addr = loan.origin + o.remote.offset;
    }
    if (o.sink_loan != 0) sges[k][0].lkey = lane.loans.at(o.sink_loan - 1).mr.lkey();
    wr.compare_add = o.op == Op::kCmpSwap ? want_.compare.at(o.number) : o.data;
    if (o.op == Op::kFetchAdd) wr.add_mask = o.mask;
    if (o.op == Op::kCmpSwap)
      wr.swap = o.data, wr.swap_mask = o.mask, wr.compare_mask = o.compare_mask;
    if (o.op == Op::kAtomicWrite) {
      sges[k] = {{base::address_of(&o.data), kWord, 0}};
      wr.sg_list = sges[k];
      wr.send_flags |= IBV_SEND_INLINE;
    }
    if (o.op == Op::kFlush) wr.flush_length = o.length, wr.flush_type = o.flush_type;
    wrs.push_back(wr);
    lane.sent.push_back({o.number, Kind::kPlanned, &o, o.signaled});
    if (o.sink_key != 0) {
      wrs.push_back({.wr_id = kInvalidationId + o.number,
                     .opcode = IBV_WR_LOCAL_INV,
                     .send_flags = IBV_SEND_FENCE | (o.signaled ? IBV_SEND_SIGNALED : 0u),
                     .rkey = lane.keys[o.sink_key - 1].rkey()});
      lane.sent.push_back({wrs.back().wr_id, Kind::kInvalidation, nullptr, o.signaled});
    }
    shared_.begun.insert(o.number);
  }
  lane.posted = end;
  lane.sends_posted += sends;
  lane.rest_until = 0;
  shared_.posted += group.size();
  const auto r = lane.qp.post_send(wrs);
  if (!r)
    return fail(r.error->code, "post of request {}, in the group of {}: {}", wrs[r.accepted].wr_id,
                group.front()->describe(), r.error->what);
  return {};
}

// False while `op` waits for an operation of the peer, or a reg_mr for the local_inv before it.
// Numbers grow in the order of posting, so a later message of the peer that has arrived proves that
// the peer has posted op.after. An operation on a loan waits for a Send of the peer; another waits
// for the peer's reg_mr or bind_mw.
bool Host::may_post(const Lane& lane, const Operation& op) const {
  if (op.op == Op::kRegMr && lane.loans.at(op.loan - 1).is_closing) return false;
  if (op.after <= lane.arrived) return true;
  return !op.is_of_loan() && op.after <= theirs(lane).opened;
}

// Fills `wr` for a reg_mr, bind_mw or local_inv. Publishes the key of a loan that it opens: the low
// byte of the STag advances by 1 to 255, so the previous key is no longer valid.
Result<void> Host::put_loan(Lane& lane, const Operation& op, SendWr& wr) {
  Lane::Loan& loan = lane.loans.at(op.loan - 1);
  if (op.op == Op::kLocalInv) {
    wr.rkey = mine(lane).loans.at(op.loan - 1).key;
    loan.is_closing = true;
    return {};
  }
  const uint64_t iova = plan_.iova(side_, lane.number);
  const auto step = static_cast<uint32_t>(1 + op.data % 255);
  if (op.op == Op::kBindMw) {
    const bool is_zero_based = op.data / 256 % 2 != 0;
    const uint32_t key = loan.mw.rkey();
    wr.mw = &loan.mw;
    wr.key = (key & ~0xffu) | ((key + step) & 0xff);
    wr.bind_info = {
        .mr = &lane.mr,
        .addr = iova + op.range.offset,
        .length = op.unbinds ? 0 : op.range.length,
        .access = (lane.access & ~uint32_t{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED}) |
                  (is_zero_based ? IBV_ACCESS_ZERO_BASED : 0u)};
    mine(lane).loans.at(op.loan - 1) = {
        .key = wr.key, .origin = is_zero_based ? -uint64_t{op.range.offset} : iova};
    return {};
  }
  const auto page = op.data / 256 % 2 == 0 ? kPage : lane.landing.buffer.page_size();
  const SgRange range{.buffer = lane.landing.buffer,
                      .addr = lane.landing.at + op.range.offset,
                      .length = op.range.length};
  if (auto r = loan.mr.map_mr_sg({&range, 1}, static_cast<uint32_t>(page), iova + op.range.offset);
      !r)
    return fail(r.error().code, "{}: {}", op.describe(), r.error().what);
  if (auto r = loan.mr.update_fast_reg_key(static_cast<uint8_t>(loan.mr.rkey() + step)); !r)
    return r;
  wr.mr = &loan.mr;
  wr.key = loan.mr.rkey();
  wr.access = (lane.access & ~uint32_t{IBV_ACCESS_ZERO_BASED}) | RNIC_ACCESS_REMOTE_INVALIDATE;
  mine(lane).loans.at(op.loan - 1) = {.key = wr.key, .origin = iova};
  return {};
}

// Posts the next batch of an aged life's empty Writes. Each has max_sge SGEs of length 0: 14 SGEs
// make it kAgeUnits units long.
Result<void> Host::age(Lane& lane) {
  const uint32_t batch =
      std::min({kAgeBatch, kAge - lane.aged, plan_.shape[side_][lane.number].send_depth / 2});
  if (lane.sent.size() + batch > plan_.shape[side_][lane.number].send_depth) return {};
  const std::vector<Sge> empty(plan_.shape[side_][lane.number].max_sge,
                               sge(lane, {0, 0}, false, false));
  std::vector<SendWr> wrs;
  for (uint32_t k = 0; k < batch; ++k) {
    const bool signaled = k + 1 == batch;
    wrs.push_back({.wr_id = kAgeId + lane.aged++,
                   .sg_list = empty,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = signaled ? IBV_SEND_SIGNALED : 0u,
                   .remote_addr = plan_.iova(peer_, lane.number),
                   .rkey = theirs(lane).landing});
    lane.sent.push_back({wrs.back().wr_id, Kind::kAging, nullptr, signaled});
  }
  const auto r = lane.qp.post_send(wrs);
  if (!r)
    return fail(r.error->code, "qp {}: post of an empty Write: {}", lane.number, r.error->what);
  return {};
}

Result<void> Host::post_one(Lane& lane, Kind kind, const SendWr& wr) {
  lane.sent.push_back({wr.wr_id, kind, nullptr, true});
  const auto r = lane.qp.post_send(wr);
  if (!r)
    return fail(r.error->code, "qp {}: post of request {}: {}", lane.number, wr.wr_id,
                r.error->what);
  return {};
}

// Posts as many receives as the queue holds, first planned ones, then spare ones. Publishes them to
// the peer after a register read, whose reply proves that the device has received the doorbells.
Result<void> Host::post_receives(Lane& lane) {
  const Life& life = *lane.life;
  if (life.shares[side_]) {  // the SRQ holds receives for the QP's credit
    const uint64_t upto = lane.receives_done + plan_.credit(side_, lane.number);
    if (mine(lane).receives == upto) return {};
    (void)dev_.read64(0, spec::kCountItemsOffset);
    mine(lane).receives = upto;
    return {};
  }
  if (lane.receive_failed ||
      (life.receives_late[side_] && (lane.phase == Phase::kOpen || dev_.now() < lane.refill_at)))
    return {};
  const uint32_t depth = plan_.shape[side_][lane.number].recv_depth;
  bool any = false;
  while (lane.received.size() < depth) {
    std::vector<Sge> sges;
    uint64_t id = 0;
    const Operation* op = nullptr;
    if (lane.receives_posted < lane.receives.size()) {
      op = lane.receives[lane.receives_posted++];
      shared_.begun.insert(op->number);
      id = op->number;
      for (const Piece& p : op->receive) sges.push_back(sge(lane, p, true, false));
    } else if (lane.spares_posted < life.spare[side_]) {
      const auto at = plan_.landing_bytes[side_][lane.number] - kSpareFromEnd +
                      static_cast<uint32_t>(lane.spares_posted) * kSpareStep;
      id = kSpareId + lane.spares_posted;
      sges.push_back(sge(lane, {at, kSpareBytes}, true, false));
      if (life.end == End::kFault && life.fault == Fault::kReceiveKey && life.who != side_ &&
          lane.spares_posted == 0)
        sges[0].lkey ^= 0x5a;  // an unknown STag
      ++lane.spares_posted;
    } else {
      break;
    }
    lane.received.push_back({id, op == nullptr ? Kind::kSpare : Kind::kPlanned, op, true});
    const auto r = lane.qp.post_recv({.wr_id = id, .sg_list = sges});
    if (!r) return fail(r.error->code, "qp {}: receive {}: {}", lane.number, id, r.error->what);
    any = true;
  }
  if (!any) return {};
  (void)dev_.read64(0, spec::kCountItemsOffset);
  mine(lane).receives = lane.receives_posted;
  return {};
}

}  // namespace rnic::app::regress
