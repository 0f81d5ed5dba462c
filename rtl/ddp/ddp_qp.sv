// ddp_qp: start, stop and sync of a QP, one after the other, acknowledged when what was inside has left.
//
//   start:  everything received, sent before leaves --> tables of the QP anew --> ack
//   sync:   everything received, sent leaves --> ack
//   stop:   grants and messages that are in are worked off --> tables: does not run --> everything received, sent leaves --> ack
//
// Both directions are in order, so nothing is counted a QP: a number is taken of what has come in, and what has gone
// out
// must reach it. Waits for received and sent segments of all QPs that came earlier; each of them leaves by itself.
`include "rnic_assert.svh"

module ddp_qp (
  input  logic         clk_i,
  input  logic         rst_ni,
  // from qp
  input  logic                    qp_ctl_ddp_valid_i,
  output logic                    qp_ctl_ddp_ready_o,
  input  iwarp_pkg::qp_ctl_ddp_t  qp_ctl_ddp_i,
  // to qp
  output logic                    qp_ack_ddp_valid_o,
  input  logic                    qp_ack_ddp_ready_i,
  output iwarp_pkg::qp_ack_ddp_t  qp_ack_ddp_o,
  // to the leaves with a table: rx_header, rx_deliver, tx_slot, tx_header, tx_sched
  output logic [4:0]   ctl_valid_o,
  input  logic [4:0]   ctl_ready_i,
  output logic         ctl_start_o,
  output logic [15:0]  ctl_qpn_o,
  output logic [15:0]  ctl_pd_o,
  input  logic         ctl_done_i,       // tx_sched has written it
  // from the leaves: one each cycle something came in or went out
  input  logic         rx_in_i,
  input  logic         rx_out_i,
  input  logic         ask_in_i,         // a message came in
  input  logic         ask_out_i,        // and is in the table
  input  logic         grant_in_i,
  input  logic         grant_out_i,
  input  logic         seg_in_i,         // scheduled
  input  logic         seg_out_i,        // moved or dropped
  input  logic         sent_in_i,        // moved
  input  logic         sent_out_i        // taken by mpa
);
  typedef enum logic [2:0] {
    StIdle,
    StAsked,    // stop: messages and grants that are in
    StTables,   // the tables of the leaves
    StWritten,  // tx_sched's is written behind its pipeline
    StDrain,    // segments that are in
    StLeave,    // those moved, but still in header_put
    StAck
  } st_e;

  st_e         st_d, st_q;
  logic        start_q, stop_q, settled, ask_done, grant_done, rx_done, seg_done, sent_done;
  logic [15:0] qpn_q, pd_q;
  logic [4:0]  left_q;
  logic        written_q;   // tx_sched's pipeline still holds the order
  logic [15:0] rx_in_q, rx_out_q, ask_in_q, ask_out_q, grant_in_q, grant_out_q;
  logic [15:0] seg_in_q, seg_out_q, sent_in_q, sent_out_q;
  logic [15:0] rx_at_q, ask_at_q, grant_at_q, seg_at_q, sent_at_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rx_in_q     <= '0;
      rx_out_q    <= '0;
      ask_in_q    <= '0;
      ask_out_q   <= '0;
      grant_in_q  <= '0;
      grant_out_q <= '0;
      seg_in_q    <= '0;
      seg_out_q   <= '0;
      sent_in_q   <= '0;
      sent_out_q  <= '0;
    end else begin
      rx_in_q     <= rx_in_q + 16'(rx_in_i);
      rx_out_q    <= rx_out_q + 16'(rx_out_i);
      ask_in_q    <= ask_in_q + 16'(ask_in_i);
      ask_out_q   <= ask_out_q + 16'(ask_out_i);
      grant_in_q  <= grant_in_q + 16'(grant_in_i);
      grant_out_q <= grant_out_q + 16'(grant_out_i);
      seg_in_q    <= seg_in_q + 16'(seg_in_i);
      seg_out_q   <= seg_out_q + 16'(seg_out_i);
      sent_in_q   <= sent_in_q + 16'(sent_in_i);
      sent_out_q  <= sent_out_q + 16'(sent_out_i);
    end
  end

  // Reached, modulo 2^16: far fewer than 2^15 are inside.
  logic [15:0] rx_gap, ask_gap, grant_gap, seg_gap, sent_gap;
  assign rx_gap     = rx_out_q - rx_at_q;
  assign ask_gap    = ask_out_q - ask_at_q;
  assign grant_gap  = grant_out_q - grant_at_q;
  assign seg_gap    = seg_out_q - seg_at_q;
  assign sent_gap   = sent_out_q - sent_at_q;
  assign rx_done    = !rx_gap[15];
  assign ask_done   = !ask_gap[15];
  assign grant_done = !grant_gap[15];
  assign seg_done   = !seg_gap[15];
  assign sent_done  = !sent_gap[15];

  always_ff @(posedge clk_i) begin
    if (st_q == StIdle) begin
      start_q    <= qp_ctl_ddp_i.op == iwarp_pkg::QpoStart;
      stop_q     <= qp_ctl_ddp_i.op == iwarp_pkg::QpoStop;
      qpn_q      <= qp_ctl_ddp_i.qpn;
      pd_q       <= qp_ctl_ddp_i.params.pd;
      ask_at_q   <= ask_in_q;
      grant_at_q <= grant_in_q;
    end
    if (st_q != StDrain && st_q != StLeave) begin
      rx_at_q  <= rx_in_q;
      seg_at_q <= seg_in_q;
    end
    if (st_q != StLeave) sent_at_q <= sent_in_q;
    if (st_q != StTables) left_q <= '1;
    else                  left_q <= left_q & ~ctl_ready_i;
  end

  assign settled = (left_q & ~ctl_ready_i) == '0;

  always_comb begin
    st_d = st_q;
    case (st_q)
      StIdle:    if (qp_ctl_ddp_valid_i) st_d = qp_ctl_ddp_i.op == iwarp_pkg::QpoStop ? StAsked : StDrain;
      StAsked:   if (ask_done && grant_done) st_d = StTables;
      StTables:  if (settled) st_d = StWritten;
      StWritten: if (!written_q) st_d = stop_q ? StDrain : StAck;
      StDrain:   if (rx_done && seg_done) st_d = StLeave;
      StLeave:   if (sent_done) st_d = start_q ? StTables : StAck;
      default:   if (qp_ack_ddp_ready_i) st_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) written_q <= 1'b0;
    else         written_q <= (ctl_valid_o[4] && ctl_ready_i[4]) || (written_q && !ctl_done_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) st_q <= StIdle;
    else         st_q <= st_d;
  end

  assign qp_ctl_ddp_ready_o = st_q == StIdle;
  assign qp_ack_ddp_valid_o = st_q == StAck;
  assign qp_ack_ddp_o       = qpn_q;
  assign ctl_valid_o        = st_q == StTables ? left_q : '0;
  assign ctl_start_o        = start_q;
  assign ctl_qpn_o          = qpn_q;
  assign ctl_pd_o           = pd_q;

  logic unused_bits;
  assign unused_bits = ^{qp_ctl_ddp_i.params, rx_gap, ask_gap, grant_gap, seg_gap, sent_gap};

  `RNIC_ASSERT(KnownOp_A, !(qp_ctl_ddp_valid_i && qp_ctl_ddp_ready_o) || qp_ctl_ddp_i.op == iwarp_pkg::QpoStart ||
                              qp_ctl_ddp_i.op == iwarp_pkg::QpoStop || qp_ctl_ddp_i.op == iwarp_pkg::QpoSync)
  `RNIC_STREAM_STABLE(AckStable_A, qp_ack_ddp_valid_o, qp_ack_ddp_ready_i, qp_ack_ddp_o)
endmodule
