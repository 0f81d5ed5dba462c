// Opens --pcap and --tlp, and reports at the end which of them is incomplete. See captures.hpp.
#include "run/captures.hpp"

#include <fmt/format.h>

#include "settings/errors.hpp"

namespace rnic::app {

Captures::Captures(sim::Simulation& simulation, const std::string& pcap, const std::string& tlp)
    : simulation_(simulation), pcap_name_(pcap), tlp_name_(tlp) {
  try {
    if (!pcap.empty()) simulation_.write_pcap(pcap);
  } catch (const std::runtime_error&) {
    throw Missing(fmt::format("--pcap {}: cannot be written", pcap));
  }
  if (tlp.empty()) return;
  tlp_.reset(std::fopen(tlp.c_str(), "w"));
  if (!tlp_) throw Missing(fmt::format("--tlp {}: cannot be written", tlp));
  simulation_.write_tlp(tlp_.get());
}

void Captures::finish(Outcome& out) {
  std::string lost;
  if (!simulation_.is_pcap_whole()) lost = fmt::format("--pcap {}", pcap_name_);
  if (tlp_ && (std::fflush(tlp_.get()) != 0 || std::ferror(tlp_.get()) != 0))
    lost += fmt::format("{}--tlp {}", lost.empty() ? "" : ", ", tlp_name_);
  if (lost.empty()) return;
  lost += ": cannot be written to its end (is the disk full?)";
  if (out.failure.empty()) throw Missing(lost);
  out.failure += lost + "\n";
}

}  // namespace rnic::app
