// Prints docs/gen/*.md: field tables with bits and bytes, registers, causes, sizes, constants.
#include "text.hpp"

namespace specgen {
namespace {

std::string cell(std::string text) {
  std::string out;
  for (char c : text)
    out += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return out;
}

std::string title(const std::string& unit) {
  if (unit == "iwarp") return "Wire formats";
  if (unit == "errors") return "Errors";
  if (unit == "queues") return "Queues";
  if (unit == "registers") return "Registers";
  if (unit == "streams") return "Streams";
  if (unit == "commits") return "Commits";
  return "Sizes";
}

std::string intro(const Entity& e) {
  std::string out = fmt::format("\n### `{}`\n\n", e.name);
  if (!e.doc.empty()) out += e.doc + "\n\n";
  return out + fmt::format("Source: {}\n\n", e.ref);
}

std::string type_name(const Field& f) {
  if (f.as_enum || f.as_struct) return fmt::format("`{}`", f.type);
  return "";
}

std::string range(unsigned lsb, unsigned bits) {
  return bits == 1 ? std::to_string(lsb) : fmt::format("{}:{}", lsb + bits - 1, lsb);
}

std::string md_enum(const Enum& e) {
  std::string out =
      intro(e) + fmt::format("{} bits.\n\n| Value | Name | Meaning |\n|---|---|---|\n", e.width);
  for (const auto& i : e.items)
    out += fmt::format("| {:#0{}x} | `{}` | {} |\n", i.value, 2 + (e.width + 3) / 4, i.name,
                       cell(i.doc));
  return out;
}

std::string md_struct(const Struct& s) {
  std::string out = intro(s);
  if (!(s.from + s.to).empty()) out += fmt::format("From `{}` to `{}`. ", s.from, s.to);
  if (s.kind == Kind::kCommit) out += fmt::format("`{}` in `{}`. ", s.tap, s.instance);
  if (!s.like.empty()) out += fmt::format("Same fields as `{}`. ", s.like);
  out += s.in_bytes() ? fmt::format("{} bytes, {}.\n\n", s.bytes,
                                    s.lsb_first() ? "little endian" : "network order")
                      : fmt::format("{} bits.\n\n", s.width);
  out +=
      s.in_bytes()
          ? "| Byte | Bits of byte | Field | Size | Type | Meaning |\n|---|---|---|---|---|---|\n"
          : "| Bits | Field | Size | Type | Meaning |\n|---|---|---|---|---|\n";
  unsigned pos = 0;
  for (const auto& f : s.fields) {
    const auto tail =
        fmt::format("`{}` | {} | {} | {} |\n", f.name, f.bits, type_name(f), cell(f.doc));
    if (!s.in_bytes()) {
      out += fmt::format("| {} | {}", range(f.lsb, f.bits), tail);
    } else {
      const unsigned in = pos % 8;
      std::string bits;
      if (in != 0 || f.bits % 8 != 0) {
        // "3 on, 12 bits": begins at bit 3 of its first byte and goes on in the next bytes.
        if (in + f.bits > 8)
          bits = fmt::format("{} on, {} bits", s.lsb_first() ? in : 7 - in, f.bits);
        else
          bits = range(s.lsb_first() ? in : 8 - in - f.bits, f.bits);
      }
      out += fmt::format("| {} | {} | {}", pos / 8, bits, tail);
    }
    pos += f.bits;
  }
  return out;
}

std::string md_registers(const Spec& spec) {
  std::string out =
      "\n## Registers\n\n| BAR | Offset | Name | Width | Access | Reset | Meaning "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& r : spec.registers) {
    std::string offset = fmt::format("{:#06x}", r.offset);
    if (r.count > 1) offset += fmt::format(" + {:#x} i, i < {}", r.stride, r.count);
    out += fmt::format("| {} | {} | `{}` | {} | {} | {:#x} | {} |\n", r.bar, offset, r.name,
                       r.width, r.access, r.reset, cell(r.doc));
  }
  for (const auto& r : spec.registers) {
    out += intro(r);
    if (r.fields.empty()) {
      out += "One value.\n";
      continue;
    }
    out += "| Bits | Field | Meaning |\n|---|---|---|\n";
    for (const auto& f : r.fields)
      out += fmt::format("| {} | `{}` | {} |\n", range(f.lsb, f.bits), f.name, cell(f.doc));
  }
  return out;
}

std::string md_causes(const Spec& spec) {
  std::string out =
      "\n## Causes\n\nLayer/type/code are those of the Terminate; D and R: it carries the DDP "
      "header, the RDMAP header.\n\n"
      "| Value | Cause | Terminate | Meaning | Detected by | The peer sees | The user sees | "
      "Source |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const auto& c : spec.causes)
    out += fmt::format("| {} | `{}` | {}/{}/{:02X}{}{} | {} | {} | {} | {} | {} |\n", c.value,
                       c.name, c.layer, c.etype, c.code, c.ddp_header ? " D" : "",
                       c.rdma_header ? " R" : "", cell(c.doc), cell(c.detects), cell(c.peer_sees),
                       cell(c.user_sees), cell(c.ref));
  return out;
}

std::string md_sizes(const Spec& spec) {
  std::string out =
      "\n## Sizes\n\n| Name | Default build | Minimum build | Stall build | Range | Unit | Meaning "
      "| Source |\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& s : spec.sizes)
    out += fmt::format("| `{}` | {} | {} | {} | {} to {}{} | {} | {} | {} |\n", s.name, s.value,
                       s.minimum, s.stall, s.min, s.max, s.power_of_two ? ", a power of two" : "",
                       cell(s.measure), cell(s.doc), cell(s.ref));
  return out;
}

std::string md_wires(const Top& top) {
  std::string out =
      "\n## Wires\n\nThe plain ports of the units, as rtl/gen/rnic.sv connects them. In the RTL a "
      "port ends in _i or _o.\n\n"
      "| Wire | From | To | Type | Meaning | Source |\n|---|---|---|---|---|---|\n";
  for (const auto& w : top.wires) {
    const auto& f = w.signal;
    const auto from = w.all_of.empty()
                          ? fmt::format("`{}.{}`", w.from.unit, w.from.port)
                          : fmt::format("AND of `{}` to `{}`", w.all_of.front(), w.all_of.back());
    std::string to;
    for (const auto& end : w.to)
      to += fmt::format("{}`{}.{}`", to.empty() ? "" : ", ", end.unit, end.port);
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", f.name, from, to,
                       f.as_enum || f.as_struct
                           ? type_name(f)
                           : fmt::format("{} bit{}", f.bits, f.bits == 1 ? "" : "s"),
                       cell(f.doc), cell(w.ref));
  }
  return out;
}

}  // namespace

