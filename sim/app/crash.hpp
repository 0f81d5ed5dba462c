// Failures of the power without running anew: losing power changes nothing that came before. One run
// records what becomes durable, and what the program's caller is told; the image of any instant is
// rebuilt from that and given to a recovery that gets nothing else.
//
//   PmemJournal journal(simulation.memory(kServer).pmem());
//   ... the run ...
//   out.json["crash"] = crash_json(journal, report.acks, {.instants = 200}, seed);
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "commands.hpp"
#include "platform/pmem.hpp"
#include "programs.hpp"

namespace rnic::app {

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

/// How the appends that were acknowledged have fared.
struct LogVerdict {
  uint64_t acknowledged = 0, recovered = 0, lost = 0;
};
LogVerdict judge_log(std::span<const programs::Ack> acks, const sim::PmemImage& image);

/// Counts of the sweep; and, for each instant of plan.at, the CRC32C of the image's file.
nlohmann::ordered_json crash_json(const PmemJournal& journal, std::span<const programs::Ack> acks,
                                  const CrashPlan& plan, uint64_t seed);

int crash_command(Options& o);

}  // namespace rnic::app
