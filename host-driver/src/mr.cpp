// Memory regions: page lists, STags, fast registration.
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

constexpr unsigned kMinLogPage = 12, kMaxLogPage = 21;

// Returns log2 of the largest page size that the mapping allows. At every discontinuity of the bus
// addresses both sides must be page aligned.
unsigned log_page_of(const DmaBuffer& buffer, uint64_t offset, uint64_t length) {
  const uint64_t step = buffer.page_size();
  const uint64_t start = buffer.bus(offset);
  for (unsigned log = kMaxLogPage; log > kMinLogPage; log--) {
    const uint64_t mask = (uint64_t{1} << log) - 1;
    const uint64_t first_offset = start & mask;
    const uint64_t half = (mask + 1) / 2;
    if ((start & (half - 1)) + length <= half) continue;  // a page of half the size is enough
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
                            IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                            IBV_ACCESS_ZERO_BASED | IBV_ACCESS_FLUSH_GLOBAL |
                            IBV_ACCESS_FLUSH_PERSISTENT | RNIC_ACCESS_REMOTE_INVALIDATE;
constexpr uint32_t kOptional = 0x3ff00000;  // IBV_ACCESS_OPTIONAL_RANGE: hints, ignored

Result<void> check_access(uint32_t access) {
  const uint32_t rest = access & ~(kKnown | kOptional);
  if (rest != 0) return fail(Errc::kNotSupported, "mr: access {:#x} is not there yet", rest);
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return fail(Errc::kInvalidArgument, "mr: access {:#x}: remote write needs local write", access);
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return fail(Errc::kInvalidArgument, "mr: access {:#x}: remote atomic needs local write",
                access);
  return {};
}

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
  return core_->dereg();
}

Result<void> MrCore::dereg() {
  if (!live) return {};
  unbind();
  ContextCore& ctx = *pd->ctx;
  live = false;
  if (auto rsp = ctx.mgr.execute(ctx.dev, spec::AdminOpcode::kDestroyMr, stag); !rsp) {
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
  const auto slot = m.shared(ctx.dev).take_stag_slot();
  if (!slot) return error_of(slot);
  const auto pbl_base = m.pbl.take(mr->pages, "page-list entries");
  if (!pbl_base) {
    m.give_stag_slot(*slot);
    return error_of(pbl_base);
  }
  mr->slot = *slot;
  mr->pbl_base = *pbl_base;

  spec::AdminMrArgs args;
  args.pd = static_cast<uint16_t>(pd->number);
  args.bound = qp != nullptr;
  args.qpn = qp != nullptr ? static_cast<uint16_t>(qp->qpn) : uint16_t{0};
  args.key = m.random_key();
  args.log_page = static_cast<uint8_t>(log_page);
  args.rights = static_cast<uint16_t>(access & spec::kAccessMask);
  args.base_to = iova;
  args.length = length;
  args.first_offset = static_cast<uint32_t>(first_offset);
  args.pbl_base = *pbl_base;
  args.page_list = list->bus(0);
  args.pages = mr->pages;
  const auto rsp = m.execute_args(ctx.dev, spec::AdminOpcode::kCreateMr, *slot, args);
  if (!rsp) {
    m.give_stag_slot(*slot);
    m.pbl.give(*pbl_base, mr->pages);
    return error_of(rsp);
  }
  mr->stag = spec::AdminMrResult::unpack(rsp->result).stag;
  mr->live = true;
  if (qp != nullptr) mr->bind(*qp);
  return Mr(std::move(mr));
}

constexpr uint32_t kMaxListed = (2u << 20) / 8;  // pages of one contiguous page list

}  // namespace

Result<Mr> Pd::alloc_mr(uint32_t max_pages) {
  ContextCore& ctx = *core_->ctx;
  Manager& m = ctx.mgr;
  const uint64_t entries = m.attr().max_mr_size >> kMaxLogPage;
  const uint64_t most = std::min<uint64_t>(std::bit_floor(entries), kMaxListed);
  if (max_pages == 0 || max_pages > most)
    return fail(Errc::kInvalidArgument, "mr: alloc_mr of {} pages: 1 to {}", max_pages, most);
  auto mr = std::make_unique<MrCore>();
  mr->pd = core_;
  mr->is_fast = true;
  mr->pages = std::bit_ceil(max_pages);
  auto list = ctx.dev.alloc(uint64_t{mr->pages} * 8, MemoryKind::kContiguous);
  if (!list) return error_of(list);
  mr->list = std::move(*list);
  const auto slot = m.shared(ctx.dev).take_stag_slot();
  if (!slot) return error_of(slot);
  const auto pbl_base = m.pbl.take(mr->pages, "page-list entries");
  if (!pbl_base) {
    m.give_stag_slot(*slot);
    return error_of(pbl_base);
  }
  mr->slot = *slot;
  mr->pbl_base = *pbl_base;
  spec::AdminMrArgs args;
  args.pd = static_cast<uint16_t>(core_->number);
  args.fast = 1;
  args.key = m.random_key();
  args.log_page = static_cast<uint8_t>(std::countr_zero(mr->pages));
  args.pbl_base = *pbl_base;
  args.pages = mr->pages;
  const auto rsp = m.execute_args(ctx.dev, spec::AdminOpcode::kCreateMr, *slot, args);
  if (!rsp) {
    m.shared(ctx.dev).give_stag_slot(*slot);
    m.pbl.give(*pbl_base, mr->pages);
    return error_of(rsp);
  }
  mr->stag = spec::AdminMrResult::unpack(rsp->result).stag;
  mr->live = true;
  return Mr(std::move(mr));
}

namespace {

Result<void> check_fast(const MrCore* mr, std::string_view what) {
  if (mr == nullptr || !mr->is_fast)
    return fail(Errc::kInvalidArgument, "mr: {} needs a region of Pd::alloc_mr", what);
  if (!mr->live) return fail(Errc::kInvalidArgument, "mr {:#x}: {} after dereg", mr->stag, what);
  return {};
}

/// A page list in the making. Ranges that are adjacent on the bus become one; others meet at pages.
class PageList {
 public:
  PageList(uint32_t page_size, uint32_t room) : page_(page_size), room_(room) {}

  /// Appends bytes that are contiguous on the bus.
  Result<void> add(uint64_t bus, uint64_t length) {
    if (bus + (length - 1) < bus)
      return fail(Errc::kInvalidArgument, "mr: {} bytes at bus address {:#x} wrap", length, bus);
    const uint64_t mask = page_ - 1;
    if (length_ == 0) {
      first_offset_ = static_cast<uint32_t>(bus & mask);
    } else if (bus != end_ && ((end_ | bus) & mask) != 0) {
      return fail(Errc::kInvalidArgument,
                  "mr: gap within a page of {} bytes: a range ends at bus address {:#x}, the next "
                  "begins at {:#x}; both must be page aligned",
                  page_, end_, bus);
    }
    // A range that goes on within the last page of the list needs no entry for it.
    uint64_t page = bus & ~mask;
    if (length_ != 0 && bus == end_ && (bus & mask) != 0) page += page_;
    const uint64_t last = (bus + (length - 1)) & ~mask;
    if (page <= last) {
      const uint64_t more = (last - page) / page_ + 1;
      if (more > room_ - pages_.size())
        return fail(Errc::kInvalidArgument, "mr: {} pages of {} bytes, the region has room for {}",
                    pages_.size() + more, page_, room_);
      for (uint64_t i = 0; i < more; i++) pages_.push_back(page + i * page_);
    }
    length_ += length;
    end_ = bus + length;
    return {};
  }

  const std::vector<uint64_t>& pages() const { return pages_; }
  uint64_t length() const { return length_; }
  uint32_t first_offset() const { return first_offset_; }

 private:
  uint64_t page_;
  uint32_t room_, first_offset_ = 0;
  std::vector<uint64_t> pages_;
  uint64_t length_ = 0, end_ = 0;
};

/// Appends bytes of a buffer, page by page of its mapping.
Result<void> add_buffer(PageList& list, const SgRange& range) {
  const DmaBuffer& b = range.buffer;
  if (range.addr > b.size() || range.length > b.size() - range.addr)
    return fail(Errc::kInvalidArgument, "mr: bytes {} to {} of a buffer of {}", range.addr,
                range.addr + range.length, b.size());
  for (uint64_t at = range.addr, left = range.length; left != 0;) {
    const uint64_t part = std::min(left, b.page_size() - (b.first_offset() + at) % b.page_size());
    if (auto r = list.add(b.bus(at), part); !r) return r;
    at += part;
    left -= part;
  }
  return {};
}

}  // namespace

Result<void> Mr::map_mr_sg(std::span<const SgRange> ranges, uint32_t page_size,
                           std::optional<uint64_t> iova) {
  if (auto r = check_fast(core_.get(), "map_mr_sg"); !r) return r;
  MrCore& mr = *core_;
  if (!std::has_single_bit(page_size) || page_size < 1u << kMinLogPage ||
      page_size > 1u << kMaxLogPage)
    return fail(Errc::kInvalidArgument, "mr: map_mr_sg: page size {}: a power of two, {} to {}",
                page_size, 1u << kMinLogPage, 1u << kMaxLogPage);
  PageList list(page_size, mr.pages);
  bool is_persistent = true;
  std::vector<DmaBuffer> buffers;
  for (const SgRange& range : ranges) {
    if (range.length == 0) continue;
    const bool has_buffer = !range.buffer.pages().empty();
    if (auto r = has_buffer ? add_buffer(list, range) : list.add(range.addr, range.length); !r)
      return r;
    is_persistent = is_persistent && has_buffer && range.buffer.is_persistent();
    if (has_buffer) buffers.push_back(range.buffer);
  }
  if (list.length() == 0) return fail(Errc::kInvalidArgument, "mr: map_mr_sg of no bytes");
  const uint64_t base = iova.value_or(list.pages()[0] + list.first_offset());
  if (base + (list.length() - 1) < base)
    return fail(Errc::kInvalidArgument, "mr: address {:#x} plus length {} wraps", base,
                list.length());
  for (size_t i = 0; i < list.pages().size(); i++)
    base::store_le(&mr.list.data()[i * 8], list.pages()[i]);
  mr.mapped = static_cast<uint32_t>(list.pages().size());
  mr.page_size = page_size;
  mr.addr = base;
  mr.length = list.length();
  mr.first_offset = list.first_offset();
  mr.is_persistent = is_persistent;
  mr.earlier = std::exchange(mr.buffers, std::move(buffers));
  return {};
}

Result<void> Mr::update_fast_reg_key(uint8_t key) {
  if (auto r = check_fast(core_.get(), "update_fast_reg_key"); !r) return r;
  core_->stag = (core_->stag & ~uint32_t{0xff}) | key;
  return {};
}

Result<void> check_reg_mr(const SendWr& wr, const QpCore& qp) {
  const auto bad = [&]<class... T>(fmt::format_string<T...> text, T&&... values) -> Result<void> {
    return fail(Errc::kInvalidArgument, "wr {}: fast registration: {}", wr.wr_id,
                fmt::format(text, std::forward<T>(values)...));
  };
  if (!qp.live) return bad("qp {} is destroyed", qp.qpn);
  if (!qp.privileged) return bad("qp {} is not privileged: set QpInitAttr::privileged", qp.qpn);
  const MrCore* mr = wr.mr != nullptr ? wr.mr->core() : nullptr;
  if (mr == nullptr || !mr->is_fast) return bad("SendWr::mr is no region of Pd::alloc_mr");
  if (!mr->live) return bad("mr {:#x} is deregistered", mr->stag);
  if (mr->pd != qp.pd)
    return bad("mr {:#x} is of PD {}, qp {} of PD {}", mr->stag, mr->pd->number, qp.qpn,
               qp.pd->number);
  if (mr->mapped == 0) return bad("mr {:#x} is not mapped: call map_mr_sg", mr->stag);
  if (wr.key != mr->stag)
    return bad("key {:#x} is not rkey() of mr {:#x}: update_fast_reg_key changes it", wr.key,
               mr->stag);
  if ((wr.access & IBV_ACCESS_ZERO_BASED) != 0)
    return bad("IBV_ACCESS_ZERO_BASED: map_mr_sg takes the address (iova)");
  if (auto r = check_access(wr.access); !r) return r;
  if ((wr.access & IBV_ACCESS_FLUSH_PERSISTENT) != 0) {
    if (mr->pd->ctx->dev.persistence_domain() == PersistenceDomain::kNone)
      return fail(Errc::kNotSupported,
                  "mr: IBV_ACCESS_FLUSH_PERSISTENT: this host has no persistence domain");
    if (!mr->is_persistent)
      return bad(
          "IBV_ACCESS_FLUSH_PERSISTENT of memory that is not persistent "
          "(PciDevice::persistent)");
  }
  return {};
}

spec::RegOperands reg_operands(const SendWr& wr) {
  const MrCore& mr = *wr.mr->core();
  return {.page_list = mr.list.bus(0),
          .length = mr.length,
          .first_offset = mr.first_offset,
          .pages = mr.mapped,
          .rights = static_cast<uint16_t>(wr.access & spec::kAccessMask),
          .log_page = static_cast<uint8_t>(std::countr_zero(mr.page_size))};
}

}  // namespace rnic::verbs
