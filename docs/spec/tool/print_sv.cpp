// Prints rtl/gen/iwarp_pkg.sv, regs_pkg.sv and rnic_pkg.sv, in the SystemVerilog that
// Verilator 5.006 and Yosys 0.23 both read: packed structs, enums, typed local parameters, one
// table function.
#include "text.hpp"

namespace specgen {
namespace {

std::string package_open(const std::string& name, const std::string& what) {
  return kFirstLine + fmt::format(
                          "//\n{}/* verilator lint_off UNUSEDPARAM */ /* verilator lint_off "
                          "SYMRSVDWORD */\npackage {};\n",
                          comment(name + ": " + what), name);
}

std::string package_close() {
  return "endpackage\n/* verilator lint_on UNUSEDPARAM */ /* verilator lint_on SYMRSVDWORD */\n";
}

std::string head(const Entity& e) {
  return "\n" + comment(e.doc.empty() ? e.name : e.doc, "  ") + comment(e.ref, "  ", "//   ");
}

std::string sv_enum(const Enum& e) {
  std::string out = head(e);
  out += fmt::format("  localparam int unsigned {}Width = {};\n", camel(e.name), e.width);
  out += fmt::format("  typedef enum logic {}{{\n", sv_range(e.width));
  for (size_t i = 0; i < e.items.size(); i++)
    out += fmt::format("    {} = {}'h{:x}{}\n", sv_item(e, e.items[i]), e.width, e.items[i].value,
                       i + 1 < e.items.size() ? "," : "");
  return out + fmt::format("  }} {}_e;\n", e.name);
}

std::string sv_struct(const Struct& s) {
  std::string out = head(s);
  if (s.kind == Kind::kStream && !(s.from + s.to).empty())
    out += fmt::format("  //   from {} to {}\n", s.from, s.to);
  if (s.kind == Kind::kCommit)
    out += fmt::format("  //   {} in {}; simulation only\n", s.tap, s.instance);
  out += fmt::format("  localparam int unsigned {}Width = {};\n", camel(s.name), s.width);
  out += "  typedef struct packed {\n";
  auto field = [&](const Field& f) {
    const std::string type = f.as_enum     ? f.as_enum->name + "_e "
                             : f.as_struct ? f.as_struct->name + "_t "
                                           : "logic " + sv_range(f.bits);
    out += fmt::format("    {}{};\n", type, f.name);
  };
  if (s.lsb_first()) {
    for (auto f = s.fields.rbegin(); f != s.fields.rend(); ++f) field(*f);
  } else {
    for (const auto& f : s.fields) field(f);
  }
  return out + fmt::format("  }} {}_t;\n", s.name);
}

std::string cause_table(const Spec& spec) {
  std::string out =
      "\n  // What a Terminate says for a cause: {layer[3:0], etype[3:0], code[7:0], ddp_header, "
      "rdma_header}.\n"
      "  function automatic logic [17:0] cause_terminate(input logic [7:0] cause);\n"
      "    case (cause)\n";
  for (const auto& c : spec.causes)
    out += fmt::format(
        "      8'h{:02x}: cause_terminate = {{4'h{:x}, 4'h{:x}, 8'h{:02x}, 1'b{}, 1'b{}}};  // "
        "{}\n",
        c.value, c.layer, c.etype, c.code, int{c.ddp_header}, int{c.rdma_header}, c.name);
  return out + "      default: cause_terminate = 18'h0;\n    endcase\n  endfunction\n";
}

std::string param(const std::string& type, const std::string& name, const std::string& value) {
  return fmt::format("  localparam {} {} = {};\n", type, name, value);
}

std::string hex(unsigned width, uint64_t value) { return fmt::format("{}'h{:x}", width, value); }

std::string logic(unsigned width) {
  return width == 1 ? "logic" : fmt::format("logic [{}:0]", width - 1);
}

}  // namespace

std::string print_iwarp_pkg(const Spec& spec) {
  std::string out = package_open(
      "iwarp_pkg", "every type of the device: enums, wire headers, queue entries, streams.");
  for (const auto& e : spec.enums) out += sv_enum(e);
  for (const auto* s : spec.in_order) out += sv_struct(*s);
  if (!spec.causes.empty()) out += cause_table(spec);
  return out + "\n" + package_close();
}

std::string print_regs_pkg(const Spec& spec) {
  std::string out = package_open(
      "regs_pkg", "registers: byte offset in the BAR, reset value, writable bits, fields.");
  for (const auto& r : spec.registers) {
    const auto name = camel(r.name);
    out += "\n" + comment(fmt::format("BAR {}, {}: {}", r.bar, r.access, r.doc), "  ") +
           comment(r.ref, "  ", "//   ");
    out += param("logic [31:0]", name + "Offset", hex(32, r.offset));
    out += param(logic(r.width), name + "Reset", hex(r.width, r.reset));
    out += param(logic(r.width), name + "Mask", hex(r.width, r.writable()));
    if (r.count > 1) {
      out += param("int unsigned", name + "Count", std::to_string(r.count));
      out += param("int unsigned", name + "Stride", std::to_string(r.stride));
    }
    for (const auto& f : r.fields) {
      if (f.reserved()) continue;
      out += param("int unsigned", name + camel(f.name) + "Lsb", std::to_string(f.lsb));
      out += param("int unsigned", name + camel(f.name) + "Width", std::to_string(f.bits));
    }
  }
  return out + "\n" + package_close();
}

std::string print_rnic_pkg(const Spec& spec) {
  std::string out = package_open("rnic_pkg",
                                 "sizes of this build and constants. RNIC_MINIMUM: each at its "
                                 "smallest. RNIC_STALL: each small, "
                                 "but 2 or more wherever the default has more than 1.");
  auto value = [](uint64_t v) { return v > mask(31) ? hex(32, v) : std::to_string(v); };
  if (!spec.sizes.empty()) {
    out += "`ifdef RNIC_MINIMUM\n";
    for (const auto& s : spec.sizes) out += param("int unsigned", camel(s.name), value(s.minimum));
    out += "`elsif RNIC_STALL\n";
    for (const auto& s : spec.sizes) out += param("int unsigned", camel(s.name), value(s.stall));
    out += "`else\n";
    for (const auto& s : spec.sizes) {
      out += comment(fmt::format("{} ({}, {} to {}). {}", s.doc, s.measure, s.min, s.max, s.ref),
                     "  ");
      out += param("int unsigned", camel(s.name), value(s.value));
    }
    out += "`endif\n";
  }
  for (const auto& c : spec.constants) {
    out += "\n" + comment(c.doc + " " + c.ref, "  ");
    out += param(logic(c.width), camel(c.name), hex(c.width, c.value));
  }
  return out + "\n" + package_close();
}

}  // namespace specgen
