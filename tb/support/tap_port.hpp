// A commit tap of a Verilated module (docs/spec/commits.yaml), sampled before each rising edge as
// the simulator does. A tap has a bit `valid` (kValidBit): the commit happens in this cycle.
//
//   tb::TapPort<spec::CqOpCommit> cq_op{
//       *this, [this] { return &top().rootp->cq__DOT__u_write__DOT__tap_cq_op; }};
//   EXPECT_EQ(dut.cq_op.items().size(), 3U);
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <utility>

#include "gen/commits.hpp"
#include "support/dut.hpp"

namespace rnic::tb {

template <class Commit>
class TapPort final : public Port {
 public:
  TapPort(Dut& dut, std::function<const void*()> pins) : pins_(std::move(pins)) {
    dut.attach(this);
  }
  std::deque<Commit>& items() { return items_; }
  std::deque<Commit> take_all() { return std::exchange(items_, {}); }

  void sample() override {
    typename Commit::Words words{};
    // Verilator stores up to 8 bits in a byte, up to 16 in two, more in whole words.
    constexpr size_t kBytes = Commit::kBits <= 8 ? 1 : Commit::kBits <= 16 ? 2 : sizeof words;
    std::memcpy(words.data(), pins_(), kBytes);
    if ((words[Commit::kValidBit / 32] >> (Commit::kValidBit % 32) & 1) != 0)
      items_.push_back(Commit::from_words(words.data()));
  }
  void clear() override { items_.clear(); }

 private:
  std::function<const void*()> pins_;
  std::deque<Commit> items_;
};

}  // namespace rnic::tb
