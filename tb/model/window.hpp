// Regions and memory windows of side b, and accesses of its peer, side a. `b` is the bench of two
// devices: b.a and b.b are its sides. `p` is the present pair of connected QPs: p.a on side a, p.b
// on side b.
//
//   const Region r = region(4);                       // 4 pages, in descending bus addresses
//   const uint32_t kept = window(1), stag = kept ^ 0x33;
//   good(bind(stag, part(r, 100, 200, spec::kAccessRemoteWrite)));
//   EXPECT_EQ(write(stag, kTo, 200), Cause::kNone);   // a failed access leaves new QPs in `p`
#pragma once

#include "bench.hpp"

namespace rnic::tb {

class WindowTest : public testing::Test {
 protected:
  using AdminOpcode = spec::AdminOpcode;
  using AdminStatus = spec::AdminStatus;
  using Cause = spec::Cause;
  using WcOpcode = spec::WcOpcode;
  using WcStatus = spec::WcStatus;
  using WrOpcode = spec::WrOpcode;

  // Tests write rights as numbers: 0x1 local write, 0x2 remote write, 0x4 remote read, 0x8 remote
  // atomic, 0x10 bind, 0x100 and 0x200 flush (visible, persistent), 0x400 remote invalidate.
  // kAll: all rights but remote invalidate, which a region with windows cannot have.
  static constexpr uint64_t kTo = 0x7000'0000;  // of a window's first byte
  static constexpr uint16_t kAll = 7 | spec::kAccessRemoteAtomic | spec::kAccessMwBind |
                                   spec::kAccessFlushGlobal | spec::kAccessFlushPersistent;
  static constexpr uint16_t kRw = spec::kAccessRemoteWrite | spec::kAccessRemoteRead;

  struct Region {
    uint32_t stag = 0;
    uint64_t to = 0, length = 0;
    std::vector<uint64_t> pages;
    uint32_t first_offset = 0;
    /// The bus address of byte `offset` of the region.
    uint64_t bus(uint64_t offset) const {
      const uint64_t at = first_offset + offset;
      return pages[at / 4096] + at % 4096;
    }
  };

  explicit WindowTest(const Options& o = {}) : b(o), p(b.connect(setup())), am(b.a.reg(1 << 16)) {}

  static QpSetup setup(uint16_t pd = 0) {
    QpSetup s;
    s.pd = pd;
    s.persist = s.privileged = true;
    return s;
  }

  /// Connects another pair of QPs, on side b in this PD.
  void connect_in_pd(uint16_t pd) {
    p = {.a = b.a.create_qp(setup()), .b = b.b.create_qp(setup(pd))};
    std::tie(p.conn_a, p.conn_b) = b.open();
    EXPECT_EQ(b.b.rts(p.b.qpn, p.conn_b, setup(pd)), AdminStatus::kOk);
    EXPECT_EQ(b.a.rts(p.a.qpn, p.conn_a, setup()), AdminStatus::kOk);
  }

