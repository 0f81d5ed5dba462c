// Creates the units of a device and connects them. The edges: edges.cpp.
#include "top/rnic.hpp"

namespace rnic::model {

Rnic::Rnic(const spec::Sizes& sizes, const Timing& timing, Dispatcher& clock, Surroundings& world,
           StreamTap* tap)
    : sizes_(sizes),
      timing_(timing),
      units_{.sizes = sizes_,
             .timing = timing_,
             .world = world,
             .dispatcher = clock,
             .lane = clock.add_lane(),
             .born = clock.now(),
             .tap = tap},
      tpt_(units_),
      atomic_(units_, tpt_.lookups()),
      rdmap_(units_, tpt_.lookups()),
      ddp_(units_, tpt_.lookups(), rdmap_.judge()),
      qp_(units_, tpt_.lookups()),
      cq_(units_),
      mpa_(units_),
      llp_(units_),
      host_(units_),
      admin_(units_) {
  connect();
  units_.ports.check();
}

Rnic::~Rnic() { units_.dispatcher.drop_lane(units_.lane); }

std::string Rnic::waiting_for() const {
  return admin_.waiting_for() + qp_.waiting_for() + rdmap_.waiting_for() + ddp_.waiting_for() +
         mpa_.waiting_for() + llp_.waiting_for() + tpt_.waiting_for() + atomic_.waiting_for() +
         cq_.waiting_for() + host_.waiting_for();
}

}  // namespace rnic::model
