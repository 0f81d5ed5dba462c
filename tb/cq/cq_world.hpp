// The world of cq: the host's memory with its rings, a driver that reads them, and the producers.
//
//   CqWorld<D> w(dut, rng);   w.create_eq(0, 4, 9);   w.create_cq(3, {.log = 3, .eqn = 0});
//   w.complete(3);            w.arm(3);
//   w.see();  // checks and reads everything written so far
//
// Every write must be the next entry of an existing ring, with its phase, or the MSI-X message of
// the entry before it. Completions must be the requested ones, in order. The test judges what an
// event means: the events of each queue are in w.events.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cq/cq_dut.hpp"

namespace rnic::tb {

/// An event entry that cq has written: its kind, the CQ, QP or connection, and its EQ.
struct EventSeen {
  spec::EqeType kind{};
  uint32_t object = 0;
  uint32_t eqn = 0;
  friend bool operator==(const EventSeen&, const EventSeen&) = default;
  friend bool operator<(const EventSeen& a, const EventSeen& b) {
    return std::tie(a.kind, a.object, a.eqn) < std::tie(b.kind, b.object, b.eqn);
  }
};
inline void PrintTo(const EventSeen& e, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << fmt::format("{} {} on EQ {}", to_string(e.kind), e.object, e.eqn);
}

/// How a CQ is created. log: log2 of its entries. page: the doorbell page that may ring it.
struct CqSetup {
  unsigned log = 3;
  uint32_t eqn = 0;
  uint16_t page = 2;
};

/// A completion queue as its driver sees it.
struct CqSeen {
  CqSetup setup{};
  uint64_t base = 0;
  uint16_t asked = 0;                 // completions put on cqe_req
  uint16_t written = 0;               // entries found in the ring
  uint16_t consumer = 0;              // last index reported by a doorbell
  std::deque<spec::Cqe> expected{};   // requested and not found yet
  std::vector<bool> counted{};        // for each entry found: it is solicited or an error
  uint64_t time = 0;                  // timestamp of the last entry found
  std::optional<uint32_t> old_eqn{};  // while modify_cq is in progress: the EQ before it
  [[nodiscard]] uint32_t size() const { return 1U << setup.log; }
};

template <class D>
class CqWorld {
 public:
  CqWorld(D& dut, base::Rng rng) : dut_(dut), rng_(rng) {}

