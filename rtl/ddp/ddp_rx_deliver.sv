// ddp_rx_deliver: delivers in order. A segment whose payload was placed waits for its place_done;
// then its completion is reported to qp.
//
//   deliver --> [ queue ] --> if placed: wait for [ done ] > 0 ---> [ hold ] --> rx_done --> qp
//   place_done --> [ done: a counter, always takes ] --^        ^
//   [ failed, per QP ]: an error of a receive is reported only if it is the QP's first error
//   [ owed, per QP ]: the WQE of an SRQ that an open message has taken ---+-- stop
//
// 1. A receive that ends with an error found by ddp (loc_len_err, loc_prot_err) is reported with
//    that status only if it is the QP's first error. qp flushes the receives after the first error.
// 2. Each WQE that was taken from an SRQ is reported once, since qp flushes none of them. If its
//    message does not end, the report has wr_flush_err. That report is made by the message's first
//    segment if it is refused, or else by the first refused segment of the QP, or by a stop. An
//    entry per QP is enough, since at most one message of a QP is open.
// 3. out_o pulses when a segment is drained.
//
// Latency: 2 cycles.
// Throughput: 1 entry per cycle; an entry that is refused takes 2, a stop too.
// Waits for host_if to place, and for qp.
// Leaf: ddp_rx_hold. Sibling: ddp_rx_place.
// Bench: tb/ddp/ddp_rx_test.cpp, ddp_srq_test.cpp, ddp_srq_random_test.cpp
`include "rnic_assert.svh"

module ddp_rx_deliver (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp: the table is being cleared
  input  logic         clear_i,
  input  logic [15:0]  clear_addr_i,
  // from ddp_qp: start; or stop, which is accepted when the WQE that is owed, if any, is reported
  input  logic         ctl_valid_i,
  output logic         ctl_ready_o,
  input  logic         ctl_start_i,
  input  logic [15:0]  ctl_qpn_i,
  // from ddp_rx_place: a segment with its verdict. placed: place_done follows for it. failed: the
  // QP has an error from it on. report: its receive ends with error status. owes: it has taken a
  // WQE of an SRQ. kind, slot, solicited, immediate: of the verdict. index: of the receive WQE.
  // total: bytes of the message
  input  logic         deliver_valid_i,
  output logic         deliver_ready_o,
  input  logic [15:0]  deliver_qpn_i,
  input  logic         deliver_placed_i,
  input  logic         deliver_failed_i,
  input  logic         deliver_report_i,
  input  logic [7:0]   deliver_status_i,
  input  logic         deliver_owes_i,
  input  logic [2:0]   deliver_kind_i,
  input  logic [7:0]   deliver_slot_i,
  input  logic         deliver_solicited_i,
  input  logic [15:0]  deliver_index_i,
  input  logic [31:0]  deliver_total_i,
  input  logic [63:0]  deliver_immediate_i,
  // from host_if: always taken
  input  logic                     place_done_valid_i,
  output logic                     place_done_ready_o,
  input  iwarp_pkg::place_done_t   place_done_i,
  // to qp
  output logic                     rx_done_valid_o,
  input  logic                     rx_done_ready_i,
  output iwarp_pkg::rx_done_t      rx_done_o,
  // to and from tpt
  output logic                     invalidate_valid_o,
  input  logic                     invalidate_ready_i,
  output iwarp_pkg::invalidate_t   invalidate_o,
  input  logic                     invalidated_valid_i,
  output logic                     invalidated_ready_o,
  input  iwarp_pkg::invalidated_t  invalidated_i,
  // to ddp_qp: a segment is drained; a report entered and left the hold; one was enqueued, which qp
  // may take later
  output logic         out_o,
  output logic         held_in_o,
  output logic         held_out_o,
  output logic         report_o
);
  localparam int unsigned QpW    = $clog2(rnic_pkg::NumQps);
  localparam int unsigned Depth  = 4 * rnic_pkg::FifoDepth;
  // {qpn; placed, failed, report; status; owes; kind; slot; solicited; index; total; immediate}
  localparam int unsigned EntryW = 16 + 3 + 8 + 1 + 3 + 8 + 1 + 16 + 32 + 64;

  logic        entry_valid, placed, failed, report, owes, solicited, pop;
  logic [15:0] qpn, index, owed_index;
  logic [7:0]  status, slot;
  logic [2:0]  kind;
  logic [31:0] total;
  logic [63:0] immediate;
  logic [$clog2(Depth+1)-1:0] unused_entries;

  stream_fifo #(.Width(EntryW), .Depth(Depth)) u_entries (
    .clk_i, .rst_ni,
    .valid_i(deliver_valid_i), .ready_o(deliver_ready_o),
    .data_i({deliver_qpn_i, deliver_placed_i, deliver_failed_i, deliver_report_i,
             deliver_status_i, deliver_owes_i, deliver_kind_i, deliver_slot_i,
             deliver_solicited_i, deliver_index_i, deliver_total_i, deliver_immediate_i}),
    .valid_o(entry_valid), .ready_i(pop),
    .data_o({qpn, placed, failed, report, status, owes, kind, slot, solicited, index, total,
             immediate}),
    .count_o(unused_entries)
  );

  // Packets placed and not yet consumed by an entry. The depth of the queues bounds the count
  // (DoneCounts_A).
  logic [15:0] done_q;

  assign place_done_ready_o = 1'b1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else         done_q <= done_q + 16'(place_done_valid_i) - 16'(pop && placed);
  end

  // go: the oldest entry may leave: its payload is placed, and no order of ddp_qp is at the port.
  // An entry with an error takes two cycles: look reads the tables, then look_q reports.
  // first_error: it reports the status that ddp found. flushes: it reports an SRQ's WQE with
  // wr_flush_err. A stop likewise: stop_look reads the tables, then stop_q reports the WQE that is
  // owed. stop_look clears look_q: the tables now return the stop's QP, so the entry looks again.
  logic       go, look, look_q, was_failed, was_owed, done_valid, done_ready, ctl_fire,
              stop, stop_look, stop_q;
  logic       first_error, flushes;
  logic [2:0] out_kind;
  logic [31:0] out_total;
  logic [QpW-1:0] waddr;

  assign stop        = ctl_valid_i && !ctl_start_i && !clear_i;
  assign stop_look   = stop && !stop_q;
  assign ctl_ready_o = !clear_i && (ctl_start_i || (stop_q && (!was_owed || done_ready)));
  assign ctl_fire    = ctl_valid_i && ctl_ready_o;
  assign go          = entry_valid && (!placed || done_q != '0) && !ctl_valid_i && !clear_i;
  assign look        = go && (report || failed) && !look_q;
  assign first_error = report && !was_failed;
  assign flushes     = failed && !first_error && (owes || was_owed);
  assign done_valid  = stop ? stop_q && was_owed
                            : go && (report || failed ? look_q && (first_error || flushes)
                                                      : kind != iwarp_pkg::DelNothing);
  assign pop         = go && !look && (!done_valid || done_ready);
  assign out_total   = !report && !failed && kind != iwarp_pkg::DelRead ? total : '0;
  assign out_kind    = report || failed ? iwarp_pkg::DelRecv : kind;
  assign out_o       = pop;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      look_q <= 1'b0;
      stop_q <= 1'b0;
    end else begin
      look_q <= (look || (look_q && !pop)) && !stop_look;
      stop_q <= stop_look || (stop_q && !ctl_fire);
    end
  end

  // A stop keeps the failed flag, so that later segments inside do not report a first error again.
  assign waddr = clear_i ? clear_addr_i[QpW-1:0] : ctl_fire ? ctl_qpn_i[QpW-1:0] : qpn[QpW-1:0];

  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumQps)) u_failed (
    .clk_i, .rst_ni,
    .we_i(clear_i || (ctl_fire && ctl_start_i) || (pop && failed)), .waddr_i(waddr),
    .wdata_i(!clear_i && !ctl_fire),
    .re_i(look), .raddr_i(qpn[QpW-1:0]), .rdata_o(was_failed)
  );
  logic ends;   // the QP's open message ends here, or never
  assign ends = failed || (kind != iwarp_pkg::DelNothing && kind != iwarp_pkg::DelRead);
  // {the open message has taken a WQE of an SRQ, its index 16}: set by its first segment
  ram_1r1w #(.Width(17), .Depth(rnic_pkg::NumQps)) u_owed (
    .clk_i, .rst_ni,
    .we_i(clear_i || ctl_fire || (pop && (owes || ends))), .waddr_i(waddr),
    .wdata_i({!clear_i && !ctl_fire && !ends, index}),
    .re_i(look || stop_look), .raddr_i(stop ? ctl_qpn_i[QpW-1:0] : qpn[QpW-1:0]),
    .rdata_o({was_owed, owed_index})
  );

  // The report. flushes without owes: an earlier segment has taken the WQE of owed_index.
  iwarp_pkg::rx_done_t done;
  always_comb begin
    done = {qpn, out_kind, slot, index, out_total, solicited, status, immediate};
    if (report || failed || stop) {done.slot, done.solicited, done.immediate} = '0;
    if (stop || (flushes && !owes)) done.index = owed_index;
    if (stop || flushes) done.status = iwarp_pkg::WcWrFlushErr;
    if (stop) {done.qpn, done.kind, done.byte_len} = {ctl_qpn_i, iwarp_pkg::DelRecv, 32'd0};
  end
  ddp_rx_hold u_hold (
    .clk_i, .rst_ni,
    .done_valid_i(done_valid), .done_ready_o(done_ready), .done_i(done),
    .invalidate_valid_o, .invalidate_ready_i, .invalidate_o,
    .invalidated_valid_i, .invalidated_ready_o, .invalidated_i,
    .rx_done_valid_o, .rx_done_ready_i, .rx_done_o,
    .held_in_o, .held_out_o, .report_o
  );

  logic unused_bits;
  assign unused_bits = ^{place_done_i, clear_addr_i, ctl_qpn_i};

  `RNIC_COVER(StopReports_C, stop && done_valid && done_ready)
  `RNIC_COVER(FirstSegmentFlushes_C, pop && flushes && owes)
  `RNIC_ASSERT(FailedEndsNothing_A, !(pop && failed) || kind == iwarp_pkg::DelNothing)
  `RNIC_ASSERT(OneOpen_A, !(pop && look_q && owes) || !was_owed)
  `RNIC_ASSERT(DoneCounts_A, !(place_done_valid_i && done_q == '1))
  `RNIC_STREAM_STABLE(DoneStable_A, rx_done_valid_o, rx_done_ready_i, rx_done_o)
endmodule
