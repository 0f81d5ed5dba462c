// host_if_retire: counts completed extents by epoch, and reports each one (rd_retired, wr_retired).
//
//   pulse, epoch --> [ count 0 ][ count 1 ] --> pick --> [ valid, epoch ] --> stream
//
// Order between epochs is not kept: tpt needs only the counts.
// Latency: 2 cycles. Throughput: 1 report per cycle.
// Back-pressure: none; a pulse is always accepted. The counts do not overflow (NoOverflow_A): tpt
// is always ready, so a report leaves in each cycle.
// Sibling host_if_done. Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_retire (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic pulse_i,
  input  logic epoch_i,
  // to tpt, which is always ready
  output logic valid_o,
  input  logic ready_i,
  output logic epoch_o
);
  logic [15:0] zero_q, one_q;
  logic        valid_q, epoch_q, load, some_zero, some_one;

  assign some_zero = zero_q != '0;
  assign some_one  = one_q != '0;
  assign load      = (!valid_q || ready_i) && (some_zero || some_one);
  assign valid_o   = valid_q;
  assign epoch_o   = epoch_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      zero_q  <= '0;
      one_q   <= '0;
      valid_q <= 1'b0;
    end else begin
      zero_q  <= zero_q + 16'(pulse_i && !epoch_i) - 16'(load && some_zero);
      one_q   <= one_q + 16'(pulse_i && epoch_i) - 16'(load && !some_zero);
      valid_q <= load || (valid_q && !ready_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) epoch_q <= !some_zero;
  end

  `RNIC_ASSERT(NoOverflow_A, zero_q != '1 && one_q != '1)
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, epoch_o)
endmodule
