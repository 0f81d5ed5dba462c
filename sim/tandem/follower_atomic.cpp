// Unit atomic: lookups, decisions, stores and their results (decision 12). The values that the RTL
// read come from the read log. The model computes everything else.
#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "tandem/steps.hpp"

namespace rnic::sim {

using spec::AtomicEnd;
using spec::AtomicOp;

namespace {

/// Cycles from rdmap_core's report that a QP is dead to the end of the wait in rdmap_atomic's queue
/// `u_dead`. The report waits for room in `u_out`, thus for unit atomic, which stream cells delay
/// in the stall build. Until then rdmap_atomic answers atomics that have been executed; ddp drops
/// these answers after the Terminate.
constexpr uint64_t kDeadQueued = 256;

}  // namespace

/// Moves ready atomic requests to in_hand_. The RTL may serve them from now on, unless their QP
/// fails first.
void Steps::hand_out() {
  while (!ready_.empty()) {
    const uint16_t qpn = ready_.front();
    ready_.pop_front();
    if (rdmap_.responders().test(qpn) && rdmap_.is_atomic(qpn))
      in_hand_[qpn] = {.turn = rdmap_.begin_atomic(qpn), .rsp = {}, .failed = {}};
  }
}

/// The RTL's lookup of these 8 bytes; nothing if it made none.
std::optional<Steps::Answer> Steps::looked_up(const spec::AtomicReq& r) {
  const auto target = model::target_of(r);
  const auto at =
      std::ranges::find_if(looked_, [&](const Answer& a) { return a.request == target; });
  if (at == looked_.end()) return std::nullopt;
  Answer a = std::move(*at);
  looked_.erase(at);
  a.result = model::aligned(a.result, a.extents);
  return a;
}

void Steps::step(const spec::AtomicWordCommit& c) {
  if (!known(c.qpn, "atomic_word")) return;
  if (c.op == AtomicOp::kResult) return result_decided(c);
  auto& hand = in_hand_[c.qpn];
  if (!hand || hand->is_decided)
    return tally_.differ("atomic_word: QP {}: RTL has decided {}; model has no such request", c.qpn,
                         to_string(c.op));
  const spec::AtomicReq& r = hand->turn.request;
  if (r.op != c.op)
    return tally_.differ("atomic_word: QP {}: RTL {} / model {}", c.qpn, to_string(c.op),
                         to_string(r.op));
  if (placed_ < hand->turn.watermark)
    return tally_.differ("atomic_word: QP {}: {} of {} earlier placements have left", c.qpn,
                         placed_, hand->turn.watermark);
  if (std::ranges::any_of(segments_,
                          [&](const TxSegment& s) {
                            return s.qpn == c.qpn && s.segment.source == spec::TxSource::kResp &&
                                   !s.whole;
                          }) &&
      !qps_[c.qpn].tx_failed)
    return tally_.differ("atomic_word: QP {}: a Read before it has not fetched its source", c.qpn);
  auto a = looked_up(r);
  if (!a || a->result != spec::TptResult::kOk)
    return tally_.differ("atomic_word: QP {}: RTL has decided {}; its lookup: {}", c.qpn,
                         r.describe(), a ? to_string(a->result) : "none");
  const uint64_t address = a->extents.all()[0].address;
  hand->is_decided = true;
  hand->rsp = {.op = r.op, .qpn = c.qpn, .slot = r.slot, .ending = AtomicEnd::kDone};
  if (model::reads_old(r)) {
    const auto got = log_.take(Client::kQn1, address, sizeof(uint64_t));
    if (got.state != ReadLog::State::kDone || got.status != spec::RdStatus::kOk)
      return tally_.differ("atomic_word: QP {}: RTL has decided; the old value: {}", c.qpn,
                           got.state == ReadLog::State::kDone ? "its read has failed" : got.why);
    hand->rsp.value = base::load_le<uint64_t>(got.data.bytes().data());
  }
  const auto result = model::perform(r, hand->rsp.value);
  if (result.writes != (c.performed != 0))
    return tally_.differ("atomic_word: QP {}: {} on {:#x}: RTL {} / model {}", c.qpn, r.describe(),
                         hand->rsp.value, c.performed != 0 ? "stores" : "stores nothing",
                         result.writes ? "stores" : "stores nothing");
  if (!result.writes) {
    hand->is_stored = true;
    return give_back(a->extents);
  }
  store(c.qpn, std::nullopt, address, result.value, std::move(a->extents));
}

void Steps::result_decided(const spec::AtomicWordCommit& c) {
  const auto r = take(results_, c.qpn, "atomic_word", "the result of an atomic");
  if (!r) return;
  auto a = looked_up(*r);
  if (!a || a->result != spec::TptResult::kOk || c.performed == 0)
    return tally_.differ("atomic_word: QP {}: RTL stores a result; its lookup: {}", c.qpn,
                         a ? to_string(a->result) : "none");
  const uint64_t address = a->extents.all()[0].address;
  store(c.qpn, r->slot, address, r->data, std::move(a->extents));
}

void Steps::store(uint16_t qpn, std::optional<uint8_t> slot, uint64_t address, uint64_t value,
                  model::ExtentList extents) {
  storing_.push_back({.qpn = qpn, .slot = slot, .extents = std::move(extents)});
  if (expect_.writes()) return expect_.word(qpn, address, value);
  stored();
}

/// Called when the oldest word is in memory or was dropped.
void Steps::stored() {
  if (storing_.empty()) return;
  Storing s = std::move(storing_.front());
  storing_.pop_front();
  give_back(s.extents);
  if (s.slot) {
    res_dones_.push_back({.qpn = s.qpn, .kind = spec::DeliverKind::kRead, .slot = *s.slot});
  } else if (in_hand_[s.qpn]) {
    in_hand_[s.qpn]->is_stored = true;
  }
}

void Steps::step(const spec::RdmapAtomicCommit& c) {
  if (!known(c.qpn, "rdmap_atomic")) return;
  auto& hand = in_hand_[c.qpn];
  if (!hand)
    return tally_.differ("rdmap_atomic: QP {}: a request of RTL has come back; model has none",
                         c.qpn);
  if (hand->is_decided && !hand->is_stored)
    return tally_.differ("rdmap_atomic: QP {}: it has come back; its store has not left", c.qpn);
  if (c.fails != 0) {
    if (hand->is_decided)
      return tally_.differ("rdmap_atomic: QP {}: RTL fails {}; model has done it", c.qpn,
                           hand->turn.request.describe());
    auto rsp = failure_of(hand->turn.request);
    hand->failed = rsp;
    if (rsp.ending == AtomicEnd::kDropped)
      tally_.differ("rdmap_atomic: QP {}: RTL fails {}; model finds no failure", c.qpn,
                    hand->turn.request.describe());
    return;
  }
  if (c.answers == 0) {  // the request was dropped, or its QP has failed
    if (!hand->is_decided) (void)failure_of(hand->turn.request);
    hand.reset();
    return;
  }
  if (!hand->is_decided)
    return tally_.differ("rdmap_atomic: QP {}: RTL answers {}; it has decided nothing", c.qpn,
                         hand->turn.request.describe());
  const auto rsp = hand->rsp;
  const uint32_t request_id = hand->turn.request_id;
  hand.reset();
  if (auto m = rdmap_.atomic_rsp(rsp)) return ddp_.tx.message(std::move(*m));
  if (const auto dead = qps_[c.qpn].dead;
      dead && tally_.cycle() - *dead <= kDeadQueued && rsp.ending == AtomicEnd::kDone) {
    tally_.followed("atomics answered just after their QP failed");
    return ddp_.tx.message(model::Rdmap::atomic_message(rsp, request_id));
  }
  tally_.differ("rdmap_atomic: QP {}: RTL answers; in the model the QP has failed", c.qpn);
}

/// Why the request failed; kDropped if no failure is found. Uses up its lookup and its failed
/// read.
spec::AtomicRsp Steps::failure_of(const spec::AtomicReq& r) {
  spec::AtomicRsp rsp{.op = r.op, .qpn = r.qpn, .slot = r.slot, .ending = AtomicEnd::kDropped};
  auto a = looked_up(r);
  if (!a) return rsp;
  if (a->result != spec::TptResult::kOk) {
    rsp.ending = AtomicEnd::kRefused;
    rsp.result = a->result;
  } else if (model::reads_old(r)) {
    const uint64_t address = a->extents.all()[0].address;
    const auto got = log_.peek(Client::kQn1, address, sizeof(uint64_t));
    if (got.state == ReadLog::State::kDone && got.status != spec::RdStatus::kOk) {
      (void)log_.take(Client::kQn1, address, sizeof(uint64_t));
      rsp.ending = AtomicEnd::kUnread;
      rsp.status = got.status;
    }
  }
  give_back(a->extents);
  return rsp;
}

/// Handles rdmap_op 3 of a request in unit atomic, or of a result; true if it was one.
bool Steps::atomic_failed(uint16_t qpn) {
  if (auto& hand = in_hand_[qpn]; hand && hand->failed) {
    const auto rsp = *hand->failed;
    hand.reset();
    (void)rdmap_.atomic_rsp(rsp);
    return true;
  }
  const auto at =
      std::ranges::find_if(results_, [qpn](const spec::AtomicReq& r) { return r.qpn == qpn; });
  if (at == results_.end()) return false;
  const auto target = model::target_of(*at);
  const bool refused = std::ranges::any_of(looked_, [&](const Answer& a) {
    return a.request == target && model::aligned(a.result, a.extents) != spec::TptResult::kOk;
  });
  if (!refused) return false;
  const spec::AtomicReq r = *at;
  results_.erase(at);
  const auto rsp = failure_of(r);
  rdmap_.tx_fault({.qpn = qpn,
                   .source = spec::TxSource::kSq,
                   .slot = r.slot,
                   .status = rsp.status,
                   .result = rsp.result});
  return true;
}

}  // namespace rnic::sim
