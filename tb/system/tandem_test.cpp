// Host programs with a device in tandem: the RTL, with each output compared with the model's
// behaviour, and the order at its PCIe port checked. Random operations in tandem: regress_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run_child.hpp"

namespace rnic::app {
namespace {

struct Case {
  const char *program, *client, *server;
  std::vector<const char*> settings;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string s =
      std::string(info.param.program) + "_" + info.param.client + "_" + info.param.server;
  for (const char* word : info.param.settings) s += std::string("_") + word;
  for (char& c : s) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return s;
}

Outcome run_case(const Case& c) {
  RunRequest r;
  r.program = c.program;
  r.kind = {c.client, c.server};
  for (const char* s : c.settings) r.config.set(s, "test");
  for (uint32_t i = 0; i < 40'000; ++i) r.file.push_back(static_cast<uint8_t>(i * 7 + i / 256));
  if (r.program != "file_copy") r.file.clear();
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure << "reproduce: " << reproduce(r);
  return out;
}

class TandemTest : public testing::TestWithParam<Case> {};

/// And each kind of output was compared: a tandem that compares nothing would also pass.
TEST_P(TandemTest, NothingDiffers) {
  const Outcome out = run_case(GetParam());
  for (const char* side : {"client", "server"}) {
    const bool is = std::string(side == std::string("client") ? GetParam().client
                                                              : GetParam().server) == "tandem";
    ASSERT_EQ(out.json.contains("tandem") && out.json["tandem"].contains(side), is);
    if (!is) continue;
    const auto& t = out.json["tandem"][side];
    EXPECT_GT(t["commits"].get<uint64_t>(), 100U);
    for (const char* kind : {"records", "bytes of records", "completions", "events", "interrupts",
                             "admin bytes", "control requests", "register reads"})
      EXPECT_GT(t["compared"][kind].get<uint64_t>(), 0U) << kind;
    for (const char* rule : {"requests", "MMIO answers"})
      EXPECT_GT(t["judged"].value(rule, 0U), 0U) << rule;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const char* programs[] = {"write_lat", "read_lat",       "send_lat",  "write_bw", "read_bw",
                            "send_bw",   "write_flush_bw", "flush_lat", "pingpong"};
  const char* pairs[2][2] = {{"tandem", "model"}, {"model", "tandem"}};
  for (const char* build : {"build=default", "build=minimum"}) {
    for (const auto& p : pairs) {
      for (const char* program : programs) {
        all.push_back({program, p[0], p[1], {"size=64", "count=12", "warmup=1", build}});
        all.push_back(
            {program,
             p[0],
             p[1],
             {"size=100", "count=8", "warmup=1", "push=1", "inline=128", "qps=2", build}});
        all.push_back({program,
                       p[0],
                       p[1],
                       {"size=5000", "count=6", "warmup=1", "mtu=9000", "mpa_markers=1", build}});
      }
      for (const char* program : {"write_bw", "read_bw", "send_bw"}) {
        all.push_back(
            {program, p[0], p[1], {"size=70000", "count=3", "warmup=1", "depth=2", build}});
        all.push_back({program,
                       p[0],
                       p[1],
                       {"size=3001", "count=8", "warmup=1", "both=1", "qps=2", "events=1", build}});
      }
    }
  }
  for (const char* program : {"atomic_lat", "atomic_write_lat", "atomic_bw"}) {
    all.push_back({program, "tandem", "model", {"count=12", "warmup=2"}});
    all.push_back({program, "model", "tandem", {"count=8", "warmup=1", "build=minimum"}});
  }
  all.push_back({"atomic_bw",
                 "tandem",
                 "tandem",
                 {"count=8", "qps=3", "op=cmp_swap", "addresses=one", "build=stall"}});
  for (const char* op : {"op=send", "op=write", "op=read"})
    all.push_back({"file_copy", "tandem", "tandem", {"size=4096", op}});
  for (const char* pcie :
       {"pcie_reorder=0.3", "pcie_split=0.5", "pcie_mps=128", "pcie_mrrs=128", "pcie_relaxed=0.3"})
    all.push_back({"write_bw",
                   "tandem",
                   "tandem",
                   {"size=3001", "count=8", "warmup=1", "both=1", "qps=2", pcie}});
  all.push_back(
      {"send_bw", "tandem", "tandem", {"size=300", "count=8", "warmup=1", "reset_seed=7"}});
  all.push_back(
      {"read_bw", "tandem", "model", {"size=3001", "count=8", "warmup=1", "mpa_revision=1"}});
  all.push_back(
      {"send_bw",
       "model",
       "tandem",
       {"size=3001", "count=8", "warmup=1", "mpa_revision=1", "mpa_crc=0", "mpa_markers=1"}});
  all.push_back(
      {"write_bw", "tandem", "model", {"size=64", "count=4", "warmup=0", "depth=4", "qps=64"}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Programs, TandemTest, testing::ValuesIn(cases()), name_of);

// A poisoned read reaches RTL and model alike: the program fails, and the two do not differ.
TEST(Tandem, FollowsAFailedRead) {
  RunRequest r;
  r.program = "write_bw";
  r.kind = {"tandem", "model"};
  for (const char* s :
       {"size=4096", "count=20", "client.pcie_error_status=3", "client.pcie_error_nth=60"})
    r.config.set(s, "test");
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_THAT(out.failure, testing::Not(testing::HasSubstr("device cycle")))
      << "RTL and model differ";
}

}  // namespace
}  // namespace rnic::app
