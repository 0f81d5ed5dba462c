// Atomics and Atomic Writes in rdmap: turn, response, result, stop. The bytes are the golden FPDUs
// of requirements.md section 12. R7306-5-01 to 5.2.2; RPMEM-3.1.3.1.
//
// The bench plays qp, ddp, tpt and the peer (rdmap_world.hpp), and unit atomic:
//   responder   the peer's request comes as a segment. In its turn rdmap sends atomic_req; the
//               bench responds with atomic_rsp, whose value goes into the message on tx_message.
//   requester   a posted atomic leaves as a request. The peer's response comes as a segment; rdmap
//               sends its old value as atomic_req kResult, to be stored in the sink. After
//               atomic_rsp rdmap reports res_done to qp.
//   turn        earlier placements are done (placed_i has reached their number), and ddp has
//               fetched the payload of earlier Reads (resp_fetched)
//   stop        rdmap sends atomic_dead, so that atomic drops what waits for a lock
#include "rdmap/rdmap_world.hpp"
#include "vectors/golden.hpp"

namespace rnic::tb {
namespace {

using spec::AtomicEnd;
using spec::AtomicOp;

constexpr uint16_t kQp = 3, kOther = 5;

/// The ULPDU of a golden FPDU.
Bytes ulpdu(const Bytes& fpdu) {
  const size_t n = size_t{fpdu[0]} << 8 | fpdu[1];
  return Bytes(fpdu.begin() + 2, fpdu.begin() + 2 + static_cast<std::ptrdiff_t>(n));
}
Bytes fetch_add() { return ulpdu(hex(golden::kAtomicRequest.bytes)); }
Bytes atomic_response() { return ulpdu(hex(golden::kAtomicResponse.bytes)); }
Bytes atomic_write() { return ulpdu(hex(golden::kAtomicWriteRequest.bytes)); }
Bytes atomic_written() { return ulpdu(hex(golden::kAtomicWriteResponse.bytes)); }

template <class D>
class RdmapAtomic : public RdmapWorld<D> {
 protected:
  void begin(Pace pace, uint8_t ird = 4, uint8_t ord = 4) {
    this->start(pace);
    this->persist = 1;
    this->dut.top().placed_i = 0;
    auto p = this->params(ird, ord);
    p.persist = 1;
    this->run_qp(kQp, p);
  }
  spec::AtomicReq want_add() const {
    return {.op = AtomicOp::kFetchAdd,
            .qpn = kQp,
            .pd = 3,
            .slot = 0,
            .stag = 0x11223344,
            .tagged_offset = 0x2000,
            .right = spec::kAccessRemoteAtomic,
            .data = 1,
            .mask = 0,
            .compare = 0,
            .compare_mask = ~uint64_t{0}};
  }
  Message response(uint32_t id, uint64_t value, uint8_t slot) {
    Message m{{.qpn = kQp,
               .source = TxSource::kResp,
               .opcode = RdmapOpcode::kAtomicResponse,
               .qn = 3,
               .length = 12,
               .is_inline = 1,
               .slot = slot},
              Bytes(12)};
    spec::AtomicResponse{.request_id = id, .value = value}.pack(m.body);
    return m;
  }
  /// Expects that rdmap sends no request to unit atomic for a while.
  void expect_none() {
    this->dut.settle();
    EXPECT_TRUE(this->dut.atomic_req.empty());
  }
};
TYPED_TEST_SUITE(RdmapAtomic, RtlDuts);

// The request on atomic_req, and the response on tx_message.
TYPED_TEST(RdmapAtomic, IsServedAndAnswered) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    this->expect_good(kQp, fetch_add(), this->good(false));
    EXPECT_EQ(this->dut.atomic_req.take(), this->want_add());
    this->dut.settle();
    EXPECT_TRUE(this->dut.tx_message_hdr.empty());
    this->dut.atomic_rsp.put({.op = AtomicOp::kFetchAdd, .qpn = kQp, .slot = 0, .value = 41});
    this->expect_message(this->response(7, 41, 0));
    this->free_response(kQp);