std::string print_markdown(const Spec& spec, const std::string& unit) {
  std::string out = fmt::format(
      "<!-- Printed by specgen from docs/spec; do not edit. -->\n# {}\n\nFrom "
      "`docs/spec/{}.yaml`.\n",
      title(unit), unit);
  if (unit == "registers" && !spec.registers.empty()) out += md_registers(spec);
  if (unit == "sizes" && !spec.sizes.empty()) out += md_sizes(spec);
  if (unit == "errors" && !spec.causes.empty()) out += md_causes(spec);
  auto section = [&](const std::string& name, const auto& all, auto pick, auto print) {
    bool first = true;
    for (const auto& one : all) {
      if (!pick(one)) continue;
      if (first) out += "\n## " + name + "\n";
      first = false;
      out += print(one);
    }
  };
  auto of_kind = [&](Kind kind) {
    return [&, kind](const Struct& s) { return s.unit == unit && s.kind == kind; };
  };
  section("Headers", spec.structs, of_kind(Kind::kHeader), md_struct);
  section("Entries", spec.structs, of_kind(Kind::kEntry), md_struct);
  section("Structs", spec.structs, of_kind(Kind::kStruct), md_struct);
  section("Streams", spec.structs, of_kind(Kind::kStream), md_struct);
  if (unit == spec.top.unit && !spec.top.wires.empty()) out += md_wires(spec.top);
  section("Commits", spec.structs, of_kind(Kind::kCommit), md_struct);
  section(
      "Enumerations", spec.enums,
      [&](const Enum& e) { return e.unit == unit && e.name != "cause"; }, md_enum);
  bool first = true;
  for (const auto& c : spec.constants) {
    if (c.unit != unit) continue;
    if (first)
      out +=
          "\n## Constants\n\n| Name | Value | Bits | Meaning | Source |\n|---|---|---|---|---|\n";
    first = false;
    out += fmt::format("| `{}` | {:#x} | {} | {} | {} |\n", c.name, c.value, c.width, cell(c.doc),
                       cell(c.ref));
  }
  return out;
}

}  // namespace specgen
