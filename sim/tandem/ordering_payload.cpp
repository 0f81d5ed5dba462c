// Follows payload from the record to placement and delivery, and payload reads of responses. See
// ordering_payload.hpp. Numbers of operations and clients: docs/spec/commits.yaml.
#include "tandem/ordering_payload.hpp"

#include <algorithm>
#include <utility>

#include "tandem/of_reg.hpp"

namespace rnic::sim {

void PayloadOrder::reset() {
  qps_.clear();
  connections_.clear();
  pieces_.clear();
  placements_.reset();
  pairs_ = true;
  suspect_.reset();
  failed_at_.reset();
}

// --- received

void PayloadOrder::control(const spec::LlpCtlReq& r) {
  if (r.op != spec::LlpOp::kRdmaMode) return;
  Connection& c = connections_[r.connection];
  c.position = 0;
  c.has_markers = r.rx_markers != 0;
}

void PayloadOrder::record(const Record& r) {
  Connection& c = connections_[r.connection];
  c.records.push_back(r);
  pair(c);
}

void PayloadOrder::way(const spec::LlpRxCommit& w) {
  Connection& c = connections_[w.connection];
  c.ways.push_back(w);
  pair(c);
}

/// The k-th llp_rx commit of a connection belongs to its k-th record.
void PayloadOrder::pair(Connection& c) {
  while (!c.records.empty() && !c.ways.empty()) {
    const Record r = std::move(c.records.front());
    const spec::LlpRxCommit w = c.ways.front();
    c.records.pop_front();
    c.ways.pop_front();
    if (r.is_stream) continue;
    const uint64_t position = c.position;
    c.position += r.data.size();
    if (w.way != 0) continue;  // no FPDU of a QP
    WireSegment s =
        WireSegment::of(c.has_markers ? WireSegment::without_markers(r.data, position) : r.data);
    if (r.error) s.is_good = false;
    qps_[w.qpn].waiting.push_back(std::move(s));
  }
}

// --- judged

void PayloadOrder::control(const spec::DdpCtlCommit& c) {
  if (c.op != spec::QpOp::kStart) return;
  Qp& qp = qps_[c.qpn] = Qp{};
  qp.is_starting = true;
  placements_.starts(c.qpn);
}

/// The QP fails: none of its later segments is accepted, and its unsent segments may be dropped.
void PayloadOrder::fail(Qp& qp) {
  qp.has_failed = true;
  failed_at_ = findings_.cycle();
  suspect_.reset();
  qp.requests.clear();
  qp.scheduled.clear();
  qp.dues.clear();
}

void PayloadOrder::operation(const spec::RdmapOpCommit& c) {
  Qp& qp = qps_[c.qpn];
  switch (c.op) {
    case 0:  // start or stop
      qp.is_running = std::exchange(qp.is_starting, false);
      if (!qp.is_running) fail(qp);
      break;
    case 2:  // tx_fault: a payload read has failed
      stop_pairing();
      [[fallthrough]];
    case 1:  // qp_fault
    case 3:  // the check for a response has failed
      fail(qp);
      break;
    case 4:  // the verdict of a segment
      judge(c.qpn, qp);
      break;
    default:
      break;
  }
}

void PayloadOrder::judge(uint16_t qpn, Qp& qp) {
  if (qp.waiting.empty()) {
    if (qp.is_running) findings_.differ("a verdict for QP {}, of which nothing was received", qpn);
    return;
  }
  const WireSegment s = std::move(qp.waiting.front());
  qp.waiting.pop_front();
  if (!qp.is_running || qp.has_failed || placements_.is_lost(qpn)) return;
  if (!s.is_good) return fail(qp);
  if (s.is_placed()) qp.last = placements_.judged(qpn, s.payload);
  if (s.is_last && (s.is_send() || s.is_immediate())) qp.receives.push_back(qp.last);
  if (s.is_last && (s.is_read_response() || s.is_flush_response() || s.is_atomic_response()))
    qp.reads.push_back(
        {.last = qp.last,
         .is_old_value = s.is_atomic_response() && s.opcode == WireSegment::kAtomicResponse});
  if (s.is_atomic() && s.is_last)
    qp.requests.push_back({.stag = 0, .to = 0, .size = 0, .begun = 0, .need = qp.last});
  if (s.is_read_request() && s.is_last)
    qp.requests.push_back({.stag = s.source_stag(),
                           .to = s.source_to(),
                           .size = s.read_size(),
                           .begun = 0,
                           .need = qp.last});
  if (s.is_flush_request() && s.is_last)
    qp.requests.push_back({.stag = s.flush_stag(),
                           .to = s.flush_to(),
                           .size = s.flush_length() != 0 ? 1U : 0U,
                           .begun = 0,
                           .need = qp.last});
}

// --- placed

void PayloadOrder::placed(const DmaWrite& w) {
  const std::string wrong = placements_.placed(w.address, w.data.bytes());
  if (wrong.empty()) return findings_.judged("placed TLPs");
  findings_.differ("{}", wrong);
}

// --- delivered

void PayloadOrder::event(const spec::QpStateCommit& c) {
  // Bit 0, qp_error: a segment of the QP may have failed.
  if (c.is_cmd == 0 && (c.bits & 1) != 0) placements_.doubt();
}

void PayloadOrder::word(const spec::AtomicWordCommit& c) {
  if (c.op == spec::AtomicOp::kResult && c.performed != 0) ++qps_[c.qpn].old_values;
}

/// A local invalidation has closed its STag, or a registration has opened it, or a bind is done.
void PayloadOrder::change(const spec::TptChangeCommit& c) {
  if ((c.of_sq != 0 && c.of_reg != of_reg::kRefused) || c.of_reg == of_reg::kOpen ||
      c.of_reg == of_reg::kBound)
    qps_[c.qpn].local.insert(c.wqe);
}

/// Commit qp_retire 1 does not report whether a Read or an atomic is done. It counts as the oldest
/// Read if the data of that Read are placed, else as an atomic whose old value was decided.
/// `why`: nothing if the data are placed; empty if no Read is open or missing() is unsure; else the
/// violation.
void PayloadOrder::read_done(uint16_t qpn, Qp& qp) {
  if (qp.reads.empty())
    return findings_.differ("a Read of QP {} is done, and no end of a response was judged", qpn);
  findings_.judged("Reads done");
  const auto read = std::ranges::find(qp.reads, false, &Answered::is_old_value);
  const auto old_value = std::ranges::find(qp.reads, true, &Answered::is_old_value);
  std::optional<std::string> why = "";
  if (read != qp.reads.end()) why = placements_.missing(qpn, read->last);
  if (why && old_value != qp.reads.end() && qp.old_values != 0) {
    --qp.old_values;
    qp.reads.erase(old_value);
    return;
  }
  if (read == qp.reads.end())
    return findings_.differ("an atomic of QP {} is done, and its old value was not decided", qpn);
  qp.reads.erase(read);
  if (why && why->empty()) return findings_.judged("unsure");
  if (why) findings_.differ("a Read of QP {} is done before its data: {}", qpn, *why);
}

void PayloadOrder::retire(const spec::QpRetireCommit& c) {
  Qp& qp = qps_[c.qpn];
  // 1: a Read or a local request is done; 2: a receive is.
  if (c.op == 1 && qp.local.erase(c.slot) != 0) {
    findings_.judged("local requests done");
  } else if (c.op == 1) {
    read_done(c.qpn, qp);
  } else if (c.op == 2) {
    std::optional<std::string> why = "no end of a Send was judged";
    if (!qp.receives.empty()) {
      why = placements_.missing(c.qpn, qp.receives.front());
      qp.receives.pop_front();
    }
    if (why && why->empty()) findings_.judged("unsure");
    qp.suspects.push_back(why.value_or(""));
  }
}

void PayloadOrder::completion(const spec::Cqe& c) {
  if (c.is_recv == 0 || c.status == spec::WcStatus::kWrFlushErr) return;
  const auto qpn = static_cast<uint16_t>(c.qpn);
  Qp& qp = qps_[qpn];
  if (qp.suspects.empty()) return;
  const std::string why = std::move(qp.suspects.front());
  qp.suspects.pop_front();
  if (c.status != spec::WcStatus::kSuccess) return;
  findings_.judged("receives done");
  if (!why.empty()) findings_.differ("a receive of QP {} is done before its data: {}", qpn, why);
}

// --- read for a response

/// Reads and lookups no longer pair up: rule c is not judged until payload reads are quiet.
void PayloadOrder::stop_pairing() {
  pairs_ = false;
  pieces_.clear();
  for (auto& [qpn, qp] : qps_) qp.dues.clear();
  findings_.judged("unsure");
}

/// A failed lookup has no read, so later lookups and reads no longer pair up. The failure of the QP
/// is reported later. If no QP fails, read `r` is for no segment to be sent.
void PayloadOrder::unexplained(const DmaRead& r) {
  const bool fails = failed_at_ && findings_.cycle() - *failed_at_ <= kResumeCycles;
  if (!fails)
    suspect_ = fmt::format(
        "{} bytes of payload are read from {:#x} in device cycle {}: no lookup explains them, and "
        "no QP failed",
        r.length, r.address, findings_.cycle());
  stop_pairing();
}

void PayloadOrder::pcie(const spec::PcieCfg& cfg) {
  if (cfg.bus_master == 0) failed_at_ = findings_.cycle();
  if (cfg.bus_master == 0 && !pieces_.empty()) stop_pairing();
}

void PayloadOrder::segment(const spec::DdpSegmentCommit& c) {
  if (c.nothing != 0) return;
  Qp& qp = qps_[c.qpn];
  qp.scheduled.push_back(c.source);
  if (c.source != spec::TxSource::kResp) return;
  qp.dues.push_back({.number = ++qp.due_count});
  if (qp.requests.empty() || qp.requests.front().size != 0) return;
  qp.dues.back().need = qp.requests.front().need;
  qp.requests.pop_front();
  qp.dues.back().found = true;  // no payload, no lookup
}

void PayloadOrder::ulpdu(const spec::DdpUlpduCommit& c) {
  Qp& qp = qps_[c.qpn];
  if (qp.scheduled.empty()) return;
  const spec::TxSource source = qp.scheduled.front();
  qp.scheduled.pop_front();
  if (source != spec::TxSource::kResp || qp.dues.empty()) return;
  const Due due = std::move(qp.dues.front());
  qp.dues.pop_front();
  if (due.is_unsure) return findings_.judged("unsure");
  if (due.need != 0) {
    const auto why = placements_.missing(c.qpn, due.need);
    findings_.judged(why && why->empty() ? "unsure" : "responses without payload");
    if (why && !why->empty() && !qp.has_failed)
      return findings_.differ(
          "a response without payload of QP {} leaves before what was judged before its request is "
          "placed: {}",
          c.qpn, *why);
  }
  if (!due.violation.empty()) findings_.differ("{}", due.violation);
}

void PayloadOrder::look_up(const spec::TptCheckCommit& c) {
  if (c.client != 1) return;  // tx
  const uint64_t now = findings_.cycle();
  if (!pairs_ && now > quiet_since_ + kResumeCycles) {
    if (suspect_) findings_.differ("{}", *suspect_);
    pairs_ = true;
  }
  quiet_since_ = now;
  if (!pairs_) return;
  // If the lookup is of a response, finds the scheduled segment that it belongs to.
  Piece piece{.left = c.length};
  for (auto& [qpn, qp] : qps_) {
    for (Due& due : qp.dues) {
      if (due.found) {
        const bool again = due.length != 0 && due.stag == c.stag && due.to == c.tagged_offset;
        due.is_unsure |= again;
        // The response may begin at either lookup. If their lengths differ, its end is unknown: no
        // later request of the QP is judged.
        if (again && due.length != c.length) qp.requests.clear();
        continue;
      }
      if (qp.requests.empty()) break;
      Request& r = qp.requests.front();
      if (c.last == 0 || r.stag != c.stag || r.to + r.begun != c.tagged_offset ||
          c.length > r.size - r.begun)
        break;
      due = {.number = due.number,
             .stag = c.stag,
             .to = c.tagged_offset,
             .length = c.length,
             .found = true};
      piece.is_response = true;
      piece.qpn = qpn;
      piece.due = due.number;
      piece.need = r.need;
      r.begun += c.length;
      if (r.begun == r.size) qp.requests.pop_front();
      break;
    }
    if (piece.is_response) break;
  }
  pieces_.push_back(piece);
}

void PayloadOrder::read(const DmaRead& r) {
  quiet_since_ = findings_.cycle();
  if (!pairs_) return;
  if (pieces_.empty() || r.length > pieces_.front().left) return unexplained(r);
  Piece& piece = pieces_.front();
  piece.left -= r.length;
  if (piece.is_response) {
    Qp& qp = qps_[piece.qpn];
    const auto why = placements_.missing(piece.qpn, piece.need);
    findings_.judged(why && why->empty() ? "unsure" : "response reads");
    if (why && !why->empty() && !qp.has_failed) {
      const auto due = std::find_if(qp.dues.begin(), qp.dues.end(),
                                    [&](const Due& d) { return d.number == piece.due; });
      if (due != qp.dues.end() && due->violation.empty())
        due->violation = fmt::format(
            "a response of QP {} reads {:#x} before what was judged before its request is "
            "placed: {}",
            piece.qpn, r.address, *why);
    }
  }
  if (piece.left == 0) pieces_.pop_front();
}

}  // namespace rnic::sim
