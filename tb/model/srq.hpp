// QPs of side b that take their receives from one SRQ, and their peers on side a.
//
//   post(9);   send(p[0], 0, 100);   expect(p[0], 9, WcStatus::kSuccess, 100);
#pragma once

#include "bench.hpp"
#include "wire.hpp"

namespace rnic::tb {

class SrqTest : public testing::Test {
 protected:
  using AdminOpcode = spec::AdminOpcode;
  using AdminStatus = spec::AdminStatus;
  using Cause = spec::Cause;
  using QpState = spec::QpState;
  using WcStatus = spec::WcStatus;
  using WrOpcode = spec::WrOpcode;

  static constexpr uint32_t kBuffer = 4096;

  explicit SrqTest(const Options& o = {}, uint32_t pairs = 3, uint8_t log = 6)
      : b(o),
        own(b.connect()),
        srq(b.b.create_srq(0, log)),
        am(b.a.reg(1 << 16)),
        bm(b.b.reg(64 * kBuffer)) {
    for (uint32_t i = 0; i < pairs; ++i) p.push_back(connect());
  }
  Bench::Pair connect() {
    Bench::Pair pair;
    QpSetup s;
    pair.a = b.a.create_qp(s);
    s.srq = srq;
    pair.b = b.b.create_qp(s);
    std::tie(pair.conn_a, pair.conn_b) = b.open();
    EXPECT_EQ(b.b.rts(pair.b.qpn, pair.conn_b, s), AdminStatus::kOk);
    EXPECT_EQ(b.a.rts(pair.a.qpn, pair.conn_a, s), AdminStatus::kOk);
    (void)events();
    return pair;
  }
  /// Posts a receive WQE to the SRQ. The buffer of tag t: kBuffer bytes of bm from t * kBuffer on.
  void post(uint16_t tag, uint32_t length = kBuffer) {
    b.b.post_recv(srq, {sge(bm, uint64_t{tag} * kBuffer, length)}, tag);
  }
  // Byte 0 of a side's memory has TO 0x10000000 (Side::reg).
  Bytes buffer(uint16_t tag, uint32_t n) {
    return b.b.bytes(bm.address - 0x10000000 + uint64_t{tag} * kBuffer, n);
  }
  Bytes source(uint32_t at, uint32_t n) { return b.a.bytes(am.address - 0x10000000 + at, n); }
  /// Side a sends n bytes of `am`, from byte `at` on.
  void send(const Bench::Pair& q, uint32_t at, uint32_t n) {
    b.a.post_send(q.a.qpn, wr(WrOpcode::kSend, 0), {sge(am, at, n)});
  }
  /// Waits for a receive completion on side b's QP of q, with this tag, status and length.
  void expect(const Bench::Pair& q, uint16_t tag, WcStatus status, uint32_t n = 0) {
    const auto e = b.b.wait(q.b.cqn);
    EXPECT_EQ(e.qpn, q.b.qpn);
    EXPECT_EQ(e.status, status) << to_string(e.status);
    EXPECT_EQ(e.index, tag);
    EXPECT_EQ(e.is_recv, 1);
    EXPECT_EQ(e.byte_len, n);
  }
  /// Takes all events of side b; returns the numbers of the QPs and SRQs that they name.
  std::vector<uint32_t> events() {
    std::vector<uint32_t> all;
    while (const auto e = b.b.poll_event()) {
      if (e->kind == spec::EqeType::kQp) all.push_back(e->object);
    }
    return all;
  }
  AdminStatus to_error(const Bench::Pair& q) {
    return b.b
        .command(AdminOpcode::kModifyQp, q.b.qpn,
                 spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(QpState::kError)})
        .status;
  }
  /// Sets the limit of the SRQ.
  AdminStatus arm(uint16_t limit) {
    return b.b.command(AdminOpcode::kModifySrq, srq, spec::AdminLimitArgs{.limit = limit}).status;
  }
  /// Delivers an FPDU as if side a had sent it.
  void inject(const Bench::Pair& q, const Bytes& ulpdu) { b.b.inject(q.conn_b, fpdu(ulpdu)); }

  Bench b;
  Bench::Pair own;  // its QP on side b takes from a receive queue of its own, not from the SRQ
  uint16_t srq;
  Mr am, bm;
  std::vector<Bench::Pair> p;
};

}  // namespace rnic::tb
