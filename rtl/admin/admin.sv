// admin: executes the resource manager's commands: reads them from a ring in host memory, one at a
// time, and writes a response to each.
//
//   admin_doorbell --> [ admin_ring ] --> [ admin_exec ] --> qp, cq, tpt, llp_if: *_cmd
//                        |    ^             |  |  \--> [ admin_tables ] [ admin_ranges ]
//                  admin_rd  admin_wr       |  +--> [ admin_pages ] --> pbl_wr
//                                           +-----> [ admin_bytes ] <--> raw_tx, raw_rx
//
// Invariant: at most one read is outstanding. So admin_ring, admin_pages and admin_bytes share the
// read client (OneReader_A).
// Latency, with memory and units that respond in the next cycle, from doorbell to response, in
// cycles: nop 12, create_pd 15, create_qp 30, create_mr 1.4 for each page of the region.
// Back-pressure: waits for host_if and for the unit that a command addresses; no unit waits for
// admin.
// Model: model/admin/admin.hpp. Bench: tb/admin/admin_test.cpp. Contract:
// docs/theory-of-operation.md
`include "rnic_assert.svh"

module admin (
  input  logic clk_i,
  input  logic rst_ni,
  output logic ready_o,
  output iwarp_pkg::unit_count_t count_o,
  input  iwarp_pkg::dev_cfg_t dev_cfg_i,
  output logic fatal_o,
  // from and to host_if
  input  logic admin_doorbell_valid_i,
  output logic admin_doorbell_ready_o,
  input  iwarp_pkg::admin_doorbell_t admin_doorbell_i,
  output logic admin_rd_req_valid_o,
  input  logic admin_rd_req_ready_i,
  output iwarp_pkg::admin_rd_req_t admin_rd_req_o,
  input  logic admin_rd_hdr_valid_i,
  output logic admin_rd_hdr_ready_o,
  input  iwarp_pkg::admin_rd_hdr_t admin_rd_hdr_i,
  input  logic admin_rd_valid_i,
  output logic admin_rd_ready_o,
  input  iwarp_pkg::beat_t admin_rd_i,
  output logic admin_wr_valid_o,
  input  logic admin_wr_ready_i,
  output iwarp_pkg::admin_wr_t admin_wr_o,
  // to and from the units
  output logic qp_cmd_valid_o,
  input  logic qp_cmd_ready_i,
  output iwarp_pkg::qp_cmd_t qp_cmd_o,
  input  logic qp_cmd_rsp_valid_i,
  output logic qp_cmd_rsp_ready_o,
  input  iwarp_pkg::qp_cmd_rsp_t qp_cmd_rsp_i,
  output logic cq_cmd_valid_o,
  input  logic cq_cmd_ready_i,
  output iwarp_pkg::cq_cmd_t cq_cmd_o,
  input  logic cq_cmd_rsp_valid_i,
  output logic cq_cmd_rsp_ready_o,
  input  iwarp_pkg::cq_cmd_rsp_t cq_cmd_rsp_i,
  output logic tpt_cmd_valid_o,
  input  logic tpt_cmd_ready_i,
  output iwarp_pkg::tpt_cmd_t tpt_cmd_o,
  input  logic tpt_cmd_rsp_valid_i,
  output logic tpt_cmd_rsp_ready_o,
  input  iwarp_pkg::tpt_cmd_rsp_t tpt_cmd_rsp_i,
  output logic conn_cmd_valid_o,
  input  logic conn_cmd_ready_i,
  output iwarp_pkg::conn_cmd_t conn_cmd_o,
  input  logic conn_cmd_rsp_valid_i,
  output logic conn_cmd_rsp_ready_o,
  input  iwarp_pkg::conn_cmd_rsp_t conn_cmd_rsp_i,
  output logic pbl_wr_valid_o,
  input  logic pbl_wr_ready_i,
  output iwarp_pkg::pbl_wr_t pbl_wr_o,
  output logic raw_tx_hdr_valid_o,
  input  logic raw_tx_hdr_ready_i,
  output iwarp_pkg::raw_tx_hdr_t raw_tx_hdr_o,
  output logic raw_tx_valid_o,
  input  logic raw_tx_ready_i,
  output iwarp_pkg::beat_t raw_tx_o,
  input  logic raw_rx_hdr_valid_i,
  output logic raw_rx_hdr_ready_o,
  input  iwarp_pkg::raw_rx_hdr_t raw_rx_hdr_i,
  input  logic raw_rx_valid_i,
  output logic raw_rx_ready_o,
  input  iwarp_pkg::beat_t raw_rx_i
);
  // --- ring
  logic cmd_valid, cmd_ready, rsp_valid, rsp_ready,
        ring_rd, ring_hdr_ready, ring_beat_ready, ring_wr;
  iwarp_pkg::admin_cmd_t ring_cmd, cmd;
  iwarp_pkg::cmd_rsp_t   rsp;
  iwarp_pkg::rd_req_t    ring_req, pages_req, bytes_req;
  iwarp_pkg::admin_wr_t  ring_out, bytes_out;
  admin_ring u_ring (
    .clk_i, .rst_ni, .dev_cfg_i, .fatal_o,
    .db_valid_i(admin_doorbell_valid_i), .db_index_i(admin_doorbell_i.index),
    .rd_valid_o(ring_rd), .rd_ready_i(admin_rd_req_ready_i), .rd_o(ring_req),
    .hdr_valid_i(admin_rd_hdr_valid_i), .hdr_status_i(admin_rd_hdr_i.status),
    .beat_valid_i(admin_rd_valid_i), .beat_i(admin_rd_i.data),
    .hdr_ready_o(ring_hdr_ready), .beat_ready_o(ring_beat_ready),
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_o(ring_cmd),
    .rsp_valid_i(rsp_valid), .rsp_ready_o(rsp_ready), .rsp_i(rsp),
    .wr_valid_o(ring_wr), .wr_ready_i(admin_wr_ready_i), .wr_o(ring_out)
  );
  assign admin_doorbell_ready_o = 1'b1;

  // --- execution
  logic unit_valid, unit_ready, unit_rsp_valid, unit_rsp_ready;
  logic [1:0] unit;   // 0 qp, 1 cq, 2 tpt, 3 llp_if
  iwarp_pkg::cmd_t     unit_cmd;
  iwarp_pkg::cmd_rsp_t unit_rsp;
  // kept_*: the page list that waits for its next create_mr. load, send, drop, store: orders to
  // admin_bytes.
  logic pages_start, pages_continue, kept_turned_away, kept_forget, kept, kept_same, kept_old;
  logic [15:0] kept_slot;
  logic pages_done, load, send, drop, store, bytes_done, bytes_failed;
  logic [15:0] stored;
  iwarp_pkg::admin_status_e pages_status;
  admin_exec u_exec (
    .clk_i, .rst_ni, .ready_o, .cmd_valid_i(cmd_valid), .cmd_ready_o(cmd_ready), .cmd_i(ring_cmd),
    .rsp_valid_o(rsp_valid), .rsp_ready_i(rsp_ready), .rsp_o(rsp),
    .unit_valid_o(unit_valid), .unit_ready_i(unit_ready), .unit_o(unit), .unit_cmd_o(unit_cmd),
    .unit_rsp_valid_i(unit_rsp_valid), .unit_rsp_ready_o(unit_rsp_ready), .unit_rsp_i(unit_rsp),
    .pages_start_o(pages_start), .pages_continue_o(pages_continue),
    .pages_done_i(pages_done), .pages_status_i(pages_status),
    .kept_turned_away_o(kept_turned_away), .kept_forget_o(kept_forget),
    .kept_i(kept), .kept_same_i(kept_same),
    .kept_old_i(kept_old), .kept_slot_i(kept_slot), .cmd_o(cmd),
    .load_o(load), .send_o(send), .drop_o(drop), .store_o(store),
    .bytes_done_i(bytes_done), .bytes_failed_i(bytes_failed),
    .stored_i(stored)
  );

  assign {conn_cmd_valid_o, tpt_cmd_valid_o, cq_cmd_valid_o, qp_cmd_valid_o}
         = {3'h0, unit_valid} << unit;
  assign qp_cmd_o   = unit_cmd;
  assign cq_cmd_o   = unit_cmd;
  assign tpt_cmd_o  = unit_cmd;
  assign conn_cmd_o = unit_cmd;
  assign {conn_cmd_rsp_ready_o, tpt_cmd_rsp_ready_o, cq_cmd_rsp_ready_o, qp_cmd_rsp_ready_o}
         = {3'h0, unit_rsp_ready} << unit;
  always_comb begin
    case (unit)
      2'd0: begin
        unit_ready     = qp_cmd_ready_i;
        unit_rsp_valid = qp_cmd_rsp_valid_i;
        unit_rsp       = qp_cmd_rsp_i;
      end
      2'd1: begin
        unit_ready     = cq_cmd_ready_i;
        unit_rsp_valid = cq_cmd_rsp_valid_i;
        unit_rsp       = cq_cmd_rsp_i;
      end
      2'd2: begin
        unit_ready     = tpt_cmd_ready_i;
        unit_rsp_valid = tpt_cmd_rsp_valid_i;
        unit_rsp       = tpt_cmd_rsp_i;
      end
      default: begin
        unit_ready     = conn_cmd_ready_i;
        unit_rsp_valid = conn_cmd_rsp_valid_i;
        unit_rsp       = conn_cmd_rsp_i;
      end
    endcase
  end

  // --- page lists
  logic pages_rd, pages_hdr_ready, pages_beat_ready;
  iwarp_pkg::admin_mr_args_t mr;
  assign mr = cmd.args;
  admin_pages u_pages (
    .clk_i, .rst_ni, .start_i(pages_start), .continue_i(pages_continue),
    .list_i(mr.page_list), .pages_i(mr.pages[21:0]), .pbl_base_i(mr.pbl_base),
    .log_page_i(mr.log_page[4:0]), .done_o(pages_done), .status_o(pages_status),
    .cookie_i(cmd.cookie), .slot_i(cmd.object[15:0]), .turned_away_i(kept_turned_away),
    .forget_i(kept_forget), .kept_o(kept), .kept_same_o(kept_same),
    .kept_old_o(kept_old), .kept_slot_o(kept_slot),
    .rd_valid_o(pages_rd), .rd_ready_i(admin_rd_req_ready_i), .rd_o(pages_req),
    .hdr_valid_i(admin_rd_hdr_valid_i), .hdr_status_i(admin_rd_hdr_i.status),
    .hdr_ready_o(pages_hdr_ready),
    .beat_valid_i(admin_rd_valid_i), .beat_i(admin_rd_i), .beat_ready_o(pages_beat_ready),
    .pbl_valid_o(pbl_wr_valid_o), .pbl_ready_i(pbl_wr_ready_i), .pbl_o(pbl_wr_o)
  );

  // --- streaming bytes: the arguments of conn_give, conn_send or modify_qp give address and length
  logic bytes_rd, bytes_hdr_ready, bytes_beat_ready, bytes_wr, is_modify;
  iwarp_pkg::admin_modify_args_t mod;
  iwarp_pkg::admin_conn_args_t   conn;
  assign mod       = cmd.args;
  assign conn      = cmd.args;
  assign is_modify = cmd.opcode == iwarp_pkg::CmdModifyQp;
  admin_bytes u_bytes (
    .clk_i, .rst_ni, .load_i(load), .send_i(send), .drop_i(drop), .store_i(store),
    .address_i(is_modify ? mod.stream_address : conn.address),
    .length_i(is_modify ? mod.stream_length : conn.length),
    .connection_i(is_modify ? mod.connection : cmd.object[15:0]),
    .done_o(bytes_done), .failed_o(bytes_failed),
    .stored_o(stored),
    .rd_valid_o(bytes_rd), .rd_ready_i(admin_rd_req_ready_i), .rd_o(bytes_req),
    .hdr_valid_i(admin_rd_hdr_valid_i), .hdr_status_i(admin_rd_hdr_i.status),
    .hdr_ready_o(bytes_hdr_ready),
    .beat_valid_i(admin_rd_valid_i), .beat_i(admin_rd_i), .beat_ready_o(bytes_beat_ready),
    .raw_hdr_valid_o(raw_tx_hdr_valid_o), .raw_hdr_ready_i(raw_tx_hdr_ready_i),
    .raw_hdr_o(raw_tx_hdr_o),
    .raw_valid_o(raw_tx_valid_o), .raw_ready_i(raw_tx_ready_i), .raw_o(raw_tx_o),
    .in_hdr_valid_i(raw_rx_hdr_valid_i), .in_length_i(raw_rx_hdr_i.length),
    .in_ended_i(raw_rx_hdr_i.ended), .in_hdr_ready_o(raw_rx_hdr_ready_o),
    .in_valid_i(raw_rx_valid_i), .in_ready_o(raw_rx_ready_o), .in_i(raw_rx_i),
    .wr_valid_o(bytes_wr), .wr_ready_i(admin_wr_ready_i), .wr_o(bytes_out)
  );

  assign admin_rd_req_valid_o = ring_rd || pages_rd || bytes_rd;
  assign admin_rd_req_o       = pages_rd ? pages_req : bytes_rd ? bytes_req : ring_req;
  assign admin_rd_hdr_ready_o = ring_hdr_ready || pages_hdr_ready || bytes_hdr_ready;
  assign admin_rd_ready_o     = ring_beat_ready || pages_beat_ready || bytes_beat_ready;
  assign admin_wr_valid_o     = ring_wr || bytes_wr;
  assign admin_wr_o           = bytes_wr ? bytes_out : ring_out;

  // --- counters
  unit_counter u_count (
    .clk_i, .rst_ni, .items_i(rsp_valid && rsp_ready),
    .busy_i(!cmd_ready),
    .stalled_i(|({admin_rd_req_valid_o, admin_wr_valid_o,
                  qp_cmd_valid_o, cq_cmd_valid_o, tpt_cmd_valid_o, conn_cmd_valid_o,
                  pbl_wr_valid_o, raw_tx_hdr_valid_o, raw_tx_valid_o} &
                 ~{admin_rd_req_ready_i, admin_wr_ready_i,
                   qp_cmd_ready_i, cq_cmd_ready_i, tpt_cmd_ready_i, conn_cmd_ready_i,
                   pbl_wr_ready_i, raw_tx_hdr_ready_i, raw_tx_ready_i})),
    .count_o
  );

  logic unused_bits;
  assign unused_bits = ^{cmd, mr, mod, conn, raw_rx_hdr_i, admin_rd_hdr_i.length};

  `RNIC_ASSERT(OneReader_A, !(ring_rd && (pages_rd || bytes_rd)) && !(pages_rd && bytes_rd))
  `RNIC_STREAM_STABLE(WrStable_A, admin_wr_valid_o, admin_wr_ready_i, admin_wr_o)
  `RNIC_STREAM_STABLE(RdStable_A, admin_rd_req_valid_o, admin_rd_req_ready_i, admin_rd_req_o)
endmodule
