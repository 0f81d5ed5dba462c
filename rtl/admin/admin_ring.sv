// admin_ring: reads commands from the command ring, one at a time, and writes their responses to
// the response ring.
//
//   doorbell -> read 64 bytes at the consumer index -> cmd_o ... rsp_i
//            -> write 32 bytes with the phase -> next
//
// Invariants:
//  1. A doorbell with an index before the newest one is late and has no effect. Indices are
//     compared modulo 2^16.
//  2. If a command cannot be read, the ring stops (fatal_o), since the command is unknown. Only a
//     reset restarts the ring.
// Back-pressure: waits for the read, for admin_exec and for admin_wr.
// Sibling: admin_exec (between cmd_o and rsp_i). Bench: tb/admin/admin_test.cpp, on the unit: reads
// and writes are ports of admin.
`include "rnic_assert.svh"

module admin_ring (
  input  logic clk_i,
  input  logic rst_ni,
  input  iwarp_pkg::dev_cfg_t dev_cfg_i,
  output logic fatal_o,
  // from host_if
  input  logic db_valid_i,
  input  logic [15:0] db_index_i,
  // read client of host_if, shared with admin_pages and admin_bytes: one of them reads at a
  // time
  output logic rd_valid_o,
  input  logic rd_ready_i,
  output iwarp_pkg::rd_req_t rd_o,
  input  logic hdr_valid_i,
  input  iwarp_pkg::rd_status_e hdr_status_i,
  input  logic beat_valid_i,
  input  logic [511:0] beat_i,
  output logic hdr_ready_o,
  output logic beat_ready_o,
  // command and response
  output logic cmd_valid_o,
  input  logic cmd_ready_i,
  output iwarp_pkg::admin_cmd_t cmd_o,
  input  logic rsp_valid_i,
  output logic rsp_ready_o,
  input  iwarp_pkg::cmd_rsp_t rsp_i,
  output logic wr_valid_o,
  input  logic wr_ready_i,
  output iwarp_pkg::admin_wr_t wr_o
);
  typedef enum logic [2:0] {
    StIdle,      // no command posted
    StRead,      // requests the read
    StHeader,    // waits for its header
    StBeat,      // the command itself
    StCmd,       // offers it to admin_exec
    StAnswer,    // waits for the response and writes it
    StFatal      // a command could not be read
  } state_e;
  state_e state_d, state_q;

  logic [15:0] producer_q, index_q, ahead, mask;
  // entry_q: index_q modulo the size of the ring. The addresses follow index_q by one cycle; StIdle
  // lies between a change of index_q and their use.
  logic [15:0] index_d, entry_q;
  logic [22:0] cmd_low_q;    // low address bits, which the entry changes, with the carry of the sum
  logic [21:0] rsp_low_q;
  logic [41:0] cmd_high_q;   // the high address bits, if the low ones have a carry
  logic [42:0] rsp_high_q;
  iwarp_pkg::admin_cmd_t cmd_q;
  iwarp_pkg::admin_rsp_t rsp;
  logic        bad_q;
  assign ahead = db_index_i - producer_q;
  assign index_d = state_q == StAnswer && state_d == StIdle ? index_q + 16'd1 : index_q;
  assign mask  = ~(16'hffff << dev_cfg_i.admin_log_size);

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (dev_cfg_i.enable && producer_q != index_q) state_d = StRead;
      StRead:   if (rd_ready_i) state_d = StHeader;
      StHeader: if (hdr_valid_i) state_d = StBeat;
      // A read that failed also returns a beat, which is empty (rd_hdr).
      StBeat:   if (beat_valid_i) state_d = bad_q ? StFatal : StCmd;
      StCmd:    if (cmd_ready_i) state_d = StAnswer;
      StAnswer: if (rsp_valid_i && wr_ready_i) state_d = StIdle;
      default:  state_d = state_q;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      producer_q <= '0;
      index_q    <= '0;
    end else begin
      state_q <= state_d;
      if (db_valid_i && ahead < 16'h8000) producer_q <= db_index_i;
      index_q <= index_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StHeader) bad_q <= hdr_status_i != iwarp_pkg::RdOk;
    if (state_q == StBeat)   cmd_q <= beat_i;
    entry_q  <= index_d & mask;
    cmd_low_q <= {1'b0, dev_cfg_i.admin_cmd_base[21:0]} + {1'b0, entry_q, 6'h0};
    rsp_low_q <= {1'b0, dev_cfg_i.admin_rsp_base[20:0]} + {1'b0, entry_q, 5'h0};
    // one cycle is enough: these settings do not change while admin is enabled
    cmd_high_q <= dev_cfg_i.admin_cmd_base[63:22] + 42'd1;
    rsp_high_q <= dev_cfg_i.admin_rsp_base[63:21] + 43'd1;
  end

  assign fatal_o     = state_q == StFatal;
  assign rd_valid_o  = state_q == StRead;
  assign hdr_ready_o  = state_q == StHeader;
  assign beat_ready_o = state_q == StBeat;
  assign cmd_valid_o = state_q == StCmd;
  assign cmd_o       = cmd_q;
  assign rsp_ready_o = state_q == StAnswer && wr_ready_i;
  assign wr_valid_o  = state_q == StAnswer && rsp_valid_i;
  always_comb begin
    rd_o.address = {cmd_low_q[22] ? cmd_high_q : dev_cfg_i.admin_cmd_base[63:22], cmd_low_q[21:0]};
    rd_o.length  = 13'd64;
    rsp          = '0;
    rsp.cookie   = cmd_q.cookie;
    rsp.status   = rsp_i.status;
    rsp.opcode   = cmd_q.opcode;
    rsp.object   = cmd_q.object;
    rsp.result   = rsp_i.result;
    // 1 on the first pass over the ring: bit log_size of the index counts the passes.
    rsp.phase    = !(|(index_q & (mask + 16'd1)));
    wr_o         = '0;
    wr_o.address = {rsp_low_q[21] ? rsp_high_q : dev_cfg_i.admin_rsp_base[63:21], rsp_low_q[20:0]};
    wr_o.length  = 7'd32;
    wr_o.data    = {256'h0, rsp};
  end

  logic unused_key;
  assign unused_key = ^dev_cfg_i.stag_key;

  `RNIC_STREAM_STABLE(CmdStable_A, cmd_valid_o, cmd_ready_i, cmd_o)
endmodule
