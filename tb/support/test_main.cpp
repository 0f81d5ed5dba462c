// main() of every bench: for a failing test it prints the seed and the command that repeats the
// test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/seed.hpp"

namespace {

class Repeat final : public testing::EmptyTestEventListener {
 public:
  explicit Repeat(std::string program) : program_(std::move(program)) {}
  void OnTestEnd(const testing::TestInfo& info) override {
    if (!info.result()->Failed()) return;
    const auto name = fmt::format("{}.{}", info.test_suite_name(), info.name());
    fmt::print(
        stderr,
        "repeat with: RNIC_SEED={} {} --gtest_filter='{}'   (RNIC_WAVE=FILE.fst for a waveform)\n",
        rnic::tb::seed_of(name), program_, name);
  }

 private:
  std::string program_;
};

}  // namespace

// libsystemc requires an sc_main with C linkage, which this one has not: benches that use SystemC
// define it in a file of their own (tb/sim/sc_main.cpp), and start the kernel inside their tests.
int sc_main(int, char**);
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Repeat(argv[0]));
  return RUN_ALL_TESTS();
}
