// The regions of a plan: those of the listing's key `memory`, or those that its messages use.
#pragma once

#include "replay/plan.hpp"

namespace rnic::app {

/// True for a message that takes a receive: any Send, or Immediate Data.
bool is_send(const Message& m);

/// Fills `regions`, `unlisted`, `whole_receives` and the pokes of a plan that has its steps,
/// receives and posts. Throws Usage if our device cannot send a message of the listing.
void plan_memory(const Listing& listing, Plan& plan);

}  // namespace rnic::app
