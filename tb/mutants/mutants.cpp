// The test of the tests: each enabled fault must be detected. A device with the fault runs in
// tandem (RTL and trace faults: the RTL is wrong; model faults: the follower's model is wrong)
// against a model. Short programs run in child processes, one after the other until one detects the
// fault.
//
//   mutants                           all by hand, one drawn per source file, 15 of the trace
//   mutants --count 6                 six of these
//   mutants --seed 7                  draws others; --all: all that are compiled in
//   mutants --fault 93 --verbose      one fault, with the full report; --list lists the numbers
//   mutants --match rtl/atomic        those whose line in --list contains this text
//
// The test fails if a fault by hand survives, if the kill rate of the drawn ones is below --least
// per cent, or if a fault of equivalent.txt is detected. A fault listed there changes nothing, for
// the reason given there, and does not count. `mutants` has the plain RTL, so no fault of the RTL;
// `mutants_rtl` has all.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>

#include "base/rng.hpp"
#include "mutants/runs.hpp"
#include "mutants/trace.hpp"

namespace rnic::mutants {
namespace {

struct Settings {
  uint64_t seed = 1;
  uint32_t count = 0, jobs = 2, fault = 0;
  double least = 70;  // per cent of those drawn: a floor, not the goal
  std::string equivalent = "tb/mutants/equivalent.txt", match;
  bool list = false, all = false, verbose = false;
};

constexpr uint32_t kTracesDrawn = 15;
constexpr double kPatience = 10;  // time limit: this times the time without a fault, plus 1000 us

/// The programs, run one after the other until one detects the fault: the shortest that reach every
/// unit. The plan of seed 435 has markers, and a window of one FPDU. For faults of the RTL these
/// programs run on the build `stall`, whose queues are small but deeper than one entry. Programs
/// with more load follow, on `stall` and on the default build. The fields are those of Program:
/// kind, side, seed, operations, build, per cent of stalled cycles.
const std::vector<Program>& programs() {
  using enum Program::Kind;
  static const std::vector<Program> all = [] {
    std::vector<Program> some = {
        {kPlan, 0, 47, 24}, {kErrors, 1}, {kDamage, 0},  {kPlan, 1, 60, 32},
        {kErrors, 0},       {kDamage, 1}, {kRefused, 0}, {kPlan, 0, 435, 24},
    };
    // The plans above have no Immediate Data.
    if (!has_rtl_faults()) some.insert(some.end(), {{kPlan, 0, 421, 80}, {kPlan, 0, 400, 120}});
    if (has_rtl_faults()) {
      using enum sim::RtlBuild;
      for (Program& p : some) p.build = kStall;
      some.insert(some.end(), {{kPlan, 0, 400, 120, kStall},
                               {kPlan, 1, 403, 60, kStall, 20},
                               {kPlan, 0, 411, 60, kStall, 5},
                               {kPlan, 1, 417, 60, kStall, 50},
                               {kPlan, 1, 30000, 250, kStall, 5},
                               {kPlan, 0, 421, 120, kDefault},
                               {kErrors, 1, 1, 0, kDefault}});
    }
    return some;
  }();
  return all;
}

struct Job {
  Fault fault;
  const TraceFault* trace = nullptr;
  bool sleepers = false;   // a baseline of the RTL with disabled faults
  size_t program = 0;      // the one that runs, in programs()
  bool only_this = false;  // a baseline: no further program
  bool equivalent = false;
  Verdict verdict{};
  uint64_t cycles = 0;
  bool reached = false;  // the fault's place was reached (RTL: the pins differ from a sound run)
};

std::string describe(const Fault& f) {
  std::string s = fmt::format("{}:{} ", f.file, f.line);
  s += f.by_hand ? f.name : f.kind;
  return s + fmt::format(": {} -> {}", f.before, f.after);
}

// --- faults that change nothing

struct Equivalent {
  std::string file, kind, before, line, because;  // line: another text of the fault's line
  bool matches(const Fault& f) const {
    return f.file == file && f.kind == kind && f.before == before &&
           (line.empty() || source_line(f).find(line) != std::string::npos);
  }
  static std::string source_line(const Fault& f) {
    std::ifstream in(f.file);
    std::string text;
    for (uint32_t n = 0; n < f.line; ++n) std::getline(in, text);
    return text;
  }
};

std::vector<Equivalent> read_equivalents(const std::string& path) {
  std::vector<Equivalent> all;
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", path));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space),
                      rest = line.substr(line.find_first_not_of(' ', space));
    if (key == "file")
      all.push_back({rest, "", "", "", ""});
    else if (all.empty())
      throw std::runtime_error(fmt::format("{}: \"{}\" before the first file", path, key));
    else if (key == "kind")
      all.back().kind = rest;
    else if (key == "before")
      all.back().before = rest;
    else if (key == "line")
      all.back().line = rest;
    else if (key == "because")
      all.back().because = rest;
    else
      throw std::runtime_error(
          fmt::format("{}: no key \"{}\"; there are file, kind, before, line, because", path, key));
  }
  for (const Equivalent& e : all) {
    std::ifstream source(e.file);
    const std::string text{std::istreambuf_iterator<char>(source), {}};
    if (e.before.empty() || text.find(e.before) == std::string::npos)
      throw std::runtime_error(
          fmt::format("{}: {} does not hold \"{}\" any more", path, e.file, e.before));
    if (e.because.empty())
      throw std::runtime_error(fmt::format("{}: {}: \"{}\" has no reason", path, e.file, e.before));
  }
  return all;
}

// --- choice of faults

/// All by hand; of those drawn when the sources were generated, one per file (--all, --fault: all).
std::vector<Fault> choose(const Settings& s) {
  std::map<std::string, std::vector<Fault>> drawn;
  std::vector<Fault> out;
  for (const Fault& f : built_faults()) {
    if (f.layer == Layer::kRtl && !has_rtl_faults()) continue;
    if (f.by_hand || s.all || s.fault != 0)
      out.push_back(f);
    else
      drawn[f.file].push_back(f);
  }
  for (const auto& [file, faults] : drawn)
    out.push_back(faults[base::Rng(s.seed).fork(file).below(faults.size())]);
  return out;
}

std::vector<Job> jobs_of(const Settings& s, const std::vector<TraceFault>& traces) {
  const auto equivalents = read_equivalents(s.equivalent);
  std::vector<Job> jobs;
  for (const Fault& f : choose(s)) {
    Job j{.fault = f};
    j.equivalent =
        std::ranges::any_of(equivalents, [&](const Equivalent& e) { return e.matches(f); });
    jobs.push_back(j);
  }
  const auto last = static_cast<uint32_t>(built_faults().size());
  for (uint32_t k = 0; k < traces.size(); ++k) {
    Job j{.fault = traces[k].describe(last + 1 + k), .trace = &traces[k]};
    j.fault.by_hand = k < kTracesByHand;
    jobs.push_back(j);
  }
  if (s.fault != 0) std::erase_if(jobs, [&](const Job& j) { return j.fault.number != s.fault; });
  std::erase_if(jobs,
                [&](const Job& j) { return describe(j.fault).find(s.match) == std::string::npos; });
  if (s.count == 0 || s.count >= jobs.size()) return jobs;
  base::Rng rng = base::Rng(s.seed).fork("count");
  for (size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[rng.below(i)]);
  jobs.resize(s.count);
  return jobs;
}

// --- execution

/// Runs several jobs in parallel; a fault that survives a program runs with the next one.
class Runner {
 public:
  Runner(const Settings& s, std::vector<Verdict> sound) : settings_(s), sound_(std::move(sound)) {}

