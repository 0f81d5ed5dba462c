// ddp, transmit: segments, sources, faults. The expectations come from RFC 5041 and the contract,
// typed here.
//
// World (ddp_world.hpp) plays the neighbours. rdmap puts a message of one of three sources: send
// queue, responder, Terminate. For each segment ddp wants a grant, which brings the MULPDU
// (w.wants; hold_grants delays grants). Then ddp requests the segment's payload from host_if
// (w.reqs) with keys for tpt (w.tx_asked), and sends the ULPDU to mpa when the payload has come.
// Inline bytes come with the message. The low 3 bits of an lkey are the result of its lookup, 0 for
// ok; if bit 15 is set, the read fails.
#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::RdmapOpcode;
using spec::TxSource;

Bytes sges(const std::vector<spec::WqeSge>& list) {
  Bytes b;
  for (const auto& s : list) {
    for (unsigned i = 0; i < 8; i++) b.push_back(static_cast<uint8_t>(s.address >> (8 * i)));
    for (unsigned i = 0; i < 4; i++) b.push_back(static_cast<uint8_t>(s.length >> (8 * i)));
    for (unsigned i = 0; i < 4; i++) b.push_back(static_cast<uint8_t>(s.lkey >> (8 * i)));
  }
  return b;
}
Bytes memory(const std::vector<spec::WqeSge>& list) {
  Bytes b;
  for (const auto& s : list)
    for (uint64_t i = 0; i < s.length; i++) b.push_back(byte_at(bus(s.lkey, s.address + i)));
  return b;
}

/// A message as rdmap puts it, and in `data` the payload that its ULPDUs must carry.
struct Message {
  spec::TxMessageHdr hdr{};
  Bytes body, data;
};

Message write(uint16_t qpn, const std::vector<spec::WqeSge>& list, uint32_t stag = 0xabcd0000,
              uint64_t to = 0x1122334455667788) {
  Message m;
  m.hdr.qpn = qpn, m.hdr.source = TxSource::kSq, m.hdr.is_tagged = 1,
  m.hdr.opcode = RdmapOpcode::kRdmaWrite;
  m.hdr.stag = stag, m.hdr.tagged_offset = to, m.hdr.num_sge = static_cast<uint8_t>(list.size()),
  m.hdr.done = 1;
  m.body = sges(list), m.data = memory(list);
  m.hdr.length = static_cast<uint32_t>(m.data.size());
  return m;
}
Message send_inline(uint16_t qpn, const Bytes& data) {
  Message m;
  m.hdr.qpn = qpn, m.hdr.source = TxSource::kSq, m.hdr.opcode = RdmapOpcode::kSend,
  m.hdr.is_inline = 1, m.hdr.done = 1;
  m.body = m.data = data;
  m.hdr.length = static_cast<uint32_t>(data.size());
  return m;
}
Message response(uint16_t qpn, uint32_t length, uint32_t stag = 0x5000) {
  Message m = write(qpn, {{.address = 0x777, .length = length, .lkey = stag}}, 0x77770000, 0x40);
  m.hdr.source = TxSource::kResp, m.hdr.opcode = RdmapOpcode::kReadResponse, m.hdr.done = 0,
  m.hdr.slot = 0x33;
  m.hdr.has_watermark = 1, m.hdr.watermark = length != 0 ? 0x1234beef : 0;
  return m;
}
/// A Flush Response. reads: ddp reads back one byte; otherwise the Flush had length 0.
Message flush_response(uint16_t qpn, bool reads) {
  Message m = response(qpn, 0);
  m.body = sges({{.address = 0x777, .length = 1, .lkey = 0x5000}});
  m.hdr.is_tagged = 0, m.hdr.qn = 3, m.hdr.opcode = RdmapOpcode::kFlushResponse;
  m.hdr.num_sge = reads ? 1 : 0, m.hdr.watermark = reads ? 0x1234beef : 0;
  return m;
}
Message terminate(uint16_t qpn, size_t n = 52) {
  Message m = send_inline(qpn, Bytes(n, 0x7e));
  m.hdr.source = TxSource::kTerm, m.hdr.opcode = RdmapOpcode::kTerminate, m.hdr.qn = 2,
  m.hdr.done = 0;
  return m;
}

