// llp_if_rx: passes records from the LLP to mpa as FPDUs of their QP, to admin, or drops them.
//
//   llp_rx_hdr --> [ FIFO ] --> [ connection -> QP ] --> rx_fpdu_hdr, raw_rx_hdr, dropped
//                                          +--> [ order ] --+
//                                                           v
//   llp_rx ------> [ FIFO ] ----------------------------> rx_fpdu, raw_rx, dropped
//
// Invariants:
//  1. The first FPDU of a QP with hold_tx releases its transmit side (RFC 5044 section 7.1) before
//     the FPDU is passed on.
//  2. Dropped: a record of an unknown connection, an FPDU without QP, streaming bytes with a QP.
// Latency: 3 cycles, 2 or 3 more for an FPDU that releases its QP. Throughput: 1 beat per cycle, a
// record every 2 cycles.
// Back-pressure: waits for mpa and admin, and for llp_if_grant to release a held QP. That release
// waits for no other unit.
// Siblings: llp_if_ctl, llp_if_grant, llp_if_give. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_rx #(
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps),
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  output logic                    ready_o,
  // from the LLP
  input  logic                    hdr_valid_i,
  output logic                    hdr_ready_o,
  input  iwarp_pkg::llp_rx_hdr_t  hdr_i,
  input  logic                    beat_valid_i,
  output logic                    beat_ready_o,
  input  iwarp_pkg::beat_t        beat_i,
  // from llp_if_ctl: a connection's QP and state. exists: it is not free; hold: of its QP, hold_tx
  input  logic                    map_we_i,
  input  logic [ConnW-1:0]        map_conn_i,
  input  logic                    map_exists_i,
  input  logic                    map_has_qp_i,
  input  logic [QpW-1:0]          map_qpn_i,
  input  logic                    map_hold_i,
  // to llp_if_grant: this QP's first FPDU has arrived, so it may transmit (invariant 1)
  output logic                    hold_valid_o,
  input  logic                    hold_ready_i,
  output logic [QpW-1:0]          hold_qpn_o,
  // to mpa
  output logic                    fpdu_hdr_valid_o,
  input  logic                    fpdu_hdr_ready_i,
  output iwarp_pkg::rx_fpdu_hdr_t fpdu_hdr_o,
  output logic                    fpdu_valid_o,
  input  logic                    fpdu_ready_i,
  output iwarp_pkg::beat_t        fpdu_o,
  // to admin
  output logic                    raw_hdr_valid_o,
  input  logic                    raw_hdr_ready_i,
  output iwarp_pkg::raw_rx_hdr_t  raw_hdr_o,
  output logic                    raw_valid_o,
  input  logic                    raw_ready_i,
  output iwarp_pkg::beat_t        raw_o,
  // to llp_if_event: a record has drained
  output logic                    out_o
);
  typedef enum logic [1:0] {
    StIdle,   // waits for a header; reads the tables
    StLook,   // the record's QP is known: passes the record on
    StHold    // releases the QP's transmit side first
  } state_e;
  localparam logic [1:0] ToFpdu = 2'd0, ToRaw = 2'd1, ToDrop = 2'd2;

  // to: where the front record goes. released_q: its QP's transmit side has been released for it.
  state_e                 state_q;
  logic                   front_valid, front_pop, clear_busy, exists, has_qp, hold,
                          released_q, hold_take;
  iwarp_pkg::llp_rx_hdr_t front;
  logic [ConnW-1:0]       clear_addr;
  logic [QpW-1:0]         qpn;
  logic                   in_range, look, order_ready, offered, taken;
  logic [1:0]             to;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_headers;
  logic [$clog2(rnic_pkg::BeatDepth+1)-1:0] unused_beats;
  logic [2:0]             unused_order;

  assign ready_o = !clear_busy;
  ram_clear #(.Depth(rnic_pkg::NumConns)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  stream_fifo #(.Width(iwarp_pkg::LlpRxHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_i), .ready_o(hdr_ready_o), .data_i(hdr_i),
    .valid_o(front_valid), .ready_i(front_pop), .data_o(front),
    .count_o(unused_headers)
  );

  ram_1r1w #(.Width(2 + QpW), .Depth(rnic_pkg::NumConns)) u_map (
    .clk_i, .rst_ni,
    .we_i(clear_busy || map_we_i), .waddr_i(clear_busy ? clear_addr : map_conn_i),
    .wdata_i(clear_busy ? '0 : {map_exists_i, map_has_qp_i, map_qpn_i}),
    .re_i(state_q == StIdle), .raddr_i(in_range ? front.connection[ConnW-1:0] : '0),
    .rdata_o({exists, has_qp, qpn})
  );

  // hold: llp_if_ctl sets the bit of a connection, the first FPDU of its QP clears it.
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumConns)) u_hold (
    .clk_i, .rst_ni,
    .we_i(clear_busy || map_we_i || hold_take),
    .waddr_i(clear_busy ? clear_addr : map_we_i ? map_conn_i : front.connection[ConnW-1:0]),
    .wdata_i(!clear_busy && map_we_i && map_hold_i),
    .re_i(state_q == StIdle), .raddr_i(in_range ? front.connection[ConnW-1:0] : '0), .rdata_o(hold)
  );

  assign in_range = 32'(front.connection) < rnic_pkg::NumConns;
  assign look   = state_q == StLook && (to != ToFpdu || !hold || released_q);
  assign to     = !in_range       ? ToDrop
                : front.is_stream ? (exists && !has_qp ? ToRaw : ToDrop)
                : has_qp          ? ToFpdu : ToDrop;

  // The header, and the destination of its beats.
  assign fpdu_hdr_valid_o  = look && order_ready && to == ToFpdu;
  assign fpdu_hdr_o.qpn    = 16'(qpn);
  assign fpdu_hdr_o.length = front.length;
  assign raw_hdr_valid_o   = look && order_ready && to == ToRaw;
  assign raw_hdr_o.connection = front.connection;
  assign raw_hdr_o.length  = front.length[15:0];
  assign raw_hdr_o.ended   = 1'b0;
  assign offered           = look && order_ready;
  assign taken             = offered && (to == ToFpdu ? fpdu_hdr_ready_i
                                       : to == ToRaw  ? raw_hdr_ready_i : 1'b1);
  assign front_pop         = taken;
  assign hold_valid_o      = state_q == StHold && !map_we_i;
  assign hold_take         = hold_valid_o && hold_ready_i;
  assign hold_qpn_o        = qpn;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      released_q <= 1'b0;
    end else begin
      if (taken)          released_q <= 1'b0;
      else if (hold_take) released_q <= 1'b1;
      unique case (state_q)
        StIdle:  if (front_valid && !clear_busy) state_q <= StLook;
        StLook:  if (taken) state_q <= StIdle;
                 else if (to == ToFpdu && hold && !released_q) state_q <= StHold;
        StHold:  if (hold_take) state_q <= StLook;
        default: state_q <= StIdle;
      endcase
    end
  end

  // Beats.
  logic             in_valid, in_ready, go_valid, go_pop;
  iwarp_pkg::beat_t in;
  logic [1:0]       go;

  stream_fifo #(.Width(2), .Depth(4)) u_order (
    .clk_i, .rst_ni,
    .valid_i(taken), .ready_o(order_ready), .data_i(to),
    .valid_o(go_valid), .ready_i(go_pop), .data_o(go),
    .count_o(unused_order)
  );

  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(beat_valid_i), .ready_o(beat_ready_o), .data_i(beat_i),
    .valid_o(in_valid), .ready_i(in_ready), .data_o(in),
    .count_o(unused_beats)
  );

  assign fpdu_valid_o = in_valid && go_valid && go == ToFpdu;
  assign fpdu_o       = in;
  assign raw_valid_o  = in_valid && go_valid && go == ToRaw;
  assign raw_o        = in;
  assign in_ready     = go_valid && (go == ToFpdu ? fpdu_ready_i
                                   : go == ToRaw  ? raw_ready_i : 1'b1);
  assign go_pop       = in_valid && in_ready && in.last;
  assign out_o        = go_pop;

  `RNIC_STREAM_STABLE(FpduHdrStable_A, fpdu_hdr_valid_o, fpdu_hdr_ready_i, fpdu_hdr_o)
  `RNIC_STREAM_STABLE(RawHdrStable_A, raw_hdr_valid_o, raw_hdr_ready_i, raw_hdr_o)
  `RNIC_STREAM_STABLE(FpduStable_A, fpdu_valid_o, fpdu_ready_i, fpdu_o)
  `RNIC_STREAM_STABLE(RawStable_A, raw_valid_o, raw_ready_i, raw_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::llp_rx_commit_t tap_llp_rx /*verilator public_flat_rd*/;
  // The record that releases a held QP is reported at the release: a grant may precede its transfer
  // to mpa.
  assign tap_llp_rx = {hold_take || (taken && !released_q), front.connection, to,
                       to == ToFpdu ? 16'(qpn) : 16'd0};
endmodule
