// Manager: device discovery, tables, the admin queue. Events and connections: event.cpp.
#include "rnic/manager.hpp"

#include <algorithm>
#include <string>

#include "base/log.hpp"
#include "gen/regs.hpp"
#include "gen/sizes.hpp"

namespace rnic::verbs {

namespace {

auto& log = base::logger("driver");

// Configuration space: offsets and bits of the PCI specification.
constexpr uint32_t kCfgId = 0x00, kCfgCommand = 0x04, kCfgCapabilities = 0x34;
constexpr uint32_t kCommandMemory = 1u << 1, kCommandBusMaster = 1u << 2,
                   kStatusHasCapabilities = 1u << 20;
constexpr uint32_t kCapMsix = 0x11, kMsixEnable = 1u << 31, kMsixMaskAll = 1u << 30;
constexpr uint64_t kMsiAddress = 0xfee00000;  // for MSI-X messages; data: the vector's number
constexpr uint32_t kGone = 0xffffffff;

/// The Errc of an error status. execute_once() calls it with neither kOk nor kInProgress.
Errc to_errc(spec::AdminStatus status) {
  switch (status) {
    case spec::AdminStatus::kOk:
    case spec::AdminStatus::kBadOpcode:
      return Errc::kNotSupported;
    case spec::AdminStatus::kBadObject:
    case spec::AdminStatus::kBadArgument:
      return Errc::kInvalidArgument;
    case spec::AdminStatus::kExists:
      return Errc::kAlreadyExists;
    case spec::AdminStatus::kNotFound:
      return Errc::kNotFound;
    case spec::AdminStatus::kInUse:
      return Errc::kBusy;
    case spec::AdminStatus::kBadState:
      return Errc::kBadState;
    case spec::AdminStatus::kNoResource:
      return Errc::kNoMemory;
    case spec::AdminStatus::kDmaError:
      return Errc::kDeviceError;
    case spec::AdminStatus::kNoCredit:
      return Errc::kQueueFull;
    case spec::AdminStatus::kInProgress:
      return Errc::kBusy;
  }
  return Errc::kDeviceError;
}

}  // namespace

Result<uint32_t> RangePool::take(uint32_t count, std::string_view what) {
  if (count == 0) return 0u;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [first, room] = *it;
    if (room < count) continue;
    free_.erase(it);
    if (room > count) free_[first + count] = room - count;
    return first;
  }
  return fail(Errc::kNoMemory, "{}: {} asked for, the longest free run is {}", what, count,
              largest());
}

void RangePool::give(uint32_t first, uint32_t count) {
  if (count == 0) return;
  auto next = free_.lower_bound(first);
  if (next != free_.begin()) {
    auto prev = std::prev(next);
    if (prev->first + prev->second == first) {
      first = prev->first;
      count += prev->second;
      free_.erase(prev);
    }
  }
  if (next != free_.end() && first + count == next->first) {
    count += next->second;
    free_.erase(next);
  }
  free_[first] = count;
}

uint32_t RangePool::largest() const {
  uint32_t most = 0;
  for (const auto& [first, room] : free_) most = std::max(most, room);
  return most;
}

Manager::Manager(PciDevice& dev, const ManagerSettings& settings)
    : opener_(&dev), settings_(settings), rng_(base::Rng(settings.seed).fork("driver")) {}

Result<std::unique_ptr<Manager>> Manager::open(PciDevice& dev, const ManagerSettings& settings) {
  std::unique_ptr<Manager> m(new Manager(dev, settings));
  if (auto r = m->start(dev); !r) return error_of(r);
  return m;
}

Manager::~Manager() {
  if (started_) close(*opener_);
}

Result<void> Manager::start(PciDevice& dev) {
  if (settings_.log_admin > 12 || settings_.log_eq < 1 || settings_.log_eq > spec::kMaxLogCq)
    return fail(Errc::kInvalidArgument, "manager: log_admin {} (0 to 12), log_eq {} (1 to {})",
                settings_.log_admin, settings_.log_eq, spec::kMaxLogCq);
  if (auto r = enable_pci(dev); !r) return r;
  if (auto r = read_capabilities(dev); !r) return r;
  if (auto r = start_admin(dev); !r) return r;
  if (auto r = start_events(dev); !r) {
    close(dev);
    return r;
  }
  return {};
}

