// llp_if_give: returns the streaming record for admin's conn_give, or an empty record if the
// connection ends first.
//
//   raw header (llp_if_rx) --> [ requested? ] --+--> [ header ] --> raw_rx_hdr
//   raw beats -----------------------|----------+-----------------> raw_rx
//                                    +--> dropped: not requested
//   llp_if_ctl: asked (conn_give), ended (its connection)
//
// Invariants:
//  1. At most one conn_give is outstanding, since admin waits for its bytes (OneAtATime_A).
//  2. A conn_give ends with the header of its record. If llp_if_ctl reports the end of the
//     connection before that, the conn_give ends with an empty packet (`ended`, one beat of no
//     bytes): the LLP sends no record then, and admin would wait forever. A later record is dropped
//     as not requested.
// Latency: 2 cycles for a header. Back-pressure: waits only for admin.
// Siblings: llp_if_rx, llp_if_ctl. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_give (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // from and to llp_if_ctl
  input  logic                   asked_i,       // the LLP will send a record of conn_i
  input  logic                   ended_i,       // connection conn_o has ended
  input  logic [15:0]            conn_i,
  output logic                   under_way_o,   // a conn_give of conn_o waits for its record
  output logic [15:0]            conn_o,
  // from llp_if_rx
  input  logic                   hdr_valid_i,
  output logic                   hdr_ready_o,
  input  iwarp_pkg::raw_rx_hdr_t hdr_i,
  input  logic                   beat_valid_i,
  output logic                   beat_ready_o,
  input  iwarp_pkg::beat_t       beat_i,
  // to admin
  output logic                   raw_hdr_valid_o,
  input  logic                   raw_hdr_ready_i,
  output iwarp_pkg::raw_rx_hdr_t raw_hdr_o,
  output logic                   raw_valid_o,
  input  logic                   raw_ready_i,
  output iwarp_pkg::beat_t       raw_o
);
  typedef enum logic [2:0] {
    StIdle,   // waits for a header, or the end of the connection
    StHdr,    // passes the header on
    StPass,   // passes the record's beats on
    StDrop,   // beats that were not requested
    StEmpty,  // offers the header of an empty packet
    StBeat    // its beat
  } state_e;

  state_e                 state_d, state_q;
  // end_q: report the end once a dropped record has drained. answers: the header is that of the
  // record which the outstanding conn_give waits for. ends: that conn_give ends without a record.
  logic                   under_way_q, end_q, take, answers, ends;
  logic [15:0]            conn_q;
  iwarp_pkg::raw_rx_hdr_t hdr_q;
  iwarp_pkg::beat_t       empty;

  assign ends    = ended_i && under_way_q;
  assign take    = hdr_valid_i && hdr_ready_o;
  assign answers = under_way_q && hdr_i.connection == conn_q;
  assign under_way_o = under_way_q;
  assign conn_o      = conn_q;

  // The end is accepted in any state. It comes only when no record of this conn_give is in flight.
  assign hdr_ready_o     = state_q == StIdle && !ends && !end_q;
  assign beat_ready_o    = state_q == StDrop || (state_q == StPass && raw_ready_i);
  assign raw_hdr_valid_o = state_q == StHdr || state_q == StEmpty;
  assign raw_hdr_o       = state_q == StEmpty ? {conn_q, 16'd0, 1'b1} : hdr_q;
  always_comb begin
    empty      = '0;
    empty.last = 1'b1;
  end
  assign raw_valid_o = state_q == StBeat || (state_q == StPass && beat_valid_i);
  assign raw_o       = state_q == StBeat ? empty : beat_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:  if (ends || end_q) state_d = StEmpty;
               else if (take) state_d = answers ? StHdr : StDrop;
      StHdr:   if (raw_hdr_ready_i) state_d = StPass;
      StPass:  if (beat_valid_i && raw_ready_i && beat_i.last) state_d = StIdle;
      StDrop:  if (beat_valid_i && beat_i.last) state_d = StIdle;
      StEmpty: if (raw_hdr_ready_i) state_d = StBeat;
      StBeat:  if (raw_ready_i) state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      under_way_q <= 1'b0;
      end_q       <= 1'b0;
    end else begin
      state_q     <= state_d;
      under_way_q <= asked_i || (under_way_q && !ends && !(take && answers));
      end_q       <= state_d != StEmpty && (end_q || ends);
    end
  end
  always_ff @(posedge clk_i) begin
    if (asked_i) conn_q <= conn_i;
    if (take)    hdr_q  <= hdr_i;
  end

  `RNIC_ASSERT(OneAtATime_A, !asked_i || !under_way_q)
  `RNIC_STREAM_STABLE(HdrStable_A, raw_hdr_valid_o, raw_hdr_ready_i, raw_hdr_o)
  `RNIC_STREAM_STABLE(OutStable_A, raw_valid_o, raw_ready_i, raw_o)
endmodule
