// ddp, RDMA Flush: responses on QN 3, sent and received. The expectations come from decision 10 and
// draft-talpey-rdma-commit-01 section 3.1.1.2, typed here.
//
// rdmap puts the response to a Flush as a message. ddp reads back one byte of the flushed range
// (payload_req, with the watermark), drops the byte, and sends the response: a header alone. The
// response to an empty Flush reads nothing and waits for its watermark in ddp. World
// (ddp_world.hpp) plays the neighbours: d.payload_hdr.idle(100) withholds the byte, hold_places the
// placements, hold_grants the grants. w.answered counts the payload requests that were answered.
#include "ddp/ddp_world.hpp"

namespace rnic::tb {
namespace {

using spec::Cause;
using spec::DeliverKind;
using spec::RdmapOpcode;
using spec::RdStatus;
using spec::TptResult;
using spec::TxSource;

constexpr uint32_t kPoisonedKey = 0x8000;  // World: a read of it ends with World::read_status
constexpr unsigned kHold = 300;            // cycles: longer than an output that need not wait
const spec::RxVerdict kDrop{};
const spec::RxVerdict kTake{.accept = 1};
const spec::RxVerdict kPlace{.accept = 1, .place = 1};

/// A Flush Response as on the wire: L, DV 1; RV 1, opcode 0xD; QN 3; MO 0; no payload.
Bytes flush_response(uint32_t msn) {
  Bytes b{0x41, 0x4d, 0, 0, 0, 0, 0, 0, 0, 3};
  put_be(b, msn, 4), put_be(b, 0, 4);
  return b;
}

/// A message as rdmap puts it: the body holds SGEs or inline bytes.
struct Message {
  spec::TxMessageHdr hdr{};
  Bytes body;
};
Bytes sge(uint64_t address, uint32_t length, uint32_t key) {
  Bytes b(spec::WqeSge::kBytes);
  spec::WqeSge{.address = address, .length = length, .lkey = key}.pack(std::span(b));
  return b;
}
Bytes memory(uint32_t stag, uint64_t to, uint32_t length) {
  Bytes b;
  for (uint32_t i = 0; i < length; i++) b.push_back(byte_at(bus(stag, to + i)));
  return b;
}

/// The response to a Flush of a range that begins at `address`: ddp reads back its first byte.
Message probe(uint16_t qpn, uint32_t key = 0x6000, uint64_t address = 0x777,
              uint64_t watermark = 0x1234beef, uint8_t slot = 0x33) {
  Message m;
  m.hdr.qpn = qpn, m.hdr.source = TxSource::kResp, m.hdr.qn = 3;
  m.hdr.opcode = RdmapOpcode::kFlushResponse, m.hdr.num_sge = 1, m.hdr.slot = slot;
  m.hdr.has_watermark = 1, m.hdr.watermark = watermark;
  m.body = sge(address, 1, key);
  return m;
}
/// The response to a Flush of length 0.
Message empty(uint16_t qpn, uint64_t watermark) {
  Message m = probe(qpn, 0x6000, 0x777, watermark);
  m.hdr.num_sge = 0;
  return m;
}
Message read_response(uint16_t qpn, uint32_t length) {
  Message m = probe(qpn);
  m.hdr.is_tagged = 1, m.hdr.qn = 0, m.hdr.opcode = RdmapOpcode::kReadResponse;
  m.hdr.stag = 0x77770000, m.hdr.tagged_offset = 0x40, m.hdr.length = length;
  m.hdr.watermark = 0;
  m.body = sge(0x777, length, 0x5000);
  return m;
}
/// An RDMA Write of one segment to STag 0xabcd, TO 0x80.
Message write(uint16_t qpn, uint32_t length, uint32_t key = 0x1000, uint64_t address = 0xff0) {
  Message m;
  m.hdr.qpn = qpn, m.hdr.source = TxSource::kSq, m.hdr.opcode = RdmapOpcode::kRdmaWrite;
  m.hdr.is_tagged = 1, m.hdr.stag = 0xabcd, m.hdr.tagged_offset = 0x80, m.hdr.done = 1;
  m.hdr.length = length, m.hdr.num_sge = 1;
  m.body = sge(address, length, key);
  return m;
}
Message inline_message(uint16_t qpn, TxSource source, RdmapOpcode opcode, uint8_t qn,
                       const Bytes& data) {
  Message m;
  m.hdr.qpn = qpn, m.hdr.source = source, m.hdr.opcode = opcode, m.hdr.qn = qn;
  m.hdr.is_inline = 1, m.hdr.length = static_cast<uint32_t>(data.size());
  m.body = data;
  return m;
}
Message send(uint16_t qpn, const Bytes& data) {
  return inline_message(qpn, TxSource::kSq, RdmapOpcode::kSend, 0, data);
}
Message terminate(uint16_t qpn) {
  return inline_message(qpn, TxSource::kTerm, RdmapOpcode::kTerminate, 2, Bytes(22, 0x7e));
}

template <class D>
struct DdpFlushTest : testing::Test {
  D dut;
  void put(World<D>& w, const Message& m) { w.send(m.hdr, m.body); }
  void order(spec::QpOp op, uint16_t qpn) {
    spec::QpCtlDdp c{};
    c.op = op, c.qpn = qpn, c.params.pd = 7, c.params.persist = 1;
    dut.qp_ctl.put(c);
  }
  /// Expects this as the next ULPDU.
  void expect(uint16_t qpn, const Bytes& want, bool is_term = false) {
    const auto h = dut.tx_ulpdu_hdr.take();
    EXPECT_EQ(dut.tx_ulpdu.take_packet().bytes, want);
    EXPECT_EQ(h.qpn, qpn);
    EXPECT_EQ(h.length, want.size());
    EXPECT_EQ(h.is_term, is_term ? 1 : 0);
  }
  void expect_response(uint16_t qpn, uint32_t msn) {
    expect(qpn, flush_response(msn));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  bool nothing_sent() { return dut.tx_ulpdu_hdr.empty() && dut.tx_ulpdu.empty(); }
  /// Returns the number of times that the responder's slot of the QP was freed since the last call.
  unsigned freed(uint16_t qpn) {
    auto& items = dut.resp_slot_free.items();
    return static_cast<unsigned>(
        std::erase_if(items, [&](const spec::RespSlotFree& f) { return f.qpn == qpn; }));
  }
  /// Receives `count` Writes of QP `qpn`, and holds their place_done.
  void receive_held(World<D>& w, uint16_t qpn, uint16_t count) {
    w.hold_places = true;
    for (uint16_t i = 0; i < count; i++)
      w.receive(qpn, tagged(0, true, 0x4000, 64, Bytes(9, 1)), kPlace);
    ASSERT_TRUE(dut.run_until([&] { return w.held_places == count; }));
  }
  /// Starts the QP again, and checks that no message or failure of its last life is left: it sends
  /// with MSN 1, and all its slots are free.
  void expect_clean_life(World<D>& w, uint16_t qpn) {
    w.sq_used[qpn] = w.resp_used[qpn] = 0;
    w.start_qp(qpn, 7, true);
    freed(qpn);
    for (uint8_t i = 0; i < D::sizes().sq_slots; i++) {
      put(w, send(qpn, Bytes(20, i)));
      expect(qpn, untagged(3, true, 0, i + 1U, 0, Bytes(20, i)));
    }
    for (uint32_t msn = 1; msn < 3; msn++) {
      put(w, probe(qpn));
      expect_response(qpn, msn);
    }
    dut.settle();
    EXPECT_EQ(freed(qpn), 2U);
    EXPECT_EQ(w.sq_used[qpn], 0U);
    EXPECT_EQ(w.resp_used[qpn], 0U);
    EXPECT_TRUE(nothing_sent());
    EXPECT_TRUE(dut.tx_fault.empty());
  }
};
TYPED_TEST_SUITE(DdpFlushTest, Duts);

// ddp requests one byte, with the watermark. The response waits for the byte but does not contain
// it. The byte is consumed: the Write that follows has its own bytes.
TYPED_TEST(DdpFlushTest, ReadBackFetchesOneByteAndSendsAHeader) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(3, 0x99, true);
    w.start_qp(4, 0x98, true);
    uint32_t msn = 1;
    for (const uint64_t watermark : {uint64_t{0}, uint64_t{0x1234beef}, uint64_t{1} << 40}) {
      for (const uint64_t address : {0x777U, 0xfffU, 0x1000U}) {
        w.reqs.clear(), w.tx_asked.clear(), w.answered = 0;
        d.payload_hdr.idle(100);
        this->put(w, probe(3, 0x6000, address, watermark));
        ASSERT_TRUE(d.run_until([&] { return w.answered == 1; }));
        this->put(w, write(4, 100));
        d.cycles(kHold);
        EXPECT_TRUE(this->nothing_sent()) << "the byte has not returned";
        const spec::PayloadReq req{.length = 1, .has_watermark = 1, .watermark = watermark};
        EXPECT_EQ(w.reqs.at(0), req);
        const spec::TxXlate byte{.stag = 0x6000,
                                 .tagged_offset = address,
                                 .length = 1,
                                 .pd = 0x99,
                                 .qpn = 3,
                                 .rights = 0,  // rdmap has checked the rights of the range
                                 .last = 1};
        EXPECT_EQ(w.tx_asked.at(0), byte);
        d.payload_hdr.idle(p.idle);
        this->expect_response(3, msn++);
        this->expect(4, tagged(0, true, 0xabcd, 0x80, memory(0x1000, 0xff0, 100)));
        d.settle();
        EXPECT_EQ(w.reqs.size(), 2U);
        EXPECT_EQ(this->freed(3), 1U);
        if (testing::Test::HasFailure()) return;
      }
    }
    EXPECT_TRUE(d.tx_fault.empty() && this->nothing_sent());
  });
}

