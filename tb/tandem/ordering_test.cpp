// The ordering checker on hand-written sequences: each rule of sim/tandem/ordering.hpp kept, and
// broken.
//
// A test plays what an Observer would see: records of the peer (received), commits of the RTL, its
// DMA (reads, writes, places), the host's register accesses. good() and bad() judge the checker.
// Numbers in the commits (docs/spec/commits.yaml): rdmap_op 0 start or stop, 1 qp_fault, 2
// tx_fault, 3 a failed check, 4 a verdict; qp_retire 1 a Read is done, 2 a receive; tpt_check
// client 1 tx. Rings of QP 3: 8 units of SQ, 4 of RQ. CQ 7 has 16 entries; its EQ 1 has 8, and
// vector 5.
#include "tandem/ordering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

#include "gen/regs.hpp"

namespace rnic::sim {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kCommands = 0x10000, kAnswers = 0x20000, kSq = 0x30000, kRq = 0x40000,
                   kCq = 0x50000, kEq = 0x60000;

void put(Bytes& to, uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// RFC 5044 section 4.1 around RFC 5041 sections 4.2, 4.3. The CRC is zero: no code here checks it.
/// Opcodes: 0 Write, 1 Read Request, 2 Read Response, 3 Send, 11 Atomic Response.
Payload fpdu(bool is_tagged, bool is_last, uint8_t opcode, uint32_t qn, const Bytes& payload) {
  Bytes f;
  put(f, (is_tagged ? 14 : 18) + payload.size(), 2);
  put(f, (is_tagged ? 0x80U : 0U) | (is_last ? 0x40U : 0U) | 1U, 1);
  put(f, 0x40U | opcode, 1);
  if (is_tagged) {
    put(f, 0x1234, 4);
    put(f, 0x8000, 8);
  } else {
    put(f, 0, 4);
    put(f, qn, 4);
    put(f, 1, 4);
    put(f, 0, 4);
  }
  f.insert(f.end(), payload.begin(), payload.end());
  while (f.size() % 4 != 0) f.push_back(0);
  put(f, 0, 4);
  return Payload::copy_of(f);
}

Payload write(const Bytes& b, bool is_last = true) { return fpdu(true, is_last, 0, 0, b); }
Payload send(const Bytes& b, bool is_last = true) { return fpdu(false, is_last, 3, 0, b); }
Payload read_response(const Bytes& b, bool is_last = true) { return fpdu(true, is_last, 2, 0, b); }
Payload atomic_response(uint32_t identifier) {
  Bytes b;
  put(b, identifier, 4);
  put(b, 0x1122334455667788, 8);
  return fpdu(false, true, 11, 3, b);
}
Payload read_request(uint32_t stag, uint64_t to, uint32_t size) {
  Bytes b;
  put(b, 0x99, 4);
  put(b, 0x7000, 8);
  put(b, size, 4);
  put(b, stag, 4);
  put(b, to, 8);
  return fpdu(false, true, 1, 1, b);
}

Bytes bytes(uint32_t n, uint8_t first) {
  Bytes b(n);
  for (uint32_t i = 0; i < n; ++i) b[i] = static_cast<uint8_t>(first + i);
  return b;
}

class OrderingTest : public testing::Test {
 protected:
  OrderingTest() { o.pcie({.bus_master = 1, .mps = 1, .mrrs = 2}); }  // 256 and 512 bytes

  // One event per cycle. Names of functions are what the device or the peer does.
  template <class Commit>
  void commit(const Commit& c) {
    step([&] { o.commit(c); });
  }
  void received(uint16_t qpn, const Payload& f, bool error = false) {
    step([&] { o.llp_rx({.connection = qpn, .is_stream = false, .error = error, .data = f}); });
    commit(spec::LlpRxCommit{.connection = qpn, .way = 0, .qpn = qpn});
  }
  void verdict(uint16_t qpn) { commit(spec::RdmapOpCommit{.op = 4, .qpn = qpn}); }
  void starts(uint16_t qpn) {
    commit(spec::DdpCtlCommit{.op = spec::QpOp::kStart, .qpn = qpn});
    commit(spec::RdmapOpCommit{.op = 0, .qpn = qpn});
  }
  void writes(Client client, uint64_t address, const Bytes& b, bool relaxed = false) {
    step([&] {
      o.commit(spec::DmaWrCommit{.client = static_cast<uint8_t>(client)});
      o.dma_write(
          {.address = address, .data = Payload::copy_of(b), .relaxed = relaxed, .client = client});
    });
  }
  void places(const Bytes& b) { writes(Client::kPlace, 0x900000, b); }
  void reads(Client client, uint8_t tag, uint64_t address, uint32_t length) {
    step([&] { o.dma_read({.tag = tag, .address = address, .length = length, .client = client}); });
  }
  void answers(uint8_t tag, const Bytes& b) {
    step([&] { o.dma_piece({.tag = tag, .is_last = true, .data = Payload::copy_of(b)}); });
  }
  void mmio(uint8_t bar, uint32_t offset, uint8_t size, uint64_t value) {
    step([&] {
      o.mmio({.is_write = true,
              .bar = bar,
              .offset = offset,
              .bytes = size,
              .value = value,
              .data = {}});
    });
  }
  void reads_register() {
    step([&] { o.mmio({.is_write = false, .data = {}}); });
  }
  void answers_register() {
    step([&] { o.mmio_response(0); });
  }
  template <class F>
  void step(F f) {
    o.cycle(++now);
    f();
    o.cycle_done();
  }

  // Commands, as admin reads them and writes their responses.
  template <class Args>
  void command(spec::AdminOpcode op, uint32_t object, const Args& args,
               spec::AdminStatus status = spec::AdminStatus::kOk) {
    if (cookie_ == 0) {
      mmio(0, spec::kAdminCmdBaseOffset, 8, kCommands);
      mmio(0, spec::kAdminRspBaseOffset, 4, kAnswers);
      mmio(0, spec::kAdminLogSizeOffset, 4, 4);  // 16 entries
    }
    spec::AdminCmd c{.opcode = static_cast<uint8_t>(op), .cookie = ++cookie_, .object = object};
    args.pack(c.args);
    Bytes b(64);
    c.pack(b);
    reads(Client::kAdmin, 250, kCommands + 64 * ((cookie_ - 1U) % 16), 64);
    answers(250, b);
    spec::AdminRsp r{.cookie = cookie_, .status = status};
    Bytes rb(32);
    r.pack(rb);
    writes(Client::kAdminWrite, kAnswers + 32 * ((cookie_ - 1U) % 16), rb);
  }
  void create_qp(uint16_t qpn = 3, spec::AdminStatus status = spec::AdminStatus::kOk) {
    created_.insert(qpn);
    command(spec::AdminOpcode::kCreateQp, qpn,
            spec::AdminQpArgs{.sq_base = kSq, .rq_base = kRq, .log_sq = 3, .log_rq = 2}, status);
  }
  // Doorbells: offset 0 SQ, 8 RQ, 0x18 arms a CQ, in any doorbell page.
  void rings(uint16_t qpn, bool is_rq, uint16_t index) {
    mmio(2, is_rq ? 0x1008 : 0x1000, 8, uint64_t{index} << 32 | qpn);
  }
  void takes_effect(uint16_t qpn, bool is_rq, uint16_t index, bool accepted = true) {
    commit(spec::QpDoorbellCommit{.kind = is_rq ? spec::DoorbellKind::kRq : spec::DoorbellKind::kSq,
                                  .qpn = qpn,
                                  .index = index,
                                  .accepted = accepted});
  }
  void announces(uint16_t index, bool is_rq = false) {
    rings(3, is_rq, index);
    takes_effect(3, is_rq, index);
  }
  void create_cq() {
    command(spec::AdminOpcode::kCreateEq, 1,
            spec::AdminRingArgs{.base = kEq, .log_size = 3, .vector = 5});
    command(spec::AdminOpcode::kCreateCq, 7,
            spec::AdminRingArgs{.base = kCq, .log_size = 4, .eqn = 1});
    mmio(0, spec::kMsixAddressOffset + 5 * 16, 8, 0xfee00000);
    mmio(0, spec::kMsixAddressOffset + 5 * 16 + 8, 4, 0x45);
  }
  void arms(uint16_t consumer) { mmio(2, 0x2018, 8, uint64_t{consumer} << 32 | 7); }
  void completes(uint16_t qpn = 3, bool is_recv = false,
                 spec::WcStatus status = spec::WcStatus::kSuccess) {
    if (!created_.contains(qpn)) create_qp(qpn);
    spec::Cqe e{.qpn = qpn, .status = status, .is_recv = is_recv};
    Bytes b(32);
    e.pack(b);
    writes(Client::kCq, kCq + 32 * (cqes_++ % 16), b);
  }
  /// cq writes the completion event of CQ 7.
  void tells_event() {
    spec::Eqe e{.kind = spec::EqeType::kCompletion, .object = 7};
    Bytes b(16);
    e.pack(b);
    writes(Client::kCq, kEq + 16 * (eqes_++ % 8), b);
  }
  void interrupts() { writes(Client::kMsix, 0xfee00000, {0x45, 0, 0, 0}); }

  /// The checker has found no violation so far; the first violation has this text.
  void good() const { EXPECT_EQ(o.failure(), ""); }
  void bad(const std::string& why) const { EXPECT_THAT(o.failure(), HasSubstr(why)); }

  Ordering o;
  uint64_t now = 0;

 private:
  uint16_t cookie_ = 0;
  unsigned cqes_ = 0, eqes_ = 0;
  std::set<uint16_t> created_;
};

// --- a1: placed bytes were judged before

TEST_F(OrderingTest, PayloadIsPlacedAfterItsVerdictHoweverItIsCut) {
  starts(3);
  received(3, write(bytes(200, 1)));
  received(3, send(bytes(30, 50)));
  verdict(3);
  places(bytes(56, 1));
  verdict(3);
  places(bytes(128, 57));
  places(bytes(16, 185));
  places(bytes(30, 50));
  good();
  EXPECT_EQ(o.findings().count("placed TLPs"), 4U);
}

TEST_F(OrderingTest, NothingIsPlacedBeforeItsVerdict) {
  starts(3);
  received(3, write(bytes(64, 1)));
  places(bytes(64, 1));
  bad("of no segment that has been judged");
}

TEST_F(OrderingTest, PlacedBytesAreThoseReceived) {
  starts(3);
  received(3, write(bytes(128, 1)));
  verdict(3);
  places(bytes(64, 1));
  places(bytes(64, 66));
  bad("not those that follow in the segment of QP 3 (64 of 128 bytes are placed)");
}

TEST_F(OrderingTest, SegmentsArePlacedInTheOrderOfTheirVerdicts) {
  starts(3);
  starts(4);
  received(3, write(bytes(64, 1)));
  received(4, write(bytes(64, 101)));
  verdict(4);
  verdict(3);
  places(bytes(64, 101));
  places(bytes(64, 1));
  good();
}

TEST_F(OrderingTest, AFailedSegmentIsPassedOverAndNothingBehindItIsPlaced) {
  starts(3);
  starts(4);
  received(3, write(bytes(64, 1)));  // its STag is invalid: only tpt detects that
  received(3, write(bytes(64, 65)));
  received(4, write(bytes(64, 150)));
  verdict(3);
  verdict(4);
  verdict(3);
  places(bytes(64, 150));
  good();
  places(bytes(64, 65));
  bad("of no segment that has been judged");
}

/// The bytes of a segment that is never placed begin as those of a segment that is placed.
TEST_F(OrderingTest, AFailedSegmentThatBeginsLikeAnotherIsPassedOver) {
  starts(3);
  starts(4);
  received(4, write(bytes(201, 1)));  // never placed
  Bytes mine = bytes(33, 1);
  for (const uint8_t b : bytes(216, 101)) mine.push_back(b);
  received(3, write(mine));
  received(3, write(bytes(20, 7)));
  verdict(4);
  verdict(3);
  verdict(3);
  places(bytes(33, 1));  // up to the end of a page
  places(bytes(216, 101));
  places(bytes(20, 7));
  good();
  EXPECT_EQ(o.findings().count("placed TLPs"), 3U);
  places(bytes(201, 1));
  bad("of no segment that has been judged");
}

/// The bytes of a segment that is never placed equal those of a segment that is placed.
TEST_F(OrderingTest, AFailedSegmentThatIsLikeAnotherIsPassedOver) {
  starts(3);
  starts(4);
  received(4, write(bytes(64, 1)));  // never placed
  received(3, write(bytes(64, 1)));
  received(3, write(bytes(20, 7)));
  verdict(4);
  verdict(3);
  verdict(3);
  places(bytes(64, 1));
  places(bytes(20, 7));
  good();
}

/// A segment with an equal beginning is no match for the rest: all bytes belong to one segment.
TEST_F(OrderingTest, NoSegmentIsPlacedInPartsOfTwo) {
  starts(3);
  starts(4);
  received(4, write(bytes(100, 1)));
  received(3, write(bytes(120, 1)));
  verdict(4);
  verdict(3);
  places(bytes(80, 1));
  places(bytes(40, 81));  // QP 3's
  good();
  places(bytes(20, 81));  // QP 4's, which places no byte
  bad("of no segment that has been judged");
}

TEST_F(OrderingTest, WithMarkersThePayloadIsWithoutThem) {
  starts(3);
  o.llp_ctl({.op = spec::LlpOp::kRdmaMode, .connection = 3, .rx_markers = 1});
  const Bytes payload = bytes(1000, 3);
  const Payload plain = write(payload);
  Bytes marked;  // RFC 5044 section 4.3, from position 0
  for (const uint8_t b : plain.bytes()) {
    if (marked.size() % 512 == 0) put(marked, 0xdead0000, 4);
    marked.push_back(b);
  }
  received(3, Payload::copy_of(marked));
  verdict(3);
  places(Bytes(payload.begin(), payload.begin() + 256));
  places(Bytes(payload.begin() + 256, payload.begin() + 512));
  places(Bytes(payload.begin() + 512, payload.begin() + 768));
  places(Bytes(payload.begin() + 768, payload.end()));
  good();
  EXPECT_EQ(o.findings().count("placed TLPs"), 4U);
}

TEST_F(OrderingTest, AfterAnErrorOrAStopNothingIsExpected) {
  for (uint8_t op = 0; op <= 3; ++op) {  // of rdmap_op: order, qp_fault, tx_fault, failed check
    starts(3);
    commit(spec::RdmapOpCommit{.op = op, .qpn = 3});
    received(3, write(bytes(64, 1)));
    verdict(3);
    starts(4);
    received(4, write(bytes(64, 1)));  // the same bytes, and QP 4 may place them
    verdict(4);
    places(bytes(64, 1));
    good();
  }
  received(4, write(bytes(64, 1)), true);  // the LLP reports an error
  verdict(4);
  places(bytes(64, 1));
  bad("of no segment that has been judged");
}

TEST_F(OrderingTest, AQpThatStartsAgainIsNotHeldToItsFormerSelf) {
  starts(3);
  received(3, send(bytes(40, 1)));  // the Send finds no receive: it is judged and never placed
  verdict(3);
  commit(spec::RdmapOpCommit{.op = 1, .qpn = 3});
  starts(3);
  received(3, write(bytes(40, 101)));
  verdict(3);
  places(bytes(40, 101));
  good();
  received(3, write(bytes(40, 201)));
  verdict(3);
  places(bytes(40, 1));
  bad("of no segment that has been judged");
}

TEST_F(OrderingTest, AVerdictNeedsASegment) {
  starts(3);
  verdict(3);
  bad("a verdict for QP 3, of which nothing was received");
}

// --- a2: completions after their data

TEST_F(OrderingTest, AReadIsDoneAfterItsData) {
  starts(3);
  for (const bool is_last : {false, true}) {
    received(3, read_response(bytes(100, 7), is_last));
    verdict(3);
  }
  places(bytes(100, 7));
  places(bytes(100, 7));
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  good();
  EXPECT_EQ(o.findings().count("Reads done"), 1U);
}

TEST_F(OrderingTest, AReadIsNotDoneBeforeItsData) {
  starts(3);
  received(3, read_response(bytes(200, 7)));
  verdict(3);
  places(bytes(128, 7));
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  bad("a Read of QP 3 is done before its data: of a segment of QP 3 judged before, 128 of 200 "
      "bytes are placed");
}

TEST_F(OrderingTest, AReadIsNotDoneBeforeWritesThatCameEarlier) {
  starts(3);
  received(3, write(bytes(64, 1)));
  received(3, read_response({}));
  verdict(3);
  verdict(3);
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  bad("a Read of QP 3 is done before its data");
}

// The response of an atomic after a Read: unit atomic writes the old value on a separate path.
TEST_F(OrderingTest, AnAtomicIsDoneBeforeTheReadInFrontOfIt) {
  starts(3);
  received(3, read_response(bytes(64, 7)));
  received(3, atomic_response(1));
  verdict(3);
  verdict(3);
  commit(spec::AtomicWordCommit{.op = spec::AtomicOp::kResult, .qpn = 3, .performed = 1});
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  good();
  places(bytes(64, 7));
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  good();
}

TEST_F(OrderingTest, AnAtomicIsNotDoneBeforeItsOldValueIsDecided) {
  starts(3);
  received(3, atomic_response(1));
  verdict(3);
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  bad("its old value was not decided");
}

TEST_F(OrderingTest, AReadIsNotDoneInPlaceOfAnUndecidedAtomic) {
  starts(3);
  received(3, read_response(bytes(64, 7)));
  received(3, atomic_response(1));
  verdict(3);
  verdict(3);
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  bad("a Read of QP 3 is done before its data");
}

TEST_F(OrderingTest, AReadIsNotDoneWithoutAResponse) {
  starts(3);
  received(3, read_response(bytes(64, 7), false));
  verdict(3);
  places(bytes(64, 7));
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  bad("no end of a response was judged");
}

TEST_F(OrderingTest, AReceiveIsDoneAfterItsData) {
  create_cq();
  starts(3);
  received(3, send(bytes(64, 9), false));
  received(3, send(bytes(10, 73)));
  verdict(3);
  verdict(3);
  places(bytes(64, 9));
  places(bytes(10, 73));
  commit(spec::QpRetireCommit{.op = 2, .qpn = 3});
  completes(3, true);
  good();
  EXPECT_EQ(o.findings().count("receives done"), 1U);
}

TEST_F(OrderingTest, AReceiveIsNotDoneBeforeItsData) {
  create_cq();
  starts(3);
  received(3, send(bytes(64, 9)));
  verdict(3);
  commit(spec::QpRetireCommit{.op = 2, .qpn = 3});
  places(bytes(64, 9));  // too late: it was retired before
  good();
  completes(3, true);
  bad("a receive of QP 3 is done before its data: of a segment of QP 3 judged before, 0 of 64 "
      "bytes are placed");
}

TEST_F(OrderingTest, AReceiveThatFailedAnnouncesNothing) {
  create_cq();
  starts(3);
  received(3, send(bytes(64, 9)));
  verdict(3);
  commit(spec::QpRetireCommit{.op = 2, .qpn = 3});
  completes(3, true, spec::WcStatus::kWrFlushErr);
  completes(3, true, spec::WcStatus::kLocProtErr);
  good();
}

TEST_F(OrderingTest, EqualBytesOfAFailedSegmentLeaveAReadUnsure) {
  starts(3);
  starts(4);
  received(4, write(bytes(64, 1)));  // never placed
  received(3, read_response(bytes(64, 1)));
  verdict(4);
  verdict(3);
  places(bytes(64, 1));  // QP 3's, but it could be QP 4's
  commit(spec::QpStateCommit{.qpn = 4, .bits = 1});
  commit(spec::QpRetireCommit{.op = 1, .qpn = 3});
  good();
  EXPECT_EQ(o.findings().count("unsure"), 1U);
}

// --- a3: events after completions, interrupts after events

TEST_F(OrderingTest, EventsFollowCompletionsAndInterruptsFollowEvents) {
  create_cq();
  arms(0);
  completes();
  tells_event();
  interrupts();
  completes();
  arms(1);  // a completion is unread: the event is due at once
  tells_event();
  interrupts();
  good();
  EXPECT_EQ(o.findings().count("events"), 2U);
  EXPECT_EQ(o.findings().count("interrupts"), 2U);
}

TEST_F(OrderingTest, NoCompletionOfAQpComesBehindTheAnswerToItsDestroy) {
  create_cq();
  create_qp();
  completes();
  command(spec::AdminOpcode::kDestroyQp, 3, spec::AdminQpArgs{});
  good();
  completes();
  bad("a completion of QP 3, which does not exist");
}

TEST_F(OrderingTest, ACompletionIsThatOfAQpThatLives) {
  create_cq();
  create_qp(3);
  create_qp(4);
  command(spec::AdminOpcode::kDestroyQp, 3, spec::AdminQpArgs{});
  completes(4);
  good();
  completes(3);
  bad("a completion of QP 3, which does not exist");
}

TEST_F(OrderingTest, AnEventNeedsAnArming) {
  create_cq();
  arms(0);
  completes();
  completes();
  tells_event();
  good();
  tells_event();
  bad("a completion event of CQ 7: it is not armed");
}

TEST_F(OrderingTest, AnEventNeedsACompletionBehindTheArming) {
  create_cq();
  completes();
  arms(1);
  tells_event();
  bad("1 completions were written, armed at 1");
}

TEST_F(OrderingTest, AnInterruptDoesNotPassItsEvent) {
  create_cq();
  arms(0);
  completes();
  interrupts();
  bad("comes before its event");
}

TEST_F(OrderingTest, AnInterruptIsThatOfAVector) {
  create_cq();
  writes(Client::kMsix, 0xfee00000, {0x46, 0, 0, 0});
  bad("which no vector says");
}

TEST_F(OrderingTest, CqWritesEntriesAlone) {
  create_cq();
  writes(Client::kCq, kCq + 16 * 32, Bytes(32));
  bad("no entry of a CQ or EQ");
}

TEST_F(OrderingTest, AnAnswerOfAdminNeedsItsCommand) {
  create_cq();
  writes(Client::kAdminWrite, kAnswers, Bytes(32));
  bad("which was not read");
}

// --- b: WQEs are not read past the doorbell

TEST_F(OrderingTest, RingsAreReadUpToTheDoorbell) {
  create_qp();
  announces(6);
  reads(Client::kSqFetch, 1, kSq, 256);
  reads(Client::kSqFetch, 2, kSq + 256, 128);
  announces(11);
  reads(Client::kSqFetch, 3, kSq + 384, 128);
  reads(Client::kSqFetch, 4, kSq, 192);  // wraps around the ring
  announces(2, true);
  reads(Client::kRqFetch, 5, kRq, 128);
  good();
  EXPECT_EQ(o.findings().count("WQE reads"), 5U);
  reads(Client::kSqFetch, 6, kSq + 192, 64);
  bad("sq of QP 3: units 11 to 12 are read, the doorbell's index is 11");
}

TEST_F(OrderingTest, AReadMayNotEndBehindTheDoorbell) {
  create_qp();
  announces(1, true);
  reads(Client::kRqFetch, 1, kRq, 128);
  bad("rq of QP 3: units 0 to 2 are read, the doorbell's index is 1 and unit 0 is the next");
}

TEST_F(OrderingTest, ADoorbellThatWasRefusedOrHasNoEffectYetDoesNotCount) {
  create_qp();
  rings(3, false, 9);
  takes_effect(3, false, 9, false);
  rings(3, false, 1);
  reads(Client::kSqFetch, 1, kSq, 64);
  bad("units 0 to 1 are read, the doorbell's index is 0");
}

TEST_F(OrderingTest, ADoorbellWasRungByTheHost) {
  create_qp();
  rings(3, false, 1);
  rings(3, false, 2);
  takes_effect(3, false, 2);  // the first doorbell was dropped
  good();
  takes_effect(3, false, 1);
  bad("a doorbell took effect that the host did not ring: sq of QP 3, index 1");
}

TEST_F(OrderingTest, APushStandsForARead) {
  create_qp();
  rings(3, false, 2);
  commit(spec::QpPushCommit{.qpn = 3, .first = 0, .units = 2});
  takes_effect(3, false, 2);
  announces(3);
  reads(Client::kSqFetch, 1, kSq + 128, 64);
  good();
  commit(spec::QpPushCommit{.qpn = 3, .first = 3, .units = 1});
  bad("a pushed WQE of QP 3 ends at unit 4, which no doorbell says");
}

TEST_F(OrderingTest, AFailedReadMayBeRepeated) {
  create_qp();
  announces(2);
  reads(Client::kSqFetch, 1, kSq, 128);
  step([&] {
    o.dma_piece({.tag = 1, .status = spec::RdStatus::kAborted, .is_last = true, .data = {}});
  });
  reads(Client::kSqFetch, 1, kSq, 128);
  good();
}

TEST_F(OrderingTest, OnlyRingsOfQpsThatWereCreatedAreRead) {
  create_qp(3, spec::AdminStatus::kBadArgument);
  announces(2);
  reads(Client::kSqFetch, 1, kSq, 64);
  bad("which is in no ring");
}

TEST_F(OrderingTest, ADestroyedQpIsNotRead) {
  create_qp();
  announces(2);
  command(spec::AdminOpcode::kDestroyQp, 3, spec::AdminQpArgs{});
  reads(Client::kSqFetch, 1, kSq, 64);
  bad("which is in no ring");
}

TEST_F(OrderingTest, WholeUnitsAreRead) {
  create_qp();
  announces(8);
  reads(Client::kSqFetch, 1, kSq + 32, 64);
  bad("not whole units of its ring");
}

// --- c: a responder reads late enough

class ResponderTest : public OrderingTest {
 protected:
  ResponderTest() { starts(3); }
  void requested(uint32_t size, uint16_t qpn = 3) {
    received(qpn, read_request(0xaa00, 0x5000, size));
    verdict(qpn);
  }
  void scheduled(spec::TxSource source, uint16_t qpn = 3) {
    commit(spec::DdpSegmentCommit{.qpn = qpn, .source = source});
  }
  void looked_up(uint64_t to, uint32_t length, uint32_t stag = 0xaa00, bool last = true) {
    commit(spec::TptCheckCommit{
        .client = 1, .stag = stag, .tagged_offset = to, .length = length, .last = last});
  }
  void left(uint16_t qpn = 3) { commit(spec::DdpUlpduCommit{.qpn = qpn}); }
  void payload_read(uint32_t length) {
    reads(Client::kPayload, static_cast<uint8_t>(tag_++), 0x700000, length);
  }

 private:
  unsigned tag_ = 0;
};

TEST_F(ResponderTest, ReadsAfterWhatWasJudgedBeforeTheRequest) {
  received(3, write(bytes(64, 1)));
  verdict(3);
  requested(600);
  received(3, write(bytes(64, 80)));  // after the request: need not be placed
  verdict(3);
  scheduled(spec::TxSource::kSq);
  scheduled(spec::TxSource::kResp);
  looked_up(0x100, 32, 0xbb00, false);
  looked_up(0x200, 32, 0xbb00);
  looked_up(0x5000, 400);
  payload_read(32);
  payload_read(32);
  places(bytes(64, 1));
  payload_read(256);
  payload_read(144);
  left();
  left();
  scheduled(spec::TxSource::kResp);
  looked_up(0x5190, 200);
  payload_read(200);
  left();
  good();
  EXPECT_EQ(o.findings().count("response reads"), 3U);
}

TEST_F(ResponderTest, DoesNotReadBefore) {
  received(3, write(bytes(64, 1)));
  verdict(3);
  requested(100);
  scheduled(spec::TxSource::kResp);
  looked_up(0x5000, 100);
  payload_read(100);
  places(bytes(64, 1));
  good();
  left();
  bad("a response of QP 3 reads 0x700000 before what was judged before its request is placed: "
      "of a segment of QP 3 judged before, 0 of 64");
}

TEST_F(ResponderTest, OfAnotherStreamNeedNotWait) {
  starts(4);
  received(4, write(bytes(64, 1)));
  verdict(4);
  requested(100);
  scheduled(spec::TxSource::kResp);
  looked_up(0x5000, 100);
  payload_read(100);
  left();
  good();
}

TEST_F(ResponderTest, AnEmptyReadHasNoLookUp) {
  received(3, write(bytes(64, 1)));
  verdict(3);
  requested(0);
  scheduled(spec::TxSource::kResp);
  scheduled(spec::TxSource::kSq);
  places(bytes(64, 1));
  left();
  looked_up(0x5000, 100);  // of the send queue
  payload_read(100);
  left();
  good();
}

/// The response still waits for the segments judged before its request (RFC 5040 section 5.5, rule
/// 12).
TEST_F(ResponderTest, AnEmptyReadIsNotAnsweredBefore) {
  received(3, write(bytes(64, 1)));
  verdict(3);
  requested(0);
  scheduled(spec::TxSource::kResp);
  left();
  bad("a response without payload of QP 3 leaves before what was judged");
}

TEST_F(ResponderTest, TwoLookUpsThatCouldBeItsAreUnsure) {
  received(3, write(bytes(64, 1)));
  verdict(3);
  requested(100);
  scheduled(spec::TxSource::kSq);
  scheduled(spec::TxSource::kResp);
  looked_up(0x5000, 100);  // the send queue's
  payload_read(100);
  places(bytes(64, 1));
  looked_up(0x5000, 100);
  payload_read(100);
  left();
  left();
  good();
  EXPECT_EQ(o.findings().count("unsure"), 1U);
}

TEST_F(ResponderTest, AfterAFailedLookUpNothingIsSaidUntilAllIsQuiet) {
  starts(4);
  scheduled(spec::TxSource::kSq, 4);
  looked_up(0x9000, 50, 0xcc00);  // refused: no read follows
  commit(spec::RdmapOpCommit{.op = 2, .qpn = 4});
  for (const bool again : {false, true}) {
    received(3, write(bytes(64, 1)));
    verdict(3);
    requested(100);
    scheduled(spec::TxSource::kResp);
    looked_up(0x5000, 100);
    payload_read(100);
    places(bytes(64, 1));
    left();
    if (again) {
      bad("a response of QP 3 reads");
    } else {
      good();
      now += PayloadOrder::kResumeCycles + 1;
      starts(3);
    }
  }
}

TEST_F(ResponderTest, AReadOfPayloadThatNoLookUpExplains) {
  starts(4);
  payload_read(64);
  good();
  EXPECT_THAT(o.end(), testing::HasSubstr("64 bytes of payload are read from 0x700000"));
  now += PayloadOrder::kResumeCycles + 1;
  scheduled(spec::TxSource::kSq, 4);
  looked_up(0x9000, 50, 0xcc00);
  bad("64 bytes of payload are read from 0x700000");
}

TEST_F(ResponderTest, AReadOfAnotherLengthThanWasLookedUp) {
  scheduled(spec::TxSource::kSq);
  looked_up(0x9000, 50, 0xcc00);
  payload_read(51);
  EXPECT_THAT(o.end(), testing::HasSubstr("51 bytes of payload are read"));
}

/// A lookup has failed. The checker assigns later reads to it until rdmap takes the failure.
TEST_F(ResponderTest, ALookUpThatFailedExplainsWhatComesBehindIt) {
  starts(4);
  scheduled(spec::TxSource::kSq, 4);
  looked_up(0x9000, 50, 0xcc00);
  scheduled(spec::TxSource::kSq);
  looked_up(0xa000, 90, 0xdd00);
  payload_read(90);
  commit(spec::RdmapOpCommit{.op = 2, .qpn = 4});
  good();
  EXPECT_EQ(o.end(), "");
}

// --- d: MMIO responses do not pass writes

class MmioTest : public OrderingTest {
 protected:
  MmioTest() { create_cq(); }
  /// A beat of a write of cq (client 5) that is not its last one.
  void beat() {
    step([&] { o.commit(spec::DmaWrCommit{.client = 5}); });
  }
};

TEST_F(MmioTest, AnAnswerWaitsForTheTlpUnderWay) {
  beat();
  reads_register();
  reads_register();
  completes();  // last beat of the TLP
  answers_register();
  beat();  // starts after the read: the response need not wait
  answers_register();
  good();
  EXPECT_EQ(o.findings().count("MMIO answers"), 2U);
}

TEST_F(MmioTest, AnAnswerDoesNotPassTheTlpUnderWay) {
  beat();
  reads_register();
  beat();
  answers_register();
  bad("an MMIO answer passes dma_wr");
}

TEST_F(MmioTest, AnAnswerDoesNotPassTheTlpOnOffer) {
  step([&] {
    o.mmio({.is_write = false, .data = {}});
    o.dma_write_waits();
  });
  answers_register();
  bad("an MMIO answer passes dma_wr");
}

TEST_F(MmioTest, AnAnswerNeedsARead) {
  answers_register();
  bad("no read waits for one");
}

// --- e: the bus's rules

TEST_F(OrderingTest, RequestsStayInTheirPageAndLimits) {
  create_qp();
  reads(Client::kPayload, 1, 0x1e00, 512);
  good();
}

class BusTest
    : public OrderingTest,
      public testing::WithParamInterface<std::tuple<bool, uint64_t, uint32_t, const char*>> {};
TEST_P(BusTest, IsKept) {
  const auto [is_write, address, length, why] = GetParam();
  starts(3);
  received(3, write(bytes(1000, 1)));
  verdict(3);
  if (is_write)
    writes(Client::kPlace, address, bytes(length, 1));
  else
    reads(Client::kAdmin, 1, address, length);
  bad(why);
}
INSTANTIATE_TEST_SUITE_P(
    Each, BusTest,
    testing::Values(std::tuple{true, 0x1fc0, 65, "write of 65 bytes at 0x1fc0 crosses 4 KiB"},
                    std::tuple{true, 0x1000, 257, "write of 257 bytes at 0x1000: the limit is 256"},
                    std::tuple{true, 0x1000, 0, "write of no bytes"},
                    std::tuple{false, 0x1fc0, 65, "read of 65 bytes at 0x1fc0 crosses 4 KiB"},
                    std::tuple{false, 0x1000, 513, "read of 513 bytes at 0x1000: the limit is 512"},
                    std::tuple{false, 0x1000, 0, "read of no bytes"}));

TEST_F(OrderingTest, LimitsFollowTheConfigurationAfterAWhile) {
  o.pcie({.bus_master = 1, .mps = 0, .mrrs = 0});
  reads(Client::kPayload, 1, 0x1000, 512);
  good();
  now += PortOrder::kSettleCycles;
  reads(Client::kPayload, 2, 0x1000, 512);
  bad("read of 512 bytes at 0x1000: the limit is 128");
}

TEST_F(OrderingTest, OnlyPayloadIsRelaxed) {
  create_cq();
  writes(Client::kCq, kCq, Bytes(32), true);
  bad("is relaxed and not payload");
}

TEST_F(OrderingTest, ATagIsUsedOnceAtATime) {
  reads(Client::kPayload, 1, 0x1000, 64);
  answers(1, bytes(64, 0));
  reads(Client::kPayload, 1, 0x2000, 64);
  good();
  reads(Client::kPayload, 1, 0x3000, 64);
  bad("read of 0x3000 with tag 1, which waits for its answer");
}

TEST_F(OrderingTest, AnAnswerHasAReadsTag) {
  answers(1, bytes(64, 0));
  bad("an answer with tag 1, which no read has");
}

TEST_F(OrderingTest, ResetForgetsAllButTheFirstViolation) {
  create_qp();
  reads(Client::kAdmin, 1, 0x1000, 64);
  o.reset();
  reads(Client::kAdmin, 1, 0x1000, 64);
  good();
  reads(Client::kSqFetch, 2, kSq, 64);
  bad("in no ring");
  const std::string first = o.failure();
  reads(Client::kAdmin, 1, 0x1000, 64);
  EXPECT_EQ(o.failure(), first);
}

}  // namespace
}  // namespace rnic::sim
