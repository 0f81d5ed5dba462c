// What the programs share: a side's QPs (lanes), their buffers, the pattern every byte is checked
// by, the way in and out.
//
//   buffer of a lane:  tx slots | rx slots | credit | control out | control in        the same on
//   both sides
#pragma once

#include <functional>

#include "programs.hpp"

namespace rnic::programs {

inline constexpr uint32_t kBatch = 16;    // requests a doorbell, and a completion, at most
inline constexpr uint32_t kControl = 64;  // bytes of the last message

/// What a program needs of its lanes.
struct Shape {
  uint32_t lanes = 1;
  uint32_t slots = 64;   // message i uses slot i modulo this
  uint32_t window = 64;  // messages under way, at most slots
  uint32_t slot_bytes = 64;
  bool receives = false;  // data comes as Sends: the receives of `window` messages are posted
                          // before the connection is there
};

struct Lane {
  uint32_t number = 0;
  DmaBuffer buffer{};
  verbs::Mr mr{};
  verbs::Qp qp{};
  verbs::Connection connection{};
  uint32_t rkey = 0;    // the peer's
  uint64_t remote = 0;  // where its buffer starts

  uint64_t posted = 0;  // data requests
  uint64_t completed = 0;
  uint64_t received = 0;     // data messages
  uint64_t receives = 0;     // receives posted, data and control
  uint64_t told = 0;         // received, as the peer was last told
  uint32_t credits_out = 0;  // credit writes not complete
  bool control_sent = false, control_done = false, control_came = false;
};

enum class What : uint8_t { kData, kReceive, kControlSent, kCredit };

class Side {
 public:
  Side(const Run& run, bool is_client, Shape shape)
      : run_(run), is_client_(is_client), shape_(shape) {}

  [[nodiscard]] Result<void> open();     // context, CQ, lanes with their buffers
  [[nodiscard]] Result<void> connect();  // every lane; the server accepts
  /// Takes completions: sets completed, received and the control flags of lanes, calls on_data and
  /// on_receive.
  [[nodiscard]] Result<size_t> pump();
  /// As pump, but sleeps on the CQ's event when there is nothing.
  [[nodiscard]] Result<size_t> pump_events();
  /// Until done(); kTimedOut when nothing happens for params.timeout_us.
  /// patience: how many time-outs may pass without an event or completion here.
  [[nodiscard]] Result<void> until(std::string_view what, const std::function<bool()>& done,
                                   uint64_t patience = 1);
  /// Of a side that sees the peer's Writes and Reads in nothing but its last message.
  static constexpr uint64_t kOnlooker = 10;
  /// Tells the peer that this side has sent all its data.
  [[nodiscard]] Result<void> send_control(Lane& lane);
  [[nodiscard]] Result<void> wait_control();  // every lane: ours has left, the peer's is here
  [[nodiscard]] Result<void> disconnect();

  [[nodiscard]] Result<void> post_receive(
      Lane& lane);  // the next data receive; after the last the control receive
  verbs::SendWr request(const Lane& lane, verbs::WrOpcode opcode, uint64_t index, bool signaled,
                        verbs::Sge& sge) const;
  [[nodiscard]] Result<void> post(Lane& lane, std::span<const verbs::SendWr> wrs);
  [[nodiscard]] Result<void> write_credit(Lane& lane, uint64_t received);

  // Places in a lane's buffer.
  uint64_t area() const { return uint64_t{shape_.slots} * stride(); }
  uint64_t stride() const { return (std::max(shape_.slot_bytes, 1u) + 63) / 64 * 64; }
  uint64_t tx(uint64_t index) const { return index % shape_.slots * stride(); }
  uint64_t rx(uint64_t index) const { return area() + tx(index); }
  uint64_t credit_in() const { return 2 * area(); }
  uint64_t credit_out() const { return credit_in() + 64; }
  uint64_t control_out() const { return credit_in() + 128; }
  uint64_t control_in() const { return credit_in() + 192; }
  uint64_t buffer_bytes() const { return credit_in() + 256; }
  /// Bytes of a lane's buffer, in this process.
  std::span<uint8_t> at(const Lane& lane, uint64_t place, uint64_t bytes) const {
    return lane.buffer.bytes().subspan(place, bytes);
  }

