// stream_bench: the cells of rtl/lib that carry words of 16 bits. The streams of a cell are named
// after the cell.
//
// Benches: tb/lib/*_test.cpp through tb/lib/stream_dut.hpp
module stream_bench (
  input  logic        clk_i, rst_ni,
  // stream_reg
  input  logic        reg_valid_i,    output logic reg_ready_o,    input  logic [15:0] reg_i,
  output logic        reg_valid_o,    input  logic reg_ready_i,    output logic [15:0] reg_o,
  // stream_fifo of depth 1, 2, 5 and, in block memory, 100
  input  logic        fifo1_valid_i,   output logic fifo1_ready_o,   input  logic [15:0] fifo1_i,
  output logic        fifo1_valid_o,   input  logic fifo1_ready_i,   output logic [15:0] fifo1_o,
  output logic        fifo1_count_o,
  input  logic        fifo2_valid_i,   output logic fifo2_ready_o,   input  logic [15:0] fifo2_i,
  output logic        fifo2_valid_o,   input  logic fifo2_ready_i,   output logic [15:0] fifo2_o,
  output logic [1:0]  fifo2_count_o,
  input  logic        fifo5_valid_i,   output logic fifo5_ready_o,   input  logic [15:0] fifo5_i,
  output logic        fifo5_valid_o,   input  logic fifo5_ready_i,   output logic [15:0] fifo5_o,
  output logic [2:0]  fifo5_count_o,
  input  logic        fifo100_valid_i, output logic fifo100_ready_o, input  logic [15:0] fifo100_i,
  output logic        fifo100_valid_o, input  logic fifo100_ready_i, output logic [15:0] fifo100_o,
  output logic [6:0]  fifo100_count_o,
  // stream_arb: {index, word}
  input  logic        arb_a_valid_i,  output logic arb_a_ready_o,  input  logic [15:0] arb_a_i,
  input  logic        arb_b_valid_i,  output logic arb_b_ready_o,  input  logic [15:0] arb_b_i,
  input  logic        arb_c_valid_i,  output logic arb_c_ready_o,  input  logic [15:0] arb_c_i,
  output logic        arb_valid_o,    input  logic arb_ready_i,    output logic [17:0] arb_o,
  // packet_arb (parb): {last, word} in, {index, last, word} out
  input  logic        parb_a_valid_i, output logic parb_a_ready_o, input  logic [16:0] parb_a_i,
  input  logic        parb_b_valid_i, output logic parb_b_ready_o, input  logic [16:0] parb_b_i,
  input  logic        parb_c_valid_i, output logic parb_c_ready_o, input  logic [16:0] parb_c_i,
  output logic        parb_valid_o,   input  logic parb_ready_i,   output logic [18:0] parb_o,
  // stream_fork
  input  logic        fork_valid_i,   output logic fork_ready_o,   input  logic [15:0] fork_i,
  output logic        fork_a_valid_o, input  logic fork_a_ready_i, output logic [15:0] fork_a_o,
  output logic        fork_b_valid_o, input  logic fork_b_ready_i, output logic [15:0] fork_b_o,
  output logic        fork_c_valid_o, input  logic fork_c_ready_i, output logic [15:0] fork_c_o,
  // unit_counter (tally) of up to 3 items
  input  logic [1:0]  tally_items_i,
  input  logic        tally_busy_i, tally_stalled_i,
  output iwarp_pkg::unit_count_t tally_o,
  // ram_1r1w of 10 x 16, ram_clear of 10, first_one of 37, round_robin (turn) of 13, keep_mask of
  // 64
  input  logic        ram_we_i, ram_re_i,
  input  logic [3:0]  ram_waddr_i, ram_raddr_i,
  input  logic [15:0] ram_wdata_i,
  output logic [15:0] ram_rdata_o,
  output logic        clear_busy_o,
  output logic [3:0]  clear_addr_o,
  input  logic [36:0] first_i,
  output logic        first_any_o,
  output logic [36:0] first_onehot_o,
  output logic [5:0]  first_index_o,
  input  logic [12:0] turn_i,
  input  logic [3:0]  turn_start_i,
  output logic        turn_any_o,
  output logic [12:0] turn_onehot_o,
  output logic [3:0]  turn_index_o,
  input  logic [6:0]  keep_i,
  output logic [63:0] keep_mask_o
);
  stream_reg #(.Width(16)) u_reg (
    .clk_i, .rst_ni, .valid_i(reg_valid_i), .ready_o(reg_ready_o), .data_i(reg_i),
    .valid_o(reg_valid_o), .ready_i(reg_ready_i), .data_o(reg_o)
  );

  stream_fifo #(.Width(16), .Depth(1)) u_fifo1 (
    .clk_i, .rst_ni, .valid_i(fifo1_valid_i), .ready_o(fifo1_ready_o), .data_i(fifo1_i),
    .valid_o(fifo1_valid_o), .ready_i(fifo1_ready_i), .data_o(fifo1_o), .count_o(fifo1_count_o)
  );
  stream_fifo #(.Width(16), .Depth(2)) u_fifo2 (
    .clk_i, .rst_ni, .valid_i(fifo2_valid_i), .ready_o(fifo2_ready_o), .data_i(fifo2_i),
    .valid_o(fifo2_valid_o), .ready_i(fifo2_ready_i), .data_o(fifo2_o), .count_o(fifo2_count_o)
  );
  stream_fifo #(.Width(16), .Depth(5)) u_fifo5 (
    .clk_i, .rst_ni, .valid_i(fifo5_valid_i), .ready_o(fifo5_ready_o), .data_i(fifo5_i),
    .valid_o(fifo5_valid_o), .ready_i(fifo5_ready_i), .data_o(fifo5_o), .count_o(fifo5_count_o)
  );
  stream_fifo #(.Width(16), .Depth(100)) u_fifo100 (
    .clk_i, .rst_ni, .valid_i(fifo100_valid_i), .ready_o(fifo100_ready_o), .data_i(fifo100_i),
    .valid_o(fifo100_valid_o), .ready_i(fifo100_ready_i), .data_o(fifo100_o),
    .count_o(fifo100_count_o)
  );

  stream_arb #(.Width(16), .N(3)) u_arb (
    .clk_i, .rst_ni,
    .valid_i({arb_c_valid_i, arb_b_valid_i, arb_a_valid_i}),
    .ready_o({arb_c_ready_o, arb_b_ready_o, arb_a_ready_o}),
    .data_i({arb_c_i, arb_b_i, arb_a_i}),
    .valid_o(arb_valid_o), .ready_i(arb_ready_i), .data_o(arb_o[15:0]), .index_o(arb_o[17:16])
  );

  packet_arb #(.Width(16), .N(3)) u_parb (
    .clk_i, .rst_ni,
    .valid_i({parb_c_valid_i, parb_b_valid_i, parb_a_valid_i}),
    .ready_o({parb_c_ready_o, parb_b_ready_o, parb_a_ready_o}),
    .last_i({parb_c_i[16], parb_b_i[16], parb_a_i[16]}),
    .data_i({parb_c_i[15:0], parb_b_i[15:0], parb_a_i[15:0]}),
    .valid_o(parb_valid_o), .ready_i(parb_ready_i),
    .last_o(parb_o[16]), .data_o(parb_o[15:0]), .index_o(parb_o[18:17])
  );

  stream_fork #(.N(3)) u_fork (
    .clk_i, .rst_ni, .valid_i(fork_valid_i), .ready_o(fork_ready_o),
    .valid_o({fork_c_valid_o, fork_b_valid_o, fork_a_valid_o}),
    .ready_i({fork_c_ready_i, fork_b_ready_i, fork_a_ready_i})
  );
  assign {fork_c_o, fork_b_o, fork_a_o} = {3{fork_i}};

  unit_counter #(.ItemsW(2)) u_tally (
    .clk_i, .rst_ni, .items_i(tally_items_i), .busy_i(tally_busy_i),
    .stalled_i(tally_stalled_i), .count_o(tally_o)
  );

  ram_1r1w #(.Width(16), .Depth(10)) u_ram (
    .clk_i, .rst_ni, .we_i(ram_we_i), .waddr_i(ram_waddr_i), .wdata_i(ram_wdata_i),
    .re_i(ram_re_i), .raddr_i(ram_raddr_i), .rdata_o(ram_rdata_o)
  );
  ram_clear #(.Depth(10)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy_o), .addr_o(clear_addr_o));
  first_one #(.N(37)) u_first (
    .request_i(first_i), .any_o(first_any_o), .onehot_o(first_onehot_o), .index_o(first_index_o)
  );
  round_robin #(.N(13)) u_turn (
    .request_i(turn_i), .start_i(turn_start_i), .any_o(turn_any_o),
    .onehot_o(turn_onehot_o), .index_o(turn_index_o)
  );
  keep_mask #(.Bytes(64)) u_keep (.keep_i, .mask_o(keep_mask_o));
endmodule
