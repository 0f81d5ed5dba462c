// atomic_alu, RTL and model behind one interface. Operands: the vectors of ambiguities.md A-27,
// vectors typed by hand, and random ones against a reference that works field by field.
//
// The model adds bit by bit, as RFC 7306 does. The RTL adds two halves of 32 bits. The reference
// splits the words into the fields of the mask and adds each modulo its size.
#include "atomic/atomic_alu.hpp"

#include <vector>

#include "VAtomicAlu.h"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test
using model::AtomicOperands;
using model::AtomicResult;

struct Operation {
  bool is_cmp_swap = false;
  uint64_t orig = 0;
  AtomicOperands operands;
};

class ModelAlu {
 public:
  std::vector<AtomicResult> run(const std::vector<Operation>& operations, unsigned /*idle*/ = 0) {
    std::vector<AtomicResult> results;
    for (const auto& o : operations)
      results.push_back(o.is_cmp_swap ? model::cmp_swap(o.orig, o.operands)
                                      : model::fetch_add(o.orig, o.operands));
    return results;
  }
};

class RtlAlu : public tb::RtlDut<VAtomicAlu> {
 public:
  /// idle: percent of cycles without an operation; all pins are random then. Each result must come
  /// kLatency cycles after its operation (header of atomic_alu.sv).
  std::vector<AtomicResult> run(const std::vector<Operation>& operations, unsigned idle = 0) {
    static constexpr uint64_t kLatency = 2;
    std::vector<AtomicResult> results;
    std::deque<std::pair<uint64_t, const Operation*>> due;
    auto& t = top();
    restart({});
    for (size_t next = 0; next < operations.size() || !due.empty();) {
      const bool valid = next < operations.size() && !rng_.percent(idle);
      t.valid_i = valid;
      tb::set(t.is_cmp_swap_i, rng_.below(2));
      for (auto* pin : {&t.orig_i, &t.value_i, &t.mask_i, &t.compare_i, &t.compare_mask_i})
        *pin = rng_.next();
      if (valid) {
        const Operation& o = operations[next++];
        t.is_cmp_swap_i = o.is_cmp_swap;
        t.orig_i = o.orig;
        t.value_i = o.operands.data;
        t.mask_i = o.operands.mask;
        t.compare_i = o.operands.compare;
        t.compare_mask_i = o.operands.compare_mask;
        due.emplace_back(now() + kLatency, &o);
      }
      const bool wanted = !due.empty() && due.front().first == now();
      t.eval();
      EXPECT_EQ(t.valid_o != 0, wanted) << "cycle " << now();
      if (wanted) {
        const bool writes = t.write_o != 0;
        results.push_back({writes ? uint64_t{t.new_o} : due.front().second->orig, writes});
        due.pop_front();
      }
      cycle();
    }
    return results;
  }

 private:
  base::Rng rng_ = tb::test_rng("pins");
};

/// Adds each field that the mask cuts out, modulo its size.
uint64_t add_by_fields(uint64_t orig, uint64_t data, uint64_t mask) {
  uint64_t value = 0;
  for (unsigned low = 0; low < 64;) {
    unsigned top = low;
    while (top < 63 && (mask >> top & 1) == 0) top++;
    const uint64_t field = ~uint64_t{0} >> (63 - (top - low));
    value |= (((orig >> low) + (data >> low)) & field) << low;
    low = top + 1;
  }
  return value;
}

template <class Alu>
class AtomicAluTest : public testing::Test {
 protected:
  struct Vector {  // operands; then the expected new value, and whether the word is written
    uint64_t orig, data, mask, compare, compare_mask, value;
    bool writes;
  };
  void expect(bool is_cmp_swap, const std::vector<Vector>& vectors) {
    std::vector<Operation> operations;
    for (const auto& v : vectors)
      operations.push_back({is_cmp_swap, v.orig, {v.data, v.mask, v.compare, v.compare_mask}});
    const auto results = alu.run(operations);
    ASSERT_EQ(results.size(), vectors.size());
    for (size_t i = 0; i < vectors.size(); i++) {
      EXPECT_EQ(results[i].value, vectors[i].value) << "vector " << i;
      EXPECT_EQ(results[i].writes, vectors[i].writes) << "vector " << i;
    }
  }
  Alu alu;
};

using Alus = testing::Types<RtlAlu, ModelAlu>;
TYPED_TEST_SUITE(AtomicAluTest, Alus);

constexpr uint64_t kAll = ~uint64_t{0};  // a mask of all bits

// The first five vectors are those of A-27. FetchAdd ignores compare data and compare mask.
TYPED_TEST(AtomicAluTest, FetchAddVectors) {
  this->expect(
      false,
      {{0x00000000FFFFFFFF, 1, 0, 0, kAll, 0x0000000100000000, true},
       {0x00000000FFFFFFFF, 1, 0x0000000080000000, 0, kAll, 0x0000000000000000, true},
       {0xFFFFFFFFFFFFFFFF, 1, 0, 0, kAll, 0, true},
       {0xFFFF0000FFFF0001, 0x0001000100010001, 0x8000800080008000, 0, kAll, 0x0000000100000002,
        true},
       {0x000000000000F0F0, 0x0000000000000FF0, kAll, 0, kAll, 0x000000000000FF00, true},
       // A mask with only the top bit equals an empty mask.
       {0x00000000FFFFFFFF, 1, 0x8000000000000000, 0, kAll, 0x0000000100000000, true},
       {0x8000000000000001, 0x8000000000000001, 0x8000000000000000, 0, kAll, 2, true},
       // Two fields of 32 bits; each overflows.
       {0xFFFFFFFFFFFFFFFF, 0x0000000100000001, 0x8000000080000000, 0, kAll, 0, true},
       // A field of bits 0 to 32: the carry between the halves is kept, the carry out of bit 32 is
       // dropped.
       {0x00000001FFFFFFFF, 1, 0x0000000100000000, 0, kAll, 0, true},
       // Add 0 (a probe) changes nothing. The compare operands would not match.
       {0x0123456789ABCDEF, 0, 0, 5, kAll, 0x0123456789ABCDEF, true}});
}

