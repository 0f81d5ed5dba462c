// The command results: its frame, and the parts that simulate only the RTL. See results.hpp.
#include "measure/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/clock.hpp"
#include "output/files.hpp"
#include "output/gnuplot.hpp"
#include "output/report.hpp"
#include "run/child.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

double number(const nlohmann::ordered_json& run, const char* key) {
  return run.contains(key) ? run[key].get<double>() : 0;
}

std::string waiting(const nlohmann::ordered_json& streams, size_t most) {
  std::vector<std::pair<double, std::string>> all;
  for (const auto& s : streams) {
    const double waited = s["waited"];
    if (waited >= 0.01)
      all.emplace_back(waited, fmt::format("`{}` ({} for {}) {}", s["name"].get<std::string>(),
                                           s["from"].get<std::string>(), s["to"].get<std::string>(),
                                           percent(waited)));
  }
  std::ranges::sort(all, std::greater<>());
  std::string out;
  for (size_t i = 0; i < std::min(most, all.size()); ++i)
    out += (i == 0 ? "" : ", ") + all[i].second;
  return all.empty() ? "none" : out;
}

std::string markdown(const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i != 0) continue;
    for (size_t k = 0; k < rows[0].size(); ++k) out += "|---";
    out += "|\n";
  }
  return out + "\n";
}

RunRequest Results::request(const std::string& program, const char* kind,
                            const Settings& settings) const {
  RunRequest r = options_.request;
  r.program = program;
  r.kind = {kind, kind};
  for (const auto& s : settings) r.config.set(s, "results");
  return r;
}

std::vector<Outcome> Results::run(const std::vector<RunRequest>& requests, unsigned jobs) {
  std::vector<Outcome> outs;
  for (const RunRequest& r : requests) check(r);
  in_children(
      requests.size(), jobs, [&](size_t i) { return app::run(requests[i]); },
      [&](size_t i, Outcome out) {
        if (!options_.quiet)
          fmt::print(stderr, "{:3} {:7.1f} s  {}\n", ++done_, out.wall_s, reproduce(requests[i]));
        if (out.status != kGood) {
          fmt::print(stderr, "{}reproduce: {}\n", out.failure, reproduce(requests[i]));
          status_ = std::max<int>(status_, out.status);
        }
        runs_.push_back(out.json);
        outs.push_back(std::move(out));
        return true;
      });
  return outs;
}

void Results::figure(const std::string& what, const std::string& measured,
                     const std::string& wanted, std::optional<bool> reached,
                     const std::string& why) {
  ++rows_;
  figures_.push_back({what, measured, wanted, reached, reached.value_or(true) ? "" : why});
}
void Results::section(const std::string& title, const std::string& text) {
  // Rows of a table start with "| ". One of them is the heading, above the line "|---".
  std::istringstream in(text);
  size_t lines = 0, tables = 0;
  for (std::string line; std::getline(in, line);) {
    lines += line.starts_with("| ");
    tables += line.starts_with("|---");
  }
  rows_ += lines - tables;
  sections_ += fmt::format("## {}\n\n{}", title, text);
}

void Results::part(const std::string& name, const std::function<void()>& run) {
  const size_t before = rows_;
  run();
  if (rows_ == before)
    missing(fmt::format("{}: nothing was measured, its tables have no row", name));
}

void Results::missing(const std::string& what) {
  fmt::print(stderr, "results: {}\n", what);
  status_ = std::max<int>(status_, kMismatch);
}

void Results::wire_limit() {
  const Settings s{"size=65536", "count=64", "depth=16", "warmup=16"};
  std::vector<RunRequest> requests;
  for (const char* p : {"write_bw", "send_bw", "read_bw"}) {
    requests.push_back(request(p, "rtl", s));
    requests.back().streams = requests.back().wires = true;
  }
  std::vector<std::vector<std::string>> rows{{"program", "Gb/s", "messages/s", "of the wire limit",
                                              "client: what waits, of all cycles", "server"}};
  for (const Outcome& o : run(requests, options_.jobs)) {
    if (o.status != kGood) continue;
    const double share = number(o.json, "gbps") / number(o.json, "wire_limit_gbps");
    const std::string program = o.json["program"];
    figure(fmt::format("{} 64 KiB, MTU 1500, RTL, one way", program),
           fmt::format("{:.2f} Gb/s, {} of the wire limit", number(o.json, "gbps"), percent(share)),
           "85 %", share >= 0.85,
           fmt::format("what waits most: client {}; server {}",
                       waiting(o.json["streams"]["client"], 3),
                       waiting(o.json["streams"]["server"], 3)));
    rows.push_back({program, fmt::format("{:.2f}", number(o.json, "gbps")),
                    fmt::format("{:.0f}", number(o.json, "msg_per_s")), percent(share),
                    waiting(o.json["streams"]["client"], 3),
                    waiting(o.json["streams"]["server"], 3)});
  }
  section("64 KiB messages on one QP, RTL", markdown(rows));
}

