// The command search: draws situations, runs them on model and RTL, and shrinks the worst ones. See
// search.hpp.
#include "measure/search.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "measure/search_space.hpp"
#include "output/files.hpp"
#include "output/report.hpp"
#include "run/child.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

using search::Situation;
using search::Space;

constexpr std::array<const char*, 2> kKinds = {"model", "rtl"};
constexpr unsigned kPatienceS = 200;  // wall time of one run, at most
constexpr double kLongest = 4;        // ms simulated: takes 20 to 30 s on two RTL devices
constexpr double kBroken = 1000;      // score of a situation that fails on the model or on the RTL
constexpr size_t kParents = 12;       // the worst situations: parents of the next ones, and listed
constexpr unsigned kFreshPercent = 35;  // of new situations are drawn; the others change a parent
constexpr double kShareOfShrinking = 0.3;  // of the setting `seconds`
const std::vector<std::string> kPrograms = {
    "write_bw",         "send_bw",        "read_bw",   "write_lat", "send_lat",
    "read_lat",         "write_flush_bw", "flush_lat", "atomic_bw", "atomic_lat",
    "atomic_write_lat", "send_inv",       "frwr",      "mw_bind",   "srq_pingpong"};
constexpr std::array<std::string_view, 4> kOwnSettings = {"seconds", "anomaly", "finds", "state"};

/// The results of one device pair.
struct Measured {
  int status = kGood;
  double rate = 0, p50 = 0, p99 = 0;  // messages/s; ns
  double simulated_ms = 0;
  double gap = 0;  // longest time without an arrival, as a share of the window
  // (most - least - kGroup) / most, of the messages that have arrived on a QP.
  double unfair = 0;
  std::string failure{};  // its first line
  bool timed_out = false;
};

/// The disagreement of model and RTL in a situation.
struct Found {
  Situation at{};
  std::array<Measured, 2> by{};  // kKinds
  std::string what{};  // "throughput", "stall", "unfairness", "median latency", ...; or empty
  // Of `what`: |RTL / model - 1|; stall: share of the window by which the longest gaps differ;
  // unfairness: the RTL's.
  double score = 0;
};

constexpr double kGroup = 16;  // messages by which posting in groups puts one QP ahead of another

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Runs, and converts a refusal (Usage) to an outcome: in_children() would end the search with the
/// exception.
Outcome run_or_refused(const RunRequest& r) {
  try {
    return app::run(r);
  } catch (const Usage& e) {
    return {.status = kGood, .json = {{"refused", e.what()}}, .failure = ""};
  }
}

/// The figures of one run.
Measured measured(const Outcome& o) {
  if (o.json.contains("refused"))
    return {.status = kWrongUse, .failure = first_line(o.json["refused"])};
  Measured m{.status = o.status, .failure = first_line(o.failure), .timed_out = o.timed_out};
  if (o.status != kGood) return m;
  m.rate = o.json.value("msg_per_s", 0.0);
  m.simulated_ms = o.json.value("sim_end_ns", 0.0) / 1e6;
  for (const auto& side : o.json.value("arrivals", nlohmann::ordered_json::object())) {
    const double most = side.at("most"), least = side.at("least");
    m.gap = std::max(m.gap, side.at("longest_gap_ns").get<double>() / o.json.value("sim_ns", 1.0));
    m.unfair = std::max(m.unfair, (most - least - kGroup) / most);
  }
  if (const auto& l = o.json["latency_ns"]; l.is_object()) {
    m.p50 = l.value("p50", 0.0);
    m.p99 = l.value("p99", 0.0);
  }
  return m;
}

