// rdmap, the message layer, with the bench as its neighbours (rdmap_world.hpp). Contract:
// docs/theory-of-operation.md, rdmap; requirements.md 2 to 7 and 12.
//
//   qp      run_qp(), stop_qp(): orders. post(): a WQE; it becomes a message on tx_message. In the
//           other direction: qp_error, the first error of a QP.
//   ddp     put_segment(): a received segment; rdmap returns a verdict on it. free_response():
//           the slot of a response is free; rdmap then sends the QP's next response.
//   tpt     dut.check: the result of the check of a Read's source, before its response
//   peer    write(), send(), request(), answer(): the bytes (ULPDUs) of its segments
//
// expect_good(qp, segment, good(place, deliver, solicited, slot)): rdmap accepts the segment with
// this verdict. expect_bad(): rdmap refuses it, reports its cause as qp_error, and sends a
// Terminate that shows its header. params(ird, ord, first IRD slot, first ORD slot): 4, 4, 0, 0 by
// default. The second octet of a segment is RV 1 (0x40) and the opcode: 0x40 Write, 0x41 Read
// Request, 0x42 Read Response, 0x43 Send, 0x47 Terminate.
#include <gtest/gtest.h>

#include "rdmap/rdmap_world.hpp"

namespace rnic::tb {
namespace {

template <class D>
class RdmapTest : public RdmapWorld<D> {};
TYPED_TEST_SUITE(RdmapTest, Duts);

/// RTL only: what depends on cycles, stalled streams, and checks without a response. In the model a
/// check is a call and a message is sent whole: neither can be in flight.
template <class D>
class RdmapRtlTest : public RdmapTest<D> {};
TYPED_TEST_SUITE(RdmapRtlTest, RtlDuts);

// The QP under test. Where any bad segment will do, it is a tagged one with opcode 3 (octet 0x43):
// a Send is never tagged.
constexpr uint16_t kQp = 5;

/// A golden FPDU of requirements.md section 12 without its length, pad and CRC.
Bytes golden(std::string_view text) {
  const auto all = hex(text);
  const auto n = base::load_be<uint16_t>(all.data());
  return {all.begin() + 2, all.begin() + 2 + n};
}
constexpr std::string_view kWrite =
    "0013c140 11223344 01020304 05060708 68656c6c 6f000000 1fb1004d";
constexpr std::string_view kReadRequest =
    "002e4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000 00001000 11223344 "
    "00000000 00002000 3fdc639c";
constexpr std::string_view kSend = "00154143 00000000 00000000 00000001 00000000 61626300 447065aa";
constexpr std::string_view kFlushRequest =
    "0026414c 00000000 00000001 00000003 00000000 11223344 00001000 00000000 00002000 00000003 "
    "40d568a0";
constexpr std::string_view kFlushResponse = "0012414d 00000000 00000003 00000002 00000000 ac773ca4";
constexpr std::string_view kTerminate =
    "00464147 00000000 00000002 00000001 00000000 0101e000 002e4141 00000000 00000001 00000001 "
    "00000000 aabbccdd 00000000 "
    "00001000 00001000 11223344 00000000 00002000 40f7c6bc";

TYPED_TEST(RdmapTest, GoldenFpdus) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    this->post({.qpn = kQp,
                .slot = 1,
                .opcode = WrOpcode::kRdmaWrite,
                .is_inline = 1,
                .length = 5,
                .remote_to = 0x0102030405060708,
                .remote_stag = 0x11223344},
               {'h', 'e', 'l', 'l', 'o'});
    EXPECT_EQ(first_ulpdu(this->take_message()), golden(kWrite));
    Bytes sge(16);
    spec::WqeSge{.address = 0x1000, .length = 0x1000, .lkey = 0xaabbccdd}.pack(sge);
    this->post({.qpn = kQp,
                .slot = 2,
                .opcode = WrOpcode::kRdmaRead,
                .num_sge = 1,
                .length = 0x1000,
                .remote_to = 0x2000,
                .remote_stag = 0x11223344},
               sge);
    EXPECT_EQ(first_ulpdu(this->take_message()), golden(kReadRequest));
    this->post({.qpn = kQp, .slot = 3, .opcode = WrOpcode::kSend, .is_inline = 1, .length = 3},
               {'a', 'b', 'c'});
    EXPECT_EQ(first_ulpdu(this->take_message()), golden(kSend));

    // The responder's side: the golden Read Request fails its bounds, and the golden Terminate is
    // sent.
    this->dut.check = [](const spec::RespCheck&) { return TptResult::kBounds; };
    this->expect_good(kQp, golden(kReadRequest), this->good(false));
    const auto e = this->dut.qp_error.take();
    EXPECT_EQ(e.cause, Cause::kRdmapBounds);
    EXPECT_EQ(first_ulpdu(this->take_message()), golden(kTerminate));
    const spec::RespCheck want{.stag = 0x11223344,
                               .tagged_offset = 0x2000,
                               .length = 0x1000,
                               .pd = 3,
                               .qpn = kQp,
                               .rights = spec::kAccessRemoteRead,
                               .last = 1};
    ASSERT_EQ(this->dut.checks.size(), 1U);
    EXPECT_EQ(this->dut.checks[0], want);
    this->expect_silence();
  });
}

// Flush, both sides: the golden FPDUs of requirements.md section 12, the rights by its flags, the
// byte that is read back, and which unit answers. RPMEM-3.1.1.1-01 to 04, 3.1.1.2-01, 02, A.1-01,
// A.2-01; A-19.
TYPED_TEST(RdmapTest, Flush) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto p = this->params(3, 3);
    p.persist = this->persist = 1;
    this->run_qp(kQp, p);
    const auto post = [&](uint8_t slot, uint8_t disposition) {
      return this->post({.qpn = kQp,
                         .slot = slot,
                         .opcode = WrOpcode::kFlush,
                         .length = 0x1000,
                         .remote_to = 0x2000,
                         .remote_stag = 0x11223344,
                         .disposition = disposition},
                        {});
    };
    const auto flags_of = [&](const Message& m) { return m.body.empty() ? 0xff : m.body.back(); };
    (void)post(1, 3);
    const Message request = this->take_message();
    const Bytes wanted = golden(kFlushRequest);
    EXPECT_EQ(request.body, Bytes(wanted.begin() + 18, wanted.end()));
    EXPECT_EQ(request.hdr.opcode, RdmapOpcode::kFlushRequest);
    EXPECT_EQ(request.hdr.qn, 1);
    EXPECT_EQ(request.hdr.length, 20U);
    EXPECT_EQ(request.hdr.done, 0);
    (void)post(2, 1);  // kind "global" of verbs is 2 on the wire
    EXPECT_EQ(flags_of(this->take_message()), 2);
    (void)post(3, 2);
    EXPECT_EQ(flags_of(this->take_message()), 1);
    const Bytes answer = golden(kFlushResponse);
    for (const uint8_t slot : Some<uint8_t>{1, 2, 3})
      this->expect_good(kQp, answer, this->good(false, DeliverKind::kRead, false, slot));

    // The responder, with a placement before the Flush.
    this->expect_good(kQp, this->write(40), this->good(true));
    this->expect_good(kQp, wanted, this->good(false));
    Message response{{.qpn = kQp,
                      .source = TxSource::kResp,
                      .opcode = RdmapOpcode::kFlushResponse,
                      .qn = 3,
                      .num_sge = 1,
                      .slot = 0,
                      .has_watermark = 1,
                      .watermark = 1},
                     Bytes(16)};
    spec::WqeSge{.address = 0x2000, .length = 1, .lkey = 0x11223344}.pack(response.body);
    this->expect_message(response);
    const spec::RespCheck check{.stag = 0x11223344,
                                .tagged_offset = 0x2000,
                                .length = 0x1000,
                                .pd = 3,
                                .qpn = kQp,
                                .rights = 0x300,  // to flush to both states
                                .last = 1};
    ASSERT_EQ(this->dut.checks.size(), 1U);
    EXPECT_EQ(this->dut.checks[0], check);

    // A Read waits until the Flush is final. Then the slot of the Flush is free.
    const auto read = this->request(64);
    this->expect_good(kQp, read, this->good(false));
    this->dut.settle();
    EXPECT_TRUE(this->dut.tx_message_hdr.empty());
    this->free_response(kQp);
    this->expect_message(this->response(kQp, read, 1, 1));
    this->free_response(kQp);

    // The read-back fails: the Terminate has the code 0/2/0A (flush_failed), the length of the
    // ULPDU (0x26) and the DDP header, but no RDMAP header.
    this->expect_good(kQp, wanted, this->good(false));
    (void)this->take_message();
    this->dut.tx_fault.put({.qpn = kQp,
                            .source = TxSource::kResp,
                            .slot = 2,
                            .offset = 0,
                            .status = spec::RdStatus::kPoisoned,
                            .result = TptResult::kOk});
    Bytes term = hex("020ac0000026");
    term.insert(term.end(), wanted.begin(), wanted.begin() + 18);
    this->expect_error(kQp, Cause::kFlushFailed, term);
    this->expect_silence();
  });
}

// A Flush Response to a Read and a Read Response to a Flush complete nothing. A-19.
TYPED_TEST(RdmapTest, AResponseOfTheOtherKindFitsNothing) {
  for (const bool of_read : {true, false}) {
    this->start({});
    auto p = this->params();
    p.persist = this->persist = 1;
    this->run_qp(kQp, p);
    const auto r = this->any_read(4, 0);
    if (of_read) {
      this->read(kQp, r);
      this->expect_bad(kQp, golden(kFlushResponse), Cause::kRdmapOpcode);
    } else {
      this->post({.qpn = kQp, .slot = 4, .opcode = WrOpcode::kFlush, .disposition = 1}, {});
      (void)this->take_message();
      this->expect_bad(kQp, this->answer({4, 0, 0, 0}, 0, 0, true), Cause::kRdmapOpcode);
    }
  }
}