TYPED_TEST(DdpFlushTest, AnEmptyFlushWaitsForItsWatermark) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(0, 7, true);
    w.start_qp(1, 7, true);
    this->receive_held(w, 1, 3);
    this->put(w, empty(0, 3));
    for (unsigned placed = 0; placed < 3; placed++) {
      d.cycles(kHold);
      EXPECT_TRUE(this->nothing_sent()) << placed << " of 3 placed";
      EXPECT_EQ(this->freed(0), 0U) << placed << " of 3 placed";
      w.release_place();
    }
    this->expect_response(0, 1);
    d.settle();
    EXPECT_EQ(this->freed(0), 1U);
    this->put(w, empty(0, 2));  // already reached
    this->expect_response(0, 2);
    d.settle();
    EXPECT_EQ(this->freed(0), 1U);
    EXPECT_TRUE(w.reqs.empty() && w.tx_asked.empty()) << "nothing is to be read back";
  });
}

TYPED_TEST(DdpFlushTest, MsnOfQn3CountsAlone) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng(p.describe());
    constexpr uint16_t kQps = 3;
    std::array<std::array<uint32_t, 4>, kQps> msn{};
    const auto start = [&](uint16_t q) {
      w.start_qp(q, 7, true);
      w.sq_used[q] = w.resp_used[q] = 0;
      msn[q].fill(1);
    };
    for (uint16_t q = 0; q < kQps; q++) start(q);
    for (int i = 0; i < 120 && !testing::Test::HasFailure(); i++) {
      const auto q = static_cast<uint16_t>(rng.below(kQps));
      const Bytes data = random_bytes(rng, 28);
      switch (rng.below(8)) {
        case 0:
          this->put(w, send(q, data));
          this->expect(q, untagged(3, true, 0, msn[q][0]++, 0, data));
          break;
        case 1:  // a Flush Request is a message of QN 1 like any other
          this->put(w, inline_message(q, TxSource::kSq, RdmapOpcode::kFlushRequest, 1, data));
          this->expect(q, untagged(0xc, true, 1, msn[q][1]++, 0, data));
          break;
        case 2:
          this->put(w, inline_message(q, TxSource::kSq, RdmapOpcode::kReadRequest, 1, data));
          this->expect(q, untagged(1, true, 1, msn[q][1]++, 0, data));
          break;
        case 3:  // tagged: no MSN
          this->put(w, read_response(q, 50));
          this->expect(q, tagged(2, true, 0x77770000, 0x40, memory(0x5000, 0x777, 50)));
          break;
        case 4:
          this->put(w, empty(q, 0));
          this->expect_response(q, msn[q][3]++);
          break;
        case 5:
          if (rng.percent(60)) break;  // otherwise a restart, sometimes after a Terminate
          if (rng.percent(50)) {
            this->put(w, terminate(q));
            this->expect(q, untagged(7, true, 2, 1, 0, Bytes(22, 0x7e)), true);
          }
          w.control(spec::QpOp::kStop, q);
          start(q);
          break;
        default:
          this->put(w, probe(q));
          this->expect_response(q, msn[q][3]++);
      }
      this->dut.run_until([&] { return w.sq_used[q] + w.resp_used[q] == 0; });
    }
  });
}

