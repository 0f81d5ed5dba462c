// Shared receive queues: the commands, the WQE with its tag typed by hand from queues.yaml,
// completions by tag, the limit event, and every wrong use. Threads: srq_threads_test.cpp.
#include "core.hpp"
#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Op = spec::AdminOpcode;

template <class R>
std::string what(const R& r) {
  if constexpr (requires { r.error().what; })
    return r ? "" : std::string(r.error().what);
  else
    return r ? "" : std::string(r.error->what);
}

class SrqTest : public DriverTest {
 protected:
  Srq make_srq(uint32_t max_wr = 8, uint32_t limit = 0) {
    return must(pd.create_srq({.max_wr = max_wr, .srq_limit = limit}));
  }
  Qp make_qp(Srq& srq) { return must(pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .srq = &srq})); }
  /// Posts receives without data, with these wr_ids.
  static void post(Srq& srq, std::initializer_list<uint64_t> wr_ids) {
    for (const uint64_t id : wr_ids) ASSERT_TRUE(srq.post_recv({.wr_id = id}));
  }
  /// The arguments of the last create_srq; 1: of the one before it, and so on.
  spec::AdminSrqArgs created(size_t nth_last = 0) const {
    for (auto it = dev.commands.rbegin(); it != dev.commands.rend(); ++it)
      if (it->opcode == static_cast<uint8_t>(Op::kCreateSrq) && nth_last-- == 0)
        return spec::AdminSrqArgs::unpack(it->args);
    return {};
  }
  /// The index of the last doorbell of the SRQ.
  uint16_t producer(const Srq& srq) { return dev.qps[srq.number()].rq_producer; }
  /// The tag of the WQE at this index of the ring of the SRQ created last.
  uint16_t tag_at(uint16_t index) const {
    const auto a = created();
    const uint64_t slot = index & ((1u << a.log_size) - 1);
    return spec::RqWqe::unpack(std::span(dev.at(a.base + slot * 64, 64), 64)).tag;
  }
  /// The device completes the receive with this tag, on this QP.
  void came(const Qp& qp, uint16_t tag, spec::WcStatus status = spec::WcStatus::kSuccess) {
    finish(qp, tag, status, true);
  }
  /// The wr_ids of the completions of one poll.
  std::vector<uint64_t> polled(size_t most = 16) {
    std::vector<uint64_t> ids;
    for (const Wc& wc : poll(most)) ids.push_back(wc.wr_id);
    return ids;
  }
  std::vector<uint8_t> opcodes() const {
    std::vector<uint8_t> out;
    for (const auto& c : dev.commands) out.push_back(c.opcode);
    return out;
  }
  /// The device reports that the limit is reached.
  void limit_reached(const Srq& srq) { dev.eqe(0, spec::EqeType::kQp, srq.number()); }
};

TEST_F(SrqTest, TheCommandHasPdPageRingAndSize) {
  Qp qp = DriverTest::make_qp();
  for (const auto& [asked, size, log] :
       {std::tuple{1u, 4u, 2u}, {4u, 4u, 2u}, {5u, 8u, 3u}, {32768u, 32768u, 15u}}) {
    Srq srq = must(pd.create_srq({.max_wr = asked, .max_sge = 2}));
    EXPECT_EQ(srq.number(), 1u) << "the first number that no QP has";
    const auto args = created();
    EXPECT_EQ(args, (spec::AdminSrqArgs{.pd = static_cast<uint16_t>(pd.number()),
                                        .page = static_cast<uint16_t>(ctx.core()->page),
                                        .base = args.base,
                                        .log_size = static_cast<uint8_t>(log)}));
    EXPECT_EQ(args.base % 64, 0u);
    (void)dev.at(args.base, size_t{64} * size);
    const SrqAttr attr = srq.query();
    EXPECT_EQ(attr.max_wr, size);
    EXPECT_EQ(attr.max_sge, 2u);
    EXPECT_EQ(attr.srq_limit, 0u);
    EXPECT_NE(DriverTest::make_qp().qp_num(), srq.number());
    must(srq.destroy());
    EXPECT_EQ(dev.commands.back().opcode, static_cast<uint8_t>(Op::kDestroySrq));
    EXPECT_EQ(dev.commands.back().object, 1u);
    EXPECT_TRUE(srq.destroy()) << "again: nothing to do";
  }
  const DeviceAttr& attr = ctx.query_device();
  EXPECT_EQ(attr.max_srq, attr.max_qp);
  EXPECT_EQ(attr.max_srq_wr, 32768u);
  EXPECT_EQ(attr.max_srq_sge, 3u);
  EXPECT_TRUE(Srq().destroy());
}

