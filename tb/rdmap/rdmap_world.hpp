// The surroundings of rdmap in its bench: qp, ddp, tpt and the peer, and a reference for the
// Terminate.
//
//   run_qp(5, params());                           qp starts QP 5
//   const Message m = post(wqe_hdr, body);         qp issues a WQE; m: the message that must come
//   expect_message(m);
//   expect_good(5, write(40), good(true));         a segment of the peer; the verdict: placed
//   const Bytes r = request(64);                   a Read Request of the peer
//   expect_good(5, r, good(false));
//   expect_message(response(5, r, slot, watermark));   slot: of the IRD; placements before it
//   free_response(5);                              ddp has sent it
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "base/bytes.hpp"
#include "gen/errors.hpp"
#include "gen/iwarp.hpp"
#include "gen/queues.hpp"
#include "rdmap/rdmap_dut.hpp"

namespace rnic::tb {

using spec::Cause;
using spec::DeliverKind;
using spec::RdmapOpcode;
using spec::TptResult;
using spec::TxSource;
using spec::WcStatus;
using spec::WrOpcode;
using Bytes = std::vector<uint8_t>;

constexpr uint8_t u8(uint64_t v) { return static_cast<uint8_t>(v); }
constexpr uint16_t u16(uint64_t v) { return static_cast<uint16_t>(v); }
constexpr uint32_t u32(uint64_t v) { return static_cast<uint32_t>(v); }
template <class T>
using Some = std::initializer_list<T>;

/// A message as rdmap puts it to ddp: the body holds SGEs or inline bytes.
struct Message {
  spec::TxMessageHdr hdr;
  Bytes body;
};

/// Converts text such as "0013c140 11223344" to bytes.
inline Bytes hex(std::string_view text) {
  Bytes out;
  std::string digits;
  for (char c : text)
    if (c != ' ') digits += c;
  for (size_t i = 0; i < digits.size(); i += 2)
    out.push_back(u8(std::stoul(digits.substr(i, 2), nullptr, 16)));
  return out;
}

/// Clears the fields that have no meaning in this header, so that headers can be compared.
inline spec::TxMessageHdr meant(spec::TxMessageHdr h) {
  if (h.is_tagged != 0) h.qn = 0;
  if (h.is_tagged == 0) h.stag = 0, h.tagged_offset = 0;
  if (h.is_inline != 0) h.num_sge = 0;
  if (h.has_watermark == 0) h.watermark = 0;
  if (h.source == TxSource::kTerm) h.slot = 0;
  return h;
}

/// The ULPDU of a message in one segment, the first of its queue. requirements.md 2.1, 2.2
inline Bytes first_ulpdu(const Message& m) {
  Bytes out(m.hdr.is_tagged != 0 ? 14 : 18);
  if (m.hdr.is_tagged != 0) {
    spec::DdpTagged{.is_tagged = 1,
                    .is_last = 1,
                    .dv = 1,
                    .rv = 1,
                    .opcode = m.hdr.opcode,
                    .stag = m.hdr.stag,
                    .tagged_offset = m.hdr.tagged_offset}
        .pack(out);
  } else {
    spec::DdpUntagged{
        .is_last = 1, .dv = 1, .rv = 1, .opcode = m.hdr.opcode, .qn = m.hdr.qn, .msn = 1}
        .pack(out);
  }
  out.insert(out.end(), m.body.begin(), m.body.end());
  return out;
}

/// The body of the expected Terminate for an error found in this ULPDU. requirements.md 5.2 and 6.
/// read_offset: the failing message is a Read, of which this many bytes are sent.
inline Bytes terminate(Cause cause, const Bytes& ulpdu, std::optional<uint32_t> read_offset = {}) {
  const auto& row = spec::cause_row(cause);
  // Bytes of the DDP header; an empty ULPDU has none to show.
  // Bit T (0x80): tagged, 14 bytes; untagged has 18.
  const size_t header = ulpdu.empty() ? 1 : (ulpdu[0] & 0x80) != 0 ? 14 : 18;
  const bool with_ddp = row.ddp_header && ulpdu.size() >= header;
  const bool with_read = with_ddp && row.rdma_header && read_offset;
  Bytes out(4);
  out[0] = u8(uint64_t{row.layer} << 4 | row.etype);
  out[1] = row.code;
  // Bits M, D, R: the ULPDU length, the DDP header and the Read Request header follow.
  out[2] = u8((with_ddp ? 0xc0U : 0U) | (with_read ? 0x20U : 0U));
  if (!with_ddp) return out;
  out.push_back(u8(ulpdu.size() >> 8));
  out.push_back(u8(ulpdu.size()));
  out.insert(out.end(), ulpdu.begin(), ulpdu.begin() + static_cast<std::ptrdiff_t>(header));
  if (!with_read) return out;
  auto r = spec::ReadRequest::unpack(std::span(ulpdu).subspan(18));
  r.sink_to += *read_offset;
  r.read_size -= *read_offset;
  r.source_to += *read_offset;
  out.resize(out.size() + spec::ReadRequest::kBytes);
  r.pack(std::span(out).subspan(out.size() - spec::ReadRequest::kBytes));
  return out;
}

template <class D>
class RdmapWorld : public testing::Test {
 protected:
  D dut;
  base::Rng rng = test_rng("world");
  uint32_t placed = 0;  // placements since reset, for tests that count them
  uint8_t persist = 0;  // ddp's flag on segments: the extensions are enabled

