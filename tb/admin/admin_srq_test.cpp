// Commands on shared receive queues, and on the QPs that use them: existence, kind, references and
// arguments. On RTL and model.
#include <gtest/gtest.h>

#include "admin/admin_world.hpp"

namespace rnic::tb {
namespace {

template <class D>
class AdminSrqTest : public AdminWorld<D> {};
TYPED_TEST_SUITE(AdminSrqTest, Duts);

using spec::AdminLimitArgs;
using spec::AdminQpArgs;
using spec::AdminSrqArgs;

// SRQs and QPs share one number space. Commands on QPs refuse the number of an SRQ, and commands on
// SRQs that of a QP.
TYPED_TEST(AdminSrqTest, IsNoQp) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (auto op : {Op::kModifySrq, Op::kDestroySrq}) this->refused(Status::kNotFound, op, 5);
    this->refused(Status::kNotFound, Op::kCreateSrq, 5, this->srq(1));  // no PD yet
    this->furnish();
    this->must(Op::kCreateSrq, 5, this->srq(1));
    for (auto op : {Op::kModifyQp, Op::kQueryQp, Op::kDestroyQp})
      this->refused(Status::kNotFound, op, 5);
    for (auto op : {Op::kModifySrq, Op::kDestroySrq}) this->refused(Status::kNotFound, op, 4);
    for (uint32_t number : {4U, 5U}) {
      this->refused(Status::kExists, Op::kCreateSrq, number, this->srq(1));
      this->refused(Status::kExists, Op::kCreateQp, number, this->qp(1, 2, 3));
    }
    this->must(Op::kModifySrq, 5, AdminLimitArgs{.limit = 0xffff});
    this->must(Op::kModifySrq, 5, AdminLimitArgs{});
    this->must(Op::kDestroySrq, 5);
    this->must(Op::kCreateQp, 5, this->qp(1, 2, 3));
    this->must(Op::kQueryQp, 5);
  });
}

TYPED_TEST(AdminSrqTest, IsInUseWhileQpsTakeFromIt) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    this->must(Op::kCreateSrq, 0, this->srq(1));
    this->must(Op::kCreateSrq, 7, this->srq(1));
    this->must(Op::kCreateQp, 5, this->on_srq(this->qp(1, 2, 3), 7));
    this->must(Op::kCreateQp, 6, this->on_srq(this->qp(1, 3, 3), 7));
    this->must(Op::kDestroySrq, 0);
    this->refused(Status::kInUse, Op::kDestroySrq, 7);
    this->must(Op::kModifySrq, 7, AdminLimitArgs{.limit = 1});
    this->must(Op::kDestroyQp, 4);  // QP 4 has no SRQ
    this->must(Op::kDestroyQp, 5);
    this->refused(Status::kInUse, Op::kDestroySrq, 7);
    this->must(Op::kDestroyQp, 6);
    for (uint32_t cq : {2U, 3U}) this->must(Op::kDestroyCq, cq);  // nothing uses them any more
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    this->must(Op::kDestroySrq, 7);
    this->must(Op::kDestroyPd, 1);
  });
}

// A create_qp leaves no reference to the SRQ if admin refuses it, if qp refuses it, or if a CQ has
// overrun.
TYPED_TEST(AdminSrqTest, IsNotUsedByAQpThatIsRefused) {
  this->start({20, 20});
  this->furnish();
  this->must(Op::kCreatePd, 2);
  this->must(Op::kCreateSrq, 7, this->srq(2));
  const auto good = this->on_srq(this->qp(2, 2, 3), 7);
  this->refused(Status::kBadArgument, Op::kCreateQp, 5, this->on_srq(this->qp(1, 2, 3), 7));
  for (auto number : {uint16_t{4}, uint16_t{6}, u16(this->sizes.num_qps + 7), uint16_t{0x8007}})
    this->refused(Status::kNotFound, Op::kCreateQp, 5, this->on_srq(this->qp(2, 2, 3), number));
  this->refuse[AdminWorld<TypeParam>::kQp] = {Status::kNoResource};
  this->expect(Status::kNoResource, Op::kCreateQp, 5, good);
  this->overrun = {3};
  this->expect(Status::kBadState, Op::kCreateQp, 5, good);
  this->overrun.clear();
  this->refuse[AdminWorld<TypeParam>::kQp] = {Status::kInProgress};
  this->expect(Status::kInProgress, Op::kDestroySrq, 7);
  this->must(Op::kDestroySrq, 7);
  this->must(Op::kDestroyPd, 2);
}

TYPED_TEST(AdminSrqTest, Arguments) {
  this->start({20, 20});
  this->furnish();
  const auto refused = [&](Op op, uint32_t object, const auto& a) {
    this->refused(Status::kBadArgument, op, object, a);
  };
  const auto pages = u16(this->sizes.num_pages);
  const AdminSrqArgs good = this->srq(1);
  // The ring has 2^2 to 2^15 WQEs of 64 bytes, and is aligned to 64 bytes.
  for (uint64_t base : {0x20ULL, 1ULL, 0xffffffffffffffe0ULL}) {
    auto a = good;
    a.base = base;
    refused(Op::kCreateSrq, 5, a);
  }
  for (auto log : Some<uint8_t>{0, 1, 16, 0x82}) {
    auto a = good;
    a.log_size = log;
    refused(Op::kCreateSrq, 5, a);
  }
  for (auto page : Some<uint16_t>{pages, 0xffff}) {
    auto a = good;
    a.page = page;
    refused(Op::kCreateSrq, 5, a);
  }
  // Bytes 4 to 15, 24 and 26 to 55 are reserved.
  for (size_t at : {4, 7, 8, 15, 24, 26, 31, 32, 55}) {
    auto a = packed(good);
    a[at] = 0x80;
    refused(Op::kCreateSrq, 5, a);
  }
  for (auto pd : Some<uint16_t>{0, 0x8001})
    this->refused(Status::kNotFound, Op::kCreateSrq, 5, this->srq(pd));
  auto least = good;
  least.log_size = 2, least.page = u16(pages - 1), least.base = ~uint64_t{63};
  this->must(Op::kCreateSrq, 5, least);

  for (size_t at : {2, 7, 8, 55}) {
    auto a = packed(AdminLimitArgs{.limit = 3});
    a[at] = 1;
    refused(Op::kModifySrq, 5, a);
  }
  for (size_t at : {0, 31, 55}) {
    Args a{};
    a[at] = 1;
    refused(Op::kDestroySrq, 5, a);
  }
  // Of a QP with an SRQ, the fields of the receive queue are 0.
  for (auto log : Some<uint8_t>{1, 2, 0x80}) {
    auto a = this->on_srq(this->qp(1, 2, 3), 5);
    a.log_rq = log;
    refused(Op::kCreateQp, 6, a);
  }
  for (uint64_t base : {0x40ULL, 0x8000000000000000ULL}) {
    auto a = this->on_srq(this->qp(1, 2, 3), 5);
    a.rq_base = base;
    refused(Op::kCreateQp, 6, a);
  }
  AdminQpArgs none = this->qp(1, 2, 3);
  none.srq = 5;  // has_srq is 0
  refused(Op::kCreateQp, 6, none);
  this->must(Op::kCreateQp, 6, this->on_srq(this->qp(1, 2, 3), 5));
}

}  // namespace
}  // namespace rnic::tb
