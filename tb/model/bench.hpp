// Two devices back to back on one clock. The world is only memory and a reliable link; no driver,
// no SystemC.
//
//   Bench b;   const auto p = b.connect();   const Mr from = b.a.reg(4096), to = b.b.reg(4096);
//   b.a.post_send(p.a.qpn, wr(WrOpcode::kRdmaWrite, kSignaled, to.address, to.stag),
//                 {sge(from, 0, 64)});
//   Cqe e = b.a.wait(p.a.cqn);
//
// Side a is the active side of connections. p.a and p.b are the ends of one pair of QPs: their QP
// and CQ numbers. put_send() writes a WQE into the ring, ring_sq() sends the doorbell, post_send()
// does both; wait() runs the clock until the CQ has an entry. DMA is instant or takes a random time
// and order. The link has a window of credit, which is returned when a record is accepted.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/rng.hpp"
#include "gen/iwarp.hpp"
#include "gen/regs.hpp"
#include "top/rnic.hpp"

namespace rnic::tb {

using model::Cycle;
using Bytes = std::vector<uint8_t>;

struct Options {
  spec::Sizes sizes;
  bool random_dma = false;
  uint64_t seed = 1;
  Cycle dma_latency = 1, link_delay = 1;
  Cycle old_value_latency = 0;  // extra latency of reads of unit atomic
  uint32_t window = 1 << 18;    // credit of each side of a connection, in bytes
  uint16_t mss = 1460;
};

class Side;

/// The clock, and the events that the world schedules. ScClock (sc_clock.hpp) is the same on the
/// SystemC kernel.
class Clock {
 public:
  Clock() : dispatcher(own_) {}
  explicit Clock(model::Dispatcher& d) : dispatcher(d) {}
  virtual ~Clock() = default;
  model::Dispatcher& dispatcher;

  virtual void at(Cycle when, std::function<void()> what) {
    events_.push({when, serial_++, std::move(what)});
  }
  virtual Cycle now() const { return now_; }
  /// Runs until `done`, or until no event is left, or for `limit` cycles. Returns whether `done`.
  template <class F>
  bool run(F done, Cycle limit = 400000) {
    const Cycle end = now() + limit;
    while (!done()) {
      if (!advance(end)) return false;
    }
    return true;
  }
  /// Lets `limit` cycles pass.
  void settle(Cycle limit = 400000) {
    run([] { return false; }, limit);
  }
  /// Must be called after other code has stepped the dispatcher.
  void catch_up() { now_ = std::max(now_, dispatcher.now()); }

 protected:
  /// Executes the next event. False: none is due by `end`, and the time is now `end`.
  virtual bool advance(Cycle end) {
    const Cycle next = std::min(dispatcher.next(), next_event());
    if (next > end) {
      now_ = end;
      dispatcher.set_now(end);
      return false;
    }
    now_ = next;
    dispatcher.set_now(next);
    run_events(next);
    if (dispatcher.next() == next) dispatcher.step();
    return true;
  }
  Cycle next_event() const { return events_.empty() ? model::kNever : events_.top().at; }
  void run_events(Cycle up_to) {
    while (next_event() <= up_to) {
      auto what = events_.top().what;
      events_.pop();
      what();
    }
  }

 private:
  struct Event {
    Cycle at;
    uint64_t serial;
    std::function<void()> what;
    bool operator<(const Event& o) const { return at != o.at ? at > o.at : serial > o.serial; }
  };
  model::Dispatcher own_;
  std::priority_queue<Event> events_;
  uint64_t serial_ = 0;
  Cycle now_ = 0;
};

struct Mr {
  uint64_t address = 0, length = 0;  // address: TO of the first byte
  uint32_t stag = 0;
};
struct Ring {
  uint64_t base = 0;
  uint32_t log = 0;  // log2 of the entries
  uint16_t producer = 0, consumer = 0;
};
struct QpHandle {
  uint16_t qpn = 0, cqn = 0;
};
struct QpSetup {
  uint16_t pd = 0, ird = 8, ord = 8;
  bool crc = true, markers = false, hold = false;  // hold: hold_tx of the passive side
  bool persist = false;                            // Flush, atomics, Atomic Write
  bool privileged = false;                         // may register memory
  uint8_t log_sq = 6, log_rq = 6, log_cq = 8;
  uint16_t reply_bytes = 0;  // streaming bytes that the passive side's modify sends
  std::optional<uint16_t> srq = {};
};

/// One end of a connection of the link.
struct LlpEnd {
  struct Item {
    model::LlpRecord record;
    bool fin = false;
  };
  uint16_t peer = 0;  // its number on the peer
  // rdma: in RDMA mode. local_fin: this side's FIN is sent; peer_fin: the peer's has come. dead:
  // aborted or reset.
  bool rdma = false, local_fin = false, peer_fin = false, dead = false;
  uint32_t limit = 0;      // credit given to this side, as a cumulative limit in bytes
  std::deque<Item> inbox;  // in flight to the device
  Bytes stream;            // received streaming bytes, not given yet
};

/// A device with its host and its end of the link: memory (bus address = index), registers, the
/// admin ring and the work queues. Calls are what a driver and a user would do.
class Side : public model::Surroundings {
 public:
  Side(Clock& clock, const Options& o, std::string name);
  void set_peer(Side& peer) { peer_ = &peer; }

