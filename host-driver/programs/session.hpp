// Input and output of a program: its settings, its report, and the session that the threads of a
// host share.
//
//   void client(const Run& run);      run.dev, session, params, thread are given; fills run.report
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnic/connection.hpp"
#include "rnic/manager.hpp"

namespace rnic::programs {

struct Params {
  uint32_t size = 64;     // bytes per message; file_copy: per piece
  uint32_t count = 1000;  // measured messages per QP
  uint32_t warmup = 50;   // messages per QP before those
  uint32_t qps = 1;       // QPs per thread; bandwidth programs
  uint32_t depth = 64;    // outstanding messages per QP
  uint32_t threads = 1;
  uint32_t inline_bytes = 0;  // messages up to this length are carried in the WQE
  uint32_t rd_atomic = 8;     // IRD and ORD
  bool push = false;
  bool both = false;      // bandwidth programs: both directions at once
  bool events = false;    // pingpong: wait for an event instead of polling
  bool pipelined = true;  // durable_log: post all requests of an append at once
  bool by_read = false;   // flush_lat: a Read instead of the Flush
  bool crc = true;
  bool markers = false;
  uint32_t mpa_revision = 2;
  uint32_t mw_type = 2;         // mw_bind: type of the memory windows
  uint32_t rx_depth = 0;        // srq_pingpong: receives in the SRQ; 0: srq_depth()
  uint32_t srq_limit = 0;       // srq_pingpong: of the SRQ's limit event; 0: none
  uint32_t timeout_us = 20000;  // without progress
  std::string op = "send";      // file_copy: send, write or read; atomics: fetch_add or cmp_swap
  std::string method = "write_only";  // durable_log: how an append becomes durable; lock: its kind
  std::string addresses = "one";      // atomic_bw: one word for all QPs, or many
  uint32_t capacity = 0;              // durable_log: records per log; at least count
  uint32_t mulpdu = 0;  // DDP payload and header bytes per segment of the link, at most; 0: unknown
  // file_copy: the data to copy; both sides get it, one to send, one to compare.
  std::span<const uint8_t> file{};
  uint32_t server_ip = 0x0a000002;
  uint16_t port = 4791;  // of thread 0; thread k uses port + k
};

/// durable_log: an append that was acknowledged to its caller as durable.
struct Ack {
  Time at = 0;
  uint32_t log = 0;  // log_number()
  uint64_t sequence = 0;
};

struct Report {
  uint64_t ops = 0, bytes = 0;  // measured, sent from here (Reads: fetched to here)
  Time start = 0, end = 0;      // of the measured window
  uint64_t done = 0, of = 0;    // messages done and expected, with warm-up and tail: the progress
  bool is_whole = false;        // from the first post until all data has arrived: includes latency
  // Samples in the program's order; half the round trip if the program's row says so.
  std::vector<Time> latency;
  std::vector<Time> began;            // post time of each sample
  Time longest_gap = 0;               // in a steady window: longest time without an arrival here
  uint64_t least = 0, most = 0;       // messages that had arrived on a QP when the window closed
  uint64_t limit_events = 0;          // of the SRQ, srq_pingpong
  uint64_t checks = 0;                // messages (or buffers) compared byte by byte
  uint64_t mismatches = 0;            // bytes that differed
  Time failed_at = 0;                 // time of the first mismatch or of the error; 0: none
  uint64_t wrong_bus = 0;             // bus address of the first mismatch; 0: none
  std::string stage = "not started";  // current stage, or the stage that failed
  std::string error;                  // empty: success
  bool follows = false;               // the error is a consequence of another thread's error
  std::vector<uint8_t> file;          // file_copy: what arrived
  std::vector<Ack> acks;              // durable_log, in time order

