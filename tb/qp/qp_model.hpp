// The model's qp behind the interface of QpDut. The operations that are possible in a cycle run in
// random order, so that no test depends on the order. The behaviour class uses the results of key
// checks at once (Keys). This file sends the checks and puts the WQE on wqe_hdr after their
// response.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "qp/qp.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool kMinimumBuild>
struct QpModelDut : PacedDut {
  static constexpr bool kIsRtl = false;
  static constexpr bool kMinimum = kMinimumBuild;
  static constexpr uint32_t kBadStag = 0xbadbad00;  // qp_world.hpp's kBadKey

  PacedIn<spec::QpDoorbell> qp_doorbell{*this, "qp_doorbell"};
  PacedOut<spec::RdReq> sq_rd_req{*this, "sq_rd_req"};
  PacedIn<spec::RdHdr> sq_rd_hdr{*this, "sq_rd_hdr"};
  PacedPacketIn sq_rd{*this, "sq_rd"};
  PacedOut<spec::RdReq> rq_rd_req{*this, "rq_rd_req"};
  PacedIn<spec::RdHdr> rq_rd_hdr{*this, "rq_rd_hdr"};
  PacedPacketIn rq_rd{*this, "rq_rd"};
  PacedIn<spec::Cmd> qp_cmd{*this, "qp_cmd"};
  PacedOut<spec::CmdRsp> qp_cmd_rsp{*this, "qp_cmd_rsp"};
  PacedOut<spec::WqeCheck> wqe_check{*this, "wqe_check"};
  PacedIn<spec::WqeCheckRsp> wqe_check_rsp{*this, "wqe_check_rsp"};
  PacedOut<spec::WqeHdr> wqe_hdr{*this, "wqe_hdr"};
  PacedPacketOut wqe{*this, "wqe"};
  PacedOut<spec::QpFault> qp_fault{*this, "qp_fault"};
  PacedIn<spec::QpError> qp_error{*this, "qp_error"};
  PacedIn<spec::SqSlotFree> sq_slot_free{*this, "sq_slot_free"};
  PacedIn<spec::RqTakeReq> rq_take_req{*this, "rq_take_req"};
  PacedOut<spec::RqTakeRsp> rq_take_rsp{*this, "rq_take_rsp"};
  PacedIn<spec::RxDone> rx_done{*this, "rx_done"};
  PacedIn<spec::WrDone> wr_done{*this, "wr_done"};
  PacedIn<spec::LlpEvent> llp_event{*this, "llp_event"};
  PacedOut<spec::CqeReq> cqe_req{*this, "cqe_req"};
  PacedOut<spec::QpAsync> qp_async{*this, "qp_async"};
  PacedOut<spec::QpPurge> qp_purge{*this, "qp_purge"};
  PacedIn<spec::CqFault> cq_fault{*this, "cq_fault"};
  PacedOut<spec::QpCtlLlp> qp_ctl_llp{*this, "qp_ctl_llp"};
  PacedOut<spec::QpCtlLlp> qp_ctl_mpa{*this, "qp_ctl_mpa"};
  PacedOut<spec::QpCtlLlp> qp_ctl_ddp{*this, "qp_ctl_ddp"};
  PacedOut<spec::QpCtlLlp> qp_ctl_rdmap{*this, "qp_ctl_rdmap"};
  PacedIn<spec::QpAckLlp> qp_ack_llp{*this, "qp_ack_llp"};
  PacedIn<spec::QpAckLlp> qp_ack_mpa{*this, "qp_ack_mpa"};
  PacedIn<spec::QpAckLlp> qp_ack_ddp{*this, "qp_ack_ddp"};
  PacedIn<spec::QpAckLlp> qp_ack_rdmap{*this, "qp_ack_rdmap"};

  uint64_t bad_doorbells = 0;

