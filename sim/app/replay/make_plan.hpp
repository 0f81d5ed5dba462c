// Makes a plan from a listing: steps, receives, messages in order.
//
//   Plan p = make_plan(listing, side_of(listing, "siw"), 0);
#pragma once

#include <string>

#include "replay/plan.hpp"

namespace rnic::app {

/// Selects the endpoint by its name in the listing or by its role. Empty: siw (Linux Soft-iWARP) if
/// the listing names it as initiator, else the responder.
/// Throws Usage.
Endpoint side_of(const Listing& listing, const std::string& name);

/// Throws Usage if the listing cannot be played.
Plan make_plan(const Listing& listing, Endpoint side, uint32_t connection);

}  // namespace rnic::app
