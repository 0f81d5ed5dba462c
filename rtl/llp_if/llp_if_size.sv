// llp_if_size: computes MULPDU and the worst-case FPDU from the connection's segment size.
// docs/ambiguities.md C-27
//
//   MULPDU = mss - 6 - mss mod 4 - (markers: 4 ceil(mss / 512)), at least 128
//   FPDU   = 2 + MULPDU padded to a multiple of 4, plus 4 bytes CRC; with markers plus one word per
//            127 words
//
// Latency: three register stages; hold the inputs for 3 cycles. Back-pressure: none.
// Bench: tb/llp_if/llp_if_test.cpp, on the unit
module llp_if_size (
  input  logic        clk_i,
  input  logic [15:0] mss_i,
  input  logic        markers_i,
  output logic [15:0] mulpdu_o,
  output logic [16:0] worst_o
);
  // pieces: mss + 511, so that its upper bits are ceil(mss / 512). room: MULPDU before its minimum;
  // negative or below 128: MULPDU is 128.
  logic [16:0] pieces;
  logic [17:0] room;
  logic [15:0] mulpdu_q;
  logic        markers_q, markers2_q;
  logic [15:0] mulpdu2_q;
  logic [14:0] words_q, rounded_q, total;
  logic [8:0]  both;
  logic [7:0]  words_of_markers;
  logic [8:0]  unused_pieces;

  assign pieces        = {1'b0, mss_i} + 17'd511;
  assign room          = {2'b0, mss_i} - 18'd6 - {16'd0, mss_i[1:0]} -
                         (markers_i ? {8'd0, pieces[16:9], 2'b00} : 18'd0);
  assign unused_pieces = pieces[8:0];

  always_ff @(posedge clk_i) begin
    mulpdu_q  <= room[17] || room[16:7] == '0 ? 16'd128 : room[15:0];
    markers_q <= markers_i;
  end

  // words: MULPDU, length field (2 bytes) and CRC (4), rounded up (3): + 9. Markers:
  // ceil(words / 127), with x = words + 126 = 128 a + b = 127 a + (a + b), so x / 127 is a plus
  // (a + b) / 127. 126 words are 504 bytes: + 513.
  always_ff @(posedge clk_i) begin
    mulpdu2_q  <= mulpdu_q;
    markers2_q <= markers_q;
    words_q    <= 15'(({1'b0, mulpdu_q} + 17'd9) >> 2);
    rounded_q  <= 15'(({1'b0, mulpdu_q} + 17'd513) >> 2);
  end

  assign both             = {1'b0, rounded_q[14:7]} + {2'b0, rounded_q[6:0]};
  assign words_of_markers = rounded_q[14:7] + (both >= 9'd254 ? 8'd2
                                             : both >= 9'd127 ? 8'd1 : 8'd0);
  assign total            = words_q + (markers2_q ? {7'd0, words_of_markers} : 15'd0);

  always_ff @(posedge clk_i) begin
    mulpdu_o <= mulpdu2_q;
    worst_o  <= {total, 2'b00};
  end
endmodule
