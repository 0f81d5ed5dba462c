// One run: one program on one pairing, in this process. SystemC elaborates once per process, so a
// process makes only one run. run_child.hpp runs it in a child process.
//
//   Outcome o = run({.program = "write_lat", .kind = {"model", "rtl"}, .config = c, .seed = 7});
#pragma once

#include "run/outcome.hpp"
#include "run/run_request.hpp"

namespace rnic::app {

/// Throws Usage and Missing.
Outcome run(const RunRequest& request);

}  // namespace rnic::app
