// Reads memory, receives and expect of a listing. See replay/load_device.hpp.
#include "replay/load_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "rnic/verbs_types.hpp"
#include "settings/errors.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

constexpr uint32_t kMostDomains = 16;
// Of a Terminate (docs/gen/errors.md): layers RDMAP, DDP, MPA; types of RDMAP and DDP.
constexpr uint32_t kMostLayer = 2, kMostType = 2;

// The rights of the peer, as docs/spec/queues.yaml has them (access_flag).
const std::map<std::string, uint32_t> kRights = {
    {"remote_read", verbs::IBV_ACCESS_REMOTE_READ},
    {"remote_write", verbs::IBV_ACCESS_REMOTE_WRITE},
    {"flush_global", verbs::IBV_ACCESS_FLUSH_GLOBAL},
    {"flush_persistent", verbs::IBV_ACCESS_FLUSH_PERSISTENT},
    {"remote_invalidate", verbs::RNIC_ACCESS_REMOTE_INVALIDATE},
};
const std::map<std::string, Ending::Kind> kEndings = {{"terminate", Ending::Kind::kTerminate},
                                                      {"close", Ending::Kind::kClose},
                                                      {"nothing", Ending::Kind::kNothing}};

template <class T>
std::vector<std::string> keys_of(const std::map<std::string, T>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

/// An object of one of the three keys. Errors in it are reported with its line.
class Object {
 public:
  Object(const std::string& path, size_t line, const std::string& key, const nlohmann::json& json,
         const std::vector<std::string>& known)
      : where_(fmt::format("replay: {}: line {}: {}", path, line, key)), line_(line), json_(json) {
    if (!json.is_object()) throw wrong(fmt::format("{} is no object", json.dump()));
    for (const auto& [k, value] : json.items()) {
      if (std::ranges::find(known, k) == known.end())
        throw wrong(fmt::format("unknown key {}{}; there are {}", nlohmann::json(k).dump(),
                                nearest(k, known), fmt::join(known, ", ")));
    }
  }

  Usage wrong(const std::string& what) const { return Usage(fmt::format("{}: {}", where_, what)); }
  size_t line() const { return line_; }
  bool has(const char* key) const { return json_.contains(key); }

  const nlohmann::json& at(const char* key) const {
    if (!has(key)) throw wrong(fmt::format("\"{}\" is missing", key));
    return json_[key];
  }
  /// A number, or its hexadecimal text, with 0x.
  uint64_t number(const char* key, uint64_t least, uint64_t most) const {
    const nlohmann::json& v = at(key);
    if (v.is_string() && !v.get<std::string>().starts_with(k0x) && unhex(v.get<std::string>()))
      throw wrong(
          fmt::format("{} is {}; a text needs 0x, since it is hexadecimal; write a decimal number "
                      "without quotes",
                      key, v.dump()));
    return hexadecimal(key, least, most);
  }
  /// A number, or its hexadecimal text, with or without 0x: an STag or an address.
  uint64_t hexadecimal(const char* key, uint64_t least, uint64_t most) const {
    const nlohmann::json& v = at(key);
    std::optional<uint64_t> n;
    if (v.is_number_unsigned()) n = v.get<uint64_t>();
    if (v.is_string()) n = unhex(v.get<std::string>());
    if (!n || *n < least || *n > most)
      throw wrong(
          fmt::format("{} is {}; a whole number from {} to {} is wanted, or its hexadecimal text",
                      key, v.dump(), least, most));
    return *n;
  }
  /// As number(); empty if the key is absent.
  std::optional<uint32_t> optional(const char* key, uint64_t most) const {
    if (!has(key)) return std::nullopt;
    return static_cast<uint32_t>(number(key, 0, most));
  }
  /// The value that `words` gives for the text `v`. `what` begins the message if there is none.
  template <class T>
  T word(const char* what, const nlohmann::json& v, const std::map<std::string, T>& words) const {
    const auto found = v.is_string() ? words.find(v.get<std::string>()) : words.end();
    if (found != words.end()) return found->second;
    const auto all = keys_of(words);
    throw wrong(fmt::format("{} {}{}; there are {}", what, v.dump(),
                            v.is_string() ? nearest(v.get<std::string>(), all) : "",
                            fmt::join(all, ", ")));
  }

 private:
  static constexpr std::string_view k0x = "0x";
  static std::optional<uint64_t> unhex(std::string_view text) {
    if (text.starts_with(k0x)) text.remove_prefix(k0x.size());
    uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return n;
  }

  std::string where_;
  size_t line_;
  const nlohmann::json& json_;
};

/// The objects of a list.
std::vector<Object> objects(const std::string& path, const JsonLines& file, const std::string& key,
                            const std::vector<std::string>& known) {
  const nlohmann::json& list = file.json[key];
  if (!list.is_array())
    throw Usage(
        fmt::format("replay: {}: line {}: {} is no list", path, file.key_lines.at(key), key));
  std::vector<Object> all;
  for (size_t k = 0; k < list.size(); ++k)
    all.emplace_back(path, file.element_lines.at(key).at(k), key, list[k], known);
  return all;
}

ListedRegion region(const Object& o, uint32_t connections) {
  ListedRegion r;
  r.line = o.line();
  r.stag = static_cast<uint32_t>(o.hexadecimal("stag", 0, UINT32_MAX));
  r.base = o.hexadecimal("base", 0, UINT64_MAX);
  r.length = o.number("length", 1, kLargestRegion);
  if (r.base + (r.length - 1) < r.base)
    throw o.wrong(fmt::format("base {:#x} and length {} wrap at 2^64", r.base, r.length));
  const nlohmann::json& rights = o.at("rights");
  if (!rights.is_array()) throw o.wrong(fmt::format("rights is {}, no list", rights.dump()));
  for (const auto& right : rights) r.access |= o.word("rights has", right, kRights);
  r.domain = o.optional("domain", kMostDomains - 1).value_or(0);
  r.connection = o.optional("connection", connections - 1);
  if (r.connection && r.domain != 0)
    throw o.wrong("an STag that is bound to a connection is of domain 0, that of its QP");
  if (!r.connection && (r.access & verbs::RNIC_ACCESS_REMOTE_INVALIDATE) != 0)
    throw o.wrong(
        "remote_invalidate needs \"connection\": the device lets a peer invalidate only "
        "an STag that is bound to its stream");
  return r;
}

ListedReceive receive(const Object& o, const Listing& l) {
  ListedReceive r;
  r.line = o.line();
  r.connection = o.optional("connection", l.connections - 1).value_or(0);
  r.length = static_cast<uint32_t>(o.number("length", 0, kLargestRegion));
  const uint32_t after = o.optional("after", UINT32_MAX).value_or(0);  // 0: before start-up
  if (after == 0) return r;
  r.after = after;
  const auto u = std::ranges::find(l.units, after, &Unit::n);
  if (u == l.units.end() || u->connection != r.connection)
    throw o.wrong(fmt::format("after is {}; connection {} has no such unit", after, r.connection));
  if (!u->is_mpa && !u->is_raw && !parse_fpdu(u->bytes)->is_last)
    throw o.wrong(fmt::format("after is {}, which does not end a message", after));
  return r;
}

Ending ending(const Object& o) {
  Ending e;
  e.kind = o.word("kind is", o.at("kind"), kEndings);
  e.layer = o.optional("layer", kMostLayer);
  e.etype = o.optional("etype", kMostType);
  e.code = o.optional("code", 255);
  if (e.kind != Ending::Kind::kTerminate && (e.layer || e.etype || e.code))
    throw o.wrong("layer, etype and code are of kind \"terminate\" only");
  return e;
}

}  // namespace

