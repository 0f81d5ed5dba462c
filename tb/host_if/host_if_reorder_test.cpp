// host_if_reorder with host_if_tags: the bytes of each completion are written where its tag points,
// whatever the order, the pieces and the position in a ring. Nothing else in the buffer changes,
// whatever PCIe sends.
//
// The test issues a read (begin): its tag, the byte of the buffer at which it begins, its length.
// Then it plays PCIe: pieces of beats with the tag. The device reports the end of each read with a
// status (end), and shows the tags that may not be used, since PCIe may still complete them (held).
//
// The reference is an array of bytes. Pieces are cut anywhere and come in any order between tags.
// The buffer has one ring of payload and five small ones. The rings are filled to the last byte and
// emptied in order, while the read port also reads other words at random.
#include <cstring>
#include <set>

#include "VHostIfReorder.h"
#include "VHostIfReorderMin.h"
#include "gen/streams.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

struct Default {  // the sizes of host_if_rd
  using V = VHostIfReorder;
  static constexpr unsigned kTags = 192, kPayload = 1024, kSmall = 128;
};
struct Minimum {  // shorter rings than in the minimum build, which wrap often
  using V = VHostIfReorderMin;
  static constexpr unsigned kTags = 8, kPayload = 128, kSmall = 16;
};

// kEndLatency: cycles from a beat until end_valid_o is sampled. kSureLatency: from a beat until a
// read request at the buffer's port returns its bytes. The header of host_if_reorder counts both as
// 4.
constexpr uint64_t kEndLatency = 3, kSureLatency = 4;

template <class B>
class HostIfReorderTest : public testing::Test {
 protected:
  static constexpr unsigned kWords = B::kPayload + 5 * B::kSmall;
  struct Read {
    unsigned tag = 0, ring = 0;
    uint64_t at = 0;                // byte of the ring; does not wrap
    uint32_t length = 0, come = 0;  // bytes; come: written by completions so far
    bool ended = false;
    uint64_t issued = 0;
    bool never = false;  // it gets no completion, or no further one
  };
  struct Ring {
    uint64_t base, bytes;
    uint64_t head = 0, tail = 0;  // bytes allocated and released; do not wrap
    uint64_t word = 0;            // next word to read of the oldest read
    std::deque<std::shared_ptr<Read>> reads;
    [[nodiscard]] uint64_t place(uint64_t at) const { return base + at % bytes; }
    [[nodiscard]] uint64_t room() const { return bytes - (head - tail); }
  };
  struct End {
    unsigned tag;
    spec::RdStatus status;
    uint64_t at;
  };

