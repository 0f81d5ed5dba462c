// mpa_rx_length: removes length, pad and CRC from an FPDU without markers, and compares its length
// with the length field.
//
//   in --> [ held ] --> two bytes down, the next beat's first two on top --> [ stream_reg ]
//                                                            out (the ULPDU) <-----+
//
// Invariants:
//  1. An FPDU has 2 + ULPDU bytes, zeros to a multiple of 4, and 4 bytes CRC (RFC 5044 section 4).
//  2. The last output beat waits for the last beat of the FPDU. bad_o and length_o are valid with
//     it.
//  3. The output for a bad FPDU is one or more beats of any content.
// Latency: 2 cycles. Throughput: 1 beat per cycle. Back-pressure: waits only for its consumer.
// Siblings: mpa_rx_marker, mpa_rx_store. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_rx_length (
  input  logic             clk_i,
  input  logic             rst_ni,
  // from mpa_rx_marker
  input  logic             valid_i,
  output logic             ready_o,
  input  iwarp_pkg::beat_t beat_i,
  input  logic             bad_i,
  // to mpa_rx_store
  output logic             valid_o,
  input  logic             ready_i,
  output iwarp_pkg::beat_t beat_o,
  output logic             bad_o,
  output logic [15:0]      length_o
);
  logic         held_valid_q, held_last_q, held_error_q, held_bad_q, first_q;
  logic [495:0] held_q;            // the held beat, without its first two bytes
  logic [17:0]  size_q, size_d;      // bytes of the FPDU up to and with the held beat
  logic [15:0]  length_q;
  logic [17:0]  want_q;              // bytes of an FPDU with this length field
  logic [16:0]  left_q;              // bytes of the ULPDU from the held beat on
  logic         alone, absorb, end_now, take, emit, out_ready, mismatch;
  logic [15:0]  length;
  logic [17:0]  want;
  iwarp_pkg::beat_t out;

  // The held beat is sent with the first two bytes of the next beat. `alone`: the held beat is the
  // last of its packet and is sent without a next beat. `absorb`: the next beat is the last, and
  // after its first two bytes it has only pad and CRC, so it makes no output beat of its own.
  assign alone   = held_valid_q && held_last_q;
  assign absorb  = held_valid_q && !held_last_q && valid_i && beat_i.last && left_q <= 17'd64;
  assign emit    = alone || (held_valid_q && valid_i);
  assign end_now = alone || absorb;
  assign ready_o = !held_valid_q || out_ready;
  assign take    = valid_i && ready_o;

  assign length = first_q ? {beat_i.data[7:0], beat_i.data[15:8]} : length_q;
  // Length field and ULPDU, rounded up to a multiple of 4, and 4 bytes CRC.
  assign want   = (({2'b0, length} + 18'd5) & ~18'd3) + 18'd4;
  assign size_d = (first_q ? 18'd0 : size_q) + 18'(beat_i.keep);

  assign mismatch = alone ? size_q != want_q : size_d != want_q;
  assign out.last  = end_now;
  assign out.error = alone ? held_error_q : beat_i.error;
  assign out.keep  = end_now && left_q <= 17'd64 ? left_q[6:0] : 7'd64;
  assign out.data  = {beat_i.data[15:0], held_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_valid_q <= 1'b0;
      first_q      <= 1'b1;
    end else begin
      if (take)                    held_valid_q <= !absorb;
      else if (alone && out_ready) held_valid_q <= 1'b0;
      if (take)                    first_q <= beat_i.last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      held_q       <= beat_i.data[511:16];
      held_last_q  <= beat_i.last;
      held_error_q <= beat_i.error;
      held_bad_q   <= bad_i;
      size_q       <= size_d;
      left_q       <= first_q ? {1'b0, length} : left_q > 17'd64 ? left_q - 17'd64 : '0;
      if (first_q) begin
        length_q <= length;
        want_q   <= want;
      end
    end
  end

  stream_reg #(.Width(17 + iwarp_pkg::BeatWidth)) u_out (
    .clk_i, .rst_ni,
    .valid_i(emit), .ready_o(out_ready),
    .data_i({mismatch || (alone ? held_bad_q : bad_i), length_q, out}),
    .valid_o, .ready_i, .data_o({bad_o, length_o, beat_o})
  );

  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {bad_o, length_o, beat_o})
endmodule
