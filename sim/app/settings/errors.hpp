// What ends a command before its work is done. Exit statuses: run/outcome.hpp.
#pragma once

#include <stdexcept>

namespace rnic::app {

/// Wrong use: one line that says what and what to do. Exit status 2.
struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Something missing on this machine. Exit status 4.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A command ends here; all that is to be said has been said.
struct Ended {
  int status;
};

}  // namespace rnic::app
