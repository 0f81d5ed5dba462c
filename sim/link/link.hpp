// The wires between two hosts, one per direction: rate, delay, MTU. A frame takes
// frame_bytes(segment) on the wire. An `Ack` takes only the delay and no bytes on the wire, as if
// it were part of a frame of the other direction. A frame to the sender's own address also uses the
// wire.
//
//   Link link(config);
//   link.attach(0, endpoint0);
//   link.attach(1, endpoint1);
//   link.send(now, std::move(frame));   // calls endpoint1.frame_arrives with a future time
#pragma once

#include <array>
#include <vector>

#include "kernel/serial_line.hpp"
#include "link/config.hpp"
#include "link/frame.hpp"
#include "link/wire_limit.hpp"

namespace rnic::sim {

/// Acknowledges bytes of a connection to their sender.
struct Ack {
  Time at = 0;        // of arrival; Link::ack() sets it
  uint16_t conn = 0;  // the sender's number of the connection, and its serial
  uint32_t serial = 0;
  uint32_t bytes = 0;  // accepted by the peer's device since the connection began, modulo 2^32
};

/// The receiver at one end of the link. `at`: the time of arrival, which is in the future.
class LinkEnd {
 public:
  virtual ~LinkEnd() = default;
  virtual void frame_arrives(Time at, Frame&& frame) = 0;
  virtual void ack_arrives(const Ack& ack) = 0;
  /// The device of `host` was removed or lost its power. No frame reports this.
  virtual void peer_gone(unsigned host) = 0;
};

/// Observes each frame when its last bit arrives, in order of time.
class LinkTap {
 public:
  virtual ~LinkTap() = default;
  virtual void frame(Time at, const Frame& frame) = 0;
};

class Link {
 public:
  static constexpr unsigned kHosts = 2;

  explicit Link(const LinkConfig& config)
      : config_(config), lines_{SerialLine(config.link_gbps), SerialLine(config.link_gbps)} {}

  void attach(unsigned host, LinkEnd& end) { ends_[host] = &end; }
  void tap(LinkTap& tap) { taps_.push_back(&tap); }
  const LinkConfig& config() const { return config_; }
  uint16_t mss() const { return static_cast<uint16_t>(config_.mtu - kIpTcpHeaders); }
  Time delay() const { return config_.link_delay_ns * kNs; }
  bool has(unsigned host) const { return host < kHosts && ends_[host] != nullptr; }

  void send(Time now, Frame&& frame) {
    const uint64_t bytes = frame_bytes(frame.data.size());
    ++frames_;
    bytes_ += bytes;
    const Time at = lines_[frame.from].send(now, bytes) + delay();
    ends_[frame.to]->frame_arrives(at, std::move(frame));
  }
  void ack(Time now, unsigned to, Ack a) {
    a.at = now + delay();
    ends_[to]->ack_arrives(a);
  }
  /// Reports to all other hosts that the device of `host` was removed (LinkEnd::peer_gone).
  void gone(unsigned host) {
    for (unsigned h = 0; h < kHosts; ++h) {
      if (h != host && has(h)) ends_[h]->peer_gone(host);
    }
  }
  /// Backlog at the wire of this host, in time.
  Time backlog(unsigned host, Time now) const { return lines_[host].backlog(now); }
  /// Time that these bytes take on a free wire.
  Time duration(uint64_t bytes) const { return lines_[0].duration(bytes); }
  /// The receiving end reports that it has accepted the frame from the wire.
  void arrived(Time at, const Frame& frame) {
    for (auto* t : taps_) t->frame(at, frame);
  }
  uint64_t frames() const { return frames_; }
  uint64_t bytes() const { return bytes_; }  ///< on the wire, gaps included

 private:
  const LinkConfig config_;
  std::array<SerialLine, kHosts> lines_;
  std::array<LinkEnd*, kHosts> ends_{};
  std::vector<LinkTap*> taps_;
  uint64_t frames_ = 0, bytes_ = 0;
};

}  // namespace rnic::sim
