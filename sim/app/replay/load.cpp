// Reads a listing (JSON): its units and endpoints; load_device.cpp reads the rest. See load.hpp.
#include "replay/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "replay/capture.hpp"
#include "replay/load_device.hpp"
#include "replay/segment.hpp"
#include "settings/errors.hpp"
#include "settings/json_file.hpp"
#include "settings/read_file.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

constexpr uint32_t kMostConnections = 256;  // each connection needs its own port

// The keys of a listing and of its units. "capture", "decode" and "frame" are for readers and are
// ignored. Bytes of kind "raw" are classified by content: a start-up frame, an FPDU, or neither.
const std::string kRaw = "raw";
const std::vector<std::string> kKinds = {"mpa", "fpdu", kRaw};
const std::vector<std::string> kKeys = {"units",  "initiator", "ended", "memory", "receives",
                                        "expect", "name",      "note",  "capture"};
const std::vector<std::string> kOptionalKeys = {"initiator", "ended", "memory", "receives",
                                                "expect"};
const std::vector<std::string> kKeysOfUnit = {"n",   "connection", "from", "kind",
                                              "hex", "decode",     "frame"};

Bytes unhex(const std::string& text, const std::string& where) {
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    throw Usage(fmt::format("{}: \"{}\" is no hexadecimal digit", where, c));
  };
  if (text.size() % 2 != 0)
    throw Usage(fmt::format("{}: an odd number of hexadecimal digits", where));
  Bytes out;
  for (size_t i = 0; i < text.size(); i += 2)
    out.push_back(static_cast<uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  return out;
}

bool begins_as_mpa(std::span<const uint8_t> b) {
  constexpr std::string_view kKey = "MPA ID Re";  // of Request and Reply
  return b.size() >= kKey.size() && std::equal(kKey.begin(), kKey.end(), b.begin());
}

/// An unknown key, and the message about it.
using Unknown = std::pair<std::string, std::string>;

/// True if a key is a misspelt one of `ours`: near it, and its length differs by at most one. Only
/// optional keys that change the replay are checked: a missing required key is an error anyway.
bool is_misspelt(const std::string& key, const std::vector<std::string>& ours,
                 const nlohmann::json& object) {
  return std::ranges::any_of(ours, [&](const std::string& k) {
    const auto longer = static_cast<int64_t>(key.size()) - static_cast<int64_t>(k.size());
    return !object.contains(k) && std::abs(longer) <= 1 && !nearest(key, {k}).empty();
  });
}

/// Returns the keys that are not in `known`. Throws `wrong` for a key that is a misspelt one of
/// `optional`.
template <class Wrong>
std::vector<Unknown> unknown_keys(const nlohmann::json& object,
                                  const std::vector<std::string>& known,
                                  const std::vector<std::string>& optional, Wrong&& wrong) {
  std::vector<Unknown> all;
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string said =
        fmt::format("unknown key {}{}; there are {}", nlohmann::json(key).dump(),
                    nearest(key, known), fmt::join(known, ", "));
    if (is_misspelt(key, optional, object)) throw wrong(key, said);
    all.emplace_back(key, said);
  }
  return all;
}

/// An element of the listing's units. Errors in it are reported with its line.
class Entry {
 public:
  Entry(const std::string& path, size_t line, const nlohmann::json& json)
      : where_(fmt::format("replay: {}: line {}", path, line)), line_(line), json_(json) {
    if (!json.is_object()) throw wrong("a unit is an object");
    unknown_ = unknown_keys(json, kKeysOfUnit, {"connection"},
                            [&](const auto&, const std::string& what) { return wrong(what); });
  }
  const std::vector<Unknown>& unknown() const { return unknown_; }
  /// True for a remark for readers, which is not a unit on the wire: its kind is not one of kKinds,
  /// nor near one (a misspelt kind is an error).
  bool is_remark() const {
    if (!json_.contains("kind") || !json_["kind"].is_string()) return false;
    const std::string kind = json_["kind"];
    return !kind.empty() && !is_kind(kind) && nearest(kind, kKinds).empty();
  }
  std::string kind() const { return json_["kind"]; }
  size_t line() const { return line_; }
  Usage wrong(const std::string& what) const { return Usage(fmt::format("{}: {}", where_, what)); }

  std::string text(const char* key) const {
    if (!json_.contains(key)) throw wrong(fmt::format("the unit has no \"{}\"", key));
    if (!json_[key].is_string()) throw wrong(fmt::format("{} is no text", key));
    return json_[key];
  }

  Unit unit(const std::string& initiator) const {
    if (!json_.contains("n")) throw wrong("the unit has no \"n\"");
    Unit u;
    u.line = line_;
    u.n = number("n", UINT32_MAX);
    if (json_.contains("connection")) u.connection = number("connection", kMostConnections - 1);
    u.from_initiator = text("from") == initiator;
    const std::string kind = text("kind");
    if (!is_kind(kind))
      throw wrong(fmt::format("kind is \"{}\"{}; mpa or fpdu is wanted", kind,
                              nearest(kind, {"mpa", "fpdu"})));
    u.bytes = unhex(text("hex"), where_);
    u.is_mpa = kind == "mpa" || (kind == kRaw && begins_as_mpa(u.bytes));
    u.is_raw = kind == kRaw && !u.is_mpa && !parse_fpdu(u.bytes);
    if (!u.is_mpa && !u.is_raw && !parse_fpdu(u.bytes))
      throw wrong(fmt::format("unit {} is no FPDU", u.n));
    return u;
  }

 private:
  uint32_t number(const char* key, uint32_t most) const {
    const auto& v = json_[key];
    if (!v.is_number_unsigned() || v.get<uint64_t>() > most)
      throw wrong(
          fmt::format("{} is {}; a whole number from 0 to {} is wanted", key, v.dump(), most));
    return v.get<uint32_t>();
  }

