// qp_doorbell: validates doorbells and keeps the producer indices.
//
//   qp_doorbell --> [ take: read tables ] --> [ judge ] --> [ act ]--> prod_* (all copies), kick,
//   ret_* (from qp_retire) --> copy ----^                              kick_rq, push
//
// A doorbell is valid when the QP exists and has that queue itself, the page is the QP's page, and
// the index is neither before the producer index nor more than the ring's size ahead of the retired
// index (of an SRQ: of the index of its next take). Otherwise bad_doorbell_o pulses and the
// doorbell is discarded.
// Throughput: 3 cycles per doorbell, 1 more for a push of two units.
// Waits for the arbiters of the kicks and for the prefetch buffer's write port, all a few cycles.
// It never waits for memory, the host or another unit.
// Siblings: qp_sched, qp_sq_fetch, qp_retire.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_doorbell #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the clearing walker
  input  logic            clear_busy_i,
  input  logic [QpnW-1:0] clear_addr_i,
  // from host_if
  input  logic            qp_doorbell_valid_i,
  output logic            qp_doorbell_ready_o,
  input  iwarp_pkg::qp_doorbell_t qp_doorbell_i,
  output logic            bad_doorbell_o,
  // from qp_state: a QP is created (exists 1) or closed for doorbells (exists 0)
  input  logic            init_valid_i,
  output logic            init_ready_o,
  input  logic [QpnW-1:0] init_qpn_i,
  input  logic            init_exists_i,
  input  logic [15:0]     init_page_i,
  input  logic [3:0]      init_log_sq_i,   // log2 of the ring's units
  input  logic [3:0]      init_log_rq_i,
  input  logic            init_is_srq_i,   // the number is an SRQ: it has no send queue
  input  logic            init_has_srq_i,  // the QP takes from an SRQ: it has no receive queue
  // from qp_rq_fetch: index of a receive queue's next take
  input  logic            taken_we_i,
  input  logic [QpnW-1:0] taken_row_i,
  input  logic [15:0]     taken_index_i,
  // from qp_retire: retired indices
  input  logic            ret_we_i,
  input  logic [QpnW-1:0] ret_qpn_i,
  input  logic [15:0]     ret_sq_i,
  input  logic [15:0]     ret_rq_i,
  // to all copies of the producer indices
  output logic            prod_sq_we_o,
  output logic            prod_rq_we_o,
  output logic [QpnW-1:0] prod_qpn_o,
  output logic [15:0]     prod_index_o,
  // to qp_sched of the send and of the receive queues
  output logic            kick_valid_o,
  input  logic            kick_ready_i,
  output logic            kick_rq_valid_o,
  input  logic            kick_rq_ready_i,
  output logic [QpnW-1:0] kick_qpn_o,
  // to qp_sq_fetch: a pushed WQE; qp_sq_fetch kicks for it
  output logic            push_valid_o,
  input  logic            push_ready_i,
  output logic [QpnW-1:0] push_qpn_o,
  output logic [15:0]     push_first_o,    // ring index of its first unit
  output logic            push_two_o,      // the push has two units, of 512 bits each
  output logic [1023:0]   push_data_o
);
  // {exists, page, log2 of the SQ's size, of the RQ's, is an SRQ, has an SRQ}
  localparam int unsigned CfgW = 1 + 16 + 4 + 4 + 2;

  typedef enum logic [1:0] {
    StIdle,    // no doorbell held; takes one and reads its tables, or writes those of a new QP
    StJudge,   // the tables' words arrive
    StAct      // writes the producer index; offers kicks and push until all are taken
  } state_e;

  state_e           state_d, state_q;
  iwarp_pkg::qp_doorbell_t bell_q;
  logic             take, init, good_q, good;
  logic [QpnW-1:0]  bell_qpn;
  logic [CfgW-1:0]  cfg_ram;
  logic             cfg_exists, cfg_is_srq, cfg_has_srq;
  logic [15:0]      cfg_page;
  logic [3:0]       cfg_log_sq, cfg_log_rq, log_size;
  logic [15:0]      sq_ram, rq_ram, taken_ram, prod, retired, ahead, posted;
  logic [31:0]      ret_ram;
  // ahead, posted: from the retired index to the doorbell's index, to the producer index
  logic [16:0]      size;
  logic             is_rq, is_push, first_q;
  // first_q: the first cycle of StAct; *_left_q: still to be taken
  logic             kick_left_q, kick_rq_left_q, push_left_q;

  // A QPN out of range reads entry 0; `good` rejects it.
  logic            in_range;
  logic [QpnW-1:0] bell_in_qpn;
  assign in_range    = 32'(qp_doorbell_i.qpn) < rnic_pkg::NumQps;
  assign bell_in_qpn = in_range ? qp_doorbell_i.qpn[QpnW-1:0] : '0;

  assign take = state_q == StIdle && !init_valid_i && !clear_busy_i && qp_doorbell_valid_i;
  assign init = state_q == StIdle && init_valid_i && !clear_busy_i;
  assign qp_doorbell_ready_o = state_q == StIdle && !init_valid_i && !clear_busy_i;
  assign init_ready_o        = state_q == StIdle && !clear_busy_i;

  ram_1r1w #(.Width(CfgW), .Depth(rnic_pkg::NumQps)) u_cfg (
    .clk_i, .rst_ni,
    .we_i(clear_busy_i || init), .waddr_i(clear_busy_i ? clear_addr_i : init_qpn_i),
    .wdata_i(clear_busy_i ? '0 : {init_exists_i, init_page_i, init_log_sq_i, init_log_rq_i,
                                  init_is_srq_i, init_has_srq_i}),
    .re_i(take), .raddr_i(bell_in_qpn), .rdata_o(cfg_ram)
  );
  ram_1r1w #(.Width(32), .Depth(rnic_pkg::NumQps)) u_ret (
    .clk_i, .rst_ni,
    .we_i(ret_we_i), .waddr_i(ret_qpn_i), .wdata_i({ret_rq_i, ret_sq_i}),
    .re_i(take), .raddr_i(bell_in_qpn), .rdata_o(ret_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_sq (
    .clk_i, .rst_ni,
    .we_i(prod_sq_we_o), .waddr_i(prod_qpn_o), .wdata_i(prod_index_o),
    .re_i(take), .raddr_i(bell_in_qpn), .rdata_o(sq_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_rq (
    .clk_i, .rst_ni,
    .we_i(prod_rq_we_o), .waddr_i(prod_qpn_o), .wdata_i(prod_index_o),
    .re_i(take), .raddr_i(bell_in_qpn), .rdata_o(rq_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_taken (
    .clk_i, .rst_ni,
    .we_i(taken_we_i), .waddr_i(taken_row_i), .wdata_i(taken_index_i),
    .re_i(take), .raddr_i(bell_in_qpn), .rdata_o(taken_ram)
  );

  assign bell_qpn    = bell_q.qpn[QpnW-1:0];

  assign {cfg_exists, cfg_page, cfg_log_sq, cfg_log_rq, cfg_is_srq, cfg_has_srq} = cfg_ram;
  assign is_rq   = bell_q.kind == iwarp_pkg::DbRq;
  // A push with another number of units acts as a plain doorbell.
  assign is_push = bell_q.kind == iwarp_pkg::DbPush &&
                   (bell_q.units == 2'd1 || bell_q.units == 2'd2);
  assign log_size = is_rq ? cfg_log_rq : cfg_log_sq;
  assign size     = 17'd1 << log_size;
  assign prod     = is_rq ? rq_ram : sq_ram;
  assign retired  = is_rq ? (cfg_is_srq ? taken_ram : ret_ram[31:16]) : ret_ram[15:0];
  assign ahead    = bell_q.index - retired;
  assign posted   = prod - retired;
  assign good     = 32'(bell_q.qpn) < rnic_pkg::NumQps && cfg_exists &&
                    !(is_rq ? cfg_has_srq : cfg_is_srq) && cfg_page == bell_q.page &&
                    {1'b0, ahead} <= size && ahead >= posted;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (take) state_d = StJudge;
      StJudge: state_d = StAct;
      StAct: begin
        if ((!kick_valid_o || kick_ready_i) && (!kick_rq_valid_o || kick_rq_ready_i) &&
            (!push_valid_o || push_ready_i)) state_d = StIdle;
      end
      default: state_d = StIdle;
    endcase
  end

  assign kick_valid_o    = state_q == StAct && kick_left_q;
  assign kick_rq_valid_o = state_q == StAct && kick_rq_left_q;
  assign push_valid_o    = state_q == StAct && push_left_q;
  assign kick_qpn_o      = bell_qpn;
  assign push_qpn_o      = bell_qpn;
  assign push_first_o    = bell_q.index - 16'(bell_q.units);
  assign push_two_o      = bell_q.units == 2'd2;
  assign push_data_o     = bell_q.data;

  // The first cycle of StAct writes the index: the leaves that are kicked read it later.
  assign prod_sq_we_o = init ? init_exists_i : state_q == StAct && first_q && good_q && !is_rq;
  assign prod_rq_we_o = init ? init_exists_i : state_q == StAct && first_q && good_q && is_rq;
  assign prod_qpn_o   = init ? init_qpn_i : bell_qpn;
  assign prod_index_o = init ? '0 : bell_q.index;
  assign bad_doorbell_o = state_q == StAct && first_q && !good_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      first_q        <= 1'b0;
      kick_left_q    <= 1'b0;
      kick_rq_left_q <= 1'b0;
      push_left_q    <= 1'b0;
    end else begin
      state_q <= state_d;
      first_q <= state_q == StJudge;
      if (state_q == StJudge) begin
        kick_left_q    <= good && !is_push;   // RQ too: in state error qp_pick flushes both queues
        kick_rq_left_q <= good && is_rq;
        push_left_q    <= good && is_push;
      end else begin
        if (kick_valid_o && kick_ready_i)       kick_left_q    <= 1'b0;
        if (kick_rq_valid_o && kick_rq_ready_i) kick_rq_left_q <= 1'b0;
        if (push_valid_o && push_ready_i)       push_left_q    <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) bell_q <= qp_doorbell_i;
    if (state_q == StJudge) good_q <= good;
  end

  `RNIC_STREAM_STABLE(KickStable_A, kick_valid_o, kick_ready_i, kick_qpn_o)
  `RNIC_STREAM_STABLE(KickRqStable_A, kick_rq_valid_o, kick_rq_ready_i, kick_qpn_o)
  `RNIC_STREAM_STABLE(PushStable_A, push_valid_o, push_ready_i, push_data_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_doorbell_commit_t tap_qp_doorbell /*verilator public_flat_rd*/;
  assign tap_qp_doorbell = {state_q == StAct && first_q, bell_q.kind, bell_q.qpn, bell_q.index,
                            good_q};
endmodule
