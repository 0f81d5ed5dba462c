// A device that forwards every call to an inner device. A test derives from it and overrides the
// one call that it observes or damages.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/device.hpp"

namespace rnic::tb {

class DeviceAround : public sim::Device {
 public:
  explicit DeviceAround(std::unique_ptr<sim::Device> inner) : inner_(std::move(inner)) {}

  void attach(sim::DeviceEnv& env) override { inner_->attach(env); }
  void reset() override { inner_->reset(); }
  void set_pcie(const spec::PcieCfg& cfg) override { inner_->set_pcie(cfg); }
  bool can_mmio() const override { return inner_->can_mmio(); }
  void mmio(sim::Mmio m) override { inner_->mmio(std::move(m)); }
  void dma_piece(sim::DmaPiece p) override { inner_->dma_piece(std::move(p)); }
  bool can_llp_rx() const override { return inner_->can_llp_rx(); }
  void llp_rx(sim::Record r) override { inner_->llp_rx(std::move(r)); }
  void llp_event(const spec::LlpCtlEvt& e) override { inner_->llp_event(e); }
  void llp_credit(const spec::LlpCredit& c) override { inner_->llp_credit(c); }
  void wake() override { inner_->wake(); }
  const spec::Sizes& sizes() const override { return inner_->sizes(); }
  std::string describe() const override { return inner_->describe(); }
  std::string failure() const override { return inner_->failure(); }
  std::string waiting_for() const override { return inner_->waiting_for(); }
  void stands_still() override { inner_->stands_still(); }
  uint64_t cycles() const override { return inner_->cycles(); }

 protected:
  std::unique_ptr<sim::Device> inner_;
};

}  // namespace rnic::tb
