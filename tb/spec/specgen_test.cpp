// specgen: refused inputs, with file, line and reason, and the output for tb/spec/samples.
#include <map>
#include <regex>

#include "spec/specgen_run.hpp"

namespace {

using namespace rnic::tb;  // NOLINT: a test

TEST_F(SpecgenTest, PrintsThenChecksThenFindsAChange) {
  write(sample_);
  EXPECT_EQ(print().text, "");
  const auto check = "--check " + (dir_ / "spec").string() + " " + (dir_ / "out").string();
  EXPECT_EQ(run_specgen(check).status, 0);
  std::ofstream(dir_ / "out/rtl/gen/regs_pkg.sv", std::ios::app) << "// edited\n";
  const auto got = run_specgen(check);
  EXPECT_EQ(got.status, 1);
  EXPECT_THAT(got.text, testing::HasSubstr("rtl/gen/regs_pkg.sv"));
}

TEST_F(SpecgenTest, PrintsEachKind) {
  write(sample_);
  ASSERT_EQ(print().status, 0);
  const auto sv = read_file(dir_ / "out/rtl/gen/iwarp_pkg.sv");
  EXPECT_THAT(sv, testing::HasSubstr("ColourGreen = 2'h2"));
  EXPECT_THAT(sv, testing::HasSubstr("IBV_TWO = 8'h2"));
  EXPECT_THAT(sv, testing::HasSubstr(
                      "    logic [3:0] version;\n    colour_e paint;\n    logic [1:0] reserved;"));
  EXPECT_THAT(sv, testing::HasSubstr(
                      "    logic [39:0] tail;\n    logic [63:0] address;\n"));  // entries: reversed
  // paint 2, left 24 and right 12 of inner, raw 96, bit_odd 3
  EXPECT_THAT(sv, testing::HasSubstr("localparam int unsigned WideWidth = 137;"));
  // layer, etype, code, ddp_header, rdma_header
  EXPECT_THAT(sv, testing::HasSubstr("8'h01: cause_terminate = {4'h2, 4'h0, 8'h02, 1'b1, 1'b0};"));
  const auto regs = read_file(dir_ / "out/rtl/gen/regs_pkg.sv");
  EXPECT_THAT(regs, testing::HasSubstr("CtrlMask = 32'h1;"));
  EXPECT_THAT(regs, testing::HasSubstr("CountStride = 8;"));
  EXPECT_THAT(read_file(dir_ / "out/rtl/gen/rnic_pkg.sv"), testing::HasSubstr("NumThings = 16;"));
  const auto cpp = read_file(dir_ / "out/model/gen/iwarp.hpp");
  EXPECT_THAT(cpp, testing::HasSubstr("kGreen = 0x2,"));
  EXPECT_THAT(cpp, testing::HasSubstr("using Beats = Beat;"));
  EXPECT_THAT(cpp, testing::HasSubstr("using Twin = Wide;"));
}

TEST_F(SpecgenTest, RefusesNames) {
  refused("prefix: Colour", "perfix: Colour", "unknown key 'perfix'");
  refused("    width: 2\n", "", "'width' is missing", 1);
  refused("flags: 6", "index: 6", "duplicate name 'index'");
  refused("flags: 6", "tagged: 6", "reserved word of SystemVerilog");
  refused("flags: 6", "operator: 6", "reserved word of C++");
  refused("flags: 6", "Flags: 6", "snake_case");
  refused("  twin:", "  wide:", "duplicate name 'wide'");
  refused("  twin:", "  head:", "duplicate name 'Head'");
  refused("right: 12", "right: colur", "unknown type 'colur'");
  refused("like: wide", "like: wider", "unknown type 'wider'");
}

TEST_F(SpecgenTest, RefusesPositions) {
  refused("tail: 40", "tail: 48", "beyond the 16 bytes");
  refused("      - tail: 40\n", "", "gap of 40 bits", 8);
  refused("at: 3", "at: 2", "overlaps");
  refused("at: 3", "at: 4", "gap of 8 bits");
  refused("length: 16", "length: 8", "gap of 8 bits", 3);
  refused("raw: 96", "raw: 97", "whole bytes");
  refused("offset: 0x8, width: 64", "offset: 0x0, width: 64", "overlaps 'ctrl'");
  refused("offset: 0x8, width: 64", "offset: 0x4, width: 64", "multiples of its size");
  refused("reserved: 31", "reserved: 30", "gap of 1 bits");
  refused("reserved: 31", "reserved: 32", "beyond 32");
}

TEST_F(SpecgenTest, RefusesValues) {
  refused("green: {value: 2}", "green: {value: 4}", "does not fit 2 bits");
  refused("green: {value: 2}", "green: {value: 0}", "already 'red'");
  refused("magic: {value: 0x1234, width: 16, ref: sample 9}", "magic: {value: 0x1234, width: 16}",
          "has no ref");
  refused("value: 0x1234, width: 16", "value: 0x1234, width: 12", "does not fit 12 bits");
  refused("value: 0x1234", "value: many", "must be a number");
  refused("default: 16", "default: 65", "outside min to max");
  refused("minimum: 2", "minimum: 0", "outside min to max");
  refused("default: 16", "default: 17", "'num_things': default 17 is no power of two");
  refused("minimum: 2", "minimum: 3", "'num_things': minimum 3 is no power of two");
  refused("stall: 2", "stall: 65", "outside min to max");
  refused("stall: 2", "stall: 3", "'num_things': stall 3 is no power of two");
  refused("stall: 2", "stall: 1", "stall is 1");
  refused("power_of_two: true", "power_of_two: 1", "must be true or false");
  refused("access: ro", "access: r", "access must be");
  refused("reset: 1", "reset: 0x100000000", "reset does not fit");
  refused("code: 2", "code: 256", "code 8");
}

class CommitsTest : public SpecgenTest {
 protected:
  static constexpr const char* kSample =
      "# The trace.\n"
      "commits:\n"
      "  shown: {ref: sample 10, at: u_one, doc: \"Small.\", fields: [paint: colour, index: 4]}\n"
      "  wide_one: {ref: sample 10, at: u_one.u_two, fields: [address: 64, index: 16]}\n";
  CommitsTest() { write(sample_); }
  void write_commits(const std::string& text) const {
    std::ofstream(dir_ / "spec" / "commits.yaml") << text;
  }
  /// As refused(), for kSample in commits.yaml. `line`: the line that the error must name.
  void commit_refused(const std::string& from, const std::string& to, const std::string& reason,
                      int line) const {
    SCOPED_TRACE(from + " -> " + to);
    std::string text = kSample;
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_commits(text.replace(at, from.size(), to));
    const auto got = print();
    EXPECT_EQ(got.status, 2);
    EXPECT_THAT(got.text, testing::StartsWith((dir_ / "spec" / "commits.yaml").string() + ":" +
                                              std::to_string(line) + ": "));
    EXPECT_THAT(got.text, testing::HasSubstr(reason));
  }
};

TEST_F(CommitsTest, AreStructsWithAValidBitAndTaps) {
  write_commits(kSample);
  EXPECT_EQ(print().text, "");
  const auto sv = read_file(dir_ / "out/rtl/gen/iwarp_pkg.sv");
  EXPECT_THAT(sv, testing::HasSubstr("    logic valid;\n    colour_e paint;\n    logic [3:0] "
                                     "index;\n  } shown_commit_t;"));
  EXPECT_THAT(sv, testing::HasSubstr("ShownCommitWidth = 7;"));  // valid 1, paint 2, index 4
  EXPECT_THAT(sv, testing::HasSubstr("tap_wide_one in u_one.u_two"));
  const auto cpp = read_file(dir_ / "out/model/gen/commits.hpp");
  EXPECT_THAT(cpp, testing::HasSubstr("struct ShownCommit {\n  Colour paint{};"));
  EXPECT_THAT(cpp, testing::HasSubstr("kName = \"wide_one\";\n  static constexpr size_t kBits = "
                                      "81;\n  static constexpr size_t kValidBit = 80;"));
  EXPECT_THAT(cpp, testing::HasSubstr("std::variant<\n    ShownCommit,\n    WideOneCommit>;"));
  EXPECT_THAT(read_file(dir_ / "out/sim/backend/gen/commit_taps.hpp"),
              testing::HasSubstr("root.rnic__DOT__u_one__DOT__u_two__DOT__tap_wide_one"));
  EXPECT_THAT(read_file(dir_ / "out/docs/gen/commits.md"),
              testing::HasSubstr("`tap_wide_one` in `u_one.u_two`. 81 bits."));
  const auto check = "--check " + (dir_ / "spec").string() + " " + (dir_ / "out").string();
  EXPECT_EQ(run_specgen(check).status, 0);
  std::ofstream(dir_ / "out/sim/backend/gen/commit_taps.hpp", std::ios::app) << "// edited\n";
  EXPECT_EQ(run_specgen(check).status, 1);
}

TEST_F(CommitsTest, AreRefusedLikeEverythingElse) {
  commit_refused("at: u_one, ", "", "at must be instances", 3);
  commit_refused("at: u_one,", "at: one,", "at must be instances", 3);
  commit_refused("at: u_one.u_two", "at: u_one.u_", "at must be instances", 4);
  commit_refused("at: u_one.u_two", "at: u_one..u_two", "at must be instances", 4);
  commit_refused("at: u_one.u_two", "at: u_One", "snake_case", 4);
  commit_refused("at: u_one.u_two", "at: u_one, from: qp", "unknown key 'from'", 4);
  commit_refused("ref: sample 10, at: u_one,", "at: u_one,", "has no ref", 3);
  commit_refused("index: 4", "valid: 1", "duplicate name 'valid'", 3);
  commit_refused("paint: colour", "paint: colur", "unknown type 'colur'", 3);
  commit_refused("wide_one", "shown", "duplicate name 'shown'", 4);
  std::string text = sample_ + kSample;
  write(text);
  EXPECT_THAT(print().text, testing::HasSubstr("unknown key 'commits'"));
}

/// Each tap of docs/spec/commits.yaml must be declared in the module whose instance it names.
TEST(Commits, AreInTheRtl) {
  const auto taps = read_file("sim/backend/gen/commit_taps.hpp");
  const std::regex line("root\\.rnic((?:__DOT__u_\\w+?)+)__DOT__tap_(\\w+)");
  int found = 0;
  for (std::sregex_iterator it(taps.begin(), taps.end(), line), end; it != end; ++it, ++found) {
    std::string path = (*it)[1], text = read_file("rtl/gen/rnic.sv");
    const std::string name = (*it)[2];
    SCOPED_TRACE(name + " at" + path);
    while (!path.empty()) {
      // path: "__DOT__u_one__DOT__u_two"; 7 is the length of "__DOT__".
      const auto next = path.find("__DOT__", 1);
      const std::string instance = path.substr(7, next == std::string::npos ? next : next - 7);
      path = next == std::string::npos ? "" : path.substr(next);
      std::smatch module;
      ASSERT_TRUE(std::regex_search(
          text, module, std::regex("(?:^|\n) *(\\w+) +(?:#\\([^;]*?\\) +)?" + instance + " +\\(")))
          << "no instance " << instance;
      text.clear();
      for (const auto& unit : fs::directory_iterator("rtl"))
        if (fs::exists(unit.path() / (module[1].str() + ".sv")))
          text = read_file(unit.path() / (module[1].str() + ".sv"));
      ASSERT_FALSE(text.empty()) << "no module " << module[1];
    }
    EXPECT_TRUE(std::regex_search(text, std::regex(name + "_commit_t +tap_" + name + " ")))
        << "no tap there";
  }
  EXPECT_GE(found, 19);  // fewer: `line` does not match what specgen prints
}

/// docs/spec/sizes.yaml itself: units index tables with the low bits of a number, so bad sizes are
/// refused.
TEST_F(SpecgenTest, RefusesSizesThatUnitsCannotIndex) {
  const auto sizes = read_file("docs/spec/sizes.yaml");
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = sizes;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    std::ofstream(dir_ / "spec" / "sizes.yaml") << text.replace(at, from.size(), to);
    return print();
  };
  write("enums:\n");
  EXPECT_EQ(with("# ", "# ").status, 0);  // unchanged
  const std::map<std::string, std::string> defaults{
      {"num_qps", "1024"}, {"num_cqs", "1024"}, {"num_conns", "2048"}};
  for (const auto& [name, number] : defaults) {
    const auto got = with("  " + name + ": {default: " + number, "  " + name + ": {default: 1000");
    EXPECT_EQ(got.status, 2);
    EXPECT_THAT(got.text, testing::HasSubstr("sizes.yaml:"));
    EXPECT_THAT(got.text, testing::HasSubstr("'" + name + "': default 1000"));
    EXPECT_THAT(got.text, testing::HasSubstr("is no power of two"));
  }
  for (const std::string name : {"num_qps: {default: 1024", "num_conns: {default: 2048"}) {
    const auto got = with(name, name.substr(0, name.find(' ')) + " {default: 65536");
    EXPECT_EQ(got.status, 2);
    EXPECT_THAT(got.text, testing::HasSubstr("default is outside min to max"));
  }
}

