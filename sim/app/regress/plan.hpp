// A random host program as plain data: settings, threads, queue pairs with their ends, operations,
// and the memory that both hosts must hold at the end. The seed determines all of it, without the
// driver or the device.
//
//   Plan p = generate(7, 250, {.minimum = false});   // the same seed gives the same plan
//   p.keep({3, 17});  p.simplify("mtu");             // shrinking calls these
//   Memory want = reference(p);                      // want.landing[kServer][qp]
//
// A QP of the plan is one life: its regions, QP and connection are made, used, and ended as its
// Life describes. A life may follow another in the same slot: it is made when the previous one has
// been destroyed, while the other slots run. Each slot belongs to one thread per side.
//
// Memory of a side: one `source` region, never written, and a `landing` region per QP.
// - All regions of a side have pages of one size. If that is not 4 KiB, each region begins a
//   multiple of 4 KiB before the end of its first page, so it reaches into a second page. Only a
//   landing region in persistent memory begins at the start of a page.
// - Each operation that writes has a separate part of a landing region, so the final memory does
//   not depend on timing.
// - An operation reads from `source`, or from bytes that an earlier operation of the same QP wrote:
//   the sink of a Read or atomic (with a fence between them), or the target of a Write (a Read is
//   ordered after the Writes before it).
// - A request may use a bound STag of the landing region in place of the region's own. The Send
//   that invalidates it comes after all requests that use it.
// - A loan is an STag that its owner opens through the send queue for a range of the landing
//   region: a fast registration (reg_mr) or a memory window of type 1 or 2 (bind_mw). The peer's
//   requests may then use it, or (fast) the sinks of the owner's own Reads and atomics. It ends
//   by a Send with Invalidate, or by a fenced Send that returns it, after which the owner posts
//   local_inv. Then it may be opened again. A window of type 1 is always returned; then it is
//   bound again at once, or unbound.
// - A QP's side may take its receives from the SRQ of its domain and thread. The host compares the
//   receive that a message took, and copies the message to the part of the landing region that is
//   planned for it.
// - A Flush changes no memory; its range may be any bytes of the peer's landing region. When it
//   completes, the peer's memory holds all that its QP sent before it.
// - FetchAdd, CmpSwap and Atomic Write change words: aligned 8 bytes of the peer's landing region
//   that no other QP accesses. A word is either outside of all other operations, or inside the
//   target of an earlier Write of the same QP and side.
// - Requests on QN 1 execute in order. The plan therefore determines each old value, each Read of a
//   word, and the final word.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "settings/config.hpp"

