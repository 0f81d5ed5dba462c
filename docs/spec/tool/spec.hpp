// The contents of docs/spec/*.yaml as structs: read_spec() fills them, check_spec() completes them,
// and specgen's printers print from them.
//
//   Spec spec = read_spec("docs/spec");       read.cpp: YAML to these structs; refuses unknown keys
//   check_spec(spec);                         check.cpp: names, widths, positions, references
//   std::string sv = print_iwarp_pkg(spec);   print_*.cpp
//
// An error in a YAML file is a SpecError that names file, line and reason.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace specgen {

struct Place {  // of a definition in the YAML
  std::string file;
  int line = 0;
};

struct SpecError : std::runtime_error {
  SpecError(const Place& at, const std::string& why)
      : std::runtime_error(at.file + ":" + std::to_string(at.line) + ": " + why) {}
};

struct Item {  // of an enum, or a name in a list (units, outside)
  std::string name;
  uint64_t value = 0;
  std::string doc;
  Place at;
};

struct Entity {  // the members that all kinds of definitions have
  std::string name;
  std::string ref;  // its source, such as "RFC 5040 section 4.8"
  std::string doc;
  Place at;
  // Not a unit of the chip: the name of its file without .yaml (spec_units()). It selects the
  // header and the page into which the definition is printed.
  std::string unit;
};

struct Enum : Entity {
  unsigned width = 0;
  std::string prefix;  // of its items in SystemVerilog: Op of OpSend
  bool verbs = false;  // items keep the spelling of libibverbs
  std::vector<Item> items;
};

struct Struct;

struct Field {
  std::string name;
  std::string type;  // as written: a number of bits, or a name
  std::string doc;
  int64_t at_byte = -1;  // where the author says it is; -1: not said
  Place at;
  // filled in by check_spec
  unsigned bits = 0;
  unsigned lsb = 0;  // in the packed SystemVerilog vector
  const Enum* as_enum = nullptr;
  const Struct* as_struct = nullptr;
  [[nodiscard]] bool reserved() const { return name.starts_with("reserved"); }
};

// kHeader: bytes on the wire, network order. kEntry: bytes in host memory, little endian; the first
// field is the lowest. kStream: between units. kCommit: simulation only (commits.yaml).
enum class Kind { kHeader, kEntry, kStruct, kStream, kCommit };

struct Struct : Entity {
  Kind kind = Kind::kStruct;
  int64_t bytes = -1;    // -1: not said
  std::string from, to;  // streams
  std::string instance;  // commits: below the top's instance
  std::string tap;       // commits: the signal there
  std::string like;      // same fields as this one
  bool beat = false;     // the common packet beat
  std::vector<Field> fields;
  unsigned width = 0;  // filled in by check_spec
  [[nodiscard]] bool lsb_first() const { return kind == Kind::kEntry; }
  [[nodiscard]] bool in_bytes() const { return kind == Kind::kEntry || kind == Kind::kHeader; }
};

struct Register : Entity {
  unsigned bar = 0;
  uint64_t offset = 0;
  unsigned width = 32;
  std::string access;  // rw, ro, wo or w1c (a 1 clears the bit)
  uint64_t reset = 0;
  uint64_t count = 1;   // an array of equal registers,
  uint64_t stride = 0;  // so many bytes apart
  std::vector<Field> fields;
  [[nodiscard]] uint64_t writable() const;  // bits that a write can change
};

struct Cause : Entity {  // errors.yaml; layer, etype and code are those of the Terminate
  uint64_t value = 0, layer = 0, etype = 0, code = 0;
  bool ddp_header = false, rdma_header = false;
  std::string detects, peer_sees, user_sees;
};

struct Size : Entity {
  uint64_t value = 0, minimum = 0, stall = 0, min = 0, max = 0;  // value: of the default build
  bool power_of_two = false;  // units index by the low bits of a number
  std::string measure;        // its unit in words
};

struct Constant : Entity {
  uint64_t value = 0;
  unsigned width = 32;
};

struct WireEnd {
  std::string unit, port;  // port: without _i or _o
};

struct Wire {  // of the top, not a stream
  Field signal;
  std::string ref;
  // The YAML may name "each" or "all" as unit: check_top() replaces the wire by one for each unit.
  WireEnd from;
  std::vector<WireEnd> to;
  std::vector<std::string> all_of;  // instead of from: the AND of these wires
};

struct Top : Entity {                // rtl/gen/rnic.sv
  std::vector<Item> outside, units;  // the parties at its ports; the units that it instantiates
  std::vector<Wire> wires;
  [[nodiscard]] bool is_outside(const std::string& who) const { return among(outside, who); }
  [[nodiscard]] bool is_unit(const std::string& who) const { return among(units, who); }

 private:
  static bool among(const std::vector<Item>& items, const std::string& who) {
    for (const auto& i : items)
      if (i.name == who) return true;
    return false;
  }
};

struct Spec {
  std::deque<Enum> enums;      // deque: fields point to them
  std::deque<Struct> structs;  // in the order of the YAML; deque: fields point to them
  std::vector<Register> registers;
  std::vector<Cause> causes;
  std::vector<Size> sizes;
  std::vector<Constant> constants;
  Top top;  // without units: the YAML has no top
  // Filled in by check_spec: the structs, each after those that it contains.
  std::vector<const Struct*> in_order;
};

inline const std::vector<std::string>& spec_units() {
  static const std::vector<std::string> units = {"iwarp",   "errors",  "queues", "registers",
                                                 "streams", "commits", "sizes"};
  return units;
}

Spec read_spec(const std::string& folder);
void check_spec(Spec& spec);
void check_top(Spec& spec);  // part of check_spec: the ends of streams and wires
bool is_sv_word(const std::string& name);
bool is_cpp_word(const std::string& name);

std::string print_iwarp_pkg(const Spec& spec);
std::string print_regs_pkg(const Spec& spec);
std::string print_rnic_pkg(const Spec& spec);
std::string print_top(const Spec& spec);
std::string print_crc32c_pkg();
std::string print_crc32c_beat();
std::string print_crc32c_advance();
std::string print_cpp(const Spec& spec, const std::string& unit);
std::string print_commit_taps(const Spec& spec);
std::string print_stream_taps(const Spec& spec);
std::string print_markdown(const Spec& spec, const std::string& unit);

}  // namespace specgen
