// Regions of a plan, and the listing's writes to them. See replay/plan_memory.hpp.
#include "replay/plan_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>

#include "base/bytes.hpp"
#include "rnic/verbs_types.hpp"
#include "settings/errors.hpp"

namespace rnic::app {
namespace {

using spec::RdmapOpcode;

constexpr size_t kAdvertised = 16;  // bytes of an entry of siw's private data
constexpr uint32_t kBoth = verbs::IBV_ACCESS_REMOTE_WRITE | verbs::IBV_ACCESS_REMOTE_READ;

/// An access of a message to a region of our device.
struct Access {
  uint32_t stag;
  uint64_t to, length;
  uint32_t flush_flags = 0;
  bool is_flush = false;
};

/// Regions of a listing whose endpoint "siw" (Linux Soft-iWARP) is our side. The recorded program
/// advertises its regions in its private data, fills byte i of region k with 7 i + 31 k, and prints
/// checksums at the end, which the listing's note has.
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
      throw Usage(fmt::format("replay: the note names region {} of {}", k, sums.size()));
    const uint8_t* e = &p.private_data[k * kAdvertised];  // address (8 bytes), STag (4), length (4)
    const uint32_t length = base::load_be<uint32_t>(e + 12);
    if (length > kLargestRegion)
      throw Usage(fmt::format("replay: region {} has {} bytes", k, length));
    Region r;
    r.base = base::load_be<uint64_t>(e);
    r.stag = base::load_be<uint32_t>(e + 8);
    r.access = kBoth;
    r.noted = sum;
    for (uint32_t i = 0; i < length; ++i) r.before.push_back(static_cast<uint8_t>(7 * i + 31 * k));
    p.regions.push_back(std::move(r));
  }
}

/// The accesses to our regions by messages of either side.
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

/// The access rights that a Flush with these flags needs.
uint32_t rights_of(uint32_t flush_flags) {
  return ((flush_flags & spec::kFlushVisible) != 0 ? verbs::IBV_ACCESS_FLUSH_GLOBAL : 0u) |
         ((flush_flags & spec::kFlushPersistent) != 0 ? verbs::IBV_ACCESS_FLUSH_PERSISTENT : 0u);
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
    r.access = kBoth;
    r.before.resize(std::max<uint64_t>(span.second - span.first, 1));
    p.regions.push_back(std::move(r));
  }
  for (const Access& a : accesses(p)) {
    if (Region* r = find(p, a.stag); r != nullptr) r->access |= rights_of(a.flush_flags);
  }
}

/// Marks the regions whose STag a Send of the peer invalidates. An STag without a use gets a region
/// of one byte. If our side of the listing ends with a Terminate, the recorded device may have
/// refused an invalidation: then no region is made or marked, and our device refuses each.
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
      r.access = kBoth;
      r.before.resize(1);
      p.regions.push_back(std::move(r));
    }
    find(p, stag)->access |= verbs::RNIC_ACCESS_REMOTE_INVALIDATE;
    find(p, stag)->bound = Region::Bound::kToOurQp;
  }
}

/// The regions of the key `memory`. A region that regions_of_note() has found, too, keeps the
/// content and the checksum from there.
void regions_of_listing(const Listing& l, Plan& p) {
  const std::vector<Region> advertised = std::move(p.regions);
  p.regions.clear();
  for (const ListedRegion& m : *l.memory) {
    Region r;
    r.stag = m.stag;
    r.base = m.base;
    r.access = m.access;
    r.domain = m.domain;
    if (m.connection)
      r.bound = *m.connection == p.connection ? Region::Bound::kToOurQp : Region::Bound::kToAnother;
    const auto a = std::ranges::find(advertised, m.stag, &Region::stag);
    if (a != advertised.end() && a->base == m.base && a->before.size() == m.length) {
      r.before = a->before;
      r.noted = a->noted;
    }
    r.before.resize(m.length);
    p.regions.push_back(std::move(r));
  }
}

/// True if our QP may use the region: it has the QP's domain, and is not bound to another QP.
bool is_ours(const Region& r) { return r.domain == 0 && r.bound != Region::Bound::kToAnother; }

