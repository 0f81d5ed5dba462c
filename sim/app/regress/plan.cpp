// The contents of plans, how they shrink, and the memory that they leave. See regress/plan.hpp.
#include "regress/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/bytes.hpp"
#include "link/wire_limit.hpp"

namespace rnic::app::regress {
namespace {

constexpr uint32_t kClosing = 1'000'000;          // first number of the closing Sends
constexpr uint64_t kFarIova = uint64_t{1} << 33;  // distance of the regions with Base::kFar

std::string text_of(const std::vector<Piece>& pieces) {
  std::string s;
  for (const Piece& p : pieces)
    s += fmt::format("{}{:#x}+{}", s.empty() ? "" : ",", p.offset, p.length);
  return s;
}

}  // namespace

uint32_t full_payload(uint32_t mtu, bool markers, bool untagged) {
  return static_cast<uint32_t>(sim::mulpdu(mtu - sim::kIpTcpHeaders, markers)) -
         (untagged ? kUntagged : kTagged);
}

SgeClass Operation::sge_class() const {
  const size_t n = local.size();
  return n <= 1    ? SgeClass::k1
         : n <= 3  ? SgeClass::k2To3
         : n <= 7  ? SgeClass::k4To7
         : n <= 13 ? SgeClass::k8To13
                   : SgeClass::k14;
}

uint32_t Operation::source_offset() const {
  if (local.empty() || has_sink() || op == Op::kFlush || op == Op::kAtomicWrite)
    return remote.offset;
  return local.front().offset;
}

uint32_t Operation::target_offset() const {
  return is_send() ? receive.front().offset : has_sink() ? local.front().offset : remote.offset;
}

Crossing Operation::crossing() const {
  const Piece p = is_send() ? receive.front() : op == Op::kRead ? local.front() : remote;
  const uint32_t length = std::min(p.length, this->length);
  if (length == 0) return Crossing::kInside;
  if (p.offset / kPage != (p.offset + length - 1) / kPage) return Crossing::kCrosses;
  return p.offset % kPage == 0 || (p.offset + length) % kPage == 0 ? Crossing::kTouches
                                                                   : Crossing::kInside;
}

std::string Operation::describe() const {
  std::string s = fmt::format(
      "{} {} qp={} {} bytes={}", closing ? "close" : fmt::format("#{}", number),
      side == kClient ? "client" : "server", qp, kOpNames[static_cast<size_t>(op)], length);
  if (immediate) s += fmt::format(" immediate={:#x}", data);
  if (is_of_loan()) s += fmt::format(" loan={}", loan);
  if (unbinds) s += " unbinds";
  if (opens())
    s += fmt::format(" range={:#x}+{}{}", range.offset, range.length, is_own ? " own" : "");
  if (loan != 0 && !is_of_loan())
    s += fmt::format(" {}={}",
                     invalidates() ? "invalidates_loan"
                     : returns     ? "returns_loan"
                                   : "loan",
                     loan);
  if (sink_loan != 0) s += fmt::format(" sink_loan={}", sink_loan);
  if (after != 0) s += fmt::format(" after=#{}", after);
  if (key != 0) s += fmt::format(" {}={}", invalidates() ? "invalidates" : "key", key);
  if (sink_key != 0) s += fmt::format(" sink_key={} local_inv", sink_key);
  if (op == Op::kFlush)
    s += fmt::format(" type={}", kFlushTypeNames[flush_type]);
  else if (op == Op::kAtomicWrite || op == Op::kFetchAdd)
    s += fmt::format(" data={:#x}", data);
  else if (op == Op::kCmpSwap)
    s += fmt::format(" {} swap={:#x}", matches ? "matches" : "differs", data);
  if (masked && op == Op::kFetchAdd) s += fmt::format(" mask={:#x}", mask);
  if (masked && op == Op::kCmpSwap)
    s += fmt::format(" mask={:#x} compare_mask={:#x}", mask, compare_mask);
  if (!local.empty())
    s += fmt::format(" {}={}", local_landing ? "landing" : "source", text_of(local));
  if (takes_receive()) s += fmt::format(" receive={}", text_of(receive));
  if (!is_send() && !is_of_loan())
    s += fmt::format(" remote_{}={:#x}", remote_landing ? "landing" : "source", remote.offset);
  for (const auto& [on, name] : {std::pair{is_inline, "inline"},
                                 {push, "push"},
                                 {fence, "fence"},
                                 {signaled, "signaled"},
                                 {joined, "joined"}}) {
    if (on) s += fmt::format(" {}", name);
  }
  if (pause_ns != 0) s += fmt::format(" pause={}ns", pause_ns);
  return s;
}

std::set<uint32_t> Plan::numbers() const {
  std::set<uint32_t> all;
  for (const Operation& o : ops) {
    if (!o.closing) all.insert(o.number);
  }
  for (uint32_t q = 0; q < qps; ++q) {
    if (!life[q].is_plain()) all.insert(life[q].number);
  }
  return all;
}

bool Plan::uses(uint32_t qp) const {
  return std::any_of(ops.begin(), ops.end(), [&](const Operation& o) { return o.qp == qp; });
}

uint32_t Plan::slots() const {
  std::set<uint32_t> used;
  for (uint32_t q = 0; q < qps; ++q) {
    if (uses(q)) used.insert(life[q].slot);
  }
  return static_cast<uint32_t>(used.size());
}

std::optional<uint32_t> Plan::before(uint32_t qp) const {
  for (uint32_t q = qp; q-- > 0;) {
    if (life[q].slot == life[qp].slot && uses(q)) return q;
  }
  return std::nullopt;
}

uint64_t Plan::iova(Side side, uint32_t qp) const {
  // A region of k16 to k32 begins half its size below the power of two, so it contains it.
  // A k16 region that is too long for that begins at 0.
  const uint64_t half = landing_bytes[side][qp] / 2 / kPage * kPage;
  switch (life[qp].base[side]) {
    case Base::kFar:
      return kFarIova * (qp + 1);
    case Base::kZero:
      return 0;
    case Base::k16:
      return half > 1u << 16 ? 0 : (uint64_t{1} << 16) - half;
    case Base::k31:
      return (uint64_t{1} << 31) - half;
    case Base::k32:
      return (uint64_t{1} << 32) - half;
    case Base::k64:
      return -uint64_t{landing_bytes[side][qp]};
  }
  return 0;
}

std::string Life::describe(uint32_t qp) const {
  std::string s = fmt::format("  #{} qp {}: slot {}, ends: {}", number, qp, slot,
                              kEndNames[static_cast<size_t>(end)]);
  if (end == End::kFault)
    s += fmt::format(" {} of {} bytes", kFaultNames[static_cast<size_t>(fault)], length);
  if (meets_bad_read()) s += fmt::format(", answer {}", kAnswerNames[static_cast<size_t>(answer)]);
  if (aged)
    s += fmt::format(", after {} empty Writes of the {}", kAge,
                     who == kClient ? "client" : "server");
  if (!closes())
    s += fmt::format(" by {}{}{}", who == kClient ? "client" : "server", busy ? ", peer busy" : "",
                     late ? ", late Send" : "");
  if (end == End::kAbort && busy) s += fmt::format(", after {} %", after);
  for (const Side side : {kClient, kServer}) {
    s += fmt::format("; {}: PD {} CQ {} base {} spare {}{}", side == kClient ? "client" : "server",
                     pd[side], cq[side], kBaseNames[static_cast<size_t>(base[side])], spare[side],
                     receives_late[side] ? " receives late" : "");
    if (asks_flush[side]) s += " asks for Flush";
    if (persistent[side]) s += " persistent";
    if (shares[side]) s += " receives of an SRQ";
  }
  return s + "\n";
}

// Adds a signalled Send after all operations of a QP and side. When the closing Send has arrived,
// so have all operations before it.
void Plan::close_qps() {
  std::erase_if(ops, [](const Operation& o) { return o.closing; });
  std::array<bool, kMaxQps> used{};
  for (const Operation& o : ops) used[o.qp] = true;
  for (uint32_t q = 0; q < qps; ++q) used[q] = used[q] || !life[q].is_plain();
  if (std::ranges::none_of(used, std::identity())) used[0] = true;
  for (uint32_t q = 0; q < qps; ++q) {
    for (const Side side : {kClient, kServer}) {
      if (!used[q]) continue;
      Operation o;
      o.number = kClosing + q * 2 + side;
      o.side = side;
      o.qp = q;
      o.length = 8;
      o.size_class = SizeClass::k2To63;
      // Distinct bytes per QP and side: the tandem's ordering checker pairs writes by their bytes.
      o.local = {{(q * 2 + side) * kBeat, o.length}};
      o.receive = {{landing_bytes[1 - side][q] - kClosingFromEnd,
                    o.length}};  // the generator leaves the last page unused
      o.signaled = o.closing = true;
      ops.push_back(o);
    }
  }
}

void Plan::keep(const std::set<uint32_t>& numbers) {
  std::erase_if(ops, [&](const Operation& o) { return !o.closing && !numbers.contains(o.number); });
  for (uint32_t q = 0; q < qps; ++q) {
    if (numbers.contains(life[q].number)) continue;
    life[q].end = End::kClientCloses;
    life[q].spare = {};
    life[q].busy = false;
  }
  mend();
  regroup();
  close_qps();
}

// Makes the loans of the remaining operations such that the plan can run.
// - A loan that is closed, or does not cover the bytes, is not used, invalidated or returned. An
//   open loan is not opened again, except a returned window of type 1.
// - An operation joins a group only if every operation that it waits for has a lower number than
//   the group. So no two groups wait for each other.
// - The server may send nothing before the client's first message (RFC 5044 7.1.2). Until then no
//   request of the client waits for one of the server.
void Plan::mend() {
  struct State {
    bool is_open = false, is_returned = false;
    uint32_t over = 0;             // number of the operation that ended the loan; 0: none
    bool is_over_locally = false;  // `over` is posted by the loan's owner
    const Operation* opened = nullptr;
  };
  std::array<std::array<std::array<State, kMostLoans>, kMaxQps>, 2> states{};
  // Of the doorbell group being built: number of its first operation; whether that was removed, so
  // that the next one starts a group.
  std::array<std::array<uint32_t, kMaxQps>, 2> group{};
  std::array<std::array<bool, kMaxQps>, 2> is_headless{};
  // Number of the client's first message. Without one the server must not send.
  std::array<std::optional<uint32_t>, kMaxQps> spoke{};
  std::set<uint32_t> idle;  // operations to be removed
  const auto holds = [](const State& s, const Piece& p) {
    const Piece& in = s.opened->range;
    return p.offset >= in.offset && p.offset + std::max(p.length, 1u) <= in.offset + in.length;
  };
  for (Operation& o : ops) {
    uint32_t waits_for = 0;  // the operation that must complete before; o.after, if the peer's
    o.after = 0;
    if (o.is_of_loan()) {
      State& s = states[o.side][o.qp].at(o.loan - 1);
      const bool is_again = s.is_returned && loans[o.side][o.qp].at(o.loan - 1) == Loan::kWindow1;
      const uint32_t after = s.is_over_locally ? 0 : s.over;
      const bool may =
          o.opens() ? !s.is_open || is_again : s.is_open && (s.is_returned || s.opened->is_own);
      if (!may || (after != 0 && o.side == kClient && !spoke[o.qp])) {
        idle.insert(o.number);
        is_headless[o.side][o.qp] = is_headless[o.side][o.qp] || !o.joined;
        continue;
      }
      // After a local_inv of the same send queue only a reg_mr waits: Host::may_post().
      if (!s.is_over_locally || o.op == Op::kRegMr) waits_for = s.over;
      o.after = after;
      if (o.opens())
        s = {.is_open = true, .opened = &o};
      else
        s = {.over = o.number, .is_over_locally = true};
    } else if (o.loan != 0) {
      State& s = states[1 - o.side][o.qp].at(o.loan - 1);
      const bool may = s.is_open && !s.is_returned && !s.opened->is_own &&
                       (o.side == kServer || spoke[o.qp]) &&
                       (o.is_send() || holds(s, {o.remote.offset, o.length}));
      if (may) {
        waits_for = o.after = s.opened->number;
        if (o.invalidates()) s = {.over = o.number};
        if (o.returns) s.is_returned = true, s.over = o.number;
      } else {
        o.loan = 0;
        o.returns = false;
      }
    }
    if (o.sink_loan != 0) {
      const State& s = states[o.side][o.qp].at(o.sink_loan - 1);
      if (!s.is_open || !s.opened->is_own || !holds(s, o.local[0])) o.sink_loan = 0;
    }
    uint32_t& first = group[o.side][o.qp];
    // The client's first message is in the same group as this request, which waits for the server:
    // the server could not answer. The group is split.
    const bool is_mute = o.after != 0 && o.side == kClient && *spoke[o.qp] >= first;
    const bool is_first = std::exchange(is_headless[o.side][o.qp], false);
    if (is_mute || is_first || (waits_for != 0 && waits_for >= first)) o.joined = false;
    if (!o.joined) first = o.number;
    if (o.side == kClient && !o.is_of_loan() && !spoke[o.qp]) spoke[o.qp] = o.number;
  }
  std::erase_if(ops, [&](const Operation& o) { return idle.contains(o.number); });
}

// An operation whose joined predecessor was removed gets a doorbell of its own. If a signalled
// request was removed, a later one is signalled before half of the queue is unsignalled.
void Plan::regroup() {
  std::array<std::array<std::optional<uint32_t>, kMaxQps>, 2> last;
  std::array<std::array<uint32_t, kMaxQps>, 2> silent{};
  for (Operation& o : ops) {
    auto& before = last[o.side][o.qp];
    if (o.joined && (!before || *before + 1 != o.number)) o.joined = false;
    before = o.number;
    auto& n = silent[o.side][o.qp];
    n = o.signaled ? 0 : n + o.entries();
    if (n * 2 >= shape[o.side][o.qp].send_depth) {
      o.signaled = true;
      n = 0;
    }
  }
}

std::vector<std::string> Plan::simplifications() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) names.push_back(name);
  for (const char* name :
       {"markers",    "crc",   "ird_ord",    "depth",   "push", "pause", "joined",
        "inline",     "fence", "unsignaled", "threads", "pds",  "cqs",   "shared_cq",
        "armed",      "eqs",   "spare",      "busy",    "late", "bases", "aged",
        "persistent", "masks", "keys",       "loans",   "srqs"})
    names.emplace_back(name);
  return names;
}

