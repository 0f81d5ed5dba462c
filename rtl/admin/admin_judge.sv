// admin_judge: checks whether a command is well formed. admin_exec uses status_o first (opcode and
// object range). When the objects that the command names exist, it uses refs_ok_o and args_ok_o.
//
// admin_exec checks existence in admin_tables; the units check states. Reserved bits must be zero.
// Other fields that an opcode does not use are not checked.
// Combinational, registered by its user. Bench: tb/admin/admin_test.cpp
module admin_judge (
  input  iwarp_pkg::admin_cmd_t    cmd_i,
  output iwarp_pkg::admin_status_e status_o,   // of opcode and object
  output logic                     refs_ok_o,  // PD, CQs, EQ and SRQ in args are in range
  output logic                     args_ok_o
);
  iwarp_pkg::admin_ring_args_t   ring;
  iwarp_pkg::admin_qp_args_t     qp;
  iwarp_pkg::admin_srq_args_t    srq;
  iwarp_pkg::admin_limit_args_t  limit;
  iwarp_pkg::admin_modify_args_t mod;
  iwarp_pkg::admin_mr_args_t     mr;
  iwarp_pkg::admin_conn_args_t   conn;
  assign srq   = cmd_i.args;
  assign limit = cmd_i.args;
  assign ring = cmd_i.args;
  assign qp   = cmd_i.args;
  assign mod  = cmd_i.args;
  assign mr   = cmd_i.args;
  assign conn = cmd_i.args;

  // --- rings, aligned to their entries: EQE 16 bytes, CQE 32, WQE units 64
  logic ring_zero, ring_ok, eq_ok, cq_ok;
  assign ring_zero = {ring.reserved0, ring.reserved1, ring.reserved2} == '0;
  assign ring_ok   = ring_zero && 32'(ring.vector) < rnic_pkg::NumVectors &&
                     32'(ring.page) < rnic_pkg::NumPages && ring.log_size <= rnic_pkg::MaxLogCq;
  assign eq_ok     = ring_ok && ring.base[3:0] == '0;
  assign cq_ok     = ring_ok && ring.base[4:0] == '0;

  // rq_ok checks the ring of a QP's receive queue. It also checks the ring of an SRQ, whose fields
  // lie at the same bits of args. A QP with an SRQ has no receive queue: these fields must be 0.
  logic rq_ok, qp_ok, srq_ok, limit_ok;
  assign rq_ok    = qp.log_rq >= rnic_pkg::MinLogRing && qp.log_rq <= rnic_pkg::MaxLogRing &&
                    qp.rq_base[5:0] == '0 && 32'(qp.page) < rnic_pkg::NumPages;
  assign qp_ok    = {qp.reserved0, qp.reserved1, qp.reserved2} == '0 &&
                    qp.log_sq >= rnic_pkg::MinLogRing && qp.log_sq <= rnic_pkg::MaxLogRing &&
                    qp.sq_base[5:0] == '0 && 32'(qp.page) < rnic_pkg::NumPages &&
                    (qp.has_srq ? {qp.log_rq, qp.rq_base} == '0 : rq_ok && qp.srq == '0);
  assign srq_ok   = {srq.reserved0, srq.reserved1, srq.reserved2,
                     srq.reserved3, srq.reserved4} == '0 && rq_ok;
  assign limit_ok = {limit.reserved0, limit.reserved1, limit.reserved2} == '0;

  // --- modify: rts needs its arguments; closing and error need none
  localparam int unsigned StreamMax = 532;   // MPA Reply: 20 bytes and 512 of private data
  logic mod_ok, to_rts;
  assign to_rts = mod.to_state == 8'(iwarp_pkg::QpsRts);
  assign mod_ok = {mod.reserved0, mod.reserved1, mod.reserved2, mod.reserved3} == '0 &&
                  (to_rts ? 32'(mod.connection) < rnic_pkg::NumConns &&
                            32'(mod.ird) <= rnic_pkg::MaxIrd && 32'(mod.ord) <= rnic_pkg::MaxOrd &&
                            32'(mod.ird_base) + 32'(mod.ird) <= rnic_pkg::IrdSlots &&
                            32'(mod.ord_base) + 32'(mod.ord) <= rnic_pkg::OrdSlots &&
                            32'(mod.stream_length) <= StreamMax
                          : mod.to_state == 8'(iwarp_pkg::QpsClosing) ||
                            mod.to_state == 8'(iwarp_pkg::QpsError));

  // --- regions: pages of 4 KiB to 2 MiB (log_page 12 to 21), below 2^22 pages and 2^48 bytes.
  // spanned: bytes of all pages. bound: only QP qpn may use the region; remote_invalidate needs it
  // (decision 13). It excludes mw_bind: no peer may close a region with windows (decision 15).
  logic mr_ok, fast_ok, window_ok;
  logic [52:0] spanned;
  assign spanned = {31'h0, mr.pages[21:0]} << mr.log_page[4:0];
  assign mr_ok   = {mr.reserved1, mr.reserved2} == '0 &&
                   (mr.bound ? 32'(mr.qpn) < rnic_pkg::NumQps
                             : mr.qpn == '0 &&
                               (mr.rights & rnic_pkg::AccessRemoteInvalidate) == '0) &&
                   mr.log_page >= 8'd12 && mr.log_page <= 8'd21 &&
                   (mr.rights & ~rnic_pkg::AccessMask) == '0 &&
                   ((mr.rights & rnic_pkg::AccessRemoteWrite) == '0 ||
                    (mr.rights & rnic_pkg::AccessLocalWrite) != '0) &&
                   ((mr.rights & rnic_pkg::AccessMwBind) == '0 ||
                    (mr.rights & rnic_pkg::AccessRemoteInvalidate) == '0) &&
                   mr.length != '0 && mr.length[63:48] == '0 && mr.first_offset[31:21] == '0 &&
                   (mr.first_offset[20:0] >> mr.log_page[4:0]) == '0 &&
                   mr.pages != '0 && mr.pages[31:22] == '0 &&
                   {5'h0, mr.length[47:0]} + {32'h0, mr.first_offset[20:0]} <= spanned &&
                   {1'b0, mr.pbl_base} + {1'b0, mr.pages} <= 33'(rnic_pkg::NumPbl);

  // A fast region: room for 2^log_page pages. A later registration sets the other fields: here 0.
  assign fast_ok = {mr.bound, mr.qpn, mr.rights, mr.base_to, mr.length, mr.first_offset,
                    mr.page_list, mr.reserved1, mr.reserved2} == '0 &&
                   mr.log_page <= 8'($clog2(rnic_pkg::NumPbl)) &&
                   mr.pages == 32'd1 << mr.log_page[4:0] &&
                   {1'b0, mr.pbl_base} + {1'b0, mr.pages} <= 33'(rnic_pkg::NumPbl);

  // A memory window (mr.window is its type, 1 or 2): a later bind sets all other fields, here 0.
  assign window_ok = {mr.log_page, mr.rights, mr.qpn, mr.base_to, mr.length, mr.first_offset,
                      mr.pbl_base, mr.page_list, mr.pages, mr.bound, mr.fast,
                      mr.reserved1, mr.reserved2} == '0 &&
                     mr.window != 2'd3;

  // --- connections. conn_send: SendMax bytes fit in the FIFO of admin_bytes. conn_give: the limit
  // is the number of bytes that wait, which llp_if_rule knows
  localparam int unsigned SendMax = 1024;
  logic conn_connect_ok, conn_give_ok, conn_send_ok, port_ok, conn_in_range;
  assign conn_connect_ok = conn.reserved0 == '0;
  assign conn_give_ok    = conn.reserved0 == '0 && conn.length != '0;
  assign conn_send_ok    = conn_give_ok && 32'(conn.length) <= SendMax;
  assign port_ok         = cmd_i.object[31:16] == '0;
  assign conn_in_range   = cmd_i.object < rnic_pkg::NumConns;

  logic none_ok;
  assign none_ok = cmd_i.args == '0;

  always_comb begin
    status_o  = iwarp_pkg::AdmOk;
    refs_ok_o = 1'b1;
    args_ok_o = none_ok;
    case (cmd_i.opcode)
      iwarp_pkg::CmdNop, iwarp_pkg::CmdQueryMr, iwarp_pkg::CmdDestroyMr: ;
      iwarp_pkg::CmdCreatePd, iwarp_pkg::CmdDestroyPd:
        if (cmd_i.object >= rnic_pkg::NumPds) status_o = iwarp_pkg::AdmBadObject;
      iwarp_pkg::CmdCreateEq, iwarp_pkg::CmdDestroyEq: begin
        if (cmd_i.object >= rnic_pkg::NumEqs) status_o = iwarp_pkg::AdmBadObject;
        if (cmd_i.opcode == iwarp_pkg::CmdCreateEq) args_ok_o = eq_ok;
      end
      iwarp_pkg::CmdCreateCq, iwarp_pkg::CmdModifyCq: begin
        if (cmd_i.object >= rnic_pkg::NumCqs) status_o = iwarp_pkg::AdmBadObject;
        refs_ok_o = 32'(ring.eqn) < rnic_pkg::NumEqs;
        args_ok_o = cmd_i.opcode == iwarp_pkg::CmdCreateCq ? cq_ok : ring_zero;
      end
      iwarp_pkg::CmdQueryCq, iwarp_pkg::CmdDestroyCq:
        if (cmd_i.object >= rnic_pkg::NumCqs) status_o = iwarp_pkg::AdmBadObject;
      iwarp_pkg::CmdCreateQp: begin
        if (cmd_i.object >= rnic_pkg::NumQps) status_o = iwarp_pkg::AdmBadObject;
        refs_ok_o = 32'(qp.pd) < rnic_pkg::NumPds && 32'(qp.send_cq) < rnic_pkg::NumCqs &&
                    32'(qp.recv_cq) < rnic_pkg::NumCqs &&
                    (!qp.has_srq || 32'(qp.srq) < rnic_pkg::NumQps);
        args_ok_o = qp_ok;
      end
      iwarp_pkg::CmdCreateSrq, iwarp_pkg::CmdModifySrq, iwarp_pkg::CmdDestroySrq: begin
        if (cmd_i.object >= rnic_pkg::NumQps) status_o = iwarp_pkg::AdmBadObject;
        if (cmd_i.opcode == iwarp_pkg::CmdCreateSrq) begin
          refs_ok_o = 32'(srq.pd) < rnic_pkg::NumPds;
          args_ok_o = srq_ok;
        end
        if (cmd_i.opcode == iwarp_pkg::CmdModifySrq) args_ok_o = limit_ok;
      end
      iwarp_pkg::CmdModifyQp: begin
        if (cmd_i.object >= rnic_pkg::NumQps) status_o = iwarp_pkg::AdmBadObject;
        args_ok_o = mod_ok;
      end
      iwarp_pkg::CmdQueryQp, iwarp_pkg::CmdDestroyQp:
        if (cmd_i.object >= rnic_pkg::NumQps) status_o = iwarp_pkg::AdmBadObject;
      iwarp_pkg::CmdCreateMr: begin
        if (cmd_i.object >= rnic_pkg::NumStags) status_o = iwarp_pkg::AdmBadObject;
        refs_ok_o = 32'(mr.pd) < rnic_pkg::NumPds;
        args_ok_o = mr.window != '0 ? window_ok : mr.fast ? fast_ok : mr_ok;
      end
      iwarp_pkg::CmdConnListen, iwarp_pkg::CmdConnUnlisten:
        if (!port_ok) status_o = iwarp_pkg::AdmBadObject;
      iwarp_pkg::CmdConnConnect: args_ok_o = conn_connect_ok;
      iwarp_pkg::CmdConnGive, iwarp_pkg::CmdConnSend: begin
        if (!conn_in_range) status_o = iwarp_pkg::AdmBadObject;
        args_ok_o = cmd_i.opcode == iwarp_pkg::CmdConnGive ? conn_give_ok : conn_send_ok;
      end
      iwarp_pkg::CmdConnQuery, iwarp_pkg::CmdConnClose, iwarp_pkg::CmdConnAbort,
      iwarp_pkg::CmdConnRelease: begin
        if (!conn_in_range) status_o = iwarp_pkg::AdmBadObject;
      end
      default: status_o = iwarp_pkg::AdmBadOpcode;
    endcase
    if (cmd_i.flags != '0) status_o = iwarp_pkg::AdmBadOpcode;
  end

  logic unused_bits;
  assign unused_bits = ^{cmd_i.cookie, srq, limit, qp.privileged, mr.key, mr.base_to, mr.page_list,
                         conn, ring, mod.persist, mod.hold_tx, mod.tx_markers, mod.rx_markers,
                         mod.use_crc, mod.stream_address};
endmodule
