// PCIe completions that no root complex should send, and missing completions. The work request
// fails, requests of a second QP (the neighbour) continue, and no memory holds a wrong byte.
// Architecture 3.2.
#include "gen/regs.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using sim::Completions;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kTimeout = 5'000;  // device cycles: 15.5 us
constexpr Time kLate = 33 * kUs;      // after the timeout, before the tag is reused
constexpr uint32_t kBytes = 1000, kNear = 4096;

class BadCompletion : public testing::TestWithParam<Kinds> {
 protected:
  enum class Where : uint8_t { kSqFetch, kPayload, kResponse };

  struct Counts {
    uint64_t unexpected = 0, malformed = 0, timed_out = 0;
  };
  static Counts counts(Host& h) {
    return {h.dev.read64(0, spec::kCplUnexpectedOffset), h.dev.read64(0, spec::kCplMalformedOffset),
            h.dev.read64(0, spec::kCplTimedOutOffset)};
  }
  /// The next read of the first page of this memory is completed in this way.
  static void spoil(Host& h, const DmaBuffer& b, Completions how) {
    h.world.simulation().root_complex(h.side).add_fault(
        {.status = spec::RdStatus::kOk,
         .nth = 1,
         .probability = 0,
         .from = b.bus(0),
         .to = b.bus(0) + std::min<uint64_t>(b.size(), 4096),
         .seen = 0,
         .completions = how,
         .late = kLate});
  }
  /// The device has counted the bad completion in the register for its kind.
  static void expect_counted(Host& h, Completions how) {
    h.rest(2 * kLate);  // late completions have come, too
    EXPECT_EQ(h.world.simulation().root_complex(h.side).counters().misanswered, 1u);
    const Counts c = counts(h);
    const bool again = how == Completions::kTwice || how == Completions::kLate;
    const bool length = how == Completions::kShort || how == Completions::kLong;
    const bool time = how == Completions::kNever || how == Completions::kLate;
    EXPECT_EQ(c.unexpected != 0, again) << c.unexpected;
    EXPECT_EQ(c.malformed, length ? 1u : 0u);
    EXPECT_EQ(c.timed_out, time ? 1u : 0u);
  }

  /// A Write, or a Read of the peer's memory (kResponse). One read by a device gets a bad
  /// completion: of the client's WQE, of its payload, or of the server's source.
  void run(Where where, Completions how) {
    World w({.kind = GetParam()});
    const bool fails = how != Completions::kTwice;
    bool ready = false, client_done = false, server_done = false, neighbour = false;
    uint32_t rkey = 0;
    w.run(
        [&](Host& h) {
          h.open();
          h.dev.write32(0, spec::kCplTimeoutOffset, kTimeout);
          Region data = h.region(3 * 4096), sink = h.region(4096);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          h.connect(e);
          h.connect(other);
          h.until("the server", [&] { return ready; });
          const uint64_t greeting = e.send(data.sge(0, 16));
          h.until_complete(e, "the greeting");
          EXPECT_EQ(e.wc(greeting).status, IBV_WC_SUCCESS);
          if (where == Where::kSqFetch) spoil(h, e.qp.core()->sq, how);
          if (where == Where::kPayload) spoil(h, data.buffer, how);
          const uint64_t bad = where == Where::kResponse
                                   ? e.read(sink.sge(0, kBytes), rkey, kTarget)
                                   : e.write(data.sge(0, kBytes), rkey, kTarget);
          const uint64_t near = other.write(data.sge(4096, kBytes), rkey, kTarget + kNear);
          const uint64_t sent = other.send(data.sge(8192, 40));
          if (fails) {
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.object, e.qp.qp_num());
            EXPECT_EQ(static_cast<Cause>(event.cause), where == Where::kResponse
                                                           ? Cause::kPeerTerminate
                                                           : Cause::kLocalCatastrophic);
          }
          h.until_complete(e, "completions");
          h.until_complete(other, "the neighbour's");
          EXPECT_EQ(other.wc(near).status, IBV_WC_SUCCESS);
          EXPECT_EQ(other.wc(sent).status, IBV_WC_SUCCESS);
          if (!fails) {
            EXPECT_EQ(e.wc(bad).status, IBV_WC_SUCCESS);
          } else if (where == Where::kResponse) {
            EXPECT_NE(e.wc(bad).status, IBV_WC_SUCCESS);
          } else {
            EXPECT_EQ(e.wc(bad).status, IBV_WC_FATAL_ERR);
          }
          if (where != Where::kResponse) expect_counted(h, how);
          h.until("the server's counters", [&] { return server_done; });
          for (size_t i = 0; i < 4096; ++i) {
            const bool good = where == Where::kResponse && !fails && i < kBytes;
            ASSERT_EQ(*sink.at(i), good ? pattern(2, i) : 0) << "byte " << i;
          }
          EXPECT_EQ(wrong(data.buffer.bytes(), 1), 0u);
          client_done = true;
        },
        [&](Host& h) {
          h.open();
          h.dev.write32(0, spec::kCplTimeoutOffset, kTimeout);
          Region data = h.region(3 * 4096, Host::kAll, kTarget);
          if (where == Where::kResponse) fill(data.buffer.bytes().first(kBytes), 2);
          rkey = data.mr.rkey();
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          const uint64_t greeting = e.receive(data.sge(8192, 64));
          const uint64_t receive = other.receive(data.sge(8256, 64));
          h.accept(e);
          h.accept(other);
          if (where == Where::kResponse) spoil(h, data.buffer, how);
          ready = true;
          h.until("the greeting", [&] { return e.completed(greeting); });
          if (fails) {
            EXPECT_EQ(h.event().object, e.qp.qp_num());
          }
          h.until("the neighbour's Send", [&] { return other.completed(receive); });
          EXPECT_EQ(other.wc(receive).status, IBV_WC_SUCCESS);
          neighbour = true;
          h.rest(kLate);  // a successful Write of the other connection is placed by then
          if (where == Where::kResponse) expect_counted(h, how);
          for (size_t i = 0; i < 4096; ++i) {
            const bool good = i < kBytes && (where == Where::kResponse || !fails);
            ASSERT_EQ(*data.at(i), good ? pattern(where == Where::kResponse ? 2 : 1, i) : 0)
                << "byte " << i;
            ASSERT_EQ(*data.at(kNear + i), i < kBytes ? pattern(1, 4096 + i) : 0) << "byte " << i;
          }
          EXPECT_EQ(wrong(data.buffer.bytes().subspan(8256, 40), 1, 8192), 0u);
          server_done = true;
          h.until("the client's end", [&] { return client_done; });
        });
    EXPECT_TRUE(neighbour);
  }
  void all(Where where) {
    for (const Completions how : {Completions::kTwice, Completions::kShort, Completions::kLong,
                                  Completions::kNever, Completions::kLate}) {
      SCOPED_TRACE(static_cast<int>(how));
      in_child([&] { run(where, how); });
    }
  }
};

/// Payload of a Write: fatal_err, and no byte of the bad segment is sent.
TEST_P(BadCompletion, PayloadOfWrite) { all(Where::kPayload); }

/// Send-queue fetch: its WQE completes with fatal_err.
TEST_P(BadCompletion, SqFetch) { all(Where::kSqFetch); }

/// Payload of a Read Response: the peer receives a Terminate, and none of the bytes.
TEST_P(BadCompletion, PayloadOfReadResponse) { all(Where::kResponse); }

INSTANTIATE_TEST_SUITE_P(Kinds, BadCompletion,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
