// The privileged part: finding and starting the device, admin commands, tables, regions.
#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::optional<Errc> open_error(PciDeviceFake& dev, ManagerSettings s = {}) {
  return errc(Manager::open(dev, s));
}

TEST(ManagerOpen, SetsUpInOrder) {
  PciDeviceFake dev;
  auto m = must(Manager::open(dev, {.seed = 3, .log_admin = 4}));
  EXPECT_EQ(dev.config_read(0x04) & 6, 6u);                    // memory, bus master
  EXPECT_EQ(dev.config_read(0x40) & 0xc0000000, 0x80000000u);  // MSI-X on, not masked
  std::vector<uint32_t> order;
  for (const Call& c : dev.calls)
    if (c.kind == Call::kWrite && c.bar == 0 && c.offset < 0x100) order.push_back(c.offset);
  ASSERT_GE(order.size(), 6u);
  // stag_key, admin_cmd_base, admin_rsp_base, admin_log_size, dev_ctrl, admin_doorbell
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 6),
            (std::vector<uint32_t>{0x10, 0x20, 0x28, 0x30, 0x08, 0x34}));
  EXPECT_EQ(dev.reg(0x30), 4u);
  EXPECT_EQ(dev.reg(0x20) % 64, 0u);
  EXPECT_NE(dev.reg(0x10), 0u);
  EXPECT_EQ(dev.eqs.size(), 16u);
  EXPECT_EQ(dev.eqs.at(5).vector, 5u);
  EXPECT_EQ(dev.reg(0x2008 + 16 * 5), 5u);  // msix_data of vector 5; then its msix_control
  EXPECT_EQ(dev.reg(0x200c + 16 * 5), 0u);  // unmasked
  EXPECT_EQ(m->attr().max_qp, 1024u);
  EXPECT_EQ(m->attr().max_sge_rd, 1u);
  EXPECT_THAT(dev.violations, IsEmpty());
  m = nullptr;
  EXPECT_EQ(dev.reg(0x08), 0u);  // disabled
}

TEST(ManagerOpen, MinimumBuild) {
  PciDeviceFake dev(spec::Sizes::minimum());
  auto m = must(Manager::open(dev, {}));
  EXPECT_EQ(dev.eqs.size(), 2u);
  EXPECT_EQ(m->attr().num_comp_vectors, 1u);
}

TEST(ManagerOpen, TheSameSeedGivesTheSameKey) {
  PciDeviceFake a, b, c;
  auto ma = must(Manager::open(a, {.seed = 9})), mb = must(Manager::open(b, {.seed = 9})),
       mc = must(Manager::open(c, {.seed = 10}));
  EXPECT_EQ(a.reg(0x10), b.reg(0x10));
  EXPECT_NE(a.reg(0x10), c.reg(0x10));
}

TEST(ManagerOpen, Failures) {
  PciDeviceFake gone;
  gone.gone = true;
  EXPECT_EQ(open_error(gone), Errc::kDeviceError);
  PciDeviceFake slow;
  slow.ready = false;
  EXPECT_EQ(open_error(slow, {.ready_timeout = 100 * kUs}), Errc::kTimedOut);
  PciDeviceFake refuses;
  refuses.refuse[spec::AdminOpcode::kCreateEq] = spec::AdminStatus::kDmaError;
  EXPECT_EQ(open_error(refuses), Errc::kDeviceError);
  PciDeviceFake fine;
  EXPECT_EQ(open_error(fine, {.log_admin = 13}), Errc::kInvalidArgument);
}

class Admin : public DriverTest {
 protected:
  Result<spec::AdminRsp> nop(uint32_t object = 0) {
    return manager->execute(dev, spec::AdminOpcode::kNop, object);
  }
};

TEST_F(Admin, PhasesOverManyPasses) {
  for (uint32_t i = 0; i < 300; i++) ASSERT_EQ(must(nop(i)).object, i);
}

TEST_F(Admin, CommandBytes) {
  dev.commands.clear();
  (void)must(nop(0x01020304));
  ASSERT_EQ(dev.commands.size(), 1u);
  std::array<uint8_t, 64> bytes{};
  auto cmd = dev.commands[0];
  cmd.cookie = 0xaabb;
  cmd.pack(bytes);
  EXPECT_BYTES(std::span(bytes).first(16), "00 00 bb aa 04 03 02 01 00 00 00 00 00 00 00 00");
}

