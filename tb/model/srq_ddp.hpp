// Shared receive queues in ddp, without other units: a fixture that records reports and
// acknowledgements.
//
//   wqe(41);   begin(1);   write(1, kBadStag);           // a message begins, then an error
//   EXPECT_EQ(said(), Items{bad(1, 41)});
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "ddp/ddp.hpp"
#include "wire.hpp"

namespace rnic::tb {

class SrqDdpTest : public testing::Test,
                   protected model::Ddp::Out,
                   private model::SegmentJudge,
                   private model::Translation {
 protected:
  using Ddp = model::Ddp;
  using Cause = spec::Cause;
  using DeliverKind = spec::DeliverKind;
  using RqTake = spec::RqTake;
  using TptResult = spec::TptResult;
  using WcStatus = spec::WcStatus;

  static constexpr uint32_t kBadStag = 0xbad;
  static constexpr std::array<uint16_t, 3> kQps{1, 2, 3};

  /// A report (rx_done) of ddp, or its acknowledgement of an order.
  struct Item {
    uint16_t qpn = 0;
    bool is_ack = false;
    DeliverKind kind{};
    uint16_t index = 0;
    WcStatus status{};
    uint32_t byte_len = 0;
    friend bool operator==(const Item&, const Item&) = default;
    friend void PrintTo(const Item& i, std::ostream* o) {
      *o << "QP " << i.qpn << (i.is_ack ? ": ack" : ": ") << to_string(i.kind) << " " << i.index
         << " " << to_string(i.status) << " " << i.byte_len << " bytes";
    }
  };
  using Items = std::vector<Item>;
  static Item ok(uint16_t qpn, uint16_t tag, uint32_t bytes,
                 DeliverKind kind = DeliverKind::kRecv) {
    return {.qpn = qpn, .kind = kind, .index = tag, .byte_len = bytes};
  }
  static Item bad(uint16_t qpn, uint16_t tag, WcStatus status = WcStatus::kWrFlushErr) {
    return {.qpn = qpn, .kind = DeliverKind::kRecv, .index = tag, .status = status};
  }
  static Item ack(uint16_t qpn) { return {.qpn = qpn, .is_ack = true}; }
  Items said() { return std::exchange(log, {}); }

  SrqDdpTest() {
    for (const uint16_t qpn : kQps) start(qpn);
  }
  void start(uint16_t qpn) {
    ddp.control({.op = spec::QpOp::kStart, .qpn = qpn, .params = {.pd = 1, .persist = 1}});
    EXPECT_EQ(said(), Items{ack(qpn)});
    msn[qpn] = 1;
    failed[qpn] = false;
  }
  /// An order of qp.
  void order(spec::QpOp op, uint16_t qpn) { ddp.control({.op = op, .qpn = qpn, .params = {}}); }
  void stop(uint16_t qpn) { order(spec::QpOp::kStop, qpn); }

  /// Sets what the next take gets: tag and result. One SGE of 100 bytes.
  void wqe(uint16_t tag, RqTake result = RqTake::kOk, bool shared = true, uint32_t stag = 9) {
    spec::RqTakeRsp t{.result = result, .shared = shared, .wqe = {.index = tag}};
    if (result == RqTake::kOk) {
      t.wqe.num_sge = 1;
      t.wqe.sge0 = {.tagged_offset = 4096, .length = 100, .stag = stag};
    }
    takes.push_back(t);
  }
  /// A segment arrives, as from mpa. If it begins a message, ddp takes the next WQE of wqe().
  /// `refuse`: rdmap refuses the segment.
  void segment(uint16_t qpn, const Bytes& header, uint32_t payload, bool refuse = false) {
    const Bytes all = header + Bytes(payload, 1);
    model::RxUlpdu u{
        .hdr = {.qpn = qpn, .length = static_cast<uint16_t>(all.size()), .cause = Cause::kNone},
        .data = rnic::Payload::copy_of(all)};
    ddp.rx.enters(qpn);
    if (ddp.rx.needs_receive(u)) {
      ASSERT_FALSE(takes.empty());
      ddp.rx.received(qpn, takes.front());
      takes.pop_front();
    }
    refuses = refuse;
    places += ddp.rx.take(std::move(u)) ? 1 : 0;
    if (instant) place_all();
  }
  /// A segment of a Send: n bytes from message offset `mo` on. begin(): the first 10 bytes of one.
  void send(uint16_t qpn, uint32_t mo, uint32_t n, bool last, bool refuse = false,
            uint8_t opcode = 0x43) {
    segment(qpn, untagged(last ? 0x41 : 0x01, opcode, 0, msn[qpn], mo), n, refuse);
    if (last) ++msn[qpn];
  }
  void begin(uint16_t qpn, bool refuse = false) { send(qpn, 0, 10, false, refuse); }
  void send_inv(uint16_t qpn) { send(qpn, 0, 10, true, false, 0x44); }
  void write(uint16_t qpn, uint32_t stag, bool refuse = false) {
    segment(qpn, tagged(0xc1, 0x40, stag, 4096), 10, refuse);
  }
  /// The last segment of a Read Response.
  void response(uint16_t qpn) { segment(qpn, tagged(0xc1, 0x42, 9, 4096), 10); }
  void place_one() {
    --places;
    ddp.rx.place_done({});
  }
  void place_all() {
    while (places != 0) place_one();
  }

  Items log;
  std::deque<spec::RqTakeRsp> takes;
  std::map<uint16_t, uint32_t> msn;
  std::map<uint16_t, bool> failed;         // QPs of which rdmap now refuses every segment
  uint32_t places = 0, invalidations = 0;  // placements and invalidations that are not done yet
  // refuses: rdmap refuses the present segment. instant: each segment is placed at once.
  bool refuses = false, instant = true;
  Ddp ddp{spec::Sizes{}, *this, *this, *this};

 private:
  void qp_ack_ddp(const spec::QpAckDdp& a) override { log.push_back(ack(a.qpn)); }
  void tx_want(const spec::TxWant&) override {}
  void tx_fault(const spec::TxFault&) override {}
  void sq_slot_free(const spec::SqSlotFree&) override {}
  void resp_slot_free(const spec::RespSlotFree&) override {}
  void rx_done(const spec::RxDone& d) override {
    log.push_back({.qpn = d.qpn,
                   .kind = d.kind,
                   .index = d.index,
                   .status = d.status,
                   .byte_len = d.byte_len});
  }
  void invalidate(const spec::Invalidate&) override { ++invalidations; }
  /// The verdict of rdmap. Byte 0 of the header: 0x80 tagged, 0x40 last; byte 1: the opcode, 2 Read
  /// Response, 4 Send with Invalidate.
  spec::RxVerdict rx_segment(const spec::RxSegment& s) override {
    const auto bytes = s.ulpdu_length;
    const bool is_tagged = bytes != 0 && (s.head[0] & 0x80) != 0;
    failed[s.qpn] = failed[s.qpn] || s.cause != Cause::kNone || refuses;
    if (failed[s.qpn]) return {.accept = 0};
    spec::RxVerdict v{
        .accept = 1,
        .place = bytes > (is_tagged ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes)};
    if ((s.head[0] & 0x40) == 0) return v;
    if (is_tagged) {
      if ((s.head[1] & 0xf) == 2) v.deliver = DeliverKind::kRead;
      return v;
    }
    const bool inv = (s.head[1] & 0xf) == 4;
    v.deliver = inv ? DeliverKind::kInvalidate : DeliverKind::kRecv;
    return v;
  }
  spec::TptResult check(const spec::WqeCheck&) const override { return TptResult::kOk; }
  spec::TptResult translate(const spec::WqeCheck& c, model::ExtentList& out) override {
    if (c.stag == kBadStag) return TptResult::kStag;
    if (c.length != 0) out.add({.address = c.tagged_offset, .length = c.length, .last = c.last});
    return TptResult::kOk;
  }
  void retired(const spec::Retired&) override {}
};

}  // namespace rnic::tb
