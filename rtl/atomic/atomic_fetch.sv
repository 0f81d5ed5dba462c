// atomic_fetch: begins a request that has its lock: it drops the request, stores at once (Atomic
// Write), or reads the old value. Results also enter here; they need no lock.
//
//   granted --> [ FIFO ] --+--> [ begun: dead?  address: RAM ] --+--> end: dropped
//   woken ----> [ FIFO ] --^                                     +--> write ---------------+
//                                                                +--> qn1_rd_req           |
//          +--entry, address-------------------------------------+                         v
//          +--> [ order: FIFO ] --> [ with qn1_rd_hdr, qn1_rd ] --> read -------------> [ arb ]
//   result --> [ FIFO of 8 ] ------------------------------------------------------------> |
//                                                                               operand <--+
//
// granted: the request found its lock free. woken: a release has passed the lock on to it.
// 1. A request begins when it leaves the FIFO of grants. Until then the death of its QP drops it; a
//    begun request completes.
// 2. Each FIFO has an entry for each item that can be inside (Room_A, OrderRoom_A), so no grant and
//    no result is lost. A read response is taken as soon as its turn at `arb` comes, after at most
//    2 other words. It never waits for a store.
// 3. Results have their own path to `arb`. They wait for no lock and no read.
// 4. A read request that host_if does not take delays the begin of other requests. So they may wait
//    for PCIe.
//
// Latency: 2 cycles from a grant to qn1_rd_req or the write; 0 from qn1_rd, if its header came one
// cycle earlier; 1 from a result.
// Throughput: 1 item per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_fetch (
  input  logic        clk_i,
  input  logic        rst_ni,
  // from rdmap: a request is accepted. is_write: an Atomic Write, which reads nothing
  input  logic        accept_i,
  input  logic [5:0]  accept_entry_i,
  input  logic        accept_is_write_i,
  // from atomic_entry: a bit per request's entry: its QP has died
  input  logic [63:0] dead_i,
  // from atomic_xlate: an item with its address: acquire: a request that requests its lock; result:
  // a result; refused: tpt refuses its sink
  input  logic        acquire_i,
  input  logic        result_i,
  input  logic        result_refused_i,
  input  logic [5:0]  entry_i,
  input  logic [63:3] address_i,
  // from atomic_lock
  input  logic        grant_valid_i,
  input  logic [5:0]  grant_entry_i,
  input  logic        wake_valid_i,
  input  logic [5:0]  wake_entry_i,
  // to and from host_if
  output logic        qn1_rd_req_valid_o,
  input  logic        qn1_rd_req_ready_i,
  output iwarp_pkg::qn1_rd_req_t qn1_rd_req_o,
  input  logic        qn1_rd_hdr_valid_i,
  output logic        qn1_rd_hdr_ready_o,
  input  iwarp_pkg::qn1_rd_hdr_t qn1_rd_hdr_i,
  input  logic        qn1_rd_valid_i,
  output logic        qn1_rd_ready_o,
  input  iwarp_pkg::qn1_rd_t qn1_rd_i,
  // to atomic_compute: status: of the read; refused: of a result
  output logic        operand_valid_o,
  output logic [6:0]  operand_entry_o,
  output logic [63:3] operand_address_o,
  output logic        operand_is_read_o,
  output logic        operand_refused_o,
  output logic [1:0]  operand_status_o,
  output logic [63:0] operand_old_o,
  // to atomic_end: a request is dropped
  output logic        end_valid_o,
  input  logic        end_ready_i,
  output logic [5:0]  end_entry_o
);
  // {entry; address of 8 aligned bytes; is_read; refused; status; old}
  localparam int unsigned WordW = 7 + 61 + 1 + 1 + 2 + 64;

  // --- grants
  logic [1:0]  go_valid, go_ready, go_room;
  logic [11:0] go_entries;
  logic        begin_valid, begin_ready, begin_index;
  logic [5:0]  begin_entry;
  stream_fifo #(.Width(6), .Depth(64), .Reserved(1'b1)) u_granted (
    .clk_i, .rst_ni, .valid_i(grant_valid_i), .ready_o(go_room[0]), .data_i(grant_entry_i),
    .valid_o(go_valid[0]), .ready_i(go_ready[0]), .data_o(go_entries[5:0]), .count_o()
  );
  stream_fifo #(.Width(6), .Depth(64), .Reserved(1'b1)) u_woken (
    .clk_i, .rst_ni, .valid_i(wake_valid_i), .ready_o(go_room[1]), .data_i(wake_entry_i),
    .valid_o(go_valid[1]), .ready_i(go_ready[1]), .data_o(go_entries[11:6]), .count_o()
  );
  stream_arb #(.Width(6), .N(2)) u_go (
    .clk_i, .rst_ni, .valid_i(go_valid), .ready_o(go_ready), .data_i(go_entries),
    .valid_o(begin_valid), .ready_i(begin_ready), .data_o(begin_entry), .index_o(begin_index)
  );

  // --- begin. begun_q: a request has begun and waits to leave: for `end`, `arb` or qn1_rd_req.
  logic [63:0] is_write_q;
  logic        begun_q, drop_q, write_q, leave, take, write_ready;
  logic [5:0]  entry_q;
  logic [63:3] address;
  assign begin_ready = !begun_q || leave;
  assign take        = begin_valid && begin_ready;
  ram_1r1w #(.Width(61), .Depth(64)) u_address (
    .clk_i, .rst_ni, .we_i(acquire_i), .waddr_i(entry_i), .wdata_i(address_i),
    .re_i(take), .raddr_i(begin_entry), .rdata_o(address)
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni)          begun_q <= 1'b0;
    else if (begin_ready) begun_q <= begin_valid;
  end
  always_ff @(posedge clk_i) begin
    if (accept_i) is_write_q[accept_entry_i] <= accept_is_write_i;
    if (take) begin
      entry_q <= begin_entry;
      drop_q  <= dead_i[begin_entry];
      write_q <= is_write_q[begin_entry];
    end
  end
  assign leave = drop_q ? end_ready_i : write_q ? write_ready : qn1_rd_req_ready_i;

  assign end_valid_o        = begun_q && drop_q;
  assign end_entry_o        = entry_q;
  assign qn1_rd_req_valid_o = begun_q && !drop_q && !write_q;
  assign qn1_rd_req_o       = {address, 3'd0, 13'd8};

  // --- read responses. asked_*: the oldest read request whose response has not been taken.
  logic        asked_valid, asked_ready, asked_room, hdr_valid, hdr_ready, read_ready;
  logic [5:0]  asked_entry;
  logic [6:0]  asked_count;
  logic [63:3] asked_address;
  logic [1:0]  status;
  stream_fifo #(.Width(6 + 61), .Depth(64), .Reserved(1'b1)) u_order (
    .clk_i, .rst_ni, .valid_i(qn1_rd_req_valid_o && qn1_rd_req_ready_i), .ready_o(asked_room),
    .data_i({entry_q, address}),
    .valid_o(asked_valid), .ready_i(asked_ready), .data_o({asked_entry, asked_address}),
    .count_o(asked_count)
  );
  stream_reg #(.Width(2)) u_hdr (
    .clk_i, .rst_ni, .valid_i(qn1_rd_hdr_valid_i), .ready_o(qn1_rd_hdr_ready_o),
    .data_i(qn1_rd_hdr_i.status), .valid_o(hdr_valid), .ready_i(hdr_ready), .data_o(status)
  );
  assign asked_ready    = read_ready;
  assign hdr_ready      = read_ready;
  assign qn1_rd_ready_o = read_ready;

  // --- results
  logic        res_valid, res_ready, res_room, res_refused;
  logic [2:0]  res_entry;
  logic [63:3] res_address;
  stream_fifo #(.Width(3 + 1 + 61), .Depth(8), .Reserved(1'b1)) u_results (
    .clk_i, .rst_ni, .valid_i(result_i), .ready_o(res_room),
    .data_i({entry_i[2:0], result_refused_i, address_i}),
    .valid_o(res_valid), .ready_i(res_ready), .data_o({res_entry, res_refused, res_address}),
    .count_o()
  );

  // --- choose a result, an Atomic Write or a read response
  logic [1:0] source;
  stream_arb #(.Width(WordW), .N(3)) u_operand (
    .clk_i, .rst_ni,
    .valid_i({res_valid, begun_q && !drop_q && write_q,
              asked_valid && hdr_valid && qn1_rd_valid_i}),
    .ready_o({res_ready, write_ready, read_ready}),
    .data_i({4'b1000, res_entry, res_address, 1'b0, res_refused, 2'd0, 64'd0,
             1'b0, entry_q, address, 1'b0, 1'b0, 2'd0, 64'd0,
             1'b0, asked_entry, asked_address, 1'b1, 1'b0, status, qn1_rd_i.data[63:0]}),
    .valid_o(operand_valid_o), .ready_i(1'b1),
    .data_o({operand_entry_o, operand_address_o, operand_is_read_o, operand_refused_o,
             operand_status_o, operand_old_o}),
    .index_o(source)
  );

  logic unused_bits;
  assign unused_bits = ^{source, begin_index, qn1_rd_hdr_i.length, qn1_rd_i};

  `RNIC_ASSERT(Room_A, (!grant_valid_i || go_room[0]) && (!wake_valid_i || go_room[1]) &&
                       (!result_i || res_room))
  `RNIC_ASSERT(OrderRoom_A, !qn1_rd_req_valid_o || asked_room)
  `RNIC_ASSERT(Asked_A,     !hdr_valid || asked_count != '0)
  `RNIC_ASSERT(OneBeat_A,   !qn1_rd_valid_i || qn1_rd_i.last)
  `RNIC_STREAM_STABLE(RdReqStable_A, qn1_rd_req_valid_o, qn1_rd_req_ready_i, qn1_rd_req_o)
  `RNIC_COVER(GrantAndWake_C,  grant_valid_i && wake_valid_i)
  `RNIC_COVER(DroppedLocked_C, end_valid_o)
  `RNIC_COVER(Unread_C,        operand_valid_o && operand_is_read_o && operand_status_o != '0)
endmodule