  /// Records the time of the first failure.
  void fails(Time now) { failed_at = failed_at == 0 ? now : failed_at; }
  bool good() const { return error.empty() && mismatches == 0 && checks != 0; }
};
/// Combines all threads of a side; of several errors it keeps the first. The time runs from the
/// first start to the last end. Threads of a steady window share it, see Window.
Report merge(std::span<const Report> parts);

/// The steady window of arrivals at one host, over all its threads. It opens when the warm-up has
/// arrived. It closes when the measured number of messages has arrived after that, on any QP.
///
///   window.plan(threads, warmup, measured, parts);   // of all threads, in bytes or in messages
///   // after each poll, until is_closed():
///   window.look(thread, dev.now(), {arrived, begun}, is_quiet);
///   window.leave(thread, dev.now());                 // no more arrivals for this thread
///
/// Three rules keep every measured rate within the wire limit:
///
/// 1. A thread opens or joins the window in a *quiet* sample (call of look()): it has just let the
///    simulation advance to its time and found no completion, so it has seen every arrival.
///    Arrivals before it joined do not count.
/// 2. When a thread joins, a part of each QP's next message may already be in memory; it does not
///    count. The rest of a segment that has begun to arrive does not count either, because the
///    whole segment has already used the wire.
/// 3. The window ends with the latest sample of any thread.
///
/// A thread that is never quiet is itself the bottleneck; it joins after kImpatient samples.
class Window {
 public:
  struct Arrived {
    uint64_t here = 0;  // in memory
    // With the rest of the segments that have begun: a joining thread excludes these.
    uint64_t begun = 0;
  };
  /// parts: the largest amount in memory of messages that are not complete.
  void plan(uint32_t threads, uint64_t warmup, uint64_t measured, uint64_t parts);
  void look(uint32_t thread, Time now, Arrived arrived, bool is_quiet);
  /// Whether a sample with this many complete messages (in the unit of plan()) must also count
  /// parts of messages.
  bool is_exact(uint32_t thread, uint64_t whole) const;
  /// Once all threads have left, a window that is still open closes: it then covers the whole run.
  void leave(uint32_t thread, Time now);
  bool is_closed() const { return is_closed_; }
  Time from() const { return from_; }
  Time to() const { return to_; }

 private:
  static constexpr uint32_t kImpatient = 4;  // samples
  struct Part {
    uint64_t arrived = 0;
    Time looked = 0, latest = 0;       // the last sample; the sample before the latest arrival
    std::optional<uint64_t> before{};  // part of `arrived` that does not count, set on joining
    uint32_t looks = 0;                // samples that were not quiet since it could have joined
    bool has_left = false;
  };
  // True in a quiet sample, and after kImpatient samples that were not quiet.
  bool may_join(Part& part, bool is_quiet) { return is_quiet || ++part.looks > kImpatient; }

  std::vector<Part> parts_;
  uint64_t counted() const;

  uint64_t warmup_ = 0, measured_ = 0, most_parts_ = 0;
  Time began_ = 0, opened_ = 0;
  Time from_ = 0, to_ = 0;  // to_: the latest sample
  bool is_open_ = false, is_closed_ = false;
};

/// The old value that an atomic returned, and the operands of a CmpSwap.
struct Seen {
  uint64_t old = 0, compare = 0, swap = 0;
};

/// The device of one host: the first of its threads opens it and the last one closes it.
class Session {
 public:
  Session(const verbs::ManagerSettings& settings, uint32_t threads)
      : settings_(settings), threads_(threads) {}
  /// Opens the device if no thread has, and returns its manager. The error of the first thread is
  /// that of all.
  [[nodiscard]] Result<verbs::Manager*> enter(PciDevice& dev);
  /// Counts a thread that is ready. When all are ready or have left, they start together.
  void arrive() { ++here_; }
  bool is_assembled() const { return here_ + left_ >= threads_; }
  /// Records that a thread has failed: the other threads may wait forever, so they stop.
  void fail() { is_failed_ = true; }
  bool is_failed() const { return is_failed_; }
  /// The thread ends. The last one closes the device.
  void leave(PciDevice& dev, uint32_t thread);
  Window& window() { return window_; }
  /// Memory shared by the host's threads: the first caller allocates and fills it.
  [[nodiscard]] Result<DmaBuffer> common(PciDevice& dev, uint64_t bytes,
                                         const std::function<void(DmaBuffer&)>& fill);
  /// Values that the threads have seen in shared words. Call dev.before_shared() first.
  std::vector<Seen>& seen() { return seen_; }
  /// Counts a thread whose requests are finished; see is_finished().
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

}  // namespace rnic::programs
