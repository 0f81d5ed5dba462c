// The world of tpt: regions as the theory page defines them, in plain arithmetic, and the expected
// result of each lookup. A lookup is a group of pieces: of tx or rx (a segment), wqe or resp (only
// checked), qn1 (the word of an atomic). Extents that tpt returns are in flight until retire().
//
//   TptWorld<D> w(dut, key, rng);   w.create(slot, {...});
//   w.ask_tx({...});  w.ask_rx({...});  w.ask_wqe({...});  w.ask_resp({...});  w.ask_qn1(item);
//   w.finish();                    // all responses and extents must be as expected
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "tpt/tpt_dut.hpp"

namespace rnic::tb {

using Wide = unsigned __int128;
using Group = std::vector<spec::WqeCheck>;

namespace tpt_cipher {
inline uint32_t mix(uint32_t x) {
  const auto rotl12 = [x](unsigned n) { return (x << n | x >> (12 - n)) & 0xfff; };
  return (rotl12(1) & rotl12(8)) ^ rotl12(2);
}
inline uint32_t round_key(uint64_t key, unsigned i) {
  return (static_cast<uint32_t>(std::rotr(key, static_cast<int>(5 * i))) & 0xfff) ^ i;
}
}  // namespace tpt_cipher

/// The permutation, word for word from docs/theory-of-operation.md.
inline uint32_t permuted(uint32_t value, uint64_t key) {
  uint32_t l = value >> 12 & 0xfff;
  uint32_t r = value & 0xfff;
  for (unsigned i = 0; i < 16; i++) {
    const uint32_t next = r ^ tpt_cipher::mix(l) ^ tpt_cipher::round_key(key, i);
    r = l;
    l = next;
  }
  return l << 12 | r;
}
/// The inverse of permuted().
inline uint32_t turned_back(uint32_t value, uint64_t key) {
  uint32_t l = value >> 12 & 0xfff;
  uint32_t r = value & 0xfff;
  for (unsigned i = 16; i-- != 0;) {
    const uint32_t before = l ^ tpt_cipher::mix(r) ^ tpt_cipher::round_key(key, i);
    l = r;
    r = before;
  }
  return l << 12 | r;
}

/// A region. `base`: the TO of the region's first byte, which is byte `first` of its first page.
/// `bound`: only QP `qpn` may use the region. Rights 7: local write, remote write, remote read.
struct Region {
  uint16_t pd = 7;
  uint8_t key = 0;
  uint16_t rights = 7;
  uint64_t base = 0;
  uint64_t length = 0;
  unsigned log_page = 12;
  uint32_t first = 0;
  uint32_t pbl_base = 0;
  bool bound = false;
  uint16_t qpn = 0;
  // True: this is a bound window, which cannot be used as a local key. `pages` are then all pages
  // of the window's region; `first` is the offset of the window's first byte to the start of the
  // first page.
  bool window = false;
  std::vector<uint64_t> pages{};

  [[nodiscard]] size_t page_count() const {
    return static_cast<size_t>((first + length + (uint64_t{1} << log_page) - 1) >> log_page);
  }
  /// A lookup of n bytes at `offset` of this region, by its PD and QP, that needs the rights
  /// `need`.
  spec::WqeCheck item(uint32_t stag, uint64_t offset, uint32_t n, uint16_t need = 0) const {
    return {.stag = stag,
            .tagged_offset = base + offset,
            .length = n,
            .pd = pd,
            .qpn = qpn,
            .rights = need,
            .last = 1};
  }
};

template <class D>
class TptWorld {
 public:
  TptWorld(D& dut, uint64_t key, base::Rng rng) : dut_(dut), key_(key), rng_(rng) {
    dut.set_key(key);
  }

  static spec::Sizes sizes() { return D::kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }
  static unsigned slot_bits() {
    return static_cast<unsigned>(std::bit_width(sizes().num_stags - 1));
  }

  /// Returns the STag that the next create_mr of a slot must give.
  uint32_t next_stag(uint32_t slot, uint8_t key) {
    auto value = [&] { return (generation_[slot] << slot_bits() | slot) & 0xffffff; };
    while (permuted(value(), key_) == 0) generation_[slot]++;
    return permuted(value(), key_) << 8 | key;
  }