TEST_F(Admin, EachStatusHasItsErrcAndNamesTheCommand) {
  const std::pair<spec::AdminStatus, Errc> rows[] = {
      {spec::AdminStatus::kBadOpcode, Errc::kNotSupported},
      {spec::AdminStatus::kBadObject, Errc::kInvalidArgument},
      {spec::AdminStatus::kBadArgument, Errc::kInvalidArgument},
      {spec::AdminStatus::kExists, Errc::kAlreadyExists},
      {spec::AdminStatus::kNotFound, Errc::kNotFound},
      {spec::AdminStatus::kInUse, Errc::kBusy},
      {spec::AdminStatus::kBadState, Errc::kBadState},
      {spec::AdminStatus::kNoResource, Errc::kNoMemory},
      {spec::AdminStatus::kDmaError, Errc::kDeviceError}};
  for (const auto& [status, code] : rows) {
    dev.refuse[spec::AdminOpcode::kNop] = status;
    const auto r = nop(17);
    EXPECT_EQ(errc(r), code);
    EXPECT_EQ(r.error().what, fmt::format("nop 17: {}", to_string(status)));
  }
}

// The response that comes after the time-out is not taken for that of the next command.
TEST_F(Admin, NoAnswerIsATimeoutAndALateOneIsDropped) {
  dev.hold = true;
  EXPECT_EQ(errc(nop()), Errc::kTimedOut);
  dev.hold = false;
  dev.release();
  EXPECT_EQ(must(nop(5)).object, 5u);
}

TEST_F(Admin, AGoneDeviceIsNamed) {
  dev.hold = true;
  dev.on_relax = [&] { dev.gone = true; };
  const auto r = nop();
  EXPECT_EQ(errc(r), Errc::kTimedOut);
  EXPECT_THAT(r.error().what, HasSubstr("gone"));
}

TEST_F(Admin, PhaseBitThenBarrierThenAnswer) {
  dev.calls.clear();
  EXPECT_EQ(must(nop(1)).object, 1u);
  EXPECT_EQ(dev.count(Call::kAfterPhaseBit), 1u);
}

TEST(ManagerClose, ReadsBehindTheLastDmaWrite) {
  struct Watched final : PciDeviceFake {
    uint32_t read32(unsigned bar, uint32_t offset) override {
      if (reg(spec::kDevCtrlOffset) == 0) read_when_off++;
      return PciDeviceFake::read32(bar, offset);
    }
    int read_when_off = 0;
  } dev;
  auto m = must(Manager::open(dev, {}));
  dev.read_when_off = 0;
  m.reset();
  // PCIe: the response of a register read follows all DMA writes. Then memory may be freed.
  EXPECT_EQ(dev.read_when_off, 1);
}

// A second thread's commands run while the first waits. Each thread gets its own response,
// whichever thread reads the ring.
TEST_F(Admin, TwoThreadsAreToldApartByCookie) {
  dev.hold = true;
  int nested = 0;
  uint32_t inner = 0;
  dev.on_relax = [&] {
    if (nested++ == 0) {
      inner = must(nop(2)).object;
    } else {
      dev.release(1);  // the responses come one by one, the outer thread's first
    }
  };
  const auto outer = must(nop(1));
  EXPECT_EQ(outer.object, 1u);
  EXPECT_EQ(inner, 2u);
  dev.on_relax = nullptr;
  dev.hold = false;
  EXPECT_EQ(must(nop(3)).object, 3u);
}

TEST(AdminRing, WaitsWhenEveryEntryIsUnderWay) {
  PciDeviceFake dev;
  auto m = must(Manager::open(dev, {.log_admin = 0, .admin_timeout = 50 * kUs}));  // one entry
  dev.hold = true;
  int nested = 0;
  std::optional<Errc> inner;
  dev.on_relax = [&] {
    if (nested++ == 0) {
      inner = errc(m->execute(dev, spec::AdminOpcode::kNop, 2));
      dev.release();
    }
  };
  EXPECT_EQ(must(m->execute(dev, spec::AdminOpcode::kNop, 1)).object, 1u);
  EXPECT_EQ(inner, Errc::kTimedOut);  // the only entry of the ring was never free
  EXPECT_THAT(dev.violations, IsEmpty());
}

