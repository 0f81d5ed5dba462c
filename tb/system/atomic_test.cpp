// FetchAdd, CmpSwap and Atomic Write from end to end: bytes, values, and what each waits for. Also:
// the outcome of an atomic that is in unit atomic when a connection ends, a read fails or its
// region is destroyed. RFC 7306 sections 5, 7, 8.2; draft-talpey-rdma-commit-01 section 3.1.3;
// ambiguities, part 2. The errors of a request:
// terminate_test.
#include <algorithm>
#include <bit>
#include <map>

#include "base/bytes.hpp"
#include "base/rng.hpp"
#include "gen/regs.hpp"
#include "kernel/activity.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using base::load_le;
using base::store_le;
using sim::Client;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kAccess = Host::kAll | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL;
constexpr uint64_t kOnes = ~uint64_t{0};
constexpr uint64_t kPoison = 0xdeadbeefdeadbeef;  // in a sink until its value arrives
constexpr uint8_t kAtomic = 0xa, kAtomicRsp = 0xb, kAtomicWrite = 0x10, kAtomicWriteRsp = 0x11;

uint64_t word(const Region& r, uint64_t at) { return load_le<uint64_t>(r.at(at)); }
void set(const Region& r, uint64_t at, uint64_t value) { store_le(r.at(at), value); }

class AtomicTest : public testing::TestWithParam<Kinds> {
 protected:
  using Body = std::function<void(Host&, Endpoint&, Region&)>;
  uint64_t bytes = 3 * 4096;  // of both regions
  uint32_t key = 0;
  bool ready = false, client_done = false, server_done = false;
  void again() { ready = client_done = server_done = false; }  // before another child process

  /// FPDUs of one opcode that a side received, in order.
  static std::vector<Bytes> came(const Tap& tap, uint8_t opcode) {
    std::vector<Bytes> all;
    for (const auto& s : tap.taken) {
      const auto b = s.record.data.bytes();
      Bytes f(b.begin(), b.end());
      if (!s.record.is_stream && opcode_of(f) == opcode) all.push_back(std::move(f));
    }
    return all;
  }
  /// The passive side: a region, a connection, then `body`.
  void serve(Host& h, const Body& body) {
    h.open();
    Region data = h.region(bytes, kAccess, kTarget);
    key = data.mr.rkey();
    Endpoint& e = h.endpoint();
    const uint64_t greeting = e.receive(data.sge(64, 64));
    h.accept(e, {.flush = true});
    ready = true;
    h.until("the greeting", [&] { return e.completed(greeting); });
    body(h, e, data);
    server_done = true;
    h.until("the client", [&] { return client_done; });
  }
  /// The client: greets the server, then `body`.
  void ask(Host& h, const Body& body) {
    h.open();
    Region data = h.region(bytes);
    fill(data.buffer.bytes(), 1);
    Endpoint& e = h.endpoint();
    h.connect(e, {.flush = true});
    h.until("the server", [&] { return ready; });
    (void)e.send(data.sge(0, 16));
    h.until_complete(e, "the greeting");
    body(h, e, data);
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
};

/// Hand-written from the figures. The Request Identifier is the MSN of QN 1, which also counts
/// Reads; QN 3 counts responses. FetchAdd has no compare: 0 and a mask of ones.
TEST_P(AtomicTest, ItsBytesAreThoseOfTheFigures) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            (void)e.fetch_add(d.sge(4096, 8), key, kTarget + 4096, 0x0102030405060708, 1ull << 31);
            (void)e.read(d.sge(4104, 8), key, kTarget);
            (void)e.cmp_swap(d.sge(4112, 8), key, kTarget + 4104,
                             {.compare = 0xc1c2c3c4c5c6c7c8,
                              .swap = 0xd1d2d3d4d5d6d7d8,
                              .compare_mask = 0xff,
                              .swap_mask = 0x00ffff0000ffff00});
            (void)e.atomic_write(key, kTarget + 4112, 0xe1e2e3e4e5e6e7e8);
            h.until_complete(e, "completions");
            for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint&, Region& d) {
            set(d, 4096, 0x1112131415161718);
            set(d, 4104, 0x21222324252627c8);
            h.until("the client's end", [&] { return client_done; });
          });
        });
    if (HasFailure()) return;
    const Tap &at_client = w.tap(kClient), &at_server = w.tap(kServer);
    EXPECT_EQ(
        came(at_server, kAtomic),
        (std::vector{
            fpdu(hex("414a 00000000 00000001 00000001 00000000 00000000 00000001") + be(key, 4) +
                 hex("0000000010001000 0102030405060708 0000000080000000 0000000000000000"
                     "ffffffffffffffff")),
            fpdu(hex("414a 00000000 00000001 00000003 00000000 00000002 00000003") + be(key, 4) +
                 hex("0000000010001008 d1d2d3d4d5d6d7d8 00ffff0000ffff00 c1c2c3c4c5c6c7c8"
                     "00000000000000ff"))}));
    EXPECT_EQ(
        came(at_server, kAtomicWrite),
        (std::vector<Bytes>{fpdu(hex("4150 00000000 00000001 00000004 00000000") + be(key, 4) +
                                 hex("00000008 0000000010001010 e1e2e3e4e5e6e7e8"))}));
    EXPECT_EQ(came(at_client, kAtomicRsp),
              (std::vector{fpdu(hex("414b 00000000 00000003 00000001 00000000"
                                    "00000001 1112131415161718")),
                           fpdu(hex("414b 00000000 00000003 00000002 00000000"
                                    "00000003 21222324252627c8"))}));
    EXPECT_EQ(came(at_client, kAtomicWriteRsp),
              (std::vector<Bytes>{fpdu(hex("4151 00000000 00000003 00000003 00000000"))}));
  });
}

