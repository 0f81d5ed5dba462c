// qp_ctl: starts, stops or syncs the units that keep state of a QP, one unit after the other. Each
// unit acknowledges before the next one gets its order.
//
//   req {op, qpn, params}  --> start:               mpa, ddp, rdmap, llp_if
//                              stop, abort:         rdmap, llp_if, ddp, mpa
//                              graceful stop:       llp_if, mpa, ddp, rdmap
//                              sync:                mpa, ddp; and rdmap with the extensions
//                              half_close:          rdmap
//                              graceful half_close: ddp, mpa (both get sync), llp_if
//                              (mpa, ddp and rdmap get stop for abort)
//   done_o <-- the last acknowledgement
//
// llp_if starts last, so that no FPDU comes to a unit that has not started. A graceful stop follows
// both FINs: no more data comes, so it goes from the LLP inwards. A sync follows the path of
// received data: each unit has passed on everything before the next one gets its order. The syncs
// of a half_close follow the path of sent data: everything has left before llp_if sends the FIN.
//
// Throughput: 2 cycles and the unit's own time per step; one QP at a time.
// Waits for the unit that has the order.
// Sibling: qp_state.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_ctl (
  input  logic       clk_i,
  input  logic       rst_ni,
  // from qp_state: held until done. op: QpoStart, QpoStop, QpoAbort, QpoSync, QpoHalfClose
  input  logic       req_valid_i,
  input  logic [2:0] req_op_i,
  input  logic       req_graceful_i,
  input  logic [15:0] req_qpn_i,
  input  iwarp_pkg::qp_params_t req_params_i,
  output logic       done_o,
  // to and from the units
  output logic       qp_ctl_llp_valid_o,
  input  logic       qp_ctl_llp_ready_i,
  output iwarp_pkg::qp_ctl_llp_t qp_ctl_llp_o,
  output logic       qp_ctl_mpa_valid_o,
  input  logic       qp_ctl_mpa_ready_i,
  output iwarp_pkg::qp_ctl_mpa_t qp_ctl_mpa_o,
  output logic       qp_ctl_ddp_valid_o,
  input  logic       qp_ctl_ddp_ready_i,
  output iwarp_pkg::qp_ctl_ddp_t qp_ctl_ddp_o,
  output logic       qp_ctl_rdmap_valid_o,
  input  logic       qp_ctl_rdmap_ready_i,
  output iwarp_pkg::qp_ctl_rdmap_t qp_ctl_rdmap_o,
  input  logic       qp_ack_llp_valid_i,
  output logic       qp_ack_llp_ready_o,
  input  iwarp_pkg::qp_ack_llp_t qp_ack_llp_i,
  input  logic       qp_ack_mpa_valid_i,
  output logic       qp_ack_mpa_ready_o,
  input  iwarp_pkg::qp_ack_mpa_t qp_ack_mpa_i,
  input  logic       qp_ack_ddp_valid_i,
  output logic       qp_ack_ddp_ready_o,
  input  iwarp_pkg::qp_ack_ddp_t qp_ack_ddp_i,
  input  logic       qp_ack_rdmap_valid_i,
  output logic       qp_ack_rdmap_ready_o,
  input  iwarp_pkg::qp_ack_rdmap_t qp_ack_rdmap_i
);
  localparam logic [1:0] Mpa = 2'd0, Ddp = 2'd1, Rdmap = 2'd2, Llp = 2'd3;
  typedef enum logic [1:0] {
    StIdle,   // waits for a request
    StTell,   // offers the order to the unit of this step
    StAck     // waits for that unit's acknowledgement
  } state_e;

  state_e     state_d, state_q;
  logic [1:0] step_q, final_step, unit_now;
  logic [3:0] tell, told, acked, ack_ready;
  logic       ask, half, start, sync, ack_now;
  iwarp_pkg::qp_ctl_llp_t llp;
  iwarp_pkg::qp_ctl_mpa_t path, rdmap;

  // ask: the half_close to rdmap alone; half: the one that reaches the LLP
  assign start = req_op_i == iwarp_pkg::QpoStart;
  assign ask   = req_op_i == iwarp_pkg::QpoHalfClose && !req_graceful_i;
  assign half  = req_op_i == iwarp_pkg::QpoHalfClose && req_graceful_i;
  assign sync  = req_op_i == iwarp_pkg::QpoSync;
  // A sync ends after ddp (step 1); with persist after rdmap (step 2): it may hold atomic results.
  assign final_step = ask  ? 2'd0
                    : sync ? {req_params_i.persist, !req_params_i.persist}
                    : half ? 2'd2 : 2'd3;
  always_comb begin
    unique case (step_q)
      2'd0:    unit_now = start || sync ? Mpa : half ? Ddp : req_graceful_i ? Llp : Rdmap;
      2'd1:    unit_now = start || sync ? Ddp : req_graceful_i ? Mpa : Llp;
      2'd2:    unit_now = start || sync ? Rdmap : half ? Llp : Ddp;
      default: unit_now = start ? Llp : req_graceful_i ? Rdmap : Mpa;
    endcase
  end

  // One bit per unit: tell: the order is offered; told: the unit accepts it.
  assign tell = state_q == StTell ? 4'd1 << unit_now : 4'd0;
  assign told = {qp_ctl_llp_ready_i, qp_ctl_rdmap_ready_i, qp_ctl_ddp_ready_i, qp_ctl_mpa_ready_i};
  assign {qp_ctl_llp_valid_o, qp_ctl_rdmap_valid_o, qp_ctl_ddp_valid_o, qp_ctl_mpa_valid_o} = tell;
  assign acked     = {qp_ack_llp_valid_i, qp_ack_rdmap_valid_i,
                      qp_ack_ddp_valid_i, qp_ack_mpa_valid_i};
  assign ack_ready = state_q == StAck ? 4'd1 << unit_now : 4'd0;
  assign {qp_ack_llp_ready_o, qp_ack_rdmap_ready_o, qp_ack_ddp_ready_o, qp_ack_mpa_ready_o}
         = ack_ready;
  assign ack_now   = (acked & ack_ready) != '0;
  assign done_o    = ack_now && step_q == final_step;

  // path: the order to mpa and ddp
  assign llp   = {req_op_i, req_qpn_i, req_params_i};
  assign path  = {half ? iwarp_pkg::QpoSync : start || sync ? req_op_i : iwarp_pkg::QpoStop,
                  req_qpn_i, req_params_i};
  assign rdmap = {start || ask || sync ? req_op_i : iwarp_pkg::QpoStop, req_qpn_i, req_params_i};
  assign qp_ctl_llp_o   = llp;
  assign qp_ctl_mpa_o   = path;
  assign qp_ctl_ddp_o   = path;
  assign qp_ctl_rdmap_o = rdmap;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (req_valid_i) state_d = StTell;
      StTell:  if ((tell & told) != '0) state_d = StAck;
      StAck:   if (ack_now) state_d = step_q == final_step ? StIdle : StTell;
      default: state_d = StIdle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      step_q  <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == StIdle) step_q <= '0;
      else if (ack_now)      step_q <= step_q + 2'd1;
    end
  end

  `RNIC_ASSERT(AckIsOurs_A, !ack_now ||
    (unit_now == Llp ? qp_ack_llp_i.qpn : unit_now == Mpa ? qp_ack_mpa_i.qpn :
     unit_now == Ddp ? qp_ack_ddp_i.qpn : qp_ack_rdmap_i.qpn) == req_qpn_i)
  `RNIC_STREAM_STABLE(LlpStable_A, qp_ctl_llp_valid_o, qp_ctl_llp_ready_i, qp_ctl_llp_o)
  `RNIC_STREAM_STABLE(MpaStable_A, qp_ctl_mpa_valid_o, qp_ctl_mpa_ready_i, qp_ctl_mpa_o)
  `RNIC_STREAM_STABLE(DdpStable_A, qp_ctl_ddp_valid_o, qp_ctl_ddp_ready_i, qp_ctl_ddp_o)
  `RNIC_STREAM_STABLE(RdmapStable_A, qp_ctl_rdmap_valid_o, qp_ctl_rdmap_ready_i, qp_ctl_rdmap_o)
endmodule