    // An Atomic Write requires the right to write. Its response is empty.
    this->expect_good(kQp, atomic_write(), this->good(false));
    EXPECT_EQ(this->dut.atomic_req.take(), (spec::AtomicReq{.op = AtomicOp::kWrite,
                                                            .qpn = kQp,
                                                            .pd = 3,
                                                            .slot = 1,
                                                            .stag = 0x11223344,
                                                            .tagged_offset = 0x3000,
                                                            .right = spec::kAccessRemoteWrite,
                                                            .data = 0x0102030405060708}));
    this->dut.atomic_rsp.put({.op = AtomicOp::kWrite, .qpn = kQp, .slot = 1});
    const Message m = this->take_message();
    EXPECT_EQ(m.hdr.opcode, RdmapOpcode::kAtomicWriteResponse);
    EXPECT_EQ(m.hdr.qn, 3);
    EXPECT_EQ(m.hdr.length, 0U);
    EXPECT_EQ(m.hdr.num_sge, 0);
    this->expect_silence();
  });
}

// An atomic waits for earlier placements and for the payload of earlier Reads (ambiguities.md 2.2,
// Another QP does not wait.
TYPED_TEST(RdmapAtomic, WaitsForItsTurn) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    auto p = this->params(4, 4, 8, 8);
    p.persist = 1;
    this->run_qp(kOther, p);
    this->expect_good(kQp, this->write(40), this->good(true));
    this->expect_good(kQp, fetch_add(), this->good(false));
    this->expect_none();
    this->dut.top().placed_i = 1;
    (void)this->dut.atomic_req.take();
    this->dut.atomic_rsp.put({.op = AtomicOp::kFetchAdd, .qpn = kQp, .slot = 0});
    (void)this->take_message();
    this->free_response(kQp);

    // Two Reads. ddp frees their slots before it has fetched their payload (resp_fetched).
    for (const uint8_t slot : Some<uint8_t>{1, 2}) {
      const auto r = this->request(64);
      this->expect_good(kQp, r, this->good(false));
      this->expect_message(this->RdmapWorld<TypeParam>::response(kQp, r, slot, 1));
      this->free_response(kQp);
    }
    this->expect_good(kQp, fetch_add(), this->good(false));
    this->expect_none();
    this->expect_good(kOther, fetch_add(), this->good(false));
    EXPECT_EQ(this->dut.atomic_req.take().qpn, kOther);
    this->dut.resp_fetched.put({.qpn = kQp});
    this->expect_none();
    this->dut.resp_fetched.put({.qpn = kQp});
    EXPECT_EQ(this->dut.atomic_req.take().slot, 3);
  });
}

// If unit atomic could not execute a request, the QP fails. A refused lookup has the causes of a
// Read. A misaligned or unread word has the cause rdmap_length (Terminate 0/2/07, catastrophic
// error localized to the RDMAP stream). The Terminate contains the DDP header.
TYPED_TEST(RdmapAtomic, FailuresAreTold) {
  struct Row {
    AtomicEnd ending;
    TptResult result;
    Cause cause;
  };
  for (const Row& row : {Row{AtomicEnd::kRefused, TptResult::kStag, Cause::kRdmapStag},
                         Row{AtomicEnd::kRefused, TptResult::kRights, Cause::kRdmapRights},
                         Row{AtomicEnd::kRefused, TptResult::kBounds, Cause::kRdmapBounds},
                         Row{AtomicEnd::kRefused, TptResult::kAssoc, Cause::kRdmapAssoc},
                         Row{AtomicEnd::kRefused, TptResult::kWrap, Cause::kRdmapWrap},
                         Row{AtomicEnd::kRefused, TptResult::kAlign, Cause::kRdmapLength},
                         Row{AtomicEnd::kUnread, TptResult::kOk, Cause::kRdmapLength}}) {
    SCOPED_TRACE(spec::to_string(row.cause));
    this->begin({});
    this->expect_good(kQp, fetch_add(), this->good(false));
    (void)this->dut.atomic_req.take();
    this->dut.atomic_rsp.put(
        {.op = AtomicOp::kFetchAdd, .qpn = kQp, .ending = row.ending, .result = row.result});
    this->expect_error(kQp, row.cause, terminate(row.cause, fetch_add()));
    this->stop_qp(kQp);
    this->expect_silence();
  }
}

