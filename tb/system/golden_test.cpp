// The golden FPDUs of the requirements (section 12), byte for byte into a whole device, as if a
// peer had sent them, with the STag that they name. Checks the placed bytes and the device's
// responses.
#include "vectors/golden.hpp"

#include "gen/regs.hpp"
#include "tpt/tpt.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint32_t kStag = 0x11223344;

/// A key of the STag permutation (stag_key) under which an existing slot of the table has STag
/// 0x112233xx, and that slot.
std::pair<uint64_t, uint32_t> key_and_slot(const spec::Sizes& sizes) {
  struct Nobody final : model::Tpt::Out {
    void tpt_cmd_rsp(const spec::TptCmdRsp&) override {}
    void invalidated(const spec::Invalidated&) override {}
    void sq_local_done(const spec::SqLocalDone&) override {}
  } nobody;
  model::Tpt tpt(sizes, nobody);
  uint64_t key = 0;
  do {
    tpt.set_key(key += 0x9e3779b97f4a7c15);
  } while (tpt.invert(kStag >> 8) >= sizes.num_stags);
  return {key, tpt.invert(kStag >> 8)};
}

class Golden : public testing::TestWithParam<Kinds> {
 protected:
  /// A server whose region has STag 0x11223344 and starts at `base`. The client's device is silent;
  /// the test injects its FPDUs, `sent`. Then `look` checks the region's bytes.
  void run(uint64_t base, uint64_t length, const std::vector<Bytes>& sent,
           const std::function<void(Host&, Endpoint&, std::span<const uint8_t>)>& look,
           bool is_bound = false) {
    World w({.kind = GetParam()});
    bool ready = false, done = false;
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          for (const Bytes& f : sent) w.tap(kClient).inject(e.number(), f);
          h.until("the server's look", [&] { return done; });
        },
        [&](Host& h) {
          h.open();
          const auto [key, slot] = key_and_slot(w.tap(kServer).sizes());
          h.dev.write64(0, spec::kStagKeyOffset, key);  // before any region exists
          Region landing = h.region(4096);
          const auto memory = must(h.context.alloc(4096), "memory");
          Endpoint& e = h.endpoint();
          const auto list = must(h.dev.alloc(4096, MemoryKind::kContiguous), "page list");
          base::store_le<uint64_t>(list.data(), memory.bus(0));
          const auto made =
              must(h.manager->execute_args(
                       h.dev, spec::AdminOpcode::kCreateMr, slot,
                       spec::AdminMrArgs{
                           .pd = static_cast<uint16_t>(h.pd.number()),
                           .key = kStag & 0xff,
                           .log_page = 12,
                           // 7: local write, remote write and read; 0x400: remote invalidate
                           .rights = static_cast<uint16_t>(is_bound ? 0x407 : 7),
                           .qpn = static_cast<uint16_t>(is_bound ? e.qp.qp_num() : 0),
                           .base_to = base,
                           .length = length,
                           .first_offset = 0,
                           .pbl_base = must(h.manager->pbl.take(1, "entries"), "page list"),
                           .page_list = list.bus(0),
                           .pages = 1,
                           .bound = is_bound}),
                   "region");
          ASSERT_EQ(spec::AdminMrResult::unpack(made.result).stag, kStag);
          (void)e.receive(landing.sge(0, 64));
          (void)e.receive(landing.sge(64, 64));
          (void)e.receive(landing.sge(128, 64));
          h.accept(e);
          ready = true;
          look(h, e, memory.bytes());
          EXPECT_EQ(Bytes(landing.at(0), landing.at(3)),
                    e.done[0].status == IBV_WC_SUCCESS ? Bytes({'a', 'b', 'c'}) : Bytes(3));
          done = true;
        });
  }
};

const Bytes kWrite = hex(golden::kWrite.bytes), kSend = hex(golden::kSend.bytes),
            kSendInvalidate = hex(golden::kSendInvalidate.bytes),
            kReadRequest = hex(golden::kReadRequest.bytes),
            kTerminate = hex(golden::kTerminate.bytes);

