// Shared receive queues: creation, posting, tags, the limit event. Decision 16.
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");
}

Srq::Srq() = default;
Srq::Srq(std::shared_ptr<SrqCore> core) : core_(std::move(core)) {}
Srq::Srq(Srq&&) noexcept = default;
Srq& Srq::operator=(Srq&&) noexcept = default;
Srq::~Srq() = default;
uint32_t Srq::number() const { return core_->number; }
SrqAttr Srq::query() { return core_->query(); }
Result<void> Srq::modify(const SrqAttr& attr) { return core_->modify(attr); }
PostResult Srq::post_recv(std::span<const RecvWr> wrs) { return core_->post(wrs); }

Result<void> Srq::destroy() {
  if (core_ == nullptr) return {};
  return core_->destroy(false);
}

Result<Srq> Pd::create_srq(const SrqInitAttr& attr) {
  ContextCore& ctx = *core_->ctx;
  Manager& m = ctx.mgr;
  const DeviceAttr& dev = m.attr();
  if (attr.max_wr == 0 || attr.max_wr > dev.max_srq_wr || attr.max_sge > dev.max_srq_sge)
    return fail(Errc::kInvalidArgument, "srq: {} receives of {} SGEs; 1 to {} of at most {}",
                attr.max_wr, attr.max_sge, dev.max_srq_wr, dev.max_srq_sge);
  const uint32_t size = std::bit_ceil(std::max(attr.max_wr, 4u));  // admin_srq_args: 4 or more
  if (attr.srq_limit > size)
    return fail(Errc::kInvalidArgument, "srq: srq_limit {} of {} receives", attr.srq_limit, size);
  auto ring = ctx.dev.alloc(uint64_t{size} * kUnit, MemoryKind::kContiguous);
  if (!ring) return error_of(ring);
  const auto number = m.shared(ctx.dev).qps.take(1, "queue pairs and shared receive queues");
  if (!number) return error_of(number);

  auto srq = std::make_shared<SrqCore>(core_, *number, *ring, size, attr.max_sge);

  spec::AdminSrqArgs args;
  args.pd = static_cast<uint16_t>(core_->number);
  args.page = static_cast<uint16_t>(ctx.page);
  args.base = ring->bus(0);
  args.log_size = static_cast<uint8_t>(std::countr_zero(size));
  if (auto rsp = m.execute_args(ctx.dev, spec::AdminOpcode::kCreateSrq, *number, args); !rsp) {
    m.shared(ctx.dev).qps.give(*number, 1);
    return error_of(rsp);
  }
  // Discard events of an earlier object with this number.
  m.drain_events(ctx.dev, 0);
  m.qp_event[*number] = 0;
  srq->live = true;
  ctx.srqs[*number] = srq.get();
  if (attr.srq_limit != 0)
    if (auto r = srq->modify({.srq_limit = attr.srq_limit}); !r) return error_of(r);
  return Srq(std::move(srq));
}

SrqCore::SrqCore(std::shared_ptr<PdCore> p, uint32_t n, DmaBuffer memory, uint32_t size,
                 uint32_t sges)
    : pd(std::move(p)),
      ctx(*pd->ctx),
      number(n),
      ring(std::move(memory)),
      max_wr(size),
      max_sge(sges),
      requests(size),
      free_tags(size) {
  std::iota(free_tags.rbegin(), free_tags.rend(), uint16_t{0});
}

Result<void> SrqCore::destroy(bool is_end) {
  if (!live) return {};
  Manager& m = ctx.mgr;
  live = false;
  auto rsp = m.execute(ctx.dev, spec::AdminOpcode::kDestroySrq, number);
  if (!rsp && rsp.error().code == Errc::kBusy && !is_end) {
    live = true;
    return fail(Errc::kBusy, "srq {}: QPs take receives from it: destroy them first", number);
  }
  ctx.srqs[number] = nullptr;
  std::erase_if(ctx.events, [this](const AsyncEvent& e) {
    return e.type == IBV_EVENT_SRQ_LIMIT_REACHED && e.object == number;
  });
  if (!rsp) {
    RNIC_LOG_WARN(log, "srq {} stays: {}", number, rsp.error().what);
    m.keep_forever(ring);
    return error_of(rsp);
  }
  m.shared(ctx.dev).qps.give(number, 1);
  return {};
}

PostResult SrqCore::post(std::span<const RecvWr> wrs) {
  PostResult result;
  // Held until the doorbell is written: the later index of another thread must not overtake it.
  const Locked held(lock, ctx.dev);
  if (!live) {
    result.error = Error{Errc::kBadState, fmt::format("srq {}: destroyed", number)};
    return result;
  }
  for (const RecvWr& wr : wrs) {
    if (free_tags.empty()) {
      result.error = Error{Errc::kQueueFull,
                           fmt::format("srq {}: all {} receives are posted", number, max_wr)};
      break;
    }
    const uint16_t tag = free_tags.back();
    const size_t slot = head & (max_wr - 1);
    if (auto r = encode_recv(wr, max_sge, tag, ring.bytes().subspan(slot * kUnit, kUnit)); !r) {
      result.error = r.error();
      break;
    }
    free_tags.pop_back();
    requests[tag] = {.wr_id = wr.wr_id, .is_posted = true};
    head++;
    result.accepted++;
  }
  if (result.accepted != 0) {
    ctx.dev.before_doorbell();
    ctx.ring(spec::DoorbellKind::kRq, number, 0, head);
  }
  return result;
}

std::optional<uint64_t> SrqCore::complete(uint16_t tag) {
  if (tag >= requests.size() || !requests[tag].is_posted) return std::nullopt;
  requests[tag].is_posted = false;
  free_tags.push_back(tag);
  return requests[tag].wr_id;
}

// Moves the limit event to the context's events, from which get_async_event() returns it.
void SrqCore::note_limit() {
  if (std::exchange(ctx.mgr.qp_event[number], uint8_t{0}) == 0) return;
  limit = 0;
  ctx.events.push_back({.type = IBV_EVENT_SRQ_LIMIT_REACHED, .object = number});
}

SrqAttr SrqCore::query() {
  if (live) {
    ctx.mgr.drain_events(ctx.dev, 0);
    note_limit();
  }
  return {.max_wr = max_wr, .max_sge = max_sge, .srq_limit = limit};
}

Result<void> SrqCore::modify(const SrqAttr& attr) {
  if (!live) return fail(Errc::kBadState, "srq {}: destroyed", number);
  if ((attr.max_wr != 0 && attr.max_wr != max_wr) || (attr.max_sge != 0 && attr.max_sge != max_sge))
    return fail(Errc::kNotSupported, "srq {}: {} receives of {} SGEs cannot become {} of {}",
                number, max_wr, max_sge, attr.max_wr, attr.max_sge);
  if (attr.srq_limit > max_wr)
    return fail(Errc::kInvalidArgument, "srq {}: srq_limit {} of {} receives", number,
                attr.srq_limit, max_wr);
  ctx.mgr.drain_events(ctx.dev, 0);
  note_limit();  // an event of the old limit
  // Set `limit` before the command: the event may arrive before the response.
  const uint32_t before = std::exchange(limit, attr.srq_limit);
  const spec::AdminLimitArgs args{.limit = static_cast<uint16_t>(attr.srq_limit)};
  auto rsp = ctx.mgr.execute_args(ctx.dev, spec::AdminOpcode::kModifySrq, number, args);
  if (rsp) return {};
  limit = before;
  return error_of(rsp);
}

}  // namespace rnic::verbs
