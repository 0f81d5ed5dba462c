// Posting: the bytes of every kind of WQE, typed by hand from queues.yaml; rings that wrap and
// fill; doorbells, pushes and their barriers; wrong arguments.
#include "core.hpp"
#include "driver/driver_fixture.hpp"
#include "gen/sizes.hpp"

namespace rnic::tb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// sq(qp, unit) is the send ring. A WQE begins with the opcode, the flags (1 fence, 2 signaled, 4
/// solicited, 8 inline), and a byte of the units (low 4 bits) and the number of SGEs (high 4 bits).
class Post : public DriverTest {};

constexpr Sge kSge{0x1122334455667788, 0x40, 0xaabbccdd};
constexpr QpCap kWide{.max_send_wr = 8, .max_send_sge = 14, .max_inline_data = 224};

TEST_F(Post, WriteIsOneUnit) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_send({.wr_id = 1,
                            .sg_list = {&kSge, 1},
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_SIGNALED,
                            .remote_addr = 0x0102030405060708,
                            .rkey = 0x99887766}));
  // opcode flags units|num_sge reserved, length, remote address, rkey, reserved, ring; then the SGE
  EXPECT_BYTES(sq(qp, 0),
               "00 02 11 00 40 00 00 00 08 07 06 05 04 03 02 01 "
               "66 77 88 99 00 00 00 00 00 00 00 00 00 00 00 00 "
               "88 77 66 55 44 33 22 11 40 00 00 00 dd cc bb aa "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

TEST_F(Post, SendHasNoRemoteAddressAndCarriesItsFlags) {
  Qp qp = rts_qp({.max_send_sge = 2});
  const Sge sges[] = {kSge, {0x1000, 0, 0}};  // a length of 0 is kept: the device skips the entry
  ASSERT_TRUE(qp.post_send({.sg_list = sges,
                            .opcode = IBV_WR_SEND,
                            .send_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED,
                            .remote_addr = 0x1234,
                            .rkey = 5}));
  EXPECT_BYTES(sq(qp, 0),
               "02 05 21 00 40 00 00 00 00 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "88 77 66 55 44 33 22 11 40 00 00 00 dd cc bb aa "
               "00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

TEST_F(Post, EmptySendHasNoSge) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_send(SendWr{}));
  EXPECT_BYTES(sq(qp, 0).first(16), "02 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

TEST_F(Post, ReadHasOneSgeAlsoWhenEmpty) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_send(
      {.sg_list = {&kSge, 1}, .opcode = IBV_WR_RDMA_READ, .remote_addr = 0x2000, .rkey = 0x300}));
  EXPECT_BYTES(sq(qp, 0).first(48),
               "04 00 11 00 40 00 00 00 00 20 00 00 00 00 00 00 "
               "00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "88 77 66 55 44 33 22 11 40 00 00 00 dd cc bb aa");
  ASSERT_TRUE(qp.post_send({.opcode = IBV_WR_RDMA_READ, .rkey = 0x300}));
  EXPECT_BYTES(sq(qp, 1).first(8), "04 00 11 00 00 00 00 00");
}

TEST_F(Post, SolicitedIsForSendsAlone) {
  Qp qp = rts_qp();
  ASSERT_TRUE(qp.post_send(
      {.sg_list = {&kSge, 1}, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SOLICITED}));
  EXPECT_EQ(sq(qp, 0)[1], 0);
}

TEST_F(Post, UnitsGrowWithSges) {
  Qp qp = rts_qp(kWide);
  const std::pair<size_t, unsigned> cases[] = {{0, 1}, {2, 1},  {3, 2},  {6, 2},
                                               {7, 3}, {10, 3}, {11, 4}, {14, 4}};
  uint32_t unit = 0;
  for (const auto& [count, units] : cases) {
    const std::vector<Sge> sges(count, Sge{0x5000, 3, 0x77});
    ASSERT_TRUE(qp.post_send({.sg_list = sges})) << count;
    EXPECT_EQ(sq(qp, unit)[2], count << 4 | units) << count;
    EXPECT_EQ(sq(qp, unit)[4], 3 * count);
    if (count == 14) {
      EXPECT_BYTES(sq(qp, unit, 4).last(16), "00 50 00 00 00 00 00 00 03 00 00 00 77 00 00 00");
    }
    unit += units;
  }
}

TEST_F(Post, InlineDataFollowsTheHeader) {
  Qp qp = rts_qp(kWide);
  const Bytes a = hex("01 02 03"), b = hex("04 05");
  const Sge sges[] = {
      {base::address_of(a.data()), 3, 0}, {0, 0, 0}, {base::address_of(b.data()), 2, 0}};
  ASSERT_TRUE(qp.post_send({.sg_list = sges,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_INLINE,
                            .remote_addr = 16,
                            .rkey = 2}));
  EXPECT_BYTES(sq(qp, 0),
               "00 08 01 00 05 00 00 00 10 00 00 00 00 00 00 00 "
               "02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "01 02 03 04 05 00 00 00 00 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

TEST_F(Post, InlineUnits) {
  Qp qp = rts_qp(kWide);
  uint32_t unit = 0;
  for (const auto& [bytes, units] : {std::pair(0u, 1u),
                                     {32u, 1u},
                                     {33u, 2u},
                                     {96u, 2u},
                                     {97u, 3u},
                                     {160u, 3u},
                                     {161u, 4u},
                                     {224u, 4u}}) {
    const Bytes data(bytes, 0xee);
    const Sge sge{base::address_of(data.data()), bytes, 0};
    ASSERT_TRUE(qp.post_send({.sg_list = {&sge, 1}, .send_flags = IBV_SEND_INLINE})) << bytes;
    EXPECT_EQ(sq(qp, unit)[2], units) << bytes;
    if (bytes == 224) {
      EXPECT_EQ(sq(qp, unit, 4).back(), 0xee);
    }
    unit += units;
  }
}

TEST_F(Post, ReceiveHasUpToThreeSges) {
  Qp qp = make_qp({.max_recv_wr = 4, .max_recv_sge = 3});
  const Sge sges[] = {{0x1000, 16, 1}, {0x2000, 32, 2}, {0x3000, 48, 3}};
  ASSERT_TRUE(qp.post_recv({.wr_id = 9, .sg_list = sges}));
  const auto& q = dev.qps.at(qp.qp_num());
  EXPECT_BYTES(std::span(dev.at(q.args.rq_base, 64), 64),
               "03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "00 10 00 00 00 00 00 00 10 00 00 00 01 00 00 00 "
               "00 20 00 00 00 00 00 00 20 00 00 00 02 00 00 00 "
               "00 30 00 00 00 00 00 00 30 00 00 00 03 00 00 00");
  const auto d = dev.doorbells();
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].offset, 0x008u);
  EXPECT_EQ(d[0].value, uint64_t{1} << 32 | qp.qp_num());
}

TEST_F(Post, ManyRequestsOneDoorbellBehindOneBarrier) {
  Qp qp = rts_qp();
  const SendWr wrs[] = {{.sg_list = {&kSge, 1}}, {.sg_list = {&kSge, 1}}, {.sg_list = {&kSge, 1}}};
  EXPECT_EQ(qp.post_send(wrs).accepted, 3u);
  ASSERT_EQ(dev.calls.size(), 2u);
  EXPECT_EQ(dev.calls[0].kind, Call::kBeforeDoorbell);
  EXPECT_EQ(dev.calls[1].kind, Call::kWrite);
  EXPECT_EQ(dev.calls[1].bar, 2u);
  EXPECT_EQ(dev.calls[1].offset, 0u);  // page 0, sq
  EXPECT_EQ(dev.calls[1].value, uint64_t{3} << 32 | qp.qp_num());
}

TEST_F(Post, EachContextRingsItsOwnPage) {
  auto other = must(Context::open(dev, *manager));
  auto pd2 = must(other.alloc_pd());
  auto cq2 = must(other.create_cq(4));
  auto qp = must(pd2.create_qp({.send_cq = &cq2, .recv_cq = &cq2}));
  ASSERT_TRUE(qp.post_recv(RecvWr{}));
  EXPECT_EQ(dev.doorbells().back().offset, 4096u + 8);
  EXPECT_EQ(dev.qps.at(qp.qp_num()).args.page, 1u);
  EXPECT_EQ(errc(pd.create_qp({.send_cq = &cq2, .recv_cq = &cq2})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.create_qp({.send_cq = &cq, .recv_cq = &cq2})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(pd.create_qp({.send_cq = &cq2, .recv_cq = &cq})), Errc::kInvalidArgument);
}

TEST_F(Post, PushCarriesTheWqeAndItsDoorbell) {
  Qp qp = rts_qp({.max_inline_data = 96}, true);
  ASSERT_TRUE(qp.post_send({.sg_list = {&kSge, 1}, .send_flags = IBV_SEND_SIGNALED}));
  ASSERT_EQ(dev.calls.size(), 2u);
  EXPECT_EQ(dev.calls[0].kind, Call::kBeforeDoorbell);
  EXPECT_EQ(dev.calls[1].kind, Call::kCombined);
  EXPECT_EQ(dev.calls[1].offset, 0x100u);
  // The field ring at byte 24, which is the doorbell: {object 24, flags 8, index 32} bits.
  EXPECT_BYTES(std::span(dev.calls[1].bytes).subspan(24, 8), "00 00 00 00 01 00 00 00");
  EXPECT_EQ(to_hex(dev.calls[1].bytes), to_hex(sq(qp, 0)));  // the WQE is in the ring too

  dev.calls.clear();
  const Bytes data(96, 0x11);
  const Sge sge{base::address_of(data.data()), 88, 0};
  ASSERT_TRUE(qp.post_send({.sg_list = {&sge, 1}, .send_flags = IBV_SEND_INLINE}));
  ASSERT_EQ(dev.calls.size(), 3u);
  EXPECT_EQ(dev.calls[1].offset, 0x100u);
  EXPECT_EQ(dev.calls[2].offset, 0x140u);
  EXPECT_BYTES(std::span(dev.calls[1].bytes).subspan(24, 8), "00 00 00 00 03 00 00 00");
  // The second unit also ends with the doorbell, which identifies its WQE.
  EXPECT_BYTES(std::span(dev.calls[2].bytes).subspan(56, 8), "00 00 00 00 03 00 00 00");
  EXPECT_EQ(to_hex(dev.calls[2].bytes), to_hex(sq(qp, 2)));
  EXPECT_EQ(dev.qps.at(qp.qp_num()).sq_producer, 3u);

  dev.calls.clear();
  const Sge full{base::address_of(data.data()), 96, 0};  // too long for a push
  ASSERT_TRUE(qp.post_send({.sg_list = {&full, 1}, .send_flags = IBV_SEND_INLINE}));
  EXPECT_EQ(dev.count(Call::kCombined), 0u);
  EXPECT_EQ(dev.qps.at(qp.qp_num()).sq_producer, 5u);  // rung by a doorbell
}

TEST_F(Post, NoPushForLongOrSeveral) {
  Qp qp = rts_qp(kWide, true);
  const std::vector<Sge> sges(7, kSge);
  ASSERT_TRUE(qp.post_send({.sg_list = sges}));  // 3 units
  const SendWr two[2] = {};
  ASSERT_TRUE(qp.post_send(two));
  EXPECT_EQ(dev.count(Call::kCombined), 0u);
  EXPECT_EQ(dev.doorbells().size(), 2u);
}

TEST_F(Post, RingWrapsInTheMiddleOfAWqe) {
  Qp qp = rts_qp({.max_send_wr = 1, .max_send_sge = 14});  // 4 units
  ASSERT_TRUE(qp.post_send({.wr_id = 1, .sg_list = {&kSge, 1}, .send_flags = IBV_SEND_SIGNALED}));
  finish(qp, 0);
  ASSERT_EQ(poll().size(), 1u);
  std::vector<Sge> sges;
  for (uint32_t i = 0; i < 14; i++) sges.push_back({0x100 + i, 1, i});
  ASSERT_TRUE(qp.post_send({.wr_id = 2, .sg_list = sges, .send_flags = IBV_SEND_SIGNALED}));
  EXPECT_BYTES(sq(qp, 1).first(4), "02 02 e4 00");
  EXPECT_BYTES(sq(qp, 0).last(16),
               "0d 01 00 00 00 00 00 00 01 00 00 00 0d 00 00 00");  // the 14th SGE, in unit 0
  EXPECT_EQ(dev.doorbells().back().value >> 32, 5u);
  finish(qp, 1);
  EXPECT_EQ(poll().at(0).wr_id, 2u);
}

TEST_F(Post, IndicesRunFreeBeyond16Bits) {
  Qp qp = rts_qp({.max_send_wr = 4});
  for (uint32_t i = 0; i < 70000; i++) {
    dev.calls.clear();
    ASSERT_TRUE(qp.post_send({.wr_id = i, .sg_list = {&kSge, 1}, .send_flags = IBV_SEND_SIGNALED}));
    finish(qp, static_cast<uint16_t>(i));
    const auto wcs = poll();
    ASSERT_EQ(wcs.size(), 1u);
    ASSERT_EQ(wcs[0].wr_id, i);
  }
  EXPECT_EQ(dev.qps.at(qp.qp_num()).sq_producer, 70000 % 65536);
}

TEST_F(Post, FullQueueIsEnomemAndTheRestIsPosted) {
  Qp qp = rts_qp({.max_send_wr = 4});
  const std::vector<SendWr> wrs(6, SendWr{.sg_list = {&kSge, 1}});
  const auto r = qp.post_send(wrs);
  EXPECT_EQ(r.accepted, 4u);
  EXPECT_EQ(errc(r), Errc::kQueueFull);
  EXPECT_EQ(base::to_errno(r.error->code), ENOMEM);
  EXPECT_EQ(dev.doorbells().size(), 1u);
  EXPECT_EQ(dev.doorbells()[0].value >> 32, 4u);
  EXPECT_EQ(qp.post_send(wrs).accepted, 0u);
  EXPECT_EQ(dev.doorbells().size(), 1u);  // the failed post rings none
}

TEST_F(Post, FullReceiveQueue) {
  Qp qp = make_qp({.max_recv_wr = 4});
  const std::vector<RecvWr> wrs(5);
  const auto r = qp.post_recv(wrs);
  EXPECT_EQ(r.accepted, 4u);
  EXPECT_EQ(errc(r), Errc::kQueueFull);
}

TEST_F(Post, BuilderMakesTheSameBytes) {
  Qp qp = rts_qp(kWide);
  const Bytes data = hex("0a 0b 0c");
  const Sge in{base::address_of(data.data()), 3, 0};
  const SendWr wrs[] = {
      {.wr_id = 1,
       .sg_list = {&kSge, 1},
       .opcode = IBV_WR_RDMA_WRITE,
       .remote_addr = 0x10,
       .rkey = 3},
      {.wr_id = 2, .sg_list = {&in, 1}, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE},
      {.wr_id = 3,
       .sg_list = {&kSge, 1},
       .opcode = IBV_WR_RDMA_READ,
       .remote_addr = 0x20,
       .rkey = 4}};
  ASSERT_TRUE(qp.post_send(wrs));
  const auto posted = to_hex(sq(qp, 0, 3));
  qp.wr_start();
  qp.wr_id = 1;
  qp.wr_flags = 0;
  qp.wr_rdma_write(3, 0x10);
  qp.wr_set_sge(kSge.lkey, kSge.addr, kSge.length);
  qp.wr_id = 2;
  qp.wr_flags = IBV_SEND_SIGNALED;
  qp.wr_send();
  qp.wr_set_inline_data(data);
  qp.wr_id = 3;
  qp.wr_flags = 0;
  qp.wr_rdma_read(4, 0x20);
  qp.wr_set_sge_list({&kSge, 1});
  ASSERT_TRUE(qp.wr_complete());
  EXPECT_EQ(to_hex(sq(qp, 3, 3)), posted);
  EXPECT_EQ(dev.doorbells().size(), 2u);
  finish(qp, 4);
  EXPECT_EQ(poll().at(0).wr_id, 2u);
}

TEST_F(Post, BuilderIsAllOrNothing) {
  Qp qp = rts_qp({.max_send_wr = 4});
  qp.wr_start();
  for (int i = 0; i < 5; i++) qp.wr_send();
  EXPECT_EQ(errc(qp.wr_complete()), Errc::kQueueFull);
  EXPECT_THAT(dev.doorbells(), IsEmpty());
  qp.wr_start();
  qp.wr_send();
  qp.wr_abort();
  EXPECT_EQ(errc(qp.wr_complete()), Errc::kBadState);
  qp.wr_start();
  qp.wr_set_sge(1, 2, 3);
  EXPECT_EQ(errc(qp.wr_complete()), Errc::kInvalidArgument);
  qp.wr_start();
  EXPECT_EQ(errc(qp.post_send(SendWr{})), Errc::kBadState);
  for (int i = 0; i < 4; i++) qp.wr_send();
  EXPECT_TRUE(qp.wr_complete());  // the failed requests took no unit of the ring
}

TEST_F(Post, WhatIsNotThereYetIsEopnotsupp) {
  Qp qp = rts_qp(kWide);
  for (const WrOpcode op : {IBV_WR_SEND_WITH_IMM, RNIC_WR_VERIFY}) {
    const auto r = qp.post_send(SendWr{.opcode = op});
    EXPECT_EQ(errc(r), Errc::kNotSupported) << op;
    EXPECT_EQ(base::to_errno(r.error->code), EOPNOTSUPP);
  }
  const auto built = [&](auto operation) {
    qp.wr_start();
    operation();
    return errc(qp.wr_complete());
  };
  EXPECT_EQ(built([&] { qp.wr_flush(1, 2, 3, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE); }),
            Errc::kNotSupported);
  EXPECT_EQ(built([&] { qp.wr_verify(1, 2, 3, {}); }), Errc::kNotSupported);
  EXPECT_EQ(built([&] { qp.wr_send_imm(1); }), Errc::kNotSupported);
}

// The WQEs of queues.yaml, typed. Immediate Data: opcode 128, inline, one unit, length 8, and the 8
// bytes in the order of the wire. A Write with Immediate is a Write that is not signaled, then
// opcode 1. RFC 7306 section 6, A-33.
TEST_F(Post, ImmediateDataIsInlineAndFollowsItsWrite) {
  Qp qp = rts_qp(kWide);
  const Sge from{0x1000, 16, 0x11223344};
  ASSERT_TRUE(qp.post_send({.wr_id = 1,
                            .opcode = RNIC_WR_IMM,
                            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
                            .imm = 0x0102030405060708}));
  EXPECT_BYTES(sq(qp, 0).first(48),
               "80 0e 01 00 08 00 00 00 00 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "01 02 03 04 05 06 07 08 00 00 00 00 00 00 00 00");
  qp.wr_start();
  qp.wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE;
  qp.wr_rdma_write_imm(0xaabbccdd, 0x1122334455667788, 0x04030201);
  qp.wr_set_sge(from.lkey, from.addr, from.length);
  ASSERT_TRUE(qp.wr_complete());
  EXPECT_BYTES(sq(qp, 1).first(48),
               "00 01 11 00 10 00 00 00 88 77 66 55 44 33 22 11 "
               "dd cc bb aa 00 00 00 00 00 00 00 00 00 00 00 00 "
               "00 10 00 00 00 00 00 00 10 00 00 00 44 33 22 11");
  EXPECT_BYTES(sq(qp, 2).first(48),
               "01 0e 01 00 08 00 00 00 00 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "01 02 03 04 00 00 00 00 00 00 00 00 00 00 00 00");
  SendWr bad{.sg_list = {&from, 1}, .opcode = RNIC_WR_IMM};
  EXPECT_EQ(errc(qp.post_send(bad)), Errc::kInvalidArgument);
}

// The WQE of queues.yaml, typed: opcode 9, the STag of the peer in rkey, no remote address.
TEST_F(Post, SendWithInvalidateNamesAKeyOfThePeer) {
  Qp qp = rts_qp(kWide);
  qp.wr_start();
  qp.wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
  qp.wr_send_inv(0xaabbccdd);
  qp.wr_set_sge(0x11223344, 0x1000, 16);
  ASSERT_TRUE(qp.wr_complete());
  EXPECT_BYTES(sq(qp, 0).first(48),
               "09 06 11 00 10 00 00 00 00 00 00 00 00 00 00 00 "
               "dd cc bb aa 00 00 00 00 00 00 00 00 00 00 00 00 "
               "00 10 00 00 00 00 00 00 10 00 00 00 44 33 22 11");
  ASSERT_TRUE(qp.post_send({.opcode = IBV_WR_SEND_WITH_INV, .remote_addr = 77, .rkey = 5}));
  EXPECT_BYTES(sq(qp, 1).first(32),
               "09 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
}

// The WQE of queues.yaml, typed: opcode 7, our STag in rkey, no SGE, length 0.
TEST_F(Post, ALocalInvalidationNamesOneKey) {
  Qp qp = rts_qp(kWide);
  qp.wr_start();
  qp.wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
  qp.wr_local_inv(0xaabbccdd);
  ASSERT_TRUE(qp.wr_complete());
  EXPECT_BYTES(sq(qp, 0).first(48),
               "07 03 01 00 00 00 00 00 00 00 00 00 00 00 00 00 "
               "dd cc bb aa 00 00 00 00 00 00 00 00 00 00 00 00 "
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  const Sge sge{0x1000, 8, 1};
  EXPECT_EQ(errc(qp.post_send({.sg_list = {&sge, 1}, .opcode = IBV_WR_LOCAL_INV})),
            Errc::kInvalidArgument);
  EXPECT_EQ(errc(qp.post_send({.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_INLINE})),
            Errc::kInvalidArgument);
}

// The WQE of queues.yaml, typed: opcode 14, one unit, no SGE, the range, and verbs' bits of the
// target states. RPMEM-3.1.1.1-02, 05.
TEST_F(Post, AFlushNamesARangeOfThePeer) {
  Qp qp = rts_qp(kWide);
  const SendWr wr{.wr_id = 5,
                  .opcode = IBV_WR_FLUSH,
                  .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
                  .remote_addr = 0x1122334455667788,
                  .rkey = 0xaabbccdd,
                  .flush_length = 0x1000,
                  .flush_type = IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT};
  EXPECT_EQ(errc(qp.post_send(wr)), Errc::kNotSupported) << "the peer did not agree";
  qp.core()->agreed.persist = 1;
  ASSERT_TRUE(qp.post_send(wr));
  EXPECT_BYTES(sq(qp, 0).first(32),
               "0e 03 01 03 00 10 00 00 88 77 66 55 44 33 22 11 "
               "dd cc bb aa 00 00 00 00 00 00 00 00 00 00 00 00");
  const auto built = [&](uint8_t type, uint8_t level) {
    qp.wr_start();
    qp.wr_flush(1, 2, 3, type, level);
    return errc(qp.wr_complete());
  };
  EXPECT_EQ(built(IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR), Errc::kNotSupported);
  EXPECT_EQ(built(IBV_FLUSH_PERSISTENT, 2), Errc::kInvalidArgument);
  EXPECT_EQ(built(0, IBV_FLUSH_RANGE), Errc::kInvalidArgument);
  EXPECT_EQ(built(4, IBV_FLUSH_RANGE), Errc::kInvalidArgument);
  qp.wr_start();
  qp.wr_flush(1, 2, 3, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
  EXPECT_TRUE(qp.wr_complete());
  SendWr bad = wr;
  const Sge sge{0x1000, 8, 1};
  bad.sg_list = {&sge, 1};
  EXPECT_EQ(errc(qp.post_send(bad)), Errc::kInvalidArgument);
  bad = wr;
  bad.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(errc(qp.post_send(bad)), Errc::kInvalidArgument);
  bad = wr;
  bad.flush_length = 0x80000001;
  EXPECT_EQ(errc(qp.post_send(bad)), Errc::kInvalidArgument);
}

// The WQEs of queues.yaml, typed: opcode 6 or 5, inline, two units, length 48; then the sink's SGE,
// data, mask, compare, compare_mask. RFC 7306 5.1.
class PostAtomic : public Post {
 protected:
  PostAtomic() { qp.core()->agreed.persist = 1; }
  /// Builds one operation with this sink and returns its error.
  std::optional<Errc> built(const std::function<void()>& operation,
                            const std::vector<Sge>& sges = {kSink}) {
    qp.wr_start();
    qp.wr_flags = IBV_SEND_SIGNALED;
    operation();
    if (!sges.empty()) qp.wr_set_sge_list(sges);
    return errc(qp.wr_complete());
  }
  static constexpr Sge kSink{0x1122334455667788, 8, 0xaabbccdd};
  static constexpr uint32_t kKey = 0x99887766;
  static constexpr uint64_t kTarget = 0x0102030405060708;
  Qp qp = rts_qp();
};

TEST_F(PostAtomic, FetchAdd) {
  const std::string bytes =
      "06 0a 02 00 30 00 00 00 08 07 06 05 04 03 02 01 "
      "66 77 88 99 00 00 00 00 00 00 00 00 00 00 00 00 "
      "88 77 66 55 44 33 22 11 08 00 00 00 dd cc bb aa "
      "f8 f7 f6 f5 f4 f3 f2 f1 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";
  ASSERT_TRUE(qp.post_send({.sg_list = {&kSink, 1},
                            .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
                            .remote_addr = kTarget,
                            .rkey = kKey,
                            .compare_add = 0xf1f2f3f4f5f6f7f8}));
  EXPECT_BYTES(sq(qp, 0, 2), bytes);
  EXPECT_EQ(built([&] { qp.wr_atomic_fetch_add(kKey, kTarget, 0xf1f2f3f4f5f6f7f8); }),
            std::nullopt);
  EXPECT_BYTES(sq(qp, 2, 2), bytes);
  EXPECT_EQ(dev.doorbells().back().value >> 32, 4u);
}

TEST_F(PostAtomic, CmpSwap) {
  const std::string bytes =
      "05 0a 02 00 30 00 00 00 08 07 06 05 04 03 02 01 "
      "66 77 88 99 00 00 00 00 00 00 00 00 00 00 00 00 "
      "88 77 66 55 44 33 22 11 08 00 00 00 dd cc bb aa "
      "28 27 26 25 24 23 22 21 ff ff ff ff ff ff ff ff "
      "38 37 36 35 34 33 32 31 ff ff ff ff ff ff ff ff";
  ASSERT_TRUE(qp.post_send({.sg_list = {&kSink, 1},
                            .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                            .send_flags = IBV_SEND_SIGNALED,
                            .remote_addr = kTarget,
                            .rkey = kKey,
                            .compare_add = 0x3132333435363738,
                            .swap = 0x2122232425262728}));
  EXPECT_BYTES(sq(qp, 0, 2).first(80), bytes);
  EXPECT_EQ(
      built([&] { qp.wr_atomic_cmp_swp(kKey, kTarget, 0x3132333435363738, 0x2122232425262728); }),
      std::nullopt);
  EXPECT_BYTES(sq(qp, 2, 2).first(80), bytes);
}

TEST_F(PostAtomic, Masks) {
  EXPECT_EQ(built([&] { qp.wr_masked_fetch_add(kKey, kTarget, 1, 0x8000800080008000); }),
            std::nullopt);
  EXPECT_BYTES(sq(qp, 0, 2).subspan(48, 32),
               "01 00 00 00 00 00 00 00 00 80 00 80 00 80 00 80 "
               "00 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff");
  EXPECT_EQ(built([&] { qp.wr_masked_cmp_swp(kKey, kTarget, 1, 0xf0, 2, 0x0f); }), std::nullopt);
  EXPECT_BYTES(sq(qp, 2, 2).subspan(48, 32),
               "02 00 00 00 00 00 00 00 0f 00 00 00 00 00 00 00 "
               "01 00 00 00 00 00 00 00 f0 00 00 00 00 00 00 00");
  const SendWr wrs[] = {{.sg_list = {&kSink, 1},
                         .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                         .send_flags = IBV_SEND_SIGNALED,
                         .remote_addr = kTarget,
                         .rkey = kKey,
                         .compare_add = 1,
                         .add_mask = 0x8000800080008000},
                        {.sg_list = {&kSink, 1},
                         .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                         .send_flags = IBV_SEND_SIGNALED,
                         .remote_addr = kTarget,
                         .rkey = kKey,
                         .compare_add = 1,
                         .swap = 2,
                         .compare_mask = 0xf0,
                         .swap_mask = 0x0f}};
  ASSERT_TRUE(qp.post_send(wrs));
  EXPECT_EQ(to_hex(sq(qp, 4, 4)), to_hex(sq(qp, 0, 4)));
}

TEST_F(PostAtomic, AtomicWriteCarriesItsValue) {
  const std::string bytes =
      "0f 0a 01 00 08 00 00 00 08 07 06 05 04 03 02 01 "
      "66 77 88 99 00 00 00 00 00 00 00 00 00 00 00 00 "
      "01 02 03 04 05 06 07 08 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";
  const Bytes value = hex("01 02 03 04 05 06 07 08");
  const Sge in{base::address_of(value.data()), 8, 0};
  ASSERT_EQ(qp.cap().max_inline_data, 0u) << "of data, not of values";
  ASSERT_TRUE(qp.post_send({.sg_list = {&in, 1},
                            .opcode = IBV_WR_ATOMIC_WRITE,
                            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                            .remote_addr = kTarget,
                            .rkey = kKey}));
  EXPECT_BYTES(sq(qp, 0), bytes);
  Bytes other = value;
  EXPECT_EQ(built(
                [&] {
                  qp.wr_atomic_write(kKey, kTarget, other.data());
                  other.assign(8, 0);  // the builder has copied it
                },
                {}),
            std::nullopt);
  EXPECT_BYTES(sq(qp, 1), bytes);
}

TEST_F(PostAtomic, TheTargetsAlignmentIsThePeersToJudge) {
  EXPECT_EQ(built([&] { qp.wr_atomic_fetch_add(kKey, 0x1001, 1); }), std::nullopt);
  EXPECT_EQ(built([&] { qp.wr_atomic_cmp_swp(kKey, 0x1004, 1, 2); }), std::nullopt);
  const uint64_t value = 1;
  EXPECT_EQ(built([&] { qp.wr_atomic_write(kKey, 0x1007, &value); }, {}), std::nullopt);
  EXPECT_EQ(sq(qp, 4)[8], 0x07);
}

TEST_F(PostAtomic, ASinkIsOneAlignedWord) {
  const std::vector<std::vector<Sge>> wrong = {
      {},
      {kSink, kSink},
      {{kSink.addr, 4, kSink.lkey}, {kSink.addr + 8, 4, kSink.lkey}},
      {{kSink.addr, 0, kSink.lkey}},
      {{kSink.addr, 4, kSink.lkey}},
      {{kSink.addr, 16, kSink.lkey}},
      {{kSink.addr + 4, 8, kSink.lkey}},
      {{kSink.addr + 1, 8, kSink.lkey}}};
  for (const auto& sges : wrong) {
    EXPECT_EQ(built([&] { qp.wr_atomic_fetch_add(kKey, kTarget, 1); }, sges),
              Errc::kInvalidArgument);
    EXPECT_EQ(built([&] { qp.wr_atomic_cmp_swp(kKey, kTarget, 1, 2); }, sges),
              Errc::kInvalidArgument);
    for (const WrOpcode op : {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP})
      EXPECT_EQ(errc(qp.post_send({.sg_list = sges, .opcode = op})), Errc::kInvalidArgument);
  }
  const SendWr in_wqe{
      .sg_list = {&kSink, 1}, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_INLINE};
  EXPECT_EQ(errc(qp.post_send(in_wqe)), Errc::kInvalidArgument);
  EXPECT_THAT(dev.doorbells(), IsEmpty());
}

TEST_F(PostAtomic, AnAtomicWriteHasEightInlineBytes) {
  const Bytes data(16);
  for (const uint32_t length : {0u, 4u, 7u, 9u, 16u}) {
    const Sge in{base::address_of(data.data()), length, 0};
    EXPECT_EQ(
        errc(qp.post_send(
            {.sg_list = {&in, 1}, .opcode = IBV_WR_ATOMIC_WRITE, .send_flags = IBV_SEND_INLINE})),
        Errc::kInvalidArgument)
        << length;
  }
  EXPECT_EQ(errc(qp.post_send({.sg_list = {&kSink, 1}, .opcode = IBV_WR_ATOMIC_WRITE})),
            Errc::kInvalidArgument)
      << "not inline";
  EXPECT_EQ(built([&] { qp.wr_atomic_write(kKey, kTarget, nullptr); }, {}), Errc::kInvalidArgument);
  const uint64_t value = 1;
  EXPECT_EQ(built([&] { qp.wr_atomic_write(kKey, kTarget, &value); }), Errc::kInvalidArgument)
      << "data set twice";
  EXPECT_THAT(dev.doorbells(), IsEmpty());
}

TEST_F(PostAtomic, NeedsTheExtensionsAndOrd) {
  const uint64_t value = 1;
  const auto all = [&](std::optional<Errc> expected) {
    EXPECT_EQ(built([&] { qp.wr_atomic_fetch_add(kKey, kTarget, 1); }), expected);
    EXPECT_EQ(built([&] { qp.wr_atomic_cmp_swp(kKey, kTarget, 1, 2); }), expected);
    EXPECT_EQ(built([&] { qp.wr_atomic_write(kKey, kTarget, &value); }, {}), expected);
  };
  all(std::nullopt);
  qp.core()->agreed.ord = 0;
  all(Errc::kInvalidArgument);
  qp.core()->agreed.ord = 1;
  qp.core()->agreed.persist = 0;
  all(Errc::kNotSupported);
}

TEST_F(PostAtomic, CompletionsSayWhatCompleted) {
  const uint64_t value = 1;
  EXPECT_EQ(built([&] { qp.wr_atomic_fetch_add(kKey, kTarget, 1); }), std::nullopt);
  EXPECT_EQ(built([&] { qp.wr_atomic_cmp_swp(kKey, kTarget, 1, 2); }), std::nullopt);
  EXPECT_EQ(built([&] { qp.wr_atomic_write(kKey, kTarget, &value); }, {}), std::nullopt);
  for (const unsigned unit : {0u, 2u, 4u}) finish(qp, static_cast<uint16_t>(unit));
  const auto wcs = poll();
  ASSERT_EQ(wcs.size(), 3u);
  EXPECT_EQ(wcs[0].opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(wcs[1].opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(wcs[2].opcode, IBV_WC_ATOMIC_WRITE);
}

TEST_F(PostAtomic, IsPushedWithItsDoorbellInBothUnits) {
  Qp pushed = rts_qp({}, true);
  pushed.core()->agreed.persist = 1;
  ASSERT_TRUE(pushed.post_send({.sg_list = {&kSink, 1}, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD}));
  EXPECT_EQ(dev.count(Call::kCombined), 2u);
  EXPECT_BYTES(sq(pushed, 1).last(8), "01 00 00 00 02 00 00 00");
}

TEST_F(PostAtomic, RightNeedsLocalWrite) {
  auto buffer = must(ctx.alloc(4096));
  EXPECT_EQ(errc(pd.reg_mr(buffer, IBV_ACCESS_REMOTE_ATOMIC)), Errc::kInvalidArgument);
  auto mr = must(pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
  EXPECT_EQ(dev.mrs.at(mr.rkey()).args.rights, 9u);
  EXPECT_EQ(ctx.query_device().atomic_cap, IBV_ATOMIC_HCA);
}

TEST_F(Post, WrongArgumentsAreEinval) {
  Qp qp = rts_qp({.max_send_wr = 8, .max_send_sge = 2, .max_inline_data = 32});
  const std::vector<Sge> three(3, kSge);
  EXPECT_EQ(errc(qp.post_send({.sg_list = three})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(qp.post_send({.sg_list = std::span(three).first(2), .opcode = IBV_WR_RDMA_READ})),
            Errc::kInvalidArgument);
  EXPECT_EQ(
      errc(qp.post_send(
          {.sg_list = {&kSge, 1}, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE})),
      Errc::kInvalidArgument);
  EXPECT_EQ(errc(qp.post_send({.sg_list = {&kSge, 1}, .send_flags = IBV_SEND_INLINE})),
            Errc::kInvalidArgument);
  const Bytes data(33);
  for (const uint32_t length : {32u, 33u}) {
    const Sge in{base::address_of(data.data()), length, 0};
    EXPECT_EQ(errc(qp.post_send({.sg_list = {&in, 1}, .send_flags = IBV_SEND_INLINE})),
              length == 32 ? std::nullopt : std::optional(Errc::kInvalidArgument));
  }
  EXPECT_EQ(errc(qp.post_send(SendWr{.send_flags = 1 << 4})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(qp.post_send(SendWr{.opcode = static_cast<WrOpcode>(77)})),
            Errc::kInvalidArgument);
  const Sge huge[] = {{0, spec::kMaxMessage, 1}, {0, 1, 1}};
  EXPECT_EQ(errc(qp.post_send({.sg_list = huge})), Errc::kInvalidArgument);
  EXPECT_TRUE(qp.post_send({.sg_list = std::span(huge).first(1)}));
  EXPECT_EQ(errc(qp.post_recv({.sg_list = three})), Errc::kInvalidArgument);
  EXPECT_EQ(errc(make_qp().post_send(SendWr{})), Errc::kBadState);  // not connected
}

TEST_F(Post, ErrorsNameTheThingAndTheValues) {
  Qp qp = rts_qp({.max_send_wr = 4, .max_send_sge = 1});
  const std::vector<Sge> three(3, kSge);
  EXPECT_EQ(qp.post_send({.wr_id = 12, .sg_list = three}).error->what, "wr 12: 3 SGEs, at most 1");
}

}  // namespace
}  // namespace rnic::tb
