// llp_if: connections, records, credit, and their use by QPs. Architecture 3.3 and 7,
// docs/ambiguities.md C-27.
//
// The test plays all neighbours:
//   Transmit. ddp wants a segment (want). llp_if grants it (grant) when the LLP's credit covers the
//   connection's largest FPDU and the 128 bytes that only a Terminate may use. The FPDU comes from
//   mpa (put_fpdu) and is sent to the LLP (expect_sent). Granted credit that the FPDU does not need
//   returns. wr_done reports the FPDU if its `done` is set.
//   Receive. A record of the LLP (put_record) becomes an FPDU of the connection's QP (expect_fpdu).
//   Streaming bytes. admin puts bytes to be sent (put_raw), and requests received ones (conn_give).
//   order() sends an order of qp, and expects its acknowledgement.
//
// Most connections have a segment size (mss) of 1460, so a MULPDU of 1454, and their largest FPDU
// has 1460 bytes.
#include <gmock/gmock.h>

#include <map>

#include "VLlpIfDeep.h"
#include "llp_if_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test
using spec::AdminOpcode;
using spec::AdminStatus;
using spec::ConnState;
using spec::LlpEvt;
using spec::LlpOp;
using spec::LlpQpEvt;
using spec::QpOp;
using tb::each_pace;
using tb::Pace;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t kTerm = 128;  // TermCredit, for a Terminate

/// The MULPDU of a segment size: ambiguities.md C-27, and at least 128 (the limit of the device).
uint32_t mulpdu_of(uint32_t mss, bool markers) {
  int m = static_cast<int>(mss) - 6 - static_cast<int>(mss % 4);
  if (markers) m -= 4 * static_cast<int>((mss + 511) / 512);
  return static_cast<uint32_t>(std::max(m, 128));
}
/// The largest FPDU of a ULPDU: with the most markers that can fall into it, at the worst position.
uint32_t worst_of(uint32_t ulpdu, bool markers) {
  uint32_t data = 2 + ulpdu;
  while (data % 4 != 0) data++;
  data += 4;
  if (!markers) return data;
  uint32_t size = 0;  // a marker comes first, and then every 512 bytes
  for (uint32_t i = 0; i < data; i += 4, size += 4) {
    if (size % 512 == 0) size += 4;
  }
  return size;
}

template <class D>
struct LlpIfTest : testing::Test {
  D dut;
  base::Rng rng = tb::test_rng();

  spec::ConnCmdRsp command(AdminOpcode op, uint32_t object, spec::AdminConnArgs args = {}) {
    spec::ConnCmd c{.opcode = op, .object = object};
    args.pack(c.args);
    dut.cmd.put(c);
    return dut.rsp.take();
  }
  /// admin's query before a modify_qp to rts with this many streaming bytes: may the QP start?
  AdminStatus may_start(uint16_t conn, uint16_t bytes) {
    spec::ConnCmd c{.opcode = AdminOpcode::kModifyQp, .object = conn};
    spec::AdminModifyArgs{.to_state = 1, .connection = conn, .stream_length = bytes}.pack(c.args);
    dut.cmd.put(c);
    return dut.rsp.take().status;
  }
  AdminStatus status(AdminOpcode op, uint32_t object, spec::AdminConnArgs args = {}) {
    return command(op, object, args).status;
  }
  spec::AdminConnResult query(uint16_t conn) {
    const auto r = command(AdminOpcode::kConnQuery, conn);
    EXPECT_EQ(r.status, AdminStatus::kOk);
    return spec::AdminConnResult::unpack(r.result);
  }
  ConnState state(uint16_t conn) { return query(conn).state; }
  void put_event(LlpEvt kind, uint16_t conn, uint16_t length = 0) {
    dut.evt.put({.kind = kind,
                 .connection = conn,
                 .length = length,
                 .address = 0x0a000000U + conn,
                 .port = 4000,
                 .local_port = 5000});
  }
  /// Puts an event of the LLP that llp_if must report to the driver (conn_async).
  void event(LlpEvt kind, uint16_t conn, uint16_t length = 0) {
    put_event(kind, conn, length);
    EXPECT_EQ(dut.async.take().connection, conn);
  }
  /// Expects an event for qp, and below: a request to the LLP.
  void expect_event(uint16_t qpn, LlpQpEvt kind) {
    EXPECT_EQ(dut.event.take(), (spec::LlpEvent{.qpn = qpn, .kind = kind}));
  }
  void expect_req(LlpOp op, uint16_t conn) {
    EXPECT_EQ(dut.req.take(), (spec::LlpCtlReq{.op = op, .connection = conn}));
  }
  /// Opens a passive connection. limit: the credit of the LLP, 0: none yet.
  void open(uint16_t conn, uint16_t mss = 1460, uint32_t limit = 0) {
    put_event(LlpEvt::kMss, conn, mss);
    if (limit != 0) credit(conn, limit);
    event(LlpEvt::kIncoming, conn);
  }
  void credit(uint16_t conn, uint32_t limit) {
    dut.credit.put({.connection = conn, .limit = limit});
  }
  void order(QpOp op, uint16_t qpn) {
    dut.ctl.put({.op = op, .qpn = qpn});
    EXPECT_EQ(dut.ack.take().qpn, qpn);
  }
  /// Starts the QP on the connection. hold: it sends nothing before its first FPDU (hold_tx).
  void start(uint16_t qpn, uint16_t conn, bool markers = false, bool hold = false) {
    dut.ctl.put(
        {.op = QpOp::kStart,
         .qpn = qpn,
         .params = {.connection = conn, .use_crc = 1, .tx_markers = markers, .hold_tx = hold}});
    EXPECT_EQ(dut.ack.take().qpn, qpn);
    EXPECT_EQ(
        dut.req.take(),
        (spec::LlpCtlReq{
            .op = LlpOp::kRdmaMode, .connection = conn, .use_crc = 1, .tx_markers = markers}));
  }
  void want(uint16_t qpn, bool term = false) { dut.want.put({.qpn = qpn, .is_term = term}); }
  void expect_grant(uint16_t qpn, uint32_t mulpdu, bool term = false) {
    EXPECT_EQ(
        dut.grant.take(),
        (spec::TxGrant{.qpn = qpn, .is_term = term, .mulpdu = static_cast<uint16_t>(mulpdu)}));
  }
  void expect_no_grant() { EXPECT_FALSE(dut.grant.try_take(200)); }
  void put_fpdu(uint16_t qpn, const Bytes& bytes, bool done = false, uint8_t slot = 0,
                bool term = false) {
    dut.tx_fpdu_hdr.put({.qpn = qpn,
                         .length = static_cast<uint32_t>(bytes.size()),
                         .done = done,
                         .slot = slot,
                         .is_term = term});
    dut.tx_fpdu.put_packet(bytes);
  }
  void expect_sent(uint16_t conn, const Bytes& bytes, bool stream = false) {
    EXPECT_EQ(dut.llp_tx_hdr.take(),
              (spec::LlpTxHdr{.connection = conn,
                              .is_stream = stream,
                              .length = static_cast<uint32_t>(bytes.size())}));
    EXPECT_TRUE(dut.llp_tx.take_packet().bytes == bytes);
  }
  void put_record(uint16_t conn, const Bytes& bytes, bool stream = false, bool error = false) {
    dut.llp_rx_hdr.put(
        {.connection = conn, .is_stream = stream, .length = static_cast<uint32_t>(bytes.size())});
    dut.llp_rx.put_packet(bytes, error);
  }
  void expect_fpdu(uint16_t qpn, const Bytes& bytes, bool error = false) {
    EXPECT_EQ(dut.rx_fpdu_hdr.take(),
              (spec::RxFpduHdr{.qpn = qpn, .length = static_cast<uint32_t>(bytes.size())}));
    EXPECT_EQ(dut.rx_fpdu.take_packet(), (tb::Packet{bytes, error}));
  }
  void put_raw(uint16_t conn, const Bytes& bytes) {
    dut.raw_tx_hdr.put({.connection = conn, .length = static_cast<uint16_t>(bytes.size())});
    dut.raw_tx.put_packet(bytes);
  }
  void expect_quiet() {
    dut.settle();
    EXPECT_TRUE(dut.req.empty() && dut.rsp.empty() && dut.ack.empty() && dut.event.empty() &&
                dut.async.empty());
    EXPECT_TRUE(dut.grant.empty() && dut.done.empty() && dut.llp_tx_hdr.empty() &&
                dut.llp_tx.empty());
    EXPECT_TRUE(dut.rx_fpdu_hdr.empty() && dut.rx_fpdu.empty() && dut.raw_rx_hdr.empty() &&
                dut.raw_rx.empty());
  }
};
TYPED_TEST_SUITE(LlpIfTest, tb::Duts);

