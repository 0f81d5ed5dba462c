// The command crash: runs durable_log for each case, and once more for each smaller number of
// appends that it tries after a loss. See crash.hpp.
#include "measure/crash.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "durable_log.hpp"
#include "output/files.hpp"
#include "output/report.hpp"
#include "run/child.hpp"

namespace rnic::app {

namespace {

constexpr const char* kProgram = "durable_log";
constexpr uint64_t kHoldNs = 5000;  // method=all also runs with this pcie_posted_hold_ns
constexpr std::array<std::string_view, 2> kOwnSettings = {"instants", "spread"};

struct Case {
  RunRequest request;
  std::string method, domain;
  uint64_t hold_ns = 0;  // pcie_posted_hold_ns of the server
  Outcome outcome{};
  uint64_t least = 0;  // of 1, 2, 4, ... appends per QP, the first count with a loss; or `count`
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

/// True if a recovery after one of the power failures lacked an acknowledged record.
bool loses(const Outcome& o) {
  return o.json.contains("crash") && o.json["crash"]["points_with_loss"].get<uint64_t>() != 0;
}

/// Describes the first instant with a loss: records acknowledged to the client, those that
/// the recovery finds, and whole records in the log, found or not.
std::string describe(const nlohmann::ordered_json& first) {
  const auto log = first["log"].get<std::string>();
  const auto acknowledged = first["acknowledged"].get<uint64_t>(),
             recovered = first["recovered"].get<uint64_t>(), whole = first["whole"].get<uint64_t>();
  if (first["is_damaged"].get<bool>())
    return fmt::format("the tail pointer of {} names bytes that are no whole records; {} are whole",
                       log, whole);
  return fmt::format("{} has {} of {}{}", log, recovered, acknowledged,
                     whole >= acknowledged ? "; they are whole, the tail pointer is lost" : "");
}

/// The command that cuts the power at the first loss.
std::string reproduce_cut(const RunRequest& request, const nlohmann::ordered_json& crash) {
  RunRequest r = request;
  r.config.set("server.power_fail_ns",
               fmt::format("{}", static_cast<double>(crash["first"]["at_ps"].get<Time>()) / 1000),
               "crash");
  return reproduce(r);
}

/// Tries 1, 2, 4, ... appends per QP, with a power failure at every event (CrashPlan{}), and keeps
/// the first run with a loss. So `least` is less than twice the smallest count with a loss, if each
/// larger count has a loss, too.
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
    throw Usage(fmt::format("crash: name the program; {} is the one with a recovery", kProgram));
  o.request.program = kProgram;
  std::vector<std::string_view> used = settings_of(program_of(kProgram));
  used.insert(used.end(), kOwnSettings.begin(), kOwnSettings.end());
  check_settings(o, "crash", used);
  for (const Side side : {kClient, kServer}) {
    const sim::HostConfig host = o.request.config.platform(side).host;
    if (host.power_fail_ns != 0)
      throw Usage(
          "power_fail_ns: leave it out; crash tries all instants; run cuts the power at one");
    if (!host.pmem_image.empty())
      throw Usage("pmem_image: leave it out; crash keeps its images to itself");
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
    int status = c.outcome.status;
    if (status != kGood) {
      failure = fmt::format("{}reproduce: {}\n", c.outcome.failure, reproduce(c.request));
    } else {
      const RunRequest asked = c.request;  // shrink() changes c.request
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
            // Acknowledged only after the power has failed: the response was on the wire.
            j.contains("lost_after")
                ? fmt::format(", {} more by responses that arrive after the failure",
                              text("lost_after"))
                : "",
            static_cast<double>(first["at_ps"].get<Time>()) / 1000, describe(first), c.least,
            reproduce_cut(c.request, least));
        status = kMismatch;
      }
    }
    worst = std::max(worst, status);
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
                             {"status", status}};
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
