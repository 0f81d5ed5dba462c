// Verbs for MnemoNIC: names and semantics of libibverbs, with RAII and errors as values. The only
// dependency is a PciDevice.
//
//   auto manager = Manager::open(dev, {}).value();            // privileged; one per device
//   auto ctx = Context::open(dev, *manager).value();          // a doorbell page; one per thread
//   auto pd = ctx.alloc_pd().value();
//   auto cq = ctx.create_cq(64).value();
//   auto qp = pd.create_qp({.send_cq = &cq, .recv_cq = &cq}).value();
//                                             // then connect() or accept(): connection.hpp
//   auto buffer = ctx.alloc(4096).value();
//   auto mr = pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE).value();
//
// A handle owns its object and shares the objects that its object depends on. So handles may be
// destroyed in any order. One thread at a time uses a handle; threads that share one protect it
// with a Lock (lock.hpp). The exceptions are a CQ created for several threads (create_cq) and an
// SRQ. Threads switch only inside PciDevice calls.
#pragma once

#include <memory>
#include <optional>

#include "rnic/verbs_types.hpp"

namespace rnic::verbs {

class Manager;
struct ContextCore;
struct PdCore;
struct MrCore;
struct MwCore;
struct CqCore;
struct SrqCore;
struct QpCore;
class Cq;
class Srq;
class Qp;
class Pd;

/// A registered memory region. Its key is an STag on the wire.
///
/// A region of Pd::alloc_mr is registered through the send queue of a privileged QP, as the Linux
/// kernel does, and can be registered many times:
///   must(mr.map_mr_sg(ranges, 4096));
///   mr.update_fast_reg_key(static_cast<uint8_t>(mr.rkey() + 1));
///   qp.post_send({.opcode = IBV_WR_REG_MR, .mr = &mr, .key = mr.rkey(), .access = ...});
///   ...                   // IBV_WR_LOCAL_INV, or the peer's Send with Invalidate; then map again
class Mr {
 public:
  Mr();
  explicit Mr(std::unique_ptr<MrCore> core);
  Mr(Mr&&) noexcept;
  Mr& operator=(Mr&&) noexcept;
  ~Mr();

  uint32_t lkey() const;
  uint32_t rkey() const;
  uint64_t addr() const;  ///< origin of Sge::addr and SendWr::remote_addr
  uint64_t length() const;
  uint32_t page_size() const;
  /// A region of alloc_mr: the pages that its page list has room for. Any other: its pages.
  uint32_t max_pages() const;
  /// ib_map_mr_sg: writes the page list for the next IBV_WR_REG_MR. Where two ranges are not
  /// adjacent on the bus, the first ends and the second begins at a page. addr() becomes `iova`, by
  /// default the bus address of the first byte. The region keeps the buffers until the second
  /// map_mr_sg() after this one, or dereg(): a device that refuses the next registration may still
  /// use them. Call map_mr_sg() only while the region is not registered: no IBV_WR_REG_MR is
  /// outstanding, and the last registration is invalidated.
  /// kInvalidArgument: no region of alloc_mr, a bad page size (a power of two, 4096 to 2 MiB), a
  /// range outside its buffer, a gap within a page, more pages than max_pages(). The mapping is
  /// then as before.
  [[nodiscard]] Result<void> map_mr_sg(std::span<const SgRange> ranges, uint32_t page_size,
                                       std::optional<uint64_t> iova = {});
  /// ib_update_fast_reg_key: sets the low 8 bits of the key for the next IBV_WR_REG_MR.
  /// kInvalidArgument: no region of alloc_mr.
  [[nodiscard]] Result<void> update_fast_reg_key(uint8_t key);
  /// ibv_dereg_mr: returns after the last access through the key. kBusy (EBUSY): memory windows are
  /// bound to it, and nothing has changed. The destructor calls it; a region that then has windows
  /// keeps its memory until the manager ends.
  [[nodiscard]] Result<void> dereg();

  MrCore* core() const { return core_.get(); }

