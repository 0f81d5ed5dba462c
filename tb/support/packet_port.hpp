// Packet streams of a Verilated module: beats of 64 bytes {last, error, keep, data}. The streams
// are dense: every beat but the last of a packet is full.
//
//   tb::PacketIn in = RNIC_PACKET_IN(*this, rx_ulpdu);
//   in.put_packet(bytes);
//   in.put_packet(bytes, true);                              error
//   tb::PacketOut out = RNIC_PACKET_OUT(*this, rx_ulpdu);
//   EXPECT_EQ(out.take_packet().bytes, bytes);
//
// keep is the number of valid bytes, 0 only for an empty packet. An output that is not dense fails
// the test. An item of PacketOut is a complete packet.
#pragma once

#include <algorithm>
#include <span>

#include "gen/streams.hpp"
#include "support/stream_port.hpp"

namespace rnic::tb {

inline constexpr size_t kBeatBytes = 64;

/// Splits a packet into beats; an empty packet has one beat.
inline std::vector<spec::Beat> to_beats(std::span<const uint8_t> bytes, bool error = false) {
  std::vector<spec::Beat> out;
  do {
    spec::Beat beat;
    const size_t n = std::min(bytes.size(), kBeatBytes);
    std::copy_n(bytes.begin(), n, beat.data.begin());
    beat.keep = static_cast<uint8_t>(n);
    bytes = bytes.subspan(n);
    beat.last = bytes.empty();
    beat.error = bytes.empty() && error;
    out.push_back(beat);
  } while (!bytes.empty());
  return out;
}

/// Joins beats into packets, and checks the rules of a dense stream.
class BeatJoiner {
 public:
  /// True: packet() is complete. why() describes the error of the beat; empty if the beat is
  /// correct.
  bool add(const spec::Beat& beat) {
    why_.clear();
    if (done_) packet_ = {}, done_ = false;
    if (beat.keep > kBeatBytes) why_ = fmt::format("keep is {}", beat.keep);
    if (beat.last == 0 && beat.keep != kBeatBytes)
      why_ = fmt::format("a beat of {} bytes is not the last", beat.keep);
    if (beat.keep == 0 && !packet_.bytes.empty()) why_ = "an empty last beat after others";
    const size_t n = std::min<size_t>(beat.keep, kBeatBytes);
    packet_.bytes.insert(packet_.bytes.end(), beat.data.begin(),
                         beat.data.begin() + static_cast<std::ptrdiff_t>(n));
    packet_.error = beat.last != 0 && beat.error != 0;
    done_ = beat.last != 0;
    return done_;
  }
  void clear() { packet_ = {}, done_ = false; }
  [[nodiscard]] const Packet& packet() const { return packet_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  Packet packet_;
  bool done_ = false;
  std::string why_;
};

class PacketIn {
 public:
  PacketIn(Dut& dut, const std::string& name, Pins pins) : beats_(dut, name, pins) {}
  void put_packet(std::span<const uint8_t> bytes, bool error = false) {
    for (auto& beat : to_beats(bytes, error)) beats_.put(beat);
  }
  void put(const Packet& p) { put_packet(p.bytes, p.error); }
  StreamIn<spec::Beat>& beats() { return beats_; }
  [[nodiscard]] bool empty() const { return beats_.empty(); }
  void idle(unsigned percent) { beats_.idle(percent); }
  [[nodiscard]] bool beat_taken() const { return beats_.taken(); }  // in the last cycle

 private:
  StreamIn<spec::Beat> beats_;
};

class PacketOut {
 public:
  PacketOut(Dut& dut, const std::string& name, Pins pins)
      : packets_(dut, name), beats_(dut, name, pins, *this) {}
  Packet take_packet(uint64_t limit = Dut::kLimit) { return packets_.take(limit); }
  std::optional<Packet> try_take_packet(uint64_t limit = 1000) { return packets_.try_take(limit); }
  std::vector<Packet> take_all() { return packets_.take_all(); }
  [[nodiscard]] bool empty() const { return packets_.empty(); }
  [[nodiscard]] size_t size() const { return packets_.size(); }
  void stall(unsigned percent) { beats_.stall(percent); }
  [[nodiscard]] bool beat_taken() const { return beats_.taken(); }  // in the last cycle
  [[nodiscard]] bool packet_taken() const { return beats_.taken() && beats_.ended(); }
  void on_beat(std::function<void(const spec::Beat&)> f) { beats_.on_item(std::move(f)); }
  /// Called with each packet whose last beat is transferred, before it is queued.
  void on_packet(std::function<void(const Packet&)> f) { on_packet_ = std::move(f); }

 private:
  class Beats final : public StreamOut<spec::Beat> {
   public:
    Beats(Dut& dut, const std::string& name, Pins pins, PacketOut& owner)
        : StreamOut<spec::Beat>(dut, name, pins), owner_(owner) {}
    [[nodiscard]] bool ended() const { return ended_; }  // did the latest beat end its packet?
    void clear() override {
      StreamOut<spec::Beat>::clear();
      joiner_.clear();
      owner_.packets_.items().clear();
    }

   private:
    void accept(spec::Beat beat) override {
      ended_ = joiner_.add(beat);
      if (!joiner_.why().empty()) ADD_FAILURE() << this->name_ << ": " << joiner_.why();
      if (!ended_) return;
      if (owner_.on_packet_) owner_.on_packet_(joiner_.packet());
      owner_.packets_.items().push_back(joiner_.packet());
    }
    PacketOut& owner_;
    BeatJoiner joiner_;
    bool ended_ = false;
  };

  OutQueue<Packet> packets_;
  std::function<void(const Packet&)> on_packet_;
  Beats beats_;
};

}  // namespace rnic::tb

#define RNIC_PACKET_IN(dut, name) ::rnic::tb::PacketIn((dut), #name, RNIC_PINS_IN(dut, name))
#define RNIC_PACKET_OUT(dut, name) ::rnic::tb::PacketOut((dut), #name, RNIC_PINS_OUT(dut, name))
