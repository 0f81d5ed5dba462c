// Reads docs/spec/*.yaml into Spec. It knows which keys are allowed; check.cpp judges the values.
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "text.hpp"

namespace specgen {
namespace {

/// A map of the YAML whose keys are checked off as they are read; done() rejects keys that were not
/// read.
class Map {
 public:
  Map(YAML::Node node, std::string file, const std::string& what)
      : node_(std::move(node)), file_(std::move(file)) {
    if (!node_.IsMap()) throw SpecError(place(), what + " must be a map of key: value");
    std::set<std::string> seen;
    for (const auto& kv : node_)
      if (!seen.insert(kv.first.Scalar()).second)
        throw SpecError({file_, kv.first.Mark().line + 1},
                        "duplicate name '" + kv.first.Scalar() + "'");
  }
  [[nodiscard]] Place place() const { return {file_, node_.Mark().line + 1}; }
  [[nodiscard]] Place place(const YAML::Node& n) const { return {file_, n.Mark().line + 1}; }
  YAML::Node find(const std::string& key) {
    known_.insert(key);
    for (const auto& kv : node_)
      if (kv.first.Scalar() == key) return kv.second;
    return YAML::Node(YAML::NodeType::Undefined);
  }
  std::string text(const std::string& key, const std::string& otherwise = "") {
    auto n = find(key);
    if (!n.IsDefined()) return otherwise;
    if (!n.IsScalar()) throw SpecError(place(n), "'" + key + "' must be text");
    return n.Scalar();
  }
  bool has(const std::string& key) { return find(key).IsDefined(); }
  uint64_t number(const std::string& key) {
    if (!has(key)) throw SpecError(place(), "'" + key + "' is missing");
    return number(key, 0);
  }
  uint64_t number(const std::string& key, uint64_t otherwise) {
    auto n = find(key);
    if (!n.IsDefined()) return otherwise;
    const std::string s = n.IsScalar() ? n.Scalar() : "";
    size_t used = 0;
    uint64_t v = 0;
    try {
      v = std::stoull(s, &used, 0);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != s.size() || s[0] == '-')
      throw SpecError(place(n), "'" + key + "' must be a number, is '" + s + "'");
    return v;
  }
  bool flag(const std::string& key) {
    const std::string s = text(key, "false");
    if (s != "true" && s != "false")
      throw SpecError(place(find(key)), "'" + key + "' must be true or false");
    return s == "true";
  }
  void done() const {
    for (const auto& kv : node_)
      if (!known_.contains(kv.first.Scalar()))
        throw SpecError({file_, kv.first.Mark().line + 1},
                        "unknown key '" + kv.first.Scalar() + "'");
  }
  const YAML::Node& node() const { return node_; }
  const std::string& file() const { return file_; }

 private:
  YAML::Node node_;
  std::string file_;
  std::set<std::string> known_;
};

class Reader {
 public:
  Reader(Spec& spec, std::string file, std::string unit)
      : spec_(spec), file_(std::move(file)), unit_(std::move(unit)) {}

  void read() {
    YAML::Node root;
    try {
      root = YAML::LoadFile(file_);
    } catch (const YAML::Exception& e) {
      throw SpecError({file_, e.mark.line + 1}, e.msg);
    }
    if (root.IsNull()) return;
    Map top(root, file_, "the file");
    each(top, "enums", [&](Map& m, Entity e) { read_enum(m, std::move(e)); });
    each(top, "headers", [&](Map& m, Entity e) { read_struct(m, std::move(e), Kind::kHeader); });
    each(top, "entries", [&](Map& m, Entity e) { read_struct(m, std::move(e), Kind::kEntry); });
    each(top, "structs", [&](Map& m, Entity e) { read_struct(m, std::move(e), Kind::kStruct); });
    each(top, "streams", [&](Map& m, Entity e) { read_struct(m, std::move(e), Kind::kStream); });
    if (unit_ == "streams")
      if (auto n = top.find("top"); n.IsDefined()) read_top(n);
    if (unit_ == "commits")
      each(top, "commits", [&](Map& m, Entity e) { read_commit(m, std::move(e)); });
    each(top, "causes", [&](Map& m, Entity e) { read_cause(m, std::move(e)); });
    each(top, "sizes", [&](Map& m, Entity e) { read_size(m, std::move(e)); });
    each(top, "constants", [&](Map& m, Entity e) { read_constant(m, std::move(e)); });
    if (auto n = top.find("registers"); n.IsDefined()) read_registers(n);
    top.done();
  }

