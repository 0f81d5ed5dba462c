// Connections that end while work is outstanding. In every case each work request completes exactly
// once on both sides (world.hpp's Endpoint checks it), and no byte is written afterwards.
// R5040-6.2-01 to 03, 8.1.1-04, 06.
#include "wire.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kBig = 60'000;

class Teardown : public testing::TestWithParam<Kinds> {
 protected:
  World make() { return World({.kind = GetParam()}); }
  /// A server with one receive, which the end of the client flushes or completes.
  void receive_until_the_end(Host& h) {
    h.open();
    Region data = h.region(kBig);
    Endpoint& e = h.endpoint();
    (void)e.receive(data.sge(0, kBig));
    h.accept(e);
    h.until("the client's end", [&] { return client_done; });
    h.until_complete(e, "completions");
  }
  uint32_t key = 0;
  bool ready = false, closing = false, client_done = false, server_done = false;
};

/// The server has nothing to send and closes while the client's Reads are in service: they are
/// answered before the FIN, and no record follows it.
TEST_P(Teardown, GracefulCloseWithReadsInService) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4 * kBig);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          std::vector<uint64_t> reads;
          for (uint32_t i = 0; i < 4; ++i)
            reads.push_back(e.read(data.sge(i * kBig, kBig), key, kTarget + i * 1000));
          // The first response is in flight.
          h.until("the first byte", [&] { return *data.at(0) == pattern(2, 0); });
          closing = true;
          h.until_complete(e, "Reads");
          for (uint32_t i = 0; i < 4; ++i) {
            EXPECT_EQ(e.wc(reads[i]).status, IBV_WC_SUCCESS) << i;
            EXPECT_EQ(wrong(data.buffer.bytes().subspan(i * kBig, kBig), 2, i * 1000), 0u) << i;
          }
          client_done = true;
          must(e.connection.disconnect(), "disconnect");
          EXPECT_TRUE(h.quiet());
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(2 * kBig, Host::kAll, kTarget);
          fill(data.buffer.bytes(), 2);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          const uint64_t receive = e.receive(data.sge(0, 64));
          h.accept(e);
          ready = true;
          h.until("the client's Reads", [&] { return closing; });
          must(e.connection.disconnect(), "disconnect");
          EXPECT_EQ(must(e.qp.query(), "query").cause, static_cast<uint32_t>(Cause::kNone));
          h.until_complete(e, "flush");
          EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_TRUE(h.quiet());
          h.until("the client", [&] { return client_done; });
        });
  });
}

/// Each side aborts in the middle of its own large transfers.
TEST_P(Teardown, AbortInALargeTransfer) {
  for (const Side who : {kClient, kServer}) {
    ready = client_done = server_done = false;
    in_child([this, who] {
      World w = make();
      bool moving = false;
      w.run(
          [&](Host& h) {
            h.open();
            Region data = h.region(2 * kBig);
            Endpoint& e = h.endpoint();
            h.connect(e);
            h.until("the server", [&] { return ready; });
            std::vector<uint64_t> ids;
            for (int i = 0; i < 4; ++i) {
              ids.push_back(e.write(data.sge(0, kBig), key, kTarget));
              ids.push_back(e.read(data.sge(kBig, kBig), key, kTarget + kBig));
            }
            ids.push_back(e.send(data.sge(0, 64)));
            const uint64_t receive = e.receive(data.sge(0, 64));
            h.until("bytes", [&] { return w.tap(kServer).taken.size() > 20; });
            moving = true;
            if (who == kClient) {
              must(e.qp.modify(IBV_QPS_ERR), "abort");
            } else {
              EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLlpLost));
            }
            h.until_complete(e, "completions");
            EXPECT_EQ(e.done.size(), ids.size() + 1);
            EXPECT_EQ(e.wc(ids.back()).status, IBV_WC_WR_FLUSH_ERR);
            EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);
            client_done = true;
            must(e.qp.destroy(), "destroy");
            EXPECT_TRUE(h.quiet());
            h.until("the server's end", [&] { return server_done; });
          },
          [&](Host& h) {
            h.open();
            Region data = h.region(2 * kBig, Host::kAll, kTarget);
            key = data.mr.rkey();
            Endpoint& e = h.endpoint();
            (void)e.receive(data.sge(0, 64));
            (void)e.receive(data.sge(0, 64));
            h.accept(e);
            ready = true;
            h.until("bytes", [&] { return moving; });
            if (who == kServer) {
              must(e.qp.modify(IBV_QPS_ERR), "abort");
            } else {
              EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLlpLost));
            }
            h.until_complete(e, "completions");
            EXPECT_EQ(e.done.size(), 2u);
            for (const Wc& wc : e.done) EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
            // After drain no byte is written.
            must(e.qp.destroy(), "destroy");
            fill(data.buffer.bytes(), 9);
            h.until("the client's end", [&] { return client_done; });
            h.rest(20 * kUs);
            EXPECT_EQ(wrong(data.buffer.bytes(), 9), 0u);
            EXPECT_TRUE(h.quiet());
            server_done = true;
          });
    });
  }
}

