// Common code of the programs: a side's QPs (lanes) with their buffers, the pattern that checks
// every byte, set-up and teardown.
//
//   buffer of a lane:  tx slots | rx slots | credits | control out | control in
//   with an SRQ:       its slots are a buffer of their own, for messages of all lanes
//
// Each message is checked in the slot where it arrived. The target of Writes and the source of
// Reads get no completions for them. Such a side has one slot per message, so that the sides need
// not exchange messages in between. Where that needs too much memory, slots are reused after both
// sides have agreed by words in the credit line: see Shape::kept.
#pragma once

#include <functional>

#include "session.hpp"

namespace rnic::programs {

inline constexpr uint32_t kBatch = 16;    // requests per doorbell and per completion, at most
inline constexpr uint32_t kControl = 64;  // bytes of the last message
inline constexpr uint32_t kMarks = 8;     // outstanding marks, at most
/// With kept messages (Shape::kept): limits of a lane's buffer, and of all kept slots of a host.
inline constexpr uint64_t kLaneBytes = uint64_t{64} << 20, kHostBytes = uint64_t{256} << 20;

/// The lanes that a program needs.
struct Shape {
  /// Which messages of this side have a slot each. kArrived: Writes that arrive here; kOffered:
  /// sources of the peer's Reads. This side notices neither until the end. kReceived: messages that
  /// need a receive, with three windows of slots and not one. A credit Write is queued behind up to
  /// a window of this side's own Sends, and the next credit waits until that Write completes. With
  /// one window of receives the peer would wait for credit (docs/search.md, finding 1).
  enum Kept : uint8_t { kNone, kArrived, kOffered, kReceived };
  uint32_t lanes = 1;
  uint32_t window = 64;  // outstanding messages; without `kept` message i uses slot i modulo window
  Kept kept = kNone;     // messages with a slot each, as far as memory and page lists allow
  uint64_t all = 0;      // not 0: so many kept slots (at least window), even beyond those limits;
                         // not for kReceived
  uint32_t slot_bytes = 64;
  bool receives = false;  // data arrives as Sends: one receive per slot, and one for the last
                          // message, is posted before the connection exists
  bool flushes = false;   // Flush is negotiated and the buffers have Flush access; each message may
                          // need a second request
  /// Immediate Data in place of Sends: without Writes, or after each Write. Needs `receives`.
  enum Immediate : uint8_t { kNoImmediate, kAlone, kAfterWrite } immediate = kNoImmediate;
  bool registers = false;  // the QPs are privileged: fast registration
  bool atomics = false;    // the extensions are negotiated as for Flush; atomic access to buffers
  /// Receives of one SRQ for all lanes, in place of their receive queues; 0: none. Needs
  /// `receives`.
  uint32_t srq_wr = 0;
};

struct Lane {
  uint32_t number = 0;
  DmaBuffer buffer{};
  verbs::Mr mr{};
  verbs::Qp qp{};
  verbs::Connection connection{};
  uint32_t rkey = 0;                    // of the peer's buffer
  uint64_t remote = 0;                  // start address of the peer's buffer
  uint32_t tx_slots = 1, rx_slots = 1;  // of the peer's buffer

  uint64_t posted = 0;  // data requests
  uint64_t completed = 0;
  uint64_t received = 0;     // data messages
  uint64_t receives = 0;     // receives posted: data or marks, and control
  uint64_t marks = 0;        // sent
  uint64_t filled = 0;       // messages offered to the peer's Reads
  uint64_t told = 0;         // received (or taken), as last reported to the peer
  uint64_t told_filled = 0;  // filled, as last reported to the peer
  uint32_t credits_out = 0;  // credit writes that are not complete
  uint32_t invalidated = 0;  // by the message received last: IBV_WC_WITH_INV; else 0
  bool control_sent = false, control_done = false, control_came = false;
};

/// What a work request is for; the top byte of its wr_id. kCredit: a Write to the credit line.
enum class What : uint8_t { kData, kReceive, kControlSent, kCredit, kMark };

/// Words of a lane's credit line, 8 bytes each, written by the peer. kTaken and kFilled count
/// messages from the first one.
enum class Word : uint8_t {
  kTaken,   // checked: their slots may be reused
  kFilled,  // ready to be read, if more than the slots hold
  kFrom,    // all data has arrived: start and end (kTo) of the window, writer's clock
  kTo,
};

class Side {
 public:
  Side(const Run& run, bool is_client, Shape shape)
      : run_(run), is_client_(is_client), shape_(shape) {}

