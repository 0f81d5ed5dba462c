// Latencies of admin in cycles. Admin is one state machine, outside the data path.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct AdminTiming {
  Cycle step = 4;     // a state: table read, check, decision
  Cycle fetched = 2;  // data of a read to its state
  Cycle command = 3;  // to a unit and into its FIFO
  // States of admin_ranges. ranges: of an operation (StIdle, StRecord, StSave, StDone). turn: each
  // time it comes to a range, also an empty one (StRange, StNext). range: one that is not empty
  // (StEnd, StFirst). word: of 64 entries (StRead, StUse).
  Cycle ranges = 4, turn = 2, range = 2, word = 2;
};

}  // namespace rnic::model
