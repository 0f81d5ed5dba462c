// Immediate Data and Write with Immediate from end to end: bytes, completions, order, and exactly
// one completion per request in every ending. RFC 7306 sections 3, 6, 7; ambiguity A-33. The errors
// of a peer: terminate_test.
#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint64_t kValue = 0x0001020304050607;
constexpr uint8_t kSend = 0x3, kImmediate = 0x8, kImmediateSe = 0x9;

class ImmediateTest : public testing::TestWithParam<Kinds> {
 protected:
  using Body = std::function<void(Host&, Endpoint&, Region&)>;
  uint32_t key = 0;
  bool ready = false, client_done = false, server_done = false;

  /// FPDUs of these opcodes that a side received, in order.
  static std::vector<Bytes> came(const Tap& tap, std::initializer_list<uint8_t> opcodes) {
    std::vector<Bytes> all;
    for (const auto& s : tap.taken) {
      const auto b = s.record.data.bytes();
      Bytes f(b.begin(), b.end());
      if (!s.record.is_stream && std::ranges::find(opcodes, opcode_of(f)) != opcodes.end())
        all.push_back(std::move(f));
    }
    return all;
  }
  /// The passive side: a region, receives, a connection, then `body`.
  void serve(Host& h, unsigned receives, const Body& body, uint32_t length = 64) {
    h.open();
    Region data = h.region(3 * 4096, Host::kAll, kTarget);
    fill(data.buffer.bytes(), 7);
    key = data.mr.rkey();
    Endpoint& e = h.endpoint();
    for (unsigned i = 0; i < receives; ++i) (void)e.receive(data.sge(4096 + 64 * i, length));
    h.accept(e);
    ready = true;
    body(h, e, data);
    server_done = true;
    h.until("the client", [&] { return client_done; });
  }
  /// The client: `body`, once the server is ready.
  void ask(Host& h, const Body& body) {
    h.open();
    Region data = h.region(3 * 4096);
    fill(data.buffer.bytes(), 1);
    Endpoint& e = h.endpoint();
    h.connect(e);
    h.until("the server", [&] { return ready; });
    body(h, e, data);
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
  SendWr write_imm(std::span<const Sge> from, uint64_t to, uint64_t imm, uint32_t flags = 0) const {
    return {.sg_list = from,
            .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
            .send_flags = flags,
            .remote_addr = to,
            .rkey = key,
            .imm = imm};
  }
  static SendWr immediate(uint64_t imm, uint32_t flags = 0) {
    return {.opcode = RNIC_WR_IMM, .send_flags = flags, .imm = imm};
  }
};

/// Golden vector kImmediate (tb/vectors/golden.hpp): value 0x0001020304050607 with MSN 3.
TEST_P(ImmediateTest, ItsBytesAreThoseOfTheText) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            const Sge from = d.sge(0, 5);
            (void)e.send(d.sge(0, 1));
            (void)e.post({immediate(0xa0a1a2a3a4a5a6a7, IBV_SEND_SOLICITED)});
            (void)e.post({immediate(kValue), write_imm({&from, 1}, kTarget, imm_of(0x44332211))});
            h.until_complete(e, "completions");
            for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            ASSERT_EQ(e.done.size(), 4u);
            EXPECT_EQ(e.done[1].opcode, IBV_WC_SEND);
            EXPECT_EQ(e.done[3].opcode, IBV_WC_RDMA_WRITE);
          });
        },
        [&](Host& h) {
          serve(h, 4, [&](Host&, Endpoint& e, Region&) { h.until_complete(e, "receives"); });
        });
    if (HasFailure()) return;
    const auto seen = came(w.tap(kServer), {0x0, kSend, kImmediate, kImmediateSe});
    ASSERT_EQ(seen.size(), 5u);
    EXPECT_EQ(seen[1], fpdu(hex("4149 00000000 00000000 00000002 00000000 a0a1a2a3a4a5a6a7")));
    EXPECT_EQ(seen[2], fpdu(hex("4148 00000000 00000000 00000003 00000000 0001020304050607")));
    EXPECT_EQ(opcode_of(seen[3]), 0x0);
    // The wire has the bytes of imm_data in memory order: 11 22 33 44 on a little-endian host.
    const uint32_t imm_data = 0x44332211;
    Bytes four(4);
    std::memcpy(four.data(), &imm_data, 4);
    EXPECT_EQ(seen[4], fpdu(hex("4148 00000000 00000000 00000004 00000000") + four + be(0, 4)));
  });
}

