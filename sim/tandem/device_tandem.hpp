// A device in tandem: the RTL, with the model's behaviour behind it (follower.hpp) and an independent judge of order at its
// PCIe port (ordering.hpp). The RTL leads; the first difference stops the run.
//
//   auto dev = make_tandem_device({.build = RtlBuild::kMinimum, .name = "server"});   dev->attach(env);   ...   dev->failure()
//
// failure() is the first of: an assertion of the RTL, a difference; and once the device has been quiet (nothing moved for
// kQuietCycles), what was left over or never compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/device.hpp"
#include "backend/device_rtl.hpp"
#include "base/clock.hpp"

namespace rnic::sim {

/// options.observer, if there is one, is told everything too.
std::unique_ptr<Device> make_tandem_device(const RtlOptions& options);

inline constexpr uint64_t kQuietCycles = 4096;
inline constexpr uint64_t kQuietNs =
    base::time_of_cycle(2 * kQuietCycles) /
    1000;  // more than that, for whoever lets a device come to rest

/// What was followed, compared and judged so far, each with how often.
struct TandemReport {
  using Counts = std::vector<std::pair<std::string, uint64_t>>;
  Counts compared;  ///< outputs, by kind
  Counts commits;   ///< by name
  Counts followed;  ///< choices of the RTL that needed to be taken over (docs/tandem-choices.md)
  Counts judged;    ///< rules of order
};
/// Nothing if the device is not in tandem.
std::optional<TandemReport> tandem_report(const Device& device);

}  // namespace rnic::sim
