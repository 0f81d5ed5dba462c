// The neighbours of ddp, as simple as the contract allows, and a memory whose bytes are computed.
//
// Receive: mpa puts a ULPDU (receive). For the first segment of a message on QN 0, ddp takes a
// receive WQE of qp (on_take). ddp has tpt check the segment's keys (on_rx_xlate), and shows the
// segment to rdmap, which returns a verdict (give_verdict). If the verdict says so, ddp writes the
// payload to host_if (join), and reports the message (rx_done) after place_done.
// Transmit: rdmap puts a message (send). For each segment, ddp wants a grant of llp_if (on_want),
// has tpt look up the payload (on_tx_xlate), requests it (answer_payload), and sends the ULPDU.
//
// tpt: an STag encodes the result of its check: the low 3 bits are the tpt_result (0: ok), bit 8 is
// the epoch. A TO has the bus address (STag << 32) + TO, with pages of 4 KiB. Memory: the byte at
// an address is byte_at(address); a read of a key with bit 15 (0x8000) fails. rdmap, qp and llp_if
// respond as the test has prepared: verdicts in order, receive WQEs per QP, MULPDU per QP.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "ddp/ddp_dut.hpp"

namespace rnic::tb {

using Bytes = std::vector<uint8_t>;

/// The byte of the memory at a bus address: a hash of the address.
inline uint8_t byte_at(uint64_t address) {
  return static_cast<uint8_t>((address * 0x9E3779B97F4A7C15ULL) >> 56);
}
inline uint64_t bus(uint32_t stag, uint64_t to) { return (uint64_t{stag} << 32) + to; }
inline spec::TptResult result_of(uint32_t stag) { return static_cast<spec::TptResult>(stag & 7); }

/// The extents of `length` bytes from a TO on, one for each 4 KiB page. `last` is 0 in all of them.
inline std::vector<spec::Extent> extents_of(uint32_t stag, uint64_t to, uint64_t length) {
  std::vector<spec::Extent> out;
  while (length != 0) {
    const uint64_t n = std::min<uint64_t>(length, 4096 - (bus(stag, to) & 4095));
    out.push_back({.address = bus(stag, to),
                   .length = static_cast<uint32_t>(n),
                   .result = spec::TptResult::kOk,
                   .epoch = static_cast<uint8_t>((stag >> 8) & 1),
                   .last = 0});
    to += n, length -= n;
  }
  return out;
}

inline Bytes random_bytes(base::Rng& rng, size_t n) {
  Bytes b(n);
  for (auto& x : b) x = static_cast<uint8_t>(rng.next());
  return b;
}

/// Appends a big-endian number of this many bytes; reads one from byte `at` on.
inline void put_be(Bytes& b, uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) b.push_back(static_cast<uint8_t>(value >> (8 * i)));
}
inline uint64_t get_be(const Bytes& b, size_t at, unsigned bytes) {
  uint64_t v = 0;
  for (unsigned i = 0; i < bytes; i++) v = v << 8 | b.at(at + i);
  return v;
}

/// ULPDUs, typed from RFC 5041 Figures 3 and 4: T, L and DV 1 in the first byte, RV 1 and the
/// opcode in the second. last: the bit L, set in the last segment of a message.
inline Bytes tagged(uint8_t opcode, bool last, uint32_t stag, uint64_t to, const Bytes& payload) {
  Bytes b{static_cast<uint8_t>(0x81 | (last ? 0x40 : 0)), static_cast<uint8_t>(0x40 | opcode)};
  put_be(b, stag, 4), put_be(b, to, 8);
  b.insert(b.end(), payload.begin(), payload.end());
  return b;
}
inline Bytes untagged(uint8_t opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
                      const Bytes& payload) {
  Bytes b{static_cast<uint8_t>(0x01 | (last ? 0x40 : 0)), static_cast<uint8_t>(0x40 | opcode)};
  put_be(b, 0, 4), put_be(b, qn, 4), put_be(b, msn, 4), put_be(b, mo, 4);
  b.insert(b.end(), payload.begin(), payload.end());
  return b;
}

/// A packet that was written to memory.
struct Placed {
  std::vector<spec::Extent> extents;
  Bytes bytes;
};

template <class D>
struct World {
  explicit World(D& d, Pace p) : dut(d) {
    dut.rx_xlate.on_item([this](const spec::RxXlate& x) { on_rx_xlate(x); });
    dut.tx_xlate.on_item([this](const spec::TxXlate& x) { on_tx_xlate(x); });
    dut.payload_req.on_item(
        [this](const spec::PayloadReq& r) { reqs.push_back(r), answer_payload(); });
    dut.rq_take_req.on_item([this](const spec::RqTakeReq& r) { on_take(r.qpn); });
    dut.rx_segment.on_item([this](const spec::RxSegment&) {
      if (!hold_verdicts) give_verdict();
    });
    dut.place_hdr.on_item(
        [this](const spec::PlaceHdr& h) { place_lengths.push_back(h.length), join(); });
    dut.place_extent.on_item([this](const spec::Extent& e) { on_place_extent(e); });
    dut.place.on_packet(
        [this](const Packet& packet) { byte_groups.push_back(packet.bytes), join(); });
    dut.rx_dropped.on_item([this](const spec::RxDropped& r) { dropped[r.epoch]++; });
    dut.tx_want.on_item([this](const spec::TxWant& w) { on_want(w); });
    dut.sq_slot_free.on_item([this](const spec::SqSlotFree& f) { sq_used[f.qpn]--; });
    dut.resp_slot_free.on_item([this](const spec::RespSlotFree& f) { resp_used[f.qpn]--; });
    dut.start(p);
  }

