// Many outstanding messages: common code of the bandwidth programs and file_copy. See struct Flow
// in common.hpp.
#include <algorithm>

#include "base/bytes.hpp"
#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

/// One side of a flow: posts requests, gives credits to the peer, checks and measures.
class Engine {
 public:
  Engine(Side& side, const Flow& flow)
      : side_(side),
        flow_(flow),
        window_(side.shape().window),
        measured_(side.messages - flow.warmup - flow.tail),
        batch_(std::clamp<uint64_t>(std::min(window_, measured_) / 4, 1, kBatch)),
        is_whole_(flow.warmup == 0),
        is_received_(flow.opcode == IBV_WR_SEND || flow.opcode == IBV_WR_RDMA_WRITE_WITH_IMM),
        is_sink_(flow.opcode == IBV_WR_RDMA_WRITE && flow.gets),
        is_source_(flow.opcode == IBV_WR_RDMA_READ && flow.gets),
        measures_(flow.opcode == IBV_WR_RDMA_READ ? flow.sends : flow.gets) {}

  Result<void> run() {
    side_.on_data = [this](Lane& lane, uint64_t upto) { fetched(lane, upto); };
    side_.on_receive = [this](Lane& lane, uint64_t i) { came(lane, i); };
    if (auto r = side_.open(); !r) return r;
    const size_t lanes = side_.lanes.size();
    fetched_.assign(lanes, 0);
    arrived_.assign(lanes, 0);
    seen_.assign(lanes, 0);
    due_.assign(lanes, 0);
    if (measures_ && !is_whole_) {
      const uint64_t all = side_.params().threads * lanes;
      unit_ = is_cut() ? side_.params().size : 1;
      window().plan(side_.params().threads, flow_.warmup * all * unit_, measured_ * all * unit_,
                    is_cut() ? all * unit_ : 0);
      side_.on_pump = [this](size_t n) { look(n == 0); };
      if (is_sink_)
        for (const Lane& lane : side_.lanes)
          for (uint64_t i = 0; i < std::min<uint64_t>(side_.rx_slots(), side_.messages); i++)
            await(lane, i);
    }
    if (is_source_) {
      side_.on_offer = flow_.fill;
      for (Lane& lane : side_.lanes)
        if (auto r = side_.offer(lane); !r) return r;
    }
    if (auto r = side_.connect(); !r) return r;
    for (const Lane& lane : side_.lanes)
      if (flow_.flushes && !lane.connection.has_flush())
        return fail(Errc::kNotSupported, "lane {}: the peer does not agree to Flush", lane.number);
    side_.report().is_whole = is_whole_;
    side_.report().start = side_.dev().now();
    if (auto r = exchange(); !r) return r;
    if (flow_.sends) side_.report().end = side_.dev().now();
    if (!flow_.sends) {
      auto came = [&] {
        return std::ranges::all_of(side_.lanes, [](const Lane& l) { return l.control_came; });
      };
      if (auto r = side_.until("peer's last message", came, Side::kOnlooker); !r) return r;
    }
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    if (is_sink_)
      for (const Lane& lane : side_.lanes) check_written(lane, side_.messages);
    if (auto r = settle(); !r) return r;
    return side_.disconnect();
  }

 private:
  std::span<uint8_t> source(const Lane& lane, uint64_t i) {
    return side_.at(lane, side_.tx(i), side_.length_of(i));
  }
  std::span<uint8_t> sink(const Lane& lane, uint64_t i) {
    return side_.at(lane, side_.rx(i), side_.length_of(i));
  }
  Window& window() { return side_.run().session.window(); }

  /// The main loop: until all of this side's data is sent and all that it notices has arrived.
  Result<void> exchange() {
    Report& report = side_.report();
    // Only a sending side counts here: done is the number of completed requests.
    report.of = flow_.sends ? side_.messages * side_.lanes.size() : 0;
    for (;;) {
      report.done = 0;
      bool over = true;
      for (Lane& lane : side_.lanes) {
        if (auto r = give_credit(lane); !r) return r;
        if (flow_.sends && lane.posted < side_.messages)
          if (auto r = post_batch(lane); !r) return r;
        report.done += lane.completed;
        over = over && (!flow_.sends || lane.completed == side_.messages) &&
               lane.received == side_.receives_expected() &&
               (!is_sink_ || side_.given_back(lane, side_.rx_slots()));
      }
      if (over) return {};
      if (auto n = side_.pump(); !n) return error_of(n);
      if (!failed_) return failed_;
    }
  }

