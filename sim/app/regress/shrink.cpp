// Shrinks plans that fail. See regress/shrink.hpp.
#include "regress/shrink.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "regress/keep.hpp"
#include "regress/run_plan.hpp"
#include "run/child.hpp"
#include "settings/errors.hpp"

namespace rnic::app::regress {

namespace {

constexpr unsigned kMostRuns = 600;   // enough for 250 operations, down to single ones
constexpr unsigned kPatienceS = 900;  // seconds for one candidate
constexpr uint64_t kShorter = 4;      // divides watchdog_us for a candidate
const std::string kStuck = "stuck";   // of Outcome's json "kind"
// A candidate may run until the time of the last failure, times kLater, plus kLaterUs: plainer
// settings can be slower.
constexpr double kLater = 1.5, kLaterUs = 100;

}  // namespace

Shrinker::Shrinker(const RegressRequest& request, uint64_t seed, uint32_t ops,
                   const Outcome& failed)
    : request_(request),
      seed_(seed),
      ops_(ops),
      kind_(failed.json.value("kind", "")),
      full_(make_plan(request, seed, ops)),
      kept_(full_.numbers()),
      begun_(failed.json.value("begun", Numbers{})),
      simple_(words_of(request.simple)) {
  request_.pcap = request_.tlp = request_.wave = "";
  bound(failed);
}

Plan Shrinker::run() {
  const uint64_t watchdog_us = request_.config.platform().run.watchdog_us;
  if (kind_ == kStuck && watchdog_us >= kShorter) request_.watchdog_us = watchdog_us / kShorter;
  const Numbers all = kept_;
  passes();
  if (request_.watchdog_us != 0 && !last_.failure.empty() && !confirm()) {
    kept_ = all;
    simple_ = words_of(request_.simple);
    last_ = {};
    passes();
  }
  return candidate(kept_, simple_);
}

void Shrinker::passes() {
  const size_t all = kept_.size();
  begun();
  parts(2, 4);
  without_qps();
  plain();
  parts(2, all);
  for (const std::string& name : full_.simplifications()) {
    if (std::ranges::find(simple_, name) != simple_.end()) continue;
    auto simple = simple_;
    simple.push_back(name);
    (void)attempt(kept_, simple);
  }
  parts(2, all);
}

// Confirms a plan that seems stuck: with the watchdog_us of the settings, and without regard to the
// time left.
bool Shrinker::confirm() {
  request_.watchdog_us = request_.stop_us = 0;
  if (is_interrupted_) return true;
  ++runs_;
  const Plan plan = candidate(kept_, simple_);
  Outcome v;
  try {
    v = in_child([&] { return run_plan(request_, plan); }, {.wall_s = kPatienceS});
  } catch (const Interrupted&) {
    is_interrupted_ = true;
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
  if (!fails_alike(v)) return false;
  last_ = v;
  return true;
}

bool Shrinker::fails_alike(const Outcome& v) const {
  // The wall limit has ended the child: its outcome has no simulated time.
  const bool took_too_long = v.status == kNoProgress && !v.json.contains("us");
  return v.status != kGood && !took_too_long && v.json.value("kind", "") == kind_;
}

std::string Shrinker::keep() const { return text_of_keep(kept_); }

std::string Shrinker::simple() const { return fmt::format("{}", fmt::join(simple_, ",")); }

std::string Shrinker::ended_early() const {
  if (is_interrupted_) return "interrupted";
  if (runs_ >= kMostRuns) return "no more runs";
  return seconds_left() <= 0 ? "time is up" : "";
}

double Shrinker::seconds_left() const {
  const std::chrono::duration<double> past = std::chrono::steady_clock::now() - began_;
  return request_.shrink_s - past.count();
}

void Shrinker::bound(const Outcome& failed) {
  const auto us = failed.json.value("us", 0.0);
  if (us > 0) request_.stop_us = static_cast<uint64_t>(us * kLater + kLaterUs);
}

Plan Shrinker::candidate(const Numbers& numbers, const std::vector<std::string>& simple) const {
  Plan p = full_;
  p.keep(numbers);
  for (const std::string& name : simple) p.simplify(name);
  return p;
}

bool Shrinker::attempt(const Numbers& numbers, const std::vector<std::string>& simple) {
  if (is_over()) return false;
  ++runs_;
  if (request_.progress)
    fmt::print(stderr, "\rshrinking: {} operations fail, run {}, {:.0f} s left   ", kept_.size(),
               runs_, seconds_left());
  const Plan plan = candidate(numbers, simple);
  Outcome v;
  try {
    const auto most = static_cast<unsigned>(std::max(seconds_left(), 1.0)) + 1;
    v = in_child([&] { return run_plan(request_, plan); }, {.wall_s = std::min(most, kPatienceS)});
  } catch (const Interrupted&) {  // the smallest plan so far is reported
    is_interrupted_ = true;
    return false;
  } catch (const std::runtime_error&) {  // out of memory: the failure is still reported
    return false;
  }
  if (!fails_alike(v)) return false;
  kept_ = numbers;
  simple_ = simple;
  last_ = v;
  bound(v);
  return true;
}

void Shrinker::begun() {
  Numbers fewer;
  std::ranges::set_intersection(kept_, begun_, std::inserter(fewer, fewer.end()));
  if (!begun_.empty() && fewer.size() < kept_.size()) (void)attempt(fewer, simple_);
}

// Tries to remove each part of 1/n of the numbers, for n = coarsest, twice that, ... up to finest.
// Starts with the last part: the operations before it run as they did.
void Shrinker::parts(size_t coarsest, size_t finest) {
  for (size_t n = coarsest; !kept_.empty(); n *= 2) {
    const size_t part = std::max<size_t>((kept_.size() + n - 1) / n, 1);
    for (size_t end = kept_.size(); end != 0;) {
      const std::vector<uint32_t> all(kept_.begin(), kept_.end());
      const size_t at = end - std::min(part, end);
      Numbers fewer = kept_;
      for (size_t i = at; i < end; ++i) fewer.erase(all[i]);
      (void)attempt(fewer, simple_);
      end = at;
      if (is_over()) return;
    }
    if (part == 1 || n >= finest) return;
  }
}

void Shrinker::without_qps() {
  for (uint32_t q = 0; q < full_.qps; ++q) {
    Numbers fewer = kept_;
    for (const auto& o : full_.ops) {
      if (o.qp == q) fewer.erase(o.number);
    }
    fewer.erase(full_.life[q].number);
    if (fewer.size() < kept_.size()) (void)attempt(fewer, simple_);
  }
}

void Shrinker::plain() { (void)attempt(kept_, full_.simplifications()); }

}  // namespace rnic::app::regress
