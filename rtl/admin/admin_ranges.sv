// admin_ranges: records which page-list entries, IRD slots and ORD slots are in use, so that no
// two regions and no two QPs share one.
//
//   claim, release --> [ record of the object ] --> per word of 64: read, mask -> overlap, or write
//                        RAMs: by STag slot,         RAM of one bit an entry: page list | IRD | ORD
//                              by QPN
//
// claim: inspects both ranges of the object; if all bits are 0, sets them and records the ranges.
//   A refused claim changes nothing. An object without ranges claims two of count 0.
// release: clears the ranges that the object's record holds, and records count 0. An STag's record
//   is valid from its first claim on. A QP's is 0 after reset.
// Cycles, start_i and done_o included: 4 (idle, record, save, done), 2 for each range and pass, and
// 2 + 2n for one of n words. A claim makes two passes: 20 for a region of one word.
// One operation at a time; waits for nothing.
// Siblings: admin_exec (starts it), admin_pages. Bench: tb/admin/admin_ranges_test.cpp, on the
// unit.
`include "rnic_assert.svh"

module admin_ranges (
  input  logic clk_i,
  input  logic rst_ni,
  output logic busy_o,                 // clearing after reset
  input  logic start_i,                // a pulse; the other inputs stay until done_o
  input  logic release_i,              // else claim
  input  logic is_qp_i,                // else an STag
  input  logic [15:0] object_i,        // QPN or STag slot
  input  logic [31:0] first_base_i,    // page-list entries, or IRD slots
  input  logic [31:0] first_count_i,
  input  logic [15:0] second_base_i,   // ORD slots
  input  logic [15:0] second_count_i,
  output logic done_o,
  output logic refused_o               // with done_o: another object has a part of a range
);
  localparam int unsigned PblW  = $clog2(rnic_pkg::NumPbl);
  localparam int unsigned SlotW = rnic_pkg::IrdSlots > rnic_pkg::OrdSlots
                                ? $clog2(rnic_pkg::IrdSlots) : $clog2(rnic_pkg::OrdSlots);
  localparam int unsigned BaseW = PblW > SlotW ? PblW : SlotW;
  localparam int unsigned StagW = $clog2(rnic_pkg::NumStags);
  localparam int unsigned QpnW  = $clog2(rnic_pkg::NumQps);
  localparam int unsigned PblWords = (rnic_pkg::NumPbl + 63) / 64;
  localparam int unsigned IrdWords = (rnic_pkg::IrdSlots + 63) / 64;
  localparam int unsigned OrdWords = (rnic_pkg::OrdSlots + 63) / 64;
  localparam int unsigned Words    = PblWords + IrdWords + OrdWords;
  localparam int unsigned WordW    = $clog2(Words);
  localparam int unsigned CountW   = BaseW + 1;
  localparam int unsigned RangeW   = BaseW + CountW;

  typedef struct packed {
    logic [BaseW-1:0]  base;
    logic [CountW-1:0] count;
  } range_t;
  typedef struct packed {
    range_t first;
    range_t second;
  } ranges_t;

  typedef enum logic [3:0] {
    StIdle,
    StRecord,    // the object's record is read
    StRange,     // begins a range
    StEnd,       // finds its end
    StFirst,     // finds its first and last word
    StRead,      // reads a word; its mask is registered
    StUse,       // inspects the word, or writes it back with the mask's bits changed
    StNext,      // the next range, or the next pass
    StSave,      // writes the record
    StDone
  } state_e;
  state_e state_q;

  // --- tables
  logic clear_busy, qp_clear_busy, save, overlaps, refused_q;
  logic [WordW-1:0] clear_at, at_q, last_at_q;
  logic [QpnW-1:0]  qp_clear_at;
  ranges_t          ranges_q, saved, of_qp;
  range_t           of_stag, range;
  logic [63:0]      word, mask, mask_q;
  logic [1:0]       turn_q;  // {writes, second range}; a release only writes, so it begins at 2
  logic             writes;
  assign writes = turn_q[1];

  ram_clear #(.Depth(Words)) u_clear (.clk_i, .rst_ni, .busy_o(clear_busy), .addr_o(clear_at));
  ram_clear #(.Depth(rnic_pkg::NumQps)) u_qp_clear (
    .clk_i, .rst_ni, .busy_o(qp_clear_busy), .addr_o(qp_clear_at)
  );
  assign busy_o = clear_busy || qp_clear_busy;

  ram_1r1w #(.Width(64), .Depth(Words)) u_taken (
    .clk_i, .rst_ni, .we_i(clear_busy || (state_q == StUse && writes)),
    .waddr_i(clear_busy ? clear_at : at_q),
    .wdata_i(clear_busy ? '0 : release_i ? word & ~mask_q : word | mask_q),
    .re_i(state_q == StRead), .raddr_i(at_q), .rdata_o(word)
  );
  assign overlaps = (word & mask_q) != '0;

  assign save  = state_q == StSave;
  assign saved = release_i ? '0 : ranges_q;
  ram_1r1w #(.Width(RangeW), .Depth(rnic_pkg::NumStags)) u_stags (
    .clk_i, .rst_ni, .we_i(save && !is_qp_i), .waddr_i(object_i[StagW-1:0]), .wdata_i(saved.first),
    .re_i(state_q == StIdle && start_i), .raddr_i(object_i[StagW-1:0]), .rdata_o(of_stag)
  );
  ram_1r1w #(.Width(2 * RangeW), .Depth(rnic_pkg::NumQps)) u_qps (
    .clk_i, .rst_ni, .we_i(qp_clear_busy || (save && is_qp_i)),
    .waddr_i(qp_clear_busy ? qp_clear_at : object_i[QpnW-1:0]),
    .wdata_i(qp_clear_busy ? '0 : saved),
    .re_i(state_q == StIdle && start_i), .raddr_i(object_i[QpnW-1:0]), .rdata_o(of_qp)
  );

  // --- the range in turn. StEnd adds the whole words of the count to the first word, and the rest
  // of the count to low_q, which gives high_q. StFirst corrects the last word: one more if high_q
  // is 64 or above; one less if high_q[5:0] is 0, since the range then ends with the word before.
  logic [5:0]        low_q;              // its first entry in its first word
  // high_q[5:0]: one past its last entry in its last word; 0: the whole word
  logic [6:0]        high_q;
  logic [CountW-1:0] count_q;
  logic [WordW-1:0] pool;
  logic             is_first_q, is_last;
  assign range   = turn_q[0] ? ranges_q.second : ranges_q.first;
  assign pool    = !is_qp_i ? '0 : turn_q[0] ? WordW'(PblWords + IrdWords) : WordW'(PblWords);
  assign is_last = at_q == last_at_q;
  assign mask    = ({64{1'b1}} << (is_first_q ? low_q : 6'd0)) &
                   ({64{1'b1}} >> (is_last ? -high_q[5:0] : 6'd0));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StIdle;
    else begin
      case (state_q)
        StIdle:   if (start_i) state_q <= StRecord;
        StRecord: state_q <= StRange;
        StRange:  state_q <= range.count == '0 ? StNext : StEnd;
        StEnd:    state_q <= StFirst;
        StFirst:  state_q <= StRead;
        StRead:   state_q <= StUse;
        StUse:    state_q <= is_last ? StNext : StRead;
        StNext: begin
          if (turn_q == 2'd1 && refused_q) state_q <= StDone;
          else                             state_q <= turn_q == 2'd3 ? StSave : StRange;
        end
        StSave:   state_q <= StDone;
        default:  state_q <= StIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    case (state_q)
      StIdle: begin
        turn_q    <= {release_i, 1'b0};
        refused_q <= 1'b0;
        ranges_q  <= {first_base_i[BaseW-1:0], first_count_i[CountW-1:0],
                      BaseW'(second_base_i), CountW'(second_count_i)};
      end
      StRecord: if (release_i) ranges_q <= is_qp_i ? of_qp : {of_stag, {RangeW{1'b0}}};
      StRange: begin
        at_q    <= pool + WordW'(range.base >> 6);
        low_q   <= range.base[5:0];
        count_q <= range.count;
      end
      StEnd: begin
        last_at_q <= at_q + WordW'(count_q >> 6);
        high_q    <= {1'b0, low_q} + {1'b0, count_q[5:0]};
      end
      StFirst: begin
        last_at_q  <= last_at_q + WordW'(high_q[6]) - WordW'(high_q[5:0] == 6'd0);
        is_first_q <= 1'b1;
      end
      StRead: mask_q <= mask;
      StUse: begin
        is_first_q <= 1'b0;
        if (!is_last) at_q <= at_q + 1'b1;
        if (!writes && overlaps) refused_q <= 1'b1;
      end
      StNext: turn_q <= turn_q + 2'd1;
      default: ;
    endcase
  end

  assign done_o    = state_q == StDone;
  assign refused_o = refused_q;

  logic unused_bits;
  assign unused_bits = ^{object_i, first_base_i, first_count_i, second_base_i, second_count_i};

  // A claim writes only free entries, and a release clears only entries that are taken.
  `RNIC_ASSERT(OnlyTaken_A, !(state_q == StUse && writes) ||
                            (word & mask_q) == (release_i ? mask_q : 64'd0))
  `RNIC_ASSERT(StartsIdle_A, !start_i || state_q == StIdle)
endmodule
