// Latencies of cq in cycles.
#pragma once

#include "sc/dispatcher.hpp"

namespace rnic::model {

struct CqTiming {
  Cycle write = 3;      // cqe_req to cq_wr: input FIFO, table word, entry FIFO (u_out)
  Cycle occupancy = 2;  // the word is read in one cycle, changed and written in the next (exec_q)
  Cycle behind = 4;     // cqe_req until its event may follow: write, then entry_left_q
  // cq_doorbell to the event that arming fires at once: input FIFO, table word, list of due CQs,
  // table word, u_out.
  Cycle doorbell = 5;
  Cycle event = 2;     // source of an event until its bit is pending: taken, StSet
  Cycle announce = 4;  // pending to entry: list head (StIdle), StHead, StEq, StTry
  Cycle control = 2;   // a command: table word, response register (u_table, rsp_q)
};

}  // namespace rnic::model
