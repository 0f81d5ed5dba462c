// Shared receive queues in qp, without other units: a fixture with the receive rings in host
// memory.
//
//   create_srq();   create_qp(kA, kSrq);   post(kSrq, 41);
//   expect_ok(take(kA), 41);               // fetches as often as needed
//   request();   answer(status);           // or step by step
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "qp/qp.hpp"

namespace rnic::tb {

class SrqQpTest : public testing::Test, protected model::Qp::Out, private model::Translation {
 protected:
  using Qp = model::Qp;
  using AdminOpcode = spec::AdminOpcode;
  using AdminStatus = spec::AdminStatus;
  using DoorbellKind = spec::DoorbellKind;
  using QpState = spec::QpState;
  using RqTake = spec::RqTake;
  using WcStatus = spec::WcStatus;

  static constexpr uint16_t kSrq = 7, kA = 2, kB = 3, kOwn = 4;
  static constexpr uint64_t kRing = 1 << 22;  // bytes between the rings of two numbers

  explicit SrqQpTest(const spec::Sizes& s = {}) : sizes(s), qp(s, *this, *this) {}

  template <class A>
  AdminStatus command(AdminOpcode op, uint16_t object, const A& args) {
    spec::QpCmd cmd{.opcode = op, .object = object, .args = {}};
    args.pack(cmd.args);
    return command(cmd);
  }
  AdminStatus command(AdminOpcode op, uint16_t object) {
    return command({.opcode = op, .object = object, .args = {}});
  }
  AdminStatus command(const spec::QpCmd& cmd) {
    rsps.clear();
    qp.command(cmd);
    settle();
    EXPECT_EQ(rsps.size(), 1U);
    return rsps.empty() ? AdminStatus::kDmaError : rsps[0].status;
  }
  static uint64_t base(uint16_t n) { return kRing * (n + 1); }
  AdminStatus create_srq(uint16_t n = kSrq, uint8_t log = 6, uint16_t page = 0) {
    rings[n] = {.log = log, .at = {}};
    return command(AdminOpcode::kCreateSrq, n,
                   spec::AdminSrqArgs{.page = page, .base = base(n), .log_size = log});
  }
  AdminStatus create_qp(uint16_t n, std::optional<uint16_t> srq, uint16_t cqn = 20) {
    rings[n] = {.log = 6, .at = {}};
    return command(AdminOpcode::kCreateQp, n,
                   spec::AdminQpArgs{.send_cq = cqn,
                                     .recv_cq = cqn,
                                     .sq_base = base(n) + kRing / 2,
                                     .rq_base = srq ? 0 : base(n),
                                     .log_sq = 6,
                                     .log_rq = srq ? uint8_t{0} : uint8_t{6},
                                     .has_srq = srq.has_value(),
                                     .srq = srq.value_or(0)});
  }
  AdminStatus arm(uint16_t limit, uint16_t n = kSrq) {
    return command(AdminOpcode::kModifySrq, n, spec::AdminLimitArgs{.limit = limit});
  }
  /// A doorbell. Returns whether qp accepts it.
  bool ring(DoorbellKind kind, uint16_t n, uint16_t index, uint16_t page = 0) {
    return qp.doorbell({.kind = kind, .qpn = n, .page = page, .index = index});
  }
  /// Posts a WQE of one SGE, whose address is the tag. Returns whether qp accepts the doorbell.
  bool post(uint16_t n, spec::RqWqe w) {
    if (w.num_sge == 0) w.num_sge = 1;
    w.sge0 = {.address = w.tag, .length = 64, .lkey = 9};
    Wqes& r = rings[n];
    r.at[static_cast<uint16_t>(r.producer++ % (1U << r.log))] = w;
    return ring(DoorbellKind::kRq, n, r.producer);
  }
  bool post(uint16_t n, uint16_t tag) { return post(n, {.tag = tag}); }

