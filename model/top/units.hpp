// The units of the timed model: each finds its neighbours here. rnic.hpp draws the edges.
#pragma once

#include "gen/sizes.hpp"
#include "sc/dispatcher.hpp"
#include "sc/port.hpp"
#include "sc/stream_tap.hpp"
#include "top/stage_order.hpp"
#include "top/surroundings.hpp"
#include "top/timing.hpp"

namespace rnic::model {

class HostUnit;
class AdminUnit;
class QpUnit;
class TptUnit;
class AtomicUnit;
class RdmapUnit;
class DdpUnit;
class MpaUnit;
class CqUnit;
class LlpUnit;

struct Units {
  const spec::Sizes& sizes;
  const Timing& timing;
  Surroundings& world;
  Dispatcher& dispatcher;
  uint32_t lane;
  Cycle born;                // the cycle of reset
  StreamTap* tap = nullptr;  // null: nobody watches
  HostUnit* host = nullptr;
  AdminUnit* admin = nullptr;
  QpUnit* qp = nullptr;
  TptUnit* tpt = nullptr;
  AtomicUnit* atomic = nullptr;
  RdmapUnit* rdmap = nullptr;
  DdpUnit* ddp = nullptr;
  MpaUnit* mpa = nullptr;
  CqUnit* cq = nullptr;
  LlpUnit* llp = nullptr;
  PortList ports{};

  Cycle now() const { return dispatcher.now(); }
  void pass(Stream stream, Cycle at) const {
    if (tap != nullptr) tap->pass(stream, at);
  }
  void attach(Stage& stage, StageNo number, bool external = false) const {
    stage.attach(dispatcher, lane, static_cast<uint32_t>(number), external);
  }
};

}  // namespace rnic::model
