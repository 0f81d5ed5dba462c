// The cases that random plans (sim/app/regress/plan.hpp) do not cover: errors and events. Each case
// has a separate connection. The two hosts cause the errors in turn, so that a device meets each
// kind of error on either side.
//
//   StoryShared shared;
//   simulation.start(0, "client",
//                    [&](PciDevice& dev) { Story(dev, 0, errors_and_events(), shared).run(); });
//
// The first deviation from a case ends the run; shared.failure describes it.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "damage.hpp"
#include "rnic/connection.hpp"
#include "rnic/manager.hpp"

namespace rnic::mutants {

constexpr uint64_t kBytes = 16384, kIova = uint64_t{1} << 33;  // of a side's buffer
constexpr uint64_t kLand = kBytes - 8000;                      // 8000 bytes after the receives
constexpr uint64_t kReceive = 10;  // a wr_id from here on is that of a receive
constexpr Time kPatience = 100 * kUs;
constexpr Time kShort = 4 * kUs;  // longer than anything that is in flight takes to arrive

enum class Case : uint8_t {
  kSolicited,    // completion events: any, solicited only, none
  kNoRight,      // a Write to a region without the right
  kNoReceive,    // a Send that finds no receive
  kTooLong,      // a Send longer than its receive
  kReadBounds,   // a Read beyond its source
  kReadNoStag,   // a Read of an STag with another key
  kBadLocalKey,  // a Send from a region that does not exist
  kAbort,        // one side ends its QP with posted work
  kMoved,        // a closed region's slot is reused; both its keys are tried
  kOtherPd,      // a Write to a region of another protection domain
  kUnderFire,    // a region is closed while the peer writes to it
  kOverrun,      // Sends overrun a completion queue that is not polled
  kOrder,        // a Read returns the data of the Write before it; a later Write completes first
  kBadPayload,   // unreadable memory: the payload to be sent
  kBadFetch,     // unreadable memory: a work request
  kBadSource,    // unreadable memory: the source of the peer's Read
  kUnderRead,    // a region is closed while the peer reads from it
  kReadLeft,     // one side ends its QP: a Read is outstanding, the Write after it done
  kLost,         // the peer ends its QP after Writes that are not placed yet
  kNever,        // payload reads get no completion
  kBoth,         // both sides write without the right, at the same time
  kBadAhead,     // a receive fetched ahead of its use is unreadable: it is read again
  kFlush,        // Writes, each with the Flush of its range, in both directions at the same time
  kFlushRight,   // a Flush to persistence of a region that allows only visibility
  kFlushBounds,  // a Flush that ends one byte past its region
  kFlushUnread,  // a Flush whose read-back fails
  kAtomics,      // atomics on two QPs, in both directions at the same time (atomics.cpp)
  kAtomicRight,  // a FetchAdd to a region without the right
  kAtomicAlign,  // a FetchAdd to an unaligned word
  kAtomicRead,   // a FetchAdd to an unreadable word
  kInvalidate,   // invalidations, in both directions at the same time (invalidations.cpp)
  kInvUnbound,   // a Send with Invalidate of an STag that is not bound to a QP
  kInvOther,     // a Send with Invalidate of an STag that is bound to another QP
  kInvGone,      // a Write through an STag that was invalidated before
  kSharedEnd,    // a QP of an SRQ fails, and its peer goes on sending (ends.cpp)
  kRegistering,  // one side ends its QP while the list of a registration is read
  kRefused,      // commands that the device must refuse (refused.cpp)
  kDamaged,      // a record is damaged in flight
  kMany,
};

/// A case, and for a damaged record the damage.
struct Scene {
  Case what = Case::kSolicited;
  Damage damage = Damage::kMany;
  std::string name() const;
};
/// Errors and events, caused by the two sides in turn. Each damage once, to records that one side
/// receives. Commands that a device must refuse.
std::vector<Scene> errors_and_events();
std::vector<Scene> damages();
std::vector<Scene> refusals();

struct StoryShared {
  std::array<uint32_t, 2> step{};  // the step of each side: 16 per scene
  // Keys of a side's regions:
  std::array<uint32_t, 2> open_key{};                // all rights
  std::array<uint32_t, 2> closed_key{};              // Reads only
  std::array<uint32_t, 2> old_key{};                 // closed
  std::array<uint32_t, 2> other_key{};               // of another PD
  std::array<uint32_t, 2> lent_key{};                // bound to a QP
  std::array<std::span<const uint8_t>, 2> memory{};  // per side: its source buffer
  std::array<Damaging*, 2> device{};                 // devices whose received records are damaged
  /// The next `reads` reads of this side's device in a range of bus addresses fail. never: they get
  /// no completion.
  std::function<void(unsigned side, uint64_t from, uint64_t to, uint32_t reads, bool never)>
      spoil{};
  /// Limits the records that this side's device still receives; empty: no limit.
  std::function<void(unsigned side, std::optional<uint32_t> records)> let_in{};
  bool listening = false;
  std::string failure;
  uint64_t checks = 0;
};

/// The program of one side. Each scene makes a QP and connects it. The side that causes the error
/// then runs trouble(), the other side suffer(). At a meet() the sides wait for each other.
class Story {
 public:
  Story(PciDevice& dev, unsigned side, std::vector<Scene> scenes, StoryShared& shared)
      : dev_(dev), side_(side), scenes_(std::move(scenes)), shared_(shared) {}
  void run();

