// rnic_stall: macros for both sides of a cell that passes a stream. In the build `stall`
// (+define+RNIC_STALL) each one blocks the stream at random (stream_stall). In every other build
// they are wires.
//
//   `RNIC_STALL_IN(0, valid_i, ready_o, in_valid, in_ready)    from the port to the cell
//   `RNIC_STALL_OUT(out_valid, out_ready, valid_o, ready_i)    from the cell to the port
//
// off: the producer has reserved room and does not read ready, so ready is never blocked.
`ifndef RNIC_STALL_SVH
`define RNIC_STALL_SVH

`ifdef RNIC_STALL
`define RNIC_STALL_IN(off, valid, ready, inner_valid, inner_ready) \
  stream_stall #(.Input(1'b1), .Off(off)) u_stall_in ( \
    .clk_i, .rst_ni, \
    .valid_i(valid), .ready_o(ready), .valid_o(inner_valid), .ready_i(inner_ready) \
  );
`define RNIC_STALL_OUT(inner_valid, inner_ready, valid, ready) \
  stream_stall #(.Input(1'b0)) u_stall_out ( \
    .clk_i, .rst_ni, \
    .valid_i(inner_valid), .ready_o(inner_ready), .valid_o(valid), .ready_i(ready) \
  );
`else
`define RNIC_STALL_IN(off, valid, ready, inner_valid, inner_ready) \
  assign inner_valid = valid; \
  assign ready       = inner_ready;
`define RNIC_STALL_OUT(inner_valid, inner_ready, valid, ready) \
  assign valid       = inner_valid; \
  assign inner_ready = ready;
`endif

`endif
