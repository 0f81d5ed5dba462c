// stream_stall: blocks a valid/ready stream at random. For simulation: only the build `stall`
// (+define+RNIC_STALL) contains it, on both sides of every cell of rtl/lib that passes a stream
// (rnic_stall.svh).
//
//   valid_i --> [ & !hold ] --> valid_o       hold is drawn each cycle
//   ready_o <-- [ & !hold ] <-- ready_i
//
// 1. Input 0, at a cell's output: valid_o that was high and not accepted stays high (Kept_A).
// 2. Input 1, at a cell's input: ready_o that was high stays high until a word comes, while the
//    cell has room: a producer may check ready_o first and offer its one word a few cycles later.
// 3. Off: the producer has reserved room and does not read ready_o, so nothing is blocked.
//
// hold is a hash of noise, which the simulator writes before each edge, and the instance's number.
// mood, which the simulator writes every few hundred cycles, selects how often an instance blocks:
// one of eight 95 % of the time (Often), one of eight never, the others at the rate. So a queue
// also fills, which needs a consumer that is blocked for long.
// Combinational from each side to the other.
`include "rnic_assert.svh"

module stream_stall #(
  parameter bit Input = 1'b0,
  parameter bit Off   = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic ready_o,
  output logic valid_o,
  input  logic ready_i
);
  localparam logic [7:0] Often = 8'd243;   // of 256

  int unsigned id;
  initial begin
    rnic_stall_pkg::instances = rnic_stall_pkg::instances + 1;
    id = rnic_stall_pkg::instances;
  end

  // 8 bits of a hash of both. 0x9e3779b9 is 2^32 divided by the golden ratio: it spreads successive
  // numbers. The line after it is a usual mixing step.
  function automatic logic [7:0] draw(input logic [31:0] word, input int unsigned number);
    logic [31:0] x;
    x    = word ^ (number * 32'h9e3779b9);
    x    = (x ^ (x >> 16)) * 32'h7feb352d;
    draw = 8'(x >> 20);
  endfunction

  function automatic logic [7:0] rate_of(input logic [7:0] mood, input logic [7:0] rate);
    rate_of = rate == 8'd0 || mood < 8'd32 ? 8'd0 : mood < 8'd64 ? Often : rate;
  endfunction

  // kept_q: by rule 1 or 2 the stream must not be blocked in this cycle.
  logic [31:0] mood_q;
  logic [7:0]  rate_q;
  logic        hold_q, kept_q, hold;
  assign hold    = hold_q && !kept_q;
  assign valid_o = valid_i && !hold;
  assign ready_o = ready_i && !hold;

  always_ff @(posedge clk_i) begin
    mood_q <= rnic_stall_pkg::mood;
    if (!rst_ni || mood_q != rnic_stall_pkg::mood)
      rate_q <= rate_of(draw(rnic_stall_pkg::mood, id), rnic_stall_pkg::rate);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hold_q <= 1'b0;
      kept_q <= 1'b0;
    end else begin
      hold_q <= !Off && draw(rnic_stall_pkg::noise, id) < rate_q;
      kept_q <= Input ? ready_o && !valid_i : valid_o && !ready_i;
    end
  end

  `RNIC_ASSERT_NEXT(Kept_A, !Input && valid_o && !ready_i, !valid_i || valid_o)
endmodule
