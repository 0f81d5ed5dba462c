// Listings and FPDUs. See replay/listing.hpp.
#include "replay/listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/bytes.hpp"
#include "mpa/crc32c.hpp"
#include "replay/capture.hpp"
#include "settings/json_file.hpp"

namespace rnic::app {
namespace {

constexpr size_t kLength = 2, kCrc = 4, kReadRequest = 28;
constexpr uint8_t kTaggedBit = 0x80, kLastBit = 0x40;
constexpr uint32_t kMostConnections = 256;  // each is played with a port of its own

// What a listing and its units have. The last ones are for readers, and not looked at.
// Raw bytes are what they are found to be: a start-up frame, an FPDU, or neither.
const std::string kRaw = "raw";
const std::vector<std::string> kKinds = {"mpa", "fpdu", kRaw};
const std::vector<std::string> kKeys = {"units", "initiator", "ended", "name", "note", "capture"};
const std::vector<std::string> kKeysOfUnit = {"n",   "connection", "from", "kind",
                                              "hex", "decode",     "frame"};

uint32_t be32(std::span<const uint8_t> b, size_t at) { return base::load_be<uint32_t>(&b[at]); }
uint64_t be64(std::span<const uint8_t> b, size_t at) { return base::load_be<uint64_t>(&b[at]); }

/// As it stands in the FPDU's last 4 bytes: the reflected CRC, lowest byte first (RFC 5044
/// section 4.4).
uint32_t crc_of(std::span<const uint8_t> fpdu) {
  return model::crc32c(fpdu.first(fpdu.size() - kCrc));
}
uint32_t crc_in(std::span<const uint8_t> fpdu) {
  return base::load_le<uint32_t>(&fpdu[fpdu.size() - kCrc]);
}

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

bool carries_stag(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kSendInv || o == spec::RdmapOpcode::kSendSeInv;
}

/// A key that is none of these, and what to say of it.
using Unknown = std::pair<std::string, std::string>;

/// Whether a key is one of `ours` misspelt: as long, give or take one, and near it. Only keys that
/// change the play are looked for: what is missing besides is refused anyway.
bool is_misspelt(const std::string& key, const std::vector<std::string>& ours,
                 const nlohmann::json& object) {
  return std::ranges::any_of(ours, [&](const std::string& k) {
    const auto longer = static_cast<int64_t>(key.size()) - static_cast<int64_t>(k.size());
    return !object.contains(k) && std::abs(longer) <= 1 && !nearest(key, {k}).empty();
  });
}

/// The keys that are none of `known`. Throws one that is a misspelt one of `optional`, by `wrong`.
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

/// An element of the listing's units; what is wrong in it is said with its line.
class Entry {
 public:
  Entry(const std::string& path, size_t line, const nlohmann::json& json)
      : where_(fmt::format("replay: {}: line {}", path, line)), line_(line), json_(json) {
    if (!json.is_object()) throw wrong("a unit is an object");
    unknown_ = unknown_keys(json, kKeysOfUnit, {"connection"},
                            [&](const auto&, const std::string& what) { return wrong(what); });
  }
  const std::vector<Unknown>& unknown() const { return unknown_; }
  /// A remark of a reader's: nothing that passed.
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
  const JsonList file = read_json_list(
      path, "units", fmt::format("; replay wants a pcap, or a listing, {}", kWanted));
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
  Listing l;
  std::set<std::string> warned;
  const auto warn = [&](size_t line, const std::string& about, const std::string& what) {
    if (warned.insert(about).second)
      l.warnings.push_back(fmt::format("replay: {}: line {}: {}", path, line, what));
  };
  for (const auto& [key, what] : unknown_keys(j, kKeys, {"initiator", "ended"}, wrong))
    warn(file.key_lines.at(key), key, what + "; it is not looked at");
  l.name = said("name", path);
  l.note = said("note", "");
  std::vector<Entry> entries;
  for (size_t k = 0; k < j["units"].size(); ++k) {
    Entry e(path, file.lines.at(k), j["units"][k]);
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
    // A Request that the responder answers with a close: it may be named by how that ended.
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
  std::map<uint32_t, size_t> lines;  // of each n
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
  return l;
}

std::optional<Segment> parse_fpdu(std::span<const uint8_t> f) {
  if (f.size() < kLength + kCrc) return std::nullopt;
  const size_t ulpdu = base::load_be<uint16_t>(f.data());
  if ((kLength + ulpdu + 3) / 4 * 4 + kCrc != f.size() || ulpdu < 2) return std::nullopt;
  const auto b = f.subspan(kLength, ulpdu);
  Segment s;
  s.is_tagged = (b[0] & kTaggedBit) != 0;
  s.is_last = (b[0] & kLastBit) != 0;
  s.ddp = static_cast<uint8_t>(b[0] & ~kLastBit);
  s.rdmap = b[1];
  s.opcode = static_cast<spec::RdmapOpcode>(b[1] & 0x0f);
  s.crc_good = crc_of(f) == crc_in(f);
  const size_t head = s.is_tagged ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes;
  if (ulpdu < head) return std::nullopt;
  if (s.is_tagged) {
    s.stag = be32(b, 2);
    s.to = be64(b, 6);
  } else {
    s.word = be32(b, 2);
    s.qn = be32(b, 6);
    s.msn = be32(b, 10);
    s.mo = be32(b, 14);
  }
  s.payload = b.subspan(head);
  return s;
}

bool Message::add(std::span<const uint8_t> fpdu) {
  const auto s = parse_fpdu(fpdu);
  if (!s) return false;
  if (fpdus.empty()) {
    head = *s;
    head.payload = {};
    is_contiguous = s->is_tagged || s->mo == 0;
  } else {
    is_contiguous = is_contiguous && s->ddp == head.ddp && s->rdmap == head.rdmap &&
                    s->stag == head.stag && s->word == head.word && s->qn == head.qn &&
                    s->msn == head.msn &&
                    (s->is_tagged ? s->to == head.to + payload.size() : s->mo == payload.size());
  }
  crc_good = crc_good && s->crc_good;
  payload.insert(payload.end(), s->payload.begin(), s->payload.end());
  fpdus.emplace_back(fpdu.begin(), fpdu.end());
  is_whole = s->is_last;
  return true;
}

std::string Message::describe() const {
  std::string s(to_string(head.opcode));
  if (head.is_tagged) {
    s += fmt::format(" stag={:#010x} to={:#x}", head.stag, head.to);
  } else {
    s += fmt::format(" qn={} msn={}", head.qn, head.msn);
    if (carries_stag(head.opcode)) s += fmt::format(" invalidate={:#010x}", head.word);
  }
  if (const auto r = read_request_of(*this)) {
    s += fmt::format(" sink={:#010x}+{:#x} size={} source={:#010x}+{:#x}", r->sink_stag, r->sink_to,
                     r->length, r->source_stag, r->source_to);
  } else if (const auto f = flush_request_of(*this)) {
    s += fmt::format(" range={:#010x}+{:#x} size={} flags={:#x}", f->sink_stag, f->sink_to,
                     f->length, f->flags);
  } else if (head.opcode == spec::RdmapOpcode::kTerminate && payload.size() >= 4) {
    s += fmt::format(" cause={:x}/{:x}/{:02x}", payload[0] >> 4, payload[0] & 15, payload[1]);
  } else {
    s += fmt::format(" bytes={}", payload.size());
  }
  if (fpdus.size() != 1) s += fmt::format(" segments={}", fpdus.size());
  if (!crc_good) s += " crc=bad";
  return s;
}

std::vector<std::string> differences(const Message& listed, const Message& got) {
  std::vector<std::string> out;
  const auto field = [&](const char* name, uint64_t want, uint64_t have) {
    if (want != have)
      out.push_back(fmt::format("{} is {:#x}, the listing has {:#x}", name, have, want));
  };
  if (!got.is_contiguous) out.emplace_back("the segments do not join");
  if (got.crc_good != listed.crc_good)
    out.push_back(fmt::format("the CRC is {}", got.crc_good ? "good" : "bad"));
  field("the DDP control octet", listed.head.ddp, got.head.ddp);
  field("the RDMAP control octet", listed.head.rdmap, got.head.rdmap);
  if (listed.head.ddp != got.head.ddp || listed.head.rdmap != got.head.rdmap) return out;
  field("the STag", listed.head.stag, got.head.stag);
  field("the tagged offset", listed.head.to, got.head.to);
  field("the ULP's word", listed.head.word, got.head.word);
  field("the queue number", listed.head.qn, got.head.qn);
  field("the MSN", listed.head.msn, got.head.msn);
  const auto a = read_request_of(listed), b = read_request_of(got);
  const auto c = flush_request_of(listed), d = flush_request_of(got);
  if (a && b) {
    field("the sink's STag", a->sink_stag, b->sink_stag);
    field("the sink's offset", a->sink_to, b->sink_to);
    field("the read size", a->length, b->length);
    field("the source's STag", a->source_stag, b->source_stag);
    field("the source's offset", a->source_to, b->source_to);
  } else if (c && d) {
    field("the range's STag", c->sink_stag, d->sink_stag);
    field("the range's offset", c->sink_to, d->sink_to);
    field("the range's length", c->length, d->length);
    field("the Flush flags", c->flags, d->flags);
  } else if (listed.payload.size() != got.payload.size()) {
    out.push_back(fmt::format("{} bytes of payload, the listing has {}", got.payload.size(),
                              listed.payload.size()));
  } else if (const auto at =
                 std::mismatch(listed.payload.begin(), listed.payload.end(), got.payload.begin());
             at.first != listed.payload.end()) {
    out.push_back(fmt::format("payload byte {} is {:02x}, the listing has {:02x}",
                              at.first - listed.payload.begin(), *at.second, *at.first));
  }
  if (out.empty() && got.fpdus.size() == listed.fpdus.size()) {
    for (size_t i = 0; i < got.fpdus.size(); ++i) {
      // Segments may be cut elsewhere; of equal length they must be equal to the last bit of pad
      // and CRC.
      if (got.fpdus[i].size() != listed.fpdus[i].size()) break;
      if (got.fpdus[i] != listed.fpdus[i])
        out.push_back(fmt::format("segment {} differs in length, pad or CRC", i));
    }
  }
  return out;
}

std::optional<ReadRequest> read_request_of(const Message& m) {
  if (m.head.opcode != spec::RdmapOpcode::kReadRequest || m.payload.size() != kReadRequest)
    return std::nullopt;
  const std::span<const uint8_t> p(m.payload);
  return ReadRequest{be32(p, 0), be32(p, 12), be32(p, 16), be64(p, 4), be64(p, 20)};
}

std::optional<spec::FlushRequest> flush_request_of(const Message& m) {
  if (m.head.opcode != spec::RdmapOpcode::kFlushRequest ||
      m.payload.size() != spec::FlushRequest::kBytes)
    return std::nullopt;
  return spec::FlushRequest::unpack(m.payload);
}

bool is_asking(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kReadRequest || o == spec::RdmapOpcode::kFlushRequest;
}

bool is_answer(spec::RdmapOpcode o) {
  return o == spec::RdmapOpcode::kReadResponse || o == spec::RdmapOpcode::kFlushResponse;
}

Bytes remap(Bytes fpdu, const std::map<uint32_t, uint32_t>& stags, Mover from) {
  const auto s = parse_fpdu(fpdu);
  if (!s) return fpdu;
  size_t at = 0;  // of the STag that is the device's
  const bool is_read =
      s->opcode == spec::RdmapOpcode::kReadRequest && s->payload.size() == kReadRequest;
  const bool is_flush = s->opcode == spec::RdmapOpcode::kFlushRequest &&
                        s->payload.size() == spec::FlushRequest::kBytes;
  if (from == Mover::kDevice) {
    if (is_read) at = kLength + spec::kUntaggedHeaderBytes;
  } else if (is_read) {
    at = kLength + spec::kUntaggedHeaderBytes + 16;
  } else if (is_flush) {
    at = kLength + spec::kUntaggedHeaderBytes;
  } else if (s->is_tagged || carries_stag(s->opcode)) {
    at = kLength + 2;
  }
  if (at == 0) return fpdu;
  const auto found = stags.find(be32(fpdu, at));
  if (found == stags.end()) return fpdu;
  const uint32_t wrong = crc_of(fpdu) ^ crc_in(fpdu);
  base::store_be(&fpdu[at], found->second);
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu) ^ wrong);
  return fpdu;
}

Bytes with_good_crc(Bytes fpdu) {
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu));
  return fpdu;
}

bool clear_pad(Bytes& fpdu) {
  if (!parse_fpdu(fpdu)) return false;
  const auto from =
      fpdu.begin() + static_cast<std::ptrdiff_t>(kLength + base::load_be<uint16_t>(fpdu.data()));
  const auto to = fpdu.end() - static_cast<std::ptrdiff_t>(kCrc);
  if (std::all_of(from, to, [](uint8_t b) { return b == 0; })) return false;
  const uint32_t wrong = crc_of(fpdu) ^ crc_in(fpdu);
  std::fill(from, to, uint8_t{0});
  base::store_le(&fpdu[fpdu.size() - kCrc], crc_of(fpdu) ^ wrong);
  return true;
}

uint32_t fnv1a(std::span<const uint8_t> bytes) {
  uint32_t h = 0x811c9dc5;
  for (const uint8_t b : bytes) h = (h ^ b) * 0x01000193;
  return h;
}

std::string hex_of(std::span<const uint8_t> bytes) {
  std::string s;
  for (const uint8_t b : bytes) s += fmt::format("{:02x}", b);
  return s;
}

}  // namespace rnic::app
