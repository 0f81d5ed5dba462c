// Our side of a replay. See replay/player.hpp.
#include "replay/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "link/link.hpp"

namespace rnic::app {
namespace {

using namespace verbs;
using spec::RdmapOpcode;

constexpr uint64_t kReceive = uint64_t{1} << 32;  // set in a receive's wr_id
// kPatience: a replay without progress ends after this time. kAfterwards: how long the device has
// to react to the last unit.
constexpr Time kPatience = 300 * kUs, kAfterwards = 20 * kUs;
constexpr Time kLookAgain = 20 * kUs;  // between two checks whether the device has closed
// Time from the play of a unit to the post of a receive after it, so that the device has taken the
// unit; and from the post to the next unit, so that the device has taken the receive.
constexpr Time kSettle = 20 * kUs;

[[noreturn]] void fail(const base::Error& e, const char* what) {
  const std::string text = fmt::format("{}: {}", what, e.what);
  if (e.code == base::Errc::kNoMemory) throw NoRoom(text);
  throw std::runtime_error(text);
}
template <class T>
T got(Result<T> r, const char* what) {
  if (!r) fail(r.error(), what);
  return std::move(*r);
}
template <>
void got(Result<void> r, const char* what) {
  if (!r) fail(r.error(), what);
}

}  // namespace

void ReplayPlayer::run(PciDevice& dev, Context& context, uint16_t port) {
  set_up(dev, context);
  if (!start(dev, context, port)) {
    check_end(peer_.closed_by_device());
    return;
  }
  exchange(dev);
  finish(dev, context);
}

void ReplayPlayer::set_up(PciDevice& dev, Context& context) {
  pd_ = got(context.alloc_pd(), "protection domain");
  uint64_t source = 64, sink = 64;
  uint32_t requests = 1;
  for (const Step& s : plan_.steps) {
    source_at_.push_back(source);
    if (!s.ours || !s.is_request()) continue;
    ++requests;
    source += slot_of(s.message.payload.size());
  }
  for (const Receive& r : plan_.posts) {
    sink_at_.push_back(sink);
    sink += slot_of(r.length);
  }
  const auto receives = static_cast<uint32_t>(plan_.posts.size() + 1);
  cq_ = got(context.create_cq(requests + receives), "completion queue");
  QpCap cap;
  cap.max_send_wr = requests;
  cap.max_recv_wr = receives;
  qp_ = got(pd_.create_qp({.send_cq = &cq_, .recv_cq = &cq_, .cap = cap}), "queue pair");
  make_regions(dev, context);
  written_.resize(buffers_.size());
  source_ = got(context.alloc(source), "payloads");
  sink_ = got(context.alloc(sink), "receives");
  source_mr_ = got(pd_.reg_mr(source_, 0), "payloads");
  sink_mr_ = got(pd_.reg_mr(sink_, IBV_ACCESS_LOCAL_WRITE), "receives");
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& s = plan_.steps[i];
    if (s.ours && s.is_request())
      std::copy(s.message.payload.begin(), s.message.payload.end(), source_.data() + source_at_[i]);
  }
  std::fill(sink_.bytes().begin(), sink_.bytes().end(), kUntouched);
  keep_unlisted_unknown();
  post_receives(0);
}