  void start(Pace pace) {
    dut.start(pace);
    placed = 0;
    persist = 0;
  }

  // --- qp
  /// The bases are the QP's first slots in the pools of IRD and ORD entries.
  spec::QpParams params(uint8_t ird = 4, uint8_t ord = 4, uint16_t ird_base = 0,
                        uint16_t ord_base = 0) {
    return {.connection = 9,
            .pd = 3,
            .use_crc = 1,
            .ird = ird,
            .ord = ord,
            .ird_base = ird_base,
            .ord_base = ord_base};
  }
  void run_qp(uint16_t qpn, const spec::QpParams& p) {
    dut.qp_ctl.put({.op = spec::QpOp::kStart, .qpn = qpn, .params = p});
    EXPECT_EQ(dut.qp_ack.take().qpn, qpn);
  }
  void stop_qp(uint16_t qpn) {
    dut.qp_ctl.put({.op = spec::QpOp::kStop, .qpn = qpn});
    EXPECT_EQ(dut.qp_ack.take().qpn, qpn);
  }
  void restart_qp(uint16_t qpn, const spec::QpParams& p) {
    stop_qp(qpn);
    run_qp(qpn, p);
  }
  /// Issues a WQE with its SGEs or inline data. Returns the message that rdmap must send.
  Message post(const spec::WqeHdr& h, const Bytes& body) {
    dut.wqe_hdr.put(h);
    dut.wqe.put_packet(body);
    Message m{{.qpn = h.qpn,
               .source = TxSource::kSq,
               .length = h.length,
               .is_inline = h.is_inline,
               .num_sge = h.num_sge,
               .done = 1,
               .slot = h.slot},
              body};
    if (h.opcode == WrOpcode::kRdmaWrite) {
      m.hdr.is_tagged = 1;
      m.hdr.opcode = RdmapOpcode::kRdmaWrite;
      m.hdr.stag = h.remote_stag;
      m.hdr.tagged_offset = h.remote_to;
    } else if (h.opcode == WrOpcode::kSend) {
      m.hdr.opcode = h.is_solicited != 0 ? RdmapOpcode::kSendSe : RdmapOpcode::kSend;
    } else if (h.opcode == WrOpcode::kSendWithInv) {  // R5040-4.1-03
      m.hdr.opcode = h.is_solicited != 0 ? RdmapOpcode::kSendSeInv : RdmapOpcode::kSendInv;
      m.hdr.stag = h.remote_stag;
    } else {
      const auto sink = h.num_sge != 0 ? spec::WqeSge::unpack(body) : spec::WqeSge{};
      m.hdr.opcode = RdmapOpcode::kReadRequest;
      m.hdr.qn = 1;
      m.hdr.length = 28;  // spec::ReadRequest::kBytes
      m.hdr.is_inline = 1;
      m.hdr.done = 0;
      m.body.assign(28, 0);
      spec::ReadRequest{.sink_stag = sink.lkey,
                        .sink_to = sink.address,
                        .read_size = h.length,
                        .source_stag = h.remote_stag,
                        .source_to = h.remote_to}
          .pack(m.body);
    }
    return m;
  }
  /// A Read that we post. slot: its window slot. stag, to: its sink.
  struct Read {
    uint8_t slot;
    uint32_t stag, length;
    uint64_t to;
  };
  Read any_read(uint8_t slot, uint32_t length) {
    return {slot, u32(rng.next()), length, rng.next() >> rng.below(40)};
  }
  Message post_read(uint16_t qpn, const Read& r) {
    Bytes sge(16);
    spec::WqeSge{.address = r.to, .length = r.length, .lkey = r.stag}.pack(sge);
    return post({.qpn = qpn,
                 .slot = r.slot,
                 .opcode = WrOpcode::kRdmaRead,
                 .num_sge = 1,
                 .length = r.length,
                 .remote_to = rng.next(),
                 .remote_stag = u32(rng.next())},
                sge);
  }
  /// Posts a Read, and expects its Read Request.
  void read(uint16_t qpn, const Read& r) { expect_message(post_read(qpn, r)); }