  void reset() override {
    qp_ =
        std::make_unique<model::Qp>(kMinimum ? spec::Sizes::minimum() : spec::Sizes{}, keys_, out_);
    looks_.clear();
    news_.clear();
    commanded_.reset();
    issued_.reset();
    bad_doorbells = 0;
  }
  void step() override {
    static constexpr std::array kActions = {
        &QpModelDut::doorbells, &QpModelDut::fetch,  &QpModelDut::fetched, &QpModelDut::issue,
        &QpModelDut::receives,  &QpModelDut::retire, &QpModelDut::control, &QpModelDut::freed};
    const size_t first = rng_.below(kActions.size());
    for (size_t i = 0; i < kActions.size(); i++) (this->*kActions[(first + i) % kActions.size()])();
  }

 private:
  using Peer = model::Qp::Peer;
  struct Out final : model::Qp::Out {
    explicit Out(QpModelDut& dut) : d(dut) {}
    void qp_cmd_rsp(const spec::QpCmdRsp& rsp) override {
      d.commanded_.reset();
      d.qp_cmd_rsp.push(rsp);
    }
    void qp_ctl(Peer peer, const spec::QpCtlLlp& ctl) override {
      switch (peer) {
        case Peer::kMpa:
          return d.qp_ctl_mpa.push(ctl);
        case Peer::kDdp:
          return d.qp_ctl_ddp.push(ctl);
        case Peer::kRdmap:
          return d.qp_ctl_rdmap.push(ctl);
        case Peer::kLlp:
          return d.qp_ctl_llp.push(ctl);
      }
    }
    void qp_fault(const spec::QpFault& fault) override { d.qp_fault.push(fault); }
    void cqe_req(const spec::CqeReq& cqe) override { d.cqe_req.push(cqe); }
    void qp_async(const spec::QpAsync& async) override { d.qp_async.push(async); }
    void qp_purge(const spec::QpPurge& purge) override { d.qp_purge.push(purge); }
    void ready(model::Qp::Set) override {}  // step() polls
    void look_due(uint16_t qpn) override {
      d.looks_.push_back({qpn, d.wr_done.size(), d.rx_done.size()});
    }
    QpModelDut& d;
  };
  struct Keys final : model::Translation {
    spec::TptResult check(const spec::WqeCheck& c) const override {
      asked.push_back(c);
      return c.stag == kBadStag ? spec::TptResult::kRights : spec::TptResult::kOk;
    }
    spec::TptResult translate(const spec::WqeCheck&, model::ExtentList&) override {
      return spec::TptResult::kOk;
    }
    void retired(const spec::Retired&) override {}
    mutable std::vector<spec::WqeCheck> asked;
  };
  /// A look of qp that is due. It waits until as many reports are taken as were queued before it:
  /// wr_left of wr_done, rx_left of rx_done.
  struct Look {
    uint16_t qpn = 0;
    size_t wr_left = 0, rx_left = 0;
  };

  uint16_t any_of(const model::ReadySet& set) {
    return static_cast<uint16_t>(set.next(static_cast<uint32_t>(rng_.below(set.size()))));
  }

