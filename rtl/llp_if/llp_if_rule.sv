// llp_if_rule: decides the outcome of an item for its connection: the row of the table, and the
// requests, responses and reports. Combinational.
//
//   source    item
//   TermLeft  a Terminate was sent
//   TermLate  a Terminate got no credit in time
//   Event     an event of the LLP
//   RawCheck  check whether admin's streaming bytes may be sent
//   RawAbort  admin's streaming bytes could not be sent
//   Order     an order of qp
//   Command   a command of admin
//
//   state         peer closes    FIN sent       closed    reset    failed
//   connecting    -              -              closed    reset    failed
//   established   peer_closed    local_closed   closed    reset    failed
//   peer_closed   -              -              closed    reset    failed
//   local_closed  -              -              closed    reset    failed
//
// Invariants:
//  1. Rows of ended connections stay until release. A connection whose FIN is sent sends nothing
//     more.
//  2. A connection that has ended, or is to be reset, delivers no more bytes: waiting is 0.
//  3. conn_give is accepted only for open connections. An outstanding conn_give ends when its
//     connection ends (llp_if_give).
//
// Rows: {local port 16, peer port 16, peer address 32, waiting 16, state 4, FIN sent, passive,
// has QP, mss 16, markers sent, QPN}: 104 bits and the QPN. waiting: streaming bytes that the LLP
// has received and conn_give has not fetched. passive: the peer has opened the connection.
// Sibling: llp_if_ctl (its user). Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_words.svh"

