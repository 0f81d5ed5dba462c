// ReadLog: bytes read are matched to bytes used, by client and address, whatever the size, split
// and order of the reads.
#include "tandem/read_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace rnic::sim {
namespace {

using testing::HasSubstr;
using State = ReadLog::State;

/// The byte of address `a` in generation `g` of the memory.
uint8_t byte_at(uint64_t a, unsigned g = 0) {
  return static_cast<uint8_t>(a * 7 + (a >> 8) * 13 + g * 101);
}

Payload bytes_of(uint64_t address, uint32_t length, unsigned g = 0) {
  Payload p = Payload::make(length);
  for (uint32_t i = 0; i < length; ++i) p.writable()[i] = byte_at(address + i, g);
  return p;
}

class ReadLogTest : public testing::Test {
 protected:
  void read(Client c, uint8_t tag, uint64_t address, uint32_t length) {
    if (c == Client::kSqFetch || c == Client::kRqFetch) log.fetch(c, address, length);
    if (c == Client::kPayload) log.due(tag, address, length);  // needed by segment `tag`
    part(c, tag, address, length);
  }
  /// A read alone: its fetch, or the extent that it is for (due), is logged already, or is missing.
  void part(Client c, uint8_t tag, uint64_t address, uint32_t length) {
    log.read({.tag = tag, .address = address, .length = length, .client = c});
    at_[tag] = address;
    end_[tag] = address + length;
  }
  /// The next `length` bytes of the completions with this tag.
  void answer(uint8_t tag, uint32_t length, unsigned g = 0) {
    log.piece({.tag = tag,
               .is_last = at_[tag] + length == end_[tag],
               .data = bytes_of(at_[tag], length, g)});
    at_[tag] += length;
  }
  void fail(uint8_t tag, spec::RdStatus status) {
    log.piece({.tag = tag, .status = status, .is_last = true, .data = {}});
  }
  void expect(Client c, uint64_t address, uint32_t length, unsigned g = 0) {
    const auto got = log.take(c, address, length);
    ASSERT_EQ(got.state, State::kDone) << got.why;
    ASSERT_EQ(got.status, spec::RdStatus::kOk);
    const Payload want = bytes_of(address, length, g);
    EXPECT_TRUE(std::ranges::equal(got.data.bytes(), want.bytes())) << std::hex << address;
  }

  ReadLog log;

 private:
  std::array<uint64_t, 256> at_{}, end_{};
};

TEST_F(ReadLogTest, AByteNeverReadIsNever) {
  read(Client::kPayload, 1, 0x1000, 64);
  answer(1, 64);
  EXPECT_EQ(log.take(Client::kPayload, 0x0fff, 2).state, State::kNever);
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 65).state, State::kNever);
  EXPECT_THAT(log.take(Client::kPayload, 0x1000, 65).why, HasSubstr("1 bytes from 0x1040"));
  EXPECT_EQ(log.take(Client::kAdmin, 0x1000, 64).state, State::kNever) << "another client's";
  EXPECT_EQ(log.take(Client::kSqFetch, 0x1000, 64).state, State::kNever) << "another client's";
  expect(Client::kPayload, 0x1000, 64);
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 64).state, State::kNever) << "used up";
  EXPECT_EQ(log.take(Client::kPayload, 0x9999, 0).state, State::kDone);
  EXPECT_EQ(log.left_over(), "");
}

TEST_F(ReadLogTest, ReadsMayBeSplitOrJoined) {
  read(Client::kPayload, 1, 0x1000, 100);
  read(Client::kPayload, 2, 0x1064, 28);
  read(Client::kPayload, 3, 0x2000, 512);
  answer(1, 64);
  answer(1, 36);
  answer(2, 28);
  answer(3, 512);
  expect(Client::kPayload, 0x1000, 128);    // joins two reads
  expect(Client::kPayload, 0x2100, 16);     // the middle of one
  expect(Client::kPayload, 0x2000, 0x100);  // the bytes before it
  EXPECT_EQ(log.take(Client::kPayload, 0x20f0, 64).state, State::kNever);
  expect(Client::kPayload, 0x2110, 512 - 0x110);
  EXPECT_EQ(log.left_over(), "");
}

