// Printed by specgen from docs/spec; do not edit.
//
// regs_pkg: registers: byte offset in the BAR, reset value, writable bits, fields.
/* verilator lint_off UNUSEDPARAM */ /* verilator lint_off SYMRSVDWORD */
package regs_pkg;

  // BAR 0, ro: `MNIC` as bytes.
  //   architecture 3.1
  localparam logic [31:0] MagicOffset = 32'h0;
  localparam logic [31:0] MagicReset = 32'h43494e4d;
  localparam logic [31:0] MagicMask = 32'h0;

  // BAR 0, ro: Interface version: major 16, minor 16.
  //   architecture 3.1
  localparam logic [31:0] VersionOffset = 32'h4;
  localparam logic [31:0] VersionReset = 32'h10000;
  localparam logic [31:0] VersionMask = 32'h0;

  // BAR 0, rw: enable: the device may do DMA. Setting it again after clearing does not reset.
  //   architecture 3.1
  localparam logic [31:0] DevCtrlOffset = 32'h8;
  localparam logic [31:0] DevCtrlReset = 32'h0;
  localparam logic [31:0] DevCtrlMask = 32'h1;
  localparam int unsigned DevCtrlEnableLsb = 0;
  localparam int unsigned DevCtrlEnableWidth = 1;

  // BAR 0, ro: ready: tables are cleared, commands are accepted. fatal: admin could not read a
  // command from its ring and has stopped; only reset helps.
  //   architecture 3.1
  localparam logic [31:0] DevStatusOffset = 32'hc;
  localparam logic [31:0] DevStatusReset = 32'h0;
  localparam logic [31:0] DevStatusMask = 32'h0;
  localparam int unsigned DevStatusReadyLsb = 0;
  localparam int unsigned DevStatusReadyWidth = 1;
  localparam int unsigned DevStatusFatalLsb = 1;
  localparam int unsigned DevStatusFatalWidth = 1;

  // BAR 0, wo: Key of the STag permutation; written once after reset, before the first create_mr.
  //   architecture 6
  localparam logic [31:0] StagKeyOffset = 32'h10;
  localparam logic [63:0] StagKeyReset = 64'h0;
  localparam logic [63:0] StagKeyMask = 64'hffffffffffffffff;

  // BAR 0, rw: Completion time-out of DMA reads, in device cycles: a read without all its
  // completions fails after 1 to 1.5 times as long. 0: never. The reset value is 52 ms.
  //   architecture 3.2
  localparam logic [31:0] CplTimeoutOffset = 32'h18;
  localparam logic [31:0] CplTimeoutReset = 32'h1000000;
  localparam logic [31:0] CplTimeoutMask = 32'hffffffff;

  // BAR 0, rw: Bus address of the command ring, 64-byte aligned.
  //   architecture 4
  localparam logic [31:0] AdminCmdBaseOffset = 32'h20;
  localparam logic [63:0] AdminCmdBaseReset = 64'h0;
  localparam logic [63:0] AdminCmdBaseMask = 64'hffffffffffffffff;

  // BAR 0, rw: Bus address of the response ring, 64-byte aligned.
  //   architecture 4
  localparam logic [31:0] AdminRspBaseOffset = 32'h28;
  localparam logic [63:0] AdminRspBaseReset = 64'h0;
  localparam logic [63:0] AdminRspBaseMask = 64'hffffffffffffffff;

  // BAR 0, rw: Both rings have 2^log_size entries, 0 to 12.
  //   architecture 4
  localparam logic [31:0] AdminLogSizeOffset = 32'h30;
  localparam logic [31:0] AdminLogSizeReset = 32'h0;
  localparam logic [31:0] AdminLogSizeMask = 32'hf;
  localparam int unsigned AdminLogSizeLogSizeLsb = 0;
  localparam int unsigned AdminLogSizeLogSizeWidth = 4;

  // BAR 0, wo: Producer index of the command ring.
  //   architecture 4
  localparam logic [31:0] AdminDoorbellOffset = 32'h34;
  localparam logic [31:0] AdminDoorbellReset = 32'h0;
  localparam logic [31:0] AdminDoorbellMask = 32'hffff;
  localparam int unsigned AdminDoorbellIndexLsb = 0;
  localparam int unsigned AdminDoorbellIndexWidth = 16;

  // BAR 0, ro: Device cycles since reset; the clock of cqe.timestamp.
  //   architecture 13
  localparam logic [31:0] DeviceTimeOffset = 32'h40;
  localparam logic [63:0] DeviceTimeReset = 64'h0;
  localparam logic [63:0] DeviceTimeMask = 64'h0;

  // BAR 0, ro: Doorbells for an object that does not exist or belongs to another page, and pushes
  // that were malformed.
  //   architecture 3.1
  localparam logic [31:0] DoorbellsDroppedOffset = 32'h48;
  localparam logic [63:0] DoorbellsDroppedReset = 64'h0;
  localparam logic [63:0] DoorbellsDroppedMask = 64'h0;

  // BAR 0, ro: DMA reads that failed: unsupported, aborted, poisoned, of a wrong length, timed out.
  //   architecture 3.2
  localparam logic [31:0] DmaErrorsOffset = 32'h50;
  localparam logic [63:0] DmaErrorsReset = 64'h0;
  localparam logic [63:0] DmaErrorsMask = 64'h0;

  // BAR 0, ro: Completions for a tag that is not outstanding: discarded.
  //   architecture 3.2
  localparam logic [31:0] CplUnexpectedOffset = 32'h58;
  localparam logic [63:0] CplUnexpectedReset = 64'h0;
  localparam logic [63:0] CplUnexpectedMask = 64'h0;

  // BAR 0, ro: DMA reads that failed because fewer or more bytes came than were asked for.
  //   architecture 3.2
  localparam logic [31:0] CplMalformedOffset = 32'h60;
  localparam logic [63:0] CplMalformedReset = 64'h0;
  localparam logic [63:0] CplMalformedMask = 64'h0;

  // BAR 0, ro: DMA reads that failed because not all of their bytes came in time (cpl_timeout).
  //   architecture 3.2
  localparam logic [31:0] CplTimedOutOffset = 32'h68;
  localparam logic [63:0] CplTimedOutReset = 64'h0;
  localparam logic [63:0] CplTimedOutMask = 64'h0;

  // BAR 0, ro: Queue pairs.
  //   sizes.yaml
  localparam logic [31:0] CapNumQpsOffset = 32'h100;
  localparam logic [31:0] CapNumQpsReset = 32'h0;
  localparam logic [31:0] CapNumQpsMask = 32'h0;

  // BAR 0, ro: Completion queues.
  //   sizes.yaml
  localparam logic [31:0] CapNumCqsOffset = 32'h104;
  localparam logic [31:0] CapNumCqsReset = 32'h0;
  localparam logic [31:0] CapNumCqsMask = 32'h0;

  // BAR 0, ro: Event queues.
  //   sizes.yaml
  localparam logic [31:0] CapNumEqsOffset = 32'h108;
  localparam logic [31:0] CapNumEqsReset = 32'h0;
  localparam logic [31:0] CapNumEqsMask = 32'h0;

  // BAR 0, ro: Protection domains.
  //   sizes.yaml
  localparam logic [31:0] CapNumPdsOffset = 32'h10c;
  localparam logic [31:0] CapNumPdsReset = 32'h0;
  localparam logic [31:0] CapNumPdsMask = 32'h0;

  // BAR 0, ro: Doorbell pages.
  //   sizes.yaml
  localparam logic [31:0] CapNumPagesOffset = 32'h110;
  localparam logic [31:0] CapNumPagesReset = 32'h0;
  localparam logic [31:0] CapNumPagesMask = 32'h0;

  // BAR 0, ro: STag table slots.
  //   sizes.yaml
  localparam logic [31:0] CapNumStagsOffset = 32'h114;
  localparam logic [31:0] CapNumStagsReset = 32'h0;
  localparam logic [31:0] CapNumStagsMask = 32'h0;

  // BAR 0, ro: Page-list entries.
  //   sizes.yaml
  localparam logic [31:0] CapNumPblOffset = 32'h118;
  localparam logic [31:0] CapNumPblReset = 32'h0;
  localparam logic [31:0] CapNumPblMask = 32'h0;

  // BAR 0, ro: Connections.
  //   sizes.yaml
  localparam logic [31:0] CapNumConnsOffset = 32'h11c;
  localparam logic [31:0] CapNumConnsReset = 32'h0;
  localparam logic [31:0] CapNumConnsMask = 32'h0;

  // BAR 0, ro: MSI-X vectors.
  //   sizes.yaml
  localparam logic [31:0] CapNumVectorsOffset = 32'h120;
  localparam logic [31:0] CapNumVectorsReset = 32'h0;
  localparam logic [31:0] CapNumVectorsMask = 32'h0;

  // BAR 0, ro: Inbound request slots.
  //   sizes.yaml
  localparam logic [31:0] CapIrdSlotsOffset = 32'h124;
  localparam logic [31:0] CapIrdSlotsReset = 32'h0;
  localparam logic [31:0] CapIrdSlotsMask = 32'h0;

  // BAR 0, ro: Outstanding request slots.
  //   sizes.yaml
  localparam logic [31:0] CapOrdSlotsOffset = 32'h128;
  localparam logic [31:0] CapOrdSlotsReset = 32'h0;
  localparam logic [31:0] CapOrdSlotsMask = 32'h0;

  // BAR 0, ro: Largest IRD of a QP.
  //   sizes.yaml
  localparam logic [31:0] CapMaxIrdOffset = 32'h12c;
  localparam logic [31:0] CapMaxIrdReset = 32'h0;
  localparam logic [31:0] CapMaxIrdMask = 32'h0;

  // BAR 0, ro: Largest ORD of a QP.
  //   sizes.yaml
  localparam logic [31:0] CapMaxOrdOffset = 32'h130;
  localparam logic [31:0] CapMaxOrdReset = 32'h0;
  localparam logic [31:0] CapMaxOrdMask = 32'h0;

  // BAR 0, ro: Device clock.
  //   architecture 3
  localparam logic [31:0] CapClockKhzOffset = 32'h134;
  localparam logic [31:0] CapClockKhzReset = 32'h4eada;
  localparam logic [31:0] CapClockKhzMask = 32'h0;

  // BAR 0, ro: Send WQEs a QP may have issued and not retired.
  //   sizes.yaml
  localparam logic [31:0] CapSqWindowOffset = 32'h138;
  localparam logic [31:0] CapSqWindowReset = 32'h0;
  localparam logic [31:0] CapSqWindowMask = 32'h0;

  // BAR 0, wo: Consumer index of event queue n.
  //   architecture 4
  localparam logic [31:0] EqConsumerOffset = 32'h200;
  localparam logic [31:0] EqConsumerReset = 32'h0;
  localparam logic [31:0] EqConsumerMask = 32'hffff;
  localparam int unsigned EqConsumerCount = 64;
  localparam int unsigned EqConsumerStride = 4;
  localparam int unsigned EqConsumerIndexLsb = 0;
  localparam int unsigned EqConsumerIndexWidth = 16;

  // BAR 0, rw: MSI-X table: message address.
  //   PCIe Base Specification 7.7.2
  localparam logic [31:0] MsixAddressOffset = 32'h2000;
  localparam logic [63:0] MsixAddressReset = 64'h0;
  localparam logic [63:0] MsixAddressMask = 64'hffffffffffffffff;
  localparam int unsigned MsixAddressCount = 64;
  localparam int unsigned MsixAddressStride = 16;

  // BAR 0, rw: MSI-X table: message data.
  //   PCIe Base Specification 7.7.2
  localparam logic [31:0] MsixDataOffset = 32'h2008;
  localparam logic [31:0] MsixDataReset = 32'h0;
  localparam logic [31:0] MsixDataMask = 32'hffffffff;
  localparam int unsigned MsixDataCount = 64;
  localparam int unsigned MsixDataStride = 16;

  // BAR 0, rw: MSI-X table: mask.
  //   PCIe Base Specification 7.7.2
  localparam logic [31:0] MsixControlOffset = 32'h200c;
  localparam logic [31:0] MsixControlReset = 32'h1;
  localparam logic [31:0] MsixControlMask = 32'h1;
  localparam int unsigned MsixControlCount = 64;
  localparam int unsigned MsixControlStride = 16;
  localparam int unsigned MsixControlMaskLsb = 0;
  localparam int unsigned MsixControlMaskWidth = 1;

  // BAR 0, ro: MSI-X pending bits.
  //   PCIe Base Specification 7.7.2
  localparam logic [31:0] MsixPendingOffset = 32'h2800;
  localparam logic [63:0] MsixPendingReset = 64'h0;
  localparam logic [63:0] MsixPendingMask = 64'h0;

  // BAR 0, ro: Items a unit has handled; units in the order host_if admin qp tpt rdmap ddp mpa cq
  // llp_if atomic.
  //   architecture 12
  localparam logic [31:0] CountItemsOffset = 32'h4000;
  localparam logic [63:0] CountItemsReset = 64'h0;
  localparam logic [63:0] CountItemsMask = 64'h0;
  localparam int unsigned CountItemsCount = 10;
  localparam int unsigned CountItemsStride = 32;

  // BAR 0, ro: Cycles in which the unit moved an item or a beat.
  //   architecture 12
  localparam logic [31:0] CountBusyOffset = 32'h4008;
  localparam logic [63:0] CountBusyReset = 64'h0;
  localparam logic [63:0] CountBusyMask = 64'h0;
  localparam int unsigned CountBusyCount = 10;
  localparam int unsigned CountBusyStride = 32;

  // BAR 0, ro: Cycles in which it offered one and was not taken.
  //   architecture 12
  localparam logic [31:0] CountStalledOffset = 32'h4010;
  localparam logic [63:0] CountStalledReset = 64'h0;
  localparam logic [63:0] CountStalledMask = 64'h0;
  localparam int unsigned CountStalledCount = 10;
  localparam int unsigned CountStalledStride = 32;

endpackage
/* verilator lint_on UNUSEDPARAM */ /* verilator lint_on SYMRSVDWORD */
