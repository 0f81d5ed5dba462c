// A device that waits for ever is told: the watchdog ends the run, and its report names who waits
// for what, from the program to the credit. Architecture 5.
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint32_t kBytes = 1 << 20;  // more than the peer's window

class Hang : public testing::TestWithParam<Kinds> {};

TEST_P(Hang, ReportNamesTheConnectionThatHasNoCredit) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"watchdog_us=300"}});
    uint32_t key = 0;
    uint64_t target = 0;
    uint16_t number = 0;
    bool ready = false;
    std::optional<uint32_t> last;  // limit of the connection; from then on it stays
    w.tap(kClient).on_credit = [&](spec::LlpCredit& c) {
      if (ready && c.connection == number) c.limit = last.value_or(c.limit);
      if (c.connection == number) last = c.limit;
    };
    const sim::RunResult r = w.try_run(
        [&](Host& h) {
          h.open();
          Region data = h.region(kBytes);
          Endpoint& e = h.endpoint();
          h.connect(e);
          number = e.number();
          h.until("the server", [&] { return ready; });
          (void)e.write(data.sge(0, kBytes), key, target);
          h.until("the Write", [&] { return e.outstanding() == 0; }, 10 * kMs);
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(kBytes);
          key = data.mr.rkey();
          target = data.mr.addr();
          Endpoint& e = h.endpoint();
          h.accept(e);
          ready = true;
          h.until("the end", [&] { return w.failed; }, 10 * kMs);
        });
    EXPECT_EQ(r.status, sim::RunStatus::kNoProgress) << r.report;
    EXPECT_LT(r.end, 2 * kMs);
    const auto says = [&](const std::string& what) {
      EXPECT_NE(r.report.find(what), std::string::npos) << what << " is not in:\n" << r.report;
    };
    says("no progress at");
    says("host0/client: polls");
    says("host1/server: polls");
    says("host0 " + GetParam()[kClient].substr(0, 3));
    const std::string connection = "connection " + std::to_string(number);
    if (GetParam()[kClient].starts_with("model")) {
      says("llp_if: QP ");
      says("waits for the LLP's credit (" + connection + ": ");
      says("wants to send a segment and waits for llp_if's grant");
      says("issued WQEs, oldest index 0");
    } else {
      says(connection + " has ");
      says(" bytes of the LLP's credit left");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, Hang, testing::Values(kModel, kRtl, kTandem, kModelMinimum, kTandemMinimum),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
