// One run, from its request to its outcome. See run.hpp.
#include "run/run.hpp"

#include "run/counters.hpp"
#include "run/figures.hpp"
#include "run/limit.hpp"
#include "run/setup.hpp"
#include "run/verdict.hpp"

namespace rnic::app {
namespace {

/// Reads the counters of each unit as software does, and adds the stalls between units and the
/// limit of the run.
void add_units(Setup& setup, const Verdict& verdict, Outcome& out) {
  if (const auto result = read_units(setup.simulation, out.json); !result.ok()) {
    out.failure += result.report + "\n";
    out.status = kNoProgress;
  }
  setup.watches.add_stalls(out.json, measured_window(verdict.reports[kClient]));
  add_limit(setup, verdict, out.json);
}

}  // namespace

Outcome run(const RunRequest& r) {
  check(r);
  Outcome out;
  Setup setup(r);
  const Ending ending = simulate(setup, out.json);
  const Verdict verdict = judge(setup, ending, out);
  add_figures(setup, ending, verdict, out.json);
  if (out.status == kGood && !ending.power_failed_at) add_units(setup, verdict, out);
  setup.captures->finish(out);
  setup.watches.write_timeline(out);
  out.json["status"] = static_cast<int>(out.status);
  add_cost(setup, ending, out.json);
  return out;
}

}  // namespace rnic::app
