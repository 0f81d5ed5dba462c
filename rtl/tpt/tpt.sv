// tpt: translation and protection table: checks STag accesses and turns them into bus extents.
//
//   rx_xlate, tx_xlate,   --> [ pick one ] --> [ tpt_entry: lookup and checks, 5 cycles ] --+
//   wqe_check, resp_check,        ^                     ^                                   |
//   qn1_xlate                     |                     |         *_rsp <-- [ tpt_rsp ] <---+
//   tpt_cmd,  --> [ tpt_update ] -+------- writes ------+      *_extent <-- [ tpt_walk ] <--+
//   invalidate         ^                                     (page list: one read port, shared)
//   sq_local --> [ tpt_register ] --> page list
//                   reg_rd
//
// Latency: 7 cycles from a request to its response, 10 to its first extent.
// Throughput: one lookup per cycle over all clients: receive first, then transmit, then the others
// in turn. One extent per cycle over all clients: receive first, then transmit, then qn1, whose
// items have one extent each.
// Back-pressure: a client may have 8 lookups outstanding (Depth of tpt_rsp and tpt_walk). While its
// outputs are not ready, tpt accepts no further lookup of it, and it blocks no other client. tpt
// waits for nothing else: destroy_mr closes its region and returns in_progress while extents are in
// flight. invalidate closes an entry, and invalidated follows when no extent of it is in flight. Up
// to 2 x FifoDepth invalidations of the peer wait for that. A fast registration waits for its page
// list; up to 8 lists are read at a time.
// Leaves: tpt_key, tpt_entry, tpt_rsp, tpt_walk, tpt_update (in it tpt_windows, tpt_flight),
// tpt_register.
// Model: model/tpt/tpt.hpp. Bench: tb/tpt/tpt_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module tpt (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output iwarp_pkg::unit_count_t count_o,
  input  iwarp_pkg::dev_cfg_t dev_cfg_i,
  // from and to admin
  input  logic tpt_cmd_valid_i,
  output logic tpt_cmd_ready_o,
  input  iwarp_pkg::tpt_cmd_t tpt_cmd_i,
  output logic tpt_cmd_rsp_valid_o,
  input  logic tpt_cmd_rsp_ready_i,
  output iwarp_pkg::tpt_cmd_rsp_t tpt_cmd_rsp_o,
  input  logic pbl_wr_valid_i,
  output logic pbl_wr_ready_o,
  input  iwarp_pkg::pbl_wr_t pbl_wr_i,
  // from and to qp
  input  logic wqe_check_valid_i,
  output logic wqe_check_ready_o,
  input  iwarp_pkg::wqe_check_t wqe_check_i,
  output logic wqe_check_rsp_valid_o,
  input  logic wqe_check_rsp_ready_i,
  output iwarp_pkg::wqe_check_rsp_t wqe_check_rsp_o,
  // from and to rdmap
  input  logic sq_local_valid_i,
  output logic sq_local_ready_o,
  input  iwarp_pkg::sq_local_t sq_local_i,
  output logic sq_local_done_valid_o,
  input  logic sq_local_done_ready_i,
  output iwarp_pkg::sq_local_done_t sq_local_done_o,
  input  logic resp_check_valid_i,
  output logic resp_check_ready_o,
  input  iwarp_pkg::resp_check_t resp_check_i,
  output logic resp_check_rsp_valid_o,
  input  logic resp_check_rsp_ready_i,
  output iwarp_pkg::resp_check_rsp_t resp_check_rsp_o,
  // from and to ddp
  input  logic tx_xlate_valid_i,
  output logic tx_xlate_ready_o,
  input  iwarp_pkg::tx_xlate_t tx_xlate_i,
  input  logic rx_xlate_valid_i,
  output logic rx_xlate_ready_o,
  input  iwarp_pkg::rx_xlate_t rx_xlate_i,
  output logic rx_xlate_rsp_valid_o,
  input  logic rx_xlate_rsp_ready_i,
  output iwarp_pkg::rx_xlate_rsp_t rx_xlate_rsp_o,
  output logic rx_extent_valid_o,
  input  logic rx_extent_ready_i,
  output iwarp_pkg::rx_extent_t rx_extent_o,
  input  logic rx_dropped_valid_i,
  output logic rx_dropped_ready_o,
  input  iwarp_pkg::rx_dropped_t rx_dropped_i,
  input  logic invalidate_valid_i,
  output logic invalidate_ready_o,
  input  iwarp_pkg::invalidate_t invalidate_i,
  output logic invalidated_valid_o,
  input  logic invalidated_ready_i,
  output iwarp_pkg::invalidated_t invalidated_o,
  // from and to atomic
  input  logic qn1_xlate_valid_i,
  output logic qn1_xlate_ready_o,
  input  iwarp_pkg::qn1_xlate_t qn1_xlate_i,
  output logic qn1_extent_valid_o,
  input  logic qn1_extent_ready_i,
  output iwarp_pkg::qn1_extent_t qn1_extent_o,
  input  logic qn1_retired_valid_i,
  output logic qn1_retired_ready_o,
  input  iwarp_pkg::qn1_retired_t qn1_retired_i,
  // from and to host_if
  output logic tx_extent_valid_o,
  input  logic tx_extent_ready_i,
  output iwarp_pkg::tx_extent_t tx_extent_o,
  input  logic rd_retired_valid_i,
  output logic rd_retired_ready_o,
  input  iwarp_pkg::rd_retired_t rd_retired_i,
  input  logic wr_retired_valid_i,
  output logic wr_retired_ready_o,
  input  iwarp_pkg::wr_retired_t wr_retired_i,
  output logic reg_rd_req_valid_o,
  input  logic reg_rd_req_ready_i,
  output iwarp_pkg::reg_rd_req_t reg_rd_req_o,
  input  logic reg_rd_hdr_valid_i,
  output logic reg_rd_hdr_ready_o,
  input  iwarp_pkg::reg_rd_hdr_t reg_rd_hdr_i,
  input  logic reg_rd_valid_i,
  output logic reg_rd_ready_o,
  input  iwarp_pkg::beat_t reg_rd_i
);
  localparam int unsigned SlotW  = $clog2(rnic_pkg::NumStags);
  localparam int unsigned PblW   = $clog2(rnic_pkg::NumPbl);
  localparam int unsigned EntryW = `RNIC_TPT_ENTRY_W;
  localparam int unsigned JobW   = `RNIC_TPT_JOB_W;
  // Client numbers, carried with a lookup. Wqe to Qn1 are in the order of u_others.
  localparam logic [2:0] Rx = 3'd0, Tx = 3'd1, Wqe = 3'd2, Resp = 3'd3, Update = 3'd4, Qn1 = 3'd5;

  // --- pick. All requests of a lookup have the layout of wqe_check_t. *_room: the client may begin
  // a lookup; rx needs room in its tpt_rsp and in its tpt_walk. running: the tables have been
  // cleared.
  logic rx_room_rsp, rx_room_job, tx_room, wqe_room, resp_room, qn1_room, running;
  logic find_valid, find_ready;
  iwarp_pkg::wqe_check_t find, pick;
  logic [3:0]  others_valid, others_ready;
  logic        rx_take, tx_take, other_valid, pick_valid;
  logic [1:0]  other_index;
  logic [2:0]  pick_client;
  iwarp_pkg::wqe_check_t other;

  assign rx_xlate_ready_o = rx_room_rsp && rx_room_job && running;
  assign rx_take          = rx_xlate_valid_i && rx_xlate_ready_o;
  assign tx_xlate_ready_o = tx_room && running && !rx_take;
  assign tx_take          = tx_xlate_valid_i && tx_xlate_ready_o;

  assign others_valid = {qn1_xlate_valid_i && qn1_room, find_valid, resp_check_valid_i && resp_room,
                         wqe_check_valid_i && wqe_room} & {4{running}};
  stream_arb #(.Width(iwarp_pkg::WqeCheckWidth), .N(4)) u_others (
    .clk_i, .rst_ni, .valid_i(others_valid), .ready_o(others_ready),
    .data_i({qn1_xlate_i, find, resp_check_i, wqe_check_i}),
    .valid_o(other_valid), .ready_i(!rx_take && !tx_take), .data_o(other), .index_o(other_index)
  );
  assign {qn1_xlate_ready_o, find_ready, resp_check_ready_o, wqe_check_ready_o} = others_ready;
  assign pick_valid = rx_take || tx_take || other_valid;
  always_comb begin
    pick        = other;
    pick_client = {1'b0, other_index} + Wqe;
    if (rx_take) begin
      pick        = rx_xlate_i;
      pick_client = Rx;
    end else if (tx_take) begin
      pick        = tx_xlate_i;
      pick_client = Tx;
    end
  end

  // the picked lookup, a cycle later
  logic                  go_q;
  logic [2:0]            go_client_q;
  iwarp_pkg::wqe_check_t go_item_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) go_q <= 1'b0;
    else         go_q <= pick_valid;
  end
  always_ff @(posedge clk_i) begin
    go_client_q <= pick_client;
    go_item_q   <= pick;
  end

  // --- lookup. done_*: its result. find, table: of tpt_update (its own lookups, and its writes).
  // reading, look: a lookup that has extents reads its entry in this cycle, or did in the last one.
  logic        done, done_last, done_invalidate, done_epoch,
               epoch, table_we, reading, look, look_epoch;
  logic [2:0]  done_client;
  iwarp_pkg::tpt_result_e done_result;
  logic [31:0] done_length;
  logic [PblW-1:0]   done_page;
  logic [20:0]       done_offset;
  logic [4:0]        done_log;
  logic [SlotW-1:0]  done_slot, table_waddr;
  logic [EntryW-1:0] done_entry, table_wdata;
  tpt_entry u_entry (
    .clk_i, .rst_ni, .key_i(dev_cfg_i.stag_key), .epoch_i(epoch),
    .reading_o(reading), .look_o(look), .look_epoch_o(look_epoch),
    .valid_i(go_q), .client_i(go_client_q), .stag_i(go_item_q.stag),
    .tagged_offset_i(go_item_q.tagged_offset),
    .length_i(go_item_q.length), .pd_i(go_item_q.pd),
    .qpn_i(go_item_q.qpn), .rights_i(go_item_q.rights),
    .invalidate_i(go_item_q.invalidate), .last_i(go_item_q.last),
    .valid_o(done), .client_o(done_client), .result_o(done_result), .last_o(done_last),
    .invalidate_o(done_invalidate), .epoch_o(done_epoch), .length_o(done_length),
    .page_o(done_page), .page_offset_o(done_offset),
    .log_page_o(done_log), .slot_o(done_slot), .entry_o(done_entry),
    .we_i(table_we), .waddr_i(table_waddr), .wdata_i(table_wdata)
  );

  // --- responses
  logic [1:0] unused_flags;
  // rx_done, rx_answer: the last lookup of a segment has ended, with this result for all of them
  logic rx_done;
  iwarp_pkg::tpt_result_e rx_answer;
  tpt_rsp u_rx_rsp (
    .clk_i, .rst_ni, .ask_i(rx_take), .room_o(rx_room_rsp),
    .valid_i(done && done_client == Rx), .last_i(done_last),
    .result_i(done_result), .flag_i(done_invalidate),
    .done_o(rx_done), .done_result_o(rx_answer),
    .rsp_valid_o(rx_xlate_rsp_valid_o), .rsp_ready_i(rx_xlate_rsp_ready_i),
    .rsp_o(rx_xlate_rsp_o.result),
    .flag_o(rx_xlate_rsp_o.invalidate)
  );
  tpt_rsp u_wqe_rsp (
    .clk_i, .rst_ni, .ask_i(wqe_check_valid_i && wqe_check_ready_o), .room_o(wqe_room),
    .valid_i(done && done_client == Wqe), .last_i(done_last), .result_i(done_result), .flag_i(1'b0),
    .done_o(), .done_result_o(),
    .rsp_valid_o(wqe_check_rsp_valid_o), .rsp_ready_i(wqe_check_rsp_ready_i),
    .rsp_o(wqe_check_rsp_o.result),
    .flag_o(unused_flags[0])
  );
  tpt_rsp u_resp_rsp (
    .clk_i, .rst_ni, .ask_i(resp_check_valid_i && resp_check_ready_o), .room_o(resp_room),
    .valid_i(done && done_client == Resp),
    .last_i(done_last), .result_i(done_result), .flag_i(1'b0),
    .done_o(), .done_result_o(),
    .rsp_valid_o(resp_check_rsp_valid_o), .rsp_ready_i(resp_check_rsp_ready_i),
    .rsp_o(resp_check_rsp_o.result),
    .flag_o(unused_flags[1])
  );

  // --- page list and walks. *_pbl: a walk reads the page list. walked, drop, ext: a lookup is
  // walked or dropped, or an extent is issued; *_e: in which epoch. tpt_flight counts them.
  logic rx_pbl, rx_pbl_ready, tx_pbl, tx_pbl_ready, qn1_pbl, qn1_pbl_ready;
  logic [PblW-1:0] rx_page, tx_page, qn1_page;
  logic [51:0]     page;
  logic rx_walked, rx_walked_e, rx_drop, rx_drop_e, rx_ext, rx_ext_e;
  logic tx_walked, tx_walked_e, tx_drop, tx_drop_e, tx_ext, tx_ext_e;
  logic qn1_walked, qn1_walked_e, qn1_drop, qn1_drop_e, qn1_ext, qn1_ext_e;
  // Writes: admin (pbl_wr) first, since its lists are short bursts; then tpt_register (list_*).
  logic            list_we, list_ready;
  logic [PblW-1:0] list_at;
  logic [51:0]     list_page;
  assign list_ready = !pbl_wr_valid_i;
  ram_1r1w #(.Width(52), .Depth(rnic_pkg::NumPbl)) u_pages (
    .clk_i, .rst_ni, .we_i((pbl_wr_valid_i && running) || (list_we && list_ready)),
    .waddr_i(pbl_wr_valid_i ? pbl_wr_i.index[PblW-1:0] : list_at),
    .wdata_i(pbl_wr_valid_i ? pbl_wr_i.address[63:12] : list_page),
    .re_i(rx_pbl || tx_pbl || qn1_pbl),
    .raddr_i(rx_pbl ? rx_page : tx_pbl ? tx_page : qn1_page), .rdata_o(page)
  );
  assign pbl_wr_ready_o = running;
  assign rx_pbl_ready   = 1'b1;
  assign tx_pbl_ready   = !rx_pbl;
  assign qn1_pbl_ready  = !rx_pbl && !tx_pbl;

  tpt_walk #(.Gated(1'b1)) u_rx_walk (
    .clk_i, .rst_ni, .ask_i(rx_take), .room_o(rx_room_job),
    .valid_i(done && done_client == Rx), .last_i(done_last),
    .result_i(done_result), .epoch_i(done_epoch),
    .empty_i(done_invalidate), .length_i(done_length[16:0]),
    .page_i(done_page), .page_offset_i(done_offset), .log_page_i(done_log),
    .go_valid_i(rx_done), .go_ok_i(rx_answer == iwarp_pkg::TptOk),
    .pbl_valid_o(rx_pbl), .pbl_ready_i(rx_pbl_ready), .pbl_addr_o(rx_page), .pbl_data_i(page),
    .walked_o(rx_walked), .walked_epoch_o(rx_walked_e),
    .dropped_o(rx_drop), .dropped_epoch_o(rx_drop_e),
    .extent_o(rx_ext), .extent_epoch_o(rx_ext_e),
    .out_valid_o(rx_extent_valid_o), .out_ready_i(rx_extent_ready_i), .out_o(rx_extent_o)
  );
  tpt_walk #(.Gated(1'b0)) u_tx_walk (
    .clk_i, .rst_ni, .ask_i(tx_take), .room_o(tx_room),
    .valid_i(done && done_client == Tx), .last_i(done_last),
    .result_i(done_result), .epoch_i(done_epoch),
    .empty_i(1'b0), .length_i(done_length[16:0]),
    .page_i(done_page), .page_offset_i(done_offset), .log_page_i(done_log),
    .go_valid_i(1'b0), .go_ok_i(1'b0),
    .pbl_valid_o(tx_pbl), .pbl_ready_i(tx_pbl_ready), .pbl_addr_o(tx_page), .pbl_data_i(page),
    .walked_o(tx_walked), .walked_epoch_o(tx_walked_e),
    .dropped_o(tx_drop), .dropped_epoch_o(tx_drop_e),
    .extent_o(tx_ext), .extent_epoch_o(tx_ext_e),
    .out_valid_o(tx_extent_valid_o), .out_ready_i(tx_extent_ready_i), .out_o(tx_extent_o)
  );
  tpt_walk #(.Gated(1'b0), .Single(1'b1)) u_qn1_walk (
    .clk_i, .rst_ni, .ask_i(qn1_xlate_valid_i && qn1_xlate_ready_o), .room_o(qn1_room),
    .valid_i(done && done_client == Qn1), .last_i(done_last),
    .result_i(done_result), .epoch_i(done_epoch),
    .empty_i(1'b0), .length_i(done_length[16:0]),
    .page_i(done_page), .page_offset_i(done_offset), .log_page_i(done_log),
    .go_valid_i(1'b0), .go_ok_i(1'b0),
    .pbl_valid_o(qn1_pbl), .pbl_ready_i(qn1_pbl_ready), .pbl_addr_o(qn1_page), .pbl_data_i(page),
    .walked_o(qn1_walked), .walked_epoch_o(qn1_walked_e),
    .dropped_o(qn1_drop), .dropped_epoch_o(qn1_drop_e),
    .extent_o(qn1_ext), .extent_epoch_o(qn1_ext_e),
    .out_valid_o(qn1_extent_valid_o), .out_ready_i(qn1_extent_ready_i), .out_o(qn1_extent_o)
  );

  // --- local requests of the send queue
  logic sq_inv, sq_inv_ready, sq_inv_done, sq_inv_done_ready,
        reg_valid, reg_ready, reg_good, reg_rsp_valid;
  logic [31:0]      reg_stag;
  logic [63:0]      reg_address;
  iwarp_pkg::sq_local_done_t sq_inv_done_item;
  logic [1:0]       reg_op, reg_rsp;
  logic [JobW-1:0]  reg_job;
  logic [SlotW-1:0] reg_slot;
  logic [4:0]       reg_room;
  logic [PblW-1:0]  reg_pbl;
  tpt_register u_register (
    .clk_i, .rst_ni,
    .local_valid_i(sq_local_valid_i), .local_ready_o(sq_local_ready_o), .local_i(sq_local_i),
    .done_valid_o(sq_local_done_valid_o), .done_ready_i(sq_local_done_ready_i),
    .done_o(sq_local_done_o),
    .inv_valid_o(sq_inv), .inv_ready_i(sq_inv_ready),
    .inv_done_valid_i(sq_inv_done), .inv_done_ready_o(sq_inv_done_ready),
    .inv_done_i(sq_inv_done_item),
    .reg_valid_o(reg_valid), .reg_ready_i(reg_ready), .reg_op_o(reg_op),
    .reg_good_o(reg_good), .reg_address_o(reg_address), .reg_o(reg_job),
    .reg_rsp_valid_i(reg_rsp_valid), .reg_rsp_i(reg_rsp), .reg_slot_i(reg_slot),
    .reg_stag_i(reg_stag), .reg_room_i(reg_room), .reg_pbl_i(reg_pbl),
    .rd_req_valid_o(reg_rd_req_valid_o), .rd_req_ready_i(reg_rd_req_ready_i),
    .rd_req_o(reg_rd_req_o),
    .rd_hdr_valid_i(reg_rd_hdr_valid_i), .rd_hdr_ready_o(reg_rd_hdr_ready_o),
    .rd_hdr_i(reg_rd_hdr_i),
    .rd_valid_i(reg_rd_valid_i), .rd_ready_o(reg_rd_ready_o), .rd_i(reg_rd_i),
    .pbl_valid_o(list_we), .pbl_ready_i(list_ready), .pbl_addr_o(list_at), .pbl_data_o(list_page)
  );

  // --- changes
  tpt_update u_update (
    .clk_i, .rst_ni, .ready_o(running), .key_i(dev_cfg_i.stag_key),
    .cmd_valid_i(tpt_cmd_valid_i), .cmd_ready_o(tpt_cmd_ready_o), .cmd_i(tpt_cmd_i),
    .rsp_valid_o(tpt_cmd_rsp_valid_o), .rsp_ready_i(tpt_cmd_rsp_ready_i), .rsp_o(tpt_cmd_rsp_o),
    .inv_valid_i(invalidate_valid_i), .inv_ready_o(invalidate_ready_o), .inv_i(invalidate_i),
    .sq_valid_i(sq_inv), .sq_ready_o(sq_inv_ready), .sq_i(sq_local_i),
    .sq_done_valid_o(sq_inv_done), .sq_done_ready_i(sq_inv_done_ready),
    .sq_done_o(sq_inv_done_item),
    .reg_valid_i(reg_valid), .reg_ready_o(reg_ready), .reg_op_i(reg_op),
    .reg_good_i(reg_good), .reg_address_i(reg_address), .reg_i(reg_job),
    .reg_rsp_valid_o(reg_rsp_valid), .reg_rsp_o(reg_rsp), .reg_slot_o(reg_slot),
    .reg_stag_o(reg_stag), .reg_room_o(reg_room), .reg_pbl_o(reg_pbl),
    .inv_done_valid_o(invalidated_valid_o), .inv_done_ready_i(invalidated_ready_i),
    .inv_done_o(invalidated_o),
    .find_valid_o(find_valid), .find_ready_i(find_ready), .find_o(find),
    .found_valid_i(done && done_client == Update), .found_result_i(done_result),
    .found_page_i(done_page), .found_offset_i(done_offset),
    .found_log_i(done_log), .found_slot_i(done_slot), .found_entry_i(done_entry),
    .we_o(table_we), .waddr_o(table_waddr), .wdata_o(table_wdata), .epoch_o(epoch),
    .reading_i(reading), .look_i(look), .look_epoch_i(look_epoch),
    .ended_i({qn1_drop, qn1_walked, tx_drop, tx_walked, rx_drop, rx_walked}),
    .ended_epoch_i({qn1_drop_e, qn1_walked_e, tx_drop_e, tx_walked_e, rx_drop_e, rx_walked_e}),
    .issued_i(rx_ext || tx_ext || qn1_ext),
    .issued_epoch_i(rx_ext ? rx_ext_e : tx_ext ? tx_ext_e : qn1_ext_e),
    .retired_i({qn1_retired_valid_i, rx_dropped_valid_i, wr_retired_valid_i, rd_retired_valid_i}),
    .retired_epoch_i({qn1_retired_i.epoch, rx_dropped_i.epoch,
                      wr_retired_i.epoch, rd_retired_i.epoch})
  );
  assign ready_o            = running;
  assign rd_retired_ready_o = 1'b1;
  assign wr_retired_ready_o = 1'b1;
  assign rx_dropped_ready_o = 1'b1;
  assign qn1_retired_ready_o = 1'b1;

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(done),
    .busy_i(pick_valid || rx_pbl || tx_pbl || qn1_pbl),
    .stalled_i(|({tx_extent_valid_o, tpt_cmd_rsp_valid_o, wqe_check_rsp_valid_o,
                  rx_xlate_rsp_valid_o, rx_extent_valid_o, resp_check_rsp_valid_o,
                  qn1_extent_valid_o, invalidated_valid_o, sq_local_done_valid_o,
                  reg_rd_req_valid_o} &
                 ~{tx_extent_ready_i, tpt_cmd_rsp_ready_i, wqe_check_rsp_ready_i,
                   rx_xlate_rsp_ready_i, rx_extent_ready_i, resp_check_rsp_ready_i,
                   qn1_extent_ready_i, invalidated_ready_i, sq_local_done_ready_i,
                   reg_rd_req_ready_i})),
    .count_o
  );

  logic unused_bits;
  assign unused_bits = ^{unused_flags, pbl_wr_i.index[31:PblW], pbl_wr_i.address[11:0],
                         done_length[31:17], dev_cfg_i};

  `RNIC_ASSERT(OneExtent_A, 2'(rx_ext) + 2'(tx_ext) + 2'(qn1_ext) <= 2'd1)
  `RNIC_ASSERT(PieceFits_A, !done ||
                            (done_client != Rx && done_client != Tx && done_client != Qn1) ||
                            done_length[31:17] == '0)
  `RNIC_ASSERT(Qn1IsOneItem_A, !qn1_xlate_valid_i || qn1_xlate_i.last)
endmodule