 private:
  /// Calls read_one for each entry of the map `key`: NAME: {ref, doc, ...}.
  template <class F>
  void each(Map& top, const std::string& key, F read_one) {
    auto n = top.find(key);
    if (!n.IsDefined() || n.IsNull()) return;
    Map all(n, file_, key);
    for (const auto& kv : n) {
      Map m(kv.second, file_, kv.first.Scalar());
      Entity e = entity(m, kv.first.Scalar());
      e.at.line = kv.first.Mark().line + 1;
      if (e.ref.empty()) throw SpecError(e.at, "'" + e.name + "' has no ref");
      read_one(m, std::move(e));
      m.done();
    }
  }

  Entity entity(Map& m, const std::string& name) {
    return {name, m.text("ref"), m.text("doc"), m.place(), unit_};
  }

  void read_enum(Map& m, Entity e) {
    Enum out;
    static_cast<Entity&>(out) = std::move(e);
    out.width = static_cast<unsigned>(m.number("width"));
    out.verbs = m.flag("verbs");
    out.prefix = m.text("prefix", camel(out.name));
    auto n = m.find("items");
    if (!n.IsDefined()) throw SpecError(out.at, "'" + out.name + "' has no items");
    Map items(n, file_, "items");
    for (const auto& kv : n) {
      Item item;
      item.name = kv.first.Scalar();
      item.at = {file_, kv.first.Mark().line + 1};
      if (kv.second.IsScalar()) {  // short form: name: value
        YAML::Node wrap;
        wrap["value"] = kv.second;
        item.value = Map(wrap, file_, item.name).number("value");
      } else {
        Map im(kv.second, file_, item.name);
        item.value = im.number("value");
        item.doc = im.text("doc");
        im.done();
      }
      out.items.push_back(item);
    }
    spec_.enums.push_back(std::move(out));
  }

  std::vector<Field> read_fields(const YAML::Node& n) {
    std::vector<Field> out;
    if (!n.IsSequence()) throw SpecError({file_, n.Mark().line + 1}, "'fields' must be a list");
    for (const auto& f : n) {
      Field field;
      field.at = {file_, f.Mark().line + 1};
      Map m(f, file_, "a field");
      if (m.has("name")) {
        field.name = m.text("name");
        field.type = m.text("type");
        field.doc = m.text("doc");
        if (m.has("at")) field.at_byte = static_cast<int64_t>(m.number("at"));
        m.done();
      } else {
        if (f.size() != 1)
          throw SpecError(field.at, "a field is 'name: type' or {name, type, doc}");
        const auto kv = *f.begin();
        field.name = kv.first.Scalar();
        if (!kv.second.IsScalar())
          throw SpecError(field.at, "field '" + field.name + "': type must be a number or a name");
        field.type = kv.second.Scalar();
      }
      out.push_back(std::move(field));
    }
    return out;
  }

  void read_struct(Map& m, Entity e, Kind kind) {
    Struct out;
    static_cast<Entity&>(out) = std::move(e);
    out.kind = kind;
    if (m.has("bytes")) out.bytes = static_cast<int64_t>(m.number("bytes"));
    if (kind == Kind::kStream) {
      out.from = m.text("from");
      out.to = m.text("to");
      out.beat = m.flag("beat");
    }
    if (kind == Kind::kStream || kind == Kind::kStruct) out.like = m.text("like");
    auto n = m.find("fields");
    const int ways = int{n.IsDefined()} + int{out.beat} + int{!out.like.empty()};
    if (ways != 1)
      throw SpecError(out.at, "'" + out.name + "' needs exactly one of fields, beat, like");
    if (n.IsDefined()) out.fields = read_fields(n);
    spec_.structs.push_back(std::move(out));
  }

  /// Adds the first field, `valid`, which the YAML does not list.
  void read_commit(Map& m, Entity e) {
    Struct out;
    static_cast<Entity&>(out) = std::move(e);
    out.kind = Kind::kCommit;
    out.tap = "tap_" + out.name;
    out.name += "_commit";
    out.instance = m.text("at");
    Field valid;
    valid.name = "valid";
    valid.type = "1";
    valid.at = out.at;
    out.fields.push_back(std::move(valid));
    if (auto n = m.find("fields"); n.IsDefined())
      for (auto& f : read_fields(n)) out.fields.push_back(std::move(f));
    spec_.structs.push_back(std::move(out));
  }

  std::vector<Item> read_names(Map& m, const std::string& key) {
    std::vector<Item> out;
    auto n = m.find(key);
    if (!n.IsDefined()) return out;
    if (!n.IsSequence()) throw SpecError(m.place(n), "'" + key + "' must be a list of names");
    for (const auto& i : n) {
      if (!i.IsScalar()) throw SpecError(m.place(i), "'" + key + "' must be a list of names");
      Item item;
      item.name = i.Scalar();
      item.at = m.place(i);
      out.push_back(std::move(item));
    }
    return out;
  }

