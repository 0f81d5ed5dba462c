// Translation and protection: all checks of an STag, and its bus addresses. RFC 5040 section 5.2,
// RFC 5041 section 5.1, requirements.md section 7. RTL: rtl/tpt/tpt.sv
//
//   Tpt tpt(sizes, out);   tpt.set_key(key);   tpt.command(cmd);
//   tpt.check({stag, to, length, pd, rights});            // returns a result
//   tpt.translate({...}, extents);                        // a result; on kOk also the bus extents
//
// Lookups are calls here; the wrapper charges their cycles. retired() returns an extent after its
// use.
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

/// Requests of the other units: wqe_check, resp_check (both only check), tx_xlate, rx_xlate.
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
  };
  Tpt(const spec::Sizes& sizes, Out& out);

  void set_key(uint64_t stag_key);
  /// Executes create_mr, query_mr, destroy_mr. destroy_mr closes the region at once. It returns
  /// in_progress while extents of the region are in flight; issued again, it returns ok when none
  /// is left. A query_mr with pages in its arguments is internal to admin: its object is a slot,
  /// and ok means that the slot is in use.
  void command(const spec::TptCmd& cmd) { command(cmd, !drained(cmd)); }
  /// For tandem, where another device decides: `waits` makes destroy_mr return in_progress.
  void command(const spec::TptCmd& cmd, bool waits);
  /// No extent is in flight through the region that a destroy_mr names.
  bool drained(const spec::TptCmd& cmd) const;
  /// Closes an entry, as destroy_mr does, but keeps its slot for destroy_mr. Out::invalidated()
  /// follows when no extent is in flight that was issued before, in the order of the calls. An
  /// entry that is not open is left as it is.
  void invalidate(const spec::Invalidate& inv) { invalidate(inv.stag, {}); }
  /// The same for the send queue; Out::sq_local_done() follows.
  void invalidate(const spec::SqLocal& inv) {
    invalidate(inv.stag, spec::SqLocalDone{.qpn = inv.qpn, .slot = inv.slot});
  }
  void pbl_wr(const spec::PblWr& wr) { pbl_[wr.index] = wr.address; }

  spec::TptResult check(const spec::WqeCheck& c) const override;
  spec::TptResult translate(const spec::WqeCheck& c, ExtentList& out) override;
  void retired(const spec::Retired& r) override;

  /// The upper 24 bits of an STag are a keyed permutation of {generation, slot}. invert() is its
  /// inverse.
  uint32_t permute(uint32_t value) const;
  uint32_t invert(uint32_t value) const;
  uint32_t slot_of(uint32_t stag) const;

  uint8_t epoch() const { return epoch_ & 1; }   // the bit that extents carry
  uint64_t lookups() const { return lookups_; }  // since reset
  uint64_t extents() const { return extents_; }
  std::string waiting_for() const;

 private:
  struct Entry {
    bool valid = false, closing = false;
    bool invalidated = false;  // closed by invalidate(): waits for its destroy_mr
    bool bound = false;        // only QP qpn may use it
    uint16_t qpn = 0;
    uint8_t closed_in = 0;  // epoch of the close
    uint32_t stag = 0, generation = 0;
    uint16_t pd = 0, rights = 0;
    uint8_t log_page = 12;
    uint64_t base_to = 0, length = 0;
    uint32_t first_offset = 0, pbl_base = 0;
  };
  const Entry* find(uint32_t stag) const;
  spec::CmdRsp destroy(Entry& e, bool waits);
  uint64_t& old_in_flight() { return in_flight_[(epoch_ + 1) & 1]; }
  void turn();
  void invalidate(uint32_t stag, std::optional<spec::SqLocalDone> of);
  void release();
  bool has_drained(uint8_t epoch) const;
  static spec::TptResult judge(const Entry* e, const spec::WqeCheck& c);
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
  uint8_t epoch_ = 0;                    // modulo 4, as in the RTL
  std::array<uint64_t, 2> in_flight_{};  // extents issued and not retired, by epoch
  bool turn_due_ = false;
  uint32_t closing_ = 0;  // closing regions
  struct Note {
    uint8_t epoch = 0;
    uint32_t stag = 0;
    std::optional<spec::SqLocalDone> of;  // of the send queue; else of the peer
  };
  Ring<Note> notes_;  // invalidations that wait for extents in flight
};

}  // namespace rnic::model