void Plan::simplify(const std::string& name) {
  std::erase_if(settings, [&](const auto& s) { return s.first == name; });
  if (name == "markers") markers = false;
  if (name == "crc") crc = true;
  for (const Side side : {kClient, kServer}) {
    if (name != fmt::format("{}.page_kib", side == kClient ? "client" : "server")) continue;
    page_bytes[side] = kPage;
    landing_at[side] = {};
    source_at[side] = 0;
  }
  if (name == "ird_ord") ird = ord = {8, 8};
  for (HostShape& h : host) {
    if (name == "threads") h.threads = 1;
    if (name == "pds" &&  // an error may need a second domain (Published::foreign)
        std::ranges::none_of(life, [](const Life& l) { return l.end == End::kFault; }))
      h.pds = 1;
    if (name == "cqs") h.cqs = 1;
    if (name == "shared_cq") h.shared_cq = false;
    if (name == "armed") h.armed = false;
    if (name == "eqs") h.log_eq = 8, h.event_queues = 16;
  }
  for (Life& l : life) {
    if (name == "spare" && l.end != End::kFault) l.spare = {};
    if (name == "busy") l.busy = false;
    if (name == "late") l.late = false, l.receives_late = {};
    if (name == "bases") l.base = {};
    if (name == "aged") l.aged = false;
    if (name == "persistent") l.persistent = {};
    if (name == "srqs") l.shares = {};
  }
  for (auto& side : shape) {
    for (QpShape& s : side) {
      if (name == "depth") s.send_depth = s.recv_depth = 64;
      if (name == "push") s.push = false;
    }
  }
  if (name == "keys") keys = {};
  if (name == "loans") {
    loans = {};
    std::erase_if(ops, [](const Operation& o) { return o.is_of_loan(); });
  }
  for (Operation& o : ops) {
    if (name == "push") o.push = false;
    if (name == "pause") o.pause_ns = 0;
    if (name == "joined") o.joined = false;
    if (name == "inline") o.is_inline = false;
    // A Send or Write that gathers from the landing region must wait for the Read or atomic that
    // fetched these bytes.
    if (name == "fence" && (!o.local_landing || o.has_sink()) && !o.needs_fence()) o.fence = false;
    if (name == "keys") o.key = o.sink_key = 0;
    if (name == "loans") o.loan = o.sink_loan = o.after = 0, o.returns = false;
    if (name == "unsignaled") o.signaled = true;
    if (name == "persistent" && o.op == Op::kFlush) o.flush_type = kVisible;
    if (name == "masks" && o.masked)
      o.masked = false, o.mask = o.op == Op::kCmpSwap ? ~uint64_t{0} : 0,
      o.compare_mask = ~uint64_t{0};
  }
  if (name == "loans") regroup();
}

