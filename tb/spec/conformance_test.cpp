// The tool conformance: the inputs that it refuses, with file, line and reason, and the page that
// it prints.
//
// The tool reads requirements.csv and testplan.yaml. Each MUST or SHOULD of requirements.csv needs
// an entry in testplan.yaml: its tests, or `later`, `none` or `open` with a reason. Documents under
// the top-level key `later` need no entries. The tool looks up each named test in the sources below
// tb, and prints docs/gen/conformance.md. With --check it compares that page instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ConformanceTest : public testing::Test {
 protected:
  ConformanceTest()
      : dir_(fs::temp_directory_path() / ("conformance_test." + std::to_string(getpid()))) {
    fs::remove_all(dir_);
    for (const char* folder : {"spec", "tb/unit", "docs/gen"})
      fs::create_directories(dir_ / folder);
    std::ofstream(dir_ / "tb/unit/unit_test.cpp")
        << "TYPED_TEST(UnitTest, Places) {}\nTEST_P(\n    World, Ends) {}\n";
    std::ofstream(dir_ / "spec/requirements.csv")
        << "id,document,section,level,side,unit,requirement,how-to-verify\n"
           "A-1-01,RFC 1,1,MUST,both,ddp,\"Bytes, all of them, are \"\"placed\"\" | once.\",Look.\n"
           "A-1-02,RFC 1,1,FACT,both,ddp,Of no matter.,None.\n"
           "A-1-03,RFC 1,1,SHOULD,both,ddp,It ends.,Wait.\n"
           "B-1-01,RFC 2,1,MUST,both,ddp,Much.,Wait.\n";
    plan(kGood);
  }
  ~ConformanceTest() override { fs::remove_all(dir_); }

  void plan(const std::string& text) const { std::ofstream(dir_ / "spec/testplan.yaml") << text; }
  // Runs the tool with these options. Returns its exit status; its output is in said_.
  int run(const std::string& words = "") {
    FILE* pipe = popen((std::string(RNIC_CONFORMANCE) + words + " " + (dir_ / "spec").string() +
                        " " + dir_.string() + " 2>&1")
                           .c_str(),
                       "r");
    said_.clear();
    std::array<char, 4096> buffer{};
    while (fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
      said_ += buffer.data();
    return WEXITSTATUS(pclose(pipe));
  }
  // Expects that the tool refuses this plan for this reason, and prints no page.
  void refused(const std::string& text, const std::string& reason) {
    plan(text);
    EXPECT_EQ(run(), 2) << text;
    EXPECT_THAT(said_, HasSubstr(reason));
    EXPECT_FALSE(fs::exists(dir_ / "docs/gen/conformance.md"));
  }

  static constexpr const char* kGood =
      "later: {RFC 2: \"Comes.\"}\nrequirements:\n  A-1-01: {tests: [UnitTest.Places, World.Ends], "
      "note: \"both\"}\n  A-1-03: {open: \"nobody waits\"}\n";
  fs::path dir_;
  std::string said_;
};

TEST_F(ConformanceTest, PrintsThenChecksThenFindsAChange) {
  EXPECT_EQ(run(" --check"), 1) << said_;
  EXPECT_EQ(run(), 0) << said_;
  std::ostringstream page;
  page << std::ifstream(dir_ / "docs/gen/conformance.md").rdbuf();
  // MUST and SHOULD of a document: all, with tests, without a test, later, open.
  EXPECT_THAT(page.str(),
              HasSubstr("| RFC 1 | 2 | 1 | 0 | 0 | 1 |\n| RFC 2 | 1 | 0 | 0 | 1 | 0 |\n"));
  EXPECT_THAT(page.str(), HasSubstr("| A-1-01 | MUST | Bytes, all of them, are \"placed\" \\| "
                                    "once. | `UnitTest.Places`, `World.Ends`: both |\n"));
  EXPECT_THAT(page.str(), HasSubstr("| A-1-03 | SHOULD | It ends. | *open*: nobody waits |\n"));
  EXPECT_THAT(page.str(), HasSubstr("## RFC 2\n\nComes.\n"));
  EXPECT_EQ(run(" --check"), 0) << said_;
  std::ofstream(dir_ / "docs/gen/conformance.md", std::ios::app) << "more\n";
  EXPECT_EQ(run(" --check"), 1);
  EXPECT_THAT(said_, HasSubstr("conformance.md: is not what conformance prints"));
}

TEST_F(ConformanceTest, WhatIsWrongIsRefusedAtItsLine) {
  const std::string head = "later: {RFC 2: \"Comes.\"}\nrequirements:\n";
  const std::string one = "  A-1-01: {tests: [UnitTest.Places]}\n",
                    three = "  A-1-03: {none: \"by construction\"}\n";
  refused(head + three, "requirements.csv:2: A-1-01 is missing in ");
  refused(head + one + three + "  A-1-02: {none: \"a fact\"}\n",
          "testplan.yaml:5: A-1-02 is no MUST or SHOULD of ");
  refused(head + one + three + "  B-1-01: {none: \"early\"}\n",
          "requirements.csv:5: B-1-01 is of a document that comes later");
  refused(head + one + one + three, "testplan.yaml:4: duplicate name 'A-1-01'");
  refused(head + "  A-1-01: {tests: [UnitTest.Place]}\n" + three,
          "testplan.yaml:3: A-1-01: there is no test UnitTest.Place");
  refused(head + "  A-1-01: {tests: []}\n" + three, "testplan.yaml:3: A-1-01: says nothing");
  refused(head + "  A-1-01: {none: \"\"}\n" + three, "testplan.yaml:3: A-1-01: says nothing");
  refused(head + "  A-1-01: {test: [UnitTest.Places]}\n" + three,
          "testplan.yaml:3: A-1-01: 'test'; it has one of tests, later, none, open");
  refused(head + "  A-1-01: {none: \"x\", open: \"y\"}\n" + three, "A-1-01: 'open'");
  refused("latter: {}\n", "testplan.yaml:1: unknown key 'latter'");
  refused(head + "  A-1-01: {tests: [\n", "testplan.yaml:");
  refused("requirements:\n" + one + three, "requirements.csv:5: B-1-01 is missing in ");
  std::ofstream(dir_ / "spec/requirements.csv", std::ios::app) << "C,RFC 1\n";
  refused(kGood, "requirements.csv:6: 2 fields, not 8");
}

}  // namespace
