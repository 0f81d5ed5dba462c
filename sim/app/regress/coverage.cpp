// The classes that plans draw, as tables of rows and columns, and their counts. See
// regress/coverage.hpp.
#include "regress/coverage.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/report.hpp"

namespace rnic::app::regress {

namespace {

template <size_t N>
std::vector<std::string> names(const std::array<const char*, N>& from) {
  return {from.begin(), from.end()};
}
/// All operations but those of loans.
const std::vector<std::string> kOps = {kOpNames.begin(), kOpNames.begin() + kDataOps};
const std::vector<std::string> kFlags = {"inline", "push", "fence", "joined", "signaled", "silent"};
const std::vector<std::string> kMtus = {"1500", "9000"};
const std::vector<std::string> kSides = {"client", "server"};
// Offsets of the first byte read (source) and of the first byte written (target) in their 64-byte
// beats.
const std::vector<std::string> kAlignments = {"both at 0", "source at 1-63", "target at 1-63",
                                              "both at 1-63"};

// Combinations: the operation or error, with the number of simultaneous QPs and threads.
const std::vector<std::string> kQps = {"1-2", "3-8", "9-32"};
const std::vector<std::string> kThreads = {"1", "2", "3-4"};
const std::vector<std::string> kDirections = {"one way", "both ways"};
const std::vector<std::string> kLives = {"first in its slot", "made anew"};
const std::vector<std::string> kLoads = {"peer quiet", "peer busy"};
const std::vector<std::string> kCqs = {"own threads'", "shared by threads", "armed"};

const std::vector<std::string> kFlushTypes = {"visible", "durable", "both"};
const std::vector<std::string> kFlushLengths = {"ordering point", "range"};
// The previous request of the same side of the QP.
const std::vector<std::string> kBefore = {"nothing", "send",   "write", "read",
                                          "flush",   "atomic", "loan"};
/// Operations with local data. A Flush has neither SGEs nor local bytes, and the value of an Atomic
/// Write is in the WQE. Of an atomic, the local data is its sink.
std::vector<std::string> operations_with_data() {
  std::vector<std::string> all = kOps;
  std::erase(all, "flush");
  std::erase(all, "atomic_write");
  return all;
}

const std::vector<std::string> kAtomics = {"fetch_add", "fetch_add, masked", "cmp_swap",
                                           "cmp_swap, masked", "atomic_write"};
const std::vector<std::string> kWords = {"own word", "in the target of a Write"};
// The previous operation of the same side of the QP on the word.
const std::vector<std::string> kOnWord = {"nothing", "fetch_add", "cmp_swap", "atomic_write",
                                          "read"};
std::string atomic_of(const Operation& o) {
  return std::string(kOpNames[static_cast<size_t>(o.op)]) + (o.masked ? ", masked" : "");
}

// Operations on loans, and operations that use one. "by the peer", "returned": Sends of the peer
// that invalidate or return it. kLoanBefore: how the loan last ended before it is opened again.
const std::vector<std::string> kLoans = {"reg_mr",   "use by the peer", "own sink", "by the peer",
                                         "returned", "local_inv",       "bind_mw",  "unbind"};
const std::vector<std::string> kLoanBefore = {"nothing", "by the peer", "local_inv", "returned",
                                              "unbind"};
// "use": a request through a bound STag. "by the peer", "local": invalidations of the STag.
const std::vector<std::string> kBoundStags = {"use", "by the peer", "local"};
const std::vector<std::string> kImmediates = {"alone", "alone, with SE", "after a Write"};

/// A table: each cell counts the operations, or lives, of its row and column.
struct Group {
  std::string name;
  std::vector<std::string> rows, columns;
  bool of_plans = false;  // required only after kPlansForSettings plans
};

/// Operations of lives, by the end of the life, with direction, QPs and threads.
std::vector<std::string> ends_of_operations() {
  std::vector<std::string> all;
  for (const std::string op : {"send", "send_solicited", "write", "read", "flush", "atomic"}) {
    for (const char* end : {"closed", "aborted", "error of the peer", "own error"})
      all.push_back(op + ", " + end);
  }
  return all;
}
const std::vector<std::string> kQpsAndThreads = {"1-2 QPs, 1 thread",  "1-2 QPs, more",
                                                 "3-8 QPs, 1 thread",  "3-8 QPs, more",
                                                 "9-32 QPs, 1 thread", "9-32 QPs, more"};
const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"operation x size", kOps, names(kSizeNames)},
      {"operation x SGEs", operations_with_data(), names(kSgeNames)},
      {"operation x page border", kOps, names(kCrossingNames)},
      {"operation x MTU", kOps, kMtus},
      {"operation x how", kOps, kFlags},
      {"size x SGEs", names(kSizeNames), names(kSgeNames)},
      {"size x page border", names(kSizeNames), names(kCrossingNames)},
      {"size x MTU", names(kSizeNames), kMtus},
      {"size x how", names(kSizeNames), kFlags},
      {"operation x who posts", kOps, kSides},
      {"operation x first byte", operations_with_data(), kAlignments},
      {"size x who posts", names(kSizeNames), kSides},
      {"size x first byte", names(kSizeNames), kAlignments},
      {"flush x range", kFlushTypes, kFlushLengths},
      {"flush x request before it", kFlushTypes, kBefore, true},
      {"atomic x word", kAtomics, kWords},
      {"atomic, read x operation on the word before",
       {"fetch_add", "cmp_swap", "atomic_write", "read"},
       kOnWord,
       true},
      {"cmp_swap x comparison", {"cmp_swap", "cmp_swap, masked"}, {"matches", "differs"}},
      {"immediate x who posts", kImmediates, kSides, true},
      {"immediate x how", kImmediates, {"fence", "joined", "signaled", "silent"}, true},
      {"bound STag x who posts", kBoundStags, kSides, true},
      {"bound STag x how", kBoundStags, {"joined", "signaled", "silent"}, true},
      {"loan x who posts", kLoans, kSides, true},
      {"loan x how", kLoans, {"joined", "fence"}, true},
      {"kind of a loan x how it ended before", names(kLoanNames), kLoanBefore, true},
      {"operation x QPs", kOps, kQps, true},
      {"operation x threads", kOps, kThreads, true},
      {"operation x directions of its QP", kOps, kDirections, true},
      {"operation x life of its QP", kOps, kLives, true},
      {"operation x CQ", kOps, kCqs, true},
      {"end x who", names(kEndNames), kSides, true},
      {"end x load", names(kEndNames), kLoads, true},
      {"end x QPs", names(kEndNames), kQps, true},
      {"end x threads", names(kEndNames), kThreads, true},
      {"error x who", names(kFaultNames), kSides, true},
      {"error x load", names(kFaultNames), kLoads, true},
      {"error x QPs", names(kFaultNames), kQps, true},
      {"end x life", names(kEndNames), kLives, true},
      {"base of a region x who", names(kBaseNames), kSides, true},
      {"operation, end x QPs, threads", ends_of_operations(), kQpsAndThreads, true},
  };
  return all;
}

