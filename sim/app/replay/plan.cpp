// Makes a plan from a listing. See replay/plan.hpp.
#include "replay/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>

#include "base/bytes.hpp"
#include "rnic/mpa_extension.hpp"
#include "settings/errors.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

using spec::RdmapOpcode;

constexpr uint64_t kLargestRegion = uint64_t{16} << 20;
constexpr uint8_t kCrcBit = 0x40, kRejectBit = 0x20;
// Bytes: of an MPA frame's header, of its IRD and ORD words, of an entry of siw's private data.
constexpr size_t kStart = 20, kIrdOrd = 4, kAdvertised = 16;

struct Access {
  uint32_t stag;
  uint64_t to, length;
  uint32_t flush_flags = 0;
  bool is_flush = false;
};

bool is_send(const Message& m) { return !m.head.is_tagged && m.head.qn == spec::kQnSend; }

void start_of(Plan& p, const Unit& u) {
  const Bytes& f = u.bytes;
  if (f.size() < kStart)
    throw Usage(fmt::format("replay: unit {}: {} bytes; an MPA frame has at least {}", u.n,
                            f.size(), kStart));
  p.markers = (f[16] & 0x80) != 0;
  p.crc = (f[16] & 0x40) != 0;
  const bool enhanced = (f[16] & 0x10) != 0;
  p.revision = f[17];
  size_t at = kStart;
  if (enhanced && f.size() >= kStart + kIrdOrd) {
    p.ird = base::load_be<uint16_t>(&f[kStart]) & 0x3fff;
    p.ord = base::load_be<uint16_t>(&f[kStart + 2]) & 0x3fff;
    at += kIrdOrd;
  }
  const auto kind =
      p.side == Endpoint::kInitiator ? verbs::StartKind::kRequest : verbs::StartKind::kReply;
  const auto extension = verbs::read_extension(std::span(f).subspan(at), kind);
  p.flush = extension && extension->flush;
  if (p.flush) at += verbs::kExtensionBytes;
  p.private_data.assign(f.begin() + static_cast<std::ptrdiff_t>(at), f.end());
}

/// The program on siw's side advertises its regions, fills them with 7 i + 31 k, and prints their
/// checksums at the end.
void regions_of_note(const Listing& l, Plan& p) {
  std::map<unsigned, uint32_t> sums;
  for (size_t at = l.note.find("; MR "); at != std::string::npos;
       at = l.note.find("; MR ", at + 1)) {
    unsigned k = 0, sum = 0;
    if (std::sscanf(l.note.c_str() + at, "; MR %u sum %x", &k, &sum) == 2) sums[k] = sum;
  }
  if (p.our_name != "siw" || sums.empty() || p.private_data.size() != sums.size() * kAdvertised)
    return;
  for (const auto& [k, sum] : sums) {
    if (k >= sums.size())
      throw Usage(fmt::format("replay: the note tells of region {} of {}", k, sums.size()));
    const uint8_t* e = &p.private_data[k * kAdvertised];
    const uint32_t length = base::load_be<uint32_t>(e + 12);
    if (length > kLargestRegion)
      throw Usage(fmt::format("replay: region {} has {} bytes", k, length));
    Region r;
    r.base = base::load_be<uint64_t>(e);
    r.stag = base::load_be<uint32_t>(e + 8);
    r.noted = sum;
    for (uint32_t i = 0; i < length; ++i) r.before.push_back(static_cast<uint8_t>(7 * i + 31 * k));
    p.regions.push_back(std::move(r));
  }
}

std::vector<Access> accesses(const Plan& p) {
  std::vector<Access> out;
  for (const Step& s : p.steps) {
    if (s.is_mpa || s.is_raw) continue;
    const auto read = read_request_of(s.message);
    if (read && s.ours) out.push_back({read->sink_stag, read->sink_to, read->length});
    if (read && !s.ours) out.push_back({read->source_stag, read->source_to, read->length});
    if (const auto flush = flush_request_of(s.message); flush && !s.ours)
      out.push_back({flush->sink_stag, flush->sink_to, flush->length, flush->flags, true});
    if (s.message.head.is_tagged && !s.ours)
      out.push_back({s.message.head.stag, s.message.head.to, s.message.payload.size()});
  }
  // An empty access needs no region, and its STag may be invalid. The STag of an empty Flush is
  // checked.
  std::erase_if(out, [](const Access& a) { return a.length == 0 && !a.is_flush; });
  return out;
}

Region* find(Plan& p, uint32_t stag) {
  const auto r = std::find_if(p.regions.begin(), p.regions.end(),
                              [&](const Region& x) { return x.stag == stag; });
  return r == p.regions.end() ? nullptr : &*r;
}

