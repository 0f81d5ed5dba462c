// A PCIe root for the bench: memory; completions delayed, in any order between tags and in pieces;
// errors; checks of the rules of dma_wr and dma_rd_req. The memory is sampled when a read is
// accepted, and written when a beat is accepted.
//
//   RootPort<Dut> root(dut, rng);   root.delay(0, 300);
//   root.fail(address, bytes, RdStatus::kPoisoned);
//   root.cheat(address, bytes, Cheat::kNever);  // completions that no root should send
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "base/rng.hpp"
#include "gen/streams.hpp"
#include "support/dut.hpp"

namespace rnic::tb {

/// The client whose request is sent in this cycle: from a tap of the RTL, or from the model's bench
/// (host_if_model.hpp). Reads: docs/spec/commits.yaml, dma_rd_req; writes: dma_wr.
struct ClientTap {
  bool valid = false;
  unsigned client = 0;
};

/// The fault in the completions of a read.
enum class Cheat : uint8_t {
  kNone,
  kTwice,   // the last piece comes again
  kShort,   // the last piece lacks bytes
  kLong,    // the last piece has extra bytes
  kUnsaid,  // the last piece is not marked as last
  kNever,   // none comes
  kLate     // all come after the time-out
};

struct Tlp {
  uint64_t address = 0;
  std::vector<uint8_t> data;
  unsigned client = 0;  // from the tap
};

template <class D>
class RootPort final : public Port {
 public:
  static constexpr uint64_t kBase = 0x0000'0001'ffe0'0000;  // a multiple of 2^32 lies inside
  static constexpr size_t kBytes = 4U << 20;

  RootPort(D& dut, base::Rng rng) : dut_(dut), rng_(rng), memory_(kBytes) {
    rng_.fill(memory_);
    dut.dma_rd_req.on_item([this](const spec::DmaRdReq& r) { on_read(r); });
    dut.dma_wr.on_item([this](const spec::DmaWr& w) { on_write(w); });
    dut.attach(this);
  }

  /// mps, mrrs: PCIe's codes of the most bytes of a write and of a read (0: 128, 1: 256, ...). rcb:
  /// the boundary in bytes at which completions may be cut.
  void limits(unsigned mps, unsigned mrrs, unsigned rcb) {
    mps_ = 128U << mps, mrrs_ = 128U << mrrs, rcb_ = rcb;
  }
  /// Cycles from a read to its first completion: at least `low`, at most `high`.
  void delay(unsigned low, unsigned high) { low_ = low, high_ = high; }
  /// Pieces of completions end anywhere, not only at the boundary rcb.
  void any_piece(bool on) { any_piece_ = on; }
  void in_order(bool on) { in_order_ = on; }  // else any due tag is next
  void hold(bool on) { hold_ = on; }          // reads are accepted, not completed
  /// Reads that touch these bytes end with `status`; with cheat(), their completions are wrong.
  void fail(uint64_t address, uint64_t bytes, spec::RdStatus status) {
    bad_.push_back({address, bytes, status});
  }
  void cheat(uint64_t address, uint64_t bytes, Cheat how) {
    cheats_.push_back({address, bytes, how});
  }
  void cpl_timeout(uint64_t cycles) { timeout_ = cycles; }
  struct Counts {  // expected counters of the device, by kind of completion error
    uint64_t unexpected = 0, malformed = 0, timed_out = 0;
  } counts;
  /// Sends a piece for a tag that no read has.
  void stray(uint8_t tag, unsigned bytes) {
    ASSERT_FALSE(open_.contains(tag));
    send(tag, rng_.bytes(bytes), true);
    counts.unexpected++;
  }
  void on_tlp(std::function<void(const Tlp&)> f) { on_tlp_ = std::move(f); }

  [[nodiscard]] std::vector<uint8_t> bytes(uint64_t address, size_t n) const {
    const auto at = memory_.begin() + static_cast<std::ptrdiff_t>(address - kBase);
    return {at, at + static_cast<std::ptrdiff_t>(n)};
  }
  std::vector<Tlp> tlps;
  uint64_t reads = 0;                                         // accepted
  uint64_t errors = 0;                                        // reads that must fail
  std::vector<std::pair<unsigned, spec::DmaRdReq>> requests;  // client from the tap

