// Inside the follower: the behaviours of one device since reset, and the edges between them. An
// edge holds the items that one behaviour has put out and the next has not taken. A commit names
// the edge whose head is taken now. A step whose order the RTL cannot change needs no commit: the
// follower executes it at once.
//
//   commit -> step(commit): takes from an edge -> a behaviour -> its Out functions below
//          -> the next edge, or Expect
//
//   follower.cpp        commits to steps, items left at the end
//   follower_host.cpp   registers, reads, writes, admin
//   follower_qp.cpp     doorbells, issue, receive WQEs, retire
//   follower_state.cpp  states, start and stop
//   follower_rx.cpp     records, segments, responder
//   follower_tx.cpp     grants, segments, FPDUs
//   follower_conn.cpp   connections, events, streaming bytes
//   follower_queue.cpp  completions, events
//   follower_tpt.cpp    STags
//   follower_atomic.cpp atomics
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "admin/admin.hpp"
#include "atomic/atomic.hpp"
#include "backend/observer.hpp"
#include "cq/cq.hpp"
#include "ddp/ddp.hpp"
#include "gen/commits.hpp"
#include "host_if/host_if.hpp"
#include "llp_if/llp_if.hpp"
#include "mpa/mpa.hpp"
#include "qp/qp.hpp"
#include "rdmap/rdmap.hpp"
#include "tandem/expect.hpp"
#include "tandem/in_flight.hpp"
#include "tandem/read_log.hpp"
#include "tandem/turns.hpp"
#include "tpt/tpt.hpp"

