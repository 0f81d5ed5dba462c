// The objects behind the handles of verbs.hpp. Cores hold shared pointers downwards (QP -> CQ, PD
// -> context), so a number or ring is released only after its last user. `live` in each core: the
// device has the object; its destroy command has not been given.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "rnic/lock.hpp"
#include "rnic/manager.hpp"
#include "rnic/verbs.hpp"
#include "wqe.hpp"

namespace rnic::verbs {

inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint32_t kVoidQpn = 0xffffff;  // overwrites the QPN in CQEs of a destroyed QP
inline constexpr unsigned kMinLogPage = 12, kMaxLogPage = 21;  // of a region's pages
inline constexpr uint32_t kAccessHints = 0x3ff00000;           // IBV_ACCESS_OPTIONAL_RANGE: ignored

/// The 64-bit write that rings a doorbell.
inline uint64_t doorbell_value(uint32_t object, uint8_t flags, uint32_t index) {
  const auto words = spec::Doorbell{.object = object, .flags = flags, .index = index}.to_words();
  return words[0] | uint64_t{words[1]} << 32;
}

struct ContextCore {
  ContextCore(PciDevice& device, Manager& manager) : dev(device), mgr(manager) {}
  ~ContextCore();
  ContextCore(const ContextCore&) = delete;
  ContextCore& operator=(const ContextCore&) = delete;

  void ring(spec::DoorbellKind kind, uint32_t object, uint8_t flags, uint32_t index) {
    dev.write64(2, page * kPageBytes + 8 * static_cast<uint32_t>(kind),
                doorbell_value(object, flags, index));
  }

  PciDevice& dev;
  Manager& mgr;
  std::optional<uint32_t> page_taken;  // set: ~ContextCore gives `page` back
  uint32_t page = 0;                   // doorbell page
  DmaBuffer bounce;                    // start-up frames in transit
  std::vector<QpCore*> qps;            // by QPN; null: not of this context
  std::vector<CqCore*> cqs;            // by number
  std::vector<SrqCore*> srqs;          // by number, of the QPs' space; null: not of this context
  std::vector<AsyncEvent> events;
};

struct PdCore {
  PdCore(std::shared_ptr<ContextCore> c, uint32_t n) : ctx(std::move(c)), number(n) {}
  ~PdCore();
  PdCore(const PdCore&) = delete;
  PdCore& operator=(const PdCore&) = delete;

  std::shared_ptr<ContextCore> ctx;
  uint32_t number;
};

struct QpCore;

/// An entry of the device's STag table.
struct TableEntry {
  uint32_t slot = 0, stag = 0;
  uint32_t pbl_base = 0;  // first of its args.pages page-list entries
};
/// create_mr under a random key, in a free slot and, if `args` has pages, a free part of the page
/// list. On an error it frees both.
[[nodiscard]] Result<TableEntry> create_entry(ContextCore& ctx, spec::AdminMrArgs args);

struct MrCore {
  ~MrCore() { (void)dereg(true); }
  /// is_end: this is the last call. If the device then refuses, the manager keeps the region's
  /// memory. Without is_end, kBusy (memory windows are bound to the region) changes nothing.
  Result<void> dereg(bool is_end);
  Result<void> create(const spec::AdminMrArgs& args);  // create_entry()

  std::shared_ptr<PdCore> pd;
  /// Records that the STag is bound to this QP, or will be once a posted registration executes.
  void bind(QpCore& to);
  void unbind();  // undoes all bind() calls

  std::vector<QpCore*> qps;  // set by bind(); the destroy() of each deregisters the region
  DmaBuffer buffer;          // keeps the memory alive while the device may use it
  uint32_t stag = 0, slot = 0, pbl_base = 0, pages = 0, page_size = 0;
  uint64_t addr = 0, length = 0;
  uint32_t access = 0;  // of a region of alloc_mr: of the registration posted last
  bool live = false;

  // Of Pd::alloc_mr. `pages` is its capacity; addr, length and page_size are those of the mapping.
  bool is_fast = false;
  DmaBuffer list;  // of the next or current registration
  // Of the present and the previous mapping: if the device refuses a registration, it may still use
  // the previous one.
  std::vector<DmaBuffer> buffers, earlier;
  uint32_t mapped = 0;  // pages; 0: not mapped
  uint32_t first_offset = 0;
  bool is_persistent = false;  // all of the mapping
};

struct MwCore {
  ~MwCore() { (void)dealloc(); }
  Result<void> dealloc();
  void depend_on(QpCore& qp);  // adds the QP to `qps`: its destroy() deallocates the window
  void depend_on_none();       // clears `qps`