namespace rnic::app::regress {

inline constexpr uint32_t kMaxQps = 32, kMaxThreads = 4, kMaxPds = 2;
inline constexpr uint32_t kPage = 4096, kBeat = 64, kSourceBytes = 80 * kPage;
// Areas in the last page of a landing region, as offsets from its end: closing Sends, spare
// receives, sinks of requests after an error and of bad requests, and memory whose read fails.
inline constexpr uint32_t kClosingFromEnd = kPage / 2, kSpareFromEnd = kPage / 4,
                          kSinkFromEnd = kPage / 8, kUnreadFromEnd = kSinkFromEnd / 2;
// Spare receives of a life: bytes of each, distance between two, and the most on one side.
inline constexpr uint32_t kSpareBytes = 48, kSpareStep = 64, kMaxSpare = 3;
// An aged life tests the wrap of a send queue's 16-bit index. The index cannot be set. So the life
// first posts kAge empty Writes of kAgeUnits units each, at most kAgeBatch at a time, until the
// index is 65520. Plans whose seed modulo kAgedPlans is 5 have an aged life.
inline constexpr uint32_t kAgeUnits = 4, kAge = (65536 - 16) / kAgeUnits, kAgeBatch = 8,
                          kAgedPlans = 40;
// A CQ that is to overflow: requested entries, which also limit the outstanding sends before the
// error; entries that the driver allocates; requests whose completions are not polled.
inline constexpr uint32_t kOverflowCqe = 8, kOverflowRing = 2 * kOverflowCqe, kOverflowSends = 40;
// The least `llp_window_bytes`. The LLP raises each window to one maximum segment + `term_credit`
// (128 bytes). A grant needs credit for a worst-case FPDU, so even short FPDUs leave one at a time.
inline constexpr uint32_t kOneFpduWindow = 1024;
inline constexpr uint32_t kTagged = 14, kUntagged = 18;  // bytes of a DDP header

// A QP that takes its receives from a shared receive queue (SRQ). Its credit is the number of
// messages of its peer that may be in flight: at most kMostCredit. The longest of them has
// kMostShared bytes. Both are smaller in a minimum build, which has few page-list entries.
inline constexpr uint32_t kMostCredit = 8, kMostCreditMinimum = 3, kMostShared = 32 * 1024,
                          kMostSharedMinimum = kPage;
// Receives that an SRQ has in addition to the credit of each QP: Sends after an error may take
// them.
inline constexpr uint32_t kSharedExtra = 2;

enum class Op : uint8_t {
  kSend,
  kSendSolicited,
  kWrite,
  kRead,
  kFlush,
  kFetchAdd,
  kCmpSwap,
  kAtomicWrite,
  // These three open or close a loan: an STag of the poster's own landing region.
  kRegMr,
  kBindMw,
  kLocalInv
};
inline constexpr uint32_t kWord = 8;           // bytes of an atomic or Atomic Write
inline constexpr uint32_t kAtomicInline = 48;  // bytes of a WQE for an atomic's operands
// Loans (STags) of a landing region: at most kMostLoans, or kMostLoansMinimum in a minimum build.
// In a minimum build the range of a loan has at most kLoanPagesMinimum pages.
inline constexpr uint32_t kMostLoans = 2, kMostLoansMinimum = 2, kLoanPagesMinimum = 12;
// Bound STags of a landing region: at most kMostKeys, or kMostKeysMinimum in a minimum build, which
// has few page-list entries.
inline constexpr uint32_t kMostKeys = 6, kMostKeysMinimum = 1;
// The length of an operation in bytes. kMulpdu: the payload of one full FPDU (full_payload());
// kMulpdu1: one byte more; k4K: 4095 to 4097; kTo64K: up to 65536; kLarge: more.
enum class SizeClass : uint8_t {
  k0,
  k1,
  k2To63,
  k64,
  k65ToMulpdu,
  kMulpdu,
  kMulpdu1,
  k4K,
  kTo64K,
  kLarge
};
enum class SgeClass : uint8_t { k1, k2To3, k4To7, k8To13, k14 };
enum class Crossing : uint8_t {
  kInside,
  kTouches,
  kCrosses
};  // the first piece: lies inside a page, touches a page border, or crosses one
inline constexpr std::array kOpNames = {"send",   "send_solicited", "write",    "read",
                                        "flush",  "fetch_add",      "cmp_swap", "atomic_write",
                                        "reg_mr", "bind_mw",        "local_inv"};
// The number of operations before those of loans.
inline constexpr size_t kDataOps = static_cast<size_t>(Op::kRegMr);
// Bits of Operation::flush_type, which indexes kFlushTypeNames.
inline constexpr uint8_t kVisible = 1, kDurable = 2;
inline constexpr std::array kFlushTypeNames = {"none", "visible", "durable", "both"};
inline constexpr std::array kSizeNames = {"0",      "1",        "2-63",  "64",   "65-",
                                          "MULPDU", "MULPDU+1", "4K+-1", "-64K", "large"};
inline constexpr std::array kSgeNames = {"1", "2-3", "4-7", "8-13", "14"};
inline constexpr std::array kCrossingNames = {"inside", "touches", "crosses"};

struct Piece {
  uint32_t offset = 0, length = 0;
};

struct Operation {
  uint32_t number = 0;  // its position in the generated plan; shrinking does not renumber
  Side side = kClient;  // the side that posts it
  uint32_t qp = 0;
  Op op = Op::kSend;
  SizeClass size_class = SizeClass::k0;
  uint32_t length = 0;
  std::vector<Piece> local;    // gathered pieces; of a Read or atomic, its sink
  bool local_landing = false;  // `local` lies in its own landing region
  // Write: target in the peer's landing region; Read: source; Flush: range.
  Piece remote;
  bool remote_landing = false;
  // Send: pieces of the receive that it consumes, with room for `length` or more. With Immediate
  // Data, a receive of any room.
  std::vector<Piece> receive;
  uint8_t flush_type = 0;  // Flush: verbs' PlacementType
  // `data` is, of
  // - a FetchAdd or CmpSwap: the value that is added or swapped in, under `mask`;
  // - an Atomic Write: the value that is stored;
  // - a request with Immediate Data (`immediate`): the 8 bytes;
  // - a reg_mr or bind_mw: random bits, which choose its key and more (see `range`).
  uint64_t data = 0, mask = 0, compare_mask = ~uint64_t{0};
  // Carries Immediate Data, `data`. A Send with it is only Immediate Data, without payload; a Write
  // is followed by it. Each consumes a receive of the peer, and does not write its buffers.
  bool immediate = false;
  // Bound STags of landing regions, counted from 1; 0: the STag of the region itself. `key` is of
  // the peer's region: a request uses it, a Send invalidates it. `sink_key` is the STag of a Read's
  // sink; a fenced local invalidation of it follows the Read.
  uint32_t key = 0, sink_key = 0;
  // Loans, counted from 1; 0: none. `loan` is the loan of the peer's region that a request uses, or
  // that a Send invalidates or (`returns`) gives back. Of reg_mr, bind_mw and local_inv, `loan` is
  // the poster's own. `sink_loan`: the poster's own loan through which a Read or atomic writes its
  // sink.
  uint32_t loan = 0, sink_loan = 0;
  bool returns = false;
  // Of reg_mr and bind_mw. `range`: the bytes of the landing region. `is_own`: the loan is for the
  // own requests. `data`: the key's low byte advances by 1 + data % 255. Bit 8 chooses: of reg_mr
  // the page size (0: 4 KiB, 1: that of the buffer); of bind_mw the TO of the window's first byte
  // (0: as in the region, 1: zero).
  Piece range;
  bool is_own = false;
  bool unbinds = false;  // bind_mw of type 1: without bytes
  // The peer's operation that must complete before this one is posted: the reg_mr or bind_mw of a
  // loan before its use, the Send that ends a loan before the next operation on it. mend() sets it.
  uint32_t after = 0;
  bool masked = false;  // `mask` and `compare_mask` differ from those of the plain operation
  // CmpSwap: reference() chooses an operand that matches (else one that does not).
  bool matches = false;
  bool of_write = false;  // an earlier Write has written the word
  bool of_word = false;   // Read: of a word or a part of it
  bool is_inline = false, signaled = false, fence = false;
  bool joined = false;    // posted with the previous request of its QP, with one doorbell
  bool push = false;      // its WQE is written into the push window
  uint32_t pause_ns = 0;  // pause of the QP before it
  bool closing = false;   // the last Send of its QP and side: once it arrives, all others have

