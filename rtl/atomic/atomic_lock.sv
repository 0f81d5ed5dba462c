// atomic_lock: grants a bus address to one entry at a time; others queue in order of arrival.
//
//                       cycle 0                       cycle 1                             cycle 2
//   acquire, entry --+-> [ last: RAM of buckets ] --> is the bucket's last entry live? --> rsp
//   address -> hash -+     swap: old out, entry in      yes: link after it, queued
//                                                       no:  granted
//   release, entry ----> [ next: of the entry ] ----------------> wake, 1 cycle after the release
//
// A bucket is the XOR of the address bits from 3 up, taken BucketW at a time. Two addresses of one
// bucket also exclude each other: that costs time, never order.
//
// 1. The RAM `last` holds the entry that acquired each bucket last. An acquire reads the old entry
//    and writes its own in one cycle (ram_1r1w reads first). Acquires of one bucket in successive
//    cycles each read their predecessor.
// 2. A bucket is busy if its last entry is live (acquired, not released) in this very bucket. The
//    last entry of a busy bucket is live in it, because releases go from the oldest to the newest
//    (LastIsNewest_A). The entry in a word of `last` that is stale or was never written is not live
//    in that bucket. So a release does not write `last`, and `last` needs no ram_clear.
// 3. Each entry has at most one next, and is released once. A release grants its next. An entry
//    without a next frees the bucket, because it is then the last one (NextIsNext_A).
// 4. If the predecessor is released in the newcomer's cycle 1, the newcomer is granted, not linked.
// 5. At most one entry of a bucket (Exclusion_A), and so of an address (OneHolder_A), is granted.
//    Grants are in order of arrival (Order_A).
//
// Latency: response 2 cycles after the acquire; wake 1 cycle after the release, and at least 1
// cycle after the waiter's response.
// Throughput: 1 acquire and 1 release per cycle. An entry may be acquired again in the cycle of its
// release. No back-pressure: atomic_lock never stalls, and its user takes a response and a wake in
// every cycle. No cycle of waits exists: an entry waits for only one bucket, and a granted entry is
// released without waiting for another grant.
// Sibling: atomic_alu.
// Bench: tb/atomic/atomic_lock_test.cpp.
// Proof: rtl/formal/atomic_lock_fv.sv
`include "rnic_assert.svh"

module atomic_lock #(
  parameter int unsigned Entries = 64,
  parameter int unsigned Buckets = 256,
  localparam int unsigned EntryW  = $clog2(Entries),
  localparam int unsigned BucketW = $clog2(Buckets)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // acquire: of an entry that is not live
  input  logic              acquire_valid_i,
  input  logic [EntryW-1:0] acquire_entry_i,
  input  logic [63:3]       acquire_address_i,
  // its response: granted or queued
  output logic              rsp_valid_o,
  output logic [EntryW-1:0] rsp_entry_o,
  output logic              rsp_granted_o,
  // release: of an entry that was granted
  input  logic              release_valid_i,
  input  logic [EntryW-1:0] release_entry_i,
  // a queued entry is granted
  output logic              wake_valid_o,
  output logic [EntryW-1:0] wake_entry_o
`ifdef FORMAL
  ,
  // for the environment of the proof: entries that are live or in stage 1, and those granted
  output logic [Entries-1:0] f_out_o,
  output logic [Entries-1:0] f_held_o
`endif
);
  if (Entries < 2 || Entries > 64 || (Entries & (Entries - 1)) != 0)
    $fatal(1, "atomic_lock %m: Entries must be a power of 2 from 2 to 64");
  if (Buckets < 2 || (Buckets & (Buckets - 1)) != 0)
    $fatal(1, "atomic_lock %m: Buckets must be a power of 2, at least 2");

  // --- stage 0: hash; swap the bucket's last entry
  logic [BucketW-1:0] bucket;
  always_comb begin
    bucket = '0;
    for (int unsigned b = 0; b < 61; b++) begin
      bucket[b % BucketW] = bucket[b % BucketW] ^ acquire_address_i[3 + b];
    end
  end

  logic [EntryW-1:0]  last;   // in stage 1: the predecessor, if it is live in this bucket
  ram_1r1w #(.Width(EntryW), .Depth(Buckets)) u_last (
    .clk_i, .rst_ni,
    .we_i(acquire_valid_i), .waddr_i(bucket), .wdata_i(acquire_entry_i),
    .re_i(acquire_valid_i), .raddr_i(bucket), .rdata_o(last)
`ifdef FORMAL
    ,
    .f_addr_i(f_bucket), .f_word_o(f_last)
