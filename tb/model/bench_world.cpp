// The world of a Side: DMA and the link.
#include <algorithm>
#include <cstring>

#include "bench.hpp"

namespace rnic::tb {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::LlpEvt;
using spec::LlpOp;

void Side::dma_write(model::WriteTlp tlp) {
  if (tlp.address == kMsiAddress) {
    ++interrupts;
    return;
  }
  ASSERT_LE(tlp.address + tlp.data.size(), kMemory);
  ASSERT_EQ(tlp.address / 4096, (tlp.address + tlp.data.size() - 1) / 4096)
      << "a write crosses 4 KiB";
  ASSERT_LE(tlp.data.size(), 256U);  // mps of Side::reset
  std::memcpy(&memory[tlp.address], tlp.data.bytes().data(), tlp.data.size());
}

void Side::dma_read(const model::ReadTlp& tlp) {
  const uint64_t from = tlp.read.address;
  ASSERT_LE(from + tlp.read.length, kMemory);
  ASSERT_EQ(from / 4096, (from + tlp.read.length - 1) / 4096) << "a read crosses 4 KiB";
  ASSERT_LE(tlp.read.length, 512U);  // mrrs of Side::reset
  spec::RdStatus status = spec::RdStatus::kOk;
  for (const auto& [at, s] : poison) {
    if (at >= from && at < from + tlp.read.length) status = s;
  }
  Cycle delay = options_.dma_latency;
  if (options_.random_dma) delay += rng_.below(200);
  if (tlp.read.purpose == model::Purpose::kQn1) delay += options_.old_value_latency;
  // With random_dma the answer comes in pieces that end on 64-byte boundaries, else in one. The
  // memory is sampled when a piece arrives.
  for (uint64_t at = from, end = from + tlp.read.length; at < end;) {
    uint64_t next = options_.random_dma ? std::min(end, (at / 64 + 1 + rng_.below(4)) * 64) : end;
    const bool failed = status != spec::RdStatus::kOk;
    if (failed) next = end;
    later(delay, [this, tag = tlp.tag, at, next, end, status, failed] {
      rnic_->dma_piece(
          {.tag = tag,
           .status = status,
           .is_last = next == end,
           .data = failed ? rnic::Payload{} : rnic::Payload::copy_of(bytes(at, next - at))});
    });
    at = next;
    if (options_.random_dma) delay += rng_.below(8);
  }
}

// --- the link

void Side::event(uint16_t connection, LlpEvt kind, uint16_t length, uint16_t cookie) {
  later(1, [this, connection, kind, length, cookie] {
    rnic_->llp_event({.kind = kind,
                      .connection = connection,
                      .length = length,
                      .address = 0x0a000001,
                      .port = 4000,
                      .local_port = 4001,
                      .cookie = cookie});
  });
}

void Side::give_credit(uint16_t connection, uint32_t bytes) {
  ends[connection].limit += bytes;
  later(1, [this, connection, limit = ends[connection].limit] {
    rnic_->llp_credit({connection, limit});
  });
}

uint16_t Side::open_end(uint16_t peer) {
  uint16_t n = 1;
  while (ends.contains(n)) ++n;
  ends[n].peer = peer;
  return n;
}

void Side::llp_ctl(const spec::LlpCtlReq& req) {
  const uint16_t n = req.connection;
  switch (req.op) {
    case LlpOp::kConnect: {
      const uint16_t mine = open_end(0);
      const uint16_t theirs = peer_->open_end(mine);
      ends[mine].peer = theirs;
      event(mine, LlpEvt::kAssigned, 0, req.cookie);
      peer_->event(theirs, LlpEvt::kIncoming);
      peer_->incoming.push_back(theirs);
      event(mine, LlpEvt::kEstablished);
      event(mine, LlpEvt::kMss, options_.mss);
      peer_->event(theirs, LlpEvt::kMss, options_.mss);
      give_credit(mine, options_.window);
      peer_->give_credit(theirs, options_.window);
      break;
    }
    case LlpOp::kGive: {
      if (keep_given) break;
      LlpEnd& e = ends[n];
      const auto end =
          e.stream.begin() + std::min<std::ptrdiff_t>(req.length, std::ssize(e.stream));
      const Bytes given(e.stream.begin(), end);
      e.stream.erase(e.stream.begin(), end);
      rnic_->llp_rx({.connection = n, .is_stream = true, .data = rnic::Payload::copy_of(given)});
      break;
    }
    case LlpOp::kRdmaMode:
      ends[n].rdma = true;
      deliver(n);
      break;
    case LlpOp::kHalfClose: {
      LlpEnd& e = ends[n];
      if (e.local_fin || e.dead) break;
      e.local_fin = true;
      later(options_.link_delay, [this, peer = e.peer] {
        peer_->ends[peer].inbox.push_back({.record = {}, .fin = true});
        peer_->deliver(peer);
      });
      maybe_closed(n);
      break;
    }
    case LlpOp::kAbort: {
      LlpEnd& e = ends[n];
      if (e.dead) break;
      e.dead = true;
      event(n, LlpEvt::kReset);
      if (!peer_->ends[e.peer].dead) {
        peer_->ends[e.peer].dead = true;
        peer_->event(e.peer, LlpEvt::kReset);
      }
      break;
    }
    default:
      break;  // kListen, kReleased: the link has nothing to do
  }
}

void Side::llp_tx(model::LlpRecord r) {
  LlpEnd& e = ends[r.connection];
  if (!r.is_stream) sent.emplace_back(r.data.bytes().begin(), r.data.bytes().end());
  if (e.dead || (tamper && !tamper(r))) return;
  const uint16_t peer = e.peer;
  r.connection = peer;
  later(options_.link_delay, [this, peer, r = std::move(r)]() mutable {
    peer_->ends[peer].inbox.push_back({.record = std::move(r)});
    peer_->deliver(peer);
  });
}

/// Delivers the items of connection n to this side's device as it accepts them, and returns their
/// credit to the peer. FPDUs wait until this side is in RDMA mode.
void Side::deliver(uint16_t n) {
  LlpEnd& e = ends[n];
  while (!e.inbox.empty() && !e.dead) {
    LlpEnd::Item& i = e.inbox.front();
    if (i.fin) {
      e.peer_fin = true;
      event(n, LlpEvt::kPeerClosed);
      e.inbox.pop_front();
      maybe_closed(n);
      continue;
    }
    const uint32_t size = i.record.data.size();
    if (i.record.is_stream) {
      e.stream.insert(e.stream.end(), i.record.data.bytes().begin(), i.record.data.bytes().end());
      event(n, LlpEvt::kWaiting, static_cast<uint16_t>(e.stream.size()));
    } else {
      if (!e.rdma) return;
      if (!rnic_->can_llp_rx()) {
        later(1, [this, n] { deliver(n); });
        return;
      }
      rnic_->llp_rx(std::move(i.record));
    }
    e.inbox.pop_front();
    if (!peer_->hold_credit) peer_->give_credit(e.peer, size);
  }
}

void Side::maybe_closed(uint16_t n) {
  LlpEnd& e = ends[n];
  if (!e.local_fin || !e.peer_fin) return;
  event(n, LlpEvt::kClosed);
}

void Side::inject(uint16_t n, const Bytes& record, bool error) {
  ends[n].inbox.push_back(
      {.record = {.connection = n, .error = error, .data = rnic::Payload::copy_of(record)}});
  deliver(n);
}

void Side::peer_closes(uint16_t n) {
  ends[n].inbox.push_back({.record = {}, .fin = true});
  deliver(n);
}

// --- the pair

std::pair<uint16_t, uint16_t> open_pair(Side& a, Side& b) {
  const auto rsp = a.command(AdminOpcode::kConnConnect, 0,
                             spec::AdminConnArgs{.peer_port = 4000, .peer_address = 1});
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  const uint16_t mine = spec::AdminConnResult::unpack(rsp.result).connection;
  a.clock().settle(200);
  EXPECT_EQ(a.connection(mine).state, spec::ConnState::kEstablished);
  const uint16_t theirs = a.ends[mine].peer;
  EXPECT_EQ(b.connection(theirs).state, spec::ConnState::kEstablished);
  return {mine, theirs};
}

AdminStatus Side::rts(uint16_t qpn, uint16_t connection, const QpSetup& setup,
                      uint64_t stream_address) {
  const uint16_t base = static_cast<uint16_t>(qpn * 8);
  return command(AdminOpcode::kModifyQp, qpn,
                 spec::AdminModifyArgs{.to_state = static_cast<uint8_t>(spec::QpState::kRts),
                                       .use_crc = setup.crc,
                                       .rx_markers = setup.markers,
                                       .tx_markers = setup.markers,
                                       .hold_tx = setup.hold,
                                       .persist = setup.persist,
                                       .connection = connection,
                                       .ird = static_cast<uint8_t>(setup.ird),
                                       .ord = static_cast<uint8_t>(setup.ord),
                                       .ird_base = base,
                                       .ord_base = base,
                                       .stream_length = setup.reply_bytes,
                                       .stream_address = stream_address})
      .status;
}

}  // namespace rnic::tb