  /// Requests all reads that qp wants.
  void request() {
    while (!qp.rq_fetchable().empty())
      reads.push_back(qp.rq_fetch(static_cast<uint16_t>(qp.rq_fetchable().next(0))));
  }
  /// Answers the oldest read with the contents of host memory, or with an error.
  void answer(spec::RdStatus status = spec::RdStatus::kOk) {
    ASSERT_FALSE(reads.empty());
    const model::MemRead r = reads.front();
    reads.pop_front();
    model::MemData d{.status = status, .data = {}};
    if (status == spec::RdStatus::kOk) {
      Wqes& ring = rings[static_cast<uint16_t>(r.address / kRing - 1)];
      d.data = rnic::Payload::make(r.length);
      for (uint32_t i = 0; i < r.length / 64; ++i)
        ring.at[static_cast<uint16_t>(r.address % kRing / 64 + i)].pack(
            d.data.writable().subspan(size_t{64} * i));
    }
    qp.rq_fetched(d);
  }
  /// QP n takes a receive; all reads that this needs are answered.
  spec::RqTakeRsp take(uint16_t n) {
    for (int i = 0; i < 100; ++i) {
      if (const auto rsp = qp.rq_take(n)) return *rsp;
      request();
      if (reads.empty()) break;
      answer();
    }
    ADD_FAILURE() << "a take waits for nothing";
    return {};
  }
  void expect_ok(const spec::RqTakeRsp& rsp, uint16_t index, uint16_t tag, bool shared = true) {
    EXPECT_EQ(rsp.result, RqTake::kOk);
    EXPECT_EQ(rsp.shared, shared);
    EXPECT_EQ(rsp.wqe.index, index);
    EXPECT_EQ(rsp.wqe.sge0.tagged_offset, tag);
  }
  void expect_ok(const spec::RqTakeRsp& rsp, uint16_t tag) { expect_ok(rsp, tag, tag); }
  /// Executes the looks and retirements of qp until none is left.
  void settle() {
    for (bool more = true; more;) {
      more = !looks.empty() || !qp.retirable().empty();
      while (!qp.retirable().empty()) qp.retire(static_cast<uint16_t>(qp.retirable().next(0)));
      for (; !looks.empty(); looks.pop_front()) qp.look(looks.front());
    }
  }

  struct Wqes {
    uint8_t log = 6;
    uint16_t producer = 0;
    std::map<uint16_t, spec::RqWqe> at;
  };
  std::map<uint16_t, Wqes> rings;
  std::deque<model::MemRead> reads;
  std::vector<spec::QpCmdRsp> rsps;
  std::vector<spec::CqeReq> cqes;
  std::vector<uint16_t> asyncs, purged;
  std::deque<uint16_t> looks;
  const spec::Sizes sizes;
  Qp qp;

 private:
  void qp_cmd_rsp(const spec::QpCmdRsp& rsp) override { rsps.push_back(rsp); }
  void qp_ctl(Qp::Peer, const spec::QpCtlLlp&) override {}
  void qp_fault(const spec::QpFault&) override {}
  void cqe_req(const spec::CqeReq& cqe) override { cqes.push_back(cqe); }
  void qp_async(const spec::QpAsync& async) override { asyncs.push_back(async.qpn); }
  void qp_purge(const spec::QpPurge& purge) override { purged.push_back(purge.qpn); }
  void ready(Qp::Set) override {}
  void look_due(uint16_t qpn) override { looks.push_back(qpn); }
  spec::TptResult check(const spec::WqeCheck&) const override { return spec::TptResult::kOk; }
  spec::TptResult translate(const spec::WqeCheck&, model::ExtentList&) override {
    return spec::TptResult::kOk;
  }
  void retired(const spec::Retired&) override {}
};

/// QPs kA and kB take from kSrq, kOwn from a queue of its own.
struct SrqOfTwo : SrqQpTest {
  SrqOfTwo() {
    EXPECT_EQ(create_srq(), AdminStatus::kOk);
    EXPECT_EQ(create_qp(kA, kSrq), AdminStatus::kOk);
    EXPECT_EQ(create_qp(kB, kSrq), AdminStatus::kOk);
    EXPECT_EQ(create_qp(kOwn, {}), AdminStatus::kOk);
  }
};

}  // namespace rnic::tb