Result<void> Manager::enable_pci(PciDevice& dev) {
  if (dev.config_read(kCfgId) == kGone)
    return fail(Errc::kDeviceError, "no device: its identity reads all ones");
  dev.reset();
  const uint32_t command = dev.config_read(kCfgCommand);
  // The upper half is the status register, whose bits a write of 1 clears: write 0 there.
  dev.config_write(kCfgCommand, (command & 0xffff) | kCommandMemory | kCommandBusMaster);
  if ((command & kStatusHasCapabilities) != 0) {
    uint32_t at = dev.config_read(kCfgCapabilities) & 0xfc;
    // The 192 bytes behind the header hold at most 48 capabilities of 4 bytes: a longer list loops.
    for (int hops = 0; at != 0 && hops < 48; hops++) {
      const uint32_t word = dev.config_read(at);
      if ((word & 0xff) == kCapMsix) {
        dev.config_write(at, (word | kMsixEnable) & ~kMsixMaskAll);
        return {};
      }
      at = (word >> 8) & 0xfc;
    }
  }
  return fail(Errc::kNotSupported, "the device has no MSI-X capability");
}

Result<void> Manager::read_capabilities(PciDevice& dev) {
  auto reg = [&](uint32_t offset) { return dev.read32(0, offset); };
  // `MNIC`, the first letter in the low byte.
  if (const uint32_t magic = reg(spec::kMagicOffset); magic != 0x43494e4d)
    return fail(Errc::kDeviceError, "magic is {:#x}, not `MNIC`", magic);
  if (const uint32_t version = reg(spec::kVersionOffset); version >> 16 != 1)
    return fail(Errc::kNotSupported, "interface version {}.{}, the driver knows 1", version >> 16,
                version & 0xffff);

  attr_.max_qp = attr_.max_srq = reg(spec::kCapNumQpsOffset);
  attr_.max_cq = reg(spec::kCapNumCqsOffset);
  attr_.max_pd = reg(spec::kCapNumPdsOffset);
  attr_.max_mr = attr_.max_mw = reg(spec::kCapNumStagsOffset);
  attr_.max_pages = reg(spec::kCapNumPagesOffset);
  attr_.max_qp_wr = attr_.max_srq_wr = 1u << spec::kMaxLogRing;
  attr_.max_sge = spec::kMaxSge;
  attr_.max_recv_sge = attr_.max_srq_sge = spec::kMaxRecvSge;
  attr_.max_inline_data = spec::kMaxInline;
  attr_.max_cqe = 1u << spec::kMaxLogCq;
  attr_.max_qp_rd_atom = reg(spec::kCapMaxIrdOffset);
  attr_.max_qp_init_rd_atom = reg(spec::kCapMaxOrdOffset);
  attr_.max_msg_size = spec::kMaxMessage;
  attr_.clock_khz = reg(spec::kCapClockKhzOffset);
  const uint32_t num_pbl = reg(spec::kCapNumPblOffset);
  attr_.max_mr_size = uint64_t{num_pbl} << 21;  // all entries, with pages of 2 MiB

  pds = RangePool(attr_.max_pd);
  qps = RangePool(attr_.max_qp);
  cqs = RangePool(attr_.max_cq);
  pages = RangePool(attr_.max_pages);
  pbl = RangePool(num_pbl);
  ird = RangePool(reg(spec::kCapIrdSlotsOffset));
  ord = RangePool(reg(spec::kCapOrdSlotsOffset));
  num_conns_ = reg(spec::kCapNumConnsOffset);
  num_eqs_ = reg(spec::kCapNumEqsOffset);
  num_vectors_ = reg(spec::kCapNumVectorsOffset);
  stag_used_.assign(attr_.max_mr, 0);
  cq_event.assign(attr_.max_cq, 0);
  cq_error.assign(attr_.max_cq, 0);
  qp_event.assign(attr_.max_qp, 0);
  conn_event.assign(num_conns_, 0);
  tracked_.assign(num_conns_, 0);
  return {};
}