  // Memory.
  static constexpr uint64_t kMemory = 1 << 23;
  Bytes memory = Bytes(kMemory);
  uint64_t alloc(uint64_t size, uint64_t align = 4096);  // returns a bus address
  Bytes bytes(uint64_t at, size_t n) const {
    return {memory.begin() + static_cast<long>(at), memory.begin() + static_cast<long>(at + n)};
  }
  void fill(uint64_t at, size_t n, uint64_t seed);  // random bytes
  std::map<uint64_t, spec::RdStatus>
      poison;  // a read that touches the address ends with this status

  // Registers and commands. write32() and read() access BAR 0, write_push() BAR 2.
  void write32(uint32_t offset, uint32_t value);
  void write64(uint8_t bar, uint32_t offset, uint64_t value);
  void write_push(uint32_t offset, std::span<const uint8_t> data);
  uint64_t read(uint32_t offset, uint8_t bytes);
  /// Puts a command into the admin ring and waits for its response.
  spec::AdminRsp command(spec::AdminOpcode op, uint32_t object,
                         const std::array<uint8_t, 56>& args = {});
  template <class A>
  spec::AdminRsp command(spec::AdminOpcode op, uint32_t object, const A& args) {
    std::array<uint8_t, 56> raw{};
    args.pack(raw);
    return command(op, object, raw);
  }
  void start();  // sets up the registers, enables the device, creates PD 0 and EQ 0

  // Objects.
  /// Registers new memory: the byte at bus address x has TO 0x10000000 + x. Rights 7: local write,
  /// remote write, remote read (access_flag).
  Mr reg(uint64_t length, uint16_t rights = 7, uint16_t pd = 0);
  /// Registers existing memory, from a page boundary. Byte 0 has TO first_to + at.
  Mr reg_at(uint64_t at, uint64_t length, uint16_t rights, uint16_t pd = 0,
            uint64_t first_to = 0x10000000);
  /// Keeps an STag, with room for 2^log_pages pages, for fast registrations.
  uint32_t reg_fast(uint8_t log_pages, uint16_t pd = 0);
  uint16_t create_cq(uint8_t log = 8);  // log2 of the entries
  QpHandle create_qp(const QpSetup& s);
  uint16_t create_srq(uint16_t pd = 0, uint8_t log = 6);
  spec::AdminQpResult query(uint16_t qpn);            // query_qp
  spec::AdminConnResult connection(uint16_t number);  // conn_query
  /// modify_qp to rts. setup.reply_bytes bytes at stream_address are sent before RDMA mode.
  spec::AdminStatus rts(uint16_t qpn, uint16_t connection, const QpSetup& setup,
                        uint64_t stream_address = 0);

  // Work.
  /// Puts a WQE into the SQ: header, then SGEs or inline data. Returns its index; ring_sq()
  /// announces it.
  uint16_t put_send(uint16_t qpn, spec::SqWqe w, const std::vector<spec::WqeSge>& sges,
                    const Bytes& data = {});
  void put_one(uint16_t qpn, spec::SqWqe w,
               const spec::WqeSge& s);  // the same with one SGE, on a faster path
  void ring_sq(uint16_t qpn);
  void push(uint16_t qpn);  // announces the last WQE with a copy of it
  uint16_t post_send(uint16_t qpn, const spec::SqWqe& w, const std::vector<spec::WqeSge>& sges,
                     const Bytes& data = {}) {
    const uint16_t i = put_send(qpn, w, sges, data);
    ring_sq(qpn);
    return i;
  }
  /// `qpn`: a QP, or an SRQ with a tag.
  uint16_t post_recv(uint16_t qpn, const std::vector<spec::WqeSge>& sges, uint16_t tag = 0);
  std::optional<spec::Cqe> poll(uint16_t cqn);  // the next entry of the CQ, if any
  spec::Cqe wait(uint16_t cqn);                 // fails the test if none comes
  std::optional<spec::Eqe> poll_event();        // the next entry of EQ 0, if any
  void arm(uint16_t cqn, bool solicited);       // solicited: only for a solicited completion

  // Observations.
  std::vector<Bytes> sent;  // FPDUs of this device, in order
  std::function<bool(model::LlpRecord&)>
      tamper;  // called for each record sent; false: the record is lost for good
  uint32_t interrupts = 0;
  bool keep_given = false;          // the link does not answer conn_give
  bool hold_credit = false;         // credit for this side's records is not returned
  std::vector<uint16_t> incoming;   // incoming connections
  std::map<uint16_t, LlpEnd> ends;  // connections by number
  void inject(uint16_t connection, const Bytes& record,
              bool error = false);                        // as if the peer had sent it
  void peer_closes(uint16_t connection);                  // as if the peer's FIN had come
  void give_credit(uint16_t connection, uint32_t bytes);  // lets this side send more bytes

