// The follower: passes what the RTL reports to Steps, and says what is left at the end. See
// follower.hpp.
#include "tandem/follower.hpp"

#include <variant>

#include "tandem/steps.hpp"

namespace rnic::sim {

Follower::Follower(const spec::Sizes& sizes)
    : sizes_(sizes), steps_(std::make_unique<Steps>(sizes, tally_)) {}
Follower::~Follower() = default;

// Stops at the first difference: later differences would only be its consequences.
void Follower::commit(const spec::AnyCommit& c) {
  if (!tally_.ok()) return;
  recent_[next_++ % recent_.size()] = {tally_.cycle(), c};
  std::visit(
      [this](const auto& commit) {
        tally_.commit(commit.kName);
        steps_->step(commit);
      },
      c);
  steps_->settle();
}
void Follower::dma_write(const DmaWrite& w) {
  if (tally_.ok()) steps_->dma_write(w);
}
void Follower::dma_write_waits() {
  if (tally_.ok()) steps_->dma_write_waits();
}
void Follower::llp_tx(const Record& r) {
  if (tally_.ok()) steps_->llp_tx(r);
}
void Follower::llp_ctl(const spec::LlpCtlReq& r) {
  if (tally_.ok()) steps_->llp_ctl(r);
}
void Follower::mmio_response(uint64_t value) {
  if (tally_.ok()) steps_->mmio_response(value);
}
void Follower::dma_read(const DmaRead& r) {
  if (tally_.ok()) steps_->dma_read(r);
}
void Follower::mmio(const Mmio& m) {
  if (tally_.ok()) steps_->mmio(m);
}
void Follower::dma_piece(const DmaPiece& p) {
  if (tally_.ok()) steps_->dma_piece(p);
}
void Follower::llp_rx(const Record& r) {
  if (tally_.ok()) steps_->llp_rx(r);
}
void Follower::llp_event(const spec::LlpCtlEvt& e) {
  if (tally_.ok()) steps_->llp_event(e);
}
void Follower::llp_credit(const spec::LlpCredit& c) {
  if (tally_.ok()) steps_->llp_credit(c);
}
void Follower::pcie(const spec::PcieCfg& cfg) {
  pcie_ = cfg;
  if (tally_.ok()) steps_->pcie(cfg);
}
void Follower::reset() {
  steps_ = std::make_unique<Steps>(sizes_, tally_);
  steps_->pcie(pcie_);
}

std::string Follower::recent() const {
  std::string s;
  for (size_t i = 0; i < recent_.size(); ++i) {
    const Recent& r = recent_[(next_ + i) % recent_.size()];
    if (r.commit)
      s += fmt::format(
          "  {:>10} {}\n", r.cycle,
          std::visit([](const auto& x) { return fmt::format("{}: {}", x.kName, x.describe()); },
                     *r.commit));
  }
  return s;
}

std::string Follower::waiting_for() const {
  return tally_.ok() ? steps_->left(false) : std::string{};
}

std::string Follower::end() const {
  if (!tally_.ok()) return tally_.failure();
  if (const std::string left = steps_->left(true); !left.empty())
    return "left over at the end of the run:\n" + left;
  return tally_.never_compared();
}

// --- all units

Steps::Steps(const spec::Sizes& sizes, Tally& tally)
    : tally_(tally),
      expect_(tally, sizes.num_vectors),
      host_(sizes, *this),
      tpt_(sizes, *this),
      wqe_checks_(*this, 2),    // clients of commit tpt_check: 2 wqe,
      resp_checks_(*this, 3),   // 3 resp,
      translations_(*this, 0),  // 0 rx
      rdmap_(sizes, resp_checks_, *this),
      ddp_(sizes, translations_, rdmap_, *this),
      mpa_(sizes, *this),
      qp_(sizes, wqe_checks_, *this),
      cq_(sizes, *this),
      llp_(sizes, *this),
      admin_(sizes, *this),
      qps_(sizes.num_qps),
      issues_(sizes.num_qps),
      grants_given_(sizes.num_qps),
      in_hand_(sizes.num_qps),
      bytes_left_(sizes.num_conns),
      vectors_(sizes.num_vectors) {
  qp_.follow();
  fires_[0].resize(sizes.num_cqs);
  fires_[1].resize(sizes.num_cqs);
  fires_[2].resize(sizes.num_qps);
  fires_[3].resize(sizes.num_conns);
}

bool Steps::known(uint16_t qpn, std::string_view commit) {
  if (qpn < qps_.size()) return true;
  tally_.differ("{}: RTL names QP {}; there are {}", commit, qpn, qps_.size());
  return false;
}

/// Steps that no commit reports: acknowledgements, and segments of a QP whose earlier payload
/// was bad, once their own payload is complete.
void Steps::settle() {
  while (!acks_.empty()) {
    const Ack a = acks_.front();
    acks_.pop_front();
    qp_.ack(a.peer, a.qpn);
  }
  while (!segments_.empty() && qps_[segments_.front().qpn].tx_failed &&
         segments_.front().segment.source != spec::TxSource::kTerm && segments_.front().whole) {
    assemble_next();
  }
  hand_out();
  if (!acks_.empty()) settle();
}

// Allowed to remain at the end:
// - records that the connection of a stopped QP did not send,
// - wants and unused copies of pushed WQEs,
// - lookups of refused segments,
// - events whose queue has no room,
// - masked interrupts.
std::string Steps::left(bool at_end) const {
  std::string s = expect_.left(at_end);
  const auto say = [&s](const auto& edge, std::string_view what) {
    if (!edge.empty()) s += fmt::format("{} {}\n", edge.size(), what);
  };
  const auto say_qp = [&s](const auto& edge, std::string_view what) {
    if (!edge.empty())
      s += fmt::format("{} {}, the first of QP {}\n", edge.size(), what, qpn_of(edge.front()));
  };
  say_qp(qp_doorbells_, "doorbells wait for qp");
  say(cq_doorbells_, "doorbells wait for cq");
  if (admin_read_)
    s += fmt::format("admin waits for its read of {} bytes from {:#x}\n", admin_read_->length,
                     admin_read_->address);
  static constexpr std::array<std::string_view, 4> kUnits{
      "a command of admin waits for qp", "a command of admin waits for cq",
      "a command of admin waits for tpt", "a command of admin waits for llp_if"};
  for (size_t i = 0; i < kUnits.size(); ++i) say(commands_[i], kUnits[i]);
  say(answers_, "commands wait for qp's answer");
  say(after_answer_, "commands wait for admin's answer to be written");
  say_qp(ctl_rdmap_, "orders of qp wait for rdmap");
  say_qp(ctl_ddp_, "orders of qp wait for ddp");
  say_qp(ctl_llp_, "orders of qp wait for llp_if");
  say_qp(acks_ddp_, "acknowledgements of ddp wait for the RTL's");
  say_qp(wqes_, "work requests wait for rdmap");
  say_qp(qp_faults_, "faults of qp wait for rdmap");
  say_qp(purges_, "purges of qp wait for host_if");
  say_qp(tx_faults_, "faults of ddp wait for rdmap");
  say_qp(wr_dones_, "sent work requests wait to be retired");
  say_qp(rx_dones_, "received messages wait to be retired");
  say_qp(res_dones_, "results of atomics, registrations and binds wait to be retired");
  say_qp(registrations_, "fast registrations and binds wait for tpt");
  if (!claimed_.empty())
    s += fmt::format("{} fast registrations wait for their page list, the first of QP {}\n",
                     claimed_.size(), claimed_.front().request.qpn);
  say_qp(local_failures_, "requests that tpt refused wait for rdmap");
  say_qp(results_, "results of atomics wait for their store");
  say_qp(storing_, "words of atomic wait to be written");
  say(looked_, "lookups of atomic were not used");
  say_qp(cqe_reqs_, "completions wait for cq");
  if (answered_[0].size() > refused_)
    say(answered_[0], "lookups for received segments were not used");
  say(answered_[2], "lookups for work requests were not used");
  say(records_, "received records wait for llp_if");
  say(events_, "events of the transport wait for llp_if");
  say_qp(ulpdus_, "received segments wait for ddp");
  say_qp(inside_, "received segments wait for rdmap's verdict");
  say_qp(grants_, "grants wait for ddp");
  say_qp(segments_, "segments wait to be sent");
  say_qp(ulpdus_out_, "segments wait for mpa");
  say(terms_left_, "Terminates were sent, and llp_if has not processed that");
  say(raw_out_, "runs of streaming bytes wait to be sent");
  if (answered_[3].size() > cancelled_)
    say(answered_[3], "lookups for Reads of the peer were not used");
  if (look_ != Look::kNone)
    s += fmt::format("QP {}: qp_state has not done with its look\n", looked_at_);
  for (size_t i = 0; i < qps_.size(); ++i) {
    const Followed& q = qps_[i];
    const bool gone = qp_.state(static_cast<uint16_t>(i)) == spec::QpState::kError;
    if (q.bits != 0 && !gone) s += fmt::format("QP {}: events {:#x} wait for qp\n", i, q.bits);
    if (q.own_errors != 0 && !gone)
      s += fmt::format("QP {}: its own error waits to be retired\n", i);
    if (q.slots_free != 0 && !gone)
      s += fmt::format("QP {}: a free slot of the responder waits for rdmap\n", i);
  }
  for (size_t kind = 0; kind < fires_.size(); ++kind) {
    for (uint32_t i = 0; i < fires_[kind].size(); ++i) {
      const model::Cq::Event e{static_cast<spec::EqeType>(kind + 1), i};
      if (fires_[kind][i].firm != 0 && cq_.may_write(e))
        s += fmt::format("an event {} of {} waits to be written\n", to_string(e.kind), i);
    }
  }
  if (!log_.contradiction().empty()) s += "read log: " + log_.contradiction() + "\n";
  s += log_.unread();
  if (at_end) return s + log_.for_nothing();
  return s + qp_.waiting_for() + rdmap_.waiting_for() + ddp_.waiting_for() + llp_.waiting_for() +
         tpt_.waiting_for() + admin_.waiting_for();
}

}  // namespace rnic::sim
