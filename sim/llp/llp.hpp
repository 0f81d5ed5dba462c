// The transport under one device: reliable, in order; TCP as the RNIC sees it at the LLP port
// (architecture 3.3).
//
//   Llp llp("host0", 0, link);           // the host's number gives its address: host_address(0)
//   llp.attach(device);
//   llp.ctl(request);  llp.tx(record);   // from the device; events, records, credits go to it
//
// - Credit: record bytes that the peer's device has accepted, plus the window. So an accepted
//   record is always sent at once, and a peer that accepts no records closes the window.
// - Streaming mode: bytes wait until `give`. Each arrival and each `give` reports the number of
//   bytes that wait. From `rdma_mode` on, records are whole FPDUs.
// - A record is one segment if it fits the maximum segment size, else several.
// - Events of a connection stay in order with its records and pass those of other connections.
// - A FIN inside an FPDU: the rest is delivered as a record with `error`, then `peer_closed`.
// - The device is never called from inside its own call.
#pragma once

#include <array>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "kernel/activity.hpp"
#include "kernel/ring.hpp"
#include "link/link.hpp"
#include "llp/fpdu_finder.hpp"

namespace rnic::sim {

class Llp final : private Activity, public LinkEnd {
 public:
  Llp(const std::string& name, unsigned host, Link& link);

  void attach(Device& device);

  // The device's side.
  /// True if the wire takes a record now. After false, run() wakes the device when it does.
  bool can_tx();
  void tx(Record&& r);
  void ctl(const spec::LlpCtlReq& req);

  void reset();   ///< of the device: resets every connection
  void remove();  ///< the device is removed: peers detect this by timeout

  void frame_arrives(Time at, Frame&& frame) override;
  void ack_arrives(const Ack& ack) override;
  void peer_gone(unsigned host) override;

  /// Counts all items moved so far; the platform's watchdog compares it.
  uint64_t moved() const { return moved_; }
  /// The first violation of the port's contract by the device; empty: none.
  const std::string& failure() const { return failure_; }
  /// What connections and records wait for, one line each: for the report of a stuck run.
  std::string waiting_for() const;
  uint64_t records_tx() const { return records_tx_; }
  uint64_t records_rx() const { return records_rx_; }

 private:
  enum class State : uint8_t { kFree, kConnecting, kAccepting, kOpen, kDead };
  struct Conn {
    State state = State::kFree;
    // aborted: by the device; its queued items are dropped. closed_told: event() has queued kClosed
    // for the device, and the connection sends nothing more.
    bool is_rdma = false, aborted = false;
    bool is_passive = false, heard = false;  // heard: an FPDU has arrived; only for waiting_for()
    bool fin_sent = false, fin_acked = false, peer_fin = false, closed_told = false;
    uint8_t peer = 0;  // host
    uint16_t peer_conn = 0, port = 0, peer_port = 0, cookie = 0;
    uint32_t serial = 0, peer_serial = 0;
    uint32_t snd_nxt = 0, rcv_nxt = 0;  // sequence numbers, as in TCP; only for the capture
    uint32_t window = 0;
    uint32_t sent = 0, limit = 0;  // record bytes from the device: accepted, and allowed
    // Bytes from the peer: received, accepted by the device, acknowledged to the peer.
    uint32_t received = 0, consumed = 0, acked = 0;
    uint32_t queued = 0;          // its items in rx_
    uint32_t waiting_bytes = 0;   // received in streaming mode, until `give`
    std::deque<Payload> waiting;  // the waiting_bytes
    FpduFinder finder;
  };
  struct Item {  // to the device, in order
    enum Kind : uint8_t { kRecord, kEvent, kCredit } kind = kRecord;
    uint32_t serial = 0;  // of its connection; if the connection has another one, the item is stale
    Record record;
    spec::LlpCtlEvt event;
  };
  struct Arrival {
    Time at = 0;
    Frame frame;
  };
  struct Timer {
    Time at = 0;
    uint16_t conn = 0;
    uint32_t serial = 0;
    bool is_loss = false;  // the peer is lost; else: no response to a SYN
  };

  void run(Time now) override;
  // llp.cpp: connections
  Conn* find(uint16_t conn);
  uint16_t take_number();  // a free connection number; 0xffff: none
  void open(uint16_t n);
  void connect(const spec::LlpCtlReq& req);
  void half_close(uint16_t n);
  void abort(uint16_t n, bool tell_device);  // sends RST; tell_device: with event kReset
  void release(uint16_t n);
  void fail_connection(uint16_t n);  // the connection is lost or was not opened: event kFailed
  void maybe_closed(uint16_t n);
  void event(uint16_t n, spec::LlpEvt kind, uint32_t length = 0);
  void credit(uint16_t n);
  void send(uint16_t n, FrameKind kind, Payload data = {});
  void refuse(const Frame& f);           // sends RST
  void broken(const std::string& what);  // the device has violated the port's contract
  // llp_data.cpp: frames, bytes, records
  void take(Frame&& f);
  void take_syn(const Frame& f);
  void take_data(uint16_t n, Payload data);
  void take_fin(uint16_t n);
  void give(uint16_t n, uint32_t length);
  void rdma_mode(const spec::LlpCtlReq& req);
  /// Queues a record for the device. is_stream: streaming bytes, else an FPDU; error: the FPDU is
  /// incomplete.
  void record(uint16_t n, Payload data, bool is_stream, bool error = false);
  void take_acks(Time now);
  void pump(Time now);         // hands queued items to the device, as far as it accepts them
  void hand_over(Item& item);  // one item
  void report_consumed(Time now, Conn& c);  // acknowledges bytes to the peer

  const uint8_t host_;
  Link& link_;
  Device* device_ = nullptr;
  std::vector<Conn> conns_;
  std::deque<uint16_t> free_;     // numbers of connections
  std::set<uint16_t> listening_;  // ports
  uint32_t next_serial_ = 1;
  uint16_t next_port_ = 49152;

  std::array<Ring<Arrival>, Link::kHosts> arrivals_;  // by sender
  Ring<Ack> acks_;
  bool acks_are_urgent_ = false;  // a connection is short of credit: run() is due at the next ack
  Ring<Timer> timers_;
  Ring<Item> events_;  // of connections without items in rx_
  Ring<Item> rx_;
  // held_tx_: can_tx() returned false, so run() wakes the device. gone_: the device was removed.
  bool held_tx_ = false, gone_ = false;

  uint64_t moved_ = 0, records_tx_ = 0, records_rx_ = 0;
  std::string failure_;
};

}  // namespace rnic::sim
