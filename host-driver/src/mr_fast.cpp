// Fast registration: regions that the send queue registers, their page lists, the checks before a
// post.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/bytes.hpp"
#include "core.hpp"

namespace rnic::verbs {

namespace {

// Most pages of a page list: a kContiguous buffer, at most 2 MiB, with 8 bytes an entry.
constexpr uint32_t kMaxListed = (2u << 20) / 8;

}  // namespace

Result<Mr> Pd::alloc_mr(uint32_t max_pages) {
  ContextCore& ctx = *core_->ctx;
  Manager& m = ctx.mgr;
  // max_mr_size is the number of page-list entries times the largest page.
  const uint64_t entries = m.attr().max_mr_size >> kMaxLogPage;
  const uint64_t most = std::min<uint64_t>(std::bit_floor(entries), kMaxListed);
  if (max_pages == 0 || max_pages > kMaxListed)
    return fail(Errc::kInvalidArgument, "mr: alloc_mr of {} pages: 1 to {}", max_pages, most);
  if (max_pages > most)
    return fail(Errc::kNoMemory, "mr: alloc_mr of {} pages: the device has {} page-list entries",
                max_pages, entries);
  auto mr = std::make_unique<MrCore>();
  mr->pd = core_;
  mr->is_fast = true;
  mr->pages = std::bit_ceil(max_pages);
  auto list = ctx.dev.alloc(uint64_t{mr->pages} * 8, MemoryKind::kContiguous);
  if (!list) return error_of(list);
  mr->list = std::move(*list);
  spec::AdminMrArgs args;
  args.pd = static_cast<uint16_t>(core_->number);
  args.fast = 1;
  // With `fast`, log_page is log2 of the number of page-list entries.
  args.log_page = static_cast<uint8_t>(std::countr_zero(mr->pages));
  args.pages = mr->pages;
  if (auto r = mr->create(args); !r) return error_of(r);
  return Mr(std::move(mr));
}

namespace {

Result<void> check_fast(const MrCore* mr, std::string_view what) {
  if (mr == nullptr || !mr->is_fast)
    return fail(Errc::kInvalidArgument, "mr: {} needs a region of Pd::alloc_mr", what);
  if (!mr->live) return fail(Errc::kInvalidArgument, "mr {:#x}: {} after dereg", mr->stag, what);
  return {};
}

/// Builds a page list. Ranges that are adjacent on the bus are merged; other ranges must meet at
/// page boundaries.
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
    // A range that continues within the last listed page needs no second entry for that page.
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
  // Keep the previous buffers: if the device refuses the next registration, it may still use them.
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