/// Makes a region for each STag that is used but not advertised, as large as its uses.
void regions_of_use(Plan& p) {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> spans;
  for (const Access& a : accesses(p)) {
    if (find(p, a.stag) != nullptr) continue;
    const auto [s, is_new] = spans.try_emplace(a.stag, a.to, a.to + a.length);
    if (!is_new)
      s->second = {std::min(s->second.first, a.to), std::max(s->second.second, a.to + a.length)};
  }
  for (const auto& [stag, span] : spans) {
    if (span.second - span.first > kLargestRegion)
      throw Usage(
          fmt::format("replay: STag {:#x} is used over {} bytes", stag, span.second - span.first));
    Region r;
    r.stag = stag;
    r.base = span.first;
    r.before.resize(std::max<uint64_t>(span.second - span.first, 1));
    p.regions.push_back(std::move(r));
  }
  for (const Access& a : accesses(p)) {
    if (Region* r = find(p, a.stag); r != nullptr) r->flush_flags |= a.flush_flags;
  }
}

/// Marks the regions whose STag a Send of the peer invalidates. A STag without a use gets a region of
/// one byte. If our side of the listing ends with a Terminate, the recorded device may have refused
/// one: then no region is made or marked, and our device refuses each.
void regions_of_invalidation(Plan& p) {
  const auto is_message = [](const Step& s) { return !s.is_mpa && !s.is_raw; };
  if (std::ranges::any_of(p.steps, [&](const Step& s) {
        return is_message(s) && s.ours && s.message.head.opcode == RdmapOpcode::kTerminate;
      }))
    return;
  for (const Step& s : p.steps) {
    if (!is_message(s) || s.ours || !carries_stag(s.message.head.opcode)) continue;
    const uint32_t stag = s.message.head.word;
    if (find(p, stag) == nullptr) {
      Region r;
      r.stag = stag;
      r.before.resize(1);
      p.regions.push_back(std::move(r));
    }
    find(p, stag)->is_invalidated = true;
  }
}

/// Walks through the messages. Computes the final content of the regions, and the bytes that the
/// application must have stored before each Read Request: bytes of the response that no message
/// brought.
void follow_memory(Plan& p) {
  for (Region& r : p.regions) r.after = r.before;
  std::deque<const Message*> answers;
  for (const Step& s : p.steps) {
    if (!s.is_mpa && !s.is_raw && s.ours && s.message.head.opcode == RdmapOpcode::kReadResponse)
      answers.push_back(&s.message);
  }
  for (Step& s : p.steps) {
    if (s.is_mpa || s.is_raw || s.ours) continue;
    const Message& m = s.message;
    Region* r = nullptr;
    if (const auto read = read_request_of(m)) {
      if (answers.empty()) continue;
      const Message& answer = *answers.front();
      answers.pop_front();
      r = find(p, read->source_stag);
      if (r == nullptr || read->length == 0 || answer.payload.size() != read->length) continue;
      const uint64_t at = read->source_to - r->base;
      if (read->source_to < r->base || at + read->length > r->after.size())
        continue;  // an invalid Read
      const auto held = r->after.begin() + static_cast<std::ptrdiff_t>(at);
      // The program with checksums in the note stores nothing; a difference there is an error.
      if (r->noted || std::equal(answer.payload.begin(), answer.payload.end(), held)) continue;
      std::copy(answer.payload.begin(), answer.payload.end(), held);
      s.pokes.push_back({static_cast<size_t>(r - p.regions.data()), at, answer.payload});
    } else if (m.head.is_tagged && !m.payload.empty()) {
      r = find(p, m.head.stag);
      const uint64_t at = m.head.to - r->base;
      if (m.head.to < r->base || at + m.payload.size() > r->after.size() || !m.crc_good) continue;
      std::copy(m.payload.begin(), m.payload.end(),
                r->after.begin() + static_cast<std::ptrdiff_t>(at));
      r->writes.push_back({at, m.payload});
    }
  }
}

}  // namespace

bool Step::is_request() const {
  return !is_mpa && !is_raw && !is_answer(message.head.opcode) &&
         message.head.opcode != RdmapOpcode::kTerminate;
}

Endpoint side_of(const Listing& l, const std::string& name) {
  if (name == "initiator" || name == l.names[0]) return Endpoint::kInitiator;
  if (name == "responder" || name == l.names[1]) return Endpoint::kResponder;
  if (name.empty()) return l.names[0] == "siw" ? Endpoint::kInitiator : Endpoint::kResponder;
  throw Usage(fmt::format(
      "replay: --side \"{}\": no such endpoint; there are initiator ({}) and responder ({}){}",
      name, l.names[0], l.names[1],
      nearest(name, {"initiator", "responder", l.names[0], l.names[1]})));
}

