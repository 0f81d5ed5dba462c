// Lengths and alignments: around the beat, the MULPDU and the page; local and remote offsets 0 to
// 63 by seed; Send, Write and Read; ORD and IRD of 1 and 32. The test checks every byte that must
// have moved, and those around it. R5040-4.2 to 4.4, 6.1-04, 05, 07.
#include "support/seed.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kSlot = 8192, kMulpdu = 1454;  // of MTU 1500

struct Param {
  unsigned depth;  // ORD and IRD
  Kinds kind;
};
class Lengths : public testing::TestWithParam<Param> {};

std::vector<uint32_t> lengths() {
  std::vector<uint32_t> all{0, 1, 63, 64, 65, 4095, 4096, 4097};
  for (const uint32_t header : {14u, 18u}) {  // of tagged and untagged segments
    for (const uint32_t ulpdu : {kMulpdu - 1, kMulpdu, kMulpdu + 1}) all.push_back(ulpdu - header);
  }
  return all;
}

TEST_P(Lengths, ArriveWhole) {
  in_child([] {
    World w({.kind = GetParam().kind, .seed = test_seed()});
    uint32_t key = 0;
    bool ready = false, done = false;
    size_t most_reads = 0;  // Reads outstanding at a time, at most
    const auto sizes = lengths();
    const auto n = static_cast<uint32_t>(sizes.size());
    // One draw for both sides. Every third piece ends or begins at a page boundary.
    struct Piece {
      uint32_t local, remote, length;
    };
    base::Rng rng(test_seed());
    std::array<std::vector<Piece>, 3> pieces;
    for (auto& of_op : pieces) {
      for (uint32_t i = 0; i < n; ++i) {
        Piece p{static_cast<uint32_t>(rng.below(64)), static_cast<uint32_t>(rng.below(64)),
                sizes[i]};
        if (i % 3 == 1) p.remote = 4096 - std::min(sizes[i] / 2, 4096u);
        if (i % 3 == 2) p.local = 4096 - std::min(sizes[i], 4096u);
        of_op.push_back(p);
      }
    }
    const auto slot = [&](uint32_t op, uint32_t i) { return uint64_t{op * n + i} * kSlot; };
    // Checks a slot after `length` bytes arrived at `at`: those, and the background around them.
    const auto look = [&](const Region& r, uint64_t base, uint32_t at, uint32_t length,
                          uint64_t pattern_key, uint64_t from) {
      EXPECT_EQ(wrong({r.at(base + at), length}, pattern_key, from), 0u) << length << " at " << at;
      EXPECT_EQ(wrong({r.at(base), at}, 9, base), 0u) << "before " << length << " at " << at;
      const uint64_t end = at + length;
      EXPECT_EQ(wrong({r.at(base + end), kSlot - end}, 9, base + end), 0u)
          << "after " << length << " at " << at;
    };
    ConnParam param;
    param.responder_resources = param.initiator_depth = GetParam().depth;
    w.tap(kClient).on_tx = [&, reads = size_t{0}](sim::Record& r) mutable {
      const auto b = r.data.bytes();
      reads += !r.is_stream && opcode_of({b.begin(), b.end()}) == 0x1 ? 1 : 0;
      size_t answered = 0;
      for (const auto& t : w.tap(kServer).sent) {
        const auto s = t.record.data.bytes();
        // Opcode 2 with the bit Last: the end of a Read Response.
        answered += !t.record.is_stream && s[3] == 0x42 && (s[2] & 0x40) != 0 ? 1 : 0;
      }
      most_reads = std::max(most_reads, reads - answered);
      return true;
    };
    w.run(
        [&](Host& h) {
          h.open();
          Region source = h.region(uint64_t{2} * n * kSlot);
          Region sink = h.region(uint64_t{3} * n * kSlot);
          fill(source.buffer.bytes(), 1);
          fill(sink.buffer.bytes(), 9);
          Endpoint& e = h.endpoint();
          h.connect(e, param);
          h.until("the server", [&] { return ready; });
          // Reads, Writes and Sends in turn, as many outstanding as the queue allows.
          for (uint32_t i = 0; i < n; ++i) {
            const Piece &send = pieces[0][i], &write = pieces[1][i], &read = pieces[2][i];
            h.until("room", [&] { return e.outstanding() < 24; });
            (void)e.read(sink.sge(slot(2, i) + read.local, read.length),
                         // A Read of length 0 may name any source STag (R5040-5.2.1-14).
                         read.length != 0 ? key : 0xdeadbeef, kTarget + slot(2, i) + read.remote);
            (void)e.write(source.sge(slot(1, i) + write.local, write.length), key,
                          kTarget + slot(1, i) + write.remote);
            (void)e.send(source.sge(slot(0, i) + send.local, send.length));
          }
          h.until_complete(e, "completions");
          for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          for (uint32_t i = 0; i < n; ++i) {
            const Piece& p = pieces[2][i];
            look(sink, slot(2, i), p.local, p.length, 2, slot(2, i) + p.remote);
          }
          h.until("the server's look", [&] { return done; });
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region region = h.region(uint64_t{3} * n * kSlot, Host::kAll, kTarget);
          fill(region.buffer.bytes(), 9);
          fill(region.buffer.bytes().subspan(slot(2, 0)), 2, slot(2, 0));
          key = region.mr.rkey();
          Endpoint& e = h.endpoint();
          std::vector<uint64_t> receives;
          for (uint32_t i = 0; i < n; ++i) {  // over up to three pieces of memory
            const Piece& p = pieces[0][i];
            const uint32_t first = p.length / 3, second = p.length / 4;
            const uint64_t at = slot(0, i) + p.remote;
            const Sge sges[] = {region.sge(at, first), region.sge(at + first, second),
                                region.sge(at + first + second, p.length - first - second)};
            receives.push_back(e.receive(sges));
          }
          h.accept(e, param);
          ready = true;
          h.until_complete(e, "Sends");
          for (uint32_t i = 0; i < n; ++i) {
            EXPECT_EQ(e.wc(receives[i]).status, IBV_WC_SUCCESS);
            EXPECT_EQ(e.wc(receives[i]).byte_len, pieces[0][i].length);
            for (const uint32_t op : {0u, 1u}) {  // a Write is placed before the next Send
              const Piece& p = pieces[op][i];
              look(region, slot(op, i), p.remote, p.length, 1, slot(op, i) + p.local);
            }
          }
          EXPECT_EQ(wrong(region.buffer.bytes().subspan(slot(2, 0)), 2, slot(2, 0)), 0u);
          done = true;
          h.follow_disconnect(e);
        });
    EXPECT_LE(most_reads, GetParam().depth);  // R5040-6.1-07
    // The minimum build holds one message per QP (sq_slots): a second Read need not be outstanding.
    EXPECT_GE(most_reads,
              GetParam().kind[0].ends_with("minimum") ? 1u : std::min(GetParam().depth, 2u));
  });
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const Kinds& kind : {kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall}) {
    for (const unsigned depth : {1u, 32u}) all.push_back({depth, kind});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Depths, Lengths, testing::ValuesIn(params()), [](const auto& info) {
  return "depth" + std::to_string(info.param.depth) + "_" + name_of(info.param.kind);
});

}  // namespace
}  // namespace rnic::tb
