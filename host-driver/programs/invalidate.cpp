// send_inv: the client lends a region for one message and gets it back by Send with Invalidate, as
// storage and RPC over RDMA do.
//
//   client: register a region for this QP --> Send {rkey, address} -->
//   server: --> RDMA Write of `size` bytes, Send with Invalidate (rkey) -->
//   client: --> completion with IBV_WC_WITH_INV: check the bytes, deregister, next
#include <algorithm>

#include "base/bytes.hpp"
#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint32_t kRequest = 16;  // bytes of a message either way: rkey, address

class SendInv {
 public:
  SendInv(const Run& run, bool is_client)
      : side_(run, is_client,
              {.lanes = run.params.qps, .window = 4, .slot_bytes = kRequest, .receives = true}) {}

  Result<void> run() {
    const Params& p = side_.params();
    side_.messages = uint64_t{p.warmup} + p.count;
    side_.length = [](uint64_t) { return kRequest; };
    side_.on_receive = [this](Lane& lane, uint64_t i) {
      if (!failed_) return;
      failed_ = side_.is_client() ? returned(lane, i) : serve(lane, i);
      if (failed_) failed_ = side_.post_receives(lane, 1);
    };
    if (auto r = side_.open(); !r) return r;
    states_.resize(side_.lanes.size());
    for (const Lane& lane : side_.lanes) {
      auto buffer = side_.dev().alloc(std::max(p.size, 1u), MemoryKind::kScattered);
      if (!buffer) return error_of(buffer);
      State& s = states_[lane.number];
      s.buffer = std::move(*buffer);
      if (side_.is_client()) continue;
      auto mr = side_.pd().reg_mr(s.buffer, IBV_ACCESS_LOCAL_WRITE);
      if (!mr) return error_of(mr);
      s.mr = std::move(*mr);
    }
    if (auto r = side_.connect(); !r) return r;
    if (side_.is_client()) {
      side_.report().of = side_.messages * p.qps;
      for (Lane& lane : side_.lanes)
        if (auto r = lend(lane, 0); !r) return r;
    }
    auto over = [this] {
      return !failed_ || std::ranges::all_of(side_.lanes, [this](const Lane& lane) {
        return lane.received == side_.messages && lane.completed == side_.messages;
      });
    };
    if (auto r = side_.until("region", over, Side::kOnlooker); !r) return r;
    if (!failed_) return failed_;
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    return side_.disconnect();
  }

 private:
  struct State {
    DmaBuffer buffer;  // client: the region; server: the source of the Writes
    Mr mr;
    Time began = 0;
  };

  /// Client: registers the region and tells the server.
  Result<void> lend(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    const auto bytes = s.buffer.bytes();
    std::ranges::fill(bytes, uint8_t{0});
    auto mr = lane.qp.reg_mr(
        s.buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_INVALIDATE);
    if (!mr) return error_of(mr);
    s.mr = std::move(*mr);
    const auto request = side_.at(lane, side_.tx(i), kRequest);
    base::store_be<uint64_t>(&request[0], s.mr.rkey());
    base::store_be<uint64_t>(&request[8], s.mr.addr());
    if (side_.report().start == 0 && i == side_.params().warmup)
      side_.report().start = side_.dev().now();
    s.began = side_.dev().now();
    Sge sge;
    const auto wr = side_.request(lane, IBV_WR_SEND, i, true, sge);
    return side_.post(lane, std::span(&wr, 1));
  }

  /// Client: the region is written and its key invalid.
  Result<void> returned(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    Report& report = side_.report();
    report.checks++;
    if (lane.invalidated != s.mr.rkey()) report.mismatches++;
    side_.check(s.buffer.bytes().first(side_.params().size), side_.key(false, lane, i));
    if (i >= side_.params().warmup) {
      report.end = side_.dev().now();
      report.latency.push_back(report.end - s.began);
      report.began.push_back(s.began);
      report.ops++;
      report.bytes += side_.params().size;
    }
    report.done++;
    if (auto r = s.mr.dereg(); !r) return r;
    return i + 1 < side_.messages ? lend(lane, i + 1) : Result<void>{};
  }

  /// Server: writes to the region, then gives it back.
  Result<void> serve(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    const auto request = side_.at(lane, side_.rx(i), kRequest);
    const auto rkey = static_cast<uint32_t>(base::load_be<uint64_t>(&request[0]));
    const uint32_t size = side_.params().size;
    Side::fill(s.buffer.bytes().first(size), side_.key(false, lane, i));
    const Sge data{s.mr.addr(), size, s.mr.lkey()};
    Sge sge;
    SendWr give_back = side_.request(lane, IBV_WR_SEND_WITH_INV, i, true, sge);
    give_back.rkey = rkey;
    const SendWr write{.wr_id = give_back.wr_id,
                       .sg_list = {&data, 1},
                       .opcode = IBV_WR_RDMA_WRITE,
                       .remote_addr = base::load_be<uint64_t>(&request[8]),
                       .rkey = rkey};
    if (auto r = lane.qp.post_send(write); !r) return tl::unexpected<Error>(*r.error);
    return side_.post(lane, std::span(&give_back, 1));
  }

  Side side_;
  std::vector<State> states_;
  Result<void> failed_;
};

}  // namespace

void send_inv(const Run& run, bool is_client) {
  guarded(run, [&] { return SendInv(run, is_client).run(); });
}

}  // namespace rnic::programs
