// host_if_doorbell: BAR 2: doorbell pages to qp_doorbell and cq_doorbell; everything else goes on to host_if_bar.
//
//   mmio --> page, offset --> 0x000 sq, 0x008 rq ---------> qp_doorbell
//              |              0x010 cq, 0x018 cq_arm -----> cq_doorbell
//              |              0x100 push of 1 unit -------> qp_doorbell
//              |              0x100 push of 2 units: held; with 0x140 of the same page next --> qp_doorbell
//              |                                          anything else next: as kind sq, then that request
//              +--> not a write to BAR 2 --> host_if_bar
//
// Malformed: another offset, another size, units other than 1 and 2, an object of more than 16 bits, a page that does
// not exist, a second half alone: dropped_o pulses. Latency 1 cycle, a request a cycle (2 when a held push is given up).
// May wait for qp and cq to take a doorbell, which they do within a table access.
`include "rnic_assert.svh"

module host_if_doorbell (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // from PCIe
  input  logic                      mmio_valid_i,
  output logic                      mmio_ready_o,
  input  iwarp_pkg::mmio_req_t      mmio_i,
  // to host_if_bar: the same request
  output logic                      bar_valid_o,
  input  logic                      bar_ready_i,
  // doorbells
  output logic                      qp_doorbell_valid_o,
  input  logic                      qp_doorbell_ready_i,
  output iwarp_pkg::qp_doorbell_t   qp_doorbell_o,
  output logic                      cq_doorbell_valid_o,
  input  logic                      cq_doorbell_ready_i,
  output iwarp_pkg::cq_doorbell_t   cq_doorbell_o,
  output logic                      cq_given_o,       // a doorbell for cq was accepted; it follows on cq_doorbell
  output logic                      dropped_o
);
  localparam logic [11:0] PushFirst  = rnic_pkg::PushOffset;
  localparam logic [11:0] PushSecond = rnic_pkg::PushOffset + 12'h40;

  logic                 mine, plain, push_first, push_second, fits, held_q, second, release_held;
  logic [15:0]          page, held_page_q;
  logic [511:0]         held_data_q;
  iwarp_pkg::doorbell_t bell, held_bell;
  iwarp_pkg::sq_wqe_t   wqe, held_wqe;
  logic                 is_qp, is_cq, is_hold, qp_valid, qp_ready, cq_valid, cq_ready, unused_bits;
  iwarp_pkg::qp_doorbell_t qp_next;
  iwarp_pkg::cq_doorbell_t cq_next;
  logic [11:0]          offset;

  assign offset = mmio_i.offset[11:0];
  assign page   = mmio_i.offset[27:12];
  assign fits   = 32'(mmio_i.offset[31:12]) < rnic_pkg::NumPages;
  assign mine   = mmio_i.is_write && mmio_i.bar == 3'd2;
  assign bell   = mmio_i.data[63:0];
  assign wqe    = mmio_i.data[255:0];
  assign held_wqe  = held_data_q[255:0];
  assign held_bell = held_wqe.ring;

  assign plain       = mine && fits && mmio_i.bytes == 7'd8 && bell.object[23:16] == '0;
  assign push_first  = mine && fits && mmio_i.bytes == 7'd64 && offset == PushFirst && wqe.ring.object[23:16] == '0;
  assign push_second = mine && fits && mmio_i.bytes == 7'd64 && offset == PushSecond;
  assign second      = held_q && push_second && page == held_page_q;
  assign release_held = held_q && mmio_valid_i && !second;

  assign is_hold = push_first && wqe.units == 3'd2;
  assign is_qp   = (plain && (offset == 12'h000 || offset == 12'h008)) || (push_first && wqe.units == 3'd1) || second;
  assign is_cq   = plain && (offset == 12'h010 || offset == 12'h018);
  assign unused_bits = ^{bell.index[31:16], bell.flags[7:1], held_bell.index[31:16], held_bell.flags,
                         held_bell.object[23:16], wqe, held_wqe};

  always_comb begin
    qp_next.kind  = offset == 12'h008 ? iwarp_pkg::DbRq : iwarp_pkg::DbSq;
    qp_next.qpn   = bell.object[15:0];
    qp_next.page  = page;
    qp_next.index = bell.index[15:0];
    qp_next.units = 2'd0;
    qp_next.data  = '0;
    if (release_held) begin
      qp_next.kind  = iwarp_pkg::DbSq;
      qp_next.qpn   = held_bell.object[15:0];
      qp_next.page  = held_page_q;
      qp_next.index = held_bell.index[15:0];
    end else if (second) begin
      qp_next.kind  = iwarp_pkg::DbPush;
      qp_next.qpn   = held_bell.object[15:0];
      qp_next.index = held_bell.index[15:0];
      qp_next.units = 2'd2;
      qp_next.data  = {mmio_i.data, held_data_q};
    end else if (push_first) begin
      qp_next.kind  = iwarp_pkg::DbPush;
      qp_next.qpn   = wqe.ring.object[15:0];
      qp_next.index = wqe.ring.index[15:0];
      qp_next.units = 2'd1;
      qp_next.data  = {512'd0, mmio_i.data};
    end
    cq_next.cqn            = bell.object[15:0];
    cq_next.page           = page;
    cq_next.index          = bell.index[15:0];
    cq_next.arm            = offset == 12'h018;
    cq_next.solicited_only = offset == 12'h018 && bell.flags[0];
  end

  assign qp_valid     = mmio_valid_i && (release_held || is_qp);
  assign cq_valid     = mmio_valid_i && !release_held && is_cq;
  assign bar_valid_o  = mmio_valid_i && !release_held && !mine;
  assign dropped_o    = mmio_valid_i && !release_held && mine && !is_qp && !is_cq && !is_hold;
  assign mmio_ready_o = !release_held && (!mine ? bar_ready_i : is_qp ? qp_ready : is_cq ? cq_ready : 1'b1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni)                                       held_q <= 1'b0;
    else if (held_q && qp_valid && qp_ready)           held_q <= 1'b0;
    else if (mmio_valid_i && mmio_ready_o && is_hold)  held_q <= 1'b1;
  end

  // Registered, as u_qp registers the doorbells that follow: no qp_doorbell passes the pulse of a cq_doorbell before it.
  logic cq_given_q;
  assign cq_given_o = cq_given_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) cq_given_q <= 1'b0;
    else         cq_given_q <= cq_valid && cq_ready;
  end

  always_ff @(posedge clk_i) begin
    if (mmio_valid_i && mmio_ready_o && is_hold) begin
      held_page_q <= page;
      held_data_q <= mmio_i.data;
    end
  end

  stream_reg #(.Width(iwarp_pkg::QpDoorbellWidth)) u_qp (
    .clk_i, .rst_ni, .valid_i(qp_valid), .ready_o(qp_ready), .data_i(qp_next),
    .valid_o(qp_doorbell_valid_o), .ready_i(qp_doorbell_ready_i), .data_o(qp_doorbell_o)
  );
  stream_reg #(.Width(iwarp_pkg::CqDoorbellWidth)) u_cq (
    .clk_i, .rst_ni, .valid_i(cq_valid), .ready_o(cq_ready), .data_i(cq_next),
    .valid_o(cq_doorbell_valid_o), .ready_i(cq_doorbell_ready_i), .data_o(cq_doorbell_o)
  );

  `RNIC_STREAM_STABLE(QpStable_A, qp_doorbell_valid_o, qp_doorbell_ready_i, qp_doorbell_o)
  `RNIC_STREAM_STABLE(CqStable_A, cq_doorbell_valid_o, cq_doorbell_ready_i, cq_doorbell_o)
endmodule