namespace {
constexpr std::ptrdiff_t kCrcBytes = 4;

/// Throws Usage for an atomic or Atomic Write on a stream that has agreed on the extensions.
void refuse_words(const Listing& l, const Plan& p) {
  constexpr uint8_t kOpcode = 0x1f;  // 5 bits with the extensions
  for (const Step& s : p.steps) {
    if (!p.flush || s.is_mpa || s.is_raw) continue;
    const auto opcode = static_cast<RdmapOpcode>(s.message.head.rdmap & kOpcode);
    if (opcode == RdmapOpcode::kAtomicRequest || opcode == RdmapOpcode::kAtomicResponse ||
        opcode == RdmapOpcode::kAtomicWriteRequest || opcode == RdmapOpcode::kAtomicWriteResponse)
      throw Usage(fmt::format(
          "replay: {}: unit {} is an {}: only Sends, Writes, Reads and Flushes are replayed",
          l.name, s.unit, to_string(opcode)));
  }
}

/// A listing may end while the connection is still up. Our last message, if incomplete, is left
/// out, since its rest is unknown. Requests without a response are counted.
void open_end(Plan& p) {
  if (const Step& last = p.steps.back();
      last.ours && !last.is_mpa && !last.is_raw && !last.message.is_whole) {
    p.left_out.push_back(
        fmt::format("unit {}: the listing ends within this message of ours", last.unit));
    p.steps.pop_back();
  }
  size_t asked = 0, answered = 0;
  for (const Step& s : p.steps) {
    if (s.is_mpa || s.is_raw) continue;
    const RdmapOpcode o = s.message.head.opcode;
    if (s.ours && is_answer(o)) ++answered;
    if (!s.ours && is_asking(o)) ++asked;
    if (!s.ours && is_answer(o) && s.message.is_whole) ++p.reads_answered;
  }
  p.answers_beyond = asked > answered ? asked - answered : 0;
}
}  // namespace

bool Plan::is_open_ended() const {
  size_t reads = 0;
  for (const Step& s : steps)
    reads += s.ours && !s.is_mpa && is_asking(s.message.head.opcode) ? 1 : 0;
  return reads > reads_answered || answers_beyond != 0 || whole_receives != receives.size();
}

Plan make_plan(const Listing& l, Endpoint side, uint32_t connection) {
  Plan p;
  p.connection = connection;
  p.side = side;
  const bool active = side == Endpoint::kInitiator;
  p.our_name = l.names[active ? 0 : 1];
  p.peer_name = l.names[active ? 1 : 0];
  p.we_close = l.initiator_closes.value_or(active) == active;
  if (l.initiator_closes) p.we_close_said = *l.initiator_closes == active;
  for (const Unit& u : l.units) {
    if (u.connection != connection) continue;
    const bool ours = u.from_initiator == active;
    if (u.is_raw && ours) {
      p.left_out.push_back(
          fmt::format("unit {}: raw bytes that our device cannot be made to send", u.n));
      continue;
    }
    const bool goes_on = !u.is_mpa && !u.is_raw && !p.steps.empty() && !p.steps.back().is_mpa &&
                         !p.steps.back().is_raw && p.steps.back().ours == ours &&
                         !p.steps.back().message.is_whole;
    if (!goes_on) {
      Step s;
      s.unit = u.n;
      s.ours = ours;
      s.is_mpa = u.is_mpa;
      s.is_raw = u.is_raw;
      if (u.is_mpa || u.is_raw) s.mpa = u.bytes;
      p.steps.push_back(std::move(s));
    }
    if (u.is_mpa && ours) start_of(p, u);
    if (u.is_mpa && p.steps.size() <= 2 && u.bytes.size() >= kStart) {
      p.uses_crc = p.uses_crc || (u.bytes[16] & kCrcBit) != 0;
      p.is_rejected = p.steps.size() == 2 && (u.bytes[16] & kRejectBit) != 0;
    }
    if (u.is_mpa || u.is_raw) continue;
    Bytes fpdu = u.bytes;
    if (ours && clear_pad(fpdu)) p.steps.back().pad_cleared = true;
    // The CRC field of a sender without CRCs is ignored; ours is 0.
    if (!p.uses_crc && ours) std::fill(fpdu.end() - kCrcBytes, fpdu.end(), uint8_t{0});
    p.steps.back().message.add(fpdu);
    if (!p.uses_crc) p.steps.back().message.crc_good = true;
  }
  p.is_refused = p.steps.size() == 1 && p.steps[0].is_mpa && p.steps[0].ours == active;
  if (!p.is_refused && (p.steps.size() < 2 || !p.steps[0].is_mpa || !p.steps[1].is_mpa ||
                        p.steps[0].ours == p.steps[1].ours)) {
    throw Usage(fmt::format("replay: {}: connection {} does not begin with Request and Reply",
                            l.name, connection));
  }
  refuse_words(l, p);
  open_end(p);
  regions_of_note(l, p);
  regions_of_use(p);
  regions_of_invalidation(p);
  follow_memory(p);
  for (const Step& s : p.steps) {
    if (s.is_mpa || s.is_raw || s.ours || !is_send(s.message)) continue;
    p.receives.push_back(s.message.payload);
    p.gone.push_back(carries_stag(s.message.head.opcode) ? s.message.head.word : 0);
    p.whole_receives += s.message.is_whole ? 1 : 0;
  }
  return p;
}

}  // namespace rnic::app
