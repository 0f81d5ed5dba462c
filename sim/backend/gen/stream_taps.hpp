// Printed by specgen from docs/spec; do not edit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rnic::sim {

/// The streams of rnic, as docs/spec/streams.yaml lists them.
struct StreamName {
  const char *name, *from, *to;
};
inline constexpr std::array<StreamName, 118> kStreamNames = {{
    {"mmio_req", "pcie", "host_if"},
    {"mmio_rsp", "host_if", "pcie"},
    {"dma_rd_req", "host_if", "pcie"},
    {"dma_rd_rsp", "pcie", "host_if"},
    {"dma_wr", "host_if", "pcie"},
    {"llp_rx_hdr", "llp", "llp_if"},
    {"llp_rx", "llp", "llp_if"},
    {"llp_tx_hdr", "llp_if", "llp"},
    {"llp_tx", "llp_if", "llp"},
    {"llp_ctl_req", "llp_if", "llp"},
    {"llp_ctl_evt", "llp", "llp_if"},
    {"llp_credit", "llp", "llp_if"},
    {"qp_doorbell", "host_if", "qp"},
    {"cq_doorbell", "host_if", "cq"},
    {"eq_doorbell", "host_if", "cq"},
    {"admin_doorbell", "host_if", "admin"},
    {"sq_rd_req", "qp", "host_if"},
    {"sq_rd_hdr", "host_if", "qp"},
    {"sq_rd", "host_if", "qp"},
    {"rq_rd_req", "qp", "host_if"},
    {"rq_rd_hdr", "host_if", "qp"},
    {"rq_rd", "host_if", "qp"},
    {"admin_rd_req", "admin", "host_if"},
    {"admin_rd_hdr", "host_if", "admin"},
    {"admin_rd", "host_if", "admin"},
    {"payload_req", "ddp", "host_if"},
    {"tx_extent", "tpt", "host_if"},
    {"payload_hdr", "host_if", "ddp"},
    {"payload", "host_if", "ddp"},
    {"rd_retired", "host_if", "tpt"},
    {"place_hdr", "ddp", "host_if"},
    {"place_extent", "ddp", "host_if"},
    {"place", "ddp", "host_if"},
    {"place_done", "host_if", "ddp"},
    {"wr_retired", "host_if", "tpt"},
    {"cq_wr", "cq", "host_if"},
    {"admin_wr", "admin", "host_if"},
    {"qp_cmd", "admin", "qp"},
    {"qp_cmd_rsp", "qp", "admin"},
    {"cq_cmd", "admin", "cq"},
    {"cq_cmd_rsp", "cq", "admin"},
    {"tpt_cmd", "admin", "tpt"},
    {"tpt_cmd_rsp", "tpt", "admin"},
    {"conn_cmd", "admin", "llp_if"},
    {"conn_cmd_rsp", "llp_if", "admin"},
    {"pbl_wr", "admin", "tpt"},
    {"raw_tx_hdr", "admin", "llp_if"},
    {"raw_tx", "admin", "llp_if"},
    {"raw_rx_hdr", "llp_if", "admin"},
    {"raw_rx", "llp_if", "admin"},
    {"qp_ctl_llp", "qp", "llp_if"},
    {"qp_ctl_mpa", "qp", "mpa"},
    {"qp_ctl_ddp", "qp", "ddp"},
    {"qp_ctl_rdmap", "qp", "rdmap"},
    {"qp_ack_llp", "llp_if", "qp"},
    {"qp_ack_mpa", "mpa", "qp"},
    {"qp_ack_ddp", "ddp", "qp"},
    {"qp_ack_rdmap", "rdmap", "qp"},
    {"wqe_check", "qp", "tpt"},
    {"wqe_check_rsp", "tpt", "qp"},
    {"wqe_hdr", "qp", "rdmap"},
    {"wqe", "qp", "rdmap"},
    {"rq_take_req", "ddp", "qp"},
    {"rq_take_rsp", "qp", "ddp"},
    {"cqe_req", "qp", "cq"},
    {"qp_async", "qp", "cq"},
    {"qp_purge", "qp", "host_if"},
    {"cq_fault", "cq", "qp"},
    {"qp_fault", "qp", "rdmap"},
    {"qp_error", "rdmap", "qp"},
    {"tx_message_hdr", "rdmap", "ddp"},
    {"tx_message", "rdmap", "ddp"},
    {"sq_slot_free", "ddp", "qp"},
    {"resp_slot_free", "ddp", "rdmap"},
    {"tx_want", "ddp", "llp_if"},
    {"tx_grant", "llp_if", "ddp"},
    {"tx_xlate", "ddp", "tpt"},
    {"tx_fault", "ddp", "rdmap"},
    {"tx_ulpdu_hdr", "ddp", "mpa"},
    {"tx_ulpdu", "ddp", "mpa"},
    {"tx_fpdu_hdr", "mpa", "llp_if"},
    {"tx_fpdu", "mpa", "llp_if"},
    {"wr_done", "llp_if", "qp"},
    {"rx_fpdu_hdr", "llp_if", "mpa"},
    {"rx_fpdu", "llp_if", "mpa"},
    {"rx_ulpdu_hdr", "mpa", "ddp"},
    {"rx_ulpdu", "mpa", "ddp"},
    {"rx_xlate", "ddp", "tpt"},
    {"rx_xlate_rsp", "tpt", "ddp"},
    {"rx_extent", "tpt", "ddp"},
    {"rx_dropped", "ddp", "tpt"},
    {"rx_segment", "ddp", "rdmap"},
    {"rx_verdict", "rdmap", "ddp"},
    {"rx_done", "ddp", "qp"},
    {"invalidate", "ddp", "tpt"},
    {"invalidated", "tpt", "ddp"},
    {"sq_local", "rdmap", "tpt"},
    {"sq_local_done", "tpt", "rdmap"},
    {"atomic_req", "rdmap", "atomic"},
    {"atomic_dead", "rdmap", "atomic"},
    {"atomic_rsp", "atomic", "rdmap"},
    {"qn1_xlate", "atomic", "tpt"},
    {"qn1_extent", "tpt", "atomic"},
    {"qn1_retired", "atomic", "tpt"},
    {"qn1_rd_req", "atomic", "host_if"},
    {"qn1_rd_hdr", "host_if", "atomic"},
    {"qn1_rd", "host_if", "atomic"},
    {"reg_rd_req", "tpt", "host_if"},
    {"reg_rd_hdr", "host_if", "tpt"},
    {"reg_rd", "host_if", "tpt"},
    {"word_wr", "atomic", "host_if"},
    {"word_done", "host_if", "atomic"},
    {"resp_fetched", "ddp", "rdmap"},
    {"res_done", "rdmap", "qp"},
    {"resp_check", "rdmap", "tpt"},
    {"resp_check_rsp", "tpt", "rdmap"},
    {"llp_event", "llp_if", "qp"},
    {"conn_async", "llp_if", "cq"},
}};

