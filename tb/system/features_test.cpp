// Features that no program uses: start-up with revision 1, rejects, zero-based regions, pages of 2
// MiB, a completion queue that overruns, arming only for solicited completions, a full event queue,
// a masked vector, a device that is reset or removed while it works. R5044-7.1, R5040-8.1.1-11;
// architecture 4, 13.
#include <algorithm>

#include "gen/regs.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;

class Features : public testing::TestWithParam<Kinds> {
 protected:
  World make(std::vector<std::string> settings = {}) {
    return World({.kind = GetParam(), .settings = std::move(settings)});
  }
  uint32_t key = 0;
  bool ready = false, client_done = false, server_done = false;
};

/// A reject delivers its private data and leaves the QP unchanged: its second attempt connects.
/// Both revisions; with the second, CRC is off, since neither side requests it. R5044-7.1.
TEST_P(Features, RejectThenAcceptOfEitherRevision) {
  for (const unsigned revision : {1u, 2u}) {
    ready = client_done = false;
    in_child([&] {
      World w = make();
      const std::vector<uint8_t> why{'f', 'u', 'l', 'l', 0};
      w.run(
          [&](Host& h) {
            h.open();
            Region data = h.region(4096);
            fill(data.buffer.bytes(), 1);
            Endpoint& e = h.endpoint();
            std::vector<uint8_t> said;
            ConnParam param;
            param.revision = revision;
            param.crc = false;
            param.rejected_with = &said;
            const auto refused = h.try_connect(e, param);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().code, Errc::kRefused) << refused.error().what;
            EXPECT_EQ(said, why);
            EXPECT_EQ(must(e.qp.query(), "query").state, IBV_QPS_INIT);
            h.connect(e, param);
            EXPECT_FALSE(e.connection.uses_crc());
            const uint64_t id = e.send(data.sge(0, 3000));
            h.until_complete(e, "Send");
            EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
            for (const Bytes& f : w.tap(kClient).fpdus(e.number()))
              EXPECT_EQ(Bytes(f.end() - 4, f.end()), hex("00000000"));  // the CRC field
            client_done = true;
            must(e.connection.disconnect(), "disconnect");
          },
          [&](Host& h) {
            h.open();
            Region data = h.region(4096);
            Endpoint& e = h.endpoint();
            (void)e.receive(data.sge(0, 4096));
            auto first = h.next_request();
            EXPECT_EQ(first.revision(), revision);
            must(first.reject(why), "reject");
            ConnParam param;
            param.crc = false;
            h.accept(e, param);
            h.until_complete(e, "receive");
            EXPECT_EQ(wrong({data.at(0), 3000}, 1), 0u);
            h.until("the client", [&] { return client_done; });
            h.follow_disconnect(e);
          });
    });
  }
}

/// Addresses of a region that start at 0, on both sides, with bytes before and after it.
TEST_P(Features, ZeroBasedRegions) {
  in_child([this] {
    World w = make();
    static constexpr uint32_t kFirst = 1000, kBytes = 9000, kAround = 3 * 4096;
    // The region is a part of its buffer.
    const auto zero_based = [](Host& h, Region& r) {
      r.buffer = must(h.context.alloc(kAround), "memory");
      r.mr =
          must(h.pd.reg_mr(r.buffer, kFirst, kBytes, Host::kAll | IBV_ACCESS_ZERO_BASED), "region");
      EXPECT_EQ(r.mr.addr(), 0u);
    };
    w.run(
        [&](Host& h) {
          h.open();
          Region r;
          zero_based(h, r);
          fill(r.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          (void)e.write(r.sge(0, 4000), key, 0);       // from the first byte
          (void)e.read(r.sge(4000, 3000), key, 4000);  // across a page boundary
          (void)e.send(r.sge(kBytes - 100, 100));      // the last bytes
          h.until_complete(e, "completions");
          for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          EXPECT_EQ(wrong(r.buffer.bytes().first(kFirst + 4000), 1), 0u);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kFirst + 4000, 3000), 2, kFirst + 4000), 0u);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kFirst + 7000), 1, kFirst + 7000), 0u);
          const uint64_t beyond = e.write(r.sge(0, 101), key, kBytes - 100);
          EXPECT_EQ(h.event().peer_term, 0x1101);          // 1/1/01: tagged, bounds
          EXPECT_EQ(e.wc(beyond).status, IBV_WC_SUCCESS);  // was sent before
          client_done = true;
          h.until("the server", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Region r;
          zero_based(h, r);
          fill(r.buffer.bytes(), 2);
          key = r.mr.rkey();
          Endpoint& e = h.endpoint();
          const uint64_t id = e.receive(r.sge(kBytes - 200, 200));
          h.accept(e);
          ready = true;
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedBounds));
          EXPECT_EQ(e.wc(id).byte_len, 100u);
          const auto b = r.buffer.bytes();
          EXPECT_EQ(wrong(b.first(kFirst), 2), 0u);
          EXPECT_EQ(wrong(b.subspan(kFirst, 4000), 1, kFirst), 0u);
          EXPECT_EQ(wrong(b.subspan(kFirst + 4000, kBytes - 4200), 2, kFirst + 4000), 0u);
          EXPECT_EQ(wrong(b.subspan(kFirst + kBytes - 200, 100), 1, kFirst + kBytes - 100), 0u);
          EXPECT_EQ(wrong(b.subspan(kFirst + kBytes - 100), 2, kFirst + kBytes - 100), 0u);
          server_done = true;
          h.until("the client", [&] { return client_done; });
        });
  });
}

