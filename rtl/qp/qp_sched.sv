// qp_sched: a list of QPs that may have work, each at most once.
//
//   kick, finish (Sources streams) --> [ stream_arb ] --> [ read flags ] --> [ decide, write ]
//                                                                                   |
//                                                               qpn_o <-- [ list ] <+
//
// 1. A QP is active from the kick that enqueues it until the owner finishes its evaluation. A kick
//    in between sets `again`, and the finish enqueues the QP once more.
// 2. The leaf that pops a QPN owns the QP until its finish. So no two stages work on the same QP.
// 3. No kick is lost, if the sender has written the state that it kicks for before the kick.
// 4. The list has an entry for every QP, so an operation never waits (ListHasRoom_A).
//
// op_finish_i 0: kick. op_finish_i 1: the owner is done; op_requeue_i enqueues the QP again.
// Latency: 4 cycles from a kick to qpn_o, 5 with a list in block memory.
// Throughput: 1 operation per cycle; the flags just written are forwarded.
// Siblings: qp_pick (owner of the send list), qp_rq_fetch (owner of the receive list).
// Bench: tb/qp/qp_sched_test.cpp
`include "rnic_assert.svh"

module qp_sched #(
  parameter int unsigned Sources = 2,
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // from the clearing walker
  input  logic                    clear_busy_i,
  input  logic [QpnW-1:0]         clear_addr_i,
  // from every source of kicks and finishes
  input  logic [Sources-1:0]      op_valid_i,
  output logic [Sources-1:0]      op_ready_o,
  input  logic [Sources-1:0]      op_finish_i,
  input  logic [Sources-1:0]      op_requeue_i,
  input  logic [Sources*QpnW-1:0] op_qpn_i,
  // to the owner
  output logic                    qpn_valid_o,
  input  logic                    qpn_ready_i,
  output logic [QpnW-1:0]         qpn_o
);
  localparam int unsigned OpW = QpnW + 2;
  localparam int unsigned IndexW = Sources > 1 ? $clog2(Sources) : 1;

  logic [Sources*OpW-1:0] arb_in;
  logic [Sources-1:0]     arb_valid, arb_ready;
  logic                   op_valid;
  logic [OpW-1:0]         op;
  logic [IndexW-1:0]      unused_index;
  logic [QpnW-1:0]        op_qpn;

  always_comb begin
    for (int unsigned i = 0; i < Sources; i++) begin
      arb_in[i*OpW +: OpW] = {op_finish_i[i], op_requeue_i[i], op_qpn_i[i*QpnW +: QpnW]};
    end
  end

  assign arb_valid  = clear_busy_i ? '0 : op_valid_i;
  assign op_ready_o = clear_busy_i ? '0 : arb_ready;

  stream_arb #(.Width(OpW), .N(Sources)) u_arb (
    .clk_i, .rst_ni,
    .valid_i(arb_valid), .ready_o(arb_ready), .data_i(arb_in),
    .valid_o(op_valid), .ready_i(1'b1), .data_o(op), .index_o(unused_index)
  );
  assign op_qpn = op[QpnW-1:0];

  // The operation one stage later, with the flags of its QP.
  logic            s_valid_q, s_finish_q, s_requeue_q, hit_q;
  logic [QpnW-1:0] s_qpn_q;
  logic [1:0]      flags_ram, flags, flags_d, last_flags_q;   // {again, active}
  logic            list_push, list_ready;

  ram_1r1w #(.Width(2), .Depth(rnic_pkg::NumQps)) u_flags (
    .clk_i, .rst_ni,
    .we_i(clear_busy_i || s_valid_q), .waddr_i(clear_busy_i ? clear_addr_i : s_qpn_q),
    .wdata_i(clear_busy_i ? 2'b00 : flags_d),
    .re_i(op_valid), .raddr_i(op_qpn), .rdata_o(flags_ram)
  );
  assign flags = hit_q ? last_flags_q : flags_ram;

  always_comb begin
    flags_d   = flags;
    list_push = 1'b0;
    if (!s_finish_q) begin
      if (flags[0]) begin
        flags_d = 2'b11;
      end else begin
        flags_d   = 2'b01;
        list_push = s_valid_q;
      end
    end else if (s_requeue_q || flags[1]) begin
      flags_d   = 2'b01;
      list_push = s_valid_q;
    end else begin
      flags_d = 2'b00;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s_valid_q <= 1'b0;
    end else begin
      s_valid_q <= op_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    {s_finish_q, s_requeue_q, s_qpn_q} <= op;
    hit_q        <= s_valid_q && s_qpn_q == op_qpn;
    last_flags_q <= flags_d;
  end

  localparam int unsigned CountW = $clog2(rnic_pkg::NumQps + 1);
  logic [CountW-1:0] unused_count;
  stream_fifo #(.Width(QpnW), .Depth(rnic_pkg::NumQps), .Reserved(1'b1)) u_list (
    .clk_i, .rst_ni,
    .valid_i(list_push), .ready_o(list_ready), .data_i(s_qpn_q),
    .valid_o(qpn_valid_o), .ready_i(qpn_ready_i), .data_o(qpn_o), .count_o(unused_count)
  );

  `RNIC_ASSERT(ListHasRoom_A, !list_push || list_ready)
  `RNIC_ASSERT(FinishOwned_A, !(s_valid_q && s_finish_q) || flags[0])
  `RNIC_STREAM_STABLE(QpnStable_A, qpn_valid_o, qpn_ready_i, qpn_o)
endmodule
