// Steps of MPA start-up over streaming mode, common to the active and the passive side.
#pragma once

#include <optional>

#include "core.hpp"
#include "mpa_start.hpp"
#include "rnic/connection.hpp"

namespace rnic::verbs {

/// A connection that no QP owns yet, and the part of the peer's frame received so far.
struct PendingStart {
  uint16_t connection = 0;
  Address peer{};
  Time deadline = 0;
  Time look_again = 0;  // query the connection from this time on, also without an event
  std::vector<uint8_t> bytes{};
  std::optional<size_t> follow{};  // bytes after the first 20; set once the first 20 are parsed
  StartFrame frame{};
  /// Bytes still to come, as far as known.
  [[nodiscard]] size_t missing() const { return kStartBytes + follow.value_or(0) - bytes.size(); }
};

/// Waits until done(info). Queries the connection when an event names it, and every `recheck` from
/// `look_again` on. kTimedOut at the deadline.
template <class Done>
Result<spec::AdminConnResult> wait_connection(ContextCore& ctx, uint16_t connection, Time deadline,
                                              std::string_view what, Done&& done,
                                              Time look_again = 0) {
  Manager& m = ctx.mgr;
  Result<spec::AdminConnResult> info = fail(Errc::kTimedOut, "connection {}: {}", connection, what);
  auto look = [&] {
    if (m.conn_event[connection] == 0 && ctx.dev.now() < look_again) return false;
    auto now = m.query_connection(ctx.dev, connection);
    look_again = ctx.dev.now() + m.settings().recheck;
    if (now && !done(*now)) return false;
    info = std::move(now);
    return true;
  };
  (void)m.wait_event(ctx.dev, 0, deadline, look);
  return info;
}

/// Moves up to `count` waiting bytes to the end of start.bytes. Returns how many arrived.
[[nodiscard]] Result<size_t> take_bytes(ContextCore& ctx, PendingStart& start, size_t count);
/// Takes the frame's next bytes if all of them wait (`waiting`: bytes that wait in the device).
/// Returns true once the frame is complete and valid, in start.frame. kProtocol: it is invalid.
[[nodiscard]] Result<bool> read_frame(ContextCore& ctx, PendingStart& start, StartKind kind,
                                      size_t waiting);
/// Sends the frame; retries until the deadline while the peer's window has no room.
[[nodiscard]] Result<void> send_frame(ContextCore& ctx, uint16_t connection,
                                      const StartFrame& frame, Time deadline);
/// Aborts the connection and schedules its release.
void drop_connection(ContextCore& ctx, uint16_t connection);
/// Closes the connection (RFC 5044 7.1: close on a bad frame) and schedules its release.
void close_connection(ContextCore& ctx, uint16_t connection);

/// IRD and ORD slots of a QP that is about to connect; released by the destructor unless start()
/// passed them on.
class DepthSlots {
 public:
  [[nodiscard]] static Result<DepthSlots> take(QpCore& qp, const ConnParam& param);
  DepthSlots(DepthSlots&& o) noexcept;
  DepthSlots& operator=(DepthSlots&&) = delete;
  ~DepthSlots();

  unsigned ird() const { return ird_; }
  unsigned ord() const { return ord_; }
  /// Moves the QP to RTS with these slots, which then belong to the QP. The device sends `reply` as
  /// the last streaming bytes.
  [[nodiscard]] Result<void> start(uint16_t connection, const Agreed& agreed,
                                   const StartFrame* reply, Time deadline);

 private:
  explicit DepthSlots(QpCore& qp) : qp_(&qp) {}
  QpCore* qp_;
  uint32_t ird_base_ = 0, ord_base_ = 0;
  unsigned ird_ = 0, ord_ = 0;
};

}  // namespace rnic::verbs