  model::Rnic& device() { return *rnic_; }
  Clock& clock() { return clock_; }
  void reset();
  void hold_writes(bool hold) {  // stalls posted writes
    hold_writes_ = hold;
    if (!hold) rnic_->wake();
  }

  // model::Surroundings
  bool can_dma_write() const override { return !hold_writes_; }
  void dma_write(model::WriteTlp tlp) override;
  bool can_dma_read() const override { return true; }
  void dma_read(const model::ReadTlp& tlp) override;
  void mmio_response(uint64_t value) override { responses_.push_back(value); }
  bool can_llp_tx() const override { return true; }
  void llp_tx(model::LlpRecord record) override;
  void llp_ctl(const spec::LlpCtlReq& req) override;

 protected:
  void access(model::MmioAccess m);
  void later(Cycle delay, std::function<void()> what) {
    clock_.at(clock_.now() + delay, std::move(what));
  }
  /// The link reports this event to the device, one cycle later.
  void event(uint16_t connection, spec::LlpEvt kind, uint16_t length = 0, uint16_t cookie = 0);
  void deliver(uint16_t connection);
  /// Reports `closed` if both FINs have passed.
  void maybe_closed(uint16_t connection);
  /// A free connection number, whose other end has number `peer`.
  uint16_t open_end(uint16_t peer);

  static constexpr uint64_t kMsiAddress = 0xfee00000;
  Clock& clock_;
  Options options_;
  std::string name_;
  Side* peer_ = nullptr;
  base::Rng rng_;
  std::unique_ptr<model::Rnic> rnic_;
  uint64_t next_free_ = 4096;
  uint32_t next_pbl_ = 0, next_slot_ = 0;
  uint16_t next_cq_ = 0, next_qp_ = 0;
  Ring admin_cmd_, admin_rsp_, eq_;
  std::map<uint16_t, Ring> sq_, rq_, cq_;
  std::map<uint16_t, uint16_t> last_wqe_;
  std::deque<uint64_t> responses_;
  bool hold_writes_ = false;
};

/// Opens a connection from a to b: established, in streaming mode. Returns its numbers on a and b.
std::pair<uint16_t, uint16_t> open_pair(Side& a, Side& b);

/// Both sides and their clock.
template <class S, class C = Clock>
class BenchOf {
 public:
  explicit BenchOf(const Options& o = {}) : a(clock, o, "a"), b(clock, o, "b") {
    a.set_peer(b);
    b.set_peer(a);
    a.start();
    b.start();
  }
  C clock;
  S a, b;
  struct Pair {
    QpHandle a, b;
    uint16_t conn_a = 0, conn_b = 0;
  };
  /// A new pair of QPs on a connection in RDMA mode; a is the active side.
  Pair connect(const QpSetup& s = {}) {
    Pair p;
    p.a = a.create_qp(s);
    p.b = b.create_qp(s);
    std::tie(p.conn_a, p.conn_b) = open();
    EXPECT_EQ(rts(b, p.b.qpn, p.conn_b, s), spec::AdminStatus::kOk);
    QpSetup active = s;
    active.hold = false;
    EXPECT_EQ(rts(a, p.a.qpn, p.conn_a, active), spec::AdminStatus::kOk);
    while (a.poll_event()) {
    }
    while (b.poll_event()) {
    }
    return p;
  }
  /// See open_pair().
  std::pair<uint16_t, uint16_t> open() { return open_pair(a, b); }
  static spec::AdminStatus rts(Side& s, uint16_t qpn, uint16_t connection, const QpSetup& setup,
                               uint64_t stream = 0) {
    return s.rts(qpn, connection, setup, stream);
  }
};

using Bench = BenchOf<Side>;

// Work requests.
inline constexpr uint8_t kSignaled = static_cast<uint8_t>(spec::SqFlagBit::kSignaled);
inline constexpr uint8_t kSolicited = static_cast<uint8_t>(spec::SqFlagBit::kSolicited);
inline constexpr uint8_t kInline = static_cast<uint8_t>(spec::SqFlagBit::kInlineData);
inline constexpr uint8_t kFence = static_cast<uint8_t>(spec::SqFlagBit::kFence);

/// `remote` and `rkey`: TO and STag at the peer.
inline spec::SqWqe wr(spec::WrOpcode op, uint8_t flags = kSignaled, uint64_t remote = 0,
                      uint32_t rkey = 0) {
  spec::SqWqe w;
  w.opcode = static_cast<uint8_t>(op);
  w.flags = flags;
  w.remote_address = remote;
  w.rkey = rkey;
  return w;
}
inline spec::WqeSge sge(const Mr& m, uint64_t offset, uint32_t length) {
  return {.address = m.address + offset, .length = length, .lkey = m.stag};
}
/// Bytes from lower-case hexadecimal digits; all other characters are ignored.
Bytes hex(std::string_view text);

}  // namespace rnic::tb