/// RTL only: cycles, and orders that wait in it.
template <class D>
class LlpIfRtlTest : public LlpIfTest<D> {};
TYPED_TEST_SUITE(LlpIfRtlTest, tb::RtlDuts);

TYPED_TEST(LlpIfTest, ListenAndConnect) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    EXPECT_EQ(this->status(AdminOpcode::kConnListen, 4420), AdminStatus::kOk);
    EXPECT_EQ(dut.req.take(), (spec::LlpCtlReq{.op = LlpOp::kListen, .port = 4420}));
    EXPECT_EQ(this->status(AdminOpcode::kConnUnlisten, 4420), AdminStatus::kOk);
    EXPECT_EQ(dut.req.take(), (spec::LlpCtlReq{.op = LlpOp::kUnlisten, .port = 4420}));

    // The number comes with the transport's response. Events of other connections go on meanwhile.
    spec::ConnCmd c{.opcode = AdminOpcode::kConnConnect};
    spec::AdminConnArgs{.peer_port = 77, .peer_address = 0xc0a80101}.pack(c.args);
    dut.cmd.put(c);
    auto req = dut.req.take();
    EXPECT_EQ(req,
              (spec::LlpCtlReq{
                  .op = LlpOp::kConnect, .address = 0xc0a80101, .port = 77, .cookie = req.cookie}));
    this->event(LlpEvt::kIncoming, 9);
    EXPECT_TRUE(dut.rsp.empty());
    dut.evt.put(
        {.kind = LlpEvt::kAssigned, .connection = 5, .local_port = 1234, .cookie = req.cookie});
    auto rsp = dut.rsp.take();
    EXPECT_EQ(rsp.status, AdminStatus::kOk);
    spec::AdminConnResult r{.connection = 5,
                            .state = ConnState::kConnecting,
                            .peer_address = 0xc0a80101,
                            .peer_port = 77,
                            .local_port = 1234};
    EXPECT_EQ(spec::AdminConnResult::unpack(rsp.result), r);
    EXPECT_EQ(this->status(AdminOpcode::kConnSend, 5), AdminStatus::kBadState);
    EXPECT_EQ(this->status(AdminOpcode::kModifyQp, 5), AdminStatus::kBadState);
    dut.evt.put({.kind = LlpEvt::kMss, .connection = 5, .length = 1448});
    dut.evt.put({.kind = LlpEvt::kEstablished, .connection = 5});
    EXPECT_EQ(dut.async.take().connection, 5);
    r.state = ConnState::kEstablished;
    r.mss = 1448;
    EXPECT_EQ(this->query(5), r);

    // No number free; a refusal.
    dut.cmd.put(c);
    req = dut.req.take();
    dut.evt.put({.kind = LlpEvt::kAssigned, .connection = 0xffff, .cookie = req.cookie});
    EXPECT_EQ(dut.rsp.take().status, AdminStatus::kNoResource);
    dut.cmd.put(c);
    req = dut.req.take();
    dut.evt.put({.kind = LlpEvt::kAssigned, .connection = 6, .cookie = req.cookie});
    EXPECT_EQ(dut.rsp.take().status, AdminStatus::kOk);
    this->event(LlpEvt::kFailed, 6);
    EXPECT_EQ(this->state(6), ConnState::kFailed);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 6), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 6);
    EXPECT_EQ(this->status(AdminOpcode::kConnQuery, 6), AdminStatus::kNotFound);
    this->expect_quiet();
  });
}

TYPED_TEST(LlpIfTest, StatesOfAConnectionWithoutQp) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->open(3);
    EXPECT_EQ(this->query(3), (spec::AdminConnResult{.connection = 3,
                                                     .state = ConnState::kEstablished,
                                                     .passive = 1,
                                                     .mss = 1460,
                                                     .peer_address = 0x0a000003,
                                                     .peer_port = 4000,
                                                     .local_port = 5000}));
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 3), AdminStatus::kInUse);
    EXPECT_EQ(this->status(AdminOpcode::kModifyQp, 3), AdminStatus::kOk);
    EXPECT_EQ(this->status(AdminOpcode::kModifyQp, 4), AdminStatus::kNotFound);
    EXPECT_EQ(this->status(AdminOpcode::kConnAbort, 4), AdminStatus::kNotFound);
    this->event(LlpEvt::kPeerClosed, 3);
    EXPECT_EQ(this->state(3), ConnState::kPeerClosed);
    EXPECT_EQ(this->status(AdminOpcode::kModifyQp, 3), AdminStatus::kBadState);
    EXPECT_EQ(this->status(AdminOpcode::kConnSend, 3), AdminStatus::kOk);
    EXPECT_EQ(this->status(AdminOpcode::kConnClose, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kHalfClose, 3);
    this->event(LlpEvt::kClosed, 3);
    EXPECT_EQ(this->state(3), ConnState::kClosed);
    EXPECT_EQ(this->status(AdminOpcode::kConnClose, 3), AdminStatus::kBadState);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 3);
    // The local side closes first; then a reset.
    this->open(3);
    EXPECT_EQ(this->status(AdminOpcode::kConnClose, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kHalfClose, 3);
    EXPECT_EQ(this->state(3), ConnState::kLocalClosed);
    this->event(LlpEvt::kPeerClosed, 3);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 3), AdminStatus::kInUse);
    EXPECT_EQ(this->status(AdminOpcode::kConnAbort, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kAbort, 3);
    this->event(LlpEvt::kReset, 3);
    EXPECT_EQ(this->state(3), ConnState::kReset);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 3);
    this->expect_quiet();
  });
}

TYPED_TEST(LlpIfTest, StreamingBytes) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(2, 1460, 4000);
    this->event(LlpEvt::kWaiting, 2, 500);
    EXPECT_EQ(this->query(2).waiting, 500);
    EXPECT_EQ(this->status(AdminOpcode::kConnGive, 2, {.length = 501}), AdminStatus::kBadArgument);
    EXPECT_EQ(this->status(AdminOpcode::kConnGive, 2, {.length = 120}), AdminStatus::kOk);
    EXPECT_EQ(dut.req.take(),
              (spec::LlpCtlReq{.op = LlpOp::kGive, .connection = 2, .length = 120}));
    EXPECT_EQ(this->query(2).waiting, 380);
    const Bytes in = this->rng.bytes(120);
    this->put_record(2, in, true);
    EXPECT_EQ(dut.raw_rx_hdr.take(), (spec::RawRxHdr{.connection = 2, .length = 120}));
    EXPECT_EQ(dut.raw_rx.take_packet().bytes, in);
    for (size_t n : {1U, 63U, 64U, 65U, 532U, 1024U}) {
      const Bytes out = this->rng.bytes(n);
      this->put_raw(2, out);
      this->expect_sent(2, out, true);
      EXPECT_EQ(this->status(AdminOpcode::kConnSend, 2), AdminStatus::kOk);
    }
    // Bytes wait for credit; other connections do not.
    this->open(3, 1460, 10000);
    this->start(0, 3);
    const Bytes late = this->rng.bytes(3000);
    this->put_raw(2, late);
    EXPECT_FALSE(dut.llp_tx_hdr.try_take(500));
    this->want(0);
    this->expect_grant(0, 1454);
    const Bytes f = this->rng.bytes(1460);
    this->put_fpdu(0, f);
    this->expect_sent(3, f);
    this->credit(2, 1749 + 3000);  // 1749: the sum of the sizes above
    this->expect_sent(2, late, true);
    // Bytes for connections that are not open are dropped.
    for (uint16_t conn : {uint16_t{3}, uint16_t{7}, uint16_t{0xfff0}})
      this->put_raw(conn, this->rng.bytes(100));
    this->expect_quiet();
    const Bytes again = this->rng.bytes(10);
    this->credit(2, 10000);
    this->put_raw(2, again);
    this->expect_sent(2, again, true);
  });
}

