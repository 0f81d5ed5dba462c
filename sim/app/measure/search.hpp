// rnic-sim search: the model is the oracle of speed. Draws situations (search_space.hpp), runs each
// on two models and on two RTL devices, and climbs towards the largest disagreement. A situation
// that hangs, fails or is refused on only one of the two is the largest. Each anomaly is shrunk as
// far as it remains one. (The climb is Collie's, NSDI 2022, which could use only the counters of
// commercial NICs.)
//
//   rnic-sim search read_bw send_bw --set seconds=600 --jobs 2 --seed 7 --set state=search.json
#pragma once

#include "run/options.hpp"

namespace rnic::app {

int search_command(Options& o);

}  // namespace rnic::app