  void run(std::vector<Job>& jobs) {
    size_t next = 0;
    while (next < jobs.size() || !running_.empty()) {
      if (next < jobs.size() && running_.size() < settings_.jobs) {
        Job& job = jobs[next++];
        meet(job, job.program);
        continue;
      }
      int status = 0;
      const pid_t pid = wait(&status);
      const auto it = running_.find(pid);
      if (it == running_.end()) continue;
      auto [job, run] = it->second;
      running_.erase(it);
      job->verdict = run.finish(status);
      job->cycles += job->verdict.cycles;
      if (!sound_.empty()) {
        const bool differs = job->verdict.fold != sound_[job->program].fold;
        job->reached |= job->fault.layer == Layer::kRtl ? differs : job->verdict.reached;
      }
      if (job->verdict.catcher == Catcher::kNobody && !job->only_this)
        meet(*job, job->program + 1);
      else
        tell(*job);
    }
  }

 private:
  /// Starts the first program, from this index on, that reaches the fault's place. A '-' in
  /// places_reached: the run without faults did not reach the place, so its program finds nothing.
  void meet(Job& job, size_t program) {
    const auto passes = [&](const Verdict& v) {
      return job.fault.layer == Layer::kModel && job.fault.number < v.places_reached.size() &&
             v.places_reached[job.fault.number] == '-';
    };
    while (!sound_.empty() && program < sound_.size() && passes(sound_[program])) ++program;
    if (program == programs().size()) return tell(job);
    job.program = program;
    begin(job);
  }
  void begin(Job& job) {
    const auto number = [&](Layer layer) {
      return job.fault.layer == layer ? job.fault.number : 0;
    };
    chosen() = {};
    chosen().rtl = number(Layer::kRtl);
    chosen().model = number(Layer::kModel);
    if (job.trace != nullptr) chosen().has_trace = true, chosen().trace = *job.trace;
    chosen().with_sleepers = job.sleepers;
    Run run(programs()[job.program],
            sound_.empty() ? 1e6 : sound_[job.program].simulated_us * kPatience + 1000);
    running_.emplace(run.pid(), std::pair(&job, run));
  }