/// Values of A-27 and others; the old value is in the sink, and nothing else there has changed.
TEST_P(AtomicTest, ComputesWhatTheTextsSay) {
  struct Row {
    WrOpcode op;
    uint64_t old, data, mask, compare, compare_mask, want;
  };
  constexpr auto kAdd = IBV_WR_ATOMIC_FETCH_AND_ADD;
  constexpr auto kSwap = IBV_WR_ATOMIC_CMP_AND_SWP;
  constexpr auto kWrite = IBV_WR_ATOMIC_WRITE;
  static const std::vector<Row> rows = {
      {kAdd, 41, 1, 0, 0, 0, 42},
      {kAdd, 0xffffffff, 1, 0, 0, 0, 0x100000000},
      {kAdd, 0xffffffff, 1, 0x80000000, 0, 0, 0},
      {kAdd, kOnes, 1, 0, 0, 0, 0},
      {kAdd, 0xffff0000ffff0001, 0x0001000100010001, 0x8000800080008000, 0, 0, 0x0000000100000002},
      {kAdd, 0xf0f0, 0x0ff0, kOnes, 0, 0, 0xff00},
      {kAdd, 5, 7, 0x8000000000000000, 0, 0, 12},
      {kSwap, 7, 9, kOnes, 7, kOnes, 9},
      {kSwap, 7, 9, kOnes, 8, kOnes, 7},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0x00ffff0000ffff00, 0x99, 0,  //
       0x11aaaa4455aaaa88},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0xff, 0x88, 0xff, 0x11223344556677aa},
      {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0xff, 0x87, 0xff, 0x1122334455667788},
      {kSwap, 0x1122334455667788, 0x0, kOnes, 0xff22334455667788, 0x00ffffffffffffff, 0},
      {kWrite, 0x0123456789abcdef, 0xfedcba9876543210, 0, 0, 0, 0xfedcba9876543210},
  };
  constexpr uint64_t kSinks = 4096, kWords = 4096;
  in_child([this] {
    World w({.kind = GetParam()});
    bool set_up = false;
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            h.until("the words", [&] { return set_up; });
            std::vector<uint64_t> ids;
            std::ranges::fill(std::span(d.at(kSinks), 4096), uint8_t{0x5a});
            for (size_t i = 0; i < rows.size(); ++i) {
              const Row& r = rows[i];
              const Sge sink = d.sge(kSinks + 16 * i, 8);
              const uint64_t at = kTarget + kWords + 16 * i;
              if (r.op == kAdd) {
                ids.push_back(e.fetch_add(sink, key, at, r.data, r.mask));
              } else if (r.op == kSwap) {
                ids.push_back(e.cmp_swap(sink, key, at,
                                         {.compare = r.compare,
                                          .swap = r.data,
                                          .compare_mask = r.compare_mask,
                                          .swap_mask = r.mask}));
              } else {
                ids.push_back(e.atomic_write(key, at, r.data));
              }
            }
            h.until_complete(e, "completions");
            for (size_t i = 0; i < rows.size(); ++i) {
              const Row& r = rows[i];
              const Wc& wc = e.wc(ids[i]);
              EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << i;
              EXPECT_EQ(wc.opcode, r.op == kAdd    ? IBV_WC_FETCH_ADD
                                   : r.op == kSwap ? IBV_WC_COMP_SWAP
                                                   : IBV_WC_ATOMIC_WRITE)
                  << i;
              EXPECT_EQ(wc.byte_len, 8u) << i;
              const uint64_t untouched = 0x5a5a5a5a5a5a5a5a;
              EXPECT_EQ(word(d, kSinks + 16 * i), r.op == kWrite ? untouched : r.old) << i;
              EXPECT_EQ(word(d, kSinks + 16 * i + 8), untouched) << i;
            }
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint&, Region& d) {
            for (size_t i = 0; i < rows.size(); ++i) {
              set(d, kWords + 16 * i, rows[i].old);
              set(d, kWords + 16 * i + 8, kPoison);
            }
            set_up = true;
            h.until("the client's end", [&] { return client_done; });
            for (size_t i = 0; i < rows.size(); ++i) {
              EXPECT_EQ(word(d, kWords + 16 * i), rows[i].want) << i;
              EXPECT_EQ(word(d, kWords + 16 * i + 8), kPoison) << i;
            }
          });
        });
  });
}

