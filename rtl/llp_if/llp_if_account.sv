// llp_if_account: holds the credit of each connection. All sums are modulo 2^32, as the limit that
// the LLP sends.
//
//   llp_credit --> [ limit ]                       available = limit - granted + refunded
//   llp_if_grant (look, take) --> [ granted, FPDUs granted, size set aside for each ]
//   FPDU sent --> [ refunded, FPDUs refunded ]     credit that it did not need is refunded
//   either change --> [ waiting ]? --> wake: the QP to check again
//   (limit or refund)
//
// A lookup (look_i) of llp_if_grant reads a connection's credit; take_i grants bytes of it.
// Invariants:
//  1. Each table has one writer per phase. phase_i 0 and 1 share the read ports. llp_if_grant reads
//     in phase 1, and gets its response and writes in the next phase 0. Refunds read in phase 0 and
//     write in phase 1.
//  2. A change (a limit or a refund) reads `waiting` two or more cycles after its own write. A
//     lookup that missed the change has written `waiting` before that. So no waiting QP is lost
//     (NoneLost_A).
// Latency: 5 cycles to wake. Throughput: one refund and one limit every 2 cycles.
// Back-pressure: waits until llp_if_grant accepts the wakes.
// Siblings: llp_if_grant, llp_if_tx. Bench: tb/llp_if/llp_if_account_test.cpp
`include "rnic_assert.svh"

module llp_if_account #(
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps),
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  output logic                   ready_o,
  input  logic                   phase_i,         // toggles each cycle (invariant 1)
  // from the LLP
  input  logic                   credit_valid_i,
  output logic                   credit_ready_o,
  input  iwarp_pkg::llp_credit_t credit_i,
  // from llp_if_tx: an FPDU of this length was sent
  input  logic                   refund_valid_i,
  output logic                   refund_ready_o,
  input  logic [ConnW-1:0]       refund_conn_i,
  input  logic [16:0]            refund_length_i,
  input  logic                   refund_term_i,   // a Terminate: TermCredit was set aside for it
  // from llp_if_grant: phase 1
  input  logic                   look_i,
  input  logic [ConnW-1:0]       look_conn_i,
  // to llp_if_grant: the next phase 0
  input  logic [17:0]            need_i,      // fits_need_o: so many bytes are available
  output logic                   fits_need_o,
  output logic                   fits_size_o, // size_o and TermCredit are available
  // Size set aside per FPDU. It grows only while no FPDU is set aside (llp_if_grant), so that all
  // outstanding ones have this size, and a refund is size - length.
  output logic [16:0]            size_o,
  output logic                   idle_o,      // no FPDU is set aside
  // from llp_if_grant: in that phase 0
  input  logic                   take_i,      // grants take_bytes_i of the credit looked up
  input  logic [31:0]            take_bytes_i,
  input  logic                   take_fpdu_i, // the bytes are for an FPDU, else streaming bytes
  input  logic [16:0]            take_size_i, // size_o from now on
  input  logic                   clear_i,     // the connection is released
  input  logic                   wait_we_i,   // writes `waiting` of the connection looked up
  input  logic                   wait_i,      // wait_qpn_i waits for its credit
  input  logic [QpW-1:0]         wait_qpn_i,
  // to llp_if_grant: check this QP again
  output logic                   wake_valid_o,
  input  logic                   wake_ready_i,
  output logic [QpW-1:0]         wake_qpn_o
);
  logic             clear_busy, room;
  logic [ConnW-1:0] clear_addr, look_conn_q;
  logic [4:0]       wakes;

  assign ready_o = !clear_busy;
  // At most one change a cycle is accepted, and it reaches u_wakes' count after 5 cycles: 8 counted
  // and 5 in flight fit into 16 entries.
  assign room    = wakes <= 5'd8;
  ram_clear #(.Depth(rnic_pkg::NumConns)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  always_ff @(posedge clk_i) begin
    if (look_i) look_conn_q <= look_conn_i;
  end

  // Limits: written in phase 1, cleared in phase 0.
  logic        limit_we, unknown;
  logic [31:0] limit;

  assign unknown        = 32'(credit_i.connection) >= rnic_pkg::NumConns;
  assign credit_ready_o = !clear_busy && phase_i && room;
  assign limit_we       = credit_valid_i && credit_ready_o && !unknown;

  ram_1r1w #(.Width(32), .Depth(rnic_pkg::NumConns)) u_limit (
    .clk_i, .rst_ni,
    .we_i(clear_busy || limit_we || clear_i),
    .waddr_i(clear_busy ? clear_addr : limit_we ? credit_i.connection[ConnW-1:0] : look_conn_q),
    .wdata_i(limit_we && !clear_busy ? credit_i.limit : 32'd0),
    .re_i(look_i), .raddr_i(look_conn_i), .rdata_o(limit)
  );

  // Granted: written only by llp_if_grant, for the connection of its last lookup. given: FPDUs
  // granted; gone (below): FPDUs refunded; both modulo 2^12. Word: {size 17, given 12, granted 32}.
  logic [31:0] granted;
  logic [11:0] given;
  logic [16:0] size;

  ram_1r1w #(.Width(61), .Depth(rnic_pkg::NumConns)) u_granted (
    .clk_i, .rst_ni,
    .we_i(clear_busy || take_i || clear_i), .waddr_i(clear_busy ? clear_addr : look_conn_q),
    .wdata_i(clear_busy || clear_i
             ? 61'd0 : {take_size_i, given + 12'(take_fpdu_i), granted + take_bytes_i}),
    .re_i(look_i), .raddr_i(look_conn_i), .rdata_o({size, given, granted})
  );

  // Refunds (back): read in phase 0, written in phase 1. Word: {gone 12, refunded 32}.
  logic             back, back_q, back_term_q;
  logic [ConnW-1:0] back_conn_q;
  logic [16:0]      back_length_q, back_size;
  logic [31:0]      refunded, back_sum;
  logic [11:0]      gone;

  assign refund_ready_o = !clear_busy && !phase_i && room;
  assign back           = refund_valid_i && refund_ready_o;
  assign back_sum       = refunded + {15'd0, back_term_q ? 17'(rnic_pkg::TermCredit) : back_size} -
                          {15'd0, back_length_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) back_q <= 1'b0;
    else         back_q <= back;
  end
  always_ff @(posedge clk_i) begin
    if (back) begin
      back_conn_q   <= refund_conn_i;
      back_length_q <= refund_length_i;
      back_term_q   <= refund_term_i;
    end
  end

  ram_1r1w #(.Width(44), .Depth(rnic_pkg::NumConns)) u_refunded (
    .clk_i, .rst_ni,
    .we_i(clear_busy || back_q || clear_i),
    .waddr_i(clear_busy ? clear_addr : back_q ? back_conn_q : look_conn_q),
    .wdata_i(back_q && !clear_busy ? {gone + 12'd1, back_sum} : 44'd0),
    .re_i(look_i || back), .raddr_i(back ? refund_conn_i : look_conn_i), .rdata_o({gone, refunded})
  );

  ram_1r1w #(.Width(17), .Depth(rnic_pkg::NumConns)) u_size (   // the same size, for refunds
    .clk_i, .rst_ni,
    .we_i(clear_busy || take_i || clear_i), .waddr_i(clear_busy ? clear_addr : look_conn_q),
    .wdata_i(clear_busy || clear_i ? 17'd0 : take_size_i),
    .re_i(back), .raddr_i(refund_conn_i), .rdata_o(back_size)
  );

  // Each sum is computed separately, for timing: one adder after carry-save adders. Only its sign
  // is used (no_need, no_size): 1 is too little credit.
  logic        no_need, no_size;
  logic [30:0] unused_need, unused_size;

  assign {no_need, unused_need} = limit - granted + refunded - {14'd0, need_i};
  assign {no_size, unused_size} = limit - granted + refunded - {15'd0, size} -
                                  {16'd0, rnic_pkg::TermCredit};
  assign fits_need_o = !no_need;
  assign fits_size_o = !no_size;
  assign size_o      = size;
  assign idle_o      = given == gone;

  // The waiting QP: read in phase 1 by refunds (2 cycles after their write), in phase 0 by limits
  // (3 cycles). *_step_q, *_conn_q: the changes on their way to that read (ask_*), and their
  // connections. asked_q: `waits` is the response.
  logic [2:0]         limit_step_q;
  logic [1:0]         back_step_q;
  logic [3*ConnW-1:0] limit_conn_q;
  logic [2*ConnW-1:0] step_conn_q;
  logic               ask_limit, ask_back, asked_q, waits;
  logic [QpW-1:0]     waits_qpn;

  assign ask_limit = limit_step_q[2];
  assign ask_back  = back_step_q[1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      limit_step_q <= '0;
      back_step_q  <= '0;
      asked_q      <= 1'b0;
    end else begin
      limit_step_q <= {limit_step_q[1:0], limit_we};
      back_step_q  <= {back_step_q[0], back_q};
      asked_q      <= ask_limit || ask_back;
    end
  end
  always_ff @(posedge clk_i) begin
    limit_conn_q <= {limit_conn_q[2*ConnW-1:0], credit_i.connection[ConnW-1:0]};
    step_conn_q  <= {step_conn_q[ConnW-1:0], back_conn_q};
  end

  ram_1r1w #(.Width(1 + QpW), .Depth(rnic_pkg::NumConns)) u_waiting (
    .clk_i, .rst_ni,
    .we_i(clear_busy || wait_we_i), .waddr_i(clear_busy ? clear_addr : look_conn_q),
    .wdata_i({wait_i && !clear_busy, wait_qpn_i}),
    .re_i(ask_limit || ask_back),
    .raddr_i(ask_limit ? limit_conn_q[3*ConnW-1:2*ConnW] : step_conn_q[2*ConnW-1:ConnW]),
    .rdata_o({waits, waits_qpn})
  );

  logic wakes_ready;

  stream_fifo #(.Width(QpW), .Depth(16), .Reserved(1'b1)) u_wakes (
    .clk_i, .rst_ni,
    .valid_i(asked_q && waits), .ready_o(wakes_ready), .data_i(waits_qpn),
    .valid_o(wake_valid_o), .ready_i(wake_ready_i), .data_o(wake_qpn_o),
    .count_o(wakes)
  );

  `RNIC_ASSERT(NoneLost_A, !(asked_q && waits) || wakes_ready)
  `RNIC_ASSERT(OneAsks_A, !(ask_limit && ask_back))
  `RNIC_ASSERT(OneReads_A, !(look_i && back))
  `RNIC_ASSERT(OneWrites_A, !(back_q && clear_i) && !(limit_we && clear_i))
  `RNIC_STREAM_STABLE(OutStable_A, wake_valid_o, wake_ready_i, wake_qpn_o)
endmodule