  // The pattern: each byte depends on the side that sends, the thread, the lane, the message and
  // the place in it.
  uint64_t key(bool from_client, const Lane& lane, uint64_t index) const;
  static void fill(std::span<uint8_t> bytes, uint64_t key);
  void check(std::span<const uint8_t> bytes, uint64_t key);
  struct Difference {
    uint64_t bytes = 0, first = 0;
  };
  static Difference differing(std::span<const uint8_t> bytes, uint64_t key);
  /// Counts bytes of a lane's buffer as wrong, and takes down the first.
  void wrong(const uint8_t* first, uint64_t bytes);

  const Run& run() const { return run_; }
  const Params& params() const { return run_.params; }
  Report& report() const { return run_.report; }
  PciDevice& dev() const { return run_.dev; }
  bool is_client() const { return is_client_; }
  const Shape& shape() const { return shape_; }
  verbs::Pd& pd() { return pd_; }
  verbs::Context& context() { return context_; }
  void alive() { progress_ = dev().now(); }
  uint32_t length_of(uint64_t index) const { return length ? length(index) : params().size; }
  std::function<uint32_t(uint64_t index)> length;  // of message index, where it is not params.size
  uint64_t messages =
      0;  // data messages expected on each lane; the receive behind them is for control
  std::vector<Lane> lanes;
  std::function<void(Lane&, uint64_t upto)> on_data;      // data requests below upto are complete
  std::function<void(Lane&, uint64_t index)> on_receive;  // data message has come

 private:
  [[nodiscard]] Result<void> open_lane(Lane& lane);
  [[nodiscard]] Result<void> take(const verbs::Wc& wc);
  [[nodiscard]] Result<void> look_for_failure();
  std::vector<uint8_t> introduction(const Lane& lane) const;
  [[nodiscard]] Result<void> introduced(Lane& lane);

  Run run_;
  bool is_client_;
  Shape shape_;
  verbs::Context context_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  Time progress_ = 0;      // when something last happened
  uint64_t patience_ = 1;  // time-outs
  uint64_t idle_ = 0;
};

/// Runs the body and leaves the session; a failure goes into the report.
void guarded(const Run& run, const std::function<Result<void>()>& body);
uint32_t usable_depth(
    const Params& params);  // depth, less where the buffers would grow beyond 64 MiB

void write_lat(const Run& run, bool is_client);
void read_lat(const Run& run, bool is_client);
void send_lat(const Run& run, bool is_client);
/// Messages of one operation over all lanes, up to shape.window of each under way, in batches of a quarter of that, at most
/// kBatch. What is measured: from the completion of the warm-up on, as many messages as are neither warm-up nor tail; the tail
/// keeps the queues full until then, so that the rate is the steady one however few are measured. Without a warm-up it is from
/// the first post to the last completion, as perftest does; report.is_whole says so.
struct Flow {
  verbs::WrOpcode opcode = verbs::IBV_WR_SEND;
  bool sends = false,
       gets = false;     // data leaves this side (Reads: is fetched by it); arrives at it
  uint64_t warmup = 0, tail = 0;  // messages of a lane before and behind those that are measured
  std::function<void(const Lane&, uint64_t index, std::span<uint8_t>)>
      fill{};  // what message index carries
  std::function<void(const Lane&, uint64_t index, std::span<const uint8_t>)>
      verify{};  // what has come as message index
};
[[nodiscard]] Result<void> run_flow(Side& side, const Flow& flow);

void bandwidth(const Run& run, bool is_client, verbs::WrOpcode opcode);
void file_copy(const Run& run, bool is_client);

}  // namespace rnic::programs
