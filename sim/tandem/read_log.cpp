// The data that the RTL has read: which use gets which read. See read_log.hpp.
#include "tandem/read_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace rnic::sim {
namespace {

size_t ring_of(Client c) { return c == Client::kRqFetch ? 1 : 0; }

std::string_view name_of(Client c) {
  switch (c) {
    case Client::kSqFetch:
      return "sq";
    case Client::kRqFetch:
      return "rq";
    case Client::kAdmin:
      return "admin";
    case Client::kPayload:
      return "payload";
    case Client::kQn1:
      return "atomic";
    case Client::kReg:
      return "registration";
    default:
      return "no reader";
  }
}

}  // namespace

void ReadLog::contradict(const std::string& what) {
  if (contradiction_.empty()) contradiction_ = what;
}

void ReadLog::reset() {
  dues_.clear();
  payload_.clear();
  admin_.clear();
  qn1_.clear();
  reg_.clear();
  ring_reads_.clear();
  for (auto& r : ring_) r.clear();
  for (auto& a : asked_) a.clear();
  open_ = {};
}

void ReadLog::read(const DmaRead& r) {
  if (open_[r.tag] != nullptr) {
    contradict(fmt::format("read of {:#x}, {} bytes: tag {} is still that of the read of {:#x}",
                           r.address, r.length, r.tag, open_[r.tag]->address));
    return;
  }
  auto& list = is_ring(r.client) ? ring_reads_ : queue(r.client);
  auto& entry = list.emplace_back();
  entry.serial = ++serial_;
  entry.client = r.client;
  entry.address = r.address;
  entry.length = r.length;
  entry.data.resize(r.length);
  entry.unused = {{0, r.length}};
  open_[r.tag] = &entry;
  if (r.client == Client::kPayload) explain(entry);
  if (!is_ring(r.client)) return;
  auto& asked = asked_[ring_of(r.client)];
  if (asked.empty() || asked.front().next != r.address ||
      r.address + r.length > asked.front().end) {
    contradict(fmt::format("{} reads {} bytes at {:#x}: no fetch asks for them next",
                           name_of(r.client), r.length, r.address));
    entry.fetch = std::make_shared<Fetch>();
    return;
  }
  Asked& a = asked.front();
  entry.fetch = a.fetch;
  a.next += r.length;
  // `open` began with 1, which the last read of the fetch takes over; each other read adds one.
  if (a.next != a.end)
    ++a.fetch->open;
  else
    asked.pop_front();
}

/// Removes [from, to) from the spans.
void ReadLog::subtract(std::vector<Span>& spans, uint32_t from, uint32_t to) {
  std::vector<Span> left;
  for (const Span& s : spans) {
    if (s.from < std::min(s.to, from)) left.push_back({s.from, std::min(s.to, from)});
    if (std::max(s.from, to) < s.to) left.push_back({std::max(s.from, to), s.to});
  }
  spans = std::move(left);
}

void ReadLog::due(uint64_t segment, uint64_t address, uint32_t length) {
  if (length != 0 && bus_master_) dues_.push_back({segment, address, {{0, length}}});
}

/// Assigns the bytes of the read to the oldest extents that still need them.
void ReadLog::explain(Read& r) {
  for (uint32_t at = 0; at < r.length;) {
    const uint64_t want = r.address + at;
    Due* found = nullptr;
    uint32_t n = r.length - at;  // length in `found`, or up to the start of an older extent
    for (Due& d : dues_) {
      for (const Span& s : d.unread) {
        const uint64_t from = d.address + s.from, to = d.address + s.to;
        if (want >= from && want < to) {
          found = &d;
          n = static_cast<uint32_t>(std::min<uint64_t>(n, to - want));
        } else if (from > want && from - want < n) {
          n = static_cast<uint32_t>(from - want);
        }
      }
      if (found != nullptr) break;
    }
    if (found == nullptr)
      return contradict(
          fmt::format("payload: {} bytes from {:#x} are read; from {:#x} on they are of no segment "
                      "that is to be sent, or have been read for it",
                      r.length, r.address, want));
    const auto from = static_cast<uint32_t>(want - found->address);
    subtract(found->unread, from, from + n);
    if (found->is_settled) {
      subtract(r.unused, at, at + n);
    } else {
      r.purposes.push_back({found->segment, {at, at + n}});
    }
    at += n;
  }
  std::erase_if(dues_, [](const Due& d) { return d.unread.empty(); });
}

void ReadLog::settle(uint64_t segment) {
  for (Read& r : payload_) {
    for (const Purpose& p : r.purposes)
      if (p.segment == segment) subtract(r.unused, p.span.from, p.span.to);
    std::erase_if(r.purposes, [&](const Purpose& p) { return p.segment == segment; });
  }
  payload_.remove_if([](const Read& r) { return r.done && r.unused.empty(); });
  for (Due& d : dues_)
    if (d.segment == segment) d.is_settled = true;
  // Reads of a recently failed segment may still come; those of older segments do not.
  while (dues_.size() > kSettledKept && dues_.front().is_settled) dues_.pop_front();
}

