// The tracks of a timeline's units: when each path through a unit holds an item.
#include <algorithm>
#include <string_view>
#include <vector>

#include "run/timeline.hpp"

namespace rnic::app {
namespace {

/// A path through a unit: the streams that bring items and those that take them away.
struct Path {
  const char* name;
  std::vector<std::string_view> in, out;
};
const std::vector<Path>& paths() {
  static const std::vector<Path> all = {
      {"host_if doorbell", {"mmio_req"}, {"qp_doorbell"}},
      {"host_if read", {"sq_rd_req", "tx_extent", "qn1_rd_req", "reg_rd_req"}, {"dma_rd_req"}},
      {"host_if data", {"dma_rd_rsp"}, {"sq_rd_hdr", "payload_hdr", "qn1_rd_hdr", "reg_rd_hdr"}},
      {"host_if write", {"place_hdr", "cq_wr", "word_wr"}, {"dma_wr"}},
      {"qp fetch", {"qp_doorbell"}, {"sq_rd_req"}},
      {"qp issue", {"sq_rd_hdr", "wqe_check_rsp"}, {"wqe_check", "wqe_hdr"}},
      {"qp receive", {"rq_take_req"}, {"rq_take_rsp"}},
      {"qp retire", {"wr_done", "rx_done", "res_done"}, {"cqe_req"}},
      {"tpt",
       {"wqe_check", "rx_xlate", "resp_check", "qn1_xlate", "payload_req"},
       {"wqe_check_rsp", "rx_xlate_rsp", "resp_check_rsp", "qn1_extent", "tx_extent"}},
      {"rdmap tx", {"wqe_hdr", "resp_check_rsp", "atomic_rsp"}, {"tx_message_hdr"}},
      {"rdmap rx", {"rx_segment"}, {"rx_verdict"}},
      {"atomic",
       {"atomic_req", "qn1_extent", "qn1_rd_hdr", "word_done"},
       {"qn1_xlate", "qn1_rd_req", "word_wr", "atomic_rsp", "res_done"}},
      {"ddp tx", {"tx_message_hdr", "tx_grant"}, {"tx_want", "payload_req"}},
      {"ddp tx data", {"payload_hdr"}, {"tx_ulpdu_hdr"}},
      {"ddp rx",
       {"rx_ulpdu_hdr", "rq_take_rsp", "rx_xlate_rsp", "rx_verdict"},
       {"rq_take_req", "rx_xlate", "rx_segment", "place_hdr", "rx_done"}},
      {"mpa tx", {"tx_ulpdu_hdr"}, {"tx_fpdu_hdr"}},
      {"mpa rx", {"rx_fpdu_hdr"}, {"rx_ulpdu_hdr"}},
      {"llp_if grant", {"tx_want"}, {"tx_grant"}},
      {"llp_if tx", {"tx_fpdu_hdr"}, {"llp_tx"}},
      {"llp_if rx", {"llp_rx"}, {"rx_fpdu_hdr"}},
      {"cq", {"cqe_req"}, {"cq_wr"}},
  };
  return all;
}

struct Busy {
  Time from = 0, to = 0;
  uint64_t items = 0;
};

/// Merges intervals that overlap or touch.
std::vector<Busy> merged(std::vector<Busy> all) {
  std::ranges::sort(all, {}, &Busy::from);
  std::vector<Busy> out;
  for (const Busy& b : all) {
    if (!out.empty() && b.from <= out.back().to) {
      out.back().to = std::max(out.back().to, b.to);
      out.back().items += b.items;
    } else {
      out.push_back(b);
    }
  }
  return out;
}

/// From each arrival to the next departure. An item without a departure within `longest`, such as a
/// dropped one, and a departure without an arrival last one cycle.
std::vector<Busy> busy(const std::vector<Time>& in, const std::vector<Time>& out, Time cycle,
                       Time longest) {
  std::vector<Busy> all;
  for (const Time t : in) {
    const auto leaves = std::ranges::lower_bound(out, t);
    const bool does = leaves != out.end() && *leaves - t <= longest;
    all.push_back({t, does && *leaves > t ? *leaves : t + cycle, 1});
  }
  all = merged(std::move(all));
  const size_t arrived = all.size();
  for (const Time t : out) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(arrived);
    auto before =
        std::upper_bound(all.begin(), end, t, [](Time at, const Busy& b) { return at < b.from; });
    if (before != all.begin() && (before - 1)->to >= t) continue;
    all.push_back({t, t + cycle, 0});
  }
  return merged(std::move(all));
}

}  // namespace

void Timeline::add_units(Side side) {
  constexpr std::array<std::string_view, kBorders> kBorderNames = {
      "mmio_req", "dma_rd_req", "dma_rd_rsp", "dma_wr", "llp_rx", "llp_tx"};
  constexpr uint64_t kLongest = 1024;  // cycles
  const Time cycle = config_.clock[side].time_of_cycle(1);
  const auto times = [&](const std::vector<std::string_view>& names) {
    std::vector<Time> all;
    for (const auto name : names) {
      const auto* const b = std::ranges::find(kBorderNames, name);
      const auto& one = b != kBorderNames.end()
                            ? hosts_[side].border[static_cast<size_t>(b - kBorderNames.begin())]
                            : inside_[side].times(name);
      all.insert(all.end(), one.begin(), one.end());
    }
    std::ranges::sort(all);
    return all;
  };
  for (const Path& p : paths()) {
    const auto track = trace_.track(side, TraceEvents::kUnit, p.name);
    for (const Busy& b : busy(times(p.in), times(p.out), cycle, kLongest * cycle))
      trace_.slice(track, p.name, b.from, b.to, 0, b.items);
  }
}

}  // namespace rnic::app