  static bool is_kind(const std::string& kind) {
    return std::ranges::find(kKinds, kind) != kKinds.end();
  }

  std::string where_;
  size_t line_;
  const nlohmann::json& json_;
  std::vector<Unknown> unknown_;
};

}  // namespace

Listing load_listing(const std::string& path) {
  constexpr const char* kWanted = "a JSON file such as tb/vectors/captures/rping-client-crc.json";
  if (std::error_code none; std::filesystem::is_directory(path, none))
    throw Usage(fmt::format("replay: {} is a folder; say one listing, {}", path, kWanted));
  if (const auto bytes = read_file(path); is_pcap(bytes))
    return listing_of_pcap(path, bytes);
  else if (is_pcapng(bytes))
    throw Usage(fmt::format("{}: a pcapng; replay wants a pcap or a listing (JSON)", path));
  const JsonLines file =
      read_json(path, fmt::format("; replay wants a pcap, or a listing, {}", kWanted));
  const auto& j = file.json;
  if (!j.is_object() || !j.contains("units") || !j["units"].is_array())
    throw Usage(fmt::format("replay: {} is no listing, {}: there is no list \"units\" in it", path,
                            kWanted));
  const auto wrong = [&](const std::string& key, const std::string& what) {
    return Usage(fmt::format("replay: {}: line {}: {}", path, file.key_lines.at(key), what));
  };
  const auto said = [&](const char* key, const std::string& otherwise) {
    if (!j.contains(key)) return otherwise;
    if (!j[key].is_string()) throw wrong(key, fmt::format("{} is no text", key));
    return j[key].get<std::string>();
  };
  if (j["units"].empty()) throw wrong("units", "units is empty; Request and Reply are missing");
  Listing l;
  std::set<std::string> warned;
  // Warns once about each subject.
  const auto warn = [&](size_t line, const std::string& about, const std::string& what) {
    if (warned.insert(about).second)
      l.warnings.push_back(fmt::format("replay: {}: line {}: {}", path, line, what));
  };
  for (const auto& [key, what] : unknown_keys(j, kKeys, kOptionalKeys, wrong))
    warn(file.key_lines.at(key), key, what + "; it is not looked at");
  l.path = path;
  l.name = said("name", path);
  l.note = said("note", "");
  std::vector<Entry> entries;
  for (size_t k = 0; k < j["units"].size(); ++k) {
    Entry e(path, file.element_lines.at("units").at(k), j["units"][k]);
    if (e.is_remark()) {
      warn(e.line(), "kind " + e.kind(),
           fmt::format("a unit of kind \"{}\" is not played; mpa, fpdu and raw are", e.kind()));
      continue;
    }
    for (const auto& [key, what] : e.unknown())
      warn(e.line(), "unit's " + key, what + "; it is not looked at");
    entries.push_back(std::move(e));
  }

  std::vector<std::string> names;
  for (const Entry& e : entries) {
    const std::string from = e.text("from");
    if (std::find(names.begin(), names.end(), from) == names.end()) names.push_back(from);
  }
  const std::string initiator = said("initiator", "initiator");
  if (names.size() == 1 && names[0] == initiator) {
    // The responder sent nothing: it answered a Request with a close. `ended` may have its name.
    constexpr std::string_view kBy = "closed by ";
    const bool is_named = j.contains("ended") && j["ended"].is_string();
    const std::string ended = is_named ? j["ended"].get<std::string>() : "";
    const std::string by = ended.starts_with(kBy) ? ended.substr(kBy.size()) : "";
    names.push_back(by.empty() || by == initiator ? "responder" : by);
  }
  if (names.size() != 2)
    throw Usage(fmt::format("replay: {}: {} endpoints, not 2", path, names.size()));
  if (names[0] != initiator) std::swap(names[0], names[1]);
  if (names[0] != initiator)
    throw Usage(
        fmt::format("replay: {}: nothing comes from the initiator, \"{}\"", path, initiator));
  l.names = {names[0], names[1]};
  if (j.contains("ended") && !j["ended"].is_null()) {
    const std::string ended = said("ended", "");
    const std::vector<std::string> ways = {"closed by " + names[0], "closed by " + names[1]};
    const bool is_known = std::ranges::find(ways, ended) != ways.end();
    if (!is_known && (ended.starts_with("closed by") || !nearest(ended, ways).empty()))
      throw wrong("ended", fmt::format("ended is {}{}; \"{}\" or \"{}\" is wanted",
                                       j["ended"].dump(), nearest(ended, ways), ways[0], ways[1]));
    if (!is_known)
      warn(file.key_lines.at("ended"), "ended",
           fmt::format("ended is {}: our device closes when all has been played",
                       j["ended"].dump()));
    if (is_known) l.initiator_closes = ended == ways[0];
  }
  std::map<uint32_t, size_t> lines;  // by n
  std::set<uint32_t> connections;
  for (const Entry& e : entries) {
    l.units.push_back(e.unit(initiator));
    const Unit& u = l.units.back();
    if (const auto [first, is_new] = lines.try_emplace(u.n, e.line()); !is_new)
      throw e.wrong(fmt::format("n is {}, as in line {}", u.n, first->second));
    connections.insert(u.connection);
    l.connections = std::max(l.connections, u.connection + 1);
  }
  for (size_t k = 0; k < entries.size(); ++k) {
    if (const uint32_t c = l.units[k].connection; c != 0 && !connections.contains(c - 1))
      throw entries[k].wrong(fmt::format("connection is {}, and no unit is of {}", c, c - 1));
  }
  load_device_keys(path, file, l);
  return l;
}

}  // namespace rnic::app
