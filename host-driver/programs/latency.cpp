// write_lat, read_lat, send_lat, send_imm_lat, flush_lat, and pingpong, which is send_lat with the
// setting `events`: one message at a time.
#include <algorithm>
#include <array>

#include "common.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint32_t kLook = 8;  // bytes that flush_lat reads back, at most

uint64_t total_of(const Params& p) { return uint64_t{p.warmup} + p.count; }

// Posts the request of one message.
Result<void> post_one(Side& side, Lane& lane, WrOpcode opcode, bool signaled) {
  Sge sge;
  const auto wr = side.request(lane, opcode, lane.posted, signaled, sge);
  return side.post(lane, std::span(&wr, 1));
}

// Every kBatch-th request and the last one are signalled. The programs wait for each such
// completion, so at most kBatch requests are in the send queue.
bool is_signaled(uint64_t index, uint64_t total) {
  return index % kBatch == kBatch - 1 || index + 1 == total;
}

/// Records the time of each message after the warm-up. divisor 2: half of the round trip.
struct Sampler {
  Side& side;
  uint64_t divisor;
  void begin(uint64_t index) {
    started = side.dev().now();
    side.report().done = index;
    side.report().of = total_of(side.params());
    if (index == side.params().warmup) side.report().start = started;
  }
  void end(uint64_t index) {
    Report& r = side.report();
    if (index < side.params().warmup) return;
    r.end = side.dev().now();
    r.latency.push_back((r.end - started) / divisor);
    r.began.push_back(started);
    r.ops++;
    r.bytes += side.params().size;
  }
  Time started = 0;
};

Result<void> finish(Side& side) {
  Lane& lane = side.lanes[0];
  const auto came = [&] { return lane.control_came; };
  if (!side.is_client())
    if (auto r = side.until("client's last message", came, Side::kOnlooker); !r) return r;
  if (auto r = side.send_control(lane); !r) return r;
  if (auto r = side.wait_control(); !r) return r;
  return side.disconnect();
}

// The last byte reports that the message has arrived, as in perftest: placement is in order.
uint8_t mark_of(uint64_t index) { return static_cast<uint8_t>(index + 1); }

Result<void> write_lat_body(Side& side) {
  const Params& p = side.params();
  const uint64_t total = side.messages = total_of(p);
  if (p.size == 0)
    return fail(Errc::kInvalidArgument, "write_lat: size 0 has no last byte to wait for");
  if (auto r = side.open(); !r) return r;
  Lane& lane = side.lanes[0];
  if (auto r = side.connect(); !r) return r;
  Sampler sampler{side, 2};  // half a round trip

  auto send = [&](uint64_t i) -> Result<void> {
    const auto bytes = side.at(lane, side.tx(i), p.size);
    Side::fill(bytes, side.key(side.is_client(), lane, i));
    bytes.back() = mark_of(i);
    return post_one(side, lane, IBV_WR_RDMA_WRITE, is_signaled(i, total));
  };
  auto receive = [&](uint64_t i) { return side.arrival(lane, i, mark_of(i)); };
  for (uint64_t i = 0; i < total; i++) {
    if (side.is_client()) {
      sampler.begin(i);
      if (auto r = send(i); !r) return r;
      if (auto r = receive(i); !r) return r;
      sampler.end(i);
    } else {
      if (auto r = receive(i); !r) return r;
      if (auto r = send(i); !r) return r;
    }
    if (is_signaled(i, total))
      if (auto r = side.until("completion", [&] { return lane.completed == i + 1; }); !r) return r;
  }
  return finish(side);
}

Result<void> read_lat_body(Side& side) {
  const Params& p = side.params();
  const uint64_t total = side.messages = total_of(p);
  if (auto r = side.open(); !r) return r;
  Lane& lane = side.lanes[0];
  if (!side.is_client()) {
    side.on_offer = [&](const Lane& l, uint64_t i, std::span<uint8_t> bytes) {
      Side::fill(bytes, side.key(false, l, i));
    };
    if (auto r = side.offer(lane); !r) return r;
  }
  if (auto r = side.connect(); !r) return r;
  if (!side.is_client()) return finish(side);
  Sampler sampler{side, 1};
  for (uint64_t i = 0; i < total; i++) {
    const auto sink = side.at(lane, side.rx(i), p.size);
    // Clear the data of an earlier Read, so that it is not mistaken for this one's.
    std::ranges::fill(sink, uint8_t{0});
    auto ready = [&] { return i < side.offered(lane) && lane.credits_out == 0; };
    if (i >= lane.tx_slots)
      if (auto r = side.until("source", ready); !r) return r;
    sampler.begin(i);
    if (auto r = post_one(side, lane, IBV_WR_RDMA_READ, true); !r) return r;
    if (auto r = side.until("Read", [&] { return lane.completed == i + 1; }); !r) return r;
    sampler.end(i);
    side.check(sink, side.key(false, lane, i));
    if (auto r = side.give_back(lane, i + 1, lane.tx_slots); !r) return r;
  }
  return finish(side);
}

