// Ranges of page-list entries, IRD slots and ORD slots: no two regions or QPs share an entry, and a
// command that fails, or an object that is destroyed, leaves none taken. On RTL and model. The
// reference is a set of taken entries.
#include <gtest/gtest.h>

#include "admin/admin_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminModifyArgs;
using spec::AdminMrArgs;

template <class D>
class AdminRangesTest : public AdminWorld<D> {
 protected:
  using W = AdminWorld<D>;

  AdminMrArgs at(uint32_t base, uint32_t pages) {
    return this->region(1, pages, 12, this->kBuffer, base);
  }
  uint32_t make(uint32_t slot, const AdminMrArgs& a) {
    return spec::AdminMrResult::unpack(this->must(Op::kCreateMr, slot, a).result).stag;
  }
  /// A modify_qp to rts (to_state 1) of a QP with `ird` IRD slots from ird_base on, and `ord` ORD
  /// slots from ord_base on. The minimum build has 64 of each; a QP may have 32.
  static AdminModifyArgs slots(uint16_t ird_base, uint8_t ird, uint16_t ord_base, uint8_t ord) {
    return {.to_state = 1,
            .connection = 7,
            .ird = ird,
            .ord = ord,
            .ird_base = ird_base,
            .ord_base = ord_base};
  }
};
TYPED_TEST_SUITE(AdminRangesTest, Duts);

// Two ranges in each position to the other, at the borders of the 64-bit words in which admin keeps
// a bit for each entry.
TYPED_TEST(AdminRangesTest, PageListsDoNotOverlap) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  struct Case {
    uint32_t base, pages;
    bool overlaps;
  };
  for (const uint32_t base : {0U, 1U, 63U, 64U, 65U, 100U}) {
    for (const uint32_t pages : {1U, 2U, 63U, 64U, 65U, 130U}) {
      const uint32_t stag = this->make(1, this->at(base, pages));
      const uint32_t end = base + pages;
      for (const Case& c : std::initializer_list<Case>{{end, 1, false},
                                                       {end, 70, false},
                                                       {end - 1, 1, true},
                                                       {end - 1, 80, true},
                                                       {base, 1, true},
                                                       {base, pages, true},
                                                       {0, end + 70, true},
                                                       {0, base + 1, true},
                                                       {0, base, false}}) {
        if (c.pages == 0) continue;
        const auto a = this->at(c.base, c.pages);
        if (c.overlaps) {
          this->refused(Status::kInUse, Op::kCreateMr, 2, a);
          EXPECT_EQ(this->reads, 1U) << "only the command: the list is not read";
        } else {
          this->must(Op::kDestroyMr, this->make(2, a));
        }
        ASSERT_FALSE(testing::Test::HasFailure())
            << base << "+" << pages << ", then " << c.base << "+" << c.pages;
      }
      this->must(Op::kDestroyMr, stag);
    }
  }
  // The last 8 entries, kept for fast registrations (`fast`). A window needs no entries.
  const uint32_t last = this->sizes.num_pbl - 8;
  const uint32_t kept =
      this->make(1, {.pd = 1, .log_page = 3, .pbl_base = last, .pages = 8, .fast = 1});
  this->refused(Status::kInUse, Op::kCreateMr, 2, this->at(last + 7, 1));
  this->refused(Status::kInUse, Op::kCreateMr, 2,
                AdminMrArgs{.pd = 1, .log_page = 0, .pbl_base = last, .pages = 1, .fast = 1});
  const uint32_t window = this->make(2, {.pd = 1, .window = 2});
  this->must(Op::kDestroyMr, kept);
  this->must(Op::kDestroyMr, this->make(1, this->at(last, 8)));
  this->must(Op::kDestroyMr, window);
}

// The entries are free after a create_mr that fails at any step, and taken until destroy_mr is
// answered ok.
TYPED_TEST(AdminRangesTest, AFailedCreateHasNone) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    const auto a = this->at(60, 70);
    const auto other = this->at(64, 1);
    auto is_free = [&] { this->must(Op::kDestroyMr, this->make(2, other)); };
    this->refuse[W::kTpt] = {Status::kNoResource};
    this->expect(Status::kNoResource, Op::kCreateMr, 1, a);
    is_free();
    this->mem.spoil(a.page_list + 8 * 69);
    this->expect(Status::kDmaError, Op::kCreateMr, 1, a);
    this->mem.mend();
    is_free();
    this->mem[a.page_list + 8 * 65] ^= 1;
    this->expect(Status::kBadArgument, Op::kCreateMr, 1, a);
    this->mem[a.page_list + 8 * 65] ^= 1;
    is_free();
    const uint32_t stag = this->make(1, a);
    for (const Status status : {Status::kInProgress, Status::kInUse}) {
      this->refuse[W::kTpt] = {status};
      this->expect(status, Op::kDestroyMr, stag);
      this->refused(Status::kInUse, Op::kCreateMr, 2, other);
    }
    this->expect(Status::kNotFound, Op::kDestroyMr, stag ^ 1);
    this->refused(Status::kInUse, Op::kCreateMr, 2, other);
    this->must(Op::kDestroyMr, stag);
    is_free();
  });
}

