// Results as text, CSV and JUnit. See report.hpp.
#include "output/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "output/csv.hpp"

namespace rnic::app {

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? fmt::format("{:<{}}", row[i], width[i])
                     : fmt::format("  {:>{}}", row[i], width[i]);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

nlohmann::ordered_json latency_json(std::vector<uint64_t> samples_ps, bool has_cdf) {
  if (samples_ps.empty()) return nullptr;
  std::ranges::sort(samples_ps);
  const auto ns = [](uint64_t ps) { return static_cast<double>(ps) / 1000; };
  const auto at = [&](double q) {
    return ns(samples_ps[static_cast<size_t>(q * static_cast<double>(samples_ps.size() - 1))]);
  };
  double sum = 0;
  for (const uint64_t t : samples_ps) sum += ns(t);
  nlohmann::ordered_json j{{"min", at(0)},
                           {"p50", at(0.5)},
                           {"p99", at(0.99)},
                           {"max", at(1)},
                           {"avg", sum / static_cast<double>(samples_ps.size())}};
  for (int percent = 0; has_cdf && percent <= 100; ++percent)
    j["cdf"].push_back(at(percent / 100.0));
  return j;
}

double median_latency(const nlohmann::ordered_json& run) {
  const auto it = run.find("latency_ns");
  return it == run.end() || it->is_null() ? 0 : (*it)["p50"].get<double>();
}

std::string tandem_text(const nlohmann::ordered_json& tandem) {
  std::string out;
  for (const auto& [side, t] : tandem.items()) {
    std::string compared;
    for (const auto& [kind, n] : t["compared"].items()) {
      if (n.get<uint64_t>() != 0)
        compared += fmt::format("{}{} {}", compared.empty() ? "" : ", ", n.get<uint64_t>(), kind);
    }
    uint64_t judged = 0;
    for (const auto& [rule, n] : t["judged"].items()) judged += n.get<uint64_t>();
    out += fmt::format(
        "tandem {}: {} commits followed; compared: {}; order judged {} times; differences: 0\n",
        side, t["commits"].get<uint64_t>(), compared, judged);
  }
  return out;
}

std::string text_of(const nlohmann::ordered_json& r) {
  std::string out = fmt::format("{}: client {}, server {}, seed {}\n",
                                r["program"].get<std::string>(), r["client"].get<std::string>(),
                                r["server"].get<std::string>(), r["seed"].get<uint64_t>());
  if (r.contains("power_failed_ns"))
    for (const auto& [side, ns] : r["power_failed_ns"].items())
      out += fmt::format("power of the {} failed at {} ns\n", side, ns.get<uint64_t>());
  if (r.contains("power_held_ns"))
    for (const auto& [side, ns] : r["power_held_ns"].items())
      out += fmt::format("power of the {} did not fail: the programs had ended at {} ns\n", side,
                         ns.get<uint64_t>());
  if (r.contains("log")) {
    const auto& l = r["log"];
    out += fmt::format("log by {} under {}: {} records acknowledged, {} recovered, {} lost\n",
                       l["method"].get<std::string>(), l["domain"].get<std::string>(),
                       l["acknowledged"].get<uint64_t>(), l["recovered"].get<uint64_t>(),
                       l["lost"].get<uint64_t>());
  }
  if (r.contains("limit_events"))
    out += fmt::format("limit events of the shared receive queues: client {}, server {}\n",
                       r["limit_events"]["client"].get<uint64_t>(),
                       r["limit_events"]["server"].get<uint64_t>());
  if (r["sim_ns"] == 0) return out + "nothing was measured\n";
  std::vector<std::vector<std::string>> rows;
  if (!r["latency_ns"].is_null()) {
    const auto& l = r["latency_ns"];
    out += r["half_round_trip"].get<bool>() ? "latency in us, half the round trip\n"
                                            : "latency in us, the whole operation\n";
    rows = {{"#bytes", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]",
             "t_avg[usec]", "99%[usec]"},
            {fmt::format("{}", r["size"].get<uint64_t>()),
             fmt::format("{}", r["ops"].get<uint64_t>())}};
    for (const char* k : {"min", "max", "p50", "avg", "p99"})
      rows[1].push_back(fmt::format("{:.3f}", l[k].get<double>() / 1000));
  } else {
    rows = {
        {"#bytes", "#iterations", "BW average[Gb/sec]", "MsgRate[Mpps]", "wire limit[Gb/sec]"},
        {fmt::format("{}", r["size"].get<uint64_t>()), fmt::format("{}", r["ops"].get<uint64_t>()),
         fmt::format("{:.2f}", r["gbps"].get<double>()),
         fmt::format("{:.3f}", r["msg_per_s"].get<double>() / 1e6),
         fmt::format("{:.2f}", r["wire_limit_gbps"].get<double>())}};
    if (r.value("window", "") == "whole")
      out +=
          "from the first post until all has arrived: no warm-up, so the first and the last "
          "latency are in it\n";
  }
  out += table(rows);
  if (r["status"] == 0 && r.contains("tandem")) out += tandem_text(r["tandem"]);
  return out;
}

