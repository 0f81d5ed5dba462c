// rdmap_wqe: splits the bodies of WQEs. A request on QN 1, or to our own table (local invalidation,
// fast registration, bind), gives rdmap_core its sink (a Read's first SGE) and its operands; absent
// ones are zero. Every other WQE gives rdmap_tx its beats.
//
//   wqe_hdr --+--> [ headers ] -------------------------------> rdmap_core
//             +--> [ kinds ] --> a request? --------+--body---> rdmap_core
//   wqe ----> [ beats ] ----------------------------+--beats--> [ bodies ] --> rdmap_tx
//
// 1. A request's body is at the head of its queue when its header is, or arrives later. The same
//    holds for the body of any other WQE in rdmap_tx.
// 2. No cycle of waits: bodies keep the order of their headers, so the body that waits is the one
//    that the oldest header needs.
//
// Throughput: 1 beat per cycle.
// Waits for rdmap_core and rdmap_tx.
// Siblings: rdmap_core, rdmap_tx.
// Bench: tb/rdmap/rdmap_test.cpp
`include "rnic_assert.svh"

`include "rnic_words.svh"

module rdmap_wqe #(
  localparam int unsigned OwnW = `RNIC_RDMAP_OWN_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  // from qp
  input  logic hdr_valid_i,
  output logic hdr_ready_o,
  input  iwarp_pkg::wqe_hdr_t hdr_i,
  input  logic beat_valid_i,
  output logic beat_ready_o,
  input  iwarp_pkg::beat_t beat_i,
  // to rdmap_core
  output logic hdr_valid_o,
  input  logic hdr_ready_i,
  output iwarp_pkg::wqe_hdr_t hdr_o,
  output logic sge_valid_o,
  input  logic sge_ready_i,
  output logic [OwnW-1:0] sge_o,           // RNIC_RDMAP_OWN_T
  // to rdmap_tx
  output logic body_valid_o,
  input  logic body_ready_i,
  output iwarp_pkg::beat_t body_o
);
  // Beats of bodies that wait for rdmap_tx while their headers pass rdmap_core, 7 cycles from WQE
  // to message. rdmap_tx sends a message of one beat every 2 cycles, so 4 beats cover them.
  localparam int unsigned Ahead = 4;
  typedef `RNIC_RDMAP_OWN_T own_t;
  typedef struct packed {
    logic is_own;                          // a request: its body goes to rdmap_core
    logic has_sink;                        // the body begins with an SGE
    logic is_atomic;                       // operands follow the sink
    logic is_write;                        // the body is the value
    logic opens_key;                       // the body is reg_operands or bind_operands
  } kind_t;

  logic hdr_ready, kind_in_ready, kind_valid, beat_valid, beat_ready;
  logic sge_ready, body_ready, first_q, read_beat, body_beat;
  kind_t kind_in, kind;
  iwarp_pkg::beat_t beat;
  logic is_atomic, is_write, opens_key;
  assign is_atomic = hdr_i.opcode == iwarp_pkg::WrAtomicCmpAndSwp ||
                     hdr_i.opcode == iwarp_pkg::WrAtomicFetchAndAdd;
  assign is_write  = hdr_i.opcode == iwarp_pkg::WrAtomicWrite;
  assign opens_key = hdr_i.opcode == iwarp_pkg::WrRegMr || hdr_i.opcode == iwarp_pkg::WrBindMw;
  assign kind_in   = {hdr_i.opcode == iwarp_pkg::WrRdmaRead || hdr_i.opcode == iwarp_pkg::WrFlush ||
                      hdr_i.opcode == iwarp_pkg::WrLocalInv || is_atomic || is_write || opens_key,
                      hdr_i.num_sge != 4'd0 || is_atomic, is_atomic, is_write, opens_key};
  assign hdr_ready_o = hdr_ready && kind_in_ready;
  stream_fifo #(.Width(iwarp_pkg::WqeHdrWidth), .Depth(rnic_pkg::FifoDepth)) u_headers (
    .clk_i, .rst_ni, .valid_i(hdr_valid_i && kind_in_ready), .ready_o(hdr_ready), .data_i(hdr_i),
    .valid_o(hdr_valid_o), .ready_i(hdr_ready_i), .data_o(hdr_o), .count_o()
  );
  stream_fifo #(.Width($bits(kind)), .Depth(rnic_pkg::FifoDepth + Ahead)) u_kinds (
    .clk_i, .rst_ni, .valid_i(hdr_valid_i && hdr_ready), .ready_o(kind_in_ready), .data_i(kind_in),
    .valid_o(kind_valid), .ready_i(beat_ready && beat_valid && beat.last), .data_o(kind), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(rnic_pkg::BeatDepth)) u_beats (
    .clk_i, .rst_ni, .valid_i(beat_valid_i), .ready_o(beat_ready_o), .data_i(beat_i),
    .valid_o(beat_valid), .ready_i(beat_ready), .data_o(beat), .count_o()
  );

  // first_q: the next beat is the first of its WQE. A request needs only this one (at most 48
  // bytes).
  assign read_beat  = kind_valid && beat_valid && kind.is_own;
  assign body_beat  = kind_valid && beat_valid && !kind.is_own;
  assign beat_ready = kind_valid && (kind.is_own ? !first_q || sge_ready : body_ready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                       first_q <= 1'b1;
    else if (beat_valid && beat_ready) first_q <= beat.last;
  end
  own_t own;
  iwarp_pkg::wqe_sge_t sink;
  assign sink = beat.data[127:0];
  always_comb begin
    own = '0;
    if (kind.has_sink)  {own.stag, own.to} = {sink.lkey, sink.address};
    if (kind.is_atomic) {own.compare_mask, own.compare, own.mask, own.data} = beat.data[383:128];
    if (kind.is_write)  own.data = beat.data[63:0];
    if (kind.opens_key) {own.compare_mask, own.compare, own.mask, own.data} = beat.data[255:0];
  end
  stream_fifo #(.Width(OwnW), .Depth(rnic_pkg::FifoDepth)) u_sges (
    .clk_i, .rst_ni, .valid_i(read_beat && first_q), .ready_o(sge_ready),
    .data_i(own),
    .valid_o(sge_valid_o), .ready_i(sge_ready_i), .data_o(sge_o), .count_o()
  );
  stream_fifo #(.Width(iwarp_pkg::BeatWidth), .Depth(Ahead)) u_bodies (
    .clk_i, .rst_ni, .valid_i(body_beat), .ready_o(body_ready), .data_i(beat),
    .valid_o(body_valid_o), .ready_i(body_ready_i), .data_o(body_o), .count_o()
  );

  logic unused_bits;
  assign unused_bits = ^{sink.length};
endmodule
