// srq_pingpong: rdma-core's examples/srq_pingpong.c. All QPs of a thread play ping-pong at the same
// time, and take their receives from one shared receive queue.
//
// A side has at most one message of each lane in flight towards it: the peer sends its next one
// after ours, which is sent after the receive is posted again. So one receive for each QP is enough
// (Side posts it again before it calls on_receive).
#include <algorithm>

#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint64_t kReceivesOfQp = 4;  // default of rx_depth, for each QP

class SrqPingpong {
 public:
  SrqPingpong(const Run& run, bool is_client)
      : side_(run, is_client,
              {.lanes = run.params.qps,
               .window = usable_depth(run.params),
               .slot_bytes = run.params.size,
               .receives = true,
               .srq_wr = srq_depth(run.params)}) {}

  Result<void> run() {
    const Params& p = side_.params();
    side_.messages = uint64_t{p.warmup} + p.count;
    began_.assign(p.qps, 0);
    side_.on_receive = [this](Lane& lane, uint64_t i) {
      if (failed_) failed_ = came(lane, i);
    };
    if (auto r = side_.open(); !r) return r;
    if (auto r = side_.connect(); !r) return r;
    if (side_.is_client()) {
      side_.report().of = side_.messages * p.qps;
      for (Lane& lane : side_.lanes)
        if (auto r = send(lane, 0); !r) return r;
    }
    auto over = [this] {
      return !failed_ || std::ranges::all_of(side_.lanes, [this](const Lane& lane) {
        return lane.received == side_.messages && lane.completed == side_.messages;
      });
    };
    if (auto r = side_.until("message", over); !r) return r;
    if (!failed_) return failed_;
    const auto all_came = [this] {
      return std::ranges::all_of(side_.lanes, [](const Lane& l) { return l.control_came; });
    };
    if (!side_.is_client())
      if (auto r = side_.until("client's last messages", all_came, Side::kOnlooker); !r) return r;
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    return side_.disconnect();
  }

 private:
  Result<void> send(Lane& lane, uint64_t i) {
    const Params& p = side_.params();
    Side::fill(side_.at(lane, side_.tx(i), p.size), side_.key(side_.is_client(), lane, i));
    Report& report = side_.report();
    began_[lane.number] = side_.dev().now();
    if (side_.is_client() && i == p.warmup && report.start == 0) report.start = began_[lane.number];
    // Every kBatch-th request is signaled: it frees the entries of those before it.
    const bool is_signaled = i % kBatch == kBatch - 1 || i + 1 == side_.messages;
    Sge sge;
    const auto wr = side_.request(lane, IBV_WR_SEND, i, is_signaled, sge);
    return side_.post(lane, std::span(&wr, 1));
  }

  Result<void> came(Lane& lane, uint64_t i) {
    if (!side_.is_client()) return send(lane, i);
    const Params& p = side_.params();
    Report& report = side_.report();
    report.done++;
    if (i >= p.warmup) {
      report.end = side_.dev().now();
      report.latency.push_back((report.end - began_[lane.number]) / 2);
      report.began.push_back(began_[lane.number]);
      report.ops++;
      report.bytes += p.size;
    }
    return i + 1 < side_.messages ? send(lane, i + 1) : Result<void>{};
  }

  Side side_;
  std::vector<Time> began_;  // by lane: post time of the latest message
  Result<void> failed_;
};

}  // namespace

uint32_t srq_depth(const Params& p) {
  if (p.rx_depth != 0) return p.rx_depth;
  const uint64_t fits = kLaneBytes / std::max<uint64_t>(p.size, kControl);
  const uint64_t most = std::max<uint64_t>(p.qps, std::min<uint64_t>(fits, kMostReceives));
  return static_cast<uint32_t>(std::min(kReceivesOfQp * p.qps, most));
}

Result<void> check_srq(const Params& p) {
  const uint32_t depth = srq_depth(p);
  if (depth < p.qps)
    return fail(Errc::kInvalidArgument,
                "rx_depth={}: fewer than one receive for each of {} QPs (qps): a message that "
                "finds none ends its connection; at least rx_depth={}",
                depth, p.qps, p.qps);
  if (depth > kMostReceives)
    return fail(Errc::kInvalidArgument, "qps={}: an SRQ has at most {} receives", p.qps,
                kMostReceives);
  if (p.srq_limit > depth)
    return fail(Errc::kInvalidArgument, "srq_limit={}: the SRQ has {} receives (rx_depth)",
                p.srq_limit, depth);
  return {};
}

void srq_pingpong(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    if (auto r = check_srq(run.params); !r) return r;
    return SrqPingpong(run, is_client).run();
  });
}

}  // namespace rnic::programs