TEST(AdminRing, ACommandAddedWhileAnotherIsRungIsRungToo) {
  struct Slow final : PciDeviceFake {
    void write32(unsigned bar, uint32_t offset, uint32_t value) override {
      if (inside && offset == spec::kAdminDoorbellOffset) std::exchange(inside, nullptr)();
      PciDeviceFake::write32(bar, offset, value);
    }
    std::function<void()> inside;
  } dev;
  auto m = must(Manager::open(dev, {.admin_timeout = 50 * kUs}));
  std::optional<Errc> second;  // of another thread, which leaves the doorbell to the first
  dev.inside = [&] { second = errc(m->execute(dev, spec::AdminOpcode::kNop, 2)); };
  EXPECT_EQ(must(m->execute(dev, spec::AdminOpcode::kNop, 1)).object, 1u);
  EXPECT_EQ(second, Errc::kTimedOut);
  EXPECT_EQ(dev.commands.back().object, 2u);
}

TEST(RangePoolTest, FirstFitAndMerging) {
  RangePool p(10);
  EXPECT_EQ(must(p.take(4, "x")), 0u);
  EXPECT_EQ(must(p.take(4, "x")), 4u);
  EXPECT_EQ(errc(p.take(3, "x")), Errc::kNoMemory);
  p.give(0, 4);
  EXPECT_EQ(must(p.take(2, "x")), 0u);
  p.give(4, 4);
  EXPECT_EQ(p.largest(), 8u);  // 2 to 9 are merged
  EXPECT_EQ(must(p.take(8, "x")), 2u);
  EXPECT_EQ(p.largest(), 0u);
}

TEST_F(Admin, TablesRunOutAndComeBack) {
  PciDeviceFake small(spec::Sizes::minimum());
  auto m = must(Manager::open(small, {}));
  auto c = must(Context::open(small, *m));
  auto q = must(c.create_cq(4));
  {
    std::vector<Pd> pds;
    for (int i = 0; i < 4; i++) pds.push_back(must(c.alloc_pd()));
    EXPECT_EQ(errc(c.alloc_pd()), Errc::kNoMemory);
    std::vector<Qp> qps;
    for (int i = 0; i < 8; i++)
      qps.push_back(must(pds[0].create_qp({.send_cq = &q, .recv_cq = &q})));
    EXPECT_EQ(errc(pds[0].create_qp({.send_cq = &q, .recv_cq = &q})), Errc::kNoMemory);
    auto buffer = must(c.alloc(4096));
    std::vector<Mr> mrs;
    for (int i = 0; i < 64; i++) mrs.push_back(must(pds[1].reg_mr(buffer, 0)));
    EXPECT_EQ(errc(pds[1].reg_mr(buffer, 0)), Errc::kNoMemory);
    std::vector<Context> contexts;
    for (int i = 0; i < 3; i++) contexts.push_back(must(Context::open(small, *m)));
    EXPECT_EQ(errc(Context::open(small, *m)), Errc::kNoMemory);
  }
  EXPECT_THAT(small.qps, IsEmpty());
  EXPECT_THAT(small.mrs, IsEmpty());
  for (int i = 0; i < 8; i++) EXPECT_TRUE(c.alloc_pd()) << i;
}

TEST_F(Admin, HandlesMayGoInAnyOrder) {
  auto other = must(Context::open(dev, *manager));
  auto p = must(other.alloc_pd());
  auto q = must(other.create_cq(4));
  auto qp = must(p.create_qp({.send_cq = &q, .recv_cq = &q}));
  dev.commands.clear();
  other = {};
  p = {};
  q = {};
  EXPECT_THAT(dev.commands, IsEmpty());
  qp = {};
  std::vector<std::string> order;
  for (const auto& c : dev.commands)
    order.emplace_back(to_string(static_cast<spec::AdminOpcode>(c.opcode)));
  EXPECT_EQ(order.front(), "destroy_qp");
  EXPECT_EQ(order.size(), 3u);  // the others: destroy_cq and destroy_pd
}