std::string Plan::describe() const {
  std::string s = fmt::format("plan of seed {}: mtu {} markers {} crc {} ird {} ord {} {}\n", seed,
                              mtu, markers, crc, fmt::join(ird, "/"), fmt::join(ord, "/"),
                              one_cq ? "one CQ" : "two CQs");
  for (const auto& [name, value] : settings) s += fmt::format("  {}={}\n", name, value);
  for (const Side side : {kClient, kServer}) {
    const HostShape& h = host[side];
    s += fmt::format("  {}: threads {} PDs {} CQs {}{}{} event queues {} of 2^{}\n",
                     side == kClient ? "client" : "server", h.threads, h.pds, h.cqs,
                     h.shared_cq ? " shared by all threads" : "", h.armed ? " armed" : "",
                     h.event_queues, h.log_eq);
  }
  for (uint32_t q = 0; q < qps; ++q) {
    if (!uses(q)) continue;
    s += life[q].describe(q);
    for (const Side side : {kClient, kServer}) {
      for (size_t k = 0; k < loans[side][q].size(); ++k)
        s += fmt::format("  qp {} {}: loan {} is {}\n", q, side == kClient ? "client" : "server",
                         k + 1, kLoanNames[static_cast<size_t>(loans[side][q][k])]);
      const QpShape& h = shape[side][q];
      s += fmt::format("  qp {} {}: send {} recv {} sge {} inline {}{}\n", q,
                       side == kClient ? "client" : "server", h.send_depth, h.recv_depth, h.max_sge,
                       h.max_inline, h.push ? " push" : "");
    }
  }
  for (const Operation& o : ops) s += "  " + o.describe() + "\n";
  return s;
}

