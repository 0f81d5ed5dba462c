// ddp_queue: a queue at an input of ddp, closed while the tables are cleared.
//
//   valid_i, ready_o, data_i --( open_i )--> [ stream_fifo ] --> valid_o, ready_i, data_o
//
// Latency: 1 cycle.
// Throughput: 1 item per cycle.
// Siblings: ddp, ddp_rx and ddp_tx have one for each input stream.
module ddp_queue #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from ddp: the tables are clear
  input  logic             open_i,
  // from the unit's port
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  // to a leaf
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic                       room;
  logic [$clog2(Depth+1)-1:0] unused_count;

  assign ready_o = room && open_i;
  stream_fifo #(.Width(Width), .Depth(Depth)) u_fifo (
    .clk_i, .rst_ni, .valid_i(valid_i && open_i), .ready_o(room), .data_i,
    .valid_o, .ready_i, .data_o, .count_o(unused_count)
  );
endmodule
