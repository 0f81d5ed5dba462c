// admin: each command, the order of its checks, references between objects, page lists, streaming
// bytes, the rings; then random commands against a reference. Contract:
// docs/theory-of-operation.md, admin; docs/spec/queues.yaml. Values of to_state there: 1 rts, 2
// closing, 4 error.
//
// admin_world.hpp plays the driver, host memory and the units. must() sends a command that must
// succeed, expect() one with the given status, refused() one that admin itself must refuse without
// any effect. furnish() creates PD 1, EQ 1, CQs 2 and 3, and QP 4 with these. `sent` holds the
// commands that units got since the last command of the driver. refuse[unit] holds the statuses of
// a unit's next responses.
#include <gtest/gtest.h>

#include <set>

#include "admin/admin_world.hpp"

namespace rnic::tb {
namespace {

template <class D>
class AdminTest : public AdminWorld<D> {};
TYPED_TEST_SUITE(AdminTest, Duts);

/// RTL only: cycles.
template <class D>
class AdminRtlTest : public AdminTest<D> {};
TYPED_TEST_SUITE(AdminRtlTest, RtlDuts);

using spec::AdminConnArgs;
using spec::AdminGiveResult;
using spec::AdminModifyArgs;
using spec::AdminMrArgs;
using spec::AdminQpArgs;
using spec::AdminRingArgs;

/// Arguments of which only one byte is not 0. Byte 55 is reserved in every command.
Args one(size_t at) {
  Args a{};
  a[at] = 1;
  return a;
}

TYPED_TEST(AdminTest, EveryCommand) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kNop, 0xffffffff);  // nop ignores its object
    this->furnish();
    this->must(Op::kQueryCq, 3);
    this->must(Op::kModifyCq, 3, this->ring(1));
    this->must(Op::kQueryQp, 4);
    this->must(Op::kModifyQp, 4, AdminModifyArgs{.to_state = 2});
    this->must(
        Op::kModifyQp, 4,
        AdminModifyArgs{.to_state = 4, .connection = 0xffff, .ird = 99, .stream_length = 0xffff});
    const auto made = this->must(Op::kCreateMr, this->sizes.num_stags - 1, this->region(1));
    const auto stag = spec::AdminMrResult::unpack(made.result).stag;
    this->must(Op::kQueryMr, stag);
    this->must(Op::kDestroyMr, stag);
    for (auto op : {Op::kConnListen, Op::kConnUnlisten}) {
      this->must(op, 0);
      this->must(op, 0xffff);
    }
    this->must(Op::kConnConnect, 0, AdminConnArgs{.peer_port = 20049, .peer_address = 0x7f000001});
    this->must(Op::kConnConnect, 77,
               AdminConnArgs{.address = 5, .length = 6, .peer_address = 1});  // not checked
    for (auto op : {Op::kConnQuery, Op::kConnClose, Op::kConnAbort, Op::kConnRelease}) {
      this->must(op, 0);
      this->must(op, this->sizes.num_conns - 1);
    }
    this->must(Op::kDestroyQp, 4);
    this->must(Op::kDestroyCq, 2);
    this->must(Op::kDestroyCq, 3);
    this->must(Op::kDestroyEq, 1);
    this->must(Op::kDestroyPd, 1);
    this->refused(Status::kNotFound, Op::kDestroyPd, 1);
    EXPECT_FALSE(this->dut.fatal());
  });
}

TYPED_TEST(AdminTest, OpcodesAndFlags) {
  this->start({20, 20});
  std::set<unsigned> known;
  for (const auto op : spec::kAllAdminOpcode) known.insert(static_cast<unsigned>(op));
  for (unsigned op = 0; op < 256; op++)
    if (!known.contains(op)) this->refused(Status::kBadOpcode, static_cast<Op>(op), 0);
  for (const auto op : known) {
    for (unsigned flag = 0; flag < 8; flag += 7) {
      const auto rsp = this->command(static_cast<Op>(op), 0xffffffff, one(55), u8(1U << flag));
      EXPECT_EQ(rsp.status, Status::kBadOpcode);
      EXPECT_TRUE(this->sent.empty());
    }
  }
  this->must(Op::kCreatePd, 0);  // none of the refused commands has created PD 0
}

// admin checks the range of the object's number before everything except opcode and flags.
TYPED_TEST(AdminTest, Objects) {
  this->start({20, 20});
  const auto& s = this->sizes;
  const std::pair<uint32_t, std::vector<Op>> rows[] = {
      {s.num_pds, {Op::kCreatePd, Op::kDestroyPd}},
      {s.num_eqs, {Op::kCreateEq, Op::kDestroyEq}},
      {s.num_cqs, {Op::kCreateCq, Op::kQueryCq, Op::kDestroyCq, Op::kModifyCq}},
      {s.num_qps,
       {Op::kCreateQp, Op::kModifyQp, Op::kQueryQp, Op::kDestroyQp, Op::kCreateSrq, Op::kModifySrq,
        Op::kDestroySrq}},
      {s.num_stags, {Op::kCreateMr}},
      {0x10000, {Op::kConnListen, Op::kConnUnlisten}},
      {s.num_conns,
       {Op::kConnQuery, Op::kConnGive, Op::kConnSend, Op::kConnClose, Op::kConnAbort,
        Op::kConnRelease}}};
  for (const auto& [count, ops] : rows)
    for (const auto op : ops)
      for (uint32_t object : {count, count | 0x10000U, 0x10000U, 0x80000000U, 0xffffffffU})
        this->refused(Status::kBadObject, op, object, one(40));
  for (uint32_t pd : {0U, s.num_pds - 1}) this->must(Op::kCreatePd, pd);
  for (uint32_t eq : {0U, s.num_eqs - 1}) this->must(Op::kCreateEq, eq, this->ring());
  for (uint32_t cq : {0U, s.num_cqs - 1})
    this->must(Op::kCreateCq, cq, this->ring(u8(s.num_eqs - 1)));
  for (uint32_t q : {0U, s.num_qps - 1})
    this->must(Op::kCreateQp, q, this->qp(u16(s.num_pds - 1), 0, u16(s.num_cqs - 1)));
  for (uint32_t q : {0U, s.num_qps - 1}) this->must(Op::kDestroyQp, q);
}

