// The path to the host: writes, read requests, responses to register reads. See root_complex.hpp.
#include <algorithm>

#include "base/bytes.hpp"
#include "platform/dice.hpp"
#include "platform/root_complex.hpp"

namespace rnic::sim {

/// False while more than pcie_tx_queue_bytes wait for the wire. run() then wakes the device when
/// half of pcie_tx_queue_bytes is left.
bool RootComplex::link_has_room(Time now) {
  const Time limit = up_line_.duration(config_.pcie_tx_queue_bytes);
  const Time backlog = up_line_.backlog(now);
  if (backlog <= limit) return true;
  wake_at(now + backlog - limit / 2);
  return false;
}

/// If credits are used up, settle() first applies the writes that are due by now: that frees their
/// credits. can_dma_read() does the same for reads.
bool RootComplex::can_dma_write() {
  if (gone_) return true;
  const Time now = kernel_now();
  if (link_has_room(now)) {
    if (posted_in_use_ < config_.pcie_posted_credits) return true;
    settle(now);
    if (posted_in_use_ < config_.pcie_posted_credits) return true;
    if (!up_.empty()) wake_at(up_.front().at);
  }
  held_write_ = true;
  return false;
}

bool RootComplex::can_dma_read() {
  if (gone_) return true;
  const Time now = kernel_now();
  if (link_has_room(now) && reads_in_use_ < config_.pcie_tags) {
    if (nonposted_in_use_ < config_.pcie_nonposted_credits) return true;
    settle(now);
    if (nonposted_in_use_ < config_.pcie_nonposted_credits) return true;
    if (!later_.empty()) wake_at(later_.front().at);
  }
  held_read_ = true;  // a delivery frees a tag, and `plan` schedules it
  return false;
}

/// The device has violated a rule of PCIe. The first violation is the run's failure.
void RootComplex::broken(Time now, const std::string& what) {
  if (failure_.empty()) failure_ = fmt::format("{} ns: PCIe: {}", now / kNs, what);
}

void RootComplex::dma_write(DmaWrite w) {
  if (gone_) return;
  const Time now = kernel_now();
  const uint32_t size = w.data.size();
  if (size == 0 || size > 128u << cfg_.mps || w.address % 4096 + size > 4096) {
    broken(now, fmt::format("write of {} bytes at {:#x}", size, w.address));
  }
  ++moved_;
  ++counters_.writes[static_cast<size_t>(w.client)];
  counters_.write_bytes[static_cast<size_t>(w.client)] += size;
  for (auto* o : observers_) o->on_write_issued(now, w);
  const Time arrival = up_line_.send(now, kTlpOverhead + size) + one_way_;
  if (++posted_in_use_ > config_.pcie_posted_credits) settle(now);  // no can_dma_write() before
  if (w.relaxed && chance(reorder_rng_, config_.pcie_relaxed)) {
    uint32_t place = 0;
    if (early_free_.empty()) {
      place = static_cast<uint32_t>(early_.size());
      early_.emplace_back();
    } else {
      place = early_free_.back();
      early_free_.pop_back();
    }
    early_[place] = std::move(w);
    push_later(arrival, Kind::kEarlyWrite, place);
    return;
  }
  const Time at = hold(arrival + write_host_);
  if (w.address >= kMsiBase && w.address < kMsiBase + 16 * kVectors) {
    host_due_.push_back(at);
    wake_at(at);
  }
  up_.push_back(at, ++seq_, std::move(w), nullptr, uint64_t{0});
}

/// The time at which a posted write due at `at` takes effect: after all posted writes before it.
Time RootComplex::hold(Time at) {
  if (config_.pcie_posted_hold_ns != 0)
    at += hold_rng_.between(0, config_.pcie_posted_hold_ns * kNs);
  return posted_until_ = std::max(posted_until_, at);
}

void RootComplex::dma_read(DmaRead r) {
  if (gone_) return;
  const Time now = kernel_now();
  if (r.length > 128u << cfg_.mrrs || r.address % 4096 + r.length > 4096) {
    broken(now, fmt::format("read of {} bytes at {:#x}", r.length, r.address));
  }
  Read& read = reads_[r.tag];
  if (read.is_active) broken(now, fmt::format("tag {} used again while outstanding", r.tag));
  ++moved_;
  ++counters_.reads[static_cast<size_t>(r.client)];
  counters_.read_bytes[static_cast<size_t>(r.client)] += r.length;
  for (auto* o : observers_) o->on_read_issued(now, r);
  read = Read{};
  read.request = r;
  read.is_active = true;
  decide_fault(read);
  ++reads_in_use_;
  ++nonposted_in_use_;
  const Time arrival = up_line_.send(now, kTlpOverhead) + one_way_;
  Time at = std::max(arrival + read_host_, posted_until_);
  if (chance(reorder_rng_, config_.pcie_reorder))
    at += reorder_rng_.between(1, config_.pcie_reorder_ns * kNs);
  push_later(at, Kind::kRead, r.tag);
  plan(now);
}

/// Draws whether a new read fails, and how: see ReadFault.
void RootComplex::decide_fault(Read& read) {
  const uint64_t address = read.request.address;
  for (auto& f : faults_) {
    if (address < f.from || address >= f.to) continue;
    ++f.seen;
    if (f.seen != f.nth && !chance(fault_rng_, f.probability)) continue;
    if (f.completions != Completions::kStatus) {
      read.completions = f.completions;
      read.late = f.late;
      ++counters_.misanswered;
      continue;
    }
    read.status = f.status;
    read.fault_after = static_cast<uint32_t>(fault_rng_.below(3));  // at most 2 good pieces first
  }
}

void RootComplex::mmio_response(uint64_t value) {
  if (gone_) return;
  const Time now = kernel_now();
  if (answering_.empty()) return broken(now, "mmio_response without a read");
  MmioAnswer* to = answering_.front();
  answering_.pop_front();
  ++moved_;
  const Time arrival = up_line_.send(now, kTlpOverhead + 8) + one_way_;
  const Time at = std::max(arrival + write_host_, posted_until_);
  up_.push_back(at, ++seq_, DmaWrite{}, to, value);
  host_due_.push_back(at);
  wake_at(at);
}

/// The heap later_: its front is the earliest item.
void RootComplex::push_later(Time at, Kind kind, uint32_t index) {
  later_.push_back({at, ++seq_, index, kind});
  std::push_heap(later_.begin(), later_.end());
}

/// A write takes effect: in memory, or as an interrupt if its address is in the range of MSI-X.
void RootComplex::commit(Time at, const DmaWrite& w) {
  if (posted_in_use_ > 0) --posted_in_use_;
  const auto bytes = w.data.bytes();
  bool ok = cfg_.bus_master != 0;
  if (ok && w.address >= kMsiBase && w.address < kMsiBase + 16 * kVectors) {
    ok = bytes.size() == 4 && w.address % 4 == 0;
    if (ok) {
      const auto place = static_cast<unsigned>((w.address - kMsiBase) / 16);
      const unsigned vector = place != 0 ? place : base::load_le<uint32_t>(bytes.data()) % kVectors;
      ++counters_.interrupts;
      for (auto* o : observers_) o->on_interrupt(at, vector);
      interrupts_.interrupt(vector);
    } else {
      broken(at, fmt::format("interrupt message of {} bytes at {:#x}", bytes.size(), w.address));
    }
  } else {
    ok = ok && memory_.write(w.address, bytes);
    if (ok) memory_.pmem().device_wrote(at, w.address, bytes);
  }
  if (!ok) ++counters_.bad_writes;
  for (auto* o : observers_) o->on_write(at, w, ok);
}

void RootComplex::answer(MmioAnswer& to, uint64_t value) {
  to.value = value;
  to.done = true;
  to.event.notify(sc_core::SC_ZERO_TIME);
}

/// An item of up_ takes effect: a write in memory, or the response to a register read at its
/// thread.
void RootComplex::finish_up(Up& up) {
  if (up.answer == nullptr) return commit(up.at, up.write);
  for (auto* o : observers_) o->on_mmio_response(up.at, up.value);
  answer(*up.answer, up.value);
}

/// Takes the items of up_ and later_ up to `now` in order of time; of equal times, the one that was
/// queued first.
void RootComplex::settle(Time now) {
  for (;;) {
    const bool has_up = !up_.empty() && up_.front().at <= now;
    const bool has_later = !later_.empty() && later_.front().at <= now;
    if (!has_up && !has_later) break;
    if (has_up && (!has_later || up_.front().at < later_.front().at ||
                   (up_.front().at == later_.front().at && up_.front().seq < later_.front().seq))) {
      Up up = std::move(up_.front());
      up_.pop_front();
      finish_up(up);
      continue;
    }
    std::pop_heap(later_.begin(), later_.end());
    const Later next = later_.back();
    later_.pop_back();
    switch (next.kind) {
      case Kind::kRead:
        sample(next.at, next.index);
        break;
      case Kind::kMorePieces:
        emit(next.at, next.index);
        break;
      case Kind::kEarlyWrite: {
        const DmaWrite w = std::move(early_[next.index]);
        early_free_.push_back(next.index);
        commit(next.at, w);
        break;
      }
      case Kind::kMmio: {
        MmioDown m = std::move(issued_[next.index]);
        issued_free_.push_back(next.index);
        const uint32_t payload = m.mmio.is_write ? m.mmio.bytes : 0;
        m.at = down_line_.send(next.at, kTlpOverhead + payload) + one_way_;
        mmios_.push_back(std::move(m));
        break;
      }
    }
  }
  while (!host_due_.empty() && host_due_.front() <= now) host_due_.pop_front();
}

}  // namespace rnic::sim
