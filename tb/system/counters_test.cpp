// The counters of each unit mean the same in model and RTL (docs/theory-of-operation.md, Counters):
// after the same traffic every unit has handled as many items, and has been busy for about as long.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "run.hpp"

namespace rnic::app {
namespace {

struct Case {
  const char* program;
  std::vector<const char*> settings;
};

nlohmann::ordered_json units(const Case& c, const char* kind) {
  RunRequest r;
  r.program = c.program;
  r.kind = {kind, kind};
  for (const char* s : c.settings) r.config.set(s, "test");
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure << "reproduce: " << reproduce(r);
  return out.json.value("units", nlohmann::ordered_json::object());
}

class Counters : public testing::TestWithParam<Case> {};

TEST_P(Counters, AreThoseOfTheRtl) {
  const auto model = units(GetParam(), "model"), rtl = units(GetParam(), "rtl");
  for (const char* side : {"client", "server"}) {
    ASSERT_TRUE(model.contains(side) && rtl.contains(side));
    ASSERT_EQ(model[side].size(), 9U);
    for (const auto& [unit, m] : model[side].items()) {
      const auto& r = rtl[side][unit];
      SCOPED_TRACE(fmt::format("{} of the {}: model {}, RTL {}", unit, side, m.dump(), r.dump()));
      if (unit == "host_if") {  // the driver polls registers until the device is ready, which is a matter of time
        EXPECT_NEAR(m["items"].get<double>(), r["items"].get<double>(), 4);
      } else {
        EXPECT_EQ(m["items"], r["items"]);
      }
      const double ours = m["busy"], theirs = r["busy"];
      EXPECT_LT(std::abs(ours - theirs), 0.2 * theirs + 4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Counters,
                         testing::Values(Case{"write_bw", {"size=4096", "count=20", "warmup=0"}},
                                         Case{"read_bw", {"size=3000", "count=20", "warmup=0"}},
                                         Case{"send_bw", {"size=100", "count=20", "warmup=0"}}),
                         [](const auto& info) { return std::string(info.param.program); });

}  // namespace
}  // namespace rnic::app
