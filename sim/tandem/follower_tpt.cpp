// STag lookups and changes of the table, in the order in which the RTL read and wrote the table.
#include "tandem/of_reg.hpp"
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

using namespace of_reg;

// `client` of commit tpt_check (docs/spec/commits.yaml).
constexpr size_t kRx = 0, kTx = 1, kWqe = 2, kResp = 3, kQn1 = 5;
constexpr std::array<std::string_view, 4> kNames{"a received segment", "a segment to be sent",
                                                 "a work request", "a Read Request of the peer"};

/// Compares two lookups. qp and rdmap do not report which lookup is their last.
bool same(const spec::WqeCheck& a, spec::WqeCheck b, size_t client) {
  if (client == kWqe || client == kResp) b.last = a.last;
  return a == b;
}

}  // namespace

void Steps::step(const spec::TptCheckCommit& c) {
  if (c.client > kResp && c.client != kQn1) return;  // client 4: tpt_update's own lookup
  const spec::WqeCheck request{.stag = c.stag,
                               .tagged_offset = c.tagged_offset,
                               .length = c.length,
                               .pd = c.pd,
                               .qpn = c.qpn,
                               .rights = c.rights,
                               .invalidate = c.invalidate,
                               .last = c.last};
  if (c.client == kQn1) {
    Answer a{.request = request, .extents = {}};
    a.result = translate(request, a.extents);
    looked_.push_back(std::move(a));
    return;
  }
  if (c.client != kTx) {
    Answer a{.request = request, .extents = {}};
    a.result = c.client == kRx ? translate(request, a.extents) : tpt_.check(request);
    answered_[c.client].push_back(std::move(a));
    return;
  }
  for (TxSegment& s : segments_) {
    if (s.asks.empty()) continue;
    if (!(s.asks.front() == request)) {
      return tally_.differ("tpt_check: QP {}: lookup for a segment to be sent: RTL {} / model {}",
                           s.qpn, request.describe(), s.asks.front().describe());
    }
    s.asks.pop_front();
    const size_t known = s.extents.all().size();
    const auto result = translate(request, s.extents);
    for (const spec::Extent& e : std::span(s.extents.all()).subspan(known))
      log_.due(s.serial, e.address, e.length);
    if (s.segment.result == spec::TptResult::kOk) s.segment.result = result;
    if (s.segment.result != spec::TptResult::kOk) {
      log_.settle(s.serial);
      for (const spec::Extent& e : std::span(s.extents.all()).subspan(s.gathered))
        in_flight_.retire(e.epoch);
      s.extents = {};
      s.gathered = 0;
    }
    gather();
    return;
  }
  tally_.differ("tpt_check: RTL looked up {} for a segment to be sent; model has no such segment",
                request.describe());
}

// Who asked for the change: of_peer a delivered Send with Invalidate, of_sq a local invalidation,
// of_reg a registration or bind, none of them a command of admin. waits: the command closes an
// entry that may still be in use, and is answered in_progress. slot: the low 16 bits of the slot.
void Steps::step(const spec::TptChangeCommit& c) {
  if (c.of_peer != 0) return invalidate_now(invalidations_, c);
  if (c.of_sq != 0) return invalidate_now(own_invalidations_, c);
  if (c.of_reg != 0) return registers(c);
  auto& waiting = commands_[static_cast<size_t>(model::Admin::Unit::kTpt)];
  if (waiting.empty())
    return tally_.differ("tpt_change: RTL changed region {}; model has no command for it", c.slot);
  const spec::Cmd cmd = waiting.front();
  const uint32_t slot = model::Tpt::names_slot(cmd) ? cmd.object : tpt_.slot_of(cmd.object);
  if ((slot & 0xffff) != c.slot)
    return tally_.differ("tpt_change: {}: RTL changed region {} / model {}", to_string(cmd.opcode),
                         c.slot, slot);
  const bool destroys = cmd.opcode == spec::AdminOpcode::kDestroyMr;
  const bool has_windows = destroys && tpt_.has_windows(cmd.object);
  if (has_windows && c.waits != 0)
    return tally_.differ("tpt_change: RTL closes region {}; model has windows bound to it", c.slot);
  if (has_windows) {
    // The answer is in_use: nothing changes.
  } else if (destroys && c.waits == 0) {
    if (!may_go(slot, cmd.object))
      tally_.differ(
          "tpt_change: RTL has destroyed region {}; model has extents in flight from before, or "
          "registers it",
          c.slot);
    closed_.erase(slot);
  } else if (destroys && !closed_.contains(slot) && tpt_.is_open(cmd.object)) {
    closed_[slot] = in_flight_.close();
  }
  waiting.pop_front();
  tpt_.command(cmd, c.waits != 0);
}