/// One page-list entry describes 2 MiB: transfers across the boundary of two pages that are not
/// contiguous.
TEST_P(Features, PagesOfTwoMebibytes) {
  in_child([this] {
    World w = make({"huge_from_mib=2", "mtu=9000"});
    static constexpr uint64_t kPage = 2 << 20;
    static constexpr uint32_t kBytes = 40'000, kBefore = 15'001;
    const auto huge = [](Host& h) {
      Region r = h.region(2 * kPage, Host::kAll, kTarget + 0x1234);
      EXPECT_EQ(r.mr.page_size(), kPage);
      EXPECT_NE(r.buffer.bus(kPage), r.buffer.bus(kPage - 1) + 1) << "no border";
      return r;
    };
    static constexpr uint64_t kAt = kPage - kBefore;
    w.run(
        [&](Host& h) {
          h.open();
          Region r = huge(h);
          fill(r.buffer.bytes().subspan(kAt, kBytes), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          (void)e.write(r.sge(kAt, kBytes), key, kTarget + 0x1234 + kAt);
          (void)e.read(r.sge(kAt - 2 * kBytes, kBytes), key, kTarget + 0x1234 + kAt + 2 * kBytes);
          (void)e.send(r.sge(kAt, kBytes));
          h.until_complete(e, "completions");
          for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kAt - 2 * kBytes, kBytes), 2), 0u);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kAt, kBytes), 1), 0u);
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region r = huge(h);
          fill(r.buffer.bytes().subspan(kAt + 2 * kBytes, kBytes), 2);
          key = r.mr.rkey();
          Endpoint& e = h.endpoint();
          const uint64_t second = kAt - 2 * kBytes;
          // The receive avoids the bytes that are Read: a Send may be placed before an earlier Read
          // is answered.
          constexpr uint64_t kThird = kPage + 4 * kBytes;
          const Sge sges[] = {r.sge(second, 20'000), r.sge(kThird, kBytes - 20'000)};
          (void)e.receive(sges);
          h.accept(e);
          ready = true;
          h.until_complete(e, "receive");
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kAt, kBytes), 1), 0u);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(second, 20'000), 1), 0u);
          EXPECT_EQ(wrong(r.buffer.bytes().subspan(kThird, kBytes - 20'000), 1, 20'000), 0u);
          for (const uint8_t b : r.buffer.bytes().subspan(kAt + kBytes, 1000)) ASSERT_EQ(b, 0);
          h.follow_disconnect(e);
        });
  });
}

