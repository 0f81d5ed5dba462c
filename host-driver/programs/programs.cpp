// The list of programs and their settings.
#include "programs.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "common.hpp"
#include "durable_log.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr SettingRow kSize{"size", "64", "bytes", "Length of a message; of a piece in file_copy."};
constexpr SettingRow kCount{"count", "1000", "messages", "Messages of a QP that are measured."};
constexpr SettingRow kWarmup{"warmup", "50", "messages",
                             "Messages of a QP before the measured ones; bandwidth: at least "
                             "what is under way; 0: from the first post until all has arrived."};
constexpr SettingRow kQps{"qps", "1", "QPs", "QPs of a thread."};
constexpr SettingRow kDepth{"depth", "64", "messages", "Messages of a QP under way."};
constexpr SettingRow kThreads{"threads", "1", "threads",
                              "Posting threads a side, each with its own CQ and QPs."};
constexpr SettingRow kInline{"inline", "0", "bytes",
                             "Messages up to this long are carried in the WQE."};
constexpr SettingRow kPush{"push", "0", "0 or 1",
                           "A single WQE of up to 128 bytes goes with its doorbell."};
constexpr SettingRow kBoth{"both", "0", "0 or 1", "Both directions at once."};
constexpr SettingRow kEvents{"events", "0", "0 or 1",
                             "Sleep until a completion event instead of polling."};
constexpr SettingRow kByRead{"by_read", "0", "0 or 1",
                             "A Read of the message's last 8 bytes instead of the Flush."};
constexpr SettingRow kRdAtomic{"rd_atomic", "8", "requests",
                               "IRD and ORD: Reads of a QP under way on the wire."};
constexpr SettingRow kCrc{"mpa_crc", "1", "0 or 1", "Ask for the CRC in MPA start-up."};
constexpr SettingRow kMarkers{"mpa_markers", "0", "0 or 1", "Ask for markers in MPA start-up."};
constexpr SettingRow kRevision{"mpa_revision", "2", "1 or 2",
                               "Of the MPA Request; 2 carries IRD and ORD."};
constexpr SettingRow kTimeout{"timeout_us", "20000", "us",
                              "A side gives up after this long without progress."};
constexpr SettingRow kOp{
    "op", "send", "send, write or read; atomics: fetch_add, cmp_swap",
    "How file_copy moves the file; what the server of frwr and mw_bind does "
    "(by default write), and atomic_lat (fetch_add) and atomic_bw (fetch_add)."};
constexpr SettingRow kMethod{
    "method", "write_only",
    "flush, flush_without_last, write_only, read, send; crash: all; lock: "
    "spin, ticket",
    "What makes an append to the log durable before its caller gets the result; "
    "the kind of lock (by default spin)."};
constexpr SettingRow kLendOp{"op", "write", kOp.unit, kOp.sentence};
constexpr SettingRow kMwType{"type", "2", "1 or 2",
                             "Of the memory windows of mw_bind: 1: bound again under the next "
                             "key; 2: invalidated by the server first."};
constexpr SettingRow kRxDepth{"rx_depth", "0", "receives",
                              "In the shared receive queue of a thread, at least one for each QP; "
                              "0: four for each QP."};
constexpr SettingRow kSrqLimit{"srq_limit", "0", "receives",
                               "A message that leaves fewer in the shared receive queue makes an "
                               "event, and the limit is armed again; 0: no event."};
constexpr SettingRow kAtomicOp{"op", "fetch_add", kOp.unit, kOp.sentence};
constexpr SettingRow kLockMethod{"method", "spin", kMethod.unit, kMethod.sentence};
constexpr SettingRow kAddresses{"addresses", "one", "one or many",
                                "Words that atomics change: one for all QPs, or a word for each "
                                "message of a QP under way."};
constexpr SettingRow kPipelined{"pipelined", "1", "0 or 1",
                                "The requests of an append are posted at once; 0: each waits for "
                                "the one before it to complete, one append of a QP at a time."};
constexpr SettingRow kCapacity{"capacity", "0", "records",
                               "Records of a log, those of earlier runs too; at least count."};

#define RNIC_COMMON kTimeout, kCrc, kMarkers, kRevision
constexpr SettingRow kLatRows[] = {kSize,    kCount,  kWarmup, kDepth,
                                   kThreads, kInline, kPush,   RNIC_COMMON};
constexpr SettingRow kReadLatRows[] = {kSize,    kCount, kWarmup,   kDepth,
                                       kThreads, kPush,  kRdAtomic, RNIC_COMMON};
