// Shared receive queues in ddp, without other units: exactly one report for each WQE that is taken.
//
// wqe(tag, result, shared, stag): the WQE that the next take gets: 100 bytes in region `stag`.
//   shared false: the WQE is from the QP's own receive queue.
// begin(qp), send(qp, offset, bytes, is last, is refused by rdmap), write(qp, stag), response(qp):
//   segments of the peer. STag 9 is valid, a lookup of kBadStag fails.
// send_inv(qp): a Send with Invalidate; its report is held until ddp.rx.invalidated().
// instant = false: payload is placed only by place_one() and place_all().
// said(): what ddp has reported since the last call: ok() a finished receive, bad() one with
//   another status (default: flushed), ack() the acknowledgement of a stop. Before a stop's
//   acknowledgement, ddp must have reported each WQE that it has taken from the SRQ.
#include "srq_ddp.hpp"

namespace rnic::tb {
namespace {

TEST_F(SrqDdpTest, AMessageThatEndsIsReportedOnce) {
  wqe(700);
  send(1, 0, 30, true);
  wqe(65000);
  begin(1);
  send(1, 10, 20, true);
  wqe(3);
  send(2, 0, 0, true);
  EXPECT_EQ(said(), (Items{ok(1, 700, 30), ok(1, 65000, 30), ok(2, 3, 0)}));
  write(1, kBadStag);
  stop(1);
  stop(2);
  EXPECT_EQ(said(), (Items{ack(1), ack(2)})) << "nothing is owed";
}

// The first error of the QP, which ddp finds here, has its own status. Nothing else reports that
// WQE.
TEST_F(SrqDdpTest, AnErrorOfTheReceiveKeepsItsStatus) {
  wqe(11);
  send(1, 0, 101, false);
  wqe(12, RqTake::kOk, true, kBadStag);
  begin(2);
  wqe(13, RqTake::kMalformed);
  begin(3);
  EXPECT_EQ(said(), (Items{bad(1, 11, WcStatus::kLocLenErr), bad(2, 12, WcStatus::kLocProtErr),
                           bad(3, 13, WcStatus::kLocQpOpErr)}));
  for (const uint16_t qpn : kQps) {
    send(qpn, qpn == 1 ? 101 : 10, 5, true);
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

// kFailed: qp could not read the WQE. An SRQ keeps it, so nothing is reported. A queue of the QP's
// own has consumed it, so its receive completes with kFatalErr. kEmpty: there was no WQE.
TEST_F(SrqDdpTest, NoWqeIsNotOwed) {
  wqe(21, RqTake::kFailed);
  begin(1);
  wqe(22, RqTake::kEmpty);
  begin(2);
  EXPECT_EQ(said(), Items{}) << "its WQE is still in the SRQ";
  wqe(23, RqTake::kFailed, false);
  begin(3);
  EXPECT_EQ(said(), Items{bad(3, 23, WcStatus::kFatalErr)});
  for (const uint16_t qpn : kQps) {
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

TEST_F(SrqDdpTest, ARefusedSegmentFlushesTheOpenMessage) {
  wqe(31);
  begin(1);
  EXPECT_EQ(said(), Items{});
  send(1, 10, 10, false, true);  // of the same message
  EXPECT_EQ(said(), Items{bad(1, 31)});
  wqe(32);
  begin(2);
  write(2, kBadStag);  // a tagged segment
  EXPECT_EQ(said(), Items{bad(2, 32)});
  wqe(33);
  begin(3);
  segment(3, untagged(0x41, 0x43, 0, 77, 0), 4);  // an MSN that is not expected
  EXPECT_EQ(said(), Items{bad(3, 33)});
  send(1, 20, 10, true);
  for (const uint16_t qpn : kQps) {
    stop(qpn);
    EXPECT_EQ(said(), Items{ack(qpn)});
  }
}

// Messages after the first error take WQEs as before. Each WQE is reported as flushed.
TEST_F(SrqDdpTest, TakesBehindAnError) {
  wqe(41);
  begin(1);
  write(1, kBadStag);
  EXPECT_EQ(said(), Items{bad(1, 41)});
  send(1, 10, 5, true, true);
  EXPECT_EQ(said(), Items{});
  wqe(42);
  begin(1, true);
  EXPECT_EQ(said(), Items{bad(1, 42)});
  send(1, 10, 5, true, true);
  wqe(43, RqTake::kMalformed);
  send(1, 0, 5, true, true);
  EXPECT_EQ(said(), Items{bad(1, 43)}) << "not the first error";
  wqe(44);
  send(1, 0, 101, true, true);  // too long
  wqe(45);
  send(1, 0, 0, true, true);
  wqe(46, RqTake::kFailed);
  send(1, 0, 0, true, true);
  EXPECT_EQ(said(), (Items{bad(1, 44), bad(1, 45)}));
  stop(1);
  EXPECT_EQ(said(), Items{ack(1)});
}

// A report keeps the place of its segment in the order of delivery.
TEST_F(SrqDdpTest, AFlushWaitsForEarlierPlacements) {
  instant = false;
  wqe(51);
  wqe(52);
  wqe(53);
  send(2, 0, 30, true);
  begin(1);
  write(1, kBadStag);
  send(3, 0, 0, true);
  EXPECT_EQ(said(), Items{});
  place_one();
  EXPECT_EQ(said(), Items{ok(2, 51, 30)});
  place_one();
  EXPECT_EQ(said(), (Items{bad(1, 52), ok(3, 53, 0)}));
}

TEST_F(SrqDdpTest, AStopReportsTheOpenMessage) {
  wqe(61);
  begin(1);
  order(spec::QpOp::kSync, 1);
  EXPECT_EQ(said(), Items{ack(1)}) << "no stop";
  stop(1);
  EXPECT_EQ(said(), (Items{bad(1, 61), ack(1)}));
  stop(1);
  EXPECT_EQ(said(), Items{ack(1)});
  // The QP number is used again.
  start(1);
  wqe(62);
  send(1, 0, 8, true);
  EXPECT_EQ(said(), Items{ok(1, 62, 8)});
}

TEST_F(SrqDdpTest, AStopWaitsForWhatIsInside) {
  instant = false;
  wqe(71);
  wqe(72);
  begin(1);
  stop(1);
  EXPECT_EQ(said(), Items{});
  place_all();
  EXPECT_EQ(said(), (Items{bad(1, 71), ack(1)}));
  // The segment that ends the message is inside.
  begin(2);
  send(2, 10, 10, true);
  stop(2);
  place_all();
  EXPECT_EQ(said(), (Items{ok(2, 72, 20), ack(2)}));
}

// A segment that enters after the stop is refused; the stop does not wait for it.
TEST_F(SrqDdpTest, ASegmentBehindAStop) {
  instant = false;
  wqe(81);
  begin(1);
  stop(1);
  send(1, 10, 10, true);
  EXPECT_EQ(said(), Items{});
  place_all();
  EXPECT_EQ(said(), (Items{bad(1, 81), ack(1)}));
  // The same, after a placement of another QP.
  wqe(82);
  begin(2);
  write(3, 9);
  stop(2);
  write(2, 9);
  place_one();
  EXPECT_EQ(said(), (Items{bad(2, 82), ack(2)}));
  place_all();
  EXPECT_EQ(said(), Items{});
}

TEST_F(SrqDdpTest, AFlushWaitsForAHeldReport) {
  for (uint16_t tag = 91; tag < 97; ++tag) wqe(tag);
  send_inv(1);
  begin(1);
  stop(1);
  send_inv(2);
  begin(2);
  write(2, kBadStag);
  send(3, 0, 4, true);
  EXPECT_EQ(invalidations, 2U);
  EXPECT_EQ(said(), Items{ok(3, 95, 4)});
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(1, 91, 10, DeliverKind::kInvalidate), bad(1, 92), ack(1)}));
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(2, 93, 10, DeliverKind::kInvalidate), bad(2, 94)}));
}