// num_sge; the tag at byte 4, here 0 and then 1; the SGE from byte 16 on.
TEST_F(SrqTest, TheWqeCarriesItsTag) {
  Srq srq = make_srq();
  const Sge sge{0x1122334455667788, 0x99, 0xaabbccdd};
  const std::array wrs{RecvWr{.wr_id = 5, .sg_list = {&sge, 1}}, RecvWr{.wr_id = 6}};
  dev.calls.clear();
  EXPECT_EQ(srq.post_recv(wrs).accepted, 2u);
  const uint64_t base = created().base;
  EXPECT_BYTES(std::span(dev.at(base, 64), 32),
               "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "88 77 66 55 44 33 22 11 99 00 00 00 dd cc bb aa");
  EXPECT_BYTES(std::span(dev.at(base + 64, 64), 16),
               "00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00");
  const auto bells = dev.doorbells();
  ASSERT_EQ(bells.size(), 1u);
  EXPECT_EQ(bells[0].offset, ctx.core()->page * 4096 + 8);
  EXPECT_EQ(bells[0].value, doorbell_value(srq.number(), 0, 2));
}

TEST_F(SrqTest, WrongSizesAreEinval) {
  for (const SrqInitAttr attr : {SrqInitAttr{.max_wr = 0},
                                 {.max_wr = 32769},
                                 {.max_sge = 4},
                                 {.max_wr = 4, .srq_limit = 5},
                                 {.max_wr = 5, .srq_limit = 9}})
    EXPECT_EQ(errc(pd.create_srq(attr)), Errc::kInvalidArgument) << attr.max_wr;
  EXPECT_EQ(dev.commands.back().opcode, static_cast<uint8_t>(Op::kCreateCq)) << "not commanded";
  EXPECT_TRUE(pd.create_srq({.max_wr = 5, .max_sge = 0, .srq_limit = 8}));
}

TEST_F(SrqTest, RefusedOnesTakeNoNumber) {
  const uint32_t most = ctx.query_device().max_qp;
  for (const Op op : {Op::kCreateSrq, Op::kModifySrq}) {
    dev.refuse[op] = spec::AdminStatus::kNoResource;
    for (uint32_t i = 0; i <= most; i++)
      ASSERT_EQ(errc(pd.create_srq({.max_wr = 4, .srq_limit = 1})), Errc::kNoMemory) << i;
    dev.refuse.clear();
    EXPECT_EQ(make_srq().number(), 0u);
  }
  EXPECT_EQ(dev.commands.back().opcode, static_cast<uint8_t>(Op::kDestroySrq));
  std::vector<Srq> all;
  for (uint32_t i = 0; i < most; i++) all.push_back(make_srq(4));
  EXPECT_EQ(errc(pd.create_srq({})), Errc::kNoMemory);
  EXPECT_EQ(errc(pd.create_qp({.send_cq = &cq, .recv_cq = &cq})), Errc::kNoMemory);
}

TEST_F(SrqTest, AQpNamesItsSrqAndHasNoReceiveQueue) {
  Qp own = DriverTest::make_qp();
  Srq srq = make_srq();
  Qp qp = make_qp(srq);
  const auto args = dev.qps.at(qp.qp_num()).args;
  EXPECT_EQ(args.has_srq, 1u);
  EXPECT_EQ(args.srq, srq.number());
  EXPECT_EQ(args.rq_base, 0u);
  EXPECT_EQ(args.log_rq, 0u);
  EXPECT_EQ(args.log_sq, 6u);
  EXPECT_EQ(qp.cap().max_recv_wr, 0u);
  EXPECT_EQ(qp.cap().max_recv_sge, 0u);
  EXPECT_EQ(dev.qps.at(own.qp_num()).args.has_srq, 0u);
  EXPECT_EQ(dev.qps.at(own.qp_num()).args.srq, 0u);
  dev.calls.clear();
  const auto r = qp.post_recv({.wr_id = 1});
  EXPECT_EQ(errc(r), Errc::kInvalidArgument);
  EXPECT_EQ(what(r), "qp 2: post_recv: it takes its receives from srq 1: post them there");
  EXPECT_TRUE(dev.doorbells().empty());
  // The receive part of the cap is ignored.
  EXPECT_TRUE(pd.create_qp({.send_cq = &cq,
                            .recv_cq = &cq,
                            .srq = &srq,
                            .cap = {.max_recv_wr = 40000, .max_recv_sge = 9}}));
}

TEST_F(SrqTest, OnlyAnSrqOfThePdIsTaken) {
  Pd other = must(ctx.alloc_pd());
  Srq theirs = must(other.create_srq({})), none, gone = make_srq();
  must(gone.destroy());
  const auto with = [&](Srq& srq) {
    return pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .srq = &srq});
  };
  EXPECT_EQ(errc(with(theirs)), Errc::kInvalidArgument);
  EXPECT_EQ(what(with(theirs)), "qp: srq 0 is of PD 1, the QP of PD 0");
  EXPECT_EQ(errc(with(none)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(with(gone)), Errc::kInvalidArgument);
  EXPECT_THAT(what(with(gone)), HasSubstr("is destroyed"));
}

