// Connections: the test plays the peer of the driver. It types the MPA start-up frames that the
// peer sends in streaming mode.
#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The key of a Request and of a Reply, 16 bytes. After the key: flags (80 M markers, 40 C CRC, 20 R
// reject, 10 S IRD and ORD follow), revision, length of the private data with IRD and ORD (2
// bytes), [IRD, ORD, 2 bytes each,] private data. RFC 5044 section 7.1, RFC 6581.
const std::string kReq = "4d 50 41 20 49 44 20 52 65 71 20 46 72 61 6d 65 ";
const std::string kRep = "4d 50 41 20 49 44 20 52 65 70 20 46 72 61 6d 65 ";
const Address kPeer{0x0a000002, 4791};

class Connect : public DriverTest {
 protected:
  /// Establishes the first connection, waits for its Request (at least 20 bytes), and answers with
  /// these bytes, one piece per wait() of the driver.
  void answer_with(std::vector<std::string> pieces) {
    dev.on_wait = [this, pieces, at = size_t{0}]() mutable {
      if (dev.conns.empty()) return;
      auto& c = dev.conns.begin()->second;
      if (c.info.state == spec::ConnState::kConnecting)
        return dev.set_state(c.info.connection, spec::ConnState::kEstablished);
      if (c.out.size() >= 20 && at < pieces.size())
        dev.stream(c.info.connection, hex(pieces[at++]));
    };
  }
  ConnParam quick() { return {.timeout = 200 * kUs}; }
};

TEST_F(Connect, ActiveSendsRequestAndStarts) {
  Qp qp = make_qp();
  const Bytes mine = hex("01 02");
  auto param = quick();
  param.private_data = mine;
  param.responder_resources = 16;
  param.initiator_depth = 4;
  answer_with({kRep + "d0 02 00 06 00 02 00 10 aa bb"});
  auto c = must(connect(qp, kPeer, param));
  EXPECT_EQ(qp.state(), IBV_QPS_RTS);
  EXPECT_BYTES(dev.conns.at(0).out, kReq + "50 02 00 06 00 10 00 04 01 02");
  EXPECT_EQ(dev.conns.at(0).info.peer_address, 0x0a000002u);
  EXPECT_EQ(dev.conns.at(0).info.peer_port, 4791);
  EXPECT_BYTES(c.private_data(), "aa bb");
  EXPECT_EQ(c.initiator_depth(), 2u);
  EXPECT_EQ(c.responder_resources(), 16u);
  EXPECT_TRUE(c.uses_crc());
  EXPECT_TRUE(c.sends_markers());
  EXPECT_FALSE(c.receives_markers());
  const auto& m = dev.qps.at(qp.qp_num()).modify;
  EXPECT_EQ(m.connection, 0);
  EXPECT_EQ(m.use_crc, 1);
  EXPECT_EQ(m.tx_markers, 1);
  EXPECT_EQ(m.hold_tx, 0);
  EXPECT_EQ(m.stream_length, 0);
  EXPECT_EQ(m.ird, 16);
  EXPECT_EQ(m.ord, 2);
}

// The default IRD and ORD are equal: R5040-6.1-06.
TEST_F(Connect, AsManyReadsInAsOutUnlessSaidOtherwise) {
  Qp qp = make_qp();
  answer_with({kRep + "50 02 00 04 00 08 00 08"});
  const auto c = must(connect(qp, kPeer, quick()));
  EXPECT_BYTES(dev.conns.at(0).out, kReq + "50 02 00 04 00 08 00 08");
  EXPECT_EQ(c.responder_resources(), c.initiator_depth());
}

TEST_F(Connect, ReplyMayComeInPieces) {
  Qp qp = make_qp();
  answer_with({kRep.substr(0, 30), kRep.substr(30) + "50 02", "00 05 00", "08 00 08", "99"});
  EXPECT_BYTES(must(connect(qp, kPeer, quick())).private_data(), "99");
}

