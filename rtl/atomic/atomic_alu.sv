// atomic_alu: computes the new value of a FetchAdd or CmpSwap (RFC 7306 5.1.1, 5.1.2), 64 bits.
//
//                 stage 1                              stage 2
//   orig, value --> [ summands p, g; flips x ]--high-->[ + ]--^ x--> new[63:32]
//   mask        --> [ low half: p + g, ^ x   ]--carry---^  +-------> new[31:0]
//   compare     --> [ match                  ]---------------------> write
//
// 1. FetchAdd: a mask bit marks the top bit of a field; the carry out of that bit is dropped
//    (ambiguities.md A-27). The adder gets 0 at both inputs of a top bit. That bit of the sum is
//    the carry from below, and no carry leaves it. The flips x add the two operand bits there:
//    new = (p + g) ^ x.
// 2. CmpSwap: p is the swapped value, g and x are 0. The adder passes p unchanged. write_o is the
//    match.
// 3. write_o says whether new_o is stored. A CmpSwap without a match stores nothing; its new_o is
//    unused.
//
// Values are integers in the host's byte order; the caller converts from and to the wire (A-28).
//
// Latency: 2 cycles. Stage 1 adds the low 32 bits, stage 2 the high 32 bits and the carry.
// Throughput: 1 operation per cycle. No back-pressure: atomic_alu never stalls, and the consumer
// has reserved room.
// Parent: atomic_compute. Model: model/atomic/atomic_alu.hpp.
// Bench: tb/atomic/atomic_alu_test.cpp.
// Proof: rtl/formal/atomic_alu_fv.sv
`include "rnic_assert.svh"

module atomic_alu (
  input  logic        clk_i,
  input  logic        rst_ni,
  // the operation: orig_i is the value in memory, value_i and mask_i are add or swap data and mask
  input  logic        valid_i,
  input  logic        is_cmp_swap_i,
  input  logic [63:0] orig_i,
  input  logic [63:0] value_i,
  input  logic [63:0] mask_i,
  input  logic [63:0] compare_i,
  input  logic [63:0] compare_mask_i,
  // its result, 2 cycles later
  output logic        valid_o,
  output logic        write_o,
  output logic [63:0] new_o
);
  // --- stage 1: summands, low half
  logic [63:0] p, g, x;
  logic [32:0] low;
  logic        write;

  assign p   = is_cmp_swap_i ? (orig_i & ~mask_i) | (value_i & mask_i) : orig_i & ~mask_i;
  assign g   = is_cmp_swap_i ? '0 : value_i & ~mask_i;
  assign x   = is_cmp_swap_i ? '0 : (orig_i ^ value_i) & mask_i;
  assign low = {1'b0, p[31:0]} + {1'b0, g[31:0]};

  assign write = !is_cmp_swap_i || ((orig_i ^ compare_i) & compare_mask_i) == '0;

  logic        s1_valid_q, s1_write_q, s1_carry_q;
  logic [31:0] s1_low_q, s1_p_q, s1_g_q, s1_x_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s1_valid_q <= 1'b0;
    else         s1_valid_q <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    s1_write_q <= write;
    s1_carry_q <= low[32];
    s1_low_q   <= low[31:0] ^ x[31:0];
    s1_p_q     <= p[63:32];
    s1_g_q     <= g[63:32];
    s1_x_q     <= x[63:32];
  end

  // --- stage 2: high half
  logic        s2_valid_q, s2_write_q;
  logic [63:0] s2_new_q;
  logic [31:0] high;

  assign high = s1_p_q + s1_g_q + {31'h0, s1_carry_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s2_valid_q <= 1'b0;
    else         s2_valid_q <= s1_valid_q;
  end
  always_ff @(posedge clk_i) begin
    s2_write_q <= s1_write_q;
    s2_new_q   <= {high ^ s1_x_q, s1_low_q};
  end

  assign valid_o = s2_valid_q;
  assign write_o = s2_write_q;
  assign new_o   = s2_new_q;

  `RNIC_ASSERT_NEXT(NextCycle_A, s1_valid_q, valid_o)
endmodule
