// Repeats a run that failed on RTL, with a waveform around its first mismatch (architecture 12).
// Runs repeat exactly, so the failure is the same. Repeats it up to twice:
//
//   1. only if `wrong` is known: without a waveform and with the wrong byte watched, which gives
//      written_at_ns
//   2. with the waveform, from 2000 ns before (kBeforeNs) to 500 ns after (kAfterNs) the write of
//      the wrong byte. If no wrong byte is known, or no device wrote it: around failed_at_ns
//
//   says += failure_wave("write_bw-seed1", kinds, outcome, [&](auto& wave, auto& watch) { ... });
//
// Reads these keys of json: of the failed outcome failed_at_ns (without it, nothing is repeated)
// and wrong {side, bus}; of the first repetition written_at_ns, which a run adds if its request has
// a place to watch.
#pragma once

#include <functional>

#include "run/run.hpp"

namespace rnic::app {

/// Repeats the failed run, in this process, with this --wave and with this place watched.
using Again = std::function<Outcome(const std::string& wave, const std::optional<Place>& watch)>;

/// Returns a line "waveform: ...", or the reason why there is none. Empty if no device is RTL, or
/// if the user interrupts. `name`: the files' names begin with it.
std::string failure_wave(const std::string& name, const std::array<std::string, 2>& kind,
                         const Outcome& failed, const Again& again);
/// For a run of one program. Also empty if the user has given --wave, even as `none`.
std::string failure_wave(const RunRequest& request, const Outcome& failed);

}  // namespace rnic::app