  /// Writes the page list, sends create_mr, and checks the response.
  uint32_t create(uint32_t slot, Region r) {
    // The list of a region that is only checked may be short: a check does not read it.
    while (r.pages.size() < std::min<size_t>(r.page_count(), 700))
      r.pages.push_back(rng_.next() >> r.log_page << r.log_page);
    for (size_t i = 0; i < r.pages.size(); i++)
      dut_.pbl_wr.put({.index = r.pbl_base + static_cast<uint32_t>(i), .address = r.pages[i]});
    EXPECT_TRUE(dut_.run_until([&] { return !dut_.pbl_wr.busy(); }));
    const uint32_t stag = next_stag(slot, r.key);
    const auto rsp = create_rsp(slot, r);
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result), result_of(stag, r)) << "slot " << slot;
    regions_[stag] = r;
    slot_of_[stag] = slot;
    return stag;
  }
  /// Sends create_mr with the fields of r, and returns the response.
  spec::CmdRsp create_rsp(uint32_t slot, const Region& r) {
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = slot};
    spec::AdminMrArgs{.pd = r.pd,
                      .key = r.key,
                      .log_page = static_cast<uint8_t>(r.log_page),
                      .rights = r.rights,
                      .qpn = r.qpn,
                      .base_to = r.base,
                      .length = r.length,
                      .first_offset = r.first,
                      .pbl_base = r.pbl_base,
                      .pages = static_cast<uint32_t>(r.pages.size()),
                      .bound = r.bound}
        .pack(cmd.args);
    dut_.tpt_cmd.put(cmd);
    return dut_.tpt_cmd_rsp.take();
  }
  /// admin's request before create_mr: a query_mr with the arguments of a region reports whether
  /// the slot is used. window: the type of the window that create_mr would make; 0: a region.
  bool slot_used(uint32_t slot, uint8_t window = 0) {
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kQueryMr, .object = slot};
    const uint32_t pages = window != 0 ? 0 : 1 + static_cast<uint32_t>(rng_.next() >> 33);
    spec::AdminMrArgs{.pd = 3, .pages = pages, .window = window}.pack(cmd.args);
    dut_.tpt_cmd.put(cmd);
    const auto rsp = dut_.tpt_cmd_rsp.take();
    EXPECT_TRUE(rsp.status == spec::AdminStatus::kOk || rsp.status == spec::AdminStatus::kNotFound);
    EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
    return rsp.status == spec::AdminStatus::kOk;
  }
  /// query_mr; the response must be the region of the world, or not_found.
  void query(uint32_t stag) {
    dut_.tpt_cmd.put({.opcode = spec::AdminOpcode::kQueryMr, .object = stag});
    expect_region(stag, dut_.tpt_cmd_rsp.take());
  }
  /// destroy_mr as a driver does it, repeated while it is in_progress. Everything in flight must
  /// retire soon.
  void destroy(uint32_t stag) {
    destroy_begin(stag);
    destroy_end(stag);
  }
  /// Sends one destroy_mr.
  void destroy_begin(uint32_t stag) {
    dut_.tpt_cmd.put({.opcode = spec::AdminOpcode::kDestroyMr, .object = stag});
  }
  /// Repeats the outstanding destroy_mr while it is in_progress, and checks the last response.
  void destroy_end(uint32_t stag) {
    const auto rsp = destroyed(stag);
    if (const auto it = regions_.find(stag); it == regions_.end()) {
      EXPECT_EQ(rsp.status, spec::AdminStatus::kNotFound);
    } else {
      EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
      EXPECT_EQ(
          spec::AdminDestroyMrResult::unpack(rsp.result),
          (spec::AdminDestroyMrResult{
              .stag = stag, .pd = it->second.pd, .slot = static_cast<uint16_t>(slot_of_[stag])}));
    }
    forget(stag);
  }
  /// Sends one more destroy_mr and returns its status.
  spec::AdminStatus poll(uint32_t stag) {
    destroy_begin(stag);
    return answered().status;
  }
  /// Returns the response to the outstanding destroy_mr. A response in_progress has an empty
  /// result.
  spec::CmdRsp answered() {
    const auto rsp = dut_.tpt_cmd_rsp.take();
    statuses.push_back(rsp.status);
    if (rsp.status == spec::AdminStatus::kInProgress) {
      EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
    }
    return rsp;
  }
  /// Returns the last response to destroy_mr: repeats it while the status is in_progress.
  spec::CmdRsp destroyed(uint32_t stag) {
    auto rsp = answered();
    for (unsigned i = 0; i < 1000 && rsp.status == spec::AdminStatus::kInProgress; i++) {
      destroy_begin(stag);
      rsp = answered();
    }
    return rsp;
  }
  /// The region is closed, and its slot has a new generation.
  void forget(uint32_t stag) {
    if (regions_.erase(stag) != 0) generation_[slot_of_[stag]]++;
  }

  // State changes of a kept slot or a window: an STag is opened or closed, the slot is freed.
  void opened(uint32_t stag, const Region& r) { regions_[stag] = r; }
  void closed(uint32_t stag) { regions_.erase(stag); }
  void freed(uint32_t slot) { generation_[slot]++; }

  Region& region(uint32_t stag) { return regions_.at(stag); }
  [[nodiscard]] const std::map<uint32_t, Region>& regions() const { return regions_; }

  /// The expected result of one lookup.
  [[nodiscard]] spec::TptResult judge(const spec::WqeCheck& c, bool is_local = false) const {
    const auto it = regions_.find(c.stag);
    return it == regions_.end() ? spec::TptResult::kStag : judge(it->second, c, is_local);
  }
  /// STag, PD, rights, wrap, bounds: requirements.md section 7. is_local: the local key of a WQE.
  static spec::TptResult judge(const Region& r, const spec::WqeCheck& c, bool is_local = false) {
    if (c.invalidate != 0 && !r.bound && (c.rights & spec::kAccessRemoteInvalidate) != 0)
      return spec::TptResult::kStag;
    if (c.pd != r.pd || (r.bound && c.qpn != r.qpn)) return spec::TptResult::kAssoc;
    if ((c.rights & ~r.rights) != 0) return spec::TptResult::kRights;
    if (is_local && r.window && c.invalidate == 0) return spec::TptResult::kRights;
    if (c.invalidate != 0) return spec::TptResult::kOk;
    const Wide end = Wide{c.tagged_offset} + c.length;
    if (end > Wide{1} << 64) return spec::TptResult::kWrap;
    if (c.tagged_offset < r.base || end > Wide{r.base} + r.length) return spec::TptResult::kBounds;
    return spec::TptResult::kOk;
  }

  /// Appends the extents of a lookup that passes, one per page. The page of a byte follows from the
  /// byte's offset to the start of the first page.
  static void walk(const Region& r, const spec::WqeCheck& c, std::vector<spec::Extent>& out) {
    const uint64_t page = uint64_t{1} << r.log_page;
    for (uint32_t done = 0; done < c.length;) {
      const uint64_t place = r.first + (c.tagged_offset - r.base) + done;
      const auto n =
          static_cast<uint32_t>(std::min<uint64_t>(c.length - done, page - place % page));
      out.push_back({.address = r.pages.at(place / page) + place % page, .length = n});
      done += n;
    }
  }

  // ask_*: sends a group, and notes what must come; finish() compares.
  void ask_wqe(Group g) {
    wqe_.push_back({first_failure(g, true)});
    put(dut_.wqe_check, std::move(g));
  }
  void ask_resp(Group g) {
    resp_.push_back({first_failure(g)});
    put(dut_.resp_check, std::move(g));
  }
  void ask_rx(Group g) {
    const auto result = first_failure(g);
    bool is_of_inv = false;
    for (const auto& c : g) {
      if (judge(c) == spec::TptResult::kOk) continue;
      is_of_inv = c.invalidate != 0;
      break;
    }
    rx_rsp_.push_back({result, is_of_inv});
    if (result == spec::TptResult::kOk) {
      const size_t before = rx_.size();
      for (const auto& c : g) walk(c, rx_);
      if (rx_.size() != before) rx_.back().last = 1;
    }
    put(dut_.rx_xlate, std::move(g));
  }
  void ask_tx(Group g) {
    for (const auto& c : g) {
      const auto result = judge(c);
      if (result != spec::TptResult::kOk) {
        tx_.push_back({.address = 0, .length = 0, .result = result, .last = 1});
        break;
      }
      walk(c, tx_);
    }
    tx_.back().last = 1;
    put(dut_.tx_xlate, std::move(g));
  }

  /// Expects one extent. If the bytes cross a page, the extent has those in the first page.
  void ask_qn1(spec::WqeCheck c) {
    c.last = 1;
    const auto result = judge(c);
    if (result != spec::TptResult::kOk) {
      qn1_.push_back({.address = 0, .length = 0, .result = result, .last = 1});
    } else {
      std::vector<spec::Extent> all;
      walk(c, all);
      qn1_.push_back(all.front());
      qn1_.back().last = 1;
    }
    dut_.qn1_xlate.put(c);
  }

  /// Checks the responses and extents of all requests, and retires the extents. settles = false:
  /// the test has given them time, while a request waits.
  void finish(bool retire_all = true, bool settles = true) {
    if (settles) dut_.settle();
    compare(dut_.wqe_check_rsp, wqe_);
    compare(dut_.resp_check_rsp, resp_);
    const auto rx_rsps = std::exchange(dut_.rx_xlate_rsp.items(), {});
    EXPECT_EQ(rx_rsps.size(), rx_rsp_.size());
    for (size_t i = 0; i < std::min(rx_rsps.size(), rx_rsp_.size()); i++) {
      EXPECT_EQ(rx_rsps[i].result, rx_rsp_[i].result) << "rx_xlate_rsp " << i;
      if (rx_rsp_[i].result != spec::TptResult::kOk) {
        EXPECT_EQ(rx_rsps[i].invalidate, rx_rsp_[i].invalidate) << "rx_xlate_rsp " << i;
      }
    }
    rx_rsp_.clear();
    for (const auto& e : extents(dut_.tx_extent, tx_)) tx_held.push_back(e);
    for (const auto& e : extents(dut_.rx_extent, rx_)) rx_held.push_back(e);
    for (const auto& e : extents(dut_.qn1_extent, qn1_)) qn1_held.push_back(e);
    if (retire_all) retire();
  }
  /// Retires all extents that finish() has received.
  void retire() {
    for (const auto& e : tx_held) dut_.rd_retired.put({.epoch = e.epoch});
    for (const auto& e : rx_held) retire_rx(e);
    for (const auto& e : qn1_held) dut_.qn1_retired.put({.epoch = e.epoch});
    tx_held.clear();
    rx_held.clear();
    qn1_held.clear();
  }
  /// Retires an extent of rx: its bytes are written or dropped, at random. tpt treats both alike.
  void retire_rx(const spec::Extent& e) {
    if (rng_.percent(50))
      dut_.wr_retired.put({.epoch = e.epoch});
    else
      dut_.rx_dropped.put({.epoch = e.epoch});
  }
  base::Rng& rng() { return rng_; }

  std::vector<spec::Extent> tx_held, rx_held, qn1_held;  // issued and not retired
  std::vector<spec::AdminStatus> statuses;               // of all destroy_mr responses

 private:
  static spec::AdminMrResult result_of(uint32_t stag, const Region& r) {
    return {.stag = stag, .pd = r.pd, .rights = r.rights, .length = r.length};
  }
  void expect_region(uint32_t stag, const spec::CmdRsp& rsp) {
    const auto it = regions_.find(stag);
    if (it == regions_.end()) {
      EXPECT_EQ(rsp.status, spec::AdminStatus::kNotFound);
      return;
    }
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result), result_of(stag, it->second));
  }
  [[nodiscard]] spec::TptResult first_failure(const Group& g, bool is_local = false) const {
    for (const auto& c : g)
      if (const auto result = judge(c, is_local); result != spec::TptResult::kOk) return result;
    return spec::TptResult::kOk;
  }
  void walk(const spec::WqeCheck& c, std::vector<spec::Extent>& out) const {
    walk(regions_.at(c.stag), c, out);
  }
  template <class In>
  static void put(In& in, Group g) {
    for (auto& c : g) c.last = &c == &g.back();
    for (auto& c : g) in.put(c);
  }
  template <class Out, class T>
  static void compare(Out& out, std::vector<T>& expected) {
    const auto got = std::exchange(out.items(), {});
    ASSERT_EQ(got.size(), expected.size()) << out.name();
    for (size_t i = 0; i < got.size(); i++)
      EXPECT_EQ(got[i].result, expected[i].result) << out.name() << " " << i;
    expected.clear();
  }
  template <class Out>
  static auto extents(Out& out, std::vector<spec::Extent>& expected) {
    const auto got = std::exchange(out.items(), {});
    EXPECT_EQ(got.size(), expected.size()) << out.name();
    for (size_t i = 0; i < std::min(got.size(), expected.size()); i++) {
      auto want = expected[i];
      want.epoch = got[i].epoch;
      // undefined on failure
      if (want.result != spec::TptResult::kOk) want.address = got[i].address;
      EXPECT_EQ(got[i], want) << out.name() << " " << i << "\n  " << got[i].describe() << "\n  "
                              << want.describe();
    }
    expected.clear();
    return got;
  }

  D& dut_;
  uint64_t key_;
  base::Rng rng_;
  std::map<uint32_t, Region> regions_;
  std::map<uint32_t, uint32_t> slot_of_, generation_;
  std::vector<spec::WqeCheckRsp> wqe_, resp_;
  std::vector<spec::RxXlateRsp> rx_rsp_;
  std::vector<spec::Extent> rx_, tx_, qn1_;
};

}  // namespace rnic::tb