/// A choice that a plan makes once, or for each side or QP. `name` is the setting of rnic-sim, or a
/// name of ours.
struct SettingClasses {
  std::string name, doc;
  std::vector<std::string> classes;
};
const std::vector<SettingClasses>& setting_classes() {
  static const std::vector<SettingClasses> all = {
      {"llp_window_bytes", "window", {"one FPDU", "wider"}},
      {"link_delay_ns", "link delay, ns", {"0", "100", "500"}},
      {"link_gbps", "link, Gb/s", {"40", "100", "400"}},
      {"pcie_gen", "PCIe generation", {"3", "4", "5"}},
      {"pcie_mps", "MPS", {"128", "256", "512"}},
      {"pcie_mrrs", "MRRS", {"128", "512", "1024", "4096"}},
      {"pcie_rcb", "completion boundary", {"64", "128"}},
      {"pcie_reorder", "completions out of order", {"0", "0.1", "0.5"}},
      {"pcie_split", "completions split", {"0", "0.2", "0.8"}},
      {"pcie_latency_ns", "PCIe latency, ns", {"100", "400", "800"}},
      {"pcie_posted_hold_ns", "posted writes held back, ns", {"0", "200", "2000"}},
      {"page_kib", "pages of memory, KiB", {"4", "16", "64", "512", "2048"}},
      {"qps", "QPs at a time", {"1-2", "3-8", "9-32"}},
      {"markers", "markers", {"off", "on"}},
      {"crc", "CRC", {"off", "on"}},
      {"cqs", "CQs of a QP", {"1", "2"}},
      {"ird", "IRD", {"1", "2-8", "9-32"}},
      {"ord", "ORD", {"1", "2-8", "9-32"}},
      {"send_depth", "send ring", {"4", "8", "16", "64"}},
      {"recv_depth", "receive ring", {"1", "3", "8", "64"}},
      {"max_sge", "SGEs of a QP", {"1", "4", "14"}},
      {"max_inline", "inline bytes of a QP", {"0", "32", "96", "224"}},
      {"push", "push of a QP", {"off", "on"}},
      {"threads", "threads of a host", {"1", "2", "3-4"}},
      {"cq_pairs", "CQs of a thread", {"1", "2"}},
      {"shared_cq", "CQ of all threads", {"off", "on"}},
      {"armed", "armed CQ", {"off", "on"}},
      {"eq_entries", "entries of an event queue", {"2", "4", "256"}},
      {"event_queues", "event queues", {"1", "2", "16"}},
      {"spare", "unused receives", {"0", "1", "2", "3"}},
      {"receives_late", "receives posted late", {"off", "on"}},
      {"late", "Send after the end", {"off", "on"}},
      {"answer",
       "bad answer to a read",
       {"unsupported", "aborted", "poisoned", "short", "long", "late", "never"}},
      {"aged", "send queue index from", {"0", "2^16 - 16"}},
      {"flush", "Flush requested by", {"both", "client", "server", "none"}},
      {"persistent", "persistent region", {"off", "on"}},
      {"shares", "receives of an SRQ", {"off", "on"}},
  };
  return all;
}
/// The class of a number, such as "1", "2-8" or "9-32".
std::string class_of(const std::string& name, uint32_t n) {
  for (const SettingClasses& s : setting_classes()) {
    if (s.name != name) continue;
    for (const std::string& c : s.classes) {
      const size_t dash = c.find('-');
      if (n >= std::stoul(c) && n <= std::stoul(dash == std::string::npos ? c : c.substr(dash + 1)))
        return c;
    }
  }
  return fmt::format("{}", n);
}

