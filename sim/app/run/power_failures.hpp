// Evaluates power failures without running anew: a loss of power changes nothing before it. One run
// records each write that becomes durable, and each acknowledgement that the program receives. From
// these the image of any instant is rebuilt and given to a recovery that gets nothing else.
//
//   PmemJournal journal(simulation.memory(kServer).pmem());
//   ResponseTimes responses(simulation.link(), host_latency);   simulation.link().tap(responses);
//   ... the run ...
//   out.json["crash"] = crash_json(journal, responses, report.acks, {.instants = 200}, seed);
//
// A response that is on the wire when the power fails still arrives. Its append is then
// acknowledged after the failure, and it is lost if the failure has dropped a posted write of it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "link/link.hpp"
#include "platform/pmem.hpp"
#include "programs.hpp"

namespace rnic::app {

/// The instants of power failure that crash evaluates: after each event, at a number of instants,
/// or at given ones.
struct CrashPlan {
  uint64_t instants = 0;  // 0: every event
  bool is_even = false;   // else random, from the run's seed
  std::vector<Time> at{};
};

class PmemJournal final : public sim::PmemObserver {
 public:
  struct Event {
    Time at = 0;
    // A range of persistent memory that the host has just allocated. Without a name: `bytes` at
    // `offset` have become durable.
    sim::PmemRange range;
    uint64_t offset = 0;
    std::vector<uint8_t> bytes;
  };
  /// Records from now on.
  explicit PmemJournal(sim::Pmem& pmem) : before_(pmem.image()) { pmem.observe(*this); }
  void on_range(Time at, const sim::PmemRange& range) override {
    events_.push_back({at, range, 0, {}});
  }
  void on_durable(Time at, uint64_t offset, std::span<const uint8_t> bytes) override {
    events_.push_back({at, {}, offset, {bytes.begin(), bytes.end()}});
  }
  const std::vector<Event>& events() const { return events_; }
  const sim::PmemImage& before() const { return before_; }

 private:
  sim::PmemImage before_;
  std::vector<Event> events_;
};

/// Rebuilds the durable image at an instant, event by event.
class RebuiltImage {
 public:
  explicit RebuiltImage(const PmemJournal& journal) : journal_(journal), image_(journal.before()) {}
  /// Applies all events up to `at`, which must not decrease between calls. Calls `changed` with the
  /// index of each range that changes.
  void advance(Time at, const std::function<void(size_t)>& changed = nullptr);
  const sim::PmemImage& image() const { return image_; }
  std::span<const uint8_t> bytes(size_t range) const;  // of the range with this index
  /// If two digests of a journal differ, the images differ.
  uint64_t digest() const { return digest_; }

 private:
  void put(size_t range, uint64_t at, std::span<const uint8_t> bytes);
  const PmemJournal& journal_;
  sim::PmemImage image_;
  size_t next_ = 0;
  uint64_t digest_ = 0;
};

/// The time from which an acknowledgement no longer depends on the server: all frames that it needs
/// are on the wire. It is an upper bound, since the latest frame that the client can have received
/// counts. With many QPs it therefore misses some losses and reports no false one.
class ResponseTimes final : public sim::LinkTap {
 public:
  /// `host_latency`: the minimum from a frame's arrival to the completion in the client's memory.
  ResponseTimes(const sim::Link& link, Time host_latency)
      : link_(link), host_latency_(host_latency) {}
  void frame(Time at, const sim::Frame& frame) override;
  /// The time for an acknowledgement at `acknowledged`; returns its argument if no frame arrived
  /// before it.
  Time of(Time acknowledged) const;

 private:
  struct Arrival {
    Time at = 0, sent = 0;
  };
  const sim::Link& link_;
  const Time host_latency_;
  std::vector<Arrival> arrivals_;
};

/// Counts of records of all logs. lost: acknowledged and not recovered.
struct LogVerdict {
  uint64_t acknowledged = 0, recovered = 0, lost = 0;
  // Logs whose tail pointer covers bytes that are not whole records.
  uint64_t damaged = 0;
};
/// Compares the acknowledged appends with the records that the recovery finds in `image`.
LogVerdict judge_log(std::span<const programs::Ack> acks, const sim::PmemImage& image);

/// Counts over all instants of the plan. `responses`: null if the method of durable_log waits for
/// no response of the server. Also adds, for each instant of plan.at, the CRC32C of the image file
/// and the number of lost records.
nlohmann::ordered_json crash_json(const PmemJournal& journal, const ResponseTimes* responses,
                                  std::span<const programs::Ack> acks, const CrashPlan& plan,
                                  uint64_t seed);

}  // namespace rnic::app
