// Connections: active side, passive side, disconnecting. Steps: start_steps.hpp; frames:
// mpa_start.hpp.
#include "rnic/connection.hpp"

#include <algorithm>
#include <charconv>

#include "base/log.hpp"
#include "core.hpp"
#include "start_steps.hpp"

namespace rnic::verbs {

namespace {

auto& log = base::logger("driver");

// The connection carries no more bytes.
bool is_over(spec::ConnState s) {
  return s == spec::ConnState::kFree || s == spec::ConnState::kClosed ||
         s == spec::ConnState::kReset || s == spec::ConnState::kFailed;
}

StartOffer offer_of(const ConnParam& param, const DepthSlots& slots) {
  return {.markers = param.markers,
          .crc = param.crc,
          .revision = static_cast<uint8_t>(param.revision),
          .ird = slots.ird(),
          .ord = slots.ord(),
          .flush = param.flush,
          .private_data = param.private_data};
}

/// Active side: waits until the connection is established, sends the Request, reads the Reply.
Result<StartFrame> exchange(ContextCore& ctx, uint16_t number, const StartFrame& request,
                            Time timeout) {
  auto open =
      wait_connection(ctx, number, ctx.dev.now() + timeout, "no answer to connect",
                      [](const auto& i) { return i.state != spec::ConnState::kConnecting; });
  if (!open) return error_of(open);
  if (open->state != spec::ConnState::kEstablished && open->state != spec::ConnState::kPeerClosed)
    return fail(Errc::kRefused, "connection {}: {}", number, to_string(open->state));
  if (auto r = send_frame(ctx, number, request, ctx.dev.now() + timeout); !r) return error_of(r);

  PendingStart start{.connection = number};
  const Time deadline = ctx.dev.now() + timeout;
  for (;;) {
    const size_t want = start.missing();
    auto info = wait_connection(
        ctx, number, deadline, "no MPA Reply",
        [&](const auto& i) {
          return i.waiting >= want || i.state == spec::ConnState::kPeerClosed || is_over(i.state);
        },
        start.look_again);
    if (!info) return error_of(info);
    if (info->waiting < want)
      return fail(Errc::kConnectionLost, "connection {}: {} before the MPA Reply was whole", number,
                  to_string(info->state));
    const auto whole = read_frame(ctx, start, StartKind::kReply, info->waiting);
    if (!whole) return error_of(whole);
    if (*whole) return std::move(start.frame);
    // An event starts the next query earlier, unless another thread took its interrupt (recheck).
    start.look_again = ctx.dev.now() + ctx.mgr.settings().recheck;
    if (ctx.dev.now() >= deadline)
      return fail(Errc::kTimedOut, "connection {}: no MPA Reply", number);
  }
}

}  // namespace

Result<Address> Address::resolve(std::string_view host, uint16_t port) {
  Address a{.port = port};
  const char* at = host.data();
  const char* const end = at + host.size();
  for (int i = 0; i < 4; i++) {
    unsigned part = 256;  // invalid, if there is no number
    const auto [next, ec] = std::from_chars(at, end, part);
    const bool separated = i == 3 ? next == end : (next != end && *next == '.');
    if (ec != std::errc() || part > 255 || !separated)
      return fail(Errc::kInvalidArgument,
                  "address \"{}\": four numbers from 0 to 255 with dots between", host);
    a.ip = a.ip << 8 | part;
    at = next + (i == 3 ? 0 : 1);
  }
  return a;
}

std::string to_string(const Address& a) {
  return fmt::format("{}.{}.{}.{}:{}", a.ip >> 24, a.ip >> 16 & 255, a.ip >> 8 & 255, a.ip & 255,
                     a.port);
}

Result<Connection> connect(Qp& qp, const Address& peer, const ConnParam& param) {
  const auto core = qp.core();
  ContextCore& ctx = core->ctx;
  auto slots = DepthSlots::take(*core, param);
  if (!slots) return error_of(slots);
  const StartOffer offer = offer_of(param, *slots);
  auto request = make_request(offer);
  if (!request) return error_of(request);
  ctx.mgr.sweep_retired(ctx.dev);

  spec::AdminConnArgs args;
  args.peer_address = peer.ip;
  args.peer_port = peer.port;
  const auto rsp = ctx.mgr.execute_args(ctx.dev, spec::AdminOpcode::kConnConnect, 0, args);
  if (!rsp) return error_of(rsp);
  const uint16_t number = spec::AdminConnResult::unpack(rsp->result).connection;
  ctx.mgr.track_connection(number);

  auto give_up = [&](Error why) -> Result<Connection> {
    drop_connection(ctx, number);
    why.what = fmt::format("connect to {}: {}", to_string(peer), why.what);
    return tl::unexpected<Error>(std::move(why));
  };
  auto reply = exchange(ctx, number, *request, param.timeout);
  if (!reply) return give_up(reply.error());
  if (reply->reject && param.rejected_with != nullptr) *param.rejected_with = reply->private_data;
  take_extension(*reply, offer);
  const auto agreed = conclude(*reply, offer);
  if (!agreed) return give_up(agreed.error());
  // No Reply is to be sent, so start() need not wait for the peer's window: its deadline is now.
  if (auto r = slots->start(number, *agreed, nullptr, ctx.dev.now()); !r) return give_up(r.error());
  return Connection(core, std::move(reply->private_data), peer);
}

// --- the passive side ---

Result<Listener> listen(const Context& context, uint16_t port) {
  if (port == 0) return fail(Errc::kInvalidArgument, "listen: port 0 is none");
  ContextCore& ctx = *context.core();
  // Register the listener before the command: the first peer may arrive at once. A second listener
  // is detected here, because the device answers ok to a repeated conn_listen.
  if (!ctx.mgr.shared(ctx.dev).add_listener(port))
    return fail(Errc::kAlreadyExists, "port {}: this device listens there already", port);
  if (auto rsp = ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kConnListen, port); !rsp) {
    ctx.mgr.remove_listener(ctx.dev, port);
    return error_of(rsp);
  }
  return Listener(context.core(), port);
}

