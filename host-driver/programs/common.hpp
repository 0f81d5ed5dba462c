// What the programs share: a side's QPs (lanes), their buffers, the pattern every byte is checked
// by, the way in and out.
//
//   buffer of a lane:  tx slots | rx slots | credits | control out | control in
//
// Every message is looked at where it has come. A side that is not told of its arrival (Writes), or
// of its leaving (the source of Reads), has a slot for each message, so that nothing is said in
// between; where that is too much memory, slots are used again, after both sides have agreed by
// words in the credit line: see Shape::kept.
#pragma once

#include <functional>

#include "programs.hpp"

namespace rnic::programs {

inline constexpr uint32_t kBatch = 16;    // requests a doorbell, and a completion, at most
inline constexpr uint32_t kControl = 64;  // bytes of the last message
inline constexpr uint32_t kMarks = 8;     // marks under way, at most
/// A lane's buffer, and all of a host's kept slots, go up to here with messages that are kept.
inline constexpr uint64_t kLaneBytes = uint64_t{64} << 20, kHostBytes = uint64_t{256} << 20;

/// What a program needs of its lanes.
struct Shape {
  /// Messages of which one side knows nothing until the end: what Writes have brought, what Reads
  /// fetch. Messages that take a receive: three windows, since a credit for the peer leaves behind
  /// a window of our own Sends, and the next one when it has left.
  enum Kept : uint8_t { kNone, kArrived, kOffered, kReceived };
  uint32_t lanes = 1;
  uint32_t window = 64;  // messages under way; message i uses slot i modulo this
  Kept kept = kNone;     // these have a slot each, as far as memory and page lists go
  uint64_t all = 0;      // or this many slots, whatever it takes
  uint32_t slot_bytes = 64;
  bool receives = false;  // data comes as Sends: as many receives as there are slots, and one for
                          // the last message, are posted before the connection is there
  bool flushes = false;   // Flush is asked for, and the buffers may be flushed; each message may
                          // take a second request
  bool atomics = false;   // Flush's agreement, which atomics share, and buffers that take them
};

struct Lane {
  uint32_t number = 0;
  DmaBuffer buffer{};
  verbs::Mr mr{};
  verbs::Qp qp{};
  verbs::Connection connection{};
  uint32_t rkey = 0;                    // the peer's
  uint64_t remote = 0;                  // where its buffer starts
  uint32_t tx_slots = 1, rx_slots = 1;  // in it

  uint64_t posted = 0;  // data requests
  uint64_t completed = 0;
  uint64_t received = 0;  // data messages
  uint64_t receives = 0;  // receives posted: data or marks, and control
  uint64_t marks = 0;     // sent
  uint64_t filled = 0;    // messages offered to Reads
  uint64_t told = 0;      // received, as the peer was last told; the same of filled
  uint64_t told_filled = 0;
  uint32_t credits_out = 0;  // credit writes not complete
  bool control_sent = false, control_done = false, control_came = false;
};

enum class What : uint8_t { kData, kReceive, kControlSent, kCredit, kMark };

/// What the peer writes into a lane's credit line, 8 bytes each. kTaken and kFilled count messages from
/// the first on.
enum class Word : uint8_t {
  kTaken,   // checked, so that their slots may be used again
  kFilled,  // there to be read, where that is more than the slots hold
  kFrom,    // all of it has arrived: the window in which it was measured, by the writer's clock
  kTo,
};

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

  /// The next n receives, with one doorbell: of data, after the last of them of the control message,
  /// after that none.
  [[nodiscard]] Result<void> post_receives(Lane& lane, uint32_t n);
  verbs::SendWr request(const Lane& lane, verbs::WrOpcode opcode, uint64_t index, bool signaled,
                        verbs::Sge& sge) const;
  /// The Flush of a Write's range, with its wr_id.
  static verbs::SendWr flush_of(const verbs::SendWr& write, bool signaled);
  /// Data requests; a Flush belongs to the Write before it and is no message of its own.
  [[nodiscard]] Result<void> post(Lane& lane, std::span<const verbs::SendWr> wrs);
  /// Polls the last byte of message `index` until it is `mark`, and compares the others.
  [[nodiscard]] Result<void> arrival(const Lane& lane, uint64_t index, uint8_t mark);
  [[nodiscard]] Result<void> write_credit(Lane& lane, Word word, uint64_t count);
  /// Tells the peer that all its data has arrived, and in which window it was measured.
  [[nodiscard]] Result<void> write_window(Lane& lane, Time from, Time to);
  uint64_t credit(const Lane& lane, Word word);  // as the peer has written it last

  // Slots that are used again, of messages that one side knows nothing about.
  /// Says how many messages have been checked, each quarter of the slots, as long as the peer waits
  /// for it.
  [[nodiscard]] Result<void> give_back(Lane& lane, uint64_t taken, uint32_t slots);
  bool given_back(const Lane& lane, uint32_t slots) const { return lane.told + slots >= messages; }
  /// After each quarter of the slots a Send without data says that the Writes before it have come.
  static uint64_t mark_step(uint32_t slots) { return std::max(1u, slots / 4); }
  uint64_t marks(uint32_t slots) const {
    return messages <= slots ? 0 : (messages - slots + mark_step(slots) - 1) / mark_step(slots);
  }
  [[nodiscard]] Result<void> send_mark(Lane& lane);
  /// Fills the slots that Reads fetch, again what the peer has taken. pump() does it as well.
  [[nodiscard]] Result<void> offer(Lane& lane);
  std::function<void(const Lane&, uint64_t index, std::span<uint8_t>)> on_offer;
  /// Messages that the peer has filled.
  uint64_t offered(const Lane& lane) {
    return std::max<uint64_t>(lane.tx_slots,
                              lane.tx_slots < messages ? credit(lane, Word::kFilled) : 0);
  }

