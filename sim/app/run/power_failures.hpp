// Failures of the power without running anew: losing power changes nothing that came before. One run
// records what becomes durable, and what the program's caller is told; the image of any instant is
// rebuilt from that and given to a recovery that gets nothing else.
//
//   PmemJournal journal(simulation.memory(kServer).pmem());
//   ResponseTimes responses(simulation.link(), host_latency);   simulation.link().tap(responses);
//   ... the run ...
//   out.json["crash"] = crash_json(journal, responses, report.acks, {.instants = 200}, seed);
//
// A response that is on the wire when the power fails still arrives: its append is acknowledged after
// the failure, and is lost all the same if the failure has dropped a posted write of it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "link/link.hpp"
#include "platform/pmem.hpp"
#include "programs.hpp"

namespace rnic::app {

/// Which failures of the server's power crash looks at: after each event, at so many instants, or at these.
struct CrashPlan {
  uint64_t instants = 0;  // 0: every event
  bool is_even = false;   // else random, from the run's seed
  std::vector<Time> at{};
};

class PmemJournal final : public sim::PmemObserver {
 public:
  struct Event {
    Time at = 0;
    sim::PmemRange range;  // that begins; or, without a name:
    uint64_t offset = 0;
    std::vector<uint8_t> bytes;
  };
  /// From now on.
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

/// The image, event by event.
class RebuiltImage {
 public:
  explicit RebuiltImage(const PmemJournal& journal) : journal_(journal), image_(journal.before()) {}
  /// Everything up to `at`, which never runs backwards. What has changed is called with the range's index.
  void advance(Time at, const std::function<void(size_t)>& changed = nullptr);
  const sim::PmemImage& image() const { return image_; }
  std::span<const uint8_t> bytes(size_t range) const;
  /// Two images of a journal with different digests differ.
  uint64_t digest() const { return digest_; }

 private:
  void put(size_t range, uint64_t at, std::span<const uint8_t> bytes);
  const PmemJournal& journal_;
  sim::PmemImage image_;
  size_t next_ = 0;
  uint64_t digest_ = 0;
};

/// From when an acknowledgement no longer depends on the server: the frames that it waits for are on
/// the wire. An upper bound, since the latest frame that the client can have seen counts: with many
/// QPs some losses are not found, and none is invented.
class ResponseTimes final : public sim::LinkTap {
 public:
  /// `host_latency`: from a frame to the completion in the memory of the client, at least.
  ResponseTimes(const sim::Link& link, Time host_latency)
      : link_(link), host_latency_(host_latency) {}
  void frame(Time at, const sim::Frame& frame) override;
  /// Of an acknowledgement at `acknowledged`; itself if no frame came before it.
  Time of(Time acknowledged) const;

 private:
  struct Arrival {
    Time at = 0, sent = 0;
  };
  const sim::Link& link_;
  const Time host_latency_;
  std::vector<Arrival> arrivals_;
};

/// How the appends that were acknowledged have fared.
struct LogVerdict {
  uint64_t acknowledged = 0, recovered = 0, lost = 0;
  uint64_t damaged = 0;  // logs whose tail pointer names bytes that are no whole records
};
LogVerdict judge_log(std::span<const programs::Ack> acks, const sim::PmemImage& image);

/// Counts of the sweep; without `responses`, acknowledgements wait for no response of the server. And, for each instant of plan.at, the CRC32C of the image's file, and the records that are lost.
nlohmann::ordered_json crash_json(const PmemJournal& journal, const ResponseTimes* responses,
                                  std::span<const programs::Ack> acks, const CrashPlan& plan,
                                  uint64_t seed);

}  // namespace rnic::app
