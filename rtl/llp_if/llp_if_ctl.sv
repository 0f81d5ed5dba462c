// llp_if_ctl: executes the LLP's events and the requests of admin and qp, one at a time, on the
// table of connections.
//
//   Terminate sent, or  ---+
//     without credit       |
//   llp_ctl_evt -----------+                                       +--> llp_ctl_req
//   raw: check, abort -----+--> choose --> read --> decide, write --+--> conn_cmd_rsp, qp_ack_llp,
//   conn_cmd --------------+                          |                  llp_event, conn_async
//   qp_ctl_llp ------------+                          +--> tables of llp_if_rx, llp_if_tx,
//                                                          llp_if_grant
//
// llp_if_rule decides. Invariants:
//  1. The LLP's events and the other sources alternate, since peers cause events at any rate.
//  2. A start, conn_close and conn_release wait until admin's streaming bytes are sent or dropped,
//     so that the next user of a released number inherits none.
//  3. A start also waits until all earlier wants are checked, and all earlier FPDUs are sent or
//     dropped. So no late FPDU of its QP is sent on the new connection.
//  4. A stop waits until every item that was in flight has drained, in both directions.
//  5. Streaming bytes (of conn_send, of modify_qp with bytes) are admitted when all earlier ones
//     are sent and credit for all of them is available. So no bytes that wait for a peer's window
//     block others.
//  6. If conn_give is outstanding for a connection, an event of that connection is executed after
//     the records that came before it.
//  7. conn_connect waits for `assigned` while other items are executed.
//  8. An event is accepted only if its reports have room, so orders of qp never wait for qp.
// Latency: 5 to 20 cycles per item.
// Siblings: llp_if_rule, llp_if_event, llp_if_grant, llp_if_raw, llp_if_give. Bench:
// tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module llp_if_ctl #(
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps),
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     ready_o,
  // from and to the LLP
  input  logic                     evt_valid_i,
  output logic                     evt_ready_o,
  input  iwarp_pkg::llp_ctl_evt_t  evt_i,
  output logic                     req_valid_o,
  input  logic                     req_ready_i,
  output iwarp_pkg::llp_ctl_req_t  req_o,
  // from and to admin
  input  logic                     cmd_valid_i,
  output logic                     cmd_ready_o,
  input  iwarp_pkg::conn_cmd_t     cmd_i,
  output logic                     rsp_valid_o,
  input  logic                     rsp_ready_i,
  output iwarp_pkg::conn_cmd_rsp_t rsp_o,
  // from and to qp
  input  logic                     ctl_valid_i,
  output logic                     ctl_ready_o,
  input  iwarp_pkg::qp_ctl_llp_t   ctl_i,
  output logic                     ack_valid_o,
  input  logic                     ack_ready_i,
  output iwarp_pkg::qp_ack_llp_t   ack_o,
  // to qp through llp_if_event, and to cq
  output logic                     event_valid_o,
  input  logic                     event_ready_i,
  output iwarp_pkg::llp_event_t    event_o,
  output logic                     async_valid_o,
  input  logic                     async_ready_i,
  output iwarp_pkg::conn_async_t   async_o,
  // from llp_if_tx: a Terminate was sent. late, from llp_if_grant: it got no credit in time
  input  logic                     term_valid_i,
  output logic                     term_ready_o,
  input  logic [QpW-1:0]           term_qpn_i,
  input  logic [ConnW-1:0]         term_conn_i,
  input  logic                     late_valid_i,
  output logic                     late_ready_o,
  input  logic [QpW-1:0]           late_qpn_i,
  input  logic [ConnW-1:0]         late_conn_i,
  // from and to llp_if_raw, about connection raw_conn_i. check: may streaming bytes be sent on it?
  // abort: abort it. raw_idle_i: llp_if_raw has no bytes
  input  logic                     check_valid_i,
  output logic                     check_done_o,
  output logic                     check_ok_o,
  input  logic                     abort_valid_i,
  output logic                     abort_done_o,
  input  logic [ConnW-1:0]         raw_conn_i,
  input  logic                     raw_idle_i,
  // to and from llp_if_grant: checks that credit for streaming bytes is available; reserves none
  output logic                     probe_valid_o,
  input  logic                     probe_ready_i,
  output logic [ConnW-1:0]         probe_conn_o,
  output logic [15:0]              probe_length_o,
  input  logic                     probe_done_i,
  input  logic                     probe_ok_i,
  // to and from llp_if_give
  output logic                     give_asked_o,      // a conn_give of give_conn_o has begun
  output logic                     give_ended_o,      // connection give_conn_i has ended
  output logic [15:0]              give_conn_o,
  input  logic                     give_under_way_i,  // a conn_give of give_conn_i is outstanding
  input  logic [15:0]              give_conn_i,
  // to the tables of llp_if_rx (row of connection rx_map_conn_o) and llp_if_tx (row of cfg_qpn_o)
  output logic                     rx_map_we_o,
  output logic [ConnW-1:0]         rx_map_conn_o,
  output logic                     rx_map_exists_o,
  output logic                     rx_map_has_qp_o,
  output logic [QpW-1:0]           rx_map_qpn_o,
  output logic                     rx_map_hold_o,     // hold_tx: the first FPDU releases the QP
  output logic                     tx_map_we_o,
  output logic                     tx_map_running_o,  // the QP's FPDUs are sent, else dropped
  output logic                     tx_map_fin_o,      // the FIN is sent: its FPDUs are dropped
  // to llp_if_grant, llp_if_tx
  output logic                     cfg_valid_o,
  input  logic                     cfg_ready_i,
  output logic [1:0]               cfg_kind_o,        // 0 a QP's row, 1 its size, 2 clear a credit
  output logic [QpW-1:0]           cfg_qpn_o,
  output logic [ConnW-1:0]         cfg_conn_o,
  output logic                     cfg_running_o,
  output logic                     cfg_hold_o,
  output logic [15:0]              cfg_mulpdu_o,
  output logic [16:0]              cfg_worst_o,
  output logic                     wants_mark_o,      // remember the wants that are queued now
  input  logic                     wants_past_i,      // all of them were checked
  // to and from llp_if_event
  output logic                     mark_o,            // remember the items that are in flight now
  input  logic                     past_i,            // all of them have drained
  input  logic                     tx_past_i          // the FPDUs among them have
);
  localparam int unsigned RowW = 104 + QpW;   // its fields: llp_if_rule

  typedef enum logic [4:0] {
    StIdle,    // chooses
    StQp,      // QP -> connection: read
    StQpRead,  // the connection's number is read
    StBehind,  // an event: earlier records drain
    StProbe,   // admin has streaming bytes: requests credit
    StProbed,  // waits for the response
    StRead,    // the connection's row: read
    StDecide,  // llp_if_rule; the row is written
    StWants,   // start: earlier wants are checked, earlier FPDUs drain
    StSize,    // MULPDU is computed
    StSet,     // llp_if_grant takes a row or a size, or clears a credit
    StDrain,   // stop: items inside drain
    StUnmap,   // stop: records that come from now on are dropped
    StAgain,   // stop: records that arrived meanwhile drain
    StReq,     // the LLP accepts a request
    StAnswer   // responses and events are accepted
  } state_e;

  // --- choose. is_start: the order of qp is a start. ctl_may, cmd_may, evt_may: the order, the
  // command, the event may be executed now. connecting_q: a conn_connect waits for `assigned`. src:
  // where the item comes from (SrcTermLeft, SrcTermLate, SrcEvent, ...: RNIC_LLP_IF_SOURCE_E).
  state_e             state_q;
  typedef `RNIC_LLP_IF_SOURCE_E source_e;
  source_e            src_d, src_q;
  logic               clear_busy, qp_clear_busy, any, connecting_q, number_ok_d, number_ok_q, take;
  logic [QpW-1:0]     qpn_d, qpn_q;
  logic [ConnW-1:0]   conn_d, conn_q, clear_addr;
  // turn_q: another source than the LLP's events is next
  logic               is_start, ctl_may, cmd_may, evt_may, turn_q;
  logic [15:0]        number, bytes;
  logic               has_bytes, credit_q, unused_args;   // of the command
  iwarp_pkg::admin_modify_args_t mod;
  iwarp_pkg::admin_conn_args_t   conn;
  iwarp_pkg::llp_ctl_evt_t evt_q;
  iwarp_pkg::conn_cmd_t    cmd_q;
  iwarp_pkg::qp_ctl_llp_t  ctl_q;

  assign mod       = cmd_i.args;
  assign conn      = cmd_i.args;
  assign bytes     = cmd_i.opcode == iwarp_pkg::CmdConnSend ? conn.length : mod.stream_length;
  assign unused_args = ^{mod, conn};
  assign has_bytes = cmd_i.opcode == iwarp_pkg::CmdConnSend ||
                     (cmd_i.opcode == iwarp_pkg::CmdModifyQp && bytes != '0);

  assign ready_o  = !clear_busy && !qp_clear_busy;
  assign is_start = ctl_i.op == iwarp_pkg::QpoStart;
  assign ctl_may  = ctl_valid_i && (!is_start || (raw_idle_i && event_ready_i));
  assign cmd_may  = cmd_valid_i && !connecting_q &&
                    (raw_idle_i || !(cmd_i.opcode == iwarp_pkg::CmdConnClose ||
                                     cmd_i.opcode == iwarp_pkg::CmdConnRelease || has_bytes));
  assign evt_may  = evt_valid_i && event_ready_i &&
                    !(turn_q && (check_valid_i || abort_valid_i || ctl_may || cmd_may));

  always_comb begin
    any    = 1'b1;
    src_d  = SrcTermLeft;
    number = 16'(term_conn_i);
    qpn_d  = term_qpn_i;
    if (term_valid_i && event_ready_i) begin
      src_d = SrcTermLeft;
    end else if (late_valid_i && event_ready_i) begin
      src_d  = SrcTermLate;
      number = 16'(late_conn_i);
      qpn_d  = late_qpn_i;
    end else if (evt_may) begin
      src_d  = SrcEvent;
      number = evt_i.connection;
    end else if (check_valid_i) begin
      src_d  = SrcRawCheck;
      number = 16'(raw_conn_i);
    end else if (abort_valid_i) begin
      src_d  = SrcRawAbort;
      number = 16'(raw_conn_i);
    end else if (ctl_may) begin
      src_d  = SrcOrder;
      number = ctl_i.params.connection;
      qpn_d  = ctl_i.qpn[QpW-1:0];
    end else if (cmd_may) begin
      src_d  = SrcCommand;
      number = cmd_i.object[15:0];
    end else begin
      any = 1'b0;
    end
    conn_d      = number[ConnW-1:0];
    number_ok_d = 32'(number) < rnic_pkg::NumConns &&
                  (src_d != SrcCommand || cmd_i.object[31:16] == '0);
  end

  // give_waits: the event waits for the record of the outstanding conn_give (invariant 6)
  logic give_waits;
  assign give_waits   = src_d == SrcEvent && give_under_way_i && evt_i.connection == give_conn_i;
  assign take         = state_q == StIdle && any && ready_o;
  assign term_ready_o = take && src_d == SrcTermLeft;
  assign late_ready_o = take && src_d == SrcTermLate;
  assign evt_ready_o  = take && src_d == SrcEvent;
  assign ctl_ready_o  = take && src_d == SrcOrder;
  assign cmd_ready_o  = take && src_d == SrcCommand;

  // --- tables: a row for each connection (row; row_change: llp_if_rule changes it), and each QP's
  // connection (by_qp; link: it has one)
  logic               by_qp_taken, row_we, row_change;
  logic [ConnW-1:0]   by_qp_conn;
  logic [RowW-1:0]    row, row_d;
  logic               link_we, link;

  ram_clear #(.Depth(rnic_pkg::NumConns)) u_clear (
    .clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_addr)
  );

  ram_1r1w #(.Width(RowW), .Depth(rnic_pkg::NumConns)) u_rows (
    .clk_i, .rst_ni,
    .we_i(clear_busy || row_we), .waddr_i(clear_busy ? clear_addr : conn_q),
    .wdata_i(clear_busy ? '0 : row_d),
    .re_i(state_q == StRead), .raddr_i(conn_q), .rdata_o(row)
  );

  logic [QpW-1:0]   qp_clear_addr;

  ram_clear #(.Depth(rnic_pkg::NumQps)) u_qp_clear (
    .clk_i, .rst_ni, .busy_o(qp_clear_busy), .addr_o(qp_clear_addr)
  );

  ram_1r1w #(.Width(1 + ConnW), .Depth(rnic_pkg::NumQps)) u_by_qp (
    .clk_i, .rst_ni,
    .we_i(qp_clear_busy || link_we), .waddr_i(qp_clear_busy ? qp_clear_addr : qpn_q),
    .wdata_i(qp_clear_busy ? '0 : {link, conn_q}),
    .re_i(state_q == StQp), .raddr_i(qpn_q), .rdata_o({by_qp_taken, by_qp_conn})
  );

  // --- decide. taken_q: an order's QP has a connection. size_wait_q: cycles spent in a state that
  // waits, up to 3: StSize waits for the 3 stages of llp_if_size; the others check past_i from the
  // cycle after their mark. llp_if_rule decides: *_d: a request, response, ack, event or report is
  // due. start, stop, resize, forget, drain: which of the steps below follow. gives, ends: for
  // llp_if_give. connect_sent, req_connect_done: a conn_connect begins, ends.
  logic         taken_q, req_d, rsp_d, ack_d, event_d, async_d,
                start, stop, resize, forget, ok, connect_sent;
  logic         req_q, rsp_q, ack_q, event_q, async_q;
  logic         start_q, stop_q, resize_q, forget_q;
  logic         wants_past, now_exists, now_linked, gives, ends, req_connect_done, drain;
  logic [3:0]   req_op_d, req_op_q;
  logic [7:0]   status_d, status_q;
  logic [127:0] result_d, result_q;
  logic [2:0]   kind_d, kind_q;
  logic [15:0]  bytes_q, mss_q, req_length_q, req_port_q, mulpdu;
  logic [31:0]  req_address_q, peer_address_q;
  logic [15:0]  peer_port_q, cookie_q;
  logic [16:0]  worst;
  logic         markers_q;
  logic [1:0]   size_wait_q;
  logic [QpW-1:0] row_qpn;

  llp_if_rule u_rule (
    .source_i(src_q), .number_ok_i(number_ok_q), .conn_i(16'(conn_q)), .linked_i(taken_q),
    .evt_i(evt_q), .cmd_i(cmd_q), .ctl_i(ctl_q),
    .connecting_i(connecting_q && evt_q.cookie == cookie_q), .credit_i(credit_q),
    .peer_address_i(peer_address_q), .peer_port_i(peer_port_q), .qpn_i(qpn_q),
    .row_i(row), .row_o(row_d), .row_we_o(row_change),
    .req_o(req_d), .req_op_o(req_op_d),
    .rsp_o(rsp_d), .status_o(status_d), .result_o(result_d),
    .ack_o(ack_d), .event_o(event_d), .kind_o(kind_d), .async_o(async_d),
    .start_o(start), .stop_o(stop), .resize_o(resize), .forget_o(forget),
    .check_ok_o(ok), .gives_o(gives), .ends_o(ends),
    .exists_o(now_exists), .has_qp_o(now_linked), .drain_o(drain),
    .connect_sent_o(connect_sent), .connect_done_o(req_connect_done)
  );

  assign row_we  = state_q == StDecide && row_change;
  assign row_qpn = row[QpW-1:0];

  llp_if_size u_size (
    .clk_i, .mss_i(mss_q), .markers_i(markers_q), .mulpdu_o(mulpdu), .worst_o(worst)
  );

  // --- steps
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      turn_q       <= 1'b0;
      connecting_q <= 1'b0;
      cookie_q     <= '0;
      size_wait_q  <= '0;
      req_q        <= 1'b0;
      rsp_q        <= 1'b0;
      ack_q        <= 1'b0;
      event_q      <= 1'b0;
      async_q      <= 1'b0;
      credit_q     <= 1'b1;
    end else begin
      if (take) credit_q <= 1'b1;
      if (take && src_d >= SrcEvent) turn_q <= src_d == SrcEvent;
      unique case (state_q)
        StIdle:   if (take) state_q <= src_d == SrcOrder && !is_start ? StQp : give_waits ? StBehind
                                     : src_d == SrcCommand && has_bytes ? StProbe : StRead;
        StQp:     state_q <= StQpRead;
        StQpRead: state_q <= StRead;
        StBehind: if (past_i && size_wait_q != '0) state_q <= StRead;
        StProbe:  if (probe_ready_i) state_q <= StProbed;
        StProbed: if (probe_done_i) begin
          credit_q <= probe_ok_i;
          state_q  <= StRead;
        end
        StRead:   state_q <= StDecide;
        StDecide: begin
          req_q   <= req_d;
          rsp_q   <= rsp_d;
          ack_q   <= ack_d;
          event_q <= event_d;
          async_q <= async_d;
          if (connect_sent) begin
            connecting_q <= 1'b1;
            cookie_q     <= cookie_q + 1'b1;
          end
          if (req_connect_done) connecting_q <= 1'b0;
          state_q <= start          ? StWants
                   : stop || forget ? StSet
                   : resize         ? StSize
                   : drain          ? StDrain : StReq;
        end
        StWants:  if (wants_past && size_wait_q != '0) state_q <= StSize;
        StSize:   if (size_wait_q == 2'd3) state_q <= StSet;
        StSet:    if (cfg_ready_i) state_q <= stop_q ? StDrain : StReq;
        StDrain:  if (past_i && size_wait_q != '0) state_q <= stop_q ? StUnmap : StReq;
        StUnmap:  state_q <= StAgain;
        StAgain:  if (past_i && size_wait_q != '0) state_q <= StReq;
        StReq:    if (!req_q || req_ready_i) begin
                    req_q   <= 1'b0;
                    state_q <= StAnswer;
                  end
        StAnswer: begin
          if (rsp_ready_i)   rsp_q   <= 1'b0;
          if (ack_ready_i)   ack_q   <= 1'b0;
          if (event_ready_i) event_q <= 1'b0;
          if (async_ready_i) async_q <= 1'b0;
          if ((!rsp_q || rsp_ready_i) && (!ack_q || ack_ready_i) && (!event_q || event_ready_i) &&
              (!async_q || async_ready_i)) state_q <= StIdle;
        end
        default:  state_q <= StIdle;
      endcase
      // counts the cycles in a state that waits; the mark is recorded in the first one
      if (state_q == StWants || state_q == StSize || state_q == StDrain || state_q == StAgain ||
          state_q == StBehind)
        size_wait_q <= size_wait_q == 2'd3 ? 2'd3 : size_wait_q + 1'b1;
      else size_wait_q <= '0;
      if (state_q == StWants && wants_past && size_wait_q != '0) size_wait_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      src_q       <= src_d;
      bytes_q     <= bytes;
      qpn_q       <= qpn_d;
      conn_q      <= conn_d;
      number_ok_q <= number_ok_d;
      taken_q     <= 1'b1;
      if (src_d == SrcEvent)   evt_q <= evt_i;
      if (src_d == SrcOrder)   ctl_q <= ctl_i;
      if (src_d == SrcCommand) cmd_q <= cmd_i;
    end
    if (state_q == StQpRead) begin
      conn_q      <= by_qp_conn;
      taken_q     <= by_qp_taken;
      number_ok_q <= 1'b1;
    end
    if (state_q == StDecide) begin
      start_q       <= start;
      stop_q        <= stop;
      resize_q      <= resize;
      forget_q      <= forget;
      req_op_q      <= req_op_d;
      status_q      <= status_d;
      result_q      <= result_d;
      kind_q        <= kind_d;
      mss_q         <= row_d[QpW+16:QpW+1];
      markers_q     <= row_d[QpW];
      // admin_conn_args_t: length in 79:64, peer_port in 95:80, peer_address in 127:96
      req_length_q  <= cmd_q.args[79:64];
      req_port_q    <= connect_sent ? cmd_q.args[95:80] : cmd_q.object[15:0];
      req_address_q <= cmd_q.args[127:96];
      if (src_q == SrcEvent) qpn_q <= row_qpn;   // the QP that the event is for
      if (connect_sent) begin
        peer_address_q <= cmd_q.args[127:96];
        peer_port_q    <= cmd_q.args[95:80];
      end
    end
  end

  // --- to the LLP, and responses
  logic is_connect, is_mode, is_port;

  assign is_connect  = req_op_q == iwarp_pkg::LlpConnect;
  assign is_mode     = req_op_q == iwarp_pkg::LlpRdmaMode;
  assign is_port     = is_connect || req_op_q == iwarp_pkg::LlpListen ||
                       req_op_q == iwarp_pkg::LlpUnlisten;
  assign req_valid_o = state_q == StReq && req_q;
  assign req_o       = {req_op_q,
                        is_port ? 16'd0 : 16'(conn_q),
                        req_op_q == iwarp_pkg::LlpGive ? req_length_q : 16'd0,
                        {ctl_q.params.use_crc, ctl_q.params.rx_markers, ctl_q.params.tx_markers} &
                        {3{is_mode}},
                        is_connect ? req_address_q : 32'd0,
                        is_port ? req_port_q : 16'd0,
                        is_connect ? cookie_q : 16'd0};
  assign rsp_valid_o   = state_q == StAnswer && rsp_q;
  assign rsp_o         = {status_q, result_q};
  assign ack_valid_o   = state_q == StAnswer && ack_q;
  assign ack_o.qpn     = ctl_q.qpn;
  assign event_valid_o = state_q == StAnswer && event_q;
  assign event_o       = {16'(qpn_q), kind_q};
  assign async_valid_o = state_q == StAnswer && async_q;
  assign async_o.connection = 16'(conn_q);

  assign probe_valid_o  = state_q == StProbe;
  assign probe_conn_o   = conn_q;
  assign probe_length_o = bytes_q;
  assign check_done_o = state_q == StDecide && src_q == SrcRawCheck;
  assign check_ok_o   = ok;
  assign abort_done_o = state_q == StAnswer && src_q == SrcRawAbort;

  // --- the other tables
  assign cfg_valid_o   = state_q == StSet;
  assign cfg_kind_o    = forget_q ? 2'd2 : resize_q ? 2'd1 : 2'd0;
  assign cfg_qpn_o     = qpn_q;
  assign cfg_conn_o    = conn_q;
  assign cfg_running_o = start_q;
  assign cfg_hold_o    = ctl_q.params.hold_tx;
  assign cfg_mulpdu_o  = mulpdu;
  assign cfg_worst_o   = worst;
  assign wants_mark_o  = state_q == StWants && size_wait_q == '0;
  assign mark_o        = (state_q == StDrain || state_q == StAgain || state_q == StBehind ||
                          state_q == StWants) && size_wait_q == '0;
  assign wants_past    = wants_past_i && tx_past_i;
  assign give_asked_o  = state_q == StDecide && gives;
  assign give_ended_o  = state_q == StDecide && ends && give_conn_i == 16'(conn_q);
  assign give_conn_o   = 16'(conn_q);

  // set_now: llp_if_grant takes the row of a start or stop, and the other tables get theirs.
  // map_now: the connection's row changes.
  logic set_now, map_now, fin_now;

  assign set_now          = state_q == StSet && cfg_ready_i && (start_q || stop_q);
  assign map_now       = state_q == StDecide && row_change;
  assign link_we          = set_now;
  assign link             = start_q;
  // a QP's half_close: llp_if_tx drops later FPDUs
  assign fin_now          = state_q == StDecide && drain;
  assign tx_map_we_o      = set_now || fin_now;
  assign tx_map_running_o = fin_now || start_q;
  assign tx_map_fin_o     = fin_now;
  assign rx_map_we_o      = (map_now && (src_q == SrcEvent || src_q == SrcCommand) &&
                             !now_linked) ||
                            (set_now && start_q) || state_q == StUnmap;
  assign rx_map_conn_o    = conn_q;
  assign rx_map_exists_o  = state_q == StDecide ? now_exists : 1'b1;
  assign rx_map_has_qp_o  = state_q == StSet;
  assign rx_map_qpn_o     = qpn_q;
  assign rx_map_hold_o    = state_q == StSet && ctl_q.params.hold_tx;

  `RNIC_STREAM_STABLE(ReqStable_A, req_valid_o, req_ready_i, req_o)
  `RNIC_STREAM_STABLE(RspStable_A, rsp_valid_o, rsp_ready_i, rsp_o)

  // Simulation only: commit trace (architecture 10)
  iwarp_pkg::llp_rule_commit_t tap_llp_rule /*verilator public_flat_rd*/;
  assign tap_llp_rule = {state_q == StDecide, src_q, 16'(conn_q),
                         src_q == SrcEvent ? 16'(row_qpn)
                         : src_q < SrcEvent || src_q == SrcOrder ? 16'(qpn_q) : 16'd0,
                         rsp_d && status_d == iwarp_pkg::AdmNoCredit};
endmodule
