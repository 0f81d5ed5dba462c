// qp_read: tracks the outstanding reads of one read client (SQ or RQ fetch) and routes their data.
//
//   put --> [ entries ] --+--> { barrier } ---------------------+--> done
//   hdr ------------------+--> beats --> buf_* (1 per cycle) ---^
//
// 1. Responses come in order. Each takes the next entry. Its beats, one ring unit each, are written
//    straight to the prefetch buffer. Then `done` reports how far the QP has got, or that the read
//    failed.
// 2. A barrier is an entry without a read. It comes out when every read before it has come back.
//
// Latency: 2 cycles from a last beat to done.
// Waits only for the buffer's write port and for done to be taken.
// Siblings: qp_sq_fetch, qp_rq_fetch.
// Bench: tb/qp/qp_sq_fetch_test.cpp, qp_fetch_test.cpp
`include "rnic_assert.svh"

module qp_read #(
  parameter int unsigned Depth = 8,      // outstanding reads
  localparam int unsigned QpnW = $clog2(rnic_pkg::NumQps),
  localparam int unsigned CountW = $clog2(Depth + 1)
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // from the leaf that has sent the read, in the order of the reads
  input  logic            put_valid_i,
  output logic            put_ready_o,
  input  logic            put_barrier_i,
  input  logic [QpnW-1:0] put_qpn_i,
  input  logic [15:0]     put_first_i,   // ring index of its first unit
  input  logic [6:0]      put_count_i,   // units
  output logic [CountW-1:0] count_o,     // reads and barriers inside
  // from host_if
  input  logic            hdr_valid_i,
  output logic            hdr_ready_o,
  input  iwarp_pkg::rd_hdr_t hdr_i,
  input  logic            beat_valid_i,
  output logic            beat_ready_o,
  input  iwarp_pkg::beat_t beat_i,
  // to the prefetch buffer
  output logic            buf_valid_o,
  input  logic            buf_ready_i,
  output logic [QpnW-1:0] buf_qpn_o,
  output logic [15:0]     buf_index_o,
  output logic [511:0]    buf_data_o,
  // to the owner of the fetch state
  output logic            done_valid_o,
  input  logic            done_ready_i,
  output logic            done_barrier_o,
  output logic [QpnW-1:0] done_qpn_o,
  output logic [15:0]     done_end_o,    // ring index up to which units are in the buffer now
  output logic            done_fail_o    // the read failed: done_end_o is its first unit
);
  localparam int unsigned EntryW = 1 + QpnW + 16 + 7;   // put_barrier_i to put_count_i

  typedef enum logic [1:0] {
    StHdr,     // waits for an entry, and for its response's header
    StBeats,   // beats into the buffer
    StDone     // offers done
  } state_e;

  state_e            state_d, state_q;
  logic              entry_valid, barrier;
  logic [EntryW-1:0] entry;
  logic [QpnW-1:0]   qpn;
  logic [15:0]       first, at_q;
  logic [6:0]        count;
  // at_q: ring index of the next beat's unit; fail_q: the read failed, its beats are dropped
  logic              fail_q, beat_taken, unused_bits;

  stream_fifo #(.Width(EntryW), .Depth(Depth), .Reserved(1'b1)) u_entries (
    .clk_i, .rst_ni,
    .valid_i(put_valid_i), .ready_o(put_ready_o),
    .data_i({put_barrier_i, put_qpn_i, put_first_i, put_count_i}),
    .valid_o(entry_valid), .ready_i(done_valid_o && done_ready_i), .data_o(entry), .count_o
  );
  assign {barrier, qpn, first, count} = entry;

  assign hdr_ready_o  = state_q == StHdr && entry_valid && !barrier;
  assign buf_valid_o  = state_q == StBeats && beat_valid_i && !fail_q;
  assign beat_ready_o = state_q == StBeats && (fail_q || buf_ready_i);
  assign beat_taken   = beat_valid_i && beat_ready_o;
  assign buf_qpn_o    = qpn;
  assign buf_index_o  = at_q;
  assign buf_data_o   = beat_i.data;
  assign done_valid_o   = state_q == StDone;
  assign done_barrier_o = barrier;
  assign done_qpn_o     = qpn;
  assign done_end_o     = fail_q ? first : first + 16'(count);
  assign done_fail_o    = fail_q;
  assign unused_bits    = ^{hdr_i.length, beat_i.error, beat_i.keep};

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StHdr: begin
        if (entry_valid && barrier)                     state_d = StDone;
        else if (entry_valid && hdr_valid_i)            state_d = StBeats;
      end
      StBeats: if (beat_taken && beat_i.last) state_d = StDone;
      StDone:  if (done_ready_i)              state_d = StHdr;
      default: state_d = StHdr;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StHdr;
    else         state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StHdr) begin
      fail_q <= !barrier && hdr_i.status != iwarp_pkg::RdOk;
      at_q   <= first;
    end else if (beat_taken) begin
      at_q <= at_q + 16'd1;
    end
  end

  `RNIC_ASSERT(AsManyBeats_A, !(beat_taken && beat_i.last && !fail_q) ||
                              at_q == first + 16'(count) - 16'd1)
  `RNIC_STREAM_STABLE(DoneStable_A, done_valid_o, done_ready_i,
                      {done_barrier_o, done_qpn_o, done_end_o, done_fail_o})
endmodule