// Streaming bytes are admitted only with their credit: a peer's closed window does not block other
// connections.
TYPED_TEST(LlpIfTest, StreamingBytesAreAdmittedWithTheirCredit) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(2, 1460, 500);
    this->open(3, 1460, 5000);
    const auto may_send = [&](uint16_t conn, uint16_t n) {
      return this->status(AdminOpcode::kConnSend, conn, {.length = n});
    };
    EXPECT_EQ(may_send(2, 501), AdminStatus::kNoCredit);
    EXPECT_EQ(this->may_start(2, 501), AdminStatus::kNoCredit);
    EXPECT_EQ(may_send(2, 500), AdminStatus::kOk);  // only a query: it reserves nothing
    EXPECT_EQ(this->may_start(2, 500), AdminStatus::kOk);
    EXPECT_EQ(may_send(2, 500), AdminStatus::kOk);
    const Bytes out = this->rng.bytes(500);
    this->put_raw(2, out);
    this->expect_sent(2, out, true);
    EXPECT_EQ(may_send(2, 1), AdminStatus::kNoCredit);
    EXPECT_EQ(this->may_start(2, 1), AdminStatus::kNoCredit);
    EXPECT_EQ(this->may_start(2, 0), AdminStatus::kOk);
    // The other connection is not blocked.
    EXPECT_EQ(this->may_start(3, 300), AdminStatus::kOk);
    const Bytes reply = this->rng.bytes(300);
    this->put_raw(3, reply);
    // admin sends qp's command after llp_if has accepted the bytes.
    EXPECT_TRUE(dut.run_until([&] { return dut.raw_tx_hdr.empty(); }));
    dut.ctl.put({.op = QpOp::kStart, .qpn = 1, .params = {.connection = 3}});
    EXPECT_EQ(dut.ack.take(2000).qpn, 1);
    this->expect_sent(3, reply, true);
    this->expect_req(LlpOp::kRdmaMode, 3);
    EXPECT_EQ(may_send(3, 1), AdminStatus::kBadState);
    EXPECT_EQ(this->may_start(3, 1), AdminStatus::kBadState);
    EXPECT_EQ(may_send(9, 1), AdminStatus::kNotFound);
    EXPECT_EQ(this->may_start(9, 1), AdminStatus::kNotFound);
    this->credit(2, 520);
    EXPECT_TRUE(dut.run_until([&] { return dut.credit.empty(); }));
    dut.cycles(400);
    EXPECT_EQ(may_send(2, 21), AdminStatus::kNoCredit);
    EXPECT_EQ(may_send(2, 20), AdminStatus::kOk);
    // Earlier bytes count: the query waits until they are sent.
    this->credit(2, 600);
    EXPECT_TRUE(dut.run_until([&] { return dut.credit.empty(); }));
    dut.cycles(20);
    dut.llp_tx.stall(100);
    const Bytes more = this->rng.bytes(70);
    this->put_raw(2, more);
    EXPECT_TRUE(dut.run_until([&] { return dut.raw_tx_hdr.empty(); }));
    spec::ConnCmd c{.opcode = AdminOpcode::kConnSend, .object = 2};
    spec::AdminConnArgs{.length = 31}.pack(c.args);
    dut.cmd.put(c);
    EXPECT_FALSE(dut.rsp.try_take(300));
    dut.llp_tx.stall(pace.stall);
    this->expect_sent(2, more, true);
    EXPECT_EQ(dut.rsp.take().status, AdminStatus::kNoCredit);
    EXPECT_EQ(may_send(2, 30), AdminStatus::kOk);
    this->expect_quiet();
  });
}

TYPED_TEST(LlpIfTest, StreamingBytesGiveUp) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(2);
  this->event(LlpEvt::kWaiting, 2, 70);
  this->put_raw(2, this->rng.bytes(100));
  // llp_if_raw tries for about 2^16 cycles; 150'000 is more than twice that.
  const auto req = dut.req.take(150'000);
  EXPECT_EQ(req, (spec::LlpCtlReq{.op = LlpOp::kAbort, .connection = 2}));
  EXPECT_EQ(this->query(2).waiting, 0) << "bytes of an aborted connection";
  this->event(LlpEvt::kReset, 2);
  EXPECT_EQ(this->state(2), ConnState::kReset);
  this->expect_quiet();
}

// After an abort the connection keeps none of its state, and the next connection of its number has
// none.
TYPED_TEST(LlpIfTest, AnAbortedConnectionHasNothingLeft) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->open(5);
    this->event(LlpEvt::kWaiting, 5, 70);
    this->start(1, 5);
    EXPECT_EQ(this->query(5).waiting, 70);
    this->order(QpOp::kAbort, 1);
    this->expect_req(LlpOp::kAbort, 5);
    EXPECT_EQ(this->query(5).waiting, 0);
    this->event(LlpEvt::kReset, 5);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 5), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 5);
    this->event(LlpEvt::kIncoming, 5);
    EXPECT_EQ(this->query(5).mss, 0) << "not set yet";
    this->expect_quiet();
  });
}

// One side may close between admin's query and the start. llp_if then reports to the QP that the
// connection is lost.
TYPED_TEST(LlpIfTest, AStartOnAHalfClosedConnectionIsALoss) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    for (const bool peer : {true, false}) {
      const auto conn = static_cast<uint16_t>(peer ? 6 : 7),
                 qpn = static_cast<uint16_t>(peer ? 1 : 2);
      this->open(conn);
      EXPECT_EQ(this->may_start(conn, 0), AdminStatus::kOk);
      if (peer) {
        this->event(LlpEvt::kPeerClosed, conn);
      } else {
        EXPECT_EQ(this->status(AdminOpcode::kConnClose, conn), AdminStatus::kOk);
        this->expect_req(LlpOp::kHalfClose, conn);
      }
      this->start(qpn, conn);
      this->expect_event(qpn, LlpQpEvt::kLost);
    }
    this->expect_quiet();
  });
}

