// The other endpoint of a replay: a device without a host. It plays recorded bytes at the LLP port,
// in the listing's order, and records the device's units.
//
//   auto owned = std::make_unique<ReplayPeer>();
//   ReplayPeer& peer = *owned;
//   simulation.add_host(std::move(owned));
//   peer.begin(plan, stags, before);
//   peer.connect(sim::host_address(0), port);   // or peer.listen(port)
//   peer.next()  peer.done()  peer.exchanges()
//
// Plays a message of the peer when all earlier messages of the listing have been seen. Compares a
// message of the device with the next one of the listing. A message of another kind stops the play;
// later messages are only recorded.
#pragma once

#include <functional>

#include "backend/device.hpp"
#include "replay/plan.hpp"

namespace rnic::app {

/// A message, MPA frame or run of bytes that has crossed the LLP port, in either direction.
struct Exchange {
  static constexpr size_t kNoStep = SIZE_MAX;
  size_t step = kNoStep;  // of the plan; kNoStep: not in the listing
  bool ours = false;      // sent by the device
  uint64_t at_ns = 0;
  Bytes mpa;        // an MPA frame, raw bytes, or bytes that are no FPDU
  Message message;  // otherwise, with the STags of the listing
  std::vector<std::string> differences;
  bool beyond = false;  // after the listing's end, as a response to one of its requests
};

class ReplayPeer final : public sim::Device {
 public:
  using Stags = std::map<uint32_t, uint32_t>;  // recorded STags to the device's

  /// Calls `before` with each step of the peer just before it is played.
  void begin(const Plan& plan, Stags stags, std::function<void(const Step&)> before);
  /// Orders to the peer's LLP: connect to the device, or listen for its connection.
  void connect(uint32_t address, uint16_t port);
  void listen(uint16_t port);
  /// Closes the peer's direction of the connection; the peer then plays nothing more.
  void close();
  /// Plays up to the step before `step`, and stops there until the next call.
  void hold(size_t step);

  /// The step that is played or awaited next; all before it are done.
  size_t next() const { return next_; }
  /// All steps were played, or the Terminate that the listing expects has arrived.
  bool done() const { return plan_ != nullptr && (is_ended_ || next_ == plan_->steps.size()); }
  bool stopped() const { return stopped_; }  ///< by a message that is not next in the listing
  bool closed() const { return closed_; }
  /// Closed or reset by the device.
  bool closed_by_device() const { return closed_by_device_; }
  /// The device's responses after the end of the listing: see Plan::answers_beyond.
  size_t beyond() const { return beyond_; }
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  uint64_t moved() const { return moved_; }
  /// The device's Terminate, if one has arrived.
  std::optional<Ending> terminate() const;

  void attach(sim::DeviceEnv& env) override { env_ = &env; }
  void reset() override {}
  void set_pcie(const spec::PcieCfg&) override {}
  bool can_mmio() const override { return true; }
  void mmio(sim::Mmio m) override {
    if (!m.is_write) env_->mmio_response(0);
  }
  void dma_piece(sim::DmaPiece) override {}
  bool can_llp_rx() const override { return true; }
  void llp_rx(sim::Record r) override;
  void llp_event(const spec::LlpCtlEvt& evt) override;
  void llp_credit(const spec::LlpCredit& credit) override;
  void wake() override { play(); }
  const spec::Sizes& sizes() const override { return sizes_; }
  std::string describe() const override { return "replay"; }
  std::string failure() const override { return {}; }
  std::string waiting_for() const override { return {}; }
  uint64_t cycles() const override { return 0; }

 private:
  void ctl(spec::LlpOp op, uint16_t length = 0);
  void play();
  bool send(const Bytes& bytes, bool is_stream);
  Bytes exchanged(const Bytes& fpdu, const Stags& stags, Mover from) const;
  void ask_stream();
  void take_mpa(const sim::Record& r);
  void take_fpdu(const sim::Record& r);
  bool is_expected_end(const Message& m) const;
  void judge(Exchange e);
  Exchange& note(bool ours);

  sim::DeviceEnv* env_ = nullptr;
  spec::Sizes sizes_ = spec::Sizes::minimum();
  const Plan* plan_ = nullptr;
  Stags to_device_, to_listing_;
  std::function<void(const Step&)> before_;

  size_t next_ = 0, segment_ = 0;  // next step of the plan, next FPDU of that step
  size_t hold_ = SIZE_MAX;         // a step, see hold()
  bool is_ended_ = false;          // the expected Terminate has arrived
  // The connection: exists (open_), is in RDMA mode (rdma_), had a message that is not the
  // listing's (stopped_), is gone (closed_), was closed by close() (half_closed_). playing_: play()
  // runs, and ignores the calls of play() that its own calls cause.
  bool open_ = false, rdma_ = false, stopped_ = false, closed_ = true, half_closed_ = false,
       playing_ = false, closed_by_device_ = false;
  size_t beyond_ = 0;
  uint16_t connection_ = 0;
  // sent_: bytes sent to the LLP. limit_: the LLP's credit for sent_. waiting_: received streaming
  // bytes that the LLP holds until we request them.
  uint32_t sent_ = 0, limit_ = 0, waiting_ = 0;
  Bytes frame_;                                  // of MPA, as far as received
  std::map<spec::RdmapOpcode, Message> coming_;  // of the device, not whole yet
  std::vector<Exchange> exchanges_;
  uint64_t moved_ = 0;  // events so far, by which the player notices progress
};

}  // namespace rnic::app
