// Long page lists (decision 6), on RTL and model. admin reads a list in chunks of 64 entries. It
// reads each chunk of a list of more than 64 entries twice: first it checks the whole list, then it
// checks each chunk again and writes its entries (pbl_wr). A create_mr reads at most list_part =
// 512 entries, so 8 chunks. Then admin answers in_progress. The driver sends the same create_mr
// again, with the same cookie, and admin continues. Other commands pass in between, and a list that
// its owner forgets does not keep others out.
#include <gtest/gtest.h>

#include "admin/admin_world.hpp"

namespace rnic::tb {
namespace {

using spec::AdminMrArgs;

template <class D>
class AdminListTest : public AdminWorld<D> {
 protected:
  /// A region of PD 1 with pages of 2^12 bytes, for page-list entries from `base` on. Lists with
  /// different `number` lie 1 MiB apart in memory. The minimum build has 1024 entries (num_pbl).
  ///
  /// ends(), fails() and waits() send the create_mr of such a region. They expect ok, the given
  /// error and in_progress.
  AdminMrArgs list_of(uint32_t pages, uint32_t base, unsigned number = 0) {
    return this->region(1, pages, 12, this->kBuffer + 0x100000U * number, base);
  }
  /// Calls `send`, whose command gets a cookie that depends on the slot alone. The driver, too,
  /// repeats a command with the same cookie.
  template <class F>
  auto repeated(uint32_t slot, const F& send) {
    this->cookie = static_cast<uint16_t>(0x100 + slot);
    auto rsp = send();
    this->cookie.reset();
    return rsp;
  }
  spec::AdminRsp ends(uint32_t slot, const AdminMrArgs& a) {
    return repeated(slot, [&] { return this->must(Op::kCreateMr, slot, a); });
  }
  void fails(Status status, uint32_t slot, const AdminMrArgs& a) {
    (void)repeated(slot, [&] { return this->expect(status, Op::kCreateMr, slot, a); });
  }
  spec::AdminRsp waits(uint32_t slot, const AdminMrArgs& a) {
    const auto rsp =
        repeated(slot, [&] { return this->expect(Status::kInProgress, Op::kCreateMr, slot, a); });
    EXPECT_TRUE(this->sent.empty()) << "a unit got a command";
    EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
    return rsp;
  }
  void destroy(const spec::AdminRsp& made) {
    this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
  }
  /// Checks that `written` is the whole list of the region, in order.
  void expect_entries(const std::vector<spec::PblWr>& written, const AdminMrArgs& a) {
    ASSERT_EQ(written.size(), a.pages);
    for (uint32_t i = 0; i < a.pages; i++) {
      EXPECT_EQ(written[i].index, a.pbl_base + i);
      EXPECT_EQ(written[i].address,
                base::load_le<uint64_t>(this->mem.get(a.page_list + 8 * i, 8).data()));
    }
  }
};
TYPED_TEST_SUITE(AdminListTest, Duts);

// `reads` counts admin's reads for a create_mr: the command itself, and one for each chunk. A list
// of n chunks (n > 1) takes 2n chunk reads, at most 8 of them in each create_mr.
TYPED_TEST(AdminListTest, IsReadInParts) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    for (const uint32_t pages : {65U, 256U, 257U, 448U, 511U, 512U, 513U, 600U, 1000U}) {
      const auto a = this->list_of(pages, 1000 - pages);
      const uint32_t chunks = 2 * ((pages + 63) / 64);  // chunk reads: each chunk is read twice
      std::vector<spec::PblWr> written;
      unsigned commands = 0;
      for (uint32_t left = chunks; left > 8; left -= 8, commands++) {
        this->waits(3, a);
        EXPECT_EQ(this->reads, 1U + 8U);
        written.insert(written.end(), this->pbl.begin(), this->pbl.end());
        this->must(Op::kCreatePd, 2);  // other commands pass while the list waits
        this->must(Op::kDestroyPd, 2);
        this->destroy(this->must(Op::kCreateMr, 4, this->list_of(20, 1002, 1)));
      }
      const auto made = this->ends(3, a);
      EXPECT_EQ(commands, (chunks - 1) / 8);
      written.insert(written.end(), this->pbl.begin(), this->pbl.end());
      this->expect_entries(written, a);
      this->destroy(made);
      if (testing::Test::HasFailure()) return;
    }
    this->must(Op::kDestroyPd, 1);
  });
}

// One long list waits at a time. admin answers in_progress to the create_mr of another long list,
// and reads nothing of that list. After list_patience (1024) such answers admin forgets the waiting
// list, and accepts the refused create_mr. If the owner of the waiting list continues it before
// that, the count of these answers starts again at 0.
TYPED_TEST(AdminListTest, AForgottenListKeepsNobodyOut) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  const auto a = this->list_of(500, 0);
  const auto b = this->list_of(450, 500, 1);
  const auto overlapping = this->list_of(450, 100, 2);
  this->waits(3, a);
  for (unsigned i = 0; i < 1023; i++) {  // one less than list_patience: the list of `a` stays
    this->waits(4, b);
    EXPECT_EQ(this->reads, 1U) << "nothing of the list is read";
  }
  this->destroy(this->ends(3, a));
  this->waits(3, a);  // the first of two parts: 8 of the 16 chunk reads
  for (unsigned i = 0; i < 1024; i++) {
    this->waits(4, overlapping);
    EXPECT_EQ(this->reads, 1U);
  }
  this->waits(4, overlapping);  // the entries of the forgotten list are free
  EXPECT_EQ(this->reads, 9U);
  // Now the list of `overlapping` is being read, and `a` waits.
  for (unsigned i = 0; i < 3; i++) this->waits(3, a);
  const auto made = this->ends(4, overlapping);
  // Its entries 100 to 549 are in use now, and `a` needs 0 to 499.
  this->refused(Status::kInUse, Op::kCreateMr, 3, a);
  this->destroy(made);
  this->waits(3, a);  // begins anew
  EXPECT_TRUE(this->pbl.empty());
  this->destroy(this->ends(3, a));
}