TEST_F(Admin, WrongArguments) {
  EXPECT_EQ(errc(ctx.create_cq(0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(ctx.create_cq(32769)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(ctx.create_cq(4, 15)), Errc::kInvalidArgument);
  const auto qp = [&](QpCap cap) {
    return errc(pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .cap = cap}));
  };
  EXPECT_EQ(qp({.max_send_wr = 32769}), Errc::kInvalidArgument);
  EXPECT_EQ(qp({.max_send_wr = 20000, .max_send_sge = 3}), Errc::kInvalidArgument);  // 40000 units
  EXPECT_EQ(qp({.max_recv_wr = 32769}), Errc::kInvalidArgument);
  EXPECT_EQ(qp({.max_send_sge = 15}), Errc::kInvalidArgument);
  EXPECT_EQ(qp({.max_recv_sge = 4}), Errc::kInvalidArgument);
  EXPECT_EQ(qp({.max_inline_data = 225}), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.create_qp({})), Errc::kInvalidArgument);
  Qp fine = make_qp();
  EXPECT_EQ(errc(fine.modify(IBV_QPS_RTS)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(fine.modify(IBV_QPS_RESET)), Errc::kInvalidArgument);
  EXPECT_TRUE(fine.modify(IBV_QPS_INIT));
}

// --- regions ---

class Region : public DriverTest {
 protected:
  /// A buffer on these bus pages; its memory is never read.
  static DmaBuffer buffer(std::vector<uint64_t> pages, uint32_t page_size = 4096) {
    static std::vector<uint8_t> memory(size_t{8} << 20);
    const auto bytes = std::span(memory).first(pages.size() * page_size);
    return {bytes, page_size, std::move(pages), nullptr};
  }
  /// The region in the fake device.
  const PciDeviceFake::FakeMr& seen(const Mr& mr) { return dev.mrs.at(mr.rkey()); }
};

TEST_F(Region, PageListOfScatteredPages) {
  const auto mr = must(pd.reg_mr_iova(buffer({0x7000, 0x3000, 0x9000}), 0x10, 0x2000, 0x500000,
                                      IBV_ACCESS_LOCAL_WRITE));
  const auto& m = seen(mr);
  EXPECT_EQ(m.pages, (std::vector<uint64_t>{0x7000, 0x3000, 0x9000}));
  EXPECT_EQ(m.args.log_page, 12);
  EXPECT_EQ(m.args.first_offset, 0x10u);
  EXPECT_EQ(m.args.base_to, 0x500000u);
  EXPECT_EQ(m.args.length, 0x2000u);
  EXPECT_EQ(m.args.rights, 1);
  EXPECT_EQ(mr.addr(), 0x500000u);
}

TEST_F(Region, LargestPageThatTheMappingAllows) {
  const auto log_page = [&](const DmaBuffer& b, uint64_t offset, uint64_t length) {
    return seen(must(pd.reg_mr_iova(b, offset, length, 0, 0))).args.log_page;
  };
  std::vector<uint64_t> run;  // 32 adjacent pages, from a 128 KiB boundary
  for (uint64_t i = 0; i < 32; i++) run.push_back(0x40000 + 4096 * i);
  EXPECT_EQ(log_page(buffer(run), 0, 32 * 4096), 17);  // one page of 128 KiB holds all
  EXPECT_EQ(log_page(buffer(run), 4096, 31 * 4096), 17);
  auto two = run;  // 16 adjacent pages here, 16 elsewhere
  for (size_t i = 16; i < 32; i++) two[i] = 0x90000 + 4096 * (i - 16);
  EXPECT_EQ(log_page(buffer(two), 0, 32 * 4096), 16);
  EXPECT_EQ(log_page(buffer(two), 0x123, 4096), 13);  // within the first run, two pages
  auto off = run;                                     // the jump is only on a 4 KiB boundary
  for (size_t i = 15; i < 32; i++) off[i] = 0x90000 + 4096 * i;
  EXPECT_EQ(log_page(buffer(off), 0, 32 * 4096), 12);
  auto shifted = run;  // the jump ends on a 64 KiB boundary, but starts on a 32 KiB one
  for (size_t i = 0; i < 32; i++) shifted[i] = (i < 16 ? 0x48000 : 0x80000) + 4096 * i;
  EXPECT_EQ(log_page(buffer(shifted), 0, 32 * 4096), 15);
  std::vector<uint64_t> huge = {0x600000, 0x200000, 0xa00000};
  EXPECT_EQ(log_page(buffer(huge, 2 << 20), 0, 6 << 20), 21);
}

TEST_F(Region, LargePagesAreListedFromTheirEdge) {
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < 32; i++) pages.push_back((i < 16 ? 0x40000 : 0x80000) + 4096 * i);
  const auto mr = must(pd.reg_mr_iova(buffer(pages), 0x1234, 30 * 4096, 0, 0));
  EXPECT_EQ(seen(mr).pages, (std::vector<uint64_t>{0x40000, 0x90000}));
  EXPECT_EQ(seen(mr).args.first_offset, 0x1234u);
  EXPECT_EQ(mr.page_size(), 65536u);
}

