// Repeats a run that failed on RTL, with a waveform around its first mismatch (architecture 12).
// The window is around the write of the wrong byte if a device wrote it, else around the detection.
// Runs repeat exactly, so the failure is the same.
//
//   says += failure_wave("write_bw-seed1", kinds, outcome, [&](auto& wave, auto& watch) { ... });
//
// Reads these keys of the outcome's json: failed_at_ns; wrong {side, bus}; written_at_ns, which a
// run adds if its request has a place to watch.
#pragma once

#include <functional>

#include "run/run.hpp"

namespace rnic::app {

/// Runs it once more, in this process, with this --wave and with this place watched.
using Again = std::function<Outcome(const std::string& wave, const std::optional<Place>& watch)>;

/// Returns a line "waveform: ..."; empty if no device is RTL.
std::string failure_wave(const std::string& name, const std::array<std::string, 2>& kind,
                         const Outcome& failed, const Again& again);
/// For a run. Also empty if the user has given --wave, even as `none`.
std::string failure_wave(const RunRequest& request, const Outcome& failed);

}  // namespace rnic::app
