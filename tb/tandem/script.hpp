// A hand-written life of one device, as an Observer sees it, step by step: commits, bytes in and
// out. The model computes none of the expected output: records, completions and responses are built
// from the specification.
//
//   Script s;   s.set_up();   s.send(...);         std::string difference = s.run();
//   s["the record of the Send"].as<RecordOut>().r.data = ...     change one step, and run again
//
// Numbers in the commits (docs/gen/commits.md has all):
//   llp_rule source   0 a Terminate was sent, 2 event of the LLP, 5 order of qp, 6 command of admin
//   rdmap_op op       0 order, 3 a request failed, 4 verdict, 6 responder's slot free, 7 WQE
//   qp_retire op      0 sent, 1 Read or local request done, 2 received, 4 look, 5 mark, 6 flush
//   qp_state bits     1 error, 4 closed, 16 Terminate sent, 32 send queue empty; 2, 8 peer closed,
//                     lost
//   tpt_check client  0 rx, 1 tx, 2 wqe, 3 resp
//   cq_op op          0 doorbell, 1 command, 2 completion
//   tpt_change of_reg 1 claimed, 3 opened (of a registration); others: script_window.cpp
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "gen/iwarp.hpp"
#include "gen/queues.hpp"
#include "tandem/follower.hpp"

namespace rnic::sim {

struct RecordOut {
  Record r;
};
struct RecordIn {
  Record r;
};
struct Response {
  uint64_t value = 0;
};

/// One event: a commit of the RTL, or an item at one of its ports.
struct Step {
  std::string label;
  std::variant<spec::AnyCommit, DmaWrite, DmaRead, DmaPiece, Mmio, RecordOut, RecordIn, Response,
               spec::LlpCtlEvt, spec::LlpCredit, spec::LlpCtlReq, spec::PcieCfg>
      what;
  uint64_t cycles = 1;  // since the previous step
  uint64_t waited = 0;  // of these cycles: those in which the host stalls the next write
  template <class T>
  T& commit() {
    return std::get<T>(std::get<spec::AnyCommit>(what));
  }
  template <class T>
  T& as() {
    return std::get<T>(what);
  }
};

class Script {
 public:
  // One device: PD 0, EQ 0, CQ 0, QP 3 on connection 2. The region in slot 5 has 8 KiB at TO
  // 0x10000, two pages.
  static constexpr uint16_t kQp = 3, kConn = 2, kSlot = 5;
  static constexpr uint64_t kCmdRing = 0x1000, kRspRing = 0x3000, kEq = 0x5000, kCq = 0x6000,
                            kSq = 0x8000, kRq = 0xa000, kList = 0xc000;
  static constexpr uint64_t kPage0 = 0x100000, kPage1 = 0x300000, kTo = 0x10000, kMsi = 0xfee00000;
  static constexpr uint16_t kMss = 1460, kMulpdu = 1454;  // MSS - 6 (length, CRC) - MSS mod 4

  std::vector<Step> steps;