`endif
  );

  logic               s1_valid_q;
  logic [EntryW-1:0]  s1_entry_q;
  logic [BucketW-1:0] s1_bucket_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) s1_valid_q <= 1'b0;
    else         s1_valid_q <= acquire_valid_i;
  end
  always_ff @(posedge clk_i) begin
    s1_entry_q  <= acquire_entry_i;
    s1_bucket_q <= bucket;
  end

  // --- stage 1: link after the predecessor, or grant. A release acts on its entry here, too.
  logic [Entries-1:0] live_q, has_next_q;
  logic [Entries-1:0] held_q;                   // granted: only for the assertions
  logic [BucketW-1:0] bucket_mem [Entries];
  logic [EntryW-1:0]  next_mem [Entries];
  logic               last_live, last_leaves, busy, link, grant, wake;
  logic [EntryW-1:0]  next;

  assign last_live   = live_q[last] && bucket_mem[last] == s1_bucket_q;
  assign last_leaves = release_valid_i && release_entry_i == last;
  assign busy        = last_live && !last_leaves;
  assign link        = s1_valid_q && busy;
  assign grant       = s1_valid_q && !busy;
  assign wake        = release_valid_i && has_next_q[release_entry_i];
  assign next        = next_mem[release_entry_i];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      live_q     <= '0;
      has_next_q <= '0;
      held_q     <= '0;
    end else begin
      if (release_valid_i) begin
        live_q[release_entry_i]     <= 1'b0;
        has_next_q[release_entry_i] <= 1'b0;
        held_q[release_entry_i]     <= 1'b0;
      end
      if (s1_valid_q) live_q[s1_entry_q] <= 1'b1;
      if (link)       has_next_q[last]   <= 1'b1;
      if (grant)      held_q[s1_entry_q] <= 1'b1;
      if (wake)       held_q[next]       <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (s1_valid_q) bucket_mem[s1_entry_q] <= s1_bucket_q;
    if (link)       next_mem[last]         <= s1_entry_q;
  end

  // --- outputs
  logic              rsp_valid_q, rsp_granted_q, wake_valid_q;
  logic [EntryW-1:0] rsp_entry_q, wake_entry_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rsp_valid_q  <= 1'b0;
      wake_valid_q <= 1'b0;
    end else begin
      rsp_valid_q  <= s1_valid_q;
      wake_valid_q <= wake;
    end
  end
  always_ff @(posedge clk_i) begin
    rsp_entry_q   <= s1_entry_q;
    rsp_granted_q <= grant;
    wake_entry_q  <= next;
  end
  assign rsp_valid_o   = rsp_valid_q;
  assign rsp_entry_o   = rsp_entry_q;
  assign rsp_granted_o = rsp_granted_q;
  assign wake_valid_o  = wake_valid_q;
  assign wake_entry_o  = wake_entry_q;

  logic acquires_live, acquires_released;
  assign acquires_released = release_valid_i && release_entry_i == acquire_entry_i;
  assign acquires_live     = (live_q[acquire_entry_i] && !acquires_released) ||
                             (s1_valid_q && s1_entry_q == acquire_entry_i);
  `RNIC_ASSERT(AcquireNotLive_A, !acquire_valid_i || !acquires_live)
  `RNIC_ASSERT(ReleaseGranted_A, !release_valid_i || held_q[release_entry_i])
  `RNIC_ASSERT(WakesWaiter_A,    !wake || (live_q[next] && !held_q[next]))