/// More completions than a queue has room for. Those that fit can be polled, and the queue's error
/// is reported. Its QPs enter the error state and report it to their peers; a QP of another queue
/// continues. R5040-8.1.1-11.
TEST_P(Features, CompletionQueueOverruns) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          fill(data.buffer.bytes(), 1);
          Cq small = must(h.context.create_cq(2), "small completion queue");
          const uint32_t room = small.core()->ring.size();
          Endpoint &a = h.endpoint(small), &b = h.endpoint(small), &other = h.endpoint();
          for (Endpoint* e : {&a, &b, &other}) h.connect(*e);
          h.until("the server", [&] { return ready; });
          for (uint32_t i = 0; i <= room; ++i) (void)a.send(data.sge(0, 8));
          unsigned queues = 0;
          std::vector<uint32_t> qps;
          for (int i = 0; i < 3; ++i) {
            const AsyncEvent event = h.event();
            if (event.type == IBV_EVENT_CQ_ERR) {
              ++queues;
              EXPECT_EQ(event.object, small.number());
              continue;
            }
            EXPECT_EQ(event.type, IBV_EVENT_QP_FATAL);
            EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
            qps.push_back(event.object);
          }
          std::sort(qps.begin(), qps.end());
          EXPECT_EQ(queues, 1u);
          EXPECT_EQ(qps, (std::vector<uint32_t>{a.qp.qp_num(), b.qp.qp_num()}));
          std::array<Wc, 16> wcs;
          EXPECT_EQ(must(small.poll_cq(wcs), "what fitted"), room);
          for (uint32_t i = 0; i < room; ++i) EXPECT_EQ(wcs[i].status, IBV_WC_SUCCESS);
          const auto more = small.poll_cq(wcs);
          ASSERT_FALSE(more);
          EXPECT_NE(more.error().what.find("overrun"), std::string::npos) << more.error().what;
          for (Endpoint* e : {&a, &b}) {
            const Bytes last = w.tap(kClient).fpdus(e->number()).back();
            EXPECT_EQ(last, fpdu(untagged(0x7, 2, 1) + hex("00000000")));
          }
          const uint64_t id = other.send(data.sge(0, 8));
          h.until_complete(other, "the Send of another queue");
          EXPECT_EQ(other.wc(id).status, IBV_WC_SUCCESS);
          client_done = true;
          h.until("the server", [&] { return server_done; });
          EXPECT_TRUE(h.quiet());
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint &a = h.endpoint(), &b = h.endpoint(), &other = h.endpoint();
          for (int i = 0; i < 16; ++i) (void)a.receive(data.sge(0, 64));
          (void)b.receive(data.sge(64, 64));
          (void)other.receive(data.sge(128, 64));
          for (Endpoint* e : {&a, &b, &other}) h.accept(*e);
          ready = true;
          for (int i = 0; i < 2; ++i) {
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
            EXPECT_EQ(event.peer_term, 0x0000);  // 0/0/00: local catastrophic error
          }
          for (Endpoint* e : {&a, &b, &other}) h.until_complete(*e, "receives");
          EXPECT_EQ(a.done.back().status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(b.done.back().status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(other.done.back().status, IBV_WC_SUCCESS);
          server_done = true;
          h.until("the client", [&] { return client_done; });
        });
  });
}

/// Armed only for solicited completions. A plain completion causes no event, whether before or
/// after the arming. A solicited completion causes one, in both cases.
TEST_P(Features, SolicitedAlone) {
  in_child([this] {
    World w = make();
    int asked = 0;  // Sends that the server has requested
    static constexpr bool kSolicited[] = {false, false, true, true};
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          h.connect(e);
          for (int i = 0; i < 4; ++i) {
            h.until("the server", [&] { return asked > i; });
            *data.at(0) = static_cast<uint8_t>(i + 1);
            (void)e.send(data.sge(0, 1), kSolicited[i] ? uint32_t{IBV_SEND_SOLICITED} : 0u);
            h.until_complete(e, "Send");
          }
          h.until("the server", [&] { return server_done; });
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          for (uint32_t i = 0; i < 4; ++i) (void)e.receive(data.sge(64 * i, 1));
          h.accept(e);
          // The Send has arrived with its completion, which was not polled.
          const auto next = [&](int i) {
            asked = i + 1;
            const auto& ring = h.cq.core()->ring;
            for (const Time end = h.dev.now() + kMs; !ring.ready(static_cast<uint32_t>(i));) {
              h.dev.relax();
              ASSERT_LT(h.dev.now(), end);
            }
            EXPECT_EQ(*data.at(static_cast<uint64_t>(64 * i)), i + 1);
          };
          const auto fires = [&] { return h.cq.get_cq_event(h.dev.now() + 10 * kUs).has_value(); };
          next(0);
          must(h.cq.req_notify_cq(true), "arm");
          EXPECT_FALSE(fires()) << "for a plain one before it";
          next(1);
          EXPECT_FALSE(fires()) << "for a plain one";
          next(2);
          EXPECT_TRUE(fires()) << "not for a solicited one";
          h.poll();
          EXPECT_EQ(e.done.size(), 3u);
          next(3);
          EXPECT_FALSE(fires()) << "without arming";
          must(h.cq.req_notify_cq(true), "arm");
          EXPECT_TRUE(fires()) << "not for a solicited one before it";
          h.until_complete(e, "receives");
          server_done = true;
          h.follow_disconnect(e);
        });
  });
}

