// qp_count: the unit's counters: items handled, cycles something moved, cycles something was offered and not taken.
//
//   item_i, moved_i, waiting_i --> [ register ] --> [ + 1 ] --> count_o      (2 cycles later)
module qp_count (
  input  logic clk_i,
  input  logic rst_ni,
  // from the unit's streams
  input  logic item_i,
  input  logic moved_i,
  input  logic waiting_i,
  // to host_if
  output iwarp_pkg::unit_count_t count_o
);
  logic        item_q, moved_q, waiting_q;
  logic [47:0] items_q, busy_q, stalled_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {item_q, moved_q, waiting_q} <= 3'b000;
      items_q   <= '0;
      busy_q    <= '0;
      stalled_q <= '0;
    end else begin
      {item_q, moved_q, waiting_q} <= {item_i, moved_i, waiting_i};
      items_q   <= items_q + 48'(item_q);
      busy_q    <= busy_q + 48'(moved_q);
      stalled_q <= stalled_q + 48'(waiting_q);
    end
  end
  assign count_o = {items_q, busy_q, stalled_q};
endmodule
