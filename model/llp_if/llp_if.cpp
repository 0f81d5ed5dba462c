// Records, credit and QPs. Connection control: llp_conn.cpp.
#include "llp_if/llp_if.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/mpa.hpp"

namespace rnic::model {

using spec::ConnState;
using spec::LlpOp;
using spec::LlpQpEvt;
using spec::QpOp;

// Overhead of an FPDU: 2 bytes of length, 4 of CRC, the mss modulo 4, and 4 for each marker (one
// for each 512 bytes begun). The least MULPDU, 128, is that of C-27 as well.
uint16_t mulpdu_of(uint16_t mss, bool markers) {
  constexpr uint32_t kLeast = 128, kMost = spec::kMaxUlpdu;
  uint32_t overhead = 6U + mss % 4U;
  if (markers) overhead += 4 * ((mss + spec::kMpaMarkerSpacing - 1U) / spec::kMpaMarkerSpacing);
  return static_cast<uint16_t>(mss < overhead ? kLeast : std::clamp(mss - overhead, kLeast, kMost));
}

LlpIf::LlpIf(const spec::Sizes& sizes, Out& out)
    : out_(out), conns_(sizes.num_conns), qps_(sizes.num_qps) {}

void LlpIf::control(const spec::QpCtlLlp& ctl) {
  Qp& q = qps_[ctl.qpn];
  switch (ctl.op) {
    case QpOp::kStart:
      return start(ctl);
    case QpOp::kSync:
      break;  // nothing to wait for: llp_if holds no items for a sync
    case QpOp::kHalfClose:
      if (!q.bound) break;
      q.fin = true;
      half_close(q.params.connection);
      break;
    case QpOp::kAbort:
    case QpOp::kStop:
      if (q.bound) stop(ctl);
      break;
  }
  out_.qp_ack_llp({ctl.qpn});
}

/// Admin has checked the connection, but the connection may have been lost or freed since.
void LlpIf::start(const spec::QpCtlLlp& ctl) {
  const uint16_t connection = ctl.params.connection;
  out_.qp_ack_llp({ctl.qpn});
  if (connection >= conns_.size() || conns_[connection].state == ConnState::kFree ||
      conns_[connection].has_qp) {
    return out_.llp_event({.qpn = ctl.qpn, .kind = LlpQpEvt::kLost});
  }
  Conn& c = conns_[connection];
  c.has_qp = true;
  c.qpn = ctl.qpn;
  Qp& q = qps_[ctl.qpn];
  const uint32_t life = q.life + 1;
  q = {};
  q.life = life;
  q.bound = true;
  q.hold = ctl.params.hold_tx != 0;  // until receive() gets the peer's first FPDU
  q.params = ctl.params;
  resize(ctl.qpn);
  if (c.open()) {
    out_.llp_ctl_req({.op = LlpOp::kRdmaMode,
                      .connection = connection,
                      .use_crc = ctl.params.use_crc,
                      .rx_markers = ctl.params.rx_markers,
                      .tx_markers = ctl.params.tx_markers});
  }
  if (c.state != ConnState::kEstablished) tell(connection, LlpQpEvt::kLost);
}

/// Unbinds the QP. The connection continues its close by itself.
void LlpIf::stop(const spec::QpCtlLlp& ctl) {
  Qp& q = qps_[ctl.qpn];
  Conn& c = conns_[q.params.connection];
  c.has_qp = false;
  q.bound = q.parked = q.term_parked = false;
  if (ctl.op == QpOp::kAbort && c.open()) {
    c.waiting = 0;
    request(LlpOp::kAbort, q.params.connection);
  }
  if (c.ended()) out_.conn_async({q.params.connection});
}

void LlpIf::resize(uint16_t qpn) {
  Qp& q = qps_[qpn];
  const bool markers = q.params.tx_markers != 0;
  q.mulpdu = mulpdu_of(conns_[q.params.connection].mss, markers);
  q.worst = fpdu_bytes(q.mulpdu) + (markers ? 4 * most_markers(q.mulpdu) : 0);
  if (q.parked) unpark(qpn);
}

// --- receive

std::optional<RxFpdu> LlpIf::receive(LlpRecord& r) {
  if (r.is_stream) return std::nullopt;
  if (r.connection >= conns_.size() || !conns_[r.connection].has_qp) {
    ++dropped_;
    return std::nullopt;
  }
  const uint16_t qpn = conns_[r.connection].qpn;
  Qp& q = qps_[qpn];
  if (q.hold) {  // RFC 5044 section 7.1.2: now the passive side may send as well
    q.hold = false;
    unpark(qpn);
  }
  return RxFpdu{
      .hdr = {.qpn = qpn, .length = r.data.size()}, .data = std::move(r.data), .error = r.error};
}

bool LlpIf::known_stream(const LlpRecord& r) const {
  return r.is_stream && r.connection < conns_.size() &&
         conns_[r.connection].state != ConnState::kFree && !conns_[r.connection].has_qp;
}

bool LlpIf::answers_give(const LlpRecord& r) {
  const bool answers = known_stream(r) && giving_ == r.connection;
  if (answers) giving_.reset();
  return answers;
}

/// Reports an event of a connection to its QP, or without a QP to the driver.
void LlpIf::tell(uint16_t connection, std::optional<LlpQpEvt> event) {
  const Conn& c = conns_[connection];
  if (c.state == ConnState::kFree) return;
  if (!c.has_qp) return out_.conn_async({connection});
  if (event) out_.llp_event({.qpn = c.qpn, .kind = *event});
}

// --- transmit

// Grants a segment only with credit for its whole FPDU; term_credit bytes are reserved for a
// Terminate.
std::optional<spec::TxGrant> LlpIf::grant(const spec::TxWant& want) {
  Qp& q = qps_[want.qpn];
  if (!q.bound || q.given_up) return std::nullopt;
  Conn& c = conns_[q.params.connection];
  const bool term = want.is_term != 0;
  if (term ? !has_room(c, spec::kTermCredit) : !can_grant(c, q)) {
    if (term && !q.term_parked) out_.term_timer(want.qpn, q.life);
    (term ? q.term_parked : q.parked) = true;
    return std::nullopt;
  }
  if (!term) c.aside = std::max(c.aside, q.worst);
  c.used += term ? uint32_t{spec::kTermCredit} : c.aside;
  ++c.under_way;
  return spec::TxGrant{.qpn = want.qpn, .is_term = want.is_term, .mulpdu = q.mulpdu};
}

/// The reserve per segment (`aside`) never shrinks, and grows only while no grant is outstanding.
/// An FPDU therefore returns exactly what its grant took, also when the segment size changes.
bool LlpIf::can_grant(const Conn& c, const Qp& q) const {
  if (q.hold || (q.worst > c.aside && c.under_way != 0)) return false;
  return has_room(c, std::max(c.aside, q.worst) + spec::kTermCredit);
}

void LlpIf::unpark(uint16_t qpn) {
  Qp& q = qps_[qpn];
  const Conn& c = conns_[q.params.connection];
  if (q.term_parked && has_room(c, spec::kTermCredit)) {
    q.term_parked = false;
    out_.grantable({.qpn = qpn, .is_term = 1});
  }
  if (q.parked && can_grant(c, q)) {
    q.parked = false;
    out_.grantable({.qpn = qpn, .is_term = 0});
  }
}

void LlpIf::credit(const spec::LlpCredit& credit) {
  if (credit.connection >= conns_.size()) return;
  Conn& c = conns_[credit.connection];
  c.limit = credit.limit;
  if (c.has_qp) {
    unpark(c.qpn);
  } else {
    out_.raw_tx_possible();
  }
}

void LlpIf::term_timeout(uint16_t qpn, uint32_t life) {
  Qp& q = qps_[qpn];
  if (!q.bound || q.life != life || !q.term_parked) return;
  q.term_parked = q.parked = false;
  q.given_up = true;
  Conn& c = conns_[q.params.connection];
  c.waiting = 0;
  if (c.open()) request(LlpOp::kAbort, q.params.connection);
  out_.llp_event({.qpn = qpn, .kind = LlpQpEvt::kTermDone});
}

std::optional<LlpRecord> LlpIf::send(TxFpdu& f) {
  Qp& q = qps_[f.hdr.qpn];
  if (!q.bound) return std::nullopt;
  Conn& c = conns_[q.params.connection];
  c.used -= (f.hdr.is_term != 0 ? uint32_t{spec::kTermCredit} : c.aside) -
            f.hdr.length;  // the grant reserved more than the FPDU needs: return the difference
  --c.under_way;
  if (q.parked || q.term_parked) unpark(f.hdr.qpn);
  if (q.fin) return std::nullopt;
  return LlpRecord{.connection = q.params.connection, .data = std::move(f.data)};
}

void LlpIf::sent(const spec::TxFpduHdr& h) {
  if (h.done != 0) out_.wr_done({.qpn = h.qpn, .slot = h.slot});
  if (h.is_term == 0) return;
  const Qp& q = qps_[h.qpn];
  // Nothing follows a Terminate: send our FIN, also if the QP has stopped meanwhile.
  half_close(q.params.connection);
  if (q.bound) out_.llp_event({.qpn = h.qpn, .kind = LlpQpEvt::kTermDone});
}

LlpIf::Raw LlpIf::may_send_raw(const RawBytes& raw) const {
  if (raw.connection >= conns_.size()) return Raw::kDrop;
  const Conn& c = conns_[raw.connection];
  if (!c.talks() || c.has_qp) return Raw::kDrop;
  return has_room(c, raw.data.size()) ? Raw::kSend : Raw::kWait;
}

LlpRecord LlpIf::send_raw(RawBytes raw) {
  conns_[raw.connection].used += raw.data.size();
  return {.connection = raw.connection, .is_stream = true, .data = std::move(raw.data)};
}

std::string LlpIf::waiting_for() const {
  std::string s;
  for (size_t i = 0; i < qps_.size(); ++i) {
    const Qp& q = qps_[i];
    if (!q.parked && !q.term_parked) continue;
    const Conn& c = conns_[q.params.connection];
    s += fmt::format(
        "llp_if: QP {} waits for {} (connection {}: {} bytes of credit, a grant needs {})\n", i,
        q.hold ? "the first FPDU of the peer" : "the LLP's credit", q.params.connection,
        static_cast<int32_t>(c.limit - c.used),
        q.term_parked ? uint32_t{spec::kTermCredit}
                      : std::max(c.aside, q.worst) + spec::kTermCredit);
  }
  return s;
}

}  // namespace rnic::model
