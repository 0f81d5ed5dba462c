// atomic_lock: random acquires and releases against a map of queues, at default and small sizes.
//
// An acquire names a free entry and an address. A hash maps the address to a bucket; the lock
// excludes per bucket. The response comes after 2 cycles: granted, or queued. A queued entry is
// granted by a wake, when the entry before it in its bucket is released. The test releases granted
// entries only.
//
// The reference keeps a queue of entries for each bucket, which it computes from the address
// itself. The front of a queue is granted. Each response and each wake must come in its exact
// cycle.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "VAtomicLock.h"
#include "VAtomicLockSmall.h"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

template <class Top, unsigned Entries, unsigned BucketBits>
struct Build {
  using V = Top;
  static constexpr unsigned kEntries = Entries;
  static constexpr unsigned kBucketBits = BucketBits;
};

constexpr uint64_t kResponse = 2, kWake = 1;  // cycles: the header of atomic_lock.sv

template <class B>
class AtomicLockTest : public testing::Test {
 protected:
  struct Entry {
    bool live = false;
    bool granted = false;  // the test has seen the grant
    uint64_t address = 0, bucket = 0;
    uint64_t acquired_at = 0;
    uint64_t release_at = 0;
  };
  struct Due {  // a response or a wake
    uint64_t at = 0;
    unsigned entry = 0;
    std::optional<bool> granted;  // of a response: granted, else queued
  };

  tb::RtlDut<typename B::V> dut;
  base::Rng rng = tb::test_rng("operations");
  std::vector<Entry> entries = std::vector<Entry>(B::kEntries);
  std::map<uint64_t, std::deque<unsigned>> queues;  // by bucket
  std::deque<Due> responses, wakes;
  uint64_t acquires = 0, releases = 0;
  int64_t last_bucket = -1;  // acquired in the cycle before
  tb::Tally met{"granted at once",
                "queued after the same address",
                "queued after another address of the bucket",
                "three in a bucket",
                "back-to-back acquires of a bucket",
                "acquire of a bucket as its only entry is released",
                "release one cycle after the acquire of the bucket",
                "release two cycles after the acquire of the bucket",
                "entry released and acquired in one cycle",
                "the same, into the bucket that it leaves",
                "entry of a bucket's last acquire, live in another bucket",
                "response and wake in one cycle",
                "release as soon as granted",
                "all entries live"};

  /// The XOR of the address bits from 3 up, taken kBucketBits at a time.
  static uint64_t bucket_of(uint64_t address) {
    uint64_t bucket = 0;
    for (uint64_t rest = address >> 3; rest != 0; rest >>= B::kBucketBits)
      bucket ^= rest & ((uint64_t{1} << B::kBucketBits) - 1);
    return bucket;
  }

  void start() {
    entries.assign(B::kEntries, {});
    queues.clear();
    responses.clear();
    wakes.clear();
    last_of.clear();
    last_bucket = -1;
    dut.top().acquire_valid_i = dut.top().release_valid_i = 0;
    dut.restart({});
  }

  /// Runs one cycle: checks the outputs, then drives at most one release and one acquire. `acquire`
  /// and `release` are rates in percent of cycles. Acquires take their address from `addresses`.
  void step(unsigned acquire, unsigned release, const std::vector<uint64_t>& addresses) {
    auto& t = dut.top();
    const uint64_t now = dut.now();
    check(now);
    // The release comes first: its entry may be acquired in the same cycle.
    std::optional<unsigned> released, freed;
    t.release_valid_i = 0;
    tb::set(t.release_entry_i, rng.below(B::kEntries));
    if (rng.percent(release)) {
      const auto first = static_cast<unsigned>(rng.below(B::kEntries));
      for (unsigned i = 0; i < B::kEntries && !released; i++) {
        const unsigned e = (first + i) % B::kEntries;
        if (entries[e].granted) released = e;
      }
    }
    std::optional<uint64_t> emptied;
    if (released) {
      Entry& e = entries[*released];
      t.release_valid_i = 1;
      tb::set(t.release_entry_i, *released);
      releases++;
      auto& queue = queues[e.bucket];
      queue.pop_front();
      if (queue.empty()) emptied = e.bucket;
      met("release as soon as granted", granted_now.count(*released) != 0);
      if (!queue.empty()) {
        const Entry& next = entries[queue.front()];
        const uint64_t since = now - next.acquired_at;
        met("release one cycle after the acquire of the bucket", since == 1);
        met("release two cycles after the acquire of the bucket", since == 2);
        // The release makes `next` the front of its bucket. If the acquire of `next` was one cycle
        // ago, it is still in stage 1, and its response says granted. If it was earlier, its
        // response says queued, and a wake follows.
        if (since == 1)
          responses.back().granted = true;
        else
          wakes.push_back({now + kWake, queue.front(), {}});
      }
      e.live = e.granted = false;
    }
    std::optional<unsigned> acquired;
    t.acquire_valid_i = 0;
    tb::set(t.acquire_entry_i, rng.below(B::kEntries));
    t.acquire_address_i = rng.next() >> 3;
    if (rng.percent(acquire)) {
      const auto first =
          released && rng.percent(50) ? *released : static_cast<unsigned>(rng.below(B::kEntries));
      for (unsigned i = 0; i < B::kEntries && !acquired; i++) {
        const unsigned e = (first + i) % B::kEntries;
        if (!entries[e].live) acquired = e;
      }
    }
    if (acquired) {
      const uint64_t address = addresses[rng.below(addresses.size())];
      const uint64_t bucket = bucket_of(address);
      auto& queue = queues[bucket];
      t.acquire_valid_i = 1;
      tb::set(t.acquire_entry_i, *acquired);
      t.acquire_address_i = address >> 3;
      acquires++;
      met("granted at once", queue.empty());
      if (!queue.empty()) {
        const bool same = entries[queue.back()].address == address;
        met(same ? "queued after the same address" : "queued after another address of the bucket");
      }
      met("three in a bucket", queue.size() >= 2);
      met("back-to-back acquires of a bucket", last_bucket == static_cast<int64_t>(bucket));
      met("acquire of a bucket as its only entry is released", emptied == bucket);
      met("entry released and acquired in one cycle", acquired == released);
      met("the same, into the bucket that it leaves",
          acquired == released && entries[*released].bucket == bucket);
      if (const auto stale = last_of.find(bucket); stale != last_of.end()) {
        const Entry& e = entries[stale->second];
        met("entry of a bucket's last acquire, live in another bucket",
            e.live && e.bucket != bucket);
      }
      last_of[bucket] = *acquired;
      responses.push_back({now + kResponse, *acquired, queue.empty()});
      queue.push_back(*acquired);
      entries[*acquired] = {true, false, address, bucket, now, 0};
      last_bucket = static_cast<int64_t>(bucket);
    } else {
      last_bucket = -1;
    }
    size_t live = 0;
    for (const Entry& e : entries) live += e.live ? 1 : 0;
    met("all entries live", live == B::kEntries);
    dut.cycle();
  }