Result<void> Manager::start_admin(PciDevice& dev) {
  const uint64_t entries = uint64_t{1} << settings_.log_admin;
  auto commands = dev.alloc(entries * spec::AdminCmd::kBytes, MemoryKind::kContiguous);
  if (!commands) return error_of(commands);
  auto answers = dev.alloc(entries * spec::AdminRsp::kBytes, MemoryKind::kContiguous);
  if (!answers) return error_of(answers);
  commands_ = *commands;
  answers_ = {.memory = *answers, .entry = spec::AdminRsp::kBytes, .log = settings_.log_admin};

  dev.write64(0, spec::kStagKeyOffset, rng_.next());
  dev.write64(0, spec::kAdminCmdBaseOffset, commands_.bus(0));
  dev.write64(0, spec::kAdminRspBaseOffset, answers_.memory.bus(0));
  dev.write32(0, spec::kAdminLogSizeOffset, settings_.log_admin);
  dev.write32(0, spec::kDevCtrlOffset, spec::kDevCtrlEnableMask);
  started_ = true;
  for (const Time deadline = dev.now() + settings_.ready_timeout;;) {
    const uint32_t status = dev.read32(0, spec::kDevStatusOffset);
    if (status == kGone)
      return fail(Errc::kDeviceError, "the device is gone: its registers read all ones");
    if ((status & spec::kDevStatusReadyMask) != 0) return {};
    if (dev.now() >= deadline)
      return fail(Errc::kTimedOut, "dev_status {:#x}: not ready after {} us", status,
                  settings_.ready_timeout / kUs);
    dev.relax();
  }
}

Result<void> Manager::start_events(PciDevice& dev) {
  const unsigned count = std::min({num_eqs_, num_vectors_, settings_.event_queues});
  if (count == 0)
    return fail(Errc::kInvalidArgument, "manager: no event queue ({} in the device)", num_eqs_);
  for (unsigned n = 0; n < count; n++) {
    auto memory =
        dev.alloc(uint64_t{spec::Eqe::kBytes} << settings_.log_eq, MemoryKind::kContiguous);
    if (!memory) return error_of(memory);
    spec::AdminRingArgs args;
    args.base = memory->bus(0);
    args.log_size = static_cast<uint8_t>(settings_.log_eq);
    args.eqn = static_cast<uint8_t>(n);
    args.vector = static_cast<uint8_t>(n);
    dev.write64(0, spec::kMsixAddressOffset + n * spec::kMsixAddressStride, kMsiAddress);
    dev.write32(0, spec::kMsixDataOffset + n * spec::kMsixDataStride, n);
    dev.write32(0, spec::kMsixControlOffset + n * spec::kMsixControlStride, 0);
    eqs_.push_back(
        {.ring = {.memory = *memory, .entry = spec::Eqe::kBytes, .log = settings_.log_eq}});
    if (auto rsp = execute_args(dev, spec::AdminOpcode::kCreateEq, n, args); !rsp)
      return error_of(rsp);
  }
  // Queue 0 has the events of QPs, connections and failed CQs. Completions use the others, if any.
  attr_.num_comp_vectors = count > 1 ? count - 1 : 1;
  return {};
}

void Manager::close(PciDevice& dev) {
  if (!started_) return;
  started_ = false;
  dev.write32(0, spec::kDevCtrlOffset, 0);
  // The answer to this read arrives after the device's last DMA write: then memory may be freed.
  (void)dev.read32(0, spec::kDevStatusOffset);
}

std::string Manager::health(PciDevice& dev) const {
  const uint32_t status = dev.read32(0, spec::kDevStatusOffset);
  if (status == kGone) return "the device is gone";
  if ((status & spec::kDevStatusFatalMask) != 0) return "the device reports a fatal error";
  return "the device is otherwise well";
}

// One thread at a time rings, and `ringing_` stays set until its write has been sent. Otherwise the
// write of a second thread could overtake it, and the older index would then overwrite the newer
// one. A thread that arrives meanwhile leaves the doorbell to the first.
void Manager::ring_admin(PciDevice& dev) {
  if (ringing_) return;
  ringing_ = true;
  uint32_t told = 0;
  do {
    told = producer_;
    dev.before_doorbell();
    dev.write32(0, spec::kAdminDoorbellOffset, told & 0xffff);
    dev.before_shared();
  } while (told != producer_);
  ringing_ = false;
}

