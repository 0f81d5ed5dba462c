// The command sweep: runs the points, and writes table and plot. See sweep.hpp.
#include "sweep/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "output/files.hpp"
#include "output/report.hpp"
#include "run/child.hpp"
#include "settings/read_file.hpp"
#include "settings/words.hpp"
#include "sweep/definition.hpp"
#include "sweep/plot.hpp"
#include "sweep/state.hpp"
#include "sweep/table.hpp"

namespace rnic::app {
namespace {

using namespace sweep;

constexpr size_t kMostPrinted = 64;  // rows on the standard output, if --csv holds them all

/// Runs a point. A refusal (Usage) becomes an outcome, which is a row of the table:
/// in_children_any_order() would end the sweep with the exception.
Outcome run_or_refused(const Definition& d, uint64_t point, bool has_json) {
  try {
    RunRequest r = d.request(point);
    r.stalls = has_json;
    r.path = r.cdf = is_latency(r);
    return app::run(r);
  } catch (const Usage& e) {
    return {.status = kGood, .json = {{"refused", e.what()}}, .failure = ""};
  }
}

/// Refuses, before anything runs, a plot of latencies that no program of the sweep has.
void check_latency(const Definition& d, const PlotSpec& plot) {
  const bool is_of_latency = plot.kind == PlotSpec::Kind::kPercentiles ||
                             plot.kind == PlotSpec::Kind::kCdf ||
                             plot.kind == PlotSpec::Kind::kTime || plot.y.starts_with("latency_") ||
                             plot.y.starts_with("path_");
  if (!is_of_latency) return;
  const std::vector<std::string> programs = d.json()["programs"];
  for (const std::string& program : programs) {
    RunRequest r;
    r.program = program;
    if (is_latency(r)) return;
  }
  throw Usage(
      fmt::format("--y {}: {} measures no latencies; the programs named _lat and pingpong do",
                  plot.y, fmt::join(programs, ", ")));
}

/// Identifies the program file, so that no sweep continues with the figures of another build.
std::string build_id() {
  const std::vector<uint8_t> self = read_file("/proc/self/exe");
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256(self.data(), self.size(), digest);
  std::string s;
  for (size_t i = 0; i < 16; ++i) s += fmt::format("{:02x}", digest[i]);
  return s;
}

/// The line of progress on a terminal.
class Progress {
 public:
  Progress(bool is_shown, size_t n) : is_shown_(is_shown && isatty(STDERR_FILENO) != 0), of_(n) {
    show();
  }
  ~Progress() {
    if (is_shown_) fmt::print(stderr, "\r{:70}\r", "");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step() {
    ++done_;
    show();
  }

 private:
  void show() {
    if (!is_shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (done_ != 0 && done_ != of_ && now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    const double s = std::chrono::duration<double>(now - began_).count();
    const std::string left =
        done_ == 0 ? ""
                   : fmt::format("{:.0f} s left",
                                 s * static_cast<double>(of_ - done_) / static_cast<double>(done_));
    fmt::print(stderr, "\rsweep: {} of {} points  {:.0f} s  {:20}", done_, of_, s, left);
  }

  bool is_shown_;
  size_t done_ = 0, of_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

/// The table with the columns that a reader wants on a screen, and at most kMostPrinted rows.
std::string screen(const Table& t) {
  std::vector<std::string> columns = t.dimensions();
  const auto add = [&](const char* c) {
    if (std::ranges::find(columns, c) != columns.end()) return;
    const bool is_there = std::ranges::any_of(
        t.rows(), [&](const auto& row) { return !t.cell(row.second, c).empty(); });
    if (is_there) columns.emplace_back(c);
  };
  const bool is_latency = std::ranges::any_of(
      t.rows(), [&](const auto& row) { return !t.cell(row.second, "latency_p50_ns").empty(); });
  if (is_latency) {
    add("latency_p50_ns");
    add("latency_p99_ns");
  } else {
    add("gbps");
    add("msg_per_s");
  }
  for (const char* c : {"model_error", "limit", "limit_use", "next", "next_use", "reason"}) add(c);
  std::vector<std::vector<std::string>> rows{columns};
  for (const auto& [point, row] : t.rows()) {
    if (rows.size() > kMostPrinted) break;
    std::vector<std::string>& cells = rows.emplace_back();
    for (const std::string& c : columns) {
      const auto n = t.number(row, c);
      const bool is_figure = std::ranges::find(t.dimensions(), c) == t.dimensions().end();
      cells.push_back(!n || !is_figure                    ? t.cell(row, c)
                      : c.ends_with("_use")               ? fmt::format("{:.0f} %", 100 * *n)
                      : c == "msg_per_s"                  ? fmt::format("{:.0f}", *n)
                      : c == "gbps" || c == "model_error" ? fmt::format("{:.2f}", *n)
                                                          : fmt::format("{:.1f}", *n));
    }
  }
  std::string text = rnic::app::table(rows);
  if (t.rows().size() > kMostPrinted) text += fmt::format("... {} rows in all\n", t.rows().size());
  return text;
}

bool is_on_output(const Options& o) { return o.csv == "-" || o.json == "-"; }

/// Writes the table and the plot. The plot comes last: if gnuplot is missing, the table is written.
void finish(const Options& o, const Table& table, const std::optional<PlotSpec>& plot,
            State* state = nullptr) {
  if (!o.csv.empty()) write_file(o.csv, table.csv());
  if (!o.quiet && !is_on_output(o)) std::fputs(screen(table).c_str(), stdout);
  if (state != nullptr) state->remove();
  if (plot) write_file(o.plot, draw(table, *plot));
}

int merge(const Options& o) {
  const TypedOptions& t = o.typed;
  if (o.words.empty()) throw Usage("sweep --merge: say the parts, written by sweep --csv");
  if (!t.sets.empty() || !t.configs.empty() || !t.links.empty() || !t.shard.empty() ||
      !t.state.empty() || t.timeout_s != 0 || !o.json.empty())
    throw Usage("sweep --merge: takes only --csv, --plot, --x, --y, --by and --quiet");
  for (const std::string& file : o.words) {
    Files files = o.request.files;
    files.read.push_back({"--merge", file});
    files.check();
  }
  const Table table = merged(o.words);
  std::optional<PlotSpec> plot;
  if (!o.plot.empty()) plot = plot_spec(dimensions_of(table), {.x = t.x, .y = t.y, .by = t.by});
  finish(o, table, plot);
  return kGood;
}

}  // namespace

int sweep_command(Options& o) {
  const TypedOptions& typed = o.typed;
  if (o.plot.empty() && (!typed.x.empty() || !typed.y.empty() || !typed.by.empty()))
    throw Usage("--x, --y, --by: of a plot (--plot FILE.svg)");
  if (typed.merge) return merge(o);
  const Definition d(o);
  const Grid& grid = d.grid();
  const Shard shard = typed.shard.empty() ? Shard{} : shard_of(typed.shard);
  std::optional<PlotSpec> plot;
  if (!o.plot.empty()) {
    if (shard.of != 1) throw Usage("--plot: of a whole sweep; --merge draws the parts of --shard");
    plot = plot_spec(grid.dimensions(), {.x = typed.x, .y = typed.y, .by = typed.by});
    check_latency(d, *plot);
  }
  if (o.print_config) {
    fmt::print("{}\n", d.json().dump(2));
    return kGood;
  }
  nlohmann::ordered_json definition{{"sweep", d.json()},
                                    {"shard", fmt::format("{}/{}", shard.number, shard.of)},
                                    {"detailed", !o.json.empty()},
                                    {"build", build_id()}};
  // The state file is next to a table that is a file; a device or a pipe has none.
  const bool is_file = !std::filesystem::exists(o.csv) || std::filesystem::is_regular_file(o.csv);
  const std::string state_file = !typed.state.empty()                        ? typed.state
                                 : o.csv.empty() || o.csv == "-" || !is_file ? std::string()
                                                                             : o.csv + ".state";
  std::optional<State> state;
  if (!state_file.empty()) {
    Files files = o.request.files;
    files.written.push_back({"--state", state_file});
    files.check();
    state.emplace(state_file, definition);
  }

  Table table(d.digest(), grid);
  std::map<uint64_t, nlohmann::ordered_json> runs;  // for --json
  std::string failures;
  int worst = kGood;
  const auto take = [&](uint64_t point, const Outcome& outcome) {
    const Grid::Point at = grid.at(point);
    table.add(point, at, outcome);
    if (!o.json.empty()) runs[point] = outcome.json;
    if (outcome.status == kGood) return;
    worst = std::max<int>(worst, outcome.status);
    if (std::ranges::count(failures, '\n') < 40)  // a screen; the table has them all
      failures += fmt::format("point {}: {}\nreproduce: {}\n", point,
                              outcome.failure.substr(0, outcome.failure.find('\n')),
                              reproduce(d.request(point)));
  };
  if (state) {
    state->each([&](uint64_t point, const Outcome& outcome) {
      if (point < grid.size() && shard.has(point)) take(point, outcome);
    });
  }
  std::vector<uint64_t> points;
  for (uint64_t p = shard.number - 1; p < grid.size(); p += shard.of) {
    if (!table.rows().contains(p)) points.push_back(p);
  }
  if (!table.rows().empty() && !o.quiet)
    fmt::print(stderr, "sweep: {} points are done already ({}), {} are left\n", table.rows().size(),
               state_file, points.size());
  try {
    Progress progress(!o.quiet, points.size());
    in_children_any_order(
        points.size(), o.jobs,
        [&](size_t i) { return run_or_refused(d, points[i], !o.json.empty()); },
        [&](size_t i, const Outcome& outcome) {
          if (state) state->add(points[i], outcome);
          take(points[i], outcome);
          progress.step();
          return true;
        },
        {.wall_s = typed.timeout_s, .until = {}});
  } catch (const Interrupted&) {
    fmt::print(stderr, "sweep: interrupted after {} points{}\n", table.rows().size(),
               state ? fmt::format("; the same command continues ({})", state_file)
                     : "; with --csv or --state a sweep can continue");
    throw;
  }
  table.compare_devices();
  // is_refused: every point has the status kWrongUse (2).
  const bool is_refused =
      !table.rows().empty() && std::ranges::all_of(table.rows(), [&](const auto& row) {
        return table.cell(row.second, "status") == "2";
      });
  const std::string lost = write_files(worst, [&] {
    if (!o.json.empty()) {
      nlohmann::ordered_json j{{"sweep", d.json()}, {"points", nlohmann::ordered_json::array()}};
      for (auto& [point, run] : runs) {
        nlohmann::ordered_json at;
        for (const auto& [name, value] : grid.at(point)) at[name] = value;
        j["points"].push_back({{"point", point}, {"at", at}, {"run", std::move(run)}});
      }
      write_file(o.json, j.dump(2) + "\n");
    }
    finish(o, table, is_refused ? std::nullopt : plot, state ? &*state : nullptr);
  });
  std::fflush(stdout);
  std::fputs((lost + failures).c_str(), stderr);
  if (is_refused && worst == kGood) {
    fmt::print(stderr, "sweep: no point can run: {}\n",
               table.cell(table.rows().begin()->second, "reason"));
    return kWrongUse;
  }
  return worst;
}

}  // namespace rnic::app
