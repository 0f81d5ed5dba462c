// A device in tandem: the RTL, with the model's behaviour behind it (follower.hpp) and an independent judge of order at its
// PCIe port (ordering.hpp). The RTL leads; the first difference stops the run.
//
//   auto dev = make_tandem_device({.minimum = true, .name = "server"});   dev->attach(env);   ...   dev->failure()
//
// failure() is the first of: an assertion of the RTL, a difference; and once the device has been quiet (nothing moved for
// kQuietCycles), what was left over or never compared.
#pragma once

#include <memory>
#include <string>

#include "backend/device.hpp"
#include "backend/device_rtl.hpp"

namespace rnic::sim {

/// options.observer, if there is one, is told everything too.
std::unique_ptr<Device> make_tandem_device(const RtlOptions& options);

inline constexpr uint64_t kQuietCycles = 4096;
inline constexpr uint64_t kQuietNs = 2 * kQuietCycles * 3103 / 1000;  // more than that, for whoever lets a device come to rest

/// What was compared and judged so far, one line a kind; empty if the device is not in tandem.
std::string tandem_report(const Device& device);

}  // namespace rnic::sim
