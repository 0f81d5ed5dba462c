// host_if_doorbell: BAR 2: passes doorbell pages to qp_doorbell and cq_doorbell, and every other
// request to host_if_bar.
//
//   mmio --> page, offset --> 0x000 sq, 0x008 rq ----------------> qp_doorbell
//              |              0x010 cq, 0x018 cq_arm ------------> cq_doorbell
//              |              0x100, first half of 1 unit -------> qp_doorbell, kind push
//              |              0x100, 0x140: a half of 2 units,
//              |                  whose other half is in [ halves ] --> kind push
//              |                  else --> [ halves ] --(expired)--> kind sq
//              +--> not a write to BAR 2 --> host_if_bar
//
// Each half of a push of two units carries the doorbell of its WQE (sq_wqe.ring, and the last 8
// bytes). Page, QP and index identify the WQE. So halves may come in either order. They may
// interleave with halves of other QPs and of other threads that share the page.
//   1. A pushed copy is a hint; its WQE is in the ring. Without a copy, the doorbell in the first
//      half counts as kind sq, and qp fetches the WQE from the ring.
//   2. A first half becomes kind sq in three cases:
//      a. [ halves ] is full.
//      b. Another doorbell rings its send queue. The half is passed to qp before that doorbell, so
//         the index of a QP never goes back.
//      c. It expires: its second half has not come after 1 to 2 ticks of 512 cycles.
//   3. A second half is dropped when [ halves ] is full, or when it expires before its first half
//      comes. Its WQE loses only the copy.
//   4. Requests pass the halves in [ halves ]. Two events stall them: an expired half (over_q), at
//      most once per 512 cycles, and a qp_purge. hold_o then keeps host_if from accepting
//      requests. Requests accepted before that drain (idle_i: all have drained). In the next cycle
//      the half is passed as kind sq, dropped or purged. So no request accepted after the tick
//      meets an expired half, however dense requests are. An index that has wrapped never pairs
//      with a half of the previous lap, and the half's entry is free.
//      Both events happen in a cycle in which no request is accepted and none is in flight to this
//      leaf. So sim/tandem, which applies requests as they are accepted, has the same order.
//      (Ringing in parallel with a request would need a second port to qp, and a commit that
//      records which requests were before it.)
//   5. A qp_purge removes the halves of its QP. qp requests it in destroy_qp, after it has closed
//      the QP for doorbells and before it responds. So the next QP with this number neither pairs
//      with a half of the destroyed QP nor is rung by one. Halves that the host wrote before that
//      command were accepted before it.
//
// Malformed: another offset, another size, units other than 1 and 2, an object of more than 16
// bits, a page that does not exist, a second half without its first. dropped_o pulses.
// Latency: 1 cycle. Throughput: a request per cycle (one cycle more for each first half that
// another doorbell turns into kind sq: rule 2b).
// Back-pressure: waits for qp and cq to accept a doorbell, which they do within a table access.
// qp_purge waits for the at most 2 requests that were accepted before it. Those wait for qp and cq
// as above or, for a read, for room in host_if_order (dma_wr). None of these waits for qp_state,
// which waits for the purge.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_doorbell (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // from PCIe
  input  logic                      mmio_valid_i,
  output logic                      mmio_ready_o,
  input  iwarp_pkg::mmio_req_t      mmio_i,
  input  logic                      idle_i,           // this leaf has taken all accepted requests
  output logic                      hold_o,           // to host_if: accept no further request
  // from qp: a QP is destroyed
  input  logic                      qp_purge_valid_i,
  output logic                      qp_purge_ready_o,
  input  iwarp_pkg::qp_purge_t      qp_purge_i,
  // to host_if_bar: the same request
  output logic                      bar_valid_o,
  input  logic                      bar_ready_i,
  // doorbells
  output logic                      qp_doorbell_valid_o,
  input  logic                      qp_doorbell_ready_i,
  output iwarp_pkg::qp_doorbell_t   qp_doorbell_o,
  output logic                      cq_doorbell_valid_o,
  input  logic                      cq_doorbell_ready_i,
  output iwarp_pkg::cq_doorbell_t   cq_doorbell_o,
  output logic                      cq_given_o,       // a cq_doorbell was accepted; it follows
  output logic                      dropped_o
);
  localparam int unsigned Halves = 4;
  localparam int unsigned TickW  = 9;     // a tick each 512 cycles
  localparam int unsigned KeyW   = 48;    // page, QP, index
  localparam logic [11:0] PushFirst  = rnic_pkg::PushOffset;
  localparam logic [11:0] PushSecond = rnic_pkg::PushOffset + 12'h40;

  logic                 mine, plain, half, first_half, second_half, one_unit, fits;
  logic [15:0]          page;
  logic [11:0]          offset;
  logic [KeyW-1:0]      key;
  iwarp_pkg::doorbell_t bell, tail;
  iwarp_pkg::sq_wqe_t   wqe;
  logic                 is_qp, is_cq, is_half, pairs, stores, rings;
  logic                 qp_valid, qp_ready, cq_valid, cq_ready, unused_bits;
  iwarp_pkg::qp_doorbell_t qp_next;
  iwarp_pkg::cq_doorbell_t cq_next;

  assign offset = mmio_i.offset[11:0];
  assign page   = mmio_i.offset[27:12];
  assign key    = second_half ? {page, tail.object[15:0], tail.index[15:0]} :
                                {page, wqe.ring.object[15:0], wqe.ring.index[15:0]};
  assign fits   = 32'(mmio_i.offset[31:12]) < rnic_pkg::NumPages;
  assign mine   = mmio_i.is_write && mmio_i.bar == 3'd2;
  assign bell   = mmio_i.data[63:0];
  assign wqe    = mmio_i.data[255:0];
  assign tail   = mmio_i.data[511:448];
  // plain: a doorbell of 8 bytes. half: 64 bytes of a push, also a whole push of one unit.
  assign plain       = mine && fits && mmio_i.bytes == 7'd8 && bell.object[23:16] == '0;
  assign half        = mine && fits && mmio_i.bytes == 7'd64;
  assign one_unit    = wqe.units == 3'd1;
  assign first_half  = half && offset == PushFirst && wqe.ring.object[23:16] == '0 &&
                       (one_unit || wqe.units == 3'd2);
  assign second_half = half && offset == PushSecond && tail.object[23:16] == '0;
  assign is_half     = second_half || (first_half && !one_unit);
  assign is_cq       = plain && (offset == 12'h010 || offset == 12'h018);
  assign unused_bits = ^{bell.index[31:16], bell.flags[7:1], wqe, tail};

  // The stored halves, a bit for each.
  //   second_q      it is a second half
  //   aged_q        it was stored before the last tick
  //   over_q        it was stored before the tick before that: it has expired
  //   mate          it is the other half of the request's WQE
  //   twin          it is the same half of that WQE
  //   older         it is a first half of the send queue that the request rings
  //   given_up      it leaves without its mate in this cycle, by 2b, 2c or 3 (one of them)
  // up_*: page, QP, index of the half that is given up, and whether it is a second half. late: it
  // has expired.
  // ring_qpn: the QP that a request rings, if it rings a send queue (rings).
  logic [Halves-1:0]      valid_q, second_q, aged_q, over_q, same, mate, twin, older;
  logic [Halves-1:0]      free, put, clear, given_up, purged;
  logic [Halves*KeyW-1:0] key_q;
  logic [Halves*512-1:0]  data_q;
  logic [15:0]            ring_qpn, up_page, up_qpn, up_index;
  logic                   up_second, up_valid, up_fire, late, purge_q, purge;
  logic [511:0]           mate_data;

  assign ring_qpn = plain ? bell.object[15:0] : wqe.ring.object[15:0];
  assign rings    = (plain && offset == 12'h000) || first_half;
  always_comb begin
    for (int unsigned i = 0; i < Halves; i++) begin
      same[i]  = valid_q[i] && is_half && key_q[i*KeyW +: KeyW] == key;
      mate[i]  = same[i] && second_q[i] != second_half;
      twin[i]  = same[i] && second_q[i] == second_half;
      older[i] = valid_q[i] && !second_q[i] && rings &&
                 key_q[i*KeyW+16 +: 32] == {page, ring_qpn};
      purged[i] = purge && key_q[i*KeyW+16 +: 16] == qp_purge_i.qpn;
    end
    // free, given_up: the lowest set bit of the candidates.
    free     = ~valid_q & (valid_q + Halves'(1));
    given_up = mmio_valid_i ? older & (~older + Halves'(1)) :
               idle_i && qp_ready ? over_q & (~over_q + Halves'(1)) : '0;

    {up_page, up_qpn, up_index, up_second} = '0;
    mate_data = '0;
    for (int unsigned i = 0; i < Halves; i++) begin
      if (given_up[i])
        {up_page, up_qpn, up_index, up_second} = {key_q[i*KeyW +: KeyW], second_q[i]};
      if (mate[i]) mate_data = data_q[i*512 +: 512];
    end
  end

  // hold_o comes from flip-flops. So no request is accepted in a cycle in which an expired half is
  // passed on, or in which halves are purged.
  assign hold_o           = over_q != '0 || purge_q;
  assign purge            = purge_q && idle_i;
  assign qp_purge_ready_o = purge;

  assign up_valid = given_up != '0;
  assign up_fire  = up_valid && (up_second || qp_ready);
  assign late     = up_fire && !mmio_valid_i;
  assign pairs    = is_half && mate != '0;
  assign stores   = is_half && !pairs && (twin != '0 || free != '0);
  assign is_qp    = (plain && (offset == 12'h000 || offset == 12'h008)) ||
                    (first_half && one_unit) || pairs ||
                    (first_half && !stores);   // halves are full: only its doorbell, kind sq

  always_comb begin
    qp_next.kind  = offset == 12'h008 ? iwarp_pkg::DbRq : iwarp_pkg::DbSq;
    qp_next.qpn   = ring_qpn;
    qp_next.page  = page;
    qp_next.index = plain ? bell.index[15:0] : wqe.ring.index[15:0];
    qp_next.units = 2'd0;
    qp_next.data  = '0;
    if (up_valid) begin
      qp_next.kind  = iwarp_pkg::DbSq;
      qp_next.qpn   = up_qpn;
      qp_next.page  = up_page;
      qp_next.index = up_index;
    end else if (pairs && second_half) begin
      qp_next.kind  = iwarp_pkg::DbPush;
      qp_next.qpn   = tail.object[15:0];
      qp_next.index = tail.index[15:0];
      qp_next.units = 2'd2;
      qp_next.data  = {mmio_i.data, mate_data};
    end else if (pairs) begin
      qp_next.kind  = iwarp_pkg::DbPush;
      qp_next.units = 2'd2;
      qp_next.data  = {mate_data, mmio_i.data};
    end else if (first_half && one_unit) begin
      qp_next.kind  = iwarp_pkg::DbPush;
      qp_next.units = 2'd1;
      qp_next.data  = {512'd0, mmio_i.data};
    end
    cq_next.cqn            = bell.object[15:0];
    cq_next.page           = page;
    cq_next.index          = bell.index[15:0];
    cq_next.arm            = offset == 12'h018;
    cq_next.solicited_only = offset == 12'h018 && bell.flags[0];
  end

  assign qp_valid     = up_valid ? !up_second : mmio_valid_i && is_qp;
  assign cq_valid     = mmio_valid_i && !up_valid && is_cq;
  assign bar_valid_o  = mmio_valid_i && !up_valid && !mine;
  assign dropped_o    = mmio_valid_i ? !up_valid && mine && !is_qp && !is_cq && !stores
                                     : late && up_second;
  assign mmio_ready_o = !up_valid && (!mine ? bar_ready_i
                                    : is_qp ? qp_ready
                                    : is_cq ? cq_ready : 1'b1);

  // Store, pair, remove.
  logic             taken;
  logic [TickW-1:0] tick_q;
  assign taken = mmio_valid_i && mmio_ready_o;
  assign put   = taken && stores ? (twin != '0 ? twin : free) : '0;
  assign clear = (taken && pairs ? mate : '0) | (up_fire ? given_up : '0) | purged;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      aged_q  <= '0;
      over_q  <= '0;
      tick_q  <= '0;
      purge_q <= 1'b0;
    end else begin
      valid_q <= (valid_q & ~clear) | put;
      purge_q <= qp_purge_valid_i && !qp_purge_ready_o;
      tick_q  <= tick_q + 1'b1;
      aged_q  <= (tick_q == '1 ? aged_q | valid_q : aged_q) & ~clear & ~put;
      over_q  <= (tick_q == '1 ? over_q | (aged_q & valid_q) : over_q) & ~clear & ~put;
    end
    for (int unsigned i = 0; i < Halves; i++) begin
      if (put[i]) begin
        second_q[i]           <= second_half;
        key_q[i*KeyW +: KeyW] <= key;
        data_q[i*512 +: 512]  <= mmio_i.data;
      end
    end
  end

  // Registered, as u_qp registers the doorbells that follow: no qp_doorbell overtakes the pulse of
  // an earlier cq_doorbell.
  logic cq_given_q;
  assign cq_given_o = cq_given_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) cq_given_q <= 1'b0;
    else         cq_given_q <= cq_valid && cq_ready;
  end

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::push_late_commit_t tap_push_late /*verilator public_flat_rd*/;
  assign tap_push_late = {late, up_page, up_qpn, up_index, up_second};
  iwarp_pkg::push_purge_commit_t tap_push_purge /*verilator public_flat_rd*/;
  assign tap_push_purge = {purge, qp_purge_i.qpn};

  stream_reg #(.Width(iwarp_pkg::QpDoorbellWidth)) u_qp (
    .clk_i, .rst_ni, .valid_i(qp_valid), .ready_o(qp_ready), .data_i(qp_next),
    .valid_o(qp_doorbell_valid_o), .ready_i(qp_doorbell_ready_i), .data_o(qp_doorbell_o)
  );
  stream_reg #(.Width(iwarp_pkg::CqDoorbellWidth)) u_cq (
    .clk_i, .rst_ni, .valid_i(cq_valid), .ready_o(cq_ready), .data_i(cq_next),
    .valid_o(cq_doorbell_valid_o), .ready_i(cq_doorbell_ready_i), .data_o(cq_doorbell_o)
  );

  `RNIC_STREAM_STABLE(QpStable_A, qp_doorbell_valid_o, qp_doorbell_ready_i, qp_doorbell_o)
  `RNIC_STREAM_STABLE(CqStable_A, cq_doorbell_valid_o, cq_doorbell_ready_i, cq_doorbell_o)
  `RNIC_ASSERT(OneOfAWqe_A, (mate & (mate - Halves'(1))) == '0 &&
                            (twin & (twin - Halves'(1))) == '0)
endmodule
