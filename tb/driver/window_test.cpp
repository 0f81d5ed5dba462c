// Memory windows: the command that makes one, the WQE of a bind typed by hand from queues.yaml, the
// key after binds that succeed, are refused or flushed, and every wrong use.
#include "core.hpp"
#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using testing::HasSubstr;

constexpr uint64_t kAt = 0x1122334455660000;
constexpr uint32_t kBytes = 10000;
constexpr uint32_t kRegion = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

template <class R>
std::string what(const R& r) {
  if constexpr (requires { r.error().what; })
    return r ? "" : std::string(r.error().what);
  else
    return r ? "" : std::string(r.error->what);
}

std::string little(uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; i++)
    out += fmt::format("{:02x} ", static_cast<uint8_t>(value >> 8 * i));
  return out;
}

class Window : public DriverTest {
 protected:
  Window() : buffer(must(ctx.alloc(kBytes))), mr(region(kRegion)) {}

  /// Registers `buffer` with TO kAt. `mr` is such a region with the rights kRegion.
  Mr region(uint32_t access) { return must(pd.reg_mr_iova(buffer, 0, kBytes, kAt, access)); }
  Mw window(MwType type = IBV_MW_TYPE_2) { return must(pd.alloc_mw(type)); }
  /// A good bind, of 4096 bytes from byte 0x123 of `mr` on.
  MwBindInfo some(uint32_t access = IBV_ACCESS_REMOTE_WRITE) {
    return {.mr = &mr, .addr = kAt + 0x123, .length = 0x1000, .access = access};
  }
  /// The request of a bind that gives the window this key; without `key`: the next one.
  static SendWr bind(Mw& mw, const MwBindInfo& info, uint32_t key) {
    return {.opcode = IBV_WR_BIND_MW, .key = key, .mw = &mw, .bind_info = info};
  }
  static SendWr bind(Mw& mw, const MwBindInfo& info) { return bind(mw, info, inc_rkey(mw.rkey())); }
  /// The device flushes the send queue up to this index, which is exclusive.
  void flush(const Qp& qp, uint16_t upto) { finish(qp, upto, spec::WcStatus::kWrFlushErr); }
  /// The number of destroy_mr commands so far.
  size_t destroyed() const {
    return static_cast<size_t>(
        std::ranges::count(dev.commands, static_cast<uint8_t>(spec::AdminOpcode::kDestroyMr),
                           &spec::AdminCmd::opcode));
  }

  DmaBuffer buffer;
  Mr mr;
};

TEST_F(Window, TheCommandNamesPdKeyAndTypeAlone) {
  const uint32_t free = manager->pbl.largest();
  for (const MwType type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    auto mw = window(type);
    EXPECT_EQ(dev.mrs.at(mw.rkey()).args,
              (spec::AdminMrArgs{.pd = static_cast<uint16_t>(pd.number()),
                                 .key = static_cast<uint8_t>(mw.rkey()),
                                 .window = static_cast<uint8_t>(type)}));
    EXPECT_EQ(mw.type(), type);
    EXPECT_EQ(manager->pbl.largest(), free) << "a window has no page list";
    must(mw.dealloc());
    EXPECT_EQ(dev.mrs.size(), 1u);
    EXPECT_TRUE(mw.dealloc()) << "again: nothing to do";
  }
  EXPECT_EQ(errc(pd.alloc_mw(static_cast<MwType>(0))), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.alloc_mw(static_cast<MwType>(3))), Errc::kInvalidArgument);
  EXPECT_TRUE(Mw().dealloc());
  EXPECT_EQ(ctx.query_device().max_mw, ctx.query_device().max_mr);
}

TEST_F(Window, RefusedOnesTakeNoSlot) {
  dev.refuse[spec::AdminOpcode::kCreateMr] = spec::AdminStatus::kBadArgument;
  for (uint32_t i = 0; i <= ctx.query_device().max_mw; i++)
    ASSERT_EQ(errc(pd.alloc_mw(IBV_MW_TYPE_1)), Errc::kInvalidArgument) << i;
  dev.refuse.clear();
  EXPECT_TRUE(pd.alloc_mw(IBV_MW_TYPE_1));
}

