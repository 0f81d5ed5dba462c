// The flow of send_inv, frwr and mw_bind: the client opens memory to the server for one message,
// and gets it back with the answer.
//
//   client: open under the next key, Send {key, address, length} -->
//   server: --> RDMA Write (op=read: RDMA Read) of `size` bytes, answer -->
//   client: --> check the bytes, next
//
// The answer is a Send with Invalidate of the key, or a Send. The derived class opens the memory:
// SendInv (invalidate.cpp), FastRegister (fast_register.cpp), BindWindow (mw_bind.cpp).
#pragma once

#include <algorithm>
#include <optional>

#include "common.hpp"

namespace rnic::programs {

class Lend {
 public:
  Lend(const Run& run, bool is_client, bool privileged);
  virtual ~Lend() = default;
  [[nodiscard]] Result<void> run();

 protected:
  static constexpr uint64_t kMargin = 192;  // bytes before and after the lent range of the buffer
  /// The loan of one message.
  struct Loan {
    // The work request that opens the memory, posted with the Send by one doorbell. Empty: loan()
    // has opened the memory.
    std::optional<verbs::SendWr> open{};
    uint32_t key = 0;
    uint64_t addr = 0;  // of the first lent byte, for the server's request
  };

  /// Client: creates the objects of a lane for its buffer.
  [[nodiscard]] virtual Result<void> prepare(const Lane& lane, const DmaBuffer& buffer) = 0;
  /// Client: the next loan.
  [[nodiscard]] virtual Result<Loan> loan(Lane& lane, const DmaBuffer& buffer) = 0;
  /// Client: the answer has arrived, and the bytes are checked.
  [[nodiscard]] virtual Result<void> returned(const Lane&) { return {}; }
  /// Client: the end of a lane.
  [[nodiscard]] virtual Result<void> end(const Lane&) { return {}; }
  /// Both: whether the server's answer invalidates the key.
  virtual bool is_invalidated() const { return true; }

  Side& side() { return side_; }
  bool reads() const { return reads_; }
  /// Bytes of memory to open: at least 1, also for messages of 0 bytes.
  uint64_t length() { return std::max(side_.params().size, 1u); }
  /// The same address in every run, and readable in a capture.
  static uint64_t iova(const Lane& lane) { return uint64_t{lane.number + 1} << 40; }

 private:
  struct State {
    DmaBuffer buffer{};  // client: contains the lent range; server: its end of the transfer
    verbs::Mr mr{};      // server
    uint32_t key = 0;    // client: key of the loan
    Time began = 0;
    bool waits = false;  // server: a request waits until the previous answer is complete
  };
  std::span<uint8_t> data(const State& s) {
    return s.buffer.bytes().subspan(kMargin, side_.params().size);
  }

  [[nodiscard]] Result<void> open_lane(const Lane& lane);
  [[nodiscard]] Result<void> lend(Lane& lane, uint64_t i);
  [[nodiscard]] Result<void> answered(Lane& lane, uint64_t i);
  void check_margins(const State& s);
  [[nodiscard]] Result<void> asked(Lane& lane, uint64_t i);
  [[nodiscard]] Result<void> served(Lane& lane, uint64_t i);
  [[nodiscard]] Result<void> serve(Lane& lane, uint64_t i);

  Side side_;
  bool reads_;
  std::vector<State> states_;
  Result<void> result_;
};

}  // namespace rnic::programs
