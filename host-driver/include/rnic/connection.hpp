// Connections, in librdmacm's words: resolve, listen, connect, accept, reject, disconnect. MPA
// start-up (RFC 5044 section 7, RFC 6581) happens inside, over the device's streaming mode.
// Time-outs are simulated time.
//
//   client:  auto c = connect(qp, Address::resolve("10.0.0.2", 4791).value(), {}).value();
//   server:  auto l = listen(ctx, 4791).value();
//            auto r = l.get_request(dev.now() + kMs).value();
//            auto c = r.accept(qp, {}).value();              // or r.reject(why)
//   both:    c.disconnect();
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rnic/verbs.hpp"

namespace rnic::verbs {

struct Address {
  uint32_t ip = 0;  ///< 10.0.0.2 is 0x0a000002
  uint16_t port = 0;

  /// Dotted decimal: there are no names to look up here.
  [[nodiscard]] static Result<Address> resolve(std::string_view host, uint16_t port);
};
std::string to_string(const Address& address);

struct ConnParam {
  std::span<const uint8_t>
      private_data{};                ///< up to 512 bytes; 508 with revision 2; 8 less with flush
  unsigned responder_resources = 8;  ///< IRD wanted; fewer if the device has fewer left
  unsigned initiator_depth = 8;      ///< ORD wanted
  bool markers = false;  ///< ask the peer to send markers; its own wish is always honoured
  bool crc = true;       ///< used if either side wants it
  /// Ask for the extensions, Flush, atomics and Atomic Write: they are on if both sides ask.
  bool flush = false;       // takes 8 bytes of private data
  unsigned revision = 2;    ///< of the Request: 1, or 2 with IRD and ORD. A Reply has the Request's
  Time timeout = 10 * kMs;  ///< for each step
  std::vector<uint8_t>* rejected_with = nullptr;  ///< gets the private data of a reject
};

/// A QP's connection. The QP holds it: it lasts until disconnect() or the QP's end.
class Connection {
 public:
  Connection() = default;
  Connection(std::shared_ptr<QpCore> qp, std::vector<uint8_t> private_data, Address peer)
      : qp_(std::move(qp)), private_data_(std::move(private_data)), peer_(peer) {}

  std::span<const uint8_t> private_data() const { return private_data_; }  ///< the peer's
  const Address& peer() const { return peer_; }
  unsigned responder_resources() const;  ///< IRD agreed
  unsigned initiator_depth() const;      ///< ORD agreed
  bool uses_crc() const;
  bool has_flush() const;  ///< both sides asked for the extensions
  bool sends_markers() const;
  bool receives_markers() const;

  /// Until the peer has closed, or the QP has left RTS. kTimedOut at the deadline.
  [[nodiscard]] Result<void> wait_disconnected(Time deadline);
  /// Graceful: what was posted is sent, then each side closes. After the time-out it is aborted,
  /// and kTimedOut.
  [[nodiscard]] Result<void> disconnect(Time timeout = 10 * kMs);

 private:
  std::shared_ptr<QpCore> qp_;
  std::vector<uint8_t> private_data_;
  Address peer_;
};

[[nodiscard]] Result<Connection> connect(Qp& qp, const Address& peer, const ConnParam& param);

struct PendingStart;

/// A peer that wants to connect: its MPA Request has arrived. Dropped without an answer, it is
/// aborted.
class ConnRequest {
 public:
  ConnRequest(std::shared_ptr<ContextCore> context, std::unique_ptr<PendingStart> start);
  ConnRequest(ConnRequest&&) noexcept;
  ConnRequest& operator=(ConnRequest&&) noexcept;
  ~ConnRequest();

  std::span<const uint8_t> private_data() const;
  const Address& peer() const;
  unsigned revision() const;
  [[nodiscard]] Result<Connection> accept(Qp& qp, const ConnParam& param);
  [[nodiscard]] Result<void> reject(std::span<const uint8_t> private_data = {});

 private:
  void abandon();
  std::shared_ptr<ContextCore> context_;
  std::unique_ptr<PendingStart> start_;
};

class Listener {
 public:
  Listener(std::shared_ptr<ContextCore> context, uint16_t port);
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  /// The next peer whose Request is complete and right; others are closed on the way. kTimedOut at
  /// the deadline.
  [[nodiscard]] Result<ConnRequest> get_request(Time deadline);
  uint16_t port() const { return port_; }
  uint32_t bad_requests() const { return bad_requests_; }
  Time request_timeout = 10 * kMs;  ///< a peer that connects must send its Request within

 private:
  Result<bool> advance(PendingStart& start);
  std::shared_ptr<ContextCore> context_;
  uint16_t port_ = 0;
  uint32_t bad_requests_ = 0;
  std::vector<std::unique_ptr<PendingStart>> starting_;
};

/// A port has one listener a device, whichever context it came through: a second is kAlreadyExists
/// until the first is gone. Port 0: kInvalidArgument.
[[nodiscard]] Result<Listener> listen(const Context& context, uint16_t port);

}  // namespace rnic::verbs