// Opcode 8, signaled, inline and fence, one unit, length 32; TO of the first byte; the new key.
// Then bind_operands: address, length, the region's key, rights.
TEST_F(Window, TheWqeCarriesItsOperands) {
  Qp qp = rts_qp();
  mr = region(kRegion | IBV_ACCESS_FLUSH_GLOBAL);
  auto mw = window();
  const uint32_t key = (mw.rkey() & ~0xffu) | 0xab;
  SendWr wr = bind(mw,
                   some(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL | 1u << 20),
                   key);
  wr.wr_id = 5;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
  ASSERT_TRUE(qp.post_send(wr));
  EXPECT_BYTES(sq(qp, 0), "08 0b 01 00 20 00 00 00 23 01 66 55 44 33 22 11 " + little(key, 4) +
                              "00 00 00 00 00 00 00 00 00 00 00 00 "
                              "23 01 66 55 44 33 22 11 00 10 00 00 00 00 00 00 " +
                              little(mr.lkey(), 4) + "0e 01 00 00 00 00 00 00 00 00 00 00");
  EXPECT_EQ(mw.rkey(), key);
  dev.cqe(cq.number(), {.qpn = qp.qp_num(), .opcode = spec::WcOpcode::kBindMw, .byte_len = 32});
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].wr_id, 5u);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_BIND_MW);
  EXPECT_EQ(wcs[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wcs[0].byte_len, 32u);
  EXPECT_EQ(mw.rkey(), key);
}

TEST_F(Window, AddressesCountFromZeroIfAsked) {
  Qp qp = rts_qp();
  auto mw = window();
  ASSERT_TRUE(qp.post_send(bind(mw, some(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED))));
  const auto head = spec::SqWqe::unpack(sq(qp, 0));
  const auto operands = spec::BindOperands::unpack(sq(qp, 0).subspan(32));
  EXPECT_EQ(head.remote_address, 0u);
  EXPECT_EQ(operands.address, kAt + 0x123);
  EXPECT_EQ(operands.rights, IBV_ACCESS_REMOTE_READ);
}

TEST_F(Window, BindMwTakesTheNextKey) {
  Qp qp = rts_qp();
  auto mw = window(IBV_MW_TYPE_1);
  for (unsigned i = 0; i < 3; i++) {
    const uint32_t old = mw.rkey();
    ASSERT_TRUE(qp.bind_mw(mw, {.wr_id = i, .send_flags = IBV_SEND_SIGNALED, .bind_info = some()}));
    EXPECT_EQ(mw.rkey(), inc_rkey(old));
    EXPECT_EQ(spec::SqWqe::unpack(sq(qp, i)).rkey, mw.rkey());
    finish(qp, static_cast<uint16_t>(i));
    EXPECT_EQ(poll().at(0).wr_id, i);
  }
  EXPECT_TRUE(qp.core()->windows.empty()) << "a window of type 1 belongs to the PD";
  // Length 0 unbinds, and needs no region.
  ASSERT_TRUE(qp.bind_mw(mw, {}));
  EXPECT_EQ(spec::BindOperands::unpack(sq(qp, 3).subspan(32)), spec::BindOperands());
  auto second = window(IBV_MW_TYPE_2);
  const auto r = qp.bind_mw(second, {.bind_info = some()});
  EXPECT_EQ(errc(r), Errc::kInvalidArgument);
  EXPECT_THAT(what(r), HasSubstr("of type 2: post IBV_WR_BIND_MW"));
  Mw none;
  EXPECT_EQ(errc(qp.bind_mw(none, {.bind_info = some()})), Errc::kInvalidArgument);
}