  SgeClass sge_class() const;
  Crossing crossing() const;
  uint32_t source_offset() const;  // of the first byte read, in its region
  uint32_t target_offset() const;  // of the first byte written, in its region
  bool is_send() const { return op == Op::kSend || op == Op::kSendSolicited; }
  bool is_immediate_alone() const { return immediate && is_send(); }
  bool takes_receive() const { return is_send() || immediate; }
  bool is_of_loan() const { return op >= Op::kRegMr; }
  bool opens() const { return op == Op::kRegMr || (op == Op::kBindMw && !unbinds); }
  bool invalidates() const { return (key != 0 || loan != 0) && is_send() && !returns; }
  bool needs_fence() const { return invalidates() || returns || op == Op::kLocalInv; }
  /// Entries of the send queue: a Write with Immediate is two WQEs, and so is a Read with a local
  /// invalidation.
  uint32_t entries() const { return (immediate && op == Op::kWrite) || sink_key != 0 ? 2 : 1; }
  bool is_word() const { return op >= Op::kFetchAdd && op <= Op::kAtomicWrite; }
  bool fetches() const { return op == Op::kFetchAdd || op == Op::kCmpSwap; }
  bool has_sink() const { return op == Op::kRead || fetches(); }
  std::string describe() const;
};

enum class End : uint8_t { kClientCloses, kServerCloses, kBothClose, kAbort, kFault };
inline constexpr std::array kEndNames = {"client closes", "server closes", "both close", "abort",
                                         "error"};

/// The error that ends a life. The peer's device detects the errors of the first group; the device
/// of the posting side detects those of the second, from kLocalKey on. post_wrong() in wrong.cpp
/// makes each of them. The suffixes of the names:
///   Key      the STag is unknown (kInvalidateKey: also one that is not bound to the stream)
///   Stale    the region was deregistered
///   Rights   the region lacks the right
///   Domain   the region is of another protection domain
///   Bounds   bytes before or after the region
///   Wrap     the address wraps at 2^64
///   Aligned  the target of an atomic is not aligned to 8 bytes
///   Read     the device's PCIe read fails, as Answer says
///   Off      a Flush or atomic on a stream without them
///   Sink     the STag of the sink of a Read or atomic is unknown
/// kNoReceive: a Send without a posted receive. kTooLong: a Send longer than its receive.
/// kReceiveKey: the STag of the receive's buffer is unknown. kCqOverflow: more completions than the
/// CQ holds.
enum class Fault : uint8_t {
  kWriteKey,
  kWriteStale,
  kWriteRights,
  kWriteDomain,
  kWriteBounds,
  kWriteWrap,
  kReadKey,
  kReadRights,
  kReadDomain,
  kReadBounds,
  kReadWrap,
  kNoReceive,
  kTooLong,
  kReceiveKey,
  kInvalidateKey,
  kSourceRead,
  kFlushKey,
  kFlushRights,
  kFlushDomain,
  kFlushBounds,
  kFlushWrap,
  kFlushRead,
  kAtomicKey,
  kAtomicRights,
  kAtomicDomain,
  kAtomicBounds,
  kAtomicWrap,
  kAtomicAligned,
  kAtomicRead,
  kLocalKey,
  kLocalBounds,
  kLocalDomain,
  kLocalSink,
  kPayloadRead,
  kRequestRead,
  kCqOverflow,
  kFlushOff,
  kAtomicSink,
  kAtomicOff
};
inline constexpr std::array kFaultNames = {
    "write_key",     "write_stale",  "write_rights",   "write_domain",  "write_bounds",
    "write_wrap",    "read_key",     "read_rights",    "read_domain",   "read_bounds",
    "read_wrap",     "no_receive",   "too_long",       "receive_key",   "invalidate_key",
    "source_read",   "flush_key",    "flush_rights",   "flush_domain",  "flush_bounds",
    "flush_wrap",    "flush_read",   "atomic_key",     "atomic_rights", "atomic_domain",
    "atomic_bounds", "atomic_wrap",  "atomic_aligned", "atomic_read",   "local_key",
    "local_bounds",  "local_domain", "local_sink",     "payload_read",  "request_read",
    "cq_overflow",   "flush_off",    "atomic_sink",    "atomic_off"};
inline bool is_found_locally(Fault f) { return f >= Fault::kLocalKey; }

inline bool is_of_flush(Fault f) { return f >= Fault::kFlushKey && f <= Fault::kFlushRead; }

inline bool is_of_atomic(Fault f) {
  return (f >= Fault::kAtomicKey && f <= Fault::kAtomicRead) || f == Fault::kAtomicSink;
}
/// True for errors that arise only on a stream with Flush and atomics (Life::has_flush).
inline bool needs_extensions(Fault f) { return is_of_flush(f) || is_of_atomic(f); }
/// True for errors that arise only on a stream without them.
inline bool needs_no_extensions(Fault f) { return f == Fault::kFlushOff || f == Fault::kAtomicOff; }

/// The bad PCIe completion for a device's read: source_read, flush_read (the read-back),
/// atomic_read (the old value), payload_read, request_read (of a WQE).
enum class Answer : uint8_t { kUnsupported, kAborted, kPoisoned, kShort, kLong, kLate, kNever };
inline constexpr std::array kAnswerNames = {"unsupported", "aborted", "poisoned", "short",
                                            "long",        "late",    "never"};

/// The base address of a landing region.
enum class Base : uint8_t {
  kFar,
  kZero,
  k16,
  k31,
  k32,
  k64
};  // kFar: Plan::iova(); k16 to k32: contains 2^16 ...; k64: its last byte is at 2^64 - 1
inline constexpr std::array kBaseNames = {"far", "0", "2^16", "2^31", "2^32", "2^64"};

/// One life of a QP: the threads and resources it uses, and how it ends.
struct Life {
  uint32_t number = 0;  // of its end; shrinking keeps the end, or makes it plain (Plan::keep)
  uint32_t slot = 0;
  End end = End::kClientCloses;
  Side who = kClient;  // the side that aborts or posts the error
  Fault fault = Fault::kWriteKey;
  Answer answer = Answer::kUnsupported;
  // The peer's requests are in flight at the end: a first part completes, the rest is flushed.
  bool busy = false;
  // `who` first posts kAge empty Writes, so that the index of its send queue is just below 2^16.
  bool aged = false;
  bool one_way = false;  // only `who` posts requests
  // Busy abort: the percentage of the requests of `who` that are posted before the abort.
  uint32_t after = 0;
  uint32_t length = 8;              // of the offending request
  bool late = false;                // a Send is posted after the flush, and is flushed too
  std::array<uint32_t, 2> spare{};  // receives that no message consumes
  std::array<uint32_t, 2> pd{}, cq{};
  std::array<Base, 2> base{};
  // Receives are posted one by one, some time after the previous one was consumed.
  std::array<bool, 2> receives_late{};
  std::array<bool, 2> shares{};      // takes its receives from an SRQ
  std::array<bool, 2> asks_flush{};  // the stream has Flush if both sides request it
  std::array<bool, 2> persistent{};  // the landing region is in persistent memory