TEST_F(ReadLogTest, AnswersMayComeInAnyOrder) {
  read(Client::kPayload, 1, 0x1000, 256);
  read(Client::kPayload, 2, 0x1100, 256);
  answer(2, 128);
  EXPECT_EQ(log.peek(Client::kPayload, 0x1100, 128).state, State::kWaiting)
      << "a read counts when its last piece is there";
  answer(1, 64);
  answer(2, 128);
  EXPECT_EQ(log.peek(Client::kPayload, 0x1100, 256).state, State::kDone);
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 512).state, State::kWaiting);
  answer(1, 192);
  expect(Client::kPayload, 0x1000, 512);
}

TEST_F(ReadLogTest, PayloadAndAdminAreServedOldestFirst) {
  for (const Client c : {Client::kPayload, Client::kAdmin}) {
    read(c, 1, 0x1000, 128);
    read(c, 2, 0x1000, 128);
    answer(2, 128, 2);
    answer(1, 128, 1);
    expect(c, 0x1000, 64, 1);
    expect(c, 0x1000, 64, 2);
    expect(c, 0x1040, 64, 1);
    expect(c, 0x1040, 64, 2);
    EXPECT_EQ(log.left_over(), "");
  }
}

TEST_F(ReadLogTest, AnOlderReadOfAPartGoesFirst) {
  read(Client::kPayload, 1, 0x1080, 64);
  read(Client::kPayload, 2, 0x1000, 256);
  answer(1, 64, 1);
  answer(2, 256, 2);
  const auto got = log.take(Client::kPayload, 0x1000, 256);
  ASSERT_EQ(got.state, State::kDone);
  EXPECT_EQ(got.data.bytes()[0x7f], byte_at(0x107f, 2));
  EXPECT_EQ(got.data.bytes()[0x80], byte_at(0x1080, 1));
  EXPECT_EQ(got.data.bytes()[0xc0], byte_at(0x10c0, 2));
  EXPECT_THAT(log.left_over(), HasSubstr("payload: 64 bytes from 0x1080 were read for nothing"));
}

TEST_F(ReadLogTest, ErrorsAreServedAsErrors) {
  read(Client::kPayload, 1, 0x1000, 64);
  read(Client::kPayload, 2, 0x1040, 64);
  answer(1, 64);
  fail(2, spec::RdStatus::kPoisoned);
  const auto got =
      log.take(Client::kPayload, 0x1000, 192);  // the last 64 need no read after a failure
  EXPECT_EQ(got.state, State::kDone);
  EXPECT_EQ(got.status, spec::RdStatus::kPoisoned);
  EXPECT_TRUE(got.data.empty());
  EXPECT_EQ(log.left_over(), "");

  read(Client::kSqFetch, 3, 0x4000, 64);
  fail(3, spec::RdStatus::kUnsupported);
  EXPECT_EQ(log.take(Client::kSqFetch, 0x4000, 64).status, spec::RdStatus::kUnsupported);
  EXPECT_EQ(log.contradiction(), "");
}

TEST_F(ReadLogTest, AnErrorInTheMiddleOfAnAnswerEndsTheRead) {
  read(Client::kPayload, 1, 0x1000, 128);
  answer(1, 64);
  fail(1, spec::RdStatus::kAborted);
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 128).status, spec::RdStatus::kAborted);
  read(Client::kPayload, 1, 0x2000, 64);  // the tag is free again
  answer(1, 64);
  expect(Client::kPayload, 0x2000, 64);
  EXPECT_EQ(log.contradiction(), "");
}

TEST_F(ReadLogTest, ARingIsServedFromTheNewestRead) {
  read(Client::kSqFetch, 1, 0x8000, 256);
  answer(1, 256, 1);
  expect(Client::kSqFetch, 0x8000, 64, 1);
  expect(Client::kSqFetch, 0x8000, 64, 1);  // any number of times
  read(Client::kSqFetch, 1, 0x8000, 64);    // the ring has wrapped
  EXPECT_EQ(log.take(Client::kSqFetch, 0x8000, 64).state, State::kDone)
      << "the answer counts, not the asking";
  answer(1, 64, 2);
  expect(Client::kSqFetch, 0x8000, 64, 2);
  expect(Client::kSqFetch, 0x8040, 192, 1);
  EXPECT_EQ(log.contradiction(), "");
}

TEST_F(ReadLogTest, TheNewestReadOfARingIsTheOneAskedForLast) {
  read(Client::kRqFetch, 1, 0x8000, 64);
  read(Client::kRqFetch, 2, 0x8000, 64);
  answer(2, 64, 1);
  expect(Client::kRqFetch, 0x8000, 64, 1);
  answer(1, 64, 0);
  expect(Client::kRqFetch, 0x8000, 64, 1);
}

