// The scripted endpoint. See replay/peer.hpp.
#include "replay/peer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "kernel/activity.hpp"

namespace rnic::app {

using spec::LlpEvt;
using spec::LlpOp;

namespace {
// Bytes of an MPA start frame before its private data, whose length is in bytes 18 and 19.
constexpr size_t kMpaHead = 20;
constexpr std::ptrdiff_t kCrc = 4;
}  // namespace

void ReplayPeer::begin(const Plan& plan, Stags stags, std::function<void(const Step&)> before) {
  plan_ = &plan;
  to_device_ = std::move(stags);
  to_listing_.clear();
  for (const auto& [recorded, ours] : to_device_) to_listing_[ours] = recorded;
  before_ = std::move(before);
  next_ = segment_ = 0;
  hold_ = SIZE_MAX;
  is_ended_ = false;
  open_ = rdma_ = stopped_ = closed_ = half_closed_ = false;
  closed_by_device_ = false;
  beyond_ = 0;
  sent_ = limit_ = waiting_ = 0;
  frame_.clear();
  coming_.clear();
  exchanges_.clear();
}

void ReplayPeer::ctl(LlpOp op, uint16_t length) {
  spec::LlpCtlReq r;
  r.op = op;
  r.connection = connection_;
  r.length = length;
  r.use_crc = 1;
  env_->llp_ctl(r);
}

void ReplayPeer::connect(uint32_t address, uint16_t port) {
  spec::LlpCtlReq r;
  r.op = LlpOp::kConnect;
  r.address = address;
  r.port = port;
  env_->llp_ctl(r);
}

void ReplayPeer::listen(uint16_t port) {
  spec::LlpCtlReq r;
  r.op = LlpOp::kListen;
  r.port = port;
  env_->llp_ctl(r);
}

void ReplayPeer::close() {
  if (!open_ || half_closed_) return;
  half_closed_ = true;
  ctl(LlpOp::kHalfClose);
}

void ReplayPeer::hold(size_t step) {
  hold_ = step;
  play();
}

std::optional<Ending> ReplayPeer::terminate() const {
  for (const Exchange& e : exchanges_) {
    const Message& m = e.message;
    if (!e.ours || m.fpdus.empty() || m.head.opcode != spec::RdmapOpcode::kTerminate) continue;
    Ending end;
    end.kind = Ending::Kind::kTerminate;
    if (m.payload.size() < spec::TerminateCtrl::kBytes) return end;
    const auto ctrl = spec::TerminateCtrl::unpack(m.payload);
    end.layer = ctrl.layer;
    end.etype = ctrl.etype;
    end.code = ctrl.code;
    return end;
  }
  return std::nullopt;
}

void ReplayPeer::llp_event(const spec::LlpCtlEvt& e) {
  ++moved_;
  switch (e.kind) {
    case LlpEvt::kAssigned:
    case LlpEvt::kMss:
      break;
    case LlpEvt::kIncoming:
    case LlpEvt::kEstablished:
      connection_ = e.connection;
      open_ = true;
      break;
    case LlpEvt::kWaiting:
      waiting_ = e.length;
      ask_stream();
      break;
    case LlpEvt::kPeerClosed:
      closed_by_device_ = closed_by_device_ || !half_closed_;
      close();
      break;
    case LlpEvt::kFailed:
    case LlpEvt::kClosed:
    case LlpEvt::kReset:
      closed_by_device_ = closed_by_device_ || !half_closed_;
      open_ = false;
      closed_ = true;
      if (e.kind != LlpEvt::kFailed || connection_ == e.connection) ctl(LlpOp::kReleased);
      break;
  }
  play();
}

void ReplayPeer::llp_credit(const spec::LlpCredit& c) {
  limit_ = c.limit;
  play();
}

void ReplayPeer::llp_rx(sim::Record r) {
  ++moved_;
  if (r.is_stream) {
    take_mpa(r);
  } else {
    take_fpdu(r);
  }
  play();
}

bool ReplayPeer::send(const Bytes& bytes, bool is_stream) {
  const auto size = static_cast<uint32_t>(bytes.size());
  if (static_cast<int32_t>(limit_ - sent_) < static_cast<int32_t>(size) || !env_->can_llp_tx())
    return false;
  sent_ += size;
  sim::Record r;
  r.connection = connection_;
  r.is_stream = is_stream;
  r.data = Payload::copy_of(bytes);
  env_->llp_tx(std::move(r));
  ++moved_;
  return true;
}

/// The FPDU with its STags exchanged by `stags` (remap()). Its CRC field stays as it is if neither
/// side uses CRCs.
Bytes ReplayPeer::exchanged(const Bytes& fpdu, const Stags& stags, Mover from) const {
  Bytes out = remap(fpdu, stags, from);
  if (!plan_->uses_crc && fpdu.size() >= static_cast<size_t>(kCrc))
    std::copy(fpdu.end() - kCrc, fpdu.end(), out.end() - kCrc);
  return out;
}

/// Plays the peer's next steps, up to our next step, to hold_, or to the end of the credit.
void ReplayPeer::play() {
  if (playing_ || plan_ == nullptr || !open_ || half_closed_ || stopped_) return;
  playing_ = true;
  while (!done() && next_ < hold_ && !plan_->steps[next_].ours) {
    const Step& s = plan_->steps[next_];
    if (segment_ == 0) before_(s);
    if (s.is_raw) {
      if (!send(s.mpa, !rdma_)) break;
      note(false).mpa = s.mpa;
    } else if (s.is_mpa) {
      if (!send(s.mpa, true)) break;
      note(false).mpa = s.mpa;
      // The Reply is the last frame of streaming mode, whichever side sends it. No Reply follows a
      // refused Request. After a rejecting Reply, RDMA mode does not begin.
      if (next_ == 1 && !plan_->is_rejected) {
        ctl(LlpOp::kRdmaMode);
        rdma_ = true;
      }
    } else {
      bool all = true;
      for (; segment_ < s.message.fpdus.size() && all; segment_ += all ? 1 : 0) {
        all = send(exchanged(s.message.fpdus[segment_], to_device_, Mover::kPeer), false);
      }
      if (!all) break;
      note(false).message = s.message;
    }
    segment_ = 0;
    ++next_;
  }
  // As in the listing, the responder closes after a Request that it refuses, or after its rejecting
  // Reply. The peer is the responder if our side is the initiator.
  const bool is_over = next_ == plan_->steps.size() && (plan_->is_refused || plan_->is_rejected);
  if (is_over && plan_->side == Endpoint::kInitiator) close();
  playing_ = false;
}

Exchange& ReplayPeer::note(bool ours) {
  Exchange& e = exchanges_.emplace_back();
  e.step = next_;
  e.ours = ours;
  e.at_ns = sim::kernel_now() / 1000;
  return e;
}

/// Requests the waiting streaming bytes from the LLP, but none beyond the MPA frame: the following
/// bytes may be an FPDU.
void ReplayPeer::ask_stream() {
  if (rdma_ || waiting_ == 0 || !open_) return;
  size_t whole = kMpaHead;
  if (frame_.size() >= kMpaHead) whole += base::load_be<uint16_t>(&frame_[18]);
  if (frame_.size() < whole)
    ctl(LlpOp::kGive, static_cast<uint16_t>(std::min<size_t>(whole - frame_.size(), waiting_)));
}

void ReplayPeer::take_mpa(const sim::Record& r) {
  frame_.insert(frame_.end(), r.data.bytes().begin(), r.data.bytes().end());
  if (frame_.size() < kMpaHead || frame_.size() < kMpaHead + base::load_be<uint16_t>(&frame_[18]))
    return;
  Exchange& e = note(true);
  e.mpa = std::move(frame_);
  frame_.clear();
  if (next_ >= plan_->steps.size() || !plan_->steps[next_].is_mpa || !plan_->steps[next_].ours) {
    e.step = Exchange::kNoStep;
    e.differences.emplace_back("the listing has no MPA frame here");
    stopped_ = true;
    return;
  }
  const Bytes& want = plan_->steps[next_].mpa;
  for (size_t i = 0; i < std::max(want.size(), e.mpa.size()); ++i) {
    if (i < want.size() && i < e.mpa.size() && want[i] == e.mpa[i]) continue;
    const auto text = [&](const Bytes& b) {
      return i < b.size() ? fmt::format("{:02x}", b[i]) : std::string("missing");
    };
    e.differences.push_back(
        fmt::format("byte {} is {}, the listing has {}", i, text(e.mpa), text(want)));
  }
  if (next_ == 1 && !plan_->is_rejected) {
    ctl(LlpOp::kRdmaMode);
    rdma_ = true;
  }
  ++next_;
}

void ReplayPeer::take_fpdu(const sim::Record& r) {
  const Bytes came{r.data.bytes().begin(), r.data.bytes().end()};
  const Bytes fpdu = exchanged(came, to_listing_, Mover::kDevice);
  const auto s = parse_fpdu(fpdu);
  if (!s || r.error) {
    Exchange e;
    e.ours = true;
    e.mpa = fpdu;
    e.differences.emplace_back(r.error ? "the stream ends within an FPDU" : "this is no FPDU");
    e.at_ns = sim::kernel_now() / 1000;
    stopped_ = true;
    exchanges_.push_back(std::move(e));
    return;
  }
  Message& m = coming_[s->opcode];
  m.add(fpdu);
  if (!plan_->uses_crc) m.crc_good = true;
  if (!m.is_whole) return;
  Exchange e;
  e.ours = true;
  e.at_ns = sim::kernel_now() / 1000;
  e.message = std::move(m);
  coming_.erase(s->opcode);
  judge(std::move(e));
}

/// True for a Terminate that the listing expects but does not list as a unit. The peer's remaining
/// units are then not played: a device that has terminated its stream discards them.
bool ReplayPeer::is_expected_end(const Message& m) const {
  return !stopped_ && m.head.opcode == spec::RdmapOpcode::kTerminate && plan_->expect &&
         plan_->expect->kind == Ending::Kind::kTerminate &&
         std::all_of(plan_->steps.begin() + static_cast<std::ptrdiff_t>(next_), plan_->steps.end(),
                     [](const Step& s) { return !s.ours; });
}

/// Compares a whole message of the device with the plan's next step, or counts it as a response
/// after the end of the listing. A message of another kind than the next one's stops the play.
void ReplayPeer::judge(Exchange e) {
  const Step* want = !stopped_ && next_ < plan_->steps.size() && plan_->steps[next_].ours
                         ? &plan_->steps[next_]
                         : nullptr;
  if (is_expected_end(e.message)) {
    is_ended_ = true;
    e.beyond = true;
    exchanges_.push_back(std::move(e));
    return;
  }
  if (want == nullptr && !stopped_ && done() && beyond_ < plan_->answers_beyond &&
      is_answer(e.message.head.opcode)) {
    ++beyond_;
    e.differences.clear();
    e.beyond = true;
    exchanges_.push_back(std::move(e));
    return;
  }
  if (want == nullptr || want->is_mpa || want->is_raw ||
      want->message.head.opcode != e.message.head.opcode) {
    e.differences.push_back(want == nullptr
                                ? std::string("our device sends it; the listing has none here")
                                : fmt::format("the listing has {}", want->message.describe()));
    stopped_ = true;
  } else {
    e.step = next_;
    e.differences = differences(want->message, e.message);
    ++next_;
  }
  exchanges_.push_back(std::move(e));
}

}  // namespace rnic::app
