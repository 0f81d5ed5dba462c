// header_put_fv: bounded proof of header_put with beats of 4 bytes. The output packet is the n
// header bytes and then the input packet, dense, with its error; no packet is lost, invented or
// reordered.
//
// Each input byte encodes its position: {packet number modulo 2, header?, offset}. The proof
// follows any one packet. Bounded only: an induction would need the contents of every stage inside.
// proved by themselves: stream_fifo stream_reg lane_shift
// proof: assertions=8 bounded=11 induction=0 cover=14
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module header_put_fv (
  input logic        clk_i,
  input logic        put_valid_i, valid_i, last_i, error_i, ready_i,
  input logic [2:0]  put_bytes_i, keep_i
);
  `RNIC_FORMAL_RESET
  logic        put_ready_o, ready_o, valid_o, last_o, error_o;
  logic [2:0]  keep_o;
  logic [31:0] put_data_i, data_i, data_o;

  header_put #(.Bytes(4)) dut (
    .clk_i, .rst_ni, .put_valid_i, .put_ready_o, .put_bytes_i, .put_data_i,
    .valid_i, .ready_o, .last_i, .error_i, .keep_i, .data_i,
    .valid_o, .ready_i, .last_o, .error_o, .keep_o, .data_o
  );

  (* anyconst *) logic [3:0] which;   // the packet that is followed
  logic [3:0] in_packet_q, put_packet_q, out_packet_q;
  logic [2:0] put_q;
  logic [5:0] in_offset_q, out_offset_q, length_q;
  logic       error_q, whole_q, take, give;

  assign take = valid_i && ready_o;
  assign give = valid_o && ready_i;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      data_i[8*i +: 8]     = {in_packet_q[0], 1'b0, in_offset_q + 6'(i)};
      put_data_i[8*i +: 8] = {put_packet_q[0], 1'b1, 6'(i)};
    end
  end

  // The environment: stable offers, dense packets, at most 4 bytes in front.
  `RNIC_ASSUME_STREAM(valid_i, ready_o, {last_i, error_i, keep_i})
  `RNIC_ASSUME_STREAM(put_valid_i, put_ready_o, put_bytes_i)
  `RNIC_ASSUME(!valid_i || (last_i ? keep_i <= 3'd4 && (keep_i != 3'd0 || in_offset_q == 6'd0)
                                   : keep_i == 3'd4))
  `RNIC_ASSUME(!put_valid_i || put_bytes_i <= 3'd4)

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_packet_q  <= 4'd0;
      put_packet_q <= 4'd0;
      out_packet_q <= 4'd0;
      in_offset_q  <= 6'd0;
      out_offset_q <= 6'd0;
      whole_q      <= 1'b0;
    end else begin
      if (take) begin
        in_offset_q <= last_i ? 6'd0 : in_offset_q + 6'd4;
        if (last_i) in_packet_q <= in_packet_q + 4'd1;
        if (last_i && in_packet_q == which) begin
          whole_q  <= 1'b1;
          length_q <= in_offset_q + 6'(keep_i);
          error_q  <= error_i;
        end
      end
      if (put_valid_i && put_ready_o) begin
        put_packet_q <= put_packet_q + 4'd1;
        if (put_packet_q == which) put_q <= put_bytes_i;
      end
      if (give) begin
        out_offset_q <= last_o ? 6'd0 : out_offset_q + 6'd4;
        if (last_o) out_packet_q <= out_packet_q + 4'd1;
      end
    end
  end

  // The packet that is followed, at the output.
  logic mine;
  assign mine = valid_o && out_packet_q == which;

  logic [3:0] misplaced;
  logic [5:0] at;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      at           = out_offset_q + 6'(i);
      misplaced[i] = i < 32'(keep_o) &&
                     data_o[8*i +: 8] != {which[0], at < 6'(put_q),
                                          at < 6'(put_q) ? at : at - 6'(put_q)};
    end
  end

  `RNIC_ASSERT(BytesInPlace_A, !mine || misplaced == 4'd0)
  `RNIC_ASSERT(LengthRight_A, !(mine && last_o) ||
                              (whole_q &&
                               out_offset_q + 6'(keep_o) == length_q + 6'(put_q) &&
                               error_o == error_q))
  `RNIC_ASSERT(NotEmptyBehindOthers_A, !valid_o || keep_o != 3'd0 || out_offset_q == 6'd0)
  `RNIC_ASSERT(NotInvented_A, !valid_o || out_packet_q != put_packet_q)

  `RNIC_COVER(HeaderAlone_C, mine && last_o && keep_o == 3'd4 && length_q == 6'd0 && put_q == 3'd4)
  `RNIC_COVER(Longer_C, mine && last_o && length_q == 6'd7 && put_q == 3'd3 &&
                        error_o && which == 4'd1)
  `RNIC_COVER(Nothing_C, mine && last_o && keep_o == 3'd0)
endmodule
