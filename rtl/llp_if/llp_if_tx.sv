// llp_if_tx: passes FPDUs and streaming bytes to the LLP, as records of their connection.
//
//   tx_fpdu_hdr --> [ FIFO ] --> [ QP -> connection ] --+--> llp_tx_hdr --> [ order ] --> wr_done,
//   raw (header checked by llp_if_raw) -----------------+                      |   Terminate sent
//   tx_fpdu, raw_tx --> [ FIFOs ] --------------------------> llp_tx <---------'
//
// Invariants:
//  1. Credit that an FPDU did not need is refunded when its header is sent.
//  2. An FPDU of a QP that has stopped is dropped. An FPDU after the FIN of its connection is
//     dropped, too; a Terminate then counts as sent. A peer that responds to a request before the
//     request is sent can cause such an FPDU.
//  3. When the LLP accepts the last beat, wr_done is queued and a Terminate is reported as sent.
// Latency: 3 cycles. Throughput: 1 beat per cycle, a record every 2 cycles.
// Back-pressure: waits for the LLP (which has granted credit) and qp (wr_done). Raw bytes also wait
// for their credit, but do not block FPDUs then.
// Siblings: llp_if_raw, llp_if_account, llp_if_event. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_tx #(
  parameter int unsigned DoneDepth = 4,   // depth of the queue of wr_done to qp
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps),
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  output logic                    ready_o,
  // from mpa
  input  logic                    hdr_valid_i,
  output logic                    hdr_ready_o,
  input  iwarp_pkg::tx_fpdu_hdr_t hdr_i,
  input  logic                    fpdu_valid_i,
  output logic                    fpdu_ready_o,
  input  iwarp_pkg::beat_t        fpdu_i,
  // from admin, checked by llp_if_raw: go: send or drop the packet whose beats come on raw_*
  input  logic                    raw_go_valid_i,
  output logic                    raw_go_ready_o,
  input  logic                    raw_drop_i,
  input  logic [15:0]             raw_conn_i,
  input  logic [15:0]             raw_length_i,
  input  logic                    raw_valid_i,
  output logic                    raw_ready_o,
  input  iwarp_pkg::beat_t        raw_i,
  // from llp_if_ctl: a QP's connection. running: its FPDUs are sent; fin: the FIN has been sent
  input  logic                    map_we_i,
  input  logic [QpW-1:0]          map_qpn_i,
  input  logic                    map_running_i,
  input  logic                    map_fin_i,
  input  logic [ConnW-1:0]        map_conn_i,
  // to the LLP
  output logic                    llp_hdr_valid_o,
  input  logic                    llp_hdr_ready_i,
  output iwarp_pkg::llp_tx_hdr_t  llp_hdr_o,
  output logic                    llp_valid_o,
  input  logic                    llp_ready_i,
  output iwarp_pkg::beat_t        llp_o,
  // to qp
  output logic                    done_valid_o,
  input  logic                    done_ready_i,
  output iwarp_pkg::wr_done_t     done_o,
  // to llp_if_account
  output logic                    refund_valid_o,
  input  logic                    refund_ready_i,
  output logic [ConnW-1:0]        refund_conn_o,
  output logic [16:0]             refund_length_o,
  output logic                    refund_term_o,
  // to llp_if_ctl: a Terminate was sent
  output logic                    term_valid_o,
  input  logic                    term_ready_i,
  output logic [QpW-1:0]          term_qpn_o,
  output logic [ConnW-1:0]        term_conn_o,
  // to llp_if_event, llp_if_raw: an FPDU or a raw packet has drained; wr_done that qp has not
  // accepted
  output logic                    out_o,
  output logic [$clog2(DoneDepth+1)-1:0] dones_o,
  output logic                    raw_out_o
);
  // A record whose header is done: {raw, drop, fin, done, is_term, slot, QPN, connection}. raw:
  // streaming bytes. drop: its beats are dropped. fin: they are dropped because the FIN was sent.
  // done: a wr_done is due. Width: 5 flags and 8 bits of slot.
  localparam int unsigned OrderW = 13 + QpW + ConnW;

  typedef enum logic [1:0] {
    StIdle,   // chooses a header; reads the table for an FPDU
    StFpdu,   // offers an FPDU's header
    StRaw     // offers a raw header
  } state_e;

  state_e                  state_q;
  logic                    front_valid, clear_busy, running, fin, order_ready, refund_ready,
                           offer, fpdu_taken, raw_taken;
  iwarp_pkg::tx_fpdu_hdr_t front;
  logic [QpW-1:0]          clear_addr;
  logic [ConnW-1:0]        conn;
  logic [OrderW-1:0]       order_in;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_headers;
  logic [$clog2(rnic_pkg::BeatDepth+1)-1:0] unused_beats, unused_raws;
  logic [2:0]              unused_order, unused_refunds;
  logic [$clog2(rnic_pkg::NumQps+1)-1:0]    unused_terms;

  assign ready_o = !clear_busy;
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  stream_fifo #(.Width(iwarp_pkg::TxFpduHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_i), .ready_o(hdr_ready_o), .data_i(hdr_i),
    .valid_o(front_valid), .ready_i(fpdu_taken), .data_o(front),
    .count_o(unused_headers)
  );

  ram_1r1w #(.Width(2 + ConnW), .Depth(rnic_pkg::NumQps)) u_map (
    .clk_i, .rst_ni,
    .we_i(clear_busy || map_we_i), .waddr_i(clear_busy ? clear_addr : map_qpn_i),
    .wdata_i(clear_busy ? '0 : {map_running_i, map_fin_i, map_conn_i}),
    .re_i(state_q == StIdle && front_valid), .raddr_i(front.qpn[QpW-1:0]),
    .rdata_o({running, fin, conn})
  );

  // Headers.
  assign offer           = order_ready && (state_q == StFpdu ? running && !fin && refund_ready
                                                             : state_q == StRaw && !raw_drop_i);
  assign llp_hdr_valid_o = offer;
  assign llp_hdr_o.connection = state_q == StRaw ? raw_conn_i : 16'(conn);
  assign llp_hdr_o.is_stream  = state_q == StRaw;
  assign llp_hdr_o.length     = state_q == StRaw ? {1'b0, raw_length_i} : front.length;

  assign fpdu_taken = state_q == StFpdu && order_ready &&
                      (running ? refund_ready && (fin || llp_hdr_ready_i) : 1'b1);
  assign raw_taken  = state_q == StRaw && order_ready && (raw_drop_i || llp_hdr_ready_i);
  assign raw_go_ready_o = raw_taken;
  assign order_in   = state_q == StRaw
                    ? {1'b1, raw_drop_i, 3'b000, 8'd0, {QpW{1'b0}}, {ConnW{1'b0}}}
                    : {1'b0, !running || fin, running && fin, front.done, front.is_term,
                       front.slot, front.qpn[QpW-1:0], conn};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else begin
      unique case (state_q)
        StIdle:  if (raw_go_valid_i) state_q <= StRaw;
                 else if (front_valid && !clear_busy) state_q <= StFpdu;
        StFpdu:  if (fpdu_taken) state_q <= StIdle;
        StRaw:   if (raw_taken) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  stream_fifo #(.Width(ConnW + 18), .Depth(4)) u_refunds (
    .clk_i, .rst_ni,
    .valid_i(fpdu_taken && running), .ready_o(refund_ready),
    .data_i({conn, front.length, front.is_term}),
    .valid_o(refund_valid_o), .ready_i(refund_ready_i),
    .data_o({refund_conn_o, refund_length_o, refund_term_o}), .count_o(unused_refunds)
  );

  // Beats.
  logic             go_valid, go_pop, go_raw, go_drop, go_fin, go_done, go_term,
                    fpdu_valid, fpdu_ready, raw_valid, raw_ready;
  logic [7:0]       go_slot;
  logic [QpW-1:0]   go_qpn;
  logic [ConnW-1:0] go_conn;
  iwarp_pkg::beat_t fpdu, raw, in;
  logic             in_valid, in_ready, done_ready, term_ready, may_end, last_now;

  stream_fifo #(.Width(OrderW), .Depth(4)) u_order (
    .clk_i, .rst_ni,
    .valid_i(fpdu_taken || raw_taken), .ready_o(order_ready), .data_i(order_in),
    .valid_o(go_valid), .ready_i(go_pop),
    .data_o({go_raw, go_drop, go_fin, go_done, go_term, go_slot, go_qpn, go_conn}),
    .count_o(unused_order)
  );

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(fpdu_valid_i), .ready_o(fpdu_ready_o), .data_i(fpdu_i),
    .valid_o(fpdu_valid), .ready_i(fpdu_ready), .data_o(fpdu),
    .count_o(unused_beats)
  );

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_raws (
    .clk_i, .rst_ni,
    .valid_i(raw_valid_i), .ready_o(raw_ready_o), .data_i(raw_i),
    .valid_o(raw_valid), .ready_i(raw_ready), .data_o(raw),
    .count_o(unused_raws)
  );

  assign in          = go_raw ? raw : fpdu;
  assign in_valid    = go_valid && (go_raw ? raw_valid : fpdu_valid);
  // may_end: this beat's wr_done and Terminate report, if due, have room. Stays true until sent.
  assign may_end     = !in.last || ((!go_done || done_ready) && (!go_term || term_ready));
  assign llp_valid_o = in_valid && !go_drop && may_end;
  assign llp_o       = in;
  assign in_ready    = go_valid && (go_drop ? !go_fin || may_end : llp_ready_i && may_end);
  assign fpdu_ready  = in_ready && !go_raw;
  assign raw_ready   = in_ready && go_raw;
  assign last_now    = in_valid && in_ready && in.last;
  assign go_pop      = last_now;
  assign out_o       = last_now && !go_raw;
  assign raw_out_o   = last_now && go_raw;

  stream_fifo #(.Width(iwarp_pkg::WrDoneWidth), .Depth(DoneDepth)) u_dones (
    .clk_i, .rst_ni,
    .valid_i(last_now && go_done && !go_drop), .ready_o(done_ready),
    .data_i({16'(go_qpn), go_slot}),
    .valid_o(done_valid_o), .ready_i(done_ready_i), .data_o(done_o),
    .count_o(dones_o)
  );

  // A QP sends at most one Terminate, so this FIFO is never full.
  stream_fifo #(.Width(QpW + ConnW), .Depth(rnic_pkg::NumQps)) u_terms (
    .clk_i, .rst_ni,
    .valid_i(last_now && go_term && (!go_drop || go_fin)), .ready_o(term_ready),
    .data_i({go_qpn, go_conn}),
    .valid_o(term_valid_o), .ready_i(term_ready_i), .data_o({term_qpn_o, term_conn_o}),
    .count_o(unused_terms)
  );

  `RNIC_ASSERT(QpnInRange_A, !hdr_valid_i || 32'(hdr_i.qpn) < rnic_pkg::NumQps)
  `RNIC_STREAM_STABLE(HdrStable_A, llp_hdr_valid_o, llp_hdr_ready_i, llp_hdr_o)
  `RNIC_STREAM_STABLE(OutStable_A, llp_valid_o, llp_ready_i, llp_o)
endmodule