 private:
  std::unique_ptr<MrCore> core_;
};

/// A memory window: a key for a part of a region, with its own access rights. A bind is a work
/// request and needs no admin command. Any QP of its PD may bind it; only that QP's peer may use a
/// window of type 2.
///   auto mr = pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND).value();
///   auto mw = pd.alloc_mw(IBV_MW_TYPE_2).value();
///   qp.post_send({.opcode = IBV_WR_BIND_MW, .key = inc_rkey(mw.rkey()), .mw = &mw,
///                 .bind_info = {&mr, mr.addr() + 64, 100, IBV_ACCESS_REMOTE_WRITE}});
///   ...                   // IBV_WR_LOCAL_INV, or the peer's Send with Invalidate; then bind again
class Mw {
 public:
  Mw();
  explicit Mw(std::shared_ptr<MwCore> core);
  Mw(Mw&&) noexcept;
  Mw& operator=(Mw&&) noexcept;
  ~Mw();

  /// The key of the bind posted last. If that bind fails, the key of the last successful bind.
  uint32_t rkey() const;
  MwType type() const;
  /// ibv_dealloc_mw: returns after the last access through the key. The destructor calls it.
  /// Qp::destroy() calls it for windows of type 2 that are bound to the QP, and for windows whose
  /// region is bound to the QP (Qp::reg_mr). A flushed bind, or one of several outstanding binds,
  /// counts as executed.
  [[nodiscard]] Result<void> dealloc();

  const std::shared_ptr<MwCore>& core() const { return core_; }

 private:
  std::shared_ptr<MwCore> core_;
};

/// A completion queue.
class Cq {
 public:
  Cq() = default;
  explicit Cq(std::shared_ptr<CqCore> core);

  /// Returns up to wc.size() completions; an empty poll costs one relax(). kDeviceError after an
  /// overrun of the queue.
  [[nodiscard]] Result<size_t> poll_cq(std::span<Wc> wc);
  /// Requests one event for the next completion (or the next solicited one). The event follows at
  /// once if a completion arrived since the last poll.
  [[nodiscard]] Result<void> req_notify_cq(bool solicited_only = false);
  /// Waits for that event. kTimedOut at the deadline.
  [[nodiscard]] Result<void> get_cq_event(Time deadline);

  uint32_t number() const;
  uint32_t cqe() const;  ///< requested capacity in completions
  const std::shared_ptr<CqCore>& core() const { return core_; }

 private:
  std::shared_ptr<CqCore> core_;
};

/// A shared receive queue: its QPs take their receives from it, in the order in which messages
/// begin to arrive. Each completion is in the receive CQ of the message's QP and has that QP's
/// number and the wr_id of the receive. iWARP has no "receiver not ready": a message that finds no
/// receive ends its connection.
///   auto srq = pd.create_srq({.max_wr = 256, .srq_limit = 64}).value();
///   srq.post_recv({.wr_id = 1, .sg_list = {&sge, 1}});
///   auto qp = pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .srq = &srq}).value();
///
/// Several threads may post to it, and poll the CQs of its QPs, without a Lock. Each CQ still
/// belongs to one thread unless it is made for several (create_cq). Only modify(), destroy() and
/// moving the handle need a Lock.
class Srq {
 public:
  Srq();
  explicit Srq(std::shared_ptr<SrqCore> core);
  Srq(Srq&&) noexcept;
  Srq& operator=(Srq&&) noexcept;
  ~Srq();

  /// Posts in order, stops at the first request that cannot be posted, and rings one doorbell for
  /// all. kQueueFull (ENOMEM): max_wr (rounded up) receives are outstanding. A receive is
  /// outstanding until its completion is polled, or its QP is destroyed. kInvalidArgument: SGEs or
  /// length. kBadState: destroyed.
  PostResult post_recv(std::span<const RecvWr> wrs);
  PostResult post_recv(const RecvWr& wr) { return post_recv(std::span(&wr, 1)); }
  /// ibv_modify_srq with IBV_SRQ_LIMIT: arms the limit event again, or disarms it with 0. The limit
  /// is compared when a message takes a receive, not now. kInvalidArgument: above max_wr,
  /// rounded up. kNotSupported: another size. kBadState: destroyed.
  [[nodiscard]] Result<void> modify(const SrqAttr& attr);
  /// srq_limit is 0 after the limit event, also if get_async_event() has not returned it yet.
  SrqAttr query();
  /// ibv_destroy_srq: outstanding receives do not complete. kBusy (EBUSY): QPs take receives from
  /// it, and nothing has changed. The destructor calls it; QPs that use the SRQ keep it until their
  /// own end.
  [[nodiscard]] Result<void> destroy();