// A conn_give ends with its bytes, or with none when the connection ends first: admin never waits
// for ever.
TYPED_TEST(LlpIfTest, AGiveEndsWithItsConnection) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    const auto give = [&](uint16_t conn) {
      EXPECT_EQ(this->status(AdminOpcode::kConnGive, conn, {.length = 20}), AdminStatus::kOk);
      EXPECT_EQ(dut.req.take(),
                (spec::LlpCtlReq{.op = LlpOp::kGive, .connection = conn, .length = 20}));
    };
    const auto expect_empty = [&](uint16_t conn) {
      EXPECT_EQ(dut.raw_rx_hdr.take(),
                (spec::RawRxHdr{.connection = conn, .length = 0, .ended = 1}));
      EXPECT_EQ(dut.raw_rx.take_packet(), tb::Packet{});
    };
    const Bytes bytes = this->rng.bytes(20);
    // Ended before conn_give.
    for (uint16_t c = 0; c < 3; c++) this->open(c), this->event(LlpEvt::kWaiting, c, 20);
    this->event(LlpEvt::kReset, 0);
    this->event(LlpEvt::kFailed, 1);
    this->event(LlpEvt::kClosed, 2);
    for (uint16_t c = 0; c < 3; c++) {
      EXPECT_EQ(this->query(c).waiting, 0);
      EXPECT_EQ(this->status(AdminOpcode::kConnGive, c, {.length = 20}), AdminStatus::kBadState);
      this->event(LlpEvt::kWaiting, c, 20);  // the LLP sent it before the end was known
      EXPECT_EQ(this->query(c).waiting, 0);
    }
    // llp_if has requested an abort, and the LLP has not reported the reset.
    this->open(3);
    this->event(LlpEvt::kWaiting, 3, 20);
    EXPECT_EQ(this->status(AdminOpcode::kConnAbort, 3), AdminStatus::kOk);
    this->expect_req(LlpOp::kAbort, 3);
    EXPECT_EQ(this->status(AdminOpcode::kConnGive, 3, {.length = 20}), AdminStatus::kBadArgument);
    this->expect_quiet();
    // Ended after conn_give; other connections go on.
    uint16_t conn = 4;
    for (const LlpEvt end : {LlpEvt::kReset, LlpEvt::kFailed, LlpEvt::kClosed}) {
      this->open(conn), this->open(10);
      this->event(LlpEvt::kWaiting, conn, 20);
      give(conn);
      this->event(LlpEvt::kWaiting, 10, 5);
      this->event(LlpEvt::kReset, 10);
      EXPECT_TRUE(dut.raw_rx_hdr.empty());
      this->event(end, conn);
      expect_empty(conn);
      this->put_record(conn, bytes, true);  // late: no command waits for it
      this->expect_quiet();
      EXPECT_EQ(this->status(AdminOpcode::kConnRelease, conn), AdminStatus::kOk);
      this->expect_req(LlpOp::kReleased, conn);
      EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 10), AdminStatus::kOk);
      this->expect_req(LlpOp::kReleased, 10);
      conn++;
    }
    // The record of a conn_give has come before the connection's end: llp_if returns the record,
    // and no empty packet.
    this->open(8);
    this->open(9);
    this->start(1, 9);
    for (const bool behind_a_fpdu : {false, true}) {
      this->event(LlpEvt::kWaiting, 8, 20);
      give(8);
      if (behind_a_fpdu)
        dut.rx_fpdu.stall(100);
      else
        dut.raw_rx.stall(100);
      this->put_record(9, bytes);
      this->put_record(8, bytes, true);
      EXPECT_TRUE(dut.run_until([&] { return dut.llp_rx_hdr.empty(); }));
      this->put_event(LlpEvt::kReset, 8);
      dut.cycles(200);
      dut.rx_fpdu.stall(pace.stall);
      dut.raw_rx.stall(pace.stall);
      this->expect_fpdu(1, bytes);
      EXPECT_EQ(dut.raw_rx_hdr.take(), (spec::RawRxHdr{.connection = 8, .length = 20}));
      EXPECT_EQ(dut.raw_rx.take_packet().bytes, bytes);
      EXPECT_EQ(dut.async.take().connection, 8);
      this->expect_quiet();
      EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 8), AdminStatus::kOk);
      this->expect_req(LlpOp::kReleased, 8);
      this->open(8);
    }
    // The next conn_give gets its own record. The LLP may have fewer bytes than it reported, or
    // none: the connection does not end then.
    for (size_t came : {20U, 7U, 0U, 20U}) {
      this->event(LlpEvt::kWaiting, 8, 20);
      give(8);
      const Bytes some(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(came));
      this->put_record(8, some, true);
      EXPECT_EQ(dut.raw_rx_hdr.take(),
                (spec::RawRxHdr{.connection = 8, .length = static_cast<uint16_t>(came)}));
      EXPECT_EQ(dut.raw_rx.take_packet().bytes, some);
    }
    this->expect_quiet();
  });
}

// The FIN that the driver requests is sent after the bytes sent before.
TYPED_TEST(LlpIfTest, AConnectionClosesBehindItsBytes) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(1);
  const Bytes bytes = this->rng.bytes(300);
  this->put_raw(1, bytes);
  EXPECT_TRUE(dut.run_until([&] { return dut.raw_tx_hdr.empty(); }));
  spec::ConnCmd c{.opcode = AdminOpcode::kConnClose, .object = 1};
  dut.cmd.put(c);
  EXPECT_FALSE(dut.req.try_take(300));
  this->credit(1, 300);
  this->expect_sent(1, bytes, true);
  EXPECT_EQ(dut.rsp.take().status, AdminStatus::kOk);
  this->expect_req(LlpOp::kHalfClose, 1);
}

// The LLP gets the last streaming bytes before the request for RDMA mode.
TYPED_TEST(LlpIfTest, BytesLeaveBeforeRdmaMode) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(1);
  const Bytes reply = this->rng.bytes(300);
  this->put_raw(1, reply);
  EXPECT_TRUE(dut.run_until([&] { return dut.raw_tx_hdr.empty(); }));
  dut.ctl.put({.op = QpOp::kStart, .qpn = 1, .params = {.connection = 1}});
  EXPECT_FALSE(dut.req.try_take(500));
  this->credit(1, 300);
  this->expect_sent(1, reply, true);
  this->expect_req(LlpOp::kRdmaMode, 1);
  EXPECT_EQ(dut.ack.take().qpn, 1);
}

TYPED_TEST(LlpIfTest, RecordsFindTheirQp) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(0);
    this->open(15);
    this->open(4);
    this->start(7, 0);
    this->start(2, 15, true);
    EXPECT_EQ(this->status(AdminOpcode::kModifyQp, 15), AdminStatus::kBadState);
    EXPECT_EQ(this->status(AdminOpcode::kConnGive, 15, {.length = 1}), AdminStatus::kBadState);
    EXPECT_TRUE(this->query(15).has_qp);
    for (size_t n : {0U, 1U, 63U, 64U, 65U, 128U, 1460U, 65544U}) {
      const Bytes a = this->rng.bytes(n), b = this->rng.bytes(n + 4);
      this->put_record(0, a);
      this->put_record(4, a);       // no QP
      this->put_record(11, a);      // unknown
      this->put_record(0xfff7, a);  // no such number
      this->put_record(11, a, true);
      this->put_record(15, b, false, true);
      this->expect_fpdu(7, a);
      this->expect_fpdu(2, b, true);
    }
    this->expect_quiet();
    // Stopped: its records are dropped. The connection goes on by itself.
    this->order(QpOp::kStop, 7);
    this->put_record(0, this->rng.bytes(99));
    const Bytes b = this->rng.bytes(50);
    this->put_record(15, b);
    this->expect_fpdu(2, b);
    this->event(LlpEvt::kPeerClosed, 0);
    EXPECT_EQ(this->status(AdminOpcode::kConnClose, 0), AdminStatus::kOk);
    this->expect_req(LlpOp::kHalfClose, 0);
    this->event(LlpEvt::kClosed, 0);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 0), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 0);
    // The QP and the number are used again.
    this->open(0);
    this->start(7, 0);
    this->put_record(0, b);
    this->expect_fpdu(7, b);
    this->expect_quiet();
  });
}

