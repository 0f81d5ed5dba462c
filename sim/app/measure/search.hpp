// rnic-sim search: the model is the oracle of speed. Draws situations (search_space.hpp), runs each
// on two models and on two RTL devices, and climbs towards the largest disagreement by changing the
// worst situations so far. A situation that hangs or fails on models or on RTL, or that only one of
// them refuses, counts as the largest disagreement. Each anomaly is then reduced to few settings,
// as long as it remains an anomaly. (The climb is Collie's, NSDI 2022, which could use only the
// counters of commercial NICs.)
//
//   rnic-sim search read_bw send_bw --set seconds=600 --jobs 2 --seed 7 --set state=search.json
#pragma once

#include "run/options.hpp"

namespace rnic::app {

/// The command `search`. Returns the exit status; kMismatch if there is an anomaly.
int search_command(Options& o);

}  // namespace rnic::app