/// The largest disagreement of the two runs.
Found judge(const Situation& s, const Measured& model, const Measured& rtl) {
  Found f{.at = s, .by = {model, rtl}, .what = "", .score = 0};
  if (model.status != kGood || rtl.status != kGood) {
    f.what = "status";
    f.score = kBroken;
    return f;
  }
  const auto compare = [&](const char* what, double of_rtl, double of_model) {
    if (of_model <= 0 || of_rtl <= 0) return;
    const double d = std::abs(of_rtl / of_model - 1);
    if (f.what.empty() || d > f.score) f.what = what, f.score = d;
  };
  if (s.program.ends_with("_lat")) {
    compare("median latency", rtl.p50, model.p50);
    compare("99th percentile", rtl.p99, model.p99);
  } else {
    compare("throughput", rtl.rate, model.rate);
    const auto also = [&](const char* what, double d) {
      if (d > f.score) f.what = what, f.score = d;
    };
    also("stall", std::abs(rtl.gap - model.gap));
    also("unfairness", rtl.unfair);
  }
  return f;
}

nlohmann::ordered_json json_of(const Found& f) {
  nlohmann::ordered_json j = f.at.json();
  j["what"] = f.what;
  j["score"] = f.score;
  for (size_t k = 0; k < kKinds.size(); ++k) {
    const Measured& m = f.by[k];
    j[kKinds[k]] = {{"status", m.status},  {"msg_per_s", m.rate}, {"p50", m.p50},
                    {"p99", m.p99},        {"gap", m.gap},        {"unfair", m.unfair},
                    {"failure", m.failure}};
  }
  return j;
}

Found found_of(const nlohmann::json& j) {
  Found f{.at = Situation::from_json(j), .what = j.at("what"), .score = j.at("score")};
  for (size_t k = 0; k < kKinds.size(); ++k) {
    const auto& m = j.at(kKinds[k]);
    f.by[k] = {.status = m.at("status"),
               .rate = m.at("msg_per_s"),
               .p50 = m.at("p50"),
               .p99 = m.at("p99"),
               .gap = m.at("gap"),
               .unfair = m.at("unfair"),
               .failure = m.at("failure")};
  }
  return f;
}

class Search {
 public:
  Search(const Options& o, Space space, double seconds, double anomaly, size_t finds,
         std::string state)
      : options_(o),
        space_(std::move(space)),
        rng_(o.request.seed),
        seconds_(seconds),
        anomaly_(anomaly),
        finds_(finds),
        state_(std::move(state)),
        is_shown_(!o.quiet && isatty(STDERR_FILENO) != 0) {
    if (!state_.empty() && std::filesystem::exists(state_)) resume();
  }