TYPED_TEST(AdminTest, ExistenceAndReferences) {
  each_pace([&](Pace pace) {
    this->start(pace);
    const auto bad = one(50);  // existence and references are checked before arguments
    for (auto op :
         {Op::kDestroyPd, Op::kDestroyEq, Op::kQueryCq, Op::kDestroyCq, Op::kModifyCq,
          Op::kModifyQp, Op::kQueryQp, Op::kDestroyQp, Op::kCreateMr, Op::kCreateCq, Op::kCreateQp})
      this->refused(Status::kNotFound, op, 1, bad);
    this->furnish();
    this->refused(Status::kExists, Op::kCreatePd, 1, bad);
    this->refused(Status::kExists, Op::kCreateEq, 1, bad);
    this->refused(Status::kExists, Op::kCreateCq, 2, bad);
    this->refused(Status::kExists, Op::kCreateQp, 4, bad);
    auto wrong = this->ring(0);
    wrong.reserved1 = 1;
    this->refused(Status::kNotFound, Op::kCreateCq, 5, wrong);
    this->refused(Status::kNotFound, Op::kModifyCq, 2, this->ring(0));
    for (auto eqn : Some<uint8_t>{u8(this->sizes.num_eqs + 1), u8(0x81), u8(0xff)}) {  // 1 exists
      this->refused(Status::kNotFound, Op::kCreateCq, 5, this->ring(eqn));
      this->refused(Status::kNotFound, Op::kModifyCq, 2, this->ring(eqn));
    }
    for (auto far : Some<uint16_t>{u16(0x8000), u16(0x4000)}) {
      for (const auto& a :
           {this->qp(0, 2, 3), this->qp(u16(far + 1), 2, 3), this->qp(1, 1, 3),
            this->qp(1, u16(far + 2), 3), this->qp(1, 2, 1), this->qp(1, 2, u16(far + 3))})
        this->refused(Status::kNotFound, Op::kCreateQp, 5, a);
      this->refused(Status::kNotFound, Op::kCreateMr, 5, this->region(u16(far + 1)));
    }
    this->refused(Status::kNotFound, Op::kCreateMr, 5, this->region(0));

    // An object with references cannot be destroyed.
    const std::pair<Op, uint32_t> used[] = {
        {Op::kDestroyPd, 1}, {Op::kDestroyEq, 1}, {Op::kDestroyCq, 2}, {Op::kDestroyCq, 3}};
    for (const auto& [op, object] : used) this->refused(Status::kInUse, op, object);
    this->must(Op::kCreateQp, 5, this->qp(1, 2, 2));  // the same CQ twice
    this->must(Op::kDestroyQp, 4);
    this->must(Op::kDestroyCq, 3);
    this->refused(Status::kInUse, Op::kDestroyCq, 2);
    this->must(Op::kCreateEq, 0, this->ring());
    this->must(Op::kModifyCq, 2, this->ring(0));
    this->must(Op::kDestroyEq, 1);
    this->refused(Status::kInUse, Op::kDestroyEq, 0);
    this->must(Op::kModifyCq, 2, this->ring(0));  // its current EQ
    this->must(Op::kDestroyQp, 5);
    this->must(Op::kDestroyCq, 2);
    this->must(Op::kDestroyEq, 0);
    // Each of two regions counts as a reference to its PD.
    uint32_t stags[2];
    for (uint32_t i = 0; i < 2; i++)
      stags[i] =
          spec::AdminMrResult::unpack(this->must(Op::kCreateMr, i, this->region(1)).result).stag;
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    this->expect(Status::kExists, Op::kCreateMr, 1, this->region(1));  // reported by tpt
    this->must(Op::kDestroyMr, stags[0]);
    this->expect(Status::kNotFound, Op::kDestroyMr, stags[0]);
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    this->must(Op::kDestroyMr, stags[1]);
    this->must(Op::kDestroyPd, 1);
    this->refused(Status::kNotFound, Op::kCreateMr, 1, this->region(1));
  });
}

/// Each copy differs from a good one in one field.
template <class A>
class Spoiled {
 public:
  explicit Spoiled(const A& good) : good_(good) {}
  template <class T>
  Spoiled& with(T A::*field, std::initializer_list<std::type_identity_t<T>> values) {
    for (const auto& v : values) {
      all_.push_back(good_);
      all_.back().*field = v;
    }
    return *this;
  }
  template <size_t N>
  Spoiled& filled(std::array<uint8_t, N> A::*field) {
    for (size_t at : {size_t{0}, N - 1}) {
      all_.push_back(good_);
      (all_.back().*field)[at] = 0x80;
    }
    return *this;
  }
  const std::vector<A>& all() const { return all_; }

 private:
  A good_;
  std::vector<A> all_;
};

TYPED_TEST(AdminTest, RingArguments) {
  this->start({20, 20});
  const auto pages = u16(this->sizes.num_pages), vectors = u16(this->sizes.num_vectors);
  this->furnish();
  // At most 2^15 entries, aligned to an entry: 16 bytes of an EQE, 32 of a CQE.
  Spoiled<AdminRingArgs> bad(this->ring(1));
  bad.with(&AdminRingArgs::log_size, {16, 255})
      .with(&AdminRingArgs::vector, {u8(vectors), 255})
      .with(&AdminRingArgs::page, {pages, 0x8000, 0xffff})
      .with(&AdminRingArgs::reserved0, {1, 0x80})
      .with(&AdminRingArgs::reserved1, {1, 0x8000})
      .filled(&AdminRingArgs::reserved2);
  for (const auto& a : bad.all()) {
    this->refused(Status::kBadArgument, Op::kCreateCq, 5, a);
    this->refused(Status::kBadArgument, Op::kCreateEq, 0, a);
  }
  for (uint64_t base : {0x1000001ULL, 0x1000008ULL}) {
    auto a = this->ring(1);
    a.base = base;
    this->refused(Status::kBadArgument, Op::kCreateEq, 0, a);
    this->refused(Status::kBadArgument, Op::kCreateCq, 5, a);
  }
  auto a = this->ring(1);
  a.base = 0x10;  // an EQE's size, not a CQE's
  this->refused(Status::kBadArgument, Op::kCreateCq, 5, a);
  a.log_size = 15, a.vector = u8(vectors - 1), a.page = u16(pages - 1),
  a.eqn = 0xff;  // eqn is not checked
  this->must(Op::kCreateEq, 0, a);
  a.base = ~uint64_t{31}, a.eqn = 0, a.log_size = 0;
  this->must(Op::kCreateCq, 5, a);
  auto m = this->ring(1);
  m.reserved1 = 2;
  this->refused(Status::kBadArgument, Op::kModifyCq, 5, m);
  this->must(Op::kModifyCq, 5, this->ring(1));
}

