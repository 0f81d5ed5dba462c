// Verbs for MnemoNIC: words and semantics of libibverbs, RAII, errors as values. Needs nothing but
// a PciDevice.
//
//   auto manager = Manager::open(dev, {}).value();                     // privileged; one a device
//   auto ctx = Context::open(dev, *manager).value();                   // one doorbell page; one a thread
//   auto pd = ctx.alloc_pd().value();
//   auto cq = ctx.create_cq(64).value();
//   auto qp = pd.create_qp({.send_cq = &cq, .recv_cq = &cq}).value();  // then connect() or accept(): connection.hpp
//   auto buffer = ctx.alloc(4096).value();
//   auto mr = pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE).value();
//
// Handles own what they name and share what it rests on, so any order of destruction is right. A
// handle is used by one thread at a time; threads that share one put a Lock around it (lock.hpp).
// The exception is a CQ made for several threads (create_cq). Switching between threads happens
// inside PciDevice calls alone.
#pragma once

#include <memory>

#include "rnic/verbs_types.hpp"

namespace rnic::verbs {

class Manager;
struct ContextCore;
struct PdCore;
struct MrCore;
struct CqCore;
struct QpCore;
class Cq;
class Qp;
class Pd;

/// A registered region. On the wire its key is an STag.
class Mr {
 public:
  Mr();
  explicit Mr(std::unique_ptr<MrCore> core);
  Mr(Mr&&) noexcept;
  Mr& operator=(Mr&&) noexcept;
  ~Mr();

  uint32_t lkey() const;
  uint32_t rkey() const;
  uint64_t addr() const;  ///< what Sge::addr and SendWr::remote_addr count from
  uint64_t length() const;
  uint32_t page_size() const;
  /// ibv_dereg_mr: answered once nothing through the key is in flight. The destructor does it too.
  [[nodiscard]] Result<void> dereg();

 private:
  std::unique_ptr<MrCore> core_;
};

/// A completion queue.
class Cq {
 public:
  Cq() = default;
  explicit Cq(std::shared_ptr<CqCore> core);

  /// Up to wc.size() completions; 0 costs one relax(). kDeviceError once the queue has overrun.
  [[nodiscard]] Result<size_t> poll_cq(std::span<Wc> wc);
  /// One event follows the next completion (or solicited one); at once if one came since the last
  /// poll.
  [[nodiscard]] Result<void> req_notify_cq(bool solicited_only = false);
  /// Waits for that event. kTimedOut at the deadline.
  [[nodiscard]] Result<void> get_cq_event(Time deadline);

  uint32_t number() const;
  uint32_t cqe() const;  ///< completions it holds
  const std::shared_ptr<CqCore>& core() const { return core_; }

 private:
  std::shared_ptr<CqCore> core_;
};

struct QpInitAttr {
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  QpCap cap{};
  bool sq_sig_all = false;
  bool push = false;  ///< carry a single short WQE in its doorbell, for latency
};

/// A queue pair. Created in IBV_QPS_INIT; connect() and accept() bring it to RTS.
class Qp {
 public:
  Qp() = default;
  explicit Qp(std::shared_ptr<QpCore> core);
  Qp(Qp&&) noexcept;
  Qp& operator=(Qp&&) noexcept;
  ~Qp();

  /// In order, stops at the first that cannot be posted; one doorbell for all. A full ring is
  /// kQueueFull (ENOMEM).
  PostResult post_send(std::span<const SendWr> wrs);
  PostResult post_send(const SendWr& wr) { return post_send(std::span(&wr, 1)); }
  PostResult post_recv(std::span<const RecvWr> wrs);
  PostResult post_recv(const RecvWr& wr) { return post_recv(std::span(&wr, 1)); }

