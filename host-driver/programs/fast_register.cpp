// frwr: the client registers memory through its send queue for one message, as storage and RPC over
// RDMA do in the Linux kernel (FRWR). The flow: lend.hpp.
//
//   client: map, next key --> REG_MR, Send {rkey, address, length}, with one doorbell -->
//   server: --> RDMA Write (op=read: RDMA Read) of `size` bytes, Send with Invalidate (rkey) -->
//   client: --> completion with IBV_WC_WITH_INV: check the bytes, next
#include "lend.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

class FastRegister final : public Lend {
 public:
  // Only the client registers memory, so only its QPs are privileged.
  FastRegister(const Run& run, bool is_client) : Lend(run, is_client, is_client) {}

 private:
  Result<void> prepare(const Lane&, const DmaBuffer& buffer) override {
    auto mr = side().pd().alloc_mr(static_cast<uint32_t>(buffer.pages().size()));
    if (!mr) return error_of(mr);
    mrs_.push_back(std::move(*mr));
    return {};
  }
  Result<Loan> loan(Lane& lane, const DmaBuffer& buffer) override {
    Mr& mr = mrs_[lane.number];
    const SgRange range{.buffer = buffer, .addr = kMargin, .length = length()};
    if (auto r = mr.map_mr_sg({&range, 1}, buffer.page_size(), iova(lane)); !r) return error_of(r);
    if (auto r = mr.update_fast_reg_key(static_cast<uint8_t>(mr.rkey() + 1)); !r)
      return error_of(r);
    const uint32_t access =
        reads() ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    return Loan{.open = SendWr{.opcode = IBV_WR_REG_MR,
                               .mr = &mr,
                               .key = mr.rkey(),
                               .access = access | RNIC_ACCESS_REMOTE_INVALIDATE},
                .key = mr.rkey(),
                .addr = mr.addr()};
  }
  Result<void> end(const Lane& lane) override { return mrs_[lane.number].dereg(); }

  std::vector<Mr> mrs_;
};

}  // namespace

void fast_register(const Run& run, bool is_client) {
  guarded(run, [&] { return FastRegister(run, is_client).run(); });
}

}  // namespace rnic::programs
