// Memory windows from end to end: windows of both types are bound to parts of regions, used by the
// peer, closed and bound again; regions that have windows; windows whose QP ends. Refusals:
// mw_refused_test.cpp.
#include "mw_fixture.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr unsigned kRounds = 8;

class MwTest : public MwTestBase {
 protected:
  /// The offset of round `i`'s window in the region.
  static uint64_t first(unsigned i) { return kFirst + 8 * i; }
  /// The server's part of a test in rounds: it writes through each key, then sends a Send with
  /// Invalidate or a Send.
  void serve(Host& h, bool invalidates) {
    h.open();
    Endpoint& e = h.endpoint();
    const Region data = h.region(16384);
    be_greeted(h, e, {data.sge(0, 4)});
    for (unsigned i = 0; i < kRounds; ++i) {
      const uint32_t key = told(h, e, data);
      if (i + 1 < kRounds) (void)e.receive(data.sge(0, 4));
      fill({data.at(4096), kBytes}, 100 + i);
      (void)e.write(data.sge(4096, kBytes), key, kAt + first(i));
      (void)e.post({invalidates ? send_inv(key) : SendWr{.opcode = IBV_WR_SEND}});
      h.until("the answer", [&] { return e.sends_outstanding() == 0; });
    }
    expect_success(e);
    end_server(h, e);
  }
};

/// One post: the bind, and the Send that carries the key. The peer writes the window and
/// invalidates the key; no other byte of the region changes. An unbound window blocks no dereg.
TEST_P(MwTest, OfType2IsWrittenAndInvalidated) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(4096);
          Region r = region(h);
          Mw mw = window(h, IBV_MW_TYPE_2);
          greet(h, e);
          for (unsigned i = 0; i < kRounds; ++i) {
            fill(r.buffer.bytes(), 3);
            (void)e.receive(data.sge(64, 64));
            const SendWr wr = bind(mw, part(r, IBV_ACCESS_REMOTE_WRITE, kAt + first(i)));
            Sge sge;
            (void)e.post({wr, tell(data, sge, wr.key)});
            h.until_complete(e, "the key's return");
            expect_success(e);
            ASSERT_EQ(e.done.size(), 3u);
            EXPECT_EQ(e.done[0].opcode, IBV_WC_BIND_MW);
            EXPECT_EQ(e.done[0].byte_len, 32u);
            EXPECT_EQ(e.done[2].wc_flags, uint32_t{IBV_WC_WITH_INV});
            EXPECT_EQ(e.done[2].invalidated_rkey, wr.key);
            EXPECT_EQ(mw.rkey(), wr.key);
            EXPECT_EQ(wrong_bytes(r, 100 + i, first(i)), 0u) << "round " << i;
            e.done.clear();
          }
          must(r.mr.dereg(), "dereg beside a window that is not bound");
          must(mw.dealloc(), "dealloc");
          end_client(h, e);
        },
        [&](Host& h) { serve(h, true); });
  });
}

/// ibv_bind_mw: each bind takes the next key and closes the previous one. Length 0 unbinds.
TEST_P(MwTest, OfType1IsWrittenAndBoundAgain) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(4096);
          std::vector<Region> regions;
          for (unsigned i = 0; i < 2; ++i) regions.push_back(region(h));
          Mw mw = window(h, IBV_MW_TYPE_1);
          greet(h, e);
          for (unsigned i = 0; i < kRounds; ++i) {
            Region& r = regions[i % 2];
            fill(r.buffer.bytes(), 3);
            (void)e.receive(data.sge(64, 64));
            const SendWr wr = bind(mw, part(r, IBV_ACCESS_REMOTE_WRITE, kAt + first(i)));
            Sge sge;
            (void)e.post({wr, tell(data, sge, wr.key)});
            h.until_complete(e, "the answer");
            expect_success(e);
            EXPECT_EQ(wrong_bytes(r, 100 + i, first(i)), 0u) << "round " << i;
            must(regions[(i + 1) % 2].mr.dereg(), "dereg of the region that lost the window");
            regions[(i + 1) % 2] = region(h);
            EXPECT_EQ(errc(r.mr.dereg()), Errc::kBusy);
          }
          const uint32_t key = mw.rkey();
          (void)e.post({{.opcode = IBV_WR_BIND_MW, .key = inc_rkey(key), .mw = &mw}});
          h.until_complete(e, "the last bind");
          expect_success(e);
          for (Region& r : regions) must(r.mr.dereg(), "dereg");
          must(mw.dealloc(), "dealloc");
          end_client(h, e);
        },
        [&](Host& h) { serve(h, false); });
  });
}

