// tpt_walk: each piece of a segment becomes the bus extents of its pages, in order.
//
// The leaf has two variants. Gated (receive): a group waits for the gate, which says whether all
// its pieces are good (go_valid_i, go_ok_i); a failed group has no extents. Not gated (transmit): a
// failed piece gives one extent of length 0 with its result, and later pieces of the group have
// none.
//
// One piece is one job. ask_i: the piece's lookup begins; the leaf allows that (room_o) when its
// queue has an entry for the job. valid_i: the lookup returns page, offset and length. pbl_*: the
// leaf reads an entry of the page list for each page. extent_o: the leaf has issued an extent,
// which out_o carries later. walked_o or dropped_o: the job is over.
//
// The reference cuts each piece at the ends of its pages with 64-bit numbers. The test plays the
// lookup pipeline (responses in order, after any time), the gate, the page list and the other
// reader of the page list.
#include "VTptWalk.h"
#include "VTptWalkGated.h"
#include "VTptWalkGatedMin.h"
#include "VTptWalkMin.h"
#include "gen/streams.hpp"
#include "support/leaf.hpp"
#include "support/rtl_dut.hpp"
#include "support/stream_port.hpp"

namespace {

using namespace rnic;  // NOLINT: a test

template <class Top, bool Gated, unsigned Pbl>
struct Build {
  using V = Top;
  static constexpr bool kGated = Gated;
  static constexpr unsigned kPbl = Pbl;  // entries of the page list: sizes.yaml
};

// Entries of the job queue and of the output; the longest piece (length_i has 17 bits).
constexpr unsigned kDepth = 8, kOut = 4, kBig = 0x1ffff;

template <class B>
class TptWalkTest : public testing::Test {
 protected:
  struct Dut : tb::RtlDut<typename B::V> {
    tb::StreamOut<spec::Extent> out = RNIC_OUT(*this, out, spec::Extent);
  };
  /// A piece to be walked, as its lookup returns it. due: the cycle of its response.
  struct Job {
    bool last = false;
    spec::TptResult result{};
    uint8_t epoch = 0;
    uint32_t length = 0;
    uint32_t page = 0, offset = 0, log = 0;
    uint64_t group = 0;
    uint64_t due = 0;
  };
  /// The gate's response for a group, and when it comes.
  struct Go {
    bool ok;
    uint64_t due;
  };
  struct Want {
    spec::Extent extent;
    uint64_t group;
  };

  Dut dut;
  base::Rng rng = tb::test_rng("jobs");
  tb::Pace pace;
  bool running = false, hold_go = false;
  std::vector<uint64_t> list = std::vector<uint64_t>(B::kPbl);  // page addresses
  uint32_t next_page = 0;
  std::deque<Job> to_ask, asked;
  std::deque<Go> gos;
  std::map<uint64_t, bool> group_ok;
  std::vector<Want> want;
  std::deque<uint8_t> want_walked, want_dropped;
  // Groups given and answered by the gate; extents received and counted (extent_o); jobs requested,
  // and walked or dropped.
  uint64_t groups = 0, gone = 0, taken = 0, issued = 0, asks = 0, ended = 0;
  int64_t page_asked = -1;
  tb::Tally met{"piece of 1",
                "piece of 63",
                "piece of 64",
                "piece of 65",
                "piece of 4096",
                "longest piece",
                "page of 4 KiB",
                "page of 2 MiB",
                "page between",
                "begins on a page's last byte",
                "ends with its page",
                "ends one byte before it",
                "ends one byte after it",
                "33 pages",
                "the list's last entry",
                "group of one",
                "group that fills the jobs",
                "failed first",
                "failed last",
                "failed in between",
                "two failures",
                "failed after a good group",
                "page list taken by the other"};
  tb::PinsPort pins{dut, [this] { drive(); }, [this] { sample(); }};

  TptWalkTest() {
    dut.out.on_item([this](const spec::Extent& e) {
      ASSERT_LT(taken, want.size()) << "an extent that no piece asked for: " << e.describe();
      ASSERT_EQ(e, want[taken].extent)
          << e.describe() << "\nwanted " << want[taken].extent.describe() << "\nextent " << taken;
      ASSERT_LT(taken, issued) << "an extent before it was counted";
      taken++;
    });
  }