bool is_within(const Region& r, uint64_t to, uint64_t length) {
  return to >= r.base && to - r.base <= r.before.size() &&
         length <= r.before.size() - (to - r.base);
}

/// Our device cannot send a Read Request whose sink its own program may not use.
void refuse_sinks(const Listing& l, Plan& p) {
  for (const Step& s : p.steps) {
    const auto read = s.is_mpa || s.is_raw || !s.ours ? std::nullopt : read_request_of(s.message);
    if (!read || read->length == 0) continue;
    const Region* r = find(p, read->sink_stag);
    if (r == nullptr || !is_ours(*r) || !is_within(*r, read->sink_to, read->length))
      throw Usage(
          fmt::format("{}: our Read Request stores {} bytes at {:#x} of STag {:#010x}; no region "
                      "of memory lets our QP do so",
                      place_of(l, s), read->length, read->sink_to, read->sink_stag));
  }
}

/// Collects the STags that the peer's messages use and that belong to no region.
void find_unlisted(Plan& p) {
  const auto uses = [&](uint32_t stag) {
    if (find(p, stag) == nullptr && std::ranges::find(p.unlisted, stag) == p.unlisted.end())
      p.unlisted.push_back(stag);
  };
  for (const Step& s : p.steps) {
    if (s.is_mpa || s.is_raw || s.ours) continue;
    const Message& m = s.message;
    if (m.head.is_tagged && !is_answer(m.head.opcode)) uses(m.head.stag);
    if (carries_stag(m.head.opcode)) uses(m.head.word);
    if (const auto read = read_request_of(m)) uses(read->source_stag);
    if (const auto flush = flush_request_of(m)) uses(flush->sink_stag);
  }
}

/// Walks through the peer's messages, up to the first that our device refuses. Computes the final
/// content of the regions, the receives that complete, and the bytes that the application must have
/// stored before each Read Request: bytes of the response that no message brought.
///
/// An invalidation completes some time after the device has received the Send. Until then
/// the device may place or refuse an access with that STag. The walk continues as if it were
/// allowed; the writes from there on may be missing.
class Walk {
 public:
  Walk(Plan& p, bool is_listed) : p_(p), is_listed_(is_listed) {
    for (Region& r : p.regions) r.after = r.before;
    for (const Step& s : p.steps) {
      if (!s.is_mpa && !s.is_raw && s.ours && s.message.head.opcode == RdmapOpcode::kReadResponse)
        answers_.push_back(&s.message);
    }
  }
  void run() {
    for (size_t k = 0; k < p_.steps.size(); ++k) {
      Step& s = p_.steps[k];
      if (s.is_mpa || s.is_raw) continue;
      if ((s.ours && s.is_request()) || std::ranges::count(p_.posts, k, &Receive::step) != 0)
        settle();
      if (!s.ours && !take(s, k)) return;
    }
  }

 private:
  /// Our program posts a request after all earlier receives have completed, hence after their
  /// invalidations. A receive with `after` delays the peer for long enough.
  void settle() {
    gone_.merge(closing_);
    closing_.clear();
  }

  /// False if our device refuses the message.
  bool take(Step& s, size_t step) {
    const Message& m = s.message;
    if (m.head.is_tagged) return write(m);
    if (!m.crc_good) return false;
    if (is_send(m)) return receive(m, step);
    if (const auto f = flush_request_of(m))
      return f->length == 0 || allowed(f->sink_stag, rights_of(f->flags), f->sink_to, f->length);
    if (const auto read = read_request_of(m)) return answer(s, *read);
    return true;
  }

  /// Inferred regions allow every access. Regions of the key `memory` are checked as the device
  /// does.
  bool allowed(uint32_t stag, uint32_t right, uint64_t to, uint64_t length) {
    if (!is_listed_) return true;
    const Region* r = find(p_, stag);
    if (r == nullptr || !is_ours(*r) || gone_.contains(stag) || (r->access & right) != right ||
        !is_within(*r, to, length))
      return false;
    is_open_ = is_open_ || closing_.contains(stag);
    return true;
  }