// The slot of a Flush Response is freed once, when the response is sent. The slot of a Read
// Response is freed before its payload returns.
TYPED_TEST(DdpFlushTest, TheSlotIsFreedWhenTheResponseIsSent) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(0, 7, true);
    for (uint32_t msn = 1; msn < 9 && !testing::Test::HasFailure(); msn++) {
      const bool is_read = msn % 4 == 0;  // a Read Response is put before the Flush Response
      size_t asked = w.answered;
      d.payload_hdr.idle(100);
      if (is_read) {
        this->put(w, read_response(0, 60));
        ASSERT_TRUE(d.run_until([&] { return this->freed(0) == 1; })) << "a Read's is freed early";
        ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
        asked++;
      }
      this->put(w, probe(0));
      const bool is_inside = d.run_until([&] { return w.answered == asked + 1; }, 1000);
      EXPECT_TRUE(is_inside || is_read);  // the model's queue of segments may not hold both
      d.cycles(kHold);
      EXPECT_EQ(this->freed(0), 0U) << "the response is only scheduled";
      EXPECT_EQ(w.resp_used[0], 1U);
      d.payload_hdr.idle(p.idle);
      if (is_read) this->expect(0, tagged(2, true, 0x77770000, 0x40, memory(0x5000, 0x777, 60)));
      this->expect_response(0, msn);
      d.settle();
      EXPECT_EQ(this->freed(0), 1U);
      EXPECT_EQ(w.resp_used[0], 0U);
    }
    EXPECT_TRUE(this->nothing_sent());
  });
}

