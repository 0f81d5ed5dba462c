// A PciDevice on plain memory. It records every call and lets a test play the device. It checks the
// driver's barriers:
//   before_doorbell()  before each push and each doorbell of an SQ, an RQ or the admin ring
//   after_phase_bit()  before the driver first reports entries of a CQ or EQ as consumed
//   before_shared()    (or relax(), wait()) before the driver reads an index that threads share, of
//                      an EQ or of the admin ring. No call may let time pass between this and the
//                      write of an EQ's index, or the before_doorbell() of the admin ring: another
//                      thread could change the index meanwhile.
//
//   tb::PciDeviceFake dev;
//   auto manager = verbs::Manager::open(dev, {}).value();
//   dev.cqe(cqn, {.qpn = 0, .index = 4});                     a completion
//   dev.eqe(0, spec::EqeType::kQp, 0);                        an event
//   EXPECT_EQ(dev.doorbells(), ...);
//   EXPECT_THAT(dev.violations, IsEmpty());
//
// At the admin doorbell answer() computes the responses; it keeps simple tables. For another device
// behaviour, override it, or set `refuse` or `hold`.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "gen/regs.hpp"
#include "gen/sizes.hpp"
#include "rnic/verbs_types.hpp"

namespace rnic::tb {

struct Call {
  enum Kind {
    kConfigWrite,
    kReset,
    kWrite,
    kCombined,
    kBeforeDoorbell,
    kAfterPhaseBit,
    kBeforeShared,
    kRelax,
    kWait,
    kPersist
  } kind;
  unsigned bar = 0;
  uint32_t offset = 0;
  uint64_t value = 0;
  std::vector<uint8_t> bytes{};
};

class PciDeviceFake : public PciDevice {
 public:
  /// A CQ, an EQ or the ring of admin responses. log: log2 of the number of entries. producer: the
  /// number of entries written so far. armed_solicited: if the CQ is armed, whether only for a
  /// solicited completion.
  struct Ring {
    uint64_t base = 0;
    unsigned log = 0, eqn = 0, vector = 0;
    uint32_t producer = 0;
    std::optional<bool> armed_solicited{};
  };
  struct FakeQp {
    spec::AdminQpArgs args{};
    spec::AdminModifyArgs modify{};
    spec::AdminQpResult status{};
    uint16_t sq_consumer = 0, rq_consumer = 0, sq_producer = 0, rq_producer = 0;
  };
  struct FakeMr {
    spec::AdminMrArgs args{};
    std::vector<uint64_t> pages{};
    bool is_open = true;  // false: an STag of `fast` not yet registered, or a window not yet bound
    unsigned log_page = 0;
    uint32_t region = 0;  // of a window that is bound: the region's STag
  };
  /// Do two STags name one region or window? Its upper 24 bits name it; its key, the low 8, may
  /// change.
  static bool is_same(uint32_t stag, uint32_t other) { return (stag ^ other) >> 8 == 0; }
  /// The number of windows that are bound to this region.
  size_t windows_of(uint32_t region) const {
    return static_cast<size_t>(std::ranges::count_if(mrs, [&](const auto& mr) {
      return mr.second.args.window != 0 && mr.second.is_open && is_same(mr.second.region, region);
    }));
  }
  struct Conn {
    spec::AdminConnResult info{};
    std::deque<uint8_t> in{};    // streaming bytes not yet given
    size_t told_twice = 0;       // conn_query reports so many bytes beyond `in`, until a conn_give
    std::vector<uint8_t> out{};  // streaming bytes sent
  };

  explicit PciDeviceFake(const spec::Sizes& sizes = {}) : sizes_(sizes) { power_on(); }

  // --- records ---
  std::vector<Call> calls;
  std::vector<std::string> violations;
  std::vector<spec::AdminCmd> commands;
  /// Writes to BAR 2: offset and value; a push has the value 0.
  std::vector<Call> doorbells() const {
    std::vector<Call> out;
    for (const Call& c : calls)
      if ((c.kind == Call::kWrite || c.kind == Call::kCombined) && c.bar == 2) out.push_back(c);
    return out;
  }
  size_t count(Call::Kind kind) const {
    size_t n = 0;
    for (const Call& c : calls) n += c.kind == kind ? 1 : 0;
    return n;
  }
  bool recording = true;  // keep each call in `calls`
  struct Mapped {
    std::span<uint8_t> memory{};
    DmaAccess access{};
  };
  std::shared_ptr<std::vector<Mapped>> mapped =  // memory of the caller, while mapped
      std::make_shared<std::vector<Mapped>>();