/// A QP ends while the host does not complete a read of its payload. The command is answered
/// in_progress (decision 6) and the driver repeats it: `admin` continues to fetch commands.
TEST_P(Teardown, AnEndThatWaitsForMemoryHoldsNoCommand) {
  in_child([this] {
    World w = make();
    constexpr unsigned kCommands = 20;
    unsigned commands = 0;
    std::vector<sim::DmaRead> kept;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(2 * kBig);
          Endpoint& e = h.endpoint();
          h.connect(e);
          Tap& tap = w.tap(kClient);
          tap.on_read = [&](const sim::DmaRead& r) {
            if (commands == kCommands) return true;
            commands += r.client == sim::Client::kAdmin && !kept.empty() ? 1 : 0;
            if (commands == kCommands)
              for (const sim::DmaRead& k : kept) tap.pass(k);
            if (commands == kCommands || r.client != sim::Client::kPayload) return true;
            kept.push_back(r);
            return false;
          };
          const uint64_t send = e.send(data.sge(0, kBig));
          const uint64_t receive = e.receive(data.sge(0, 64));
          h.until("a read of the payload", [&] { return !kept.empty(); });
          must(e.qp.modify(IBV_QPS_ERR), "abort");
          EXPECT_EQ(commands, kCommands);
          h.until_complete(e, "completions");
          EXPECT_EQ(e.wc(send).status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);
          must(e.qp.destroy(), "destroy");
          EXPECT_TRUE(h.quiet());
          client_done = true;
        },
        [this](Host& h) { receive_until_the_end(h); });
  });
}

/// While the end of a QP waits for the host's memory, commands of another thread take as long as
/// before (the median, within 10 %): the driver pauses between its repetitions.
TEST_P(Teardown, AnEndThatWaitsSlowsNobody) {
  in_child([this] {
    World w = make();
    constexpr size_t kCommands = 41;
    verbs::Manager* manager = nullptr;
    std::vector<sim::DmaRead> kept;
    bool keeps = false, measured = false, over = false;
    std::array<Time, 2> median{};
    w.simulation().start(kClient, "other", [&](PciDevice& dev) {
      const auto until = [&](const bool& flag) {
        while (!flag && !w.failed) dev.relax();
      };
      const auto measure = [&] {
        std::vector<Time> times;
        while (times.size() < kCommands) {
          const Time from = dev.now();
          must(manager->execute(dev, spec::AdminOpcode::kNop, 0), "nop");
          times.push_back(dev.now() - from);
        }
        std::ranges::sort(times);
        return times[kCommands / 2];
      };
      until(ready);
      if (w.failed) return;
      median[0] = measure();
      measured = true;
      until(keeps);
      if (w.failed) return;
      median[1] = measure();
      EXPECT_FALSE(over);
      for (const sim::DmaRead& k : std::exchange(kept, {})) w.tap(kClient).pass(k);
      keeps = false;
      until(over);
    });
    w.run(
        [&](Host& h) {
          h.open();
          manager = h.manager.get();
          Region data = h.region(2 * kBig);
          Endpoint& e = h.endpoint();
          h.connect(e);
          ready = true;
          h.until("the other thread", [&] { return measured; });
          w.tap(kClient).on_read = [&](const sim::DmaRead& r) {
            if (median[1] != 0 || r.client != sim::Client::kPayload) return true;
            kept.push_back(r);
            return false;
          };
          const uint64_t send = e.send(data.sge(0, kBig));
          h.until("a read of the payload", [&] { return !kept.empty(); });
          keeps = true;
          must(e.qp.modify(IBV_QPS_ERR), "abort");
          over = true;
          EXPECT_NE(median[1], 0u);
          h.until_complete(e, "completions");
          EXPECT_EQ(e.wc(send).status, IBV_WC_WR_FLUSH_ERR);
          client_done = true;
        },
        [this](Host& h) { receive_until_the_end(h); });
    std::printf("median of a command of another thread: %.3f us, %.3f us beside the end\n",
                static_cast<double>(median[0]) / kUs, static_cast<double>(median[1]) / kUs);
    EXPECT_LE(median[1] * 10, median[0] * 11);
  });
}

