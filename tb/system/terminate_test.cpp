// Errors from end to end: the error of one host, the Terminate of the other's device, byte for
// byte, and the effects on both hosts: statuses, flushes exactly once, events. A second connection
// of the same two devices continues. requirements.md 5.2, 6, 7; R5040-4.8-01 to 26, 5.4-01 to 09,
// 6.2.1-01 to 05, 7-01, 7.1-01 to 04, 7.2-02, 06, 09, 10, 8.1.1-01, 03, 05. Flush:
// RPMEM-3.1.1.1-04, 3.1.4-02, 04, 5.1-02, 5.2-01, 02, 8-01; ambiguities.
// Atomics and Atomic Write: RFC 7306 5.2.1, 5.2.2, 8.2; ambiguities.
#include <algorithm>
#include <iterator>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;
using spec::Cause;

constexpr uint64_t kTarget = 0x10000000;  // address of the server's open region
constexpr uint32_t kTargetBytes = 8192;
constexpr uint32_t kShort = 48;  // bytes of the receives

/// State shared by both sides.
struct Shared {
  uint32_t open = 0, foreign = 0, no_read = 0, no_write = 0;  // keys of the server
  uint64_t foreign_at = 0, no_read_at = 0, no_write_at = 0;
  bool greeted = false, ready = false, client_done = false, server_done = false;
  uint32_t sink = 0;  // of the client's Read
  uint64_t sink_at = 0;
};

struct Case {
  const char* name;
  uint8_t layer, type, code;
  Cause cause;             // at the server
  EventType event;         // at the server
  WcStatus offender;       // at the client
  unsigned receives;       // that the server posts after the greeting's
  WcStatus first_receive;  // of those
  /// Posts the offender; `data` has 256 bytes.
  std::function<uint64_t(Endpoint&, const Region& data, const Shared&)> offend;
  /// Changes the offender's FPDU in flight.
  std::function<Bytes(Bytes)> forge;
  /// The Terminate's bytes after the first four: length and headers of the segment.
  std::function<Bytes(const Shared&)> headers;
  bool flush = false;  // both sides request the extensions: Flush, atomics, Atomic Write
  /// A later Send may be placed before the offender is refused: post it after the end.
  bool is_passed = false;
  /// The server's own request that gets no answer; default: a Read.
  std::function<uint64_t(Endpoint&, const Region& landing, const Shared&)> own = {};
};

/// Changes one byte of an FPDU and recomputes its CRC. Bytes 0 and 1 are MPA's length, 2 and 3 the
/// control octets of DDP and RDMAP.
Bytes changed(Bytes f, size_t at, uint8_t to) {
  f.resize(f.size() - 4);
  f[at] = to;
  return with_crc(f);
}

struct Range {
  uint32_t stag;
  uint64_t to;
  uint32_t length;
};
/// A Flush that the server refuses for its range. Its Terminate has only the DDP header
/// (RPMEM-5.1-02), and the client finds the request by the MSN in it.
Case flush(const char* name, uint8_t type, uint8_t code, Cause cause, uint8_t states,
           const std::function<Range(const Shared&)>& range) {
  return {name,
          0,
          type,
          code,
          cause,
          IBV_EVENT_QP_ACCESS_ERR,
          IBV_WC_REM_ACCESS_ERR,
          3,
          IBV_WC_WR_FLUSH_ERR,
          [range, states](Endpoint& e, const Region&, const Shared& s) {
            const Range r = range(s);
            return e.flush(r.stag, r.to, r.length, states);
          },
          {},
          [](const Shared&) { return hex("0026") + untagged(0xc, 1, 1); },
          true};
}

/// A good Flush that is changed in flight.
Case forged_flush(const char* name, const std::function<Bytes(Bytes)>& forge, uint16_t ulpdu = 38,
                  const Bytes& header = untagged(0xc, 1, 1)) {
  return {name,
          0,
          2,
          0x07,
          Cause::kRdmapLength,
          IBV_EVENT_QP_FATAL,
          IBV_WC_REM_OP_ERR,
          3,
          IBV_WC_WR_FLUSH_ERR,
          [](Endpoint& e, const Region&, const Shared& s) { return e.flush(s.open, kTarget, 64); },
          forge,
          [ulpdu, header](const Shared&) { return be(ulpdu, 2) + header; },
          true};
}