TYPED_TEST(LlpIfTest, EventsOfAQp) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    for (uint16_t c = 0; c < 6; c++) this->open(c);
    for (uint16_t c = 0; c < 6; c++) this->start(c, c);
    this->put_event(LlpEvt::kPeerClosed, 0);
    this->expect_event(0, LlpQpEvt::kPeerClosed);
    this->order(QpOp::kHalfClose, 0);
    this->expect_req(LlpOp::kHalfClose, 0);
    this->put_event(LlpEvt::kClosed, 0);
    this->expect_event(0, LlpQpEvt::kClosed);
    this->put_event(LlpEvt::kReset, 1);
    this->expect_event(1, LlpQpEvt::kLost);
    this->put_event(LlpEvt::kFailed, 2);
    this->expect_event(2, LlpQpEvt::kLost);
    this->order(QpOp::kHalfClose, 3);
    this->expect_req(LlpOp::kHalfClose, 3);
    EXPECT_EQ(this->state(3), ConnState::kLocalClosed);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 0), AdminStatus::kInUse);
    this->order(QpOp::kSync, 4);
    EXPECT_TRUE(this->query(4).has_qp);
    this->expect_quiet();
    // If the connection has ended, llp_if reports the end to the driver when the QP stops. An abort
    // of an open connection resets it.
    this->order(QpOp::kStop, 0);
    EXPECT_EQ(dut.async.take().connection, 0);
    this->order(QpOp::kAbort, 1);
    EXPECT_EQ(dut.async.take().connection, 1);
    this->order(QpOp::kAbort, 4);
    this->expect_req(LlpOp::kAbort, 4);
    this->event(LlpEvt::kReset, 4);
    this->order(QpOp::kStop, 5);
    this->order(QpOp::kStop, 5);                                            // nothing left to stop
    EXPECT_EQ(this->status(AdminOpcode::kConnAbort, 3), AdminStatus::kOk);  // also with a QP
    this->expect_req(LlpOp::kAbort, 3);
    this->put_event(LlpEvt::kReset, 3);
    this->expect_event(3, LlpQpEvt::kLost);
    // The connection is lost between admin's query and the start.
    this->open(9);
    this->event(LlpEvt::kReset, 9);
    dut.ctl.put({.op = QpOp::kStart, .qpn = 6, .params = {.connection = 9}});
    EXPECT_EQ(dut.ack.take().qpn, 6);
    this->expect_event(6, LlpQpEvt::kLost);
    this->order(QpOp::kAbort, 6);
    EXPECT_EQ(dut.async.take().connection, 9);
    dut.ctl.put({.op = QpOp::kStart, .qpn = 6, .params = {.connection = 10}});  // never opened
    EXPECT_EQ(dut.ack.take().qpn, 6);
    this->expect_event(6, LlpQpEvt::kLost);
    this->order(QpOp::kAbort, 6);
    this->expect_quiet();
  });
}

// llp_if reports an event of the LLP after mpa has accepted the earlier records.
TYPED_TEST(LlpIfTest, EventsStayBehindRecords) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(1);
  this->start(1, 1);
  dut.rx_fpdu.stall(100);
  const Bytes r = this->rng.bytes(200);
  this->put_record(1, r);
  dut.cycles(50);
  this->put_event(LlpEvt::kPeerClosed, 1);
  EXPECT_FALSE(dut.event.try_take(300));
  dut.rx_fpdu.stall(0);
  this->expect_event(1, LlpQpEvt::kPeerClosed);
  EXPECT_EQ(dut.rx_fpdu.size(), 1U);
}

TYPED_TEST(LlpIfTest, SegmentSizes) {
  this->dut.restart({});
  uint16_t conn = 0;
  std::vector<uint16_t> sizes = {0,    5,    6,    128,  134,   135,   136,   140,  511,  512,
                                 513,  536,  1024, 1025, 1440,  1447,  1448,  1460, 4000, 8947,
                                 8948, 8949, 8950, 9000, 65532, 65533, 65534, 65535};
  for (int i = 0; i < 40; i++) sizes.push_back(static_cast<uint16_t>(this->rng.next()));
  for (uint16_t mss : sizes) {
    for (bool markers : {false, true}) {
      const uint32_t mulpdu = mulpdu_of(mss, markers);
      const uint32_t need = worst_of(mulpdu, markers) + kTerm;
      this->open(conn, mss, need - 1);
      this->start(1, conn, markers);
      this->want(1);
      this->expect_no_grant();
      this->credit(conn, need);
      this->expect_grant(1, mulpdu);
      if (mss >= 160) {  // below, the MULPDU may be the least, 128, and its FPDU longer than mss
        EXPECT_LE(need - kTerm, mss);
      }
      this->order(QpOp::kAbort, 1);
      this->expect_req(LlpOp::kAbort, conn);
      this->event(LlpEvt::kReset, conn);
      EXPECT_EQ(this->status(AdminOpcode::kConnRelease, conn), AdminStatus::kOk) << "conn " << conn;
      this->expect_req(LlpOp::kReleased, conn);
      conn = static_cast<uint16_t>((conn + 3) % 16);
    }
  }
}

TYPED_TEST(LlpIfTest, CreditIsSetAsideAndComesBack) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(0, 1460, 3 * 1460 + kTerm);
    this->start(5, 0);
    for (int i = 0; i < 4; i++) this->want(5), dut.run_until([&] { return dut.want.empty(); });
    for (int i = 0; i < 3; i++) this->expect_grant(5, 1454);
    this->expect_no_grant();
    const Bytes f = this->rng.bytes(60);
    this->put_fpdu(5, f, true, 9);
    this->expect_sent(0, f);
    EXPECT_EQ(dut.done.take(), (spec::WrDone{.qpn = 5, .slot = 9}));
    this->expect_no_grant();  // 1400 = 1460 - 60 came back, 1460 are needed
    this->credit(0, 3 * 1460 + kTerm + 59);
    this->expect_no_grant();
    this->credit(0, 3 * 1460 + kTerm + 60);
    this->expect_grant(5, 1454);
    // From here on credit comes only from refunds: one of 1400 is too little, two are enough.
    this->want(5);
    this->expect_no_grant();
    this->put_fpdu(5, f);
    this->expect_sent(0, f);
    this->expect_no_grant();
    this->put_fpdu(5, f);
    this->expect_sent(0, f);
    this->expect_grant(5, 1454);
  });
}

// Wants are granted in order. A connection without credit does not block others.
TYPED_TEST(LlpIfTest, OrderOfWants) {
  auto& dut = this->dut;
  dut.restart({});
  for (uint16_t q = 0; q < 8; q++) this->open(q, 1460, q == 3 ? 100 : 100000), this->start(q, q);
  for (int round = 0; round < 3; round++) {
    for (uint16_t q = 0; q < 8; q++) {
      if (q != 3 || round == 0) this->want(q);
    }
    for (uint16_t q = 0; q < 8; q++) {
      if (q != 3) this->expect_grant(q, 1454);
    }
  }
  this->expect_no_grant();
  this->credit(3, 2000);
  this->expect_grant(3, 1454);
}

TYPED_TEST(LlpIfTest, HoldUntilTheFirstFpdu) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    this->open(4, 1460, 100000);
    this->start(2, 4, false, true);
    this->want(2);
    this->expect_no_grant();
    this->credit(4, 200000);
    this->expect_no_grant();
    const Bytes f = this->rng.bytes(24);
    this->put_record(4, f);
    this->expect_fpdu(2, f);
    this->expect_grant(2, 1454);
    this->want(2);
    this->expect_grant(2, 1454);
    this->put_record(4, f);
    this->expect_fpdu(2, f);
    this->expect_quiet();
  });
}

TYPED_TEST(LlpIfTest, TerminateUsesTheReserve) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(4, 1460, kTerm);
    this->start(2, 4);
    this->want(2);
    this->expect_no_grant();
    this->want(2, true);
    this->expect_grant(2, 1454, true);
    const Bytes f = this->rng.bytes(76);
    dut.llp_tx.stall(100);
    this->put_fpdu(2, f, false, 0, true);
    dut.cycles(100);
    EXPECT_TRUE(dut.req.empty() && dut.event.empty());  // the LLP has not accepted it
    dut.llp_tx.stall(pace.stall);
    this->expect_sent(4, f);
    this->expect_req(LlpOp::kHalfClose, 4);
    this->expect_event(2, LlpQpEvt::kTermDone);
    EXPECT_EQ(this->state(4), ConnState::kLocalClosed);
    // Late items of a stopped QP are dropped.
    this->order(QpOp::kStop, 2);
    this->put_fpdu(2, this->rng.bytes(500), true, 1);
    this->want(2);
    this->expect_quiet();
    this->event(LlpEvt::kClosed, 4);
  });
}

TYPED_TEST(LlpIfTest, TerminateGivesUp) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(4, 1460, kTerm - 1);
  this->event(LlpEvt::kWaiting, 4, 70);
  this->start(2, 4);
  this->want(2, true);
  // Between 2^16 and 2^17 cycles after the want.
  EXPECT_FALSE(dut.event.try_take(0x10000));
  const auto event = dut.event.try_take(0x10100);
  ASSERT_TRUE(event);
  EXPECT_EQ(*event, (spec::LlpEvent{.qpn = 2, .kind = LlpQpEvt::kTermDone}));
  this->expect_req(LlpOp::kAbort, 4);
  EXPECT_EQ(this->query(4).waiting, 0);
  this->credit(4, 100000);
  this->expect_no_grant();
  this->order(QpOp::kAbort, 2);  // repeated: the LLP has not responded to the first
  this->expect_req(LlpOp::kAbort, 4);
  this->event(LlpEvt::kReset, 4);
}

