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
//  4. After ListPart entries of a list, checked or written, admin_pages answers in_progress and
//     keeps the list's position (decision 6): `kept`, for one list at a time. The same create_mr
//     continues the list. The cookie is compared too: by then the same memory may hold the list of
//     another region. A list of one chunk is never kept.
// Throughput: checks 8 entries per cycle, writes one.
// Back-pressure: waits for the read and for pbl_wr.
// Sibling: admin_exec. Bench: tb/admin/admin_test.cpp, on the unit: the list's read and pbl_wr are
// ports of admin.
`include "rnic_assert.svh"

module admin_pages (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,                      // a pulse; list_i to log_page_i stay until done_o
  input  logic continue_i,                   // with start_i: from the kept position
  input  logic [63:0] list_i,
  input  logic [21:0] pages_i,
  input  logic [31:0] pbl_base_i,
  input  logic [4:0]  log_page_i,
  output logic done_o,
  output iwarp_pkg::admin_status_e status_o,
  // the list that waits for its next create_mr
  input  logic [15:0] cookie_i,              // of the command; a repetition has the same
  input  logic [15:0] slot_i,                // its STag slot
  input  logic turned_away_i,                // a pulse: another long list was answered in_progress
  input  logic forget_i,                     // a pulse: the kept list is forgotten
  output logic kept_o,
  output logic kept_same_o,                  // the kept list is that of the command
  output logic kept_old_o,                   // its owner has not continued it; it may be forgotten
  output logic [15:0] kept_slot_o,
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
  localparam int unsigned PblW = $clog2(rnic_pkg::NumPbl);
  logic [PblW-1:0] pbl_at;

  typedef enum logic [2:0] {
    StIdle,
    StPlace,    // the address of the next chunk is registered
    StRead,     // requests a chunk
    StHeader,
    StLoad,     // checks its beats, and stores them if they are to be written
    StWrite,    // writes its entries, one per cycle
    StDrop,     // drains a bad chunk from the FIFO
    StDone
  } state_e;
  state_e state_d, state_q;

  // at: the chunk's first entry; during StWrite, the entry that is written.
  // write_q: chunks are written, not only checked. bad_q: an entry is not aligned. unread_q: the
  // chunk could not be read. over_q: the list is finished, or has failed.
  logic        write_q, bad_q, unread_q, last_chunk, end_of_chunk, end_of_list, loaded, step;
  logic        over_q, paused, part_over;
  logic [9:0]  part_q;         // entries checked or written in this command: its part
  logic [21:0] at_q, last_at_q;
  // low_q: bits 24:9 of the chunk's address, in blocks of 512 bytes, with the carry of their sum.
  logic [16:0] low_q;
  logic [38:0] high_q;       // bits 63:25 of the address, if low_q has a carry
  logic [6:0]  chunk;
  assign last_chunk   = at_q[21:6] == last_at_q[21:6];
  assign chunk        = last_chunk ? {1'b0, last_at_q[5:0]} + 7'd1 : 7'd64;
  assign end_of_list  = at_q == last_at_q;
  assign end_of_chunk = (&at_q[5:0]) || end_of_list;
  assign loaded       = state_q == StLoad && beat_valid_i && beat_i.last;
  assign step         = pbl_valid_o && pbl_ready_i;
  assign paused       = !over_q;         // valid in StDone: the list is kept
  assign part_over    = part_q == rnic_pkg::ListPart - 10'd64;   // this chunk completes the part

  // --- the list that waits
  typedef struct packed {
    logic [15:0] cookie;
    logic [15:0] slot;
    logic [63:0] address;
    logic [21:0] pages;
    logic [31:0] pbl_base;
    logic [4:0]  log_page;
  } id_t;
  id_t         id, kept_id_q;
  logic        kept_q, kept_write_q, kept_same_q;
  logic [21:0] kept_at_q;
  logic [10:0] turned_q;       // other lists that were turned away since it was continued
  assign id = {cookie_i, slot_i, list_i, pages_i, pbl_base_i, log_page_i};
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                                kept_q <= 1'b0;
    else if (done_o)                            kept_q <= paused || (kept_q && !kept_same_q);
    else if (forget_i)                          kept_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    kept_same_q <= kept_q && id == kept_id_q;
    low_q       <= {1'b0, list_i[24:9]} + {1'b0, at_q[21:6]};
    high_q      <= list_i[63:25] + 39'd1;
    last_at_q   <= pages_i - 22'd1;     // of the command, which came some cycles before
    if (done_o && paused) begin
      kept_id_q    <= id;
      kept_at_q    <= at_q;
      kept_write_q <= write_q;
      turned_q     <= '0;
    end else if (turned_away_i && !kept_old_o) begin
      turned_q <= turned_q + 11'd1;
    end
  end
  assign kept_o      = kept_q;
  assign kept_same_o = kept_same_q;
  assign kept_old_o  = turned_q == rnic_pkg::ListPatience;
  assign kept_slot_o = kept_id_q.slot;

  // --- check: all entries of a beat in parallel; keep / 8 of them are valid. 21 bits: pages have
  // at most 2 MiB.
  logic [20:0] offset;     // mask of the bits inside a page
  logic        bad;
  assign offset = ~(21'h1fffff << log_page_i);
  always_comb begin
    bad = bad_q;
    for (int unsigned i = 0; i < 8; i++) begin
      if (beat_i.keep[6:3] > 4'(i) && (beat_i.data[64*i +: 21] & offset) != '0) bad = 1'b1;
    end
  end

  // --- the chunk: 8 beats of 8 entries
  logic             f_valid, f_ready;
  logic [3:0]       chunk_left;
  logic [511:0]     f;
  logic [63:0]      entry;
  stream_fifo #(.Width(512), .Depth(8), .Reserved(1'b1)) u_chunk (
    .clk_i, .rst_ni,
    .valid_i(state_q == StLoad && beat_valid_i && write_q), .ready_o(), .data_i(beat_i.data),
    .valid_o(f_valid), .ready_i(f_ready), .data_o(f), .count_o(chunk_left)
  );
  assign entry   = f[{at_q[2:0], 6'h0} +: 64];
  assign f_ready = state_q == StDrop || (step && ((&at_q[2:0]) || end_of_list));

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StPlace;
      StPlace:  state_d = StRead;
      StRead:   if (rd_ready_i) state_d = StHeader;
      StHeader: if (hdr_valid_i) state_d = StLoad;
      StLoad: begin
        if (loaded) begin
          if (unread_q || bad) state_d = StDrop;
          else if (write_q)    state_d = StWrite;
          else                 state_d = part_over ? StDone : StPlace;
        end
      end
      StWrite:  if (step && end_of_chunk) state_d = end_of_list || part_over ? StDone : StPlace;
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
      write_q  <= continue_i ? kept_write_q : pages_i <= 22'd64;
      bad_q    <= 1'b0;
      unread_q <= 1'b0;
      over_q   <= 1'b0;
      at_q     <= continue_i ? kept_at_q : '0;
      part_q   <= '0;
    end else begin
      if (state_q == StHeader && hdr_valid_i) unread_q <= hdr_status_i != iwarp_pkg::RdOk;
      if (state_q == StLoad && beat_valid_i)  bad_q    <= bad;
      if (loaded && !write_q) begin
        at_q    <= last_chunk ? '0 : at_q + 22'd64;
        write_q <= last_chunk;
      end
      if (step) at_q <= at_q + 22'd1;
      if ((loaded && !write_q) || (step && end_of_chunk)) part_q <= part_q + 10'd64;
      if (state_q == StDrop || (step && end_of_list)) over_q <= 1'b1;
    end
  end

  assign rd_valid_o   = state_q == StRead;
  assign rd_o         = {low_q[16] ? high_q : list_i[63:25], low_q[15:0], list_i[8:0],
                         {3'h0, chunk, 3'h0}};
  assign hdr_ready_o  = state_q == StHeader;
  assign beat_ready_o = state_q == StLoad;
  assign pbl_valid_o  = state_q == StWrite && f_valid;
  // pbl_at lies in the table, since admin_judge has checked pbl_base + pages.
  assign pbl_at       = pbl_base_i[PblW-1:0] + PblW'(at_q);
  assign pbl_o        = {32'(pbl_at), entry};
  assign done_o       = state_q == StDone;
  always_comb begin
    status_o = iwarp_pkg::AdmOk;
    if (unread_q)   status_o = iwarp_pkg::AdmDmaError;
    else if (bad_q) status_o = iwarp_pkg::AdmBadArgument;
    else if (paused) status_o = iwarp_pkg::AdmInProgress;
  end

  logic unused_bits;
  assign unused_bits = ^{beat_i.error, beat_i.keep[2:0]};

  `RNIC_ASSERT(ChunkHeld_A, state_q != StWrite || chunk_left != '0)
  `RNIC_STREAM_STABLE(PblStable_A, pbl_valid_o, pbl_ready_i, pbl_o)
endmodule