  void start(tb::Pace p) {
    pace = p;
    running = hold_go = false;
    to_ask.clear();
    asked.clear();
    gos.clear();
    group_ok.clear();
    want.clear();
    want_walked.clear();
    want_dropped.clear();
    groups = gone = taken = issued = asks = ended = 0;
    page_asked = -1;
    next_page = static_cast<uint32_t>(B::kPbl - rng.between(1, 500));  // near the list's end
    dut.restart(p);
    running = true;
  }

  Job good_job() {
    static constexpr uint32_t kEdges[] = {1, 63, 64, 65, 4095, 4096, 4097, kBig};
    Job j;
    j.epoch = rng.percent(50);
    j.log = static_cast<uint32_t>(rng.percent(50)   ? 12
                                  : rng.percent(30) ? 21
                                                    : rng.between(13, 20));
    const uint32_t size = 1U << j.log;
    j.length = rng.percent(50)   ? kEdges[rng.below(std::size(kEdges))]
               : rng.percent(50) ? static_cast<uint32_t>(rng.between(1, 9000))
                                 : static_cast<uint32_t>(rng.between(1, kBig));
    const uint64_t how = rng.below(8);
    j.offset = how == 0   ? 0
               : how == 1 ? size - 1
               : how == 2 ? size - 64
               : how <= 4 ? (0 - j.length - 1 + static_cast<uint32_t>(rng.below(3))) & (size - 1)
                          : static_cast<uint32_t>(rng.below(size));
    place(j);
    return j;
  }
  /// Assigns page-list entries to a job.
  void place(Job& j) {
    const uint32_t size = 1U << j.log;
    const uint32_t pages = (j.offset + j.length - 1) / size + 1;
    // The position cycles through the list. In a large list it jumps between both ends. Entries of
    // jobs that are not walked must not be overwritten. There are at most 27 such jobs: 4 + 14 not
    // requested, 8 in the queue, one that is being walked. Each has at most 33 pages: 891 entries.
    if (next_page + pages > B::kPbl) next_page = 0;
    if (next_page > 1000 && next_page < B::kPbl - 1000) next_page = B::kPbl - 1000;
    if (next_page + 66 > B::kPbl && rng.percent(50)) next_page = B::kPbl - pages;
    j.page = next_page;
    next_page += pages;
    for (uint32_t i = 0; i < pages; i++) list[j.page + i] = rng.next() & ~uint64_t{size - 1};
    for (unsigned edge : {1U, 63U, 64U, 65U, 4096U}) {
      if (j.length == edge) met(fmt::format("piece of {}", edge));
    }
    met("longest piece", j.length == kBig);
    met(j.log == 12 ? "page of 4 KiB" : j.log == 21 ? "page of 2 MiB" : "page between");
    met("begins on a page's last byte", j.offset == size - 1 && j.length > 1);
    met("ends with its page", (j.offset + j.length) % size == 0);
    met("ends one byte before it", (j.offset + j.length) % size == size - 1);
    met("ends one byte after it", (j.offset + j.length) % size == 1);
    met("33 pages", pages == 33);
    met("the list's last entry", next_page == B::kPbl);
  }
  Job bad_job() {
    Job j;
    j.result = static_cast<spec::TptResult>(rng.between(1, 5));
    j.epoch = rng.percent(50);
    j.length = static_cast<uint32_t>(rng.below(kBig + 1));
    j.page = static_cast<uint32_t>(rng.below(B::kPbl));
    j.offset = static_cast<uint32_t>(rng.below(1 << 21));
    j.log = static_cast<uint32_t>(rng.below(32));
    return j;
  }

