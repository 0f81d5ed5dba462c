// The values of one dimension of a sweep, as a user types them.
//
//   values_of("qps", "1,8,64")            1 8 64
//   values_of("size", "8..65536*2")       8 16 32 ... 65536
//   values_of("pcie_latency_ns", "200..2000+300,5000")
//
// A range is FROM..TO (step 1), FROM..TO+STEP or FROM..TO*FACTOR of decimal numbers. It has as many
// digits after the point as the longest of its numbers. TO is a value only if a step reaches it.
#pragma once

#include <string>
#include <vector>

namespace rnic::app::sweep {

/// Throws Usage, naming `name`, for an empty value, an empty or endless range, and a value that
/// occurs twice.
std::vector<std::string> values_of(const std::string& name, const std::string& text);

}  // namespace rnic::app::sweep