Listener::Listener(std::shared_ptr<ContextCore> context, uint16_t port)
    : context_(std::move(context)), port_(port) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&& o) noexcept {
  if (this != &o) {
    Listener gone(std::move(*this));  // its destructor ends the listening of this handle so far
    context_ = std::move(o.context_);
    port_ = o.port_;
    starting_ = std::move(o.starting_);
    bad_requests_ = o.bad_requests_;
    request_timeout = o.request_timeout;
  }
  return *this;
}

Listener::~Listener() {
  if (context_ == nullptr) return;
  ContextCore& ctx = *context_;
  (void)ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kConnUnlisten, port_);
  for (const auto& s : starting_) drop_connection(ctx, s->connection);
  ctx.mgr.remove_listener(ctx.dev, port_);
}

// Returns true once the Request is complete. On error the caller closes this peer.
Result<bool> Listener::advance(PendingStart& start) {
  ContextCore& ctx = *context_;
  const Time now = ctx.dev.now();
  if (ctx.mgr.conn_event[start.connection] == 0 && now < start.look_again) return false;
  start.look_again = now + ctx.mgr.settings().recheck;
  const auto info = ctx.mgr.query_connection(ctx.dev, start.connection);
  if (!info) return error_of(info);
  start.peer = {.ip = info->peer_address, .port = info->peer_port};
  const auto whole = read_frame(ctx, start, StartKind::kRequest, info->waiting);
  if (!whole || *whole) return whole;
  if (info->state != spec::ConnState::kEstablished)
    return fail(Errc::kConnectionLost, "connection {}: {} before the MPA Request was whole",
                start.connection, to_string(info->state));
  if (now >= start.deadline)
    return fail(Errc::kTimedOut, "connection {}: no MPA Request", start.connection);
  return false;
}

Result<ConnRequest> Listener::get_request(Time deadline) {
  ContextCore& ctx = *context_;
  std::unique_ptr<PendingStart> found;
  auto look = [&] {
    ctx.mgr.sweep_retired(ctx.dev);
    auto& fresh = ctx.mgr.incoming(ctx.dev, port_);
    for (; !fresh.empty(); fresh.pop_front()) {
      auto s = std::make_unique<PendingStart>();
      s->connection = fresh.front();
      s->deadline = ctx.dev.now() + request_timeout;
      starting_.push_back(std::move(s));
    }
    for (size_t i = 0; i < starting_.size() && found == nullptr;) {
      const auto whole = advance(*starting_[i]);
      if (whole && !*whole) {
        i++;
        continue;
      }
      auto s = std::move(starting_[i]);
      starting_.erase(starting_.begin() + static_cast<std::ptrdiff_t>(i));
      if (whole) {
        found = std::move(s);
      } else {
        bad_requests_++;
        RNIC_LOG_WARN(log, "port {}: {} is closed: {}", port_, to_string(s->peer),
                      whole.error().what);
        close_connection(ctx, s->connection);
      }
    }
    return found != nullptr;
  };
  if (!ctx.mgr.wait_event(ctx.dev, 0, deadline, look))
    return fail(Errc::kTimedOut, "port {}: no peer connects", port_);
  return ConnRequest(context_, std::move(found));
}