void ReadLog::fetch(Client client, uint64_t address, uint32_t length) {
  if (bus_master_)
    asked_[ring_of(client)].push_back({address, address + length, std::make_shared<Fetch>()});
}

void ReadLog::pcie(const spec::PcieCfg& cfg) {
  bus_master_ = cfg.bus_master != 0;
  if (bus_master_) return;
  for (Due& d : dues_) d.is_settled = true;
  for (auto& asked : asked_) {  // reads that were not sent will not be sent
    for (const Asked& a : asked) {
      --a.fetch->open;
      a.fetch->status = spec::RdStatus::kUnsupported;
    }
    asked.clear();
  }
}

void ReadLog::piece(const DmaPiece& p) {
  Read* r = open_[p.tag];
  if (r == nullptr)
    return contradict(fmt::format("an answer with tag {}, which no read has", p.tag));
  const auto bytes = p.data.bytes();
  if (p.status != spec::RdStatus::kOk) {
    r->status = p.status;
  } else if (r->got + bytes.size() > r->length ||
             (p.is_last && r->got + bytes.size() != r->length)) {
    contradict(fmt::format("the read of {:#x} asked for {} bytes, {} have come", r->address,
                           r->length, r->got + bytes.size()));
    r->status = spec::RdStatus::kAborted;
  } else {
    std::copy(bytes.begin(), bytes.end(), r->data.begin() + r->got);
    r->got += static_cast<uint32_t>(bytes.size());
  }
  if (!p.is_last && r->status == spec::RdStatus::kOk) return;
  r->done = true;
  open_[p.tag] = nullptr;
  if (!is_ring(r->client)) return;
  --r->fetch->open;
  if (r->fetch->status == spec::RdStatus::kOk) r->fetch->status = r->status;
  into_units(*r);
  ring_reads_.remove_if([r](const Read& other) { return &other == r; });
}

/// The newest read of a unit is the one requested last, even if its completion came first.
void ReadLog::into_units(const Read& r) {
  auto& ring = ring_[ring_of(r.client)];
  for (uint32_t i = 0; i < r.length; ++i) {
    const uint64_t at = r.address + i;
    Unit& u = ring[at / kUnit];
    const uint64_t bit = uint64_t{1} << (at % kUnit);
    if (u.serial > r.serial) continue;
    // A used or failed unit is replaced. An unused one must be read with the same bytes again.
    if (u.serial != r.serial && (u.used || u.bad())) u = Unit{};
    u.serial = r.serial;
    if (r.status == spec::RdStatus::kOk && (u.valid & bit) != 0 && u.data[at % kUnit] != r.data[i])
      contradict(fmt::format("{} read byte {:#x} twice before it used it: {:#04x}, then {:#04x}",
                             name_of(r.client), at, u.data[at % kUnit], r.data[i]));
    u.fetch = r.fetch;
    u.valid |= bit;
    u.data[at % kUnit] = r.data[i];
  }
}

void ReadLog::forget(Client client, uint64_t address, uint64_t length) {
  auto& ring = ring_[ring_of(client)];
  ring.erase(ring.lower_bound(address / kUnit),
             ring.lower_bound((address + length + kUnit - 1) / kUnit));
}

ReadLog::Taken ReadLog::find_unit(Client client, uint64_t address, uint32_t length) const {
  const auto& ring = ring_[ring_of(client)];
  Taken out{.state = State::kDone};
  Payload data = Payload::make(length);
  for (uint32_t i = 0; i < length; ++i) {
    const uint64_t at = address + i;
    const auto u = ring.find(at / kUnit);
    if (u == ring.end() || (u->second.valid >> (at % kUnit) & 1) == 0) {
      const bool asked = std::any_of(ring_reads_.begin(), ring_reads_.end(), [&](const Read& r) {
        return r.client == client && at >= r.address && at - r.address < r.length;
      });
      if (!asked && !bus_master_)
        return {
            .state = State::kDone, .status = spec::RdStatus::kUnsupported, .data = {}, .why = {}};
      return {.state = asked ? State::kWaiting : State::kNever,
              .status = spec::RdStatus::kOk,
              .data = {},
              .why = near(client, at, length - i)};
    }
    const Fetch& fetch = *u->second.fetch;
    if (fetch.open != 0)
      return {.state = State::kWaiting,
              .status = spec::RdStatus::kOk,
              .data = {},
              .why = near(client, at, length - i)};
    if (out.status == spec::RdStatus::kOk) out.status = fetch.status;
    data.writable()[i] = u->second.data[at % kUnit];
  }
  if (out.status == spec::RdStatus::kOk) out.data = std::move(data);
  return out;
}

