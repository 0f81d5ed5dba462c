// Handles the completions of one thread, and compares memory with the plan. See regress/host.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "regress/host.hpp"

namespace rnic::app::regress {

using namespace verbs;

namespace {

WcOpcode completion_of(const Operation& o) {
  switch (o.op) {
    case Op::kWrite:
      return IBV_WC_RDMA_WRITE;
    case Op::kRead:
      return IBV_WC_RDMA_READ;
    case Op::kFlush:
      return IBV_WC_FLUSH;
    case Op::kFetchAdd:
      return IBV_WC_FETCH_ADD;
    case Op::kCmpSwap:
      return IBV_WC_COMP_SWAP;
    case Op::kAtomicWrite:
      return IBV_WC_ATOMIC_WRITE;
    case Op::kRegMr:
      return IBV_WC_REG_MR;
    case Op::kBindMw:
      return IBV_WC_BIND_MW;
    case Op::kLocalInv:
      return IBV_WC_LOCAL_INV;
    default:
      return IBV_WC_SEND;
  }
}

}  // namespace

// Every polled completion goes through the inbox of the thread that owns its QP: another thread may
// have polled an earlier completion from a shared CQ.
Result<size_t> Host::poll() {
  if (context_.core() == nullptr) {
    dev_.relax();
    return 0;
  }
  std::array<Wc, 16> wcs;
  bool is_emptied = true;
  const auto give = [&](Cq& cq) -> Result<void> {
    const auto n = cq.poll_cq(wcs);
    if (!n) return error_of(n);
    is_emptied = is_emptied && *n < wcs.size();
    for (const Wc& wc : std::span(wcs).first(*n)) {
      const auto owner = own_.owner.find(wc.qp_num);
      if (owner == own_.owner.end())
        return fail(Errc::kProtocol, "completion of QP {}, which does not exist", wc.qp_num);
      owner->second->inbox_.push_back(wc);
    }
    return {};
  };
  for (auto& pair : shape_.shared_cq ? own_.cqs : cqs_) {
    for (Cq& cq : pair) {
      if (cq.core() == nullptr) continue;
      if (auto r = give(cq); !r) return error_of(r);
    }
  }
  // A CQ that is to overflow is not polled from the end of the life until its error event. After
  // it, poll_cq() returns the entries, then an error.
  for (Lane& lane : lanes_) {
    if (lane.own_cq.core() == nullptr || (lane.phase == Phase::kDraining && !lane.cq_failed))
      continue;
    if (auto r = give(lane.own_cq); !r) {
      if (!lane.cq_failed) return error_of(r);
      lane.cq_emptied = true;
    }
  }
  size_t all = 0;
  for (; !inbox_.empty(); ++all) {
    const Wc wc = inbox_.front();
    inbox_.pop_front();
    if (auto r = take(wc); !r) return error_of(r);
  }
  emptied_ += is_emptied ? 1 : 0;
  return all;
}

Result<void> Host::take(const Wc& wc) {
  shared_.progress = dev_.now();
  for (Lane& lane : lanes_) {
    if (lane.phase == Phase::kWaiting || lane.phase == Phase::kOver ||
        lane.qp.qp_num() != wc.qp_num)
      continue;
    ++shared_.completions;
    return wc.opcode == IBV_WC_RECV || wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM
               ? take_receive(lane, wc)
               : take_send(lane, wc);
  }
  return fail(Errc::kProtocol, "completion of QP {}, which does not exist", wc.qp_num);
}

Result<void> Host::take_send(Lane& lane, const Wc& wc) {
  // Find the request that has completed. A success is of the first signalled request. An error may
  // also be of an unsignalled request before it. A flush is always of the oldest request.
  size_t next = 0;
  if (wc.status != IBV_WC_WR_FLUSH_ERR) {
    while (next < lane.sent.size() && !lane.sent[next].signaled &&
           (wc.status == IBV_WC_SUCCESS || lane.sent[next].id != wc.wr_id))
      ++next;
  }
  if (next >= lane.sent.size())
    return fail(
        Errc::kProtocol,
        "qp {}: completion {} of request {}, but none is outstanding that was to be signalled\n{}",
        lane.number, to_string(wc.status), wc.wr_id, standing());
  const Posted p = lane.sent[next];
  const std::string name = p.op != nullptr ? p.op->describe() : fmt::format("request {}", p.id);
  if (wc.wr_id != p.id)
    return fail(Errc::kProtocol, "qp {}: completion {} of request {} opcode {}, but the next is {}",
                lane.number, to_string(wc.status), wc.wr_id, static_cast<unsigned>(wc.opcode),
                name);
  // Requests that the end of the life may cut short: they succeed or are flushed.
  const bool may_flush =
      (p.kind == Kind::kPlanned || p.kind == Kind::kAging || p.kind == Kind::kInvalidation) &&
      is_cut(lane, false);
  const WcStatus want = status_of(lane, p.kind, false);
  const bool flushed_as_cut = wc.status == IBV_WC_WR_FLUSH_ERR && may_flush;
  if (wc.status == IBV_WC_SUCCESS ? lane.send_failed || want != IBV_WC_SUCCESS
                                  : wc.status != want && !flushed_as_cut) {
    return fail(Errc::kConnectionLost, "qp {}: completion {} (vendor {}) of {}{}\n{}", lane.number,
                to_string(wc.status), wc.vendor_err, name,
                lane.send_failed ? ", after one that has failed"
                                 : fmt::format(", should be {}", to_string(want)),
                standing());
  }
  if (wc.status != IBV_WC_SUCCESS) {
    lane.send_failed = true;
    lane.sent.pop_front();  // the unsignalled requests before it are complete
    for (size_t k = 0; k < next; ++k) lane.sent.pop_front();
    return {};
  }
  // The last message of a request with Immediate Data is that of 8 bytes.
  const uint32_t length = p.op == nullptr ? 0 : p.op->immediate ? kWord : p.op->length;
  // byte_len of a request without a message is not defined.
  if (p.op != nullptr &&
      (wc.opcode != completion_of(*p.op) || (wc.byte_len != length && !p.op->is_of_loan()))) {
    return fail(Errc::kProtocol,
                "qp {}: completion of request {} opcode {} byte_len {}, but the next is {}",
                lane.number, wc.wr_id, static_cast<unsigned>(wc.opcode), wc.byte_len, name);
  }
  if (p.kind == Kind::kInvalidation && wc.opcode != IBV_WC_LOCAL_INV)
    return fail(Errc::kProtocol, "qp {}: local invalidation {} completes with opcode {}",
                lane.number, wc.wr_id, static_cast<unsigned>(wc.opcode));
  for (size_t k = 0; k <= next; ++k) {
    const Posted done = lane.sent.front();
    lane.sent.pop_front();
    if (auto r = succeed(lane, done, wc); !r) return r;
  }
  return {};
}

Result<void> Host::succeed(Lane& lane, const Posted& p, const Wc&) {
  if (p.kind == Kind::kOverflow) ++lane.overflowed;
  if (p.op == nullptr) return {};
  ++lane.completed;
  if (p.op->opens()) mine(lane).opened = p.op->number;
  if (p.op->op == Op::kLocalInv) lane.loans.at(p.op->loan - 1).is_closing = false;
  if (auto r = ask(*p.op); !r) return r;
  if (p.op->op == Op::kFlush) return compare_flushed(lane, *p.op);
  if (!p.op->has_sink()) return {};
  return compare(lane, {p.op->local[0].offset, p.op->length}, *p.op, "at its completion");
}

// When a Flush completes, the peer's memory holds all that this QP sent before it. A Flush of
// length 0 guarantees only order. If the peer's region is gone, the peer has compared it.
Result<void> Host::compare_flushed(Lane& lane, const Operation& flush) {
  const auto is = theirs(lane).memory;
  if (flush.length == 0 || is.empty()) return {};
  const auto check = [&](const Operation& o, const Piece& p) -> Result<void> {
    const std::vector<uint8_t> want = planned(peer_, lane, p, is);
    const auto [a, b] = std::ranges::mismatch(is.subspan(p.offset, p.length), want);
    shared_.bytes_checked += p.length;
    if (a == is.subspan(p.offset, p.length).end()) return {};
    return fail(Errc::kProtocol,
                "{} has completed, but memory of {} qp {} at {:#x} is {:02x}, should be {:02x}: {}",
                flush.describe(), kSideNames[peer_], lane.number, a - is.begin(), *a, *b,
                o.describe());
  };
  for (; lane.sends[lane.flushed] != &flush; ++lane.flushed) {
    const Operation& o = *lane.sends[lane.flushed];
    if (o.op == Op::kWrite)
      if (auto r = check(o, {o.remote.offset, o.length}); !r) return r;
    // A receive of an SRQ is in another region, and is compared when it completes.
    for (const Piece& p : lane.life->shares[peer_] ? std::vector<Piece>{} : o.receive)
      if (auto r = check(o, p); !r) return r;
    if (o.is_word())
      if (auto r = compare_word(lane, o, "precedes a completed Flush"); !r) return r;
  }
  return {};
}

// Checks that the peer's word has the value that the operation left, or that of a later operation.
Result<void> Host::compare_word(const Lane& lane, const Operation& op, std::string_view when) {
  const auto memory = theirs(lane).memory;
  if (memory.empty()) return {};
  const auto is = base::load_le<uint64_t>(memory.data() + op.remote.offset);
  const auto& values = want_.words[peer_][lane.number].at(op.remote.offset);
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(want_.step.at(op.number));
  shared_.bytes_checked += kWord;
  if (std::find(from, values.end(), is) != values.end()) return {};
  return fail(Errc::kProtocol,
              "memory of {} qp {} at {:#x}: the word is {:#x}, should be {:#x} or later: {} {}",
              kSideNames[peer_], lane.number, op.remote.offset, is, *from, when, op.describe());
}

// The bytes that a piece of a landing region may hold before the end; a word may hold any of its
// values.
std::vector<uint8_t> Host::planned(Side side, const Lane& lane, const Piece& piece,
                                   std::span<const uint8_t> is) const {
  const auto want = std::span(want_.landing[side][lane.number]).subspan(piece.offset, piece.length);
  std::vector<uint8_t> bytes(want.begin(), want.end());
  const auto& words = want_.words[side][lane.number];
  for (auto w = words.lower_bound(piece.offset);
       w != words.end() && w->first + kWord <= piece.offset + piece.length; ++w) {
    const auto value = base::load_le<uint64_t>(is.data() + w->first);
    if (std::ranges::find(w->second, value) != w->second.end())
      base::store_le(bytes.data() + (w->first - piece.offset), value);
  }
  return bytes;
}

Result<void> Host::ask(const Operation& op) const {
  const std::string wrong = shared_.also ? shared_.also(op) : "";
  if (wrong.empty()) return {};
  return fail(Errc::kProtocol, "{}: {}", op.describe(), wrong);
}

// The byte count that a receive's completion reports. For Immediate Data it is the length of the
// last Write since the previous message on queue 0: the receiver cannot know whether Write and
// Immediate Data belong together.
uint32_t Host::received_length(const Lane& lane, const Operation& op) {
  if (!op.is_immediate_alone()) return op.length;
  uint32_t length = 0;
  for (const Operation* o : lane.incoming) {
    if (o == &op) break;
    if (o->op == Op::kWrite) length = o->length;
    if (o->takes_receive()) length = 0;
  }
  return length;
}

// Handles a received message; every Write before it has arrived, too.
Result<void> Host::take_receive(Lane& lane, const Wc& wc) {
  if (lane.life->shares[side_]) return take_shared(lane, wc);
  if (lane.received.empty())
    return fail(Errc::kProtocol, "qp {}: a receive completes ({} of {}), but none is posted",
                lane.number, to_string(wc.status), wc.wr_id);
  const Posted p = lane.received.front();
  const WcStatus want = status_of(lane, p.kind, true);
  const std::string name = p.op != nullptr ? p.op->describe() : fmt::format("receive {}", p.id);
  if (wc.wr_id != p.id)
    return fail(Errc::kProtocol, "qp {}: receive {} completes with {}, but the next is for {}",
                lane.number, wc.wr_id, to_string(wc.status), name);
  const bool flushed_as_cut =
      wc.status == IBV_WC_WR_FLUSH_ERR && p.kind == Kind::kPlanned && is_cut(lane, true);
  if (wc.status == IBV_WC_SUCCESS ? lane.receive_failed || want != IBV_WC_SUCCESS
                                  : wc.status != want && !flushed_as_cut) {
    return fail(Errc::kConnectionLost, "qp {}: receive completes with {} (vendor {}), for {}{}\n{}",
                lane.number, to_string(wc.status), wc.vendor_err, name,
                lane.receive_failed ? ", after one that has failed"
                                    : fmt::format(", should be {}", to_string(want)),
                standing());
  }
  lane.received.pop_front();
  lane.refill_at = dev_.now() + (1 + wc.wr_id % 3) * kUs;  // 1 to 3 us, if it has receives_late
  if (wc.status != IBV_WC_SUCCESS) {
    lane.receive_failed = true;
    return {};
  }
  return check_receive(lane, wc, *p.op);
}

// The completion of a receive that succeeded, and the memory that the peer has written before it.
Result<void> Host::check_receive(Lane& lane, const Wc& wc, const Operation& o) {
  ++lane.receives_done;
  lane.arrived = o.number;
  const auto opcode = o.immediate ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  if (wc.byte_len != received_length(lane, o) || wc.opcode != opcode)
    return fail(Errc::kProtocol, "qp {}: receive {} opcode {} of {} bytes, but the next is for {}",
                lane.number, wc.wr_id, static_cast<unsigned>(wc.opcode), wc.byte_len, o.describe());
  const bool has_immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  if (has_immediate != o.immediate || (o.immediate && wc.imm != o.data))
    return fail(Errc::kProtocol,
                "qp {}: receive {} {} Immediate Data {:#x}, but the next is for {}", lane.number,
                wc.wr_id, has_immediate ? "with" : "without", wc.imm, o.describe());
  const uint32_t gone = !o.invalidates() ? 0
                        : o.loan != 0    ? mine(lane).loans.at(o.loan - 1).key
                                         : mine(lane).keys.at(o.key - 1);
  const bool has_gone = (wc.wc_flags & IBV_WC_WITH_INV) != 0;
  if (has_gone != o.invalidates() || (has_gone && wc.invalidated_rkey != gone))
    return fail(Errc::kProtocol, "qp {}: receive {} invalidates {:#x}, should be {:#x}: {}",
                lane.number, wc.wr_id, has_gone ? wc.invalidated_rkey : 0, gone, o.describe());
  for (const Piece& piece : o.receive) {
    if (auto r = compare(lane, piece, o, "at its receive"); !r) return r;
  }
  const auto at = [&] { return lane.incoming[lane.checked_writes]; };
  for (bool is_last = false; !is_last; ++lane.checked_writes) {
    const Operation& w = *at();
    is_last = &w == &o;
    if (w.op != Op::kWrite) continue;
    if (auto r = compare(lane, {w.remote.offset, w.length}, w,
                         fmt::format("when the later #{} arrives", o.number));
        !r)
      return r;
  }
  return {};
}

// A piece that is the whole region is compared at the end, when each word must have its final
// value. Before the end a word may have any of its values: planned().
Result<void> Host::compare(const Lane& lane, const Piece& piece, const Operation& op,
                           std::string_view when) {
  const auto is = lane.landing.bytes().subspan(piece.offset, piece.length);
  const bool is_at_end = piece.length == lane.landing.size;
  const auto at_end =
      std::span(want_.landing[side_][lane.number]).subspan(piece.offset, piece.length);
  const std::vector<uint8_t> before =
      is_at_end ? std::vector<uint8_t>{} : planned(side_, lane, piece, lane.landing.bytes());
  const std::span<const uint8_t> expected = is_at_end ? at_end : std::span(before);
  shared_.bytes_checked += piece.length;
  const auto [a, b] = std::ranges::mismatch(is, expected);
  if (a == is.end()) return {};
  size_t wrong = 0;
  for (size_t i = 0; i < is.size(); ++i) wrong += is[i] != expected[i] ? 1 : 0;
  const auto at = static_cast<size_t>(a - is.begin());
  if (!shared_.wrong)
    shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + piece.offset + at)};
  return fail(Errc::kProtocol,
              "memory of {} qp {} at {:#x} (byte {} of a piece of {}): {:02x}, should be {:02x}; "
              "{} bytes differ; {} {}",
              kSideNames[side_], lane.number, piece.offset + at, at, piece.length, *a, *b, wrong,
              when, op.describe());
}

