// qp_rq_fetch: gives receive WQEs to ddp from a prefetch buffer, and fills the buffer from the
// receive rings.
//
//   take_req --> map --> [ takes ] --> read, look, give --> [ buffer ] --> b1 --> b2 --> take_rsp
//                                       |   ^    +--> refill, limit -+
//                                  miss v   | retry, empty, failed   v
//   done, stop, miss, list --> S0 --> S1 --> S2 --> S3            [ list ] <-- kick (doorbell)
//                                             |     +--> state, refill --^
//                                             +--> rq_rd_req, [ qp_read ] --> done, [ buffer ]
//
// A row is a QP's own receive queue, or an SRQ, which has a number like a QP. `map` looks up the
// row from which a QP takes its receives; every later stage works on rows. Below, "QP" means a row,
// except in 7.
//
// Two paths share the state of a row. The take path (map to b2) gives ddp the next WQE. The
// pipeline S0 to S3 issues reads and accounts for them. S0 chooses an operation: done (a read came
// back), stop (a barrier of qp_state), miss (a take that found no WQE), or list (a row that may
// need a read). S1 has the row's state, S2 decides, S3 writes the state and sends the read.
//
// State of a QP: taken (owner: the take path); on (created and not stopped), drop (a read has
// failed: the outstanding reads are dropped), reads (outstanding, at most 4), asked, arrived
// (owner: S3). Indices are ring indices that run free.
//
// 1. A QP is in S1 to S3 at most once: S0 admits no operation of a QP that is inside. So each
//    operation reads what its predecessor wrote.
// 2. The take path serves one request at a time, in order. A take whose WQE has arrived needs only
//    the buffer: outstanding reads and rq_rd_req do not delay it.
// 3. A take that misses becomes an operation. Its verdict is retry (the WQE has arrived meanwhile),
//    empty (none is announced, or the QP is stopped), or wait. With wait, one of the QP's own reads
//    is outstanding (TakeWaitsForARead_A), and each done of the QP wakes the take.
// 4. A failed read ends the take that waits for it (failed) and uses up its WQE, except that of an
//    SRQ: its tag is not known. If no take waits, the next take or doorbell reads the WQEs again.
// 5. A doorbell, a take or a done enqueues a QP on the list. A read is issued for it if a batch is
//    due: a quarter of the buffer is free and WQEs are announced. Length of the batch: all
//    announced WQEs up to the ring's end, at most a quarter of the buffer, or the whole buffer if
//    it is empty.
// 6. A take that leaves fewer WQEs than the row's limit sets the limit to 0 and makes one event. A
//    new limit is written between two takes, so no take overwrites it.
// 7. From rdmap's error of a QP on (bar_*), its takes from an SRQ are answered as empty: rdmap
//    refuses all its later segments, which must not use up receives of other QPs. The bar ends when
//    the number is created again.
//
// Latency: 6 cycles for a take from the buffer (map, read, look, give, b1, b2).
// Throughput: 3 cycles per take from the buffer. S0 to S3: 1 operation per cycle over different
// QPs, 1 every 4 cycles of the same QP.
// Waits: done waits for nothing; list and miss wait for room in rq_rd_req and qp_read. A take that
// misses blocks the takes after it, because ddp expects responses in order.
// Siblings: qp_sq_fetch, qp_read, qp_sched.
// Bench: tb/qp/qp_fetch_test.cpp
`include "rnic_assert.svh"

module qp_rq_fetch #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the clearing walker
  input  logic            clear_busy_i,
  input  logic [QpnW-1:0] clear_addr_i,
  // from and to ddp
  input  logic            rq_take_req_valid_i,
  output logic            rq_take_req_ready_o,
  input  iwarp_pkg::rq_take_req_t rq_take_req_i,
  output logic            rq_take_rsp_valid_o,
  input  logic            rq_take_rsp_ready_i,
  output iwarp_pkg::rq_take_rsp_t rq_take_rsp_o,
  // from qp_doorbell
  input  logic            kick_valid_i,
  output logic            kick_ready_o,
  input  logic [QpnW-1:0] kick_qpn_i,
  input  logic            prod_we_i,
  input  logic [QpnW-1:0] prod_qpn_i,
  input  logic [15:0]     prod_index_i,
  // from qp_state: a QP is created; a QP is stopped, done when no read of it is outstanding
  input  logic            init_valid_i,
  output logic            init_ready_o,
  input  logic [QpnW-1:0] init_qpn_i,
  input  logic [63:0]     init_base_i,    // bus address of the ring
  input  logic [3:0]      init_log_i,     // log2 of its units
  input  logic            init_has_srq_i, // the QP takes from the SRQ init_srq_i
  input  logic [QpnW-1:0] init_srq_i,
  input  logic            bar_valid_i,    // from rdmap: this QP has failed. Always taken
  input  logic [QpnW-1:0] bar_qpn_i,
  input  logic            stop_valid_i,
  output logic            stop_ready_o,
  input  logic [QpnW-1:0] stop_qpn_i,
  output logic            stop_done_o,
  // from qp_state: the limit of an SRQ. limit_*_o: it was reached
  input  logic            set_valid_i,
  output logic            set_ready_o,
  input  logic [QpnW-1:0] set_row_i,
  input  logic [15:0]     set_limit_i,
  output logic            limit_valid_o,
  input  logic            limit_ready_i,
  output logic [QpnW-1:0] limit_row_o,
  // to qp_doorbell: index of a row's next take
  output logic            taken_we_o,
  output logic [QpnW-1:0] taken_row_o,
  output logic [15:0]     taken_index_o,
  // to and from host_if
  output logic            rq_rd_req_valid_o,
  input  logic            rq_rd_req_ready_i,
  output iwarp_pkg::rq_rd_req_t rq_rd_req_o,
  input  logic            rq_rd_hdr_valid_i,
  output logic            rq_rd_hdr_ready_o,
  input  iwarp_pkg::rq_rd_hdr_t rq_rd_hdr_i,
  input  logic            rq_rd_valid_i,
  output logic            rq_rd_ready_o,
  input  iwarp_pkg::beat_t rq_rd_i
);
  localparam int unsigned Pre       = rnic_pkg::RqPrefetch;
  localparam int unsigned Quarter   = Pre > 4 ? Pre / 4 : 1;
  localparam int unsigned ReadDepth = 4 * rnic_pkg::FifoDepth;
  localparam int unsigned UsedW     = $clog2(ReadDepth + 1);
  localparam int unsigned PreW      = Pre > 1 ? $clog2(Pre) : 1;
  localparam int unsigned BufW      = $clog2(rnic_pkg::NumQps * Pre);
  localparam int unsigned Inside    = 3;   // operations in S1, S2, S3; takes in give, b1, b2
  // OutDepth: a read for each operation inside, one for S0, one waiting.
  localparam int unsigned OutDepth  = Inside + 2;
  // A receive WQE in the buffer: {malformed, tag 16, num_sge 2, 3 SGEs of 128 bits}.
  localparam int unsigned SgesW     = 2 + 3 * 128;
  localparam int unsigned WqeW      = 1 + 16 + SgesW;

  // --- the list of QPs that may need a read
  logic            list_valid, list_go, fin_valid_q, again_valid, again_ready;
  logic [3:0]      list_ready;
  logic [QpnW-1:0] list_qpn, fin_qpn_q, again_qpn;
  logic            refill_valid, refill_ready;
  logic [QpnW-1:0] refill_qpn;
  qp_sched #(.Sources(4)) u_list (
    .clk_i, .rst_ni, .clear_busy_i, .clear_addr_i,
    .op_valid_i({fin_valid_q, again_valid, refill_valid, kick_valid_i}), .op_ready_o(list_ready),
    .op_finish_i(4'b1000), .op_requeue_i(4'b0000),
    .op_qpn_i({fin_qpn_q, again_qpn, refill_qpn, kick_qpn_i}),
    .qpn_valid_o(list_valid), .qpn_ready_i(list_go), .qpn_o(list_qpn)
  );
  assign kick_ready_o = list_ready[0];
  assign refill_ready = list_ready[1];
  assign again_ready  = list_ready[2];

  // A QP leaves the list at once: a kick that comes after its state was read enqueues it again.
  always_ff @(posedge clk_i) begin
    if (!rst_ni)            fin_valid_q <= 1'b0;
    else if (list_go)       fin_valid_q <= 1'b1;
    else if (list_ready[3]) fin_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (list_go) fin_qpn_q <= list_qpn;
  end

  // --- map: where the QP of a take has its receives
  localparam int unsigned TakeDepth = rnic_pkg::FifoDepth + 1;   // and one in map
  logic            map_go, map_valid_q, init;
  logic [QpnW-1:0] map_qpn_q;
  logic [QpnW:0]   map_ram;       // {has an SRQ, row}
  logic [$clog2(TakeDepth+1)-1:0] take_count;
  assign rq_take_req_ready_o = 32'(take_count) < rnic_pkg::FifoDepth;
  assign map_go              = rq_take_req_valid_i && rq_take_req_ready_o;
  ram_1r1w #(.Width(1 + QpnW), .Depth(rnic_pkg::NumQps)) u_map (
    .clk_i, .rst_ni, .we_i(init), .waddr_i(init_qpn_i),
    .wdata_i({init_has_srq_i, init_has_srq_i ? init_srq_i : init_qpn_i}),
    .re_i(map_go), .raddr_i(rq_take_req_i.qpn[QpnW-1:0]), .rdata_o(map_ram)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) map_valid_q <= 1'b0;
    else         map_valid_q <= map_go;
  end
  always_ff @(posedge clk_i) begin
    if (map_go) map_qpn_q <= rq_take_req_i.qpn[QpnW-1:0];
  end

  // --- take path
  typedef enum logic [2:0] {
    TkRead,    // takes a request: reads its QP's indices
    TkLook,    // the indices arrive; distances are computed
    TkGive,    // the WQE is read from the buffer, or the take misses
    TkMiss,    // requests an operation from S0
    TkVerdict, // waits for the verdict of S3
    TkWait,    // waits for a read of the QP
    TkEmpty,   // no WQE is announced
    TkFailed   // the read has failed
  } take_e;
  take_e           tk_d, tk_q;
  // take_row: the row of the take; take_shared: it is an SRQ. tk_hit_q: its next WQE has arrived.
  // v_*: the verdict of S3. woken: a read of the row came back; take_fails: it failed.
  logic            take_valid, take_begin, take_done, take_we, tk_hit_q,
                   v_retry, v_empty, v_wait, woken, take_fails;
  logic            take_shared, take_room;
  logic [QpnW-1:0] take_qpn, take_row;
  stream_fifo #(.Width(1 + 2 * QpnW), .Depth(TakeDepth), .Reserved(1'b1)) u_takes (
    .clk_i, .rst_ni, .valid_i(map_valid_q), .ready_o(take_room), .data_i({map_qpn_q, map_ram}),
    .valid_o(take_valid), .ready_i(take_done), .data_o({take_qpn, take_shared, take_row}),
    .count_o(take_count)
  );

  logic        we;
  logic [QpnW-1:0] we_qpn;
  logic        on_d, drop_d;
  logic [2:0]  reads_d;
  logic [15:0] asked_d, arrived_d, taken_d;
  logic [15:0] tk_taken_ram, tk_arrived_ram, tk_asked_ram, tk_prod_ram,
               tk_taken_q, tk_announced_q, tk_claimed_q;
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_tk_taken (
    .clk_i, .rst_ni, .we_i(taken_we_o), .waddr_i(taken_row_o), .wdata_i(taken_d),
    .re_i(take_begin), .raddr_i(take_row), .rdata_o(tk_taken_ram)
  );
  ram_1r1w #(.Width(32), .Depth(rnic_pkg::NumQps)) u_tk_arrived (
    .clk_i, .rst_ni, .we_i(we), .waddr_i(we_qpn), .wdata_i({asked_d, arrived_d}),
    .re_i(take_begin), .raddr_i(take_row), .rdata_o({tk_asked_ram, tk_arrived_ram})
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_tk_prod (
    .clk_i, .rst_ni, .we_i(prod_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(take_begin), .raddr_i(take_row), .rdata_o(tk_prod_ram)
  );

  // QPs that take nothing more from an SRQ
  logic            tk_barred_ram, tk_barred_q, bar_q;
  logic [QpnW-1:0] bar_qpn_q;
  always_ff @(posedge clk_i) bar_q     <= rst_ni && bar_valid_i;
  always_ff @(posedge clk_i) bar_qpn_q <= bar_qpn_i;
  ram_1r1w #(.Width(1), .Depth(rnic_pkg::NumQps)) u_barred (
    .clk_i, .rst_ni, .we_i(init || bar_q), .waddr_i(bar_q ? bar_qpn_q : init_qpn_i),
    .wdata_i(bar_q),
    .re_i(take_begin), .raddr_i(take_qpn), .rdata_o(tk_barred_ram)
  );

  // The limits. Two write them: a take that reaches the limit of its row, and qp_state.
  logic        reached, limit_room;
  logic [15:0] tk_limit_ram, tk_limit_q, tk_posted_q;
  assign set_ready_o = tk_q != TkLook && tk_q != TkGive;
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_limit (
    .clk_i, .rst_ni, .we_i(init || reached || (set_valid_i && set_ready_o)),
    .waddr_i(init ? init_qpn_i : reached ? take_row : set_row_i),
    .wdata_i(init || reached ? '0 : set_limit_i),
    .re_i(take_begin), .raddr_i(take_row), .rdata_o(tk_limit_ram)
  );
  // tk_posted_q includes the WQE that this take removes.
  assign reached = tk_q == TkGive && tk_hit_q && tk_posted_q <= tk_limit_q;
  stream_reg #(.Width(QpnW)) u_reached (
    .clk_i, .rst_ni, .valid_i(reached), .ready_o(limit_room), .data_i(take_row),
    .valid_o(limit_valid_o), .ready_i(limit_ready_i), .data_o(limit_row_o)
  );

  // Is a batch due? announced: posted and not requested; claimed: buffer entries in use or
  // requested.
  function automatic logic batch_due(input logic [15:0] announced, input logic [15:0] claimed);
    batch_due = announced != '0 && claimed <= 16'(Pre - Quarter);
  endfunction

  logic rsp_room, tk_kick_ready, miss_go, tk_due;
  assign tk_due     = batch_due(tk_announced_q, tk_claimed_q - 16'd1);   // - 1: freed by this take
  assign take_begin = tk_q == TkRead && take_valid && rsp_room && tk_kick_ready && limit_room &&
                      !set_valid_i && !clear_busy_i;
  assign take_we    = (tk_q == TkGive && tk_hit_q) || (tk_q == TkFailed && !take_shared);
  assign taken_we_o    = take_we || init;
  assign taken_row_o   = init ? init_qpn_i : take_row;
  assign taken_index_o = taken_d;
  assign taken_d    = init ? '0 : tk_taken_q + 16'd1;
  assign take_done  = (tk_q == TkGive && tk_hit_q) || tk_q == TkEmpty || tk_q == TkFailed;
  always_comb begin
    tk_d = tk_q;
    unique case (tk_q)
      TkRead:    if (take_begin) tk_d = TkLook;
      TkLook:    tk_d = TkGive;
      TkGive:    tk_d = tk_barred_q ? TkEmpty : tk_hit_q ? TkRead : TkMiss;
      TkMiss:    if (miss_go) tk_d = TkVerdict;
      TkVerdict: if (v_retry)      tk_d = TkRead;
                 else if (v_empty) tk_d = TkEmpty;
                 else if (v_wait)  tk_d = TkWait;
      TkWait:    if (take_fails) tk_d = TkFailed; else if (woken) tk_d = TkRead;
      default:   tk_d = TkRead;
    endcase
  end
  stream_reg #(.Width(QpnW)) u_refill (
    .clk_i, .rst_ni,
    .valid_i(tk_q == TkGive && tk_hit_q && tk_due), .ready_o(tk_kick_ready), .data_i(take_row),
    .valid_o(refill_valid), .ready_i(refill_ready), .data_o(refill_qpn)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) tk_q <= TkRead;
    else         tk_q <= tk_d;
  end
  always_ff @(posedge clk_i) begin
    if (tk_q == TkLook) begin
      tk_taken_q     <= tk_taken_ram;
      tk_barred_q    <= tk_barred_ram && take_shared;
      tk_hit_q       <= tk_arrived_ram != tk_taken_ram && !(tk_barred_ram && take_shared);
      tk_announced_q <= tk_prod_ram - tk_asked_ram;
      tk_claimed_q   <= tk_asked_ram - tk_taken_ram;
      tk_posted_q    <= tk_prod_ram - tk_taken_ram;
      tk_limit_q     <= tk_limit_ram;
    end
  end

  // --- the buffer: one register before its write port, two after its read port
  logic             rbuf_valid, bw_q;
  logic [QpnW-1:0]  rbuf_qpn;
  logic [15:0]      rbuf_index;
  logic [511:0]     rbuf_data;
  logic [WqeW-1:0]  bw_data_q, wqe_ram, wqe_q;
  logic [BufW-1:0]  bw_addr, bw_addr_q, br_addr;
  iwarp_pkg::rq_wqe_t wqe_in;
  assign wqe_in = rbuf_data;
  if (Pre > 1) begin : gen_many
    assign bw_addr = {rbuf_qpn, rbuf_index[PreW-1:0]};
    assign br_addr = {take_row, tk_taken_q[PreW-1:0]};
  end else begin : gen_one
    assign bw_addr = rbuf_qpn;
    assign br_addr = take_row;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) bw_q <= 1'b0;
    else         bw_q <= rbuf_valid;
  end
  always_ff @(posedge clk_i) begin
    bw_addr_q <= bw_addr;
    bw_data_q <= {wqe_in.num_sge > rnic_pkg::MaxRecvSge ||
                  {wqe_in.reserved0, wqe_in.reserved1, wqe_in.reserved2} != '0,
                  wqe_in.tag, wqe_in.num_sge[1:0],
                  wqe_in.sge0.address, wqe_in.sge0.length, wqe_in.sge0.lkey,
                  wqe_in.sge1.address, wqe_in.sge1.length, wqe_in.sge1.lkey,
                  wqe_in.sge2.address, wqe_in.sge2.length, wqe_in.sge2.lkey};
  end
  ram_1r1w #(.Width(WqeW), .Depth(rnic_pkg::NumQps * Pre)) u_buffer (
    .clk_i, .rst_ni, .we_i(bw_q), .waddr_i(bw_addr_q), .wdata_i(bw_data_q),
    .re_i(tk_q == TkGive), .raddr_i(br_addr), .rdata_o(wqe_ram)
  );

  // b1: the buffer's word is at its output; b2: it is registered
  logic        b1_valid_q, b2_valid_q, rsp_ready, b1_shared_q, b2_shared_q, b1_limit_q, b2_limit_q;
  logic [QpnW-1:0] b1_qpn_q, b2_qpn_q;
  logic [15:0] b1_index_q, b2_index_q, rsp_index;
  iwarp_pkg::rq_take_e b1_result_q, b2_result_q, rsp_result;
  logic [$clog2(Inside+2)-1:0] rsp_count;
  always_comb begin
    rsp_result = b2_result_q;
    rsp_index  = b2_index_q;
    if (b2_shared_q) rsp_index = b2_result_q == iwarp_pkg::RqtOk ? wqe_q[SgesW +: 16] : '0;
    if (b2_result_q == iwarp_pkg::RqtOk && wqe_q[WqeW-1]) rsp_result = iwarp_pkg::RqtMalformed;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {b1_valid_q, b2_valid_q} <= 2'b00;
    else         {b1_valid_q, b2_valid_q} <= {take_done, b1_valid_q};
  end
  always_ff @(posedge clk_i) begin
    b1_result_q <= iwarp_pkg::RqtOk;
    if (tk_q == TkEmpty)  b1_result_q <= iwarp_pkg::RqtEmpty;
    if (tk_q == TkFailed) b1_result_q <= iwarp_pkg::RqtFailed;
    {b1_qpn_q, b1_shared_q, b1_index_q, b1_limit_q} <= {take_qpn, take_shared, tk_taken_q, reached};
    b2_result_q <= b1_result_q;
    {b2_qpn_q, b2_shared_q, b2_index_q, b2_limit_q}
               <= {b1_qpn_q, b1_shared_q, b1_index_q, b1_limit_q};
    wqe_q      <= wqe_ram;
  end
  // At most Inside takes follow the counted ones: in give, b1 and b2. The FIFO has Inside + 1.
  assign rsp_room = 32'(rsp_count) <= 1;
  stream_fifo #(.Width(iwarp_pkg::RqTakeRspWidth), .Depth(Inside + 1), .Reserved(1'b1)) u_rsp (
    .clk_i, .rst_ni, .valid_i(b2_valid_q), .ready_o(rsp_ready),
    .data_i({rsp_result, b2_shared_q, rsp_index,
             rsp_result == iwarp_pkg::RqtOk ? wqe_q[SgesW-1:0] : SgesW'(0)}),
    .valid_o(rq_take_rsp_valid_o), .ready_i(rq_take_rsp_ready_i), .data_o(rq_take_rsp_o),
    .count_o(rsp_count)
  );

  // --- S0: choose an operation of a QP that is not inside, and read its state. one_, two_, three_:
  // an operation in S1, S2, S3.
  typedef enum logic [1:0] {OpList, OpMiss, OpDone, OpStop} op_e;
  logic            one_valid_q, two_valid_q, three_valid_q;
  op_e             op, one_op_q, two_op_q, three_op_q;
  logic [QpnW-1:0] qpn, one_qpn_q, two_qpn_q, three_qpn_q;
  logic            in_done, in_stop, in_miss, in_list, in_init;
  logic            done_go, stop_go, go, has_entry, read_room, again_room;
  logic            put_valid, put_ready, done_valid, done_ready, done_barrier, done_fail;
  logic [QpnW-1:0] done_qpn;
  logic [15:0]     done_end;
  logic [UsedW-1:0] used_q;   // entries of qp_read in use or reserved for an operation inside
  logic [$clog2(OutDepth+1)-1:0] out_count, again_count;

  assign in_done = (one_valid_q && one_qpn_q == done_qpn) ||
                   (two_valid_q && two_qpn_q == done_qpn) ||
                   (three_valid_q && three_qpn_q == done_qpn);
  assign in_stop = (one_valid_q && one_qpn_q == stop_qpn_i) ||
                   (two_valid_q && two_qpn_q == stop_qpn_i) ||
                   (three_valid_q && three_qpn_q == stop_qpn_i);
  assign in_miss = (one_valid_q && one_qpn_q == take_row) ||
                   (two_valid_q && two_qpn_q == take_row) ||
                   (three_valid_q && three_qpn_q == take_row);
  assign in_list = (one_valid_q && one_qpn_q == list_qpn) ||
                   (two_valid_q && two_qpn_q == list_qpn) ||
                   (three_valid_q && three_qpn_q == list_qpn);
  assign in_init = (one_valid_q && one_qpn_q == init_qpn_i) ||
                   (two_valid_q && two_qpn_q == init_qpn_i);

  assign has_entry  = used_q != UsedW'(ReadDepth);
  assign read_room  = 32'(out_count) <= OutDepth - Inside - 1;
  assign again_room = 32'(again_count) <= OutDepth - Inside - 1;

  assign done_go = done_valid && !done_barrier && !in_done && again_room && !clear_busy_i;
  assign stop_go = stop_valid_i && !in_stop && has_entry && !done_go && !clear_busy_i;
  assign miss_go = tk_q == TkMiss && !in_miss && has_entry && read_room && !done_go && !stop_go;
  assign list_go = list_valid && !fin_valid_q && !init_valid_i && !in_list && has_entry &&
                   read_room && !done_go && !stop_go && !miss_go && !clear_busy_i;
  assign go      = done_go || stop_go || miss_go || list_go;

  assign init         = init_valid_i && init_ready_o;
  assign init_ready_o = !three_valid_q && !in_init && !take_we && !bar_q && !clear_busy_i;
  assign stop_ready_o = stop_go;
  assign stop_done_o  = done_valid && done_barrier;
  assign done_ready   = done_go || stop_done_o;

  always_comb begin
    op  = OpList;
    qpn = list_qpn;
    if (done_go) begin
      op  = OpDone;
      qpn = done_qpn;
    end else if (stop_go) begin
      op  = OpStop;
      qpn = stop_qpn_i;
    end else if (miss_go) begin
      op  = OpMiss;
      qpn = take_row;
    end
  end

  // --- tables: {on, drop, reads 3, asked 16, arrived 16}; {log2 of the ring's units 4, address 64}
  logic [36:0] state_ram;
  logic [67:0] cfg_ram;
  logic [15:0] prod_ram, taken_ram;
  ram_1r1w #(.Width(37), .Depth(rnic_pkg::NumQps)) u_state (
    .clk_i, .rst_ni, .we_i(we || clear_busy_i), .waddr_i(clear_busy_i ? clear_addr_i : we_qpn),
    .wdata_i(clear_busy_i ? '0 : {on_d, drop_d, reads_d, asked_d, arrived_d}),
    .re_i(go), .raddr_i(qpn), .rdata_o(state_ram)
  );
  ram_1r1w #(.Width(68), .Depth(rnic_pkg::NumQps)) u_cfg (
    .clk_i, .rst_ni, .we_i(init), .waddr_i(init_qpn_i), .wdata_i({init_log_i, init_base_i}),
    .re_i(go), .raddr_i(qpn), .rdata_o(cfg_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod (
    .clk_i, .rst_ni, .we_i(prod_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(go), .raddr_i(qpn), .rdata_o(prod_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_taken (
    .clk_i, .rst_ni, .we_i(taken_we_o), .waddr_i(taken_row_o), .wdata_i(taken_d),
    .re_i(go), .raddr_i(qpn), .rdata_o(taken_ram)
  );

  // --- S1: distances, in units. announced: posted and not requested; claimed: buffer entries in
  // use or requested; offset: from the ring's start to the next unit to be read; toend: from there
  // to its end. here: the row's next WQE has arrived.
  logic [15:0] one_end_q, two_end_q, three_end_q,
               mask, asked, announced_q, claimed_q, offset_q, toend_q;
  logic        one_fail_q, two_fail_q, three_fail_q, here_q, on_q, drop_q;
  logic [2:0]  reads_q;
  logic [15:0] asked_q, arrived_q;
  logic [63:0] base_q;
  assign asked = state_ram[31:16];
  assign mask  = (16'd1 << cfg_ram[67:64]) - 16'd1;

  // --- S2: is a batch due, how long is it, and what is the verdict on a take. none: the row's next
  // WQE has not arrived, and none is announced or outstanding, or the row is stopped. acts: the
  // operation changes the state, or reads.
  logic [15:0] space, room, count16;
  logic        due, may_read, none_d, acts_d, unused_bits;
  assign due      = batch_due(announced_q, claimed_q);
  assign may_read = on_q && !drop_q && !reads_q[2] && due;   // reads_q[2]: 4 are outstanding
  assign space    = claimed_q == '0 ? 16'(Pre) : 16'(Quarter);
  assign room     = space < toend_q ? space : toend_q;
  assign count16  = announced_q < room ? announced_q : room;
  assign none_d   = !here_q && (!on_q || (announced_q == '0 && reads_q == '0));
  always_comb begin
    unique case (two_op_q)
      OpList:  acts_d = may_read;
      OpMiss:  acts_d = may_read && !here_q;
      default: acts_d = 1'b1;
    endcase
  end

  // --- S3: act
  logic        three_on_q, three_drop_q, three_due_q, three_here_q,
               none_q, acts_q, sends, takes_wait;
  logic [2:0]  three_reads_q;
  logic [6:0]  count_q;
  logic [15:0] three_asked_q, three_arrived_q, three_offset_q;
  logic [63:0] three_base_q;
  assign sends      = three_valid_q && (three_op_q == OpList || three_op_q == OpMiss) && acts_q;
  assign takes_wait = three_valid_q && three_op_q == OpDone && tk_q == TkWait &&
                      three_qpn_q == take_row;
  assign take_fails = takes_wait && three_fail_q && !three_drop_q;
  assign woken      = takes_wait;
  assign v_retry    = three_valid_q && three_op_q == OpMiss && three_here_q;
  assign v_empty    = three_valid_q && three_op_q == OpMiss && none_q;
  assign v_wait     = three_valid_q && three_op_q == OpMiss && !three_here_q && !none_q;
  always_comb begin
    on_d      = three_on_q;
    drop_d    = three_drop_q;
    reads_d   = three_reads_q;
    asked_d   = three_asked_q;
    arrived_d = three_arrived_q;
    unique case (three_op_q)
      OpDone: begin
        reads_d = three_reads_q - 3'd1;
        drop_d  = (three_drop_q || three_fail_q) && three_reads_q != 3'd1;
        if (!three_drop_q) begin
          arrived_d = take_fails && !take_shared ? three_end_q + 16'd1 : three_end_q;   // see 4
          if (three_fail_q) asked_d = arrived_d;
        end
      end
      OpStop: on_d = 1'b0;
      default: begin
        reads_d = three_reads_q + 3'd1;
        asked_d = three_asked_q + 16'(count_q);
      end
    endcase
    if (init) begin
      on_d = 1'b1;
      {drop_d, reads_d, asked_d, arrived_d} = '0;
    end
  end
  assign we     = (three_valid_q && acts_q) || init;
  assign we_qpn = init ? init_qpn_i : three_qpn_q;

  // A done after which a batch is due enqueues its QP on the list.
  logic again_put, again_take;
  assign again_put = three_valid_q && three_op_q == OpDone && !three_fail_q && !three_drop_q &&
                     three_due_q;
  stream_fifo #(.Width(QpnW), .Depth(OutDepth), .Reserved(1'b1)) u_again (
    .clk_i, .rst_ni, .valid_i(again_put), .ready_o(again_take), .data_i(three_qpn_q),
    .valid_o(again_valid), .ready_i(again_ready), .data_o(again_qpn), .count_o(again_count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {one_valid_q, two_valid_q, three_valid_q} <= 3'b000;
      used_q                                    <= '0;
    end else begin
      {one_valid_q, two_valid_q, three_valid_q} <= {go, one_valid_q, two_valid_q};
      used_q <= used_q + UsedW'(stop_go || miss_go || list_go) - UsedW'(done_ready) -
                UsedW'(three_valid_q && (three_op_q == OpList || three_op_q == OpMiss) && !acts_q);
    end
  end

  always_ff @(posedge clk_i) begin
    {one_op_q, one_qpn_q, one_end_q, one_fail_q}
                <= {op, qpn, done_end, done_fail};
    {two_op_q, two_qpn_q, two_end_q, two_fail_q}
                <= {one_op_q, one_qpn_q, one_end_q, one_fail_q};
    {three_op_q, three_qpn_q, three_end_q, three_fail_q}
                <= {two_op_q, two_qpn_q, two_end_q, two_fail_q};
    {on_q, drop_q, reads_q, asked_q, arrived_q}
                <= state_ram;
    announced_q <= prod_ram - asked;
    claimed_q   <= asked - taken_ram;
    here_q      <= state_ram[15:0] != taken_ram;
    offset_q    <= asked & mask;
    toend_q     <= mask + 16'd1 - (asked & mask);
    base_q      <= cfg_ram[63:0];
    {three_on_q, three_drop_q, three_reads_q, three_asked_q, three_arrived_q}
                <= {on_q, drop_q, reads_q, asked_q, arrived_q};
    {three_offset_q, three_base_q, three_due_q, three_here_q}
                <= {offset_q, base_q, due, here_q};
    {none_q, acts_q, count_q}
                <= {none_d, acts_d, count16[6:0]};
  end

  // --- reads to host_if
  logic out_ready;
  iwarp_pkg::rq_rd_req_t rd_req;
  assign rd_req.address = three_base_q + 64'({three_offset_q, 6'd0});
  assign rd_req.length  = {count_q, 6'd0};
  stream_fifo #(.Width(iwarp_pkg::RqRdReqWidth), .Depth(OutDepth), .Reserved(1'b1)) u_out (
    .clk_i, .rst_ni, .valid_i(sends), .ready_o(out_ready), .data_i(rd_req),
    .valid_o(rq_rd_req_valid_o), .ready_i(rq_rd_req_ready_i), .data_o(rq_rd_req_o),
    .count_o(out_count)
  );
  assign put_valid = sends || (three_valid_q && three_op_q == OpStop);
  iwarp_pkg::rd_hdr_t rd_hdr;
  assign rd_hdr = rq_rd_hdr_i;
  qp_read #(.Depth(ReadDepth)) u_read (
    .clk_i, .rst_ni,
    .put_valid_i(put_valid), .put_ready_o(put_ready),
    .put_barrier_i(three_op_q == OpStop), .put_qpn_i(three_qpn_q),
    .put_first_i(three_asked_q), .put_count_i(count_q), .count_o(),
    .hdr_valid_i(rq_rd_hdr_valid_i), .hdr_ready_o(rq_rd_hdr_ready_o), .hdr_i(rd_hdr),
    .beat_valid_i(rq_rd_valid_i), .beat_ready_o(rq_rd_ready_o), .beat_i(rq_rd_i),
    .buf_valid_o(rbuf_valid), .buf_ready_i(1'b1), .buf_qpn_o(rbuf_qpn),
    .buf_index_o(rbuf_index), .buf_data_o(rbuf_data),
    .done_valid_o(done_valid), .done_ready_i(done_ready), .done_barrier_o(done_barrier),
    .done_qpn_o(done_qpn), .done_end_o(done_end), .done_fail_o(done_fail)
  );
  assign unused_bits = ^{rq_take_req_i, count16[15:7], rbuf_index};

  `RNIC_COVER(SeveralReads_C, three_valid_q && three_op_q == OpDone && three_reads_q > 3'd1)
  `RNIC_COVER(SharedMiss_C, v_wait && take_shared)
  `RNIC_COVER(Barred_C, tk_q == TkGive && tk_barred_q)
  `RNIC_ASSERT(TakeTaken_A, !map_valid_q || take_room)
  `RNIC_ASSERT(PutTaken_A, !put_valid || put_ready)
  `RNIC_ASSERT(SendTaken_A, !sends || out_ready)
  `RNIC_ASSERT(AgainTaken_A, !again_put || again_take)
  `RNIC_ASSERT(RspTaken_A, !b2_valid_q || rsp_ready)
  `RNIC_ASSERT(ReadsCounted_A, !(three_valid_q && three_op_q == OpDone) || three_reads_q != '0)
  `RNIC_ASSERT(TakeWaitsForARead_A, !v_wait || acts_q || three_reads_q != '0)
  `RNIC_ASSERT(UsedInRange_A, 32'(used_q) <= ReadDepth)
  `RNIC_STREAM_STABLE(RspStable_A, rq_take_rsp_valid_o, rq_take_rsp_ready_i, rq_take_rsp_o)
  `RNIC_STREAM_STABLE(ReadStable_A, rq_rd_req_valid_o, rq_rd_req_ready_i, rq_rd_req_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_rq_take_commit_t tap_qp_rq_take /*verilator public_flat_rd*/;
  assign tap_qp_rq_take = {b2_valid_q, 16'(b2_qpn_q), rsp_result, b2_limit_q};
endmodule
