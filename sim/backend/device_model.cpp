// The adapter between the platform's Device and the model: each call converts one struct of
// backend/device.hpp to or from the model's. It makes no decisions.
#include "backend/device_model.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backend/observer.hpp"
#include "sc/pacer.hpp"
#include "top/rnic.hpp"

namespace rnic::sim {
namespace {

Client client_of(model::Purpose p) {
  switch (p) {
    case model::Purpose::kSqFetch:
      return Client::kSqFetch;
    case model::Purpose::kRqFetch:
      return Client::kRqFetch;
    case model::Purpose::kAdmin:
      return Client::kAdmin;
    case model::Purpose::kPayload:
      return Client::kPayload;
    case model::Purpose::kPlace:
      return Client::kPlace;
    case model::Purpose::kCq:
      return Client::kCq;
    case model::Purpose::kMsix:
      return Client::kMsix;
    case model::Purpose::kAdminWrite:
      return Client::kAdminWrite;
    case model::Purpose::kQn1:
      return Client::kQn1;
    case model::Purpose::kReg:
      return Client::kReg;
    case model::Purpose::kWord:
      return Client::kWord;
  }
  return Client::kUnknown;
}

/// The number in kStreamNames of each stream that the model taps.
constexpr auto kNumbers = [] {
  std::array<uint8_t, model::kTappedStreams.size()> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto* s = std::ranges::find(kStreamNames, std::string_view(model::kTappedStreams[i]),
                                      [](const StreamName& n) { return std::string_view(n.name); });
    if (s == kStreamNames.end()) throw "no such stream";  // does not compile
    numbers[i] = static_cast<uint8_t>(s - kStreamNames.begin());
  }
  return numbers;
}();

/// Implements both interfaces: the simulator's Device and the model's Surroundings.
class ModelDevice final : public Device, private model::Surroundings, private model::StreamTap {
 public:
  ModelDevice(const spec::Sizes& sizes, std::string name, const model::Timing& timing,
              Observer* observer)
      : name_(std::move(name)),
        sizes_(sizes),
        timing_(timing),
        observer_(observer),
        pacer_(model::Pacer::shared(timing.clock)) {
    make();
  }

  void attach(DeviceEnv& env) override { env_ = &env; }
  void reset() override { make(); }
  void set_pcie(const spec::PcieCfg& cfg) override {
    pcie_ = cfg;
    present().set_pcie(cfg);
  }
  bool can_mmio() const override { return rnic_->can_mmio(); }
  void mmio(Mmio m) override {
    present().mmio({.is_write = m.is_write,
                    .bar = m.bar,
                    .bytes = m.bytes,
                    .offset = m.offset,
                    .value = m.value,
                    .data = std::move(m.data)});
  }
  void dma_piece(DmaPiece p) override {
    present().dma_piece(
        {.tag = p.tag, .status = p.status, .is_last = p.is_last, .data = std::move(p.data)});
  }
  bool can_llp_rx() const override { return rnic_->can_llp_rx(); }
  void llp_rx(Record r) override {
    present().llp_rx({.connection = r.connection,
                      .is_stream = r.is_stream,
                      .error = r.error,
                      .data = std::move(r.data)});
  }
  void llp_event(const spec::LlpCtlEvt& evt) override { present().llp_event(evt); }
  void llp_credit(const spec::LlpCredit& credit) override { present().llp_credit(credit); }
  void wake() override { present().wake(); }
  const spec::Sizes& sizes() const override { return sizes_; }
  std::string describe() const override {
    if (sizes_ == spec::Sizes{}) return "model (default)";
    if (sizes_ == spec::Sizes::minimum()) return "model (minimum)";
    return sizes_ == spec::Sizes::stall() ? "model (stall)" : "model";
  }
  std::string failure() const override { return {}; }
  std::string waiting_for() const override { return rnic_->waiting_for(); }
  uint64_t cycles() const override { return rnic_->cycles(); }

 private:
  /// A reset replaces the model by a new one. arrive(): the Pacer, which steps all models of the
  /// simulation, brings them to the kernel's time.
  void make() {
    pacer_->arrive();
    rnic_.reset();
    rnic_ = std::make_unique<model::Rnic>(
        sizes_, timing_, pacer_->dispatcher(), static_cast<model::Surroundings&>(*this),
        observer_ != nullptr ? static_cast<model::StreamTap*>(this) : nullptr);
    rnic_->set_pcie(pcie_);
  }
  /// The model, advanced to the kernel's time.
  model::Rnic& present() {
    pacer_->arrive();
    return *rnic_;
  }

  // model::StreamTap
  void pass(model::Stream stream, model::Cycle at) override {
    observer_->stream(kNumbers[static_cast<size_t>(stream)], at);
  }

  // model::Surroundings
  bool can_dma_write() const override { return env_->can_dma_write(); }
  void dma_write(model::WriteTlp t) override {
    env_->dma_write(
        {.address = t.address, .data = std::move(t.data), .client = client_of(t.purpose)});
  }
  bool can_dma_read() const override { return env_->can_dma_read(); }
  void dma_read(const model::ReadTlp& t) override {
    env_->dma_read({.tag = t.tag,
                    .address = t.read.address,
                    .length = t.read.length,
                    .client = client_of(t.read.purpose)});
  }
  void mmio_response(uint64_t value) override { env_->mmio_response(value); }
  bool can_llp_tx() const override { return env_->can_llp_tx(); }
  void llp_tx(model::LlpRecord r) override {
    env_->llp_tx({.connection = r.connection,
                  .is_stream = r.is_stream,
                  .error = false,
                  .data = std::move(r.data)});
  }
  void llp_ctl(const spec::LlpCtlReq& req) override { env_->llp_ctl(req); }

  std::string name_;
  spec::Sizes sizes_;
  model::Timing timing_;
  Observer* observer_;
  spec::PcieCfg pcie_;
  DeviceEnv* env_ = nullptr;
  std::shared_ptr<model::Pacer> pacer_;
  std::unique_ptr<model::Rnic> rnic_;
};

}  // namespace

std::unique_ptr<Device> make_model_device(const spec::Sizes& sizes, const std::string& name,
                                          const model::Timing& timing, Observer* observer) {
  return std::make_unique<ModelDevice>(sizes, name, timing, observer);
}

}  // namespace rnic::sim
