// rdmap_ack: acknowledges start, stop, half_close and sync, one order at a time.
//
//   order         is acknowledged when
//   half_close    rdmap_core has decided it
//   start, stop   rdmap_core has decided it, and all items inside at that time have drained
//   sync          the WQEs, the results of atomics and as many requests to our own table as
//                 were inside have drained. rdmap_core does not get this order
//
// Paths. Each has a counter, and a bit of in_i and out_i. The item enters, and leaves, when:
//
//   Wqe       a WQE enters at the port         its message is sent or dropped, or it becomes Inv
//   Inv       rdmap_tx passes a request to     qp has taken its end, or rdmap_core its failure
//             our own table to rdmap_local
//   Request   a Read or Flush is served        rdmap_read has begun its response or dropped it
//   Response  rdmap_read begins a response     rdmap_tx has taken it
//   Atomic    rdmap_atomic makes a response    rdmap_tx has taken it
//   Sent      rdmap_tx takes a response        its last beat has left
//   Error     rdmap_core has a job (an error,  rdmap_term is done with it
//             or responder idle)
//   Term      rdmap_tx takes a Terminate       its last beat has left
//   Result    rdmap_core has the old value     it is stored and qp has taken the completion, or its
//             of our own atomic                fault is decided
//
// Invariants:
// 1. One counter per path, for all QPs, is enough, because each path but Inv keeps its order. The
//    counter samples the items inside at its mark, then counts down as they leave. Items of other
//    QPs that enter later do not matter.
// 2. A path that follows another one is marked when the earlier one has drained: Inv after Wqe;
//    Response after Request; Atomic after the poll of rdmap_atomic; Sent after Response and Atomic;
//    Term after Error.
// 3. Two kinds of items overtake each other, so a start or stop polls for them instead of counting:
//    rdmap_atomic, until the QP has no atomic in service; rdmap_local, until the QP has no request
//    to our own table. A sync counts Inv, because its QP may add requests while it drains.
// 4. Responses of rdmap_read and rdmap_atomic overtake each other before rdmap_tx, so each service
//    has its own counter there: Response and Atomic.
//
// Latency: 1 cycle.
// Waits for rdmap_tx (and so for ddp, which always takes a message), for tpt and for qp.
// Siblings: rdmap_core, rdmap_tx, rdmap_resp (in it rdmap_read, rdmap_atomic), rdmap_term,
// rdmap_local.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_ack (
  input  logic clk_i,
  input  logic rst_ni,
  // from and to the port: an order is accepted (taken_i) only when none is outstanding (free_o)
  output logic free_o,
  input  logic taken_i,
  input  logic sync_i,                   // the order is a sync of QP sync_qpn_i
  input  logic [15:0] sync_qpn_i,
  // from rdmap_core: the order is decided
  input  logic done_i,
  input  logic drains_i,                 // the decided order is a start or stop
  input  logic [15:0] qpn_i,
  // A bit per path, numbered below. in_i: an item enters; out_i: one leaves.
  input  logic [8:0] in_i,
  input  logic [8:0] out_i,
  // from and to rdmap_atomic: has the QP ask_qpn_o no atomic in service?
  output logic ask_o,
  output logic [15:0] ask_qpn_o,
  input  logic idle_i,
  // from and to rdmap_local: has the QP ask_qpn_o no request to our own table?
  output logic ask_local_o,
  input  logic idle_local_i,
  // to qp
  output logic ack_valid_o,
  input  logic ack_ready_i,
  output iwarp_pkg::qp_ack_rdmap_t ack_o
);
  typedef enum logic [1:0] {
    StFree,     // no order
    StOrder,    // rdmap_core has the order
    StDrain,    // waits for the paths to drain
    StAck       // acknowledges
  } state_e;
  state_e state_d, state_q;
  logic [15:0] qpn_q;

  // The bits of in_i and out_i: the paths above.
  localparam int unsigned Wqe = 0, Request = 1, Response = 2, Error = 3, Term = 4, Result = 5,
                          Atomic = 6, Sent = 7, Inv = 8;
  // Inv: rdmap_local queues up to NumQps requests. Every other path holds fewer than 256 items.
  localparam int unsigned CountW = $clog2(rnic_pkg::NumQps + 256);
  logic [8:0] mark, through, none;
  logic       idle_q, idle_local_q;        // rdmap_atomic, rdmap_local have nothing of the QP
  logic       sync_q;
  // While mark[i] is high, left_q of path i follows inside_q: the path still samples (invariant 2).
  assign mark[Wqe]      = state_q != StDrain;
  assign mark[Request]  = state_q != StDrain;
  assign mark[Response] = state_q != StDrain || !through[Request];
  assign mark[Atomic]   = state_q != StDrain || !idle_q;
  assign mark[Sent]     = state_q != StDrain || !through[Request] || !through[Response] ||
                          !idle_q || !through[Atomic];
  assign mark[Inv]      = state_q != StDrain || !through[Wqe];
  assign mark[Error]    = state_q != StDrain;
  assign mark[Result]   = state_q != StDrain;
  assign mark[Term]     = state_q != StDrain || !through[Error];
  for (genvar i = 0; i < 9; i++) begin : gen_way
    // Items inside; left_q: those of them that an order waits for.
    logic [CountW-1:0] inside_d, inside_q, left_q;
    assign inside_d   = inside_q + CountW'(in_i[i]) - CountW'(out_i[i]);
    assign through[i] = left_q == '0;
    assign none[i]    = inside_q == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        inside_q <= '0;
        left_q   <= '0;
      end else begin
        inside_q <= inside_d;
        left_q   <= mark[i] ? inside_d : left_q - CountW'(out_i[i] && left_q != '0);
      end
    end
  end

  always_comb begin
    state_d = state_q;
    case (state_q)
      StFree:  if (taken_i) state_d = sync_i ? StDrain : StOrder;
      StOrder: if (done_i) state_d = drains_i ? StDrain : StAck;
      // A start or stop ignores the counter of Inv: idle_local_q stands for it.
      StDrain: if (sync_q ? through[Result] && through[Wqe] && through[Inv]
                          : (through | 9'(1 << Inv)) == '1 && idle_q && idle_local_q)
                 state_d = StAck;
      StAck:   if (ack_ready_i) state_d = StFree;
      default: state_d = StFree;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StFree;
    else         state_q <= state_d;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StOrder) qpn_q <= qpn_i;
    if (state_q == StFree) begin
      qpn_q  <= sync_qpn_i;
      sync_q <= sync_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {idle_q, idle_local_q} <= 2'b00;
    else begin
      idle_q       <= state_q == StDrain && (idle_q || idle_i);
      idle_local_q <= state_q == StDrain && (idle_local_q || idle_local_i);
    end
  end
  assign ask_o       = state_q == StDrain && !idle_q && !sync_q;
  assign ask_local_o = state_q == StDrain && !idle_local_q && !sync_q && through[Wqe];
  assign ask_qpn_o   = qpn_q;

  assign free_o      = state_q == StFree;
  assign ack_valid_o = state_q == StAck;
  assign ack_o       = qpn_q;

  `RNIC_ASSERT(Counts_A, (out_i & none) == '0)
  `RNIC_ASSERT(InTurn_A, !done_i || state_q == StOrder)
  `RNIC_STREAM_STABLE(AckStable_A, ack_valid_o, ack_ready_i, ack_o)
endmodule
