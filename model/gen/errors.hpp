// Printed by specgen from docs/spec; do not edit.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/bits.hpp"

namespace rnic::spec {

/// Status of a completion entry; values are verbs'.
/// rdma-core libibverbs/verbs.h enum ibv_wc_status
enum class WcStatus : uint8_t {
  kSuccess = 0x0,  // Done.
  kLocLenErr = 0x1,  // A message longer than the receive buffer.
  kLocQpOpErr = 0x2,  // The WQE is malformed.
  kLocProtErr = 0x4,  // A local key does not allow this access.
  kWrFlushErr = 0x5,  // Flushed: the QP is in error. One entry stands for every WQE up to its index.
  kMwBindErr = 0x6,  // A fast registration, a bind, or an invalidation of a region with memory windows was refused.
  kRemInvReqErr = 0x9,  // The peer's Terminate names this request: invalid request.
  kRemAccessErr = 0xa,  // The peer's Terminate names this request: access.
  kRemOpErr = 0xb,  // The peer's Terminate names this request: operation failed.
  kFatalErr = 0x13,  // A DMA read of payload came back in error.
};
inline constexpr std::array<WcStatus, 10> kAllWcStatus = {{
    WcStatus::kSuccess, WcStatus::kLocLenErr, WcStatus::kLocQpOpErr, WcStatus::kLocProtErr,
    WcStatus::kWrFlushErr, WcStatus::kMwBindErr, WcStatus::kRemInvReqErr, WcStatus::kRemAccessErr,
    WcStatus::kRemOpErr, WcStatus::kFatalErr}};
constexpr std::string_view to_string(WcStatus v) {
  switch (v) {
    case WcStatus::kSuccess: return "success";
    case WcStatus::kLocLenErr: return "loc_len_err";
    case WcStatus::kLocQpOpErr: return "loc_qp_op_err";
    case WcStatus::kLocProtErr: return "loc_prot_err";
    case WcStatus::kWrFlushErr: return "wr_flush_err";
    case WcStatus::kMwBindErr: return "mw_bind_err";
    case WcStatus::kRemInvReqErr: return "rem_inv_req_err";
    case WcStatus::kRemAccessErr: return "rem_access_err";
    case WcStatus::kRemOpErr: return "rem_op_err";
    case WcStatus::kFatalErr: return "fatal_err";
  }
  return "unknown";
}

/// Answer to an admin command. A command that fails (neither ok nor in_progress) has changed no
/// object. A failed create_mr may make another create_mr, in progress, begin anew.
/// architecture 4 (Admin)
enum class AdminStatus : uint8_t {
  kOk = 0x0,  // Done.
  kBadOpcode = 0x1,  // No such command, or a reserved flag is set.
  kBadObject = 0x2,  // Object number out of range.
  kBadArgument = 0x3,  // An argument is out of range, misaligned, or contradicts another.
  kExists = 0x4,  // Create of an object that exists.
  kNotFound = 0x5,  // The object does not exist.
  kInUse = 0x6,  // The object is still used by another, or is not drained; or another region, a create_mr in progress, or a QP has some of these page-list entries, IRD slots or ORD slots.
  kBadState = 0x7,  // The object's state does not allow this.
  kNoResource = 0x8,  // A table is full.
  kDmaError = 0x9,  // Memory that the command names could not be read.
  kNoCredit = 0xa,  // The LLP has no credit for these streaming bytes now. Ask again: the peer's window may open.
  kInProgress = 0xb,  // The command needs longer than other users should wait: traffic in flight, a long page list, the end of a QP. Give it again until the answer is another.
};
inline constexpr std::array<AdminStatus, 12> kAllAdminStatus = {{
    AdminStatus::kOk, AdminStatus::kBadOpcode, AdminStatus::kBadObject, AdminStatus::kBadArgument,
    AdminStatus::kExists, AdminStatus::kNotFound, AdminStatus::kInUse, AdminStatus::kBadState,
    AdminStatus::kNoResource, AdminStatus::kDmaError, AdminStatus::kNoCredit, AdminStatus::kInProgress}};
constexpr std::string_view to_string(AdminStatus v) {
  switch (v) {
    case AdminStatus::kOk: return "ok";
    case AdminStatus::kBadOpcode: return "bad_opcode";
    case AdminStatus::kBadObject: return "bad_object";
    case AdminStatus::kBadArgument: return "bad_argument";
    case AdminStatus::kExists: return "exists";
    case AdminStatus::kNotFound: return "not_found";
    case AdminStatus::kInUse: return "in_use";
    case AdminStatus::kBadState: return "bad_state";
    case AdminStatus::kNoResource: return "no_resource";
    case AdminStatus::kDmaError: return "dma_error";
    case AdminStatus::kNoCredit: return "no_credit";
    case AdminStatus::kInProgress: return "in_progress";
  }
  return "unknown";
}

/// Why something failed; travels with what failed.
/// docs/spec/errors.yaml, causes
enum class Cause : uint8_t {
  kNone = 0x0,  // No error.
  kMpaCrc = 0x1,  // CRC of an FPDU is wrong.
  kMpaMarker = 0x2,  // Marker and ULPDU length do not match, or the record is not as long as its length field says.
  kLlpLost = 0x3,  // LLP connection reset, failed or closed inside a message.
  kDdpTaggedStag = 0x8,  // Tagged: STag invalid, or without the right to be written.
  kDdpTaggedBounds = 0x9,  // Tagged: base or bounds violation.
  kDdpTaggedAssoc = 0xa,  // Tagged: STag of another PD or stream.
  kDdpTaggedWrap = 0xb,  // Tagged: TO plus length wraps.
  kDdpTaggedVersion = 0xc,  // Tagged: DDP version is not 01b.
  kDdpUntaggedQn = 0x10,  // Untagged: QN not in use.
  kDdpUntaggedNoBuffer = 0x11,  // Untagged: no receive buffer, or IRD exceeded.
  kDdpUntaggedMsn = 0x12,  // Untagged: MSN is not the next.
  kDdpUntaggedMo = 0x13,  // Untagged: MO is not the next byte.
  kDdpUntaggedTooLong = 0x14,  // Untagged: message longer than the buffer.
  kDdpUntaggedVersion = 0x15,  // Untagged: DDP version is not 01b.
  kRdmapStag = 0x20,  // Read: source STag invalid.
  kRdmapBounds = 0x21,  // Read: source outside the buffer.
  kRdmapRights = 0x22,  // Read: no remote read right.
  kRdmapAssoc = 0x23,  // Read: source STag of another PD or stream.
  kRdmapWrap = 0x24,  // Read: source TO plus size wraps.
  kRdmapInvProtected = 0x25,  // Send with Invalidate: STag of another PD or stream, or without the right to be invalidated.
  kRdmapVersion = 0x28,  // RDMAP version is not 01b.
  kRdmapOpcode = 0x29,  // Opcode unknown, not enabled, or T and QN do not fit it; a response that fits no request.
  kRdmapLength = 0x2a,  // A message of fixed size has another length; a Read source or the word of an atomic cannot be read; the target of an atomic or Atomic Write is not aligned.
  kFlushFailed = 0x2b,  // Flush: the read-back of its range failed.
  kRdmapInvStag = 0x2c,  // Send with Invalidate: STag unknown, already invalid, or shared by streams.
  kLocalCatastrophic = 0x30,  // Something on this side failed: a local key, a DMA read that came back poisoned, a CQ overrun.
  kPeerTerminate = 0x31,  // The peer sent a Terminate; none is sent back.
};
inline constexpr std::array<Cause, 28> kAllCause = {{
    Cause::kNone, Cause::kMpaCrc, Cause::kMpaMarker, Cause::kLlpLost,
    Cause::kDdpTaggedStag, Cause::kDdpTaggedBounds, Cause::kDdpTaggedAssoc, Cause::kDdpTaggedWrap,
    Cause::kDdpTaggedVersion, Cause::kDdpUntaggedQn, Cause::kDdpUntaggedNoBuffer, Cause::kDdpUntaggedMsn,
    Cause::kDdpUntaggedMo, Cause::kDdpUntaggedTooLong, Cause::kDdpUntaggedVersion, Cause::kRdmapStag,
    Cause::kRdmapBounds, Cause::kRdmapRights, Cause::kRdmapAssoc, Cause::kRdmapWrap,
    Cause::kRdmapInvProtected, Cause::kRdmapVersion, Cause::kRdmapOpcode, Cause::kRdmapLength,
    Cause::kFlushFailed, Cause::kRdmapInvStag, Cause::kLocalCatastrophic, Cause::kPeerTerminate}};
constexpr std::string_view to_string(Cause v) {
  switch (v) {
    case Cause::kNone: return "none";
    case Cause::kMpaCrc: return "mpa_crc";
    case Cause::kMpaMarker: return "mpa_marker";
    case Cause::kLlpLost: return "llp_lost";
    case Cause::kDdpTaggedStag: return "ddp_tagged_stag";
    case Cause::kDdpTaggedBounds: return "ddp_tagged_bounds";
    case Cause::kDdpTaggedAssoc: return "ddp_tagged_assoc";
    case Cause::kDdpTaggedWrap: return "ddp_tagged_wrap";
    case Cause::kDdpTaggedVersion: return "ddp_tagged_version";
    case Cause::kDdpUntaggedQn: return "ddp_untagged_qn";
    case Cause::kDdpUntaggedNoBuffer: return "ddp_untagged_no_buffer";
    case Cause::kDdpUntaggedMsn: return "ddp_untagged_msn";
    case Cause::kDdpUntaggedMo: return "ddp_untagged_mo";
    case Cause::kDdpUntaggedTooLong: return "ddp_untagged_too_long";
    case Cause::kDdpUntaggedVersion: return "ddp_untagged_version";
    case Cause::kRdmapStag: return "rdmap_stag";
    case Cause::kRdmapBounds: return "rdmap_bounds";
    case Cause::kRdmapRights: return "rdmap_rights";
    case Cause::kRdmapAssoc: return "rdmap_assoc";
    case Cause::kRdmapWrap: return "rdmap_wrap";
    case Cause::kRdmapInvProtected: return "rdmap_inv_protected";
    case Cause::kRdmapVersion: return "rdmap_version";
    case Cause::kRdmapOpcode: return "rdmap_opcode";
    case Cause::kRdmapLength: return "rdmap_length";
    case Cause::kFlushFailed: return "flush_failed";
    case Cause::kRdmapInvStag: return "rdmap_inv_stag";
    case Cause::kLocalCatastrophic: return "local_catastrophic";
    case Cause::kPeerTerminate: return "peer_terminate";
  }
  return "unknown";
}

/// What a cause leads to: the Terminate, and what is seen of it.
struct CauseRow {
  Cause cause;
  std::string_view name;
  uint8_t layer, etype, code;
  bool ddp_header, rdma_header;  // the Terminate carries these headers of the offending segment
  std::string_view doc, detects, peer_sees, user_sees, ref;
};
inline constexpr std::array<CauseRow, 28> kCauses = {{
    {Cause::kNone, "none", 0, 0, 0x00, false, false,
     "No error.",
     "none", "nothing", "nothing",
     "architecture 4"},
    {Cause::kMpaCrc, "mpa_crc", 2, 0, 0x02, false, false,
     "CRC of an FPDU is wrong.",
     "mpa", "Terminate 2/0/02", "IBV_EVENT_QP_FATAL",
     "RFC 5044 section 8"},
    {Cause::kMpaMarker, "mpa_marker", 2, 0, 0x03, false, false,
     "Marker and ULPDU length do not match, or the record is not as long as its length field says.",
     "mpa", "Terminate 2/0/03", "IBV_EVENT_QP_FATAL",
     "RFC 5044 section 8"},
    {Cause::kLlpLost, "llp_lost", 2, 0, 0x01, false, false,
     "LLP connection reset, failed or closed inside a message.",
     "llp_if", "nothing (no transport left)", "IBV_EVENT_QP_FATAL",
     "RFC 5044 section 8"},
    {Cause::kDdpTaggedStag, "ddp_tagged_stag", 1, 1, 0x00, true, false,
     "Tagged: STag invalid, or without the right to be written.",
     "tpt", "Terminate 1/1/00", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5041 section 8.2 (A-15)"},
    {Cause::kDdpTaggedBounds, "ddp_tagged_bounds", 1, 1, 0x01, true, false,
     "Tagged: base or bounds violation.",
     "tpt", "Terminate 1/1/01", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5041 section 8.2"},
    {Cause::kDdpTaggedAssoc, "ddp_tagged_assoc", 1, 1, 0x02, true, false,
     "Tagged: STag of another PD or stream.",
     "tpt", "Terminate 1/1/02", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5041 section 8.2"},
    {Cause::kDdpTaggedWrap, "ddp_tagged_wrap", 1, 1, 0x03, true, false,
     "Tagged: TO plus length wraps.",
     "tpt", "Terminate 1/1/03", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5041 section 8.2"},
    {Cause::kDdpTaggedVersion, "ddp_tagged_version", 1, 1, 0x04, true, false,
     "Tagged: DDP version is not 01b.",
     "ddp", "Terminate 1/1/04", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2"},
    {Cause::kDdpUntaggedQn, "ddp_untagged_qn", 1, 2, 0x01, true, false,
     "Untagged: QN not in use.",
     "ddp", "Terminate 1/2/01", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2"},
    {Cause::kDdpUntaggedNoBuffer, "ddp_untagged_no_buffer", 1, 2, 0x02, true, false,
     "Untagged: no receive buffer, or IRD exceeded.",
     "ddp, rdmap", "Terminate 1/2/02", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2 (A-18)"},
    {Cause::kDdpUntaggedMsn, "ddp_untagged_msn", 1, 2, 0x03, true, false,
     "Untagged: MSN is not the next.",
     "ddp", "Terminate 1/2/03", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2"},
    {Cause::kDdpUntaggedMo, "ddp_untagged_mo", 1, 2, 0x04, true, false,
     "Untagged: MO is not the next byte.",
     "ddp", "Terminate 1/2/04", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2"},
    {Cause::kDdpUntaggedTooLong, "ddp_untagged_too_long", 1, 2, 0x05, true, false,
     "Untagged: message longer than the buffer.",
     "ddp", "Terminate 1/2/05", "IBV_WC_LOC_LEN_ERR on the receive",
     "RFC 5041 section 8.2"},
    {Cause::kDdpUntaggedVersion, "ddp_untagged_version", 1, 2, 0x06, true, false,
     "Untagged: DDP version is not 01b.",
     "ddp", "Terminate 1/2/06", "IBV_EVENT_QP_FATAL",
     "RFC 5041 section 8.2"},
    {Cause::kRdmapStag, "rdmap_stag", 0, 1, 0x00, true, true,
     "Read: source STag invalid.",
     "tpt", "Terminate 0/1/00", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapBounds, "rdmap_bounds", 0, 1, 0x01, true, true,
     "Read: source outside the buffer.",
     "tpt", "Terminate 0/1/01", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapRights, "rdmap_rights", 0, 1, 0x02, true, true,
     "Read: no remote read right.",
     "tpt", "Terminate 0/1/02", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapAssoc, "rdmap_assoc", 0, 1, 0x03, true, true,
     "Read: source STag of another PD or stream.",
     "tpt", "Terminate 0/1/03", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapWrap, "rdmap_wrap", 0, 1, 0x04, true, true,
     "Read: source TO plus size wraps.",
     "tpt", "Terminate 0/1/04", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapInvProtected, "rdmap_inv_protected", 0, 1, 0x09, true, false,
     "Send with Invalidate: STag of another PD or stream, or without the right to be invalidated.",
     "tpt", "Terminate 0/1/09", "IBV_EVENT_QP_ACCESS_ERR",
     "RFC 5040 section 7.2 (A-14)"},
    {Cause::kRdmapVersion, "rdmap_version", 0, 2, 0x05, true, false,
     "RDMAP version is not 01b.",
     "rdmap", "Terminate 0/2/05", "IBV_EVENT_QP_FATAL",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapOpcode, "rdmap_opcode", 0, 2, 0x06, true, false,
     "Opcode unknown, not enabled, or T and QN do not fit it; a response that fits no request.",
     "rdmap", "Terminate 0/2/06", "IBV_EVENT_QP_FATAL",
     "RFC 5040 section 4.8"},
    {Cause::kRdmapLength, "rdmap_length", 0, 2, 0x07, true, false,
     "A message of fixed size has another length; a Read source or the word of an atomic cannot be read; the target of an atomic or Atomic Write is not aligned.",
     "rdmap, host_if, atomic", "Terminate 0/2/07", "IBV_EVENT_QP_FATAL",
     "RFC 5040 section 4.8 (A-09)"},
    {Cause::kFlushFailed, "flush_failed", 0, 2, 0x0a, true, false,
     "Flush: the read-back of its range failed.",
     "host_if", "Terminate 0/2/0A", "IBV_EVENT_QP_FATAL",
     "draft-talpey-rdma-commit-01 section 5.1 (A-11)"},
    {Cause::kRdmapInvStag, "rdmap_inv_stag", 0, 2, 0x09, true, false,
     "Send with Invalidate: STag unknown, already invalid, or shared by streams.",
     "tpt", "Terminate 0/2/09", "IBV_EVENT_QP_FATAL",
     "RFC 5040 section 7.2 (A-14)"},
    {Cause::kLocalCatastrophic, "local_catastrophic", 0, 0, 0x00, false, false,
     "Something on this side failed: a local key, a DMA read that came back poisoned, a CQ overrun.",
     "qp, host_if, cq", "Terminate 0/0/00", "the work request's error status, or IBV_EVENT_QP_FATAL",
     "RFC 5040 section 4.8"},
    {Cause::kPeerTerminate, "peer_terminate", 0, 0, 0x00, false, false,
     "The peer sent a Terminate; none is sent back.",
     "rdmap", "nothing", "IBV_EVENT_QP_FATAL",
     "RFC 5040 section 5.4"},
}};

/// The row of a cause; of an unknown one, the first.
constexpr const CauseRow& cause_row(Cause cause) {
  for (const auto& row : kCauses)
    if (row.cause == cause) return row;
  return kCauses[0];
}

}  // namespace rnic::spec
