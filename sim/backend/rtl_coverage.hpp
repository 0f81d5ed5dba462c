// Coverage of a Verilated module, written when the module ends: line and user coverage in builds of
// preset coverage; the cover points of the build `stall` in every build.
//
//   mkdir cov
//   RNIC_COVERAGE_TO=cov/rtl ctest --test-dir build-coverage
//   verilator_coverage --annotate cov/lines cov/rtl.*.dat
#pragma once

#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>

namespace rnic::sim {

/// Writes to RNIC_COVERAGE_TO.PROCESS.NUMBER.dat, one file per module. Writes nothing without that
/// variable.
inline void write_rtl_coverage(VerilatedContext& context) {
  static unsigned number = 0;
  const char* to = std::getenv("RNIC_COVERAGE_TO");
  if (to == nullptr || *to == '\0') return;
  const std::string file =
      std::string(to) + "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".dat";
  context.coveragep()->write(file.c_str());
}

}  // namespace rnic::sim