TYPED_TEST(AdminTest, QpArguments) {
  this->start({20, 20});
  this->furnish();
  // Rings have 2^2 to 2^15 units of 64 bytes, and are aligned to 64 bytes.
  Spoiled<AdminQpArgs> bad(this->qp(1, 2, 3));
  bad.with(&AdminQpArgs::page, {u16(this->sizes.num_pages), 0xffff})
      .with(&AdminQpArgs::sq_base, {0x20, 1, 0xffffffffffffffe0})
      .with(&AdminQpArgs::rq_base, {0x20, 1, 0xffffffffffffffe0})
      .with(&AdminQpArgs::log_sq, {0, 1, 16, 0x82})
      .with(&AdminQpArgs::log_rq, {0, 1, 16, 0x82})
      .with(&AdminQpArgs::reserved0, {1, 1 << 13})
      .with(&AdminQpArgs::reserved2, {1, 0x8000})
      .with(&AdminQpArgs::srq, {1, 0x8000})
      .filled(&AdminQpArgs::reserved1);
  for (const auto& a : bad.all()) this->refused(Status::kBadArgument, Op::kCreateQp, 5, a);
  this->must(Op::kCreateQp, 5, this->qp(1, 3, 3));

  // At most 32 IRD and 32 ORD slots (max_ird, max_ord), and 532 streaming bytes: an MPA Reply of 20
  // bytes with 512 of private data.
  const auto& s = this->sizes;
  // With bases 0 a range of 33 slots lies inside the pool: only the limit of a QP refuses it.
  auto low = this->to_rts(1);
  low.ird_base = low.ord_base = 0;
  Spoiled<AdminModifyArgs> many(low);
  many.with(&AdminModifyArgs::ird, {33, 255}).with(&AdminModifyArgs::ord, {33, 255});
  for (const auto& a : many.all()) this->refused(Status::kBadArgument, Op::kModifyQp, 5, a);
  Spoiled<AdminModifyArgs> mod(this->to_rts(1));
  mod.with(&AdminModifyArgs::to_state, {0, 3, 5, 9, 0x81})
      .with(&AdminModifyArgs::reserved0, {1, 4})
      .with(&AdminModifyArgs::connection, {u16(s.num_conns), 0xffff})
      .with(&AdminModifyArgs::ird, {33, 255})
      .with(&AdminModifyArgs::ord, {33, 255})
      .with(&AdminModifyArgs::ird_base, {u16(s.ird_slots - 31), 0xffff})
      .with(&AdminModifyArgs::ord_base, {u16(s.ord_slots), 0xffff})
      .with(&AdminModifyArgs::stream_length, {533, 0xffff})
      .with(&AdminModifyArgs::reserved1, {1, 0x8000})
      .with(&AdminModifyArgs::reserved2, {1, 0x8000})
      .filled(&AdminModifyArgs::reserved3);
  for (const auto& a : mod.all()) this->refused(Status::kBadArgument, Op::kModifyQp, 5, a);
  for (auto state : Some<uint8_t>{2, 4}) {
    this->refused(Status::kBadArgument, Op::kModifyQp, 5,
                  AdminModifyArgs{.to_state = state, .reserved2 = 1});
    this->must(Op::kModifyQp, 5, AdminModifyArgs{.to_state = state});
  }
  auto most = this->to_rts(u16(s.num_conns - 1));
  most.ird_base = u16(s.ird_slots - 32), most.ord_base = u16(s.ord_slots - 1);
  this->must(Op::kModifyQp, 5, most);
  most.ird = most.ord = 0, most.ird_base = u16(s.ird_slots), most.ord_base = u16(s.ord_slots);
  this->must(Op::kModifyQp, 5, most);

  // Commands without arguments must have zero argument bytes.
  const std::pair<Op, uint32_t> without[] = {
      {Op::kNop, 0},        {Op::kCreatePd, 0},     {Op::kDestroyPd, 1}, {Op::kQueryCq, 2},
      {Op::kQueryQp, 5},    {Op::kDestroyQp, 5},    {Op::kQueryMr, 0},   {Op::kDestroyMr, 0},
      {Op::kConnListen, 1}, {Op::kConnUnlisten, 1}, {Op::kConnQuery, 1}, {Op::kConnClose, 1},
      {Op::kConnAbort, 1},  {Op::kConnRelease, 1}};
  for (const auto& [op, object] : without) {
    for (size_t at : {0, 31, 55})
      this->refused(op == Op::kDestroyPd ? Status::kInUse : Status::kBadArgument, op, object,
                    one(at));
  }
  Spoiled<AdminConnArgs> conn({.address = 8, .length = 4});
  conn.filled(&AdminConnArgs::reserved0);
  for (const auto& a : conn.all())
    for (auto op : {Op::kConnConnect, Op::kConnGive, Op::kConnSend})
      this->refused(Status::kBadArgument, op, 1, a);
  for (auto op : {Op::kConnGive, Op::kConnSend})
    this->refused(Status::kBadArgument, op, 1, AdminConnArgs{.address = 8});
  for (auto n : Some<uint16_t>{1025, 0xffff})  // admin holds 1024 bytes for conn_send
    this->refused(Status::kBadArgument, Op::kConnSend, 1, AdminConnArgs{.length = n});
}

TYPED_TEST(AdminTest, RegionArguments) {
  this->start({20, 20});
  this->must(Op::kCreatePd, 1);
  const auto pbl = this->sizes.num_pbl;
  const auto good = this->region(1, 3, 13);  // 3 pages of 8 KiB; pages may have 4 KiB to 2 MiB
  // Rights: 1 local write, 2 remote write, 4 remote read, 8 remote atomic, 0x10 windows may be
  // bound, 0x100 and 0x200 Flush, 0x400 remote invalidation. Refused: unknown bits; remote write
  // without local write (2, 6, 0x12); 0x400 for a region that is bound to no QP.
  Spoiled<AdminMrArgs> bad(good);
  bad.with(&AdminMrArgs::log_page, {0, 11, 22, 23, 32 + 13, 255})
      .with(&AdminMrArgs::rights, {0x20, 0x8001, 2, 6, 0x400, 0x12})
      .with(&AdminMrArgs::qpn, {1, 0x8000})
      .with(&AdminMrArgs::length,
            {0, 3 * 8192 + 1, uint64_t{1} << 48, (uint64_t{1} << 48) + 1, ~uint64_t{0}})
      .with(&AdminMrArgs::first_offset, {1, 8192, 0x80000000})
      .with(&AdminMrArgs::pages, {0, 1, 2, 0xffffffff, 0x80000003})
      .with(&AdminMrArgs::pbl_base, {pbl - 2, pbl, 0xffffffff})
      .with(&AdminMrArgs::window, {1, 2, 3})
      .with(&AdminMrArgs::reserved1, {1, 0x8000000})
      .with(&AdminMrArgs::reserved2, {1, uint64_t{1} << 63});
  for (const auto& a : bad.all()) this->refused(Status::kBadArgument, Op::kCreateMr, 7, a);
  // Bound to a QP: only then it may have the right to be invalidated by the peer.
  auto bound = good;
  bound.bound = 1;
  for (const auto qpn : Some<uint32_t>{this->sizes.num_qps, 0xffff}) {
    bound.qpn = static_cast<uint16_t>(qpn);
    this->refused(Status::kBadArgument, Op::kCreateMr, 7, bound);
  }
  this->must(Op::kDestroyPd, 1);  // no refused create_mr refers to the PD
  this->must(Op::kCreatePd, 1);
  bound.qpn = static_cast<uint16_t>(this->sizes.num_qps - 1);
  bound.rights |= spec::kAccessRemoteInvalidate;
  uint32_t slot = 8;
  auto ok = [&](AdminMrArgs a) {
    const auto made = this->must(Op::kCreateMr, slot++, a);
    this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
  };
  ok(good);
  ok(bound);
  // No peer may invalidate a region that has windows.
  auto both = bound;
  both.rights |= spec::kAccessMwBind;
  this->refused(Status::kBadArgument, Op::kCreateMr, 7, both);
  both.rights = spec::kAccessMwBind | 3;
  ok(both);
  for (auto rights : Some<uint16_t>{0, 1, 3, 4, 5, 7, 0x10, 0x100, 0x200, 0x31f}) {
    auto a = good;
    a.rights = rights;
    ok(a);
  }
  auto a = good;
  a.pbl_base = pbl - 3;
  ok(a);
  a = good;
  a.first_offset = 8191, a.length = 3 * 8192 - 8191;
  ok(a);
  a.length++;
  this->refused(Status::kBadArgument, Op::kCreateMr, slot, a);
  a = good;
  a.length = 1, a.base_to = ~uint64_t{0},
  a.key = 255;  // more pages than needed; up to the end of TOs
  ok(a);
  // Cases that only this check refuses: one byte in pages of an unsupported size, or beyond the
  // first page.
  for (const uint8_t log : Some<uint8_t>{0, 11, 22}) {
    a = this->region(1, 1, log);
    a.length = 1;
    this->refused(Status::kBadArgument, Op::kCreateMr, slot, a);
  }
  a = this->region(1, 3, 13);
  a.length = 1, a.first_offset = 8192;
  this->refused(Status::kBadArgument, Op::kCreateMr, slot, a);
  // Kept for fast registrations: room for 2^log_page entries, nothing else, and no list is read.
  const AdminMrArgs kept{.pd = 1, .key = 5, .log_page = 3, .pages = 8, .fast = 1};
  Spoiled<AdminMrArgs> worse(kept);
  worse.with(&AdminMrArgs::log_page, {2, 4, 64 + 3, 255})
      .with(&AdminMrArgs::pages, {0, 7, 9, 0x80000008})
      .with(&AdminMrArgs::pbl_base, {pbl - 7, pbl, 0xffffffff})
      .with(&AdminMrArgs::rights, {1})
      .with(&AdminMrArgs::qpn, {1})
      .with(&AdminMrArgs::bound, {1})
      .with(&AdminMrArgs::base_to, {1})
      .with(&AdminMrArgs::length, {1})
      .with(&AdminMrArgs::first_offset, {1})
      .with(&AdminMrArgs::page_list, {8})
      .with(&AdminMrArgs::window, {1, 2, 3})
      .with(&AdminMrArgs::reserved1, {1, 0x8000000})
      .with(&AdminMrArgs::reserved2, {1, uint64_t{1} << 63});
  for (const auto& w : worse.all()) this->refused(Status::kBadArgument, Op::kCreateMr, slot, w);
  ok(kept);
  a = kept;
  a.pbl_base = pbl - 8;
  ok(a);
  a = kept;
  a.log_page = 0, a.pages = 1;
  ok(a);
}

