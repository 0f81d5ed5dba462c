// The edges between the units, one line each: the C++ of the wires of rtl/gen/rnic.sv, by producer.
// The files of the units do not include one another; this one alone knows who is at both ends.
#include "top/rnic.hpp"

namespace rnic::model {

void Rnic::connect() {
  // admin
  admin_.admin_rd_req_o.to(host_.admin_rd_req);
  admin_.admin_wr_o.to<&HostUnit::write_admin>(host_);
  admin_.qp_cmd_o.to(qp_.control);
  admin_.cq_cmd_o.to(cq_.control);
  admin_.tpt_cmd_o.to(tpt_.control);
  admin_.conn_cmd_o.to(llp_.commands);
  admin_.pbl_wr_o.to<&TptUnit::pbl_wr>(tpt_);
  admin_.raw_tx_o.to(llp_.raw_tx);

  // cq
  cq_.cq_wr_o.to(host_.cq_wr);
  cq_.cq_cmd_rsp_o.to<&AdminUnit::answer>(admin_);
  cq_.cq_fault_o.to(qp_.control);
}

}  // namespace rnic::model