/// False for cells that cannot be drawn, or need not be. A Read has one SGE and no inline data.
/// Short data crosses no page, long data always crosses one. Inline data has at most 224 bytes. A
/// child draws at most one large operation.
bool is_possible(const std::string& group, const std::string& row, const std::string& column) {
  const bool is_long =
      row == "4K+-1" || row == "MULPDU" || row == "MULPDU+1" || row == "-64K" || row == "large";
  const bool is_fetch = row == "fetch_add" || row == "cmp_swap";
  const bool is_word = is_fetch || row == "atomic_write";
  if ((row == "flush" || is_word) && column == "inline") return false;
  if (is_word && column == "crosses") return false;
  if (group == "kind of a loan x how it ended before") {
    const bool is_window1 = row == "window 1",
               is_of_window1 = column == "returned" || column == "unbind";
    return column == "nothing" || is_window1 == is_of_window1;
  }
  if (group == "loan x how" && (row == "unbind" || (row == "by the peer" && column == "joined")))
    return false;  // too rare
  if (group == "atomic, read x operation on the word before" && row == "read" &&
      column == "nothing")
    return false;
  if (is_word && group == "operation x size" && column != "2-63") return false;
  if ((row == "read" || (is_fetch && group == "operation x SGEs")) &&
      (column == "inline" ||
       (column != "1" && std::find(kSgeNames.begin(), kSgeNames.end(), column) != kSgeNames.end())))
    return false;
  if ((row == "client closes" || row == "server closes" || row == "both close") &&
      column == "peer busy")
    return false;
  if (row == "client closes" && column == "server") return false;
  if (row == "server closes" && column == "client") return false;
  if (row == "0" && (column == "touches" || column == "crosses")) return false;
  if (row == "1" && column == "crosses") return false;
  if (is_long && column == "inline") return false;
  if ((row == "4K+-1" || row == "-64K") && column == "inside") return false;
  return row != "large";
}

}  // namespace

