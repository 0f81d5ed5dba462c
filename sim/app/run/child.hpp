// Runs in child processes. SystemC elaborates once per process, and a child that dies is reported
// as a failure of its own run.
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

/// SIGINT (Ctrl-C) or SIGTERM arrived, and the children are ended. `done` has received the outcomes
/// of all that had finished.
struct Interrupted {
  int signal;
  int status() const { return 128 + signal; }  // the shell's convention
};

/// A child that exceeds one of these limits is ended; its outcome is then `timed_out`.
struct ChildLimits {
  unsigned wall_s = 0;  // from its start; 0: no limit
  std::optional<std::chrono::steady_clock::time_point> until{};
};

/// Runs `body` in a child process and returns its outcome. Rethrows Usage and Missing here. Any
/// other exception, or a child that dies, becomes a failed outcome. Throws Interrupted.
Outcome in_child(const std::function<Outcome()>& body, const ChildLimits& limits = {});

/// Runs body(i) for i below n, up to `jobs` at a time. `done` is called in this process, in order
/// of i; if it returns false, no more bodies are started. Throws Interrupted, and after a signal at
/// each later call.
void in_children(size_t n, unsigned jobs, const std::function<Outcome(size_t)>& body,
                 const std::function<bool(size_t, Outcome)>& done, const ChildLimits& limits = {});

/// As in_children, but calls `done` as soon as a body has ended, in any order. An outcome does not
/// wait for those of lower numbers.
void in_children_any_order(size_t n, unsigned jobs, const std::function<Outcome(size_t)>& body,
                           const std::function<bool(size_t, Outcome)>& done,
                           const ChildLimits& limits = {});

/// For a body that must close something, such as a waveform. When interrupted, the parent does not
/// end this child at once. It makes the flag that is returned here 1, waits up to 10 s (kTimeToEnd)
/// for the end of the child, and ignores the outcome.
const volatile std::sig_atomic_t* take_time_to_end();

}  // namespace rnic::app
