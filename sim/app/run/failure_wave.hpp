// A run that failed on RTL repeats itself with a waveform around its first mismatch (architecture
// 12): where the wrong byte was written, if somebody saw one, else when somebody noticed. Runs
// repeat exactly, so it is the same failure.
//
//   says += failure_wave("write_bw-seed1", kinds, outcome, [&](auto& wave, auto& watch) { ... });
//
// What it looks at in the outcome's json: failed_at_ns; wrong {side, bus}; written_at_ns, which a
// run that was given a place to watch adds.
#pragma once

#include <functional>

#include "run/run.hpp"

namespace rnic::app {

/// Runs it once more, in this process, with this --wave and watching this place.
using Again = std::function<Outcome(const std::string& wave, const std::optional<Place>& watch)>;

/// "waveform: ..." in a line. Nothing if no RTL took part.
std::string failure_wave(const std::string& name, const std::array<std::string, 2>& kind,
                         const Outcome& failed, const Again& again);
/// Of a run; nothing also if the user has asked for a waveform of his own (or for `none`).
std::string failure_wave(const RunRequest& request, const Outcome& failed);

}  // namespace rnic::app