  // --- measurement, see Flow

  // Prepares a slot: until the message arrives, its last byte differs from the expected one.
  static constexpr uint8_t kNotYet = 0x55;  // any value but 0
  void await(const Lane& lane, uint64_t i) {
    if (const auto bytes = sink(lane, i); !bytes.empty())
      bytes.back() = flow_.last(lane, i) ^ kNotYet;
  }
  bool is_there(const Lane& lane, uint64_t i) {
    const volatile uint8_t& last = sink(lane, i).back();
    return last != (flow_.last(lane, i) ^ kNotYet);
  }
  bool is_read() const { return flow_.opcode == IBV_WR_RDMA_READ; }
  // Messages of a lane that are verified.
  uint64_t known(const Lane& lane) const {
    return is_read() ? fetched_[lane.number] : arrived_[lane.number];
  }
  // Messages of a lane that may be in memory by now.
  uint64_t awaited(const Lane& lane) const {
    return is_read() ? lane.posted
                     : std::min<uint64_t>(side_.messages, known(lane) + side_.rx_slots());
  }
  // Messages of a lane that are in memory. It stops at awaited(): it does not inspect the slot of a
  // Write that still holds an unchecked message, nor that of a Read that is not posted.
  uint64_t arrived(const Lane& lane) {
    if (is_received_) return lane.received;
    uint64_t& seen = seen_[lane.number];
    seen = std::max(seen, known(lane));
    const uint64_t end = awaited(lane);
    while (seen < end && side_.length_of(seen) != 0 && is_there(lane, seen)) seen++;
    return seen;
  }

  // Messages may have several segments: the window then counts bytes, not messages.
  bool is_cut() const { return side_.params().size > kOneSegment; }

  // Adds the bytes of messages that have arrived in part. Placement is in order, so the first
  // message that is not whole ends the search. `segment`: payload bytes of a full DDP segment; 0:
  // unknown.
  void add_parts(const Lane& lane, Window::Arrived& arrived) {
    const uint64_t size = side_.params().size,
                   header = flow_.opcode == IBV_WR_SEND ? kUntagged : kTagged,
                   segment = std::max<uint64_t>(side_.params().mulpdu, header) - header;
    const uint64_t whole = is_received_ ? lane.received : seen_[lane.number];
    const uint64_t end =
        is_received_ ? std::min<uint64_t>(side_.messages, whole + side_.rx_slots()) : awaited(lane);
    for (uint64_t i = whole; i < end; i++) {
      const uint64_t here = flow_.matching(lane, i, sink(lane, i));
      arrived.here += here;
      arrived.begun +=
          segment == 0 ? here : std::min(size, (here + segment - 1) / segment * segment);
      if (here < size) return;
    }
  }

  // Samples progress for the window. Of many lanes it samples only at every (1 + lanes /
  // kLanesAPoll)-th poll: a sample costs host time, but no simulated time.
  void look(bool is_quiet) {
    if (window().is_closed()) return count_lanes();
    if (++polls_ % (1 + side_.lanes.size() / kLanesAPoll) != 0) return;
    uint64_t all = 0;
    for (const Lane& lane : side_.lanes) all += arrived(lane);
    const Time now = side_.dev().now();
    if (all != arrived_at_look_ || window().from() == 0) {
      arrived_at_look_ = all;
      arrival_ = now;
    }
    side_.report().longest_gap = std::max(side_.report().longest_gap, now - arrival_);
    const uint32_t thread = side_.run().thread;
    Window::Arrived arrived{all * unit_, all * unit_};
    if (window().is_exact(thread, all * unit_))
      for (const Lane& lane : side_.lanes) add_parts(lane, arrived);
    window().look(thread, now, arrived, is_quiet);
  }
  // Once the window is closed: least and most messages that have arrived on a QP.
  void count_lanes() {
    Report& r = side_.report();
    if (r.most != 0) return;
    r.least = UINT64_MAX;
    for (const Lane& lane : side_.lanes) {
      const uint64_t n = arrived(lane);
      r.least = std::min(r.least, n);
      r.most = std::max(r.most, n);
    }
  }

