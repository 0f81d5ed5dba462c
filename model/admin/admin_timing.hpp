// Latencies of admin in cycles. Admin is one state machine, outside the data path.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct AdminTiming {
  Cycle step = 4;     // a state: table read, check, decision
  Cycle command = 3;  // to a unit and into its FIFO
};

}  // namespace rnic::model
