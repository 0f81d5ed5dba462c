// Checks a description: names, widths, positions, references. It also computes widths and bit
// positions, and orders the structs (Spec::in_order): a struct comes after those that it contains.
#include <map>
#include <set>

#include "names.hpp"
#include "text.hpp"

namespace specgen {

uint64_t Register::writable() const {
  if (access == "ro") return 0;
  uint64_t bits = 0;
  for (const auto& f : fields)
    if (!f.reserved()) bits |= mask(f.bits) << f.lsb;
  return fields.empty() ? mask(width) : bits;
}

void check_word(const std::string& name, const Place& at) {
  if (name.empty()) throw SpecError(at, "empty name");
  for (char c : name)
    if (!(std::islower(static_cast<unsigned char>(c)) ||
          std::isdigit(static_cast<unsigned char>(c)) || c == '_'))
      throw SpecError(at, "'" + name + "' is not snake_case");
  if (std::isdigit(static_cast<unsigned char>(name[0])))
    throw SpecError(at, "'" + name + "' starts with a digit");
  if (is_sv_word(name)) throw SpecError(at, "'" + name + "' is a reserved word of SystemVerilog");
  if (is_cpp_word(name)) throw SpecError(at, "'" + name + "' is a reserved word of C++");
}

namespace {

class Checker {
 public:
  explicit Checker(Spec& spec) : spec_(spec) {}

  void run() {
    add_causes();
    add_beat();
    for (auto& e : spec_.enums) check_enum(e);
    for (auto& s : spec_.structs) {
      check_word(s.name, s.at);
      if (s.kind == Kind::kCommit) check_instance(s);
      types_.add(camel(s.name), s.at, s.name);
      params_.add(camel(s.name) + "Width", s.at, "its width");
      by_name_[s.name] = &s;
    }
    for (auto& s : spec_.structs) resolve(s);
    check_registers();
    for (const auto& s : spec_.sizes) check_size(s);
    for (const auto& c : spec_.constants) {
      if (c.width == 0 || c.width > 64)
        throw SpecError(c.at, "'" + c.name + "': width must be 1 to 64");
      if (c.value > mask(c.width))
        throw SpecError(c.at,
                        fmt::format("'{}': {} does not fit {} bits", c.name, c.value, c.width));
      sizes_.add(camel(c.name), c.at, "constant");
    }
    for (auto& w : spec_.top.wires) resolve_type(w.signal, "wires");
  }

 private:
  void add_causes() {
    if (spec_.causes.empty()) return;
    Enum e;
    e.name = "cause";
    e.prefix = "Cause";
    e.width = 8;
    e.ref = "docs/spec/errors.yaml, causes";
    e.doc = "Why something failed; travels with what failed.";
    e.at = spec_.causes[0].at;
    e.unit = spec_.causes[0].unit;
    for (const auto& c : spec_.causes) {
      e.items.push_back({c.name, c.value, c.doc, c.at});
      if (c.layer > 15 || c.etype > 15 || c.code > 255)
        throw SpecError(c.at, "'" + c.name + "': layer and etype have 4 bits, code 8");
    }
    spec_.enums.push_back(std::move(e));
  }

  /// `beat: true` means like the struct `beat`; where the description has none, it is this one.
  void add_beat() {
    bool described = false;
    Struct* user = nullptr;
    for (auto& s : spec_.structs) {
      described |= s.name == "beat";
      if (!s.beat) continue;
      s.like = "beat";
      if (user == nullptr) user = &s;
    }
    if (described || user == nullptr) return;
    Struct beat;
    beat.name = "beat";
    beat.ref = user->ref;
    beat.doc = "The beat of every packet stream.";
    beat.at = user->at;
    beat.unit = user->unit;
    beat.fields = {beat_field("last", 1, "Last beat of the packet."),
                   beat_field("error", 1, "With last: the whole packet is to be dropped."),
                   beat_field("keep", 7, "Number of valid bytes, 0 to 64; 64 unless last."),
                   beat_field("data", 512, "Byte 0 of the packet in bits 7:0 of its first beat.")};
    for (auto& f : beat.fields) f.at = beat.at;
    spec_.structs.push_back(std::move(beat));
  }

  /// u_qp.u_retire: instances of the RTL, each named as such.
  static void check_instance(const Struct& s) {
    std::string part;
    for (char c : s.instance + ".") {
      if (c != '.') {
        part += c;
        continue;
      }
      if (!part.starts_with("u_") || part.size() == 2)
        throw SpecError(
            s.at, fmt::format("'{}': at must be instances such as u_qp.u_retire, is '{}'", s.name,
                              s.instance));
      check_word(part, s.at);
      part.clear();
    }
  }