Memory initial(const Plan& plan) {
  Memory m;
  for (const Side side : {kClient, kServer}) {
    base::Rng rng = base::Rng(plan.seed).fork(side == kClient ? "client memory" : "server memory");
    m.source[side] = rng.bytes(kSourceBytes);
    for (uint32_t q = 0; q < plan.qps; ++q)
      m.landing[side][q] = rng.bytes(plan.landing_bytes[side][q]);
  }
  return m;
}

namespace {

// RFC 7306 5.1.1: a bit of the mask is the top bit of a field; the carry out of a field is dropped.
uint64_t sum_of(uint64_t a, uint64_t b, uint64_t mask) {
  uint64_t sum = 0;
  for (unsigned low = 0; low < 64;) {
    unsigned high = low;
    while (high < 63 && (mask >> high & 1) == 0) ++high;
    const uint64_t field = (high == 63 ? 0 : uint64_t{1} << (high + 1)) - (uint64_t{1} << low);
    sum |= ((a & field) + (b & field)) & field;
    low = high + 1;
  }
  return sum;
}

// RFC 7306 5.1.2, and the persistence draft's Atomic Write. The operand of a CmpSwap is chosen
// here, since the old value depends on the operations that shrinking has left.
void change_word(Memory& m, const Operation& o) {
  const unsigned peer = 1 - o.side;
  uint8_t* const word = m.landing[peer][o.qp].data() + o.remote.offset;
  const auto old = base::load_le<uint64_t>(word);
  uint64_t value = o.data;
  if (o.op == Op::kFetchAdd) value = sum_of(old, o.data, o.mask);
  if (o.op == Op::kCmpSwap) {
    // Bits of the mask in which the operand shall differ, mixed from `data`; all bits if none is.
    // Bits outside the mask get random values: the comparison must ignore them.
    const uint64_t differs = o.compare_mask & (o.data | 1) * 0x9e3779b97f4a7c15;
    const bool matches = o.matches || o.compare_mask == 0;
    m.compare[o.number] = old ^ (o.data & ~o.compare_mask) ^
                          (matches        ? 0
                           : differs != 0 ? differs
                                          : o.compare_mask);
    value = matches ? (old & ~o.mask) | (o.data & o.mask) : old;
  }
  auto& values = m.words[peer][o.qp][o.remote.offset];
  if (values.empty()) values.push_back(old);
  m.step[o.number] = values.size();
  values.push_back(value);
  base::store_le(word, value);
  if (o.fetches()) base::store_le(m.landing[o.side][o.qp].data() + o.local[0].offset, old);
}

}  // namespace

