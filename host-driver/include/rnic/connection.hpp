// Connections, with librdmacm's names: resolve, listen, connect, accept, reject, disconnect. The
// driver performs MPA start-up (RFC 5044 section 7, RFC 6581) over the device's streaming mode.
// Time-outs are in simulated time.
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

  /// Parses dotted decimal; there is no name service. kInvalidArgument: anything else.
  [[nodiscard]] static Result<Address> resolve(std::string_view host, uint16_t port);
};
std::string to_string(const Address& address);

struct ConnParam {
  /// Up to 512 bytes; 508 with revision 2; 8 less with `flush`.
  std::span<const uint8_t> private_data{};
  unsigned responder_resources = 8;  ///< IRD wanted; fewer if the device has fewer free slots
  unsigned initiator_depth = 8;      ///< ORD wanted; fewer if the device has fewer free slots
  bool markers = false;  ///< ask the peer to send markers; the peer's own request is always granted
  bool crc = true;       ///< CRC is used if either side asks for it
  /// Ask for the extensions: Flush, atomics, Atomic Write. They are enabled if both sides ask.
  bool flush = false;     // takes 8 bytes of private data
  unsigned revision = 2;  ///< of the Request: 1, or 2 with IRD and ORD; a Reply copies it
  /// For each step alone: until connected, sending the frame, waiting for the Reply.
  Time timeout = 10 * kMs;
  std::vector<uint8_t>* rejected_with = nullptr;  ///< receives the private data of a reject
};

/// The connection of a QP. The QP holds it until disconnect() or the QP's end.
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

  /// Waits until the peer has closed or the QP has left RTS. kTimedOut at the deadline.
  [[nodiscard]] Result<void> wait_disconnected(Time deadline);
  /// Closes gracefully: the device sends all posted requests, then each side closes. After the
  /// time-out the connection is aborted and the result is kTimedOut.
  [[nodiscard]] Result<void> disconnect(Time timeout = 10 * kMs);

 private:
  std::shared_ptr<QpCore> qp_;
  std::vector<uint8_t> private_data_;
  Address peer_;
};

[[nodiscard]] Result<Connection> connect(Qp& qp, const Address& peer, const ConnParam& param);

struct PendingStart;

/// A peer that wants to connect: its MPA Request has arrived. A request that is destroyed
/// unanswered is aborted.
class ConnRequest {
 public:
  ConnRequest(std::shared_ptr<ContextCore> context, std::unique_ptr<PendingStart> start);
  ConnRequest(ConnRequest&&) noexcept;
  ConnRequest& operator=(ConnRequest&&) noexcept;
  ~ConnRequest();

  std::span<const uint8_t> private_data() const;
  const Address& peer() const;
  unsigned revision() const;  ///< MPA revision of the Request, which the Reply copies
  /// Sends the Reply and moves the QP to RTS. kRefused: no RTR message that both sides support (RFC
  /// 6581); accept() has then rejected the peer. kBadState: the request is already answered, or the
  /// QP is not in IBV_QPS_INIT.
  [[nodiscard]] Result<Connection> accept(Qp& qp, const ConnParam& param);
  /// Sends a Reply with the reject flag and closes. kBadState: the request is already answered.
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

  /// Returns the next peer whose Request is complete and valid; peers with bad Requests are closed
  /// meanwhile. kTimedOut at the deadline.
  [[nodiscard]] Result<ConnRequest> get_request(Time deadline);
  uint16_t port() const { return port_; }
  uint32_t bad_requests() const { return bad_requests_; }  ///< peers closed by get_request()
  Time request_timeout = 10 * kMs;  ///< time-out of a peer's Request after it connects

 private:
  Result<bool> advance(PendingStart& start);
  std::shared_ptr<ContextCore> context_;
  uint16_t port_ = 0;
  uint32_t bad_requests_ = 0;
  std::vector<std::unique_ptr<PendingStart>> starting_;
};

/// A port has one listener per device, across contexts. kAlreadyExists: the port still has a
/// listener; kInvalidArgument: port 0.
[[nodiscard]] Result<Listener> listen(const Context& context, uint16_t port);

}  // namespace rnic::verbs