  /// A region of these pages, without the bytes before first_offset. Byte 0 has TO a.base_to.
  Region region(uint32_t pages, uint16_t rights = kAll,
                spec::AdminMrArgs a = {.base_to = 0x5000'0010}) {
    Region r;
    r.to = a.base_to;
    r.length = 4096ULL * pages - a.first_offset;
    r.first_offset = a.first_offset;
    const uint64_t buffer = b.b.alloc(4096ULL * pages), list = b.b.alloc(8ULL * pages);
    for (uint32_t i = 0; i < pages; ++i) {
      r.pages.push_back(buffer + 4096ULL * (pages - 1 - i));
      base::store_le<uint64_t>(&b.b.memory[list + 8ULL * i], r.pages[i]);
    }
    a.log_page = 12;
    a.rights = rights;
    a.length = r.length;
    a.pbl_base = next_pbl_;
    a.page_list = list;
    a.pages = pages;
    next_pbl_ += pages;
    r.stag = create(a);
    return r;
  }
  /// An unbound window. Type 1: any QP of the PD may use it. Type 2: only the QP that bound it.
  uint32_t window(uint8_t type, uint16_t pd = 0) {
    return create({.pd = pd, .key = 0x5a, .window = type});
  }
  uint32_t create(const spec::AdminMrArgs& a) {
    const auto rsp = b.b.command(AdminOpcode::kCreateMr, next_slot_++, a);
    EXPECT_EQ(rsp.status, AdminStatus::kOk);
    return spec::AdminMrResult::unpack(rsp.result).stag;
  }
  AdminStatus destroy(uint32_t stag) { return b.b.command(AdminOpcode::kDestroyMr, stag).status; }
  AdminStatus query(uint32_t stag) { return b.b.command(AdminOpcode::kQueryMr, stag).status; }

  /// The operands of a bind to `length` bytes of a region, from byte `offset` on.
  static spec::BindOperands part(const Region& r, uint64_t offset, uint64_t length,
                                 uint16_t rights) {
    return {.address = r.to + offset, .length = length, .lkey = r.stag, .rights = rights};
  }
  void put_bind(uint16_t qpn, uint32_t stag, const spec::BindOperands& o,
                uint8_t flags = kSignaled) {
    Bytes data(spec::BindOperands::kBytes);
    o.pack(data);
    b.b.put_send(qpn, wr(WrOpcode::kBindMw, static_cast<uint8_t>(flags | kInline), kTo, stag), {},
                 data);
  }
  spec::Cqe bind(uint32_t stag, const spec::BindOperands& o) {
    put_bind(p.b.qpn, stag, o);
    b.b.ring_sq(p.b.qpn);
    return b.b.wait(p.b.cqn);
  }
  /// Expects the completion of a good bind; 32 is the length of its operands.
  static void good(const spec::Cqe& e) {
    EXPECT_EQ(e.status, WcStatus::kSuccess) << to_string(e.status);
    EXPECT_EQ(e.opcode, WcOpcode::kBindMw);
    EXPECT_EQ(e.byte_len, 32U);
  }
  spec::Cqe local_inv(uint32_t stag) {
    b.b.post_send(p.b.qpn, wr(WrOpcode::kLocalInv, kSignaled, 0, stag), {});
    return b.b.wait(p.b.cqn);
  }
  /// Side b invalidates the STag, which must succeed.
  void closed_by_us(uint32_t stag) {
    const auto e = local_inv(stag);
    EXPECT_EQ(e.status, WcStatus::kSuccess);
    EXPECT_EQ(e.opcode, WcOpcode::kLocalInv);
  }

  /// Returns the cause for which side b refused the requests of side a, or kNone. A Send after the
  /// requests shows that they are done.
  Cause done() {
    const Mr rm = b.b.reg(64);
    b.b.post_recv(p.b.qpn, {sge(rm, 0, 64)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kSend, kSignaled | kFence), {});
    if (b.b.wait(p.b.cqn).status == WcStatus::kSuccess) {
      while (true) {
        const auto e = b.a.wait(p.a.cqn);
        EXPECT_EQ(e.status, WcStatus::kSuccess);
        if (e.status != WcStatus::kSuccess || e.opcode == WcOpcode::kSend) return Cause::kNone;
      }
    }
    const Cause cause = b.b.query(p.b.qpn).cause;
    p = b.connect(setup());
    return cause;
  }
  // Operations of side a on `stag` at TO `to`. Each returns done().
  Cause write(uint32_t stag, uint64_t to, uint32_t n) {
    b.a.fill(bus(am), n, to + n);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to, stag), {sge(am, 0, n)});
    return done();
  }
  Cause read(uint32_t stag, uint64_t to, uint32_t n) {
    b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaRead, kSignaled, to, stag), {sge(am, 32768, n)});
    return done();
  }
  Cause flush(uint32_t stag, uint64_t to, uint32_t n, uint8_t disposition) {
    auto w = wr(WrOpcode::kFlush, kSignaled, to, stag);
    w.length = n;
    w.disposition = disposition;
    b.a.post_send(p.a.qpn, w, {});
    return done();
  }
  Cause add(uint32_t stag, uint64_t to, uint64_t value) {
    Bytes raw(spec::AtomicOperands::kBytes);
    spec::AtomicOperands{.sink = sge(am, 40000, 8), .data = value}.pack(raw);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicFetchAndAdd, kSignaled | kInline, to, stag), {},
                  raw);
    return done();
  }
  Cause store(uint32_t stag, uint64_t to, uint64_t value) {
    Bytes raw(8);
    base::store_le<uint64_t>(raw.data(), value);
    b.a.post_send(p.a.qpn, wr(WrOpcode::kAtomicWrite, kSignaled | kInline, to, stag), {}, raw);
    return done();
  }
  /// The peer sends a Send with Invalidate.
  Cause invalidate(uint32_t stag) {
    const Mr rm = b.b.reg(64);
    b.b.post_recv(p.b.qpn, {sge(rm, 0, 64)});
    b.a.post_send(p.a.qpn, wr(WrOpcode::kSendWithInv, kSignaled, 0, stag), {});
    const auto e = b.b.wait(p.b.cqn);
    if (e.status == WcStatus::kSuccess) {
      EXPECT_EQ(e.with_inv, 1);
      EXPECT_EQ(e.immediate, stag);
      EXPECT_EQ(b.a.wait(p.a.cqn).status, WcStatus::kSuccess);
      return Cause::kNone;
    }
    const Cause cause = b.b.query(p.b.qpn).cause;
    p = b.connect(setup());
    return cause;
  }

  // Byte 0 of a side's memory has TO 0x10000000 (Side::reg).
  static uint64_t bus(const Mr& m) { return m.address - 0x10000000; }
  /// Checks that the last Write of n bytes is placed from byte `offset` of the region on.
  void expect_placed(const Region& r, uint64_t offset, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(b.b.memory[r.bus(offset + i)], b.a.memory[bus(am) + i]) << i;
  }

  Bench b;
  Bench::Pair p;
  Mr am;

 private:
  uint32_t next_slot_ = 8000, next_pbl_ = 100000;  // Side counts its own from 0
};

}  // namespace rnic::tb
