// sq_progress: the send queues that the watchdog lists as waiting, derived only from doorbells and
// completions.
//
// Indices count units of 64 bytes, in 16 bits. A doorbell has the index after the last posted WQE.
// A completion has the index of its WQE's first unit. A flush entry has the index after the last
// unit that it flushes.
#include "backend/sq_progress.hpp"

#include <gtest/gtest.h>

namespace rnic::sim {
namespace {

constexpr uint32_t kQp = 5, kPage = 3 * 4096;  // doorbell page 3, whose SQ doorbell is at offset 0

void ring(SqProgress& sq, uint16_t index) {
  sq.mmio({.is_write = true,
           .bar = 2,
           .offset = kPage,
           .bytes = 8,
           .value = kQp | uint64_t{index} << 32,
           .data = {}});
}
void complete(SqProgress& sq, uint16_t index, bool is_recv = false,
              spec::WcStatus status = spec::WcStatus::kSuccess) {
  spec::Cqe e;
  e.qpn = kQp;
  e.index = index;
  e.is_recv = is_recv ? 1 : 0;
  e.status = status;
  Payload data = Payload::make(spec::Cqe::kBytes);
  e.pack(data.writable());
  sq.written({.address = 0, .data = data, .client = Client::kCq});
}

TEST(SqProgressTest, ListsAQueueFromItsDoorbellToItsCompletion) {
  SqProgress sq;
  EXPECT_TRUE(sq.waiting().empty());
  ring(sq, 1);
  ASSERT_EQ(sq.waiting().size(), 1U);
  EXPECT_EQ(sq.waiting()[0].qpn, kQp);
  EXPECT_EQ(sq.waiting()[0].rung, 1);
  EXPECT_FALSE(sq.waiting()[0].completed);
  complete(sq, 0);
  EXPECT_TRUE(sq.waiting().empty());
}

TEST(SqProgressTest, ListsWhatWasRungAfterTheCompletedWqe) {
  SqProgress sq;
  ring(sq, 2);  // one WQE of two units
  ring(sq, 3);
  complete(sq, 0);
  ASSERT_EQ(sq.waiting().size(), 1U);
  EXPECT_EQ(sq.waiting()[0].completed, 0);
  complete(sq, 2);
  EXPECT_TRUE(sq.waiting().empty());
}

TEST(SqProgressTest, IndexWrapsAndReceivesDoNotCount) {
  SqProgress sq;
  ring(sq, 0xffff);
  ring(sq, 1);
  complete(sq, 0xfffe);
  EXPECT_EQ(sq.waiting().size(), 1U);
  complete(sq, 0, true);
  EXPECT_EQ(sq.waiting().size(), 1U);
  complete(sq, 0);
  EXPECT_TRUE(sq.waiting().empty());
}

TEST(SqProgressTest, AFlushEntryStandsForAllItFlushes) {
  SqProgress sq;
  for (uint16_t i = 1; i <= 20; ++i) ring(sq, i);
  complete(sq, 20, false, spec::WcStatus::kWrFlushErr);
  EXPECT_TRUE(sq.waiting().empty());
}

TEST(SqProgressTest, ANewQpOfTheSameNumberBeginsAnew) {
  SqProgress sq;
  ring(sq, 9);
  ring(sq, 1);
  ASSERT_EQ(sq.waiting().size(), 1U);
  EXPECT_EQ(sq.waiting()[0].rung, 1);
  complete(sq, 0);
  EXPECT_TRUE(sq.waiting().empty());
}

}  // namespace
}  // namespace rnic::sim
