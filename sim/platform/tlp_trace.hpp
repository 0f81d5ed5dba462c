// One line of text for each PCIe request, completion, register access, register response and
// interrupt: time in ns, host, direction, kind, then address, length, tag and client as they apply.
//
//   TlpTrace trace(stdout, "host0");   root_complex.observe(trace);
//   1250.125 host0 up   read   0x100003000 64 tag=3 sq_fetch
#pragma once

#include <cstdio>
#include <string>

#include "platform/pcie_observer.hpp"

namespace rnic::sim {

class TlpTrace final : public PcieObserver {
 public:
  TlpTrace(std::FILE* to, std::string name) : to_(to), name_(std::move(name)) {}

  void on_write_issued(Time t, const DmaWrite& w) override;
  void on_read_issued(Time t, const DmaRead& r) override;
  void on_completion(Time t, const DmaPiece& p) override;
  void on_mmio(Time t, const Mmio& m) override;
  void on_mmio_response(Time t, uint64_t value) override;
  void on_interrupt(Time t, unsigned vector) override;

 private:
  void line(Time t, const std::string& text);
  std::FILE* to_;
  std::string name_;
};

}  // namespace rnic::sim