  void tell(const Job& job) const {
    if (job.only_this) return;
    fmt::print("{:4} {} | {} | {}, {} cycles: {}\n", job.fault.number, describe(job.fault),
               job.equivalent ? "changes nothing" : name_of(job.verdict.catcher),
               programs()[job.program].describe(), job.cycles, job.verdict.what);
    if (settings_.verbose) fmt::print("{}\n", job.verdict.report);
    std::fflush(stdout);
  }

  const Settings& settings_;
  std::vector<Verdict> sound_;  // of each program without a fault; empty during the baseline
  std::map<pid_t, std::pair<Job*, Run>> running_;
};

/// The programs must pass while every fault is disabled. The RTL with disabled faults must equal
/// the plain RTL in each cycle at each pin. The simulated times of these runs set the time limits
/// of the others.
std::vector<Verdict> baseline(const Settings& s) {
  std::vector<Job> jobs;
  for (const bool sleepers : {false, true}) {
    for (size_t k = 0; k < programs().size() && (!sleepers || has_rtl_faults()); ++k)
      jobs.push_back({.fault = {}, .sleepers = sleepers, .program = k, .only_this = true});
  }
  Runner(s, {}).run(jobs);
  std::vector<Verdict> sound;
  for (const Job& j : jobs) {
    const Verdict& v = j.verdict;
    const std::string what = fmt::format("{}: {}", j.sleepers ? "faults asleep" : "plain RTL",
                                         programs()[j.program].describe());
    fmt::print("{}: {} cycles, {:.0f} us, {:.1f} s, pins {:016x}\n", what, v.cycles, v.simulated_us,
               v.wall_s, v.fold);
    if (v.catcher != Catcher::kNobody)
      throw std::runtime_error(
          fmt::format("{}: {}: {}\n{}", what, name_of(v.catcher), v.what, v.report));
    if (j.sleepers && v.fold != jobs[j.program].verdict.fold)
      throw std::runtime_error(fmt::format("{}: not what the plain RTL does", what));
    if (!j.sleepers) sound.push_back(v);
  }
  return sound;
}

// --- the report

struct Count {
  uint32_t all = 0, killed = 0;
  std::map<Catcher, uint32_t> by{};