/// destroy_mr while Writes arrive: after its response no byte changes, and the next segment causes
/// 1/1/00.
TEST_P(Teardown, RegionGoesDuringATransfer) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(kBig);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          size_t posted = 0;
          for (; posted < 16; ++posted) (void)e.write(data.sge(0, kBig), key, kTarget);
          const AsyncEvent event = h.event();
          EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
          EXPECT_EQ(event.peer_term, 0x1100);
          h.until_complete(e, "completions");
          EXPECT_EQ(e.done.size(), posted);
          EXPECT_EQ(e.done.back().status, IBV_WC_WR_FLUSH_ERR);
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(kBig, Host::kAll, kTarget);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          h.accept(e);
          ready = true;
          h.until("the first bytes", [&] { return *data.at(0) == pattern(1, 0); });
          must(data.mr.dereg(), "destroy_mr");
          fill(data.buffer.bytes(), 9);
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedStag));
          h.until("the client's end", [&] { return client_done; });
          h.rest(10 * kUs);
          EXPECT_EQ(wrong(data.buffer.bytes(), 9), 0u);
          server_done = true;
        });
  });
}

/// destroy_mr of the requester's own source: one Write fails, and all later requests are flushed.
/// Key lookups run ahead of ddp, which holds sq_slots messages of a QP: these are flushed, too.
TEST_P(Teardown, SourceGoesDuringATransfer) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(kBig);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          for (int i = 0; i < 16; ++i) (void)e.write(data.sge(0, kBig), key, kTarget);
          h.until("the first Write", [&] { return !e.done.empty(); });
          must(data.mr.dereg(), "destroy_mr");
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
          h.until_complete(e, "completions");
          ASSERT_EQ(e.done.size(), 16u);
          size_t at = 0;
          while (e.done[at].status == IBV_WC_SUCCESS) ++at;
          const size_t ahead = at + w.tap(kClient).sizes().sq_slots;
          while (at < ahead && e.done[at].status == IBV_WC_WR_FLUSH_ERR) ++at;
          ASSERT_LT(at, 16u);
          EXPECT_EQ(e.done[at].status, IBV_WC_LOC_PROT_ERR);
          for (++at; at < 16; ++at) EXPECT_EQ(e.done[at].status, IBV_WC_WR_FLUSH_ERR);
          client_done = true;
          h.until("the server's end", [&] { return server_done; });
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(kBig, Host::kAll, kTarget);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          h.accept(e);
          ready = true;
          const AsyncEvent event = h.event();
          EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
          EXPECT_EQ(event.peer_term, 0x0000);
          h.until("the client's end", [&] { return client_done; });
          server_done = true;
        });
  });
}

/// The server ends with a Terminate, and its device is reset. The client is still writing earlier
/// data to a slow host, and more of its Reads wait for the outstanding ones. Whether a FIN or a
/// reset follows the Terminate, the client reports the Terminate.
TEST_P(Teardown, ATerminateIsHeardBeforeWhatFollowsIt) {
  for (const bool fin : {true, false}) {
    SCOPED_TRACE(fin ? "FIN" : "reset alone");
    ready = false;
    in_child([this, fin] {
      constexpr uint32_t kReads = 5, kMore = 12, kBytes = 8000;
      World w({.kind = GetParam(), .settings = {"client.pcie_gen=3", "client.pcie_lanes=1"}});
      w.tap(kClient).on_event = [fin](const spec::LlpCtlEvt& e) {
        return fin || e.kind != spec::LlpEvt::kPeerClosed;
      };
      const ConnParam param{.responder_resources = kReads + 1, .initiator_depth = kReads + 1};
      w.run(
          [&](Host& h) {
            h.open();
            Region data = h.region(kReads * kBytes);
            Endpoint& e = h.endpoint();
            h.connect(e, param);
            h.until("the server", [&] { return ready; });
            std::vector<uint64_t> reads;
            for (uint32_t i = 0; i < kReads; ++i)
              reads.push_back(e.read(data.sge(i * kBytes, kBytes), key, kTarget));
            const uint64_t beyond = e.read(data.sge(0, 2), key, kTarget + kBig - 1);
            std::vector<uint64_t> more;
            for (uint32_t i = 0; i < kMore; ++i)
              more.push_back(e.read(data.sge(0, 1), key, kTarget));
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
            EXPECT_EQ(event.peer_term, 0x0101);  // 0/1/01: the source is out of bounds
            h.until_complete(e, "completions");
            for (uint32_t i = 0; i < kReads; ++i) {
              EXPECT_EQ(e.wc(reads[i]).status, IBV_WC_SUCCESS) << i;
              EXPECT_EQ(wrong(data.buffer.bytes().subspan(i * kBytes, kBytes), 3), 0u) << i;
            }
            EXPECT_EQ(e.wc(beyond).status, IBV_WC_REM_ACCESS_ERR);
            for (const uint64_t id : more) EXPECT_EQ(e.wc(id).status, IBV_WC_WR_FLUSH_ERR);
          },
          [&](Host& h) {
            h.open();
            Region data = h.region(kBig, Host::kAll, kTarget);
            fill(data.buffer.bytes(), 3);
            key = data.mr.rkey();
            Endpoint& e = h.endpoint();
            h.accept(e, param);
            ready = true;
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kRdmapBounds));
            h.dev.reset();
            h.manager->close(h.dev);
          });
    });
  }
}

