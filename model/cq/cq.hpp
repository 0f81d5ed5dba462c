// Completion and event queues: entries, phase, arming, overrun. RTL: rtl/cq/cq.sv
//
//   Cq cq(sizes, out);   cq.command(create_cq);   if (auto wr = cq.complete(req, time)) write(*wr);
//   if (auto e = cq.choice()) { write(cq.write_event(*e));  write(cq.interrupt(*e)); }
//
// A full CQ stalls no unit: the CQ and its QPs enter error. A full EQ loses no event: events are
// bits that stay pending.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "sc/ready_set.hpp"

namespace rnic::model {

class Cq {
 public:
  struct Event {
    spec::EqeType kind{};
    uint32_t object = 0;
    friend bool operator==(const Event&, const Event&) = default;
  };
  struct Out {
    virtual ~Out() = default;
    virtual void cq_cmd_rsp(const spec::CqCmdRsp& rsp) = 0;
    virtual void cq_fault(const spec::CqFault& fault) = 0;
    virtual void event_ready() = 0;       // choice() may return an event
    virtual void pended(const Event&) {}  // an event has occurred; it may have been pending before
  };
  Cq(const spec::Sizes& sizes, Out& out);

  void command(const spec::CqCmd& cmd);
  bool doorbell(const spec::CqDoorbell& db);  // false: invalid, no change; the caller counts it
  void doorbell(const spec::EqDoorbell& db);

  /// Returns the write of a CQE; nothing if its CQ has overrun, overruns now, or does not exist.
  std::optional<spec::CqWr> complete(const spec::CqeReq& req, uint64_t timestamp);

  // Events of QPs and connections. pend() sets the pending bit of any event.
  void qp_async(const spec::QpAsync& a) { pend({spec::EqeType::kQp, a.qpn}); }
  void conn_async(const spec::ConnAsync& a) { pend({spec::EqeType::kConnection, a.connection}); }
  void pend(const Event& e) {
    const_cast<ReadySet&>(pending(e.kind)).set(e.object);
    out_.pended(e);
    out_.event_ready();
  }
  std::optional<Event> choice() const;         // the pending event to be written next
  bool may_write(const Event& e) const;        // it is pending, and its EQ has room
  spec::CqWr write_event(const Event& e);      // its EQE; clears its pending bit
  spec::CqWr interrupt(const Event& e) const;  // the MSI-X message of its EQ's vector

 private:
  struct Queue {
    bool exists = false;
    uint64_t base = 0;
    uint8_t log = 0;
    uint16_t producer = 0, consumer = 0;
    uint32_t size() const { return 1U << log; }
    uint16_t held() const { return static_cast<uint16_t>(producer - consumer); }
    bool full() const { return held() >= size(); }
    uint8_t phase() const { return (producer >> log & 1) == 0; }
    uint32_t place() const { return producer & (size() - 1); }  // entry that is written next
  };
  struct CqState : Queue {
    uint16_t page = 0;
    uint8_t eqn = 0;
    bool overrun = false, armed = false, solicited_only = false;
    bool has_solicited = false;    // a CQE with SE or an error is after the consumer index
    uint16_t after_solicited = 0;  // the producer index after the last such CQE
  };
  struct EqState : Queue {
    uint8_t vector = 0;
  };
  /// Completions go to the EQ of their CQ, all other events to EQ 0.
  uint32_t eqn_of(const Event& e) const {
    return e.kind == spec::EqeType::kCompletion ? cqs_[e.object].eqn : 0;
  }
  const ReadySet& pending(spec::EqeType kind) const;
  /// A completion of the kind that the arm asks for is after the consumer index.
  bool counts(const CqState& c) const {
    return c.solicited_only ? c.has_solicited : c.producer != c.consumer;
  }
  void fire(uint16_t cqn);  // disarms the CQ and pends its event

  Out& out_;
  std::vector<CqState> cqs_;
  std::vector<EqState> eqs_;
  ReadySet completions_, cq_errors_, qps_, conns_;
};

}  // namespace rnic::model
