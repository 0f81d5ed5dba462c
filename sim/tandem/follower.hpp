// The follower: the model's behaviour classes, stepped by the RTL's commits (architecture 10).
// docs/tandem-choices.md lists every choice that is followed, the commit that reports it, and the
// check that it was legal.
//
//   Follower f(sizes);      RtlOptions{.observer = &f}
//   if (!f.failure().empty()) ...   // the first difference: what, where, both sides, device cycle
//   f.waiting_for()                 // what is on an edge between two units now, one line each
//   f.recent()                      // the last commits, one line each, to explain the failure
//   f.end()     // after a run: the failure, or items left on edges, or kinds never compared
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "backend/observer.hpp"
#include "gen/sizes.hpp"
#include "tandem/tally.hpp"

namespace rnic::sim {

class Steps;

class Follower final : public Observer {
 public:
  explicit Follower(const spec::Sizes& sizes);
  ~Follower() override;

  const std::string& failure() const { return tally_.failure(); }
  std::string waiting_for() const;
  std::string recent() const;
  std::string end() const;
  const Tally& tally() const { return tally_; }

  void cycle(uint64_t n) override { tally_.at(n); }
  void commit(const spec::AnyCommit& c) override;
  void dma_write(const DmaWrite& w) override;
  void dma_write_waits() override;
  void llp_tx(const Record& r) override;
  void llp_ctl(const spec::LlpCtlReq& r) override;
  void mmio_response(uint64_t value) override;
  void dma_read(const DmaRead& r) override;
  void mmio(const Mmio& m) override;
  void dma_piece(const DmaPiece& p) override;
  void llp_rx(const Record& r) override;
  void llp_event(const spec::LlpCtlEvt& e) override;
  void llp_credit(const spec::LlpCredit& c) override;
  void pcie(const spec::PcieCfg& cfg) override;
  void reset() override;

 private:
  spec::Sizes sizes_;
  Tally tally_;
  spec::PcieCfg pcie_;
  struct Recent {
    uint64_t cycle = 0;
    std::optional<spec::AnyCommit> commit;
  };
  std::array<Recent, 24> recent_{};
  size_t next_ = 0;
  std::unique_ptr<Steps> steps_;
};

}  // namespace rnic::sim
