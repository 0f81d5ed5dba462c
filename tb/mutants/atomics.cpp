// Atomics and Atomic Writes of both sides at the same time, on two QPs each: a scene of the program
// in story.hpp, which both hosts run. Each side executes the same steps with its peer's memory.
//
//   meet(n)            waits until the peer has reached step n, too
//   atomic(), post()   posts a request; post() one of `length` bytes to byte `at` of the peer
//   completions()      waits for the completions of these requests, in this order per QP
//   becomes(at, v)     waits until our word at byte `at` is v, by a request of the peer
//   was(id, v)         the old value that request `id` returned is v
#include <algorithm>
#include <array>
#include <bit>

#include "base/bytes.hpp"
#include "story.hpp"

namespace rnic::mutants {

using namespace verbs;

namespace {

constexpr auto kAdd = IBV_WR_ATOMIC_FETCH_AND_ADD;
constexpr auto kSwap = IBV_WR_ATOMIC_CMP_AND_SWP;
constexpr auto kWrite = IBV_WR_ATOMIC_WRITE;
constexpr uint64_t kOnes = ~uint64_t{0}, kHigh = uint64_t{1} << 32;
// Requests of the second QP are numbered as receives: completions() checks the two orders
// separately.
constexpr uint64_t kSecond = kReceive + 10;
constexpr uint64_t kShared = kLand + 64;  // one word, target of requests of both QPs
constexpr uint64_t kLast = kLand + 7992;  // the last word that a Write of 8000 bytes places
// A Write of 8000 bytes is sent from byte 96 on, since post() centres its source on byte 4096. The
// sinks of the first QP begin at byte 0, those of the second at kSinks.
constexpr uint64_t kSent = 96, kSinks = 48;

/// One atomic: `old` is the word before it, `is` the word after it.
struct Row {
  WrOpcode op;
  uint64_t old, data, mask, compare, compare_mask, is;
};
/// RFC 7306 5.1 and draft section 3.1.3, row by row:
///   - Two fields carry out; two have a top bit in the addend.
///   - A carry beyond 32 bits.
///   - Bits outside the mask differ and are kept.
///   - A comparison that fails.
///   - An Atomic Write.
constexpr Row kRows[] = {
    {kAdd, 0xffff0000ffff0001, 0x8001800100010001, 0x8000800080008000, 0, 0, 0x8000800100000002},
    {kAdd, 0x00000000ffffffff, 1, 0, 0, 0, 0x0000000100000000},
    {kSwap, 0x1122334455667788, 0xaaaaaaaaaaaaaaaa, 0x00ffff0000ffff00, 0x11223344556677ff,
     0xffffffffffffff00, 0x11aaaa4455aaaa88},
    {kSwap, 0x1122334455667788, 0, kOnes, 0x1122334455667789, kOnes, 0x1122334455667788},
    {kWrite, 0x0123456789abcdef, 0xfedcba9876543210, 0, 0, 0, 0xfedcba9876543210},
};

/// Where in our buffer the old value of request `id` lands. The first QP numbers its requests from
/// 1 on, the second from kSecond + 1 on.
uint64_t sink_of(uint64_t id) {
  return 8 * (id < kReceive ? id - 1 : id - kSecond - 1) + (id < kReceive ? 0 : kSinks);
}

}  // namespace

uint64_t Story::word(uint64_t at) const {
  return base::load_le<uint64_t>(buffer_.bytes().data() + at);
}
void Story::set_word(uint64_t at, uint64_t value) {
  base::store_le<uint64_t>(buffer_.bytes().data() + at, value);
}

/// Posts an atomic to the peer's word at `at`. The response writes the old value to sink_of(id).
/// key 0: that of the peer's open region.
Result<void> Story::atomic(Qp& qp, uint64_t id, WrOpcode op, uint64_t at, const Operands& o,
                           uint32_t key) {
  const Sge sink{kIova + sink_of(id), 8, open_.lkey()};
  const Sge value{std::bit_cast<uint64_t>(&o.data), 8, 0};
  const bool writes = op == kWrite, adds = op == kAdd;
  const auto r = qp.post_send({.wr_id = id,
                               .sg_list = {writes ? &value : &sink, 1},
                               .opcode = op,
                               .send_flags = IBV_SEND_SIGNALED | (writes ? IBV_SEND_INLINE : 0U),
                               .remote_addr = kIova + at,
                               .rkey = key == 0 ? shared_.open_key[1 - side_] : key,
                               .compare_add = adds ? o.data : o.compare,
                               .swap = o.data,
                               .add_mask = o.mask,
                               .compare_mask = o.compare_mask,
                               .swap_mask = o.mask});
  return r ? Result<void>() : fail(r.error->code, "post of atomic {}: {}", id, r.error->what);
}

/// Waits until our word at `at` has this value.
Result<void> Story::becomes(uint64_t at, uint64_t value) {
  for (const Time deadline = dev_.now() + kPatience; word(at) != value; dev_.relax()) {
    if (dev_.now() > deadline)
      return fail(Errc::kProtocol, "the word at {} is {:#x}, should be {:#x}", at, word(at), value);
  }
  ++shared_.checks;
  return {};
}

/// Checks the old value that request `id` has returned.
Result<void> Story::was(uint64_t id, uint64_t value) {
  ++shared_.checks;
  if (const uint64_t old = word(sink_of(id)); old != value)
    return fail(Errc::kProtocol, "atomic {} has found {:#x}, should be {:#x}", id, old, value);
  return {};
}

/// Both sides run this at the same time.
Result<void> Story::atomics(Qp& qp) {
  auto made = pd_.create_qp({.send_cq = &cq_,
                             .recv_cq = &cq_,
                             .cap = {.max_send_wr = 8, .max_recv_wr = 8},
                             .push = true});
  if (!made) return error_of(made);
  Qp second = std::move(*made);
  for (size_t i = 0; i < std::size(kRows); ++i) set_word(kLand + 8 * i, kRows[i].old);
  set_word(kShared, 0);
  if (auto r = meet(3); !r) return r;
  if (auto r = start(second); !r) return r;
  if (auto r = meet(4); !r) return r;
  if (auto r = compute(qp, second); !r) return r;
  if (auto r = add_together(qp, second); !r) return r;
  if (auto r = meet(5); !r) return r;
  if (auto r = becomes(kShared, 3 + 2 * kHigh); !r) return r;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (auto r = becomes(kLand + 8 * i, kRows[i].is); !r) return r;
  }
  if (auto r = wait_their_turn(second); !r) return r;
  if (auto r = meet(8); !r) return r;
  return second.destroy();
}