constexpr SettingRow kFlushLatRows[] = {kSize,   kCount, kWarmup,   kDepth,  kThreads,
                                        kInline, kPush,  kRdAtomic, kByRead, RNIC_COMMON};
constexpr SettingRow kPingRows[] = {kSize,   kCount, kWarmup, kDepth,     kThreads,
                                    kInline, kPush,  kEvents, RNIC_COMMON};
constexpr SettingRow kImmLatRows[] = {kCount, kWarmup, kThreads, kPush, kEvents, RNIC_COMMON};
constexpr SettingRow kInvRows[] = {kSize, kCount, kWarmup, kQps, kThreads, kInline, RNIC_COMMON};
constexpr SettingRow kFrwrRows[] = {kLendOp,  kSize,   kCount,    kWarmup,    kQps,
                                    kThreads, kInline, kRdAtomic, RNIC_COMMON};
constexpr SettingRow kMwRows[] = {kMwType, kLendOp,  kSize,   kCount,    kWarmup,
                                  kQps,    kThreads, kInline, kRdAtomic, RNIC_COMMON};
constexpr SettingRow kSrqRows[] = {kSize,     kCount,   kWarmup, kQps,  kDepth,     kRxDepth,
                                   kSrqLimit, kThreads, kInline, kPush, RNIC_COMMON};
constexpr SettingRow kBwRows[] = {kSize,    kCount,  kWarmup, kQps,       kDepth,
                                  kThreads, kInline, kBoth,   RNIC_COMMON};
constexpr SettingRow kFlushBwRows[] = {kSize,    kCount,  kWarmup,   kQps,  kDepth,
                                       kThreads, kInline, kRdAtomic, kBoth, RNIC_COMMON};
constexpr SettingRow kReadBwRows[] = {kSize,    kCount,    kWarmup, kQps,       kDepth,
                                      kThreads, kRdAtomic, kBoth,   RNIC_COMMON};
constexpr SettingRow kFileRows[] = {kOp, kSize, kDepth, kThreads, kInline, kRdAtomic, RNIC_COMMON};
constexpr SettingRow kLogRows[] = {kSize,   kCount,     kQps,      kDepth,    kThreads,
                                   kMethod, kPipelined, kCapacity, kRdAtomic, RNIC_COMMON};
constexpr SettingRow kAtomicLatRows[] = {kAtomicOp, kCount,    kWarmup,    kThreads,
                                         kPush,     kRdAtomic, RNIC_COMMON};
constexpr SettingRow kAtomicWriteLatRows[] = {kCount, kWarmup,   kThreads,
                                              kPush,  kRdAtomic, RNIC_COMMON};
constexpr SettingRow kAtomicBwRows[] = {kAtomicOp, kCount,     kWarmup,   kQps,       kDepth,
                                        kThreads,  kAddresses, kRdAtomic, RNIC_COMMON};
constexpr SettingRow kLockRows[] = {kLockMethod, kCount,    kQps,       kThreads,
                                    kPush,       kRdAtomic, RNIC_COMMON};
#undef RNIC_COMMON

