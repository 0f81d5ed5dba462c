// qp_cq_walk: finds the QPs of CQs that have overrun.
//
//   cq_fault --> [ failed, a bit per CQ ]----------v
//                walk: [ read CQs of QP n ] --> [ read failed ] --> [ either? ] --> walk (qp_event)
//   set (qp_state): a QP is created or destroyed
//
// 1. A cq_fault is taken at once, even during a walk. It marks its CQ and extends the walk to
//    NumQps further QPs. So any number of CQs share one walk, and cq never waits.
// 2. After a walk the marks are cleared, 1 per cycle.
// 3. A QP may be found twice. The second event changes nothing: qp_decide ignores it in states
//    terminate and error. Before these, qp_decide orders a second qp_fault, and rdmap reports only
//    the first error of a QP.
// 4. A QP or CQ of the next life is never found: qp_state creates none before idle_o.
//
// Latency: 2 cycles from the read of a QP's row to walk.
// Throughput: 1 QP per cycle.
// Waits only for qp_event's arbiter.
// Siblings: qp_event, qp_state.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_cq_walk #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps),
  localparam int unsigned CqnW = $clog2(rnic_pkg::NumCqs)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the clearing walker
  input  logic            clear_busy_i,
  input  logic [QpnW-1:0] clear_addr_i,
  // from cq
  input  logic            cq_fault_valid_i,
  output logic            cq_fault_ready_o,
  input  iwarp_pkg::cq_fault_t cq_fault_i,
  // from qp_state: a QP is created with these CQs (exists 1), or destroyed
  input  logic            set_valid_i,
  input  logic [QpnW-1:0] set_qpn_i,
  input  logic            set_exists_i,
  input  logic [15:0]     set_send_cq_i,
  input  logic [15:0]     set_recv_cq_i,
  // to qp_event
  output logic            walk_valid_o,
  input  logic            walk_ready_i,
  output logic [QpnW-1:0] walk_qpn_o,
  // to qp_state: every overrun of a CQ has been walked
  output logic            idle_o
);
  // left_q: QPs still to be walked; at_q: the next one. s1_, s2_: a QP one and two stages later.
  // dirty_q: marks may be set.
  logic            fault, step, walking, clearing, clear_last;
  logic            cleared_q, dirty_q, s1_valid_q, s2_valid_q, s2_exists_q;
  logic            exists, send_failed, recv_failed;
  logic [QpnW:0]   left_q;
  logic [QpnW-1:0] at_q, s1_qpn_q, s2_qpn_q;
  logic [CqnW-1:0] clear_q, send_cq, recv_cq;

  // cleared_q: after reset the marks are cleared once before the first fault is taken.
  assign cq_fault_ready_o = cleared_q && !clear_busy_i;
  assign fault      = cq_fault_valid_i && cq_fault_ready_o;
  assign walking    = left_q != '0 || s1_valid_q || s2_valid_q;
  assign clearing   = dirty_q && !walking && !fault;
  assign clear_last = clearing && 32'(clear_q) == rnic_pkg::NumCqs - 1;
  assign step       = !walk_valid_o || walk_ready_i;
  assign idle_o     = !cq_fault_valid_i && !walking && !dirty_q;

  ram_1r1w #(.Width(1 + 2 * CqnW), .Depth(rnic_pkg::NumQps)) u_cqs (
    .clk_i, .rst_ni, .we_i(clear_busy_i || set_valid_i),
    .waddr_i(clear_busy_i ? clear_addr_i : set_qpn_i),
    .wdata_i(clear_busy_i ? '0 : {set_exists_i, set_send_cq_i[CqnW-1:0], set_recv_cq_i[CqnW-1:0]}),
    .re_i(step), .raddr_i(at_q), .rdata_o({exists, send_cq, recv_cq})
  );

  // The marks of failed CQs, in two copies, because the two CQs of a QP are looked up in one cycle.
  // A read in the cycle in which a mark is written misses the mark; the walk visits that QP again.
  logic            mark_we;
  logic [CqnW-1:0] mark_addr;
  assign mark_we   = fault || clearing;
  assign mark_addr = fault ? cq_fault_i.cqn[CqnW-1:0] : clear_q;
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumCqs)) u_send (
    .clk_i, .rst_ni, .we_i(mark_we), .waddr_i(mark_addr), .wdata_i(fault),
    .re_i(step && s1_valid_q && exists), .raddr_i(send_cq), .rdata_o(send_failed)
  );
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumCqs)) u_recv (
    .clk_i, .rst_ni, .we_i(mark_we), .waddr_i(mark_addr), .wdata_i(fault),
    .re_i(step && s1_valid_q && exists), .raddr_i(recv_cq), .rdata_o(recv_failed)
  );
  assign walk_valid_o = s2_valid_q && s2_exists_q && (send_failed || recv_failed);
  assign walk_qpn_o   = s2_qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cleared_q  <= 1'b0;
      dirty_q    <= 1'b1;
      left_q     <= '0;
      at_q       <= '0;
      clear_q    <= '0;
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
    end else begin
      if (fault)                      left_q <= (QpnW + 1)'(rnic_pkg::NumQps);
      else if (step && left_q != '0)  left_q <= left_q - 1'b1;
      if (step && left_q != '0) at_q <= 32'(at_q) == rnic_pkg::NumQps - 1 ? '0 : at_q + 1'b1;
      if (step) {s2_valid_q, s1_valid_q} <= {s1_valid_q, left_q != '0};
      if (fault)           dirty_q <= 1'b1;
      else if (clear_last) dirty_q <= 1'b0;
      if (fault)           clear_q <= '0;
      else if (clearing)   clear_q <= clear_last ? '0 : clear_q + 1'b1;
      if (clear_last)      cleared_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) begin
      s1_qpn_q    <= at_q;
      s2_qpn_q    <= s1_qpn_q;
      s2_exists_q <= exists;
    end
  end

  logic unused_high;
  assign unused_high = ^{cq_fault_i.cqn, set_send_cq_i, set_recv_cq_i};

  `RNIC_ASSERT(FaultInRange_A, !fault || 32'(cq_fault_i.cqn) < rnic_pkg::NumCqs)
  `RNIC_STREAM_STABLE(WalkStable_A, walk_valid_o, walk_ready_i, walk_qpn_o)
endmodule