struct Outcome {
  RdStatus status{};
  TptResult result{};
};
// Read-backs that fail: with each status of PCIe, then with results of the lookup by which tpt
// translates the read-back. (rdmap has checked the key before; it may have become bad since.)
constexpr Outcome kFailures[] = {
    {RdStatus::kUnsupported, TptResult::kOk}, {RdStatus::kAborted, TptResult::kOk},
    {RdStatus::kPoisoned, TptResult::kOk},    {RdStatus::kOk, TptResult::kStag},
    {RdStatus::kOk, TptResult::kBounds},
};
uint32_t failing_key(const Outcome& o) {
  return 0x70000 | (o.status != RdStatus::kOk ? kPoisonedKey : 0) | static_cast<uint32_t>(o.result);
}

// After a failed read-back ddp reports one tx_fault, frees no slot and sends nothing of the QP
// except the Terminate. It drops later segments without a report, whether they were scheduled
// before the fault or not.
TYPED_TEST(DdpFlushTest, AFailedReadBackIsOneFault) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    for (const Outcome& o : kFailures) {
      SCOPED_TRACE(failing_key(o));
      w.start_qp(3, 7, true);
      w.start_qp(4, 7, true);
      w.read_status = o.status;
      const size_t asked = w.answered;
      d.payload_hdr.idle(100);
      this->put(w, probe(3, failing_key(o), 0x777, 5, 0x5a));
      ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
      this->put(w, write(3, 40, failing_key(o)));  // also fails, but causes no second fault
      if (TypeParam::sizes().sq_slots > 1) this->put(w, write(3, 50));
      this->put(w, write(4, 60));
      d.cycles(kHold);
      EXPECT_TRUE(d.tx_fault.empty());
      d.payload_hdr.idle(p.idle);
      const auto f = d.tx_fault.take();
      EXPECT_EQ(f.qpn, 3);
      EXPECT_EQ(f.source, TxSource::kResp);
      EXPECT_EQ(f.slot, 0x5a);
      EXPECT_EQ(f.offset, 0U);
      EXPECT_EQ(f.status, o.status);
      EXPECT_EQ(f.result, o.result);
      this->expect(4, tagged(0, true, 0xabcd, 0x80, memory(0x1000, 0xff0, 60)));
      d.settle();
      EXPECT_TRUE(this->nothing_sent()) << "after a fault nothing is sent";
      this->put(w, terminate(3));
      this->expect(3, untagged(7, true, 2, 1, 0, Bytes(22, 0x7e)), true);
      d.settle();
      EXPECT_TRUE(d.tx_fault.empty()) << "one fault is reported";
      EXPECT_EQ(this->freed(3), 0U) << "a dropped response frees no slot";
      EXPECT_TRUE(this->nothing_sent());
      w.control(spec::QpOp::kStop, 3);
      this->expect_clean_life(w, 3);
      w.control(spec::QpOp::kStop, 3);
      w.control(spec::QpOp::kStop, 4);
      if (testing::Test::HasFailure()) return;
    }
  });
}