  /// Checks the outputs of this cycle. Registers drive them: this cycle's inputs do not change
  /// them.
  void check(uint64_t now) {
    auto& t = dut.top();
    granted_now.clear();
    const bool response = !responses.empty() && responses.front().at == now;
    const bool wake = !wakes.empty() && wakes.front().at == now;
    met("response and wake in one cycle", response && wake);
    ASSERT_EQ(t.rsp_valid_o != 0, response) << "cycle " << now;
    ASSERT_EQ(t.wake_valid_o != 0, wake) << "cycle " << now;
    if (response) {
      const Due d = responses.front();
      responses.pop_front();
      ASSERT_EQ(t.rsp_entry_o, d.entry);
      ASSERT_EQ(t.rsp_granted_o != 0, *d.granted) << "entry " << d.entry << ", cycle " << now;
      if (*d.granted) grant(d.entry);
    }
    if (wake) {
      ASSERT_EQ(t.wake_entry_o, wakes.front().entry);
      grant(wakes.front().entry);
      wakes.pop_front();
    }
  }
  void grant(unsigned e) {
    Entry& entry = entries[e];
    ASSERT_TRUE(entry.live && !entry.granted) << "entry " << e;
    ASSERT_EQ(queues[entry.bucket].front(), e) << "granted out of order";
    entry.granted = true;
    granted_now.insert(e);
  }
  std::set<unsigned> granted_now;        // in this cycle
  std::map<uint64_t, unsigned> last_of;  // by bucket: the entry of its last acquire

  /// Addresses: a few words of one page, and others that share their bucket or page.
  std::vector<uint64_t> some_addresses(unsigned count) {
    std::vector<uint64_t> list;
    while (list.size() < count) {
      const uint64_t a = rng.next() & ~uint64_t{7};
      list.push_back(a);
      // Flipping two bits a multiple of BucketBits apart keeps the bucket.
      const uint64_t bit = rng.below(61 - B::kBucketBits);
      if (list.size() < count && rng.percent(50))
        list.push_back(a ^ (uint64_t{8} << bit) ^ (uint64_t{8} << (bit + B::kBucketBits)));
    }
    return list;
  }
};

// Entries, and bits of a bucket's number: 256 buckets by default, 2 in the small build.
using Builds = testing::Types<Build<VAtomicLock, 64, 8>, Build<VAtomicLockSmall, 4, 1>>;
TYPED_TEST_SUITE(AtomicLockTest, Builds);

TYPED_TEST(AtomicLockTest, Random) {
  for (const auto& [acquire, release] :
       std::vector<std::pair<unsigned, unsigned>>{{100, 100}, {100, 30}, {50, 50}, {30, 100}}) {
    for (unsigned words : {1U, 2U, 6U, 40U, 1000U}) {
      SCOPED_TRACE(fmt::format("acquire {}%, release {}%, {} words", acquire, release, words));
      this->start();
      const auto addresses = this->some_addresses(words);
      for (int i = 0; i < 1500 && !this->HasFatalFailure(); i++)
        this->step(acquire, release, addresses);
      // Every acquire is granted in the end.
      for (int i = 0; i < 400 && !this->HasFatalFailure(); i++) this->step(0, 100, addresses);
      if (this->HasFatalFailure()) return;
      for (const auto& e : this->entries) ASSERT_FALSE(e.live) << "never granted";
    }
  }
  EXPECT_EQ(this->acquires, this->releases);
  EXPECT_GT(this->acquires, 5000U);
  this->met.expect_all();
}

// The header of atomic_lock.sv: one acquire and one release per cycle.
TYPED_TEST(AtomicLockTest, AnAcquireAndAReleaseACycle) {
  this->start();
  const auto addresses = this->some_addresses(1000);
  for (unsigned i = 0; i < 1000 && !this->HasFatalFailure(); i++) this->step(100, 100, addresses);
  if (TypeParam::kEntries == 64) {
    EXPECT_EQ(this->acquires, 1000U);
    EXPECT_GT(this->releases, 950U);
  }
}

// A reset under load. The table `last` of atomic_lock keeps its contents, which are invalid after
// the reset.
TYPED_TEST(AtomicLockTest, StartsAnewAfterAReset) {
  const auto addresses = this->some_addresses(3);
  for (int round = 0; round < 200 && !this->HasFatalFailure(); round++) {
    this->start();
    for (uint64_t i = this->rng.below(40); i > 0 && !this->HasFatalFailure(); i--)
      this->step(80, 50, addresses);
  }
}

}  // namespace
