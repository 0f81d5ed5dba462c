// watermark_reached: have the packets that a watermark counts been placed?
//
// Combinational. Both counts are 32 bits and wrap. Fewer than 2^16 packets lie between a verdict and the host: what seems further ahead
// is long past, and the count has wrapped. So it holds until 2^32 - 2^16 more have been placed; who may wait longer keeps what it saw.
// Model: model::reached (model/top/packets.hpp). Proof rtl/formal/watermark_reached_fv.sv
module watermark_reached (
  input  logic [31:0] watermark_i,
  input  logic [31:0] placed_i,
  output logic        reached_o
);
  logic [31:0] ahead;   // packets that are missing
  assign ahead     = watermark_i - placed_i;
  assign reached_o = ahead[31:16] != '0 || ahead[15:0] == '0;
endmodule