// Compares the landing region. If requests may have been cut short, each byte has its initial or
// its final value. A word has one of its values. If an earlier Write of the word was cut, each of
// its bytes has the initial value or that of the Write.
Result<void> Host::compare_all(const Lane& lane) {
  const Operation none;
  if (!is_victim_of(lane))
    return compare(lane, {0, static_cast<uint32_t>(lane.landing.size)}, none,
                   "at the end; no operation:");
  const auto is = lane.landing.bytes();
  const auto& want = want_.landing[side_][lane.number];
  const auto& start = shared_.start.landing[side_][lane.number];
  const auto& words = want_.words[side_][lane.number];
  for (size_t i = 0; i < is.size(); ++i) {
    if (const auto w = words.find(static_cast<uint32_t>(i)); w != words.end()) {
      const auto value = base::load_le<uint64_t>(&is[i]);
      std::array<uint8_t, kWord> first{};
      base::store_le(first.data(), w->second.front());
      bool is_known = std::ranges::find(w->second, value) != w->second.end();
      if (!is_known) {
        is_known = true;
        for (size_t k = 0; k < kWord; ++k)
          is_known = is_known && (is[i + k] == first[k] || is[i + k] == start[i + k]);
      }
      if (!is_known) {
        if (!shared_.wrong)
          shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + i)};
        return fail(Errc::kProtocol,
                    "memory of {} qp {} at {:#x}: the word is {:#x}, none of its {} planned values",
                    kSideNames[side_], lane.number, i, value, w->second.size());
      }
      i += kWord - 1;
      continue;
    }
    if (is[i] == want[i] || is[i] == start[i]) continue;
    if (!shared_.wrong) shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + i)};
    return fail(Errc::kProtocol,
                "memory of {} qp {} at {:#x}: {:02x}, should be {:02x}, or {:02x} as at first",
                kSideNames[side_], lane.number, i, is[i], want[i], start[i]);
  }
  return {};
}

// Queries the QP's context and the STag entry of the landing region, when the QP's requests have
// completed. In tandem, each response is compared with the model's.
Result<void> Host::look(const Lane& lane) {
  const auto qp = own_.manager->execute(dev_, spec::AdminOpcode::kQueryQp, lane.qp.qp_num());
  if (!qp) return error_of(qp);
  const auto state = spec::AdminQpResult::unpack(qp->result).state;
  if (state != spec::QpState::kRts && !theirs(lane).is_ending)
    return fail(Errc::kProtocol, "qp {}: query_qp says state {} before its end", lane.number,
                static_cast<unsigned>(state));
  const auto rsp = own_.manager->execute(dev_, spec::AdminOpcode::kQueryMr, lane.mr.lkey());
  if (!rsp) return error_of(rsp);
  const auto is = spec::AdminMrResult::unpack(rsp->result);
  if (is.stag == lane.mr.lkey() && is.length == lane.mr.length()) return {};
  return fail(Errc::kProtocol, "region {:#x} of {} bytes: query_mr says {:#x}, {} bytes",
              lane.mr.lkey(), lane.mr.length(), is.stag, is.length);
}

}  // namespace rnic::app::regress
