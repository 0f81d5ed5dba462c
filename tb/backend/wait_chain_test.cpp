// rtl_wait_chain on a leaf that is blocked for one known reason. The report must name the leaf, its
// state, the full queue and the stalled stream, and nothing else.
//
// wait_chain() compares snapshots of all variables (FST waveforms): `now`, `idle` (after reset)
// and, if given, `before` (an earlier cycle).
#include <VTxSegment.h>
#include <gmock/gmock.h>
#include <verilated_fst_c.h>

#include "backend/rtl_wait_chain.hpp"
#include "support/folder.hpp"

namespace rnic::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// ddp_tx_segment; the test sets which neighbours accept. Each segment is the only one of a Send of
/// 64 inline bytes.
class Leaf {
 public:
  Leaf() {
    ctx_.traceEverOn(true);
    top_.payload_req_ready_i = top_.tx_xlate_ready_i = 1;
    top_.sq_slot_free_ready_i = top_.resp_slot_free_ready_i = top_.inline_ready_i = 1;
    constexpr uint32_t kIsInline = 1U << 14;  // in hdr_i's third word
    top_.hdr_i[2] = kIsInline;
    top_.seg_first_i = top_.seg_last_i = 1;
    top_.seg_length_i = 64;
    top_.rst_ni = 0;
    cycles(4);
    top_.rst_ni = 1;
    cycles(4);
  }
  /// Offers one segment of this QP for one cycle.
  void segment(uint16_t qpn) {
    top_.seg_qpn_i = qpn;
    top_.seg_valid_i = 1;
    cycles(1);
    top_.seg_valid_i = 0;
  }
  void cycles(int n) {
    for (; n != 0; --n) {
      top_.clk_i = 0;
      top_.eval();
      top_.clk_i = 1;
      top_.eval();
    }
  }
  /// The present values of all variables.
  RtlSnapshot snapshot() {
    const tb::Folder folder;
    const std::string file = folder / "now.fst";
    VerilatedFstC to;
    top_.trace(&to, 99);
    to.open(file.c_str());
    to.dump(uint64_t{0});
    to.close();
    auto s = RtlSnapshot::read(file);
    EXPECT_TRUE(s.has_value());
    return s.value_or(RtlSnapshot{});
  }
  VTxSegment& pins() { return top_; }

 private:
  VerilatedContext ctx_;
  VTxSegment top_{&ctx_};
};

struct WaitChain : testing::Test {
  Leaf leaf;
  RtlSnapshot idle = leaf.snapshot();
  /// The lines of the report now. before: an earlier snapshot, as of cycle 77.
  std::vector<std::string> lines(const RtlSnapshot* before = nullptr) {
    const RtlSnapshot now = leaf.snapshot();
    return wait_chain({.now = now, .idle = &idle, .before = before, .before_cycle = 77});
  }
};

TEST_F(WaitChain, SaysNothingOfAnIdleDevice) {
  leaf.segment(3);
  leaf.cycles(20);
  EXPECT_THAT(lines(), IsEmpty());
}

/// The state machine waits for room in a queue of the leaf and drives no output valid.
TEST_F(WaitChain, NamesTheFullQueueThatALeafWaitsFor) {
  leaf.pins().sq_slot_free_ready_i = 0;  // two segments fill the queue u_sq_frees
  for (const uint16_t qpn : {uint16_t{3}, uint16_t{4}}) leaf.segment(qpn);
  leaf.cycles(20);
  leaf.pins().inline_ready_i = 0;
  leaf.segment(5);
  leaf.cycles(20);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr(
                           "-> ddp_tx_segment (st_q StInl, QP 5) -> ddp_tx_segment.u_sq_frees "
                           "(full, 2 of 2 words) -sq_slot_free-> pins")));
}

/// No queue is full: the report names the state and the stalled stream.
TEST_F(WaitChain, NamesTheStateOfALeafAndTheStreamThatIsNotTaken) {
  leaf.pins().inline_ready_i = 0;
  leaf.segment(9);
  leaf.cycles(20);
  const auto said = lines();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("ddp_tx_segment (st_q StInl, QP 9) -inline-> pins"));
}

TEST_F(WaitChain, SaysSinceWhenNothingHasMoved) {
  leaf.pins().inline_ready_i = 0;
  leaf.segment(9);
  leaf.cycles(20);
  const RtlSnapshot before = leaf.snapshot();
  leaf.cycles(100);
  EXPECT_THAT(lines(&before), ElementsAre(HasSubstr(", unchanged since cycle 77 or before")));
  leaf.pins().inline_ready_i = 1;
  leaf.cycles(20);
  leaf.pins().inline_ready_i = 0;
  leaf.segment(10);
  leaf.cycles(20);
  EXPECT_THAT(lines(&before), ElementsAre(Not(HasSubstr("unchanged"))));
}

}  // namespace
}  // namespace rnic::sim
