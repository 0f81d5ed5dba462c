// host_if_bar: the registers of BAR 0 (docs/gen/registers.md): settings, status, counters, MSI-X
// table, admin and EQ doorbells.
//
//   write --> registers, MSI-X row, eq_doorbell (a 64-bit one to two), admin_doorbell
//   read  --> idle --> mux: 64 bits at the offset from each group
//                       --> push: OR of groups, pick half --> host_if_order
//
// Invariants:
//  1. Reads of other BARs return 0. Writes to other BARs have no effect.
//  2. An access not of 4 or 8 bytes, or of 8 at an odd word, has no effect; a read returns 0.
//  3. Registers are 64-bit words with an enable for each half, so both sizes work everywhere.
//  4. A newer admin doorbell replaces one that admin has not accepted, so MMIO never waits for
//     admin.
// Throughput: a write per cycle, a read every 3 cycles.
// Back-pressure: waits for cq to accept an EQ doorbell (a table access), and for room in
// host_if_order.
// Bench tb/host_if/host_if_test.cpp
`include "rnic_assert.svh"

module host_if_bar (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // from host_if_doorbell
  input  logic                       req_valid_i,
  output logic                       req_ready_o,
  input  iwarp_pkg::mmio_req_t       req_i,
  // to host_if_order
  output logic                       rsp_valid_o,
  input  logic                       rsp_ready_i,
  output logic [63:0]                rsp_data_o,
  // settings and doorbells
  output iwarp_pkg::dev_cfg_t        dev_cfg_o,
  output logic                       admin_doorbell_valid_o,
  input  logic                       admin_doorbell_ready_i,
  output iwarp_pkg::admin_doorbell_t admin_doorbell_o,
  output logic                       eq_doorbell_valid_o,
  input  logic                       eq_doorbell_ready_i,
  output iwarp_pkg::eq_doorbell_t    eq_doorbell_o,
  // status and counters
  input  logic                       ready_all_i,
  input  logic                       fatal_i,
  input  logic [2:0]                 dropped_i,      // doorbells dropped in this cycle, by cq, qp,
                                                     // host_if (bit 0)
  input  logic                       dma_error_i,    // a read has failed
  input  logic [2:0]                 cpl_bad_i,      // timed out, malformed, unexpected (bit 0)
  output logic [31:0]                cpl_timeout_o,
  input  logic [10*iwarp_pkg::UnitCountWidth-1:0] counts_i,   // host_if in the lowest bits
  // MSI-X table
  output logic [5:0]                 row_o,
  output logic [3:0]                 row_we_o,
  output logic [127:0]               row_wdata_o,
  input  logic [127:0]               row_rdata_i,
  input  logic [63:0]                pending_i
);
  localparam int unsigned UnitW = iwarp_pkg::UnitCountWidth;

  typedef enum logic [1:0] {
    StIdle,   // accepts a request
    StMux,    // a read: words of all groups
    StPush    // a read: the response
  } state_e;
  state_e state_q;

  // The request: its 64-bit word, and which halves of it are written (en).
  logic        bar0, idle, write, read, four, eight, take;
  logic [1:0]  en;
  logic [63:0] wdata;
  logic [12:0] word;
  logic        unused_req;

  assign bar0  = req_i.bar == 3'd0 && req_i.offset[31:16] == '0;
  assign idle  = state_q == StIdle;
  assign four  = req_i.bytes == 7'd4;
  assign eight = req_i.bytes == 7'd8;
  assign write = idle && req_valid_i && req_i.is_write;
  assign read  = idle && req_valid_i && !req_i.is_write;
  assign en    = !bar0 || !req_i.is_write ? 2'b00 :
                 four ? {req_i.offset[2], !req_i.offset[2]} : {2{eight && !req_i.offset[2]}};
  assign wdata = four ? {2{req_i.data[31:0]}} : req_i.data[63:0];
  assign word  = req_i.offset[15:3];
  assign unused_req = ^{req_i.data[511:64], req_i.offset[1:0]};

  // EQ doorbells. Each register has 4 bytes. A 64-bit write rings two EQs, one per step: the even
  // one first, then the odd one (eq_second_q). The request is accepted with the last step.
  logic       eq_write, eq_half, eq_second_q, eq_valid, eq_ready, eq_step, eq_more;
  logic [7:0] eqn;
  iwarp_pkg::eq_doorbell_t eq_next;

  assign eq_write = write && word[12:5] == regs_pkg::EqConsumerOffset[15:8] && en != 2'b00;
  assign eq_half  = eq_second_q || !en[0];
  assign eqn      = {2'd0, word[4:0], eq_half};
  assign eq_valid = eq_write && 32'(eqn) < rnic_pkg::NumEqs;
  assign eq_step  = !eq_valid || eq_ready;
  assign eq_more  = en == 2'b11 && !eq_second_q;
  assign eq_next.eqn   = eqn;
  assign eq_next.index = eq_half ? wdata[47:32] : wdata[15:0];

  assign req_ready_o = idle && (!eq_write || (eq_step && !eq_more));
  assign take        = req_valid_i && req_ready_o;

  stream_reg #(.Width(iwarp_pkg::EqDoorbellWidth)) u_eq (
    .clk_i, .rst_ni, .valid_i(eq_valid), .ready_o(eq_ready), .data_i(eq_next),
    .valid_o(eq_doorbell_valid_o), .ready_i(eq_doorbell_ready_i), .data_o(eq_doorbell_o)
  );

  // Settings. at_*: the write in this cycle is for this register; a 2-bit one: for these halves.
  // The admin doorbell: bell_q is offered to admin while bell_valid_q is set. bell_next_q is newer,
  // and waits for bell_q while bell_wait_q is set.
  logic        at_enable, at_cpl, enable_q, bell_wait_q, bell_valid_q, bell_load, bell_write;
  logic [63:0] key_q, cmd_base_q, rsp_base_q, time_q, dropped_q, errors_q;
  // drops_q: dropped_i of the last cycle. Added in one cycle they would be the chip's longest path.
  logic [1:0]  drops_q;
  logic [63:0] unexpected_q, malformed_q, timed_out_q;
  logic [31:0] cpl_timeout_q;
  logic [3:0]  log_size_q;
  logic [15:0] bell_next_q, bell_q;
  logic [1:0]  at_key, at_cmd, at_rsp, at_size, at_msix_low, at_msix_high;

  assign at_enable    = write && word == regs_pkg::DevCtrlOffset[15:3] && en[0];
  assign at_key       = write && word == regs_pkg::StagKeyOffset[15:3] ? en : 2'b00;
  assign at_cpl       = write && word == regs_pkg::CplTimeoutOffset[15:3] && en[0];
  assign at_cmd       = write && word == regs_pkg::AdminCmdBaseOffset[15:3] ? en : 2'b00;
  assign at_rsp       = write && word == regs_pkg::AdminRspBaseOffset[15:3] ? en : 2'b00;
  assign at_size      = write && word == regs_pkg::AdminLogSizeOffset[15:3] ? en : 2'b00;
  assign at_msix_low  = write && word[12:7] == regs_pkg::MsixAddressOffset[15:10] && !word[0]
                      ? en : 2'b00;
  assign at_msix_high = write && word[12:7] == regs_pkg::MsixAddressOffset[15:10] && word[0]
                      ? en : 2'b00;
  assign bell_write   = at_size[1];   // admin_doorbell is the upper half of the word of log_size
  assign bell_load    = bell_wait_q && (!bell_valid_q || admin_doorbell_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enable_q     <= 1'b0;
      key_q        <= '0;
      cmd_base_q   <= '0;
      rsp_base_q   <= '0;
      log_size_q   <= '0;
      time_q       <= '0;
      drops_q      <= '0;
      dropped_q    <= '0;
      errors_q     <= '0;
      unexpected_q  <= '0;
      malformed_q   <= '0;
      timed_out_q   <= '0;
      cpl_timeout_q <= regs_pkg::CplTimeoutReset;
      bell_wait_q  <= 1'b0;
      bell_valid_q <= 1'b0;
      eq_second_q  <= 1'b0;
    end else begin
      if (at_enable)  enable_q          <= wdata[0];
      if (at_key[0])  key_q[31:0]       <= wdata[31:0];
      if (at_key[1])  key_q[63:32]      <= wdata[63:32];
      if (at_cmd[0])  cmd_base_q[31:0]  <= wdata[31:0];
      if (at_cmd[1])  cmd_base_q[63:32] <= wdata[63:32];
      if (at_rsp[0])  rsp_base_q[31:0]  <= wdata[31:0];
      if (at_rsp[1])  rsp_base_q[63:32] <= wdata[63:32];
      if (at_size[0]) log_size_q        <= wdata[3:0];
      time_q       <= time_q + 64'd1;
      drops_q      <= 2'(dropped_i[0]) + 2'(dropped_i[1]) + 2'(dropped_i[2]);
      dropped_q    <= dropped_q + 64'(drops_q);
      errors_q     <= errors_q + 64'(dma_error_i);
      unexpected_q <= unexpected_q + 64'(cpl_bad_i[0]);
      malformed_q  <= malformed_q + 64'(cpl_bad_i[1]);
      timed_out_q  <= timed_out_q + 64'(cpl_bad_i[2]);
      if (at_cpl) cpl_timeout_q <= wdata[31:0];
      bell_wait_q  <= bell_write || (bell_wait_q && !bell_load);
      bell_valid_q <= bell_load || (bell_valid_q && !admin_doorbell_ready_i);
      if (eq_write && eq_step) eq_second_q <= eq_more;
    end
  end

  always_ff @(posedge clk_i) begin
    if (bell_write) bell_next_q <= wdata[47:32];
    if (bell_load)  bell_q      <= bell_next_q;
  end

  assign cpl_timeout_o          = cpl_timeout_q;
  assign admin_doorbell_valid_o = bell_valid_q;
  assign admin_doorbell_o.index = bell_q;
  assign dev_cfg_o = {enable_q, key_q, cmd_base_q, rsp_base_q, log_size_q};

  assign row_o       = idle ? word[6:1] : word_q[6:1];
  assign row_we_o    = {at_msix_high, at_msix_low};
  assign row_wdata_o = {wdata, wdata};

  // Reads. Each group (misc, caps, counters, MSI-X row) is 0 at offsets that are not its own. So
  // the response is the OR of all groups.
  logic [12:0] word_q;
  logic        bar0_q, four_q, half_q;
  logic [63:0] misc, caps, counter, misc_q, caps_q, counter_q, row_q, all;
  logic [47:0] counter_part;
  logic [3:0]  unit;

  always_comb begin
    misc = '0;
    case (word_q)
      regs_pkg::MagicOffset[15:3]:            misc = {regs_pkg::VersionReset, regs_pkg::MagicReset};
      regs_pkg::DevCtrlOffset[15:3]:          misc = {30'd0, fatal_i, ready_all_i, 31'd0, enable_q};
      regs_pkg::AdminCmdBaseOffset[15:3]:     misc = cmd_base_q;
      regs_pkg::AdminRspBaseOffset[15:3]:     misc = rsp_base_q;
      regs_pkg::AdminLogSizeOffset[15:3]:     misc = {60'd0, log_size_q};
      regs_pkg::DeviceTimeOffset[15:3]:       misc = time_q;
      regs_pkg::DoorbellsDroppedOffset[15:3]: misc = dropped_q;
      regs_pkg::DmaErrorsOffset[15:3]:        misc = errors_q;
      regs_pkg::CplTimeoutOffset[15:3]:       misc = {32'd0, cpl_timeout_q};
      regs_pkg::CplUnexpectedOffset[15:3]:    misc = unexpected_q;
      regs_pkg::CplMalformedOffset[15:3]:     misc = malformed_q;
      regs_pkg::CplTimedOutOffset[15:3]:      misc = timed_out_q;
      regs_pkg::MsixPendingOffset[15:3]:      misc = pending_i;
      default:                                misc = '0;
    endcase

    caps = '0;
    case (word_q)
      regs_pkg::CapNumQpsOffset[15:3]:     caps = {32'(rnic_pkg::NumCqs), 32'(rnic_pkg::NumQps)};
      regs_pkg::CapNumEqsOffset[15:3]:     caps = {32'(rnic_pkg::NumPds), 32'(rnic_pkg::NumEqs)};
      regs_pkg::CapNumPagesOffset[15:3]:
        caps = {32'(rnic_pkg::NumStags), 32'(rnic_pkg::NumPages)};
      regs_pkg::CapNumPblOffset[15:3]:     caps = {32'(rnic_pkg::NumConns), 32'(rnic_pkg::NumPbl)};
      regs_pkg::CapNumVectorsOffset[15:3]:
        caps = {32'(rnic_pkg::IrdSlots), 32'(rnic_pkg::NumVectors)};
      regs_pkg::CapOrdSlotsOffset[15:3]:   caps = {32'(rnic_pkg::MaxIrd), 32'(rnic_pkg::OrdSlots)};
      regs_pkg::CapMaxOrdOffset[15:3]:
        caps = {regs_pkg::CapClockKhzReset, 32'(rnic_pkg::MaxOrd)};
      regs_pkg::CapSqWindowOffset[15:3]:   caps = {32'd0, 32'(rnic_pkg::SqWindow)};
      default:                             caps = '0;
    endcase

    // Each unit has 4 words: items, busy, stalled, zero. 0: no unit beyond the tenth.
    unit         = word_q[5:2];
    counter_part = '0;
    for (int unsigned u = 0; u < 10; u++) begin
      if (word_q[12:6] == regs_pkg::CountItemsOffset[15:9] && unit == 4'(u)) begin
        case (word_q[1:0])
          2'd0:    counter_part = counts_i[u*UnitW + 96 +: 48];
          2'd1:    counter_part = counts_i[u*UnitW + 48 +: 48];
          2'd2:    counter_part = counts_i[u*UnitW +: 48];
          default: counter_part = '0;
        endcase
      end
    end
    counter = {16'd0, counter_part};
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      word_q <= word;
      bar0_q <= bar0 && (four || (eight && !req_i.offset[2]));
      four_q <= four;
      half_q <= four && req_i.offset[2];
    end
    if (state_q == StMux) begin
      misc_q    <= misc;
      caps_q    <= caps;
      counter_q <= counter;
      row_q     <= word_q[12:7] != regs_pkg::MsixAddressOffset[15:10] ? '0 :
                   word_q[0] ? row_rdata_i[127:64] : row_rdata_i[63:0];
    end
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      case (state_q)
        StIdle:  if (read) state_q <= StMux;
        StMux:   state_q <= StPush;
        default: if (rsp_ready_i) state_q <= StIdle;
      endcase
    end
  end

  assign all         = bar0_q ? misc_q | caps_q | counter_q | row_q : '0;
  assign rsp_valid_o = state_q == StPush;
  assign rsp_data_o  = {four_q ? 32'd0 : all[63:32], half_q ? all[63:32] : all[31:0]};

  `RNIC_STREAM_STABLE(RspStable_A, rsp_valid_o, rsp_ready_i, rsp_data_o)
  `RNIC_STREAM_STABLE(BellStable_A, admin_doorbell_valid_o, admin_doorbell_ready_i,
                      admin_doorbell_o)
endmodule