TEST_F(ReadLogTest, AnUnusedWqeMayNotChange) {
  read(Client::kSqFetch, 1, 0x8000, 128);
  answer(1, 128, 1);
  read(Client::kSqFetch, 1, 0x8000, 128);
  answer(1, 128, 1);
  EXPECT_EQ(log.contradiction(), "") << "the same bytes again";
  read(Client::kSqFetch, 1, 0x8040, 64);
  answer(1, 64, 2);
  EXPECT_THAT(log.contradiction(), HasSubstr("sq read byte 0x8040 twice before it used it"));
}

TEST_F(ReadLogTest, AWqeThatCouldNotBeReadIsReadAgain) {
  read(Client::kRqFetch, 1, 0x8000, 128);
  fail(1, spec::RdStatus::kUnsupported);
  read(Client::kRqFetch, 1, 0x8000, 256);
  answer(1, 256, 3);
  EXPECT_THAT(log.contradiction(), testing::IsEmpty());
  expect(Client::kRqFetch, 0x8000, 256, 3);
}

TEST_F(ReadLogTest, APartThatFailedMakesAllOfAFetchBad) {
  log.fetch(Client::kSqFetch, 0x8200, 512);
  log.fetch(Client::kSqFetch, 0x8400, 64);  // the following bytes are a separate fetch
  part(Client::kSqFetch, 1, 0x8200, 256);
  answer(1, 256);
  EXPECT_EQ(log.take(Client::kSqFetch, 0x8200, 64).state, State::kWaiting) << "for a read not made";
  part(Client::kSqFetch, 2, 0x8300, 256);
  part(Client::kSqFetch, 3, 0x8400, 64);
  EXPECT_EQ(log.take(Client::kSqFetch, 0x8200, 64).state, State::kWaiting) << "for an answer";
  fail(2, spec::RdStatus::kAborted);
  EXPECT_EQ(log.take(Client::kSqFetch, 0x8200, 64).status, spec::RdStatus::kAborted);
  answer(3, 64);
  expect(Client::kSqFetch, 0x8400, 64);
  EXPECT_EQ(log.contradiction(), "");
  part(Client::kSqFetch, 1, 0x8440, 64);
  EXPECT_THAT(log.contradiction(), HasSubstr("no fetch asks for them"));
}

TEST_F(ReadLogTest, ARingIsReadAsItsFetchesSay) {
  for (const auto& [address, length] : {std::pair{0x8040U, 64U}, {0x7fc0U, 64U}, {0x8000U, 192U}}) {
    log = ReadLog();
    log.fetch(Client::kSqFetch, 0x8000, 128);
    part(Client::kSqFetch, 1, address, length);
    EXPECT_THAT(log.contradiction(), HasSubstr("no fetch asks for them next")) << address;
  }
}

TEST_F(ReadLogTest, AFetchWithoutBusMasterMakesNoRead) {
  log.fetch(Client::kRqFetch, 0x8000, 128);
  log.pcie({.bus_master = 0});
  log.fetch(Client::kRqFetch, 0x8080, 128);
  log.pcie({.bus_master = 1});
  read(Client::kRqFetch, 1, 0x8000, 128);
  answer(1, 128);
  expect(Client::kRqFetch, 0x8000, 128);
  EXPECT_EQ(log.contradiction(), "");
}

TEST_F(ReadLogTest, AUsedOrForgottenWqeMayChange) {
  read(Client::kRqFetch, 1, 0x8000, 128);
  answer(1, 128, 1);
  expect(Client::kRqFetch, 0x8000, 64, 1);
  log.forget(Client::kRqFetch, 0x8040, 64);
  EXPECT_EQ(log.take(Client::kRqFetch, 0x8040, 64).state, State::kNever);
  read(Client::kRqFetch, 1, 0x8000, 128);
  answer(1, 128, 2);
  expect(Client::kRqFetch, 0x8000, 128, 2);
  EXPECT_EQ(log.contradiction(), "");
}

