// Latencies of admin in cycles. Admin is one state machine, outside the data path.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct AdminTiming {
  Cycle step = 4;     // a state of the machine: table read, check, decision
  Cycle fetched = 2;  // from data of a read to the state that uses it
  Cycle command = 3;  // from a command to the FIFO of its unit
  // Cycles of admin_ranges, by its states (Ranges::Walk counts them). ranges: once per operation
  // (StIdle, StRecord, StSave, StDone). turn: for each range in a pass, also an empty one (StRange,
  // StNext). range: added for one that is not empty (StEnd, StFirst). word: for each word of 64
  // entries (StRead, StUse).
  Cycle ranges = 4, turn = 2, range = 2, word = 2;
};

}  // namespace rnic::model