  // --- what rdmap sends
  Message take_message() {
    Message m;
    m.hdr = dut.tx_message_hdr.take();
    m.body = dut.tx_message.take_packet().bytes;
    return m;
  }
  void expect_message(const Message& want) {
    const auto got = take_message();
    EXPECT_EQ(meant(got.hdr), meant(want.hdr))
        << got.hdr.describe() << "\nwanted " << want.hdr.describe();
    EXPECT_EQ(got.body, want.body);
  }
  static Message terminate_message(uint16_t qpn, const Bytes& body) {
    return {{.qpn = qpn,
             .source = TxSource::kTerm,
             .opcode = RdmapOpcode::kTerminate,
             .qn = 2,
             .length = u32(body.size()),
             .is_inline = 1},
            body};
  }
  /// The response to a Read Request of the peer. `slot`: its IRD slot, relative to the QP's base.
  Message response(uint16_t qpn, const Bytes& request, uint8_t slot, uint64_t watermark) {
    const auto r = spec::ReadRequest::unpack(std::span(request).subspan(18));
    Message m{{.qpn = qpn,
               .source = TxSource::kResp,
               .is_tagged = 1,
               .opcode = RdmapOpcode::kReadResponse,
               .stag = r.sink_stag,
               .tagged_offset = r.sink_to,
               .length = r.read_size,
               .num_sge = 1,
               .slot = slot,
               .has_watermark = 1,
               .watermark = watermark},
              Bytes(16)};
    spec::WqeSge{.address = r.source_to, .length = r.read_size, .lkey = r.source_stag}.pack(m.body);
    return m;
  }
  /// Expects that rdmap has no more output to qp or ddp.
  void expect_silence() {
    dut.settle();
    EXPECT_TRUE(dut.tx_message_hdr.empty() && dut.tx_message.empty());
    EXPECT_TRUE(dut.qp_error.empty());
    EXPECT_TRUE(dut.rx_verdict.empty());
    EXPECT_TRUE(dut.qp_ack.empty());
  }
  /// Expects the QP's one error, and the Terminate with the body `term`, if one is due.
  spec::QpError expect_error(uint16_t qpn, Cause cause, const std::optional<Bytes>& term) {
    const auto e = dut.qp_error.take();
    EXPECT_EQ(e.qpn, qpn);
    EXPECT_EQ(e.cause, cause) << e.describe();
    EXPECT_EQ(e.sends_term, term.has_value()) << e.describe();
    EXPECT_EQ(e.has_peer_term, cause == Cause::kPeerTerminate);
    if (term) expect_message(terminate_message(qpn, *term));
    return e;
  }

