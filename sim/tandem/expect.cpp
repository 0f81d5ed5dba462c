// Compares each output of the RTL with the oldest expected one of its kind. See expect.hpp.
#include "tandem/expect.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/bytes.hpp"

namespace rnic::sim {
namespace {

/// Index of the first byte in which two runs differ; the size of the shorter one if it begins the
/// other.
size_t first_difference(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

void Expect::writes(bool on) {
  writes_ = on;
  if (on) return;
  packets_.clear();
  words_.clear();
  completions_.clear();
  events_.clear();
  admin_.clear();
  for (Owed& o : vectors_) o.messages = 0;
}

// --- placed payload

void Expect::place(const model::Place& p) {
  Packet packet{.qpn = p.qpn, .extents = {}, .data = p.data};
  packet.extents.assign(p.extents.all().begin(), p.extents.all().end());
  packets_.push_back(std::move(packet));
}

Expect::Placed Expect::placed(const DmaWrite& w) {
  tally_.made(Kind::kPlacedBytes, w.data.size());
  if (!writes_) return {};
  if (packets_.empty()) {
    tally_.differ("RTL placed {} bytes at {:#x}; model places nothing now", w.data.size(),
                  w.address);
    return {};
  }
  Packet& p = packets_.front();
  const spec::Extent& e = p.extents[p.extent];
  const uint64_t address = e.address + p.in_extent;
  const uint32_t rest = e.length - p.in_extent;
  if (w.address != address || w.data.size() > rest) {
    tally_.differ(
        "QP {}: placed payload, byte {} of its segment: RTL wrote {} bytes at {:#x}; model places "
        "{} there at {:#x}",
        p.qpn, p.at, w.data.size(), w.address, rest, address);
    return {};
  }
  const auto model = p.data.slice(p.at, w.data.size());
  if (const size_t at = first_difference(w.data.bytes(), model.bytes()); at != w.data.size()) {
    tally_.differ(
        "QP {}: placed payload, byte {} of its segment, at {:#x}: RTL {:#04x} / model {:#04x}",
        p.qpn, p.at + at, w.address + at, w.data.bytes()[at], model.bytes()[at]);
    return {};
  }
  tally_.compared(Kind::kPlacedBytes, w.data.size());
  p.at += w.data.size();
  p.in_extent += w.data.size();
  Placed done;
  if (p.in_extent == e.length) {
    done.extent = e;
    ++p.extent;
    p.in_extent = 0;
  }
  done.is_packet = p.at == p.data.size();
  if (done.is_packet) packets_.pop_front();
  return done;
}

std::optional<std::vector<spec::Extent>> Expect::forget_place() {
  if (packets_.empty()) return std::nullopt;
  const Packet& p = packets_.front();
  std::vector<spec::Extent> rest(p.extents.begin() + static_cast<ptrdiff_t>(p.extent),
                                 p.extents.end());
  packets_.pop_front();
  return rest;
}

bool Expect::places(uint16_t qpn) const {
  return std::ranges::any_of(packets_, [qpn](const Packet& p) { return p.qpn == qpn; });
}

// --- words of unit atomic

void Expect::word_written(const DmaWrite& w) {
  tally_.made(Kind::kWords);
  if (!writes_) return;
  if (words_.empty())
    return tally_.differ("RTL stored {} bytes at {:#x} for atomic; model stores nothing now",
                         w.data.size(), w.address);
  const Word model = words_.front();
  words_.pop_front();
  if (w.data.size() != sizeof(uint64_t) || w.address != model.address)
    return tally_.differ("QP {}: word: RTL {} bytes at {:#x} / model {} at {:#x}", model.qpn,
                         w.data.size(), w.address, sizeof(uint64_t), model.address);
  const auto rtl = base::load_le<uint64_t>(w.data.bytes().data());
  if (rtl != model.value)
    return tally_.differ("QP {}: word at {:#x}: RTL {:#x} / model {:#x}", model.qpn, w.address, rtl,
                         model.value);
  tally_.compared(Kind::kWords);
}

// --- completions and events

void Expect::completion(const spec::CqWr& w, uint16_t cqn) {
  if (!writes_) return;
  Completion c{.cqn = cqn, .address = w.address};
  std::copy_n(w.data.begin(), c.bytes.size(), c.bytes.begin());
  completions_.push_back(c);
}

void Expect::event(const spec::CqWr& w, const spec::CqWr& message) {
  if (!writes_) return;
  Event e{.address = w.address, .vector = message.vector};
  std::copy_n(w.data.begin(), e.bytes.size(), e.bytes.begin());
  events_.push_back(e);
}

void Expect::cq_written(const DmaWrite& w) {
  const bool is_event = w.data.size() == spec::Eqe::kBytes;
  tally_.made(is_event ? Kind::kEvents : Kind::kCompletions);
  if (!writes_) return;
  if (is_event) {
    const auto rtl = spec::Eqe::unpack(w.data.bytes());
    if (events_.empty())
      return tally_.differ("RTL wrote an event at {:#x} ({}); model writes none now", w.address,
                           rtl.describe());
    const Event e = events_.front();
    events_.pop_front();
    const auto model = spec::Eqe::unpack(e.bytes);
    if (w.address != e.address || !std::ranges::equal(w.data.bytes(), e.bytes)) {
      return tally_.differ("event entry: RTL at {:#x} {} / model at {:#x} {}", w.address,
                           rtl.describe(), e.address, model.describe());
    }
    tally_.compared(Kind::kEvents);
    if (e.vector < vectors_.size()) {
      Owed& o = vectors_[e.vector];
      if (o.messages++ == 0) o.was_masked = o.now.masked;
    }
    return;
  }
  if (w.data.size() != spec::Cqe::kBytes)
    return tally_.differ("RTL wrote {} bytes at {:#x} for cq: neither a completion nor an event",
                         w.data.size(), w.address);
  const auto rtl = spec::Cqe::unpack(w.data.bytes());
  if (completions_.empty())
    return tally_.differ("QP {}: RTL wrote a completion at {:#x} ({}); model has none to write",
                         rtl.qpn, w.address, rtl.describe());
  const Completion c = completions_.front();
  completions_.pop_front();
  auto model = spec::Cqe::unpack(c.bytes);
  model.timestamp = rtl.timestamp;  // the model does not compute it; checked below
  if (w.address != c.address || !(rtl == model)) {
    return tally_.differ("CQ {}: completion: RTL at {:#x} {} / model at {:#x} {}", c.cqn, w.address,
                         rtl.describe(), c.address, model.describe());
  }
  if (rtl.timestamp < newest_)
    return tally_.differ("CQ {}: the timestamp of a completion runs backwards: {} after {}", c.cqn,
                         rtl.timestamp, newest_);
  newest_ = rtl.timestamp;
  tally_.compared(Kind::kCompletions);
}

// --- interrupts

void Expect::vector_changed(uint8_t vector, const Vector& v) {
  Owed& o = vectors_[vector];
  // A message in flight may still have the old address and data.
  if (o.now.address != v.address || o.now.data != v.data) o.before = o.now;
  if (v.masked && !o.now.masked) o.masked_at = tally_.cycle();
  o.now = v;
  o.was_masked = o.was_masked || v.masked;
}

/// Matches the message with a vector that has this address and data now, or had them before the
/// latest change.
void Expect::interrupted(const DmaWrite& w, uint64_t offered_at) {
  tally_.made(Kind::kInterrupts);
  if (!writes_) return;
  const uint32_t data = w.data.size() == 4 ? base::load_le<uint32_t>(w.data.bytes().data()) : 0;
  for (Owed& o : vectors_) {
    const bool now = w.address == o.now.address && data == o.now.data,
               before = w.address == o.before.address && data == o.before.data;
    if (w.data.size() != 4 || o.messages == 0 || !(now || before)) continue;
    if (o.now.masked && offered_at > o.masked_at + kMaskTakesEffect)
      return tally_.differ(
          "RTL wrote an interrupt at {:#x}, data {:#x}; its vector is masked since cycle {}",
          w.address, data, o.masked_at);
    o.messages = o.was_masked ? 0 : o.messages - 1;
    o.was_masked = o.now.masked;
    return tally_.compared(Kind::kInterrupts);
  }
  tally_.differ(
      "RTL wrote an interrupt at {:#x}, data {:#x}; no vector with that message has an event to "
      "tell",
      w.address, data);
}

// --- admin

void Expect::admin(const spec::AdminWr& w, bool is_answer) {
  if (!writes_) return;
  for (uint32_t i = 0; i < w.length; ++i)
    admin_.push_back({w.address + i, w.data[i], is_answer && i + 1 == w.length});
}

uint32_t Expect::admin_written(const DmaWrite& w) {
  tally_.made(Kind::kAdminBytes, w.data.size());
  if (!writes_) return 0;
  uint32_t answers = 0;
  for (uint32_t i = 0; i < w.data.size(); ++i) {
    if (admin_.empty()) {
      tally_.differ("admin: RTL wrote byte {:#x} ({:#04x}); model has nothing to write now",
                    w.address + i, w.data.bytes()[i]);
      return 0;
    }
    const AdminByte b = admin_.front();
    admin_.pop_front();
    if (b.address != w.address + i || b.byte != w.data.bytes()[i]) {
      std::string rtl;
      if (w.data.size() == spec::AdminRsp::kBytes)
        rtl = "; the RTL's answer: " + spec::AdminRsp::unpack(w.data.bytes()).describe();
      tally_.differ(
          "admin: byte {} of {} written at {:#x}: RTL {:#04x} at {:#x} / model {:#04x} at {:#x}{}",
          i, w.data.size(), w.address, w.data.bytes()[i], w.address + i, b.byte, b.address, rtl);
      return 0;
    }
    tally_.compared(Kind::kAdminBytes);
    answers += b.ends_answer ? 1 : 0;
  }
  return answers;
}

// --- the transport

std::optional<spec::TxFpduHdr> Expect::sent(const Record& r) {
  tally_.made(Kind::kRecords);
  tally_.made(Kind::kRecordBytes, r.data.size());
  auto& due = sent_[r.connection];
  if (due.empty()) {
    tally_.differ("connection {}: RTL sent a record of {} bytes ({}); model sends none now",
                  r.connection, r.data.size(), base::short_hex(r.data.bytes()));
    return std::nullopt;
  }
  Sent model = std::move(due.front());
  due.pop_front();
  const uint16_t qpn = model.hdr.qpn;
  const auto rtl = r.data.bytes(), want = model.data.bytes();
  const size_t at = first_difference(rtl.first(std::min(rtl.size(), want.size())),
                                     want.first(std::min(rtl.size(), want.size())));
  if (at != std::min(rtl.size(), want.size())) {
    tally_.differ("connection {}, QP {}: record, byte {} of {}: RTL {:#04x} / model {:#04x}",
                  r.connection, qpn, at, want.size(), rtl[at], want[at]);
    return std::nullopt;
  }
  if (rtl.size() != want.size()) {
    tally_.differ("connection {}, QP {}: record: RTL {} bytes / model {}", r.connection, qpn,
                  rtl.size(), want.size());
    return std::nullopt;
  }
  tally_.compared(Kind::kRecords);
  tally_.compared(Kind::kRecordBytes, want.size());
  return model.hdr;
}

void Expect::may_drop(uint16_t qpn) {
  for (auto& [connection, due] : sent_) {
    for (Sent& s : due) s.may_drop = s.may_drop || s.hdr.qpn == qpn;
  }
}

bool Expect::drops_term(uint16_t qpn) {
  for (auto& [connection, due] : sent_) {
    const auto at = std::ranges::find_if(
        due, [qpn](const Sent& s) { return s.hdr.qpn == qpn && s.hdr.is_term != 0 && s.may_drop; });
    if (at == due.end()) continue;
    due.erase(at);
    return true;
  }
  return false;
}

void Expect::begins(uint16_t connection) {
  const auto it = sent_.find(connection);
  if (it == sent_.end()) return;
  std::erase_if(it->second, [](const Sent& s) { return s.may_drop; });
  if (!it->second.empty())
    tally_.differ(
        "connection {}: its number is used again; {} records of the model's QP {} were never sent",
        connection, it->second.size(), it->second.front().hdr.qpn);
}

bool Expect::has_record(uint16_t connection) const {
  const auto it = sent_.find(connection);
  return it != sent_.end() && !it->second.empty();
}

void Expect::requested(const spec::LlpCtlReq& r) {
  tally_.made(Kind::kRequests);
  if (requests_.empty())
    return tally_.differ("connection {}: RTL asked the LLP ({}); model asks nothing now",
                         r.connection, r.describe());
  const auto model = requests_.front();
  requests_.pop_front();
  if (!(model == r))
    return tally_.differ("request to the LLP: RTL {} / model {}", r.describe(), model.describe());
  tally_.compared(Kind::kRequests);
}

void Expect::responded(uint64_t value) {
  tally_.made(Kind::kRegisters);
  if (reads_.empty())
    return tally_.differ("RTL answered a register read ({:#x}) without a request", value);
  const Read r = reads_.front();
  reads_.pop_front();
  if (r.value && *r.value != value)
    return tally_.differ("register {:#x} of BAR {}: RTL {:#x} / model {:#x}", r.offset, r.bar,
                         value, *r.value);
  tally_.compared(Kind::kRegisters);
}

std::string Expect::left(bool at_end) const {
  std::string s;
  if (!packets_.empty()) {
    const Packet& p = packets_.front();
    s += fmt::format(
        "{} packets to be placed, the oldest of QP {} at {:#x}, {} of {} bytes written\n",
        packets_.size(), p.qpn, p.extents[0].address, p.at, p.data.size());
  }
  if (!words_.empty())
    s += fmt::format("{} words of atomic to be written, the oldest of QP {} at {:#x}\n",
                     words_.size(), words_[0].qpn, words_[0].address);
  if (!completions_.empty())
    s += fmt::format("{} completions to be written, the oldest of CQ {}: {}\n", completions_.size(),
                     completions_[0].cqn, spec::Cqe::unpack(completions_[0].bytes).describe());
  if (!events_.empty())
    s += fmt::format("{} events to be written, the oldest {}\n", events_.size(),
                     spec::Eqe::unpack(events_[0].bytes).describe());
  if (!admin_.empty())
    s += fmt::format("{} bytes of admin to be written, from {:#x} on\n", admin_.size(),
                     admin_[0].address);
  for (const auto& [connection, due] : sent_) {
    const auto firm = std::ranges::count_if(due, [](const Sent& r) { return !r.may_drop; });
    if (firm != 0)
      s += fmt::format("connection {}: {} records to be sent, the oldest of QP {}, {} bytes\n",
                       connection, firm, due[0].hdr.qpn, due[0].data.size());
  }
  if (!requests_.empty())
    s += fmt::format("{} requests to the LLP, the oldest {}\n", requests_.size(),
                     requests_[0].describe());
  if (!reads_.empty())
    s += fmt::format("{} register reads to be answered, the oldest {:#x}\n", reads_.size(),
                     reads_[0].offset);
  for (size_t v = 0; v < vectors_.size(); ++v) {
    if (vectors_[v].messages != 0 && !(at_end && vectors_[v].was_masked))
      s += fmt::format("vector {}: {} interrupts to be sent\n", v, vectors_[v].messages);
  }
  return s;
}

}  // namespace rnic::sim
