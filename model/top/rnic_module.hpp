// The model as a SystemC module with TLM-2.0 sockets, for any SystemC platform.
//
//   RnicModule rnic("rnic", spec::Sizes{});
//   cpu.socket.bind(rnic.bar0);   rnic.dma.bind(bus.socket);   rnic.llp.bind(transport);
//   transport.nic.bind(rnic.llp_in);
//
// bar0, bar2: blocking transport of 4 or 8 bytes, or a write of 64 to the push window (addresses
// 0x100 to 0x17f of a doorbell page). A read waits for its response. dma: approximately timed (base
// protocol, non-blocking), one transaction per TLP. The target may complete reads out of order.
// Interrupts are writes. llp: calls to the transport. llp_in: calls of the transport. Both carry
// whole records. Needs the CMake target rnic::model_sc.
#pragma once

#include <tlm.h>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "sc/pacer.hpp"
#include "top/rnic.hpp"

namespace rnic::model {

/// The interface of the transport to the device.
class LlpTransportIf : virtual public sc_core::sc_interface {
 public:
  virtual bool can_tx() const = 0;  // after false: call RnicModule's wake()
  virtual void tx(LlpRecord record) = 0;
  virtual void ctl(const spec::LlpCtlReq& req) = 0;
};
/// The interface of the device to the transport.
class LlpDeviceIf : virtual public sc_core::sc_interface {
 public:
  virtual bool can_rx() const = 0;
  virtual void rx(LlpRecord record) = 0;
  virtual void event(const spec::LlpCtlEvt& evt) = 0;
  virtual void credit(const spec::LlpCredit& credit) = 0;
  virtual void wake() = 0;
};

class RnicModule final : public sc_core::sc_module,
                         private Surroundings,
                         private LlpDeviceIf,
                         private tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_target_socket<RnicModule> bar0, bar2;
  tlm_utils::simple_initiator_socket<RnicModule> dma;
  sc_core::sc_port<LlpTransportIf> llp;
  sc_core::sc_export<LlpDeviceIf> llp_in;

  explicit RnicModule(const sc_core::sc_module_name& name, const spec::Sizes& sizes = {},
                      const Timing& timing = {})
      : sc_module(name),
        bar0("bar0"),
        bar2("bar2"),
        dma("dma"),
        llp("llp"),
        llp_in("llp_in"),
        pacer_(Pacer::shared(timing.clock)),
        answers_(this, &RnicModule::answered),
        rnic_(std::make_unique<Rnic>(sizes, timing, pacer_->dispatcher(),
                                     static_cast<Surroundings&>(*this))) {
    bar0.register_b_transport(this, &RnicModule::access0);
    bar2.register_b_transport(this, &RnicModule::access2);
    dma.register_nb_transport_bw(this, &RnicModule::nb_transport_bw);
    llp_in.bind(static_cast<LlpDeviceIf&>(*this));
  }

  /// Settings from configuration space.
  void set_pcie(const spec::PcieCfg& cfg) { present().set_pcie(cfg); }
  const Rnic& device() const { return *rnic_; }

 private:
  struct Transfer final : tlm::tlm_generic_payload {
    rnic::Payload data;           // of a write
    std::vector<uint8_t> buffer;  // of a read
    uint8_t tag = 0;
  };

  // The device, with the dispatcher's time set to the kernel's: before each call into the device.
  Rnic& present() {
    pacer_->arrive();
    return *rnic_;
  }