// A create_mr of a memory window has a type, a PD and a key. All other arguments must be 0, and
// admin reads no page list.
TYPED_TEST(AdminTest, WindowArguments) {
  each_pace([&](Pace pace) {
    this->start(pace);
    uint32_t slot = 3;
    for (const uint8_t type : Some<uint8_t>{1, 2}) {
      const AdminMrArgs good{.pd = 1, .key = 5, .window = type};
      this->refused(Status::kNotFound, Op::kCreateMr, slot, good);  // the PD
      this->must(Op::kCreatePd, 1);
      Spoiled<AdminMrArgs> bad(good);
      bad.with(&AdminMrArgs::window, {3})
          .with(&AdminMrArgs::log_page, {1, 12, 0x80})
          .with(&AdminMrArgs::rights, {1, 4, 0x10, 0x8000})
          .with(&AdminMrArgs::qpn, {1, 0x8000})
          .with(&AdminMrArgs::base_to, {1, uint64_t{1} << 63})
          .with(&AdminMrArgs::length, {1, uint64_t{1} << 63})
          .with(&AdminMrArgs::first_offset, {1, 0x80000000})
          .with(&AdminMrArgs::pbl_base, {1, 0x80000000})
          .with(&AdminMrArgs::page_list, {8, uint64_t{1} << 63})
          .with(&AdminMrArgs::pages, {1, 0x80000000})
          .with(&AdminMrArgs::bound, {1})
          .with(&AdminMrArgs::fast, {1})
          .with(&AdminMrArgs::reserved1, {1, 0x8000000})
          .with(&AdminMrArgs::reserved2, {1, uint64_t{1} << 63});
      for (const auto& a : bad.all()) this->refused(Status::kBadArgument, Op::kCreateMr, slot, a);
      this->refused(Status::kBadObject, Op::kCreateMr, this->sizes.num_stags, good);
      const auto made = this->must(Op::kCreateMr, slot, good);
      EXPECT_TRUE(this->pbl.empty());
      EXPECT_EQ(this->reads, 1U) << "the command alone";
      this->expect(Status::kExists, Op::kCreateMr, slot, good);
      // Its PD is in use, as for a region.
      this->refused(Status::kInUse, Op::kDestroyPd, 1);
      const auto other = this->must(Op::kCreateMr, slot + 1, good);
      for (const auto& m : {made, other})
        this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(m.result).stag);
      this->must(Op::kDestroyPd, 1);
      slot += 2;
    }
  });
}

TYPED_TEST(AdminTest, PageLists) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    uint32_t slot = 0;
    for (uint32_t n : {1U, 7U, 8U, 9U, 64U, 65U, 128U, 200U, 256U}) {
      const uint8_t log_page = n % 2 == 0 ? 21 : 12;
      const uint64_t list = 0x8000'0000 - 24 + 0x10'0000 * n;  // across a 4 KiB boundary
      const auto a = this->region(1, n, log_page, list);
      const auto made = this->must(Op::kCreateMr, slot++, a);
      EXPECT_EQ(this->pbl.size(), n);
      for (uint32_t i = 0; i < this->pbl.size(); i++) {
        EXPECT_EQ(this->pbl[i].index, a.pbl_base + i);
        EXPECT_EQ(this->pbl[i].address,
                  base::load_le<uint64_t>(this->mem.get(list + 8 * i, 8).data()));
      }
      this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
      // A list entry that is not page-aligned: nothing is written or created.
      for (uint32_t at : {n - 1, n / 2}) {
        for (unsigned bit : {0U, log_page - 1U}) {
          auto& byte = this->mem[list + 8 * at + bit / 8];
          byte = u8(byte ^ (1U << bit % 8));
          this->refused(Status::kBadArgument, Op::kCreateMr, slot, a);
          byte = u8(byte ^ (1U << bit % 8));
        }
        this->mem.spoil(list + 8 * at);
        this->refused(Status::kDmaError, Op::kCreateMr, slot, a);
        this->mem.mend();
      }
      if (testing::Test::HasFailure()) return;
    }
    // admin reads a list of more than 64 entries twice: to check it, and to write it. Before the
    // second read an entry becomes unreadable.
    const auto a = this->region(1, 65, 12, 0x4000);
    unsigned seen = 0;
    this->on_read = [&](const spec::RdReq& r) {
      seen += r.address == 0x4000;
      if (seen == 2) this->mem.spoil(0x4000 + 8 * 64);
    };
    this->expect(Status::kDmaError, Op::kCreateMr, slot, a);
    EXPECT_TRUE(this->sent.empty());
    this->on_read = nullptr;
    this->mem.mend();
    this->must(Op::kDestroyPd, 1);  // no region is left
    EXPECT_FALSE(this->dut.fatal());
  });
}

// A create_mr for a slot in use is refused before its list is read, and nothing is written.
TYPED_TEST(AdminTest, SlotIsAskedForFirst) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    for (uint32_t n : {1U, 64U, 65U}) {
      const auto a = this->region(1, n);
      const auto made = this->must(Op::kCreateMr, 9, a);
      EXPECT_EQ(this->questions, 1U);
      this->refused(Status::kExists, Op::kCreateMr, 9, a);
      EXPECT_EQ(this->reads, 1U) << "the command alone";
      auto other = this->region(1, n, 12, 0x6'0000'0000);  // another list
      this->refused(Status::kExists, Op::kCreateMr, 9, other);
      this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
      this->answer_question = Status::kNoResource;
      this->refused(Status::kNoResource, Op::kCreateMr, 9, a);
      this->answer_question.reset();
    }
    this->must(Op::kDestroyPd, 1);
  });
}