/// The Write is placed, the Send is received. The STag is shared by streams, so the peer may not
/// invalidate it: Terminate 0/2/09.
TEST_P(Golden, WriteSendAndSendWithInvalidate) {
  in_child([this] {
    constexpr uint64_t kTo = 0x0102030405060708;
    run(kTo - 0x308, 4096, {kWrite, kSend, kSendInvalidate}, [](Host& h, Endpoint& e, auto bytes) {
      EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kRdmapInvStag));
      h.until_complete(e, "receives");
      EXPECT_EQ(e.done[0].status, IBV_WC_SUCCESS);
      EXPECT_EQ(e.done[0].byte_len, 3u);
      EXPECT_EQ(e.done[1].status, IBV_WC_WR_FLUSH_ERR);
      EXPECT_EQ(std::string(bytes.begin() + 0x308, bytes.begin() + 0x30d), "hello");
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 4096 - 5);
      EXPECT_EQ(h.world.tap(kServer).fpdus(e.number()).back(),
                fpdu(untagged(0x7, 2, 1) +
                     hex("0209c000 0015 4144 11223344 00000000 00000002 00000000")));
    });
  });
}

/// The STag is bound to the QP: the Send is delivered and names it.
TEST_P(Golden, SendWithInvalidateOfABoundStag) {
  in_child([this] {
    constexpr uint64_t kTo = 0x0102030405060708;
    run(
        kTo - 0x308, 4096, {kWrite, kSend, kSendInvalidate},
        [](Host& h, Endpoint& e, auto bytes) {
          h.until("two receives", [&] { return e.done.size() >= 2; });
          EXPECT_EQ(e.done[0].wc_flags, 0u);
          EXPECT_EQ(e.done[1].status, IBV_WC_SUCCESS);
          EXPECT_EQ(e.done[1].wc_flags, uint32_t{IBV_WC_WITH_INV});
          EXPECT_EQ(e.done[1].invalidated_rkey, kStag);
          EXPECT_EQ(std::string(bytes.begin() + 0x308, bytes.begin() + 0x30d), "hello");
          (void)e.qp.modify(IBV_QPS_ERR);  // flushes the third receive
          h.until_complete(e, "flush");
        },
        true);
  });
}

/// The region is one byte too short for the Read Request: the Terminate equals the golden one.
TEST_P(Golden, ReadRequestAndTerminate) {
  in_child([this] {
    run(0x2000, 0xfff, {kReadRequest}, [](Host& h, Endpoint& e, auto) {
      EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kRdmapBounds));
      h.until_complete(e, "receives");
      const auto sent = h.world.tap(kServer).fpdus(e.number());
      ASSERT_EQ(sent.size(), 1u);
      EXPECT_EQ(sent[0], kTerminate);
    });
  });
}

/// With the complete region, the Read Response carries the sink that the request names.
TEST_P(Golden, ReadRequestAndResponse) {
  in_child([this] {
    run(0x2000, 0x1000, {kReadRequest}, [](Host& h, Endpoint& e, auto bytes) {
      const auto sent = [&] { return h.world.tap(kServer).fpdus(e.number()); };
      h.until("the response", [&] {
        const auto all = sent();
        return !all.empty() && (all.back()[2] & 0x40) != 0;
      });
      uint64_t at = 0;
      for (const Bytes& f : sent()) {
        const uint64_t room = std::min<uint64_t>(4096 - at, 1454 - 14);
        Bytes header = tagged(0x2, 0xaabbccdd, 0x1000 + at);
        if (at + room != 4096) header[0] = 0x81;  // not the last
        EXPECT_EQ(f, fpdu(header + Bytes(bytes.begin() + static_cast<ptrdiff_t>(at),
                                         bytes.begin() + static_cast<ptrdiff_t>(at + room))));
        at += room;
      }
      EXPECT_EQ(at, 4096u);
      (void)e.qp.modify(IBV_QPS_ERR);  // unless the client's Terminate already has
      h.until_complete(e, "flush");
    });
  });
}

