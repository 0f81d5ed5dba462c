// rnic-sim crash: rebuilds the durable image at each instant of one run, or at N of them, and lets
// the program recover from it (run/power_failures.hpp). A loss is reported with the fewest appends
// that cause one.
#pragma once

#include "run/options.hpp"

namespace rnic::app {

/// The command `crash`. Returns the exit status; kMismatch if a record is lost.
int crash_command(Options& o);

}  // namespace rnic::app
