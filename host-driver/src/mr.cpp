// Memory regions of reg_mr: page lists, STags. Fast registration: mr_fast.cpp.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");
}

namespace {

// Returns log2 of the largest page size that the mapping allows. At every discontinuity of the bus
// addresses both sides must be page aligned.
unsigned log_page_of(const DmaBuffer& buffer, uint64_t offset, uint64_t length) {
  const uint64_t step = buffer.page_size();
  const uint64_t start = buffer.bus(offset);
  for (unsigned log = kMaxLogPage; log > kMinLogPage; log--) {
    const uint64_t mask = (uint64_t{1} << log) - 1;
    const uint64_t first_offset = start & mask;
    const uint64_t half = (mask + 1) / 2;
    if ((start & (half - 1)) + length <= half) continue;  // fits one smaller page
    bool fits = true;
    const uint64_t edge = offset + step - (buffer.first_offset() + offset) % step;
    for (uint64_t at = edge; at < offset + length && fits; at += step) {
      const bool jumps = buffer.bus(at) != buffer.bus(at - 1) + 1;
      if (jumps) fits = (buffer.bus(at) & mask) == 0 && ((first_offset + at - offset) & mask) == 0;
    }
    if (fits) return log;
  }
  return kMinLogPage;
}

constexpr uint32_t kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                            IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
                            IBV_ACCESS_ZERO_BASED | IBV_ACCESS_FLUSH_GLOBAL |
                            IBV_ACCESS_FLUSH_PERSISTENT | RNIC_ACCESS_REMOTE_INVALIDATE;

}  // namespace

Result<void> check_access(uint32_t access) {
  const uint32_t rest = access & ~(kKnown | kAccessHints);
  if (rest != 0) return fail(Errc::kNotSupported, "mr: access {:#x} is not supported", rest);
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return fail(Errc::kInvalidArgument, "mr: access {:#x}: remote write needs local write", access);
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return fail(Errc::kInvalidArgument, "mr: access {:#x}: remote atomic needs local write",
                access);
  if ((access & IBV_ACCESS_MW_BIND) != 0 && (access & RNIC_ACCESS_REMOTE_INVALIDATE) != 0)
    return fail(Errc::kInvalidArgument,
                "mr: access {:#x}: IBV_ACCESS_MW_BIND and RNIC_ACCESS_REMOTE_INVALIDATE exclude "
                "each other: the peer must not invalidate a region that has memory windows",
                access);
  return {};
}

namespace {

/// Allows persistence only for persistent memory, on a host that has a persistence domain.
Result<void> check_persistence(PciDevice& dev, const DmaBuffer& buffer, uint32_t access) {
  if ((access & IBV_ACCESS_FLUSH_PERSISTENT) == 0) return {};
  if (dev.persistence_domain() == PersistenceDomain::kNone)
    return fail(Errc::kNotSupported,
                "mr: IBV_ACCESS_FLUSH_PERSISTENT: this host has no persistence domain");
  if (!buffer.is_persistent())
    return fail(Errc::kInvalidArgument,
                "mr: IBV_ACCESS_FLUSH_PERSISTENT of memory that is not persistent "
                "(PciDevice::persistent)");
  return {};
}

/// Registers memory; with `qp`, for this QP only.
Result<Mr> register_memory(const std::shared_ptr<PdCore>& pd, QpCore* qp, const DmaBuffer& buffer,
                           uint64_t offset, uint64_t length, uint64_t iova, uint32_t access);

}  // namespace

Mr::Mr(std::unique_ptr<MrCore> core) : core_(std::move(core)) {}
Mr::Mr() = default;
Mr::Mr(Mr&&) noexcept = default;
Mr& Mr::operator=(Mr&&) noexcept = default;
Mr::~Mr() = default;
uint32_t Mr::lkey() const { return core_->stag; }
uint32_t Mr::rkey() const { return core_->stag; }
uint64_t Mr::addr() const { return core_->addr; }
uint64_t Mr::length() const { return core_->length; }
uint32_t Mr::page_size() const { return core_->page_size; }
uint32_t Mr::max_pages() const { return core_->pages; }

