// Ends the program after a failed RNIC_CHECK.
#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace rnic::base {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  fmt::print(stderr, "{}:{}: check failed: {}: {}\n", file, line, condition, message);
  std::fflush(stderr);
  std::abort();
}

}  // namespace rnic::base
