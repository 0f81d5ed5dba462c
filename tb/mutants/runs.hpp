// One run in a child process: a program on two hosts, one with the mutated device in tandem, the
// other with a model.
//
//   Run r(program, limit_us);              forks; wait for r.pid()
//   Verdict v = r.finish(status);          status: of wait()
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/device_rtl.hpp"
#include "mutants/faults.hpp"

namespace rnic::mutants {

/// The checker that detected the fault, in the order of the report.
enum class Catcher : uint8_t {
  kNobody,
  kTandem,     // the follower: RTL and model differ, or items are left over
  kOrdering,   // the checker at the PCIe port
  kAssertion,  // of the RTL
  kProgram,    // the host program: wrong data, a wrong completion
  kWatchdog,   // no progress, while a thread waits
  kTimeLimit,  // far longer than without a fault
  kCrash,      // the process ended
};
inline const char* name_of(Catcher c) {
  constexpr const char* kNames[] = {"survived", "tandem",   "ordering",   "assertion",
                                    "program",  "watchdog", "time limit", "crash"};
  return kNames[static_cast<size_t>(c)];
}

struct Verdict {
  Catcher catcher = Catcher::kNobody;
  uint64_t cycles = 0;   // of the mutated device, until the end of the run
  uint64_t fold = 0;     // hash of all its pins
  bool reached = false;  // the place of a fault in model or trace was reached
  double simulated_us = 0, wall_s = 0;
  std::string places_reached;  // of a run without faults; see faults.hpp
  std::string what;            // the first line of the failure
  std::string report;          // the full report
};

/// A random plan, errors and events, damaged records, or commands to be refused (story.hpp). The
/// mutated device is client or server; its streams stall in `stall` per cent of cycles.
struct Program {
  enum class Kind : uint8_t { kPlan, kErrors, kDamage, kRefused } kind = Kind::kPlan;
  unsigned side = 0;
  uint64_t seed = 1;
  uint32_t ops = 0;
  sim::RtlBuild build = sim::RtlBuild::kMinimum;
  uint32_t stall = 0;  // of the build `stall`
  std::string describe() const;
};

class Run {
 public:
  Run(const Program& program, double limit_us);
  pid_t pid() const { return pid_; }
  /// Reads the child's results after wait() has returned this status. Throws if the child exceeded
  /// the wall-clock limit.
  Verdict finish(int status);

 private:
  pid_t pid_ = 0;
  // Files in memory: the verdict, and what the child has printed.
  int results_ = -1, said_ = -1;
  double began_ = 0;
};

}  // namespace rnic::mutants