// Grants follow the segment size. Exactly the reserved credit is returned.
TYPED_TEST(LlpIfTest, SegmentSizeChanges) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(0, 1460, 2 * 1460 + kTerm);
    this->start(1, 0);
    this->want(1);
    this->expect_grant(1, 1454);
    this->put_event(LlpEvt::kMss, 0, 1000);
    dut.cycles(100);
    EXPECT_EQ(this->query(0).mss, 1000);
    dut.cycles(20);
    this->want(1);
    this->expect_grant(1, 994);
    for (int i = 0; i < 2; i++) {
      const Bytes f = this->rng.bytes(1000);
      this->put_fpdu(1, f);
      this->expect_sent(0, f);
    }
    this->credit(0, 2000 + 3000 + kTerm - 1);
    this->put_event(LlpEvt::kMss, 0, 3000);
    dut.cycles(100);
    EXPECT_EQ(this->query(0).mss, 3000);
    dut.cycles(20);
    this->want(1);
    this->expect_no_grant();
    this->credit(0, 2000 + 3000 + kTerm);
    this->expect_grant(1, 2994);
    const Bytes f = this->rng.bytes(3000);
    this->put_fpdu(1, f);
    this->expect_sent(0, f);
    this->want(1);
    this->expect_no_grant();
    this->credit(0, 5000 + 3000 + kTerm);
    this->expect_grant(1, 2994);
  });
}

// A larger segment size takes effect when the FPDUs in flight have returned the credit reserved for
// them.
TYPED_TEST(LlpIfTest, SegmentSizeGrowsOnceNoneIsUnderWay) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    this->open(0, 1000, 100000);
    this->start(1, 0);
    this->want(1);
    this->expect_grant(1, 994);
    this->put_event(LlpEvt::kMss, 0, 3000);
    dut.cycles(100);
    EXPECT_EQ(this->query(0).mss, 3000);
    dut.cycles(20);
    this->want(1);
    this->expect_no_grant();
    const Bytes f = this->rng.bytes(1000);
    this->put_fpdu(1, f);
    this->expect_sent(0, f);
    this->expect_grant(1, 2994);
  });
}

// Sums of credit wrap at 2^32. To avoid sending gigabytes, tx_fpdu_hdr gives a larger length than
// the packet has.
TYPED_TEST(LlpIfTest, CreditWraps) {
  auto& dut = this->dut;
  dut.restart({});
  constexpr uint32_t kLie = 131064;  // close to the largest length of 17 bits
  this->open(0, 1460, 0);
  this->start(1, 0);
  uint32_t used = 0;
  for (uint64_t sum = 0; sum < (uint64_t{1} << 32) + 20 * uint64_t{kLie};
       sum += kLie, used += kLie) {
    const bool edge = sum < 3 * uint64_t{kLie} || sum > (uint64_t{1} << 32) - 6 * uint64_t{kLie};
    this->want(1);
    if (edge) {
      this->credit(0, used + 1460 + kTerm - 1);
      EXPECT_FALSE(dut.grant.try_take(40)) << sum;
    }
    this->credit(0, used + 1460 + kTerm);
    this->expect_grant(1, 1454);
    dut.tx_fpdu_hdr.put({.qpn = 1, .length = kLie});
    dut.tx_fpdu.put_packet(Bytes(4));
    (void)dut.llp_tx_hdr.take();
    (void)dut.llp_tx.take_packet();
  }
}

// A stop waits for all items in flight, in both directions.
TYPED_TEST(LlpIfTest, StopWaitsForWhatIsInside) {
  for (bool transmit : {false, true}) {
    auto& dut = this->dut;
    dut.restart({});
    this->open(0, 1460, 10000);
    this->start(1, 0);
    this->want(1);
    this->expect_grant(1, 1454);
    const Bytes f = this->rng.bytes(100);
    if (transmit)
      dut.llp_tx.stall(100);
    else
      dut.rx_fpdu.stall(100);
    if (transmit)
      this->put_fpdu(1, f, true, 3);
    else
      this->put_record(0, f);
    dut.cycles(40);
    dut.ctl.put({.op = QpOp::kStop, .qpn = 1});
    EXPECT_FALSE(dut.ack.try_take(300));
    dut.llp_tx.stall(0);
    dut.rx_fpdu.stall(0);
    EXPECT_EQ(dut.ack.take().qpn, 1);
    if (transmit) {
      this->expect_sent(0, f);
      EXPECT_EQ(dut.done.take().slot, 3);
    } else {
      this->expect_fpdu(1, f);
    }
  }
}

template <class D>
class LlpIfReportTest : public LlpIfTest<D> {};
using ReportDuts = testing::Types<tb::RtlLlpIf<VLlpIf, false>, tb::RtlLlpIf<VLlpIfMin, true>,
                                  tb::RtlLlpIf<VLlpIfDeep, true>>;
TYPED_TEST_SUITE(LlpIfReportTest, ReportDuts);

// qp gets each wr_done before a later acknowledgement of a stop or a later event of llp_if, however
// many wr_done wait. VLlpIfDeep has a deeper queue of wr_done than the chip: the order must not
// depend on its depth.
TYPED_TEST(LlpIfReportTest, StopsAndEventsFollowTheReportsBeforeThem) {
  auto& dut = this->dut;
  for (const bool stop : {true, false}) {
    dut.restart({});
    this->open(0, 1460, 100000);
    this->start(1, 0);
    dut.done.stall(100);
    const Bytes f = this->rng.bytes(100);
    constexpr unsigned kDones = 12;
    for (unsigned i = 0; i < kDones; i++) {
      this->want(1);
      this->expect_grant(1, 1454);
      this->put_fpdu(1, f, true, static_cast<uint8_t>(i));
    }
    dut.cycles(200);
    const size_t sent = dut.llp_tx.size();
    EXPECT_GE(sent, 4U);
    size_t reported = 0;
    dut.ack.on_item([&](const auto&) { reported = dut.done.size(); });
    dut.event.on_item([&](const auto&) { reported = dut.done.size(); });
    if (stop)
      dut.ctl.put({.op = QpOp::kStop, .qpn = 1});
    else
      this->put_event(LlpEvt::kPeerClosed, 0);
    dut.cycles(300);
    EXPECT_TRUE(dut.ack.empty() && dut.event.empty()) << "while qp takes no wr_done";
    dut.done.stall(0);
    EXPECT_TRUE(dut.run_until([&] { return !dut.ack.empty() || !dut.event.empty(); }));
    EXPECT_GE(reported, sent) << "the queue of wr_done, and more";
  }
}

// A stop waits only for items before it: a continuous stream of another QP does not delay it.
TYPED_TEST(LlpIfRtlTest, StopDoesNotWaitForWhatComesLater) {
  auto& dut = this->dut;
  for (bool transmit : {false, true}) {
    dut.restart({});
    this->open(0);
    this->open(1);
    this->start(1, 0);
    this->start(2, 1);
    dut.rx_fpdu.stall(50);
    dut.llp_tx.stall(50);
    const Bytes f = this->rng.bytes(100);
    for (int i = 0; i < 1000; i++) {
      if (transmit)
        this->put_fpdu(2, f);
      else
        this->put_record(1, f);
    }
    dut.cycles(100);
    dut.ctl.put({.op = QpOp::kStop, .qpn = 1});
    EXPECT_EQ(dut.ack.take(500).qpn, 1);
    EXPECT_FALSE(transmit ? dut.tx_fpdu.empty() : dut.llp_rx.empty())
        << "the others have ended: nothing is shown";
  }
}

