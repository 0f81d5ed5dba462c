// ddp's counters near their wrap: the 32-bit MSNs of each queue in both directions, and the 64-bit
// count of packets placed, each near 2^31 and 2^32. RFC 5041 section 5.1: MSNs are counted modulo
// 2^32.
#include "ddp/ddp_poke.hpp"
#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::RdmapOpcode;
using spec::TxSource;

constexpr uint32_t kStarts[] = {0x7ffffffe, 0xfffffffe};  // 2 before the top bit flips
constexpr uint8_t kReadRequest = 1, kSend = 3, kTerminate = 7, kFlushResponse = 0xd;

template <class D>
struct DdpWrapTest : testing::Test {
  D dut;
};
TYPED_TEST_SUITE(DdpWrapTest, Duts);

TYPED_TEST(DdpWrapTest, ReceivedMsnsGoOnAcross) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    const spec::RxVerdict take{.accept = 1}, place{.accept = 1, .place = 1};
    const spec::RxVerdict whole{.accept = 1, .place = 1, .deliver = DeliverKind::kRecv};
    for (const uint32_t start : kStarts) {
      // After five messages MSN start + 5 is next. Wrong MSNs: the last one again, one skipped, and
      // the right one with the other top bit.
      for (const uint32_t wrong : {start + 4, start + 6, start + 5 - 0x80000000U}) {
        w.start_qp(3, 7, true);
        for (unsigned qn = 0; qn < 4; qn++) set_rx_msn(this->dut, 3, qn, start);
        for (uint32_t i = 0; i < 5; i++) {
          const uint32_t msn = start + i;
          const Bytes a = random_bytes(rng, 70), b = random_bytes(rng, 30);
          w.wqes[3].push_back({.index = static_cast<uint16_t>(i),
                               .num_sge = 1,
                               .sge0 = {.tagged_offset = 0x2000, .length = 100, .stag = 0x1000},
                               .sge1 = {},
                               .sge2 = {}});
          w.receive(3, untagged(kSend, false, 0, msn, 0, a), place);
          w.receive(3, untagged(kSend, true, 0, msn, 70, b), whole);
          w.receive(3, untagged(kReadRequest, true, 1, msn, 0, random_bytes(rng, 28)), take);
          w.receive(3, untagged(kTerminate, true, 2, msn, 0, random_bytes(rng, 4)), take);
          w.receive(3, untagged(kFlushResponse, true, 3, msn, 0, {}), take);
          for (int k = 0; k < 5; k++)
            EXPECT_EQ(this->dut.rx_segment.take().cause, Cause::kNone)
                << std::hex << msn << " " << k;
          const auto done = this->dut.rx_done.take();
          EXPECT_EQ(done.index, i);
          EXPECT_EQ(done.byte_len, 100U);
          Bytes got;
          for (; !w.placed.empty(); w.placed.pop_front())
            got.insert(got.end(), w.placed[0].bytes.begin(), w.placed[0].bytes.end());
          Bytes want = a;
          want.insert(want.end(), b.begin(), b.end());
          EXPECT_EQ(got, want);
          if (testing::Test::HasFailure()) return;
        }
        const bool is_response = rng.percent(50);
        w.receive(3,
                  is_response ? untagged(kFlushResponse, true, 3, wrong, 0, {})
                              : untagged(kSend, true, 0, wrong, 0, random_bytes(rng, 10)),
                  {});
        EXPECT_EQ(this->dut.rx_segment.take().cause, Cause::kDdpUntaggedMsn) << std::hex << wrong;
        w.control(spec::QpOp::kStop, 3);
      }
    }
    this->dut.settle();
    w.check_extents();
  });
}

