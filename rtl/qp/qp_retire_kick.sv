// qp_retire_kick: kicks a QP that may have waited for the WQE or request that a pass of qp_retire
// ended.
//
//   ended (stage 3) --> [ read tail, producer index ] --> full or empty? --> [ FIFO ] --> kick
//
// 1. A kick is due when a request has ended (Read, Flush, atomic, Atomic Write; local invalidation,
//    registration, bind), when the window was full, or when the QP is closing (watch) and its send
//    queue is now empty. No other retirement makes a QP eligible.
// 2. No kick is lost. The tables are read in the cycle in which qp_retire writes ret_* (retired
//    index and window head, of which qp_pick has copies). If qp_pick still reads the old ret_*, its
//    tail, producer index and watch are no newer than those read here. So this leaf sees the same
//    full window or closing QP, and kicks. (qp_state kicks after it has written watch.)
// 3. qp_retire begins a pass only if count_o has room for its kick (KickHasRoom_A).
//
// Latency: 2 cycles.
// Throughput: 1 kick per cycle.
// Waits for qp_sched. Part of qp_retire.
// Bench: tb/qp/qp_retire_test.cpp
`include "rnic_assert.svh"

module qp_retire_kick #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps),
  localparam int unsigned WinW = $clog2(rnic_pkg::SqWindow) + 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from qp_retire: a pass that has ended a WQE or a request
  input  logic            ended_i,
  input  logic [QpnW-1:0] qpn_i,
  input  logic            is_read_i,    // a request has ended: a WQE may wait for it (fence, ORD)
  input  logic [WinW-1:0] old_head_i,   // head of the window before the pass
  input  logic [15:0]     sq_i,         // retired index after the pass
  output logic [2:0]      count_o,      // kicks in the FIFO
  // from qp_emit (tail of the window) and qp_doorbell (producer index)
  input  logic            head_we_i,
  input  logic [QpnW-1:0] head_qpn_i,
  input  logic [WinW-1:0] head_tail_i,
  input  logic            prod_we_i,
  input  logic [QpnW-1:0] prod_qpn_i,
  input  logic [15:0]     prod_index_i,
  // from qp_state
  input  logic            st_we_i,
  input  logic [QpnW-1:0] st_qpn_i,
  input  logic            st_watch_i,
  // to qp_sched
  output logic            kick_valid_o,
  input  logic            kick_ready_i,
  output logic [QpnW-1:0] kick_qpn_o
);
  logic            valid_q, is_read_q, due, room, watch;
  logic [QpnW-1:0] qpn_q;
  logic [WinW-1:0] old_head_q, tail;
  logic [15:0]     sq_q, prod;

  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod (
    .clk_i, .rst_ni, .we_i(prod_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(ended_i), .raddr_i(qpn_i), .rdata_o(prod)
  );
  ram_1r1w #(.Width(WinW), .Depth(rnic_pkg::NumQps)) u_tail (
    .clk_i, .rst_ni, .we_i(head_we_i), .waddr_i(head_qpn_i), .wdata_i(head_tail_i),
    .re_i(ended_i), .raddr_i(qpn_i), .rdata_o(tail)
  );
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumQps)) u_watch (
    .clk_i, .rst_ni, .we_i(st_we_i), .waddr_i(st_qpn_i), .wdata_i(st_watch_i),
    .re_i(ended_i), .raddr_i(qpn_i), .rdata_o(watch)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= ended_i;
  end
  always_ff @(posedge clk_i) begin
    {qpn_q, is_read_q, old_head_q, sq_q} <= {qpn_i, is_read_i, old_head_i, sq_i};
  end

  assign due = valid_q && (is_read_q || (watch && sq_q == prod) ||
                           tail - old_head_q == WinW'(rnic_pkg::SqWindow));

  stream_fifo #(.Width(QpnW), .Depth(4), .Reserved(1'b1)) u_kicks (
    .clk_i, .rst_ni, .valid_i(due), .ready_o(room), .data_i(qpn_q),
    .valid_o(kick_valid_o), .ready_i(kick_ready_i), .data_o(kick_qpn_o), .count_o
  );

  `RNIC_ASSERT(KickHasRoom_A, !due || room)
  `RNIC_STREAM_STABLE(KickStable_A, kick_valid_o, kick_ready_i, kick_qpn_o)
endmodule
