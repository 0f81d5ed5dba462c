// ddp_qp: executes start, stop and sync of a QP, one at a time, and acknowledges when ddp has
// drained.
//
//   start:  drain everything received and sent before --> reset the QP's table entries --> ack
//   sync:   drain everything received and sent --> ack
//   stop:   process the grants and messages that have entered --> tables: not running
//           --> drain everything received --> rx_deliver reports the SRQ's WQE that the QP's open
//           message has taken --> drain everything sent --> ack
//
// 1. A stop keeps the failure flags of rx_deliver and tx_header, because they still apply to
//    segments inside. Start clears them.
// 2. A received segment is drained when qp has taken its rx_done. So qp counts it before the
//    acknowledgement, whatever the depth of the queue between. Reports that ddp_rx_hold holds are
//    counted on a path of their own, since other QPs pass them.
// 3. A sent segment is drained when qp or rdmap has taken its slot_free, and rdmap has taken its
//    tx_fault and resp_fetched. So none of them reaches the QP's next life.
// 4. Both directions are in order, so no counter per QP is needed. A path's counter samples the
//    items inside at its mark, then counts down as they leave.
//
// Waits for earlier received and sent segments of all QPs, and for qp and rdmap to take the reports
// about them. Each of these leaves without waiting for ddp_qp.
// Siblings: ddp_rx, ddp_tx.
// Bench: tb/ddp/ddp_stop_test.cpp
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
  output logic         ctl_start_o,      // the order is a start, else a stop; leaves get no sync
  output logic [15:0]  ctl_qpn_o,
  output logic [15:0]  ctl_pd_o,
  output logic         ctl_persist_o,
  input  logic         ctl_done_i,       // tx_sched has written the order to its table
  // from the leaves: one item per cycle entered or left
  input  logic         rx_in_i,          // mpa's header of a received segment is accepted
  input  logic         rx_out_i,         // rx_deliver has finished the segment
  input  logic         held_in_i,        // a report waits for an invalidation
  input  logic         held_out_i,
  input  logic         report_in_i,      // a segment was reported
  input  logic         report_out_i,     // qp has taken the report
  input  logic         ask_in_i,         // a message has entered
  input  logic         ask_out_i,        // the message is in the table
  input  logic         grant_in_i,       // a tx_grant has entered
  input  logic         grant_out_i,      // tx_sched has taken it
  input  logic         seg_in_i,         // a segment is scheduled
  input  logic         seg_out_i,        // it is moved or dropped
  input  logic         sent_in_i,        // it is moved, and will be sent
  input  logic         sent_out_i,       // mpa has taken it
  // told_in_i: a bit each for sq_slot_free, resp_slot_free, tx_fault, resp_slot_free of a Flush,
  // resp_fetched: one is enqueued
  input  logic [4:0]   told_in_i,
  input  logic [4:0]   told_out_i        // taken by qp, rdmap
);
  typedef enum logic [3:0] {
    StIdle,
    StAsked,    // stop: messages and grants that have entered
    StTables,   // the tables of the leaves
    StWritten,  // tx_sched writes its table after its pipeline
    StDrain,    // segments that have entered
    StOwed,     // stop: rx_deliver reports what its open message has taken from an SRQ
    StCounted,  // one cycle, in which the paths Held and Report count that report
    StHeld,     // reports that wait for invalidations
    StLeave,    // segments moved but still in header_put; reports that qp or rdmap has not taken
    StAck
  } st_e;

  st_e         st_d, st_q;
  iwarp_pkg::qp_op_e op_q;
  logic        settled;     // every leaf has accepted the order, or accepts it now
  logic [15:0] qpn_q, pd_q;
  logic        persist_q;
  localparam logic [4:0] Runs = 5'b10001;   // the leaves that store `running`: rx_header, tx_sched
  logic [4:0]  left_q;
  logic        written_q;   // the order is still in tx_sched's pipeline
  // Each path counts the items inside (held_q), and those of them that were inside at its mark
  // (rest_q). After the mark rest_q only counts down, so a path that is done stays done while
  // others wait. 12 paths: the 7 before Told, and 5 from Told on, in the order of told_in_i.
  localparam int unsigned Rx = 0, Ask = 1, Grant = 2, Seg = 3, Sent = 4, Report = 5, Held = 6,
                          Told = 7;
  logic [11:0] in, out, mark, done, none;
  assign in          = {told_in_i, held_in_i, report_in_i, sent_in_i, seg_in_i, grant_in_i,
                        ask_in_i, rx_in_i};
  assign out         = {told_out_i, held_out_i, report_out_i, sent_out_i, seg_out_i, grant_out_i,
                        ask_out_i, rx_out_i};
  // While mark[i] is high, rest_q of path i follows held_q. From the state in which mark[i] falls,
  // the path waits only for the items that were inside then.
  logic draining;
  assign draining    = st_q == StHeld || st_q == StLeave;
  assign mark[Rx]    = st_q != StDrain && !draining;
  assign mark[Ask]   = st_q == StIdle;
  assign mark[Grant] = st_q == StIdle;
  assign mark[Seg]   = st_q != StDrain && !draining;
  assign mark[Held]  = !draining;
  assign mark[Sent]  = st_q != StLeave;
  assign mark[Report] = st_q != StLeave;
  assign mark[Told +: 5] = {5{st_q != StLeave}};
  for (genvar i = 0; i < 12; i++) begin : gen_way
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
      StIdle:    if (qp_ctl_ddp_valid_i)
                   st_d = qp_ctl_ddp_i.op == iwarp_pkg::QpoStop ? StAsked : StDrain;
      StAsked:   if (done[Ask] && done[Grant]) st_d = StTables;
      StTables:  if (settled) st_d = StWritten;
      StWritten: if (!written_q) st_d = op_q == iwarp_pkg::QpoStop ? StDrain : StAck;
      StDrain:   if (done[Rx] && done[Seg]) st_d = op_q == iwarp_pkg::QpoStop ? StOwed : StHeld;
      StOwed:    if (ctl_ready_i[1]) st_d = StCounted;
      StCounted: st_d = StHeld;
      StHeld:    if (done[Held]) st_d = StLeave;
      StLeave:   if (done[Sent] && done[Report] && done[Told +: 5] == '1)
                   st_d = op_q == iwarp_pkg::QpoStart ? StTables : StAck;
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
  // In StOwed, only rx_deliver: bit 1.
  assign ctl_valid_o        = st_q == StTables ? left_q : st_q == StOwed ? 5'b00010 : '0;
  assign ctl_start_o        = op_q == iwarp_pkg::QpoStart;
  assign ctl_qpn_o          = qpn_q;
  assign ctl_pd_o           = pd_q;
  assign ctl_persist_o      = persist_q;

  logic unused_bits;
  assign unused_bits = ^qp_ctl_ddp_i.params;

  `RNIC_ASSERT(KnownOp_A, !(qp_ctl_ddp_valid_i && qp_ctl_ddp_ready_o) ||
                          qp_ctl_ddp_i.op == iwarp_pkg::QpoStart ||
                          qp_ctl_ddp_i.op == iwarp_pkg::QpoStop ||
                          qp_ctl_ddp_i.op == iwarp_pkg::QpoSync)
  `RNIC_ASSERT(Counts_A, (out & none) == '0)
  `RNIC_STREAM_STABLE(AckStable_A, qp_ack_ddp_valid_o, qp_ack_ddp_ready_i, qp_ack_ddp_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::ddp_ctl_commit_t tap_ddp_ctl /*verilator public_flat_rd*/;
  assign tap_ddp_ctl = {ctl_done_i ||
                        (op_q == iwarp_pkg::QpoSync && st_q == StLeave && st_d == StAck),
                        op_q, qpn_q};
  iwarp_pkg::ddp_ack_commit_t tap_ddp_ack /*verilator public_flat_rd*/;
  assign tap_ddp_ack = {qp_ack_ddp_valid_o && qp_ack_ddp_ready_i, op_q, qpn_q};
endmodule
