// Makes and checks FPDUs: length, markers, pad, CRC. See mpa.hpp.
#include "mpa/mpa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "mpa/crc32c.hpp"

namespace rnic::model {

using spec::Cause;

namespace {

constexpr uint32_t kSpacing = spec::kMpaMarkerSpacing;
constexpr uint32_t kMarker = spec::MpaMarker::kBytes;
constexpr uint32_t kLength = spec::MpaLength::kBytes;
constexpr uint32_t kCrc = 4;

/// Bytes from a stream position to the next marker.
constexpr uint32_t to_marker(uint32_t position) {
  return (kSpacing - position % kSpacing) % kSpacing;
}

/// A marker's field FPDUPTR (RFC 5044 section 4.3): the distance of the marker at byte `marker_at`
/// of the record from the FPDU's length field. 0 for a marker in front of that field; it shifts the
/// FPDU by its own 4 bytes. FPDUPTR has 16 bits and wraps after 65,535.
constexpr uint16_t fpdu_ptr(uint32_t marker_at, bool starts_with_marker) {
  return static_cast<uint16_t>(starts_with_marker && marker_at != 0 ? marker_at - kMarker
                                                                    : marker_at);
}

/// Removes the markers of a record that begins at this stream position. Returns nothing if a marker
/// does not point to the FPDU's start.
rnic::Payload without_markers(std::span<const uint8_t> record, uint32_t position) {
  const uint32_t size = static_cast<uint32_t>(record.size());
  const uint32_t first = to_marker(position);
  const uint32_t markers = first >= size ? 0 : (size - first + kSpacing - 1) / kSpacing;
  if (markers * kMarker >= size) return {};
  rnic::Payload out = rnic::Payload::make(size - markers * kMarker);
  uint8_t* to = out.writable().data();
  for (uint32_t at = 0, next = first; at < size; next += kSpacing) {
    const uint32_t end = std::min(next, size);
    std::memcpy(to, record.data() + at, end - at);
    to += end - at;
    at = end;
    if (at == size) break;
    if (at + kMarker > size) return {};
    const auto m = spec::MpaMarker::unpack(record.subspan(at));
    if (m.fpdu_ptr != fpdu_ptr(at, first == 0)) return {};
    at += kMarker;
  }
  return out;
}

}  // namespace

void Mpa::control(const spec::QpCtlMpa& ctl) {
  Qp& q = qps_[ctl.qpn];
  if (ctl.op == spec::QpOp::kStart) {
    q = {.running = true,
         .use_crc = ctl.params.use_crc != 0,
         .rx_markers = ctl.params.rx_markers != 0,
         .tx_markers = ctl.params.tx_markers != 0,
         .rx = q.rx,
         .tx = q.tx};
    out_.qp_ack_mpa({ctl.qpn});
    return;
  }
  if (ctl.op == spec::QpOp::kStop) q.stopping = true;
  ++q.orders;
  q.rx.awaited = q.rx.inside;
  q.tx.awaited = q.tx.inside;
  maybe_drained(ctl.qpn);
}

void Mpa::leaves(uint16_t qpn, bool rx) {
  Qp::Way& w = rx ? qps_[qpn].rx : qps_[qpn].tx;
  --w.inside;
  if (w.awaited == 0) return;
  --w.awaited;
  maybe_drained(qpn);
}

/// Acknowledges stop and sync once every item that was in flight has drained.
void Mpa::maybe_drained(uint16_t qpn) {
  Qp& q = qps_[qpn];
  if (q.rx.awaited + q.tx.awaited != 0) return;
  if (std::exchange(q.stopping, false)) q.running = false;
  for (uint32_t n = std::exchange(q.orders, 0); n != 0; --n) out_.qp_ack_mpa({qpn});
}

void Mpa::Rx::take(RxFpdu in) {
  in_ = std::move(in);
  full_ = true;
}

// RFC 5044 section 8: a bad CRC is reported before a bad length or marker. A record that the
// transport marks as damaged counts as a bad CRC.
RxUlpdu Mpa::Rx::next() {
  full_ = false;
  const uint16_t qpn = in_.hdr.qpn;
  Qp& q = mpa_.qps_[qpn];
  rnic::Payload record = std::move(in_.data);
  RxUlpdu out{.hdr = {.qpn = qpn, .length = 0, .cause = Cause::kNone}, .data = {}};

  const std::span<const uint8_t> raw = record.bytes();
  const bool crc_bad = q.use_crc && (raw.size() < kCrc ||
                                     crc32c(raw.first(raw.size() - kCrc)) !=
                                         base::load_le<uint32_t>(raw.data() + raw.size() - kCrc));
  const uint32_t position = q.rx_position;
  q.rx_position = (q.rx_position + record.size()) % kSpacing;
  if (q.rx_markers) record = without_markers(raw, position);

  if (in_.error || crc_bad) {
    out.hdr.cause = Cause::kMpaCrc;
  } else if (record.size() < kLength) {
    out.hdr.cause = Cause::kMpaMarker;
  } else {
    const uint16_t ulpdu = base::load_be<uint16_t>(record.bytes().data());
    if (record.size() == fpdu_bytes(ulpdu)) {
      out.hdr.length = ulpdu;
      out.data = record.slice(kLength, ulpdu);
    } else {
      out.hdr.cause = Cause::kMpaMarker;
    }
  }
  mpa_.leaves(qpn, true);
  return out;
}

void Mpa::Tx::take(TxUlpdu in) {
  in_ = std::move(in);
  full_ = true;
}

TxFpdu Mpa::Tx::next() {
  full_ = false;
  const spec::TxUlpduHdr& h = in_.hdr;
  Qp& q = mpa_.qps_[h.qpn];
  const uint32_t plain = fpdu_bytes(h.length);
  const uint32_t first = q.tx_markers ? to_marker(q.tx_position) : UINT32_MAX;

  uint32_t size = plain;
  if (q.tx_markers) {
    for (uint32_t at = first; at < size; at += kSpacing) size += kMarker;
  }
  rnic::Payload data = rnic::Payload::make(size);
  uint8_t* const start = data.writable().data();
  // The FPDU without markers is built at the end of the buffer. The loop below then moves its parts
  // to the front, with a marker behind each part.
  uint8_t* const frame = start + size - plain;
  base::store_be<uint16_t>(frame, h.length);
  std::memcpy(frame + kLength, in_.header.data(), in_.header_bytes);
  const std::span<const uint8_t> body = in_.payload.bytes();
  if (!body.empty()) std::memcpy(frame + kLength + in_.header_bytes, body.data(), body.size());
  std::memset(frame + kLength + h.length, 0, plain - kCrc - kLength - h.length);

  if (q.tx_markers) {
    const uint8_t* from = frame;
    for (uint32_t at = 0, next = first; at < size; next += kSpacing) {
      const uint32_t end = std::min(next, size);
      std::memmove(start + at, from, end - at);
      from += end - at;
      at = end;
      if (at == size) break;
      spec::MpaMarker{.reserved = 0, .fpdu_ptr = fpdu_ptr(at, first == 0)}.pack(
          {start + at, kMarker});
      at += kMarker;
    }
  }
  q.tx_position = (q.tx_position + size) % kSpacing;
  base::store_le<uint32_t>(start + size - kCrc, q.use_crc ? crc32c({start, size - kCrc}) : 0);

  TxFpdu out{
      .hdr = {.qpn = h.qpn, .length = size, .done = h.done, .slot = h.slot, .is_term = h.is_term},
      .data = std::move(data)};
  in_.payload = {};
  mpa_.leaves(h.qpn, false);
  return out;
}

std::string Mpa::waiting_for() const {
  std::string s;
  for (size_t i = 0; i < qps_.size(); ++i) {
    const Qp& q = qps_[i];
    if (q.orders != 0) {
      s += fmt::format("mpa: stop of QP {} waits for {} FPDUs inside\n", i,
                       q.rx.awaited + q.tx.awaited);
    }
  }
  return s;
}

}  // namespace rnic::model
