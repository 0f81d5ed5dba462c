// The client opens memory to the server for one message. The server writes or reads that memory and
// sends an answer, with which the memory is the client's again: see lend.hpp.
#include "lend.hpp"

#include <algorithm>
#include <array>

#include "base/bytes.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint32_t kLent = 24;  // bytes of a message either way: key, address, length
constexpr std::array<std::string_view, 2> kOps{"write", "read"};

}  // namespace

std::span<const std::string_view> lend_ops() { return kOps; }

Lend::Lend(const Run& run, bool is_client, bool privileged)
    : side_(run, is_client,
            {.lanes = run.params.qps,
             .window = 4,  // enough: a lane has one loan at a time
             .slot_bytes = kLent,
             .receives = true,
             .registers = privileged}),
      reads_(run.params.op == kOps[1]) {}

Result<void> Lend::run() {
  const Params& p = side_.params();
  side_.messages = uint64_t{p.warmup} + p.count;
  side_.length = [](uint64_t) { return kLent; };
  side_.on_receive = [this](Lane& lane, uint64_t i) {
    if (!result_) return;
    result_ = side_.is_client() ? answered(lane, i) : asked(lane, i);
    if (result_) result_ = side_.post_receives(lane, 1);
  };
  if (!side_.is_client())
    // upto: the number of messages that are complete; the last one is upto - 1.
    side_.on_data = [this](Lane& lane, uint64_t upto) {
      if (result_) result_ = served(lane, upto - 1);
    };
  if (auto r = side_.open(); !r) return r;
  states_.resize(side_.lanes.size());
  for (const Lane& lane : side_.lanes)
    if (auto r = open_lane(lane); !r) return r;
  if (auto r = side_.connect(); !r) return r;
  if (side_.is_client()) {
    side_.report().of = side_.messages * p.qps;
    for (Lane& lane : side_.lanes)
      if (auto r = lend(lane, 0); !r) return r;
  }
  auto over = [this] {
    return !result_ || std::ranges::all_of(side_.lanes, [this](const Lane& lane) {
      return lane.received == side_.messages && lane.completed == side_.messages;
    });
  };
  if (auto r = side_.until("loan", over, Side::kOnlooker); !r) return r;
  if (!result_) return result_;
  for (Lane& lane : side_.lanes)
    if (auto r = side_.send_control(lane); !r) return r;
  if (auto r = side_.wait_control(); !r) return r;
  for (const Lane& lane : side_.lanes)
    if (auto r = side_.is_client() ? end(lane) : states_[lane.number].mr.dereg(); !r) return r;
  return side_.disconnect();
}

Result<void> Lend::open_lane(const Lane& lane) {
  State& s = states_[lane.number];
  auto buffer = side_.dev().alloc(length() + 2 * kMargin, MemoryKind::kScattered);
  if (!buffer) return error_of(buffer);
  s.buffer = std::move(*buffer);
  if (side_.is_client()) return prepare(lane, s.buffer);
  auto mr = side_.pd().reg_mr(s.buffer, IBV_ACCESS_LOCAL_WRITE);
  if (!mr) return error_of(mr);
  s.mr = std::move(*mr);
  return {};
}

/// Client: opens the memory, and sends key, address and length to the server.
Result<void> Lend::lend(Lane& lane, uint64_t i) {
  State& s = states_[lane.number];
  std::ranges::fill(s.buffer.bytes(), uint8_t{0});
  if (reads_) Side::fill(data(s), side_.key(true, lane, i));
  const auto opened = loan(lane, s.buffer);
  if (!opened) return error_of(opened);
  s.key = opened->key;
  if (side_.report().start == 0 && i == side_.params().warmup)
    side_.report().start = side_.dev().now();
  s.began = side_.dev().now();
  const auto request = side_.at(lane, side_.tx(i), kLent);
  base::store_be<uint64_t>(&request[0], opened->key);
  base::store_be<uint64_t>(&request[8], opened->addr);
  base::store_be<uint64_t>(&request[16], side_.params().size);
  Sge sge;
  const SendWr tell = side_.request(lane, IBV_WR_SEND, i, true, sge);
  if (!opened->open) return side_.post(lane, std::span(&tell, 1));
  std::array wrs{*opened->open, tell};
  wrs[0].wr_id = tell.wr_id;
  return side_.post(lane, wrs);
}

/// Client: the server's answer has arrived. Checks the bytes and starts the next message.
Result<void> Lend::answered(Lane& lane, uint64_t i) {
  State& s = states_[lane.number];
  Report& report = side_.report();
  report.checks++;
  if (lane.invalidated != (is_invalidated() ? s.key : 0)) report.mismatches++;
  // The pattern of the side that wrote the bytes: with op=read the client, else the server.
  side_.check(data(s), side_.key(reads_, lane, i));
  check_margins(s);
  if (i >= side_.params().warmup) {
    report.end = side_.dev().now();
    report.latency.push_back(report.end - s.began);
    report.began.push_back(s.began);
    report.ops++;
    report.bytes += side_.params().size;
  }
  report.done++;
  if (auto r = returned(lane); !r) return r;
  return i + 1 < side_.messages ? lend(lane, i + 1) : Result<void>{};
}

/// Client: checks that no byte outside the lent range has changed.
void Lend::check_margins(const State& s) {
  const auto all = s.buffer.bytes();
  const uint64_t behind = kMargin + side_.params().size;
  for (const auto margin : {all.first(kMargin), all.subspan(behind)})
    if (const auto n = margin.size() - static_cast<size_t>(std::ranges::count(margin, 0)); n != 0)
      side_.wrong(margin.data(), n);
}

/// Server: a request has arrived. The server's buffer is free once the previous answer is complete.
Result<void> Lend::asked(Lane& lane, uint64_t i) {
  if (lane.completed == i) return serve(lane, i);
  states_[lane.number].waits = true;
  return {};
}

/// Server: answer `i` is complete.
Result<void> Lend::served(Lane& lane, uint64_t i) {
  State& s = states_[lane.number];
  if (reads_) side_.check(data(s), side_.key(true, lane, i));
  return std::exchange(s.waits, false) ? serve(lane, i + 1) : Result<void>{};
}

/// Server: posts the transfer of the bytes and the answer, which gives the memory back.
Result<void> Lend::serve(Lane& lane, uint64_t i) {
  State& s = states_[lane.number];
  const auto request = side_.at(lane, side_.rx(i), kLent);
  const auto key = static_cast<uint32_t>(base::load_be<uint64_t>(&request[0]));
  const auto length = base::load_be<uint64_t>(&request[16]);
  if (length != side_.params().size)
    return fail(Errc::kProtocol, "lane {}: {} bytes are lent, size is {}", lane.number, length,
                side_.params().size);
  if (reads_) {
    std::ranges::fill(s.buffer.bytes(), uint8_t{0});
  } else {
    Side::fill(data(s), side_.key(false, lane, i));
  }
  const Sge sge{s.mr.addr() + kMargin, static_cast<uint32_t>(length), s.mr.lkey()};
  Sge answer;
  SendWr give_back =
      side_.request(lane, is_invalidated() ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND, i, true, answer);
  give_back.rkey = key;
  // The answer waits for the Read, which uses the key that the answer invalidates.
  if (reads_) give_back.send_flags |= IBV_SEND_FENCE;
  const std::array wrs{SendWr{.wr_id = give_back.wr_id,
                              .sg_list = {&sge, 1},
                              .opcode = reads_ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
                              .remote_addr = base::load_be<uint64_t>(&request[8]),
                              .rkey = key},
                       give_back};
  return side_.post(lane, wrs);
}

}  // namespace rnic::programs
