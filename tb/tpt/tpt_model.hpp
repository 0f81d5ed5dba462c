// The model's tpt behind the interface of TptDut. Lookups are calls there, so this file assembles
// the results of a group of pieces as ddp and atomic do. A failed extent of tx_extent or qn1_extent
// is retired like any other, but the model does not count it.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <utility>

#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "support/model_dut.hpp"
#include "tpt/tpt.hpp"

namespace rnic::tb {

template <bool kMinimumBuild>
struct TptModelDut : ModelDut {
  static constexpr bool kIsRtl = false;
  static constexpr bool kMinimum = kMinimumBuild;

  ModelIn<spec::TptCmd> tpt_cmd{*this, "tpt_cmd"};
  ModelOut<spec::TptCmdRsp> tpt_cmd_rsp{*this, "tpt_cmd_rsp"};
  ModelIn<spec::PblWr> pbl_wr{*this, "pbl_wr"};
  ModelIn<spec::WqeCheck> wqe_check{*this, "wqe_check"};
  ModelOut<spec::WqeCheckRsp> wqe_check_rsp{*this, "wqe_check_rsp"};
  ModelIn<spec::RespCheck> resp_check{*this, "resp_check"};
  ModelOut<spec::RespCheckRsp> resp_check_rsp{*this, "resp_check_rsp"};
  ModelIn<spec::TxXlate> tx_xlate{*this, "tx_xlate"};
  ModelOut<spec::TxExtent> tx_extent{*this, "tx_extent"};
  ModelIn<spec::RdRetired> rd_retired{*this, "rd_retired"};
  ModelIn<spec::RxXlate> rx_xlate{*this, "rx_xlate"};
  ModelOut<spec::RxXlateRsp> rx_xlate_rsp{*this, "rx_xlate_rsp"};
  ModelOut<spec::RxExtent> rx_extent{*this, "rx_extent"};
  ModelIn<spec::WrRetired> wr_retired{*this, "wr_retired"};
  ModelIn<spec::Qn1Xlate> qn1_xlate{*this, "qn1_xlate"};
  ModelOut<spec::Qn1Extent> qn1_extent{*this, "qn1_extent"};
  ModelIn<spec::Qn1Retired> qn1_retired{*this, "qn1_retired"};
  ModelIn<spec::RxDropped> rx_dropped{*this, "rx_dropped"};
  ModelIn<spec::Invalidate> invalidate{*this, "invalidate"};
  ModelOut<spec::Invalidated> invalidated{*this, "invalidated"};
  ModelIn<spec::SqLocal> sq_local{*this, "sq_local"};
  ModelOut<spec::SqLocalDone> sq_local_done{*this, "sq_local_done"};

  ModelOut<spec::RegRdReq> reg_rd_req{*this, "reg_rd_req"};
  ModelIn<spec::RegRdHdr> reg_rd_hdr{*this, "reg_rd_hdr"};
  ModelPacketIn reg_rd{*this, "reg_rd"};

  void set_key(uint64_t key) { tpt_->set_key(key); }

  void reset() override {
    const auto sizes = kMinimum ? spec::Sizes::minimum() : spec::Sizes{};
    tpt_ = std::make_unique<model::Tpt>(sizes, out_);
    for (Group* g : {&wqe_, &resp_, &rx_, &tx_}) *g = {};
    failed_ = failed_qn1_ = {};
    under_way_ = waits_ = false;
    jobs_.clear();
  }
  /// One item: retired extents first, then changes of the table.
  bool step() override {
    if (!wr_retired.empty()) return tpt_->retired(wr_retired.pop()), true;
    if (!rx_dropped.empty()) return tpt_->retired(rx_dropped.pop()), true;
    if (!rd_retired.empty()) return retired(rd_retired.pop(), failed_), true;
    if (!qn1_retired.empty()) return retired(qn1_retired.pop(), failed_qn1_), true;
    if (!invalidate.empty()) return tpt_->invalidate(invalidate.pop()), true;
    if (!reg_rd_hdr.empty() && !reg_rd.empty()) return list(), true;
    if (!sq_local.empty() && local()) return true;
    if (!pbl_wr.empty()) return tpt_->pbl_wr(pbl_wr.pop()), true;
    if (!tpt_cmd.empty() && !under_way_) {
      under_way_ = true;
      return tpt_->command(tpt_cmd.pop()), true;
    }
    if (!rx_xlate.empty()) return place(rx_xlate.pop()), true;
    if (!tx_xlate.empty()) return gather(tx_xlate.pop()), true;
    if (!wqe_check.empty()) return check(wqe_, wqe_check.pop(), wqe_check_rsp), true;
    if (!resp_check.empty()) return check(resp_, resp_check.pop(), resp_check_rsp), true;
    if (!qn1_xlate.empty()) return one(qn1_xlate.pop()), true;
    return false;
  }

 private:
  struct Group {
    spec::TptResult result{};
    bool is_of_inv = false;  // the STag to be invalidated caused the failure
    model::ExtentList extents;
    [[nodiscard]] bool good() const { return result == spec::TptResult::kOk; }
  };
  struct Out final : model::Tpt::Out {
    explicit Out(TptModelDut& dut) : d(dut) {}
    void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override {
      d.under_way_ = false;
      d.tpt_cmd_rsp.push(rsp);
    }
    void invalidated(const spec::Invalidated& inv) override { d.invalidated.push(inv); }
    void sq_local_done(const spec::SqLocalDone& inv) override { d.sq_local_done.push(inv); }
    void claimable() override { d.waits_ = false; }
    TptModelDut& d;
  };

