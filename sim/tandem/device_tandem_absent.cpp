// Replaces device_tandem.cpp in a build without Verilated RTL (cmake -DRNIC_RTL=OFF, sim/run.sh
// --models).
#include <stdexcept>

#include "tandem/device_tandem.hpp"

namespace rnic::sim {

std::unique_ptr<Device> make_tandem_device(const RtlOptions&) {
  throw std::logic_error("make_tandem_device: this build has no RTL; ask is_rtl_built() first");
}
std::optional<TandemReport> tandem_report(const Device&) { return std::nullopt; }

}  // namespace rnic::sim
