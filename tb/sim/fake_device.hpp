// A device that follows the test's instructions and records everything it receives.
//
//   auto owned = std::make_unique<FakeDevice>();
//   FakeDevice& dev = *owned;
//   sim.add_host(std::move(owned));
//   dev.on_mmio = [&](const Mmio& m) { dev.env->dma_read({...}); };
//   dev.pieces[0].item.data ...   dev.pieces[0].at ...
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "kernel/activity.hpp"

namespace rnic::sim {

/// An item, and the simulated time at which the device received it.
template <class T>
struct At {
  Time at;
  T item;
};

class FakeDevice final : public Device {
 public:
  void attach(DeviceEnv& e) override { env = &e; }
  void reset() override { ++resets; }
  void set_pcie(const spec::PcieCfg& cfg) override { pcie = cfg; }
  bool can_mmio() const override { return takes_mmio; }
  void mmio(Mmio m) override {
    mmios.push_back({kernel_now(), m});
    if (on_mmio) on_mmio(m);
    if (!m.is_write && answers_mmio) env->mmio_response(m.offset * 10);
  }
  void dma_piece(DmaPiece p) override {
    pieces.push_back({kernel_now(), p});
    if (on_piece) on_piece(p);
  }
  bool can_llp_rx() const override { return takes_llp; }
  void llp_rx(Record r) override {
    records.push_back({kernel_now(), r});
    order += r.is_stream ? 's' : 'r';
    if (on_record) on_record(r);
  }
  void llp_event(const spec::LlpCtlEvt& e) override {
    events.push_back({kernel_now(), e});
    order += static_cast<char>('0' + static_cast<int>(e.kind));
    if (on_event) on_event(e);
  }
  void llp_credit(const spec::LlpCredit& c) override { credits.push_back({kernel_now(), c}); }
  void wake() override {
    ++wakes;
    if (on_wake) on_wake();
  }
  const spec::Sizes& sizes() const override { return size; }
  std::string describe() const override { return "fake"; }
  std::string failure() const override { return fault; }
  std::string waiting_for() const override { return waits; }
  uint64_t cycles() const override { return 0; }

  DeviceEnv* env = nullptr;
  spec::Sizes size = spec::Sizes::minimum();
  spec::PcieCfg pcie;
  // What can_mmio() and can_llp_rx() return; whether a register read returns (its offset * 10).
  bool takes_mmio = true, takes_llp = true, answers_mmio = true;
  int wakes = 0, resets = 0;
  std::string fault, waits;  // what failure() and waiting_for() return
  std::string order;         // events as digits, records as r, streaming records as s
  std::function<void(const Mmio&)> on_mmio;
  std::function<void(const DmaPiece&)> on_piece;
  std::function<void(const Record&)> on_record;
  std::function<void(const spec::LlpCtlEvt&)> on_event;
  std::function<void()> on_wake;
  std::vector<At<Mmio>> mmios;
  std::vector<At<DmaPiece>> pieces;
  std::vector<At<Record>> records;
  std::vector<At<spec::LlpCtlEvt>> events;
  std::vector<At<spec::LlpCredit>> credits;
};

}  // namespace rnic::sim
