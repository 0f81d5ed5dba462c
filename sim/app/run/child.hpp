// Runs in child processes: SystemC elaborates once a process, and a child that dies is a failure of
// its own.
//
//   Outcome o = in_child([&] { return run(request); });
//   in_children(12, jobs, [&](size_t i) { return run(requests[i]); },
//               [&](size_t i, Outcome o) { ...; return true; });
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>

#include "run/outcome.hpp"

namespace rnic::app {

/// Ctrl-C (SIGINT) or SIGTERM came, and the children are ended. What had finished was given to `done`.
struct Interrupted {
  int signal;
  int status() const { return 128 + signal; }  // as a shell says it
};

/// A child that exceeds one is ended; its outcome is then `timed_out`.
struct ChildLimits {
  unsigned wall_s = 0;  // from its start; 0: no limit
  std::optional<std::chrono::steady_clock::time_point> until{};
};

/// What `body` returned in a child process. Usage and Missing are thrown here; what else it throws,
/// and how it died, is a failure like another.
/// Throws Interrupted.
Outcome in_child(const std::function<Outcome()>& body, const ChildLimits& limits = {});

/// body(i) for i below n, up to `jobs` at a time. `done` is called here, in order of i; false
/// starts no more. Throws Interrupted, from then on always.
void in_children(size_t n, unsigned jobs, const std::function<Outcome(size_t)>& body,
                 const std::function<bool(size_t, Outcome)>& done, const ChildLimits& limits = {});

/// For a body that has something to close: its parent, when interrupted, does not end it at once, but
/// sets what is returned here, waits some seconds for its end, and takes no outcome of it.
const volatile std::sig_atomic_t* take_time_to_end();

}  // namespace rnic::app
