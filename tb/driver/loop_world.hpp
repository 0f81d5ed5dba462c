// Two LoopDevices joined back to back, on which programs run. Host threads are real threads, of
// which one runs at a time. They switch within PciDevice calls, at points drawn from a seed. This
// tests that threads of a host may share the driver's objects (decision 7). An object keeps the
// PciDevice of the thread that opened it, also when another thread calls it.
//
//   LoopWorld world(seed);
//   world.add(0, run_client);    world.add(1, run_server);    world.run();
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/rng.hpp"
#include "driver/loop_device.hpp"

namespace rnic::tb {

class LoopWorld {
 public:
  explicit LoopWorld(uint64_t seed, const spec::Sizes& sizes = {})
      : rng_(seed), devices_{LoopDevice(sizes), LoopDevice(sizes)} {
    devices_[0].peer = &devices_[1];
    devices_[1].peer = &devices_[0];
  }
  LoopDevice& device(unsigned host) { return devices_[host]; }
  /// Adds a thread of that host, with its own PciDevice.
  void add(unsigned host, std::function<void(PciDevice&)> body) {
    faces_.push_back(std::make_unique<Face>(*this, devices_[host]));
    bodies_.push_back(std::move(body));
  }
  void run() {
    alive_.assign(bodies_.size(), true);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < bodies_.size(); i++)
      threads.emplace_back([this, i] {
        self_ = i;
        take_turn(i);
        bodies_[i](*faces_[i]);
        std::unique_lock lock(mutex_);
        alive_[i] = false;
        pass_on();
      });
    for (auto& t : threads) t.join();
  }
  Time now = 0;  // of all threads

 private:
  /// A thread's PciDevice. Its calls take time and may let another thread run.
  class Face final : public PciDevice {
   public:
    Face(LoopWorld& w, LoopDevice& d) : w_(w), d_(d) {}
    uint32_t config_read(uint32_t o) override { return step(), d_.config_read(o); }
    void config_write(uint32_t o, uint32_t v) override { step(), d_.config_write(o, v); }
    void reset() override { step(), d_.reset(); }
    uint32_t read32(unsigned b, uint32_t o) override {
      step(), in_order_ = true;
      return d_.read32(b, o);
    }
    uint64_t read64(unsigned b, uint32_t o) override {
      step(), in_order_ = true;
      return d_.read64(b, o);
    }
    void write32(unsigned b, uint32_t o, uint32_t v) override {
      w_.now += kStep, fence(), d_.write32(b, o, v), step();
    }
    void write64(unsigned b, uint32_t o, uint64_t v) override {
      w_.now += kStep, fence(), d_.write64(b, o, v), step();
    }
    void write_combined(unsigned b, uint32_t o, std::span<const uint8_t> v) override {
      fence(), d_.write_combined(b, o, v), step();
    }
    Result<DmaBuffer> alloc(uint64_t size, MemoryKind kind) override {
      return step(), d_.alloc(size, kind);
    }
    Result<DmaBuffer> map(std::span<uint8_t> memory, DmaAccess access) override {
      return step(), d_.map(memory, access);
    }
    PersistenceDomain persistence_domain() const override { return d_.persistence_domain(); }
    Result<DmaBuffer> persistent(std::string_view name, uint64_t size) override {
      return step(), d_.persistent(name, size);
    }
    void pmem_persist(std::span<const uint8_t> bytes) override {
      step(), in_order_ = true, d_.pmem_persist(bytes);
    }
    void before_shared() override { step(), in_order_ = true; }
    void before_doorbell() override { w_.now += kStep, before_ = true; }
    void after_phase_bit() override { d_.after_phase_bit(), step(); }
    Time now() const override { return w_.now; }
    void relax() override {
      d_.tick();
      w_.now += 10 * kNs;
      w_.give_turn();
      in_order_ = true;
    }
    uint64_t wait(uint64_t vectors, Time deadline) override {
      in_order_ = true;
      for (;;) {
        d_.tick();
        if (const uint64_t fired = d_.take_vectors(vectors); fired != 0) return fired;
        if (w_.now >= deadline) return 0;
        w_.now += 200 * kNs;
        w_.give_turn();
      }
    }

   private:
    static constexpr Time kStep = 10 * kNs;  // time of a call
    // Gives another thread a turn at random.
    void step() {
      in_order_ = false;
      w_.now += kStep;
      if (w_.rng_.percent(20)) w_.give_turn();
    }
    // Executes this thread's pending barriers. They cost no time, so no other thread runs between a
    // barrier and the next access.
    void fence() {
      if (in_order_) d_.before_shared();
      if (std::exchange(before_, false)) d_.before_doorbell();
    }
    LoopWorld& w_;
    LoopDevice& d_;
    // Barriers of this thread that fence() has not executed yet: before_doorbell(), and calls with
    // the effect of before_shared().
    bool before_ = false, in_order_ = false;
  };

  static inline thread_local size_t self_ = 0;  // the calling thread

  // Blocks thread n until it is its turn.
  void take_turn(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == n; });
  }
  // Lets the other threads run first, each up to its next switch.
  void give_turn() {
    {
      std::unique_lock lock(mutex_);
      pass_on();
    }
    take_turn(self_);
  }
  // The turn goes to the next thread that has not ended.
  void pass_on() {
    for (size_t i = 0; i < alive_.size(); i++) {
      turn_ = (turn_ + 1) % alive_.size();
      if (alive_[turn_]) break;
    }
    changed_.notify_all();
  }

  base::Rng rng_;
  std::array<LoopDevice, 2> devices_;
  std::vector<std::unique_ptr<Face>> faces_;
  std::vector<std::function<void(PciDevice&)>> bodies_;
  std::vector<bool> alive_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t turn_ = 0;
};

}  // namespace rnic::tb
