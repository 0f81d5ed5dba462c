// Rebuilds the durable bytes at each instant of a run, and recovers from them. See
// power_failures.hpp.
#include "run/power_failures.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/rng.hpp"
#include "durable_log.hpp"
#include "link/wire_limit.hpp"
#include "rnic/crc32c.hpp"
#include "settings/side.hpp"

namespace rnic::app {
namespace {

/// A hash of one byte at its offset (any good mixing would do). The digest of an image is the sum
/// over its bytes. A byte of 0 adds nothing, so a new range, which is zero, leaves the digest.
uint64_t share_of(uint64_t offset, uint8_t byte) {
  if (byte == 0) return 0;
  uint64_t x = (offset << 8 | byte) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}

std::map<std::string, uint32_t> logs_of(std::span<const programs::Ack> acks) {
  std::map<std::string, uint32_t> names;
  for (const programs::Ack& a : acks)
    names[programs::log_name(a.log >> 16, a.log & 0xffff)] = a.log;
  return names;
}

/// The records that the recovery finds in a log.
struct Found {
  uint64_t there = 0;  // leading records that equal the appended ones: the recovered ones
  uint64_t whole = 0;  // whole records, including those after the tail pointer
  bool is_damaged = false;
};
Found found_in(std::span<const uint8_t> bytes, uint32_t log) {
  const programs::RecoveredLog all = programs::recover(bytes);
  const auto wrong = std::ranges::find_if(
      all.records, [&](const programs::LogRecord& r) { return !programs::is_genuine(r, log); });
  return {static_cast<uint64_t>(wrong - all.records.begin()), all.whole, all.is_damaged};
}

/// From the first byte of a record that became durable to the last event.
std::pair<Time, Time> written(const PmemJournal& journal, std::span<const programs::Ack> acks) {
  std::set<uint64_t> tails;  // offsets of tail pointers
  for (const sim::PmemRange& r : journal.before().ranges) tails.insert(r.offset);
  const auto first = std::ranges::find_if(journal.events(), [&](const PmemJournal::Event& e) {
    if (!e.range.name.empty()) tails.insert(e.range.offset);
    return e.range.name.empty() && !tails.contains(e.offset);
  });
  const Time from = first == journal.events().end() ? 0 : first->at;
  const Time last = journal.events().empty() ? 0 : journal.events().back().at;
  return {from, std::max(last, acks.empty() ? 0 : acks.back().at)};
}

std::vector<Time> instants_of(const PmemJournal& journal, std::span<const programs::Ack> acks,
                              std::span<const programs::Ack> sure, const CrashPlan& plan,
                              uint64_t seed) {
  std::set<Time> at(plan.at.begin(), plan.at.end());
  if (!plan.at.empty()) return {at.begin(), at.end()};
  if (plan.instants == 0) {
    for (const auto& e : journal.events()) at.insert(e.at);
    for (const auto& a : acks) at.insert(a.at);
    for (const auto& a : sure) at.insert(a.at);
  } else {
    const auto [from, to] = written(journal, acks);
    const Time end = std::max(to, from + 1);
    base::Rng rng = base::Rng(seed).fork("crash");
    for (uint64_t i = 0; i < plan.instants; ++i)
      at.insert(plan.is_even ? from + (end - from) / plan.instants * i : rng.between(from, end));
  }
  return {at.begin(), at.end()};
}

}  // namespace

std::span<const uint8_t> RebuiltImage::bytes(size_t range) const {
  uint64_t at = 0;
  for (size_t i = 0; i < range; ++i) at += image_.ranges[i].size;
  return std::span(image_.bytes).subspan(at, image_.ranges[range].size);
}

void RebuiltImage::put(size_t range, uint64_t at, std::span<const uint8_t> bytes) {
  const sim::PmemRange& r = image_.ranges[range];
  const uint64_t base = static_cast<uint64_t>(this->bytes(range).data() - image_.bytes.data());
  for (size_t i = 0; i < bytes.size() && at + i < r.size; ++i) {
    uint8_t& b = image_.bytes[base + at + i];
    digest_ += share_of(r.offset + at + i, bytes[i]) - share_of(r.offset + at + i, b);
    b = bytes[i];
  }
}

void RebuiltImage::advance(Time at, const std::function<void(size_t)>& changed) {
  for (; next_ < journal_.events().size() && journal_.events()[next_].at <= at; ++next_) {
    const PmemJournal::Event& e = journal_.events()[next_];
    size_t range = image_.ranges.size();
    if (!e.range.name.empty()) {
      image_.ranges.push_back(e.range);
      image_.bytes.resize(image_.bytes.size() + e.range.size);
    } else {
      // The last range that begins at or before the offset. Bytes after its end belong to no range.
      const auto behind =
          std::ranges::upper_bound(image_.ranges, e.offset, {}, &sim::PmemRange::offset);
      range = static_cast<size_t>(behind - image_.ranges.begin()) - 1;
      put(range, e.offset - image_.ranges[range].offset, e.bytes);
    }
    if (changed) changed(range);
  }
}

LogVerdict judge_log(std::span<const programs::Ack> acks, const sim::PmemImage& image) {
  LogVerdict v{.acknowledged = acks.size()};
  std::map<uint32_t, uint64_t> there;
  for (const auto& [name, log] : logs_of(acks)) {
    const Found found = found_in(image.find(name), log);
    there[log] = found.there;
    v.recovered += found.there;
    v.damaged += found.is_damaged ? 1 : 0;
  }
  for (const programs::Ack& a : acks) v.lost += a.sequence > there[a.log] ? 1 : 0;
  return v;
}

void ResponseTimes::frame(Time at, const sim::Frame& frame) {
  if (frame.to != kClient || frame.from == kClient) return;
  const Time travel = link_.delay() + link_.duration(sim::frame_bytes(frame.data.size()));
  const Time sent = at - travel + 1;  // a failure at this instant may come first
  arrivals_.push_back({at, arrivals_.empty() ? sent : std::max(arrivals_.back().sent, sent)});
}

Time ResponseTimes::of(Time acknowledged) const {
  const auto behind =
      std::ranges::upper_bound(arrivals_, acknowledged - host_latency_, {}, &Arrival::at);
  return behind == arrivals_.begin() ? acknowledged : std::prev(behind)->sent;
}

nlohmann::ordered_json crash_json(const PmemJournal& journal, const ResponseTimes* responses,
                                  std::span<const programs::Ack> acks, const CrashPlan& plan,
                                  uint64_t seed) {
  const auto names = logs_of(acks);
  struct Log {
    Found found;        // by the recovery
    uint64_t told = 0;  // the highest acknowledged record
    uint64_t sure = 0;  // the highest record that is or will be acknowledged
    // Records acknowledged before an instant, or only after it, that the recovery does not find.
    std::set<uint64_t> lost, lost_after;
  };
  // sure: the acknowledgements, each at the time from which the server cannot prevent it.
  std::vector<programs::Ack> sure(acks.begin(), acks.end());
  if (responses != nullptr)
    for (programs::Ack& a : sure) a.at = responses->of(a.at);
  std::ranges::stable_sort(sure, {}, &programs::Ack::at);
  std::map<uint32_t, Log> logs;
  std::set<uint64_t> images;
  std::set<size_t> changed;
  uint64_t with_loss = 0, with_damage = 0, points = 0;
  nlohmann::ordered_json first, crcs = nlohmann::ordered_json::array();
  RebuiltImage rebuilt(journal);
  size_t next_ack = 0, next_sure = 0;
  for (const Time at : instants_of(journal, acks, sure, plan, seed)) {
    rebuilt.advance(at, [&](size_t range) { changed.insert(range); });
    for (; next_ack < acks.size() && acks[next_ack].at <= at; ++next_ack)
      logs[acks[next_ack].log].told = acks[next_ack].sequence;
    for (; next_sure < sure.size() && sure[next_sure].at <= at; ++next_sure)
      logs[sure[next_sure].log].sure = sure[next_sure].sequence;
    for (const size_t range : changed) {
      const auto name = names.find(rebuilt.image().ranges[range].name);
      if (name != names.end())
        logs[name->second].found = found_in(rebuilt.bytes(range), name->second);
    }
    changed.clear();
    ++points;
    images.insert(rebuilt.digest());
    bool any = false, is_damaged = false;
    uint64_t lost_here = 0;
    for (auto& [number, log] : logs) {
      const Found& found = log.found;
      for (uint64_t s = found.there + 1; s <= log.told; ++s) log.lost.insert(s);
      for (uint64_t s = std::max(found.there, log.told) + 1; s <= log.sure; ++s)
        log.lost_after.insert(s);
      is_damaged = is_damaged || found.is_damaged;
      const uint64_t acknowledged = std::max(log.told, log.sure);
      if (acknowledged > found.there) lost_here += acknowledged - found.there;
      if (acknowledged <= found.there && !found.is_damaged) continue;
      if (!any && first.is_null())
        first = {{"at_ps", at},
                 {"log", programs::log_name(number >> 16, number & 0xffff)},
                 {"acknowledged", acknowledged},
                 {"recovered", found.there},
                 {"whole", found.whole},
                 {"is_damaged", found.is_damaged}};
      any = true;
    }
    with_loss += any ? 1 : 0;
    with_damage += is_damaged ? 1 : 0;
    if (!plan.at.empty()) crcs.push_back({at, crc32c(sim::pack_image(rebuilt.image())), lost_here});
  }
  uint64_t lost = 0, lost_after = 0;
  for (const auto& [number, log] : logs) {
    lost += log.lost.size();
    lost_after += static_cast<uint64_t>(std::ranges::count_if(
        log.lost_after, [&](uint64_t sequence) { return !log.lost.contains(sequence); }));
  }
  nlohmann::ordered_json j{{"points", points},
                           {"images", images.size()},
                           {"acknowledged", acks.size()},
                           {"lost", lost},
                           {"points_with_loss", with_loss},
                           {"points_with_damage", with_damage},
                           {"from_ps", written(journal, acks).first},
                           {"to_ps", written(journal, acks).second}};
  if (responses != nullptr) j["lost_after"] = lost_after;
  if (!first.is_null()) j["first"] = first;
  if (!plan.at.empty()) j["crcs"] = crcs;
  return j;
}

}  // namespace rnic::app
