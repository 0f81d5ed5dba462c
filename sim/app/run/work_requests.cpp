// Follows the work requests of both sides through what the host, PCIe and link show. See
// work_requests.hpp for how a message is recognised in each view.
#include "run/work_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace rnic::app {
namespace {

constexpr uint32_t kUnit = 64;  // bytes of a unit of a send queue

/// Ring indices run free in 16 bits.
bool is_after(uint16_t a, uint16_t b) { return static_cast<int16_t>(a - b) > 0; }

bool is_request(spec::RdmapOpcode o) {
  using enum spec::RdmapOpcode;
  return o != kReadResponse && o != kTerminate && o != kAtomicResponse && o != kFlushResponse &&
         o != kVerifyResponse && o != kAtomicWriteResponse;
}

}  // namespace

std::optional<spec::Doorbell> sq_doorbell(const sim::Mmio& m) {
  // kSq: offset of the send queue doorbell in a page. kRingInWqe: offset of `ring`, the doorbell in
  // a pushed WQE.
  constexpr uint32_t kPage = 4096, kSq = 0, kRingInWqe = 24;
  if (!m.is_write || m.bar == 0) return {};
  if (m.bytes == 8 && m.offset % kPage == kSq) {
    std::array<uint8_t, 8> bytes{};
    base::store_le(bytes.data(), m.value);
    return spec::Doorbell::unpack(bytes);
  }
  if (m.bytes == kUnit && m.offset % kPage == spec::kPushOffset)
    return spec::Doorbell::unpack(m.data.bytes().subspan(kRingInWqe));
  return {};
}

void WorkRequests::command(Side side, std::span<const uint8_t> bytes) {
  if (bytes.size() != spec::AdminCmd::kBytes) return;
  const auto c = spec::AdminCmd::unpack(bytes);
  SideState& s = sides_[side];
  if (c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kCreateQp)) {
    const auto a = spec::AdminQpArgs::unpack(c.args);
    Queue& q = s.queues[c.object];
    q.base = a.sq_base;
    q.units = 1U << (a.log_sq % 32);
    q.read = 0;
    q.open.clear();
  } else if (c.opcode == static_cast<uint8_t>(spec::AdminOpcode::kModifyQp)) {
    const auto a = spec::AdminModifyArgs::unpack(c.args);
    if (a.to_state != static_cast<uint8_t>(spec::QpState::kRts)) return;
    s.qp_of[a.connection] = c.object;
    s.queues[c.object].tx_markers = a.tx_markers != 0;
  }
}

void WorkRequests::posted(Side side, const spec::Doorbell& db, TraceEvents::Slice slice) {
  const auto found = sides_[side].queues.find(db.object);
  if (found == sides_[side].queues.end() || found->second.units == 0) return;
  Queue& q = found->second;
  const auto until = static_cast<uint16_t>(db.index);
  while (is_after(until, q.read)) {
    std::array<uint8_t, spec::SqWqe::kBytes> bytes{};
    if (!sides_[side].memory->read(q.base + uint64_t{q.read % q.units} * kUnit, bytes)) return;
    const auto wqe = spec::SqWqe::unpack(bytes);
    q.open.push_back({.number = q.count++,
                      .index = q.read,
                      .opcode = static_cast<spec::WrOpcode>(wqe.opcode),
                      .length = wqe.length,
                      .rung_at = {},
                      .post = slice});
    q.read = static_cast<uint16_t>(q.read + std::max<uint8_t>(1, wqe.units));
  }
}

void WorkRequests::rung(Side side, const spec::Doorbell& db, Time at, TraceEvents::Slice slice) {
  const auto found = sides_[side].queues.find(db.object);
  if (found == sides_[side].queues.end()) return;
  for (Request& r : found->second.open) {
    if (r.rung_at || !is_after(static_cast<uint16_t>(db.index), r.index)) continue;
    r.rung_at = at;
    r.doorbell = slice;
  }
}

std::optional<spec::RdmapOpcode> WorkRequests::parse(const sim::Frame& f) {
  in_frame_.clear();
  in_frame_last_.reset();
  frame_side_ = f.from == 0 ? kClient : kServer;
  SideState& s = sides_[frame_side_];
  const auto bytes = f.data.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto qp = s.qp_of.find(f.from_conn);
  if (qp == s.qp_of.end() || text.starts_with("MPA ID Re")) return {};  // a start-up frame
  const auto [at, is_new] = s.streams.try_emplace({f.from_conn, f.from_serial});
  Stream& stream = at->second;
  if (is_new) {
    stream.qpn = qp->second;
    stream.has_markers = s.queues[qp->second].tx_markers;
    stream.fpdus = sim::FpduFinder(stream.has_markers);
  }
  stream.fpdus.push(f.data, [&](const Payload& fpdu) {
    constexpr auto kSpacing = static_cast<uint32_t>(sim::kMarkerSpacing);
    // A marker stands at every kSpacing bytes of the stream, here in front of the FPDU.
    const bool has_marker = stream.has_markers && stream.position == 0;
    const auto marker = static_cast<uint32_t>(has_marker ? sim::kMarkerBytes : 0);
    stream.position = (stream.position + fpdu.size()) % kSpacing;
    const auto all = fpdu.bytes().subspan(marker);
    take_fpdu(frame_side_, stream, all.subspan(2), base::load_be<uint16_t>(all.data()));
  });
  return in_frame_last_;
}

