// The progress line of a run on a terminal: per cent, simulated time, speed and time left.
//
//   Progress progress(title, reports, clock);   simulation.observe(kClient, progress);
//   simulation.run();   progress.end();
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "platform/pcie_observer.hpp"
#include "session.hpp"

namespace rnic::app {

/// Thousands of clock cycles in a simulated time.
double kcycles(Time t, const base::Clock& clock);

/// Prints the progress on a terminal, at most every 500 ms of this machine's clock. Does not change
/// the simulation.
class Progress final : public sim::PcieObserver {
 public:
  /// `reports`: of the threads of one side; must outlive this object.
  Progress(std::string title, const std::vector<programs::Report>& reports,
           const base::Clock& clock)
      : title_(std::move(title)), reports_(reports), clock_(clock) {}
  /// Clears the line. Later calls of the simulation have no effect.
  void end();
  void on_write(Time t, const sim::DmaWrite&, bool) override { look(t); }
  void on_completion(Time t, const sim::DmaPiece&) override { look(t); }
  void on_mmio(Time t, const sim::Mmio&) override { look(t); }

 private:
  void look(Time t);

  std::string title_;
  const std::vector<programs::Report>& reports_;
  const base::Clock clock_;
  uint64_t events_ = 0;
  size_t width_ = 0;
  bool is_over_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

}  // namespace rnic::app
