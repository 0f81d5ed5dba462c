// llp_if_grant: grants credit to segments of QPs, in the order of their wants.
//
//   tx_want --> [ wants ] --+                                       +--> tx_grant
//   wake, hold, mss ------> + --> [ QP table ] -> [ account ] --> decide --> waits: table flag
//                           ^--- [ again ] <--- wake, hold or mss of a QP with a want that waits
//
// A want that is not granted waits as a flag of its QP's row. It is checked again after a wake (the
// connection's credit has changed), a hold (the first FPDU has arrived) or a new mss. Each of these
// puts the QP into queue `again`, and the next operation on that entry is an OpLook, as for a want.
//
// Invariants:
//  1. A segment is granted when an FPDU of the largest size and TermCredit fit (RFC 5044 section 4;
//     architecture section 5). A Terminate takes only TermCredit.
//  2. No grant is given before start or after stop, and none for a segment while hold_tx is set.
//  3. All FPDUs set aside on a connection have the same size (size_i), which grows only while none
//     is set aside. So a refund is size_i minus the FPDU's length, also after a new segment size
//     (of a Terminate: TermCredit minus its length).
//  4. A QP whose Terminate waits is visited every 2^16 cycles. The first visit marks it (seen), the
//     second one stops the QP and reports late. So a Terminate waits 2^16 to 2^17 cycles
//     (TermTimeout).
//  5. A table row that is written while the next item reads it is forwarded.
// Steps, in phases 0, 1, 0: read the table; look up the credit in llp_if_account; decide and write.
// The account serves lookups only in phase 1, because refunds use its read ports in phase 0.
// Throughput: one item every 2 cycles.
// Back-pressure: only the check of a want (OpLook) waits for tx_grant. Wants and QPs to be checked
// again stay in their queues. Each queue has 2 entries for each QP: its segment and its Terminate.
// Siblings: llp_if_account, llp_if_ctl. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_grant #(
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps),
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  output logic                  ready_o,
  output logic                  phase_o,          // toggles each cycle (steps, above)
  // from ddp
  input  logic                  want_valid_i,
  output logic                  want_ready_o,
  input  iwarp_pkg::tx_want_t   want_i,
  // to ddp
  output logic                  grant_valid_o,
  input  logic                  grant_ready_i,
  output iwarp_pkg::tx_grant_t  grant_o,
  // from llp_if_ctl: set a QP's row, change its size, forget a connection's credit
  input  logic                  cfg_valid_i,
  output logic                  cfg_ready_o,
  input  logic [1:0]            cfg_kind_i,       // 0 set, 1 size, 2 clear
  input  logic [QpW-1:0]        cfg_qpn_i,
  input  logic [ConnW-1:0]      cfg_conn_i,
  input  logic                  cfg_running_i,    // the QP may get grants
  input  logic                  cfg_hold_i,       // hold_tx
  input  logic [15:0]           cfg_mulpdu_i,
  input  logic [16:0]           cfg_worst_i,      // bytes of the largest FPDU with this MULPDU
  input  logic                  mark_i,           // records the wants that are queued now ...
  output logic                  past_o,           // ... and reports when all of them were checked
  // from llp_if_rx: the QP's first FPDU has arrived
  input  logic                  hold_valid_i,
  output logic                  hold_ready_o,
  input  logic [QpW-1:0]        hold_qpn_i,
  // from llp_if_raw: streaming bytes
  input  logic                  debit_valid_i,
  output logic                  debit_ready_o,
  input  logic [ConnW-1:0]      debit_conn_i,
  input  logic [15:0]           debit_length_i,
  input  logic                  debit_probe_i,    // llp_if_ctl only queries: no credit is taken
  output logic                  debit_done_o,
  output logic                  debit_ok_o,
  // to llp_if_ctl: this QP's Terminate got no credit in time (invariant 4)
  output logic                  late_valid_o,
  input  logic                  late_ready_i,
  output logic [QpW-1:0]        late_qpn_o,
  output logic [ConnW-1:0]      late_conn_o,
  // to and from llp_if_account: a lookup in phase 1; its response and all writes in the phase 0
  // after it
  output logic                  look_o,
  output logic [ConnW-1:0]      look_conn_o,
  output logic [17:0]           need_o,           // is credit for so many bytes available?
  input  logic                  fits_need_i,      // need_o bytes are available
  input  logic                  fits_size_i,      // credit for size_i and TermCredit is available
  input  logic [16:0]           size_i,           // bytes set aside for each FPDU (invariant 3)
  input  logic                  idle_i,           // no FPDU is set aside
  output logic                  take_o,           // takes take_bytes_o of the credit looked up
  output logic [31:0]           take_bytes_o,
  output logic                  take_fpdu_o,      // the bytes are for an FPDU, else streaming bytes
  output logic [16:0]           take_size_o,      // size_i from now on
  output logic                  clear_o,          // the connection is released: its credit is 0
  output logic                  wait_we_o,        // writes the QP that waits for this credit:
  output logic                  wait_o,           // a want of wait_qpn_o waits
  output logic [QpW-1:0]        wait_qpn_o,
  // from llp_if_account: the credit that this QP waits for has changed
  input  logic                  wake_valid_i,
  output logic                  wake_ready_o,
  input  logic [QpW-1:0]        wake_qpn_i
);
  // A QP's row: {running, hold, wait_seg, wait_term, seen, worst, mulpdu, connection}. hold: of
  // hold_tx, until the first FPDU arrives. wait_seg, wait_term: the want of a segment, of a
  // Terminate waits. seen: OpTick has seen the Terminate wait. worst: bytes of the largest FPDU.
  // Width: 5 flags, 17 bits of worst, 16 of mulpdu.
  localparam int unsigned RowW = 38 + ConnW;

  // Operations: set a QP's row, or its size; clear a connection's credit; end of hold_tx; wake;
  // debit or probe of streaming bytes; a visit (invariant 4); the check of a want.
  typedef enum logic [3:0] {
    OpNone, OpSet, OpSize, OpClear, OpHold, OpWake, OpDebit, OpProbe, OpTick, OpLook
  } op_e;

  // --- queues
  logic           want_valid, want_pop, want_term,
                  again_valid, again_pop, again_term, again_push, again_push_term;
  logic           again_ready, grant_room, late_room, grant_ready, late_ready;
  logic [QpW-1:0] want_qpn, again_qpn;
  logic [2:0]     grants, lates;
  logic [$clog2(2*rnic_pkg::NumQps+1)-1:0] unused_wants, unused_again;

  op_e            op_d, op1_q, op2_q;
  logic [QpW-1:0] qpn_d, qpn1_q, qpn2_q;

  stream_fifo #(.Width(QpW + 1), .Depth(2 * rnic_pkg::NumQps)) u_wants (
    .clk_i, .rst_ni,
    .valid_i(want_valid_i), .ready_o(want_ready_o), .data_i({want_i.qpn[QpW-1:0], want_i.is_term}),
    .valid_o(want_valid), .ready_i(want_pop), .data_o({want_qpn, want_term}),
    .count_o(unused_wants)
  );

  stream_fifo #(.Width(QpW + 1), .Depth(2 * rnic_pkg::NumQps), .Reserved(1'b1)) u_again (
    .clk_i, .rst_ni,
    .valid_i(again_push), .ready_o(again_ready), .data_i({qpn2_q, again_push_term}),
    .valid_o(again_valid), .ready_i(again_pop), .data_o({again_qpn, again_term}),
    .count_o(unused_again)
  );

  // --- visits each QP once in 2^16 cycles: the upper bits of the clock are the QPN, and a visit is
  // due when the lower ones are 0
  logic [15:0]    clock_q;
  logic           tick_q, tick_pop;
  logic [QpW-1:0] tick_qpn_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clock_q <= '0;
      tick_q  <= 1'b0;
    end else begin
      clock_q <= clock_q + 1'b1;
      tick_q  <= clock_q[15-QpW:0] == '0 || (tick_q && !tick_pop);
    end
  end
  always_ff @(posedge clk_i) begin
    if (clock_q[15-QpW:0] == '0) tick_qpn_q <= clock_q[15:16-QpW];
  end

  // --- step 0: choose
  logic             phase_q, clear_busy, term_d, term1_q, term2_q, choose;
  logic [QpW-1:0]   clear_addr;
  logic [ConnW-1:0] conn_d, conn1_q;
  logic [15:0]      debit1_q, debit2_q;
  logic [17:0]      need2_q;

  ram_clear #(.Depth(rnic_pkg::NumQps)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  assign ready_o    = !clear_busy;
  assign phase_o    = phase_q;
  assign choose     = !phase_q && !clear_busy;
  // u_grants and u_lates have 4 entries each. One chosen item, in step 2 now, is not counted yet.
  assign grant_room = grants <= 3'd2;
  assign late_room  = lates <= 3'd2;

  always_comb begin
    op_d         = OpNone;
    qpn_d        = want_qpn;
    conn_d       = cfg_conn_i;
    term_d       = want_term;
    cfg_ready_o  = 1'b0;
    hold_ready_o = 1'b0;
    wake_ready_o = 1'b0;
    debit_ready_o = 1'b0;
    tick_pop     = 1'b0;
    again_pop    = 1'b0;
    want_pop     = 1'b0;
    if (choose) begin
      if (cfg_valid_i) begin
        op_d        = cfg_kind_i == 2'd0 ? OpSet : cfg_kind_i == 2'd1 ? OpSize : OpClear;
        qpn_d       = cfg_qpn_i;
        cfg_ready_o = 1'b1;
      end else if (hold_valid_i) begin
        op_d         = OpHold;
        qpn_d        = hold_qpn_i;
        hold_ready_o = 1'b1;
      end else if (wake_valid_i) begin
        op_d         = OpWake;
        qpn_d        = wake_qpn_i;
        wake_ready_o = 1'b1;
      end else if (debit_valid_i) begin
        op_d          = debit_probe_i ? OpProbe : OpDebit;
        conn_d        = debit_conn_i;
        debit_ready_o = 1'b1;
      end else if (tick_q && late_room) begin
        op_d     = OpTick;
        qpn_d    = tick_qpn_q;
        tick_pop = 1'b1;
      end else if (again_valid && grant_room) begin
        op_d      = OpLook;
        qpn_d     = again_qpn;
        term_d    = again_term;
        again_pop = 1'b1;
      end else if (want_valid && grant_room) begin
        op_d     = OpLook;
        want_pop = 1'b1;
      end
    end
  end

  // --- step 1: the row; the lookup in llp_if_account. handed_*: the row is forwarded from step 2
  // (invariant 5). bytes1, bytes2: the item is about streaming bytes.
  logic             row_we, handed_q, bytes1, bytes2;
  logic [RowW-1:0]  row_ram, row_new, handed_row_q, row1, row2_q, set1_q;
  logic [ConnW-1:0] conn1, conn2_q;

  ram_1r1w #(.Width(RowW), .Depth(rnic_pkg::NumQps)) u_rows (
    .clk_i, .rst_ni,
    .we_i(clear_busy || row_we), .waddr_i(clear_busy ? clear_addr : qpn2_q),
    .wdata_i(clear_busy ? '0 : row_new),
    .re_i(op_d != OpNone), .raddr_i(qpn_d), .rdata_o(row_ram)
  );

  // Streaming bytes belong to a connection; no row of a QP is read or written for them.
  assign bytes1      = op1_q == OpDebit || op1_q == OpProbe;
  assign bytes2      = op2_q == OpDebit || op2_q == OpProbe;
  assign row1        = handed_q ? handed_row_q : row_ram;
  assign conn1       = bytes1 || op1_q == OpClear || op1_q == OpSet ? conn1_q : row1[ConnW-1:0];
  assign look_o      = phase_q && op1_q != OpNone;
  assign look_conn_o = conn1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q  <= 1'b0;
      op1_q    <= OpNone;
      op2_q    <= OpNone;
      handed_q <= 1'b0;
    end else begin
      phase_q <= !phase_q;
      if (!phase_q) op1_q <= op_d;
      if (phase_q)  op2_q <= op1_q;
      if (!phase_q) handed_q <= row_we && qpn2_q == qpn_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!phase_q) begin
      qpn1_q       <= qpn_d;
      conn1_q      <= conn_d;
      term1_q      <= term_d;
      debit1_q     <= debit_length_i;
      handed_row_q <= row_new;
      set1_q       <= {cfg_running_i, cfg_hold_i, 3'b000, cfg_worst_i, cfg_mulpdu_i, cfg_conn_i};
    end
    if (phase_q) begin
      qpn2_q   <= qpn1_q;
      term2_q  <= term1_q;
      debit2_q <= debit1_q;
      need2_q  <= bytes1 ? {2'd0, debit1_q}
                : (term1_q ? 18'd0 : {1'b0, row1[ConnW+32:ConnW+16]}) +
                  {2'd0, rnic_pkg::TermCredit};
      row2_q   <= op1_q == OpSet  ? set1_q
                : op1_q == OpSize ? {row1[RowW-1:ConnW+33], set1_q[ConnW+32:ConnW], row1[ConnW-1:0]}
                                  : row1;
      conn2_q  <= conn1;
    end
  end

  // --- step 2: decide. grows: the QP's largest FPDU is larger than the size set aside so far.
  // aside: the size to set aside now. calls: the QP enters `again`, if a want of it waits.
  logic             active, running, hold, wait_seg, wait_term, seen,
                    seg_d, term_wait_d, seen_d, running_d, hold_d;
  logic             look, grows, enough, granted, calls, debited;
  logic [16:0]      worst, aside;
  logic [15:0]      mulpdu;

  assign active   = !phase_q && op2_q != OpNone;
  assign {running, hold, wait_seg, wait_term, seen, worst, mulpdu} = row2_q[RowW-1:ConnW];
  assign look     = active && op2_q == OpLook && running;
  assign grows    = worst > size_i;
  assign aside    = grows && idle_i ? worst : size_i;
  assign need_o   = need2_q;
  assign enough   = term2_q || bytes2 ? fits_need_i : grows ? idle_i && fits_need_i : fits_size_i;
  assign granted  = look && (!hold || term2_q) && enough;
  assign debited  = active && op2_q == OpDebit && enough;
  assign calls    = active && (op2_q == OpWake || op2_q == OpHold || op2_q == OpSize);

  assign again_push      = calls && (wait_seg || wait_term);
  assign again_push_term = wait_term;   // if both wants wait, the Terminate goes first

  always_comb begin
    running_d   = running;
    hold_d      = hold;
    seg_d       = wait_seg;
    term_wait_d = wait_term;
    seen_d      = seen;
    if (op2_q == OpHold) hold_d = 1'b0;
    if (calls && wait_term) term_wait_d = 1'b0;
    else if (calls)         seg_d = 1'b0;
    if (look && !granted && term2_q)  term_wait_d = 1'b1;
    if (look && !granted && !term2_q) seg_d = 1'b1;
    if (granted && term2_q)           seen_d = 1'b0;
    if (op2_q == OpTick && wait_term) begin
      seen_d = 1'b1;
      if (seen) begin
        running_d   = 1'b0;
        seg_d       = 1'b0;
        term_wait_d = 1'b0;
      end
    end
  end

  assign row_we  = active && !bytes2 && op2_q != OpClear;
  assign row_new = {running_d, hold_d, seg_d, term_wait_d, seen_d, row2_q[ConnW+32:0]};

  assign take_o       = granted || debited;
  assign take_bytes_o = op2_q == OpDebit ? {16'd0, debit2_q}
                      : term2_q          ? {16'd0, rnic_pkg::TermCredit} : {15'd0, aside};
  assign take_fpdu_o  = granted;
  assign take_size_o  = op2_q == OpLook && !term2_q ? aside : size_i;
  assign clear_o      = active && op2_q == OpClear;
  assign wait_we_o    = row_we && (running || op2_q == OpSet);
  assign wait_o       = seg_d || term_wait_d;
  assign wait_qpn_o   = qpn2_q;
  assign debit_done_o = active && bytes2;
  assign debit_ok_o   = enough;

  iwarp_pkg::tx_grant_t grant;
  assign grant.qpn     = 16'(qpn2_q);
  assign grant.is_term = term2_q;
  assign grant.mulpdu  = mulpdu;

  stream_fifo #(.Width(iwarp_pkg::TxGrantWidth), .Depth(4), .Reserved(1'b1)) u_grants (
    .clk_i, .rst_ni,
    .valid_i(granted), .ready_o(grant_ready), .data_i(grant),
    .valid_o(grant_valid_o), .ready_i(grant_ready_i), .data_o(grant_o),
    .count_o(grants)
  );

  logic late;
  assign late = active && op2_q == OpTick && running && wait_term && seen;

  stream_fifo #(.Width(QpW + ConnW), .Depth(4), .Reserved(1'b1)) u_lates (
    .clk_i, .rst_ni,
    .valid_i(late), .ready_o(late_ready), .data_i({qpn2_q, conn2_q}),
    .valid_o(late_valid_o), .ready_i(late_ready_i), .data_o({late_qpn_o, late_conn_o}),
    .count_o(lates)
  );

  // --- reports when all wants that were queued at the mark have been checked. llp_if_ctl waits for
  // that before it starts a QP: no want of the QP's previous life may be granted in the new one.
  logic [15:0] want_in_q, want_out_q, want_mark_q, again_in_q, again_out_q, again_mark_q;
  // past_q: latched, since the counts may wrap
  logic        want_behind, again_behind, want_past_q, again_past_q;
  logic [14:0] unused_want_left, unused_again_left;

  assign {want_behind, unused_want_left}   = want_out_q - want_mark_q;
  assign {again_behind, unused_again_left} = again_out_q - again_mark_q;
  assign past_o     = (want_past_q || !want_behind) && (again_past_q || !again_behind);

  always_ff @(posedge clk_i) begin
    want_past_q  <= !mark_i && (want_past_q || !want_behind);
    again_past_q <= !mark_i && (again_past_q || !again_behind);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      want_in_q    <= '0;
      want_out_q   <= '0;
      again_in_q   <= '0;
      again_out_q  <= '0;
      want_mark_q  <= '0;
      again_mark_q <= '0;
    end else begin
      want_in_q   <= want_in_q + 16'(want_valid_i && want_ready_o);
      want_out_q  <= want_out_q + 16'(want_valid && want_pop);
      again_in_q  <= again_in_q + 16'(again_push);
      again_out_q <= again_out_q + 16'(again_valid && again_pop);
      if (mark_i) begin
        want_mark_q  <= want_in_q;
        again_mark_q <= again_in_q;
      end
    end
  end

  `RNIC_ASSERT(AgainRoom_A, !again_push || again_ready)
  `RNIC_ASSERT(GrantRoom_A, !granted || grant_ready)
  `RNIC_ASSERT(LateRoom_A, !late || late_ready)
  `RNIC_STREAM_STABLE(GrantStable_A, grant_valid_o, grant_ready_i, grant_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::llp_grant_commit_t tap_llp_grant /*verilator public_flat_rd*/;
  assign tap_llp_grant = {granted, 16'(qpn2_q), term2_q, mulpdu};
endmodule