// While a long list waits, a create_mr for another slot claims some of its page-list entries. The
// list of that create_mr is short, or absent (`fast`: a slot for fast registrations). admin then
// forgets the long list: its owner may never continue it.
TYPED_TEST(AdminListTest, AShortListTakesItsEntries) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  const auto a = this->list_of(500, 0);
  for (const auto& other :
       {this->list_of(20, 499, 1),
        AdminMrArgs{.pd = 1, .log_page = 4, .pbl_base = 3, .pages = 16, .fast = 1}}) {
    this->waits(3, a);
    const auto made = this->must(Op::kCreateMr, 4, other);
    this->refused(Status::kInUse, Op::kCreateMr, 3, a);
    this->destroy(made);
    this->waits(3, a);  // begins anew
    this->destroy(this->ends(3, a));
  }
  // The entries of a region stay its own: the create_mr of slot 5 is refused. This also makes the
  // waiting list begin anew, since admin does not know whose entries were claimed.
  const auto region = this->must(Op::kCreateMr, 4, this->list_of(20, 500, 1));
  this->waits(3, a);
  this->refused(Status::kInUse, Op::kCreateMr, 5, this->list_of(20, 519, 2));
  this->waits(3, a);
  EXPECT_EQ(this->reads, 9U);
  this->destroy(this->ends(3, a));
  this->destroy(region);
}

// A command with the same arguments but another cookie begins the list anew, because the memory may
// hold another list by then.
TYPED_TEST(AdminListTest, AnotherCommandDoesNotContinueIt) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  const auto a = this->list_of(900, 0);
  for (unsigned i = 0; i < 2; i++) this->waits(3, a);
  EXPECT_FALSE(this->pbl.empty());
  this->mem[a.page_list + 1] ^= 0x10;  // bit 12 of the first address: it stays page-aligned
  this->expect(Status::kInProgress, Op::kCreateMr, 3, a);
  EXPECT_TRUE(this->pbl.empty());
  std::vector<spec::PblWr> written;
  for (unsigned i = 0; i < 3; i++) {
    this->waits(3, a);  // the first of these begins the list anew
    written.insert(written.end(), this->pbl.begin(), this->pbl.end());
  }
  const auto made = this->ends(3, a);
  written.insert(written.end(), this->pbl.begin(), this->pbl.end());
  this->expect_entries(written, a);
  this->destroy(made);
}

// While a long list waits, another create_mr takes its slot. admin forgets the list, and releases
// its page-list entries.
TYPED_TEST(AdminListTest, ItsSlotGoesToAnother) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  const auto a = this->list_of(500, 0);
  for (const auto& other :
       {this->list_of(3, 200, 1), AdminMrArgs{.pd = 1, .window = 1},
        AdminMrArgs{.pd = 1, .log_page = 4, .pbl_base = 3, .pages = 16, .fast = 1}}) {
    this->waits(3, a);
    const auto made = this->must(Op::kCreateMr, 3, other);
    this->expect(Status::kExists, Op::kCreateMr, 3, a);
    this->destroy(made);
    this->destroy(this->must(Op::kCreateMr, 4, this->list_of(60, 440, 2)));
  }
  // An argument that differs is another list.
  this->waits(3, a);
  auto changed = this->list_of(500, 1, 0);
  this->waits(3, changed);
  EXPECT_EQ(this->reads, 9U);
  this->destroy(this->ends(3, changed));
  this->destroy(this->must(Op::kCreateMr, 5, this->list_of(60, 0)));
}

// The list turns bad or unreadable, or tpt refuses the create_mr, in a later part. The page-list
// entries are free afterwards.
TYPED_TEST(AdminListTest, ALaterPartFails) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    const auto a = this->list_of(500, 0);
    auto is_free = [&] { this->destroy(this->must(Op::kCreateMr, 4, this->list_of(60, 440, 2))); };
    for (const uint32_t at : {0U, 63U, 200U, 499U}) {
      this->waits(3, a);
      this->mem[a.page_list + 8 * at] ^= 1;
      this->fails(Status::kBadArgument, 3, a);
      EXPECT_EQ(this->pbl.size(), at / 64 * 64);  // the chunks before the bad one are written
      this->mem[a.page_list + 8 * at] ^= 1;
      is_free();
      this->waits(3, a);
      this->mem.spoil(a.page_list + 8 * at);
      this->fails(Status::kDmaError, 3, a);
      this->mem.mend();
      is_free();
    }
    this->waits(3, a);
    this->refuse[W::kTpt] = {Status::kNoResource};
    this->fails(Status::kNoResource, 3, a);
    is_free();
    this->waits(3, a);
    const auto made = this->ends(3, a);
    this->expect_entries(this->pbl, a);
    this->destroy(made);
  });
}

}  // namespace
}  // namespace rnic::tb
