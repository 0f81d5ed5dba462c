// The environment of one device: forwards the PCIe calls of DeviceEnv to the root complex of the
// device's host, and the LLP calls to the host's transport (Llp).
//
//   DevicePort port(root_complex, llp);
//   root_complex.observe(port);   device.attach(port);
#pragma once

#include "llp/llp.hpp"
#include "platform/root_complex.hpp"

namespace rnic::sim {

class DevicePort final : public DeviceEnv, public PcieObserver {
 public:
  DevicePort(RootComplex& root_complex, Llp& llp) : root_complex_(root_complex), llp_(llp) {}

  bool can_dma_write() const override { return root_complex_.can_dma_write(); }
  void dma_write(DmaWrite w) override { root_complex_.dma_write(std::move(w)); }
  bool can_dma_read() const override { return root_complex_.can_dma_read(); }
  void dma_read(DmaRead r) override { root_complex_.dma_read(std::move(r)); }
  void mmio_response(uint64_t value) override { root_complex_.mmio_response(value); }
  bool can_llp_tx() const override { return llp_.can_tx(); }
  void llp_tx(Record r) override { llp_.tx(std::move(r)); }
  void llp_ctl(const spec::LlpCtlReq& req) override { llp_.ctl(req); }

  void on_reset(Time) override { llp_.reset(); }  // a reset of the function drops its connections

 private:
  RootComplex& root_complex_;
  Llp& llp_;
};

}  // namespace rnic::sim