TEST_F(Region, TheLastPageMayEndBeforeWhereTheFirstBegins) {
  std::vector<uint64_t> pages;  // the end of a 64 KiB page, and the start of another
  for (uint64_t i = 0; i < 17; i++) pages.push_back((i < 16 ? 0x40000 : 0x70000) + 4096 * i);
  const auto mr = must(pd.reg_mr_iova(buffer(pages), 0xf000, 0x1800, 0, 0));
  EXPECT_EQ(mr.page_size(), 65536u);
  EXPECT_EQ(seen(mr).pages, (std::vector<uint64_t>{0x40000, 0x80000}));
}

TEST_F(Region, AddressesAndKeys) {
  auto b = must(ctx.alloc(10000));
  const auto plain =
      must(pd.reg_mr(b, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
  EXPECT_EQ(plain.addr(), base::address_of(b.data()));
  EXPECT_EQ(plain.lkey(), plain.rkey());
  EXPECT_EQ(seen(plain).args.rights, 7);
  const auto zero = must(pd.reg_mr(b, 100, 50, IBV_ACCESS_ZERO_BASED));
  EXPECT_EQ(zero.addr(), 0u);
  EXPECT_EQ(seen(zero).args.first_offset, 100u);
  EXPECT_NE(plain.rkey() >> 8, zero.rkey() >> 8);
}

TEST_F(Region, WrongArguments) {
  auto b = must(ctx.alloc(8192));
  EXPECT_EQ(errc(pd.reg_mr(b, IBV_ACCESS_REMOTE_WRITE)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(b, IBV_ACCESS_REMOTE_ATOMIC)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(b, 0x40)), Errc::kNotSupported);
  EXPECT_TRUE(pd.reg_mr(b, IBV_ACCESS_FLUSH_GLOBAL));
  EXPECT_EQ(errc(pd.reg_mr(b, IBV_ACCESS_FLUSH_PERSISTENT)), Errc::kInvalidArgument)
      << "memory that is not persistent";
  EXPECT_EQ(errc(pd.reg_mr(b, 0, 0, 0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(b, 8000, 193, 0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(b, 9000, 1, 0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr_iova(b, 0, 8192, UINT64_MAX - 100, 0)), Errc::kInvalidArgument);
  EXPECT_TRUE(pd.reg_mr_iova(b, 0, 8192, UINT64_MAX - 8191, 0));
  dev.refuse[spec::AdminOpcode::kCreateMr] = spec::AdminStatus::kNoResource;
  EXPECT_EQ(errc(pd.reg_mr(b, 0)), Errc::kNoMemory);
}

TEST_F(Region, DeregGivesItsEntriesBack) {
  const uint32_t free = manager->pbl.largest();
  auto b = must(ctx.alloc(5 * 4096));
  auto mr = must(pd.reg_mr(b, 0));
  EXPECT_EQ(manager->pbl.largest(), free - 5);
  ASSERT_TRUE(mr.dereg());
  EXPECT_EQ(manager->pbl.largest(), free);
  EXPECT_TRUE(mr.dereg());  // only the first call acts
  EXPECT_THAT(dev.mrs, IsEmpty());
}

// --- memory of the caller ---

TEST_F(Region, OfTheCallersMemory) {
  std::vector<uint8_t> heap(20'000);
  for (size_t i = 0; i < heap.size(); i++) heap[i] = static_cast<uint8_t>(i * 7);
  const auto span = std::span(heap).subspan(3, 12'345);
  const auto mr = must(pd.reg_mr(span, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(mr.addr(), base::address_of(span.data()));
  EXPECT_EQ(mr.length(), span.size());
  const auto& m = seen(mr);
  EXPECT_EQ(m.args.base_to, mr.addr());
  EXPECT_EQ(m.args.length, span.size());
  EXPECT_EQ(m.args.log_page, 12);
  ASSERT_EQ(m.pages.size(), (m.args.first_offset + span.size() + 4095) / 4096);
  // The page list leads the device to each byte.
  for (size_t i = 0; i < span.size(); i++) {
    const uint64_t at = m.args.first_offset + i;
    ASSERT_EQ(dev.at(m.pages[at / 4096] + at % 4096), &span[i]) << i;
  }
}

TEST_F(Region, OfTheCallersMemoryAtEveryPlaceInAPage) {
  std::vector<uint8_t> heap(3 * 4096);
  for (uint64_t shift = 0; shift < 16; shift++) {
    for (const uint64_t length : {1u, 207u, 208u, 209u, 4096u, 4304u, 8192u}) {
      const auto span = std::span(heap).subspan(shift, length);
      const auto mr = must(pd.reg_mr_iova(span, 0x1000, 0));
      const auto& m = seen(mr);
      EXPECT_EQ(mr.addr(), 0x1000u);
      const uint64_t last = m.args.first_offset + length - 1, page = mr.page_size();
      ASSERT_EQ(m.pages.size(), last / page + 1);
      EXPECT_EQ(dev.at(m.pages[0] + m.args.first_offset), span.data());
      EXPECT_EQ(dev.at(m.pages[last / page] + last % page), &span.back());
    }
  }
}

TEST_F(Region, TheCallersMemoryIsMappedAsLongAsItIsRegistered) {
  std::vector<uint8_t> heap(5000);
  auto first = must(pd.reg_mr(heap, IBV_ACCESS_LOCAL_WRITE));
  {
    const auto second = must(pd.reg_mr(heap, IBV_ACCESS_ZERO_BASED));
    EXPECT_EQ(second.addr(), 0u);
    ASSERT_EQ(dev.mapped->size(), 2u);
    EXPECT_EQ((*dev.mapped)[0].access, DmaAccess::kReadWrite);
    // Without local write the memory may be write-protected.
    EXPECT_EQ((*dev.mapped)[1].access, DmaAccess::kRead);
  }
  EXPECT_EQ(dev.mapped->size(), 1u);
  must(first.dereg());  // not only when the handle is destroyed
  EXPECT_THAT(*dev.mapped, IsEmpty());
}

TEST_F(Region, WrongMemoryOfTheCaller) {
  std::vector<uint8_t> heap(100);
  EXPECT_EQ(errc(pd.reg_mr(std::span<uint8_t>(), 0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(std::span(heap).first(0), 0)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr(heap, IBV_ACCESS_REMOTE_WRITE)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.reg_mr_iova(heap, UINT64_MAX - 50, 0)), Errc::kInvalidArgument);
  dev.refuse[spec::AdminOpcode::kCreateMr] = spec::AdminStatus::kNoResource;
  EXPECT_EQ(errc(pd.reg_mr(heap, 0)), Errc::kNoMemory);
  EXPECT_THAT(*dev.mapped, IsEmpty());
}

TEST_F(Region, LargestPageOfMemoryThatBeginsInAPage) {
  // Two runs of 16 adjacent pages, each from a 64 KiB boundary. The memory starts 0x234 bytes after
  // the first.
  std::vector<uint64_t> run;
  for (uint64_t i = 0; i < 32; i++) run.push_back((i < 16 ? 0x40000 : 0x80000) + 4096 * i);
  const DmaBuffer b({static_cast<uint8_t*>(nullptr), 32 * 4096 - 0x234}, 4096, run, nullptr, 0x234);
  const auto mr = must(pd.reg_mr_iova(b, 0, b.size(), 0, 0));
  EXPECT_EQ(mr.page_size(), 65536u);
  EXPECT_EQ(seen(mr).pages, (std::vector<uint64_t>{0x40000, 0x90000}));
  EXPECT_EQ(seen(mr).args.first_offset, 0x234u);
}

TEST_F(Region, ARefusedOneGivesItsSlotAndEntriesBack) {
  PciDeviceFake small(spec::Sizes::minimum());
  auto m = must(Manager::open(small, {}));
  auto c = must(Context::open(small, *m));
  auto p = must(c.alloc_pd());
  auto b = must(c.alloc(4096));
  const uint32_t free = m->pbl.largest();
  small.refuse[spec::AdminOpcode::kCreateMr] = spec::AdminStatus::kBadArgument;
  for (int i = 0; i < 65; i++)  // one more than the 64 slots
    EXPECT_EQ(errc(p.reg_mr(b, 0)), Errc::kInvalidArgument) << i;
  EXPECT_EQ(m->pbl.largest(), free);
}

// The device still has accesses in flight. The driver repeats the command until the time-out of a
// command has passed.
TEST_F(Region, DestroyIsGivenAgainWhileItIsInProgress) {
  auto b = must(ctx.alloc(4096));
  auto mr = must(pd.reg_mr(b, 0));
  const auto destroys = [&] {
    return std::count_if(dev.commands.begin(), dev.commands.end(), [](const spec::AdminCmd& c) {
      return c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kDestroyMr);
    });
  };
  dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInProgress;
  const auto relax = dev.on_relax;
  dev.on_relax = [&] {
    if (relax) relax();
    if (destroys() == 5) dev.refuse.clear();
  };
  EXPECT_TRUE(mr.dereg());
  EXPECT_EQ(destroys(), 6);
  EXPECT_TRUE(dev.mrs.empty());

  auto stays = must(pd.reg_mr(b, 0));
  dev.on_relax = relax;
  dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInProgress;
  EXPECT_EQ(errc(stays.dereg()), Errc::kTimedOut);
  dev.refuse.clear();
}

TEST_F(Region, OneThatStaysKeepsItsMemory) {
  uint64_t bus = 0;
  {
    auto b = must(ctx.alloc(4096));
    bus = b.bus(0);
    auto mr = must(pd.reg_mr(b, 0));
    dev.refuse[spec::AdminOpcode::kDestroyMr] = spec::AdminStatus::kInUse;
    EXPECT_EQ(errc(mr.dereg()), Errc::kBusy);
  }
  EXPECT_NE(dev.at(bus, 4096), nullptr);  // still allocated: the device may use it
  dev.refuse.clear();
}

TEST_F(Region, SlotsAndKeysFollowTheSeed) {
  const auto stags = [](uint64_t seed) {
    PciDeviceFake d;
    auto m = must(Manager::open(d, {.seed = seed}));
    auto c = must(Context::open(d, *m));
    auto p = must(c.alloc_pd());
    auto b = must(c.alloc(4096));
    std::vector<uint32_t> out;
    std::vector<Mr> keep;
    for (int i = 0; i < 8; i++) {
      keep.push_back(must(p.reg_mr(b, 0)));
      out.push_back(keep.back().rkey());
    }
    return out;
  };
  EXPECT_EQ(stags(4), stags(4));
  EXPECT_NE(stags(4), stags(5));
}

// The driver draws slots from the whole table, and the low bits of the key, at random. The device
// computes STags from both (StagKey). R5040-8.1.1-08, 09.
TEST_F(Region, SlotsAndKeysAreSpread) {
  constexpr unsigned kCount = 4000;
  const auto b = must(ctx.alloc(4096));
  std::array<unsigned, 22> ones{};  // 8 bits of the key, 14 of the slot
  unsigned neighbours = 0;
  uint32_t last = ~0U;
  for (unsigned i = 0; i < kCount; i++) {
    const auto mr = must(pd.reg_mr(b, 0));
    const uint32_t stag = mr.rkey() - 0x100;  // the fake's STag is slot + 1 and the key
    for (unsigned bit = 0; bit < ones.size(); bit++) ones[bit] += stag >> bit & 1;
    neighbours += (stag >> 8) - (last >> 8) <= 1 ? 1 : 0;
    last = stag;
  }
  for (const unsigned n : ones) EXPECT_NEAR(n, kCount / 2, kCount / 20);  // more than 6 sigma
  EXPECT_LT(neighbours, 8U);
}

}  // namespace
}  // namespace rnic::tb
