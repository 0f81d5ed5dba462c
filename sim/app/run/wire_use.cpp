// How busy the wires are. See wire_use.hpp.
#include "run/wire_use.hpp"

#include <fmt/format.h>

#include "platform/root_complex.hpp"

namespace rnic::app {
namespace {

constexpr uint64_t kHead = sim::RootComplex::kTlpOverhead;  // bytes of a TLP besides its data

}  // namespace

WireUse::WireUse(const std::array<sim::PcieConfig, 2>& pcie, double link_gbps)
    : pcie_gbps_{pcie[kClient].gbps(), pcie[kServer].gbps()}, link_gbps_(link_gbps) {}

double WireUse::Direction::share(Time from, Time to, double gbps) const {
  uint64_t bytes = 0;
  for (const auto& [at, n] : passed_) bytes += at > from && at <= to ? n : 0;
  return to > from ? static_cast<double>(bytes) * 8 * kNs / static_cast<double>(to - from) / gbps
                   : 0;
}

std::map<std::string, double> WireUse::share(Time from, Time to) const {
  std::map<std::string, double> all;
  for (const Side side : {kClient, kServer}) {
    all[fmt::format("{} link", kSideNames[side])] = link_.from[side].share(from, to, link_gbps_);
    all[fmt::format("{} pcie up", kSideNames[side])] =
        pcie_[side].up.share(from, to, pcie_gbps_[side]);
    all[fmt::format("{} pcie down", kSideNames[side])] =
        pcie_[side].down.share(from, to, pcie_gbps_[side]);
  }
  return all;
}

void WireUse::LinkUse::frame(Time at, const sim::Frame& f) {
  from[f.from].add(at, sim::frame_bytes(f.data.size()));
}

void WireUse::PcieUse::on_write_issued(Time t, const sim::DmaWrite& w) {
  up.add(t, kHead + w.data.size());
}
void WireUse::PcieUse::on_read_issued(Time t, const sim::DmaRead&) { up.add(t, kHead); }
void WireUse::PcieUse::on_mmio_response(Time t, uint64_t) { up.add(t, kHead + 8); }
void WireUse::PcieUse::on_completion(Time t, const sim::DmaPiece& p) {
  down.add(t, kHead + p.data.size());
}
void WireUse::PcieUse::on_mmio(Time t, const sim::Mmio& m) {
  down.add(t, kHead + (m.is_write ? m.bytes : 0u));
}

}  // namespace rnic::app
