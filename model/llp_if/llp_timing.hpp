// Latencies of llp_if in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct LlpTiming {
  Cycle rx = 3;                   // input register, connection table read, its QP
  Cycle tx = 1;                   // output register; tables are read while the header is ahead
  Cycle done = 2;                 // last beat accepted, report
  Cycle credit = 2;               // connection table: read, write
  Cycle control = 4;              // commands, events: table read, decide, write
  Cycle term_timeout = 1U << 16;  // docs/theory-of-operation.md, TermTimeout
};

}  // namespace rnic::model