/// Sends, or Immediate Data, which Side checks.
Result<void> send_lat_body(Side& side) {
  const Params& p = side.params();
  const WrOpcode opcode = side.shape().immediate == Shape::kAlone ? RNIC_WR_IMM : IBV_WR_SEND;
  const uint64_t total = side.messages = total_of(p);
  if (auto r = side.open(); !r) return r;
  Lane& lane = side.lanes[0];
  Result<void> posted;
  side.on_receive = [&](Lane& l, uint64_t i) {
    if (opcode == IBV_WR_SEND)
      side.check(side.at(l, side.rx(i), p.size), side.key(!side.is_client(), l, i));
    if (auto r = side.post_receives(l, 1); !r) posted = r;
  };
  if (auto r = side.connect(); !r) return r;
  Sampler sampler{side, 2};

  auto send = [&](uint64_t i) -> Result<void> {
    Side::fill(side.at(lane, side.tx(i), p.size), side.key(side.is_client(), lane, i));
    return post_one(side, lane, opcode, is_signaled(i, total));
  };
  auto receive = [&](uint64_t i) -> Result<void> {
    while (lane.received <= i) {
      if (auto n = p.events ? side.pump_events() : side.pump(); !n) return error_of(n);
      if (!posted) return posted;
    }
    return {};
  };
  for (uint64_t i = 0; i < total; i++) {
    if (side.is_client()) {
      sampler.begin(i);
      if (auto r = send(i); !r) return r;
      if (auto r = receive(i); !r) return r;
      sampler.end(i);
    } else {
      if (auto r = receive(i); !r) return r;
      if (auto r = send(i); !r) return r;
    }
    if (is_signaled(i, total))
      if (auto r = side.until("completion", [&] { return lane.completed == i + 1; }); !r) return r;
  }
  return finish(side);
}

// A Write and the Flush of its range, posted together. With by_read: a Write and a Read of its last
// bytes, as a program without Flush would use; in PCIe no read passes a write. The server polls the
// last byte of each message and then compares every byte, while the client continues. The server
// may lag the client by a window of slots.
Result<void> flush_lat_body(Side& side) {
  const Params& p = side.params();
  const uint64_t total = side.messages = total_of(p);
  if (p.size == 0)
    return fail(Errc::kInvalidArgument, "flush_lat: size 0 has no last byte to wait for");
  if (auto r = side.open(); !r) return r;
  Lane& lane = side.lanes[0];
  if (auto r = side.connect(); !r) return r;
  if (!p.by_read && !lane.connection.has_flush())
    return fail(Errc::kNotSupported, "flush_lat: the peer does not agree to Flush");
  Sampler sampler{side, 1};
  for (uint64_t i = 0; i < total; i++) {
    if (!side.is_client()) {
      if (auto r = side.arrival(lane, i, mark_of(i)); !r) return r;
      continue;
    }
    const auto bytes = side.at(lane, side.tx(i), p.size);
    Side::fill(bytes, side.key(true, lane, i));
    bytes.back() = mark_of(i);
    sampler.begin(i);
    Sge sge, seen;
    std::array<SendWr, 2> wrs{side.request(lane, IBV_WR_RDMA_WRITE, i, false, sge), SendWr{}};
    const uint32_t looked_at = std::min(p.size, kLook);
    const auto sink = side.at(lane, side.rx(i), looked_at);
    if (p.by_read) {
      std::ranges::fill(sink, uint8_t{0});
      seen = {lane.mr.addr() + side.rx(i), looked_at, lane.mr.lkey()};
      wrs[1] = {.wr_id = wrs[0].wr_id,
                .sg_list = {&seen, 1},
                .opcode = IBV_WR_RDMA_READ,
                .send_flags = IBV_SEND_SIGNALED,
                .remote_addr = wrs[0].remote_addr + p.size - looked_at,
                .rkey = wrs[0].rkey};
    } else {
      wrs[1] = Side::flush_of(wrs[0], true);
    }
    if (auto r = side.post(lane, wrs); !r) return r;
    if (auto r = side.until("Flush", [&] { return lane.completed == i + 1; }); !r) return r;
    sampler.end(i);
    if (p.by_read && !std::ranges::equal(sink, bytes.last(looked_at))) side.wrong(sink.data(), 1);
  }
  return finish(side);
}

void run_one(const Run& run, bool is_client, bool receives, Result<void> (*body)(Side&),
             Shape::Immediate immediate = Shape::kNoImmediate) {
  guarded(run, [&] {
    Side side(run, is_client,
              {.lanes = 1,
               .window = usable_depth(run.params),
               .kept = body == read_lat_body && !is_client ? Shape::kOffered : Shape::kNone,
               .slot_bytes = run.params.size,
               .receives = receives,
               .flushes = body == flush_lat_body && !run.params.by_read,
               .immediate = immediate});
    return body(side);
  });
}

}  // namespace

void write_lat(const Run& run, bool is_client) { run_one(run, is_client, false, write_lat_body); }
void read_lat(const Run& run, bool is_client) { run_one(run, is_client, false, read_lat_body); }
void flush_lat(const Run& run, bool is_client) { run_one(run, is_client, false, flush_lat_body); }
void send_lat(const Run& run, bool is_client) { run_one(run, is_client, true, send_lat_body); }
void send_imm_lat(const Run& run, bool is_client) {
  run_one(run, is_client, true, send_lat_body, Shape::kAlone);
}

}  // namespace rnic::programs
