// atomic_entry: gives each item inside unit atomic a number, its entry, and marks the entry of a
// request whose QP has died.
//
//   entry of a request: [ free: FIFO of 64 numbers ] --> 0 .. 63; of a result: ring 64 .. 71
//   accept: QPN ----------> [ by QPN: RAM of entries ]
//   dead: QPN, cycle 0 ----------> [ read ] --> cycle 1: live, and of this QPN? --> dead_o, cycle 2
//   accepted in the same cycle? -> entry ---^
//
// 1. A request and a result never wait for each other: their numbers come from two pools. rdmap
//    keeps at most 64 requests and 8 results inside. So room_o is low only in the few cycles in
//    which a number moves from its last user to the FIFO's output.
// 2. dead_o marks exactly the requests that were accepted before `dead` or in its cycle. An entry
//    that is live in cycle 1 was accepted in cycle 0 or before. If a QP's request is accepted in
//    cycle 0, the RAM still returns the QP's previous entry; the new entry is compared separately.
// 3. An accept clears the mark. No mark can be set in the cycle of the accept, because the entry is
//    not live then (NewIsNotLive_A).
// 4. A RAM word that is stale, or was never written, names an entry that is not live or has another
//    QPN. So the RAM needs no ram_clear.
//
// After reset the FIFO is filled in 64 cycles; ready_o is low meanwhile.
// Throughput: 1 accept, 1 free and 1 dead per cycle.
// Siblings: see atomic.sv.
// Bench: tb/atomic/atomic_test.cpp
`include "rnic_assert.svh"

module atomic_entry (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        ready_o,
  // from rdmap: an item is accepted; it gets entry_o
  input  logic        is_result_i,    // of the item that is offered
  output logic        room_o,         // an entry of its pool is free
  input  logic        accept_i,
  input  logic [15:0] qpn_i,
  output logic [6:0]  entry_o,
  // from rdmap: the request of a QP, if there is one, is dead
  input  logic        dead_valid_i,
  input  logic [15:0] dead_qpn_i,
  output logic [63:0] dead_o,         // a bit per request's entry: its QP has died
  // from atomic_end: the response has been taken
  input  logic        free_valid_i,
  input  logic [6:0]  free_entry_i
);
  localparam int unsigned QpW = rnic_pkg::NumQps > 1 ? $clog2(rnic_pkg::NumQps) : 1;

  // --- numbers
  logic       filling, next_valid, free_room;
  logic [5:0] fill, next_request;
  logic       accept_request, free_request, free_result, res_room_q;
  logic [2:0] next_res_q;
  logic [3:0] res_d, res_q;        // results inside; next_res_q: the next entry of the ring

  assign accept_request = accept_i && !is_result_i;
  assign free_request   = free_valid_i && !free_entry_i[6];
  assign free_result    = free_valid_i && free_entry_i[6];
  assign ready_o        = !filling;

  ram_clear #(.Depth(64)) u_fill (.clk_i, .rst_ni, .busy_o(filling), .addr_o(fill));
  stream_fifo #(.Width(6), .Depth(64), .Reserved(1'b1)) u_free (
    .clk_i, .rst_ni, .valid_i(filling || free_request), .ready_o(free_room),
    .data_i(filling ? fill : free_entry_i[5:0]),
    .valid_o(next_valid), .ready_i(accept_request), .data_o(next_request), .count_o()
  );

  assign res_d = res_q + 4'(accept_i && is_result_i) - 4'(free_result);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_res_q <= '0;
      res_q      <= '0;
      res_room_q <= 1'b1;
    end else begin
      if (accept_i && is_result_i) next_res_q <= next_res_q + 1'b1;
      res_q      <= res_d;
      res_room_q <= !res_d[3];
    end
  end
  assign room_o  = !filling && (is_result_i ? res_room_q : next_valid);
  assign entry_o = is_result_i ? {4'b1000, next_res_q} : {1'b0, next_request};

  // --- live entries, and their QPs. s1_*: cycle 1 of a `dead`: s1_new_q: its request was accepted
  // in cycle 0, and found is still the entry before it.
  logic [63:0]    live_q, dead_q;
  logic [QpW-1:0] qpn_mem [64];
  logic [5:0]     found, marked;
  logic           s1_valid_q, s1_new_q, mark;
  logic [5:0]     s1_entry_q;
  logic [QpW-1:0] s1_qpn_q;

  ram_1r1w #(.Width(6), .Depth(rnic_pkg::NumQps)) u_by_qpn (
    .clk_i, .rst_ni,
    .we_i(accept_request), .waddr_i(qpn_i[QpW-1:0]), .wdata_i(next_request),
    .re_i(dead_valid_i), .raddr_i(dead_qpn_i[QpW-1:0]), .rdata_o(found)
`ifdef FORMAL
    , .f_addr_i('0), .f_word_o()
`endif
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) s1_valid_q <= 1'b0;
    else         s1_valid_q <= dead_valid_i;
  end
  always_ff @(posedge clk_i) begin
    s1_new_q   <= accept_request && qpn_i[QpW-1:0] == dead_qpn_i[QpW-1:0];
    s1_entry_q <= next_request;
    s1_qpn_q   <= dead_qpn_i[QpW-1:0];
    if (accept_request) qpn_mem[next_request] <= qpn_i[QpW-1:0];
  end

  assign marked = s1_new_q ? s1_entry_q : found;
  assign mark   = s1_valid_q && live_q[marked] && qpn_mem[marked] == s1_qpn_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      live_q <= '0;
      dead_q <= '0;
    end else begin
      if (free_request) live_q[free_entry_i[5:0]] <= 1'b0;
      if (mark)         dead_q[marked]            <= 1'b1;
      if (accept_request) begin
        live_q[next_request] <= 1'b1;
        dead_q[next_request] <= 1'b0;
      end
    end
  end
  assign dead_o = dead_q;

  logic unused_qpn;
  assign unused_qpn = ^{qpn_i, dead_qpn_i};

  `RNIC_ASSERT(AcceptRoom_A,    !accept_i || room_o)
  `RNIC_ASSERT(NewIsNotLive_A,  !accept_request || !live_q[next_request])
  `RNIC_ASSERT(FreeIsLive_A,    !free_request || live_q[free_entry_i[5:0]])
  `RNIC_ASSERT(FreeRoom_A,      !(filling || free_request) || free_room)
  `RNIC_ASSERT(FillAlone_A,     !filling || !free_request)
  `RNIC_ASSERT(ResultsInTurn_A, !free_result || free_entry_i[5:0] == 6'(3'(next_res_q - 3'(res_q))))
  `RNIC_COVER(DeadAsAccepted_C, s1_valid_q && s1_new_q)
endmodule