  static spec::Sizes sizes() { return D::kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  spec::CqCmdRsp command(spec::AdminOpcode opcode, uint32_t object, spec::AdminRingArgs args = {}) {
    spec::CqCmd cmd{.opcode = opcode, .object = object};
    args.pack(cmd.args);
    dut_.cq_cmd.put(cmd);
    return dut_.cq_cmd_rsp.take();
  }
  void create_cq(uint16_t cqn, CqSetup s) {
    CqSeen c{.setup = s};
    // Random, 1 MiB aligned; bit 63 is clear, and set in the bases of EQs.
    c.base = (rng_.next() >> 21 << 20) + (uint64_t{cqn} << 21);
    see();
    const auto rsp = command(spec::AdminOpcode::kCreateCq, cqn,
                             {.base = c.base,
                              .log_size = static_cast<uint8_t>(s.log),
                              .eqn = static_cast<uint8_t>(s.eqn),
                              .page = s.page});
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    cqs[cqn] = c;
  }
  void destroy_cq(uint16_t cqn) {
    EXPECT_EQ(command(spec::AdminOpcode::kDestroyCq, cqn).status, spec::AdminStatus::kOk);
    see();  // no write for it is allowed after the response
    cqs.erase(cqn);
  }
  void modify_cq(uint16_t cqn, uint32_t eqn) {
    const auto rsp =
        // modify_cq ignores base and log_size
        command(spec::AdminOpcode::kModifyCq, cqn,
                {.base = rng_.next(), .log_size = 9, .eqn = static_cast<uint8_t>(eqn)});
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    CqSeen& c = cqs.at(cqn);
    c.old_eqn = std::exchange(c.setup.eqn, eqn);
    see();  // until the response, an event may still go to the old EQ
    c.old_eqn.reset();
  }
  spec::AdminCqResult query(uint16_t cqn) {
    const auto rsp = command(spec::AdminOpcode::kQueryCq, cqn);
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    return spec::AdminCqResult::unpack(rsp.result);
  }
  /// log: log2 of the entries. vector: the MSI-X vector that follows each event entry.
  void create_eq(uint32_t eqn, unsigned log, uint8_t vector) {
    Eq e{.base = (rng_.next() >> 21 << 20) + (uint64_t{eqn} << 21), .log = log, .vector = vector};
    e.base |= uint64_t{1} << 63;
    eqs_[eqn] = e;
    const auto rsp =
        command(spec::AdminOpcode::kCreateEq, eqn,
                {.base = e.base, .log_size = static_cast<uint8_t>(log), .vector = vector});
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
  }
  void destroy_eq(uint32_t eqn) {
    EXPECT_EQ(command(spec::AdminOpcode::kDestroyEq, eqn).status, spec::AdminStatus::kOk);
    see();
    eqs_.erase(eqn);
  }

  /// Puts a random completion with these fields on cqe_req, as qp does.
  void complete(uint16_t cqn, bool solicited = false,
                spec::WcStatus status = spec::WcStatus::kSuccess) {
    CqSeen& c = cqs.at(cqn);
    spec::CqeReq r{.cqn = cqn};
    r.entry = any_entry();
    r.entry.solicited = solicited;
    r.entry.status = status;
    dut_.cqe_req.put(r);
    c.expected.push_back(r.entry);
    c.asked++;
  }
  spec::Cqe any_entry() {
    spec::Cqe e;
    e.qpn = static_cast<uint32_t>(rng_.below(1 << 24));
    e.opcode = rng_.percent(50) ? spec::WcOpcode::kRecv : spec::WcOpcode::kSend;
    e.byte_len = static_cast<uint32_t>(rng_.next());
    e.index = static_cast<uint16_t>(rng_.next());
    e.is_recv = rng_.percent(50);
    e.immediate = rng_.next();
    e.timestamp = rng_.below(uint64_t{1} << 48);  // cq replaces timestamp and phase
    e.phase = rng_.percent(50);
    return e;
  }

  /// Rings the CQ's doorbell with its consumer index, and with its own page.
  void doorbell(uint16_t cqn, uint16_t index, bool arm = false, bool solicited_only = false) {
    CqSeen& c = cqs.at(cqn);
    c.consumer = index;
    dut_.cq_doorbell.put({.cqn = cqn,
                          .page = c.setup.page,
                          .index = index,
                          .arm = arm,
                          .solicited_only = solicited_only});
  }
  /// Arms the CQ, with the index after the last entry that see() has read, as a driver does.
  void arm(uint16_t cqn, bool solicited_only = false) {
    doorbell(cqn, cqs.at(cqn).written, true, solicited_only);
  }
  /// Waits until cq has taken all doorbells, and then long enough for it to apply them.
  void doorbells_taken() {
    EXPECT_TRUE(
        dut_.run_until([&] { return !dut_.cq_doorbell.busy() && !dut_.eq_doorbell.busy(); }));
    for (unsigned i = 0; i < 400; i++) dut_.advance();
  }
  /// Frees all event entries that see() has read: the consumer index of the EQ becomes the
  /// producer's.
  void eq_doorbell(uint32_t eqn) {
    eqs_.at(eqn).consumer = eqs_.at(eqn).producer;
    dut_.eq_doorbell.put({.eqn = static_cast<uint8_t>(eqn), .index = eqs_.at(eqn).consumer});
  }

  /// Checks and reads all writes that have come so far.
  void see() {
    while (!dut_.cq_wr.empty()) {
      const spec::CqWr wr = dut_.cq_wr.items().front();
      dut_.cq_wr.items().pop_front();
      judge(wr);
    }
  }
  /// Runs until no item has moved for `quiet` cycles; then checks all writes.
  void settle(uint64_t quiet = 300) {
    dut_.settle(quiet);
    see();
    EXPECT_TRUE(messages_.empty()) << "an MSI-X message is missing";
  }
  /// Settles, and returns the events since the last call, sorted.
  std::vector<EventSeen> take_events(uint64_t quiet = 300) {
    settle(quiet);
    auto out = std::move(events);
    events.clear();
    std::sort(out.begin(), out.end());
    return out;
  }

  std::map<uint16_t, CqSeen> cqs;
  std::vector<EventSeen> events;
  // For each completion event: the entries of its CQ in memory when the event was written.
  std::vector<uint64_t> counts_at_event;
  base::Rng& rng() { return rng_; }

 private:
  struct Eq {
    uint64_t base = 0;
    unsigned log = 0;
    uint8_t vector = 0;
    uint16_t producer = 0, consumer = 0;
  };

  void judge(const spec::CqWr& wr) {
    if (wr.is_msix != 0) {
      ASSERT_FALSE(messages_.empty()) << "an MSI-X message without an event";
      EXPECT_EQ(wr.vector, messages_.front());
      messages_.pop_front();
      return;
    }
    // The differences are unsigned, so an address below a base is outside, too.
    for (auto& [eqn, e] : eqs_)
      if (wr.address - e.base < uint64_t{16} << e.log) return judge_event(wr, eqn, e);
    for (auto& [cqn, c] : cqs)
      if (wr.address - c.base < uint64_t{32} * c.size()) return judge_entry(wr, cqn, c);
    ADD_FAILURE() << "a write to no ring: " << wr.describe();
  }
  void judge_event(const spec::CqWr& wr, uint32_t eqn, Eq& e) {
    EXPECT_EQ(wr.length, spec::Eqe::kBytes);
    EXPECT_EQ(wr.address, e.base + 16 * (e.producer & ((1U << e.log) - 1)));
    EXPECT_LT(static_cast<uint16_t>(e.producer - e.consumer), 1U << e.log)
        << "an entry was overwritten";
    const auto eqe = spec::Eqe::unpack(wr.data);
    EXPECT_EQ(eqe.phase, (e.producer >> e.log & 1) == 0 ? 1 : 0);
    EXPECT_EQ(eqe, (spec::Eqe{.kind = eqe.kind, .object = eqe.object, .phase = eqe.phase}));
    e.producer++;
    EXPECT_TRUE(messages_.empty()) << "the MSI-X message of an earlier event comes late";
    messages_.push_back(e.vector);
    events.push_back({eqe.kind, eqe.object, eqn});
    if (eqe.kind == spec::EqeType::kCompletion) {
      const auto it = cqs.find(static_cast<uint16_t>(eqe.object));
      ASSERT_NE(it, cqs.end()) << "an event of a CQ that does not exist: " << eqe.object;
      const CqSeen& c = it->second;
      EXPECT_TRUE(eqn == c.setup.eqn || eqn == c.old_eqn)
          << "CQ " << it->first << " reports to EQ " << eqn;
      counts_at_event.push_back(it->second.counted.size());
    } else {
      EXPECT_EQ(eqn, 0U);
    }
  }
  void judge_entry(const spec::CqWr& wr, uint16_t cqn, CqSeen& c) {
    SCOPED_TRACE(fmt::format("CQ {} entry {}", cqn, c.written));
    EXPECT_EQ(wr.length, spec::Cqe::kBytes);
    EXPECT_EQ(wr.address, c.base + uint64_t{32} * (c.written & (c.size() - 1)));
    ASSERT_FALSE(c.expected.empty()) << "a completion that nobody asked for";
    auto want = c.expected.front();
    c.expected.pop_front();
    const auto got = spec::Cqe::unpack(wr.data);
    want.phase = (c.written >> c.setup.log & 1) == 0 ? 1 : 0;
    want.timestamp = got.timestamp;
    EXPECT_EQ(got, want) << got.describe() << "\n" << want.describe();
    EXPECT_GE(got.timestamp, c.time);  // the test TimestampsCountCycles checks the values
    c.time = got.timestamp;
    c.written++;
    c.counted.push_back(got.solicited != 0 || got.status != spec::WcStatus::kSuccess);
  }

  D& dut_;
  base::Rng rng_;
  std::map<uint32_t, Eq> eqs_;
  std::deque<uint8_t> messages_;  // vectors of the MSI-X messages that must follow
};

}  // namespace rnic::tb
