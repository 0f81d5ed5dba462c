// A fake device that executes verbs with its `peer`: without protocol, time or faults. Two of them
// make a LoopWorld (loop_world.hpp).
//
// The code uses the numbers of verbs. Rights: 1 local write, 2 remote write, 4 remote read, 8
// remote atomic, 0 a local read. Flags of a WQE: 2 signaled, 4 solicited, 8 inline. QP state 1 is
// rts.
#pragma once

#include "support/pci_device_fake.hpp"

namespace rnic::tb {

class LoopDevice final : public PciDeviceFake {
 public:
  explicit LoopDevice(const spec::Sizes& sizes) : PciDeviceFake(sizes) { recording = false; }
  LoopDevice* peer = nullptr;
  // Changes a byte of the n-th message that is placed here and counts; 0: none.
  uint64_t damage_at = 0;
  uint64_t damage_length = 0;           // only messages of this length count; 0: all but empty ones
  uint64_t damage_byte = 0;             // index of the changed byte
  std::map<size_t, uint64_t> arrivals;  // messages placed here, by length
  uint64_t flushes = 0;                 // Flushes of this memory
  uint64_t fail_at = 0;                 // both QPs fail at the n-th message placed here; 0: never
  uint64_t endless = 0;                 // a Send of this length begins here and never ends; 0: none
  /// A shared receive queue. SRQs and QPs share one number space.
  struct FakeSrq {
    spec::AdminSrqArgs args{};
    uint16_t producer = 0, taken = 0;
    uint16_t limit = 0;  // 0: disarmed
    uint32_t uses = 0;   // QPs
    uint64_t doorbells = 0;
  };
  std::map<uint32_t, FakeSrq> srqs;
  uint64_t limit_events = 0;
  void reset() override {
    PciDeviceFake::reset();
    srqs.clear();
    owed_.clear();
  }
  // Checks the barriers before the doorbell of an SRQ, as PciDeviceFake does for the rings of the
  // manager.
  void before_shared() override {
    PciDeviceFake::before_shared();
    is_shared_seen_ = true;
  }
  void before_doorbell() override {
    PciDeviceFake::before_doorbell();
    is_rung_after_shared_ = std::exchange(is_shared_seen_, false);
  }
  void write64(unsigned bar, uint32_t offset, uint64_t value) override {
    PciDeviceFake::write64(bar, offset, value);
    is_shared_seen_ = is_rung_after_shared_ = false;
  }
  /// Executes a few WQEs: the progress of the device.
  void tick(unsigned budget = 3) {
    for (auto& [qpn, q] : qps)
      for (unsigned i = 0; i < budget && step(qpn, q); i++) continue;
    for (auto& [qpn, q] : qps) finish_close(qpn, q);
  }

 protected:
  spec::AdminRsp answer(const spec::AdminCmd& cmd) override;
  void doorbell(spec::DoorbellKind kind, uint32_t page, const spec::Doorbell& d) override {
    const bool is_queue = kind == spec::DoorbellKind::kSq || kind == spec::DoorbellKind::kRq;
    if (is_queue && srqs.contains(d.object)) return ring_srq(kind, page, d);
    const auto it = qps.find(d.object);
    if (kind == spec::DoorbellKind::kRq && it != qps.end() && it->second.args.has_srq != 0)
      violations.push_back(fmt::format("qp {} has an SRQ: doorbell of its RQ", d.object));
    PciDeviceFake::doorbell(kind, page, d);
    if (is_queue && it != qps.end() && it->second.status.state == spec::QpState::kError)
      flush(d.object, it->second);
    if (kind == spec::DoorbellKind::kCqArm) notify(d.object);
  }

 private:
  static constexpr uint64_t kRing = 64;
  static constexpr uint16_t kInvalidateRight = 0x400;
  // Bit 8 of rights is access_flush_global, which is bit 0 of a Flush's disposition.
  static constexpr unsigned kFlushRights = 8;
  std::map<uint16_t, uint16_t> far_;      // my connection -> the peer's
  uint64_t placed_ = 0, candidates_ = 0;  // messages placed here; those that count for damage_at
  std::map<uint32_t, bool> heard_;        // QPs that have received from the peer (hold_tx)
  std::map<uint32_t, std::vector<uint16_t>> owed_;  // by QP: SRQ tags of messages that never end
  // before_shared() was called, and neither before_doorbell() nor write64() since.
  bool is_shared_seen_ = false;
  // before_doorbell() was called after a before_shared(), and no write64() since.
  bool is_rung_after_shared_ = false;

