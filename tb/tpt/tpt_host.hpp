// The send queues of tpt's bench, and the host memory with their page lists: fast registrations,
// memory windows. When tpt reports ok, Host tells the world (TptWorld) what has changed.
//
//   Host<D> h(dut, world);
//   Kept k = h.keep(3, 4, 64);      h.reg(k, key, Host<D>::region(k, 16, 12, rng));
//   Window w = h.window(5, 1);      h.bind(w, key, {.address = .., .length = .., .lkey = ..},
//                                          base);
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "gen/queues.hpp"
#include "tpt/tpt_dut.hpp"
#include "tpt/tpt_world.hpp"

namespace rnic::tb {

inline constexpr uint16_t kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8;
inline constexpr uint16_t kAll = kLocalWrite | kRemoteWrite | kRemoteRead;

/// A slot kept for fast registrations, with 2^room entries of the page list from `pbl` on. upper:
/// the upper 24 bits of its STags.
struct Kept {
  uint32_t slot = 0, upper = 0, pbl = 0, stag = 0;  // stag: the last one, with its key
  unsigned room = 0;
  uint16_t pd = 7;
};

/// A memory window. upper: the upper 24 bits of its STags; stag: the last one, with its key.
struct Window {
  uint32_t slot = 0, upper = 0, stag = 0;
  uint8_t type = 1;
  uint16_t pd = 7;
};

/// Sends requests of send queues, and holds the host memory with the page lists of registrations.
template <class D>
class Host {
 public:
  Host(D& dut, TptWorld<D>& world) : d_(dut), w_(world) {}

  std::map<uint64_t, std::vector<uint64_t>> lists;  // by address: the pages of a page list
  std::map<uint64_t, spec::RdStatus> fails;         // failing reads, by address
  bool answers = true;                              // step() responds to reads of lists

