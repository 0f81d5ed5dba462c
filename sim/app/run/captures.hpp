// The files that a run writes while it goes on: --pcap and --tlp.
//
//   Captures captures(simulation, r.pcap, r.tlp);      after the hosts are there
//   simulation.run();
//   captures.finish(out);                              a disk that is full: Missing, or a line of what has failed anyway
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "platform/simulation.hpp"
#include "run/outcome.hpp"

namespace rnic::app {

class Captures {
 public:
  /// Throws Usage if a file cannot be written; empty: none.
  Captures(sim::Simulation& simulation, const std::string& pcap, const std::string& tlp);
  /// Throws Missing if a file could not be written to its end and nothing else has failed.
  void finish(Outcome& out);

 private:
  sim::Simulation& simulation_;
  std::string pcap_name_, tlp_name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> tlp_{nullptr, std::fclose};
};

}  // namespace rnic::app
