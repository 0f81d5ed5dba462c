// Compares the device's writes with the plan. See replay/player.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "replay/player.hpp"

namespace rnic::app {
namespace {

/// The offset of a bus address in the buffer; empty if it lies outside.
std::optional<uint64_t> offset_in(const DmaBuffer& buffer, uint64_t bus) {
  for (size_t i = 0; i < buffer.pages().size(); ++i) {
    const uint64_t page = buffer.pages()[i];
    if (bus >= page && bus - page < buffer.page_size())
      return i * buffer.page_size() + (bus - page);
  }
  return std::nullopt;
}

}  // namespace

void ReplayPlayer::on_write(const sim::DmaWrite& w) {
  for (size_t k = 0; k < buffers_.size() && k < written_.size(); ++k) {
    const auto offset = offset_in(buffers_[k], w.address);
    if (!offset) continue;
    auto& list = written_[k];
    const auto bytes = w.data.bytes();
    if (list.empty() || list.back().offset + list.back().bytes.size() != *offset)
      list.push_back({*offset, {}});
    list.back().bytes.insert(list.back().bytes.end(), bytes.begin(), bytes.end());
    return;
  }
  // check_receive() checks receives (sink_) when they complete. Writes of other clients than kPlace
  // are no payload: CQEs, for example.
  if (w.client == sim::Client::kPlace && !offset_in(sink_, w.address))
    wrong_.push_back(fmt::format("{} bytes were placed at bus address {:#x}, which is no region's",
                                 w.data.size(), w.address));
}

/// True if our device may have refused some of the listing's writes into the region.
bool ReplayPlayer::may_end_early(const Region& r) const {
  return peer_.terminate() && std::ranges::any_of(r.writes, &Region::Write::may_be_missing);
}

/// Checks that the writes into a region equal those of the listing's messages, byte for byte and in
/// order, with any segmentation.
void ReplayPlayer::check_writes(size_t k) {
  const Region& r = plan_.regions[k];
  using Places = std::vector<std::pair<uint64_t, uint8_t>>;
  const auto places = [](const std::vector<Region::Write>& writes) {
    Places p;
    for (const auto& w : writes) {
      for (size_t i = 0; i < w.bytes.size(); ++i) p.emplace_back(w.offset + i, w.bytes[i]);
    }
    return p;
  };
  ++checks_;
  const Places want = places(r.writes), have = places(written_[k]);
  size_t least = want.size();
  if (may_end_early(r)) {
    least = 0;
    for (const auto& w : r.writes) least += w.may_be_missing ? 0 : w.bytes.size();
  }
  const auto h = std::mismatch(want.begin(), want.end(), have.begin(), have.end()).second;
  if (h != have.end()) {
    wrong_.push_back(fmt::format(
        "region {:#010x}: byte {} that was written is {:02x} at {:#x}, not the listing's", r.stag,
        h - have.begin(), h->second, r.base + h->first));
  } else if (have.size() < least && peer_.done()) {
    wrong_.push_back(fmt::format("region {:#010x}: {} bytes were written, the listing has {}",
                                 r.stag, have.size(), want.size()));
  }
  for (const auto& one : written_[k])
    stored_.push_back({fmt::format("region {:#010x} to={:#x} bytes={}", r.stag, r.base + one.offset,
                                   one.bytes.size()),
                       one.bytes});
}

void ReplayPlayer::check_memory() {
  for (size_t k = 0; k < plan_.regions.size(); ++k) {
    check_writes(k);
    const Region& r = plan_.regions[k];
    const auto bytes = buffers_[k].bytes().first(r.after.size());
    const uint32_t sum = fnv1a(bytes);
    stored_.push_back(
        {fmt::format("region {:#010x} bytes={} sum={:08x}{}", r.stag, bytes.size(), sum,
                     r.noted ? fmt::format(", the note has {:08x}", *r.noted) : ""),
         {}});
    // `after` is valid only after all steps were played and all writes placed. For other regions,
    // check_writes() above has compared the writes so far.
    if (!peer_.done() || may_end_early(r)) continue;
    ++checks_;
    const auto at = std::mismatch(r.after.begin(), r.after.end(), bytes.begin());
    if (at.first != r.after.end()) {
      wrong_.push_back(fmt::format(
          "region {:#010x}: the byte at {:#x} is {:02x}, the listing makes it {:02x}", r.stag,
          r.base + static_cast<uint64_t>(at.first - r.after.begin()), *at.second, *at.first));
    }
    if (r.noted && *r.noted != sum)
      wrong_.push_back(fmt::format("region {:#010x}: its sum is {:08x}, the note has {:08x}",
                                   r.stag, sum, *r.noted));
  }
}

}  // namespace rnic::app
