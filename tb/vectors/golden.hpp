// The golden FPDUs of requirements.md section 12, markers off, CRC on: length, ULPDU, pad, CRC32c,
// in the order of the wire.
//
//   for (const golden::Fpdu& g : golden::kAll) put(hex(g.bytes));
#pragma once

#include <string_view>

namespace rnic::tb::golden {

struct Fpdu {
  std::string_view name, bytes;  // hexadecimal, spaces between words
};

inline constexpr Fpdu kWrite{"write",
                             "0013c140 11223344 01020304 05060708 68656c6c 6f000000 1fb1004d"};
inline constexpr Fpdu kReadRequest{
    "read_request",
    "002e4141 00000000 00000001 00000001 00000000 aabbccdd 00000000 00001000 00001000 11223344 "
    "00000000 00002000 3fdc639c"};
inline constexpr Fpdu kSend{"send",
                            "00154143 00000000 00000000 00000001 00000000 61626300 447065aa"};
inline constexpr Fpdu kSendInvalidate{
    "send_invalidate", "00154144 11223344 00000000 00000002 00000000 61626300 5e6ee901"};
inline constexpr Fpdu kTerminate{
    "terminate",
    "00464147 00000000 00000002 00000001 00000000 0101e000 002e4141 00000000 00000001 00000001 "
    "00000000 aabbccdd 00000000 00001000 00001000 11223344 00000000 00002000 40f7c6bc"};
inline constexpr Fpdu kImmediate{
    "immediate", "001a4148 00000000 00000000 00000003 00000000 00010203 04050607 761129a8"};
inline constexpr Fpdu kAtomicRequest{
    "atomic_request",
    "0046414a 00000000 00000001 00000002 00000000 00000000 00000007 11223344 00000000 00002000 "
    "00000000 00000001 00000000 00000000 00000000 00000000 ffffffff ffffffff ff49fdc8"};
inline constexpr Fpdu kAtomicResponse{
    "atomic_response",
    "001e414b 00000000 00000003 00000001 00000000 00000007 00000000 00000029 b9ebafe8"};
inline constexpr Fpdu kFlushRequest{
    "flush_request",
    "0026414c 00000000 00000001 00000003 00000000 11223344 00001000 00000000 00002000 00000003 "
    "40d568a0"};
inline constexpr Fpdu kFlushResponse{"flush_response",
                                     "0012414d 00000000 00000003 00000002 00000000 ac773ca4"};
inline constexpr Fpdu kVerifyRequest{
    "verify_request",
    "0022414e 00000000 00000001 00000004 00000000 11223344 00001000 00000000 00002000 2422cd3d"};
inline constexpr Fpdu kAtomicWriteRequest{
    "atomic_write_request",
    "002a4150 00000000 00000001 00000005 00000000 11223344 00000008 00000000 00003000 "
    "01020304 05060708 df054c24"};
inline constexpr Fpdu kAtomicWriteResponse{"atomic_write_response",
                                           "00124151 00000000 00000003 00000004 00000000 1676ca56"};

inline constexpr Fpdu kAll[] = {kWrite,
                                kReadRequest,
                                kSend,
                                kSendInvalidate,
                                kTerminate,
                                kImmediate,
                                kAtomicRequest,
                                kAtomicResponse,
                                kFlushRequest,
                                kFlushResponse,
                                kVerifyRequest,
                                kAtomicWriteRequest,
                                kAtomicWriteResponse};

}  // namespace rnic::tb::golden
