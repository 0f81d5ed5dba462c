// atomic_xlate: sends the target of each item to tpt for check and translation, and routes the item
// by the response.
//
//   item --> [ queue ] --> qn1_xlate     qn1_extent --> [ judged ] --+--> acquire, to atomic_lock
//     entry --> [ order: FIFO of 72 ] ---------------------^         +--> result, to atomic_fetch
//                                                                    +--> end: refused, dropped
//
// 1. Responses of tpt come in the order of qn1_xlate, so `order` pairs each with its entry.
// 2. A judged item leaves at once: to the lock, or as a result, for which atomic_fetch has room. A
//    request that was refused or dropped waits only for atomic_end, which never waits for a stream.
//    So a result waits for no request here.
// 3. A dead request is dropped even if tpt refuses it. dead_i counts in the cycle in which the
//    response is taken.
// 4. The alignment is checked on the bus address, after tpt's checks (A-31).
//
// Latency: 1 cycle to qn1_xlate, 1 cycle from qn1_extent.
// Throughput: 1 item per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_xlate (
  input  logic        clk_i,
  input  logic        rst_ni,
  // from rdmap
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [6:0]  entry_i,
  input  logic [31:0] stag_i,
  input  logic [63:0] tagged_offset_i,
  input  logic [15:0] pd_i,
  input  logic [15:0] qpn_i,
  input  logic [15:0] right_i,
  // from atomic_entry: a bit per request's entry: its QP has died
  input  logic [63:0] dead_i,
  // to and from tpt
  output logic        qn1_xlate_valid_o,
  input  logic        qn1_xlate_ready_i,
  output iwarp_pkg::qn1_xlate_t qn1_xlate_o,
  input  logic        qn1_extent_valid_i,
  output logic        qn1_extent_ready_o,
  input  iwarp_pkg::qn1_extent_t qn1_extent_i,
  // to atomic_end: the response for an entry, in each cycle until the item leaves
  output logic        answer_valid_o,
  output logic [6:0]  answer_entry_o,
  output logic [2:0]  answer_result_o,
  output logic        answer_epoch_o,
  // to atomic_lock and atomic_fetch: a request that may take its lock (acquire), or a result,
  // refused or not; entry_o and address_o belong to the one that is valid
  output logic        acquire_o,
  output logic        result_o,
  output logic        result_refused_o,
  output logic [6:0]  entry_o,
  output logic [63:3] address_o,
  // to atomic_end: a request ends here
  output logic        end_valid_o,
  input  logic        end_ready_i,
  output logic [1:0]  end_ending_o
);
  // entries: requests 0 to 63, results 64 to 71; so bit 6 of an entry marks a result
  localparam int unsigned Items = 72;

  // --- request
  iwarp_pkg::qn1_xlate_t xlate;
  logic order_valid, order_pop, order_room;
  logic [6:0] order_entry;
  // 8 bytes; no invalidation; the last of its group
  assign xlate = {stag_i, tagged_offset_i, 32'd8, pd_i, qpn_i, right_i, 2'b01};
  stream_reg #(.Width(iwarp_pkg::Qn1XlateWidth)) u_xlate (
    .clk_i, .rst_ni, .valid_i, .ready_o, .data_i(xlate),
    .valid_o(qn1_xlate_valid_o), .ready_i(qn1_xlate_ready_i), .data_o(qn1_xlate_o)
  );
  stream_fifo #(.Width(7), .Depth(Items), .Reserved(1'b1)) u_order (
    .clk_i, .rst_ni, .valid_i(valid_i && ready_o), .ready_o(order_room), .data_i(entry_i),
    .valid_o(order_valid), .ready_i(order_pop), .data_o(order_entry), .count_o()
  );

  // --- judge
  logic        take, leave, misaligned, dead;
  logic        valid_q, refused_q, dropped_q, epoch_q;
  logic [6:0]  entry_q;
  logic [2:0]  result_q;
  logic [63:3] address_q;
  assign misaligned         = qn1_extent_i.address[2:0] != '0;
  assign dead               = !order_entry[6] && dead_i[order_entry[5:0]];
  assign qn1_extent_ready_o = order_valid && (!valid_q || leave);
  assign take               = qn1_extent_valid_i && qn1_extent_ready_o;
  assign order_pop          = qn1_extent_valid_i && (!valid_q || leave);

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                valid_q <= 1'b0;
    else if (!valid_q || leave) valid_q <= take;
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      entry_q   <= order_entry;
      refused_q <= qn1_extent_i.result != iwarp_pkg::TptOk || misaligned;
      result_q  <= qn1_extent_i.result != iwarp_pkg::TptOk ? qn1_extent_i.result
                   : misaligned ? iwarp_pkg::TptAlign : iwarp_pkg::TptOk;
      dropped_q <= dead;
      epoch_q   <= qn1_extent_i.epoch;
      address_q <= qn1_extent_i.address[63:3];
    end
  end

  // --- send on
  logic is_result, ends;
  assign is_result        = entry_q[6];
  assign ends             = !is_result && (refused_q || dropped_q);
  assign leave            = !ends || end_ready_i;
  assign acquire_o        = valid_q && !is_result && !ends;
  assign result_o         = valid_q && is_result;
  assign result_refused_o = refused_q;
  assign entry_o          = entry_q;
  assign address_o        = address_q;
  assign end_valid_o      = valid_q && ends;
  assign end_ending_o     = dropped_q ? iwarp_pkg::AtEndDropped : iwarp_pkg::AtEndRefused;

  // While an end waits, answer_valid_o stays: atomic_end writes the same words again.
  assign answer_valid_o  = valid_q;
  assign answer_entry_o  = entry_q;
  assign answer_result_o = result_q;
  assign answer_epoch_o  = epoch_q;

  logic unused_extent;
  assign unused_extent = ^{qn1_extent_i.length, qn1_extent_i.last};

  `RNIC_ASSERT(OrderRoom_A,    !valid_i || !ready_o || order_room)
  `RNIC_ASSERT(OneExtent_A,    !take || qn1_extent_i.last)
  `RNIC_ASSERT(EightBytes_A,   !take || qn1_extent_i.result != iwarp_pkg::TptOk ||
                               misaligned || qn1_extent_i.length == 17'd8)
  `RNIC_COVER(Misaligned_C,    valid_q && refused_q && result_q == iwarp_pkg::TptAlign)
  `RNIC_COVER(DroppedEarly_C,  end_valid_o && dropped_q)
endmodule