/// Unsignalled atomics produce no completion; their values are in the sink once a later request is
/// complete. A fence waits for each kind: a Send after it is sent when the response has arrived.
TEST_P(AtomicTest, UnsignalledAndFenced) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            const Sge sinks[2] = {d.sge(4096, 8), d.sge(4104, 8)};
            for (const Sge& sink : sinks) {
              const auto r = e.qp.post_send({.wr_id = 0x777,
                                             .sg_list = {&sink, 1},
                                             .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                             .remote_addr = kTarget + 4096,
                                             .rkey = key,
                                             .compare_add = 5});
              ASSERT_TRUE(r);
            }
            const uint64_t last = e.fetch_add(d.sge(4112, 8), key, kTarget + 4096, 5);
            h.until_complete(e, "the signalled one");  // an unknown id would throw
            EXPECT_EQ(e.wc(last).status, IBV_WC_SUCCESS);
            for (const uint64_t i : {0u, 1u, 2u}) EXPECT_EQ(word(d, 4096 + 8 * i), 5 * i);

            (void)e.fetch_add(d.sge(4096, 8), key, kTarget + 4104, 1);
            (void)e.send(d.sge(0, 8), IBV_SEND_FENCE);
            (void)e.atomic_write(key, kTarget + 4104, 9);
            (void)e.send(d.sge(0, 8), IBV_SEND_FENCE);
            (void)e.cmp_swap(d.sge(4104, 8), key, kTarget + 4104, {.compare = 9, .swap = 10});
            (void)e.fetch_add(d.sge(4112, 8), key, kTarget + 4104, 0, 0, IBV_SEND_FENCE);
            h.until_complete(e, "completions");
            EXPECT_EQ(word(d, 4112), 10u);
          });
        },
        [&](Host& h) {
          serve(h, [&](Host&, Endpoint& e, Region& d) {
            (void)e.receive(d.sge(64, 64));
            (void)e.receive(d.sge(64, 64));
            h.until("the client's end", [&] { return client_done; });
          });
        });
    if (HasFailure()) return;
    // At the client, by time: q an atomic sent, a its response received, s any other FPDU.
    std::vector<std::pair<Time, char>> events;
    const auto note = [&](const std::vector<Tap::Seen>& seen) {
      for (const auto& s : seen) {
        const auto b = s.record.data.bytes();
        if (s.record.is_stream) continue;
        switch (opcode_of({b.begin(), b.end()})) {
          case kAtomic:
          case kAtomicWrite:
            events.emplace_back(s.at, 'q');
            break;
          case kAtomicRsp:
          case kAtomicWriteRsp:
            events.emplace_back(s.at, 'a');
            break;
          default:
            events.emplace_back(s.at, 's');
        }
      }
    };
    note(w.tap(kClient).sent);
    note(w.tap(kClient).taken);
    std::ranges::stable_sort(events, {}, &std::pair<Time, char>::first);
    std::string order;
    for (const auto& [at, what] : events) order += what;
    ASSERT_GE(order.size(), 10u);
    EXPECT_EQ(order.substr(order.size() - 10), "qasqasqaqa");
  });
}