// admin reads a list of one chunk once, so it writes the entries that it checked. A longer list may
// turn bad between its two reads: admin writes no entry of the bad chunk and none after it.
TYPED_TEST(AdminTest, ListsThatTurnBad) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->must(Op::kCreatePd, 1);
    for (uint32_t n : {1U, 8U, 63U, 64U}) {
      const auto a = this->region(1, n);
      const auto made = this->must(Op::kCreateMr, 3, a);
      EXPECT_EQ(this->reads, 2U) << "command and list";
      EXPECT_EQ(this->pbl.size(), n);
      this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
    }
    for (uint32_t n : {65U, 129U, 200U}) {
      for (uint32_t at : {0U, 63U, 64U, n - 1}) {
        for (bool unreadable : {false, true}) {
          const auto a = this->region(1, n);
          unsigned seen = 0;
          this->on_read = [&](const spec::RdReq& r) {
            seen += r.address == a.page_list;
            if (seen != 2 || r.address != a.page_list) return;
            if (unreadable) this->mem.spoil(a.page_list + 8 * at);
            if (!unreadable) this->mem[a.page_list + 8 * at + 1] ^= 8;
          };
          this->expect(unreadable ? Status::kDmaError : Status::kBadArgument, Op::kCreateMr, 3, a);
          EXPECT_EQ(seen, 2U);
          EXPECT_TRUE(this->sent.empty());
          EXPECT_EQ(this->pbl.size(), at / 64 * 64) << "of " << n << ", bad at " << at;
          this->on_read = nullptr;
          this->mem.mend();
          const auto good = this->region(1, n);  // no state of the failed command is left
          const auto made = this->must(Op::kCreateMr, 3, good);
          EXPECT_EQ(this->pbl.size(), n);
          this->must(Op::kDestroyMr, spec::AdminMrResult::unpack(made.result).stag);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
    this->must(Op::kDestroyPd, 1);
  });
}

// admin changes its tables only if the unit responds ok.
TYPED_TEST(AdminTest, UnitsRefuse) {
  each_pace([&](Pace pace) {
    this->start(pace);
    using W = AdminWorld<TypeParam>;
    auto no = [&](typename W::Unit unit, Op op, uint32_t object, const auto& args) {
      for (Status s : {Status::kNoResource, Status::kInUse, Status::kBadState}) {
        this->refuse[unit] = {s};
        const auto rsp = this->expect(s, op, object, args);
        EXPECT_EQ(this->sent.size(), 1U);
        EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
      }
    };
    const Args none{};
    this->must(Op::kCreatePd, 1);
    no(W::kCq, Op::kCreateEq, 1, this->ring());
    this->must(Op::kCreateEq, 1, this->ring());
    this->must(Op::kCreateEq, 0, this->ring());
    no(W::kCq, Op::kCreateCq, 2, this->ring(1));
    no(W::kCq, Op::kDestroyEq, 1, none);
    this->must(Op::kCreateCq, 2, this->ring(1));
    no(W::kCq, Op::kModifyCq, 2, this->ring(0));
    this->must(Op::kDestroyEq, 0);
    this->refused(Status::kInUse, Op::kDestroyEq, 1);
    no(W::kQp, Op::kCreateQp, 3, this->qp(1, 2, 2));
    no(W::kCq, Op::kDestroyCq, 2, none);
    this->must(Op::kCreateQp, 3, this->qp(1, 2, 2));
    no(W::kQp, Op::kDestroyQp, 3, none);
    this->refused(Status::kInUse, Op::kDestroyCq, 2);
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    no(W::kQp, Op::kModifyQp, 3, AdminModifyArgs{.to_state = 2});
    no(W::kQp, Op::kQueryQp, 3, none);
    no(W::kCq, Op::kQueryCq, 2, none);
    this->must(Op::kDestroyQp, 3);
    no(W::kTpt, Op::kCreateMr, 9, this->region(1, 2));
    this->must(Op::kDestroyPd, 1);
    this->must(Op::kCreatePd, 1);
    const auto stag =
        spec::AdminMrResult::unpack(this->must(Op::kCreateMr, 9, this->region(1, 2)).result).stag;
    no(W::kTpt, Op::kDestroyMr, stag, none);
    no(W::kTpt, Op::kQueryMr, stag, none);
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    this->must(Op::kDestroyMr, stag);
    this->must(Op::kDestroyPd, 1);
    for (auto op : {Op::kConnListen, Op::kConnUnlisten, Op::kConnConnect, Op::kConnQuery,
                    Op::kConnClose, Op::kConnAbort, Op::kConnRelease})
      no(W::kConn, op, 2, none);
  });
}

/// A unit's command waits for traffic. admin records nothing, does not wait for the QP's
/// completions, and executes other commands meanwhile. The command is repeated until the unit
/// responds ok, and is then recorded once.
TYPED_TEST(AdminTest, ACommandInProgressChangesNothingAndHoldsNobody) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    const Args none{};
    auto waits = [&](typename W::Unit unit, Op op, uint32_t object, const auto& args) {
      for (unsigned i = 0; i < 3; i++) {
        this->refuse[unit] = {Status::kInProgress};
        const auto rsp = this->expect(Status::kInProgress, op, object, args);
        EXPECT_EQ(this->sent.size(), 1U);
        EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
        EXPECT_EQ(this->questions, op == Op::kCreateMr ? 1U : 0U);
        this->must(Op::kCreatePd, 2);
        this->must(Op::kCreateQp, 5, this->qp(2, 3, 3));
        this->must(Op::kModifyQp, 5, AdminModifyArgs{.to_state = 4});
        this->must(Op::kDestroyQp, 5);
        this->must(Op::kDestroyPd, 2);
      }
      return this->must(op, object, args);
    };
    waits(W::kQp, Op::kModifyQp, 4, AdminModifyArgs{.to_state = 4});
    EXPECT_EQ(this->questions, 1U);
    waits(W::kQp, Op::kCreateQp, 6, this->qp(1, 2, 2));
    waits(W::kQp, Op::kDestroyQp, 4, none);
    this->refused(Status::kInUse, Op::kDestroyCq, 2);
    waits(W::kQp, Op::kDestroyQp, 6, none);
    waits(W::kCq, Op::kDestroyCq, 2, none);
    this->refused(Status::kNotFound, Op::kDestroyCq, 2);
    const auto made = waits(W::kTpt, Op::kCreateMr, 9, this->region(1, 2));
    const auto stag = spec::AdminMrResult::unpack(made.result).stag;
    this->refuse[W::kTpt] = {Status::kInProgress};
    this->expect(Status::kInProgress, Op::kDestroyMr, stag);
    this->refused(Status::kInUse, Op::kDestroyPd, 1);
    waits(W::kTpt, Op::kDestroyMr, stag, none);
    this->must(Op::kDestroyPd, 1);
  });
}

TYPED_TEST(AdminTest, RingsWrap) {
  each_pace([&](Pace pace) {
    for (unsigned log : {0U, 1U, 3U, 5U}) {
      this->start(pace, log);
      for (unsigned i = 0; i < (5U << log); i++)
        this->must(i % 2 == 0 ? Op::kCreatePd : Op::kDestroyPd, 0);
      // Many commands at a time: executed in order, each with a response.
      const unsigned count = 1U << log;
      for (unsigned round = 0; round < 3; round++) {
        this->forget();
        std::vector<spec::AdminCmd> cmds;
        const auto first = this->index;
        for (unsigned i = 0; i < count; i++) {
          // The phase of an entry that admin has not written yet, in the response's last byte.
          this->mem[this->rsp_at(u16(first + i)) + 31] =
              u8(this->phase(u16(first + i)) == 0 ? 0x80 : 0);
          cmds.push_back(this->write_cmd(u16(first + i), Op::kConnQuery, i % 16, {}));
        }
        this->index = u16(first + count);
        this->dut.admin_doorbell.put({.index = u16(first + count / 2)});
        this->dut.admin_doorbell.put({.index = this->index});
        EXPECT_TRUE(this->run([&] { return this->answered(u16(first + count - 1)); }));
        EXPECT_EQ(this->sent.size(), count);
        for (unsigned i = 0; i < count; i++) {
          EXPECT_EQ(this->answer_of(u16(first + i), cmds[i]).status, Status::kOk);
          EXPECT_EQ(this->sent[i].cmd.object, i % 16);
        }
      }
      this->idle(200);
      EXPECT_EQ(this->reads, count);
    }
  });
}