// The read-back is good, but an earlier segment has failed or a Terminate has arrived: the response
// is dropped, and its slot is not freed.
TYPED_TEST(DdpFlushTest, ADroppedResponseFreesNoSlot) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(2, 7, true);
    const size_t asked = w.answered;
    d.payload_hdr.idle(100);
    this->put(w, write(2, 40, 0x70000 | kPoisonedKey));
    ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
    this->put(w, probe(2));
    d.run_until([&] { return w.answered == asked + 2; }, 1000);  // the model's queue may be short
    d.payload_hdr.idle(p.idle);
    EXPECT_EQ(d.tx_fault.take().source, TxSource::kSq);
    d.settle();
    EXPECT_TRUE(d.tx_fault.empty() && this->nothing_sent());
    EXPECT_EQ(this->freed(2), 0U);
    w.control(spec::QpOp::kStop, 2);
    this->expect_clean_life(w, 2);

    w.hold_grants = true;
    const uint64_t wants = w.wants;
    this->put(w, probe(2));
    ASSERT_TRUE(d.run_until([&] { return w.wants == wants + 1; }));
    this->put(w, terminate(2));
    ASSERT_TRUE(d.run_until([&] { return w.wants == wants + 2; }));
    const size_t before = w.reqs.size();
    w.release_grants();
    this->expect(2, untagged(7, true, 2, 1, 0, Bytes(22, 0x7e)), true);
    d.settle();
    EXPECT_TRUE(d.tx_fault.empty() && this->nothing_sent());
    EXPECT_EQ(w.reqs.size(), before) << "a dropped response reads nothing back";
    EXPECT_EQ(this->freed(2), 0U);
    w.control(spec::QpOp::kStop, 2);
    this->expect_clean_life(w, 2);
  });
}