module llp_if_rule #(
  localparam int unsigned QpW  = $clog2(rnic_pkg::NumQps),
  localparam int unsigned RowW = 104 + QpW
) (
  // the item
  input  logic [2:0]              source_i,        // source_e
  input  logic                    number_ok_i,     // the connection's number is in range
  input  logic [15:0]             conn_i,
  input  logic                    linked_i,        // qp's order: this QP has a connection
  input  iwarp_pkg::llp_ctl_evt_t evt_i,
  input  iwarp_pkg::conn_cmd_t    cmd_i,
  input  iwarp_pkg::qp_ctl_llp_t  ctl_i,
  input  logic                    connecting_i,    // a connect waits for its number
  input  logic [31:0]             peer_address_i,
  input  logic [15:0]             peer_port_i,
  input  logic                    credit_i,        // for the command's streaming bytes
  input  logic [QpW-1:0]          qpn_i,
  // the row
  input  logic [RowW-1:0]         row_i,
  output logic [RowW-1:0]         row_o,
  output logic                    row_we_o,
  // outcome: a request to the LLP, a response to admin, an acknowledgement to qp, an event for qp,
  // a report to cq (async)
  output logic                    req_o,
  output logic [3:0]              req_op_o,
  output logic                    rsp_o,
  output logic [7:0]              status_o,
  output logic [127:0]            result_o,
  output logic                    ack_o,
  output logic                    event_o,
  output logic [2:0]              kind_o,
  output logic                    async_o,
  output logic                    start_o,         // a QP takes the connection
  output logic                    stop_o,          // its QP leaves the connection
  output logic                    drain_o,         // half_close: earlier items drain before the FIN
  output logic                    resize_o,        // a QP's segment size (mss) has changed
  output logic                    forget_o,        // released: its credit is cleared
  output logic                    check_ok_o,      // RawCheck: streaming bytes may be sent
  output logic                    gives_o,         // conn_give is requested from the LLP
  output logic                    ends_o,          // the connection has ended
  output logic                    exists_o,        // of the new row: the connection is not free
  output logic                    has_qp_o,        // of the new row
  output logic                    connect_sent_o,  // a conn_connect begins: `assigned` follows
  output logic                    connect_done_o   // `assigned` has come
);
  typedef `RNIC_LLP_IF_SOURCE_E source_e;
  logic [15:0]    local_port, peer_port, waiting, mss, local_port_d, peer_port_d, waiting_d, mss_d;
  logic [31:0]    address, address_d;
  logic [3:0]     state, state_d;
  logic           passive, has_qp, markers, fin, passive_d, has_qp_d, markers_d, fin_d, closes;
  logic [3:0]     state_n;
  logic [QpW-1:0] qpn, qpn_d;
  logic           free, open, ended, talks, unowned, same_qp;
  logic [15:0]    give_length;

  assign {local_port, peer_port, address, waiting, state, fin, passive, has_qp,
          mss, markers, qpn} = row_i;
  assign row_o = {local_port_d, peer_port_d, address_d, waiting_d, state_n, fin_d || closes,
                  passive_d, has_qp_d, mss_d, markers_d, qpn_d};
  assign state_n = closes && state == iwarp_pkg::ConnEstablished ? iwarp_pkg::ConnLocalClosed
                                                                 : state_d;

  assign free    = state == iwarp_pkg::ConnFree;
  assign ended   = state == iwarp_pkg::ConnClosed || state == iwarp_pkg::ConnReset ||
                   state == iwarp_pkg::ConnFailed;
  assign open    = !free && !ended;
  // talks: the connection may send. unowned: no QP has taken it. closes: this item sends the FIN.
  assign talks   = !fin &&
                   (state == iwarp_pkg::ConnEstablished || state == iwarp_pkg::ConnPeerClosed);
  assign unowned = !has_qp;
  assign same_qp = has_qp && qpn == qpn_i;
  assign give_length = cmd_i.args[79:64];
  assign exists_o    = state_n != iwarp_pkg::ConnFree;
  assign has_qp_o    = has_qp_d;
  assign check_ok_o  = talks && unowned;
  assign result_o    = cmd_i.opcode == iwarp_pkg::CmdConnQuery || connect_done_o
                     ? {local_port_d, peer_port_d, address_d, mss_d, waiting_d, 8'd0,
                        2'd0, has_qp_d, passive_d, state_n, conn_i}
                     : 128'd0;

  always_comb begin
    local_port_d   = local_port;
    peer_port_d    = peer_port;
    address_d      = address;
    waiting_d      = waiting;
    state_d        = state;
    passive_d      = passive;
    has_qp_d       = has_qp;
    fin_d          = fin;
    closes         = 1'b0;
    mss_d          = mss;
    markers_d      = markers;
    qpn_d          = qpn;
    row_we_o       = 1'b0;
    req_o          = 1'b0;
    req_op_o       = iwarp_pkg::LlpAbort;   // of TermLate, RawAbort, an abort of qp, conn_abort
    rsp_o          = 1'b0;
    status_o       = iwarp_pkg::AdmOk;
    ack_o          = 1'b0;
    event_o        = 1'b0;
    kind_o         = iwarp_pkg::LqeLost;
    async_o        = 1'b0;
    start_o        = 1'b0;
    stop_o         = 1'b0;
    drain_o        = 1'b0;
    resize_o       = 1'b0;
    forget_o       = 1'b0;
    gives_o        = 1'b0;
    ends_o         = 1'b0;
    connect_sent_o = 1'b0;
    connect_done_o = 1'b0;
    unique case (source_i)
      SrcTermLeft: begin   // our Terminate was sent: FIN after it
        req_o    = talks;
        req_op_o = iwarp_pkg::LlpHalfClose;
        closes   = talks;
        row_we_o = 1'b1;
        event_o  = same_qp;
        kind_o   = iwarp_pkg::LqeTermDone;
      end
      SrcTermLate: begin   // our Terminate got no credit in time: abort
        req_o     = open;
        waiting_d = '0;
        row_we_o  = 1'b1;
        event_o   = same_qp;
        kind_o    = iwarp_pkg::LqeTermDone;
      end
      SrcEvent: begin
        row_we_o = number_ok_i;
        unique case (evt_i.kind)
          iwarp_pkg::LlpEvAssigned: begin
            row_we_o       = number_ok_i && connecting_i;
            connect_done_o = connecting_i;
            rsp_o          = connecting_i;
            status_o       = number_ok_i ? iwarp_pkg::AdmOk : iwarp_pkg::AdmNoResource;
            fin_d          = 1'b0;
            state_d        = number_ok_i ? iwarp_pkg::ConnConnecting : iwarp_pkg::ConnFree;
            passive_d      = 1'b0;
            has_qp_d       = 1'b0;
            waiting_d      = '0;
            address_d      = peer_address_i;
            peer_port_d    = peer_port_i;
            local_port_d   = evt_i.local_port;
          end
          iwarp_pkg::LlpEvIncoming: begin
            fin_d        = 1'b0;
            state_d      = iwarp_pkg::ConnEstablished;
            passive_d    = 1'b1;
            has_qp_d     = 1'b0;
            waiting_d    = '0;
            address_d    = evt_i.address;
            peer_port_d  = evt_i.port;
            local_port_d = evt_i.local_port;
            async_o      = number_ok_i;
          end
          iwarp_pkg::LlpEvEstablished: begin
            if (state == iwarp_pkg::ConnConnecting) state_d = iwarp_pkg::ConnEstablished;
            if (evt_i.local_port != '0) local_port_d = evt_i.local_port;
            async_o = number_ok_i && !free && unowned;
          end
          iwarp_pkg::LlpEvWaiting: begin
            if (open) waiting_d = evt_i.length;
            async_o = number_ok_i && !free && unowned;
          end
          iwarp_pkg::LlpEvMss: begin
            mss_d    = evt_i.length;
            resize_o = number_ok_i && has_qp;
          end
          iwarp_pkg::LlpEvPeerClosed: begin
            if (state == iwarp_pkg::ConnEstablished) state_d = iwarp_pkg::ConnPeerClosed;
            kind_o  = iwarp_pkg::LqePeerClosed;
            event_o = number_ok_i && !free && has_qp;
            async_o = number_ok_i && !free && unowned;
          end
          iwarp_pkg::LlpEvClosed: begin
            if (open) state_d = iwarp_pkg::ConnClosed;
            waiting_d = '0;
            ends_o  = number_ok_i;
            kind_o  = iwarp_pkg::LqeClosed;
            event_o = number_ok_i && !free && has_qp;
            async_o = number_ok_i && !free && unowned;
          end
          default: begin   // reset, failed
            if (open)
              state_d = evt_i.kind == iwarp_pkg::LlpEvReset ? iwarp_pkg::ConnReset
                                                            : iwarp_pkg::ConnFailed;
            waiting_d = '0;
            ends_o  = number_ok_i;
            event_o = number_ok_i && !free && has_qp;
            async_o = number_ok_i && !free && unowned;
          end
        endcase
      end
      SrcRawCheck: ;   // check_ok_o
      SrcRawAbort: begin
        req_o     = open;
        waiting_d = '0;
        row_we_o  = 1'b1;
      end
      SrcOrder: begin
        ack_o = 1'b1;
        unique case (ctl_i.op)
          iwarp_pkg::QpoStart: begin
            if (number_ok_i && !free && unowned) begin
              start_o   = 1'b1;
              row_we_o  = 1'b1;
              has_qp_d  = 1'b1;
              qpn_d     = qpn_i;
              markers_d = ctl_i.params.tx_markers;
              req_o     = open;
              req_op_o  = iwarp_pkg::LlpRdmaMode;
              event_o   = state != iwarp_pkg::ConnEstablished;   // lost since admin checked it
            end else begin
              event_o = 1'b1;
            end
          end
          iwarp_pkg::QpoHalfClose: begin
            req_o    = linked_i && talks;
            req_op_o = iwarp_pkg::LlpHalfClose;
            drain_o  = linked_i;
            row_we_o = linked_i;
            closes   = talks;
          end
          iwarp_pkg::QpoSync: ;   // changes no state of the connection
          default: begin   // stop, abort
            stop_o   = linked_i;
            row_we_o = linked_i;
            has_qp_d = 1'b0;
            req_o    = linked_i && open && ctl_i.op == iwarp_pkg::QpoAbort;
            if (req_o) waiting_d = '0;
            async_o  = linked_i && ended;
          end
        endcase
      end
      default: begin   // SrcCommand
        rsp_o    = 1'b1;
        status_o = !number_ok_i || free ? iwarp_pkg::AdmNotFound : iwarp_pkg::AdmBadState;
        case (cmd_i.opcode)
          iwarp_pkg::CmdConnListen, iwarp_pkg::CmdConnUnlisten: begin
            req_o    = cmd_i.object[31:16] == '0;
            req_op_o = cmd_i.opcode == iwarp_pkg::CmdConnListen ? iwarp_pkg::LlpListen
                                                                : iwarp_pkg::LlpUnlisten;
            status_o = req_o ? iwarp_pkg::AdmOk : iwarp_pkg::AdmBadObject;
          end
          iwarp_pkg::CmdConnConnect: begin
            req_o          = 1'b1;
            req_op_o       = iwarp_pkg::LlpConnect;
            rsp_o          = 1'b0;
            connect_sent_o = 1'b1;
          end
          iwarp_pkg::CmdConnQuery: if (number_ok_i && !free) status_o = iwarp_pkg::AdmOk;
          iwarp_pkg::CmdConnGive: begin
            if (number_ok_i && open && unowned) begin
              if (give_length == '0 || give_length > waiting) status_o = iwarp_pkg::AdmBadArgument;
              else begin
                status_o  = iwarp_pkg::AdmOk;
                req_o     = 1'b1;
                req_op_o  = iwarp_pkg::LlpGive;
                gives_o   = 1'b1;
                row_we_o  = 1'b1;
                waiting_d = waiting - give_length;
              end
            end
          end
          iwarp_pkg::CmdConnSend: begin
            if (number_ok_i && talks && unowned)
              status_o = credit_i ? iwarp_pkg::AdmOk : iwarp_pkg::AdmNoCredit;
          end
          iwarp_pkg::CmdConnClose: begin
            if (number_ok_i && talks && unowned) begin
              status_o = iwarp_pkg::AdmOk;
              req_o    = 1'b1;
              req_op_o = iwarp_pkg::LlpHalfClose;
              row_we_o = 1'b1;
              closes   = 1'b1;
            end
          end
          iwarp_pkg::CmdConnAbort: begin
            if (number_ok_i && !free) begin
              status_o  = iwarp_pkg::AdmOk;
              req_o     = 1'b1;
              row_we_o  = 1'b1;
              waiting_d = '0;
            end
          end
          iwarp_pkg::CmdConnRelease: begin
            if (number_ok_i && !free) begin
              status_o = iwarp_pkg::AdmInUse;
              if (ended && unowned) begin
                status_o     = iwarp_pkg::AdmOk;
                req_o        = 1'b1;
                req_op_o     = iwarp_pkg::LlpReleased;
                forget_o     = 1'b1;
                row_we_o     = 1'b1;
                state_d      = iwarp_pkg::ConnFree;
                mss_d        = '0;
                fin_d        = 1'b0;
                waiting_d    = '0;
              end
            end
          end
          iwarp_pkg::CmdModifyQp: begin
            if (number_ok_i && state == iwarp_pkg::ConnEstablished && unowned)
              status_o = credit_i ? iwarp_pkg::AdmOk : iwarp_pkg::AdmNoCredit;
          end
          default: status_o = iwarp_pkg::AdmBadOpcode;
        endcase
      end
    endcase
  end

  logic unused_bits;
  assign unused_bits = ^{evt_i.connection, evt_i.cookie,
                         cmd_i.args[447:80], cmd_i.args[63:0], cmd_i.object[15:0],
                         ctl_i.qpn, ctl_i.params};
endmodule