  PersistenceDomain domain = PersistenceDomain::kAdr;
  std::shared_ptr<std::map<std::string, std::vector<uint8_t>>> pmem =
      std::make_shared<std::map<std::string, std::vector<uint8_t>>>();

  // --- playing the device ---
  std::map<uint32_t, Ring> cqs, eqs;
  std::map<uint32_t, FakeQp> qps;
  std::map<uint32_t, FakeMr> mrs;
  std::map<uint16_t, Conn> conns;
  std::vector<uint16_t> listening;
  std::map<spec::AdminOpcode, spec::AdminStatus> refuse;  // statuses to return without acting
  bool hold = false;                                      // withhold responses until release()
  bool ready = true, gone = false;  // DEV_STATUS is ready; the device is removed: all ones
  std::function<void()> on_relax, on_wait;

  void cqe(uint32_t cqn, spec::Cqe c) { put(cqs.at(cqn), c); }
  void eqe(unsigned eqn, spec::EqeType kind, uint32_t object) {
    Ring& r = eqs.at(eqn);
    spec::Eqe e;
    e.kind = kind;
    e.object = object;
    put(r, e);
    const bool masked =
        (regs_[spec::kMsixControlOffset + r.vector * spec::kMsixControlStride] & 1) != 0;
    // Bit 31 of the MSI-X capability: MSI-X enable.
    if (!masked && (config_[0x40] & 0x80000000) != 0) pending_ |= uint64_t{1} << r.vector;
  }
  /// Writes this many of the withheld responses, the oldest first.
  void release(size_t answers = SIZE_MAX) {
    for (; !held_.empty() && answers != 0; answers--) {
      write_answer(held_.front());
      held_.pop_front();
    }
  }
  /// A peer connects: an incoming connection with streaming bytes.
  uint16_t incoming(uint16_t port, std::span<const uint8_t> bytes) {
    const uint16_t n = next_conn();
    conns[n].info = {.connection = n,
                     .state = spec::ConnState::kEstablished,
                     .passive = 1,
                     .mss = 1460,
                     .peer_address = 0x0a000001,
                     .peer_port = 40000,
                     .local_port = port};
    stream(n, bytes);
    return n;
  }
  /// More streaming bytes from the peer, with their event.
  void stream(uint16_t n, std::span<const uint8_t> bytes) {
    Conn& c = conns.at(n);
    c.in.insert(c.in.end(), bytes.begin(), bytes.end());
    eqe(0, spec::EqeType::kConnection, n);
  }
  void set_state(uint16_t n, spec::ConnState state) {
    conns.at(n).info.state = state;
    eqe(0, spec::EqeType::kConnection, n);
  }
  /// Host memory at a bus address of the device.
  uint8_t* at(uint64_t bus, size_t bytes = 1) const {
    auto it = memory_->upper_bound(bus);
    RNIC_CHECK(it != memory_->begin(), "no memory at bus address {:#x}", bus);
    --it;
    const uint64_t off = bus - it->first;
    RNIC_CHECK(off + bytes <= it->second.size(),
               "{} bytes at bus address {:#x}: freed, or never there", bytes, bus);
    return it->second.data() + off;
  }
  uint64_t reg(uint32_t offset) const {
    const auto it = regs_.find(offset);
    return it == regs_.end() ? 0 : it->second;
  }