// A stop is acknowledged when the response is sent: its byte has returned, and mpa has accepted the
// response.
TYPED_TEST(DdpFlushTest, AStopWaitsForTheReadBack) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    for (int round = 0; round < 2 && !testing::Test::HasFailure(); round++) {
      w.start_qp(1, 7, true);
      this->put(w, probe(1));
      this->expect_response(1, 1);
      d.settle();
      EXPECT_EQ(this->freed(1), 1U);
      const size_t asked = w.answered;
      d.payload_hdr.idle(100);
      this->put(w, probe(1));
      ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
      this->order(spec::QpOp::kStop, 1);
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "its byte has not returned";
      d.tx_ulpdu.stall(100);
      d.payload_hdr.idle(p.idle);
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "mpa has not taken it";
      d.tx_ulpdu.stall(p.stall);
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      EXPECT_EQ(d.tx_ulpdu.size(), 1U) << "acknowledged before its last beat had left";
      EXPECT_EQ(this->freed(1), 1U);
      this->expect_response(1, 2);
      this->expect_clean_life(w, 1);
      w.control(spec::QpOp::kStop, 1);
    }
  });
}

// A stop also waits until rdmap has accepted resp_slot_free of a sent response, or tx_fault of a
// failed one.
TYPED_TEST(DdpFlushTest, AStopWaitsUntilRdmapHasTakenTheEnd) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    for (const bool fails : {false, true}) {
      SCOPED_TRACE(fails);
      w.start_qp(1, 7, true);
      const size_t asked = w.answered;
      d.resp_slot_free.stall(100);
      d.tx_fault.stall(100);
      d.payload_hdr.idle(100);
      this->put(w, probe(1, fails ? 0x70000 | kPoisonedKey : 0x6000));
      ASSERT_TRUE(d.run_until([&] { return w.answered == asked + 1; }));
      this->order(spec::QpOp::kStop, 1);
      d.cycles(kHold);
      d.payload_hdr.idle(p.idle);
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "rdmap does not know how it ended";
      EXPECT_TRUE(d.tx_fault.empty() && this->freed(1) == 0);
      d.resp_slot_free.stall(p.stall);
      d.tx_fault.stall(p.stall);
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      EXPECT_EQ(d.tx_fault.size(), fails ? 1U : 0U);
      EXPECT_EQ(this->freed(1), fails ? 0U : 1U);
      EXPECT_EQ(d.tx_ulpdu.size(), fails ? 0U : 1U);
      if (!fails) this->expect_response(1, 1);
      d.tx_fault.items().clear();
      d.settle();
      EXPECT_TRUE(this->nothing_sent());
      this->expect_clean_life(w, 1);
      w.control(spec::QpOp::kStop, 1);
    }
  });
}

TYPED_TEST(DdpFlushTest, AStopWaitsForTheWatermark) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    w.start_qp(0, 7, true);
    for (uint64_t round = 1; round < 4 && !testing::Test::HasFailure(); round++) {
      w.start_qp(1, 7, true);
      this->receive_held(w, 0, 2);
      this->put(w, empty(1, 2 * round));
      d.cycles(kHold);
      this->order(spec::QpOp::kStop, 1);
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "none of 2 placed";
      w.release_place();
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "1 of 2 placed";
      EXPECT_TRUE(this->nothing_sent() && this->freed(1) == 0);
      d.tx_ulpdu.stall(100);
      w.release_places();
      EXPECT_FALSE(d.qp_ack.try_take(kHold)) << "mpa has not taken it";
      d.tx_ulpdu.stall(p.stall);
      EXPECT_EQ(d.qp_ack.take().qpn, 1);
      EXPECT_EQ(d.tx_ulpdu.size(), 1U);
      EXPECT_EQ(this->freed(1), 1U);
      this->expect_response(1, 1);
      this->expect_clean_life(w, 1);
      w.control(spec::QpOp::kStop, 1);
    }
    w.check_extents();
  });
}