  void give_group() {
    const uint64_t count = rng.percent(30)   ? 1
                           : rng.percent(30) ? kDepth
                                             : rng.between(2, B::kGated ? kDepth : 14);
    std::vector<Job> jobs;
    for (uint64_t i = 0; i < count; i++) jobs.push_back(good_job());
    if (rng.percent(35)) {
      const uint64_t bad = rng.percent(70) ? 1 : 2;
      for (uint64_t i = 0; i < bad; i++) jobs[rng.below(count)] = bad_job();
    }
    give(jobs);
  }
  void give(std::vector<Job> jobs) {
    const auto failed = [](const Job& j) { return j.result != spec::TptResult::kOk; };
    const auto bad = std::count_if(jobs.begin(), jobs.end(), failed);
    met("group of one", jobs.size() == 1);
    met("group that fills the jobs", jobs.size() == kDepth);
    met("two failures", bad > 1);
    if (bad != 0) {
      const auto at = std::find_if(jobs.begin(), jobs.end(), failed) - jobs.begin();
      met("failed first", at == 0 && jobs.size() > 1);
      met("failed last", at + 1 == static_cast<std::ptrdiff_t>(jobs.size()));
      met("failed in between", at != 0 && at + 1 != static_cast<std::ptrdiff_t>(jobs.size()));
      met("failed after a good group", groups != 0 && group_ok[groups - 1]);
    }
    group_ok[groups] = bad == 0;
    bool over = B::kGated && bad != 0;
    for (size_t i = 0; i < jobs.size(); i++) {
      Job& j = jobs[i];
      j.last = i + 1 == jobs.size();
      j.group = groups;
      to_ask.push_back(j);
      (over ? want_dropped : want_walked).push_back(j.epoch);
      if (over) continue;
      if (failed(j)) {
        spec::Extent e;
        e.result = j.result;
        e.epoch = j.epoch;
        e.last = 1;
        want.push_back({e, groups});
        over = true;
        continue;
      }
      const uint64_t size = uint64_t{1} << j.log;
      uint64_t at = j.offset;
      for (uint64_t rest = j.length; rest != 0;) {
        const uint64_t n = std::min(rest, size - at % size);
        spec::Extent e;
        e.address = list[j.page + at / size] + at % size;
        e.length = static_cast<uint32_t>(n);
        e.epoch = j.epoch;
        rest -= n;
        at += n;
        e.last = j.last && rest == 0;
        want.push_back({e, groups});
      }
    }
    groups++;
  }

  void drive() {
    auto& t = dut.top();
    const uint64_t now = dut.now();
    t.ask_i = t.valid_i = t.go_valid_i = 0;
    tb::set(t.last_i, rng.below(2));
    tb::set(t.result_i, rng.below(6));
    tb::set(t.epoch_i, rng.below(2));
    tb::set(t.empty_i, rng.below(2));
    tb::set(t.length_i, rng.below(kBig + 1));
    tb::set(t.page_i, rng.below(B::kPbl));
    tb::set(t.page_offset_i, rng.below(1 << 21));
    tb::set(t.log_page_i, rng.below(32));
    tb::set(t.go_ok_i, rng.below(2));
    t.pbl_ready_i = running && !rng.percent(pace.stall);
    t.pbl_data_i = page_asked >= 0 ? list[static_cast<size_t>(page_asked)] >> 12 : rng.next() >> 12;
    if (!running) return;
    if (!asked.empty() && asked.front().due <= now) {  // before the request: not in its cycle
      const Job& j = asked.front();
      t.valid_i = 1;
      tb::set(t.last_i, j.last);
      tb::set(t.result_i, static_cast<uint64_t>(j.result));
      tb::set(t.epoch_i, j.epoch);
      tb::set(t.empty_i, 0);
      tb::set(t.length_i, j.length);
      tb::set(t.page_i, j.page);
      tb::set(t.page_offset_i, j.offset);
      tb::set(t.log_page_i, j.log);
      if (j.last) gos.push_back({group_ok[j.group], now + (rng.percent(50) ? 0 : rng.below(20))});
      asked.pop_front();
    }
    if (!gos.empty() && gos.front().due <= now && !hold_go) {
      t.go_valid_i = 1;
      t.go_ok_i = gos.front().ok;
      gos.pop_front();
      going = true;
    }
    if (t.room_o != 0 && !to_ask.empty() && !rng.percent(pace.idle)) {
      t.ask_i = 1;
      asks++;
      to_ask.front().due = now + (pace.idle == 0 ? 7 : rng.between(1, 9));
      asked.push_back(to_ask.front());
      to_ask.pop_front();
    }
  }
  bool going = false;

  void sample() {
    auto& t = dut.top();
    if (!running) return;
    met("page list taken by the other", t.pbl_valid_o != 0 && t.pbl_ready_i == 0);
    page_asked = t.pbl_valid_o != 0 && t.pbl_ready_i != 0 ? static_cast<int64_t>(t.pbl_addr_o) : -1;
    if (t.walked_o != 0) {
      ASSERT_FALSE(want_walked.empty());
      ASSERT_EQ(t.walked_epoch_o, want_walked.front());
      want_walked.pop_front();
      ended++;
    }
    if (t.dropped_o != 0) {
      ASSERT_FALSE(want_dropped.empty()) << "a job was dropped";
      ASSERT_EQ(t.dropped_epoch_o, want_dropped.front());
      want_dropped.pop_front();
      ended++;
    }
    ASSERT_LE(ended, asks);
    if (t.extent_o != 0) {
      ASSERT_LT(issued, want.size()) << "an extent too many";
      ASSERT_EQ(t.extent_epoch_o, want[issued].extent.epoch);
      ASSERT_TRUE(!B::kGated || want[issued].group < gone) << "walked before its group's answer";
      issued++;
      ASSERT_LE(issued - taken, kOut + 1);
    }
    gone += std::exchange(going, false) ? 1 : 0;
  }

