// The edges between the units, one line each: the C++ of the wires of rtl/gen/rnic.sv, by producer.
// The files of the units do not include one another; only this file knows both ends of an edge.
#include "top/rnic.hpp"

namespace rnic::model {

void Rnic::connect() {
  // host_if
  host_.qp_doorbell_o.to<&QpUnit::doorbell>(qp_);
  host_.cq_doorbell_o.to<&CqUnit::cq_doorbell>(cq_);
  host_.eq_doorbell_o.to<&CqUnit::eq_doorbell>(cq_);
  host_.admin_doorbell_o.to(admin_.in);
  host_.dev_cfg_admin_o.to<&AdminUnit::configure>(admin_);
  host_.dev_cfg_tpt_o.to<&TptUnit::configure>(tpt_);
  host_.sq_rd_o.to(qp_.sq_rd);
  host_.rq_rd_o.to(qp_.rq_rd);
  host_.admin_rd_o.to(admin_.in);
  host_.payload_o.to(ddp_.payload);
  host_.qn1_rd_o.to(atomic_.qn1_rd);
  host_.reg_rd_o.to(tpt_.reg_rd);
  host_.place_done_o.to<&DdpUnit::place_done>(ddp_);
  host_.placed_o.to<&AtomicUnit::look>(atomic_);
  host_.word_done_o.to<&AtomicUnit::word_done>(atomic_);
  host_.retired_o.to<&TptUnit::retired>(tpt_);
  host_.admin_fatal_i.to<&AdminUnit::fatal>(admin_);
  host_.count_admin_i.to<&AdminUnit::count>(admin_);
  host_.count_qp_i.to<&QpUnit::count>(qp_);
  host_.count_tpt_i.to<&TptUnit::count>(tpt_);
  host_.count_rdmap_i.to<&RdmapUnit::count>(rdmap_);
  host_.count_ddp_i.to<&DdpUnit::count>(ddp_);
  host_.count_mpa_i.to<&MpaUnit::count>(mpa_);
  host_.count_cq_i.to<&CqUnit::count>(cq_);
  host_.count_llp_if_i.to<&LlpUnit::count>(llp_);
  host_.count_atomic_i.to<&AtomicUnit::count>(atomic_);

  // admin
  admin_.admin_rd_req_o.to(host_.admin_rd_req);
  admin_.admin_wr_o.to<&HostUnit::write_admin>(host_);
  admin_.qp_cmd_o.to(qp_.control);
  admin_.cq_cmd_o.to(cq_.control);
  admin_.tpt_cmd_o.to(tpt_.control);
  admin_.conn_cmd_o.to(llp_.commands);
  admin_.pbl_wr_o.to<&TptUnit::pbl_wr>(tpt_);
  admin_.raw_tx_o.to(llp_.raw_tx);

  // qp
  qp_.sq_rd_req_o.to(host_.sq_rd_req);
  qp_.rq_rd_req_o.to(host_.rq_rd_req);
  qp_.wqe_o.to(rdmap_.wqe);
  qp_.rq_ready_o.to<&DdpUnit::receive_ready>(ddp_);
  qp_.cqe_req_o.to(cq_.cqe_req);
  qp_.qp_cmd_rsp_o.to<&AdminUnit::answer>(admin_);
  qp_.qp_purge_o.to<&HostUnit::purge>(host_);
  qp_.qp_async_o.to(cq_.control);
  qp_.qp_fault_o.to(rdmap_.control);
  qp_.qp_ctl_mpa_o.to(mpa_.control);
  qp_.qp_ctl_ddp_o.to(ddp_.control);
  qp_.qp_ctl_rdmap_o.to(rdmap_.control);
  qp_.qp_ctl_llp_o.to(llp_.control);

  // cq
  cq_.cq_wr_o.to(host_.cq_wr);
  cq_.cq_cmd_rsp_o.to<&AdminUnit::answer>(admin_);
  cq_.cq_fault_o.to(qp_.control);

  // llp_if
  llp_.rx_fpdu_o.to<&MpaUnit::push_rx>(mpa_, mpa_.rx_fpdu);
  llp_.raw_rx_o.to(admin_.in);
  llp_.tx_grant_o.to(ddp_.wants);
  llp_.wr_done_o.to(qp_.wr_done);
  llp_.conn_cmd_rsp_o.to<&AdminUnit::answer>(admin_);
  llp_.qp_ack_llp_o.to<&QpUnit::ack<Qp::Peer::kLlp>>(qp_);
  llp_.llp_event_o.to(qp_.control);
  llp_.conn_async_o.to(cq_.control);

  // mpa
  mpa_.rx_ulpdu_o.to<&DdpUnit::push_rx>(ddp_, ddp_.rx_ulpdu);
  mpa_.tx_fpdu_o.to(llp_.tx_fpdu);
  mpa_.qp_ack_mpa_o.to<&QpUnit::ack<Qp::Peer::kMpa>>(qp_);

  // ddp
  ddp_.tx_want_o.to<&LlpUnit::grant>(llp_);
  ddp_.payload_req_o.to(host_.payload_req);
  ddp_.payload_taken_o.to<&HostUnit::payload_taken>(host_);
  ddp_.tx_ulpdu_o.to<&MpaUnit::push_tx>(mpa_, mpa_.tx_ulpdu);
  ddp_.tx_fault_o.to(rdmap_.control);
  ddp_.sq_slot_free_o.to<&QpUnit::sq_slot_free>(qp_);
  ddp_.resp_slot_free_o.to<&RdmapUnit::resp_slot_free>(rdmap_);
  ddp_.resp_fetched_o.to<&RdmapUnit::resp_fetched>(rdmap_);
  ddp_.rq_take_req_o.to<&QpUnit::rq_take>(qp_);
  ddp_.rx_segment_in_o.to<&RdmapUnit::arriving>(rdmap_);
  ddp_.rx_verdict_late_i.to<&RdmapUnit::waited>(rdmap_);
  ddp_.place_o.to(host_.place);
  ddp_.place_latency_i.to<&HostUnit::place_latency>(host_);
  ddp_.rx_done_o.to(qp_.rx_done);
  ddp_.invalidate_o.to(tpt_.invalidations);
  ddp_.qp_ack_ddp_o.to<&QpUnit::ack<Qp::Peer::kDdp>>(qp_);

  // rdmap
  rdmap_.tx_message_o.to<&DdpUnit::message>(ddp_);
  rdmap_.atomic_req_o.to<&AtomicUnit::request>(atomic_);
  rdmap_.atomic_result_o.to<&AtomicUnit::result>(atomic_);
  rdmap_.atomic_look_o.to<&AtomicUnit::look>(atomic_);
  rdmap_.atomic_busy_i.to<&AtomicUnit::busy>(atomic_);
  rdmap_.atomic_stores_i.to<&AtomicUnit::stores_results>(atomic_);
  rdmap_.sq_local_o.to(tpt_.local);
  rdmap_.res_done_o.to(qp_.rx_done);
  rdmap_.qp_error_o.to(qp_.control);
  rdmap_.qp_ack_rdmap_o.to<&QpUnit::ack<Qp::Peer::kRdmap>>(qp_);

  // atomic
  atomic_.qn1_rd_req_o.to(host_.qn1_rd_req);
  atomic_.word_wr_o.to(host_.word_wr);
  atomic_.atomic_rsp_o.to<&RdmapUnit::atomic_rsp>(rdmap_);
  atomic_.item_left_o.to<&RdmapUnit::item_left>(rdmap_);
  atomic_.qp_alive_i.to<&RdmapUnit::is_alive>(rdmap_);
  atomic_.qp_fetched_i.to<&RdmapUnit::fetched>(rdmap_);
  atomic_.placed_i.to<&HostUnit::placed>(host_);

  // tpt
  tpt_.tpt_cmd_rsp_o.to<&AdminUnit::answer>(admin_);
  tpt_.invalidated_o.to<&DdpUnit::invalidated>(ddp_);
  tpt_.sq_local_done_o.to<&RdmapUnit::sq_local_done>(rdmap_);
  tpt_.reg_rd_req_o.to(host_.reg_rd_req);
}

}  // namespace rnic::model