  tb::RtlDut<typename B::V> dut;
  base::Rng rng = tb::test_rng("reads");
  tb::Pace pace;
  bool begins = true, releases = true;
  std::vector<Ring> rings;
  std::map<unsigned, std::shared_ptr<Read>> live;  // by tag
  std::shared_ptr<Read> piece;                     // the read whose piece is being sent
  uint32_t piece_left = 0;
  std::deque<End> ends;        // due ends, with their cycles
  std::vector<int> mem;        // the reference: each byte of the buffer. -1: unknown
  std::vector<uint64_t> sure;  // first cycle in which a read of the byte returns it
  int64_t asked = -1;          // word requested at the read port
  std::array<int, 64> want{};  // its bytes. -1: not checked
  uint64_t reads_checked = 0, ended_reads = 0, last_beat = 0;
  unsigned last_tag = 0;
  std::set<unsigned> failed_tags, lanes;
  tb::Tally met{"length 1",
                "length 63",
                "length 64",
                "length 65",
                "length 4096",
                "a beat over two words",
                "a beat up to a word's end",
                "payload wraps in a beat",
                "payload wraps between beats",
                "small ring wraps in a beat",
                "small ring wraps between beats",
                "two beats of a tag in a row",
                "two beats of a tag with a gap of one",
                "answers out of order",
                "pieces interleave",
                "error before any byte",
                "error after bytes",
                "error with data",
                "a tag again after its error",
                "payload full",
                "small ring full",
                "read of a word with bytes on the way"};
  tb::Tally faults{"a piece for a free tag",
                   "a piece for a tag that does not exist",
                   "a second answer",
                   "too few bytes",
                   "too many bytes in a beat",
                   "too many bytes in a later beat",
                   "the last byte does not say so",
                   "a tag is held",
                   "a held tag is free after its last piece",
                   "a held tag is free after its time",
                   "a read times out before any byte",
                   "a read times out between pieces",
                   "a late piece for a held tag"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  void start(tb::Pace p) {
    pace = p;
    begins = releases = true;
    rings.clear();
    rings.push_back({0, 64ULL * B::kPayload, 0, 0, 0, {}});
    for (unsigned r = 0; r < 5; r++)
      rings.push_back({64ULL * (B::kPayload + r * B::kSmall), 64ULL * B::kSmall, 0, 0, 0, {}});
    for (Ring& ring : rings)  // starts near the end, at times by whole words
      ring.head = ring.tail =
          ring.bytes - (rng.percent(60) ? 64 * rng.between(1, 4) : rng.between(1, 1000));
    live.clear();
    piece.reset();
    ends.clear();
    mem.assign(64ULL * kWords, -1);
    sure.assign(64ULL * kWords, 0);
    asked = -1;
    stray.clear();
    held.clear();
    freed.clear();
    ended_at.clear();
    counted = expected = {};
    dut.top().timeout_i = timeout;
    quiet();
    running = false;
    dut.restart(p);
    running = true;
  }
  bool running = false;

  void quiet() {  // garbage on inputs that are not valid
    auto& t = dut.top();
    t.begin_valid_i = t.sent_valid_i = t.rsp_valid_i = t.read_i = 0;
    tb::set(t.begin_length_i, rng.next());
    tb::set(t.sent_tag_i, rng.next());
    tb::set(t.begin_tag_i, rng.next());
    tb::set(t.begin_pos_i, rng.below(64ULL * kWords));
    tb::set(t.read_word_i, rng.below(kWords));
    spec::DmaRdRsp rsp;
    rsp.tag = static_cast<uint8_t>(rng.below(B::kTags));
    rsp.is_last = rng.percent(50);
    rsp.keep = static_cast<uint8_t>(rng.below(65));
    put(rsp);
  }
  void put(const spec::DmaRdRsp& rsp) {
    const auto words = rsp.to_words();
    std::memcpy(&dut.top().rsp_i, words.data(), sizeof words);
  }

  void drive() {
    quiet();
    if (!running) return;
    answer();  // before begin: the completion of a read begins one cycle after the read
    begin();
    read();
  }

  uint32_t some_length(uint64_t room) {
    static constexpr uint32_t kEdges[] = {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096};
    uint64_t n = rng.percent(40)   ? kEdges[rng.below(std::size(kEdges))]
                 : rng.percent(60) ? rng.between(1, 200)
                                   : rng.between(1, 4096);
    if (n > room && room <= 4096) n = room;  // fills the ring to its last byte
    return static_cast<uint32_t>(n);
  }

  void begin() {
    const size_t in_use = live.size() + held.size() + stray.size();
    if (!begins || rng.percent(pace.idle) || in_use >= std::min(most_live, B::kTags)) return;
    Ring& ring = rings[rng.percent(50) ? 0 : rng.between(1, 5)];
    if (rng.percent(30)) {  // the next packet starts at a word boundary
      const uint64_t up = (64 - ring.head % 64) % 64;
      if (up < ring.room() && (ring.reads.empty() || up != 0)) pad(ring, up);
    }
    if (ring.room() == 0) return;
    const uint32_t n = some_length(ring.room());
    if (n > ring.room()) return;
    auto r = std::make_shared<Read>();
    // A freed tag is used again 3 cycles later: held_o follows a beat by up to 3 cycles.
    const auto taken = [&](unsigned t) {
      const auto f = freed.find(t);
      return live.contains(t) || held.contains(t) || awaits_stray(t) ||
             (f != freed.end() && f->second + 3 > dut.now());
    };
    r->tag = static_cast<unsigned>(rng.below(B::kTags));
    for (unsigned i = 0; taken(r->tag); i++) {
      if (i == B::kTags) return;
      r->tag = (r->tag + 1) % B::kTags;
    }
    r->ring = static_cast<unsigned>(&ring - rings.data());
    r->at = ring.head;
    r->length = n;
    r->issued = dut.now();
    ring.head += n;
    ring.reads.push_back(r);
    live[r->tag] = r;
    dut.top().begin_valid_i = 1;
    tb::set(dut.top().begin_tag_i, r->tag);
    tb::set(dut.top().begin_pos_i, ring.place(r->at));
    tb::set(dut.top().begin_length_i, n);
    dut.top().sent_valid_i = 1;
    tb::set(dut.top().sent_tag_i, r->tag);
    r->never = rng.percent(never_percent);
    for (unsigned edge : {1U, 63U, 64U, 65U, 4096U}) {
      if (n == edge) met(fmt::format("length {}", edge));
    }
    met("a tag again after its error", failed_tags.erase(r->tag) != 0);
    if (ring.room() == 0) met(r->ring == 0 ? "payload full" : "small ring full");
  }
  // Bytes that no read fills: modelled as an ended read without bytes.
  void pad(Ring& ring, uint64_t bytes) {
    if (bytes == 0) return;
    auto r = std::make_shared<Read>();
    r->ring = static_cast<unsigned>(&ring - rings.data());
    r->at = ring.head;
    r->length = static_cast<uint32_t>(bytes);
    r->ended = true;
    ring.head += bytes;
    ring.reads.push_back(r);
  }

  // Beats of a piece that must be discarded. `ends`: its last beat frees a held tag.
  struct Stray {
    unsigned tag = 0;
    unsigned beats = 0;
    bool ends = false, begun = false;
    uint64_t begun_at = 0;
  };
  std::deque<Stray> stray;
  std::map<unsigned, uint64_t> held;  // tag, since
  struct Counts {
    uint64_t unexpected = 0, malformed = 0, timed_out = 0;
    bool operator==(const Counts&) const = default;
  } counted, expected;
  // never_percent: reads that get no (further) completion. wrong_percent: completions that no root
  // should send. most_live: reads and held tags at a time.
  uint32_t timeout = 0;
  unsigned never_percent = 0, wrong_percent = 0, most_live = B::kTags;
  std::map<unsigned, uint64_t> ended_at;  // by tag: the cycle of its latest end
  std::map<unsigned, uint64_t> freed;     // tags that were held, and when they were freed

  /// gather reuses a tag some cycles after its end; a stray piece has begun by then.
  bool awaits_stray(unsigned tag) const {
    if (const auto it = ended_at.find(tag); it != ended_at.end() && it->second >= dut.now())
      return true;
    return std::any_of(stray.begin(), stray.end(), [&](const Stray& s) {
      return s.tag == tag && (!s.begun || s.begun_at + 1 >= dut.now());
    });
  }
  void free_held(unsigned tag) {
    held.erase(tag);
    freed[tag] = dut.now();
  }
  /// Checks the end of a read that no piece has ended: it must have timed out.
  void sample_late(unsigned tag, unsigned status) {
    ASSERT_TRUE(live.contains(tag))
        << "tag " << tag << " ends, cycle " << dut.now() << ", it has ended in " << ended_at[tag]
        << ", status " << status << ", held " << held.contains(tag);
    Read& r = *live[tag];
    ASSERT_TRUE(r.never) << "a read that is answered ends by itself";
    ASSERT_EQ(status, static_cast<unsigned>(spec::RdStatus::kAborted));
    // A read without completions ends 1 to 1.5 time-outs after it was sent.
    const uint64_t age = dut.now() - r.issued;
    ASSERT_GE(age + 2 * B::kTags, timeout);  // a walk may be delayed
    ASSERT_LE(age, timeout + timeout / 2 + 2 * B::kTags + 10);
    faults(r.come == 0 ? "a read times out before any byte" : "a read times out between pieces");
    expected.timed_out++;
    r.ended = true;
    live.erase(tag);
    held[tag] = dut.now();
    faults("a tag is held");
  }
  void sample_held() {
    auto& t = dut.top();
    counted.unexpected += t.unexpected_o;
    counted.malformed += t.malformed_o;
    counted.timed_out += t.timed_out_o;
    std::array<uint32_t, (B::kTags + 31) / 32> bits{};
    std::memcpy(bits.data(), &t.held_o, sizeof t.held_o);
    // A tag is held for 1.5 to 2 time-outs, unless its last piece comes. A walk over all tags takes
    // kTags cycles and may be delayed.
    const uint64_t shortest = timeout + timeout / 2, longest = 2 * timeout + 2 * B::kTags + 10;
    for (unsigned tag = 0; tag < B::kTags; tag++) {
      const bool bit = (bits[tag / 32] >> (tag % 32) & 1) != 0;
      if (const auto it = held.find(tag); it != held.end()) {
        const uint64_t age = dut.now() - it->second;
        if (age > 3 && (timeout == 0 || age + 2 * B::kTags < shortest)) {
          ASSERT_TRUE(bit) << "tag " << tag << " may be used again, cycle " << dut.now();
        }
        if (timeout == 0 || age <= longest) continue;
        free_held(tag);
        faults("a held tag is free after its time");
      }
      const auto it = freed.find(tag);
      if (it != freed.end() && it->second + 4 > dut.now()) continue;
      // The tag is held from the time-out on; the end of its read is reported some cycles later.
      if (bit && live.contains(tag) && live[tag]->never) continue;
      ASSERT_FALSE(bit) << "tag " << tag << " is held, cycle " << dut.now();
    }
  }

  /// Sends a beat of the oldest stray piece. Returns false if there is none.
  bool send_stray() {
    if (stray.empty()) return false;
    Stray& s = stray.front();
    spec::DmaRdRsp rsp;
    rsp.tag = static_cast<uint8_t>(s.tag);
    rng.fill(rsp.data);
    rsp.keep = static_cast<uint8_t>(s.beats == 1 ? rng.below(65) : 64);
    rsp.piece_last = s.beats == 1;
    rsp.is_last = s.beats == 1 && s.ends;
    if (s.beats == 1 && s.ends && rng.percent(20)) rsp.status = spec::RdStatus::kAborted;
    if (!s.begun) {
      expected.unexpected++;
      s.begun_at = dut.now();
      ended_at[s.tag] = std::max(ended_at[s.tag], dut.now() + 1);
    }
    s.begun = true;
    put(rsp);
    dut.top().rsp_valid_i = 1;
    if (--s.beats != 0) return true;
    if (s.ends && held.contains(s.tag)) {
      free_held(s.tag);
      faults("a held tag is free after its last piece");
    }
    stray.pop_front();
    return true;
  }
  /// Sends a piece that a root should not send, when no other piece is in flight.
  void misbehave() {
    const auto beats = [&] { return static_cast<unsigned>(rng.between(1, 4)); };
    if (!held.empty() && rng.percent(40)) {
      auto it = held.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(rng.below(held.size())));
      stray.push_back({it->first, beats(), rng.percent(50)});
      faults("a late piece for a held tag");
      return;
    }
    const auto tag = static_cast<unsigned>(rng.below(256));
    if (tag < B::kTags && (live.contains(tag) || held.contains(tag))) return;
    faults(tag < B::kTags ? "a piece for a free tag" : "a piece for a tag that does not exist");
    stray.push_back({tag, beats(), rng.percent(50)});
  }
  /// A beat that ends its read wrongly; the rest of its piece is discarded.
  void answer_wrongly() {
    Read& r = *piece;
    const uint32_t left = r.length - r.come;
    spec::DmaRdRsp rsp;
    rsp.tag = static_cast<uint8_t>(r.tag);
    rng.fill(rsp.data);
    const bool too_many = left < 64 && rng.percent(50);
    const bool unsaid = !too_many && left <= 64 && rng.percent(50);
    rsp.keep = static_cast<uint8_t>(too_many ? rng.between(left + 1, 64)
                                    : unsaid ? left
                                             : rng.below(std::min(left, 65U)));
    rsp.is_last = too_many ? rng.percent(30) : !unsaid;
    rsp.piece_last = rsp.is_last != 0 || unsaid || rng.percent(40);
    put(rsp);
    dut.top().rsp_valid_i = 1;
    faults("the last byte does not say so", unsaid);
    faults("too few bytes", !too_many && !unsaid);
    faults("too many bytes in a beat", too_many && r.come == 0);
    faults("too many bytes in a later beat", too_many && r.come != 0);
    expected.malformed++;
    const unsigned tag = r.tag;
    end(r, spec::RdStatus::kAborted, dut.now() + kEndLatency);
    if (rsp.is_last == 0) {
      held[tag] = dut.now();
      faults("a tag is held");
      if (rsp.piece_last == 0) stray.push_front({tag, 2, rng.percent(50), true});
    }
    piece.reset();
  }
  /// Expects the end of a read in cycle `at`.
  void end(Read& r, spec::RdStatus status, uint64_t at) {
    ends.push_back({r.tag, status, at});
    ended_at[r.tag] = at;
    r.ended = true;
    live.erase(r.tag);
  }

