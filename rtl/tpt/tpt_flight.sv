// tpt_flight: counts the accesses in flight in two epochs, so that tpt_update knows when none of
// those that saw an entry open is left; and holds the invalidations that wait for that.
//
//   lookups, extents --> [ register ] --> [ sum ] --> counters of two epochs --> empty?
//   note_i (an invalidation, in the epoch of its close) --> [ queue ] --> drained --> done_o
//
// Invariants:
//  1. In flight are, for each of two epochs: lookups that have extents (of rx, tx and qn1), from
//     the cycle in which they read their entry until they are walked or dropped; and extents until
//     they are retired, failed ones too. reading_i, look_i, moves_q, summed_q and the counters show
//     a lookup in every cycle of its life. So an epoch that reads as empty is empty; this assumes
//     no cycle count of another leaf (LateLook_A).
//  2. A lookup in flight read its entry in the current epoch or in the one before: the epoch turns
//     only when the one before has drained. So an epoch in which an entry was closed has drained
//     when it is neither the current one, nor the last one with work in flight.
//  3. The epoch turns only after every drained note has left the queue. So all notes in it are of
//     the current epoch, or all of the one before, and they leave in order. Two bits of the epoch
//     are enough for them.
// Latency: a count is two cycles late, which invariant 1 covers; a note that has drained leaves
// from the next cycle on. Throughput: 1 note per cycle in, 1 per 2 cycles out.
// Back-pressure: none. The queue has room for every note: at most 2 FifoDepth of the peer, which
// ddp_rx_hold limits, and FifoDepth of our own, which tpt_update limits (NoteRoom_A). Were room for
// them shared, our own could delay the peer's, hence ddp's receive, hence segments whose extents
// they wait for.
// Siblings: tpt_update (closes entries), tpt_entry (reads them), tpt_walk. Benches:
// tb/tpt/tpt_update_test.cpp, tb/tpt/tpt_test.cpp. Proof: rtl/formal/tpt_flight_fv.sv.
`include "rnic_assert.svh"

module tpt_flight #(
  parameter  int unsigned NoteW   = 1,
  parameter  int unsigned FlightW = 20,
  parameter  int unsigned EpochW  = 16
) (
  input  logic clk_i,
  input  logic rst_ni,
  // what enters and leaves flight: bit i with its epoch
  input  logic       reading_i,        // a lookup that has extents reads its entry
  input  logic       look_i,           // a lookup read its entry in the last cycle; any result
  input  logic       look_epoch_i,
  input  logic [5:0] ended_i,          // lookups walked, dropped (tpt_walk): of rx, tx, qn1
  input  logic [5:0] ended_epoch_i,
  input  logic       issued_i,         // an extent is issued
  input  logic       issued_epoch_i,
  input  logic [3:0] retired_i,        // extents: read, written, dropped by ddp, of qn1
  input  logic [3:0] retired_epoch_i,
  // the epoch
  input  logic       due_i,            // an entry was closed in the current epoch, or waits for it
  input  logic       hold_i,           // the epoch does not turn in this cycle
  output logic [EpochW-1:0] epoch_o,
  output logic       all_empty_o,      // nothing is in flight
  // The epoch in which an entry was closed, judged at judge_i. The outputs hold from the next cycle
  // on, while hold_i.
  input  logic       judge_i,
  input  logic [EpochW-1:0] closed_i,  // the epoch in which the entry was closed
  output logic       current_o,        // closed_i is the current epoch
  output logic       drained_o,        // no access that saw the entry open is in flight
  // invalidations
  input  logic             note_valid_i,
  input  logic [NoteW-1:0] note_i,     // passed on to done_o
  output logic             done_valid_o,
  input  logic             done_ready_i,
  output logic [NoteW-1:0] done_o
`ifdef FORMAL
  ,
  // for the proof: the counters of both epochs as they are, and with the next one and two sums; the
  // queue of notes
  output logic [6*FlightW-1:0] f_flight_o,
  output logic                 f_pop_o,
  output logic [2:0]           f_notes_o,
  output logic [1:0]           f_oldest_o