  /// persist: the RDMA extensions (Flush) are enabled on the QP's stream.
  void start_qp(uint16_t qpn, uint16_t pd = 7, bool persist = false) {
    control(spec::QpOp::kStart, qpn, pd, persist);
  }
  void control(spec::QpOp op, uint16_t qpn, uint16_t pd = 7, bool persist = false) {
    spec::QpCtlDdp c{};
    c.op = op, c.qpn = qpn, c.params.pd = pd, c.params.persist = persist ? 1 : 0;
    dut.qp_ctl.put(c);
    EXPECT_EQ(dut.qp_ack.take().qpn, qpn);
  }

  // --- receive
  /// mpa brings a ULPDU, or the error `cause` without bytes. `verdict` is rdmap's for this segment.
  void receive(uint16_t qpn, const Bytes& ulpdu, spec::RxVerdict verdict,
               spec::Cause cause = spec::Cause::kNone) {
    verdicts.push_back(verdict);
    dut.rx_ulpdu_hdr.put(
        {.qpn = qpn, .length = static_cast<uint16_t>(ulpdu.size()), .cause = cause});
    dut.rx_ulpdu.put_packet(cause == spec::Cause::kNone ? ulpdu : Bytes{});
  }
  void give_verdict() {
    ASSERT_FALSE(verdicts.empty()) << "a segment too many";
    dut.rx_verdict.put(verdicts.front());
    verdicts.pop_front();
  }
  void on_rx_xlate(const spec::RxXlate& x) {
    EXPECT_EQ(x.length == 0, x.invalidate != 0);
    rx_asked.push_back(x);
    rx_group.push_back(x);
    // The items of a segment: an STag to invalidate if there is one, then one piece for each SGE of
    // the receive WQE, at most 3.
    EXPECT_LE(rx_group.size(), 3U + rx_group.front().invalidate);
    if (x.last == 0) return;
    spec::TptResult r = spec::TptResult::kOk;
    bool of_inv = false;  // the STag to invalidate has failed
    for (const auto& p : rx_group) {
      if (r != spec::TptResult::kOk) break;
      r = result_of(p.stag);
      of_inv = r != spec::TptResult::kOk && p.invalidate != 0;
    }
    dut.rx_xlate_rsp.put({.result = r, .invalidate = of_inv});
    if (r == spec::TptResult::kOk) {
      std::vector<spec::Extent> all;
      for (const auto& p : rx_group)
        for (auto& e : extents_of(p.stag, p.tagged_offset, p.length)) all.push_back(e);
      if (!all.empty()) all.back().last = 1;
      for (auto& e : all) dut.rx_extent.put(e), given[e.epoch]++;
    }
    rx_group.clear();
  }
  // qp
  spec::RqTake take_result = spec::RqTake::kOk;  // result of a take that finds a WQE in `wqes`
  void on_take(uint16_t qpn) {
    auto& q = wqes[qpn];
    takes[qpn]++;
    const uint8_t is_shared = shared.contains(qpn);
    if (q.empty())
      return dut.rq_take_rsp.put({.result = spec::RqTake::kEmpty, .shared = is_shared, .wqe = {}});
    taken[qpn].push_back(q.front().index);
    dut.rq_take_rsp.put({.result = take_result, .shared = is_shared, .wqe = q.front()});
    q.pop_front();
  }
  void on_place_extent(const spec::Extent& e) {
    used[e.epoch]++;
    open_extents.push_back(e);
    if (e.last != 0) extent_groups.push_back(std::move(open_extents)), open_extents.clear();
    join();
  }
  void join() {  // a packet is placed when its length, extents and bytes have all arrived
    while (!place_lengths.empty() && !extent_groups.empty() && !byte_groups.empty()) {
      uint64_t sum = 0;
      for (const auto& e : extent_groups.front()) sum += e.length;
      EXPECT_EQ(place_lengths.front(), byte_groups.front().size());
      EXPECT_EQ(sum, byte_groups.front().size());
      placed.push_back({std::move(extent_groups.front()), std::move(byte_groups.front())});
      place_lengths.pop_front(), extent_groups.pop_front(), byte_groups.pop_front();
      place_count++;
      if (hold_places)
        held_places++;
      else
        dut.place_done.put({.count = place_count});
    }
  }
  /// Sends the place_done of the oldest packet for which hold_places has held it.
  void release_place() {
    dut.place_done.put({.count = static_cast<uint16_t>(place_count - --held_places)});
  }
  void release_places() {
    hold_places = false;
    while (held_places != 0) release_place();
  }
  /// Checks that every extent was placed (used) or dropped, and that no item is left.
  void check_extents() {
    for (int e = 0; e < 2; e++) EXPECT_EQ(given[e], used[e] + dropped[e]) << "epoch " << e;
    EXPECT_TRUE(verdicts.empty());
    EXPECT_TRUE(place_lengths.empty() && extent_groups.empty() && byte_groups.empty());
  }

