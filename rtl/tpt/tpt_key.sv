// tpt_key: the keyed permutation between table slots and STags, forward or back.
//
// 16 rounds of a SIMON-like cipher on 24 bits (docs/theory-of-operation.md, tpt): unpredictable without the key, exactly
// invertible, and one LUT level a round. Two stages of 8 rounds; latency 2 cycles, one a cycle; `en_i` moves the pipeline.
//
//   value_i --> [ 8 rounds ] --> reg --> [ 8 rounds ] --> reg --> value_o
//
// Siblings: tpt_entry (look-up, back), tpt_update (creation, forward). Bench: tb/tpt/tpt_test.cpp
module tpt_key #(
  parameter bit Inverse = 1'b0
) (
  input  logic        clk_i,
  input  logic        en_i,
  input  logic [63:0] key_i,      // register stag_key; stable
  input  logic [23:0] value_i,
  output logic [23:0] value_o
);
  function automatic logic [11:0] mix(input logic [11:0] x);
    mix = ({x[10:0], x[11]} & {x[3:0], x[11:4]}) ^ {x[9:0], x[11:10]};
  endfunction

  logic [11:0] key [16];
  for (genvar i = 0; i < 16; i++) begin : gen_key
    localparam int unsigned Rotate = (5 * i) % 64;
    logic [127:0] doubled;
    logic         unused_doubled;
    assign doubled        = {key_i, key_i};
    assign key[i]         = doubled[Rotate +: 12] ^ 12'(i);
    assign unused_doubled = ^doubled;
  end

  logic [23:0] state [17];   // state[r]: after r rounds of this direction
  logic [23:0] mid_q, out_q;
  for (genvar r = 0; r < 16; r++) begin : gen_round
    logic [23:0] from;
    assign from = r == 8 ? mid_q : state[r];
    if (Inverse) begin : gen_back
      assign state[r + 1] = {from[11:0], from[23:12] ^ mix(from[11:0]) ^ key[15 - r]};
    end else begin : gen_forth
      assign state[r + 1] = {from[11:0] ^ mix(from[23:12]) ^ key[r], from[23:12]};
    end
  end
  assign state[0] = value_i;

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      mid_q <= state[8];
      out_q <= state[16];
    end
  end
  assign value_o = out_q;
endmodule
