// rnic-sim regress: random host programs (regress/plan.hpp) on a pairing of devices, in child processes of a few hundred operations
// each; what was drawn is counted, and a plan that fails is made smaller while it still fails.
//
//   RegressRequest r{.kind = {"rtl", "rtl"}, .ops = 2000, .seed = 7};
//   return run_regression(r);                                                     exit status
//
// Child k has the seed + k. A child alone, and with --set keep=3,17 --set simple=mtu,push a shrunk plan, is a command of its own.
#pragma once

#include "regress/request.hpp"
#include "run/options.hpp"

namespace rnic::app {

/// Throws Usage for what run_regression would refuse.
void check(const RegressRequest& request);
/// Throws Usage and Missing.
int run_regression(const RegressRequest& request);
int regress_command(Options& o);

}  // namespace rnic::app
