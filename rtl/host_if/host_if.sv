// host_if: the PCIe interface: registers, doorbells, DMA reads and writes, MSI-X.
//
//   mmio_req --> [ doorbell ] --> qp_doorbell, cq_doorbell
//                     +--> [ bar ] --> dev_cfg, admin_doorbell, eq_doorbell; table of [ msix ]
//                             +--> [ order ] --> mmio_rsp, after the posted writes accepted before
//   sq_rd, rq_rd, admin_rd, qn1_rd, reg_rd, payload with tx_extent
//                      --> [ rd: gather x 6, reorder, release x 6 ] <--> dma_rd_req, dma_rd_rsp
//   place, admin_wr, word_wr --> [ wr: arb, cut, realign ] --> dma_wr
//   cq_wr --> [ msix ] --------------^           +--> place_done, wr_retired, word_done
//
// Invariants:
//  1. host_if_tags checks every completion against its read. A read without its completions fails
//     after a time-out.
//  2. DMA is enabled while both bus master and dev_ctrl.enable are set. While DMA is disabled,
//     reads return `unsupported`, and writes are dropped and reported as done.
// Latency, from a valid input to a valid output: a doorbell 2 cycles, a register read 5; request to
// dma_rd_req 4; last beat of dma_rd_rsp to a client's header 7; extent to dma_wr 6. Throughput: a
// doorbell, a read request, 64 bytes in and 64 bytes out per cycle.
// Back-pressure:
//  - mmio_req waits for qp and cq to accept a doorbell. With more than 16 outstanding register
//    reads it also waits for dma_wr. It waits for no other DMA.
//  - Reads wait for writes only by watermark.
//  - Writes wait only for PCIe and for their own beats.
//  - dma_rd_rsp is always ready.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  output logic                       ready_o,
  output iwarp_pkg::unit_count_t     count_o,
  // from and to PCIe
  input  iwarp_pkg::pcie_cfg_t       pcie_cfg_i,
  input  logic                       mmio_req_valid_i,
  output logic                       mmio_req_ready_o,
  input  iwarp_pkg::mmio_req_t       mmio_req_i,
  output logic                       mmio_rsp_valid_o,
  input  logic                       mmio_rsp_ready_i,
  output iwarp_pkg::mmio_rsp_t       mmio_rsp_o,
  output logic                       dma_rd_req_valid_o,
  input  logic                       dma_rd_req_ready_i,
  output iwarp_pkg::dma_rd_req_t     dma_rd_req_o,
  input  logic                       dma_rd_rsp_valid_i,
  output logic                       dma_rd_rsp_ready_o,
  input  iwarp_pkg::dma_rd_rsp_t     dma_rd_rsp_i,
  output logic                       dma_wr_valid_o,
  input  logic                       dma_wr_ready_i,
  output iwarp_pkg::dma_wr_t         dma_wr_o,
  // to qp, cq, admin: doorbells
  output logic                       qp_doorbell_valid_o,
  input  logic                       qp_doorbell_ready_i,
  output iwarp_pkg::qp_doorbell_t    qp_doorbell_o,
  output logic                       cq_doorbell_valid_o,
  input  logic                       cq_doorbell_ready_i,
  output iwarp_pkg::cq_doorbell_t    cq_doorbell_o,
  output logic                       eq_doorbell_valid_o,
  input  logic                       eq_doorbell_ready_i,
  output iwarp_pkg::eq_doorbell_t    eq_doorbell_o,
  output logic                       admin_doorbell_valid_o,
  input  logic                       admin_doorbell_ready_i,
  output iwarp_pkg::admin_doorbell_t admin_doorbell_o,
  // from qp: a QP is destroyed
  input  logic                       qp_purge_valid_i,
  output logic                       qp_purge_ready_o,
  input  iwarp_pkg::qp_purge_t       qp_purge_i,
  // from and to qp: WQE reads
  input  logic                       sq_rd_req_valid_i,
  output logic                       sq_rd_req_ready_o,
  input  iwarp_pkg::sq_rd_req_t      sq_rd_req_i,
  output logic                       sq_rd_hdr_valid_o,
  input  logic                       sq_rd_hdr_ready_i,
  output iwarp_pkg::sq_rd_hdr_t      sq_rd_hdr_o,
  output logic                       sq_rd_valid_o,
  input  logic                       sq_rd_ready_i,
  output iwarp_pkg::beat_t           sq_rd_o,
  input  logic                       rq_rd_req_valid_i,
  output logic                       rq_rd_req_ready_o,
  input  iwarp_pkg::rq_rd_req_t      rq_rd_req_i,
  output logic                       rq_rd_hdr_valid_o,
  input  logic                       rq_rd_hdr_ready_i,
  output iwarp_pkg::rq_rd_hdr_t      rq_rd_hdr_o,
  output logic                       rq_rd_valid_o,
  input  logic                       rq_rd_ready_i,
  output iwarp_pkg::beat_t           rq_rd_o,
  // from and to admin
  input  logic                       admin_rd_req_valid_i,
  output logic                       admin_rd_req_ready_o,
  input  iwarp_pkg::admin_rd_req_t   admin_rd_req_i,
  output logic                       admin_rd_hdr_valid_o,
  input  logic                       admin_rd_hdr_ready_i,
  output iwarp_pkg::admin_rd_hdr_t   admin_rd_hdr_o,
  output logic                       admin_rd_valid_o,
  input  logic                       admin_rd_ready_i,
  output iwarp_pkg::beat_t           admin_rd_o,
  input  logic                       admin_wr_valid_i,
  output logic                       admin_wr_ready_o,
  input  iwarp_pkg::admin_wr_t       admin_wr_i,
  // from and to ddp and tpt: payload
  input  logic                       payload_req_valid_i,
  output logic                       payload_req_ready_o,
  input  iwarp_pkg::payload_req_t    payload_req_i,
  input  logic                       tx_extent_valid_i,
  output logic                       tx_extent_ready_o,
  input  iwarp_pkg::extent_t         tx_extent_i,
  output logic                       payload_hdr_valid_o,
  input  logic                       payload_hdr_ready_i,
  output iwarp_pkg::payload_hdr_t    payload_hdr_o,
  output logic                       payload_valid_o,
  input  logic                       payload_ready_i,
  output iwarp_pkg::beat_t           payload_o,
  output logic                       rd_retired_valid_o,
  input  logic                       rd_retired_ready_i,
  output iwarp_pkg::rd_retired_t     rd_retired_o,
  // from and to ddp and tpt: placement
  input  logic                       place_hdr_valid_i,
  output logic                       place_hdr_ready_o,
  input  iwarp_pkg::place_hdr_t      place_hdr_i,
  input  logic                       place_extent_valid_i,
  output logic                       place_extent_ready_o,
  input  iwarp_pkg::extent_t         place_extent_i,
  input  logic                       place_valid_i,
  output logic                       place_ready_o,
  input  iwarp_pkg::beat_t           place_i,
  output logic                       place_done_valid_o,
  input  logic                       place_done_ready_i,
  output iwarp_pkg::place_done_t     place_done_o,
  output logic                       wr_retired_valid_o,
  input  logic                       wr_retired_ready_i,
  output iwarp_pkg::wr_retired_t     wr_retired_o,
  // to rdmap: packets placed since reset
  output logic [63:0]                placed_o,
  // from and to atomic
  input  logic                       qn1_rd_req_valid_i,
  output logic                       qn1_rd_req_ready_o,
  input  iwarp_pkg::qn1_rd_req_t     qn1_rd_req_i,
  output logic                       qn1_rd_hdr_valid_o,
  input  logic                       qn1_rd_hdr_ready_i,
  output iwarp_pkg::qn1_rd_hdr_t     qn1_rd_hdr_o,
  output logic                       qn1_rd_valid_o,
  input  logic                       qn1_rd_ready_i,
  output iwarp_pkg::beat_t           qn1_rd_o,
  input  logic                       word_wr_valid_i,
  output logic                       word_wr_ready_o,
  input  iwarp_pkg::word_wr_t        word_wr_i,
  output logic                       word_done_valid_o,
  input  logic                       word_done_ready_i,
  output iwarp_pkg::word_done_t      word_done_o,
  // from and to tpt: page lists of fast registrations
  input  logic                       reg_rd_req_valid_i,
  output logic                       reg_rd_req_ready_o,
  input  iwarp_pkg::reg_rd_req_t     reg_rd_req_i,
  output logic                       reg_rd_hdr_valid_o,
  input  logic                       reg_rd_hdr_ready_i,
  output iwarp_pkg::reg_rd_hdr_t     reg_rd_hdr_o,
  output logic                       reg_rd_valid_o,
  input  logic                       reg_rd_ready_i,
  output iwarp_pkg::beat_t           reg_rd_o,
  // to cq: a doorbell was accepted; it follows on cq_doorbell
  output logic                       cq_given_o,
  // from cq
  input  logic                       cq_wr_valid_i,
  output logic                       cq_wr_ready_o,
  input  iwarp_pkg::cq_wr_t          cq_wr_i,
  // settings, status, counters of all units
  output iwarp_pkg::dev_cfg_t        dev_cfg_o,
  input  logic                       admin_fatal_i,
  input  logic                       ready_all_i,
  input  logic                       qp_bad_doorbell_i,
  input  logic                       cq_bad_doorbell_i,
  input  iwarp_pkg::unit_count_t     count_host_if_i,
  input  iwarp_pkg::unit_count_t     count_admin_i,
  input  iwarp_pkg::unit_count_t     count_qp_i,
  input  iwarp_pkg::unit_count_t     count_tpt_i,
  input  iwarp_pkg::unit_count_t     count_rdmap_i,
  input  iwarp_pkg::unit_count_t     count_ddp_i,
  input  iwarp_pkg::unit_count_t     count_mpa_i,
  input  iwarp_pkg::unit_count_t     count_cq_i,
  input  iwarp_pkg::unit_count_t     count_llp_if_i,
  input  iwarp_pkg::unit_count_t     count_atomic_i
);
  // Ready once the tables are cleared; MMIO is accepted from then on.
  logic msix_ready, ready_q, dma_on;
  logic unused_cfg;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ready_q <= 1'b0;
    else         ready_q <= msix_ready;
  end
  assign ready_o    = ready_q;
  assign dma_on     = pcie_cfg_i.bus_master && dev_cfg_o.enable;
  assign unused_cfg = pcie_cfg_i.rcb128;   // completions may be cut anywhere

  // MMIO. answer: the data of a register read. row: row of the MSI-X table. accepted, left: writes
  // that entered host_if or were sent in this cycle, one bit for each kind (host_if_order).
  // pending: vectors with a pending message. dropped: host_if drops a doorbell. dma_error: a read
  // has failed; cpl_bad: a read timed out, is malformed, or a completion was unexpected
  // (host_if_tags).
  logic                 mmio_valid, mmio_ready, mmio_room, bar_valid, bar_ready,
                        answer_valid, answer_ready, dropped;
  iwarp_pkg::mmio_req_t mmio;
  logic [63:0]          answer, pending;
  logic [5:0]           row;
  logic [3:0]           row_we;
  logic [127:0]         row_wdata, row_rdata;
  logic                 dma_error;
  logic [2:0]           cpl_bad;
  logic [31:0]          cpl_timeout;
  logic [4:0]           accepted;
  logic [3:0]           left;

  // held_q: number of accepted requests that u_doorbell has not accepted yet. While hold is set,
  // host_if accepts no request.
  logic       hold, accept, take;
  logic [1:0] held_q;
  assign mmio_req_ready_o = mmio_room && ready_q && !hold;
  assign accept = mmio_req_valid_i && mmio_req_ready_o;
  assign take   = mmio_valid && mmio_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= '0;
    else         held_q <= held_q + 2'(accept) - 2'(take);
  end
  stream_reg #(.Width(iwarp_pkg::MmioReqWidth)) u_mmio (
    .clk_i, .rst_ni,
    .valid_i(mmio_req_valid_i && ready_q && !hold), .ready_o(mmio_room), .data_i(mmio_req_i),
    .valid_o(mmio_valid), .ready_i(mmio_ready), .data_o(mmio)
  );

  host_if_doorbell u_doorbell (
    .clk_i, .rst_ni, .mmio_valid_i(mmio_valid), .mmio_ready_o(mmio_ready), .mmio_i(mmio),
    .idle_i(held_q == '0), .hold_o(hold), .qp_purge_valid_i, .qp_purge_ready_o, .qp_purge_i,
    .bar_valid_o(bar_valid), .bar_ready_i(bar_ready),
    .qp_doorbell_valid_o, .qp_doorbell_ready_i, .qp_doorbell_o,
    .cq_doorbell_valid_o, .cq_doorbell_ready_i, .cq_doorbell_o, .cq_given_o, .dropped_o(dropped)
  );

  host_if_bar u_bar (
    .clk_i, .rst_ni, .req_valid_i(bar_valid), .req_ready_o(bar_ready), .req_i(mmio),
    .rsp_valid_o(answer_valid), .rsp_ready_i(answer_ready), .rsp_data_o(answer),
    .dev_cfg_o, .admin_doorbell_valid_o, .admin_doorbell_ready_i, .admin_doorbell_o,
    .eq_doorbell_valid_o, .eq_doorbell_ready_i, .eq_doorbell_o,
    .ready_all_i, .fatal_i(admin_fatal_i),
    .dropped_i({cq_bad_doorbell_i, qp_bad_doorbell_i, dropped}),
    .dma_error_i(dma_error), .cpl_bad_i(cpl_bad), .cpl_timeout_o(cpl_timeout),
    .counts_i({count_atomic_i, count_llp_if_i, count_cq_i, count_mpa_i, count_ddp_i, count_rdmap_i,
               count_tpt_i, count_qp_i, count_admin_i, count_host_if_i}),
    .row_o(row), .row_we_o(row_we), .row_wdata_o(row_wdata), .row_rdata_i(row_rdata),
    .pending_i(pending)
  );

  // A TLP counts as accepted from the first cycle in which it is valid on dma_wr.
  logic tlp_left, tlp_known_q;
  assign tlp_left = dma_wr_valid_o && dma_wr_ready_i && dma_wr_o.last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)             tlp_known_q <= 1'b0;
    else if (dma_wr_valid_o) tlp_known_q <= !tlp_left;
  end
  assign accepted = {dma_wr_valid_o && !tlp_known_q, word_wr_valid_i && word_wr_ready_o,
                     admin_wr_valid_i && admin_wr_ready_o, cq_wr_valid_i && cq_wr_ready_o,
                     place_valid_i && place_ready_o && place_i.last};
  host_if_order u_order (
    .clk_i, .rst_ni, .accepted_i(accepted), .left_i({tlp_left, left}),
    .valid_i(answer_valid), .ready_o(answer_ready), .data_i(answer),
    .mmio_rsp_valid_o, .mmio_rsp_ready_i, .mmio_rsp_o
  );

  // Writes. small: writes of cq and MSI-X messages; small_counts: the item came on cq_wr, else it
  // is the message of a pending vector. msix_*, of the message that is the next to be sent: vector,
  // and address and data of its row; drop: it is masked; left: it is sent or dropped in this cycle;
  // own: it is the message of a pending vector.
  logic              small_valid, small_ready, small_counts, msix_drop, msix_left, msix_own;
  logic [7:0]        msix_vector;
  logic [63:0]       msix_address;
  logic [31:0]       msix_data;
  iwarp_pkg::cq_wr_t posted;
  logic [2:0]        wr_client;

  host_if_msix u_msix (
    .clk_i, .rst_ni, .ready_o(msix_ready),
    .enable_i(pcie_cfg_i.msix_enable), .mask_i(pcie_cfg_i.msix_mask),
    .row_i(row), .we_i(row_we), .wdata_i(row_wdata), .rdata_o(row_rdata), .pending_o(pending),
    .cq_wr_valid_i, .cq_wr_ready_o, .cq_wr_i,
    .small_valid_o(small_valid), .small_ready_i(small_ready), .small_o(posted),
    .small_counts_o(small_counts),
    .leave_vector_i(msix_vector), .leave_address_o(msix_address), .leave_data_o(msix_data),
    .leave_drop_o(msix_drop),
    .left_i(msix_left), .left_own_i(msix_own)
  );

  host_if_wr u_wr (
    .clk_i, .rst_ni, .dma_on_i(dma_on), .mps_i(pcie_cfg_i.mps),
    .place_hdr_valid_i, .place_hdr_ready_o, .place_hdr_i,
    .place_extent_valid_i, .place_extent_ready_o, .place_extent_i,
    .place_valid_i, .place_ready_o, .place_i,
    .place_done_valid_o, .place_done_ready_i, .place_done_o,
    .small_valid_i(small_valid), .small_ready_o(small_ready), .small_i(posted),
    .small_counts_i(small_counts),
    .msix_vector_o(msix_vector), .msix_address_i(msix_address), .msix_data_i(msix_data),
    .msix_drop_i(msix_drop),
    .msix_left_o(msix_left), .msix_own_o(msix_own),
    .cq_wr_taken_i(cq_wr_valid_i && cq_wr_ready_o),
    .admin_wr_valid_i, .admin_wr_ready_o, .admin_wr_i,
    .word_wr_valid_i, .word_wr_ready_o, .word_wr_i,
    .word_done_valid_o, .word_done_ready_i, .word_done_o,
    .wr_retired_valid_o, .wr_retired_ready_i, .wr_retired_o,
    .dma_wr_valid_o, .dma_wr_ready_i, .dma_wr_o, .dma_wr_client_o(wr_client),
    .placed_o, .left_o(left)
  );

  // Reads. A bit or field for each client of host_if_rd, client 0 (sq) lowest. The header of a
  // payload packet has more fields; of the other clients status and length are used.
  logic [5:0] hdr_valid, beat_valid;
  logic [6*iwarp_pkg::PayloadHdrWidth-1:0] hdrs;
  logic [6*iwarp_pkg::BeatWidth-1:0]       beats;
  iwarp_pkg::payload_hdr_t sq_hdr, rq_hdr, admin_hdr, qn1_hdr, reg_hdr;
  logic [2:0] rd_client;
  logic       unused_hdrs;

  host_if_rd u_rd (
    .clk_i, .rst_ni, .dma_on_i(dma_on), .mrrs_i(pcie_cfg_i.mrrs), .cpl_timeout_i(cpl_timeout),
    .placed_i(placed_o),
    .sq_rd_req_valid_i, .sq_rd_req_ready_o, .sq_rd_req_i,
    .rq_rd_req_valid_i, .rq_rd_req_ready_o, .rq_rd_req_i,
    .admin_rd_req_valid_i, .admin_rd_req_ready_o, .admin_rd_req_i,
    .qn1_rd_req_valid_i, .qn1_rd_req_ready_o, .qn1_rd_req_i,
    .reg_rd_req_valid_i, .reg_rd_req_ready_o, .reg_rd_req_i,
    .payload_req_valid_i, .payload_req_ready_o, .payload_req_i,
    .tx_extent_valid_i, .tx_extent_ready_o, .tx_extent_i,
    .hdr_valid_o(hdr_valid),
    .hdr_ready_i({reg_rd_hdr_ready_i, qn1_rd_hdr_ready_i, payload_hdr_ready_i,
                  admin_rd_hdr_ready_i, rq_rd_hdr_ready_i, sq_rd_hdr_ready_i}),
    .hdr_o(hdrs), .beat_valid_o(beat_valid),
    .beat_ready_i({reg_rd_ready_i, qn1_rd_ready_i, payload_ready_i,
                   admin_rd_ready_i, rq_rd_ready_i, sq_rd_ready_i}),
    .beat_o(beats),
    .rd_retired_valid_o, .rd_retired_ready_i, .rd_retired_o,
    .dma_rd_req_valid_o, .dma_rd_req_ready_i, .dma_rd_req_o, .dma_rd_client_o(rd_client),
    .dma_rd_rsp_valid_i, .dma_rd_rsp_i, .dma_error_o(dma_error), .cpl_bad_o(cpl_bad)
  );
  assign dma_rd_rsp_ready_o = 1'b1;

  assign {reg_rd_hdr_valid_o, qn1_rd_hdr_valid_o, payload_hdr_valid_o,
          admin_rd_hdr_valid_o, rq_rd_hdr_valid_o, sq_rd_hdr_valid_o} = hdr_valid;
  assign {reg_rd_valid_o, qn1_rd_valid_o, payload_valid_o,
          admin_rd_valid_o, rq_rd_valid_o, sq_rd_valid_o} = beat_valid;
  assign {reg_hdr, qn1_hdr, payload_hdr_o, admin_hdr, rq_hdr, sq_hdr} = hdrs;
  assign {reg_rd_o, qn1_rd_o, payload_o, admin_rd_o, rq_rd_o, sq_rd_o} = beats;
  assign sq_rd_hdr_o    = {sq_hdr.status, sq_hdr.length[12:0]};
  assign rq_rd_hdr_o    = {rq_hdr.status, rq_hdr.length[12:0]};
  assign admin_rd_hdr_o = {admin_hdr.status, admin_hdr.length[12:0]};
  assign qn1_rd_hdr_o   = {qn1_hdr.status, qn1_hdr.length[12:0]};
  assign reg_rd_hdr_o   = {reg_hdr.status, reg_hdr.length[12:0]};
  assign unused_hdrs    = ^{sq_hdr, rq_hdr, admin_hdr, qn1_hdr, reg_hdr};

  // Counters: items are accepted MMIO requests and sent DMA requests.
  logic rd_moved, wr_moved, req_moved;

  assign rd_moved  = dma_rd_req_valid_o && dma_rd_req_ready_i;
  assign wr_moved  = dma_wr_valid_o && dma_wr_ready_i;
  assign req_moved = accept;

  unit_counter #(.ItemsW(2)) u_count (
    .clk_i, .rst_ni, .items_i(2'(rd_moved) + 2'(wr_moved && dma_wr_o.last) + 2'(req_moved)),
    .busy_i(rd_moved || wr_moved || req_moved || dma_rd_rsp_valid_i ||
            |(beat_valid & {reg_rd_ready_i, qn1_rd_ready_i, payload_ready_i,
                            admin_rd_ready_i, rq_rd_ready_i, sq_rd_ready_i})),
    .stalled_i(|({mmio_rsp_valid_o, dma_rd_req_valid_o, dma_wr_valid_o,
                  qp_doorbell_valid_o, cq_doorbell_valid_o,
                  eq_doorbell_valid_o, admin_doorbell_valid_o,
                  sq_rd_hdr_valid_o, sq_rd_valid_o, rq_rd_hdr_valid_o, rq_rd_valid_o,
                  admin_rd_hdr_valid_o, admin_rd_valid_o, payload_hdr_valid_o, payload_valid_o,
                  rd_retired_valid_o, place_done_valid_o, wr_retired_valid_o,
                  qn1_rd_hdr_valid_o, qn1_rd_valid_o,
                  reg_rd_hdr_valid_o, reg_rd_valid_o, word_done_valid_o} &
                 ~{mmio_rsp_ready_i, dma_rd_req_ready_i, dma_wr_ready_i,
                   qp_doorbell_ready_i, cq_doorbell_ready_i,
                   eq_doorbell_ready_i, admin_doorbell_ready_i,
                   sq_rd_hdr_ready_i, sq_rd_ready_i, rq_rd_hdr_ready_i, rq_rd_ready_i,
                   admin_rd_hdr_ready_i, admin_rd_ready_i, payload_hdr_ready_i, payload_ready_i,
                   rd_retired_ready_i, place_done_ready_i, wr_retired_ready_i,
                   qn1_rd_hdr_ready_i, qn1_rd_ready_i,
                   reg_rd_hdr_ready_i, reg_rd_ready_i, word_done_ready_i})),
    .count_o
  );

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::dma_rd_req_commit_t tap_dma_rd_req /*verilator public_flat_rd*/;
  iwarp_pkg::dma_wr_commit_t     tap_dma_wr /*verilator public_flat_rd*/;
  assign tap_dma_rd_req = {dma_rd_req_valid_o && dma_rd_req_ready_i, rd_client};
  assign tap_dma_wr     = {dma_wr_valid_o && dma_wr_ready_i, wr_client};

  `RNIC_ASSERT(OneReadPerTag_A, !dma_rd_req_valid_o || 32'(dma_rd_req_o.tag) < rnic_pkg::RdTags)
endmodule