// Every shape of a WQE's body, with many in flight: bytes and headers pass unchanged and in order.
TYPED_TEST(RdmapTest, BodiesPassThrough) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& rng = this->rng;
    for (uint16_t q = 0; q < 3; q++) this->run_qp(q, this->params(4, 32, 0, u16(q)));
    std::vector<Message> want;
    auto any = [&](WrOpcode op, bool is_inline, uint8_t sges, size_t bytes) {
      const auto length = u32(is_inline ? bytes : sges == 0 ? 0 : rng.next() >> 33);
      const auto qpn = u16(rng.below(3));
      want.push_back(this->post(
          {.qpn = qpn,
           .slot = u8(rng.below(64)),
           .opcode = op,
           .is_solicited =
               (op == WrOpcode::kSend || op == WrOpcode::kSendWithInv) && rng.percent(50),
           .is_inline = is_inline,
           .num_sge = sges,
           .length = length,
           .remote_to = rng.next(),
           .remote_stag = u32(rng.next())},
          rng.bytes(is_inline ? bytes : 16U * sges)));
    };
    for (uint8_t sges = 0; sges <= spec::kMaxSge; sges++) any(WrOpcode::kRdmaWrite, false, sges, 0);
    for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 129, 223, 224})
      any(rng.percent(50) ? WrOpcode::kSend : WrOpcode::kSendWithInv, true, 0, bytes);
    any(WrOpcode::kSendWithInv, false, 3, 0);
    any(WrOpcode::kSendWithInv, true, 0, 20);
    for (uint8_t i = 0; i < 10; i++) {  // Reads in between
      want.push_back(this->post_read(0, this->any_read(i, u32(rng.below(5000)))));
      any(rng.percent(50) ? WrOpcode::kSend : WrOpcode::kRdmaWrite, false, u8(rng.below(15)), 0);
    }
    want.push_back(this->post({.qpn = 0,
                               .slot = 63,
                               .opcode = WrOpcode::kRdmaRead,
                               .num_sge = 0,
                               .length = 0,
                               .remote_to = 8,
                               .remote_stag = 9},
                              {}));  // zero-length, to no address
    for (const auto& m : want) this->expect_message(m);
    this->expect_silence();
  });
}

// --- receive checks: version, opcode with T and QN, length; requirements.md section 3

TYPED_TEST(RdmapTest, VersionComesFirst) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (auto rv : Some<uint8_t>{0x00, 0x80, 0xc0}) {
      for (const auto& u :
           {this->tagged(rv, true, 1, 2, 10), this->untagged(u8(rv | 3U), true, 0, Bytes(7)),
            this->untagged(u8(rv | 15U), true, 1, Bytes(3)),
            this->untagged(u8(rv | 1U), false, 1, Bytes(27))}) {
        this->expect_bad(kQp, u, Cause::kRdmapVersion);
        this->restart_qp(kQp, this->params());
      }
    }
    this->expect_silence();
  });
}

TYPED_TEST(RdmapTest, OpcodeMustFitTagAndQueue) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (uint8_t op = 0; op < 16; op++) {
      for (unsigned qn = 0; qn < 4; qn++) {  // 3: tagged
        const bool is_tagged = qn == 3;
        const bool fits = is_tagged ? op == 0 || op == 2
                          : qn == 0 ? (op >= 3 && op <= 6) || op == 8 || op == 9
                          : qn == 1 ? op == 1
                                    : op == 7;
        if (fits) continue;
        const auto octet = u8(0x40U | op);
        const auto u = is_tagged ? this->tagged(octet, true, 7, 8, op)
                                 : this->untagged(octet, true, qn, Bytes(op + 20U));
        this->expect_bad(kQp, u, Cause::kRdmapOpcode);
        this->restart_qp(kQp, this->params());
      }
    }
    // Reserved bits are ignored. requirements.md section 2, ambiguities.md A-02
    for (auto reserved : Some<uint8_t>{0x10, 0x20, 0x30}) {
      auto u = this->send(9);
      u[1] = u8(u[1] | reserved);
      u[0] = u8(u[0] | 0x3cU);
      this->expect_good(kQp, u, this->good(true, DeliverKind::kRecv));
    }
    this->expect_silence();
  });
}

// Immediate Data: 8 bytes in one segment on QN 0, delivered with the verdict and not placed, on
// streams with and without the extensions. R7306-4.1-04, 6.3-02, 6.3-07, A-33
TYPED_TEST(RdmapTest, ImmediateDataIsDeliveredAndNotPlaced) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (const bool is_solicited : {false, true}) {
      const uint8_t octet = is_solicited ? 0x49 : 0x48;
      auto want = this->good(false, DeliverKind::kImmediate, is_solicited);
      want.immediate = 0x0102030405060708;
      this->expect_good(kQp, this->untagged(octet, true, 0, {1, 2, 3, 4, 5, 6, 7, 8}), want);
    }
    for (const size_t bytes : {0U, 7U, 9U, 64U}) {
      this->expect_bad(kQp, this->untagged(0x48, true, 0, Bytes(bytes)), Cause::kRdmapLength);
      this->restart_qp(kQp, this->params());
    }
    this->expect_bad(kQp, this->untagged(0x49, false, 0, Bytes(8)), Cause::kRdmapLength);
    this->restart_qp(kQp, this->params());
    for (const size_t octet : {14U, 17U}) {  // the end of a message that was a Send: an MO
      Bytes late = this->untagged(0x48, true, 0, Bytes(8));
      late[octet] = 1;
      this->expect_bad(kQp, late, Cause::kRdmapLength);
      this->restart_qp(kQp, this->params());
    }
    this->expect_silence();
  });
}

// Reserved bits of the octet are ignored in every message. R5040-4.1-10
TYPED_TEST(RdmapTest, ReservedBitsOfTheOctetAreIgnored) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (auto reserved : Some<uint8_t>{0x10, 0x20, 0x30}) {
      const auto with = [&](Bytes u) {
        u[1] = u8(u[1] | reserved);
        return u;
      };
      this->run_qp(kQp, this->params());
      this->expect_good(kQp, with(this->write(9)), this->good(true));
      this->expect_good(kQp, with(this->send(5, true, true)),
                        this->good(true, DeliverKind::kRecv, true));
      const auto mine = this->any_read(3, 40);
      this->read(kQp, mine);
      this->expect_good(kQp, with(this->answer(mine, 0, 40, true)),
                        this->good(true, DeliverKind::kRead, false, 3));
      this->placed += 3;
      const auto r = this->request(64);
      this->expect_good(kQp, with(r), this->good(false));
      this->expect_message(this->response(kQp, r, 0, this->placed));
      this->free_response(kQp);
      EXPECT_EQ(this->verdict(kQp, with(this->peer_terminate(hex("11000000")))).deliver,
                DeliverKind::kNothing);
      EXPECT_EQ(this->expect_error(kQp, Cause::kPeerTerminate, {}).peer_term, 0x1100);
      this->expect_silence();
      this->stop_qp(kQp);
    }
  });
}

// A Read Request has one segment of 28 bytes.
TYPED_TEST(RdmapTest, FixedLength) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (size_t n : {0, 1, 27, 29, 52, 1000}) {
      this->expect_bad(kQp, this->untagged(0x41, true, 1, this->rng.bytes(n)), Cause::kRdmapLength);
      this->restart_qp(kQp, this->params());
    }
    this->expect_bad(kQp, this->untagged(0x41, false, 1, this->rng.bytes(28)), Cause::kRdmapLength);
    this->restart_qp(kQp, this->params(0));  // length before IRD
    this->expect_bad(kQp, this->untagged(0x41, true, 1, this->rng.bytes(27)), Cause::kRdmapLength);
    this->expect_silence();
  });
}

TYPED_TEST(RdmapTest, GoodSegments) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (size_t n : {0, 1, 46, 50, 51, 1460, 65517}) {
      for (bool last : {false, true}) {
        this->expect_good(kQp, this->write(n, last), this->good(n != 0));
        for (bool se : {false, true}) {
          this->expect_good(
              kQp, this->send(n, last, se),
              this->good(n != 0, last ? DeliverKind::kRecv : DeliverKind::kNothing, se));
          // With Invalidate: the last segment delivers the STag of its header. R5040-3.1-09
          const Bytes inv = this->untagged(se ? 0x46 : 0x44, last, 0, Bytes(n));
          auto want =
              this->good(n != 0, last ? DeliverKind::kInvalidate : DeliverKind::kNothing, se);
          if (last) want.immediate = base::load_be<uint32_t>(&inv[2]);
          this->expect_good(kQp, inv, want);
        }
      }
    }
    this->expect_silence();
  });
}

// Errors found by ddp and mpa: their cause takes precedence over rdmap's, and decides the contents
// of the Terminate.
TYPED_TEST(RdmapTest, CausesFromBelow) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    for (const Cause c :
         {Cause::kMpaCrc, Cause::kMpaMarker, Cause::kDdpTaggedStag, Cause::kDdpTaggedBounds,
          Cause::kDdpTaggedAssoc, Cause::kDdpTaggedWrap, Cause::kDdpTaggedVersion,
          Cause::kDdpUntaggedQn, Cause::kDdpUntaggedNoBuffer, Cause::kDdpUntaggedMsn,
          Cause::kDdpUntaggedMo, Cause::kDdpUntaggedTooLong, Cause::kDdpUntaggedVersion,
          Cause::kRdmapInvProtected, Cause::kRdmapInvStag, Cause::kLocalCatastrophic}) {
      const bool is_tagged = c >= Cause::kDdpTaggedStag && c <= Cause::kDdpTaggedVersion;
      // The segments also have errors that rdmap would find by itself: RV 2 or 3, an unknown
      // opcode, a QN of more than 16 bits.
      const auto u = is_tagged ? this->tagged(0x8f, true, 1, 2, 3)
                               : this->untagged(0xc1, true, 0x10000, Bytes(28));
      this->expect_bad(kQp, u, c, c);
      this->restart_qp(kQp, this->params());
    }
    // Nothing to include in the Terminate: no byte at all, or less than a header.
    this->expect_bad(kQp, {}, Cause::kMpaCrc, Cause::kMpaCrc);
    for (size_t n : {0, 1, 17}) {
      this->restart_qp(kQp, this->params());
      this->expect_bad(kQp, Bytes(n, 0x41), Cause::kDdpUntaggedVersion, Cause::kDdpUntaggedVersion);
    }
    for (size_t n : {1, 13}) {
      this->restart_qp(kQp, this->params());
      this->expect_bad(kQp, Bytes(n, 0xc1), Cause::kDdpTaggedVersion, Cause::kDdpTaggedVersion);
    }
    this->restart_qp(kQp, this->params());
    this->expect_bad(kQp, Bytes(18, 0x41), Cause::kDdpUntaggedVersion, Cause::kDdpUntaggedVersion);
    this->expect_silence();
  });
}

// --- our Reads

