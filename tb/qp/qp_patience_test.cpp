// Commands that take long are answered in_progress (decision 6): the end of a QP goes on after its
// command is answered, and commands for other QPs are answered meanwhile. On RTL and model. The
// model ends QPs concurrently, so only the RTL answers a command for another QP with in_progress.
//
// hold_acks(true): the other units acknowledge no order of qp, so the end of a QP does not finish.
// kCommandPatience: cycles after which qp answers in_progress. w.modify() repeats its command until
// another answer comes; modify_once() and once() do not.
#include <gtest/gtest.h>

#include "VQp.h"
#include "VQpMin.h"
#include "VQpMin_rnic_stall_pkg.h"
#include "qp/qp_dut.hpp"
#include "qp/qp_model.hpp"
#include "qp/qp_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::QpState;
using spec::WrOpcode;

template <class D>
class QpPatienceTest : public testing::Test {
 protected:
  D dut;
  base::Rng rng{test_seed()};

  /// A world with two running QPs, at every pace.
  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      QpWorld<D> w(dut, rng.fork("world"), 40);
      for (unsigned n = 0; n < 2; n++) {
        w.create(n, 4, 3);
        w.to_rts(n);
      }
      w.ctl().clear();
      body(w);
    });
  }
  static AdminStatus once(QpWorld<D>& w, AdminOpcode op, unsigned n) {
    return w.command_once(op, n).status;
  }
  static AdminStatus modify_once(QpWorld<D>& w, unsigned n, QpState to) {
    const auto words = w.modify_args(n, to);
    return w.command_once(AdminOpcode::kModifyQp, n, words.data()).status;
  }
};
using Duts =
    testing::Types<QpDut<VQp, false>, QpDut<VQpMin, true>, QpModelDut<false>, QpModelDut<true>>;
TYPED_TEST_SUITE(QpPatienceTest, Duts);

TYPED_TEST(QpPatienceTest, AnEndGoesOnWithoutItsCommand) {
  this->worlds([&](auto& w) {
    w.hold_done(true);
    for (int i = 0; i < 2; i++) w.post(0, w.make(WrOpcode::kSend, {10}));
    w.ring(0);
    w.post_recv(0, 3);
    w.wait(100);
    w.hold_acks(true);
    const uint64_t begun = w.now();
    ASSERT_EQ(this->modify_once(w, 0, QpState::kError), AdminStatus::kInProgress);
    EXPECT_GE(w.now() - begun, spec::kCommandPatience);
    EXPECT_LE(w.now() - begun, w.longer(spec::kCommandPatience + 100));
    // The command is repeated while the end goes on: the RTL answers at once.
    for (int i = 0; i < 5; i++) {
      const uint64_t again = w.now();
      EXPECT_EQ(this->modify_once(w, 0, QpState::kError), AdminStatus::kInProgress);
      if (TypeParam::kIsRtl) {
        EXPECT_LE(w.now() - again, w.longer(60));
      }
    }
    const auto other = this->once(w, AdminOpcode::kQueryQp, 1);
    EXPECT_EQ(other, TypeParam::kIsRtl ? AdminStatus::kInProgress : AdminStatus::kOk);
    w.hold_acks(false);
    ASSERT_EQ(w.modify(0, QpState::kError), AdminStatus::kOk);
    const auto after = w.query(0);
    EXPECT_EQ(after.state, QpState::kError);
    EXPECT_EQ(after.drained, 1);
    EXPECT_EQ(after.sq_retired, 2);
    EXPECT_EQ(after.rq_retired, 3);
    const std::vector<std::string> want = {"0 rdmap stop", "0 llp abort", "0 ddp stop",
                                           "0 mpa stop"};
    EXPECT_EQ(w.ctl(), want) << "ended once";
    w.wait(100);
    w.expect_all_reported(0);
    // No event: the driver has requested this end.
    EXPECT_TRUE(w.asyncs().empty()) << "asked for";
    w.qp(0).exists = false;
    EXPECT_EQ(w.command(AdminOpcode::kDestroyQp, 0).status, AdminStatus::kOk);
    EXPECT_EQ(w.query(1).state, QpState::kRts);
  });
}

// QP 0 ends by an error, without a command. Meanwhile the RTL begins no command for QP 1; no
// command has an effect before it is answered ok.
TYPED_TEST(QpPatienceTest, CommandsBesideTheEndOfAnotherQpAreInProgress) {
  this->worlds([&](auto& w) {
    w.hold_acks(true);
    w.error(0, spec::Cause::kLocalCatastrophic, false);
    ASSERT_TRUE(w.run([&] { return !w.ctl().empty(); }));
    const auto waits = TypeParam::kIsRtl ? AdminStatus::kInProgress : AdminStatus::kOk;
    const uint64_t begun = w.now();
    EXPECT_EQ(this->once(w, AdminOpcode::kQueryQp, 1), waits);
    EXPECT_LE(w.now() - begun, w.longer(spec::kCommandPatience + 100));
    if (TypeParam::kIsRtl) {
      EXPECT_EQ(this->modify_once(w, 1, QpState::kClosing), AdminStatus::kInProgress);
      EXPECT_EQ(this->modify_once(w, 1, QpState::kError), AdminStatus::kInProgress);
      EXPECT_EQ(this->once(w, AdminOpcode::kDestroyQp, 1), AdminStatus::kInProgress);
      EXPECT_EQ(this->once(w, AdminOpcode::kQueryQp, 3), AdminStatus::kInProgress);
    }
    w.hold_acks(false);
    EXPECT_EQ(w.query(1).state, QpState::kRts) << "nothing had begun";
    EXPECT_TRUE(w.wait_state(0, QpState::kError));
    w.wait(100);
    EXPECT_EQ(w.asyncs(), std::vector<unsigned>{0});
    EXPECT_EQ(w.command(AdminOpcode::kQueryQp, 3).status, AdminStatus::kNotFound);
    ASSERT_EQ(w.modify(1, QpState::kError), AdminStatus::kOk);
    EXPECT_EQ(w.asyncs(), std::vector<unsigned>{0});
  });
}

// A modify_qp to rts is never answered in_progress: admin has sent its streaming bytes before, so
// the driver must not repeat it.
TYPED_TEST(QpPatienceTest, AStartWaits) {
  this->worlds([&](auto& w) {
    w.create(2, 4, 3);
    w.hold_acks(true);
    w.error(0, spec::Cause::kLocalCatastrophic, false);
    ASSERT_TRUE(w.run([&] { return !w.ctl().empty(); }));
    w.wait(2 * spec::kCommandPatience);
    spec::Cmd cmd{.opcode = AdminOpcode::kModifyQp, .object = 2, .args = {}};
    const auto words = w.modify_args(2, QpState::kRts);
    std::memcpy(cmd.args.data(), words.data(), cmd.args.size());
    this->dut.qp_cmd.put(cmd);
    w.wait(3 * spec::kCommandPatience);
    EXPECT_TRUE(this->dut.qp_cmd_rsp.empty());
    w.hold_acks(false);
    ASSERT_TRUE(w.run([&] { return !this->dut.qp_cmd_rsp.empty(); }));
    EXPECT_EQ(this->dut.qp_cmd_rsp.take().status, AdminStatus::kOk);
    EXPECT_EQ(w.query(2).state, QpState::kRts);
  });
}

}  // namespace
}  // namespace rnic::tb