  uint32_t number() const;  ///< in the number space of QPs; AsyncEvent::object
  const std::shared_ptr<SrqCore>& core() const { return core_; }

 private:
  std::shared_ptr<SrqCore> core_;
};

struct QpInitAttr {
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  /// Null: the QP has a receive queue. Otherwise an SRQ of the same PD: max_recv_wr and
  /// max_recv_sge of `cap` are ignored and read as 0 in Qp::cap(), and post_recv() of the QP
  /// returns kInvalidArgument.
  Srq* srq = nullptr;
  QpCap cap{};
  bool sq_sig_all = false;
  /// Lowers latency: a post of one WQE of one or two units writes the WQE with its doorbell, so
  /// that the device need not fetch it.
  bool push = false;
  /// May post IBV_WR_REG_MR. Its page list holds bus addresses, so only privileged software may
  /// have such a QP. On another QP the device completes it with IBV_WC_LOC_QP_OP_ERR.
  bool privileged = false;
};

/// A queue pair. create_qp() leaves it in IBV_QPS_INIT; connect() and accept() bring it to RTS.
class Qp {
 public:
  Qp() = default;
  explicit Qp(std::shared_ptr<QpCore> core);
  Qp(Qp&&) noexcept;
  Qp& operator=(Qp&&) noexcept;
  ~Qp();

  /// Posts in order, stops at the first request that cannot be posted, and rings one doorbell for
  /// all. kQueueFull (ENOMEM): the ring is full.
  PostResult post_send(std::span<const SendWr> wrs);
  PostResult post_send(const SendWr& wr) { return post_send(std::span(&wr, 1)); }
  PostResult post_recv(std::span<const RecvWr> wrs);
  PostResult post_recv(const RecvWr& wr) { return post_recv(std::span(&wr, 1)); }