  [[nodiscard]] Result<void> open();     // context, CQ, lanes with their buffers
  [[nodiscard]] Result<void> connect();  // every lane; the server accepts
  /// Polls completions: updates completed, received and the control flags of lanes, calls on_data
  /// and on_receive. Returns how many it took.
  [[nodiscard]] Result<size_t> pump();
  /// As pump(), but waits for the CQ's event if no completion is ready.
  [[nodiscard]] Result<size_t> pump_events();
  /// Pumps until done(). kTimedOut after `patience` time-outs (params.timeout_us each) without an
  /// event or completion.
  [[nodiscard]] Result<void> until(std::string_view what, const std::function<bool()>& done,
                                   uint64_t patience = 1);
  /// Patience of a side that notices none of the peer's Writes and Reads before its last message.
  static constexpr uint64_t kOnlooker = 10;
  /// Sends the control message: this side has sent all its data.
  [[nodiscard]] Result<void> send_control(Lane& lane);
  [[nodiscard]] Result<void> wait_control();  // every lane: ours is sent, the peer's has arrived
  [[nodiscard]] Result<void> disconnect();

  /// Posts the next n receives with one doorbell: data, then one for the control message, then
  /// none.
  [[nodiscard]] Result<void> post_receives(Lane& lane, uint32_t n);  // not with an SRQ
  /// Returns the request of message `index` of a lane, from its tx slot (a Read: into its rx slot);
  /// `sge` belongs to it.
  verbs::SendWr request(const Lane& lane, verbs::WrOpcode opcode, uint64_t index, bool signaled,
                        verbs::Sge& sge) const;
  /// Returns the Flush of a Write's range, with the Write's wr_id.
  static verbs::SendWr flush_of(const verbs::SendWr& write, bool signaled);
  /// Posts data requests. A Flush belongs to the Write before it and does not count as a message.
  [[nodiscard]] Result<void> post(Lane& lane, std::span<const verbs::SendWr> wrs);
  /// Polls the last byte of message `index` until it is `mark`, and compares the others.
  [[nodiscard]] Result<void> arrival(const Lane& lane, uint64_t index, uint8_t mark);
  [[nodiscard]] Result<void> write_credit(Lane& lane, Word word, uint64_t count);
  /// Reports to the peer that all its data has arrived, and the window in which it was measured.
  [[nodiscard]] Result<void> write_window(Lane& lane, Time from, Time to);
  uint64_t credit(const Lane& lane, Word word);  // as last written by the peer

  // Reuse of slots whose messages one side does not notice.
  /// Reports to the peer that this side has checked the first `taken` messages, after each quarter
  /// of the slots, while the peer still needs slots.
  [[nodiscard]] Result<void> give_back(Lane& lane, uint64_t taken, uint32_t slots);
  /// True if the reported messages and the slots together cover all messages: the peer needs no
  /// further report.
  bool given_back(const Lane& lane, uint32_t slots) const { return lane.told + slots >= messages; }
  /// After each quarter of the slots a Send without data (a mark) reports that the Writes before it
  /// have arrived.
  static uint64_t mark_step(uint32_t slots) { return std::max(1u, slots / 4); }
  /// Marks of a lane in all: 0 if each message has a slot of its own.
  uint64_t marks(uint32_t slots) const {
    return messages <= slots ? 0 : (messages - slots + mark_step(slots) - 1) / mark_step(slots);
  }
  [[nodiscard]] Result<void> send_mark(Lane& lane);
  /// Fills the slots that Reads fetch, and refills those that the peer has taken. pump() calls it
  /// as well.
  [[nodiscard]] Result<void> offer(Lane& lane);
  /// Writes the contents of message `index` into its slot, for offer().
  std::function<void(const Lane&, uint64_t index, std::span<uint8_t>)> on_offer;
  /// Number of messages that the peer has filled.
  uint64_t offered(const Lane& lane) {
    return std::max<uint64_t>(lane.tx_slots,
                              lane.tx_slots < messages ? credit(lane, Word::kFilled) : 0);
  }