/// What each of them does at an edge: a bit each.
inline constexpr uint8_t kStreamValid = 1, kStreamReady = 2, kStreamFires = 3;
using StreamStates = std::array<uint8_t, kStreamNames.size()>;

/// Root: of a Verilated rnic, whose inner wires sim/backend/taps.vlt keeps.
template <class Root>
void sample_streams(const Root& root, StreamStates& to) {
  const auto bits = [](bool valid, bool ready) {
    return static_cast<uint8_t>((valid ? kStreamValid : 0) | (ready ? kStreamReady : 0));
  };
  to[0] = bits(root.mmio_req_valid_i != 0, root.mmio_req_ready_o != 0);
  to[1] = bits(root.mmio_rsp_valid_o != 0, root.mmio_rsp_ready_i != 0);
  to[2] = bits(root.dma_rd_req_valid_o != 0, root.dma_rd_req_ready_i != 0);
  to[3] = bits(root.dma_rd_rsp_valid_i != 0, root.dma_rd_rsp_ready_o != 0);
  to[4] = bits(root.dma_wr_valid_o != 0, root.dma_wr_ready_i != 0);
  to[5] = bits(root.llp_rx_hdr_valid_i != 0, root.llp_rx_hdr_ready_o != 0);
  to[6] = bits(root.llp_rx_valid_i != 0, root.llp_rx_ready_o != 0);
  to[7] = bits(root.llp_tx_hdr_valid_o != 0, root.llp_tx_hdr_ready_i != 0);
  to[8] = bits(root.llp_tx_valid_o != 0, root.llp_tx_ready_i != 0);
  to[9] = bits(root.llp_ctl_req_valid_o != 0, root.llp_ctl_req_ready_i != 0);
  to[10] = bits(root.llp_ctl_evt_valid_i != 0, root.llp_ctl_evt_ready_o != 0);
  to[11] = bits(root.llp_credit_valid_i != 0, root.llp_credit_ready_o != 0);
  to[12] = bits(root.rnic__DOT__qp_doorbell_valid != 0, root.rnic__DOT__qp_doorbell_ready != 0);
  to[13] = bits(root.rnic__DOT__cq_doorbell_valid != 0, root.rnic__DOT__cq_doorbell_ready != 0);
  to[14] = bits(root.rnic__DOT__eq_doorbell_valid != 0, root.rnic__DOT__eq_doorbell_ready != 0);
  to[15] = bits(root.rnic__DOT__admin_doorbell_valid != 0, root.rnic__DOT__admin_doorbell_ready != 0);
  to[16] = bits(root.rnic__DOT__sq_rd_req_valid != 0, root.rnic__DOT__sq_rd_req_ready != 0);
  to[17] = bits(root.rnic__DOT__sq_rd_hdr_valid != 0, root.rnic__DOT__sq_rd_hdr_ready != 0);
  to[18] = bits(root.rnic__DOT__sq_rd_valid != 0, root.rnic__DOT__sq_rd_ready != 0);
  to[19] = bits(root.rnic__DOT__rq_rd_req_valid != 0, root.rnic__DOT__rq_rd_req_ready != 0);
  to[20] = bits(root.rnic__DOT__rq_rd_hdr_valid != 0, root.rnic__DOT__rq_rd_hdr_ready != 0);
  to[21] = bits(root.rnic__DOT__rq_rd_valid != 0, root.rnic__DOT__rq_rd_ready != 0);
  to[22] = bits(root.rnic__DOT__admin_rd_req_valid != 0, root.rnic__DOT__admin_rd_req_ready != 0);
  to[23] = bits(root.rnic__DOT__admin_rd_hdr_valid != 0, root.rnic__DOT__admin_rd_hdr_ready != 0);
  to[24] = bits(root.rnic__DOT__admin_rd_valid != 0, root.rnic__DOT__admin_rd_ready != 0);
  to[25] = bits(root.rnic__DOT__payload_req_valid != 0, root.rnic__DOT__payload_req_ready != 0);
  to[26] = bits(root.rnic__DOT__tx_extent_valid != 0, root.rnic__DOT__tx_extent_ready != 0);
  to[27] = bits(root.rnic__DOT__payload_hdr_valid != 0, root.rnic__DOT__payload_hdr_ready != 0);
  to[28] = bits(root.rnic__DOT__payload_valid != 0, root.rnic__DOT__payload_ready != 0);
  to[29] = bits(root.rnic__DOT__rd_retired_valid != 0, root.rnic__DOT__rd_retired_ready != 0);
  to[30] = bits(root.rnic__DOT__place_hdr_valid != 0, root.rnic__DOT__place_hdr_ready != 0);
  to[31] = bits(root.rnic__DOT__place_extent_valid != 0, root.rnic__DOT__place_extent_ready != 0);
  to[32] = bits(root.rnic__DOT__place_valid != 0, root.rnic__DOT__place_ready != 0);
  to[33] = bits(root.rnic__DOT__place_done_valid != 0, root.rnic__DOT__place_done_ready != 0);
  to[34] = bits(root.rnic__DOT__wr_retired_valid != 0, root.rnic__DOT__wr_retired_ready != 0);
  to[35] = bits(root.rnic__DOT__cq_wr_valid != 0, root.rnic__DOT__cq_wr_ready != 0);
  to[36] = bits(root.rnic__DOT__admin_wr_valid != 0, root.rnic__DOT__admin_wr_ready != 0);
  to[37] = bits(root.rnic__DOT__qp_cmd_valid != 0, root.rnic__DOT__qp_cmd_ready != 0);
  to[38] = bits(root.rnic__DOT__qp_cmd_rsp_valid != 0, root.rnic__DOT__qp_cmd_rsp_ready != 0);
  to[39] = bits(root.rnic__DOT__cq_cmd_valid != 0, root.rnic__DOT__cq_cmd_ready != 0);
  to[40] = bits(root.rnic__DOT__cq_cmd_rsp_valid != 0, root.rnic__DOT__cq_cmd_rsp_ready != 0);
  to[41] = bits(root.rnic__DOT__tpt_cmd_valid != 0, root.rnic__DOT__tpt_cmd_ready != 0);
  to[42] = bits(root.rnic__DOT__tpt_cmd_rsp_valid != 0, root.rnic__DOT__tpt_cmd_rsp_ready != 0);
  to[43] = bits(root.rnic__DOT__conn_cmd_valid != 0, root.rnic__DOT__conn_cmd_ready != 0);
  to[44] = bits(root.rnic__DOT__conn_cmd_rsp_valid != 0, root.rnic__DOT__conn_cmd_rsp_ready != 0);
  to[45] = bits(root.rnic__DOT__pbl_wr_valid != 0, root.rnic__DOT__pbl_wr_ready != 0);
  to[46] = bits(root.rnic__DOT__raw_tx_hdr_valid != 0, root.rnic__DOT__raw_tx_hdr_ready != 0);
  to[47] = bits(root.rnic__DOT__raw_tx_valid != 0, root.rnic__DOT__raw_tx_ready != 0);
  to[48] = bits(root.rnic__DOT__raw_rx_hdr_valid != 0, root.rnic__DOT__raw_rx_hdr_ready != 0);
  to[49] = bits(root.rnic__DOT__raw_rx_valid != 0, root.rnic__DOT__raw_rx_ready != 0);
  to[50] = bits(root.rnic__DOT__qp_ctl_llp_valid != 0, root.rnic__DOT__qp_ctl_llp_ready != 0);
  to[51] = bits(root.rnic__DOT__qp_ctl_mpa_valid != 0, root.rnic__DOT__qp_ctl_mpa_ready != 0);
  to[52] = bits(root.rnic__DOT__qp_ctl_ddp_valid != 0, root.rnic__DOT__qp_ctl_ddp_ready != 0);
  to[53] = bits(root.rnic__DOT__qp_ctl_rdmap_valid != 0, root.rnic__DOT__qp_ctl_rdmap_ready != 0);
  to[54] = bits(root.rnic__DOT__qp_ack_llp_valid != 0, root.rnic__DOT__qp_ack_llp_ready != 0);
  to[55] = bits(root.rnic__DOT__qp_ack_mpa_valid != 0, root.rnic__DOT__qp_ack_mpa_ready != 0);
  to[56] = bits(root.rnic__DOT__qp_ack_ddp_valid != 0, root.rnic__DOT__qp_ack_ddp_ready != 0);
  to[57] = bits(root.rnic__DOT__qp_ack_rdmap_valid != 0, root.rnic__DOT__qp_ack_rdmap_ready != 0);
  to[58] = bits(root.rnic__DOT__wqe_check_valid != 0, root.rnic__DOT__wqe_check_ready != 0);
  to[59] = bits(root.rnic__DOT__wqe_check_rsp_valid != 0, root.rnic__DOT__wqe_check_rsp_ready != 0);
  to[60] = bits(root.rnic__DOT__wqe_hdr_valid != 0, root.rnic__DOT__wqe_hdr_ready != 0);
  to[61] = bits(root.rnic__DOT__wqe_valid != 0, root.rnic__DOT__wqe_ready != 0);
  to[62] = bits(root.rnic__DOT__rq_take_req_valid != 0, root.rnic__DOT__rq_take_req_ready != 0);
  to[63] = bits(root.rnic__DOT__rq_take_rsp_valid != 0, root.rnic__DOT__rq_take_rsp_ready != 0);
  to[64] = bits(root.rnic__DOT__cqe_req_valid != 0, root.rnic__DOT__cqe_req_ready != 0);
  to[65] = bits(root.rnic__DOT__qp_async_valid != 0, root.rnic__DOT__qp_async_ready != 0);
  to[66] = bits(root.rnic__DOT__qp_purge_valid != 0, root.rnic__DOT__qp_purge_ready != 0);
  to[67] = bits(root.rnic__DOT__cq_fault_valid != 0, root.rnic__DOT__cq_fault_ready != 0);
  to[68] = bits(root.rnic__DOT__qp_fault_valid != 0, root.rnic__DOT__qp_fault_ready != 0);
  to[69] = bits(root.rnic__DOT__qp_error_valid != 0, root.rnic__DOT__qp_error_ready != 0);
  to[70] = bits(root.rnic__DOT__tx_message_hdr_valid != 0, root.rnic__DOT__tx_message_hdr_ready != 0);
  to[71] = bits(root.rnic__DOT__tx_message_valid != 0, root.rnic__DOT__tx_message_ready != 0);
  to[72] = bits(root.rnic__DOT__sq_slot_free_valid != 0, root.rnic__DOT__sq_slot_free_ready != 0);
  to[73] = bits(root.rnic__DOT__resp_slot_free_valid != 0, root.rnic__DOT__resp_slot_free_ready != 0);
  to[74] = bits(root.rnic__DOT__tx_want_valid != 0, root.rnic__DOT__tx_want_ready != 0);
  to[75] = bits(root.rnic__DOT__tx_grant_valid != 0, root.rnic__DOT__tx_grant_ready != 0);
  to[76] = bits(root.rnic__DOT__tx_xlate_valid != 0, root.rnic__DOT__tx_xlate_ready != 0);
  to[77] = bits(root.rnic__DOT__tx_fault_valid != 0, root.rnic__DOT__tx_fault_ready != 0);
  to[78] = bits(root.rnic__DOT__tx_ulpdu_hdr_valid != 0, root.rnic__DOT__tx_ulpdu_hdr_ready != 0);
  to[79] = bits(root.rnic__DOT__tx_ulpdu_valid != 0, root.rnic__DOT__tx_ulpdu_ready != 0);
  to[80] = bits(root.rnic__DOT__tx_fpdu_hdr_valid != 0, root.rnic__DOT__tx_fpdu_hdr_ready != 0);
  to[81] = bits(root.rnic__DOT__tx_fpdu_valid != 0, root.rnic__DOT__tx_fpdu_ready != 0);
  to[82] = bits(root.rnic__DOT__wr_done_valid != 0, root.rnic__DOT__wr_done_ready != 0);
  to[83] = bits(root.rnic__DOT__rx_fpdu_hdr_valid != 0, root.rnic__DOT__rx_fpdu_hdr_ready != 0);
  to[84] = bits(root.rnic__DOT__rx_fpdu_valid != 0, root.rnic__DOT__rx_fpdu_ready != 0);
  to[85] = bits(root.rnic__DOT__rx_ulpdu_hdr_valid != 0, root.rnic__DOT__rx_ulpdu_hdr_ready != 0);
  to[86] = bits(root.rnic__DOT__rx_ulpdu_valid != 0, root.rnic__DOT__rx_ulpdu_ready != 0);
  to[87] = bits(root.rnic__DOT__rx_xlate_valid != 0, root.rnic__DOT__rx_xlate_ready != 0);
  to[88] = bits(root.rnic__DOT__rx_xlate_rsp_valid != 0, root.rnic__DOT__rx_xlate_rsp_ready != 0);
  to[89] = bits(root.rnic__DOT__rx_extent_valid != 0, root.rnic__DOT__rx_extent_ready != 0);
  to[90] = bits(root.rnic__DOT__rx_dropped_valid != 0, root.rnic__DOT__rx_dropped_ready != 0);
  to[91] = bits(root.rnic__DOT__rx_segment_valid != 0, root.rnic__DOT__rx_segment_ready != 0);
  to[92] = bits(root.rnic__DOT__rx_verdict_valid != 0, root.rnic__DOT__rx_verdict_ready != 0);
  to[93] = bits(root.rnic__DOT__rx_done_valid != 0, root.rnic__DOT__rx_done_ready != 0);
  to[94] = bits(root.rnic__DOT__invalidate_valid != 0, root.rnic__DOT__invalidate_ready != 0);
  to[95] = bits(root.rnic__DOT__invalidated_valid != 0, root.rnic__DOT__invalidated_ready != 0);
  to[96] = bits(root.rnic__DOT__sq_local_valid != 0, root.rnic__DOT__sq_local_ready != 0);
  to[97] = bits(root.rnic__DOT__sq_local_done_valid != 0, root.rnic__DOT__sq_local_done_ready != 0);
  to[98] = bits(root.rnic__DOT__atomic_req_valid != 0, root.rnic__DOT__atomic_req_ready != 0);
  to[99] = bits(root.rnic__DOT__atomic_dead_valid != 0, root.rnic__DOT__atomic_dead_ready != 0);
  to[100] = bits(root.rnic__DOT__atomic_rsp_valid != 0, root.rnic__DOT__atomic_rsp_ready != 0);
  to[101] = bits(root.rnic__DOT__qn1_xlate_valid != 0, root.rnic__DOT__qn1_xlate_ready != 0);
  to[102] = bits(root.rnic__DOT__qn1_extent_valid != 0, root.rnic__DOT__qn1_extent_ready != 0);
  to[103] = bits(root.rnic__DOT__qn1_retired_valid != 0, root.rnic__DOT__qn1_retired_ready != 0);
  to[104] = bits(root.rnic__DOT__qn1_rd_req_valid != 0, root.rnic__DOT__qn1_rd_req_ready != 0);
  to[105] = bits(root.rnic__DOT__qn1_rd_hdr_valid != 0, root.rnic__DOT__qn1_rd_hdr_ready != 0);
  to[106] = bits(root.rnic__DOT__qn1_rd_valid != 0, root.rnic__DOT__qn1_rd_ready != 0);
  to[107] = bits(root.rnic__DOT__reg_rd_req_valid != 0, root.rnic__DOT__reg_rd_req_ready != 0);
  to[108] = bits(root.rnic__DOT__reg_rd_hdr_valid != 0, root.rnic__DOT__reg_rd_hdr_ready != 0);
  to[109] = bits(root.rnic__DOT__reg_rd_valid != 0, root.rnic__DOT__reg_rd_ready != 0);
  to[110] = bits(root.rnic__DOT__word_wr_valid != 0, root.rnic__DOT__word_wr_ready != 0);
  to[111] = bits(root.rnic__DOT__word_done_valid != 0, root.rnic__DOT__word_done_ready != 0);
  to[112] = bits(root.rnic__DOT__resp_fetched_valid != 0, root.rnic__DOT__resp_fetched_ready != 0);
  to[113] = bits(root.rnic__DOT__res_done_valid != 0, root.rnic__DOT__res_done_ready != 0);
  to[114] = bits(root.rnic__DOT__resp_check_valid != 0, root.rnic__DOT__resp_check_ready != 0);
  to[115] = bits(root.rnic__DOT__resp_check_rsp_valid != 0, root.rnic__DOT__resp_check_rsp_ready != 0);
  to[116] = bits(root.rnic__DOT__llp_event_valid != 0, root.rnic__DOT__llp_event_ready != 0);
  to[117] = bits(root.rnic__DOT__conn_async_valid != 0, root.rnic__DOT__conn_async_ready != 0);
}

}  // namespace rnic::sim