/// Reassembles the segments of one QP and checks each.
struct Reader {
  /// Checks one ULPDU of the message. Returns true for the last.
  bool segment(const Message& m, const spec::TxUlpduHdr& h, const Bytes& b, uint16_t mulpdu,
               uint32_t want_msn) {
    const size_t header = m.hdr.is_tagged != 0 ? 14 : 18;
    EXPECT_EQ(h.length, b.size());
    EXPECT_GE(b.size(), header);
    if (b.size() < header) return true;
    const size_t n = std::min<size_t>(m.data.size() - at, mulpdu - header);
    const bool last = at + n == m.data.size();
    EXPECT_EQ(b.size(), header + n);
    const Bytes piece(m.data.begin() + static_cast<long>(at),
                      m.data.begin() + static_cast<long>(at + n));
    Bytes invalidates;  // octets 2 to 5 of an untagged header
    for (int i = 3; i >= 0; i--) invalidates.push_back(static_cast<uint8_t>(m.hdr.stag >> 8 * i));
    Bytes want = m.hdr.is_tagged != 0 ? tagged(static_cast<uint8_t>(m.hdr.opcode), last, m.hdr.stag,
                                               m.hdr.tagged_offset + at, piece)
                                      : untagged(static_cast<uint8_t>(m.hdr.opcode), last, m.hdr.qn,
                                                 want_msn, static_cast<uint32_t>(at), piece);
    if (m.hdr.is_tagged == 0) std::copy(invalidates.begin(), invalidates.end(), want.begin() + 2);
    EXPECT_EQ(b, want);
    EXPECT_EQ(h.done, last && m.hdr.done != 0 ? 1 : 0);
    if (h.done != 0) {
      EXPECT_EQ(h.slot, m.hdr.slot);
    }
    EXPECT_EQ(h.is_term, m.hdr.source == TxSource::kTerm ? 1 : 0);
    at = last ? 0 : at + n;
    return last;
  }
  size_t at = 0;
};

template <class D>
struct DdpTxTest : testing::Test {
  D dut;
  void put(World<D>& w, const Message& m) { w.send(m.hdr, m.body); }
  /// Takes the next ULPDU.
  std::pair<spec::TxUlpduHdr, Bytes> next() {
    auto h = dut.tx_ulpdu_hdr.take();
    return {h, dut.tx_ulpdu.take_packet().bytes};
  }
  /// Expects all segments of a message, with no other segment between them.
  void expect(const Message& m, uint16_t mulpdu, uint32_t msn) {
    Reader r;
    for (bool last = false; !last && !testing::Test::HasFatalFailure();) {
      const auto [h, b] = next();
      ASSERT_EQ(h.qpn, m.hdr.qpn);
      last = r.segment(m, h, b, mulpdu, msn);
      if (testing::Test::HasFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(DdpTxTest, Duts);

/// RTL only: what depends on cycles. The model's cycles are in ddp_timing.hpp.
template <class D>
struct DdpTxRtlTest : DdpTxTest<D> {};
TYPED_TEST_SUITE(DdpTxRtlTest, RtlDuts);

TYPED_TEST(DdpTxTest, CutsAtMulpdu) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(2, 0x99);
    for (uint16_t mulpdu : {uint16_t{128}, uint16_t{1460}, uint16_t{65535}}) {
      w.mulpdu[2] = mulpdu;
      const auto cap = static_cast<uint32_t>(mulpdu - 14);  // less a tagged header
      for (uint32_t n : {0U, 1U, 63U, 64U, 65U, cap - 1, cap, cap + 1, 3 * cap, 3 * cap + 7}) {
        if (n > 140000 || (n > 70000 && p.idle != 0)) continue;
        const Message m =
            n == 0 ? write(2, {}) : write(2, {{.address = 0xff0 + n, .length = n, .lkey = 0x1000}});
        this->put(w, m);
        this->expect(m, mulpdu, 0);
        if (testing::Test::HasFailure()) return;
      }
    }
    for (const auto& x : w.tx_asked) {
      EXPECT_EQ(x.pd, 0x99);
      EXPECT_EQ(x.rights, 0);
    }
    this->dut.settle();
    EXPECT_EQ(w.sq_used[2], 0U);
  });
}

TYPED_TEST(DdpTxTest, GathersSgesOverSegments) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    w.start_qp(0);
    w.mulpdu[0] = 300;
    for (unsigned count : {1U, 2U, 4U, 5U, 9U, 14U}) {
      for (int round = 0; round < 3; round++) {
        std::vector<spec::WqeSge> list;
        for (unsigned i = 0; i < count; i++)
          list.push_back({.address = rng.below(1 << 20),
                          .length = rng.percent(20) ? 0
                                                    : static_cast<uint32_t>(
                                                          1 + rng.below(round == 0 ? 40 : 500)),
                          .lkey = (i + 1) << 16});
        if (rng.percent(50)) list.back().length = 0;
        const Message m = write(0, list);
        this->put(w, m);
        this->expect(m, 300, 0);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

TYPED_TEST(DdpTxTest, InlineBytesAndMsn) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    w.start_qp(1);
    w.mulpdu[1] = 128;
    uint32_t msn[2] = {1, 1};
    for (size_t n : {0, 1, 28, 46, 63, 64, 65, 109, 110, 111, 128, 129, 192, 220, 221, 224}) {
      Message m = send_inline(1, random_bytes(rng, n));
      if (n == 28) m.hdr.qn = 1, m.hdr.opcode = RdmapOpcode::kReadRequest;
      m.hdr.slot = static_cast<uint8_t>(n);
      this->put(w, m);
      this->expect(m, 128, msn[m.hdr.qn]++);
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_TRUE(w.reqs.empty());
  });
}

// Inline bytes wait until their slot can be freed: no part of the segment advances before. (A
// former bug: only the beat counter advanced, forever.)
TYPED_TEST(DdpTxTest, InlineBytesWaitUntilTheirSlotCanBeFreed) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng();
    constexpr uint16_t kQps = 7;
    std::vector<Message> messages;
    for (uint16_t q = 0; q < kQps; q++) {
      w.start_qp(q);
      messages.push_back(send_inline(q, random_bytes(rng, 20 + 30U * q)));
    }
    this->dut.sq_slot_free.stall(100);
    for (const Message& m : messages) this->put(w, m);
    this->dut.cycles(1000);
    this->dut.sq_slot_free.stall(p.stall);
    std::map<uint16_t, std::pair<spec::TxUlpduHdr, Bytes>> seen;
    for (uint16_t q = 0; q < kQps && !testing::Test::HasFailure(); q++) {
      const auto [h, b] = this->next();
      EXPECT_TRUE(seen.emplace(h.qpn, std::pair(h, b)).second);
    }
    for (const Message& m : messages) {
      const auto at = seen.find(m.hdr.qpn);
      ASSERT_TRUE(at != seen.end()) << m.hdr.qpn;
      EXPECT_TRUE(Reader{}.segment(m, at->second.first, at->second.second, 1460, 1));
    }
    this->dut.settle();
    for (uint16_t q = 0; q < kQps; q++) EXPECT_EQ(w.sq_used[q], 0U);
  });
}

