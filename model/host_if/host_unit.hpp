// host_if in the timed model: MMIO, reads, writes.
#pragma once

#include <array>

#include "host_if/host_if.hpp"
#include "sc/port.hpp"
#include "sc/queue.hpp"
#include "sc/unit.hpp"
#include "top/units.hpp"

namespace rnic::model {

class HostUnit final : private HostIf::Out {
  Units& u_;  // before the ports, which join its list

 public:
  explicit HostUnit(Units& u);
  Queue<MmioAccess> mmio;
  Queue<MemRead> sq_rd_req, rq_rd_req, admin_rd_req, qn1_rd_req, reg_rd_req;
  Queue<PayloadFetch> payload_req;
  Queue<Place> place;
  Queue<spec::CqWr> cq_wr;
  struct AdminWrite {
    spec::AdminWr wr;
    uint64_t behind = 0;  // packets of cq since reset that must be sent before this write
  };
  Queue<AdminWrite> admin_wr;
  Queue<spec::WordWr> word_wr;
  Call<bool(const spec::QpDoorbell&)> qp_doorbell_o{u_.ports, "host_if.qp_doorbell_o"};
  Call<bool(const spec::CqDoorbell&)> cq_doorbell_o{u_.ports, "host_if.cq_doorbell_o"};
  Call<void(const spec::EqDoorbell&)> eq_doorbell_o{u_.ports, "host_if.eq_doorbell_o"};
  Output<spec::AdminDoorbell> admin_doorbell_o{u_.ports, "host_if.admin_doorbell_o"};
  Call<void(const spec::DevCfg&)> dev_cfg_admin_o{u_.ports, "host_if.dev_cfg_admin_o"};
  Call<void(const spec::DevCfg&)> dev_cfg_tpt_o{u_.ports, "host_if.dev_cfg_tpt_o"};
  Output<MemData> sq_rd_o{u_.ports, "host_if.sq_rd_o"};
  Output<MemData> rq_rd_o{u_.ports, "host_if.rq_rd_o"};
  Output<MemData> admin_rd_o{u_.ports, "host_if.admin_rd_o"};
  Output<PayloadData> payload_o{u_.ports, "host_if.payload_o"};
  Output<MemData> qn1_rd_o{u_.ports, "host_if.qn1_rd_o"};
  Output<MemData> reg_rd_o{u_.ports, "host_if.reg_rd_o"};
  Call<void(const spec::PlaceDone&)> place_done_o{u_.ports, "host_if.place_done_o"};
  Call<void()> placed_o{u_.ports, "host_if.placed_o"};  // placed() has risen
  Call<void()> word_done_o{u_.ports, "host_if.word_done_o"};
  Call<void(const spec::Retired&)> retired_o{u_.ports, "host_if.retired_o"};
  Call<bool()> admin_fatal_i{u_.ports, "host_if.admin_fatal_i"};
  Call<spec::UnitCount()> count_admin_i{u_.ports, "host_if.count_admin_i"};
  Call<spec::UnitCount()> count_qp_i{u_.ports, "host_if.count_qp_i"};
  Call<spec::UnitCount()> count_tpt_i{u_.ports, "host_if.count_tpt_i"};
  Call<spec::UnitCount()> count_rdmap_i{u_.ports, "host_if.count_rdmap_i"};
  Call<spec::UnitCount()> count_ddp_i{u_.ports, "host_if.count_ddp_i"};
  Call<spec::UnitCount()> count_mpa_i{u_.ports, "host_if.count_mpa_i"};
  Call<spec::UnitCount()> count_cq_i{u_.ports, "host_if.count_cq_i"};
  Call<spec::UnitCount()> count_llp_if_i{u_.ports, "host_if.count_llp_if_i"};
  Call<spec::UnitCount()> count_atomic_i{u_.ports, "host_if.count_atomic_i"};
  /// A write of admin follows all completions that cq has written before.
  void write_admin(const spec::AdminWr& wr, Cycle at) {
    admin_wr.push({wr, accepted()[static_cast<size_t>(Writer::kCq)]}, at);
  }

