// ddp_rx_check: ends DDP's checks. It turns tpt's response into a cause and sends the segment to
// rdmap.
//
//   entry (ddp_rx_pieces) --> [ queue ] --+
//   tail (ddp_rx) ----------> [ queue ] --+
//   first (ddp_rx_header) --> [ queue ] --+--> cause --> [ stream_reg ] --> rx_segment --> rdmap
//   rx_xlate_rsp ------------------------+       +--> pending --> ddp_rx_place
//
// 1. What a refusal by tpt becomes (requirements.md section 7):
//    - of a tagged segment: Invalid STag, if the STag or the right is wrong (A-15); association,
//      wrap and bounds have causes of their own;
//    - of a Send's buffer: a local error, and the receive ends with loc_prot_err;
//    - of the STag that a Send is to invalidate: an error of the peer (A-14). The receive gets no
//      status here: it is flushed.
// 2. The queues bound the number of segments between header and verdict.
//
// Latency: 1 cycle from the later of entry and response.
// Throughput: 1 segment per cycle.
// Waits for tpt's response.
// Siblings: ddp_rx_pieces, ddp_rx_place.
// Bench: tb/ddp/ddp_rx_test.cpp
`include "rnic_assert.svh"

module ddp_rx_check (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from ddp_rx_header
  input  logic         first_valid_i,
  output logic         first_ready_o,
  input  logic [543:0] first_i,
  // from ddp_rx: bytes 64 to 69 of the segment; undefined for a shorter one
  input  logic         tail_valid_i,
  output logic         tail_ready_o,
  input  logic [47:0]  tail_i,
  // from ddp_rx_pieces: a segment whose lookups are requested. cause: its first error so far.
  // asked: tpt responds for it. recv: it is of a Send. status: other than success, its receive ends
  // with it. owes: it has taken a WQE of an SRQ, which is to be reported. length: of its payload.
  // index: of the receive WQE. total: bytes of the message up to its end. persist: the extensions
  // are on
  input  logic         entry_valid_i,
  output logic         entry_ready_o,
  input  logic [7:0]   entry_cause_i,
  input  logic         entry_asked_i,
  input  logic         entry_recv_i,
  input  logic [7:0]   entry_status_i,
  input  logic         entry_owes_i,
  input  logic [15:0]  entry_length_i,
  input  logic [15:0]  entry_index_i,
  input  logic [31:0]  entry_total_i,
  input  logic         entry_persist_i,
  // from tpt
  input  logic                        rx_xlate_rsp_valid_i,
  output logic                        rx_xlate_rsp_ready_o,
  input  iwarp_pkg::rx_xlate_rsp_t    rx_xlate_rsp_i,
  // to rdmap
  output logic                        rx_segment_valid_o,
  input  logic                        rx_segment_ready_i,
  output iwarp_pkg::rx_segment_t      rx_segment_o,
  // to ddp_rx_place
  output logic         pend_valid_o,
  input  logic         pend_ready_i,
  output logic [15:0]  pend_qpn_o,
  output logic         pend_extents_o,   // tpt sends extents for it
  output logic         pend_failed_o,    // it has a cause
  output logic         pend_report_o,    // its receive ends with this error status
  output logic [7:0]   pend_status_o,
  output logic         pend_owes_o,      // it has taken a WQE of an SRQ
  output logic [15:0]  pend_length_o,    // of its payload
  output logic [15:0]  pend_index_o,     // of the receive WQE
  output logic [31:0]  pend_total_o      // bytes of the message up to its end
);
  localparam int unsigned Depth   = 2 * rnic_pkg::FifoDepth;
  localparam int unsigned CountW  = $clog2(Depth + 1);
  // {cause; asked, recv; status; owes; length; index; total; persist}
  localparam int unsigned EntryW  = 8 + 2 + 8 + 1 + 16 + 16 + 32 + 1;

  logic              tail_valid, persist;
  logic [47:0]       tail;
  logic [CountW:0]   unused_tails;
  logic              first_valid, entry_valid, asked, is_recv, owes, fire, out_ready, refused,
                     bad_inv;
  logic [15:0]       qpn, ulpdu_length, length, index;
  logic [511:0]      head;
  logic [7:0]        cause, final_cause, status;
  logic [31:0]       total;
  logic [CountW:0]   unused_firsts;
  logic [CountW-1:0] unused_entries;

  // first and tail of a segment come before its entry, which may wait behind Depth items in
  // ddp_rx_pieces. So their queues are twice as deep.
  stream_fifo #(.Width(544), .Depth(2 * Depth)) u_firsts (
    .clk_i, .rst_ni,
    .valid_i(first_valid_i), .ready_o(first_ready_o), .data_i(first_i),
    .valid_o(first_valid), .ready_i(fire), .data_o({qpn, ulpdu_length, head}),
    .count_o(unused_firsts)
  );

  stream_fifo #(.Width(EntryW), .Depth(Depth)) u_entries (
    .clk_i, .rst_ni,
    .valid_i(entry_valid_i), .ready_o(entry_ready_o),
    .data_i({entry_cause_i, entry_asked_i, entry_recv_i, entry_status_i, entry_owes_i,
             entry_length_i, entry_index_i, entry_total_i, entry_persist_i}),
    .valid_o(entry_valid), .ready_i(fire),
    .data_o({cause, asked, is_recv, status, owes, length, index, total, persist}),
    .count_o(unused_entries)
  );

  stream_fifo #(.Width(48), .Depth(2 * Depth)) u_tails (
    .clk_i, .rst_ni,
    .valid_i(tail_valid_i), .ready_o(tail_ready_o), .data_i(tail_i),
    .valid_o(tail_valid), .ready_i(fire), .data_o(tail),
    .count_o(unused_tails)
  );

  // refused: tpt has refused a lookup. bad_inv: that of the STag to be invalidated.
  assign fire = entry_valid && first_valid && tail_valid && (!asked || rx_xlate_rsp_valid_i) &&
                out_ready && pend_ready_i;

  assign rx_xlate_rsp_ready_o = fire && asked;
  assign refused              = asked && rx_xlate_rsp_i.result != iwarp_pkg::TptOk;
  assign bad_inv              = refused && rx_xlate_rsp_i.invalidate;

  always_comb begin
    final_cause = cause;
    if (refused) begin
      if (bad_inv) begin
        final_cause = rx_xlate_rsp_i.result == iwarp_pkg::TptStag
                    ? iwarp_pkg::CauseRdmapInvStag
                    : iwarp_pkg::CauseRdmapInvProtected;
      end else if (is_recv) begin
        final_cause = iwarp_pkg::CauseLocalCatastrophic;
      end else begin
        case (rx_xlate_rsp_i.result)
          iwarp_pkg::TptAssoc:  final_cause = iwarp_pkg::CauseDdpTaggedAssoc;
          iwarp_pkg::TptWrap:   final_cause = iwarp_pkg::CauseDdpTaggedWrap;
          iwarp_pkg::TptBounds: final_cause = iwarp_pkg::CauseDdpTaggedBounds;
          default:              final_cause = iwarp_pkg::CauseDdpTaggedStag;
        endcase
      end
    end
  end

  stream_reg #(.Width(iwarp_pkg::RxSegmentWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(fire), .ready_o(out_ready),
    .data_i({qpn, persist, final_cause, ulpdu_length, tail, head}),
    .valid_o(rx_segment_valid_o), .ready_i(rx_segment_ready_i), .data_o(rx_segment_o)
  );

  assign pend_valid_o   = fire;
  assign pend_qpn_o     = qpn;
  assign pend_extents_o = asked && !refused && length != '0;
  assign pend_failed_o  = final_cause != iwarp_pkg::CauseNone;
  assign pend_report_o  = status != iwarp_pkg::WcSuccess || (refused && is_recv && !bad_inv);
  assign pend_status_o  = refused ? iwarp_pkg::WcLocProtErr : status;
  assign pend_owes_o    = owes;
  assign pend_length_o  = length;
  assign pend_index_o   = index;
  assign pend_total_o   = total;

  `RNIC_ASSERT(AskedWasGood_A, !(fire && asked) ||
                               (cause == iwarp_pkg::CauseNone && status == iwarp_pkg::WcSuccess))
  `RNIC_STREAM_STABLE(SegmentStable_A, rx_segment_valid_o, rx_segment_ready_i, rx_segment_o)
endmodule
