// admin_tables: stores which objects exist, and the references between them.
//
//   PD {exists, uses}       EQ {exists, uses}
//   CQ {exists, EQ, uses}   QP {exists, is an SRQ, has one, its number, PD, send CQ, receive CQ}
//
// An SRQ's word has the number of its uses (the QPs that take from it) in place of the two CQs.
//
// In: a read of all four tables at once, each at its own number; a write of one table. Out: the
// words read, one cycle later, held until the next read.
// Invariant: admin_exec reads, decides, and reads again for each change, so no hazard exists.
// Sibling: admin_exec. Bench: tb/admin/admin_test.cpp
module admin_tables #(
  localparam int unsigned UseW = 20   // a PD's uses: up to 65536 regions, 8192 QPs and SRQs
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic busy_o,                 // clearing after reset
  input  logic re_i,
  input  logic [15:0] pd_i,
  input  logic [15:0] eq_i,
  input  logic [15:0] cq_i,
  input  logic [15:0] qp_i,
  output logic        pd_exists_o,
  output logic [UseW-1:0] pd_uses_o,
  output logic        eq_exists_o,
  output logic [UseW-1:0] eq_uses_o,
  output logic        cq_exists_o,
  output logic [5:0]  cq_eq_o,
  output logic [UseW-1:0] cq_uses_o,
  output logic        qp_exists_o,
  output logic [65:0] qp_refs_o,
  // writes, at the numbers of the last read
  input  logic pd_we_i,
  input  logic eq_we_i,
  input  logic cq_we_i,
  input  logic qp_we_i,
  input  logic exists_i,
  input  logic [UseW-1:0] uses_i,
  input  logic [5:0]  cq_eq_i,
  // of a QP: {is an SRQ, has one, its number, PD, send CQ, receive CQ}: 2 flags, 4 numbers of 16
  input  logic [65:0] qp_refs_i
);
  localparam int unsigned PdW = $clog2(rnic_pkg::NumPds);
  localparam int unsigned EqW = rnic_pkg::NumEqs > 1 ? $clog2(rnic_pkg::NumEqs) : 1;
  localparam int unsigned CqW = $clog2(rnic_pkg::NumCqs);
  localparam int unsigned QpW = $clog2(rnic_pkg::NumQps);

  logic pd_busy, eq_busy, cq_busy, qp_busy;
  logic [PdW-1:0] pd_clear, pd_q;
  logic [EqW-1:0] eq_clear, eq_q;
  logic [CqW-1:0] cq_clear, cq_q;
  logic [QpW-1:0] qp_clear, qp_q;
  assign busy_o = pd_busy || eq_busy || cq_busy || qp_busy;

  always_ff @(posedge clk_i) begin
    if (re_i) begin
      pd_q <= PdW'(pd_i);
      eq_q <= EqW'(eq_i);
      cq_q <= CqW'(cq_i);
      qp_q <= QpW'(qp_i);
    end
  end

  ram_clear #(.Depth(rnic_pkg::NumPds)) u_pd_clear (
    .clk_i, .rst_ni, .busy_o(pd_busy), .addr_o(pd_clear)
  );
  ram_1r1w #(.Width(1 + UseW), .Depth(rnic_pkg::NumPds)) u_pd (
    .clk_i, .rst_ni, .we_i(pd_busy || pd_we_i), .waddr_i(pd_busy ? pd_clear : pd_q),
    .wdata_i(pd_busy ? '0 : {exists_i, uses_i}),
    .re_i, .raddr_i(PdW'(pd_i)), .rdata_o({pd_exists_o, pd_uses_o})
  );
  ram_clear #(.Depth(rnic_pkg::NumEqs)) u_eq_clear (
    .clk_i, .rst_ni, .busy_o(eq_busy), .addr_o(eq_clear)
  );
  ram_1r1w #(.Width(1 + UseW), .Depth(rnic_pkg::NumEqs)) u_eq (
    .clk_i, .rst_ni, .we_i(eq_busy || eq_we_i), .waddr_i(eq_busy ? eq_clear : eq_q),
    .wdata_i(eq_busy ? '0 : {exists_i, uses_i}),
    .re_i, .raddr_i(EqW'(eq_i)), .rdata_o({eq_exists_o, eq_uses_o})
  );
  ram_clear #(.Depth(rnic_pkg::NumCqs)) u_cq_clear (
    .clk_i, .rst_ni, .busy_o(cq_busy), .addr_o(cq_clear)
  );
  ram_1r1w #(.Width(7 + UseW), .Depth(rnic_pkg::NumCqs)) u_cq (
    .clk_i, .rst_ni, .we_i(cq_busy || cq_we_i), .waddr_i(cq_busy ? cq_clear : cq_q),
    .wdata_i(cq_busy ? '0 : {exists_i, cq_eq_i, uses_i}),
    .re_i, .raddr_i(CqW'(cq_i)), .rdata_o({cq_exists_o, cq_eq_o, cq_uses_o})
  );
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_qp_clear (
    .clk_i, .rst_ni, .busy_o(qp_busy), .addr_o(qp_clear)
  );
  ram_1r1w #(.Width(1 + 66), .Depth(rnic_pkg::NumQps)) u_qp (
    .clk_i, .rst_ni, .we_i(qp_busy || qp_we_i), .waddr_i(qp_busy ? qp_clear : qp_q),
    .wdata_i(qp_busy ? '0 : {exists_i, qp_refs_i}),
    .re_i, .raddr_i(QpW'(qp_i)), .rdata_o({qp_exists_o, qp_refs_o})
  );

  logic unused_bits;
  assign unused_bits = ^{pd_i, eq_i, cq_i, qp_i};
endmodule