  void drive() override {
    cycle_++;
    if (hold_ || dut_.dma_rd_rsp.size() > 2) return;
    std::vector<uint8_t> due;
    for (const auto& [tag, read] : open_)
      if (read.at <= cycle_) due.push_back(tag);
    if (due.empty()) return;
    uint8_t tag = due[rng_.below(due.size())];
    if (in_order_)
      for (const uint8_t t : due)
        if (open_[t].serial < open_[tag].serial) tag = t;
    Read& read = open_[tag];
    send_piece(read);
    if (read.done) open_.erase(tag);
  }
  void clear() override {
    open_.clear(), bad_.clear(), cheats_.clear(), lost_.clear(), counts = {};
    requests.clear(), tlps.clear(), current_.reset();
    reads = errors = 0;
  }
  [[nodiscard]] bool busy() const override { return !open_.empty() && !hold_; }
  [[nodiscard]] size_t outstanding() const { return open_.size(); }

 private:
  struct Read {
    uint8_t tag;
    uint64_t address;
    std::vector<uint8_t> data;
    size_t sent = 0;
    uint64_t at = 0;
    spec::RdStatus status{};
    bool done = false;
    uint64_t serial = 0;
    Cheat cheat = Cheat::kNone;
  };
  struct Cheated {
    uint64_t address, bytes;
    Cheat how;
  };
  struct Bad {
    uint64_t address, bytes;
    spec::RdStatus status;
  };

  void on_read(const spec::DmaRdReq& r) {
    const ClientTap tap = dut_.read_tap();
    EXPECT_TRUE(tap.valid);
    requests.emplace_back(tap.client, r);
    reads++;
    EXPECT_GE(r.length, 1);
    EXPECT_LE(r.length, mrrs_) << "longer than MRRS";
    EXPECT_LE((r.address & 4095) + r.length, 4096U) << "crosses 4 KiB";
    EXPECT_EQ(r.relaxed, 0);
    ASSERT_GE(r.address, kBase);
    ASSERT_LE(r.address + r.length, kBase + kBytes);
    ASSERT_FALSE(open_.contains(r.tag)) << "tag " << int{r.tag} << " is in use";
    Read read{
        r.tag, r.address, bytes(r.address, r.length), 0, cycle_ + rng_.between(low_, high_), {},
        false, reads};
    if (const auto lost = lost_.find(r.tag); lost != lost_.end()) {
      EXPECT_GE(cycle_, lost->second)
          << "tag " << int{r.tag} << " is used before its late completion may be forgotten";
      lost_.erase(lost);
    }
    for (const auto& c : cheats_)
      if (r.address < c.address + c.bytes && c.address < r.address + r.length) read.cheat = c.how;
    if (read.cheat == Cheat::kNever || read.cheat == Cheat::kLate) counts.timed_out++, errors++;
    // A read ends 1 to 1.5 time-outs after it is sent; its tag is held for 1.5 to 2 more. So a
    // completion at 2.25 time-outs meets a held tag, which may not be used before 2.5.
    if (read.cheat == Cheat::kNever) {
      lost_[r.tag] = cycle_ + timeout_ * 5 / 2;
      return;
    }
    if (read.cheat == Cheat::kLate) read.at = cycle_ + timeout_ * 9 / 4;
    for (const auto& b : bad_)
      if (r.address < b.address + b.bytes && b.address < r.address + r.length)
        read.status = b.status;
    if (read.status != spec::RdStatus::kOk) errors++;
    open_.emplace(r.tag, std::move(read));
  }