TEST_F(SrqTest, AFullSrqIsEnomemAndABadReceiveTakesNoTag) {
  Srq srq = make_srq(4);
  Qp qp = make_qp(srq);
  const std::array<Sge, 2> sges{};
  const std::array wrs{RecvWr{.wr_id = 1}, RecvWr{.wr_id = 2, .sg_list = sges}, RecvWr{.wr_id = 3}};
  auto r = srq.post_recv(wrs);
  EXPECT_EQ(r.accepted, 1u);
  EXPECT_EQ(errc(r), Errc::kInvalidArgument);
  EXPECT_EQ(producer(srq), 1u);
  const std::array more{RecvWr{.wr_id = 4}, RecvWr{.wr_id = 5}, RecvWr{.wr_id = 6},
                        RecvWr{.wr_id = 7}};
  r = srq.post_recv(more);
  EXPECT_EQ(r.accepted, 3u);
  EXPECT_EQ(errc(r), Errc::kQueueFull);
  EXPECT_EQ(what(r), "srq 0: all 4 receives are posted");
  EXPECT_EQ(producer(srq), 4u);
  dev.calls.clear();
  EXPECT_EQ(srq.post_recv({.wr_id = 8}).accepted, 0u);
  EXPECT_TRUE(dev.doorbells().empty());
  came(qp, tag_at(0));
  EXPECT_EQ(errc(srq.post_recv({.wr_id = 8})), Errc::kQueueFull) << "not polled yet";
  EXPECT_THAT(polled(), ElementsAre(1u));
  EXPECT_TRUE(srq.post_recv({.wr_id = 8}));
  EXPECT_EQ(producer(srq), 5u);
  EXPECT_EQ(errc(srq.post_recv({.wr_id = 9})), Errc::kQueueFull);
}

