// mpa_qp: executes the orders of qp in mpa: start, stop and sync of a QP.
//
//   qp_ctl_mpa --> [ one at a time ] --> set (rx, tx) --------------> qp_ack_mpa
//   rx_in, rx_out, tx_in, tx_out --> [ counts ] --> has drained? -----^
//
// Invariants:
//  1. A start writes the QP's flags into both position tables.
//  2. A stop or sync is acknowledged when every packet that was in flight at the order has drained.
//     Both pipelines keep order, so it is enough to count down the packets in flight at that time,
//     over all QPs.
//  3. A stop or sync does not wait for later packets, however many pass one direction while the
//     other stalls.
// Latency: 3 cycles for a start. Back-pressure: a stop or sync waits for the consumers of both
// pipelines; every order waits for qp_ack_mpa.
// Sibling: mpa_position. Bench: tb/mpa/mpa_test.cpp
`include "rnic_assert.svh"

module mpa_qp #(
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // from qp
  input  logic                   ctl_valid_i,
  output logic                   ctl_ready_o,
  input  iwarp_pkg::qp_ctl_mpa_t ctl_i,
  // to qp
  output logic                   ack_valid_o,
  input  logic                   ack_ready_i,
  output iwarp_pkg::qp_ack_mpa_t ack_o,
  // to both position tables
  output logic                   set_rx_valid_o,
  input  logic                   set_rx_ready_i,
  output logic                   set_tx_valid_o,
  input  logic                   set_tx_ready_i,
  output logic [QpW-1:0]         set_qpn_o,
  output logic                   set_crc_o,
  output logic                   set_rx_markers_o,
  output logic                   set_tx_markers_o,
  // from the ports: a packet has entered, a packet has drained
  input  logic                   rx_in_i,
  input  logic                   rx_out_i,
  input  logic                   tx_in_i,
  input  logic                   tx_out_i
);
  typedef enum logic [1:0] {
    StIdle,   // waits for an order
    StSet,    // start: writes both tables
    StDrain,  // stop, sync: waits until the packets in flight have drained
    StAck     // acknowledges
  } state_e;

  state_e      state_q;
  logic [15:0] rx_held_q, tx_held_q;   // packets in flight
  logic [15:0] rx_rest_q, tx_rest_q;   // of those, the ones in flight when the order came
  logic        take;
  logic        rx_set_q, tx_set_q;   // the table of this direction is written
  logic [15:0] qpn_q;
  logic        crc_q, rx_markers_q, tx_markers_q;

  assign ctl_ready_o      = state_q == StIdle;
  assign ack_valid_o      = state_q == StAck;
  assign ack_o.qpn        = qpn_q;
  assign set_rx_valid_o   = state_q == StSet && !rx_set_q;
  assign set_tx_valid_o   = state_q == StSet && !tx_set_q;
  assign set_qpn_o        = qpn_q[QpW-1:0];
  assign set_crc_o        = crc_q;
  assign set_rx_markers_o = rx_markers_q;
  assign set_tx_markers_o = tx_markers_q;
  assign take             = ctl_valid_i && ctl_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      rx_held_q <= '0;
      tx_held_q <= '0;
      rx_rest_q <= '0;
      tx_rest_q <= '0;
      rx_set_q  <= 1'b0;
      tx_set_q  <= 1'b0;
    end else begin
      rx_held_q <= rx_held_q + 16'(rx_in_i) - 16'(rx_out_i);
      tx_held_q <= tx_held_q + 16'(tx_in_i) - 16'(tx_out_i);
      rx_rest_q <= take ? rx_held_q + 16'(rx_in_i) - 16'(rx_out_i)
                        : rx_rest_q - 16'(rx_out_i && rx_rest_q != '0);
      tx_rest_q <= take ? tx_held_q + 16'(tx_in_i) - 16'(tx_out_i)
                        : tx_rest_q - 16'(tx_out_i && tx_rest_q != '0);
      rx_set_q  <= state_q == StSet && (rx_set_q || set_rx_ready_i);
      tx_set_q  <= state_q == StSet && (tx_set_q || set_tx_ready_i);
      unique case (state_q)
        StIdle:  if (ctl_valid_i) state_q <= ctl_i.op == iwarp_pkg::QpoStart ? StSet : StDrain;
        StSet:   if ((rx_set_q || set_rx_ready_i) && (tx_set_q || set_tx_ready_i)) state_q <= StAck;
        StDrain: if (rx_rest_q == '0 && tx_rest_q == '0) state_q <= StAck;
        StAck:   if (ack_ready_i) state_q <= StIdle;
        default: state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      qpn_q        <= ctl_i.qpn;
      crc_q        <= ctl_i.params.use_crc;
      rx_markers_q <= ctl_i.params.rx_markers;
      tx_markers_q <= ctl_i.params.tx_markers;
    end
  end

  logic unused_params;
  assign unused_params = ^{ctl_i.params.connection, ctl_i.params.pd, ctl_i.params.persist,
                           ctl_i.params.hold_tx, ctl_i.params.ird, ctl_i.params.ord,
                           ctl_i.params.ird_base, ctl_i.params.ord_base};

  `RNIC_ASSERT(QpnInRange_A, !ctl_valid_i || 32'(ctl_i.qpn) < rnic_pkg::NumQps)
  `RNIC_STREAM_STABLE(AckStable_A, ack_valid_o, ack_ready_i, ack_o)
endmodule
