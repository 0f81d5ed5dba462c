// One run in a child process, for commands that make several.
#pragma once

#include "run/run.hpp"

namespace rnic::app {

/// Calls run() in a child process. A child that dies is a failure that names its signal.
Outcome run_child(const RunRequest& request);

}  // namespace rnic::app