// The number of waiting bytes that conn_query reports may be out of date: conn_give then brings
// fewer bytes, or none.
TEST_F(Connect, ReplyMayBeShorterThanTold) {
  for (const size_t first : {size_t{54}, size_t{30}, size_t{0}}) {  // 3 characters a byte
    Qp qp = make_qp();
    const std::string whole = kRep + "50 02 00 05 00 08 00 08 99";
    dev.on_wait = [&, step = 0]() mutable {
      if (dev.conns.empty()) return;
      auto& c = dev.conns.begin()->second;
      if (c.info.state == spec::ConnState::kConnecting)
        return dev.set_state(c.info.connection, spec::ConnState::kEstablished);
      if (c.out.size() < 20 || step > 1) return;
      if (step == 0) c.told_twice = 20;  // conn_query reports 20 bytes more than wait
      dev.stream(c.info.connection,
                 step++ == 0 ? hex(whole.substr(0, first)) : hex(whole.substr(first)));
    };
    auto c = must(connect(qp, kPeer, quick()));
    EXPECT_BYTES(c.private_data(), "99") << first;
    ASSERT_TRUE(qp.destroy());
  }
}

// Fewer bytes wait than the last query reported: the device refuses conn_give, and the driver
// queries again.
TEST_F(Connect, FewerBytesMayWaitByNow) {
  Qp qp = make_qp();
  dev.refuse[spec::AdminOpcode::kConnGive] = spec::AdminStatus::kBadArgument;
  answer_with({kRep + "50 02 00 05 00 08 00 08 99"});
  const auto wait = dev.on_wait;
  dev.on_wait = [&, n = 0]() mutable {
    wait();
    if (++n == 4) dev.refuse.clear();
  };
  EXPECT_BYTES(must(connect(qp, kPeer, quick())).private_data(), "99");
  ASSERT_TRUE(qp.destroy());
  Qp other = make_qp();
  dev.refuse[spec::AdminOpcode::kConnGive] = spec::AdminStatus::kBadArgument;
  answer_with({kRep + "50 02 00 05 00 08 00 08 99"});
  EXPECT_EQ(errc(connect(other, kPeer, quick())), Errc::kTimedOut);  // refused each time
}

// The Request waits for the peer's window, at most for the time of one step.
TEST_F(Connect, RequestWaitsForTheWindow) {
  Qp qp = make_qp();
  dev.refuse[spec::AdminOpcode::kConnSend] = spec::AdminStatus::kNoCredit;
  answer_with({kRep + "50 02 00 04 00 08 00 08"});
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kTimedOut);
  EXPECT_THAT(dev.conns, IsEmpty());
  answer_with({kRep + "50 02 00 04 00 08 00 08"});
  const auto wait = dev.on_wait;
  dev.on_wait = [&, n = 0]() mutable {
    wait();
    if (++n == 3) dev.refuse.clear();
  };
  EXPECT_TRUE(connect(qp, kPeer, quick()));
}

TEST_F(Connect, Revision1HasNoNegotiation) {
  Qp qp = make_qp();
  answer_with({kRep + "40 01 00 00"});
  auto param = quick();
  param.revision = 1;
  param.crc = false;
  const auto c = must(connect(qp, kPeer, param));
  EXPECT_BYTES(dev.conns.at(0).out, kReq + "00 01 00 00");
  EXPECT_TRUE(c.uses_crc());
  EXPECT_EQ(c.initiator_depth(), 8u);
}

TEST_F(Connect, RejectGivesItsPrivateData) {
  Qp qp = make_qp();
  answer_with({kRep + "70 02 00 05 00 00 00 00 42"});
  Bytes why;
  auto param = quick();
  param.rejected_with = &why;
  const auto r = connect(qp, kPeer, param);
  EXPECT_EQ(errc(r), Errc::kRefused);
  EXPECT_THAT(r.error().what, HasSubstr("10.0.0.2:4791"));
  EXPECT_BYTES(why, "42");
  EXPECT_EQ(qp.state(), IBV_QPS_INIT);
  EXPECT_THAT(dev.conns, IsEmpty());  // aborted and released
  answer_with({kRep + "50 02 00 04 00 08 00 08"});
  EXPECT_TRUE(connect(qp, kPeer, quick()));  // the QP can be connected again
}

