// rnic-sim regress: random host programs (regress/plan.hpp) on a pairing of devices, in child
// processes of a few hundred operations each. Counts the drawn classes, and shrinks failing plans.
// A class is a kind of operation, size, setting or end that plans must contain, or a combination of
// two: a cell of a table of regress/coverage.hpp.
//
//   RegressRequest r{.kind = {"rtl", "rtl"}, .ops = 2000, .seed = 7};
//   return run_regression(r);   // exit status
//
// Child k uses the seed + k. The command can also run only one child, or a shrunk plan:
//
//   --set keep=3,17          only these numbers of operations and ends of the plan (Plan::keep)
//   --set simple=mtu,push    these aspects of the plan made plain (Plan::simplify)
#pragma once

#include "regress/request.hpp"
#include "run/options.hpp"

namespace rnic::app {

/// Throws Usage if run_regression() would.
void check(const RegressRequest& request);
/// Throws Usage and Missing.
int run_regression(const RegressRequest& request);
/// The command line's `regress`: builds the request from the options. Returns the exit status.
int regress_command(Options& o);

}  // namespace rnic::app