// The minimum build has room for 6 simultaneous QPs on 2 threads, and for too few STags to test a
// stale one.
bool Coverage::is_beyond_minimum(const std::string& row, const std::string& column) {
  return column.starts_with("9-32") || column == "3-4" || row == "write_stale";
}

void Coverage::count_settings(const Plan& plan) {
  ++plans_;
  const auto count = [&](const std::string& name, const std::string& drawn) {
    if (!given_.contains(name)) ++settings_[name][drawn];
  };
  const auto on = [](bool is_on) { return is_on ? "on" : "off"; };
  for (const auto& [full, value] : plan.settings) {
    const size_t dot = full.find('.');
    const std::string name = dot == std::string::npos ? full : full.substr(dot + 1);
    if (name == "mtu") continue;  // counted with the operations
    count(name, name != "llp_window_bytes"                   ? value
                : value == fmt::format("{}", kOneFpduWindow) ? "one FPDU"
                                                             : "wider");
  }
  count("qps", class_of("qps", plan.slots()));
  count("markers", on(plan.markers));
  count("crc", on(plan.crc));
  count("cqs", plan.one_cq ? "1" : "2");
  for (uint32_t q = 0; q < plan.qps; ++q) {
    const Life& l = plan.life[q];
    if (plan.uses(q) && l.meets_bad_read())
      count("answer", kAnswerNames[static_cast<size_t>(l.answer)]);
    if (plan.uses(q))
      count("flush", l.has_flush()     ? "both"
                     : l.asks_flush[0] ? "client"
                     : l.asks_flush[1] ? "server"
                                       : "none");
  }
  for (const Side side : {kClient, kServer}) {
    count("ird", class_of("ird", plan.ird[side]));
    count("ord", class_of("ord", plan.ord[side]));
    const HostShape& host = plan.host[side];
    count("threads", class_of("threads", host.threads));
    count("cq_pairs", fmt::format("{}", host.cqs));
    count("shared_cq", on(host.shared_cq));
    count("armed", on(host.armed));
    count("eq_entries", fmt::format("{}", 1u << host.log_eq));
    count("event_queues", fmt::format("{}", host.event_queues));
    for (uint32_t q = 0; q < plan.qps; ++q) {
      const QpShape& h = plan.shape[side][q];
      count("send_depth", fmt::format("{}", h.send_depth));
      count("recv_depth", fmt::format("{}", h.recv_depth));
      count("max_sge", fmt::format("{}", h.max_sge));
      count("max_inline", fmt::format("{}", h.max_inline));
      count("push", on(h.push));
      if (!plan.uses(q)) continue;
      count("spare", fmt::format("{}", plan.life[q].spare[side]));
      count("shares", on(plan.life[q].shares[side]));
      count("aged", plan.life[q].aged && plan.life[q].who == side ? "2^16 - 16" : "0");
      count("receives_late", on(plan.life[q].receives_late[side]));
      count("persistent", on(plan.life[q].persistent[side]));
      if (!plan.life[q].closes() && side == kClient) count("late", on(plan.life[q].late));
    }
  }
}

