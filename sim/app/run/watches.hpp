// The observers that a run has on request, and the keys that they add to its JSON. None changes the
// run.
//
//   Watches watches(request, config);
//   simulation.add_host(make_device(..., watches.device(kClient)));   // both hosts
//   watches.attach(simulation);   simulation.run();
//   watches.add_figures(j, client_report, program);
//
// A new observer has its flag in RunRequest, its member here, its line in attach(), and its key in
// add_figures().
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "platform/simulation.hpp"
#include "programs.hpp"
#include "run/explain.hpp"
#include "run/latency_path.hpp"
#include "run/limit_watch.hpp"
#include "run/outcome.hpp"
#include "run/power_failures.hpp"
#include "run/run_request.hpp"
#include "run/stream_watch.hpp"
#include "run/timeline.hpp"
#include "run/wire_use.hpp"
#include "run/write_watch.hpp"

namespace rnic::app {

/// The time in which the client measured.
struct MeasuredWindow {
  Time from = 0, to = 0;
};
MeasuredWindow measured_window(const programs::Report& client);

class Watches {
 public:
  /// Both arguments must outlive this object.
  Watches(const RunRequest& request, const sim::SimulationConfig& config);
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  /// The observer for make_device() of this side; null if the run requests none. Call once a side,
  /// before attach().
  sim::Observer* device(Side side);
  /// Attaches the requested observers. Call once, after both hosts were added.
  void attach(sim::Simulation& simulation);

  /// Attached to every run.
  const LimitWatch& limit() const { return limit_; }
  /// Adds "path", "wires", "explain", "streams" and "stages", each if requested. Call once, after
  /// the run.
  void add_figures(nlohmann::ordered_json& j, const programs::Report& client,
                   const programs::Program& program);
  /// Writes the timeline, if requested, and adds "timeline". Call once, after the run. A file that
  /// cannot be written is Missing, or a line of `out.failure` if the run has failed already.
  void write_timeline(Outcome& out);
  /// Adds to each unit of "units" the peers that stalled its outputs, if requested.
  void add_stalls(nlohmann::ordered_json& j, const MeasuredWindow& window) const;
  /// Adds "written_at_ns", if requested: the last write to the watched place before `failed_at`.
  void add_last_write(nlohmann::ordered_json& j, Time failed_at) const;
  /// Adds "crash", if requested: the power failures at the instants of the plan. `acks`: of the
  /// client; `method`: the setting of durable_log.
  void add_crash(nlohmann::ordered_json& j, std::span<const programs::Ack> acks,
                 const std::string& method) const;

 private:
  /// Passes the calls of a device on to those that watch its streams.
  struct Device final : sim::Observer {
    std::vector<sim::Observer*> all;
    bool wants_streams() const override { return true; }
    void cycle(uint64_t n) override {
      for (auto* o : all) o->cycle(n);
    }
    void streams(const sim::StreamStates& s) override {
      for (auto* o : all) o->streams(s);
    }
    void stream(size_t number, uint64_t cycle) override {
      for (auto* o : all) o->stream(number, cycle);
    }
    void mmio(const sim::Mmio& m) override {
      for (auto* o : all) o->mmio(m);
    }
  };

  const RunRequest& request_;
  const sim::SimulationConfig& config_;
  std::array<Device, 2> devices_;
  std::array<StreamWatch, 2> streams_;
  std::array<std::optional<StreamRecord>, 2> inside_;  // for explain
  std::optional<Timeline> timeline_;
  LimitWatch limit_;
  std::optional<WireUse> wires_;
  std::optional<LatencyPath> path_;
  std::optional<PmemJournal> journal_;
  std::optional<ResponseTimes> responses_;
  std::optional<WriteWatch> write_;
};

}  // namespace rnic::app
