// packet_bench: the cells of rtl/lib that carry packets of 64-byte beats. The streams of a cell are
// named after the cell.
//
// Benches: tb/lib/*_test.cpp through tb/lib/packet_dut.hpp
module packet_bench (
  input  logic               clk_i, rst_ni,
  // packet_fifo of 8 beats
  input  logic               fifo_valid_i, output logic fifo_ready_o,
  input  iwarp_pkg::beat_t   fifo_i,
  output logic               fifo_valid_o, input  logic fifo_ready_i,
  output iwarp_pkg::beat_t   fifo_o,
  output logic               fifo_commit_o, fifo_drop_o,
  output logic [3:0]         fifo_count_o,
  // header_take: head as a beat without error
  input  logic               take_valid_i,      output logic take_ready_o,
  input  iwarp_pkg::beat_t   take_i,
  output logic               take_head_valid_o, input  logic take_head_ready_i,
  output iwarp_pkg::beat_t   take_head_o,
  input  logic               take_cut_valid_i,  output logic take_cut_ready_o,
  input  logic [5:0]         take_cut_i,
  output logic               take_valid_o,      input  logic take_ready_i,
  output iwarp_pkg::beat_t   take_o,
  // header_put: the header as a beat, whose keep is its length
  input  logic               put_header_valid_i, output logic put_header_ready_o,
  input  iwarp_pkg::beat_t   put_header_i,
  input  logic               put_valid_i,        output logic put_ready_o,
  input  iwarp_pkg::beat_t   put_i,
  output logic               put_valid_o,        input  logic put_ready_i,
  output iwarp_pkg::beat_t   put_o,
  // lane_shift: shift is the beat's keep, modulo 64
  input  logic               shift_valid_i, output logic shift_ready_o,
  input  iwarp_pkg::beat_t   shift_i,
  output logic               shift_valid_o, input  logic shift_ready_i,
  output iwarp_pkg::beat_t   shift_o,
  // crc32c
  input  logic               crc_valid_i, output logic crc_ready_o,
  input  iwarp_pkg::beat_t   crc_i,
  output logic               crc_valid_o, input  logic crc_ready_i,
  output logic [31:0]        crc_o
);
  packet_fifo #(.Width(519), .Depth(8)) u_fifo (  // 519: keep of 7 bits, data of 512
    .clk_i, .rst_ni, .valid_i(fifo_valid_i), .ready_o(fifo_ready_o),
    .last_i(fifo_i.last), .error_i(fifo_i.error), .data_i({fifo_i.keep, fifo_i.data}),
    .valid_o(fifo_valid_o), .ready_i(fifo_ready_i),
    .last_o(fifo_o.last), .data_o({fifo_o.keep, fifo_o.data}),
    .commit_o(fifo_commit_o), .drop_o(fifo_drop_o), .count_o(fifo_count_o)
  );
  assign fifo_o.error = 1'b0;

  header_take #(.Depth(16)) u_take (
    .clk_i, .rst_ni, .valid_i(take_valid_i), .ready_o(take_ready_o),
    .last_i(take_i.last), .error_i(take_i.error), .keep_i(take_i.keep), .data_i(take_i.data),
    .head_valid_o(take_head_valid_o), .head_ready_i(take_head_ready_i),
    .head_last_o(take_head_o.last), .head_keep_o(take_head_o.keep), .head_data_o(take_head_o.data),
    .cut_valid_i(take_cut_valid_i), .cut_ready_o(take_cut_ready_o), .cut_bytes_i(take_cut_i),
    .valid_o(take_valid_o), .ready_i(take_ready_i),
    .last_o(take_o.last), .error_o(take_o.error), .keep_o(take_o.keep), .data_o(take_o.data)
  );
  assign take_head_o.error = 1'b0;

  header_put u_put (
    .clk_i, .rst_ni, .put_valid_i(put_header_valid_i), .put_ready_o(put_header_ready_o),
    .put_bytes_i(put_header_i.keep), .put_data_i(put_header_i.data),
    .valid_i(put_valid_i), .ready_o(put_ready_o),
    .last_i(put_i.last), .error_i(put_i.error), .keep_i(put_i.keep), .data_i(put_i.data),
    .valid_o(put_valid_o), .ready_i(put_ready_i),
    .last_o(put_o.last), .error_o(put_o.error), .keep_o(put_o.keep), .data_o(put_o.data)
  );

  lane_shift #(.SideW(9)) u_shift (  // 9: last, error, keep of 7 bits
    .clk_i, .rst_ni, .valid_i(shift_valid_i), .ready_o(shift_ready_o),
    .data_i(shift_i.data), .shift_i(shift_i.keep[5:0]),
    .side_i({shift_i.last, shift_i.error, shift_i.keep}),
    .valid_o(shift_valid_o), .ready_i(shift_ready_i),
    .data_o(shift_o.data), .side_o({shift_o.last, shift_o.error, shift_o.keep})
  );

  crc32c u_crc (
    .clk_i, .rst_ni, .valid_i(crc_valid_i), .ready_o(crc_ready_o),
    .last_i(crc_i.last), .keep_i(crc_i.keep), .data_i(crc_i.data),
    .crc_valid_o(crc_valid_o), .crc_ready_i(crc_ready_i), .crc_o(crc_o)
  );

  logic unused_bits;
  assign unused_bits = ^{put_header_i.last, put_header_i.error, crc_i.error};
endmodule
