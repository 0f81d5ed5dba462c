// host_if_realign: the dense words of a packet are sent as TLPs of the lengths that the chunks
// give. Each TLP is dense from lane 0, whatever the alignment from one chunk to the next.
//
// A chunk gives the client and the length of one TLP; the last chunk of a packet is marked (end).
// The client's words hold the packet's bytes densely. A word has 64 bytes of place (client 0), 32
// of cq (1), 64 of admin (2) or 8 of word_wr (3). The reference is a byte array per packet, cut
// where the chunks cut it. Words of the four clients are valid together. Lanes after a packet's
// last byte contain garbage.
#include <cstring>
#include <set>

#include "VHostIfRealign.h"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

class HostIfRealignTest : public testing::Test {
 protected:
  struct Chunk {
    uint32_t length;
    unsigned client;
    bool end;
    uint16_t side;  // tag that comes out beside the beats
  };
  struct Beat {
    bool first, last;
    uint16_t side;
    std::vector<uint8_t> bytes;
  };
  using Word = std::array<uint8_t, 64>;

  tb::RtlDut<VHostIfRealign> dut;
  base::Rng rng = tb::test_rng("packets");
  tb::Pace pace;
  // *_shown: the front of the queue is valid at the port, and stays so until it is accepted.
  bool running = false, chunk_shown = false;
  std::array<bool, 4> word_shown{};
  std::deque<Chunk> chunks;
  std::array<std::deque<Word>, 4> words;  // of place, cq, admin and word_wr
  std::deque<Beat> want;
  uint16_t side = 0;
  int last_client = -1;       // of the packet put last
  bool last_partial = false;  // its last word is not full
  std::set<uint64_t> shifts;  // lanes at which chunks begin in their first word
  tb::Tally met{"chunk of 1",
                "chunk of 63",
                "chunk of 64",
                "chunk of 65",
                "chunk of 4096",
                "chunk inside the word that is held",
                "chunk up to that word's end",
                "chunk one byte after it",
                "last beat from two words",
                "packet of one byte",
                "packet of 32 bytes of cq",
                "packet of a word",
                "packet of many chunks",
                "another client after a partial word",
                "same client after a partial word"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  void start(tb::Pace p) {
    pace = p;
    running = chunk_shown = false;
    word_shown = {};
    chunks.clear();
    want.clear();
    for (auto& queue : words) queue.clear();
    dut.restart(p);
    running = true;
  }

  uint32_t some_length() {
    static constexpr uint32_t kEdges[] = {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096};
    return rng.percent(60)   ? kEdges[rng.below(std::size(kEdges))]
           : rng.percent(70) ? static_cast<uint32_t>(rng.between(1, 200))
                             : static_cast<uint32_t>(rng.between(1, 4096));
  }

  /// Puts a random packet: its words, and the chunks that cut it.
  void give() {
    const auto client = static_cast<unsigned>(rng.percent(60) ? 0 : rng.between(1, 3));
    std::vector<uint32_t> lengths;
    if (client == 0) {
      const uint64_t count = rng.percent(40) ? 1 : rng.between(2, 9);
      for (uint64_t i = 0; i < count; i++) lengths.push_back(some_length());
    } else if (client == 3) {
      lengths.push_back(8);
      met("packet of a word");
    } else {  // of one word; at times a page boundary lies within it
      const uint32_t limit = client == 1 ? 32 : 64;
      const auto total = rng.percent(30) ? limit : static_cast<uint32_t>(rng.between(1, limit));
      const auto part = static_cast<uint32_t>(rng.percent(30) ? rng.below(total) : 0);
      if (part != 0) lengths.push_back(part);
      lengths.push_back(total - part);
      met("packet of 32 bytes of cq", client == 1 && total == 32);
    }
    give(client, lengths);
  }
  void give(unsigned client, const std::vector<uint32_t>& lengths) {
    uint64_t total = 0;
    for (uint32_t n : lengths) total += n;
    const auto bytes = rng.bytes(total);
    met("packet of one byte", total == 1);
    met("packet of many chunks", lengths.size() >= 6);
    met("another client after a partial word",
        last_partial && last_client != static_cast<int>(client));
    met("same client after a partial word",
        last_partial && last_client == static_cast<int>(client));
    last_client = static_cast<int>(client);
    last_partial = total % 64 != 0;

    for (uint64_t at = 0; at < total; at += 64) {
      Word w;
      rng.fill(w);
      std::memcpy(w.data(), bytes.data() + at, std::min<uint64_t>(64, total - at));
      words[client].push_back(w);
    }
    uint64_t at = 0;
    for (uint32_t n : lengths) {
      for (unsigned edge : {1U, 63U, 64U, 65U, 4096U}) {
        if (n == edge) met(fmt::format("chunk of {}", edge));
      }
      const uint64_t held = (64 - at % 64) % 64;  // bytes left of the word accepted last
      shifts.insert(at % 64);
      met("chunk inside the word that is held", n < held);
      met("chunk up to that word's end", n == held);
      met("chunk one byte after it", held != 0 && n == held + 1);
      met("last beat from two words", held != 0 && (n - 1) % 64 + 1 > held);
      chunks.push_back({n, client, at + n == total, ++side});
      for (uint32_t b = 0; b < n; b += 64) {
        const uint32_t size = std::min(64U, n - b);
        const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at + b);
        want.push_back({b == 0, b + 64 >= n, side, {from, from + size}});
      }
      at += n;
    }
  }

