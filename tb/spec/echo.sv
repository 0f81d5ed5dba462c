// echo: outputs its inputs after one register stage per stream. Streams: hdr, items of 144 bits;
// len, items of 16 bits; pkt, packets.
//
// Only for the self-test of the bench framework (tb/spec/support_test.cpp). Each mischief_i bit
// breaks one rule, so that the test sees the monitors report it: 0 an assertion fails, 1 valid is
// withdrawn, 2 the payload changes, 3 every beat of a packet has 0 bytes, also in its middle.
module echo (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [3:0]                     mischief_i,
  // a message
  input  logic                           hdr_valid_i,
  output logic                           hdr_ready_o,
  input  iwarp_pkg::ddp_untagged_t       hdr_i,
  output logic                           hdr_valid_o,
  input  logic                           hdr_ready_i,
  output iwarp_pkg::ddp_untagged_t       hdr_o,
  // 16 bits
  input  logic                           len_valid_i,
  output logic                           len_ready_o,
  input  iwarp_pkg::mpa_length_t         len_i,
  output logic                           len_valid_o,
  input  logic                           len_ready_i,
  output iwarp_pkg::mpa_length_t         len_o,
  // packets: {last, error, keep[6:0], data[511:0]}
  input  logic                           pkt_valid_i,
  output logic                           pkt_ready_o,
  input  logic [520:0]                   pkt_i,
  output logic                           pkt_valid_o,
  input  logic                           pkt_ready_i,
  output logic [520:0]                   pkt_o
);
  logic                     hdr_full_q, len_full_q, pkt_full_q;
  iwarp_pkg::ddp_untagged_t hdr_q;
  logic [520:0]             pkt_q;
  logic [15:0]              count_q;

  assign hdr_ready_o = !hdr_full_q || hdr_ready_i;
  assign hdr_valid_o = hdr_full_q && !(mischief_i[1] && count_q[0]);
  always_comb begin
    hdr_o = hdr_q;
    if (mischief_i[2]) hdr_o.mo = {16'h0, count_q};
  end
  assign len_ready_o = !len_full_q;
  assign len_valid_o = len_full_q;
  assign pkt_ready_o = !pkt_full_q || pkt_ready_i;
  assign pkt_valid_o = pkt_full_q;
  assign pkt_o       = mischief_i[3] ? {pkt_q[520:519], 7'd0, pkt_q[511:0]} : pkt_q;

  always_ff @(posedge clk_i) begin
    count_q <= count_q + 16'd1;
    if (hdr_ready_o) hdr_full_q <= hdr_valid_i;
    if (len_ready_o) len_full_q <= len_valid_i;
    else if (len_ready_i) len_full_q <= 1'b0;
    if (pkt_ready_o) pkt_full_q <= pkt_valid_i;
    if (!rst_ni) begin
      count_q    <= '0;
      hdr_full_q <= 1'b0;
      len_full_q <= 1'b0;
      pkt_full_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (hdr_ready_o && hdr_valid_i) hdr_q <= hdr_i;
    if (len_ready_o && len_valid_i) len_o <= len_i;
    if (pkt_ready_o && pkt_valid_i) pkt_q <= pkt_i;
    if (rst_ni) begin
      NoMischief_A: assert (!mischief_i[0]);
    end
  end
endmodule
