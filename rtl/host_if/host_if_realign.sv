// host_if_realign: turns dense packets into the beats of TLPs, each TLP dense from lane 0.
//
// A chunk gives the number of bytes of the client's packet that go into one TLP.
//
//   chunks --> n = min(rest, 64), shift ----------------------+
//   beats of the four clients --> pick by client --> [ held ] --> merge: lanes < shift new,
//                                                                   |    others held
//                                       TLP beats <-- [ lane_shift down by shift ]
//
// A word is a beat of a client. The rest of a word that a chunk did not use is held. The next beat
// uses it first and, if it needs more, the front of the next word.
// Latency: 2 cycles. Throughput: 1 beat per cycle at any alignment, no gap between chunks or
// packets.
// Back-pressure: waits for the beats of the packet that is open.
// Benches tb/host_if/host_if_realign_test.cpp, tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_realign #(
  parameter int unsigned SideW = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // chunks
  input  logic             chunk_valid_i,
  output logic             chunk_ready_o,
  input  logic [12:0]      chunk_length_i,
  input  logic [1:0]       chunk_client_i,   // 0 place, 1 cq, 2 admin, 3 word
  input  logic             chunk_end_i,      // the last of its packet
  input  logic [SideW-1:0] chunk_side_i,
  // words of the four clients
  input  logic [3:0]       word_valid_i,
  output logic [3:0]       word_ready_o,
  input  logic [511:0]     place_word_i,
  input  logic [255:0]     cq_word_i,
  input  logic [511:0]     admin_word_i,
  input  logic [63:0]      small_word_i,     // of word
  // beats
  output logic             valid_o,
  input  logic             ready_i,
  output logic             first_o,          // of the TLP
  output logic             last_o,           // of the TLP
  output logic [6:0]       keep_o,
  output logic [511:0]     data_o,
  output logic [SideW-1:0] side_o
);
  // shift_q: bytes of held_q that earlier beats have used; 0: nothing is held. touch: this beat
  // needs a new word of the client; have: it is valid. inside_q: the chunk has begun.
  logic         inside_q, last, over, touch, have, step, shift_ready;
  logic [12:0]  rest_q, rest;
  logic [6:0]   count;
  logic [5:0]   shift_q, reach;
  logic [511:0] word, held_q, merged;
  logic [3:0]   pick;

  assign rest  = inside_q ? rest_q : chunk_length_i;
  assign last  = rest <= 13'd64;
  assign count = last ? rest[6:0] : 7'd64;
  assign reach = shift_q + count[5:0];
  // over: the next word is needed. It is computed in parallel with `last`, to keep the path short.
  assign over  = {2'd0, shift_q} + {1'b0, rest[6:0]} > 8'd64;
  assign touch = shift_q == '0 || !last || over;
  assign pick  = 4'd1 << chunk_client_i;
  assign have  = |(word_valid_i & pick);
  assign step  = chunk_valid_i && (!touch || have) && shift_ready;

  assign chunk_ready_o = step && last;
  assign word_ready_o  = pick & {4{step && touch}};

  always_comb begin
    case (chunk_client_i)
      2'd0:    word = place_word_i;
      2'd1:    word = {256'd0, cq_word_i};
      2'd2:    word = admin_word_i;
      default: word = {448'd0, small_word_i};
    endcase
    merged = held_q;
    for (int unsigned l = 0; l < 64; l++) begin
      if (shift_q == '0 || 6'(l) < shift_q) merged[8*l +: 8] = word[8*l +: 8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      shift_q  <= '0;
    end else if (step) begin
      inside_q <= !last;
      shift_q  <= last && chunk_end_i ? '0 : reach;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step)          rest_q <= rest - 13'd64;
    if (step && touch) held_q <= word;
  end

  lane_shift #(.Bytes(64), .SideW(SideW + 9)) u_shift (
    .clk_i, .rst_ni,
    .valid_i(chunk_valid_i && (!touch || have)), .ready_o(shift_ready),
    .data_i(merged), .shift_i(6'd0 - shift_q),
    .side_i({!inside_q, last, count, chunk_side_i}),
    .valid_o, .ready_i, .data_o, .side_o({first_o, last_o, keep_o, side_o})
  );

  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {first_o, last_o, keep_o, side_o, data_o})
endmodule