TYPED_TEST(DdpWrapTest, SentMsnsGoOnAcross) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    for (const uint32_t start : kStarts) {
      w.start_qp(5);
      w.mulpdu[5] = 128;
      set_tx_msn(this->dut, 5, 0, start);
      set_tx_msn(this->dut, 5, 1, start + 1);
      set_tx_msn(this->dut, 5, 3, start - 1);
      for (uint32_t i = 0; i < 5; i++) {
        spec::TxMessageHdr flush{};
        flush.qpn = 5, flush.source = TxSource::kResp, flush.qn = 3;
        flush.opcode = RdmapOpcode::kFlushResponse;
        w.send(flush, {});
        EXPECT_EQ(this->dut.tx_ulpdu_hdr.take().qpn, 5);
        EXPECT_EQ(this->dut.tx_ulpdu.take_packet().bytes,
                  untagged(kFlushResponse, true, 3, start - 1 + i, 0, {}));
        ASSERT_TRUE(this->dut.run_until([&] { return w.resp_used[5] == 0; }));
        for (const bool is_read : {false, true}) {
          spec::TxMessageHdr h{};
          h.qpn = 5, h.source = TxSource::kSq, h.is_inline = 1, h.done = is_read ? 0 : 1;
          h.opcode = is_read ? RdmapOpcode::kReadRequest : RdmapOpcode::kSend,
          h.qn = is_read ? 1 : 0;
          const Bytes data = random_bytes(rng, is_read ? 28 : 150);
          h.length = static_cast<uint32_t>(data.size());
          w.send(h, data);
          for (size_t at = 0; at < data.size(); at += 110) {  // MULPDU - 18
            const size_t n = std::min<size_t>(110, data.size() - at);
            const Bytes piece(data.begin() + static_cast<long>(at),
                              data.begin() + static_cast<long>(at + n));
            EXPECT_EQ(this->dut.tx_ulpdu_hdr.take().qpn, 5);
            EXPECT_EQ(this->dut.tx_ulpdu.take_packet().bytes,
                      untagged(static_cast<uint8_t>(h.opcode), at + n == data.size(), h.qn,
                               start + i + (is_read ? 1 : 0), static_cast<uint32_t>(at), piece));
          }
          if (testing::Test::HasFailure()) return;
        }
      }
      this->dut.settle();
      w.control(spec::QpOp::kStop, 5);
    }
  });
}

// A response without payload is sent when the count of placements has reached its watermark. The
// 64-bit watermark does not wrap: one that was reached almost 2^32 placements ago still counts as
// reached.
TYPED_TEST(DdpWrapTest, PlacementsAreCountedAcross) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (const uint64_t start :
         {uint64_t{0x7ffffffe}, uint64_t{0xfffffffe}, uint64_t{0x5'0000'0000}}) {
      w.start_qp(1);
      w.start_qp(2);
      w.mulpdu[1] = 1460;
      w.hold_places = true;
      for (int i = 0; i < 4; i++)
        w.receive(2, tagged(0, true, 0x4000, 64, Bytes(9, 1)), {.accept = 1, .place = 1});
      ASSERT_TRUE(this->dut.run_until([&] { return w.held_places == 4; }));
      this->dut.settle();
      set_placed(this->dut, start);
      for (const uint64_t watermark :
           {start, start + 1, start + 3, start + 4, start - uint64_t{0xffff'fff0}}) {
        // The last one, start - 0xfffffff0, wraps below 0 if `start` is less than that.
        if (watermark > start + 4) continue;
        spec::TxMessageHdr h{};
        h.qpn = 1, h.source = TxSource::kResp, h.is_tagged = 1,
        h.opcode = RdmapOpcode::kReadResponse, h.stag = 0x77;
        h.has_watermark = 1, h.watermark = watermark;
        // Placements that earlier watermarks of this loop have released.
        const uint64_t already = watermark <= start       ? watermark
                                 : watermark == start + 4 ? start + 3
                                 : watermark == start + 3 ? start + 1
                                                          : start;
        w.send(h, {});
        for (uint64_t placed = already; placed != watermark; placed++) {
          this->dut.cycles(300);
          EXPECT_TRUE(this->dut.tx_ulpdu_hdr.empty()) << std::hex << placed << " of " << watermark;
          w.release_place();
        }
        EXPECT_EQ(this->dut.tx_ulpdu_hdr.take().qpn, 1);
        EXPECT_EQ(this->dut.tx_ulpdu.take_packet().bytes, tagged(2, true, 0x77, 0, {}));
        if (testing::Test::HasFailure()) return;
      }
      this->dut.settle();
      w.control(spec::QpOp::kStop, 1);
      w.control(spec::QpOp::kStop, 2);
    }
  });
}

}  // namespace
}  // namespace rnic::tb
