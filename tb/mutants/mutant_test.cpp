// The tool that adds disabled faults to sources, and the spoiler of the trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mutants/source.hpp"
#include "mutants/trace.hpp"

namespace rnic::mutants {
namespace {

using testing::IsEmpty;

constexpr const char* kLeaf = R"(// leaf: a == b in a comment is no place
module leaf;
  assign sum = a + 8'd3;
  assign go  = valid && room[2];
  always_comb begin
    next_d = left > right ? left - right : 4'd0;
    if (first == last) next_d = 4'd15;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      q <= 4'd1;
    end else if (go) begin
      q <= next_d;
    end
  end
  assign tap_x = {go, q};
  `RNIC_ASSERT(Full_A, a == b)
endmodule
)";

std::vector<Place> of_kind(const std::vector<Place>& places, std::string_view kind) {
  std::vector<Place> some;
  std::ranges::copy_if(places, std::back_inserter(some),
                       [&](const Place& p) { return p.kind == kind; });
  return some;
}
std::string text_of(const std::string& source, const Place& p) {
  return source.substr(p.from, p.to - p.from);
}
/// The source line of a place after it gets number 7.
std::string line_with(const std::string& source, const Place& p, Language language) {
  const std::string all = apply(source, {{p, 7}}, language);
  const size_t begin = source.rfind('\n', p.from) + 1;
  return all.substr(begin, all.find('\n', begin) - begin);
}

/// A place of kLeaf: kind of fault, text there, faulty text, and the line that apply() generates.
struct Wanted {
  const char *kind, *was, *after, *line;
};
void PrintTo(const Wanted& w, std::ostream* os) { *os << w.kind; }

class PlacesOfSv : public testing::TestWithParam<Wanted> {};

TEST_P(PlacesOfSv, Found) {
  const std::string source = kLeaf;
  const auto [kind, was, after, line] = GetParam();
  for (const Place& p : of_kind(find_places(source, Language::kSystemVerilog), kind)) {
    if (text_of(source, p) != was) continue;
    EXPECT_EQ(p.after, after);
    EXPECT_EQ(line_with(source, p, Language::kSystemVerilog), line);
    return;
  }
  ADD_FAILURE() << "no place of kind " << kind << " at " << was;
}

#define SEL "(rnic_mutant_pkg::selected == 32'd7)"
INSTANTIATE_TEST_SUITE_P(
    Kinds, PlacesOfSv,
    testing::Values(
        Wanted{"lowest bit flipped", "a + 8'd3", "(a + 8'd3) ^ 1",
               "  assign sum = (a + 8'd3) ^ " SEL ";"},
        Wanted{"constant off by one", "8'd3", "8'd4",
               "  assign sum = a + (" SEL " ? 8'd4 : 8'd3);"},
        Wanted{"constant off by one", "4'd15", "4'd14",
               "    if (first == last) next_d = (" SEL " ? 4'd14 : 4'd15);"},
        Wanted{"and becomes or", "valid && room[2]", "valid || (room[2])",
               "  assign go  = (" SEL " ? (valid || (room[2])) : (valid && room[2]));"},
        Wanted{"bit index off by one", "2", "1",
               "  assign go  = valid && room[(" SEL " ? 1 : 2)];"},
        Wanted{"branches swapped", "left > right", "!(left > right)",
               "    next_d = (!(left > right) == " SEL ") ? left - right : 4'd0;"},
        Wanted{"border moved", "left > right", "left >= right",
               "    next_d = ((left > right) || (" SEL
               " && left == right)) ? left - right : 4'd0;"},
        Wanted{"operands swapped", "left - right", "right - left",
               "    next_d = left > right ? (" SEL " ? right - left : left - right) : 4'd0;"},
        Wanted{"comparison inverted", "first == last", "first != last",
               "    if (((first == last) != " SEL ")) next_d = 4'd15;"},
        Wanted{"condition inverted", "go", "!(go)", "    end else if (!(go) == " SEL ") begin"},
        Wanted{"condition always true", "go", "1'b1", "    end else if ((go) || " SEL ") begin"}));
#undef SEL

TEST(PlacesOfSv, NoneInCommentsAssertionsResetValuesAndTaps) {
  const std::string source = kLeaf;
  for (const Place& p : find_places(source, Language::kSystemVerilog)) {
    const std::string line = line_with(source, p, Language::kSystemVerilog);
    EXPECT_EQ(line.find("//"), std::string::npos) << line;
    EXPECT_EQ(line.find("RNIC_ASSERT"), std::string::npos) << line;
    EXPECT_EQ(line.find("tap_x"), std::string::npos) << line;
    EXPECT_EQ(line.find("q <= 4'd1"), std::string::npos) << line;
    EXPECT_EQ(line.find("rst_ni"), std::string::npos) << line;
  }
}

TEST(PlacesOfCpp, ConditionsReturnsAndConstants) {
  const std::string source =
      "constexpr int kA = 4 + 1;\n"
      "bool f(int n) {\n"
      "  if (n > 3 && n != 9) return true;\n"
      "  count += 2;\n"
      "  return false;\n"
      "}\n";
  const auto places = find_places(source, Language::kCpp);
  EXPECT_THAT(of_kind(places, "condition inverted"), testing::SizeIs(1));
  EXPECT_THAT(of_kind(places, "and becomes or"), testing::SizeIs(1));
  EXPECT_THAT(of_kind(places, "comparison inverted"), testing::SizeIs(1));
  EXPECT_THAT(of_kind(places, "border moved"), testing::SizeIs(1));
  EXPECT_THAT(of_kind(places, "returned value changed"), testing::SizeIs(2));
  const auto constants = of_kind(places, "constant off by one");
  ASSERT_THAT(constants, testing::SizeIs(3));  // 3, 9, 2: not those of the constant
  EXPECT_EQ(line_with(source, constants[2], Language::kCpp),
            "  count += (rnic::mutants::is(7) ? 3 : 2);");
}

TEST(Apply, SeveralPlacesWhateverTheirOrder) {
  const std::string source = "abc";
  const Place a{0, 1, "", "", "<@>"}, c{2, 3, "", "", "(@)"};
  const std::string want = "<rnic::mutants::is(1)>b(rnic::mutants::is(2))";
  EXPECT_EQ(apply(source, {{a, 1}, {c, 2}}, Language::kCpp), want);
  EXPECT_EQ(apply(source, {{c, 2}, {a, 1}}, Language::kCpp), want);
  EXPECT_EQ(apply(source, {}, Language::kCpp), source);
}

TEST(CodeOf, BlanksWhatIsNoCodeAndKeepsPlaces) {
  EXPECT_EQ(code_of("a // b\nc"), "a     \nc");
  EXPECT_EQ(code_of("f(\"x\\\"y\", z)"), "f(" + std::string(6, ' ') + ", z)");
  EXPECT_EQ(code_of("a /* b\n */ c"), "a     \n    c");
  EXPECT_EQ(code_of("`M(a, (b)) c"), std::string(10, ' ') + " c");
}

// --- the trace

using Action = TraceFault::Action;
using Commits = std::vector<spec::AnyCommit>;

spec::AnyCommit answer(uint16_t qpn) { return spec::QpAnswerCommit{.qpn = qpn}; }
spec::AnyCommit issue(uint16_t qpn) { return spec::QpIssueCommit{.qpn = qpn}; }

/// Feeds these commits, one per cycle; returns the spoiled ones.
Commits spoiled(const TraceFault& fault, const Commits& in) {
  TraceSpoiler spoiler(fault);
  sim::RtlPins::Out pins;
  Commits out;
  for (const auto& c : in) {
    Commits cycle{c};
    spoiler.edit(cycle, pins);
    out.insert(out.end(), cycle.begin(), cycle.end());
  }
  return out;
}

TEST(Trace, ActsOnTheNthOfItsKind) {
  const Commits in = {answer(1), issue(2), answer(3), issue(4), answer(5)};
  EXPECT_EQ(spoiled({"qp_answer", Action::kDrop, 2}, in),
            (Commits{answer(1), issue(2), issue(4), answer(5)}));
  EXPECT_EQ(spoiled({"qp_answer", Action::kDouble, 2}, in),
            (Commits{answer(1), issue(2), answer(3), answer(3), issue(4), answer(5)}));
  EXPECT_EQ(spoiled({"qp_answer", Action::kLater, 2}, in),
            (Commits{answer(1), issue(2), issue(4), answer(5), answer(3)}));
  // Bit 0 is `waits`.
  EXPECT_EQ(spoiled({"qp_answer", Action::kBit, 2, 1}, in),
            (Commits{answer(1), issue(2), answer(2), issue(4), answer(5)}));
  EXPECT_EQ(spoiled({"qp_answer", Action::kDrop, 4}, in), in);
}

TEST(Trace, ChangesABeatThatIsTaken) {
  TraceSpoiler spoiler({"beat of dma_wr", Action::kBit, 2, 3});
  Commits none;
  std::vector<uint8_t> seen;
  for (const bool ready : {true, false, true, true}) {
    sim::RtlPins::Out pins;
    pins.dma_wr.valid = true;
    pins.dma_wr.ready = ready;
    pins.dma_wr.item.data[0] = 0x40;
    spoiler.edit(none, pins);
    seen.push_back(pins.dma_wr.item.data[0]);
  }
  EXPECT_THAT(seen, testing::ElementsAre(0x40, 0x40, 0x48, 0x40));
  EXPECT_THAT(none, IsEmpty());
}

TEST(Trace, TheSeedDraws) {
  const auto a = trace_faults(1, 20), b = trace_faults(1, 20), c = trace_faults(2, 20);
  const auto words = [](const std::vector<TraceFault>& all) {
    std::string s;
    for (const auto& f : all) s += f.describe(0).kind + f.describe(0).before + f.describe(0).after;
    return s;
  };
  ASSERT_EQ(a.size(), kTracesByHand + 20);
  EXPECT_EQ(words(a), words(b));
  EXPECT_NE(words(a), words(c));
}

}  // namespace
}  // namespace rnic::mutants
