// Many messages under way: what the bandwidth programs and file_copy share. See common.hpp, struct
// Flow.
#include <algorithm>

#include "base/bytes.hpp"
#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

class Engine {
 public:
  Engine(Side& side, const Flow& flow)
      : side_(side),
        flow_(flow),
        window_(side.shape().window),
        measured_(side.messages - flow.warmup - flow.tail),
        batch_(std::clamp<uint64_t>(std::min(window_, measured_) / 4, 1, kBatch)),
        is_sink_(flow.opcode == IBV_WR_RDMA_WRITE && flow.gets),
        is_source_(flow.opcode == IBV_WR_RDMA_READ && flow.gets) {}

  Result<void> run() {
    side_.on_data = [this](Lane& lane, uint64_t upto) { fetched(lane, upto); };
    side_.on_receive = [this](Lane& lane, uint64_t i) { came(lane, i); };
    if (auto r = side_.open(); !r) return r;
    if (is_source_) {
      side_.on_offer = flow_.fill;
      for (Lane& lane : side_.lanes)
        if (auto r = side_.offer(lane); !r) return r;
    }
    if (auto r = side_.connect(); !r) return r;
    fetched_.assign(side_.lanes.size(), 0);
    arrived_.assign(side_.lanes.size(), 0);
    lane_bytes_.assign(side_.lanes.size(), 0);
    if (auto r = exchange(); !r) return r;
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
    return side_.disconnect();
  }

 private:
  std::span<uint8_t> source(const Lane& lane, uint64_t i) {
    return side_.at(lane, side_.tx(i), side_.length_of(i));
  }
  std::span<uint8_t> sink(const Lane& lane, uint64_t i) {
    return side_.at(lane, side_.rx(i), side_.length_of(i));
  }

  // What is measured, see Flow.
  Result<void> exchange() {
    Report& report = side_.report();
    report.is_whole = flow_.warmup == 0;
    const uint64_t all = side_.messages * side_.lanes.size();
    const uint64_t warm = flow_.warmup * side_.lanes.size();
    uint64_t before = 0, end = 0;
    const auto begin = [&](uint64_t done) {
      measuring_ = true;
      report.start = side_.dev().now();
      before = done;
      before_bytes_ = bytes_;
      end = std::min(all, done + measured_ * side_.lanes.size());
    };
    report.courses.assign(side_.lanes.size(), {{side_.dev().now(), 0, 0}});
    if (flow_.sends && warm == 0) begin(0);
    for (;;) {
      uint64_t done = 0;
      bool over = true;
      for (Lane& lane : side_.lanes) {
        if (auto r = give_credit(lane); !r) return r;
        if (flow_.sends && lane.posted < side_.messages)
          if (auto r = post_batch(lane); !r) return r;
        done += lane.completed;
        note(lane);
        over = over && (!flow_.sends || lane.completed == side_.messages) &&
               lane.received == side_.receives_expected() &&
               (!is_sink_ || side_.given_back(lane, side_.rx_slots()));
      }
      report.done = done;
      report.of = all;
      if (flow_.sends && !measuring_ && done >= warm) begin(done);
      if (measuring_ && report.end == 0 && done >= end) {
        report.end = side_.dev().now();
        report.ops = done - before;
        report.bytes = bytes_ - before_bytes_;
      }
      if (over) {
        if (measuring_ && !report.is_whole) steady_rate();
        return {};
      }
      if (auto n = side_.pump(); !n) return error_of(n);
      if (!failed_) return failed_;
    }
  }

  void note(const Lane& lane) {
    Report::Course& course = side_.report().courses[lane.number];
    if (lane.completed == course.back().ops) return;
    course.push_back({side_.dev().now(), lane.completed, lane_bytes_[lane.number]});
  }

  // A completion tells of a batch: with many lanes in step that is a good part of a short run. So the lanes' own courses say what
  // was done in the time that was measured.
  void steady_rate() {
    Report& report = side_.report();
    report.keep(report.between(report.start, report.end));
  }

