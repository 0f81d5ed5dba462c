#include "measure/crash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "base/rng.hpp"
#include "durable_log.hpp"
#include "output/report.hpp"
#include "rnic/crc32c.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"

namespace rnic::app {
namespace {

/// So that a digest is the sum of what stands at each place.
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

/// What the recovery finds in a log.
struct Found {
  uint64_t there = 0;  // records that are those that were appended
  uint64_t whole = 0;  // records that are whole, those behind the tail pointer too
  bool is_damaged = false;
};
Found found_in(std::span<const uint8_t> bytes, uint32_t log) {
  const programs::RecoveredLog all = programs::recover(bytes);
  const auto wrong = std::ranges::find_if(
      all.records, [&](const programs::LogRecord& r) { return !programs::is_genuine(r, log); });
  return {static_cast<uint64_t>(wrong - all.records.begin()), all.whole, all.is_damaged};
}

/// From the first byte of a record that became durable until nothing more happened.
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
      // The last that begins there or before; what a device writes behind its end is nobody's.
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
  const Time sent = at - travel + 1;  // not at the same instant, where the failure may come first
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
    uint64_t told = 0;  // the highest record that was acknowledged
    uint64_t sure = 0;  // the highest record that is or will be
    std::set<uint64_t> lost, lost_after;
  };
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

namespace {

constexpr const char* kProgram = "durable_log";
constexpr uint64_t kHoldNs = 5000;  // pcie_posted_hold_ns that method=all adds
constexpr std::array<std::string_view, 2> kOwnSettings = {"instants", "spread"};

struct Case {
  RunRequest request;
  std::string method, domain;
  uint64_t hold_ns = 0;  // pcie_posted_hold_ns of the server
  Outcome outcome{};
  uint64_t least = 0;  // appends of a QP that show a loss
};

CrashPlan plan_of(const Config& c) {
  CrashPlan plan;
  const std::string& text = c.find("instants").value;
  if (text != "every") {
    const auto r = std::from_chars(text.data(), text.data() + text.size(), plan.instants);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size() || plan.instants == 0)
      throw Usage(fmt::format("instants: \"{}\" is neither every nor a number above 0", text));
  }
  const std::string& spread = c.find("spread").value;
  if (spread != "random" && spread != "even")
    throw Usage(fmt::format("spread: \"{}\" is none of random, even", spread));
  plan.is_even = spread == "even";
  return plan;
}

std::vector<Case> cases_of(const Options& o, const CrashPlan& plan) {
  const Config& c = o.request.config;
  const bool is_all = c.find("method").value == "all";
  std::vector<std::string> methods{c.find("method").value},
      domains{c.platform(kServer).host.domain};
  std::vector<uint64_t> holds{c.platform(kServer).pcie.pcie_posted_hold_ns};
  if (is_all) {
    methods.clear();
    for (const auto& m : programs::log_methods()) methods.emplace_back(m.name);
    const auto overrides = c.overrides();
    const auto is_set = [&](const std::string& name) {
      return c.find(name).is_own() || std::ranges::any_of(overrides, [&](const Setting& s) {
               return s.name == "server." + name;
             });
    };
    if (!is_set("domain")) domains = {"eadr", "adr"};
    if (!is_set("pcie_posted_hold_ns")) holds = {uint64_t{0}, kHoldNs};
  }
  std::vector<Case> cases;
  for (const std::string& method : methods) {
    for (const std::string& domain : domains) {
      for (const uint64_t hold_ns : holds) {
        Case one{.request = o.request, .method = method, .domain = domain, .hold_ns = hold_ns};
        one.request.config.set("method", method, "crash");
        one.request.config.set("server.domain", domain, "crash");
        if (is_all)
          one.request.config.set("server.pcie_posted_hold_ns", fmt::format("{}", hold_ns), "crash");
        one.request.crash = plan;
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

bool loses(const Outcome& o) {
  return o.json.contains("crash") && o.json["crash"]["points_with_loss"].get<uint64_t>() != 0;
}

/// What the first instant with a loss shows.
std::string describe(const nlohmann::ordered_json& first) {
  const auto log = first["log"].get<std::string>();
  const auto told = first["acknowledged"].get<uint64_t>(),
             there = first["recovered"].get<uint64_t>(), whole = first["whole"].get<uint64_t>();
  if (first["is_damaged"].get<bool>())
    return fmt::format("the tail pointer of {} names bytes that are no whole records; {} are whole",
                       log, whole);
  return fmt::format("{} has {} of {}{}", log, there, told,
                     whole >= told ? "; they are whole, the tail pointer is lost" : "");
}

/// The command that cuts the power where the first record is lost.
std::string reproduce_cut(const RunRequest& request, const nlohmann::ordered_json& crash) {
  RunRequest r = request;
  r.config.set("server.power_fail_ns",
               fmt::format("{}", static_cast<double>(crash["first"]["at_ps"].get<Time>()) / 1000),
               "crash");
  return reproduce(r);
}

/// With fewer and fewer appends: what it takes to lose one.
void shrink(Case& one) {
  const uint64_t count = one.request.config.params().count;
  for (uint64_t n = 1; n < count; n *= 2) {
    RunRequest r = one.request;
    r.config.set("count", fmt::format("{}", n), "crash");
    r.crash = CrashPlan{};
    Outcome o = in_child([&] { return run(r); });
    if (!loses(o)) continue;
    one.least = n;
    one.request = r;
    one.outcome.json["crash"]["least"] = o.json["crash"];
    return;
  }
  one.least = count;
}

}  // namespace

int crash_command(Options& o) {
  if (o.words.size() != 1 || o.words[0] != kProgram)
    throw Usage(fmt::format("crash: say the program; {} is the one with a recovery", kProgram));
  o.request.program = kProgram;
  std::vector<std::string_view> used = settings_of(program_of(kProgram));
  used.insert(used.end(), kOwnSettings.begin(), kOwnSettings.end());
  check_settings(o, "crash", used);
  for (const Side side : {kClient, kServer}) {
    const sim::HostConfig host = o.request.config.platform(side).host;
    if (host.power_fail_ns != 0)
      throw Usage("power_fail_ns: crash looks at all instants; run cuts the power at one");
    if (!host.pmem_image.empty()) throw Usage("pmem_image: crash keeps its images to itself");
  }
  std::vector<Case> cases = cases_of(o, plan_of(o.request.config));
  for (const Case& c : cases) check(c.request);
  if (o.print_config) return print_config(o);

  const bool is_shown = !o.quiet && isatty(STDERR_FILENO) != 0;
  size_t done = 0;
  const auto show = [&] {
    if (is_shown) fmt::print(stderr, "\rcrash: {} of {} runs   ", done, cases.size());
  };
  show();
  in_children(
      cases.size(), o.jobs, [&](size_t i) { return run(cases[i].request); },
      [&](size_t i, Outcome out) {
        cases[i].outcome = std::move(out);
        ++done;
        show();
        return true;
      });
  if (is_shown) fmt::print(stderr, "\r{:40}\r", "");

  int worst = kGood;
  std::string complaints, notes;
  std::vector<TestCase> tests;
  std::vector<std::vector<std::string>> rows{{"method", "domain", "writes held, ns",
                                              "failure points", "distinct images", "acknowledged",
                                              "lost", "lost after", "at points"}};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (Case& c : cases) {
    std::string failure;
    if (c.outcome.status != kGood) {
      failure = fmt::format("{}reproduce: {}\n", c.outcome.failure, reproduce(c.request));
      worst = std::max<int>(worst, c.outcome.status);
    } else {
      const RunRequest asked = c.request;
      if (loses(c.outcome)) shrink(c);
      const auto& j = c.outcome.json["crash"];
      const auto text = [&](const char* name) {
        return j.contains(name) ? fmt::format("{}", j[name].get<uint64_t>()) : "-";
      };
      rows.push_back({c.method, c.domain, c.hold_ns == 0 ? "-" : fmt::format("0..{}", c.hold_ns),
                      text("points"), text("images"), text("acknowledged"), text("lost"),
                      text("lost_after"), text("points_with_loss")});
      const uint64_t asked_for = asked.crash->instants;  // 0: every event
      if (j["points"].get<uint64_t>() < asked_for)
        notes += fmt::format("{} under {}: {} instants, not {}: the others repeat one of these\n",
                             c.method, c.domain, text("points"), asked_for);
      if (loses(c.outcome)) {
        const auto& first = j["first"];
        const auto& least = j.contains("least") ? j["least"] : j;
        failure = fmt::format(
            "{} under {}, seed {}: {} of {} acknowledged records are lost{}; first when the power "
            "fails at {:.3f} ns: {}; {} appends of a QP show it\n"
            "reproduce: {}\n",
            c.method, c.domain, asked.seed, text("lost"), text("acknowledged"),
            j.contains("lost_after")
                ? fmt::format(", {} more by responses that arrive after the failure",
                              text("lost_after"))
                : "",
            static_cast<double>(first["at_ps"].get<Time>()) / 1000, describe(first), c.least,
            reproduce_cut(c.request, least));
        worst = std::max<int>(worst, kMismatch);
      }
    }
    complaints += failure;
    tests.push_back(
        {fmt::format("crash {} {} {}", kProgram, c.method, c.domain), c.outcome.wall_s, failure});
    nlohmann::ordered_json j{{"program", kProgram},
                             {"method", c.method},
                             {"domain", c.domain},
                             {"pcie_posted_hold_ns", c.hold_ns},
                             {"client", c.request.kind[kClient]},
                             {"server", c.request.kind[kServer]},
                             {"seed", c.request.seed},
                             {"settings", settings_json(o.request.config)},
                             {"status", static_cast<int>(failure.empty() ? kGood : kMismatch)}};
    if (c.outcome.json.contains("crash")) j.update(c.outcome.json["crash"]);
    if (loses(c.outcome)) j["least_appends"] = c.least;
    all.push_back(std::move(j));
  }
  if (o.tells()) std::fputs((table(rows) + notes).c_str(), stdout);
  const std::string lost = write_files(worst, [&] {
    if (!o.json.empty()) write_file(o.json, (all.size() == 1 ? all[0] : all).dump(2) + "\n");
    if (!o.junit.empty()) write_file(o.junit, junit("rnic-sim crash", tests));
  });
  std::fflush(stdout);
  std::fputs((lost + complaints).c_str(), stderr);
  return worst;
}

}  // namespace rnic::app