  /// Plays PCIe for one cycle: a beat of a stray piece, of the current piece, or of a new one.
  void answer() {
    if (rng.percent(pace.idle)) return;
    if (piece == nullptr && send_stray()) return;
    if (piece == nullptr && rng.percent(wrong_percent)) misbehave();
    if (std::all_of(live.begin(), live.end(), [](auto& l) { return l.second->never; })) return;
    const bool fresh = piece == nullptr;
    if (fresh) {
      auto it = live.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(rng.below(live.size())));
      if (live.contains(last_tag) && rng.percent(30)) it = live.find(last_tag);
      while (it->second->never) {
        if (++it == live.end()) it = live.begin();
      }
      piece = it->second;
      if (rng.percent(wrong_percent)) return answer_wrongly();
      const uint32_t left = piece->length - piece->come;
      piece_left = rng.percent(50)   ? left
                   : rng.percent(50) ? static_cast<uint32_t>(rng.between(1, std::min(left, 64U)))
                                     : static_cast<uint32_t>(rng.between(1, left));
      met("pieces interleave",
          piece->come == 0 && std::any_of(live.begin(), live.end(), [&](auto& o) {
            return o.second != piece && o.second->come != 0;
          }));
    }
    Read& r = *piece;
    const Ring& ring = rings[r.ring];
    spec::DmaRdRsp rsp;
    rsp.tag = static_cast<uint8_t>(r.tag);
    rng.fill(rsp.data);
    const bool fails = fresh && rng.percent(6);
    const uint32_t n = std::min(piece_left, 64U);
    rsp.keep = static_cast<uint8_t>(fails ? rng.below(65) : n);
    rsp.piece_last = fails || n == piece_left;
    rsp.is_last = fails ? rng.percent(70) : r.come + n == r.length;
    if (fails) rsp.status = static_cast<spec::RdStatus>(rng.between(1, 3));
    put(rsp);
    dut.top().rsp_valid_i = 1;
    const uint64_t now = dut.now();
    met("two beats of a tag in a row", r.come != 0 && last_tag == r.tag && last_beat + 1 == now);
    met("two beats of a tag with a gap of one",
        r.come != 0 && last_tag == r.tag && last_beat + 2 == now);
    last_tag = r.tag;
    last_beat = now;
    if (fails) {
      met(r.come == 0 ? "error before any byte" : "error after bytes");
      met("error with data", rsp.keep != 0);
      failed_tags.insert(r.tag);
      if (rsp.is_last == 0) {  // more beats may come
        held[r.tag] = now;
        faults("a tag is held");
      }
    } else {
      const uint64_t from = r.at + r.come, lane = from % 64, in_ring = from % ring.bytes;
      lanes.insert(static_cast<unsigned>(lane));
      met("a beat over two words", lane + n > 64);
      met("a beat up to a word's end", lane + n == 64 && lane != 0);
      const bool payload = r.ring == 0;
      if (in_ring + n > ring.bytes)
        met(payload ? "payload wraps in a beat" : "small ring wraps in a beat");
      if (in_ring == 0 && r.come != 0)
        met(payload ? "payload wraps between beats" : "small ring wraps between beats");
      for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = ring.place(from + i);
        mem[at] = rsp.data[i];
        sure[at] = now + kSureLatency;
      }
      r.come += n;
      piece_left -= n;
    }
    if (fails || r.come == r.length) {
      const bool again = fails == false && piece_left == 0 && rng.percent(wrong_percent);
      if (again) stray.push_back({r.tag, static_cast<unsigned>(rng.between(1, 4)), true});
      faults("a second answer", again);
      met("answers out of order", std::any_of(live.begin(), live.end(), [&](auto& o) {
            return o.second->issued < r.issued;
          }));
      end(r, rsp.status, now + kEndLatency);
    } else if (rsp.piece_last != 0) {
      r.never = rng.percent(never_percent);
    }
    if (rsp.piece_last != 0) piece.reset();
  }

  // Reads the oldest read of a ring once it has ended, one word per cycle; else any word.
  void read() {
    if (rng.percent(pace.stall)) return;
    uint64_t word = rng.below(kWords);
    Ring* from = nullptr;
    const auto first_ring = rng.below(rings.size());
    for (size_t i = 0; i < rings.size(); i++) {
      Ring& ring = rings[(first_ring + i) % rings.size()];
      if (releases && !ring.reads.empty() && sure_now(*ring.reads.front())) from = &ring;
    }
    if (from != nullptr && !rng.percent(10)) {
      Ring& ring = *from;
      const Read& r = *ring.reads.front();
      const uint64_t first = r.at / 64, last = (r.at + r.length - 1) / 64;
      word = ring.place(64 * (first + ring.word)) / 64;
      if (first + ring.word++ == last) {
        ring.tail += r.length;
        ring.word = 0;
        ring.reads.pop_front();
        ended_reads++;
      }
    }
    dut.top().read_i = 1;
    tb::set(dut.top().read_word_i, word);
    asking = static_cast<int64_t>(word);
    bool moving = false;
    for (unsigned l = 0; l < 64; l++) {
      const uint64_t at = 64 * word + l;
      const bool known = sure[at] <= dut.now();
      moving |= !known;
      asking_want[l] = known ? mem[at] : -1;
    }
    met("read of a word with bytes on the way", moving);
  }
  // The word that read() requests in this cycle, and its bytes: asked and want of the next cycle.
  int64_t asking = -1;
  std::array<int, 64> asking_want{};
  /// Returns whether the read has ended and all its bytes can be read from the buffer.
  bool sure_now(const Read& r) {
    if (!r.ended) return false;
    for (uint32_t i = 0; i < r.come; i++) {
      if (sure[rings[r.ring].place(r.at + i)] > dut.now()) return false;
    }
    return true;
  }

  void sample() {
    auto& t = dut.top();
    if (!running) return;
    if (asked >= 0) {
      std::array<uint8_t, 64> got;
      std::memcpy(got.data(), &t.read_data_o, 64);
      for (unsigned l = 0; l < 64; l++) {
        if (want[l] < 0) continue;
        ASSERT_EQ(got[l], want[l]) << "word " << asked << " lane " << l << " cycle " << dut.now();
      }
      reads_checked++;
    }
    asked = std::exchange(asking, -1);
    want = asking_want;
    sample_held();
    const bool due = !ends.empty() && ends.front().at == dut.now();
    if (!due && t.end_valid_o != 0) return sample_late(t.end_tag_o, t.end_status_o);
    ASSERT_EQ(t.end_valid_o != 0, due) << "cycle " << dut.now();
    if (due) {
      ASSERT_EQ(t.end_tag_o, ends.front().tag);
      ASSERT_EQ(t.end_status_o, static_cast<unsigned>(ends.front().status));
      ends.pop_front();
    }
  }

  void run(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles && !this->HasFatalFailure(); i++) {
      if (i % 1500 == 0) releases = false;  // lets the rings fill
      if (i % 1500 == 700) releases = true;
      dut.cycle();
    }
  }
};

