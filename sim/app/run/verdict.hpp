// The verdict on a simulated run: whether it failed, why, and the messages for the user.
//
//   Verdict v = judge(setup, ending, out);   // fills out.status and out.failure
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "programs.hpp"
#include "run/outcome.hpp"
#include "run/setup.hpp"

namespace rnic::app {

struct Verdict {
  // Of each side, its threads merged; without the errors that a power failure has caused.
  std::array<programs::Report, 2> reports;
  uint64_t checks = 0, mismatches = 0;  // of both sides
};

/// Sets `out.status` and adds a line to `out.failure` for each failure. Adds to the JSON
/// "after_power_failure", the place of the failure ("failed_at_ns", "wrong", "written_at_ns"), and
/// for durable_log "log" and "crash". Throws Usage if the settings, not a fault, made the program
/// fail.
Verdict judge(Setup& setup, const Ending& ending, Outcome& out);

/// file_copy: the file at its destination.
const std::vector<uint8_t>& received_file(const Setup& setup, const Verdict& verdict);

}  // namespace rnic::app
