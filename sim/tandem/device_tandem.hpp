// A device in tandem: the RTL, the model's behaviour stepped by it (follower.hpp) and an
// independent check of the order at its PCIe port (ordering.hpp). The RTL leads. The first
// difference stops the run.
//
//   auto dev = make_tandem_device({.build = RtlBuild::kMinimum, .name = "server"});
//   dev->attach(env);   ...   dev->failure()
//
// failure() is the first failed assertion of the RTL or the first difference. After kQuietCycles
// without activity it also reports items that remain on edges and kinds that were never compared.
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

/// options.observer, if set, receives everything that the follower and the ordering checker do.
std::unique_ptr<Device> make_tandem_device(const RtlOptions& options);

/// Cycles without activity after which failure() reports items that are left on edges.
inline constexpr uint64_t kQuietCycles = 4096;
/// Longer than the quiet time, for a caller that waits until a device is quiet.
inline constexpr uint64_t kQuietNs = base::time_of_cycle(2 * kQuietCycles) / 1000;

/// What was followed, compared and judged so far, with counts.
struct TandemReport {
  using Counts = std::vector<std::pair<std::string, uint64_t>>;
  Counts compared;  ///< outputs, by kind
  Counts commits;   ///< by name
  Counts followed;  ///< choices of the RTL that the model took over (docs/tandem-choices.md)
  Counts judged;    ///< rules of PCIe order
};
/// Empty if the device is not in tandem.
std::optional<TandemReport> tandem_report(const Device& device);

}  // namespace rnic::sim