// Payload needs a round trip over PCIe. Until it arrives, one segment with inline bytes can queue
// after each segment with payload. The queue of segments has seg_depth entries, so half as many
// payload requests are outstanding. For segments of 224 inline bytes, the RTL has room for a
// quarter of seg_depth (limitations.md), and the next one waits. (A former bug: four inline beats
// blocked all other segments, and small Reads in both directions ran at a tenth of their rate.)
TYPED_TEST(DdpTxTest, InlineBytesHoldUpNoRequestForPayload) {
  const unsigned depth = TypeParam::sizes().seg_depth;
  // Pairs of a segment with payload and one with inline bytes, each of a QP of its own.
  const unsigned pairs = std::min(depth, TypeParam::sizes().num_qps) / 2;
  for (const size_t bytes : {size_t{28}, size_t{224}}) {
    World w(this->dut, Pace{});
    auto& d = this->dut;
    d.payload_hdr.idle(100);
    for (uint16_t q = 0; q < 2 * pairs; q++) w.start_qp(q);
    for (uint16_t q = 0; q < 2 * pairs; q++) {
      this->put(w, q % 2 == 0 ? write(q, {{.address = 0, .length = 64, .lkey = 0x1000}})
                              : send_inline(q, Bytes(bytes, 1)));
    }
    d.cycles(200 + 20 * pairs);
    EXPECT_GE(w.reqs.size(), bytes <= 64 ? pairs : std::min(pairs, depth / 4 + 1));
    EXPECT_LE(w.reqs.size(), pairs);
    std::printf("%zu inline bytes: %zu requests for payload\n", bytes, w.reqs.size());
    d.payload_hdr.idle(0);
    EXPECT_TRUE(d.run_until([&] { return d.tx_ulpdu.size() == 2 * pairs; }));
  }
}

TYPED_TEST(DdpTxTest, SourcesTakeTurnsMessageByMessage) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(0);
    w.mulpdu[0] = 500;
    w.hold_grants = true;
    const Message a = write(0, {{.address = 0, .length = 1200, .lkey = 0x1000}}),
                  r = response(0, 1100);
    this->put(w, a), this->put(w, r);
    this->dut.settle();
    ASSERT_EQ(w.wants, 1U);
    w.release_grants();
    // After start the responder goes first. A message is never interrupted.
    this->expect(r, 500, 0);
    this->expect(a, 500, 0);
    if (testing::Test::HasFailure()) return;
    ASSERT_EQ(w.reqs.size(), 6U);
    EXPECT_EQ(w.reqs[0].has_watermark, 1);
    EXPECT_EQ(w.reqs[0].watermark, 0x1234beefU);
    EXPECT_EQ(w.reqs[1].has_watermark, 0);  // only the response's first segment has a watermark
    EXPECT_EQ(w.reqs[2].has_watermark, 0);
    EXPECT_EQ(w.reqs[5].has_watermark, 0);
    EXPECT_EQ(w.tx_asked[0].rights,
              spec::kAccessRemoteRead);  // every fetch of a response is checked again
    EXPECT_EQ(w.tx_asked[5].rights, 0);
    this->dut.settle();
    EXPECT_EQ(w.sq_used[0] + w.resp_used[0], 0U);
  });
}