  // A doorbell of an SRQ: announces its WQEs, or records a violation.
  void ring_srq(spec::DoorbellKind kind, uint32_t page, const spec::Doorbell& d) {
    FakeSrq& s = srqs.at(d.object);
    const auto index = static_cast<uint16_t>(d.index);
    const auto announced = static_cast<uint16_t>(s.producer - s.taken);
    const auto ahead = static_cast<uint16_t>(index - s.taken);
    if (kind != spec::DoorbellKind::kRq || page != s.args.page)
      violations.push_back(
          fmt::format("srq {}: a doorbell of its SQ, or of another page", d.object));
    else if (ahead < announced || ahead > 1u << s.args.log_size)
      violations.push_back(fmt::format("srq {}: doorbell {}, {} is announced, {} taken", d.object,
                                       index, s.producer, s.taken));
    else if (!is_rung_after_shared_)
      violations.push_back(
          fmt::format("srq {}: its index was read without before_shared", d.object));
    else
      s.producer = index;
    s.doorbells++;
  }
  // Whether create_srq refuses these arguments: all others must be 0.
  bool is_bad_srq(const spec::AdminSrqArgs& a) const {
    return a !=
               spec::AdminSrqArgs{
                   .pd = a.pd, .page = a.page, .base = a.base, .log_size = a.log_size} ||
           a.base % kRing != 0 || a.log_size < 2 || a.log_size > 15;
  }
  // The refusal of a command because of an SRQ, or kOk.
  spec::AdminStatus srq_status(const spec::AdminCmd& cmd) const;

  struct Taken {
    spec::RqWqe wqe{};
    uint16_t index = 0;  // with an SRQ: the tag
  };
  /// Uses up the next receive of a QP, from its own queue or its SRQ; none if it is empty.
  std::optional<Taken> take(FakeQp& q);

  // The peer's QP of this connection, and its number; null if there is none.
  FakeQp* far_qp(const FakeQp& q, uint32_t* number = nullptr) {
    const auto conn = far_.find(q.modify.connection);
    if (conn == far_.end()) return nullptr;
    for (auto& [n, p] : peer->qps)
      if (p.modify.connection == conn->second && p.status.state != spec::QpState::kIdle) {
        if (number != nullptr) *number = n;
        return &p;
      }
    return nullptr;
  }

