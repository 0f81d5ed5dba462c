// qp: the results and the rates of its fetches: receive WQEs that cannot be used, rates of issue
// and of receive. Neighbours and reference: qp_world.hpp. w.receive(n, result): ddp takes a receive
// WQE of QP n and expects this result.
#include <cstdio>

#include "VQp.h"
#include "VQpMin.h"
#include "VQpMin_rnic_stall_pkg.h"
#include "qp/qp_model.hpp"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::QpState;
using spec::RqTake;
using spec::WcStatus;
using spec::WrOpcode;

template <class D>
class QpFetchTest : public testing::Test {
 protected:
  D dut;
  base::Rng rng{test_seed()};

  /// Calls body(world) at every pace, with this many running QPs.
  template <class F>
  void worlds(F body, unsigned running) {
    each_pace([&](Pace p) {
      dut.restart(p);
      QpWorld<D> w(dut, rng.fork("world"), 40);
      for (unsigned n = 0; n < running; n++) {
        w.create(n, 4, 3);
        w.to_rts(n);
      }
      body(w);
    });
  }
  /// Waits until qp has applied the doorbells.
  void posted(QpWorld<D>& w) {
    w.run([&] { return dut.qp_doorbell.empty(); });
    w.wait(40);
  }
  static spec::Sizes sizes() { return D::kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }
};

using Duts =
    testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>, QpModelDut<false>, QpModelDut<true>>;
TYPED_TEST_SUITE(QpFetchTest, Duts);

