// Turns the units of one connection into steps: our messages, and those of the peer. See
// replay/make_plan.hpp.
#include "replay/make_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/bytes.hpp"
#include "replay/plan_memory.hpp"
#include "rnic/mpa_extension.hpp"
#include "settings/errors.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

using spec::RdmapOpcode;

constexpr uint8_t kCrcBit = 0x40, kRejectBit = 0x20;  // of byte 16 of an MPA start frame
constexpr size_t kStart = 20, kIrdOrd = 4;  // bytes of an MPA frame's header, of IRD and ORD

/// Takes the parameters of our Request or Reply. Flags in byte 16: 0x80 markers, 0x40 CRC, 0x10 IRD
/// and ORD follow (RFC 6581), 14 bits each. Byte 17 is the revision.
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

}  // namespace

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
      throw Usage(
          fmt::format("{} is an {}: only Sends, Writes, Immediate Data, Reads and Flushes "
                      "are replayed; leave it out",
                      place_of(l, s), to_string(opcode)));
  }
}

/// The reason why the driver has no work request for a message of ours; empty if it has one.
std::string why_not_posted(const Message& m) {
  switch (m.head.opcode) {
    case RdmapOpcode::kRdmaWrite:
    case RdmapOpcode::kSend:
    case RdmapOpcode::kSendInv:
    case RdmapOpcode::kSendSe:
    case RdmapOpcode::kSendSeInv:
      return {};
    case RdmapOpcode::kReadRequest:
      return read_request_of(m) ? "" : fmt::format("it has {} bytes, not 28", m.payload.size());
    case RdmapOpcode::kFlushRequest: {
      const auto f = flush_request_of(m);
      if (!f)
        return fmt::format("it has {} bytes, not {}", m.payload.size(), spec::FlushRequest::kBytes);
      const bool is_known = (f->flags & ~(spec::kFlushPersistent | spec::kFlushVisible)) == 0;
      return is_known ? "" : fmt::format("its flags are {:#x}", f->flags);
    }
    case RdmapOpcode::kImmediate:
    case RdmapOpcode::kImmediateSe:
      return immediate_of(m) ? "" : fmt::format("it has {} bytes, not 8", m.payload.size());
    default:
      return "the driver has no work request for it";
  }
}

/// Throws Usage for a message of ours that the driver cannot post.
void refuse_unposted(const Listing& l, const Plan& p) {
  for (const Step& s : p.steps) {
    if (!s.ours || !s.is_request()) continue;
    const std::string why = why_not_posted(s.message);
    if (why.empty()) continue;
    throw Usage(
        fmt::format("{}: this {} of ours cannot be posted: {}; leave it out, or let our "
                    "device be {} (--side)",
                    place_of(l, s), to_string(s.message.head.opcode), why, p.peer_name));
  }
}

/// A listing may end while the connection is still up. Our last message, if incomplete, is left
/// out, since its rest is unknown. Counts the peer's requests that the listing leaves without our
/// response (answers_beyond), and the responses to ours that it has (reads_answered).
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
/// The receives that the listing has; else one for each Send, posted before start-up.
void post_receives(const Listing& l, Plan& p, const std::map<uint32_t, size_t>& steps_upto) {
  constexpr size_t kStartUp = 2;  // steps: Request and Reply
  if (!l.receives) {
    // Immediate Data needs no buffer. Its receive has one, which must stay unchanged.
    for (const Arrival& a : p.receives)
      p.posts.push_back({a.immediate ? sizeof *a.immediate : a.payload.size(), 0});
    return;
  }
  for (const ListedReceive& r : *l.receives) {
    if (r.connection != p.connection) continue;
    // Our program can post a receive after the start-up frames only when start-up has ended.
    size_t step = 0;
    if (r.after) step = std::min(std::max(steps_upto.at(*r.after), kStartUp), p.steps.size());
    p.posts.push_back({r.length, step});
  }
  std::ranges::stable_sort(p.posts, {}, &Receive::step);
}

/// The receives that the peer's messages take. Immediate Data completes with the length of the
/// peer's last Write since its last Send or Immediate Data, or 0 (verbs::Wc::byte_len).
void find_arrivals(Plan& p) {
  uint64_t written = 0;
  for (const Step& s : p.steps) {
    if (s.is_mpa || s.is_raw || s.ours) continue;
    const Message& m = s.message;
    if (m.head.opcode == RdmapOpcode::kRdmaWrite) written = m.payload.size();
    if (!is_send(m)) continue;
    Arrival& a = p.receives.emplace_back();
    if (is_immediate(m.head.opcode)) {
      a.immediate = immediate_of(m).value_or(0);
      a.length = written;
    } else {
      a.payload = m.payload;
      a.length = m.payload.size();
      a.gone = carries_stag(m.head.opcode) ? m.head.word : 0;
    }
    written = 0;
  }
}
}  // namespace

Plan make_plan(const Listing& l, Endpoint side, uint32_t connection) {
  Plan p;
  p.connection = connection;
  p.side = side;
  const bool active = side == Endpoint::kInitiator;
  p.our_name = l.names[active ? 0 : 1];
  p.peer_name = l.names[active ? 1 : 0];
  // We close if the listing does not say who does.
  p.we_close = l.initiator_closes.value_or(active) == active;
  if (l.initiator_closes) p.we_close_said = *l.initiator_closes == active;
  // By number of a unit: how many steps hold this unit and those before it.
  std::map<uint32_t, size_t> steps_upto;
  for (const Unit& u : l.units) {
    if (u.connection != connection) continue;
    const bool ours = u.from_initiator == active;
    if (u.is_raw && ours) {
      p.left_out.push_back(
          fmt::format("unit {}: raw bytes that our device cannot be made to send", u.n));
      steps_upto[u.n] = p.steps.size();
      continue;
    }
    // goes_on: this FPDU continues the message of the last step, which is not whole yet.
    const bool goes_on = !u.is_mpa && !u.is_raw && !p.steps.empty() && !p.steps.back().is_mpa &&
                         !p.steps.back().is_raw && p.steps.back().ours == ours &&
                         !p.steps.back().message.is_whole;
    if (!goes_on) {
      Step s;
      s.unit = u.n;
      s.line = u.line;
      s.ours = ours;
      s.is_mpa = u.is_mpa;
      s.is_raw = u.is_raw;
      if (u.is_mpa || u.is_raw) s.mpa = u.bytes;
      p.steps.push_back(std::move(s));
    }
    steps_upto[u.n] = p.steps.size();
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
  refuse_unposted(l, p);
  if (!l.expect.empty()) p.expect = l.expect.at(connection);
  find_arrivals(p);
  post_receives(l, p, steps_upto);
  plan_memory(l, p);
  return p;
}

}  // namespace rnic::app