constexpr Program kPrograms[] = {
    {"write_lat", "RDMA Writes to and fro; each side polls the last byte.", true, kLatRows,
     [](const Run& r) { write_lat(r, true); }, [](const Run& r) { write_lat(r, false); }},
    {"write_bw", "RDMA Writes, as many as the queue holds.", false, kBwRows,
     [](const Run& r) { bandwidth(r, true, IBV_WR_RDMA_WRITE); },
     [](const Run& r) { bandwidth(r, false, IBV_WR_RDMA_WRITE); }},
    {"write_imm_bw", "RDMA Writes with Immediate, as many as the peer has receives for.", false,
     kBwRows, [](const Run& r) { bandwidth(r, true, IBV_WR_RDMA_WRITE_WITH_IMM); },
     [](const Run& r) { bandwidth(r, false, IBV_WR_RDMA_WRITE_WITH_IMM); }},
    {"read_lat", "RDMA Reads, one at a time.", false, kReadLatRows,
     [](const Run& r) { read_lat(r, true); }, [](const Run& r) { read_lat(r, false); }},
    {"read_bw", "RDMA Reads, as many as the queue holds.", false, kReadBwRows,
     [](const Run& r) { bandwidth(r, true, IBV_WR_RDMA_READ); },
     [](const Run& r) { bandwidth(r, false, IBV_WR_RDMA_READ); }},
    {"write_flush_bw", "RDMA Writes, each with the Flush of its range, as many as the queue holds.",
     false, kFlushBwRows, [](const Run& r) { bandwidth(r, true, IBV_WR_RDMA_WRITE, true); },
     [](const Run& r) { bandwidth(r, false, IBV_WR_RDMA_WRITE, true); }},
    {"flush_lat", "RDMA Writes, each with the Flush of its range; until the Flush completes.",
     false, kFlushLatRows, [](const Run& r) { flush_lat(r, true); },
     [](const Run& r) { flush_lat(r, false); }},
    {"send_lat", "Sends to and fro, polled.", true, kLatRows,
     [](const Run& r) { send_lat(r, true); }, [](const Run& r) { send_lat(r, false); }},
    {"send_imm_lat", "Immediate Data to and fro, polled.", true, kImmLatRows,
     [](const Run& r) { send_imm_lat(r, true); }, [](const Run& r) { send_imm_lat(r, false); }, 8},
    {"send_bw", "Sends, as many as the peer has receives for.", false, kBwRows,
     [](const Run& r) { bandwidth(r, true, IBV_WR_SEND); },
     [](const Run& r) { bandwidth(r, false, IBV_WR_SEND); }},
    {"pingpong", "ibv_rc_pingpong: Sends to and fro, polled or by events.", true, kPingRows,
     [](const Run& r) { send_lat(r, true); }, [](const Run& r) { send_lat(r, false); }},
    {"srq_pingpong",
     "ibv_srq_pingpong: Sends to and fro on all QPs, whose receives come from one shared queue.",
     true, kSrqRows, [](const Run& r) { srq_pingpong(r, true); },
     [](const Run& r) { srq_pingpong(r, false); }},
    {"send_inv",
     "The client registers a region, the server writes it and returns it by Send with Invalidate.",
     false, kInvRows, [](const Run& r) { send_inv(r, true); },
     [](const Run& r) { send_inv(r, false); }},
    {"file_copy", "A file in pieces, by Send, Write or Read, compared at the end.", false,
     kFileRows, [](const Run& r) { file_copy(r, true); },
     [](const Run& r) { file_copy(r, false); }},
    {"frwr",
     "The client registers memory through its send queue, the server writes or reads it and "
     "returns it by Send with Invalidate.",
     false, kFrwrRows, [](const Run& r) { fast_register(r, true); },
     [](const Run& r) { fast_register(r, false); }},
    {"mw_bind",
     "The client binds a memory window to a part of a region, the server writes or reads that.",
     false, kMwRows, [](const Run& r) { mw_bind(r, true); },
     [](const Run& r) { mw_bind(r, false); }},
    {"durable_log", "Records appended to a log in the server's persistent memory.", false, kLogRows,
     [](const Run& r) { durable_log(r, true); }, [](const Run& r) { durable_log(r, false); }},
    {"atomic_lat", "Atomics of one word of the server, one at a time.", false, kAtomicLatRows,
     [](const Run& r) { atomic_lat(r, true); }, [](const Run& r) { atomic_lat(r, false); }, 8},
    {"atomic_write_lat", "Atomic Writes of one word of the server, which watches it.", false,
     kAtomicWriteLatRows, [](const Run& r) { atomic_write_lat(r, true); },
     [](const Run& r) { atomic_write_lat(r, false); }, 8},
    {"atomic_bw", "Atomics, as many as the queue holds.", false, kAtomicBwRows,
     [](const Run& r) { atomic_bw(r, true); }, [](const Run& r) { atomic_bw(r, false); }, 8},
    {"lock", "QPs take a lock in the server's memory in turn, and each adds to a counter.", false,
     kLockRows, [](const Run& r) { lock(r, true); }, [](const Run& r) { lock(r, false); }, 8},
};

Result<uint32_t> number(std::string_view name, std::string_view text, uint64_t least,
                        uint64_t most) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return fail(Errc::kInvalidArgument, "{}={}: a whole number from {} to {} is wanted", name, text,
                least, most);
  return static_cast<uint32_t>(value);
}

constexpr std::array<std::string_view, 3> kCopyOps{"send", "write", "read"};
bool is_one_of(std::string_view value, std::span<const std::string_view> words) {
  return std::ranges::find(words, value) != words.end();
}

