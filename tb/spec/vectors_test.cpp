// Hand-typed bytes against the structs that specgen generates: a mistake in docs/spec would else be
// in the code and in its test. The bytes are the headers of the golden FPDUs (requirements.md,
// section 12).
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "gen/errors.hpp"
#include "gen/iwarp.hpp"
#include "gen/queues.hpp"
#include "gen/regs.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"

namespace {

namespace spec = rnic::spec;
using spec::RdmapOpcode;

std::vector<uint8_t> hex(std::string_view text) {
  std::vector<uint8_t> out;
  unsigned value = 0, digits = 0;
  for (char c : text) {
    if (c == ' ') continue;
    value = value * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits % 2 == 0) out.push_back(static_cast<uint8_t>(value)), value = 0;
  }
  return out;
}

/// Decodes and encodes again: the bytes must be the same.
template <class T>
T decode(std::span<const uint8_t> bytes) {
  T item = T::unpack(bytes);
  std::vector<uint8_t> again(T::kBytes);
  item.pack(again);
  EXPECT_TRUE(std::equal(again.begin(), again.end(), bytes.begin())) << item.describe();
  EXPECT_EQ(T::from_words(item.to_words().data()), item);
  return item;
}

/// Decodes a DDP header and expects it to be untagged, last and of version 1, with these fields.
spec::DdpUntagged untagged(std::span<const uint8_t> ulpdu, RdmapOpcode opcode, uint32_t qn,
                           uint32_t msn) {
  const auto h = decode<spec::DdpUntagged>(ulpdu);
  EXPECT_EQ(h.is_tagged, 0);
  EXPECT_EQ(h.is_last, 1);
  EXPECT_EQ(h.dv, 1);
  EXPECT_EQ(h.rv, 1);
  EXPECT_EQ(h.opcode, opcode);
  EXPECT_EQ(h.qn, qn);
  EXPECT_EQ(h.msn, msn);
  EXPECT_EQ(h.mo, 0U);
  return h;
}

// Bytes: MPA length; DDP and RDMAP control; STag and TO, or QN, MSN and MO; payload.
TEST(VectorsTest, RdmaWrite) {
  const auto fpdu = hex("0013c140 11223344 01020304 05060708 68656c6c 6f000000");
  EXPECT_EQ(decode<spec::MpaLength>(fpdu).ulpdu_length, 19);
  const auto h = decode<spec::DdpTagged>(std::span(fpdu).subspan(2));
  EXPECT_EQ(h.is_tagged, 1);
  EXPECT_EQ(h.is_last, 1);
  EXPECT_EQ(h.dv, spec::kDvIetf);
  EXPECT_EQ(h.rv, spec::kRvIetf);
  EXPECT_EQ(h.opcode, RdmapOpcode::kRdmaWrite);
  EXPECT_EQ(h.stag, 0x11223344U);
  EXPECT_EQ(h.tagged_offset, 0x0102030405060708U);
}

TEST(VectorsTest, ReadRequest) {
  const auto ulpdu =
      hex("4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000 00001000 11223344 "
          "00000000 00002000");
  untagged(ulpdu, RdmapOpcode::kReadRequest, spec::kQnRequest, 1);
  const auto r = decode<spec::ReadRequest>(std::span(ulpdu).subspan(18));
  EXPECT_EQ(r.sink_stag, 0xaabbccddU);
  EXPECT_EQ(r.sink_to, 0x1000U);
  EXPECT_EQ(r.read_size, 0x1000U);
  EXPECT_EQ(r.source_stag, 0x11223344U);
  EXPECT_EQ(r.source_to, 0x2000U);
}

TEST(VectorsTest, Sends) {
  EXPECT_EQ(untagged(hex("4143 00000000 00000000 00000001 00000000"), RdmapOpcode::kSend,
                     spec::kQnSend, 1)
                .invalidate_stag,
            0U);
  EXPECT_EQ(untagged(hex("4144 11223344 00000000 00000002 00000000"), RdmapOpcode::kSendInv,
                     spec::kQnSend, 2)
                .invalidate_stag,
            0x11223344U);
  untagged(hex("4148 00000000 00000000 00000003 00000000"), RdmapOpcode::kImmediate, spec::kQnSend,
           3);
}

TEST(VectorsTest, Terminate) {
  const auto ulpdu = hex("4147 00000000 00000002 00000001 00000000 0101e000 002e4141");
  untagged(ulpdu, RdmapOpcode::kTerminate, spec::kQnTerminate, 1);
  const auto t = decode<spec::TerminateCtrl>(std::span(ulpdu).subspan(18));
  EXPECT_EQ(t.layer, 0);
  EXPECT_EQ(t.etype, 1);
  EXPECT_EQ(t.code, 1);
  EXPECT_EQ(t.has_length, 1);
  EXPECT_EQ(t.has_ddp_header, 1);
  EXPECT_EQ(t.has_rdma_header, 1);
  EXPECT_EQ(t.reserved, 0);
}

