// The fault that once hung the default device (`ddp_tx_segment` counts a beat of inline data that
// is not valid) is enabled in the builds `stall` and minimum of rnic-sim-hung. `stall` finds it
// with the effort that CI spends on regress there. The minimum build does not, with as much effort.
// The build `stall` exists for faults that only stalled streams reveal (architecture 3).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace rnic {
namespace {

struct Ended {
  int status = -1;
  std::string text;
};

Ended regress(const std::string& settings) {
  const std::string command = std::string(RNIC_SIM_HUNG) +
                              " regress --client rtl --server rtl --seed 30000 --jobs 2 --quiet "
                              "--set shrink=0 " +
                              settings + " 2>&1";
  Ended e;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return e;
  char some[4096];
  for (size_t n; (n = fread(some, 1, sizeof some, pipe)) > 0;) e.text.append(some, n);
  const int status = pclose(pipe);
  e.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return e;
}

TEST(HungTest, StallFindsIt) {
  const Ended e = regress("--set build=stall --set stall_percent=5 --set ops=250");
  EXPECT_EQ(e.status, 3) << e.text;  // exit status of rnic-sim: no progress
  EXPECT_NE(e.text.find("--set build=stall"), std::string::npos) << e.text;
}

TEST(HungTest, TheMinimumBuildDoesNot) {
  const Ended e = regress("--set build=minimum --set ops=500");
  EXPECT_EQ(e.status, 0) << e.text;
}

}  // namespace
}  // namespace rnic
