// Memory windows: uses that the peer may not make, and binds that the device refuses. A refusal
// leaves window, region and other QPs unchanged.
#include "gen/queues.hpp"
#include "mw_fixture.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

class MwRefused : public MwTestBase {
 protected:
  /// Two connections, of which the first fails. The second still works at the end.
  void serve_two(Host& h, const std::function<void(Endpoint&, const Region&)>& use = nullptr) {
    h.open();
    const Region data = h.region(4096);
    Endpoint& e = h.endpoint();
    be_greeted(h, e);
    Endpoint& other = h.endpoint();
    be_greeted(h, other);
    h.until("the client", [&] { return ready; });
    if (use) use(e, data);
    const AsyncEvent event = h.event();
    EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
    peer_term = event.peer_term;
    end_server(h, other);
  }
  uint16_t peer_term = 0;

  /// Changes the WQE that was posted `units` before the last one. The device fetches it a PCIe
  /// round trip after the doorbell.
  using Edit = std::function<void(spec::SqWqe&, spec::BindOperands&)>;
  static void change(const Endpoint& e, const Edit& edit, unsigned units = 2) {
    QpCore& q = *e.qp.core();
    const uint32_t at = (q.sq_head - units) & ((1u << q.log_sq) - 1);
    const auto wqe = q.sq.bytes().subspan(size_t{at} * kUnit, kUnit);
    auto head = spec::SqWqe::unpack(wqe);
    auto operands = spec::BindOperands::unpack(wqe.subspan(kSendHeader));
    edit(head, operands);
    operands.pack(wqe.subspan(kSendHeader));
    head.pack(wqe);
  }
  static void expect_refused(Host& h, Endpoint& e, WcOpcode opcode) {
    EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
    h.until_complete(e, "the end");
    ASSERT_EQ(e.done.size(), 2u);
    EXPECT_EQ(e.done[0].status, IBV_WC_MW_BIND_ERR);
    EXPECT_EQ(e.done[0].opcode, opcode);
    EXPECT_EQ(e.done[1].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(must(e.qp.query(), "query_qp").state, IBV_QPS_ERR);
    e.done.clear();
  }
  static void expect_works(Host& h, Endpoint& e, const std::vector<SendWr>& wrs) {
    e.done.clear();
    (void)e.post(wrs);
    h.until_complete(e, "another QP");
    EXPECT_EQ(e.done.size(), wrs.size());
    expect_success(e);
  }
};

/// Each use ends the peer's QP with a Terminate and changes no byte.
TEST_P(MwRefused, UsesOfThePeer) {
  enum class What { kWrite, kRead, kInvalidate };
  enum class Key { kBound, kOld, kNever, kInvalidated, kRegion };
  struct Case {
    const char* name;
    What what;
    Cause cause;
    uint16_t term;
    uint64_t at = kTo;
    uint32_t length = 64;
    MwType type = IBV_MW_TYPE_2;
    Key key = Key::kBound;
    uint32_t rights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    bool of_other = false;  // the window is bound by another QP
  };
  const auto [kWrite, kRead, kInvalidate] =
      std::array{What::kWrite, What::kRead, What::kInvalidate};
  const std::vector<Case> cases{
      {"a byte beyond the window", kWrite, Cause::kDdpTaggedBounds, 0x1101, kTo + kBytes - 63},
      {"a byte before the window", kWrite, Cause::kDdpTaggedBounds, 0x1101, kTo - 1},
      {"read beyond the window", kRead, Cause::kRdmapBounds, 0x0101, kTo + kBytes - 63},
      {.name = "write through a window for reading",
       .what = kWrite,
       .cause = Cause::kDdpTaggedStag,
       .term = 0x1100,
       .rights = IBV_ACCESS_REMOTE_READ},
      {.name = "read through a window for writing",
       .what = kRead,
       .cause = Cause::kRdmapRights,
       .term = 0x0102,
       .rights = IBV_ACCESS_REMOTE_WRITE},
      {.name = "write through another QP's window",
       .what = kWrite,
       .cause = Cause::kDdpTaggedAssoc,
       .term = 0x1102,
       .of_other = true},
      {.name = "read through another QP's window",
       .what = kRead,
       .cause = Cause::kRdmapAssoc,
       .term = 0x0103,
       .of_other = true},
      {.name = "invalidate another QP's window",
       .what = kInvalidate,
       .cause = Cause::kRdmapInvProtected,
       .term = 0x0109,
       .of_other = true},
      {.name = "invalidate a window of type 1",
       .what = kInvalidate,
       .cause = Cause::kRdmapInvStag,
       .term = 0x0209,
       .type = IBV_MW_TYPE_1},
      {.name = "the key before a second bind",
       .what = kWrite,
       .cause = Cause::kDdpTaggedStag,
       .term = 0x1100,
       .type = IBV_MW_TYPE_1,
       .key = Key::kOld},
      {.name = "the key before an invalidation and a second bind",
       .what = kRead,
       .cause = Cause::kRdmapStag,
       .term = 0x0100,
       .key = Key::kOld},
      {.name = "a window that was never bound",
       .what = kWrite,
       .cause = Cause::kDdpTaggedStag,
       .term = 0x1100,
       .key = Key::kNever},
      {.name = "a key that is invalidated",
       .what = kWrite,
       .cause = Cause::kDdpTaggedStag,
       .term = 0x1100,
       .key = Key::kInvalidated},
      {.name = "the region, which has no remote right",
       .what = kWrite,
       .cause = Cause::kDdpTaggedStag,
       .term = 0x1100,
       .key = Key::kRegion}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      uint32_t key = 0;
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            Endpoint& other = h.endpoint();
            const Region data = h.region(4096);
            Region r = region(h);
            Mw mw = window(h, c.type);
            greet(h, e);
            greet(h, other);
            Endpoint& owner = c.of_other ? other : e;
            const MwBindInfo info = part(r, c.rights);
            key = c.key == Key::kRegion ? r.mr.rkey() : mw.rkey();
            if (c.key != Key::kNever) {
              const SendWr first = bind(mw, info);
              if (c.key != Key::kRegion) key = first.key;
              (void)owner.post({first});
              if (c.key == Key::kInvalidated || (c.key == Key::kOld && c.type == IBV_MW_TYPE_2))
                (void)owner.post({local_inv(key)});
              if (c.key == Key::kOld) (void)owner.post({bind(mw, info)});
            }
            h.until_complete(owner, "binds");
            expect_success(owner);
            for (unsigned i = 0; i < 2; ++i) (void)e.receive(data.sge(64 * i, 64));
            ready = true;
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(c.cause));
            h.until_complete(e, "the end");
            EXPECT_EQ(changed_bytes(r), 0u);
            must(mw.dealloc(), "dealloc");
            must(r.mr.dereg(), "dereg");
            end_client(h, other);
          },
          [&](Host& h) {
            serve_two(h, [&](Endpoint& e, const Region& data) {
              if (c.what == What::kWrite) (void)e.write(data.sge(0, c.length), key, c.at);
              if (c.what == What::kRead) (void)e.read(data.sge(0, c.length), key, c.at);
              if (c.what == What::kInvalidate) (void)e.post({send_inv(key)});
            });
            EXPECT_EQ(peer_term, c.term);
          });
    });
  }
}

