// The model on the SystemC kernel behaves as on the bare dispatcher, cycle for cycle, however far
// Pacer lets it run ahead of the kernel.
#include <fmt/format.h>

#include "base/clock.hpp"
#include "mpa/crc32c.hpp"
#include "sc_clock.hpp"

// libsystemc requires this function.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace rnic::tb {
namespace {

using spec::WrOpcode;

/// Records the device's outputs with their times.
class Scribe final : public Side {
 public:
  using Side::Side;
  std::vector<std::string> lines;
  Cycle began = 0;

  void note(const char* what, uint64_t a, uint64_t b) {
    lines.push_back(fmt::format("{} {} {:x} {:x}", clock_.now() - began, what, a, b));
  }
  void dma_write(model::WriteTlp t) override {
    note("write", t.address, t.data.size());
    Side::dma_write(std::move(t));
  }
  void dma_read(const model::ReadTlp& t) override {
    note("read", t.read.address, t.read.length);
    Side::dma_read(t);
  }
  void llp_tx(model::LlpRecord r) override {
    note("llp_tx", r.connection, model::crc32c(r.data.bytes()));
    Side::llp_tx(std::move(r));
  }
};

/// Runs a fixed mix of requests on clock C, and returns all outputs of both devices.
template <class C>
std::vector<std::string> scenario() {
  Options o;
  o.random_dma = true;
  BenchOf<Scribe, C> b(o);
  std::vector<typename BenchOf<Scribe, C>::Pair> pairs{b.connect(), b.connect()};
  const Mr am = b.a.reg(1 << 16), bm = b.b.reg(1 << 16);
  b.a.fill(am.address - 0x10000000, 1 << 16, 1);
  b.clock.settle(5000);
  for (Scribe* s : {&b.a, &b.b}) {
    s->lines.clear();
    s->began = b.clock.now();
  }
  for (uint32_t i = 0; i < 12; ++i) {
    const auto& p = pairs[i % 2];
    const uint32_t n = 1 + 700 * i;
    b.b.post_recv(p.b.qpn, {sge(bm, 100 * i, 20000)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, 0, bm.address + i, bm.stag), {sge(am, i, n)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, 0), {sge(am, 3, n), sge(am, 5000, 33)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, bm.address, bm.stag),
                  {sge(am, 30000, n)});
    b.clock.settle(70 + i);
  }
  b.clock.settle(30000);
  EXPECT_EQ(b.a.device().waiting_for() + b.b.device().waiting_for(), "");
  std::vector<std::string> all = b.a.lines;
  all.insert(all.end(), b.b.lines.begin(), b.b.lines.end());
  EXPECT_GT(all.size(), 300U);
  return all;
}

/// Another process on the kernel. Its events, which limit how far Pacer runs ahead, match no clock
/// edge.
struct Noise {
  sc_core::sc_event event;
  uint64_t period;
  explicit Noise(uint64_t ps) : period(ps) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    sc_core::sc_spawn(Tick{this}, sc_core::sc_gen_unique_name("noise"), &options);
    event.notify(sc_core::sc_time::from_value(period));
  }
  struct Tick {
    Noise* self;
    void operator()() const { self->event.notify(sc_core::sc_time::from_value(self->period)); }
  };
};

void same(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
    ASSERT_EQ(got[i], expected[i]) << "line " << i;
  EXPECT_EQ(got.size(), expected.size());
}

TEST(Pacer, LikeTheBareDispatcher) {
  const auto bare = scenario<Clock>();
  same(scenario<ScClock>(), bare);
  Noise noise(1777);
  same(scenario<ScClock>(), bare);
}

// The clock has 322.265625 MHz (10.3125 GHz / 32): 33 cycles are exactly 102.4 ns. cycle_at() is
// the first cycle at or after a time.
TEST(Pacer, CyclesAreAtTheirPicoseconds) {
  EXPECT_EQ(base::time_of_cycle(1), 3103U);
  EXPECT_EQ(base::time_of_cycle(33), 102400U);
  for (model::Cycle c = 0; c < 100000; c += 17) {
    EXPECT_EQ(base::cycle_at(base::time_of_cycle(c)), c);
    EXPECT_EQ(base::cycle_at(base::time_of_cycle(c) + 1), c + 1);
  }
}

TEST(Clock, OfAnyFrequencyIsExact) {
  for (const uint64_t hz :
       {1'000'000ULL, 156'250'000ULL, 250'000'000ULL, 333'333'000ULL, 9'999'999'000ULL}) {
    const base::Clock c(hz);
    EXPECT_TRUE(c.is_exact()) << hz;
    EXPECT_EQ(c.time_of_cycle(hz), base::kPsPerSecond) << hz;
    EXPECT_EQ(c.time_of_cycle(3600 * hz), 3600 * base::kPsPerSecond)
        << hz;  // one hour, without drift
    for (model::Cycle n = 1; n < 100000; n += 13) {
      EXPECT_EQ(c.cycle_at(c.time_of_cycle(n)), n) << hz;
      EXPECT_EQ(c.cycle_at(c.time_of_cycle(n) + 1), n + 1) << hz;
    }
  }
  EXPECT_EQ(base::Clock(250'000'000).time_of_cycle(3), 12000U);
  EXPECT_EQ(base::Clock(333'333'000).khz(), 333333U);
  EXPECT_EQ(base::kNominalClock.khz(), 322266U);
  EXPECT_FALSE(base::Clock(9'999'999'999).is_exact());
}

TEST(Pacer, AllModelsOfASimulationHaveOneClock) {
  const auto held = model::Pacer::shared();
  EXPECT_EQ(held->clock(), base::kNominalClock);
  EXPECT_THROW((void)model::Pacer::shared(base::Clock(250'000'000)), std::invalid_argument);
}

}  // namespace
}  // namespace rnic::tb
