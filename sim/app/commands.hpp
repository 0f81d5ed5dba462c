// The commands of rnic-sim that list and run programs; each returns the exit status. Other
// commands: regress/regress.hpp, replay/replay.hpp, measure/results.hpp, search.hpp and crash.hpp.
#pragma once

#include "run/options.hpp"

namespace rnic::app {

int list_command(const Options& o);
int explain_command(const Options& o);
int run_command(Options& o);
int compare_command(Options& o);
int copy_command(Options& o);  // copies a file by Send, Write and Read on every pairing

}  // namespace rnic::app