/// Each of these fails its request and its QP, and changes nothing: afterwards another QP binds the
/// same window. The WQE is changed in the ring where the driver refuses to post it.
TEST_P(MwRefused, Binds) {
  using Op = spec::BindOperands;
  struct Case {
    const char* name;
    Edit edit;
  };
  uint32_t ordinary = 0, foreign_window = 0, shut = 0, foreign = 0, plain = 0, read_only = 0,
           bound = 0, closed = 0;
  const auto operand = [](auto change) { return [change](spec::SqWqe&, Op& o) { change(o); }; };
  const std::vector<Case> cases{
      {"another generation", [](auto& w, Op&) { w.rkey ^= 0x100; }},
      {"a region", [&](auto& w, Op&) { w.rkey = ordinary; }},
      {"a window of another PD", [&](auto& w, Op&) { w.rkey = foreign_window; }},
      {"a window of type 2 that is bound", [&](auto& w, Op&) { w.rkey = shut; }},
      {"no byte, type 2", operand([](Op& o) { o.length = 0; })},
      {"2^32 bytes", operand([](Op& o) { o.length |= uint64_t{1} << 32; })},
      {"2^63 bytes", operand([](Op& o) { o.length |= uint64_t{1} << 63; })},
      {"reserved bits", operand([](Op& o) { o.reserved0[9] = 0x80; })},
      {"the right of local write", operand([](Op& o) { o.rights |= IBV_ACCESS_LOCAL_WRITE; })},
      {"the right to bind", operand([](Op& o) { o.rights |= IBV_ACCESS_MW_BIND; })},
      {"the right to invalidate",
       operand([](Op& o) { o.rights |= RNIC_ACCESS_REMOTE_INVALIDATE; })},
      {"an unknown right", operand([](Op& o) { o.rights |= 0x20; })},
      {"a region that does not exist", operand([](Op& o) { o.lkey ^= 0x100; })},
      {"another key of the region", operand([](Op& o) { o.lkey ^= 1; })},
      {"a region of another PD", operand([&](Op& o) { o.lkey = foreign; })},
      {"a region that has no right for it", operand([&](Op& o) { o.lkey = plain; })},
      {"a region of another QP", operand([&](Op& o) { o.lkey = bound; })},
      {"a region that is invalidated", operand([&](Op& o) { o.lkey = closed; })},
      {"a window as the region", operand([&](Op& o) { o.lkey = shut ^ 1; })},
      {"write to a region that is only read", operand([&](Op& o) { o.lkey = read_only; })},
      {"atomics in a region that is only read",
       operand([&](Op& o) { o.lkey = read_only, o.rights = IBV_ACCESS_REMOTE_ATOMIC; })},
      {"a Flush right that the region has not",
       operand([](Op& o) { o.rights |= IBV_ACCESS_FLUSH_GLOBAL; })},
      {"begins before the region", operand([](Op& o) { o.address = kAt - 1; })},
      {"ends after the region", operand([](Op& o) { o.length = kAll - kFirst + 1; })},
      {"begins at the region's end", operand([](Op& o) { o.address = kAt + kAll, o.length = 1; })},
      {"wraps", operand([](Op& o) { o.address = UINT64_MAX; })}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            Endpoint& other = h.endpoint();
            Pd apart = must(h.context.alloc_pd(), "a PD");
            Region r = region(h), gone = region(h);
            const Region theirs = h.region_of(apart, kAll, kAccess),
                         read = region(h, IBV_ACCESS_MW_BIND),
                         none = region(h, IBV_ACCESS_LOCAL_WRITE);
            const Mr inner =
                must(other.qp.reg_mr_iova(r.buffer, 0, kAll, kAt, kAccess), "a bound region");
            Mw mw = window(h, IBV_MW_TYPE_2), second = window(h, IBV_MW_TYPE_2),
               away = must(apart.alloc_mw(IBV_MW_TYPE_2), "alloc_mw");
            greet(h, e);
            greet(h, other);
            (void)other.post({bind(second, part(r)), local_inv(gone.mr.rkey())});
            h.until_complete(other, "a bind");
            expect_success(other);
            ordinary = r.mr.rkey();
            foreign = theirs.mr.rkey();
            plain = none.mr.rkey();
            read_only = read.mr.rkey();
            bound = inner.rkey();
            closed = gone.mr.rkey();
            foreign_window = away.rkey();
            shut = second.rkey() ^ 1;
            ready = true;
            const uint32_t old = mw.rkey();
            (void)e.post({bind(mw, part(r)), {.opcode = IBV_WR_SEND}});
            change(e, c.edit);
            expect_refused(h, e, IBV_WC_BIND_MW);
            EXPECT_EQ(mw.rkey(), old);
            const SendWr again = bind(mw, part(r));
            expect_works(h, other, {again, local_inv(again.key), local_inv(second.rkey())});
            must(r.mr.dereg(), "dereg: no bind is left");
            end_client(h, other);
          },
          [&](Host& h) {
            serve_two(h);
            EXPECT_EQ(peer_term, 0);
          });
    });
  }
}

