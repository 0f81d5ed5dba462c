// Our side's program in a replay: executes regions, receives and work requests of the plan through
// the driver.
//
//   ReplayPlayer player(plan, peer);
//   simulation.start(0, "replay", [&](PciDevice& dev) { player.run(dev, ctx, port); });
//   player.stored()   // what memory and receives held at the end, with errors
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "replay/peer.hpp"
#include "rnic/connection.hpp"
#include "rnic/manager.hpp"

namespace rnic::app {

/// Memory that the device wrote.
struct Stored {
  std::string what;
  Bytes bytes;
};

/// Compares the Immediate Data of a successful receive, and the length of the Write before it, with
/// the listing's. One phrase for each difference.
std::vector<std::string> immediate_differences(const Arrival& listed, const verbs::Wc& wc);

/// The device or its host has too little memory or too few entries for the listing.
struct NoRoom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ReplayPlayer {
 public:
  ReplayPlayer(const Plan& plan, ReplayPeer& peer) : plan_(plan), peer_(peer) {}

  /// Throws NoRoom, or std::runtime_error, with the driver's message.
  void run(PciDevice& dev, verbs::Context& context, uint16_t port);

  /// Records a write of the device to its host; called in order.
  void on_write(const sim::DmaWrite& w);

  const std::vector<Stored>& stored() const { return stored_; }
  /// Differences in memory, receives and start-up, and a replay that stands still.
  const std::vector<std::string>& wrong() const { return wrong_; }
  /// Set if the connection has not ended as the listing's `expect` says. That is often the reason
  /// for the other differences.
  const std::optional<std::string>& wrong_end() const { return wrong_end_; }
  // Completions in error, the end of the connection.
  const std::vector<std::string>& events() const { return events_; }
  /// How many comparisons were made.
  uint64_t checks() const { return checks_; }
  /// The listing's STags of our regions, to the device's.
  const std::map<uint32_t, uint32_t>& stags() const { return stags_; }

 private:
  static constexpr uint8_t kUntouched = 0xee;  // fills the receives before the start

  void set_up(PciDevice& dev, verbs::Context& context);
  bool start(PciDevice& dev, verbs::Context& context, uint16_t port);  // false: the replay is over
  std::optional<verbs::ConnRequest> await_request(PciDevice& dev, verbs::Listener& listener);
  bool refused(bool by_us, const std::string& what, const std::string& why);
  size_t unanswered() const;
  bool beyond() const;
  void exchange(PciDevice& dev);
  void finish(PciDevice& dev, verbs::Context& context);
  bool caught_up() const;
  void post_due();
  void make_regions(PciDevice& dev, verbs::Context& context);
  void keep_unlisted_unknown();
  void post_receives(size_t step);
  void post_due_receives(Time now);
  void await_end(PciDevice& dev);
  void check_end(bool is_closed);
  void post(size_t step);
  void poll();
  void check_receive(size_t which, const verbs::Wc& wc);
  void check_memory();
  void check_writes(size_t region);
  bool may_end_early(const Region& r) const;

  const Plan& plan_;
  ReplayPeer& peer_;
  verbs::Cq cq_;
  verbs::Pd pd_;
  std::map<uint32_t, verbs::Pd> domains_;  // by Region::domain, except 0
  std::vector<DmaBuffer> buffers_;         // of the regions
  DmaBuffer source_, sink_;                // payloads of our messages; receives
  std::vector<uint64_t> source_at_, sink_at_;
  std::vector<verbs::Mr> mrs_;
  verbs::Mr source_mr_, sink_mr_;
  verbs::Qp qp_, stranger_;  // stranger_: for STags that are bound to another connection
  verbs::Connection connection_;
  std::map<uint32_t, uint32_t> stags_;

  size_t posted_ = 0;           // steps below this have been posted
  size_t receives_posted_ = 0;  // of Plan::posts
  // post_at_: when the next due receive is posted. play_at_: when the peer continues after a post.
  // 0: not yet known.
  Time post_at_ = 0, play_at_ = 0;
  // sends_, completed_: requests posted, completed. received_: receives completed. reads_done_,
  // posted_reads_: Reads and Flushes completed, posted.
  size_t sends_ = 0, completed_ = 0, received_ = 0, reads_done_ = 0, posted_reads_ = 0;
  std::vector<std::vector<Region::Write>> written_;  // by on_write(), per region
  uint64_t checks_ = 0;
  bool failed_ = false;
  std::vector<Stored> stored_;
  std::vector<std::string> wrong_, events_;
  std::optional<std::string> wrong_end_;
};

}  // namespace rnic::app
