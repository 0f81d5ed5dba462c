// llp_if: the transport port: records, credit and control of the LLP's connections, and the mapping
// between QPs and connections.
//
//   llp_rx -----------------> [ rx: connection -> QP ] ------> rx_fpdu, [ give ] --> raw_rx
//   llp_ctl_evt, conn_cmd --> [ ctl: connections ] --------> llp_ctl_req, conn_cmd_rsp, conn_async
//   qp_ctl_llp -------------->   |   ^     +-> [ event ] --> llp_event (after earlier records)
//                          rows, |   | late (a Terminate
//                          probe v   | without credit)
//   tx_want ----------------> [ grant: QPs, in order ] ------> tx_grant
//   llp_credit -------------> [ account: credit ] <-- refund --+
//   tx_fpdu ----------------> [ tx: QP -> connection ] --------+--> llp_tx, wr_done
//   raw_tx -----------------> [ raw ] -- bytes ---^
//                                +-- check, abort --> ctl
//                                +-- debit ---------> grant
//
// Streaming bytes: admin exchanges them before RDMA mode. They need credit, as FPDUs do.
// A Terminate that gets no credit for 2^16 to 2^17 cycles (TermTimeout) is not sent: ctl aborts its
// connection and reports term_done to qp. Why the range: llp_if_grant checks each QP every 2^16
// cycles, and the second check that finds the Terminate waiting ends it.
// Latency: a record 3 cycles, an FPDU 3, wr_done 1 after it, a want to its grant 5 or 6 (minimum
// build 4 or 5). Throughput: 1 beat per cycle each way; a record, an FPDU and a grant every 2
// cycles.
// Back-pressure:
//  - llp_rx waits for mpa and admin.
//  - llp_tx waits for the LLP, which has granted credit, and for qp to accept wr_done.
//  - tx_grant waits for ddp. tx_want is always accepted.
//  - Receive never waits for transmit. A stop waits for both.
// Model: model/llp_if/llp_if.hpp. Bench: tb/llp_if/llp_if_test.cpp. Contract:
// docs/theory-of-operation.md
`include "rnic_assert.svh"

module llp_if #(
  parameter int unsigned DoneDepth = 4   // wr_done that may wait for qp; the bench increases it
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic                     ready_o,
  output iwarp_pkg::unit_count_t   count_o,
  // from and to the LLP
  input  logic                     llp_rx_hdr_valid_i,
  output logic                     llp_rx_hdr_ready_o,
  input  iwarp_pkg::llp_rx_hdr_t   llp_rx_hdr_i,
  input  logic                     llp_rx_valid_i,
  output logic                     llp_rx_ready_o,
  input  iwarp_pkg::beat_t         llp_rx_i,
  output logic                     llp_tx_hdr_valid_o,
  input  logic                     llp_tx_hdr_ready_i,
  output iwarp_pkg::llp_tx_hdr_t   llp_tx_hdr_o,
  output logic                     llp_tx_valid_o,
  input  logic                     llp_tx_ready_i,
  output iwarp_pkg::beat_t         llp_tx_o,
  output logic                     llp_ctl_req_valid_o,
  input  logic                     llp_ctl_req_ready_i,
  output iwarp_pkg::llp_ctl_req_t  llp_ctl_req_o,
  input  logic                     llp_ctl_evt_valid_i,
  output logic                     llp_ctl_evt_ready_o,
  input  iwarp_pkg::llp_ctl_evt_t  llp_ctl_evt_i,
  input  logic                     llp_credit_valid_i,
  output logic                     llp_credit_ready_o,
  input  iwarp_pkg::llp_credit_t   llp_credit_i,
  // from and to admin
  input  logic                     conn_cmd_valid_i,
  output logic                     conn_cmd_ready_o,
  input  iwarp_pkg::conn_cmd_t     conn_cmd_i,
  output logic                     conn_cmd_rsp_valid_o,
  input  logic                     conn_cmd_rsp_ready_i,
  output iwarp_pkg::conn_cmd_rsp_t conn_cmd_rsp_o,
  input  logic                     raw_tx_hdr_valid_i,
  output logic                     raw_tx_hdr_ready_o,
  input  iwarp_pkg::raw_tx_hdr_t   raw_tx_hdr_i,
  input  logic                     raw_tx_valid_i,
  output logic                     raw_tx_ready_o,
  input  iwarp_pkg::beat_t         raw_tx_i,
  output logic                     raw_rx_hdr_valid_o,
  input  logic                     raw_rx_hdr_ready_i,
  output iwarp_pkg::raw_rx_hdr_t   raw_rx_hdr_o,
  output logic                     raw_rx_valid_o,
  input  logic                     raw_rx_ready_i,
  output iwarp_pkg::beat_t         raw_rx_o,
  // from and to qp
  input  logic                     qp_ctl_llp_valid_i,
  output logic                     qp_ctl_llp_ready_o,
  input  iwarp_pkg::qp_ctl_llp_t   qp_ctl_llp_i,
  output logic                     qp_ack_llp_valid_o,
  input  logic                     qp_ack_llp_ready_i,
  output iwarp_pkg::qp_ack_llp_t   qp_ack_llp_o,
  output logic                     wr_done_valid_o,
  input  logic                     wr_done_ready_i,
  output iwarp_pkg::wr_done_t      wr_done_o,
  output logic                     llp_event_valid_o,
  input  logic                     llp_event_ready_i,
  output iwarp_pkg::llp_event_t    llp_event_o,
  // from and to ddp
  input  logic                     tx_want_valid_i,
  output logic                     tx_want_ready_o,
  input  iwarp_pkg::tx_want_t      tx_want_i,
  output logic                     tx_grant_valid_o,
  input  logic                     tx_grant_ready_i,
  output iwarp_pkg::tx_grant_t     tx_grant_o,
  // from and to mpa
  input  logic                     tx_fpdu_hdr_valid_i,
  output logic                     tx_fpdu_hdr_ready_o,
  input  iwarp_pkg::tx_fpdu_hdr_t  tx_fpdu_hdr_i,
  input  logic                     tx_fpdu_valid_i,
  output logic                     tx_fpdu_ready_o,
  input  iwarp_pkg::beat_t         tx_fpdu_i,
  output logic                     rx_fpdu_hdr_valid_o,
  input  logic                     rx_fpdu_hdr_ready_i,
  output iwarp_pkg::rx_fpdu_hdr_t  rx_fpdu_hdr_o,
  output logic                     rx_fpdu_valid_o,
  input  logic                     rx_fpdu_ready_i,
  output iwarp_pkg::beat_t         rx_fpdu_o,
  // to cq
  output logic                     conn_async_valid_o,
  input  logic                     conn_async_ready_i,
  output iwarp_pkg::conn_async_t   conn_async_o
);
  localparam int unsigned QpW   = $clog2(rnic_pkg::NumQps);
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns);

  logic rx_ready, tx_ready, ctl_ready, grant_ready, account_ready;
  logic rx_hdr_ready, rx_beat_ready, tx_hdr_ready, tx_beat_ready, raw_hdr_ready, raw_beat_ready,
        want_ready, credit_ready;
  logic evt_ready, evt_valid, evt_pop, credit_valid, credit_pop, rx_out, tx_out, raw_out;
  iwarp_pkg::llp_ctl_evt_t evt;
  iwarp_pkg::llp_credit_t  credit;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_evts, unused_credits;

  assign ready_o             = rx_ready && tx_ready && ctl_ready && grant_ready && account_ready;
  assign llp_rx_hdr_ready_o  = ready_o && rx_hdr_ready;
  assign llp_rx_ready_o      = ready_o && rx_beat_ready;
  assign tx_fpdu_hdr_ready_o = ready_o && tx_hdr_ready;
  assign tx_fpdu_ready_o     = ready_o && tx_beat_ready;
  assign raw_tx_hdr_ready_o  = ready_o && raw_hdr_ready;
  assign raw_tx_ready_o      = ready_o && raw_beat_ready;
  assign tx_want_ready_o     = ready_o && want_ready;
  assign llp_ctl_evt_ready_o = ready_o && evt_ready;
  assign llp_credit_ready_o  = ready_o && credit_ready;

  stream_fifo #(.Width(iwarp_pkg::LlpCtlEvtWidth), .Depth(rnic_pkg::FifoDepth)) u_evts (
    .clk_i, .rst_ni,
    .valid_i(llp_ctl_evt_valid_i && ready_o), .ready_o(evt_ready), .data_i(llp_ctl_evt_i),
    .valid_o(evt_valid), .ready_i(evt_pop), .data_o(evt), .count_o(unused_evts)
  );

  stream_fifo #(.Width(iwarp_pkg::LlpCreditWidth), .Depth(rnic_pkg::FifoDepth)) u_credits (
    .clk_i, .rst_ni,
    .valid_i(llp_credit_valid_i && ready_o), .ready_o(credit_ready), .data_i(llp_credit_i),
    .valid_o(credit_valid), .ready_i(credit_pop), .data_o(credit), .count_o(unused_credits)
  );

  // --- control. The wires between ctl and the other leaves:
  //   term        tx: the LLP has accepted the last beat of this QP's Terminate
  //   late        grant: this QP's Terminate got no credit in time
  //   check       raw: is connection raw_conn open for streaming bytes? check_ok: it is
  //   abort       raw: abort raw_conn, whose bytes got no credit; raw_idle: raw has no bytes
  //   probe       to grant: are probe_length bytes of credit available? A debit without effect,
  //               which shares debit_ready, debit_done, debit_ok
  //   give        to give: asked: a conn_give of give_conn has begun; ended: that connection has
  //               ended. From give: a conn_give of given_conn is outstanding (give_under_way)
  //   rx_map      to rx: writes the row of connection map_conn: its QP, if it has one
  //   tx_map      to tx: writes the row of QP cfg_qpn: its connection cfg_conn
  //   cfg         to grant: sets a QP's row, changes its size, or clears a credit (cfg_kind)
  //   wants_mark  to grant: remember the wants queued now; wants_past: all of them were checked
  //   mark        to event: remember the items in flight now; past: all of them have drained;
  //               tx_past: the FPDUs among them have
  logic                  ctl_event_valid, ctl_event_ready, term_valid, term_ready,
                         late_valid, late_ready;
  iwarp_pkg::llp_event_t ctl_event;
  logic [QpW-1:0]        term_qpn, late_qpn, map_qpn, cfg_qpn;
  logic [ConnW-1:0]      term_conn, late_conn, raw_conn, map_conn, cfg_conn;
  logic                  give_asked, give_ended, give_under_way,
                         rxs_hdr_valid, rxs_hdr_ready, rxs_valid, rxs_ready;
  logic [15:0]           give_conn, given_conn;
  iwarp_pkg::raw_rx_hdr_t rxs_hdr;
  iwarp_pkg::beat_t      rxs;
  logic                  probe_valid, debit_ready, debit_done, debit_ok;
  logic [ConnW-1:0]      probe_conn;
  logic [15:0]           probe_length;
  logic                  check_valid, check_done, check_ok, abort_valid, abort_done, raw_idle;
  logic                  rx_map_we, map_exists, map_has_qp, map_hold,
                         tx_map_we, tx_map_running, tx_map_fin;
  logic                  cfg_valid, cfg_ready, cfg_running, cfg_hold,
                         wants_mark, wants_past, mark, past, tx_past;
  logic [$clog2(DoneDepth+1)-1:0] dones;
  logic [1:0]            cfg_kind;
  logic [15:0]           cfg_mulpdu;
  logic [16:0]           cfg_worst;

  llp_if_ctl u_ctl (
    .clk_i, .rst_ni, .ready_o(ctl_ready),
    .evt_valid_i(evt_valid), .evt_ready_o(evt_pop), .evt_i(evt),
    .req_valid_o(llp_ctl_req_valid_o), .req_ready_i(llp_ctl_req_ready_i), .req_o(llp_ctl_req_o),
    .cmd_valid_i(conn_cmd_valid_i), .cmd_ready_o(conn_cmd_ready_o), .cmd_i(conn_cmd_i),
    .rsp_valid_o(conn_cmd_rsp_valid_o), .rsp_ready_i(conn_cmd_rsp_ready_i), .rsp_o(conn_cmd_rsp_o),
    .ctl_valid_i(qp_ctl_llp_valid_i), .ctl_ready_o(qp_ctl_llp_ready_o), .ctl_i(qp_ctl_llp_i),
    .ack_valid_o(qp_ack_llp_valid_o), .ack_ready_i(qp_ack_llp_ready_i), .ack_o(qp_ack_llp_o),
    .event_valid_o(ctl_event_valid), .event_ready_i(ctl_event_ready), .event_o(ctl_event),
    .async_valid_o(conn_async_valid_o), .async_ready_i(conn_async_ready_i), .async_o(conn_async_o),
    .term_valid_i(term_valid), .term_ready_o(term_ready),
    .term_qpn_i(term_qpn), .term_conn_i(term_conn),
    .late_valid_i(late_valid), .late_ready_o(late_ready),
    .late_qpn_i(late_qpn), .late_conn_i(late_conn),
    .check_valid_i(check_valid), .check_done_o(check_done), .check_ok_o(check_ok),
    .abort_valid_i(abort_valid), .abort_done_o(abort_done),
    .raw_conn_i(raw_conn), .raw_idle_i(raw_idle),
    .probe_valid_o(probe_valid), .probe_ready_i(debit_ready),
    .probe_conn_o(probe_conn), .probe_length_o(probe_length),
    .probe_done_i(debit_done), .probe_ok_i(debit_ok),
    .give_asked_o(give_asked), .give_ended_o(give_ended), .give_conn_o(give_conn),
    .give_under_way_i(give_under_way), .give_conn_i(given_conn),
    .rx_map_we_o(rx_map_we), .rx_map_conn_o(map_conn), .rx_map_exists_o(map_exists),
    .rx_map_has_qp_o(map_has_qp), .rx_map_qpn_o(map_qpn), .rx_map_hold_o(map_hold),
    .tx_map_we_o(tx_map_we), .tx_map_running_o(tx_map_running), .tx_map_fin_o(tx_map_fin),
    .cfg_valid_o(cfg_valid), .cfg_ready_i(cfg_ready), .cfg_kind_o(cfg_kind),
    .cfg_qpn_o(cfg_qpn), .cfg_conn_o(cfg_conn), .cfg_running_o(cfg_running),
    .cfg_hold_o(cfg_hold), .cfg_mulpdu_o(cfg_mulpdu), .cfg_worst_o(cfg_worst),
    .wants_mark_o(wants_mark), .wants_past_i(wants_past),
    .mark_o(mark), .past_i(past), .tx_past_i(tx_past)
  );

  llp_if_event #(.DoneDepth(DoneDepth)) u_event (
    .clk_i, .rst_ni,
    .rx_in_i(llp_rx_hdr_valid_i && llp_rx_hdr_ready_o), .rx_out_i(rx_out),
    .tx_in_i(tx_fpdu_hdr_valid_i && tx_fpdu_hdr_ready_o), .tx_out_i(tx_out),
    .dones_i(dones), .done_out_i(wr_done_valid_o && wr_done_ready_i),
    .mark_i(mark), .past_o(past), .tx_past_o(tx_past),
    .event_valid_i(ctl_event_valid), .event_ready_o(ctl_event_ready), .event_i(ctl_event),
    .event_valid_o(llp_event_valid_o), .event_ready_i(llp_event_ready_i), .event_o(llp_event_o)
  );

  // --- credit. llp_if_ctl probes only while llp_if_raw has no bytes, so one response serves probes
  // and debits.
  //   phase    toggles each cycle: grant's lookups and llp_if_account's refunds take turns
  //   hold     rx: the first FPDU of a QP with hold_tx has arrived: it may transmit
  //   debit    raw: take debit_length bytes of raw_conn's credit; debit_ok: they were available
  //   look     grant reads the credit of look_conn: do need bytes (fits_need), or size and
  //            TermCredit (fits_size), fit? size: credit set aside for each FPDU; idle: none is
  //   take     grant takes take_bytes of that credit; clear: the connection was released
  //   wait     grant writes whether wait_qpn waits for that credit; wake: it has changed
  //   refund   tx: an FPDU was sent, which did not need all the credit set aside for it
  logic             phase, hold_valid, hold_ready, debit_valid;
  logic             look, idle, take, take_fpdu, clear, wait_we, waits, wake_valid, wake_ready;
  logic             refund_valid, refund_ready, refund_term;
  logic [QpW-1:0]   hold_qpn, wait_qpn, wake_qpn;
  logic [ConnW-1:0] look_conn, refund_conn;
  logic [15:0]      debit_length;
  logic [16:0]      size, take_size, refund_length;
  logic [17:0]      need;
  logic             fits_need, fits_size;
  logic [31:0]      take_bytes;

  llp_if_grant u_grant (
    .clk_i, .rst_ni, .ready_o(grant_ready), .phase_o(phase),
    .want_valid_i(tx_want_valid_i && ready_o), .want_ready_o(want_ready), .want_i(tx_want_i),
    .grant_valid_o(tx_grant_valid_o), .grant_ready_i(tx_grant_ready_i), .grant_o(tx_grant_o),
    .cfg_valid_i(cfg_valid), .cfg_ready_o(cfg_ready), .cfg_kind_i(cfg_kind),
    .cfg_qpn_i(cfg_qpn), .cfg_conn_i(cfg_conn), .cfg_running_i(cfg_running),
    .cfg_hold_i(cfg_hold), .cfg_mulpdu_i(cfg_mulpdu), .cfg_worst_i(cfg_worst),
    .mark_i(wants_mark), .past_o(wants_past),
    .hold_valid_i(hold_valid), .hold_ready_o(hold_ready), .hold_qpn_i(hold_qpn),
    .debit_valid_i(debit_valid || probe_valid), .debit_ready_o(debit_ready),
    .debit_conn_i(probe_valid ? probe_conn : raw_conn),
    .debit_length_i(probe_valid ? probe_length : debit_length), .debit_probe_i(probe_valid),
    .debit_done_o(debit_done), .debit_ok_o(debit_ok),
    .late_valid_o(late_valid), .late_ready_i(late_ready),
    .late_qpn_o(late_qpn), .late_conn_o(late_conn),
    .look_o(look), .look_conn_o(look_conn), .need_o(need),
    .fits_need_i(fits_need), .fits_size_i(fits_size), .size_i(size), .idle_i(idle),
    .take_o(take), .take_bytes_o(take_bytes), .take_fpdu_o(take_fpdu), .take_size_o(take_size),
    .clear_o(clear),
    .wait_we_o(wait_we), .wait_o(waits), .wait_qpn_o(wait_qpn),
    .wake_valid_i(wake_valid), .wake_ready_o(wake_ready), .wake_qpn_i(wake_qpn)
  );

  llp_if_account u_account (
    .clk_i, .rst_ni, .ready_o(account_ready), .phase_i(phase),
    .credit_valid_i(credit_valid), .credit_ready_o(credit_pop), .credit_i(credit),
    .refund_valid_i(refund_valid), .refund_ready_o(refund_ready), .refund_conn_i(refund_conn),
    .refund_length_i(refund_length), .refund_term_i(refund_term),
    .look_i(look), .look_conn_i(look_conn), .need_i(need),
    .fits_need_o(fits_need), .fits_size_o(fits_size), .size_o(size), .idle_o(idle),
    .take_i(take), .take_bytes_i(take_bytes), .take_fpdu_i(take_fpdu), .take_size_i(take_size),
    .clear_i(clear),
    .wait_we_i(wait_we), .wait_i(waits), .wait_qpn_i(wait_qpn),
    .wake_valid_o(wake_valid), .wake_ready_i(wake_ready), .wake_qpn_o(wake_qpn)
  );

  // --- receive
  llp_if_rx u_rx (
    .clk_i, .rst_ni, .ready_o(rx_ready),
    .hdr_valid_i(llp_rx_hdr_valid_i && ready_o), .hdr_ready_o(rx_hdr_ready), .hdr_i(llp_rx_hdr_i),
    .beat_valid_i(llp_rx_valid_i && ready_o), .beat_ready_o(rx_beat_ready), .beat_i(llp_rx_i),
    .map_we_i(rx_map_we), .map_conn_i(map_conn), .map_exists_i(map_exists),
    .map_has_qp_i(map_has_qp), .map_qpn_i(map_qpn), .map_hold_i(map_hold),
    .hold_valid_o(hold_valid), .hold_ready_i(hold_ready), .hold_qpn_o(hold_qpn),
    .fpdu_hdr_valid_o(rx_fpdu_hdr_valid_o), .fpdu_hdr_ready_i(rx_fpdu_hdr_ready_i),
    .fpdu_hdr_o(rx_fpdu_hdr_o),
    .fpdu_valid_o(rx_fpdu_valid_o), .fpdu_ready_i(rx_fpdu_ready_i), .fpdu_o(rx_fpdu_o),
    .raw_hdr_valid_o(rxs_hdr_valid), .raw_hdr_ready_i(rxs_hdr_ready), .raw_hdr_o(rxs_hdr),
    .raw_valid_o(rxs_valid), .raw_ready_i(rxs_ready), .raw_o(rxs),
    .out_o(rx_out)
  );

  llp_if_give u_give (
    .clk_i, .rst_ni,
    .asked_i(give_asked), .ended_i(give_ended), .conn_i(give_conn),
    .under_way_o(give_under_way), .conn_o(given_conn),
    .hdr_valid_i(rxs_hdr_valid), .hdr_ready_o(rxs_hdr_ready), .hdr_i(rxs_hdr),
    .beat_valid_i(rxs_valid), .beat_ready_o(rxs_ready), .beat_i(rxs),
    .raw_hdr_valid_o(raw_rx_hdr_valid_o), .raw_hdr_ready_i(raw_rx_hdr_ready_i),
    .raw_hdr_o(raw_rx_hdr_o),
    .raw_valid_o(raw_rx_valid_o), .raw_ready_i(raw_rx_ready_i), .raw_o(raw_rx_o)
  );

  // --- transmit. go: raw has the credit of its oldest bytes, tx may send them; drop: tx drops them
  logic        go_valid, go_ready, go_drop;
  logic [15:0] go_conn, go_length;

  llp_if_raw u_raw (
    .clk_i, .rst_ni,
    .hdr_valid_i(raw_tx_hdr_valid_i && ready_o), .hdr_ready_o(raw_hdr_ready), .hdr_i(raw_tx_hdr_i),
    .check_valid_o(check_valid), .check_done_i(check_done), .check_ok_i(check_ok),
    .abort_valid_o(abort_valid), .abort_done_i(abort_done), .conn_o(raw_conn), .idle_o(raw_idle),
    .debit_valid_o(debit_valid), .debit_ready_i(debit_ready), .debit_length_o(debit_length),
    .debit_done_i(debit_done), .debit_ok_i(debit_ok),
    .go_valid_o(go_valid), .go_ready_i(go_ready), .go_drop_o(go_drop),
    .go_conn_o(go_conn), .go_length_o(go_length),
    .out_i(raw_out)
  );

  llp_if_tx #(.DoneDepth(DoneDepth)) u_tx (
    .clk_i, .rst_ni, .ready_o(tx_ready),
    .hdr_valid_i(tx_fpdu_hdr_valid_i && ready_o), .hdr_ready_o(tx_hdr_ready), .hdr_i(tx_fpdu_hdr_i),
    .fpdu_valid_i(tx_fpdu_valid_i && ready_o), .fpdu_ready_o(tx_beat_ready), .fpdu_i(tx_fpdu_i),
    .raw_go_valid_i(go_valid), .raw_go_ready_o(go_ready), .raw_drop_i(go_drop),
    .raw_conn_i(go_conn), .raw_length_i(go_length),
    .raw_valid_i(raw_tx_valid_i && ready_o), .raw_ready_o(raw_beat_ready), .raw_i(raw_tx_i),
    .map_we_i(tx_map_we), .map_qpn_i(cfg_qpn), .map_running_i(tx_map_running),
    .map_fin_i(tx_map_fin), .map_conn_i(cfg_conn),
    .llp_hdr_valid_o(llp_tx_hdr_valid_o), .llp_hdr_ready_i(llp_tx_hdr_ready_i),
    .llp_hdr_o(llp_tx_hdr_o),
    .llp_valid_o(llp_tx_valid_o), .llp_ready_i(llp_tx_ready_i), .llp_o(llp_tx_o),
    .done_valid_o(wr_done_valid_o), .done_ready_i(wr_done_ready_i), .done_o(wr_done_o),
    .refund_valid_o(refund_valid), .refund_ready_i(refund_ready), .refund_conn_o(refund_conn),
    .refund_length_o(refund_length), .refund_term_o(refund_term),
    .term_valid_o(term_valid), .term_ready_i(term_ready),
    .term_qpn_o(term_qpn), .term_conn_o(term_conn),
    .out_o(tx_out), .dones_o(dones), .raw_out_o(raw_out)
  );

  // --- counters
  unit_counter #(.ItemsW(2)) u_count (
    .clk_i, .rst_ni, .items_i(2'(rx_out) + 2'(tx_out || raw_out)),
    .busy_i((llp_tx_valid_o && llp_tx_ready_i) || (rx_fpdu_valid_o && rx_fpdu_ready_i)),
    .stalled_i(|({llp_tx_hdr_valid_o, llp_tx_valid_o, llp_ctl_req_valid_o, conn_cmd_rsp_valid_o,
                  raw_rx_hdr_valid_o, raw_rx_valid_o, qp_ack_llp_valid_o, tx_grant_valid_o,
                  wr_done_valid_o, rx_fpdu_hdr_valid_o, rx_fpdu_valid_o, llp_event_valid_o,
                  conn_async_valid_o} &
                 ~{llp_tx_hdr_ready_i, llp_tx_ready_i, llp_ctl_req_ready_i, conn_cmd_rsp_ready_i,
                   raw_rx_hdr_ready_i, raw_rx_ready_i, qp_ack_llp_ready_i, tx_grant_ready_i,
                   wr_done_ready_i, rx_fpdu_hdr_ready_i, rx_fpdu_ready_i, llp_event_ready_i,
                   conn_async_ready_i})),
    .count_o
  );
endmodule
