// What rnic-sim runs: programs with perftest's names and meaning, each a client and a server side.
// All they tell each other goes over the RDMA connection itself; every byte that arrives is
// checked.
//
//   Session host(settings, params.threads);                  // one a host
//   Report report;                                           // one a thread
//   find("write_lat")->client({.dev = dev, .session = host, .params = params, .thread = 0, .report = report});
//
// The caller runs client and server on two hosts, in params.threads simulated threads each: thread
// k of the client talks to thread k of the server. Failures are values in the report.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnic/connection.hpp"
#include "rnic/manager.hpp"

namespace rnic::programs {

struct Params {
  uint32_t size = 64;     // bytes of a message; file_copy: of a piece
  uint32_t count = 1000;  // messages of a QP that are measured
  uint32_t warmup = 50;   // messages of a QP before those
  uint32_t qps = 1;       // QPs of a thread; bandwidth programs
  uint32_t depth = 64;    // messages of a QP under way
  uint32_t threads = 1;
  uint32_t inline_bytes = 0;  // messages up to this long are carried in the WQE
  uint32_t rd_atomic = 8;     // IRD and ORD
  bool push = false;
  bool both = false;      // bandwidth programs: both directions at once
  bool events = false;    // pingpong: sleep until an event instead of polling
  bool pipelined = true;  // durable_log: the requests of an append are posted at once
  bool by_read = false;   // flush_lat: a Read instead of the Flush
  bool crc = true;
  bool markers = false;
  uint32_t mpa_revision = 2;
  uint32_t timeout_us = 20000;  // without progress
  std::string op = "send";      // file_copy: send, write or read; atomics: fetch_add or cmp_swap
  std::string method = "write_only";  // durable_log: how an append is made durable; lock: its kind
  std::string addresses = "one";      // atomic_bw: one word for all QPs, or many
  uint32_t capacity = 0;              // durable_log: records of a log; at least count
  uint32_t mulpdu = 0;  // bytes that DDP puts in a segment of the link, at most; 0: not known
  std::span<const uint8_t>
      file{};  // file_copy: what is copied; both sides get it, one to send, one to compare
  uint32_t server_ip = 0x0a000002;
  uint16_t port = 4791;  // of thread 0; thread k uses port + k
};

/// durable_log: an append that its caller was told is durable.
struct Ack {
  Time at = 0;
  uint32_t log = 0;  // log_number()
  uint64_t sequence = 0;
};

struct Report {
  uint64_t ops = 0, bytes = 0;  // measured, sent from here (Reads: fetched to here)
  Time start = 0, end = 0;      // of what was measured
  uint64_t done = 0, of = 0;    // messages, warm-up and tail included: how far it is
  bool is_whole = false;        // from the first post until all has arrived: latency included
  std::vector<Time>
      latency;  // samples, in the program's order; half the round trip where the row says so
  std::vector<Time> began;       // when each of them was posted
  Time longest_gap = 0;          // in a steady window: without an arrival here
  uint64_t least = 0, most = 0;  // messages that had arrived on a QP when it closed
  uint64_t checks = 0;           // messages (or buffers) compared byte by byte
  uint64_t mismatches = 0;       // bytes that differed
  Time failed_at = 0;            // when the first of them was seen, or the error happened; 0: none
  uint64_t wrong_bus = 0;        // bus address of the first of them; 0: none
  std::string stage = "not started";  // where it is, or where it failed
  std::string error;                  // empty: it went well
  bool follows = false;               // the error is that another thread has failed
  std::vector<uint8_t> file;          // file_copy: what arrived
  std::vector<Ack> acks;              // durable_log, in order of time

