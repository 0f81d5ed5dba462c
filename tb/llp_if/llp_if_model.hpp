// The model's llp_if with the interface of RtlLlpIf. It handles records and events of the LLP in
// the order of their arrival, one record and one FPDU at a time, and wants in the order of arrival.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "llp_if/llp_if.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool Minimum>
struct ModelLlpIf : PacedDut {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  static constexpr bool kHasCycles = false;

  // LLP
  PacedIn<spec::LlpRxHdr> llp_rx_hdr{*this, "llp_rx_hdr"};
  PacedPacketIn llp_rx{*this, "llp_rx"};
  PacedOut<spec::LlpTxHdr> llp_tx_hdr{*this, "llp_tx_hdr"};
  PacedPacketOut llp_tx{*this, "llp_tx"};
  PacedOut<spec::LlpCtlReq> req{*this, "llp_ctl_req"};
  PacedIn<spec::LlpCtlEvt> evt{*this, "llp_ctl_evt"};
  PacedIn<spec::LlpCredit> credit{*this, "llp_credit"};
  // admin
  PacedIn<spec::ConnCmd> cmd{*this, "conn_cmd"};
  PacedOut<spec::ConnCmdRsp> rsp{*this, "conn_cmd_rsp"};
  PacedIn<spec::RawTxHdr> raw_tx_hdr{*this, "raw_tx_hdr"};
  PacedPacketIn raw_tx{*this, "raw_tx"};
  PacedOut<spec::RawRxHdr> raw_rx_hdr{*this, "raw_rx_hdr"};
  PacedPacketOut raw_rx{*this, "raw_rx"};
  // qp
  PacedIn<spec::QpCtlLlp> ctl{*this, "qp_ctl_llp"};
  PacedOut<spec::QpAckLlp> ack{*this, "qp_ack_llp"};
  PacedOut<spec::WrDone> done{*this, "wr_done"};
  PacedOut<spec::LlpEvent> event{*this, "llp_event"};
  // ddp
  PacedIn<spec::TxWant> want{*this, "tx_want"};
  PacedOut<spec::TxGrant> grant{*this, "tx_grant"};
  // mpa
  PacedIn<spec::TxFpduHdr> tx_fpdu_hdr{*this, "tx_fpdu_hdr"};
  PacedPacketIn tx_fpdu{*this, "tx_fpdu"};
  PacedOut<spec::RxFpduHdr> rx_fpdu_hdr{*this, "rx_fpdu_hdr"};
  PacedPacketOut rx_fpdu{*this, "rx_fpdu"};
  // cq
  PacedOut<spec::ConnAsync> async{*this, "conn_async"};

  void reset() override {
    llp_ = std::make_unique<model::LlpIf>(sizes(), out_);
    in_.clear();
    raws_.clear();
    wants_.clear();
    timers_.clear();
    sending_.reset();
    before_start_.reset();
    connecting_ = false;
    records_ = 0;
  }
  void step() override {
    arrive();
    receive();
    transmit();
    control();
    grants();
  }

 private:
  // Cycles after which a Terminate or streaming bytes that wait for credit are dropped: TermTimeout
  // (2^16) and 16 more, since the tests expect a Terminate to wait for more than 2^16 cycles.
  static constexpr uint64_t kPatience = (1U << 16) + 16;
  using In = std::variant<model::LlpRecord, spec::LlpCtlEvt>;
  struct Out final : model::LlpIf::Out {
    explicit Out(ModelLlpIf& dut) : d(dut) {}
    void conn_cmd_rsp(const spec::ConnCmdRsp& r) override {
      d.connecting_ = false;
      d.rsp.push(r);
    }
    void qp_ack_llp(const spec::QpAckLlp& a) override { d.ack.push(a); }
    void llp_event(const spec::LlpEvent& e) override { d.event.push(e); }
    void conn_async(const spec::ConnAsync& a) override { d.async.push(a); }
    void llp_ctl_req(const spec::LlpCtlReq& r) override { d.req.push(r); }
    void wr_done(const spec::WrDone& w) override { d.done.push(w); }
    void grantable(const spec::TxWant& w) override { d.wants_.push_back(w); }
    void term_timer(uint16_t qpn, uint32_t life) override {
      d.timers_.push_back({d.now() + kPatience, qpn, life});
    }
    void raw_tx_possible() override {}  // step() polls each time
    void give_ended(uint16_t connection) override {
      d.raw_rx_hdr.push({.connection = connection, .length = 0, .ended = 1});
      d.raw_rx.push({});
    }
    ModelLlpIf& d;
  };
  struct Timer {
    uint64_t at = 0;
    uint16_t qpn = 0;
    uint32_t life = 0;
  };
  /// Streaming bytes, which are dropped if they have no credit in cycle `until`.
  struct Raw {
    model::RawBytes bytes;
    uint64_t until = 0;
  };