void Coverage::count_lives(const Plan& plan) {
  const std::string qps = class_of("qps", plan.slots());
  const auto threads = [&](Side side) { return class_of("threads", plan.host[side].threads); };
  std::array<std::array<uint32_t, 2>, kMaxQps> posted{};
  for (const Operation& o : plan.ops) posted[o.qp][o.side] += o.closing ? 0 : 1;
  const auto life_of = [&](uint32_t q) { return kLives[plan.before(q) ? 1 : 0]; };
  for (const Operation& o : plan.ops) {
    if (o.closing) continue;
    const std::string op = kOpNames[static_cast<size_t>(o.op)];
    const Life& l = plan.life[o.qp];
    const HostShape& host = plan.host[o.side];
    ++cells_["operation x QPs"][op][qps];
    ++cells_["operation x threads"][op][threads(o.side)];
    ++cells_["operation x directions of its QP"][op]
            [kDirections[posted[o.qp][0] != 0 && posted[o.qp][1] != 0 ? 1 : 0]];
    ++cells_["operation x life of its QP"][op][life_of(o.qp)];
    ++cells_["operation x CQ"][op][kCqs[host.shared_cq ? 1 : host.armed ? 2 : 0]];
    const std::string end = l.closes()                  ? "closed"
                            : l.end == End::kAbort      ? "aborted"
                            : is_found_locally(l.fault) ? "own error"
                                                        : "error of the peer";
    ++cells_["operation, end x QPs, threads"][(o.is_word() ? "atomic" : op) + ", " + end]
            [qps + (host.threads == 1 ? " QPs, 1 thread" : " QPs, more")];
  }
  for (uint32_t q = 0; q < plan.qps; ++q) {
    if (!plan.uses(q)) continue;
    const Life& l = plan.life[q];
    const std::string end = kEndNames[static_cast<size_t>(l.end)];
    const Side who = l.end == End::kClientCloses   ? kClient
                     : l.end == End::kServerCloses ? kServer
                                                   : l.who;
    const bool busy = l.busy && !l.closes();
    ++cells_["end x who"][end][kSides[who]];
    ++cells_["end x load"][end][kLoads[busy]];
    ++cells_["end x QPs"][end][qps];
    ++cells_["end x life"][end][life_of(q)];
    ++cells_["end x threads"][end][threads(who)];
    for (const Side side : {kClient, kServer})
      ++cells_["base of a region x who"][kBaseNames[static_cast<size_t>(l.base[side])]]
              [kSides[side]];
    if (l.end != End::kFault) continue;
    const std::string fault = kFaultNames[static_cast<size_t>(l.fault)];
    ++cells_["error x who"][fault][kSides[who]];
    ++cells_["error x load"][fault][kLoads[busy]];
    ++cells_["error x QPs"][fault][qps];
  }
}