`ifdef FORMAL
  logic [BucketW-1:0] f_bucket;   // any one
  logic [EntryW-1:0]  f_last;
  // Yosys also reads the module with its default sizes: there the loops below are too long.
  if (Entries <= 4) begin : gen_f
    // From the ports: f_out: acquired and not released; f_of: in which bucket; f_ahead: for each
    // entry, the entries that it waits for; f_seen: granted by a response or a wake, not released.
    localparam int unsigned N = Entries;
    logic [N-1:0]       f_out_q, f_seen_q, f_seen, f_s1, f_leaves;
    logic [N*N-1:0]     f_ahead_q;
    logic [N*BucketW-1:0] f_of_q;

    assign f_s1     = s1_valid_q ? N'(1) << s1_entry_q : '0;
    assign f_leaves = release_valid_i ? N'(1) << release_entry_i : '0;
    assign f_seen   = f_seen_q | (rsp_valid_o && rsp_granted_o ? N'(1) << rsp_entry_o : '0)
                               | (wake_valid_o ? N'(1) << wake_entry_o : '0);
    assign f_out_o  = f_out_q;
    assign f_held_o = f_seen;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        {f_out_q, f_seen_q} <= '0;
        f_ahead_q           <= '0;
      end else begin
        f_out_q  <= (f_out_q & ~f_leaves) | (acquire_valid_i ? N'(1) << acquire_entry_i : '0);
        f_seen_q <= f_seen & ~f_leaves;
        for (int unsigned e = 0; e < N; e++) begin
          f_ahead_q[N*e +: N] <= f_leaves[e] ? '0 : f_ahead_q[N*e +: N] & ~f_leaves;
          if (acquire_valid_i && 32'(acquire_entry_i) == e) begin
            f_of_q[BucketW*e +: BucketW] <= bucket;
            for (int unsigned j = 0; j < N; j++) begin
              f_ahead_q[N*e + j] <= f_out_q[j] && !f_leaves[j] &&
                                    f_of_q[BucketW*j +: BucketW] == bucket;
            end
          end
        end
      end
    end

    // Invariants over all entries e, j, k. f_newest: `last` names the newest entry of f_bucket;
    // f_read: stage 1 has read the newest entry of its bucket, apart from its own.
    logic f_exclusion, f_order, f_granted, f_ghost, f_total, f_linked, f_newest, f_read;
    logic [N-1:0] f_waited;   // some entry waits for it
    always_comb begin
      {f_exclusion, f_order, f_granted, f_ghost, f_total, f_linked, f_newest, f_read} = '1;
      f_waited = '0;
      for (int unsigned e = 0; e < N; e++) f_waited = f_waited | f_ahead_q[N*e +: N];
      for (int unsigned e = 0; e < N; e++) begin
        if (f_seen[e] && f_ahead_q[N*e +: N] != '0) f_order = 1'b0;
        if (f_out_q[e] && !f_s1[e] && f_ahead_q[N*e +: N] == '0 && !f_seen[e]) f_granted = 1'b0;
        if (f_out_q[e] != (live_q[e] || f_s1[e]) || (live_q[e] && f_s1[e])) f_ghost = 1'b0;
        if (live_q[e] && bucket_mem[e] != f_of_q[BucketW*e +: BucketW]) f_ghost = 1'b0;
        if (f_s1[e] && s1_bucket_q != f_of_q[BucketW*e +: BucketW]) f_ghost = 1'b0;
        // the next of entry e is queued after e and after every entry that e is queued after
        if (has_next_q[e] && (!live_q[e] || !live_q[next_mem[e]] ||
                              f_ahead_q[N*next_mem[e] +: N] != (f_ahead_q[N*e +: N] | N'(1) << e)))
          f_linked = 1'b0;
        if (f_out_q[e] && f_of_q[BucketW*e +: BucketW] == f_bucket && !f_waited[e] &&
            f_last != EntryW'(e)) f_newest = 1'b0;
        // what stage 1 has read is the newest of the others
        if (s1_valid_q && f_out_q[e] && !f_s1[e] &&
            f_of_q[BucketW*e +: BucketW] == s1_bucket_q &&
            !(f_out_q[last] && f_of_q[BucketW*last +: BucketW] == s1_bucket_q && !f_s1[last] &&
              !f_ahead_q[N*e + 32'(last)])) f_read = 1'b0;
        for (int unsigned j = 0; j < N; j++) begin
          if (e != j && f_seen[e] && f_seen[j] &&
              f_of_q[BucketW*e +: BucketW] == f_of_q[BucketW*j +: BucketW]) f_exclusion = 1'b0;
          if (f_ahead_q[N*e + j] && f_ahead_q[N*j + e]) f_total = 1'b0;
          if ((f_ahead_q[N*e + j] || f_ahead_q[N*j + e]) !=
              (e != j && f_out_q[e] && f_out_q[j] &&
               f_of_q[BucketW*e +: BucketW] == f_of_q[BucketW*j +: BucketW])) f_total = 1'b0;
          if (f_s1[e] && f_ahead_q[N*j + e]) f_total = 1'b0;
          for (int unsigned k = 0; k < N; k++) begin
            if (f_ahead_q[N*e + j] && f_ahead_q[N*j + k] && !f_ahead_q[N*e + k]) f_total = 1'b0;
          end
          if (live_q[e] && live_q[j] && f_ahead_q[N*j + e] && !has_next_q[e]) f_linked = 1'b0;
        end
      end
    end

    // f_bucket is any one bucket. Reads of the other buckets are assumed right (f_read). That is
    // sound: stage 1 reads one bucket per cycle, so before the first wrong read of a run all reads
    // were right, and f_bucket may be the bucket of the first wrong read.
    (* anyconst *) logic [BucketW-1:0] f_any;
    assign f_bucket = f_any;
    always_comb if (rst_ni && s1_bucket_q != f_bucket) assume (f_read);

    // Any one address: f_on_q: the entry acquired this address, whose bucket is f_hash.
    (* anyconst *) logic [63:3] f_address;
    logic [BucketW-1:0] f_hash;
    logic [N-1:0]       f_on_q, f_both;
    logic               f_hashed;
    always_comb begin
      f_hash = '0;
      for (int unsigned b = 0; b < 61; b++) begin
        f_hash[b % BucketW] = f_hash[b % BucketW] ^ f_address[3 + b];
      end
      f_hashed = 1'b1;
      for (int unsigned e = 0; e < N; e++) begin
        if (f_out_q[e] && f_on_q[e] && f_of_q[BucketW*e +: BucketW] != f_hash) f_hashed = 1'b0;
      end
    end
    always_ff @(posedge clk_i) begin
      if (acquire_valid_i) f_on_q[acquire_entry_i] <= acquire_address_i == f_address;
    end
    assign f_both = f_seen & f_on_q;

    // an address is in one bucket, and has one granted entry
    `RNIC_ASSERT(OneHolder_A,    f_hashed && (f_both & (f_both - 1'b1)) == '0)
    `RNIC_ASSERT(Exclusion_A,    f_exclusion)                // one granted entry in a bucket
    `RNIC_ASSERT(Order_A,        f_order)   // a granted entry waits for no earlier one
    `RNIC_ASSERT(Acquired_A,     (f_seen & ~f_out_q) == '0)  // only acquired entries are granted
    `RNIC_ASSERT(Granted_A,      f_granted)   // an acquired entry that waits for none is granted
    `RNIC_ASSERT(Held_A,         f_seen == held_q)
    `RNIC_ASSERT(Ghost_A,        f_ghost)
    `RNIC_ASSERT(Total_A,        f_total)
    `RNIC_ASSERT(NextIsNext_A,   f_linked)
    `RNIC_ASSERT(LastIsNewest_A, f_newest)
    `RNIC_ASSERT(ReadIsNewest_A, f_read)
  end
`endif
endmodule