  // --- target side
  void access0(tlm::tlm_generic_payload& t, sc_core::sc_time& delay) { access(0, t, delay); }
  void access2(tlm::tlm_generic_payload& t, sc_core::sc_time& delay) { access(2, t, delay); }
  void access(uint8_t bar, tlm::tlm_generic_payload& t, sc_core::sc_time& delay) {
    const uint32_t bytes = t.get_data_length();
    if ((bytes != 4 && bytes != 8 && bytes != 64) || t.get_byte_enable_ptr() != nullptr) {
      t.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
      return;
    }
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    while (!rnic_->can_mmio()) wait(sc_core::sc_time::from_value(pacer_->clock().time_of_cycle(1)));
    MmioAccess m{.is_write = t.is_write(),
                 .bar = bar,
                 .bytes = static_cast<uint8_t>(bytes),
                 .offset = static_cast<uint32_t>(t.get_address()),
                 .value = 0,
                 .data = {}};
    if (t.is_write() && bytes == 64) m.data = rnic::Payload::copy_of({t.get_data_ptr(), 64});
    if (t.is_write() && bytes != 64) std::memcpy(&m.value, t.get_data_ptr(), bytes);
    present().mmio(std::move(m));
    if (t.is_read()) {
      // Several processes may read at a time: responses come in the order of the requests.
      const uint64_t ticket = asked_++;
      while (answered_ <= ticket) wait(response_);
      std::memcpy(t.get_data_ptr(), &values_[ticket - taken_], std::min<uint32_t>(bytes, 8));
      for (++read_; read_ == answered_ && !values_.empty(); ++taken_) values_.pop_front();
    }
    t.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void mmio_response(uint64_t value) override {
    values_.push_back(value);
    ++answered_;
    response_.notify(sc_core::SC_ZERO_TIME);
  }

  // --- initiator side: a request waits until the target has accepted the one before it
  // (requesting_); responses come in any order
  bool can_dma_write() const override { return !requesting_; }
  bool can_dma_read() const override { return !requesting_; }
  void dma_write(WriteTlp tlp) override {
    Transfer& t = take();
    t.data = std::move(tlp.data);
    t.set_command(tlm::TLM_WRITE_COMMAND);
    // A target does not modify the data of a write; the interface has no const.
    t.set_data_ptr(const_cast<uint8_t*>(t.data.bytes().data()));
    send(t, tlp.address, t.data.size());
  }
  void dma_read(const ReadTlp& tlp) override {
    Transfer& t = take();
    t.tag = tlp.tag;
    t.buffer.resize(tlp.read.length);
    t.set_command(tlm::TLM_READ_COMMAND);
    t.set_data_ptr(t.buffer.data());
    send(t, tlp.read.address, tlp.read.length);
  }
  Transfer& take() {
    if (pool_.empty()) {
      all_.push_back(std::make_unique<Transfer>());
      pool_.push_back(all_.back().get());
    }
    Transfer* t = pool_.back();
    pool_.pop_back();
    t->set_mm(this);
    t->acquire();
    return *t;
  }
  void free(tlm::tlm_generic_payload* gp) override {
    gp->reset();
    auto* t = static_cast<Transfer*>(gp);
    t->data = {};
    pool_.push_back(t);
  }
  void send(Transfer& t, uint64_t address, uint32_t length) {
    t.set_address(address);
    t.set_data_length(length);
    t.set_streaming_width(length);
    t.set_byte_enable_ptr(nullptr);
    t.set_dmi_allowed(false);
    t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    requesting_ = true;
    switch (dma->nb_transport_fw(t, phase, delay)) {
      case tlm::TLM_ACCEPTED:
        break;
      case tlm::TLM_UPDATED:
        answers_.notify(t, phase, delay);
        break;
      case tlm::TLM_COMPLETED:
        phase = tlm::END_RESP;
        answers_.notify(t, phase, delay);
        break;
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& t, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    answers_.notify(t, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  /// Handles a phase at its time. END_RESP means that the target completed the transaction at once.
  void answered(tlm::tlm_generic_payload& gp, const tlm::tlm_phase& phase) {
    requesting_ = false;
    if (phase != tlm::END_REQ) {
      auto& t = static_cast<Transfer&>(gp);
      if (phase == tlm::BEGIN_RESP) {
        tlm::tlm_phase end = tlm::END_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        dma->nb_transport_fw(gp, end, delay);
      }
      if (t.is_read()) {
        const bool good = t.is_response_ok();
        present().dma_piece({.tag = t.tag,
                             .status = good ? spec::RdStatus::kOk : spec::RdStatus::kUnsupported,
                             .is_last = true,
                             .data = good ? rnic::Payload::copy_of(t.buffer) : rnic::Payload{}});
      }
      t.release();
    }
    present().wake();
  }

  // --- transport
  bool can_llp_tx() const override { return llp->can_tx(); }
  void llp_tx(LlpRecord record) override { llp->tx(std::move(record)); }
  void llp_ctl(const spec::LlpCtlReq& req) override { llp->ctl(req); }
  bool can_rx() const override { return rnic_->can_llp_rx(); }
  void rx(LlpRecord record) override { present().llp_rx(std::move(record)); }
  void event(const spec::LlpCtlEvt& evt) override { present().llp_event(evt); }
  void credit(const spec::LlpCredit& credit) override { present().llp_credit(credit); }
  void wake() override { present().wake(); }

  std::shared_ptr<Pacer> pacer_;
  tlm_utils::peq_with_cb_and_phase<RnicModule> answers_;
  std::unique_ptr<Rnic> rnic_;
  sc_core::sc_event response_;
  std::deque<uint64_t> values_;  // responses to reads, from number taken_ on
  // MMIO reads: requested, answered, returned to their caller, removed from values_.
  uint64_t asked_ = 0, answered_ = 0, read_ = 0, taken_ = 0;
  bool requesting_ = false;
  std::vector<std::unique_ptr<Transfer>> all_;
  std::vector<Transfer*> pool_;  // those of all_ that are free
};

}  // namespace rnic::model
