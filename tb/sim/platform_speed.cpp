// The cost of the platform per message. Two devices make the accesses that an RNIC makes for each
// 64-byte Write: a read of 256 bytes for every 4 WQEs; the read of the payload; the record; the
// write of the payload at the peer. A doorbell and a CQE stand for 16 messages. The first host
// posts and polls.
//
//   platform_speed [messages]        prints simulated and wall time a message
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "platform/simulation.hpp"

namespace rnic::sim {
namespace {

// Messages per doorbell and CQE; messages that the host has posted and that are not done, at most.
constexpr uint32_t kBatch = 16, kRing = 1024;
// An FPDU of a 64-byte Write has 84 bytes: length 2, header 14, payload 64, CRC 4. So the payload
// is at 16, and the length field is 78 (header and payload).

/// Sends one Write for each message that the doorbell announces, and places the Writes of its peer.
class Writer final : public Device, private Activity {
 public:
  Writer() : Activity("writer") {}
  void attach(DeviceEnv& e) override { env_ = &e; }
  void reset() override {}
  void set_pcie(const spec::PcieCfg&) override {}
  bool can_mmio() const override { return true; }
  void mmio(Mmio m) override {
    if (m.offset == 0) {
      posted_ = m.value;
      wake_at(kernel_now());
    }
  }
  void dma_piece(DmaPiece p) override {
    free_.push_back(p.tag);
    if (p.data.size() == 64) {  // a payload; else WQEs, of which a read returns 256 bytes
      Payload fpdu = Payload::make(84);
      const auto from = p.data.bytes();
      const auto to = fpdu.writable();
      for (size_t i = 0; i < from.size(); ++i) to[16 + i] = from[i];
      to[0] = 0;
      to[1] = 78;
      out_.push_back(std::move(fpdu));
    } else {
      fetched_ += p.data.size() / 64;
    }
    wake_at(kernel_now());
  }
  bool can_llp_rx() const override { return true; }
  void llp_rx(Record r) override {
    env_->dma_write({target, r.data.slice(16, 64), false, false, Client::kPlace});
    ++placed;
  }
  void llp_event(const spec::LlpCtlEvt& e) override {
    if (e.kind == spec::LlpEvt::kEstablished || e.kind == spec::LlpEvt::kIncoming) {
      spec::LlpCtlReq r;
      r.op = spec::LlpOp::kRdmaMode;
      env_->llp_ctl(r);
    }
  }
  void llp_credit(const spec::LlpCredit& c) override {
    limit_ = c.limit;
    wake_at(kernel_now());
  }
  void wake() override { wake_at(kernel_now()); }
  const spec::Sizes& sizes() const override { return sizes_; }
  std::string describe() const override { return "writer"; }
  std::string failure() const override { return ""; }
  std::string waiting_for() const override { return ""; }
  uint64_t cycles() const override { return 0; }
  void ctl(spec::LlpOp op) {
    spec::LlpCtlReq r;
    r.op = op;
    r.port = 1;
    r.address = host_address(1);
    env_->llp_ctl(r);
  }

  // Bus addresses: send ring, payload to send, place for the peer's payload, CQE. placed: Writes.
  uint64_t ring = 0, source = 0, target = 0, cq = 0, placed = 0;

 private:
  void run(Time) override {
    while (!out_.empty() && static_cast<int32_t>(limit_ - bytes_) >= 84 && env_->can_llp_tx()) {
      bytes_ += 84;
      env_->llp_tx({0, false, false, std::move(out_.front())});
      out_.pop_front();
      if (++sent_ % kBatch == 0) {
        Payload cqe = Payload::make(32);
        std::fill(cqe.writable().begin(), cqe.writable().end(), uint8_t{0});
        std::memcpy(cqe.writable().data(), &sent_, 8);
        env_->dma_write({cq, std::move(cqe), false, false, Client::kCq});
      }
    }
    for (;;) {
      if (free_.empty() || !env_->can_dma_read()) return;
      // The ring has 64 WQEs of 64 bytes.
      if (asked_ + 4 <= posted_ && asked_ - fetched_ + fetched_ - read_ < 64) {
        env_->dma_read({take(), ring + asked_ % 64 * 64, 256, false, false, Client::kSqFetch});
        asked_ += 4;
      } else if (read_ < fetched_) {
        env_->dma_read({take(), source, 64, false, false, Client::kPayload});
        ++read_;
      } else {
        return;
      }
    }
  }
  uint8_t take() {
    const uint8_t t = free_.back();
    free_.pop_back();
    return t;
  }

  DeviceEnv* env_ = nullptr;
  spec::Sizes sizes_;
  // Messages: posted by the host; WQE requested, fetched; payload requested; sent. At most 64 WQEs
  // are requested ahead of their payload.
  uint64_t posted_ = 0, asked_ = 0, fetched_ = 0, read_ = 0, sent_ = 0;
  uint32_t limit_ = 0, bytes_ = 0;   // credit, as a cumulative limit; bytes sent
  std::vector<uint8_t> free_ = [] {  // read tags
    std::vector<uint8_t> f(128);
    for (size_t i = 0; i < f.size(); ++i) f[i] = static_cast<uint8_t>(i);
    return f;
  }();
  std::deque<Payload> out_;
};

}  // namespace
}  // namespace rnic::sim

int main(int argc, char** argv) {
  using namespace rnic;
  using namespace rnic::sim;
  const uint64_t messages =
      (argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1'000'000) / kBatch * kBatch;
  Simulation sim({});
  Writer* dev[2];
  for (auto& d : dev) {
    auto owned = std::make_unique<Writer>();
    d = owned.get();
    RootComplex& rc = sim.root_complex(sim.add_host(std::move(owned)));
    rc.config_space().write(ConfigSpace::kCommand, 6);  // memory, bus master
    rc.config_changed();
  }
  const DmaBuffer a = sim.memory(0).alloc(16384, MemoryKind::kContiguous).value();
  const DmaBuffer b = sim.memory(1).alloc(16384, MemoryKind::kContiguous).value();
  dev[0]->ring = a.bus(0);
  dev[0]->source = a.bus(4096);
  dev[0]->cq = a.bus(8192);
  dev[1]->target = b.bus(0);
  dev[1]->ctl(spec::LlpOp::kListen);
  dev[0]->ctl(spec::LlpOp::kConnect);
  sim.settle(1000);
  const Time t0 = sim.now();
  sim.start(0, "post", [&](PciDevice& d) {
    uint64_t posted = 0, done = 0;
    while (done < messages) {
      if (posted < messages && posted - done < kRing) {
        posted += kBatch;
        d.before_doorbell();
        d.write64(2, 0, posted);
      }
      uint64_t now = 0;
      std::memcpy(&now, a.data() + 8192, 8);
      if (now == done) {
        d.relax();
      } else {
        d.after_phase_bit();
        done = now;
      }
    }
  });
  const auto w0 = std::chrono::steady_clock::now();
  const RunResult r = sim.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - w0).count();
  if (!r.ok()) {
    fmt::print(stderr, "{}\n", r.report);
    return 1;
  }
  const auto n = static_cast<double>(messages);
  fmt::print("{} messages: {:.2f} M/s simulated, {:.3f} us wall a message, {} placed\n", messages,
             n / (static_cast<double>(r.end - t0) * 1e-12) / 1e6, wall * 1e6 / n, dev[1]->placed);
  return 0;
}