  std::shared_ptr<PdCore> pd;
  MwType type = IBV_MW_TYPE_1;
  /// QPs whose destroy() deallocates the window: the QPs of its region and, for type 2, the QP that
  /// it is bound to. Holds all candidates, whether outstanding binds execute or not.
  std::vector<QpCore*> qps;
  uint32_t slot = 0;
  uint32_t stag = 0;                     // rkey(): of the bind posted last, unless it failed
  uint32_t bound = 0;                    // key of the last successful bind
  uint32_t outstanding = 0, posted = 0;  // binds of this window: not completed; all so far
  bool live = false;
};

struct CqCore {
  CqCore(std::shared_ptr<ContextCore> c, uint32_t n) : ctx(std::move(c)), number(n) {}
  ~CqCore();
  CqCore(const CqCore&) = delete;
  CqCore& operator=(const CqCore&) = delete;

  Result<size_t> poll(std::span<Wc> out);
  Result<size_t> take(std::span<Wc> out);  // poll() inside `lock`: returns how many it wrote
  void tell_consumer();                    // rings the consumer doorbell
  /// Voids the CQEs of a destroyed QP, and frees the tags of its SRQ receives among them.
  void forget(const QpCore& qp);

  std::shared_ptr<ContextCore> ctx;
  uint32_t number;
  unsigned eqn = 0;  // event queue
  PhaseRing ring;
  uint32_t cqe = 0;         // requested capacity in completions
  uint32_t unreported = 0;  // CQEs consumed since the last consumer doorbell
  bool live = false;
  bool shared = false;   // several threads poll it, or post to its QPs
  bool has_srq = false;  // a QP with an SRQ completes its receives here
  Lock lock;             // of the ring, if shared

  // While `flushing` is set, take() splits the CQE `flush` into one Wc for each flushed request of
  // that QP. Requests that do not fit into the user's span wait for the next poll.
  QpCore* flushing = nullptr;
  spec::Cqe flush{};
};

/// The driver's record of a send WQE in the ring, stored at the WQE's first unit.
struct SqRecord {
  uint64_t wr_id = 0;
  WrOpcode opcode = IBV_WR_SEND;
  uint8_t units = 0;
  bool signaled = false;
  bool is_first = false;  // of the two WQEs of a Write with Immediate: the Write
};

/// A bind of a memory window in the send queue.
struct PostedBind {
  uint16_t index = 0;                    // of its WQE
  uint32_t key = 0, before = 0;          // the window's key with this bind, and without it
  uint32_t posted = 0;                   // binds of the window that were posted up to this one
  bool was_alone = false;                // no other bind of the window was then outstanding
  std::vector<QpCore*> qps{}, former{};  // MwCore::qps with this bind, and without it
  std::weak_ptr<MwCore> window{};
};

/// A shared receive queue. A WQE's tag is the index of its request; its completion returns the tag.
/// Receives complete in any order, so a tag may stay in use for any time while the ring wraps.
///
/// If a tag is free, the ring slot at `head` is free too. The device takes WQEs in ring order, each
/// WQE that it has not taken is outstanding, and fewer than max_wr are outstanding.
struct SrqCore {
  SrqCore(std::shared_ptr<PdCore> p, uint32_t n, DmaBuffer memory, uint32_t size, uint32_t sges);
  ~SrqCore() { (void)destroy(true); }
  SrqCore(const SrqCore&) = delete;
  SrqCore& operator=(const SrqCore&) = delete;

  struct Request {
    uint64_t wr_id = 0;
    bool is_posted = false;  // outstanding
  };

  /// is_end: this is the last call. If the device then refuses, the manager keeps the ring. Without
  /// is_end, kBusy (QPs use the SRQ) changes nothing.
  Result<void> destroy(bool is_end);
  PostResult post(std::span<const RecvWr> wrs);
  /// Frees the tag of a completed request and returns its wr_id; nothing if it is not outstanding.
  /// The caller calls before_shared() first.
  std::optional<uint64_t> complete(uint16_t tag);
  Result<void> modify(const SrqAttr& attr);
  SrqAttr query();
  void note_limit();  // queues the limit event if the device has reported it

  std::shared_ptr<PdCore> pd;
  ContextCore& ctx;
  uint32_t number;
  DmaBuffer ring;
  uint32_t max_wr, max_sge;  // max_wr: a power of two
  uint32_t limit = 0;        // 0: disarmed
  bool live = false;
  Lock lock;  // of posting

  std::vector<Request> requests;    // by tag
  std::vector<uint16_t> free_tags;  // the last one is used next
  uint16_t head = 0;                // free-running
};

struct QpCore {
  QpCore(std::shared_ptr<PdCore> p, uint32_t n) : pd(std::move(p)), ctx(*pd->ctx), qpn(n) {}
  ~QpCore();
  QpCore(const QpCore&) = delete;
  QpCore& operator=(const QpCore&) = delete;