  // Writes a CQE, and the event if the CQ is armed.
  void complete(uint32_t cqn, const spec::Cqe& c) {
    Ring& r = cqs.at(cqn);
    if (static_cast<uint16_t>(r.producer - consumer_[cqn]) >= (1u << r.log))
      violations.push_back(fmt::format("cq {} overruns", cqn));
    cqe(cqn, c);
    notify(cqn);
  }
  // Makes an event if the CQ is armed and has an entry that the driver has not consumed.
  void notify(uint32_t cqn) {
    Ring& r = cqs.at(cqn);
    if (!r.armed_solicited || static_cast<uint16_t>(r.producer) == consumer_[cqn]) return;
    r.armed_solicited.reset();
    eqe(r.eqn, spec::EqeType::kCompletion, cqn);
  }
  // Completes all posted WQEs as flushed, and the receives of messages that never end.
  void flush(uint32_t qpn, FakeQp& q) {
    if (q.sq_consumer != q.sq_producer)
      complete(q.args.send_cq,
               {.qpn = qpn, .index = q.sq_producer, .status = spec::WcStatus::kWrFlushErr});
    for (const uint16_t tag : std::exchange(owed_[qpn], {}))
      report(qpn, q, tag, spec::WcStatus::kWrFlushErr);
    if (q.rq_consumer != q.rq_producer)
      complete(q.args.recv_cq, {.qpn = qpn,
                                .index = q.rq_producer,
                                .status = spec::WcStatus::kWrFlushErr,
                                .is_recv = 1});
    q.sq_consumer = q.sq_producer;
    q.rq_consumer = q.rq_producer;
  }
  // The error of one receive of an SRQ.
  void report(uint32_t qpn, const FakeQp& q, uint16_t tag, spec::WcStatus status) {
    complete(q.args.recv_cq, {.qpn = qpn, .index = tag, .status = status, .is_recv = 1});
  }
  // Puts the QP into state error. With a cause its connection is reset.
  void stop(uint32_t qpn, FakeQp& q, spec::Cause cause) {
    q.status.state = spec::QpState::kError;
    q.status.cause = cause;
    q.status.drained = 1;
    flush(qpn, q);
    eqe(0, spec::EqeType::kQp, qpn);
    const auto c = conns.find(q.modify.connection);
    if (c == conns.end()) return;
    c->second.info.has_qp = 0;
    if (cause != spec::Cause::kNone) set_state(c->first, spec::ConnState::kReset);
  }
  // Stops the QP and its peer.
  void fail_both(uint32_t qpn, FakeQp& q, spec::Cause here, spec::Cause there) {
    uint32_t number = 0;
    if (FakeQp* p = far_qp(q, &number)) peer->stop(number, *p, there);
    stop(qpn, q, here);
  }
  // The byte at this TO of a region or window; null: no access with this right.
  uint8_t* byte(uint32_t stag, uint64_t to, uint16_t right) {
    const auto it = mrs.find(stag);
    if (it == mrs.end() || !it->second.is_open || (it->second.args.rights & right) != right)
      return nullptr;
    const auto& a = it->second.args;
    if (a.window != 0 && right <= 1) return nullptr;  // a window gives no local access
    if (to < a.base_to || to - a.base_to >= a.length) return nullptr;
    const uint64_t off = to - a.base_to + a.first_offset;
    const unsigned log_page = it->second.log_page;
    return at(it->second.pages.at(off >> log_page) + (off & ((uint64_t{1} << log_page) - 1)));
  }
  // Counts a message that is placed here. False: the message of fail_at, which must fail.
  bool placing(size_t length) {
    placed_++;
    arrivals[length]++;
    return placed_ != fail_at;
  }
  // Writes data; the message of damage_at gets one wrong byte. False: no access.
  bool put_bytes(uint32_t stag, uint64_t to, std::span<const uint8_t> data, uint16_t right) {
    const bool is_candidate = damage_length == 0 ? !data.empty() : data.size() == damage_length;
    const bool damaged = is_candidate && ++candidates_ == damage_at;
    for (size_t i = 0; i < data.size(); i++) {
      uint8_t* b = byte(stag, to + i, right);
      if (b == nullptr) return false;
      *b = damaged && i == damage_byte ? static_cast<uint8_t>(~data[i]) : data[i];
    }
    return true;
  }
  // Appends `count` bytes to `out`. False: no access.
  bool get_bytes(uint32_t stag, uint64_t to, size_t count, std::vector<uint8_t>& out,
                 uint16_t right) {
    for (size_t i = 0; i < count; i++) {
      const uint8_t* b = byte(stag, to + i, right);
      if (b == nullptr) return false;
      out.push_back(*b);
    }
    return true;
  }
  // The units of a WQE from a ring that may wrap.
  std::vector<uint8_t> wqe_bytes(uint64_t base, unsigned log, uint16_t index, uint32_t units) {
    std::vector<uint8_t> out;
    for (uint32_t u = 0; u < units; u++) {
      const uint8_t* p = at(base + ((index + u) & ((1u << log) - 1)) * kRing, kRing);
      out.insert(out.end(), p, p + kRing);
    }
    return out;
  }
  // Executes an atomic on the peer's memory and stores the old value at the sink (RFC 7306 5.1).
  // Only whole words: the programs use no masks. `agreed`: both sides allow atomics. False:
  // refused.
  bool atomic(spec::WrOpcode opcode, const spec::SqWqe& head, const spec::AtomicOperands& o,
              bool agreed) {
    constexpr uint16_t kRemoteAtomic = 8;
    std::vector<uint8_t> word;
    if (!agreed || head.remote_address % 8 != 0 ||
        !peer->get_bytes(head.rkey, head.remote_address, 8, word, kRemoteAtomic))
      return false;
    const auto old = base::load_le<uint64_t>(word.data());
    const bool adds = opcode == spec::WrOpcode::kAtomicFetchAndAdd;
    std::array<uint8_t, 8> bytes{};
    base::store_le(bytes.data(), adds ? old + o.data : o.data);
    if ((adds || old == o.compare) &&
        !peer->put_bytes(head.rkey, head.remote_address, bytes, kRemoteAtomic))
      return false;
    return put_bytes(o.sink.lkey, o.sink.address, word, 1);
  }
  /// Registers memory under a closed STag of alloc_mr, which gets the low 8 bits of `stag`. False:
  /// refused.
  bool open_mr(uint32_t stag, uint64_t base, const spec::RegOperands& o, const FakeQp& q) {
    const auto it = std::ranges::find_if(
        mrs, [&](const auto& mr) { return mr.second.args.fast != 0 && is_same(mr.first, stag); });
    if (q.args.privileged == 0 || it == mrs.end() || it->second.is_open) return false;
    FakeMr mr = it->second;
    mr.args.rights = o.rights;
    mr.args.base_to = base;
    mr.args.length = o.length;
    mr.args.first_offset = o.first_offset;
    if (o.pages > mr.args.pages) return false;
    mr.is_open = true;
    mr.pages.clear();
    for (uint32_t i = 0; i < o.pages; i++)
      mr.pages.push_back(base::load_le<uint64_t>(at(o.page_list + 8 * i, 8)));
    mr.log_page = o.log_page;
    mrs.erase(it);
    mrs[stag] = std::move(mr);
    return true;
  }
  /// Binds a window, which gets the low 8 bits of `stag`; length 0 unbinds it. False: refused.
  bool bind_window(uint32_t stag, uint64_t base, const spec::BindOperands& o, uint32_t qpn,
                   const FakeQp& q) {
    const auto it = std::ranges::find_if(
        mrs, [&](const auto& mr) { return mr.second.args.window != 0 && is_same(mr.first, stag); });
    if (it == mrs.end() || it->second.args.pd != q.args.pd) return false;
    FakeMr w = it->second;
    if (w.args.window == 2 && (w.is_open || o.length == 0)) return false;
    w.is_open = o.length != 0;
    if (w.is_open) {
      const auto region = mrs.find(o.lkey);
      if (region == mrs.end() || !region->second.is_open) return false;
      const FakeMr& r = region->second;
      const uint64_t from = o.address - r.args.base_to;
      constexpr uint16_t kBind = 0x10, kLocalWrite = 1, kWrites = 0xa;  // remote write, atomic
      if ((r.args.rights & kBind) == 0 || r.args.pd != q.args.pd || o.address < r.args.base_to ||
          o.length > r.args.length || from > r.args.length - o.length ||
          ((o.rights & kWrites) != 0 && (r.args.rights & kLocalWrite) == 0))
        return false;
      w.pages = r.pages;
      w.log_page = r.log_page;
      w.region = o.lkey;
      w.args.base_to = base;
      w.args.length = o.length;
      const uint64_t offset = r.args.first_offset + from;
      w.pages.erase(w.pages.begin(),
                    w.pages.begin() + static_cast<ptrdiff_t>(offset >> r.log_page));
      w.args.first_offset = static_cast<uint32_t>(offset & ((uint64_t{1} << r.log_page) - 1));
      w.args.rights = static_cast<uint16_t>(o.rights | (w.args.window == 2 ? kInvalidateRight : 0));
      w.args.qpn = static_cast<uint16_t>(qpn);
    }
    mrs.erase(it);
    mrs[stag] = std::move(w);
    return true;
  }
  /// Invalidates an STag. False: it is not open, lacks `right`, or has windows.
  bool close_mr(uint32_t stag, uint16_t right) {
    const auto it = mrs.find(stag);
    if (it == mrs.end() || !it->second.is_open || (it->second.args.rights & right) != right ||
        windows_of(stag) != 0)
      return false;
    it->second.is_open = false;
    return true;
  }