TYPED_TEST(RdmapTest, ResponseMustFitTheOldestRead) {
  each_pace([&](Pace pace) {
    this->start(pace);
    const auto p = this->params();
    this->run_qp(kQp, p);
    this->expect_bad(kQp, this->tagged(0x42, true, 1, 2, 3),
                     Cause::kRdmapOpcode);  // no Read is outstanding
    this->restart_qp(kQp, p);
    this->expect_bad(kQp, this->tagged(0x42, true, 0, 0, 0), Cause::kRdmapOpcode);
    this->restart_qp(kQp, p);

    const auto first = this->any_read(11, 3000), second = this->any_read(12, 100),
               none = this->any_read(13, 0);
    auto begin = [&] {
      this->read(kQp, first);
      this->read(kQp, second);
      this->read(kQp, none);
      this->expect_good(kQp, this->answer(first, 0, 1000, false), this->good(true));
    };
    const std::vector<Bytes> bad = {
        this->tagged(0x42, false, first.stag ^ 0x100, first.to + 1000, 1000),       // STag
        this->tagged(0x42, false, first.stag, first.to, 1000),                      // TO repeated
        this->tagged(0x42, false, first.stag, first.to + 1001, 1000),               // a hole
        this->tagged(0x42, false, first.stag, first.to + 1000 + (1ULL << 40), 10),  // TO: top bits
        this->answer(first, 1000, 2001, true),                                      // too long
        this->answer(first, 1000, 2001, false),
        this->answer(first, 1000, 2000, false),  // Last is missing
        this->answer(first, 1000, 1999, true),   // Last is early
        this->answer(first, 1000, 0, true),
        this->answer(second, 0, 100, true),  // out of order
    };
    for (const auto& u : bad) {
      begin();
      this->expect_bad(kQp, u, Cause::kRdmapOpcode);
      this->restart_qp(kQp, p);
    }
    begin();
    this->expect_good(kQp, this->answer(first, 1000, 0, false), this->good(false));
    this->expect_good(kQp, this->answer(first, 1000, 1, false), this->good(true));
    this->expect_good(kQp, this->answer(first, 1001, 1999, true),
                      this->good(true, DeliverKind::kRead, false, 11));
    this->expect_good(kQp, this->answer(second, 0, 100, true),
                      this->good(true, DeliverKind::kRead, false, 12));
    this->expect_good(kQp, this->answer(none, 0, 0, true),
                      this->good(false, DeliverKind::kRead, false, 13));
    this->expect_bad(kQp, this->answer(none, 0, 0, true), Cause::kRdmapOpcode);
    this->restart_qp(kQp, p);
    typename RdmapWorld<TypeParam>::Read wide{
        .slot = 14, .stag = 1, .length = 1000, .to = 0x1'ffff'ff00};  // its TO carries
    this->read(kQp, wide);
    this->expect_good(kQp, this->answer(wide, 0, 500, false), this->good(true));
    this->expect_good(kQp, this->answer(wide, 500, 500, true),
                      this->good(true, DeliverKind::kRead, false, 14));
    this->read(kQp, wide);
    this->expect_good(kQp, this->answer(wide, 0, 500, false), this->good(true));
    this->expect_bad(kQp, this->tagged(0x42, true, 1, 0x1'0000'00f4, 500), Cause::kRdmapOpcode);
    this->restart_qp(kQp, p);
    this->read(kQp, none);
    this->expect_bad(kQp, this->answer(none, 0, 0, false),
                     Cause::kRdmapOpcode);  // empty, but not the last segment
    this->restart_qp(kQp, p);
    this->read(kQp, none);
    this->expect_bad(kQp, this->answer(none, 0, 1, true), Cause::kRdmapOpcode);
    this->expect_silence();
  });
}

// The ORD rings of five QPs, of different sizes and next to each other in the pool, wrap.
TYPED_TEST(RdmapTest, OutstandingRingsWrap) {
  each_pace([&](Pace pace) {
    this->start(pace);
    const uint8_t sizes[] = {1, 2, 3, 5, 32};
    auto base = u16(this->dut.sizes().ord_slots - 43);  // 43: the sum of `sizes`
    for (uint16_t q = 0; q < 5; q++) {
      this->run_qp(q, this->params(1, sizes[q], 0, base));
      base = u16(base + sizes[q]);
    }
    using Read = typename RdmapWorld<TypeParam>::Read;
    std::deque<Read> out[5];
    uint8_t slot = 0;
    for (unsigned i = 0; i < 400; i++) {
      const auto q = u16(this->rng.below(5));
      if (out[q].size() < sizes[q] && (out[q].empty() || this->rng.percent(60))) {
        out[q].push_back(this->any_read(slot++, u32(this->rng.below(3) * 700)));
        this->read(q, out[q].back());
        continue;
      }
      const auto r = out[q].front();
      out[q].pop_front();
      const uint32_t part = r.length == 0 ? 0 : 699;
      if (part != 0) this->expect_good(q, this->answer(r, 0, part, false), this->good(true));
      this->expect_good(q, this->answer(r, part, r.length - part, true),
                        this->good(r.length != 0, DeliverKind::kRead, false, r.slot));
      if (testing::Test::HasFailure()) return;
    }
    this->expect_silence();
  });
}

// --- the peer's Reads

TYPED_TEST(RdmapTest, ResponderInOrder) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params(3, 1, 7, 0));
    uint16_t placed = 0;
    for (uint8_t i = 0; i < 10; i += 2) {  // in pairs, so that the ring of three wraps
      const auto a = this->request(i == 4 ? 0 : 5000), b = this->request(0x80000000);
      const uint16_t mark = placed;
      this->expect_good(kQp, a, this->good(false));
      for (size_t n : {0, 1, 40}) {  // only a non-empty Write counts as a placement
        this->expect_good(kQp, this->write(n), this->good(n != 0));
        placed = u16(placed + (n != 0));
      }
      this->expect_good(kQp, b, this->good(false));
      this->expect_message(this->response(kQp, a, u8(i % 3U), mark));
      this->dut.settle();
      EXPECT_TRUE(this->dut.tx_message_hdr.empty()) << "its slot is not free";
      this->free_response(kQp);
      this->expect_message(this->response(kQp, b, u8((i + 1U) % 3U), placed));
      this->free_response(kQp);
      this->dut.settle();
    }
    EXPECT_EQ(this->dut.checks.size(), 9U)
        << "a Read of size 0 is not checked, the others are, once";
    this->expect_silence();
  });
}

// An IRD slot is in use from the request until ddp frees the slot of its response. A request that
// finds no free IRD slot has the cause ddp_untagged_no_buffer.
TYPED_TEST(RdmapTest, InboundOverflow) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (auto ird : Some<uint8_t>{0, 1, 2, 32}) {
      this->run_qp(kQp, this->params(ird));
      std::vector<Bytes> all;
      for (uint8_t i = 0; i < ird; i++) {
        all.push_back(this->request(100));
        this->expect_good(kQp, all.back(), this->good(false));
      }
      if (ird != 0) {
        this->expect_message(this->response(kQp, all[0], 0, 0));
        this->free_response(kQp);
        this->dut.settle();
        all.push_back(this->request(100));  // reuses the first slot
        this->expect_good(kQp, all.back(), this->good(false));
        this->expect_message(this->response(kQp, all[1], u8(1U % ird), 0));
      }
      this->expect_bad(kQp, this->request(100), Cause::kDdpUntaggedNoBuffer);
      this->stop_qp(kQp);
    }
    this->expect_silence();
  });
}

// A slot that ddp has returned is free before rdmap judges any later request, in whatever order the
// slots return: the peer has the responses and may send new requests.
TYPED_TEST(RdmapRtlTest, SlotsAreFreeBeforeRequestsBehindThem) {
  this->start({0, 0});
  constexpr uint16_t kQps = 8;
  for (uint16_t q = 0; q < kQps; q++) {
    this->run_qp(q, this->params(1, 0, q, 0));
    const auto r = this->request(100);
    this->expect_good(q, r, this->good(false));
    this->expect_message(this->response(q, r, 0, 0));
  }
  for (uint16_t q = 0; q < kQps; q++) this->free_response(q);
  for (uint16_t q = kQps; q-- != 0;) this->put_segment(q, this->request(100));
  for (unsigned left = kQps, cycles = 0; left != 0; cycles++) {
    ASSERT_LT(cycles, 1000U) << left << " requests are not judged";
    this->dut.advance();
    for (; !this->dut.rx_verdict.empty(); left--) {
      const auto v = this->dut.rx_verdict.take();
      EXPECT_EQ(v.accept, 1) << left << " are left";
    }
    while (!this->dut.tx_message_hdr.empty() && !this->dut.tx_message.empty())
      (void)this->take_message();
  }
}

TYPED_TEST(RdmapTest, WatermarkCountsPlacementsOfAll) {
  this->start({0, 0});
  for (uint16_t q = 0; q < 2; q++) this->run_qp(q, this->params(4, 4, u16(4 * q), 0));
  uint32_t placed = 0;
  auto place = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      this->put_segment(u16(i % 2), this->write(1 + i % 3));
      if (i % 64 == 63) this->dut.run_until([&] { return this->dut.rx_segment.empty(); });
    }
    placed += count;
    this->dut.settle();
    EXPECT_EQ(this->dut.rx_verdict.items().size(), count);
    this->dut.rx_verdict.items().clear();
  };
  auto expect_mark = [&](uint8_t slot) {
    const auto r = this->request(64);
    this->expect_good(1, r, this->good(false));
    this->expect_message(this->response(1, r, slot, placed));
    this->free_response(1);
    this->dut.settle();
  };
  place(3);
  expect_mark(0);
  this->expect_bad(0, this->tagged(0x43, true, 1, 2, 9),
                   Cause::kRdmapOpcode);  // refused segments do not count
  EXPECT_EQ(this->verdict(0, this->write(5)).accept, 0);
  expect_mark(1);
  this->restart_qp(0, this->params());
  expect_mark(2);
  this->read(0, this->any_read(1, 0));
  this->expect_good(0, this->send(10), this->good(true, DeliverKind::kRecv));
  placed++;
  expect_mark(3);
  if (TypeParam::kMinimum) place(65536 - placed + 2);  // more than 16 bits
  expect_mark(0);
  this->expect_silence();
}

// One response per QP at a time. The responder serves the waiting QPs in turn.
TYPED_TEST(RdmapTest, ResponderIsFair) {
  each_pace([&](Pace pace) {
    this->start(pace);
    std::deque<Bytes> all[4];
    for (uint16_t q = 0; q < 4; q++) {
      this->run_qp(q, this->params(8, 1, u16(8 * q), 0));
      for (unsigned i = 0; i < (q == 0 ? 8U : 3U); i++) {
        all[q].push_back(this->request(u32(1000 + q)));
        this->put_segment(q, all[q].back());
      }
    }
    uint8_t at[4] = {};
    for (unsigned round = 0; round < 8; round++) {
      unsigned due = 0;
      for (auto& q : all) due += !q.empty();
      for (unsigned i = 0; i < due; i++) {
        const auto m = this->take_message();
        ASSERT_LT(m.hdr.qpn, 4);
        ASSERT_FALSE(all[m.hdr.qpn].empty());
        const auto want = this->response(m.hdr.qpn, all[m.hdr.qpn].front(), at[m.hdr.qpn], 0);
        EXPECT_EQ(m.hdr, want.hdr) << m.hdr.describe();
        EXPECT_EQ(m.body, want.body);
        EXPECT_EQ(at[m.hdr.qpn], round) << "two of one before one of each";
        all[m.hdr.qpn].pop_front();
        at[m.hdr.qpn]++;
      }
      this->dut.settle();
      EXPECT_TRUE(this->dut.tx_message_hdr.empty());
      for (uint16_t q = 0; q < 4; q++)
        if (at[q] == round + 1) this->free_response(q);
    }
    EXPECT_EQ(this->dut.rx_verdict.take_all().size(), 17U);
    this->expect_silence();
  });
}