  bool has_flush() const { return asks_flush[0] && asks_flush[1]; }
  bool is_plain() const { return end == End::kClientCloses && spare[0] + spare[1] == 0; }
  bool closes() const { return end < End::kAbort; }
  bool meets_bad_read() const {
    return end == End::kFault && (fault == Fault::kSourceRead || fault == Fault::kFlushRead ||
                                  fault == Fault::kAtomicRead || fault == Fault::kPayloadRead ||
                                  fault == Fault::kRequestRead);
  }
  std::string describe(uint32_t qp) const;
};

/// The kind of a loan's STag.
enum class Loan : uint8_t { kFast, kWindow1, kWindow2 };
inline constexpr std::array kLoanNames = {"fast", "window 1", "window 2"};

/// How a host runs its QPs.
struct HostShape {
  // `pds`, `cqs`: protection domains and CQs of each thread. Without Plan::one_cq each of `cqs` is
  // a pair: one CQ for sends, one for receives.
  uint32_t threads = 1, pds = 1, cqs = 1;
  bool shared_cq = false;  // all threads share the CQs
  // An idle thread arms its first CQ and sleeps until an event of that CQ.
  bool armed = false;
  uint32_t log_eq = 8, event_queues = 16;  // log_eq: an event queue has 2^log_eq entries
};

struct QpShape {  // of one side
  uint32_t send_depth = 64, recv_depth = 64, max_sge = 14, max_inline = 0;
  bool push = false;
};

struct Plan {
  uint64_t seed = 0;
  uint32_t mtu = 1500;
  std::vector<std::pair<std::string, std::string>> settings;  // of rnic-sim
  uint32_t qps = 1;
  std::array<uint32_t, 2> ird{8, 8}, ord{8, 8};
  bool markers = false, crc = true, one_cq = true;
  std::array<std::array<QpShape, kMaxQps>, 2> shape{};
  std::array<Life, kMaxQps> life{};
  std::array<HostShape, 2> host{};
  std::array<std::array<uint32_t, kMaxQps>, 2> landing_bytes{};
  std::array<uint32_t, 2> page_bytes{kPage, kPage};
  // Offsets of the regions in their first page.
  std::array<std::array<uint32_t, kMaxQps>, 2> landing_at{};
  std::array<uint32_t, 2> source_at{};
  // The number of bound STags of each landing region.
  std::array<std::array<uint32_t, kMaxQps>, 2> keys{};
  std::array<std::array<std::vector<Loan>, kMaxQps>, 2> loans{};  // of each landing region
  std::vector<Operation> ops;

