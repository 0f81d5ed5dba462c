// Follows the work requests of both sides' send queues: from the doorbell over the wire to the CQE,
// and to the placement at the peer. Sees only the host, PCIe and the link, hence works with model
// and RTL alike.
//
// Identity of a message, in each view:
// 1. Post: the doorbell's index. The WQEs up to it are read from the ring in host memory, where the
//    driver has written them before the doorbell. create_qp names the ring's address.
// 2. Doorbell at the device: the first one whose index is after the WQE.
// 3. Wire: a send queue's WQEs are sent in order, and each is one message. Hence the k-th request
//    with the DDP Last flag on the QP's connection is of the k-th WQE. Responses and Terminates do
//    not count. modify_qp names the connection.
// 4. Placement: a device places payload in the order in which it arrived, each byte once. Hence the
//    message is placed by the write that brings the sum of placed bytes to the sum of bytes that
//    had arrived with the message. (After a discarded segment the sums differ, until the end of the
//    run; only these arrows are then wrong.)
// 5. CQE: its index is the WQE's. An unsignalled WQE ends with the next CQE.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "backend/device.hpp"
#include "gen/iwarp.hpp"
#include "gen/queues.hpp"
#include "link/frame.hpp"
#include "link/wire_limit.hpp"
#include "llp/fpdu_finder.hpp"
#include "platform/host_memory.hpp"
#include "run/trace_events.hpp"

namespace rnic::app {

/// The send queue doorbell in a register write, if it is one.
std::optional<spec::Doorbell> sq_doorbell(const sim::Mmio& m);

class WorkRequests {
 public:
  explicit WorkRequests(TraceEvents& trace) : trace_(trace) {}
  /// Call before the run.
  void attach(Side side, const sim::HostMemory& memory) { sides_[side].memory = &memory; }

  /// A thread of `side` has written this doorbell. `slice`: the work that ends with it.
  void posted(Side side, const spec::Doorbell& db, TraceEvents::Slice slice);
  /// The device of `side` has received this doorbell. `slice`: its transfer on PCIe.
  void rung(Side side, const spec::Doorbell& db, Time at, TraceEvents::Slice slice);
  /// The device has fetched this admin command. Only create_qp and modify_qp matter: they name the
  /// ring's address and the connection.
  void command(Side side, std::span<const uint8_t> bytes);
  /// Returns the opcode of the last FPDU that ends in the frame, if one does.
  std::optional<spec::RdmapOpcode> parse(const sim::Frame& frame);
  /// `slice`: of the frame that parse() saw last.
  void sent(TraceEvents::Slice slice);
  /// The device of `side` has written so many bytes of payload to its host.
  void placed(Side side, uint64_t bytes, TraceEvents::Slice slice);
  /// The device of `side` has written this CQE.
  void completed(Side side, const spec::Cqe& cqe, Time at, TraceEvents::Slice slice);
  /// Ends the arrows of requests that have not ended.
  void finish();

 private:
  struct Request {
    uint64_t number = 0;  // of its QP
    uint16_t index = 0;   // of its first unit in the ring
    spec::WrOpcode opcode{};
    uint32_t length = 0;
    std::optional<Time> rung_at;
    bool is_sent = false, is_complete = false, awaits_placement = false;
    TraceEvents::Slice post = TraceEvents::kNone, doorbell = TraceEvents::kNone,
                       frame = TraceEvents::kNone, place = TraceEvents::kNone,
                       cqe = TraceEvents::kNone;
  };
  struct Queue {
    uint64_t base = 0;   // bus address of the ring
    uint32_t units = 0;  // of the ring; 0: unknown
    uint16_t read = 0;   // index up to which WQEs are known
    uint64_t count = 0;  // WQEs read so far
    bool tx_markers = false;
    std::deque<Request> open;
    std::vector<TraceEvents::Track> lanes;
  };
  struct Stream {  // of one direction of a connection
    sim::FpduFinder fpdus;
    uint32_t position = 0;  // of the next FPDU, modulo the spacing of markers
    bool has_markers = false;
    uint32_t qpn = 0;
  };
  struct Awaited {
    uint64_t bytes = 0;  // sum of placed bytes at which the message is placed
    uint32_t qpn = 0;    // of the sender
    uint64_t number = 0;
  };
  struct SideState {
    const sim::HostMemory* memory = nullptr;
    std::map<uint32_t, Queue> queues;    // by QP
    std::map<uint16_t, uint32_t> qp_of;  // by connection
    // Of frames that it sends, by connection and its serial number.
    std::map<std::pair<uint16_t, uint32_t>, Stream> streams;
    std::deque<Awaited> awaited;  // of the peer's messages
    uint64_t arrived_bytes = 0, placed_bytes = 0;
  };

  /// `ulpdu`: the length field of the FPDU, in bytes.
  void take_fpdu(Side side, const Stream& s, std::span<const uint8_t> header, uint32_t ulpdu);
  void end(Side side, uint32_t qpn, Queue& q, Request& r, Time at);
  /// Draws the arrows of the oldest requests that are complete and placed, and forgets these.
  void drop_ended(Queue& q);
  void arrow(const Request& r);

  TraceEvents& trace_;
  std::array<SideState, 2> sides_;
  // Of the frame that parse() saw: the requests that end in it.
  std::vector<std::pair<uint32_t, uint64_t>> in_frame_;
  Side frame_side_ = kClient;
  std::optional<spec::RdmapOpcode> in_frame_last_;
};

}  // namespace rnic::app
