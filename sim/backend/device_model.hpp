// A device made of the SystemC model: model/top/rnic.hpp behind the Device interface.
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

std::unique_ptr<Device> make_model_device(const spec::Sizes& sizes, const std::string& name,
                                          const model::Timing& timing = {});

}  // namespace rnic::sim
