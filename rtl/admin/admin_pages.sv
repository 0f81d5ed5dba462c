// admin_pages: reads a page list from host memory, twice: once to check every address, once to write them to tpt.
//
//   for each pass: read up to 64 entries (512 bytes) -> 8 entries a beat -> aligned to the page size? / pbl_wr
//
// One entry a cycle, one cycle more a beat. done_o with status ok: the list is written. bad_argument: nothing was. dma_error: a part may have
// been, of a region that will not exist. Sibling: admin_exec.
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
  input  logic beat_valid_i,
  input  logic beat_last_i,
  input  logic [511:0] beat_i,
  output logic hdr_ready_o,
  output logic beat_ready_o,
  // to tpt
  output logic pbl_valid_o,
  input  logic pbl_ready_i,
  output iwarp_pkg::pbl_wr_t pbl_o
);
  typedef enum logic [2:0] {
    StIdle,
    StRead,     // a chunk's read is offered
    StHeader,
    StBeat,     // a beat is awaited
    StEntry,    // its entries, one a cycle
    StDone
  } state_e;
  state_e state_d, state_q;

  logic         misaligned, write_q, bad_q, unread_q, last_beat_q, end_of_list, step, next_pass;
  logic [21:0]  at_q, rest;
  logic [511:0] beat_q;
  logic [2:0]   lane_q;
  logic [6:0]   chunk;
  logic [63:0]  entry;
  assign rest        = pages_i - at_q;
  assign chunk       = rest > 22'd64 ? 7'd64 : rest[6:0];
  assign entry       = beat_q[63:0];
  assign end_of_list = at_q + 22'd1 == pages_i;
  assign step        = state_q == StEntry && (!write_q || pbl_ready_i);
  assign next_pass   = step && end_of_list && !write_q;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StRead;
      StRead:   if (rd_ready_i) state_d = StHeader;
      StHeader: if (hdr_valid_i) state_d = StBeat;
      StBeat:   if (beat_valid_i) state_d = unread_q ? StDone : StEntry;
      StEntry: begin
        if (step) begin
          if (end_of_list)                        state_d = (write_q || bad_q || misaligned) ? StDone : StRead;
          else if (lane_q == 3'd7 && last_beat_q) state_d = StRead;
          else if (lane_q == 3'd7)                state_d = StBeat;
        end
      end
      StDone:   state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end
  assign misaligned = (entry & ~({64{1'b1}} << log_page_i)) != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      write_q  <= 1'b0;
      bad_q    <= 1'b0;
      unread_q <= 1'b0;
      at_q     <= '0;
    end else begin
      if (state_q == StHeader && hdr_valid_i) unread_q <= hdr_status_i != iwarp_pkg::RdOk;
      if (step) begin
        bad_q <= bad_q || misaligned;
        at_q  <= end_of_list ? '0 : at_q + 22'd1;
      end
      if (next_pass) write_q <= 1'b1;
    end
    if (state_q == StBeat) begin
      beat_q      <= beat_i;
      last_beat_q <= beat_last_i;
      lane_q      <= '0;
    end else if (step) begin
      beat_q <= {64'h0, beat_q[511:64]};
      lane_q <= lane_q + 3'd1;
    end
  end

  assign rd_valid_o   = state_q == StRead;
  assign rd_o         = {list_i + {39'h0, at_q, 3'h0}, {3'h0, chunk, 3'h0}};
  assign hdr_ready_o  = state_q == StHeader;
  assign beat_ready_o = state_q == StBeat;
  assign pbl_valid_o  = state_q == StEntry && write_q;
  assign pbl_o        = {pbl_base_i + {10'h0, at_q}, entry};
  assign done_o       = state_q == StDone;
  always_comb begin
    status_o = iwarp_pkg::AdmOk;
    if (unread_q)   status_o = iwarp_pkg::AdmDmaError;
    else if (bad_q) status_o = iwarp_pkg::AdmBadArgument;
  end

  `RNIC_STREAM_STABLE(PblStable_A, pbl_valid_o, pbl_ready_i, pbl_o)
endmodule
