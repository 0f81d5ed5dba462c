// Rules a1, a2 and c of ordering.hpp: payload received, judged, placed, delivered, and read for a
// response.
//
//   record + llp_rx commit --> waiting segments of the QP
//                                --(rdmap_op 4)--> judged --(dma_wr place)--> written
//   last of a Send, of a Read Response --(qp_retire, CQE)--> must be written
//   Read, Flush Request --(ddp_segment, tpt_check, dma_rd_req)--> what was judged before it
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "backend/device.hpp"
#include "gen/commits.hpp"
#include "gen/queues.hpp"
#include "tandem/ordering_findings.hpp"
#include "tandem/ordering_placed.hpp"
#include "tandem/wire_segment.hpp"

namespace rnic::sim {

class PayloadOrder {
 public:
  /// Cycles without a payload read after which rule c is judged again.
  static constexpr uint64_t kResumeCycles = 65536;
  explicit PayloadOrder(Findings& findings) : findings_(findings) {}

  void control(const spec::LlpCtlReq& r);  // RDMA mode begins, with or without markers
  void record(const Record& r);
  void placed(const DmaWrite& w);
  void completion(const spec::Cqe& c);
  void read(const DmaRead& r);  // of client payload
  void pcie(const spec::PcieCfg& cfg);
  void reset();
  /// At a quiet end: a description of a payload read that no lookup explains; else empty.
  std::string end() const { return suspect_.value_or(""); }
  // Commits.
  void way(const spec::LlpRxCommit& c);
  void control(const spec::DdpCtlCommit& c);
  void operation(const spec::RdmapOpCommit& c);
  void retire(const spec::QpRetireCommit& c);
  void word(const spec::AtomicWordCommit& c);
  void change(const spec::TptChangeCommit& c);
  void event(const spec::QpStateCommit& c);
  void segment(const spec::DdpSegmentCommit& c);
  void ulpdu(const spec::DdpUlpduCommit& c);
  void look_up(const spec::TptCheckCommit& c);

 private:
  using Serial = Placements::Serial;
  // A request of the peer that ends in a response. A Read Request: its source. A Flush Request: the
  // byte that is read back, or none. An atomic: no payload.
  struct Request {
    uint32_t stag = 0;
    uint64_t to = 0;
    uint32_t size = 0, begun = 0;  // bytes of its source; those that were looked up
    Serial need = 0;               // newest judged payload before it: must be placed first
  };
  struct Due {                // a scheduled segment of a response, until its ULPDU is sent
    uint64_t number = 0;      // counts the segments of responses of its QP
    uint32_t stag = 0;        // of its lookup, once found:
    uint64_t to = 0;          // the first byte
    uint32_t length = 0;      // and the number of bytes
    bool found = false;       // its lookup was found, or it has no payload
    bool is_unsure = false;   // two lookups match
    Serial need = 0;          // without payload: must be placed before it is sent
    std::string violation{};  // reported when its ULPDU is sent
  };
  /// A judged response. Unit atomic stores the old value of an atomic, so that request may complete
  /// before an earlier Read or after a later one.
  struct Answered {
    Serial last = 0;
    bool is_old_value = false;
  };
  struct Qp {
    // ddp has taken its start; rdmap, too; an error or a stop ended it.
    bool is_starting = false, is_running = false, has_failed = false;
    std::deque<WireSegment> waiting;  // received, no verdict yet
    Serial last = 0;                  // newest judged segment with payload
    std::deque<Answered> reads;       // judged responses, not yet done
    std::deque<Serial> receives;      // judged ends of Sends and Immediate Data, not yet done
    std::set<uint8_t> local;          // requests to our own table that tpt has done, by slot
    uint64_t old_values = 0;          // decided by unit atomic, not yet matched to a done one
    // Receives that await their CQE: the violation if it reports success.
    std::deque<std::string> suspects;
    std::deque<Request> requests;          // judged, of the peer, without a response yet
    std::deque<spec::TxSource> scheduled;  // sources of the segments that ddp has scheduled
    std::deque<Due> dues;                  // of those segments, the ones of responses
    uint64_t due_count = 0;
  };
  struct Connection {
    uint64_t position = 0;  // bytes since RDMA mode began: markers stand at multiples of 512
    bool has_markers = false;
    // Records and llp_rx commits that wait for each other: either may come first.
    std::deque<Record> records;
    std::deque<spec::LlpRxCommit> ways;
  };
  struct Piece {  // a lookup of transmitted payload, until its bytes are read
    uint32_t left = 0;
    bool is_response = false;
    uint16_t qpn = 0;
    Serial need = 0;
    uint64_t due = 0;  // number of its Due
  };

  void pair(Connection& c);          // records with their llp_rx commits
  void judge(uint16_t qpn, Qp& qp);  // the oldest waiting segment has a verdict
  void read_done(uint16_t qpn, Qp& qp);
  void fail(Qp& qp);
  void unexplained(const DmaRead& r);
  void stop_pairing();

  Findings& findings_;
  std::map<uint16_t, Qp> qps_;
  std::map<uint16_t, Connection> connections_;
  Placements placements_;
  std::deque<Piece> pieces_;
  bool pairs_ = true;  // payload reads still pair up with lookups: rule c is judged
  // A payload read without a lookup, until a failure explains it.
  std::optional<std::string> suspect_;
  std::optional<uint64_t> failed_at_;  // cycle in which a QP last failed or stopped
  uint64_t quiet_since_ = 0;           // no lookup and no payload read since
};

}  // namespace rnic::sim
