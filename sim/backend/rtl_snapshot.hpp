// One instant of an RTL device, every signal of every instance by name. Read from a waveform of that
// instant: a Verilated build can write one at any time (RtlPins::snapshot), so it costs nothing before.
//
//   const auto now = RtlSnapshot::read("now.fst");
//   for (const RtlSnapshot::Instance& i : now->instances) ... i.path, i.streams, i.states
//
// rtl_wait_chain.hpp finds in it which unit, leaf and full queue hold up the device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rnic::sim {

struct RtlSnapshot {
  /// A net. Signals that are one wire (a port and what is connected to it) are one net.
  using Net = uint32_t;

  struct
      Stream {  // <name>_valid_i, <name>_ready_o of its consumer; _valid_o, _ready_i of its producer
    std::string name;  // empty: a cell of rtl/lib, whose ports are called valid_i, ready_o, ...
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
    bool is_cell = false;  // of rtl/lib: one stream in, one out; what is inside belongs to it
    std::vector<Stream> streams;
    std::vector<State> states;
    std::map<std::string, std::string>
        values;  // by name, bits; members of structs as "<struct>.<member>"
    /// The number that a signal holds, if the instance has it and it is not wider than 64 bits.
    std::optional<uint64_t> number(const std::string& signal) const;
    const Stream* stream(bool is_input, const std::string& name) const;
  };

  std::vector<Instance> instances;  // an instance after the one it is in
  const Instance* find(const std::string& path) const;

  /// Empty if the file does not exist or holds no signal.
  static std::optional<RtlSnapshot> read(const std::string& file);
};

}  // namespace rnic::sim