// A Read of 0 bytes waits for earlier placements like any other (RFC 5040 section 5.5, rule 12):
// its response is sent when they are placed. It fetches nothing, so host_if cannot delay it: ddp
// does. Segments leave ddp in the order in which they were scheduled, so a Write that is posted
// later waits for the empty response.
TYPED_TEST(DdpTxTest, AnEmptyResponseWaitsForEarlierPlacements) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(0);
    w.start_qp(1);
    w.hold_places = true;
    for (int i = 0; i < 3; i++)
      w.receive(1, tagged(0, true, 0x4000, 64, Bytes(9, 1)),
                {.accept = 1,
                 .place = 1,
                 .deliver = spec::DeliverKind::kNothing,
                 .solicited = 0,
                 .slot = 0});
    ASSERT_TRUE(this->dut.run_until([&] { return w.held_places == 3; }));
    w.mulpdu[0] = 1460;
    Message r = response(0, 0);
    r.hdr.watermark = 3;
    const Message behind = write(0, {{.address = 0, .length = 100, .lkey = 0x1000}});
    this->put(w, r);
    this->dut.cycles(300);
    this->put(w, behind);
    for (unsigned placed = 0; placed < 3; placed++) {
      this->dut.cycles(300);
      EXPECT_TRUE(this->dut.tx_ulpdu_hdr.empty() && this->dut.tx_ulpdu.empty())
          << placed << " of 3 placed";
      w.release_place();
    }
    this->expect(r, 1460, 0);
    this->expect(behind, 1460, 0);
    r.hdr.watermark = 2;  // already reached
    this->put(w, r);
    this->expect(r, 1460, 0);
    this->dut.settle();
  });
}

TYPED_TEST(DdpTxTest, NeitherSourceStarvesWhileBothWait) {
  World w(this->dut, Pace{});
  w.start_qp(0);
  w.hold_grants = true;
  for (int i = 0; i < 8; i++) {  // both sources have a message at every grant
    if (w.sq_used[0] == 0) this->put(w, write(0, {{.address = 0, .length = 70, .lkey = 0x1000}}));
    if (w.resp_used[0] == 0) this->put(w, response(0, 50));
    this->dut.settle(60);
    ASSERT_EQ(w.held_wants.size(), 1U);
    const auto want = w.held_wants[0];
    w.held_wants.clear();
    w.grant(want);
    // RV 1 and the opcode: a Read Response or a Write
    EXPECT_EQ(this->next().second.at(1), i % 2 == 0 ? 0x42 : 0x40) << "message " << i;
    this->dut.settle(60);
  }
}

TYPED_TEST(DdpTxTest, MulpduIsTakenAtTheStartOfAMessage) {
  World w(this->dut, Pace{});
  w.start_qp(0);
  w.mulpdu[0] = 200;
  const Message m = write(0, {{.address = 0, .length = 1000, .lkey = 0x1000}});
  this->put(w, m);
  ASSERT_TRUE(this->dut.run_until([&] { return w.wants == 2; }));
  w.mulpdu[0] = 900;
  this->expect(m, 200, 0);
}

TYPED_TEST(DdpTxTest, TerminateGoesFirstAndDropsTheRest) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (bool inside : {false, true}) {
      w.start_qp(0);
      w.mulpdu[0] = 256;
      w.hold_grants = true;
      w.wants = 0;
      const Message m = write(0, {{.address = 0, .length = 5000, .lkey = 0x1000}});
      this->put(w, m);
      ASSERT_TRUE(this->dut.run_until([&] { return w.wants == 1; }));
      if (inside) {  // one segment is sent before the Terminate
        const auto first = w.held_wants[0];
        w.held_wants.clear();
        w.grant(first);
        EXPECT_EQ(this->next().second.size(), 256U);
        ASSERT_TRUE(this->dut.run_until([&] { return w.wants == 2; }));
      }
      this->put(w, response(0, 10));
      const Message t = terminate(0, inside ? 52 : 4);
      this->put(w, t);
      this->dut.settle();
      w.release_grants();
      this->expect(t, 256, 1);
      this->dut.settle();
      EXPECT_TRUE(this->dut.tx_ulpdu_hdr.empty());
      EXPECT_TRUE(this->dut.tx_fault.empty());
      w.control(spec::QpOp::kStop, 0);
      w.sq_used.clear(), w.resp_used.clear();
    }
  });
}

