// rnic-sim search: the model as the oracle of speed. Draws situations (search_space.hpp), runs each on two models and on two RTL devices,
// and climbs towards the largest disagreement; what hangs, fails or is refused on one of the two alone is the largest of all. Each anomaly is
// made as small as it stays one. (The climb is Collie's, NSDI 2022, which had the counters of bought NICs alone to climb by.)
//
//   rnic-sim search read_bw send_bw --set seconds=600 --jobs 2 --seed 7 --set state=search.json
#pragma once

#include "run/options.hpp"

namespace rnic::app {

int search_command(Options& o);

}  // namespace rnic::app