void Coverage::count(const Plan& plan) {
  count_settings(plan);
  count_lives(plan);
  std::array<std::array<std::string, kMaxQps>, 2> before;
  std::array<std::array<std::map<uint32_t, std::string>, kMaxQps>, 2> over;  // of loans
  std::array<std::array<std::map<uint32_t, std::string>, kMaxQps>, 2> on_word;
  for (const Operation& o : plan.ops) {
    if (o.closing) continue;
    auto& last = before[o.side][o.qp];
    if (o.op == Op::kFlush) {
      const std::string type = kFlushTypeNames[o.flush_type];
      ++cells_["flush x range"][type][kFlushLengths[o.length == 0 ? 0 : 1]];
      ++cells_["flush x request before it"][type][last.empty() ? kBefore[0] : last];
    }
    if (o.is_word()) {
      ++cells_["atomic x word"][atomic_of(o)][kWords[o.of_write ? 1 : 0]];
      if (o.op == Op::kCmpSwap)
        ++cells_["cmp_swap x comparison"][atomic_of(o)][o.matches ? "matches" : "differs"];
    }
    if (o.immediate) {
      const std::string& row = kImmediates[o.op == Op::kWrite ? 2 : o.op == Op::kSend ? 0 : 1];
      ++cells_["immediate x who posts"][row][kSides[o.side]];
      auto& how = cells_["immediate x how"][row];
      if (o.fence) ++how["fence"];
      if (o.joined) ++how["joined"];
      ++how[o.signaled ? "signaled" : "silent"];
    }
    const auto bound = [&](const std::string& row) {
      ++cells_["bound STag x who posts"][row][kSides[o.side]];
      auto& how = cells_["bound STag x how"][row];
      if (o.joined) ++how["joined"];
      ++how[o.signaled ? "signaled" : "silent"];
    };
    const auto loan = [&](const std::string& row) {
      ++cells_["loan x who posts"][row][kSides[o.side]];
      if (o.joined) ++cells_["loan x how"][row]["joined"];
      if (o.fence) ++cells_["loan x how"][row]["fence"];
    };
    if (o.sink_loan != 0) loan(kLoans[2]);
    if (o.loan != 0) {
      std::string& ended = over[o.is_of_loan() ? o.side : 1 - o.side][o.qp][o.loan];
      loan(o.op == Op::kRegMr      ? kLoans[0]
           : o.unbinds             ? kLoans[7]
           : o.op == Op::kBindMw   ? kLoans[6]
           : o.op == Op::kLocalInv ? kLoans[5]
           : o.invalidates()       ? kLoans[3]
           : o.returns             ? kLoans[4]
                                   : kLoans[1]);
      if (o.opens()) {
        const Loan kind = plan.loans[o.side][o.qp].at(o.loan - 1);
        ++cells_["kind of a loan x how it ended before"][kLoanNames[static_cast<size_t>(kind)]]
                [ended.empty() ? kLoanBefore[0] : ended];
      }
      if (o.invalidates() || o.op == Op::kLocalInv || o.unbinds || o.returns)
        ended = kLoanBefore[o.op == Op::kLocalInv ? 2 : o.unbinds ? 4 : o.returns ? 3 : 1];
    }
    if (o.is_of_loan()) {
      last = "loan";
      continue;
    }
    if (o.key != 0) bound(kBoundStags[o.invalidates() ? 1 : 0]);
    if (o.sink_key != 0) bound(kBoundStags[2]);
    if (o.is_word() || o.of_word) {
      const std::string name = kOpNames[static_cast<size_t>(o.op)];
      std::string& on = on_word[o.side][o.qp][o.remote.offset / kWord];
      ++cells_["atomic, read x operation on the word before"][name][on.empty() ? kOnWord[0] : on];
      on = name;
    }
    last = o.is_word() ? "atomic" : o.is_send() ? "send" : kOpNames[static_cast<size_t>(o.op)];
    const std::string op = kOpNames[static_cast<size_t>(o.op)],
                      size = kSizeNames[static_cast<size_t>(o.size_class)];
    const std::string sge = kSgeNames[static_cast<size_t>(o.sge_class())],
                      border = kCrossingNames[static_cast<size_t>(o.crossing())];
    const std::string mtu = fmt::format("{}", plan.mtu);
    const bool has_local =
        o.op != Op::kFlush && o.op != Op::kAtomicWrite && !o.is_immediate_alone();
    ++cells_["operation x size"][op][size];
    for (const auto& [group, row] : {std::pair{"operation", op}, {"size", size}}) {
      const std::string g = group;
      if (has_local) ++cells_[g + " x SGEs"][row][sge];
      ++cells_[g + " x page border"][row][border];
      ++cells_[g + " x MTU"][row][mtu];
      ++cells_[g + " x who posts"][row][kSides[o.side]];
      if (has_local)
        ++cells_[g + " x first byte"][row][kAlignments[(o.source_offset() % kBeat != 0) +
                                                       2 * (o.target_offset() % kBeat != 0)]];
      auto& how = cells_[g + " x how"][row];
      for (const auto& [on, name] : {std::pair{o.is_inline, "inline"},
                                     {o.push, "push"},
                                     {o.fence, "fence"},
                                     {o.joined, "joined"},
                                     {o.signaled, "signaled"},
                                     {!o.signaled, "silent"}}) {
        if (on) ++how[name];
      }
    }
  }
}

