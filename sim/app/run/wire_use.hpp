// Utilisation of a run's wires: the link and each host's PCIe, both directions. If a wire is used
// to 98 % or more, rnic-sim results counts the run as limited by the wire, not by the device
// (kAtLimit in measure/results_timing.cpp). LimitWatch judges every run, and from 90 % on (kFull).
//
//   WireUse use(pcie, link_gbps);
//   simulation.link().tap(use.link());  simulation.observe(kClient, use.pcie(kClient));
//   use.share(from, to)                      {"client link": 0.97, "client pcie up": 0.41, ...}
#pragma once

#include <map>
#include <string>

#include "link/link.hpp"
#include "platform/config.hpp"
#include "platform/pcie_observer.hpp"
#include "settings/side.hpp"

namespace rnic::app {

class WireUse {
 public:
  WireUse(const std::array<sim::PcieConfig, 2>& pcie, double link_gbps);
  sim::LinkTap& link() { return link_; }
  sim::PcieObserver& pcie(Side side) { return pcie_[side]; }
  /// Of each direction: bytes that passed in (from, to], as a share of its capacity.
  std::map<std::string, double> share(Time from, Time to) const;

 private:
  class Direction {
   public:
    void add(Time at, uint64_t bytes) { passed_.emplace_back(at, bytes); }
    double share(Time from, Time to, double gbps) const;

   private:
    std::vector<std::pair<Time, uint64_t>> passed_;
  };
  struct LinkUse final : sim::LinkTap {
    void frame(Time at, const sim::Frame& f) override;
    std::array<Direction, 2> from;
  };
  struct PcieUse final : sim::PcieObserver {
    void on_write_issued(Time t, const sim::DmaWrite& w) override;
    void on_read_issued(Time t, const sim::DmaRead&) override;
    void on_completion(Time t, const sim::DmaPiece& p) override;
    void on_mmio(Time t, const sim::Mmio& m) override;
    void on_mmio_response(Time t, uint64_t) override;
    Direction up, down;
  };
  LinkUse link_;
  std::array<PcieUse, 2> pcie_;
  std::array<double, 2> pcie_gbps_;
  double link_gbps_;
};

}  // namespace rnic::app