// Bad requests are not forwarded to unit atomic.
TYPED_TEST(RdmapAtomic, BadRequestsAreRefused) {
  const auto with = [](Bytes b, size_t at, uint8_t to) {
    b[at] = to;
    return b;
  };
  // Octets of a ULPDU: 0 T, L and DV; 1 RV and opcode; 2 to 5 an STag to be invalidated; 18 to 21
  // AOpCode of an atomic; 22 to 25 length of an Atomic Write.
  const Bytes add = fetch_add(), write = atomic_write();
  struct Row {
    Bytes ulpdu;
    Cause cause;
  };
  std::vector<Row> rows{{with(add, 21, 1), Cause::kRdmapOpcode},  // AOpCode 1, A-08
                        {with(add, 21, 3), Cause::kRdmapOpcode},
                        {with(add, 0, 0x01), Cause::kRdmapLength},  // not the last segment
                        {with(write, 25, 9), Cause::kRdmapLength},  // length 9
                        {with(write, 5, 1), Cause::kRdmapLength},   // STag to be invalidated, A-05
                        {with(write, 1, 0x51), Cause::kRdmapOpcode},
                        {with(write, 1, 0x52), Cause::kRdmapOpcode},
                        {Bytes(add.begin(), add.end() - 1), Cause::kRdmapLength},
                        {Bytes(write.begin(), write.end() - 1), Cause::kRdmapLength}};
  for (const Row& row : rows) {
    this->begin({});
    this->expect_bad(kQp, row.ulpdu, row.cause);
    this->expect_none();
  }
  // Without the extensions both opcodes are unknown. 0x51 on QN 1 is a Read Request with a reserved
  // bit set.
  for (const Bytes& b : {add, write}) {
    this->begin({});
    this->persist = 0;
    this->expect_bad(kQp, b, Cause::kRdmapOpcode);
  }
  this->begin({});
  this->persist = 0;
  auto read = this->request(64);
  read[1] = 0x51;
  this->expect_good(kQp, read, this->good(false));
  this->expect_message(this->RdmapWorld<TypeParam>::response(kQp, read, 0, 0));
}