std::string Coverage::table() const {
  std::string s;
  for (const Group& g : groups()) {
    std::vector<std::vector<std::string>> rows{{g.name}};
    rows[0].insert(rows[0].end(), g.columns.begin(), g.columns.end());
    const auto group = cells_.find(g.name);
    for (const std::string& row : g.rows) {
      rows.push_back({row});
      for (const std::string& column : g.columns) {
        uint64_t n = 0;
        if (group != cells_.end() && group->second.contains(row) &&
            group->second.at(row).contains(column))
          n = group->second.at(row).at(column);
        rows.back().push_back(n == 0 && !is_possible(g.name, row, column) ? "-"
                                                                          : fmt::format("{}", n));
      }
    }
    s += app::table(rows) + "\n";
  }
  std::vector<std::vector<std::string>> rows{
      {"settings drawn", "class: plans, or their sides or QPs"}};
  for (const SettingClasses& c : setting_classes()) {
    if (given_.contains(c.name)) continue;
    rows.push_back({c.doc});
    const auto drawn = settings_.find(c.name);
    for (const std::string& k : c.classes)
      rows.back().push_back(fmt::format(
          "{}: {}", k,
          drawn != settings_.end() && drawn->second.contains(k) ? drawn->second.at(k) : 0));
  }
  return s + app::table(rows) + "\n";
}

nlohmann::ordered_json Coverage::json() const {
  nlohmann::ordered_json j;
  for (const auto& [group, cells] : cells_) {
    for (const auto& [row, columns] : cells) {
      for (const auto& [column, n] : columns) j[group][row][column] = n;
    }
  }
  for (const auto& [name, classes] : settings_) {
    for (const auto& [c, n] : classes) j["settings"][name][c] = n;
  }
  return j;
}

std::vector<std::string> Coverage::empty() const {
  std::vector<std::string> missing;
  for (const SettingClasses& s : setting_classes()) {
    if (plans_ < kPlansForSettings || given_.contains(s.name)) continue;
    const auto drawn = settings_.find(s.name);
    for (const std::string& c : s.classes) {
      if (minimum_ && ((c == "9-32" && s.name == "qps") || (c == "3-4" && s.name == "threads")))
        continue;
      if (drawn == settings_.end() || !drawn->second.contains(c))
        missing.push_back(fmt::format("settings: {} {}", s.doc, c));
    }
  }
  for (const Group& g : groups()) {
    if (given_.contains("mtu") && g.columns == kMtus) continue;
    if (g.of_plans && plans_ < kPlansForSettings) continue;
    for (const std::string& row : g.rows) {
      for (const std::string& column : g.columns) {
        if (minimum_ && is_beyond_minimum(row, column)) continue;
        // A Send of every size is required, even a large one.
        const bool needed = g.name == "operation x size" && row == "send"
                                ? true
                                : is_possible(g.name, row, column) && column != "large";
        if (!needed) continue;
        const auto group = cells_.find(g.name);
        if (group == cells_.end() || !group->second.contains(row) ||
            !group->second.at(row).contains(column))
          missing.push_back(fmt::format("{}: {} {}", g.name, row, column));
      }
    }
  }
  return missing;
}

}  // namespace rnic::app::regress
