// Shared receive queues from end to end: several QPs take their receives from one, in order of
// arrival. Also: an empty SRQ, messages that fail or never end, the limit. Every receive completes
// exactly once (SharedReceives). Decision 16.
#include <algorithm>
#include <map>

#include "key_test.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint16_t kNoBuffer = 0x1202, kTooLong = 0x1205;  // layer, type, code (requirements 7)
constexpr uint32_t kSlot = 2048;                           // bytes of a receive

class SrqTest : public KeyTest {
 protected:
  /// Receives of one SRQ: the id of each names its slot.
  struct Slots {
    SharedReceives* srq = nullptr;
    Region memory;
    std::map<uint64_t, uint32_t> slot_of;
    std::deque<uint32_t> free;

    void post() {
      const uint32_t slot = free.front();
      free.pop_front();
      slot_of[srq->receive(memory.sge(uint64_t{slot} * kSlot, kSlot))] = slot;
    }
    std::span<uint8_t> bytes(uint64_t id) {
      return {memory.at(uint64_t{slot_of.at(id)} * kSlot), kSlot};
    }
    /// The slot of a completed receive is free again.
    void give(uint64_t id) {
      free.push_back(slot_of.at(id));
      slot_of.erase(id);
    }
  };
  static Slots slots(Host& h, uint32_t count, uint32_t limit = 0) {
    Slots s;
    s.srq = &h.shared_receives({.max_wr = count, .max_sge = 1, .srq_limit = limit});
    s.memory = h.region(uint64_t{count} * kSlot);
    for (uint32_t i = 0; i < count; ++i) s.free.push_back(i);
    return s;
  }
  /// QPs of the server, each connected to one of the client. The client speaks first.
  std::vector<Endpoint*> serve(Host& h, Slots& s, unsigned qps) {
    std::vector<Endpoint*> all;
    for (unsigned i = 0; i < qps; ++i) {
      all.push_back(&h.endpoint(*s.srq));
      h.accept(*all.back());
    }
    ready = true;
    return all;
  }
  std::vector<Endpoint*> ask(Host& h, unsigned qps) {
    std::vector<Endpoint*> all;
    for (unsigned i = 0; i < qps; ++i) {
      all.push_back(&h.endpoint());
      h.connect(*all.back());
    }
    h.until("the server", [&] { return ready; });
    return all;
  }
  void client_ends(Host& h) {
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
  void server_ends(Host& h) {
    server_done = true;
    h.until("the client's end", [&] { return client_done; });
  }
};

/// Four QPs send messages of one and of several segments; every fourth message is a Write with
/// Immediate. Each message takes one receive; those of a QP complete in order.
TEST_P(SrqTest, ReceivesOfSeveralQps) {
  constexpr unsigned kQps = 4, kMessages = 12;
  constexpr uint64_t kTarget = 0x10000000;
  const auto length = [](unsigned q, unsigned i) { return 1 + (q * 523 + i * 307) % kSlot; };
  const auto key = [](unsigned q, unsigned i) { return 1000 * q + i; };
  uint32_t rkey = 0;
  unsigned checked = 0;  // messages whose receive is posted again
  in_child([&, this] {
    World w({.kind = GetParam(), .settings = {"mtu=576"}});
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(uint64_t{kQps} * kMessages * kSlot);
          const auto qps = ask(h, kQps);
          for (unsigned i = 0; i < kMessages; ++i) {
            for (unsigned q = 0; q < kQps; ++q) {
              const uint64_t at = uint64_t{q * kMessages + i} * kSlot;
              fill({data.at(at), length(q, i)}, key(q, i));
              const Sge from = data.sge(at, length(q, i));
              if (i % 4 == 3) {
                (void)qps[q]->post({{.sg_list = {&from, 1},
                                     .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                     .remote_addr = kTarget + at,
                                     .rkey = rkey,
                                     .imm = imm_of(i)}});
              } else {
                (void)qps[q]->send(from);
              }
            }
            h.until("room in the SRQ", [&] { return kQps * (i + 2) <= checked + 16; });
          }
          for (Endpoint* e : qps) h.until_complete(*e, "the Sends");
          for (Endpoint* e : qps) expect_success(*e);
          client_ends(h);
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 16);
          const Region target = h.region(uint64_t{kQps} * kMessages * kSlot, Host::kAll, kTarget);
          rkey = target.mr.rkey();
          while (!s.free.empty()) s.post();
          const auto qps = serve(h, s, kQps);
          std::vector<unsigned> next(kQps, 0);
          const auto all_here = [&] {
            return std::ranges::all_of(next, [=](unsigned n) { return n == kMessages; });
          };
          h.until("the messages", [&] {
            for (unsigned q = 0; q < kQps; ++q) {
              for (const Wc& wc : qps[q]->done) {
                const unsigned i = next[q]++;
                EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
                EXPECT_EQ(wc.qp_num, qps[q]->qp.qp_num());
                EXPECT_EQ(wc.byte_len, length(q, i)) << "message " << i << " of QP " << q;
                const bool has_imm = i % 4 == 3;
                EXPECT_EQ(wc.opcode, has_imm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
                const uint64_t at = uint64_t{q * kMessages + i} * kSlot;
                const auto bytes = has_imm ? std::span(target.at(at), kSlot) : s.bytes(wc.wr_id);
                EXPECT_EQ(wrong(bytes.first(length(q, i)), key(q, i)), 0u) << q << " " << i;
                s.give(wc.wr_id);
                s.post();
                ++checked;
              }
              qps[q]->done.clear();
            }
            return all_here();
          });
          EXPECT_EQ(s.srq->outstanding(), 16u);
          server_ends(h);
        });
  });
}

