// Atomics in rdmap under random load, drawn by seed: requests and results of many QPs, refused
// requests, faults, stops and restarts. Checks for each QP: requests are served in order, each in
// its turn, and answered once; a QP reports at most one error until it is stopped; a stop is
// acknowledged, and no output of the QP follows the acknowledgement. R7306-5-01 to 5.4; A-30.
//
// The bench plays qp, ddp, tpt, the peer and unit atomic: it takes atomic_req, and responds with
// atomic_rsp after any time. kResult is the old value that a response of the peer has brought:
// atomic stores it, and rdmap reports res_done. After atomic_dead of a stopping QP, atomic may drop
// the QP's request. placed_i: number of placements that are done.
#include <memory>

#include "rdmap/rdmap_world.hpp"
#include "vectors/golden.hpp"

namespace rnic::tb {
namespace {

using spec::AtomicEnd;
using spec::AtomicOp;

/// The ULPDU of a golden FPDU.
Bytes ulpdu(const Bytes& fpdu) {
  const size_t n = size_t{fpdu[0]} << 8 | fpdu[1];
  return Bytes(fpdu.begin() + 2, fpdu.begin() + 2 + static_cast<std::ptrdiff_t>(n));
}
/// Overwrites 4 or 8 bytes from `at` on, big-endian.
void put32(Bytes& b, size_t at, uint32_t v) {
  for (unsigned i = 0; i < 4; i++) b[at + i] = u8(v >> (24 - 8 * i));
}
void put64(Bytes& b, size_t at, uint64_t v) {
  put32(b, at, u32(v >> 32));
  put32(b, at + 4, u32(v));
}

template <class D>
class RdmapAtomicStress : public RdmapWorld<D> {
 protected:
  static spec::QpParams persistent(spec::QpParams p) {
    p.persist = 1;
    return p;
  }
};
TYPED_TEST_SUITE(RdmapAtomicStress, RtlDuts);

// Responses from two parts of rdmap meet at the input of rdmap_tx. A stop waits for the response of
// its QP, even if other QPs' responses pass it.
TYPED_TEST(RdmapAtomicStress, StopWaitsForAResponseThatOthersPass) {
  this->start({0, 0});
  this->persist = 1;
  auto& dut = this->dut;
  dut.top().placed_i = 0;
  const Bytes add = ulpdu(hex(golden::kAtomicRequest.bytes));
  for (uint16_t q = 0; q < 6; q++)
    this->run_qp(q, this->persistent(this->params(4, 4, u16(4 * q), u16(4 * q))));
  for (uint16_t q = 0; q < 3; q++) {
    this->expect_good(q, add, this->good(false));
    EXPECT_EQ(dut.atomic_req.take().qpn, q);
  }
  const auto pause = [&] {
    for (unsigned i = 0; i < 200; i++) dut.advance();
    EXPECT_TRUE(dut.qp_ctl.empty() && dut.atomic_rsp.empty() && dut.rx_segment.empty());
  };
  std::vector<uint16_t> left;
  dut.tx_message_hdr.on_item([&](const spec::TxMessageHdr& h) { left.push_back(h.qpn); });
  size_t at_ack = ~size_t{0};
  dut.qp_ack.on_item([&](const spec::QpAckRdmap& a) {
    if (a.qpn == 2) at_ack = left.size();
  });
  dut.tx_message_hdr.stall(100);
  // The responses of 0, 1, 2: one in rdmap_tx, one offered, one queued after it.
  for (uint16_t q = 0; q < 3; q++)
    dut.atomic_rsp.put({.op = AtomicOp::kFetchAdd, .qpn = q, .slot = 0});
  pause();
  dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = 2});
  pause();
  EXPECT_TRUE(dut.qp_ack.empty());
  // Reads of other QPs arrive after the stop. Then three messages are sent, and no other for a
  // while.
  for (uint16_t q = 3; q < 6; q++) this->expect_good(q, this->request(64), this->good(false));
  pause();
  dut.tx_message_hdr.stall(0);
  EXPECT_TRUE(dut.run_until([&] { return left.size() == 3; }, 100));
  dut.tx_message_hdr.stall(100);
  pause();
  EXPECT_EQ(!dut.qp_ack.empty(), std::find(left.begin(), left.end(), 2) != left.end());
  dut.tx_message_hdr.stall(0);
  pause();
  const auto own = std::find(left.begin(), left.end(), 2) - left.begin();
  EXPECT_EQ(left.size(), 6U);
  EXPECT_LT(static_cast<size_t>(own), at_ack)
      << "the response of QP 2 left after its acknowledgement";
  dut.tx_message_hdr.on_item(nullptr);
  dut.qp_ack.on_item(nullptr);
}