void ReplayPlayer::make_regions(PciDevice& dev, Context& context) {
  for (const Region& r : plan_.regions) {
    const bool is_persistent = (r.access & IBV_ACCESS_FLUSH_PERSISTENT) != 0;
    const uint64_t bytes = r.before.size();
    const std::string name = fmt::format("replay-{}-{:08x}", plan_.connection, r.stag);
    buffers_.push_back(
        got(is_persistent ? dev.persistent(name, bytes) : context.alloc(bytes), "region"));
    std::copy(r.before.begin(), r.before.end(), buffers_.back().data());
    if (r.domain != 0 && !domains_.contains(r.domain))
      domains_[r.domain] = got(context.alloc_pd(), "protection domain");
    if (r.bound == Region::Bound::kToAnother && stranger_.core() == nullptr)
      stranger_ = got(pd_.create_qp({.send_cq = &cq_, .recv_cq = &cq_, .cap = {}}), "queue pair");
    const uint32_t access = IBV_ACCESS_LOCAL_WRITE | r.access;
    Pd& pd = r.domain != 0 ? domains_.at(r.domain) : pd_;
    Qp& qp = r.bound == Region::Bound::kToAnother ? stranger_ : qp_;
    mrs_.push_back(got(r.bound == Region::Bound::kNo
                           ? pd.reg_mr_iova(buffers_.back(), 0, bytes, r.base, access)
                           : qp.reg_mr_iova(buffers_.back(), 0, bytes, r.base, access),
                       "region"));
    stags_[r.stag] = mrs_.back().rkey();
  }
}

/// An STag of the peer that belongs to no region (Plan::unlisted) must not equal an STag of our
/// device by chance. If it does, the peer's messages get an STag with another key of the same slot.
void ReplayPlayer::keep_unlisted_unknown() {
  constexpr uint32_t kKey = 0xff;
  const auto is_ours = [&](uint32_t stag) {
    return stag == source_mr_.rkey() || stag == sink_mr_.rkey() ||
           std::ranges::any_of(mrs_, [&](const Mr& m) { return m.rkey() == stag; });
  };
  for (const uint32_t stag : plan_.unlisted) {
    uint32_t other = stag;
    while (is_ours(other)) other = (other & ~kKey) | ((other + 1) & kKey);
    if (other != stag) stags_[stag] = other;
  }
}

/// Posts the receives up to those of `step`.
void ReplayPlayer::post_receives(size_t step) {
  for (; receives_posted_ < plan_.posts.size(); ++receives_posted_) {
    const size_t k = receives_posted_;
    const Receive& r = plan_.posts[k];
    if (r.step > step) break;
    const Sge sge{sink_mr_.addr() + sink_at_[k], static_cast<uint32_t>(r.length), sink_mr_.lkey()};
    const std::span<const Sge> list(&sge, r.length == 0 ? 0 : 1);
    if (const auto p = qp_.post_recv({.wr_id = kReceive | k, .sg_list = list}); !p)
      throw std::runtime_error("receive: " + p.error->what);
  }
}

/// Posts the receives whose unit has been played, then lets the peer continue.
void ReplayPlayer::post_due_receives(Time now) {
  const auto& posts = plan_.posts;
  const bool is_last = receives_posted_ == posts.size();
  if (play_at_ != 0 && now >= play_at_) {
    play_at_ = 0;
    peer_.hold(is_last ? SIZE_MAX : posts[receives_posted_].step);
  }
  if (is_last || peer_.next() < posts[receives_posted_].step) return;
  if (peer_.closed_by_device() || peer_.terminate()) return;
  if (post_at_ == 0) post_at_ = now + kSettle;
  if (now < post_at_) return;
  post_at_ = 0;
  post_receives(posts[receives_posted_].step);
  play_at_ = now + kSettle;
}