void Results::small_writes() {
  RunRequest r =
      request("write_bw", "rtl", {"size=64", "count=700", "warmup=64", "qps=2", "threads=4"});
  r.streams = r.wires = true;
  const Outcome o = run(r);
  if (o.status != kGood) return;
  const double rate = number(o.json, "msg_per_s") / 1e6;
  figure(
      "Write 64 B, 8 QPs in 4 threads, RTL", fmt::format("{:.2f} M/s", rate),
      "20 M/s; the goal is line rate, 77 M/s", rate >= 20,
      fmt::format("what waits most: client {}; server {}", waiting(o.json["streams"]["client"], 3),
                  waiting(o.json["streams"]["server"], 3)));
  std::string text = "Of all cycles of the measured time: client waits " +
                     waiting(o.json["streams"]["client"], 6) + "; server " +
                     waiting(o.json["streams"]["server"], 6) + ".\n\n";
  std::vector<std::vector<std::string>> rows{
      {"stream", "from", "to", "client moved", "client waited", "server moved", "server waited"}};
  const auto &client = o.json["streams"]["client"], &server = o.json["streams"]["server"];
  for (size_t i = 0; i < client.size(); ++i) {
    const double all = client[i]["moved"].get<double>() + client[i]["waited"].get<double>() +
                       server[i]["moved"].get<double>() + server[i]["waited"].get<double>();
    if (all < 0.005) continue;
    rows.push_back({"`" + client[i]["name"].get<std::string>() + "`", client[i]["from"],
                    client[i]["to"], percent(client[i]["moved"]), percent(client[i]["waited"]),
                    percent(server[i]["moved"]), percent(server[i]["waited"])});
  }
  text += markdown(rows) +
          "Counters of the units since reset, as software reads them (items; cycles in which "
          "something moved; in which something was offered and not taken):\n\n";
  std::vector<std::vector<std::string>> units{
      {"unit", "client items", "busy", "stalled", "server items", "busy", "stalled"}};
  for (const auto& [name, u] : o.json["units"]["client"].items()) {
    std::vector<std::string> row{name};
    for (const auto& side : {u, o.json["units"]["server"][name]}) {
      for (const char* k : {"items", "busy", "stalled"})
        row.push_back(fmt::format("{}", side[k].get<uint64_t>()));
    }
    units.push_back(row);
  }
  section("64-byte Writes, 8 QPs in 4 threads, RTL: where the time goes", text + markdown(units));
}

void Results::stages() {
  RunRequest r =
      request("write_lat", "rtl", {"size=64", "inline=64", "push=1", "count=24", "warmup=4"});
  r.streams = true;
  const Outcome o = run(r);
  if (o.status != kGood) return;
  std::string text = fmt::format(
      "Medians over the client's messages of one run of `write_lat`, {} operations after {} of "
      "warm-up; a row's cycles are those since the row above.\n\n",
      o.json["ops"].get<uint64_t>(), r.config.find("warmup").value);
  for (const auto& [key, title] :
       {std::pair{"push_to_wire", "pushed doorbell to first LLP beat, 64 B inline"},
        {"wire_to_host", "last LLP beat to first host-write beat, 64 B"}}) {
    std::vector<std::vector<std::string>> rows{
        {title, "cycles", "cycles since the start", "ns since the start"}};
    double cycles = 0;
    for (const auto& s : o.json["stages"]["client"][key]) {
      cycles = s["since_start"];
      rows.push_back({s["what"], fmt::format("{:.0f}", s["cycles"].get<double>()),
                      fmt::format("{:.0f}", cycles),
                      fmt::format("{:.1f}", cycles * base::kPsPerCycle / 1000)});
    }
    figure(title,
           fmt::format("{:.0f} cycles, {:.1f} ns", cycles, cycles * base::kPsPerCycle / 1000),
           "printed", std::nullopt);
    text += markdown(rows);
  }
  section("Latency in the RTL, stage by stage", text);
}

