// One run in a child process. See run_child.hpp.
#include "run/run_child.hpp"

#include "run/child.hpp"

namespace rnic::app {

Outcome run_child(const RunRequest& r) {
  check(r);  // here, so that a usage error is thrown in the parent
  return in_child([&] { return run(r); });
}

}  // namespace rnic::app