bool ReplayPlayer::start(PciDevice& dev, Context& context, uint16_t port) {
  peer_.begin(plan_, stags_, [this](const Step& s) {
    for (const Poke& p : s.pokes)
      std::copy(p.bytes.begin(), p.bytes.end(), buffers_[p.region].data() + p.offset);
  });
  if (receives_posted_ < plan_.posts.size()) peer_.hold(plan_.posts[receives_posted_].step);
  ConnParam param;
  param.private_data = plan_.private_data;
  param.responder_resources = plan_.ird;
  param.initiator_depth = plan_.ord;
  param.markers = plan_.markers;
  param.crc = plan_.crc;
  param.revision = plan_.revision;
  param.flush = plan_.flush;
  const bool fails = plan_.is_refused || plan_.is_rejected;
  if (plan_.side == Endpoint::kInitiator) {
    peer_.listen(port);
    auto c = verbs::connect(qp_, {sim::host_address(1), port}, param);
    if (fails) return refused(!c, "connect", c ? "" : c.error().what);
    connection_ = got(std::move(c), "connect");
  } else {
    Listener listener = got(verbs::listen(context, port), "listen");
    peer_.connect(sim::host_address(0), port);
    auto request = await_request(dev, listener);
    if (!request) {
      if (plan_.is_refused) return refused(true, "the Request", "it is not one that we take");
      ++checks_;
      wrong_.push_back(
          fmt::format("our device closes the connection at unit {}, a Request that it does not "
                      "take; the listing has a Reply",
                      plan_.steps[0].unit));
      return false;
    }
    if (plan_.is_refused) return refused(false, "the Request", "");
    if (plan_.is_rejected) {
      got(request->reject(plan_.private_data), "reject");
      const Time end = dev.now() + kPatience;
      while (!peer_.done() && !peer_.stopped() && dev.now() < end) dev.relax();
      return refused(true, "the Request", "rejected, as listed");
    }
    connection_ = got(request->accept(qp_, param), "accept");
  }
  posted_ = 2;  // Request and Reply
  return true;
}

/// Empty if our device closes the connection first.
std::optional<ConnRequest> ReplayPlayer::await_request(PciDevice& dev, Listener& listener) {
  const Time end = dev.now() + 10 * kMs;
  for (;;) {
    auto r = listener.get_request(std::min(end, dev.now() + kLookAgain));
    if (r) return std::move(*r);
    if (r.error().code != base::Errc::kTimedOut || dev.now() >= end)
      throw std::runtime_error("listen: " + r.error().what);
    if (peer_.closed_by_device()) return std::nullopt;
  }
}

/// Checks a start-up that fails in the listing: our device must close or reject. `by_us`: our
/// program saw start-up fail. Returns false, for start().
bool ReplayPlayer::refused(bool by_us, const std::string& what, const std::string& why) {
  ++checks_;
  const bool we_are_to = plan_.side == Endpoint::kResponder;
  if (!by_us) {
    wrong_.push_back(fmt::format("{}: our device goes on; the listing ends start-up here", what));
  } else if (plan_.is_refused && plan_.we_close_said && *plan_.we_close_said != we_are_to) {
    wrong_.push_back(fmt::format("{} is refused by {}; the listing says that {} closes", what,
                                 we_are_to ? plan_.our_name : plan_.peer_name,
                                 we_are_to ? plan_.peer_name : plan_.our_name));
  } else {
    events_.push_back(fmt::format("start-up ends with {}: {}", what, why));
  }
  return false;
}

/// True if all messages that the peer sent before its next step have taken effect: receives have
/// completed, Reads have their responses.
bool ReplayPlayer::caught_up() const {
  size_t receives = 0, reads = 0;
  for (size_t i = 0; i < peer_.next(); ++i) {
    const Step& s = plan_.steps[i];
    if (s.is_mpa || s.is_raw || s.ours) continue;
    if (!s.message.head.is_tagged && s.message.head.qn == spec::kQnSend) ++receives;
    if (is_answer(s.message.head.opcode)) ++reads;
  }
  return received_ >= std::min(receives, plan_.whole_receives) &&
         reads_done_ >= std::min(reads, plan_.reads_answered);
}

/// Posts our requests up to the next message of the listing that is not our request.
void ReplayPlayer::post_due() {
  if (failed_ || peer_.stopped() || !caught_up()) return;
  for (size_t i = peer_.next();
       i < plan_.steps.size() && plan_.steps[i].ours && plan_.steps[i].is_request(); ++i) {
    if (i < posted_) continue;
    post(i);
    posted_ = i + (plan_.is_write_with_immediate(i) ? 2 : 1);
  }
}