TYPED_TEST(RdmapTest, SourceThatFailsItsCheck) {
  const std::pair<TptResult, Cause> rows[] = {{TptResult::kStag, Cause::kRdmapStag},
                                              {TptResult::kAssoc, Cause::kRdmapAssoc},
                                              {TptResult::kRights, Cause::kRdmapRights},
                                              {TptResult::kWrap, Cause::kRdmapWrap},
                                              {TptResult::kBounds, Cause::kRdmapBounds}};
  each_pace([&](Pace pace) {
    this->start(pace);
    for (const auto& [result, cause] : rows) {
      this->dut.check = [&](const spec::RespCheck& c) {
        return c.length == 77 ? result : TptResult::kOk;
      };
      this->run_qp(kQp, this->params(2, 1, 20));
      const auto a = this->request(4), bad = this->request(77), c = this->request(4);
      this->expect_good(kQp, a, this->good(false));
      this->expect_good(kQp, bad, this->good(false));
      this->expect_message(this->response(kQp, a, 0, 0));
      this->free_response(kQp);
      const auto e = this->expect_error(kQp, cause, terminate(cause, bad, 0));
      EXPECT_EQ(e.has_wr, 0);
      EXPECT_EQ(this->verdict(kQp, c).accept, 0);
      this->expect_silence();
      this->stop_qp(kQp);
    }
  });
}

// --- payload that could not be read

TYPED_TEST(RdmapTest, TransmitFaults) {
  each_pace([&](Pace pace) {
    this->start(pace);
    struct Row {
      spec::RdStatus status;
      TptResult result;
      WcStatus wc;
    };
    for (const Row& row :
         {Row{spec::RdStatus::kOk, TptResult::kBounds, WcStatus::kLocProtErr},
          Row{spec::RdStatus::kPoisoned, TptResult::kOk, WcStatus::kFatalErr},
          Row{spec::RdStatus::kAborted, TptResult::kStag, WcStatus::kLocProtErr}}) {
      this->run_qp(kQp, this->params());
      this->dut.tx_fault.put({.qpn = kQp,
                              .source = TxSource::kSq,
                              .slot = 61,
                              .offset = 1460,
                              .status = row.status,
                              .result = row.result});
      const auto e = this->expect_error(kQp, Cause::kLocalCatastrophic, hex("00000000"));
      EXPECT_EQ(e.has_wr, 1);
      EXPECT_EQ(e.slot, 61);
      EXPECT_EQ(e.status, row.wc);
      this->stop_qp(kQp);
    }
    // A fault in a response: the Terminate shows the request's header, advanced by the bytes sent.
    // The slot of the request may already be free.
    const std::pair<TptResult, Cause> rows[] = {
        {TptResult::kStag, Cause::kRdmapStag},     {TptResult::kAssoc, Cause::kRdmapAssoc},
        {TptResult::kRights, Cause::kRdmapRights}, {TptResult::kWrap, Cause::kRdmapWrap},
        {TptResult::kBounds, Cause::kRdmapBounds}, {TptResult::kOk, Cause::kRdmapLength}};
    for (const auto& [result, cause] : rows) {
      for (uint32_t offset : {0U, 1460U, 0x7fffffffU}) {
        this->run_qp(kQp, this->params(3, 1, 40));
        const Bytes all[] = {this->request(10), this->request(0x80000000), this->request(20)};
        for (const auto& r : all) this->expect_good(kQp, r, this->good(false));
        this->expect_message(this->response(kQp, all[0], 0, 0));
        this->free_response(kQp);
        const auto m = this->take_message();
        if (offset == 1460) {  // ddp has freed its slot: the last segment was scheduled
          this->free_response(kQp);
          this->expect_message(this->response(kQp, all[2], 2, 0));
        }
        this->dut.tx_fault.put(
            {.qpn = kQp,
             .source = TxSource::kResp,
             .slot = m.hdr.slot,
             .offset = offset,
             .status = result == TptResult::kOk ? spec::RdStatus::kPoisoned : spec::RdStatus::kOk,
             .result = result});
        const auto e = this->expect_error(kQp, cause, terminate(cause, all[1], offset));
        EXPECT_EQ(e.has_wr, 0);
        this->expect_silence();
        this->stop_qp(kQp);
      }
    }
  });
}

// --- one error per QP

TYPED_TEST(RdmapTest, FirstErrorWins) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(kQp, this->params());
    this->run_qp(2, this->params(4, 4, 4, 4));
    const auto r = this->any_read(3, 100);
    this->read(kQp, r);
    this->expect_bad(kQp, this->tagged(0x43, true, 1, 2, 3), Cause::kRdmapOpcode);
    // Later errors are neither accepted nor reported.
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLlpLost});
    this->dut.tx_fault.put(
        {.qpn = kQp, .source = TxSource::kSq, .slot = 1, .status = spec::RdStatus::kAborted});
    this->dut.tx_fault.put(
        {.qpn = kQp, .source = TxSource::kResp, .slot = 0, .status = spec::RdStatus::kAborted});
    for (const auto& u :
         {this->write(9), this->send(9), this->request(8), this->answer(r, 0, 100, true),
          this->peer_terminate(hex("01000000")), this->tagged(0, true, 1, 2, 3)}) {
      EXPECT_EQ(this->verdict(kQp, u).accept, 0);
    }
    EXPECT_EQ(this->verdict(kQp, this->write(1), Cause::kMpaCrc).accept, 0);
    this->expect_good(2, this->send(8), this->good(true, DeliverKind::kRecv));  // others go on
    this->expect_silence();
    // All errors at once: rdmap reports any one of them, and the Terminate belongs to that error.
    for (unsigned i = 0; i < 12; i++) {
      this->restart_qp(kQp, this->params());
      this->restart_qp(2, this->params(4, 4, 4, 4));
      const auto bad = this->untagged(0x4f, true, 0, Bytes(5));
      for (uint16_t q : {kQp, uint16_t{2}}) {
        this->dut.qp_fault.put(
            {.qpn = q, .cause = i % 2 == 0 ? Cause::kLlpLost : Cause::kLocalCatastrophic});
        this->dut.tx_fault.put(
            {.qpn = q, .source = TxSource::kSq, .slot = 7, .result = TptResult::kAssoc});
        this->put_segment(q, bad);
        this->put_segment(
            q, this->tagged(0x83, true, 7, 8, 9));  // another error: never reported. R5040-7.1-05
      }
      this->dut.settle();
      EXPECT_EQ(this->dut.rx_verdict.items().size(), 4U);
      for (const auto& v : this->dut.rx_verdict.take_all()) EXPECT_EQ(v.accept, 0);
      const auto errors = this->dut.qp_error.take_all();
      ASSERT_EQ(errors.size(), 2U);
      EXPECT_NE(errors[0].qpn, errors[1].qpn);
      std::map<uint16_t, Bytes> terms;
      while (!this->dut.tx_message_hdr.empty()) {
        const auto m = this->take_message();
        EXPECT_EQ(m.hdr.source, TxSource::kTerm);
        EXPECT_TRUE(terms.emplace(m.hdr.qpn, m.body).second) << "a second Terminate";
      }
      for (const auto& e : errors) {
        EXPECT_NE(e.cause, Cause::kRdmapVersion) << "the second bad message";
        EXPECT_EQ(e.sends_term, e.cause != Cause::kLlpLost);
        EXPECT_EQ(e.sends_term, terms.contains(e.qpn));
        if (e.sends_term != 0) {
          EXPECT_EQ(terms[e.qpn], terminate(e.cause, bad));
        }
        EXPECT_TRUE(e.cause == Cause::kLocalCatastrophic || e.has_wr == 0);
      }
    }
    this->expect_silence();
  });
}

TYPED_TEST(RdmapTest, FaultsOfQp) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});  // not running
    this->expect_silence();
    this->run_qp(kQp, this->params());
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLlpLost});
    EXPECT_EQ(this->expect_error(kQp, Cause::kLlpLost, {}).has_wr, 0);
    this->restart_qp(kQp, this->params());
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});
    EXPECT_EQ(this->expect_error(kQp, Cause::kLocalCatastrophic, hex("00000000")).has_wr, 0);
    this->stop_qp(kQp);
    EXPECT_EQ(this->verdict(kQp, this->write(4)).accept, 0);
    this->expect_silence();
  });
}

// rdmap accepts a fault in any cycle while other QPs keep it busy.
TYPED_TEST(RdmapTest, AFaultOfQpIsHeardInTraffic) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->run_qp(0, this->params());
    for (unsigned gap = 0; gap < 24; gap++) {
      this->run_qp(kQp, this->params());
      for (unsigned i = 0; i < 40; i++) this->put_segment(0, this->write(4));
      for (unsigned i = 0; i < gap; i++) this->dut.advance();
      this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLlpLost});
      this->expect_error(kQp, Cause::kLlpLost, {});
      for (unsigned i = 0; i < 40; i++) EXPECT_EQ(this->dut.rx_verdict.take().accept, 1);
      this->stop_qp(kQp);
    }
    this->expect_silence();
  });
}

// With hold_tx (the passive side) rdmap sends nothing before the first received segment, not even a
// Terminate.
TYPED_TEST(RdmapTest, HoldTx) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto p = this->params();
    p.hold_tx = 1;
    this->run_qp(kQp, p);
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});
    this->expect_error(kQp, Cause::kLocalCatastrophic, {});
    this->restart_qp(kQp, p);
    this->dut.tx_fault.put(
        {.qpn = kQp, .source = TxSource::kSq, .slot = 4, .status = spec::RdStatus::kPoisoned});
    EXPECT_EQ(this->expect_error(kQp, Cause::kLocalCatastrophic, {}).slot, 4);
    this->restart_qp(kQp, p);
    // the peer has sent: the hold is over
    this->expect_good(kQp, this->write(0), this->good(false));
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});
    this->expect_error(kQp, Cause::kLocalCatastrophic, hex("00000000"));
    this->restart_qp(kQp, p);
    this->expect_bad(kQp, this->write(3), Cause::kMpaCrc,
                     Cause::kMpaCrc);  // a bad first segment ends the hold, too
    this->restart_qp(kQp, this->params());
    this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});
    this->expect_error(kQp, Cause::kLocalCatastrophic, hex("00000000"));
    this->expect_silence();
  });
}

// --- the peer's Terminate