// Threads that share the ring may ring its doorbell out of order. A doorbell with an older index
// than the newest one has no effect.
TYPED_TEST(AdminTest, LateDoorbellTakesNothingBack) {
  each_pace([&](Pace pace) {
    this->start(pace, 3);
    const auto post = [this](unsigned count) {
      std::vector<spec::AdminCmd> cmds;
      for (unsigned i = 0; i < count; i++)
        cmds.push_back(this->write_cmd(u16(this->index + i), Op::kNop, i, {}));
      return cmds;
    };
    for (unsigned round = 0; round < 40; round++) {
      const auto first = this->index;
      const auto cmds = post(6);
      for (unsigned i = 0; i < 6; i++)
        this->mem[this->rsp_at(u16(first + i)) + 31] =
            u8(this->phase(u16(first + i)) == 0 ? 0x80 : 0);
      this->index = u16(first + 6);
      // Older indices come right after the newest one, and again when all commands are done.
      for (const unsigned ahead : {3U, 2U, 6U, 5U, 0U})
        this->dut.admin_doorbell.put({.index = u16(first + ahead)});
      EXPECT_TRUE(this->run([&] { return this->answered(u16(first + 5)); }));
      this->dut.admin_doorbell.put({.index = u16(first + 4)});
      this->idle(300);
      EXPECT_EQ(this->reads, 6U) << "round " << round;
      for (unsigned i = 0; i < 6; i++)
        EXPECT_EQ(this->answer_of(u16(first + i), cmds[i]).status, Status::kOk);
      this->forget();
    }
  });
}

TYPED_TEST(AdminTest, NothingBeforeEnable) {
  this->start({0, 0});
  this->dut.configure({.admin_cmd_base = 0x40, .admin_rsp_base = 0x60, .admin_log_size = 2});
  this->dut.admin_doorbell.put({.index = 1});
  this->idle(300);
  EXPECT_EQ(this->reads, 0U);
}

// Command 3 cannot be read: admin reports fatal, executes no later command and ignores doorbells.
TYPED_TEST(AdminTest, UnreadableCommandStopsAll) {
  each_pace([&](Pace pace) {
    this->start(pace);
    for (unsigned i = 0; i < 3; i++) this->must(Op::kNop, i);
    this->forget();
    this->mem.spoil(this->cmd_at(3) + 63);
    for (uint16_t i = 3; i < 6; i++) this->write_cmd(i, Op::kConnListen, 9, {});
    this->dut.admin_doorbell.put({.index = 6});
    EXPECT_TRUE(this->run([&] { return this->dut.fatal(); }));
    this->dut.admin_doorbell.put({.index = 7});
    this->mem.mend();
    this->idle(500);
    EXPECT_EQ(this->reads, 1U);
    EXPECT_TRUE(this->order.empty());
    EXPECT_TRUE(this->dut.fatal());
  });
}

// A command to cq is executed after the completions that cq accepted before it. The response to the
// end of a QP therefore comes after them, too.
TYPED_TEST(AdminTest, TheEndOfAQpIsAnsweredBehindItsCompletions) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    const auto orders = [this] {
      return std::vector<std::string>(this->order.begin(), this->order.end() - 1);
    };
    this->must(Op::kModifyQp, 4,
               AdminModifyArgs{.to_state = static_cast<uint8_t>(spec::QpState::kError)});
    // The dummy query_cq: its response proves that the QP's completions are written.
    EXPECT_EQ(orders(), (std::vector<std::string>{"qp modify_qp 4", "cq query_cq 0"}));
    this->must(Op::kModifyQp, 4,
               AdminModifyArgs{.to_state = static_cast<uint8_t>(spec::QpState::kClosing)});
    EXPECT_EQ(orders(), std::vector<std::string>{"qp modify_qp 4"});
    this->refuse[W::kQp] = {Status::kBadState};
    (void)this->expect(Status::kBadState, Op::kDestroyQp, 4);
    EXPECT_EQ(this->questions, 0U);
    this->refuse[W::kQp].clear();
    this->must(Op::kDestroyQp, 4);
    EXPECT_EQ(orders(), (std::vector<std::string>{"qp destroy_qp 4", "cq query_cq 0"}));
  });
}

// create_qp on an overrun CQ is refused: no completion of such a QP would be written, and no event
// would report that.
TYPED_TEST(AdminTest, AQpOnACqThatHasOverrunIsRefused) {
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    this->must(Op::kCreatePd, 2);
    for (const auto& overrun :
         {std::set<uint32_t>{2}, std::set<uint32_t>{3}, std::set<uint32_t>{2, 3}}) {
      this->overrun = overrun;
      const auto rsp = this->expect(Status::kBadState, Op::kCreateQp, 5, this->qp(2, 2, 3));
      EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
      this->order.pop_back();  // the response
      std::vector<std::string> want = {"qp create_qp 5", "cq query_cq 2"};
      if (!overrun.contains(2)) want.emplace_back("cq query_cq 3");
      want.emplace_back("qp destroy_qp 5");
      EXPECT_EQ(this->order, want);
      EXPECT_FALSE(this->qp_state.contains(5));
      this->refused(Status::kNotFound, Op::kDestroyQp, 5);
    }
    this->must(Op::kDestroyPd, 2);  // nothing refers to it
    this->must(Op::kCreatePd, 2);
    this->overrun = {1, 4, 5};  // other CQs
    this->must(Op::kCreateQp, 5, this->qp(2, 2, 3));
    EXPECT_EQ(this->questions, 2U);
    this->refused(Status::kInUse, Op::kDestroyPd, 2);
  });
}

// The steps of modify_qp to rts: query, connection, bytes, command. If a step is refused, admin
// skips the later ones.
TYPED_TEST(AdminTest, ModifyToRts) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    this->furnish();
    for (auto length : Some<uint16_t>{0, 1, 63, 64, 65, 531, 532}) {
      const uint64_t address = 0x9'0000'0000 + 4090;
      const auto data = this->rng.bytes(length);
      this->mem.put(address, data);
      const auto args = this->to_rts(u16(7 + length % 3), length, address);
      const std::string conn = std::to_string(args.connection);
      std::vector<std::string> want = {"qp query_qp 4", "conn modify_qp " + conn};
      const auto two = want;
      if (length != 0) want.push_back("raw_tx " + conn + " " + std::to_string(length));
      want.push_back("qp modify_qp 4");
      const auto all = want;
      auto check = [&](Status status, const std::vector<std::string>& steps) {
        this->expect(status, Op::kModifyQp, 4, args);
        this->order.pop_back();  // the response
        EXPECT_EQ(this->order, steps);
        for (const auto& s : this->sent)
          EXPECT_EQ(s.cmd.args, s.cmd.opcode == Op::kQueryQp ? Args{} : packed(args));
        EXPECT_EQ(this->raw.size(), steps == all && length != 0 ? 1U : 0U);
        for (const auto& r : this->raw) {
          EXPECT_EQ(r.first.connection, args.connection);
          EXPECT_EQ(r.first.length, length);
          EXPECT_EQ(r.second, data);
        }
      };
      auto again = [&] {  // the started QP 4 holds its IRD and ORD slots: destroys it
        this->must(Op::kDestroyQp, 4);
        this->must(Op::kCreateQp, 4, this->qp(1, 2, 3));
      };
      check(Status::kOk, all);
      again();
      this->refuse[W::kQp] = {Status::kNotFound};
      const auto s = this->command(Op::kModifyQp, 4, args).status;
      EXPECT_NE(s, Status::kOk);
      EXPECT_EQ(this->sent.size(), 1U);
      this->refuse[W::kQp] = {Status::kOk, Status::kNoResource};
      check(Status::kNoResource, all);
      this->refuse[W::kConn] = {Status::kBadState};
      check(Status::kBadState, two);
      this->refuse[W::kConn] = {Status::kNotFound};
      check(Status::kNotFound, two);
      for (auto state : {spec::QpState::kRts, spec::QpState::kClosing, spec::QpState::kTerminate,
                         spec::QpState::kError}) {
        this->qp_state[4] = state;
        check(Status::kBadState, {"qp query_qp 4"});
      }
      this->qp_state[4] = spec::QpState::kIdle;
      if (length != 0) {
        this->mem.spoil(address + length - 1U);
        check(Status::kDmaError, two);
        this->mem.mend();
      }
      check(Status::kOk, all);  // no state of a failed command is left
      again();
    }
  });
}