/// A QP that has ended accepts work and flushes it, also a pushed WQE.
TEST_P(Teardown, WorkPushedBehindTheEndIsFlushed) {
  in_child([this] {
    World w = make();
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint(Host::kCap, true);
          h.connect(e);
          (void)e.send(data.sge(0, 8));
          h.until_complete(e, "a Send");
          must(e.qp.modify(IBV_QPS_ERR), "abort");
          for (int i = 0; i < 3; ++i) {
            const uint64_t id = e.send(data.sge(0, 8));
            h.until_complete(e, "flush");
            EXPECT_EQ(e.wc(id).status, IBV_WC_WR_FLUSH_ERR);
          }
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          (void)e.receive(data.sge(0, 64));
          h.accept(e);
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLlpLost));
        });
  });
}

/// A peer answers a Read that was not sent yet: the Read completes, and its request still waits for
/// credit. After our FIN nothing is sent, no segment and no Terminate (the platform's LLP ends the
/// run otherwise), and the QP ends.
TEST_P(Teardown, NothingLeavesBehindTheFin) {
  in_child([this] {
    World w = make();
    constexpr uint32_t kOfSetUp = 1000;  // less than the largest FPDU, so no FPDU gets credit
    uint32_t told = 0;
    bool is_open = false;
    uint64_t sink_at = 0;
    w.tap(kClient).on_credit = [&](spec::LlpCredit& c) {
      told = c.limit;
      if (!is_open) c.limit = std::min(c.limit, kOfSetUp);
    };
    uint16_t client_number = 0, server_number = 0;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(64);
          Endpoint& e = h.endpoint();
          h.connect(e);
          client_number = e.number();
          h.until("the server", [&] { return ready; });
          const uint64_t read = e.read(data.sge(0, 0), key, kTarget);
          h.rest(20 * kUs);
          EXPECT_FALSE(e.completed(read));
          key = data.mr.rkey();
          sink_at = data.mr.addr();
          closing = true;
          h.until_complete(e, "a Read that never left");
          EXPECT_EQ(e.wc(read).status, IBV_WC_SUCCESS);
          (void)e.connection.disconnect(200 * kUs);  // the peer continues: it ends with a Terminate
          client_done = true;
          EXPECT_EQ(must(e.qp.query(), "query").state, IBV_QPS_ERR);
          EXPECT_TRUE(w.tap(kClient).fpdus(client_number).empty());
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(64, Host::kAll, kTarget);
          key = data.mr.rkey();
          Endpoint& e = h.endpoint();
          h.accept(e);
          server_number = e.number();
          ready = true;
          h.until("the client's Read", [&] { return closing; });
          w.tap(kServer).inject(server_number, fpdu(tagged(0x2, key, sink_at)));
          const auto fin = [&] {
            return std::ranges::any_of(w.tap(kClient).asked, [&](const Tap::Asked& a) {
              return a.req.op == spec::LlpOp::kHalfClose && a.req.connection == client_number;
            });
          };
          h.until("the client's FIN", fin);
          is_open = true;
          w.tap(kClient).llp_credit({.connection = client_number, .limit = told});
          h.rest(20 * kUs);
          // A Send with MSN 7 in place of 1: the client finds an error (1/2/03), but may not report
          // it after its FIN.
          w.tap(kServer).inject(server_number, fpdu(untagged(0x3, 0, 7)));
          h.until("the client", [&] { return client_done; });
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Teardown,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