TYPED_TEST(RdmapTest, PeerTerminate) {
  using Read = typename RdmapWorld<TypeParam>::Read;
  each_pace([&](Pace pace) {
    this->start(pace);
    const auto p = this->params(1, 3, 0, 9);
    std::vector<Read> reads;
    auto begin = [&](uint32_t received) {  // Starts three Reads; the ORD ring has advanced by two.
                                           // `received` bytes of the oldest response have come.
      this->run_qp(kQp, p);
      reads.clear();
      for (uint8_t i = 0; i < 5; i++) reads.push_back(this->any_read(u8(20 + i), 500));
      for (uint8_t i = 0; i < 2; i++) {
        this->read(kQp, reads[i]);
        this->expect_good(kQp, this->answer(reads[i], 0, 500, true),
                          this->good(true, DeliverKind::kRead, false, u8(20U + i)));
      }
      for (uint8_t i = 2; i < 5; i++) this->read(kQp, reads[i]);
      reads.erase(reads.begin(), reads.begin() + 2);
      if (received != 0)
        this->expect_good(kQp, this->answer(reads[0], 0, received, false), this->good(true));
    };
    // A Terminate that shows a Read Request with this sink. ctrl: layer and type, code, and which
    // parts follow: e, the length, the DDP header and the Read Request header; c, the first two.
    auto body = [&](std::string_view ctrl, uint32_t stag, uint64_t to) {
      auto u = this->request(1);
      base::store_be<uint32_t>(&u[18], stag);
      base::store_be<uint64_t>(&u[22], to);
      auto b = hex(std::string(ctrl) + "002e");
      b.insert(b.end(), u.begin(), u.end());
      return b;
    };
    // Expects that rdmap reports this Terminate to qp, and that it names the request in `slot`.
    auto told = [&](const Bytes& b, std::optional<uint8_t> slot,
                    WcStatus status = WcStatus::kSuccess) {
      const auto v = this->verdict(kQp, this->peer_terminate(b));
      EXPECT_EQ(v.place, 0);
      EXPECT_EQ(v.deliver, DeliverKind::kNothing);
      const auto e = this->expect_error(kQp, Cause::kPeerTerminate, {});
      EXPECT_EQ(e.peer_term, b[0] << 8 | b[1]) << "layer, type, code";
      EXPECT_EQ(e.has_wr, slot.has_value());
      if (slot) {
        EXPECT_EQ(e.slot, *slot);
        EXPECT_EQ(e.status, status) << e.describe();
      }
      this->expect_silence();
      this->stop_qp(kQp);
    };
    // Layer and type 01: RDMAP, remote protection error. 02: RDMAP, remote operation error. 11, 12:
    // DDP, error of a tagged, of an untagged buffer.
    struct Row {
      std::string_view ctrl;
      WcStatus status;
    };
    for (const Row& row :
         {Row{"0100e000", WcStatus::kRemAccessErr}, Row{"01ffe000", WcStatus::kRemAccessErr},
          Row{"0205e000", WcStatus::kRemInvReqErr}, Row{"0206e000", WcStatus::kRemInvReqErr},
          Row{"0207e000", WcStatus::kRemOpErr}, Row{"02ffe000", WcStatus::kRemOpErr},
          Row{"0102ffff", WcStatus::kRemAccessErr},  // reserved bits are ignored. R5040-4.8-13
          Row{"1105e000", WcStatus::kRemOpErr}, Row{"1202e000", WcStatus::kRemOpErr},
          Row{"1206e000", WcStatus::kRemOpErr}}) {
      begin(0);
      told(body(row.ctrl, reads[0].stag, reads[0].to), 22, row.status);
    }
    for (size_t i = 0; i < 3; i++) {  // any of the three, not only the oldest
      begin(i == 1 ? 100 : 0);
      told(body("0101e000", reads[i].stag, reads[i].to), u8(22 + i), WcStatus::kRemAccessErr);
    }
    // The peer advances the header that it shows by the bytes it has sent. requirements.md section
    // 6
    begin(123);
    told(body("0101e000", reads[0].stag, reads[0].to + 123), 22, WcStatus::kRemAccessErr);
    begin(0);
    told(body("0101e000", reads[0].stag ^ 1, reads[0].to), {});
    begin(0);
    told(body("0101e000", reads[0].stag, reads[1].to), {});
    begin(0);
    // the Terminate says that it has no header
    told(body("0101c000", reads[0].stag, reads[0].to), {});
    begin(0);
    told(body("0101dfff", reads[0].stag, reads[0].to),
         {});  // a reserved bit does not claim a header. R5040-4.8-13
    begin(0);
    told(body("01012000", reads[0].stag, reads[0].to), {});  // RDMAP header without the DDP header
    begin(0);
    told(hex("00000000"), {});
    begin(0);
    told(hex("2002000000000000"), {});
    begin(0);
    auto cut = body("0101e000", reads[0].stag, reads[0].to);
    cut.resize(51);  // one byte less than control 4, length 2, DDP header 18, Read Request 28
    told(cut, {});
    for (const Bytes& few : {Bytes{}, Bytes{0x11}}) {  // too short to contain a code
      begin(0);
      this->verdict(kQp, this->peer_terminate(few));
      EXPECT_EQ(this->expect_error(kQp, Cause::kPeerTerminate, {}).peer_term, 0);
      this->expect_silence();
      this->stop_qp(kQp);
    }
    this->run_qp(kQp, p);  // no Read outstanding
    told(body("0101e000", 0, 0), {});
    this->run_qp(kQp, p);  // a Read that has ended is not named
    this->read(kQp, {.slot = 9, .stag = 5, .length = 10, .to = 77});
    this->expect_good(kQp, this->answer({9, 5, 10, 77}, 0, 10, true),
                      this->good(true, DeliverKind::kRead, false, 9));
    told(body("0101e000", 5, 77), {});
  });
}

// A truncated Terminate is reported, with its code if the code was received. A truncated one names
// no Read, and no Terminate answers it. R5040-5.4-07
TYPED_TEST(RdmapTest, ATerminateCutShortIsToldAndNotAnswered) {
  each_pace([&](Pace pace) {
    this->start(pace);
    // The golden Terminate names the Read that is posted below. Its body has 52 bytes: control 4,
    // length 2, DDP header 18, Read Request 28.
    const auto whole = golden(kTerminate);
    for (size_t n : {0, 1, 2, 3, 4, 5, 6, 23, 24, 51, 52}) {
      SCOPED_TRACE(n);
      this->run_qp(kQp, this->params());
      this->read(kQp, {.slot = 9, .stag = 0xaabbccdd, .length = 0x1000, .to = 0x1000});
      const Bytes body(whole.begin() + 18, whole.begin() + 18 + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(this->verdict(kQp, this->peer_terminate(body)).deliver, DeliverKind::kNothing);
      const auto e = this->expect_error(kQp, Cause::kPeerTerminate, {});
      EXPECT_EQ(e.peer_term, n < 2 ? 0 : 0x0101);
      EXPECT_EQ(e.has_wr, n == 52 ? 1 : 0);
      this->expect_silence();
      this->stop_qp(kQp);
    }
  });
}

// A Terminate has its own buffer: it is reported even with every IRD slot in use and a Read of ours
// half answered. R5040-5.4-04, 05
TYPED_TEST(RdmapTest, ATerminateIsHeardWithNoSlotLeft) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (auto ird : Some<uint8_t>{0, 1, 4}) {
      this->run_qp(kQp, this->params(ird, 1));
      const auto mine = this->any_read(7, 100);
      this->read(kQp, mine);
      this->expect_good(kQp, this->answer(mine, 0, 50, false), this->good(true));
      this->placed++;
      std::vector<Bytes> all;
      for (uint8_t i = 0; i < ird; i++) {
        all.push_back(this->request(100));
        this->expect_good(kQp, all.back(), this->good(false));
      }
      if (ird != 0)
        this->expect_message(this->response(kQp, all[0], 0, this->placed));  // stays in ddp
      EXPECT_EQ(this->verdict(kQp, this->peer_terminate(hex("11000000"))).deliver,
                DeliverKind::kNothing);
      EXPECT_EQ(this->expect_error(kQp, Cause::kPeerTerminate, {}).peer_term, 0x1100);
      this->expect_silence();
      this->stop_qp(kQp);
    }
  });
}

// --- start and stop

TYPED_TEST(RdmapTest, StopForgets) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (unsigned i = 0; i < 6; i++) {
      this->run_qp(kQp, this->params(4, 4, 3, 3));
      const auto mine = this->any_read(1, 100);
      this->read(kQp, mine);
      this->expect_good(kQp, this->answer(mine, 0, 50, false), this->good(true));
      std::vector<Bytes> all;
      for (unsigned k = 0; k < 3; k++) {
        all.push_back(this->request(k == 1 ? 0 : 600));
        this->put_segment(kQp, all.back());
      }
      if (i % 3 == 0) this->dut.settle();
      this->stop_qp(kQp);
      this->dut.settle();
      const auto before = this->dut.tx_message_hdr.items().size();  // one response may have begun
      EXPECT_LE(before, 1U);
      while (!this->dut.tx_message_hdr.empty())
        EXPECT_EQ(this->take_message().hdr.source, TxSource::kResp);
      for (const auto& v : this->dut.rx_verdict.take_all())
        if (i % 3 == 0) {
          EXPECT_EQ(v.accept, 1);
        }
      if (before == 1 && i % 2 == 0) {  // ddp stops later, and frees its slot
        this->free_response(kQp);
        this->dut.settle();
      }
      this->expect_silence();
      this->run_qp(kQp, this->params(2, 2, 9, 9));
      this->expect_silence();
      const auto next = this->any_read(2, 10);
      this->read(kQp, next);
      this->expect_good(kQp, this->answer(next, 0, 10, true),
                        this->good(true, DeliverKind::kRead, false, 2));
      for (uint8_t k = 0; k < 3; k++) {
        const auto r = this->request(1U + k);
        this->expect_good(kQp, r, this->good(false));
        auto want = this->response(kQp, r, u8(k % 2U), 0);
        const auto m = this->take_message();
        want.hdr.watermark = m.hdr.watermark;
        EXPECT_EQ(m.hdr, want.hdr) << m.hdr.describe();
        this->free_response(kQp);
        this->dut.settle();
      }
      this->stop_qp(kQp);
      this->expect_silence();
    }
  });
}