TYPED_TEST(DdpTxTest, BadPayloadIsAFaultAndSendsNothingMore) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (uint32_t key : {0x9000U, 0x1005U}) {  // poisoned; out of bounds
      SCOPED_TRACE(key);
      w.start_qp(3);
      w.start_qp(4);
      w.mulpdu[3] = 500;
      Message bad = write(3, {{.address = 0, .length = 600, .lkey = 0x1000},
                              {.address = 0, .length = 2000, .lkey = key}});
      bad.hdr.slot = 17;
      this->put(w, bad);
      const Message good = write(4, {{.address = 9, .length = 100, .lkey = 0x2000}});
      this->put(w, good);
      const auto f = this->dut.tx_fault.take();
      EXPECT_EQ(f.qpn, 3);
      EXPECT_EQ(f.slot, 17);
      EXPECT_EQ(f.source, TxSource::kSq);
      EXPECT_EQ(f.offset, 486U);  // the first segment, of 500 - 14 bytes, was good
      EXPECT_EQ(f.status, key == 0x9000 ? spec::RdStatus::kPoisoned : spec::RdStatus::kOk);
      EXPECT_EQ(f.result, key == 0x9000 ? spec::TptResult::kOk : spec::TptResult::kBounds);
      this->put(w, terminate(3));
      this->dut.settle();
      EXPECT_TRUE(this->dut.tx_fault.empty());
      unsigned of3 = 0, of4 = 0, terms = 0;
      while (!this->dut.tx_ulpdu_hdr.empty()) {
        const auto [h, b] = this->next();
        (h.qpn == 4 ? of4 : h.is_term != 0 ? terms : of3)++;
      }
      EXPECT_EQ(of3, 1U);
      EXPECT_EQ(of4, 1U);
      EXPECT_EQ(terms, 1U);
      w.control(spec::QpOp::kStop, 3);
      w.control(spec::QpOp::kStop, 4);
      w.sq_used.clear();
    }
  });
}

// A waiting Terminate survives the fault of a segment that was scheduled before it. Nothing is sent
// after the Terminate.
TYPED_TEST(DdpTxTest, FaultDoesNotDropATerminate) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(0);
    w.hold_grants = true;
    this->dut.payload_hdr.idle(100);
    this->put(w, write(0, {{.address = 0, .length = 3000, .lkey = 0x9000}}));  // poisoned
    ASSERT_TRUE(this->dut.run_until([&] { return w.wants == 1; }));
    const auto first = w.held_wants[0];
    w.held_wants.clear();
    w.grant(first);
    ASSERT_TRUE(this->dut.run_until([&] { return w.reqs.size() == 1 && w.wants == 2; }));
    const Message t = terminate(0);
    this->put(w, t);
    ASSERT_TRUE(this->dut.run_until([&] { return w.wants == 3; }));
    EXPECT_TRUE(this->dut.tx_fault.empty());
    this->dut.payload_hdr.idle(p.idle);
    EXPECT_EQ(this->dut.tx_fault.take().offset, 0U);
    w.release_grants();
    this->expect(t, 1460, 1);
    this->put(w, write(0, {{.address = 0, .length = 10, .lkey = 0x1000}}));
    this->dut.settle();
    EXPECT_TRUE(this->dut.tx_ulpdu_hdr.empty());
  });
}

TYPED_TEST(DdpTxTest, StopDropsWhatIsUnsentAndStartBeginsAnew) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (int round = 0; round < 3; round++) {
      w.start_qp(1);
      const Message m = send_inline(1, Bytes(40, 1));
      this->put(w, m);
      this->expect(m, 1460, 1);
      w.hold_grants = true;
      this->put(w, write(1, {{.address = 0, .length = 3000, .lkey = 0x1000}}));
      this->dut.settle();
      w.control(spec::QpOp::kSync, 1);
      w.control(spec::QpOp::kStop, 1);
      w.release_grants();  // a late grant has nothing to schedule
      this->dut.settle();
      EXPECT_TRUE(this->dut.tx_ulpdu_hdr.empty());
      w.sq_used.clear();
    }
  });
}