/// A message that finds no receive ends only its own connection (1/2/02). The SRQ serves the
/// others, also with receives that are posted later.
TEST_P(SrqTest, IsEmptyForOneStreamAlone) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(4096);
          const auto qps = ask(h, 2);
          (void)qps[0]->send(data.sge(0, 64));
          (void)qps[0]->send(data.sge(0, 64));
          const AsyncEvent event = h.event();
          EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
          EXPECT_EQ(event.peer_term, kNoBuffer);
          h.until("the receive", [&] { return server_done; });
          (void)qps[1]->send(data.sge(0, 64));
          h.until_complete(*qps[1], "the other QP");
          expect_success(*qps[1]);
          client_done = true;
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 4);
          s.post();
          const auto qps = serve(h, s, 2);
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpUntaggedNoBuffer));
          ASSERT_EQ(qps[0]->done.size(), 1u);
          expect_success(*qps[0]);
          s.post();
          server_done = true;
          h.until("the other message", [&] { return !qps[1]->done.empty(); });
          expect_success(*qps[1]);
          EXPECT_EQ(qps[0]->done.size(), 1u) << "nothing was flushed";
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// A peer that begins a message and falls silent occupies one receive. The ring wraps many times
/// meanwhile, and the receive is flushed when its QP ends.
TEST_P(SrqTest, AMessageThatNeverEndsHoldsOneReceive) {
  constexpr unsigned kRounds = 40;
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"mtu=576"}});
    unsigned left = 1;  // records of the silent QP that pass
    uint16_t silent = 0xffff;
    w.tap(kClient).on_tx = [&](sim::Record& r) {
      if (r.is_stream || r.connection != silent) return true;
      return left != 0 && left-- != 0;
    };
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(4096);
          fill(data.buffer.bytes(), 5);
          const auto qps = ask(h, 2);
          silent = qps[0]->number();
          (void)qps[0]->send(data.sge(0, 2000));
          h.until("its first segment", [&] { return left == 0; });
          for (unsigned i = 0; i < kRounds; ++i) {
            (void)qps[1]->send(data.sge(0, 1000));
            h.until("room for another Send", [&] { return qps[1]->sends_outstanding() < 2; });
          }
          h.until_complete(*qps[1], "the other QP");
          client_ends(h);
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 4);
          while (!s.free.empty()) s.post();
          const auto qps = serve(h, s, 2);
          for (unsigned n = 0; n < kRounds; ++n) {
            h.until("a message", [&] { return !qps[1]->done.empty(); });
            const Wc wc = qps[1]->done.front();
            qps[1]->done.erase(qps[1]->done.begin());
            EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
            EXPECT_EQ(wrong(s.bytes(wc.wr_id).first(1000), 5), 0u);
            s.give(wc.wr_id);
            s.post();
          }
          EXPECT_TRUE(qps[0]->done.empty());
          EXPECT_EQ(s.srq->outstanding(), 4u);
          must(qps[0]->qp.modify(IBV_QPS_ERR), "modify_qp");
          h.until("the flush", [&] { return !qps[0]->done.empty(); });
          h.rest(10 * kUs);
          h.poll();
          ASSERT_EQ(qps[0]->done.size(), 1u);
          EXPECT_EQ(qps[0]->done[0].status, IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(qps[0]->done[0].qp_num, qps[0]->qp.qp_num());
          EXPECT_EQ(s.srq->outstanding(), 3u);
          server_ends(h);
        });
  });
}