Result<void> Mr::dereg() {
  if (core_ == nullptr) return {};
  return core_->dereg(false);
}

Result<TableEntry> create_entry(ContextCore& ctx, spec::AdminMrArgs args) {
  Manager& m = ctx.mgr;
  const auto slot = m.shared(ctx.dev).take_stag_slot();
  if (!slot) return error_of(slot);
  TableEntry entry{.slot = *slot};
  if (args.pages != 0) {
    const auto pbl_base = m.pbl.take(args.pages, "page-list entries");
    if (!pbl_base) {
      m.give_stag_slot(*slot);
      return error_of(pbl_base);
    }
    args.pbl_base = entry.pbl_base = *pbl_base;
  }
  args.key = m.random_key();
  const auto rsp = m.execute_args(ctx.dev, spec::AdminOpcode::kCreateMr, *slot, args);
  if (!rsp) {
    m.shared(ctx.dev).give_stag_slot(*slot);
    if (args.pages != 0) m.pbl.give(entry.pbl_base, args.pages);
    return error_of(rsp);
  }
  entry.stag = spec::AdminMrResult::unpack(rsp->result).stag;
  return entry;
}

Result<void> MrCore::create(const spec::AdminMrArgs& args) {
  const auto entry = create_entry(*pd->ctx, args);
  if (!entry) return error_of(entry);
  slot = entry->slot;
  pbl_base = entry->pbl_base;
  stag = entry->stag;
  live = true;
  return {};
}

Result<void> MrCore::dereg(bool is_end) {
  if (!live) {
    unbind();
    return {};
  }
  ContextCore& ctx = *pd->ctx;
  live = false;
  auto rsp = ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kDestroyMr, stag);
  if (!rsp && rsp.error().code == Errc::kBusy && !is_end) {
    live = true;
    return fail(Errc::kBusy,
                "mr {:#x}: memory windows are bound to it: deallocate, invalidate or re-bind them "
                "first",
                stag);
  }
  unbind();
  if (!rsp) {
    ctx.mgr.keep_forever(buffer);
    ctx.mgr.keep_forever(list);
    for (auto* all : {&buffers, &earlier})
      for (DmaBuffer& b : *all) ctx.mgr.keep_forever(std::move(b));
    RNIC_LOG_WARN(log, "mr {:#x} stays: {}", stag, rsp.error().what);
    return error_of(rsp);
  }
  ctx.mgr.shared(ctx.dev).give_stag_slot(slot);
  ctx.mgr.pbl.give(pbl_base, pages);
  buffer = DmaBuffer();  // releases the mapping of caller-owned memory
  buffers.clear();
  earlier.clear();
  list = DmaBuffer();
  mapped = 0;
  return {};
}

void MrCore::bind(QpCore& to) {
  if (std::ranges::find(qps, &to) != qps.end()) return;
  qps.push_back(&to);
  to.regions.push_back(this);
}

void MrCore::unbind() {
  for (QpCore* q : qps) std::erase(q->regions, this);
  qps.clear();
}

Result<Mr> Pd::reg_mr(const DmaBuffer& buffer, uint32_t access) {
  return reg_mr(buffer, 0, buffer.size(), access);
}

Result<Mr> Pd::reg_mr(const DmaBuffer& buffer, uint64_t offset, uint64_t length, uint32_t access) {
  const uint64_t zero_based = access & IBV_ACCESS_ZERO_BASED;
  const uint64_t iova = zero_based != 0 ? 0 : base::address_of(buffer.data()) + offset;
  return reg_mr_iova(buffer, offset, length, iova, access);
}

Result<Mr> Pd::reg_mr(std::span<uint8_t> memory, uint32_t access) {
  const bool zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  return reg_mr_iova(memory, zero_based ? 0 : base::address_of(memory.data()), access);
}

Result<Mr> Pd::reg_mr_iova(std::span<uint8_t> memory, uint64_t iova, uint32_t access) {
  if (auto r = check_access(access); !r) return error_of(r);
  const bool writes = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  auto buffer = core_->ctx->dev.map(memory, writes ? DmaAccess::kReadWrite : DmaAccess::kRead);
  if (!buffer) return error_of(buffer);
  return reg_mr_iova(*buffer, 0, buffer->size(), iova, access);
}

