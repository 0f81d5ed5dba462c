// One thread of one host's part of a plan, over the driver's API. Runs the lives of its slots one
// after the other: posts, polls completions, compares each with the plan, and compares memory with
// the reference.
//
//   Shared shared;   // of both hosts: data that real programs would exchange out of band
//   simulation.start(1, "server", [&](PciDevice& dev) {
//     Host(dev, plan, want, kServer, 0, manager, shared).run();
//   });
//
// The first deviation from the plan ends the run; shared.failure describes it.
//
// A lane goes through these phases. Each side publishes the events that the other side waits for:
//
//   waiting -> open -> running -> ending -> draining -> over
//
//   open      make regions and QP, post receives
//   running   post and poll, until both sides have completed all (not if busy)
//   ending    one side closes, aborts or posts the error
//   draining  each work request completes once, with the planned status
//   over      events, cause and memory are compared; QP and regions are destroyed
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "platform/simulation.hpp"
#include "regress/plan.hpp"
#include "rnic/connection.hpp"
#include "rnic/lock.hpp"
#include "rnic/manager.hpp"
#include "run/run.hpp"

namespace rnic::app::regress {

// Base addresses (iova) of the regions that a domain has beside the landing regions: source, the
// region that the peer may not read, and the buffers of an SRQ.
inline constexpr uint64_t kSourceIova = uint64_t{1} << 44, kSmallIova = uint64_t{1} << 45;
inline constexpr uint64_t kSharedIova = uint64_t{1} << 46;
inline constexpr uint64_t kSharedId = 4'000'000;  // wr_id of an SRQ's first receive
// First wr_id of spare receives; of requests that are no operation of the plan.
inline constexpr uint64_t kSpareId = 600'000, kOtherId = 700'000;
inline constexpr Time kAfterwards = 5 * kUs;     // no completion may arrive this long after the end
inline constexpr uint32_t kCplTimeout = 20'000;  // register cpl_timeout, device cycles: 62 us

class Host;

/// The state that one side of a life publishes.
struct Published {
  bool ready = false;  // the QP exists and its first receives are posted
  bool connected = false;
  bool prepared = false;   // all receives are posted, including spare ones
  bool quiet = false;      // all of its requests and receives have completed
  bool is_ending = false;  // it has closed, aborted, or posted the error
  bool over = false;
  // Messages that the peer may have sent in all: planned receives that the device knows of, or with
  // an SRQ the messages that have arrived, and the credit.
  uint64_t receives = 0;
  std::span<const uint8_t> memory{};  // its landing region while it exists
  // Keys: of the landing region, of the source region, of a region without the right to read, of a
  // region in another domain, of a region that was deregistered.
  uint32_t landing = 0, source = 0, unreadable = 0, foreign = 0, stale = 0;
  std::vector<uint32_t> keys{};  // bound STags of its landing region
  /// A loan as last opened: its key, and the address of the landing region's first byte.
  struct Loan {
    uint32_t key = 0;
    uint64_t origin = 0;
  };
  std::vector<Loan> loans{};
  uint32_t opened = 0;  // number of the last reg_mr or bind_mw that has completed
};

struct Shared {
  struct OfSide {
    verbs::Manager* manager = nullptr;
    verbs::Context context;  // if threads share a CQ
    std::vector<std::array<verbs::Cq, 2>> cqs;
    uint32_t done = 0, left = 0;  // threads whose lives are over; that have closed their queues
    std::array<Published, kMaxQps> lane{};
    std::map<uint32_t, Host*> owner;  // by QP number
    std::map<uint32_t, bool> limits;  // by number of an SRQ: its limit is armed
    std::array<Host*, kMaxThreads> hosts{};
    Lock lock;  // of the context, if threads share it
  };
  std::array<OfSide, 2> side{};
  Memory start;  // initial(plan)
  std::string failure;
  // The failure is that no completion arrived in time.
  bool is_stuck = false;
  Time failed_at = 0, connected = 0;  // of the failure, of the first connection; 0: none
  std::optional<Place> wrong{};       // the first wrong byte
  // Called for each completed operation; returns an error or an empty string.
  std::function<std::string(const Operation&)> also{};
  // Adds a fault to the side's root complex.
  std::function<void(Side, const sim::ReadFault&)> spoil{};
  Time progress = 0;         // when a completion, an event or a change of phase last came
  std::set<uint32_t> begun;  // numbers of opened lives, and of operations of which a WQE was posted
  uint64_t posted = 0, completions = 0, bytes_checked = 0, lives = 0, events = 0;
};

class Host {
 public:
  Host(PciDevice& dev, const Plan& plan, const Memory& want, Side side, uint32_t thread,
       const verbs::ManagerSettings& manager, Shared& shared)
      : dev_(dev),
        plan_(plan),
        want_(want),
        side_(side),
        peer_(side == kClient ? kServer : kClient),
        thread_(thread),
        shape_(plan.host[side]),
        settings_(manager),
        shared_(shared),
        own_(shared.side[side]) {
    own_.hosts[thread] = this;
  }
  void run();
  /// Returns a line per QP with its progress.
  std::string standing() const;

