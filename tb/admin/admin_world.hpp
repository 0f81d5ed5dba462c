// The surroundings of admin in its bench: host memory with both rings, the units, and a reference
// of the existing objects.
//
// command() plays the driver. It writes a command of 64 bytes to the command ring, puts the new
// index on admin_doorbell, and waits for the response of 32 bytes: its phase bit shows that admin
// has written it. Meanwhile pump() plays the others. It returns what admin reads, stores what admin
// writes, and answers admin's commands to units (*_cmd) on *_cmd_rsp. must(), expect() and
// refused() send a command and check its status.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "admin/admin_dut.hpp"
#include "base/bytes.hpp"

namespace rnic::tb {

using Op = spec::AdminOpcode;
using Status = spec::AdminStatus;
using Bytes = std::vector<uint8_t>;
using Args = std::array<uint8_t, 56>;

constexpr uint8_t u8(uint64_t v) { return static_cast<uint8_t>(v); }
constexpr uint16_t u16(uint64_t v) { return static_cast<uint16_t>(v); }
constexpr uint32_t u32(uint64_t v) { return static_cast<uint32_t>(v); }
template <class T>
using Some = std::initializer_list<T>;

/// The 56 argument bytes of a command, and the 16 result bytes of a response, as in the rings.
template <class A>
Args packed(const A& a) {
  Args out{};
  a.pack(out);
  return out;
}

template <class R>
std::array<uint8_t, 16> packed_result(const R& r) {
  std::array<uint8_t, 16> out{};
  r.pack(out);
  return out;
}

/// Sparse memory: a byte that was never written is 0. A read that touches a spoiled byte fails.
class HostMemory {
 public:
  uint8_t& operator[](uint64_t at) { return bytes_[at]; }
  void put(uint64_t at, std::span<const uint8_t> data) {
    for (uint8_t b : data) bytes_[at++] = b;
  }
  Bytes get(uint64_t at, size_t n) {
    Bytes out(n);
    for (auto& b : out) b = bytes_[at++];
    return out;
  }
  void clear() { bytes_.clear(), bad_.clear(); }
  void spoil(uint64_t at) { bad_.push_back(at); }  // this byte becomes unreadable
  void mend() { bad_.clear(); }                    // all bytes become readable again
  [[nodiscard]] bool is_bad(uint64_t at, size_t n) const {
    return std::any_of(bad_.begin(), bad_.end(), [&](uint64_t b) { return b >= at && b < at + n; });
  }

 private:
  std::unordered_map<uint64_t, uint8_t> bytes_;
  std::vector<uint64_t> bad_;
};

template <class D>
class AdminWorld : public testing::Test {
 protected:
  enum Unit { kQp, kCq, kTpt, kConn };
  struct Sent {  // a command that a unit got
    Unit unit;
    spec::Cmd cmd;
    friend bool operator==(const Sent&, const Sent&) = default;
  };
  // Bus addresses: command ring, response ring, page lists.
  static constexpr uint64_t kCmds = 0x7000'0000'1000, kRsps = 0x123'4567'8000,
                            kBuffer = 0x5'0000'0000;

  D dut;
  base::Rng rng = test_rng("world");
  HostMemory mem;
  spec::Sizes sizes = D::sizes();
  unsigned log_size = 3;  // log2 of the entries of each ring
  uint16_t index = 0;     // of the next command; counts all commands, modulo 2^16

  // --- outputs since the last command (forget() clears them)
  std::vector<Sent> sent;
  // Number of queries. create_mr queries tpt: is the slot free? create_qp queries cq: has a CQ
  // overrun? A command that ends a QP sends a dummy query to cq, so that its response comes after
  // the QP's completions.
  unsigned questions = 0;
  Op under_way = Op::kNop;         // the command that the driver has sent
  std::vector<std::string> order;  // admin's outputs as "unit opcode object", writes as "wr ..."
  std::vector<spec::PblWr> pbl;
  std::vector<std::pair<spec::RawTxHdr, Bytes>> raw;
  unsigned reads = 0;
  std::function<void(const spec::RdReq&)> on_read;  // called before each read is answered

  // --- the units
  // By Unit: the statuses of its next responses. kOk: the unit executes this command.
  std::deque<Status> refuse[4];
  // Status with which tpt answers the query of a slot; none: the true one.
  std::optional<Status> answer_question;
  std::map<uint32_t, spec::QpState> qp_state;
  std::set<uint32_t> overrun;                                 // CQs
  std::map<uint32_t, std::pair<uint32_t, uint16_t>> regions;  // STag: slot, PD
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> lists;  // STag: page-list entries: first, count
  Bytes waiting;                                            // the bytes that conn_give returns
  bool give_ends = false;  // the connection ends before conn_give has returned bytes
  std::optional<spec::CmdRsp> last_answer;  // of a unit to a command in `sent`