  /// Keeps only the operations and ends with these numbers, and adds the closing Sends of each QP.
  /// A life whose end is not kept ends plainly: the client closes it.
  void keep(const std::set<uint32_t>& numbers);
  /// Simplifies one aspect as far as possible; `name` is one of simplifications().
  void simplify(const std::string& name);
  std::vector<std::string> simplifications() const;
  std::set<uint32_t> numbers() const;  // of all operations but closing Sends; of ends not plain
  bool uses(uint32_t qp) const;        // the QP has operations, so the run makes it
  uint32_t slots() const;              // simultaneous QPs
  /// The thread of `side` that runs the QP. The server shifts the slots by one thread after every
  /// `threads` of them, so a client thread meets several server threads.
  uint32_t thread(Side side, uint32_t qp) const {
    return (life[qp].slot + (side == kServer ? life[qp].slot / host[side].threads : 0)) %
           host[side].threads;
  }
  std::optional<uint32_t> before(uint32_t qp) const;  // the previous life in the same slot
  uint32_t credit(Side side, uint32_t qp) const {     // of a QP with an SRQ: see kMostCredit
    return std::min(shape[side][qp].recv_depth, kMostCredit);
  }
  uint64_t iova(Side side, uint32_t qp) const;  // of the landing region
  std::string describe() const;

