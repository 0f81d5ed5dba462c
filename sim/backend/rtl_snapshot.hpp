// One instant of an RTL device: every signal of every instance by name. It is read from a waveform
// of that instant. A Verilated build can write one at any time (RtlPins::snapshot), so a run
// without a snapshot has no cost.
//
//   const auto now = RtlSnapshot::read("now.fst");
//   for (const RtlSnapshot::Instance& i : now->instances) ... i.path, i.streams, i.states
//
// rtl_wait_chain.hpp finds the unit, leaf and full queue that stall the device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rnic::sim {

struct RtlSnapshot {
  /// A net: signals that are one wire (a port and its connection) are one net.
  using Net = uint32_t;

  struct Stream {      // consumer's <name>_valid_i, _ready_o; producer's <name>_valid_o, _ready_i
    std::string name;  // empty: a cell of rtl/lib, whose ports are named valid_i, ready_o, ...
    bool is_input = false;
    Net valid = 0, ready = 0;
    bool is_valid = false, is_ready = false;
    bool is_held() const { return is_valid && !is_ready; }
  };
  struct State {  // a state machine's register
    std::string signal, value;
  };
  struct Instance {
    std::string path;      // "ddp.u_tx.u_segment": without rnic.u_
    int parent = -1;       // index in `instances`
    bool is_cell = false;  // of rtl/lib: one stream in, one out; it includes its inner instances
    std::vector<Stream> streams;
    std::vector<State> states;
    std::map<std::string, std::string>
        values;  // bits by name; members of structs as "<struct>.<member>"
    /// The value of a signal, if the instance has it and it is at most 64 bits wide.
    std::optional<uint64_t> number(const std::string& signal) const;
    const Stream* stream(bool is_input, const std::string& name) const;
  };

  std::vector<Instance> instances;  // an instance comes after its parent
  const Instance* find(const std::string& path) const;

  /// Empty if the file does not exist or holds no signal.
  static std::optional<RtlSnapshot> read(const std::string& file);
};

}  // namespace rnic::sim
