// A connection whose link window holds one FPDU stalls no other: the others run at their rate.
// Architecture 5: a closed window of one connection blocks no other.
#include <unistd.h>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kBytes = 4000, kWrites = 40, kOthers = 2;

/// How long the Writes of all connections but the first take in simulated time, and how many Writes
/// of the first connection, which may be narrow, are complete by then.
struct Result {
  Time others = 0;
  uint64_t narrow = 0;
};

Result measure(const Kinds& kind, bool narrow) {
  Result result;
  World w({.kind = kind,
           .settings = {narrow ? "llp_narrow_connections=1" : "llp_narrow_connections=0"}});
  uint32_t key = 0;
  bool ready = false, done = false;
  w.run(
      [&](Host& h) {
        h.open();
        Region data = h.region(kBytes);
        fill(data.buffer.bytes(), 1);
        const QpCap cap{.max_send_wr = kWrites};
        std::vector<Endpoint*> all;
        for (uint32_t i = 0; i <= kOthers; ++i) {
          all.push_back(&h.endpoint(cap));
          h.connect(*all.back());
          EXPECT_EQ(all.back()->number(), i);  // the first is the narrow one
        }
        h.until("the server", [&] { return ready; });
        const Time start = h.dev.now();
        for (uint32_t n = 0; n < kWrites; ++n) {
          for (Endpoint* e : all)
            (void)e->write(data.sge(0, kBytes), key, kTarget + kBytes * (e == all[0] ? 0 : 1));
        }
        h.until("the others", [&] {
          for (uint32_t i = 1; i <= kOthers; ++i) {
            if (all[i]->outstanding() != 0) return false;
          }
          return true;
        });
        result.others = h.dev.now() - start;
        result.narrow = all[0]->done.size();
        h.until_complete(*all[0], "the narrow one");
        for (Endpoint* e : all) {
          for (const Wc& wc : e->done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        }
        done = true;
      },
      [&](Host& h) {
        h.open();
        Region data = h.region(2 * kBytes, Host::kAll, kTarget);
        key = data.mr.rkey();
        std::vector<Endpoint*> all;
        for (uint32_t i = 0; i <= kOthers; ++i) {
          all.push_back(&h.endpoint());
          h.accept(*all.back());
        }
        ready = true;
        h.until("the client", [&] { return done; });
        EXPECT_EQ(wrong(data.buffer.bytes().first(kBytes), 1), 0u);
        EXPECT_EQ(wrong(data.buffer.bytes().subspan(kBytes), 1), 0u);
      });
  return result;
}

class Window : public testing::TestWithParam<Kinds> {};

TEST_P(Window, OfOneFpduHoldsNobodyElse) {
  std::array<Result, 2> results;
  for (const bool narrow : {false, true}) {
    int fd[2];
    ASSERT_EQ(pipe(fd), 0);
    in_child([&] {
      const Result r = measure(GetParam(), narrow);
      ASSERT_EQ(write(fd[1], &r, sizeof r), static_cast<ssize_t>(sizeof r));
    });
    ASSERT_FALSE(HasFailure());
    ASSERT_EQ(read(fd[0], &results[narrow ? 1 : 0], sizeof(Result)),
              static_cast<ssize_t>(sizeof(Result)));
    close(fd[0]);
    close(fd[1]);
  }
  const auto& [wide, narrow] = results;
  RecordProperty("wide_ns", std::to_string(wide.others / kNs));
  RecordProperty("narrow_ns", std::to_string(narrow.others / kNs));
  EXPECT_LT(narrow.narrow, wide.narrow) << "the window was not narrow";
  // While the narrow connection waits for its window, the other two share the whole link.
  EXPECT_LT(narrow.others, wide.others);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Window,
                         testing::Values(kModel, kRtl, kModelMinimum, kTandemMinimum, kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
