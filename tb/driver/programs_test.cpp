// The programs on two fake devices back to back: they end, every byte is right, and the driver
// keeps its rules although host threads switch in the middle of its calls.
#include "programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/loop_device.hpp"
#include "support/seed.hpp"

namespace rnic::tb {
namespace {

using namespace programs;
using testing::IsEmpty;

struct Outcome {
  Report client, server;
};

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

/// Whether data of the program, run with both = 1, arrives at that host.
bool has_sink(std::string_view name, unsigned host) {
  if (name == "file_copy") return host == 1;
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
            d.damage_byte = nth * 7 % 99;  // the last one says that a Write of write_lat is there
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
                         testing::Values("write_lat", "write_bw", "read_lat", "read_bw", "send_lat",
                                         "send_bw", "pingpong", "file_copy"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Programs, CountWhatTheySent) {
  const auto o = run("write_bw", {.size = 128, .count = 100, .warmup = 16, .qps = 2});
  EXPECT_GE(o.client.ops, 200u);
  EXPECT_LE(o.client.ops, 232u);
  EXPECT_EQ(o.client.bytes, o.client.ops * 128);
  EXPECT_GT(o.client.end, o.client.start);
  EXPECT_EQ(o.server.ops, 0u);
  const auto lat = run("send_lat", {.count = 33, .warmup = 4});
  EXPECT_EQ(lat.client.latency.size(), 33u);
  EXPECT_EQ(lat.client.ops, 33u);
}

Report steady(Report::Course course) {
  Report r;
  r.start = course.front().at;
  r.end = course.back().at;
  r.ops = course.back().ops;
  r.bytes = course.back().bytes;
  r.courses = {std::move(course)};
  return r;
}

TEST(Merge, CountsWhatFallsIntoTheTimeOfAllThreads) {
  const Report parts[] = {
      steady({{1000, 0, 0}, {2000, 10, 100}, {3000, 20, 200}, {4000, 30, 300}}),
      steady({{2500, 0, 0}, {3500, 4, 40}, {4500, 8, 80}, {5500, 12, 120}})};
  const Report sum = merge(parts);
  EXPECT_EQ(sum.start, 2500u);
  EXPECT_EQ(sum.end, 4000u);
  EXPECT_EQ(sum.ops, 15u + 6u);  // what a completion tells of came evenly since the one before
  EXPECT_EQ(sum.bytes, 210u);
}

TEST(Merge, ThreadsMeasuredApartCountFromTheFirstStartToTheLastEnd) {
  const Report parts[] = {steady({{1000, 0, 0}, {2000, 10, 100}}),
                          steady({{2000, 0, 0}, {4000, 10, 100}})};
  const Report sum = merge(parts);
  EXPECT_EQ(sum.start, 1000u);
  EXPECT_EQ(sum.end, 4000u);
  EXPECT_EQ(sum.ops, 20u);
}

TEST(Merge, ASideThatSendsNothingHasNoTime) {
  const Report parts[2];
  EXPECT_EQ(merge(parts).start, 0u);
  EXPECT_EQ(merge(parts).end, 0u);
}

TEST(Merge, AnOverlapShorterThanABatchIsAPartOfIt) {
  const Report parts[] = {steady({{1000, 0, 0}, {3000, 20, 200}}), steady({{2900, 0, 0}, {3100, 10, 100}})};
  EXPECT_EQ(merge(parts).start, 2900u);
  EXPECT_EQ(merge(parts).end, 3000u);
  EXPECT_EQ(merge(parts).ops, 1u + 5u);
  EXPECT_EQ(merge(parts).bytes, 60u);
}

TEST(Merge, AnOverlapOfNoMessageCountsAll) {
  const Report parts[] = {steady({{1000, 0, 0}, {3000, 2, 200}}), steady({{2950, 0, 0}, {4000, 2, 200}})};
  EXPECT_EQ(merge(parts).start, 1000u);
  EXPECT_EQ(merge(parts).end, 4000u);
  EXPECT_EQ(merge(parts).ops, 4u);
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
  for (const auto* name : {"write_bw", "read_bw", "send_bw"}) {
    SCOPED_TRACE(name);
    const auto o = run(name, {.size = 300, .count = 200, .qps = 3, .depth = 40, .both = true});
    expect_good(o);
    EXPECT_GT(o.server.ops, 0u);
  }
}

// The server sees nothing of the peer's Writes and Reads for longer than its time-out.
TEST(Programs, TheOneThatOnlyLooksOnIsPatient) {
  for (const auto* name : {"write_bw", "read_bw", "read_lat"}) {
    SCOPED_TRACE(name);
    Params p{.size = 64, .count = 4000, .depth = 16};
    const auto o = run(name, p);
    expect_good(o);
    p.timeout_us = static_cast<uint32_t>((o.client.end - o.client.start) / kUs / 4);
    expect_good(run(name, p));
  }
}

using Arrivals = std::map<size_t, uint64_t>;
constexpr size_t kControlBytes = 64;

TEST(Programs, SayNothingWhileTheyAreMeasured) {
  for (const auto* name : {"write_bw", "read_bw", "read_lat"}) {
    SCOPED_TRACE(name);
    std::array<Arrivals, 2> arrivals;
    expect_good(run(name, {.size = 1000, .count = 300, .warmup = 10, .depth = 8}, {}, nullptr,
                    [&](LoopWorld& w) {
                      for (unsigned h : {0u, 1u}) arrivals[h] = w.device(h).arrivals;
                    }));
    const uint64_t messages = name == std::string_view("read_lat") ? 310 : 318;
    const Arrivals data{{kControlBytes, 1}, {1000, messages}}, control{{kControlBytes, 1}};
    const bool is_read = name != std::string_view("write_bw");
    EXPECT_EQ(arrivals[0], is_read ? data : control);
    EXPECT_EQ(arrivals[1], is_read ? control : data);
  }
}

/// Page lists that do not reach over a slot for each message: slots are used again, after they have
/// been checked.
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
    const unsigned host = GetParam() == "write_bw" ? 1 : 0;
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

INSTANTIATE_TEST_SUITE_P(Programs, UsedAgain, testing::Values("write_bw", "read_bw", "read_lat"),
                         [](const auto& info) { return std::string(info.param); });

// A side's last message comes as soon as its data has left: the peer may have looked at none of it.
TEST(Programs, TheLastMessageFindsAReceive) {
  for (const uint32_t depth : {1u, 4u}) {
    for (const bool both : {false, true}) {
      SCOPED_TRACE(fmt::format("depth {}{}", depth, both ? ", both" : ""));
      expect_good(run("send_bw", {.count = 1, .qps = 64, .depth = depth, .both = both}));
    }
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
