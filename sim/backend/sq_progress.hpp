// Progress of each send queue, from the device's pins: doorbells in, completions out. Only for the
// watchdog's report. A work request that requests no completion counts as waiting until a later
// work request completes.
//
//   sq.mmio(m);        // each register write
//   sq.written(tlp);   // each posted write
//   for (const SqProgress::Waiting& w : sq.waiting()) ... w.qpn, w.rung, w.completed
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "backend/device.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"

namespace rnic::sim {

class SqProgress {
 public:
  struct Waiting {
    uint32_t qpn = 0;
    uint16_t rung = 0;                  // index of the last doorbell
    std::optional<uint16_t> completed;  // index of the last WQE with a completion
  };

  void reset() { queues_.clear(); }

  void mmio(const Mmio& m) {
    // kSq: offset of the SQ doorbell in a doorbell page. kRingInWqe: offset of the doorbell in the
    // 64 bytes of a push.
    constexpr uint32_t kPage = 4096, kSq = 0, kRingInWqe = 24;
    if (!m.is_write || m.bar != 2) return;
    const uint32_t at = m.offset % kPage;
    if (m.bytes == 8 && at == kSq) {
      ring(static_cast<uint32_t>(m.value) & 0xffffff, static_cast<uint16_t>(m.value >> 32));
    } else if (m.bytes == 64 && at == spec::kPushOffset) {
      const auto d = spec::Doorbell::unpack(m.data.bytes().subspan(kRingInWqe));
      ring(d.object, static_cast<uint16_t>(d.index));
    }
  }

  void written(const DmaWrite& w) {
    if (w.client != Client::kCq || w.data.size() != spec::Cqe::kBytes) return;
    const auto e = spec::Cqe::unpack(w.data.bytes());
    const auto q = queues_.find(e.qpn);
    if (e.is_recv != 0 || q == queues_.end()) return;
    // A CQE with wr_flush_err names the unit after the last flushed one.
    const auto last =
        static_cast<uint16_t>(e.index - (e.status == spec::WcStatus::kWrFlushErr ? 1 : 0));
    q->second.completed = last;
    auto& rung = q->second.rung;
    while (rung.size() > 1 && !after(rung.front(), last)) rung.pop_front();
  }

  std::vector<Waiting> waiting() const {
    std::vector<Waiting> all;
    for (const auto& [qpn, q] : queues_) {
      const uint16_t rung = q.rung.back();
      // `completed` is the first unit of a WQE, which has at most kMostUnits units. If only one
      // doorbell is after that unit, and by at most kMostUnits, it counts as the doorbell of this
      // WQE itself: no later WQE waits.
      if (q.completed && rung == q.rung.front() &&
          static_cast<uint16_t>(rung - *q.completed) <= kMostUnits)
        continue;
      all.push_back({qpn, rung, q.completed});
    }
    return all;
  }

 private:
  static constexpr uint16_t kMostUnits = 4;  // of a WQE
  struct Queue {
    std::deque<uint16_t> rung;  // indices of the doorbells after `completed`; at least the last one
    std::optional<uint16_t> completed;
  };
  static bool after(uint16_t a, uint16_t b) { return static_cast<int16_t>(a - b) > 0; }

  void ring(uint32_t qpn, uint16_t index) {
    Queue& q = queues_[qpn];
    if (!q.rung.empty() && !after(index, q.rung.back())) q = {};  // a new QP has the number
    // A full list drops its second doorbell: the first and the last decide.
    if (q.rung.size() == kKept) q.rung.erase(q.rung.begin() + 1);
    q.rung.push_back(index);
  }
  static constexpr size_t kKept = 256;

  std::map<uint32_t, Queue> queues_;  // by QP
};

}  // namespace rnic::sim
