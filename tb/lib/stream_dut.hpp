// The narrow cells of rtl/lib, all connected: a cell that a test does not use stays idle. See
// stream_bench.sv.
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

  /// Sets inputs of the cells without streams to 0. A test sets the addresses of the RAM itself.
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
