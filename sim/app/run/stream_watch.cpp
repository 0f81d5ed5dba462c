// Streams of an RTL device over time. See stream_watch.hpp.
#include "run/stream_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"

namespace rnic::app {
namespace {

const std::vector<const char*> kSendPath = {
    "qp_doorbell", "wqe_check",   "wqe_check_rsp", "wqe_hdr",      "tx_message_hdr", "tx_want",
    "tx_grant",    "payload_req", "payload_hdr",   "tx_ulpdu_hdr", "tx_fpdu_hdr",    "llp_tx"};
const std::vector<const char*> kReceivePath = {
    "rx_ulpdu_hdr", "rx_xlate", "rx_xlate_rsp", "rx_segment", "rx_verdict", "place_hdr", "dma_wr"};
const std::vector<const char*> kAtomicPath = {"qn1_xlate",  "qn1_extent", "qn1_rd_req",
                                              "qn1_rd_hdr", "word_wr",    "dma_wr",
                                              "word_done",  "atomic_rsp"};
// Continuations of kAtomicPath: on a responder to the response, on a requester to the completion.
const std::vector<const char*> kResponse = {"tx_message_hdr", "tx_grant", "tx_ulpdu_hdr",
                                            "tx_fpdu_hdr", "llp_tx"};
const std::vector<const char*> kResult = {"res_done"};

size_t number_of(const char* stream) {
  for (size_t i = 0; i < sim::kStreamNames.size(); ++i) {
    if (std::strcmp(sim::kStreamNames[i].name, stream) == 0) return i;
  }
  throw std::logic_error(fmt::format("no stream {}", stream));
}

std::array<bool, sim::kStreamNames.size()> on_a_path() {
  std::array<bool, sim::kStreamNames.size()> is{};
  for (const auto* path : {&kSendPath, &kReceivePath, &kAtomicPath, &kResponse, &kResult}) {
    for (const char* s : *path) is[number_of(s)] = true;
  }
  for (const char* start : {"llp_rx", "atomic_req"}) is[number_of(start)] = true;
  return is;
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all.empty() ? 0 : all[(all.size() - 1) / 2];
}

std::vector<uint64_t> within(const std::vector<uint64_t>& cycles, Time from, Time to) {
  std::vector<uint64_t> out;
  std::ranges::copy_if(cycles, std::back_inserter(out), [&](uint64_t c) {
    return base::time_of_cycle(c) >= from && base::time_of_cycle(c) <= to;
  });
  return out;
}

}  // namespace

const StreamWatch::Fires& StreamWatch::fires(const char* stream) const {
  return fires_[number_of(stream)];
}

void StreamWatch::streams(const sim::StreamStates& states) {
  static const auto kept = on_a_path();
  for (size_t i = 0; i < kStreams; ++i) {
    if ((states[i] & sim::kStreamValid) == 0) continue;
    if (states[i] != sim::kStreamFires) {
      ++counts_.waited[i];
    } else {
      ++counts_.moved[i];
      if (kept[i]) fires_[i].push_back(now_);
    }
  }
  if (now_ % kInterval == 0) {
    counts_.cycle = now_;
    history_.push_back(counts_);
  }
}

void StreamWatch::mmio(const sim::Mmio& m) {
  if (m.is_write && m.bytes == 64) pushes_.push_back(now_);  // only pushes have 64 bytes
}

// The step of a stream is the time since the previous stream of the path that moved for this
// message.
std::vector<StreamWatch::Step> StreamWatch::path(const std::vector<uint64_t>& starts,
                                                 const char* start,
                                                 const std::vector<const char*>& names) const {
  std::vector<Step> steps{{.what = start, .messages = starts.size()}};
  std::vector<std::vector<double>> since(names.size()), step(names.size());
  for (size_t m = 0; m < starts.size(); ++m) {
    const uint64_t end = m + 1 < starts.size() ? starts[m + 1] : UINT64_MAX;
    uint64_t before = starts[m];
    for (size_t k = 0; k < names.size(); ++k) {
      const Fires& f = fires(names[k]);
      const auto at = std::ranges::lower_bound(f, before);
      if (at == f.end() || *at >= end) continue;
      since[k].push_back(static_cast<double>(*at - starts[m]));
      step[k].push_back(static_cast<double>(*at - before));
      before = *at;
    }
  }
  for (size_t k = 0; k < names.size(); ++k) {
    if (since[k].size() * 2 < starts.size() || since[k].empty())
      continue;  // fewer than half of the messages: not on this program's path
    const auto& s = sim::kStreamNames[number_of(names[k])];
    steps.push_back({.what = fmt::format("{} ({} to {})", s.name, s.from, s.to),
                     .cycles = median(step[k]),
                     .since_start = median(since[k]),
                     .messages = since[k].size()});
  }
  return steps;
}

std::vector<StreamWatch::Step> StreamWatch::send_path(Time from, Time to) const {
  std::vector<uint64_t> starts;
  // A push of two units is two writes: the later one, which qp_doorbell follows, is the start.
  for (const uint64_t c : within(pushes_, from, to)) {
    const auto next = std::ranges::lower_bound(fires("qp_doorbell"), c);
    if (next == fires("qp_doorbell").end()) break;
    const auto later = std::ranges::upper_bound(pushes_, c);
    if (later != pushes_.end() && *later <= *next) continue;
    starts.push_back(c);
  }
  return path(starts, "push taken (pcie to host_if)", kSendPath);
}

std::vector<StreamWatch::Step> StreamWatch::receive_path(Time from, Time to) const {
  std::vector<uint64_t> starts;
  const Fires& beats = fires("llp_rx");
  for (const uint64_t c : within(fires("rx_ulpdu_hdr"), from, to)) {
    const auto after = std::ranges::upper_bound(beats, c);
    if (after != beats.begin()) starts.push_back(*(after - 1));
  }
  return path(starts, "last beat of llp_rx (llp to llp_if)", kReceivePath);
}

std::vector<StreamWatch::Step> StreamWatch::atomic_path(Time from, Time to) const {
  auto names = kAtomicPath;
  const bool asks = !within(fires("res_done"), from, to).empty();
  std::ranges::copy(asks ? kResult : kResponse, std::back_inserter(names));
  return path(within(fires("atomic_req"), from, to), "atomic_req (rdmap to atomic)", names);
}

std::vector<StreamWatch::Use> StreamWatch::use(Time from, Time to) const {
  std::vector<Use> all;
  const Counts *first = nullptr, *last = nullptr;
  for (const Counts& c : history_) {
    if (base::time_of_cycle(c.cycle) < from || base::time_of_cycle(c.cycle) > to) continue;
    if (first == nullptr) first = &c;
    last = &c;
  }
  if (first == last) return all;
  const auto cycles = static_cast<double>(last->cycle - first->cycle);
  for (size_t i = 0; i < kStreams; ++i) {
    const auto& s = sim::kStreamNames[i];
    all.push_back({s.name, s.from, s.to, (last->moved[i] - first->moved[i]) / cycles,
                   (last->waited[i] - first->waited[i]) / cycles});
  }
  return all;
}

}  // namespace rnic::app
