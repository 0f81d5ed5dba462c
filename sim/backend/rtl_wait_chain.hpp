// Who waits for whom inside an RTL device that stands still: a report in lines, from its snapshots.
//
//   sched -seg-> [ u_segs ] ---> segment -inline-> header -hdr-> [ u_out ] -tx_ulpdu-> ...
//                 full            StInl              ends the chain: it takes order, and none comes
//
// An instance waits for the next one if it offers a stream that is not taken, or if a queue that it
// fills is full. A chain begins at an instance that nobody waits for and ends at one that waits for
// nobody: there is the fault, or what the device is not given. States of other leaves that are not
// those of an idle device follow.
//
//   for (const std::string& line : wait_chain({.now = now, .idle = &idle, .before = &before,
//                                              .before_cycle = 77})) ...
//
// Siblings: rtl_snapshot.hpp (what it reads), device_rtl.cpp (the report). Bench
// tb/backend/wait_chain_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/rtl_snapshot.hpp"

namespace rnic::sim {

struct WaitChainQuery {
  const RtlSnapshot& now;
  const RtlSnapshot* idle =
      nullptr;  // of the same build after reset: what is held there counts as nothing
  const RtlSnapshot* before = nullptr;  // earlier in this run: what is the same has not moved since
  uint64_t before_cycle = 0;
};

/// Empty if the device looks as an idle one does.
std::vector<std::string> wait_chain(const WaitChainQuery& query);

}  // namespace rnic::sim