/// Each host has two QPs to the other, each through a separate STag of the same words. Both hosts
/// add concurrently. The old values of a word form one chain from its start to its end: no addition
/// is lost, and none returns a value that the word never had. A-32.
TEST_P(AtomicTest, QpsAndStagsOfTheSameMemoryAreExact) {
  constexpr unsigned kWords = 3, kEach = 60;
  struct Done {
    unsigned word;
    uint64_t old, add;
  };
  in_child([this] {
    World w({.kind = GetParam()});
    struct OfSide {
      std::array<uint32_t, 2> keys{};
      std::vector<Done> done;  // by this side, to the words of the other
      std::array<uint64_t, kWords> ends{};
    };
    std::array<OfSide, 2> sides;
    int opened = 0, ended = 0;
    const auto body = [&](Host& h) {
      const unsigned me = h.side == kClient ? 0 : 1;
      h.open(1024);
      base::Rng rng(7 + me);
      Region memory = h.region(4096, kAccess, kTarget);
      Mr second = must(h.pd.reg_mr_iova(memory.buffer, 0, 4096, 4 * kTarget, kAccess), "region");
      Region sink = h.region(4096);
      for (unsigned i = 0; i < kWords; ++i) set(memory, 8 * i, 1'000'000'000 * (i + 1));
      sides[me].keys = {memory.mr.rkey(), second.rkey()};
      std::array<Endpoint*, 2> es{&h.endpoint(), &h.endpoint()};
      for (Endpoint* e : es) {
        if (me == 0) {
          h.connect(*e, {.flush = true});
        } else {
          h.accept(*e, {.flush = true});
        }
      }
      ++opened;
      h.until("the other side", [&] { return opened == 2; });
      std::vector<Done> done;
      for (unsigned i = 0; i < 2 * kEach; ++i) {
        const unsigned k = i % 2;
        h.until("room", [&] { return es[k]->sends_outstanding() < 8; });
        const Done d{static_cast<unsigned>(rng.below(4) == 0 ? 1 + rng.below(2) : 0), 0,
                     1 + rng.below(1000)};
        (void)es[k]->fetch_add(sink.sge(8 * i, 8), sides[1 - me].keys[k],
                               (k == 0 ? kTarget : 4 * kTarget) + 8 * d.word, d.add);
        done.push_back(d);
      }
      for (Endpoint* e : es) {
        h.until_complete(*e, "all");
        for (const Wc& wc : e->done) ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
      }
      for (unsigned i = 0; i < 2 * kEach; ++i) done[i].old = word(sink, 8 * i);
      sides[me].done = done;
      ++ended;
      h.until("the other side's end", [&] { return ended == 2; });
      for (unsigned i = 0; i < kWords; ++i) sides[me].ends[i] = word(memory, 8 * i);
    };
    w.run(body, body);
    if (HasFailure()) return;
    for (const unsigned me : {0u, 1u}) {
      for (unsigned k = 0; k < kWords; ++k) {
        std::map<uint64_t, uint64_t> next;
        for (const Done& d : sides[me].done)
          if (d.word == k) {
            EXPECT_TRUE(next.emplace(d.old, d.old + d.add).second) << "two saw " << d.old;
          }
        uint64_t at = 1'000'000'000 * (k + 1);
        for (size_t i = 0; i < next.size(); ++i) {
          ASSERT_TRUE(next.contains(at)) << "side " << me << " word " << k << ": none saw " << at;
          at = next[at];
        }
        EXPECT_EQ(at, sides[1 - me].ends[k]) << "side " << me << " word " << k;
      }
    }
  });
}

/// Part 2, rows Read: an Atomic Write and a FetchAdd arrive right after a Read of 60 KiB. They
/// change the last word of its source only after it is fetched, which takes the server's bus 60 us.
TEST_P(AtomicTest, DoesNotChangeWhatAReadBeforeItFetches) {
  constexpr uint32_t kBytes = 60 * 1024;
  constexpr uint64_t kNew = 0x1234567812345678;
  bytes = kBytes + 4096;
  for (const bool adds_first : {false, true}) {
    again();
    in_child([&] {
      World w({.kind = GetParam(), .settings = {"server.pcie_gen=3", "server.pcie_lanes=1"}});
      uint64_t old = 0;
      bool set_up = false;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              h.until("the server's memory", [&] { return set_up; });
              const uint64_t at = kTarget + kBytes - 8;
              const Sge from{std::bit_cast<uint64_t>(&kNew), 8, 0};
              const Sge to = d.sge(0, kBytes), sink = d.sge(kBytes, 8);
              const SendWr read{.sg_list = {&to, 1},
                                .opcode = IBV_WR_RDMA_READ,
                                .remote_addr = kTarget,
                                .rkey = key};
              const SendWr write{.sg_list = {&from, 1},
                                 .opcode = IBV_WR_ATOMIC_WRITE,
                                 .send_flags = IBV_SEND_INLINE,
                                 .remote_addr = at,
                                 .rkey = key};
              const SendWr add{.sg_list = {&sink, 1},
                               .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                               .remote_addr = at,
                               .rkey = key,
                               .compare_add = 1};
              (void)e.post(adds_first ? std::vector{read, add, write}
                                      : std::vector{read, write, add});
              h.until_complete(e, "completions");
              for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
              EXPECT_EQ(wrong({d.at(0), kBytes}, 2), 0u) << "the Read";
              EXPECT_EQ(word(d, kBytes), adds_first ? old : kNew) << "the FetchAdd";
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint&, Region& d) {
              fill(d.buffer.bytes(), 2);
              old = word(d, kBytes - 8);
              set_up = true;
              h.until("the client's end", [&] { return client_done; });
              EXPECT_EQ(word(d, kBytes - 8), adds_first ? kNew : kNew + 1);
            });
          });
    });
  }
}