TYPED_TEST(AdminRangesTest, SlotsOfTwoQpsDoNotOverlap) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    this->must(Op::kCreateQp, 5, this->qp(1, 2, 3));
    auto restart = [&](uint32_t qpn) {
      this->must(Op::kDestroyQp, qpn);
      this->must(Op::kCreateQp, qpn, this->qp(1, 2, 3));
    };
    auto busy = [&](const AdminModifyArgs& a) {
      this->expect(Status::kInUse, Op::kModifyQp, 5, a);
      // admin has only queried the QP's state; the last output is its response.
      EXPECT_EQ(this->order, (std::vector<std::string>{"qp query_qp 5", this->order.back()}));
    };
    // QP 4 takes IRD slots 10 to 29 and ORD slots 32 to 63.
    this->must(Op::kModifyQp, 4, this->slots(10, 20, 32, 32));
    busy(this->slots(29, 1, 0, 1));
    busy(this->slots(0, 11, 0, 0));
    busy(this->slots(0, 0, 31, 2));
    busy(this->slots(30, 1, 63, 1));  // the ORD range overlaps: IRD slot 30 is not taken either
    this->must(Op::kModifyQp, 5, this->slots(30, 1, 10, 20));  // ORD: another pool
    restart(5);
    this->must(Op::kModifyQp, 5, this->slots(0, 0, 0, 0));
    restart(5);
    // The slots are free after a modify_qp that fails. They are free after in_progress from
    // query_qp, too. They stay taken after a destroy_qp that answers in_progress.
    const auto good = this->slots(30, 2, 0, 32);
    this->refuse[W::kConn] = {Status::kBadState};
    this->expect(Status::kBadState, Op::kModifyQp, 5, good);
    this->refuse[W::kQp] = {Status::kOk, Status::kNoResource};
    this->expect(Status::kNoResource, Op::kModifyQp, 5, good);
    this->refuse[W::kQp] = {Status::kInProgress};  // its query_qp
    this->expect(Status::kInProgress, Op::kModifyQp, 5, good);
    this->must(Op::kModifyQp, 5, good);
    this->refuse[W::kQp] = {Status::kInProgress};
    this->expect(Status::kInProgress, Op::kDestroyQp, 5);
    this->must(Op::kCreateQp, 6, this->qp(1, 2, 3));
    this->expect(Status::kInUse, Op::kModifyQp, 6, this->slots(31, 1, 0, 0));
    this->must(Op::kDestroyQp, 6);  // QP 6 has no slots: those of QP 5 stay taken
    this->must(Op::kCreateQp, 6, this->qp(1, 2, 3));
    this->expect(Status::kInUse, Op::kModifyQp, 6, this->slots(31, 1, 0, 0));
    this->must(Op::kDestroyQp, 5);
    this->must(Op::kModifyQp, 6, this->slots(31, 1, 0, 32));
    this->must(Op::kDestroyQp, 4);
    this->must(Op::kCreateQp, 4, this->qp(1, 2, 3));
    this->must(Op::kModifyQp, 4, this->slots(0, 31, 32, 32));
  });
}

// Regions of 1 to 90 entries in 16 slots, created and destroyed at random. `taken` is the
// reference.
TYPED_TEST(AdminRangesTest, AtRandom) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    std::vector<bool> taken(this->sizes.num_pbl);
    struct Made {
      uint32_t stag, base, pages;
    };
    std::map<uint32_t, Made> made;  // by slot
    unsigned refusals = 0, successes = 0;
    for (unsigned i = 0; i < 300; i++) {
      const auto slot = u32(this->rng.below(16));
      if (const auto it = made.find(slot); it != made.end()) {
        const auto [stag, base, pages] = it->second;
        this->must(Op::kDestroyMr, stag);
        std::fill_n(taken.begin() + base, pages, false);
        made.erase(it);
        continue;
      }
      const auto pages = u32(this->rng.between(1, 90));
      const auto base = u32(this->rng.below(512));
      const bool is_free = std::find(taken.begin() + base, taken.begin() + base + pages, true) ==
                           taken.begin() + base + pages;
      const auto a = this->at(base, pages);
      if (!is_free) {
        refusals++;
        this->refused(Status::kInUse, Op::kCreateMr, slot, a);
      } else {
        successes++;
        made[slot] = {this->make(slot, a), base, pages};
        std::fill_n(taken.begin() + base, pages, true);
      }
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(refusals, 20U);
    EXPECT_GT(successes, 60U);
  });
}

}  // namespace
}  // namespace rnic::tb
