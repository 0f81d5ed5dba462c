// rnic_stall_pkg: what the simulator writes for every stream_stall of a device (build `stall` alone).
package rnic_stall_pkg;
  int unsigned instances /*verilator public_flat_rd*/;      // stream_stall counts itself
  logic [31:0] noise     /*verilator public_flat_rw*/;      // another one each cycle
  logic [31:0] mood      /*verilator public_flat_rw*/;      // another one every few hundred cycles
  logic [7:0]  rate      /*verilator public_flat_rw*/;      // of 256: how often a stream is held back
endpackage