  void finish() {
    const bool all = dut.run_until([&] {
      return (want_walked.empty() && want_dropped.empty() && taken == want.size()) ||
             this->HasFatalFailure();
    });
    if (this->HasFatalFailure()) return;
    ASSERT_TRUE(all) << want.size() - taken << " extents never came";
    dut.cycles(20);
    EXPECT_EQ(ended, asks);
  }
};

using Builds =
    testing::Types<Build<VTptWalk, false, 262144>, Build<VTptWalkMin, false, 1024>,
                   Build<VTptWalkGated, true, 262144>, Build<VTptWalkGatedMin, true, 1024>>;
TYPED_TEST_SUITE(TptWalkTest, Builds);

TYPED_TEST(TptWalkTest, PiecesBecomeTheirPages) {
  tb::each_pace([&](tb::Pace pace) {
    this->start(pace);
    for (int i = 0; i < 600 && !this->HasFatalFailure(); i++) {
      this->give_group();
      ASSERT_TRUE(this->dut.run_until([&] {
        return this->to_ask.size() <= 4 || this->HasFatalFailure();
      })) << "there is never room for a job";
    }
    if (!this->HasFatalFailure()) this->finish();
  });
  this->met.expect_all();
}

TYPED_TEST(TptWalkTest, StartsAnewAfterAReset) {  // amid pieces and a failed group
  for (int i = 0; i < 60 && !this->HasFatalFailure(); i++) {
    this->start({20, 20});
    for (int k = 0; k < 4; k++) this->give_group();
    if (i % 3 == 0) this->finish();
    this->dut.cycles(this->rng.below(80));
  }
}

// With the output stalled, tpt_walk issues as many extents as the output has room for. Then it
// leaves the page list to other readers.
TYPED_TEST(TptWalkTest, AsksForNoPageWithoutRoom) {
  this->start({});
  this->dut.out.stall(100);
  auto job = this->good_job();
  job.log = 12;
  job.offset = 4095;
  job.length = 65536;
  this->place(job);
  this->give({job});
  this->dut.cycles(60);
  EXPECT_EQ(this->issued, kOut);
  EXPECT_EQ(this->dut.top().pbl_valid_o, 0);
  this->dut.out.stall(0);
  this->finish();
}

// At most as many jobs are requested as the queue has entries. No job is walked before its
// response.
TYPED_TEST(TptWalkTest, RoomForSoManyJobs) {
  this->start({});
  if (TypeParam::kGated)
    this->hold_go = true;
  else
    this->dut.out.stall(100);
  for (int i = 0; i < 30; i++) {
    auto job = this->good_job();
    job.log = 21;
    job.offset = 64;
    job.length = 100;
    this->place(job);
    this->give({job});
  }
  this->dut.cycles(100);
  // Not gated: the output holds one extent each of four jobs, and one job is leaving the queue.
  EXPECT_EQ(this->asks, TypeParam::kGated ? kDepth : kDepth + kOut + 1);
  EXPECT_EQ(this->issued, TypeParam::kGated ? 0 : kOut);
  this->hold_go = false;
  this->dut.out.stall(0);
  this->finish();
}

// As tpt_walk's header says: one extent per cycle when the page list is granted each cycle, within
// a piece and from piece to piece.
TYPED_TEST(TptWalkTest, AnExtentACycle) {
  this->start({});
  for (int i = 0; i < 100; i++) {
    auto job = this->good_job();
    job.log = 12;
    job.offset = 1;
    job.length = 4096 * static_cast<uint32_t>(i % 3) + 1;
    this->place(job);
    this->give({job});
  }
  this->dut.run_until([&] { return this->issued != 0; });
  const uint64_t from = this->dut.now();
  this->finish();
  // One cycle per extent, and 20 + 6 for the ends of the interval. Gated: the gate's response may
  // come later than the pieces; the test delays half of the 100 responses by up to 19 cycles.
  EXPECT_LE(this->dut.now() - from, this->want.size() + 20 + (TypeParam::kGated ? 1500 : 6));
}

}  // namespace