  void start(Pace pace, unsigned log = 3) {
    dut.start(pace);
    mem.clear();
    log_size = log;
    index = 0;
    for (auto& r : refuse) r.clear();
    answer_question.reset();
    qp_state.clear(), regions.clear(), lists.clear(), overrun.clear();
    ref = {};
    forget();
    on_read = nullptr;
    dut.configure({.enable = 1,
                   .stag_key = rng.next(),
                   .admin_cmd_base = kCmds,
                   .admin_rsp_base = kRsps,
                   .admin_log_size = u8(log)});
  }
  /// Clears the recorded outputs of admin, and `waiting`.
  void forget() {
    sent.clear(), order.clear(), pbl.clear(), raw.clear(), reads = 0, last_answer.reset();
    questions = 0;
    waiting.clear();
  }

  // --- surroundings
  spec::CmdRsp unit_answer(Unit unit, const spec::Cmd& c) {
    spec::CmdRsp rsp;
    if (!refuse[unit].empty()) {
      rsp.status = refuse[unit].front();
      refuse[unit].pop_front();
      if (rsp.status != Status::kOk) return rsp;
    }
    rng.fill(rsp.result);
    switch (c.opcode) {
      case Op::kCreateQp:
        qp_state[c.object] = spec::QpState::kIdle;
        break;
      case Op::kQueryQp:
        spec::AdminQpResult{.state = qp_state[c.object], .sq_retired = u16(rng.next())}.pack(
            rsp.result);
        break;
      case Op::kCreateMr: {
        const auto a = spec::AdminMrArgs::unpack(c.args);
        EXPECT_FALSE(slot_used(c.object)) << "the slot had been asked about";
        const auto stag = u32(rng.next());
        regions[stag] = {c.object, a.pd};
        lists[stag] = {a.pbl_base, a.pages};
        spec::AdminMrResult{.stag = stag, .pd = a.pd}.pack(rsp.result);
        break;
      }
      case Op::kQueryMr:
      case Op::kDestroyMr: {
        const auto r = regions.find(c.object);
        if (r == regions.end()) return {.status = Status::kNotFound};
        const auto [slot, pd] = r->second;
        if (c.opcode == Op::kDestroyMr) {
          spec::AdminDestroyMrResult{.stag = c.object, .pd = pd, .slot = u16(slot)}.pack(
              rsp.result);
          regions.erase(r);
          lists.erase(c.object);
        } else {
          spec::AdminMrResult{.stag = c.object, .pd = pd, .length = rng.next()}.pack(rsp.result);
        }
        break;
      }
      case Op::kConnGive:
        dut.raw_rx_hdr.put(
            {.connection = u16(c.object), .length = u16(waiting.size()), .ended = give_ends});
        dut.raw_rx.put_packet(waiting);
        break;
      default:
        break;
    }
    return rsp;
  }
  /// Returns whether admin asks tpt if a slot is free: a query_mr with the arguments of a
  /// create_mr.
  static bool is_question(Unit unit, const spec::Cmd& c) {
    const auto a = spec::AdminMrArgs::unpack(c.args);
    return unit == kTpt && c.opcode == Op::kQueryMr && (a.pages != 0 || a.window != 0);
  }
  [[nodiscard]] bool slot_used(uint32_t slot) const {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const auto& r) { return r.second.first == slot; });
  }
  /// tpt's response to that query: ok if a region or window has the slot, else not_found.
  spec::CmdRsp slot_answer(const spec::Cmd& c) {
    EXPECT_TRUE(pbl.empty()) << "an entry was written before the slot is known to be free";
    spec::CmdRsp rsp{.status = slot_used(c.object) ? Status::kOk : Status::kNotFound};
    if (answer_question) rsp.status = *answer_question;
    rng.fill(rsp.result);  // admin ignores it
    return rsp;
  }
  /// A response that admin ignores.
  spec::CmdRsp whatever() {
    spec::CmdRsp rsp{.status = rng.percent(50) ? Status::kOk : Status::kNotFound, .result = {}};
    rng.fill(rsp.result);
    return rsp;
  }
  /// The response to a command that admin sends after qp has created the QP of a create_qp:
  /// query_cq of each of its CQs, and destroy_qp if a CQ has overrun.
  spec::CmdRsp after_create(const spec::Cmd& c) {
    EXPECT_EQ(c.args, Args{});
    spec::CmdRsp rsp;
    if (c.opcode == Op::kQueryCq) {
      spec::AdminCqResult{
          .producer = u16(rng.next()), .overrun = overrun.contains(c.object), .armed = 1}
          .pack(rsp.result);
    } else {
      EXPECT_EQ(c.opcode, Op::kDestroyQp);
      qp_state.erase(c.object);
    }
    return rsp;
  }
  /// Responds to all commands of admin to one unit. `in` carries the responses. Returns whether
  /// there was a command.
  template <class Out, class In>
  bool serve(Unit unit, Out& out, In& in) {
    bool did = false;
    static constexpr const char* kNames[] = {"qp", "cq", "tpt", "conn"};
    while (!out.empty()) {
      const spec::Cmd c = out.items().front();
      out.items().pop_front();
      if (is_question(unit, c)) {
        questions++;
        in.put(slot_answer(c));
        did = true;
        continue;
      }
      if (under_way == Op::kCreateQp && c.opcode != Op::kCreateQp) {
        questions++;
        order.push_back(fmt::format("{} {} {}", kNames[unit], spec::to_string(c.opcode), c.object));
        in.put(after_create(c));
        did = true;
        continue;
      }
      if ((under_way == Op::kDestroyQp || under_way == Op::kModifyQp) && c.opcode == Op::kQueryCq) {
        questions++;
        order.push_back(fmt::format("{} {} {}", kNames[unit], spec::to_string(c.opcode), c.object));
        in.put(whatever());
        did = true;
        continue;
      }
      sent.push_back({unit, c});
      order.push_back(fmt::format("{} {} {}", kNames[unit], spec::to_string(c.opcode), c.object));
      last_answer = unit_answer(unit, c);
      in.put(*last_answer);
      did = true;
    }
    return did;
  }
  /// Responds to all requests of admin. Returns whether there was one.
  bool pump() {
    bool did = false;
    while (!dut.pbl_wr.empty()) {
      pbl.push_back(dut.pbl_wr.items().front());
      dut.pbl_wr.items().pop_front();
      did = true;
    }
    while (!dut.raw_tx_hdr.empty() && !dut.raw_tx.empty()) {
      const auto h = dut.raw_tx_hdr.take();
      raw.emplace_back(h, dut.raw_tx.take_packet().bytes);
      order.push_back(fmt::format("raw_tx {} {}", h.connection, h.length));
      did = true;
    }
    did |= serve(kQp, dut.qp_cmd, dut.qp_cmd_rsp);
    did |= serve(kCq, dut.cq_cmd, dut.cq_cmd_rsp);
    did |= serve(kTpt, dut.tpt_cmd, dut.tpt_cmd_rsp);
    did |= serve(kConn, dut.conn_cmd, dut.conn_cmd_rsp);
    while (!dut.admin_rd_req.empty()) {
      const auto r = dut.admin_rd_req.items().front();
      dut.admin_rd_req.items().pop_front();
      EXPECT_GE(r.length, 1);
      EXPECT_LE(r.length, 4096);
      if (on_read) on_read(r);
      reads++;
      const bool bad = mem.is_bad(r.address, r.length);
      dut.admin_rd_hdr.put(
          {.status = bad ? static_cast<spec::RdStatus>(rng.between(1, 3)) : spec::RdStatus::kOk,
           .length = r.length});
      dut.admin_rd.put_packet(bad ? Bytes{} : mem.get(r.address, r.length));
      did = true;
    }
    while (!dut.admin_wr.empty()) {
      const auto w = dut.admin_wr.items().front();
      dut.admin_wr.items().pop_front();
      EXPECT_GE(w.length, 1);
      EXPECT_LE(w.length, 64);
      order.push_back(fmt::format("wr {:#x} {}", w.address, w.length));
      mem.put(w.address, std::span(w.data).first(w.length));
      did = true;
    }
    return did;
  }
  /// Runs admin and its surroundings until the condition holds, for at most `limit` cycles. Returns
  /// whether it holds.
  template <class Until>
  bool run(Until until, uint64_t limit = Dut::kLimit) {
    for (uint64_t i = 0; i < limit; i++) {
      if (until()) return true;
      const bool moved = dut.advance();
      if (!pump() && !moved) return until();
    }
    return until();
  }
  void idle(uint64_t cycles) {
    run([] { return false; }, cycles);
  }

  // --- the rings
  uint64_t cmd_at(uint16_t i) const { return kCmds + 64U * (i & ((1U << log_size) - 1)); }
  uint64_t rsp_at(uint16_t i) const { return kRsps + 32U * (i & ((1U << log_size) - 1)); }
  /// The phase bit that admin writes for entry i: 1 on the first pass over the ring, then 0, ...
  uint8_t phase(uint16_t i) const { return (i >> log_size & 1) == 0; }
  std::optional<uint16_t> cookie;  // of all commands, instead of a random one for each
  spec::AdminCmd write_cmd(uint16_t i, Op op, uint32_t object, const Args& args,
                           uint8_t flags = 0) {
    const spec::AdminCmd c{.opcode = static_cast<uint8_t>(op),
                           .flags = flags,
                           .cookie = cookie.value_or(u16(rng.next())),
                           .object = object,
                           .args = args};
    Bytes b(64);
    c.pack(b);
    mem.put(cmd_at(i), b);
    return c;
  }
  /// Returns whether response i is written. Its phase bit is the top bit of byte 31.
  bool answered(uint16_t i) { return (mem[rsp_at(i) + 31] >> 7) == phase(i); }
  /// Reads response i, and checks the fields that repeat the command.
  spec::AdminRsp answer_of(uint16_t i, const spec::AdminCmd& c) {
    const auto rsp = spec::AdminRsp::unpack(mem.get(rsp_at(i), 32));
    EXPECT_EQ(rsp.cookie, c.cookie);
    EXPECT_EQ(rsp.opcode, c.opcode);
    EXPECT_EQ(rsp.object, c.object);
    EXPECT_EQ(rsp.reserved0, 0U);
    EXPECT_EQ(rsp.phase, phase(i));
    return rsp;
  }
  /// Sends one command and returns its response.
  spec::AdminRsp command(Op op, uint32_t object, const Args& args = {}, uint8_t flags = 0) {
    const auto keep = waiting;
    forget();
    waiting = keep;
    const auto i = index++;
    mem[rsp_at(i) + 31] = u8(phase(i) == 0 ? 0x80 : 0);  // the phase of an entry not written yet
    const auto c = write_cmd(i, op, object, args, flags);
    under_way = op;
    dut.admin_doorbell.put({.index = index});
    EXPECT_TRUE(run([&] { return answered(i); })) << spec::to_string(op) << ": no answer";
    EXPECT_EQ(order.empty() ? "" : order.back(), fmt::format("wr {:#x} 32", rsp_at(i)));
    return answer_of(i, c);
  }
  template <class A>
  spec::AdminRsp command(Op op, uint32_t object, const A& args) {
    return command(op, object, packed(args));
  }
  /// Sends a command that must succeed, and that its unit must get unchanged. admin must return the
  /// unit's result unchanged, too.
  template <class A = Args>
  spec::AdminRsp must(Op op, uint32_t object, const A& args = {}) {
    const auto rsp = expect(Status::kOk, op, object, args);
    const auto v = static_cast<uint8_t>(op);
    if (v >= 0x08) {  // from 0x08 cq, 0x18 qp, 0x20 tpt, 0x30 llp_if; below, admin alone
      EXPECT_FALSE(sent.empty());
      const Unit unit = v >= 0x30 ? kConn : v >= 0x20 ? kTpt : v >= 0x18 ? kQp : kCq;
      if (!sent.empty()) {
        EXPECT_TRUE(sent.back() ==
                    (Sent{unit, {.opcode = op, .object = object, .args = bytes_of(args)}}));
        EXPECT_EQ(rsp.result, last_answer->result);
      }
    } else {
      EXPECT_TRUE(sent.empty());
      EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
    }
    return rsp;
  }
  /// Sends a command that must end with this status.
  template <class A = Args>
  spec::AdminRsp expect(Status status, Op op, uint32_t object, const A& args = {}) {
    const auto rsp = command(op, object, bytes_of(args));
    EXPECT_EQ(rsp.status, status) << spec::to_string(op) << " " << object << ": "
                                  << spec::to_string(rsp.status) << ", wanted "
                                  << spec::to_string(status);
    return rsp;
  }
  /// Expects that admin itself refuses the command and sends nothing to a unit.
  template <class A = Args>
  void refused(Status status, Op op, uint32_t object, const A& args = {}) {
    const auto rsp = expect(status, op, object, args);
    EXPECT_TRUE(sent.empty() && pbl.empty() && raw.empty())
        << spec::to_string(op) << ": something was done";
    EXPECT_EQ(rsp.result, (std::array<uint8_t, 16>{}));
  }
  static const Args& bytes_of(const Args& a) { return a; }
  template <class A>
  static Args bytes_of(const A& a) {
    return packed(a);
  }

  // --- good arguments. Bases are as little aligned as is allowed: a CQE has 32 bytes, a unit of a
  // work queue 64. Rings of QPs have 2^2 to 2^15 units.
  static spec::AdminRingArgs ring(uint8_t eqn = 0) {
    return {.base = 0xff'ffff'ffe0, .log_size = 7, .eqn = eqn, .vector = 1, .page = 3};
  }
  static spec::AdminQpArgs qp(uint16_t pd, uint16_t send_cq, uint16_t recv_cq) {
    return {.pd = pd,
            .page = 2,
            .send_cq = send_cq,
            .recv_cq = recv_cq,
            .sq_base = 0xabc'0040,
            .rq_base = 0x40,
            .log_sq = 2,
            .log_rq = 15};
  }
  static spec::AdminSrqArgs srq(uint16_t pd) {
    return {.pd = pd, .page = 2, .base = 0xdef'0040, .log_size = 15};
  }
  /// The same QP, with its receives from the SRQ of this number. rq_base and log_rq must be 0 then.
  static spec::AdminQpArgs on_srq(spec::AdminQpArgs a, uint16_t number) {
    a.rq_base = a.log_rq = 0;
    a.has_srq = 1, a.srq = number;
    return a;
  }
  /// Returns the first of `count` successive page-list entries that no region has. The search
  /// starts at a random entry.
  uint32_t free_entries(uint32_t count) {
    const auto first = u32(rng.below(sizes.num_pbl));
    for (uint32_t i = 0; i < sizes.num_pbl; i++) {
      const uint32_t at = (first + i) % sizes.num_pbl;
      if (at + count > sizes.num_pbl) continue;
      if (std::none_of(lists.begin(), lists.end(), [&](const auto& l) {
            const auto [base, n] = l.second;
            return base < at + count && at < base + n;
          }))
        return at;
    }
    ADD_FAILURE() << "no " << count << " entries are free";
    return 0;
  }
  /// The arguments of a create_mr for whole pages of 2^log_page bytes. Writes a page list of random
  /// addresses to memory at `list`. Rights 7: local write 1, remote write 2, remote read 4.
  spec::AdminMrArgs region(uint16_t pd, uint32_t pages = 1, uint8_t log_page = 12,
                           uint64_t list = kBuffer, std::optional<uint32_t> pbl_base = {}) {
    Bytes b;
    for (uint32_t i = 0; i < pages; i++) {
      const uint64_t page = rng.next() >> log_page << log_page;
      for (unsigned k = 0; k < 8; k++) b.push_back(u8(page >> (8 * k)));
    }
    mem.put(list, b);
    return {.pd = pd,
            .key = u8(rng.next()),
            .log_page = log_page,
            .rights = 7,
            .base_to = rng.next(),
            .length = uint64_t{pages} << log_page,
            .pbl_base = pbl_base ? *pbl_base : free_entries(pages),
            .page_list = list,
            .pages = pages};
  }
  /// The most IRD slots of a QP (32) and one ORD slot: the last of the 64 of each that the minimum
  /// build has. to_state 1: rts.
  static spec::AdminModifyArgs to_rts(uint16_t connection, uint16_t stream_length = 0,
                                      uint64_t stream_address = 0) {
    return {.to_state = 1,
            .use_crc = 1,
            .tx_markers = 1,
            .hold_tx = 1,
            .connection = connection,
            .ird = 32,
            .ord = 1,
            .ird_base = 32,
            .ord_base = 63,
            .stream_length = stream_length,
            .stream_address = stream_address};
  }
  /// Creates PD 1, EQ 1, CQs 2 and 3 on EQ 1, and QP 4 with CQ 2 (send) and CQ 3 (receive).
  void furnish() {
    must(Op::kCreatePd, 1);
    must(Op::kCreateEq, 1, ring());
    must(Op::kCreateCq, 2, ring(1));
    must(Op::kCreateCq, 3, ring(1));
    must(Op::kCreateQp, 4, qp(1, 2, 3));
  }

  // --- the reference: the existing objects, by number. `uses` and the numbers in pds and eqs count
  // the objects that refer to them. Only the random test of admin_test.cpp keeps it.
  struct Ref {
    std::map<uint32_t, unsigned> pds, eqs;
    struct Cq {
      uint8_t eqn;
      unsigned uses;
    };
    struct Srq {
      uint16_t pd;
      unsigned uses;
    };
    std::map<uint32_t, Cq> cqs;
    std::map<uint32_t, spec::AdminQpArgs> qps;
    std::map<uint32_t, Srq> srqs;
  } ref;
};

}  // namespace rnic::tb
