// qp_rq_fetch: hands out receive WQEs to ddp, from a prefetch buffer that it fills from the receive rings.
//
// State of a QP: taken, arrived (ring indices), asked (behind the last that is here or under way), reads (under way, at most four),
// drop (the one before has failed: what is still under way is read again), on (created and not stopped).
//
//   rq_take_req ---+                                   +--> rq_take_rsp
//   kick_rq list --+--> [ read state ] --> [ decide ] -+--> rq_rd_req, [ qp_read ]
//   done ----------+                                   +--> kick (a quarter of the buffer is free)
//   rq_rd --> [ qp_read ] --> [ buffer ] --> take
//
// A doorbell, a take or a read that has come back has more read when a quarter of the buffer is free: as much, or all of an empty
// one. A take finds its WQE in the buffer, or has it read now, or waits for the read that is under way; none announced, one that
// could not be read, or one with over 3 SGEs: found 0. 4 cycles a take from the buffer. Takes are answered in order, so a take
// that waits for its read holds those behind it: for a few reads at most, on tags of this client. Answers of reads wait for the
// list's arbiter alone.
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
  // from qp_state: a QP is created; a QP is stopped, done when no read of it is left
  input  logic            init_valid_i,
  output logic            init_ready_o,
  input  logic [QpnW-1:0] init_qpn_i,
  input  logic [63:0]     init_base_i,
  input  logic [3:0]      init_log_i,
  input  logic            stop_valid_i,
  output logic            stop_ready_o,
  input  logic [QpnW-1:0] stop_qpn_i,
  output logic            stop_done_o,
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
  localparam int unsigned Pre  = rnic_pkg::RqPrefetch;
  localparam int unsigned Quarter   = Pre > 4 ? Pre / 4 : 1;
  localparam int unsigned ReadDepth = 4 * rnic_pkg::FifoDepth;
  localparam int unsigned PreW = Pre > 1 ? $clog2(Pre) : 1;
  localparam int unsigned BufW = $clog2(rnic_pkg::NumQps * Pre);

  typedef enum logic [2:0] {
    StIdle,    // chooses: done, init, stop, take, list
    StLook,    // the state is there; distances are formed
    StAct,     // decides; a take reads the buffer
    StSend,    // a read is entered and sent
    StGive     // the WQE is there
  } state_e;
  typedef enum logic [1:0] {OpTake, OpList, OpDone, OpStop} op_e;

  state_e          state_d, state_q;
  op_e             op_d, op_q;
  logic            start, init, hold_d, hold_q;
  logic [QpnW-1:0] qpn_d, qpn_q;

  // the list of QPs to be fetched for
  logic            list_valid, list_ready, refill_valid, refill_ready, unused_again;
  logic [QpnW-1:0] list_qpn, refill_qpn_q;
  logic            refill_q;
  logic [2:0]      sched_ready;
  logic            finish_valid;
  qp_sched #(.Sources(3)) u_list (
    .clk_i, .rst_ni, .clear_busy_i, .clear_addr_i,
    .op_valid_i({finish_valid, refill_valid, kick_valid_i}), .op_ready_o(sched_ready),
    .op_finish_i(3'b100), .op_requeue_i(3'b000), .op_qpn_i({qpn_q, refill_qpn_q, kick_qpn_i}),
    .qpn_valid_o(list_valid), .qpn_ready_i(list_ready), .qpn_o(list_qpn)
  );
  assign kick_ready_o = sched_ready[0];
  assign refill_ready = sched_ready[1];
  assign refill_valid = refill_q;

  // take requests
  logic            take_valid, take_ready;
  logic [15:0]     take_qpn;
  localparam int unsigned CountW = $clog2(rnic_pkg::FifoDepth + 1);
  logic [CountW-1:0] unused_takes;
  stream_fifo #(.Width(16), .Depth(rnic_pkg::FifoDepth)) u_takes (
    .clk_i, .rst_ni, .valid_i(rq_take_req_valid_i), .ready_o(rq_take_req_ready_o), .data_i(rq_take_req_i),
    .valid_o(take_valid), .ready_i(take_ready), .data_o(take_qpn), .count_o(unused_takes)
  );

  // tables
  logic [52:0]     state_ram;
  logic [67:0]     cfg_ram;
  logic [15:0]     prod_ram;
  logic            we;
  logic            on_d, drop_d;
  logic [2:0]      reads_d;
  logic [15:0]     taken_d, asked_d, arrived_d;
  ram_1r1w #(.Width(53), .Depth(rnic_pkg::NumQps)) u_state (
    .clk_i, .rst_ni, .we_i(we || clear_busy_i), .waddr_i(clear_busy_i ? clear_addr_i : init ? init_qpn_i : qpn_q),
    .wdata_i(clear_busy_i ? '0 : {on_d, drop_d, reads_d, taken_d, asked_d, arrived_d}),
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

  // choice
  logic put_valid, put_ready, out_ready, done_valid, done_ready, done_barrier, done_fail, rsp_ready;
  logic [QpnW-1:0] done_qpn;
  logic [15:0]     done_end;
  logic pick_done, pick_init, pick_stop, pick_take, pick_list;
  assign pick_done = done_valid && !refill_q;
  assign pick_init = !pick_done && init_valid_i;
  assign pick_stop = !pick_done && !init_valid_i && stop_valid_i && put_ready;
  assign pick_take = !pick_done && !init_valid_i && !pick_stop && take_valid && !hold_q && rsp_ready && put_ready &&
                     out_ready && !refill_q;
  assign pick_list = !pick_done && !init_valid_i && !pick_stop && !pick_take && list_valid && put_ready && out_ready;
  assign start     = state_q == StIdle && !clear_busy_i &&
                     ((pick_done && !done_barrier) || pick_stop || pick_take || pick_list);
  assign init         = state_q == StIdle && !clear_busy_i && pick_init;
  assign init_ready_o = init;
  assign stop_ready_o = state_q == StIdle && !clear_busy_i && pick_stop;
  assign list_ready   = state_q == StIdle && !clear_busy_i && pick_list;
  assign stop_done_o  = state_q == StIdle && !clear_busy_i && pick_done && done_barrier;

  always_comb begin
    op_d  = OpList;
    qpn_d = list_qpn;
    if (pick_done) begin
      op_d  = OpDone;
      qpn_d = done_qpn;
    end else if (pick_stop) begin
      op_d  = OpStop;
      qpn_d = stop_qpn_i;
    end else if (pick_take) begin
      op_d  = OpTake;
      qpn_d = take_qpn[QpnW-1:0];
    end
  end

  // registered distances
  logic [15:0] taken_q, asked_q, arrived_q, announced_q, toend_q, offset_q, held_q, claimed_q;
  logic [15:0] mask, space, room, count16, asked;
  logic [2:0]  reads_q;
  logic        drop_q, on_q;
  logic [63:0] base_q;
  logic [6:0]  count, count_q;
  logic        may_read, hit, none, held_back, finish_q;
  assign asked    = state_ram[31:16];
  assign mask     = (16'd1 << cfg_ram[67:64]) - 16'd1;
  assign space    = claimed_q == '0 ? 16'(Pre) : 16'(Quarter);
  assign room     = space < toend_q ? space : toend_q;
  assign count16  = announced_q < room ? announced_q : room;
  assign may_read = on_q && !drop_q && !reads_q[2] && claimed_q <= 16'(Pre - Quarter);
  assign count    = may_read ? count16[6:0] : '0;
  assign hit      = held_q != '0;
  assign none     = !hit && (!on_q || (announced_q == '0 && reads_q == '0));
  assign held_back = !hit && !none;   // waits for a read, under way or sent now

  // the buffer
  logic            buf_we;
  logic [QpnW-1:0] buf_qpn;
  logic [15:0]     buf_index;
  logic [511:0]    buf_data, wqe_bits;
  logic [BufW-1:0] buf_waddr, buf_raddr;
  if (Pre > 1) begin : gen_many
    assign buf_waddr = {buf_qpn, buf_index[PreW-1:0]};
    assign buf_raddr = {qpn_q, taken_q[PreW-1:0]};
  end else begin : gen_one
    assign buf_waddr = buf_qpn;
    assign buf_raddr = qpn_q;
  end
  ram_1r1w #(.Width(512), .Depth(rnic_pkg::NumQps * Pre)) u_buffer (
    .clk_i, .rst_ni, .we_i(buf_we), .waddr_i(buf_waddr), .wdata_i(buf_data),
    .re_i(state_q == StAct), .raddr_i(buf_raddr), .rdata_o(wqe_bits)
  );

  // the answer to a take
  iwarp_pkg::rq_wqe_t      wqe;
  iwarp_pkg::rq_take_rsp_t rsp;
  logic                    rsp_put, rsp_good, unused_wqe;
  assign wqe        = wqe_bits;
  assign unused_wqe = ^{wqe.reserved0, wqe.reserved1};
  assign rsp_good   = state_q == StGive && wqe.num_sge <= rnic_pkg::MaxRecvSge;
  always_comb begin
    rsp = '0;
    rsp.found = rsp_good;
    if (rsp_good) begin
      rsp.wqe.index              = taken_q;
      rsp.wqe.num_sge            = wqe.num_sge[1:0];
      rsp.wqe.sge0 = {wqe.sge0.address, wqe.sge0.length, wqe.sge0.lkey};
      rsp.wqe.sge1 = {wqe.sge1.address, wqe.sge1.length, wqe.sge1.lkey};
      rsp.wqe.sge2 = {wqe.sge2.address, wqe.sge2.length, wqe.sge2.lkey};
    end
  end
  // A read that failed ends the take that waits for it; its place was not needed meanwhile.
  assign rsp_put = state_q == StGive || (state_q == StAct && op_q == OpTake && none) ||
                   (state_q == StAct && op_q == OpDone && hold_q && done_fail && !drop_q && qpn_q == take_qpn[QpnW-1:0]);
  assign take_ready = rsp_put;
  stream_reg #(.Width(iwarp_pkg::RqTakeRspWidth)) u_rsp (
    .clk_i, .rst_ni, .valid_i(rsp_put), .ready_o(rsp_ready), .data_i(rsp),
    .valid_o(rq_take_rsp_valid_o), .ready_i(rq_take_rsp_ready_i), .data_o(rq_take_rsp_o)
  );

  always_comb begin
    state_d   = state_q;
    hold_d    = hold_q;
    we        = init;
    on_d      = init || on_q;
    drop_d    = !init && drop_q;
    reads_d   = init ? '0 : reads_q;
    taken_d   = init ? '0 : taken_q;
    asked_d   = init ? '0 : asked_q;
    arrived_d = init ? '0 : arrived_q;
    unique case (state_q)
      StIdle: if (start) state_d = StLook;
      StLook: state_d = StAct;
      StAct: begin
        state_d = StIdle;
        unique case (op_q)
          OpTake: begin
            if (hit) state_d = StGive;
            else if (held_back) begin
              hold_d = 1'b1;
              if (count != '0) state_d = StSend;
            end
          end
          OpList: if (finish_q) state_d = StAct; else if (count != '0) state_d = StSend;
          OpDone: begin
            we      = 1'b1;
            reads_d = reads_q - 3'd1;
            drop_d  = (drop_q || done_fail) && reads_q != 3'd1;
            if (!drop_q) arrived_d = done_end;
            if (!drop_q && done_fail) asked_d = done_end;
            if (qpn_q == take_qpn[QpnW-1:0]) hold_d = 1'b0;
          end
          default: begin   // stop
            we   = 1'b1;
            on_d = 1'b0;
          end
        endcase
      end
      StSend: begin
        we      = 1'b1;
        reads_d = reads_q + 3'd1;
        asked_d = asked_q + 16'(count_q);
        state_d = StIdle;
      end
      StGive: begin
        we      = 1'b1;
        taken_d = taken_q + 16'd1;
        state_d = StIdle;
      end
      default: state_d = StIdle;
    endcase
  end

  // A quarter of the buffer is free, a place that is given now counted, and there is more to be read.
  logic came_back, refill;
  assign came_back = state_q == StAct && op_q == OpDone && !done_fail && !drop_q;
  assign refill    = announced_q != '0 && claimed_q <= 16'(Pre - Quarter) + 16'(!came_back);

  // A QP from the list is finished with at once: a kick from now on puts it on the list again.
  assign finish_valid = finish_q;
  assign done_ready   = (state_q == StAct && op_q == OpDone) || stop_done_o;

  assign put_valid = state_q == StSend || (state_q == StAct && op_q == OpStop);
  iwarp_pkg::rq_rd_req_t rd_req;
  assign rd_req.address = base_q + 64'({offset_q, 6'd0});
  assign rd_req.length  = {count_q, 6'd0};
  stream_reg #(.Width(iwarp_pkg::RqRdReqWidth)) u_out (
    .clk_i, .rst_ni, .valid_i(state_q == StSend), .ready_o(out_ready), .data_i(rd_req),
    .valid_o(rq_rd_req_valid_o), .ready_i(rq_rd_req_ready_i), .data_o(rq_rd_req_o)
  );
  iwarp_pkg::rd_hdr_t rd_hdr;
  assign rd_hdr = rq_rd_hdr_i;
  qp_read #(.Depth(ReadDepth)) u_read (
    .clk_i, .rst_ni,
    .put_valid_i(put_valid), .put_ready_o(put_ready), .put_barrier_i(op_q == OpStop), .put_qpn_i(qpn_q),
    .put_first_i(asked_q), .put_count_i(count_q),
    .hdr_valid_i(rq_rd_hdr_valid_i), .hdr_ready_o(rq_rd_hdr_ready_o), .hdr_i(rd_hdr),
    .beat_valid_i(rq_rd_valid_i), .beat_ready_o(rq_rd_ready_o), .beat_i(rq_rd_i),
    .buf_valid_o(buf_we), .buf_ready_i(1'b1), .buf_qpn_o(buf_qpn), .buf_index_o(buf_index), .buf_data_o(buf_data),
    .done_valid_o(done_valid), .done_ready_i(done_ready), .done_barrier_o(done_barrier), .done_qpn_o(done_qpn),
    .done_end_o(done_end), .done_fail_o(done_fail)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      hold_q   <= 1'b0;
      refill_q <= 1'b0;
      finish_q <= 1'b0;
    end else begin
      state_q <= state_d;
      hold_q  <= hold_d;
      if (state_q == StGive || came_back) refill_q <= refill;
      else if (refill_ready)              refill_q <= 1'b0;
      if (list_ready && list_valid) finish_q <= 1'b1;
      else if (sched_ready[2])      finish_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      op_q  <= op_d;
      qpn_q <= qpn_d;
    end
    if (state_q == StLook) begin
      {on_q, drop_q, reads_q, taken_q, asked_q, arrived_q} <= state_ram;
      announced_q <= prod_ram - asked;
      held_q      <= state_ram[15:0] - state_ram[47:32];
      claimed_q   <= asked - state_ram[47:32];
      offset_q    <= asked & mask;
      toend_q     <= mask + 16'd1 - (asked & mask);
      base_q      <= cfg_ram[63:0];
    end
    if (state_q == StAct)  count_q <= count;
    if (state_q == StGive || came_back) refill_qpn_q <= qpn_q;
  end
  assign unused_again = ^{take_qpn, count16[15:7], buf_index};

  `RNIC_ASSERT(PutTaken_A, !put_valid || put_ready)
  `RNIC_ASSERT(SendTaken_A, state_q != StSend || out_ready)
  `RNIC_ASSERT(RspTaken_A, !rsp_put || rsp_ready)
  `RNIC_ASSERT(ReadsCounted_A, !(state_q == StAct && op_q == OpDone) || reads_q != '0)
  `RNIC_STREAM_STABLE(RspStable_A, rq_take_rsp_valid_o, rq_take_rsp_ready_i, rq_take_rsp_o)
  `RNIC_STREAM_STABLE(ReadStable_A, rq_rd_req_valid_o, rq_rd_req_ready_i, rq_rd_req_o)

  // Simulation alone: commit trace (architecture 10)
  iwarp_pkg::qp_rq_take_commit_t tap_qp_rq_take /*verilator public_flat_rd*/;
  assign tap_qp_rq_take = {rsp_put, take_qpn, rsp.found};
endmodule