  /// The first step with this label; the test aborts if none exists.
  Step& operator[](const std::string& label) { return steps.at(at(label)); }
  size_t at(const std::string& label) const;
  void drop(const std::string& label) {
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at(label)));
  }
  void twice(const std::string& label) {
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at(label)), steps[at(label)]);
  }
  void swap(const std::string& a, const std::string& b) { std::swap(steps[at(a)], steps[at(b)]); }

  /// Feeds all steps to a new follower. Returns its first difference, with the step's label, or the
  /// result of its end(); empty: it accepts the script. `look` sees the follower before end().
  std::string run() const;
  std::string run(std::function<void(const Follower&)> look) const;

  // Parts, in the order of a device's life.
  void set_up();                 // device, PD, EQ, CQ, region, QP, connection, QP to rts
  void send();                   // a Send of 100 bytes across the two pages, signalled
  void destroy_while_sending();  // another region is destroyed between the extents of a Send
  void push_write();             // a pushed Write with 5 bytes inline, not signalled
  void receive_write();          // 64 bytes to the region's start
  void receive_send();           // 10 bytes, with SE
  void answer_read();            // the peer reads 16 bytes
  void answer_empty_flush();     // the peer flushes 0 bytes
  void read();                   // we read 32 bytes
  void register_memory();        // of a kept STag; the peer writes; destroyed
  void bind_window();            // type 1: bound, written through, bound anew, unbound, destroyed
  void refuse_bind();            // beyond the region: the QP fails
  void refuse_invalidation();    // of a region with a window: the QP fails
  void refused_write();          // the peer writes past the region's end: a Terminate, flush
  void ask_close();              // until qp orders rdmap to end
  void close();                  // both sides
  void refuse_while_closing();   // an error of the peer replaces rdmap's "nothing left"

  uint32_t stag() const { return stag_; }

 private:
  void add(std::string label, decltype(Step::what) what) {
    steps.push_back({std::move(label), std::move(what)});
  }
  template <class C>
  void commit(std::string label, C c) {
    add(std::move(label), spec::AnyCommit{c});
  }
  void write32(uint32_t offset, uint32_t value);
  void write64(uint32_t offset, uint64_t value);
  /// The doorbell's write, and the commit by which qp (is_qp) or cq takes it.
  void doorbell(std::string label, spec::DoorbellKind kind, uint32_t object, uint32_t index,
                bool is_qp);
  /// A DMA read and its completion with these bytes. Labels: "the read " and "the bytes " + label.
  void read_of(Client client, uint64_t address, std::vector<uint8_t> bytes,
               const std::string& label);
  /// An admin command from its doorbell to its answer. `unit` adds the steps of the unit that
  /// executes it.
  void command(const std::string& name, spec::AdminOpcode op, uint32_t object,
               const std::array<uint8_t, 56>& args, const std::function<void()>& unit,
               const std::array<uint8_t, 16>& result = {},
               spec::AdminStatus status = spec::AdminStatus::kOk);
  void create_region(const std::string& name, uint32_t slot, uint32_t stag, uint32_t pbl_base,
                     const std::vector<uint64_t>& pages);
  void destroy_region(const std::string& name, uint32_t slot, uint32_t stag, bool waits);
  /// A lookup of kQp in the region (tpt_check).
  void check(std::string label, uint8_t client, uint64_t to, uint32_t length, uint16_t rights,
             bool last);
  /// A doorbell for one WQE and the fetch of its unit of 64 bytes.
  void issue(const std::string& name, const std::vector<uint8_t>& unit);
  /// A segment from its grant to its record. `payload` adds its lookups and reads.
  void segment(const std::string& name, spec::TxSource source, const std::vector<uint8_t>& ulpdu,
               const std::function<void()>& payload);
  /// A received segment up to rdmap's verdict. `before` adds what ddp asks for first.
  void received(const std::string& name, const std::vector<uint8_t>& ulpdu,
                const std::function<void()>& before);
  /// The commit of a completion of kQp, and the write of its CQE.
  void completion(const std::string& name, const spec::Cqe& entry);
  /// The commit of an event, the write of its EQE, and the interrupt.
  void event(const std::string& name, spec::EqeType kind, uint32_t object);
  /// Creates a window of type 1 and returns its STag.
  uint32_t create_window();
  /// Posts a bind, up to its arrival at rdmap. Returns its slot in the window of the QP.
  uint8_t post_bind(const std::string& name, uint32_t stag, const spec::BindOperands& o);
  /// The bind in this slot is done, up to its CQE. index: of its WQE in the send queue.
  void bound(const std::string& name, uint8_t slot, uint16_t index);
  void change_window(std::string label, uint8_t slot, uint8_t of_reg);  // the commit tpt_change
  /// The peer writes 150 bytes. `between` adds the steps between the lookup and the placement.
  void write_through_window(const std::string& name, uint32_t stag,
                            const std::function<void()>& between);
  /// tpt has refused the newest WQE: the QP fails, and its completion has mw_bind_err.
  void fail_locally(const std::string& name, uint8_t slot, spec::WcOpcode opcode, uint32_t length);
  /// The contents of host memory at this address: a function of the address.
  std::vector<uint8_t> bytes(uint64_t address, uint32_t n) const;

  uint32_t stag_ = 0;  // of the region
  uint8_t tag_ = 0;    // of the next DMA read
  // How many commands, send WQEs (in units), receives, completions and events there are so far.
  uint16_t commands_ = 0, sq_ = 0, rq_ = 0, cqes_ = 0, eqes_ = 0;
  // The slot of the next send WQE, and the next MSNs by QN.
  uint8_t window_ = 0;
  std::array<uint32_t, 4> msn_out_{1, 1, 1, 1}, msn_in_{1, 1, 1, 1};
};

}  // namespace rnic::sim
