// Reports which parts of a stuck RTL device wait for which others, as lines of text, from
// snapshots.
//
//   sched -seg-> [ u_segs ] ---> segment -inline-> header -hdr-> [ u_out ] -tx_ulpdu-> ...
//                 full            StInl      ends the chain: it would take order, and none comes
//
// An instance waits for another if it offers a stream that the other does not accept, or if a queue
// that it fills is full. A chain begins at an instance that no other waits for. It ends at an
// instance that waits for no other: this instance has the fault, or the device lacks an input.
// After the chains come the other leaves whose state differs from that of an idle device.
//
//   for (const std::string& line : wait_chain({.now = now, .idle = &idle, .before = &before,
//                                              .before_cycle = 77})) ...
//
// Siblings: rtl_snapshot.hpp (its input), device_rtl.cpp (the report). Bench:
// tb/backend/wait_chain_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/rtl_snapshot.hpp"

namespace rnic::sim {

struct WaitChainQuery {
  const RtlSnapshot& now;
  const RtlSnapshot* idle = nullptr;    // same build after reset: what stalls there is ignored
  const RtlSnapshot* before = nullptr;  // earlier in this run: equal values have not moved since
  uint64_t before_cycle = 0;
};

/// Empty if the state equals that of an idle device.
std::vector<std::string> wait_chain(const WaitChainQuery& query);

}  // namespace rnic::sim
