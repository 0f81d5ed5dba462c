// rnic-sim sweep: its values and tables, and the command itself as a process. docs/simulator.md,
// Sweeps
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "output/csv.hpp"
#include "settings/errors.hpp"
#include "support/seed.hpp"
#include "sweep/grid.hpp"
#include "sweep/table.hpp"
#include "sweep/values.hpp"

namespace rnic::app {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<std::string>;

TEST(SweepValues, AreListsAndRanges) {
  const auto of = [](const std::string& text) { return sweep::values_of("x", text); };
  EXPECT_EQ(of("7"), Values({"7"}));
  EXPECT_EQ(of(""), Values({""}));
  EXPECT_EQ(of("1,8,64"), Values({"1", "8", "64"}));
  EXPECT_EQ(of("8..64*2"), Values({"8", "16", "32", "64"}));
  EXPECT_EQ(of("8..63*2"), Values({"8", "16", "32"}));
  EXPECT_EQ(of("200..2000+600"), Values({"200", "800", "1400", "2000"}));
  EXPECT_EQ(of("3..5"), Values({"3", "4", "5"}));
  EXPECT_EQ(of("0..0"), Values({"0"}));
  EXPECT_EQ(of("0.1..0.4+0.1"), Values({"0.1", "0.2", "0.3", "0.4"}));
  // Of integers: 1 1.5 2.25 3.375 5.06 7.59 are rounded, and 2 counts once.
  EXPECT_EQ(of("1..10*1.5"), Values({"1", "2", "3", "5", "8"}));
  EXPECT_EQ(of("1,16..64*2,fetch_add"), Values({"1", "16", "32", "64", "fetch_add"}));
  EXPECT_EQ(of("../image"), Values({"../image"}));
}

TEST(SweepValues, RefusesWhatIsNoList) {
  for (const char* text :
       {"8..4", "8..64*1", "8..64*0.5", "8..64+0", "0..64*2", "8..", "8..x", "8..64*", "8..64+-1",
        "1,,2", "1,2,1", "8..32*2,16", "1..2000000", "1..2..3", "1e3..2e3", "1,"})
    EXPECT_THROW((void)sweep::values_of("x", text), Usage) << text;
}

TEST(SweepGrid, TheLastDimensionChangesFastest) {
  const sweep::Grid grid(
      {{{"size"}, {{"8"}, {"64"}}}, {{"qps", "depth"}, {{"1", "4"}, {"2", "8"}}}});
  ASSERT_EQ(grid.size(), 4U);
  using Point = sweep::Grid::Point;
  EXPECT_EQ(grid.at(0), Point({{"size", "8"}, {"qps", "1"}, {"depth", "4"}}));
  EXPECT_EQ(grid.at(1), Point({{"size", "8"}, {"qps", "2"}, {"depth", "8"}}));
  EXPECT_EQ(grid.at(2), Point({{"size", "64"}, {"qps", "1"}, {"depth", "4"}}));
  EXPECT_EQ(sweep::Grid({}).size(), 1U);
}

TEST(SweepGrid, ShardsAreDisjointAndWhole) {
  base::Rng rng = tb::test_rng();
  for (int i = 0; i < 50; ++i) {
    const uint64_t of = rng.between(1, 20), points = rng.between(0, 100);
    std::vector<int> seen(points);
    for (uint64_t k = 1; k <= of; ++k) {
      const sweep::Shard s = sweep::shard_of(std::to_string(k) + "/" + std::to_string(of));
      for (uint64_t p = 0; p < points; ++p) seen[p] += s.has(p);
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
  }
  for (const char* text : {"", "3", "0/4", "5/4", "a/b", "1/", "1/2/3", "-1/2", "1/0"})
    EXPECT_THROW((void)sweep::shard_of(text), Usage) << text;
}

TEST(Csv, ReadsWhatItWrites) {
  base::Rng rng = tb::test_rng();
  constexpr char kLetters[] = "a,\"\n\r b";
  for (int i = 0; i < 200; ++i) {
    const size_t columns = rng.between(1, 5), lines = rng.between(1, 5);
    std::vector<CsvRow> rows(lines, CsvRow(columns));
    std::string text;
    for (CsvRow& row : rows) {
      for (std::string& cell : row) {
        for (uint64_t n = rng.between(0, 6); n-- > 0;) cell += kLetters[rng.below(7)];
      }
      text += csv_line(row);
    }
    EXPECT_EQ(read_csv("x", text), rows) << text;
  }
  EXPECT_EQ(read_csv("x", "a,b\r\n1,2\r\n"), std::vector<CsvRow>({{"a", "b"}, {"1", "2"}}));
  EXPECT_THROW((void)read_csv("x", "a,b\n1\n"), Usage);
  EXPECT_THROW((void)read_csv("x", "a\n\"1\n"), Usage);
}

class SweepCommand : public testing::Test {
 protected:
  SweepCommand() {
    std::string path = testing::TempDir() + "sweep_XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~SweepCommand() override { fs::remove_all(folder_); }
  int run(const std::string& words) const {
    const int status = std::system(
        ("cd '" + folder_.string() + "' && exec " RNIC_SIM " " + words + " >out 2>err").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Starts the command and sends it a signal after `us`. Returns whether it was still running.
  bool run_and_signal(const std::string& words, int signal, useconds_t us) const {
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string line =
          "cd '" + folder_.string() + "' && exec " RNIC_SIM " " + words + " >out 2>err";
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    usleep(us);
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status);
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
  fs::path folder_;
};

constexpr const char* kSmall =
    "sweep write_bw --set size=8..512*8 --set qps=1,4 --set count=100 --set warmup=20 --set "
    "depth=16 ";

/// Every point is the same run as by hand: the JSON is equal but for the times of this machine.
TEST_F(SweepCommand, PointsAreTheSameRunsAsByHand) {
  ASSERT_EQ(run(std::string(kSmall) + "--json w.json --jobs 2"), 0) << text("err");
  const auto all = nlohmann::json::parse(text("w.json"));
  ASSERT_EQ(all["points"].size(), 6U);
  for (const auto& p : all["points"]) {
    const std::string size = p["at"]["size"], qps = p["at"]["qps"];
    ASSERT_EQ(run("run write_bw --set size=" + size + " --set qps=" + qps +
                  " --set count=100 --set warmup=20 --set depth=16 --json r.json --quiet"),
              0);
    nlohmann::json by_hand = nlohmann::json::parse(text("r.json")), of_sweep = p["run"];
    for (const char* key : {"wall_s", "cpu_us_per_message", "kcycles_per_s"}) {
      by_hand.erase(key);
      of_sweep.erase(key);
    }
    EXPECT_EQ(by_hand, of_sweep) << size << " " << qps;
  }
}

TEST_F(SweepCommand, TheSameSweepGivesTheSameRows) {
  ASSERT_EQ(run(std::string(kSmall) + "--csv a.csv"), 0) << text("err");
  ASSERT_EQ(run(std::string(kSmall) + "--csv b.csv --jobs 3"), 0) << text("err");
  EXPECT_EQ(text("a.csv"), text("b.csv"));
  EXPECT_FALSE(exists("a.csv.state"));
}

TEST_F(SweepCommand, ShardsMergedAreTheWhole) {
  ASSERT_EQ(run(std::string(kSmall) + "--csv whole.csv --quiet"), 0) << text("err");
  for (int k = 1; k <= 3; ++k) {
    const std::string n = std::to_string(k);
    ASSERT_EQ(run(std::string(kSmall) + "--quiet --shard " + n + "/3 --csv part." + n + ".csv"), 0)
        << text("err");
  }
  ASSERT_EQ(run("sweep --merge part.3.csv part.1.csv part.2.csv --csv merged.csv"), 0)
      << text("err");
  EXPECT_EQ(text("merged.csv"), text("whole.csv"));

  EXPECT_EQ(run("sweep --merge part.1.csv part.3.csv --csv no.csv"), 2);
  EXPECT_NE(text("err").find("2 of 6 points are missing: 1, 4"), std::string::npos) << text("err");
  EXPECT_EQ(run("sweep --merge part.1.csv part.2.csv whole.csv --csv no.csv"), 2);
  EXPECT_NE(text("err").find("part.1.csv whole.csv: both have point 0"), std::string::npos)
      << text("err");
  ASSERT_EQ(run("sweep write_bw --set size=8..512*8 --set qps=1,4 --set count=90 --set warmup=20 "
                "--set depth=16 --quiet --shard 2/3 --csv other.csv"),
            0);
  EXPECT_EQ(run("sweep --merge part.1.csv other.csv part.3.csv"), 2);
  EXPECT_NE(text("err").find("part.1.csv other.csv: different settings: count"), std::string::npos)
      << text("err");
  EXPECT_FALSE(exists("no.csv"));
}

/// Killed at ten random moments and resumed each time: the rows are those of an undisturbed sweep.
TEST_F(SweepCommand, ContinuesAfterAKill) {
  const std::string sweep =
      "sweep write_bw --set size=8..4096*2 --set qps=1,4 --set count=300 --jobs 2 --quiet ";
  ASSERT_EQ(run(sweep + "--csv whole.csv"), 0) << text("err");
  base::Rng rng = tb::test_rng();
  unsigned killed = 0;
  for (int i = 0; i < 10; ++i) {
    const auto us = static_cast<useconds_t>(rng.between(1'000, 400'000));
    killed += run_and_signal(sweep + "--csv k.csv", SIGKILL, us);
    // No table while every run was killed.
    EXPECT_FALSE(killed == static_cast<unsigned>(i + 1) && exists("k.csv"));
  }
  EXPECT_GT(killed, 0U);
  ASSERT_EQ(run(sweep + "--csv k.csv"), 0) << text("err");
  EXPECT_EQ(text("k.csv"), text("whole.csv"));
  EXPECT_FALSE(exists("k.csv.state"));
}

TEST_F(SweepCommand, ContinuesAfterCtrlC) {
  const std::string sweep =
      "sweep write_bw --set size=8..4096*2 --set qps=1,4 --set count=1000 --csv c.csv ";
  ASSERT_TRUE(run_and_signal(sweep, SIGINT, 700'000));
  EXPECT_NE(text("err").find("the same command continues (c.csv.state)"), std::string::npos)
      << text("err");
  ASSERT_TRUE(exists("c.csv.state"));
  // Another sweep is refused; its file stays.
  const std::string state = text("c.csv.state");
  EXPECT_EQ(run(sweep + "--set depth=8"), 2);
  EXPECT_NE(text("err").find("not of this sweep"), std::string::npos) << text("err");
  EXPECT_EQ(text("c.csv.state"), state);
  ASSERT_EQ(run(sweep), 0) << text("err");
  EXPECT_NE(text("err").find("points are done already"), std::string::npos) << text("err");
}

TEST_F(SweepCommand, AFileThatIsNoStateIsKept) {
  std::ofstream(folder_ / "mine") << "precious";
  EXPECT_EQ(run(std::string(kSmall) + "--state mine"), 2);
  EXPECT_EQ(text("mine"), "precious");
}

TEST_F(SweepCommand, AnInvalidCombinationIsARow) {
  ASSERT_EQ(run("sweep read_bw --set threads=1,64 --set qps=1,32 --set count=20 --csv w.csv "), 0)
      << text("err");
  const sweep::Table t = sweep::Table::read((folder_ / "w.csv").string());
  ASSERT_EQ(t.rows().size(), 4U);
  EXPECT_EQ(t.cell(t.rows().at(3), "status"), "2");
  EXPECT_NE(t.cell(t.rows().at(3), "reason").find("2048 QPs are asked for"), std::string::npos);
  EXPECT_EQ(t.cell(t.rows().at(0), "status"), "0");
  EXPECT_GT(t.number(t.rows().at(0), "gbps").value_or(0), 0);
}

TEST_F(SweepCommand, ASettingThatAProgramDoesNotUseIsARow) {
  ASSERT_EQ(run("sweep write_bw atomic_bw --set size=8 --set count=50 --csv w.csv"), 0)
      << text("err");
  const sweep::Table t = sweep::Table::read((folder_ / "w.csv").string());
  EXPECT_EQ(t.cell(t.rows().at(0), "status"), "0");
  EXPECT_EQ(t.cell(t.rows().at(1), "status"), "2");
  EXPECT_EQ(t.cell(t.rows().at(1), "reason"), "--set size=8: atomic_bw does not use it");
}

/// A segment returns its read tags when its payload has been read, and then waits for ddp. With few
/// tags, more segments may wait than there are tags. The model's queue of payload must hold them
/// all; else the run fails.
TEST_F(SweepCommand, EveryNumberOfReadTagsRuns) {
  EXPECT_EQ(
      run("sweep write_bw --set size=4096 --set qps=4 --set count=100 --set rd_tags=8..256*2"), 0)
      << text("err");
}

TEST_F(SweepCommand, APointThatTakesTooLongIsARow) {
  EXPECT_EQ(run("sweep write_bw --set count=10,100000000 --timeout 2 --csv w.csv --jobs 2"), 3);
  const sweep::Table t = sweep::Table::read((folder_ / "w.csv").string());
  EXPECT_EQ(t.cell(t.rows().at(0), "status"), "0");
  EXPECT_EQ(t.cell(t.rows().at(1), "status"), "3");
  EXPECT_NE(t.cell(t.rows().at(1), "reason").find("took too long"), std::string::npos);
}

TEST_F(SweepCommand, ShowsModelBesideRtl) {
  const int status =
      run("sweep write_lat --client rtl,model --set size=8,64 --set count=20 --csv w.csv");
  if (status == 4) GTEST_SKIP() << text("err");  // built without the RTL
  ASSERT_EQ(status, 0) << text("err");
  const sweep::Table t = sweep::Table::read((folder_ / "w.csv").string());
  ASSERT_EQ(t.rows().size(), 4U);
  for (const auto& [point, row] : t.rows()) {
    EXPECT_EQ(t.cell(row, "client"), t.cell(row, "server"));
    const auto error = t.number(row, "model_error");
    ASSERT_EQ(error.has_value(), t.cell(row, "client") == "model");
    EXPECT_LT(std::abs(error.value_or(0)), 5);
  }
}

struct Wrong {
  const char *words, *says;
};
class SweepRefuses : public SweepCommand, public testing::WithParamInterface<Wrong> {};
TEST_P(SweepRefuses, InOneLineBeforeAnythingRuns) {
  EXPECT_EQ(run(std::string(GetParam().words) + " --csv w.csv"), 2) << GetParam().words;
  const std::string err = text("err");
  EXPECT_NE(err.find(GetParam().says), std::string::npos) << err;
  EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
  EXPECT_EQ(text("out"), "");
  EXPECT_FALSE(exists("w.csv"));
  EXPECT_FALSE(exists("w.csv.state"));
}
INSTANTIATE_TEST_SUITE_P(
    Each, SweepRefuses,
    testing::Values(
        Wrong{"sweep", "say a program"},
        Wrong{"sweep write_bw --set size=8,64 --plot p.svg --y cdf", "measures no latencies"},
        Wrong{"sweep wrte_bw", "did you mean write_bw"},
        Wrong{"sweep write_bw,write_bw", "occurs twice"}, Wrong{"sweep file_copy", "wants a file"},
        Wrong{"sweep write_bw --set siez=8,16", "did you mean size"},
        Wrong{"sweep write_bw --set size=8,abc", "abc"},
        Wrong{"sweep write_bw --set size=8..4", "empty"},
        Wrong{"sweep write_bw --set size=8..64*1", "endless"},
        Wrong{"sweep write_bw --set size=8,16 --set size=32", "set twice"},
        Wrong{"sweep write_bw --set size", "not NAME=VALUES"},
        Wrong{"sweep write_bw --set method=flush,read", "method"},
        Wrong{"sweep write_bw --set size=1..1000 --set depth=1..1001", "--yes"},
        Wrong{"sweep write_bw --set size=8,16 --link size,qps", "qps has no more than one value"},
        Wrong{"sweep write_bw --set size=8,16 --set qps=1,2,4 --link size,qps", "2 values"},
        Wrong{"sweep write_bw --set size=8,16 --shard 4/3", "not from 1 to 3"},
        Wrong{"sweep write_bw --client modl", "no device \"modl\""},
        Wrong{"sweep write_bw --seed random", "whole numbers"},
        Wrong{"sweep write_bw --preset gen4x16,gen9", "gen9"},
        Wrong{"sweep write_bw --x size", "--plot"},
        Wrong{"sweep write_bw --set size=8,16 --plot p.svg --x qps", "qps"},
        Wrong{"sweep write_bw --set size=8,16 --plot p.svg --y speed", "speed"},
        Wrong{"sweep write_bw --state w.csv", "the same file"},
        Wrong{"sweep write_bw --state /dev/full", "not a regular file"},
        Wrong{"sweep --merge", "say the parts"}, Wrong{"sweep --merge absent.csv", "absent.csv"},
        Wrong{"run write_bw --shard 1/2", "takes no --shard"}));

}  // namespace
}  // namespace rnic::app
