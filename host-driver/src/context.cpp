// Context: a doorbell page, the objects created through it, and its asynchronous events.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");
}

std::string_view to_string(WcStatus status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_LOC_LEN_ERR:
      return "local length error";
    case IBV_WC_LOC_QP_OP_ERR:
      return "local QP operation error";
    case IBV_WC_LOC_PROT_ERR:
      return "local protection error";
    case IBV_WC_WR_FLUSH_ERR:
      return "Work Request Flushed Error";
    case IBV_WC_MW_BIND_ERR:
      return "memory bind operation error";
    case IBV_WC_REM_INV_REQ_ERR:
      return "remote invalid request error";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote access error";
    case IBV_WC_REM_OP_ERR:
      return "remote operation error";
    case IBV_WC_FATAL_ERR:
      return "fatal error";
    case IBV_WC_GENERAL_ERR:
      return "general error";
  }
  return "unknown";
}

std::string_view to_string(EventType type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return "IBV_EVENT_CQ_ERR";
    case IBV_EVENT_QP_FATAL:
      return "IBV_EVENT_QP_FATAL";
    case IBV_EVENT_QP_REQ_ERR:
      return "IBV_EVENT_QP_REQ_ERR";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "IBV_EVENT_QP_ACCESS_ERR";
    case IBV_EVENT_DEVICE_FATAL:
      return "IBV_EVENT_DEVICE_FATAL";
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return "IBV_EVENT_SRQ_LIMIT_REACHED";
  }
  return "unknown";
}

std::string terminate_text(uint32_t term) {
  const uint32_t layer = term >> 12, etype = term >> 8 & 15, code = term & 255;
  const auto row = std::ranges::find_if(spec::kCauses, [&](const spec::CauseRow& r) {
    return r.cause != spec::Cause::kNone && r.layer == layer && r.etype == etype && r.code == code;
  });
  return fmt::format("{:x}/{:x}/{:02x}{}", layer, etype, code,
                     row == spec::kCauses.end() ? "" : fmt::format(" ({})", row->name));
}

std::string to_string(const AsyncEvent& event) {
  const spec::CauseRow& row = spec::cause_row(static_cast<spec::Cause>(event.cause));
  std::string s = fmt::format("{}: {} ({})", to_string(event.type), row.name, row.doc);
  if (event.peer_term != 0)
    s += fmt::format(", the peer's Terminate {}", terminate_text(event.peer_term));
  return s;
}

std::string_view to_string(QpState state) {
  switch (state) {
    case IBV_QPS_RESET:
      return "RESET";
    case IBV_QPS_INIT:
      return "INIT";
    case IBV_QPS_RTR:
      return "RTR";
    case IBV_QPS_RTS:
      return "RTS";
    case IBV_QPS_SQD:
      return "SQD";
    case IBV_QPS_SQE:
      return "SQE";
    case IBV_QPS_ERR:
      return "ERR";
  }
  return "unknown";
}

ContextCore::~ContextCore() {
  if (page_taken) mgr.shared(dev).pages.give(*page_taken, 1);
}

Context::Context(std::shared_ptr<ContextCore> core) : core_(std::move(core)) {}

Result<Context> Context::open(PciDevice& dev, Manager& manager) {
  auto core = std::make_shared<ContextCore>(dev, manager);
  const auto page = manager.shared(dev).pages.take(1, "doorbell pages");
  if (!page) return error_of(page);
  core->page_taken = core->page = *page;
  auto bounce = dev.alloc(kPageBytes, MemoryKind::kContiguous);
  if (!bounce) return error_of(bounce);
  core->bounce = *bounce;
  core->qps.assign(manager.attr().max_qp, nullptr);
  core->srqs.assign(manager.attr().max_qp, nullptr);
  core->cqs.assign(manager.attr().max_cq, nullptr);
  return Context(std::move(core));
}

const DeviceAttr& Context::query_device() const { return core_->mgr.attr(); }
PciDevice& Context::device() const { return core_->dev; }

Time Context::to_time(uint64_t completion_ts) const {
  // The nominal clock, which the register shows as 322266 kHz, is converted exactly. For another
  // clock a cycle is 10^9 / kHz picoseconds, and the result is rounded down to ns.
  const uint32_t khz = core_->mgr.attr().clock_khz;
  if (khz == 322266 || khz == 0) return base::time_of_cycle(completion_ts);
  // In two steps, since the product does not fit in 64 bits: whole seconds, and the rest.
  const uint64_t hz = uint64_t{khz} * 1000, seconds = completion_ts / hz;
  return seconds * 1'000'000'000 * kNs + completion_ts % hz * 1'000'000 / khz * kNs;
}