  void check_enum(Enum& e) {
    check_word(e.name, e.at);
    types_.add(camel(e.name), e.at, e.name);
    params_.add(camel(e.name) + "Width", e.at, "its width");
    if (e.width == 0 || e.width > 64)
      throw SpecError(e.at, "'" + e.name + "': width must be 1 to 64");
    if (e.items.empty()) throw SpecError(e.at, "'" + e.name + "' has no items");
    std::map<uint64_t, std::string> values;
    for (const auto& i : e.items) {
      if (i.value > mask(e.width))
        throw SpecError(
            i.at, fmt::format("'{}': value {} does not fit {} bits", i.name, i.value, e.width));
      auto [it, fresh] = values.try_emplace(i.value, i.name);
      if (!fresh)
        throw SpecError(i.at,
                        fmt::format("'{}': value {} is already '{}'", i.name, i.value, it->second));
      if (e.verbs && (is_sv_word(i.name) || is_cpp_word(i.name))) check_word(i.name, i.at);
      params_.add(sv_item(e, i), i.at, "item of " + e.name);
    }
    enum_by_name_[e.name] = &e;
  }

  /// The type of a field is a number of bits, an enum or a struct.
  void resolve_type(Field& f, const std::string& owner) {
    const bool is_number =
        !f.type.empty() && f.type.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) {
      f.bits = static_cast<unsigned>(std::stoul(f.type));
      if (f.bits == 0)
        throw SpecError(f.at, fmt::format("field '{}.{}' has no bits", owner, f.name));
      if (f.bits > 64 && f.bits % 8 != 0)
        throw SpecError(f.at, fmt::format("field '{}.{}' of {} bits: above 64 only whole bytes",
                                          owner, f.name, f.bits));
    } else if (auto e = enum_by_name_.find(f.type); e != enum_by_name_.end()) {
      f.as_enum = e->second;
      f.bits = e->second->width;
    } else if (auto s = by_name_.find(f.type); s != by_name_.end()) {
      resolve(*s->second);
      f.as_struct = s->second;
      f.bits = s->second->width;
    } else {
      throw SpecError(f.at, fmt::format("field '{}.{}': unknown type '{}'", owner, f.name, f.type));
    }
  }

  /// Computes the fields, width and positions of a struct, after those of the structs that it
  /// contains.
  void resolve(Struct& s) {
    if (done_.contains(&s)) return;
    if (!open_.insert(&s).second) throw SpecError(s.at, "'" + s.name + "' contains itself");
    if (!s.like.empty()) {
      auto other = by_name_.find(s.like);
      if (other == by_name_.end())
        throw SpecError(s.at, "'" + s.name + "': unknown type '" + s.like + "'");
      resolve(*other->second);
      s.fields = other->second->fields;
      if (other->second->kind == Kind::kEntry || other->second->kind == Kind::kHeader)
        throw SpecError(s.at, "'" + s.name + "' can only be like a struct or a stream");
    }
    Names names;
    unsigned pos = 0;
    for (auto& f : s.fields) {
      check_word(f.name, f.at);
      names.add(f.name, f.at, "field of " + s.name);
      if (s.like.empty()) resolve_type(f, s.name);
      check_position(s, f, pos);
      pos += f.bits;
      if (s.bytes >= 0 && pos > 8 * static_cast<uint64_t>(s.bytes))
        throw SpecError(f.at, fmt::format("field '{}.{}' ends at bit {}, beyond the {} bytes",
                                          s.name, f.name, pos, s.bytes));
    }
    if (s.fields.empty()) throw SpecError(s.at, "'" + s.name + "' has no fields");
    s.width = pos;
    check_total(s);
    unsigned lsb = 0;
    if (s.lsb_first()) {
      for (auto& f : s.fields) f.lsb = lsb, lsb += f.bits;
    } else {
      for (auto f = s.fields.rbegin(); f != s.fields.rend(); ++f) f->lsb = lsb, lsb += f->bits;
    }
    open_.erase(&s);
    done_.insert(&s);
    spec_.in_order.push_back(&s);
  }

  static Field beat_field(const std::string& name, unsigned bits, const std::string& doc) {
    Field f;
    f.name = name;
    f.type = std::to_string(bits);
    f.doc = doc;
    return f;
  }

  static void check_position(const Struct& s, const Field& f, unsigned pos) {
    if (f.at_byte < 0) return;
    const auto want = 8 * static_cast<uint64_t>(f.at_byte);
    if (want < pos)
      throw SpecError(f.at, fmt::format("field '{}.{}' at byte {} overlaps the one before", s.name,
                                        f.name, f.at_byte));
    if (want > pos)
      throw SpecError(f.at, fmt::format("gap of {} bits before field '{}.{}' at byte {}",
                                        want - pos, s.name, f.name, f.at_byte));
  }