  /// Runs the search. However it ends, prints its findings and saves its state.
  int run() {
    std::exception_ptr ended;
    try {
      while (elapsed() < seconds_ * (1 - kShareOfShrinking) && (finds_ == 0 || new_finds_ < finds_))
        evaluate(next_generation());
      shrink();
    } catch (...) {
      ended = std::current_exception();
      add_unshrunk();
    }
    print();
    try {
      save();
      write_json();
    } catch (const std::runtime_error& e) {
      if (!ended) throw;
      fmt::print(stderr, "{}\n", e.what());
    }
    if (ended) std::rethrow_exception(ended);
    if (all_.empty()) {
      fmt::print(stderr, "search: nothing was compared: no situation drawn could be run{}\n",
                 unfinished_ != 0 ? " to its end" : "");
      return kMismatch;
    }
    return anomalies_.empty() ? kGood : kMismatch;
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  /// Reads the situations of an earlier search. The new seed makes this search draw other ones.
  void resume() {
    std::ifstream in(state_);
    try {
      const nlohmann::json read = nlohmann::json::parse(in);
      for (const auto& j : read.at("situations")) keep(found_of(j));
    } catch (const nlohmann::json::exception& e) {
      throw Usage(fmt::format("--set state={}: not written by search ({})", state_, e.what()));
    }
    rng_ = base::Rng(options_.request.seed + all_.size());
  }

  void save() const {
    if (state_.empty()) return;
    nlohmann::ordered_json j{{"situations", nlohmann::ordered_json::array()}};
    for (const Found& f : all_) j["situations"].push_back(json_of(f));
    write_file(state_, j.dump(1) + "\n");
  }

  /// Stores a result, and updates the parents (worst_).
  void keep(Found f) {
    seen_.insert(f.at);
    worst_.push_back(f);
    std::ranges::stable_sort(worst_, std::greater{}, &Found::score);
    if (worst_.size() > kParents) worst_.resize(kParents);
    all_.push_back(std::move(f));
  }

  /// New situations, two per job, without those that check() refuses.
  std::vector<Situation> next_generation() {
    std::vector<Situation> g;
    for (unsigned tries = 0; g.size() < 2 * options_.jobs && tries < 1000; ++tries) {
      const bool is_fresh = worst_.empty() || rng_.percent(kFreshPercent);
      const Situation s =
          is_fresh ? space_.draw(rng_) : space_.change(worst_[rng_.below(worst_.size())].at, rng_);
      if (!seen_.insert(s).second) continue;
      try {
        check(request(s, 1));
        g.push_back(s);
      } catch (const Usage&) {
      }
    }
    return g;
  }

  /// `kind`: index in kKinds (0: model, 1: RTL).
  RunRequest request(const Situation& s, size_t kind) const {
    RunRequest r = s.request(options_.request);
    r.kind = {kKinds[kind], kKinds[kind]};
    return r;
  }

  /// Runs the models first. Drops situations whose models simulate more than kLongest, since the
  /// RTL would take too long. Also drops situations that both refuse, because they do not fit into
  /// host memory or the device, and situations with a run that was ended early.
  std::vector<Found> evaluate(std::vector<Situation> g) {
    std::vector<Measured> models = measure(g, 0);
    for (size_t i = g.size(); i-- > 0;) {
      const bool is_long = models[i].status == kGood && models[i].simulated_ms > kLongest;
      if (!is_long && !models[i].timed_out) continue;
      if (is_long) ++too_long_;
      if (models[i].timed_out) count_unfinished(g[i]);
      g.erase(g.begin() + static_cast<ptrdiff_t>(i));
      models.erase(models.begin() + static_cast<ptrdiff_t>(i));
    }
    const std::vector<Measured> rtl = measure(g, 1);
    std::vector<Found> found;
    for (size_t i = 0; i < g.size(); ++i) {
      if (rtl[i].timed_out) {
        count_unfinished(g[i]);
        continue;
      }
      if (models[i].status == kWrongUse && rtl[i].status == kWrongUse) {
        ++refused_;
        continue;
      }
      found.push_back(judge(g[i], models[i], rtl[i]));
      keep(found.back());
      if (found.back().score >= anomaly_ && !found.back().what.empty()) ++new_finds_;
    }
    save();  // if the process dies, at most one generation is lost
    show();
    return found;
  }

  std::vector<Measured> measure(const std::vector<Situation>& g, size_t kind) const {
    std::vector<Measured> by(g.size());
    in_children(
        g.size(), options_.jobs, [&](size_t i) { return run_or_refused(request(g[i], kind)); },
        [&](size_t i, const Outcome& o) {
          by[i] = measured(o);
          return true;
        },
        {.wall_s = kPatienceS, .until = end_});
    return by;
  }

  /// Counts a situation with a run that was ended early: by the end of the search, or after
  /// kPatienceS. Only the latter are listed (slow_).
  void count_unfinished(const Situation& s) {
    ++unfinished_;
    if (std::chrono::steady_clock::now() < end_) slow_.push_back(s);
  }

  void show() const {
    if (!is_shown_) return;
    fmt::print(stderr, "\r{:3.0f} %  {} situations  worst {}  {:.0f} s left   ",
               std::min(100.0, 100 * elapsed() / seconds_), all_.size(),
               worst_.empty() ? "-" : size_of(worst_[0]), std::max(0.0, seconds_ - elapsed()));
  }

  static std::string size_of(const Found& f) {
    return f.what == "status" ? "ends otherwise"
                              : fmt::format("{:.1f} % {}", 100 * f.score, f.what);
  }

  /// The results with a score of `anomaly` or more.
  std::vector<Found> worst_first() const {
    std::vector<Found> all = all_;
    std::ranges::stable_sort(all, std::greater{}, &Found::score);
    std::erase_if(all, [&](const Found& f) { return f.score < anomaly_ || f.what.empty(); });
    return all;
  }

  /// True if an anomaly that is listed already explains `f`.
  bool is_known(const Found& f) const {
    return std::ranges::any_of(anomalies_, [&](const Found& a) { return explains(a, f); });
  }

  /// Reduces each anomaly to as few settings as it needs, worst first.
  void shrink() {
    for (const Found& f : worst_first()) {
      if (is_known(f)) continue;
      Found least = f;
      for (const auto& [name, value] : f.at.set) {
        if (elapsed() > seconds_) break;
        if (!least.at.set.contains(name)) continue;
        Situation s = least.at;
        s.set.erase(name);
        try {
          check(request(s, 1));
        } catch (const Usage&) {
          continue;
        }
        const std::vector<Found> again = evaluate({s});
        if (again.empty()) continue;  // too long, ended early, or refused
        const Found& smaller = again[0];
        // The same anomaly if half of its size is left: a setting that only enlarges it is dropped.
        if (smaller.what == least.what && smaller.score >= std::max(anomaly_, least.score / 2))
          least = smaller;
      }
      add(least);
      if (elapsed() > seconds_ && anomalies_.size() >= kParents) break;
    }
  }

  /// After an early end, adds anomalies as they were drawn.
  void add_unshrunk() {
    for (const Found& f : worst_first()) {
      if (anomalies_.size() >= kParents) break;
      if (!is_known(f)) add(f);
    }
  }

  /// Anomalies of one program with the same setting names, with any values, count as one.
  void add(const Found& f) {
    std::set<std::string> names;
    for (const auto& [name, value] : f.at.set) names.insert(name);
    if (known_.insert({f.at.program, names}).second) anomalies_.push_back(f);
  }

  /// True if `f` has all settings that the smaller anomaly needs.
  static bool explains(const Found& anomaly, const Found& f) {
    return anomaly.at.program == f.at.program && anomaly.what == f.what &&
           std::ranges::all_of(anomaly.at.set, [&](const auto& s) {
             return f.at.set.contains(s.first) && f.at.set.at(s.first) == s.second;
           });
  }

  void print() const {
    if (is_shown_) fmt::print(stderr, "\r{:100}\r", "");
    const auto shown = [](const Found& f, size_t k) {
      const Measured& m = f.by[k];
      if (m.status != kGood) return fmt::format("exit {}", m.status);
      if (f.what == "stall") return fmt::format("{:.1f} %", 100 * m.gap);
      if (f.what == "unfairness") return fmt::format("{:.1f} %", 100 * m.unfair);
      if (f.what == "throughput" || (f.what == "status" && m.rate > 0))
        return fmt::format("{:.3f} M/s", m.rate / 1e6);
      return fmt::format("{:.0f} ns", f.what == "99th percentile" ? m.p99 : m.p50);
    };
    if (options_.tells()) {
      std::vector<std::vector<std::string>> rows{{"anomaly", "program", "model", "RTL", "differs"}};
      for (const Found& f : anomalies_)
        rows.push_back({f.what, f.at.program, shown(f, 0), shown(f, 1),
                        f.what == "status" ? "-" : fmt::format("{:.1f} %", 100 * f.score)});
      if (!anomalies_.empty()) std::fputs(table(rows).c_str(), stdout);
      fmt::print(
          "{} situations in {:.0f} s ({} more would take the RTL too long, {} did not end in time, "
          "{} do not fit into host memory or device), seed {}: {} anomalies above {:.1f} %, the "
          "largest disagreement {}\n",
          all_.size(), elapsed(), too_long_, unfinished_, refused_, options_.request.seed,
          anomalies_.size(), 100 * anomaly_, worst_.empty() ? "-" : size_of(worst_[0]));
    }
    for (const Situation& s : slow_)
      fmt::print(stderr, "a run took more than {} s: {}\n", kPatienceS, command_of(s));
    for (const Found& f : anomalies_) {
      if (!f.by[1].failure.empty()) fmt::print(stderr, "{}\n", f.by[1].failure);
      fmt::print(stderr, "reproduce: {}\n", command_of(f.at));
    }
  }

  std::string command_of(const Situation& s) const {
    return fmt::format("rnic-sim compare {}{} --seed {}", s.program,
                       request(s, 1).config.as_options(programs::find(s.program)), s.seed);
  }

  void write_json() const {
    if (options_.json.empty()) return;
    nlohmann::ordered_json j{{"program", "search"},
                             {"seed", options_.request.seed},
                             {"settings", settings_json(options_.request.config)},
                             {"situations", all_.size()},
                             {"too_long", too_long_},
                             {"unfinished", unfinished_},
                             {"refused", refused_},
                             {"wall_s", elapsed()},
                             {"anomalies", nlohmann::ordered_json::array()},
                             {"worst", worst_.empty() ? 0 : worst_[0].score}};
    for (const Found& f : anomalies_) j["anomalies"].push_back(json_of(f));
    write_file(options_.json, j.dump(2) + "\n");
  }

  const Options& options_;
  Space space_;
  base::Rng rng_;
  double seconds_, anomaly_;
  size_t finds_;          // the search ends after this many situations above anomaly_; 0: by time
  size_t new_finds_ = 0;  // of this run, not of the state it continues
  std::string state_;
  bool is_shown_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point end_ =
      began_ + std::chrono::microseconds(static_cast<int64_t>(seconds_ * 1e6));
  std::vector<Found> all_, worst_, anomalies_;
  std::vector<Situation> slow_;  // with a run that exceeded kPatienceS
  uint64_t too_long_ = 0, unfinished_ = 0, refused_ = 0;
  std::set<Situation> seen_;
  std::set<std::pair<std::string, std::set<std::string>>> known_;  // of anomalies_: program, names
};

/// The value of a setting as a number from `low` to `high`; otherwise throws Usage.
double number(const Config& c, const char* name, double low, double high) {
  const std::string& text = c.find(name).value;
  double n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || !(n >= low && n <= high))
    throw Usage(fmt::format("{}: \"{}\" is no number from {} to {}", name, text, low, high));
  return n;
}

}  // namespace

