// mw_bind: the client registers a region once, and binds a memory window to a part of it for each
// message. The flow: lend.hpp.
//
//   client: BIND_MW (next key), Send {rkey, address, length}, with one doorbell -->
//   server: --> RDMA Write (op=read: RDMA Read) of `size` bytes through the window
//           type=2: --> Send with Invalidate (rkey);  type=1: --> Send
//   client: --> check the bytes, next. A window of type 1 is still bound: its next bind closes it.
#include "lend.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

class BindWindow final : public Lend {
 public:
  BindWindow(const Run& run, bool is_client)
      : Lend(run, is_client, false),
        type_(run.params.mw_type == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2) {}

 private:
  struct Window {
    Mr mr;
    Mw mw;
  };

  Result<void> prepare(const Lane& lane, const DmaBuffer& buffer) override {
    // Without remote rights: the peer has access only through the window.
    const uint32_t access = IBV_ACCESS_MW_BIND | (reads() ? 0u : IBV_ACCESS_LOCAL_WRITE);
    auto mr = side().pd().reg_mr_iova(buffer, 0, buffer.size(), iova(lane), access);
    if (!mr) return error_of(mr);
    auto mw = side().pd().alloc_mw(type_);
    if (!mw) return error_of(mw);
    windows_.push_back({.mr = std::move(*mr), .mw = std::move(*mw)});
    return {};
  }
  Result<Loan> loan(Lane& lane, const DmaBuffer&) override {
    auto& [mr, mw] = windows_[lane.number];
    const uint32_t key = inc_rkey(mw.rkey());
    const uint64_t addr = mr.addr() + kMargin;
    return Loan{.open = SendWr{.opcode = IBV_WR_BIND_MW,
                               .key = key,
                               .mw = &mw,
                               .bind_info = {.mr = &mr,
                                             .addr = addr,
                                             .length = length(),
                                             .access = reads() ? IBV_ACCESS_REMOTE_READ
                                                               : IBV_ACCESS_REMOTE_WRITE}},
                .key = key,
                .addr = addr};
  }
  Result<void> end(const Lane& lane) override {
    if (auto r = windows_[lane.number].mw.dealloc(); !r) return r;
    return windows_[lane.number].mr.dereg();
  }
  bool is_invalidated() const override { return type_ == IBV_MW_TYPE_2; }

  MwType type_;
  std::vector<Window> windows_;
};

}  // namespace

void mw_bind(const Run& run, bool is_client) {
  guarded(run, [&] { return BindWindow(run, is_client).run(); });
}

}  // namespace rnic::programs
