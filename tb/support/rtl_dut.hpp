// A Verilated module as a device under test: clock, reset, cycle count, waveform, assertion
// failures.
//
//   struct Echo : tb::RtlDut<VEcho> {
//     tb::StreamIn<spec::RxUlpduHdr> in = RNIC_IN(*this, in, spec::RxUlpduHdr);
//     tb::StreamOut<spec::RxUlpduHdr> out = RNIC_OUT(*this, out, spec::RxUlpduHdr);
//   };
//
// The module has clk_i and the synchronous rst_ni. Its registers and its plain inputs start with
// random values, from the test's seed: set the plain inputs in the constructor (top().x_i = 0). The
// first cycle resets.
// RNIC_WAVE=FILE.fst writes a waveform. A failing assertion of the RTL fails the test.
//
// Verilated with STALL (rnic.cmake) it also stalls its inner streams, at a rate that follows the
// pace of restart(): never if consumers never pause. The test then also includes
// V..._rnic_stall_pkg.h. Names with __PVT__ or __DOT__ are Verilator's, of inner variables.
//
// If the module has count_o (a unit's counters: items, busy, stalled), every test checks it in
// every cycle. `stalled` must count the cycles in which an output waits. `items` and `busy` must
// count what handled() returns for each cycle; without handled() they are not checked.
#pragma once

#include <gtest/gtest.h>
#include <verilated.h>
#include <verilated_fst_c.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "backend/rtl_coverage.hpp"
#include "base/clock.hpp"
#include "base/rng.hpp"
#include "gen/streams.hpp"
#include "support/dut.hpp"
#include "support/seed.hpp"

