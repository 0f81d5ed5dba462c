// A device in tandem: passes every call to the RTL. Passes what the RTL reports to the follower and
// the ordering checker. See device_tandem.hpp.
#include "tandem/device_tandem.hpp"

#include <fmt/format.h>

#include <systemc>
#include <utility>
#include <vector>

#include "backend/observer.hpp"
#include "tandem/completions.hpp"
#include "tandem/follower.hpp"
#include "tandem/ordering.hpp"

namespace rnic::sim {
namespace {

/// Forwards each observation to several observers, in their order, and records the cycle of the
/// last activity. It drops completions that the judge does not count.
class Listeners final : public Observer {
 public:
  void add(Observer& o) { all_.push_back(&o); }
  /// The cycle of the last activity.
  uint64_t moved_at() const { return moved_at_; }

  void cycle(uint64_t n) override {
    now_ = n;
    tell([n](Observer& o) { o.cycle(n); });
  }
  void commit(const spec::AnyCommit& c) override {
    move([&](Observer& o) { o.commit(c); });
    if (const auto* late = std::get_if<spec::DmaRdTimeoutCommit>(&c)) {
      const DmaPiece end = judge_.aborted(late->tag);
      tell([&](Observer& o) { o.dma_piece(end); });
    }
  }
  void dma_write(const DmaWrite& w) override {
    move([&](Observer& o) { o.dma_write(w); });
  }
  void llp_tx(const Record& r) override {
    move([&](Observer& o) { o.llp_tx(r); });
  }
  void llp_ctl(const spec::LlpCtlReq& r) override {
    move([&](Observer& o) { o.llp_ctl(r); });
  }
  void mmio_response(uint64_t value) override {
    move([&](Observer& o) { o.mmio_response(value); });
  }
  void dma_read(const DmaRead& r) override {
    judge_.read(r);
    move([&](Observer& o) { o.dma_read(r); });
  }
  void mmio(const Mmio& m) override {
    move([&](Observer& o) { o.mmio(m); });
  }
  void dma_piece(const DmaPiece& p) override {
    const auto counts = judge_.counts(p);
    if (counts) move([&](Observer& o) { o.dma_piece(*counts); });
  }
  void llp_rx(const Record& r) override {
    move([&](Observer& o) { o.llp_rx(r); });
  }
  void llp_event(const spec::LlpCtlEvt& e) override {
    move([&](Observer& o) { o.llp_event(e); });
  }
  void llp_credit(const spec::LlpCredit& c) override {
    move([&](Observer& o) { o.llp_credit(c); });
  }
  void dma_write_waits() override {
    move([](Observer& o) { o.dma_write_waits(); });
  }
  void cycle_done() override {
    tell([](Observer& o) { o.cycle_done(); });
  }
  void pcie(const spec::PcieCfg& cfg) override {
    tell([&](Observer& o) { o.pcie(cfg); });
  }
  void reset() override {
    judge_.reset();
    tell([](Observer& o) { o.reset(); });
  }

 private:
  /// Calls all observers.
  template <class F>
  void tell(F f) {
    for (Observer* o : all_) f(*o);
  }
  /// Calls all observers, and notes that the device is active in this cycle.
  template <class F>
  void move(F f) {
    moved_at_ = now_;
    tell(f);
  }
  std::vector<Observer*> all_;
  CompletionJudge judge_;
  uint64_t now_ = 0, moved_at_ = 0;
};

class TandemDevice final : public Device {
 public:
  explicit TandemDevice(const RtlOptions& options)
      : name_(options.name),
        suffix_(suffix_of(options.build)),
        sizes_(sizes_of(options.build)),
        follower_(sizes_),
        referee_(*this) {
    listeners_.add(follower_);
    listeners_.add(ordering_);
    if (options.observer != nullptr) listeners_.add(*options.observer);
    listeners_.add(referee_);
    RtlOptions rtl = options;
    rtl.observer = &listeners_;
    rtl_ = make_rtl_device(rtl);
  }

  void attach(DeviceEnv& env) override { rtl_->attach(env); }
  void reset() override { rtl_->reset(); }
  void set_pcie(const spec::PcieCfg& cfg) override { rtl_->set_pcie(cfg); }
  bool can_mmio() const override { return rtl_->can_mmio(); }
  void mmio(Mmio m) override { rtl_->mmio(std::move(m)); }
  void dma_piece(DmaPiece p) override { rtl_->dma_piece(std::move(p)); }
  bool can_llp_rx() const override { return rtl_->can_llp_rx(); }
  void llp_rx(Record r) override { rtl_->llp_rx(std::move(r)); }
  void llp_event(const spec::LlpCtlEvt& evt) override { rtl_->llp_event(evt); }
  void llp_credit(const spec::LlpCredit& credit) override { rtl_->llp_credit(credit); }
  void wake() override { rtl_->wake(); }
  void stands_still() override { rtl_->stands_still(); }
  const spec::Sizes& sizes() const override { return sizes_; }
  std::string describe() const override { return "tandem" + suffix_; }
  uint64_t cycles() const override { return rtl_->cycles(); }

  std::string failure() const override {
    if (std::string f = rtl_->failure(); !f.empty()) return f;
    if (!difference_.empty()) return fmt::format("{}: {}", name_, difference_);
    if (rtl_->cycles() < listeners_.moved_at() + kQuietCycles) return {};
    std::string left = follower_.end();
    if (left.empty()) left = ordering_.end();
    return left.empty() ? left : fmt::format("{}: {}", name_, left);
  }
  std::string waiting_for() const override {
    std::string w = rtl_->waiting_for();
    if (const std::string edges = follower_.waiting_for(); !edges.empty())
      w +=
          fmt::format("{}: on the edges between units, as the follower has them\n{}", name_, edges);
    return w;
  }
  TandemReport report() const {
    TandemReport r;
    const Tally& tally = follower_.tally();
    for (size_t i = 0; i < kKindNames.size(); ++i)
      r.compared.emplace_back(kKindNames[i], tally.count(static_cast<Kind>(i)).compared);
    r.commits.assign(tally.commits().begin(), tally.commits().end());
    r.followed.assign(tally.choices().begin(), tally.choices().end());
    r.judged.assign(ordering_.findings().counts().begin(), ordering_.findings().counts().end());
    return r;
  }

 private:
  /// Last observer of each cycle: the first difference ends the run.
  struct Referee final : Observer {
    explicit Referee(TandemDevice& d) : device(d) {}
    void cycle_done() override { device.judge(); }
    TandemDevice& device;
  };
  void judge() {
    if (!difference_.empty()) return;
    difference_ = follower_.failure().empty() ? ordering_.failure() : follower_.failure();
    if (difference_.empty()) return;
    difference_ += "\nthe RTL's last commits:\n" + follower_.recent();
    sc_core::sc_pause();
  }

  std::string name_;
  std::string suffix_;
  spec::Sizes sizes_;
  Follower follower_;
  Ordering ordering_;
  Referee referee_;
  Listeners listeners_;
  std::unique_ptr<Device> rtl_;
  std::string difference_;
};

}  // namespace

std::unique_ptr<Device> make_tandem_device(const RtlOptions& options) {
  return std::make_unique<TandemDevice>(options);
}

std::optional<TandemReport> tandem_report(const Device& device) {
  const auto* tandem = dynamic_cast<const TandemDevice*>(&device);
  if (tandem == nullptr) return std::nullopt;
  return tandem->report();
}

}  // namespace rnic::sim
