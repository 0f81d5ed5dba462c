// specgen on the section `top` of streams.yaml: the generated top of the RTL, and the refused ends
// of streams and wires.
//
// `units` become instances; `outside` are the neighbours of the chip. A stream between two units
// becomes wires, a stream with an end outside becomes ports. `wires` are signals without handshake:
// the port of a unit has the name of the wire, or the one that `unit.port` gives. `from: each`
// wires the port of every unit separately to the target; `from: all` wires the AND of these ports.
#include "spec/specgen_run.hpp"

namespace {

using namespace rnic::tb;  // NOLINT: a test

class TopTest : public SpecgenTest {
 protected:
  static constexpr const char* kSample = R"(# A chip of two units.
streams:
  order: {ref: sample 11, from: host, to: one, fields: [index: 4]}
  job: {ref: sample 11, from: one, to: two, beat: true}
  reply: {ref: sample 11, from: two, to: host, like: order}
top:
  ref: sample 11
  doc: >
    rnic: the sample,
    wired.

    A second paragraph.
  outside: [host]
  units: [one, two]
  wires:
    mode: {ref: sample 11, from: host, to: [one, two.how], type: 3, doc: "Chosen."}
    alarm: {ref: sample 11, from: two.fault, to: host, type: 1}
    given: {ref: sample 11, from: one, to: two.taken, type: order}
    count: {ref: sample 11, from: each, to: one, type: 8}
    ready: {ref: sample 11, from: all, to: one, type: 1}
)";
  void write_streams(const std::string& text) const {
    std::ofstream(dir_ / "spec" / "streams.yaml") << text;
  }
  /// Expects that the sample with one piece replaced is refused, at this line, for this reason.
  void top_refused(const std::string& from, const std::string& to, int line,
                   const std::string& reason) const {
    SCOPED_TRACE(from + " -> " + to);
    std::string text = kSample;
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_streams(text.replace(at, from.size(), to));
    const auto got = print();
    EXPECT_EQ(got.status, 2);
    EXPECT_THAT(got.text, testing::StartsWith((dir_ / "spec" / "streams.yaml").string() + ":" +
                                              std::to_string(line) + ": "));
    EXPECT_THAT(got.text, testing::HasSubstr(reason));
  }
};

TEST_F(TopTest, IsPrintedFromItsUnitsStreamsAndWires) {
  write_streams(kSample);
  EXPECT_EQ(print().text, "");
  EXPECT_EQ(read_file(dir_ / "out/rtl/gen/rnic.sv"),
            R"(// Printed by specgen from docs/spec; do not edit.
//
// rnic: the sample, wired.
//
// A second paragraph.

module rnic (
  input  logic clk_i,
  input  logic rst_ni,
  // from host
  input  logic [2:0] mode_i,
  // to host
  output logic alarm_o,
  // from host
  input  logic order_valid_i,
  output logic order_ready_o,
  input  iwarp_pkg::order_t order_i,
  // to host
  output logic reply_valid_o,
  input  logic reply_ready_i,
  output iwarp_pkg::reply_t reply_o
);
  // one -> two
  logic job_valid, job_ready;
  iwarp_pkg::beat_t job;
  iwarp_pkg::order_t given;
  logic [7:0] count_one;
  logic [7:0] count_two;
  logic ready_one;
  logic ready_two;
  logic ready_all;

  assign ready_all = ready_one
    && ready_two;

  one u_one (
    .clk_i,
    .rst_ni,
    .mode_i,
    .given_o(given),
    .count_o(count_one),
    .count_one_i(count_one),
    .count_two_i(count_two),
    .ready_o(ready_one),
    .ready_all_i(ready_all),
    .order_valid_i,
    .order_ready_o,
    .order_i,
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .job_o(job)
  );

  two u_two (
    .clk_i,
    .rst_ni,
    .how_i(mode_i),
    .fault_o(alarm_o),
    .taken_i(given),
    .count_o(count_two),
    .ready_o(ready_two),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .job_i(job),
    .reply_valid_o,
    .reply_ready_i,
    .reply_o
  );
endmodule
)");
  const auto taps = read_file(dir_ / "out/sim/backend/gen/stream_taps.hpp");
  EXPECT_THAT(taps, testing::HasSubstr("root.order_valid_i != 0, root.order_ready_o != 0"));
  EXPECT_THAT(taps, testing::HasSubstr("root.rnic__DOT__job_valid != 0"));
  EXPECT_THAT(taps, testing::HasSubstr("root.reply_valid_o != 0, root.reply_ready_i != 0"));
  const auto page = read_file(dir_ / "out/docs/gen/streams.md");
  EXPECT_THAT(page, testing::HasSubstr("| `mode` | `host.mode` | `one.mode`, `two.how` | 3 bits | "
                                       "Chosen. | sample 11 |\n"));
  EXPECT_THAT(page, testing::HasSubstr("| `ready_all` | AND of `ready_one` to `ready_two` | "
                                       "`one.ready_all` | 1 bit |"));
  const auto check = "--check " + (dir_ / "spec").string() + " " + (dir_ / "out").string();
  EXPECT_EQ(run_specgen(check).status, 0);
  std::ofstream(dir_ / "out/rtl/gen/rnic.sv", std::ios::app) << "// edited\n";
  const auto got = run_specgen(check);
  EXPECT_EQ(got.status, 1);
  EXPECT_THAT(got.text, testing::HasSubstr("rtl/gen/rnic.sv"));
}