  // --- the peer. octet: the second of a DDP header, RV 1 (0x40) and the opcode.
  Bytes tagged(uint8_t octet, bool last, uint32_t stag, uint64_t to, size_t n) {
    Bytes u(14);
    spec::DdpTagged{.is_tagged = 1, .is_last = last, .dv = 1, .stag = stag, .tagged_offset = to}
        .pack(u);
    u[1] = octet;
    const auto payload = rng.bytes(n);
    u.insert(u.end(), payload.begin(), payload.end());
    return u;
  }
  Bytes untagged(uint8_t octet, bool last, uint32_t qn, const Bytes& payload) {
    Bytes u(18);
    spec::DdpUntagged{.is_last = last,
                      .dv = 1,
                      .invalidate_stag = u32(rng.next()),
                      .qn = qn,
                      .msn = u32(rng.next()),
                      .mo = 0}
        .pack(u);
    u[1] = octet;
    u.insert(u.end(), payload.begin(), payload.end());
    return u;
  }
  Bytes write(size_t n, bool last = true) {
    return tagged(0x40, last, u32(rng.next()), rng.next(), n);
  }
  Bytes send(size_t n, bool last = true, bool solicited = false) {
    return untagged(solicited ? 0x45 : 0x43, last, 0, rng.bytes(n));
  }
  Bytes request(uint32_t size) {
    Bytes r(28);
    spec::ReadRequest{.sink_stag = u32(rng.next()),
                      .sink_to = rng.next(),
                      .read_size = size,
                      .source_stag = u32(rng.next()),
                      .source_to = rng.next()}
        .pack(r);
    return untagged(0x41, true, 1, r);
  }
  /// n bytes of the Read Response to r, from this offset on.
  Bytes answer(const Read& r, uint32_t from, uint32_t n, bool last) {
    return tagged(0x42, last, r.stag, r.to + from, n);
  }
  /// A Terminate of the peer: QN 2, opcode 7.
  Bytes peer_terminate(const Bytes& body) { return untagged(0x47, true, 2, body); }

  /// ddp shows a segment to rdmap. cause: the error that ddp or mpa has found in it.
  void put_segment(uint16_t qpn, const Bytes& ulpdu, Cause cause = Cause::kNone) {
    spec::RxSegment s{
        .qpn = qpn, .persist = persist, .cause = cause, .ulpdu_length = u16(ulpdu.size())};
    rng.fill(s.head);  // arbitrary bytes after the header's end
    std::copy_n(ulpdu.begin(), std::min<size_t>(s.head.size(), ulpdu.size()), s.head.begin());
    dut.rx_segment.put(s);
  }
  spec::RxVerdict verdict(uint16_t qpn, const Bytes& ulpdu, Cause cause = Cause::kNone) {
    put_segment(qpn, ulpdu, cause);
    return dut.rx_verdict.take();
  }
  /// An accepted segment. place: its payload is written to memory, and counts as a placement.
  static spec::RxVerdict good(bool place, DeliverKind deliver = DeliverKind::kNothing,
                              bool solicited = false, uint8_t slot = 0) {
    return {.accept = 1, .place = place, .deliver = deliver, .solicited = solicited, .slot = slot};
  }
  static void expect_verdict(const spec::RxVerdict& got, const spec::RxVerdict& want) {
    EXPECT_EQ(got.accept, want.accept) << got.describe();
    if (want.accept == 0 || got.accept == 0) return;
    EXPECT_EQ(got.place, want.place) << got.describe();
    EXPECT_EQ(got.deliver, want.deliver) << got.describe();
    EXPECT_EQ(got.immediate, want.immediate) << got.describe();
    if (want.deliver == DeliverKind::kRecv || want.deliver == DeliverKind::kImmediate ||
        want.deliver == DeliverKind::kInvalidate) {
      EXPECT_EQ(got.solicited, want.solicited);
    }
    if (want.deliver == DeliverKind::kRead) {
      EXPECT_EQ(got.slot, want.slot);
    }
  }
  void expect_good(uint16_t qpn, const Bytes& ulpdu, const spec::RxVerdict& want) {
    expect_verdict(verdict(qpn, ulpdu), want);
  }
  /// Expects that the segment is refused and ends the QP with this cause. found: the cause that ddp
  /// or mpa has found before.
  void expect_bad(uint16_t qpn, const Bytes& ulpdu, Cause cause, Cause found = Cause::kNone) {
    EXPECT_EQ(verdict(qpn, ulpdu, found).accept, 0) << spec::to_string(cause);
    expect_error(qpn, cause, terminate(cause, ulpdu));
  }
  /// As ddp: the response slot of the QP is free.
  void free_response(uint16_t qpn) { dut.resp_slot_free.put({.qpn = qpn}); }
};

}  // namespace rnic::tb