TEST_F(SrqTest, CompletionsNameTheRequestByTagAndTheirQp) {
  Srq srq = make_srq(8);
  Qp one = make_qp(srq), two = make_qp(srq);
  post(srq, {10, 11, 12, 13, 14});
  const std::array order{3, 0, 4, 1};
  for (const int i : order) came(i % 2 == 0 ? one : two, tag_at(static_cast<uint16_t>(i)));
  dev.cqe(cq.number(), {.qpn = two.qp_num(),
                        .opcode = spec::WcOpcode::kRecvRdmaWithImm,
                        .byte_len = 77,
                        .index = tag_at(2),
                        .is_recv = 1,
                        .immediate = 0x0102030405060708});
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 5u);
  for (size_t i = 0; i < 4; i++) {
    EXPECT_EQ(wcs[i].wr_id, 10u + static_cast<unsigned>(order[i]));
    EXPECT_EQ(wcs[i].qp_num, (order[i] % 2 == 0 ? one : two).qp_num());
    EXPECT_EQ(wcs[i].opcode, IBV_WC_RECV);
    EXPECT_EQ(wcs[i].status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(wcs[4].wr_id, 12u);
  EXPECT_EQ(wcs[4].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wcs[4].imm, 0x0102030405060708u);
  EXPECT_EQ(wcs[4].byte_len, 77u);
}

TEST_F(SrqTest, ATagThatIsNotOutstandingIsRefused) {
  Srq srq = make_srq(8);
  Qp qp = make_qp(srq);
  post(srq, {1, 2});
  came(qp, tag_at(0));
  EXPECT_THAT(polled(), ElementsAre(1u));
  std::vector<Wc> wcs(4);
  for (const uint16_t tag : {uint16_t{0}, uint16_t{2}, uint16_t{7}, uint16_t{8}, uint16_t{0xffff}})
    for (const auto status : {spec::WcStatus::kSuccess, spec::WcStatus::kWrFlushErr}) {
      came(qp, tag, status);
      const auto r = cq.poll_cq(wcs);
      EXPECT_EQ(errc(r), Errc::kDeviceError) << tag;
      EXPECT_THAT(what(r), HasSubstr("of nothing that is posted"));
    }
  came(qp, tag_at(1));
  EXPECT_THAT(polled(), ElementsAre(2u));
}

// One message keeps its receive, while the receives of others wrap the ring and its index.
TEST_F(SrqTest, OneReceiveThatStaysDoesNotBlockTheRing) {
  dev.recording = false;
  Srq srq = make_srq(4);
  Qp slow = make_qp(srq), fast = make_qp(srq);
  post(srq, {1000, 1, 2, 3});
  const uint16_t kept = tag_at(0);
  std::deque<std::pair<uint64_t, uint16_t>> taken;  // wr_id, tag
  std::vector<uint64_t> ids{1, 2, 3};
  uint16_t next = 1;  // of the device's takes
  for (uint64_t i = 0; i < 70000; i++) {
    // Out of order: the device takes two receives, and the later one completes first.
    const std::array tags{tag_at(next), tag_at(static_cast<uint16_t>(next + 1))};
    ASSERT_NE(tags[0], tags[1]);
    ASSERT_NE(tags[0], kept);
    ASSERT_NE(tags[1], kept);
    next = static_cast<uint16_t>(next + 2);
    came(fast, tags[1]);
    came(fast, tags[0]);
    ASSERT_THAT(polled(), ElementsAre(ids[1], ids[0]));
    ids = {ids[2], 10 + i * 2, 11 + i * 2};
    ASSERT_TRUE(srq.post_recv({.wr_id = ids[1]}));
    ASSERT_TRUE(srq.post_recv({.wr_id = ids[2]}));
    ASSERT_EQ(errc(srq.post_recv({.wr_id = 0})), Errc::kQueueFull);
    ASSERT_LE(static_cast<uint16_t>(producer(srq) - next), 4u);
  }
  came(slow, kept);
  EXPECT_THAT(polled(), ElementsAre(1000u));
  EXPECT_TRUE(srq.post_recv({.wr_id = 0}));
}

TEST_F(SrqTest, AFlushOfAReceiveIsOfThatOne) {
  Srq srq = make_srq(8);
  Qp qp = make_qp(srq), other = make_qp(srq);
  post(srq, {1, 2, 3, 4});
  came(qp, tag_at(2), spec::WcStatus::kWrFlushErr);
  came(qp, tag_at(1), spec::WcStatus::kLocLenErr);
  came(other, tag_at(0));
  for (const auto& [id, status] :
       {std::pair{3u, IBV_WC_WR_FLUSH_ERR}, {2u, IBV_WC_LOC_LEN_ERR}, {1u, IBV_WC_SUCCESS}}) {
    const auto wcs = poll(1);
    ASSERT_EQ(wcs.size(), 1u);
    EXPECT_EQ(wcs[0].wr_id, id);
    EXPECT_EQ(wcs[0].status, status);
    EXPECT_EQ(wcs[0].opcode, IBV_WC_RECV);
  }
  EXPECT_TRUE(poll(1).empty());
  came(other, tag_at(3));
  EXPECT_THAT(polled(), ElementsAre(4u));
}

// A flush entry of the send queue completes all sends up to its index, as without an SRQ.
TEST_F(SrqTest, AFlushOfSendsIsOfAllOfThem) {
  Srq srq = make_srq(8);
  Qp qp = make_qp(srq);
  play_peer();
  connections.push_back(must(connect(qp, must(Address::resolve("10.0.0.2", 4791)), {})));
  post(srq, {1, 2});
  for (const uint64_t id : {20u, 21u, 22u}) ASSERT_TRUE(qp.post_send({.wr_id = id}));
  finish(qp, 3, spec::WcStatus::kWrFlushErr);
  came(qp, tag_at(1), spec::WcStatus::kWrFlushErr);
  EXPECT_THAT(polled(2), ElementsAre(20u, 21u));
  EXPECT_THAT(polled(), ElementsAre(22u, 2u));
}

TEST_F(SrqTest, ADestroyedQpGivesBackTheTagsOfItsUnpolledCompletions) {
  Srq srq = make_srq(4);
  Qp qp = make_qp(srq), other = make_qp(srq);
  post(srq, {1, 2, 3, 4});
  came(qp, tag_at(0));
  came(other, tag_at(1));
  came(qp, tag_at(3), spec::WcStatus::kWrFlushErr);
  finish(qp, tag_at(2));  // of a send, whose index equals the tag of receive 3: it stays posted
  must(qp.destroy());
  post(srq, {5, 6});
  EXPECT_EQ(errc(srq.post_recv({.wr_id = 7})), Errc::kQueueFull);
  EXPECT_THAT(polled(), ElementsAre(2u));
  came(other, tag_at(4));
  came(other, tag_at(5));
  came(other, tag_at(2));
  EXPECT_THAT(polled(), ElementsAre(5u, 6u, 3u));
}

TEST_F(SrqTest, IsBusyWhileQpsUseItAndStays) {
  Srq srq = make_srq(8);
  Qp qp = make_qp(srq);
  dev.refuse[Op::kDestroySrq] = spec::AdminStatus::kInUse;
  for (unsigned i = 0; i < 2; i++) {
    const auto r = srq.destroy();
    EXPECT_EQ(errc(r), Errc::kBusy);
    EXPECT_EQ(what(r), "srq 0: QPs take receives from it: destroy them first");
    EXPECT_EQ(base::to_errno(r.error().code), EBUSY);
  }
  post(srq, {1});
  came(qp, tag_at(0));
  EXPECT_THAT(polled(), ElementsAre(1u));
  limit_reached(srq);
  EXPECT_EQ(must(ctx.get_async_event(0)).object, srq.number());
  must(qp.destroy());
  dev.refuse.clear();
  must(srq.destroy());
}

TEST_F(SrqTest, ItsQpsKeepIt) {
  std::optional<Srq> srq = make_srq(4);
  Qp qp = make_qp(*srq);
  post(*srq, {1});
  srq.reset();
  EXPECT_EQ(std::ranges::count(opcodes(), static_cast<uint8_t>(Op::kDestroySrq)), 0);
  came(qp, tag_at(0));
  EXPECT_THAT(polled(), ElementsAre(1u));
  qp = Qp();
  auto all = opcodes();
  all.erase(all.begin(), all.end() - 2);
  EXPECT_THAT(all, ElementsAre(static_cast<uint8_t>(Op::kDestroyQp),
                               static_cast<uint8_t>(Op::kDestroySrq)));
}

// The device may still read the ring, and the number stays in use.
TEST_F(SrqTest, OneThatTheDeviceDoesNotReleaseKeepsItsRingAndNumber) {
  for (const auto status : {spec::AdminStatus::kInUse, spec::AdminStatus::kDmaError}) {
    auto srq = std::make_optional(make_srq(4));
    const uint32_t number = srq->number();
    const uint64_t base = created().base;
    dev.refuse[Op::kDestroySrq] = status;
    srq.reset();
    dev.refuse.clear();
    (void)dev.at(base, 256);
    EXPECT_NE(make_srq().number(), number);
  }
}

TEST_F(SrqTest, ADestroyedOneIsOfNoUse) {
  Srq srq = make_srq();
  must(srq.destroy());
  dev.calls.clear();
  EXPECT_EQ(errc(srq.post_recv({.wr_id = 1})), Errc::kBadState);
  EXPECT_EQ(errc(srq.modify({.srq_limit = 1})), Errc::kBadState);
  EXPECT_EQ(srq.query().max_wr, 8u);
  EXPECT_TRUE(dev.doorbells().empty());
}

TEST_F(SrqTest, TheLimitMakesOneEventAndIsArmedAgain) {
  Srq other = make_srq(4), srq = make_srq(8, 3);
  EXPECT_EQ(dev.commands.back().opcode, static_cast<uint8_t>(Op::kModifySrq));
  EXPECT_EQ(dev.commands.back().object, srq.number());
  EXPECT_EQ(spec::AdminLimitArgs::unpack(dev.commands.back().args),
            spec::AdminLimitArgs{.limit = 3});
  for (uint32_t limit = 3; limit < 9; limit++) {
    EXPECT_EQ(srq.query().srq_limit, limit);
    EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
    limit_reached(srq);
    // The event is returned once, whether query() has seen it first or not.
    if (limit % 2 == 0) {
      EXPECT_EQ(srq.query().srq_limit, 0u);
    }
    const auto event = must(ctx.get_async_event(0));
    EXPECT_EQ(event.type, IBV_EVENT_SRQ_LIMIT_REACHED);
    EXPECT_EQ(event.object, srq.number());
    EXPECT_EQ(event.cause, 0u);
    EXPECT_EQ(srq.query().srq_limit, 0u);
    EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
    SrqAttr attr = srq.query();
    attr.srq_limit = limit + 1;
    if (limit == 8) break;
    must(srq.modify(attr));
    EXPECT_EQ(spec::AdminLimitArgs::unpack(dev.commands.back().args).limit, limit + 1);
  }
  EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, 15);
}

