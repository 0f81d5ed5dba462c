// Entries of the STag table: lookups, commands, invalidations, fast registrations, binds.
#include "tpt/tpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"

namespace rnic::model {

using spec::AdminStatus;
using spec::TptResult;

Tpt::Tpt(const spec::Sizes& sizes, Out& out)
    : out_(out),
      slot_bits_(static_cast<uint32_t>(std::bit_width(sizes.num_stags - 1))),
      entries_(sizes.num_stags),
      pbl_(sizes.num_pbl),
      memo_(4096) {
  set_key(0);
}

namespace {

constexpr uint32_t kHalf = 0xfff;
constexpr uint32_t rotl(uint32_t x, uint32_t n) { return (x << n | x >> (12 - n)) & kHalf; }
constexpr uint32_t mix(uint32_t x) { return (rotl(x, 1) & rotl(x, 8)) ^ rotl(x, 2); }

}  // namespace

void Tpt::set_key(uint64_t stag_key) {
  for (uint32_t i = 0; i < kRounds; ++i) {
    round_keys_[i] =
        (static_cast<uint32_t>(std::rotr(stag_key, static_cast<int>(5 * i))) & kHalf) ^ i;
  }
  std::fill(memo_.begin(), memo_.end(), Memo{});
}

// Rounds of a SIMON-like cipher on two 12-bit halves: unpredictable and exactly invertible.
uint32_t Tpt::permute(uint32_t value) const {
  uint32_t l = value >> 12 & kHalf, r = value & kHalf;
  for (uint32_t i = 0; i < kRounds; ++i) {
    const uint32_t next = r ^ mix(l) ^ round_keys_[i];
    r = l;
    l = next;
  }
  return l << 12 | r;
}

uint32_t Tpt::invert(uint32_t value) const {
  uint32_t l = value >> 12 & kHalf, r = value & kHalf;
  for (uint32_t i = kRounds; i-- > 0;) {
    const uint32_t before = l ^ mix(r) ^ round_keys_[i];
    l = r;
    r = before;
  }
  return l << 12 | r;
}

uint32_t Tpt::slot_of(uint32_t stag) const {
  Memo& m = memo_[(stag >> 8) % memo_.size()];
  if (m.upper != stag >> 8) m = {stag >> 8, invert(stag >> 8) & ((1U << slot_bits_) - 1)};
  return m.slot;
}

const Tpt::Entry* Tpt::find(uint32_t stag) const {
  ++lookups_;
  const uint32_t slot = slot_of(stag);
  if (slot >= entries_.size()) return nullptr;
  const Entry& e = entries_[slot];
  return e.valid && e.stag == stag ? &e : nullptr;  // compares all 32 bits
}

TptResult Tpt::check(const spec::WqeCheck& c) const {
  const Entry* e = find(c.stag);
  spec::WqeCheck asked = c;
  if (e != nullptr && e->window != 0 && c.rights == 0 && c.invalidate == 0)
    asked.rights = spec::kAccessLocalWrite;  // no window has this right: judge() refuses
  return judge(e, asked);
}

/// requirements.md section 7, in this order: STag, association, rights, wrap, base and bounds. TO
/// plus length needs 65 bits. An invalidation by the peer also needs an entry that is bound to a QP
/// a shared STag is refused as unknown).
TptResult Tpt::judge(const Entry* e, const spec::WqeCheck& c) {
  if (e == nullptr ||
      (c.invalidate != 0 && !e->bound && (c.rights & spec::kAccessRemoteInvalidate) != 0))
    return TptResult::kStag;
  if (e->pd != c.pd || (e->bound && e->qpn != c.qpn)) return TptResult::kAssoc;
  if ((e->rights & c.rights) != c.rights) return TptResult::kRights;
  if (c.invalidate != 0) return TptResult::kOk;
  using Wide = unsigned __int128;
  const Wide end = Wide{c.tagged_offset} + c.length;
  if (end > Wide{1} << 64) return TptResult::kWrap;
  if (c.tagged_offset < e->base_to || end > Wide{e->base_to} + e->length) return TptResult::kBounds;
  return TptResult::kOk;
}

TptResult Tpt::translate(const spec::WqeCheck& c, ExtentList& out) {
  const Entry* found = find(c.stag);
  const TptResult result = judge(found, c);
  if (result != TptResult::kOk) return result;
  const Entry& e = *found;
  const uint64_t page = uint64_t{1} << e.log_page;
  uint64_t offset = e.first_offset + (c.tagged_offset - e.base_to);
  for (uint32_t rest = c.length; rest != 0;) {
    const uint32_t part =
        static_cast<uint32_t>(std::min<uint64_t>(rest, page - (offset & (page - 1))));
    out.add({.address = pbl_[e.pbl_base + (offset >> e.log_page)] + (offset & (page - 1)),
             .length = part,
             .result = TptResult::kOk,
             .epoch = static_cast<uint8_t>(epoch_ & 1),
             .last = 0});
    ++in_flight_[epoch_ & 1];
    ++extents_;
    offset += part;
    rest -= part;
  }
  return TptResult::kOk;
}

void Tpt::retired(const spec::Retired& r) {
  RNIC_CHECK(in_flight_[r.epoch] != 0, "an extent of epoch {} is retired twice", r.epoch);
  --in_flight_[r.epoch];
  turn();
}

/// An open window closes: the count of its region falls at once (decision 15).
void Tpt::uncount(const Entry& e) {
  if (e.window != 0 && e.valid) --entries_[e.region].windows;
}

/// Closes an open entry. Its slot stays in use until destroy_mr.
void Tpt::close(Entry& e) {
  uncount(e);
  e.valid = false;
  e.closing = e.invalidated = true;
  e.closed_in = epoch_;
}

void Tpt::invalidate(uint32_t stag, std::optional<spec::SqLocalDone> of) {
  Entry& e = entries_[slot_of(stag) % entries_.size()];
  ++lookups_;
  const bool is_open = e.valid && e.stag == stag, has_windows = is_open && e.windows != 0;
  if (has_windows && of) of->result = TptResult::kBind;
  if (is_open && !has_windows) close(e);
  turn_due_ = true;
  notes_.push({epoch_, stag, of});
  turn();
}

/// Reports the invalidations whose epoch has drained, and the same of the claim that waits.
void Tpt::release() {
  while (!notes_.empty() && has_drained(notes_.front().epoch)) {
    const Note n = notes_.pop();
    if (n.of)
      out_.sq_local_done(*n.of);
    else
      out_.invalidated({n.stag});
  }
  if (claim_waits_ && has_drained(*claim_waits_)) {
    claim_waits_.reset();
    out_.claimable();
  }
}

/// No extent of this epoch is in flight. Only the current epoch and the one before can have any.
bool Tpt::has_drained(uint16_t epoch) const {
  const auto before = static_cast<uint16_t>(epoch_ - 1);
  return epoch != epoch_ && (epoch != before || in_flight_[before & 1] == 0);
}

/// Begins the next epoch if one is due and the previous one has drained. release() runs first for
/// what a retired extent has drained, and again for what the new epoch has.
void Tpt::turn() {
  release();
  if (!turn_due_ || old_in_flight() != 0) return;
  turn_due_ = false;
  ++epoch_;
  release();
}

bool Tpt::drained(const spec::TptCmd& cmd) const {
  const Entry& e = entries_[slot_of(cmd.object) % entries_.size()];
  // An open entry: extents of any region count, because tpt counts them by epoch alone.
  if (!e.closing) return in_flight_[0] + in_flight_[1] == 0;
  return has_drained(e.closed_in) && !e.claimed;
}

spec::CmdRsp Tpt::destroy(Entry& e, bool waits) {
  spec::CmdRsp rsp;
  if (e.windows != 0) {
    rsp.status = AdminStatus::kInUse;
    return rsp;
  }
  uncount(e);
  if (waits) {
    if (!e.closing) {
      e.closed_in = epoch_;
      ++closing_;
    }
    // The entry drains only in a later epoch than that of its close.
    turn_due_ = turn_due_ || e.closed_in == epoch_;
    e.valid = false;
    e.closing = true;
    turn();
    rsp.status = AdminStatus::kInProgress;
    return rsp;
  }
  spec::AdminDestroyMrResult{
      .stag = e.stag, .pd = e.pd, .slot = static_cast<uint16_t>(&e - entries_.data())}
      .pack(rsp.result);
  closing_ -= e.closing && !e.invalidated ? 1 : 0;
  e.valid = e.closing = e.invalidated = e.fast = false;
  e.window = 0;
  ++e.generation;
  return rsp;
}

spec::CmdRsp Tpt::create(uint32_t slot, const spec::AdminMrArgs& a) {
  Entry& e = entries_[slot];
  const uint32_t generations = (1U << (24 - slot_bits_)) - 1;
  uint32_t upper = permute((e.generation & generations) << slot_bits_ | slot);
  if (upper == 0)
    upper = permute((++e.generation & generations) << slot_bits_ | slot);  // an STag is never 0
  const bool is_kept = a.fast != 0 || a.window != 0;  // closed until a registration or bind
  e.valid = !is_kept;
  e.fast = a.fast != 0;
  e.window = a.window;
  e.log_room = a.log_page;
  e.bound = a.bound != 0;
  e.qpn = a.qpn;
  e.stag = upper << 8 | a.key;
  e.pd = a.pd;
  e.rights = a.rights;
  e.log_page = a.log_page;
  e.base_to = a.base_to;
  e.length = a.length;
  e.first_offset = a.first_offset;
  e.pbl_base = a.pbl_base;
  if (is_kept) keep(e);
  spec::CmdRsp rsp;
  spec::AdminMrResult{.stag = e.stag, .pd = e.pd, .rights = e.rights, .length = e.length}.pack(
      rsp.result);
  return rsp;
}

bool Tpt::names_slot(const spec::TptCmd& cmd) {
  if (cmd.opcode == spec::AdminOpcode::kCreateMr) return true;
  // A query_mr of admin has the arguments of a create_mr; in a driver's they are 0.
  const auto args = spec::AdminMrArgs::unpack(cmd.args);
  return cmd.opcode == spec::AdminOpcode::kQueryMr && (args.pages != 0 || args.window != 0);
}

void Tpt::command(const spec::TptCmd& cmd, bool waits) {
  if (cmd.opcode == spec::AdminOpcode::kCreateMr) {
    if (const Entry& e = entries_[cmd.object]; e.valid || e.closing)
      return out_.tpt_cmd_rsp({.status = AdminStatus::kExists, .result = {}});
    return out_.tpt_cmd_rsp(create(cmd.object, spec::AdminMrArgs::unpack(cmd.args)));
  }
  if (names_slot(cmd)) {
    const Entry& e = entries_[cmd.object];  // admin queries whether the slot is free
    const bool used = e.valid || e.closing;
    return out_.tpt_cmd_rsp(
        {.status = used ? AdminStatus::kOk : AdminStatus::kNotFound, .result = {}});
  }
  const Entry* found = find(cmd.object);
  if (cmd.opcode == spec::AdminOpcode::kDestroyMr) {
    Entry& e = entries_[slot_of(cmd.object) % entries_.size()];
    if ((e.valid || e.closing) && is_destroyed_by(e, cmd.object))
      return out_.tpt_cmd_rsp(destroy(e, waits));
  }
  spec::CmdRsp rsp;
  if (found == nullptr) {
    rsp.status = AdminStatus::kNotFound;
  } else {
    spec::AdminMrResult{
        .stag = found->stag, .pd = found->pd, .rights = found->rights, .length = found->length}
        .pack(rsp.result);
  }
  out_.tpt_cmd_rsp(rsp);
}

/// Puts an entry into the state between registrations or binds: closed, without rights, with
/// nothing in flight through it.
void Tpt::keep(Entry& e) {
  closing_ -= e.closing && !e.invalidated ? 1 : 0;
  e.valid = e.claimed = false;
  e.closing = e.invalidated = true;
  e.closed_in = static_cast<uint16_t>(epoch_ - 2);  // an epoch that has drained
  e.rights = 0;
  e.length = 0;
}

namespace {

/// No peer may invalidate a region to which windows are bound.
constexpr uint16_t kNotBoth = spec::kAccessMwBind | spec::kAccessRemoteInvalidate;

/// The operands describe a region, by the limits of create_mr (Admin::check_mr). claim() checks
/// whether the entry has room for the pages.
bool is_region(const spec::RegOperands& o) {
  return o.reserved0 == 0 && o.log_page >= 12 && o.log_page <= 21 && o.pages >= 1 &&
         o.length >= 1 && o.length >> 48 == 0 && o.first_offset < uint64_t{1} << o.log_page &&
         o.first_offset + o.length <= uint64_t{o.pages} << o.log_page &&
         (o.rights & ~uint32_t{spec::kAccessMask}) == 0 && (o.rights & kNotBoth) != kNotBoth &&
         ((o.rights & spec::kAccessRemoteWrite) == 0 || (o.rights & spec::kAccessLocalWrite) != 0);
}

constexpr uint32_t kPieceEntries = 4096 / Tpt::kPageEntry;  // of the largest read

}  // namespace

MemRead Tpt::Registration::read(uint32_t first) const {
  return {.purpose = Purpose::kReg,
          .qpn = request.qpn,
          .address = operands.page_list + uint64_t{first} * kPageEntry,
          .length = std::min(operands.pages - first, kPieceEntries) * kPageEntry};
}

spec::SqLocalDone Tpt::Registration::done() const {
  const bool refused = status == spec::RdStatus::kOk && !is_aligned;
  return {.qpn = request.qpn,
          .slot = request.slot,
          .result = refused ? TptResult::kBind : TptResult::kOk,
          .status = status};
}

Tpt::Claim Tpt::claim(const Registration& r) {
  Entry& e = entries_[slot_of(r.request.stag) % entries_.size()];
  ++lookups_;
  const bool is_its = e.fast && e.closing && !e.claimed && e.stag >> 8 == r.request.stag >> 8 &&
                      e.pd == r.request.pd && r.operands.pages <= uint64_t{1} << e.log_room;
  if (!is_its || !is_region(r.operands)) return Claim::kRefused;
  if (!has_drained_or_waits(e)) return Claim::kWaits;
  keep(e);
  e.claimed = true;
  return Claim::kClaimed;
}

/// Whether a closed entry has drained. If not, Out::claimable() follows. An entry that was closed
/// in the current epoch needs the next one.
bool Tpt::has_drained_or_waits(const Entry& e) {
  if (e.closed_in == epoch_) {
    turn_due_ = true;
    turn();
  }
  if (has_drained(e.closed_in)) return true;
  claim_waits_ = e.closed_in;
  return false;
}

void Tpt::list(Registration& r, const MemData& data) {
  const Entry& e = entries_[slot_of(r.request.stag) % entries_.size()];
  const uint32_t count = r.read(r.listed).length / kPageEntry;
  if (r.status == spec::RdStatus::kOk) r.status = data.status;
  for (uint32_t i = 0; i < count && !r.fails(); ++i) {
    const auto page = base::load_le<uint64_t>(&data.data.bytes()[size_t{i} * kPageEntry]);
    r.is_aligned = (page & ((uint64_t{1} << r.operands.log_page) - 1)) == 0;
    if (r.is_aligned) pbl_wr({.index = e.pbl_base + r.listed + i, .address = page});
  }
  r.listed += count;
}

void Tpt::open(const Registration& r) {
  Entry& e = entries_[slot_of(r.request.stag) % entries_.size()];
  e.claimed = e.closing = e.invalidated = false;
  e.valid = true;
  e.stag = r.request.stag;
  e.rights = r.operands.rights;
  e.bound = (r.operands.rights & spec::kAccessRemoteInvalidate) != 0;
  e.qpn = r.request.qpn;
  e.log_page = r.operands.log_page;
  e.base_to = r.request.base;
  e.length = r.operands.length;
  e.first_offset = r.operands.first_offset;
}

/// The entry is closed and free again. Its STag keeps its previous low 8 bits.
void Tpt::give_up(const Registration& r) {
  keep(entries_[slot_of(r.request.stag) % entries_.size()]);
}

namespace {

constexpr uint16_t kWindowWrites = spec::kAccessRemoteWrite | spec::kAccessRemoteAtomic;
constexpr uint16_t kWindowFlushes = spec::kAccessFlushGlobal | spec::kAccessFlushPersistent;
constexpr uint16_t kWindowRights = kWindowWrites | spec::kAccessRemoteRead | kWindowFlushes;

/// Rights that a region needs for windows with these rights.
constexpr uint16_t rights_of_region(uint16_t window) {
  const uint16_t local = (window & kWindowWrites) != 0 ? spec::kAccessLocalWrite : uint16_t{0};
  return static_cast<uint16_t>(spec::kAccessMwBind | local | (window & kWindowFlushes));
}

}  // namespace

/// Whether the operands are good, and window and region may be bound. Length 0 unbinds, a window of
/// type 1 only. A window of type 2 needs an invalidation before its next bind (decision 15).
bool Tpt::may_bind(const Entry& e, const Binding& b) const {
  const spec::BindOperands& o = b.operands;
  if (o.reserved0 != decltype(o.reserved0){} || o.length >> 32 != 0 ||
      (o.rights & ~uint32_t{kWindowRights}) != 0)
    return false;
  if (e.window == 0 || e.stag >> 8 != b.request.stag >> 8 || e.pd != b.request.pd) return false;
  if (o.length == 0) return e.window == 1;
  if (e.window == 2 && e.valid) return false;
  return judge(find(o.lkey), {.stag = o.lkey,
                              .tagged_offset = o.address,
                              .length = static_cast<uint32_t>(o.length),
                              .pd = b.request.pd,
                              .qpn = b.request.qpn,
                              .rights = rights_of_region(o.rights),
                              .last = 1}) == TptResult::kOk;
}

Tpt::Claim Tpt::bind(const Binding& b) {
  Entry& e = entries_[slot_of(b.request.stag) % entries_.size()];
  ++lookups_;
  if (!may_bind(e, b)) return Claim::kRefused;
  if (e.valid) {
    close(e);
    claim_waits_ = e.closed_in;
    turn_due_ = true;
    turn();
    return Claim::kWaits;
  }
  if (!has_drained_or_waits(e)) return Claim::kWaits;
  keep(e);
  e.stag = b.request.stag;
  const spec::BindOperands& o = b.operands;
  if (o.length == 0) return Claim::kClaimed;
  e.region = slot_of(o.lkey);
  Entry& region = entries_[e.region];
  ++region.windows;
  e.closing = e.invalidated = false;
  e.valid = true;
  e.bound = e.window == 2;
  e.qpn = b.request.qpn;
  e.rights = static_cast<uint16_t>(o.rights | (e.bound ? spec::kAccessRemoteInvalidate : 0));
  e.base_to = b.request.base;
  e.length = o.length;
  // The window has the region's pages from that of its first byte on.
  const uint64_t first = region.first_offset + (o.address - region.base_to);
  e.log_page = region.log_page;
  e.first_offset = static_cast<uint32_t>(first & ((uint64_t{1} << e.log_page) - 1));
  e.pbl_base = region.pbl_base + static_cast<uint32_t>(first >> e.log_page);
  return Claim::kClaimed;
}

std::string Tpt::waiting_for() const {
  if (notes_.empty() && closing_ == 0) return {};
  return fmt::format("tpt: {} regions are closing, {} invalidations wait, {} extents in flight\n",
                     closing_, notes_.size(), in_flight_[0] + in_flight_[1]);
}

}  // namespace rnic::model