uint64_t post_immediate(Endpoint& e, const Region&, const Shared&) {
  return e.post({{.opcode = RNIC_WR_IMM, .imm = 0x0102030405060708}})[0];
}
/// Good Immediate Data, MSN 2, that is changed in flight.
Case forged_immediate(const char* name, uint8_t code, Cause cause,
                      const std::function<Bytes(Bytes)>& forge, uint16_t ulpdu,
                      const Bytes& header = {}) {
  return {name,
          0,
          2,
          code,
          cause,
          IBV_EVENT_QP_FATAL,
          IBV_WC_SUCCESS,
          3,
          IBV_WC_WR_FLUSH_ERR,
          post_immediate,
          forge,
          [ulpdu, header, forge](const Shared&) {
            const Bytes f = header.empty() ? forge({}) : Bytes{};
            return be(ulpdu, 2) + (header.empty() ? Bytes(f.begin() + 2, f.begin() + 20) : header);
          }};
}

enum class Word : uint8_t { kFetchAdd, kAtomicWrite };
constexpr uint64_t kValue = 0x0102030405060708;

uint64_t post_word(Endpoint& e, const Region& d, Word kind, uint32_t stag, uint64_t to) {
  return kind == Word::kFetchAdd ? e.fetch_add(d.sge(0, 8), stag, to, kValue)
                                 : e.atomic_write(stag, to, kValue);
}

/// A FetchAdd or Atomic Write that the server refuses for its target; as flush().
Case word(const char* name, Word kind, uint8_t code, Cause cause,
          const std::function<Range(const Shared&)>& target, uint8_t type = 0x1) {
  return {.name = name,
          .layer = 0,
          .type = type,
          .code = code,
          .cause = cause,
          .event = type == 1 ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_FATAL,
          .offender = type == 1 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_REM_OP_ERR,
          .receives = 3,
          .first_receive = IBV_WC_WR_FLUSH_ERR,
          .offend =
              [kind, target](Endpoint& e, const Region& d, const Shared& s) {
                const Range r = target(s);
                return post_word(e, d, kind, r.stag, r.to);
              },
          .forge = {},
          .headers =
              [kind](const Shared&) {
                return kind == Word::kFetchAdd ? hex("0046") + untagged(0xa, 1, 1)
                                               : hex("002a") + untagged(0x10, 1, 1);
              },
          .flush = true,
          .is_passed = true};
}

/// A good atomic that is changed in flight.
Case forged_word(const char* name, Word kind, uint8_t code,
                 const std::function<Bytes(Bytes)>& forge, uint16_t ulpdu, const Bytes& header) {
  return {.name = name,
          .layer = 0,
          .type = 2,
          .code = code,
          .cause = code == 0x06 ? Cause::kRdmapOpcode : Cause::kRdmapLength,
          .event = IBV_EVENT_QP_FATAL,
          .offender = code == 0x06 ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR,
          .receives = 3,
          .first_receive = IBV_WC_WR_FLUSH_ERR,
          .offend = [kind](Endpoint& e, const Region& d,
                           const Shared& s) { return post_word(e, d, kind, s.open, kTarget); },
          .forge = forge,
          .headers = [ulpdu, header](const Shared&) { return be(ulpdu, 2) + header; },
          .flush = true};
}

/// The client's Send becomes a response that does not match the server's oldest request.
Case response(const char* name, uint8_t code, const Bytes& ulpdu,
              const std::function<uint64_t(Endpoint&, const Region&, const Shared&)>& own = {}) {
  return {
      .name = name,
      .layer = 0,
      .type = 2,
      .code = code,
      .cause = code == 0x06 ? Cause::kRdmapOpcode : Cause::kRdmapLength,
      .event = IBV_EVENT_QP_FATAL,
      .offender = IBV_WC_SUCCESS,
      .receives = 3,
      .first_receive = IBV_WC_WR_FLUSH_ERR,
      .offend = [](Endpoint& e, const Region& d, const Shared&) { return e.send(d.sge(0, 20)); },
      .forge = [ulpdu](const Bytes&) { return fpdu(ulpdu); },
      .headers =
          [ulpdu](const Shared&) {
            return be(ulpdu.size(), 2) + Bytes(ulpdu.begin(), ulpdu.begin() + 18);
          },
      .flush = true,
      .own = own};
}

/// With the extensions disabled: a Read becomes this ULPDU.
Case not_enabled(const char* name, const Bytes& ulpdu) {
  return {.name = name,
          .layer = 0,
          .type = 2,
          .code = 0x06,
          .cause = Cause::kRdmapOpcode,
          .event = IBV_EVENT_QP_FATAL,
          .offender = IBV_WC_WR_FLUSH_ERR,
          .receives = 3,
          .first_receive = IBV_WC_WR_FLUSH_ERR,
          .offend = [](Endpoint& e, const Region& d,
                       const Shared& s) { return e.read(d.sge(0, 8), s.open, kTarget); },
          .forge = [ulpdu](const Bytes&) { return fpdu(ulpdu); },
          .headers =
              [ulpdu](const Shared&) {
                return be(ulpdu.size(), 2) + Bytes(ulpdu.begin(), ulpdu.begin() + 18);
              }};
}

