// The narrow cells of rtl/lib, all attached: an unused one simply idles. See stream_bench.sv.
#pragma once

#include "VStreamBench.h"
#include "support/rtl_dut.hpp"
#include "word.hpp"

namespace rnic::tb {

struct StreamDut : RtlDut<VStreamBench> {
  StreamIn<Word16> reg_in = RNIC_WORD_IN(*this, reg, 16);
  StreamOut<Word16> reg_out = RNIC_WORD_OUT(*this, reg, 16);

  StreamIn<Word16> fifo1_in = RNIC_WORD_IN(*this, fifo1, 16);
  StreamOut<Word16> fifo1_out = RNIC_WORD_OUT(*this, fifo1, 16);
  StreamIn<Word16> fifo2_in = RNIC_WORD_IN(*this, fifo2, 16);
  StreamOut<Word16> fifo2_out = RNIC_WORD_OUT(*this, fifo2, 16);
  StreamIn<Word16> fifo5_in = RNIC_WORD_IN(*this, fifo5, 16);
  StreamOut<Word16> fifo5_out = RNIC_WORD_OUT(*this, fifo5, 16);
  StreamIn<Word16> fifo100_in = RNIC_WORD_IN(*this, fifo100, 16);
  StreamOut<Word16> fifo100_out = RNIC_WORD_OUT(*this, fifo100, 16);

  StreamIn<Word16> arb_a = RNIC_WORD_IN(*this, arb_a, 16);
  StreamIn<Word16> arb_b = RNIC_WORD_IN(*this, arb_b, 16);
  StreamIn<Word16> arb_c = RNIC_WORD_IN(*this, arb_c, 16);
  StreamOut<Word<18>> arb_out = RNIC_WORD_OUT(*this, arb, 18);

  StreamIn<Word<17>> parb_a = RNIC_WORD_IN(*this, parb_a, 17);
  StreamIn<Word<17>> parb_b = RNIC_WORD_IN(*this, parb_b, 17);
  StreamIn<Word<17>> parb_c = RNIC_WORD_IN(*this, parb_c, 17);
  StreamOut<Word<19>> parb_out = RNIC_WORD_OUT(*this, parb, 19);

  StreamIn<Word16> fork_in = RNIC_WORD_IN(*this, fork, 16);
  StreamOut<Word16> fork_a = RNIC_WORD_OUT(*this, fork_a, 16);
  StreamOut<Word16> fork_b = RNIC_WORD_OUT(*this, fork_b, 16);
  StreamOut<Word16> fork_c = RNIC_WORD_OUT(*this, fork_c, 16);

  StreamIn<Word16> join_a = RNIC_WORD_IN(*this, join_a, 16);
  StreamIn<Word16> join_b = RNIC_WORD_IN(*this, join_b, 16);
  StreamOut<Word<32>> join_out = RNIC_WORD_OUT(*this, join, 32);

  StreamIn<Word<2>> mux_s = RNIC_WORD_IN(*this, mux_s, 2);
  StreamIn<Word16> mux_a = RNIC_WORD_IN(*this, mux_a, 16);
  StreamIn<Word16> mux_b = RNIC_WORD_IN(*this, mux_b, 16);
  StreamIn<Word16> mux_c = RNIC_WORD_IN(*this, mux_c, 16);
  StreamOut<Word16> mux_out = RNIC_WORD_OUT(*this, mux, 16);

  StreamIn<Word<18>> demux_in = RNIC_WORD_IN(*this, demux, 18);
  StreamOut<Word16> demux_a = RNIC_WORD_OUT(*this, demux_a, 16);
  StreamOut<Word16> demux_b = RNIC_WORD_OUT(*this, demux_b, 16);
  StreamOut<Word16> demux_c = RNIC_WORD_OUT(*this, demux_c, 16);

  StreamOut<Word<6>> alloc = RNIC_WORD_OUT(*this, pool, 6);
  StreamIn<Word<6>> free = RNIC_WORD_IN(*this, pool, 6);

  StreamIn<Word<5>> give = RNIC_WORD_IN(*this, give, 5);
  StreamIn<Word<5>> take = RNIC_WORD_IN(*this, take, 5);

  StreamDut() {
    top().ram_we_i = 0;
    top().ram_re_i = 0;
    top().first_i = 0;
    top().turn_i = 0;
    top().turn_start_i = 0;
    top().keep_i = 0;
    top().tally_items_i = 0;
    top().tally_busy_i = 0;
    top().tally_stalled_i = 0;
  }
};

}  // namespace rnic::tb