int search_command(Options& o) {
  const std::vector<std::string> programs = o.words.empty() ? kPrograms : o.words;
  std::vector<std::string_view> used(kOwnSettings.begin(), kOwnSettings.end());
  for (const std::string& p : programs) {
    if (std::ranges::find(kPrograms, p) == kPrograms.end())
      throw Usage(fmt::format("search: no program \"{}\" to search with{}; one of {}", p,
                              nearest(p, kPrograms), fmt::join(kPrograms, ", ")));
    for (const std::string_view s : settings_of(program_of(p))) used.push_back(s);
  }
  o.request.kind = {"rtl", "rtl"};
  check_settings(o, "search", used);
  const Config& c = o.request.config;
  std::vector<std::string> fixed;
  for (const Setting& s : c.all()) {
    if (s.origin == Origin::kSet || s.origin == Origin::kFile || s.origin == Origin::kPreset)
      fixed.push_back(s.name);
  }
  Search s(o, Space(programs, fixed), number(c, "seconds", 1, 1e6),
           number(c, "anomaly", 0.1, 1000) / 100, static_cast<size_t>(number(c, "finds", 0, 1e6)),
           c.find("state").value);
  if (o.print_config) return print_config(o);
  check_writable("--set state", c.find("state").value);
  return s.run();
}

}  // namespace rnic::app
