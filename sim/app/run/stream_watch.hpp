// Where an RTL device spends its time, from the streams between its units: how long a message takes
// from one stream to the next, and which streams wait.
//
//   StreamWatch watch;
//   make_device("rtl", kClient, config, seed, "", &watch);   ...run...
//   watch.send_path(from, to);   // pushed doorbell to first LLP beat, a row per stream
//   watch.use(from, to);         // per stream, the shares of cycles in which it moved and waited
//
// Paths are for one message at a time (the latency programs). Each row is the median over messages.
#pragma once

#include <string>
#include <vector>

#include "backend/observer.hpp"
#include "rnic/time.hpp"

namespace rnic::app {

class StreamWatch final : public sim::Observer {
 public:
  struct Step {
    std::string what;  // stream, and its two units
    double cycles = 0, since_start = 0;
    size_t messages = 0;
  };
  struct Use {
    std::string name, from, to;
    double moved = 0, waited = 0;  // shares of the cycles
  };
  /// From the last write of the push window to the first beat on llp_tx.
  std::vector<Step> send_path(Time from, Time to) const;
  /// From the last beat on llp_rx to the first beat of the payload's write on dma_wr.
  std::vector<Step> receive_path(Time from, Time to) const;
  /// On a responder: from a request on atomic_req to the first beat of the response on llp_tx. On a
  /// requester: from an old value on atomic_req to res_done, which ends the request. Without any
  /// atomic, only the start row.
  std::vector<Step> atomic_path(Time from, Time to) const;
  /// Counts only whole intervals of kInterval cycles; empty if the time has none.
  std::vector<Use> use(Time from, Time to) const;

  bool wants_streams() const override { return true; }
  void cycle(uint64_t n) override { now_ = n; }
  void streams(const sim::StreamStates& states) override;
  void mmio(const sim::Mmio& m) override;

 private:
  static constexpr uint64_t kInterval = 256;  // cycles between two entries of history_
  static constexpr size_t kStreams = sim::kStreamNames.size();
  struct Counts {  // since the start of the run: cycles in which a stream moved, or waited
    uint64_t cycle = 0;
    std::array<uint32_t, kStreams> moved{}, waited{};
  };
  using Fires = std::vector<uint64_t>;  // cycles
  const Fires& fires(const char* stream) const;
  std::vector<Step> path(const std::vector<uint64_t>& starts, const char* start,
                         const std::vector<const char*>& streams) const;

  uint64_t now_ = 0;
  Counts counts_;
  std::vector<Counts> history_;
  std::array<Fires, kStreams> fires_;  // of the streams on the paths
  Fires pushes_;
};

}  // namespace rnic::app