  /// Executes the next request of the send queue, unless it waits.
  bool local() {
    constexpr size_t kJobs = 8;  // Jobs of rtl/tpt/tpt_register.sv
    if (model::Tpt::is_invalidation(sq_local.front()))
      return tpt_->invalidate(sq_local.pop()), true;
    if (waits_) return false;
    if (sq_local.front().is_bind != 0) return bind(), true;
    if (jobs_.size() == kJobs) return false;
    const model::Tpt::Registration r(sq_local.front());
    const auto claim = tpt_->claim(r);
    waits_ = claim == model::Tpt::Claim::kWaits;
    if (waits_) return true;
    sq_local.pop();
    if (claim == model::Tpt::Claim::kRefused) {
      sq_local_done.push(model::Tpt::refused(r));
      return true;
    }
    jobs_.push_back(r);
    for (uint32_t first = 0; first < r.operands.pages;) {
      const model::MemRead read = r.read(first);
      reg_rd_req.push({.address = read.address, .length = static_cast<uint16_t>(read.length)});
      first += read.length / model::Tpt::kPageEntry;
    }
    return true;
  }
  /// Executes the bind at the head of sq_local, or leaves it there until claimable().
  void bind() {
    const model::Tpt::Binding b(sq_local.front());
    waits_ = true;  // claimable() may be called before bind() returns
    const auto bound = tpt_->bind(b);
    if (bound == model::Tpt::Claim::kWaits) return;
    waits_ = false;
    sq_local.pop();
    sq_local_done.push(bound == model::Tpt::Claim::kRefused ? model::Tpt::refused(b)
                                                            : model::Tpt::bound(b));
  }
  /// The response to the oldest read of a list.
  void list() {
    const auto hdr = reg_rd_hdr.pop();
    const Packet packet = reg_rd.pop();
    model::Tpt::Registration& r = jobs_.front();
    tpt_->list(r, {hdr.status,
                   hdr.status == spec::RdStatus::kOk ? Payload::copy_of(packet.bytes) : Payload()});
    if (r.listed != r.operands.pages) return;
    tpt_->end(r);
    sq_local_done.push(r.done());
    jobs_.pop_front();
  }

  /// One piece of wqe or resp; the last piece of the group gives the response.
  template <class Rsp>
  void check(Group& g, const spec::WqeCheck& c, Rsp& rsp) {
    if (g.good()) g.result = tpt_->check(c);
    if (c.last == 0) return;
    rsp.push({g.result});
    g = {};
  }
  /// One piece of rx. When the group is complete: its response, and its extents if all pieces pass.
  void place(const spec::RxXlate& c) {
    if (rx_.good()) {
      rx_.result = tpt_->translate(c, rx_.extents);
      rx_.is_of_inv = !rx_.good() && c.invalidate != 0;
    }
    if (c.last == 0) return;
    const Group g = std::exchange(rx_, {});
    rx_xlate_rsp.push({g.result, g.is_of_inv});
    if (!g.good()) {
      for (const auto& e : g.extents.all()) tpt_->retired({e.epoch});
      return;
    }
    for (const auto& e : g.extents.all()) rx_extent.push(e);
    if (!g.extents.all().empty()) rx_extent.items().back().last = 1;
  }
  /// One piece of tx. When the group is complete: its extents, up to the first failure.
  void gather(const spec::TxXlate& c) {
    if (tx_.good()) {
      tx_.result = tpt_->translate(c, tx_.extents);
      if (!tx_.good()) {
        tx_.extents.add({.length = 0, .result = tx_.result, .epoch = tpt_->epoch()});
        failed_[tpt_->epoch()]++;
      }
    }
    if (c.last == 0) return;
    const Group g = std::exchange(tx_, {});
    for (const auto& e : g.extents.all()) tx_extent.push(e);
    tx_extent.items().back().last = 1;
  }
  /// The piece of qn1: one extent, whatever pages the bytes touch. The model issues an extent for
  /// each page; those after the first are retired here.
  void one(const spec::Qn1Xlate& c) {
    model::ExtentList extents;
    const auto result = tpt_->translate(c, extents);
    if (result != spec::TptResult::kOk) {
      qn1_extent.push({.length = 0, .result = result, .epoch = tpt_->epoch(), .last = 1});
      failed_qn1_[tpt_->epoch()]++;
      return;
    }
    bool is_first = true;
    for (auto e : extents.all()) {
      e.last = 1;
      if (std::exchange(is_first, false))
        qn1_extent.push(e);
      else
        tpt_->retired({e.epoch});
    }
  }
  /// An extent has retired. `failed` counts the failed extents, of which the model knows nothing.
  void retired(const spec::Retired& r, std::array<uint64_t, 2>& failed) {
    if (failed[r.epoch] != 0) {
      failed[r.epoch]--;
      return;
    }
    tpt_->retired(r);
  }

  Out out_{*this};
  std::unique_ptr<model::Tpt> tpt_;
  Group wqe_, resp_, rx_, tx_;
  // Failed extents issued, by epoch.
  std::array<uint64_t, 2> failed_{}, failed_qn1_{};
  bool under_way_ = false;  // a command is in progress
  bool waits_ = false;      // the next registration or bind waits for its entry to drain
  std::deque<model::Tpt::Registration> jobs_;  // registrations whose lists are being read
};

}  // namespace rnic::tb