TEST_F(SrqTest, AWrongLimitOrSizeChangesNothing) {
  Srq srq = make_srq(8, 3);
  const size_t commands = dev.commands.size();
  EXPECT_EQ(errc(srq.modify({.srq_limit = 9})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(srq.modify({.max_wr = 16, .srq_limit = 1})), Errc::kNotSupported);
  EXPECT_EQ(errc(srq.modify({.max_sge = 2, .srq_limit = 1})), Errc::kNotSupported);
  EXPECT_EQ(dev.commands.size(), commands);
  dev.refuse[Op::kModifySrq] = spec::AdminStatus::kDmaError;
  EXPECT_EQ(errc(srq.modify({.srq_limit = 1})), Errc::kDeviceError);
  EXPECT_EQ(srq.query().srq_limit, 3u);
  dev.refuse.clear();
  must(srq.modify({}));
  EXPECT_EQ(srq.query().srq_limit, 0u);
}

// An event that the device made before the limit was armed again belongs to the old limit.
TEST_F(SrqTest, AnEventBeforeModifyLeavesTheNewLimit) {
  Srq srq = make_srq(8, 3);
  limit_reached(srq);
  must(srq.modify({.srq_limit = 5}));
  EXPECT_EQ(srq.query().srq_limit, 5u);
  EXPECT_EQ(must(ctx.get_async_event(0)).type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(srq.query().srq_limit, 5u);
  EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
}

TEST_F(SrqTest, EventsOfEarlierOnesWithItsNumberAreNotItsOwn) {
  {
    Qp qp = DriverTest::make_qp();
    dev.eqe(0, spec::EqeType::kQp, qp.qp_num());
  }
  Srq srq = make_srq(8, 3);
  EXPECT_EQ(srq.number(), 0u);
  EXPECT_EQ(srq.query().srq_limit, 3u);
  EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
  limit_reached(srq);
  EXPECT_EQ(srq.query().srq_limit, 0u);
  must(srq.destroy());
  srq = make_srq(8, 3);
  EXPECT_EQ(errc(ctx.get_async_event(0)), Errc::kTimedOut);
}

// A failure of a QP still has its own event.
TEST_F(SrqTest, EventsOfItsQpsAreTheirs) {
  Srq srq = make_srq();
  Qp qp = make_qp(srq);
  limit_reached(srq);
  dev.qps.at(qp.qp_num()).status.cause = spec::Cause::kLlpLost;
  dev.eqe(0, spec::EqeType::kQp, qp.qp_num());
  std::map<EventType, uint32_t> seen;
  for (unsigned i = 0; i < 2; i++) {
    const auto e = must(ctx.get_async_event(0));
    seen[e.type] = e.object;
  }
  EXPECT_EQ(seen, (std::map<EventType, uint32_t>{{IBV_EVENT_QP_FATAL, qp.qp_num()},
                                                 {IBV_EVENT_SRQ_LIMIT_REACHED, srq.number()}}));
}

/// Kinds of the calls since clear() that order accesses.
std::vector<Call::Kind> order_of(const PciDeviceFake& dev) {
  std::vector<Call::Kind> out;
  for (const Call& c : dev.calls)
    if (c.kind == Call::kBeforeShared || c.kind == Call::kBeforeDoorbell ||
        c.kind == Call::kAfterPhaseBit || c.kind == Call::kWrite)
      out.push_back(c.kind);
  return out;
}

// Decision 7: tags are read and written in simulated order.
TEST_F(SrqTest, PostingAndPollingSeeOtherThreadsInOrder) {
  Srq srq = make_srq(8);
  Cq plain = must(ctx.create_cq(16));
  Qp own = must(pd.create_qp({.send_cq = &plain, .recv_cq = &plain})), qp = make_qp(srq);
  dev.calls.clear();
  post(srq, {1, 2});
  EXPECT_EQ(order_of(dev).at(0), Call::kBeforeShared);
  EXPECT_EQ(order_of(dev).at(1), Call::kBeforeDoorbell);
  came(qp, tag_at(0));
  dev.calls.clear();
  EXPECT_THAT(polled(), ElementsAre(1u));
  EXPECT_THAT(order_of(dev), ElementsAre(Call::kAfterPhaseBit, Call::kBeforeShared));
  ASSERT_TRUE(own.post_recv({.wr_id = 3}));
  dev.cqe(plain.number(), {.qpn = own.qp_num(), .is_recv = 1});
  std::vector<Wc> wcs(4);
  dev.calls.clear();
  EXPECT_EQ(must(plain.poll_cq(wcs)), 1u);
  EXPECT_THAT(order_of(dev), ElementsAre(Call::kAfterPhaseBit)) << "without an SRQ none is needed";
  came(qp, tag_at(1));
  dev.calls.clear();
  must(qp.destroy());
  const auto order = order_of(dev);
  EXPECT_NE(std::ranges::find(order, Call::kBeforeShared), order.end());
}

}  // namespace
}  // namespace rnic::tb
