// rnic_stall_pkg: variables that the simulator writes for every stream_stall of a device (only in
// the build `stall`).
package rnic_stall_pkg;
  int unsigned instances /*verilator public_flat_rd*/;      // stream_stall counts itself
  logic [31:0] noise     /*verilator public_flat_rw*/;      // a new one each cycle
  logic [31:0] mood      /*verilator public_flat_rw*/;      // a new one every few hundred cycles
  logic [7:0]  rate      /*verilator public_flat_rw*/;      // of 256: how often a stream is blocked
endpackage
