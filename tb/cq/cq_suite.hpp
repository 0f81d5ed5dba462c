// The types that cq's tests run over, and their set-up: worlds with an event queue.
//
//   template <class D>
//   class CqEventTest : public CqTest<D> {};
//   TYPED_TEST_SUITE(CqEventTest, CqDuts);
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "VCq.h"
#include "VCqMin.h"
#include "VCqMin___024root.h"
#include "VCqMin_rnic_stall_pkg.h"
#include "VCq___024root.h"
#include "cq/cq_model.hpp"
#include "cq/cq_world.hpp"

namespace rnic::tb {

using Events = std::vector<EventSeen>;

template <class D>
class CqTest : public testing::Test {
 protected:
  D dut;

  /// Calls body(world, pace) at every pace, each time after a reset and in a new world with EQ 0
  /// (2^4 entries, vector 1).
  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      CqWorld<D> w(dut, test_rng("world"));
      w.create_eq(0, 4, 1);
      body(w, p);
    });
  }
  /// The event that reports a completion of CQ `cqn`, in EQ `eqn`.
  static EventSeen completion(uint32_t cqn, uint32_t eqn = 0) {
    return {spec::EqeType::kCompletion, cqn, eqn};
  }
  /// Expects that cq writes no event for a while.
  void expect_silence(CqWorld<D>& w) { EXPECT_EQ(w.take_events(), Events{}); }
};

using CqDuts =
    testing::Types<CqDut<VCq, false>, CqDut<VCqMin, true>, CqModelDut<false>, CqModelDut<true>>;
using CqRtlDuts = testing::Types<CqDut<VCq, false>, CqDut<VCqMin, true>>;

}  // namespace rnic::tb
