// Where the latency of one message goes: its critical path, walked from the end to the start over
// what crossed the borders of the devices. Sees PCIe and the link, hence any kind of device.
//
//   LatencyPath path(pcie, link);
//   simulation.observe(kClient, path.pcie(kClient));   simulation.link().tap(path.link());
//   path.steps(begin, end)      host, pcie, device, pcie, device, link, ... : their sum is end - begin
//
// For one message at a time. The walk knows four causes:
//   1. The host sees a write of its device at the next poll: host.
//   2. A write, a completion or a doorbell takes its time on PCIe: pcie. A read is one step, there
//      and back.
//   3. A device puts out a write, a read or a frame because of the latest thing that came in before:
//      device. Receive WQEs, admin commands and receive doorbells cause nothing.
//   4. A frame takes its time on the link: link. One that starts as the frame before it ends has
//      waited for the wire: the walk goes on with that frame.
#pragma once

#include <array>
#include <deque>
#include <nlohmann/json.hpp>
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

  /// Of a message that the client began and saw the end of, in order of time; empty: the walk ended
  /// elsewhere than at the client's post.
  std::vector<Step> steps(Time begin, Time end) const;
  /// Averages over the samples, and the steps of those that go the most common way. All in ns, all
  /// divided by `divisor` (2 where latency is half the round trip), but not the steps.
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
    Time began = 0, ended = 0, arrived = 0;  // first and last bit leave; last bit is there
  };
  struct Read {
    Time issued = 0;
    sim::Client client{};
  };
  struct Bus final : sim::PcieObserver {
    void on_write_issued(Time t, const sim::DmaWrite& w) override;
    void on_write(Time t, const sim::DmaWrite& w, bool ok) override;
    void on_read_issued(Time t, const sim::DmaRead& r) override;
    void on_completion(Time t, const sim::DmaPiece& p) override;
    void on_mmio(Time t, const sim::Mmio& m) override;
    std::deque<Write> under_way;
    std::vector<Write> writes;      // in memory, in order of time
    std::vector<Arrival> arrivals;  // in order of time
    std::array<Read, 256> reads;
    std::vector<Time> outputs;
  };
  struct Wire final : sim::LinkTap {
    explicit Wire(LatencyPath& p) : path(p) {}
    void frame(Time at, const sim::Frame& f) override;
    LatencyPath& path;
  };

  const Frame* frame_that_began(Side from, Time at) const;

  std::array<Bus, 2> sides_;
  std::array<std::vector<Frame>, 2> frames_;  // by the side that sends
  Wire link_{*this};
  std::array<Time, 2> doorbell_;  // a doorbell's time on PCIe
  sim::Link wire_;                // for its durations
};

}  // namespace rnic::app
