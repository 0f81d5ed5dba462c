// tpt_walk: turns checked pieces of a segment into bus extents, one page at a time.
//
//   job --> [ FIFO ] --> [ current job ] --page index--> page list (shared, 1 read port)
//                                                             +--> [ FIFO ] --> extent
//
// A job is the result of one lookup of tpt_entry: where a piece starts in the page list, and how
// long it is. The jobs of one segment are a group; last marks its last job and its last extent. tpt
// has one walk for each client that gets extents: rx (Gated), tx, qn1 (Single).
//
// Invariants:
//  1. A page-list entry is requested only when the output FIFO has room for its extent
//     (RoomForExtent_A). So a client whose output is full blocks no other client.
//  2. Gated (receive): a group's jobs wait until tpt_rsp has the result of the whole group (go). If
//     a lookup of the group failed, all its jobs are dropped: nothing of such a segment is placed.
//  3. Not gated (transmit): a failed job gives one extent of length 0 that ends the group.
//  4. An empty job (the check of an STag to be invalidated) has no extent: it is dropped.
//  5. Single (qn1): a job has one extent. If its bytes cross a page, the extent ends at the page.
// Latency: 4 cycles from the lookup's result. Throughput: one extent per cycle when granted each
// cycle.
// Siblings: tpt_entry, tpt_rsp, tpt_flight (inside tpt_update: counts jobs and extents in flight).
// Benches: tb/tpt/tpt_walk_test.cpp, tb/tpt/tpt_test.cpp
`include "rnic_assert.svh"

module tpt_walk #(
  parameter bit Gated = 1'b0,
  parameter bit Single = 1'b0,
  parameter int unsigned Depth = 8,   // lookups and jobs that the client may have here
  localparam int unsigned PblW = $clog2(rnic_pkg::NumPbl)
) (
  input  logic clk_i,
  input  logic rst_ni,
  // A lookup of the client begins (ask_i) and reserves an entry of the job FIFO. room_o: an entry
  // is free. tpt begins no lookup of the client while room_o is low.
  input  logic ask_i,
  output logic room_o,
  // a lookup ends: its job, in the order in which the lookups began
  input  logic valid_i,
  input  logic last_i,
  input  iwarp_pkg::tpt_result_e result_i,
  input  logic epoch_i,                   // in which the lookup read its entry
  input  logic empty_i,
  input  logic [16:0] length_i,           // bytes
  input  logic [PblW-1:0] page_i,         // index of the page-list entry of its first page
  input  logic [20:0] page_offset_i,      // of its first byte; the largest page has 2^21 bytes
  input  logic [4:0] log_page_i,          // log2 of the region's page size
  // Gated: the last lookup of a group has ended; ok: none of them failed
  input  logic go_valid_i,
  input  logic go_ok_i,
  // page list: data (bits 63:12 of the page's bus address) one cycle after the grant
  output logic pbl_valid_o,
  input  logic pbl_ready_i,
  output logic [PblW-1:0] pbl_addr_o,
  input  logic [51:0] pbl_data_i,
  // to tpt_flight, each with its epoch: a job has issued its last extent (walked), a job ends
  // without an extent (dropped), an extent is issued
  output logic walked_o,
  output logic walked_epoch_o,
  output logic dropped_o,
  output logic dropped_epoch_o,
  output logic extent_o,
  output logic extent_epoch_o,
  // extents
  output logic out_valid_o,
  input  logic out_ready_i,
  output iwarp_pkg::extent_t out_o
);
  // {last, result 3, epoch, empty, length 17, page, page offset 21, log page 5}
  localparam int unsigned JobW   = 1 + 3 + 2 + 17 + PblW + 21 + 5;
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned OutDepth = 4;

  // --- jobs
  logic             push_ready, j_valid, j_ready;
  logic [JobW-1:0]  j_word;
  logic             j_last, j_epoch, j_empty;
  logic [2:0]       j_result;
  logic [16:0]      j_length;
  logic [PblW-1:0]  j_page;
  logic [20:0]      j_offset;
  logic [4:0]       j_log;
  stream_fifo #(.Width(JobW), .Depth(Depth), .Reserved(1'b1)) u_jobs (
    .clk_i, .rst_ni, .valid_i, .ready_o(push_ready),
    .data_i({last_i, result_i, epoch_i, empty_i, length_i, page_i, page_offset_i, log_page_i}),
    .valid_o(j_valid), .ready_i(j_ready), .data_o(j_word), .count_o()
  );
  assign {j_last, j_result, j_epoch, j_empty, j_length, j_page, j_offset, j_log} = j_word;

  logic [CountW-1:0] used_q;   // lookups that have begun, and jobs in the FIFO
  assign room_o = used_q < CountW'(Depth);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) used_q <= '0;
    else         used_q <= used_q + CountW'(ask_i) - CountW'(j_valid && j_ready);
  end

  // --- go: may the group of the FIFO's first job be walked? A go leaves with the last job of its
  // group. So the FIFO never holds more of them than u_jobs holds jobs.
  logic go_valid, go_ok, go_pop;
  if (Gated) begin : gen_gate
    stream_fifo #(.Width(1), .Depth(Depth), .Reserved(1'b1)) u_go (
      .clk_i, .rst_ni, .valid_i(go_valid_i), .ready_o(), .data_i(go_ok_i),
      .valid_o(go_valid), .ready_i(go_pop), .data_o(go_ok), .count_o()
    );
  end else begin : gen_open
    logic unused_go;
    assign go_valid  = 1'b1;
    assign go_ok     = 1'b1;
    assign unused_go = go_valid_i ^ go_ok_i ^ go_pop;
  end

  // --- the current job
  // skip_q: an earlier job of the group has failed and ended it
  logic             cur_q, cur_last_q, cur_epoch_q, cur_fail_q, skip_q;
  logic [2:0]       cur_result_q;
  logic [16:0]      rest_q;          // bytes left, minus one
  logic [PblW-1:0]  page_q;
  logic [20:0]      offset_q;
  logic [4:0]       log_q;
  // Bytes up to the page's end, minus one: the complement of the offset, which costs no adder.
  logic [20:0]      in_page_q;
  logic             job_ok, load, take, drop, issue, fits, finishing, room_out;

  assign job_ok   = j_result == iwarp_pkg::TptOk;
  // A job is dropped when its group failed (Gated), when an earlier job of its group has ended the
  // group, or when it is empty.
  // load: no current job, or it ends in this cycle.
  assign drop     = j_valid && go_valid && (!go_ok || skip_q || j_empty);
  assign load     = !cur_q || (issue && finishing);
  assign take     = j_valid && go_valid && !drop && load;
  assign j_ready  = go_valid && (drop || load);
  assign go_pop   = j_valid && j_ready && j_last;

  assign fits      = {4'h0, rest_q} <= in_page_q;
  assign finishing = Single || cur_fail_q || fits;

  assign pbl_valid_o = cur_q && room_out;
  assign pbl_addr_o  = page_q;
  assign issue       = pbl_valid_o && pbl_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cur_q  <= 1'b0;
      skip_q <= 1'b0;
    end else begin
      if (take)                    cur_q <= 1'b1;
      else if (issue && finishing) cur_q <= 1'b0;
      if (j_valid && j_ready) skip_q <= !j_last && (skip_q || (!Gated && !drop && !job_ok));
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      cur_last_q   <= j_last || !job_ok;
      cur_epoch_q  <= j_epoch;
      cur_fail_q   <= !job_ok;
      cur_result_q <= j_result;
      rest_q       <= j_length - 17'h1;
      page_q       <= j_page;
      offset_q     <= j_offset;
      log_q        <= j_log;
      in_page_q    <= ~j_offset & ~(21'h1fffff << j_log);
    end else if (issue) begin
      rest_q    <= rest_q + ~in_page_q[16:0];   // minus the piece; unused when finishing
      page_q    <= page_q + 1'b1;
      offset_q  <= '0;
      in_page_q <= ~(21'h1fffff << log_q);
    end
  end

  // Every job counts as in flight from its lookup until it is walked or dropped. The extents that
  // it has issued are counted separately, until they are retired.
  assign walked_o        = issue && finishing;
  assign walked_epoch_o  = cur_epoch_q;
  assign dropped_o       = drop;
  assign dropped_epoch_o = j_epoch;

  // --- extents: s1_: one whose page-list entry arrives in this cycle. A job that failed reads an
  // entry, too, and ignores it.
  logic              s1_q, s1_last_q, s1_epoch_q;
  logic [2:0]        s1_result_q;
  logic [20:0]       s1_offset_q;
  logic [16:0]       s1_rest_q, length;
  logic [63:0]       address;
  logic [$clog2(OutDepth + 1)-1:0] out_count;
  logic              out_push_ready;
  iwarp_pkg::extent_t ext;

  assign room_out = 32'(out_count) + 32'(s1_q) < OutDepth;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) s1_q <= 1'b0;
    else         s1_q <= issue;
  end
  always_ff @(posedge clk_i) begin
    if (issue) begin
      s1_last_q   <= cur_last_q && finishing;
      s1_epoch_q  <= cur_epoch_q;
      s1_result_q <= cur_result_q;
      s1_offset_q <= offset_q;
      s1_rest_q   <= fits ? rest_q : in_page_q[16:0];   // unused for a job that failed
    end
  end
  assign address = s1_result_q == iwarp_pkg::TptOk
                 ? {pbl_data_i, 12'h0} | {43'h0, s1_offset_q} : '0;
  assign length  = s1_result_q == iwarp_pkg::TptOk ? s1_rest_q + 17'h1 : '0;
  assign ext     = {address, length, s1_result_q, s1_epoch_q, s1_last_q};
  stream_fifo #(.Width(iwarp_pkg::ExtentWidth), .Depth(OutDepth), .Reserved(1'b1)) u_out (
    .clk_i, .rst_ni, .valid_i(s1_q), .ready_o(out_push_ready), .data_i(ext),
    .valid_o(out_valid_o), .ready_i(out_ready_i), .data_o(out_o), .count_o(out_count)
  );
  assign extent_o       = issue;
  assign extent_epoch_o = cur_epoch_q;

  `RNIC_ASSERT(RoomForJob_A, !valid_i || push_ready)
  `RNIC_ASSERT(RoomForExtent_A, !s1_q || out_push_ready)
  `RNIC_STREAM_STABLE(OutStable_A, out_valid_o, out_ready_i, out_o)
endmodule
