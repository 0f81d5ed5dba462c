// Fast registration: the command that reserves an STag, the page list of map_mr_sg, the WQE typed
// by hand from queues.yaml, and every wrong use.
#include <bit>

#include "core.hpp"
#include "driver/driver_fixture.hpp"
#include "gen/sizes.hpp"

namespace rnic::tb {
namespace {

using testing::HasSubstr;
using Pages = std::vector<uint64_t>;

constexpr uint32_t kPage = 4096;

class FastRegister : public DriverTest {
 protected:
  /// A connected QP that may register memory.
  Qp privileged_qp(bool push = false) {
    Qp qp = must(pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .push = push, .privileged = true}));
    play_peer();
    connections.push_back(must(connect(qp, must(Address::resolve("10.0.0.2", 4791)), {})));
    dev.on_wait = nullptr;
    dev.calls.clear();
    return qp;
  }
  /// A range of bus addresses.
  static SgRange bus(uint64_t addr, uint64_t length) { return {.addr = addr, .length = length}; }
  static Result<void> map(Mr& mr, const std::vector<SgRange>& ranges, uint32_t page = kPage,
                          std::optional<uint64_t> iova = {}) {
    return mr.map_mr_sg(ranges, page, iova);
  }
  /// The page list, as the device would read it.
  Pages listed(const Mr& mr) {
    Pages out;
    for (uint32_t i = 0; i < mr.core()->mapped; i++)
      out.push_back(base::load_le<uint64_t>(dev.at(mr.core()->list.bus(8 * i), 8)));
    return out;
  }
  /// The request that registers the mapped memory of `mr`.
  static SendWr reg(Mr& mr, uint32_t access = IBV_ACCESS_LOCAL_WRITE) {
    return {.opcode = IBV_WR_REG_MR, .mr = &mr, .key = mr.rkey(), .access = access};
  }
  template <class R>
  static std::string what(const R& r) {
    if constexpr (requires { r.error().what; })
      return r ? "" : std::string(r.error().what);
    else
      return r ? "" : std::string(r.error->what);
  }
  /// The region in the fake device.
  const PciDeviceFake::FakeMr& seen(const Mr& mr) { return dev.mrs.at(mr.rkey()); }
};

TEST_F(FastRegister, AllocReservesAPowerOfTwoOfPages) {
  for (const auto& [asked, log] : {std::pair(1u, 0u), {2u, 1u}, {3u, 2u}, {16u, 4u}, {17u, 5u}}) {
    const uint32_t before = manager->pbl.largest();
    {
      const auto mr = must(pd.alloc_mr(asked));
      const auto& a = seen(mr).args;
      EXPECT_EQ(a.fast, 1);
      EXPECT_EQ(a.log_page, log);  // with `fast`: log2 of the entries of the page list
      EXPECT_EQ(a.pages, 1u << log);
      EXPECT_EQ(a.pd, pd.number());
      EXPECT_EQ(a.key, mr.rkey() & 0xff);
      EXPECT_EQ(a.rights | a.qpn | a.bound | a.first_offset, 0u);
      EXPECT_EQ(a.base_to | a.length | a.page_list, 0u);
      EXPECT_EQ(mr.max_pages(), 1u << log);
      EXPECT_EQ(mr.length(), 0u);
      EXPECT_EQ(manager->pbl.largest(), before - (1u << log));
    }
    EXPECT_EQ(manager->pbl.largest(), before);
    EXPECT_TRUE(dev.mrs.empty());
  }
}