 private:
  struct Wanted {  // one completion, with up to three allowed statuses
    uint64_t id = 0;
    verbs::WcStatus status = verbs::IBV_WC_SUCCESS, or_status = status, or_third = or_status;
    uint32_t invalidated = 0;  // this STag, by a Send with Invalidate
  };
  // The frame of all scenes (story.cpp).
  [[nodiscard]] Result<void> body();  // all scenes, one after the other
  [[nodiscard]] Result<void> open();  // objects that all scenes share: PDs, CQ, regions, listener
  [[nodiscard]] Result<void> act(bool causes, bool pushes);  // one scene
  [[nodiscard]] Result<void> start(verbs::Qp& qp);           // connects the QP of the scene
  [[nodiscard]] Result<void> meet(uint32_t step);
  // Parts of scenes. trouble(), suffer() and their callees are the parts of the two sides; the
  // comment of each is at its definition.
  [[nodiscard]] Result<void> trouble(verbs::Qp& qp);
  [[nodiscard]] Result<void> suffer(verbs::Qp& qp);
  [[nodiscard]] Result<void> damaged_trouble(verbs::Qp& qp);
  [[nodiscard]] Result<void> never_answered(verbs::Qp& qp);
  [[nodiscard]] Result<void> each_other(verbs::Qp& qp);
  // The damaged record is a Terminate. It reports a Read of an STag that does not exist.
  bool hears_terminate() const {
    return now_.what == Case::kDamaged &&
           (now_.damage == Damage::kTermNoLength || now_.damage == Damage::kTermNoHeader);
  }
  // The damaged record travels back to the side that posts the request.
  bool is_response_damaged() const {
    return hears_terminate() ||
           (now_.what == Case::kDamaged && now_.damage == Damage::kOtherResponse);
  }
  /// The QP ends by the peer's Terminate with this code, and these requests complete.
  [[nodiscard]] Result<void> terminated(uint16_t code, std::vector<Wanted> wanted);
  [[nodiscard]] Result<void> solicited(verbs::Qp& qp, bool causes);
  [[nodiscard]] Result<void> move_region();
  [[nodiscard]] Result<void> close_region();
  [[nodiscard]] Result<void> see_write();
  [[nodiscard]] Result<void> leave(verbs::Qp& qp);
  [[nodiscard]] Result<void> overrun();
  [[nodiscard]] Result<void> refused();  // refused.cpp
  [[nodiscard]] Result<void> cleared();  // checks the MSI-X table after reset
  void mask(bool on);                    // both MSI-X vectors
  /// Posts a signaled request; `at`: offset in the peer's region.
  [[nodiscard]] Result<void> post(verbs::Qp& qp, uint64_t id, verbs::WrOpcode op, uint32_t length,
                                  uint32_t rkey = 0, uint64_t at = 0, uint32_t flags = 0);
  [[nodiscard]] Result<void> flush(verbs::Qp& qp, uint64_t id, uint32_t length, uint64_t at,
                                   verbs::PlacementType type = verbs::IBV_FLUSH_GLOBAL);
  [[nodiscard]] Result<void> flush_each_other(verbs::Qp& qp);
  // Atomics (atomics.cpp). `at`: offset of the word in a side's buffer.
  struct Operands {
    uint64_t data = 0, mask = 0, compare = 0, compare_mask = ~uint64_t{0};
  };
  uint64_t word(uint64_t at) const;
  void set_word(uint64_t at, uint64_t value);
  [[nodiscard]] Result<void> atomic(verbs::Qp& qp, uint64_t id, verbs::WrOpcode op, uint64_t at,
                                    const Operands& o, uint32_t key = 0);
  [[nodiscard]] Result<void> becomes(uint64_t at, uint64_t value);
  [[nodiscard]] Result<void> was(uint64_t id, uint64_t value);
  [[nodiscard]] Result<void> atomics(verbs::Qp& qp);
  [[nodiscard]] Result<void> compute(verbs::Qp& qp, verbs::Qp& second);
  [[nodiscard]] Result<void> add_together(verbs::Qp& qp, verbs::Qp& second);
  [[nodiscard]] Result<void> wait_their_turn(verbs::Qp& qp);
  // Invalidations (invalidations.cpp).
  [[nodiscard]] Result<verbs::Mr> lend(verbs::Qp& qp);
  [[nodiscard]] Result<void> invalidate_each_other(verbs::Qp& qp);
  [[nodiscard]] Result<void> invalidate_wrongly(verbs::Qp& qp);
  [[nodiscard]] Result<void> keep_region();
  [[nodiscard]] Result<void> write_too_late(verbs::Qp& qp);
  [[nodiscard]] Result<void> refuse_late(verbs::Qp& qp);
  // Ends (ends.cpp).
  [[nodiscard]] Result<void> send_after_error(verbs::Qp& qp);
  [[nodiscard]] Result<void> keep_receives(verbs::Qp& qp);
  [[nodiscard]] Result<void> end_while_registering(verbs::Qp& qp);
  // Checks of all scenes (story.cpp).
  [[nodiscard]] Result<void> completions(std::vector<Wanted> wanted);
  /// The QP's one event has this cause; peer_term: the code of the peer's Terminate, 0: none.
  [[nodiscard]] Result<void> fatal(uint32_t cause, uint16_t peer_term);

  PciDevice& dev_;
  unsigned side_;
  std::vector<Scene> scenes_;
  StoryShared& shared_;
  Scene now_;
  uint32_t number_ = 0;  // of the scene
  std::unique_ptr<verbs::Manager> manager_;
  verbs::Context context_;
  verbs::Pd pd_, other_pd_;
  verbs::Cq cq_;
  DmaBuffer buffer_;
  verbs::Mr open_, closed_, other_;
  std::optional<verbs::Listener> listener_;
};

}  // namespace rnic::mutants