  // How far may be posted. Sends need a receive at the peer (iWARP knows no "receiver not ready"):
  // it writes how many it has taken and posted anew into our credit line. Writes need a slot whose
  // last message has been checked, Reads one that has been filled.
  uint64_t allowed(Lane& lane) {
    switch (flow_.opcode) {
      case IBV_WR_SEND:
        return side_.credit(lane, Word::kTaken) + window_;
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
    if (!side_.shape().receives || lane.credits_out != 0 || lane.told == side_.messages) return {};
    const uint64_t step = std::max<uint64_t>(1, std::min<uint64_t>(kBatch, window_ / 4));
    if (lane.received - lane.told < step) return {};
    return side_.write_credit(lane, Word::kTaken, lane.received);
  }

  // Messages until a mark is due, UINT64_MAX when no more is.
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
    if (n == 0 || (n < full && under_way != 0)) return {};
    std::array<SendWr, kBatch> wrs;
    std::array<Sge, kBatch> sges;
    for (uint64_t k = 0; k < n; k++) {
      const uint64_t i = lane.posted + k;
      if (flow_.opcode == IBV_WR_RDMA_READ) {
        std::ranges::fill(
            sink(lane, i),
            uint8_t{0});  // what an earlier Read left is not to be taken for this one's
      } else {
        flow_.fill(lane, i, source(lane, i));
      }
      wrs[k] = side_.request(lane, flow_.opcode, i, k + 1 == n, sges[k]);
      wrs[k].sg_list = {&sges[k], 1};
    }
    if (auto r = side_.post(lane, std::span(wrs).first(n)); !r) return r;
    return until_mark(lane) == 0 ? side_.send_mark(lane) : Result<void>();
  }

  void fetched(Lane& lane, uint64_t upto) {
    for (uint64_t& i = fetched_[lane.number]; i < upto; i++) {
      bytes_ += side_.length_of(i);
      lane_bytes_[lane.number] += side_.length_of(i);
      if (flow_.opcode == IBV_WR_RDMA_READ) verify(lane, i);
    }
  }

  void came(Lane& lane, uint64_t i) {
    if (is_sink_)
      check_written(lane, (i + 1) * Side::mark_step(side_.rx_slots()));
    else
      verify(lane, i);
    if (auto r = side_.post_receive(lane); !r) failed_ = r;
  }

  void check_written(const Lane& lane, uint64_t upto) {
    for (uint64_t& i = arrived_[lane.number]; i < upto; i++) verify(lane, i);
  }

  void verify(const Lane& lane, uint64_t i) { flow_.verify(lane, i, sink(lane, i)); }

  Side& side_;
  const Flow& flow_;
  uint64_t window_, measured_, batch_;
  bool is_sink_, is_source_;  // of Writes, of Reads: a side that the requests do not tell
  bool measuring_ = false;
  std::vector<uint64_t> fetched_, arrived_;  // by lane: requests done, Writes checked
  uint64_t bytes_ = 0, before_bytes_ = 0;
  std::vector<uint64_t> lane_bytes_;
  Result<void> failed_;
};

}  // namespace

Result<void> run_flow(Side& side, const Flow& flow) { return Engine(side, flow).run(); }

namespace {
Shape::Kept kept_of(WrOpcode opcode) {
  if (opcode == IBV_WR_RDMA_WRITE) return Shape::kArrived;
  return opcode == IBV_WR_RDMA_READ ? Shape::kOffered : Shape::kNone;
}
}  // namespace

// write_bw, read_bw, send_bw.
void bandwidth(const Run& run, bool is_client, WrOpcode opcode) {
  guarded(run, [&] {
    const Params& p = run.params;
    Flow flow{.opcode = opcode, .sends = is_client || p.both, .gets = !is_client || p.both};
    const uint32_t window = usable_depth(p);
    Side side(run, is_client,
              {.lanes = p.qps,
               .window = window,
               .kept = flow.gets ? kept_of(opcode) : Shape::kNone,
               .slot_bytes = p.size,
               .receives = opcode == IBV_WR_SEND && flow.gets});
    if (p.warmup != 0) {
      flow.tail = std::min<uint64_t>(window, std::max(p.count, kBatch));
      flow.warmup = std::max<uint64_t>(p.warmup, flow.tail);
    }
    side.messages = flow.warmup + p.count + flow.tail;
    flow.fill = [&](const Lane& lane, uint64_t i, std::span<uint8_t> bytes) {
      Side::fill(bytes, side.key(is_client, lane, i));
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
               .all = pieces,  // the file stands in one piece
               .slot_bytes = p.size,
               .receives = opcode == IBV_WR_SEND && flow.gets});
    side.messages = pieces;
    side.length = [&p](uint64_t i) {
      const uint64_t at = i * p.size;
      return at >= p.file.size()
                 ? 0u
                 : static_cast<uint32_t>(std::min<uint64_t>(p.size, p.file.size() - at));
    };
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
