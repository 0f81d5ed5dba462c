// What all units of a device share. A unit reaches its neighbours only through its ports
// (sc/port.hpp), never through this struct.
#pragma once

#include "gen/sizes.hpp"
#include "sc/dispatcher.hpp"
#include "sc/port.hpp"
#include "sc/stream_tap.hpp"
#include "top/stage_order.hpp"
#include "top/surroundings.hpp"
#include "top/timing.hpp"

namespace rnic::model {

struct Units {
  const spec::Sizes& sizes;
  const Timing& timing;
  Surroundings& world;
  Dispatcher& dispatcher;
  uint32_t lane;
  Cycle born;                // the cycle of reset
  StreamTap* tap = nullptr;  // null: no observer
  PortList ports{};

  Cycle now() const { return dispatcher.now(); }
  /// Reports to the observer, if any, that an item crosses between units.
  void pass(Stream stream, Cycle at) const {
    if (tap != nullptr) tap->pass(stream, at);
  }
  void attach(Stage& stage, StageNo number, bool external = false) const {
    stage.attach(dispatcher, lane, static_cast<uint32_t>(number), external);
  }
};

}  // namespace rnic::model
