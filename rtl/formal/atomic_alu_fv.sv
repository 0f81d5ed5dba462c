// atomic_alu_fv: proof of atomic_alu for all inputs. Its result 2 cycles later equals the pseudo
// code of RFC 7306 5.1.1 and 5.1.2 (requirements.md 5.4), computed here bit by bit.
//
// proof: assertions=4 bounded=5 induction=3 cover=6
// files: ../atomic/atomic_alu.sv
// refuted by ../atomic/atomic_alu.sv New_A: s/g   = is_cmp_swap_i ? '0 : value_i & ~mask_i/g   = is_cmp_swap_i ? '0 : value_i/
// refuted by ../atomic/atomic_alu.sv New_A: s/(orig_i & ~mask_i) | (value_i & mask_i)/(orig_i \& mask_i) | (value_i \& ~mask_i)/
// refuted by ../atomic/atomic_alu.sv New_A: s/s1_carry_q <= low\[32\]/s1_carry_q <= 1'b0/
// refuted by ../atomic/atomic_alu.sv Write_A: s/write = !is_cmp_swap_i || ((orig_i ^ compare_i) & compare_mask_i)/write = !is_cmp_swap_i || (orig_i ^ compare_i)/
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module atomic_alu_fv (
  input logic        clk_i,
  input logic        valid_i, is_cmp_swap_i,
  input logic [63:0] orig_i, value_i, mask_i, compare_i, compare_mask_i
);
  `RNIC_FORMAL_RESET
  logic        valid, write;
  logic [63:0] result;

  atomic_alu dut (
    .clk_i, .rst_ni,
    .valid_i, .is_cmp_swap_i, .orig_i, .value_i, .mask_i, .compare_i, .compare_mask_i,
    .valid_o(valid), .write_o(write), .new_o(result)
  );

  // The specification: {writes, new value}.
  logic [63:0] spec_new;
  logic        spec_write, carry;
  always_comb begin
    spec_new = orig_i;
    carry    = 1'b0;
    if (is_cmp_swap_i) begin
      spec_write = 1'b1;
      for (int unsigned b = 0; b < 64; b++) begin
        if (compare_mask_i[b] && orig_i[b] != compare_i[b]) spec_write = 1'b0;
      end
      for (int unsigned b = 0; b < 64; b++) begin
        if (spec_write && mask_i[b]) spec_new[b] = value_i[b];
      end
    end else begin
      spec_write = 1'b1;
      for (int unsigned b = 0; b < 64; b++) begin
        spec_new[b] = carry ^ orig_i[b] ^ value_i[b];
        carry       = !mask_i[b] && ((orig_i[b] && value_i[b]) || (carry && orig_i[b]) ||
                                     (carry && value_i[b]));
      end
    end
  end

  // The inputs of one and of two cycles ago.
  logic        valid_1q, valid_2q, write_1q, write_2q;
  logic [63:0] new_1q, new_2q;
  always_ff @(posedge clk_i) begin
    {valid_1q, valid_2q} <= rst_ni ? {valid_i, valid_1q} : 2'b00;
    {write_1q, write_2q} <= {spec_write, write_1q};
    {new_1q, new_2q}     <= {spec_new, new_1q};
  end

  `RNIC_ASSERT(Valid_A, valid == valid_2q)
  `RNIC_ASSERT(Write_A, !valid || write == write_2q)
  `RNIC_ASSERT(New_A,   !valid || !write || result == new_2q)

  `RNIC_COVER(Fails_C, valid && !write)
  `RNIC_COVER(Carries_C, valid && write && result == 64'h1_0000_0000 &&
                         $past(orig_i, 2) == 64'hFFFF_FFFF)
endmodule