TYPED_TEST(DdpTxTest, StopWaitsForWhatIsScheduled) {
  for (uint32_t length : {1000U, 30U}) {  // still being sent; sent, but not yet accepted by mpa
    SCOPED_TRACE(length);
    World w(this->dut, Pace{});
    w.start_qp(1);
    this->dut.tx_ulpdu.stall(100);
    this->put(w, write(1, {{.address = 0, .length = length, .lkey = 0x1000}}));
    ASSERT_TRUE(this->dut.run_until([&] { return !w.reqs.empty(); }));
    this->dut.cycles(60);
    spec::QpCtlDdp c{};
    c.op = spec::QpOp::kStop, c.qpn = 1;
    this->dut.qp_ctl.put(c);
    EXPECT_FALSE(this->dut.qp_ack.try_take(300));
    this->dut.tx_ulpdu.stall(0);
    EXPECT_EQ(this->dut.qp_ack.take().qpn, 1);
    EXPECT_EQ(this->dut.tx_ulpdu.size(), 1U) << "acknowledged before the last beat had left";
  }
}

TYPED_TEST(DdpTxTest, StopWaitsForAPayloadThatComesLater) {
  World w(this->dut, Pace{});
  auto& d = this->dut;
  w.start_qp(1);
  d.payload_hdr.idle(100);
  this->put(w, write(1, {{.address = 0, .length = 30, .lkey = 0x1000}}));
  ASSERT_TRUE(d.run_until([&] { return !w.reqs.empty(); }));
  spec::QpCtlDdp c{};
  c.op = spec::QpOp::kStop, c.qpn = 1;
  d.qp_ctl.put(c);
  d.cycles(60);
  d.tx_ulpdu.stall(100);
  d.payload_hdr.idle(0);
  EXPECT_FALSE(d.qp_ack.try_take(300)) << "moved since, but not yet taken by mpa";
  d.tx_ulpdu.stall(0);
  EXPECT_EQ(d.qp_ack.take().qpn, 1);
  EXPECT_EQ(d.tx_ulpdu.size(), 1U);
}

/// After payload that could not be read ddp sends nothing, even if its QP stops meanwhile.
TYPED_TEST(DdpTxTest, StopDoesNotForgetAFault) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    for (int round = 0; round < 2; round++) {
      w.start_qp(3);
      w.mulpdu[3] = 500;
      w.hold_grants = true;
      d.payload_hdr.idle(100);
      this->put(w, write(3, {{.address = 0, .length = 486, .lkey = 0x9000},
                             {.address = 0, .length = 972, .lkey = 0x1000}}));
      const auto grant = [&] {
        ASSERT_TRUE(d.run_until([&] { return w.held_wants.size() == 1; }));
        w.grant(w.held_wants[0]);
        w.held_wants.clear();
      };
      const auto asked = w.answered;
      grant();
      ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
      d.cycles(100);
      d.tx_xlate.stall(100);  // the other lookups are stalled
      grant();
      if (d.run_until([&] { return w.held_wants.size() == 1; }, 200)) grant();
      d.cycles(100);
      const bool inside = d.tx_grant.empty();  // false if the model's queue does not hold both
      d.payload_hdr.idle(p.idle);
      EXPECT_EQ(d.tx_fault.take().offset, 0U);
      spec::QpCtlDdp c{};
      c.op = spec::QpOp::kStop, c.qpn = 3;
      d.qp_ctl.put(c);
      d.cycles(300);
      if (inside) {
        EXPECT_TRUE(d.qp_ack.empty());
      }
      d.tx_xlate.stall(p.stall);
      EXPECT_EQ(d.qp_ack.take().qpn, 3);
      w.release_grants();
      d.settle();
      EXPECT_TRUE(d.tx_ulpdu_hdr.empty() && d.tx_ulpdu.empty() && d.tx_fault.empty());
      w.sq_used.clear();
    }
  });
}

