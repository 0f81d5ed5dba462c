// Registers and doorbells, reads of admin, writes.
#include <utility>

#include "gen/regs.hpp"
#include "tandem/steps.hpp"

namespace rnic::sim {
namespace {

/// Registers that hold a time or a count, or that race with the device: read, but not compared.
bool is_live(uint32_t offset) {
  switch (offset & ~7U) {  // the 64-bit register
    case spec::kDevStatusOffset & ~7U:
    case spec::kDeviceTimeOffset & ~7U:
    case spec::kDoorbellsDroppedOffset & ~7U:
    case spec::kDmaErrorsOffset & ~7U:
    case spec::kCplUnexpectedOffset & ~7U:
    case spec::kCplMalformedOffset & ~7U:
    case spec::kCplTimedOutOffset & ~7U:
    case spec::kMsixPendingOffset & ~7U:
      return true;
    default:
      return offset >= spec::kCountItemsOffset &&
             offset < spec::kCountItemsOffset + spec::kCountItemsCount * spec::kCountItemsStride;
  }
}

bool is_vector(uint32_t offset) {
  return offset >= spec::kMsixAddressOffset &&
         offset < spec::kMsixAddressOffset + spec::kMsixAddressCount * spec::kMsixAddressStride;
}

}  // namespace

void Steps::mmio(const Mmio& m) {
  host_.bar.write({.is_write = m.is_write,
                   .bar = m.bar,
                   .bytes = m.bytes,
                   .offset = m.offset,
                   .value = m.value,
                   .data = m.data});
  if (m.is_write) {
    if (m.bar == 0 && is_vector(m.offset)) vectors_changed();
    return;
  }
  const bool live = m.bar == 0 && is_live(m.offset);
  expect_.read(m.bar, m.offset,
               live ? std::nullopt : std::optional(host_.bar.read(m.bar, m.offset, m.bytes)));
}

void Steps::step(const spec::PushLateCommit& c) {
  if (!host_.bar.waiting())
    tally_.differ("RTL gives up half of a push in page {}; none waits", c.page);
  host_.bar.give_up(c.page, c.qpn, c.index);
}

void Steps::step(const spec::PushPurgeCommit& c) {
  if (purges_.empty() || purges_.front().qpn != c.qpn)
    return tally_.differ("push_purge: QP {}: RTL forgets its halves of pushes; model destroys {}",
                         c.qpn,
                         purges_.empty() ? "none" : fmt::format("QP {}", purges_.front().qpn));
  purges_.pop_front();
  host_.bar.purge(c.qpn);
}

void Steps::dev_cfg(const spec::DevCfg& cfg) {
  admin_.configure(cfg);
  tpt_.set_key(cfg.stag_key);
  writes_changed();
}

void Steps::pcie(const spec::PcieCfg& cfg) {
  pcie_ = cfg;
  host_.set_pcie(cfg);
  log_.pcie(cfg);
  writes_changed();
  vectors_changed();
}

void Steps::vectors_changed() {
  for (uint32_t v = 0; v < vectors_; ++v) {
    const uint32_t at = spec::kMsixAddressOffset + v * spec::kMsixAddressStride;
    // An entry: address in bytes 0 to 7, data in 8 to 11, and in 12 to 15 the mask (bit 0).
    const uint64_t word = host_.bar.read(0, at + 8, 8);
    expect_.vector_changed(
        static_cast<uint8_t>(v),
        {.address = host_.bar.read(0, at, 8),
         .data = static_cast<uint32_t>(word),
         .masked = (word >> 32 & 1) != 0 || pcie_.msix_enable == 0 || pcie_.msix_mask != 0});
  }
}

/// When bus master is cleared, expected writes are dropped and count as done.
void Steps::writes_changed() {
  const bool on = host_.dma_enabled();
  if (on == expect_.writes()) return;
  while (!on) {
    const auto extents = expect_.forget_place();
    if (!extents) break;
    for (const spec::Extent& e : *extents) in_flight_.retire(e.epoch);
    ++placed_;
    ddp_.rx.place_done({});
  }
  while (!on && !storing_.empty()) stored();
  expect_.writes(on);
}

// --- reads

void Steps::dma_read(const DmaRead& r) {
  log_.read(r);
  if (!log_.contradiction().empty()) tally_.differ("{}", log_.contradiction());
}

void Steps::dma_piece(const DmaPiece& p) {
  log_.piece(p);
  if (!log_.contradiction().empty()) tally_.differ("{}", log_.contradiction());
  serve_admin();
  gather();
  settle();
}

/// Serves admin's reads as they complete; the data of the next one may have arrived already.
void Steps::serve_admin() {
  while (admin_read_) {
    auto got = log_.take(Client::kAdmin, admin_read_->address, admin_read_->length);
    if (got.state != ReadLog::State::kDone) return;
    admin_read_.reset();
    admin_.data({.status = got.status, .data = std::move(got.data)});
  }
}

// --- writes

void Steps::dma_write(const DmaWrite& w) {
  const uint64_t offered_at = tally_.cycle() - std::exchange(write_waited_, 0);
  switch (w.client) {
    case Client::kPlace: {
      const Expect::Placed done = expect_.placed(w);
      if (done.extent) in_flight_.retire(done.extent->epoch);
      if (!done.is_packet) return;
      ++placed_;
      ddp_.rx.place_done({});
      return settle();
    }
    case Client::kWord:
      expect_.word_written(w);
      stored();
      return settle();
    case Client::kCq:
      expect_.cq_written(w);
      if (w.data.size() == spec::Cqe::kBytes) completion_told(spec::Cqe::unpack(w.data.bytes()));
      return;
    case Client::kMsix:
      return expect_.interrupted(w, offered_at);
    case Client::kAdminWrite:
      for (uint32_t n = expect_.admin_written(w); n != 0; --n) answer_written();
      return;
    default:
      return tally_.differ("RTL wrote {} bytes at {:#x} without a request", w.data.size(),
                           w.address);
  }
}

void Steps::admin_wr(const spec::AdminWr& wr) {
  const spec::DevCfg& cfg = host_.cfg();
  const uint64_t in_ring = wr.address - cfg.admin_rsp_base;
  expect_.admin(wr, in_ring < uint64_t{spec::AdminRsp::kBytes} << cfg.admin_log_size);
  if (!expect_.writes()) answer_written();
}

/// The response to a command was written: effects that waited for it (after_answer_) take place.
void Steps::answer_written() {
  while (!after_answer_.empty()) {
    after_answer_.front()();
    after_answer_.pop_front();
  }
}

// --- admin's commands to units

void Steps::command(model::Admin::Unit unit, const spec::Cmd& cmd) {
  switch (cmd.opcode) {
    case spec::AdminOpcode::kCreateEq:  // an EQ that does not exist yet has no race
      return cq_.command(cmd);
    case spec::AdminOpcode::kDestroyEq:  // events may be written to it until the RTL has responded
      after_answer_.push_back([this, cmd] {
        quiet_cq_ = true;
        cq_.command(cmd);
        quiet_cq_ = false;
      });
      return admin_.answer({});
    default:
      commands_[static_cast<size_t>(unit)].push_back(cmd);
  }
}

}  // namespace rnic::sim
