// The critical path of one message: where its latency goes. The walk goes from the end to the
// start, over the transfers at the borders of the devices. It sees only PCIe and the link, hence it
// works with any kind of device.
//
//   LatencyPath path(pcie, link);
//   simulation.observe(kClient, path.pcie(kClient));   simulation.link().tap(path.link());
//   path.steps(begin, end)    host, pcie, device, pcie, device, link, ...; their sum is end - begin
//
// Works for one message at a time. The walk knows four causes:
//   1. host: the host sees a write of its device at its next poll.
//   2. pcie: the transfer time of a write, a completion or a doorbell. A read is one step, round
//      trip.
//   3. device: the latest arrival before a write, read or frame of a device causes it. Receive
//      WQEs, admin commands and receive doorbells are not causes.
//   4. link: the transfer time of a frame. A frame that starts when the frame before it ends has
//      waited for the wire: the walk continues with that earlier frame.
#pragma once

#include <array>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "link/link.hpp"
#include "platform/config.hpp"
#include "platform/pcie_observer.hpp"
#include "settings/side.hpp"

namespace rnic::app {

class LatencyPath {
 public:
  enum Kind : uint8_t { kHost, kPcie, kLink, kDevice };
  static constexpr std::array<const char*, 4> kKindNames = {"host", "pcie", "link", "device"};

  struct Step {
    Kind kind = kHost;
    Side side = kClient;
    std::string what;
    Time from = 0, to = 0;
  };
  struct Sample {
    Time begin = 0, end = 0;
  };

  LatencyPath(const std::array<sim::PcieConfig, 2>& pcie, const sim::LinkConfig& link);
  sim::LinkTap& link() { return link_; }
  sim::PcieObserver& pcie(Side side) { return sides_[side]; }

  /// The steps, in order of time, of a message that the client began and whose end the client saw.
  /// Empty if the walk did not end at the client's post.
  std::vector<Step> steps(Time begin, Time end) const;
  /// Averages over the samples, and the steps of the most common path. All in ns. The averages are
  /// divided by `divisor` (2 where latency is half the round trip), the steps are not.
  nlohmann::ordered_json json(const std::vector<Sample>& samples, unsigned divisor) const;

 private:
  struct Write {
    Time issued = 0, visible = 0;
    sim::Client client{};
  };
  struct Arrival {  // at the device
    enum What : uint8_t { kCompletion, kDoorbell, kFrame } what = kDoorbell;
    Time at = 0, began = 0;  // began: the read's issue, the frame's first bit
    sim::Client client{};    // of a read
  };
  struct Frame {
    Time began = 0, ended = 0, arrived = 0;  // first and last bit sent; last bit received
  };
  struct Read {
    Time issued = 0;
    sim::Client client{};
  };
  /// What one host's PCIe has carried.
  struct Bus final : sim::PcieObserver {
    void on_write_issued(Time t, const sim::DmaWrite& w) override;
    void on_write(Time t, const sim::DmaWrite& w, bool ok) override;
    void on_read_issued(Time t, const sim::DmaRead& r) override;
    void on_completion(Time t, const sim::DmaPiece& p) override;
    void on_mmio(Time t, const sim::Mmio& m) override;
    std::deque<Write> under_way;    // issued, not yet visible
    std::vector<Write> writes;      // visible in memory, in order of time
    std::vector<Arrival> arrivals;  // in order of time
    std::array<Read, 256> reads;
  };
  struct Wire final : sim::LinkTap {
    explicit Wire(LatencyPath& p) : path(p) {}
    void frame(Time at, const sim::Frame& f) override;
    LatencyPath& path;
  };

  std::array<Bus, 2> sides_;
  std::array<std::vector<Frame>, 2> frames_;  // by the side that sends
  Wire link_{*this};
  std::array<Time, 2> doorbell_;  // a doorbell's transfer time on PCIe, by side
  sim::Link wire_;                // for its durations
};

}  // namespace rnic::app
