// header_take_fv: bounded proof of header_take with beats of 4 bytes. The output packet is the
// input packet without its first n bytes, dense, with its error; no packet is lost, invented or
// reordered.
//
// Each input byte encodes its position: {packet number modulo 4, offset}. The proof follows any one
// packet: its length, its cut, its error. Bounded only: an induction would need the contents of
// every stage inside (stream_fifo, stream_reg and lane_shift are proved by themselves). The cell's
// benches run it at 64 bytes.
// proved by themselves: stream_fifo stream_reg lane_shift
// proof: assertions=10 bounded=12 induction=0 cover=14
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module header_take_fv (
  input logic        clk_i,
  input logic        valid_i, last_i, error_i, head_ready_i, cut_valid_i, ready_i,
  input logic [2:0]  keep_i,
  input logic [1:0]  cut_bytes_i
);
  `RNIC_FORMAL_RESET
  logic        ready_o, head_valid_o, head_last_o, cut_ready_o, valid_o, last_o, error_o;
  logic [2:0]  head_keep_o, keep_o;
  logic [31:0] data_i, head_data_o, data_o;

  header_take #(.Bytes(4), .Depth(3)) dut (
    .clk_i, .rst_ni, .valid_i, .ready_o, .last_i, .error_i, .keep_i, .data_i,
    .head_valid_o, .head_ready_i, .head_last_o, .head_keep_o, .head_data_o,
    .cut_valid_i, .cut_ready_o, .cut_bytes_i,
    .valid_o, .ready_i, .last_o, .error_o, .keep_o, .data_o
  );

  (* anyconst *) logic [3:0] which;   // the packet that is followed
  logic [3:0] in_packet_q, head_packet_q, cut_packet_q, out_packet_q;
  logic [5:0] in_offset_q, out_offset_q, length_q;
  logic [1:0] cut_q;
  logic       error_q, whole_q, take, give;
  logic [5:0] left;

  assign take = valid_i && ready_o;
  assign give = valid_o && ready_i;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) data_i[8*i +: 8] = {in_packet_q[1:0], in_offset_q + 6'(i)};
  end

  // The environment: stable offers, dense packets, a cut for each accepted head.
  `RNIC_ASSUME_STREAM(valid_i, ready_o, {last_i, error_i, keep_i})
  `RNIC_ASSUME_STREAM(cut_valid_i, cut_ready_o, cut_bytes_i)
  `RNIC_ASSUME(!valid_i || (last_i ? keep_i <= 3'd4 && (keep_i != 3'd0 || in_offset_q == 6'd0)
                                   : keep_i == 3'd4))
  `RNIC_ASSUME(!cut_valid_i || cut_packet_q != head_packet_q)

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_packet_q   <= 4'd0;
      head_packet_q <= 4'd0;
      cut_packet_q  <= 4'd0;
      out_packet_q  <= 4'd0;
      in_offset_q   <= 6'd0;
      out_offset_q  <= 6'd0;
      whole_q       <= 1'b0;
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
      if (head_valid_o && head_ready_i) head_packet_q <= head_packet_q + 4'd1;
      if (cut_valid_i && cut_ready_o) begin
        cut_packet_q <= cut_packet_q + 4'd1;
        if (cut_packet_q == which) cut_q <= cut_bytes_i;
      end
      if (give) begin
        out_offset_q <= last_o ? 6'd0 : out_offset_q + 6'd4;
        if (last_o) out_packet_q <= out_packet_q + 4'd1;
      end
    end
  end

  // The packet that is followed, at the output. length_q counts once it is in whole.
  logic mine;
  assign mine = valid_o && out_packet_q == which;
  assign left = length_q > 6'(cut_q) ? length_q - 6'(cut_q) : 6'd0;

  logic [3:0] misplaced;

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      misplaced[i] = i < 32'(keep_o) &&
                     data_o[8*i +: 8] != {which[1:0], out_offset_q + 6'(i) + 6'(cut_q)};
    end
  end

  `RNIC_ASSERT(BytesInPlace_A, !mine || misplaced == 4'd0)
  `RNIC_ASSERT(LengthRight_A, !(mine && last_o) ||
                              (whole_q && out_offset_q + 6'(keep_o) == left && error_o == error_q))
  `RNIC_ASSERT(NotEmptyBehindOthers_A, !valid_o || keep_o != 3'd0 || out_offset_q == 6'd0)
  `RNIC_ASSERT(NotInvented_A, !valid_o || out_packet_q != cut_packet_q)
  `RNIC_ASSERT(HeadIsFirst_A, !head_valid_o ||
                              (head_data_o == data_i && in_offset_q == 6'd0 &&
                               head_keep_o == keep_i && head_last_o == last_i))

  `RNIC_COVER(Emptied_C, mine && last_o && keep_o == 3'd0 && length_q == 6'd2)
  `RNIC_COVER(Shorter_C, mine && last_o && length_q == 6'd9 && cut_q == 2'd2)
  `RNIC_COVER(Flushed_C, mine && last_o && length_q == 6'd8 && cut_q == 2'd1 &&
                         error_o && which == 4'd1)
endmodule