TYPED_TEST(AdminTest, StreamingBytes) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace);
    const auto last = this->sizes.num_conns - 1;
    for (auto length : Some<uint16_t>{1, 63, 64, 65, 127, 128, 532, 1023, 1024, 3000}) {
      const uint64_t address = 0xa'0000'0000 + 4096 - length / 2;
      // Transmit.
      if (length <= 1024) {
        const auto data = this->rng.bytes(length);
        this->mem.put(address, data);
        const AdminConnArgs args{
            .address = address, .length = length, .peer_port = 5, .peer_address = 6};
        this->expect(Status::kOk, Op::kConnSend, last, args);
        ASSERT_EQ(this->raw.size(), 1U);
        EXPECT_EQ(this->raw[0].first.connection, last);
        EXPECT_EQ(this->raw[0].first.length, length);
        EXPECT_EQ(this->raw[0].second, data);
        ASSERT_EQ(this->sent.size(), 1U);
        EXPECT_TRUE(this->sent[0] ==
                    (typename W::Sent{W::kConn, {Op::kConnSend, last, packed(args)}}));
        EXPECT_EQ(this->order[0], fmt::format("conn conn_send {}", last))
            << "the connection is asked first";
        this->refuse[W::kConn] = {Status::kBadState};
        this->expect(Status::kBadState, Op::kConnSend, last, args);
        EXPECT_TRUE(this->raw.empty());
        for (uint64_t at : {address, address + length - 1U}) {
          this->mem.spoil(at);
          this->expect(Status::kDmaError, Op::kConnSend, last, args);
          EXPECT_TRUE(this->raw.empty());
          this->mem.mend();
        }
      }
      // Receive.
      const AdminConnArgs args{.address = address, .length = length};
      this->waiting = this->rng.bytes(length);
      const auto bytes = this->waiting;
      this->mem[address - 1] = 0xa5, this->mem[address + length] = 0x5a;
      const auto rsp = this->expect(Status::kOk, Op::kConnGive, 3, args);
      EXPECT_EQ(rsp.status, Status::kOk);
      EXPECT_EQ(rsp.result, packed_result(AdminGiveResult{.length = length}));
      EXPECT_EQ(this->mem.get(address, length), bytes);
      EXPECT_EQ(this->mem[address - 1], 0xa5);
      EXPECT_EQ(this->mem[address + length], 0x5a);
      EXPECT_TRUE(this->sent[0] == (typename W::Sent{W::kConn, {Op::kConnGive, 3, packed(args)}}));
      this->refuse[W::kConn] = {Status::kBadArgument};  // fewer bytes wait
      this->expect(Status::kBadArgument, Op::kConnGive, 3, args);
      EXPECT_EQ(this->order.size(), 2U) << "the command and the answer alone";
    }
    // The connection ends during conn_give: admin gets an empty packet and goes on.
    for (unsigned i = 0; i < 3; i++) {
      this->waiting.clear();
      const AdminConnArgs args{.address = 0xb'0000'0000, .length = u16(20 + i)};
      this->give_ends = true;
      const auto rsp = this->expect(Status::kBadState, Op::kConnGive, 3, args);
      this->give_ends = false;
      EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
      EXPECT_EQ(this->order.size(), 2U) << "the command and the answer alone";
      this->waiting = this->rng.bytes(args.length);
      const auto bytes = this->waiting;
      this->expect(Status::kOk, Op::kConnGive, 3, args);
      EXPECT_EQ(this->mem.get(args.address, args.length), bytes);
    }
    // The LLP has fewer bytes than it reported, or none: the response holds the number received.
    for (const uint16_t came : {u16(100), u16(64), u16(1), u16(0)}) {
      const AdminConnArgs args{.address = 0xb'0000'0020, .length = 130};
      this->waiting = this->rng.bytes(came);
      const auto bytes = this->waiting;
      this->mem[args.address + came] = 0x5a;
      const auto rsp = this->expect(Status::kOk, Op::kConnGive, 3, args);
      EXPECT_EQ(rsp.result, packed_result(AdminGiveResult{.length = came}));
      EXPECT_EQ(this->mem.get(args.address, came), bytes);
      EXPECT_EQ(this->mem[args.address + came], 0x5a);
    }
    this->must(Op::kNop, 0);
    EXPECT_FALSE(this->dut.fatal());
  });
}

