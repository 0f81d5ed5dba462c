// admin_pages: reads a page list from host memory, checks each address, and writes the list to tpt.
//
//   chunk: read up to 64 entries (512 bytes) -> 8 entries per beat: aligned to the page size?
//            -> [ FIFO ] -> pbl_wr, one per cycle
//
// Invariants:
//  1. A list of one chunk is read once. A longer one is read twice, since the FIFO holds one chunk:
//     first only to check, then to check and write.
//  2. A chunk is written only if all its entries are good. No chunk after a bad one is written.
//  3. So a list of up to 64 entries is written whole or not at all. A longer list may be written in
//     part, if the host changed it or it became unreadable between the two reads. The written
//     entries then belong to a region that is not created.
// Throughput: checks 8 entries per cycle, writes one.
// Back-pressure: waits for the read and for pbl_wr.
// Sibling: admin_exec. Bench: tb/admin/admin_test.cpp, on the unit: the list's read and pbl_wr are
// ports of admin.
`include "rnic_assert.svh"

module admin_pages (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  input  logic [63:0] list_i,
  input  logic [21:0] pages_i,
  input  logic [31:0] pbl_base_i,
  input  logic [4:0]  log_page_i,
  output logic done_o,
  output iwarp_pkg::admin_status_e status_o,
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
  // to tpt
  output logic pbl_valid_o,
  input  logic pbl_ready_i,
  output iwarp_pkg::pbl_wr_t pbl_o
);
  typedef enum logic [2:0] {
    StIdle,
    StRead,     // requests a chunk
    StHeader,
    StLoad,     // checks its beats, and stores them if they are to be written
    StWrite,    // writes its entries, one per cycle
    StDrop,     // drains a bad chunk from the FIFO
    StDone
  } state_e;
  state_e state_d, state_q;

  // at: the chunk's first entry; during StWrite, the entry that is written.
  logic        write_q, bad_q, unread_q, last_chunk, end_of_chunk, end_of_list, loaded, step;
  logic [21:0] at_q, rest;
  logic [6:0]  chunk;
  assign rest         = pages_i - at_q;
  assign last_chunk   = rest <= 22'd64;
  assign chunk        = last_chunk ? rest[6:0] : 7'd64;
  assign end_of_list  = at_q + 22'd1 == pages_i;
  assign end_of_chunk = (&at_q[5:0]) || end_of_list;
  assign loaded       = state_q == StLoad && beat_valid_i && beat_i.last;
  assign step         = pbl_valid_o && pbl_ready_i;

  // --- check: all entries of a beat in parallel
  logic [20:0] offset;     // mask of the bits inside a page
  logic        bad;
  assign offset = ~(21'h1fffff << log_page_i);
  always_comb begin
    bad = bad_q;
    for (int unsigned i = 0; i < 8; i++) begin
      if (beat_i.keep[6:3] > 4'(i) && (beat_i.data[64*i +: 21] & offset) != '0) bad = 1'b1;
    end
  end

  // --- the chunk
  logic             f_valid, f_ready;
  logic [3:0]       chunk_left;
  logic [511:0]     f;
  logic [63:0]      entry;
  stream_fifo #(.Width(512), .Depth(8), .Reserved(1'b1)) u_chunk (
    .clk_i, .rst_ni, .valid_i(state_q == StLoad && beat_valid_i && write_q), .ready_o(), .data_i(beat_i.data),
    .valid_o(f_valid), .ready_i(f_ready), .data_o(f), .count_o(chunk_left)
  );
  assign entry   = f[{at_q[2:0], 6'h0} +: 64];
  assign f_ready = state_q == StDrop || (step && ((&at_q[2:0]) || end_of_list));

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StRead;
      StRead:   if (rd_ready_i) state_d = StHeader;
      StHeader: if (hdr_valid_i) state_d = StLoad;
      StLoad: begin
        if (loaded) begin
          if (unread_q || bad) state_d = StDrop;
          else                 state_d = write_q ? StWrite : StRead;
        end
      end
      StWrite:  if (step && end_of_chunk) state_d = end_of_list ? StDone : StRead;
      StDrop:   if (chunk_left == '0) state_d = StDone;
      StDone:   state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      write_q  <= pages_i <= 22'd64;
      bad_q    <= 1'b0;
      unread_q <= 1'b0;
      at_q     <= '0;
    end else begin
      if (state_q == StHeader && hdr_valid_i) unread_q <= hdr_status_i != iwarp_pkg::RdOk;
      if (state_q == StLoad && beat_valid_i)  bad_q    <= bad;
      if (loaded && !write_q) begin
        at_q    <= last_chunk ? '0 : at_q + 22'd64;
        write_q <= last_chunk;
      end
      if (step) at_q <= at_q + 22'd1;
    end
  end

  assign rd_valid_o   = state_q == StRead;
  assign rd_o         = {list_i + {39'h0, at_q, 3'h0}, {3'h0, chunk, 3'h0}};
  assign hdr_ready_o  = state_q == StHeader;
  assign beat_ready_o = state_q == StLoad;
  assign pbl_valid_o  = state_q == StWrite && f_valid;
  assign pbl_o        = {pbl_base_i + {10'h0, at_q}, entry};
  assign done_o       = state_q == StDone;
  always_comb begin
    status_o = iwarp_pkg::AdmOk;
    if (unread_q)   status_o = iwarp_pkg::AdmDmaError;
    else if (bad_q) status_o = iwarp_pkg::AdmBadArgument;
  end

  logic unused_bits;
  assign unused_bits = ^{beat_i.error, beat_i.keep[2:0]};

  `RNIC_ASSERT(ChunkHeld_A, state_q != StWrite || chunk_left != '0)
  `RNIC_STREAM_STABLE(PblStable_A, pbl_valid_o, pbl_ready_i, pbl_o)
endmodule