namespace rnic::sim {

class Steps final : private model::HostIf::Out,
                    private model::Admin::Out,
                    private model::Qp::Out,
                    private model::Tpt::Out,
                    private model::Rdmap::Out,
                    private model::Ddp::Out,
                    private model::Mpa::Out,
                    private model::Cq::Out,
                    private model::LlpIf::Out {
 public:
  Steps(const spec::Sizes& sizes, Tally& tally);

  // The RTL's boundary, as Observer defines it.
  void dma_write(const DmaWrite& w);
  void dma_write_waits() { ++write_waited_; }
  void llp_tx(const Record& r);
  void llp_ctl(const spec::LlpCtlReq& r) { expect_.requested(r); }
  void mmio_response(uint64_t value) { expect_.responded(value); }
  void dma_read(const DmaRead& r);
  void mmio(const Mmio& m);
  void dma_piece(const DmaPiece& p);
  void llp_rx(const Record& r);
  void llp_event(const spec::LlpCtlEvt& e);
  void llp_credit(const spec::LlpCredit& c);
  void pcie(const spec::PcieCfg& cfg);

  // The commits.
  void step(const spec::DmaRdReqCommit&) {
  }  // names the client of a read or write that the Observer reports
  void step(const spec::PushLateCommit& c);
  void step(const spec::PushPurgeCommit& c);
  void step(const spec::DmaRdTimeoutCommit&) {}  // its caller also reports the end of the read
  void step(const spec::DmaWrCommit&) {}         // dma_write() follows at the end of the TLP
  void step(const spec::CqOpCommit& c);
  void step(const spec::CqEventCommit& c);
  void step(const spec::LlpRuleCommit& c);
  void step(const spec::LlpRxCommit& c);
  void step(const spec::LlpGrantCommit& c);
  void step(const spec::DdpRxCommit& c);
  void step(const spec::DdpCtlCommit& c);
  void step(const spec::DdpAckCommit& c);
  void step(const spec::DdpSegmentCommit& c);
  void step(const spec::DdpDropCommit& c);
  void step(const spec::DdpUlpduCommit& c);
  void step(const spec::RdmapResponseCommit& c);
  void step(const spec::RdmapAtomicCommit& c);
  void step(const spec::AtomicWordCommit& c);
  void step(const spec::RdmapOpCommit& c);
  void step(const spec::TptCheckCommit& c);
  void step(const spec::TptChangeCommit& c);
  void step(const spec::QpRetireCommit& c);
  void step(const spec::QpRqTakeCommit& c);
  void step(const spec::QpIssueCommit& c);
  void step(const spec::SqFetchCommit& c) { log_.fetch(Client::kSqFetch, c.address, c.length); }
  void step(const spec::RqFetchCommit& c) { log_.fetch(Client::kRqFetch, c.address, c.length); }
  void step(const spec::QpPushCommit& c);
  void step(const spec::QpDoorbellCommit& c);
  void step(const spec::QpStateCommit& c);
  void step(const spec::QpAnswerCommit& c);
  /// The RTL answers in_progress to a command to this QP; false, and a difference, if it may not.
  bool give_up(uint16_t qpn);
  /// After each commit: steps that no commit reports, such as acknowledgements.
  void settle();

  /// Items on edges, one line each. at_end: without those that may remain at the end of a run.
  std::string left(bool at_end) const;

 private:
  // --- edges
  struct Followed {                          // of a QP
    bool wants = false, wants_term = false;  // ddp -> llp_if
    std::optional<model::TxMessage> term;    // rdmap -> ddp: until ddp_drop
    std::deque<spec::RqTakeRsp> takes;       // qp -> ddp: receive WQEs
    spec::RecvWqe receive;                   // the WQE in use
    std::optional<spec::QpDoorbell> push;    // doorbell -> prefetch buffer: a copy that may be used
    uint32_t slots_free = 0;                 // ddp -> rdmap: responder's free slots
    // WQEs that failed in issue, and marks of qp_state: retirement has not taken them yet.
    uint32_t own_errors = 0, marks = 0;
    uint8_t bits = 0;                  // pending events, as `bits` of commit qp_state
    std::deque<spec::QpError> errors;  // of bit 0; the RTL may keep only the last one
    bool is_overtaken = false;         // the RTL kept the last error: bit 0 may be set once more
    bool fin = false;                  // qp_state has taken the peer's FIN
    bool has_failed = false;           // rdmap has reported an error
    std::optional<uint64_t> barred;    // cycle in which qp_state took that error
    std::optional<uint64_t> dead;      // cycle in which the QP failed, or its rdmap stopped
    uint64_t flushed = 0;              // cycle in which the last flush began
    bool look_empty = false, look_reads = false;  // result of qp_state's queue check
    std::optional<spec::QpCmd> at_look;           // query, destroy: executed at the queue check
    uint16_t connection = 0;
    // llp_if has taken the QP's stop; records and grants in flight are still followed.
    bool stopped_llp = false;
    bool ddp_stopped = false;  // ddp has taken the QP's stop; it refuses segments inside it
    bool tx_failed = false;    // a payload of the QP was bad: ddp drops the rest
    uint64_t rq_rung = 0;      // cycle of the newest RQ doorbell
    uint64_t limit_set = 0;    // cycle of the newest modify_srq
    struct Retired {           // of the send queue, of the receive queue
      uint16_t told = 0;       // retired index up to the last CQE in host memory
      struct Untold {
        uint16_t index = 0, retired = 0;
      };
      std::deque<Untold> untold;  // one for each CQE that is not written yet
    };
    std::array<Retired, 2> retired;
    bool is_changing = false;    // being created or destroyed; the RTL has not responded yet
    uint16_t mulpdu_before = 0;  // the segment size that grants in flight may still have
    uint64_t resized = 0;        // cycle in which its segment size changed
  };
  struct Answer {  // response of tpt to one lookup
    spec::WqeCheck request;
    spec::TptResult result{};
    model::ExtentList extents;
  };
  struct TxSegment {  // scheduled; its lookups and reads follow
    uint16_t qpn = 0;
    model::Ddp::Segment segment;
    uint32_t length = 0;              // of its payload
    std::deque<spec::WqeCheck> asks;  // lookups without a response
    model::ExtentList extents;
    size_t gathered = 0;  // extents whose bytes have arrived,
    uint32_t filled = 0;  // and the number of those bytes
    bool whole = false;   // its payload has been read
    model::PayloadData payload;
    uint64_t serial = 0;  // its number in the read log
  };
  struct InHand {  // a request of the peer in rdmap_atomic or atomic
    model::Rdmap::Turn turn;
    bool is_decided = false, is_stored = false;  // by the RTL; its store was written
    spec::AtomicRsp rsp;
    std::optional<spec::AtomicRsp> failed;  // the RTL will report its fault by rdmap_op 3
  };
  struct Storing {  // a word that dma_wr has not written yet
    uint16_t qpn = 0;
    std::optional<uint8_t> slot;  // of a result: the request that it completes
    model::ExtentList extents;
  };
  // An invalidation in progress. Of the peer: from the delivery of its Send to the completion. Of
  // the send queue: from its WQE in rdmap.
  struct Invalidation {
    uint32_t stag = 0;
    uint16_t qpn = 0;
    uint8_t slot = 0;
    std::optional<uint8_t> number = {};  // of InFlight::close(), once the RTL has closed the entry
  };
  // How often the event of one object (CQ, QP, connection) came due. firm: after the last entry, so
  // one more entry must follow. merged: before the last entry, which may cover them.
  struct Fires {
    uint32_t firm = 0, merged = 0;
  };
  struct RawOut {  // streaming bytes of admin
    model::RawBytes bytes;
    bool checked = false;  // the RTL has found that they may be sent (llp_rule 3)
  };

  /// tpt as rdmap, ddp and qp see it: the results of the RTL's lookups, in its order.
  class Asked final : public model::Translation {
   public:
    Asked(Steps& s, size_t client) : s_(s), client_(client) {}
    spec::TptResult check(const spec::WqeCheck& c) const override {
      return s_.answered(client_, c, nullptr);
    }
    spec::TptResult translate(const spec::WqeCheck& c, model::ExtentList& out) override {
      return s_.translated(c, out);
    }
    void retired(const spec::Retired& r) override { s_.in_flight_.retire(r.epoch); }

   private:
    Steps& s_;
    size_t client_;
  };
  // --- outputs of the behaviours
  void qp_doorbell(const spec::QpDoorbell& db) override { qp_doorbells_.push_back(db); }
  void cq_doorbell(const spec::CqDoorbell& db) override { cq_doorbells_.push_back(db); }
  void eq_doorbell(const spec::EqDoorbell& db) override { cq_.doorbell(db); }
  void admin_doorbell(const spec::AdminDoorbell& db) override { admin_.doorbell(db); }
  void dev_cfg(const spec::DevCfg& cfg) override;
  void place_done(const spec::PlaceDone&) override {}
  void retired(const spec::Retired&) override {}
  void word_done() override {}
  void msix_unmasked() override {}
  uint64_t device_time() const override { return tally_.cycle(); }
  bool ready() const override { return true; }
  bool fatal() const override { return admin_.fatal(); }
  spec::UnitCount unit_count(uint32_t) const override { return {}; }

  void admin_rd_req(const model::MemRead& read) override { admin_read_ = read; }
  void admin_wr(const spec::AdminWr& wr) override;
  void command(model::Admin::Unit unit, const spec::Cmd& cmd) override;
  void pbl_wr(const spec::PblWr& wr) override { tpt_.pbl_wr(wr); }
  void raw_tx(model::RawBytes bytes) override { raw_out_.push_back({std::move(bytes)}); }

  void qp_cmd_rsp(const spec::QpCmdRsp& rsp) override;
  void qp_ctl(model::Qp::Peer peer, const spec::QpCtlLlp& ctl) override;
  void qp_fault(const spec::QpFault& f) override { qp_faults_.push_back(f); }
  void cqe_req(const spec::CqeReq& cqe) override;
  void qp_async(const spec::QpAsync& a) override { cq_.qp_async(a); }
  void qp_purge(const spec::QpPurge& p) override { purges_.push_back(p); }
  void ready(model::Qp::Set) override {}
  void look_due(uint16_t qpn) override;

  void tpt_cmd_rsp(const spec::TptCmdRsp& rsp) override { admin_.answer(rsp); }
  // The RTL reports these by qp_retire.
  void invalidated(const spec::Invalidated&) override {}
  void sq_local_done(const spec::SqLocalDone&) override {}  // of an invalidation

  void qp_ack_rdmap(const spec::QpAckRdmap& a) override {
    acks_.push_back({model::Qp::Peer::kRdmap, a.qpn});
  }
  void qp_error(const spec::QpError& e) override;
  void terminate(model::TxMessage m) override;
  void responder_ready(uint16_t qpn) override { ready_.push_back(qpn); }
  void result(const spec::AtomicReq& r) override { results_.push_back(r); }
  void sq_local(const spec::SqLocal& i) override {
    if (model::Tpt::is_invalidation(i))
      own_invalidations_.push_back({.stag = i.stag, .qpn = i.qpn, .slot = i.slot});
    else
      registrations_.push_back(i);
  }

  void qp_ack_ddp(const spec::QpAckDdp& a) override { acks_ddp_.push_back(a); }
  void tx_want(const spec::TxWant& want) override;
  void tx_fault(const spec::TxFault& f) override;
  void sq_slot_free(const spec::SqSlotFree& f) override { qp_.sq_slot_free(f); }
  void resp_slot_free(const spec::RespSlotFree& f) override;
  void resp_fetched(const spec::RespFetched& f) override { rdmap_.resp_fetched(f); }
  void rx_done(const spec::RxDone& d) override { rx_dones_.push_back(d); }
  void invalidate(const spec::Invalidate& inv) override;

  void qp_ack_mpa(const spec::QpAckMpa& a) override {
    acks_.push_back({model::Qp::Peer::kMpa, a.qpn});
  }

  void cq_cmd_rsp(const spec::CqCmdRsp& rsp) override;
  void cq_fault(const spec::CqFault& f) override;
  void event_ready() override {}
  void pended(const model::Cq::Event& e) override { ++fires(e).firm; }

  void conn_cmd_rsp(const spec::ConnCmdRsp& rsp) override;
  void qp_ack_llp(const spec::QpAckLlp& a) override {
    acks_.push_back({model::Qp::Peer::kLlp, a.qpn});
  }
  void llp_event(const spec::LlpEvent& e) override;
  void conn_async(const spec::ConnAsync& a) override { cq_.conn_async(a); }
  void llp_ctl_req(const spec::LlpCtlReq& r) override { expect_.request(r); }
  void wr_done(const spec::WrDone& d) override { wr_dones_.push_back(d); }
  void grantable(const spec::TxWant&) override {}
  void term_timer(uint16_t, uint32_t life) override { term_life_ = life; }
  void raw_tx_possible() override {}

  // --- parts of steps. `commit` and `does` are words for the report of a difference.
  // follower_host.cpp
  void serve_admin();      // hands admin the data of its read, if the read log has it
  void answer_written();   // admin's response is in memory: executes after_answer_
  void vectors_changed();  // the MSI-X table or its masks may have changed
  void writes_changed();   // bus master or the device may have been enabled or disabled
  /// False, and a difference, if there is no such QP.
  bool known(uint16_t qpn, std::string_view commit);
  /// Takes the head of an edge in the RTL's order. Nothing, and a difference, if the edge is empty
  /// or its head is of another QP.
  template <class T>
  std::optional<T> take(std::deque<T>& edge, uint16_t qpn, std::string_view commit,
                        std::string_view what);
  /// Takes the oldest item of this QP, for an edge that the RTL has as several paths.
  template <class T>
  std::optional<T> take_of(std::deque<T>& edge, uint16_t qpn, std::string_view commit,
                           std::string_view what);

  // follower_qp.cpp
  bool fetch_unit(uint16_t qpn);   // the next unit of the SQ; false: none, or its read failed
  void retire_done(uint16_t qpn);  // retires WQEs that are done at the head of the window
  /// RTL and model disagree whether a take reached the limit of SRQ `row`: allowed near a doorbell
  /// (is_rung) or a modify_srq, else a difference.
  void limit_differs(const spec::QpRqTakeCommit& c, uint16_t row, bool is_rung);
  void flush_again(uint16_t qpn);  // flushes WQEs that were posted between two passes of a flush
  void completion_told(const spec::Cqe& entry);  // the CQE is in memory, or will not be written
  // follower_state.cpp
  void command_now(const spec::QpCmd& cmd);  // qp executes a command of admin
  spec::QpError take_error(const spec::QpStateCommit& c, Followed& q);
  void happened(uint16_t qpn, Followed& q, uint8_t bits, const spec::QpError& e);
  void look(uint16_t qpn);  // expects the RTL's queue check of this QP (qp_retire 4)
  bool is_delivered(uint16_t qpn, std::string_view commit, std::string_view does);
  void decide_again(uint16_t qpn, Followed& q);  // after the queue check

  // follower_rx.cpp
  void operation(const spec::RdmapOpCommit& c);
  void segment(uint16_t qpn);  // the oldest segment in ddp gets its verdict
  void drop_answers(const Followed& q, const model::RxUlpdu& u);
  void respond(uint16_t qpn);  // the RTL refuses the oldest Read of the peer
  // follower_tx.cpp
  void apply_fault(uint16_t qpn);
  void finish_response(uint16_t qpn);
  void gather();  // takes payload of scheduled segments from the read log, oldest segment first
  bool gather(TxSegment& s);
  bool assemble_next();
  void send(model::TxUlpdu u);  // through mpa and llp_if, to the expected records
  void credit_covers(uint16_t connection);
  // follower_conn.cpp
  void llp_event_taken(const spec::LlpRuleCommit& c);
  void llp_order_taken(const spec::LlpRuleCommit& c);  // an order of qp: start, stop, ...
  void terminate_late(uint16_t qpn);
  void raw_taken(const spec::LlpRuleCommit& c);  // streaming bytes: checked or discarded

  // follower_tpt.cpp
  spec::TptResult answered(size_t client, const spec::WqeCheck& c, model::ExtentList* extents);
  spec::TptResult translated(const spec::WqeCheck& c, model::ExtentList& out);
  spec::TptResult translate(const spec::WqeCheck& c, model::ExtentList& out);
  bool may_go(uint32_t slot, uint32_t stag) const;  // the region may be destroyed
  /// in_flight_ without the extents of segments that ddp has refused.
  InFlight surely_in_flight() const;
  void invalidate_now(std::deque<Invalidation>& edge, const spec::TptChangeCommit& c);
  void invalidation_told(std::deque<Invalidation>& edge, std::deque<Invalidation>::iterator told);
  void registers(const spec::TptChangeCommit& c);
  void claim(const spec::TptChangeCommit& c, model::Tpt::Registration r, uint32_t slot);
  void end_registration(const spec::TptChangeCommit& c, model::Tpt::Registration r);
  void bind(const spec::TptChangeCommit& c, const model::Tpt::Binding& b, uint32_t slot);
  void reopens(uint32_t slot, std::string_view does);
  bool local_failed(uint16_t qpn);
  void give_back(model::ExtentList& extents);  // retires extents that nothing will use
  void drop_open(size_t client);
  // follower_atomic.cpp
  void hand_out();
  std::optional<Answer> looked_up(const spec::AtomicReq& r);
  void result_decided(const spec::AtomicWordCommit& c);
  void store(uint16_t qpn, std::optional<uint8_t> slot, uint64_t address, uint64_t value,
             model::ExtentList extents);
  void stored();
  spec::AtomicRsp failure_of(const spec::AtomicReq& r);
  bool atomic_failed(uint16_t qpn);
  Fires& fires(const model::Cq::Event& e);  // follower_queue.cpp

  // --- behaviours
  Tally& tally_;
  Expect expect_;
  uint64_t scheduled_ = 0;     // segments scheduled so far
  uint64_t write_waited_ = 0;  // cycles for which the next write to the host has been offered
  ReadLog log_;
  model::HostIf host_;
  model::Tpt tpt_;
  InFlight in_flight_;  // extents of tpt_; translate() puts the number of issue() in Extent::epoch
  // Closed regions by slot, with the number of in_flight_.close(). The number is empty once the RTL
  // has reported that no earlier extent is in flight.
  std::map<uint32_t, std::optional<uint8_t>> closed_;
  std::deque<Invalidation> invalidations_, own_invalidations_;
  std::deque<spec::SqLocal> registrations_;       // rdmap -> tpt: fast registrations and binds
  std::deque<model::Tpt::Registration> claimed_;  // the RTL reads their page lists
  std::deque<spec::SqLocalDone> local_failures_;  // tpt -> rdmap: requests that failed
  Asked wqe_checks_, resp_checks_, translations_;
  model::Rdmap rdmap_;
  model::Ddp ddp_;
  model::Mpa mpa_;
  model::Qp qp_;
  model::Cq cq_;
  model::LlpIf llp_;
  model::Admin admin_;

  // --- edges
  struct Ack {
    model::Qp::Peer peer{};
    uint16_t qpn = 0;
  };
  std::vector<Followed> qps_;
  Turns issues_, grants_given_;  // fairness of qp_issue and of llp_grant
  std::deque<Ack> acks_;
  std::deque<spec::QpAckDdp> acks_ddp_;            // ddp -> qp: until the RTL acknowledges
  std::deque<spec::QpDoorbell> qp_doorbells_;      // host_if -> qp
  std::deque<spec::CqDoorbell> cq_doorbells_;      // host_if -> cq
  std::optional<model::MemRead> admin_read_;       // admin -> host_if
  std::array<std::deque<spec::Cmd>, 4> commands_;  // admin -> unit
  struct QpAnswer {
    uint16_t qpn = 0;
    spec::QpCmdRsp rsp;
  };
  std::deque<QpAnswer> answers_;  // qp -> admin: the model has responded, the RTL not yet
  uint16_t commanded_ = 0;        // the QP of the last command
  spec::QpCmd begun_;             // the last command that the RTL began
  std::deque<std::function<void()>> after_answer_;  // effects after admin's response is written
  bool quiet_cq_ = false;                           // drops cq's response: it was sent before
  std::deque<spec::QpCtlLlp> ctl_rdmap_, ctl_ddp_, ctl_llp_;  // qp -> unit
  enum class Look : uint8_t { kNone, kDue, kDone };
  // Queue check of qp_state (qp_retire's `look`): none, requested (kDue), executed (kDone).
  // qp_state then decides again (commit qp_state, `again`), unless it is for a command (at_look).
  Look look_ = Look::kNone;
  uint16_t looked_at_ = 0;
  bool fin_with_it_ = false;             // the events that qp_state takes now include the FIN
  std::deque<model::Wqe> wqes_;          // qp -> rdmap
  std::deque<spec::QpFault> qp_faults_;  // qp -> rdmap
  std::deque<spec::QpPurge> purges_;     // qp -> host_if
  std::deque<spec::TxFault> tx_faults_;  // ddp -> rdmap
  std::deque<spec::WrDone> wr_dones_;    // llp_if -> qp
  std::deque<spec::RxDone> rx_dones_;    // ddp -> qp
  std::deque<spec::CqeReq> cqe_reqs_;    // qp -> cq
  // tpt -> rx, (none), wqe, resp, by the number of the client. TxSegment has the lookups of tx.
  std::array<std::deque<Answer>, 4> answered_;
  std::deque<Answer> looked_;                   // tpt -> atomic
  std::deque<uint16_t> ready_;                  // QPs whose oldest request may be served
  std::vector<std::optional<InHand>> in_hand_;  // of each QP
  std::deque<spec::AtomicReq> results_;         // rdmap -> atomic: old values for their sinks
  std::deque<Storing> storing_;                 // atomic -> host_if
  // rdmap -> qp: results that are stored, memory that is registered, windows that are bound
  std::deque<spec::RxDone> res_dones_;
  uint64_t placed_ = 0;  // place packets written
  // Reads of the peer whose QP ended: answered_[3] may still hold their lookups.
  uint32_t cancelled_ = 0;
  uint32_t refused_ = 0;        // received segments whose lookups answered_[0] may still hold
  std::array<bool, 4> open_{};  // by client as answered_: lookups of the current item are left
  std::deque<model::LlpRecord> records_;   // LLP -> llp_if
  std::deque<spec::LlpCtlEvt> events_;     // LLP -> llp_if
  std::deque<model::RxUlpdu> ulpdus_;      // mpa -> ddp
  std::deque<model::RxUlpdu> inside_;      // ddp -> rdmap
  std::deque<spec::TxGrant> grants_;       // llp_if -> ddp
  std::deque<TxSegment> segments_;         // ddp, between schedule and assemble
  TxSegment* scheduling_ = nullptr;        // while ddp schedules it: its lookups go to its `asks`
  std::deque<model::TxUlpdu> ulpdus_out_;  // ddp -> mpa: assembled, not yet sent by the RTL
  std::deque<uint16_t> terms_left_;        // llp_if_tx -> llp_if_ctl: QPs whose Terminate was sent
  std::deque<RawOut> raw_out_;             // admin -> llp_if
  std::vector<uint32_t> bytes_left_;  // by connection: bytes that the RTL has sent, modulo 2^32
  std::optional<uint16_t> give_;      // connection whose bytes admin waits for
  std::optional<uint16_t> giving_;    // of the conn_give that is being decided
  std::map<uint16_t, uint64_t> credited_;  // connection: cycle in which its credit changed
  uint32_t term_life_ = 0;  // the life that term_timer() got last, for llp_.term_timeout()
  std::array<std::vector<Fires>, 4> fires_;  // cq_event: completion, CQ error, QP, connection
  spec::PcieCfg pcie_;
  uint32_t vectors_ = 0;
};

template <class T>
uint16_t qpn_of(const T& item) {
  if constexpr (requires { item.hdr.qpn; }) {
    return item.hdr.qpn;
  } else if constexpr (requires { item.entry.qpn; }) {
    return static_cast<uint16_t>(item.entry.qpn);
  } else {
    return item.qpn;
  }
}

template <class T>
std::optional<T> Steps::take(std::deque<T>& edge, uint16_t qpn, std::string_view commit,
                             std::string_view what) {
  if (edge.empty()) {
    tally_.differ("{}: QP {}: RTL took {}; model has none there", commit, qpn, what);
    return std::nullopt;
  }
  if (qpn_of(edge.front()) != qpn) {
    tally_.differ("{}: RTL took {} of QP {}; model's next is of QP {}", commit, what, qpn,
                  qpn_of(edge.front()));
    return std::nullopt;
  }
  std::optional<T> out = std::move(edge.front());
  edge.pop_front();
  return out;
}

template <class T>
std::optional<T> Steps::take_of(std::deque<T>& edge, uint16_t qpn, std::string_view commit,
                                std::string_view what) {
  for (auto it = edge.begin(); it != edge.end(); ++it) {
    if (qpn_of(*it) != qpn) continue;
    std::optional<T> out = std::move(*it);
    edge.erase(it);
    return out;
  }
  tally_.differ("{}: QP {}: RTL took {}; model has none of this QP there", commit, qpn, what);
  return std::nullopt;
}

}  // namespace rnic::sim