  void fails(Time now) { failed_at = failed_at == 0 ? now : failed_at; }
  bool good() const { return error.empty() && mismatches == 0 && checks != 0; }
};
/// All threads of a side as one; of failures the first. The time is from the first start to the last
/// end; threads of a steady window share it, see Window.
Report merge(std::span<const Report> parts);

/// The steady window of what arrives at one host, in all its threads: it opens when the warm-up has
/// arrived, and closes when as many messages as are measured have arrived after that, of any QP.
///
///   window.plan(threads, warmup, measured, parts);        of all threads, in bytes or in messages
///   window.look(thread, dev.now(), {arrived, begun}, is_quiet);    after each poll, until is_closed()
///   window.leave(thread, dev.now());                             nothing more arrives for it
///
/// So that no rate is above the wire limit:
///  1. A thread opens the window, and joins it, in a *quiet* look: it has just let the simulation
///     come up to its time and found no completion, so that it has seen all that has arrived. What
///     arrives before it has joined does not count.
///  2. When a thread joins, a part of the next message of each QP may be here, and does not count. A
///     segment that has begun to arrive has left the wire whole, and does not count either.
///  3. It ends with the latest look of any thread.
/// A thread that is never quiet is the bottleneck itself; it joins after kImpatient looks.
class Window {
 public:
  struct Arrived {
    uint64_t here = 0;  // in memory
    uint64_t begun =
        0;  // with the rest of the segments that have begun: what a thread that joins leaves out
  };
  /// parts: as much as may be here at most of messages that are not here whole.
  void plan(uint32_t threads, uint64_t warmup, uint64_t measured, uint64_t parts);
  void look(uint32_t thread, Time now, Arrived arrived, bool is_quiet);
  /// Whether parts of messages matter to a look with these whole ones.
  bool is_exact(uint32_t thread, uint64_t whole) const;
  /// When all have left, a window that is still open is closed: it is then the whole run.
  void leave(uint32_t thread, Time now);
  bool is_closed() const { return is_closed_; }
  Time from() const { return from_; }
  Time to() const { return to_; }

 private:
  static constexpr uint32_t kImpatient = 4;  // looks
  struct Part {
    uint64_t arrived = 0;
    Time looked = 0, latest = 0;       // the last look; the one before the latest arrival
    std::optional<uint64_t> before{};  // of it, what does not count: set when the thread joins
    uint32_t looks = 0;                // that were not quiet, since it could have joined
    bool has_left = false;
  };
  bool may_join(Part& part, bool is_quiet) { return is_quiet || ++part.looks > kImpatient; }

  std::vector<Part> parts_;
  uint64_t counted() const;

  uint64_t warmup_ = 0, measured_ = 0, most_parts_ = 0;
  Time began_ = 0, opened_ = 0;
  Time from_ = 0, to_ = 0;  // to_: the latest look
  bool is_open_ = false, is_closed_ = false;
};

/// What an atomic of a shared word saw, and what it asked for (CmpSwap).
struct Seen {
  uint64_t old = 0, compare = 0, swap = 0;
};

/// The device of one host, opened by the first of its threads and closed by the last.
class Session {
 public:
  Session(const verbs::ManagerSettings& settings, uint32_t threads)
      : settings_(settings), threads_(threads) {}
  [[nodiscard]] Result<verbs::Manager*> enter(PciDevice& dev);
  /// All threads are here or have left: so that they are measured side by side.
  void arrive() { ++here_; }
  bool is_assembled() const { return here_ + left_ >= threads_; }
  /// A thread has failed: what the others wait for may never come, and they stop.
  void fail() { is_failed_ = true; }
  bool is_failed() const { return is_failed_; }
  void leave(PciDevice& dev, uint32_t thread);
  Window& window() { return window_; }
  /// Memory that the host's threads share: the first to come allocates and fills it.
  [[nodiscard]] Result<DmaBuffer> common(PciDevice& dev, uint64_t bytes,
                                         const std::function<void(DmaBuffer&)>& fill);
  /// What the threads have seen of shared words. Call dev.before_shared() before.
  std::vector<Seen>& seen() { return seen_; }
  /// All threads have finished their requests or have left.
  void finish() { ++finished_; }
  bool is_finished() const { return finished_ + left_ >= threads_; }

 private:
  verbs::ManagerSettings settings_;
  uint32_t threads_, left_ = 0, here_ = 0, finished_ = 0;
  bool opening_ = false, is_failed_ = false, allocating_ = false;
  std::optional<DmaBuffer> common_;
  std::vector<Seen> seen_;
  std::unique_ptr<verbs::Manager> manager_;
  std::optional<Error> failed_;
  Window window_;
};

struct Run {
  PciDevice& dev;
  Session& session;
  const Params& params;
  uint32_t thread;
  Report& report;
};

struct SettingRow {
  std::string_view name, default_value, unit, sentence;
};

struct Program {
  std::string_view name, sentence;
  bool half_round_trip;  // latency is half the round trip
  std::span<const SettingRow> settings;
  void (*client)(const Run&);
  void (*server)(const Run&);
  uint32_t bytes = 0;  // of a message, where size is no setting; 0: it is one
};

std::span<const Program> all();
const Program* find(std::string_view name);
/// Words that other programs know and this one does not: kInvalidArgument, with those it knows.
[[nodiscard]] Result<void> check(const Program& program, const Params& params);
/// By a row's name: "size" "4096". kNotFound: no such setting; kInvalidArgument: no such value.
[[nodiscard]] Result<void> set(Params& params, std::string_view name, std::string_view value);

}  // namespace rnic::programs
