// Requests, responses and errors. Received segments: rdmap_rx.cpp.
#include "rdmap/rdmap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "gen/queues.hpp"

namespace rnic::model {

using spec::Cause;
using spec::RdmapOpcode;
using spec::TptResult;
using spec::TxSource;
using spec::WcStatus;

namespace {

/// The error of a request of the peer whose range fails tpt's check.
Cause source_cause(TptResult r) {
  switch (r) {
    case TptResult::kOk:
      return Cause::kNone;
    case TptResult::kStag:
      return Cause::kRdmapStag;
    case TptResult::kAssoc:
      return Cause::kRdmapAssoc;
    case TptResult::kRights:
      return Cause::kRdmapRights;
    case TptResult::kWrap:
      return Cause::kRdmapWrap;
    case TptResult::kBounds:
      return Cause::kRdmapBounds;
    case TptResult::kAlign:
      return Cause::kRdmapLength;
    case TptResult::kBind:  // of a request to our own table, which has no header to report
      return Cause::kNone;
  }
  return Cause::kNone;
}

}  // namespace

std::vector<uint8_t> terminate_bytes(Cause cause, std::span<const uint8_t> head,
                                     uint16_t ulpdu_length) {
  const spec::CauseRow& row = spec::cause_row(cause);
  const bool with_ddp = row.ddp_header && !head.empty();
  // Only a Read includes its Read Request header; the Terminate has no field for the headers of
  // other requests (RFC 7306 8.1, RPMEM-5.1-02).
  const bool is_read =
      !head.empty() && (head[1] & 0x0f) == static_cast<uint8_t>(RdmapOpcode::kReadRequest);
  const bool with_rdma = with_ddp && row.rdma_header && is_read;
  std::vector<uint8_t> out(spec::TerminateCtrl::kBytes);
  spec::TerminateCtrl{.layer = row.layer,
                      .etype = row.etype,
                      .code = row.code,
                      .has_length = with_ddp,
                      .has_ddp_header = with_ddp,
                      .has_rdma_header = with_rdma}
      .pack(out);
  if (!with_ddp) return out;
  out.resize(out.size() + 2);
  base::store_be<uint16_t>(&out[4], ulpdu_length);  // behind the 4 bytes of TerminateCtrl
  size_t bytes = (head[0] & 0x80) != 0 ? spec::kTaggedHeaderBytes : spec::kUntaggedHeaderBytes;
  if (with_rdma) bytes += spec::ReadRequest::kBytes;
  out.insert(out.end(), head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
  return out;
}

Rdmap::Rdmap(const spec::Sizes& sizes, const Translation& tpt, Out& out)
    : tpt_(tpt),
      out_(out),
      qps_(sizes.num_qps),
      ord_(sizes.ord_slots),
      ird_(sizes.ird_slots),
      responders_(sizes.num_qps) {}

void Rdmap::control(const spec::QpCtlRdmap& ctl) {
  Qp& q = qps_[ctl.qpn];
  if (ctl.op == spec::QpOp::kHalfClose) {
    const bool news = q.running && !q.failed && !q.closing;
    q.closing = true;
    out_.qp_ack_rdmap({ctl.qpn});
    if (news && q.closed()) tell_closed(ctl.qpn);
    return;
  }
  // rdmap handles items at once. RdmapUnit delays the acknowledgement for results of atomics.
  if (ctl.op == spec::QpOp::kSync) return out_.qp_ack_rdmap({ctl.qpn});
  q = {};
  if (ctl.op == spec::QpOp::kStart) {
    q.running = true;
    q.params = ctl.params;
  }
  update_responder(ctl.qpn);
  out_.qp_ack_rdmap({ctl.qpn});
}

/// Reports, once per QP, that the responder has no request left: qp may send the FIN.
void Rdmap::tell_closed(uint16_t qpn) { out_.qp_error({.qpn = qpn, .cause = Cause::kNone}); }

void Rdmap::update_responder(uint16_t qpn) {
  const Qp& q = qps_[qpn];
  const bool ready = q.running && !q.failed && !q.responding && q.ird_count != 0;
  const bool news = ready && !responders_.test(qpn);
  responders_.put(qpn, ready);
  if (news) out_.responder_ready(qpn);
}

// RFC 5040 section 3.2: maps each data transfer operation to DDP messages.
std::optional<TxMessage> Rdmap::request(Wqe wqe) {
  const spec::WqeHdr& w = wqe.hdr;
  Qp& q = qps_[w.qpn];
  if (!q.running || q.failed) return std::nullopt;
  if (w.opcode == spec::WrOpcode::kLocalInv) {
    out_.sq_local({.qpn = w.qpn, .slot = w.slot, .stag = w.remote_stag});
    return std::nullopt;
  }
  if (opens_key(w.opcode)) {
    spec::SqLocal change{.qpn = w.qpn,
                         .slot = w.slot,
                         .stag = w.remote_stag,
                         .is_reg = w.opcode == spec::WrOpcode::kRegMr,
                         .is_bind = w.opcode == spec::WrOpcode::kBindMw,
                         .pd = q.params.pd,
                         .base = w.remote_to};
    std::ranges::copy(wqe.body.bytes().first(change.operands.size()), change.operands.begin());
    out_.sq_local(change);
    return std::nullopt;
  }
  TxMessage m;
  m.hdr = {.qpn = w.qpn,
           .source = TxSource::kSq,
           .length = w.length,
           .is_inline = w.is_inline,
           .num_sge = w.num_sge,
           .done = 1,
           .slot = w.slot};
  switch (w.opcode) {
    case spec::WrOpcode::kRdmaRead:
    case spec::WrOpcode::kFlush:
    case spec::WrOpcode::kAtomicFetchAndAdd:
    case spec::WrOpcode::kAtomicCmpAndSwp:
    case spec::WrOpcode::kAtomicWrite:
      own_request(q, wqe, m);
      return m;
    default:
      break;
  }
  m.body = std::move(wqe.body);
  if (w.opcode == spec::WrOpcode::kRdmaWrite) {
    m.hdr.is_tagged = 1;
    m.hdr.opcode = RdmapOpcode::kRdmaWrite;
    m.hdr.stag = w.remote_stag;
    m.hdr.tagged_offset = w.remote_to;
  } else if (is_immediate(w.opcode)) {  // RFC 7306 section 6
    m.hdr.opcode = w.is_solicited != 0 ? RdmapOpcode::kImmediateSe : RdmapOpcode::kImmediate;
    m.hdr.qn = spec::kQnSend;
  } else if (w.opcode == spec::WrOpcode::kSendWithInv) {
    m.hdr.opcode = w.is_solicited != 0 ? RdmapOpcode::kSendSeInv : RdmapOpcode::kSendInv;
    m.hdr.qn = spec::kQnSend;
    m.hdr.stag = w.remote_stag;
  } else {
    m.hdr.opcode = w.is_solicited != 0 ? RdmapOpcode::kSendSe : RdmapOpcode::kSend;
    m.hdr.qn = spec::kQnSend;
  }
  return m;
}

/// A request on QN 1: rdmap generates its bytes, and it takes an ORD slot.
void Rdmap::own_request(Qp& q, const Wqe& wqe, TxMessage& m) {
  const spec::WqeHdr& w = wqe.hdr;
  RNIC_CHECK(q.ord_count < q.params.ord, "QP {} has {} requests outstanding of {}", w.qpn,
             q.ord_count, q.params.ord);
  Outstanding o{.msn = q.msn++, .slot = w.slot};
  const auto put = [&m](RdmapOpcode opcode, const auto& request) {
    m.hdr.opcode = opcode;
    m.body = rnic::Payload::make(static_cast<uint32_t>(request.kBytes));
    request.pack(m.body.writable());
  };
  switch (w.opcode) {
    case spec::WrOpcode::kFlush: {  // draft-talpey-rdma-commit-01 section 3.1.1.1
      o.kind = Kind::kFlush;
      // The wire's bits are in the opposite order of verbs' bits.
      const uint32_t visible = (w.disposition & 1) != 0 ? spec::kFlushVisible : 0;
      const uint32_t persistent = (w.disposition & 2) != 0 ? spec::kFlushPersistent : 0;
      put(RdmapOpcode::kFlushRequest, spec::FlushRequest{.sink_stag = w.remote_stag,
                                                         .length = w.length,
                                                         .sink_to = w.remote_to,
                                                         .flags = visible | persistent});
      break;
    }
    case spec::WrOpcode::kAtomicWrite:  // the draft's section 3.1.3.1; data is an integer
      o.kind = Kind::kAtomicWrite;
      put(RdmapOpcode::kAtomicWriteRequest,
          spec::AtomicWriteRequest{.sink_stag = w.remote_stag,
                                   .length = sizeof(uint64_t),
                                   .sink_to = w.remote_to,
                                   .data = base::load_le<uint64_t>(wqe.body.bytes().data())});
      break;
    case spec::WrOpcode::kAtomicFetchAndAdd:
    case spec::WrOpcode::
        kAtomicCmpAndSwp: {  // RFC 7306 section 5.2: the Request Identifier is the MSN
      const bool adds = w.opcode == spec::WrOpcode::kAtomicFetchAndAdd;
      const auto operands = spec::AtomicOperands::unpack(wqe.body.bytes());
      o.kind = Kind::kAtomic;
      o.sink_stag = operands.sink.lkey;
      o.sink_to = operands.sink.address;
      put(RdmapOpcode::kAtomicRequest,
          spec::AtomicRequest{.aopcode = adds ? spec::kAtomicFetchAdd : spec::kAtomicCmpSwap,
                              .request_id = o.msn,
                              .remote_stag = w.remote_stag,
                              .remote_to = w.remote_to,
                              .data = operands.data,
                              .mask = operands.mask,
                              .compare = adds ? 0 : operands.compare,
                              .compare_mask = adds ? ~uint64_t{0} : operands.compare_mask});
      break;
    }
    default: {
      const auto sink = w.num_sge != 0 ? spec::WqeSge::unpack(wqe.body.bytes()) : spec::WqeSge{};
      o.sink_stag = sink.lkey;
      o.sink_to = sink.address;
      o.length = w.length;
      put(RdmapOpcode::kReadRequest, spec::ReadRequest{.sink_stag = sink.lkey,
                                                       .sink_to = sink.address,
                                                       .read_size = w.length,
                                                       .source_stag = w.remote_stag,
                                                       .source_to = w.remote_to});
    }
  }
  ord(q, q.ord_count++) = o;
  m.hdr.qn = spec::kQnRequest;
  m.hdr.length = m.body.size();
  m.hdr.is_inline = 1;
  m.hdr.num_sge = 0;
  m.hdr.done = 0;
}

// RFC 5040 section 5.2.1, requirements.md section 7: a Read of size 0 is not checked. A Flush needs
// the right of each state that it requests, and no other right. It is checked also at length 0
//
TptResult Rdmap::check_range(uint16_t qpn, const Inbound& in) const {
  const Qp& q = qps_[qpn];
  if (in.kind == Kind::kFlush) {
    const uint32_t flags = in.flush.flags;
    const uint32_t rights =
        ((flags & spec::kFlushPersistent) != 0 ? spec::kAccessFlushPersistent : 0) |
        ((flags & spec::kFlushVisible) != 0 ? spec::kAccessFlushGlobal : 0);
    return tpt_.check({.stag = in.flush.sink_stag,
                       .tagged_offset = in.flush.sink_to,
                       .length = in.flush.length,
                       .pd = q.params.pd,
                       .qpn = qpn,
                       .rights = static_cast<uint16_t>(rights),
                       .last = 1});
  }
  if (in.read.read_size == 0) return TptResult::kOk;
  return tpt_.check({.stag = in.read.source_stag,
                     .tagged_offset = in.read.source_to,
                     .length = in.read.read_size,
                     .pd = q.params.pd,
                     .qpn = qpn,
                     .rights = spec::kAccessRemoteRead,
                     .last = 1});
}

// The range is checked when service begins.
std::optional<TxMessage> Rdmap::respond(uint16_t qpn) {
  Qp& q = qps_[qpn];
  if (!q.running || q.failed || q.responding || q.ird_count == 0) return std::nullopt;
  const Inbound& in = ird(q, 0);
  const spec::ReadRequest& r = in.read;
  if (const TptResult result = check_range(qpn, in); result != TptResult::kOk) {
    fail(qpn, {.cause = source_cause(result), .head = in.head, .ulpdu_length = in.ulpdu_length});
    return std::nullopt;
  }
  q.responding = true;
  update_responder(qpn);
  TxMessage m;
  m.body = rnic::Payload::make(spec::WqeSge::kBytes);
  if (in.kind == Kind::kFlush) {
    // Reads one byte of the range after the placements that the watermark counts: reads push
    // writes.
    m.hdr = {.qpn = qpn,
             .source = TxSource::kResp,
             .opcode = RdmapOpcode::kFlushResponse,
             .qn = spec::kQnResponse,
             .num_sge = in.flush.length != 0,
             .slot = q.ird_head,
             .has_watermark = 1,
             .watermark = in.watermark};
    spec::WqeSge{.address = in.flush.sink_to, .length = 1, .lkey = in.flush.sink_stag}.pack(
        m.body.writable());
    return m;
  }
  if (r.read_size != 0) ++q.unfetched;
  m.hdr = {.qpn = qpn,
           .source = TxSource::kResp,
           .is_tagged = 1,
           .opcode = RdmapOpcode::kReadResponse,
           .stag = r.sink_stag,
           .tagged_offset = r.sink_to,
           .length = r.read_size,
           .num_sge = 1,
           .slot = q.ird_head,
           .has_watermark = 1,
           .watermark = in.watermark};
  spec::WqeSge{.address = r.source_to, .length = r.read_size, .lkey = r.source_stag}.pack(
      m.body.writable());
  return m;
}

bool Rdmap::is_atomic(uint16_t qpn) const {
  const Qp& q = qps_[qpn];
  return q.ird_count != 0 &&
         (ird(q, 0).kind == Kind::kAtomic || ird(q, 0).kind == Kind::kAtomicWrite);
}

Rdmap::Turn Rdmap::begin_atomic(uint16_t qpn) {
  Qp& q = qps_[qpn];
  const Inbound& in = ird(q, 0);
  q.responding = true;
  update_responder(qpn);
  Turn t{.request = {.qpn = qpn, .pd = q.params.pd, .slot = q.ird_head}, .watermark = in.watermark};
  if (in.kind == Kind::kAtomicWrite) {  // needs the right to write
    t.request.op = spec::AtomicOp::kWrite;
    t.request.stag = in.write.sink_stag;
    t.request.tagged_offset = in.write.sink_to;
    t.request.right = spec::kAccessRemoteWrite;
    t.request.data = in.write.data;
    return t;
  }
  const spec::AtomicRequest& a = in.atomic;
  t.request_id = a.request_id;
  t.request.op =
      a.aopcode == spec::kAtomicFetchAdd ? spec::AtomicOp::kFetchAdd : spec::AtomicOp::kCmpSwap;
  t.request.stag = a.remote_stag;
  t.request.tagged_offset = a.remote_to;
  t.request.right = spec::kAccessRemoteAtomic;
  t.request.data = a.data;
  t.request.mask = a.mask;
  t.request.compare = a.compare;
  t.request.compare_mask = a.compare_mask;
  return t;
}

void Rdmap::resp_fetched(const spec::RespFetched& f) {
  if (qps_[f.qpn].unfetched != 0) --qps_[f.qpn].unfetched;
}

std::optional<TxMessage> Rdmap::atomic_rsp(const spec::AtomicRsp& rsp) {
  const Qp& q = qps_[rsp.qpn];
  if (!q.running || q.failed || rsp.ending == spec::AtomicEnd::kDropped) return std::nullopt;
  const Inbound& in = ird_[q.params.ird_base + rsp.slot];
  if (rsp.ending != spec::AtomicEnd::kDone) {
    const Cause cause =
        rsp.result != TptResult::kOk ? source_cause(rsp.result) : Cause::kRdmapLength;
    fail(rsp.qpn, {.cause = cause, .head = in.head, .ulpdu_length = in.ulpdu_length});
    return std::nullopt;
  }
  return atomic_message(rsp, in.atomic.request_id);
}

TxMessage Rdmap::atomic_message(const spec::AtomicRsp& rsp, uint32_t request_id) {
  TxMessage m;
  m.hdr = {.qpn = rsp.qpn,
           .source = TxSource::kResp,
           .opcode = RdmapOpcode::kAtomicWriteResponse,
           .qn = spec::kQnResponse,
           .slot = rsp.slot};
  if (rsp.op == spec::AtomicOp::kWrite) return m;
  m.hdr.opcode = RdmapOpcode::kAtomicResponse;
  m.hdr.length = spec::AtomicResponse::kBytes;
  m.hdr.is_inline = 1;
  m.body = rnic::Payload::make(spec::AtomicResponse::kBytes);
  spec::AtomicResponse{.request_id = request_id, .value = rsp.value}.pack(m.body.writable());
  return m;
}

void Rdmap::resp_slot_free(const spec::RespSlotFree& free) {
  Qp& q = qps_[free.qpn];
  if (!q.running) return;
  RNIC_CHECK(q.responding, "QP {} has no response in ddp, and its slot is given back", free.qpn);
  q.responding = false;
  q.ird_head = static_cast<uint8_t>((q.ird_head + 1) % q.params.ird);
  --q.ird_count;
  update_responder(free.qpn);
  if (q.closed() && !q.failed) tell_closed(free.qpn);
}

void Rdmap::qp_fault(const spec::QpFault& fault) {
  fail(fault.qpn, {.cause = fault.cause, .head = {}});
}

void Rdmap::tx_fault(const spec::TxFault& f) {
  Qp& q = qps_[f.qpn];
  if (!q.running || q.failed) return;
  if (f.source == TxSource::kSq) {
    const auto status = f.result == TptResult::kBind ? WcStatus::kMwBindErr
                        : f.result != TptResult::kOk ? WcStatus::kLocProtErr
                                                     : WcStatus::kFatalErr;
    return fail(f.qpn, {.cause = Cause::kLocalCatastrophic,
                        .head = {},
                        .has_wr = true,
                        .slot = f.slot,
                        .status = status});
  }
  // A response failed. Its slot is the index of its request in the IRD ring.
  const Inbound& in = ird_[q.params.ird_base + f.slot];
  const Cause unreadable = in.kind == Kind::kFlush ? Cause::kFlushFailed : Cause::kRdmapLength;
  const Cause cause = f.result != TptResult::kOk ? source_cause(f.result) : unreadable;
  if (in.kind != Kind::kRead)
    return fail(f.qpn, {.cause = cause, .head = in.head, .ulpdu_length = in.ulpdu_length});
  // requirements.md section 6: if a Read fails after some bytes, the header names the part that was
  // not returned.
  spec::ReadRequest rest = in.read;
  rest.sink_to += f.offset;
  rest.read_size -= f.offset;
  rest.source_to += f.offset;
  auto head = in.head;
  rest.pack(std::span(head).subspan(spec::kUntaggedHeaderBytes));
  fail(f.qpn, {.cause = cause, .head = head, .ulpdu_length = in.ulpdu_length});
}

// The first error of a QP wins.
void Rdmap::fail(uint16_t qpn, const Failure& f) {
  Qp& q = qps_[qpn];
  if (!q.running || q.failed) return;
  q.failed = true;
  q.unfetched = 0;
  update_responder(qpn);
  // No Terminate is sent if the connection is lost, if the peer sent one, or if our FIN may be on
  // the wire (nothing follows it).
  const bool silent =
      f.cause == Cause::kLlpLost || f.cause == Cause::kPeerTerminate || q.closed() ||
      (q.params.hold_tx != 0 && !q.heard);  // RFC 5044: the passive side may not send first
  out_.qp_error({.qpn = qpn,
                 .cause = f.cause,
                 .sends_term = !silent,
                 .has_wr = f.has_wr,
                 .slot = f.slot,
                 .status = f.status,
                 .has_peer_term = f.has_peer_term,
                 .peer_term = f.peer_term});
  if (silent) return;
  TxMessage m;
  m.body = rnic::Payload::copy_of(terminate_bytes(f.cause, f.head, f.ulpdu_length));
  m.hdr = {.qpn = qpn,
           .source = TxSource::kTerm,
           .opcode = RdmapOpcode::kTerminate,
           .qn = spec::kQnTerminate,
           .length = m.body.size(),
           .is_inline = 1};
  out_.terminate(std::move(m));
}

std::string Rdmap::waiting_for() const {
  std::string s;
  for (size_t i = 0; i < qps_.size(); ++i) {
    const Qp& q = qps_[i];
    if (q.ord_count != 0)
      s += fmt::format("rdmap: QP {} waits for {} responses of the peer\n", i, q.ord_count);
    if (q.ird_count != 0) {
      s += fmt::format("rdmap: QP {} has {} requests to answer{}\n", i, q.ird_count,
                       q.responding ? ", one in ddp" : "");
    }
  }
  return s;
}

}  // namespace rnic::model
