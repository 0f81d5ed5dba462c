// The times of host_if, and its arbiters of reads and writes.
#include "host_if/host_unit.hpp"

#include <algorithm>
#include <utility>

namespace rnic::model {

HostUnit::HostUnit(Units& u)
    : u_(u),
      mmio("mmio_req", u.sizes.fifo_depth),
      sq_rd_req("sq_rd_req", u.sizes.fifo_depth),
      rq_rd_req("rq_rd_req", u.sizes.fifo_depth),
      admin_rd_req("admin_rd_req", u.sizes.fifo_depth),
      qn1_rd_req("qn1_rd_req", u.sizes.num_qps),
      reg_rd_req("reg_rd_req", u.sizes.fifo_depth),
      payload_req("payload_req", 2 * u.sizes.fifo_depth),  // with tpt's FIFO of tx_xlate
      place("place", 2 * u.sizes.fifo_depth),  // with ddp's FIFO between header and verdict
      cq_wr("cq_wr", 2 * u.sizes.fifo_depth),  // with host_if_msix and host_if_wr behind the FIFO
      admin_wr("admin_wr", 1U << 11),
      word_wr("word_wr", u.sizes.num_qps + u.sizes.ord_slots),
      host_(u.sizes, *this, u.timing.clock.khz()),
      responses_("mmio_rsp", 1U << 10) {
  u.attach(mmio_, StageNo::kHostMmio);
  u.attach(rsp_, StageNo::kHostMmioRsp, true);
  u.attach(rd_, StageNo::kHostRd, true);
  u.attach(tags_, StageNo::kHostTags);
  u.attach(wr_, StageNo::kHostWr, true);
  mmio.feeds(mmio_);
  responses_.feeds(rsp_);
  for (auto* q : {&sq_rd_req, &rq_rd_req, &admin_rd_req, &qn1_rd_req, &reg_rd_req}) q->feeds(rd_);
  payload_req.feeds(rd_);
  place.feeds(wr_);
  cq_wr.feeds(wr_);
  admin_wr.feeds(wr_);
  word_wr.feeds(wr_);
}

// --- MMIO

void HostUnit::step_mmio() {
  while (mmio.ready()) {
    const MmioAccess m = mmio.pop();
    rd_meter_.item(1);
    host_.bar.write(m);
    if (m.is_write) continue;
    responses_.push({.value = host_.bar.read(m.bar, m.offset, m.bytes), .behind = accepted()},
                    u_.now() + u_.timing.host.mmio_read);
  }
  const Cycle now = u_.now(), tick = u_.timing.host.push_tick;
  if (now >= push_at_) {
    push_at_ = kNever;
    host_.bar.tick();
  }
  if (push_at_ == kNever && host_.bar.waiting()) mmio_.wake(push_at_ = (now / tick + 1) * tick);
}

/// Packets of each client that host_if has accepted since reset: sent, queued, and the one that is
/// being sent.
std::array<uint64_t, kWriters> HostUnit::accepted() const {
  const auto busy = [this](Writer w) { return host_.wr.busy(w) && !own_ ? 1U : 0U; };
  return {left_[0] + place.size() + busy(Writer::kPlace),
          left_[1] + cq_wr.size() + busy(Writer::kCq),
          left_[2] + admin_wr.size() + busy(Writer::kAdmin),
          left_[3] + word_wr.size() + busy(Writer::kWord)};
}

/// As host_if_order: a response follows all writes that were accepted before its read.
void HostUnit::step_rsp() {
  while (responses_.ready()) {
    const MmioRead& r = responses_.front();
    for (size_t w = 0; w < kWriters; ++w) {
      if (left_[w] < r.behind[w]) return;  // step_wr wakes this stage
    }
    u_.world.mmio_response(responses_.pop().value);
  }
}

// --- reads

void HostUnit::step_rd() {
  send_reads();
  while (!pieces_.empty() && in_free_ <= u_.now()) take(pieces_.pop());
  if (!pieces_.empty()) rd_.wake(in_free_);
}

void HostUnit::send_reads() {
  const Cycle now = u_.now();
  if (now < rd_free_) return rd_.wake(rd_free_);
  const std::array<std::pair<Reader, Queue<MemRead>*>, kReaders - 1> plain{
      {{Reader::kSq, &sq_rd_req},
       {Reader::kRq, &rq_rd_req},
       {Reader::kAdmin, &admin_rd_req},
       {Reader::kQn1, &qn1_rd_req},
       {Reader::kReg, &reg_rd_req}}};
  for (const auto& [r, q] : plain) {
    while (host_.rd.can_ask(r) && q->ready()) host_.rd.ask(r, q->pop());
  }
  while (host_.rd.can_ask(Reader::kPayload) && payload_req.ready()) host_.rd.ask(payload_req.pop());

  for (uint32_t i = 1; i <= kReaders; ++i) {
    const auto r = static_cast<Reader>((last_reader_ + i) % kReaders);
    if (!host_.rd.has_next(r)) continue;
    if (!u_.world.can_dma_read()) return rd_meter_.blocked(now);  // wake() resumes
    last_reader_ = static_cast<uint32_t>(r);
    rd_meter_.moved(now);
    rd_meter_.item(1);
    const ReadTlp tlp = host_.rd.next(r);
    rd_free_ = now + 1;
    if (tlp.read.length != 0) {
      u_.world.dma_read(tlp);
      watch_tags();
    } else {
      give(r, now);  // refused
    }
    if (!payload_req.empty() && host_.rd.can_ask(Reader::kPayload))
      rd_.wake(std::max(rd_free_, payload_req.visible_at()));
    for (const auto& [reader, q] : plain) {
      if (!q->empty() && host_.rd.can_ask(reader)) rd_.wake(std::max(rd_free_, q->visible_at()));
    }
    for (size_t next = 0; next < kReaders; ++next) {
      if (host_.rd.has_next(static_cast<Reader>(next))) return rd_.wake(rd_free_);
    }
    return;
  }
}

/// A completion waits at dma_rd_rsp until the earlier ones are accepted (enter()). Its tag returns
/// only after that, in take(), so the data in transit to a client never exceeds its tags.
void HostUnit::piece(ReadPiece arrival) {
  auto counts = host_.rd.arrived(std::move(arrival));
  if (counts) enter(std::move(*counts));
}

void HostUnit::enter(ReadPiece p) {
  if (pieces_.empty() && in_free_ <= u_.now()) return take(p);
  if (pieces_.empty()) rd_.wake(in_free_);
  pieces_.push(std::move(p));
}

void HostUnit::take(const ReadPiece& p) {
  in_free_ = u_.now() + u_.timing.path.beats(p.data.size());
  rd_meter_.busy(u_.timing.path.beats(p.data.size()));
  host_.rd.piece(p);
  if (!p.is_last) return;
  const Reader r = host_.rd.reader(p.tag);
  give(r, in_free_ - 1);
  if (host_.rd.has_next(r)) rd_.wake(u_.now() + 1);  // a tag is free again
}

/// host_if_tags: walks over the tags every half of cpl_timeout, while a tag is open or held.
void HostUnit::watch_tags() {
  if (tags_at_ != kNever || host_.cpl_timeout() == 0 || !host_.rd.watching()) return;
  const Cycle tick = std::max<Cycle>(host_.cpl_timeout() / 2, u_.sizes.rd_tags);
  tags_at_ = (u_.now() / tick + 1) * tick;
  tags_.wake(tags_at_);
}

void HostUnit::step_tags() {
  if (u_.now() < tags_at_ || tags_at_ == kNever) return;  // a wake-up of an earlier period
  tags_at_ = kNever;
  for (ReadPiece& p : host_.rd.walk()) enter(std::move(p));
  watch_tags();
  rd_.wake(u_.now() + 1);  // a tag may be free again
}

/// Delivers complete packets to a client, in its order. The last beat arrived in cycle whole_at.
void HostUnit::give(Reader r, Cycle whole_at) {
  while (host_.rd.whole(r)) {
    if (r == Reader::kPayload && payload_is_full()) return;
    PayloadData d = host_.rd.take(r);
    if (r != Reader::kPayload)  // a long payload is released while its later pieces arrive
      rd_meter_.busy(u_.timing.path.beats(d.data.size()));
    const HostTiming& t = u_.timing.host;
    const Cycle at = whole_at + t.rd_reorder + t.rd_release;
    const Cycle last = at + u_.timing.path.beats(d.data.size()) - 1;
    constexpr Cycle kAhead = 2;  // the header, before the first beat
    switch (r) {
      case Reader::kSq:
        u_.pass(Stream::kSqRdHdr, at - kAhead);
        sq_rd_o.push({d.hdr.status, std::move(d.data)}, last + u_.timing.qp.fetched);
        break;
      case Reader::kRq:
        rq_rd_o.push({d.hdr.status, std::move(d.data)}, last + u_.timing.qp.rq_fetched);
        break;
      case Reader::kAdmin:
        admin_rd_o.push({d.hdr.status, std::move(d.data)}, at + u_.timing.admin.fetched);
        break;
      case Reader::kPayload:
        u_.pass(Stream::kPayloadHdr, at - kAhead);
        payload_.push({at, u_.timing.path.beats(d.data.size())});
        payload_o.push(std::move(d), at);
        break;
      case Reader::kQn1:
        u_.pass(Stream::kQn1RdHdr, at);
        qn1_rd_o.push({d.hdr.status, std::move(d.data)}, at);
        break;
      case Reader::kReg:
        u_.pass(Stream::kRegRdHdr, at);
        reg_rd_o.push({d.hdr.status, std::move(d.data)}, at);
        break;
    }
    const bool waiting = !payload_req.empty() || !qn1_rd_req.empty() || !reg_rd_req.empty() ||
                         !sq_rd_req.empty() || !rq_rd_req.empty() || !admin_rd_req.empty();
    if (waiting) rd_.wake(u_.now() + 1);  // room for one more request
  }
}

constexpr Cycle kToBeat = 3;  // a whole packet to its first beat: host_if_release

/// Whether payload packets must wait for ddp. host_if_release has room for 4 beats, and u_verdicts
/// of host_if_gather for two whole packets. A packet behind these keeps its tags and its space.
bool HostUnit::payload_is_full() const {
  constexpr Cycle kPackets = 2, kBeats = 4;
  Cycle packets = 0, beats = 0;
  for (uint32_t i = 0; i < payload_.size() && payload_[i].at <= u_.now() + kToBeat; ++i) {
    ++packets;
    beats += payload_[i].beats;
    if (packets >= kPackets && beats >= kBeats) return true;
  }
  return false;
}

void HostUnit::payload_taken() {
  payload_.pop();
  const HostTiming& t = u_.timing.host;
  give(Reader::kPayload, u_.now() + kToBeat - t.rd_reorder - t.rd_release);
  if (host_.rd.has_next(Reader::kPayload)) rd_.wake(u_.now() + 1);
}

// --- writes

bool HostUnit::put_next(Writer w) {
  switch (w) {
    case Writer::kPlace:
      if (!place.ready()) return false;
      host_.wr.put(place.pop());
      return true;
    case Writer::kCq:
      if (interrupts_) {
        if (const auto msi = host_.wr.pending_interrupt()) {
          host_.wr.put(*msi);
          own_ = true;
          return true;
        }
        interrupts_ = false;
      }
      if (!cq_wr.ready()) return false;
      host_.wr.put(cq_wr.pop());
      return true;
    case Writer::kAdmin:
      if (!admin_wr.ready() || left_[static_cast<size_t>(Writer::kCq)] < admin_wr.front().behind)
        return false;
      host_.wr.put(admin_wr.pop().wr);
      return true;
    case Writer::kWord:
      if (!word_wr.ready()) return false;
      host_.wr.put(word_wr.pop());
      return true;
  }
  return false;
}

/// Sends one TLP. Packets of different clients do not interleave.
void HostUnit::step_wr() {
  const Cycle now = u_.now();
  if (now < wr_free_) return wr_.wake(wr_free_);
  for (uint32_t i = 1; !writing_ && i <= kWriters; ++i) {
    const auto w = static_cast<uint32_t>((last_writer_ + i) % kWriters);
    writing_ = put_next(static_cast<Writer>(w));
    if (writing_) last_writer_ = w;
  }
  if (!writing_) return;
  const auto w = static_cast<Writer>(last_writer_);
  if (!tlp_) tlp_ = host_.wr.next(w);
  if (tlp_) {
    // A TLP is visible on the bus with its last beat.
    const Cycle beats = u_.timing.path.beats(tlp_->data.size());
    if (now < wr_free_ + beats - 1) return wr_.wake(wr_free_ + beats - 1);
    if (!u_.world.can_dma_write()) return wr_meter_.blocked(now);  // wake() resumes
    wr_meter_.item(beats);
    u_.world.dma_write(std::move(*tlp_));
    tlp_.reset();
  }
  wr_meter_.moved(now);
  wr_free_ = now + 1;
  host_.wr.accepted(w);
  if (!host_.wr.busy(w)) {
    writing_ = false;
    if (!std::exchange(own_, false)) ++left_[last_writer_];
    if (!responses_.empty()) rsp_.wake(now + 1);
  }
  const Cycle next = std::min(
      {place.visible_at(), cq_wr.visible_at(), admin_wr.visible_at(), word_wr.visible_at()});
  if (writing_ || interrupts_) {
    wr_.wake(wr_free_);
  } else if (next != kNever) {
    wr_.wake(std::max(wr_free_, next));
  }
}

// --- to other units

void HostUnit::qp_doorbell(const spec::QpDoorbell& db) {
  u_.pass(Stream::kQpDoorbell, u_.now() - u_.timing.qp.doorbell);
  if (!qp_doorbell_o(db)) host_.bar.dropped();
}
void HostUnit::cq_doorbell(const spec::CqDoorbell& db) {
  if (!cq_doorbell_o(db)) host_.bar.dropped();
}
void HostUnit::eq_doorbell(const spec::EqDoorbell& db) { eq_doorbell_o(db); }
void HostUnit::admin_doorbell(const spec::AdminDoorbell& db) {
  admin_doorbell_o.push(db, u_.now() + u_.timing.admin.step);
}
void HostUnit::dev_cfg(const spec::DevCfg& cfg) {
  dev_cfg_admin_o(cfg);
  dev_cfg_tpt_o(cfg);
}
void HostUnit::place_done(const spec::PlaceDone& done) {
  place_done_o(done);
  if (host_.rd.has_next(Reader::kPayload))
    rd_.wake(u_.now() + 1);  // a read may have waited for this placement
  placed_o();
}
void HostUnit::word_done() {
  u_.pass(Stream::kWordDone, u_.now() + u_.timing.atomic.done);
  word_done_o();
}
void HostUnit::retired(const spec::Retired& r) { retired_o(r); }

/// Ready when ram_clear has cleared the tables of all units. Page lists are not cleared.
bool HostUnit::ready() const {
  return device_time() >=
         std::max({u_.sizes.num_stags, u_.sizes.num_qps, u_.sizes.num_cqs, u_.sizes.num_conns});
}
bool HostUnit::fatal() const { return admin_fatal_i(); }

spec::UnitCount HostUnit::unit_count(uint32_t unit) const {
  switch (unit) {
    case 0:
      return count();
    case 1:
      return count_admin_i();
    case 2:
      return count_qp_i();
    case 3:
      return count_tpt_i();
    case 4:
      return count_rdmap_i();
    case 5:
      return count_ddp_i();
    case 6:
      return count_mpa_i();
    case 7:
      return count_cq_i();
    case 8:
      return count_llp_if_i();
    default:
      return count_atomic_i();
  }
}

spec::UnitCount HostUnit::count() const {
  const auto &r = rd_meter_.count(), &w = wr_meter_.count();
  return {.items = r.items + w.items, .busy = r.busy + w.busy, .stalled = r.stalled + w.stalled};
}

std::string HostUnit::waiting_for() const {
  std::string s = host_.rd.waiting_for() + place.describe() + cq_wr.describe() +
                  admin_wr.describe() + word_wr.describe() + qn1_rd_req.describe() +
                  reg_rd_req.describe() + payload_req.describe() + sq_rd_req.describe() +
                  rq_rd_req.describe() + mmio.describe();
  if (writing_ && !u_.world.can_dma_write()) s += "host_if: waits for posted credit\n";
  if (!u_.world.can_dma_read()) s += "host_if: waits for non-posted credit\n";
  return s;
}

}  // namespace rnic::model