/// Finds the reads that serve a range: for each byte the oldest read in which it is unused. A
/// failed read serves its bytes too.
ReadLog::Taken ReadLog::find(Client client, uint64_t address, uint32_t length,
                             std::vector<Part>* parts) const {
  Taken out{.state = State::kDone};
  Payload data = Payload::make(length);
  bool waiting = false;
  for (uint32_t at = 0; at < length;) {
    const uint64_t want = address + at;
    const Read* found = nullptr;
    uint32_t n = length - at;  // length in `found`, or up to the start of an older read
    for (const Read& r : queue(client)) {
      for (const Span& s : r.unused) {
        const uint64_t from = r.address + s.from, to = r.address + s.to;
        if (want >= from && want < to) {
          found = &r;
          n = static_cast<uint32_t>(std::min<uint64_t>(n, to - want));
        } else if (from > want && from - want < n) {
          n = static_cast<uint32_t>(from - want);
        }
      }
      if (found != nullptr) break;
    }
    if (found == nullptr) {
      if (out.status != spec::RdStatus::kOk) break;  // after a failure no more reads are needed
      if (!bus_master_)
        return {
            .state = State::kDone, .status = spec::RdStatus::kUnsupported, .data = {}, .why = {}};
      return {.state = State::kNever,
              .status = spec::RdStatus::kOk,
              .data = {},
              .why = near(client, want, length - at)};
    }
    if (!found->done) {
      waiting = true;
      if (out.why.empty()) out.why = near(client, want, n);
    } else if (found->status != spec::RdStatus::kOk) {
      if (out.status == spec::RdStatus::kOk) out.status = found->status;
    } else {
      std::memcpy(data.writable().data() + at, found->data.data() + (want - found->address), n);
    }
    if (parts != nullptr) parts->push_back({const_cast<Read*>(found), want, n});
    at += n;
  }
  if (waiting) {
    out.state = State::kWaiting;
  } else if (out.status == spec::RdStatus::kOk) {
    out.data = std::move(data);
  }
  return out;
}

ReadLog::Taken ReadLog::peek(Client client, uint64_t address, uint32_t length) const {
  if (length == 0)
    return {.state = State::kDone, .status = spec::RdStatus::kOk, .data = {}, .why = {}};
  return is_ring(client) ? find_unit(client, address, length)
                         : find(client, address, length, nullptr);
}

ReadLog::Taken ReadLog::take(Client client, uint64_t address, uint32_t length) {
  if (length == 0)
    return {.state = State::kDone, .status = spec::RdStatus::kOk, .data = {}, .why = {}};
  std::vector<Part> parts;
  Taken out =
      is_ring(client) ? find_unit(client, address, length) : find(client, address, length, &parts);
  if (out.state != State::kDone) return out;
  taken_[static_cast<size_t>(client)] += length;
  if (is_ring(client)) {
    auto& ring = ring_[ring_of(client)];
    for (uint64_t u = address / kUnit; u <= (address + length - 1) / kUnit; ++u)
      if (const auto it = ring.find(u); it != ring.end()) it->second.used = true;
    return out;
  }
  for (const Part& part : parts) {
    const auto from = static_cast<uint32_t>(part.address - part.read->address),
               to = from + part.length;
    subtract(part.read->unused, from, to);
  }
  queue(client).remove_if([](const Read& r) { return r.done && r.unused.empty(); });
  return out;
}

/// Describes the reads that overlap a range, for a message.
std::string ReadLog::near(Client client, uint64_t address, uint32_t length) const {
  std::string s = fmt::format("{} bytes from {:#x}", length, address);
  const auto say = [&](const Read& r) {
    if (r.client != client || r.address >= address + length || address >= r.address + r.length)
      return;
    s += fmt::format("; {} read {} bytes from {:#x}, {}", name_of(client), r.length, r.address,
                     !r.done            ? "not answered yet"
                     : r.unused.empty() ? "used"
                                        : "partly used");
  };
  for (const Read& r : is_ring(client) ? ring_reads_ : queue(client)) say(r);
  return s;
}

std::string ReadLog::for_nothing() const {
  std::string s;
  for (const auto* list : {&payload_, &admin_, &qn1_, &reg_}) {
    for (const Read& r : *list) {
      if (!r.done) continue;
      for (const Span& u : r.unused)
        s += fmt::format("{}: {} bytes from {:#x} were read for nothing\n", name_of(r.client),
                         u.to - u.from, r.address + u.from);
    }
  }
  return s;
}

std::string ReadLog::left_over() const {
  std::string s = for_nothing();
  for (const auto* list : {&payload_, &admin_, &qn1_, &reg_, &ring_reads_}) {
    for (const Read& r : *list) {
      if (!r.done)
        s += fmt::format("{}: the read of {} bytes from {:#x} is not answered\n", name_of(r.client),
                         r.length, r.address);
    }
  }
  return s + unread();
}

std::string ReadLog::unread() const {
  std::string s;
  for (const auto& asked : asked_) {
    for (const Asked& a : asked)
      s += fmt::format("a fetch up to {:#x}: no read from {:#x} on\n", a.end, a.next);
  }
  return s;
}

}  // namespace rnic::sim