// A late FPDU is queued after others while the LLP stalls. It must not be sent on its QP's next
// connection.
TYPED_TEST(LlpIfTest, ALateFpduDoesNotLeaveOnTheNextConnection) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    for (uint16_t c = 0; c < 3; c++) this->open(c, 1460, 100000);
    this->start(1, 0);
    this->start(2, 1);
    const Bytes f = this->rng.bytes(200), late = this->rng.bytes(100), own = this->rng.bytes(60);
    for (uint16_t q : {uint16_t{1}, uint16_t{2}}) this->want(q), this->expect_grant(q, 1454);
    this->order(QpOp::kAbort, 2);
    this->expect_req(LlpOp::kAbort, 1);
    dut.llp_tx_hdr.stall(100);
    dut.llp_tx.stall(100);
    this->put_fpdu(1, f);
    this->put_fpdu(2, late, true, 7);
    EXPECT_TRUE(dut.run_until([&] { return dut.tx_fpdu_hdr.empty(); }, 500) ||
                !TypeParam::kHasCycles);
    dut.ctl.put({.op = QpOp::kStart, .qpn = 2, .params = {.connection = 2}});
    dut.cycles(500);
    dut.llp_tx_hdr.stall(pace.stall);
    dut.llp_tx.stall(pace.stall);
    this->expect_sent(0, f);
    EXPECT_EQ(dut.ack.take().qpn, 2);
    this->expect_req(LlpOp::kRdmaMode, 2);
    this->expect_quiet();
    this->want(2);
    this->expect_grant(2, 1454);
    this->put_fpdu(2, own, true, 8);
    this->expect_sent(2, own);
    EXPECT_EQ(dut.done.take().slot, 8);
    this->expect_quiet();
  });
}

// A stop waits for receive, while so many FPDUs of another QP are sent that their count wraps.
TYPED_TEST(LlpIfRtlTest, AStopIsNotMissedWhenACountRunsRound) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(0);
  this->open(1);
  this->start(1, 0);
  this->start(2, 1);
  dut.rx_fpdu.stall(100);
  const Bytes f = this->rng.bytes(16);
  this->put_record(0, f);
  dut.cycles(40);
  dut.ctl.put({.op = QpOp::kStop, .qpn = 1});
  EXPECT_FALSE(dut.ack.try_take(100));
  // More than half the range of llp_if_event's 16-bit count of FPDUs.
  for (int i = 0; i < 0x8000 + 100; i++) this->put_fpdu(2, f);
  EXPECT_TRUE(
      dut.run_until([&] { return dut.tx_fpdu.empty() && dut.llp_tx.size() == 0x8000 + 100; }));
  EXPECT_TRUE(dut.ack.empty());
  dut.rx_fpdu.stall(0);
  EXPECT_EQ(dut.ack.take(1000).qpn, 1);
}

// Bytes that still wait for credit when their connection is reset must not be sent on the next
// connection with its number.
TYPED_TEST(LlpIfTest, AReleasedNumberForgetsItsBytes) {
  auto& dut = this->dut;
  for (uint64_t gap : {0U, 50U, 100U, 150U, 200U, 250U}) {
    dut.restart({});
    this->open(1);
    this->put_raw(1, this->rng.bytes(100));
    EXPECT_TRUE(dut.run_until([&] { return dut.raw_tx_hdr.empty() && dut.raw_tx.empty(); }));
    dut.cycles(gap);
    this->event(LlpEvt::kReset, 1);
    EXPECT_EQ(this->status(AdminOpcode::kConnRelease, 1), AdminStatus::kOk);
    this->expect_req(LlpOp::kReleased, 1);
    this->open(1, 1460, 1000);
    EXPECT_FALSE(dut.llp_tx_hdr.try_take(1000)) << "bytes of the connection before, gap " << gap;
    const Bytes own = this->rng.bytes(1000);
    this->put_raw(1, own);
    this->expect_sent(1, own, true);
    this->expect_quiet();
  }
}