 private:
  /// Memory that starts at an offset in its first page.
  struct Region {
    DmaBuffer buffer{};
    uint64_t at = 0, size = 0;
    std::span<uint8_t> bytes() const { return buffer.bytes().subspan(at, size); }
  };
  struct Domain {
    verbs::Pd pd;
    verbs::Mr source, unreadable;
    // Its SRQ, if lives use it. All receives are posted, except while a completion is handled. Each
    // has `slot_bytes` of the region for its pieces, with a gap before and after each.
    Region shared{};
    verbs::Mr shared_mr{};
    verbs::Srq srq{};
    uint32_t slots = 0, message_bytes = 0, slot_bytes = 0;
    bool is_used = false;  // a message has taken a receive
  };
  enum class Phase : uint8_t { kWaiting, kOpen, kRunning, kEnding, kDraining, kOver };
  /// Why a request or receive was posted.
  enum class Kind : uint8_t {
    kPlanned,      // an operation of the plan
    kOffender,     // the request with the planned error
    kBehind,       // after the offender: must not be executed
    kOverflow,     // one of those that fill the CQ that is to overflow
    kLate,         // posted after the end: must be flushed
    kSpare,        // a receive that no message takes
    kAging,        // an empty Write that advances the ring index
    kInvalidation  // the local invalidation after a Read
  };
  /// A work request that is posted and has not completed.
  struct Posted {
    uint64_t id = 0;
    Kind kind = Kind::kPlanned;
    const Operation* op = nullptr;
    bool signaled = true;
  };
  struct Lane {
    uint32_t number = 0;
    const Life* life = nullptr;
    Phase phase = Phase::kWaiting;
    std::vector<const Operation*> sends{};     // what this side posts, in order
    std::vector<const Operation*> incoming{};  // what the peer posts
    std::vector<const Operation*> receives{};  // those of `incoming` that take a receive
    Region landing{};
    uint32_t access = 0;  // of the landing region
    verbs::Mr mr{};
    std::vector<verbs::Mr> keys{};  // bound STags of the landing region
    struct Loan {
      verbs::Mr mr{};           // fast
      verbs::Mw mw{};           // window
      bool is_closing = false;  // its local_inv is outstanding
    };
    std::vector<Loan> loans{};
    uint32_t arrived = 0;  // number of the last of `receives` that has arrived
    verbs::Cq own_cq{};    // of a life whose CQ overflows
    verbs::Qp qp{};
    verbs::Connection connection{};
    std::deque<Posted> sent{}, received{};
    // Counts. posted, completed: of sends. checked_writes: of incoming, those that check_receive()
    // has passed. flushed: of sends, those before the last completed Flush. shared_flushed: flushed
    // receives of an SRQ.
    size_t posted = 0, completed = 0, checked_writes = 0;
    size_t flushed = 0;
    size_t shared_flushed = 0;
    size_t sends_posted = 0, receives_posted = 0, receives_done = 0, spares_posted = 0;
    uint32_t aged = 0;      // empty Writes posted
    size_t overflowed = 0;  // completions polled from the overflowing CQ
    // look() has queried the QP and an STag entry, before this side ends the life. refuse() has
    // posted requests that the driver must refuse.
    bool looked = false, refused = false;
    // A request or a receive has completed with an error: so must all later ones. The late Send is
    // posted. own_cq has reported its overflow; all its entries were polled.
    bool send_failed = false, receive_failed = false, late_posted = false, cq_failed = false,
         cq_emptied = false;
    // Earliest time of the next post, of the next receive, of the next query of the QP by drain().
    // drained_at: when that query first found the QP drained.
    Time rest_until = 0, refill_at = 0, look_at = 0, drained_at = 0;
    // Host::emptied_ when the QP had drained. With an SRQ the number of receives that are still to
    // complete is unknown. So the QP may be destroyed only after one more poll that finds all CQs
    // empty.
    std::optional<uint64_t> emptied{};
    std::vector<verbs::AsyncEvent> events{};
  };
  /// The planned end of a life, as the driver reports it: cause, event (none: no event), and the
  /// layer, type and code of the peer's Terminate (0: none).
  struct Expected {
    uint32_t cause = 0;
    std::optional<verbs::EventType> event{};
    uint16_t peer_term = 0;
  };

