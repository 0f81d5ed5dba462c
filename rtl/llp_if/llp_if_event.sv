// llp_if_event: counts items in and out, so that llp_if_ctl can wait for those in flight. Delays
// llp_event until earlier records have drained.
//
//   rx_in, rx_out, tx_in, tx_out --> [ counts ] --> past_o: all items in flight at mark_i have
//                                                   drained; tx_past_o: all FPDUs have
//   events --> [ FIFO, each with the count of records ] --> llp_event, when as many have drained
//
// Invariants:
//  1. The wr_done of an FPDU has drained when qp has accepted it. So an acknowledgement (past_o)
//     and an event follow every wr_done that was queued before them, however deep that queue is.
//     The queue is counted down once the FPDUs have drained, or once the event is at the front.
//  2. Records keep their order in each direction, so counts over all QPs are enough.
//  3. Each direction latches that it is past its mark (rx_past_q, tx_past_q), because counts may
//     wrap while the other direction is blocked.
// Back-pressure: waits for mpa (through llp_if_rx) and qp.
// Siblings: llp_if_ctl, llp_if_rx, llp_if_tx. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_event #(
  parameter int unsigned DoneDepth = 4,
  localparam int unsigned CountW = $clog2(DoneDepth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // from the ports: a record has entered, has drained; an FPDU has entered, has drained
  input  logic                  rx_in_i,
  input  logic                  rx_out_i,
  input  logic                  tx_in_i,
  input  logic                  tx_out_i,
  input  logic [CountW-1:0]     dones_i,      // wr_done queued, not yet accepted by qp
  input  logic                  done_out_i,   // qp accepts a wr_done
  // from and to llp_if_ctl
  input  logic                  mark_i,       // remember the items that are in flight now
  output logic                  past_o,       // all of them have drained, with their wr_done
  output logic                  tx_past_o,    // the FPDUs among them have drained
  input  logic                  event_valid_i,
  output logic                  event_ready_o,
  input  iwarp_pkg::llp_event_t event_i,
  // to qp
  output logic                  event_valid_o,
  input  logic                  event_ready_i,
  output iwarp_pkg::llp_event_t event_o
);
  // Receive counts are wide: an event may wait for qp while many records pass. rx_behind and
  // tx_behind: an item that came before the mark has not drained. front_: the oldest event of the
  // FIFO.
  logic [31:0] rx_in_q, rx_out_q, rx_mark_q, front_mark;
  logic [15:0] tx_in_q, tx_out_q, tx_mark_q;
  logic        rx_behind, tx_behind, rx_past_q, tx_past_q, front_behind, front_valid;
  logic [30:0] unused_rx, unused_front;
  logic [14:0] unused_tx;
  logic [4:0]  unused_events;

  assign {rx_behind, unused_rx}       = rx_out_q - rx_mark_q;
  assign {tx_behind, unused_tx}       = tx_out_q - tx_mark_q;
  assign {front_behind, unused_front} = rx_out_q - front_mark;
  assign tx_past_o     = tx_past_q || !tx_behind;
  assign past_o        = (rx_past_q || !rx_behind) && tx_past_q && dones_left_q == '0;
  assign event_valid_o = front_valid && !front_behind && front_seen_q && front_dones_q == '0;

  // The number of earlier wr_done that qp has not accepted yet: dones_left_q of those before the
  // mark, front_dones_q of those before the front event. front_seen_q: counting down for that event
  // has begun.
  logic [CountW-1:0] dones_now, dones_left_q, front_dones_q;
  logic              front_seen_q;
  assign dones_now = dones_i - CountW'(done_out_i);
  always_ff @(posedge clk_i) begin
    dones_left_q  <= !rst_ni     ? '0
                   : !tx_past_q  ? dones_now
                                 : dones_left_q - CountW'(done_out_i && dones_left_q != '0);
    front_dones_q <= !front_seen_q ? dones_now
                                   : front_dones_q - CountW'(done_out_i && front_dones_q != '0);
    if (!rst_ni) front_seen_q <= 1'b0;
    else         front_seen_q <= front_valid && !(event_valid_o && event_ready_i);
  end

  always_ff @(posedge clk_i) begin
    rx_past_q <= !mark_i && (rx_past_q || !rx_behind);
    tx_past_q <= !mark_i && (tx_past_q || !tx_behind);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rx_in_q   <= '0;
      rx_out_q  <= '0;
      tx_in_q   <= '0;
      tx_out_q  <= '0;
      rx_mark_q <= '0;
      tx_mark_q <= '0;
    end else begin
      rx_in_q  <= rx_in_q + 32'(rx_in_i);
      rx_out_q <= rx_out_q + 32'(rx_out_i);
      tx_in_q  <= tx_in_q + 16'(tx_in_i);
      tx_out_q <= tx_out_q + 16'(tx_out_i);
      if (mark_i) begin
        rx_mark_q <= rx_in_q;
        tx_mark_q <= tx_in_q;
      end
    end
  end

  stream_fifo #(.Width(32 + iwarp_pkg::LlpEventWidth), .Depth(16)) u_events (
    .clk_i, .rst_ni,
    .valid_i(event_valid_i), .ready_o(event_ready_o), .data_i({rx_in_q, event_i}),
    .valid_o(front_valid), .ready_i(event_ready_i && event_valid_o), .data_o({front_mark, event_o}),
    .count_o(unused_events)
  );

  `RNIC_STREAM_STABLE(OutStable_A, event_valid_o, event_ready_i, event_o)
endmodule