  bool can_mmio() const { return !mmio.full(); }
  void access(MmioAccess m) {
    mmio.push(std::move(m), u_.now() + u_.timing.host.mmio + u_.timing.qp.doorbell);
  }
  void piece(ReadPiece p);
  void set_pcie(const spec::PcieCfg& cfg) {
    host_.set_pcie(cfg);
    mps_ = 128U << cfg.mps;
  }
  void purge(const spec::QpPurge& p) { host_.bar.purge(p.qpn); }
  /// PCIe accepts requests again (Surroundings::can_dma_read, can_dma_write).
  void wake() {
    wr_.wake(u_.now());
    rd_.wake(u_.now());
  }
  /// From the first beat at an input of host_if_wr to the last beat of its first TLP on dma_wr. The
  /// host receives the TLP with that beat.
  Cycle place_latency(uint32_t length) const {
    return u_.timing.host.wr_cut + u_.timing.path.beats(std::min(length, mps_)) - 1;
  }
  uint64_t placed() const { return host_.placed(); }
  /// ddp has taken the oldest packet of payload.
  void payload_taken();
  spec::UnitCount count() const;
  std::string waiting_for() const;

 private:
  struct MmioRead {
    uint64_t value = 0;
    std::array<uint64_t, kWriters> behind{};  // packets of each client that must be sent before
  };
  void step_mmio();
  void step_rsp();
  void step_rd();
  void send_reads();
  void enter(ReadPiece p);
  void take(const ReadPiece& p);
  void step_tags();
  void watch_tags();
  void step_wr();
  void give(Reader r, Cycle whole_at);
  bool payload_is_full() const;
  bool put_next(Writer w);  // begins this client's next packet; false: it has none
  std::array<uint64_t, kWriters> accepted() const;
  void qp_doorbell(const spec::QpDoorbell& db) override;
  void cq_doorbell(const spec::CqDoorbell& db) override;
  void eq_doorbell(const spec::EqDoorbell& db) override;
  void admin_doorbell(const spec::AdminDoorbell& db) override;
  void dev_cfg(const spec::DevCfg& cfg) override;
  void place_done(const spec::PlaceDone& done) override;
  void retired(const spec::Retired& r) override;
  void word_done() override;
  void cpl_timeout_changed() override {
    tags_at_ = kNever;
    watch_tags();
  }
  void msix_unmasked() override {
    interrupts_ = true;
    wr_.wake(u_.now() + 1);
  }
  uint64_t device_time() const override { return u_.now() - u_.born; }
  bool ready() const override;
  bool fatal() const override;
  spec::UnitCount unit_count(uint32_t unit) const override;

  HostIf host_;
  Queue<MmioRead> responses_;
  Meter rd_meter_, wr_meter_;
  Cycle wr_free_ = 0, rd_free_ = 0;  // when the next TLP may be sent
  Cycle push_at_ = kNever;           // cycle of the next tick for halves of pushed WQEs
  Cycle tags_at_ = kNever;           // cycle of the next walk over the tags
  Cycle in_free_ = 0;                // when dma_rd_rsp is free: it accepts one beat per cycle
  Ring<ReadPiece> pieces_;           // completions that wait for dma_rd_rsp
  struct Packet {
    Cycle at = 0, beats = 0;  // at: its first beat
  };
  Ring<Packet> payload_;  // packets of payload_o that ddp has not taken
  uint32_t mps_ = 128;    // bytes
  uint32_t last_writer_ = 0, last_reader_ = 0;
  // writing_: a packet is being sent. interrupts_: a pending vector may be unmasked.
  bool writing_ = false, interrupts_ = false;
  std::optional<WriteTlp> tlp_;  // of the current write: its beats are being sent
  bool own_ = false;  // the current write is host_if's own: the message of a pending interrupt
  std::array<uint64_t, kWriters> left_{};  // packets sent, by client
  StageOf<HostUnit> mmio_{*this, &HostUnit::step_mmio};
  StageOf<HostUnit> rsp_{*this, &HostUnit::step_rsp};
  StageOf<HostUnit> rd_{*this, &HostUnit::step_rd};
  StageOf<HostUnit> tags_{*this, &HostUnit::step_tags};
  StageOf<HostUnit> wr_{*this, &HostUnit::step_wr};
};

}  // namespace rnic::model