/// The peer uses all remote rights through one window, whose addresses start at 0.
TEST_P(MwTest, IsReadChangedAndFlushed) {
  in_child([this] {
    constexpr uint32_t kRights = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                                 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL;
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(4096);
          Region r = region(h, kAccess | IBV_ACCESS_FLUSH_GLOBAL);
          Mw mw = window(h, IBV_MW_TYPE_2);
          greet(h, e, {.flush = true});
          fill({r.at(kFirst), kBytes}, 6);
          base::store_le<uint64_t>(r.at(kFirst + 8), 40);
          (void)e.receive(data.sge(64, 64));
          const SendWr wr = bind(mw, part(r, kRights | IBV_ACCESS_ZERO_BASED));
          Sge sge;
          (void)e.post({wr, tell(data, sge, wr.key)});
          h.until_complete(e, "the key's return");
          expect_success(e);
          EXPECT_EQ(base::load_le<uint64_t>(r.at(kFirst + 8)), 42u);
          EXPECT_EQ(base::load_le<uint64_t>(r.at(kFirst + 16)), 7u);
          EXPECT_EQ(wrong({r.at(kFirst + 24), 100}, 1), 0u);
          EXPECT_EQ(wrong({r.at(kFirst + 124), kBytes - 124}, 6, 124), 0u);
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          fill({data.at(64), 100}, 1);
          be_greeted(h, e, {data.sge(0, 4)}, {.flush = true});
          const uint32_t key = told(h, e, data);
          (void)e.read(data.sge(4096, kBytes), key, 0, IBV_SEND_FENCE);
          (void)e.fetch_add(data.sge(8, 8), key, 8, 2, 0, IBV_SEND_FENCE);
          (void)e.atomic_write(key, 16, 7);
          (void)e.write(data.sge(64, 100), key, 24);
          (void)e.flush(key, 0, kBytes);
          (void)e.post({send_inv(key, IBV_SEND_FENCE)});
          h.until_complete(e, "the requests");
          expect_success(e);
          EXPECT_EQ(wrong({data.at(4096), 8}, 6), 0u);
          EXPECT_EQ(base::load_le<uint64_t>(data.at(4096 + 8)), 40u);
          EXPECT_EQ(wrong({data.at(4096 + 16), kBytes - 16}, 6, 16), 0u);
          EXPECT_EQ(base::load_le<uint64_t>(data.at(8)), 40u);
          end_server(h, e);
        });
  });
}

/// One post of three requests: invalidate the old key, bind the window under the next key, send
/// that key to the peer. The bind waits until nothing through the window is in flight.
TEST_P(MwTest, IsInvalidatedByItsOwnerAndBoundInOnePost) {
  for (const MwType type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    SCOPED_TRACE(static_cast<unsigned>(type));
    server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            const Region data = h.region(4096);
            Region r = region(h);
            Mw mw = window(h, type);
            greet(h, e);
            for (unsigned i = 0; i < kRounds; ++i) {
              fill(r.buffer.bytes(), 3);
              (void)e.receive(data.sge(64, 64));
              const uint32_t old = mw.rkey();
              const SendWr wr = bind(mw, part(r, IBV_ACCESS_REMOTE_WRITE, kAt + first(i)));
              Sge sge;
              std::vector<SendWr> wrs{wr, tell(data, sge, wr.key)};
              if (i != 0) wrs.insert(wrs.begin(), local_inv(old));
              (void)e.post(wrs);
              h.until_complete(e, "the answer");
              expect_success(e);
              EXPECT_EQ(wrong_bytes(r, 100 + i, first(i)), 0u) << "round " << i;
            }
            (void)e.post({local_inv(mw.rkey())});
            h.until_complete(e, "the invalidation");
            expect_success(e);
            must(r.mr.dereg(), "dereg beside a window that is invalidated");
            end_client(h, e);
          },
          [&](Host& h) { serve(h, false); });
    });
  }
}

/// The peer writes without pause. Once the bind under the next key is complete, no byte is placed
/// through the old one.
TEST_P(MwTest, NothingIsPlacedAfterTheNextBind) {
  in_child([this] {
    World w({.kind = GetParam(), .settings = {"pcie_posted_hold_ns=1000", "pcie_relaxed=0.3"}});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          const Region data = h.region(4096);
          Region r = region(h);
          Mw mw = window(h, IBV_MW_TYPE_1);
          greet(h, e);
          greet(h, other);
          const SendWr wr = bind(mw, part(r));
          Sge sge;
          (void)e.post({wr, tell(data, sge, wr.key)});
          h.until_complete(e, "the bind");
          expect_success(e);
          h.until("the peer's bytes", [&] { return wrong({r.at(kFirst), 8}, 1) == 0; });
          (void)other.post({bind(mw, part(r, IBV_ACCESS_REMOTE_READ))});
          h.until_complete(other, "the next bind");
          expect_success(other);
          fill(r.buffer.bytes(), 3);
          h.rest(5 * kUs);
          EXPECT_EQ(changed_bytes(r), 0u) << "written after the bind";
          EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kDdpTaggedStag));
          EXPECT_EQ(changed_bytes(r), 0u);
          must(mw.dealloc(), "dealloc");
          must(r.mr.dereg(), "dereg");
          end_client(h, other);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          fill({data.at(4096), kBytes}, 1);
          be_greeted(h, e, {data.sge(0, 4)});
          Endpoint& other = h.endpoint();
          be_greeted(h, other);
          const uint32_t key = told(h, e, data);
          std::optional<AsyncEvent> over;
          h.until("the peer's Terminate", [&] {
            if (auto event = h.context.get_async_event(0)) over = *event;
            while (!over && e.sends_outstanding() < 8)
              (void)e.write(data.sge(4096, kBytes), key, kTo);
            return over.has_value();
          });
          EXPECT_EQ(over->peer_term, 0x1100);  // 1/1/00: the old key is invalid
          h.until_complete(e, "the end");
          end_server(h, other);
        });
  });
}