// Everything in flight at the stop is drained before the acknowledgement; the QP has no output
// after it.
TYPED_TEST(RdmapRtlTest, StopWaitsForWhatIsInside) {
  each_pace([&](Pace pace) {
    this->start(pace);
    // Odd rounds stall the messages. Rounds 2, 3, 6 and 7 delay the checks, rounds 4 to 7 fail
    // them.
    for (unsigned round = 0; round < 8; round++) {
      for (uint16_t q = 0; q < 2; q++) this->run_qp(q, this->params(4, 4, u16(4 * q), 0));
      size_t sent = 0;
      this->dut.tx_message_hdr.on_item([&](const spec::TxMessageHdr& h) { sent += h.qpn == 1; });
      size_t at_ack = ~size_t{0};
      this->dut.qp_ack.on_item([&](const spec::QpAckRdmap&) { at_ack = sent; });
      if (round % 2 == 1) this->dut.tx_message_hdr.stall(100);
      this->dut.hold_checks = round % 4 >= 2;
      this->dut.check = [&](const spec::RespCheck&) {
        return round < 4 ? TptResult::kOk : TptResult::kStag;
      };
      this->put_segment(1, this->request(64));
      for (uint8_t i = 0; i < 4; i++) {
        if (i == 0) {  // the others queue after it
          this->post_read(0, this->any_read(i, 64));
        } else {
          this->post({.qpn = u16(i % 2U),
                      .slot = i,
                      .opcode = WrOpcode::kRdmaWrite,
                      .num_sge = 5,
                      .length = 300},
                     Bytes(80));
        }
        this->put_segment(1, i == 3 ? this->tagged(0x43, true, 1, 2, 3) : this->write(i));
      }
      for (unsigned n = round % 2 == 1 ? 100 : 5 * round; n != 0; n--) this->dut.advance();
      this->dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
      for (unsigned n = 0; n < 300; n++) this->dut.advance();
      if (round % 2 == 1) {
        EXPECT_EQ(at_ack, ~size_t{0}) << "acknowledged with a message inside";
        this->dut.tx_message_hdr.stall(pace.stall);
      }
      this->dut.settle();
      if (this->dut.hold_checks) {
        this->dut.answer_checks();
        this->dut.hold_checks = false;
      }
      this->dut.settle();
      EXPECT_EQ(this->dut.qp_ack.take().qpn, 1);
      EXPECT_EQ(at_ack, sent) << "a message after the acknowledgement";
      EXPECT_LE(this->dut.qp_error.take_all().size(), 1U);
      EXPECT_EQ(this->dut.rx_verdict.take_all().size(), 5U);
      std::map<TxSource, unsigned> count;
      while (!this->dut.tx_message_hdr.empty()) {
        const auto m = this->take_message();
        if (m.hdr.qpn == 1) count[m.hdr.source]++;
      }
      EXPECT_LE(count[TxSource::kTerm], 1U);
      EXPECT_LE(count[TxSource::kResp], 1U);
      this->dut.tx_message_hdr.on_item(nullptr);
      this->dut.qp_ack.on_item(nullptr);
      this->stop_qp(0);
      this->expect_silence();
    }
  });
}

// A registration or a bind goes to tpt with its operands, in the order of the QP's messages. If one
// fails, rdmap reports it only as the error of its QP. A stop waits for it.
TYPED_TEST(RdmapRtlTest, RegistrationsAndBinds) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    bool is_bind = false;  // alternates
    const auto post = [&](uint8_t slot) {
      is_bind = !is_bind;
      spec::SqLocal item{.qpn = kQp,
                         .slot = slot,
                         .stag = 0xaabbcc00U + slot,
                         .is_reg = !is_bind,
                         .is_bind = is_bind,
                         .pd = 7,
                         .base = this->rng.next()};
      for (unsigned i = 0; i < 32; ++i) item.operands[i] = static_cast<uint8_t>(this->rng.next());
      d.wqe_hdr.put({.qpn = kQp,
                     .slot = slot,
                     .opcode = is_bind ? WrOpcode::kBindMw : WrOpcode::kRegMr,
                     .is_inline = 1,
                     .length = 32,
                     .remote_to = item.base,
                     .remote_stag = item.stag});
      d.wqe.put_packet(item.operands);
      return item;
    };
    auto p = this->params();
    p.pd = 7;
    struct Row {
      spec::RdStatus status;
      TptResult result;
      WcStatus wc;
    };
    for (const Row& row : {Row{spec::RdStatus::kOk, TptResult::kBind, WcStatus::kMwBindErr},
                           Row{spec::RdStatus::kAborted, TptResult::kOk, WcStatus::kFatalErr}}) {
      this->run_qp(kQp, p);
      const Message before = this->post({.qpn = kQp, .slot = 1, .opcode = WrOpcode::kSend}, {});
      const auto first = post(2), second = post(3);
      d.wqe_hdr.put(
          {.qpn = kQp, .slot = 5, .opcode = WrOpcode::kLocalInv, .remote_stag = second.stag});
      d.wqe.put_packet({});
      const Message after = this->post({.qpn = kQp, .slot = 6, .opcode = WrOpcode::kSend}, {});
      EXPECT_EQ(d.sq_local.take(), first);
      EXPECT_EQ(d.sq_local.take(), second);
      EXPECT_EQ(d.sq_local.take(), (spec::SqLocal{.qpn = kQp, .slot = 5, .stag = second.stag}));
      this->expect_message(before);
      this->expect_message(after);
      d.sq_local_done.put({.qpn = kQp, .slot = 5});
      EXPECT_EQ(d.res_done.take(), (spec::ResDone{.qpn = kQp, .slot = 5}));
      d.sq_local_done.put({.qpn = kQp, .slot = 2});
      EXPECT_EQ(d.res_done.take(), (spec::ResDone{.qpn = kQp, .slot = 2}));
      d.sq_local_done.put({.qpn = kQp, .slot = 3, .result = row.result, .status = row.status});
      const auto e = this->expect_error(kQp, Cause::kLocalCatastrophic, hex("00000000"));
      EXPECT_EQ(e.has_wr, 1);
      EXPECT_EQ(e.slot, 3);
      EXPECT_EQ(e.status, row.wc);
      this->stop_qp(kQp);
      // If the QP stops meanwhile, a failed request is no error, and the stop waits for its end.
      this->run_qp(kQp, p);
      post(4);
      d.settle();
      d.sq_local.take();
      d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = kQp, .params = {}});
      EXPECT_FALSE(d.qp_ack.try_take(200)) << "one is with tpt";
      d.sq_local_done.put({.qpn = kQp, .slot = 4, .result = row.result, .status = row.status});
      EXPECT_EQ(d.qp_ack.take().qpn, kQp);
      EXPECT_TRUE(d.res_done.empty());
      this->expect_silence();
    }
  });
}

// A local invalidation is sent to tpt, not to ddp, and is reported when tpt has executed it. A stop
// waits for it. A stopped QP discards it.
TYPED_TEST(RdmapRtlTest, LocalInvalidations) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    this->run_qp(kQp, this->params());
    const auto post = [&](uint8_t slot, uint32_t stag) {
      d.wqe_hdr.put({.qpn = kQp, .slot = slot, .opcode = WrOpcode::kLocalInv, .remote_stag = stag});
      d.wqe.put_packet({});
    };
    const Message send = this->post({.qpn = kQp, .slot = 1, .opcode = WrOpcode::kSend}, {});
    post(2, 0xaabbcc01);
    post(3, 0xaabbcc02);
    const Message last = this->post({.qpn = kQp, .slot = 4, .opcode = WrOpcode::kSend}, {});
    this->expect_message(send);
    this->expect_message(last);
    for (const uint8_t slot : Some<uint8_t>{2, 3})
      EXPECT_EQ(d.sq_local.take(),
                (spec::SqLocal{.qpn = kQp, .slot = slot, .stag = 0xaabbcbffU + slot}));
    d.settle();
    EXPECT_TRUE(d.res_done.empty());
    d.sq_local_done.put({.qpn = kQp, .slot = 2});
    EXPECT_EQ(d.res_done.take(), (spec::ResDone{.qpn = kQp, .slot = 2}));
    d.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = kQp, .params = {}});
    EXPECT_FALSE(d.qp_ack.try_take(200)) << "one is with tpt";
    d.sq_local_done.put({.qpn = kQp, .slot = 3});
    EXPECT_EQ(d.res_done.take().slot, 3);
    EXPECT_EQ(d.qp_ack.take().qpn, kQp);
    post(5, 0xaabbcc05);
    d.settle();
    EXPECT_TRUE(d.sq_local.empty());
    this->expect_silence();
  });
}

// tpt may end requests of other QPs first, which came later. Neither a stop nor a start is
// acknowledged before the last request of its own QP has ended.
TYPED_TEST(RdmapRtlTest, AStopWaitsForItsOwnLocalRequests) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& d = this->dut;
    constexpr uint16_t kOther = kQp + 1;
    const auto post = [&](uint16_t qpn, uint8_t slot) {
      d.wqe_hdr.put(
          {.qpn = qpn, .slot = slot, .opcode = WrOpcode::kLocalInv, .remote_stag = 0xaabbcc00});
      d.wqe.put_packet({});
    };
    const auto end = [&](uint16_t qpn, uint8_t slot) {
      d.sq_local_done.put({.qpn = qpn, .slot = slot});
      EXPECT_EQ(d.res_done.take(), (spec::ResDone{.qpn = qpn, .slot = slot}));
    };
    this->run_qp(kQp, this->params());
    this->run_qp(kOther, this->params());
    for (const auto op : {spec::QpOp::kStop, spec::QpOp::kStart}) {
      if (op == spec::QpOp::kStop) {
        for (const uint8_t slot : Some<uint8_t>{1, 2, 3}) post(kQp, slot);
        for (unsigned i = 0; i < 3; i++) (void)d.sq_local.take();
      }
      d.qp_ctl.put({.op = op, .qpn = kQp, .params = this->params()});
      d.settle();
      for (uint8_t slot = 1; slot < 8; slot++) {
        post(kOther, slot);
        (void)d.sq_local.take();
      }
      for (uint8_t slot = 7; slot > 0; slot--) end(kOther, slot);
      if (op == spec::QpOp::kStop) {
        for (const uint8_t slot : Some<uint8_t>{3, 1, 2}) {
          EXPECT_FALSE(d.qp_ack.try_take(200)) << "slot " << int{slot} << " has not ended";
          end(kQp, slot);
        }
      }
      EXPECT_EQ(d.qp_ack.take().qpn, kQp);
    }
    this->expect_silence();
  });
}

// A QP that was stopped and restarted may still be in the responder's work list. So its first
// request may become the head at any time after it arrives. The response must have the watermark of
// that request. `delay` varies the time.
TYPED_TEST(RdmapRtlTest, WatermarkOfANewLife) {
  const uint32_t room = TypeParam::sizes().fifo_depth;  // requests that are served at once
  each_pace([&](Pace pace) {
    for (unsigned delay = 0; delay < 24; delay++) {
      this->start(pace);
      auto& dut = this->dut;
      dut.hold_checks = true;
      for (uint16_t q = 0; q <= 3 * room; q++) this->run_qp(q, this->params(1, 1, q, q));
      // `room` requests are being checked; the others wait.
      for (uint16_t q = 1; q <= 3 * room; q++) {
        this->expect_good(q, this->request(64), this->good(false));
        dut.settle();
      }
      this->expect_good(0, this->request(64), this->good(false));
      dut.settle();
      ASSERT_EQ(dut.checks.size(), room);
      // Stop and start are each acknowledged when `room` more requests are checked.
      for (const auto op : {spec::QpOp::kStop, spec::QpOp::kStart}) {
        dut.qp_ctl.put({.op = op, .qpn = 0, .params = this->params(1, 1)});
        dut.settle();
        const auto asked = dut.checks.size();
        dut.answer_checks();
        EXPECT_EQ(dut.qp_ack.take().qpn, 0);
        dut.settle();
        ASSERT_EQ(dut.checks.size(), asked + room);
        for (unsigned i = 0; i < room; i++) EXPECT_NE(this->take_message().hdr.qpn, 0);
      }
      for (unsigned i = 0; i < 5; i++) this->put_segment(0, this->write(9));
      const auto request = this->request(64);
      this->put_segment(0, request);
      for (unsigned i = 0; i < delay; i++) dut.advance();
      dut.hold_checks = false;
      dut.answer_checks();
      for (unsigned i = 0; i < room; i++) EXPECT_NE(this->take_message().hdr.qpn, 0);
      this->expect_message(this->response(0, request, 0, 5));
      EXPECT_EQ(dut.rx_verdict.take_all().size(), 6U);
      this->expect_silence();
    }
  });
}

