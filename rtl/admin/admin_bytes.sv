// admin_bytes: moves streaming bytes of a connection between host memory and llp_if.
//
//   load:  read length bytes -> [ FIFO, all of them ] -> done, with status
//   send:  [ FIFO ] -> raw_tx
//   store: raw_rx -> pieces of up to 64 bytes -> admin_wr -> done, with the number of bytes;
//          failed: the connection has ended
//   drop:  empties the FIFO
//
// Invariants:
//  1. Load and send are separate commands. So no byte is sent before all bytes are loaded and all
//     other checks have passed.
//  2. Load and send pass up to 1024 bytes (SendMax in admin_judge); store passes any length.
// Throughput: a beat per cycle.
// Back-pressure: waits for the read, for raw_tx or raw_rx, and for admin_wr.
// Sibling: admin_exec.
// Bench: tb/admin/admin_test.cpp, on the unit: every stream of this leaf is a port of admin.
`include "rnic_assert.svh"

module admin_bytes (
  input  logic clk_i,
  input  logic rst_ni,
  // from admin_exec: one of four orders, taken in StIdle and ended by done_o. address, length and
  // connection stay until then
  input  logic load_i,
  input  logic send_i,
  input  logic drop_i,
  input  logic store_i,
  input  logic [63:0] address_i,
  input  logic [15:0] length_i,
  input  logic [15:0] connection_i,
  output logic done_o,
  output logic failed_o,                 // with done_o. load: read failed; store: connection ended
  output logic [15:0] stored_o,          // with done_o of a store
  // read client, shared
  output logic rd_valid_o,
  input  logic rd_ready_i,
  output iwarp_pkg::rd_req_t rd_o,
  input  logic hdr_valid_i,
  input  iwarp_pkg::rd_status_e hdr_status_i,
  output logic hdr_ready_o,
  input  logic beat_valid_i,
  input  iwarp_pkg::beat_t beat_i,
  output logic beat_ready_o,
  // to llp_if
  output logic raw_hdr_valid_o,
  input  logic raw_hdr_ready_i,
  output iwarp_pkg::raw_tx_hdr_t raw_hdr_o,
  output logic raw_valid_o,
  input  logic raw_ready_i,
  output iwarp_pkg::beat_t raw_o,
  // from llp_if
  input  logic in_hdr_valid_i,
  input  logic [15:0] in_length_i,
  input  logic in_ended_i,
  output logic in_hdr_ready_o,
  input  logic in_valid_i,
  output logic in_ready_o,
  input  iwarp_pkg::beat_t in_i,
  // to host_if
  output logic wr_valid_o,
  input  logic wr_ready_i,
  output iwarp_pkg::admin_wr_t wr_o
);
  typedef enum logic [3:0] {
    StIdle,
    StRead, StHeader, StLoad,            // load
    StRawHeader, StRaw,                  // send
    StDrop,
    StInHeader, StIn,                    // store
    StDone
  } state_e;
  state_e state_d, state_q;

  // empty_q: the store has no bytes
  logic f_in_valid, f_in_ready, f_valid, f_ready, failed_q, empty_q;
  iwarp_pkg::beat_t f;
  logic [63:0] address_q;
  logic [15:0] stored_q;

  // Depth: the 16 beats of the longest load (1024 bytes), and one to spare.
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(17)) u_fifo (
    .clk_i, .rst_ni, .valid_i(f_in_valid), .ready_o(f_in_ready), .data_i(beat_i),
    .valid_o(f_valid), .ready_i(f_ready), .data_o(f), .count_o()
  );
  assign f_in_valid = state_q == StLoad && beat_valid_i;
  assign f_ready    = (state_q == StRaw && raw_ready_i) || state_q == StDrop;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: begin
        if (load_i)       state_d = StRead;
        else if (send_i)  state_d = StRawHeader;
        else if (drop_i)  state_d = StDrop;
        else if (store_i) state_d = StInHeader;
      end
      StRead:      if (rd_ready_i) state_d = StHeader;
      StHeader:    if (hdr_valid_i) state_d = StLoad;
      StLoad:      if (beat_valid_i && f_in_ready && beat_i.last) state_d = StDone;
      StRawHeader: if (raw_hdr_ready_i) state_d = StRaw;
      StRaw:       if (f_valid && raw_ready_i && f.last) state_d = StDone;
      StDrop:      if (f_valid && f.last) state_d = StDone;
      StInHeader:  if (in_hdr_valid_i) state_d = StIn;
      StIn:        if (in_valid_i && in_ready_o && in_i.last) state_d = StDone;
      StDone:      state_d = StIdle;
      default:     state_d = StIdle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StHeader)        failed_q <= hdr_status_i != iwarp_pkg::RdOk;
    else if (state_q == StInHeader) failed_q <= in_ended_i;
    if (state_q == StInHeader) begin
      stored_q <= in_length_i;
      empty_q  <= in_length_i == '0;
    end
    if (state_q == StInHeader)
      address_q <= address_i;
    else if (state_q == StIn && in_valid_i && in_ready_o)
      address_q <= address_q + {57'h0, in_i.keep};
  end

  assign done_o          = state_q == StDone;
  assign failed_o        = failed_q;
  assign stored_o        = stored_q;
  assign rd_valid_o      = state_q == StRead;
  assign rd_o            = {address_i, length_i[12:0]};
  assign hdr_ready_o     = state_q == StHeader;
  assign beat_ready_o    = state_q == StLoad && f_in_ready;
  assign raw_hdr_valid_o = state_q == StRawHeader;
  assign raw_hdr_o       = {connection_i, length_i};
  assign raw_valid_o     = state_q == StRaw && f_valid;
  assign raw_o           = f;
  assign in_hdr_ready_o  = state_q == StInHeader;
  assign in_ready_o      = state_q == StIn && (wr_ready_i || empty_q);
  assign wr_valid_o      = state_q == StIn && in_valid_i && !empty_q;
  assign wr_o            = {address_q, in_i.keep, in_i.data};

  logic unused_length;
  assign unused_length = ^{length_i[15:13], in_i.error};

  `RNIC_STREAM_STABLE(RawStable_A, raw_valid_o, raw_ready_i, raw_o)
endmodule
