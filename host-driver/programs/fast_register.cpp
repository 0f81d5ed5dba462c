// frwr: the client registers memory through its send queue for one message, as storage and RPC over
// RDMA do in the Linux kernel (FRWR).
//
//   client: map, next key --> REG_MR, Send {rkey, address, length}, with one doorbell -->
//   server: --> RDMA Write (op=read: RDMA Read) of `size` bytes, Send with Invalidate (rkey) -->
//   client: --> completion with IBV_WC_WITH_INV: check the bytes, next
#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint32_t kRequest = 24;  // bytes of a message either way: rkey, address, length
constexpr std::array<std::string_view, 2> kOps{"write", "read"};

class FastRegister {
 public:
  FastRegister(const Run& run, bool is_client)
      : side_(run, is_client,
              {.lanes = run.params.qps,
               .window = 4,
               .slot_bytes = kRequest,
               .receives = true,
               .registers = is_client}),
        reads_(run.params.op == kOps[1]) {}

  Result<void> run() {
    const Params& p = side_.params();
    side_.messages = uint64_t{p.warmup} + p.count;
    side_.length = [](uint64_t) { return kRequest; };
    side_.on_receive = [this](Lane& lane, uint64_t i) {
      if (!failed_) return;
      failed_ = side_.is_client() ? returned(lane, i) : asked(lane, i);
      if (failed_) failed_ = side_.post_receives(lane, 1);
    };
    if (!side_.is_client())
      side_.on_data = [this](Lane& lane, uint64_t upto) {
        if (failed_) failed_ = served(lane, upto - 1);
      };
    if (auto r = side_.open(); !r) return r;
    states_.resize(side_.lanes.size());
    for (const Lane& lane : side_.lanes)
      if (auto r = prepare(lane); !r) return r;
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
    if (auto r = side_.until("registration", over, Side::kOnlooker); !r) return r;
    if (!failed_) return failed_;
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    for (State& s : states_)
      if (auto r = s.mr.dereg(); !r) return r;
    return side_.disconnect();
  }

 private:
  struct State {
    DmaBuffer buffer;  // client: the memory that is registered; server: its end of the transfer
    Mr mr;
    Time began = 0;
    bool waits = false;  // server: a request arrived before the last answer was complete
  };

  Result<void> prepare(const Lane& lane) {
    State& s = states_[lane.number];
    auto buffer = side_.dev().alloc(std::max(side_.params().size, 1u), MemoryKind::kScattered);
    if (!buffer) return error_of(buffer);
    s.buffer = std::move(*buffer);
    auto mr = side_.is_client()
                  ? side_.pd().alloc_mr(static_cast<uint32_t>(s.buffer.pages().size()))
                  : side_.pd().reg_mr(s.buffer, IBV_ACCESS_LOCAL_WRITE);
    if (!mr) return error_of(mr);
    s.mr = std::move(*mr);
    return {};
  }
  std::span<uint8_t> data(const State& s) const {
    return s.buffer.bytes().first(side_.params().size);
  }

  /// Client: registers the memory under the next key and tells the server.
  Result<void> lend(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    if (reads_) {
      Side::fill(data(s), side_.key(true, lane, i));
    } else {
      std::ranges::fill(s.buffer.bytes(), uint8_t{0});
    }
    if (side_.report().start == 0 && i == side_.params().warmup)
      side_.report().start = side_.dev().now();
    s.began = side_.dev().now();
    const SgRange all{.buffer = s.buffer, .length = s.buffer.size()};
    // The same address in every run, and readable in a capture.
    const uint64_t iova = uint64_t{lane.number + 1} << 40;
    if (auto r = s.mr.map_mr_sg({&all, 1}, s.buffer.page_size(), iova); !r) return r;
    if (auto r = s.mr.update_fast_reg_key(static_cast<uint8_t>(s.mr.rkey() + 1)); !r) return r;
    const auto request = side_.at(lane, side_.tx(i), kRequest);
    base::store_be<uint64_t>(&request[0], s.mr.rkey());
    base::store_be<uint64_t>(&request[8], s.mr.addr());
    base::store_be<uint64_t>(&request[16], side_.params().size);
    Sge sge;
    const SendWr tell = side_.request(lane, IBV_WR_SEND, i, true, sge);
    const uint32_t access =
        reads_ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    const std::array wrs{SendWr{.wr_id = tell.wr_id,
                                .opcode = IBV_WR_REG_MR,
                                .mr = &s.mr,
                                .key = s.mr.rkey(),
                                .access = access | RNIC_ACCESS_REMOTE_INVALIDATE},
                         tell};
    return side_.post(lane, wrs);
  }

  /// Client: the transfer is over and the key invalid.
  Result<void> returned(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    Report& report = side_.report();
    report.checks++;
    if (lane.invalidated != s.mr.rkey()) report.mismatches++;
    side_.check(data(s), side_.key(reads_, lane, i));
    if (i >= side_.params().warmup) {
      report.end = side_.dev().now();
      report.latency.push_back(report.end - s.began);
      report.began.push_back(s.began);
      report.ops++;
      report.bytes += side_.params().size;
    }
    report.done++;
    return i + 1 < side_.messages ? lend(lane, i + 1) : Result<void>{};
  }

  /// Server: a request has arrived. Its memory is free when the last answer is complete.
  Result<void> asked(Lane& lane, uint64_t i) {
    if (lane.completed == i) return serve(lane, i);
    states_[lane.number].waits = true;
    return {};
  }
  /// Server: answer `i` is complete.
  Result<void> served(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    if (reads_) side_.check(data(s), side_.key(true, lane, i));
    return std::exchange(s.waits, false) ? serve(lane, i + 1) : Result<void>{};
  }
  /// Server: transfers the bytes, then gives the memory back.
  Result<void> serve(Lane& lane, uint64_t i) {
    State& s = states_[lane.number];
    const auto request = side_.at(lane, side_.rx(i), kRequest);
    const auto rkey = static_cast<uint32_t>(base::load_be<uint64_t>(&request[0]));
    const auto length = base::load_be<uint64_t>(&request[16]);
    if (length != side_.params().size)
      return fail(Errc::kProtocol, "lane {}: {} bytes are lent, size is {}", lane.number, length,
                  side_.params().size);
    if (reads_) {
      std::ranges::fill(s.buffer.bytes(), uint8_t{0});
    } else {
      Side::fill(data(s), side_.key(false, lane, i));
    }
    const Sge sge{s.mr.addr(), static_cast<uint32_t>(length), s.mr.lkey()};
    Sge answer;
    SendWr give_back = side_.request(lane, IBV_WR_SEND_WITH_INV, i, true, answer);
    give_back.rkey = rkey;
    if (reads_) give_back.send_flags |= IBV_SEND_FENCE;  // after the Read, which uses the key
    const std::array wrs{SendWr{.wr_id = give_back.wr_id,
                                .sg_list = {&sge, 1},
                                .opcode = reads_ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
                                .remote_addr = base::load_be<uint64_t>(&request[8]),
                                .rkey = rkey},
                         give_back};
    return side_.post(lane, wrs);
  }

  Side side_;
  bool reads_;
  std::vector<State> states_;
  Result<void> failed_;
};

}  // namespace

std::span<const std::string_view> fast_register_ops() { return kOps; }

void fast_register(const Run& run, bool is_client) {
  guarded(run, [&] { return FastRegister(run, is_client).run(); });
}

}  // namespace rnic::programs
