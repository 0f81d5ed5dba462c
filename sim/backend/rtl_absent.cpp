// Replaces device_rtl.cpp in a build without Verilated RTL (cmake -DRNIC_RTL=OFF, sim/run.sh
// --models).
#include <stdexcept>

#include "backend/device_rtl.hpp"

namespace rnic::sim {

bool is_rtl_built() { return false; }

std::unique_ptr<Device> make_rtl_device(const RtlOptions&) {
  throw std::logic_error("make_rtl_device: this build has no RTL; ask is_rtl_built() first");
}

}  // namespace rnic::sim
