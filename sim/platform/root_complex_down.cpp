// The path to the device: register accesses and completions. See root_complex.hpp.
#include <algorithm>

#include "base/check.hpp"
#include "platform/dice.hpp"
#include "platform/root_complex.hpp"

namespace rnic::sim {

RootComplex::RootComplex(const std::string& name, const PcieConfig& config, HostMemory& memory,
                         InterruptSink& interrupts, uint64_t seed)
    : Activity(name + "_root_complex"),
      config_(config),
      memory_(memory),
      interrupts_(interrupts),
      reorder_rng_(base::Rng(seed).fork(name + " reorder")),
      fault_rng_(base::Rng(seed).fork(name + " faults")),
      hold_rng_(base::Rng(seed).fork(name + " hold")),
      one_way_(config.pcie_latency_ns * kNs / 4),
      read_host_(config.pcie_latency_ns * kNs / 2),
      write_host_(config.pcie_latency_ns * kNs / 8),
      up_line_(config.gbps()),
      down_line_(config.gbps()) {
  if (config.pcie_error_status != 0) {
    add_fault({static_cast<spec::RdStatus>(config.pcie_error_status), config.pcie_error_nth,
               config.pcie_error, config.pcie_error_from, config.pcie_error_to, 0,
               Completions::kStatus, 0});
  }
}

void RootComplex::attach(Device& device) {
  device_ = &device;
  space_ = std::make_unique<ConfigSpace>(config_, device.sizes());
  config_changed();
}

/// Queues a register access of a host thread. Its time `at` may be later than the kernel's time.
/// `to`: receives the value of a read; null for a write.
void RootComplex::issue(Time at, Mmio m, MmioAnswer* to) {
  if (gone_) {
    if (to != nullptr) answer(*to, ~uint64_t{0});
    return;
  }
  ++moved_;
  ++(to == nullptr ? counters_.mmio_writes : counters_.mmio_reads);
  uint32_t place = 0;
  if (issued_free_.empty()) {
    place = static_cast<uint32_t>(issued_.size());
    issued_.emplace_back();
  } else {
    place = issued_free_.back();
    issued_free_.pop_back();
  }
  issued_[place] = {0, std::move(m), to};
  push_later(at, Kind::kMmio, place);
  plan(kernel_now());
}

/// A read has reached memory: takes all its bytes now, then sends or delays its completions.
void RootComplex::sample(Time at, uint32_t tag) {
  Read& read = reads_[tag];
  if (nonposted_in_use_ > 0) --nonposted_in_use_;
  read.is_sampled = true;
  const DmaRead& r = read.request;
  const bool is_ours = cfg_.bus_master != 0 && memory_.owned(r.address, r.length);
  if (!is_ours) {
    read.status = spec::RdStatus::kUnsupported;
    read.fault_after = 0;
    ++counters_.bad_reads;
  } else if (read.status == spec::RdStatus::kOk || read.fault_after > 0) {
    read.data = Payload::make(r.length);
    if (r.length > 0) memory_.read(r.address, read.data.writable());
  }
  const bool ok = read.status == spec::RdStatus::kOk;
  for (auto* o : observers_) {
    o->on_read_sampled(at, r, read.status, ok ? read.data.bytes() : std::span<const uint8_t>{});
  }
  if (read.completions == Completions::kNever) {  // frees the tag here; the device still waits
    read = Read{};
    --reads_in_use_;
    return;
  }
  if (read.completions == Completions::kLate)
    return push_later(at + read.late, Kind::kMorePieces, tag);
  emit(at, tag);
}

/// Damages the last piece of a read whose completions must violate PCIe.
void RootComplex::misanswer(Time at, const Read& read, DmaPiece& last) {
  const uint32_t bytes = last.data.size();
  if (read.completions == Completions::kShort) {
    last.data = last.data.slice(0, bytes / 2);
  } else if (read.completions == Completions::kLong) {
    Payload more = Payload::make(bytes + 64);
    std::ranges::fill(more.writable(), uint8_t{0xdd});
    std::ranges::copy(last.data.bytes(), more.writable().begin());
    last.data = std::move(more);
  } else if (read.completions == Completions::kTwice) {
    pieces_.push_back(at, last, false);
  }
}

/// Bytes of the next piece: up to MPS, ending on a completion boundary unless it is the last piece.
uint32_t RootComplex::cut(const Read& read) {
  const uint64_t address = read.request.address + read.sent;
  const uint32_t left = read.request.length - read.sent;
  const auto mps = static_cast<uint32_t>(128u << cfg_.mps);
  const uint32_t rcb = cfg_.rcb128 != 0 ? 128 : 64;
  uint32_t bytes = left;
  if (left > mps) bytes = static_cast<uint32_t>((address + mps) / rcb * rcb - address);
  // Cut shorter: at the first boundary, or at a drawn later one.
  if (config_.pcie_split > 0 && chance(reorder_rng_, config_.pcie_split)) {
    const auto to_first = static_cast<uint32_t>(rcb - address % rcb);
    if (to_first < bytes) {
      const uint64_t choices = (bytes - 1 - to_first) / rcb + 1;
      bytes = to_first + rcb * static_cast<uint32_t>(reorder_rng_.below(choices));
    }
  }
  return bytes;
}

/// Sends completions of a read: up to its end or its fault, or until a drawn delay interrupts them.
void RootComplex::emit(Time at, uint32_t tag) {
  Read& read = reads_[tag];
  for (;;) {
    DmaPiece piece;
    piece.tag = static_cast<uint8_t>(tag);
    uint32_t bytes = 0;
    const uint32_t next = read.request.length == 0 ? 0 : cut(read);
    const bool is_last = read.sent + next == read.request.length;
    if (read.status != spec::RdStatus::kOk && (read.fault_after == 0 || is_last)) {
      piece.status = read.status;
      piece.is_last = true;
    } else {
      bytes = next;
      piece.is_last = is_last;
      piece.data = read.data.slice(read.sent, bytes);
      read.sent += bytes;
      if (read.fault_after > 0) --read.fault_after;
    }
    const bool done = piece.is_last;
    const Time there = down_line_.send(at, kTlpOverhead + bytes) + one_way_;
    const bool twice = done && read.completions == Completions::kTwice;
    if (done && piece.status == spec::RdStatus::kOk) misanswer(there, read, piece);
    pieces_.push_back(there, std::move(piece), twice);
    if (done) {
      read.data = Payload();
      return;
    }
    if (chance(reorder_rng_, config_.pcie_reorder)) {
      return push_later(at + reorder_rng_.between(1, config_.pcie_reorder_ns * kNs),
                        Kind::kMorePieces, tag);
    }
  }
}

/// Called when the device does not accept the first register access: returns whether a completion
/// may pass it. A completion may pass register reads, but no register write.
bool RootComplex::piece_may_pass() const {
  const auto first_write =
      std::find_if(mmios_.begin(), mmios_.end(), [](const auto& m) { return m.mmio.is_write; });
  return first_write == mmios_.end() || pieces_.front().at < first_write->at;
}

/// Passes what has arrived at the device to it: register accesses and completions, by arrival.
void RootComplex::deliver(Time now) {
  for (;;) {
    const bool has_piece = !pieces_.empty() && pieces_.front().at <= now;
    const bool has_mmio = !mmios_.empty() && mmios_.front().at <= now;
    if (!has_piece && !has_mmio) return;
    if (has_mmio && (!has_piece || mmios_.front().at <= pieces_.front().at)) {
      if (device_->can_mmio()) {
        MmioDown m = std::move(mmios_.front());
        mmios_.pop_front();
        ++moved_;
        if (m.answer != nullptr) answering_.push_back(m.answer);
        for (auto* o : observers_) o->on_mmio(now, m.mmio);
        device_->mmio(std::move(m.mmio));
        continue;
      }
      wake_at(next_cycle_after(now));
      if (!has_piece || !piece_may_pass()) return;
    }
    DmaPiece piece = std::move(pieces_.front().piece);
    const bool is_extra = pieces_.front().is_extra;
    pieces_.pop_front();
    ++moved_;
    ++counters_.completions;
    if (piece.is_last && !is_extra) {  // the tag is free
      reads_[piece.tag].is_active = false;
      --reads_in_use_;
    }
    for (auto* o : observers_) o->on_completion(now, piece);
    device_->dma_piece(std::move(piece));
  }
}

/// Applies and delivers all due items. Wakes the device if it was refused (held_write_, held_read_)
/// and the root complex can now accept a write or a read.
void RootComplex::run(Time now) {
  settle(now);
  if (gone_) return;
  deliver(now);
  bool wake = false;
  if (held_write_) {
    held_write_ = false;
    wake = can_dma_write();
  }
  if (held_read_) {
    held_read_ = false;
    wake = can_dma_read() || wake;
  }
  if (wake) device_->wake();
  plan(now);
}

/// Schedules the earliest time at which an item reaches the device or the host. A request that
/// memory has not yet served counts with its first completion, which cannot arrive earlier.
void RootComplex::plan(Time now) {
  Time next = kForever;
  if (!pieces_.empty() && pieces_.front().at > now) next = pieces_.front().at;
  if (!mmios_.empty() && mmios_.front().at > now) next = std::min(next, mmios_.front().at);
  if (!host_due_.empty()) next = std::min(next, host_due_.front());
  if (!later_.empty()) {
    const Later& first = later_.front();
    uint32_t bytes = 0;
    // With pcie_split, cut() would draw a number, and the first completion may be short: 0 bytes.
    if (first.kind == Kind::kRead && config_.pcie_split <= 0) {
      const DmaRead& r = reads_[first.index].request;
      if (r.length > 0) bytes = kTlpOverhead + cut(reads_[first.index]);
    } else if (first.kind == Kind::kMmio) {
      const Mmio& m = issued_[first.index].mmio;
      bytes = kTlpOverhead + (m.is_write ? m.bytes : 0u);
    }
    next = std::min(next, first.at + one_way_ + down_line_.duration(bytes));
  }
  if (next != kForever) wake_at(next);
}

/// Drops all items in flight to the device, and the reads that the device has outstanding. Register
/// reads return all ones. Relaxed writes that the device has sent are committed.
void RootComplex::forget() {
  for (auto& m : mmios_) {
    if (m.answer != nullptr) answer(*m.answer, ~uint64_t{0});
  }
  for (auto* a : answering_) answer(*a, ~uint64_t{0});
  for (const Later& l : later_) {
    if (l.kind == Kind::kMmio && issued_[l.index].answer != nullptr)
      answer(*issued_[l.index].answer, ~uint64_t{0});
    if (l.kind == Kind::kEarlyWrite) commit(kernel_now(), early_[l.index]);
  }
  mmios_.clear();
  answering_.clear();
  later_.clear();
  pieces_.clear();
  early_.clear();
  early_free_.clear();
  issued_.clear();
  issued_free_.clear();
  for (auto& read : reads_) read = Read{};
  reads_in_use_ = nonposted_in_use_ = 0;
  held_write_ = held_read_ = false;
}

void RootComplex::reset() {
  if (gone_) return;
  settle(kernel_now());
  while (!up_.empty()) {  // a reset takes far longer than a write
    finish_up(up_.front());
    up_.pop_front();
  }
  posted_until_ = 0;
  forget();
  for (auto* o : observers_) o->on_reset(kernel_now());
  space_->reset();
  device_->reset();
  config_changed();
}

void RootComplex::remove() {
  if (gone_) return;
  settle(kernel_now());
  forget();
  for (auto* o : observers_) o->on_reset(kernel_now());
  device_->reset();
  gone_ = true;
}

void RootComplex::lose_power() {
  if (gone_) return;
  settle(kernel_now());
  // forget() would commit relaxed writes that have not reached memory; here they are lost.
  std::erase_if(later_, [](const Later& l) { return l.kind == Kind::kEarlyWrite; });
  forget();
  up_.clear();
  host_due_.clear();
  for (auto* o : observers_) o->on_reset(kernel_now());
  device_->reset();
  gone_ = true;
}

std::string RootComplex::waiting_for() const {
  std::string out;
  if (!mmios_.empty()) {
    const Mmio& m = mmios_.front().mmio;
    out += fmt::format("pcie: register {} of BAR {} offset {:#x} waits for the device\n",
                       m.is_write ? "write" : "read", m.bar, m.offset);
  }
  if (!answering_.empty())
    out += fmt::format("pcie: {} register reads wait for the device's answer\n", answering_.size());
  if (reads_in_use_ > 0) out += fmt::format("pcie: {} reads under way\n", reads_in_use_);
  return out;
}

}  // namespace rnic::sim