TEST_F(Window, BindAndSendShareADoorbellOrABuilder) {
  Qp qp = rts_qp();
  auto mw = window();
  const Sge sge{kAt, 64, mr.lkey()};
  const std::array wrs{bind(mw, some()), SendWr{.sg_list = {&sge, 1}}};
  EXPECT_EQ(qp.post_send(wrs).accepted, 2u);
  EXPECT_EQ(sq(qp, 0)[0], 0x08);
  EXPECT_EQ(sq(qp, 1)[0], 0x02);
  EXPECT_EQ(dev.doorbells().size(), 1u);
  const uint32_t key = inc_rkey(mw.rkey());
  qp.wr_start();
  qp.wr_bind_mw(mw, key, some());
  qp.wr_send();
  qp.wr_set_sge(mr.lkey(), kAt, 64);
  ASSERT_TRUE(qp.wr_complete());
  EXPECT_EQ(mw.rkey(), key);
  EXPECT_EQ(spec::SqWqe::unpack(sq(qp, 2)).rkey, key);
  // All or none: if the list is not posted, the driver forgets the keys of its binds.
  qp.wr_start();
  qp.wr_bind_mw(mw, inc_rkey(key), some());
  qp.wr_bind_mw(mw, inc_rkey(inc_rkey(key)), some());
  qp.wr_bind_mw(mw, key ^ 0x100, some());
  EXPECT_EQ(errc(qp.wr_complete()), Errc::kInvalidArgument);
  EXPECT_EQ(mw.rkey(), key);
  EXPECT_EQ(qp.core()->binds.size(), 2u);
  auto unused = window();
  qp.wr_start();
  qp.wr_bind_mw(unused, unused.rkey(), some());
  qp.wr_bind_mw(unused, unused.rkey(), some());
  qp.wr_bind_mw(unused, 0, some());
  EXPECT_EQ(errc(qp.wr_complete()), Errc::kInvalidArgument);
  EXPECT_EQ(qp.core()->windows, std::vector{mw.core().get()});
}

TEST_F(Window, IsPushedAsAnyShortWqe) {
  Qp qp = rts_qp({}, true);
  auto mw = window();
  ASSERT_TRUE(qp.post_send(bind(mw, some())));
  EXPECT_EQ(dev.count(Call::kCombined), 1u);
}

/// A refused bind does not change the window: it keeps the key of the last bind that succeeded.
TEST_F(Window, ARefusedBindLeavesTheOldKey) {
  Qp qp = rts_qp();
  auto mw = window(IBV_MW_TYPE_1), other = window();
  const uint32_t key = inc_rkey(mw.rkey()), others = other.rkey();
  // Five binds; the third is refused. The first two are not signaled.
  ASSERT_TRUE(qp.post_send(bind(mw, some())));
  ASSERT_TRUE(qp.post_send(bind(other, some())));
  ASSERT_TRUE(qp.post_send(bind(mw, some())));
  ASSERT_TRUE(qp.post_send(bind(mw, some())));
  ASSERT_TRUE(qp.post_send(bind(other, some())));
  EXPECT_EQ(mw.rkey(), inc_rkey(inc_rkey(key)));
  finish(qp, 2, spec::WcStatus::kMwBindErr);
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].status, IBV_WC_MW_BIND_ERR);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_BIND_MW);
  EXPECT_EQ(mw.rkey(), key) << "at once, not when the later ones are flushed";
  EXPECT_EQ(other.rkey(), inc_rkey(others));
  flush(qp, 5);
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(mw.rkey(), key);
  EXPECT_EQ(other.rkey(), inc_rkey(others));
  EXPECT_TRUE(qp.core()->binds.empty());
  // A bind on another QP takes the next key.
  Qp next = rts_qp();
  ASSERT_TRUE(next.bind_mw(mw, {.bind_info = some()}));
  EXPECT_EQ(mw.rkey(), inc_rkey(key));
}

TEST_F(Window, AFlushedBindLeavesTheOldKey) {
  Qp qp = rts_qp();
  auto mw = window(IBV_MW_TYPE_1);
  const uint32_t key = mw.rkey();
  ASSERT_TRUE(qp.post_send(SendWr{.send_flags = IBV_SEND_SIGNALED}));
  ASSERT_TRUE(qp.bind_mw(mw, {.bind_info = some()}));
  ASSERT_TRUE(qp.bind_mw(mw, {.bind_info = some()}));
  finish(qp, 0);
  flush(qp, 3);
  EXPECT_EQ(poll().size(), 3u);
  EXPECT_EQ(mw.rkey(), key);
}

/// The bind on the other QP is newer: the flush of the older one does not change the key.
TEST_F(Window, AnotherQpsBindIsNotForgotten) {
  Qp first = rts_qp(), second = rts_qp();
  auto mw = window(IBV_MW_TYPE_1);
  const uint32_t key = mw.rkey();
  ASSERT_TRUE(first.bind_mw(mw, {.bind_info = some()}));
  ASSERT_TRUE(second.bind_mw(mw, {.bind_info = some()}));
  finish(second, 0);
  flush(first, 1);
  EXPECT_EQ(poll().size(), 2u);
  EXPECT_EQ(mw.rkey(), inc_rkey(inc_rkey(key)));
}

