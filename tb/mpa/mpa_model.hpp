// The model's mpa with the interface of RtlMpa: two directions, each with an input queue. A stop or
// sync waits for the items in the queues. An item is processed when the neighbour can accept its
// result.
#pragma once

#include <memory>

#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "mpa/mpa.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool Minimum>
struct ModelMpa : PacedDut {
  static spec::Sizes sizes() { return Minimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  // qp
  PacedIn<spec::QpCtlMpa> ctl{*this, "qp_ctl_mpa"};
  PacedOut<spec::QpAckMpa> ack{*this, "qp_ack_mpa"};
  // receive
  PacedIn<spec::RxFpduHdr> rx_fpdu_hdr{*this, "rx_fpdu_hdr"};
  PacedPacketIn rx_fpdu{*this, "rx_fpdu"};
  PacedOut<spec::RxUlpduHdr> rx_ulpdu_hdr{*this, "rx_ulpdu_hdr"};
  PacedPacketOut rx_ulpdu{*this, "rx_ulpdu"};
  // transmit
  PacedIn<spec::TxUlpduHdr> tx_ulpdu_hdr{*this, "tx_ulpdu_hdr"};
  PacedPacketIn tx_ulpdu{*this, "tx_ulpdu"};
  PacedOut<spec::TxFpduHdr> tx_fpdu_hdr{*this, "tx_fpdu_hdr"};
  PacedPacketOut tx_fpdu{*this, "tx_fpdu"};

  void reset() override {
    mpa_ = std::make_unique<model::Mpa>(sizes(), out_);
    rx_.clear();
    tx_.clear();
  }
  void step() override {
    if (rx_fpdu_hdr.offers() && rx_fpdu.offers() && !rx_.full()) {
      const auto hdr = rx_fpdu_hdr.pop();
      const Packet p = rx_fpdu.pop();
      mpa_->enters(hdr.qpn, true);
      rx_.push({.hdr = hdr, .data = Payload::copy_of(p.bytes), .error = p.error});
    }
    if (tx_ulpdu_hdr.offers() && tx_ulpdu.offers() && !tx_.full()) {
      const auto hdr = tx_ulpdu_hdr.pop();
      mpa_->enters(hdr.qpn, false);
      tx_.push({.hdr = hdr, .payload = Payload::copy_of(tx_ulpdu.pop().bytes)});
    }
    if (ctl.offers()) mpa_->control(ctl.pop());
    if (rx_.ready() && rx_ulpdu_hdr.takes() && rx_ulpdu.takes()) {
      mpa_->rx.take(rx_.pop());
      const auto u = mpa_->rx.next();
      rx_ulpdu_hdr.give(u.hdr);
      rx_ulpdu.give(to_packet(u.data.bytes()));
    }
    if (tx_.ready() && tx_fpdu_hdr.takes() && tx_fpdu.takes()) {
      mpa_->tx.take(tx_.pop());
      const auto f = mpa_->tx.next();
      tx_fpdu_hdr.give(f.hdr);
      tx_fpdu.give(to_packet(f.data.bytes()));
    }
  }

 private:
  struct Out final : model::Mpa::Out {
    explicit Out(ModelMpa& dut) : d(dut) {}
    void qp_ack_mpa(const spec::QpAckMpa& a) override { d.ack.push(a); }
    ModelMpa& d;
  };

  Out out_{*this};
  std::unique_ptr<model::Mpa> mpa_;
  PacedFifo<model::RxFpdu> rx_{*this, "rx", sizes().fifo_depth};
  PacedFifo<model::TxUlpdu> tx_{*this, "tx", sizes().fifo_depth};
};

}  // namespace rnic::tb
