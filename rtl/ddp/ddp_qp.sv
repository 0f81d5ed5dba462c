// ddp_qp: start, stop and sync of a QP, one after the other, acknowledged when what was inside has left.
//
//   start:  everything received, sent before leaves --> tables of the QP anew --> ack
//   sync:   everything received, sent leaves --> ack
//   stop:   grants and messages that are in are worked off --> tables: does not run --> everything received, sent leaves --> ack
//
// A stop leaves alone what rx_deliver and tx_header know of the QP's failures: it holds for what is still inside; start forgets it.
// A segment received has left when qp has taken its rx_done: so qp counts it before the
// acknowledgement, however deep the queue in between is. A segment sent has left when qp, or rdmap, has taken its
// slot_free, and rdmap its tx_fault, its resp_fetched: none of them comes to the QP's next life.
// Both directions are in order, so nothing is counted a QP: what is inside is counted down as it leaves. Waits for received and sent
// segments of all QPs that came earlier, and for qp and rdmap to take what is told of them; each leaves by itself.
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
  output logic         ctl_persist_o,
  input  logic         ctl_done_i,       // tx_sched has written it
  // from the leaves: one each cycle something came in or went out
  input  logic         rx_in_i,
  input  logic         rx_out_i,
  input  logic         report_in_i,      // it was reported
  input  logic         report_out_i,     // and qp has taken the report
  input  logic         ask_in_i,         // a message came in
  input  logic         ask_out_i,        // and is in the table
  input  logic         grant_in_i,
  input  logic         grant_out_i,
  input  logic         seg_in_i,         // scheduled
  input  logic         seg_out_i,        // moved or dropped
  input  logic         sent_in_i,        // moved
  input  logic         sent_out_i,       // taken by mpa
  input  logic [4:0]   told_in_i,        // sq_slot_free, resp_slot_free, tx_fault, resp_slot_free of a Flush, resp_fetched
  input  logic [4:0]   told_out_i        // taken by qp, rdmap
);
  typedef enum logic [2:0] {
    StIdle,
    StAsked,    // stop: messages and grants that are in
    StTables,   // the tables of the leaves
    StWritten,  // tx_sched's is written behind its pipeline
    StDrain,    // segments that are in
    StLeave,    // those moved, but still in header_put; reports that qp or rdmap has not taken
    StAck
  } st_e;

  st_e         st_d, st_q;
  iwarp_pkg::qp_op_e op_q;
  logic        settled;
  logic [15:0] qpn_q, pd_q;
  logic        persist_q;
  localparam logic [4:0] Runs = 5'b10001;   // the leaves that know whether it runs: rx_header, tx_sched
  logic [4:0]  left_q;
  logic        written_q;   // tx_sched's pipeline still holds the order
  // Each way counts what is inside, and of that what was there at its mark and has not left. Behind the mark it only counts down, so
  // however much passes one way while another stands, what has been reached stays reached.
  localparam int unsigned Rx = 0, Ask = 1, Grant = 2, Seg = 3, Sent = 4, Report = 5, Told = 6;
  logic [10:0] in, out, mark, done, none;
  assign in          = {told_in_i, report_in_i, sent_in_i, seg_in_i, grant_in_i, ask_in_i, rx_in_i};
  assign out         = {told_out_i, report_out_i, sent_out_i, seg_out_i, grant_out_i, ask_out_i, rx_out_i};
  assign mark[Rx]    = st_q != StDrain && st_q != StLeave;
  assign mark[Ask]   = st_q == StIdle;
  assign mark[Grant] = st_q == StIdle;
  assign mark[Seg]   = st_q != StDrain && st_q != StLeave;
  assign mark[Sent]  = st_q != StLeave;
  assign mark[Report] = st_q != StLeave;
  assign mark[Told +: 5] = {5{st_q != StLeave}};
  for (genvar i = 0; i < 11; i++) begin : gen_way
    logic [15:0] held_q, rest_q;
    assign done[i] = rest_q == '0;
    assign none[i] = held_q == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        held_q <= '0;
        rest_q <= '0;
      end else begin
        held_q <= held_q + 16'(in[i]) - 16'(out[i]);
        rest_q <= (mark[i] ? held_q : rest_q) - 16'(out[i] && (mark[i] || !done[i]));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (st_q == StIdle) begin
      op_q  <= qp_ctl_ddp_i.op;
      qpn_q <= qp_ctl_ddp_i.qpn;
      pd_q  <= qp_ctl_ddp_i.params.pd;
      persist_q <= qp_ctl_ddp_i.params.persist;
    end
    if (st_q != StTables) left_q <= op_q == iwarp_pkg::QpoStop ? Runs : '1;
    else                  left_q <= left_q & ~ctl_ready_i;
  end

  assign settled = (left_q & ~ctl_ready_i) == '0;

  always_comb begin
    st_d = st_q;
    case (st_q)
      StIdle:    if (qp_ctl_ddp_valid_i) st_d = qp_ctl_ddp_i.op == iwarp_pkg::QpoStop ? StAsked : StDrain;
      StAsked:   if (done[Ask] && done[Grant]) st_d = StTables;
      StTables:  if (settled) st_d = StWritten;
      StWritten: if (!written_q) st_d = op_q == iwarp_pkg::QpoStop ? StDrain : StAck;
      StDrain:   if (done[Rx] && done[Seg]) st_d = StLeave;
      StLeave:   if (done[Sent] && done[Report] && done[Told +: 5] == '1) st_d = op_q == iwarp_pkg::QpoStart ? StTables : StAck;
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
  assign ctl_start_o        = op_q == iwarp_pkg::QpoStart;
  assign ctl_qpn_o          = qpn_q;
  assign ctl_pd_o           = pd_q;
  assign ctl_persist_o      = persist_q;

  logic unused_bits;
  assign unused_bits = ^qp_ctl_ddp_i.params;

  `RNIC_ASSERT(KnownOp_A, !(qp_ctl_ddp_valid_i && qp_ctl_ddp_ready_o) || qp_ctl_ddp_i.op == iwarp_pkg::QpoStart ||
                              qp_ctl_ddp_i.op == iwarp_pkg::QpoStop || qp_ctl_ddp_i.op == iwarp_pkg::QpoSync)
  `RNIC_ASSERT(Counts_A, (out & none) == '0)
  `RNIC_STREAM_STABLE(AckStable_A, qp_ack_ddp_valid_o, qp_ack_ddp_ready_i, qp_ack_ddp_o)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::ddp_ctl_commit_t tap_ddp_ctl /*verilator public_flat_rd*/;
  assign tap_ddp_ctl = {ctl_done_i || (op_q == iwarp_pkg::QpoSync && st_q == StLeave && st_d == StAck), op_q, qpn_q};
  iwarp_pkg::ddp_ack_commit_t tap_ddp_ack /*verilator public_flat_rd*/;
  assign tap_ddp_ack = {qp_ack_ddp_valid_o && qp_ack_ddp_ready_i, op_q, qpn_q};
endmodule