TEST_F(Window, MayEndBeforeItsBindIsReported) {
  Qp qp = rts_qp();
  {
    auto mw = window();
    ASSERT_TRUE(qp.post_send(bind(mw, some())));
    EXPECT_EQ(qp.core()->windows.size(), 1u);
  }
  EXPECT_TRUE(qp.core()->windows.empty());
  finish(qp, 0);
  EXPECT_EQ(poll().size(), 1u);
  EXPECT_TRUE(qp.core()->binds.empty());
}

TEST_F(Window, WrongUseIsEinval) {
  Qp qp = rts_qp();
  auto mw = window(), one = window(IBV_MW_TYPE_1);
  const auto bad = [&](const SendWr& wr, const char* text) {
    const uint32_t key = mw.rkey();
    const auto r = qp.post_send(wr);
    EXPECT_EQ(errc(r), Errc::kInvalidArgument) << text;
    EXPECT_THAT(what(r), HasSubstr(text));
    EXPECT_EQ(qp.core()->sq_head, 0);
    EXPECT_EQ(mw.rkey(), key);
  };
  const auto with = [&](auto change) {
    MwBindInfo info = some();
    change(info);
    return bind(mw, info);
  };
  Mw none;
  Mr no_region;
  bad({.opcode = IBV_WR_BIND_MW}, "no window of Pd::alloc_mw");
  bad(bind(none, some(), 1), "no window of Pd::alloc_mw");
  bad(bind(mw, some(), mw.rkey() ^ 0x100), "only the low 8 bits may differ");
  bad(with([](auto& i) { i.mr = nullptr; }), "no region");
  bad(with([&](auto& i) { i.mr = &no_region; }), "no region");
  bad(with([](auto& i) { i.length = 0; }), "of type 2: unbind it by IBV_WR_LOCAL_INV");
  bad(with([](auto& i) { i.length = uint64_t{1} << 32; }), "at most 4294967295");
  bad(with([](auto& i) { i.length = UINT64_MAX; }), "at most 4294967295");
  bad(with([](auto& i) { i.addr = kAt - 1; }), "outside mr");
  bad(with([](auto& i) { i.length = kBytes - 0x122; }), "outside mr");
  bad(with([](auto& i) { i.addr = kAt + kBytes, i.length = 1; }), "outside mr");
  bad(with([](auto& i) { i.addr = UINT64_MAX; }), "outside mr");
  for (const uint32_t access : {uint32_t{IBV_ACCESS_LOCAL_WRITE}, uint32_t{IBV_ACCESS_MW_BIND},
                                uint32_t{RNIC_ACCESS_REMOTE_INVALIDATE}, 0x40u})
    bad(bind(mw, some(access)), "remote rights and Flush alone");
  for (const uint32_t access : {IBV_ACCESS_FLUSH_GLOBAL, IBV_ACCESS_FLUSH_PERSISTENT})
    bad(bind(mw, some(access)), "without the Flush right");
  const Sge sge{kAt, 8, mr.lkey()};
  SendWr wr = bind(mw, some());
  wr.sg_list = {&sge, 1};
  bad(wr, "bind of a memory window has none");
  wr.sg_list = {};
  wr.send_flags = IBV_SEND_INLINE;
  bad(wr, "cannot be inline");
  auto plain = region(IBV_ACCESS_LOCAL_WRITE), read_only = region(IBV_ACCESS_MW_BIND);
  bad(with([&](auto& i) { i.mr = &plain; }), "without IBV_ACCESS_MW_BIND");
  bad(with([&](auto& i) { i.mr = &read_only; }), "needs IBV_ACCESS_LOCAL_WRITE");
  bad(with([&](auto& i) { i.mr = &read_only, i.access = IBV_ACCESS_REMOTE_ATOMIC; }),
      "needs IBV_ACCESS_LOCAL_WRITE");
  Qp other = make_qp();
  auto bound = must(other.reg_mr(buffer, kRegion));
  bad(with([&](auto& i) { i.mr = &bound, i.addr = bound.addr(); }), "is bound to qp");
  auto apart = must(ctx.alloc_pd());
  auto foreign = must(apart.reg_mr(buffer, kRegion));
  bad(with([&](auto& i) { i.mr = &foreign; }), "of PD");
  auto foreign_window = must(apart.alloc_mw(IBV_MW_TYPE_1));
  bad(bind(foreign_window, some()), "of PD");
  must(plain.dereg());
  bad(with([&](auto& i) { i.mr = &plain; }), "is deregistered");
  must(one.dealloc());
  bad(bind(one, some()), "is deallocated");
  // Allowed: all bytes of the region, and a window for remote reads of a region without local
  // write.
  EXPECT_TRUE(qp.post_send(with([](auto& i) { i.addr = kAt, i.length = kBytes; })));
  EXPECT_TRUE(
      qp.post_send(with([&](auto& i) { i.mr = &read_only, i.access = IBV_ACCESS_REMOTE_READ; })));
  must(qp.destroy());
  EXPECT_THAT(what(qp.post_send(with([](auto&) {}))), HasSubstr("is destroyed"));
}

