// Printed by specgen from docs/spec; do not edit.
//
// rnic: the whole device. It instantiates the units and connects them; its only logic is the AND of
// the units' `ready`.
//
// The picture and each unit's contract: docs/theory-of-operation.md. Streams and wires:
// docs/gen/streams.md. The same units and edges in C++: model/top/rnic.hpp. FIFOs are inside the
// units, at the consumer's side.

module rnic (
  input  logic clk_i,
  input  logic rst_ni,
  // from config_space
  input  iwarp_pkg::pcie_cfg_t pcie_cfg_i,
  // from pcie
  input  logic mmio_req_valid_i,
  output logic mmio_req_ready_o,
  input  iwarp_pkg::mmio_req_t mmio_req_i,
  // to pcie
  output logic mmio_rsp_valid_o,
  input  logic mmio_rsp_ready_i,
  output iwarp_pkg::mmio_rsp_t mmio_rsp_o,
  output logic dma_rd_req_valid_o,
  input  logic dma_rd_req_ready_i,
  output iwarp_pkg::dma_rd_req_t dma_rd_req_o,
  // from pcie
  input  logic dma_rd_rsp_valid_i,
  output logic dma_rd_rsp_ready_o,
  input  iwarp_pkg::dma_rd_rsp_t dma_rd_rsp_i,
  // to pcie
  output logic dma_wr_valid_o,
  input  logic dma_wr_ready_i,
  output iwarp_pkg::dma_wr_t dma_wr_o,
  // from llp
  input  logic llp_rx_hdr_valid_i,
  output logic llp_rx_hdr_ready_o,
  input  iwarp_pkg::llp_rx_hdr_t llp_rx_hdr_i,
  input  logic llp_rx_valid_i,
  output logic llp_rx_ready_o,
  input  iwarp_pkg::beat_t llp_rx_i,
  // to llp
  output logic llp_tx_hdr_valid_o,
  input  logic llp_tx_hdr_ready_i,
  output iwarp_pkg::llp_tx_hdr_t llp_tx_hdr_o,
  output logic llp_tx_valid_o,
  input  logic llp_tx_ready_i,
  output iwarp_pkg::beat_t llp_tx_o,
  output logic llp_ctl_req_valid_o,
  input  logic llp_ctl_req_ready_i,
  output iwarp_pkg::llp_ctl_req_t llp_ctl_req_o,
  // from llp
  input  logic llp_ctl_evt_valid_i,
  output logic llp_ctl_evt_ready_o,
  input  iwarp_pkg::llp_ctl_evt_t llp_ctl_evt_i,
  input  logic llp_credit_valid_i,
  output logic llp_credit_ready_o,
  input  iwarp_pkg::llp_credit_t llp_credit_i
);
  // host_if -> qp
  logic qp_doorbell_valid, qp_doorbell_ready;
  iwarp_pkg::qp_doorbell_t qp_doorbell;
  // host_if -> cq
  logic cq_doorbell_valid, cq_doorbell_ready;
  iwarp_pkg::cq_doorbell_t cq_doorbell;
  // host_if -> cq
  logic eq_doorbell_valid, eq_doorbell_ready;
  iwarp_pkg::eq_doorbell_t eq_doorbell;
  // host_if -> admin
  logic admin_doorbell_valid, admin_doorbell_ready;
  iwarp_pkg::admin_doorbell_t admin_doorbell;
  // qp -> host_if
  logic sq_rd_req_valid, sq_rd_req_ready;
  iwarp_pkg::sq_rd_req_t sq_rd_req;
  // host_if -> qp
  logic sq_rd_hdr_valid, sq_rd_hdr_ready;
  iwarp_pkg::sq_rd_hdr_t sq_rd_hdr;
  // host_if -> qp
  logic sq_rd_valid, sq_rd_ready;
  iwarp_pkg::beat_t sq_rd;
  // qp -> host_if
  logic rq_rd_req_valid, rq_rd_req_ready;
  iwarp_pkg::rq_rd_req_t rq_rd_req;
  // host_if -> qp
  logic rq_rd_hdr_valid, rq_rd_hdr_ready;
  iwarp_pkg::rq_rd_hdr_t rq_rd_hdr;
  // host_if -> qp
  logic rq_rd_valid, rq_rd_ready;
  iwarp_pkg::beat_t rq_rd;
  // admin -> host_if
  logic admin_rd_req_valid, admin_rd_req_ready;
  iwarp_pkg::admin_rd_req_t admin_rd_req;
  // host_if -> admin
  logic admin_rd_hdr_valid, admin_rd_hdr_ready;
  iwarp_pkg::admin_rd_hdr_t admin_rd_hdr;
  // host_if -> admin
  logic admin_rd_valid, admin_rd_ready;
  iwarp_pkg::beat_t admin_rd;
  // ddp -> host_if
  logic payload_req_valid, payload_req_ready;
  iwarp_pkg::payload_req_t payload_req;
  // tpt -> host_if
  logic tx_extent_valid, tx_extent_ready;
  iwarp_pkg::tx_extent_t tx_extent;
  // host_if -> ddp
  logic payload_hdr_valid, payload_hdr_ready;
  iwarp_pkg::payload_hdr_t payload_hdr;
  // host_if -> ddp
  logic payload_valid, payload_ready;
  iwarp_pkg::beat_t payload;
  // host_if -> tpt
  logic rd_retired_valid, rd_retired_ready;
  iwarp_pkg::rd_retired_t rd_retired;
  // ddp -> host_if
  logic place_hdr_valid, place_hdr_ready;
  iwarp_pkg::place_hdr_t place_hdr;
  // ddp -> host_if
  logic place_extent_valid, place_extent_ready;
  iwarp_pkg::place_extent_t place_extent;
  // ddp -> host_if
  logic place_valid, place_ready;
  iwarp_pkg::beat_t place;
  // host_if -> ddp
  logic place_done_valid, place_done_ready;
  iwarp_pkg::place_done_t place_done;
  // host_if -> tpt
  logic wr_retired_valid, wr_retired_ready;
  iwarp_pkg::wr_retired_t wr_retired;
  // cq -> host_if
  logic cq_wr_valid, cq_wr_ready;
  iwarp_pkg::cq_wr_t cq_wr;
  // admin -> host_if
  logic admin_wr_valid, admin_wr_ready;
  iwarp_pkg::admin_wr_t admin_wr;
  // admin -> qp
  logic qp_cmd_valid, qp_cmd_ready;
  iwarp_pkg::qp_cmd_t qp_cmd;
  // qp -> admin
  logic qp_cmd_rsp_valid, qp_cmd_rsp_ready;
  iwarp_pkg::qp_cmd_rsp_t qp_cmd_rsp;
  // admin -> cq
  logic cq_cmd_valid, cq_cmd_ready;
  iwarp_pkg::cq_cmd_t cq_cmd;
  // cq -> admin
  logic cq_cmd_rsp_valid, cq_cmd_rsp_ready;
  iwarp_pkg::cq_cmd_rsp_t cq_cmd_rsp;
  // admin -> tpt
  logic tpt_cmd_valid, tpt_cmd_ready;
  iwarp_pkg::tpt_cmd_t tpt_cmd;
  // tpt -> admin
  logic tpt_cmd_rsp_valid, tpt_cmd_rsp_ready;
  iwarp_pkg::tpt_cmd_rsp_t tpt_cmd_rsp;
  // admin -> llp_if
  logic conn_cmd_valid, conn_cmd_ready;
  iwarp_pkg::conn_cmd_t conn_cmd;
  // llp_if -> admin
  logic conn_cmd_rsp_valid, conn_cmd_rsp_ready;
  iwarp_pkg::conn_cmd_rsp_t conn_cmd_rsp;
  // admin -> tpt
  logic pbl_wr_valid, pbl_wr_ready;
  iwarp_pkg::pbl_wr_t pbl_wr;
  // admin -> llp_if
  logic raw_tx_hdr_valid, raw_tx_hdr_ready;
  iwarp_pkg::raw_tx_hdr_t raw_tx_hdr;
  // admin -> llp_if
  logic raw_tx_valid, raw_tx_ready;
  iwarp_pkg::beat_t raw_tx;
  // llp_if -> admin
  logic raw_rx_hdr_valid, raw_rx_hdr_ready;
  iwarp_pkg::raw_rx_hdr_t raw_rx_hdr;
  // llp_if -> admin
  logic raw_rx_valid, raw_rx_ready;
  iwarp_pkg::beat_t raw_rx;
  // qp -> llp_if
  logic qp_ctl_llp_valid, qp_ctl_llp_ready;
  iwarp_pkg::qp_ctl_llp_t qp_ctl_llp;
  // qp -> mpa
  logic qp_ctl_mpa_valid, qp_ctl_mpa_ready;
  iwarp_pkg::qp_ctl_mpa_t qp_ctl_mpa;
  // qp -> ddp
  logic qp_ctl_ddp_valid, qp_ctl_ddp_ready;
  iwarp_pkg::qp_ctl_ddp_t qp_ctl_ddp;
  // qp -> rdmap
  logic qp_ctl_rdmap_valid, qp_ctl_rdmap_ready;
  iwarp_pkg::qp_ctl_rdmap_t qp_ctl_rdmap;
  // llp_if -> qp
  logic qp_ack_llp_valid, qp_ack_llp_ready;
  iwarp_pkg::qp_ack_llp_t qp_ack_llp;
  // mpa -> qp
  logic qp_ack_mpa_valid, qp_ack_mpa_ready;
  iwarp_pkg::qp_ack_mpa_t qp_ack_mpa;
  // ddp -> qp
  logic qp_ack_ddp_valid, qp_ack_ddp_ready;
  iwarp_pkg::qp_ack_ddp_t qp_ack_ddp;
  // rdmap -> qp
  logic qp_ack_rdmap_valid, qp_ack_rdmap_ready;
  iwarp_pkg::qp_ack_rdmap_t qp_ack_rdmap;
  // qp -> tpt
  logic wqe_check_valid, wqe_check_ready;
  iwarp_pkg::wqe_check_t wqe_check;
  // tpt -> qp
  logic wqe_check_rsp_valid, wqe_check_rsp_ready;
  iwarp_pkg::wqe_check_rsp_t wqe_check_rsp;
  // qp -> rdmap
  logic wqe_hdr_valid, wqe_hdr_ready;
  iwarp_pkg::wqe_hdr_t wqe_hdr;
  // qp -> rdmap
  logic wqe_valid, wqe_ready;
  iwarp_pkg::beat_t wqe;
  // ddp -> qp
  logic rq_take_req_valid, rq_take_req_ready;
  iwarp_pkg::rq_take_req_t rq_take_req;
  // qp -> ddp
  logic rq_take_rsp_valid, rq_take_rsp_ready;
  iwarp_pkg::rq_take_rsp_t rq_take_rsp;
  // qp -> cq
  logic cqe_req_valid, cqe_req_ready;
  iwarp_pkg::cqe_req_t cqe_req;
  // qp -> cq
  logic qp_async_valid, qp_async_ready;
  iwarp_pkg::qp_async_t qp_async;
  // qp -> host_if
  logic qp_purge_valid, qp_purge_ready;
  iwarp_pkg::qp_purge_t qp_purge;
  // cq -> qp
  logic cq_fault_valid, cq_fault_ready;
  iwarp_pkg::cq_fault_t cq_fault;
  // qp -> rdmap
  logic qp_fault_valid, qp_fault_ready;
  iwarp_pkg::qp_fault_t qp_fault;
  // rdmap -> qp
  logic qp_error_valid, qp_error_ready;
  iwarp_pkg::qp_error_t qp_error;
  // rdmap -> ddp
  logic tx_message_hdr_valid, tx_message_hdr_ready;
  iwarp_pkg::tx_message_hdr_t tx_message_hdr;
  // rdmap -> ddp
  logic tx_message_valid, tx_message_ready;
  iwarp_pkg::beat_t tx_message;
  // ddp -> qp
  logic sq_slot_free_valid, sq_slot_free_ready;
  iwarp_pkg::sq_slot_free_t sq_slot_free;
  // ddp -> rdmap
  logic resp_slot_free_valid, resp_slot_free_ready;
  iwarp_pkg::resp_slot_free_t resp_slot_free;
  // ddp -> llp_if
  logic tx_want_valid, tx_want_ready;
  iwarp_pkg::tx_want_t tx_want;
  // llp_if -> ddp
  logic tx_grant_valid, tx_grant_ready;
  iwarp_pkg::tx_grant_t tx_grant;
  // ddp -> tpt
  logic tx_xlate_valid, tx_xlate_ready;
  iwarp_pkg::tx_xlate_t tx_xlate;
  // ddp -> rdmap
  logic tx_fault_valid, tx_fault_ready;
  iwarp_pkg::tx_fault_t tx_fault;
  // ddp -> mpa
  logic tx_ulpdu_hdr_valid, tx_ulpdu_hdr_ready;
  iwarp_pkg::tx_ulpdu_hdr_t tx_ulpdu_hdr;
  // ddp -> mpa
  logic tx_ulpdu_valid, tx_ulpdu_ready;
  iwarp_pkg::beat_t tx_ulpdu;
  // mpa -> llp_if
  logic tx_fpdu_hdr_valid, tx_fpdu_hdr_ready;
  iwarp_pkg::tx_fpdu_hdr_t tx_fpdu_hdr;
  // mpa -> llp_if
  logic tx_fpdu_valid, tx_fpdu_ready;
  iwarp_pkg::beat_t tx_fpdu;
  // llp_if -> qp
  logic wr_done_valid, wr_done_ready;
  iwarp_pkg::wr_done_t wr_done;
  // llp_if -> mpa
  logic rx_fpdu_hdr_valid, rx_fpdu_hdr_ready;
  iwarp_pkg::rx_fpdu_hdr_t rx_fpdu_hdr;
  // llp_if -> mpa
  logic rx_fpdu_valid, rx_fpdu_ready;
  iwarp_pkg::beat_t rx_fpdu;
  // mpa -> ddp
  logic rx_ulpdu_hdr_valid, rx_ulpdu_hdr_ready;
  iwarp_pkg::rx_ulpdu_hdr_t rx_ulpdu_hdr;
  // mpa -> ddp
  logic rx_ulpdu_valid, rx_ulpdu_ready;
  iwarp_pkg::beat_t rx_ulpdu;
  // ddp -> tpt
  logic rx_xlate_valid, rx_xlate_ready;
  iwarp_pkg::rx_xlate_t rx_xlate;
  // tpt -> ddp
  logic rx_xlate_rsp_valid, rx_xlate_rsp_ready;
  iwarp_pkg::rx_xlate_rsp_t rx_xlate_rsp;
  // tpt -> ddp
  logic rx_extent_valid, rx_extent_ready;
  iwarp_pkg::rx_extent_t rx_extent;
  // ddp -> tpt
  logic rx_dropped_valid, rx_dropped_ready;
  iwarp_pkg::rx_dropped_t rx_dropped;
  // ddp -> rdmap
  logic rx_segment_valid, rx_segment_ready;
  iwarp_pkg::rx_segment_t rx_segment;
  // rdmap -> ddp
  logic rx_verdict_valid, rx_verdict_ready;
  iwarp_pkg::rx_verdict_t rx_verdict;
  // ddp -> qp
  logic rx_done_valid, rx_done_ready;
  iwarp_pkg::rx_done_t rx_done;
  // ddp -> tpt
  logic invalidate_valid, invalidate_ready;
  iwarp_pkg::invalidate_t invalidate;
  // tpt -> ddp
  logic invalidated_valid, invalidated_ready;
  iwarp_pkg::invalidated_t invalidated;
  // rdmap -> tpt
  logic sq_local_valid, sq_local_ready;
  iwarp_pkg::sq_local_t sq_local;
  // tpt -> rdmap
  logic sq_local_done_valid, sq_local_done_ready;
  iwarp_pkg::sq_local_done_t sq_local_done;
  // rdmap -> atomic
  logic atomic_req_valid, atomic_req_ready;
  iwarp_pkg::atomic_req_t atomic_req;
  // rdmap -> atomic
  logic atomic_dead_valid, atomic_dead_ready;
  iwarp_pkg::atomic_dead_t atomic_dead;
  // atomic -> rdmap
  logic atomic_rsp_valid, atomic_rsp_ready;
  iwarp_pkg::atomic_rsp_t atomic_rsp;
  // atomic -> tpt
  logic qn1_xlate_valid, qn1_xlate_ready;
  iwarp_pkg::qn1_xlate_t qn1_xlate;
  // tpt -> atomic
  logic qn1_extent_valid, qn1_extent_ready;
  iwarp_pkg::qn1_extent_t qn1_extent;
  // atomic -> tpt
  logic qn1_retired_valid, qn1_retired_ready;
  iwarp_pkg::qn1_retired_t qn1_retired;
  // atomic -> host_if
  logic qn1_rd_req_valid, qn1_rd_req_ready;
  iwarp_pkg::qn1_rd_req_t qn1_rd_req;
  // host_if -> atomic
  logic qn1_rd_hdr_valid, qn1_rd_hdr_ready;
  iwarp_pkg::qn1_rd_hdr_t qn1_rd_hdr;
  // host_if -> atomic
  logic qn1_rd_valid, qn1_rd_ready;
  iwarp_pkg::beat_t qn1_rd;
  // tpt -> host_if
  logic reg_rd_req_valid, reg_rd_req_ready;
  iwarp_pkg::reg_rd_req_t reg_rd_req;
  // host_if -> tpt
  logic reg_rd_hdr_valid, reg_rd_hdr_ready;
  iwarp_pkg::reg_rd_hdr_t reg_rd_hdr;
  // host_if -> tpt
  logic reg_rd_valid, reg_rd_ready;
  iwarp_pkg::beat_t reg_rd;
  // atomic -> host_if
  logic word_wr_valid, word_wr_ready;
  iwarp_pkg::word_wr_t word_wr;
  // host_if -> atomic
  logic word_done_valid, word_done_ready;
  iwarp_pkg::word_done_t word_done;
  // ddp -> rdmap
  logic resp_fetched_valid, resp_fetched_ready;
  iwarp_pkg::resp_fetched_t resp_fetched;
  // rdmap -> qp
  logic res_done_valid, res_done_ready;
  iwarp_pkg::res_done_t res_done;
  // rdmap -> tpt
  logic resp_check_valid, resp_check_ready;
  iwarp_pkg::resp_check_t resp_check;
  // tpt -> rdmap
  logic resp_check_rsp_valid, resp_check_rsp_ready;
  iwarp_pkg::resp_check_rsp_t resp_check_rsp;
  // llp_if -> qp
  logic llp_event_valid, llp_event_ready;
  iwarp_pkg::llp_event_t llp_event;
  // llp_if -> cq
  logic conn_async_valid, conn_async_ready;
  iwarp_pkg::conn_async_t conn_async;
  iwarp_pkg::dev_cfg_t dev_cfg;
  logic admin_fatal;
  logic qp_bad_doorbell;
  logic cq_bad_doorbell;
  logic bell_given;
  logic cqe_given;
  logic [63:0] placed;
  iwarp_pkg::unit_count_t count_host_if;
  iwarp_pkg::unit_count_t count_admin;
  iwarp_pkg::unit_count_t count_qp;
  iwarp_pkg::unit_count_t count_tpt;
  iwarp_pkg::unit_count_t count_atomic;
  iwarp_pkg::unit_count_t count_rdmap;
  iwarp_pkg::unit_count_t count_ddp;
  iwarp_pkg::unit_count_t count_mpa;
  iwarp_pkg::unit_count_t count_cq;
  iwarp_pkg::unit_count_t count_llp_if;
  logic ready_host_if;
  logic ready_admin;
  logic ready_qp;
  logic ready_tpt;
  logic ready_atomic;
  logic ready_rdmap;
  logic ready_ddp;
  logic ready_mpa;
  logic ready_cq;
  logic ready_llp_if;
  logic ready_all;

  assign ready_all = ready_host_if
    && ready_admin
    && ready_qp
    && ready_tpt
    && ready_atomic
    && ready_rdmap
    && ready_ddp
    && ready_mpa
    && ready_cq
    && ready_llp_if;

  host_if u_host_if (
    .clk_i,
    .rst_ni,
    .pcie_cfg_i,
    .dev_cfg_o(dev_cfg),
    .admin_fatal_i(admin_fatal),
    .qp_bad_doorbell_i(qp_bad_doorbell),
    .cq_bad_doorbell_i(cq_bad_doorbell),
    .cq_given_o(bell_given),
    .placed_o(placed),
    .count_o(count_host_if),
    .count_host_if_i(count_host_if),
    .count_admin_i(count_admin),
    .count_qp_i(count_qp),
    .count_tpt_i(count_tpt),
    .count_atomic_i(count_atomic),
    .count_rdmap_i(count_rdmap),
    .count_ddp_i(count_ddp),
    .count_mpa_i(count_mpa),
    .count_cq_i(count_cq),
    .count_llp_if_i(count_llp_if),
    .ready_o(ready_host_if),
    .ready_all_i(ready_all),
    .mmio_req_valid_i,
    .mmio_req_ready_o,
    .mmio_req_i,
    .mmio_rsp_valid_o,
    .mmio_rsp_ready_i,
    .mmio_rsp_o,
    .dma_rd_req_valid_o,
    .dma_rd_req_ready_i,
    .dma_rd_req_o,
    .dma_rd_rsp_valid_i,
    .dma_rd_rsp_ready_o,
    .dma_rd_rsp_i,
    .dma_wr_valid_o,
    .dma_wr_ready_i,
    .dma_wr_o,
    .qp_doorbell_valid_o(qp_doorbell_valid),
    .qp_doorbell_ready_i(qp_doorbell_ready),
    .qp_doorbell_o(qp_doorbell),
    .cq_doorbell_valid_o(cq_doorbell_valid),
    .cq_doorbell_ready_i(cq_doorbell_ready),
    .cq_doorbell_o(cq_doorbell),
    .eq_doorbell_valid_o(eq_doorbell_valid),
    .eq_doorbell_ready_i(eq_doorbell_ready),
    .eq_doorbell_o(eq_doorbell),
    .admin_doorbell_valid_o(admin_doorbell_valid),
    .admin_doorbell_ready_i(admin_doorbell_ready),
    .admin_doorbell_o(admin_doorbell),
    .sq_rd_req_valid_i(sq_rd_req_valid),
    .sq_rd_req_ready_o(sq_rd_req_ready),
    .sq_rd_req_i(sq_rd_req),
    .sq_rd_hdr_valid_o(sq_rd_hdr_valid),
    .sq_rd_hdr_ready_i(sq_rd_hdr_ready),
    .sq_rd_hdr_o(sq_rd_hdr),
    .sq_rd_valid_o(sq_rd_valid),
    .sq_rd_ready_i(sq_rd_ready),
    .sq_rd_o(sq_rd),
    .rq_rd_req_valid_i(rq_rd_req_valid),
    .rq_rd_req_ready_o(rq_rd_req_ready),
    .rq_rd_req_i(rq_rd_req),
    .rq_rd_hdr_valid_o(rq_rd_hdr_valid),
    .rq_rd_hdr_ready_i(rq_rd_hdr_ready),
    .rq_rd_hdr_o(rq_rd_hdr),
    .rq_rd_valid_o(rq_rd_valid),
    .rq_rd_ready_i(rq_rd_ready),
    .rq_rd_o(rq_rd),
    .admin_rd_req_valid_i(admin_rd_req_valid),
    .admin_rd_req_ready_o(admin_rd_req_ready),
    .admin_rd_req_i(admin_rd_req),
    .admin_rd_hdr_valid_o(admin_rd_hdr_valid),
    .admin_rd_hdr_ready_i(admin_rd_hdr_ready),
    .admin_rd_hdr_o(admin_rd_hdr),
    .admin_rd_valid_o(admin_rd_valid),
    .admin_rd_ready_i(admin_rd_ready),
    .admin_rd_o(admin_rd),
    .payload_req_valid_i(payload_req_valid),
    .payload_req_ready_o(payload_req_ready),
    .payload_req_i(payload_req),
    .tx_extent_valid_i(tx_extent_valid),
    .tx_extent_ready_o(tx_extent_ready),
    .tx_extent_i(tx_extent),
    .payload_hdr_valid_o(payload_hdr_valid),
    .payload_hdr_ready_i(payload_hdr_ready),
    .payload_hdr_o(payload_hdr),
    .payload_valid_o(payload_valid),
    .payload_ready_i(payload_ready),
    .payload_o(payload),
    .rd_retired_valid_o(rd_retired_valid),
    .rd_retired_ready_i(rd_retired_ready),
    .rd_retired_o(rd_retired),
    .place_hdr_valid_i(place_hdr_valid),
    .place_hdr_ready_o(place_hdr_ready),
    .place_hdr_i(place_hdr),
    .place_extent_valid_i(place_extent_valid),
    .place_extent_ready_o(place_extent_ready),
    .place_extent_i(place_extent),
    .place_valid_i(place_valid),
    .place_ready_o(place_ready),
    .place_i(place),
    .place_done_valid_o(place_done_valid),
    .place_done_ready_i(place_done_ready),
    .place_done_o(place_done),
    .wr_retired_valid_o(wr_retired_valid),
    .wr_retired_ready_i(wr_retired_ready),
    .wr_retired_o(wr_retired),
    .cq_wr_valid_i(cq_wr_valid),
    .cq_wr_ready_o(cq_wr_ready),
    .cq_wr_i(cq_wr),
    .admin_wr_valid_i(admin_wr_valid),
    .admin_wr_ready_o(admin_wr_ready),
    .admin_wr_i(admin_wr),
    .qp_purge_valid_i(qp_purge_valid),
    .qp_purge_ready_o(qp_purge_ready),
    .qp_purge_i(qp_purge),
    .qn1_rd_req_valid_i(qn1_rd_req_valid),
    .qn1_rd_req_ready_o(qn1_rd_req_ready),
    .qn1_rd_req_i(qn1_rd_req),
    .qn1_rd_hdr_valid_o(qn1_rd_hdr_valid),
    .qn1_rd_hdr_ready_i(qn1_rd_hdr_ready),
    .qn1_rd_hdr_o(qn1_rd_hdr),
    .qn1_rd_valid_o(qn1_rd_valid),
    .qn1_rd_ready_i(qn1_rd_ready),
    .qn1_rd_o(qn1_rd),
    .reg_rd_req_valid_i(reg_rd_req_valid),
    .reg_rd_req_ready_o(reg_rd_req_ready),
    .reg_rd_req_i(reg_rd_req),
    .reg_rd_hdr_valid_o(reg_rd_hdr_valid),
    .reg_rd_hdr_ready_i(reg_rd_hdr_ready),
    .reg_rd_hdr_o(reg_rd_hdr),
    .reg_rd_valid_o(reg_rd_valid),
    .reg_rd_ready_i(reg_rd_ready),
    .reg_rd_o(reg_rd),
    .word_wr_valid_i(word_wr_valid),
    .word_wr_ready_o(word_wr_ready),
    .word_wr_i(word_wr),
    .word_done_valid_o(word_done_valid),
    .word_done_ready_i(word_done_ready),
    .word_done_o(word_done)
  );

  admin u_admin (
    .clk_i,
    .rst_ni,
    .dev_cfg_i(dev_cfg),
    .fatal_o(admin_fatal),
    .count_o(count_admin),
    .ready_o(ready_admin),
    .admin_doorbell_valid_i(admin_doorbell_valid),
    .admin_doorbell_ready_o(admin_doorbell_ready),
    .admin_doorbell_i(admin_doorbell),
    .admin_rd_req_valid_o(admin_rd_req_valid),
    .admin_rd_req_ready_i(admin_rd_req_ready),
    .admin_rd_req_o(admin_rd_req),
    .admin_rd_hdr_valid_i(admin_rd_hdr_valid),
    .admin_rd_hdr_ready_o(admin_rd_hdr_ready),
    .admin_rd_hdr_i(admin_rd_hdr),
    .admin_rd_valid_i(admin_rd_valid),
    .admin_rd_ready_o(admin_rd_ready),
    .admin_rd_i(admin_rd),
    .admin_wr_valid_o(admin_wr_valid),
    .admin_wr_ready_i(admin_wr_ready),
    .admin_wr_o(admin_wr),
    .qp_cmd_valid_o(qp_cmd_valid),
    .qp_cmd_ready_i(qp_cmd_ready),
    .qp_cmd_o(qp_cmd),
    .qp_cmd_rsp_valid_i(qp_cmd_rsp_valid),
    .qp_cmd_rsp_ready_o(qp_cmd_rsp_ready),
    .qp_cmd_rsp_i(qp_cmd_rsp),
    .cq_cmd_valid_o(cq_cmd_valid),
    .cq_cmd_ready_i(cq_cmd_ready),
    .cq_cmd_o(cq_cmd),
    .cq_cmd_rsp_valid_i(cq_cmd_rsp_valid),
    .cq_cmd_rsp_ready_o(cq_cmd_rsp_ready),
    .cq_cmd_rsp_i(cq_cmd_rsp),
    .tpt_cmd_valid_o(tpt_cmd_valid),
    .tpt_cmd_ready_i(tpt_cmd_ready),
    .tpt_cmd_o(tpt_cmd),
    .tpt_cmd_rsp_valid_i(tpt_cmd_rsp_valid),
    .tpt_cmd_rsp_ready_o(tpt_cmd_rsp_ready),
    .tpt_cmd_rsp_i(tpt_cmd_rsp),
    .conn_cmd_valid_o(conn_cmd_valid),
    .conn_cmd_ready_i(conn_cmd_ready),
    .conn_cmd_o(conn_cmd),
    .conn_cmd_rsp_valid_i(conn_cmd_rsp_valid),
    .conn_cmd_rsp_ready_o(conn_cmd_rsp_ready),
    .conn_cmd_rsp_i(conn_cmd_rsp),
    .pbl_wr_valid_o(pbl_wr_valid),
    .pbl_wr_ready_i(pbl_wr_ready),
    .pbl_wr_o(pbl_wr),
    .raw_tx_hdr_valid_o(raw_tx_hdr_valid),
    .raw_tx_hdr_ready_i(raw_tx_hdr_ready),
    .raw_tx_hdr_o(raw_tx_hdr),
    .raw_tx_valid_o(raw_tx_valid),
    .raw_tx_ready_i(raw_tx_ready),
    .raw_tx_o(raw_tx),
    .raw_rx_hdr_valid_i(raw_rx_hdr_valid),
    .raw_rx_hdr_ready_o(raw_rx_hdr_ready),
    .raw_rx_hdr_i(raw_rx_hdr),
    .raw_rx_valid_i(raw_rx_valid),
    .raw_rx_ready_o(raw_rx_ready),
    .raw_rx_i(raw_rx)
  );

  qp u_qp (
    .clk_i,
    .rst_ni,
    .bad_doorbell_o(qp_bad_doorbell),
    .cqe_given_o(cqe_given),
    .count_o(count_qp),
    .ready_o(ready_qp),
    .qp_doorbell_valid_i(qp_doorbell_valid),
    .qp_doorbell_ready_o(qp_doorbell_ready),
    .qp_doorbell_i(qp_doorbell),
    .sq_rd_req_valid_o(sq_rd_req_valid),
    .sq_rd_req_ready_i(sq_rd_req_ready),
    .sq_rd_req_o(sq_rd_req),
    .sq_rd_hdr_valid_i(sq_rd_hdr_valid),
    .sq_rd_hdr_ready_o(sq_rd_hdr_ready),
    .sq_rd_hdr_i(sq_rd_hdr),
    .sq_rd_valid_i(sq_rd_valid),
    .sq_rd_ready_o(sq_rd_ready),
    .sq_rd_i(sq_rd),
    .rq_rd_req_valid_o(rq_rd_req_valid),
    .rq_rd_req_ready_i(rq_rd_req_ready),
    .rq_rd_req_o(rq_rd_req),
    .rq_rd_hdr_valid_i(rq_rd_hdr_valid),
    .rq_rd_hdr_ready_o(rq_rd_hdr_ready),
    .rq_rd_hdr_i(rq_rd_hdr),
    .rq_rd_valid_i(rq_rd_valid),
    .rq_rd_ready_o(rq_rd_ready),
    .rq_rd_i(rq_rd),
    .qp_cmd_valid_i(qp_cmd_valid),
    .qp_cmd_ready_o(qp_cmd_ready),
    .qp_cmd_i(qp_cmd),
    .qp_cmd_rsp_valid_o(qp_cmd_rsp_valid),
    .qp_cmd_rsp_ready_i(qp_cmd_rsp_ready),
    .qp_cmd_rsp_o(qp_cmd_rsp),
    .qp_ctl_llp_valid_o(qp_ctl_llp_valid),
    .qp_ctl_llp_ready_i(qp_ctl_llp_ready),
    .qp_ctl_llp_o(qp_ctl_llp),
    .qp_ctl_mpa_valid_o(qp_ctl_mpa_valid),
    .qp_ctl_mpa_ready_i(qp_ctl_mpa_ready),
    .qp_ctl_mpa_o(qp_ctl_mpa),
    .qp_ctl_ddp_valid_o(qp_ctl_ddp_valid),
    .qp_ctl_ddp_ready_i(qp_ctl_ddp_ready),
    .qp_ctl_ddp_o(qp_ctl_ddp),
    .qp_ctl_rdmap_valid_o(qp_ctl_rdmap_valid),
    .qp_ctl_rdmap_ready_i(qp_ctl_rdmap_ready),
    .qp_ctl_rdmap_o(qp_ctl_rdmap),
    .qp_ack_llp_valid_i(qp_ack_llp_valid),
    .qp_ack_llp_ready_o(qp_ack_llp_ready),
    .qp_ack_llp_i(qp_ack_llp),
    .qp_ack_mpa_valid_i(qp_ack_mpa_valid),
    .qp_ack_mpa_ready_o(qp_ack_mpa_ready),
    .qp_ack_mpa_i(qp_ack_mpa),
    .qp_ack_ddp_valid_i(qp_ack_ddp_valid),
    .qp_ack_ddp_ready_o(qp_ack_ddp_ready),
    .qp_ack_ddp_i(qp_ack_ddp),
    .qp_ack_rdmap_valid_i(qp_ack_rdmap_valid),
    .qp_ack_rdmap_ready_o(qp_ack_rdmap_ready),
    .qp_ack_rdmap_i(qp_ack_rdmap),
    .wqe_check_valid_o(wqe_check_valid),
    .wqe_check_ready_i(wqe_check_ready),
    .wqe_check_o(wqe_check),
    .wqe_check_rsp_valid_i(wqe_check_rsp_valid),
    .wqe_check_rsp_ready_o(wqe_check_rsp_ready),
    .wqe_check_rsp_i(wqe_check_rsp),
    .wqe_hdr_valid_o(wqe_hdr_valid),
    .wqe_hdr_ready_i(wqe_hdr_ready),
    .wqe_hdr_o(wqe_hdr),
    .wqe_valid_o(wqe_valid),
    .wqe_ready_i(wqe_ready),
    .wqe_o(wqe),
    .rq_take_req_valid_i(rq_take_req_valid),
    .rq_take_req_ready_o(rq_take_req_ready),
    .rq_take_req_i(rq_take_req),
    .rq_take_rsp_valid_o(rq_take_rsp_valid),
    .rq_take_rsp_ready_i(rq_take_rsp_ready),
    .rq_take_rsp_o(rq_take_rsp),
    .cqe_req_valid_o(cqe_req_valid),
    .cqe_req_ready_i(cqe_req_ready),
    .cqe_req_o(cqe_req),
    .qp_async_valid_o(qp_async_valid),
    .qp_async_ready_i(qp_async_ready),
    .qp_async_o(qp_async),
    .qp_purge_valid_o(qp_purge_valid),
    .qp_purge_ready_i(qp_purge_ready),
    .qp_purge_o(qp_purge),
    .cq_fault_valid_i(cq_fault_valid),
    .cq_fault_ready_o(cq_fault_ready),
    .cq_fault_i(cq_fault),
    .qp_fault_valid_o(qp_fault_valid),
    .qp_fault_ready_i(qp_fault_ready),
    .qp_fault_o(qp_fault),
    .qp_error_valid_i(qp_error_valid),
    .qp_error_ready_o(qp_error_ready),
    .qp_error_i(qp_error),
    .sq_slot_free_valid_i(sq_slot_free_valid),
    .sq_slot_free_ready_o(sq_slot_free_ready),
    .sq_slot_free_i(sq_slot_free),
    .wr_done_valid_i(wr_done_valid),
    .wr_done_ready_o(wr_done_ready),
    .wr_done_i(wr_done),
    .rx_done_valid_i(rx_done_valid),
    .rx_done_ready_o(rx_done_ready),
    .rx_done_i(rx_done),
    .res_done_valid_i(res_done_valid),
    .res_done_ready_o(res_done_ready),
    .res_done_i(res_done),
    .llp_event_valid_i(llp_event_valid),
    .llp_event_ready_o(llp_event_ready),
    .llp_event_i(llp_event)
  );

  tpt u_tpt (
    .clk_i,
    .rst_ni,
    .dev_cfg_i(dev_cfg),
    .count_o(count_tpt),
    .ready_o(ready_tpt),
    .tx_extent_valid_o(tx_extent_valid),
    .tx_extent_ready_i(tx_extent_ready),
    .tx_extent_o(tx_extent),
    .rd_retired_valid_i(rd_retired_valid),
    .rd_retired_ready_o(rd_retired_ready),
    .rd_retired_i(rd_retired),
    .wr_retired_valid_i(wr_retired_valid),
    .wr_retired_ready_o(wr_retired_ready),
    .wr_retired_i(wr_retired),
    .tpt_cmd_valid_i(tpt_cmd_valid),
    .tpt_cmd_ready_o(tpt_cmd_ready),
    .tpt_cmd_i(tpt_cmd),
    .tpt_cmd_rsp_valid_o(tpt_cmd_rsp_valid),
    .tpt_cmd_rsp_ready_i(tpt_cmd_rsp_ready),
    .tpt_cmd_rsp_o(tpt_cmd_rsp),
    .pbl_wr_valid_i(pbl_wr_valid),
    .pbl_wr_ready_o(pbl_wr_ready),
    .pbl_wr_i(pbl_wr),
    .wqe_check_valid_i(wqe_check_valid),
    .wqe_check_ready_o(wqe_check_ready),
    .wqe_check_i(wqe_check),
    .wqe_check_rsp_valid_o(wqe_check_rsp_valid),
    .wqe_check_rsp_ready_i(wqe_check_rsp_ready),
    .wqe_check_rsp_o(wqe_check_rsp),
    .tx_xlate_valid_i(tx_xlate_valid),
    .tx_xlate_ready_o(tx_xlate_ready),
    .tx_xlate_i(tx_xlate),
    .rx_xlate_valid_i(rx_xlate_valid),
    .rx_xlate_ready_o(rx_xlate_ready),
    .rx_xlate_i(rx_xlate),
    .rx_xlate_rsp_valid_o(rx_xlate_rsp_valid),
    .rx_xlate_rsp_ready_i(rx_xlate_rsp_ready),
    .rx_xlate_rsp_o(rx_xlate_rsp),
    .rx_extent_valid_o(rx_extent_valid),
    .rx_extent_ready_i(rx_extent_ready),
    .rx_extent_o(rx_extent),
    .rx_dropped_valid_i(rx_dropped_valid),
    .rx_dropped_ready_o(rx_dropped_ready),
    .rx_dropped_i(rx_dropped),
    .invalidate_valid_i(invalidate_valid),
    .invalidate_ready_o(invalidate_ready),
    .invalidate_i(invalidate),
    .invalidated_valid_o(invalidated_valid),
    .invalidated_ready_i(invalidated_ready),
    .invalidated_o(invalidated),
    .sq_local_valid_i(sq_local_valid),
    .sq_local_ready_o(sq_local_ready),
    .sq_local_i(sq_local),
    .sq_local_done_valid_o(sq_local_done_valid),
    .sq_local_done_ready_i(sq_local_done_ready),
    .sq_local_done_o(sq_local_done),
    .qn1_xlate_valid_i(qn1_xlate_valid),
    .qn1_xlate_ready_o(qn1_xlate_ready),
    .qn1_xlate_i(qn1_xlate),
    .qn1_extent_valid_o(qn1_extent_valid),
    .qn1_extent_ready_i(qn1_extent_ready),
    .qn1_extent_o(qn1_extent),
    .qn1_retired_valid_i(qn1_retired_valid),
    .qn1_retired_ready_o(qn1_retired_ready),
    .qn1_retired_i(qn1_retired),
    .reg_rd_req_valid_o(reg_rd_req_valid),
    .reg_rd_req_ready_i(reg_rd_req_ready),
    .reg_rd_req_o(reg_rd_req),
    .reg_rd_hdr_valid_i(reg_rd_hdr_valid),
    .reg_rd_hdr_ready_o(reg_rd_hdr_ready),
    .reg_rd_hdr_i(reg_rd_hdr),
    .reg_rd_valid_i(reg_rd_valid),
    .reg_rd_ready_o(reg_rd_ready),
    .reg_rd_i(reg_rd),
    .resp_check_valid_i(resp_check_valid),
    .resp_check_ready_o(resp_check_ready),
    .resp_check_i(resp_check),
    .resp_check_rsp_valid_o(resp_check_rsp_valid),
    .resp_check_rsp_ready_i(resp_check_rsp_ready),
    .resp_check_rsp_o(resp_check_rsp)
  );

  atomic u_atomic (
    .clk_i,
    .rst_ni,
    .count_o(count_atomic),
    .ready_o(ready_atomic),
    .atomic_req_valid_i(atomic_req_valid),
    .atomic_req_ready_o(atomic_req_ready),
    .atomic_req_i(atomic_req),
    .atomic_dead_valid_i(atomic_dead_valid),
    .atomic_dead_ready_o(atomic_dead_ready),
    .atomic_dead_i(atomic_dead),
    .atomic_rsp_valid_o(atomic_rsp_valid),
    .atomic_rsp_ready_i(atomic_rsp_ready),
    .atomic_rsp_o(atomic_rsp),
    .qn1_xlate_valid_o(qn1_xlate_valid),
    .qn1_xlate_ready_i(qn1_xlate_ready),
    .qn1_xlate_o(qn1_xlate),
    .qn1_extent_valid_i(qn1_extent_valid),
    .qn1_extent_ready_o(qn1_extent_ready),
    .qn1_extent_i(qn1_extent),
    .qn1_retired_valid_o(qn1_retired_valid),
    .qn1_retired_ready_i(qn1_retired_ready),
    .qn1_retired_o(qn1_retired),
    .qn1_rd_req_valid_o(qn1_rd_req_valid),
    .qn1_rd_req_ready_i(qn1_rd_req_ready),
    .qn1_rd_req_o(qn1_rd_req),
    .qn1_rd_hdr_valid_i(qn1_rd_hdr_valid),
    .qn1_rd_hdr_ready_o(qn1_rd_hdr_ready),
    .qn1_rd_hdr_i(qn1_rd_hdr),
    .qn1_rd_valid_i(qn1_rd_valid),
    .qn1_rd_ready_o(qn1_rd_ready),
    .qn1_rd_i(qn1_rd),
    .word_wr_valid_o(word_wr_valid),
    .word_wr_ready_i(word_wr_ready),
    .word_wr_o(word_wr),
    .word_done_valid_i(word_done_valid),
    .word_done_ready_o(word_done_ready),
    .word_done_i(word_done)
  );

  rdmap u_rdmap (
    .clk_i,
    .rst_ni,
    .placed_i(placed),
    .count_o(count_rdmap),
    .ready_o(ready_rdmap),
    .qp_ctl_rdmap_valid_i(qp_ctl_rdmap_valid),
    .qp_ctl_rdmap_ready_o(qp_ctl_rdmap_ready),
    .qp_ctl_rdmap_i(qp_ctl_rdmap),
    .qp_ack_rdmap_valid_o(qp_ack_rdmap_valid),
    .qp_ack_rdmap_ready_i(qp_ack_rdmap_ready),
    .qp_ack_rdmap_o(qp_ack_rdmap),
    .wqe_hdr_valid_i(wqe_hdr_valid),
    .wqe_hdr_ready_o(wqe_hdr_ready),
    .wqe_hdr_i(wqe_hdr),
    .wqe_valid_i(wqe_valid),
    .wqe_ready_o(wqe_ready),
    .wqe_i(wqe),
    .qp_fault_valid_i(qp_fault_valid),
    .qp_fault_ready_o(qp_fault_ready),
    .qp_fault_i(qp_fault),
    .qp_error_valid_o(qp_error_valid),
    .qp_error_ready_i(qp_error_ready),
    .qp_error_o(qp_error),
    .tx_message_hdr_valid_o(tx_message_hdr_valid),
    .tx_message_hdr_ready_i(tx_message_hdr_ready),
    .tx_message_hdr_o(tx_message_hdr),
    .tx_message_valid_o(tx_message_valid),
    .tx_message_ready_i(tx_message_ready),
    .tx_message_o(tx_message),
    .resp_slot_free_valid_i(resp_slot_free_valid),
    .resp_slot_free_ready_o(resp_slot_free_ready),
    .resp_slot_free_i(resp_slot_free),
    .tx_fault_valid_i(tx_fault_valid),
    .tx_fault_ready_o(tx_fault_ready),
    .tx_fault_i(tx_fault),
    .rx_segment_valid_i(rx_segment_valid),
    .rx_segment_ready_o(rx_segment_ready),
    .rx_segment_i(rx_segment),
    .rx_verdict_valid_o(rx_verdict_valid),
    .rx_verdict_ready_i(rx_verdict_ready),
    .rx_verdict_o(rx_verdict),
    .sq_local_valid_o(sq_local_valid),
    .sq_local_ready_i(sq_local_ready),
    .sq_local_o(sq_local),
    .sq_local_done_valid_i(sq_local_done_valid),
    .sq_local_done_ready_o(sq_local_done_ready),
    .sq_local_done_i(sq_local_done),
    .atomic_req_valid_o(atomic_req_valid),
    .atomic_req_ready_i(atomic_req_ready),
    .atomic_req_o(atomic_req),
    .atomic_dead_valid_o(atomic_dead_valid),
    .atomic_dead_ready_i(atomic_dead_ready),
    .atomic_dead_o(atomic_dead),
    .atomic_rsp_valid_i(atomic_rsp_valid),
    .atomic_rsp_ready_o(atomic_rsp_ready),
    .atomic_rsp_i(atomic_rsp),
    .resp_fetched_valid_i(resp_fetched_valid),
    .resp_fetched_ready_o(resp_fetched_ready),
    .resp_fetched_i(resp_fetched),
    .res_done_valid_o(res_done_valid),
    .res_done_ready_i(res_done_ready),
    .res_done_o(res_done),
    .resp_check_valid_o(resp_check_valid),
    .resp_check_ready_i(resp_check_ready),
    .resp_check_o(resp_check),
    .resp_check_rsp_valid_i(resp_check_rsp_valid),
    .resp_check_rsp_ready_o(resp_check_rsp_ready),
    .resp_check_rsp_i(resp_check_rsp)
  );

  ddp u_ddp (
    .clk_i,
    .rst_ni,
    .count_o(count_ddp),
    .ready_o(ready_ddp),
    .payload_req_valid_o(payload_req_valid),
    .payload_req_ready_i(payload_req_ready),
    .payload_req_o(payload_req),
    .payload_hdr_valid_i(payload_hdr_valid),
    .payload_hdr_ready_o(payload_hdr_ready),
    .payload_hdr_i(payload_hdr),
    .payload_valid_i(payload_valid),
    .payload_ready_o(payload_ready),
    .payload_i(payload),
    .place_hdr_valid_o(place_hdr_valid),
    .place_hdr_ready_i(place_hdr_ready),
    .place_hdr_o(place_hdr),
    .place_extent_valid_o(place_extent_valid),
    .place_extent_ready_i(place_extent_ready),
    .place_extent_o(place_extent),
    .place_valid_o(place_valid),
    .place_ready_i(place_ready),
    .place_o(place),
    .place_done_valid_i(place_done_valid),
    .place_done_ready_o(place_done_ready),
    .place_done_i(place_done),
    .qp_ctl_ddp_valid_i(qp_ctl_ddp_valid),
    .qp_ctl_ddp_ready_o(qp_ctl_ddp_ready),
    .qp_ctl_ddp_i(qp_ctl_ddp),
    .qp_ack_ddp_valid_o(qp_ack_ddp_valid),
    .qp_ack_ddp_ready_i(qp_ack_ddp_ready),
    .qp_ack_ddp_o(qp_ack_ddp),
    .rq_take_req_valid_o(rq_take_req_valid),
    .rq_take_req_ready_i(rq_take_req_ready),
    .rq_take_req_o(rq_take_req),
    .rq_take_rsp_valid_i(rq_take_rsp_valid),
    .rq_take_rsp_ready_o(rq_take_rsp_ready),
    .rq_take_rsp_i(rq_take_rsp),
    .tx_message_hdr_valid_i(tx_message_hdr_valid),
    .tx_message_hdr_ready_o(tx_message_hdr_ready),
    .tx_message_hdr_i(tx_message_hdr),
    .tx_message_valid_i(tx_message_valid),
    .tx_message_ready_o(tx_message_ready),
    .tx_message_i(tx_message),
    .sq_slot_free_valid_o(sq_slot_free_valid),
    .sq_slot_free_ready_i(sq_slot_free_ready),
    .sq_slot_free_o(sq_slot_free),
    .resp_slot_free_valid_o(resp_slot_free_valid),
    .resp_slot_free_ready_i(resp_slot_free_ready),
    .resp_slot_free_o(resp_slot_free),
    .tx_want_valid_o(tx_want_valid),
    .tx_want_ready_i(tx_want_ready),
    .tx_want_o(tx_want),
    .tx_grant_valid_i(tx_grant_valid),
    .tx_grant_ready_o(tx_grant_ready),
    .tx_grant_i(tx_grant),
    .tx_xlate_valid_o(tx_xlate_valid),
    .tx_xlate_ready_i(tx_xlate_ready),
    .tx_xlate_o(tx_xlate),
    .tx_fault_valid_o(tx_fault_valid),
    .tx_fault_ready_i(tx_fault_ready),
    .tx_fault_o(tx_fault),
    .tx_ulpdu_hdr_valid_o(tx_ulpdu_hdr_valid),
    .tx_ulpdu_hdr_ready_i(tx_ulpdu_hdr_ready),
    .tx_ulpdu_hdr_o(tx_ulpdu_hdr),
    .tx_ulpdu_valid_o(tx_ulpdu_valid),
    .tx_ulpdu_ready_i(tx_ulpdu_ready),
    .tx_ulpdu_o(tx_ulpdu),
    .rx_ulpdu_hdr_valid_i(rx_ulpdu_hdr_valid),
    .rx_ulpdu_hdr_ready_o(rx_ulpdu_hdr_ready),
    .rx_ulpdu_hdr_i(rx_ulpdu_hdr),
    .rx_ulpdu_valid_i(rx_ulpdu_valid),
    .rx_ulpdu_ready_o(rx_ulpdu_ready),
    .rx_ulpdu_i(rx_ulpdu),
    .rx_xlate_valid_o(rx_xlate_valid),
    .rx_xlate_ready_i(rx_xlate_ready),
    .rx_xlate_o(rx_xlate),
    .rx_xlate_rsp_valid_i(rx_xlate_rsp_valid),
    .rx_xlate_rsp_ready_o(rx_xlate_rsp_ready),
    .rx_xlate_rsp_i(rx_xlate_rsp),
    .rx_extent_valid_i(rx_extent_valid),
    .rx_extent_ready_o(rx_extent_ready),
    .rx_extent_i(rx_extent),
    .rx_dropped_valid_o(rx_dropped_valid),
    .rx_dropped_ready_i(rx_dropped_ready),
    .rx_dropped_o(rx_dropped),
    .rx_segment_valid_o(rx_segment_valid),
    .rx_segment_ready_i(rx_segment_ready),
    .rx_segment_o(rx_segment),
    .rx_verdict_valid_i(rx_verdict_valid),
    .rx_verdict_ready_o(rx_verdict_ready),
    .rx_verdict_i(rx_verdict),
    .rx_done_valid_o(rx_done_valid),
    .rx_done_ready_i(rx_done_ready),
    .rx_done_o(rx_done),
    .invalidate_valid_o(invalidate_valid),
    .invalidate_ready_i(invalidate_ready),
    .invalidate_o(invalidate),
    .invalidated_valid_i(invalidated_valid),
    .invalidated_ready_o(invalidated_ready),
    .invalidated_i(invalidated),
    .resp_fetched_valid_o(resp_fetched_valid),
    .resp_fetched_ready_i(resp_fetched_ready),
    .resp_fetched_o(resp_fetched)
  );

  mpa u_mpa (
    .clk_i,
    .rst_ni,
    .count_o(count_mpa),
    .ready_o(ready_mpa),
    .qp_ctl_mpa_valid_i(qp_ctl_mpa_valid),
    .qp_ctl_mpa_ready_o(qp_ctl_mpa_ready),
    .qp_ctl_mpa_i(qp_ctl_mpa),
    .qp_ack_mpa_valid_o(qp_ack_mpa_valid),
    .qp_ack_mpa_ready_i(qp_ack_mpa_ready),
    .qp_ack_mpa_o(qp_ack_mpa),
    .tx_ulpdu_hdr_valid_i(tx_ulpdu_hdr_valid),
    .tx_ulpdu_hdr_ready_o(tx_ulpdu_hdr_ready),
    .tx_ulpdu_hdr_i(tx_ulpdu_hdr),
    .tx_ulpdu_valid_i(tx_ulpdu_valid),
    .tx_ulpdu_ready_o(tx_ulpdu_ready),
    .tx_ulpdu_i(tx_ulpdu),
    .tx_fpdu_hdr_valid_o(tx_fpdu_hdr_valid),
    .tx_fpdu_hdr_ready_i(tx_fpdu_hdr_ready),
    .tx_fpdu_hdr_o(tx_fpdu_hdr),
    .tx_fpdu_valid_o(tx_fpdu_valid),
    .tx_fpdu_ready_i(tx_fpdu_ready),
    .tx_fpdu_o(tx_fpdu),
    .rx_fpdu_hdr_valid_i(rx_fpdu_hdr_valid),
    .rx_fpdu_hdr_ready_o(rx_fpdu_hdr_ready),
    .rx_fpdu_hdr_i(rx_fpdu_hdr),
    .rx_fpdu_valid_i(rx_fpdu_valid),
    .rx_fpdu_ready_o(rx_fpdu_ready),
    .rx_fpdu_i(rx_fpdu),
    .rx_ulpdu_hdr_valid_o(rx_ulpdu_hdr_valid),
    .rx_ulpdu_hdr_ready_i(rx_ulpdu_hdr_ready),
    .rx_ulpdu_hdr_o(rx_ulpdu_hdr),
    .rx_ulpdu_valid_o(rx_ulpdu_valid),
    .rx_ulpdu_ready_i(rx_ulpdu_ready),
    .rx_ulpdu_o(rx_ulpdu)
  );

  cq u_cq (
    .clk_i,
    .rst_ni,
    .bad_doorbell_o(cq_bad_doorbell),
    .bell_given_i(bell_given),
    .cqe_given_i(cqe_given),
    .count_o(count_cq),
    .ready_o(ready_cq),
    .cq_doorbell_valid_i(cq_doorbell_valid),
    .cq_doorbell_ready_o(cq_doorbell_ready),
    .cq_doorbell_i(cq_doorbell),
    .eq_doorbell_valid_i(eq_doorbell_valid),
    .eq_doorbell_ready_o(eq_doorbell_ready),
    .eq_doorbell_i(eq_doorbell),
    .cq_wr_valid_o(cq_wr_valid),
    .cq_wr_ready_i(cq_wr_ready),
    .cq_wr_o(cq_wr),
    .cq_cmd_valid_i(cq_cmd_valid),
    .cq_cmd_ready_o(cq_cmd_ready),
    .cq_cmd_i(cq_cmd),
    .cq_cmd_rsp_valid_o(cq_cmd_rsp_valid),
    .cq_cmd_rsp_ready_i(cq_cmd_rsp_ready),
    .cq_cmd_rsp_o(cq_cmd_rsp),
    .cqe_req_valid_i(cqe_req_valid),
    .cqe_req_ready_o(cqe_req_ready),
    .cqe_req_i(cqe_req),
    .qp_async_valid_i(qp_async_valid),
    .qp_async_ready_o(qp_async_ready),
    .qp_async_i(qp_async),
    .cq_fault_valid_o(cq_fault_valid),
    .cq_fault_ready_i(cq_fault_ready),
    .cq_fault_o(cq_fault),
    .conn_async_valid_i(conn_async_valid),
    .conn_async_ready_o(conn_async_ready),
    .conn_async_i(conn_async)
  );

  llp_if u_llp_if (
    .clk_i,
    .rst_ni,
    .count_o(count_llp_if),
    .ready_o(ready_llp_if),
    .llp_rx_hdr_valid_i,
    .llp_rx_hdr_ready_o,
    .llp_rx_hdr_i,
    .llp_rx_valid_i,
    .llp_rx_ready_o,
    .llp_rx_i,
    .llp_tx_hdr_valid_o,
    .llp_tx_hdr_ready_i,
    .llp_tx_hdr_o,
    .llp_tx_valid_o,
    .llp_tx_ready_i,
    .llp_tx_o,
    .llp_ctl_req_valid_o,
    .llp_ctl_req_ready_i,
    .llp_ctl_req_o,
    .llp_ctl_evt_valid_i,
    .llp_ctl_evt_ready_o,
    .llp_ctl_evt_i,
    .llp_credit_valid_i,
    .llp_credit_ready_o,
    .llp_credit_i,
    .conn_cmd_valid_i(conn_cmd_valid),
    .conn_cmd_ready_o(conn_cmd_ready),
    .conn_cmd_i(conn_cmd),
    .conn_cmd_rsp_valid_o(conn_cmd_rsp_valid),
    .conn_cmd_rsp_ready_i(conn_cmd_rsp_ready),
    .conn_cmd_rsp_o(conn_cmd_rsp),
    .raw_tx_hdr_valid_i(raw_tx_hdr_valid),
    .raw_tx_hdr_ready_o(raw_tx_hdr_ready),
    .raw_tx_hdr_i(raw_tx_hdr),
    .raw_tx_valid_i(raw_tx_valid),
    .raw_tx_ready_o(raw_tx_ready),
    .raw_tx_i(raw_tx),
    .raw_rx_hdr_valid_o(raw_rx_hdr_valid),
    .raw_rx_hdr_ready_i(raw_rx_hdr_ready),
    .raw_rx_hdr_o(raw_rx_hdr),
    .raw_rx_valid_o(raw_rx_valid),
    .raw_rx_ready_i(raw_rx_ready),
    .raw_rx_o(raw_rx),
    .qp_ctl_llp_valid_i(qp_ctl_llp_valid),
    .qp_ctl_llp_ready_o(qp_ctl_llp_ready),
    .qp_ctl_llp_i(qp_ctl_llp),
    .qp_ack_llp_valid_o(qp_ack_llp_valid),
    .qp_ack_llp_ready_i(qp_ack_llp_ready),
    .qp_ack_llp_o(qp_ack_llp),
    .tx_want_valid_i(tx_want_valid),
    .tx_want_ready_o(tx_want_ready),
    .tx_want_i(tx_want),
    .tx_grant_valid_o(tx_grant_valid),
    .tx_grant_ready_i(tx_grant_ready),
    .tx_grant_o(tx_grant),
    .tx_fpdu_hdr_valid_i(tx_fpdu_hdr_valid),
    .tx_fpdu_hdr_ready_o(tx_fpdu_hdr_ready),
    .tx_fpdu_hdr_i(tx_fpdu_hdr),
    .tx_fpdu_valid_i(tx_fpdu_valid),
    .tx_fpdu_ready_o(tx_fpdu_ready),
    .tx_fpdu_i(tx_fpdu),
    .wr_done_valid_o(wr_done_valid),
    .wr_done_ready_i(wr_done_ready),
    .wr_done_o(wr_done),
    .rx_fpdu_hdr_valid_o(rx_fpdu_hdr_valid),
    .rx_fpdu_hdr_ready_i(rx_fpdu_hdr_ready),
    .rx_fpdu_hdr_o(rx_fpdu_hdr),
    .rx_fpdu_valid_o(rx_fpdu_valid),
    .rx_fpdu_ready_i(rx_fpdu_ready),
    .rx_fpdu_o(rx_fpdu),
    .llp_event_valid_o(llp_event_valid),
    .llp_event_ready_i(llp_event_ready),
    .llp_event_o(llp_event),
    .conn_async_valid_o(conn_async_valid),
    .conn_async_ready_i(conn_async_ready),
    .conn_async_o(conn_async)
  );
endmodule
