// Executes commands of the privileged resource manager (RFC 5040 section 5.2, architecture 4).
// Admin fetches one command at a time from the command ring, checks its fields before the first
// change, passes the command to its unit and writes the response. RTL: rtl/admin/admin.sv
//
//   Admin admin(sizes, out);   admin.configure(cfg);   admin.doorbell({index});
//   out.read(r) ... admin.data(d);      out.command(Admin::Unit::kQp, cmd) ... admin.answer(rsp);
//
// A command is one sequence with waits, written as the coroutine run().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admin/ranges.hpp"
#include "admin/task.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

class Admin {
 public:
  enum class Unit : uint8_t { kQp, kCq, kTpt, kConn };
  struct Out {
    virtual ~Out() = default;
    virtual void admin_rd_req(const MemRead& read) = 0;         // Admin::data() follows
    virtual void admin_wr(const spec::AdminWr& wr) = 0;         // a response, or streaming bytes
    virtual void command(Unit unit, const spec::Cmd& cmd) = 0;  // Admin::answer() follows
    virtual void pbl_wr(const spec::PblWr& wr) = 0;             // a page-list entry, to tpt
    virtual void raw_tx(RawBytes bytes) = 0;                    // streaming bytes, to llp_if
    /// An operation of admin_ranges: the next output is later by its cycles.
    virtual void walked(const Ranges::Walk& /*walk*/) {}
  };
  Admin(const spec::Sizes& sizes, Out& out);

  void configure(const spec::DevCfg& cfg);
  void doorbell(const spec::AdminDoorbell& db);
  void data(MemData d) { data_.give(std::move(d)); }            // response to admin_rd_req
  void answer(const spec::CmdRsp& rsp) { answer_.give(rsp); }   // response to command
  void raw_rx(RawBytes bytes) { raw_.give(std::move(bytes)); }  // streaming bytes for a conn_give
  bool fatal() const { return fatal_; }                         // a read of the ring has failed
  bool in_hand() const { return in_hand_; }        // a fetched command has no response yet
  uint64_t answered() const { return answered_; }  // since reset
  std::string waiting_for() const;

 private:
  using Status = spec::AdminStatus;
  struct PdState {
    bool exists = false;
    uint32_t uses = 0;
  };
  struct Used {  // an EQ or a CQ
    bool exists = false;
    uint32_t uses = 0;
    uint8_t eqn = 0;
  };
  struct QpState {  // a QP or an SRQ
    bool exists = false, is_srq = false, has_srq = false;
    uint16_t pd = 0, send_cq = 0, recv_cq = 0, srq = 0;
    uint32_t uses = 0;  // of an SRQ: QPs that take their receives from it
  };

  /// The create_mr of a page list. A long list is read in parts, by repeated commands. Only a
  /// command that is equal in these fields continues it.
  struct List {
    uint16_t cookie = 0;  // the driver's number of the command; a repetition has the same
    uint32_t slot = 0;
    uint64_t page_list = 0;
    uint32_t pages = 0, pbl_base = 0;
    uint8_t log_page = 0;
    bool operator==(const List&) const = default;
  };
  /// The one long list that waits for its next create_mr.
  struct Kept {
    List list;
    uint64_t at = 0;           // bytes of the list that were read in this pass
    bool writes = false;       // the second pass: all entries were checked, now they are written
    uint32_t turned_away = 0;  // answers to other long lists since it was continued
  };
  enum class Plan : uint8_t {
    kClaim,     // claim the ranges, read the page list from its begin
    kContinue,  // the kept list is this command's: read on
    kTurnAway   // answer in_progress
  };

  Task run();
  Plan plan(const List& list, bool has_list);
  void forget();
  bool claim(const Ranges::Walk& walk, spec::CmdRsp& rsp);  // sets rsp; false: in_use
  void respond(const spec::AdminCmd& cmd, const spec::CmdRsp& rsp);
  Status check(const spec::AdminCmd& cmd) const;
  Status check_object(const spec::AdminCmd& cmd) const;
  Status check_ring(const spec::AdminRingArgs& a, bool is_eq) const;
  Status check_qp(const spec::AdminQpArgs& a) const;
  Status check_srq(const spec::AdminSrqArgs& a) const;
  Status check_modify(const spec::AdminModifyArgs& a) const;
  Status check_mr(const spec::AdminMrArgs& a) const;
  void commit(const spec::AdminCmd& cmd, const spec::CmdRsp& rsp);
  // Address of a ring's entry: `entry` is its size in bytes.
  uint64_t place(uint64_t base, uint32_t entry, uint16_t index) const {
    return base + uint64_t{entry} * (index & ((1U << cfg_.admin_log_size) - 1));
  }
  MemRead read_of(uint64_t address, uint32_t length) const {
    return {.purpose = Purpose::kAdmin, .qpn = 0, .address = address, .length = length};
  }

  spec::Sizes sizes_;
  Out& out_;
  spec::DevCfg cfg_;
  uint16_t producer_ = 0, next_ = 0;  // command ring: the doorbell's index, the next command
  bool fatal_ = false, in_hand_ = false;
  uint64_t answered_ = 0;
  std::vector<PdState> pds_;
  std::vector<Used> eqs_, cqs_;
  std::vector<QpState> qps_;
  Ranges ranges_;
  std::optional<Kept> kept_;

  // What run() waits for: a doorbell, data of a read, a unit's response, streaming bytes of the
  // peer. waits_for_ names it for a message.
  Answer<bool> rung_;
  Answer<MemData> data_;
  Answer<spec::CmdRsp> answer_;
  Answer<RawBytes> raw_;
  const char* waits_for_ = nullptr;
  Task loop_;  // last member: it refers to the others
};

}  // namespace rnic::model