  // --- transmit
  /// rdmap puts a message. Counts the slot that the message occupies in ddp.
  void send(const spec::TxMessageHdr& h, const Bytes& body) {
    if (h.source == spec::TxSource::kSq) sq_used[h.qpn]++;
    if (h.source == spec::TxSource::kResp) resp_used[h.qpn]++;
    dut.tx_message_hdr.put(h);
    dut.tx_message.put_packet(body);
  }
  void on_tx_xlate(const spec::TxXlate& x) {
    EXPECT_GT(x.length, 0U);
    tx_asked.push_back(x);
    tx_group.push_back(x);
    if (x.last == 0) return;
    tx_groups.push_back(std::move(tx_group));
    tx_group.clear();
    answer_payload();
  }
  spec::RdStatus read_status = spec::RdStatus::kPoisoned;  // of reads of a key with bit 15 set
  /// Responds to the next payload_req when the lookups of all its pieces have come.
  void answer_payload() {
    while (!tx_groups.empty() && reqs.size() > answered) {
      const spec::PayloadReq r = reqs[answered++];
      spec::PayloadHdr h{
          .length = r.length, .status = spec::RdStatus::kOk, .result = spec::TptResult::kOk};
      Bytes data;
      for (const auto& p : tx_groups.front()) {
        if (h.result == spec::TptResult::kOk) h.result = result_of(p.stag);
        if ((p.stag & 0x8000) != 0) h.status = read_status;
        for (const auto& e : extents_of(p.stag, p.tagged_offset, p.length))
          for (uint64_t i = 0; i < e.length; i++) data.push_back(byte_at(e.address + i));
      }
      tx_groups.pop_front();
      EXPECT_EQ(data.size(), r.length);
      if (h.result != spec::TptResult::kOk || h.status != spec::RdStatus::kOk) data.clear();
      dut.payload_hdr.put(h);
      dut.payload.put_packet(data);
    }
  }
  /// Grants the want at once, unless hold_grants. ddp may have one want of a QP outstanding, and
  /// one for its Terminate.
  void on_want(const spec::TxWant& w) {
    wants++;
    auto& open = w.is_term != 0 ? term_wanted[w.qpn] : wanted[w.qpn];
    EXPECT_FALSE(open) << "a second want of QP " << w.qpn;
    open = true;
    if (hold_grants)
      held_wants.push_back(w);
    else
      grant(w);
  }
  void grant(const spec::TxWant& w) {
    (w.is_term != 0 ? term_wanted[w.qpn] : wanted[w.qpn]) = false;
    const auto m = mulpdu.find(w.qpn);
    dut.tx_grant.put({.qpn = w.qpn,
                      .is_term = w.is_term,
                      .mulpdu = m == mulpdu.end() ? uint16_t{1460} : m->second});
  }
  void release_grants() {
    hold_grants = false;
    for (const auto& w : held_wants) grant(w);
    held_wants.clear();
  }

  D& dut;
  std::deque<spec::RxVerdict> verdicts;  // of the next segments, in order
  bool hold_verdicts = false, hold_places = false, hold_grants = false;
  // rx_asked, tx_asked: all lookups. rx_group, tx_group: those of a segment, until its last comes.
  std::vector<spec::RxXlate> rx_asked, rx_group, tx_asked, tx_group;
  std::map<uint16_t, std::deque<spec::RecvWqe>> wqes;  // by QP: receive WQEs that ddp may take
  std::set<uint16_t> shared;                           // QPs that take from an SRQ
  std::map<uint16_t, std::vector<uint16_t>> taken;     // by QP: index (tag) of each WQE taken
  // By QP: takes, and messages of the send queue and of the responder that occupy a slot in ddp.
  std::map<uint16_t, unsigned> takes, sq_used, resp_used;
  // extents by epoch: issued by tpt, placed, dropped
  std::array<uint64_t, 2> given{}, used{}, dropped{};
  std::deque<uint32_t> place_lengths;
  std::vector<spec::Extent> open_extents;
  std::deque<std::vector<spec::Extent>> extent_groups;
  std::deque<Bytes> byte_groups;
  std::deque<Placed> placed;
  // place_count: packets placed since start. held_places: those whose place_done is held.
  uint16_t place_count = 0, held_places = 0;
  std::deque<std::vector<spec::TxXlate>> tx_groups;
  std::vector<spec::PayloadReq> reqs;
  size_t answered = 0;
  // by QP: a want is outstanding
  std::map<uint16_t, bool> wanted, term_wanted;
  std::map<uint16_t, uint16_t> mulpdu;  // by QP; 1460 if absent
  std::vector<spec::TxWant> held_wants;
  uint64_t wants = 0;
};

}  // namespace rnic::tb