/// Streams between units are wires of the top; streams of the boundary are its ports.
TEST(Streams, AreInTheRtlsTop) {
  const auto taps = read_file("sim/backend/gen/stream_taps.hpp"),
             top = read_file("rtl/gen/rnic.sv");
  const std::regex line("root\\.(rnic__DOT__)?(\\w+?)_valid(_[io])? ");
  int wires = 0, ports = 0;
  for (std::sregex_iterator it(taps.begin(), taps.end(), line), end; it != end; ++it) {
    const std::string name = (*it)[2], port = (*it)[3];
    ++(port.empty() ? wires : ports);
    EXPECT_THAT(top, testing::HasSubstr(port.empty() ? name + "_valid, " + name + "_ready;"
                                                     : "logic " + name + "_valid" + port));
  }
  EXPECT_GE(wires, 80);  // fewer: `line` does not match what specgen prints
  EXPECT_EQ(ports, 12);
}

TEST_F(SpecgenTest, RefusesBrokenYamlAndAnEmptyFolder) {
  write("enums: [\n");
  EXPECT_EQ(print().status, 2);
  EXPECT_THAT(print().text, testing::HasSubstr("iwarp.yaml:"));
  fs::remove(dir_ / "spec/iwarp.yaml");
  EXPECT_EQ(print().status, 2);
  EXPECT_EQ(run_specgen("").status, 2);
}

}  // namespace