Memory reference(const Plan& plan) {
  Memory m = initial(plan);
  for (const Operation& o : plan.ops) {
    if (o.op == Op::kFlush || o.is_of_loan()) continue;
    if (o.is_word()) {
      change_word(m, o);
      continue;
    }
    const unsigned peer = 1 - o.side;
    const bool is_read = o.op == Op::kRead;
    const auto& from = is_read ? (o.remote_landing ? m.landing[peer][o.qp] : m.source[peer])
                       : o.local_landing ? m.landing[o.side][o.qp]
                                         : m.source[o.side];
    const std::vector<Piece> sources =
        is_read ? std::vector<Piece>{{o.remote.offset, o.length}} : o.local;
    std::vector<uint8_t> bytes;
    for (const Piece& p : sources)
      bytes.insert(bytes.end(), from.begin() + p.offset, from.begin() + p.offset + p.length);
    auto& to = m.landing[is_read ? o.side : peer][o.qp];
    const std::vector<Piece> targets = is_read ? o.local
                                       : o.op == Op::kWrite
                                           ? std::vector<Piece>{{o.remote.offset, o.length}}
                                           : o.receive;
    size_t at = 0;
    for (const Piece& p : targets) {
      const size_t n = std::min<size_t>(p.length, bytes.size() - at);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, to.begin() + p.offset);
      at += n;
    }
  }
  return m;
}

}  // namespace rnic::app::regress
