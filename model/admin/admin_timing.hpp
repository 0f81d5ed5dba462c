// Latencies of admin in cycles. Admin is one state machine, outside the data path.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct AdminTiming {
  Cycle step = 4;     // a state: table read, check, decision
  Cycle fetched = 2;  // data of a read to its state
  Cycle command = 3;  // to a unit and into its FIFO
  // admin_ranges: StIdle, StRecord, StSave, StDone; StRange, StNext; StEnd, StFirst; StRead, StUse
  Cycle ranges = 4, turn = 2, range = 2, word = 2;
};

}  // namespace rnic::model