// One item in flight, in each possible stage: a stop waits for it. A check that is answered after
// the stop starts no response.
TYPED_TEST(RdmapRtlTest, StopWaitsForTheLastOne) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& dut = this->dut;
    this->run_qp(0, this->params(1, 16, 8, 8));
    // where: 0, 1 a Send; 2, 3 a Terminate; 4, 5 a check; 6, 7 a check of a QP that has failed.
    // Even: headers of messages are stalled; odd: bodies.
    for (unsigned where = 0; where < 8; where++) {
      this->run_qp(1, this->params());
      dut.hold_checks = where >= 4;
      if (where % 2 == 0) dut.tx_message_hdr.stall(100);
      if (where % 2 == 1) dut.tx_message.stall(100);
      if (where == 0) this->post_read(0, this->any_read(1, 64));  // the item waits for this Read
      if (where < 2) {
        this->post({.qpn = 1, .opcode = WrOpcode::kSend, .num_sge = 1, .length = 9}, Bytes(16));
      } else if (where < 4) {
        this->put_segment(1, this->tagged(0x43, true, 1, 2, 3));
      } else {
        this->put_segment(1, this->request(64));
      }
      for (unsigned i = 0; i < 150; i++) dut.advance();
      if (where >= 6) {  // the QP fails while the source is checked
        dut.qp_fault.put({.qpn = 1, .cause = Cause::kLlpLost});
        dut.settle();
      }
      dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
      for (unsigned i = 0; i < 150; i++) dut.advance();
      EXPECT_TRUE(dut.qp_ack.empty()) << "something is inside: " << where;
      dut.tx_message_hdr.stall(pace.stall);
      dut.tx_message.stall(pace.stall);
      std::vector<uint16_t> left;
      dut.tx_message_hdr.on_item([&](const spec::TxMessageHdr& h) { left.push_back(h.qpn); });
      size_t before_ack = 0;
      dut.qp_ack.on_item([&](const spec::QpAckRdmap&) { before_ack = left.size(); });
      dut.hold_checks = false;
      dut.check = [&](const spec::RespCheck&) {
        return where == 5 ? TptResult::kStag : TptResult::kOk;
      };
      dut.answer_checks();
      EXPECT_EQ(dut.qp_ack.take().qpn, 1);
      dut.settle();
      EXPECT_EQ(before_ack, left.size()) << "a message after the acknowledgement: " << where;
      if (where >= 4) {
        EXPECT_TRUE(left.empty()) << "a response after stop";
      }
      while (!dut.tx_message_hdr.empty()) this->take_message();
      dut.tx_message_hdr.on_item(nullptr);
      dut.qp_ack.on_item(nullptr);
      const size_t errors = where == 2 || where == 3 || where >= 6;
      EXPECT_EQ(dut.qp_error.take_all().size(), errors);
      EXPECT_EQ(dut.rx_verdict.take_all().size(), where < 2 ? 0U : 1U);
      this->expect_silence();
    }
  });
}

// Other QPs that keep the path to ddp busy do not delay the acknowledgement of a stop.
TYPED_TEST(RdmapTest, StopDoesNotWaitForOthers) {
  this->start({0, 0});
  auto& dut = this->dut;
  this->run_qp(0, this->params());
  this->run_qp(1, this->params(4, 4, 4, 4));
  unsigned sent = 0;
  for (; sent < 1000; sent++)
    this->post({.qpn = 0, .slot = u8(sent), .opcode = WrOpcode::kSend, .num_sge = 1, .length = 9},
               Bytes(16));
  for (unsigned i = 0; i < 50; i++) dut.advance();
  dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 1});
  EXPECT_TRUE(dut.run_until([&] { return !dut.qp_ack.empty(); }, 300));
  EXPECT_FALSE(dut.wqe_hdr.empty()) << "the others have ended: nothing is shown";
  dut.settle();
  EXPECT_EQ(dut.tx_message.size(), sent);
}

// A graceful close: half_close is acknowledged at once. When no Read Request is left to answer,
// rdmap reports to qp, once, that the QP has closed (qp_error with cause none). From then on rdmap
// starts no message, since the message would be sent after our FIN.
TYPED_TEST(RdmapTest, HalfClose) {
  each_pace([&](Pace pace) {
    this->start(pace);
    auto half_close = [&](uint16_t qpn) {
      this->dut.qp_ctl.put({.op = spec::QpOp::kHalfClose, .qpn = qpn});
      EXPECT_EQ(this->dut.qp_ack.take().qpn, qpn);
    };
    auto expect_closed = [&](uint16_t qpn) {
      EXPECT_EQ(this->dut.qp_error.take(), (spec::QpError{.qpn = qpn, .cause = Cause::kNone}));
    };
    half_close(kQp);  // not running
    this->expect_silence();
    this->run_qp(2, this->params(4, 4, 8, 8));
    for (unsigned waiting = 0; waiting < 3; waiting++) {
      this->run_qp(kQp, this->params(3, 4));
      std::vector<Bytes> all;
      for (unsigned i = 0; i < waiting; i++) {
        all.push_back(this->request(100 * i));
        this->expect_good(kQp, all.back(), this->good(false));
      }
      if (waiting != 0) this->expect_message(this->response(kQp, all[0], 0, this->placed));
      half_close(kQp);
      if (waiting != 0) {  // outstanding requests are served as before, and so is a new one
        this->expect_silence();
        all.push_back(this->request(77));
        this->expect_good(kQp, all.back(), this->good(false));
        for (uint8_t i = 1; i < all.size(); i++) {
          this->free_response(kQp);
          this->expect_message(this->response(kQp, all[i], i, this->placed));
        }
        this->expect_good(2, this->send(8), this->good(true, DeliverKind::kRecv));  // others go on
        this->placed++;
        this->expect_silence();
        this->free_response(kQp);
      }
      expect_closed(kQp);
      half_close(kQp);  // reported only once
      this->expect_silence();
      this->expect_good(kQp, this->send(9), this->good(true, DeliverKind::kRecv));
      this->expect_good(kQp, this->write(9), this->good(true));
      this->placed += 2;
      if (waiting == 0) {  // a Read Request that has crossed our FIN
        EXPECT_EQ(this->verdict(kQp, this->request(64)).accept, 0);
        this->expect_error(kQp, Cause::kLlpLost, {});
      } else if (waiting == 1) {  // any error: no Terminate after the FIN
        EXPECT_EQ(this->verdict(kQp, this->tagged(0x43, true, 1, 2, 3)).accept, 0);
        this->expect_error(kQp, Cause::kRdmapOpcode, {});
      } else {
        this->dut.qp_fault.put({.qpn = kQp, .cause = Cause::kLocalCatastrophic});
        this->expect_error(kQp, Cause::kLocalCatastrophic, {});
      }
      half_close(kQp);  // the QP has failed
      this->expect_silence();
      this->stop_qp(kQp);
    }
    // An error before the last response: a Terminate may still be sent, and the close is not
    // reported.
    this->run_qp(kQp, this->params(3, 4));
    const auto r = this->request(5);
    this->expect_good(kQp, r, this->good(false));
    this->expect_message(this->response(kQp, r, 0, this->placed));
    half_close(kQp);
    this->expect_bad(kQp, this->tagged(0x43, true, 1, 2, 3), Cause::kRdmapOpcode);
    this->free_response(kQp);
    this->expect_silence();
    this->restart_qp(kQp, this->params(3, 4));  // the restarted QP has no trace of the close
    this->expect_good(kQp, this->request(0), this->good(false));
    this->dut.settle();
    EXPECT_FALSE(this->dut.tx_message_hdr.empty());
    this->free_response(kQp);
    this->take_message();
    this->expect_silence();
  });
}

TYPED_TEST(RdmapTest, NotRunning) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (uint8_t i = 0; i < 20; i++) {  // WQEs are discarded, whatever their bodies
      this->post({.qpn = kQp,
                  .slot = i,
                  .opcode = i % 3 == 0 ? WrOpcode::kRdmaRead : WrOpcode::kSend,
                  .num_sge = u8(i % 3 == 0 ? 1 : i % 15),
                  .length = 64},
                 Bytes(i % 3 == 0 ? 16 : 16U * (i % 15U)));
      this->put_segment(kQp, this->request(4));
    }
    this->dut.tx_fault.put(
        {.qpn = kQp, .source = TxSource::kResp, .slot = 3, .result = TptResult::kStag});
    this->free_response(kQp);
    const auto verdicts = this->dut.rx_verdict.take_all();
    EXPECT_EQ(verdicts.size(), 20U);
    for (const auto& v : verdicts) EXPECT_EQ(v.accept, 0);
    this->expect_silence();
    this->run_qp(kQp, this->params());
    this->expect_message(
        this->post({.qpn = kQp, .slot = 1, .opcode = WrOpcode::kSend, .is_inline = 1, .length = 4},
                   {1, 2, 3, 4}));
    this->expect_silence();
  });
}

// Receive does not wait for transmit, transmit not for receive, and neither waits for tpt.
TYPED_TEST(RdmapRtlTest, NobodyWaits) {
  this->start({0, 0});
  for (uint16_t q = 0; q < 2; q++) this->run_qp(q, this->params(16, 4, u16(16U * q)));
  auto post = [&](unsigned count) {
    for (unsigned i = 0; i < count; i++)
      this->post({.qpn = 1, .slot = u8(i), .opcode = WrOpcode::kSend, .num_sge = 6, .length = 9},
                 Bytes(96));
  };
  auto segments = [&](unsigned requests) {
    for (unsigned i = 0; i < requests; i++) this->put_segment(0, this->request(50));
    for (unsigned i = 0; i < 30; i++) this->put_segment(u16(i % 2), this->write(i));
  };
  auto& dut = this->dut;
  dut.hold_checks = true;
  dut.tx_message_hdr.stall(100);
  post(20);
  segments(4);
  // 4 requests and 30 Writes
  EXPECT_TRUE(dut.run_until([&] { return dut.rx_verdict.size() == 34; }, 1000))
      << "waits for tx_message_hdr";
  dut.tx_message_hdr.stall(0);
  dut.tx_message.stall(100);
  segments(4);
  EXPECT_TRUE(dut.run_until([&] { return dut.rx_verdict.size() == 68; }, 1000))
      << "waits for tx_message";
  dut.tx_message.stall(0);
  EXPECT_TRUE(dut.run_until([&] { return dut.tx_message.size() == 20; }, 1000))
      << "waits for a check of a source";
  dut.rx_verdict.stall(100);
  segments(4);
  post(20);
  dut.hold_checks = false;
  dut.answer_checks();
  // 40 Sends and one response: the slot of the first response is not freed
  EXPECT_TRUE(dut.run_until([&] { return dut.tx_message.size() == 41; }, 1000))
      << "waits for rx_verdict";
  dut.rx_verdict.stall(0);
  EXPECT_TRUE(dut.run_until([&] { return dut.rx_verdict.size() == 102; }, 1000));
}