// Peers may send streaming bytes at any rate: each send gives an event, and orders and commands
// come between.
TYPED_TEST(LlpIfTest, EventsDoNotHoldUpOrders) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(0, 1460, 10000);
  this->open(1, 1460, 10000);
  this->start(1, 0);
  for (uint16_t i = 0; i < 2000; i++) this->put_event(LlpEvt::kWaiting, 1, i);
  dut.cycles(20);
  dut.ctl.put({.op = QpOp::kStop, .qpn = 1});
  dut.cmd.put({.opcode = AdminOpcode::kConnQuery, .object = 1});
  this->put_raw(1, this->rng.bytes(64));
  EXPECT_TRUE(dut.run_until(
      [&] { return !dut.ack.empty() && !dut.rsp.empty() && dut.llp_tx.size() == 1; }, 400));
  EXPECT_FALSE(dut.evt.empty());
  EXPECT_TRUE(dut.run_until([&] { return dut.async.size() == 2000; }, 60'000));
}

// Wants from before a QP's restart get no grant after it.
TYPED_TEST(LlpIfTest, StaleWants) {
  auto& dut = this->dut;
  dut.restart({});
  for (uint16_t q = 0; q < 8; q++) this->open(q, 1460, 100000), this->start(q, q);
  dut.grant.stall(100);
  for (uint16_t q = 0; q < 8; q++) this->want(q);
  dut.cycles(50);
  this->order(QpOp::kAbort, 7);
  this->expect_req(LlpOp::kAbort, 7);
  this->event(LlpEvt::kReset, 7);
  this->open(8, 1460, 100000);
  dut.ctl.put({.op = QpOp::kStart, .qpn = 7, .params = {.connection = 8}});
  dut.cycles(100);
  dut.grant.stall(0);
  EXPECT_EQ(dut.ack.take().qpn, 7);
  this->expect_req(LlpOp::kRdmaMode, 8);
  for (uint16_t q = 0; q < 7; q++) this->expect_grant(q, 1454);
  this->expect_no_grant();
  this->want(7);
  this->expect_grant(7, 1454);
}

// Invariants: an FPDU never exceeds the connection's limit. Every want is granted once its credit
// is available. Records of a connection, and of a QP, keep their order and their bytes. wr_done
// comes once for each request that asked for it, in order.
TYPED_TEST(LlpIfTest, Random) {
  each_pace([&](Pace pace) {
    auto& dut = this->dut;
    dut.restart(pace);
    constexpr uint16_t kQps = 8;
    struct Conn {
      uint32_t mulpdu = 0, limit = 0, sent = 0;
      unsigned wants = 0, grants = 0, left = 0;  // left: wants still to be made
      bool waiting = false;                      // for a grant
      std::deque<Bytes> out, in;
      std::deque<uint8_t> done;
    };
    std::array<Conn, kQps> conns;
    const auto conn_of = [](uint16_t q) { return static_cast<uint16_t>(15 - q); };
    for (uint16_t q = 0; q < kQps; q++) {
      const auto mss = static_cast<uint16_t>(this->rng.between(150, 1460));
      const bool markers = this->rng.percent(40);
      conns[q].mulpdu = mulpdu_of(mss, markers);
      conns[q].left = 60;
      this->open(conn_of(q), mss);
      this->start(q, conn_of(q), markers, this->rng.percent(30));
    }
    std::array<uint16_t, kQps> seen{};
    uint64_t cycles = 0, last_move = 0;
    for (;;) {
      dut.cycle();
      cycles++;
      bool all = true;
      for (uint16_t q = 0; q < kQps; q++) {
        Conn& c = conns[q];
        all = all && c.left == 0 && !c.waiting && c.out.empty() && c.in.empty() && c.done.empty();
        if (!c.waiting && c.left > 0 && this->rng.percent(20)) {
          c.waiting = true;
          c.left--;
          this->want(q);
        }
        if (this->rng.percent(3)) {  // the LLP's window moves, at times only by some bytes
          c.limit = std::max(c.limit, c.sent + static_cast<uint32_t>(this->rng.below(6000)));
          this->credit(conn_of(q), c.limit);
        }
        if (seen[q] < 40 && this->rng.percent(10)) {
          seen[q]++;
          c.in.push_back(this->rng.bytes(this->rng.below(300)));
          this->put_record(conn_of(q), c.in.back());
          if (this->rng.percent(20)) this->put_record(0, c.in.back());  // unknown connection
        }
      }
      while (!dut.grant.empty()) {
        const auto g = dut.grant.take();
        Conn& c = conns[g.qpn];
        EXPECT_TRUE(c.waiting);
        EXPECT_EQ(g.mulpdu, c.mulpdu);
        c.waiting = false;
        last_move = cycles;
        Bytes f = this->rng.bytes(this->rng.percent(50) ? c.mulpdu + 6 - (c.mulpdu + 6) % 4
                                                        : 4 * this->rng.between(2, 30));
        if (f.size() > c.mulpdu) f.resize(c.mulpdu - c.mulpdu % 4);
        const bool done = this->rng.percent(30);
        const auto slot = static_cast<uint8_t>(this->rng.next());
        this->put_fpdu(g.qpn, f, done, slot);
        if (done) c.done.push_back(slot);
        c.out.push_back(std::move(f));
      }
      while (!dut.llp_tx_hdr.empty() && !dut.llp_tx.empty()) {
        const auto h = dut.llp_tx_hdr.take();
        Conn& c = conns[15 - h.connection];
        ASSERT_FALSE(c.out.empty());
        EXPECT_TRUE(dut.llp_tx.take_packet().bytes == c.out.front());
        c.sent += h.length;
        EXPECT_EQ(h.length, c.out.front().size());
        EXPECT_LE(c.sent + 0, c.limit) << "more than the LLP has promised";
        c.out.pop_front();
        last_move = cycles;
      }
      while (!dut.rx_fpdu_hdr.empty() && !dut.rx_fpdu.empty()) {
        const auto h = dut.rx_fpdu_hdr.take();
        ASSERT_LT(h.qpn, kQps);
        ASSERT_FALSE(conns[h.qpn].in.empty());
        EXPECT_TRUE(dut.rx_fpdu.take_packet().bytes == conns[h.qpn].in.front());
        conns[h.qpn].in.pop_front();
      }
      while (!dut.done.empty()) {
        const auto d = dut.done.take();
        ASSERT_FALSE(conns[d.qpn].done.empty());
        EXPECT_EQ(d.slot, conns[d.qpn].done.front());
        conns[d.qpn].done.pop_front();
      }
      if (all) break;
      ASSERT_LT(cycles - last_move, 20'000U) << "a want is forgotten";
    }
    this->expect_quiet();
    for (uint16_t q = 0; q < kQps; q++) this->order(QpOp::kStop, q);
    this->expect_quiet();
  });
}

// A record, an FPDU and a grant every 2 cycles; 64 bytes per cycle. `cycles`: beats of the FPDU,
// but at least 2.
TYPED_TEST(LlpIfRtlTest, Throughput) {
  auto& dut = this->dut;
  dut.restart({});
  for (uint16_t q = 0; q < 8; q++) this->open(q, 1460, 1U << 30), this->start(q, q);
  for (uint16_t q = 0; q < 8; q++) {
    this->want(q);
    this->expect_grant(q, 1454);
  }
  constexpr uint64_t kCount = 400;
  for (auto [n, cycles] : {std::pair<size_t, uint64_t>{60, 2}, {128, 2}, {1460, 23}}) {
    const Bytes f = this->rng.bytes(n);
    for (uint64_t i = 0; i < kCount; i++) {
      this->want(static_cast<uint16_t>(i % 8));
      this->put_fpdu(static_cast<uint16_t>(i % 8), f, true);
      this->put_record(static_cast<uint16_t>(i % 8), f);
    }
    const auto begin = dut.now();
    EXPECT_TRUE(dut.run_until([&] {
      return dut.grant.size() == kCount && dut.done.size() == kCount &&
             dut.llp_tx.size() == kCount && dut.rx_fpdu.size() == kCount;
    }));
    EXPECT_LE(dut.now() - begin, kCount * cycles + 40)
        << n << " bytes: " << dut.grant.size() << " grants, " << dut.llp_tx.size() << " sent, "
        << dut.done.size() << " done, " << dut.rx_fpdu.size() << " received";
    (void)dut.grant.take_all(), (void)dut.done.take_all(), (void)dut.llp_tx.take_all(),
        (void)dut.rx_fpdu.take_all();
    (void)dut.llp_tx_hdr.take_all(), (void)dut.rx_fpdu_hdr.take_all();
  }
}

// The counter of stalls: cycles in which a header or a beat is valid but not ready, in either
// direction. A full wire stalls the header.
TYPED_TEST(LlpIfRtlTest, StallsAreCounted) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(1, 1460, 100000);
  this->start(1, 1);
  const Bytes f = this->rng.bytes(100);
  const auto stalls = [&](auto& port, bool transmit) {
    const uint64_t before = dut.count().stalled;
    if (transmit) {
      this->want(1);
      this->expect_grant(1, 1454);
    }
    port.stall(100);
    if (transmit)
      this->put_fpdu(1, f, true);
    else
      this->put_record(1, f);
    dut.cycles(50);
    port.stall(0);
    if (transmit)
      this->expect_sent(1, f);
    else
      this->expect_fpdu(1, f);
    dut.settle();
    (void)dut.done.take_all();
    return dut.count().stalled - before;
  };
  const auto is_all_but_the_latency = testing::AllOf(testing::Ge(40U), testing::Le(52U));
  EXPECT_THAT(stalls(dut.llp_tx_hdr, true), is_all_but_the_latency);
  EXPECT_THAT(stalls(dut.llp_tx, true), is_all_but_the_latency);
  EXPECT_THAT(stalls(dut.rx_fpdu_hdr, false), is_all_but_the_latency);
  EXPECT_THAT(stalls(dut.rx_fpdu, false), is_all_but_the_latency);
  const auto before = dut.count();
  this->put_record(1, f);
  this->expect_fpdu(1, f);
  dut.settle();
  EXPECT_EQ(dut.count().stalled, before.stalled);
  EXPECT_EQ(dut.count().items, before.items + 1);
  this->open(2, 1460, 100000);
  this->put_raw(2, f);
  this->expect_sent(2, f, true);
  dut.settle();
  EXPECT_EQ(dut.count().items, before.items + 2);
}

// Cycles from the transfer of the last input beat to that of the last output beat, on idle streams.
// The header of rtl/llp_if/llp_if.sv gives these figures.
TYPED_TEST(LlpIfRtlTest, Latency) {
  auto& dut = this->dut;
  dut.restart({});
  this->open(1, 1460, 100000);
  this->start(1, 1);
  const Bytes f = this->rng.bytes(40);
  this->put_record(1, f);
  auto begin = dut.now();
  this->expect_fpdu(1, f);
  EXPECT_EQ(dut.now() - begin - 1, 3U);
  this->want(1);
  begin = dut.now();
  this->expect_grant(1, 1454);
  const uint64_t grant = dut.now() - begin - 1, least = TypeParam::sizes().fifo_depth > 4 ? 5 : 4;
  EXPECT_TRUE(grant == least || grant == least + 1) << grant;
  this->put_fpdu(1, f, true);
  begin = dut.now();
  this->expect_sent(1, f);
  EXPECT_EQ(dut.now() - begin - 1, 3U);
  EXPECT_EQ(dut.done.take().qpn, 1);
  EXPECT_EQ(dut.now() - begin - 1, 4U);
  // The FPDU that releases a QP: 2 cycles more, or 3 if the release waits for phase 0.
  for (uint16_t q = 2; q < 6; q++) {
    this->open(q, 1460, 100000);
    this->start(q, q, false, true);
    dut.cycles(20U + q);
    this->put_record(q, f);
    begin = dut.now();
    this->expect_fpdu(q, f);
    const uint64_t first = dut.now() - begin - 1;
    EXPECT_TRUE(first == 5 || first == 6) << first;
  }
}

}  // namespace
