// Steps of MPA start-up over streaming mode, shared by the active and the passive side.
#pragma once

#include <optional>

#include "core.hpp"
#include "mpa_start.hpp"
#include "rnic/connection.hpp"

namespace rnic::verbs {

/// A connection that no QP has taken yet, and what has come of the peer's frame.
struct PendingStart {
  uint16_t connection = 0;
  Address peer{};
  Time deadline = 0;
  Time look_again = 0;
  std::vector<uint8_t> bytes{};
  std::optional<size_t> follow{};  // bytes after the first 20, once these are here
  StartFrame frame{};
  /// Bytes still to come, as far as is known.
  [[nodiscard]] size_t missing() const { return kStartBytes + follow.value_or(0) - bytes.size(); }
};

/// Waits until done(info). Looks when an event names the connection, and now and then from
/// `look_again` on.
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

/// Hands over up to `count` waiting bytes, behind those that are there: how many came.
[[nodiscard]] Result<size_t> take_bytes(ContextCore& ctx, PendingStart& start, size_t count);
/// With `waiting` bytes there: true once the frame is whole and right. kProtocol: it is not.
[[nodiscard]] Result<bool> read_frame(ContextCore& ctx, PendingStart& start, StartKind kind,
                                      size_t waiting);
/// Until the deadline, where the peer's window has no room for it.
[[nodiscard]] Result<void> send_frame(ContextCore& ctx, uint16_t connection,
                                      const StartFrame& frame, Time deadline);
/// Resets what is left of it and sees to its release.
void drop_connection(ContextCore& ctx, uint16_t connection);
/// Says goodbye (RFC 5044 7.1: close on a bad frame), and sees to its release.
void close_connection(ContextCore& ctx, uint16_t connection);

/// IRD and ORD slots of a QP that is about to connect; given back unless kept.
class DepthSlots {
 public:
  [[nodiscard]] static Result<DepthSlots> take(QpCore& qp, const ConnParam& param);
  DepthSlots(DepthSlots&& o) noexcept;
  DepthSlots& operator=(DepthSlots&&) = delete;
  ~DepthSlots();

  unsigned ird() const { return ird_; }
  unsigned ord() const { return ord_; }
  /// To RTS with these slots; from now on they are the QP's. `reply` leaves as the last streaming
  /// bytes.
  [[nodiscard]] Result<void> start(uint16_t connection, const Agreed& agreed,
                                   const StartFrame* reply, Time deadline);

 private:
  explicit DepthSlots(QpCore& qp) : qp_(&qp) {}
  QpCore* qp_;
  uint32_t ird_base_ = 0, ord_base_ = 0;
  unsigned ird_ = 0, ord_ = 0;
};

}  // namespace rnic::verbs