TEST_F(TopTest, RefusesEndsThatDoNotExist) {
  top_refused("from: one, to: two, beat", "from: on, to: two, beat", 4,
              "'job': from 'on' is neither in top.units (one, two) nor in top.outside (host)");
  top_refused("to: two, beat", "to: tow, beat", 4, "'job': to 'tow' is neither in top.units");
  top_refused("to: two, beat", "beat", 4, "'job': to '' is neither in top.units");
  top_refused("from: two.fault", "from: tow.fault", 17, "'alarm': from 'tow' is neither in");
  top_refused("to: two.taken", "to: tow.taken", 18, "'given': to 'tow' is neither in");
  top_refused("to: two, beat", "to: one, beat", 4, "from and to are both 'one'");
  top_refused("[host]", "[host, two]", 13, "duplicate name 'two'");
  top_refused("from: two, to: host, like", "from: host, to: host, like", 5, "both 'host'");
  top_refused("[host]\n  units: [one, two]", "[host, one]\n  units: [two]", 3, "no end in a unit");
}

TEST_F(TopTest, RefusesPortsAndWiresThatCannotBe) {
  top_refused("to: two.taken", "to: two.how", 18, "duplicate name 'two.how_i'");
  top_refused("to: two.taken", "to: two.job_valid", 18, "duplicate name 'two.job_valid_i'");
  top_refused("from: two.fault", "from: two.count", 19, "duplicate name 'two.count_o'");
  top_refused("given:", "job_valid:", 18, "duplicate name 'job_valid'");
  top_refused("given:", "ready_all:", 20, "duplicate name 'ready_all'");
  top_refused("to: two.taken", "to: two.Taken", 18, "snake_case");
  top_refused("to: host, type: 1", "to: host.siren, type: 1", 17, "write 'host'");
  top_refused("to: host, type: 1", "to: [host, one], type: 1", 17, "no other to");
  top_refused("from: one, to: two.taken, type: order", "from: one, type: order", 18,
              "'to' is missing");
  top_refused("from: all, to: one, type: 1", "from: all, to: one, type: 2", 20, "needs type 1");
  top_refused("type: order", "type: ordre", 18, "unknown type 'ordre'");
  top_refused("units: [one, two]", "units: one", 14, "must be a list of names");
  top_refused("  units: [one, two]\n", "", 7, "needs a list of units");
  top_refused("units: [one, two]", "units: [one, two, all]", 14, "'all' stands for every unit");
  top_refused("  outside:", "  inside:", 13, "unknown key 'inside'");
  fs::remove(dir_ / "spec/streams.yaml");
  write(kSample);
  EXPECT_THAT(print().text, testing::HasSubstr("unknown key 'top'"));
}

}  // namespace