/// Counts the event entries that a device writes while `on`.
struct EventsWritten final : sim::PcieObserver {
  unsigned count = 0;
  bool on = false;
  void on_write_issued(Time, const sim::DmaWrite& w) override {
    count += on && w.client == sim::Client::kCq && w.data.size() == spec::Eqe::kBytes ? 1 : 0;
  }
};

/// More completion queues have events than their event queue has entries: no event is lost, and
/// each is written as soon as there is room.
TEST_P(Features, EventQueueIsFull) {
  in_child([this] {
    World w = make();
    static constexpr size_t kQueues = 5;
    EventsWritten written;
    w.simulation().observe(kClient, written);
    w.run(
        [&](Host& h) {
          h.open(256, {.log_eq = 1});
          Region data = h.region(4096);
          std::vector<Cq> cqs;
          std::vector<Endpoint*> all;
          for (size_t i = 0; i < kQueues; ++i)
            cqs.push_back(must(h.context.create_cq(4), "completion queue"));
          for (Cq& cq : cqs) {
            all.push_back(&h.endpoint(cq));
            h.connect(*all.back());
          }
          h.until("the server", [&] { return ready; });
          written.on = true;
          for (size_t i = 0; i < kQueues; ++i) {
            must(cqs[i].req_notify_cq(), "arm");
            (void)all[i]->send(data.sge(0, 8));
          }
          for (Cq& cq : cqs) {  // all completions are written, and the events that fit
            for (const Time end = h.dev.now() + kMs; !cq.core()->ring.ready(0);) {
              h.dev.relax();
              ASSERT_LT(h.dev.now(), end);
            }
          }
          h.rest(10 * kUs);
          EXPECT_EQ(written.count, 2u);
          for (Cq& cq : cqs) must(cq.get_cq_event(h.dev.now() + kMs), "event");
          EXPECT_EQ(written.count, kQueues);
          client_done = true;
          h.until("the server", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          std::vector<Endpoint*> all;
          for (size_t i = 0; i < kQueues; ++i) {
            all.push_back(&h.endpoint());
            (void)all.back()->receive(data.sge(64 * i, 64));
            h.accept(*all.back());
          }
          ready = true;
          for (Endpoint* e : all) h.until_complete(*e, "receive");
          h.until("the client", [&] { return client_done; });
          server_done = true;
        });
  });
}

/// A masked vector's message waits until the vector is unmasked; its event is already in the queue.
TEST_P(Features, MaskedVectorWaits) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          h.connect(e);
          const uint64_t vector = h.cq.core()->eqn;
          const auto mask = [&](uint32_t on) {
            h.dev.write32(
                0,
                static_cast<uint32_t>(spec::kMsixControlOffset + vector * spec::kMsixControlStride),
                on);
          };
          const auto fires = [&] {
            return h.dev.wait(uint64_t{1} << vector, h.dev.now() + 10 * kUs) != 0;
          };
          (void)fires();  // an earlier one
          mask(1);
          must(h.cq.req_notify_cq(), "arm");
          (void)e.send(data.sge(0, 8));
          h.until_complete(e, "Send");
          EXPECT_FALSE(fires());
          mask(0);
          EXPECT_TRUE(fires());
          must(h.cq.get_cq_event(h.dev.now()), "event");
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          (void)e.receive(data.sge(0, 64));
          h.accept(e);
          h.until_complete(e, "receive");
          h.follow_disconnect(e);
        });
  });
}

