// rnic-sim search: its draws, and the command itself as a process. docs/simulator.md, Search
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/search_space.hpp"
#include "support/seed.hpp"

namespace rnic::app {
namespace {

namespace fs = std::filesystem;
using search::Situation;
using search::Space;

/// The value of a setting that the situation has drawn, else `otherwise`.
uint64_t value_of(const Situation& s, const std::string& name, uint64_t otherwise) {
  const auto it = s.set.find(name);
  return it == s.set.end() ? otherwise : std::stoull(it->second);
}

/// Every situation is a run that can start, ends within a bounded number of messages, and is
/// reproduced by the same seed.
TEST(SearchSpace, SituationsAreRunsOfBoundedLength) {
  const Space space({"send_bw", "read_lat", "write_flush_bw", "flush_lat", "atomic_bw",
                     "atomic_write_lat", "send_inv", "frwr", "mw_bind", "srq_pingpong"},
                    {});
  base::Rng a = tb::test_rng(), b = tb::test_rng();
  Situation last;
  unsigned both_ways = 0, many_qps = 0;
  for (int i = 0; i < 300; i++) {
    const Situation s = i % 3 == 2 ? space.change(last, a) : space.draw(a);
    ASSERT_EQ(s, i % 3 == 2 ? space.change(last, b) : space.draw(b));
    EXPECT_NO_THROW((void)s.request(RunRequest{})) << s.program << " " << s.options();
    EXPECT_EQ(Situation::from_json(s.json()), s);
    const uint64_t lanes =
        value_of(s, "threads", 1) * value_of(s, "qps", 1) * (1 + value_of(s, "both", 0));
    EXPECT_LE(lanes, 128U);
    EXPECT_LE(lanes * value_of(s, "count", 1000), 130'000U) << s.options();
    both_ways += value_of(s, "both", 0) == 1;
    many_qps += lanes > 8;
    last = s;
  }
  EXPECT_GT(both_ways, 20U);
  EXPECT_GT(many_qps, 20U);
}

TEST(SearchSpace, WhatTheUserHasSetIsNotDrawn) {
  const Space space({"write_bw"}, {"mtu", "qps"});
  base::Rng rng = tb::test_rng();
  for (int i = 0; i < 100; i++) {
    const Situation s = space.draw(rng);
    EXPECT_FALSE(s.set.contains("mtu") || s.set.contains("qps")) << s.options();
    EXPECT_FALSE(s.set.contains("rd_atomic")) << s.options() << ": write_bw does not use it";
  }
}

class SearchCommand : public testing::Test {
 protected:
  SearchCommand() {
    std::string path = testing::TempDir() + "search_XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~SearchCommand() override { fs::remove_all(folder_); }
  int run(const std::string& command) const {
    const int status =
        std::system(("cd '" + folder_.string() + "' && " + command + " >out 2>err").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  fs::path folder_;
};

/// With a threshold that any two devices exceed: the search finds an anomaly, its command runs, and
/// a second search continues where the first ended.
TEST_F(SearchCommand, FindsNamesAndResumes) {
  const std::string search = RNIC_SIM
      " search write_bw --set size=256 --set threads=1 --set both=0 --set qps=2 --set anomaly=0.1 "
      "--set seconds=60 --set finds=1 --set state=s --jobs 2 --json j --seed 3";
  ASSERT_EQ(run(search), 1) << text("err");
  const auto first = nlohmann::json::parse(text("j"));
  ASSERT_FALSE(first["anomalies"].empty()) << text("out");
  const std::string said = text("err");
  const size_t at = said.find("reproduce: rnic-sim compare write_bw --set ");
  ASSERT_NE(at, std::string::npos) << said;
  const std::string command = said.substr(at + 19, said.find('\n', at) - at - 19);
  EXPECT_EQ(run(RNIC_SIM + command), 0) << command << "\n" << text("err");
  (void)run(search);
  EXPECT_GT(nlohmann::json::parse(text("j"))["situations"], first["situations"]);
}

/// 64 messages of 1 MB each way do not fit into 16 MiB.
TEST_F(SearchCommand, SkipsAndCountsWhatDoesNotFit) {
  ASSERT_EQ(run(RNIC_SIM " search write_bw --set arena_mib=16 --set size=1000000 --set depth=64 "
                         "--set count=4 --set warmup=4 --set seconds=10 --jobs 2 --json j"),
            1)
      << text("err");
  const auto j = nlohmann::json::parse(text("j"));
  EXPECT_GT(j["refused"], 2) << text("out");
  EXPECT_EQ(j["situations"], 0) << text("out");
}

/// A run of 2 ms simulated, which two RTL devices do not reach in 4 s: it ends with the search, and
/// does not count as a disagreement.
TEST_F(SearchCommand, EndsInTimeAndCountsRunsThatDidNotEnd) {
  const std::string command = RNIC_SIM
      " search write_bw --set size=4096 --set count=6000 --set warmup=8 --set qps=1 --set depth=64 "
      "--set threads=1 --set both=0 --set build=default --set link_gbps=100 --set seconds=4 "
      "--jobs 1 --json j";
  ASSERT_EQ(run(command), 1) << text("err");
  const auto j = nlohmann::json::parse(text("j"));
  EXPECT_GT(j["unfinished"], 0) << text("out");
  EXPECT_EQ(j["situations"], 0) << text("out");
  EXPECT_TRUE(j["anomalies"].empty()) << text("out");
  EXPECT_LT(j["wall_s"], 6) << text("out");
  EXPECT_NE(text("out").find(" did not end in time"), std::string::npos) << text("out");
  EXPECT_EQ(text("err"),
            "search: nothing was compared: no situation drawn could be run to its end\n");
}

/// The search ends by a signal, and by an error: out of memory.
TEST_F(SearchCommand, HasItsFindsPrintedWhateverEndsIt) {
  const std::string search =
      " search write_bw --set size=256 --set threads=1 --set both=0 --set count=100 "
      "--set warmup=20 --set anomaly=0.1 --set seconds=1000 --set state=s --seed 3 --jobs 2";
  const std::string until_found =
      "until grep -qsE '\"score\": (0\\.0{0,2}[1-9]|[1-9])' s; do sleep 0.2; done";
  ASSERT_EQ(run("{ '" RNIC_SIM "'" + search + " & " + until_found + "; kill $!; wait $!; }"), 143)
      << text("err");
  EXPECT_NE(text("err").find("reproduce: rnic-sim compare write_bw "), std::string::npos)
      << text("err");
  const std::string state = text("s");
  const size_t situations = nlohmann::json::parse(state)["situations"].size();
  EXPECT_GT(situations, 0u);
  ASSERT_EQ(run("ulimit -v 8000000; '" RNIC_SIM "'" + search + " --set arena_mib=65536"), 4)
      << text("err");
  EXPECT_NE(text("err").find("reproduce: rnic-sim compare write_bw "), std::string::npos)
      << text("err");
  EXPECT_NE(text("out").find(std::to_string(situations) + " situations in "), std::string::npos)
      << text("out");
  EXPECT_EQ(text("s"), state);
}

TEST_F(SearchCommand, WrongUseIsOneLine) {
  std::ofstream(folder_ / "other") << "{}";
  for (const char* wrong :
       {"search file_copy", "search --set seconds=0", "search --set anomaly=x",
        "search --set ops=3", "search --set state=other", "search --client rtl"}) {
    EXPECT_EQ(run(std::string(RNIC_SIM " ") + wrong), 2) << wrong;
    const std::string err = text("err");
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << wrong << ": " << err;
  }
}

}  // namespace
}  // namespace rnic::app