// Our own atomics: the bytes of the request, and the old value sent to the sink.
TYPED_TEST(RdmapAtomic, ResultGoesToItsSink) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    const auto post = [&](WrOpcode op, uint8_t slot, const Bytes& body) {
      return this->post({.qpn = kQp,
                         .slot = slot,
                         .opcode = op,
                         .is_inline = 1,
                         .length = u32(body.size()),
                         .remote_to = 0x2000,
                         .remote_stag = 0x11223344},
                        body);
    };
    Bytes operands(48);
    spec::AtomicOperands{.sink = {.address = 0x9000, .length = 8, .lkey = 0x55},
                         .data = 1,
                         .mask = 0,
                         .compare = 5,
                         .compare_mask = 6}
        .pack(operands);
    (void)post(WrOpcode::kAtomicFetchAndAdd, 1, operands);
    Message m = this->take_message();
    const Bytes add = fetch_add();
    Bytes want(add.begin() + 18, add.end());
    want[7] = 1;  // the Request Identifier is the MSN
    EXPECT_EQ(m.body, want);
    EXPECT_EQ(m.hdr.opcode, RdmapOpcode::kAtomicRequest);
    EXPECT_EQ(m.hdr.qn, 1);
    (void)post(WrOpcode::kAtomicCmpAndSwp, 2, operands);
    m = this->take_message();
    EXPECT_EQ(m.body,
              hex("00000002 00000002 11223344 0000000000002000 0000000000000001 0000000000000000"
                  "0000000000000005 0000000000000006"));
    (void)post(WrOpcode::kAtomicWrite, 3, hex("0807060504030201"));
    m = this->take_message();
    EXPECT_EQ(m.body, hex("11223344 00000008 0000000000002000 0102030405060708"));
    EXPECT_EQ(m.hdr.opcode, RdmapOpcode::kAtomicWriteRequest);

    auto answer = atomic_response();
    answer[21] = 1;  // the Request Identifier
    this->expect_good(kQp, answer, this->good(false));
    EXPECT_EQ(this->dut.atomic_req.take(), (spec::AtomicReq{.op = AtomicOp::kResult,
                                                            .qpn = kQp,
                                                            .pd = 3,
                                                            .slot = 1,
                                                            .stag = 0x55,
                                                            .tagged_offset = 0x9000,
                                                            .right = spec::kAccessLocalWrite,
                                                            .data = 41}));
    this->dut.settle();
    EXPECT_TRUE(this->dut.res_done.empty());
    this->dut.atomic_rsp.put({.op = AtomicOp::kResult, .qpn = kQp, .slot = 1});
    EXPECT_EQ(this->dut.res_done.take(), (spec::ResDone{.qpn = kQp, .slot = 1}));

    // tpt refuses the sink of the second atomic: the QP fails at that request.
    answer[21] = 2;
    this->expect_good(kQp, answer, this->good(false));
    (void)this->dut.atomic_req.take();
    this->dut.atomic_rsp.put({.op = AtomicOp::kResult,
                              .qpn = kQp,
                              .slot = 2,
                              .ending = AtomicEnd::kRefused,
                              .result = TptResult::kRights});
    const auto e = this->expect_error(kQp, Cause::kLocalCatastrophic,
                                      terminate(Cause::kLocalCatastrophic, {}));
    EXPECT_TRUE(e.has_wr && e.slot == 2 && e.status == WcStatus::kLocProtErr) << e.describe();
  });
}

// A response must match the oldest request in kind, and for an atomic also in its identifier
//
TYPED_TEST(RdmapAtomic, AResponseThatDoesNotFitCompletesNothing) {
  const auto post = [&](WrOpcode op) {
    Bytes body(op == WrOpcode::kAtomicWrite ? 8 : 48);
    (void)this->post({.qpn = kQp, .opcode = op, .is_inline = 1, .length = u32(body.size())}, body);
    (void)this->take_message();
  };
  this->begin({});
  post(WrOpcode::kAtomicFetchAndAdd);
  this->expect_bad(kQp, atomic_response(), Cause::kRdmapLength);  // identifier 7, not 1
  this->begin({});
  post(WrOpcode::kAtomicFetchAndAdd);
  this->expect_bad(kQp, atomic_written(), Cause::kRdmapOpcode);
  this->begin({});
  post(WrOpcode::kAtomicWrite);
  auto answer = atomic_response();
  answer[21] = 1;
  this->expect_bad(kQp, answer, Cause::kRdmapOpcode);
  this->begin({});
  this->expect_bad(kQp, atomic_written(), Cause::kRdmapOpcode);
  this->begin({});
  post(WrOpcode::kAtomicWrite);
  this->expect_good(kQp, atomic_written(), this->good(false, DeliverKind::kRead, false, 0));
}

// A stop is acknowledged after unit atomic has returned all requests of the QP. rdmap reports the
// stop to unit atomic on atomic_dead, so that it may drop them.
TYPED_TEST(RdmapAtomic, StopWaitsForUnitAtomic) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    this->expect_good(kQp, fetch_add(), this->good(false));
    (void)this->dut.atomic_req.take();
    // Discards what the start has put on atomic_dead.
    while (!this->dut.atomic_dead.empty()) (void)this->dut.atomic_dead.take();
    this->dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = kQp});
    EXPECT_EQ(this->dut.atomic_dead.take().qpn, kQp);
    this->dut.settle();
    EXPECT_TRUE(this->dut.qp_ack.empty());
    this->dut.atomic_rsp.put(
        {.op = AtomicOp::kFetchAdd, .qpn = kQp, .ending = AtomicEnd::kDropped});
    EXPECT_EQ(this->dut.qp_ack.take().qpn, kQp);

    // A request that waits for its turn is dropped. The restarted QP has no trace of it.
    auto p = this->params();
    p.persist = 1;
    this->run_qp(kQp, p);
    this->expect_good(kQp, this->write(40), this->good(true));
    this->expect_good(kQp, fetch_add(), this->good(false));
    this->expect_none();
    this->stop_qp(kQp);
    this->dut.top().placed_i = 1;
    this->run_qp(kQp, p);
    this->expect_none();
    this->expect_good(kQp, fetch_add(), this->good(false));
    EXPECT_EQ(this->dut.atomic_req.take(), this->want_add());
  });
}