/// The third message of its queue, after two Sends: it takes the third receive and places nothing.
TEST_P(Golden, ImmediateData) {
  in_child([this] {
    const Bytes send = fpdu(untagged(0x3, 0, 1) + Bytes{0x61, 0x62, 0x63}),
                again = fpdu(untagged(0x3, 0, 2) + Bytes{0x61, 0x62, 0x63});
    run(0x2000, 0x1000, {send, again, hex(golden::kImmediate.bytes)},
        [](Host& h, Endpoint& e, auto bytes) {
          h.until_complete(e, "receives");
          ASSERT_EQ(e.done.size(), 3u);
          EXPECT_EQ(e.done[2].status, IBV_WC_SUCCESS);
          EXPECT_EQ(e.done[2].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
          EXPECT_EQ(e.done[2].imm, 0x0001020304050607u);
          EXPECT_EQ(e.done[2].byte_len, 0u);
          EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 4096);
          (void)e.qp.modify(IBV_QPS_ERR);  // the client does not end the connection
        });
  });
}

/// A Send whose last segment is Immediate Data is neither: 0/2/07, and its receive is flushed.
TEST_P(Golden, ImmediateDataDoesNotEndASend) {
  in_child([this] {
    Bytes begin = untagged(0x3, 0, 1);
    begin[0] = 0x01;  // not the last segment
    const Bytes header = hex("4148") + be(0, 4) + be(0, 4) + be(1, 4) + be(16, 4);
    run(0x2000, 0x1000, {fpdu(begin + Bytes(16)), fpdu(header + be(7, 8))},
        [&](Host& h, Endpoint& e, auto bytes) {
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kRdmapLength));
          h.until_complete(e, "receives");
          for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 4096);
          EXPECT_EQ(h.world.tap(kServer).fpdus(e.number()).back(),
                    fpdu(untagged(0x7, 2, 1) + hex("0207c000 001a") + header));
        });
  });
}

/// Messages of extensions that were not agreed. RDMAP refuses the requests (0/2/06, opcode). DDP
/// refuses the responses (1/2/01), because QN 3 is not in use. The Terminate repeats the DDP
/// header. Before a request with MSN n the test sends n - 1 other messages on its queue.
TEST_P(Golden, ExtensionsAreRefused) {
  struct Row {
    golden::Fpdu what;
    uint32_t qn, msn;
    uint16_t terminate;
    Cause cause;
  };
  for (const Row& row : {Row{golden::kAtomicRequest, 1, 2, 0x0206, Cause::kRdmapOpcode},
                         Row{golden::kFlushRequest, 1, 3, 0x0206, Cause::kRdmapOpcode},
                         Row{golden::kVerifyRequest, 1, 4, 0x0206, Cause::kRdmapOpcode},
                         Row{golden::kAtomicWriteRequest, 1, 5, 0x0206, Cause::kRdmapOpcode},
                         Row{golden::kAtomicResponse, 3, 1, 0x1201, Cause::kDdpUntaggedQn},
                         Row{golden::kFlushResponse, 3, 2, 0x1201, Cause::kDdpUntaggedQn},
                         Row{golden::kAtomicWriteResponse, 3, 4, 0x1201, Cause::kDdpUntaggedQn}}) {
    SCOPED_TRACE(row.what.name);
    in_child([&] {
      const Bytes it = hex(row.what.bytes);
      std::vector<Bytes> sent;
      for (uint32_t msn = 1; row.qn != 3 && msn < row.msn; ++msn) {
        sent.push_back(fpdu(row.qn == 0 ? untagged(0x3, 0, msn) + Bytes{0x61, 0x62, 0x63}
                                        : untagged(0x1, 1, msn) + Bytes(kReadRequest.begin() + 20,
                                                                        kReadRequest.end() - 4)));
      }
      sent.push_back(it);
      run(0x2000, 0x1000, sent, [&](Host& h, Endpoint& e, auto bytes) {
        EXPECT_EQ(h.event().cause, static_cast<uint32_t>(row.cause));
        h.until_complete(e, "receives");
        EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 4096);
        EXPECT_EQ(h.world.tap(kServer).fpdus(e.number()).back(),
                  fpdu(untagged(0x7, 2, 1) + be(row.terminate, 2) + hex("c000") +
                       Bytes(it.begin(), it.begin() + 20)));
      });
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Golden,
                         testing::Values(Kinds{"model", "model"}, Kinds{"model", "rtl"},
                                         Kinds{"model", "tandem"},
                                         Kinds{"model_minimum", "tandem_minimum"}),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