// A response that is not scheduled when the stop arrives is dropped: no MSN, no read, no slot
// freed.
TYPED_TEST(DdpFlushTest, AStopDropsAResponseThatWaitsForAGrant) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    auto& d = this->dut;
    for (int round = 0; round < 3 && !testing::Test::HasFailure(); round++) {
      w.start_qp(1, 7, true);
      w.hold_grants = true;
      const uint64_t wants = w.wants;
      const size_t asked = w.reqs.size();
      this->put(w, round == 1 ? empty(1, 0) : probe(1));
      ASSERT_TRUE(d.run_until([&] { return w.wants == wants + 1; }));
      w.control(spec::QpOp::kStop, 1);
      w.release_grants();  // no message is left to schedule
      d.settle();
      EXPECT_TRUE(this->nothing_sent());
      EXPECT_EQ(w.reqs.size(), asked);
      EXPECT_EQ(this->freed(1), 0U);
      this->expect_clean_life(w, 1);
      w.control(spec::QpOp::kStop, 1);
    }
  });
}

// A received response must have the next MSN of QN 3, whatever the MSNs of the other queues are.
// ddp delivers it with the slot that rdmap names, and places nothing.
TYPED_TEST(DdpFlushTest, ResponsesAreTakenInTheOrderOfTheirMsn) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    base::Rng rng = test_rng(p.describe());
    for (int life = 0; life < 2; life++) {
      w.start_qp(2, 7, true);
      w.start_qp(6, 7, true);
      std::map<uint16_t, std::array<uint32_t, 4>> msn{{2, {1, 1, 1, 1}}, {6, {1, 1, 1, 1}}};
      for (int i = 0; i < 60 && !testing::Test::HasFailure(); i++) {
        const uint16_t q = rng.percent(50) ? 2 : 6;
        const auto slot = static_cast<uint8_t>(rng.next());
        const bool is_response = rng.percent(60);
        const auto qn = is_response ? 3U : static_cast<unsigned>(rng.below(2));
        Bytes ulpdu = flush_response(msn[q][3]);
        spec::RxVerdict verdict = kTake;
        if (is_response) {
          verdict.deliver = DeliverKind::kRead, verdict.slot = slot;
        } else if (qn == 1) {  // a Flush Request
          ulpdu = untagged(0xc, true, 1, msn[q][1], 0, random_bytes(rng, 20));
        } else {
          ulpdu = untagged(3, true, 0, msn[q][0], 0, {});
          w.wqes[q].push_back({.index = 1, .num_sge = 0, .sge0 = {}, .sge1 = {}, .sge2 = {}});
        }
        msn[q][qn]++;
        w.receive(q, ulpdu, verdict);
        const auto s = this->dut.rx_segment.take();
        EXPECT_EQ(s.qpn, q);
        EXPECT_EQ(s.cause, Cause::kNone);
        EXPECT_EQ(s.ulpdu_length, ulpdu.size());
        EXPECT_TRUE(std::equal(ulpdu.begin(), ulpdu.end(), s.head.begin()));
        if (!is_response) continue;
        const auto done = this->dut.rx_done.take();
        EXPECT_EQ(done.qpn, q);
        EXPECT_EQ(done.kind, DeliverKind::kRead);
        EXPECT_EQ(done.slot, slot);
      }
      w.control(spec::QpOp::kStop, 2);
      w.control(spec::QpOp::kStop, 6);
    }
    this->dut.settle();
    EXPECT_TRUE(w.rx_asked.empty() && w.placed.empty() && this->dut.rx_done.empty());
    w.check_extents();
  });
}

