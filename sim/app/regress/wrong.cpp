// The planned errors: which side posts them, and their effects on both sides. See regress/host.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "core.hpp"  // of the driver: the address of the send queue
#include "gen/errors.hpp"
#include "gen/regs.hpp"
#include "regress/host.hpp"

namespace rnic::app::regress {

using namespace verbs;
using spec::Cause;

namespace {

// 2.1 times cpl_timeout, at 3.1 ns a cycle (322 MHz). Later than the time-out, which comes after 1
// to 1.5 times cpl_timeout, and before the device uses the tag again.
constexpr Time kLate = 2.1 * kCplTimeout * 3.1 * kNs;

struct OfFault {
  Cause cause;  // at the peer's device; of a local error, at the device of the posting side
  // Layer, type and code of the Terminate that the other side receives: 0x1102 is layer 1, type 1,
  // code 2. docs/gen/errors.md lists them by cause, with their meaning.
  uint16_t terminate;
  WcStatus offender;  // completion of the offending request
  WcStatus receive;   // completion of the first spare receive
};
OfFault of(Fault f) {
  constexpr auto kFlushed = IBV_WC_WR_FLUSH_ERR;
  switch (f) {
    case Fault::kWriteKey:
    case Fault::kWriteStale:
    case Fault::kWriteRights:
      return {Cause::kDdpTaggedStag, 0x1100, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteDomain:
      return {Cause::kDdpTaggedAssoc, 0x1102, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteBounds:
      return {Cause::kDdpTaggedBounds, 0x1101, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteWrap:
      return {Cause::kDdpTaggedWrap, 0x1103, IBV_WC_SUCCESS, kFlushed};
    case Fault::kReadKey:
      return {Cause::kRdmapStag, 0x0100, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadRights:
      return {Cause::kRdmapRights, 0x0102, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadDomain:
      return {Cause::kRdmapAssoc, 0x0103, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadBounds:
      return {Cause::kRdmapBounds, 0x0101, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadWrap:
      return {Cause::kRdmapWrap, 0x0104, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kNoReceive:
      return {Cause::kDdpUntaggedNoBuffer, 0x1202, IBV_WC_SUCCESS, kFlushed};
    case Fault::kTooLong:
      return {Cause::kDdpUntaggedTooLong, 0x1205, IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR};
    case Fault::kReceiveKey:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR};
    case Fault::kInvalidateKey:
      return {Cause::kRdmapInvStag, 0x0209, IBV_WC_SUCCESS, kFlushed};
    case Fault::kSourceRead:
      return {Cause::kRdmapLength, 0x0207, kFlushed, kFlushed};
    case Fault::kFlushKey:
      return {Cause::kRdmapStag, 0x0100, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kFlushRights:
      return {Cause::kRdmapRights, 0x0102, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kFlushDomain:
      return {Cause::kRdmapAssoc, 0x0103, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kFlushBounds:
      return {Cause::kRdmapBounds, 0x0101, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kFlushWrap:
      return {Cause::kRdmapWrap, 0x0104, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kFlushRead:
      return {Cause::kFlushFailed, 0x020a, IBV_WC_REM_OP_ERR, kFlushed};
    case Fault::kAtomicKey:
      return {Cause::kRdmapStag, 0x0100, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kAtomicRights:
      return {Cause::kRdmapRights, 0x0102, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kAtomicDomain:
      return {Cause::kRdmapAssoc, 0x0103, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kAtomicBounds:
      return {Cause::kRdmapBounds, 0x0101, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kAtomicWrap:
      return {Cause::kRdmapWrap, 0x0104, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kAtomicAligned:
    case Fault::kAtomicRead:
      return {Cause::kRdmapLength, 0x0207, IBV_WC_REM_OP_ERR, kFlushed};
    case Fault::kFlushOff:
    case Fault::kAtomicOff:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_LOC_QP_OP_ERR, kFlushed};
    case Fault::kPayloadRead:
    case Fault::kRequestRead:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_FATAL_ERR, kFlushed};
    case Fault::kLocalKey:
    case Fault::kLocalBounds:
    case Fault::kLocalDomain:
    case Fault::kLocalSink:
    case Fault::kAtomicSink:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_LOC_PROT_ERR, kFlushed};
    case Fault::kCqOverflow:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_SUCCESS, kFlushed};
  }
  return {};
}

std::optional<EventType> event_of(Cause cause) {
  for (const auto& row : spec::kCauses) {
    if (row.cause == cause && row.user_sees == "IBV_EVENT_QP_ACCESS_ERR")
      return IBV_EVENT_QP_ACCESS_ERR;
  }
  return IBV_EVENT_QP_FATAL;
}

sim::ReadFault bad_answer(Answer answer, uint64_t from, uint64_t bytes) {
  sim::ReadFault f{.nth = 1, .from = from, .to = from + bytes, .late = kLate};
  switch (answer) {
    case Answer::kUnsupported:
      f.status = spec::RdStatus::kUnsupported;
      break;
    case Answer::kAborted:
      f.status = spec::RdStatus::kAborted;
      break;
    case Answer::kPoisoned:
      f.status = spec::RdStatus::kPoisoned;
      break;
    case Answer::kShort:
      f.completions = sim::Completions::kShort;
      break;
    case Answer::kLong:
      f.completions = sim::Completions::kLong;
      break;
    case Answer::kLate:
      f.completions = sim::Completions::kLate;
      break;
    case Answer::kNever:
      f.completions = sim::Completions::kNever;
      break;
  }
  return f;
}

}  // namespace

// Makes the root complex answer the device's next read of this memory with Life::answer. `bus`: the
// bus address of its first byte.
void Host::spoil(const Lane& lane, uint64_t bus, uint64_t bytes) {
  shared_.spoil(side_, bad_answer(lane.life->answer, bus, bytes));
}

// Checks, at the end, the device's counters of bad completions for its reads. This device meets the
// bad reads that its own side posts if they are found locally, else those that the peer posts.
Result<void> Host::count_bad_reads() {
  uint64_t malformed = 0, timed_out = 0;
  bool any_late = false;
  for (uint32_t q = 0; q < plan_.qps; ++q) {
    const Life& l = plan_.life[q];
    if (!plan_.uses(q) || !l.meets_bad_read()) continue;
    if ((l.who == side_) != is_found_locally(l.fault)) continue;
    malformed += l.answer == Answer::kShort || l.answer == Answer::kLong ? 1 : 0;
    timed_out += l.answer == Answer::kLate || l.answer == Answer::kNever ? 1 : 0;
    any_late = any_late || l.answer == Answer::kLate;
  }
  const uint64_t is_malformed = dev_.read64(0, spec::kCplMalformedOffset),
                 is_timed_out = dev_.read64(0, spec::kCplTimedOutOffset),
                 unexpected = dev_.read64(0, spec::kCplUnexpectedOffset);
  if (is_malformed == malformed && is_timed_out == timed_out && (unexpected == 0 || any_late))
    return {};
  return fail(Errc::kProtocol,
              "completions of reads: {} malformed, should be {}; {} timed out, should be {}; {} "
              "unexpected{}",
              is_malformed, malformed, is_timed_out, timed_out, unexpected,
              any_late ? ", some come late" : ", should be 0");
}

Host::Expected Host::expected(const Lane& lane) const {
  const Life& life = *lane.life;
  if (life.closes()) return {};
  const bool is_mine = life.who == side_;
  if (life.end == End::kAbort) {
    if (is_mine) return {};
    return {static_cast<uint32_t>(Cause::kLlpLost), IBV_EVENT_QP_FATAL, 0};
  }
  const OfFault f = of(life.fault);
  if (is_found_locally(life.fault) == is_mine)
    return {static_cast<uint32_t>(f.cause), event_of(f.cause), 0};
  return {static_cast<uint32_t>(Cause::kPeerTerminate), IBV_EVENT_QP_FATAL, f.terminate};
}

// The status that the plan gives a request, or a receive. For a planned operation it is success;
// take_send() and take_receive() also accept a flush if is_cut().
WcStatus Host::status_of(const Lane& lane, Kind kind, bool receive) const {
  const Life& life = *lane.life;
  switch (kind) {
    case Kind::kPlanned:
    case Kind::kAging:
    case Kind::kInvalidation:
      return IBV_WC_SUCCESS;
    case Kind::kOffender:
      return of(life.fault).offender;
    case Kind::kOverflow:
      return IBV_WC_SUCCESS;
    case Kind::kBehind:
    case Kind::kLate:
      return IBV_WC_WR_FLUSH_ERR;
    case Kind::kSpare:
      break;
  }
  const bool is_first = receive && lane.received.front().id == kSpareId;
  return life.end == End::kFault && life.who != side_ && is_first ? of(life.fault).receive
                                                                  : IBV_WC_WR_FLUSH_ERR;
}

bool Host::is_cut(const Lane& lane, bool receives) const {
  if (!is_victim_of(lane)) return false;
  return lane.life->end == End::kAbort || (lane.life->who == side_) == receives;
}

// Posts requests that the driver must refuse without an effect: a Flush of a wrong type, a FetchAdd
// with a wrong sink, and both on a stream without Flush and atomics. Outside of RTS the driver
// accepts them on any stream (QpCore::put_send), hence the return.
Result<void> Host::refuse(Lane& lane) {
  if (lane.qp.core()->state != IBV_QPS_RTS) return {};
  const bool is_on = lane.life->has_flush();
  if (lane.connection.has_flush() != is_on)
    return fail(Errc::kProtocol, "qp {}: has_flush() is {}, both sides {} for it", lane.number,
                !is_on, is_on ? "ask" : "do not ask");
  const auto post = [&](uint8_t type) {
    return lane.qp.post_send({.wr_id = kOtherId + 60,
                              .opcode = IBV_WR_FLUSH,
                              .send_flags = IBV_SEND_SIGNALED,
                              .remote_addr = plan_.iova(peer_, lane.number),
                              .rkey = theirs(lane).landing,
                              .flush_length = 8,
                              .flush_type = type});
  };
  struct Wrong {
    uint8_t type;
    Errc code;
  };
  // Types of a Flush: bit 0 visible, bit 1 persistent. Type 0 requests nothing; 4 and 5 have an
  // unknown bit.
  std::vector<Wrong> wrong = {
      {0, Errc::kInvalidArgument}, {4, Errc::kInvalidArgument}, {5, Errc::kInvalidArgument}};
  if (!is_on) wrong.push_back({IBV_FLUSH_GLOBAL, Errc::kNotSupported});
  const uint32_t sink = plan_.landing_bytes[side_][lane.number] - kSinkFromEnd;
  // Sinks of a FetchAdd: not aligned; too short; inline; right, but the stream has no atomics.
  for (const auto& [at, bytes, flags, code] :
       {std::tuple{sink + 4, kWord, 0u, Errc::kInvalidArgument},
        {sink, kWord / 2, 0u, Errc::kInvalidArgument},
        {sink, kWord, uint32_t{IBV_SEND_INLINE}, Errc::kInvalidArgument},
        {sink, kWord, 0u, Errc::kNotSupported}}) {
    if (is_on && code == Errc::kNotSupported) continue;
    const Sge to = sge(lane, {at, bytes}, true, false);
    const auto r = lane.qp.post_send({.wr_id = kOtherId + 61,
                                      .sg_list = {&to, 1},
                                      .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                      .send_flags = IBV_SEND_SIGNALED | flags,
                                      .remote_addr = plan_.iova(peer_, lane.number),
                                      .rkey = theirs(lane).landing});
    if (r || r.error->code != code)
      return fail(Errc::kProtocol, "qp {}: post of a FetchAdd of {} bytes to {:#x}{}: {}",
                  lane.number, bytes, at, is_on ? "" : " on a stream without it",
                  r ? "accepted, should be refused" : r.error->what);
  }
  for (const Wrong& w : wrong) {
    const auto r = post(w.type);
    if (r || r.error->code != w.code)
      return fail(Errc::kProtocol, "qp {}: post of a Flush of type {}{}: {}, should be refused",
                  lane.number, w.type, is_on ? "" : " on a stream without it",
                  r ? "accepted" : r.error->what);
  }
  return {};
}

// Fills `wr` with an atomic request that would change its target if the peer executed it. With a
// wrong sink (kAtomicSink) the peer does execute it, so its operands leave the value unchanged.
// `which` chooses by the upper bits of Life::length; bit 0 chooses in post_wrong().
void Host::put_atomic(const Lane& lane, SendWr& wr, Sge& local) const {
  static constexpr uint64_t kValue = 0x1122334455667788;
  const Life& life = *lane.life;
  const bool only_fetches = life.fault == Fault::kAtomicRead || life.fault == Fault::kAtomicSink;
  const uint32_t which = life.length / 2 % (only_fetches ? 2 : 3);
  wr.opcode = which == 0   ? IBV_WR_ATOMIC_FETCH_AND_ADD
              : which == 1 ? IBV_WR_ATOMIC_CMP_AND_SWP
                           : IBV_WR_ATOMIC_WRITE;
  const uint32_t sink = plan_.landing_bytes[side_][lane.number] - kSinkFromEnd;
  local = sge(lane, {sink, kWord}, true, false);
  const bool changes = life.fault != Fault::kAtomicSink;
  wr.compare_add = changes ? kValue : 0;
  wr.swap = kValue;
  wr.compare_mask = 0;
  wr.swap_mask = changes ? ~uint64_t{0} : 0;
  if (wr.opcode != IBV_WR_ATOMIC_WRITE) return;
  wr.send_flags |= IBV_SEND_INLINE;
  local = {base::address_of(&kValue), kWord, 0};
}

// Posts the request that ends the life, and requests after it that must not be executed. The first
// of these is a Read, which waits for its response. The others retire after it, so none of them
// completes before the end is known.
Result<void> Host::post_wrong(Lane& lane) {
  const Life& life = *lane.life;
  const Published& other = theirs(lane);
  const uint64_t target = plan_.iova(peer_, lane.number),
                 target_end = target + plan_.landing_bytes[peer_][lane.number];
  const uint32_t sink = plan_.landing_bytes[side_][lane.number] - kSinkFromEnd;
  // Source bytes that no wrong request of another QP or side uses: one page each.
  const uint32_t own = (1 + lane.number * 2 + side_) * kPage;
  const uint32_t unread = plan_.landing_bytes[side_][lane.number] - kUnreadFromEnd;
  const bool is_read = (life.fault >= Fault::kReadKey && life.fault <= Fault::kReadWrap) ||
                       life.fault == Fault::kSourceRead;
  const bool is_flush = is_of_flush(life.fault) || life.fault == Fault::kFlushOff;
  const uint32_t length = is_of_atomic(life.fault) ? kWord
                          : is_read || life.fault == Fault::kLocalSink || life.meets_bad_read()
                              ? std::min(life.length, kUnreadFromEnd)
                              : life.length;
  Sge local = is_read || life.fault == Fault::kLocalSink ? sge(lane, {sink, length}, true, false)
                                                         : sge(lane, {own, length}, false, false);
  SendWr wr{.wr_id = kOtherId,
            .sg_list = {&local, 1},
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
            .remote_addr = target,
            .rkey = other.landing};
  if (is_read || life.fault == Fault::kLocalSink) wr.opcode = IBV_WR_RDMA_READ;
  if (is_flush) {
    wr.opcode = IBV_WR_FLUSH;
    wr.sg_list = {};
    wr.flush_length = length;
    wr.flush_type =
        life.persistent[peer_] ? IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT : IBV_FLUSH_GLOBAL;
  }
  // Chooses between two forms of an error. A wrong key: ^ 0x5a changes the key byte of the STag,
  // ^ 0x1000 the rest of it.
  const bool is_odd = life.length % 2 != 0;
  const bool is_atomic = is_of_atomic(life.fault) || life.fault == Fault::kAtomicOff;
  if (is_atomic) put_atomic(lane, wr, local);
  switch (life.fault) {
    case Fault::kWriteKey:
      wr.rkey = is_odd ? other.landing ^ 0x5a : other.landing ^ 0x1000;
      break;
    case Fault::kWriteStale:
      wr.rkey = other.stale, wr.remote_addr = kSmallIova;
      break;
    case Fault::kWriteRights:
      wr.rkey = other.source, wr.remote_addr = kSourceIova;
      break;
    case Fault::kWriteDomain:
      wr.rkey = other.foreign, wr.remote_addr = kSourceIova;
      break;
    case Fault::kFlushKey:
    case Fault::kAtomicKey:
      wr.rkey = is_odd ? other.landing ^ 0x5a : other.landing ^ 0x1000;
      break;
    case Fault::kFlushRights:
      if (is_odd && !life.persistent[peer_]) {  // the region permits only the visible Flush
        wr.flush_type = IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT;
      } else {
        wr.rkey = other.source, wr.remote_addr = kSourceIova;
      }
      break;
    case Fault::kFlushDomain:
    case Fault::kAtomicDomain:
      wr.rkey = other.foreign, wr.remote_addr = kSourceIova;
      break;
    case Fault::kFlushOff:
    case Fault::kAtomicOff:  // persist = 1: the driver accepts the request; the device must not
      lane.qp.core()->agreed.persist = 1;
      break;
    case Fault::kReadKey:
      wr.rkey = is_odd ? other.source ^ 0x5a : other.source ^ 0x1000, wr.remote_addr = kSourceIova;
      break;
    case Fault::kReadRights:
      wr.rkey = other.unreadable, wr.remote_addr = kSmallIova;
      break;
    case Fault::kReadDomain:
      wr.rkey = other.foreign, wr.remote_addr = kSourceIova;
      break;
    case Fault::kWriteBounds:
    case Fault::kReadBounds:
    case Fault::kFlushBounds:
    case Fault::kAtomicBounds:
      // Bytes up to one after the region's last, or from one before its first. If the address would
      // wrap, take the other form.
      wr.remote_addr =
          (is_odd || target == 0) && target_end != 0 && target_end + length > target_end
              ? target_end - length + 1
              : target - 1;
      break;
    case Fault::kWriteWrap:
    case Fault::kReadWrap:
    case Fault::kFlushWrap:
    case Fault::kAtomicWrap:  // the device checks the address before the alignment
      wr.remote_addr = -uint64_t{length} + 1;
      break;
    case Fault::kNoReceive:
    case Fault::kTooLong:
    case Fault::kReceiveKey:
      wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kInvalidateKey:  // an unknown STag, or the landing region's own: not bound
      wr.opcode = IBV_WR_SEND_WITH_INV;
      if (is_odd) wr.rkey ^= 0x1000;
      break;
    case Fault::kLocalKey:
      local.lkey ^= 0x5a;
      if (is_odd) wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kLocalBounds:
      local.addr = kSourceIova + kSourceBytes - length + 1;
      if (is_odd) wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kLocalDomain:
      local.lkey = domains_[(life.pd[side_] + 1) % domains_.size()].source.lkey();
      break;
    case Fault::kAtomicRights:  // `unreadable` permits Writes, `source` does not
      if (wr.opcode != IBV_WR_ATOMIC_WRITE && is_odd)
        wr.rkey = other.unreadable, wr.remote_addr = kSmallIova;
      else
        wr.rkey = other.source, wr.remote_addr = kSourceIova;
      break;
    case Fault::kAtomicAligned:
      wr.remote_addr = target_end - kSinkFromEnd + 1 + life.length % (kWord - 1);
      break;
    case Fault::kLocalSink:
    case Fault::kAtomicSink:
      local.lkey ^= 0x5a;
      break;
    case Fault::kPayloadRead:
      local = sge(lane, {unread, length}, true, false);
      spoil(lane, lane.landing.buffer.bus(lane.landing.at + unread), length);
      if (is_odd) wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kRequestRead: {
      const DmaBuffer& ring = lane.qp.core()->sq;
      spoil(lane, ring.bus(0), ring.size());
      break;
    }
    case Fault::kSourceRead:  // open_lane() of the peer has spoiled this memory
    case Fault::kFlushRead:
    case Fault::kAtomicRead:
      wr.remote_addr = target_end - kUnreadFromEnd;
      break;
    case Fault::kCqOverflow: {
      if (auto r = lane.own_cq.req_notify_cq(); !r)
        return r;  // the doorbell reports that the CQ is empty
      for (uint32_t k = 0; k < kOverflowSends; ++k) {
        if (auto r = post_one(lane, Kind::kOverflow,
                              {.wr_id = kOtherId + 100 + k,
                               .sg_list = {},
                               .opcode = IBV_WR_RDMA_WRITE,
                               .send_flags = IBV_SEND_SIGNALED,
                               .remote_addr = target,
                               .rkey = other.landing});
            !r)
          return r;
      }
      return {};
    }
  }
  if (auto r = post_one(lane, Kind::kOffender, wr); !r) return r;
  const Sge into = sge(lane, {sink, 8}, true, false),
            from = sge(lane, {own + kPage / 2, 8}, false, false);
  if (auto r = post_one(
          lane, Kind::kBehind,
          {.wr_id = kOtherId + 1,
           .sg_list = {&into, 1},
           .opcode = IBV_WR_RDMA_READ,
           .send_flags = IBV_SEND_SIGNALED | (is_of_atomic(life.fault) ? IBV_SEND_FENCE : 0u),
           .remote_addr = kSourceIova,
           .rkey = other.source});
      !r)
    return r;
  // The peer checks a Read, Flush or atomic when the response is due. It may place later Writes and
  // Sends before this check, so none are posted.
  if (is_read || needs_extensions(life.fault)) return {};
  if (auto r = post_one(lane, Kind::kBehind,
                        {.wr_id = kOtherId + 2,
                         .sg_list = {&from, 1},
                         .opcode = IBV_WR_RDMA_WRITE,
                         .send_flags = IBV_SEND_SIGNALED,
                         .remote_addr = target_end - kSinkFromEnd,
                         .rkey = other.landing});
      !r)
    return r;
  return post_one(lane, Kind::kBehind,
                  {.wr_id = kOtherId + 3,
                   .sg_list = {&from, 1},
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED});
}

}  // namespace rnic::app::regress