  /// Takes the context's lock if threads share the context. Posting and polling need no lock.
  class Hold {
   public:
    explicit Hold(Host& h) : host_(h), takes_(h.shape_.shared_cq && !h.holds_) {
      if (takes_) host_.own_.lock.lock(host_.dev_);
      host_.holds_ = host_.holds_ || takes_;
    }
    ~Hold() {
      if (!takes_) return;
      host_.holds_ = false;
      host_.own_.lock.unlock(host_.dev_);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Host& host_;
    bool takes_;
  };
  bool is_drained(const Lane& lane) const;

  [[nodiscard]] Result<void> body();
  [[nodiscard]] Result<void> open();
  /// Makes the CQs. `of_all`: for the QPs of all threads, else only for those of this thread.
  [[nodiscard]] Result<void> open_queues(verbs::Context& context,
                                         std::vector<std::array<verbs::Cq, 2>>& cqs, bool of_all);
  [[nodiscard]] Result<void> open_lane(Lane& lane);
  [[nodiscard]] Result<verbs::Mr> open_region(const verbs::Pd& pd, Region& region, uint64_t iova,
                                              uint32_t access);
  [[nodiscard]] Result<void> connect(Lane& lane);
  [[nodiscard]] Result<void> accept();
  [[nodiscard]] Result<void> step(Lane& lane);
  [[nodiscard]] Result<void> end(Lane& lane);
  [[nodiscard]] Result<void> drain(Lane& lane);
  [[nodiscard]] Result<void> finish(Lane& lane, const verbs::QpInfo& info);
  [[nodiscard]] Result<void> post(Lane& lane);
  [[nodiscard]] Result<void> open_loans(Lane& lane);
  bool may_post(const Lane& lane, const Operation& op) const;
  [[nodiscard]] Result<void> put_loan(Lane& lane, const Operation& op, verbs::SendWr& wr);
  [[nodiscard]] Result<void> age(Lane& lane);
  [[nodiscard]] Result<void> post_wrong(Lane& lane);
  void put_atomic(const Lane& lane, verbs::SendWr& wr, verbs::Sge& local) const;
  [[nodiscard]] Result<void> refuse(Lane& lane);
  [[nodiscard]] Result<void> post_one(Lane& lane, Kind kind, const verbs::SendWr& wr);
  [[nodiscard]] Result<void> post_receives(Lane& lane);
  [[nodiscard]] Result<void> open_srq(uint32_t number);
  [[nodiscard]] Result<void> close_srq(Domain& d);
  static std::vector<Piece> slot_pieces(const Domain& d, uint32_t slot);
  [[nodiscard]] Result<void> post_shared(Domain& d, uint32_t slot);
  [[nodiscard]] Result<void> take_shared(Lane& lane, const verbs::Wc& wc);
  [[nodiscard]] Result<void> check_slot(const Lane& lane, uint32_t slot, const Operation* op,
                                        bool is_cut);
  [[nodiscard]] Result<void> check_receive(Lane& lane, const verbs::Wc& wc, const Operation& op);
  [[nodiscard]] Result<size_t> poll();
  [[nodiscard]] Result<void> take(const verbs::Wc& wc);
  [[nodiscard]] Result<void> take_send(Lane& lane, const verbs::Wc& wc);
  static uint32_t received_length(const Lane& lane, const Operation& op);
  [[nodiscard]] Result<void> take_receive(Lane& lane, const verbs::Wc& wc);
  [[nodiscard]] Result<void> succeed(Lane& lane, const Posted& p, const verbs::Wc& wc);
  [[nodiscard]] Result<void> take_events();
  [[nodiscard]] Result<void> sleep();
  [[nodiscard]] Result<void> ask(const Operation& op) const;  // calls Shared::also
  /// Compares bytes of the own landing region with the plan. `when` and `op`: for the message.
  [[nodiscard]] Result<void> compare(const Lane& lane, const Piece& piece, const Operation& op,
                                     std::string_view when);
  [[nodiscard]] Result<void> compare_flushed(Lane& lane, const Operation& flush);
  [[nodiscard]] Result<void> compare_word(const Lane& lane, const Operation& op,
                                          std::string_view when);
  /// `is`: the landing region as it is.
  std::vector<uint8_t> planned(Side side, const Lane& lane, const Piece& piece,
                               std::span<const uint8_t> is) const;
  [[nodiscard]] Result<void> compare_all(const Lane& lane);
  [[nodiscard]] Result<void> look(const Lane& lane);
  [[nodiscard]] Result<void> progress();
  [[nodiscard]] Result<void> count_bad_reads();
  void spoil(const Lane& lane, uint64_t bus, uint64_t bytes);
  /// `in_landing`: in the landing region, else in the source region. `pointer`: with the address of
  /// the bytes in this process, for inline data.
  verbs::Sge sge(const Lane& lane, const Piece& p, bool in_landing, bool pointer) const;
  bool all_over() const;
  bool overflows(const Lane& lane) const {
    return lane.life->end == End::kFault && lane.life->fault == Fault::kCqOverflow &&
           lane.life->who == side_;
  }
  /// True, on both sides, for a busy end: requests of the peer are in flight, so this side's memory
  /// may hold only a part of them.
  bool is_victim_of(const Lane& lane) const { return lane.life->busy && !lane.life->closes(); }
  verbs::WcStatus status_of(const Lane& lane, Kind kind, bool receive) const;  // by the plan
  Expected expected(const Lane& lane) const;
  /// True if the end may flush planned requests of this side (`receives`: planned receives). After
  /// an error, these are the requests of the other side and the receives of the side that posted
  /// it.
  bool is_cut(const Lane& lane, bool receives) const;
  Published& mine(const Lane& lane) { return own_.lane[lane.number]; }
  const Published& theirs(const Lane& lane) const { return shared_.side[peer_].lane[lane.number]; }
  // A plan numbers domains from 0. A smaller plan (shrink) may have fewer, hence the modulo.
  Domain& domain(const Lane& lane) { return domains_[lane.life->pd[side_] % domains_.size()]; }
  const Domain& domain(const Lane& lane) const {
    return domains_[lane.life->pd[side_] % domains_.size()];
  }

  PciDevice& dev_;
  const Plan& plan_;
  const Memory& want_;
  Side side_, peer_;
  uint32_t thread_;
  const HostShape& shape_;
  verbs::ManagerSettings settings_;
  Shared& shared_;
  Shared::OfSide& own_;
  std::unique_ptr<verbs::Manager> manager_;  // of thread 0
  verbs::Context context_;
  std::vector<std::array<verbs::Cq, 2>> cqs_;
  Region source_, small_;  // small_: memory of Domain::unreadable
  std::vector<Domain> domains_;
  std::optional<verbs::Listener> listener_;
  std::deque<Lane> lanes_;
  std::deque<verbs::Wc> inbox_;  // completions of our QPs that another thread polled
  uint64_t emptied_ = 0;         // polls that have left all CQs empty
  bool is_armed_ = false, holds_ = false;
};

/// Starts all threads of both sides. `plan`, `want` and `shared` must outlive the simulation.
void start_hosts(sim::Simulation& simulation, const Plan& plan, const Memory& want, Shared& shared);

}  // namespace rnic::app::regress