  /// A Send or Immediate Data takes the next posted receive. False: no receive is posted yet, or it
  /// is too short, or the device refuses the invalidation.
  bool receive(const Message& m, size_t step) {
    const size_t k = sends_++;
    if (k >= p_.posts.size() || p_.posts[k].step > step) return false;
    if (is_immediate(m.head.opcode)) {
      if (!immediate_of(m)) return false;
    } else if (p_.posts[k].length < m.payload.size()) {
      return false;
    }
    if (carries_stag(m.head.opcode)) {
      const uint32_t stag = m.head.word;
      if (!allowed(stag, verbs::RNIC_ACCESS_REMOTE_INVALIDATE, base_of(stag), 0)) return false;
      closing_.insert(stag);
    }
    p_.whole_receives += m.is_whole ? 1 : 0;
    return true;
  }

  uint64_t base_of(uint32_t stag) {
    const Region* r = find(p_, stag);
    return r != nullptr ? r->base : 0;
  }

  /// A Read Request of the peer. If the region does not hold the recorded response at this point,
  /// adds a poke of the response to the step. False: the device refuses the Read.
  bool answer(Step& s, const ReadRequest& read) {
    if (read.length != 0 &&
        !allowed(read.source_stag, verbs::IBV_ACCESS_REMOTE_READ, read.source_to, read.length))
      return false;
    if (answers_.empty()) return true;
    const Message& answer = *answers_.front();
    answers_.pop_front();
    Region* r = find(p_, read.source_stag);
    if (r == nullptr || read.length == 0 || answer.payload.size() != read.length) return true;
    if (!is_within(*r, read.source_to, read.length)) return true;  // an invalid Read
    const uint64_t at = read.source_to - r->base;
    const auto held = r->after.begin() + static_cast<std::ptrdiff_t>(at);
    // The program with checksums in the note stores nothing; a difference there is an error.
    if (r->noted || std::equal(answer.payload.begin(), answer.payload.end(), held)) return true;
    std::copy(answer.payload.begin(), answer.payload.end(), held);
    s.pokes.push_back({static_cast<size_t>(r - p_.regions.data()), at, answer.payload});
    return true;
  }

  /// The device checks and places each segment separately.
  bool write(const Message& m) {
    for (const Bytes& fpdu : m.fpdus) {
      const Segment s = parse_fpdu(fpdu).value();
      if (p_.uses_crc && !s.crc_good) return false;
      if (s.payload.empty()) continue;
      if (!is_answer(m.head.opcode) &&
          !allowed(s.stag, verbs::IBV_ACCESS_REMOTE_WRITE, s.to, s.payload.size()))
        return false;
      place(s);
    }
    return true;
  }

  void place(const Segment& s) {
    Region* r = find(p_, s.stag);
    if (r == nullptr || !is_within(*r, s.to, s.payload.size())) return;
    const uint64_t at = s.to - r->base;
    std::ranges::copy(s.payload, r->after.begin() + static_cast<std::ptrdiff_t>(at));
    r->writes.push_back({at, {s.payload.begin(), s.payload.end()}, is_open_});
  }

  Plan& p_;
  bool is_listed_;
  std::deque<const Message*> answers_;  // recorded Read Responses of our side, still unmatched
  std::set<uint32_t> gone_;             // STags that were invalidated
  std::set<uint32_t> closing_;          // STags whose invalidation may not be complete
  bool is_open_ = false;                // the device may have refused an earlier message
  size_t sends_ = 0;
};

}  // namespace

bool is_send(const Message& m) { return !m.head.is_tagged && m.head.qn == spec::kQnSend; }

void plan_memory(const Listing& l, Plan& p) {
  regions_of_note(l, p);
  if (l.memory) {
    regions_of_listing(l, p);
    refuse_sinks(l, p);
  } else {
    regions_of_use(p);
    regions_of_invalidation(p);
  }
  find_unlisted(p);
  Walk(p, l.memory.has_value()).run();
}

}  // namespace rnic::app