TEST_F(Window, ARegionForWindowsIsNotThePeersToInvalidate) {
  Qp qp = make_qp();
  const auto r = qp.reg_mr(buffer, kRegion | RNIC_ACCESS_REMOTE_INVALIDATE);
  EXPECT_EQ(errc(r), Errc::kInvalidArgument);
  EXPECT_THAT(what(r), HasSubstr("exclude each other"));
  EXPECT_EQ(dev.mrs.at(mr.rkey()).args.rights, 0x11);
}

/// A region of alloc_mr can have windows if its registration has the right IBV_ACCESS_MW_BIND.
TEST_F(Window, OfAFastRegistration) {
  Qp qp = must(pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .privileged = true}));
  play_peer();
  connections.push_back(must(connect(qp, must(Address::resolve("10.0.0.2", 4791)), {})));
  dev.on_wait = nullptr;
  auto fast = must(pd.alloc_mr(4));
  const SgRange all{.buffer = buffer, .length = kBytes};
  must(fast.map_mr_sg({&all, 1}, 4096, kAt));
  auto mw = window();
  MwBindInfo info = some();
  info.mr = &fast;
  EXPECT_THAT(what(qp.post_send(bind(mw, info))), HasSubstr("without IBV_ACCESS_MW_BIND"));
  const std::array wrs{
      SendWr{.opcode = IBV_WR_REG_MR, .mr = &fast, .key = fast.rkey(), .access = kRegion},
      bind(mw, info)};
  EXPECT_EQ(qp.post_send(wrs).accepted, 2u);
  EXPECT_EQ(spec::BindOperands::unpack(sq(qp, 1).subspan(32)).lkey, fast.rkey());
}

TEST_F(Window, AFullQueueChangesNothing) {
  Qp qp = rts_qp();
  auto mw = window();
  const uint32_t key = mw.rkey();
  while (qp.post_send(SendWr{})) continue;
  EXPECT_EQ(errc(qp.post_send(bind(mw, some()))), Errc::kQueueFull);
  EXPECT_EQ(mw.rkey(), key);
  EXPECT_TRUE(qp.core()->windows.empty());
  EXPECT_TRUE(qp.core()->binds.empty());
}

/// Only the device knows whether windows are bound: the peer may have invalidated them.
TEST_F(Window, ARegionWithWindowsIsBusyAndStays) {
  const uint32_t free = manager->pbl.largest();
  const uint64_t page = buffer.bus(0);
  buffer = DmaBuffer();
  dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInUse;
  const auto r = mr.dereg();
  EXPECT_EQ(errc(r), Errc::kBusy);
  EXPECT_EQ(base::to_errno(Errc::kBusy), EBUSY);
  EXPECT_THAT(what(r), HasSubstr("memory windows are bound to it"));
  EXPECT_EQ(manager->pbl.largest(), free);
  Qp qp = rts_qp();
  auto mw = window();
  EXPECT_TRUE(qp.post_send(bind(mw, some()))) << "the region is as before";
  dev.refuse.clear();
  must(mr.dereg());
  EXPECT_GT(manager->pbl.largest(), free);
  EXPECT_DEATH((void)dev.at(page), "freed");
}

TEST_F(Window, ARegionThatEndsWithWindowsKeepsItsMemory) {
  const uint64_t page = buffer.bus(0);
  buffer = DmaBuffer();
  dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInUse;
  mr = Mr();
  EXPECT_NE(dev.at(page), nullptr);
}