TEST_F(ReadLogTest, WhatCannotBeIsSaid) {
  log.piece({.tag = 9, .is_last = true, .data = bytes_of(0, 64)});
  EXPECT_THAT(log.contradiction(), HasSubstr("tag 9, which no read has"));

  log = ReadLog();
  read(Client::kPayload, 1, 0x1000, 64);
  read(Client::kAdmin, 1, 0x2000, 64);
  EXPECT_THAT(log.contradiction(), HasSubstr("tag 1 is still that of the read of 0x1000"));

  log = ReadLog();
  read(Client::kPayload, 1, 0x1000, 64);
  log.piece({.tag = 1, .is_last = true, .data = bytes_of(0x1000, 65)});
  EXPECT_THAT(log.contradiction(), HasSubstr("asked for 64 bytes, 65 have come"));

  log = ReadLog();
  read(Client::kPayload, 1, 0x1000, 64);
  log.piece({.tag = 1, .is_last = true, .data = bytes_of(0x1000, 63)});
  EXPECT_THAT(log.contradiction(), HasSubstr("asked for 64 bytes, 63 have come"));
}

TEST_F(ReadLogTest, LeftOverNamesWhatNobodyUsed) {
  read(Client::kPayload, 1, 0x1000, 64);
  read(Client::kSqFetch, 2, 0x2000, 64);
  EXPECT_THAT(log.left_over(),
              HasSubstr("payload: the read of 64 bytes from 0x1000 is not answered"));
  EXPECT_THAT(log.left_over(), HasSubstr("sq: the read of 64 bytes from 0x2000 is not answered"));
  answer(1, 64);
  answer(2, 64);
  EXPECT_EQ(log.left_over(), "payload: 64 bytes from 0x1000 were read for nothing\n")
      << "a prefetched WQE may stay unused";
  log.reset();
  EXPECT_EQ(log.left_over(), "");
}

TEST_F(ReadLogTest, PayloadIsReadForASegmentAlone) {
  log.due(7, 0x1000, 100);
  part(Client::kPayload, 1, 0x1000, 64);
  EXPECT_EQ(log.contradiction(), "");
  part(Client::kPayload, 2, 0x1040, 37);  // one byte too many
  EXPECT_THAT(
      log.contradiction(),
      HasSubstr("payload: 37 bytes from 0x1040 are read; from 0x1064 on they are of no segment"));

  log = ReadLog();
  part(Client::kPayload, 1, 0x2000, 64);
  EXPECT_THAT(log.contradiction(),
              HasSubstr("from 0x2000 on they are of no segment that is to be sent"));

  log = ReadLog();
  log.due(7, 0x1000, 64);
  part(Client::kPayload, 1, 0x1000, 64);
  part(Client::kPayload, 2, 0x1000, 64);
  EXPECT_THAT(log.contradiction(), HasSubstr("or have been read for it")) << "nobody uses it twice";
}

TEST_F(ReadLogTest, ReadsOfTwoSegmentsOfOneBufferArePairedInOrder) {
  log.due(7, 0x1000, 64);
  log.due(8, 0x1020, 64);
  part(Client::kPayload, 1, 0x1000,
       0x60);  // joined: the second half of 7 and of 8 follows
  part(Client::kPayload, 2, 0x1020, 0x20);
  EXPECT_EQ(log.contradiction(), "");
  part(Client::kPayload, 3, 0x1020, 1);
  EXPECT_THAT(log.contradiction(), HasSubstr("0x1020"));
}

/// settle(): the segment has its bytes or has failed. What else was read for it stays unused.
TEST_F(ReadLogTest, WhatAFailedSegmentReadIsNobodys) {
  read(Client::kPayload, 1, 0x1000, 64);
  log.due(2, 0x1000, 128);
  answer(1, 64, 1);
  log.settle(1);
  EXPECT_EQ(log.left_over(), "");
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 64).state, State::kNever)
      << "it is not the next one's";
  log.settle(2);
  part(Client::kPayload, 2, 0x1000, 64);  // was in flight when segment 2 was settled
  answer(2, 64, 2);
  EXPECT_EQ(log.contradiction(), "");
  EXPECT_EQ(log.for_nothing(), "");
}

TEST_F(ReadLogTest, WithoutBusMasteringNothingIsRead) {
  log.pcie({.bus_master = 0});
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 64).status, spec::RdStatus::kUnsupported);
  EXPECT_EQ(log.take(Client::kRqFetch, 0x1000, 64).status, spec::RdStatus::kUnsupported);
  log.pcie({.bus_master = 1});
  EXPECT_EQ(log.take(Client::kPayload, 0x1000, 64).state, State::kNever);
}

}  // namespace
}  // namespace rnic::sim
