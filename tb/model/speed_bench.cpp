// The speed of a device pair of the model without a platform: messages per second of wall time, and
// steps, cycles and memory allocations per message.
//
//   model_speed [MESSAGES] [BYTES] [QPS]
//
// Memory and link answer in the same cycle. One doorbell and one completion per 16 requests.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <new>

#include "bench.hpp"

namespace {
uint64_t allocations = 0;
}
// Not inlined: GCC reports a mismatch of new and delete when it sees only one of the two.
[[gnu::noinline]] void* operator new(size_t n) {
  ++allocations;
  if (void* at = std::malloc(n)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, size_t) noexcept { std::free(at); }

namespace rnic::tb {
namespace {

/// With `fast`, DMA reads and the link bypass the world's events: they act in the same cycle.
class FastSide final : public Side {
 public:
  using Side::Side;
  bool fast = false;
  model::Ring<model::LlpRecord> late;  // records that could not be delivered yet
  FastSide* other = nullptr;
  uint64_t cqes = 0;  // CQEs written to this host

  void dma_read(const model::ReadTlp& tlp) override {
    if (!fast) return Side::dma_read(tlp);
    rnic_->dma_piece({.tag = tlp.tag,
                      .status = spec::RdStatus::kOk,
                      .is_last = true,
                      .data = rnic::Payload::copy_of(
                          std::span(memory).subspan(tlp.read.address, tlp.read.length))});
  }
  void dma_write(model::WriteTlp tlp) override {
    if (tlp.purpose == model::Purpose::kCq) ++cqes;
    Side::dma_write(std::move(tlp));
  }
  void llp_tx(model::LlpRecord r) override {
    if (!fast) return Side::llp_tx(std::move(r));
    if (late.empty() && other->rnic_->can_llp_rx()) return hand_over(std::move(r));
    late.push(std::move(r));
  }
  void hand_over(model::LlpRecord r) {
    LlpEnd& e = ends[r.connection];
    const uint16_t mine = r.connection;
    e.limit += r.data.size();
    r.connection = e.peer;
    other->rnic_->llp_rx(std::move(r));
    rnic_->llp_credit({mine, e.limit});
  }
  // Delivers late records as far as the peer's device accepts them.
  void retry() {
    while (!late.empty() && other->rnic_->can_llp_rx()) hand_over(late.pop());
  }
};

int run(uint64_t messages, uint32_t bytes, int qps) {
  BenchOf<FastSide> b;
  b.a.other = &b.b;
  b.b.other = &b.a;
  std::vector<BenchOf<FastSide>::Pair> pairs;
  for (int i = 0; i < qps; ++i) pairs.push_back(b.connect());
  const Mr from = b.a.reg(1 << 16), to = b.b.reg(1 << 16);
  b.clock.settle();
  b.a.fast = b.b.fast = true;
  model::Dispatcher& d = b.clock.dispatcher;
  const uint64_t steps = d.steps(), allocated = allocations;
  const Cycle began = d.now();
  constexpr uint64_t kBatch = 16, kDepth = 4;  // kDepth: batches in flight per QP
  uint64_t posted = 0;
  std::vector<uint64_t> open(pairs.size());  // batches in flight, by QP
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    bool all = true;
    for (size_t q = 0; q < pairs.size(); ++q) {
      while (open[q] > 0 && b.a.poll(pairs[q].a.cqn)) --open[q];
      while (open[q] < kDepth && posted < messages && b.a.device().can_mmio()) {
        for (uint64_t i = 0; i < kBatch; ++i) {
          const uint8_t flags = i + 1 == kBatch ? kSignaled : 0;
          b.a.put_one(pairs[q].a.qpn, wr(spec::WrOpcode::kRdmaWrite, flags, to.address, to.stag),
                      sge(from, 0, bytes));
        }
        b.a.ring_sq(pairs[q].a.qpn);
        posted += kBatch;
        ++open[q];
      }
      all = all && open[q] == 0;
    }
    if (all && posted >= messages) break;
    const uint64_t seen = b.a.cqes;
    while (b.a.cqes == seen && d.next() != model::kNever) {
      d.step();
      if (!b.a.late.empty()) b.a.retry();
    }
    b.clock.catch_up();
  }
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto n = static_cast<double>(posted);
  fmt::print(
      "{} writes of {} bytes on {} QPs: {:.0f} thousand a second of wall time; each {:.1f} steps, "
      "{:.2f} cycles, {:.4f} allocations\n",
      posted, bytes, qps, n / wall / 1e3, static_cast<double>(d.steps() - steps) / n,
      static_cast<double>(d.now() - began) / n, static_cast<double>(allocations - allocated) / n);
  return 0;
}

}  // namespace
}  // namespace rnic::tb

int main(int argc, char** argv) {
  const auto arg = [&](int i, long otherwise) {
    return argc > i ? std::strtol(argv[i], nullptr, 0) : otherwise;
  };
  return rnic::tb::run(static_cast<uint64_t>(arg(1, 1000000)), static_cast<uint32_t>(arg(2, 64)),
                       static_cast<int>(arg(3, 4)));
}
