// ram_1r1w_fv: proof of ram_1r1w with 5 words: any one word is the one last written to its address.
// A read returns the word from before a write in the same cycle. rdata_o keeps it until the next
// read.
//
// proof: assertions=4 bounded=12 induction=2 cover=8
`include "rnic_assert.svh"
`include "rnic_formal.svh"

module ram_1r1w_fv (
  input logic       clk_i,
  input logic       we_i, re_i,
  input logic [2:0] waddr_i, raddr_i, wdata_i
);
  `RNIC_FORMAL_RESET
  (* anyconst *) logic [2:0] which;   // the address that is followed
  logic [2:0] rdata_o, word, written_q, read_q;
  logic       known_q, shown_q;       // the address has been written; rdata_o is its word

  ram_1r1w #(.Width(3), .Depth(5)) dut (
    .clk_i, .rst_ni, .we_i, .waddr_i, .wdata_i, .re_i, .raddr_i, .rdata_o,
    .f_addr_i(which), .f_word_o(word)
  );

  always_comb assume (which < 3'd5);
  `RNIC_ASSUME(!we_i || waddr_i < 3'd5)
  `RNIC_ASSUME(!re_i || raddr_i < 3'd5)

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q <= 1'b0;
      shown_q <= 1'b0;
    end else begin
      if (we_i && waddr_i == which) begin
        known_q   <= 1'b1;
        written_q <= wdata_i;
      end
      if (re_i) begin
        shown_q <= known_q && raddr_i == which;
        read_q  <= written_q;
      end
    end
  end

  `RNIC_ASSERT(LastWritten_A, !known_q || word == written_q)
  `RNIC_ASSERT(ReadStays_A,   !shown_q || rdata_o == read_q)

  `RNIC_COVER(ReadFirst_C, shown_q && rdata_o == 3'd5 && written_q == 3'd2 &&
                           $past(re_i) && $past(we_i))
  `RNIC_COVER(Kept_C, shown_q && rdata_o != written_q && !$past(re_i) && which == 3'd4)
endmodule