  // Places in a lane's buffer, here and at the peer.
  uint64_t stride() const { return (std::max(shape_.slot_bytes, 1u) + 63) / 64 * 64; }
  uint32_t tx_slots() const { return shape_.kept == Shape::kOffered ? kept_slots_ : shape_.window; }
  uint32_t rx_slots() const {
    return shape_.kept == Shape::kArrived || shape_.kept == Shape::kReceived ? kept_slots_
                                                                             : shape_.window;
  }
  uint64_t tx(uint64_t index) const { return index % tx_slots() * stride(); }
  uint64_t rx(uint64_t index) const { return (tx_slots() + index % rx_slots()) * stride(); }
  uint64_t far_tx(const Lane& lane, uint64_t index) const {
    return index % lane.tx_slots * stride();
  }
  uint64_t far_rx(const Lane& lane, uint64_t index) const {
    return (lane.tx_slots + index % lane.rx_slots) * stride();
  }
  uint64_t far_credit_in(const Lane& lane) const {
    return (uint64_t{lane.tx_slots} + lane.rx_slots) * stride();
  }
  uint64_t credit_in() const { return (uint64_t{tx_slots()} + rx_slots()) * stride(); }
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
  static uint8_t byte_of(uint64_t key, uint64_t place);
  /// Bytes from the first on that are of the pattern: how much of a message has arrived, in order.
  static uint64_t matching(std::span<const uint8_t> bytes, uint64_t key);
  void check(std::span<const uint8_t> bytes, uint64_t key);
  struct Difference {
    uint64_t bytes = 0, first = 0;
  };
  static Difference differing(std::span<const uint8_t> bytes, uint64_t key,
                              uint64_t first_word = 0);
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
  uint64_t messages = 0;                           // data messages of each lane
  // What a program adds to the introductions of the two sides, in bytes; its own, and the peer's.
  uint32_t introduction_bytes = 0;
  std::function<void(const Lane&, std::span<uint8_t>)> on_introduce;
  std::function<void(Lane&, std::span<const uint8_t>)> on_introduced;
  std::function<void(size_t n)> on_pump;  // after each poll: how many completions it took
  std::vector<Lane> lanes;
  std::function<void(Lane&, uint64_t upto)> on_data;      // data requests below upto are complete
  std::function<void(Lane&, uint64_t index)> on_receive;  // data message, or mark, has come
  uint64_t receives_expected() const {  // data or marks; the one behind them is for control
    return shape_.receives ? messages : shape_.kept == Shape::kArrived ? marks(rx_slots()) : 0;
  }

 private:
  uint32_t kept_slots() const;
  bool next_receive(const Lane& lane, uint64_t n, verbs::Sge& sge) const;
  [[nodiscard]] Result<void> write_words(Lane& lane, Word first, std::span<const uint64_t> values);
  [[nodiscard]] Result<void> open_lane(Lane& lane);
  [[nodiscard]] Result<verbs::ConnRequest> await_request(verbs::Listener& listener, Time deadline);
  [[nodiscard]] Result<void> take(const verbs::Wc& wc);
  [[nodiscard]] Result<void> look_for_failure();
  std::vector<uint8_t> introduction(const Lane& lane) const;
  [[nodiscard]] Result<void> introduced(Lane& lane);

  Run run_;
  bool is_client_;
  Shape shape_;
  uint32_t kept_slots_ = 1;
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
void flush_lat(const Run& run, bool is_client);
void atomic_lat(const Run& run, bool is_client);
void atomic_write_lat(const Run& run, bool is_client);
void atomic_bw(const Run& run, bool is_client);
void lock(const Run& run, bool is_client);
/// Words of the settings op, addresses and method, the default first.
std::span<const std::string_view> atomic_ops();
std::span<const std::string_view> atomic_addresses();
std::span<const std::string_view> lock_methods();
/// Messages of one operation over all lanes, up to shape.window of each under way, in batches of a
/// quarter of that, at most kBatch. The receiving side measures, since a Write or a Send completes
/// when the LLP takes it: a message counts when its last byte is in memory (Writes, Reads) or its
/// receive completes (Sends); of long ones also the bytes at both ends of the window. The window is
/// the host's, over all threads: class Window. The tail keeps the queues full until it closes. The
/// receiver then tells its peer the window.
/// Without a warm-up the time is from the first post until the peer says that all has arrived
/// (Reads: until the last completion); report.is_whole says so.
struct Flow {
  verbs::WrOpcode opcode = verbs::IBV_WR_SEND;
  bool flushes = false;  // each Write is followed by the Flush of its range
  bool sends = false,
       gets = false;              // data leaves this side (Reads: is fetched by it); arrives at it
  uint64_t warmup = 0, tail = 0;  // messages of a lane before and behind those that are measured
  std::function<void(const Lane&, uint64_t index, std::span<uint8_t>)>
      fill{};  // what message index carries
  std::function<void(const Lane&, uint64_t index, std::span<const uint8_t>)>
      verify{};                                                // what has come as message index
  std::function<uint8_t(const Lane&, uint64_t index)> last{};  // the last byte of message index
  std::function<uint64_t(const Lane&, uint64_t index, std::span<const uint8_t>)>
      matching{};  // bytes of message index that are there
};
[[nodiscard]] Result<void> run_flow(Side& side, const Flow& flow);

/// flushes: of Writes. The sender then counts a message as complete when its Flush is.
void bandwidth(const Run& run, bool is_client, verbs::WrOpcode opcode, bool flushes = false);
void file_copy(const Run& run, bool is_client);
void durable_log(const Run& run, bool is_client);

}  // namespace rnic::programs