  // Waits until the window of this host is closed, at the latest when all threads are here. The
  // receiver of Writes and Sends reports the window to the peer.
  Result<void> settle() {
    const bool is_read = flow_.opcode == IBV_WR_RDMA_READ;
    Lane& first = side_.lanes[0];
    if (measures_ && !is_whole_) {
      window().leave(side_.run().thread, side_.dev().now());
      auto closed = [&] { return window().is_closed(); };
      if (auto r = side_.until("other threads' data", closed, Side::kOnlooker); !r) return r;
    }
    if (flow_.gets && !is_read) {
      const Time now = side_.dev().now();
      const Time from = is_whole_ ? now : window().from(), to = is_whole_ ? now : window().to();
      if (auto r = side_.write_window(first, from, to); !r) return r;
      auto told = [&] { return first.credits_out == 0; };
      if (auto r = side_.until("the report to the peer", told); !r) return r;
    }
    Report& report = side_.report();
    if (!flow_.sends) return {};
    if (!is_read) {
      auto told = [&] { return side_.credit(first, Word::kTo) != 0; };
      if (auto r = side_.until("what the peer has measured", told, Side::kOnlooker); !r) return r;
      report.end = side_.dev().now();
    }
    if (!is_whole_) {
      report.start = is_read ? window().from() : side_.credit(first, Word::kFrom);
      report.end = is_read ? window().to() : side_.credit(first, Word::kTo);
    }
    for (uint64_t i = flow_.warmup; i < flow_.warmup + measured_; i++)
      report.bytes += side_.lanes.size() * side_.length_of(i);
    report.ops = measured_ * side_.lanes.size();
    return {};
  }

  // The number of messages that may be posted. Sends and Writes with Immediate need a receive at
  // the peer (iWARP has no "receiver not ready"): the peer writes the number taken and reposted
  // into our credit line. A Write needs a slot whose last message was checked, a Read a slot that
  // was filled.
  uint64_t allowed(Lane& lane) {
    switch (flow_.opcode) {
      case IBV_WR_SEND:
      case IBV_WR_RDMA_WRITE_WITH_IMM:
        return side_.credit(lane, Word::kTaken) + lane.rx_slots;
      case IBV_WR_RDMA_WRITE:
        if (side_.messages <= lane.rx_slots) return UINT64_MAX;
        return side_.credit(lane, Word::kTaken) + lane.rx_slots;
      default:
        return side_.messages <= lane.tx_slots ? UINT64_MAX : side_.offered(lane);
    }
  }

  Result<void> give_credit(Lane& lane) {
    if (is_sink_) return side_.give_back(lane, arrived_[lane.number], side_.rx_slots());
    if (flow_.opcode == IBV_WR_RDMA_READ && flow_.sends)
      return side_.give_back(lane, fetched_[lane.number], lane.tx_slots);
    if (!side_.shape().receives) return {};
    // Repost a quarter of the window with one doorbell: the peer then gets new credits before it
    // has used up its old ones.
    const uint64_t step = std::max<uint64_t>(1, std::min<uint64_t>(kBatch, window_ / 4));
    uint32_t& due = due_[lane.number];
    if (due >= step) {
      if (auto r = side_.post_receives(lane, due); !r) return r;
      due = 0;
    }
    const uint64_t taken = lane.received - due;
    if (lane.credits_out != 0 || taken - lane.told < step) return {};
    return side_.write_credit(lane, Word::kTaken, taken);
  }

  // Messages until the next mark is due; UINT64_MAX if none is left.
  uint64_t until_mark(const Lane& lane) const {
    if (flow_.opcode != IBV_WR_RDMA_WRITE || lane.marks == side_.marks(lane.rx_slots))
      return UINT64_MAX;
    return (lane.marks + 1) * Side::mark_step(lane.rx_slots) - lane.posted;
  }

