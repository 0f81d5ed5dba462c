// rdmap_tx: merges the messages of send queue, responder and Terminate into one stream for ddp.
//
//   send queue: with the WQE's body, own bytes, dropped --+
//   response, one beat -----------------------------------+--> [ round robin ] --+--> tx_message,
//   Terminate, one beat ----------------------------------+                      |    its header
//                                                                                +--> rdmap_local
//
// A message's header is sent first, then its beats. The next message is picked with the last beat.
// Latency: 1 cycle.
// Throughput: a message of one beat every 2 cycles.
// Waits briefly for ddp (rdmap_core has reserved a slot); requests to our table, for rdmap_local.
// Siblings: rdmap_core, rdmap_wqe, rdmap_resp, rdmap_term.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

module rdmap_tx (
  input  logic clk_i,
  input  logic rst_ni,
  // commands of the send queue, from rdmap_core
  input  logic sq_valid_i,
  output logic sq_ready_o,
  input  logic sq_drop_i,                // its QP has failed or stopped: discard it
  input  logic sq_own_i,                 // a request: its body is sq_data_i, none at body_i
  input  logic sq_local_i,               // a request to our own table, for rdmap_local: no message
  input  iwarp_pkg::tx_message_hdr_t sq_i,
  input  logic [415:0] sq_data_i,
  // bodies, from rdmap_wqe
  input  logic body_valid_i,
  output logic body_ready_o,
  input  iwarp_pkg::beat_t body_i,
  // from rdmap_resp
  input  logic resp_valid_i,
  output logic resp_ready_o,
  input  iwarp_pkg::tx_message_hdr_t resp_i,
  input  logic [127:0] resp_data_i,
  // from rdmap_term
  input  logic term_valid_i,
  output logic term_ready_o,
  input  iwarp_pkg::tx_message_hdr_t term_i,
  input  logic [511:0] term_data_i,
  // to ddp
  output logic hdr_valid_o,
  input  logic hdr_ready_i,
  output iwarp_pkg::tx_message_hdr_t hdr_o,
  output logic beat_valid_o,
  input  logic beat_ready_i,
  output iwarp_pkg::beat_t beat_o,
  // to rdmap_local
  output logic local_valid_o,
  input  logic local_ready_i,
  output iwarp_pkg::sq_local_t local_o,
  // to rdmap_ack: a message is sent or dropped
  output logic sq_done_o,
  output logic resp_done_o,
  output logic term_done_o
);
  typedef enum logic [1:0] {
    StPick,     // no message
    StHeader,   // the header is offered
    StBody,     // beats are offered
    StDrop      // the WQE's beats are discarded
  } state_e;
  state_e state_d, state_q;

  logic [2:0] request, grant, source_q;    // a bit each: send queue, responder, Terminate
  logic [1:0] next_q, index;
  logic       any, pick, done, dropped, nothing;
  assign request = {term_valid_i, resp_valid_i, sq_valid_i && (!sq_local_i || local_ready_i)};
  round_robin #(.N(3)) u_pick (
    .request_i(request), .start_i(next_q), .any_o(any), .onehot_o(grant), .index_o(index)
  );
  assign done    = state_q == StBody && beat_valid_o && beat_ready_i && beat_o.last;
  assign dropped = state_q == StDrop && body_valid_i && body_i.last;
  assign pick    = (state_q == StPick || done) && any;
  // nothing: no beat to send or discard. A dropped request has none at body_i; a request to our own
  // table goes to rdmap_local. 338 bits: {is_reg, is_bind, PD 16, base 64, operands 256}.
  assign nothing = pick && grant[0] && sq_own_i && (sq_drop_i || sq_local_i);
  assign local_valid_o = pick && grant[0] && sq_local_i && !sq_drop_i;
  assign local_o       = {sq_i.qpn, sq_i.slot, sq_i.stag, sq_data_i[337:0]};
  assign {term_ready_o, resp_ready_o, sq_ready_o} = grant & {3{pick}};

  iwarp_pkg::tx_message_hdr_t hdr_q;
  logic [511:0] data_q;
  logic [6:0]   keep_q;
  logic         pass_q;            // beats come from the WQE

  always_comb begin
    state_d = state_q;
    case (state_q)
      StPick: ;
      StHeader: if (hdr_ready_i) state_d = StBody;
      StBody:   if (done) state_d = StPick;
      StDrop:   if (dropped) state_d = StPick;
      default:  state_d = StPick;
    endcase
    if (pick) state_d = nothing ? StPick : grant[0] && sq_drop_i ? StDrop : StHeader;
  end

  assign hdr_valid_o  = state_q == StHeader;
  assign hdr_o        = hdr_q;
  assign beat_valid_o = state_q == StBody && (!pass_q || body_valid_i);
  assign body_ready_o = (state_q == StBody && pass_q && beat_ready_i) || state_q == StDrop;
  always_comb begin
    beat_o = body_i;
    if (!pass_q) beat_o = {1'b1, 1'b0, keep_q, data_q};
  end

  // One pulse per message. A dropped request may end in the same cycle as the previous message of
  // the send queue, so it is counted one cycle later (OneDone_A).
  logic nothing_q;
  assign sq_done_o   = (done && source_q[0]) || dropped || nothing_q;
  assign resp_done_o = done && source_q[1];
  assign term_done_o = done && source_q[2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StPick;
      next_q    <= '0;
      nothing_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      nothing_q <= nothing;
      if (pick) next_q <= index == 2'd2 ? 2'd0 : index + 2'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (pick) begin
      source_q <= grant;
      pass_q   <= grant[0] && !sq_own_i;
      hdr_q    <= grant[0] ? sq_i : grant[1] ? resp_i : term_i;
      data_q   <= grant[0] ? {96'h0, sq_data_i} : grant[1] ? {384'h0, resp_data_i} : term_data_i;
      // Send queue: a request's bytes. Responder: one SGE, or the bytes of an Atomic Response.
      // Terminate.
      keep_q   <= grant[0]         ? sq_i.length[6:0]
                : !grant[1]        ? term_i.length[6:0]
                : resp_i.is_inline ? resp_i.length[6:0] : 7'd16;
    end
  end

  `RNIC_ASSERT(OneDone_A, !(nothing_q && ((done && source_q[0]) || dropped)))
  `RNIC_STREAM_STABLE(HdrStable_A, hdr_valid_o, hdr_ready_i, hdr_o)
  `RNIC_STREAM_STABLE(BeatStable_A, beat_valid_o, beat_ready_i, beat_o)
endmodule