  void drive() {
    auto& t = dut.top();
    t.ready_i = running && !rng.percent(pace.stall);
    if (running && !chunk_shown) chunk_shown = !chunks.empty() && !rng.percent(pace.idle);
    t.chunk_valid_i = chunk_shown;
    if (chunk_shown) {
      const Chunk& c = chunks.front();
      tb::set(t.chunk_length_i, c.length);
      tb::set(t.chunk_client_i, c.client);
      t.chunk_end_i = c.end;
      t.chunk_side_i = c.side;
    } else {
      tb::set(t.chunk_length_i, rng.between(1, 4096));
      tb::set(t.chunk_client_i, rng.below(4));
      t.chunk_end_i = rng.percent(50);
      t.chunk_side_i = static_cast<uint16_t>(rng.next());
    }
    unsigned valid = 0;
    for (unsigned c = 0; c < 4; c++) {
      if (running && !word_shown[c]) word_shown[c] = !words[c].empty() && !rng.percent(pace.idle);
      valid |= word_shown[c] ? 1U << c : 0;
      Word garbage;
      rng.fill(garbage);
      const Word& w = word_shown[c] ? words[c].front() : garbage;
      std::memcpy(c == 0   ? static_cast<void*>(&t.place_word_i)
                  : c == 1 ? static_cast<void*>(&t.cq_word_i)
                  : c == 2 ? static_cast<void*>(&t.admin_word_i)
                           : static_cast<void*>(&t.small_word_i),
                  w.data(),
                  c == 1   ? 32
                  : c == 3 ? 8
                           : 64);
    }
    tb::set(t.word_valid_i, valid);
  }

  void sample() {
    auto& t = dut.top();
    if (!running) return;
    if (chunk_shown && t.chunk_ready_o != 0) {
      chunks.pop_front();
      chunk_shown = false;
    }
    for (unsigned c = 0; c < 4; c++) {
      if (word_shown[c] && (t.word_ready_o >> c & 1) != 0) {
        words[c].pop_front();
        word_shown[c] = false;
      }
    }
    if (t.valid_o == 0 || t.ready_i == 0) return;
    ASSERT_FALSE(want.empty()) << "a beat that no chunk asked for";
    const Beat& b = want.front();
    ASSERT_EQ(t.side_o, b.side);
    ASSERT_EQ(t.first_o != 0, b.first);
    ASSERT_EQ(t.last_o != 0, b.last);
    ASSERT_EQ(t.keep_o, b.bytes.size());
    std::vector<uint8_t> got(b.bytes.size());
    std::memcpy(got.data(), &t.data_o, got.size());
    ASSERT_EQ(got, b.bytes) << "TLP " << b.side;
    want.pop_front();
  }

  void finish() {
    const bool all = dut.run_until([&] { return want.empty() || HasFatalFailure(); });
    ASSERT_TRUE(all) << want.size() << " beats never came";
    dut.cycles(10);
    EXPECT_TRUE(chunks.empty());
    for (const auto& queue : words) EXPECT_TRUE(queue.empty()) << "a word was left";
  }
};

TEST_F(HostIfRealignTest, EachTlpIsDenseFromLane0) {
  tb::each_pace([&](tb::Pace pace) {
    start(pace);
    for (int i = 0; i < 600 && !HasFatalFailure(); i++) {
      give();
      ASSERT_TRUE(dut.run_until([&] { return chunks.size() <= 6 || HasFatalFailure(); }))
          << "a chunk is never taken";
    }
    if (!HasFatalFailure()) finish();
  });
  EXPECT_EQ(shifts.size(), 64U);
  met.expect_all();
}

TEST_F(HostIfRealignTest, StartsAnewAfterAReset) {
  for (int i = 0; i < 60 && !HasFatalFailure(); i++) {
    start({20, 20});
    for (int k = 0; k < 4; k++) give();
    if (i % 3 == 0) finish();
    dut.cycles(rng.below(40));
  }
}

// As host_if_realign's header says: one beat per cycle at any alignment, with no gap between chunks
// or packets. Latency 2 cycles.
TEST_F(HostIfRealignTest, NoGap) {
  start({});
  for (int i = 0; i < 300; i++) give();
  const uint64_t from = dut.now(), beats = want.size();
  finish();
  EXPECT_EQ(dut.now() - from - 10, beats + 2);  // 10: the idle cycles of finish()
}

}  // namespace