  // The builder, as rdma-core's ibv_wr_*: set wr_id and wr_flags, say the operation, set its data, repeat, complete.
  //   qp.wr_start();
  //   qp.wr_id = 1;
  //   qp.wr_flags = IBV_SEND_SIGNALED;
  //   qp.wr_send();
  //   qp.wr_set_sge(lkey, addr, len);
  //   if (auto r = qp.wr_complete(); !r) ...                              // all of them, or none
  uint64_t wr_id = 0;
  uint32_t wr_flags = 0;
  void wr_start();
  void wr_send();
  void wr_rdma_write(uint32_t rkey, uint64_t remote_addr);
  void wr_rdma_read(uint32_t rkey, uint64_t remote_addr);
  /// Until `length` bytes (1 or more) of the peer's memory, and all that this QP sent before, are in
  /// the states of `type` (PlacementType). Length 0 only orders: it makes nothing durable. level: IBV_FLUSH_RANGE. Needs ConnParam::flush on both sides, and
  /// IBV_ACCESS_FLUSH_GLOBAL or _PERSISTENT of the peer's region. draft-talpey-rdma-commit 3.1.1
  void wr_flush(uint32_t rkey, uint64_t remote_addr, size_t length, uint8_t type, uint8_t level);
  /// Adds to the 8 bytes at remote_addr, or stores `swap` where they equal `compare`; the old value
  /// goes to the one SGE: 8 bytes, address aligned to 8. Operands and the value in memory are
  /// integers of the host, so a 1 is added to the byte that a CPU's increment changes. The peer
  /// refuses a target that is not aligned to 8. Needs ConnParam::flush on both sides, ORD as a Read,
  /// and IBV_ACCESS_REMOTE_ATOMIC of the peer's region. RFC 7306 5.1
  void wr_atomic_fetch_add(uint32_t rkey, uint64_t remote_addr, uint64_t add);
  void wr_atomic_cmp_swp(uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap);
  /// Ours: a set bit of add_mask is the top bit of a field, whose carry is dropped; only bits of
  /// compare_mask are compared and only bits of swap_mask stored.
  void wr_masked_fetch_add(uint32_t rkey, uint64_t remote_addr, uint64_t add, uint64_t add_mask);
  void wr_masked_cmp_swp(uint32_t rkey, uint64_t remote_addr, uint64_t compare,
                         uint64_t compare_mask, uint64_t swap, uint64_t swap_mask);
  /// Stores 8 bytes at once, after all that this QP sent before; complete when they are in the
  /// peer's memory. The bytes are copied here, and there is no data to set. Needs what an atomic
  /// needs, but IBV_ACCESS_REMOTE_WRITE. draft-talpey-rdma-commit 3.1.3
  void wr_atomic_write(uint32_t rkey, uint64_t remote_addr, const void* atomic_wr);
  void wr_set_sge(uint32_t lkey, uint64_t addr, uint32_t length);
  void wr_set_sge_list(std::span<const Sge> sges);
  void wr_set_inline_data(std::span<const uint8_t> data);
  void wr_set_inline_data_list(std::span<const std::span<const uint8_t>> data);
  [[nodiscard]] Result<void> wr_complete();
  void wr_abort();
  // Not there yet: wr_complete() then answers kNotSupported (EOPNOTSUPP).
  void wr_send_imm(uint32_t imm);
  void wr_send_inv(uint32_t rkey);
  void wr_rdma_write_imm(uint32_t rkey, uint64_t remote_addr, uint32_t imm);
  void wr_imm(uint64_t imm);  // ours, as wr_verify(): rdma-core has no such operation
  void wr_verify(uint32_t rkey, uint64_t remote_addr, size_t length, std::span<const uint8_t> hash);
  void wr_local_inv(uint32_t rkey);
  void wr_bind_mw(uint32_t rkey);

  /// IBV_QPS_ERR: abort, everything outstanding is flushed. IBV_QPS_SQD: close gracefully.
  [[nodiscard]] Result<void> modify(QpState state);
  /// Asks the device.
  [[nodiscard]] Result<QpInfo> query();
  /// Aborts if connected, waits until drained, releases the connection. The destructor does it too.
  [[nodiscard]] Result<void> destroy();

  uint32_t qp_num() const;
  QpState state() const;  ///< as last seen
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

  /// All of a buffer, or length bytes from offset on; addresses are those of this process.
  [[nodiscard]] Result<Mr> reg_mr(const DmaBuffer& buffer, uint32_t access);
  [[nodiscard]] Result<Mr> reg_mr(const DmaBuffer& buffer, uint64_t offset, uint64_t length,
                                  uint32_t access);
  /// As ibv_reg_mr_iova: addresses count from iova, so that they do not depend on where the buffer
  /// lies.
  [[nodiscard]] Result<Mr> reg_mr_iova(const DmaBuffer& buffer, uint64_t offset, uint64_t length,
                                       uint64_t iova, uint32_t access);
  /// Memory that the caller owns: of malloc, mmap, a container, the stack; any alignment and length.
  /// It stays where it is, mapped, until dereg() or the end of the Mr. Without
  /// IBV_ACCESS_LOCAL_WRITE it may be write-protected.
  [[nodiscard]] Result<Mr> reg_mr(std::span<uint8_t> memory, uint32_t access);
  [[nodiscard]] Result<Mr> reg_mr_iova(std::span<uint8_t> memory, uint64_t iova, uint32_t access);
  [[nodiscard]] Result<Qp> create_qp(const QpInitAttr& attr);
  /// Not there yet: kNotSupported.
  [[nodiscard]] Result<void> alloc_mw();
  [[nodiscard]] Result<void> create_srq();

  uint32_t number() const;
  const std::shared_ptr<PdCore>& core() const { return core_; }

 private:
  std::shared_ptr<PdCore> core_;
};

/// A device in use by one thread: a doorbell page and what is created through it.
class Context {
 public:
  Context() = default;
  explicit Context(std::shared_ptr<ContextCore> core);
  [[nodiscard]] static Result<Context> open(PciDevice& dev, Manager& manager);

  const DeviceAttr& query_device() const;
  [[nodiscard]] Result<Pd> alloc_pd();
  /// Room for cqe completions; its events come on completion vector comp_vector. With flags 0
  /// several threads may poll it, and its QPs may be posted to by another thread than polls.
  [[nodiscard]] Result<Cq> create_cq(uint32_t cqe, uint32_t comp_vector = 0,
                                     uint32_t flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  /// User memory, scattered on the bus.
  [[nodiscard]] Result<DmaBuffer> alloc(uint64_t size);
  /// The next failure of one of this context's QPs or CQs. kTimedOut at the deadline; a deadline of
  /// 0 only looks.
  [[nodiscard]] Result<AsyncEvent> get_async_event(Time deadline);

  PciDevice& device() const;
  Time to_time(
      uint64_t completion_ts) const;  ///< device cycles as picoseconds since the device's reset
  const std::shared_ptr<ContextCore>& core() const { return core_; }

 private:
  std::shared_ptr<ContextCore> core_;
};

}  // namespace rnic::verbs