std::string Results::page() const {
  std::string out = "# Results\n\nPrinted by `rnic-sim results`; preset " +
                    options_.request.config.preset() +
                    ". Simulated figures are exact and repeat; seconds are CPU time on the machine "
                    "that printed them.\n\n";
  std::vector<std::vector<std::string>> rows{{"what", "measured", "wanted", "reached"}};
  for (const Figure& f : figures_)
    rows.push_back({f.what, f.measured, f.wanted,
                    !f.reached   ? "-"
                    : *f.reached ? "yes"
                                 : "**no**"});
  if (rows.size() > 1) out += markdown(rows);
  std::string why;
  for (const Figure& f : figures_) {
    if (f.reached && !*f.reached)
      why += fmt::format("- {} ({}, wanted {}): {}.\n", f.what, f.measured, f.wanted, f.why);
  }
  if (!why.empty()) out += "Not reached, and why:\n\n" + why + "\n";
  return out + sections_;
}

nlohmann::ordered_json Results::json() const {
  nlohmann::ordered_json j;
  for (const Figure& f : figures_) {
    auto& row = j["figures"].emplace_back(
        nlohmann::ordered_json{{"what", f.what}, {"measured", f.measured}, {"wanted", f.wanted}});
    if (f.reached) row["reached"] = *f.reached;
    if (!f.why.empty()) row["why"] = f.why;
  }
  j["runs"] = runs_;
  return j;
}

int results_command(Options& o) {
  struct Part {
    const char* name;
    void (Results::*run)();
  };
  constexpr std::array kParts = {
      Part{"limit", &Results::wire_limit},    Part{"small", &Results::small_writes},
      Part{"goals", &Results::goals},         Part{"bandwidth", &Results::bandwidth},
      Part{"stages", &Results::stages},       Part{"flush", &Results::flush},
      Part{"atomics", &Results::atomics},     Part{"keys", &Results::keys},
      Part{"timing", &Results::timing_error}, Part{"speed", &Results::speed},
      Part{"logic", &Results::logic},         Part{"tests", &Results::tests}};
  std::vector<std::string> names;
  for (const Part& p : kParts) names.emplace_back(p.name);
  for (const std::string& w : o.words) {
    if (std::ranges::find(names, w) == names.end())
      throw Usage(fmt::format("results: no part \"{}\"{}; {}", w, nearest(w, names),
                              fmt::join(names, ", ")));
  }
  check_settings(o, "results", {"timeout_us", "mpa_crc", "mpa_markers", "mpa_revision"});
  const auto is_asked = [&](const char* part) {
    return o.words.empty() || std::ranges::find(o.words, part) != o.words.end();
  };
  if (!o.depth.empty() && !is_asked("logic") && !is_asked("speed"))
    throw Usage(
        fmt::format("results: --depth {} has no effect (logic and speed read it)", o.depth));
  if (!o.ci.empty() && !is_asked("tests"))
    throw Usage(fmt::format("results: --ci {} has no effect (tests reads it)", o.ci));
  if (!o.plot.empty() && !is_asked("bandwidth"))
    throw Usage(fmt::format("results: --plot {} has no effect (bandwidth draws it)", o.plot));
  if (!o.plot.empty()) check_gnuplot(o.plot);
  if (!o.depth.empty()) (void)read_depth(o.depth);  // reports its errors before the long runs
  if (!o.ci.empty()) (void)read_test_times(o.ci);
  if (o.print_config) return print_config(o);
  Results r(o);
  for (const Part& p : kParts) {
    if (is_asked(p.name)) r.part(p.name, [&] { (r.*p.run)(); });
  }
  const std::string lost = write_files(r.status(), [&] {
    if (!o.page.empty() || o.json != "-") write_file(o.page.empty() ? "-" : o.page, r.page());
    if (!o.json.empty()) write_file(o.json, r.json().dump(2) + "\n");
  });
  fmt::print(stderr, "{}", lost);
  return r.status();
}

}  // namespace rnic::app
