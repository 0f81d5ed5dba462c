// ram_clear: walks once over all addresses of a table after reset, so that its owner can clear it.
//
// busy_o is high for Depth cycles from reset; addr_o counts 0 .. Depth-1 meanwhile. While busy_o is
// high the owner connects its write port to the walker and accepts no request:
//
//   .we_i(clear_busy || we),
//   .waddr_i(clear_busy ? clear_addr : waddr), .wdata_i(clear_busy ? '0 : wdata)
//
// Outputs come from flip-flops. Proof rtl/formal/ram_clear_fv.sv, bench tb/lib/ram_clear_test.cpp
`include "rnic_assert.svh"

module ram_clear #(
  parameter int unsigned Depth = 16,
  localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // to the table's owner
  output logic             busy_o,
  output logic [AddrW-1:0] addr_o
);
  if (Depth == 0) $fatal(1, "ram_clear %m: Depth must be at least 1");

  logic             busy_q;
  logic [AddrW-1:0] addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b1;
      addr_q <= '0;
    end else if (busy_q) begin
      busy_q <= addr_q != AddrW'(Depth - 1);
      addr_q <= addr_q + 1'b1;
    end
  end

  assign busy_o = busy_q;
  assign addr_o = addr_q;

  `RNIC_ASSERT(InRange_A, !busy_q || 32'(addr_q) < Depth)
  `RNIC_ASSERT_NEXT(OnlyOnce_A, !busy_q, !busy_q)
endmodule