TYPED_TEST(AtomicAluTest, CmpSwapVectors) {
  this->expect(
      true,
      {{5, 7, kAll, 5, kAll, 7, true},
       {5, 7, kAll, 4, kAll, 5, false},
       {5, 7, kAll, 4, ~uint64_t{1}, 7, true},  // the mask excludes the bit that differs
       {5, 7, kAll, 4, 1, 5, false},            // the mask selects only the bit that differs
       {0x0123456789ABCDEF, kAll, 0, 0, 0, 0x0123456789ABCDEF, true},  // swaps no bit, but writes
       {0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x00000000FFFF0000, 0, 0, 0x012345677654CDEF, true},
       {0x8000000000000000, 0, kAll, 0, kAll, 0x8000000000000000, false},
       {0x8000000000000000, 0x1111222233334444, 0xFFFF00000000FFFF, kAll, 0x8000000000000000,
        0x1111000000004444, true},
       {0x00000000FFFFFFFF, 1, kAll, 0x00000000FFFFFFFF, kAll, 1, true}});
}

TYPED_TEST(AtomicAluTest, Random) {
  auto rng = tb::test_rng("operations");
  tb::Tally met{
      "FetchAdd",      "CmpSwap that writes", "CmpSwap that does not",   "mask 0",
      "mask all ones", "one mask bit",        "carry from bit 31 to 32", "carry dropped at bit 31",
      "no idle cycle", "idle cycles"};
  // Words with long runs of ones and zeros, so that carries ripple far.
  const auto word = [&] {
    const uint64_t w = rng.next();
    const uint64_t runs = kAll >> rng.below(64) << rng.below(64);
    const uint64_t how = rng.below(4);
    return how == 0   ? w
           : how == 1 ? runs
           : how == 2 ? ~runs
                      : runs ^ (uint64_t{1} << rng.below(64));
  };
  for (unsigned idle : {0U, 40U}) {
    met(idle == 0 ? "no idle cycle" : "idle cycles");
    std::vector<Operation> operations;
    std::vector<AtomicResult> want;
    for (int i = 0; i < 20000; i++) {
      Operation o{rng.percent(40), word(), {word(), word(), word(), word()}};
      auto& [data, mask, compare, compare_mask] = o.operands;
      const uint64_t how = rng.below(6);
      if (how == 0) mask = 0;
      if (how == 1) mask = kAll;
      if (how == 2) mask = uint64_t{1} << rng.below(64);
      if (rng.percent(70)) compare = (o.orig & compare_mask) | (compare & ~compare_mask);
      if (rng.percent(10)) compare ^= uint64_t{1} << rng.below(64);
      if (o.is_cmp_swap) {
        bool writes = true;
        uint64_t value = o.orig;
        for (unsigned b = 0; b < 64; b++) {
          const uint64_t bit = uint64_t{1} << b;
          if ((compare_mask & bit) != 0 && (o.orig & bit) != (compare & bit)) writes = false;
          if ((mask & bit) != 0) value = (value & ~bit) | (data & bit);
        }
        want.push_back({writes ? value : o.orig, writes});
        met(writes ? "CmpSwap that writes" : "CmpSwap that does not");
      } else {
        want.push_back({add_by_fields(o.orig, data, mask), true});
        met("FetchAdd");
        met("mask 0", mask == 0);
        met("mask all ones", mask == kAll);
        met("one mask bit", (mask & (mask - 1)) == 0 && mask != 0);
        const bool overflows = ((o.orig & 0xffffffff) + (data & 0xffffffff)) >> 32 != 0;
        met("carry from bit 31 to 32", overflows && (mask & 0xffffffff) == 0);
        met("carry dropped at bit 31", overflows && (mask & 0xffffffff) == 0x80000000);
      }
      operations.push_back(o);
    }
    const auto results = this->alu.run(operations, idle);
    ASSERT_EQ(results.size(), want.size());
    for (size_t i = 0; i < want.size(); i++) {
      const Operation& o = operations[i];
      ASSERT_TRUE(results[i].value == want[i].value && results[i].writes == want[i].writes)
          << fmt::format(
                 "{} {:016x}, data {:016x} mask {:016x} compare {:016x} mask {:016x}: {:016x} {}, "
                 "not {:016x} {}",
                 o.is_cmp_swap ? "CmpSwap" : "FetchAdd", o.orig, o.operands.data, o.operands.mask,
                 o.operands.compare, o.operands.compare_mask, results[i].value, results[i].writes,
                 want[i].value, want[i].writes);
    }
  }
  met.expect_all();
}

// After a reset, no operation that was in either stage is output.
TEST(AtomicAluRtlTest, ResetDropsWhatIsInside) {
  RtlAlu alu;
  for (unsigned before : {1U, 2U}) {
    alu.restart({});
    alu.top().valid_i = 1;
    alu.cycles(before);
    alu.top().valid_i = 0;
    alu.reset(1);
    alu.top().eval();
    for (int i = 0; i < 5; i++) {
      EXPECT_EQ(alu.top().valid_o, 0) << i;
      alu.cycle();
    }
  }
}

}  // namespace
