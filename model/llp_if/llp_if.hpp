// Transport port: connections, records, credit, segment size. RFC 5044 sections 4 and 5,
// architecture 3.3 and 7. RTL: rtl/llp_if/llp_if.sv
//
//   LlpIf llp(sizes, out);   llp.event(evt);   llp.credit(c);
//   auto f = llp.receive(record);                  // an FPDU of a QP; nothing: streaming bytes
//   auto g = llp.grant(want);   auto r = llp.send(fpdu);   llp.sent(hdr);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

/// llp_rx, llp_tx: one FPDU, or a run of streaming bytes (is_stream).
struct LlpRecord {
  uint16_t connection = 0;
  bool is_stream = false, error = false;  // error: damaged, counts as a bad CRC
  rnic::Payload data;
};

class LlpIf {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void conn_cmd_rsp(const spec::ConnCmdRsp& rsp) = 0;
    virtual void qp_ack_llp(const spec::QpAckLlp& ack) = 0;
    virtual void llp_event(const spec::LlpEvent& event) = 0;
    virtual void conn_async(const spec::ConnAsync& async) = 0;
    virtual void llp_ctl_req(const spec::LlpCtlReq& req) = 0;
    virtual void wr_done(const spec::WrDone& done) = 0;
    virtual void grantable(const spec::TxWant& want) = 0;  // a want that waited for credit or for
                                                           // the first FPDU can be granted
    virtual void term_timer(uint16_t qpn,
                            uint32_t life) = 0;  // call term_timeout() after TermTimeout
    virtual void raw_tx_possible() = 0;          // a connection in streaming mode got credit
    virtual void give_ended(uint16_t /*connection*/) {}  // conn_give ends without a record
  };
  LlpIf(const spec::Sizes& sizes, Out& out);

  // Control.
  /// Executes a command of admin. no_credit: refuses streaming bytes even if credit for them is
  /// available. The tandem sets it if the RTL had not received the credit yet.
  void command(const spec::ConnCmd& cmd, bool no_credit = false);
  /// Number of streaming bytes that admin sends after this command has returned ok. Then credit for
  /// them is available.
  static uint16_t bytes_of(const spec::ConnCmd& cmd);
  void control(const spec::QpCtlLlp& ctl);         // an order of qp
  void event(const spec::LlpCtlEvt& evt);          // of the transport
  void credit(const spec::LlpCredit& credit);      // a new limit
  void term_timeout(uint16_t qpn, uint32_t life);  // requested by Out::term_timer()

  // Receive.
  /// Returns the FPDU of a record. Nothing if the connection has no QP, or if the record is
  /// streaming bytes: these stay in `record`.
  std::optional<RxFpdu> receive(LlpRecord& record);
  bool known_stream(const LlpRecord& record) const;  // streaming bytes of a connection without a QP
  bool answers_give(const LlpRecord& record);  // a conn_give waits for it; false: drop the record

  // Transmit.
  /// Reserves credit for a worst-case FPDU. Empty if the QP has stopped, or if the want must wait:
  /// then Out::grantable() follows.
  std::optional<spec::TxGrant> grant(const spec::TxWant& want);
  /// Whether grant() would grant a segment (not a Terminate) now.
  bool may_grant(uint16_t qpn) const {
    const Qp& q = qps_[qpn];
    return q.bound && !q.given_up && can_grant(conns_[q.params.connection], q);
  }
  /// Returns the record of an FPDU. Empty if its QP has stopped, or if a half_close of qp has sent
  /// our FIN before it. (That can happen if a peer responds to a request before the request was
  /// sent.) A Terminate behind our FIN counts as sent: call sent() for it.
  std::optional<LlpRecord> send(TxFpdu& fpdu);
  void sent(const spec::TxFpduHdr& hdr);  // the FPDU's last beat was accepted on llp_tx
  bool is_behind_fin(uint16_t qpn) const { return qps_[qpn].bound && qps_[qpn].fin; }
  // Streaming bytes of admin. kWait: for credit. kDrop: the connection does not take them any more.
  enum class Raw : uint8_t { kSend, kWait, kDrop };
  Raw may_send_raw(const RawBytes& raw) const;
  LlpRecord send_raw(RawBytes raw);   // after kSend
  void abandon(const RawBytes& raw);  // credit has not come in time: aborts the connection

  /// Credit bytes that are spent or reserved, modulo 2^32.
  uint32_t used(uint16_t connection) const { return conns_[connection].used; }
  uint64_t dropped() const { return dropped_; }
  std::string waiting_for() const;

 private:
  static constexpr uint16_t kNoQp = 0xffff;
  struct Conn {
    spec::ConnState state{};
    bool passive = false, has_qp = false, fin = false;  // fin: our FIN was requested
    // waiting: streaming bytes of the peer that conn_give may request.
    uint16_t qpn = 0, waiting = 0, mss = 0, peer_port = 0, local_port = 0;
    uint32_t peer_address = 0;
    uint32_t limit = 0, used = 0;  // credit, in bytes of records since the beginning, modulo 2^32
    uint32_t aside = 0;            // bytes reserved for each grant
    uint32_t under_way = 0;        // outstanding grants: their FPDU was not sent yet
    bool open() const { return state >= spec::ConnState::kConnecting && !ended(); }
    bool ended() const {
      return state == spec::ConnState::kClosed || state == spec::ConnState::kReset ||
             state == spec::ConnState::kFailed;
    }
    bool talks() const {  // the connection may send
      return !fin &&
             (state == spec::ConnState::kEstablished || state == spec::ConnState::kPeerClosed);
    }
  };
  struct Qp {
    // bound: has a connection. hold: hold_tx, and no FPDU of the peer has come. parked and
    // term_parked: a want of a segment, of a Terminate, waits.
    bool bound = false, hold = false, parked = false, term_parked = false;
    bool given_up = false;  // the Terminate timed out: no further want of the QP is granted
    bool fin = false;       // half_close: later FPDUs are dropped
    spec::QpParams params;
    uint16_t mulpdu = 0;
    uint32_t worst = 0;  // bytes of the largest FPDU with this mulpdu
    uint32_t life = 0;   // counts starts: a timer of an earlier life has no effect
  };
  std::optional<spec::AdminStatus> execute(const spec::ConnCmd& cmd, spec::CmdRsp& rsp,
                                           bool no_credit);
  spec::AdminConnResult result_of(uint16_t connection) const;
  void request(spec::LlpOp op, uint16_t connection) {
    out_.llp_ctl_req({.op = op, .connection = connection});
  }
  void tell(uint16_t connection, std::optional<spec::LlpQpEvt> event);
  void ended(uint16_t connection, spec::ConnState state);
  void start(const spec::QpCtlLlp& ctl);
  void stop(const spec::QpCtlLlp& ctl);
  Conn& begin(uint16_t connection);
  void half_close(uint16_t connection);
  void resize(uint16_t qpn);  // computes mulpdu and worst from the connection's mss
  void unpark(uint16_t qpn);  // reports waiting wants that can be granted now
  bool can_grant(const Conn& c, const Qp& q) const;
  bool has_room(const Conn& c, uint32_t bytes) const {
    return static_cast<int32_t>(c.limit - (c.used + bytes)) >= 0;
  }

  Out& out_;
  std::vector<Conn> conns_;
  std::vector<Qp> qps_;
  spec::LlpCtlReq connecting_;      // connect was requested ...
  bool connects_ = false;           // ... and `assigned` has not arrived
  std::optional<uint16_t> giving_;  // connection of the one outstanding conn_give
  uint64_t dropped_ = 0;
};

/// Largest ULPDU for a segment size, within the limits of the device: RFC 5044 section 4.3
/// (docs/ambiguities.md C-27).
uint16_t mulpdu_of(uint16_t mss, bool markers);

}  // namespace rnic::model
