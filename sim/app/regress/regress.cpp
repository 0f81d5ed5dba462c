// The command regress: splits, runs, counts, shrinks. See regress.hpp.
#include "regress/regress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.hpp"
#include "output/files.hpp"
#include "output/name_lock.hpp"
#include "output/report.hpp"
#include "regress/coverage.hpp"
#include "regress/keep.hpp"
#include "regress/run_plan.hpp"
#include "regress/shrink.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"
#include "run/failure_wave.hpp"

namespace rnic::app {

using namespace regress;

namespace {

constexpr uint32_t kOpsOfChild = 250;    // operations of a plan; each child process runs one plan
constexpr uint64_t kFailuresToStop = 3;  // then no more children are started
constexpr ChildLimits kPatience{.wall_s = 900};  // a child takes seconds to minutes
// At most so many lines are printed of a failure, and of the smallest plan with its failure. With
// the lines around them and the totals, a failure then takes at most 40 lines: one screen.
constexpr size_t kLinesOfFailure = 12, kLinesOfSmallest = 16;
const std::vector<std::string_view> kOwnSettings = {"ops", "shrink", "keep", "simple"};

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

/// The command that repeats a run: of all children, or of the child or shrunk plan that failed.
std::string command(const RegressRequest& r, uint64_t seed, uint64_t ops, const std::string& keep,
                    const std::string& simple) {
  std::string s = fmt::format("rnic-sim regress --client {} --server {} --seed {} --set ops={}",
                              r.kind[0], r.kind[1], seed, ops);
  // as_options() begins with the preset, unless that is the default one.
  const std::string all = r.config.as_options();
  if (all.starts_with(" --preset ")) s += all.substr(0, all.find(" --set"));
  for (const Setting& t : r.config.all()) {
    if (t.group != "regress" && t.group != "program" && t.is_own())
      s += fmt::format(" --set {}={}", t.name, t.value);
  }
  for (const Setting& t : r.config.overrides()) s += fmt::format(" --set {}={}", t.name, t.value);
  if (!keep.empty()) s += " --set keep=" + keep;
  if (!simple.empty()) s += " --set simple=" + simple;
  return s;
}

/// Adds each number of `more` to the number of the same name in `sum`.
void add(nlohmann::ordered_json& sum, const nlohmann::ordered_json& more) {
  if (more.is_object()) {
    for (const auto& [name, value] : more.items()) add(sum[name], value);
  } else {
    sum = (sum.is_null() ? 0 : sum.get<uint64_t>()) + more.get<uint64_t>();
  }
}

uint64_t children_of(const RegressRequest& r) { return (r.ops + kOpsOfChild - 1) / kOpsOfChild; }
uint32_t ops_of(const RegressRequest& r, size_t child) {
  return static_cast<uint32_t>(std::min<uint64_t>(kOpsOfChild, r.ops - child * kOpsOfChild));
}

/// The request with this child's file names, if there are several children.
RegressRequest with_files_of(const RegressRequest& r, size_t child) {
  RegressRequest own = r;
  if (children_of(r) == 1) return own;
  const std::string which = fmt::format("seed{}", r.seed + child);
  own.pcap = path_of(r.pcap, which, ".pcap");
  own.tlp = path_of(r.tlp, which, ".txt");
  own.wave = path_of(r.wave, which, ".fst");
  return own;
}

/// The names of the settings that the user has set.
std::set<std::string> given(const Config& c) {
  std::set<std::string> names;
  for (const Setting& s : c.all()) {
    if (s.origin != Origin::kDefault) names.insert(s.name);
  }
  for (const Setting& s : c.overrides()) names.insert(s.name.substr(s.name.find('.') + 1));
  return names;
}

/// The first `most` lines of a text, and a line with the number of the others (a single one is
/// printed). write_plan() writes all lines.
std::string on_a_screen(const std::string& text, size_t most) {
  size_t at = 0;
  for (size_t lines = 0; lines < most && at < text.size(); ++lines)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n');
  return more < 2 ? text : text.substr(0, at) + fmt::format("... {} more lines\n", more);
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

/// Writes NAME.plan, or NAME-2.plan, NAME-3.plan, ...: does not overwrite the file of an earlier
/// failure or a file that another run is writing. Returns the line that names the file.
std::string write_plan(const std::string& name, const std::string& text) {
  std::string file = name + ".plan";
  for (unsigned k = 2; std::filesystem::exists(file) || !hold_name(file); ++k)
    file = fmt::format("{}-{}.plan", name, k);
  try {
    write_file(file, text);
  } catch (const Missing& e) {
    return fmt::format("plan: {}\n", e.what());
  }
  return fmt::format("plan: {}\n", file);
}

/// Reports a failing plan and the smallest plan that fails in the same way. Returns the first lines
/// of both; a file holds all lines.
std::string complaint(const RegressRequest& r, uint64_t seed, uint32_t ops, const Outcome& v) {
  const std::string failure = fmt::format("seed {}: {}", seed, v.failure);
  const std::string reproduce =
      fmt::format("reproduce: {}\n", command(r, seed, ops, r.keep, r.simple));
  if (r.shrink_s <= 0) return failure + reproduce;
  Shrinker s(r, seed, ops, v);
  const Plan least = s.run();  // the whole plan if nothing smaller failed
  if (r.progress) fmt::print(stderr, "\r{:100}\r", "");
  const bool is_smaller = !s.last().failure.empty();
  const std::string smallest =
      is_smaller ? fmt::format("reproduce: {}\n", command(r, seed, ops, s.keep(), s.simple()))
                 : reproduce;
  const std::string name = fmt::format("regress-seed{}", seed);
  const std::string plan = least.describe() + s.last().failure;
  const std::string early = s.ended_early().empty() ? "" : fmt::format(" ({})", s.ended_early());
  std::string said = on_a_screen(failure, kLinesOfFailure);
  if (is_smaller) {
    said += reproduce;
    said += fmt::format("smallest plan that fails, after {} runs{}: {} of {} operations and ends\n",
                        s.runs(), early, least.numbers().size(),
                        make_plan(r, seed, ops).numbers().size());
    said += lines_of(plan) <= kLinesOfSmallest
                ? plan
                : on_a_screen(s.last().failure, kLinesOfSmallest / 2);
  } else {
    said += fmt::format("{} smaller plans did not fail{}\n", s.runs(), early);
  }
  said += write_plan(name, failure + reproduce + "\n" + plan + smallest);
  if (r.wave.empty()) {
    said += failure_wave(name, r.kind, is_smaller ? s.last() : v,
                         [&](const std::string& wave, const std::optional<Place>& watch) {
                           RegressRequest again = r;
                           again.wave = wave;
                           again.watch = watch;
                           again.pcap = again.tlp = "";
                           return run_plan(again, least);
                         });
  }
  return said + smallest;
}

}  // namespace

void check(const RegressRequest& r) {
  check_kinds(r.kind, r.config);
  for (const Side side : {kClient, kServer}) {
    if (const spec::SizeRow* row = r.config.below_minimum(side))
      throw Usage(fmt::format(
          "regress: {}={} of the {}'s device is too small for random programs; "
          "they need {}, as build=minimum has",
          row->name, r.config.sizes(side).*row->member, kSideNames[side], row->minimum));
  }
  (void)make_plan(r, r.seed, ops_of(r, 0));  // throws for errors in --set keep and simple
  // With several children each has files of its own, which are all checked here.
  const bool has_own = !r.pcap.empty() || !r.tlp.empty() || !wave_window(r.wave).file.empty();
  for (uint64_t k = 0; k < (has_own ? children_of(r) : 1); ++k) {
    const RegressRequest own = with_files_of(r, k);
    check_files(own.files, own.pcap, own.tlp, own.wave, own.kind);
  }
}

int run_regression(const RegressRequest& r) {
  check(r);
  const auto began = std::chrono::steady_clock::now();
  const uint64_t children = children_of(r);
  const auto plan_of = [&](size_t k) { return make_plan(r, r.seed + k, ops_of(r, k)); };
  double simulated = 0;  // us
  const auto show = [&](uint64_t done) {
    if (!r.progress) return;
    const double s = seconds_since(began),
                 share = static_cast<double>(done) / static_cast<double>(r.ops);
    fmt::print(stderr,
               "\r{:3.0f} %  {} of {} operations  {:.3f} ms simulated  {:.1f} kcycle/s  {}   ",
               100 * share, done, r.ops, simulated / 1000,
               simulated * 1000 / r.config.timing(kClient).clock.ps_per_cycle() / s,
               done == 0 ? "" : fmt::format("{:.0f} s left", s * (1 - share) / share));
  };
  Coverage coverage(given(r.config), r.config.is_small(kClient) || r.config.is_small(kServer));
  std::vector<TestCase> cases;
  uint64_t done = 0, failures = 0, bytes = 0, completions = 0;
  uint64_t rtl_cycles = 0;
  nlohmann::ordered_json tandem, plans = nlohmann::ordered_json::array();  // of all children
  int worst = kGood;
  std::optional<Interrupted> interrupted;
  const auto take = [&](size_t k, const Outcome& v) {
    const Plan plan = plan_of(k);
    coverage.count(plan);
    if (r.verbose) fmt::print("{}{}\n", plan.describe(), v.json.dump());
    done += ops_of(r, k);
    if (v.json.contains("us")) {
      bytes += v.json["bytes"].get<uint64_t>();
      completions += v.json["completions"].get<uint64_t>();
      simulated += v.json["us"].get<double>();
      rtl_cycles += v.json["rtl_cycles"].get<uint64_t>();
      if (v.status == kGood && v.json.contains("tandem")) add(tandem, v.json["tandem"]);
    }
    show(done);
    plans.push_back({{"seed", plan.seed},
                     {"ops", ops_of(r, k)},
                     {"status", static_cast<int>(v.status)},
                     {"failure", v.failure}});
    cases.push_back(
        {fmt::format("{}-{} seed {}, {} operations", r.kind[0], r.kind[1], plan.seed, ops_of(r, k)),
         v.wall_s, v.failure});
    if (v.status == kGood) return true;
    worst = std::max<int>(worst, v.status);
    if (r.progress) fmt::print(stderr, "\r{:100}\r", "");
    const bool is_over = ++failures >= kFailuresToStop && done != r.ops;
    if (is_over)
      fmt::print(stderr, "{} children have failed, {} operations are left out\n", failures,
                 r.ops - done);
    fmt::print(stderr, "{}", complaint(r, plan.seed, ops_of(r, k), v));
    return !is_over;
  };
  show(0);
  try {
    in_children(
        children, r.jobs, [&](size_t k) { return run_plan(with_files_of(r, k), plan_of(k)); }, take,
        kPatience);
  } catch (const Interrupted& i) {
    if (done == 0) throw;
    interrupted = i;
    worst = i.status();
    cases.push_back({"all operations were run", 0,
                     fmt::format("interrupted after {} of {} operations\n", done, r.ops)});
    fmt::print(stderr, "{}{}", r.progress ? "\n" : "", cases.back().failure);
  } catch (const std::runtime_error& e) {  // does not hide earlier failures
    if (worst == kGood) throw;
    fmt::print(stderr, "{}\n", e.what());
  }
  if (r.progress) fmt::print(stderr, "\r{:100}\r", "");
  const double wall = seconds_since(began);
  if (!r.quiet) {
    const bool has_tables = failures == 0 || r.verbose;  // a failure fills a screen
    if (has_tables) std::fputs(coverage.table().c_str(), stdout);
    if (has_tables && !tandem.is_null()) std::fputs(tandem_text(tandem).c_str(), stdout);
    fmt::print(
        "{} operations, {} completions, {} bytes compared, {} failures; {:.0f} us simulated, "
        "{:.1f} s, {:.0f} operations/s ({}-{}, seed {})\n",
        done, completions, bytes, failures, simulated, wall, static_cast<double>(done) / wall,
        r.kind[0], r.kind[1], r.seed);
  }
  std::vector<std::string> missing;
  if (r.ops >= r.coverage_from && failures == 0 && r.keep.empty() && !interrupted) {
    missing = coverage.empty();
    for (const std::string& m : missing) fmt::print(stderr, "never drawn: {}\n", m);
    if (!missing.empty()) {
      fmt::print(stderr, "reproduce: {}\n", command(r, r.seed, r.ops, r.keep, r.simple));
      worst = std::max<int>(worst, kMismatch);
    }
    cases.push_back({"every class was drawn", 0, fmt::format("{}", fmt::join(missing, "\n"))});
  }
  const std::string lost = write_files(worst, [&] {
    if (!r.junit.empty()) write_file(r.junit, junit("rnic-sim regress", cases));
    if (r.json.empty()) return;
    nlohmann::ordered_json j{
        {"program", "regress"},
        {"client", r.kind[kClient]},
        {"server", r.kind[kServer]},
        {"seed", r.seed},
        {"settings", settings_json(r.config)},
        {"ops", done},
        {"bytes", bytes},
        {"completions", completions},
        {"failures", failures},
        {"sim_ns", simulated * 1000},
        {"rtl_cycles", rtl_cycles},
        {"drawn", coverage.json()},
        {"never_drawn", missing},
        {"plans", plans},
        {"status", worst},
        {"wall_s", wall},
        {"kcycles_per_s",
         wall > 0 ? simulated * 1000 / r.config.timing(kClient).clock.ps_per_cycle() / wall : 0}};
    if (!tandem.is_null()) j["tandem"] = tandem;
    if (interrupted) j["incomplete"] = true;
    write_file(r.json,
               j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  });
  fmt::print(stderr, "{}", lost);
  if (interrupted) throw *interrupted;
  return worst;
}

int regress_command(Options& o) {
  if (!o.words.empty())
    throw Usage("regress: takes no words; --set ops=N, --seed N, --client KIND, --server KIND");
  check_settings(o, "regress", kOwnSettings);
  RegressRequest r;
  r.kind = o.request.kind;
  r.config = o.request.config;
  r.seed = o.request.seed;
  r.ops = whole_number("ops", r.config.find("ops").value, 1, 1'000'000'000);
  r.shrink_s = static_cast<double>(whole_number("shrink", r.config.find("shrink").value, 0, 86400));
  r.keep = r.config.find("keep").value;
  r.simple = r.config.find("simple").value;
  r.pcap = o.request.pcap;
  r.tlp = o.request.tlp;
  r.wave = o.request.wave;
  r.files = o.request.files;
  r.json = o.json;
  r.junit = o.junit;
  r.jobs = o.jobs;
  r.quiet = !o.tells();
  r.verbose = o.verbose && o.json != "-";
  r.progress = !o.quiet && isatty(STDERR_FILENO) != 0;
  if (o.print_config) {
    check(r);
    return print_config(o);
  }
  return run_regression(r);
}

}  // namespace rnic::app