using Builds = testing::Types<Default, Minimum>;
TYPED_TEST_SUITE(HostIfReorderTest, Builds);

TYPED_TEST(HostIfReorderTest, EachByteStandsInItsPlace) {
  tb::each_pace([&](tb::Pace pace) {
    for (int round = 0; round < 6; round++) {
      this->start(pace);  // reads of the previous round are dropped in flight
      this->run(3500);
    }
  });
  if (this->HasFatalFailure()) return;
  EXPECT_EQ(this->lanes.size(), 64U);
  EXPECT_GT(this->ended_reads, 500U);
  EXPECT_GT(this->reads_checked, 10'000U);
  this->met.expect_all();
}

TYPED_TEST(HostIfReorderTest, AllThatBeganEnds) {
  this->start({20, 20});
  this->run(3000);
  this->begins = false;
  this->releases = true;
  for (int i = 0; i < 60'000 && !this->HasFatalFailure(); i++) {
    bool empty = this->live.empty();
    for (const auto& ring : this->rings) empty &= ring.reads.empty();
    if (empty && this->ends.empty()) return;
    this->dut.cycle();
  }
  ADD_FAILURE() << this->live.size() << " reads are left";
}

/// Checks the ends, the written bytes and the counters, whatever PCIe sends. Reads without a
/// completion end at the time-out, and their tags are not reused until that is safe.
TYPED_TEST(HostIfReorderTest, NoCompletionIsTrusted) {
  this->timeout = 6000;
  this->wrong_percent = 8;
  this->never_percent = 5;
  this->most_live = 24;
  for (tb::Pace pace : {tb::Pace{}, tb::Pace{20, 20}, tb::Pace{50, 20}}) {
    this->start(pace);
    this->run(60'000);
    if (this->HasFatalFailure()) return;
    this->begins = false;
    this->releases = true;
    this->wrong_percent = 0;
    this->run(24'000);
    this->wrong_percent = 8;
    EXPECT_TRUE(this->live.empty()) << this->live.size() << " reads have no end";
    EXPECT_TRUE(this->held.empty()) << this->held.size() << " tags are never free again";
    EXPECT_EQ(this->counted.unexpected, this->expected.unexpected);
    EXPECT_EQ(this->counted.malformed, this->expected.malformed);
    EXPECT_EQ(this->counted.timed_out, this->expected.timed_out);
    EXPECT_GT(this->counted.timed_out, 10U);
  }
  this->faults.expect_all();
}

/// Time-out 0: no read times out, and a tag is held until its last piece comes.
TYPED_TEST(HostIfReorderTest, WithoutATimeOutNothingEndsByItself) {
  this->never_percent = 50;
  this->most_live = 6;
  this->start({});
  this->run(20'000);
  EXPECT_EQ(this->counted.timed_out, 0U);
  // In the end only reads without a completion are left, and tags whose read has failed before its
  // last piece: most_live in all.
  EXPECT_EQ(this->live.size() + this->held.size(), 6U);
}

}  // namespace