/// A Send with Invalidate is delivered. Its completion may not come before invalidate_now().
void Steps::invalidate(const spec::Invalidate& inv) {
  invalidations_.push_back({.stag = inv.stag});
  ddp_.rx.invalidated();
}

/// The RTL closes the entry of the oldest invalidation that it has not closed.
void Steps::invalidate_now(std::deque<Invalidation>& edge, const spec::TptChangeCommit& c) {
  const auto at = std::ranges::find_if(edge, [](const Invalidation& i) { return !i.number; });
  if (at == edge.end())
    return tally_.differ("tpt_change: RTL invalidates region {}; model has no {} for it", c.slot,
                         c.of_sq != 0 ? "work request" : "delivered Send");
  const uint32_t slot = tpt_.slot_of(at->stag);
  if ((slot & 0xffff) != c.slot)
    return tally_.differ("tpt_change: RTL invalidates region {} / model {} (STag {:#x})", c.slot,
                         slot, at->stag);
  const bool is_open = tpt_.check({.stag = at->stag}) != spec::TptResult::kStag;
  const bool is_held = is_open && tpt_.has_windows(at->stag);
  if (is_held != (c.of_reg == kRefused))
    return tally_.differ("tpt_change: invalidation of STag {:#x}: RTL {} it; model does not",
                         at->stag, is_held ? "takes" : "refuses");
  if (is_held && c.of_sq != 0) {
    local_failures_.push_back({.qpn = at->qpn, .slot = at->slot, .result = spec::TptResult::kBind});
    edge.erase(at);
    return;
  }
  at->number = in_flight_.close();
  if (is_open && !is_held) closed_[slot] = at->number;
  tpt_.invalidate(spec::Invalidate{at->stag});
}

/// The RTL reports the invalidation as done: the STag is closed, and no access through it is in
/// flight.
void Steps::invalidation_told(std::deque<Invalidation>& edge,
                              std::deque<Invalidation>::iterator told) {
  if (told == edge.end())
    return tally_.differ("qp_retire: RTL reports an invalidation that the model has not");
  if (!told->number || !surely_in_flight().none_before(*told->number))
    tally_.differ("qp_retire: RTL reports that STag {:#x} is invalidated; {}", told->stag,
                  told->number ? "model has extents in flight from before" : "it is open");
  if (const auto it = closed_.find(tpt_.slot_of(told->stag));
      told->number && it != closed_.end() && it->second == told->number)
    it->second.reset();
  edge.erase(told);
}

// --- fast registrations and binds

/// A registration or a bind has changed the table (of_reg). Its end (kOpen, kGivenUp) is of the
/// oldest claimed registration, anything else of the oldest request that tpt has not taken.
void Steps::registers(const spec::TptChangeCommit& c) {
  const bool is_bind = c.of_reg >= kBound, is_end = c.of_reg == kOpen || c.of_reg == kGivenUp;
  const std::string_view does = kDoes[c.of_reg];
  std::optional<spec::SqLocal> request;
  if (is_end && !claimed_.empty()) request = claimed_.front().request;
  if (!is_end && !registrations_.empty()) request = registrations_.front();
  if (!request || (request->is_bind != 0) != is_bind)
    return tally_.differ("tpt_change: QP {}: RTL {} region {}; model has no {} for it", c.qpn, does,
                         c.slot, is_bind ? "bind" : "registration");
  const uint32_t slot = tpt_.slot_of(request->stag);
  if (request->qpn != c.qpn || request->slot != c.wqe || (slot & 0xffff) != c.slot)
    return tally_.differ("tpt_change: RTL {} region {} for QP {} slot {} / model {} for {}", does,
                         c.slot, c.qpn, c.wqe, slot, request->describe());
  if (is_bind) return bind(c, model::Tpt::Binding(*request), slot);
  if (is_end) {
    model::Tpt::Registration r = std::move(claimed_.front());
    claimed_.pop_front();
    return end_registration(c, std::move(r));
  }
  registrations_.pop_front();
  claim(c, model::Tpt::Registration(*request), slot);
}

