// qp_slot: counts, per QP, the send messages that ddp is done with (sq_slot_free).
//
//   sq_slot_free --> [ read count ] --> [ write count + 1 ] --> freed_* (to qp_pick), kick if due
//
// 1. qp_emit has the other half of the count, the messages issued. Both run free in 5 bits; their
//    difference is the number of messages that ddp holds (SlotIsHeld_A), at most SqSlots (up to 8).
// 2. The two cycles of an item never stall: an item is taken only when the kick that may follow has
//    room. So the decision to kick uses the same counts that qp_pick will read.
// 3. ddp acknowledges the stop of a QP after all its sq_slot_free have been taken here. So none
//    reaches the QP's next life, whose counts begin at 0.
//
// Throughput: 2 cycles per item.
// Waits only for qp_sched.
// Siblings: qp_pick, qp_emit.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_slot #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from ddp
  input  logic            sq_slot_free_valid_i,
  output logic            sq_slot_free_ready_o,
  input  iwarp_pkg::sq_slot_free_t sq_slot_free_i,
  // from qp_state: a QP is created
  input  logic            init_valid_i,
  output logic            init_ready_o,
  input  logic [QpnW-1:0] init_qpn_i,
  // from qp_emit: messages issued
  input  logic            head_we_i,
  input  logic [QpnW-1:0] head_qpn_i,
  input  logic [4:0]      head_issued_i,
  // to qp_pick
  output logic            freed_we_o,
  output logic [QpnW-1:0] freed_qpn_o,
  output logic [4:0]      freed_o,
  // to qp_sched
  output logic            kick_valid_o,
  input  logic            kick_ready_i,
  output logic [QpnW-1:0] kick_qpn_o
);
  // busy_q: the counts read for qpn_q arrive, and the new count is written
  logic            take, init, busy_q, kick_q, unused_high;
  logic [QpnW-1:0] qpn_q, kick_qpn_q;
  logic [4:0]      freed_ram, issued_ram;

  assign take = sq_slot_free_valid_i && sq_slot_free_ready_o;
  assign init = init_valid_i && init_ready_o;
  assign sq_slot_free_ready_o = !busy_q && !kick_q && !init_valid_i;
  assign init_ready_o         = !busy_q;
  assign unused_high          = ^sq_slot_free_i.qpn;

  ram_1r1w #(.Width(5), .Depth(rnic_pkg::NumQps)) u_freed (
    .clk_i, .rst_ni,
    .we_i(freed_we_o), .waddr_i(freed_qpn_o), .wdata_i(freed_o),
    .re_i(take), .raddr_i(sq_slot_free_i.qpn[QpnW-1:0]), .rdata_o(freed_ram)
  );
  ram_1r1w #(.Width(5), .Depth(rnic_pkg::NumQps)) u_issued (
    .clk_i, .rst_ni,
    .we_i(head_we_i), .waddr_i(head_qpn_i), .wdata_i(head_issued_i),
    .re_i(take), .raddr_i(sq_slot_free_i.qpn[QpnW-1:0]), .rdata_o(issued_ram)
  );

  assign freed_we_o  = init || busy_q;
  assign freed_qpn_o = init ? init_qpn_i : qpn_q;
  assign freed_o     = init ? '0 : freed_ram + 5'd1;

  assign kick_valid_o = kick_q;
  assign kick_qpn_o   = kick_qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      kick_q <= 1'b0;
    end else begin
      busy_q <= take;
      // Only a QP that had no free slot may have waited for this one.
      if (busy_q)            kick_q <= issued_ram - freed_ram >= 5'(rnic_pkg::SqSlots);
      else if (kick_ready_i) kick_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take)   qpn_q      <= sq_slot_free_i.qpn[QpnW-1:0];
    if (busy_q) kick_qpn_q <= qpn_q;
  end

  `RNIC_ASSERT(QpnInRange_A, !take || 32'(sq_slot_free_i.qpn) < rnic_pkg::NumQps)
  `RNIC_ASSERT(SlotIsHeld_A, !busy_q ||
                             (issued_ram != freed_ram &&
                              5'(issued_ram - freed_ram) <= 5'(rnic_pkg::SqSlots)))
  `RNIC_STREAM_STABLE(KickStable_A, kick_valid_o, kick_ready_i, kick_qpn_o)
endmodule
