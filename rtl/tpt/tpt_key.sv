// tpt_key: the keyed permutation between table slots and STags, forward or inverse.
//
// In: {generation, slot} of an entry. Out: bits 31:8 of its STag. Inverse: from the STag back.
//
//   value_i --> [ 8 rounds ] --> reg --> [ 8 rounds ] --> reg --> value_o
//
// 16 rounds of a SIMON-like cipher on 24 bits (docs/theory-of-operation.md, tpt): unpredictable
// without the key, exactly invertible, and one LUT level per round.
// Latency: 2 cycles (two stages of 8 rounds). Throughput: one per cycle. en_i enables the pipeline.
// Siblings: tpt_entry (lookup, inverse), tpt_update (creation, forward). Bench: tb/tpt/tpt_test.cpp
module tpt_key #(
  parameter bit Inverse = 1'b0
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [63:0] key_i,      // register stag_key; stable
  input  logic [23:0] value_i,
  output logic [23:0] value_o
);
  function automatic logic [11:0] mix(input logic [11:0] x);   // (rotl 1 & rotl 8) ^ rotl 2
    mix = ({x[10:0], x[11]} & {x[3:0], x[11:4]}) ^ {x[9:0], x[11:10]};
  endfunction

  // Rounds first .. first+7 in this direction.
  function automatic logic [23:0] rounds(input logic [23:0] value, input logic [63:0] key,
                                         input int unsigned first);
    logic [127:0] doubled;
    logic [11:0]  k;
    int unsigned  n;
    doubled = {key, key};
    rounds  = value;
    for (int unsigned r = 0; r < 8; r++) begin
      n = Inverse ? 15 - (first + r) : first + r;
      k = doubled[(5 * n) % 64 +: 12] ^ n[11:0];   // round n: 12 bits of the key, from bit 5n on
      if (Inverse) rounds = {rounds[11:0], rounds[23:12] ^ mix(rounds[11:0]) ^ k};
      else         rounds = {rounds[11:0] ^ mix(rounds[23:12]) ^ k, rounds[23:12]};
    end
  endfunction

  logic [23:0] mid_q, out_q;

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      mid_q <= rounds(value_i, key_i, 0);
      out_q <= rounds(mid_q, key_i, 8);
    end
  end
  assign value_o = out_q;
endmodule