/// The RTL claims or binds a closed entry. No access through it may be in flight.
void Steps::reopens(uint32_t slot, std::string_view does) {
  const auto it = closed_.find(slot);
  if (it == closed_.end()) return;
  if (it->second && !surely_in_flight().none_before(*it->second))
    tally_.differ("tpt_change: RTL {} region {}; model has extents in flight from before", does,
                  slot);
  closed_.erase(it);
}

/// An open window is closed first; when its accesses have drained, its bind is decided anew.
void Steps::bind(const spec::TptChangeCommit& c, const model::Tpt::Binding& b, uint32_t slot) {
  using Claim = model::Tpt::Claim;
  const auto does = tpt_.bind(b);
  const uint8_t expected = does == Claim::kClaimed   ? kBound
                           : does == Claim::kRefused ? kBindRefused
                                                     : kClosed;
  if (expected != c.of_reg)
    return tally_.differ("tpt_change: QP {}: bind of STag {:#x}: RTL {} it / model {} it", c.qpn,
                         b.request.stag, kDoes[c.of_reg], kDoes[expected]);
  if (does == Claim::kWaits) {
    closed_[slot] = in_flight_.close();
    return;
  }
  registrations_.pop_front();
  if (does == Claim::kRefused) return local_failures_.push_back(model::Tpt::refused(b));
  reopens(slot, "binds");
  res_dones_.push_back({.qpn = c.qpn, .kind = spec::DeliverKind::kRead, .slot = b.request.slot});
}

/// The RTL claims the entry for a registration, or refuses the registration. After a claim it reads
/// the page list.
void Steps::claim(const spec::TptChangeCommit& c, model::Tpt::Registration r, uint32_t slot) {
  const bool refused = tpt_.claim(r) == model::Tpt::Claim::kRefused;
  if (refused != (c.of_reg == kRefused))
    return tally_.differ("tpt_change: QP {}: registration of STag {:#x}: RTL {} it; model does not",
                         c.qpn, r.request.stag, refused ? "claims" : "refuses");
  if (refused) return local_failures_.push_back(model::Tpt::refused(r));
  reopens(slot, "registers");
  claimed_.push_back(std::move(r));
}

/// The RTL has read the whole page list. It opens the region if the list is good.
void Steps::end_registration(const spec::TptChangeCommit& c, model::Tpt::Registration r) {
  while (r.listed != r.operands.pages) {
    const model::MemRead read = r.read(r.listed);
    auto got = log_.take(Client::kReg, read.address, read.length);
    if (got.state != ReadLog::State::kDone)
      return tally_.differ(
          "tpt_change: QP {}: page list at {:#x}: {}: {}", c.qpn, read.address,
          got.state == ReadLog::State::kNever ? "RTL never read it" : "RTL's read is not answered",
          got.why);
    tpt_.list(r, {.status = got.status, .data = std::move(got.data)});
  }
  if (r.fails() != (c.of_reg != kOpen))
    return tally_.differ("tpt_change: QP {}: page list of STag {:#x}: RTL {} / model: {}", c.qpn,
                         r.request.stag, c.of_reg == kOpen ? "opens the region" : "gives up",
                         r.done().describe());
  tpt_.end(r);
  if (r.fails()) return local_failures_.push_back(r.done());
  res_dones_.push_back({.qpn = c.qpn, .kind = spec::DeliverKind::kRead, .slot = r.request.slot});
}