TEST(VectorsTest, OpcodesOfTheExtensions) {
  untagged(hex("414a 00000000 00000001 00000002 00000000"), RdmapOpcode::kAtomicRequest,
           spec::kQnRequest, 2);
  untagged(hex("414b 00000000 00000003 00000001 00000000"), RdmapOpcode::kAtomicResponse,
           spec::kQnResponse, 1);
  untagged(hex("414c 00000000 00000001 00000003 00000000"), RdmapOpcode::kFlushRequest,
           spec::kQnRequest, 3);
  untagged(hex("414d 00000000 00000003 00000002 00000000"), RdmapOpcode::kFlushResponse,
           spec::kQnResponse, 2);
  untagged(hex("414e 00000000 00000001 00000004 00000000"), RdmapOpcode::kVerifyRequest,
           spec::kQnRequest, 4);
  untagged(hex("4150 00000000 00000001 00000005 00000000"), RdmapOpcode::kAtomicWriteRequest,
           spec::kQnRequest, 5);
  untagged(hex("4151 00000000 00000003 00000004 00000000"), RdmapOpcode::kAtomicWriteResponse,
           spec::kQnResponse, 4);
}

// RFC 5040 Figures 9 and 10; RFC 5041 section 8.2; RFC 5044 section 8. Typed here, since all other
// code takes the causes from errors.yaml.
TEST(VectorsTest, CausesLeadToTheTerminatesOfTheRfcs) {
  using spec::Cause;
  struct Row {
    Cause cause;
    unsigned layer, etype, code;
    bool ddp, rdma;
  };
  const Row rows[] = {{Cause::kMpaCrc, 2, 0, 0x02, false, false},
                      {Cause::kMpaMarker, 2, 0, 0x03, false, false},
                      {Cause::kLlpLost, 2, 0, 0x01, false, false},
                      {Cause::kDdpTaggedStag, 1, 1, 0x00, true, false},
                      {Cause::kDdpTaggedBounds, 1, 1, 0x01, true, false},
                      {Cause::kDdpTaggedAssoc, 1, 1, 0x02, true, false},
                      {Cause::kDdpTaggedWrap, 1, 1, 0x03, true, false},
                      {Cause::kDdpTaggedVersion, 1, 1, 0x04, true, false},
                      {Cause::kDdpUntaggedQn, 1, 2, 0x01, true, false},
                      {Cause::kDdpUntaggedNoBuffer, 1, 2, 0x02, true, false},
                      {Cause::kDdpUntaggedMsn, 1, 2, 0x03, true, false},
                      {Cause::kDdpUntaggedMo, 1, 2, 0x04, true, false},
                      {Cause::kDdpUntaggedTooLong, 1, 2, 0x05, true, false},
                      {Cause::kDdpUntaggedVersion, 1, 2, 0x06, true, false},
                      {Cause::kRdmapStag, 0, 1, 0x00, true, true},
                      {Cause::kRdmapBounds, 0, 1, 0x01, true, true},
                      {Cause::kRdmapRights, 0, 1, 0x02, true, true},
                      {Cause::kRdmapAssoc, 0, 1, 0x03, true, true},
                      {Cause::kRdmapWrap, 0, 1, 0x04, true, true},
                      {Cause::kRdmapInvProtected, 0, 1, 0x09, true, false},
                      {Cause::kRdmapInvStag, 0, 2, 0x09, true, false},
                      {Cause::kRdmapVersion, 0, 2, 0x05, true, false},
                      {Cause::kRdmapOpcode, 0, 2, 0x06, true, false},
                      {Cause::kRdmapLength, 0, 2, 0x07, true, false},
                      {Cause::kFlushFailed, 0, 2, 0x0a, true, false},
                      {Cause::kLocalCatastrophic, 0, 0, 0x00, false, false}};
  for (const Row& want : rows) {
    const auto& row = spec::cause_row(want.cause);
    EXPECT_EQ(row.layer, want.layer) << row.name;
    EXPECT_EQ(row.etype, want.etype) << row.name;
    EXPECT_EQ(row.code, want.code) << row.name;
    EXPECT_EQ(row.ddp_header, want.ddp) << row.name;
    EXPECT_EQ(row.rdma_header, want.rdma) << row.name;
  }
  EXPECT_EQ(spec::kCauses.size(), std::size(rows) + 2);  // none and peer_terminate send none
  EXPECT_EQ(to_string(Cause::kMpaCrc), "mpa_crc");
  for (const auto& c : spec::kCauses) EXPECT_EQ(spec::cause_row(c.cause).name, c.name);
}

TEST(VectorsTest, Describe) {
  spec::DdpTagged h;
  h.is_tagged = 1;
  h.opcode = RdmapOpcode::kReadResponse;
  h.stag = 0x12345678;
  EXPECT_EQ(
      h.describe(),
      "is_tagged=1 is_last=0 dv=0 rv=0 opcode=read_response stag=0x12345678 tagged_offset=0x0");
}

TEST(VectorsTest, BeatsAndTables) {
  spec::Beat b;
  b.last = 1;
  b.keep = 64;
  b.data[0] = 0xab;
  b.data[63] = 0xcd;
  const auto w = b.to_words();
  EXPECT_EQ(w[0], 0xabU);
  EXPECT_EQ(w[15], 0xcd000000U);
  EXPECT_EQ(w[16], 0x140U);  // last is bit 8, error bit 7; keep, 64, bits 6 to 0
  EXPECT_EQ(spec::Beat::from_words(w.data()), b);
  for (const auto& row : spec::kSizes) {
    EXPECT_EQ(spec::Sizes{}.*row.member, row.value) << row.name;
    EXPECT_EQ(spec::Sizes::minimum().*row.member, row.minimum) << row.name;
    EXPECT_EQ(spec::Sizes::stall().*row.member, row.stall) << row.name;
  }
  for (const auto& row : spec::kRegisters) EXPECT_EQ(row.offset % (row.width / 8), 0U) << row.name;
}

}  // namespace