std::string stages_of(const nlohmann::ordered_json& run) {
  std::string out;
  for (const auto& [side, streams] : run["streams"].items()) {
    for (const auto& [path, steps] : run["stages"][side].items()) {
      if (steps.size() < 2) continue;
      std::vector<std::vector<std::string>> rows{
          {fmt::format("{}: {}, {} messages", side, path, steps[0]["messages"].get<uint64_t>()),
           "cycles", "since the start"}};
      for (const auto& s : steps)
        rows.push_back({s["what"], fmt::format("{:.0f}", s["cycles"].get<double>()),
                        fmt::format("{:.0f}", s["since_start"].get<double>())});
      out += "\n" + table(rows);
    }
    std::vector<std::vector<std::string>> rows{
        {side + ": stream", "from", "to", "moved", "waited"}};
    for (const auto& s : streams) {
      const double moved = s["moved"], waited = s["waited"];
      if (moved + waited >= 0.005)
        rows.push_back({s["name"], s["from"], s["to"], fmt::format("{:.1f} %", 100 * moved),
                        fmt::format("{:.1f} %", 100 * waited)});
    }
    out += "\n" + (rows.size() > 1 ? table(rows)
                                   : side + ": no stream moved or waited in 0.5 % of the cycles\n");
  }
  return out;
}

std::string junit(const std::string& suite, const std::vector<TestCase>& cases) {
  const auto xml = [](const std::string& text) {
    std::string out;
    for (const char c : text) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += static_cast<uint8_t>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
      }
    }
    return out;
  };
  const auto failures =
      std::ranges::count_if(cases, [](const TestCase& c) { return !c.failure.empty(); });
  double seconds = 0;
  for (const TestCase& c : cases) seconds += c.seconds;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" time=\"{:.3f}\">\n",
      xml(suite), cases.size(), failures, seconds);
  for (const TestCase& c : cases) {
    out += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml(suite),
                       xml(c.name), c.seconds);
    const std::string first = c.failure.substr(0, c.failure.find('\n'));
    out += c.failure.empty()
               ? "/>\n"
               : fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                             xml(first), xml(c.failure));
  }
  return out + "</testsuite>\n";
}

namespace {

/// The value of a run in a column. Empty if the run lacks it or has not measured it.
std::string csv_cell(const nlohmann::ordered_json& run, const std::string& column) {
  const bool is_rate = column == "gbps" || column == "msg_per_s";
  const bool is_measured = run.value("sim_ns", 0.0) > 0;
  if (column == "latency_p50_ns") {
    const auto it = run.find("latency_ns");
    return it == run.end() || it->is_null() ? "" : (*it)["p50"].dump();
  }
  if (!run.contains(column) || (is_rate && !is_measured)) return "";
  if (column != "settings")
    return run[column].is_string() ? run[column].get<std::string>() : run[column].dump();
  std::string words;
  for (const auto& [name, value] : run[column].items())
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value.get<std::string>());
  return words;
}

}  // namespace

std::string csv(const std::vector<nlohmann::ordered_json>& runs) {
  constexpr std::array kColumns = {
      "program", "client", "server",    "seed",           "size",       "ops",    "bytes",
      "sim_ns",  "gbps",   "msg_per_s", "latency_p50_ns", "mismatches", "status", "settings"};
  std::string out = fmt::format("{}\n", fmt::join(kColumns, ","));
  for (const auto& r : runs) {
    CsvRow cells;
    for (const char* column : kColumns) cells.push_back(csv_cell(r, column));
    out += csv_line(cells);
  }
  return out;
}

}  // namespace rnic::app