  /// Accepts the inputs of this cycle into the queues.
  void arrive() {
    if (llp_rx_hdr.offers() && llp_rx.offers() && records_ < sizes().fifo_depth) {
      const auto h = llp_rx_hdr.pop();
      const Packet p = llp_rx.pop();
      in_.push_back(model::LlpRecord{.connection = h.connection,
                                     .is_stream = h.is_stream != 0,
                                     .error = p.error,
                                     .data = Payload::copy_of(p.bytes)});
      records_++;
    }
    if (evt.offers()) in_.push_back(evt.pop());
    if (credit.offers()) llp_->credit(credit.pop());
    if (raw_tx_hdr.offers() && raw_tx.offers()) {
      const auto h = raw_tx_hdr.pop();
      raws_.push_back({{.connection = h.connection, .data = Payload::copy_of(raw_tx.pop().bytes)},
                       now() + kPatience});
    }
  }
  /// The ports have accepted everything that was received, and below: everything that was sent.
  [[nodiscard]] bool rx_left() const {
    return rx_fpdu_hdr.ready() && rx_fpdu.ready() && raw_rx_hdr.ready() && raw_rx.ready();
  }
  [[nodiscard]] bool tx_left() const { return llp_tx_hdr.ready() && llp_tx.ready() && !sending_; }

  void receive() {
    if (in_.empty() || !rx_left()) return;
    In item = std::move(in_.front());
    in_.pop_front();
    if (const auto* e = std::get_if<spec::LlpCtlEvt>(&item)) return llp_->event(*e);
    records_--;
    model::LlpRecord& r = std::get<model::LlpRecord>(item);
    if (const auto f = llp_->receive(r)) {
      rx_fpdu_hdr.push(f->hdr);
      rx_fpdu.push(packet(f->data, f->error));
    } else if (llp_->answers_give(r)) {
      raw_rx_hdr.push({.connection = r.connection, .length = static_cast<uint16_t>(r.data.size())});
      raw_rx.push(packet(r.data));
    }
  }
  void transmit() {
    if (sending_ && llp_tx_hdr.ready() && llp_tx.ready())
      llp_->sent(*std::exchange(sending_, std::nullopt));
    if (!tx_left()) return;
    if (!raws_.empty()) {
      Raw& raw = raws_.front();
      switch (llp_->may_send_raw(raw.bytes)) {
        case model::LlpIf::Raw::kSend:
          send(llp_->send_raw(std::move(raw.bytes)));
          raws_.pop_front();
          return;
        case model::LlpIf::Raw::kWait:
          if (now() < raw.until) break;
          llp_->abandon(raw.bytes);
          [[fallthrough]];
        case model::LlpIf::Raw::kDrop:
          raws_.pop_front();
          break;
      }
    }
    if (!tx_fpdu_hdr.offers() || !tx_fpdu.offers()) return;
    model::TxFpdu f{.hdr = tx_fpdu_hdr.pop(), .data = Payload::copy_of(tx_fpdu.pop().bytes)};
    // One FPDU less that was queued before the start that waits in control().
    if (before_start_ && *before_start_ != 0) --*before_start_;
    if (auto record = llp_->send(f)) {
      send(std::move(*record), f.hdr.length);
      sending_ = f.hdr;
    }
  }
  void control() {
    while (!timers_.empty() && timers_.front().at <= now()) {
      llp_->term_timeout(timers_.front().qpn, timers_.front().life);
      timers_.pop_front();
    }
    // raw_left: all streaming bytes were sent. Three kinds of items wait for this: a start, a
    // command that closes or releases a connection, and a command that asks whether bytes may be
    // sent.
    const bool raw_left = raws_.empty() && raw_tx_hdr.empty() && tx_left();
    if (cmd.offers() && !connecting_ &&
        (raw_left || (cmd.front().opcode != spec::AdminOpcode::kConnClose &&
                      cmd.front().opcode != spec::AdminOpcode::kConnRelease &&
                      model::LlpIf::bytes_of(cmd.front()) == 0))) {
      connecting_ = cmd.front().opcode == spec::AdminOpcode::kConnConnect;
      llp_->command(cmd.pop());
    }
    if (!ctl.offers()) return;
    const auto& c = ctl.front();
    bool may = true;
    if (c.op == spec::QpOp::kStart) {
      // FPDUs and wants from before the start belong to the QP's last life: they go first.
      if (!before_start_) before_start_ = tx_fpdu_hdr.size();
      may = raw_left && *before_start_ == 0;
      for (const auto& w : wants_) may = may && w.qpn != c.qpn;
    } else if (c.op != spec::QpOp::kSync) {  // first drains everything in flight
      may = records_ == 0 && rx_left() && tx_left();
    }
    if (!may) return;
    before_start_.reset();
    llp_->control(ctl.pop());
  }
  void grants() {
    if (want.offers()) wants_.push_back(want.pop());
    if (wants_.empty() || !grant.ready()) return;
    const auto w = wants_.front();
    wants_.pop_front();
    if (const auto g = llp_->grant(w)) grant.push(*g);
  }

  static Packet packet(const Payload& data, bool error = false) {
    const auto bytes = data.bytes();
    return {{bytes.begin(), bytes.end()}, error};
  }
  void send(model::LlpRecord r, std::optional<uint32_t> length = {}) {
    llp_tx_hdr.push({.connection = r.connection,
                     .is_stream = r.is_stream,
                     .length = length.value_or(r.data.size())});
    llp_tx.push(packet(r.data));
  }

  Out out_{*this};
  std::unique_ptr<model::LlpIf> llp_;
  std::deque<In> in_;
  std::deque<Raw> raws_;
  std::deque<spec::TxWant> wants_;
  std::deque<Timer> timers_;
  std::optional<spec::TxFpduHdr> sending_;  // accepted by the LLP, but not yet whole
  std::optional<size_t> before_start_;      // FPDUs queued before the start at the front
  bool connecting_ = false;                 // a conn_connect waits for its response
  uint32_t records_ = 0;                    // records in in_
};

}  // namespace rnic::tb