  void add(Catcher c) {
    ++all;
    killed += c != Catcher::kNobody ? 1 : 0;
    ++by[c];
  }
  double rate() const { return all == 0 ? 100 : 100.0 * killed / all; }
  std::string describe(std::string_view name) const {
    std::string s = fmt::format("{:28} {:4} of {:4} killed, {:5.1f} %", name, killed, all, rate());
    for (const auto& [who, n] : by) {
      if (who != Catcher::kNobody) s += fmt::format("  {} {}", name_of(who), n);
    }
    return s + "\n";
  }
};

/// Explains a survivor in the report.
const char* why_perhaps(const Job& j) {
  if (j.fault.layer == Layer::kRtl)
    return j.reached ? "the pins changed, within what is allowed" : "no pin ever changed";
  return j.reached ? "reached, without a difference" : "never reached";
}

bool report(const Settings& s, const std::vector<Job>& jobs) {
  std::map<std::string, Count> by_layer, by_kind;
  Count total, drawn, by_hand;
  bool good = true;
  uint32_t equivalents = 0;
  for (const Job& j : jobs) {
    const Catcher c = j.verdict.catcher;
    if (j.equivalent) {
      ++equivalents;
      if (c == Catcher::kNobody) continue;
      fmt::print("listed as changing nothing, but seen: {}\n", describe(j.fault));
      good = false;
      continue;
    }
    const std::string layer = kLayerNames[static_cast<size_t>(j.fault.layer)];
    by_layer[layer + (j.fault.by_hand ? ", by hand" : ", drawn")].add(c);
    by_kind[layer + ": " + j.fault.kind].add(c);
    (j.fault.by_hand ? by_hand : drawn).add(c);
    total.add(c);
    if (c == Catcher::kNobody) fmt::print("SURVIVED {}: {}\n", describe(j.fault), why_perhaps(j));
  }
  for (const auto& [name, count] : by_kind) fmt::print("{}", count.describe(name));
  for (const auto& [name, count] : by_layer) fmt::print("{}", count.describe(name));
  fmt::print("{}", total.describe("all"));
  fmt::print("sources drawn with seed {}, of these with seed {}; {} more change nothing\n",
             built_seed(), s.seed, equivalents);
  if (by_hand.killed != by_hand.all) fmt::print("each fault by hand must be killed\n");
  if (drawn.rate() < s.least) fmt::print("of those drawn {} % must be killed\n", s.least);
  return good && by_hand.killed == by_hand.all && drawn.rate() >= s.least;
}

Settings parse(const std::vector<std::string>& words) {
  Settings s;
  const std::map<std::string, std::function<void(const std::string&)>> values = {
      {"--seed", [&](const std::string& v) { s.seed = std::stoull(v); }},
      {"--count", [&](const std::string& v) { s.count = static_cast<uint32_t>(std::stoul(v)); }},
      {"--jobs",
       [&](const std::string& v) { s.jobs = std::max(1U, static_cast<uint32_t>(std::stoul(v))); }},
      {"--fault", [&](const std::string& v) { s.fault = static_cast<uint32_t>(std::stoul(v)); }},
      {"--least", [&](const std::string& v) { s.least = std::stod(v); }},
      {"--equivalent", [&](const std::string& v) { s.equivalent = v; }},
      {"--match", [&](const std::string& v) { s.match = v; }},
  };
  const std::map<std::string, bool*> flags = {
      {"--list", &s.list}, {"--all", &s.all}, {"--verbose", &s.verbose}};
  for (size_t i = 0; i < words.size(); ++i) {
    if (const auto f = flags.find(words[i]); f != flags.end())
      *f->second = true;
    else if (const auto v = values.find(words[i]); v != values.end() && i + 1 < words.size())
      v->second(words[++i]);
    else
      throw std::invalid_argument(fmt::format(
          "no option {}; --seed N --count N --all --fault N --match TEXT --list --jobs N "
          "--least PERCENT --equivalent FILE --verbose",
          words[i]));
  }
  return s;
}

int run(const std::vector<std::string>& words) {
  const Settings s = parse(words);
  const auto traces = trace_faults(s.seed, s.all ? 4 * kTracesDrawn : kTracesDrawn);
  std::vector<Job> jobs = jobs_of(s, traces);
  if (s.list) {
    for (const Job& j : jobs)
      fmt::print("{:4} {}{}\n", j.fault.number, j.fault.by_hand ? "" : "drawn ", describe(j.fault));
    return 0;
  }
  if (jobs.empty())
    throw std::invalid_argument(fmt::format("no fault {}; --list names them", s.fault));
  Runner(s, baseline(s)).run(jobs);
  if (s.fault != 0) return jobs[0].verdict.catcher != Catcher::kNobody ? 0 : 1;
  return report(s, jobs) ? 0 : 1;
}

}  // namespace
}  // namespace rnic::mutants

// libsystemc requires this function.
int sc_main(int, char**);
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  try {
    return rnic::mutants::run({argv + 1, argv + argc});
  } catch (const std::invalid_argument& e) {
    std::cerr << "mutants: " << e.what() << '\n';
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "mutants: " << e.what() << '\n';
    return 1;
  }
}
