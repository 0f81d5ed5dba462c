// Frames in and out, streaming bytes, FPDUs, credit. See llp.hpp.
#include <algorithm>

#include "llp/llp.hpp"

namespace rnic::sim {

bool Llp::can_tx() {
  if (gone_) return true;
  const Time now = kernel_now();
  const Time limit = link_.duration(link_.config().link_tx_queue_bytes);
  const Time backlog = link_.backlog(host_, now);
  if (backlog <= limit) return true;
  held_tx_ = true;
  // The RTL checks can_tx in each cycle. run() wakes the device when the backlog has fallen to
  // 15/16 of the limit: so one wake serves several segments.
  wake_at(now + backlog - (limit - limit / 16));
  return false;
}

void Llp::tx(Record&& r) {
  if (gone_) return;
  ++moved_;
  ++records_tx_;
  Conn* c = find(r.connection);
  if (c == nullptr || c->state != State::kOpen || c->closed_told)
    return;  // the connection ended while the record was in flight
  if (c->fin_sent)
    return broken(fmt::format("connection {}: a record after half_close", r.connection));
  c->sent += r.data.size();
  const auto left = static_cast<int32_t>(c->limit - c->sent);  // credit after this record
  if (left < 0)
    broken(fmt::format("connection {}: {} bytes beyond its credit", r.connection, -int64_t{left}));
  const uint32_t mss = link_.mss();
  if (r.data.size() <= mss) {
    send(r.connection, FrameKind::kData, std::move(r.data));
  } else {
    for (uint32_t at = 0; at < r.data.size(); at += mss) {
      send(r.connection, FrameKind::kData, r.data.slice(at, mss));
    }
  }
  // run() takes acknowledgements when it is due for another reason. A connection whose credit is
  // below half of its window, or below a segment and a Terminate (128 bytes), needs them when they
  // arrive.
  if (left < static_cast<int32_t>(std::max<uint64_t>(c->window / 2, mss + 128u)) &&
      !acks_.empty()) {
    acks_are_urgent_ = true;
    wake_at(acks_.front().at);
  }
}

void Llp::frame_arrives(Time at, Frame&& frame) {
  if (gone_) return;
  auto& line = arrivals_[frame.from];
  line.push_back(at, std::move(frame));
  wake_at(at);
}

void Llp::ack_arrives(const Ack& ack) {
  if (gone_) return;
  acks_.push_back(ack);
  const Conn& c = conns_[ack.conn];  // short of credit: as in tx()
  if (c.serial == ack.serial &&
      static_cast<int32_t>(c.limit - c.sent) <
          static_cast<int32_t>(std::max<uint64_t>(c.window / 2, link_.mss() + 128u))) {
    acks_are_urgent_ = true;
    wake_at(acks_.front().at);
  }
}

void Llp::run(Time now) {
  if (gone_) return;
  take_acks(now);
  for (;;) {  // the earliest frame first, from any sender
    Ring<Arrival>* first = nullptr;
    for (auto& a : arrivals_) {
      if (!a.empty() && a.front().at <= now &&
          (first == nullptr || a.front().at < first->front().at))
        first = &a;
    }
    if (first == nullptr) break;
    Frame f = std::move(first->front().frame);
    first->pop_front();
    ++moved_;
    link_.arrived(now, f);
    take(std::move(f));
  }
  while (!timers_.empty() && timers_.front().at <= now) {
    const Timer t = timers_.front();
    timers_.pop_front();
    const Conn& c = conns_[t.conn];
    if (c.serial != t.serial || c.state == State::kFree || c.state == State::kDead) continue;
    if (t.is_loss || c.state == State::kConnecting) fail_connection(t.conn);
  }
  pump(now);
  if (held_tx_) {
    held_tx_ = false;
    if (can_tx()) device_->wake();
  }
  for (const auto& a : arrivals_) {
    if (!a.empty()) wake_at(a.front().at);
  }
  if (!timers_.empty()) wake_at(timers_.front().at);
  if (acks_.empty()) acks_are_urgent_ = false;
  if (acks_are_urgent_) wake_at(acks_.front().at);
}

void Llp::take(Frame&& f) {
  if (f.kind == FrameKind::kSyn) return take_syn(f);
  const uint16_t n = f.to_conn;
  if (n >= conns_.size() || conns_[n].serial != f.to_serial || conns_[n].state == State::kFree ||
      conns_[n].state == State::kDead) {
    if (f.kind == FrameKind::kSynAck) refuse(f);
    return;  // its connection has ended
  }
  Conn& c = conns_[n];
  switch (f.kind) {
    case FrameKind::kSyn:
      break;
    case FrameKind::kSynAck:
      c.peer_conn = f.from_conn;
      c.peer_serial = f.from_serial;
      c.rcv_nxt = f.seq + 1;
      send(n, FrameKind::kAck);
      open(n);
      break;
    case FrameKind::kAck:
      if (c.state == State::kAccepting) open(n);
      break;
    case FrameKind::kData:
      c.rcv_nxt += f.data.size();
      c.received += f.data.size();
      take_data(n, std::move(f.data));
      break;
    case FrameKind::kFin:
      ++c.rcv_nxt;
      send(n, FrameKind::kFinAck);
      take_fin(n);
      break;
    case FrameKind::kFinAck:
      c.fin_acked = true;
      maybe_closed(n);
      break;
    case FrameKind::kRst:
      if (c.closed_told) break;
      if (c.state == State::kConnecting) {
        fail_connection(n);
      } else if (c.state == State::kAccepting) {  // the device does not know the connection
        c = Conn{};
        free_.push_back(n);
      } else {
        c.state = State::kDead;
        c.waiting.clear();
        event(n, spec::LlpEvt::kReset);
      }
      break;
  }
}

void Llp::take_syn(const Frame& f) {
  const uint16_t n = listening_.contains(f.to_port) ? take_number() : uint16_t{0xffff};
  if (n == 0xffff) return refuse(f);
  Conn& c = conns_[n];
  c.state = State::kAccepting;
  c.is_passive = true;
  c.peer = f.from;
  c.peer_conn = f.from_conn;
  c.peer_serial = f.from_serial;
  c.port = f.to_port;
  c.peer_port = f.from_port;
  c.rcv_nxt = f.seq + 1;
  send(n, FrameKind::kSynAck);
}

void Llp::take_data(uint16_t n, Payload data) {
  Conn& c = conns_[n];
  if (c.is_rdma) {
    c.finder.push(data, [&](Payload fpdu) {
      c.heard = true;
      record(n, std::move(fpdu), false);
    });
    return;
  }
  c.waiting_bytes += data.size();
  c.waiting.push_back(std::move(data));
  event(n, spec::LlpEvt::kWaiting, c.waiting_bytes);
}

void Llp::take_fin(uint16_t n) {
  Conn& c = conns_[n];
  c.peer_fin = true;
  if (c.is_rdma && !c.finder.rest().empty())
    record(n, Payload::copy_of(c.finder.rest()), false, true);
  event(n, spec::LlpEvt::kPeerClosed);
  maybe_closed(n);
}

void Llp::give(uint16_t n, uint32_t length) {
  Conn* c = find(n);
  if (c == nullptr || c->is_rdma || c->aborted) return;
  // An earlier kGive may have crossed the event kWaiting by which the device chose this length.
  length = std::min(length, c->waiting_bytes);
  Payload out = Payload::make(length);
  uint32_t at = 0;
  while (at < length) {
    Payload& first = c->waiting.front();
    const uint32_t part = std::min(length - at, first.size());
    std::copy_n(first.bytes().data(), part, out.writable().data() + at);
    at += part;
    if (part == first.size()) {
      c->waiting.pop_front();
    } else {
      first = first.slice(part);
    }
  }
  c->waiting_bytes -= length;
  record(n, std::move(out), true);
  event(n, spec::LlpEvt::kWaiting, c->waiting_bytes);
}

void Llp::rdma_mode(const spec::LlpCtlReq& req) {
  Conn* c = find(req.connection);
  if (c == nullptr || c->is_rdma) return;
  c->is_rdma = true;
  c->finder = FpduFinder(req.rx_markers != 0);
  c->waiting_bytes = 0;
  // Bytes that arrived before this request are the first FPDUs.
  std::deque<Payload> early = std::move(c->waiting);
  for (Payload& p : early) take_data(req.connection, std::move(p));
  if (c->peer_fin && !c->finder.rest().empty()) {
    record(req.connection, Payload::copy_of(c->finder.rest()), false, true);
  }
}

void Llp::record(uint16_t n, Payload data, bool is_stream, bool error) {
  Conn& c = conns_[n];
  Item item;
  item.serial = c.serial;
  item.record.connection = n;
  item.record.is_stream = is_stream;
  item.record.error = error;
  item.record.data = std::move(data);
  ++c.queued;
  rx_.push_back(std::move(item));
}

void Llp::take_acks(Time now) {
  std::vector<uint16_t> changed;
  for (; !acks_.empty() && acks_.front().at <= now; acks_.pop_front()) {
    const Ack& a = acks_.front();
    Conn& c = conns_[a.conn];
    if (c.serial != a.serial || c.state != State::kOpen) continue;
    c.limit = a.bytes + c.window;
    if (std::find(changed.begin(), changed.end(), a.conn) == changed.end())
      changed.push_back(a.conn);
  }
  for (const uint16_t n : changed) credit(n);
}

/// Hands events and records to the device. Events first: no record of their connection is in front
/// of them. A record that the device does not accept stops the others, until the next cycle.
void Llp::pump(Time now) {
  for (;;) {
    if (!events_.empty()) {
      Item item = std::move(events_.front());
      events_.pop_front();
      hand_over(item);
      continue;
    }
    if (rx_.empty()) return;
    Item& front = rx_.front();
    const uint16_t n =
        front.kind == Item::kRecord ? front.record.connection : front.event.connection;
    Conn& c = conns_[n];
    const bool is_stale = c.serial != front.serial || c.aborted;
    if (!is_stale && front.kind == Item::kRecord && !device_->can_llp_rx()) {
      wake_at(next_cycle_after(now));
      return;
    }
    Item item = std::move(front);
    rx_.pop_front();
    if (is_stale) continue;
    --c.queued;
    if (item.kind == Item::kRecord) {
      c.consumed += item.record.data.size();
      report_consumed(now, c);
    }
    hand_over(item);
  }
}

void Llp::hand_over(Item& item) {
  ++moved_;
  switch (item.kind) {
    case Item::kRecord:
      ++records_rx_;
      device_->llp_rx(std::move(item.record));
      break;
    case Item::kEvent:
      device_->llp_event(item.event);
      break;
    case Item::kCredit:
      if (conns_[item.event.connection].serial == item.serial) {
        device_->llp_credit({item.event.connection, conns_[item.event.connection].limit});
      }
      break;
  }
}

void Llp::report_consumed(Time now, Conn& c) {
  // An acknowledgement per eighth of the window saves work. A sender with a narrow window (below 16
  // segments) needs credit for each byte at once. With llp_narrow_connections set, any peer may
  // have a narrow window: this side knows only its own.
  const bool lazy = link_.config().llp_narrow_connections == 0 && c.window >= 16u * link_.mss();
  const uint32_t ack_every = lazy ? c.window / 8 : 1;
  if (c.consumed - c.acked < ack_every || c.state != State::kOpen) return;
  c.acked = c.consumed;
  link_.ack(now, c.peer, {0, c.peer_conn, c.peer_serial, c.consumed});
}

}  // namespace rnic::sim