`endif
);
  // maximum that leaves flight per cycle: 6 of ended_i and 4 of retired_i
  localparam int unsigned OutW = 10;

  logic [EpochW-1:0]  epoch_q;
  logic [FlightW-1:0] flight0_d, flight0_q, flight1_d, flight1_q;
  logic [4:0] delta0_d, delta0_q, delta1_d, delta1_q;   // -OutW to 2, two's complement
  function automatic logic [3:0] ones(input logic [OutW-1:0] bits);
    ones = '0;
    for (int i = 0; i < 32'(OutW); i++) ones = ones + {3'b000, bits[i]};
  endfunction
  // Entries to and exits from flight are all counted two cycles late: registered, summed, added.
  logic [OutW+1:0] moves_d, moves_q, move_epochs_q;   // the top 2 bits enter, the others leave
  assign moves_d = {issued_i, look_i, ended_i, retired_i};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) moves_q <= '0;
    else         moves_q <= moves_d;
  end
  always_ff @(posedge clk_i)
    move_epochs_q <= {issued_epoch_i, look_epoch_i, ended_epoch_i, retired_epoch_i};
  assign delta0_d = 5'(ones({{(OutW - 2){1'b0}}, moves_q[OutW+:2] & ~move_epochs_q[OutW+:2]})) -
                    5'(ones(moves_q[OutW-1:0] & ~move_epochs_q[OutW-1:0]));
  assign delta1_d = 5'(ones({{(OutW - 2){1'b0}}, moves_q[OutW+:2] & move_epochs_q[OutW+:2]})) -
                    5'(ones(moves_q[OutW-1:0] & move_epochs_q[OutW-1:0]));
  logic summed_q, summed_epoch_q;      // the delta includes a lookup
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      delta0_q <= '0;
      delta1_q <= '0;
      summed_q <= 1'b0;
    end else begin
      delta0_q <= delta0_d;
      delta1_q <= delta1_d;
      summed_q <= moves_q[OutW];
    end
  end
  always_ff @(posedge clk_i) summed_epoch_q <= move_epochs_q[OutW];
  assign flight0_d = flight0_q + {{(FlightW - 5){delta0_q[4]}}, delta0_q};
  assign flight1_d = flight1_q + {{(FlightW - 5){delta1_q[4]}}, delta1_q};

  logic zero0, zero1, old, old_empty;   // old_empty: nothing of the previous epoch is in flight
  assign old         = !epoch_q[0];
  assign zero0       = flight0_q == '0;
  assign zero1       = flight1_q == '0;
  assign all_empty_o = zero0 && zero1 && !reading_i && !look_i && !moves_q[OutW] && !summed_q;
  assign old_empty   = (old ? zero1 : zero0) && !(look_i && look_epoch_i == old) &&
                       !(moves_q[OutW] && move_epochs_q[OutW] == old) &&
                       !(summed_q && summed_epoch_q == old);
  assign epoch_o     = epoch_q;

  // --- notes
  localparam int unsigned NoteDepth = 3 * rnic_pkg::FifoDepth;   // 2 of the peer, 1 of our own
  logic       note_room, note_valid, ripe, ripe_q, pop;           // ripe: the oldest has drained
  logic [1:0] oldest;   // epoch of the oldest note
  logic [$clog2(NoteDepth+1)-1:0] notes;
  stream_fifo #(.Width(2 + NoteW), .Depth(NoteDepth), .Reserved(1'b1)) u_notes (
    .clk_i, .rst_ni,
    .valid_i(note_valid_i), .ready_o(note_room), .data_i({epoch_q[1:0], note_i}),
    .valid_o(note_valid), .ready_i(pop), .data_o({oldest, done_o}), .count_o(notes)
  );
  assign ripe = note_valid &&
                oldest != epoch_q[1:0] && (oldest != epoch_q[1:0] - 2'd1 || old_empty);
  // Once ripe, the oldest note stays so until it leaves: the epoch does not turn before. It leaves
  // from a register, since old_empty is the longest path of this leaf.
  always_ff @(posedge clk_i) ripe_q <= rst_ni && ripe && !pop;
  assign pop          = ripe_q && done_ready_i;
  assign done_valid_o = ripe_q;
  `RNIC_ASSERT(RipeStays_A, !ripe_q || ripe)
  `RNIC_ASSERT(NoteNear_A, !note_valid || oldest == epoch_q[1:0] || oldest == epoch_q[1:0] - 2'd1)
  `RNIC_ASSERT(NoteRoom_A, !note_valid_i || note_room)

  // --- the epoch
  // current_q, before_q: closed_i, when judged, was the current epoch, the epoch before it
  logic turn, turn_due_q, current_q, before_q;   // turn_due_q: due_i asks for a turn
  logic old_empty_q;
  // A note that the queue holds but does not show yet (build `stall`) may be drained, too.
  assign turn = turn_due_q && old_empty && !hold_i && !ripe && (note_valid || notes == '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      epoch_q    <= '0;
      turn_due_q <= 1'b0;
      flight0_q  <= '0;
      flight1_q  <= '0;
    end else begin
      flight0_q  <= flight0_d;
      flight1_q  <= flight1_d;
      if (turn) epoch_q <= epoch_q + 1'b1;
      if (due_i)       turn_due_q <= 1'b1;
      else if (turn) turn_due_q <= 1'b0;
    end
  end
  // closed_i is compared with the epoch of the next cycle. Compared in the cycle of use, the 16
  // bits and the counters would be the longest path of the chip.
  always_ff @(posedge clk_i) begin
    if (judge_i) begin
      current_q <= turn ? closed_i == epoch_q + EpochW'(1) : closed_i == epoch_q;
      before_q  <= turn ? closed_i == epoch_q : closed_i == epoch_q - EpochW'(1);
    end
    // Once empty, the previous epoch stays so until the epoch turns: no lookup enters it.
    old_empty_q <= rst_ni && old_empty && !turn;
  end
  assign current_o = current_q;
  assign drained_o = !current_q && (!before_q || old_empty_q);

  // A lookup of the previous epoch may appear once more after a turn: it read its entry in the
  // turn's own cycle. One that comes later was not counted in time.
  logic turned_q;
  always_ff @(posedge clk_i) turned_q <= rst_ni && turn;
  `RNIC_ASSERT(LateLook_A, !look_i || look_epoch_i != old || turned_q)
  `RNIC_ASSERT(FlightNotBelowZero_A, !(delta0_q[4] && flight0_d > flight0_q) &&
                                     !(delta1_q[4] && flight1_d > flight1_q))

`ifdef FORMAL
  assign f_flight_o = {flight1_d + {{(FlightW - 5){delta1_d[4]}}, delta1_d},
                       flight0_d + {{(FlightW - 5){delta0_d[4]}}, delta0_d},
                       flight1_d, flight0_d, flight1_q, flight0_q};
  assign f_pop_o    = pop;
  assign f_notes_o  = notes;
  assign f_oldest_o = oldest;
`endif
endmodule