  // The builder, as rdma-core's ibv_wr_*: set wr_id and wr_flags, call the operation, set its data;
  // repeat, then complete.
  //   qp.wr_start();
  //   qp.wr_id = 1;
  //   qp.wr_flags = IBV_SEND_SIGNALED;
  //   qp.wr_send();
  //   qp.wr_set_sge(lkey, addr, len);
  //   if (auto r = qp.wr_complete(); !r) ...                              // posts all or none
  uint64_t wr_id = 0;
  uint32_t wr_flags = 0;
  void wr_start();  ///< discards what an earlier wr_start() has collected
  void wr_send();
  void wr_rdma_write(uint32_t rkey, uint64_t remote_addr);
  void wr_rdma_read(uint32_t rkey, uint64_t remote_addr);
  /// Completes when `length` bytes (1 or more) of the peer's memory, and all earlier data of this
  /// QP, are in the states of `type` (PlacementType). Length 0 only orders: it makes nothing
  /// durable. level: IBV_FLUSH_RANGE. Needs ConnParam::flush on both sides, and
  /// IBV_ACCESS_FLUSH_GLOBAL or _PERSISTENT of the peer's region. draft-talpey-rdma-commit 3.1.1
  void wr_flush(uint32_t rkey, uint64_t remote_addr, size_t length, uint8_t type, uint8_t level);
  /// Fetch-and-add and compare-and-swap of 8 bytes at remote_addr. RFC 7306 5.1. CmpSwap stores
  /// `swap` if the target equals `compare`. The old value is written to the one SGE: 8 bytes,
  /// address aligned to 8. Operands and the value in memory are host integers: adding 1 changes the
  /// same byte as a CPU's increment. The peer refuses a target that is not aligned to 8. Needs
  /// ConnParam::flush on both sides, ORD as a Read does, and IBV_ACCESS_REMOTE_ATOMIC of the peer's
  /// region.
  void wr_atomic_fetch_add(uint32_t rkey, uint64_t remote_addr, uint64_t add);
  void wr_atomic_cmp_swp(uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap);
  /// Masked forms, not in rdma-core. A set bit of add_mask is the top bit of a field, whose carry
  /// is dropped. CmpSwap compares only the bits of compare_mask and stores only the bits of
  /// swap_mask.
  void wr_masked_fetch_add(uint32_t rkey, uint64_t remote_addr, uint64_t add, uint64_t add_mask);
  void wr_masked_cmp_swp(uint32_t rkey, uint64_t remote_addr, uint64_t compare,
                         uint64_t compare_mask, uint64_t swap, uint64_t swap_mask);
  /// Stores 8 bytes atomically, after all earlier data of this QP. Completes when they are in the
  /// peer's memory. The call copies the bytes; set no other data. Needs what an atomic needs, with
  /// IBV_ACCESS_REMOTE_WRITE as the access right. draft-talpey-rdma-commit 3.1.3
  void wr_atomic_write(uint32_t rkey, uint64_t remote_addr, const void* atomic_wr);
  void wr_set_sge(uint32_t lkey, uint64_t addr, uint32_t length);
  void wr_set_sge_list(std::span<const Sge> sges);
  void wr_set_inline_data(std::span<const uint8_t> data);
  void wr_set_inline_data_list(std::span<const std::span<const uint8_t>> data);
  /// Posts all requests since wr_start() with one doorbell, or none. Returns the first error of any
  /// call since wr_start().
  [[nodiscard]] Result<void> wr_complete();
  void wr_abort();  ///< discards the requests since wr_start()
  /// imm_data in network order, as in rdma-core. The request takes two entries of the send queue.
  void wr_rdma_write_imm(uint32_t rkey, uint64_t remote_addr, uint32_t imm_data);
  // Not in rdma-core: all 8 bytes of Immediate Data, after a Write (wr_rdma_write_imm64) or without
  // one (wr_imm). SendWr::imm has the byte order.
  void wr_rdma_write_imm64(uint32_t rkey, uint64_t remote_addr, uint64_t imm);
  void wr_imm(uint64_t imm);
  /// Send with Invalidate: before the peer gets the message, its STag `rkey` is invalidated and no
  /// access through it is in flight. RFC 5040 5.3. The peer's completion has IBV_WC_WITH_INV.
  void wr_send_inv(uint32_t rkey);
  /// Invalidates an STag of this host: the device closes it at once, and completes the request when
  /// no access through it is in flight. A region of alloc_mr can then be registered again, and a
  /// memory window bound again; any other region allows no access until dereg(). A region to which
  /// memory windows are bound is not invalidated: IBV_WC_MW_BIND_ERR. Earlier requests of this QP
  /// that use the key must have completed; with IBV_SEND_FENCE the request waits for the Reads and
  /// atomics among them.
  void wr_local_inv(uint32_t rkey);
  /// Binds a memory window under `rkey`: a key of the window with other low 8 bits (inc_rkey).
  /// Later requests of this QP wait until the bind completes, so a Send of the key may be posted at
  /// once. A window of type 1 may still be bound: the device closes its old key first.
  void wr_bind_mw(Mw& mw, uint32_t rkey, const MwBindInfo& bind_info);
  // Unsupported: wr_complete() returns kNotSupported (EOPNOTSUPP).
  void wr_send_imm(uint32_t imm);
  void wr_verify(uint32_t rkey, uint64_t remote_addr, size_t length, std::span<const uint8_t> hash);
  /// ibv_bind_mw: posts the bind of a window of type 1 under its next key, which Mw::rkey() then
  /// returns. kInvalidArgument also for a window of type 2.
  PostResult bind_mw(Mw& mw, const MwBind& bind);

  /// IBV_QPS_ERR: abort, all outstanding requests are flushed. IBV_QPS_SQD: close gracefully.
  [[nodiscard]] Result<void> modify(QpState state);
  /// Queries the device (admin command query_qp).
  [[nodiscard]] Result<QpInfo> query();
  /// Aborts if connected, waits until drained, releases the connection. The destructor calls it.
  [[nodiscard]] Result<void> destroy();

  /// As Pd::reg_mr and reg_mr_iova, for an STag that only this QP and its peer may use. With
  /// RNIC_ACCESS_REMOTE_INVALIDATE the peer may invalidate it: the region then allows no access
  /// until dereg(). destroy() deregisters the regions of its QP, also those of Pd::alloc_mr for
  /// which the QP has posted a registration with RNIC_ACCESS_REMOTE_INVALIDATE.
  [[nodiscard]] Result<Mr> reg_mr(const DmaBuffer& buffer, uint32_t access);
  [[nodiscard]] Result<Mr> reg_mr_iova(const DmaBuffer& buffer, uint64_t offset, uint64_t length,
                                       uint64_t iova, uint32_t access);

