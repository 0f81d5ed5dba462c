// host_if_msix: the MSI-X table, its pending bits, and the messages.
//
//   cq_wr --> FIFO --> unchanged data, or a message: its vector ----+
//   pending & unmasked & none in flight -> first --> its vector ----+--> round robin --> small
//   a message is sent (host_if_wr): unmasked: address and data of its row
//                                   masked: nothing, pending[v] := 1
//
// A message is masked by the vector's mask, by the function's mask, or while MSI-X is not enabled.
// Invariants:
//  1. The row is read when the message is the next item on dma_wr. BAR writes and settings take
//     effect until then. After that only PCIe delays the message.
//  2. cq_wr keeps its order, also for masked messages. So a message stays after the event entry
//     that it announces. host_if_wr and host_if_order count sent items to see whether the cq_wr
//     items up to a certain one are sent.
//  3. The message of a pending vector clears the pending bit only when it is sent. At most one such
//     message per vector is in flight (asked_q), else one pending bit could cause two messages.
//  4. The message of an absent vector is dropped.
//  5. The table is cleared after reset (NumVectors cycles), and masks are set.
//  6. BAR accesses take effect at once; a row is read in the same cycle.
// Latency: 2 cycles (the FIFO of cq_wr, u_items). Throughput: a write per cycle. Back-pressure:
// waits only for host_if_wr.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_msix (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              ready_o,
  input  logic              enable_i,
  input  logic              mask_i,
  // from host_if_bar: row of the table, 4 dwords {control, data, address high, low}
  input  logic [5:0]        row_i,
  input  logic [3:0]        we_i,
  input  logic [127:0]      wdata_i,
  output logic [127:0]      rdata_o,
  output logic [63:0]       pending_o,
  // from cq
  input  logic              cq_wr_valid_i,
  output logic              cq_wr_ready_o,
  input  iwarp_pkg::cq_wr_t cq_wr_i,
  // to host_if_wr: writes of at most 32 bytes, and messages
  output logic              small_valid_o,
  input  logic              small_ready_i,
  output iwarp_pkg::cq_wr_t small_o,
  output logic              small_counts_o,     // this write is a cq_wr item
  // from and to host_if_wr: the message that is the next to be sent; its row, or that it is masked
  // (drop). left: it is sent or dropped in this cycle
  input  logic [7:0]        leave_vector_i,
  output logic [63:0]       leave_address_o,
  output logic [31:0]       leave_data_o,
  output logic              leave_drop_o,
  input  logic              left_i,             // pulse: that message is sent or dropped
  input  logic              left_own_i          // the sent message was that of a pending vector
);
  localparam int unsigned N      = rnic_pkg::NumVectors;
  localparam int unsigned IndexW = N > 1 ? $clog2(N) : 1;
  localparam int unsigned FifoW  = $clog2(rnic_pkg::FifoDepth + 1);
  localparam int unsigned ItemW  = iwarp_pkg::CqWrWidth;
  if (N > 64) $fatal(1, "host_if_msix %m: at most 64 vectors");

  // Table: three memories of at most 64 words, so that each dword is written separately.
  logic [31:0]       low [N];
  logic [31:0]       high [N];
  logic [31:0]       data [N];
  logic [N-1:0]      mask_q, pending_q, asked_q, set, clear, armed, ask, answer;
  logic              clear_busy, row_exists;
  logic [IndexW-1:0] clear_addr, row, waddr;
  logic [3:0]        we;

  ram_clear #(.Depth(N)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr));
  assign ready_o    = !clear_busy;
  assign row_exists = 32'(row_i) < N;
  assign row        = row_i[IndexW-1:0];
  assign we         = row_exists ? we_i : 4'd0;
  assign waddr      = clear_busy ? clear_addr : row;

  always_ff @(posedge clk_i) begin
    if (clear_busy || we[0]) low[waddr]  <= clear_busy ? 32'd0 : wdata_i[31:0];
    if (clear_busy || we[1]) high[waddr] <= clear_busy ? 32'd0 : wdata_i[63:32];
    if (clear_busy || we[2]) data[waddr] <= clear_busy ? 32'd0 : wdata_i[95:64];
  end

  always_comb begin
    rdata_o   = '0;
    pending_o = '0;
    pending_o[N-1:0] = pending_q;
    if (row_exists) rdata_o = {31'd0, mask_q[row], data[row], high[row], low[row]};
  end

  // cq_wr. A message has no address here, since its row is read later (invariant 1); its length is
  // that of the data: 4 bytes.
  logic              cq_valid, cq_ready;
  iwarp_pkg::cq_wr_t cq, item;
  logic [FifoW-1:0]  unused_cq;
  logic [1:0]        unused_items, unused_messages;
  logic              unused_bits;

  stream_fifo #(.Width(ItemW), .Depth(rnic_pkg::FifoDepth)) u_cq (
    .clk_i, .rst_ni, .valid_i(cq_wr_valid_i), .ready_o(cq_wr_ready_o), .data_i(cq_wr_i),
    .valid_o(cq_valid), .ready_i(cq_ready), .data_o(cq), .count_o(unused_cq)
  );
  assign unused_bits = ^wdata_i[127:97];

  always_comb begin
    item = cq;
    if (cq.is_msix) begin
      item.address = '0;
      item.length  = 7'd4;
    end
  end

  // Messages of pending vectors, one bit for each vector. armed: it is pending and unmasked, and
  // has no such message in flight. some, onehot, index: the first armed one, whose message enters
  // u_messages (ask) and is then in flight until it was sent or found masked again (answer).
  // two_valid: output of the round robin between items of cq_wr and these messages.
  logic              some, message_ready, message_valid, two_valid;
  logic [IndexW-1:0] index;
  logic [N-1:0]      onehot;
  iwarp_pkg::cq_wr_t message, message_out, item_out;
  logic              item_valid, item_ready, message_take;

  assign armed = enable_i && !mask_i ? pending_q & ~mask_q & ~asked_q : '0;
  first_one #(.N(N)) u_first (.request_i(armed), .any_o(some), .onehot_o(onehot), .index_o(index));

  always_comb begin
    message         = '0;
    message.is_msix = 1'b1;
    message.vector  = 8'(index);
    message.length  = 7'd4;
  end

  // The row of the message that is the next to be sent (leave: its vector). set: it is masked, so
  // its vector becomes pending. clear: it was the message of a pending vector, and is sent.
  logic [IndexW-1:0] leave;
  logic              exists, masked;

  assign leave           = leave_vector_i[IndexW-1:0];
  assign exists          = 32'(leave_vector_i) < N;
  assign masked          = mask_q[leave] || mask_i || !enable_i;
  assign leave_address_o = {high[leave], low[leave]};
  assign leave_data_o    = data[leave];
  assign leave_drop_o    = !exists || masked;

  logic [N-1:0] leave_bit, row_bit;

  assign leave_bit = {N{left_i && exists}} & (N'(1) << leave);
  assign row_bit   = {N{we[3]}} & (N'(1) << row);
  assign set       = {N{masked}} & leave_bit;
  assign answer    = {N{left_own_i}} & leave_bit;
  assign clear     = {N{!masked}} & answer;
  assign ask       = {N{message_ready}} & onehot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mask_q    <= '1;
      pending_q <= '0;
      asked_q   <= '0;
    end else begin
      pending_q <= (pending_q & ~clear) | set;
      asked_q   <= (asked_q & ~answer) | ask;
      mask_q    <= (mask_q & ~row_bit) | ({N{wdata_i[96]}} & row_bit);
    end
  end

  stream_fifo #(.Width(ItemW), .Depth(2)) u_items (
    .clk_i, .rst_ni, .valid_i(cq_valid), .ready_o(cq_ready), .data_i(item),
    .valid_o(item_valid), .ready_i(item_ready), .data_o(item_out), .count_o(unused_items)
  );
  stream_fifo #(.Width(ItemW), .Depth(2)) u_messages (
    .clk_i, .rst_ni, .valid_i(some), .ready_o(message_ready), .data_i(message),
    .valid_o(message_valid), .ready_i(message_take), .data_o(message_out), .count_o(unused_messages)
  );
  stream_arb #(.Width(ItemW + 1), .N(2)) u_arb (
    .clk_i, .rst_ni, .valid_i({message_valid, item_valid}), .ready_o({message_take, item_ready}),
    .data_i({message_out, 1'b0, item_out, 1'b1}),
    .valid_o(two_valid), .ready_i(small_ready_i), .data_o({small_o, small_counts_o}),
    .index_o(unused_index)
  );
  logic unused_index;
  assign small_valid_o = two_valid;

  `RNIC_ASSERT(ItemLength_A, !(cq_valid && !cq.is_msix) || (cq.length != '0 && cq.length <= 7'd32))
  `RNIC_STREAM_STABLE(SmallStable_A, small_valid_o, small_ready_i, {small_o, small_counts_o})
endmodule
