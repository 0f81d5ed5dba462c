// qp_cq_walk: finds the QPs of a CQ that has overrun.
//
//   cq_fault --> walk over all QPs: [ read CQs of QP n ] --> [ compare ] --> walk (qp_event), one a QP
//   set (qp_state): a QP is created or gone
//
// NumQps cycles and a few a walk; the next cq_fault is taken when it is through. It waits for nothing but qp_event's
// arbiter, so cq is never held for longer than a walk.
`include "rnic_assert.svh"

module qp_cq_walk #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
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
  // from qp_state
  input  logic            set_valid_i,
  input  logic [QpnW-1:0] set_qpn_i,
  input  logic            set_exists_i,
  input  logic [15:0]     set_send_cq_i,
  input  logic [15:0]     set_recv_cq_i,
  // to qp_event
  output logic            walk_valid_o,
  input  logic            walk_ready_i,
  output logic [QpnW-1:0] walk_qpn_o,
  // to qp_state: no CQ has overrun whose QPs are not found yet
  output logic            idle_o
);
  logic            busy_q, s_valid_q, step, match;
  logic [15:0]     cqn_q, send_cq, recv_cq;
  logic [QpnW-1:0] at_q, s_qpn_q;
  logic            exists;

  assign cq_fault_ready_o = !busy_q && !s_valid_q && !clear_busy_i;
  assign step             = busy_q && (!walk_valid_o || walk_ready_i);

  ram_1r1w #(.Width(33), .Depth(rnic_pkg::NumQps)) u_cqs (
    .clk_i, .rst_ni, .we_i(clear_busy_i || set_valid_i), .waddr_i(clear_busy_i ? clear_addr_i : set_qpn_i),
    .wdata_i(clear_busy_i ? '0 : {set_exists_i, set_send_cq_i, set_recv_cq_i}),
    .re_i(step), .raddr_i(at_q), .rdata_o({exists, send_cq, recv_cq})
  );
  assign match        = exists && (send_cq == cqn_q || recv_cq == cqn_q);
  assign walk_valid_o = s_valid_q && match;
  assign walk_qpn_o   = s_qpn_q;
  assign idle_o       = !cq_fault_valid_i && !busy_q && !s_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      s_valid_q <= 1'b0;
    end else begin
      if (cq_fault_valid_i && cq_fault_ready_o) busy_q <= 1'b1;
      else if (step && 32'(at_q) == rnic_pkg::NumQps - 1) busy_q <= 1'b0;
      if (step)                                  s_valid_q <= 1'b1;
      else if (!walk_valid_o || walk_ready_i)    s_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (cq_fault_valid_i && cq_fault_ready_o) begin
      cqn_q <= cq_fault_i.cqn;
      at_q  <= '0;
    end else if (step) begin
      at_q    <= at_q + 1'b1;
      s_qpn_q <= at_q;
    end
  end

  `RNIC_STREAM_STABLE(WalkStable_A, walk_valid_o, walk_ready_i, walk_qpn_o)
endmodule
