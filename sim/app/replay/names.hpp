// Names of Terminates and events, as docs/gen/errors.md has them.
//
//   name_of_terminate(1, 1, 0)   // "Terminate 1/1/00 (ddp_tagged_stag)"
#pragma once

#include <cstdint>
#include <string>

#include "rnic/verbs_types.hpp"

namespace rnic::app {

/// The cause of a Terminate; empty if no cause of the device has these values.
std::string cause_of_terminate(uint32_t layer, uint32_t etype, uint32_t code);
std::string name_of_terminate(uint32_t layer, uint32_t etype, uint32_t code);
/// Event, cause with its meaning, and the peer's Terminate if it sent one.
std::string text_of(const verbs::AsyncEvent& event);

}  // namespace rnic::app
