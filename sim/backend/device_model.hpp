// A device made of the SystemC model: implements the Device interface with model/top/rnic.hpp.
//
//   auto dev = make_model_device(spec::Sizes{}, "client");
//   dev->attach(env);
//
// All models of a simulation share one clock.
#pragma once

#include <memory>
#include <string>

#include "backend/device.hpp"
#include "gen/sizes.hpp"
#include "top/timing.hpp"

namespace rnic::sim {

class Observer;  // backend/observer.hpp

/// `observer`: receives only Observer::stream(); outlives the device.
std::unique_ptr<Device> make_model_device(const spec::Sizes& sizes, const std::string& name,
                                          const model::Timing& timing = {},
                                          Observer* observer = nullptr);

}  // namespace rnic::sim