// Failures in adjacent cycles: each QP reports its own failure, and each stop is acknowledged.
TYPED_TEST(RdmapAtomic, FailuresOfManyQpsComeTogether) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    constexpr uint16_t kQps = 4;
    for (uint16_t q = 0; q < kQps; ++q) {
      auto p = this->params(4, 4, u16(4 * q), u16(4 * q));
      p.persist = 1;
      if (q != kQp) this->run_qp(q, p);
    }
    this->stop_qp(kQp);
    auto own = this->params(4, 4, 4 * kQp, 4 * kQp);
    own.persist = 1;
    this->run_qp(kQp, own);
    for (uint16_t q = 0; q < kQps; ++q) {
      this->expect_good(q, fetch_add(), this->good(false));
      EXPECT_EQ(this->dut.atomic_req.take().qpn, q);
    }
    for (uint16_t q = 0; q < kQps; ++q)
      this->dut.atomic_rsp.put({.op = AtomicOp::kFetchAdd,
                                .qpn = q,
                                .ending = AtomicEnd::kRefused,
                                .result = TptResult::kStag});
    for (uint16_t q = 0; q < kQps; ++q)
      this->expect_error(q, Cause::kRdmapStag, terminate(Cause::kRdmapStag, fetch_add()));
    for (uint16_t q = 0; q < kQps; ++q) this->stop_qp(q);
    this->expect_silence();
  });
}

// A refused result, and a good result of another QP right after it: each counts once, and stops
// still work.
TYPED_TEST(RdmapAtomic, AResultBehindARefusedOne) {
  each_pace([&](Pace pace) {
    this->begin(pace);
    auto p = this->params(4, 4, 8, 8);
    p.persist = 1;
    this->run_qp(kOther, p);
    for (int round = 0; round < 12; ++round) {  // more rounds than the queue has entries
      for (const uint16_t q : Some<uint16_t>{kQp, kOther}) {
        Bytes operands(48);
        spec::AtomicOperands{.sink = {.address = 0x9000, .length = 8, .lkey = 0x55}}.pack(operands);
        (void)this->post({.qpn = q,
                          .slot = 5,
                          .opcode = WrOpcode::kAtomicFetchAndAdd,
                          .is_inline = 1,
                          .length = 48},
                         operands);
        const auto m = this->take_message();
        auto answer = atomic_response();
        std::copy_n(m.body.begin() + 4, 4, answer.begin() + 18);  // the Request Identifier
        this->expect_good(q, answer, this->good(false));
        EXPECT_EQ(this->dut.atomic_req.take().qpn, q);
      }
      this->dut.atomic_rsp.put({.op = AtomicOp::kResult,
                                .qpn = kQp,
                                .slot = 5,
                                .ending = AtomicEnd::kRefused,
                                .result = TptResult::kRights});
      this->dut.atomic_rsp.put({.op = AtomicOp::kResult, .qpn = kOther, .slot = 5});
      this->expect_error(kQp, Cause::kLocalCatastrophic, terminate(Cause::kLocalCatastrophic, {}));
      EXPECT_EQ(this->dut.res_done.take(), (spec::ResDone{.qpn = kOther, .slot = 5}));
      auto own = this->params();
      own.persist = 1;
      this->restart_qp(kQp, own);
    }
    this->stop_qp(kOther);
  });
}

}  // namespace
}  // namespace rnic::tb
