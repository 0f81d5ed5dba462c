// qp_pick: evaluates one QP of the send list after the other: does it have a WQE that may be
// issued?
//
//   qpn (qp_sched) --+--> [ read copies ] --> [ decide ]
//   barrier ---------^
//   decide --+--> go     (qp_parse):    a WQE is in the buffer, window and ddp slot are free
//            +--> fetch  (qp_sq_fetch): a quarter of the buffer is free
//            +--> empty  (qp_state):    closing, and all WQEs are retired
//            +--> flush  (qp_retire):   in state error, WQEs may be posted
//            +--> finish (qp_sched):    nothing to do until the next kick
//
// 1. The tables are copies of the owners' state: send state (qp_emit), producer index, arrived
//    units, retirement, freed slots, QP state. Each owner writes before it kicks, so a stale copy
//    is always followed by another evaluation.
// 2. A barrier of qp_state travels through here, qp_parse and qp_emit. When it comes out, every WQE
//    begun before it is issued or dropped. It waits here until the requests decided before it
//    (fetch, flush) are taken.
//
// Latency: 2 cycles.
// Throughput: 1 QP per cycle.
// Waits for its outputs; none of them waits for this QP's own progress.
// Siblings: qp_sched, qp_parse, qp_sq_fetch.
// Bench: tb/qp/qp_test.cpp
`include "rnic_assert.svh"

module qp_pick #(
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps),
  localparam int unsigned WinW = $clog2(rnic_pkg::SqWindow) + 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the clearing walker
  input  logic            clear_busy_i,
  input  logic [QpnW-1:0] clear_addr_i,
  // from qp_sched
  input  logic            qpn_valid_i,
  output logic            qpn_ready_o,
  input  logic [QpnW-1:0] qpn_i,
  // from qp_state: barrier; state. run: WQEs may be issued; flush: in state error; watch: closing,
  // and rdmap has no half_close yet; fin, ord, persist, privileged, pd: see go_*
  input  logic            barrier_valid_i,
  output logic            barrier_ready_o,
  input  logic            st_we_i,
  input  logic [QpnW-1:0] st_qpn_i,
  input  logic            st_run_i,
  input  logic            st_flush_i,
  input  logic            st_watch_i,
  input  logic            st_fin_i,
  input  logic [5:0]      st_ord_i,
  input  logic            st_persist_i,
  input  logic            st_privileged_i,
  input  logic [15:0]     st_pd_i,
  // from qp_emit: send state
  input  logic            head_we_i,
  input  logic [QpnW-1:0] head_qpn_i,
  input  logic [15:0]     head_index_i,   // ring index of the next unit to be issued
  input  logic [WinW-1:0] head_tail_i,    // tail of the window
  input  logic [4:0]      head_issued_i,  // messages handed to ddp, modulo 32
  input  logic [6:0]      head_reads_i,   // requests issued, modulo 128
  input  logic            head_failed_i,  // a WQE has failed
  input  logic            head_after_key_i,
  // from qp_doorbell, qp_sq_fetch, qp_retire, qp_slot
  input  logic            prod_we_i,
  input  logic [QpnW-1:0] prod_qpn_i,
  input  logic [15:0]     prod_index_i,   // ring index after the last unit announced
  input  logic            arr_we_i,
  input  logic [QpnW-1:0] arr_qpn_i,
  input  logic [15:0]     arr_index_i,    // ring index after the last unit in the buffer
  input  logic [15:0]     arr_asked_i,    // ring index after the last unit requested
  input  logic            arr_full_i,     // the maximum number of reads is outstanding
  input  logic            arr_fail_i,     // a read came back bad: no further fetch
  input  logic            ret_we_i,
  input  logic [QpnW-1:0] ret_qpn_i,
  input  logic [15:0]     ret_sq_i,       // ring index after the last WQE retired
  input  logic [WinW-1:0] ret_head_i,     // head of the window
  input  logic [6:0]      ret_reads_i,    // requests completed, modulo 128
  input  logic            freed_we_i,
  input  logic [QpnW-1:0] freed_qpn_i,
  input  logic [4:0]      freed_i,        // messages that ddp is done with, modulo 32
  // to qp_parse
  output logic            go_valid_o,
  input  logic            go_ready_i,
  output logic            go_barrier_o,
  output logic [QpnW-1:0] go_qpn_o,
  output logic [15:0]     go_head_o,
  output logic [6:0]      go_have_o,      // units in the buffer
  output logic [6:0]      go_avail_o,     // units announced, 127 means 127 or more
  output logic [3:0]      go_wqes_o,      // WQEs that may be issued: room in the window and in ddp
  output logic            go_fail_o,      // the fetch of the missing units has failed
  output logic [WinW-1:0] go_tail_o,
  output logic [4:0]      go_issued_o,
  output logic [6:0]      go_reads_o,
  // go_pending_o: outstanding requests: Read, Flush, atomic, Atomic Write; and those to our own
  // table (local invalidation, registration, bind)
  output logic [6:0]      go_pending_o,
  output logic            go_fin_o,       // the peer's FIN has been received
  output logic [5:0]      go_ord_o,
  output logic            go_persist_o,   // the extensions are enabled
  output logic            go_privileged_o, // may register memory
  output logic            go_after_key_o, // the WQE before is a registration or a bind
  output logic [15:0]     go_pd_o,
  // to qp_sq_fetch, qp_state, qp_retire, qp_sched
  output logic            fetch_valid_o,
  input  logic            fetch_ready_i,
  output logic [QpnW-1:0] fetch_qpn_o,
  output logic            empty_valid_o,
  input  logic            empty_ready_i,
  output logic [QpnW-1:0] empty_qpn_o,
  output logic            flush_valid_o,
  input  logic            flush_ready_i,
  output logic [QpnW-1:0] flush_qpn_o,
  output logic            finish_valid_o,
  input  logic            finish_ready_i,
  output logic [QpnW-1:0] finish_qpn_o
);
  // {run, flush, watch, fin; ord; persist, privileged; pd}
  localparam int unsigned StW   = 4 + 6 + 2 + 16;
  // {index, tail, issued, reads; failed, after_key}; {sq, head, reads}
  localparam int unsigned HeadW = 16 + WinW + 5 + 7 + 2;
  localparam int unsigned RetW  = 16 + WinW + 7;
  // Maximum number of WQEs of a visit (qp_parse).
  localparam int unsigned Visit = rnic_pkg::SqSlots < rnic_pkg::SqWindow ? rnic_pkg::SqSlots
                                                                         : rnic_pkg::SqWindow;
  // go_barrier_o to go_pd_o
  localparam int unsigned GoW   = 1 + QpnW + 16 + 7 + 7 + 4 + 1 + WinW + 5 + 7 + 7 + 1 + 6 + 3 + 16;

  // Stage 1: read.
  logic            take, s_valid_q, s_barrier_q, s_ready;
  logic [QpnW-1:0] s_qpn_q;

  assign barrier_ready_o = s_ready;
  assign qpn_ready_o     = s_ready && !barrier_valid_i;
  assign take            = s_ready && (barrier_valid_i || qpn_valid_i);

  logic [StW-1:0]   st_ram;
  logic [HeadW-1:0] head_ram;
  logic [15:0]      prod_ram;
  logic [33:0]      arr_ram;
  logic [RetW-1:0]  ret_ram;
  logic [4:0]       freed_ram;

  ram_1r1w #(.Width(StW), .Depth(rnic_pkg::NumQps)) u_st (
    .clk_i, .rst_ni, .we_i(clear_busy_i || st_we_i),
    .waddr_i(clear_busy_i ? clear_addr_i : st_qpn_i),
    .wdata_i(clear_busy_i ? '0 : {st_run_i, st_flush_i, st_watch_i, st_fin_i, st_ord_i,
                                  st_persist_i, st_privileged_i, st_pd_i}),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(st_ram)
  );
  ram_1r1w #(.Width(HeadW), .Depth(rnic_pkg::NumQps)) u_head (
    .clk_i, .rst_ni, .we_i(head_we_i), .waddr_i(head_qpn_i),
    .wdata_i({head_index_i, head_tail_i, head_issued_i, head_reads_i, head_failed_i,
              head_after_key_i}),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(head_ram)
  );
  ram_1r1w #(.Width(16), .Depth(rnic_pkg::NumQps)) u_prod (
    .clk_i, .rst_ni, .we_i(prod_we_i), .waddr_i(prod_qpn_i), .wdata_i(prod_index_i),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(prod_ram)
  );
  ram_1r1w #(.Width(34), .Depth(rnic_pkg::NumQps)) u_arr (
    .clk_i, .rst_ni, .we_i(arr_we_i), .waddr_i(arr_qpn_i),
    .wdata_i({arr_fail_i, arr_full_i, arr_asked_i, arr_index_i}),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(arr_ram)
  );
  ram_1r1w #(.Width(RetW), .Depth(rnic_pkg::NumQps)) u_ret (
    .clk_i, .rst_ni, .we_i(ret_we_i), .waddr_i(ret_qpn_i),
    .wdata_i({ret_sq_i, ret_head_i, ret_reads_i}),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(ret_ram)
  );
  ram_1r1w #(.Width(5), .Depth(rnic_pkg::NumQps)) u_freed (
    .clk_i, .rst_ni, .we_i(freed_we_i), .waddr_i(freed_qpn_i), .wdata_i(freed_i),
    .re_i(take), .raddr_i(qpn_i), .rdata_o(freed_ram)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni)      s_valid_q <= 1'b0;
    else if (s_ready) s_valid_q <= take;
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      s_barrier_q <= barrier_valid_i;
      s_qpn_q     <= qpn_i;
    end
  end

  // Stage 2: decide.
  logic            run, flush, watch, fin, persist, privileged, failed, after_key,
                   fetch_full, fetch_failed;
  logic [5:0]      ord;
  logic [15:0]     pd, head, arrived, asked, ret_sq, have, avail, claimed;
  logic [WinW-1:0] tail, ret_head, used;
  logic [4:0]      issued, held;
  logic [3:0]      slots, wqes;
  logic [6:0]      reads, ret_reads;
  logic            active, window_free, slot_free, want_more;
  logic            do_go, do_fetch, do_empty, do_flush, do_finish;
  logic            go_ready, fetch_ready, empty_ready, flush_ready, finish_ready;

  assign {run, flush, watch, fin, ord, persist, privileged, pd} = st_ram;
  assign {head, tail, issued, reads, failed, after_key} = head_ram;
  assign {fetch_failed, fetch_full, asked, arrived} = arr_ram;
  assign {ret_sq, ret_head, ret_reads}         = ret_ram;
  // Distances from the next unit to be issued: units in the buffer (have), announced (avail),
  // requested (claimed). used: entries of the window; held: messages in ddp; slots: free there.
  assign have        = arrived - head;
  assign avail       = prod_ram - head;
  assign claimed     = asked - head;
  assign used        = tail - ret_head;
  assign held        = issued - freed_ram;
  assign slots       = 4'(rnic_pkg::SqSlots) - held[3:0];
  assign window_free = used != WinW'(rnic_pkg::SqWindow);
  assign slot_free   = held < 5'(rnic_pkg::SqSlots);
  // WQEs of the visit: as many as ddp has slots for, at most Visit. One, if the window has no room
  // for Visit WQEs: that costs a comparison in place of a minimum.
  assign wqes        = used > WinW'(rnic_pkg::SqWindow - Visit) ? 4'd1
                     : slots > 4'(Visit) ? 4'(Visit) : slots;
  assign active      = run && !failed && avail != '0 && window_free && slot_free;
  assign want_more   = run && !failed && prod_ram != asked && !fetch_full && !fetch_failed;

  assign do_go     = s_barrier_q || (active && (have != '0 || fetch_failed));
  assign do_fetch  = !s_barrier_q && want_more &&
                     claimed <= 16'(rnic_pkg::SqPrefetch - rnic_pkg::SqPrefetch / 4);
  assign do_empty  = !s_barrier_q && watch && ret_sq == prod_ram;
  assign do_flush  = !s_barrier_q && flush;
  assign do_finish = !do_go;

  logic fire;
  // Fetches and flushes that are not taken. They are counted, since in the stall build *_valid_o
  // may be low while the FIFO holds one.
  logic [1:0] fetches, flushes;
  logic       barrier_waits;
  assign barrier_waits = s_barrier_q && (fetches != '0 || flushes != '0);
  assign fire = s_valid_q && !barrier_waits &&
                (!do_go || go_ready) && (!do_fetch || fetch_ready) && (!do_empty || empty_ready) &&
                (!do_flush || flush_ready) && (!do_finish || finish_ready);
  assign s_ready = !s_valid_q || fire;

  logic [GoW-1:0] go_in, go_out;
  logic [1:0]     unused_go;
  assign go_in = {s_barrier_q, s_qpn_q, head, have[6:0], avail > 16'd127 ? 7'd127 : avail[6:0],
                  wqes, fetch_failed, tail, issued, reads,
                  reads - ret_reads, fin, ord, persist, privileged, after_key, pd};
  stream_fifo #(.Width(GoW), .Depth(2)) u_go (
    .clk_i, .rst_ni, .valid_i(fire && do_go), .ready_o(go_ready), .data_i(go_in),
    .valid_o(go_valid_o), .ready_i(go_ready_i), .data_o(go_out), .count_o(unused_go)
  );
  assign {go_barrier_o, go_qpn_o, go_head_o, go_have_o, go_avail_o,
          go_wqes_o, go_fail_o, go_tail_o, go_issued_o, go_reads_o,
          go_pending_o, go_fin_o, go_ord_o, go_persist_o, go_privileged_o, go_after_key_o,
          go_pd_o} = go_out;

  stream_fifo #(.Width(QpnW), .Depth(2)) u_fetch (
    .clk_i, .rst_ni, .valid_i(fire && do_fetch), .ready_o(fetch_ready), .data_i(s_qpn_q),
    .valid_o(fetch_valid_o), .ready_i(fetch_ready_i), .data_o(fetch_qpn_o), .count_o(fetches)
  );
  stream_reg #(.Width(QpnW)) u_empty (
    .clk_i, .rst_ni, .valid_i(fire && do_empty), .ready_o(empty_ready), .data_i(s_qpn_q),
    .valid_o(empty_valid_o), .ready_i(empty_ready_i), .data_o(empty_qpn_o)
  );
  stream_fifo #(.Width(QpnW), .Depth(2)) u_flush (
    .clk_i, .rst_ni, .valid_i(fire && do_flush), .ready_o(flush_ready), .data_i(s_qpn_q),
    .valid_o(flush_valid_o), .ready_i(flush_ready_i), .data_o(flush_qpn_o), .count_o(flushes)
  );
  stream_reg #(.Width(QpnW)) u_finish (
    .clk_i, .rst_ni, .valid_i(fire && do_finish), .ready_o(finish_ready), .data_i(s_qpn_q),
    .valid_o(finish_valid_o), .ready_i(finish_ready_i), .data_o(finish_qpn_o)
  );

  `RNIC_ASSERT(VisitFits_A, !(s_valid_q && !s_barrier_q && do_go) ||
                            (wqes != '0 && wqes <= slots &&
                             32'(used) + 32'(wqes) <= rnic_pkg::SqWindow))
  `RNIC_ASSERT(WindowInRange_A, !(s_valid_q && !s_barrier_q && run) ||
                                tail - ret_head <= WinW'(rnic_pkg::SqWindow))
  `RNIC_ASSERT(BufferInRange_A, !(s_valid_q && !s_barrier_q && run && !failed) ||
                                have <= 16'(rnic_pkg::SqPrefetch))
endmodule