/// Rows Write and Send, A-30: the host accepts no write for 20 us. A FetchAdd reads nothing until
/// the Write and the Send before it are placed. An Atomic Write is stored after them.
TEST_P(AtomicTest, FollowsThePlacementsBeforeIt) {
  constexpr uint32_t kBytes = 512;
  constexpr uint64_t kWord = 4096, kNew = 0x1234567812345678;
  for (const bool adds : {false, true}) {
    again();
    in_child([&] {
      World w({.kind = GetParam()});
      bool held = false, posted = false;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              h.until("the server's host", [&] { return held; });
              const Sge from{std::bit_cast<uint64_t>(&kNew), 8, 0};
              const Sge all = d.sge(0, kBytes), some = d.sge(0, 64), sink = d.sge(4096, 8);
              std::vector<SendWr> wrs{{.sg_list = {&all, 1},
                                       .opcode = IBV_WR_RDMA_WRITE,
                                       .remote_addr = kTarget,
                                       .rkey = key},
                                      {.sg_list = {&some, 1}, .opcode = IBV_WR_SEND}};
              if (adds) {
                wrs.push_back({.sg_list = {&sink, 1},
                               .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                               .remote_addr = kTarget + kWord,
                               .rkey = key,
                               .compare_add = kNew});
              } else {
                wrs.push_back({.sg_list = {&from, 1},
                               .opcode = IBV_WR_ATOMIC_WRITE,
                               .send_flags = IBV_SEND_INLINE,
                               .remote_addr = kTarget + kWord,
                               .rkey = key});
              }
              (void)e.post(wrs);
              posted = true;
              h.until_complete(e, "completions");
              for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint& e, Region& d) {
              Tap& tap = w.tap(kServer);
              const uint64_t receive = e.receive(d.sge(8192, 64));
              set(d, kWord, 0);
              size_t reads = 0, placed = 0, stores = 0;
              tap.on_read = [&](const sim::DmaRead& r) {
                reads += r.client == Client::kQn1 ? 1 : 0;
                return true;
              };
              tap.on_write = [&](const sim::DmaWrite& x) {
                if (x.client == Client::kPlace) placed += x.data.size();
                if (x.client != Client::kWord) return;
                ++stores;
                EXPECT_EQ(x.address, d.buffer.bus(kWord));
                EXPECT_EQ(placed, kBytes + 64) << "stored before a placement";
              };
              h.rest(5 * kUs);
              tap.takes_writes = false;
              held = true;
              h.until("the client's requests", [&] { return posted; });
              h.rest(20 * kUs);
              EXPECT_EQ(came(tap, adds ? kAtomic : kAtomicWrite).size(), 1u) << "it is here";
              EXPECT_EQ(reads, 0u) << "read before a placement";
              EXPECT_EQ(word(d, kWord), 0u);
              tap.takes_writes = true;
              tap.wake();
              h.until("the client's end", [&] { return client_done; });
              EXPECT_EQ(wrong({d.at(0), kBytes}, 1), 0u);
              EXPECT_EQ(wrong({d.at(8192), 64}, 1), 0u);
              EXPECT_EQ(word(d, kWord), kNew);
              EXPECT_EQ(stores, 1u);
              EXPECT_EQ(reads, adds ? 1u : 0u);
              h.until("the Send", [&] { return e.completed(receive); });
              tap.on_read = nullptr;
              tap.on_write = nullptr;
            });
          });
    });
  }
}