TYPED_TEST(RdmapAtomicStress, Random) {
  constexpr uint16_t kQps = 8;
  constexpr uint8_t kIrd = 4, kOrd = 4;
  struct Request {
    unsigned kind;  // 0 Read, 1 FetchAdd or CmpSwap, 2 Atomic Write, 3 Flush
    // id: of an atomic. size: of a Read. old: the value that unit atomic returns. judged: its
    // verdict has come. issued: it is sent to unit atomic. answered: unit atomic has responded.
    uint32_t id = 0, size = 0;
    uint64_t data = 0, old = 0;
    bool judged = false, accepted = false, issued = false, answered = false;
    uint64_t mark = 0, placed_at_issue = 0;  // mark: its watermark
  };
  struct Own {  // an atomic or Atomic Write that we post
    uint8_t slot;
    uint32_t msn;
    bool is_write, left = false;  // left: its message is sent
  };
  struct Verdict {
    uint16_t qpn;
    // 0 nothing, 1 a placement, 2 a request, 3 a response to our Atomic Write, 4 a response with a
    // result
    unsigned kind;
    std::shared_ptr<Request> request;
  };
  struct Qp {
    // acked: its stop is acknowledged, or it has never started
    bool running = false, stopping = false, failed = false, acked = true;
    std::deque<std::shared_ptr<Request>> inbound;  // not answered yet
    std::deque<Own> own;
    uint32_t msn = 1;
    // used: IRD slots, as the peer counts them. outbound: ORD slots. results: of our atomics, taken
    // by rdmap and reported.
    unsigned used = 0, unfetched = 0, life = 0, outbound = 0, results_in = 0, results_out = 0;
    bool in_slot = false;  // ddp holds a response
  };
  uint64_t acks = 0, atomics = 0, results = 0, errors = 0, refused = 0, syncs = 0;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->persist = 1;
    auto& dut = this->dut;
    auto& rng = this->rng;
    dut.top().placed_i = 0;
    Qp qps[kQps];
    std::deque<Verdict> verdicts;
    std::vector<spec::AtomicReq> inside;   // requests in unit atomic
    std::deque<spec::AtomicReq> sinks;     // results in unit atomic, in order
    std::deque<spec::AtomicReq> expected;  // results that must come
    std::deque<spec::ResDone> done;
    // {when, QP and life}: the peer learns that an IRD slot is free
    std::deque<std::pair<uint64_t, uint16_t>> frees;
    // marks: placements that rdmap has accepted. placed: those that are done.
    uint64_t marks = 0, placed = 0, step = 0;
    int ctl_qp = -1;  // the QP of the outstanding order
    bool ctl_start = false, ctl_sync = false;
    unsigned sync_results = 0;

    dut.check = [&](const spec::RespCheck&) {
      return rng.percent(3) ? TptResult::kStag : TptResult::kOk;
    };
    dut.atomic_req.on_item([&](const spec::AtomicReq& r) {
      ASSERT_LT(r.qpn, kQps);
      auto& q = qps[r.qpn];
      ASSERT_FALSE(q.acked) << "after the stop: " << r.describe();
      if (r.op == AtomicOp::kResult) {
        sinks.push_back(r);
        results++;
        return;
      }
      for (const auto& o : inside) ASSERT_NE(o.qpn, r.qpn) << "two of a QP";
      ASSERT_FALSE(q.inbound.empty()) << r.describe();
      auto& f = *q.inbound.front();
      ASSERT_TRUE(f.kind == 1 || f.kind == 2) << "out of turn: " << f.kind << " " << r.describe();
      ASSERT_FALSE(f.issued);
      ASSERT_EQ(r.data, f.data);
      ASSERT_FALSE(q.in_slot) << "an earlier response is not sent";
      ASSERT_EQ(q.unfetched, 0U) << "a Read has not fetched";
      f.issued = true;
      f.placed_at_issue = placed;
      if (f.judged) {
        ASSERT_GE(placed, f.mark) << "placements are missing";
      }
      inside.push_back(r);
      atomics++;
    });
    dut.tx_message_hdr.on_item([&](const spec::TxMessageHdr& h) {
      auto& q = qps[h.qpn];
      ASSERT_FALSE(q.acked) << "after the stop: " << h.describe();
    });
    dut.res_done.on_item([&](const spec::ResDone& d) {
      ASSERT_FALSE(qps[d.qpn].acked);
      qps[d.qpn].results_out++;
      ASSERT_FALSE(done.empty()) << d.describe();
      ASSERT_EQ(d, done.front());
      done.pop_front();
    });
    dut.qp_ack.on_item([&](const spec::QpAckRdmap& a) {
      ASSERT_EQ(int{a.qpn}, ctl_qp);
      acks++;
      auto& q = qps[a.qpn];
      if (ctl_sync) {
        ASSERT_GE(q.results_out, sync_results) << "a result is not through";
      } else if (!ctl_start) {
        q.acked = true, q.running = q.stopping = false;
        for (const auto& o : inside)
          ASSERT_NE(o.qpn, a.qpn) << "acknowledged with a request in atomic";
        for (const auto& o : sinks)
          ASSERT_NE(o.qpn, a.qpn) << "acknowledged with a result in atomic";
      } else {
        q.running = true;
      }
      ctl_qp = -1;
    });

    // Checks all outputs of this step, and plays the neighbours that receive them.
    const auto drain = [&] {
      while (!dut.rx_verdict.empty()) {
        const auto v = dut.rx_verdict.take();
        ASSERT_FALSE(verdicts.empty());
        const auto want = verdicts.front();
        verdicts.pop_front();
        if (want.kind == 1 && v.accept != 0) {
          ASSERT_EQ(v.place, 1);
          marks++;
        } else {
          ASSERT_TRUE(v.accept == 0 || v.place == 0);
        }
        if (want.kind >= 3) qps[want.qpn].outbound--;
        if (want.kind == 4 && v.accept != 0) qps[want.qpn].results_in++;
        if (want.kind == 2) {
          want.request->judged = true;
          want.request->accepted = v.accept != 0;
          want.request->mark = marks;
          if (want.request->issued) {
            ASSERT_EQ(v.accept, 1);
            ASSERT_GE(want.request->placed_at_issue, marks);
          }
        }
      }
      while (!dut.qp_error.empty()) {
        const auto e = dut.qp_error.take();
        errors++;
        ASSERT_FALSE(qps[e.qpn].failed) << "a second error: " << e.describe();
        ASSERT_FALSE(qps[e.qpn].acked);
        qps[e.qpn].failed = true;
      }
      while (!dut.tx_message_hdr.empty() && !dut.tx_message.empty()) {
        const auto m = this->take_message();
        auto& q = qps[m.hdr.qpn];
        if (m.hdr.source == TxSource::kSq) {
          for (auto& o : q.own)
            if (!o.left && o.slot == m.hdr.slot) {
              o.left = true;
              break;
            }
        } else if (m.hdr.source == TxSource::kResp && !q.acked) {
          ASSERT_FALSE(q.in_slot) << m.hdr.describe();
          ASSERT_FALSE(q.inbound.empty()) << m.hdr.describe();
          auto& f = *q.inbound.front();
          if (f.kind == 1) {
            ASSERT_EQ(m.hdr.opcode, RdmapOpcode::kAtomicResponse);
            const auto r = spec::AtomicResponse::unpack(m.body);
            ASSERT_EQ(r.request_id, f.id);
            ASSERT_EQ(r.value, f.old);
            ASSERT_TRUE(f.answered);
          } else if (f.kind == 2) {
            ASSERT_EQ(m.hdr.opcode, RdmapOpcode::kAtomicWriteResponse);
            ASSERT_TRUE(f.answered);
          } else if (f.kind == 3) {
            ASSERT_EQ(m.hdr.opcode, RdmapOpcode::kFlushResponse);
          } else {
            ASSERT_EQ(m.hdr.opcode, RdmapOpcode::kReadResponse);
            ASSERT_EQ(m.hdr.length, f.size);
            if (f.size != 0) q.unfetched++;
          }
          q.in_slot = true;
          q.inbound.pop_front();
        }
      }
      while (!dut.res_done.empty()) (void)dut.res_done.take();
      while (!dut.atomic_req.empty()) (void)dut.atomic_req.take();
      while (!dut.atomic_dead.empty()) {
        const auto d = dut.atomic_dead.take();
        for (size_t i = 0; i < inside.size(); i++)
          if (inside[i].qpn == d.qpn && rng.percent(60)) {
            dut.atomic_rsp.put({.op = inside[i].op,
                                .qpn = d.qpn,
                                .slot = inside[i].slot,
                                .ending = AtomicEnd::kDropped});
            inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
            break;
          }
      }
      while (!dut.qp_ack.empty()) (void)dut.qp_ack.take();
    };
    // As unit atomic: the response to a request.
    const auto answer_one = [&](size_t i, bool may_fail) {
      const auto r = inside[i];
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
      auto& q = qps[r.qpn];
      spec::AtomicRsp a{.op = r.op, .qpn = r.qpn, .slot = r.slot};
      if (may_fail && rng.percent(6)) {
        a.ending =
            r.op != AtomicOp::kWrite && rng.percent(50) ? AtomicEnd::kUnread : AtomicEnd::kRefused;
        if (a.ending == AtomicEnd::kRefused) a.result = TptResult::kBounds;
        if (a.ending == AtomicEnd::kUnread) a.status = spec::RdStatus::kPoisoned;
        refused++;
      } else {
        a.value = r.op == AtomicOp::kWrite ? 0 : rng.next();
        if (!q.inbound.empty() && q.inbound.front()->issued) {
          q.inbound.front()->answered = true;
          q.inbound.front()->old = a.value;
        }
      }
      dut.atomic_rsp.put(a);
    };
    // As unit atomic: the oldest result is stored, or refused.
    const auto answer_sink = [&](bool may_fail) {
      const auto r = sinks.front();
      sinks.pop_front();
      spec::AtomicRsp a{.op = r.op, .qpn = r.qpn, .slot = r.slot};
      if (may_fail && rng.percent(4)) {
        a.ending = AtomicEnd::kRefused, a.result = TptResult::kRights;
        qps[r.qpn].results_out++;
        refused++;
      } else {
        done.push_back({.qpn = r.qpn, .slot = r.slot});
      }
      dut.atomic_rsp.put(a);
    };
    const auto put_ctl = [&](uint16_t n, bool is_start) {
      auto& q = qps[n];
      ctl_qp = n;
      ctl_start = is_start;
      ctl_sync = false;
      if (is_start) {
        const auto life = q.life + 1;
        q = Qp{};
        q.life = life;
        q.acked = false;
        dut.qp_ctl.put(
            {.op = spec::QpOp::kStart,
             .qpn = n,
             .params = this->persistent(this->params(kIrd, kOrd, u16(kIrd * n), u16(kOrd * n)))});
      } else {
        q.stopping = true;
        dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = n});
      }
    };

    // The cases of a step: 0 a Write of the peer; 1, 2 a request of the peer; 3 we post an atomic
    // or Atomic Write; 4 the peer's response to our oldest; 5 ddp frees a response slot; 6, 7
    // atomic ends a request; 8 atomic stores a result; 9 ddp has fetched a Read's payload, and a
    // placement is done; 10 a placement is done, and seldom: a Terminate of the peer, a sync, a
    // start or a stop.
    constexpr uint64_t kSteps = 60000;
    uint64_t ctl_since = 0;
    for (step = 0; step < kSteps; step++) {
      const auto n = u16(rng.below(kQps));
      auto& q = qps[n];
      const bool live = q.running && !q.stopping;
      const bool rx_room = dut.rx_segment.size() < 4, tx_room = dut.wqe_hdr.size() < 3;
      if (ctl_qp >= 0) {
        ASSERT_LT(step - ctl_since, 20000U)
            << "QP " << ctl_qp << (ctl_start ? " start" : " stop") << " is never acknowledged";
      } else {
        ctl_since = step;
      }
      switch (rng.below(11)) {
        case 0:
          if (!live || !rx_room) break;
          verdicts.push_back({n, 1, nullptr});
          this->put_segment(n, this->write(1 + rng.below(60)));
          break;
        case 1:
        case 2: {
          if (!live || !rx_room || q.used >= kIrd) break;
          auto r = std::make_shared<Request>();
          const auto pick = rng.below(10);
          r->kind = pick < 3 ? 0 : pick < 7 ? 1 : pick < 9 ? 2 : 3;
          Bytes u;
          if (r->kind == 0) {
            r->size = u32(rng.below(3) * 64);
            u = this->request(r->size);
          } else if (r->kind == 1) {
            u = ulpdu(hex(golden::kAtomicRequest.bytes));
            r->id = u32(rng.next());
            r->data = rng.next();
            u[21] = rng.percent(50) ? 0 : 2;  // AOpCode: FetchAdd or CmpSwap
            put32(u, 22, r->id);
            put64(u, 38, r->data);
          } else if (r->kind == 2) {
            u = ulpdu(hex(golden::kAtomicWriteRequest.bytes));
            r->data = rng.next();
            put64(u, 34, r->data);
          } else {
            Bytes b(20);
            spec::FlushRequest{
                .sink_stag = 5, .length = u32(rng.below(2) * 8), .sink_to = 9, .flags = 1}
                .pack(b);
            u = this->untagged(0x4c, true, 1, b);
            put32(u, 2, 0);
          }
          q.used++;
          q.inbound.push_back(r);
          verdicts.push_back({n, 2, r});
          this->put_segment(n, u);
          break;
        }
        case 3: {
          if (!live || !tx_room || q.failed || q.outbound >= kOrd) break;
          q.outbound++;
          const bool is_write = rng.percent(25);
          Bytes body(is_write ? 8 : 48);
          if (!is_write)
            spec::AtomicOperands{.sink = {.address = 0x9000, .length = 8, .lkey = 0x55}}.pack(body);
          const auto slot = u8(rng.below(64));
          q.own.push_back({slot, q.msn++, is_write});
          (void)this->post(
              {.qpn = n,
               .slot = slot,
               .opcode = is_write ? WrOpcode::kAtomicWrite : WrOpcode::kAtomicFetchAndAdd,
               .is_inline = 1,
               .length = u32(body.size())},
              body);
          break;
        }
        case 4: {
          if (!live || !rx_room || q.own.empty() || !q.own.front().left) break;
          const auto o = q.own.front();
          q.own.pop_front();
          auto u = ulpdu(
              hex(o.is_write ? golden::kAtomicWriteResponse.bytes : golden::kAtomicResponse.bytes));
          if (!o.is_write) put32(u, 18, rng.percent(1) ? 77 : o.msn);
          verdicts.push_back({n, o.is_write ? 3U : 4U, nullptr});
          this->put_segment(n, u);
          break;
        }
        case 5:
          if (!q.in_slot || q.acked) break;
          q.in_slot = false;
          this->free_response(n);
          // The peer learns 300 steps later that the IRD slot is free. 16 QPs or less: 4 bits.
          frees.emplace_back(step + 300, u16(n | q.life << 4));
          break;
        case 6:
        case 7:
          if (!inside.empty()) answer_one(rng.below(inside.size()), true);
          break;
        case 8:
          if (!sinks.empty()) answer_sink(true);
          break;
        case 9:
          if (q.unfetched != 0 && !q.acked) {
            q.unfetched--;
            dut.resp_fetched.put({.qpn = n});
          }
          if (placed < marks) dut.top().placed_i = ++placed;
          break;
        default:
          if (placed < marks) dut.top().placed_i = ++placed;
          if (rng.percent(1) && live && rx_room) {
            verdicts.push_back({n, 0, nullptr});
            this->put_segment(n, this->peer_terminate(Bytes{0x02, 0x05, 0, 0}));
          }
          if (ctl_qp < 0 && live && rng.percent(5) && dut.rx_segment.empty() && verdicts.empty()) {
            ctl_qp = n, ctl_start = false, ctl_sync = true;
            sync_results = q.results_in;
            syncs += sync_results != q.results_out;
            dut.qp_ctl.put(
                {.op = spec::QpOp::kSync, .qpn = n, .params = this->persistent(this->params())});
            break;
          }
          if (ctl_qp >= 0 || !rng.percent(q.failed || q.acked ? 30 : 1)) break;
          if (q.acked) {  // before a start ddp has drained its outputs for the QP
            if (!dut.rx_segment.empty() || !verdicts.empty() || !dut.resp_slot_free.empty() ||
                !dut.resp_fetched.empty() || !dut.tx_message_hdr.empty())
              break;
            put_ctl(n, true);
          } else if (q.running && !q.stopping && dut.wqe_hdr.empty()) {
            put_ctl(n, false);
          }
          break;
      }
      while (!frees.empty() && frees.front().first <= step && dut.resp_slot_free.empty()) {
        auto& f = qps[frees.front().second & 15U];
        if (f.life == frees.front().second >> 4U) f.used--;
        frees.pop_front();
      }
      dut.advance();
      drain();
      if (testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "step " << step;
        return;
      }
    }
    // The end: rdmap answers every request, and every QP stops.
    for (uint16_t n = 0; n < kQps; n++) {
      for (unsigned i = 0; i < 30000; i++) {
        if (ctl_qp < 0) {
          if (qps[n].acked) break;
          if (qps[n].running && !qps[n].stopping && dut.wqe_hdr.empty()) put_ctl(n, false);
        }
        if (!inside.empty()) answer_one(0, false);
        if (!sinks.empty()) answer_sink(false);
        if (placed < marks) dut.top().placed_i = ++placed;
        dut.advance();
        drain();
        if (testing::Test::HasFatalFailure()) return;
      }
      ASSERT_TRUE(qps[n].acked) << "QP " << n << " never stops";
    }
    dut.settle();
    drain();
    EXPECT_TRUE(done.empty());
    EXPECT_TRUE(verdicts.empty());
    EXPECT_TRUE(inside.empty() && sinks.empty());
    dut.atomic_req.on_item(nullptr);
    dut.tx_message_hdr.on_item(nullptr);
    dut.res_done.on_item(nullptr);
    dut.qp_ack.on_item(nullptr);
  });
  EXPECT_GT(atomics, 1000U);
  EXPECT_GT(results, 200U);
  EXPECT_GT(acks, 200U);
  EXPECT_GT(errors, 100U);
  EXPECT_GT(refused, 100U);
  std::printf("atomics %lu results %lu acks %lu errors %lu refused %lu syncs %lu\n", atomics,
              results, acks, errors, refused, syncs);
}

}  // namespace
}  // namespace rnic::tb
