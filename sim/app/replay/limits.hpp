// Refuses a listing that asks for more than the device or its host has, before anything runs.
//
//   refuse_large_memory(listing, {config.sizes(seat), config.platform(seat).host});
#pragma once

#include "gen/sizes.hpp"
#include "platform/config.hpp"
#include "replay/plan.hpp"

namespace rnic::app {

/// What our device and its host offer.
struct Room {
  spec::Sizes sizes;
  sim::HostConfig host;
};

/// Checks the key `memory`, before a plan makes its regions. Throws Usage.
void refuse_large_memory(const Listing& listing, const Room& room);
/// Checks regions, receives and requests of one connection. Throws Usage.
void refuse_large_plan(const Listing& listing, const Plan& plan, const Room& room);

}  // namespace rnic::app