Result<Pd> Context::alloc_pd() {
  Manager& m = core_->mgr;
  const auto number = m.shared(core_->dev).pds.take(1, "protection domains");
  if (!number) return error_of(number);
  if (auto rsp = m.execute(core_->dev, spec::AdminOpcode::kCreatePd, *number); !rsp) {
    m.shared(core_->dev).pds.give(*number, 1);
    return error_of(rsp);
  }
  return Pd(std::make_shared<PdCore>(core_, *number));
}

Result<Cq> Context::create_cq(uint32_t cqe, uint32_t comp_vector, uint32_t flags) {
  Manager& m = core_->mgr;
  const DeviceAttr& attr = m.attr();
  if (cqe == 0 || cqe > attr.max_cqe)
    return fail(Errc::kInvalidArgument, "cq: {} entries, 1 to {} are possible", cqe, attr.max_cqe);
  if ((flags & ~uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}) != 0)
    return fail(Errc::kNotSupported,
                "cq: create flags {:#x}; only SINGLE_THREADED ({:#x}) is known", flags,
                static_cast<uint32_t>(IBV_CREATE_CQ_ATTR_SINGLE_THREADED));
  if (comp_vector >= attr.num_comp_vectors)
    return fail(Errc::kInvalidArgument, "cq: completion vector {}, there are {}", comp_vector,
                attr.num_comp_vectors);
  // Twice the room that the user asks for: so CqCore::take() need not report the consumer index for
  // every completion.
  const uint32_t entries = std::clamp(std::bit_ceil(2 * cqe), 4u, attr.max_cqe);
  const auto log = static_cast<unsigned>(std::countr_zero(entries));
  auto memory = core_->dev.alloc(uint64_t{entries} * spec::Cqe::kBytes, MemoryKind::kContiguous);
  if (!memory) return error_of(memory);
  const auto number = m.shared(core_->dev).cqs.take(1, "completion queues");
  if (!number) return error_of(number);

  auto cq = std::make_shared<CqCore>(core_, *number);
  cq->eqn = m.event_queues() > 1 ? 1 + comp_vector : 0;  // queue 0: other events (Manager)
  cq->ring = {.memory = *memory, .entry = spec::Cqe::kBytes, .log = log};
  cq->cqe = cqe;
  cq->shared = (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) == 0;
  m.cq_event[*number] = 0;
  m.cq_error[*number] = 0;
  spec::AdminRingArgs args;
  args.base = memory->bus(0);
  args.log_size = static_cast<uint8_t>(log);
  args.eqn = static_cast<uint8_t>(cq->eqn);
  args.page = static_cast<uint16_t>(core_->page);
  if (auto rsp = m.execute_args(core_->dev, spec::AdminOpcode::kCreateCq, *number, args); !rsp)
    return error_of(rsp);
  cq->live = true;
  core_->cqs[*number] = cq.get();
  return Cq(std::move(cq));
}

Result<DmaBuffer> Context::alloc(uint64_t size) {
  return core_->dev.alloc(size, MemoryKind::kScattered);
}

Result<AsyncEvent> Context::get_async_event(Time deadline) {
  Manager& m = core_->mgr;
  std::optional<AsyncEvent> found;
  auto look = [&] {
    for (uint32_t n = 0; n < core_->cqs.size() && !found; n++) {
      if (core_->cqs[n] == nullptr || m.cq_error[n] != 1) continue;
      m.cq_error[n] = 2;  // reported; poll_cq() still fails
      found = AsyncEvent{.type = IBV_EVENT_CQ_ERR, .object = n};
    }
    for (uint32_t n = 0; n < core_->qps.size() && core_->events.empty(); n++) {
      if (core_->qps[n] == nullptr || m.qp_event[n] == 0) continue;
      m.qp_event[n] = 0;
      if (auto info = core_->qps[n]->refresh(); !info)
        RNIC_LOG_WARN(log, "qp {}: {}", n, info.error().what);
    }
    for (SrqCore* srq : core_->srqs)
      if (srq != nullptr) srq->note_limit();
    if (!found && !core_->events.empty()) {
      found = core_->events.front();
      core_->events.erase(core_->events.begin());
    }
    return found.has_value();
  };
  if (!m.wait_event(core_->dev, 0, deadline, look))
    return fail(Errc::kTimedOut, "context of page {}: no asynchronous event", core_->page);
  return *found;
}

}  // namespace rnic::verbs
