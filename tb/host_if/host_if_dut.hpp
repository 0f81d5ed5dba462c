// host_if as a device under test: its streams by name, and its few plain ports. RTL and model have
// the same interface.
//
//   HostIfDut<VHostIf> dut;  dut.restart(pace);
//   dut.configure({.bus_master = 1, ...});  dut.admin_rd_req.put({...});
#pragma once

#include <cstring>
#include <optional>

#include "gen/queues.hpp"
#include "gen/regs.hpp"
#include "gen/streams.hpp"
#include "host_if/host_if_model.hpp"
#include "host_if/root_port.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"

namespace rnic::tb {

template <class V, bool kMinimumBuild>
struct HostIfDut : RtlDut<V> {
  static constexpr bool kIsRtl = true;
  static constexpr bool kMinimum = kMinimumBuild;

  StreamIn<spec::MmioReq> mmio_req = RNIC_IN(*this, mmio_req, spec::MmioReq);
  StreamOut<spec::MmioRsp> mmio_rsp = RNIC_OUT(*this, mmio_rsp, spec::MmioRsp);
  StreamOut<spec::DmaRdReq> dma_rd_req = RNIC_OUT(*this, dma_rd_req, spec::DmaRdReq);
  StreamIn<spec::DmaRdRsp> dma_rd_rsp = RNIC_IN(*this, dma_rd_rsp, spec::DmaRdRsp);
  StreamOut<spec::DmaWr> dma_wr = RNIC_OUT(*this, dma_wr, spec::DmaWr);
  StreamOut<spec::QpDoorbell> qp_doorbell = RNIC_OUT(*this, qp_doorbell, spec::QpDoorbell);
  StreamOut<spec::CqDoorbell> cq_doorbell = RNIC_OUT(*this, cq_doorbell, spec::CqDoorbell);
  StreamOut<spec::EqDoorbell> eq_doorbell = RNIC_OUT(*this, eq_doorbell, spec::EqDoorbell);
  StreamOut<spec::AdminDoorbell> admin_doorbell =
      RNIC_OUT(*this, admin_doorbell, spec::AdminDoorbell);
  StreamIn<spec::QpPurge> qp_purge = RNIC_IN(*this, qp_purge, spec::QpPurge);
  StreamIn<spec::RdReq> sq_rd_req = RNIC_IN(*this, sq_rd_req, spec::RdReq);
  StreamOut<spec::RdHdr> sq_rd_hdr = RNIC_OUT(*this, sq_rd_hdr, spec::RdHdr);
  PacketOut sq_rd = RNIC_PACKET_OUT(*this, sq_rd);
  StreamIn<spec::RdReq> rq_rd_req = RNIC_IN(*this, rq_rd_req, spec::RdReq);
  StreamOut<spec::RdHdr> rq_rd_hdr = RNIC_OUT(*this, rq_rd_hdr, spec::RdHdr);
  PacketOut rq_rd = RNIC_PACKET_OUT(*this, rq_rd);
  StreamIn<spec::RdReq> admin_rd_req = RNIC_IN(*this, admin_rd_req, spec::RdReq);
  StreamOut<spec::RdHdr> admin_rd_hdr = RNIC_OUT(*this, admin_rd_hdr, spec::RdHdr);
  PacketOut admin_rd = RNIC_PACKET_OUT(*this, admin_rd);
  StreamIn<spec::PayloadReq> payload_req = RNIC_IN(*this, payload_req, spec::PayloadReq);
  StreamIn<spec::Extent> tx_extent = RNIC_IN(*this, tx_extent, spec::Extent);
  StreamOut<spec::PayloadHdr> payload_hdr = RNIC_OUT(*this, payload_hdr, spec::PayloadHdr);
  PacketOut payload = RNIC_PACKET_OUT(*this, payload);
  StreamOut<spec::Retired> rd_retired = RNIC_OUT(*this, rd_retired, spec::Retired);
  StreamIn<spec::PlaceHdr> place_hdr = RNIC_IN(*this, place_hdr, spec::PlaceHdr);
  StreamIn<spec::Extent> place_extent = RNIC_IN(*this, place_extent, spec::Extent);
  PacketIn place = RNIC_PACKET_IN(*this, place);
  StreamOut<spec::PlaceDone> place_done = RNIC_OUT(*this, place_done, spec::PlaceDone);
  StreamOut<spec::Retired> wr_retired = RNIC_OUT(*this, wr_retired, spec::Retired);
  StreamIn<spec::CqWr> cq_wr = RNIC_IN(*this, cq_wr, spec::CqWr);
  StreamIn<spec::AdminWr> admin_wr = RNIC_IN(*this, admin_wr, spec::AdminWr);
  StreamIn<spec::Qn1RdReq> qn1_rd_req = RNIC_IN(*this, qn1_rd_req, spec::Qn1RdReq);
  StreamOut<spec::Qn1RdHdr> qn1_rd_hdr = RNIC_OUT(*this, qn1_rd_hdr, spec::Qn1RdHdr);
  PacketOut qn1_rd = RNIC_PACKET_OUT(*this, qn1_rd);
  StreamIn<spec::RegRdReq> reg_rd_req = RNIC_IN(*this, reg_rd_req, spec::RegRdReq);
  StreamOut<spec::RegRdHdr> reg_rd_hdr = RNIC_OUT(*this, reg_rd_hdr, spec::RegRdHdr);
  PacketOut reg_rd = RNIC_PACKET_OUT(*this, reg_rd);
  StreamIn<spec::WordWr> word_wr = RNIC_IN(*this, word_wr, spec::WordWr);
  StreamOut<spec::WordDone> word_done = RNIC_OUT(*this, word_done, spec::WordDone);