std::vector<Case> word_cases() {
  constexpr auto kAdd = Word::kFetchAdd;
  constexpr auto kWrite = Word::kAtomicWrite;
  const auto at = [](uint64_t to) {
    return [to](const Shared& s) { return Range{s.open, to, 8}; };
  };
  const auto unknown = [](const Shared& s) { return Range{s.open ^ 0x5a, kTarget, 8}; };
  const auto foreign = [](const Shared& s) { return Range{s.foreign, s.foreign_at, 8}; };
  const auto no_atomic = [](const Shared& s) { return Range{s.no_read, s.no_read_at, 8}; };
  const auto no_write = [](const Shared& s) { return Range{s.no_write, s.no_write_at, 8}; };
  const auto shorter = [](const Bytes& f) {
    const size_t ulpdu = f[0] << 8 | f[1];
    return fpdu(Bytes(f.begin() + 2, f.begin() + 2 + static_cast<ptrdiff_t>(ulpdu) - 1));
  };
  const auto byte = [](size_t place, uint8_t value) {  // of the ULPDU
    return [place, value](const Bytes& f) { return changed(f, 2 + place, value); };
  };
  const auto own_add = [](Endpoint& e, const Region& d, const Shared& s) {
    return e.fetch_add(d.sge(2048, 8), s.sink, s.sink_at, 1);
  };
  const auto own_write = [](Endpoint& e, const Region&, const Shared& s) {
    return e.atomic_write(s.sink, s.sink_at, 1);
  };
  const Bytes add = untagged(0xa, 1, 1), write = untagged(0x10, 1, 1);
  const auto answer = [](uint32_t id) { return untagged(0xb, 3, 1) + atomic_response(id, 1); };
  const uint64_t end = kTarget + kTargetBytes;
  return {
      word("FetchAdd_0_1_00_no_such_STag", kAdd, 0x00, Cause::kRdmapStag, unknown),
      word("FetchAdd_0_1_01_bounds_before_alignment", kAdd, 0x01, Cause::kRdmapBounds, at(end - 4)),
      word("FetchAdd_0_1_02_no_right", kAdd, 0x02, Cause::kRdmapRights, no_atomic),
      word("FetchAdd_0_1_03_other_PD", kAdd, 0x03, Cause::kRdmapAssoc, foreign),
      word("FetchAdd_0_1_04_wrap", kAdd, 0x04, Cause::kRdmapWrap, at(UINT64_MAX - 3)),
      word("FetchAdd_0_2_07_misaligned", kAdd, 0x07, Cause::kRdmapLength, at(kTarget + 4), 2),
      word("AtomicWrite_0_1_00_no_such_STag", kWrite, 0x00, Cause::kRdmapStag, unknown),
      word("AtomicWrite_0_1_01_bounds", kWrite, 0x01, Cause::kRdmapBounds, at(end)),
      word("AtomicWrite_0_1_02_no_right", kWrite, 0x02, Cause::kRdmapRights, no_write),
      word("AtomicWrite_0_1_03_other_PD", kWrite, 0x03, Cause::kRdmapAssoc, foreign),
      word("AtomicWrite_0_1_04_wrap", kWrite, 0x04, Cause::kRdmapWrap, at(UINT64_MAX - 3)),
      word("AtomicWrite_0_2_07_misaligned", kWrite, 0x07, Cause::kRdmapLength, at(kTarget + 1), 2),
      forged_word("FetchAdd_0_2_06_AOpCode", kAdd, 0x06, byte(18 + 3, 1), 70, add),
      forged_word("FetchAdd_0_2_07_too_short", kAdd, 0x07, shorter, 69, add),
      forged_word(
          "FetchAdd_0_2_07_too_short_and_of_no_AOpCode", kAdd, 0x07,
          [=](const Bytes& f) { return shorter(byte(18 + 3, 1)(f)); }, 69, add),
      forged_word("AtomicWrite_0_2_07_too_short", kWrite, 0x07, shorter, 41, write),
      forged_word("AtomicWrite_0_2_07_length_9", kWrite, 0x07, byte(18 + 7, 9), 42, write),
      forged_word("AtomicWrite_0_2_07_STag_to_be_invalidated", kWrite, 0x07, byte(5, 0x77), 42,
                  hex("4150 00000077 00000001 00000001 00000000")),
      not_enabled("FetchAdd_0_2_06_not_enabled",
                  add + atomic_request(0, 1, 0x1234, kTarget, {.data = kValue})),
      not_enabled("AtomicWrite_0_2_06_not_enabled",
                  write + atomic_write_request(0x1234, kTarget, kValue)),
      response("Atomic_Response_0_2_06_to_a_Read", 0x06, answer(1)),
      response("Atomic_Response_0_2_07_wrong_identifier", 0x07, answer(2), own_add),
      response("Atomic_Response_0_2_06_to_an_Atomic_Write", 0x06, answer(1), own_write),
      response("Atomic_Response_0_2_07_too_short", 0x07, untagged(0xb, 3, 1) + be(1, 11), own_add),
      response("Atomic_Write_Response_0_2_06_to_a_FetchAdd", 0x06, untagged(0x11, 3, 1), own_add),
      response("Atomic_Write_Response_0_2_07_with_payload", 0x07, untagged(0x11, 3, 1) + be(0, 4),
               own_write),
  };
}

