// The commands of rnic-sim that list and run programs. Each returns the exit status, and throws
// Usage if the options are wrong. Other commands: regress/regress.hpp, replay/replay.hpp,
// sweep/sweep.hpp, measure/results.hpp, measure/search.hpp, measure/crash.hpp.
#pragma once

#include "run/options.hpp"

namespace rnic::app {

int list_command(const Options& o);     // names programs, settings, presets and builds
int explain_command(const Options& o);  // explains one setting or program
int run_command(Options& o);            // runs one program on one pairing
int compare_command(Options& o);        // runs programs on every pairing; errors against the RTL
int copy_command(Options& o);           // copies a file by Send, Write and Read on every pairing

}  // namespace rnic::app
