// The follower on memory windows: it accepts a bind, a re-bind and refused requests, and reports
// each single change of them. See follower_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "script.hpp"

namespace rnic::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Script life(void (Script::*part)()) {
  Script s;
  s.set_up();
  (s.*part)();
  return s;
}
Script binding() { return life(&Script::bind_window); }
Script refused() { return life(&Script::refuse_bind); }
Script held() { return life(&Script::refuse_invalidation); }

/// Moves the step `label` before the step `before`.
void move(Script& s, const std::string& label, const std::string& before) {
  const Step step = s[label];
  s.drop(label);
  s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(s.at(before)), step);
}

/// The life with another result of tpt_change: 1 begun, 3 open (of a registration); 5 bound, 6
/// refused, 7 closed for a later try (of a bind).
std::string with(Script s, const char* label, uint8_t of_reg) {
  s[label].commit<spec::TptChangeCommit>().of_reg = of_reg;
  return s.run();
}

/// Three Writes of 150 bytes; the bind, the second bind and the unbinding complete.
TEST(FollowerWindows, Bound) {
  EXPECT_THAT(binding().run([](const Follower& f) {
    EXPECT_EQ(f.tally().count(Kind::kPlacedBytes).compared, 450U);
    EXPECT_EQ(f.tally().count(Kind::kCompletions).compared, 3U);
    EXPECT_THAT(f.waiting_for(), IsEmpty());
  }),
              IsEmpty());
}
TEST(FollowerWindows, Refused) { EXPECT_THAT(refused().run(), IsEmpty()); }
TEST(FollowerWindows, RefusedInvalidation) { EXPECT_THAT(held().run(), IsEmpty()); }

TEST(FollowerWindowsDiffer, OtherResultOfABind) {
  EXPECT_THAT(with(binding(), "the change of the bind", 6),
              HasSubstr("RTL refuses to bind it / model binds it"));
  EXPECT_THAT(with(binding(), "the change of the bind", 7),
              HasSubstr("RTL closes it / model binds it"));
  EXPECT_THAT(with(binding(), "the close for the second bind", 5),
              HasSubstr("RTL binds it / model closes it"));
  EXPECT_THAT(with(binding(), "the close for the second bind", 6),
              HasSubstr("RTL refuses to bind it / model closes it"));
  EXPECT_THAT(with(refused(), "the refusal", 5),
              HasSubstr("RTL binds it / model refuses to bind it"));
  EXPECT_THAT(with(binding(), "the change of the bind", 1),
              HasSubstr("RTL claims region 8; model has no registration for it"));
  EXPECT_THAT(with(binding(), "the change of the bind", 3),
              HasSubstr("RTL opens region 8; model has no registration for it"));
}

TEST(FollowerWindowsDiffer, ABindOfNobody) {
  Script s = binding();
  s.twice("the change of the bind");
  EXPECT_THAT(s.run(), HasSubstr("RTL binds region 8; model has no bind for it"));

  s = binding();
  s["the change of the bind"].commit<spec::TptChangeCommit>().slot = 5;
  EXPECT_THAT(s.run(), HasSubstr("RTL binds region 5 for QP 3"));
  s = binding();
  s["the change of the bind"].commit<spec::TptChangeCommit>().wqe = 1;
  EXPECT_THAT(s.run(), HasSubstr("for QP 3 slot 1 / model 8 for"));
  s = life(&Script::register_memory);
  s["the claim"].commit<spec::TptChangeCommit>().of_reg = 5;
  EXPECT_THAT(s.run(), HasSubstr("RTL binds region 7; model has no bind for it"));
}

/// A Write with the old key is not yet fully placed.
TEST(FollowerWindowsDiffer, BoundBeforeItHasDrained) {
  Script s = binding();
  move(s, "the change of the second bind", "the last payload of a Write with the old key");
  EXPECT_THAT(s.run(), HasSubstr("RTL binds region 8; model has extents in flight from before"));
}