std::vector<Case> cases() {
  const auto nothing = [](const Shared&) { return Bytes{}; };
  const auto send = [](uint32_t bytes) {
    return [bytes](Endpoint& e, const Region& d, const Shared&) { return e.send(d.sge(0, bytes)); };
  };
  return {
      {"Tagged_1_1_00_no_such_STag",
       1,
       1,
       0x00,
       Cause::kDdpTaggedStag,
       IBV_EVENT_QP_ACCESS_ERR,
       IBV_WC_SUCCESS,
       3,
       IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.write(d.sge(0, 5), s.open ^ 0x5a, kTarget);
       },
       {},
       [](const Shared& s) { return hex("0013") + tagged(0x0, s.open ^ 0x5a, kTarget); }},
      {"Tagged_1_1_01_bounds",
       1,
       1,
       0x01,
       Cause::kDdpTaggedBounds,
       IBV_EVENT_QP_ACCESS_ERR,
       IBV_WC_SUCCESS,
       3,
       IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.write(d.sge(0, 100), s.open, kTarget + kTargetBytes - 99);
       },
       {},
       [](const Shared& s) {
         return hex("0072") + tagged(0x0, s.open, kTarget + kTargetBytes - 99);
       }},
      {"Tagged_1_1_02_other_PD",
       1,
       1,
       0x02,
       Cause::kDdpTaggedAssoc,
       IBV_EVENT_QP_ACCESS_ERR,
       IBV_WC_SUCCESS,
       3,
       IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.write(d.sge(0, 64), s.foreign, s.foreign_at);
       },
       {},
       [](const Shared& s) { return hex("004e") + tagged(0x0, s.foreign, s.foreign_at); }},
      {"Untagged_1_2_02_no_receive",
       1,
       2,
       0x02,
       Cause::kDdpUntaggedNoBuffer,
       IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS,
       0,
       IBV_WC_SUCCESS,
       send(20),
       {},
       [](const Shared&) { return hex("0026") + untagged(0x3, 0, 2); }},
      {"Untagged_1_2_03_MSN", 1, 2, 0x03, Cause::kDdpUntaggedMsn, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes& f) { return changed(f, 2 + 13, 3); },
       [](const Shared&) { return hex("0026") + untagged(0x3, 0, 3); }},
      {"Untagged_1_2_05_too_long",
       1,
       2,
       0x05,
       Cause::kDdpUntaggedTooLong,
       IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS,
       3,
       IBV_WC_LOC_LEN_ERR,
       send(kShort + 1),
       {},
       [](const Shared&) { return hex("0043") + untagged(0x3, 0, 2); }},
      {"Read_0_1_01_bounds",
       0,
       1,
       0x01,
       Cause::kRdmapBounds,
       IBV_EVENT_QP_ACCESS_ERR,
       IBV_WC_REM_ACCESS_ERR,
       3,
       IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.read(d.sge(0, 100), s.open, kTarget + kTargetBytes - 99);
       },
       {},
       [](const Shared& s) {
         return hex("002e") + untagged(0x1, 1, 1) +
                read_request(s.sink, s.sink_at, 100, s.open, kTarget + kTargetBytes - 99);
       }},
      {"Read_0_1_02_rights",
       0,
       1,
       0x02,
       Cause::kRdmapRights,
       IBV_EVENT_QP_ACCESS_ERR,
       IBV_WC_REM_ACCESS_ERR,
       3,
       IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.read(d.sge(0, 100), s.no_read, s.no_read_at);
       },
       {},
       [](const Shared& s) {
         return hex("002e") + untagged(0x1, 1, 1) +
                read_request(s.sink, s.sink_at, 100, s.no_read, s.no_read_at);
       }},
      {"Opcode_0_2_06_on_the_Send_queue", 0, 2, 0x06, Cause::kRdmapOpcode, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes& f) { return changed(f, 3, 0x4f); },
       [](const Shared&) { return hex("0026") + untagged(0xf, 0, 2); }},
      {"Invalidate_0_2_09_no_STag", 0, 2, 0x09, Cause::kRdmapInvStag, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes& f) { return changed(f, 3, 0x44); },
       [](const Shared&) { return hex("0026") + untagged(0x4, 0, 2); }},
      // --- Immediate Data
      forged_immediate(
          "Immediate_0_2_07_too_short", 0x07, Cause::kRdmapLength,
          [](const Bytes&) { return fpdu(untagged(0x8, 0, 2) + be(1, 7)); }, 25),
      forged_immediate(
          "Immediate_0_2_07_too_long", 0x07, Cause::kRdmapLength,
          [](const Bytes&) { return fpdu(untagged(0x9, 0, 2) + be(1, 9)); }, 27),
      forged_immediate(
          "Immediate_0_2_07_empty", 0x07, Cause::kRdmapLength,
          [](const Bytes&) { return fpdu(untagged(0x8, 0, 2)); }, 18),
      forged_immediate(
          "Immediate_0_2_07_not_the_last_segment", 0x07, Cause::kRdmapLength,
          [](const Bytes& f) { return changed(f, 2, 0x01); }, 26,
          hex("0148") + be(0, 4) + be(0, 4) + be(2, 4) + be(0, 4)),
      forged_immediate(
          "Immediate_0_2_06_on_QN_1", 0x06, Cause::kRdmapOpcode,
          [](const Bytes&) { return fpdu(untagged(0x8, 1, 1) + be(1, 8)); }, 26,
          untagged(0x8, 1, 1)),
      forged_immediate(
          "Immediate_0_2_06_tagged", 0x06, Cause::kRdmapOpcode,
          [](const Bytes&) { return fpdu(tagged(0x8, 0, 0)); }, 14, tagged(0x8, 0, 0)),
      {"Immediate_1_2_02_no_receive",
       1,
       2,
       0x02,
       Cause::kDdpUntaggedNoBuffer,
       IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS,
       0,
       IBV_WC_SUCCESS,
       post_immediate,
       {},
       [](const Shared&) { return hex("001a") + untagged(0x8, 0, 2); }},
      // --- Flush
      flush("Flush_0_1_00_no_such_STag", 0x1, 0x00, Cause::kRdmapStag, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.open ^ 0x5a, kTarget, 64};
            }),
      flush("Flush_0_1_01_bounds", 0x1, 0x01, Cause::kRdmapBounds, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.open, kTarget + kTargetBytes - 99, 100};
            }),
      flush("Flush_0_1_01_empty_range_outside", 0x1, 0x01, Cause::kRdmapBounds, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.open, kTarget + kTargetBytes + 1, 0};
            }),
      flush("Flush_0_1_02_no_right_to_persistence", 0x1, 0x02, Cause::kRdmapRights,
            IBV_FLUSH_PERSISTENT,
            [](const Shared& s) {
              return Range{s.open, kTarget, 64};
            }),
      flush("Flush_0_1_02_one_right_of_two", 0x1, 0x02, Cause::kRdmapRights,
            IBV_FLUSH_PERSISTENT | IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.open, kTarget, 64};
            }),
      flush("Flush_0_1_02_no_right", 0x1, 0x02, Cause::kRdmapRights, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.no_read, s.no_read_at, 0};
            }),
      flush("Flush_0_1_03_other_PD", 0x1, 0x03, Cause::kRdmapAssoc, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.foreign, s.foreign_at, 64};
            }),
      flush("Flush_0_1_04_wrap", 0x1, 0x04, Cause::kRdmapWrap, IBV_FLUSH_GLOBAL,
            [](const Shared& s) {
              return Range{s.open, UINT64_MAX - 10, 64};
            }),
      forged_flush("Flush_0_2_07_no_flag",
                   [](const Bytes& f) { return changed(f, 2 + 18 + 19, 0); }),
      forged_flush("Flush_0_2_07_unknown_flag",
                   [](const Bytes& f) { return changed(f, 2 + 18 + 16, 0x80); }),
      forged_flush("Flush_0_2_07_unknown_flag_beside_a_known_one",
                   [](const Bytes& f) { return changed(f, 2 + 18 + 19, 0x06); }),
      forged_flush(
          "Flush_0_2_07_too_short",
          [](const Bytes& f) { return fpdu(Bytes(f.begin() + 2, f.begin() + 2 + 37)); }, 37),
      forged_flush(
          "Flush_0_2_07_too_long",
          [](const Bytes& f) { return fpdu(Bytes(f.begin() + 2, f.begin() + 2 + 38) + Bytes{0}); },
          39),
      forged_flush(
          "Flush_0_2_07_STag_to_be_invalidated",
          [](const Bytes& f) { return changed(f, 2 + 5, 0x77); }, 38,
          hex("414c 00000077 00000001 00000001 00000000")),
      {"Flush_0_2_06_not_enabled", 0, 2, 0x06, Cause::kRdmapOpcode, IBV_EVENT_QP_FATAL,
       IBV_WC_WR_FLUSH_ERR, 3, IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.read(d.sge(0, 8), s.open, kTarget);
       },
       [](const Bytes&) {
         return fpdu(untagged(0xc, 1, 1) + flush_request(0x1234, 64, kTarget, 2));
       },
       [](const Shared&) { return hex("0026") + untagged(0xc, 1, 1); }},
      {"Flush_0_2_06_not_enabled_and_of_wrong_length", 0, 2, 0x06, Cause::kRdmapOpcode,
       IBV_EVENT_QP_FATAL, IBV_WC_WR_FLUSH_ERR, 3, IBV_WC_WR_FLUSH_ERR,
       [](Endpoint& e, const Region& d, const Shared& s) {
         return e.read(d.sge(0, 8), s.open, kTarget);
       },
       [](const Bytes&) { return fpdu(untagged(0xc, 1, 1) + be(0, 8)); },
       [](const Shared&) { return hex("001a") + untagged(0xc, 1, 1); }},
      {"Untagged_1_2_01_QN_3_not_enabled", 1, 2, 0x01, Cause::kDdpUntaggedQn, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes&) { return fpdu(untagged(0xd, 3, 1)); },
       [](const Shared&) { return hex("0012") + untagged(0xd, 3, 1); }},
      {"Flush_Response_0_2_06_to_no_request", 0, 2, 0x06, Cause::kRdmapOpcode, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes&) { return fpdu(untagged(0xd, 3, 1)); },
       [](const Shared&) { return hex("0012") + untagged(0xd, 3, 1); }, true},
      {"Flush_Response_0_2_07_with_payload", 0, 2, 0x07, Cause::kRdmapLength, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes&) { return fpdu(untagged(0xd, 3, 1) + be(0, 4)); },
       [](const Shared&) { return hex("0016") + untagged(0xd, 3, 1); }, true},
      {"Flush_Response_1_2_03_MSN", 1, 2, 0x03, Cause::kDdpUntaggedMsn, IBV_EVENT_QP_FATAL,
       IBV_WC_SUCCESS, 3, IBV_WC_WR_FLUSH_ERR, send(20),
       [](const Bytes&) { return fpdu(untagged(0xd, 3, 2)); },
       [](const Shared&) { return hex("0012") + untagged(0xd, 3, 2); }, true},
      {"Crc_2_0_02", 2, 0, 0x02, Cause::kMpaCrc, IBV_EVENT_QP_FATAL, IBV_WC_SUCCESS, 3,
       IBV_WC_WR_FLUSH_ERR, send(20),
       [](Bytes f) {
         f[30] ^= 0x10;
         return f;
       },
       nothing},
  };
}