// --- random traffic

// The cases of the step: 0 our Read; 1 our Send or Write; 2 a Send or Write of the peer; 3 a Read
// of the peer; 4, 5 a segment of a response to our oldest Read; 6 ddp frees a response slot. The
// reference: per QP, the messages that must come in order from the send queue and from the
// responder; one list of verdicts.
TYPED_TEST(RdmapTest, Random) {
  using Read = typename RdmapWorld<TypeParam>::Read;
  constexpr uint16_t kQps = 4;
  each_pace([&](Pace pace) {
    this->start(pace);
    auto& rng = this->rng;
    struct Outstanding {
      Read read;
      uint32_t received = 0;
      bool left = false;  // its Read Request is sent
    };
    struct Qp {
      spec::QpParams p;
      std::deque<Message> sq, resp;
      std::deque<Outstanding> reads;
      unsigned outbound = 0;  // ORD slots in use, as qp counts them
      unsigned inbound = 0;   // IRD slots in use, as the peer may count them
      uint8_t ird_at = 0;     // IRD slot of the next request
      bool in_slot = false;   // ddp holds a response
    } qps[kQps];
    uint16_t ird_base = 0, ord_base = 0;
    for (uint16_t q = 0; q < kQps; q++) {
      qps[q].p = this->params(u8(rng.between(1, 6)), u8(rng.between(1, 6)), ird_base, ord_base);
      ird_base = u16(ird_base + qps[q].p.ird);
      ord_base = u16(ord_base + qps[q].p.ord);
      this->run_qp(q, qps[q].p);
    }
    std::deque<std::pair<uint16_t, spec::RxVerdict>> verdicts;
    std::deque<std::pair<uint64_t, uint16_t>> frees;  // {when, QP}: the peer learns of it later
    uint16_t placed = 0;
    unsigned sends = 0, segments = 0, responses = 0, gone = 0;
    auto expect = [&](uint16_t q, const Bytes& u, spec::RxVerdict v) {
      this->put_segment(q, u);
      verdicts.emplace_back(q, v);
      placed = u16(placed + v.place);
      segments++;
    };
    auto drain = [&] {
      while (!this->dut.rx_verdict.empty()) {
        ASSERT_FALSE(verdicts.empty());
        this->expect_verdict(this->dut.rx_verdict.take(), verdicts.front().second);
        if (verdicts.front().second.deliver == DeliverKind::kRead)
          qps[verdicts.front().first].outbound--;
        verdicts.pop_front();
      }
      while (!this->dut.tx_message_hdr.empty() && !this->dut.tx_message.empty()) {
        const auto m = this->take_message();
        gone++;
        auto& q = qps[m.hdr.qpn];
        auto& list = m.hdr.source == TxSource::kResp ? q.resp : q.sq;
        ASSERT_FALSE(list.empty()) << m.hdr.describe();
        ASSERT_EQ(meant(m.hdr), meant(list.front().hdr)) << m.hdr.describe();
        ASSERT_EQ(m.body, list.front().body);
        list.pop_front();
        if (m.hdr.source == TxSource::kResp) {
          ASSERT_FALSE(q.in_slot);
          q.in_slot = true;
        }
        for (auto& o : q.reads)
          if (m.hdr.opcode == RdmapOpcode::kReadRequest && o.read.slot == m.hdr.slot) o.left = true;
      }
      ASSERT_TRUE(this->dut.qp_error.empty());
    };
    for (uint64_t step = 0; step < 15000; step++) {
      const auto qn = u16(rng.below(kQps));
      auto& q = qps[qn];
      const bool tx_room = this->dut.wqe_hdr.size() < 4, rx_room = this->dut.rx_segment.size() < 4;
      const auto slot = u8(sends % 64);
      switch (rng.below(8)) {
        case 0:
          if (!tx_room || q.outbound >= q.p.ord) break;
          q.outbound++;
          q.reads.push_back({this->any_read(slot, u32(rng.below(2) * rng.below(4000)))});
          q.sq.push_back(this->post_read(qn, q.reads.back().read));
          sends++;
          break;
        case 1: {
          if (!tx_room) break;
          const bool is_inline = rng.percent(30);
          const auto sges = u8(is_inline ? 0 : rng.below(15));
          const auto body = rng.bytes(is_inline ? rng.below(225) : 16U * sges);
          q.sq.push_back(
              this->post({.qpn = qn,
                          .slot = slot,
                          .opcode = rng.percent(50) ? WrOpcode::kSend : WrOpcode::kRdmaWrite,
                          .is_solicited = rng.percent(50),
                          .is_inline = is_inline,
                          .num_sge = sges,
                          .length = is_inline ? u32(body.size()) : u32(rng.next() >> 33),
                          .remote_to = rng.next(),
                          .remote_stag = u32(rng.next())},
                         body));
          sends++;
          break;
        }
        case 2: {
          if (!rx_room) break;
          const size_t n = rng.below(3) * rng.below(2000);
          const bool last = rng.percent(50), se = rng.percent(50);
          if (rng.percent(50)) {
            expect(qn, this->write(n, last), this->good(n != 0));
          } else {
            expect(qn, this->send(n, last, se),
                   this->good(n != 0, last ? DeliverKind::kRecv : DeliverKind::kNothing, se));
          }
          break;
        }
        case 3:
          if (!rx_room || q.inbound >= q.p.ird) break;
          {
            const auto r = this->request(u32(rng.below(3) * rng.below(5000)));
            q.resp.push_back(this->response(qn, r, q.ird_at, placed));
            q.ird_at = u8((q.ird_at + 1) % q.p.ird);
            q.inbound++;
            responses++;
            expect(qn, r, this->good(false));
          }
          break;
        case 4:
        case 5:
          if (!rx_room || q.reads.empty() || !q.reads.front().left) break;
          {
            auto& o = q.reads.front();
            const uint32_t rest = o.read.length - o.received;
            const uint32_t n = rng.percent(40) ? rest : u32(rng.below(rest + 1));
            const bool last = n == rest;
            expect(qn, this->answer(o.read, o.received, n, last),
                   this->good(n != 0, last ? DeliverKind::kRead : DeliverKind::kNothing, false,
                              o.read.slot));
            o.received += n;
            if (last) q.reads.pop_front();
          }
          break;
        case 6:
          if (!q.in_slot) break;
          q.in_slot = false;
          this->free_response(qn);
          frees.emplace_back(step + 200, qn);
          break;
        default:
          break;
      }
      while (!frees.empty() && frees.front().first <= step && this->dut.resp_slot_free.empty()) {
        qps[frees.front().second].inbound--;
        frees.pop_front();
      }
      this->dut.advance();
      drain();
      if (testing::Test::HasFatalFailure()) return;
    }
    for (unsigned i = 0; i < 60; i++) {  // until the end
      this->dut.settle();
      drain();
      if (testing::Test::HasFatalFailure()) return;
      for (uint16_t n = 0; n < kQps; n++)
        if (qps[n].in_slot) {
          qps[n].in_slot = false;
          this->free_response(n);
        }
    }
    EXPECT_TRUE(verdicts.empty());
    for (auto& q : qps) EXPECT_TRUE(q.sq.empty() && q.resp.empty());
    EXPECT_EQ(gone, sends + responses);
    EXPECT_GT(sends, 100U);
    EXPECT_GT(segments, 100U);
    EXPECT_GT(responses, 20U);
    this->expect_silence();
  });
}

// The figures in the header of rdmap.sv. The bench answers a check at once, so a response takes 15
// cycles: 14 and 1 for the check. 100 segments: one each cycle, and the latency of one. 100
// messages: one every 2 cycles, and the latency of one. The limits leave 2 or 3 cycles for the ends
// of the interval.
TYPED_TEST(RdmapRtlTest, LatencyAndThroughput) {
  this->start({0, 0});
  this->run_qp(kQp, this->params(4, 4));
  auto& dut = this->dut;
  // From the edge that takes the input to the edge that gives the output.
  auto cycles_until = [&](auto& in, auto& out) {
    dut.run_until([&] { return in.taken(); });
    const auto from = dut.now();
    dut.run_until([&] { return !out.empty(); });
    return dut.now() - from;
  };
  this->put_segment(kQp, this->write(9));
  const auto verdict = cycles_until(dut.rx_segment, dut.rx_verdict);
  const auto r = this->any_read(1, 64);
  this->read(kQp, r);
  dut.rx_verdict.items().clear();
  this->put_segment(kQp, this->answer(r, 0, 64, true));
  const auto response = cycles_until(dut.rx_segment, dut.rx_verdict);
  this->post({.qpn = kQp, .opcode = WrOpcode::kSend, .is_inline = 1, .length = 4}, Bytes(4));
  const auto message = cycles_until(dut.wqe_hdr, dut.tx_message_hdr);
  this->take_message();
  dut.rx_verdict.items().clear();
  this->put_segment(kQp, this->request(64));
  const auto responder = cycles_until(dut.rx_segment, dut.tx_message_hdr);
  dut.settle();
  dut.rx_verdict.items().clear();
  for (unsigned i = 0; i < 100; i++) this->put_segment(kQp, this->write(9));
  const auto from = dut.now();
  dut.run_until([&] { return dut.rx_verdict.size() == 100; });
  const auto segments = dut.now() - from;
  dut.settle();
  dut.tx_message_hdr.items().clear();
  for (unsigned i = 0; i < 100; i++)
    this->post({.qpn = kQp, .opcode = WrOpcode::kRdmaWrite, .num_sge = 1, .length = 64}, Bytes(16));
  const auto begin = dut.now();
  dut.run_until([&] { return dut.tx_message.size() >= 100; });
  const auto messages = dut.now() - begin;
  std::printf(
      "verdict %u, of a response %u; message %u; response %u; 100 segments %u, 100 messages %u "
      "cycles\n",
      static_cast<unsigned>(verdict), static_cast<unsigned>(response),
      static_cast<unsigned>(message), static_cast<unsigned>(responder),
      static_cast<unsigned>(segments), static_cast<unsigned>(messages));
  EXPECT_LE(verdict, 6U);
  EXPECT_LE(response, 6U);
  EXPECT_LE(message, 7U);
  EXPECT_LE(responder, 15U);
  EXPECT_LE(segments, 108U);
  EXPECT_LE(messages, 210U);
}

}  // namespace
}  // namespace rnic::tb
