// Translation and protection: all checks of an STag, and its bus addresses. RFC 5040 section 5.2,
// RFC 5041 section 5.1, requirements.md section 7. RTL: rtl/tpt/tpt.sv
//
//   Tpt tpt(sizes, out);   tpt.set_key(key);   tpt.command(cmd);
//   tpt.check({stag, to, length, pd, qpn, rights});       // returns a result
//   tpt.translate({...}, extents);                        // a result; on kOk also the bus extents
//
// Lookups are calls here; the wrapper of the caller charges their cycles. retired() reports that an
// extent of translate() is no longer used.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "sc/ring.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

/// Requests of the other units. check(): wqe_check, resp_check. translate(): tx_xlate, rx_xlate,
/// qn1_xlate.
class Translation {
 public:
  virtual ~Translation() = default;
  virtual spec::TptResult check(const spec::WqeCheck& c) const = 0;
  virtual spec::TptResult translate(const spec::WqeCheck& c, ExtentList& out) = 0;
  virtual void retired(const spec::Retired& r) = 0;
};

class Tpt final : public Translation {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) = 0;
    virtual void invalidated(const spec::Invalidated& inv) = 0;
    virtual void sq_local_done(const spec::SqLocalDone& inv) = 0;
    /// The entry for which the last claim() or bind() waits has drained: call it again.
    virtual void claimable() {}
  };
  Tpt(const spec::Sizes& sizes, Out& out);

  void set_key(uint64_t stag_key);
  /// Executes create_mr, query_mr, destroy_mr. destroy_mr closes the region at once. It returns
  /// in_progress while extents of the region are in flight; issued again, it returns ok when none
  /// is left. A query_mr with pages or a window in its arguments is internal to admin: its object
  /// is a slot, and ok means that the slot is in use.
  void command(const spec::TptCmd& cmd) { command(cmd, !drained(cmd)); }
  /// For tandem, where the RTL decides: `waits` makes destroy_mr return in_progress.
  void command(const spec::TptCmd& cmd, bool waits);
  /// No extent is in flight through the region that a destroy_mr names.
  bool drained(const spec::TptCmd& cmd) const;
  /// For a Send with Invalidate: closes an entry, as destroy_mr does, but keeps its slot in use
  /// until destroy_mr. Out::invalidated() follows, in the order of the calls, when no extent is in
  /// flight that was issued before. An entry that is not open, or has windows, is left as it is.
  void invalidate(const spec::Invalidate& inv) { invalidate(inv.stag, {}); }
  /// The same for a local invalidation of the send queue; Out::sq_local_done() follows. If the
  /// region has windows, its result is kBind (refused).
  void invalidate(const spec::SqLocal& inv) {
    invalidate(inv.stag, spec::SqLocalDone{.qpn = inv.qpn, .slot = inv.slot});
  }
  /// The request is a local invalidation, neither a fast registration nor a bind.
  static bool is_invalidation(const spec::SqLocal& r) { return r.is_reg == 0 && r.is_bind == 0; }
  /// The object of this command is a slot, not an STag.
  static bool names_slot(const spec::TptCmd& cmd);
  void pbl_wr(const spec::PblWr& wr) { pbl_[wr.index] = wr.address; }  // writes a page-list entry

  // Fast registration: a WQE registers memory under an STag that a create_mr with `fast` keeps.
  // Call claim(), then list() for each read of the page list, then end(). No command and no
  // invalidation changes the entry between claim() and end().
  static constexpr uint32_t kPageEntry = sizeof(uint64_t);  // bytes of a page-list entry
  struct Registration {
    Registration() = default;
    explicit Registration(const spec::SqLocal& r)
        : request(r), operands(spec::RegOperands::unpack(r.operands)) {}
    spec::SqLocal request;
    spec::RegOperands operands;
    uint32_t listed = 0;  // entries of the page list that list() has taken
    bool is_aligned = true;
    spec::RdStatus status = spec::RdStatus::kOk;  // of the first read that failed

    /// An entry of the list is not aligned to the page size, or a read failed.
    bool fails() const { return !is_aligned || status != spec::RdStatus::kOk; }
    /// The read of the page list that starts with entry `first`: at most 4096 bytes.
    MemRead read(uint32_t first) const;
    /// The report sq_local_done of this registration, after list() has taken all entries.
    spec::SqLocalDone done() const;
  };
  enum class Claim : uint8_t {
    kClaimed,
    kRefused,  // the request fails: refused() is its sq_local_done
    kWaits     // accesses are in flight: Out::claimable() follows, perhaps before the call returns
  };
  Claim claim(const Registration& r);
  static spec::SqLocalDone refused(const Registration& r) {
    return {.qpn = r.request.qpn, .slot = r.request.slot, .result = spec::TptResult::kBind};
  }
  /// Takes the data of the next read. Writes its entries to the page list unless r fails.
  void list(Registration& r, const MemData& data);
  /// Opens the region. If r fails, the entry stays closed, and free for the next registration.
  void end(const Registration& r) { r.fails() ? give_up(r) : open(r); }

  // Memory windows: a WQE binds an STag that a create_mr with `window` keeps to a range of a
  // region, for the peer. Length 0 unbinds it.
  struct Binding {
    Binding() = default;
    explicit Binding(const spec::SqLocal& r)
        : request(r), operands(spec::BindOperands::unpack(r.operands)) {}
    spec::SqLocal request;
    spec::BindOperands operands;
  };
  /// kClaimed: the window is bound or unbound; bound() is its sq_local_done. kWaits also if the
  /// window was bound: it is closed now. Call bind() again after claimable(); it checks all anew.
  Claim bind(const Binding& b);
  static spec::SqLocalDone refused(const Binding& b) {
    return {.qpn = b.request.qpn, .slot = b.request.slot, .result = spec::TptResult::kBind};
  }
  static spec::SqLocalDone bound(const Binding& b) {
    return {.qpn = b.request.qpn, .slot = b.request.slot};
  }

  /// wqe_check and resp_check. Refuses a window as a local key. (A request without rights is the
  /// check of a local key.)
  spec::TptResult check(const spec::WqeCheck& c) const override;
  spec::TptResult translate(const spec::WqeCheck& c, ExtentList& out) override;
  void retired(const spec::Retired& r) override;

  /// The upper 24 bits of an STag are a keyed permutation of {generation, slot}. invert() is its
  /// inverse.
  uint32_t permute(uint32_t value) const;
  uint32_t invert(uint32_t value) const;
  uint32_t slot_of(uint32_t stag) const;
  // The state of an entry, for the tandem and for TptUnit.
  /// A destroy_mr of this STag names an open region.
  bool is_open(uint32_t stag) const {
    const Entry& e = entries_[slot_of(stag) % entries_.size()];
    return e.valid && is_destroyed_by(e, stag);
  }
  /// This STag names a window that is bound, perhaps with other low 8 bits.
  bool is_bound(uint32_t stag) const {
    const Entry& e = entries_[slot_of(stag) % entries_.size()];
    return e.window != 0 && e.valid && e.stag >> 8 == stag >> 8;
  }
  /// A destroy_mr of this STag names a region to which windows are bound.
  bool has_windows(uint32_t stag) const {
    const Entry& e = entries_[slot_of(stag) % entries_.size()];
    return e.windows != 0 && is_destroyed_by(e, stag);
  }
  /// A destroy_mr of this STag names a registration in progress.
  bool is_claimed(uint32_t stag) const {
    const Entry& e = entries_[slot_of(stag) % entries_.size()];
    return e.claimed && is_destroyed_by(e, stag);
  }

  uint8_t epoch() const { return epoch_ & 1; }   // the bit that extents carry
  uint64_t lookups() const { return lookups_; }  // since reset
  uint64_t extents() const { return extents_; }  // since reset
  std::string waiting_for() const;

 private:
  struct Entry {
    // valid: open. closing: closed, and its slot still in use. Neither: the slot is free.
    bool valid = false, closing = false;
    bool invalidated = false;  // closed, but not by destroy_mr: waits for destroy_mr or a claim
    bool fast = false;         // kept for fast registrations
    bool claimed = false;      // a registration in progress has claimed it
    uint8_t window = 0;        // a memory window of this type (1 or 2); 0: a region
    uint32_t region = 0;       // of an open window: the slot of its region
    uint32_t windows = 0;      // of a region: open windows that are bound to it
    uint8_t log_room = 0;      // fast: the entry owns 2^log_room entries of the page list
    bool bound = false;        // only QP qpn may use it
    uint16_t qpn = 0;
    uint16_t closed_in = 0;  // epoch of the close
    uint32_t stag = 0, generation = 0;
    uint16_t pd = 0, rights = 0;
    uint8_t log_page = 12;
    uint64_t base_to = 0, length = 0;
    uint32_t first_offset = 0, pbl_base = 0;
  };
  const Entry* find(uint32_t stag) const;  // the open entry with exactly this STag, or null
  /// A destroy_mr of this STag names the entry. The low 8 bits change with every registration or
  /// bind, so they are ignored for these.
  static bool is_destroyed_by(const Entry& e, uint32_t stag) {
    return e.stag == stag || ((e.fast || e.window != 0) && e.stag >> 8 == stag >> 8);
  }
  bool may_bind(const Entry& e, const Binding& b) const;
  bool has_drained_or_waits(const Entry& e);
  void uncount(const Entry& e);
  void close(Entry& e);
  void open(const Registration& r);
  void give_up(const Registration& r);
  void keep(Entry& e);
  spec::CmdRsp destroy(Entry& e, bool waits);
  uint64_t& old_in_flight() { return in_flight_[(epoch_ + 1) & 1]; }  // of the previous epoch
  void turn();
  void invalidate(uint32_t stag, std::optional<spec::SqLocalDone> of);
  void release();
  bool has_drained(uint16_t epoch) const;
  static spec::TptResult judge(const Entry* e, const spec::WqeCheck& c);  // all checks of a lookup
  spec::CmdRsp create(uint32_t slot, const spec::AdminMrArgs& a);

  Out& out_;
  uint32_t slot_bits_ = 0;
  static constexpr uint32_t kRounds = 16;
  std::array<uint32_t, kRounds> round_keys_{};
  std::vector<Entry> entries_;
  std::vector<uint64_t> pbl_;
  struct Memo {  // cache of inversions: valid until set_key()
    uint32_t upper = ~0U, slot = 0;
  };
  mutable std::vector<Memo> memo_;
  mutable uint64_t lookups_ = 0;
  uint64_t extents_ = 0;
  // An extent carries the low bit of the epoch in which it was issued. The epoch advances when an
  // entry was closed in it and no extent of the previous epoch is left, so two counts suffice.
  uint16_t epoch_ = 0;                   // its low bit selects the count for new extents
  std::array<uint64_t, 2> in_flight_{};  // extents issued and not retired, by epoch
  bool turn_due_ = false;  // an entry was closed in the current epoch, or waits for its end
  uint32_t closing_ = 0;   // regions that a destroy_mr has closed and not freed
  struct Note {
    uint16_t epoch = 0;
    uint32_t stag = 0;
    std::optional<spec::SqLocalDone> of;  // of the send queue: its report; none: of the peer
  };
  Ring<Note> notes_;                     // invalidations that wait for extents in flight
  std::optional<uint16_t> claim_waits_;  // epoch that a claim waits for
};

}  // namespace rnic::model
