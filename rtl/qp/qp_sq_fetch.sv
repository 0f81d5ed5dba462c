// qp_sq_fetch: fills the SQ prefetch buffers from the ring and from pushed WQEs.
//
//   0 choose                1 read      2 decide     3 act
//   request (pick, parse) --+                        +--> [ reads ] --> sq_rd_req, [ qp_read ]
//   push (qp_doorbell) -----+--> state, --> count ---+--> state, arr_*, buffer write
//   done (qp_read) ---------+    distances           +--> [ kicks ] --> kick
//   sq_rd --> [ qp_read ] ------------------------------> buffer write --> [ buffer ] --> qp_parse
//
// Fetch state of a QP: arrived (ring index after the last unit in the buffer), asked (after the
// last unit in the buffer or outstanding), reads (outstanding, at most 4, so that the buffer fills
// while it drains), fail (a read came back bad: no further fetch, and outstanding reads are
// dropped). Unit i of the ring is at i modulo SqPrefetch of the QP's buffer.
//
// 1. A request reads min(announced, up to the ring's end) units: at most the whole buffer if it is
//    empty, else at most a quarter of it, if a quarter is free.
// 2. A push enters the buffer when its first unit is the next to be fetched, no read of the QP is
//    outstanding, and the buffer has room. Otherwise its data is discarded, and a read fetches its
//    WQE like any other. (Arrived covers the buffer without gaps, so no push may overtake a read.)
// 3. An operation starts only if stages 1 to 3 hold no operation of its QP (hit). So it reads the
//    state that the previous operation has written, and the operations of one QP take effect one
//    after the other (SameQpApart_A).
// 4. An operation starts only with room for its read, its entry of qp_read and its kick, counting
//    those in stages 1 to 3. So no stage stalls (PutTaken_A, SendTaken_A, KickTaken_A).
// 5. At most one push is inside: its data stays on the port until its last unit is written
//    (PushStays_A).
//
// Latency: 3 cycles to the kick and to sq_rd_req, 1 more in their queues.
// Throughput: 1 operation per cycle over all QPs (requests: 3 every 5 cycles), 1 every 4 cycles of
// the same QP; a push every 4 cycles, of two units every 5.
// Waits: a push and a response wait only for qp_sched. A request may wait for sq_rd_req; pushes and
// responses continue meanwhile.
// Siblings: qp_read, qp_rq_fetch, qp_pick.
// Bench: tb/qp/qp_sq_fetch_test.cpp
`include "rnic_assert.svh"

module qp_sq_fetch #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps),
  localparam int unsigned PreW = $clog2(rnic_pkg::SqPrefetch)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from qp_pick and qp_parse: this QP wants units; from qp_state: a barrier
  input  logic            req_valid_i,
  output logic            req_ready_o,
  input  logic            req_barrier_i,
  input  logic [QpnW-1:0] req_qpn_i,
  // to qp_state: the barrier has passed
  output logic            barrier_done_o,
  // from qp_doorbell
  input  logic            push_valid_i,
  output logic            push_ready_o,
  input  logic [QpnW-1:0] push_qpn_i,
  input  logic [15:0]     push_first_i,  // ring index of its first unit
  input  logic            push_two_i,    // the push has two units, of 512 bits each
  input  logic [1023:0]   push_data_i,
  // from qp_state: a QP is created
  input  logic            init_valid_i,
  output logic            init_ready_o,
  input  logic [QpnW-1:0] init_qpn_i,
  input  logic [63:0]     init_base_i,   // bus address of the ring
  input  logic [3:0]      init_log_i,    // log2 of its units
  // from qp_doorbell and qp_emit: producer index, next unit to be issued
  input  logic            prod_we_i,
  input  logic [QpnW-1:0] prod_qpn_i,
  input  logic [15:0]     prod_index_i,
  input  logic            head_we_i,
  input  logic [QpnW-1:0] head_qpn_i,
  input  logic [15:0]     head_index_i,
  // to qp_pick
  output logic            arr_we_o,
  output logic [QpnW-1:0] arr_qpn_o,
  output logic [15:0]     arr_index_o,
  output logic [15:0]     arr_asked_o,
  output logic            arr_full_o,    // the maximum number of reads is outstanding
  output logic            arr_fail_o,
  // to qp_sched
  output logic            kick_valid_o,
  input  logic            kick_ready_i,
  output logic [QpnW-1:0] kick_qpn_o,
  // from and to qp_parse: a unit of the buffer, one cycle later
  input  logic            unit_re_i,
  input  logic [QpnW-1:0] unit_qpn_i,
  input  logic [PreW-1:0] unit_index_i,
  output logic [511:0]    unit_o,
  // to and from host_if
  output logic            sq_rd_req_valid_o,
  input  logic            sq_rd_req_ready_i,
  output iwarp_pkg::sq_rd_req_t sq_rd_req_o,
  input  logic            sq_rd_hdr_valid_i,
  output logic            sq_rd_hdr_ready_o,
  input  iwarp_pkg::sq_rd_hdr_t sq_rd_hdr_i,
  input  logic            sq_rd_valid_i,
  output logic            sq_rd_ready_o,
  input  iwarp_pkg::beat_t sq_rd_i
);
  localparam int unsigned Quarter   = rnic_pkg::SqPrefetch / 4;
  localparam int unsigned ReqDepth  = 4 * rnic_pkg::FifoDepth;
  localparam int unsigned ReqCountW = $clog2(ReqDepth + 1);
  // A request counts in stages 1 to 3 and in the queue: it uses an entry for 5 cycles.
  localparam int unsigned OutDepth  = 3;
  localparam int unsigned OutCountW = $clog2(OutDepth + 1);
  localparam int unsigned KickDepth  = 8;
  localparam int unsigned KickCountW = $clog2(KickDepth + 1);

  typedef enum logic [1:0] {OpReq, OpPush, OpDone, OpBar} op_e;

  op_e             op_d, s1_op_q, s2_op_q, s3_op_q;
  logic            start, init, after_push_q, second_q;   // second: the second unit of a push
  logic            s1_valid_q, s2_valid_q, s3_valid_q;
  logic [QpnW-1:0] qpn_d, s1_qpn_q, s2_qpn_q, s3_qpn_q;

  // tables: {fail, reads 3, asked 16, arrived 16}; {log2 of the ring's units 4, address 64}
  logic [35:0]     state_ram;
  logic [67:0]     cfg_ram;
  logic [15:0]     prod_ram, head_ram;
  logic            we;
  logic            fail_d;
  logic [2:0]      reads_d;
  logic [15:0]     asked_d, arrived_d;
  logic [ReqCountW-1:0]  entries;      // reads and barriers in qp_read
  logic [OutCountW-1:0]  outs;         // reads that wait for sq_rd_req
  logic [KickCountW-1:0] kicks;

  // qp_read
  logic            put_valid, put_ready, put_barrier;
  logic            rbuf_valid, rbuf_ready, done_valid, done_ready, done_barrier, done_fail;
  logic [QpnW-1:0] rbuf_qpn, done_qpn;
  logic [15:0]     rbuf_index, done_end;
  logic [511:0]    rbuf_data;

  // the read that came back: done_end, done_fail
  logic [16:0]     s1_done_q, s2_done_q, s3_done_q;
  // Registered distances, in units. announced: not requested yet; toend: from the next unit to be
  // fetched to the ring's end; offset: from the ring's start to it; held: in the buffer, or
  // requested for it. next_q: the first unit of the push is the next to be fetched.
  logic [15:0]     s2_arrived_q, s2_asked_q, announced_q, toend_q, held_q, s2_offset_q;
  logic [2:0]      s2_reads_q;
  logic            s2_fail_q, next_q;
  logic [63:0]     s2_base_q;
  // stage 3
  logic [15:0]     s3_arrived_q, s3_asked_q, s3_offset_q;
  logic [2:0]      s3_reads_q;
  logic            s3_fail_q, push_ok_q;
  logic [63:0]     s3_base_q;
  logic [6:0]      count_q, count;
  logic [15:0]     mask, asked, held, space, room, count16;
  logic            may_read, push_ok, send, bar, unused_bits;
  logic            out_ready, kick_due, kick_ready;

  logic       op_any, pick_push, pick_done, pick_req, hit, busy, push_inside, kick_room, read_room;
  logic [1:0] in_pipe;
  assign asked = state_ram[31:16];
  assign held  = asked - head_ram;
  assign mask  = (16'd1 << cfg_ram[67:64]) - 16'd1;

  // Requests wait here, so that QPs whose WQEs are in the buffer are not blocked by reads.
  logic                req_valid, req_ready, req_barrier;
  logic [QpnW-1:0]     req_qpn;
  logic [ReqCountW-1:0] unused_reqs;
  stream_fifo #(.Width(QpnW + 1), .Depth(ReqDepth)) u_reqs (
    .clk_i, .rst_ni,
    .valid_i(req_valid_i), .ready_o(req_ready_o), .data_i({req_barrier_i, req_qpn_i}),
    .valid_o(req_valid), .ready_i(req_ready), .data_o({req_barrier, req_qpn}), .count_o(unused_reqs)
  );

  // 0: choose the operation. After a push a response goes first, else a push, so that neither
  // starves the other. A new QP's state is written while no operation is inside. A push to its
  // number belongs to the earlier life and goes first.
  assign in_pipe     = 2'(s1_valid_q) + 2'(s2_valid_q) + 2'(s3_valid_q);
  assign busy        = s1_valid_q || s2_valid_q || s3_valid_q;
  assign push_inside = (s1_valid_q && s1_op_q == OpPush) || (s2_valid_q && s2_op_q == OpPush) ||
                       (s3_valid_q && s3_op_q == OpPush) || second_q;
  assign kick_room   = 5'(kicks) + 5'(in_pipe) < 5'(KickDepth);
  assign read_room   = 32'(entries) + 32'(in_pipe) < ReqDepth &&
                       4'(outs) + 4'(in_pipe) < 4'(OutDepth);
  assign pick_push = push_valid_i && !push_inside && !(after_push_q && done_valid) &&
                     (!init_valid_i || push_qpn_i == init_qpn_i);
  assign pick_done = done_valid && !pick_push && !init_valid_i;
  assign pick_req  = req_valid && !pick_push && !done_valid && !init_valid_i;
  always_comb begin
    op_d   = OpReq;
    qpn_d  = req_qpn;
    op_any = pick_req && read_room;
    if (pick_push) begin
      op_d   = OpPush;
      qpn_d  = push_qpn_i;
      op_any = kick_room;
    end else if (pick_done) begin
      op_d   = OpDone;
      qpn_d  = done_qpn;
      op_any = kick_room && !done_barrier;
    end else if (req_barrier) begin
      op_d = OpBar;
    end
  end
  assign hit   = (s1_valid_q && s1_qpn_q == qpn_d) || (s2_valid_q && s2_qpn_q == qpn_d) ||
                 (s3_valid_q && s3_qpn_q == qpn_d);
  assign start = op_any && !hit;
  assign init  = init_ready_o && init_valid_i;
  assign init_ready_o   = !busy && !second_q && !(push_valid_i && push_qpn_i == init_qpn_i);
  assign req_ready      = start && pick_req;
  assign done_ready     = (start && op_d == OpDone) || barrier_done_o;
  assign barrier_done_o = pick_done && done_barrier && !busy;

  ram_1r1w #(.Width(36), .Depth(rnic_pkg::NumQps)) u_state (
    .clk_i, .rst_ni, .we_i(we), .waddr_i(arr_qpn_o),
    .wdata_i({fail_d, reads_d, asked_d, arrived_d}),
    .re_i(start), .raddr_i(qpn_d), .rdata_o(state_ram)
  );
  ram_1r1w #(.Width(68), .Depth(rnic_pkg::NumQps)) u_cfg (
    .clk_i, .rst_ni, .we_i(init), .waddr_i(init_qpn_i), .wdata_i({init_log_i, init_base_i}),
    .re_i(start), .raddr_i(qpn_d), .rdata_o(cfg_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod (
    .clk_i, .rst_ni, .we_i(prod_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(start), .raddr_i(qpn_d), .rdata_o(prod_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_head (
    .clk_i, .rst_ni, .we_i(head_we_i), .waddr_i(head_qpn_i), .wdata_i(head_index_i),
    .re_i(start), .raddr_i(qpn_d), .rdata_o(head_ram)
  );

  // 2: a fetch: as many units as are announced, fit, and lie before the ring's end.
  // s2_reads_q[2]: 4 reads are outstanding.
  assign may_read = !s2_fail_q && !s2_reads_q[2] && held_q <= 16'(rnic_pkg::SqPrefetch - Quarter);
  assign space    = held_q == '0 ? 16'(rnic_pkg::SqPrefetch) : 16'(Quarter);
  assign room     = space < toend_q ? space : toend_q;
  assign count16  = announced_q < room ? announced_q : room;
  assign count    = may_read ? count16[6:0] : '0;
  assign unused_bits = ^{count16[15:7], rbuf_index};
  assign push_ok  = s2_reads_q == '0 && !s2_fail_q && next_q &&
                    held_q <= 16'(rnic_pkg::SqPrefetch) - (push_two_i ? 16'd2 : 16'd1);

  // 3: the fetch state and its copies.
  assign send = s3_valid_q && s3_op_q == OpReq && count_q != '0;
  assign bar  = s3_valid_q && s3_op_q == OpBar;
  always_comb begin
    we        = 1'b0;
    fail_d    = s3_fail_q;
    reads_d   = s3_reads_q;
    asked_d   = s3_asked_q;
    arrived_d = s3_arrived_q;
    if (init) begin
      we        = 1'b1;
      fail_d    = 1'b0;
      reads_d   = '0;
      asked_d   = '0;
      arrived_d = '0;
    end else if (s3_valid_q) begin
      unique case (s3_op_q)
        OpPush: begin
          we        = push_ok_q;
          asked_d   = s3_asked_q + (push_two_i ? 16'd2 : 16'd1);
          arrived_d = asked_d;
        end
        OpDone: begin
          we      = 1'b1;
          reads_d = s3_reads_q - 3'd1;
          fail_d  = s3_fail_q || s3_done_q[0];
          if (!s3_fail_q) arrived_d = s3_done_q[16:1];
        end
        OpReq: begin
          we      = count_q != '0;
          reads_d = s3_reads_q + 3'd1;
          asked_d = s3_asked_q + 16'(count_q);
        end
        default: we = 1'b0;
      endcase
    end
  end
  assign arr_we_o    = we;
  assign arr_qpn_o   = init ? init_qpn_i : s3_qpn_q;
  assign arr_index_o = arrived_d;
  assign arr_asked_o = asked_d;
  assign arr_full_o  = reads_d[2];
  assign arr_fail_o  = fail_d;

  // A push is accepted with its last unit.
  assign push_ready_o = second_q || (s3_valid_q && s3_op_q == OpPush && !(push_ok_q && push_two_i));
  assign kick_due     = s3_valid_q && (s3_op_q == OpPush || s3_op_q == OpDone);
  stream_fifo #(.Width(QpnW), .Depth(KickDepth), .Reserved(1'b1)) u_kicks (
    .clk_i, .rst_ni, .valid_i(kick_due), .ready_o(kick_ready), .data_i(s3_qpn_q),
    .valid_o(kick_valid_o), .ready_i(kick_ready_i), .data_o(kick_qpn_o), .count_o(kicks)
  );

  // The buffer: pushed units go first; read data waits one cycle.
  logic                       bw_we, push_we;
  logic [QpnW+PreW-1:0]       bw_addr;
  logic [511:0]               bw_data;
  logic [PreW-1:0]            push_at;
  assign push_we    = (s3_valid_q && s3_op_q == OpPush && push_ok_q) || second_q;
  assign push_at    = push_first_i[PreW-1:0] + PreW'(second_q);
  assign rbuf_ready = !push_we;
  assign bw_we      = push_we || rbuf_valid;
  assign bw_addr    = push_we ? {push_qpn_i, push_at} : {rbuf_qpn, rbuf_index[PreW-1:0]};
  assign bw_data    = push_we ? (second_q ? push_data_i[1023:512] : push_data_i[511:0]) : rbuf_data;

  ram_1r1w #(.Width(512), .Depth(rnic_pkg::NumQps * rnic_pkg::SqPrefetch)) u_buffer (
    .clk_i, .rst_ni, .we_i(bw_we), .waddr_i(bw_addr), .wdata_i(bw_data),
    .re_i(unit_re_i), .raddr_i({unit_qpn_i, unit_index_i}), .rdata_o(unit_o)
  );

  // The read leaves through a queue; its entry there is reserved before a request begins.
  iwarp_pkg::sq_rd_req_t rd_req;
  assign rd_req.address = s3_base_q + 64'({s3_offset_q, 6'd0});
  assign rd_req.length  = {count_q, 6'd0};
  stream_fifo #(.Width(iwarp_pkg::SqRdReqWidth), .Depth(OutDepth), .Reserved(1'b1)) u_out (
    .clk_i, .rst_ni, .valid_i(send), .ready_o(out_ready), .data_i(rd_req),
    .valid_o(sq_rd_req_valid_o), .ready_i(sq_rd_req_ready_i), .data_o(sq_rd_req_o), .count_o(outs)
  );

  assign put_barrier = bar;
  assign put_valid   = send || bar;
  iwarp_pkg::rd_hdr_t rd_hdr;
  assign rd_hdr = sq_rd_hdr_i;
  qp_read #(.Depth(ReqDepth)) u_read (
    .clk_i, .rst_ni,
    .put_valid_i(put_valid), .put_ready_o(put_ready),
    .put_barrier_i(put_barrier), .put_qpn_i(s3_qpn_q),
    .put_first_i(s3_asked_q), .put_count_i(count_q), .count_o(entries),
    .hdr_valid_i(sq_rd_hdr_valid_i), .hdr_ready_o(sq_rd_hdr_ready_o), .hdr_i(rd_hdr),
    .beat_valid_i(sq_rd_valid_i), .beat_ready_o(sq_rd_ready_o), .beat_i(sq_rd_i),
    .buf_valid_o(rbuf_valid), .buf_ready_i(rbuf_ready),
    .buf_qpn_o(rbuf_qpn), .buf_index_o(rbuf_index), .buf_data_o(rbuf_data),
    .done_valid_o(done_valid), .done_ready_i(done_ready), .done_barrier_o(done_barrier),
    .done_qpn_o(done_qpn), .done_end_o(done_end), .done_fail_o(done_fail)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q   <= 1'b0;
      s2_valid_q   <= 1'b0;
      s3_valid_q   <= 1'b0;
      second_q     <= 1'b0;
      after_push_q <= 1'b0;
    end else begin
      s1_valid_q <= start;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      second_q   <= s3_valid_q && s3_op_q == OpPush && push_ok_q && push_two_i;
      if (start) after_push_q <= pick_push;
    end
  end

  always_ff @(posedge clk_i) begin
    {s1_op_q, s1_qpn_q, s1_done_q} <= {op_d, qpn_d, done_end, done_fail};
    // 1: the state of the QP arrives; distances are computed
    {s2_op_q, s2_qpn_q, s2_done_q} <= {s1_op_q, s1_qpn_q, s1_done_q};
    {s2_fail_q, s2_reads_q, s2_asked_q, s2_arrived_q} <= state_ram;
    announced_q <= prod_ram - asked;
    held_q      <= held;
    s2_offset_q <= asked & mask;
    toend_q     <= mask + 16'd1 - (asked & mask);
    next_q      <= asked == push_first_i;
    s2_base_q   <= cfg_ram[63:0];
    // 2
    {s3_op_q, s3_qpn_q, s3_done_q} <= {s2_op_q, s2_qpn_q, s2_done_q};
    {s3_fail_q, s3_reads_q, s3_asked_q, s3_arrived_q} <=
      {s2_fail_q, s2_reads_q, s2_asked_q, s2_arrived_q};
    {s3_base_q, s3_offset_q} <= {s2_base_q, s2_offset_q};
    {count_q, push_ok_q}     <= {count, push_ok};
  end

  `RNIC_ASSERT(PutTaken_A, !put_valid || put_ready)
  `RNIC_ASSERT(SendTaken_A, !send || out_ready)
  `RNIC_ASSERT(KickTaken_A, !kick_due || kick_ready)
  `RNIC_ASSERT(ReadsCounted_A, !(s3_valid_q && s3_op_q == OpDone) || s3_reads_q != '0)
  `RNIC_ASSERT(PushStays_A, !push_inside || push_valid_i)
  `RNIC_ASSERT(SameQpApart_A, !(s1_valid_q && ((s2_valid_q && s2_qpn_q == s1_qpn_q) ||
                                               (s3_valid_q && s3_qpn_q == s1_qpn_q))))
  `RNIC_STREAM_STABLE(ReadStable_A, sq_rd_req_valid_o, sq_rd_req_ready_i, sq_rd_req_o)
  `RNIC_STREAM_STABLE(KickStable_A, kick_valid_o, kick_ready_i, kick_qpn_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::qp_push_commit_t tap_qp_push /*verilator public_flat_rd*/;
  assign tap_qp_push = {s3_valid_q && s3_op_q == OpPush && push_ok_q, 16'(s3_qpn_q), push_first_i,
                        push_two_i ? 2'd2 : 2'd1};
endmodule