void ReplayPlayer::post(size_t i) {
  const Message& m = plan_.steps[i].message;
  Sge sge{source_mr_.addr() + source_at_[i], static_cast<uint32_t>(m.payload.size()),
          source_mr_.lkey()};
  SendWr wr;
  wr.wr_id = i;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.remote_addr = m.head.to;
  wr.rkey = m.head.stag;
  switch (m.head.opcode) {
    case RdmapOpcode::kRdmaWrite:
      wr.opcode = IBV_WR_RDMA_WRITE;
      if (plan_.is_write_with_immediate(i)) {
        const Message& next = plan_.steps[i + 1].message;
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.imm = immediate_of(next).value();
        if (next.head.opcode == RdmapOpcode::kImmediateSe) wr.send_flags |= IBV_SEND_SOLICITED;
      }
      break;
    case RdmapOpcode::kImmediate:
    case RdmapOpcode::kImmediateSe:
      wr.opcode = RNIC_WR_IMM;
      wr.imm = immediate_of(m).value();
      if (m.head.opcode == RdmapOpcode::kImmediateSe) wr.send_flags |= IBV_SEND_SOLICITED;
      sge.length = 0;
      break;
    case RdmapOpcode::kSendInv:
    case RdmapOpcode::kSendSeInv:
      wr.opcode = IBV_WR_SEND_WITH_INV;
      wr.rkey = m.head.word;
      if (m.head.opcode == RdmapOpcode::kSendSeInv) wr.send_flags |= IBV_SEND_SOLICITED;
      break;
    case RdmapOpcode::kSendSe:
      wr.send_flags |= IBV_SEND_SOLICITED;
      break;
    case RdmapOpcode::kSend:
      break;
    case RdmapOpcode::kReadRequest: {
      const ReadRequest r = read_request_of(m).value();
      wr.opcode = IBV_WR_RDMA_READ;
      ++posted_reads_;
      wr.remote_addr = r.source_to;
      wr.rkey = r.source_stag;
      sge = {r.sink_to, r.length,
             stags_.contains(r.sink_stag) ? stags_.at(r.sink_stag) : r.sink_stag};
      break;
    }
    case RdmapOpcode::kFlushRequest: {
      const spec::FlushRequest f = flush_request_of(m).value();
      wr.opcode = IBV_WR_FLUSH;
      ++posted_reads_;
      wr.remote_addr = f.sink_to;
      wr.rkey = f.sink_stag;
      wr.flush_length = f.length;
      wr.flush_type = static_cast<uint8_t>(
          ((f.flags & spec::kFlushVisible) != 0 ? IBV_FLUSH_GLOBAL : 0u) |
          ((f.flags & spec::kFlushPersistent) != 0 ? IBV_FLUSH_PERSISTENT : 0u));
      sge.length = 0;
      break;
    }
    default:  // make_plan() refuses all others
      throw std::logic_error(fmt::format("unit {}: no work request", plan_.steps[i].unit));
  }
  // A WQE has no SGE for an empty payload; a Read names its sink even if it is empty.
  wr.sg_list = std::span<const Sge>(&sge, sge.length == 0 && wr.opcode != IBV_WR_RDMA_READ ? 0 : 1);
  if (const auto r = qp_.post_send(wr); !r)
    throw std::runtime_error(fmt::format("unit {}: {}", plan_.steps[i].unit, r.error->what));
  ++sends_;
}

void ReplayPlayer::poll() {
  std::array<Wc, 16> wcs;
  const size_t n = got(cq_.poll_cq(wcs), "completion queue");
  for (size_t i = 0; i < n; ++i) {
    const Wc& wc = wcs[i];
    const bool is_receive = (wc.wr_id & kReceive) != 0;
    const auto which = static_cast<size_t>(wc.wr_id & ~kReceive);
    if (wc.status != IBV_WC_SUCCESS) {
      failed_ = true;
      events_.push_back(
          fmt::format("{} completed: {}",
                      is_receive ? fmt::format("receive {}", which)
                                 : fmt::format("request of unit {}", plan_.steps[which].unit),
                      to_string(wc.status)));
      continue;
    }
    if (!is_receive) {
      ++completed_;
      if (is_asking(plan_.steps[which].message.head.opcode)) ++reads_done_;
      continue;
    }
    check_receive(which, wc);
    ++received_;
  }
}

