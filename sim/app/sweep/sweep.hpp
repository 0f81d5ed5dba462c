// `rnic-sim sweep`: one program at every combination of the values of its dimensions, as a table
// and a plot. docs/simulator.md describes the command line.
#pragma once

#include "run/options.hpp"

namespace rnic::app {

/// The command `sweep`. Returns the exit status.
int sweep_command(Options& o);

}  // namespace rnic::app
