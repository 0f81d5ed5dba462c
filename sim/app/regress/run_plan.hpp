// One plan of a regression: drawn, reduced as the request says, and run on two hosts.
//
//   Outcome o = run_plan(request, make_plan(request, seed, ops));
#pragma once

#include "regress/request.hpp"
#include "run/outcome.hpp"

namespace rnic::app::regress {

/// Runs one plan in this process. json: posted, completions, bytes, set_up_us, us (simulated).
/// After a failure also:
///   - begun: numbers of operations and lives that were posted, or may be posted next
///   - kind: stuck, host (a completion or an event that is not planned), memory, or a device's
///     check
///   - the keys of run/failure_wave.hpp
Outcome run_plan(const RegressRequest& request, const regress::Plan& plan);
/// Draws the plan of a seed, and reduces it by request.keep and request.simple. Throws Usage.
regress::Plan make_plan(const RegressRequest& request, uint64_t seed, uint32_t ops);

}  // namespace rnic::app::regress
