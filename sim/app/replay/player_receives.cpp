// Compares the device's receives with the plan. See replay/player.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "replay/player.hpp"

namespace rnic::app {

using namespace verbs;

std::vector<std::string> immediate_differences(const Arrival& want, const Wc& wc) {
  const bool has = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  if (!has && !want.immediate) return {};
  const auto text = [](bool is, uint64_t immediate) {
    return is ? fmt::format("Immediate Data {:#018x}", immediate) : "no Immediate Data";
  };
  std::vector<std::string> out;
  if (has != want.immediate.has_value() || wc.imm != *want.immediate ||
      wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
    out.push_back(fmt::format("completed with {}, the listing has {}", text(has, wc.imm),
                              text(want.immediate.has_value(), want.immediate.value_or(0))));
  if (has && want.immediate && wc.byte_len != want.length)
    out.push_back(fmt::format("completed with length {}; the Write before it in the listing has {}",
                              wc.byte_len, want.length));
  return out;
}

void ReplayPlayer::check_receive(size_t which, const Wc& wc) {
  ++checks_;
  const Arrival want = which < plan_.receives.size() ? plan_.receives[which] : Arrival{};
  const auto wrong = [&](const std::string& what) {
    wrong_.push_back(fmt::format("receive {} {}", which, what));
  };
  const bool has_immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  const auto all = sink_.bytes().subspan(sink_at_[which], slot_of(plan_.posts[which].length));
  const size_t placed = has_immediate ? 0 : std::min<size_t>(wc.byte_len, all.size());
  Stored s{has_immediate
               ? fmt::format("receive {} immediate={:#018x} length={}", which, wc.imm, wc.byte_len)
               : fmt::format("receive {} bytes={}", which, wc.byte_len),
           {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(placed)}};

  const bool has_gone = (wc.wc_flags & IBV_WC_WITH_INV) != 0;
  const auto ours = stags_.find(want.gone);
  if (has_gone != (want.gone != 0) ||
      (has_gone && (ours == stags_.end() || wc.invalidated_rkey != ours->second)))
    wrong(fmt::format("invalidates {}, the listing {}",
                      has_gone ? fmt::format("{:#010x}", wc.invalidated_rkey) : "nothing",
                      want.gone != 0 ? fmt::format("{:#010x}", want.gone) : "nothing"));
  if (which != received_) wrong(fmt::format("completed as number {}", received_));
  for (const std::string& d : immediate_differences(want, wc)) wrong(d);
  if (s.bytes != want.payload)
    wrong(fmt::format("holds {} bytes that are not the listing's {}", s.bytes.size(),
                      want.payload.size()));
  const auto rest = all.subspan(s.bytes.size());
  if (std::any_of(rest.begin(), rest.end(), [](uint8_t b) { return b != kUntouched; }))
    wrong_.push_back(fmt::format("bytes after receive {} were written", which));
  stored_.push_back(std::move(s));
}

}  // namespace rnic::app