// Random commands on few objects against the reference.
TYPED_TEST(AdminTest, Random) {
  using W = AdminWorld<TypeParam>;
  each_pace([&](Pace pace) {
    this->start(pace, 2);
    auto& rng = this->rng;
    auto& ref = this->ref;
    const unsigned eqs = this->sizes.num_eqs;
    unsigned good = 0;
    for (unsigned step = 0; step < 700; step++) {
      static constexpr Op kOps[] = {
          Op::kCreatePd,  Op::kDestroyPd, Op::kCreateEq,  Op::kDestroyEq,
          Op::kCreateCq,  Op::kCreateCq,  Op::kDestroyCq, Op::kModifyCq,
          Op::kCreateQp,  Op::kCreateQp,  Op::kDestroyQp, Op::kCreateMr,
          Op::kDestroyMr, Op::kQueryQp,   Op::kCreateSrq, Op::kDestroySrq};
      const Op op = kOps[rng.below(std::size(kOps))];
      uint32_t object = u32(rng.below(3));
      Args args{};
      Status want = Status::kOk;
      const bool spoil = rng.percent(10);  // bad arguments: the last check
      auto uses = [](auto& map, uint32_t i) { return map.contains(i); };
      switch (op) {
        case Op::kCreatePd:
          want = uses(ref.pds, object) ? Status::kExists : Status::kOk;
          break;
        case Op::kDestroyPd:
          want = !uses(ref.pds, object) ? Status::kNotFound
                 : ref.pds[object] != 0 ? Status::kInUse
                                        : Status::kOk;
          break;
        case Op::kCreateEq:
          if (object >= eqs) object = 0;
          args = packed(this->ring());
          want = uses(ref.eqs, object) ? Status::kExists : Status::kOk;
          break;
        case Op::kDestroyEq:
          if (object >= eqs) object = 0;
          want = !uses(ref.eqs, object) ? Status::kNotFound
                 : ref.eqs[object] != 0 ? Status::kInUse
                                        : Status::kOk;
          break;
        case Op::kCreateCq:
        case Op::kModifyCq: {
          const auto eqn = u8(rng.below(3));
          args = packed(this->ring(eqn));
          const bool there = uses(ref.cqs, object);
          want = op == Op::kCreateCq && there                             ? Status::kExists
                 : (op == Op::kModifyCq && !there) || !uses(ref.eqs, eqn) ? Status::kNotFound
                                                                          : Status::kOk;
          break;
        }
        case Op::kDestroyCq:
          want = !uses(ref.cqs, object)      ? Status::kNotFound
                 : ref.cqs[object].uses != 0 ? Status::kInUse
                                             : Status::kOk;
          break;
        case Op::kCreateQp: {
          auto a = this->qp(u16(rng.below(3)), u16(rng.below(3)), u16(rng.below(3)));
          if (rng.percent(50)) a = this->on_srq(a, u16(rng.below(3)));
          args = packed(a);
          want = uses(ref.qps, object) || uses(ref.srqs, object) ? Status::kExists
                 : !uses(ref.pds, a.pd) || !uses(ref.cqs, a.send_cq) || !uses(ref.cqs, a.recv_cq) ||
                         (a.has_srq != 0 && !uses(ref.srqs, a.srq))
                     ? Status::kNotFound
                 : a.has_srq != 0 && ref.srqs[a.srq].pd != a.pd ? Status::kBadArgument
                                                                : Status::kOk;
          break;
        }
        case Op::kQueryQp:
        case Op::kDestroyQp:
          want = uses(ref.qps, object) ? Status::kOk : Status::kNotFound;
          break;
        case Op::kCreateSrq: {
          const auto a = this->srq(u16(rng.below(3)));
          args = packed(a);
          want = uses(ref.qps, object) || uses(ref.srqs, object) ? Status::kExists
                 : uses(ref.pds, a.pd)                           ? Status::kOk
                                                                 : Status::kNotFound;
          break;
        }
        case Op::kDestroySrq:
          want = !uses(ref.srqs, object)      ? Status::kNotFound
                 : ref.srqs[object].uses != 0 ? Status::kInUse
                                              : Status::kOk;
          break;
        case Op::kCreateMr: {
          object = u32(rng.below(8));
          const auto a = this->region(u16(rng.below(3)), u32(rng.between(1, 20)));
          args = packed(a);
          want = uses(ref.pds, a.pd) ? Status::kOk : Status::kNotFound;
          break;
        }
        default:
          object = this->regions.empty()
                       ? 5
                       : std::next(this->regions.begin(),
                                   static_cast<std::ptrdiff_t>(rng.below(this->regions.size())))
                             ->first;
          break;
      }
      if (spoil) {
        args[55] = 0x80;  // reserved in every command
        if (want == Status::kOk) want = Status::kBadArgument;
      }
      if (want == Status::kOk && op == Op::kCreateMr && this->slot_used(object))
        want = Status::kExists;
      // reaches: admin sends the command to a unit. PDs exist only in admin.
      const bool reaches = want == Status::kOk && op != Op::kCreatePd && op != Op::kDestroyPd;
      if (reaches && rng.percent(15)) {
        want = rng.percent(50) ? Status::kNoResource : Status::kInProgress;
        for (auto unit : {W::kQp, W::kCq, W::kTpt}) this->refuse[unit] = {want};
      } else if (reaches && op == Op::kDestroyMr && !this->regions.contains(object)) {
        want = Status::kNotFound;
      }
      const auto pd_of =
          this->regions.contains(object) ? this->regions[object].second : uint16_t{0};
      const auto rsp = this->command(op, object, args);
      ASSERT_EQ(rsp.status, want) << step << ": " << spec::to_string(op) << " " << object << ": "
                                  << spec::to_string(rsp.status) << ", wanted "
                                  << spec::to_string(want);
      ASSERT_EQ(this->sent.size(), reaches ? 1U : 0U);
      for (auto& r : this->refuse) r.clear();
      if (want != Status::kOk) continue;
      good++;
      const auto ring = AdminRingArgs::unpack(args);
      const auto qp = AdminQpArgs::unpack(args);
      switch (op) {
        case Op::kCreatePd:
          ref.pds[object] = 0;
          break;
        case Op::kDestroyPd:
          ref.pds.erase(object);
          break;
        case Op::kCreateEq:
          ref.eqs[object] = 0;
          break;
        case Op::kDestroyEq:
          ref.eqs.erase(object);
          break;
        case Op::kCreateCq:
          ref.cqs[object] = {ring.eqn, 0};
          ref.eqs[ring.eqn]++;
          break;
        case Op::kModifyCq:
          ref.eqs[ref.cqs[object].eqn]--;
          ref.cqs[object].eqn = ring.eqn;
          ref.eqs[ring.eqn]++;
          break;
        case Op::kDestroyCq:
          ref.eqs[ref.cqs[object].eqn]--;
          ref.cqs.erase(object);
          break;
        case Op::kCreateQp:
          ref.qps[object] = qp;
          ref.pds[qp.pd]++, ref.cqs[qp.send_cq].uses++, ref.cqs[qp.recv_cq].uses++;
          if (qp.has_srq != 0) ref.srqs[qp.srq].uses++;
          break;
        case Op::kCreateSrq:
          ref.srqs[object] = {qp.pd, 0};
          ref.pds[qp.pd]++;
          break;
        case Op::kDestroySrq:
          ref.pds[ref.srqs[object].pd]--;
          ref.srqs.erase(object);
          break;
        case Op::kDestroyQp: {
          const auto q = ref.qps[object];
          ref.pds[q.pd]--, ref.cqs[q.send_cq].uses--, ref.cqs[q.recv_cq].uses--;
          if (q.has_srq != 0) ref.srqs[q.srq].uses--;
          ref.qps.erase(object);
          break;
        }
        case Op::kCreateMr:
          ref.pds[AdminMrArgs::unpack(args).pd]++;
          break;
        case Op::kDestroyMr:
          ref.pds[pd_of]--;
          break;
        default:
          break;
      }
    }
    EXPECT_GT(good, 100U);
  });
}

// Bounds on the latencies that the header of admin.sv gives. The bounds have a margin, because host
// memory and units are those of the bench.
TYPED_TEST(AdminRtlTest, Latency) {
  this->start({0, 0});
  auto cycles = [&](auto f) {
    const auto from = this->dut.now();
    f();
    return static_cast<unsigned>(this->dut.now() - from);
  };
  const auto nop = cycles([&] { this->must(Op::kNop, 0); });
  const auto pd = cycles([&] { this->must(Op::kCreatePd, 1); });
  const auto eq = cycles([&] { this->must(Op::kCreateEq, 1, this->ring()); });
  this->must(Op::kCreateCq, 2, this->ring(1));
  const auto qp = cycles([&] { this->must(Op::kCreateQp, 4, this->qp(1, 2, 2)); });
  const auto mr = cycles([&] { this->must(Op::kCreateMr, 4, this->region(1, 200)); });
  std::printf(
      "nop %u, create_pd %u, create_eq %u, create_qp %u, create_mr of 200 pages %u cycles\n", nop,
      pd, eq, qp, mr);
  EXPECT_LE(nop, 20U);
  EXPECT_LE(qp, 40U);
  EXPECT_LE(mr, 600U);
}

}  // namespace
}  // namespace rnic::tb