  Result<void> post_batch(Lane& lane) {
    if (lane.posted == side_.messages) return {};
    const uint64_t full = std::min({batch_, side_.messages - lane.posted, until_mark(lane)});
    const uint64_t under_way = lane.posted - lane.completed;
    if (under_way + full > window_) return {};
    const uint64_t n = std::min(full, allowed(lane) - lane.posted);
    // Less than a full batch is posted only if nothing is outstanding; else more credit will come.
    if (n == 0 || (n < full && under_way != 0)) return {};
    std::array<SendWr, 2 * kBatch> wrs;
    std::array<Sge, kBatch> sges;
    uint64_t requests = 0;
    for (uint64_t k = 0; k < n; k++) {
      const uint64_t i = lane.posted + k;
      if (flow_.opcode == IBV_WR_RDMA_READ) {
        // Clear the data of an earlier Read, so that it is not mistaken for this one's.
        std::ranges::fill(sink(lane, i), uint8_t{0});
        if (!is_whole_) await(lane, i);
      } else {
        flow_.fill(lane, i, source(lane, i));
      }
      const bool signaled = k + 1 == n;
      SendWr& wr = wrs[requests++];
      wr = side_.request(lane, flow_.opcode, i, signaled && !flow_.flushes, sges[k]);
      wr.sg_list = {&sges[k], 1};
      if (flow_.flushes) wrs[requests++] = Side::flush_of(wr, signaled);
    }
    if (auto r = side_.post(lane, std::span(wrs).first(requests)); !r) return r;
    return until_mark(lane) == 0 ? side_.send_mark(lane) : Result<void>();
  }

  // Requests below `upto` are complete.
  void fetched(Lane& lane, uint64_t upto) {
    for (uint64_t& i = fetched_[lane.number]; i < upto; i++) {
      if (flow_.opcode == IBV_WR_RDMA_READ) verify(lane, i);
    }
  }

  // Receive `i` is complete: a mark for the Writes before it, or a data message.
  void came(Lane& lane, uint64_t i) {
    if (is_sink_) {
      check_written(lane, (i + 1) * Side::mark_step(side_.rx_slots()));
      if (auto r = side_.post_receives(lane, 1); !r) failed_ = r;
    } else {
      verify(lane, i);
      due_[lane.number]++;
    }
  }

  // The Writes below `upto` have arrived.
  void check_written(const Lane& lane, uint64_t upto) {
    for (uint64_t& i = arrived_[lane.number]; i < upto; i++) {
      verify(lane, i);
      if (!is_whole_ && i + side_.rx_slots() < side_.messages) await(lane, i + side_.rx_slots());
    }
  }

  void verify(const Lane& lane, uint64_t i) { flow_.verify(lane, i, sink(lane, i)); }

  Side& side_;
  const Flow& flow_;
  static constexpr size_t kLanesAPoll = 64;
  static constexpr uint64_t kTagged = 14, kUntagged = 18;  // DDP headers, RFC 5041 4.1 and 4.2
  static constexpr uint32_t kOneSegment = 400;             // fits one segment with any MTU
  uint64_t unit_ = 1;  // the window's unit: bytes of a message, or 1
  uint64_t window_, measured_, batch_;
  bool is_whole_;
  bool is_received_;          // each message takes a receive
  bool is_sink_, is_source_;  // target of Writes, source of Reads: gets no completions
  bool measures_;             // data arrives here: this side samples the window
  std::vector<uint64_t> fetched_, arrived_;  // by lane: requests completed, Writes checked
  std::vector<uint64_t> seen_;               // by lane: messages in memory, see arrived()
  std::vector<uint32_t> due_;                // by lane: receives to be reposted
  uint64_t polls_ = 0;
  uint64_t arrived_at_look_ = 0;
  Time arrival_ = 0;  // of the sample that found the latest arrival
  Result<void> failed_;
};

}  // namespace

Result<void> run_flow(Side& side, const Flow& flow) { return Engine(side, flow).run(); }

namespace {
Shape::Kept kept_of(WrOpcode opcode) {
  if (opcode == IBV_WR_RDMA_WRITE) return Shape::kArrived;
  return opcode == IBV_WR_RDMA_READ ? Shape::kOffered : Shape::kReceived;
}
}  // namespace

namespace {
// Messages of a QP after the measured ones. Twice the window, because some QPs are faster than
// others, plus the messages of about 10 us, for threads that join the window late. A QP completes
// one Flush in about 1 us, so for Flushes kBatch covers these 10 us.
uint64_t tail_of(const Params& p, uint64_t window, bool flushes) {
  if (flushes) return 2 * window + kBatch;
  // Bytes on the wire. kLate: in about 10 us at 100 Gb/s. kHeaders: of a message, about.
  constexpr uint64_t kLate = uint64_t{128} << 10, kHeaders = 94;
  return 2 * window + kLate / (p.size + kHeaders) / (uint64_t{p.threads} * p.qps) + 1;
}
}  // namespace