  // --- PciDevice ---
  uint32_t config_read(uint32_t offset) override { return gone ? 0xffffffff : config_[offset]; }
  void config_write(uint32_t offset, uint32_t value) override {
    note({.kind = Call::kConfigWrite, .offset = offset, .value = value});
    // Register 4: the command in the low half; a write does not change the status in the upper one.
    config_[offset] = offset == 0x04 ? (config_[offset] & 0xffff0000) | (value & 0xffff) : value;
  }
  void reset() override {
    note({.kind = Call::kReset});
    power_on();
  }
  uint32_t read32(unsigned bar, uint32_t offset) override {
    return static_cast<uint32_t>(read64(bar, offset));
  }
  uint64_t read64(unsigned, uint32_t offset) override {
    now_ += kUs;
    if (gone) return UINT64_MAX;
    if (offset == spec::kDevStatusOffset) return ready ? spec::kDevStatusReadyMask : 0;
    return reg(offset);
  }
  void write32(unsigned bar, uint32_t offset, uint32_t value) override {
    write64(bar, offset, value);
  }
  void write64(unsigned bar, uint32_t offset, uint64_t value) override {
    const bool in_order = in_order_;
    note({.kind = Call::kWrite, .bar = bar, .offset = offset, .value = value});
    if (bar == 0 && offset >= spec::kEqConsumerOffset &&
        offset < spec::kEqConsumerOffset + 4 * spec::kEqConsumerCount)
      need_order(in_order, "eq consumer");
    if (bar == 0) return bar0(offset, value);
    // A doorbell page has 4096 bytes. Its doorbells have 8 bytes each, in the order of the enum.
    const auto kind = static_cast<spec::DoorbellKind>((offset & 0xfff) / 8);
    std::array<uint8_t, 8> bytes{};
    base::store_le(bytes.data(), value);
    const auto d = spec::Doorbell::unpack(bytes);
    if (kind == spec::DoorbellKind::kSq || kind == spec::DoorbellKind::kRq) need_before("doorbell");
    if (kind == spec::DoorbellKind::kCq || kind == spec::DoorbellKind::kCqArm) {
      consumed("cq", consumer_[d.object], static_cast<uint16_t>(d.index));
    }
    doorbell(kind, offset / 4096, d);
  }
  void write_combined(unsigned bar, uint32_t offset, std::span<const uint8_t> bytes) override {
    note({.kind = Call::kCombined,
          .bar = bar,
          .offset = offset,
          .bytes = {bytes.begin(), bytes.end()}});
    // A push: a write of 64 bytes for each unit of the WQE. It rings when all units have come.
    RNIC_CHECK(bytes.size() == 64, "write_combined of {} bytes", bytes.size());
    std::vector<uint8_t>& pushed = pushed_[offset / 4096];  // threads push through separate pages
    if ((offset & 0xfff) == spec::kPushOffset) {
      need_before("push");
      pushed.clear();
    }
    pushed.insert(pushed.end(), bytes.begin(), bytes.end());
    const auto wqe = spec::SqWqe::unpack(pushed);
    if (pushed.size() == size_t{wqe.units} * 64)
      doorbell(spec::DoorbellKind::kSq, offset / 4096, wqe.ring);
  }
  Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind) override {
    const uint64_t bytes = (size + 4095) / 4096 * 4096;  // whole pages; contiguous: at most 2 MiB
    if (size == 0 || (kind == MemoryKind::kContiguous && bytes > (2u << 20)))
      return fail(Errc::kInvalidArgument, "alloc of {} bytes", size);
    auto* store = new uint8_t[bytes]();
    std::vector<uint64_t> pages(bytes / 4096);
    for (size_t i = 0; i < pages.size();
         i++)  // scattered: reversed, so that no page follows its neighbour
      pages[i] = next_bus_ + 4096 * (kind == MemoryKind::kScattered ? pages.size() - 1 - i : i);
    next_bus_ += bytes + 4096;  // an unused page: at() finds an access beyond the buffer
    if (kind == MemoryKind::kContiguous) {
      (*memory_)[pages[0]] = {store, bytes};
    } else {
      for (size_t i = 0; i < pages.size(); i++) (*memory_)[pages[i]] = {store + 4096 * i, 4096};
    }
    std::shared_ptr<void> owner(store, [memory = memory_, pages](void* p) {
      for (const uint64_t bus : pages) memory->erase(bus);
      delete[] static_cast<uint8_t*>(p);
    });
    return DmaBuffer({store, size}, 4096, std::move(pages), std::move(owner));
  }
  /// Gives the memory scattered pages, as alloc does, but begins at an offset in the first page.
  Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access) override {
    if (memory.data() == nullptr || memory.empty())
      return fail(Errc::kInvalidArgument, "map of {} bytes", memory.size());
    // 0xf30 is 208 bytes before the page's end, so that a longer buffer has two pages. The low 4
    // bits are those of the memory's address: its alignment up to 16 bytes is kept.
    const auto first = static_cast<uint32_t>(0xf30 | (base::address_of(memory.data()) & 15));
    std::vector<uint64_t> pages((first + memory.size() + 4095) / 4096);
    for (size_t i = 0; i < pages.size(); i++) pages[i] = next_bus_ + 4096 * (pages.size() - 1 - i);
    next_bus_ += 4096 * (pages.size() + 1);
    std::vector<uint64_t> pieces;
    for (size_t i = 0, done = 0; i < pages.size(); i++) {
      const uint32_t from = i == 0 ? first : 0;
      const size_t bytes = std::min<size_t>(4096 - from, memory.size() - done);
      (*memory_)[pages[i] + from] = memory.subspan(done, bytes);
      pieces.push_back(pages[i] + from);
      done += bytes;
    }
    mapped->push_back({memory, access});
    std::shared_ptr<void> owner(memory.data(), [all = memory_, pieces, mapped = mapped](void* p) {
      for (const uint64_t bus : pieces) all->erase(bus);
      mapped->erase(
          std::ranges::find(*mapped, p, [](const Mapped& m) -> void* { return m.memory.data(); }));
    });
    return DmaBuffer(memory, 4096, std::move(pages), std::move(owner), first);
  }
  PersistenceDomain persistence_domain() const override { return domain; }
  /// The bytes persist after the last handle is destroyed. `pmem` outlives the device: a test
  /// assigns it to the next one.
  Result<DmaBuffer> persistent(std::string_view name, uint64_t size) override {
    auto& store = (*pmem)[std::string(name)];
    if (size == 0 || (!store.empty() && store.size() != size))
      return fail(Errc::kInvalidArgument, "persistent memory of {} bytes", size);
    store.resize(size);
    const uint64_t bus = next_bus_;
    next_bus_ += (size + 4095) / 4096 * 4096 + 4096;
    (*memory_)[bus] = store;
    std::vector<uint64_t> pages((size + 4095) / 4096);
    for (size_t i = 0; i < pages.size(); i++) pages[i] = bus + 4096 * i;
    std::shared_ptr<void> owner(store.data(),
                                [memory = memory_, bus](void*) { memory->erase(bus); });
    return DmaBuffer(store, 4096, std::move(pages), std::move(owner), 0, true);
  }
  void pmem_persist(std::span<const uint8_t> bytes) override {
    note({.kind = Call::kPersist,
          .value = base::address_of(bytes.data()),
          .bytes = {bytes.begin(), bytes.end()}});
  }
  void before_doorbell() override {
    rung_in_order_ = in_order_;
    note({.kind = Call::kBeforeDoorbell});
    before_ = true;
  }
  void after_phase_bit() override {
    note({.kind = Call::kAfterPhaseBit});
    after_ = true;
  }
  void before_shared() override {
    if (recording) calls.push_back({.kind = Call::kBeforeShared});
    in_order_ = true;
  }
  Time now() const override { return now_; }
  void relax() override {
    note({.kind = Call::kRelax});
    now_ += 20 * kNs;
    if (on_relax) on_relax();
    in_order_ = true;
  }
  uint64_t wait(uint64_t vectors, Time deadline) override {
    note({.kind = Call::kWait, .value = vectors});
    if ((pending_ & vectors) == 0 && on_wait) on_wait();
    if ((pending_ & vectors) == 0 && deadline > now_) now_ = deadline;
    RNIC_CHECK(now_ != kForever, "waits forever for vectors {:#x}", vectors);
    in_order_ = true;
    return take_vectors(vectors);
  }
  /// Returns which of these interrupt vectors are pending, and clears them.
  uint64_t take_vectors(uint64_t vectors) {
    return std::exchange(pending_, pending_ & ~vectors) & vectors;
  }
  void advance(Time t) { now_ += t; }

 protected:
  /// A BAR 2 doorbell; a push is reported as kSq.
  virtual void doorbell(spec::DoorbellKind kind, uint32_t page, const spec::Doorbell& d) {
    (void)page;
    if (kind == spec::DoorbellKind::kSq) qps[d.object].sq_producer = static_cast<uint16_t>(d.index);
    if (kind == spec::DoorbellKind::kRq) qps[d.object].rq_producer = static_cast<uint16_t>(d.index);
    if (kind == spec::DoorbellKind::kCqArm) cqs[d.object].armed_solicited = d.flags != 0;
  }
  virtual spec::AdminRsp answer(const spec::AdminCmd& cmd);
  /// The arguments of a command.
  template <class Args>
  static Args args_of(const spec::AdminCmd& cmd) {
    return Args::unpack(cmd.args);
  }
  /// Writes an entry to the ring, with the phase bit of this pass: 1 on the first.
  template <class Entry>
  void put(Ring& r, Entry e) {
    e.phase = (r.producer >> r.log & 1) == 0;
    std::array<uint8_t, Entry::kBytes> bytes{};
    e.pack(bytes);
    const uint64_t slot = r.producer & ((1u << r.log) - 1);
    std::memcpy(at(r.base + slot * Entry::kBytes, Entry::kBytes), bytes.data(), Entry::kBytes);
    r.producer++;
  }
  uint16_t next_conn() {
    uint16_t n = 0;
    while (conns.contains(n)) n++;
    return n;
  }
  Time now_ = 0;

  std::map<uint32_t, uint16_t> consumer_;  // per CQ, the last value written

 private:
  // Every call takes time. So an index that a thread read before the call may be out of date.
  void note(Call c) {
    now_ += 10 * kNs;
    in_order_ = false;
    if (recording) calls.push_back(std::move(c));
  }
  // A violation if no before_doorbell() was called since the last doorbell.
  void need_before(const char* what) {
    if (!std::exchange(before_, false))
      violations.push_back(fmt::format("{} without before_doorbell", what));
  }
  // A violation unless the shared index was read in simulated order.
  void need_order(bool in_order, const char* what) {
    if (!in_order)
      violations.push_back(fmt::format("{}: its index was read without before_shared", what));
  }
  // The driver reports the consumer index `now`: a violation if after_phase_bit() was never called.
  void consumed(const char* what, uint16_t& old, uint16_t now) {
    if (old != now && !after_)
      violations.push_back(fmt::format("{}: entries taken without after_phase_bit", what));
    old = now;
  }
  void power_on();
  void bar0(uint32_t offset, uint64_t value);
  void write_answer(spec::AdminRsp rsp) {
    Ring r{.base = reg(spec::kAdminRspBaseOffset),
           .log = static_cast<unsigned>(reg(spec::kAdminLogSizeOffset)),
           .producer = answered_};
    put(r, rsp);
    answered_++;
  }

  spec::Sizes sizes_;
  std::map<uint32_t, uint32_t> config_;
  std::map<uint32_t, uint64_t> regs_;
  std::shared_ptr<std::map<uint64_t, std::span<uint8_t>>> memory_ =
      std::make_shared<std::map<uint64_t, std::span<uint8_t>>>();
  uint64_t next_bus_ = 0x10000000, pending_ = 0;
  uint32_t fetched_ = 0, answered_ = 0;  // admin commands read, responses written
  std::deque<spec::AdminRsp> held_;
  std::map<uint32_t, uint16_t> eq_consumer_;
  std::map<uint32_t, std::vector<uint8_t>> pushed_;  // by page
  // before_doorbell() was called and no doorbell since; after_phase_bit() was called, ever.
  bool before_ = false, after_ = false;
  bool in_order_ = false;       // since before_shared(), relax() or wait(), until the next note()
  bool rung_in_order_ = false;  // in_order_ at before_doorbell()
};

}  // namespace rnic::tb

#include "support/pci_device_fake_admin.hpp"