TEST(FollowerWindowsDiffer, OldKeyAfterTheClose) {
  Script s = binding();
  move(s, "the close for the second bind", "the lookup of a Write with the old key");
  EXPECT_THAT(s.run(), HasSubstr("model places nothing now"));
}

TEST(FollowerWindowsDiffer, ReportedBeforeItIsBound) {
  Script s = binding();
  s.swap("the end of the bind", "the change of the bind");
  EXPECT_THAT(s.run(), HasSubstr("RTL took a finished Read; model has none"));
}

TEST(FollowerWindowsDiffer, PlacedElsewhere) {
  Script s = binding();
  s["the last payload of a Write to the window"].as<DmaWrite>().address += 8;
  EXPECT_THAT(s.run(), HasSubstr("RTL wrote 54 bytes at 0x300008; model places 54 there"));
}

TEST(FollowerWindowsDiffer, ARegionWithAWindowIsDestroyed) {
  Script s = binding();
  s["the refusal to destroy"].commit<spec::TptChangeCommit>().waits = 1;
  EXPECT_THAT(s.run(), HasSubstr("RTL closes region 5; model has windows bound to it"));

  s = binding();
  auto& w = s["the answer to the destroy of a region in use"].as<DmaWrite>();
  auto rsp = spec::AdminRsp::unpack(w.data.bytes());
  rsp.status = spec::AdminStatus::kOk;
  w.data = Payload::make(spec::AdminRsp::kBytes);
  rsp.pack(w.data.writable());
  EXPECT_THAT(s.run(), HasSubstr("admin: byte"));
}

TEST(FollowerWindowsDiffer, InvalidationOfARegionWithAWindow) {
  EXPECT_THAT(with(held(), "the refusal", 0), HasSubstr("RTL takes it; model does not"));
  Script s = held();
  s["the refusal"].commit<spec::TptChangeCommit>().slot = 8;
  EXPECT_THAT(s.run(), HasSubstr("RTL invalidates region 8 / model 5"));
}

TEST(FollowerWindowsDiffer, StatusOfARefusal) {
  for (Script s : {refused(), held()}) {
    const char* label = s.steps.at(s.at("the refusal")).commit<spec::TptChangeCommit>().of_sq != 0
                            ? "the CQE of the invalidation"
                            : "the CQE of the refused bind";
    auto& w = s[label].as<DmaWrite>();
    auto e = spec::Cqe::unpack(w.data.bytes());
    e.status = spec::WcStatus::kLocProtErr;
    w.data = Payload::make(spec::Cqe::kBytes);
    e.pack(w.data.writable());
    EXPECT_THAT(s.run(), AllOf(HasSubstr("completion: RTL"), HasSubstr("mw_bind_err")));
  }
}

TEST(FollowerWindowsDiffer, EveryCommitDroppedAndEveryStepDoubled) {
  for (const Script& whole : {binding(), refused(), held()}) {
    for (size_t i = whole.at("the look at the window's slot"); i < whole.steps.size(); ++i) {
      const auto& what = whole.steps[i].what;
      const auto at = static_cast<std::ptrdiff_t>(i);
      // Not dropped: without its mark a completion has another status, which is compared. Not
      // doubled: the follower takes a second refusal at rdmap for that of a Read whose QP has
      // failed.
      const bool is_mark = whole.steps[i].label == "the mark",
                 is_at_rdmap = whole.steps[i].label == "rdmap hears of the refusal";
      if (std::holds_alternative<spec::AnyCommit>(what) && !is_mark) {
        Script s = whole;
        s.steps.erase(s.steps.begin() + at);
        EXPECT_THAT(s.run(), Not(IsEmpty())) << "without " << whole.steps[i].label;
      }
      if (std::holds_alternative<Mmio>(what) || is_at_rdmap) continue;
      Script s = whole;
      s.steps.insert(s.steps.begin() + at, whole.steps[i]);
      EXPECT_THAT(s.run(), Not(IsEmpty())) << "twice " << whole.steps[i].label;
    }
  }
}

}  // namespace
}  // namespace rnic::sim