  void send_piece(Read& r) {
    const size_t left = r.data.size() - r.sent;
    spec::DmaRdRsp beat{.tag = r.tag};
    if (r.status != spec::RdStatus::kOk && (left == 1 || rng_.percent(50))) {
      beat.status = r.status;
      beat.piece_last = beat.is_last = 1;
      beat.keep = static_cast<uint8_t>(rng_.below(65));
      for (auto& b : beat.data) b = 0xee;
      dut_.dma_rd_rsp.put(beat);
      r.done = true;
      return;
    }
    size_t n = left;
    if (any_piece_) {
      n = 1 + rng_.below(left);
    } else if (rng_.percent(70)) {
      const uint64_t at = r.address + r.sent;
      const uint64_t end = (at / rcb_ + 1 + rng_.below(4)) * rcb_;
      n = std::min<size_t>(left, end - at);
    }
    // Leaves a byte: the piece with the error status is still to come.
    if (r.status != spec::RdStatus::kOk) n = std::min(n, left - 1);
    const auto from = r.data.begin() + static_cast<std::ptrdiff_t>(r.sent);
    std::vector<uint8_t> piece(from, from + static_cast<std::ptrdiff_t>(n));
    const bool last = n == left;
    const Cheat cheat = last || r.cheat == Cheat::kLate ? r.cheat : Cheat::kNone;
    if (cheat == Cheat::kShort) piece.resize(rng_.below(n));
    if (cheat == Cheat::kLong) piece.resize(n + rng_.between(1, 130), 0xdd);
    send(r.tag, piece, last && cheat != Cheat::kUnsaid);
    if (cheat == Cheat::kTwice) send(r.tag, piece, true);
    // The device ends this read now, and holds its tag for 1.5 to 2 time-outs.
    if (cheat == Cheat::kUnsaid) lost_[r.tag] = cycle_ + timeout_ * 3 / 2;
    if (cheat == Cheat::kShort || cheat == Cheat::kLong || cheat == Cheat::kUnsaid)
      counts.malformed++, errors++;
    if (cheat == Cheat::kTwice || cheat == Cheat::kLate) counts.unexpected++;
    r.sent += n;
    r.done = r.sent == r.data.size();
  }
  /// Sends a piece in beats. An empty piece is one beat.
  void send(uint8_t tag, const std::vector<uint8_t>& piece, bool is_last) {
    size_t i = 0;
    do {
      spec::DmaRdRsp beat{.tag = tag};
      const size_t k = std::min<size_t>(64, piece.size() - i);
      for (auto& b : beat.data) b = static_cast<uint8_t>(rng_.next());
      std::copy_n(piece.begin() + static_cast<std::ptrdiff_t>(i), k, beat.data.begin());
      beat.keep = static_cast<uint8_t>(k);
      i += k;
      beat.piece_last = i == piece.size();
      beat.is_last = beat.piece_last != 0 && is_last;
      dut_.dma_rd_rsp.put(beat);
    } while (i != piece.size());
  }

  void on_write(const spec::DmaWr& w) {
    const ClientTap tap = dut_.write_tap();
    EXPECT_TRUE(tap.valid);
    if (!current_) {
      current_ = Tlp{w.address, {}, tap.client};
      EXPECT_GE(w.length, 1);
      EXPECT_LE(w.length, mps_) << "longer than MPS";
      EXPECT_LE((w.address & 4095) + w.length, 4096U) << "crosses 4 KiB";
      EXPECT_EQ(w.relaxed, 0);
      length_ = w.length;
    }
    EXPECT_EQ(w.address, current_->address);
    EXPECT_EQ(w.length, length_);
    EXPECT_EQ(tap.client, current_->client);
    EXPECT_TRUE(w.keep == 64 || w.last != 0) << "not dense";
    EXPECT_GE(w.keep, 1);
    ASSERT_GE(w.address, kBase);
    ASSERT_LE(w.address + w.length, kBase + kBytes);
    const auto at =
        memory_.begin() + static_cast<std::ptrdiff_t>(w.address - kBase + current_->data.size());
    std::copy_n(w.data.begin(), w.keep, at);
    current_->data.insert(current_->data.end(), w.data.begin(), w.data.begin() + w.keep);
    if (w.last == 0) return;
    EXPECT_EQ(current_->data.size(), length_);
    tlps.push_back(*current_);
    if (on_tlp_) on_tlp_(*current_);
    current_.reset();
  }

  D& dut_;
  base::Rng rng_;
  std::vector<uint8_t> memory_;
  std::map<uint8_t, Read> open_;
  std::vector<Bad> bad_;
  std::vector<Cheated> cheats_;
  std::map<uint8_t, uint64_t> lost_;  // tags that must not be used before this cycle
  uint64_t timeout_ = 0;
  std::optional<Tlp> current_;
  std::function<void(const Tlp&)> on_tlp_;
  size_t length_ = 0;
  unsigned mps_ = 256, mrrs_ = 512, rcb_ = 64, low_ = 0, high_ = 40;
  bool any_piece_ = false, hold_ = false, in_order_ = false;
  uint64_t cycle_ = 0;
};

}  // namespace rnic::tb