/// Messages of a QP and source are sent in order, whole, uninterrupted and bit-exact, whatever
/// other QPs do.
TYPED_TEST(DdpTxTest, Random) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng(p.describe());
    constexpr uint16_t kQps = 6;
    struct Q {
      std::deque<Message> wait[2], sent[2];  // of the send queue, of the responder
      Reader reader;
      int inside = -1;  // index in `sent` of the message being sent
      uint32_t msn[4] = {1, 1, 1, 1};
    };
    std::vector<Q> qs(kQps);
    const unsigned slots = TypeParam::sizes().sq_slots;
    unsigned left = 0;
    for (uint16_t q = 0; q < kQps; q++) {
      w.start_qp(q);
      w.mulpdu[q] = static_cast<uint16_t>(rng.percent(30) ? 128 : 128 + rng.below(3000));
      for (int i = 0; i < 40; i++, left++) {
        Message m;
        if (rng.percent(40)) {
          m = send_inline(q, random_bytes(rng, rng.below(225)));
          if (rng.percent(30))
            m.hdr.qn = 1, m.hdr.opcode = RdmapOpcode::kReadRequest, m.hdr.done = 0;
        } else {
          std::vector<spec::WqeSge> list;
          for (uint64_t k = rng.below(15); k-- > 0;)
            list.push_back({.address = rng.next() & 0xffffff,
                            .length = static_cast<uint32_t>(rng.below(rng.percent(20) ? 3000 : 90)),
                            .lkey = static_cast<uint32_t>(1 + rng.below(100)) << 16});
          m = write(q, list, static_cast<uint32_t>(rng.next()), rng.next());
          if (rng.percent(40)) m.hdr.is_tagged = 0, m.hdr.opcode = RdmapOpcode::kSendSe;
        }
        m.hdr.slot = static_cast<uint8_t>(i);
        const bool resp = rng.percent(30);
        if (resp) {
          m = response(q, static_cast<uint32_t>(rng.percent(20) ? 0 : rng.below(4000)));
          m.hdr.stag = static_cast<uint32_t>(i);
          if (rng.percent(30)) m = flush_response(q, rng.percent(70));
        }
        qs[q].wait[resp ? 1 : 0].push_back(m);
      }
    }
    uint64_t idle = 0;
    while (left != 0 && !testing::Test::HasFailure()) {
      for (uint16_t q = 0; q < kQps; q++) {
        for (int s = 0; s < 2; s++) {
          auto& wait = qs[q].wait[s];
          if (wait.empty() || (s == 0 ? w.sq_used[q] >= slots : w.resp_used[q] != 0)) continue;
          this->put(w, wait.front());
          qs[q].sent[s].push_back(wait.front());
          wait.pop_front();
        }
      }
      if (this->dut.tx_ulpdu_hdr.empty() || this->dut.tx_ulpdu.empty()) {
        ASSERT_LT(idle++, 20000U) << "nothing leaves any more";
        this->dut.advance();
        continue;
      }
      idle = 0;
      const auto [h, b] = this->next();
      Q& q = qs.at(h.qpn);
      ASSERT_GE(b.size(), 14U);
      // RV 1 and the opcode: a Read Response or a Flush Response
      if (q.inside < 0) q.inside = b[1] == 0x42 || b[1] == 0x4d ? 1 : 0;
      ASSERT_FALSE(q.sent[q.inside].empty());
      const Message& m = q.sent[q.inside].front();
      if (!q.reader.segment(m, h, b, w.mulpdu[h.qpn], q.msn[m.hdr.qn])) continue;
      if (m.hdr.is_tagged == 0) q.msn[m.hdr.qn]++;
      q.sent[q.inside].pop_front();
      q.inside = -1;
      left--;
    }
    this->dut.settle();
    EXPECT_TRUE(this->dut.tx_fault.empty());
    for (uint16_t q = 0; q < kQps; q++) {
      EXPECT_EQ(w.sq_used[q] + w.resp_used[q], 0U);
      EXPECT_FALSE(w.wanted[q]);
    }
  });
}

/// A stop is acknowledged when the received segment that waits for placement is delivered, however
/// many segments are sent meanwhile.
TYPED_TEST(DdpTxTest, StopIsNotMissedWhileReceiveStands) {
  World w(this->dut, Pace{});
  auto& d = this->dut;
  constexpr uint16_t kQps = 7;
  for (uint16_t q = 0; q <= kQps; q++) w.start_qp(q), w.mulpdu[q] = 128;
  w.hold_places = true;
  w.receive(
      0, tagged(0, true, 0x4000, 0, Bytes(9, 1)),
      {.accept = 1, .place = 1, .deliver = spec::DeliverKind::kNothing, .solicited = 0, .slot = 0});
  ASSERT_TRUE(d.run_until([&] { return w.held_places == 1; }));
  spec::QpCtlDdp c{};
  c.op = spec::QpOp::kStop, c.qpn = 0;
  d.qp_ctl.put(c);
  d.cycles(50);
  // per QP; together more than half of 2^16, the range of ddp_qp's counters
  constexpr uint32_t kPass = 4720;  // segments; each has 114 bytes, as 128 - 14 of header allow
  for (uint16_t q = 1; q <= kQps; q++)
    this->put(w, write(q, {{.address = 0, .length = kPass * 114, .lkey = 0x1000}}));
  ASSERT_TRUE(d.run_until([&] { return d.tx_ulpdu.size() == kPass * kQps; }, 1'000'000));
  d.cycles(100);
  EXPECT_TRUE(d.qp_ack.empty());
  w.release_places();
  EXPECT_EQ(d.qp_ack.take(1000).qpn, 0);
}

