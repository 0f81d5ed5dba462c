// unit_counter: counts a unit's activity for the host, each count modulo 2^48.
//
//   items_i, busy_i, stalled_i --> [ register ] --> + --> [ count_q ] --> count_o
//                                                   ^---------+
//
// items: items handled. busy: cycles in which an item moved. stalled: cycles in which an output was
// valid and not ready. Counts in every cycle. Latency: 2 cycles.
// The register keeps the adders out of the unit's handshake paths.
// Proof rtl/formal/unit_counter_fv.sv, bench tb/lib/unit_counter_test.cpp
module unit_counter #(
  parameter int unsigned ItemsW = 1       // width of the number of items per cycle
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // from the unit's streams
  input  logic [ItemsW-1:0]      items_i,
  input  logic                   busy_i,
  input  logic                   stalled_i,
  // to host_if
  output iwarp_pkg::unit_count_t count_o
);
  if (ItemsW == 0 || ItemsW > 48) $fatal(1, "unit_counter %m: ItemsW must be 1 to 48");

  logic [ItemsW-1:0]      items_q;
  logic                   busy_q, stalled_q;
  iwarp_pkg::unit_count_t count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {items_q, busy_q, stalled_q} <= '0;
      count_q                      <= '0;
    end else begin
      {items_q, busy_q, stalled_q} <= {items_i, busy_i, stalled_i};
      count_q.items                <= count_q.items + 48'(items_q);
      count_q.busy                 <= count_q.busy + 48'(busy_q);
      count_q.stalled              <= count_q.stalled + 48'(stalled_q);
    end
  end
  assign count_o = count_q;
endmodule