TEST_F(FastRegister, AllocOfTooMuchOrRefused) {
  EXPECT_EQ(errc(pd.alloc_mr(0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.alloc_mr((1u << 18) + 1)), Errc::kInvalidArgument) << "a list of 2 MiB";
  EXPECT_EQ(errc(pd.alloc_mr(UINT32_MAX)), Errc::kInvalidArgument);
  PciDeviceFake small(spec::Sizes::minimum());
  auto m = must(Manager::open(small, {}));
  auto c = must(Context::open(small, *m));
  auto p = must(c.alloc_pd());
  const uint32_t free = m->pbl.largest();
  EXPECT_EQ(errc(p.alloc_mr(free + 1)), Errc::kNoMemory);
  {
    const auto all = must(p.alloc_mr(std::bit_floor(free)));
    EXPECT_EQ(errc(p.alloc_mr(std::bit_floor(free))), Errc::kNoMemory);
  }
  small.refuse[spec::AdminOpcode::kCreateMr] = spec::AdminStatus::kBadArgument;
  for (int i = 0; i < 65; i++)  // one more than the 64 slots
    EXPECT_EQ(errc(p.alloc_mr(1)), Errc::kInvalidArgument) << i;
  EXPECT_EQ(m->pbl.largest(), free);
}

TEST_F(FastRegister, MapListsThePagesOfItsRanges) {
  auto mr = must(pd.alloc_mr(8));
  ASSERT_TRUE(map(mr, {bus(0x7010, 0xff0), bus(0x3000, 0x1000), bus(0x9000, 5)}));
  EXPECT_EQ(listed(mr), (Pages{0x7000, 0x3000, 0x9000}));
  EXPECT_EQ(mr.length(), 0xff0u + 0x1000 + 5);
  EXPECT_EQ(mr.addr(), 0x7010u) << "as ib_map_mr_sg: the bus address of the first byte";
  EXPECT_EQ(mr.core()->first_offset, 0x10u);
  EXPECT_EQ(mr.page_size(), kPage);
  // Adjacent ranges share pages; empty ranges add none.
  ASSERT_TRUE(map(mr,
                  {bus(0x1ff0, 0x10), bus(5, 0), bus(0x2000, 0x10), bus(0x2010, 0x20),
                   bus(0x2030, 0x1fd0), bus(0x4000, 0x1001)},
                  kPage, 0x500000));
  EXPECT_EQ(listed(mr), (Pages{0x1000, 0x2000, 0x3000, 0x4000, 0x5000}));
  EXPECT_EQ(mr.length(), 0x3011u);
  EXPECT_EQ(mr.addr(), 0x500000u);
  EXPECT_EQ(mr.core()->first_offset, 0xff0u);
  // Large pages.
  ASSERT_TRUE(map(mr, {bus(0x41234, 0xedcc), bus(0x80000, 0x10001)}, 65536));
  EXPECT_EQ(listed(mr), (Pages{0x40000, 0x80000, 0x90000}));
  EXPECT_EQ(mr.core()->first_offset, 0x1234u);
  ASSERT_TRUE(map(mr, {bus(0x234567, 100)}, 2u << 20));
  EXPECT_EQ(listed(mr), (Pages{0x200000}));
  EXPECT_EQ(mr.core()->first_offset, 0x34567u);
}

TEST_F(FastRegister, MapOfBuffersKeepsThem) {
  std::weak_ptr<int> alive;
  auto mr = must(pd.alloc_mr(4));
  {
    auto owner = std::make_shared<int>(1);
    alive = owner;
    const DmaBuffer b({static_cast<uint8_t*>(nullptr), 3 * kPage - 0x100}, kPage,
                      {0x7000, 0x3000, 0x9000}, std::move(owner), 0x100);
    ASSERT_TRUE(map(mr, {{.buffer = b, .addr = 0x10, .length = 0x2000}}));
    EXPECT_EQ(listed(mr), (Pages{0x7000, 0x3000, 0x9000}));
    EXPECT_EQ(mr.core()->first_offset, 0x110u);
    EXPECT_EQ(mr.length(), 0x2000u);
    EXPECT_EQ(errc(map(mr, {{.buffer = b, .addr = 0, .length = 3 * kPage}})),
              Errc::kInvalidArgument);
    EXPECT_EQ(errc(map(mr, {{.buffer = b, .addr = UINT64_MAX, .length = 2}})),
              Errc::kInvalidArgument);
    // The pages of the buffer are adjacent nowhere, so no 8 KiB page holds two of them.
    EXPECT_THAT(what(map(mr, {{.buffer = b, .length = 0x2000}}, 8192)), HasSubstr("gap"));
  }
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  // The driver keeps the buffers of one earlier mapping: if the device refuses the registration of
  // the new one, the earlier registration stays open and its memory in use.
  EXPECT_FALSE(alive.expired()) << "a registration that is refused leaves the one before open";
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  EXPECT_TRUE(alive.expired());
}

TEST_F(FastRegister, WrongMappingsChangeNothing) {
  auto mr = must(pd.alloc_mr(2));
  ASSERT_TRUE(map(mr, {bus(0x5020, 0x100)}));
  const auto bad = [&](const std::vector<SgRange>& ranges, uint32_t page, const char* text,
                       std::optional<uint64_t> iova = {}) {
    const auto r = map(mr, ranges, page, iova);
    EXPECT_EQ(errc(r), Errc::kInvalidArgument) << text;
    EXPECT_THAT(what(r), HasSubstr(text));
    EXPECT_EQ(listed(mr), (Pages{0x5000}));
    EXPECT_EQ(mr.addr(), 0x5020u);
    EXPECT_EQ(mr.length(), 0x100u);
  };
  bad({}, kPage, "no bytes");
  bad({bus(0x1000, 0)}, kPage, "no bytes");
  for (const uint32_t page : {0u, 2048u, 4097u, 6144u, 4u << 20, UINT32_MAX})
    bad({bus(0x1000, 1)}, page, "page size");
  bad({bus(0x1000, 0x800), bus(0x3000, 1)}, kPage, "gap within a page");
  bad({bus(0x1000, 0x1000), bus(0x3010, 1)}, kPage, "gap within a page");
  bad({bus(0x1000, 0x1000), bus(0x3000, 1)}, 8192, "gap within a page");
  bad({bus(0x1000, 0x2001)}, kPage, "3 pages of 4096 bytes, the region has room for 2");
  bad({bus(0x1fff, 0x1002)}, kPage, "3 pages");
  bad({bus(0x1000, 0x1000), bus(0x8000, 0x1000), bus(0x3000, 1)}, kPage, "3 pages");
  bad({bus(0x1000, UINT64_MAX - 0x1000)}, kPage, "room for 2");
  bad({bus(0x1000, UINT64_MAX)}, kPage, "wrap");
  bad({bus(0x1000, 0x1000)}, kPage, "wraps", UINT64_MAX - 0xffe);
  EXPECT_TRUE(map(mr, {bus(0x1000, 0x1000)}, kPage, UINT64_MAX - 0xfff));
  auto b = must(ctx.alloc(100));
  auto plain = must(pd.reg_mr(b, IBV_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(errc(map(plain, {bus(0x1000, 1)})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(plain.update_fast_reg_key(1)), Errc::kInvalidArgument);
  Mr none;
  EXPECT_EQ(errc(map(none, {bus(0x1000, 1)})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(none.update_fast_reg_key(1)), Errc::kInvalidArgument);
  must(mr.dereg());
  EXPECT_EQ(errc(map(mr, {bus(0x1000, 1)})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(mr.update_fast_reg_key(1)), Errc::kInvalidArgument);
}

// The WQE of queues.yaml, typed: opcode 32, inline and fence, one unit, length 32; base TO; key.
// Then reg_operands: page list, length, first offset, pages, rights, log2 of the page size.
TEST_F(FastRegister, TheWqeCarriesItsOperands) {
  Qp qp = privileged_qp();
  EXPECT_EQ(dev.qps.at(qp.qp_num()).args.privileged, 1);
  auto mr = must(pd.alloc_mr(3));
  ASSERT_TRUE(map(mr, {bus(0x41234, 0xedcc), bus(0x80000, 0x10001)}, 65536, 0x1122334455667788));
  ASSERT_TRUE(mr.update_fast_reg_key(0xab));
  EXPECT_EQ(mr.rkey() & 0xff, 0xabu);
  EXPECT_EQ(mr.lkey(), mr.rkey());
  SendWr wr = reg(mr, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          RNIC_ACCESS_REMOTE_INVALIDATE);
  wr.wr_id = 5;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
  ASSERT_TRUE(qp.post_send(wr));
  const auto little = [](uint64_t value, unsigned bytes) {
    std::string out;
    for (unsigned i = 0; i < bytes; i++)
      out += fmt::format("{:02x} ", static_cast<uint8_t>(value >> 8 * i));
    return out;
  };
  EXPECT_BYTES(sq(qp, 0), "20 0b 01 00 20 00 00 00 88 77 66 55 44 33 22 11 " +
                              little(mr.rkey(), 4) + "00 00 00 00 00 00 00 00 00 00 00 00 " +
                              little(mr.core()->list.bus(0), 8) +
                              "cd ed 01 00 00 00 00 00 "
                              "34 12 00 00 03 00 00 00 07 04 10 00 00 00 00 00");
  EXPECT_EQ(dev.doorbells().size(), 1u);
  dev.cqe(cq.number(), {.qpn = qp.qp_num(), .opcode = spec::WcOpcode::kRegMr, .byte_len = 32});
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].wr_id, 5u);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_REG_MR);
  EXPECT_EQ(wcs[0].status, IBV_WC_SUCCESS);
}

TEST_F(FastRegister, ARefusedOneReportsABindError) {
  Qp qp = privileged_qp();
  auto mr = must(pd.alloc_mr(1));
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  ASSERT_TRUE(qp.post_send(reg(mr)));
  finish(qp, 0, spec::WcStatus::kMwBindErr);
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 1u);
  EXPECT_EQ(wcs[0].status, IBV_WC_MW_BIND_ERR);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_REG_MR);
  EXPECT_EQ(to_string(wcs[0].status), "memory bind operation error");
}

TEST_F(FastRegister, IsPushedAsAnyShortWqe) {
  Qp qp = privileged_qp(true);
  auto mr = must(pd.alloc_mr(1));
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  ASSERT_TRUE(qp.post_send(reg(mr)));
  EXPECT_EQ(dev.count(Call::kCombined), 1u);
}

TEST_F(FastRegister, RegistrationAndSendShareADoorbell) {
  Qp qp = privileged_qp();
  auto mr = must(pd.alloc_mr(1));
  ASSERT_TRUE(map(mr, {bus(0x1000, 64)}));
  const Sge sge{mr.addr(), 64, mr.lkey()};
  const std::array wrs{reg(mr), SendWr{.sg_list = {&sge, 1}}};
  EXPECT_EQ(qp.post_send(wrs).accepted, 2u);
  EXPECT_EQ(sq(qp, 0)[0], 0x20);
  EXPECT_EQ(sq(qp, 1)[0], 0x02);
  EXPECT_EQ(dev.doorbells().size(), 1u);
}

TEST_F(FastRegister, WrongUseIsEinval) {
  Qp qp = privileged_qp();
  auto mr = must(pd.alloc_mr(2));
  const auto bad = [&](Qp& on, const SendWr& wr, const char* text,
                       Errc code = Errc::kInvalidArgument) {
    const auto r = on.post_send(wr);
    EXPECT_EQ(errc(r), code) << text;
    EXPECT_THAT(what(r), HasSubstr(text));
    EXPECT_EQ(on.core()->sq_head, 0);
  };
  EXPECT_EQ(base::to_errno(Errc::kInvalidArgument), EINVAL);
  bad(qp, reg(mr), "not mapped");
  ASSERT_TRUE(map(mr, {bus(0x1000, 0x1800)}));
  Qp user = rts_qp();
  EXPECT_EQ(dev.qps.at(user.qp_num()).args.privileged, 0) << "the default";
  bad(user, reg(mr), "not privileged");
  bad(qp, {.opcode = IBV_WR_REG_MR}, "no region of Pd::alloc_mr");
  Mr none;
  bad(qp, {.opcode = IBV_WR_REG_MR, .mr = &none}, "no region of Pd::alloc_mr");
  auto b = must(ctx.alloc(100));
  auto plain = must(pd.reg_mr(b, IBV_ACCESS_LOCAL_WRITE));
  bad(qp, reg(plain), "no region of Pd::alloc_mr");
  auto other = must(ctx.alloc_pd());
  auto foreign = must(other.alloc_mr(2));
  ASSERT_TRUE(map(foreign, {bus(0x1000, 1)}));
  bad(qp, reg(foreign), "of PD");
  SendWr wr = reg(mr);
  wr.key ^= 1;
  bad(qp, wr, "update_fast_reg_key");
  bad(qp, reg(mr, IBV_ACCESS_REMOTE_WRITE), "remote write needs local write");
  bad(qp, reg(mr, IBV_ACCESS_REMOTE_ATOMIC), "remote atomic needs local write");
  bad(qp, reg(mr, IBV_ACCESS_ZERO_BASED), "IBV_ACCESS_ZERO_BASED");
  bad(qp, reg(mr, 0x40), "access 0x40 is not supported", Errc::kNotSupported);
  bad(qp, reg(mr, IBV_ACCESS_MW_BIND | RNIC_ACCESS_REMOTE_INVALIDATE), "exclude each other");
  bad(qp, reg(mr, IBV_ACCESS_FLUSH_PERSISTENT), "not persistent");
  dev.domain = PersistenceDomain::kNone;
  bad(qp, reg(mr, IBV_ACCESS_FLUSH_PERSISTENT), "no persistence domain", Errc::kNotSupported);
  dev.domain = PersistenceDomain::kAdr;
  const Sge sge{0x1000, 8, 1};
  wr = reg(mr);
  wr.sg_list = {&sge, 1};
  bad(qp, wr, "fast registration has none");
  wr.sg_list = {};
  wr.send_flags = IBV_SEND_INLINE;
  bad(qp, wr, "cannot be inline");
  wr.send_flags = 1u << 4;
  bad(qp, wr, "send_flags");
  EXPECT_TRUE(qp.post_send(reg(mr, 0))) << "no rights, but valid";
  const auto pmem = must(dev.persistent("log", 4096));
  ASSERT_TRUE(map(mr, {{.buffer = pmem, .length = 4096}}));
  EXPECT_TRUE(qp.post_send(reg(mr, IBV_ACCESS_FLUSH_PERSISTENT)));
  must(mr.dereg());
  const auto r = qp.post_send(reg(mr));
  EXPECT_EQ(errc(r), Errc::kInvalidArgument);
  EXPECT_THAT(what(r), HasSubstr("deregistered"));
}

TEST_F(FastRegister, AFullQueueChangesNothing) {
  Qp qp = privileged_qp();
  auto mr = must(pd.alloc_mr(1));
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  while (qp.post_send(SendWr{})) continue;
  EXPECT_EQ(errc(qp.post_send(reg(mr, RNIC_ACCESS_REMOTE_INVALIDATE))), Errc::kQueueFull);
  EXPECT_TRUE(qp.core()->regions.empty());
}

TEST_F(FastRegister, DeregUsesTheLatestKey) {
  auto mr = must(pd.alloc_mr(1));
  const uint32_t first = mr.rkey();
  ASSERT_TRUE(mr.update_fast_reg_key(static_cast<uint8_t>(first + 7)));
  EXPECT_EQ(mr.rkey() >> 8, first >> 8);
  const uint64_t list = mr.core()->list.bus(0);
  must(mr.dereg());
  EXPECT_EQ(dev.commands.back().object, mr.rkey());
  EXPECT_TRUE(dev.mrs.empty());
  EXPECT_DEATH((void)dev.at(list), "freed");
  EXPECT_TRUE(mr.dereg()) << "again: nothing to do";
}

TEST_F(FastRegister, AFailedDeregKeepsTheMemory) {
  auto mr = must(pd.alloc_mr(1));
  auto b = must(ctx.alloc(100));
  const uint64_t page = b.bus(0), list = mr.core()->list.bus(0);
  ASSERT_TRUE(map(mr, {{.buffer = b, .length = 100}}));
  b = DmaBuffer();
  const uint32_t free = manager->pbl.largest();
  dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInUse;
  EXPECT_EQ(errc(mr.dereg()), Errc::kBusy);
  mr = Mr();
  EXPECT_NE(dev.at(page), nullptr);
  EXPECT_NE(dev.at(list), nullptr);
  EXPECT_EQ(manager->pbl.largest(), free) << "the device may still write its entries";
}

/// A region ends with each QP that has posted a registration with remote invalidation: the driver
/// does not know whether the device executed it.
TEST_F(FastRegister, ABoundOneEndsWithItsQp) {
  auto mr = must(pd.alloc_mr(1));
  ASSERT_TRUE(map(mr, {bus(0x1000, 1)}));
  Qp first = privileged_qp(), second = privileged_qp(), third = privileged_qp();
  ASSERT_TRUE(first.post_send(reg(mr, RNIC_ACCESS_REMOTE_INVALIDATE)));
  ASSERT_TRUE(second.post_send(reg(mr, RNIC_ACCESS_REMOTE_INVALIDATE)));
  ASSERT_TRUE(third.post_send(reg(mr)));
  EXPECT_EQ(first.core()->regions.size(), 1u);
  EXPECT_EQ(second.core()->regions.size(), 1u);
  EXPECT_TRUE(third.core()->regions.empty());
  ASSERT_TRUE(third.destroy());
  EXPECT_EQ(dev.mrs.size(), 1u);
  ASSERT_TRUE(first.destroy());
  EXPECT_TRUE(dev.mrs.empty());
  EXPECT_TRUE(second.core()->regions.empty());
  EXPECT_THAT(what(second.post_send(reg(mr))), HasSubstr("is deregistered"));
  ASSERT_TRUE(second.destroy());
  EXPECT_THAT(what(second.post_send(reg(mr))), HasSubstr("is destroyed"));
}

}  // namespace
}  // namespace rnic::tb