struct Param {
  Case what;
  Kinds kind;
};
std::vector<Param> params() {
  std::vector<Param> all;
  std::vector<Case> whats = cases();
  std::ranges::copy(word_cases(), std::back_inserter(whats));
  for (const Case& c : whats) {
    for (const Kinds& kind : {kModel, kTandem, kModelMinimum, kTandemMinimum, kTandemStall,
                              Kinds{"model", "rtl"}, Kinds{"rtl", "model"}})
      all.push_back({c, kind});
  }
  return all;
}

class TerminateTest : public testing::TestWithParam<Param> {
 protected:
  void run();
  void client(Host& h);
  void server(Host& h);
  Shared shared;
  bool forging = false;
  Bytes the_terminate;  // as the client's device received it
};

TEST_P(TerminateTest, IsSentOnceAndBothSidesKnow) {
  in_child([this] { run(); });
}

void TerminateTest::run() {
  const Case& c = GetParam().what;
  World w({.kind = GetParam().kind});
  if (c.forge) {
    w.tap(kClient).on_tx = [&](sim::Record& r) {
      if (!std::exchange(forging, false)) return true;
      const auto b = r.data.bytes();
      r.data = Payload::copy_of(c.forge({b.begin(), b.end()}));
      return true;
    };
  }
  w.tap(kServer).on_tx = [&](sim::Record& r) {  // drops the server's request
    const auto b = r.data.bytes();
    const uint8_t opcode = opcode_of({b.begin(), b.end()});
    return r.is_stream || (opcode != 0x1 && opcode != 0xa && opcode != 0x10);
  };
  w.run([&](Host& h) { client(h); }, [&](Host& h) { server(h); });
  if (HasFailure()) return;

  // The wire. R5040-5.4-01 to 03, 09; 6.2.1-05: the Terminate is the last FPDU, a FIN follows.
  const Bytes shown = c.headers(shared);
  const bool is_read = shown.size() > 3 && (shown[2] & 0x80) == 0 && (shown[3] & 0x0f) == 0x1;
  // M (0x80): a length; D (0x40): the DDP header; R (0x20): the RDMAP header, of a Read Request.
  const uint8_t bits = shown.empty() ? 0x00 : c.layer == 0 && c.type == 1 && is_read ? 0xe0 : 0xc0;
  const Bytes want = fpdu(untagged(0x7, 2, 1) +
                          Bytes{static_cast<uint8_t>(c.layer << 4 | c.type), c.code, bits, 0x00} +
                          c.headers(shared));
  EXPECT_EQ(the_terminate, want);
}