  uint32_t qp_num() const;
  QpState state() const;  ///< as of the last query or command
  const QpCap& cap() const;
  const std::shared_ptr<QpCore>& core() const { return core_; }

 private:
  std::shared_ptr<QpCore> core_;
};

/// A protection domain.
class Pd {
 public:
  Pd() = default;
  explicit Pd(std::shared_ptr<PdCore> core);

  /// Registers a whole buffer, or `length` bytes from `offset` on. Addresses are this process's.
  [[nodiscard]] Result<Mr> reg_mr(const DmaBuffer& buffer, uint32_t access);
  [[nodiscard]] Result<Mr> reg_mr(const DmaBuffer& buffer, uint64_t offset, uint64_t length,
                                  uint32_t access);
  /// As ibv_reg_mr_iova: addresses count from `iova`, independent of the buffer's own address.
  [[nodiscard]] Result<Mr> reg_mr_iova(const DmaBuffer& buffer, uint64_t offset, uint64_t length,
                                       uint64_t iova, uint32_t access);
  /// Registers memory that the caller owns (malloc, mmap, a container, the stack), of any alignment
  /// and length. The memory stays mapped and in place until dereg() or the end of the Mr. Without
  /// IBV_ACCESS_LOCAL_WRITE it may be write-protected.
  [[nodiscard]] Result<Mr> reg_mr(std::span<uint8_t> memory, uint32_t access);
  [[nodiscard]] Result<Mr> reg_mr_iova(std::span<uint8_t> memory, uint64_t iova, uint32_t access);
  [[nodiscard]] Result<Qp> create_qp(const QpInitAttr& attr);
  /// ib_alloc_mr(IB_MR_TYPE_MEM_REG): an STag for fast registrations of up to `max_pages` pages,
  /// rounded up to a power of two. It allows no access until its first IBV_WR_REG_MR.
  [[nodiscard]] Result<Mr> alloc_mr(uint32_t max_pages);
  /// A memory window that is not bound. It takes an STag, but no page-list entries.
  [[nodiscard]] Result<Mw> alloc_mw(MwType type);
  /// ibv_create_srq. kInvalidArgument: max_wr 0 or above DeviceAttr::max_srq_wr, max_sge above
  /// max_srq_sge, srq_limit above max_wr. kNoMemory: all numbers of QPs and SRQs are in use.
  [[nodiscard]] Result<Srq> create_srq(const SrqInitAttr& attr);

  uint32_t number() const;
  const std::shared_ptr<PdCore>& core() const { return core_; }

 private:
  std::shared_ptr<PdCore> core_;
};

/// A device in use by one thread: a doorbell page and the objects created through it.
class Context {
 public:
  Context() = default;
  explicit Context(std::shared_ptr<ContextCore> core);
  [[nodiscard]] static Result<Context> open(PciDevice& dev, Manager& manager);

  const DeviceAttr& query_device() const;
  [[nodiscard]] Result<Pd> alloc_pd();
  /// Creates a CQ with room for `cqe` completions; its events use completion vector `comp_vector`.
  /// With flags 0 several threads may poll it, and other threads than the poller may post to its
  /// QPs.
  [[nodiscard]] Result<Cq> create_cq(uint32_t cqe, uint32_t comp_vector = 0,
                                     uint32_t flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  /// Allocates user memory, scattered on the bus.
  [[nodiscard]] Result<DmaBuffer> alloc(uint64_t size);
  /// Returns the next failure of one of this context's QPs or CQs, or limit event of an SRQ
  /// (IBV_EVENT_SRQ_LIMIT_REACHED). kTimedOut at the deadline; a deadline of 0 only polls.
  [[nodiscard]] Result<AsyncEvent> get_async_event(Time deadline);

  PciDevice& device() const;
  /// Converts device cycles to picoseconds since the device's reset.
  Time to_time(uint64_t completion_ts) const;
  const std::shared_ptr<ContextCore>& core() const { return core_; }

 private:
  std::shared_ptr<ContextCore> core_;
};

}  // namespace rnic::verbs
