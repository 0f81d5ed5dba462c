// Checks the ends of streams and plain wires. Each end names a unit or a neighbour of the chip
// (top.outside), and no port is connected twice. A wire `from each` unit becomes one wire per unit.
#include "names.hpp"

namespace specgen {
namespace {

std::string list(const std::vector<Item>& items) {
  std::string out;
  for (const auto& i : items) out += (out.empty() ? "" : ", ") + i.name;
  return out.empty() ? "none" : out;
}

class TopChecker {
 public:
  explicit TopChecker(Spec& spec) : spec_(spec), top_(spec.top) {}

  void run() {
    Names who;
    for (const auto* items : {&top_.units, &top_.outside})
      for (const auto& i : *items) {
        check_word(i.name, i.at);
        if (i.name == "each" || i.name == "all")
          throw SpecError(i.at, "'" + i.name + "' stands for every unit: no name of one");
        who.add(i.name, i.at, "unit or outside");
      }
    for (const auto& u : top_.units)
      for (const char* port : {"clk_i", "rst_ni"}) pins_.add(u.name + "." + port, u.at, "port");
    for (const auto& s : spec_.structs)
      if (s.kind == Kind::kStream) check_stream(s);
    expand();
    for (const auto& w : top_.wires) check_wire(w);
  }

 private:
  void check_end(const std::string& end, const std::string& who, const std::string& name,
                 const Place& at) const {
    if (top_.is_unit(who) || top_.is_outside(who)) return;
    throw SpecError(
        at, fmt::format("'{}': {} '{}' is neither in top.units ({}) nor in top.outside ({})", name,
                        end, who, list(top_.units), list(top_.outside)));
  }

  void check_outside(const WireEnd& end, const std::string& name, const Place& at) const {
    if (top_.is_outside(end.unit) && end.port != name)
      throw SpecError(at, fmt::format("'{}': a port of the chip has its wire's name; write '{}'",
                                      name, end.unit));
  }

  void check_stream(const Struct& s) {
    check_end("from", s.from, s.name, s.at);
    check_end("to", s.to, s.name, s.at);
    if (s.from == s.to)
      throw SpecError(s.at, fmt::format("'{}': from and to are both '{}'", s.name, s.to));
    if (top_.is_outside(s.from) && top_.is_outside(s.to))
      throw SpecError(
          s.at, fmt::format("'{}': from '{}' to '{}' has no end in a unit", s.name, s.from, s.to));
    for (const char* part : {"", "_valid", "_ready"}) {
      signals_.add(s.name + part, s.at, "signal of the top");
      add_pin({s.from, s.name + part}, part == std::string("_ready") ? "_i" : "_o", s.at);
      add_pin({s.to, s.name + part}, part == std::string("_ready") ? "_o" : "_i", s.at);
    }
  }

  /// from each: `<name>_<unit>` from port `<name>` of every unit, into a port of that name.
  /// from all: the same, and only `<name>_all`, their AND, goes on.
  void expand() {
    std::vector<Wire> out;
    for (auto& w : top_.wires) {
      if (w.from.unit != "each" && w.from.unit != "all") {
        out.push_back(std::move(w));
        continue;
      }
      const bool all = w.from.unit == "all";
      if (all && w.signal.bits != 1)
        throw SpecError(w.signal.at, "'" + w.signal.name + "': from all needs type 1");
      Wire sum = w;
      for (const auto& u : top_.units) {
        Wire one = w;
        one.signal.name += "_" + u.name;
        one.from = {u.name, w.from.port};
        if (all) one.to.clear();
        for (auto& to : one.to) to.port += "_" + u.name;
        sum.all_of.push_back(one.signal.name);
        out.push_back(std::move(one));
      }
      if (!all) continue;
      sum.signal.name += "_all";
      for (auto& to : sum.to) to.port += "_all";
      out.push_back(std::move(sum));
    }
    top_.wires = std::move(out);
  }

  void check_wire(const Wire& w) {
    const auto& name = w.signal.name;
    const auto& at = w.signal.at;
    check_word(name, at);
    signals_.add(name, at, "signal of the top");
    if (w.all_of.empty()) {
      check_end("from", w.from.unit, name, at);
      check_outside(w.from, name, at);
      add_pin(w.from, "_o", at);
    }
    bool leaves = false;  // it leaves the chip
    for (const auto& to : w.to) {
      check_end("to", to.unit, name, at);
      check_outside(to, name, at);
      add_pin(to, "_i", at);
      leaves |= top_.is_outside(to.unit);
    }
    if (leaves && (w.to.size() > 1 || top_.is_outside(w.from.unit) || !w.all_of.empty()))
      throw SpecError(at, "'" + name + "': a wire to outside has one unit as from and no other to");
  }

  void add_pin(const WireEnd& end, const std::string& suffix, const Place& at) {
    if (!top_.is_unit(end.unit)) return;
    check_word(end.port, at);
    pins_.add(end.unit + "." + end.port + suffix, at, "port");
  }

  Spec& spec_;
  Top& top_;
  Names signals_, pins_;
};

}  // namespace

void check_top(Spec& spec) {
  if (!spec.top.units.empty()) TopChecker(spec).run();
}

}  // namespace specgen
