// Checks for bugs of this program: a broken invariant ends it with a message and the values.
//
//   RNIC_CHECK(index < ring.size(), "cq {}: index {} beyond {}", cq, index, ring.size());
//
// Not for errors that a user or peer can cause: report those by a Result (result.hpp) or by a Cause
// (gen/errors.hpp) in a stream.
#pragma once

#include <fmt/format.h>

#include <string>

namespace rnic::base {

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);

}  // namespace rnic::base

#define RNIC_CHECK(condition, ...)                                                            \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::rnic::base::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
