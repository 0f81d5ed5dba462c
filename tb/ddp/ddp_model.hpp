// The model's ddp behind the interface of RtlDdp. Ports: support/paced_model.hpp.
//
// The behaviour calls tpt and rdmap. A call becomes give() of the request and answer() of the
// response: the bench puts the response in the same cycle, when it sees the request. tx_xlate has
// no response: the result of a transmit segment's keys comes with its payload (payload_hdr.result).
// push(): the item is queued, and the bench takes one per cycle.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ddp/ddp.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool Minimum>
struct ModelDdp : PacedDut {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  void start(Pace p) { restart(p); }
  model::Ddp& behaviour() { return *ddp_; }

  // qp
  PacedIn<spec::QpCtlDdp> qp_ctl{*this, "qp_ctl_ddp"};
  PacedOut<spec::QpAckDdp> qp_ack{*this, "qp_ack_ddp"};
  PacedOut<spec::RqTakeReq> rq_take_req{*this, "rq_take_req"};
  PacedIn<spec::RqTakeRsp> rq_take_rsp{*this, "rq_take_rsp"};
  PacedOut<spec::RxDone> rx_done{*this, "rx_done"};
  PacedOut<spec::SqSlotFree> sq_slot_free{*this, "sq_slot_free"};
  // mpa
  PacedIn<spec::RxUlpduHdr> rx_ulpdu_hdr{*this, "rx_ulpdu_hdr"};
  PacedPacketIn rx_ulpdu{*this, "rx_ulpdu"};
  PacedOut<spec::TxUlpduHdr> tx_ulpdu_hdr{*this, "tx_ulpdu_hdr"};
  PacedPacketOut tx_ulpdu{*this, "tx_ulpdu"};
  // tpt
  PacedOut<spec::RxXlate> rx_xlate{*this, "rx_xlate"};
  PacedIn<spec::RxXlateRsp> rx_xlate_rsp{*this, "rx_xlate_rsp"};
  PacedIn<spec::RxExtent> rx_extent{*this, "rx_extent"};
  PacedOut<spec::RxDropped> rx_dropped{*this, "rx_dropped"};
  PacedOut<spec::Invalidate> invalidate{*this, "invalidate"};
  PacedIn<spec::Invalidated> invalidated{*this, "invalidated"};
  PacedOut<spec::TxXlate> tx_xlate{*this, "tx_xlate"};
  // rdmap
  PacedOut<spec::RxSegment> rx_segment{*this, "rx_segment"};
  PacedIn<spec::RxVerdict> rx_verdict{*this, "rx_verdict"};
  PacedIn<spec::TxMessageHdr> tx_message_hdr{*this, "tx_message_hdr"};
  PacedPacketIn tx_message{*this, "tx_message"};
  PacedOut<spec::RespSlotFree> resp_slot_free{*this, "resp_slot_free"};
  PacedOut<spec::TxFault> tx_fault{*this, "tx_fault"};
  // host_if
  PacedOut<spec::PlaceHdr> place_hdr{*this, "place_hdr"};
  PacedOut<spec::PlaceExtent> place_extent{*this, "place_extent"};
  PacedPacketOut place{*this, "place"};
  PacedIn<spec::PlaceDone> place_done{*this, "place_done"};
  PacedOut<spec::PayloadReq> payload_req{*this, "payload_req"};
  PacedIn<spec::PayloadHdr> payload_hdr{*this, "payload_hdr"};
  PacedPacketIn payload{*this, "payload"};
  // llp_if
  PacedOut<spec::TxWant> tx_want{*this, "tx_want"};
  PacedIn<spec::TxGrant> tx_grant{*this, "tx_grant"};

  void reset() override {
    ddp_ = std::make_unique<model::Ddp>(sizes(), tpt_, rdmap_, out_);
    rx_.clear();
    segments_.clear();
    acks_.clear();
    taking_ = scheduling_ = false;
  }
  void step() override {
    if (place_done.offers()) ddp_->rx.place_done(place_done.pop());
    if (invalidated.offers()) {
      (void)invalidated.pop();
      ddp_->rx.invalidated();
    }
    receive();
    if (tx_message_hdr.offers() && tx_message.offers()) {
      const auto hdr = tx_message_hdr.pop();
      ddp_->tx.message({.hdr = hdr, .body = Payload::copy_of(tx_message.pop().bytes)});
    }
    schedule();
    send();
    if (qp_ctl.offers()) ddp_->control(qp_ctl.pop());
    acknowledge();
  }

 private:
  struct Out final : model::Ddp::Out {
    explicit Out(ModelDdp& dut) : d(dut) {}
    void qp_ack_ddp(const spec::QpAckDdp& a) override { d.acks_.push_back(a); }
    void tx_want(const spec::TxWant& w) override { d.tx_want.push(w); }
    void tx_fault(const spec::TxFault& f) override {
      d.tx_fault.push(f);
      d.ddp_->tx.fault(f.qpn);
    }
    void sq_slot_free(const spec::SqSlotFree& f) override { d.sq_slot_free.push(f); }
    void resp_slot_free(const spec::RespSlotFree& f) override { d.resp_slot_free.push(f); }
    void rx_done(const spec::RxDone& r) override { d.rx_done.push(r); }
    void invalidate(const spec::Invalidate& i) override { d.invalidate.push(i); }
    ModelDdp& d;
  };
  struct Tpt final : model::Translation {
    explicit Tpt(ModelDdp& dut) : d(dut) {}
    spec::TptResult check(const spec::WqeCheck&) const override { return spec::TptResult::kOk; }
    /// A lookup for a transmit segment while schedule() runs, else for a received one.
    spec::TptResult translate(const spec::WqeCheck& c, model::ExtentList& extents) override {
      if (!d.scheduling_) return d.ask_rx(c, extents);
      d.tx_xlate.push(c);
      return spec::TptResult::kOk;
    }
    void retired(const spec::Retired& r) override { d.rx_dropped.push(r); }
    ModelDdp& d;
  };
  struct Rdmap final : model::SegmentJudge {
    explicit Rdmap(ModelDdp& dut) : d(dut) {}
    spec::RxVerdict rx_segment(const spec::RxSegment& s) override {
      d.rx_segment.give(s);
      return d.rx_verdict.answer();
    }
    ModelDdp& d;
  };

