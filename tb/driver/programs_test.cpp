// The programs on two fake devices back to back: they end, every byte is right, and the driver
// keeps its rules although host threads switch in the middle of its calls.
#include "programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "common.hpp"
#include "driver/loop_world.hpp"
#include "durable_log.hpp"
#include "support/seed.hpp"

namespace rnic::tb {
namespace {

using namespace programs;
using testing::IsEmpty;

struct Outcome {
  Report client, server;
};

/// Runs a program on both hosts of a LoopWorld: host 0 is the client. spoil() is called before the
/// run, look() after it.
Outcome run(std::string_view name, const Params& p, const spec::Sizes& sizes = {},
            const std::function<void(LoopWorld&)>& spoil = nullptr,
            const std::function<void(LoopWorld&)>& look = nullptr) {
  const Program* program = find(name);
  LoopWorld world(test_seed(), sizes);
  if (spoil) spoil(world);
  Session hosts[2] = {Session({.seed = 1}, p.threads), Session({.seed = 2}, p.threads)};
  std::vector<Report> reports[2] = {std::vector<Report>(p.threads), std::vector<Report>(p.threads)};
  for (uint32_t t = 0; t < p.threads; t++)
    for (unsigned h = 0; h < 2; h++)
      world.add(h, [&, t, h](PciDevice& dev) {
        (h == 0 ? program->client : program->server)(
            {.dev = dev, .session = hosts[h], .params = p, .thread = t, .report = reports[h][t]});
      });
  world.run();
  EXPECT_THAT(world.device(0).violations, IsEmpty());
  EXPECT_THAT(world.device(1).violations, IsEmpty());
  EXPECT_THAT(world.device(0).qps, IsEmpty());
  EXPECT_THAT(world.device(1).mrs, IsEmpty());
  EXPECT_THAT(world.device(0).srqs, IsEmpty());
  EXPECT_THAT(world.device(1).srqs, IsEmpty());
  if (look) look(world);
  return {merge(reports[0]), merge(reports[1])};
}

void expect_good(const Outcome& o) {
  EXPECT_EQ(o.client.error, "") << "client, in " << o.client.stage;
  EXPECT_EQ(o.server.error, "") << "server, in " << o.server.stage;
  EXPECT_EQ(o.client.mismatches, 0u);
  EXPECT_EQ(o.server.mismatches, 0u);
  EXPECT_TRUE(o.client.good());
  EXPECT_TRUE(o.server.good());
}

class EveryProgram : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryProgram, EndsWellAtManySizes) {
  for (const uint32_t size : {1u, 8u, 63u, 64u, 65u, 4097u}) {
    SCOPED_TRACE(size);
    const std::vector<uint8_t> file(1000, 0x5a);
    expect_good(
        run(GetParam(), {.size = size, .count = 70, .warmup = 10, .depth = 32, .file = file}));
  }
}

TEST_P(EveryProgram, EndsWellInTheMinimumBuild) {
  expect_good(run(GetParam(),
                  {.size = 100, .count = 40, .warmup = 3, .qps = 2, .depth = 5, .both = true},
                  spec::Sizes::minimum()));
}

TEST_P(EveryProgram, EndsWellWithThreads) {
  expect_good(
      run(GetParam(),
          {.size = 32, .count = 50, .warmup = 0, .threads = 3, .inline_bytes = 32, .push = true}));
}

/// Returns whether that host receives data when the program runs with both = 1.
bool has_sink(std::string_view name, unsigned host) {
  if (name == "file_copy" || name == "flush_lat") return host == 1;
  return name != "read_lat" || host == 0;
}

TEST_P(EveryProgram, SeesOneWrongByteOfAnyMessage) {
  const std::vector<uint8_t> file(4000, 0x5a);
  for (const unsigned host : {0u, 1u}) {
    for (const uint64_t nth : {1u, 2u, 8u, 9u, 17u, 25u, 36u, 39u}) {
      if (!has_sink(GetParam(), host)) continue;
      SCOPED_TRACE(fmt::format("message {} of host {}", nth, host));
      const auto o = run(
          GetParam(),
          {.size = 100, .count = 30, .warmup = 9, .depth = 8, .both = true, .file = file}, {},
          [&](LoopWorld& w) {
            LoopDevice& d = w.device(host);
            d.damage_at = nth;
            d.damage_length = 100;
            d.damage_byte = nth * 7 % 99;  // the last byte signals that a Write of write_lat came
          });
      EXPECT_EQ(o.client.mismatches + o.server.mismatches, 1u);
      EXPECT_EQ((host == 0 ? o.client : o.server).mismatches, 1u);
      EXPECT_NE((host == 0 ? o.client : o.server).wrong_bus, 0u);
    }
  }
}

TEST_P(EveryProgram, EndsWhenTheConnectionFails) {
  const std::vector<uint8_t> file(4000, 0x5a);
  const auto o =
      run(GetParam(), {.size = 100, .count = 500, .depth = 16, .timeout_us = 3000, .file = file},
          {}, [](LoopWorld& w) { w.device(1).fail_at = w.device(0).fail_at = 20; });
  EXPECT_NE(o.client.error, "");
  EXPECT_NE(o.server.error, "");
  EXPECT_FALSE(o.client.good());
}

TEST_P(EveryProgram, IsTheSameTwice) {
  const Params p{.size = 200, .count = 40};
  const auto a = run(GetParam(), p), b = run(GetParam(), p);
  EXPECT_EQ(a.client.end, b.client.end);
  EXPECT_EQ(a.client.latency, b.client.latency);
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram,
                         testing::Values("write_lat", "write_bw", "write_flush_bw", "flush_lat",
                                         "read_lat", "read_bw", "send_lat", "send_bw", "pingpong",
                                         "srq_pingpong", "file_copy"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Programs, CountWhatTheySent) {
  for (const auto* name : {"write_bw", "write_flush_bw", "read_bw", "send_bw"}) {
    for (const uint32_t warmup : {0u, 1u, 16u}) {
      SCOPED_TRACE(fmt::format("{}, warmup {}", name, warmup));
      const auto o =
          run(name, {.size = 128, .count = 100, .warmup = warmup, .qps = 2, .threads = 3});
      EXPECT_EQ(o.client.ops, 600u);
      EXPECT_EQ(o.client.bytes, 600u * 128);
      EXPECT_GT(o.client.end, o.client.start);
      EXPECT_EQ(o.server.ops, 0u);
    }
  }
  const auto lat = run("send_lat", {.count = 33, .warmup = 4});
  EXPECT_EQ(lat.client.latency.size(), 33u);
  EXPECT_EQ(lat.client.ops, 33u);
}

Report measured(Time start, Time end, uint64_t ops) {
  Report r;
  r.start = start;
  r.end = end;
  r.ops = ops;
  r.bytes = 10 * ops;
  return r;
}

TEST(Merge, CountsFromTheFirstStartToTheLastEnd) {
  const Report parts[] = {measured(1000, 2000, 10), measured(2000, 4000, 11)};
  const Report sum = merge(parts);
  EXPECT_EQ(sum.start, 1000u);
  EXPECT_EQ(sum.end, 4000u);
  EXPECT_EQ(sum.ops, 21u);
  EXPECT_EQ(sum.bytes, 210u);
}

TEST(Merge, ASideThatSendsNothingHasNoTime) {
  const Report parts[2];
  EXPECT_EQ(merge(parts).start, 0u);
  EXPECT_EQ(merge(parts).end, 0u);
}

/// The measured window (session.hpp) of 8 messages after a warm-up of 4, with two threads. The
/// tests call w.look(thread, time, {arrived in memory, the same with all segments that have begun},
/// is quiet): a sample. Quiet: it has seen all that has arrived.
class WindowTest : public testing::Test {
 protected:
  void SetUp() override { w.plan(2, 4, 8, 0); }
  void closes(Time from, Time to) {
    EXPECT_TRUE(w.is_closed());
    EXPECT_EQ(w.from(), from);
    EXPECT_EQ(w.to(), to);
  }
  Window w;
};

TEST_F(WindowTest, CountsWhatArrivesAfterTheWarmUp) {
  w.look(0, 100, {3, 3}, true);
  w.look(1, 110, {0, 0}, true);
  w.look(0, 120, {5, 5}, true);  // opens
  w.look(1, 130, {2, 2}, true);  // joins
  w.look(0, 140, {9, 9}, true);
  w.look(1, 150, {5, 5}, true);
  EXPECT_FALSE(w.is_closed());
  w.look(1, 160, {6, 6}, false);
  closes(100, 160);
}

TEST_F(WindowTest, DoesNotCountSegmentsThatHaveBegunBeforeIt) {
  Window cut;  // two threads, messages of 100 bytes in segments of 30
  cut.plan(2, 400, 800, 400);
  cut.look(0, 100, {300, 300}, true);
  cut.look(0, 120, {510, 530}, true);  // opens
  cut.look(1, 130, {275, 290}, true);  // joins
  cut.look(0, 140, {930, 930}, true);  // 400 count
  cut.look(1, 150, {689, 690}, true);  // 399 count
  EXPECT_FALSE(cut.is_closed());
  cut.look(1, 160, {690, 690}, true);
  EXPECT_TRUE(cut.is_closed());
  EXPECT_EQ(cut.from(), 100u);
  EXPECT_EQ(cut.to(), 160u);
}

TEST_F(WindowTest, LooksAtPartsOfMessagesAtItsEndsAlone) {
  Window cut;
  cut.plan(1, 1000, 4000, 200);
  EXPECT_FALSE(cut.is_exact(0, 500));
  EXPECT_TRUE(cut.is_exact(0, 600));
  cut.look(0, 100, {1010, 1100}, false);
  EXPECT_TRUE(cut.is_exact(0, 1000));
  cut.look(0, 110, {1010, 1100}, true);  // opens
  EXPECT_FALSE(cut.is_exact(0, 1100));
  cut.look(0, 120, {4700, 4700}, true);  // 3600 count
  EXPECT_TRUE(cut.is_exact(0, 4700));
}

TEST(Side, SeesHowMuchOfAPatternIsThere) {
  for (const uint64_t size : {8u, 61u, 1000u}) {
    std::vector<uint8_t> bytes(size);
    for (const uint64_t here : {uint64_t{0}, uint64_t{8}, size / 8 * 8, size}) {
      Side::fill(bytes, 7);
      for (uint64_t i = here; i < size; i++) bytes[i] ^= 0x55;
      EXPECT_EQ(Side::matching(bytes, 7), here) << size;
    }
  }
}

TEST_F(WindowTest, OpensAndIsJoinedWhenALookHasSeenAllThatHasArrived) {
  w.look(0, 100, {5, 5}, false);
  w.look(0, 110, {20, 20}, true);   // messages not yet seen at 100 arrived before the window
  w.look(1, 120, {32, 32}, false);  // their time of arrival is unknown
  w.look(1, 130, {64, 64}, true);
  w.look(1, 140, {71, 71}, false);
  EXPECT_FALSE(w.is_closed());
  w.look(1, 150, {72, 72}, false);
  closes(100, 150);
}

TEST_F(WindowTest, TakesABusyThreadAfterAFewLooks) {
  for (Time t = 1; t <= 8; t++) w.look(0, 100 * t, {32 * t, 32 * t}, false);
  EXPECT_TRUE(w.is_closed());
  EXPECT_EQ(w.to() - w.from(), 200u);
}

TEST_F(WindowTest, AThreadThatIsAheadEndsItNoEarlierThanItHasLooked) {
  w.look(0, 200, {4, 4}, true);
  w.look(1, 150, {0, 0}, true);  // before it opened
  w.look(1, 250, {0, 0}, true);
  w.look(0, 400, {11, 11}, true);
  w.look(1, 350, {1, 1}, true);
  closes(200, 400);
}

TEST_F(WindowTest, IsTheWholeRunWhenAllHaveLeftBefore) {
  w.look(0, 100, {4, 4}, true);
  w.look(1, 150, {4, 4}, true);
  w.leave(0, 300);
  EXPECT_FALSE(w.is_closed());
  w.leave(1, 400);
  closes(100, 400);
}

TEST_F(WindowTest, HasNoThreadThatIsNotPlanned) {
  Window none;
  none.leave(0, 100);
  EXPECT_FALSE(none.is_closed());
}

TEST(Merge, TellsTheFirstErrorOfAll) {
  Report parts[3];
  parts[0].error = "timed out";
  parts[0].stage = "run";
  parts[0].failed_at = 5000;
  parts[1].error = "protocol";
  parts[1].stage = "connect";
  parts[1].failed_at = 100;
  const Report sum = merge(parts);
  EXPECT_EQ(sum.error, "protocol");
  EXPECT_EQ(sum.stage, "connect");
  EXPECT_EQ(sum.failed_at, 100u);
}

TEST(Programs, BothDirections) {
  for (const auto* name : {"write_bw", "write_flush_bw", "read_bw", "send_bw"}) {
    SCOPED_TRACE(name);
    const auto o = run(name, {.size = 300, .count = 200, .qps = 3, .depth = 40, .both = true});
    expect_good(o);
    EXPECT_GT(o.server.ops, 0u);
  }
}

// The server gets no completion of the peer's Writes and Reads for longer than its time-out.
TEST(Programs, TheOneThatOnlyLooksOnIsPatient) {
  for (const auto* name : {"write_bw", "write_flush_bw", "read_bw", "read_lat"}) {
    SCOPED_TRACE(name);
    Params p{.size = 64, .count = 8000, .depth = 16};
    const auto o = run(name, p);
    expect_good(o);
    p.timeout_us = static_cast<uint32_t>((o.client.end - o.client.start) / kUs / 4);
    expect_good(run(name, p));
  }
}

using Arrivals = std::map<size_t, uint64_t>;  // messages placed, by length
// The last message of a lane; the Write of start and end of the window to the credit line.
constexpr size_t kControlBytes = 64, kWindowBytes = 16;

TEST(Programs, SayNothingWhileTheyAreMeasured) {
  for (const auto* name : {"write_bw", "write_flush_bw", "read_bw", "read_lat"}) {
    SCOPED_TRACE(name);
    std::array<Arrivals, 2> arrivals;
    expect_good(run(name, {.size = 1000, .count = 300, .warmup = 10, .depth = 8}, {}, nullptr,
                    [&](LoopWorld& w) {
                      for (unsigned h : {0u, 1u}) arrivals[h] = w.device(h).arrivals;
                    }));
    const bool is_write = std::string_view(name).starts_with("write");
    Arrivals& data = arrivals[is_write ? 1 : 0];
    const Arrivals& other = arrivals[is_write ? 0 : 1];
    EXPECT_GE(data[1000], 310u);
    data[1000] = 310;  // the bandwidth programs also send a tail
    EXPECT_EQ(data, (Arrivals{{kControlBytes, 1}, {1000, 310}}));
    const Arrivals said{{kControlBytes, 1}}, measured{{kControlBytes, 1}, {kWindowBytes, 1}};
    EXPECT_EQ(other, is_write ? measured : said);
  }
}

TEST(Programs, FlushEachWrite) {
  for (const auto* name : {"write_flush_bw", "flush_lat"}) {
    SCOPED_TRACE(name);
    expect_good(run(name, {.size = 1000, .count = 300, .warmup = 10, .depth = 8}, {}, nullptr,
                    [&](LoopWorld& w) {
                      EXPECT_GE(w.device(1).arrivals[1000], 310u);
                      EXPECT_EQ(w.device(1).flushes, w.device(1).arrivals[1000]);
                      EXPECT_EQ(w.device(0).flushes, 0u);
                    }));
  }
}

TEST(Programs, FlushLatReadsInsteadOfFlushing) {
  for (const uint32_t size : {3u, 1000u}) {
    SCOPED_TRACE(size);
    const auto o = run("flush_lat", {.size = size, .count = 30, .warmup = 4, .by_read = true}, {},
                       nullptr, [&](LoopWorld& w) {
                         EXPECT_EQ(w.device(1).flushes, 0u);
                         EXPECT_GE(w.device(0).arrivals[std::min(size, 8u)], 34u);
                       });
    expect_good(o);
    EXPECT_EQ(o.client.latency.size(), 30u);
    EXPECT_EQ(o.client.began.size(), 30u);
  }
}

/// The device has few page-list entries, so that a lane has fewer slots than messages: a slot is
/// used again when its data was checked. The sides agree on this by Writes of 8 bytes to the credit
/// line, and by Sends without data (marks).
class UsedAgain : public testing::TestWithParam<std::string_view> {
 protected:
  static spec::Sizes sizes() {
    spec::Sizes s;
    s.num_pbl = 256;
    return s;
  }
};

TEST_P(UsedAgain, EndsWell) {
  for (const uint32_t depth : {1u, 4u, 64u}) {
    for (const bool both : {false, true}) {
      SCOPED_TRACE(fmt::format("depth {}{}", depth, both ? ", both" : ""));
      std::array<Arrivals, 2> arrivals;
      expect_good(run(GetParam(),
                      {.size = 4000, .count = 300, .warmup = 0, .depth = depth, .both = both},
                      sizes(), nullptr, [&](LoopWorld& w) {
                        for (unsigned h : {0u, 1u}) arrivals[h] = w.device(h).arrivals;
                      }));
      const auto data = arrivals[0][4000] + arrivals[1][4000];
      EXPECT_EQ(data, both && GetParam() != "read_lat" ? 600u : 300u);
      EXPECT_GE(arrivals[0][8], 4u) << "nothing was agreed upon";
      EXPECT_LE(arrivals[0][8] + arrivals[1][8], data / 20);
      EXPECT_LE(arrivals[0][0] + arrivals[1][0], data / 20);
    }
  }
}

TEST_P(UsedAgain, SeesOneWrongByteOfAnyMessage) {
  for (const uint64_t nth : {1u, 64u, 65u, 249u, 777u, 1000u}) {
    SCOPED_TRACE(nth);
    const bool one_lane = GetParam() == "read_lat";
    if (one_lane && nth > 250) continue;
    const unsigned host = GetParam().starts_with("write") ? 1 : 0;
    const uint32_t size = one_lane ? 4000 : 1000;
    const auto o = run(GetParam(), {.size = size, .count = 250, .warmup = 0, .qps = 4, .depth = 8},
                       sizes(), [&](LoopWorld& w) {
                         LoopDevice& d = w.device(host);
                         d.damage_at = nth;
                         d.damage_length = size;
                         d.damage_byte = nth % 1000;
                       });
    EXPECT_EQ((host == 0 ? o.client : o.server).mismatches, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, UsedAgain,
                         testing::Values("write_bw", "write_flush_bw", "read_bw", "read_lat"),
                         [](const auto& info) { return std::string(info.param); });

// A side sends its last message as soon as its data is sent. The peer may not have polled any data
// by then.
TEST(Programs, TheLastMessageFindsAReceive) {
  for (const uint32_t depth : {1u, 4u}) {
    for (const bool both : {false, true}) {
      SCOPED_TRACE(fmt::format("depth {}{}", depth, both ? ", both" : ""));
      expect_good(run("send_bw", {.count = 1, .qps = 64, .depth = depth, .both = both}));
    }
  }
}

// A device of the minimum build has 64 IRD slots, and a QP takes 32: the third and fourth QP get
// none.
TEST(Programs, OneThreadThatCannotConnectStopsAll) {
  for (const auto* name : {"read_lat", "read_bw", "send_bw"}) {
    SCOPED_TRACE(name);
    const auto o = run(name, {.count = 40, .threads = 4, .rd_atomic = 32}, spec::Sizes::minimum());
    EXPECT_THAT(o.client.error, testing::HasSubstr("IRD slots: 1 asked for"));
    EXPECT_EQ(o.client.stage, "connect");
    EXPECT_NE(o.server.error, "");
  }
}

TEST(Programs, PingpongByEvents) { expect_good(run("pingpong", {.count = 60, .events = true})); }

TEST(Programs, FileCopyMovesTheFile) {
  base::Rng rng(test_seed());
  const auto file = rng.bytes(20001);
  for (const auto* op : {"send", "write", "read"}) {
    SCOPED_TRACE(op);
    const auto o = run("file_copy", {.size = 1024, .depth = 8, .op = op, .file = file});
    expect_good(o);
    EXPECT_EQ(std::string_view(op) == "read" ? o.client.file : o.server.file, file);
  }
}

TEST(Programs, FileCopyOfNothing) { expect_good(run("file_copy", {.size = 1024})); }

TEST(Programs, ReportAFailureAsAValue) {
  const auto o = run("write_lat", {.size = 0, .timeout_us = 200});
  EXPECT_THAT(o.client.error, testing::HasSubstr("size 0"));
  EXPECT_FALSE(o.client.good());
  const auto nobody = run("file_copy", {.timeout_us = 200, .op = "teleport"});
  EXPECT_THAT(nobody.server.error, testing::HasSubstr("teleport"));
}

// --- atomics

/// A program of atomics, with its parameters.
struct AtomicCase {
  std::string_view program, op, addresses, method;
  friend void PrintTo(const AtomicCase& c, std::ostream* out) { *out << c.program; }
};

class EveryAtomic : public testing::TestWithParam<AtomicCase> {
 protected:
  static Params params(Params p) {
    p.op = GetParam().op;
    p.addresses = GetParam().addresses;
    p.method = GetParam().method;
    return p;
  }
  static Outcome go(const Params& p, const spec::Sizes& sizes = {},
                    const std::function<void(LoopWorld&)>& spoil = nullptr) {
    return run(GetParam().program, params(p), sizes, spoil);
  }
};

TEST_P(EveryAtomic, EndsWell) {
  const bool has_qps = GetParam().program == "atomic_bw" || GetParam().program == "lock";
  for (const Params& p : {Params{.count = 40, .warmup = 0, .depth = 1},
                          Params{.count = 90, .warmup = 9, .depth = 64, .push = true},
                          Params{.count = 40, .warmup = 9, .qps = 3, .depth = 5},
                          Params{.count = 30, .warmup = 9, .threads = 3, .push = true},
                          Params{.count = 30, .warmup = 0, .qps = 3, .depth = 5, .threads = 2}}) {
    SCOPED_TRACE(fmt::format("{} QPs, {} threads, warmup {}, depth {}", p.qps, p.threads, p.warmup,
                             p.depth));
    const auto o = go(p);
    expect_good(o);
    EXPECT_EQ(o.client.ops, p.count * p.threads * (has_qps ? p.qps : 1));
    EXPECT_EQ(o.client.bytes, 8 * o.client.ops);
    EXPECT_EQ(o.server.ops, 0u);
  }
}

TEST_P(EveryAtomic, EndsWellInTheMinimumBuild) {
  expect_good(go({.count = 40, .warmup = 3, .qps = 2, .depth = 5}, spec::Sizes::minimum()));
}

TEST_P(EveryAtomic, EndsWhenTheConnectionFails) {
  const auto o = go({.count = 500, .qps = 2, .depth = 16, .timeout_us = 3000}, {},
                    [](LoopWorld& w) { w.device(1).fail_at = w.device(0).fail_at = 20; });
  EXPECT_NE(o.client.error, "");
  EXPECT_NE(o.server.error, "");
  EXPECT_FALSE(o.client.good());
}

// One word of the server or one old value is wrong. A lock may then never become free.
TEST_P(EveryAtomic, SeesOneWrongWord) {
  for (const unsigned host : {0u, 1u}) {
    if (GetParam().program == "atomic_write_lat" && host == 0) continue;
    for (const uint64_t nth : {1u, 2u, 9u, 25u}) {
      SCOPED_TRACE(fmt::format("word {} of host {}", nth, host));
      const auto o = go({.count = 30, .warmup = 9, .qps = 2, .depth = 8, .timeout_us = 500}, {},
                        [&](LoopWorld& w) {
                          LoopDevice& d = w.device(host);
                          d.damage_at = nth;
                          d.damage_length = 8;
                          d.damage_byte = nth % 8;
                        });
      EXPECT_FALSE(o.client.good() && o.server.good());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryAtomic,
                         testing::Values(AtomicCase{"atomic_lat", "fetch_add", "one", "spin"},
                                         AtomicCase{"atomic_lat", "cmp_swap", "one", "spin"},
                                         AtomicCase{"atomic_write_lat", "fetch_add", "one", "spin"},
                                         AtomicCase{"atomic_bw", "fetch_add", "one", "spin"},
                                         AtomicCase{"atomic_bw", "fetch_add", "many", "spin"},
                                         AtomicCase{"atomic_bw", "cmp_swap", "one", "spin"},
                                         AtomicCase{"atomic_bw", "cmp_swap", "many", "spin"},
                                         AtomicCase{"lock", "fetch_add", "one", "spin"},
                                         AtomicCase{"lock", "fetch_add", "one", "ticket"}),
                         [](const auto& info) {
                           const AtomicCase& c = info.param;
                           return fmt::format("{}_{}_{}_{}", c.program, c.op, c.addresses,
                                              c.method);
                         });

struct LendCase {
  std::string program, op;
  uint32_t type = 2;
};

/// frwr and mw_bind: for each message the client opens memory, which the server writes or reads.
class Lending : public testing::TestWithParam<LendCase> {
 protected:
  static Outcome go(Params p, const spec::Sizes& sizes = {},
                    const std::function<void(LoopWorld&)>& spoil = nullptr) {
    p.op = GetParam().op;
    p.mw_type = GetParam().type;
    return run(GetParam().program, p, sizes, spoil);
  }
};

TEST_P(Lending, EndsWellAtManySizes) {
  for (const uint32_t size : {0u, 1u, 64u, 4095u, 4096u, 4097u, 20000u}) {
    SCOPED_TRACE(size);
    const auto o = go({.size = size, .count = 30, .warmup = 5, .qps = 2});
    expect_good(o);
    EXPECT_EQ(o.client.ops, 60u);
    EXPECT_EQ(o.client.bytes, 60u * size);
    EXPECT_EQ(o.client.latency.size(), 60u);
  }
}

TEST_P(Lending, EndsWellInTheMinimumBuildAndWithThreads) {
  expect_good(go({.size = 300, .count = 20, .warmup = 0, .qps = 2}, spec::Sizes::minimum()));
  expect_good(go({.size = 300, .count = 20, .qps = 2, .threads = 3, .inline_bytes = 32}));
}

TEST_P(Lending, TakesAllKeysInTurn) { expect_good(go({.size = 16, .count = 600, .warmup = 0})); }

TEST_P(Lending, SeesOneWrongByte) {
  const unsigned host = GetParam().op == "read" ? 1 : 0;
  for (const uint64_t nth : {1u, 2u, 20u, 35u}) {
    SCOPED_TRACE(nth);
    const auto o = go({.size = 100, .count = 30, .warmup = 9}, {}, [&](LoopWorld& w) {
      LoopDevice& d = w.device(host);
      d.damage_at = nth;
      d.damage_length = 100;
      d.damage_byte = nth * 7 % 100;
    });
    EXPECT_EQ(o.client.mismatches, host == 0 ? 1u : 0u);
    EXPECT_EQ(o.server.mismatches, host == 1 ? 1u : 0u);
  }
}

TEST_P(Lending, EndsWhenTheConnectionFails) {
  const auto o = go({.size = 100, .count = 500, .qps = 2, .timeout_us = 3000}, {},
                    [](LoopWorld& w) { w.device(1).fail_at = w.device(0).fail_at = 20; });
  EXPECT_NE(o.client.error, "");
  EXPECT_NE(o.server.error, "");
  EXPECT_FALSE(o.client.good());
}

INSTANTIATE_TEST_SUITE_P(Programs, Lending,
                         testing::Values(LendCase{"frwr", "write"}, LendCase{"frwr", "read"},
                                         LendCase{"mw_bind", "write", 1},
                                         LendCase{"mw_bind", "read", 1},
                                         LendCase{"mw_bind", "write", 2},
                                         LendCase{"mw_bind", "read", 2}),
                         [](const auto& info) {
                           const LendCase& c = info.param;
                           return fmt::format("{}_{}_{}", c.program, c.op, c.type);
                         });

TEST(SrqPingpong, AllQpsPlayAtOnceAndOneReceiveEachIsEnough) {
  for (const uint32_t size : {0u, 1u, 64u, 5000u}) {
    SCOPED_TRACE(size);
    const auto o =
        run("srq_pingpong", {.size = size, .count = 60, .warmup = 5, .qps = 7, .rx_depth = 7});
    expect_good(o);
    EXPECT_EQ(o.client.ops, 420u);
    EXPECT_EQ(o.client.bytes, 420u * size);
    EXPECT_EQ(o.client.latency.size(), 420u);
    EXPECT_EQ(o.client.checks, 7u * 66);  // 60 counted, 5 of warm-up, the last message
    EXPECT_EQ(o.server.checks, 7u * 66);
    EXPECT_EQ(o.client.limit_events + o.server.limit_events, 0u);
    EXPECT_GT(o.client.end, o.client.start);
  }
}

TEST(SrqPingpong, CountsItsLimitEventsAndArmsThemAgain) {
  uint64_t made = 0;
  const auto o = run("srq_pingpong",
                     {.size = 100,
                      .count = 100,
                      .warmup = 0,
                      .qps = 4,
                      .threads = 2,
                      .rx_depth = 4,
                      .srq_limit = 4},
                     {}, nullptr, [&](LoopWorld& w) {
                       made = w.device(0).limit_events + w.device(1).limit_events;
                     });
  expect_good(o);
  EXPECT_GE(o.client.limit_events, 20u);
  EXPECT_GE(o.server.limit_events, 20u);
  const uint64_t seen = o.client.limit_events + o.server.limit_events;
  EXPECT_LE(seen, made);
  EXPECT_GE(seen + 4, made) << "each SRQ may make one more after the last look";
}

// The QPs share one ring of receives; each message has its own wrong byte.
TEST(SrqPingpong, SeesOneWrongByteOfAnyQp) {
  for (const unsigned host : {0u, 1u})
    for (const uint64_t nth : {1u, 7u, 50u, 119u}) {
      SCOPED_TRACE(fmt::format("message {} of host {}", nth, host));
      const auto o = run("srq_pingpong", {.size = 100, .count = 30, .warmup = 0, .qps = 4}, {},
                         [&](LoopWorld& w) {
                           LoopDevice& d = w.device(host);
                           d.damage_at = nth;
                           d.damage_length = 100;
                           d.damage_byte = nth * 7 % 100;
                         });
      EXPECT_EQ(o.client.mismatches, host == 0 ? 1u : 0u);
      EXPECT_EQ(o.server.mismatches, host == 1 ? 1u : 0u);
    }
}

TEST(SrqPingpong, EndsWhenOneConnectionOfManyFails) {
  const auto o = run("srq_pingpong", {.size = 100, .count = 500, .qps = 5, .timeout_us = 3000}, {},
                     [](LoopWorld& w) { w.device(1).fail_at = 40; });
  EXPECT_NE(o.client.error, "");
  EXPECT_NE(o.server.error, "");
}

TEST(SrqPingpong, RefusesSettingsThatDoNotFit) {
  const auto what = [](const Params& p) {
    const auto r = check(*find("srq_pingpong"), p);
    return r ? "" : r.error().what;
  };
  EXPECT_EQ(what({.qps = 8, .rx_depth = 8, .srq_limit = 8}), "");
  EXPECT_EQ(what({.qps = 8, .srq_limit = 32}), "");
  EXPECT_EQ(what({.size = 1 << 20, .qps = 100}), "");
  EXPECT_EQ(what({.qps = 8, .rx_depth = 7}),
            "srq_pingpong: rx_depth=7: fewer than one receive for each of 8 QPs (qps): a message "
            "that finds none ends its connection; at least rx_depth=8");
  EXPECT_EQ(what({.qps = 40000}), "srq_pingpong: qps=40000: an SRQ has at most 32768 receives");
  EXPECT_EQ(what({.qps = 8, .srq_limit = 33}),
            "srq_pingpong: srq_limit=33: the SRQ has 32 receives (rx_depth)");
  EXPECT_THAT(run("srq_pingpong", {.qps = 2, .rx_depth = 1}).client.error,
              testing::HasSubstr("at least rx_depth=2"));
  Params p;
  EXPECT_THAT(set(p, "rx_depth", "32769").error().what,
              "rx_depth=32769: a whole number from 0 to 32768 is wanted");
  // QPs and SRQs share numbers: the device has none left for the SRQ.
  const uint32_t most = spec::Sizes::minimum().num_qps;
  EXPECT_THAT(run("srq_pingpong", {.count = 3, .qps = most}, spec::Sizes::minimum()).client.error,
              testing::HasSubstr("queue pairs"));
}

TEST(Programs, ListTheWordsTheyKnow) {
  const auto what = [](std::string_view program, const Params& p) {
    const auto r = check(*find(program), p);
    return r ? "" : r.error().what;
  };
  EXPECT_EQ(what("atomic_bw", {.op = "send"}), "atomic_bw: op=send: one of fetch_add, cmp_swap");
  EXPECT_EQ(what("atomic_lat", {.op = "fetch_add"}), "");
  EXPECT_EQ(what("frwr", {.op = "send"}), "frwr: op=send: one of write, read");
  EXPECT_EQ(what("frwr", {.op = "read"}), "");
  EXPECT_EQ(what("mw_bind", {.op = "send"}), "mw_bind: op=send: one of write, read");
  EXPECT_EQ(what("mw_bind", {.op = "write"}), "");
  EXPECT_EQ(what("file_copy", {.op = "cmp_swap"}),
            "file_copy: op=cmp_swap: one of send, write, read");
  EXPECT_EQ(what("lock", {.method = "read"}), "lock: method=read: one of spin, ticket");
  EXPECT_EQ(what("lock", {.method = "ticket"}), "");
  EXPECT_EQ(what("durable_log", {.method = "spin"}),
            "durable_log: method=spin: one of flush, flush_without_last, write_only, read, send");
  EXPECT_EQ(what("durable_log", {.method = "all"}), "");
  EXPECT_EQ(what("write_lat", {.op = "fetch_add", .method = "spin"}), "");
  const auto o = run("lock", {.method = "hope"});
  EXPECT_THAT(o.client.error, testing::HasSubstr("one of spin, ticket"));
  Params p;
  EXPECT_THAT(set(p, "op", "xor").error().what,
              "op=xor: one of send, write, read; atomics: fetch_add, cmp_swap");
  EXPECT_THAT(set(p, "type", "3").error().what, "type=3: a whole number from 1 to 2 is wanted");
  EXPECT_THAT(set(p, "addresses", "two").error().what, "addresses=two: one of one, many");
}

bool has_tail(std::string_view method) {
  return std::ranges::find(log_methods(), method, &LogMethodRow::name)->has_tail;
}

class LogMethods : public testing::TestWithParam<std::string> {};

TEST_P(LogMethods, EveryAppendIsAcknowledgedInOrderAndThere) {
  for (const uint32_t size : {0u, 1u, 64u, 5000u}) {
    SCOPED_TRACE(size);
    std::vector<uint8_t> log;
    const auto o =
        run("durable_log",
            {.size = size, .count = 50, .qps = 2, .depth = 8, .threads = 2, .method = GetParam()},
            {}, nullptr, [&](LoopWorld& w) { log = w.device(1).pmem->at("log.1.1"); });
    expect_good(o);
    EXPECT_EQ(o.client.ops, 200u);
    EXPECT_EQ(o.client.latency.size(), 200u);
    ASSERT_EQ(o.client.acks.size(), 200u);
    std::map<uint32_t, uint64_t> last;
    for (const Ack& a : o.client.acks) EXPECT_EQ(a.sequence, ++last[a.log]);
    const RecoveredLog all = recover(log);
    ASSERT_EQ(all.records.size(), 50u);
    for (const LogRecord& r : all.records) {
      EXPECT_EQ(r.data.size(), size);
      EXPECT_TRUE(is_genuine(r, log_number(1, 1)));
    }
  }
}

TEST_P(LogMethods, WaitsForEachRequest) {
  const Params p{.count = 20, .qps = 2, .depth = 8, .pipelined = false, .method = GetParam()};
  std::vector<uint8_t> log;
  const auto o = run("durable_log", p, {}, nullptr,
                     [&](LoopWorld& w) { log = w.device(1).pmem->at("log.0.1"); });
  expect_good(o);
  EXPECT_EQ(o.client.acks.size(), 40u);
  EXPECT_EQ(recover(log).records.size(), 20u);
}

TEST_P(LogMethods, ADamagedRecordIsSeen) {
  const auto o = run("durable_log", {.size = 100, .count = 30, .depth = 4, .method = GetParam()},
                     {}, [](LoopWorld& w) {
                       LoopDevice& d = w.device(1);
                       d.damage_at = 7;
                       d.damage_length = record_bytes(100);
                       d.damage_byte = 50;
                     });
  EXPECT_NE(o.server.mismatches, 0u);
}

TEST_P(LogMethods, EndsWhenTheConnectionFails) {
  const auto o =
      run("durable_log", {.count = 500, .depth = 4, .timeout_us = 3000, .method = GetParam()}, {},
          [](LoopWorld& w) { w.device(1).fail_at = w.device(0).fail_at = 20; });
  EXPECT_NE(o.client.error, "");
  EXPECT_NE(o.server.error, "");
  EXPECT_LT(o.client.acks.size(), 500u);
}

TEST_P(LogMethods, GoesOnBehindWhatItHasRecovered) {
  std::shared_ptr<std::map<std::string, std::vector<uint8_t>>> pmem;
  const Params p{.size = 20, .count = 10, .method = GetParam(), .capacity = 25};
  expect_good(run("durable_log", p, {}, nullptr, [&](LoopWorld& w) { pmem = w.device(1).pmem; }));
  auto& log = pmem->at("log.0.0");
  ASSERT_EQ(recover(log).records.size(), 10u);
  log[kTailBytes + 4 * record_bytes(20) + 20] ^= 1;  // damages the fifth record
  const auto again = [&](const Params& q) {
    return run("durable_log", q, {}, [&](LoopWorld& w) { w.device(1).pmem = pmem; });
  };
  if (has_tail(GetParam())) {
    EXPECT_THAT(
        again(p).server.error,
        testing::HasSubstr("log.0.0: damaged: its tail pointer is 400, whole records are 4"));
    base::store_le(log.data(), 4 * record_bytes(20));
  }
  const auto o = again(p);
  expect_good(o);
  EXPECT_EQ(o.client.acks.front().sequence, 5u);
  EXPECT_EQ(recover(log).records.size(), 14u);
  Params q = p;
  q.count = 12;
  EXPECT_THAT(again(q).server.error, testing::HasSubstr("holds 14 of 25 records"));
}

INSTANTIATE_TEST_SUITE_P(Programs, LogMethods,
                         testing::Values("write_only", "read", "send", "flush",
                                         "flush_without_last"),
                         [](const auto& info) { return info.param; });

TEST(RecoverLog, WithoutATailPointerItTakesTheLongestRunOfWholeRecords) {
  constexpr uint32_t kData = 21;
  constexpr size_t kRecord = record_bytes(kData), kRecords = 6;
  std::vector<uint8_t> log(kTailBytes + kRecord * kRecords + 5);
  base::store_le(log.data(), kNoTail);
  for (size_t i = 0; i < kRecords; i++)
    fill_record(std::span(log).subspan(kTailBytes + i * kRecord, kRecord), kData, 3, i + 1);
  EXPECT_EQ(recover(log).records.size(), kRecords);
  EXPECT_EQ(recover({}).records.size(), 0u);
  EXPECT_EQ(recover(std::vector<uint8_t>(100)).records.size(), 0u);
  for (size_t i = 0; i < kRecord * kRecords; i++) {
    const size_t in_record = i % kRecord;
    if (in_record >= kRecordHead + kData) continue;  // padding, which no checksum covers
    log[kTailBytes + i] ^= 0x40;
    EXPECT_EQ(recover(log).records.size(), i / kRecord) << "byte " << i;
    log[kTailBytes + i] ^= 0x40;
  }
  for (size_t n = 0; n < kRecord * kRecords; n++) {
    const size_t whole = n / kRecord + (n % kRecord >= kRecordHead + kData ? 1 : 0);
    EXPECT_EQ(recover(std::span(log).first(kTailBytes + n)).records.size(), whole)
        << "cut at " << n;
  }
  const RecoveredLog all = recover(log);
  EXPECT_TRUE(is_genuine(all.records[2], 3));
  EXPECT_FALSE(is_genuine(all.records[2], 4));
  EXPECT_FALSE(all.is_damaged);
}

TEST(RecoverLog, TakesTheRecordsUpToTheTailPointer) {
  constexpr uint32_t kData = 21;
  constexpr uint64_t kRecord = record_bytes(kData), kRecords = 6;
  std::vector<uint8_t> log(kTailBytes + kRecord * (kRecords + 1));
  for (uint64_t i = 0; i < kRecords; i++)
    fill_record(std::span(log).subspan(kTailBytes + i * kRecord, kRecord), kData, 3, i + 1);
  const auto recovered = [&](uint64_t tail) {
    base::store_le(log.data(), tail);
    return recover(log);
  };
  for (uint64_t tail = 0; tail <= kRecord * (kRecords + 1) + 8; tail++) {
    const RecoveredLog r = recovered(tail);
    const uint64_t whole = std::min(tail / kRecord, kRecords);
    EXPECT_EQ(r.records.size(), whole) << tail;
    EXPECT_EQ(r.end, kTailBytes + whole * kRecord) << tail;
    EXPECT_EQ(r.whole, kRecords) << tail;
    EXPECT_EQ(r.is_damaged, tail != whole * kRecord) << tail;
  }
  for (const uint64_t tail : {kNoTail - 1, uint64_t{1} << 63}) {
    EXPECT_EQ(recovered(tail).records.size(), kRecords);
    EXPECT_TRUE(recovered(tail).is_damaged);
  }
  // A torn record before the tail pointer is damage; one after it is not.
  log[kTailBytes + 3 * kRecord + kRecordHead] ^= 1;
  EXPECT_FALSE(recovered(3 * kRecord).is_damaged);
  EXPECT_EQ(recovered(3 * kRecord).records.size(), 3u);
  EXPECT_TRUE(recovered(4 * kRecord).is_damaged);
  EXPECT_EQ(recovered(4 * kRecord).records.size(), 3u);
}

TEST(Programs, SettingsAreTheRows) {
  for (const Program& program : all())
    for (const SettingRow& row : program.settings) {
      Params p;
      EXPECT_TRUE(set(p, row.name, row.default_value)) << program.name << " " << row.name;
    }
  Params p;
  EXPECT_EQ(set(p, "size", "12x").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(set(p, "colour", "1").error().code, Errc::kNotFound);
  ASSERT_TRUE(set(p, "depth", "7"));
  EXPECT_EQ(p.depth, 7u);
}

}  // namespace
}  // namespace rnic::tb
