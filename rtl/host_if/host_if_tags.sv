// host_if_tags: holds the state of every read tag, and judges each completion before a byte of it
// is written.
//
//   dma_rd_req sent --> open                     +--> come, keep, ends, status (host_if_reorder)
//   dma_rd_rsp --> [ in: rows ] --> [ judge ] ---+--> rows, open, held
//   timeout_i --> [ tick ] --> [ walk: a tag per cycle ] --> late: tag of a read that timed out
//
// A tag is free, open (its read is outstanding) or held (its read has failed, and PCIe may still
// complete it). Checks, and the states that follow:
//   1. A piece whose tag is not open is discarded whole: no byte of it is written.
//   2. A read ends with `aborted` in three cases:
//      a. A piece has more bytes than are left.
//      b. A piece is marked as the last, and bytes are missing.
//      c. A piece brings the last byte, and is not marked as the last.
//      The beat that shows the violation and the rest of its piece are not written.
//   3. A walk visits the tags each half time-out and adds 1 to the 2-bit age of those that are
//      open or held. The third walk over an open tag ends its read with `aborted`: after 1 to 1.5
//      time-outs.
//   4. A tag is held when its read timed out, or failed with pieces to come. host_if_gather skips
//      it, so a late completion does not meet the tag's next user. It is freed after its last
//      piece, or by its fourth walk, 1.5 to 2 time-outs later. PCIe does not bound late
//      completions: one that comes still later is accepted for the next user if its length fits.
//   5. The walk waits one cycle at the tag that [ judge ] is handling. So at most one of the two
//      changes a tag's state per cycle.
//   6. timeout_i 0: no walk starts, and held tags wait for their last piece.
//
// Latency: the verdict in the cycle after the beat. Throughput: one beat per cycle. A walk takes
// Tags cycles, which is the shortest tick.
// Back-pressure: dma_rd_rsp is always accepted. `late` waits for a cycle in which no other read
// ends. One comes: reads at 100 Gb/s use 6 cycles of 10, since 64 bytes per cycle are 165 Gb/s.
// Bench tb/host_if/host_if_reorder_test.cpp, with host_if_reorder
`include "rnic_assert.svh"

module host_if_tags #(
  parameter int unsigned Tags = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [31:0]            timeout_i,       // cycles
  // a read is given its tag
  input  logic                   begin_valid_i,
  input  logic [7:0]             begin_tag_i,
  input  logic [12:0]            begin_length_i,
  // the read was sent on dma_rd_req
  input  logic                   sent_valid_i,
  input  logic [7:0]             sent_tag_i,
  // from PCIe
  input  logic                   rsp_valid_i,
  input  iwarp_pkg::dma_rd_rsp_t rsp_i,
  // the verdict, one cycle later: write keep_o bytes after the come_o bytes that arrived before;
  // ends_o: the read ends with status_o
  output logic                   valid_o,
  output logic [12:0]            come_o,
  output logic [6:0]             keep_o,
  output logic                   ends_o,
  output logic [1:0]             status_o,
  // a read has timed out
  output logic                   late_valid_o,
  input  logic                   late_ready_i,
  output logic [7:0]             late_tag_o,
  // to host_if_gather: tags that must not be used
  output logic [Tags-1:0]        held_o,
  // to the counters
  output logic                   unexpected_o,    // a piece
  output logic                   malformed_o,     // a read
  output logic                   timed_out_o      // a read
);
  localparam int unsigned SlotW = $clog2(Tags);
  localparam logic [1:0]  OpenAges = 2'd2;   // walks that an open tag survives (check 3)
  localparam logic [1:0]  HeldAges = 2'd3;   // walks that a held tag survives (check 4)

  // fresh_q: open, and no byte has come: its row is not valid yet. age1_q, age0_q: 2-bit ages
  logic [Tags-1:0] open_q, held_q, fresh_q, age0_q, age1_q;
  assign held_o = held_q;

  // In: the rows of the tag. want: length of the read; come, left: bytes that have come, and that
  // are left.
  logic             known, in_valid_q, in_known_q, in_piece_last_q, in_last_q, last_valid_q;
  logic             unused_bits;
  logic [SlotW-1:0] rsp_slot, slot_q, last_slot_q;
  logic [1:0]       in_status_q;
  logic [6:0]       in_keep_q;
  logic [12:0]      want, come_mem, left_mem, come, left, come_next, left_next;
  logic [12:0]      last_come_q, last_left_q;

  assign known       = 32'(rsp_i.tag) < Tags;
  assign rsp_slot    = rsp_i.tag[SlotW-1:0];
  assign unused_bits = ^{rsp_i.data, begin_tag_i, sent_tag_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) in_valid_q <= 1'b0;
    else         in_valid_q <= rsp_valid_i;
    in_known_q      <= known;
    slot_q          <= rsp_slot;
    in_status_q     <= rsp_i.status;
    in_piece_last_q <= rsp_i.piece_last;
    in_last_q       <= rsp_i.is_last;
    in_keep_q       <= rsp_i.keep;
  end

  ram_1r1w #(.Width(13), .Depth(Tags)) u_want (
    .clk_i, .rst_ni,
    .we_i(begin_valid_i), .waddr_i(begin_tag_i[SlotW-1:0]), .wdata_i(begin_length_i),
    .re_i(rsp_valid_i && known), .raddr_i(rsp_slot), .rdata_o(want)
  );
  ram_1r1w #(.Width(26), .Depth(Tags)) u_row (
    .clk_i, .rst_ni,
    .we_i(valid_o), .waddr_i(slot_q), .wdata_i({come_next, left_next}),
    .re_i(rsp_valid_i && known), .raddr_i(rsp_slot), .rdata_o({come_mem, left_mem})
  );

  // Judge. A beat of the same tag one cycle earlier (is_next) has not updated the tag's row yet.
  // first_q: this beat is the first of a piece. wrong: rule 2. closes: the read ends; holds: its
  // tag is then held; frees: a held tag becomes free.
  logic first_q, discard_q, is_open, is_held, is_fresh, is_next;
  logic ok, over, all, wrong, closes, frees, holds;

  assign is_open  = in_known_q && 1'(open_q >> slot_q);
  assign is_held  = in_known_q && 1'(held_q >> slot_q);
  assign is_fresh = 1'(fresh_q >> slot_q);
  assign is_next  = last_valid_q && last_slot_q == slot_q;
  assign come     = is_fresh ? 13'd0 : is_next ? last_come_q : come_mem;
  assign left     = is_fresh ? want : is_next ? last_left_q : left_mem;
  assign come_next = come + {6'd0, in_keep_q};
  assign left_next = left - {6'd0, in_keep_q};

  assign ok      = in_status_q == iwarp_pkg::RdOk;
  assign over    = {6'd0, in_keep_q} > left;
  assign all     = {6'd0, in_keep_q} == left;
  assign wrong   = ok && (over || (all ? in_piece_last_q && !in_last_q : in_last_q));
  assign valid_o = in_valid_q && is_open && (first_q || !discard_q);
  assign come_o  = come;
  assign keep_o  = ok && !wrong ? in_keep_q : 7'd0;
  assign ends_o  = in_last_q || !ok || wrong;
  assign status_o = wrong ? iwarp_pkg::RdAborted : in_status_q;

  assign closes  = valid_o && ends_o;
  assign holds   = closes && !in_last_q;
  assign frees   = in_valid_q && is_held && in_last_q;
  assign unexpected_o = in_valid_q && first_q && !is_open;
  assign malformed_o  = valid_o && wrong;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_valid_q <= 1'b0;
      first_q      <= 1'b1;
    end else begin
      last_valid_q <= valid_o;
      if (in_valid_q) first_q <= in_piece_last_q;
    end
    last_slot_q <= slot_q;
    last_come_q <= come_next;
    last_left_q <= left_next;
    if (in_valid_q) discard_q <= !valid_o || ends_o;   // the rest of this piece
  end

  // Tick and walk. due_q: half a time-out is over. step: the walk visits tag walk_q and goes on.
  // expires: that tag's read times out; releases: that held tag becomes free. late_q: late_slot_q
  // has expired, and its end is not reported yet.
  logic             due_q, walking_q, start, step, expires, releases, late_q;
  logic             walk_open, walk_held, is_old;
  logic [31:0]      count_q;
  logic [SlotW-1:0] walk_q, late_slot_q;
  logic [1:0]       walk_age;

  assign start     = due_q && !walking_q;
  assign walk_open = 1'(open_q >> walk_q);
  assign walk_held = 1'(held_q >> walk_q);
  assign walk_age  = {1'(age1_q >> walk_q), 1'(age0_q >> walk_q)};
  assign is_old    = walk_open && walk_age == OpenAges;
  assign step      = walking_q && !(in_valid_q && slot_q == walk_q) && !(late_q && is_old);
  assign expires   = step && is_old;
  assign releases  = step && walk_held && walk_age == HeldAges;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      due_q     <= 1'b0;
      walking_q <= 1'b0;
      walk_q    <= '0;
      late_q    <= 1'b0;
    end else begin
      count_q   <= start || timeout_i == '0 ? '0 : count_q + 32'd1;
      due_q     <= !start && timeout_i != '0 && count_q >= {1'b0, timeout_i[31:1]};
      walking_q <= start || (walking_q && !(step && walk_q == SlotW'(Tags - 1)));
      if (step) walk_q <= walk_q == SlotW'(Tags - 1) ? '0 : walk_q + 1'b1;
      late_q    <= expires || (late_q && !late_ready_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (expires) late_slot_q <= walk_q;
  end
  assign late_valid_o = late_q;
  assign late_tag_o   = 8'(late_slot_q);
  assign timed_out_o  = expires;

  // State. Shifts replace a loop over the tags, which a simulator would evaluate bit by bit in each
  // cycle.
  logic [Tags-1:0] one, at_in, at_walk, at_sent, aged, reset_age;

  assign one       = Tags'(1);
  assign at_in     = one << slot_q;
  assign at_walk   = one << walk_q;
  assign at_sent   = sent_valid_i ? one << sent_tag_i[SlotW-1:0] : '0;
  assign aged      = step && (walk_open || walk_held) && !expires ? at_walk : '0;
  assign reset_age = at_sent | (holds ? at_in : '0) | (expires ? at_walk : '0);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q  <= '0;
      held_q  <= '0;
      fresh_q <= '0;
      age0_q  <= '0;
      age1_q  <= '0;
    end else begin
      open_q  <= (open_q & ~(closes ? at_in : '0) & ~(expires ? at_walk : '0)) | at_sent;
      held_q  <= (held_q & ~(frees ? at_in : '0) & ~(releases ? at_walk : '0)) |
                 (holds ? at_in : '0) | (expires ? at_walk : '0);
      fresh_q <= (fresh_q & ~(valid_o ? at_in : '0)) | at_sent;
      age0_q  <= (age0_q ^ aged) & ~reset_age;
      age1_q  <= (age1_q ^ (aged & age0_q)) & ~reset_age;
    end
  end

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::dma_rd_timeout_commit_t tap_dma_rd_timeout /*verilator public_flat_rd*/;
  assign tap_dma_rd_timeout = {expires, 8'(walk_q)};

  `RNIC_ASSERT(SentTagIsFree_A, (at_sent & (open_q | held_q)) == '0)
  `RNIC_ASSERT(SentTagIsKnown_A, !sent_valid_i || 32'(sent_tag_i) < Tags)
  `RNIC_ASSERT(NeverBoth_A, (open_q & held_q) == '0)
  `RNIC_ASSERT(KeepInRange_A, !rsp_valid_i || rsp_i.keep <= 7'd64)
endmodule
