// Power failures: a real cut leaves what the journal predicts; safe methods lose no acknowledged
// record, the two unsafe ones do. Also rnic-sim's report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/rng.hpp"
#include "run/run_child.hpp"
#include "support/folder.hpp"
#include "support/seed.hpp"

namespace rnic::app {
namespace {

using testing::HasSubstr;

RunRequest request(const std::string& method, const std::string& domain,
                   std::vector<std::string> settings = {}, const std::string& kind = "model") {
  RunRequest r;
  r.program = "durable_log";
  r.kind = {kind, kind};
  r.seed = tb::test_seed();
  r.config.set("method", method, "test");
  r.config.set("server.domain", domain, "test");
  for (const std::string& s : settings) r.config.set(s, "test");
  return r;
}

class Crash : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {
 protected:
  std::string method() const { return std::get<0>(GetParam()); }
  std::string domain() const { return std::get<1>(GetParam()); }
  std::string kind() const { return std::get<2>(GetParam()); }
  bool is_safe() const { return method() != "write_only" && method() != "flush_without_last"; }
  RunRequest made(std::vector<std::string> settings) const {
    return request(method(), domain(), std::move(settings), kind());
  }
};

// Random instants for each method and domain, in the part of the run in which records arrive: 25 on
// the model (250 in all), 4 on the RTL (16 in all), where a run takes two seconds. With an unsafe
// method a cut loses the records that the journal predicts, and those acknowledged later.
TEST_P(Crash, ARealCutLeavesWhatTheJournalSays) {
  const std::vector<std::string> settings{"count=40", "qps=2", "depth=6", "size=200",
                                          "llp_timeout_us=60"};
  const int instants = kind() == "model" ? 25 : 4;
  RunRequest r = made(settings);
  r.crash = CrashPlan{};
  const Outcome whole = run_child(r);
  ASSERT_EQ(whole.status, kGood) << whole.failure;
  const auto& events = whole.json["crash"];
  const Time begin = events["from_ps"].get<Time>() - 500 * kNs, end = events["to_ps"].get<Time>();
  base::Rng rng(r.seed);
  CrashPlan plan;
  for (int i = 0; i < instants; ++i) plan.at.push_back(rng.between(begin, end));
  r.crash = plan;
  const Outcome journal = run_child(r);
  ASSERT_EQ(journal.status, kGood) << journal.failure;
  std::set<uint32_t> images;
  using Instant = std::tuple<Time, uint32_t, uint64_t>;
  for (const auto& [at, crc, lost] : journal.json["crash"]["crcs"].get<std::vector<Instant>>()) {
    RunRequest cut = made(settings);
    cut.config.set("server.power_fail_ns", fmt::format("{}", static_cast<double>(at) / 1000),
                   "test");
    const Outcome o = run_child(cut);
    if (!o.json.contains("power_failed_ns")) continue;  // the programs had ended
    EXPECT_EQ(o.json["log"]["image_crc32c"].get<uint32_t>(), crc) << reproduce(cut);
    images.insert(crc);
    if (is_safe()) {
      EXPECT_EQ(o.status, kGood) << o.failure << reproduce(cut);
      EXPECT_EQ(o.json["log"]["lost"], 0u) << reproduce(cut);
    }
    EXPECT_GE(o.json["log"]["lost"].get<uint64_t>(), lost) << reproduce(cut);
    EXPECT_EQ(o.json["log"]["damaged"], 0u) << reproduce(cut);
  }
  EXPECT_GE(images.size(), static_cast<size_t>(instants) / 2);
}

TEST_P(Crash, EveryEventOfARun) {
  // One QP: `ResponseTimes` (sim/app/run/power_failures.hpp) takes the last frame that arrived
  // before the acknowledgement for the response. With several QPs that frame may be another QP's.
  const bool is_one = method() == "flush_without_last";
  RunRequest r = made({is_one ? "count=400" : "count=100", is_one ? "qps=1" : "qps=4", "depth=8",
                       "link_delay_ns=1000"});
  r.crash = CrashPlan{};
  const Outcome o = run_child(r);
  ASSERT_EQ(o.status, kGood) << o.failure;
  const auto& j = o.json["crash"];
  EXPECT_EQ(j["acknowledged"], 400u);
  EXPECT_GE(j["images"].get<uint64_t>(), 400u);
  if (is_safe()) {
    EXPECT_EQ(j["points_with_loss"], 0u) << j.dump(2);
  } else if (method() == "flush_without_last") {
    // No posted write is held back here. So the store of the tail takes effect before its response
    // arrives, but after the response is sent.
    EXPECT_EQ(j["lost"], 0u) << j.dump(2);
    EXPECT_GT(j["lost_after"].get<uint64_t>(), 100u) << j.dump(2);
  } else {
    EXPECT_GT(j["lost"].get<uint64_t>(), 100u) << j.dump(2);
  }
}

std::string name_of(
    const testing::TestParamInfo<std::tuple<const char*, const char*, const char*>>& info) {
  return fmt::format("{}_{}_{}", std::get<0>(info.param), std::get<1>(info.param),
                     std::get<2>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Methods, Crash,
                         testing::Combine(testing::Values("write_only", "read", "send", "flush"),
                                          testing::Values("eadr", "adr"), testing::Values("model")),
                         name_of);
// The domain is a property of the platform, so the RTL runs with one of them.
INSTANTIATE_TEST_SUITE_P(Rtl, Crash,
                         testing::Combine(testing::Values("write_only", "read", "send", "flush"),
                                          testing::Values("adr"), testing::Values("rtl")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(WithoutLast, Crash,
                         testing::Combine(testing::Values("flush_without_last"),
                                          testing::Values("eadr", "adr"), testing::Values("model")),
                         name_of);

class HeldBack : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {
};

// Posted writes that are held back are in flight when the Atomic Write's response arrives. Only the
// last Flush waits for them. A cut at the first loss also loses the record.
TEST_P(HeldBack, OnlyTheLastFlushKeepsThePointer) {
  const auto [method, domain, kind] = GetParam();
  const bool is_safe = std::string_view(method) == "flush";
  RunRequest r = request(method, domain,
                         {kind == std::string_view("model") ? "count=100" : "count=5", "qps=2",
                          "depth=4", "llp_timeout_us=60", "server.pcie_posted_hold_ns=5000"},
                         kind);
  r.crash = CrashPlan{};
  const Outcome o = run_child(r);
  ASSERT_EQ(o.status, kGood) << o.failure;
  const auto& j = o.json["crash"];
  EXPECT_EQ(j["points_with_damage"], 0u) << j.dump(2);
  if (is_safe) {
    EXPECT_EQ(j["points_with_loss"], 0u) << j.dump(2);
    return;
  }
  ASSERT_GT(j["lost"].get<uint64_t>(), 0u) << j.dump(2);
  const auto& first = j["first"];
  EXPECT_GE(first["whole"].get<uint64_t>(), first["acknowledged"].get<uint64_t>()) << j.dump(2);
  RunRequest cut = r;
  cut.crash.reset();
  cut.config.set("server.power_fail_ns",
                 fmt::format("{}", static_cast<double>(first["at_ps"].get<Time>()) / 1000), "test");
  const Outcome real = run_child(cut);
  EXPECT_EQ(real.status, kMismatch) << reproduce(cut);
  EXPECT_GT(real.json["log"]["lost"].get<uint64_t>(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Methods, HeldBack,
                         testing::Combine(testing::Values("flush", "flush_without_last"),
                                          testing::Values("eadr", "adr"), testing::Values("model")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Rtl, HeldBack,
                         testing::Combine(testing::Values("flush", "flush_without_last"),
                                          testing::Values("adr"), testing::Values("rtl")),
                         name_of);

TEST(Pipelined, AnAppendIsAtLeastTwiceAsFastAsWithAWaitAfterEachRequest) {
  for (const char* kind : {"model", "rtl"}) {
    double rate[2];
    for (const int pipelined : {0, 1}) {
      const Outcome o = run_child(request(
          "flush", "adr", {"count=20", "depth=1", fmt::format("pipelined={}", pipelined)}, kind));
      ASSERT_EQ(o.status, kGood) << o.failure;
      rate[pipelined] = o.json["msg_per_s"].get<double>();
    }
    EXPECT_GE(rate[1], 2 * rate[0]) << kind;
  }
}

TEST(PowerFailure, EndsARunOfAnyProgramInADefinedWay) {
  for (const char* program : {"write_lat", "read_bw", "send_bw", "durable_log"}) {
    for (const char* side : {"client", "server"}) {
      for (const char* at : {"1", "3000", "60000", "130000", "150000"}) {
        RunRequest r =
            request("read", "adr", {fmt::format("{}.power_fail_ns={}", side, at), "count=3000"});
        r.program = program;
        const Outcome o = run_child(r);
        EXPECT_EQ(o.status, kGood) << o.failure << reproduce(r);
        EXPECT_EQ(o.json["power_failed_ns"][side], std::stoull(at)) << reproduce(r);
      }
    }
  }
}

TEST(PowerFailure, OfBothHosts) {
  RunRequest r = request("read", "adr", {"power_fail_ns=148000"});
  const Outcome o = run_child(r);
  EXPECT_EQ(o.status, kGood) << o.failure;
  EXPECT_EQ(o.json["power_failed_ns"].size(), 2u);
  EXPECT_EQ(o.json["log"]["lost"], 0u);
}

TEST(PowerFailure, UnderNoneNothingIsKept) {
  RunRequest r = request("send", "none", {"server.power_fail_ns=148000"});
  const Outcome o = run_child(r);
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_GT(o.json["log"]["acknowledged"].get<uint64_t>(), 0u);
  EXPECT_EQ(o.json["log"]["recovered"], 0u);
  EXPECT_THAT(o.failure, HasSubstr("acknowledged records are lost"));
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PmemImage, TheNextRunGoesOnFromIt) {
  const tb::Folder folder;
  const std::string path = folder / "server.pmem";
  const std::vector<std::string> settings{"server.pmem_image=" + path, "count=2000",
                                          "capacity=5000"};
  auto cut = settings;
  cut.push_back("server.power_fail_ns=148000");
  const Outcome first = run_child(request("read", "adr", cut));
  ASSERT_EQ(first.status, kGood) << first.failure;
  const uint64_t there = first.json["log"]["recovered"];
  ASSERT_GT(there, 0u);
  ASSERT_LT(there, 2000u);
  auto again = settings;
  again.push_back("server.pmem_recover=1");
  const Outcome second = run_child(request("send", "adr", again));
  ASSERT_EQ(second.status, kGood) << second.failure;
  EXPECT_EQ(second.json["log"]["recovered"], there + 2000);
  EXPECT_EQ(second.json["log"]["lost"], 0u);
}

TEST(PmemImage, WhatCannotBeTakenIsRefusedAndStays) {
  const tb::Folder folder;
  const std::string path = folder / "server.pmem";
  const auto refused = [&](std::vector<std::string> settings, const char* why) {
    settings.push_back("server.pmem_image=" + path);
    settings.push_back("count=10");
    const std::string before = std::filesystem::exists(path) ? bytes_of(path) : "";
    try {
      const Outcome o = run_child(request("read", "adr", settings));
      ADD_FAILURE() << "taken: " << o.failure;
    } catch (const Usage& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
    EXPECT_EQ(std::filesystem::exists(path) ? bytes_of(path) : "", before);
  };
  refused({"server.pmem_recover=1"}, "cannot be read");
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(run_child(request("read", "adr", {"server.pmem_image=" + path, "count=10"})).status,
            kGood);
  refused({"server.pmem_bytes=1048576"}, "an image of pmem_bytes=67108864, not 1048576");
  refused({"client.pmem_image=" + path}, "the same file");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  refused({}, "cut short");
}

/// Both logs occupy 1280 bytes, so the range of persistent memory matches; the record size does
/// not.
TEST(PmemImage, OfRecordsOfAnotherSizeIsRefusedAndStays) {
  const tb::Folder folder;
  const std::string path = folder / "server.pmem";
  const std::string image = "server.pmem_image=" + path;
  ASSERT_EQ(
      run_child(request("flush", "adr", {image, "count=10", "size=48", "capacity=20"})).status,
      kGood);
  const std::string before = bytes_of(path);
  try {
    const Outcome o =
        run_child(request("flush", "adr", {image, "count=10", "size=16", "capacity=40"}));
    ADD_FAILURE() << "taken: " << o.failure;
  } catch (const Usage& e) {
    EXPECT_THAT(e.what(), HasSubstr("records of another size"));
  }
  EXPECT_EQ(bytes_of(path), before);
}

TEST(PowerFailure, UnderNoneARunWithoutOneSaysThatNothingIsKept) {
  const Outcome o = run_child(request("send", "none", {"count=10"}));
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_THAT(o.failure, HasSubstr("domain=none keeps nothing"));
}

TEST(PowerFailure, AfterTheEndOfARunIsReported) {
  const Outcome o =
      run_child(request("read", "adr", {"count=10", "server.power_fail_ns=90000000"}));
  EXPECT_EQ(o.status, kGood);
  EXPECT_TRUE(o.json["power_held_ns"].contains("server"));
}

}  // namespace
}  // namespace rnic::app