/// Handles rdmap_op 3 of a request that tpt refused or could not do. False: it is of none.
bool Steps::local_failed(uint16_t qpn) {
  const auto at = std::ranges::find(local_failures_, qpn, &spec::SqLocalDone::qpn);
  if (at == local_failures_.end()) return false;
  const auto fault = model::Rdmap::failure_of(*at);
  local_failures_.erase(at);
  rdmap_.tx_fault(fault);
  return true;
}

/// Translates. The extents carry a number of in_flight_, in place of tpt's own epoch.
spec::TptResult Steps::translate(const spec::WqeCheck& c, model::ExtentList& out) {
  model::ExtentList own;
  const auto result = tpt_.translate(c, own);
  for (spec::Extent e : own.all()) {
    tpt_.retired({e.epoch});
    e.epoch = in_flight_.issue();
    out.add(e);
  }
  return result;
}

/// True if no extent is in flight that was issued before the region was closed. A region that was
/// not closed before may be destroyed only if no extent at all is in flight. An unknown STag
/// destroys nothing.
bool Steps::may_go(uint32_t slot, uint32_t stag) const {
  if (const auto it = closed_.find(slot); it != closed_.end())
    return !it->second || surely_in_flight().none_before(*it->second);
  if (tpt_.is_claimed(stag)) return false;
  return !tpt_.is_open(stag) || surely_in_flight().none();
}

InFlight Steps::surely_in_flight() const {
  // The RTL has dropped the extents of `refused_` received segments. Which lookups belong to them
  // is known only at the next segment.
  InFlight rest = in_flight_;
  uint32_t dropped = refused_;
  for (const Answer& a : answered_[kRx]) {
    if (dropped == 0) break;
    for (const spec::Extent& e : a.extents.all()) rest.retire(e.epoch);
    if (a.request.last != 0) --dropped;
  }
  return rest;
}

/// Serves a behaviour's lookup with the result of the RTL's lookup, which must have been the
/// same.
spec::TptResult Steps::answered(size_t client, const spec::WqeCheck& c,
                                model::ExtentList* extents) {
  auto& edge = answered_[client];
  while (!edge.empty()) {
    Answer& front = edge.front();
    if (same(front.request, c, client)) {
      const auto result = front.result;
      open_[client] = front.request.last == 0;
      if (extents != nullptr && result == spec::TptResult::kOk) {
        for (const spec::Extent& e : front.extents.all()) extents->add(e);
      } else {
        give_back(front.extents);
      }
      edge.pop_front();
      return result;
    }
    if (client == kRx &&
        refused_ != 0) {  // the lookup is of a segment that was refused before it was used
      open_[client] = true;
      drop_open(client);
      --refused_;
    } else if (client == kResp &&
               cancelled_ != 0) {  // the QP of this Read stopped or failed before the answer
      --cancelled_;
      edge.pop_front();
      tally_.followed("responder's lookups that came to nothing");
    } else {
      break;
    }
  }
  if (edge.empty()) {
    tally_.differ("tpt_check: model looks up {} for {}; RTL has not", c.describe(), kNames[client]);
  } else {
    tally_.differ("tpt_check: lookup for {}: RTL {} / model {}", kNames[client],
                  edge.front().request.describe(), c.describe());
  }
  return spec::TptResult::kStag;  // no extents
}

spec::TptResult Steps::translated(const spec::WqeCheck& c, model::ExtentList& out) {
  if (scheduling_ == nullptr) return answered(kRx, c, &out);
  // The model schedules a segment: the RTL's lookup comes later, as tpt_check of client tx.
  scheduling_->asks.push_back(c);
  return spec::TptResult::kOk;
}

void Steps::give_back(model::ExtentList& extents) {
  for (const spec::Extent& e : extents.all()) in_flight_.retire(e.epoch);
  extents = {};
}

/// Drops the unused lookups of one segment or work request. The RTL makes all of them; the model
/// makes none after one that failed.
void Steps::drop_open(size_t client) {
  auto& edge = answered_[client];
  while (open_[client]) {
    if (edge.empty()) {
      open_[client] = false;
      return tally_.differ("tpt_check: RTL has not looked up all keys of {}", kNames[client]);
    }
    open_[client] = edge.front().request.last == 0;
    give_back(edge.front().extents);
    edge.pop_front();
  }
}

}  // namespace rnic::sim
