// A run in which nothing moves any more ends, and says who waits for whom: here a connection whose
// link gives no more credit. Architecture 12, 14 (the watchdog).
#include <gmock/gmock.h>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using testing::HasSubstr;

constexpr uint32_t kBytes = 60'000;

class Watchdog : public testing::TestWithParam<Kinds> {};

TEST_P(Watchdog, SaysWhoWaitsForWhom) {
  in_child([] {
    World w({.kind = GetParam(), .settings = {"watchdog_us=100"}});
    bool ready = false, holds = false;
    uint32_t key = 0, limit = 0;
    w.tap(kClient).on_credit = [&](spec::LlpCredit& c) {
      if (holds) {
        c.limit = limit;
      } else {
        limit = c.limit;
      }
    };
    const auto result = w.try_run(
        [&](Host& h) {
          h.open();
          Region data = h.region(kBytes);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          holds = true;
          for (int i = 0; i < 16; ++i) (void)e.write(data.sge(0, kBytes), key, data.mr.addr());
          h.until_complete(e, "Writes that cannot end");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(kBytes);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          h.accept(e);
          ready = true;
          h.until("the client", [] { return false; });
        });
    EXPECT_EQ(result.status, sim::RunStatus::kNoProgress);
    EXPECT_THAT(result.report, HasSubstr("no progress at"));
    EXPECT_THAT(result.report, HasSubstr("host0/client: polls"));
    EXPECT_THAT(result.report, HasSubstr("connection 0"));
    EXPECT_THAT(result.report, HasSubstr("credit"));
    if (GetParam() != kRtl) {
      EXPECT_THAT(result.report, HasSubstr("QP 0 waits for the LLP's credit"));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Watchdog, testing::Values(kModel, kRtl, kTandem), name_of_kinds);

}  // namespace
}  // namespace rnic::tb