namespace rnic::tb {

/// Whether class V was Verilated with waveforms (RNIC_BENCH_WAVES): it then has trace().
template <class V, class = void>
inline constexpr bool kHasWaves = false;
template <class V>
inline constexpr bool kHasWaves<
    V, std::void_t<decltype(std::declval<V&>().trace(std::declval<VerilatedFstC*>(), 0))>> = true;

template <class V>
class RtlDut : public Dut {
 public:
  explicit RtlDut(uint64_t seed = test_seed()) : stalls_(seed) {
    context_.fatalOnError(false);
    // 2: registers start at random. Seed 0 would let Verilator choose its own.
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed & 0x7fffffff) | 1);
    context_.traceEverOn(true);
    top_ = std::make_unique<V>(&context_, "dut");
    if (const char* file = std::getenv("RNIC_WAVE"); file != nullptr && *file != '\0')
      open_wave(file);
    top_->clk_i = 0;
    top_->rst_ni = 0;
    hold_back(0);
  }
  ~RtlDut() override {
    if (context_.gotError()) ADD_FAILURE() << "an assertion of the RTL failed, see above";
    top_->final();
    sim::write_rtl_coverage(context_);
    if (wave_) wave_->close();
  }

  V& top() { return *top_; }
  VerilatedContext& context() { return context_; }
  [[nodiscard]] uint64_t now() const { return cycle_; }

  /// For a test that expects an RTL assertion to fail: returns whether one has failed, and clears
  /// it.
  bool take_error() {
    const bool error = context_.gotError();
    context_.gotError(false);
    context_.gotFinish(false);
    return error;
  }

  /// Clears all ports and holds rst_ni low for this many cycles.
  void reset(unsigned cycles = 4) {
    top_->rst_ni = 0;
    for (auto* port : ports_) port->clear();
    for (unsigned i = 0; i < cycles; i++) edge();
    counted_ = {};
    top_->rst_ni = 1;
    in_reset_ = false;
  }
  void restart(Pace p) override {
    hold_back(p.stall);
    reset();
    pace(p);
  }

  /// One clock cycle; the first one resets.
  void cycle() {
    if (in_reset_) reset();
    for (auto* port : ports_) port->drive();
    top_->eval();
    for (auto* port : ports_) port->sample();
    check_count();
    edge();
  }
  void cycles(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) cycle();
  }
  bool advance() override {
    cycle();
    return true;
  }
  /// Sets how often inner streams stall, of 256 (variable `rate` of rnic_stall_pkg). restart()
  /// passes the stall percent of its pace unchanged: 40 % gives 40 of 256. No effect without STALL.
  void hold_back(unsigned rate) {
    if constexpr (kStalls) {
      is_held_back_ = rate != 0;
      top_->__PVT__rnic_stall_pkg->rate = static_cast<uint8_t>(rate);
      new_mood();
    }
  }
  [[nodiscard]] unsigned patience() const override { return is_held_back_ ? 8 : 1; }

  /// The last cycle: whether the unit was busy, and its items handled, if the ports show them.
  /// docs/theory-of-operation.md, Counters.
  struct Handled {
    bool busy = false;
    std::optional<uint64_t> items;
  };
  virtual std::optional<Handled> handled() { return std::nullopt; }

 private:
  /// unit_counter: an event is visible in count_o two cycles later. So the device must show the
  /// bench's counts of two cycles ago. Counts that the bench does not know are not compared.
  void check_count() {
    if constexpr (requires { top_->count_o; }) {
      spec::UnitCount::Words words{};
      static_assert(sizeof words == sizeof top_->count_o);
      std::memcpy(words.data(), &top_->count_o, sizeof words);
      const auto is = spec::UnitCount::from_words(words.data());
      auto& [now, before, due] = counted_;
      due = std::exchange(before, now);
      for (const auto* port : ports_) {
        if (!port->waits()) continue;
        now.stalled++;
        break;
      }
      const std::optional<Handled> h = handled();
      now.busy += h && h->busy;
      now.items += h ? h->items.value_or(0) : 0;
      if (!h) due.busy = is.busy;
      if (!h || !h->items) due.items = is.items;
      if (is == due || wrong_count_) return;
      wrong_count_ = true;  // report only the first
      ADD_FAILURE() << "cycle " << cycle_ << ": count_o is " << is.describe() << ", not "
                    << due.describe();
    }
  }
  static constexpr bool kStalls = requires(V & v) { v.__PVT__rnic_stall_pkg; };
  static constexpr uint64_t kMoodCycles = 512;  // until other inner streams stall

  // Draws anew which inner streams stall often, sometimes or never (rtl/stall/stream_stall.sv).
  void new_mood() { top_->__PVT__rnic_stall_pkg->mood = static_cast<uint32_t>(stalls_.next()); }
  void edge() {
    if constexpr (kStalls) {  // rtl/stall/rnic_stall_pkg.sv
      top_->__PVT__rnic_stall_pkg->noise = static_cast<uint32_t>(stalls_.next());
      if (cycle_ % kMoodCycles == 0) new_mood();
    }
    const uint64_t at = base::time_of_cycle(cycle_);
    half(0, at);
    half(1, at + 1551);  // ps: half a cycle of 322.266 MHz
    top_->clk_i = 0;
    cycle_++;
  }
  void half(uint8_t clk, uint64_t at) {
    top_->clk_i = clk;
    context_.time(at);
    top_->eval();
    if (wave_) wave_->dump(at);
  }
  void open_wave(std::string file) {
    static unsigned opened = 0;  // a second device of the same process writes FILE.1
    if (opened != 0) file += "." + std::to_string(opened);
    opened++;
    if constexpr (kHasWaves<V>) {
      wave_ = std::make_unique<VerilatedFstC>();
      top_->trace(wave_.get(), 99);
      wave_->open(file.c_str());
    } else {
      FAIL() << "RNIC_WAVE: this bench was built with RNIC_BENCH_WAVES=OFF";
    }
  }

  VerilatedContext context_;
  std::unique_ptr<V> top_;
  base::Rng stalls_;
  std::unique_ptr<VerilatedFstC> wave_;
  uint64_t cycle_ = 0;
  std::array<spec::UnitCount, 3> counted_;  // by the bench: now, one and two cycles ago
  bool wrong_count_ = false;
  bool in_reset_ = true;
  bool is_held_back_ = false;
};

}  // namespace rnic::tb