/// EBUSY changes nothing: the peer still writes through the window. When the peer has invalidated
/// the window, the region can be deregistered.
TEST_P(MwTest, ARegionWithWindowsIsBusy) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(4096);
          Region r = region(h);
          std::vector<Mw> more;
          for (unsigned i = 0; i < 4; ++i)
            more.push_back(window(h, i % 2 == 0 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2));
          greet(h, e);
          for (Mw& mw : more) (void)e.post({bind(mw, part(r, IBV_ACCESS_REMOTE_READ))});
          h.until_complete(e, "binds");
          for (Mw& mw : more) {
            EXPECT_EQ(errc(r.mr.dereg()), Errc::kBusy);
            must(mw.dealloc(), "dealloc");
          }
          Mw mw = window(h, IBV_MW_TYPE_2);
          (void)e.post({bind(mw, part(r))});
          h.until_complete(e, "a bind");
          EXPECT_EQ(errc(r.mr.dereg()), Errc::kBusy);
          (void)e.receive(data.sge(64, 64));
          Sge sge;
          (void)e.post({tell(data, sge, mw.rkey())});
          h.until_complete(e, "the key's return");
          expect_success(e);
          EXPECT_EQ(wrong_bytes(r, 1), 0u);
          must(r.mr.dereg(), "dereg");
          end_client(h, e);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          fill({data.at(4096), kBytes}, 1);
          be_greeted(h, e, {data.sge(0, 4)});
          const uint32_t key = told(h, e, data);
          (void)e.write(data.sge(4096, kBytes), key, kTo);
          (void)e.post({send_inv(key)});
          h.until_complete(e, "the answer");
          expect_success(e);
          end_server(h, e);
        });
  });
}

/// A type 2 window ends with its QP, and any window ends with a region that is bound to the QP. A
/// type 1 window of another region, bound by this QP, still works for another QP.
TEST_P(MwTest, OfAQpThatIsDestroyed) {
  in_child([this] {
    World w({.kind = GetParam()});
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          Endpoint& other = h.endpoint();
          const Region data = h.region(4096);
          Region shared = region(h), own = region(h);
          own.mr = must(e.qp.reg_mr_iova(own.buffer, 0, kAll, kAt, kAccess), "a bound region");
          Mw one = window(h, IBV_MW_TYPE_1), two = window(h, IBV_MW_TYPE_2),
             inner = window(h, IBV_MW_TYPE_1);
          greet(h, e);
          greet(h, other);
          (void)e.post({bind(one, part(shared)), bind(two, part(shared)), bind(inner, part(own))});
          h.until_complete(e, "three binds");
          expect_success(e);
          must(e.qp.destroy(), "destroy");
          must(two.dealloc(), "of a window that is gone");
          must(own.mr.dereg(), "of a region that is gone");
          EXPECT_EQ(errc(shared.mr.dereg()), Errc::kBusy) << "the window of type 1";
          Sge sge;
          (void)other.receive(data.sge(64, 64));
          (void)other.post({tell(data, sge, one.rkey())});
          h.until_complete(other, "the answer");
          expect_success(other);
          EXPECT_EQ(wrong_bytes(shared, 1), 0u);
          EXPECT_EQ(changed_bytes(own), 0u);
          must(one.dealloc(), "dealloc");
          must(shared.mr.dereg(), "dereg");
          end_client(h, other);
        },
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint();
          const Region data = h.region(16384);
          fill({data.at(4096), kBytes}, 1);
          be_greeted(h, e);
          Endpoint& other = h.endpoint();
          be_greeted(h, other, {data.sge(0, 4)});
          const uint32_t key = told(h, other, data);
          (void)other.write(data.sge(4096, kBytes), key, kTo);
          (void)other.send(std::span<const Sge>{});
          h.until_complete(other, "the answer");
          end_server(h, other);
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, MwTest, kMwPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb
