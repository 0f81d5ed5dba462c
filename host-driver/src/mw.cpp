// Memory windows: their STags, the checks before a bind is posted, and the key of a window after
// its binds complete.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");

constexpr uint32_t kPeerRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL |
                                 IBV_ACCESS_FLUSH_PERSISTENT;
}  // namespace

Mw::Mw() = default;
Mw::Mw(std::shared_ptr<MwCore> core) : core_(std::move(core)) {}
Mw::Mw(Mw&&) noexcept = default;
Mw& Mw::operator=(Mw&&) noexcept = default;
Mw::~Mw() = default;
uint32_t Mw::rkey() const { return core_->stag; }
MwType Mw::type() const { return core_->type; }

Result<void> Mw::dealloc() {
  if (core_ == nullptr) return {};
  return core_->dealloc();
}

Result<void> MwCore::dealloc() {
  depend_on_none();
  if (!live) return {};
  ContextCore& ctx = *pd->ctx;
  live = false;
  // destroy_mr compares only the upper 24 bits of an STag, so the key of a failed bind works too.
  if (auto rsp = ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kDestroyMr, stag); !rsp) {
    RNIC_LOG_WARN(log, "mw {:#x} stays: {}", stag, rsp.error().what);
    return error_of(rsp);
  }
  ctx.mgr.shared(ctx.dev).give_stag_slot(slot);
  return {};
}

void MwCore::depend_on(QpCore& qp) {
  if (std::ranges::find(qps, &qp) != qps.end()) return;
  qps.push_back(&qp);
  qp.windows.push_back(this);
}

void MwCore::depend_on_none() {
  for (QpCore* q : qps) std::erase(q->windows, this);
  qps.clear();
}

Result<Mw> Pd::alloc_mw(MwType type) {
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
    return fail(Errc::kInvalidArgument, "mw: type {}: IBV_MW_TYPE_1 (1) or IBV_MW_TYPE_2 (2)",
                static_cast<unsigned>(type));
  auto mw = std::make_shared<MwCore>();
  mw->pd = core_;
  mw->type = type;
  spec::AdminMrArgs args;
  args.pd = static_cast<uint16_t>(core_->number);
  args.window = static_cast<uint8_t>(type);
  const auto entry = create_entry(*core_->ctx, args);
  if (!entry) return error_of(entry);
  mw->slot = entry->slot;
  mw->stag = mw->bound = entry->stag;
  mw->live = true;
  return Mw(std::move(mw));
}

PostResult Qp::bind_mw(Mw& mw, const MwBind& bind) {
  const MwCore* core = mw.core().get();
  if (core != nullptr && core->type != IBV_MW_TYPE_1) {
    PostResult result;
    result.error = Error{Errc::kInvalidArgument,
                         fmt::format("wr {}: bind_mw of mw {:#x} of type 2: post IBV_WR_BIND_MW",
                                     bind.wr_id, core->stag)};
    return result;
  }
  return post_send({.wr_id = bind.wr_id,
                    .opcode = IBV_WR_BIND_MW,
                    .send_flags = bind.send_flags,
                    .key = core != nullptr ? inc_rkey(core->stag) : 0,
                    .mw = &mw,
                    .bind_info = bind.bind_info});
}

namespace {

template <class... T>
Result<void> bad(const SendWr& wr, fmt::format_string<T...> text, T&&... values) {
  return fail(Errc::kInvalidArgument, "wr {}: bind of a memory window: {}", wr.wr_id,
              fmt::format(text, std::forward<T>(values)...));
}

Result<void> check_region(const SendWr& wr, const QpCore& qp) {
  const MwBindInfo& info = wr.bind_info;
  const MrCore* mr = info.mr != nullptr ? info.mr->core() : nullptr;
  if (mr == nullptr) return bad(wr, "bind_info.mr is no region");
  if (!mr->live) return bad(wr, "mr {:#x} is deregistered", mr->stag);
  if (mr->pd != qp.pd)
    return bad(wr, "mr {:#x} is of PD {}, qp {} of PD {}", mr->stag, mr->pd->number, qp.qpn,
               qp.pd->number);
  // A posted fast registration may have failed, so only the device knows the QP of such a region.
  if (!mr->is_fast && !mr->qps.empty() && std::ranges::find(mr->qps, &qp) == mr->qps.end())
    return bad(wr, "mr {:#x} is bound to qp {}, not to qp {}", mr->stag, mr->qps[0]->qpn, qp.qpn);
  if ((mr->access & IBV_ACCESS_MW_BIND) == 0)
    return bad(wr, "mr {:#x} is registered without IBV_ACCESS_MW_BIND", mr->stag);
  constexpr uint32_t kWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((info.access & kWrites) != 0 && (mr->access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return bad(wr, "access {:#x} needs IBV_ACCESS_LOCAL_WRITE of mr {:#x}", info.access, mr->stag);
  constexpr uint32_t kFlush = IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT;
  if (const uint32_t more = info.access & kFlush & ~mr->access; more != 0)
    return bad(wr, "access {:#x}: mr {:#x} is registered without the Flush right {:#x}",
               info.access, mr->stag, more);
  if (info.addr < mr->addr || info.length > mr->length ||
      info.addr - mr->addr > mr->length - info.length)
    return bad(wr, "{} bytes at {:#x} are outside mr {:#x}: {} bytes at {:#x}", info.length,
               info.addr, mr->stag, mr->length, mr->addr);
  return {};
}

}  // namespace

Result<void> check_bind_mw(const SendWr& wr, const QpCore& qp) {
  if (!qp.live) return bad(wr, "qp {} is destroyed", qp.qpn);
  const MwCore* mw = wr.mw != nullptr ? wr.mw->core().get() : nullptr;
  if (mw == nullptr) return bad(wr, "SendWr::mw is no window of Pd::alloc_mw");
  if (!mw->live) return bad(wr, "mw {:#x} is deallocated", mw->stag);
  if (mw->pd != qp.pd)
    return bad(wr, "mw {:#x} is of PD {}, qp {} of PD {}", mw->stag, mw->pd->number, qp.qpn,
               qp.pd->number);
  if (((wr.key ^ mw->stag) & ~uint32_t{0xff}) != 0)
    return bad(wr, "key {:#x} is none of mw {:#x}: only the low 8 bits may differ (inc_rkey)",
               wr.key, mw->stag);
  const MwBindInfo& info = wr.bind_info;
  const uint32_t rest = info.access & ~(kPeerRights | IBV_ACCESS_ZERO_BASED | kAccessHints);
  if (rest != 0) return bad(wr, "access {:#x}: a window has remote rights and Flush alone", rest);
  if (info.length > UINT32_MAX)
    return bad(wr, "{} bytes, a window has at most {}", info.length, UINT32_MAX);
  if (info.length != 0) return check_region(wr, qp);
  if (mw->type == IBV_MW_TYPE_2)
    return bad(wr, "0 bytes for mw {:#x} of type 2: unbind it by IBV_WR_LOCAL_INV", mw->stag);
  return {};
}

spec::BindOperands bind_operands(const SendWr& wr) {
  const MwBindInfo& info = wr.bind_info;
  if (info.length == 0) return {};
  return {.address = info.addr,
          .length = info.length,
          .lkey = info.mr->lkey(),
          .rights = static_cast<uint16_t>(info.access & kPeerRights)};
}

uint64_t base_of_window(const SendWr& wr) {
  const MwBindInfo& info = wr.bind_info;
  return info.length == 0 || (info.access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : info.addr;
}

void QpCore::note_bind(const SendWr& wr) {
  const auto& mw = wr.mw->core();
  PostedBind b{.index = sq_head,
               .key = wr.key,
               .before = mw->stag,
               .posted = ++mw->posted,
               .was_alone = mw->outstanding++ == 0,
               .former = mw->qps,
               .window = mw};
  if (mw->type == IBV_MW_TYPE_2) b.qps.push_back(this);  // the device binds the window to this QP
  if (wr.bind_info.length != 0)  // a region with windows cannot be deregistered with its QP
    for (QpCore* q : wr.bind_info.mr->core()->qps) b.qps.push_back(q);
  mw->stag = wr.key;
  for (QpCore* q : b.qps) mw->depend_on(*q);
  binds.push_back(std::move(b));
}

namespace {

/// The bind has completed. If its effect is known, the window depends on b.qps (success) or on
/// b.former (error). Otherwise the window keeps depending on both: a flushed bind may have been
/// executed, and another outstanding bind of the window may have been executed after this one.
void settle(const PostedBind& b, WcStatus status) {
  const auto mw = b.window.lock();
  if (mw == nullptr) return;
  mw->outstanding--;
  if (status == IBV_WC_SUCCESS)
    mw->bound = b.key;
  else if (mw->stag == b.key)
    mw->stag = mw->bound;
  const bool is_known = status == IBV_WC_SUCCESS || status == IBV_WC_MW_BIND_ERR;
  if (!is_known || !b.was_alone || mw->posted != b.posted || !mw->live) return;
  mw->depend_on_none();
  for (QpCore* q : status == IBV_WC_SUCCESS ? b.qps : b.former) mw->depend_on(*q);
}

}  // namespace

// Undoes note_bind(), last bind first. No doorbell has announced these binds, so this restores the
// former state.
void QpCore::drop_binds(uint16_t head) {
  for (; !binds.empty(); binds.pop_back()) {
    const PostedBind& b = binds.back();
    if (static_cast<uint16_t>(b.index - sq_tail) < static_cast<uint16_t>(head - sq_tail)) return;
    const auto mw = b.window.lock();
    if (mw == nullptr) continue;
    mw->outstanding--;
    mw->posted--;
    mw->stag = b.before;
    mw->depend_on_none();
    for (QpCore* q : b.former) mw->depend_on(*q);
  }
}

void QpCore::finish_binds(uint16_t index, WcStatus status) {
  const auto last = static_cast<uint16_t>(index - sq_tail);
  const bool good = status == IBV_WC_SUCCESS;
  for (; !binds.empty(); binds.pop_front()) {
    const auto at = static_cast<uint16_t>(binds.front().index - sq_tail);
    if (at > last || (at == last && !good)) break;
    settle(binds.front(), IBV_WC_SUCCESS);
  }
  if (good) return;
  // The QP has failed. Requests after a failed bind wait for it and so did not execute: later binds
  // get its status, a known error. After any other failed request a later bind may have executed.
  const bool is_bind = !binds.empty() && binds.front().index == index;
  for (const PostedBind& b : binds) settle(b, is_bind ? status : IBV_WC_WR_FLUSH_ERR);
  binds.clear();
}

}  // namespace rnic::verbs
