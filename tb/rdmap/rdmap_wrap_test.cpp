// Watermarks at large counts. rdmap counts the placements that it has accepted in 64 bits. The
// response to a Read carries, as its watermark, the count at the arrival of its request. The test
// sets the count to values that no simulation reaches: 2^31 - 2, 2^32 - 2 and 5 * 2^32. pokes.vlt
// makes the register of the count public in the RTL. Then the peer sends five Reads, each followed
// by a Write that is placed. The watermarks must be the value set, plus 0 to 4.
#include "VRdmapMin___024root.h"
#include "VRdmap___024root.h"
#include "rdmap/rdmap_world.hpp"

namespace rnic::tb {
namespace {

/// Sets rdmap's count of accepted placements: placed_q of rdmap_core.
template <class D>
void set_placed(D& dut, uint64_t count) {
  if constexpr (requires { dut.behaviour(); })
    dut.behaviour().set_placed(count);
  else
    dut.top().rootp->rdmap__DOT__u_core__DOT__placed_q = count;
}

template <class D>
struct RdmapWrapTest : RdmapWorld<D> {};
TYPED_TEST_SUITE(RdmapWrapTest, Duts);

TYPED_TEST(RdmapWrapTest, WatermarksHave64Bits) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(1, this->params());
    uint8_t slot = 0;  // IRD slot of the next request; params() gives the QP 4 of them
    for (const uint64_t start : {0x7ffffffeULL, 0xfffffffeULL, 0x5'0000'0000ULL}) {
      this->dut.settle();
      set_placed(this->dut, start);
      for (uint64_t i = 0; i < 5; i++) {
        const auto request = this->request(100);
        this->expect_good(1, request, this->good(false));  // accepted, nothing to be placed
        this->expect_message(this->response(1, request, slot, start + i));
        this->free_response(1);
        slot = u8((slot + 1U) % 4U);
        this->expect_good(1, this->write(10), this->good(true));  // placed: one more
      }
    }
  });
}

}  // namespace
}  // namespace rnic::tb
