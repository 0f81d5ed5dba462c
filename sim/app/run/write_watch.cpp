// When a device wrote a byte of host memory. See write_watch.hpp.
#include "run/write_watch.hpp"

#include <algorithm>

namespace rnic::app {

void WriteWatch::on_write(Time t, const sim::DmaWrite& w, bool) {
  if (bus_ >= w.address && bus_ < w.address + w.data.size()) times_.push_back(t);
}

Time WriteWatch::last_before(Time t) const {
  const auto it = std::upper_bound(times_.begin(), times_.end(), t);
  return it == times_.begin() ? 0 : *(it - 1);
}

}  // namespace rnic::app
