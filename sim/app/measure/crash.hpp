// rnic-sim crash: the power fails at every instant of a run (run/power_failures.hpp). A loss is
// reported with the fewest appends that cause one.
#pragma once

#include "run/options.hpp"

namespace rnic::app {

int crash_command(Options& o);

}  // namespace rnic::app