// A receive WQE that is malformed or cannot be read completes with its own status, once. The rest
// of the queue is flushed. The other QP goes on.
TYPED_TEST(QpFetchTest, AReceiveThatCannotBeUsedEndsInItsOwnStatus) {
  struct Case {
    const char* name;
    RqTake result;
    WcStatus status;
    std::function<void(spec::RqWqe&)> spoil;
  };
  const std::vector<Case> cases = {
      {"read failed", RqTake::kFailed, WcStatus::kFatalErr, {}},
      {"4 SGEs", RqTake::kMalformed, WcStatus::kLocQpOpErr, [](auto& w) { w.num_sge = 4; }},
      {"15 SGEs", RqTake::kMalformed, WcStatus::kLocQpOpErr, [](auto& w) { w.num_sge = 15; }},
      {"reserved0", RqTake::kMalformed, WcStatus::kLocQpOpErr,
       [](auto& w) { w.reserved0 = uint32_t{1} << 27; }},
      {"reserved2", RqTake::kMalformed, WcStatus::kLocQpOpErr, [](auto& w) { w.reserved2 = 1; }},
      {"reserved1", RqTake::kMalformed, WcStatus::kLocQpOpErr, [](auto& w) { w.reserved1 = 1; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const unsigned good : {0U, 2U}) {
      this->worlds(
          [&](auto& w) {
            for (unsigned i = 0; i < good; i++) {
              w.post_recv(0, 1);
              this->posted(w);
              w.receive(0);
            }
            ASSERT_TRUE(w.run([&] { return w.qp(0).takes.size() == good; }));
            w.wait(100);
            if (c.spoil) {
              w.post_recv(0, 1);
              w.spoil_recv(0, good, c.spoil);
              w.post_recv(0, 2);
            } else {
              w.far_memory(
                  static_cast<unsigned>(w.longer(600)));  // the take waits for the failing read
              w.fail_next_rq_read();
              w.post_recv(0, 3);
            }
            w.post_recv(1, 1);
            this->posted(w);
            w.receive(0, c.result);
            w.receive(1);
            ASSERT_TRUE(w.run([&] { return w.qp(0).takes.size() == good + 1; }));
            ASSERT_TRUE(w.wait_state(0, QpState::kError));
            ASSERT_TRUE(w.run([&] { return w.qp(1).rq_cqes.size() == 1; }));
            w.wait(100);
            const auto& cqes = w.qp(0).rq_cqes;
            ASSERT_EQ(cqes.size(), good + 2);
            EXPECT_EQ(cqes[good].status, c.status);
            EXPECT_EQ(cqes[good].index, good);
            EXPECT_EQ(cqes[good + 1].status, WcStatus::kWrFlushErr);
            EXPECT_EQ(cqes[good + 1].index, good + 3);
            EXPECT_EQ(w.query(0).cause, Cause::kLocalCatastrophic);
            EXPECT_EQ(w.qp(1).rq_cqes[0].status, WcStatus::kSuccess);
            EXPECT_EQ(w.query(1).state, QpState::kRts);
          },
          2);
    }
  }
}

/// RTL only: what depends on cycles.
template <class D>
class QpRateTest : public QpFetchTest<D> {
 protected:
  /// Starts `qps` QPs with fast neighbours.
  void begin(QpWorld<D>& w, unsigned qps, unsigned log_sq, unsigned log_rq) {
    this->dut.restart({0, 0});
    for (unsigned n = 0; n < qps; n++) {
      w.create(n, log_sq, log_rq);
      w.to_rts(n);
    }
  }
  /// Returns the cycles per item from the first to the last of `count`. done(): items so far.
  template <class F>
  double per(QpWorld<D>& w, const std::string& what, unsigned count, F done) {
    uint64_t first = 0;
    EXPECT_TRUE(w.run([&] {
      const unsigned n = done();
      if (n > 0 && first == 0) first = w.now();
      return n == count;
    })) << what;
    const double cycles = static_cast<double>(w.now() - first) / (count - 1);
    std::printf("[ rate ] %s: %.2f cycles\n", what.c_str(), cycles);
    return cycles;
  }
  static unsigned taken(QpWorld<D>& w, unsigned qps) {
    unsigned n = 0;
    for (unsigned q = 0; q < qps; q++) n += static_cast<unsigned>(w.qp(q).takes.size());
    return n;
  }
};
using RateDuts = testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>>;
TYPED_TEST_SUITE(QpRateTest, RateDuts);

// 64-byte Sends at 75 M/s: a receive WQE every 4.28 cycles, on one QP and on many.
TYPED_TEST(QpRateTest, ReceivesAreTakenAtLineRate) {
  for (const unsigned qps : {1U, QpWorld<TypeParam>::kQps}) {
    QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 0);
    this->begin(w, qps, 2, 6);
    const unsigned each = qps == 1 ? 60 : std::min(8U, this->sizes().rq_prefetch);
    for (unsigned n = 0; n < qps; n++) {
      for (unsigned i = 0; i < each; i++) w.post_recv(n);  // one doorbell each
    }
    w.run([&] { return this->dut.qp_doorbell.empty(); });
    w.wait(200);
    for (unsigned i = 0; i < each; i++) {
      for (unsigned n = 0; n < qps; n++) w.receive(n);
    }
    const double cycles = this->per(w, fmt::format("{} QPs, a take", qps), qps * each,
                                    [&] { return this->taken(w, qps); });
    if (!TypeParam::kMinimum || qps > 1) {
      EXPECT_LE(cycles, 4.28);
    }
  }
}

// The host does not answer the reads of many rings. qp still returns a receive WQE that is in its
// prefetch buffer.
TYPED_TEST(QpRateTest, AReceiveInItsBufferWaitsForNoRead) {
  const unsigned qps = QpWorld<TypeParam>::kQps;
  QpWorld<TypeParam> w(this->dut, this->rng.fork("world"), 0);
  this->begin(w, qps, 2, 6);
  const unsigned ready = this->sizes().rq_prefetch;
  w.post_recv(0, ready);
  w.run([&] { return this->dut.qp_doorbell.empty(); });
  w.wait(100);
  w.far_memory(2000);
  for (unsigned n = 1; n < qps; n++) w.post_recv(n);
  w.run([&] { return this->dut.qp_doorbell.empty(); });
  w.wait(50);
  EXPECT_GE(w.most_rq_reads(), std::min(qps - 1, 4 * this->sizes().fifo_depth));
  const uint64_t from = w.now();
  for (unsigned i = 0; i < ready; i++) w.receive(0);
  EXPECT_TRUE(w.run([&] { return w.qp(0).takes.size() == ready; }));
  // qp_rq_fetch: latency 6, then 3 cycles per take. The bound adds a margin.
  EXPECT_LE(w.now() - from, 10 + 4 * ready);
}

}  // namespace
}  // namespace rnic::tb
