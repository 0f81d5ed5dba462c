// One message, step by step: LatencyPath's steps, with each step of a device cut by unit.
//
//   const auto rows = explained(path.steps(begin, end), streams);   // add up to end - begin
//   explain_json(path, streams, client, divisor);                   // the median message
//
// A device's step goes from an arrival to an output that it caused. Cause and output determine the
// streams that the message takes inside. explained() looks for the first item on each of them in
// that order, and cuts there. The time between two cuts belongs to the unit that sends on the later
// stream. A stream without an item is skipped: an inline message fetches no payload.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "programs.hpp"
#include "run/latency_path.hpp"
#include "run/stream_record.hpp"

namespace rnic::app {

struct ExplainedRow {
  Side side = kClient;
  /// host, doorbell, pcie, wire, placement, completion, or a unit of the device.
  std::string where;
  std::string what;
  Time from = 0, to = 0;
};

/// The steps as rows, in order of time. `streams`: of the devices, by side; after their finish().
std::vector<ExplainedRow> explained(const std::vector<LatencyPath::Step>& path,
                                    const std::array<const StreamRecord*, 2>& streams);

/// The message with the median latency, or the nearest to it whose path is known: {"message": 12,
/// "latency_ns": ..., "times": 2, "rows": [...]}. The rows add up to the latency, times `divisor`
/// (2 where the latency is half of the round trip). Without "rows" if no path is known.
nlohmann::ordered_json explain_json(const LatencyPath& path,
                                    const std::array<const StreamRecord*, 2>& streams,
                                    const programs::Report& client, unsigned divisor);

/// The result of explain_json() as a table, with a title.
std::string explain_text(const nlohmann::ordered_json& explain);

}  // namespace rnic::app
