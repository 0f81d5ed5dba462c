// Prints rtl/gen/rnic.sv: the units, the streams between them and the plain wires beside those.
#include <algorithm>

#include "text.hpp"

namespace specgen {
namespace {

/// What one instance connects: port, signal.
using Pins = std::vector<std::pair<std::string, std::string>>;

struct Port {       // of the top
  std::string way;  // "from pcie", "to pcie"
  std::string text;
};

std::string sv_type(const Field& f) {
  if (f.as_enum) return "iwarp_pkg::" + f.as_enum->name + "_e ";
  if (f.as_struct) return "iwarp_pkg::" + f.as_struct->name + "_t ";
  return "logic " + sv_range(f.bits);
}

std::string stream_type(const Struct& s) {
  return fmt::format("iwarp_pkg::{}_t ", s.beat ? "beat" : s.name);
}

class Printer {
 public:
  explicit Printer(const Spec& spec) : spec_(spec), top_(spec.top) {}

  std::string print() {
    std::string out = kFirstLine;
    for (size_t at = 0; at < top_.doc.size();) {  // a line of the text is a paragraph
      const auto end = std::min(top_.doc.find('\n', at), top_.doc.size());
      out += "//\n" + comment(top_.doc.substr(at, end - at));
      at = end + 1;
    }
    for (const auto& w : top_.wires) add_wire(w);
    for (const auto& s : spec_.structs)
      if (s.kind == Kind::kStream) add_stream(s);
    out += "\nmodule rnic (\n  input  logic clk_i,\n  input  logic rst_ni" + ports() + "\n);\n";
    out += stream_signals_ + wire_signals_ + "\n" + assigns_;
    for (const auto& u : top_.units) out += instance(u.name);
    return out + "endmodule\n";
  }

 private:
  /// in: the wire enters the chip, out: it leaves the chip; otherwise it runs between units.
  void add_wire(const Wire& w) {
    const auto& name = w.signal.name;
    const bool in = top_.is_outside(w.from.unit);
    const bool out = !w.to.empty() && top_.is_outside(w.to[0].unit);
    const std::string signal = name + (in ? "_i" : out ? "_o" : "");
    if (in) ports_.push_back({"from " + w.from.unit, "input  " + sv_type(w.signal) + signal});
    if (out) ports_.push_back({"to " + w.to[0].unit, "output " + sv_type(w.signal) + signal});
    if (!in && !out) wire_signals_ += "  " + sv_type(w.signal) + name + ";\n";
    if (!w.all_of.empty()) {
      std::string line = "  assign " + signal + " =";
      for (size_t i = 0; i < w.all_of.size(); i++) {
        const auto term = (i == 0 ? " " : "&& ") + w.all_of[i];
        line += i == 0 ? term : "\n    " + term;
      }
      assigns_ += line + ";\n\n";
    } else if (!in) {
      pins_[w.from.unit].emplace_back(w.from.port + "_o", signal);
    }
    for (const auto& to : w.to)
      if (!out) pins_[to.unit].emplace_back(to.port + "_i", signal);
  }

  void add_stream(const Struct& s) {
    const bool in = top_.is_outside(s.from), out = top_.is_outside(s.to);
    // down: the suffix of valid and payload, up: that of ready, if they are ports of the chip.
    const std::string down = in ? "_i" : out ? "_o" : "", up = in ? "_o" : out ? "_i" : "";
    const std::string type = stream_type(s);
    if (in || out) {
      const std::string way = in ? "from " + s.from : "to " + s.to;
      const std::string with = in ? "input  " : "output ", against = in ? "output " : "input  ";
      ports_.push_back({way, with + "logic " + s.name + "_valid" + down});
      ports_.push_back({way, against + "logic " + s.name + "_ready" + up});
      ports_.push_back({way, with + type + s.name + down});
    } else {
      stream_signals_ += fmt::format("  // {0} -> {1}\n  logic {2}_valid, {2}_ready;\n  {3}{2};\n",
                                     s.from, s.to, s.name, type);
    }
    const auto connect = [&](const std::string& unit, const std::string& with,
                             const std::string& against) {
      pins_[unit].emplace_back(s.name + "_valid" + with, s.name + "_valid" + down);
      pins_[unit].emplace_back(s.name + "_ready" + against, s.name + "_ready" + up);
      pins_[unit].emplace_back(s.name + with, s.name + down);
    };
    if (!in) connect(s.from, "_o", "_i");
    if (!out) connect(s.to, "_i", "_o");
  }

  /// The rest of the list after rst_ni.
  [[nodiscard]] std::string ports() const {
    std::string out, way;
    for (const auto& p : ports_) {
      out += ",\n";
      if (p.way != way) out += "  // " + p.way + "\n";
      way = p.way;
      out += "  " + p.text;
    }
    return out;
  }

  [[nodiscard]] std::string instance(const std::string& unit) {
    std::string out = fmt::format("  {0} u_{0} (\n    .clk_i,\n    .rst_ni", unit);
    for (const auto& [port, signal] : pins_[unit])
      out += ",\n    ." + port + (port == signal ? "" : "(" + signal + ")");
    return out + "\n  );\n" + (unit == top_.units.back().name ? "" : "\n");
  }

  const Spec& spec_;
  const Top& top_;
  std::vector<Port> ports_;
  std::string stream_signals_, wire_signals_, assigns_;
  std::map<std::string, Pins> pins_;  // by unit
};

}  // namespace

std::string print_top(const Spec& spec) { return Printer(spec).print(); }

}  // namespace specgen
