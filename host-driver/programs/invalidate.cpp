// send_inv: the client registers a region for one message and gets it back by Send with Invalidate,
// as storage and RPC over RDMA do. The flow: lend.hpp.
//
//   client: register a region for this QP, Send {rkey, address, length} -->
//   server: --> RDMA Write of `size` bytes, Send with Invalidate (rkey) -->
//   client: --> completion with IBV_WC_WITH_INV: check the bytes, deregister, next
#include "lend.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

class SendInv final : public Lend {
 public:
  SendInv(const Run& run, bool is_client) : Lend(run, is_client, false) {}

 private:
  Result<void> prepare(const Lane&, const DmaBuffer&) override {
    mrs_.emplace_back();
    return {};
  }
  Result<Loan> loan(Lane& lane, const DmaBuffer& buffer) override {
    auto mr = lane.qp.reg_mr(
        buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_INVALIDATE);
    if (!mr) return error_of(mr);
    Mr& lent = mrs_[lane.number] = std::move(*mr);
    return Loan{.key = lent.rkey(), .addr = lent.addr() + kMargin};
  }
  Result<void> returned(const Lane& lane) override { return mrs_[lane.number].dereg(); }

  std::vector<Mr> mrs_;
};

}  // namespace

void send_inv(const Run& run, bool is_client) {
  guarded(run, [&] { return SendInv(run, is_client).run(); });
}

}  // namespace rnic::programs