TYPED_TEST(DdpFlushTest, AResponseIsDeliveredBehindEarlierPlacements) {
  each_pace([&](Pace p) {
    World w(this->dut, p);
    w.start_qp(2, 7, true);
    w.hold_places = true;
    spec::RxVerdict read = kPlace, flush = kTake;
    read.deliver = flush.deliver = DeliverKind::kRead;
    read.slot = 4, flush.slot = 9;
    w.receive(2, tagged(2, true, 0x4000, 64, Bytes(9, 1)), read);
    w.receive(2, flush_response(1), flush);
    ASSERT_TRUE(this->dut.run_until([&] { return w.held_places == 1; }));
    EXPECT_FALSE(this->dut.rx_done.try_take(kHold));
    w.release_places();
    EXPECT_EQ(this->dut.rx_done.take().slot, 4);
    EXPECT_EQ(this->dut.rx_done.take().slot, 9);
  });
}

TYPED_TEST(DdpFlushTest, EveryHeaderErrorOfQn3HasItsCause) {
  struct Bad {
    const char* what;
    bool persist;
    unsigned good;  // number of good responses before the bad one
    Bytes ulpdu;
    Cause cause;
  };
  auto with = [](Bytes b, size_t at, uint8_t v) { return b[at] = v, b; };
  auto cut = [](Bytes b, size_t n) { return b.resize(n), b; };
  const Bad cases[] = {
      {"MSN 0", true, 0, flush_response(0), Cause::kDdpUntaggedMsn},
      {"MSN 2 first", true, 0, flush_response(2), Cause::kDdpUntaggedMsn},
      {"MSN 1 again", true, 1, flush_response(1), Cause::kDdpUntaggedMsn},
      {"MSN 3 too early", true, 1, flush_response(3), Cause::kDdpUntaggedMsn},
      {"MSN of the other half", true, 2, flush_response(0x80000003), Cause::kDdpUntaggedMsn},
      {"MO 1", true, 1, with(flush_response(2), 17, 1), Cause::kDdpUntaggedMo},
      {"MSN before MO", true, 1, with(flush_response(5), 17, 1), Cause::kDdpUntaggedMsn},
      {"QN 4", true, 0, with(flush_response(1), 9, 4), Cause::kDdpUntaggedQn},
      {"QN 2^31 + 3", true, 0, with(flush_response(1), 6, 0x80), Cause::kDdpUntaggedQn},
      {"QN 7", true, 1, with(flush_response(2), 9, 7), Cause::kDdpUntaggedQn},
      {"17 bytes", true, 1, cut(flush_response(2), 17), Cause::kDdpUntaggedVersion},
      {"DV 0", true, 1, with(flush_response(2), 0, 0x40), Cause::kDdpUntaggedVersion},
      {"Flush off", false, 0, flush_response(1), Cause::kDdpUntaggedQn},
      {"Flush off, MSN 2", false, 0, flush_response(2), Cause::kDdpUntaggedQn},
  };
  each_pace([&](Pace p) {
    World w(this->dut, p);
    for (const Bad& b : cases) {
      SCOPED_TRACE(b.what);
      w.start_qp(3, 7, b.persist);
      w.start_qp(2, 7, true);
      for (uint32_t i = 0; i < b.good; i++) w.receive(3, flush_response(i + 1), kTake);
      w.receive(3, b.ulpdu, kDrop);
      w.receive(3, flush_response(b.good + 1), kDrop);  // after the first error all are refused
      w.receive(2, flush_response(1), kTake);           // the other QP is not affected
      const auto s = this->dut.rx_segment.take_all();
      ASSERT_EQ(s.size(), b.good + 3U);
      for (unsigned i = 0; i < b.good; i++) EXPECT_EQ(s[i].cause, Cause::kNone);
      EXPECT_EQ(s[b.good].cause, b.cause);
      EXPECT_EQ(s[b.good].ulpdu_length, b.ulpdu.size());
      EXPECT_EQ(s[b.good + 1].cause, Cause::kLocalCatastrophic);
      EXPECT_EQ(s[b.good + 2].cause, Cause::kNone);
      EXPECT_TRUE(this->dut.rx_done.empty() && w.placed.empty());
      w.control(spec::QpOp::kStop, 3);
      w.control(spec::QpOp::kStop, 2);
    }
    w.check_extents();
  });
}

}  // namespace
}  // namespace rnic::tb