ConnRequest::ConnRequest(std::shared_ptr<ContextCore> context, std::unique_ptr<PendingStart> start)
    : context_(std::move(context)), start_(std::move(start)) {}
ConnRequest::ConnRequest(ConnRequest&&) noexcept = default;
ConnRequest& ConnRequest::operator=(ConnRequest&& o) noexcept {
  if (this != &o) {
    abandon();
    context_ = std::move(o.context_);
    start_ = std::move(o.start_);
  }
  return *this;
}
ConnRequest::~ConnRequest() { abandon(); }

void ConnRequest::abandon() {
  if (start_ == nullptr) return;
  drop_connection(*context_, start_->connection);
  start_ = nullptr;
}

std::span<const uint8_t> ConnRequest::private_data() const { return start_->frame.private_data; }
const Address& ConnRequest::peer() const { return start_->peer; }
unsigned ConnRequest::revision() const { return start_->frame.revision; }

Result<Connection> ConnRequest::accept(Qp& qp, const ConnParam& param) {
  if (start_ == nullptr) return fail(Errc::kBadState, "accept: the request has been answered");
  const auto core = qp.core();
  auto slots = DepthSlots::take(*core, param);
  if (!slots) return error_of(slots);
  const auto answer = answer_request(start_->frame, offer_of(param, *slots));
  if (!answer) {
    if (answer.error().code == Errc::kRefused) (void)reject();
    return error_of(answer);
  }
  const Time deadline = context_->dev.now() + param.timeout;
  if (auto r = slots->start(start_->connection, answer->agreed, &answer->reply, deadline); !r)
    return error_of(r);
  Connection c(core, std::move(start_->frame.private_data), start_->peer);
  start_ = nullptr;  // the QP owns the connection now
  return c;
}

Result<void> ConnRequest::reject(std::span<const uint8_t> private_data) {
  if (start_ == nullptr) return fail(Errc::kBadState, "reject: the request has been answered");
  const auto reply = make_reject(start_->frame, private_data);
  if (!reply) return error_of(reply);
  const Time deadline = context_->dev.now() + context_->mgr.settings().linger;
  auto sent = send_frame(*context_, start_->connection, *reply, deadline);
  close_connection(*context_, start_->connection);
  start_ = nullptr;
  return sent;
}

// --- both sides ---

unsigned Connection::responder_resources() const { return qp_->agreed.ird; }
unsigned Connection::initiator_depth() const { return qp_->agreed.ord; }
bool Connection::uses_crc() const { return qp_->agreed.use_crc != 0; }
bool Connection::has_flush() const { return qp_->agreed.persist != 0; }
bool Connection::sends_markers() const { return qp_->agreed.tx_markers != 0; }
bool Connection::receives_markers() const { return qp_->agreed.rx_markers != 0; }

Result<void> Connection::wait_disconnected(Time deadline) {
  QpCore& q = *qp_;
  if (!q.live || !q.connection) return {};
  Manager& m = q.ctx.mgr;
  const uint16_t number = *q.connection;
  Time look_again = 0;
  auto look = [&] {
    if (m.conn_event[number] == 0 && m.qp_event[q.qpn] == 0 && q.ctx.dev.now() < look_again)
      return false;
    look_again = q.ctx.dev.now() + m.settings().recheck;
    m.qp_event[q.qpn] = 0;
    const auto info = q.refresh();
    if (!info || info->state != IBV_QPS_RTS) return true;
    const auto conn = m.query_connection(q.ctx.dev, number);
    return !conn || conn->state != spec::ConnState::kEstablished;
  };
  if (m.wait_event(q.ctx.dev, 0, deadline, look)) return {};
  return fail(Errc::kTimedOut, "qp {}: the peer keeps the connection", q.qpn);
}

Result<void> Connection::disconnect(Time timeout) {
  QpCore& q = *qp_;
  if (!q.live || !q.connection) return {};
  PciDevice& dev = q.ctx.dev;
  const auto info = q.refresh();
  if (!info) return error_of(info);
  if (info->state == IBV_QPS_RTS) {
    // kBadState: the QP has left RTS meanwhile, so no close request is needed.
    if (auto r = q.leave(IBV_QPS_SQD); !r && r.error().code != Errc::kBadState) return r;
  }
  auto drained = q.wait_drained(dev.now() + timeout);
  if (drained || drained.error().code != Errc::kTimedOut) return drained;
  (void)q.ctx.mgr.execute(dev, spec::AdminOpcode::kConnAbort, *q.connection);
  (void)q.wait_drained(dev.now() + timeout);
  return drained;
}

}  // namespace rnic::verbs
