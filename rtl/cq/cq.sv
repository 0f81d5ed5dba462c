// cq: completion and event queues: writes CQEs, EQEs and their MSI-X messages.
//
//   cqe_req, cq_doorbell, cq_cmd --> [ cq_write ] --> FIFO --events--> [ cq_event ] <--+
//                                       |              | CQEs               |          |
//                                       v              v                    |          |
//                                   cq_fault        arbiter <--EQEs, MSI-X--+          |
//                                                      |                               |
//                                                      +--> cq_wr                      |
//   qp_async, conn_async, eq_doorbell, cq_cmd -----------------------------------------+
//
// Invariants:
//  1. An event's entry is sent after the CQE that it announces, since both pass one FIFO.
//  2. Commands on CQs pass that FIFO, too, and are answered when they leave it: after every
//     completion that qp made before them. So no completion of a destroyed CQ, or of a QP that was
//     destroyed before, follows the response.
//  3. Order between units is counted where an item is made, not where it arrives. host_if pulses
//     bell_given_i when it accepts a CQ doorbell; qp pulses cqe_given_i when it makes a completion.
//     A completion waits for the doorbells counted before it arrived. A command waits for the
//     completions counted before it arrived. So any number of registers may be between the units.
//  4. An overrun CQ writes nothing.
// Latency: 3 cycles from cqe_req to cq_wr. Throughput: one CQE every 2 cycles.
// Back-pressure: waits only for cq_wr (host_if's posted queue), and so never blocks a producer
// forever. Doorbells do not wait for cq_wr. Nothing waits for cq_fault: cq_write keeps a due fault
// in the CQ's word until qp takes it.
// Model: model/cq/cq.hpp. Bench: tb/cq/cq_test.cpp. Contract: docs/theory-of-operation.md
`include "rnic_assert.svh"

module cq (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output iwarp_pkg::unit_count_t count_o,
  output logic bad_doorbell_o,
  // from host_if
  input  logic cq_doorbell_valid_i,
  output logic cq_doorbell_ready_o,
  input  iwarp_pkg::cq_doorbell_t cq_doorbell_i,
  input  logic bell_given_i,    // host_if has accepted a CQ doorbell, which follows
  input  logic eq_doorbell_valid_i,
  output logic eq_doorbell_ready_o,
  input  iwarp_pkg::eq_doorbell_t eq_doorbell_i,
  // to host_if
  output logic cq_wr_valid_o,
  input  logic cq_wr_ready_i,
  output iwarp_pkg::cq_wr_t cq_wr_o,
  // from and to admin
  input  logic cq_cmd_valid_i,
  output logic cq_cmd_ready_o,
  input  iwarp_pkg::cq_cmd_t cq_cmd_i,
  output logic cq_cmd_rsp_valid_o,
  input  logic cq_cmd_rsp_ready_i,
  output iwarp_pkg::cq_cmd_rsp_t cq_cmd_rsp_o,
  // from and to qp
  input  logic cqe_req_valid_i,
  output logic cqe_req_ready_o,
  input  iwarp_pkg::cqe_req_t cqe_req_i,
  input  logic cqe_given_i,     // qp has made a completion, which follows
  input  logic qp_async_valid_i,
  output logic qp_async_ready_o,
  input  iwarp_pkg::qp_async_t qp_async_i,
  output logic cq_fault_valid_o,
  input  logic cq_fault_ready_i,
  output iwarp_pkg::cq_fault_t cq_fault_o,
  // from llp_if
  input  logic conn_async_valid_i,
  output logic conn_async_ready_o,
  input  iwarp_pkg::conn_async_t conn_async_i
);
  logic write_ready, event_ready;
  assign ready_o = write_ready && event_ready;

  // --- commands: EQ ones go to cq_event, the others to cq_write; admin sends one at a time
  logic is_eq_cmd, write_cmd_ready, event_cmd_ready;
  assign is_eq_cmd      = cq_cmd_i.opcode == iwarp_pkg::CmdCreateEq ||
                          cq_cmd_i.opcode == iwarp_pkg::CmdDestroyEq;
  assign cq_cmd_ready_o = is_eq_cmd ? event_cmd_ready : write_cmd_ready;

  logic write_rsp_valid, event_rsp_valid;
  iwarp_pkg::cq_cmd_rsp_t write_rsp, event_rsp;
  assign cq_cmd_rsp_valid_o = write_rsp_valid || event_rsp_valid;
  assign cq_cmd_rsp_o       = write_rsp_valid ? write_rsp : event_rsp;

  // --- inputs
  // A completion in u_req carries the number of doorbells counted when it arrived, and waits until
  // cq_write has taken as many (req_passed_q). req_may: the head of u_req may be written. The sign
  // of the counts' difference decides (bell_missing): fewer than 2^31 doorbells pass while a
  // completion waits for PCIe.
  logic req_valid, req_ready, req_may, req_passed_q, bell_missing, all_taken_q;
  logic [31:0] bells_given_q, bells_taken_q, req_bells;
  logic [30:0] unused_bells;
  iwarp_pkg::cqe_req_t req;
  stream_fifo #(.Width(32 + iwarp_pkg::CqeReqWidth), .Depth(rnic_pkg::FifoDepth)) u_req (
    .clk_i, .rst_ni,
    .valid_i(cqe_req_valid_i), .ready_o(cqe_req_ready_o), .data_i({bells_given_q, cqe_req_i}),
    .valid_o(req_valid), .ready_i(req_ready), .data_o({req_bells, req}), .count_o()
  );
  logic db_valid, db_ready;
  iwarp_pkg::cq_doorbell_t db;
  stream_fifo #(.Width(iwarp_pkg::CqDoorbellWidth), .Depth(rnic_pkg::FifoDepth)) u_db (
    .clk_i, .rst_ni,
    .valid_i(cq_doorbell_valid_i), .ready_o(cq_doorbell_ready_o), .data_i(cq_doorbell_i),
    .valid_o(db_valid), .ready_i(db_ready), .data_o(db), .count_o()
  );
  // all_taken_q: no doorbell was outstanding one cycle ago, when the head of u_req had already
  // arrived.
  assign {bell_missing, unused_bells} = bells_taken_q - req_bells;
  assign req_may = req_passed_q || all_taken_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bells_given_q <= '0;
      bells_taken_q <= '0;
      all_taken_q   <= 1'b0;
      req_passed_q  <= 1'b0;
    end else begin
      bells_given_q <= bells_given_q + 32'(bell_given_i);
      bells_taken_q <= bells_taken_q + 32'(db_valid && db_ready);
      all_taken_q   <= bells_given_q == bells_taken_q;
      req_passed_q  <= req_valid && !req_ready && (req_passed_q || !bell_missing);
    end
  end

  // --- completions. An item of cq_write has an entry, an event, both, or a mark (a command that
  // only waits for its turn in u_out). The width's 3 bits are has_entry, has_event, has_mark.
  localparam int unsigned EventWidth = 24;   // {op 2, cqn 16, eqn 6}
  localparam int unsigned OutWidth   = 3 + EventWidth + iwarp_pkg::CqWrWidth;
  logic                  out_valid, out_ready, has_entry, has_event, has_mark;
  logic                  out_q_valid, out_q_ready, q_has_entry, q_has_event, q_has_mark;
  iwarp_pkg::cq_wr_t     entry, q_entry;
  logic [EventWidth-1:0] ev, q_ev;
  logic                  ev_ready, cqe_ready, entry_offer, event_offer;
  logic                  fault_valid, fault_ready;
  logic [15:0]           fault_cqn;

  cq_write u_write (
    .clk_i, .rst_ni, .ready_o(write_ready), .bad_doorbell_o,
    .given_i(cqe_given_i),
    .req_valid_i(req_valid), .req_ready_o(req_ready), .req_may_i(req_may), .req_i(req),
    .db_valid_i(db_valid), .db_ready_o(db_ready), .db_i(db),
    .cmd_valid_i(cq_cmd_valid_i && !is_eq_cmd), .cmd_ready_o(write_cmd_ready), .cmd_i(cq_cmd_i),
    .rsp_valid_o(write_rsp_valid), .rsp_ready_i(cq_cmd_rsp_ready_i), .rsp_o(write_rsp),
    .out_valid_o(out_valid), .out_ready_i(out_ready),
    .has_entry_o(has_entry), .has_event_o(has_event), .has_mark_o(has_mark),
    .event_o(ev), .entry_o(entry),
    // ev[EventWidth-1] is set in ops 2 and 3, those of commands
    .applied_i((event_offer && ev_ready && q_ev[EventWidth-1]) || (out_q_valid && q_has_mark)),
    .fault_valid_o(fault_valid), .fault_ready_i(fault_ready), .fault_o(fault_cqn)
  );
  // An entry and its event are one FIFO item. The event is passed on after the entry is sent, so it
  // cannot overtake the entry.
  stream_fifo #(.Width(OutWidth), .Depth(rnic_pkg::FifoDepth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(out_valid), .ready_o(out_ready),
    .data_i({has_entry, has_event, has_mark, ev, entry}),
    .valid_o(out_q_valid), .ready_i(out_q_ready),
    .data_o({q_has_entry, q_has_event, q_has_mark, q_ev, q_entry}), .count_o()
  );
  logic entry_left_q, entry_done, event_done;
  assign entry_offer = out_q_valid && q_has_entry && !entry_left_q;
  assign entry_done  = !q_has_entry || entry_left_q;
  assign event_offer = out_q_valid && q_has_event && entry_done;
  assign event_done  = !q_has_event || (entry_done && ev_ready);
  assign out_q_ready = (entry_done || cqe_ready) && event_done;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) entry_left_q <= 1'b0;
    else         entry_left_q <= out_q_valid && !out_q_ready &&
                                 (entry_left_q || (entry_offer && cqe_ready));
  end
  stream_fifo #(.Width(16), .Depth(1)) u_fault (
    .clk_i, .rst_ni, .valid_i(fault_valid), .ready_o(fault_ready), .data_i(fault_cqn),
    .valid_o(cq_fault_valid_o), .ready_i(cq_fault_ready_i), .data_o(cq_fault_o), .count_o()
  );

  // --- events
  logic              eqe_valid, eqe_ready;
  iwarp_pkg::cq_wr_t eqe_wr;
  cq_event u_event (
    .clk_i, .rst_ni, .ready_o(event_ready),
    .cq_valid_i(event_offer), .cq_ready_o(ev_ready), .cq_i(q_ev),
    .qp_valid_i(qp_async_valid_i), .qp_ready_o(qp_async_ready_o), .qp_i(qp_async_i.qpn),
    .conn_valid_i(conn_async_valid_i), .conn_ready_o(conn_async_ready_o),
    .conn_i(conn_async_i.connection),
    .db_valid_i(eq_doorbell_valid_i), .db_ready_o(eq_doorbell_ready_o), .db_i(eq_doorbell_i),
    .cmd_valid_i(cq_cmd_valid_i && is_eq_cmd), .cmd_ready_o(event_cmd_ready), .cmd_i(cq_cmd_i),
    .rsp_valid_o(event_rsp_valid), .rsp_ready_i(cq_cmd_rsp_ready_i), .rsp_o(event_rsp),
    .wr_valid_o(eqe_valid), .wr_ready_i(eqe_ready), .wr_o(eqe_wr)
  );
  stream_arb #(.Width(iwarp_pkg::CqWrWidth), .N(2)) u_arb (
    .clk_i, .rst_ni,
    .valid_i({eqe_valid, entry_offer}), .ready_o({eqe_ready, cqe_ready}),
    .data_i({eqe_wr, q_entry}),
    .valid_o(cq_wr_valid_o), .ready_i(cq_wr_ready_i), .data_o(cq_wr_o), .index_o()
  );

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(entry_offer && cqe_ready),
    .busy_i(cq_wr_valid_o && cq_wr_ready_i),
    .stalled_i(|({cq_wr_valid_o, cq_cmd_rsp_valid_o, cq_fault_valid_o} &
                 ~{cq_wr_ready_i, cq_cmd_rsp_ready_i, cq_fault_ready_i})),
    .count_o
  );

  // A doorbell that is taken was counted before: a host_if that omits its pulse fails here.
  logic        bell_unknown;
  logic [30:0] unused_outside;
  assign {bell_unknown, unused_outside} = bells_given_q - bells_taken_q;
  `RNIC_ASSERT(BellGivenFirst_A, !bell_unknown)
  `RNIC_STREAM_STABLE(CqWrStable_A, cq_wr_valid_o, cq_wr_ready_i, cq_wr_o)
  `RNIC_STREAM_STABLE(FaultStable_A, cq_fault_valid_o, cq_fault_ready_i, cq_fault_o)
  `RNIC_ASSERT(OneResponse_A, !(write_rsp_valid && event_rsp_valid))
endmodule
