// One run in a child process, for commands that make several.
#pragma once

#include "run/run.hpp"

namespace rnic::app {

/// run() in a child process; a child that dies is a failure with its signal.
Outcome run_child(const RunRequest& request);

}  // namespace rnic::app
