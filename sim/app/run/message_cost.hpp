// The CPU time that the simulating machine takes per message of a run.
//
//   MessageCost cost(reports);
//   simulation.observe(kClient, cost);
//   simulation.run();
//   cost.us();
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/pcie_observer.hpp"
#include "session.hpp"

namespace rnic::app {

/// The CPU time per message of the simulating machine: the difference between two counts of
/// messages, at a quarter and at three quarters of all. Set-up and tear-down are therefore
/// excluded.
class MessageCost final : public sim::PcieObserver {
 public:
  /// `reports`: of the threads of both sides; must outlive this object.
  explicit MessageCost(const std::array<std::vector<programs::Report>, 2>& reports)
      : reports_(reports) {}
  void on_write(Time, const sim::DmaWrite&, bool) override { look(); }
  void on_completion(Time, const sim::DmaPiece&) override { look(); }
  void on_mmio(Time, const sim::Mmio&) override { look(); }
  /// In us; empty for a run that is too short.
  std::optional<double> us() const;

 private:
  struct Count {
    uint64_t messages = 0;
    double cpu_us = 0;
  };
  static Count now(uint64_t messages);
  void look();

  const std::array<std::vector<programs::Report>, 2>& reports_;
  uint64_t events_ = 0;
  Count first_, last_;
};

}  // namespace rnic::app
