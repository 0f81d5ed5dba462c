// rdmap_local: executes the requests of the send queue to our own table (tpt). It hands local
// invalidations, fast registrations and binds to tpt. When tpt has done a request, rdmap_local
// reports it to qp. If tpt refused the request, rdmap_local reports a failure to rdmap_core.
//
//   rdmap_tx --> sq_local --> tpt
//   qp (res_done)          <--+-- sq_local_done <-- tpt
//   rdmap_core (resp_fail) <--+
//
// Requests of one QP may overtake each other in tpt: a registration reads its list, an invalidation
// waits for accesses in flight. So this leaf counts per QP the requests that came and those that
// ended. rdmap_ack polls it (ask_i) until the QP has none.
//
// Latency: 2 cycles to tpt, 1 back, 1 from ask_i to idle_o.
// Throughput: 1 per cycle; tpt takes an invalidation every 9 cycles.
// Waits for tpt, for qp and for rdmap_core.
// Siblings: rdmap_tx, rdmap_ack.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_local (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  // from rdmap_tx
  input  logic local_valid_i,
  output logic local_ready_o,
  input  iwarp_pkg::sq_local_t local_i,
  // to and from tpt
  output logic sq_local_valid_o,
  input  logic sq_local_ready_i,
  output iwarp_pkg::sq_local_t sq_local_o,
  input  logic sq_local_done_valid_i,
  output logic sq_local_done_ready_o,
  input  iwarp_pkg::sq_local_done_t sq_local_done_i,
  // to qp
  output logic done_valid_o,
  input  logic done_ready_i,
  output iwarp_pkg::res_done_t done_o,
  // to rdmap_core
  output logic fail_valid_o,
  input  logic fail_ready_i,
  output iwarp_pkg::tx_fault_t fail_o,
  // from and to rdmap_ack, a poll: idle_o: all requests of QP ask_qpn_i have ended
  input  logic ask_i,
  input  logic [15:0] ask_qpn_i,
  output logic idle_o
);
  logic back_valid, back_ready, fails;
  iwarp_pkg::sq_local_done_t back;
  // A QP has at most one registration or bind outstanding, so these do not fill the queue.
  // Invalidations may fill it. Then the next request for tpt blocks all send queues in rdmap_tx.
  stream_fifo #(.Width(iwarp_pkg::SqLocalWidth), .Depth(rnic_pkg::NumQps)) u_out (
    .clk_i, .rst_ni, .valid_i(local_valid_i), .ready_o(local_ready_o), .data_i(local_i),
    .valid_o(sq_local_valid_o), .ready_i(sq_local_ready_i), .data_o(sq_local_o), .count_o()
  );
  stream_reg #(.Width(iwarp_pkg::SqLocalDoneWidth)) u_back (
    .clk_i, .rst_ni, .valid_i(sq_local_done_valid_i), .ready_o(sq_local_done_ready_o),
    .data_i(sq_local_done_i),
    .valid_o(back_valid), .ready_i(back_ready), .data_o(back)
  );
  assign fails        = back.result != iwarp_pkg::TptOk || back.status != iwarp_pkg::RdOk;
  assign back_ready   = fails ? fail_ready_i : done_ready_i;
  assign done_valid_o = back_valid && !fails;
  assign done_o       = {back.qpn, back.slot};
  assign fail_valid_o = back_valid && fails;
  always_comb begin
    fail_o        = '0;
    fail_o.qpn    = back.qpn;
    fail_o.source = iwarp_pkg::TxSq;
    fail_o.slot   = back.slot;
    fail_o.status = back.status;
    fail_o.result = back.result;
  end

  // --- per QP, modulo 256: requests that came (0), requests that ended (1). A QP has fewer than
  // 256 outstanding, as slots have 8 bits.
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps);
  logic             clear_busy;
  logic [QpW-1:0]   clear_addr;
  logic [1:0]       go, writes_q;             // a request comes, ends; its count is written
  logic [2*QpW-1:0] go_qpns, write_qpns_q;
  logic [15:0]      asked;                    // both counts of the polled QP
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );
  assign ready_o = !clear_busy;
  assign go      = {back_valid && back_ready, local_valid_i && local_ready_o};
  assign go_qpns = {back.qpn[QpW-1:0], local_i.qpn[QpW-1:0]};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) writes_q <= '0;
    else         writes_q <= go;
  end
  always_ff @(posedge clk_i) write_qpns_q <= go_qpns;
  for (genvar i = 0; i < 2; i++) begin : gen_count
    logic           wrote_q;
    logic [QpW-1:0] qpn, wrote_qpn_q;
    logic [7:0]     count, count_d, wrote_count_q;
    assign qpn = write_qpns_q[i*QpW +: QpW];
    ram_1r1w #(.Width(8), .Depth(rnic_pkg::NumQps)) u_count (
      .clk_i, .rst_ni, .we_i(clear_busy || writes_q[i]), .waddr_i(clear_busy ? clear_addr : qpn),
      .wdata_i(clear_busy ? 8'd0 : count_d),
      .re_i(go[i]), .raddr_i(go_qpns[i*QpW +: QpW]), .rdata_o(count)
    );
    ram_1r1w #(.Width(8), .Depth(rnic_pkg::NumQps)) u_asked (
      .clk_i, .rst_ni, .we_i(clear_busy || writes_q[i]), .waddr_i(clear_busy ? clear_addr : qpn),
      .wdata_i(clear_busy ? 8'd0 : count_d),
      .re_i(ask_i), .raddr_i(ask_qpn_i[QpW-1:0]), .rdata_o(asked[8*i +: 8])
    );
    // The read missed the write of the request one cycle before.
    assign count_d = (wrote_q && wrote_qpn_q == qpn ? wrote_count_q : count) + 8'd1;
    always_ff @(posedge clk_i) wrote_q <= rst_ni && writes_q[i];
    always_ff @(posedge clk_i) begin
      wrote_qpn_q   <= qpn;
      wrote_count_q <= count_d;
    end
  end
  // The poll's read misses a request that came one cycle before (missed_q): then idle_o stays low,
  // and rdmap_ack polls again. It may also miss requests that have just ended: then the counts
  // differ, and idle_o is only late.
  logic ask_q, missed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ask_q <= 1'b0;
    else         ask_q <= ask_i;
  end
  always_ff @(posedge clk_i)
    missed_q <= writes_q[0] && write_qpns_q[0 +: QpW] == ask_qpn_i[QpW-1:0];
  assign idle_o = ask_q && !missed_q && asked[7:0] == asked[15:8];

  logic unused_bits;
  assign unused_bits = ^ask_qpn_i;

  `RNIC_STREAM_STABLE(LocalStable_A, sq_local_valid_o, sq_local_ready_i, sq_local_o)
endmodule
