// Records that no peer of ours would send, on their way to a device: one field is wrong, and the
// CRC is right again unless it is what is wrong. So each check of a header is asked to say no.
//
//   Damaging device(std::move(inner));   device.next = Damage::kMsn;     the next segment that
//   carries bytes
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend/device.hpp"

namespace rnic::mutants {

enum class Damage : uint8_t {
  kCrc,            // a bit of the ULPDU changed, the CRC not
  kRecordError,    // the transport says that the record is damaged
  kLength,         // the length field says 4 bytes more
  kTaggedShort,    // 10 bytes of ULPDU: no whole header
  kTaggedVersion,  // DDP version 2
  kUntaggedVersion,
  kQn,            // queue 3
  kMsn,           // the one after the next
  kMo,            // one byte on
  kRdmapVersion,  // RDMAP version 2
  kOpcode,        // 15
  kReadLength,    // a Read Request of 32 bytes
  kWrap,          // TO near 2^64
  kManyReads,     // the Read Request again and again, with the next MSNs
  kMany,
};
const char* name_of(Damage d);

/// What becomes of a record: usually one, made from it.
std::vector<sim::Record> damaged(const sim::Record& r, Damage d);

class Damaging final : public sim::Device {
 public:
  explicit Damaging(std::unique_ptr<sim::Device> inner) : inner_(std::move(inner)) {}
  std::optional<Damage> next;

  void llp_rx(sim::Record r) override;
  sim::Device& inner() { return *inner_; }

  void attach(sim::DeviceEnv& env) override { inner_->attach(env); }
  void reset() override { inner_->reset(); }
  void set_pcie(const spec::PcieCfg& cfg) override { inner_->set_pcie(cfg); }
  bool can_mmio() const override { return inner_->can_mmio(); }
  void mmio(sim::Mmio m) override { inner_->mmio(std::move(m)); }
  void dma_piece(sim::DmaPiece p) override { inner_->dma_piece(std::move(p)); }
  bool can_llp_rx() const override { return inner_->can_llp_rx(); }
  void llp_event(const spec::LlpCtlEvt& e) override { inner_->llp_event(e); }
  void llp_credit(const spec::LlpCredit& c) override { inner_->llp_credit(c); }
  void wake() override { inner_->wake(); }
  const spec::Sizes& sizes() const override { return inner_->sizes(); }
  std::string describe() const override { return inner_->describe(); }
  std::string failure() const override { return inner_->failure(); }
  std::string waiting_for() const override { return inner_->waiting_for(); }
  uint64_t cycles() const override { return inner_->cycles(); }

 private:
  std::unique_ptr<sim::Device> inner_;
};

}  // namespace rnic::mutants