/// Each Immediate takes one receive and leaves its buffer unchanged. byte_len is the length of the
/// Write directly before it, else 0.
TEST_P(ImmediateTest, CompletesAReceiveAndPlacesNothing) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"mtu=576"}});
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            const std::array from{d.sge(0, 2000), d.sge(2048, 100)};
            const Sge nothing = d.sge(0, 0);
            (void)e.post({immediate(kValue)});
            (void)e.post({write_imm(from, kTarget, 5)});
            (void)e.write(d.sge(0, 300), key, kTarget + 8192);
            (void)e.send(d.sge(0, 64));
            (void)e.post({immediate(~uint64_t{0})});
            (void)e.write(d.sge(0, 300), key, kTarget + 8192);
            (void)e.write(d.sge(0, 77), key, kTarget + 8192);
            (void)e.post({immediate(0)});
            (void)e.post({write_imm({&nothing, 1}, kTarget, 9)});
            h.until_complete(e, "completions");
          });
        },
        [&](Host& h) {
          serve(h, 6, [&](Host&, Endpoint& e, Region& d) {
            h.until_complete(e, "receives");
            const std::array<uint64_t, 6> imm{kValue, 5, 0, ~uint64_t{0}, 0, 9};
            const std::array<uint32_t, 6> bytes{0, 2100, 64, 0, 77, 0};
            ASSERT_EQ(e.done.size(), 6u);
            for (size_t i = 0; i < 6; ++i) {
              const bool is_send = i == 2;
              const Wc& wc = e.done[i];
              EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
              EXPECT_EQ(wc.opcode, is_send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM) << i;
              EXPECT_EQ(wc.wc_flags, is_send ? 0u : uint32_t{IBV_WC_WITH_IMM}) << i;
              EXPECT_EQ(wc.imm, imm[i]) << i;
              EXPECT_EQ(wc.imm, imm_of(wc.imm_data) | (imm[i] & 0xffffffff)) << i;
              EXPECT_EQ(wc.byte_len, bytes[i]) << i;
              if (!is_send) {
                EXPECT_EQ(wrong({d.at(4096 + 64 * i), 64}, 7, 4096 + 64 * i), 0u) << i;
              }
            }
            EXPECT_EQ(wrong({d.at(0), 2000}, 1), 0u);
            EXPECT_EQ(wrong({d.at(2000), 100}, 1, 2048), 0u);
          });
        });
  });
}

/// The receive of a Write with Immediate completes after its bytes are visible (RFC 7306 section
/// 7). The client waits for the check before it overwrites them.
TEST_P(ImmediateTest, ComesAfterTheBytesOfItsWrite) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"pcie_posted_hold_ns=2000", "pcie_relaxed=0.5"}});
    constexpr unsigned kRounds = 20;
    const auto length = [](unsigned i) { return 1 + 150 * i; };
    unsigned checked = 0;
    w.run(
        [&](Host& h) {
          ask(h, [&](Host&, Endpoint& e, Region& d) {
            for (unsigned i = 0; i < kRounds; ++i) {
              const Sge from = d.sge(64 * i, length(i));
              (void)e.post({write_imm({&from, 1}, kTarget, i)});
              h.until_complete(e, "a completion");
              h.until("the check", [&] { return checked > i; });
            }
          });
        },
        [&](Host& h) {
          serve(
              h, kRounds,
              [&](Host&, Endpoint& e, Region& d) {
                while (checked < kRounds) {
                  h.until("a receive", [&] { return e.done.size() > checked; });
                  EXPECT_EQ(e.done[checked].byte_len, length(checked));
                  EXPECT_EQ(wrong({d.at(0), length(checked)}, 1, 64 * checked), 0u) << checked;
                  ++checked;
                }
              },
              0);
        });
  });
}

/// A Write with Immediate is two messages on the wire and one completion, also if it fails or is
/// flushed. Endpoint fails if a request completes twice, out of order or not at all.
TEST_P(ImmediateTest, HasOneCompletionHoweverItEnds) {
  struct End {
    const char* name;
    std::function<void(Endpoint&, Region&, uint32_t key)> offend;
    WcStatus first;  // of the offender
  };
  const std::vector<End> ends{{"local key of the Write",
                               [&](Endpoint& e, Region& d, uint32_t) {
                                 Sge from = d.sge(0, 64);
                                 from.lkey ^= 0x55;
                                 (void)e.post({write_imm({&from, 1}, kTarget, 1)});
                               },
                               IBV_WC_LOC_PROT_ERR},
                              {"the peer has no receive",
                               [&](Endpoint& e, Region& d, uint32_t) {
                                 const Sge from = d.sge(0, 64);
                                 for (unsigned i = 0; i < 8; ++i)
                                   (void)e.post({write_imm({&from, 1}, kTarget, i)});
                               },
                               IBV_WC_SUCCESS},
                              {"remote key of the Write",
                               [&](Endpoint& e, Region& d, uint32_t key) {
                                 const Sge from = d.sge(0, 64);
                                 SendWr wr = write_imm({&from, 1}, kTarget, 1);
                                 wr.rkey = key ^ 0x5a;
                                 (void)e.post({wr});
                               },
                               IBV_WC_SUCCESS}};
  for (const End& end : ends) {
    SCOPED_TRACE(end.name);
    ready = client_done = server_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            ask(h, [&](Host&, Endpoint& e, Region& d) {
              const Sge from = d.sge(0, 64);
              end.offend(e, d, key);
              for (unsigned i = 0; i < 5; ++i) {
                if (e.qp.state() != IBV_QPS_RTS) break;
                (void)e.post({write_imm({&from, 1}, kTarget, i)});
              }
              h.until_complete(e, "every request");
              EXPECT_EQ(e.done[0].status, end.first);
              EXPECT_EQ(e.done[0].opcode, IBV_WC_RDMA_WRITE);
              (void)h.event();
            });
          },
          [&](Host& h) {
            serve(h, 1, [&](Host&, Endpoint& e, Region&) {
              (void)h.event();
              h.until_complete(e, "the receive");
            });
          });
    });
  }
}

const auto kPairings = testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall,
                                       Kinds{"model", "rtl"}, Kinds{"rtl", "model"});
INSTANTIATE_TEST_SUITE_P(Kinds, ImmediateTest, kPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb
