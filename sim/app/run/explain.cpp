// Cuts the device steps of one message by unit, and prints them. See explain.hpp.
#include "run/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "output/report.hpp"

namespace rnic::app {
namespace {

using Streams = std::vector<const char*>;

double ns(Time t) { return static_cast<double>(t) / kNs; }

void append(Streams& to, std::initializer_list<const char*> more) { to.insert(to.end(), more); }

/// The streams of a device's step, in order. `cause` and `output` as LatencyPath names them.
Streams streams_of(std::string_view cause, std::string_view output) {
  const bool is_request = cause == "doorbell" || cause == "sq_fetch completion";
  // is_old: the old value of an atomic has come from host memory.
  const bool is_frame = cause == "frame", is_old = cause == "qn1 completion";
  Streams s;
  if (cause == "doorbell") append(s, {"qp_doorbell"});
  if (cause == "sq_fetch completion") append(s, {"sq_rd_hdr"});
  if (cause == "payload completion") append(s, {"payload_hdr"});
  if (is_old) append(s, {"qn1_rd_hdr"});
  if (cause == "reg completion") append(s, {"reg_rd_hdr"});
  if (is_frame)
    append(s, {"rx_fpdu_hdr", "rx_ulpdu_hdr", "rq_take_req", "rq_take_rsp", "rx_xlate",
               "rx_xlate_rsp", "rx_segment", "rx_verdict"});
  if (output == "sq_fetch read") append(s, {"sq_rd_req"});
  if (output == "place write") append(s, {"place_hdr"});
  const bool is_atomic = output == "qn1 read" || output == "word write";
  if (is_frame && (is_atomic || output == "frame" || output == "cq write"))
    append(s, {"atomic_req", "qn1_xlate", "qn1_extent"});
  if (output == "qn1 read") append(s, {"qn1_rd_req"});
  if (output == "reg read") append(s, {"reg_rd_req"});
  // From here on several paths share a line. A stream that this message does not take has no item
  // in the time of the step, and cut() skips it.
  if (output == "word write" || is_old) append(s, {"word_wr"});
  const bool sends = output == "payload read" || output == "frame" || output == "cq write";
  if (is_request && sends) append(s, {"wqe_check", "wqe_check_rsp", "wqe_hdr"});
  if (is_frame && sends && output != "cq write") append(s, {"resp_check", "resp_check_rsp"});
  if ((is_frame || is_old) && output == "frame") append(s, {"word_wr", "word_done", "atomic_rsp"});
  if (sends && cause != "payload completion" && (!is_frame || output != "cq write"))
    append(s, {"tx_message_hdr", "tx_want", "tx_grant"});
  if (output == "payload read") append(s, {"payload_req", "tx_extent"});
  if (output == "frame" || (output == "cq write" && !is_frame))
    append(s, {"tx_ulpdu_hdr", "tx_fpdu_hdr"});
  if (output == "cq write")
    append(s, {"wr_done", "rx_done", "word_wr", "res_done", "cqe_req", "cq_wr"});
  return s;
}

std::string place_of(const LatencyPath::Step& s) {
  switch (s.kind) {
    case LatencyPath::kHost:
      return "host";
    case LatencyPath::kLink:
      return "wire";
    default:
      return s.what == "doorbell"                                ? "doorbell"
             : s.what == "place write" || s.what == "word write" ? "placement"
             : s.what == "cq write"                              ? "completion"
                                                                 : "pcie";
  }
}

/// Cuts a step of a device at the streams on its path, and adds one row per unit.
void cut(const LatencyPath::Step& step, const StreamRecord& streams,
         std::vector<ExplainedRow>& rows) {
  constexpr std::string_view kTo = " to ";
  const size_t at = step.what.find(kTo);
  const std::string_view cause = std::string_view(step.what).substr(0, at),
                         output = std::string_view(step.what).substr(at + kTo.size());
  Time t = step.from;
  for (const char* name : streams_of(cause, output)) {
    const auto& times = streams.times(name);
    const auto found = std::ranges::lower_bound(times, t);
    // A stream that moves in the same cycle as the one before it takes no time.
    if (found == times.end() || *found > step.to || *found == t) continue;
    rows.push_back({step.side, StreamRecord::from_unit(StreamRecord::index_of(name)),
                    fmt::format("to {}", name), t, *found});
    t = *found;
  }
  rows.push_back({step.side, output == "frame" ? "llp_if" : "host_if", fmt::format("to {}", output),
                  t, step.to});
}

}  // namespace

std::vector<ExplainedRow> explained(const std::vector<LatencyPath::Step>& path,
                                    const std::array<const StreamRecord*, 2>& streams) {
  std::vector<ExplainedRow> rows;
  for (const auto& step : path) {
    if (step.kind == LatencyPath::kDevice) {
      cut(step, *streams[step.side], rows);
    } else {
      rows.push_back({step.side, place_of(step), step.what, step.from, step.to});
    }
  }
  return rows;
}

nlohmann::ordered_json explain_json(const LatencyPath& path,
                                    const std::array<const StreamRecord*, 2>& streams,
                                    const programs::Report& client, unsigned divisor) {
  std::vector<size_t> order(client.began.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return client.latency[i]; });
  // From the median outwards: the first message whose path is known is the nearest to it.
  const size_t middle = order.empty() ? 0 : (order.size() - 1) / 2;
  std::ranges::stable_sort(
      order, {}, [&, median = order.empty() ? 0 : client.latency[order[middle]]](size_t i) {
        return std::max(client.latency[i], median) - std::min(client.latency[i], median);
      });
  for (const size_t i : order) {
    const Time begin = client.began[i], end = begin + client.latency[i] * divisor;
    const auto steps = path.steps(begin, end);
    if (steps.empty()) continue;
    nlohmann::ordered_json j{{"message", i},
                             {"of", order.size()},
                             {"began_ns", ns(begin)},
                             {"latency_ns", ns(client.latency[i])},
                             {"times", divisor}};
    for (const auto& r : explained(steps, streams))
      j["rows"].push_back({{"where", r.where},
                           {"side", kSideNames[r.side]},
                           {"what", r.what},
                           {"start_ns", ns(r.from - begin)},
                           {"ns", ns(r.to - r.from)}});
    return j;
  }
  return {{"of", order.size()}};
}

std::string explain_text(const nlohmann::ordered_json& explain) {
  if (!explain.contains("rows"))
    return fmt::format("\nexplain: of {} messages none has a path that is known\n",
                       explain["of"].get<size_t>());
  const double latency = explain["latency_ns"], times = explain["times"];
  std::vector<std::vector<std::string>> rows{
      {"where", "side", "start[ns]", "duration[ns]", "  what"}};
  double sum = 0;
  for (const auto& r : explain["rows"]) {
    sum += r["ns"].get<double>();
    rows.push_back({r["where"], r["side"], fmt::format("{:.3f}", r["start_ns"].get<double>()),
                    fmt::format("{:.3f}", r["ns"].get<double>()), r["what"]});
  }
  size_t widest = 0;  // the last column is left-aligned
  for (const auto& r : rows) widest = std::max(widest, r.back().size());
  for (auto& r : rows) r.back().resize(widest, ' ');
  rows.push_back({"sum", "", "", fmt::format("{:.3f}", sum), ""});
  return fmt::format(
             "\nmessage {} of {}, from {:.3f} ns on, with the median latency: {:.3f} ns{}\n",
             explain["message"].get<size_t>() + 1, explain["of"].get<size_t>(),
             explain["began_ns"].get<double>(), latency,
             times == 1 ? "" : ", half of the round trip below") +
         table(rows);
}

}  // namespace rnic::app