 private:
  void close_qps();  // adds the closing Send of each QP and side
  void mend();       // changes or removes operations on loans until the plan can run; sets `after`
  void regroup();    // after a removal: doorbell groups and signals such that the plan can run
  friend Plan generate(uint64_t, uint32_t, const struct Limits&);
};

struct Limits {
  bool minimum = false;                             // the device's minimum build on one side
  std::optional<uint32_t> mtu{};                    // where the user has set it
  std::array<bool, 2> has_persistence{true, true};  // the side's domain is not `none`
};
Plan generate(uint64_t seed, uint32_t ops, const Limits& limits);
/// Payload of a full FPDU. `untagged`: of a Send.
uint32_t full_payload(uint32_t mtu, bool markers, bool untagged);

struct Memory {
  std::array<std::vector<uint8_t>, 2> source;
  std::array<std::array<std::vector<uint8_t>, kMaxQps>, 2> landing;
  // Set by reference(). `words`: the values of each word of a landing region, by its offset: before
  // the first operation on it, then after each. `step`, by operation: the index of the value that
  // it leaves. `compare`, by operation: the operand that a CmpSwap compares with.
  std::array<std::array<std::map<uint32_t, std::vector<uint64_t>>, kMaxQps>, 2> words;
  std::map<uint32_t, size_t> step;
  std::map<uint32_t, uint64_t> compare;
};
/// Memory before the first operation: random bytes of the plan's seed.
Memory initial(const Plan& plan);
/// Memory after the last operation.
Memory reference(const Plan& plan);

}  // namespace rnic::app::regress