  void doorbells() {
    if (qp_doorbell.offers() && !qp_->doorbell(qp_doorbell.pop())) bad_doorbells++;
  }
  void fetch() {
    const auto ask = [](PacedOut<spec::RdReq>& out, const model::MemRead& r) {
      out.push({.address = r.address, .length = static_cast<uint16_t>(r.length)});
    };
    if (sq_rd_req.ready() && !qp_->fetchable().empty())
      ask(sq_rd_req, qp_->fetch(any_of(qp_->fetchable())));
    if (rq_rd_req.ready() && !qp_->rq_fetchable().empty())
      ask(rq_rd_req, qp_->rq_fetch(any_of(qp_->rq_fetchable())));
  }
  void fetched() {
    const auto answer = [](PacedIn<spec::RdHdr>& hdr, PacedPacketIn& data) {
      const auto status = hdr.pop().status;
      return model::MemData{.status = status, .data = Payload::copy_of(data.pop().bytes)};
    };
    if (sq_rd_hdr.offers() && sq_rd.offers()) qp_->fetched(answer(sq_rd_hdr, sq_rd));
    if (rq_rd_hdr.offers() && rq_rd.offers()) qp_->rq_fetched(answer(rq_rd_hdr, rq_rd));
  }
  void issue() {
    if (issued_) {
      if (asks_ && !wqe_check_rsp.offers()) return;
      if (asks_) wqe_check_rsp.pop();
      wqe_hdr.push(issued_->hdr);
      const auto bytes = issued_->body.bytes();
      const size_t used =
          issued_->hdr.is_inline != 0 ? issued_->hdr.length : size_t{16} * issued_->hdr.num_sge;
      wqe.push({{bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used)}, false});
      issued_.reset();
    }
    if (qp_->issuable().empty() || !wqe_hdr.ready() || !wqe.ready()) return;
    issued_ = qp_->issue(any_of(qp_->issuable()));
    asks_ = !keys_.asked.empty();
    if (asks_) keys_.asked.back().last = 1;
    if (issued_) {
      for (const auto& c : keys_.asked) wqe_check.push(c);
    }
    keys_.asked.clear();
  }
  void receives() {
    if (!rq_take_req.offers() || !rq_take_rsp.ready()) return;
    const auto rsp = qp_->rq_take(rq_take_req.front().qpn);
    if (!rsp) return;
    rq_take_req.pop();
    rq_take_rsp.push(*rsp);
  }
  /// One operation per cycle, and none while cqe_req has no room for its completion.
  void retire() {
    for (size_t i = looks_.size(); i-- != 0;) {
      const Look l = looks_[i];
      if (l.wr_left != 0 || l.rx_left != 0 || qp_->retirable().test(l.qpn)) continue;
      looks_.erase(looks_.begin() + static_cast<std::ptrdiff_t>(i));
      qp_->look(l.qpn);
    }
    if (!cqe_req.ready()) return;
    if (!qp_->retirable().empty() && rng_.percent(60)) return qp_->retire(any_of(qp_->retirable()));
    if (wr_done.offers()) {
      for (Look& l : looks_) l.wr_left -= l.wr_left != 0;
      qp_->wr_done(wr_done.pop());
    } else if (rx_done.offers()) {
      for (Look& l : looks_) l.rx_left -= l.rx_left != 0;
      qp_->rx_done(rx_done.pop());
    }
  }
  void control() {
    const auto take = [this](auto& in, auto what) {
      if (in.offers()) news_.push_back([this, what, item = in.pop()] { (*qp_.*what)(item); });
    };
    // A command that has waited kCommandPatience cycles is answered in_progress.
    if (commanded_ && ++commanded_->waited >= spec::kCommandPatience)
      (void)qp_->give_up(commanded_->qpn);
    if (qp_cmd.offers()) {
      news_.push_back([this, cmd = qp_cmd.pop()] {
        commanded_ = {static_cast<uint16_t>(cmd.object), 0};
        qp_->command(cmd);
      });
    }
    take(qp_error, &model::Qp::qp_error);
    take(llp_event, &model::Qp::llp_event);
    take(cq_fault, &model::Qp::cq_fault);
    // A WQE that waits for its key checks is issued before qp handles an event.
    if (issued_ || !wqe_hdr.ready() || !wqe.ready()) return;
    for (; !news_.empty(); news_.pop_front()) news_.front()();
    if (qp_ack_mpa.offers()) qp_->ack(Peer::kMpa, qp_ack_mpa.pop().qpn);
    if (qp_ack_ddp.offers()) qp_->ack(Peer::kDdp, qp_ack_ddp.pop().qpn);
    if (qp_ack_rdmap.offers()) qp_->ack(Peer::kRdmap, qp_ack_rdmap.pop().qpn);
    if (qp_ack_llp.offers()) qp_->ack(Peer::kLlp, qp_ack_llp.pop().qpn);
  }
  void freed() {
    if (sq_slot_free.offers()) qp_->sq_slot_free(sq_slot_free.pop());
  }

  Out out_{*this};
  Keys keys_;
  base::Rng rng_ = test_rng("qp");
  std::unique_ptr<model::Qp> qp_;
  std::vector<Look> looks_;
  std::deque<std::function<void()>> news_;  // accepted by the port, not yet by qp
  struct Commanded {
    uint16_t qpn = 0;
    unsigned waited = 0;  // cycles
  };
  std::optional<Commanded> commanded_;  // not answered yet
  std::optional<model::Wqe> issued_;    // its key checks are outstanding
  bool asks_ = false;                   // issued_ has key checks, so a response must come
};

}  // namespace rnic::tb
