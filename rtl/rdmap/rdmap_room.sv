// rdmap_room: reserves entries of a queue before anything is sent there.
//
//   take (reserved) --> +1 [ used ] -1 <-- back (not needed), left (popped from the queue)
//
// room_o comes from a flip-flop: one more entry may be taken (Taken_A). take_i, back_i and left_i
// may be high in the same cycle.
// Siblings: rdmap_core, rdmap_resp.
`include "rnic_assert.svh"

module rdmap_room #(
  parameter int unsigned Depth = 2,
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic take_i,
  input  logic back_i,
  input  logic left_i,
  output logic room_o
);
  if (Depth == 0) $fatal(1, "rdmap_room %m: Depth must be at least 1");

  logic [CountW-1:0] used_d, used_q;
  logic              room_q;
  assign used_d = used_q + CountW'(take_i) - CountW'(back_i) - CountW'(left_i);
  assign room_o = room_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q <= '0;
      room_q <= 1'b1;
    end else begin
      used_q <= used_d;
      room_q <= 32'(used_d) < Depth;
    end
  end

  `RNIC_ASSERT(Taken_A, !take_i || room_q)
  `RNIC_ASSERT(Counts_A, 32'(used_q) + 32'(take_i) >= 32'(back_i) + 32'(left_i))
endmodule