/// Rows Flush: while the host does not complete a Flush's read-back, a later Atomic Write stores
/// nothing and a later FetchAdd reads nothing. Their responses follow the Flush's. (Their store may
/// precede the Flush's response at the LLP port: that response then waits in mpa or llp_if.)
TEST_P(AtomicTest, FollowsTheResponseOfAFlush) {
  constexpr uint64_t kWord = 4096, kNew = 0x1234567812345678;
  for (const bool adds : {false, true}) {
    again();
    in_child([&] {
      World w({.kind = GetParam()});
      bool held = false, posted = false;
      Time stored = 0, completed = 0;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              h.until("the server's host", [&] { return held; });
              (void)e.flush(key, kTarget, 64);
              if (adds) {
                (void)e.fetch_add(d.sge(4096, 8), key, kTarget + kWord, kNew);
              } else {
                (void)e.atomic_write(key, kTarget + kWord, kNew);
              }
              posted = true;
              h.until_complete(e, "completions");
              for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint&, Region& d) {
              Tap& tap = w.tap(kServer);
              set(d, kWord, 0);
              std::vector<sim::DmaRead> kept;
              size_t reads = 0;
              bool keeps = true;
              tap.on_read = [&](const sim::DmaRead& r) {
                reads += r.client == Client::kQn1 ? 1 : 0;
                if (!keeps || r.client != Client::kPayload) return true;
                kept.push_back(r);
                return false;
              };
              tap.on_write = [&](const sim::DmaWrite& x) {
                if (x.client == Client::kWord) stored = sim::kernel_now();
              };
              held = true;
              h.until("the client's requests", [&] { return posted; });
              h.rest(20 * kUs);
              EXPECT_EQ(came(tap, adds ? kAtomic : kAtomicWrite).size(), 1u) << "it is here";
              EXPECT_EQ(kept.size(), 1u) << "the read-back";
              EXPECT_EQ(reads, 0u);
              EXPECT_EQ(word(d, kWord), 0u);
              keeps = false;
              completed = sim::kernel_now();
              for (const auto& r : kept) tap.pass(r);
              h.until("the client's end", [&] { return client_done; });
              EXPECT_EQ(word(d, kWord), kNew);
              tap.on_read = nullptr;
              tap.on_write = nullptr;
            });
          });
      if (HasFailure()) return;
      size_t n = 0, flushed = 0;  // number of the FPDU with the Flush's response
      for (const auto& s : w.tap(kServer).sent) {
        const auto b = s.record.data.bytes();
        if (s.record.is_stream) continue;
        ++n;
        if (opcode_of({b.begin(), b.end()}) == 0xd) flushed = n;
      }
      EXPECT_NE(flushed, 0u);
      EXPECT_LT(flushed, n) << "the other response follows";
      EXPECT_GT(stored, completed);
    });
  }
}

/// Two QPs of the server use one word. The test withholds the holder's read from the host, so that
/// the waiter waits for the lock. Then one QP ends, by an abort of the server or a reset from the
/// client.
class AtomicEnds : public AtomicTest {
 protected:
  static constexpr uint64_t kStart = 100, kHolder = 1, kWaiter = 10;
  void run(bool holder_ends, bool by_peer);
};