  // Offsets in a lane's buffer, here and (far_*) at the peer.
  uint64_t stride() const { return (std::max(shape_.slot_bytes, 1u) + 63) / 64 * 64; }
  uint32_t tx_slots() const { return shape_.kept == Shape::kOffered ? kept_slots_ : shape_.window; }
  uint32_t rx_slots() const {
    if (shape_.srq_wr != 0) return 1;  // not used
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
  /// `bytes` bytes of a lane's buffer from offset `place` on, in this process.
  std::span<uint8_t> at(const Lane& lane, uint64_t place, uint64_t bytes) const {
    return lane.buffer.bytes().subspan(place, bytes);
  }

  // The pattern: each byte depends on the sending side, thread, lane, message and offset.
  uint64_t key(bool from_client, const Lane& lane, uint64_t index) const;
  static void fill(std::span<uint8_t> bytes, uint64_t key);
  static uint8_t byte_of(uint64_t key, uint64_t place);
  /// Returns how many leading bytes match the pattern: the part that has arrived, in order.
  static uint64_t matching(std::span<const uint8_t> bytes, uint64_t key);
  /// Compares the bytes with the pattern and counts the check and the bytes that differ.
  void check(std::span<const uint8_t> bytes, uint64_t key);
  /// Immediate Data of a message.
  static uint64_t imm_of(uint64_t key);
  struct Difference {
    uint64_t bytes = 0, first = 0;  // how many differ; offset of the first
  };
  /// Compares bytes with the pattern from its 8-byte word `first_word` on.
  static Difference differing(std::span<const uint8_t> bytes, uint64_t key,
                              uint64_t first_word = 0);
  /// Counts bytes of a lane's buffer as mismatches, and records the first.
  void wrong(const uint8_t* first, uint64_t bytes);

  const Run& run() const { return run_; }
  const Params& params() const { return run_.params; }
  Report& report() const { return run_.report; }
  PciDevice& dev() const { return run_.dev; }
  bool is_client() const { return is_client_; }
  const Shape& shape() const { return shape_; }
  verbs::Pd& pd() { return pd_; }
  verbs::Context& context() { return context_; }
  void alive() { progress_ = dev().now(); }  // the program itself has seen progress
  uint32_t length_of(uint64_t index) const { return length ? length(index) : params().size; }
  std::function<uint32_t(uint64_t index)> length;  // bytes of message `index`, if not params.size
  uint64_t messages = 0;                           // data messages per lane
  // The program's part of the introductions of both sides, in bytes: ours, the peer's.
  uint32_t introduction_bytes = 0;
  std::function<void(const Lane&, std::span<uint8_t>)> on_introduce;
  std::function<void(Lane&, std::span<const uint8_t>)> on_introduced;
  std::function<void(size_t n)> on_pump;  // after each poll: how many completions it took
  std::vector<Lane> lanes;
  std::function<void(Lane&, uint64_t upto)> on_data;      // data requests below `upto` are complete
  std::function<void(Lane&, uint64_t index)> on_receive;  // a data message, or a mark, has arrived
  uint64_t receives_expected() const {  // data or marks; the receive after them is for control
    return shape_.receives ? messages : shape_.kept == Shape::kArrived ? marks(rx_slots()) : 0;
  }

 private:
  uint32_t kept_slots() const;
  bool next_receive(const Lane& lane, uint64_t n, verbs::Sge& sge) const;
  [[nodiscard]] Result<void> write_words(Lane& lane, Word first, std::span<const uint64_t> values);
  [[nodiscard]] Result<void> open_lane(Lane& lane);
  [[nodiscard]] Result<void> open_srq();
  /// Posts n receives to the SRQ, into its slots from `first` on.
  [[nodiscard]] Result<void> post_shared(uint32_t first, uint32_t n);
  [[nodiscard]] Result<void> take_shared(Lane& lane, const verbs::Wc& wc);
  bool is_shared(const verbs::Wc& wc) const;  // a receive of the SRQ
  [[nodiscard]] Result<Lane*> lane_of(const verbs::Wc& wc);
  uint64_t shared_stride() const {
    return std::max<uint64_t>(stride(), kControl);  // a slot takes a data or a control message
  }
  [[nodiscard]] Result<verbs::ConnRequest> await_request(verbs::Listener& listener, Time deadline);
  [[nodiscard]] Result<void> take(const verbs::Wc& wc);
  [[nodiscard]] Result<void> look_for_events();
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
  DmaBuffer shared_;  // slots of the SRQ's receives
  verbs::Mr shared_mr_;
  verbs::Srq srq_;
  Time progress_ = 0;      // time of the latest progress
  uint64_t patience_ = 1;  // time-outs
  uint64_t idle_ = 0;      // empty polls
};

/// Runs the body and leaves the session; an error is stored in the report.
void guarded(const Run& run, const std::function<Result<void>()>& body);
// Params::depth, less where the buffers would exceed 64 MiB.
uint32_t usable_depth(const Params& params);

void write_lat(const Run& run, bool is_client);
void read_lat(const Run& run, bool is_client);
void send_lat(const Run& run, bool is_client);
void send_imm_lat(const Run& run, bool is_client);
void flush_lat(const Run& run, bool is_client);
void send_inv(const Run& run, bool is_client);
void fast_register(const Run& run, bool is_client);
void mw_bind(const Run& run, bool is_client);
void srq_pingpong(const Run& run, bool is_client);
inline constexpr uint32_t kMostReceives = 32768;  // of an SRQ
/// Receives in the SRQ of a thread: Params::rx_depth, or several for each QP.
uint32_t srq_depth(const Params& params);
/// kInvalidArgument: settings of srq_pingpong that do not fit together.
[[nodiscard]] Result<void> check_srq(const Params& params);
void atomic_lat(const Run& run, bool is_client);
void atomic_write_lat(const Run& run, bool is_client);
void atomic_bw(const Run& run, bool is_client);
void lock(const Run& run, bool is_client);
/// Values of the settings op, addresses and method; the default comes first.
std::span<const std::string_view> lend_ops();  // of frwr and mw_bind
std::span<const std::string_view> atomic_ops();
std::span<const std::string_view> atomic_addresses();
std::span<const std::string_view> lock_methods();
/// Messages of one operation over all lanes. Up to shape.window per lane are outstanding, posted in
/// batches of a quarter of that, at most kBatch.
///
/// The receiving side measures, because a Write or Send completes when the LLP accepts it. A
/// message counts when its last byte is in memory (Writes, Reads) or its receive completes (Sends);
/// of long messages the bytes at both ends of the window count too. The window covers all threads
/// of the host: class Window. The tail of messages keeps the queues full until the window closes.
/// The receiver then reports the window to its peer.
///
/// Without a warm-up the time runs from the first post until the peer reports that all data has
/// arrived (Reads: until the last completion); report.is_whole is then set.
struct Flow {
  verbs::WrOpcode opcode = verbs::IBV_WR_SEND;
  bool flushes = false;  // each Write is followed by the Flush of its range
  // sends: this side posts the requests. gets: the peer's requests have this side as their target:
  // data arrives here (Writes, Sends) or is read from here (Reads). Both: in both directions.
  bool sends = false, gets = false;
  uint64_t warmup = 0, tail = 0;  // messages of a lane before and after the measured ones
  std::function<void(const Lane&, uint64_t index, std::span<uint8_t>)>
      fill{};  // writes the contents of message `index`
  std::function<void(const Lane&, uint64_t index, std::span<const uint8_t>)>
      verify{};                                                // checks the arrived message `index`
  std::function<uint8_t(const Lane&, uint64_t index)> last{};  // last byte of message `index`
  std::function<uint64_t(const Lane&, uint64_t index, std::span<const uint8_t>)>
      matching{};  // arrived bytes of message `index`
};
[[nodiscard]] Result<void> run_flow(Side& side, const Flow& flow);

/// flushes: each Write has a Flush. The sender then counts a message when its Flush completes.
void bandwidth(const Run& run, bool is_client, verbs::WrOpcode opcode, bool flushes = false);
void file_copy(const Run& run, bool is_client);
void durable_log(const Run& run, bool is_client);

}  // namespace rnic::programs
