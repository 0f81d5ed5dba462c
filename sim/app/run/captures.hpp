// The files that a run writes while it runs: --pcap and --tlp.
//
//   Captures captures(simulation, r.pcap, r.tlp);   // after the hosts were added
//   simulation.run();
//   captures.finish(out);   // disk full: throws Missing, or adds a line to an existing failure
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "platform/simulation.hpp"
#include "run/outcome.hpp"

namespace rnic::app {

class Captures {
 public:
  /// Throws Missing if a file cannot be written. An empty path: no file.
  Captures(sim::Simulation& simulation, const std::string& pcap, const std::string& tlp);
  /// Throws Missing if a file could not be written to its end. If the run has failed already, adds
  /// a line to `out.failure` instead.
  void finish(Outcome& out);

 private:
  sim::Simulation& simulation_;
  std::string pcap_name_, tlp_name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> tlp_{nullptr, std::fclose};
};

}  // namespace rnic::app