TEST_F(Connect, FailuresReleaseTheConnectionAndItsSlots) {
  const uint32_t slots = manager->ird.largest();
  Qp qp = make_qp();
  dev.on_wait = [&] {
    for (auto& [n, c] : dev.conns)
      if (c.info.state == spec::ConnState::kConnecting) dev.set_state(n, spec::ConnState::kFailed);
  };
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kRefused);
  dev.on_wait = nullptr;
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kTimedOut);  // never established
  answer_with({});
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kTimedOut);  // no Reply
  answer_with({kReq + "50 02 00 04 00 08 00 08"});
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kProtocol);  // a Request instead of a Reply
  answer_with({kRep + "50 02 02 01"});
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kProtocol);  // 513 bytes of private data
  dev.on_wait = [&] {
    for (auto& [n, c] : dev.conns)
      dev.set_state(n, c.out.empty() ? spec::ConnState::kEstablished : spec::ConnState::kReset);
  };
  EXPECT_EQ(errc(connect(qp, kPeer, quick())), Errc::kConnectionLost);
  dev.on_wait = nullptr;
  EXPECT_THAT(dev.conns, IsEmpty());
  EXPECT_EQ(manager->ird.largest(), slots);
}

TEST_F(Connect, WrongArguments) {
  Qp qp = make_qp();
  auto param = quick();
  param.responder_resources = 33;
  EXPECT_EQ(errc(connect(qp, kPeer, param)), Errc::kInvalidArgument);
  param = quick();
  param.revision = 3;
  EXPECT_EQ(errc(connect(qp, kPeer, param)), Errc::kInvalidArgument);
  const Bytes data(509);
  param = quick();
  param.private_data = data;
  EXPECT_EQ(errc(connect(qp, kPeer, param)), Errc::kInvalidArgument);
  Qp busy = rts_qp();
  EXPECT_EQ(errc(connect(busy, kPeer, quick())), Errc::kBadState);
}

TEST_F(Connect, NoReadWithoutOrd) {
  Qp qp = make_qp();
  play_peer();
  auto param = quick();
  param.initiator_depth = 0;
  connections.push_back(must(connect(qp, kPeer, param)));
  dev.on_wait = nullptr;
  const Sge sink{};
  EXPECT_EQ(errc(qp.post_send({.sg_list = {&sink, 1}, .opcode = IBV_WR_RDMA_READ})),
            Errc::kInvalidArgument);
  EXPECT_TRUE(qp.post_send(SendWr{}));
}

TEST_F(Connect, Resolve) {
  EXPECT_EQ(must(Address::resolve("192.168.1.255", 9)).ip, 0xc0a801ffu);
  for (const auto* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "a.b.c.d", "1.2.3.4 ", "1..3.4"})
    EXPECT_EQ(errc(Address::resolve(bad, 1)), Errc::kInvalidArgument) << bad;
  EXPECT_EQ(to_string(Address{0x0a000001, 80}), "10.0.0.1:80");
}

TEST_F(Connect, DisconnectIsGraceful) {
  Qp qp = rts_qp();
  dev.commands.clear();
  ASSERT_TRUE(connections.back().disconnect());
  bool closing = false;
  for (const auto& c : dev.commands)
    closing = closing || (c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kModifyQp) &&
                          c.args[0] == static_cast<uint8_t>(spec::QpState::kClosing));
  EXPECT_TRUE(closing);
  EXPECT_TRUE(connections.back().disconnect());  // the second call does nothing
  ASSERT_TRUE(qp.destroy());
  EXPECT_THAT(dev.conns, IsEmpty());  // released
  EXPECT_TRUE(connections.back().disconnect());
}

TEST_F(Connect, APeerThatNeverClosesIsAborted) {
  Qp qp = rts_qp();
  dev.refuse[spec::AdminOpcode::kModifyQp] =
      spec::AdminStatus::kOk;  // the response is ok, but the state does not change
  dev.commands.clear();
  EXPECT_EQ(errc(connections.back().disconnect(200 * kUs)), Errc::kTimedOut);
  bool aborted = false;
  for (const auto& c : dev.commands)
    aborted = aborted || c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kConnAbort);
  EXPECT_TRUE(aborted);
  dev.refuse.clear();
}