// The report of the Send with Invalidate is held. Segments that enter after the stop are not
// reported, and do not wait for that report.
TEST_F(SrqDdpTest, AStopWaitsForAHeldReport) {
  wqe(98);
  wqe(99);
  send_inv(1);
  begin(1);
  stop(1);
  for (int i = 0; i < 3; ++i) write(1, 9);
  EXPECT_EQ(said(), Items{});
  ddp.rx.invalidated();
  EXPECT_EQ(said(), (Items{ok(1, 98, 10, DeliverKind::kInvalidate), bad(1, 99), ack(1)}));
}

TEST_F(SrqDdpTest, AnOwnQueueIsFlushedByQp) {
  for (uint16_t i = 0; i < 3; ++i) wqe(i, RqTake::kOk, false);
  begin(1);
  write(1, kBadStag);
  begin(2);
  stop(2);
  begin(3, true);
  stop(3);
  stop(1);
  EXPECT_EQ(said(), (Items{ack(2), ack(3), ack(1)}));
}

// A Read Response between the segments of a Send is reported, and does not end the Send.
TEST_F(SrqDdpTest, AReadBesideAMessage) {
  wqe(14);
  begin(1);
  response(1);
  send(1, 10, 5, true);
  EXPECT_EQ(said(), (Items{ok(1, 14, 0, DeliverKind::kRead), ok(1, 14, 15)}));
  wqe(15);
  begin(1);
  response(1);
  stop(1);
  EXPECT_EQ(said(), (Items{ok(1, 15, 0, DeliverKind::kRead), bad(1, 15), ack(1)}));
}

}  // namespace
}  // namespace rnic::tb
