// llp_if_raw: checks admin's streaming bytes. Their connection must be open, and they need credit,
// as FPDUs do.
//
//   raw_tx_hdr --> [ FIFO ] --> open? (llp_if_ctl) --> credit? (llp_if_grant) --> go or drop
//                                  ^-- no: 256 cycles later <----'                    |
//                                                                   llp_if_tx <-------+
//
// Invariants:
//  1. llp_if_ctl admits admin's bytes only with their credit, so they do not wait in llp_if_raw. If
//     credit is nevertheless missing in 256 tries, 256 cycles apart (2^16 cycles, as TermTimeout),
//     llp_if_raw aborts the connection and drops the bytes, since admin waits for them.
//  2. idle_o: every packet that admin has sent is sent to the LLP or dropped.
// Back-pressure: waits for credit (bounded) and for the LLP.
// Siblings: llp_if_ctl, llp_if_grant, llp_if_tx. Bench: tb/llp_if/llp_if_test.cpp
`include "rnic_assert.svh"

module llp_if_raw #(
  localparam int unsigned ConnW = $clog2(rnic_pkg::NumConns)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // from admin
  input  logic                   hdr_valid_i,
  output logic                   hdr_ready_o,
  input  iwarp_pkg::raw_tx_hdr_t hdr_i,
  // to and from llp_if_ctl
  output logic                   check_valid_o,   // may streaming bytes be sent on conn_o?
  input  logic                   check_done_i,
  input  logic                   check_ok_i,
  output logic                   abort_valid_o,   // abort connection conn_o
  input  logic                   abort_done_i,
  output logic [ConnW-1:0]       conn_o,
  output logic                   idle_o,
  // to and from llp_if_grant: takes debit_length_o bytes of the credit of conn_o, if available
  output logic                   debit_valid_o,
  input  logic                   debit_ready_i,
  output logic [15:0]            debit_length_o,
  input  logic                   debit_done_i,
  input  logic                   debit_ok_i,
  // to llp_if_tx: send the oldest packet's bytes, or drop them
  output logic                   go_valid_o,
  input  logic                   go_ready_i,
  output logic                   go_drop_o,
  output logic [15:0]            go_conn_o,
  output logic [15:0]            go_length_o,
  // from llp_if_tx: a packet's last byte was sent or dropped
  input  logic                   out_i
);
  typedef enum logic [2:0] {
    StIdle,   // waits for a header
    StCheck,  // checks that the connection is open
    StDebit,  // requests credit
    StAnswer, // waits for the response
    StWait,   // tries again later
    StAbort,  // aborts the connection
    StGo      // llp_if_tx accepts the packet
  } state_e;

  // known: the connection's number is in range. inside_q: packets that admin has begun to send, and
  // that are neither sent to the LLP nor dropped.
  state_e                 state_q;
  logic                   front_valid, drop_q, known;
  logic [7:0]             timer_q, tries_q;
  logic [15:0]            inside_q;
  iwarp_pkg::raw_tx_hdr_t front;
  logic [$clog2(rnic_pkg::FifoDepth+1)-1:0] unused_headers;

  stream_fifo #(.Width(iwarp_pkg::RawTxHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni,
    .valid_i(hdr_valid_i), .ready_o(hdr_ready_o), .data_i(hdr_i),
    .valid_o(front_valid), .ready_i(go_valid_o && go_ready_i), .data_o(front),
    .count_o(unused_headers)
  );

  assign known          = 32'(front.connection) < rnic_pkg::NumConns;
  assign check_valid_o  = state_q == StCheck;
  assign abort_valid_o  = state_q == StAbort;
  assign conn_o         = front.connection[ConnW-1:0];
  assign idle_o         = inside_q == '0;
  assign debit_valid_o  = state_q == StDebit;
  assign debit_length_o = front.length;
  assign go_valid_o     = state_q == StGo;
  assign go_drop_o      = drop_q;
  assign go_conn_o      = front.connection;
  assign go_length_o    = front.length;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      inside_q <= '0;
      tries_q  <= '0;
      timer_q  <= '0;
      drop_q   <= 1'b0;
    end else begin
      inside_q <= inside_q + 16'(hdr_valid_i && hdr_ready_o) - 16'(out_i);
      timer_q  <= state_q == StWait ? timer_q + 1'b1 : '0;
      unique case (state_q)
        StIdle:   if (front_valid) begin
                    drop_q  <= !known;
                    tries_q <= '0;
                    state_q <= known ? StCheck : StGo;
                  end
        StCheck:  if (check_done_i) begin
                    drop_q  <= !check_ok_i;
                    state_q <= check_ok_i ? StDebit : StGo;
                  end
        StDebit:  if (debit_ready_i) state_q <= StAnswer;
        StAnswer: if (debit_done_i) begin
                    tries_q <= tries_q + 1'b1;
                    state_q <= debit_ok_i ? StGo : tries_q == '1 ? StAbort : StWait;
                  end
        StWait:   if (timer_q == '1) state_q <= StCheck;
        StAbort:  if (abort_done_i) begin
                    drop_q  <= 1'b1;
                    state_q <= StGo;
                  end
        StGo:     if (go_ready_i) state_q <= StIdle;
        default:  state_q <= StIdle;
      endcase
    end
  end
endmodule