  static void check_total(Struct& s) {
    if (s.kind == Kind::kEntry && s.bytes < 0)
      throw SpecError(s.at, "'" + s.name + "': 'bytes' is missing");
    if (s.in_bytes() && s.bytes < 0) {
      if (s.width % 8 != 0)
        throw SpecError(s.at, fmt::format("'{}': {} bits are not whole bytes", s.name, s.width));
      s.bytes = s.width / 8;
    }
    if (s.bytes >= 0 && s.width != 8 * static_cast<uint64_t>(s.bytes))
      throw SpecError(
          s.at,
          fmt::format("'{}': gap of {} bits at the end: fields have {} bits, {} bytes have {}",
                      s.name, 8 * static_cast<uint64_t>(s.bytes) - s.width, s.width, s.bytes,
                      8 * s.bytes));
  }

  void check_registers() {
    Names names;
    std::map<std::pair<unsigned, uint64_t>, std::string> bytes;
    for (auto& r : spec_.registers) {
      check_word(r.name, r.at);
      names.add(camel(r.name), r.at, "register");
      if (r.width != 32 && r.width != 64)
        throw SpecError(r.at, "'" + r.name + "': width must be 32 or 64");
      static const std::set<std::string> kinds = {"rw", "ro", "wo", "w1c"};
      if (!kinds.contains(r.access))
        throw SpecError(r.at, "'" + r.name + "': access must be rw, ro, wo or w1c");
      if (r.reset > mask(r.width))
        throw SpecError(r.at, "'" + r.name + "': reset does not fit its width");
      if (r.offset % (r.width / 8) != 0 || (r.count > 1 && r.stride % (r.width / 8) != 0))
        throw SpecError(r.at, "'" + r.name + "': offset and stride must be multiples of its size");
      if (r.count == 0 || (r.count > 1 && r.stride < r.width / 8))
        throw SpecError(r.at, "'" + r.name + "': count or stride too small");
      for (uint64_t i = 0; i < r.count; i++)
        for (uint64_t b = 0; b < r.width / 8; b += 4) {
          const auto at = r.offset + i * r.stride + b;
          auto [it, fresh] = bytes.try_emplace({r.bar, at}, r.name);
          if (!fresh)
            throw SpecError(
                r.at, fmt::format("'{}' overlaps '{}' at offset {:#x}", r.name, it->second, at));
        }
      Names fields;
      unsigned pos = 0;
      for (auto& f : r.fields) {
        check_word(f.name, f.at);
        fields.add(f.name, f.at, "field of " + r.name);
        names.add(camel(r.name + "_" + f.name), f.at, "register field");
        resolve_type(f, r.name);
        if (f.as_struct != nullptr)
          throw SpecError(f.at, "a register field is a number of bits or an enum");
        f.lsb = pos;
        pos += f.bits;
        if (pos > r.width)
          throw SpecError(f.at, fmt::format("field '{}.{}' ends at bit {}, beyond {}", r.name,
                                            f.name, pos, r.width));
      }
      if (!r.fields.empty() && pos != r.width)
        throw SpecError(r.at,
                        fmt::format("'{}': gap of {} bits at the end", r.name, r.width - pos));
    }
  }

  void check_size(const Size& s) {
    check_word(s.name, s.at);
    sizes_.add(camel(s.name), s.at, "size");
    if (s.max > mask(32)) throw SpecError(s.at, "'" + s.name + "': max does not fit 32 bits");
    if (s.min > s.max) throw SpecError(s.at, "'" + s.name + "': min is above max");
    if (s.value < s.min || s.value > s.max)
      throw SpecError(s.at, "'" + s.name + "': default is outside min to max");
    if (s.minimum < s.min || s.minimum > s.max)
      throw SpecError(s.at, "'" + s.name + "': minimum is outside min to max");
    if (s.stall < s.min || s.stall > s.max)
      throw SpecError(s.at, "'" + s.name + "': stall is outside min to max");
    if (s.stall < 2 && s.value > 1)
      throw SpecError(s.at, "'" + s.name + "': stall is 1, so what more of them do does not run");
    const auto is_power = [](uint64_t v) { return v != 0 && (v & (v - 1)) == 0; };
    if (s.power_of_two && !is_power(s.value))
      throw SpecError(s.at, fmt::format("'{}': default {} is no power of two", s.name, s.value));
    if (s.power_of_two && !is_power(s.minimum))
      throw SpecError(s.at, fmt::format("'{}': minimum {} is no power of two", s.name, s.minimum));
    if (s.power_of_two && !is_power(s.stall))
      throw SpecError(s.at, fmt::format("'{}': stall {} is no power of two", s.name, s.stall));
  }

  Spec& spec_;
  Names types_, params_, sizes_;  // printed names: types, constants of enums and structs, sizes
  std::map<std::string, Struct*> by_name_;
  std::map<std::string, const Enum*> enum_by_name_;
  std::set<const Struct*> done_, open_;  // resolved; being resolved, so a cycle is found
};

}  // namespace

void check_spec(Spec& spec) {
  Checker(spec).run();
  check_top(spec);
}

}  // namespace specgen
