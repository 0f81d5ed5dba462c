// The exceptions that end a command before its work is done. Exit statuses: run/outcome.hpp.
#pragma once

#include <stdexcept>

namespace rnic::app {

/// Wrong use: one line that names the error and the remedy. Exit status 2.
struct Usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A resource that this machine lacks. Exit status 4.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Ends a command whose messages have all been printed. `status`: its exit status.
struct Ended {
  int status;
};

}  // namespace rnic::app