TEST_F(Window, DeallocUsesTheLatestKeyAndItsSlotIsFree) {
  Qp qp = rts_qp();
  auto mw = window();
  const uint32_t key = mw.rkey();
  ASSERT_TRUE(qp.post_send(bind(mw, some())));
  must(mw.dealloc());
  EXPECT_EQ(dev.commands.back().object, inc_rkey(key));
  EXPECT_EQ(dev.mrs.size(), 1u);
  EXPECT_TRUE(qp.core()->windows.empty());
}

/// A window of type 2 ends with its QP, as a bound region does: the next QP with that number must
/// not reach it.
TEST_F(Window, OfType2EndsWithItsQp) {
  Qp first = rts_qp(), second = rts_qp();
  auto mw = window(), one = window(IBV_MW_TYPE_1);
  ASSERT_TRUE(second.post_send(bind(mw, some())));
  ASSERT_TRUE(second.post_send(bind(one, some())));
  must(second.destroy());
  EXPECT_EQ(dev.mrs.size(), 2u) << "the region and the window of type 1";
  EXPECT_THAT(what(first.post_send(bind(mw, some()))), HasSubstr("is deallocated"));
  EXPECT_TRUE(mw.dealloc()) << "nothing to do";
  EXPECT_TRUE(first.post_send(bind(one, some())));
}

/// A bind that succeeds moves the window to its QP; one that is refused does not.
TEST_F(Window, EndsWithTheQpThatItIsBoundTo) {
  Qp first = rts_qp(), second = rts_qp(), third = rts_qp();
  auto mw = window();
  const auto post = [&](Qp& qp, spec::WcStatus status) {
    ASSERT_TRUE(qp.post_send(SendWr{bind(mw, some())}));
    finish(qp, 0, status);
    EXPECT_EQ(poll().size(), 1u);
  };
  post(first, spec::WcStatus::kSuccess);
  EXPECT_EQ(first.core()->windows.size(), 1u);
  post(second, spec::WcStatus::kSuccess);
  EXPECT_TRUE(first.core()->windows.empty());
  post(third, spec::WcStatus::kMwBindErr);
  EXPECT_TRUE(third.core()->windows.empty());
  must(third.destroy());
  must(first.destroy());
  EXPECT_EQ(dev.mrs.size(), 2u);
  must(second.destroy());
  EXPECT_EQ(dev.mrs.size(), 1u);
}

/// Unknown cases count as bound: a flushed bind may have been executed, and either of two
/// outstanding binds may be the later one.
TEST_F(Window, EndsWithEachQpThatItMayBeBoundTo) {
  Qp first = rts_qp(), second = rts_qp(), third = rts_qp();
  auto mw = window(), other = window();
  ASSERT_TRUE(first.post_send(bind(mw, some())));
  flush(first, 1);
  ASSERT_TRUE(second.post_send(bind(other, some())));
  ASSERT_TRUE(third.post_send(bind(other, some())));
  finish(third, 0);
  finish(second, 0);
  EXPECT_EQ(poll().size(), 3u);
  EXPECT_EQ(first.core()->windows.size(), 1u);
  EXPECT_EQ(second.core()->windows.size(), 1u);
  EXPECT_EQ(third.core()->windows.size(), 1u);
  must(third.destroy());
  EXPECT_TRUE(second.core()->windows.empty());
  must(first.destroy());
  EXPECT_EQ(dev.mrs.size(), 1u);
}

/// A region of Qp::reg_mr ends with its QP. Its windows end before it.
TEST_F(Window, OfABoundRegionEndsWithTheQp) {
  Qp qp = rts_qp();
  auto bound = must(qp.reg_mr_iova(buffer, 0, kBytes, kAt, kRegion));
  auto mw = window(IBV_MW_TYPE_1);
  MwBindInfo info = some();
  info.mr = &bound;
  ASSERT_TRUE(qp.post_send(bind(mw, info)));
  const size_t before = destroyed();
  must(qp.destroy());
  EXPECT_EQ(destroyed(), before + 2);
  ASSERT_EQ(dev.mrs.size(), 1u);
  EXPECT_TRUE(dev.mrs.contains(mr.rkey()));
  std::vector<uint32_t> objects;
  for (const auto& c : dev.commands)
    if (c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kDestroyMr))
      objects.push_back(c.object);
  EXPECT_EQ(objects, (std::vector{mw.rkey(), bound.rkey()}));
}

}  // namespace
}  // namespace rnic::tb