/// The number of posted Reads whose response is not in the listing.
size_t ReplayPlayer::unanswered() const {
  return posted_reads_ > plan_.reads_answered ? posted_reads_ - plan_.reads_answered : 0;
}

/// True if the responses that are not in the listing have arrived. Waiting for them detects a
/// Terminate after the listing's end.
bool ReplayPlayer::beyond() const { return peer_.beyond() >= plan_.answers_beyond; }

void ReplayPlayer::exchange(PciDevice& dev) {
  uint64_t moved = 0;
  for (Time last = dev.now(); !failed_ && !peer_.stopped() && !peer_.closed();) {
    poll();
    post_due();
    post_due_receives(dev.now());
    const bool is_posted = peer_.done() && receives_posted_ == plan_.posts.size();
    if (is_posted && caught_up() && completed_ + unanswered() >= sends_ && beyond()) return;
    const uint64_t now_moved = peer_.moved() + completed_ + received_ + sends_;
    if (now_moved != moved) last = dev.now();
    moved = now_moved;
    if (dev.now() > last + kPatience) {
      wrong_.push_back(fmt::format(
          "nothing moves before unit {}",
          peer_.done() ? std::string("the end") : std::to_string(plan_.steps[peer_.next()].unit)));
      return;
    }
    dev.relax();
  }
}

void ReplayPlayer::finish(PciDevice& dev, Context& context) {
  const bool is_whole = peer_.done() && !failed_;
  await_end(dev);
  const bool has_closed = peer_.closed_by_device(), has_ended = has_closed || peer_.terminate();
  if (is_whole && !plan_.we_close) {
    peer_.close();
    got(connection_.wait_disconnected(dev.now() + 10 * kMs), "end of the connection");
  }
  const auto r = connection_.disconnect(200 * kUs);
  if (!r && is_whole && !has_ended && !plan_.is_open_ended())
    wrong_.push_back("disconnect: " + r.error().what);
  check_end(has_closed || (plan_.we_close_said.value_or(false) && r.has_value()));
  poll();
  while (const auto e = context.get_async_event(0)) {
    events_.push_back("asynchronous event " + to_string(*e));
  }
  check_memory();
  (void)qp_.destroy();
}

/// Polls until our device can have reacted to the last unit; longer if the listing expects it to
/// end the connection.
void ReplayPlayer::await_end(PciDevice& dev) {
  const bool waits = plan_.expect && plan_.expect->kind != Ending::Kind::kNothing &&
                     !plan_.we_close_said.value_or(false);
  const Time start = dev.now();
  const auto goes_on = [&] {
    if (dev.now() < start + kAfterwards) return true;
    return waits && !peer_.terminate() && !peer_.closed_by_device() &&
           dev.now() < start + kPatience;
  };
  for (; goes_on(); dev.relax()) poll();
}

/// Compares the end of the connection with the listing's `expect`.
void ReplayPlayer::check_end(bool is_closed) {
  if (!plan_.expect) return;
  ++checks_;
  Ending end;
  if (is_closed) end.kind = Ending::Kind::kClose;
  if (const auto terminate = peer_.terminate()) end = *terminate;
  if (plan_.expect->admits(end)) {
    events_.push_back(fmt::format("the end: {}, as expected", end.text()));
  } else {
    wrong_end_ = fmt::format("the end: the listing expects {} of our device; it was {}",
                             plan_.expect->text(), end.text());
  }
}

}  // namespace rnic::app
