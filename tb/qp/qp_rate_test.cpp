// qp: what a WQE costs does not grow with the number of QPs. A host that rings for two WQEs at a time,
// on few QPs and on many: RTL, default build.
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

  /// Cycles from a wqe_hdr to the next, while each QP has two WQEs posted as soon as two are done.
  double cycles_a_wqe(unsigned qps) {
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
            if (!w.idle(n) || w.sq_room(n) < 2) continue;
            for (int k = 0; k < 2; k++) w.post(n, w.make(spec::WrOpcode::kRdmaWrite, {64}));
            w.ring(n);
          }
          const uint64_t issued = dut.wqe_hdr.moved() - before;
          if (from == 0 && issued >= kWarm) from = w.now();
          return issued >= kWarm + kCounted;
        },
        100'000);
    const double per = static_cast<double>(w.now() - from) / kCounted;
    std::printf("[ rate ] %u QPs, a doorbell for 2 WQEs: %.2f cycles a WQE\n", qps, per);
    return per;
  }
};

TEST_F(QpRateTest, AWqeCostsTheSameOnManyQps) {
  for (const unsigned qps : {16U, 32U, 64U, 128U})
    EXPECT_LE(cycles_a_wqe(qps), 4.3) << qps << " QPs";
}

}  // namespace
}  // namespace rnic::tb
