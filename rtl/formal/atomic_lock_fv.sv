// atomic_lock_fv: proof of atomic_lock with 4 entries and 2 buckets, by induction. The RAM `last`
// starts with any contents.
//
// In the leaf, under FORMAL, from the ports only:
// - At most one entry of an address (OneHolder_A), and of a bucket (Exclusion_A), is granted.
// - A granted entry was acquired, and all entries before it are released.
// - An entry is granted 2 cycles after its acquire or 1 cycle after the release of the entry before
//   it, whichever is later.
// Here: each acquire gets its response after 2 cycles. The environment acquires an entry that is
// not live, and releases one that was granted.
// proof: assertions=17 bounded=9 induction=3 cover=12
// files: ../atomic/atomic_lock.sv
// refuted by ../atomic/atomic_lock.sv Granted_A: s/busy        = last_live && !last_leaves/busy        = last_live/
// refuted by ../atomic/atomic_lock.sv Exclusion_A: s/last_live   = live_q\[last\]/last_live   = held_q[last]/
// refuted by ../atomic/atomic_lock.sv Exclusion_A: s/busy        = last_live && !last_leaves/busy        = 1'b0/
// refuted by ../atomic/atomic_lock.sv Granted_A: s/live_q\[last\] && bucket_mem\[last\] == s1_bucket_q/live_q[last]/
// refuted by ../atomic/atomic_lock.sv OneHolder_A: s/^    bucket = '0;/    bucket = BucketW'(acquire_entry_i);/
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module atomic_lock_fv (
  input logic        clk_i,
  input logic        acquire_valid_i, release_valid_i,
  input logic [1:0]  acquire_entry_i, release_entry_i,
  input logic [63:3] acquire_address_i
);
  `RNIC_FORMAL_RESET
  logic       rsp_valid, rsp_granted, wake_valid;
  logic [1:0] rsp_entry;
  logic [3:0] out, held;

  atomic_lock #(.Entries(4), .Buckets(2)) dut (
    .clk_i, .rst_ni,
    .acquire_valid_i, .acquire_entry_i, .acquire_address_i,
    .rsp_valid_o(rsp_valid), .rsp_entry_o(rsp_entry), .rsp_granted_o(rsp_granted),
    .release_valid_i, .release_entry_i,
    .wake_valid_o(wake_valid), .wake_entry_o(),
    .f_out_o(out), .f_held_o(held)
  );

  `RNIC_ASSUME(!release_valid_i || held[release_entry_i])
  `RNIC_ASSUME(!acquire_valid_i || !out[acquire_entry_i] ||
               (release_valid_i && release_entry_i == acquire_entry_i))

  logic       valid_1q, valid_2q;
  logic [1:0] entry_1q, entry_2q;
  always_ff @(posedge clk_i) begin
    {valid_1q, valid_2q} <= rst_ni ? {acquire_valid_i, valid_1q} : 2'b00;
    {entry_1q, entry_2q} <= {acquire_entry_i, entry_1q};
  end
  `RNIC_ASSERT(Response_A, rsp_valid == valid_2q && (!rsp_valid || rsp_entry == entry_2q))

  `RNIC_COVER(TwoGrants_C, rsp_valid && rsp_granted && wake_valid)
  // Each bucket in use has its granted entry: with one, all entries are in one bucket.
  `RNIC_COVER(AllInOneBucket_C, out == 4'hf && held == 4'h1 && !valid_1q && !valid_2q)
  `RNIC_COVER(AcquiredAsReleased_C, rsp_valid && !rsp_granted && $past(release_valid_i, 2) &&
                                    $past(release_entry_i, 2) == rsp_entry)
endmodule