/// The second of six messages is too long. Its receive completes with loc_len_err. Receives that
/// later messages have taken are flushed; the others serve another QP.
TEST_P(SrqTest, AMessageThatIsTooLongLeavesTheOthersToOtherQps) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(8192);
          const auto qps = ask(h, 2);
          std::vector<SendWr> wrs;
          std::array<Sge, 6> from;
          for (unsigned i = 0; i < from.size(); ++i) {
            from[i] = data.sge(0, i == 1 ? kSlot + 1 : 64);
            wrs.push_back({.sg_list = {&from[i], 1}, .opcode = IBV_WR_SEND});
          }
          (void)qps[0]->post(wrs);
          EXPECT_EQ(h.event().peer_term, kTooLong);
          h.until("the server", [&] { return server_done; });
          (void)qps[1]->send(data.sge(0, 64));
          h.until_complete(*qps[1], "the other QP");
          expect_success(*qps[1]);
          client_done = true;
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 16);
          while (!s.free.empty()) s.post();
          const auto qps = serve(h, s, 2);
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpUntaggedTooLong));
          h.rest(10 * kUs);
          h.poll();
          const auto& done = qps[0]->done;
          ASSERT_GE(done.size(), 2u);
          ASSERT_LE(done.size(), 6u);
          for (size_t i = 0; i < done.size(); ++i)
            EXPECT_EQ(done[i].status, i == 0   ? IBV_WC_SUCCESS
                                      : i == 1 ? IBV_WC_LOC_LEN_ERR
                                               : IBV_WC_WR_FLUSH_ERR);
          EXPECT_EQ(s.srq->outstanding(), 16 - done.size());
          must(qps[0]->qp.destroy(), "destroy_qp");
          server_done = true;
          h.until("the other message", [&] { return !qps[1]->done.empty(); });
          expect_success(*qps[1]);
          EXPECT_EQ(s.srq->outstanding(), 15 - done.size());
          h.until("the client's end", [&] { return client_done; });
        });
  });
}

/// One event for each arming, when a message leaves fewer receives than the limit.
TEST_P(SrqTest, ReachesItsLimitOnce) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(4096);
          const auto qps = ask(h, 2);
          for (unsigned i = 0; i < 6; ++i) {
            (void)qps[i % 2]->send(data.sge(0, 64));
            h.until_complete(*qps[i % 2], "a Send");
            h.rest(5 * kUs);
          }
          client_ends(h);
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 8, 6);
          while (!s.free.empty()) s.post();
          const auto qps = serve(h, s, 2);
          const auto arrived = [&] { return qps[0]->done.size() + qps[1]->done.size(); };
          const auto limit_event = [&](size_t messages) {
            const AsyncEvent event = h.event();
            EXPECT_EQ(event.type, IBV_EVENT_SRQ_LIMIT_REACHED);
            EXPECT_EQ(event.object, s.srq->srq.number());
            EXPECT_EQ(s.srq->srq.query().srq_limit, 0u);
            EXPECT_EQ(arrived() + 1, messages);  // the take raises it, before the completion
          };
          h.until("a message", [&] { return arrived() == 1; });
          EXPECT_TRUE(h.quiet());  // 7 are left
          EXPECT_EQ(s.srq->srq.query().srq_limit, 6u);
          limit_event(3);  // 5 are left
          h.until("a message", [&] { return arrived() == 4; });
          EXPECT_TRUE(h.quiet());
          must(s.srq->srq.modify({.srq_limit = 8}), "modify_srq");
          limit_event(5);  // armed while below the limit: the next take raises it
          h.until("the last", [&] { return arrived() == 6; });
          EXPECT_TRUE(h.quiet());
          server_ends(h);
        });
  });
}

