// unit_counter of up to 3 items per cycle against sums of the test. An input counts at the second
// clock edge: after a cycle, the outputs show the inputs of all earlier cycles.
#include <array>

#include "stream_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

using Count = std::array<uint64_t, 3>;  // items, busy, stalled

/// A unit_count_t: three counts of 48 bits. The first member is the most significant.
template <class Port>
Count read(const Port& port) {
  const auto word = [&](unsigned lsb) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 48; i++)
      value |= uint64_t{port[(lsb + i) / 32] >> (lsb + i) % 32 & 1} << i;
    return value;
  };
  return {word(96), word(48), word(0)};
}

TEST(UnitCounterTest, AddsEachCycleOnce) {
  tb::StreamDut dut;
  auto rng = tb::test_rng("counts");
  for (int round = 0; round < 3; round++) {
    dut.restart({});
    Count sum{};
    for (int i = 0; i < 2000; i++) {
      const Count step{rng.below(4), rng.below(2), rng.below(2)};
      dut.top().tally_items_i = static_cast<uint8_t>(step[0]);
      dut.top().tally_busy_i = static_cast<uint8_t>(step[1]);
      dut.top().tally_stalled_i = static_cast<uint8_t>(step[2]);
      dut.cycle();
      ASSERT_EQ(read(dut.top().tally_o), sum) << i;
      for (size_t k = 0; k < 3; k++) sum[k] += step[k];
    }
  }
}

}  // namespace
