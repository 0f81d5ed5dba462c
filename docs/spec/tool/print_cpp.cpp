// Prints model/gen/*.hpp: enum classes, structs with conversions, tables. The conversions are calls
// of put_bits and get_bits (model/base/bits.hpp) with constant positions, so that the compiler
// makes straight lines of them.
#include <set>

#include "text.hpp"

namespace specgen {
namespace {

std::string header_of(const std::string& unit) {
  return (unit == "registers" ? "regs" : unit) + ".hpp";
}

std::string cpp_head(const Entity& e) {
  return "\n" + comment(e.doc.empty() ? e.name : e.doc, "", "/// ") + comment(e.ref, "", "/// ");
}

std::string cpp_enum(const Enum& e) {
  const auto name = camel(e.name);
  std::string out = cpp_head(e) + fmt::format("enum class {} : {} {{\n", name, cpp_uint(e.width));
  for (const auto& i : e.items) {
    out += fmt::format("  {} = {:#x},", cpp_item(e, i), i.value);
    out += i.doc.empty() ? "\n" : "  // " + i.doc + "\n";
  }
  out += "};\n";
  out +=
      fmt::format("inline constexpr std::array<{}, {}> kAll{} = {{{{", name, e.items.size(), name);
  for (size_t i = 0; i < e.items.size(); i++)
    out += fmt::format("{}{}::{}",
                       i == 0       ? "\n    "
                       : i % 4 == 0 ? ",\n    "
                                    : ", ",
                       name, cpp_item(e, e.items[i]));
  out += "}};\n";
  out += fmt::format("constexpr std::string_view to_string({} v) {{\n  switch (v) {{\n", name);
  for (const auto& i : e.items)
    out += fmt::format("    case {}::{}: return {};\n", name, cpp_item(e, i), quoted(i.name));
  return out + "  }\n  return \"unknown\";\n}\n";
}

std::string member_type(const Field& f) {
  if (f.as_enum) return camel(f.as_enum->name);
  if (f.as_struct) return camel(f.as_struct->name);
  return f.bits > 64 ? fmt::format("std::array<uint8_t, {}>", f.bits / 8) : cpp_uint(f.bits);
}

/// The first field of a commit, `valid`, is no member in C++: a commit object exists or not.
bool is_member(const Struct& s, const Field& f) {
  return s.kind != Kind::kCommit || &f != &s.fields[0];
}

bool shown_in_hex(const Field& f) {
  for (const char* end : {"address", "addr", "stag", "key", "offset", "_to", "data", "mask"})
    if (f.name.ends_with(end) && f.bits > 8) return true;
  return false;
}

std::string zero(const Field& f) {
  if (f.as_enum) return "{}";
  return f.as_struct || f.bits > 64 ? "{}" : " = 0";
}

/// to_words() and from_words(): a struct as the packed vector of the RTL.
std::string conversions(const Struct& s, const std::string& name) {
  std::string to, from;
  if (s.kind == Kind::kCommit)
    to += fmt::format("    base::put_bits<{}, 1>(w.data(), 1);\n", s.fields[0].lsb);
  for (const auto& f : s.fields) {
    if (!is_member(s, f)) continue;
    const auto at = fmt::format("<{}, {}>", f.lsb, f.bits);
    if (f.as_struct) {
      to += fmt::format("    base::put_words{}(w.data(), {}.to_words().data());\n", at, f.name);
      from += fmt::format("    s.{} = {}::from_words(base::get_words{}(w).data());\n", f.name,
                          camel(f.as_struct->name), at);
    } else if (f.bits > 64) {
      to += fmt::format("    base::put_bytes{}(w.data(), {}.data());\n", at, f.name);
      from += fmt::format("    base::get_bytes{}(w, s.{}.data());\n", at, f.name);
    } else {
      to += fmt::format("    base::put_bits{}(w.data(), {});\n", at,
                        f.as_enum ? fmt::format("static_cast<uint64_t>({})", f.name) : f.name);
      from += fmt::format("    s.{} = static_cast<{}>(base::get_bits{}(w));\n", f.name,
                          member_type(f), at);
    }
  }
  return fmt::format(
      "  /// The packed SystemVerilog vector, bit 0 in word 0.\n"
      "  [[nodiscard]] Words to_words() const {{\n    Words w{{}};\n{}    return w;\n  }}\n"
      "  static {} from_words(const uint32_t* w) {{\n    {} s;\n{}    return s;\n  }}\n",
      to, name, name, from);
}

/// pack() and unpack(): a header or entry as bytes.
std::string packing(const Struct& s, const std::string& name) {
  const std::string order = s.lsb_first() ? "little" : "big";
  return fmt::format(
      "  static constexpr size_t kBytes = {};\n"
      "  /// As the bytes {}: out.size() is at least kBytes.\n"
      "  void pack(std::span<uint8_t> out) const {{ "
      "base::words_to_bytes_{}<kBytes>(to_words().data(), out); }}\n"
      "  static {} unpack(std::span<const uint8_t> in) {{\n"
      "    Words w{{}};\n    base::bytes_{}_to_words<kBytes>(in, w.data());\n    return "
      "from_words(w.data());\n  }}\n",
      s.bytes, s.lsb_first() ? "in host memory" : "on the wire", order, name, order);
}

/// describe(): the fields as text; a reserved one only if it is not zero.
std::string describing(const Struct& s) {
  std::string out = "  [[nodiscard]] std::string describe() const {\n    std::string s;\n";
  bool first = true;
  for (const auto& f : s.fields) {
    if (!is_member(s, f)) continue;
    const std::string key = (first ? "" : " ") + f.name + "=";
    std::string line;
    if (f.as_enum) {
      line = fmt::format("fmt::format_to(std::back_inserter(s), \"{}{{}}\", to_string({}));", key,
                         f.name);
    } else if (f.as_struct) {
      line = fmt::format(
          "fmt::format_to(std::back_inserter(s), \"{}{{{{{{}}}}}}\", {}.describe());", key, f.name);
    } else if (f.bits > 64) {
      line = fmt::format("fmt::format_to(std::back_inserter(s), \"{}{{}}\", base::short_hex({}));",
                         key, f.name);
    } else {
      line = fmt::format("fmt::format_to(std::back_inserter(s), \"{}{}\", {});", key,
                         shown_in_hex(f) ? "{:#x}" : "{}", f.name);
    }
    if (f.reserved()) {
      const std::string test =
          f.bits > 64 ? fmt::format("{} != decltype({}){{}}", f.name, f.name) : f.name + " != 0";
      if (f.as_enum || f.as_struct) continue;
      line = fmt::format("if ({}) {}", test, line);
    } else {
      first = false;
    }
    out += "    " + line + "\n";
  }
  return out + "    return s;\n  }\n";
}

std::string cpp_body(const Struct& s, const std::string& name) {
  std::string out = fmt::format("struct {} {{\n", name);
  for (const auto& f : s.fields) {
    if (!is_member(s, f)) continue;
    out += fmt::format("  {} {}{};", member_type(f), f.name, zero(f));
    if (f.bits <= 64 && !f.as_enum && !f.as_struct)
      out += fmt::format("  // {} bit{}", f.bits, f.bits == 1 ? "" : "s");
    if (!f.doc.empty())
      out +=
          fmt::format("{}{}", f.bits <= 64 && !f.as_enum && !f.as_struct ? ": " : "  // ", f.doc);
    out += "\n";
  }
  out += fmt::format("\n  static constexpr std::string_view kName = {};\n",
                     quoted(s.kind == Kind::kCommit ? s.tap.substr(4) : s.name));
  out += fmt::format("  static constexpr size_t kBits = {};\n", s.width);
  if (s.kind == Kind::kCommit)
    out += fmt::format("  static constexpr size_t kValidBit = {};\n", s.fields[0].lsb);
  out += "  using Words = std::array<uint32_t, (kBits + 31) / 32>;\n";
  out += fmt::format("  friend bool operator==(const {}&, const {}&) = default;\n", name, name);
  out += conversions(s, name);
  if (s.in_bytes()) out += packing(s, name);
  return out + describing(s) + "};\n";
}

std::string cpp_struct(const Struct& s) {
  std::string out = cpp_head(s);
  if (!(s.from + s.to).empty()) out += fmt::format("/// From {} to {}.\n", s.from, s.to);
  if (s.kind == Kind::kCommit) out += fmt::format("/// {} in {}.\n", s.tap, s.instance);
  if (!s.like.empty()) return out + fmt::format("using {} = {};\n", camel(s.name), camel(s.like));
  return out + cpp_body(s, camel(s.name));
}

std::string causes(const Spec& spec) {
  std::string out =
      "\n/// What a cause leads to: the Terminate, and what is seen of it.\n"
      "struct CauseRow {\n  Cause cause;\n  std::string_view name;\n  uint8_t layer, etype, code;\n"
      "  bool ddp_header, rdma_header;  // the Terminate carries these headers of the offending "
      "segment\n"
      "  std::string_view doc, detects, peer_sees, user_sees, ref;\n};\n";
  out +=
      fmt::format("inline constexpr std::array<CauseRow, {}> kCauses = {{{{\n", spec.causes.size());
  for (const auto& c : spec.causes)
    out += fmt::format(
        "    {{Cause::k{}, {}, {}, {}, {:#04x}, {}, {},\n     {},\n     {}, {}, {},\n     {}}},\n",
        camel(c.name), quoted(c.name), c.layer, c.etype, c.code, c.ddp_header, c.rdma_header,
        quoted(c.doc), quoted(c.detects), quoted(c.peer_sees), quoted(c.user_sees), quoted(c.ref));
  out +=
      "}};\n\n/// The row of a cause; of an unknown one, the first.\nconstexpr const CauseRow& "
      "cause_row(Cause cause) {\n"
      "  for (const auto& row : kCauses)\n    if (row.cause == cause) return row;\n  return "
      "kCauses[0];\n}\n";
  return out;
}

std::string sizes(const Spec& spec) {
  std::string out =
      "\n/// Every size of the device: a setting of the model, a parameter of the RTL (rnic_pkg).\n"
      "///   Sizes s;  s.num_qps = 16;   or   Sizes::minimum(), Sizes::stall()\nstruct Sizes {\n";
  for (const auto& s : spec.sizes)
    out += fmt::format("  uint32_t {} = {}U;  // {}: {}\n", s.name, s.value, s.measure, s.doc);
  const auto build = [&](std::string_view name, uint64_t Size::*member) {
    out += fmt::format("\n  static constexpr Sizes {}() {{\n    Sizes s;\n", name);
    for (const auto& s : spec.sizes) out += fmt::format("    s.{} = {}U;\n", s.name, s.*member);
    out += "    return s;\n  }\n";
  };
  build("minimum", &Size::minimum);
  build("stall", &Size::stall);
  out += "  friend bool operator==(const Sizes&, const Sizes&) = default;\n};\n";
  out +=
      "\nstruct SizeRow {\n  std::string_view name;\n  uint32_t Sizes::*member;\n  uint32_t value, "
      "minimum, stall, min, max;\n"
      "  bool power_of_two;\n"
      "  std::string_view unit, doc, ref;\n};\n";
  out += fmt::format("inline constexpr std::array<SizeRow, {}> kSizes = {{{{\n", spec.sizes.size());
  for (const auto& s : spec.sizes)
    out += fmt::format(
        "    {{{}, &Sizes::{}, {}U, {}U, {}U, {}U, {}U, {}, {},\n     {},\n     {}}},\n",
        quoted(s.name), s.name, s.value, s.minimum, s.stall, s.min, s.max, s.power_of_two,
        quoted(s.measure), quoted(s.doc), quoted(s.ref));
  return out + "}};\n";
}

std::string registers(const Spec& spec) {
  std::string out = "\nenum class Access : uint8_t { kRw, kRo, kWo, kW1c };\n";
  for (const auto& r : spec.registers) {
    const auto name = "k" + camel(r.name);
    const auto word = cpp_uint(r.width);
    out +=
        cpp_head(r) + fmt::format("inline constexpr uint32_t {}Offset = {:#x};\n", name, r.offset);
    if (r.count > 1)
      out += fmt::format("inline constexpr uint32_t {0}Count = {1}, {0}Stride = {2:#x};\n", name,
                         r.count, r.stride);
    for (const auto& f : r.fields) {
      if (f.reserved()) continue;
      out += fmt::format("inline constexpr unsigned {0}{1}Lsb = {2}, {0}{1}Width = {3};\n", name,
                         camel(f.name), f.lsb, f.bits);
      out += fmt::format("inline constexpr {} {}{}Mask = {:#x};\n", word, name, camel(f.name),
                         mask(f.bits) << f.lsb);
    }
  }
  out +=
      "\n/// One row a register, for tests that walk them all.\nstruct RegisterRow {\n  "
      "std::string_view name;\n  uint8_t bar;\n"
      "  uint32_t offset;\n  uint8_t width;\n  Access access;\n  uint64_t reset, writable;\n  "
      "uint32_t count, stride;\n"
      "  std::string_view doc;\n};\n";
  out += fmt::format("inline constexpr std::array<RegisterRow, {}> kRegisters = {{{{\n",
                     spec.registers.size());
  for (const auto& r : spec.registers)
    out += fmt::format("    {{{}, {}, {:#x}, {}, Access::k{}, {:#x}, {:#x}, {}, {},\n     {}}},\n",
                       quoted(r.name), r.bar, r.offset, r.width, camel(r.access), r.reset,
                       r.writable(), r.count, r.stride, quoted(r.doc));
  return out + "}};\n";
}

std::vector<const Struct*> commits(const Spec& spec) {
  std::vector<const Struct*> out;
  for (const auto& s : spec.structs)
    if (s.kind == Kind::kCommit) out.push_back(&s);
  return out;
}

std::string any_commit(const Spec& spec) {
  std::string out;
  for (const auto* s : commits(spec)) out += (out.empty() ? "" : ",\n    ") + camel(s->name);
  if (out.empty()) return out;
  return "\n/// Any of them, in the order of the description.\nusing AnyCommit = std::variant<\n   "
         " " +
         out + ">;\n";
}

void add_includes(const Field& f, const std::string& unit, std::set<std::string>& out) {
  const Entity* e = f.as_enum ? static_cast<const Entity*>(f.as_enum) : f.as_struct;
  if (e != nullptr && e->unit != unit) out.insert(header_of(e->unit));
}

}  // namespace

std::string print_cpp(const Spec& spec, const std::string& unit) {
  std::set<std::string> includes;
  std::string body;
  for (const auto& e : spec.enums)
    if (e.unit == unit) body += cpp_enum(e);
  for (const auto& c : spec.constants)
    if (c.unit == unit)
      body += cpp_head(c) + fmt::format("inline constexpr {} k{} = {:#x};\n", cpp_uint(c.width),
                                        camel(c.name), c.value);
  for (const auto* s : spec.in_order) {
    if (s->unit != unit) continue;
    for (const auto& f : s->fields) add_includes(f, unit, includes);
    if (!s->like.empty())
      for (const auto& o : spec.structs)
        if (o.name == s->like && o.unit != unit) includes.insert(header_of(o.unit));
    body += cpp_struct(*s);
  }
  if (unit == "errors" && !spec.causes.empty()) body += causes(spec);
  if (unit == "sizes") body += sizes(spec);
  if (unit == "registers" && !spec.registers.empty()) body += registers(spec);
  if (unit == "commits") body += any_commit(spec);
  std::string out = kFirstLine;
  out +=
      "#pragma once\n\n#include <fmt/format.h>\n\n#include <array>\n#include <cstdint>\n#include "
      "<iterator>\n#include <span>\n"
      "#include <string>\n#include <string_view>\n";
  if (unit == "commits") out += "#include <variant>\n";
  out += "\n#include \"base/bits.hpp\"\n";
  for (const auto& i : includes) out += fmt::format("#include \"gen/{}\"\n", i);
  return out + "\nnamespace rnic::spec {\n" + body + "\n}  // namespace rnic::spec\n";
}

std::string print_commit_taps(const Spec& spec) {
  std::string out = kFirstLine;
  out +=
      "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n#include <type_traits>\n\n"
      "#include \"gen/commits.hpp\"\n\nnamespace rnic::sim {\n\n"
      "/// One tap as Verilator shows it, an integer or words: to the sink if it is valid.\n"
      "template <class Commit, class Tap, class Sink>\n"
      "void sample_tap(const Tap& tap, Sink& sink) {\n"
      "  if constexpr (std::is_integral_v<Tap>) {\n"
      "    static_assert(8 * sizeof(Tap) >= Commit::kBits);\n"
      "    const uint64_t v = tap;\n"
      "    if ((v >> Commit::kValidBit & 1) == 0) return;\n"
      "    const uint32_t w[2] = {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32)};\n"
      "    sink(Commit::from_words(w));\n"
      "  } else {\n"
      "    static_assert(sizeof(Tap) == sizeof(typename Commit::Words));\n"
      "    constexpr size_t kBit = Commit::kValidBit;\n"
      "    if ((tap.data()[kBit / 32] >> (kBit % 32) & 1) != 0) "
      "sink(Commit::from_words(tap.data()));\n"
      "  }\n}\n\n"
      "/// Every commit of this cycle, in the order of docs/spec/commits.yaml. Root: of a "
      "Verilated rnic.\n"
      "template <class Root, class Sink>\n"
      "void sample_commits(const Root& root, Sink&& sink) {\n";
  for (const auto* s : commits(spec)) {
    std::string path = "rnic__DOT__";
    for (char c : s->instance) path += c == '.' ? std::string("__DOT__") : std::string(1, c);
    out += fmt::format("  sample_tap<spec::{}>(root.{}__DOT__{}, sink);\n", camel(s->name), path,
                       s->tap);
  }
  if (commits(spec).empty()) out += "  (void)root, (void)sink;\n";
  return out + "}\n\n}  // namespace rnic::sim\n";
}

std::string print_stream_taps(const Spec& spec) {
  std::vector<const Struct*> streams;
  for (const auto& s : spec.structs)
    if (s.kind == Kind::kStream) streams.push_back(&s);
  std::string out = kFirstLine;
  out +=
      "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n\n"
      "namespace rnic::sim {\n\n"
      "/// The streams of rnic, as docs/spec/streams.yaml lists them.\n"
      "struct StreamName {\n  const char *name, *from, *to;\n};\n";
  out += fmt::format("inline constexpr std::array<StreamName, {}> kStreamNames = {{{{\n",
                     streams.size());
  for (const auto* s : streams)
    out += fmt::format("    {{{}, {}, {}}},\n", quoted(s->name), quoted(s->from), quoted(s->to));
  out +=
      "}};\n\n/// What each of them does at an edge: a bit each.\n"
      "inline constexpr uint8_t kStreamValid = 1, kStreamReady = 2, kStreamFires = 3;\n"
      "using StreamStates = std::array<uint8_t, kStreamNames.size()>;\n\n"
      "/// Root: of a Verilated rnic, whose inner wires sim/backend/taps.vlt keeps.\n"
      "template <class Root>\nvoid sample_streams(const Root& root, StreamStates& to) {\n"
      "  const auto bits = [](bool valid, bool ready) {\n"
      "    return static_cast<uint8_t>((valid ? kStreamValid : 0) | (ready ? kStreamReady : 0));\n"
      "  };\n";
  for (size_t i = 0; i < streams.size(); ++i) {
    const Struct& s = *streams[i];
    const bool in = spec.top.is_outside(s.from), port = in || spec.top.is_outside(s.to);
    const std::string name = (port ? "" : "rnic__DOT__") + s.name;
    out += fmt::format("  to[{}] = bits(root.{}_valid{} != 0, root.{}_ready{} != 0);\n", i, name,
                       !port ? ""
                       : in  ? "_i"
                             : "_o",
                       name,
                       !port ? ""
                       : in  ? "_o"
                             : "_i");
  }
  if (streams.empty()) out += "  (void)root, (void)to, (void)bits;\n";
  return out + "}\n\n}  // namespace rnic::sim\n";
}

}  // namespace specgen