  /// Puts one item of a group on rx_xlate. A group has one response, after its last item. If the
  /// result is ok and the last item has bytes, the extents of the group follow. Each item before
  /// the last counts as good: a bench must not let an invalidation fail that has pieces after it.
  spec::TptResult ask_rx(const spec::RxXlate& x, model::ExtentList& extents) {
    rx_xlate.give(x);
    if (x.last == 0) return spec::TptResult::kOk;
    const auto result = rx_xlate_rsp.answer().result;
    if (result != spec::TptResult::kOk || x.length == 0) return result;
    for (bool last = false; !last;) {
      const auto e = rx_extent.answer();
      extents.add(e);
      last = e.last != 0;
    }
    return result;
  }
  /// Accepts a ULPDU into the queue rx_. Then judges the oldest one, if it has its receive WQE.
  void receive() {
    if (rx_ulpdu_hdr.offers() && rx_ulpdu.offers() && !rx_.full()) {
      const auto hdr = rx_ulpdu_hdr.pop();
      const Packet p = rx_ulpdu.pop();
      // A bench may put a packet of fewer bytes than hdr.length, as SendOverFourGigabytesIsTooLong.
      model::RxUlpdu u{.hdr = hdr, .data = Payload::make(hdr.length)};
      std::copy(p.bytes.begin(), p.bytes.end(), u.data.writable().begin());
      ddp_->rx.enters(hdr.qpn);
      rx_.push(std::move(u));
    }
    // All outputs of this step must have room, because the behaviour cannot stall inside a call.
    const bool room = rx_xlate.takes() && rx_segment.takes() && place_hdr.ready() &&
                      place_extent.ready() && place.ready();
    if (!rx_.ready() || !room) return;
    if (ddp_->rx.needs_receive(rx_.front())) {
      const uint16_t qpn = rx_.front().hdr.qpn;
      if (!std::exchange(taking_, true)) rq_take_req.push({.qpn = qpn});
      if (!rq_take_rsp.offers()) return;
      taking_ = false;
      ddp_->rx.received(qpn, rq_take_rsp.pop());
    }
    const auto p = ddp_->rx.take(rx_.pop());
    if (!p) return;
    place_hdr.push({.length = p->data.size()});
    for (const auto& e : p->extents.all()) place_extent.push(e);
    place.push(to_packet(p->data.bytes()));
  }
  /// Acknowledges orders after qp and rdmap have accepted all reports: ready() is true when the
  /// port's queue is empty.
  void acknowledge() {
    if (!rx_done.ready() || !sq_slot_free.ready() || !resp_slot_free.ready() || !tx_fault.ready())
      return;
    for (const auto& a : acks_) qp_ack.push(a);
    acks_.clear();
  }
  /// Uses one grant: schedules a segment and requests its payload.
  void schedule() {
    if (!tx_grant.offers() || segments_.full()) return;
    const auto grant = tx_grant.pop();
    const auto source = ddp_->tx.choice(grant.qpn);
    if (!source) return;  // the message of the want was dropped
    scheduling_ = true;
    auto s = ddp_->tx.schedule(grant, *source);
    if (s) ddp_->tx.fetch(*s);
    scheduling_ = false;
    if (!s) return;
    if (s->segment.fetches) payload_req.push(s->fetch.hdr);
    segments_.push(std::move(s->segment));
  }
  /// Sends the oldest scheduled segment, once its payload has come.
  void send() {
    if (!segments_.ready() || !tx_ulpdu_hdr.takes() || !tx_ulpdu.takes()) return;
    auto& s = segments_.front();
    if (!ddp_->tx.may_leave(s)) return;
    model::PayloadData data;
    if (s.fetches) {
      if (!payload_hdr.offers() || !payload.offers()) return;
      data = {.hdr = payload_hdr.pop(), .data = Payload::copy_of(payload.pop().bytes)};
      s.result = data.hdr.result;
    }
    const auto u = ddp_->tx.assemble(segments_.pop(), std::move(data));
    if (!u) return;
    Packet packet = to_packet(std::span(u->header).first(u->header_bytes));
    const auto body = u->payload.bytes();
    packet.bytes.insert(packet.bytes.end(), body.begin(), body.end());
    tx_ulpdu_hdr.give(u->hdr);
    tx_ulpdu.give(std::move(packet));
  }

  Out out_{*this};
  Tpt tpt_{*this};
  Rdmap rdmap_{*this};
  std::unique_ptr<model::Ddp> ddp_;
  PacedFifo<model::RxUlpdu> rx_{*this, "rx", sizes().fifo_depth};
  PacedFifo<model::Ddp::Segment> segments_{*this, "segments", sizes().seg_depth};
  std::vector<spec::QpAckDdp> acks_;
  bool taking_ = false;      // rq_take_req is sent and not answered
  bool scheduling_ = false;  // while schedule() checks the segment's keys
};

}  // namespace rnic::tb
