// Connections: opening, closing, numbers. See llp.hpp.
#include "llp/llp.hpp"

#include <algorithm>

namespace rnic::sim {
namespace {

/// The window of connection n. It holds at least one segment and the reserve for a Terminate; the
/// first llp_narrow_connections connections have no more than that.
uint32_t window_of(const Link& link, uint16_t n) {
  const auto& cfg = link.config();
  const uint64_t least = link.mss() + 128u;  // 128: term_credit of docs/spec/sizes.yaml
  return static_cast<uint32_t>(
      n < cfg.llp_narrow_connections ? least : std::max(cfg.llp_window_bytes, least));
}

}  // namespace

Llp::Llp(const std::string& name, unsigned host, Link& link)
    : Activity(name + "_llp"), host_(static_cast<uint8_t>(host)), link_(link) {
  link.attach(host, *this);
}

void Llp::attach(Device& device) {
  device_ = &device;
  conns_.resize(std::min<uint32_t>(device.sizes().num_conns, 0xffff));  // 0xFFFF: none
  for (uint32_t n = 0; n < conns_.size(); ++n) free_.push_back(static_cast<uint16_t>(n));
}

void Llp::broken(const std::string& what) {
  if (failure_.empty()) failure_ = fmt::format("{} ns: LLP: {}", kernel_now() / kNs, what);
}

/// The connection of a request or record of the device. A free number is a failure of the run.
Llp::Conn* Llp::find(uint16_t n) {
  if (n >= conns_.size() || conns_[n].state == State::kFree) {
    broken(fmt::format("connection {} is not open", n));
    return nullptr;
  }
  return &conns_[n];
}

uint16_t Llp::take_number() {
  if (free_.empty()) return 0xffff;
  const uint16_t n = free_.front();
  free_.pop_front();
  conns_[n] = Conn{};
  conns_[n].serial = next_serial_++;
  conns_[n].snd_nxt = conns_[n].serial << 12;  // any number, another for each connection
  conns_[n].window = window_of(link_, n);
  return n;
}

void Llp::ctl(const spec::LlpCtlReq& req) {
  if (gone_) return;
  ++moved_;
  switch (req.op) {
    case spec::LlpOp::kListen:
      listening_.insert(req.port);  // a repeat has no effect; the driver refuses it
      break;
    case spec::LlpOp::kUnlisten:
      listening_.erase(req.port);
      break;
    case spec::LlpOp::kConnect:
      connect(req);
      break;
    case spec::LlpOp::kGive:
      give(req.connection, req.length);
      break;
    case spec::LlpOp::kRdmaMode:
      rdma_mode(req);
      break;
    case spec::LlpOp::kHalfClose:
      half_close(req.connection);
      break;
    case spec::LlpOp::kAbort:
      abort(req.connection, true);
      break;
    case spec::LlpOp::kReleased:
      release(req.connection);
      break;
  }
  wake_at(kernel_now());
}

void Llp::connect(const spec::LlpCtlReq& req) {
  const uint16_t n = take_number();
  Item assigned;
  assigned.kind = Item::kEvent;
  assigned.event.kind = spec::LlpEvt::kAssigned;
  assigned.event.connection = n;
  assigned.event.cookie = req.cookie;
  if (n == 0xffff) {
    events_.push_back(std::move(assigned));
    return;
  }
  Conn& c = conns_[n];
  assigned.serial = c.serial;
  events_.push_back(std::move(assigned));
  c.state = State::kConnecting;
  c.cookie = req.cookie;
  c.port = next_port_;
  // The range of ephemeral ports (RFC 6335).
  next_port_ = next_port_ == 65535 ? 49152 : static_cast<uint16_t>(next_port_ + 1);
  c.peer_port = req.port;
  const uint32_t peer = req.address - host_address(0);
  if (!link_.has(peer)) {  // no host has this address: the connection fails by its timer
    timers_.push_back(kernel_now() + link_.config().llp_timeout_us * kUs, n, c.serial, false);
    wake_at(timers_.front().at);
    return;
  }
  c.peer = static_cast<uint8_t>(peer);
  timers_.push_back(kernel_now() + link_.config().llp_timeout_us * kUs, n, c.serial, false);
  wake_at(timers_.front().at);
  send(n, FrameKind::kSyn);
}

void Llp::open(uint16_t n) {
  Conn& c = conns_[n];
  const bool active = c.state == State::kConnecting;
  c.state = State::kOpen;
  c.limit = c.window;
  event(n, active ? spec::LlpEvt::kEstablished : spec::LlpEvt::kIncoming);
  event(n, spec::LlpEvt::kMss, link_.mss());
  credit(n);
}

void Llp::event(uint16_t n, spec::LlpEvt kind, uint32_t length) {
  Conn& c = conns_[n];
  Item item;
  item.kind = Item::kEvent;
  item.serial = c.serial;
  item.event.kind = kind;
  item.event.connection = n;
  item.event.length = static_cast<uint16_t>(std::min(length, 0xffffu));
  item.event.address = host_address(c.peer);
  item.event.port = c.peer_port;
  item.event.local_port = c.port;
  item.event.cookie = c.cookie;
  if (c.queued == 0) {  // no record to wait for: the event passes records of other connections
    events_.push_back(std::move(item));
  } else {
    ++c.queued;
    rx_.push_back(std::move(item));
  }
}

/// Sends the limit to the device, with the value that it has when the item is handed over.
void Llp::credit(uint16_t n) {
  Item item;
  item.kind = Item::kCredit;
  item.serial = conns_[n].serial;
  item.event.connection = n;
  events_.push_back(std::move(item));
}

void Llp::send(uint16_t n, FrameKind kind, Payload data) {
  Conn& c = conns_[n];
  Frame f;
  f.kind = kind;
  f.from = host_;
  f.to = c.peer;
  f.from_conn = n;
  f.to_conn = c.peer_conn;
  f.from_serial = c.serial;
  f.to_serial = c.peer_serial;
  f.from_port = c.port;
  f.to_port = c.peer_port;
  f.seq = c.snd_nxt;
  f.ack = c.rcv_nxt;
  f.window = c.window - std::min(c.window, c.received - c.consumed);
  f.mss = link_.mss();
  const bool takes_one =  // SYN and FIN take a sequence number, as in TCP
      kind == FrameKind::kSyn || kind == FrameKind::kSynAck || kind == FrameKind::kFin;
  c.snd_nxt += data.size() + (takes_one ? 1 : 0);
  f.data = std::move(data);
  link_.send(kernel_now(), std::move(f));
}

/// Answers a frame of an unknown connection with RST.
void Llp::refuse(const Frame& f) {
  Frame r;
  r.kind = FrameKind::kRst;
  r.from = host_;
  r.to = f.from;
  r.from_conn = f.to_conn;
  r.to_conn = f.from_conn;
  r.to_serial = f.from_serial;
  r.from_port = f.to_port;
  r.to_port = f.from_port;
  r.seq = f.ack;
  r.ack = f.seq + 1;
  link_.send(kernel_now(), std::move(r));
}

void Llp::half_close(uint16_t n) {
  Conn* c = find(n);
  if (c == nullptr || c->state != State::kOpen || c->fin_sent) return;
  c->fin_sent = true;
  send(n, FrameKind::kFin);
}

void Llp::abort(uint16_t n, bool tell_device) {
  Conn* c = find(n);
  if (c == nullptr) return;
  if (c->state == State::kOpen && !c->closed_told) send(n, FrameKind::kRst);
  const bool was_live = c->state != State::kDead;
  c->state = State::kDead;
  c->aborted = true;  // drops what is queued for the device
  c->waiting.clear();
  if (!tell_device || !was_live) return;
  // With `queued` 0, event() lets the reset pass the items that are to be dropped.
  const uint32_t queued = std::exchange(c->queued, 0);
  event(n, spec::LlpEvt::kReset);
  c->queued = queued;
}

void Llp::release(uint16_t n) {
  Conn* c = find(n);
  if (c == nullptr) return;
  if (c->state != State::kDead && !c->closed_told) abort(n, false);
  *c = Conn{};
  free_.push_back(n);
}

void Llp::fail_connection(uint16_t n) {
  Conn& c = conns_[n];
  c.state = State::kDead;
  c.waiting.clear();
  event(n, spec::LlpEvt::kFailed);
}

/// Reports kClosed once both sides have closed and the peer has acknowledged our FIN.
void Llp::maybe_closed(uint16_t n) {
  Conn& c = conns_[n];
  if (!c.fin_sent || !c.fin_acked || !c.peer_fin || c.closed_told) return;
  c.closed_told = true;
  event(n, spec::LlpEvt::kClosed);
}

void Llp::reset() {
  if (gone_) return;
  for (uint32_t n = 0; n < conns_.size(); ++n) {
    if (conns_[n].state != State::kFree) release(static_cast<uint16_t>(n));
  }
  free_.clear();
  for (uint32_t n = 0; n < conns_.size(); ++n) free_.push_back(static_cast<uint16_t>(n));
  listening_.clear();
  events_.clear();
  rx_.clear();
  acks_.clear();
  timers_.clear();
  held_tx_ = false;
}

void Llp::remove() {
  if (gone_) return;
  gone_ = true;
  for (auto& a : arrivals_) a.clear();
  for (auto& c : conns_) c = Conn{};
  events_.clear();
  rx_.clear();
  acks_.clear();
  timers_.clear();
  link_.gone(host_);
}

void Llp::peer_gone(unsigned host) {
  const Time at = kernel_now() + link_.config().llp_timeout_us * kUs;
  for (uint32_t n = 0; n < conns_.size(); ++n) {
    const Conn& c = conns_[n];
    if (c.peer != host || c.state == State::kFree || c.state == State::kDead || c.closed_told)
      continue;
    timers_.push_back(at, static_cast<uint16_t>(n), c.serial, true);
  }
  if (!timers_.empty()) wake_at(timers_.front().at);
}

std::string Llp::waiting_for() const {
  std::string out;
  if (!rx_.empty()) {
    out +=
        fmt::format("llp: {} records wait for the device, the first on connection {}\n", rx_.size(),
                    rx_.front().kind == Item::kRecord ? rx_.front().record.connection
                                                      : rx_.front().event.connection);
  }
  for (uint32_t n = 0; n < conns_.size(); ++n) {
    const Conn& c = conns_[n];
    if (c.state != State::kOpen) continue;
    if (!c.is_rdma && c.waiting_bytes != 0)
      out += fmt::format("llp: connection {}: {} streaming bytes wait\n", n, c.waiting_bytes);
    // limit = bytes that the peer's device has accepted + window. An acknowledgement is sent per
    // eighth of the window.
    if (const uint32_t kept = c.sent - (c.limit - c.window); kept > c.window / 8) {
      out +=
          fmt::format("llp: connection {}: {} bytes wait for host{}'s device (its connection {})\n",
                      n, kept, c.peer, c.peer_conn);
    }
    if (c.is_rdma && c.is_passive && !c.heard) {
      out += fmt::format(
          "llp: connection {}: no FPDU has come yet; before one does, this side, which was "
          "called, may send none (RFC 5044 section 7.1.2)\n",
          n);
    }
  }
  return out;
}

}  // namespace rnic::sim
