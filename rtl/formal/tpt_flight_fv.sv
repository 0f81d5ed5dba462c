// tpt_flight_fv: proof of tpt_flight. It concerns each access that read an entry in or before the
// cycle in which the entry was closed. Such an access is no longer in flight when
//   Ends_A      the invalidation is reported,
//   Drained_A   the closed entry reads as drained,
//   Empty_A     everything reads as empty (an open entry is freed at once).
//
// The proof follows any one lookup that read an entry, with its extents, any one closed entry, and
// every note. The environment counts all lookups and extents in flight. Assumed: only those that
// entered leave, and the followed lookup is one of those counted. The counters have 6 bits.
//
// proof: assertions=17 bounded=14 induction=5 cover=20
// files: ../gen/rnic_pkg.sv ../tpt/tpt_flight.sv
// proved by themselves: stream_fifo
// refuted by ../tpt/tpt_flight.sv Ends_A: s/oldest != epoch_q\[1:0\] && (oldest .*);/1'b1;/
// refuted by ../tpt/tpt_flight.sv Ends_A: s/oldest != epoch_q\[1:0\] - 2'd1 || old_empty/1'b1/
// refuted by ../tpt/tpt_flight.sv Drained_A: s/drained_o = !current_q && (!before_q || old_empty_q)/drained_o = !current_q/
// refuted by ../tpt/tpt_flight.sv Drained_A: s/old_empty && !turn;/old_empty;/
// refuted by ../tpt/tpt_flight.sv Current_A: s/turn ? closed_i == epoch_q + EpochW'(1) : closed_i == epoch_q;/closed_i == epoch_q;/
// refuted by ../tpt/tpt_flight.sv Empty_A: s/ && !reading_i && !look_i / \&\& !look_i /
// refuted by ../tpt/tpt_flight.sv Empty_A: s/ && !summed_q;/;/
// refuted by ../tpt/tpt_flight.sv Ordered_A: s/turn_due_q && old_empty && /turn_due_q \&\& /
// refuted by ../tpt/tpt_flight.sv Drained_A: s/!(summed_q && summed_epoch_q == old)/1'b1/
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module tpt_flight_fv #(
  localparam int unsigned FlightW = 6,
  localparam int unsigned EpochW  = 16,
  localparam int unsigned Notes   = 3 * rnic_pkg::FifoDepth
) (
  input logic       clk_i,
  input logic       reading_i, look_i, look_epoch_i, issued_i, issued_epoch_i,
  input logic [5:0] ended_i, ended_epoch_i,
  input logic [3:0] retired_i, retired_epoch_i,
  input logic       due_i, hold_i, judge_i, note_valid_i, done_ready_i,
  input logic [EpochW-1:0] closed_i,
  // pick_i: the proof follows this lookup; own_*: events of the followed lookup; close_i: the
  // followed entry is closed
  input logic       pick_i, own_ended_i, own_issued_i, close_i,
  input logic [3:0] own_retired_i
);
  `RNIC_FORMAL_RESET
  logic               all_empty, current, drained, done_valid, done_waits, waits, pop;
  logic [EpochW-1:0]  epoch;
  logic [FlightW-1:0] flight0, flight1, flight0_1, flight1_1, flight0_2, flight1_2;
  logic [2:0]         notes;
  logic [1:0]         oldest;

  tpt_flight #(.NoteW(1), .FlightW(FlightW), .EpochW(EpochW)) dut (
    .clk_i, .rst_ni, .reading_i, .look_i, .look_epoch_i, .ended_i, .ended_epoch_i,
    .issued_i, .issued_epoch_i, .retired_i, .retired_epoch_i,
    .due_i, .hold_i, .epoch_o(epoch), .all_empty_o(all_empty),
    .judge_i, .closed_i, .current_o(current), .drained_o(drained),
    .note_valid_i, .note_i(waits),
    .done_valid_o(done_valid), .done_ready_i, .done_o(done_waits),
    .f_flight_o({flight1_2, flight0_2, flight1_1, flight0_1, flight1, flight0}),
    .f_pop_o(pop), .f_notes_o(notes), .f_oldest_o(oldest)
  );

  // --- lookups and extents in flight, by epoch: now, and 1 and 2 cycles ago
  logic [FlightW-1:0] all0_q, all1_q, all0_1q, all1_1q, all0_2q, all1_2q;
  function automatic logic [3:0] ones(input logic [9:0] bits);
    ones = '0;
    for (int i = 0; i < 10; i++) ones = ones + {3'b000, bits[i]};
  endfunction
  logic [4:0] delta0, delta1;
  logic [1:0] enters, enter_epochs;
  logic [9:0] leaves, leave_epochs;
  assign enters       = {issued_i, look_i};
  assign enter_epochs = {issued_epoch_i, look_epoch_i};
  assign leaves       = {ended_i, retired_i};
  assign leave_epochs = {ended_epoch_i, retired_epoch_i};
  assign delta0 = 5'(ones({8'd0, enters & ~enter_epochs})) - 5'(ones(leaves & ~leave_epochs));
  assign delta1 = 5'(ones({8'd0, enters & enter_epochs})) - 5'(ones(leaves & leave_epochs));

  // The followed lookup. seen_q: it has read its entry; read_q: in which epoch; look_q: look_i is
  // the followed lookup's; live_q: it has not ended; own_q: its extents in flight.
  logic [EpochW-1:0]  read_q;
  logic               seen_q, look_q, live_q, reads, own_flies, reading_q, reading_epoch_q;
  logic [FlightW-1:0] own_q;
  assign reads     = reading_i && pick_i && !seen_q;
  assign own_flies = look_q || live_q || own_q != '0;
  assign waits     = own_flies || reads;

  `RNIC_ASSUME(look_i == reading_q && (!look_i || look_epoch_i == reading_epoch_q))
  `RNIC_ASSUME(!issued_i || (issued_epoch_i ? all1_q : all0_q) != '0)
  `RNIC_ASSUME(!all0_q[FlightW-1] && !all1_q[FlightW-1] && !own_q[FlightW-1])
  `RNIC_ASSUME(own_q + FlightW'(live_q) <= (read_q[0] ? all1_q : all0_q))
  `RNIC_ASSUME(!own_ended_i ||
               (live_q && (ended_i & (read_q[0] ? ended_epoch_i : ~ended_epoch_i)) != '0))
  `RNIC_ASSUME(!own_issued_i || (live_q && issued_i && issued_epoch_i == read_q[0]))
  `RNIC_ASSUME((own_retired_i &
                ~(retired_i & (read_q[0] ? retired_epoch_i : ~retired_epoch_i))) == '0)
  `RNIC_ASSUME(FlightW'(ones({6'd0, own_retired_i})) <= own_q)
  // tpt_update closes an entry only while hold_i is set; it judged the entry one cycle before.
  `RNIC_ASSUME(!close_i || (hold_i && due_i))
  `RNIC_ASSUME(!note_valid_i || notes != 3'(Notes))
  `RNIC_ASSUME(!note_valid_i || due_i)

  always_ff @(posedge clk_i) begin
    reading_epoch_q <= epoch[0];
    if (!rst_ni) begin
      {seen_q, look_q, live_q, reading_q, own_q} <= '0;
      {all0_q, all1_q, all0_1q, all1_1q, all0_2q, all1_2q} <= '0;
    end else begin
      reading_q <= reading_i;
      seen_q    <= seen_q || reads;
      look_q    <= reads;
      live_q    <= look_q || (live_q && !own_ended_i);
      own_q     <= own_q + FlightW'(own_issued_i) - FlightW'(ones({6'd0, own_retired_i}));
      all0_q    <= all0_q + {{(FlightW - 5){delta0[4]}}, delta0};
      all1_q    <= all1_q + {{(FlightW - 5){delta1[4]}}, delta1};
      {all0_2q, all0_1q} <= {all0_1q, all0_q};
      {all1_2q, all1_1q} <= {all1_1q, all1_q};
    end
    if (reads) read_q <= epoch;
  end

  // --- the followed entry: its epoch when closed, and whether the followed lookup was in flight
  logic              closed_q, closed_waits_q, judged_q;
  logic [EpochW-1:0] closed_epoch_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {closed_q, closed_waits_q, judged_q} <= '0;
    else begin
      if (close_i && !closed_q) {closed_q, closed_waits_q} <= {1'b1, waits};
      judged_q <= closed_q && judge_i && closed_i == closed_epoch_q;
    end
    if (close_i && !closed_q) closed_epoch_q <= epoch;
  end

  // --- the notes, the oldest first: two bits of the epoch, and whether the lookup was in flight
  logic [2*Notes-1:0] epochs_q, epochs_d;
  logic [Notes-1:0]   waits_q, waits_d;
  always_comb begin
    epochs_d = pop ? epochs_q >> 2 : epochs_q;
    waits_d  = pop ? waits_q >> 1 : waits_q;
    for (int unsigned i = 0; i < Notes; i++) if (note_valid_i && i == 32'(notes) - 32'(pop)) begin
      epochs_d[2*i+:2] = epoch[1:0];
      waits_d[i]       = waits;
    end
  end
  always_ff @(posedge clk_i) begin
    epochs_q <= epochs_d;
    waits_q  <= waits_d;
  end
  // stream_fifo loses, changes and reorders no word: its own proof.
  `RNIC_ASSUME(notes == '0 || (oldest == epochs_q[1:0] && done_waits == waits_q[0]))

  // --- the assertions
  `RNIC_ASSERT(Ends_A, !(done_valid && done_waits) || !own_flies)
  `RNIC_ASSERT(Drained_A, !(judged_q && hold_i && drained && closed_waits_q) || !own_flies)
  `RNIC_ASSERT(Empty_A, !all_empty || !waits)
  `RNIC_ASSERT(Current_A, !(judged_q && hold_i) || current == (closed_epoch_q == epoch))

  // --- invariants
  `RNIC_ASSERT(Followed_A, seen_q ? !look_q || (!live_q && own_q == '0) : !own_flies)
  `RNIC_ASSERT(Count0_A, flight0_2 == all0_q && flight0_1 == all0_1q && flight0 == all0_2q)
  `RNIC_ASSERT(Count1_A, flight1_2 == all1_q && flight1_1 == all1_1q && flight1 == all1_2q)
  `RNIC_ASSERT(Near_A, !own_flies || epoch == read_q || epoch == read_q + EpochW'(1))
  `RNIC_ASSERT(ClosedNear_A, !(closed_waits_q && own_flies) ||
                             closed_epoch_q == epoch || closed_epoch_q == read_q)
  `RNIC_ASSERT(ClosedSeen_A, !closed_waits_q || (closed_q && seen_q))
  logic ordered, near, newer;
  always_comb begin
    ordered = 1'b1;
    near    = 1'b1;
    newer   = 1'b0;
    for (int unsigned i = 0; i < Notes; i++) if (i < 32'(notes)) begin
      if (2'(epoch[1:0] - epochs_q[2*i+:2]) > 2'd1) ordered = 1'b0;
      if (epochs_q[2*i+:2] != epoch[1:0] && newer) ordered = 1'b0;
      newer = epochs_q[2*i+:2] == epoch[1:0];
      if (waits_q[i] && !seen_q) near = 1'b0;
      if (waits_q[i] && own_flies && epoch == read_q && epochs_q[2*i+:2] != epoch[1:0]) near = 1'b0;
    end
  end
  `RNIC_ASSERT(Ordered_A, ordered && notes <= 3'(Notes))
  `RNIC_ASSERT(NotesNear_A, near)

  `RNIC_COVER(Ends_C, done_valid && done_waits && seen_q)
  `RNIC_COVER(Drained_C, judged_q && hold_i && drained && closed_waits_q)
  `RNIC_COVER(Waits_C, judged_q && hold_i && !drained && !current && closed_waits_q)
endmodule
