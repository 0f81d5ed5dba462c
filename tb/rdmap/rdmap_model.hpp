// The model's rdmap behind the interface of RtlRdmap. Verdicts and checks of sources are function
// calls of the model. Messages are sent one at a time: Terminates first, otherwise from the send
// queue or the responder, chosen at random. An order is acknowledged when all WQEs that came before
// it, and the Terminate and the last message of its QP, are sent.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "rdmap/rdmap.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool Minimum>
struct ModelRdmap : PacedDut {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  static constexpr bool kMinimum = Minimum;
  model::Rdmap& behaviour() { return *rdmap_; }

  // qp
  PacedIn<spec::QpCtlRdmap> qp_ctl{*this, "qp_ctl_rdmap"};
  PacedOut<spec::QpAckRdmap> qp_ack{*this, "qp_ack_rdmap"};
  PacedIn<spec::WqeHdr> wqe_hdr{*this, "wqe_hdr"};
  PacedPacketIn wqe{*this, "wqe"};
  PacedIn<spec::QpFault> qp_fault{*this, "qp_fault"};
  PacedOut<spec::QpError> qp_error{*this, "qp_error"};
  // ddp
  PacedOut<spec::TxMessageHdr> tx_message_hdr{*this, "tx_message_hdr"};
  PacedPacketOut tx_message{*this, "tx_message"};
  PacedIn<spec::RespSlotFree> resp_slot_free{*this, "resp_slot_free"};
  PacedIn<spec::TxFault> tx_fault{*this, "tx_fault"};
  PacedIn<spec::RxSegment> rx_segment{*this, "rx_segment"};
  PacedOut<spec::RxVerdict> rx_verdict{*this, "rx_verdict"};

  // tpt
  std::function<spec::TptResult(const spec::RespCheck&)> check;  // empty: every source is good
  std::vector<spec::RespCheck> checks;                           // the checks requested so far

  void start(Pace p) {
    restart(p);
    checks.clear();
    check = nullptr;
  }
  void reset() override {
    rdmap_ = std::make_unique<model::Rdmap>(sizes(), tpt_, out_);
    segments_.clear();
    wqes_.clear();
    terminates_.clear();
    orders_.clear();
    leaving_.reset();
    last_ = 0;
  }
  void step() override {
    if (rx_segment.offers() && !segments_.full()) segments_.push(rx_segment.pop());
    if (wqe_hdr.offers() && wqe.offers() && !wqes_.full()) {
      const auto hdr = wqe_hdr.pop();
      wqes_.push({.hdr = hdr, .body = Payload::copy_of(wqe.pop().bytes)});
    }
    if (segments_.ready() && rx_verdict.takes())
      rx_verdict.give(rdmap_->rx_segment(segments_.pop()));
    if (qp_fault.offers()) rdmap_->qp_fault(qp_fault.pop());
    if (tx_fault.offers()) rdmap_->tx_fault(tx_fault.pop());
    if (resp_slot_free.offers()) rdmap_->resp_slot_free(resp_slot_free.pop());
    send();
    if (qp_ctl.offers()) rdmap_->control(qp_ctl.pop());
    acknowledge();
  }

 private:
  struct Out final : model::Rdmap::Out {
    explicit Out(ModelRdmap& dut) : d(dut) {}
    void qp_ack_rdmap(const spec::QpAckRdmap& a) override {
      d.orders_.push_back({a, d.wqes_.size()});
    }
    void qp_error(const spec::QpError& e) override { d.qp_error.push(e); }
    void terminate(model::TxMessage m) override { d.terminates_.push_back(std::move(m)); }
    void responder_ready(uint16_t) override {}  // step() polls
    void result(const spec::AtomicReq&) override {
    }  // atomics are tested on RTL (rdmap_atomic_test)
    void sq_local(const spec::SqLocal&) override {}  // the wrapper (RdmapUnit) waits for tpt
    ModelRdmap& d;
  };
  struct Order {
    spec::QpAckRdmap ack;
    size_t wqes = 0;  // WQEs that arrived before the order
  };
  struct Tpt final : model::Translation {
    explicit Tpt(ModelRdmap& dut) : d(dut) {}
    spec::TptResult check(const spec::RespCheck& c) const override {
      d.checks.push_back(c);
      return d.check ? d.check(c) : spec::TptResult::kOk;
    }
    spec::TptResult translate(const spec::WqeCheck&, model::ExtentList&) override {
      return spec::TptResult::kOk;
    }
    void retired(const spec::Retired&) override {}
    ModelRdmap& d;
  };

  /// Sends the next message, when ddp has accepted the last one.
  void send() {
    if (!tx_message_hdr.ready() || !tx_message.ready()) return;
    leaving_.reset();
    const auto m = next_message();
    if (!m) return;
    leaving_ = m->hdr.qpn;
    tx_message_hdr.push(m->hdr);
    tx_message.push(to_packet(m->body.bytes()));
  }
  /// Returns the next message; none if no source has one, or if a WQE gives none (its QP has
  /// failed).
  std::optional<model::TxMessage> next_message() {
    if (!terminates_.empty()) {
      auto m = std::move(terminates_.front());
      terminates_.pop_front();
      return m;
    }
    const auto& ready = rdmap_->responders();
    if (!ready.empty() && (!wqes_.ready() || rng_.percent(50))) {
      last_ = ready.next(last_ + 1);
      return rdmap_->respond(static_cast<uint16_t>(last_));
    }
    if (!wqes_.ready()) return std::nullopt;
    for (Order& o : orders_) o.wqes -= o.wqes != 0;
    return rdmap_->request(wqes_.pop());
  }
  void acknowledge() {
    if (orders_.empty() || orders_.front().wqes != 0) return;
    const uint16_t qpn = orders_.front().ack.qpn;
    const bool left = tx_message_hdr.ready() && tx_message.ready();
    if (leaving_ == qpn && !left) return;
    for (const auto& t : terminates_)
      if (t.hdr.qpn == qpn) return;
    qp_ack.push(orders_.front().ack);
    orders_.pop_front();
  }

  Out out_{*this};
  Tpt tpt_{*this};
  base::Rng rng_ = test_rng("rdmap");
  std::unique_ptr<model::Rdmap> rdmap_;
  PacedFifo<spec::RxSegment> segments_{*this, "segments", sizes().fifo_depth};
  PacedFifo<model::Wqe> wqes_{*this, "wqes", sizes().fifo_depth};
  std::deque<model::TxMessage> terminates_;
  std::deque<Order> orders_;
  std::optional<uint16_t> leaving_;  // the QP whose message is being sent to ddp
  uint32_t last_ = 0;                // the QP of the last response
};

}  // namespace rnic::tb