/// Binds that the driver posts and the device refuses: of a type 2 window that is bound, and to a
/// region that was invalidated. The window stays bound under its key: the peer writes through it.
TEST_P(MwRefused, LeavesTheBinding) {
  for (const bool is_bound : {true, false}) {
    SCOPED_TRACE(is_bound);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      const MwType type = is_bound ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            Endpoint& other = h.endpoint();
            const Region data = h.region(4096);
            Region r = region(h), gone = region(h);
            Mw mw = window(h, type);
            greet(h, e);
            greet(h, other);
            const SendWr first = bind(mw, part(r));
            (void)other.post({first, local_inv(gone.mr.rkey())});
            h.until_complete(other, "a bind");
            expect_success(other);
            ready = true;
            (void)e.post({bind(mw, part(is_bound ? r : gone)), {.opcode = IBV_WR_SEND}});
            expect_refused(h, e, IBV_WC_BIND_MW);
            EXPECT_EQ(mw.rkey(), first.key);
            EXPECT_EQ(errc(r.mr.dereg()), Errc::kBusy);
            other.done.clear();
            (void)other.receive(data.sge(64, 64));
            Sge sge;
            (void)other.post({tell(data, sge, mw.rkey())});
            h.until_complete(other, "the answer");
            expect_success(other);
            EXPECT_EQ(wrong_bytes(r, 1), 0u);
            must(mw.dealloc(), "dealloc");
            must(r.mr.dereg(), "dereg");
            end_client(h, other);
          },
          [&](Host& h) {
            h.open();
            const Region data = h.region(16384);
            fill({data.at(4096), kBytes}, 1);
            Endpoint& e = h.endpoint();
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
}

/// local_inv of a region that has a window is refused, whatever the window's type and QP. The
/// region stays open: another QP sends from it, then invalidates the window and the region.
TEST_P(MwRefused, InvalidationOfARegionWithWindows) {
  for (const MwType type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    SCOPED_TRACE(static_cast<unsigned>(type));
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            Endpoint& other = h.endpoint();
            Region r = region(h);
            Mw mw = window(h, type);
            greet(h, e);
            greet(h, other);
            (void)other.post({bind(mw, part(r))});
            h.until_complete(other, "a bind");
            expect_success(other);
            ready = true;
            // Without the fence the Send would not wait, and would reach the peer.
            (void)e.post(
                {local_inv(r.mr.rkey()), {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_FENCE}});
            expect_refused(h, e, IBV_WC_LOCAL_INV);
            expect_works(h, other, {local_inv(mw.rkey()), local_inv(r.mr.rkey())});
            must(r.mr.dereg(), "dereg");
            end_client(h, other);
          },
          [&](Host& h) {
            serve_two(h);
            EXPECT_EQ(peer_term, 0);
          });
    });
  }
}

