// header_take: removes the first n bytes of each packet, where those bytes determine n.
//
// In: packets. Out on head: the first beat of each packet. The user decodes it and returns n on
// cut, once per packet, in order. Out: the rest of the packet, without a gap. The output for a
// packet of at most n bytes is one beat with keep 0.
//
//   in --+--> [ beats, Depth ] ---> [ lane_shift: down by n ] --+--> [ held ] --> merge --+
//        |                                  ^                   +-------- cur -----^      |
//        +--> head --> user --> cut --> [ cuts ]         out <-- [ stream_reg ] <---------+
//
// Lanes at and above keep are undefined. error passes to the last beat.
// Latency: 5 cycles from the later of beat and cut; beat k of a packet waits for beat k+1.
// Throughput: 1 beat per cycle, also for packets of one or two beats, if Depth covers the beats
// that arrive until the user returns the cut.
// Back-pressure: head is combinational from in (a stream_reg before the decoder cuts it), and
// head_ready_i reaches ready_o. All other paths are cut.
// Proof rtl/formal/header_take_fv.sv, bench tb/lib/header_take_test.cpp, sibling header_put
`include "rnic_assert.svh"

module header_take #(
  parameter int unsigned Bytes = 64,   // of a beat; smaller only in the proof
  parameter int unsigned Depth = 16,   // beats held until their cut is known
  localparam int unsigned KeepW = $clog2(Bytes + 1),
  localparam int unsigned CutW  = $clog2(Bytes)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from the producer of the packet
  input  logic               valid_i,
  output logic               ready_o,
  input  logic               last_i,
  input  logic               error_i,
  input  logic [KeepW-1:0]   keep_i,
  input  logic [8*Bytes-1:0] data_i,
  // to the header decoder: the first beat of each packet
  output logic               head_valid_o,
  input  logic               head_ready_i,
  output logic               head_last_o,   // this beat is the whole packet
  output logic [KeepW-1:0]   head_keep_o,
  output logic [8*Bytes-1:0] head_data_o,
  // from the header decoder: how many bytes to remove
  input  logic               cut_valid_i,
  output logic               cut_ready_o,
  input  logic [CutW-1:0]    cut_bytes_i,
  // to the consumer of the rest
  output logic               valid_o,
  input  logic               ready_i,
  output logic               last_o,
  output logic               error_o,
  output logic [KeepW-1:0]   keep_o,
  output logic [8*Bytes-1:0] data_o
);
  if (Bytes < 4 || (Bytes & (Bytes - 1)) != 0)
    $fatal(1, "header_take %m: Bytes must be a power of two from 4");
  if (Depth < 2)
    $fatal(1, "header_take %m: Depth must be at least 2");

  localparam int unsigned Bits  = 8 * Bytes;
  localparam int unsigned BeatW = 2 + KeepW + Bits;
  localparam int unsigned SideW = 2 + KeepW + CutW;

  // Entry: the store and the decoder accept a first beat in the same cycle.
  logic first_q, store_ready, push;

  assign ready_o      = store_ready && (!first_q || head_ready_i);
  assign push         = valid_i && ready_o;
  assign head_valid_o = valid_i && first_q && store_ready;
  assign head_last_o  = last_i;
  assign head_keep_o  = keep_i;
  assign head_data_o  = data_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)   first_q <= 1'b1;
    else if (push) first_q <= last_i;
  end

  // The store, and the cut of its front packet.
  logic              beat_valid, beat_ready, beat_last, beat_error, cut_valid, cut_ready,
                     issue, shift_ready;
  logic [KeepW-1:0]  beat_keep;
  logic [Bits-1:0]   beat_data;
  logic [CutW-1:0]   cut_bytes;
  logic [$clog2(Depth+1)-1:0] unused_beats;
  logic [2:0]        unused_cuts;

  stream_fifo #(.Width(BeatW), .Depth(Depth)) u_beats (
    .clk_i, .rst_ni,
    .valid_i(push), .ready_o(store_ready), .data_i({last_i, error_i, keep_i, data_i}),
    .valid_o(beat_valid), .ready_i(beat_ready),
    .data_o({beat_last, beat_error, beat_keep, beat_data}),
    .count_o(unused_beats)
  );

  stream_fifo #(.Width(CutW), .Depth(4)) u_cuts (
    .clk_i, .rst_ni,
    .valid_i(cut_valid_i), .ready_o(cut_ready_o), .data_i(cut_bytes_i),
    .valid_o(cut_valid), .ready_i(cut_ready), .data_o(cut_bytes),
    .count_o(unused_cuts)
  );

  assign issue      = beat_valid && cut_valid;
  assign beat_ready = cut_valid && shift_ready;
  assign cut_ready  = beat_valid && beat_last && shift_ready;

  // Rotation down by the cut: bytes from the cut on go to the bottom, those before it to the top.
  logic              cur_valid, cur_ready, cur_last, cur_error;
  logic [KeepW-1:0]  cur_keep;
  logic [CutW-1:0]   cur_cut;
  logic [Bits-1:0]   cur_data;

  lane_shift #(.Bytes(Bytes), .SideW(SideW)) u_shift (
    .clk_i, .rst_ni,
    .valid_i(issue), .ready_o(shift_ready), .data_i(beat_data), .shift_i(-cut_bytes),
    .side_i({beat_last, beat_error, beat_keep, cut_bytes}),
    .valid_o(cur_valid), .ready_i(cur_ready), .data_o(cur_data),
    .side_o({cur_last, cur_error, cur_keep, cur_cut})
  );

  // Merge: the held beat fills the bottom lanes, the next beat of its packet the top lanes.
  logic              held_valid_q, held_last_q, held_error_q;
  logic [KeepW-1:0]  held_keep_q;
  logic [CutW-1:0]   held_cut_q;
  logic [Bits-1:0]   held_q;
  logic              alone, merge, used_up, out_ready, out_last, out_error;
  logic [KeepW-1:0]  out_keep, held_rest;
  logic [Bits-1:0]   out_data;

  assign alone     = held_valid_q && held_last_q;
  assign merge     = held_valid_q && !held_last_q && cur_valid;
  assign used_up   = cur_last && cur_keep <= KeepW'(held_cut_q);   // the merge uses up cur
  assign cur_ready = !held_valid_q || out_ready;
  assign held_rest = held_keep_q > KeepW'(held_cut_q) ? held_keep_q - KeepW'(held_cut_q) : '0;

  assign out_last  = alone || used_up;
  assign out_error = alone ? held_error_q : cur_error && used_up;
  assign out_keep  = alone   ? held_rest
                   : used_up ? KeepW'(Bytes) - KeepW'(held_cut_q) + cur_keep : KeepW'(Bytes);

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      out_data[8*i +: 8] = i + 32'(held_cut_q) < Bytes || alone ? held_q[8*i +: 8]
                                                                : cur_data[8*i +: 8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                     held_valid_q <= 1'b0;
    else if (cur_valid && cur_ready) held_valid_q <= !(merge && used_up);
    else if (alone && out_ready)     held_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (cur_valid && cur_ready) begin
      held_last_q  <= cur_last;
      held_error_q <= cur_error;
      held_keep_q  <= cur_keep;
      held_cut_q   <= cur_cut;
      held_q       <= cur_data;
    end
  end

  stream_reg #(.Width(BeatW)) u_out (
    .clk_i, .rst_ni,
    .valid_i(alone || merge), .ready_o(out_ready),
    .data_i({out_last, out_error, out_keep, out_data}),
    .valid_o, .ready_i, .data_o({last_o, error_o, keep_o, data_o})
  );

  `RNIC_ASSERT(InDense_A, !valid_i || (last_i ? keep_i <= KeepW'(Bytes) : keep_i == KeepW'(Bytes)))
  `RNIC_ASSERT(OutDense_A, !valid_o || (last_o ? keep_o <= KeepW'(Bytes) : keep_o == KeepW'(Bytes)))
  `RNIC_ASSERT(SameCut_A, !merge || cur_cut == held_cut_q)
  `RNIC_STREAM_STABLE(HeadStable_A, head_valid_o, head_ready_i,
                      {head_last_o, head_keep_o, head_data_o})
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {last_o, error_o, keep_o, data_o})
endmodule