  void read_top(const YAML::Node& n) {
    Map m(n, file_, "top");
    Top& out = spec_.top;
    static_cast<Entity&>(out) = entity(m, "rnic");
    out.outside = read_names(m, "outside");
    out.units = read_names(m, "units");
    if (out.units.empty()) throw SpecError(out.at, "'top' needs a list of units");
    each(m, "wires", [&](Map& w, Entity e) { read_wire(w, std::move(e)); });
    m.done();
  }

  /// unit, or unit.port where the port is not named as the wire.
  static WireEnd wire_end(const std::string& text, const std::string& name) {
    const auto dot = text.find('.');
    return dot == std::string::npos ? WireEnd{text, name}
                                    : WireEnd{text.substr(0, dot), text.substr(dot + 1)};
  }

  void read_wire(Map& m, Entity e) {
    Wire out;
    out.signal.name = e.name;
    out.signal.doc = e.doc;
    out.signal.at = e.at;
    out.ref = e.ref;
    out.signal.type = m.text("type");
    out.from = wire_end(m.text("from"), e.name);
    if (auto n = m.find("to"); n.IsDefined() && n.IsScalar())
      out.to.push_back(wire_end(n.Scalar(), e.name));
    else
      for (const auto& i : read_names(m, "to")) out.to.push_back(wire_end(i.name, e.name));
    if (out.to.empty()) throw SpecError(e.at, "'" + e.name + "': 'to' is missing");
    spec_.top.wires.push_back(std::move(out));
  }

  void read_registers(const YAML::Node& n) {
    Map all(n, file_, "registers");
    const auto bar = static_cast<unsigned>(all.number("bar", 0));
    auto list = all.find("list");
    all.done();
    if (!list.IsSequence()) throw SpecError(all.place(), "'registers' needs a list");
    for (const auto& r : list) {
      Map m(r, file_, "a register");
      Register out;
      static_cast<Entity&>(out) = entity(m, m.text("name"));
      if (out.name.empty()) throw SpecError(out.at, "register without a name");
      if (out.ref.empty()) throw SpecError(out.at, "'" + out.name + "' has no ref");
      out.bar = static_cast<unsigned>(m.number("bar", bar));
      out.offset = m.number("offset");
      out.width = static_cast<unsigned>(m.number("width", 32));
      out.access = m.text("access");
      out.reset = m.number("reset", 0);
      out.count = m.number("count", 1);
      out.stride = m.number("stride", out.width / 8);
      if (auto f = m.find("fields"); f.IsDefined()) out.fields = read_fields(f);
      m.done();
      spec_.registers.push_back(std::move(out));
    }
  }

  void read_cause(Map& m, Entity e) {
    Cause out;
    static_cast<Entity&>(out) = std::move(e);
    out.value = m.number("value");
    out.layer = m.number("layer");
    out.etype = m.number("etype");
    out.code = m.number("code");
    out.ddp_header = m.flag("ddp_header");
    out.rdma_header = m.flag("rdma_header");
    out.detects = m.text("detects");
    out.peer_sees = m.text("peer_sees");
    out.user_sees = m.text("user_sees");
    spec_.causes.push_back(std::move(out));
  }

  void read_size(Map& m, Entity e) {
    Size out;
    static_cast<Entity&>(out) = std::move(e);
    out.value = m.number("default");
    out.minimum = m.number("minimum");
    out.stall = m.number("stall");
    out.min = m.number("min");
    out.max = m.number("max");
    out.power_of_two = m.flag("power_of_two");
    out.measure = m.text("unit");
    spec_.sizes.push_back(std::move(out));
  }

  void read_constant(Map& m, Entity e) {
    Constant out;
    static_cast<Entity&>(out) = std::move(e);
    out.value = m.number("value");
    out.width = static_cast<unsigned>(m.number("width", 32));
    spec_.constants.push_back(std::move(out));
  }

  Spec& spec_;
  std::string file_, unit_;
};

}  // namespace

Spec read_spec(const std::string& folder) {
  Spec spec;
  bool any = false;
  for (const auto& unit : spec_units()) {
    const auto path = (std::filesystem::path(folder) / (unit + ".yaml")).string();
    if (!std::filesystem::exists(path)) continue;
    any = true;
    Reader(spec, path, unit).read();
  }
  if (!any)
    throw SpecError({folder, 0}, "no description found: expected iwarp.yaml, errors.yaml, ...");
  return spec;
}

}  // namespace specgen