/// A window's key is no local key, whatever the bounds.
TEST_P(MwRefused, LocalAccess) {
  for (const bool within : {true, false}) {
    SCOPED_TRACE(within);
    ready = server_done = client_done = false;
    in_child([&] {
      World w({.kind = GetParam()});
      w.run(
          [&](Host& h) {
            h.open();
            Endpoint& e = h.endpoint();
            Endpoint& other = h.endpoint();
            Region r = region(h);
            Mw mw = window(h, IBV_MW_TYPE_1);
            greet(h, e);
            greet(h, other);
            (void)e.post({bind(mw, part(r, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))});
            h.until_complete(e, "a bind");
            expect_success(e);
            e.done.clear();
            ready = true;
            (void)e.send(Sge{within ? kTo : kAt, 64, mw.rkey()});
            EXPECT_EQ(h.event().cause, static_cast<uint32_t>(Cause::kLocalCatastrophic));
            h.until_complete(e, "the end");
            EXPECT_EQ(e.done.back().status, IBV_WC_LOC_PROT_ERR);
            must(mw.dealloc(), "dealloc");
            must(r.mr.dereg(), "dereg");
            end_client(h, other);
          },
          [&](Host& h) {
            serve_two(h);
            EXPECT_EQ(peer_term, 0);
          });
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, MwRefused, kMwPairings, name_of_kinds);

}  // namespace
}  // namespace rnic::tb