/// The figures in the header of ddp_tx.sv: a segment every 2 to 4 cycles over QPs, 64 bytes per
/// cycle in bulk, 12 cycles in ddp from want to want of one QP.
using DdpTxDefaultTest = DdpTxRtlTest<RtlDdp<VDdp, false>>;
TEST_F(DdpTxDefaultTest, KeepsItsPace) {
  World w(this->dut, Pace{});
  constexpr uint16_t kQps = 16;
  for (uint16_t q = 0; q < kQps; q++) w.start_qp(q);
  auto measure = [&](unsigned per_qp, uint16_t qps, auto make) {
    std::vector<unsigned> left(kQps, per_qp);
    uint64_t begin = 0, end = 0;
    unsigned count = 0;
    while (count < per_qp * qps) {
      for (uint16_t q = 0; q < qps; q++)
        for (; left[q] != 0 && w.sq_used[q] < 2; left[q]--) this->put(w, make(q));
      this->dut.cycle();
      while (!this->dut.tx_ulpdu.empty() && !this->dut.tx_ulpdu_hdr.empty()) {
        this->next(), end = this->dut.now();
        if (count++ == 0) begin = end;
      }
      if (this->dut.now() - begin > 100000) return 1e9;
    }
    return static_cast<double>(end - begin) / (count - 1);
  };
  const double inlined = measure(60, kQps, [](uint16_t q) { return send_inline(q, Bytes(32, 1)); });
  const double small = measure(60, kQps, [](uint16_t q) {
    return write(q, {{.address = 0, .length = 64, .lkey = 0x1000}});
  });
  const double bulk = measure(30, kQps, [](uint16_t q) {
    return write(q, {{.address = 0, .length = 1394, .lkey = 0x1000}});
  });
  const uint64_t before = w.wants, begin = this->dut.now();
  // 40 segments of 114 bytes: a MULPDU of 128 less the tagged header of 14.
  this->put(w, write(0, {{.address = 0, .length = 40 * 114, .lkey = 0x1000}}));
  w.mulpdu[0] = 128;
  EXPECT_TRUE(this->dut.run_until([&] { return w.wants == before + 40; }));
  const double loop = static_cast<double>(this->dut.now() - begin) / 40;
  std::cout << "transmit: cycles a 32-byte inline Send " << inlined << ", a 64-byte Write " << small
            << ", 22 beats of bulk " << bulk << ", want to want of one QP " << loop
            << " (bench 1)\n";
  EXPECT_LT(inlined, 4.1);
  EXPECT_LT(small, 4.1);
  EXPECT_LT(bulk, 23.0);  // 14 + 1394 bytes are 22 beats
  EXPECT_LT(loop, 12.0);
}

/// The latencies in the header of ddp_tx.sv, on which the model's timing is based.
TYPED_TEST(DdpTxRtlTest, HasTheLatencyThatItSays) {
  World w(this->dut, Pace{});
  w.start_qp(0);
  auto& d = this->dut;
  uint64_t want = 0, req = 0, out = 0;
  d.tx_want.on_item([&](const auto&) { want = d.now(); });
  d.payload_req.on_item([&](const auto&) { req = d.now(); });
  d.tx_ulpdu.on_beat([&](const auto&) { out = out == 0 ? d.now() : out; });
  d.cycles(40);
  uint64_t begin = d.now();
  this->put(w, write(0, {{.address = 0, .length = 300, .lkey = 0x1000}}));
  d.cycles(40);
  EXPECT_EQ(want - begin, 5U);
  begin = d.now();
  d.tx_grant.put({.qpn = 0, .is_term = 0, .mulpdu = 214});
  d.cycles(40);
  EXPECT_EQ(want - begin, 4U);
  const unsigned queue = TypeParam::sizes().seg_depth > 64
                             ? 1
                             : 0;  // a queue of segments in block memory: 1 cycle more
  EXPECT_EQ(req - begin, 6U + queue);
  begin = d.now();
  d.payload_hdr.put({.length = 200, .status = spec::RdStatus::kOk, .result = spec::TptResult::kOk});
  d.payload.put_packet(Bytes(200, 1));
  d.cycles(40);
  EXPECT_EQ(out - begin, 5U);
  w.start_qp(1);
  this->put(w, send_inline(1, Bytes(32, 1)));
  d.cycles(40);
  out = 0, begin = d.now();
  d.tx_grant.put({.qpn = 1, .is_term = 0, .mulpdu = 1460});
  d.cycles(40);
  EXPECT_EQ(out - begin, 12U + 2 * queue);
}

}  // namespace
}  // namespace rnic::tb