Result<Mr> Pd::reg_mr_iova(const DmaBuffer& buffer, uint64_t offset, uint64_t length, uint64_t iova,
                           uint32_t access) {
  return register_memory(core_, nullptr, buffer, offset, length, iova, access);
}

Result<Mr> Qp::reg_mr(const DmaBuffer& buffer, uint32_t access) {
  const bool zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  return reg_mr_iova(buffer, 0, buffer.size(), zero_based ? 0 : base::address_of(buffer.data()),
                     access);
}

Result<Mr> Qp::reg_mr_iova(const DmaBuffer& buffer, uint64_t offset, uint64_t length, uint64_t iova,
                           uint32_t access) {
  if (!core_->live) return fail(Errc::kBadState, "mr: qp {}: destroyed", core_->qpn);
  return register_memory(core_->pd, core_.get(), buffer, offset, length, iova, access);
}

namespace {

Result<Mr> register_memory(const std::shared_ptr<PdCore>& pd, QpCore* qp, const DmaBuffer& buffer,
                           uint64_t offset, uint64_t length, uint64_t iova, uint32_t access) {
  ContextCore& ctx = *pd->ctx;
  Manager& m = ctx.mgr;
  if (length == 0 || offset > buffer.size() || length > buffer.size() - offset)
    return fail(Errc::kInvalidArgument, "mr: bytes {} to {} of a buffer of {}", offset,
                offset + length, buffer.size());
  if (iova + (length - 1) < iova)
    return fail(Errc::kInvalidArgument, "mr: address {:#x} plus length {} wraps", iova, length);
  if (auto r = check_access(access); !r) return error_of(r);
  if ((access & RNIC_ACCESS_REMOTE_INVALIDATE) != 0 && qp == nullptr)
    return fail(
        Errc::kInvalidArgument,
        "mr: RNIC_ACCESS_REMOTE_INVALIDATE needs a region that is bound to a QP (Qp::reg_mr)");
  if (auto r = check_persistence(ctx.dev, buffer, access); !r) return error_of(r);

  const unsigned log_page = log_page_of(buffer, offset, length);
  const uint64_t page = uint64_t{1} << log_page;
  const uint64_t first_offset = buffer.bus(offset) & (page - 1);
  const uint64_t pages = (first_offset + length + page - 1) / page;
  // A page list is one kContiguous buffer, at most 2 MiB, with 8 bytes an entry.
  if (pages * page > m.attr().max_mr_size || pages > (uint64_t{2} << 20) / 8)
    return fail(Errc::kNoMemory, "mr: {} pages of {} bytes do not fit one page list", pages, page);
  auto list = ctx.dev.alloc(pages * 8, MemoryKind::kContiguous);
  if (!list) return error_of(list);
  for (uint64_t i = 0; i < pages; i++) {
    const uint64_t at = i == 0 ? offset : offset + i * page - first_offset;
    base::store_le(&list->data()[i * 8], buffer.bus(at) & ~(page - 1));
  }

  auto mr = std::make_unique<MrCore>();
  mr->pd = pd;
  mr->buffer = buffer;
  mr->pages = static_cast<uint32_t>(pages);
  mr->page_size = static_cast<uint32_t>(page);
  mr->addr = iova;
  mr->length = length;
  mr->access = access;
  spec::AdminMrArgs args;
  args.pd = static_cast<uint16_t>(pd->number);
  args.bound = qp != nullptr;
  args.qpn = qp != nullptr ? static_cast<uint16_t>(qp->qpn) : uint16_t{0};
  args.log_page = static_cast<uint8_t>(log_page);
  args.rights = static_cast<uint16_t>(access & spec::kAccessMask);
  args.base_to = iova;
  args.length = length;
  args.first_offset = static_cast<uint32_t>(first_offset);
  args.page_list = list->bus(0);
  args.pages = mr->pages;
  if (auto r = mr->create(args); !r) return error_of(r);
  if (qp != nullptr) mr->bind(*qp);
  return Mr(std::move(mr));
}

}  // namespace

}  // namespace rnic::verbs