/// Each row on a separate word, alternately from the two QPs.
Result<void> Story::compute(Qp& qp, Qp& second) {
  const auto id_of = [](uint64_t row) { return (row % 2 == 0 ? 1 : kSecond + 1) + row / 2; };
  std::vector<Wanted> wanted;
  for (uint64_t row = 0; row < std::size(kRows); ++row) {
    const Row& x = kRows[row];
    if (auto r = atomic(
            row % 2 == 0 ? qp : second, id_of(row), x.op, kLand + 8 * row,
            {.data = x.data, .mask = x.mask, .compare = x.compare, .compare_mask = x.compare_mask});
        !r)
      return r;
    wanted.push_back({id_of(row)});
  }
  if (auto r = completions(std::move(wanted)); !r) return r;
  for (uint64_t row = 0; row < std::size(kRows); ++row) {
    if (kRows[row].op == kWrite) continue;
    if (auto r = was(id_of(row), kRows[row].old); !r) return r;
  }
  return {};
}

/// Both QPs use one word of the peer, and wait for its lock. The first QP counts in the low half of
/// the word, the second in its high half. Between its two additions the second QP issues a CmpSwap
/// that stores nothing.
Result<void> Story::add_together(Qp& qp, Qp& second) {
  for (uint64_t k = 1; k <= 3; ++k) {
    if (auto r = atomic(qp, k, kAdd, kShared, {.data = 1}); !r) return r;
    const bool swaps = k == 2;
    if (auto r = atomic(second, kSecond + k, swaps ? kSwap : kAdd, kShared,
                        {.data = swaps ? 0 : kHigh, .mask = swaps ? kOnes : 0, .compare = kOnes});
        !r)
      return r;
  }
  if (auto r = completions({{1}, {2}, {3}, {kSecond + 1}, {kSecond + 2}, {kSecond + 3}}); !r)
    return r;
  // Each old value counts the earlier additions: all of its own QP, some of the other QP. The first
  // QP adds in each request k, the second in its first and last: (k + 1) / 2 before request k.
  for (uint64_t k = 0; k < 3; ++k) {
    const uint64_t one = word(sink_of(1 + k)), two = word(sink_of(kSecond + 1 + k));
    if (one % kHigh != k || one / kHigh > 2 || two / kHigh != (k + 1) / 2 || two % kHigh > 3)
      return fail(Errc::kProtocol, "additions {} have found {:#x} and {:#x}", k, one, two);
    // One of two additions was first; only the old value of the other addition counts it. j: the
    // additions of the second QP, its requests 1 and 3.
    for (uint64_t j = 0; j < 2; ++j) {
      const uint64_t other = word(sink_of(kSecond + 1 + 2 * j));
      ++shared_.checks;
      if ((one / kHigh > j) != (other % kHigh <= k))
        return fail(Errc::kProtocol, "additions have found {:#x} and {:#x}", one, other);
    }
  }
  return {};
}

/// Atomics after a Write whose last word they change, and after a Read that must not see the
/// change.
Result<void> Story::wait_their_turn(Qp& qp) {
  constexpr uint64_t kNew = 0x0102030405060708;
  const uint32_t key = shared_.open_key[1 - side_];
  const uint64_t sent = word(kSent + 7992);
  set_word(kLast, ~sent);
  if (auto r = meet(6); !r) return r;
  if (auto r = post(qp, kSecond + 1, IBV_WR_RDMA_WRITE, 8000, key, kLand); !r) return r;
  if (auto r = atomic(qp, kSecond + 2, kAdd, kLast, {.data = 5}); !r) return r;
  if (auto r = post(qp, kSecond + 3, IBV_WR_RDMA_WRITE, 8000, key, kLand); !r) return r;
  if (auto r = atomic(qp, kSecond + 4, kWrite, kLast, {.data = kNew}); !r) return r;
  if (auto r = completions({{kSecond + 1}, {kSecond + 2}, {kSecond + 3}, {kSecond + 4}}); !r)
    return r;
  if (auto r = was(kSecond + 2, sent); !r) return r;
  if (auto r = meet(7); !r) return r;
  if (auto r = becomes(kLast, kNew); !r) return r;
  if (auto r = post(qp, kSecond + 1, IBV_WR_RDMA_READ, 8000, key, kLand); !r) return r;
  if (auto r = atomic(qp, kSecond + 2, kAdd, kLast, {.data = 5}); !r) return r;
  if (auto r = atomic(qp, kSecond + 3, kWrite, kLast - 8, {.data = kNew}); !r) return r;
  if (auto r = completions({{kSecond + 1}, {kSecond + 2}, {kSecond + 3}}); !r) return r;
  if (auto r = was(kSecond + 2, kNew); !r) return r;
  ++shared_.checks;
  return word(kSent + 7992) == kNew
             ? Result<void>()
             : fail(Errc::kProtocol, "a Read returned what a later FetchAdd stored");
}

}  // namespace rnic::mutants