void Manager::take_answers(PciDevice& dev) {
  dev.before_shared();
  while (answers_.ready()) {
    const uint32_t at = answers_.consumer;
    dev.after_phase_bit();
    dev.before_shared();
    if (answers_.consumer != at) continue;  // another thread took this entry
    const auto rsp = spec::AdminRsp::unpack(answers_.at(at));
    answers_.consumer++;
    if (auto it = waiting_.find(rsp.cookie); it != waiting_.end()) {
      it->second = {.done = true, .rsp = rsp};
    } else {
      RNIC_LOG_WARN(log, "unexpected admin response: {}", rsp.describe());
    }
  }
}

Result<spec::AdminRsp> Manager::execute(PciDevice& dev, spec::AdminOpcode opcode, uint32_t object,
                                        std::span<const uint8_t> args) {
  const Time deadline = dev.now() + settings_.admin_timeout;
  // All repetitions have one cookie: the device continues the page list of a create_mr only for the
  // same cookie (decision 6).
  const uint16_t cookie = cookie_++;
  // Pause between repetitions, so that they do not hold up commands of other threads. A create_mr
  // is repeated without a pause, because each repetition reads the next part of its page list.
  constexpr Time kFirstPause = 1 * kUs, kLongestPause = 32 * kUs;
  Time pause = 0;
  for (;;) {
    auto rsp = execute_once(dev, opcode, object, args, cookie, deadline);
    if (!rsp || rsp->status != spec::AdminStatus::kInProgress) return rsp;
    if (dev.now() >= deadline)
      return fail(Errc::kTimedOut, "{} {}: still in progress after {} us; {}", to_string(opcode),
                  object, settings_.admin_timeout / kUs, health(dev));
    const Time next = dev.now() + pause;
    do dev.relax();
    while (dev.now() < next);
    if (opcode != spec::AdminOpcode::kCreateMr)
      pause = std::clamp(2 * pause, kFirstPause, kLongestPause);
  }
}

// Executes one command and returns its response, ok or in_progress.
Result<spec::AdminRsp> Manager::execute_once(PciDevice& dev, spec::AdminOpcode opcode,
                                             uint32_t object, std::span<const uint8_t> args,
                                             uint16_t cookie, Time deadline) {
  if (!started_) return fail(Errc::kBadState, "{}: the manager is closed", to_string(opcode));
  dev.before_shared();
  while (producer_ - answers_.consumer >= answers_.size()) {  // every entry is outstanding
    take_answers(dev);
    if (producer_ - answers_.consumer < answers_.size()) break;
    if (dev.now() >= deadline)
      return fail(Errc::kTimedOut, "{} {}: the command ring stays full; {}", to_string(opcode),
                  object, health(dev));
    dev.relax();
  }
  // No call up to ring_admin() may switch threads: another thread would take the same ring entry.
  spec::AdminCmd cmd;
  cmd.opcode = static_cast<uint8_t>(opcode);
  cmd.cookie = cookie;
  cmd.object = object;
  std::copy(args.begin(), args.end(), cmd.args.begin());
  waiting_[cmd.cookie] = {};
  cmd.pack(commands_.bytes().subspan(size_t{producer_ & (answers_.size() - 1)} *
                                     spec::AdminCmd::kBytes));
  producer_++;
  ring_admin(dev);

  for (;;) {
    take_answers(dev);
    auto it = waiting_.find(cmd.cookie);
    if (it->second.done) {
      const auto rsp = it->second.rsp;
      waiting_.erase(it);
      if (rsp.status != spec::AdminStatus::kOk && rsp.status != spec::AdminStatus::kInProgress)
        return fail(to_errc(rsp.status), "{} {}: {}", to_string(opcode), object,
                    to_string(rsp.status));
      return rsp;
    }
    if (dev.now() >= deadline) {
      waiting_.erase(it);
      return fail(Errc::kTimedOut, "{} {}: no answer in {} us; {}", to_string(opcode), object,
                  settings_.admin_timeout / kUs, health(dev));
    }
    dev.relax();
  }
}

Result<uint32_t> Manager::take_stag_slot() {
  const auto count = static_cast<uint32_t>(stag_used_.size());
  const auto start = static_cast<uint32_t>(rng_.below(count));
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t slot = (start + i) % count;
    if (stag_used_[slot] != 0) continue;
    stag_used_[slot] = 1;
    return slot;
  }
  return fail(Errc::kNoMemory, "all {} STag slots are used", count);
}

void Manager::give_stag_slot(uint32_t slot) { stag_used_[slot] = 0; }

}  // namespace rnic::verbs