  std::optional<typename RtlDut<V>::Handled> handled() override {
    const bool request = dma_rd_req.taken() || mmio_req.taken(), answer = dma_rd_rsp.taken();
    const bool tlp_end = dma_wr.taken() && dma_wr.items().back().last != 0;
    return {{.busy = request || answer || dma_wr.taken() || payload.beat_taken() ||
                     admin_rd.beat_taken() || rq_rd.beat_taken() || sq_rd.beat_taken() ||
                     qn1_rd.beat_taken() || reg_rd.beat_taken(),
             .items = uint64_t{dma_rd_req.taken()} + tlp_end + mmio_req.taken()}};
  }
  void configure(const spec::PcieCfg& cfg) {
    this->top().pcie_cfg_i = static_cast<uint16_t>(cfg.to_words()[0]);
  }
  spec::DevCfg dev_cfg() {
    this->top().eval();
    spec::DevCfg::Words w{};
    std::memcpy(w.data(), &this->top().dev_cfg_o, sizeof w);
    return spec::DevCfg::from_words(w.data());
  }
  /// Drives the two inputs of register dev_status: all units are ready; admin has stopped.
  void status(bool ready_all, bool fatal) {
    this->top().ready_all_i = ready_all;
    this->top().admin_fatal_i = fatal;
  }
  /// Drives the pulses with which qp and cq report a doorbell that they refuse. host_if counts one
  /// per cycle and unit.
  void bad_doorbells(bool qp, bool cq) {
    this->top().qp_bad_doorbell_i = qp;
    this->top().cq_bad_doorbell_i = cq;
  }
  /// Drives the counters that a unit reports. They are registers of BAR 0.
  void unit_count(unsigned unit, const spec::UnitCount& count) {
    auto& t = this->top();
    // In the order of counts_i in host_if.sv.
    void* ports[] = {&t.count_host_if_i, &t.count_admin_i, &t.count_qp_i,  &t.count_tpt_i,
                     &t.count_rdmap_i,   &t.count_ddp_i,   &t.count_mpa_i, &t.count_cq_i,
                     &t.count_llp_if_i,  &t.count_atomic_i};
    const auto words = count.to_words();
    std::memcpy(ports[unit], words.data(), sizeof words);
  }
  spec::UnitCount own_count() {
    spec::UnitCount::Words w{};
    std::memcpy(w.data(), &this->top().count_o, sizeof w);
    return spec::UnitCount::from_words(w.data());
  }
  uint64_t placed() { return this->top().placed_o; }
  uint64_t place_beats() { return place.beats().moved(); }  // accepted so far
  // The client of the request that dma_rd_req, dma_wr accepts in this cycle.
  ClientTap read_tap() { return tap(this->top().rootp->host_if__DOT__tap_dma_rd_req); }
  ClientTap write_tap() { return tap(this->top().rootp->host_if__DOT__tap_dma_wr); }

  void restart(Pace pace) override {
    RtlDut<V>::restart(pace);
    status(false, false);
    bad_doorbells(false, false);
    configure({.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2});
  }

 private:
  // Bit 3: accepted in this cycle. Bits 2 to 0: the client.
  static ClientTap tap(unsigned bits) { return {(bits & 8) != 0, bits & 7}; }
};

}  // namespace rnic::tb
