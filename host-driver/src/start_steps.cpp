// Steps of MPA start-up: see start_steps.hpp.
#include "start_steps.hpp"

#include <algorithm>
#include <cstring>

namespace rnic::verbs {

namespace {

// Offsets in ContextCore::bounce: of received and of sent frames. A frame is shorter than 2048
// bytes.
constexpr uint32_t kGiveArea = 0, kSendArea = 2048;

/// conn_give or conn_send: the device moves streaming bytes to or from this memory.
Result<spec::AdminRsp> stream_command(ContextCore& ctx, spec::AdminOpcode opcode,
                                      uint16_t connection, uint64_t address, size_t length) {
  spec::AdminConnArgs args;
  args.address = address;
  args.length = static_cast<uint16_t>(length);
  return ctx.mgr.execute_args(ctx.dev, opcode, connection, args);
}

// Retries `attempt` while the LLP refuses bytes because the peer's window has no room.
template <class Try>
Result<void> with_credit(ContextCore& ctx, uint16_t connection, Time deadline, Try&& attempt) {
  Result<void> result;
  auto done = [&] {
    result = attempt();
    return result || result.error().code != Errc::kQueueFull;
  };
  if (done() || ctx.mgr.wait_event(ctx.dev, 0, deadline, done)) return result;
  return fail(Errc::kTimedOut, "connection {}: the peer's window stays closed", connection);
}

// Takes `count` numbers, or the longest free run if it is shorter, and sets `count` to the number
// taken. From an empty pool it asks for 1, so that take() fails.
Result<uint32_t> take_some(RangePool& pool, unsigned& count, std::string_view what) {
  count = std::min<unsigned>(count, std::max(pool.largest(), 1u));
  return pool.take(count, what);
}

}  // namespace

Result<size_t> take_bytes(ContextCore& ctx, PendingStart& start, size_t count) {
  const auto rsp = stream_command(ctx, spec::AdminOpcode::kConnGive, start.connection,
                                  ctx.bounce.bus(kGiveArea), count);
  if (!rsp && rsp.error().code == Errc::kInvalidArgument) return size_t{0};  // fewer bytes wait now
  if (!rsp) return error_of(rsp);
  const size_t came = spec::AdminGiveResult::unpack(rsp->result).length;
  if (came > count)
    return fail(Errc::kDeviceError, "connection {}: {} bytes for {}", start.connection, came,
                count);
  const auto got = ctx.bounce.bytes().subspan(kGiveArea, came);
  start.bytes.insert(start.bytes.end(), got.begin(), got.end());
  return came;
}

Result<bool> read_frame(ContextCore& ctx, PendingStart& start, StartKind kind, size_t waiting) {
  for (;;) {
    if (const size_t need = start.missing(); need != 0) {
      if (waiting < need) return false;
      const auto came = take_bytes(ctx, start, need);
      if (!came) return error_of(came);
      if (*came < need) return false;  // fewer than reported: an event brings the new count
      waiting -= need;
    }
    if (start.follow) break;
    const auto follow = parse_header(start.bytes, kind);
    if (!follow) return error_of(follow);
    start.follow = *follow;
  }
  auto frame = parse(start.bytes, kind);
  if (!frame) return error_of(frame);
  start.frame = std::move(*frame);
  return true;
}

Result<void> send_frame(ContextCore& ctx, uint16_t connection, const StartFrame& frame,
                        Time deadline) {
  const auto bytes = encode(frame);
  return with_credit(ctx, connection, deadline, [&]() -> Result<void> {
    std::memcpy(ctx.bounce.data() + kSendArea, bytes.data(), bytes.size());
    if (auto rsp = stream_command(ctx, spec::AdminOpcode::kConnSend, connection,
                                  ctx.bounce.bus(kSendArea), bytes.size());
        !rsp)
      return error_of(rsp);
    return {};
  });
}

void drop_connection(ContextCore& ctx, uint16_t connection) {
  (void)ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kConnAbort, connection);
  ctx.mgr.retire_connection(ctx.dev, connection);
}

void close_connection(ContextCore& ctx, uint16_t connection) {
  (void)ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kConnClose, connection);
  ctx.mgr.retire_connection(ctx.dev, connection);
}

Result<DepthSlots> DepthSlots::take(QpCore& qp, const ConnParam& param) {
  Manager& m = qp.ctx.mgr.shared(qp.ctx.dev);
  const DeviceAttr& attr = m.attr();
  if (!qp.live || qp.state != IBV_QPS_INIT || qp.connection)
    return fail(Errc::kBadState, "qp {}: {} is not ready to be connected", qp.qpn,
                to_string(qp.state));
  if (param.responder_resources > attr.max_qp_rd_atom ||
      param.initiator_depth > attr.max_qp_init_rd_atom)
    return fail(Errc::kInvalidArgument, "qp {}: IRD {} and ORD {}, at most {} and {}", qp.qpn,
                param.responder_resources, param.initiator_depth, attr.max_qp_rd_atom,
                attr.max_qp_init_rd_atom);
  DepthSlots s(qp);
  unsigned ird = param.responder_resources, ord = param.initiator_depth;
  if (ird != 0) {
    const auto base = take_some(m.ird, ird, "IRD slots");
    if (!base) return error_of(base);
    s.ird_base_ = *base;
    s.ird_ = ird;
  }
  if (ord != 0) {
    const auto base = take_some(m.ord, ord, "ORD slots");
    if (!base) return error_of(base);
    s.ord_base_ = *base;
    s.ord_ = ord;
  }
  return s;
}

DepthSlots::DepthSlots(DepthSlots&& o) noexcept
    : qp_(std::exchange(o.qp_, nullptr)),
      ird_base_(o.ird_base_),
      ord_base_(o.ord_base_),
      ird_(o.ird_),
      ord_(o.ord_) {}

DepthSlots::~DepthSlots() {
  if (qp_ == nullptr) return;
  qp_->ctx.mgr.shared(qp_->ctx.dev).ird.give(ird_base_, ird_);
  qp_->ctx.mgr.ord.give(ord_base_, ord_);
}

Result<void> DepthSlots::start(uint16_t connection, const Agreed& agreed, const StartFrame* reply,
                               Time deadline) {
  ContextCore& ctx = qp_->ctx;
  spec::AdminModifyArgs args;
  args.use_crc = agreed.use_crc;
  args.rx_markers = agreed.rx_markers;
  args.tx_markers = agreed.tx_markers;
  args.persist = agreed.flush;
  args.connection = connection;
  args.ird = static_cast<uint8_t>(agreed.ird);
  args.ord = static_cast<uint8_t>(agreed.ord);
  args.ird_base = static_cast<uint16_t>(ird_base_);
  args.ord_base = static_cast<uint16_t>(ord_base_);
  std::vector<uint8_t> bytes;
  if (reply != nullptr) {
    bytes = encode(*reply);
    args.stream_address = ctx.bounce.bus(kSendArea);
    args.stream_length = static_cast<uint16_t>(bytes.size());
    args.hold_tx = 1;  // RFC 5044 7.1: the responder sends no FPDU before the initiator's first
  }
  auto started = with_credit(ctx, connection, deadline, [&] {
    std::copy(bytes.begin(), bytes.end(), ctx.bounce.bytes().begin() + kSendArea);
    return qp_->to_rts(args);
  });
  if (!started) return started;
  qp_->ird_taken = ird_;
  qp_->ord_taken = ord_;
  qp_ = nullptr;
  return {};
}

}  // namespace rnic::verbs