bool Ending::admits(const Ending& e) const {
  const auto same = [](const auto& want, const auto& have) { return !want || want == have; };
  return kind == e.kind && same(layer, e.layer) && same(etype, e.etype) && same(code, e.code);
}

std::string Ending::text() const {
  if (kind == Kind::kClose) return "a close";
  if (kind == Kind::kNothing) return "nothing";
  if (!layer && !etype && !code) return "a Terminate";
  if (layer && etype && code)
    return "Terminate " + verbs::terminate_text(*layer << 12 | *etype << 8 | *code);
  const auto digit = [](const auto& n) { return n ? fmt::format("{:x}", *n) : std::string("any"); };
  return fmt::format("Terminate {}/{}/{}", digit(layer), digit(etype),
                     code ? fmt::format("{:02x}", *code) : "any");
}

void load_device_keys(const std::string& path, const JsonLines& file, Listing& l) {
  const nlohmann::json& j = file.json;
  if (j.contains("memory")) {
    std::map<uint32_t, size_t> lines;  // by STag
    auto& memory = l.memory.emplace();
    for (const Object& o : objects(path, file, "memory",
                                   {"stag", "base", "length", "rights", "domain", "connection"})) {
      memory.push_back(region(o, l.connections));
      const uint32_t stag = memory.back().stag;
      if (const auto [first, is_new] = lines.try_emplace(stag, o.line()); !is_new)
        throw o.wrong(fmt::format("stag is {:#010x}, as in line {}", stag, first->second));
    }
  }
  if (j.contains("receives")) {
    auto& receives = l.receives.emplace();
    for (const Object& o : objects(path, file, "receives", {"connection", "length", "after"}))
      receives.push_back(receive(o, l));
  }
  if (!j.contains("expect")) return;
  const std::vector<std::string> known = {"kind", "layer", "etype", "code"};
  if (!j["expect"].is_array()) {
    const Object o(path, file.key_lines.at("expect"), "expect", j["expect"], known);
    l.expect.assign(l.connections, ending(o));
    return;
  }
  for (const Object& o : objects(path, file, "expect", known)) l.expect.push_back(ending(o));
  if (l.expect.size() != l.connections)
    throw Usage(
        fmt::format("replay: {}: line {}: expect has {} objects; {}, one a connection, "
                    "are wanted",
                    path, file.key_lines.at("expect"), l.expect.size(), l.connections));
}

}  // namespace rnic::app
