// Records a run as a timeline: host threads, PCIe, units, QPs and link of both sides, and a flow
// arrow for each message. Sees the threads, PCIe, the link and the streams between the units, hence
// model and RTL alike.
//
//   Timeline timeline(config, from, to);
//   make_device(..., &timeline.inside(kClient));   // of both sides
//   timeline.attach(simulation);   ...run...
//   timeline.finish();   write_file("t.json", timeline.json());
//
// Memory is bounded: at most kMost events are kept. The timeline ends at the first event that is
// not kept (lost_from).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernel/serial_line.hpp"
#include "link/link.hpp"
#include "platform/config.hpp"
#include "platform/pcie_observer.hpp"
#include "platform/thread_observer.hpp"
#include "run/stream_record.hpp"
#include "run/trace_events.hpp"
#include "run/work_requests.hpp"

namespace rnic::sim {
class Simulation;
}

namespace rnic::app {

/// FILE or FILE@FROM..TO, times in ns as in --wave.
struct TimelineWindow {
  std::string file;
  Time from = 0, to = UINT64_MAX;
};
/// Throws Usage. Empty: no file.
TimelineWindow timeline_window(const std::string& text);

class Timeline {
 public:
  static constexpr size_t kMost = 2'000'000;

  struct Config {
    std::array<sim::PcieConfig, 2> pcie;
    sim::LinkConfig link;
    std::array<base::Clock, 2> clock;  // of the devices
  };
  Timeline(const Config& config, Time from, Time to, size_t most = kMost);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// The observer for the device of this side.
  sim::Observer& inside(Side side) { return inside_[side]; }
  /// Call once, after both hosts were added.
  void attach(sim::Simulation& simulation);
  /// Adds the events that are known only at the end. Call once, after the run.
  void finish();
  std::string json() const { return trace_.json(); }
  size_t events() const { return trace_.size(); }
  /// Events from this time on are missing; UINT64_MAX: none is.
  Time lost_from() const { return trace_.lost_from(); }

 private:
  struct Pending {  // a thread's slice that may grow
    std::optional<TraceEvents::Track> track;
    sim::ThreadTime what{};
    Time from = 0, to = 0;
  };
  /// Transfers at the device's borders, which arrive at a unit or leave it.
  enum Border : uint8_t { kMmio, kRdReq, kRdRsp, kWr, kLlpRx, kLlpTx, kBorders };
  struct Host final : sim::PcieObserver, sim::ThreadObserver {
    void ran(unsigned thread, const std::string& name, sim::ThreadTime what, Time from,
             Time to) override;
    void wrote(unsigned thread, Time at, const sim::Mmio& m) override;
    void on_write_issued(Time t, const sim::DmaWrite& w) override;
    void on_read_issued(Time t, const sim::DmaRead& r) override;
    void on_read_sampled(Time t, const sim::DmaRead& r, spec::RdStatus status,
                         std::span<const uint8_t> data) override;
    void on_completion(Time t, const sim::DmaPiece& p) override;
    void on_mmio(Time t, const sim::Mmio& m) override;
    /// Adds the slice of a thread so far, under this name, and begins the next one.
    TraceEvents::Slice flush(Pending& p, const char* name);
    /// Adds a TLP with so many bytes of data. sent_up: to the host, issued at t. came_down: to the
    /// device, arrived at t.
    TraceEvents::Slice sent_up(Time t, const std::string& what, uint64_t bytes);
    TraceEvents::Slice came_down(Time t, const std::string& what, uint64_t bytes);

    Timeline* timeline = nullptr;
    Side side = kClient;
    std::vector<Pending> threads;
    TraceEvents::Track up = 0, down = 0, out = 0, in = 0;
    std::optional<sim::SerialLine> up_line;
    std::array<sim::Client, 256> readers{};  // by tag
    std::array<std::vector<Time>, kBorders> border;
  };
  struct Wire final : sim::LinkTap {
    explicit Wire(Timeline& t) : timeline(t) {}
    void frame(Time at, const sim::Frame& f) override;
    Timeline& timeline;
  };
  void cross(Host& host, Border border, Time t);
  /// Adds the slices of the device's units: timeline_units.cpp.
  void add_units(Side side);

  Config config_;
  Time from_, to_;
  TraceEvents trace_;
  WorkRequests requests_{trace_};
  std::array<StreamRecord, 2> inside_;
  std::array<Host, 2> hosts_;
  sim::Link wire_times_;  // for its durations
  Wire wire_{*this};
};

}  // namespace rnic::app
