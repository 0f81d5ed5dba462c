// What rnic-sim's commands stand on: child processes, device kinds, reports, failures that repeat
// themselves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "child.hpp"
#include "devices.hpp"
#include "failure_wave.hpp"
#include "report.hpp"

namespace rnic::app {
namespace {

std::string usage_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Usage& e) {
    return e.what();
  }
  return "";
}

Outcome good(nlohmann::ordered_json json = {}) {
  return {.status = kGood, .json = std::move(json), .failure = ""};
}

TEST(InChild, GivesWhatTheBodyReturns) {
  const Outcome o = in_child([] {
    return Outcome{.status = kNoProgress, .json = {{"a", 7}}, .failure = "stuck\n"};
  });
  EXPECT_EQ(o.status, kNoProgress);
  EXPECT_EQ(o.json["a"], 7);
  EXPECT_EQ(o.failure, "stuck\n");
  EXPECT_GT(o.wall_s, 0);
  EXPECT_GT(o.peak_kib, 1000u);
}

TEST(InChild, TakesMoreThanAPipeHolds) {
  const Outcome o = in_child([] { return good({{"long", std::string(1'000'000, 'x')}}); });
  EXPECT_EQ(o.json["long"].get<std::string>().size(), 1'000'000u);
}

TEST(InChild, ExceptionIsAFailureWrongUseIsThrown) {
  const Outcome o = in_child([]() -> Outcome { throw std::runtime_error("it broke"); });
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_EQ(o.failure, "it broke\n");
  EXPECT_EQ(usage_of([] { (void)in_child([]() -> Outcome { throw Usage("not so"); }); }), "not so");
}

TEST(InChild, DeathIsAFailureWithItsSignal) {
  const Outcome o = in_child([]() -> Outcome {
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    return {};
  });
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_NE(o.failure.find("signal 6"), std::string::npos) << o.failure;
  EXPECT_NE(in_child([]() -> Outcome { _exit(0); }).failure.find("without a result"),
            std::string::npos);
}

TEST(InChild, WhoTakesTooLongIsEnded) {
  const Outcome o = in_child(
      []() -> Outcome {
        for (;;) pause();
      },
      {.wall_s = 1});
  EXPECT_NE(o.failure.find("too long"), std::string::npos) << o.failure;
}

TEST(InChildren, AreTakenInOrderAlthoughTheyEndInAnother) {
  std::vector<size_t> order;
  in_children(
      6, 3,
      [](size_t i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10 * (6 - i)));
        return good({{"i", i}});
      },
      [&](size_t i, Outcome o) {
        EXPECT_EQ(o.json["i"], i);
        order.push_back(i);
        return true;
      });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(InChildren, StopWhenToldTo) {
  size_t taken = 0;
  in_children(
      100, 2, [](size_t) { return good(); }, [&](size_t, Outcome) { return ++taken < 3; });
  EXPECT_EQ(taken, 3u);
}

TEST(Devices, UnknownKindAndFixedSizesAreRefused) {
  Config c;
  EXPECT_NE(usage_of([&] {
              check_kinds({"modle", "rtl"}, c);
            }).find("did you mean model?"),
            std::string::npos);
  for (const auto& kind : device_kinds())
    EXPECT_EQ(usage_of([&] { check_kinds({kind, kind}, c); }), "");
  c.set("num_qps=16", "test");
  EXPECT_NE(usage_of([&] { check_kinds({"model", "rtl"}, c); }).find("fixed"), std::string::npos);
  EXPECT_EQ(usage_of([&] { check_kinds({"model", "model"}, c); }), "");
}

TEST(Devices, WaveWindowIsRead) {
  Config c;
  EXPECT_NE(usage_of([&] { (void)make_device("rtl", kClient, c, "w.fst@10"); }).find("FROM..TO"),
            std::string::npos);
  EXPECT_NE(usage_of([&] { (void)make_device("rtl", kClient, c, "w.fst@a..b"); }).find("FROM..TO"),
            std::string::npos);
}

TEST(Junit, HasACaseForEachRun) {
  const std::string x =
      junit("a<b", {{"one", 1.5, ""}, {"two & \"three\"", 0.25, "first\nsecond <x>\n"}});
  EXPECT_NE(x.find("<testsuite name=\"a&lt;b\" tests=\"2\" failures=\"1\" time=\"1.750\">"),
            std::string::npos)
      << x;
  EXPECT_NE(x.find("name=\"one\" time=\"1.500\"/>"), std::string::npos) << x;
  EXPECT_NE(x.find("name=\"two &amp; &quot;three&quot;\""), std::string::npos) << x;
  EXPECT_NE(x.find("<failure message=\"first\">first\nsecond &lt;x&gt;\n</failure>"),
            std::string::npos)
      << x;
}

TEST(FailureWave, StandsAroundTheTimeOfTheFailure) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(testing::TempDir());
  RunRequest r;
  r.program = "write_bw";
  r.kind = {"rtl", "model"};
  for (const char* s :
       {"size=4096", "count=20", "client.pcie_error_status=3", "client.pcie_error_nth=60"})
    r.config.set(s, "test");
  const Outcome o = run_child(r);
  ASSERT_TRUE(o.json.contains("failed_at_ns")) << o.failure;
  const uint64_t at = o.json["failed_at_ns"];
  const std::string said = failure_wave(r, o);
  EXPECT_NE(
      said.find(fmt::format("write_bw-seed1.client.fst from {} to {} ns", at - 2000, at + 500)),
      std::string::npos)
      << said;
  EXPECT_GT(std::filesystem::file_size("write_bw-seed1.client.fst"), 10'000u);
  r.wave = "none";
  EXPECT_EQ(failure_wave(r, o), "");
  std::filesystem::current_path(before);
}

TEST(WriteWatch, FindsTheLastWriteBefore) {
  WriteWatch w(0x1010);
  for (const auto& [at, address] :
       {std::pair<Time, uint64_t>{5, 0x1000}, {7, 0x1011}, {9, 0x1010}, {20, 0x1000}}) {
    sim::DmaWrite d;
    d.address = address;
    d.data = Payload::make(32);
    w.on_write(at, d, true);
  }
  EXPECT_EQ(w.last_before(4), 0u);
  EXPECT_EQ(w.last_before(8), 5u);
  EXPECT_EQ(w.last_before(19), 9u);
  EXPECT_EQ(w.last_before(20), 20u);
}

}  // namespace
}  // namespace rnic::app
