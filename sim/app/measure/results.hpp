// `rnic-sim results`: measures the figures of docs/gen/results.md. Each part runs the programs that
// it needs, and adds rows to the first table and a section to the page.
//
//   Results r(options);  r.wire_limit();  r.small_writes();  ...
//   write_file("results.md", r.page());
//
// Simulated figures are exact and repeatable. Seconds are CPU time of the machine that printed
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/options.hpp"

namespace rnic::app {

struct TimingCase;

/// A row of the page's first table.
struct Figure {
  std::string what, measured, wanted;
  std::optional<bool> reached;  // empty: no goal, only printed
  std::string why;              // if not reached: a measurement of its cause
};

class Results {
 public:
  explicit Results(const Options& o) : options_(o) {}

  void wire_limit();    // 64 KiB, each operation
  void small_writes();  // 64 bytes on 8 QPs, and where the time is spent
  void goals();         // of the fast path, both directions
  void bandwidth();     // as a function of message size; --plot
  void stages();        // pushed doorbell to wire, wire to host memory
  void timing_error();  // of the model
  void flush();         // against a Read, step by step, in a log, rates, the model's error
  void atomics();       // rates of FetchAdd and CmpSwap, and the round trip of PCIe
  void keys();          // Writes with Immediate; fast registrations and windows
  void speed();         // of both simulations, and memory
  void logic();         // size and depth, from rtl/lint/sizes.txt
  void tests();         // time of all tests, from the output of tb/run.sh

  /// Runs a part. A part that adds no row to any table is an error.
  void part(const std::string& name, const std::function<void()>& run);
  std::string page() const;             // in Markdown
  nlohmann::ordered_json json() const;  // figures, and the JSON of all runs
  /// The highest exit status of a run or part so far.
  int status() const { return status_; }

 private:
  using Settings = std::vector<std::string>;
  /// A run of the program on two devices of this kind, with these settings ("size=64").
  RunRequest request(const std::string& program, const char* kind, const Settings& settings) const;
  /// Runs each request in a child process, up to `jobs` at a time. The outcomes have the order of
  /// the requests. A failed run raises status().
  std::vector<Outcome> run(const std::vector<RunRequest>& requests, unsigned jobs);
  Outcome run(const RunRequest& r) { return run(std::vector{r}, 1).front(); }
  /// Adds a row to the first table. `why` is kept only if the goal was not reached.
  void figure(const std::string& what, const std::string& measured, const std::string& wanted,
              std::optional<bool> reached, const std::string& why = "");
  /// Adds a section to the page, and counts the rows of its tables.
  void section(const std::string& title, const std::string& text);
  /// Reports on stderr a figure that could not be measured; status() becomes kMismatch or higher.
  void missing(const std::string& what);
  /// Average and worst error; with the wanted values if this is a goal.
  void error_figure(const std::string& what, const std::vector<TimingCase>& all, bool is_goal);
  /// Reports messages of a run without a critical path (LatencyPath) by missing().
  void check_path(const Outcome& o);
  /// Adds a section with the steps of a message's critical path, RTL and model side by side.
  void path_section(const std::string& what, const Outcome& rtl, const Outcome& model);
  void flush_against_read();
  void flush_log();
  void flush_pipelined();
  void flush_rate();

  const Options& options_;
  std::vector<Figure> figures_;
  std::string sections_;
  std::vector<nlohmann::ordered_json> runs_;
  size_t done_ = 0, rows_ = 0;  // done_: runs so far; rows_: rows of all tables
  int status_ = kGood;
};

/// A figure of a run's JSON; 0 if the run has none of this name.
double number(const nlohmann::ordered_json& run, const char* key);
/// The streams that wait most, in decreasing order; at most `most`.
std::string waiting(const nlohmann::ordered_json& streams, size_t most);
/// A table in Markdown; the first row is the heading.
std::string markdown(const std::vector<std::vector<std::string>>& rows);
/// Cycles of the device in `ns` at the nominal clock.
double cycles(double ns);
std::string one_digit(double x);  // x with one digit after the point

/// A program on RTL devices and on models.
struct TimingCase {
  std::string program, size, mtu = "1500", qps;
  bool is_both = false;     // both directions at once
  uint64_t operations = 0;  // measured operations on each
  bool is_latency = false;
  bool is_alone = false;      // only the devices, without host, PCIe and link: LatencyPath
  double rtl = 0, model = 0;  // Gb/s, or the average in ns
  double platform = 0;        // is_alone: ns of the RTL's latency that are not the devices'
  std::string limit;          // the wire that limits the RTL's run; empty: none
  /// By which share the model is above the RTL.
  double error() const { return rtl == 0 ? 0 : model / rtl - 1; }
  std::string point() const;  // size and settings
  /// Adds the figures of the two runs (their --json).
  void take(const nlohmann::ordered_json& of_rtl, const nlohmann::ordered_json& of_model);
};
/// The rows of a table of these cases, with a heading. `with_limit`: with a column for `limit`.
std::vector<std::vector<std::string>> rows_of(const std::vector<TimingCase>& all, bool with_limit);

/// Smallest, middle and largest value of several measurements.
struct Spread {
  double least = 0, median = 0, most = 0;
};
Spread spread_of(std::vector<double> values);

/// Maximum of LUT6 levels of a path: the limit of rtl/lint/depth.sh.
inline constexpr unsigned long kMostLevels = 11;
/// Goals of architecture 16: LUT6 levels of a path, LUT6 of the default build.
inline constexpr unsigned long kGoalLevels = 8, kGoalLuts = 65'000;

/// rtl/lint/sizes.txt, a line per unit; or the output of rtl/lint/depth.sh, where memories and
/// errors follow the line of a unit. Throws Usage.
struct Depth {
  // The first row is the heading. sizes.txt: unit, LUT6, flops, memory bits, levels; depth.sh:
  // unit, LUT6, flops, levels, memories, memory bits.
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> complaints;  // "unit: FAIL ..."
  std::string chip_luts;                // of rnic; empty: the output has no line for it
};
Depth read_depth(const std::string& file);

/// The output of tb/run.sh: a line per step, and the total time. Throws Usage.
struct TestTimes {
  struct Step {
    double seconds;
    std::string name;
    bool passed;
  };
  std::vector<Step> steps;
  double all = -1;  // seconds of the whole run
};
TestTimes read_test_times(const std::string& file);

int results_command(Options& o);  // the figures of docs/gen/results.md

}  // namespace rnic::app