/// Requests that the driver or the device refuses.
TEST_P(SrqTest, Refusals) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Slots s = slots(h, 4);
          s.post();
          Endpoint& e = h.endpoint(*s.srq);
          EXPECT_EQ(s.srq->srq.destroy().error().code, Errc::kBusy);
          Pd other = must(h.context.alloc_pd(), "alloc_pd");
          EXPECT_FALSE(other.create_qp({.send_cq = &h.cq, .recv_cq = &h.cq, .srq = &s.srq->srq}));
          const Sge sge = s.memory.sge(0, 64);
          EXPECT_EQ(e.qp.post_recv({.wr_id = 1, .sg_list = {&sge, 1}}).error->code,
                    Errc::kInvalidArgument);
          EXPECT_EQ(s.srq->srq.modify({.srq_limit = 5}).error().code, Errc::kInvalidArgument);
          must(e.qp.destroy(), "destroy_qp");
          h.poll();
          EXPECT_TRUE(e.done.empty()) << "a QP that has taken nothing flushes nothing";
          must(s.srq->srq.destroy(), "destroy_srq");
          // The number and the ring of the SRQ are free again.
          for (unsigned i = 0; i < 2; ++i) {
            Slots again = slots(h, 4);
            again.post();
            must(again.srq->srq.destroy(), "destroy_srq");
          }
          client_done = true;
        },
        [](Host&) {});
  });
}

// A QP fails while its device is busy: its Terminate waits, and its peer goes on sending. Its Sends
// take few receives, so other QPs find theirs.
TEST_P(SrqTest, AFailedQpLeavesTheReceivesToOtherQps) {
  in_child([this] {
    World w({.kind = GetParam()});
    constexpr unsigned kReceives = 64, kMost = 16;
    uint32_t rkey = 0;
    uint64_t to = 0;
    bool busy = false;
    w.run(
        [&](Host& h) {
          h.open();
          const Region data = h.region(8192);
          const Region sink = h.region(1 << 17);
          rkey = sink.mr.rkey();
          to = sink.mr.addr();
          const auto qps = ask(h, 3);
          Sge from = data.sge(0, 8);
          (void)qps[1]->send(from);
          h.until("Writes", [&] { return busy; });
          std::vector<SendWr> wrs{{.sg_list = {&from, 1}, .opcode = IBV_WR_RDMA_WRITE, .rkey = 1}};
          for (unsigned i = 1; i < kReceives; ++i)
            wrs.push_back({.sg_list = {&from, 1}, .opcode = IBV_WR_SEND});
          (void)qps[0]->post(wrs);
          h.rest(40 * kUs);
          (void)qps[2]->send(from);
          h.until_complete(*qps[2], "Send of another QP");
          EXPECT_EQ(qps[2]->done.at(0).status, IBV_WC_SUCCESS);
          client_ends(h);
        },
        [&](Host& h) {
          h.open();
          Slots s = slots(h, kReceives);
          while (!s.free.empty()) s.post();
          const Region mine = h.region(1 << 17);
          const auto qps = serve(h, s, 3);
          h.until("the first Send", [&] { return !qps[1]->done.empty(); });
          for (unsigned i = 0; i < 8; ++i) (void)qps[1]->write(mine.sge(0, 1 << 17), rkey, to);
          h.rest(6 * kUs);
          busy = true;
          h.until("the Send of another QP", [&] { return !qps[2]->done.empty(); });
          EXPECT_EQ(qps[2]->done.at(0).status, IBV_WC_SUCCESS);
          EXPECT_LT(qps[0]->done.size(), kMost);
          for (const Wc& wc : qps[0]->done) EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
          server_ends(h);
        });
  });
}

// The number of a failed QP, whose event was not fetched, goes to an SRQ.
TEST_P(SrqTest, EventsOfADestroyedQpAreForgotten) {
  in_child([this] {
    World w({.kind = GetParam()});
    bool gone = false;
    w.run(
        [&](Host& h) {
          h.open();
          auto& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          must(e.qp.modify(IBV_QPS_ERR), "modify to error");  // resets the connection
          gone = true;
          client_ends(h);
        },
        [&](Host& h) {
          h.open();
          auto& e = h.endpoint();
          h.accept(e);
          ready = true;
          h.until("the reset", [&] { return gone; });
          h.until("the error", [&] { return must(e.qp.query(), "query").state == IBV_QPS_ERR; });
          const uint32_t number = e.qp.qp_num();
          must(e.qp.destroy(), "destroy");
          Srq srq = must(h.pd.create_srq({.max_wr = 8, .max_sge = 1}), "SRQ");
          EXPECT_EQ(srq.number(), number);
          EXPECT_FALSE(h.context.get_async_event(h.dev.now() + 20 * kUs));
          must(srq.destroy(), "destroy");
          server_ends(h);
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, SrqTest,
                         testing::Values(kModel, kTandem, kModelMinimum, kTandemMinimum,
                                         kTandemStall),
                         [](const auto& info) { return name_of_kinds(info); });

}  // namespace
}  // namespace rnic::tb