void TerminateTest::client(Host& h) {
  const Case& c = GetParam().what;
  h.open();
  Region data = h.region(256);
  Region sink = h.region(4096);
  fill(data.buffer.bytes(), 1);
  shared.sink = data.mr.rkey();
  shared.sink_at = data.mr.addr();
  Endpoint& e = h.endpoint();
  Endpoint& neighbour = h.endpoint();
  h.connect(e, {.flush = c.flush});
  h.connect(neighbour, {.flush = c.flush});
  h.until("the server's receives", [&] { return shared.ready; });
  const uint64_t greeting = e.send(data.sge(0, 16));
  h.until("the server's work", [&] { return shared.greeted; });
  EXPECT_EQ(e.wc(greeting).status, IBV_WC_SUCCESS);

  forging = c.forge != nullptr;
  const uint64_t offender = c.offend(e, data, shared);
  const uint64_t read = e.read(sink.sge(0, 64), shared.open, kTarget);
  uint64_t behind = 0;
  if (!c.is_passed) behind = e.send(data.sge(0, 8));
  const uint64_t receive = e.receive(sink.sge(1024, 64));

  // R5040-5.4-06: the event reports the peer's Terminate with layer, type and code.
  const AsyncEvent event = h.event();
  EXPECT_EQ(event.type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(event.object, e.qp.qp_num());
  EXPECT_EQ(event.cause, static_cast<uint32_t>(Cause::kPeerTerminate));
  EXPECT_EQ(event.peer_term, c.layer << 12 | c.type << 8 | c.code);
  if (c.is_passed) behind = e.send(data.sge(0, 8));
  h.until_complete(e, "the client's completions");
  EXPECT_EQ(e.wc(offender).status, c.offender);
  EXPECT_EQ(e.wc(read).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(e.wc(behind).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(e.wc(receive).status, IBV_WC_WR_FLUSH_ERR);

  // In the error state, posts are accepted and flushed.
  const uint64_t late = e.send(data.sge(0, 8));
  const uint64_t late_receive = e.receive(sink.sge(1024, 64));
  h.until_complete(e, "flush of what is posted in error");
  EXPECT_EQ(e.wc(late).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(e.wc(late_receive).status, IBV_WC_WR_FLUSH_ERR);
  const QpInfo info = must(e.qp.query(), "query");
  EXPECT_EQ(info.state, IBV_QPS_ERR);
  EXPECT_TRUE(info.drained && info.has_peer_term);
  EXPECT_TRUE(h.quiet());

  // R5040-5.4-09 from this side: no Terminate answers a Terminate.
  for (const Bytes& f : h.world.tap(kClient).fpdus(e.number())) EXPECT_NE(opcode_of(f), 0x7);
  for (const auto& s : h.world.tap(kClient).taken) {
    const auto b = s.record.data.bytes();
    if (s.record.is_stream || s.record.connection != e.number()) continue;
    EXPECT_TRUE(the_terminate.empty()) << "something came after the Terminate";
    the_terminate.assign(b.begin(), b.end());
  }

  const uint64_t other = neighbour.send(data.sge(32, 40));
  h.until_complete(neighbour, "the neighbour's Send");
  EXPECT_EQ(neighbour.wc(other).status, IBV_WC_SUCCESS);
  shared.client_done = true;
  h.until("the server's end", [&] { return shared.server_done; });
  must(neighbour.connection.disconnect(), "disconnect");
  must(e.qp.destroy(), "destroy");
}

void TerminateTest::server(Host& h) {
  const Case& c = GetParam().what;
  h.open();
  Region open = h.region(kTargetBytes,
                         Host::kAll | IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_REMOTE_ATOMIC, kTarget);
  fill(open.buffer.bytes(), 2);
  Pd other = must(h.context.alloc_pd(), "second protection domain");
  Region foreign = h.region_of(other, 4096);
  Region no_read = h.region(4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  Region no_write =
      h.region(4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  Region landing = h.region(8192);
  shared.open = open.mr.rkey();
  shared.foreign = foreign.mr.rkey();
  shared.foreign_at = foreign.mr.addr();
  shared.no_read = no_read.mr.rkey();
  shared.no_read_at = no_read.mr.addr();
  shared.no_write = no_write.mr.rkey();
  shared.no_write_at = no_write.mr.addr();
  Endpoint& e = h.endpoint();
  Endpoint& neighbour = h.endpoint();
  const uint64_t greeting = e.receive(landing.sge(0, kShort));
  std::vector<uint64_t> receives;
  for (unsigned i = 0; i < c.receives; ++i)
    receives.push_back(e.receive(landing.sge(64 * (i + 1), kShort)));
  const uint64_t other_receive = neighbour.receive(landing.sge(4096, 64));
  h.accept(e, {.flush = c.flush});
  h.accept(neighbour, {.flush = c.flush});
  shared.ready = true;
  h.until("the greeting", [&] { return e.completed(greeting); });
  EXPECT_EQ(e.wc(greeting).byte_len, 16u);
  EXPECT_EQ(wrong({landing.at(0), 16}, 1), 0u);
  // A request that the tap drops.
  const uint64_t read = c.own ? c.own(e, landing, shared)
                              : e.read(landing.sge(2048, 64), shared.sink, shared.sink_at);
  shared.greeted = true;

  const AsyncEvent event = h.event();
  EXPECT_EQ(event.type, c.event);
  EXPECT_EQ(event.object, e.qp.qp_num());
  EXPECT_EQ(event.cause, static_cast<uint32_t>(c.cause));
  EXPECT_EQ(event.peer_term, 0);
  h.until_complete(e, "the server's completions");
  EXPECT_EQ(e.wc(read).status, IBV_WC_WR_FLUSH_ERR);
  for (size_t i = 0; i < receives.size(); ++i) {
    EXPECT_EQ(e.wc(receives[i]).status, i == 0 ? c.first_receive : IBV_WC_WR_FLUSH_ERR) << i;
  }
  const uint64_t late = e.receive(landing.sge(0, kShort));
  const uint64_t late_send = e.send(landing.sge(0, 8));
  h.until_complete(e, "flush of what is posted in error");
  EXPECT_EQ(e.wc(late).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(e.wc(late_send).status, IBV_WC_WR_FLUSH_ERR);
  const QpInfo info = must(e.qp.query(), "query");
  EXPECT_EQ(info.state, IBV_QPS_ERR);
  EXPECT_TRUE(info.drained && !info.has_peer_term);

  // No byte of the bad message was placed, in bounds or out of bounds. R5040-8.1.1-01, 03, 05.
  EXPECT_EQ(wrong(open.buffer.bytes(), 2), 0u);
  for (const Region* r : {&foreign, &no_read, &no_write}) {
    for (const uint8_t b : r->buffer.bytes()) ASSERT_EQ(b, 0);
  }
  for (const uint8_t b : landing.buffer.bytes().subspan(64, 4000)) ASSERT_EQ(b, 0);

  h.until("the neighbour's Send", [&] { return neighbour.completed(other_receive); });
  EXPECT_EQ(neighbour.wc(other_receive).status, IBV_WC_SUCCESS);
  EXPECT_EQ(wrong({landing.at(4096), 40}, 1, 32), 0u);
  EXPECT_TRUE(h.quiet());

  const Tap& tap = h.world.tap(kServer);
  const auto fpdus = tap.fpdus(e.number());
  ASSERT_FALSE(fpdus.empty());
  EXPECT_EQ(opcode_of(fpdus.back()), 0x7);
  bool fin = false;
  for (const auto& a : tap.asked) {
    if (a.req.connection != e.number()) continue;
    EXPECT_NE(a.req.op, spec::LlpOp::kAbort) << "R5040-6.2.1-05";
    fin = fin || a.req.op == spec::LlpOp::kHalfClose;
  }
  EXPECT_TRUE(fin);
  shared.server_done = true;
  h.until("the client's end", [&] { return shared.client_done; });
  must(neighbour.connection.wait_disconnected(h.dev.now() + 2 * kMs), "the neighbour's end");
  must(neighbour.connection.disconnect(), "disconnect");
  must(e.qp.destroy(), "destroy");
}

INSTANTIATE_TEST_SUITE_P(Errors, TerminateTest, testing::ValuesIn(params()), [](const auto& info) {
  return std::string(info.param.what.name) + "_" + name_of(info.param.kind);
});

}  // namespace
}  // namespace rnic::tb