/// Settings that are numbers, with their bounds. Limits of the device (docs/spec/sizes.yaml): size:
/// max_message; inline: max_inline; rd_atomic: max_ird and max_ord.
struct Number {
  std::string_view name;
  uint32_t Params::*member;
  uint32_t least, most;
};
constexpr Number kNumbers[] = {{"size", &Params::size, 0, 0x80000000},
                               {"count", &Params::count, 1, 1000000000},
                               {"warmup", &Params::warmup, 0, 1000000000},
                               {"qps", &Params::qps, 1, 65535},
                               {"depth", &Params::depth, 1, 16384},
                               {"threads", &Params::threads, 1, 64},
                               {"inline", &Params::inline_bytes, 0, 224},
                               {"rd_atomic", &Params::rd_atomic, 1, 32},
                               {"type", &Params::mw_type, 1, 2},
                               {"rx_depth", &Params::rx_depth, 0, kMostReceives},
                               {"srq_limit", &Params::srq_limit, 0, kMostReceives},
                               {"mpa_revision", &Params::mpa_revision, 1, 2},
                               {"capacity", &Params::capacity, 0, 1000000000},
                               {"timeout_us", &Params::timeout_us, 1, 4000000000}};
struct Flag {
  std::string_view name;
  bool Params::*member;
};
constexpr Flag kFlags[] = {{"push", &Params::push},           {"both", &Params::both},
                           {"events", &Params::events},       {"by_read", &Params::by_read},
                           {"pipelined", &Params::pipelined}, {"mpa_crc", &Params::crc},
                           {"mpa_markers", &Params::markers}};

}  // namespace

std::span<const Program> all() { return kPrograms; }

const Program* find(std::string_view name) {
  const auto it = std::ranges::find(kPrograms, name, &Program::name);
  return it == std::end(kPrograms) ? nullptr : &*it;
}

Result<void> set(Params& p, std::string_view name, std::string_view value) {
  for (const Number& n : kNumbers) {
    if (n.name != name) continue;
    const auto v = number(name, value, n.least, n.most);
    if (!v) return error_of(v);
    p.*n.member = *v;
    return {};
  }
  for (const Flag& f : kFlags) {
    if (f.name != name) continue;
    const auto v = number(name, value, 0, 1);
    if (!v) return error_of(v);
    p.*f.member = *v != 0;
    return {};
  }
  if (name == "op") {
    if (!is_one_of(value, kCopyOps) && !is_one_of(value, atomic_ops()))
      return fail(Errc::kInvalidArgument, "op={}: one of {}; atomics: {}", value,
                  fmt::join(kCopyOps, ", "), fmt::join(atomic_ops(), ", "));
    p.op = value;
    return {};
  }
  if (name == "addresses") {
    if (!is_one_of(value, atomic_addresses()))
      return fail(Errc::kInvalidArgument, "addresses={}: one of {}", value,
                  fmt::join(atomic_addresses(), ", "));
    p.addresses = value;
    return {};
  }
  if (name == "method") {
    if (value != "all" && !is_one_of(value, lock_methods()) &&
        std::ranges::find(log_methods(), value, &LogMethodRow::name) == log_methods().end())
      return fail(Errc::kInvalidArgument,
                  "method={}: no such method; one of {}; crash: all; lock: {}", value,
                  log_method_names(), fmt::join(lock_methods(), ", "));
    p.method = value;
    return {};
  }
  return fail(Errc::kNotFound, "no program setting \"{}\"", name);
}

Result<void> check(const Program& program, const Params& p) {
  const auto known = [&](std::string_view setting, std::string_view value,
                         std::span<const std::string_view> words) -> Result<void> {
    const auto row = std::ranges::find(program.settings, setting, &SettingRow::name);
    if (row == program.settings.end() || is_one_of(value, words)) return {};
    return fail(Errc::kInvalidArgument, "{}: {}={}: one of {}", program.name, setting, value,
                fmt::join(words, ", "));
  };
  if (program.name == "srq_pingpong")
    if (auto r = check_srq(p); !r)
      return fail(r.error().code, "{}: {}", program.name, r.error().what);
  const bool logs = program.name == "durable_log";
  std::vector<std::string_view> methods;
  for (const LogMethodRow& row : log_methods()) methods.push_back(row.name);
  const bool lends = program.name == "frwr" || program.name == "mw_bind";
  const auto ops = program.name == "file_copy" ? std::span(kCopyOps)
                   : lends                     ? lend_ops()
                                               : atomic_ops();
  const auto op = known("op", p.op, ops);
  if (!op || (logs && p.method == "all")) return op;
  return known("method", p.method, logs ? methods : lock_methods());
}

}  // namespace rnic::programs
