// Latencies of llp_if in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct LlpTiming {
  Cycle rx = 3;                   // input register, connection table read, its QP
  Cycle tx = 1;                   // output register; the header is ahead of the beats, so the
                                  // tables are read by then
  Cycle done = 2;                 // last beat accepted, report
  Cycle credit = 2;               // connection table: read, write
  Cycle control = 4;              // commands, events: table read, decide, write
  Cycle term_timeout = 1U << 16;  // docs/theory-of-operation.md, TermTimeout
};

}  // namespace rnic::model
