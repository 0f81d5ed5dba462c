// What limits a run: how much of each resource the measured window used, and which resource binds.
// Sees only PCIe, the link and the host, and the units' counters as software reads them; hence RTL
// and models are measured alike.
//
//   LimitWatch limit(settings);
//   limit.attach(simulation);     // before the run
//   ...run...
//   limit.json({.from = start, .to = end, ...})   {"by": "client link", "use": 0.99, "next": ...}
//
// Three groups of resources:
// 1. Rates: both directions of link and PCIe, the beats of host_if's read and write data, the
//    threads of each host, the slowest stage of each unit. The use is the share of the capacity.
// 2. Windows: read tags, payload buffer and SQ prefetch of the device, PCIe credits, the LLP's
//    window, atomics in order. The use is the mean amount outstanding, as a share of the maximum.
// 3. The program's own window: depth, rd_atomic or the device's sq_window; in a latency program one
//    message at a time. A program keeps it full, so it limits whatever nothing else limits.
//
// The rate with the highest use binds if it is at least kFull; else the window with the highest use
// if that is at least kFull; else the program's window.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gen/sizes.hpp"
#include "host_if/read_shares.hpp"
#include "link/link.hpp"
#include "platform/config.hpp"
#include "platform/pcie_observer.hpp"
#include "settings/side.hpp"

namespace rnic::sim {
class Simulation;
}

namespace rnic::app {

/// A quantity that only grows, over time. Keeps at most 2048 points, so a long run costs no more
/// memory than a short one; between them it is linear.
class Growth {
 public:
  void add(Time t, double amount);
  /// Growth in (from, to].
  double between(Time from, Time to) const { return at(to) - at(from); }

 private:
  double at(Time t) const;

  struct Point {
    Time t = 0;
    double sum = 0;
  };
  std::vector<Point> points_;
  Point now_;
  Time interval_ = 50'000;  // ps between points; doubles when they are too many
};

/// A number that goes up and down; its mean over a window.
class Level {
 public:
  void change(Time t, double by);
  double mean(Time from, Time to) const;

 private:
  Growth area_;
  Time last_ = 0;
  double level_ = 0;
};

class LimitWatch {
 public:
  static constexpr double kFull = 0.9;
  /// kFull for atomics in order and for the SQ prefetch. Lower, because only their reads are
  /// visible, not the store and response of an atomic, nor the time of a WQE until its issue.
  static constexpr double kFullOfReads = 0.7;

  struct Config {
    std::array<sim::PcieConfig, 2> pcie;
    sim::LinkConfig link;
    std::array<spec::Sizes, 2> sizes;
    std::array<uint32_t, 2> beat_bytes{64, 64};  // of the devices' datapaths
  };
  struct Measured {
    Time from = 0, to = 0;
    std::array<double, 2> ps_per_cycle{};  // of the devices
    uint64_t qps = 1;
    uint32_t threads = 1;  // of the program, on each host
    // The setting that is the program's window (group 3). Empty: one message at a time.
    std::string window{};
    // Use of each unit by side and name, such as "client qp".
    std::map<std::string, double> units{};
  };

  explicit LimitWatch(const Config& config);
  void attach(sim::Simulation& simulation);
  nlohmann::ordered_json json(const Measured& m) const;

 private:
  struct Host final : sim::PcieObserver {
    void on_write_issued(Time t, const sim::DmaWrite& w) override;
    void on_write(Time t, const sim::DmaWrite& w, bool ok) override;
    void on_read_issued(Time t, const sim::DmaRead& r) override;
    void on_completion(Time t, const sim::DmaPiece& p) override;
    void on_mmio(Time t, const sim::Mmio& m) override;
    void on_mmio_response(Time t, uint64_t) override;
    void look_at_host(Time t);  // samples `idle`

    sim::Simulation* simulation = nullptr;
    Side side = kClient;
    Growth up, down, idle;  // bytes, bytes, thread time in ps
    uint32_t beat_bytes = 64;
    Growth read_beats, write_beats;  // between PCIe and host_if
    // Outstanding: posted writes, reads, bytes of payload reads, bytes of SQ fetches.
    Level writes, reads, payload_bytes, sq_bytes;
    std::array<Level, model::kReaders> tags;  // outstanding reads, by pool of tags
    std::array<sim::DmaRead, 256> open{};     // the outstanding read of each tag
    double idle_seen = 0;
    unsigned events = 0;
  };
  struct Wire final : sim::LinkTap {
    void frame(Time at, const sim::Frame& f) override;
    std::array<uint32_t, 2> beat_bytes{64, 64};
    std::array<Growth, 2> bytes, frames, beats;  // by the side that sends
  };

  Config config_;
  std::array<Host, 2> hosts_;
  Wire wire_;
};

}  // namespace rnic::app