// write_bw, write_imm_bw, write_flush_bw, read_bw, send_bw.
void bandwidth(const Run& run, bool is_client, WrOpcode opcode, bool flushes) {
  guarded(run, [&] {
    const Params& p = run.params;
    if (opcode == IBV_WR_RDMA_WRITE && p.size == 0)
      return Result<void>(
          fail(Errc::kInvalidArgument, "size 0: a Write of 0 bytes is not visible"));
    Flow flow{.opcode = opcode,
              .flushes = flushes,
              .sends = is_client || p.both,
              .gets = !is_client || p.both};
    const uint32_t window = usable_depth(p);
    Side side(
        run, is_client,
        {.lanes = p.qps,
         .window = window,
         .kept = flow.gets ? kept_of(opcode) : Shape::kNone,
         .slot_bytes = p.size,
         .receives = (opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM) && flow.gets,
         .flushes = flushes,
         .immediate =
             opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? Shape::kAfterWrite : Shape::kNoImmediate});
    if (p.warmup != 0) {
      flow.tail = tail_of(p, window, flushes);
      flow.warmup =
          std::max<uint64_t>(p.warmup, std::min<uint64_t>(window, std::max(p.count, kBatch)));
    }
    side.messages = flow.warmup + p.count + flow.tail;
    flow.fill = [&](const Lane& lane, uint64_t i, std::span<uint8_t> bytes) {
      Side::fill(bytes, side.key(is_client, lane, i));
    };
    flow.last = [&](const Lane& lane, uint64_t i) {
      return Side::byte_of(side.key(!is_client, lane, i), p.size - 1);
    };
    flow.matching = [&](const Lane& lane, uint64_t i, std::span<const uint8_t> bytes) {
      return Side::matching(bytes, side.key(!is_client, lane, i));
    };
    flow.verify = [&](const Lane& lane, uint64_t i, std::span<const uint8_t> bytes) {
      side.check(bytes, side.key(!is_client, lane, i));
    };
    return run_flow(side, flow);
  });
}

// A file in pieces: sent, written into the server's memory, or read from it.
void file_copy(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    const Params& p = run.params;
    WrOpcode opcode{};
    if (p.op == "send")
      opcode = IBV_WR_SEND;
    else if (p.op == "write")
      opcode = IBV_WR_RDMA_WRITE;
    else if (p.op == "read")
      opcode = IBV_WR_RDMA_READ;
    else
      return fail(Errc::kInvalidArgument, "file_copy: op \"{}\"; send, write and read are possible",
                  p.op);
    if (p.size == 0) return fail(Errc::kInvalidArgument, "file_copy: pieces of 0 bytes");
    const bool is_read = opcode == IBV_WR_RDMA_READ;
    const uint64_t pieces = (p.file.size() + p.size - 1) / p.size;
    if (pieces > 0xffffffff) return fail(Errc::kInvalidArgument, "file_copy: {} pieces", pieces);
    Flow flow{.opcode = opcode, .sends = is_client, .gets = !is_client};
    Side side(run, is_client,
              {.lanes = 1,
               .window = usable_depth(p),
               .kept = flow.gets ? kept_of(opcode) : Shape::kNone,
               .all = pieces,  // Writes and Reads: a slot for each piece
               .slot_bytes = p.size,
               .receives = opcode == IBV_WR_SEND && flow.gets});
    side.messages = pieces;
    side.length = [&p](uint64_t i) {
      const uint64_t at = i * p.size;
      return at >= p.file.size()
                 ? 0u
                 : static_cast<uint32_t>(std::min<uint64_t>(p.size, p.file.size() - at));
    };
    // The side at which the data arrives: the client of Reads, else the server.
    if (is_client == is_read) run.report.file.resize(p.file.size());
    flow.fill = [&](const Lane&, uint64_t i, std::span<uint8_t> bytes) {
      std::ranges::copy(p.file.subspan(i * p.size, bytes.size()), bytes.begin());
    };
    flow.verify = [&](const Lane&, uint64_t i, std::span<const uint8_t> bytes) {
      std::ranges::copy(bytes, run.report.file.begin() + static_cast<std::ptrdiff_t>(i * p.size));
      const auto expected = p.file.subspan(i * p.size, bytes.size());
      run.report.checks++;
      for (size_t k = 0; k < bytes.size(); k++)
        if (bytes[k] != expected[k]) side.wrong(&bytes[k], 1);
    };
    return run_flow(side, flow);
  });
}

}  // namespace rnic::programs
