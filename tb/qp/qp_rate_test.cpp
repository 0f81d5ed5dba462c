// qp: the cost of a WQE does not grow with the number of QPs. The host rings for one, two or four
// WQEs at a time, on few QPs and on many. Also the cost on one QP. RTL, default build.
#include <cstdio>

#include "VQp.h"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

class QpRateTest : public testing::Test {
 protected:
  using D = QpDut<VQp, false>;
  D dut;
  base::Rng rng{test_seed()};

  /// Returns the cycles from one wqe_hdr to the next. Each idle QP gets `each` WQEs and one
  /// doorbell. push: the doorbell carries the WQE.
  double cycles_a_wqe(unsigned qps, unsigned each, bool push = false) {
    dut.restart({0, 0});
    QpWorld<D> w(dut, rng.fork("world"), 0);
    for (unsigned n = 0; n < qps; n++) {
      w.create(n, 6, 3);
      w.to_rts(n);
    }
    constexpr uint64_t kWarm = 1000, kCounted = 4000;
    unsigned next = 0;
    uint64_t from = 0;
    const uint64_t before = dut.wqe_hdr.moved();
    w.run(
        [&] {
          for (unsigned i = 0; i < qps && dut.qp_doorbell.size() < 2; i++) {
            const unsigned n = next++ % qps;
            if (!w.idle(n) || w.sq_room(n) < each) continue;
            for (unsigned k = 0; k < each; k++)
              w.post(n, w.make(spec::WrOpcode::kRdmaWrite, {64}), push);
            if (!push) w.ring(n);
          }
          const uint64_t issued = dut.wqe_hdr.moved() - before;
          if (from == 0 && issued >= kWarm) from = w.now();
          return issued >= kWarm + kCounted;
        },
        100'000);
    const double per = static_cast<double>(w.now() - from) / kCounted;
    std::printf("[ rate ] %u QPs, a %s for %u WQEs: %.2f cycles a WQE\n", qps,
                push ? "push" : "doorbell", each, per);
    return per;
  }
};

// The WQEs are Writes. At line rate there is a 64-byte Write every 4.18 cycles (77.2 M/s).
// With one doorbell per WQE, each WQE costs a read of the ring (qp_sq_fetch) and four operations of
// qp_sched: kick by the doorbell, finish without a unit, kick by the unit, finish after the issue.
// The third argument makes each WQE a push. Pushes are for latency, not for rate: a push occupies
// qp_doorbell and qp_sq_fetch for 6 cycles (docs/limitations.md). The bound 6.1 therefore allows
// fewer than line rate; 0.1 covers the ends of the measured interval.
TEST_F(QpRateTest, AWqeCostsTheSameOnManyQps) {
  for (const unsigned qps : {16U, 32U, 64U, 128U}) {
    for (const unsigned each : {1U, 2U, 4U})
      EXPECT_LE(cycles_a_wqe(qps, each), 4.18) << qps << " QPs";
    EXPECT_LE(cycles_a_wqe(qps, 1, true), 6.1) << qps << " QPs";
  }
}

// 20 M/s on one QP: a WQE every 16 cycles (322 MHz / 20 MHz). Per visit, qp_parse takes as many
// WQEs as ddp has slots.
TEST_F(QpRateTest, OneQpIssuesTwentyMillionASecond) {
  dut.restart({0, 0});
  QpWorld<D> w(dut, rng.fork("world"), 0);
  w.create(0, 6, 3);
  w.to_rts(0);
  constexpr uint64_t kWarm = 200, kCounted = 1000;
  uint64_t from = 0;
  const uint64_t before = dut.wqe_hdr.moved();
  w.run(
      [&] {
        if (w.sq_room(0) >= 8 && dut.qp_doorbell.empty()) {
          for (int k = 0; k < 8; k++) w.post(0, w.make(spec::WrOpcode::kRdmaWrite, {64}));
          w.ring(0);
        }
        const uint64_t issued = dut.wqe_hdr.moved() - before;
        if (from == 0 && issued >= kWarm) from = w.now();
        return issued >= kWarm + kCounted;
      },
      100'000);
  const double per = static_cast<double>(w.now() - from) / kCounted;
  std::printf("[ rate ] one QP: %.2f cycles a WQE\n", per);
  EXPECT_LE(per, 16.0);
}

}  // namespace
}  // namespace rnic::tb