  /// create_mr of a slot for fast registrations, which must succeed.
  Kept keep(uint32_t slot, unsigned room, uint32_t pbl, uint8_t key = 0x11, uint16_t pd = 7) {
    const uint32_t stag = w_.next_stag(slot, key);
    const auto rsp = command(slot, room, pbl, key, pd);
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result),
              (spec::AdminMrResult{.stag = stag, .pd = pd}));
    return {.slot = slot, .upper = stag >> 8, .pbl = pbl, .stag = stag, .room = room, .pd = pd};
  }
  /// Sends this create_mr and returns the response.
  spec::CmdRsp command(uint32_t slot, unsigned room, uint32_t pbl, uint8_t key, uint16_t pd) {
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = slot};
    spec::AdminMrArgs{.pd = pd,
                      .key = key,
                      .log_page = static_cast<uint8_t>(room),
                      .pbl_base = pbl,
                      .pages = 1U << room,
                      .fast = 1}
        .pack(cmd.args);
    d_.tpt_cmd.put(cmd);
    return d_.tpt_cmd_rsp.take();
  }
  /// A region of k with this number of random pages of 2^log_page bytes. It begins anywhere in its
  /// first page, but for the last 100 bytes, and ends in the last 100 bytes of its last page.
  static Region region(const Kept& k, unsigned pages, unsigned log_page, base::Rng& rng,
                       uint16_t rights = kAll) {
    Region r{.pd = k.pd, .rights = rights, .base = rng.next() >> 1, .log_page = log_page};
    r.first = static_cast<uint32_t>(rng.below((uint64_t{1} << log_page) - 100));
    r.length = (uint64_t{pages} << log_page) - r.first - rng.below(100);
    r.pbl_base = k.pbl;
    for (unsigned i = 0; i < pages; ++i) r.pages.push_back(rng.next() >> log_page << log_page);
    return r;
  }
  /// Puts the list of a region into memory, at an address of its own.
  uint64_t list_of(const Region& r) {
    const uint64_t at = next_list_;
    next_list_ += 0x10000000;
    lists[at] = r.pages;
    return at;
  }
  /// The operands of a registration of r, whose page list is at bus address `list`.
  static spec::RegOperands operands(const Region& r, uint64_t list) {
    return {.page_list = list,
            .length = r.length,
            .first_offset = r.first,
            .pages = static_cast<uint32_t>(r.pages.size()),
            .rights = r.rights,
            .log_page = static_cast<uint8_t>(r.log_page)};
  }
  // In these requests `wqe`, or 9, is the WQE's slot, which the report returns.
  /// Sends a registration and does not wait for its report.
  void post(uint32_t stag, const Region& r, const spec::RegOperands& o, uint16_t qpn, uint8_t wqe) {
    spec::SqLocal item{
        .qpn = qpn, .slot = wqe, .stag = stag, .is_reg = 1, .pd = r.pd, .base = r.base};
    o.pack(item.operands);
    d_.sq_local.put(item);
  }
  /// Registers a region under a key, and returns the report.
  spec::SqLocalDone reg(Kept& k, uint8_t key, const Region& r, uint16_t qpn = 5) {
    return reg(k, key, r, operands(r, list_of(r)), qpn);
  }
  spec::SqLocalDone reg(Kept& k, uint8_t key, Region r, const spec::RegOperands& o, uint16_t qpn) {
    post(k.upper << 8 | key, r, o, qpn, 9);
    const auto done = take();
    EXPECT_EQ(done.qpn, qpn);
    EXPECT_EQ(done.slot, 9);
    if (done.result == spec::TptResult::kOk && done.status == spec::RdStatus::kOk)
      opened(k, key, r, qpn);
    return done;
  }
  /// Tells the world that tpt has reported this registration as ok.
  void opened(Kept& k, uint8_t key, Region r, uint16_t qpn) {
    k.stag = k.upper << 8 | key;
    r.bound = (r.rights & spec::kAccessRemoteInvalidate) != 0;
    r.qpn = qpn;
    w_.opened(k.stag, r);
  }

  // Memory windows. A bound window is a region of the world, on pages of another region.
  /// create_mr of a window, which must succeed.
  Window window(uint32_t slot, uint8_t type, uint8_t key = 0x21, uint16_t pd = 7) {
    const uint32_t stag = w_.next_stag(slot, key);
    spec::TptCmd cmd{.opcode = spec::AdminOpcode::kCreateMr, .object = slot};
    spec::AdminMrArgs{.pd = pd, .key = key, .window = type}.pack(cmd.args);
    d_.tpt_cmd.put(cmd);
    const auto rsp = d_.tpt_cmd_rsp.take();
    EXPECT_EQ(rsp.status, spec::AdminStatus::kOk);
    EXPECT_EQ(spec::AdminMrResult::unpack(rsp.result),
              (spec::AdminMrResult{.stag = stag, .pd = pd}));
    return {.slot = slot, .upper = stag >> 8, .stag = stag, .type = type, .pd = pd};
  }
  /// The request of a bind, as the send queue gives it to tpt.
  static spec::SqLocal item(uint32_t stag, const spec::BindOperands& o, uint64_t base,
                            uint16_t qpn = 5, uint8_t wqe = 9, uint16_t pd = 7) {
    spec::SqLocal item{.qpn = qpn, .slot = wqe, .stag = stag, .is_bind = 1, .pd = pd, .base = base};
    o.pack(item.operands);
    return item;
  }
  /// The region of the world that stands for window w, bound to a range of r.
  static Region part(const Window& w, const Region& r, const spec::BindOperands& o, uint64_t base,
                     uint16_t qpn) {
    Region part = r;
    part.pd = w.pd;
    part.rights = o.rights | (w.type == 2 ? spec::kAccessRemoteInvalidate : 0);
    part.base = base;
    part.length = o.length;
    part.first = static_cast<uint32_t>(r.first + (o.address - r.base));
    part.bound = w.type == 2;
    part.qpn = qpn;
    part.window = true;
    return part;
  }
  /// Binds a window to a region of the world, and returns the report.
  spec::SqLocalDone bind(Window& w, uint8_t key, const spec::BindOperands& o, uint64_t base,
                         uint16_t qpn = 5) {
    const uint32_t stag = w.upper << 8 | key;
    d_.sq_local.put(item(stag, o, base, qpn, 9, w.pd));
    const auto done = take();
    EXPECT_EQ(done.qpn, qpn);
    EXPECT_EQ(done.slot, 9);
    EXPECT_EQ(done.status, spec::RdStatus::kOk);
    if (done.result == spec::TptResult::kOk) bound(w, stag, o, base, qpn);
    return done;
  }
  /// Tells the world that tpt has reported this bind as ok. A bind of length 0 unbinds the window.
  void bound(Window& w, uint32_t stag, const spec::BindOperands& o, uint64_t base, uint16_t qpn) {
    w_.closed(w.stag);
    w.stag = stag;
    if (o.length != 0) w_.opened(stag, part(w, w_.region(o.lkey), o, base, qpn));
  }
  /// A local invalidation, as WQE 1 of QP 3. Waits for its report.
  void invalidate(const Window& w) {
    d_.sq_local.put({.qpn = 3, .slot = 1, .stag = w.stag});
    EXPECT_EQ(take(), (spec::SqLocalDone{.qpn = 3, .slot = 1}));
    w_.closed(w.stag);
  }
  /// A local invalidation of a region that has windows: tpt refuses it and the region stays open.
  void refuse_invalidation(uint32_t stag) {
    d_.sq_local.put({.qpn = 3, .slot = 1, .stag = stag});
    EXPECT_EQ(take(), (spec::SqLocalDone{.qpn = 3, .slot = 1, .result = spec::TptResult::kBind}));
  }
  spec::AdminStatus destroy(const Window& w, uint8_t any_key = 0) {
    return destroy(Kept{.slot = w.slot, .upper = w.upper, .stag = w.stag}, any_key);
  }

  /// A local invalidation of the region in a kept slot, as WQE 1 of QP 3. Waits for its report.
  void invalidate(const Kept& k) {
    d_.sq_local.put({.qpn = 3, .slot = 1, .stag = k.stag});
    EXPECT_EQ(take(), (spec::SqLocalDone{.qpn = 3, .slot = 1}));
    w_.closed(k.stag);
  }
  /// Repeats destroy_mr until it has ended, and returns its last status. any_key: the low 8 bits of
  /// the STag, which destroy_mr ignores for a kept slot or a window.
  spec::AdminStatus destroy(const Kept& k, uint8_t any_key) {
    w_.destroy_begin(k.upper << 8 | any_key);
    for (unsigned i = 0; i < 1000; ++i) {
      const auto status = answer();
      if (status != spec::AdminStatus::kInProgress) {
        if (status == spec::AdminStatus::kOk) w_.closed(k.stag), w_.freed(k.slot);
        return status;
      }
      w_.destroy_begin(k.upper << 8 | any_key);
    }
    return spec::AdminStatus::kInProgress;
  }
  /// Runs until a command has its response; returns the status.
  spec::AdminStatus answer() {
    EXPECT_TRUE(run([&] { return !d_.tpt_cmd_rsp.empty(); }));
    return d_.tpt_cmd_rsp.take().status;
  }
  /// Runs until a request of a send queue has its report.
  spec::SqLocalDone take() {
    EXPECT_TRUE(run([&] { return !d_.sq_local_done.empty(); })) << "no report";
    return d_.sq_local_done.take();
  }
  /// Steps until `until` holds; false: it never did.
  template <class F>
  bool run(F until) {
    for (unsigned i = 0; i < 200'000; ++i) {
      if (until()) return true;
      step();
    }
    return until();
  }
  /// Serves the reads of page lists, and advances the device under test.
  void step() {
    // Not take_all(): it settles, which takes hundreds of cycles per step.
    for (const auto& r : std::exchange(d_.reg_rd_req.items(), {})) reads.push_back(r);
    while (answers && !reads.empty()) {
      const auto r = reads.front();
      reads.pop_front();
      serve(r);
    }
    d_.advance();
  }
  std::deque<spec::RegRdReq> reads;  // of lists, without a response

 private:
  /// Responds to a read of at most 4096 bytes of a page list.
  void serve(const spec::RegRdReq& r) {
    const auto fail = fails.find(r.address);
    if (fail != fails.end()) {
      d_.reg_rd_hdr.put({.status = fail->second, .length = r.length});
      d_.reg_rd.put_packet({});
      return;
    }
    const auto list = std::prev(lists.upper_bound(r.address));
    std::vector<uint8_t> bytes;
    ASSERT_LE(r.length, 4096);
    ASSERT_EQ((r.address - list->first) % 4096, 0U);
    for (unsigned i = 0; i < r.length; ++i) {
      const uint64_t at = r.address - list->first + i;
      ASSERT_LT(at / 8, list->second.size()) << "a read after the list";
      bytes.push_back(static_cast<uint8_t>(list->second[at / 8] >> (8 * (at % 8))));
    }
    d_.reg_rd_hdr.put({.status = spec::RdStatus::kOk, .length = r.length});
    d_.reg_rd.put_packet(bytes);
  }

  D& d_;
  TptWorld<D>& w_;
  uint64_t next_list_ = 0x7000'0000'0000;
};

/// A test that runs at each pace of the streams, in a new world each time.
template <class D>
class HostTest : public testing::Test {
 protected:
  static constexpr uint64_t kKey = 0xfedcba9876543210;
  D dut;

  template <class F>
  void worlds(F body) {
    each_pace([&](Pace p) {
      dut.restart(p);
      TptWorld<D> w(dut, kKey, test_rng("world"));
      Host<D> h(dut, w);
      body(w, h);
    });
  }
};

}  // namespace rnic::tb