TEST_F(Connect, WaitDisconnected) {
  Qp qp = rts_qp();
  EXPECT_EQ(errc(connections.back().wait_disconnected(dev.now() + 200 * kUs)), Errc::kTimedOut);
  dev.on_wait = [&] { dev.set_state(0, spec::ConnState::kPeerClosed); };
  EXPECT_TRUE(connections.back().wait_disconnected(dev.now() + kMs));
  dev.on_wait = nullptr;
}

TEST_F(Connect, DestroyAbortsAConnectedQp) {
  {
    Qp qp = rts_qp();
    dev.commands.clear();
  }
  std::vector<int> ops;
  for (const auto& c : dev.commands) ops.push_back(c.opcode);
  EXPECT_THAT(ops, testing::IsSupersetOf({0x19, 0x1b, 0x38}));  // modify, destroy, release
  EXPECT_THAT(dev.conns, IsEmpty());
}

// The IRD and ORD slots of two QPs do not overlap: R5040-8.1.2-08.
TEST_F(Connect, EachQpHasItsOwnSlots) {
  Qp a = rts_qp(), b = rts_qp();
  const auto &x = dev.qps.at(a.qp_num()).modify, &y = dev.qps.at(b.qp_num()).modify;
  EXPECT_GT(x.ird, 0);
  EXPECT_TRUE(x.ird_base + x.ird <= y.ird_base || y.ird_base + y.ird <= x.ird_base);
  EXPECT_TRUE(x.ord_base + x.ord <= y.ord_base || y.ord_base + y.ord <= x.ord_base);
}

TEST_F(Connect, DestroyGivesItsReadSlotsBack) {
  const uint32_t ird = manager->ird.largest(), ord = manager->ord.largest();
  {
    Qp qp = rts_qp();
    EXPECT_LT(manager->ird.largest(), ird);
    EXPECT_LT(manager->ord.largest(), ord);
  }
  EXPECT_EQ(manager->ird.largest(), ird);
  EXPECT_EQ(manager->ord.largest(), ord);
}

TEST_F(Connect, AQpThatCannotBeDestroyedKeepsItsRings) {
  spec::AdminQpArgs args;
  {
    Qp qp = rts_qp();
    args = dev.qps.at(qp.qp_num()).args;
    dev.refuse[spec::AdminOpcode::kDestroyQp] = spec::AdminStatus::kInUse;
    connections.clear();  // a Connection also keeps the rings
  }
  for (const uint64_t base : {args.sq_base, args.rq_base})
    EXPECT_NE(dev.at(base, 64), nullptr);  // still allocated: the device may use it
  dev.refuse.clear();
}

// --- the passive side ---

class Accept : public Connect {
 protected:
  Accept() { listener.emplace(must(listen(ctx, 4791))); }
  Result<ConnRequest> request(Time wait = kMs) { return listener->get_request(dev.now() + wait); }
  std::optional<Listener> listener;
};

TEST_F(Accept, ReplyLeavesWithModify) {
  EXPECT_THAT(dev.listening, testing::ElementsAre(4791));
  dev.incoming(4791, hex(kReq + "50 02 00 06 00 03 00 05 01 02"));
  auto r = must(request());
  EXPECT_BYTES(r.private_data(), "01 02");
  EXPECT_EQ(r.peer().ip, 0x0a000001u);
  EXPECT_EQ(r.revision(), 2u);
  Qp qp = make_qp();
  const Bytes mine = hex("aa");
  auto param = quick();
  param.private_data = mine;
  param.markers = true;
  auto c = must(r.accept(qp, param));
  EXPECT_EQ(qp.state(), IBV_QPS_RTS);
  EXPECT_BYTES(dev.conns.at(0).out, kRep + "d0 02 00 05 00 05 00 03 aa");
  const auto& m = dev.qps.at(qp.qp_num()).modify;
  EXPECT_EQ(m.hold_tx, 1);
  EXPECT_EQ(m.stream_length, 25);
  EXPECT_EQ(m.rx_markers, 1);
  EXPECT_EQ(m.tx_markers, 0);
  EXPECT_EQ(m.ird, 5);
  EXPECT_EQ(m.ord, 3);
  EXPECT_TRUE(c.receives_markers());
  EXPECT_EQ(errc(r.accept(qp, param)), Errc::kBadState);
}

