// Where the latency of one message at a time goes, as a section of results. See results.hpp.
#include <fmt/format.h>

#include <cmath>

#include "base/clock.hpp"
#include "measure/results.hpp"

namespace rnic::app {

double cycles(double ns) { return ns * 1000 / base::kPsPerCycle; }
std::string one_digit(double x) { return fmt::format("{:.1f}", x); }

namespace {

/// The steps of the RTL's path, one per row, with their running sum. The model's step of the same
/// place in its path is next to them, if it has the same name.
std::string path_table(const nlohmann::ordered_json& rtl, const nlohmann::ordered_json& model) {
  std::vector<std::vector<std::string>> rows{{"where", "step", "ns", "ns since the post",
                                              "device, cycles", "model, ns",
                                              "model, device, cycles"}};
  double sum = 0, of_model = 0;
  const auto &steps = rtl["steps"], &others = model["steps"];
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto& s = steps[i];
    const double t = s["ns"];
    sum += t;
    const bool is_device = s["kind"] == "device";
    std::vector<std::string> row{
        fmt::format("{} {}", s["side"].get<std::string>(), s["kind"].get<std::string>()), s["what"],
        one_digit(t), one_digit(sum), is_device ? one_digit(cycles(t)) : ""};
    const bool is_same = i < others.size() && others[i]["what"] == s["what"];
    const double m = is_same ? others[i]["ns"].get<double>() : 0;
    of_model += m;
    row.insert(row.end(),
               {is_same ? one_digit(m) : "-", is_same && is_device ? one_digit(cycles(m)) : ""});
    rows.push_back(std::move(row));
  }
  rows.push_back({"sum", "", one_digit(sum), "", one_digit(cycles(number(rtl, "device_ns"))),
                  one_digit(of_model), one_digit(cycles(number(model, "device_ns")))});
  return markdown(rows);
}

}  // namespace

void Results::path_section(const std::string& what, const Outcome& rtl, const Outcome& model) {
  const auto &path = rtl.json["path"], &of_model = model.json["path"];
  const double latency = number(rtl.json["latency_ns"], "avg");
  double sum = 0;
  for (const auto& step : path["steps"]) sum += step["ns"].get<double>();
  // These are the steps of the most common path; steps_of is the number of messages that have it.
  // If all messages have it, the steps must add up to the latency.
  if (path["steps_of"] == path["samples"] && std::abs(sum - latency) > 0.5)
    missing(
        fmt::format("{}: the steps are {:.1f} ns, the latency is {:.1f} ns", what, sum, latency));
  section(what + ": where its latency goes",
          fmt::format("The critical path of {} of {} messages, from the client's post to the poll "
                      "that sees the completion, averages; a step of PCIe or of the link is a "
                      "crossing (reads: there and back). How it is found: "
                      "`sim/app/run/latency_path.hpp`.\n\n{}",
                      path["steps_of"].get<size_t>(), path["samples"].get<size_t>(),
                      path_table(path, of_model)));
}

}  // namespace rnic::app