  bool step(uint32_t qpn, FakeQp& q);
  /// A Send arrives for this QP. False: it has no receive, or the receive's buffer is refused.
  bool deliver(uint32_t qpn, FakeQp& q, std::span<const uint8_t> data, bool solicited,
               std::optional<uint32_t> invalidated = {});
  void finish_close(uint32_t qpn, FakeQp& q);
};

// Executes one request of the send queue. Returns false if there is nothing to do, or if the
// request has failed and stopped the QP.
inline bool LoopDevice::step(uint32_t qpn, FakeQp& q) {
  const bool open =
      q.status.state == spec::QpState::kRts || q.status.state == spec::QpState::kClosing;
  if (!open || q.sq_consumer == q.sq_producer || (q.modify.hold_tx != 0 && !heard_[qpn]))
    return false;
  uint32_t far_number = 0;
  FakeQp* far = far_qp(q, &far_number);
  if (far == nullptr) return false;
  const auto first = wqe_bytes(q.args.sq_base, q.args.log_sq, q.sq_consumer, 1);
  const auto head = spec::SqWqe::unpack(first);
  const auto bytes = wqe_bytes(q.args.sq_base, q.args.log_sq, q.sq_consumer, head.units);
  const auto opcode = static_cast<spec::WrOpcode>(head.opcode);
  std::vector<uint8_t> data;
  bool good = true;
  std::vector<spec::WqeSge> sges;
  if ((head.flags & 8) != 0) {
    data.assign(bytes.begin() + 32, bytes.begin() + 32 + head.length);
  } else {
    for (uint32_t s = 0; s < head.num_sge; s++)
      sges.push_back(spec::WqeSge::unpack(std::span(bytes).subspan(32 + 16 * s)));
    if (opcode != spec::WrOpcode::kRdmaRead)
      for (const auto& s : sges) good = good && get_bytes(s.lkey, s.address, s.length, data, 0);
  }
  peer->heard_[far_number] = true;
  if (opcode == spec::WrOpcode::kFlush) {  // all is placed already: checks rights and bounds
    const auto rights = static_cast<uint16_t>(head.disposition << kFlushRights);
    const uint64_t last = head.remote_address + head.length - 1;
    good = q.modify.persist != 0 && rights != 0 &&
           (head.length == 0 || (peer->byte(head.rkey, head.remote_address, rights) != nullptr &&
                                 peer->byte(head.rkey, last, rights) != nullptr));
    peer->flushes++;
  } else if (opcode == spec::WrOpcode::kRegMr) {
    good = open_mr(head.rkey, head.remote_address, spec::RegOperands::unpack(data), q);
  } else if (opcode == spec::WrOpcode::kBindMw) {
    good = bind_window(head.rkey, head.remote_address, spec::BindOperands::unpack(data), qpn, q);
  } else if (opcode == spec::WrOpcode::kLocalInv) {
    good = close_mr(head.rkey, 0);
  } else if (opcode == spec::WrOpcode::kAtomicFetchAndAdd ||
             opcode == spec::WrOpcode::kAtomicCmpAndSwp) {
    good = peer->placing(head.length) &&
           atomic(opcode, head, spec::AtomicOperands::unpack(data), q.modify.persist != 0);
  } else {
    if (opcode == spec::WrOpcode::kAtomicWrite)
      good = q.modify.persist != 0 && data.size() == 8 && head.remote_address % 8 == 0;
    good = good && (opcode == spec::WrOpcode::kRdmaRead ? placing(head.length)
                                                        : peer->placing(data.size()));
  }
  if (good && (opcode == spec::WrOpcode::kRdmaWrite || opcode == spec::WrOpcode::kAtomicWrite))
    good = peer->put_bytes(head.rkey, head.remote_address, data, 2);
  if (good && opcode == spec::WrOpcode::kSend)
    good = peer->deliver(far_number, *far, data, (head.flags & 4) != 0);
  if (good && opcode == spec::WrOpcode::kSendWithInv)
    good = peer->close_mr(head.rkey, kInvalidateRight) &&
           peer->deliver(far_number, *far, data, (head.flags & 4) != 0, head.rkey);
  if (good && opcode == spec::WrOpcode::kRdmaRead) {
    good = peer->get_bytes(head.rkey, head.remote_address, head.length, data, 4);
    good = good && put_bytes(sges.at(0).lkey, sges.at(0).address, data, 1);
  }
  if (!good) {
    complete(q.args.send_cq,
             {.qpn = qpn, .index = q.sq_consumer, .status = spec::WcStatus::kRemAccessErr});
    q.sq_consumer = static_cast<uint16_t>(q.sq_consumer + head.units);
    fail_both(qpn, q, spec::Cause::kPeerTerminate, spec::Cause::kDdpTaggedStag);
    return false;
  }
  if ((head.flags & 2) != 0)
    complete(q.args.send_cq, {.qpn = qpn, .byte_len = head.length, .index = q.sq_consumer});
  q.sq_consumer = static_cast<uint16_t>(q.sq_consumer + head.units);
  return true;
}

inline bool LoopDevice::deliver(uint32_t qpn, FakeQp& q, std::span<const uint8_t> data,
                                bool solicited, std::optional<uint32_t> invalidated) {
  const auto taken = take(q);
  if (!taken) return false;  // RFC 5041: no buffer
  const bool is_shared = q.args.has_srq != 0;
  const auto length = static_cast<uint32_t>(data.size());
  if (is_shared && endless != 0 && length == endless) {
    owed_[qpn].push_back(taken->index);
    return true;
  }
  // A receive of an SRQ that meets an error is reported; one of the QP's own queue is flushed.
  const auto refused = [&](spec::WcStatus status) {
    if (is_shared) report(qpn, q, taken->index, status);
    return false;
  };
  for (const auto& s : {taken->wqe.sge0, taken->wqe.sge1, taken->wqe.sge2}) {
    const size_t part = std::min<size_t>(s.length, data.size());
    if (!put_bytes(s.lkey, s.address, data.first(part), 1))
      return refused(spec::WcStatus::kLocProtErr);
    data = data.subspan(part);
  }
  if (!data.empty()) return refused(spec::WcStatus::kLocLenErr);
  complete(q.args.recv_cq, {.qpn = qpn,
                            .opcode = spec::WcOpcode::kRecv,
                            .byte_len = length,
                            .index = taken->index,
                            .is_recv = 1,
                            .solicited = solicited,
                            .with_inv = invalidated.has_value(),
                            .immediate = invalidated.value_or(0)});
  if (!is_shared) q.rq_consumer++;
  return true;
}

inline std::optional<LoopDevice::Taken> LoopDevice::take(FakeQp& q) {
  if (q.args.has_srq == 0) {
    if (q.rq_consumer == q.rq_producer) return std::nullopt;
    return Taken{spec::RqWqe::unpack(wqe_bytes(q.args.rq_base, q.args.log_rq, q.rq_consumer, 1)),
                 q.rq_consumer};
  }
  FakeSrq& s = srqs.at(q.args.srq);
  if (s.taken == s.producer) return std::nullopt;
  const auto wqe = spec::RqWqe::unpack(wqe_bytes(s.args.base, s.args.log_size, s.taken, 1));
  s.taken++;
  if (s.limit != 0 && static_cast<uint16_t>(s.producer - s.taken) < s.limit) {
    s.limit = 0;
    limit_events++;
    eqe(0, spec::EqeType::kQp, q.args.srq);
  }
  return Taken{wqe, wqe.tag};
}

inline spec::AdminStatus LoopDevice::srq_status(const spec::AdminCmd& cmd) const {
  using Op = spec::AdminOpcode;
  using St = spec::AdminStatus;
  const auto op = static_cast<Op>(cmd.opcode);
  const bool is_srq = srqs.contains(cmd.object);
  switch (op) {
    case Op::kCreateSrq:
      if (is_srq || qps.contains(cmd.object)) return St::kExists;
      return is_bad_srq(args_of<spec::AdminSrqArgs>(cmd)) ? St::kBadArgument : St::kOk;
    case Op::kModifySrq:
      return is_srq ? St::kOk : St::kNotFound;
    case Op::kDestroySrq:
      if (!is_srq) return St::kNotFound;
      return srqs.at(cmd.object).uses != 0 ? St::kInUse : St::kOk;
    case Op::kCreateQp: {
      const auto a = args_of<spec::AdminQpArgs>(cmd);
      if (is_srq) return St::kExists;
      if (a.has_srq == 0) return a.srq != 0 ? St::kBadArgument : St::kOk;
      const auto s = srqs.find(a.srq);
      if (s == srqs.end()) return St::kNotFound;
      const bool is_bad = s->second.args.pd != a.pd || a.rq_base != 0 || a.log_rq != 0;
      return is_bad ? St::kBadArgument : St::kOk;
    }
    case Op::kModifyQp:
    case Op::kQueryQp:
    case Op::kDestroyQp:
      return is_srq ? St::kNotFound : St::kOk;
    default:
      return St::kOk;
  }
}

// When both sides are closing and have sent everything, both connections are closed.
inline void LoopDevice::finish_close(uint32_t qpn, FakeQp& q) {
  if (q.status.state != spec::QpState::kClosing || q.sq_consumer != q.sq_producer) return;
  uint32_t number = 0;
  FakeQp* far = far_qp(q, &number);
  if (far == nullptr || far->status.state != spec::QpState::kClosing ||
      far->sq_consumer != far->sq_producer)
    return;
  const uint16_t mine = q.modify.connection, theirs = far->modify.connection;
  peer->stop(number, *far, spec::Cause::kNone);
  stop(qpn, q, spec::Cause::kNone);
  peer->set_state(theirs, spec::ConnState::kClosed);
  set_state(mine, spec::ConnState::kClosed);
}

inline spec::AdminRsp LoopDevice::answer(const spec::AdminCmd& cmd) {
  const auto op = static_cast<spec::AdminOpcode>(cmd.opcode);
  const auto n = static_cast<uint16_t>(cmd.object);
  if (const auto status = srq_status(cmd); status != spec::AdminStatus::kOk) {
    spec::AdminRsp rsp;
    rsp.status = status;
    return rsp;
  }
  if (op == spec::AdminOpcode::kCreateSrq)
    srqs[cmd.object] = {.args = args_of<spec::AdminSrqArgs>(cmd)};
  if (op == spec::AdminOpcode::kModifySrq)
    srqs.at(cmd.object).limit = args_of<spec::AdminLimitArgs>(cmd).limit;
  if (op == spec::AdminOpcode::kDestroySrq) srqs.erase(cmd.object);
  if (op == spec::AdminOpcode::kCreateQp && args_of<spec::AdminQpArgs>(cmd).has_srq != 0)
    srqs.at(args_of<spec::AdminQpArgs>(cmd).srq).uses++;
  if (op == spec::AdminOpcode::kDestroyQp && qps.contains(cmd.object) &&
      qps.at(cmd.object).args.has_srq != 0)
    srqs.at(qps.at(cmd.object).args.srq).uses--;
  if (op == spec::AdminOpcode::kModifyQp && args_of<spec::AdminModifyArgs>(cmd).to_state != 1) {
    FakeQp& q = qps.at(cmd.object);
    spec::AdminRsp rsp;
    if (q.status.state != spec::QpState::kRts && q.status.state != spec::QpState::kClosing) {
      rsp.status = spec::AdminStatus::kBadState;
    } else if (args_of<spec::AdminModifyArgs>(cmd).to_state ==
               static_cast<uint8_t>(spec::QpState::kError)) {
      fail_both(cmd.object, q, spec::Cause::kNone, spec::Cause::kLlpLost);
      set_state(q.modify.connection, spec::ConnState::kReset);
    } else {
      q.status.state = spec::QpState::kClosing;
      peer->set_state(far_.at(q.modify.connection), spec::ConnState::kPeerClosed);
    }
    return rsp;
  }
  auto rsp = PciDeviceFake::answer(cmd);
  if (rsp.status != spec::AdminStatus::kOk) return rsp;
  if (op == spec::AdminOpcode::kConnConnect) {
    const uint16_t c = spec::AdminConnResult::unpack(rsp.result).connection;
    const auto& ports = peer->listening;
    const uint16_t port = conns[c].info.peer_port;
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) {
      set_state(c, spec::ConnState::kFailed);
    } else {
      far_[c] = peer->incoming(port, {});
      peer->far_[far_[c]] = c;
      set_state(c, spec::ConnState::kEstablished);
    }
  }
  if (op == spec::AdminOpcode::kConnSend || op == spec::AdminOpcode::kModifyQp) {
    const uint16_t c =
        op == spec::AdminOpcode::kConnSend ? n : args_of<spec::AdminModifyArgs>(cmd).connection;
    const auto out = std::exchange(conns[c].out, {});
    if (!out.empty()) peer->stream(far_.at(c), out);
  }
  if ((op == spec::AdminOpcode::kConnClose || op == spec::AdminOpcode::kConnAbort) &&
      far_.contains(n)) {
    if (peer->conns.contains(far_[n]))
      peer->set_state(far_[n], op == spec::AdminOpcode::kConnClose ? spec::ConnState::kPeerClosed
                                                                   : spec::ConnState::kReset);
  }
  return rsp;
}

}  // namespace rnic::tb