TEST_F(Accept, ReplyWaitsForTheWindow) {
  dev.incoming(4791, hex(kReq + "50 02 00 04 00 08 00 08"));
  auto r = must(request());
  Qp qp = make_qp();
  dev.refuse[spec::AdminOpcode::kModifyQp] = spec::AdminStatus::kNoCredit;
  EXPECT_EQ(errc(r.accept(qp, quick())), Errc::kTimedOut);
  EXPECT_EQ(qp.state(), IBV_QPS_INIT);
  dev.on_wait = [&, n = 0]() mutable {
    if (++n == 3) dev.refuse.clear();
  };
  EXPECT_TRUE(r.accept(qp, quick()));
  EXPECT_BYTES(dev.conns.at(0).out, kRep + "50 02 00 04 00 08 00 08");
  dev.on_wait = nullptr;
}

TEST_F(Accept, RequestInPieces) {
  const uint16_t n = dev.incoming(4791, hex(kReq));
  dev.on_wait = [&, at = 0]() mutable {
    if (at++ == 0) dev.stream(n, hex("40 01 00 02"));
    if (at == 3) dev.stream(n, hex("05 06"));
  };
  EXPECT_BYTES(must(request()).private_data(), "05 06");
}

TEST_F(Accept, RejectSaysWhyAndCloses) {
  dev.incoming(4791, hex(kReq + "40 01 00 00"));
  auto r = must(request());
  dev.commands.clear();
  const Bytes why = hex("07");
  ASSERT_TRUE(r.reject(why));
  EXPECT_BYTES(dev.conns.at(0).out, kRep + "60 01 00 01 07");
  EXPECT_EQ(dev.conns.at(0).info.state, spec::ConnState::kLocalClosed);
  EXPECT_EQ(errc(r.reject()), Errc::kBadState);
  dev.set_state(0, spec::ConnState::kClosed);
  EXPECT_EQ(errc(request(100 * kUs)), Errc::kTimedOut);
  EXPECT_THAT(dev.conns, IsEmpty());  // released once the peer had closed
}

TEST_F(Accept, DroppedRequestIsAborted) {
  dev.incoming(4791, hex(kReq + "40 01 00 00"));
  { const auto r = must(request()); }
  EXPECT_THAT(dev.conns, IsEmpty());
}

TEST_F(Accept, BadRequestsAreClosedAndOthersServed) {
  dev.incoming(4791, hex(kRep + "40 01 00 00"));  // a Reply
  dev.incoming(4791, hex(kReq + "40 07 00 00"));  // revision 7
  dev.incoming(4791, hex(kReq + "40 01 02 01"));  // 513 bytes
  dev.incoming(4791, hex(kReq + "60 01 00 00"));  // R
  dev.incoming(4791, hex(kReq + "40 01 00 01 33"));
  EXPECT_BYTES(must(request()).private_data(), "33");
  EXPECT_EQ(listener->bad_requests(), 4u);
  for (uint16_t n = 0; n < 4; n++)
    EXPECT_EQ(dev.conns.at(n).info.state, spec::ConnState::kLocalClosed) << n;
  // The peers never close: the connections are aborted after the linger time, then released.
  EXPECT_EQ(errc(request(20 * kMs)), Errc::kTimedOut);
  EXPECT_THAT(dev.conns, IsEmpty());
}