/// `header`: the ULPDU. Its first two bytes directly follow the length, without a marker between.
void WorkRequests::take_fpdu(Side side, const Stream& stream, std::span<const uint8_t> header,
                             uint32_t ulpdu) {
  constexpr uint8_t kTagged = 0x80, kLast = 0x40;
  constexpr uint32_t kTaggedHeader = 14, kUntaggedHeader = 18;
  const bool is_last = (header[0] & kLast) != 0;
  const auto opcode = static_cast<spec::RdmapOpcode>(header[1] & 0x1f);
  in_frame_last_ = opcode;
  using enum spec::RdmapOpcode;
  const bool is_send =
      opcode == kSend || opcode == kSendInv || opcode == kSendSe || opcode == kSendSeInv;
  const bool is_placed = is_send || opcode == kRdmaWrite || opcode == kReadResponse;
  const uint32_t before = (header[0] & kTagged) != 0 ? kTaggedHeader : kUntaggedHeader;
  SideState& peer = sides_[side == kClient ? kServer : kClient];
  if (is_placed && ulpdu > before) peer.arrived_bytes += ulpdu - before;
  if (!is_last || !is_request(opcode)) return;
  Queue& q = sides_[side].queues[stream.qpn];
  const auto r = std::ranges::find(q.open, false, &Request::is_sent);
  if (r == q.open.end()) return;
  r->is_sent = true;
  in_frame_.emplace_back(stream.qpn, r->number);
  if (!is_placed || r->length == 0) return;
  r->awaits_placement = true;
  peer.awaited.push_back({peer.arrived_bytes, stream.qpn, r->number});
}

void WorkRequests::sent(TraceEvents::Slice slice) {
  for (const auto& [qpn, number] : in_frame_) {
    auto& open = sides_[frame_side_].queues[qpn].open;
    const auto r = std::ranges::find(open, number, &Request::number);
    if (r != open.end()) r->frame = slice;
  }
}

void WorkRequests::placed(Side side, uint64_t bytes, TraceEvents::Slice slice) {
  SideState& s = sides_[side];
  SideState& peer = sides_[side == kClient ? kServer : kClient];
  s.placed_bytes += bytes;
  for (; !s.awaited.empty() && s.awaited.front().bytes <= s.placed_bytes; s.awaited.pop_front()) {
    Queue& q = peer.queues[s.awaited.front().qpn];
    const auto r = std::ranges::find(q.open, s.awaited.front().number, &Request::number);
    if (r == q.open.end()) continue;
    r->place = slice;
    r->awaits_placement = false;
    drop_ended(q);
  }
}

void WorkRequests::completed(Side side, const spec::Cqe& cqe, Time at, TraceEvents::Slice slice) {
  const auto found = sides_[side].queues.find(cqe.qpn);
  if (cqe.is_recv != 0 || found == sides_[side].queues.end()) return;
  Queue& q = found->second;
  // A flush entry names the unit after the last one flushed.
  const auto last =
      static_cast<uint16_t>(cqe.index - (cqe.status == spec::WcStatus::kWrFlushErr ? 1 : 0));
  for (Request& r : q.open) {
    if (r.is_complete || is_after(r.index, last)) continue;
    r.cqe = slice;
    if (cqe.status != spec::WcStatus::kSuccess) r.awaits_placement = false;
    end(side, cqe.qpn, q, r, at);
  }
  drop_ended(q);
}

/// Ends a request at its CQE, and draws its slice. Slices of one track must not overlap, so the
/// slice is on the QP's first track that was free when the doorbell arrived.
void WorkRequests::end(Side side, uint32_t qpn, Queue& q, Request& r, Time at) {
  r.is_complete = true;
  if (!r.rung_at) return;
  size_t lane = 0;
  while (lane < q.lanes.size() && trace_.end(q.lanes[lane]) > *r.rung_at) ++lane;
  if (lane == q.lanes.size())
    q.lanes.push_back(trace_.track(
        side, TraceEvents::kQp,
        lane == 0 ? fmt::format("QP {}", qpn) : fmt::format("QP {} ({})", qpn, lane + 1)));
  trace_.slice(q.lanes[lane], spec::to_string(r.opcode), *r.rung_at, at, r.length);
}

void WorkRequests::drop_ended(Queue& q) {
  while (!q.open.empty() && q.open.front().is_complete && !q.open.front().awaits_placement) {
    arrow(q.open.front());
    q.open.pop_front();
  }
}

void WorkRequests::arrow(const Request& r) {
  trace_.flow({r.post, r.doorbell, r.frame, r.place, r.cqe});
}

void WorkRequests::finish() {
  for (SideState& s : sides_) {
    for (auto& [qpn, q] : s.queues) {
      for (const Request& r : q.open) arrow(r);
      q.open.clear();
    }
  }
}

}  // namespace rnic::app
