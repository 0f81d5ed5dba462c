// Computes the limit of a finished run. See limit.hpp.
#include "run/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cq/cq_timing.hpp"
#include "qp/qp_timing.hpp"

namespace rnic::app {
namespace {

/// The setting that bounds the messages which a _bw program keeps outstanding on a QP: "depth",
/// "rd_atomic" or "sq_window". Empty for other programs: one message at a time.
std::string window_of(const Setup& s) {
  if (!s.program.name.ends_with("_bw")) return "";
  const auto is_used = [&](std::string_view name) {
    return std::ranges::find(s.program.settings, name, &programs::SettingRow::name) !=
           s.program.settings.end();
  };
  const uint32_t depth = s.params.depth, sq_window = s.request.config.sizes(kClient).sq_window;
  // rd_atomic bounds the requests that wait for a response. write_flush_bw alternates Writes, which
  // do not wait, and Flushes, which do: two messages for each of them.
  const bool waits = is_used("rd_atomic");
  const uint32_t per_request = s.program.name == "write_flush_bw" ? 2 : 1;
  if (waits && s.params.rd_atomic * per_request < std::min(depth, sq_window)) return "rd_atomic";
  return sq_window < depth ? "sq_window" : "depth";
}

/// Cycles that the slowest stage of a unit needs per item (docs/theory-of-operation.md, Counters:
/// what an item is). LimitWatch measures ddp and mpa, whose items go both ways.
struct Stage {
  std::string_view unit;
  model::Cycle per_item;
};
constexpr Stage kStages[] = {{"qp", model::QpTiming{}.parse},       // qp_parse
                             {"tpt", 1},                            // a lookup per cycle
                             {"cq", model::CqTiming{}.occupancy}};  // table word

/// Use of each unit: the share of the window in which its slowest stage was busy. Counters cover
/// the whole run, so the share of messages in the window is used as the share of items.
std::map<std::string, double> unit_use(const Setup& s, const Verdict& v,
                                       const nlohmann::ordered_json& units) {
  uint64_t measured = 0, all = 0;
  for (const Side side : {kClient, kServer}) {
    measured += v.reports[side].ops;
    for (const programs::Report& thread : s.reports[side]) all += thread.of;
  }
  const MeasuredWindow w = measured_window(v.reports[kClient]);
  std::map<std::string, double> use;
  if (all == 0 || w.to <= w.from) return use;
  const double share = std::min(1.0, static_cast<double>(measured) / static_cast<double>(all));
  for (const Side side : {kClient, kServer}) {
    const double cycles =
        static_cast<double>(w.to - w.from) / s.request.config.timing(side).clock.ps_per_cycle();
    for (const Stage& stage : kStages) {
      const auto& unit = units.at(kSideNames[side]).at(std::string(stage.unit));
      const double busy = unit.at("items").get<double>() * static_cast<double>(stage.per_item);
      use[fmt::format("{} {}", kSideNames[side], stage.unit)] = busy * share / cycles;
    }
  }
  return use;
}

}  // namespace

void add_limit(const Setup& s, const Verdict& v, nlohmann::ordered_json& j) {
  const MeasuredWindow w = measured_window(v.reports[kClient]);
  if (w.to <= w.from || !j.contains("units")) return;
  const bool has_qps = std::ranges::find(s.program.settings, "qps", &programs::SettingRow::name) !=
                       s.program.settings.end();
  j["limit"] = s.watches.limit().json(
      {.from = w.from,
       .to = w.to,
       .ps_per_cycle = {s.request.config.timing(kClient).clock.ps_per_cycle(),
                        s.request.config.timing(kServer).clock.ps_per_cycle()},
       .qps = s.params.threads * (has_qps ? s.params.qps : 1),
       .threads = s.params.threads,
       .window = window_of(s),
       .units = unit_use(s, v, j["units"])});
}

}  // namespace rnic::app
