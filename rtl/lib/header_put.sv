// header_put: inserts n bytes (0 .. Bytes) before the first byte of each packet, without a gap.
//
// In: one word on put per packet, in order; its low n bytes become the packet's first bytes. Out:
// the longer packet. For an empty packet (one beat, keep 0) the output is the n bytes only.
//
//   put --> [ counts ] --> n         [ headers ] ---first---+
//                          |                                v
//   in ---------> [ lane_shift: up by n ] --> cur --> merge --> [ stream_reg ] --> out
//                                              +--> [ held ]-^
//
// Lanes at and above keep are undefined. error passes to the last beat.
// Latency: 3 cycles from the beat, 4 from the word on put. Throughput: 1 beat per cycle on out. A
// packet that becomes one beat longer by its n bytes takes one cycle more.
// Back-pressure: a beat waits for its put word. The paths to put and out are cut: ready_i reaches
// no output. ready_o depends combinationally on the stages after it, not on valid_i.
// Proof rtl/formal/header_put_fv.sv, bench tb/lib/header_put_test.cpp, sibling header_take
`include "rnic_assert.svh"

module header_put #(
  parameter int unsigned Bytes = 64,   // of a beat; smaller only in the proof
  localparam int unsigned KeepW = $clog2(Bytes + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from the maker of the header
  input  logic               put_valid_i,
  output logic               put_ready_o,
  input  logic [KeepW-1:0]   put_bytes_i,
  input  logic [8*Bytes-1:0] put_data_i,
  // from the producer of the packet
  input  logic               valid_i,
  output logic               ready_o,
  input  logic               last_i,
  input  logic               error_i,
  input  logic [KeepW-1:0]   keep_i,
  input  logic [8*Bytes-1:0] data_i,
  // to the consumer of the longer packet
  output logic               valid_o,
  input  logic               ready_i,
  output logic               last_o,
  output logic               error_o,
  output logic [KeepW-1:0]   keep_o,
  output logic [8*Bytes-1:0] data_o
);
  if (Bytes < 4 || (Bytes & (Bytes - 1)) != 0)
    $fatal(1, "header_put %m: Bytes must be a power of two from 4");

  localparam int unsigned Bits   = 8 * Bytes;
  localparam int unsigned BeatW  = 2 + KeepW + Bits;
  localparam int unsigned SideW  = 3 + 2 * KeepW;
  localparam int unsigned ShiftW = $clog2(Bytes);

  // Header: the rotation needs its count, the merge after the rotation needs its bytes.
  logic             count_ready, count_valid, count_pop, header_ready, header_valid, header_pop;
  logic [KeepW-1:0] count;
  logic [Bits-1:0]  header;
  logic [2:0]       unused_counts, unused_headers;

  assign put_ready_o = count_ready && header_ready;

  stream_fifo #(.Width(KeepW), .Depth(4)) u_counts (
    .clk_i, .rst_ni,
    .valid_i(put_valid_i && header_ready), .ready_o(count_ready), .data_i(put_bytes_i),
    .valid_o(count_valid), .ready_i(count_pop), .data_o(count),
    .count_o(unused_counts)
  );

  stream_fifo #(.Width(Bits), .Depth(4)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(put_valid_i && count_ready), .ready_o(header_ready), .data_i(put_data_i),
    .valid_o(header_valid), .ready_i(header_pop), .data_o(header),
    .count_o(unused_headers)
  );

  // Rotation up by n: the beat's first bytes go to lane n, its last n bytes to the bottom.
  logic             first_q, issue, shift_ready;
  logic             cur_valid, cur_there, cur_ready, cur_first, cur_last, cur_error;
  logic [KeepW-1:0] cur_keep, cur_count;
  logic [Bits-1:0]  cur_data;

  assign issue     = valid_i && count_valid;
  assign ready_o   = count_valid && shift_ready;
  assign count_pop = valid_i && last_i && shift_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                   first_q <= 1'b1;
    else if (issue && shift_ready) first_q <= last_i;
  end

  lane_shift #(.Bytes(Bytes), .SideW(SideW)) u_shift (
    .clk_i, .rst_ni,
    .valid_i(issue), .ready_o(shift_ready), .data_i(data_i), .shift_i(count[ShiftW-1:0]),
    .side_i({first_q, last_i, error_i, keep_i, count}),
    .valid_o(cur_valid), .ready_i(cur_ready), .data_o(cur_data),
    .side_o({cur_first, cur_last, cur_error, cur_keep, cur_count})
  );

  // Merge: the header or the previous beat fills the bottom lanes. flush_q: the rest of a last beat
  // is sent as a separate beat.
  logic             flush_q, flush_error_q;
  logic [KeepW-1:0] flush_keep_q;
  logic [Bits-1:0]  held_q;
  logic [KeepW:0]   total;   // bytes for this and the next beat
  logic             fits, out_valid, out_ready, out_last, out_error;
  logic [KeepW-1:0] out_keep;
  logic [Bits-1:0]  bottom, out_data;

  assign total      = {1'b0, cur_count} + {1'b0, cur_keep};
  assign fits       = total <= (KeepW + 1)'(Bytes);
  // cur_there: cur is valid, and so is its header, if cur begins a packet.
  assign cur_there  = cur_valid && (header_valid || !cur_first);
  assign cur_ready  = !flush_q && out_ready && (header_valid || !cur_first);
  assign header_pop = cur_valid && cur_ready && cur_first;
  assign bottom     = cur_first ? header : held_q;

  assign out_valid = flush_q || cur_there;
  assign out_last  = flush_q || (cur_last && fits);
  assign out_error = flush_q ? flush_error_q : cur_error && cur_last && fits;
  assign out_keep  = flush_q ? flush_keep_q : cur_last && fits ? total[KeepW-1:0] : KeepW'(Bytes);

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      out_data[8*i +: 8] = flush_q ? held_q[8*i +: 8]
                         : KeepW'(i) < cur_count ? bottom[8*i +: 8] : cur_data[8*i +: 8];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni)        flush_q <= 1'b0;
    else if (out_ready) flush_q <= !flush_q && cur_there && cur_last && !fits;
  end

  always_ff @(posedge clk_i) begin
    if (cur_valid && cur_ready) begin
      held_q        <= cur_data;
      flush_keep_q  <= KeepW'(total - (KeepW + 1)'(Bytes));
      flush_error_q <= cur_error;
    end
  end

  stream_reg #(.Width(BeatW)) u_out (
    .clk_i, .rst_ni,
    .valid_i(out_valid), .ready_o(out_ready), .data_i({out_last, out_error, out_keep, out_data}),
    .valid_o, .ready_i, .data_o({last_o, error_o, keep_o, data_o})
  );

  `RNIC_ASSERT(PutInRange_A, !put_valid_i || put_bytes_i <= KeepW'(Bytes))
  `RNIC_ASSERT(InDense_A, !valid_i || (last_i ? keep_i <= KeepW'(Bytes) : keep_i == KeepW'(Bytes)))
  `RNIC_ASSERT(OutDense_A, !valid_o || (last_o ? keep_o <= KeepW'(Bytes) : keep_o == KeepW'(Bytes)))
  `RNIC_STREAM_STABLE(OutStable_A, valid_o, ready_i, {last_o, error_o, keep_o, data_o})
endmodule