void AtomicEnds::run(bool holder_ends, bool by_peer) {
  World w({.kind = GetParam()});
  std::vector<sim::DmaRead> kept;
  bool keeps = true, ending = false, passed = false;
  uint64_t at_destroy = 0;
  w.run(
      [&](Host& h) {
        ask(h, [&](Host&, Endpoint& holder, Region& d) {
          Endpoint& waiter = h.endpoint();
          h.connect(waiter, {.flush = true});
          set(d, 4096, kPoison);
          set(d, 4104, kPoison);
          const uint64_t first = holder.fetch_add(d.sge(4096, 8), key, kTarget, kHolder);
          h.until("the holder's read", [&] { return kept.size() == 1; });
          const uint64_t second = waiter.fetch_add(d.sge(4104, 8), key, kTarget, kWaiter);
          h.until("the waiter's request",
                  [&] { return came(w.tap(kServer), kAtomic).size() == 2; });
          h.rest(5 * kUs);
          EXPECT_EQ(kept.size(), 1u) << "the lock";
          Endpoint& ends = holder_ends ? holder : waiter;
          Endpoint& stays = holder_ends ? waiter : holder;
          const uint64_t lost = holder_ends ? first : second;
          const uint64_t good = holder_ends ? second : first;
          ending = true;
          if (by_peer) must(ends.qp.modify(IBV_QPS_ERR), "abort");
          h.rest(20 * kUs);
          EXPECT_EQ(kept.size(), 1u) << "the lock";
          keeps = false;
          passed = true;
          w.tap(kServer).pass(kept[0]);
          h.until_complete(ends, "the lost one");
          EXPECT_EQ(ends.wc(lost).status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(word(d, holder_ends ? 4096 : 4104), kPoison);
          h.until_complete(stays, "the other QP's");
          EXPECT_EQ(stays.wc(good).status, IBV_WC_SUCCESS);
          // The holder's atomic had begun: it is executed.
          EXPECT_EQ(word(d, holder_ends ? 4104 : 4096), holder_ends ? kStart + kHolder : kStart);
          const uint64_t after = stays.fetch_add(d.sge(4096, 8), key, kTarget, 0);
          h.until_complete(stays, "one afterwards");
          EXPECT_EQ(stays.wc(after).status, IBV_WC_SUCCESS);
        });
      },
      [&](Host& h) {
        serve(h, [&](Host&, Endpoint& holder, Region& d) {
          set(d, 0, kStart);
          w.tap(kServer).on_read = [&](const sim::DmaRead& r) {
            if (!keeps || r.client != Client::kQn1) return true;
            kept.push_back(r);
            return false;
          };
          Endpoint& waiter = h.endpoint();
          h.accept(waiter, {.flush = true});
          h.until("the client", [&] { return ending; });
          Endpoint& ends = holder_ends ? holder : waiter;
          if (by_peer) {
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.object, ends.qp.qp_num());
            EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kLlpLost));
          } else {
            must(ends.qp.modify(IBV_QPS_ERR), "abort");
          }
          must(ends.qp.destroy(), "destroy_qp");
          at_destroy = word(d, 0);
          if (holder_ends) {
            EXPECT_TRUE(passed) << "destroy_qp is answered, and a read of the QP is in flight";
            EXPECT_GE(at_destroy, kStart + kHolder) << "destroy_qp is answered before the store";
          }
          h.until("the client's end", [&] { return client_done; });
          h.rest(10 * kUs);
          EXPECT_EQ(word(d, 0), kStart + kHolder + (holder_ends ? kWaiter : 0));
          w.tap(kServer).on_read = nullptr;
        });
      });
}

TEST_P(AtomicEnds, TheHolderOfTheLockIsAborted) {
  in_child([this] { run(true, false); });
}
TEST_P(AtomicEnds, TheHolderOfTheLockIsReset) {
  in_child([this] { run(true, true); });
}
TEST_P(AtomicEnds, AWaiterForTheLockIsAborted) {
  in_child([this] { run(false, false); });
}
TEST_P(AtomicEnds, AWaiterForTheLockIsReset) {
  in_child([this] { run(false, true); });
}

/// An old value that arrives poisoned or never: Terminate 0/2/07 with only the DDP header. The word
/// is unchanged, later requests of its QP have no effect, and the next waiter for the word
/// continues.
TEST_P(AtomicTest, AnOldValueThatCannotBeReadIsATerminate) {
  constexpr uint32_t kTimeout = 5'000;
  for (const bool never : {false, true}) {
    again();
    in_child([&] {
      World w({.kind = GetParam()});
      std::vector<sim::DmaRead> kept;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              Endpoint& near = h.endpoint();
              h.connect(near, {.flush = true});
              set(d, 4096, kPoison);
              const uint64_t bad = e.fetch_add(d.sge(4096, 8), key, kTarget, 1);
              // `behind` follows the bad request on its QP; `near` is another QP.
              const uint64_t behind = e.atomic_write(key, kTarget + 8, 1);
              h.until("the first read", [&] { return kept.size() == 1; });
              const uint64_t good = near.fetch_add(d.sge(4104, 8), key, kTarget, 10);
              h.until("both requests", [&] { return came(w.tap(kServer), kAtomic).size() == 2; });
              h.rest(2 * kUs);
              EXPECT_EQ(near.sends_outstanding(), 1u) << "the lock";
              if (!never) w.tap(kServer).pass(kept[0]);
              const AsyncEvent event = h.event();
              EXPECT_EQ(event.peer_term, 0x0207);
              h.until_complete(e, "completions");
              EXPECT_EQ(e.wc(bad).status, IBV_WC_REM_OP_ERR);
              EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
              EXPECT_EQ(word(d, 4096), kPoison);
              h.until_complete(near, "the neighbour's");
              EXPECT_EQ(near.wc(good).status, IBV_WC_SUCCESS);
              EXPECT_EQ(word(d, 4104), 100u);
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint& e, Region& d) {
              h.dev.write32(0, spec::kCplTimeoutOffset, kTimeout);
              set(d, 0, 100);
              set(d, 8, 0);
              w.tap(kServer).on_read = [&](const sim::DmaRead& r) {
                if (!kept.empty() || r.client != Client::kQn1) return true;
                kept.push_back(r);
                return false;
              };
              if (!never) {
                h.world.simulation().root_complex(h.side).add_fault(
                    {.status = spec::RdStatus::kPoisoned,
                     .nth = 1,
                     .probability = 0,
                     .from = d.buffer.bus(0),
                     .to = d.buffer.bus(0) + 8,
                     .seen = 0,
                     .completions = sim::Completions::kStatus,
                     .late = 0});
              }
              Endpoint& near = h.endpoint();
              h.accept(near, {.flush = true});
              const AsyncEvent event = h.event();
              EXPECT_EQ(event.object, e.qp.qp_num());
              EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kRdmapLength));
              h.until("the client's end", [&] { return client_done; });
              EXPECT_EQ(word(d, 0), 110u);
              EXPECT_EQ(word(d, 8), 0u);
              const auto out = w.tap(kServer).fpdus(e.number());
              ASSERT_FALSE(out.empty());
              EXPECT_EQ(out.back(),
                        fpdu(untagged(0x7, 2, 1) + hex("0207c0000046") + untagged(kAtomic, 1, 1)));
              w.tap(kServer).on_read = nullptr;
            });
          });
    });
  }
}