/// A host resets its device during transfers in both directions. No byte is written afterwards, the
/// loss is reported to the peer, and the device works again; a second time, without a pause.
TEST_P(Features, ResetUnderTraffic) {
  in_child([this] {
    static constexpr int kRounds = 3;
    static constexpr uint32_t kBytes = 60'000;
    World w = make();
    int accepted = 0, reset = 0;
    bool last = false;
    w.run(
        [&](Host& outer) {
          for (int round = 0; round < kRounds; ++round) {
            outer.until("the server", [&] { return reset == round; });
            Host h(w, kClient, outer.dev);
            h.open();
            Region data = h.region(2 * kBytes);
            fill(data.buffer.bytes(), 1);
            Endpoint& e = h.endpoint();
            h.connect(e);
            h.until("the server", [&] { return accepted == round + 1; });
            for (int i = 0; i < 4; ++i) {
              (void)e.write(data.sge(0, kBytes), key, kTarget);
              (void)e.read(data.sge(kBytes, kBytes), key, kTarget + kBytes);
            }
            if (round == kRounds - 1) {
              h.until_complete(e, "completions");
              for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
              EXPECT_EQ(wrong(data.buffer.bytes().subspan(kBytes), 2), 0u);
              last = true;
              must(e.connection.disconnect(), "disconnect");
              break;
            }
            // In the first round Reads are in flight, in the second Writes.
            if (round == 0) {
              h.until("bytes of a Read", [&] { return *data.at(kBytes) == pattern(2, 0); });
            } else {
              h.until("bytes of a Write", [&] { return w.tap(kServer).taken.size() > 20; });
            }
            h.dev.reset();
            fill(data.buffer.bytes(), 9);
            if (round == 0) {
              for (const Time end = h.dev.now() + 20 * kUs; h.dev.now() < end;) h.dev.relax();
            }
            h.manager->close(h.dev);
            EXPECT_EQ(wrong(data.buffer.bytes(), 9), 0u);
          }
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(2 * kBytes, Host::kAll, kTarget);
          key = data.mr.rkey();
          for (int round = 0; round < kRounds; ++round) {
            fill(data.buffer.bytes().subspan(kBytes), 2);
            Endpoint& e = h.endpoint();
            const uint64_t receive = e.receive(data.sge(0, 64));
            h.accept(e);
            w.tap(kServer).taken.clear();
            accepted = round + 1;
            if (round == kRounds - 1) {
              h.until("the client", [&] { return last; });
              EXPECT_EQ(wrong(data.buffer.bytes().first(kBytes), 1), 0u);
              h.follow_disconnect(e);
              break;
            }
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLlpLost));
            h.until_complete(e, "flush");
            EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);
            must(e.qp.destroy(), "destroy");
            reset = round + 1;
          }
        });
  });
}

/// A device is removed from its host while it works. Registers read all ones, commands fail with
/// the reason, nothing hangs. The peer detects it by timeout and flushes.
TEST_P(Features, PulledOutUnderTraffic) {
  in_child([this] {
    static constexpr uint32_t kBytes = 60'000;
    World w = make({"llp_timeout_us=100"});
    bool gone = false;
    w.run(
        [&](Host& h) {
          h.open(256, {.admin_timeout = 100 * kUs});
          Region data = h.region(2 * kBytes);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          for (int i = 0; i < 4; ++i) {
            (void)e.write(data.sge(0, kBytes), key, kTarget);
            (void)e.read(data.sge(kBytes, kBytes), key, kTarget + kBytes);
          }
          h.until("bytes of a Read", [&] { return *data.at(kBytes) == pattern(2, 0); });
          w.simulation().remove(kClient);
          gone = true;
          h.rest(2 * kUs);  // in-flight data arrives
          fill(data.buffer.bytes(), 9);
          EXPECT_EQ(h.dev.read32(0, spec::kDevStatusOffset), 0xffffffffu);
          EXPECT_EQ(h.dev.config_read(0), 0xffffffffu);
          (void)e.send(data.sge(0, 8));  // to no device
          const auto info = e.qp.query();
          ASSERT_FALSE(info);
          EXPECT_NE(info.error().what.find("the device is gone"), std::string::npos)
              << info.error().what;
          EXPECT_EQ(wrong(data.buffer.bytes(), 9), 0u);
          h.manager->close(h.dev);
          EXPECT_FALSE(Manager::open(h.dev, {}));
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(2 * kBytes, Host::kAll, kTarget);
          fill(data.buffer.bytes().subspan(kBytes), 2);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          const uint64_t receive = e.receive(data.sge(0, 64));
          h.accept(e);
          ready = true;
          const AsyncEvent event = h.event();
          EXPECT_TRUE(gone);
          EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kLlpLost));
          h.until_complete(e, "flush");
          EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);
          must(e.qp.destroy(), "destroy");
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Features,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