TEST_F(Accept, ASilentPeerIsClosedAndDoesNotBlockOthers) {
  listener->request_timeout = 300 * kUs;
  dev.incoming(4791, {});
  dev.incoming(4791, hex(kReq + "40 01 00 01 44"));
  EXPECT_BYTES(must(request()).private_data(), "44");
  EXPECT_EQ(errc(request(kMs)), Errc::kTimedOut);
  EXPECT_EQ(listener->bad_requests(), 1u);
}

// The peer wants peer-to-peer mode (RFC 6581) and offers only a Send as its first message: c0 08.
// The driver supports only a Write or a Read there.
TEST_F(Accept, NoCommonReadyToReceiveIsRejected) {
  dev.incoming(4791, hex(kReq + "50 02 00 04 c0 08 00 08"));
  auto r = must(request());
  Qp qp = make_qp();
  EXPECT_EQ(errc(r.accept(qp, quick())), Errc::kRefused);
  EXPECT_BYTES(dev.conns.at(0).out, kRep + "70 02 00 04 00 00 00 00");
  EXPECT_EQ(qp.state(), IBV_QPS_INIT);
}

TEST_F(Accept, EachPortHasItsQueue) {
  auto other = must(listen(ctx, 99));
  dev.incoming(99, hex(kReq + "40 01 00 01 63"));
  dev.incoming(4791, hex(kReq + "40 01 00 01 47"));
  dev.incoming(5, hex(kReq + "40 01 00 00"));  // no listener on this port
  EXPECT_BYTES(must(request()).private_data(), "47");
  EXPECT_BYTES(must(other.get_request(dev.now())).private_data(), "63");
}

TEST_F(Accept, APortHasOneListener) {
  Context second = must(Context::open(dev, *manager));
  for (const Context& c : {ctx, second}) {
    const auto again = listen(c, 4791);
    ASSERT_EQ(errc(again), Errc::kAlreadyExists);
    EXPECT_THAT(again.error().what, HasSubstr("4791"));
  }
  // The first listener is not affected.
  EXPECT_THAT(dev.listening, testing::ElementsAre(4791));
  dev.incoming(4791, hex(kReq + "40 01 00 01 47"));
  EXPECT_BYTES(must(request()).private_data(), "47");
  listener.reset();
  listener.emplace(must(listen(second, 4791)));  // the port is free again
  dev.incoming(4791, hex(kReq + "40 01 00 01 48"));
  EXPECT_BYTES(must(request()).private_data(), "48");
}

TEST_F(Accept, APortThatTheDeviceRefusesStaysFree) {
  dev.refuse[spec::AdminOpcode::kConnListen] = spec::AdminStatus::kNoResource;
  EXPECT_EQ(errc(listen(ctx, 99)), Errc::kNoMemory);
  dev.refuse.clear();
  EXPECT_TRUE(listen(ctx, 99));
}

TEST_F(Accept, NobodyListensOnPort0) {
  dev.commands.clear();
  EXPECT_EQ(errc(listen(ctx, 0)), Errc::kInvalidArgument);
  EXPECT_THAT(dev.commands, IsEmpty());
}

TEST_F(Accept, UnlistenAbortsWhoWaits) {
  dev.incoming(4791, hex(kReq + "40 01 00 00"));
  dev.incoming(4791, hex(kReq + "40 01 00 00"));
  { const auto first = must(request()); }
  listener.reset();
  EXPECT_THAT(dev.listening, IsEmpty());
  EXPECT_THAT(dev.conns, IsEmpty());
}

// Three IRD slots are left: the Reply offers IRD 3, although the peer's ORD is 8.
TEST_F(Accept, FewerSlotsWhereThePoolIsShort) {
  const uint32_t rest = manager->ird.largest() - 3;
  const uint32_t first = must(manager->ird.take(rest, "test"));
  dev.incoming(4791, hex(kReq + "50 02 00 04 00 08 00 08"));
  auto r = must(request());
  Qp qp = make_qp();
  const auto c = must(r.accept(qp, quick()));
  EXPECT_EQ(c.responder_resources(), 3u);
  EXPECT_BYTES(std::span(dev.conns.at(0).out).subspan(20, 4), "00 03 00 08");
  manager->ird.give(first, rest);
}

}  // namespace
}  // namespace rnic::tb