  // Posting: put_*() write WQEs to the ring at sq_head; ring_sq() announces them by a doorbell.
  // put_send(), alone: the only request of this post, so that its WQE may be pushed. ring_sq(),
  // push: the WQE to push; null: a plain doorbell.
  Result<void> put_send(const SendWr& wr, bool alone, WqeBytes& wqe);
  Result<void> put_write_imm(const SendWr& wr, WqeBytes& wqe);
  void put_units(const WqeBytes& wqe, const SqRecord& record);
  /// Units of the request whose first WQE is at `index`.
  uint32_t request_units(uint16_t index) const;
  void ring_sq(const WqeBytes* push);
  uint32_t sq_room() const { return (1u << log_sq) - static_cast<uint16_t>(sq_head - sq_tail); }
  uint32_t rq_room() const { return (1u << log_rq) - static_cast<uint16_t>(rq_head - rq_tail); }
  // In SQD, SQE and ERR posts are accepted, too. The device flushes the requests, or in SQD sends
  // those that arrive before it half-closes the connection.
  bool can_send() const { return state == IBV_QPS_RTS || state >= IBV_QPS_SQD; }
  /// Another thread may poll the CQs and therefore write this QP's tails.
  void before_post() {
    if (send_cq->shared || recv_cq->shared) ctx.dev.before_shared();
  }

  // Retiring: called by the CQ.
  /// Retires the receive with this index (with an SRQ: tag) and returns its wr_id; nothing if it is
  /// not outstanding.
  std::optional<uint64_t> complete_recv(uint16_t index);
  bool complete(const spec::Cqe& cqe, Wc& wc);   // false: the CQE names no posted request
  bool flush_one(const spec::Cqe& cqe, Wc& wc);  // false: no request left before the CQE's index
  /// True if the CQE flushes all requests before its index. Receives of an SRQ are flushed one by
  /// one instead, each by its tag.
  bool is_range(const spec::Cqe& cqe) const {
    return cqe.status == spec::WcStatus::kWrFlushErr && (cqe.is_recv == 0 || srq == nullptr);
  }

  // Binds of memory windows (mw.cpp).
  void note_bind(const SendWr& wr);  // records a bind whose WQE will be at sq_head
  void drop_binds(uint16_t head);    // undoes note_bind() of all WQEs from index `head` on
  /// The bind at `index` has completed with this status, those before it with success.
  void finish_binds(uint16_t index, WcStatus status);

  // State.
  Result<QpInfo> refresh();  // queries the device; queues an async event for a new cause
  Result<void> to_rts(const spec::AdminModifyArgs& args);
  Result<void> leave(QpState to);  // SQD (graceful close) or ERR
  Result<void> wait_drained(Time deadline);
  Result<void> destroy();
  void end_keys();       // deallocates `windows` and deregisters `regions`
  void free_slots();     // gives IRD and ORD slots back to the manager's pools
  void forget_events();  // discards the async events of this QP that the application has not read

  std::shared_ptr<PdCore> pd;
  ContextCore& ctx;
  uint32_t qpn;
  std::shared_ptr<CqCore> send_cq, recv_cq;
  std::shared_ptr<SrqCore> srq;  // null: the QP receives into `rq`
  DmaBuffer sq, rq;
  unsigned log_sq = 0, log_rq = 0;
  std::vector<MrCore*> regions;  // bound to this QP
  std::vector<MwCore*> windows;  // destroy() deallocates these
  std::deque<PostedBind> binds;  // outstanding
  std::vector<SqRecord> sq_records;
  std::vector<uint64_t> rq_ids;  // wr_id of the receive in each ring slot
  uint16_t sq_head = 0, sq_tail = 0, rq_head = 0, rq_tail = 0;  // free-running, in units
  QpCap cap;
  bool sig_all = false, push = false, privileged = false;
  QpState state = IBV_QPS_RESET;
  bool live = false;
  bool cause_reported = false;  // refresh() has queued the async event of the failure

  // Connection.
  std::optional<uint16_t> connection;
  spec::AdminModifyArgs agreed{};
  // Slots taken from the pools, starting at agreed.ird_base and ord_base.
  uint32_t ird_taken = 0, ord_taken = 0;

  // Builder (qp_builder.cpp).
  struct Built {
    SendWr wr{};
    std::vector<Sge> sges{};
    std::vector<uint8_t> data{};
    bool has_data = false;  // a wr_set_*() call has set its data
    bool is_inline = false;
  };
  std::vector<Built> built;
  bool building = false;
  std::optional<Error> build_error;
};

/// Checks access flags of a region. kInvalidArgument, kNotSupported.
[[nodiscard]] Result<void> check_access(uint32_t access);
/// Checks an IBV_WR_REG_MR against its region and its QP. kInvalidArgument, kNotSupported (access).
[[nodiscard]] Result<void> check_reg_mr(const SendWr& wr, const QpCore& qp);
/// Checks an IBV_WR_BIND_MW against its window, its region and its QP. kInvalidArgument.
[[nodiscard]] Result<void> check_bind_mw(const SendWr& wr, const QpCore& qp);

inline constexpr QpState to_verbs(spec::QpState state) {
  switch (state) {
    case spec::QpState::kIdle:
      return IBV_QPS_INIT;
    case spec::QpState::kRts:
      return IBV_QPS_RTS;
    case spec::QpState::kClosing:
      return IBV_QPS_SQD;
    case spec::QpState::kTerminate:
      return IBV_QPS_SQE;
    case spec::QpState::kError:
      return IBV_QPS_ERR;
  }
  return IBV_QPS_ERR;
}

}  // namespace rnic::verbs