/// destroy_mr of the target while its old value has not arrived, or its store is stalled: the
/// response follows the store to memory, and no byte changes afterwards.
TEST_P(AtomicTest, RegionGoesDuringAnAtomic) {
  enum class Held { kRead, kStore };
  for (const Held what : {Held::kRead, Held::kStore}) {
    again();
    in_child([&] {
      World w({.kind = GetParam()});
      std::vector<sim::DmaRead> kept;
      bool going = false, set_up = false, released = false, gone = false;
      uint32_t far = 0;
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              Tap& tap = w.tap(kServer);
              h.until("the server's region", [&] { return set_up; });
              const uint64_t id = e.fetch_add(d.sge(4096, 8), far, 2 * kTarget, 1);
              h.until("destroy_mr", [&] { return going; });
              h.rest(20 * kUs);
              EXPECT_FALSE(gone);
              released = true;
              if (what == Held::kRead) {
                tap.pass(kept[0]);
              } else {
                tap.takes_writes = true;
                tap.wake();
              }
              h.until_complete(e, "the FetchAdd");
              EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
              EXPECT_EQ(word(d, 4096), 100u);
              h.until("destroy_mr's answer", [&] { return gone; });
              const uint64_t late = e.fetch_add(d.sge(4096, 8), far, 2 * kTarget, 1);
              EXPECT_EQ(h.event().peer_term, 0x0100);  // 0/1/00: the STag is invalid
              h.until_complete(e, "one after it");
              EXPECT_EQ(e.wc(late).status, IBV_WC_REM_ACCESS_ERR);
            });
          },
          [&](Host& h) {
            serve(h, [&](Host&, Endpoint&, Region&) {
              Tap& tap = w.tap(kServer);
              Region hot = h.region(4096, kAccess, 2 * kTarget);
              set(hot, 0, 100);
              far = hot.mr.rkey();
              bool reads = false;
              tap.on_read = [&](const sim::DmaRead& r) {
                if (r.client != Client::kQn1 || reads) return true;
                reads = true;
                if (what == Held::kStore) {
                  tap.takes_writes = false;
                  return true;
                }
                kept.push_back(r);
                return false;
              };
              h.rest(5 * kUs);
              set_up = true;
              h.until("the FetchAdd", [&] { return reads; });
              h.rest(3 * kUs);
              EXPECT_EQ(word(hot, 0), 100u);
              going = true;
              must(hot.mr.dereg(), "destroy_mr");
              EXPECT_TRUE(released) << "destroy_mr is answered during an atomic";
              EXPECT_EQ(word(hot, 0), 101u) << "destroy_mr is answered before the store";
              set(hot, 0, 7);
              gone = true;
              EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kRdmapStag));
              h.until("the client's end", [&] { return client_done; });
              h.rest(10 * kUs);
              EXPECT_EQ(word(hot, 0), 7u);
              tap.on_read = nullptr;
            });
          });
    });
  }
}

const auto kPairings = testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall,
                                       Kinds{"model", "rtl"}, Kinds{"rtl", "model"});
INSTANTIATE_TEST_SUITE_P(Kinds, AtomicTest, kPairings, name_of_kinds);
INSTANTIATE_TEST_SUITE_P(Kinds, AtomicEnds, kPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb
