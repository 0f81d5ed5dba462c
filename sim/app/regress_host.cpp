// One host's part of a plan. See regress_host.hpp.
#include "regress_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "gen/regs.hpp"

namespace rnic::app::regress {

using namespace verbs;

namespace {

constexpr uint64_t kLandingIova = uint64_t{1} << 32, kSourceIova = uint64_t{1} << 44;
constexpr uint32_t kServerIp = 0x0a000002;
constexpr uint16_t kPort = 4791;
constexpr Time kPatience = 3 * kMs, kConnectPatience = 20 * kMs, kAfterwards = 5 * kUs;

WcOpcode completion_of(const Operation& o) { return o.is_send() ? IBV_WC_SEND : o.op == Op::kWrite ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ; }
uint64_t iova_of(uint32_t qp) { return kLandingIova * (qp + 1); }

}  // namespace

void Host::run() {
  const auto r = body();
  if (r || !shared_.failure.empty()) return;
  shared_.failure = fmt::format("{}: {}", kSideNames[side_], r.error().what);
  shared_.failed_at = dev_.now();
}

Result<void> Host::body() {
  auto manager = Manager::open(dev_, settings_);
  if (!manager) return error_of(manager);
  manager_ = std::move(*manager);
  if (auto r = open(); !r) return r;
  if (auto r = connect(); !r) return r;
  if (auto r = exchange(); !r) return r;
  return finish();
}

Result<void> Host::open() {
  auto context = Context::open(dev_, *manager_);
  if (!context) return error_of(context);
  context_ = std::move(*context);
  auto pd = context_.alloc_pd();
  if (!pd) return error_of(pd);
  pd_ = std::move(*pd);
  uint32_t sends = 0, receives = 0;
  for (uint32_t q = 0; q < plan_.qps; ++q) {
    sends += plan_.shape[side_][q].send_depth * 4;
    receives += plan_.shape[side_][q].recv_depth * 4;
  }
  auto cq = context_.create_cq(plan_.one_cq ? sends + receives : sends);
  if (!cq) return error_of(cq);
  send_cq_ = std::move(*cq);
  if (!plan_.one_cq) {
    auto second = context_.create_cq(receives);
    if (!second) return error_of(second);
    recv_cq_ = std::move(*second);
  }
  auto mr = open_region(source_, plan_.source_at[side_], want_.source[side_], kSourceIova, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  if (!mr) return error_of(mr);
  source_mr_ = std::move(*mr);
  shared_.side[side_].source_rkey = source_mr_.rkey();
  start_ = initial(plan_);
  for (uint32_t q = 0; q < plan_.qps; ++q) {
    if (!plan_.uses(q)) continue;
    lanes_.push_back({.number = q});
    if (auto r = open_lane(lanes_.back()); !r) return r;
  }
  start_ = {};
  return post_receives();
}

Result<Mr> Host::open_region(Region& region, uint32_t at, std::span<const uint8_t> bytes, uint64_t iova, uint32_t access) {
  auto buffer = context_.alloc(at + bytes.size());
  if (!buffer) return error_of(buffer);
  region = {*buffer, at, bytes.size()};
  std::ranges::copy(bytes, region.bytes().begin());
  auto mr = pd_.reg_mr_iova(region.buffer, at, bytes.size(), iova, access);
  if (mr && at != 0 && mr->page_size() < region.buffer.page_size())
    return fail(Errc::kProtocol, "region at {:#x}: the memory has pages of {} bytes, the driver registers pages of {}", iova, region.buffer.page_size(), mr->page_size());
  return mr;
}

Result<void> Host::open_lane(Lane& lane) {
  const uint32_t q = lane.number;
  for (const Operation& o : plan_.ops) {
    if (o.qp != q) continue;
    (o.side == side_ ? lane.sends : lane.incoming).push_back(&o);
    if (o.side != side_ && o.is_send()) lane.receives.push_back(&o);
  }
  auto mr = open_region(lane.landing, plan_.landing_at[side_][q], start_.landing[side_][q], iova_of(q),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  if (!mr) return error_of(mr);
  lane.mr = std::move(*mr);
  shared_.side[side_].landing_rkey[q] = lane.mr.rkey();
  const QpShape& h = plan_.shape[side_][q];
  auto qp = pd_.create_qp({.send_cq = &send_cq_,
                           .recv_cq = plan_.one_cq ? &send_cq_ : &recv_cq_,
                           .cap = {.max_send_wr = h.send_depth, .max_recv_wr = h.recv_depth, .max_send_sge = h.max_sge, .max_recv_sge = 3, .max_inline_data = h.max_inline},
                           .push = h.push});
  if (!qp) return error_of(qp);
  lane.qp = std::move(*qp);
  return {};
}

Result<void> Host::connect() {
  ConnParam param{.responder_resources = plan_.ird[side_], .initiator_depth = plan_.ord[side_], .markers = plan_.markers, .crc = plan_.crc, .timeout = kConnectPatience};
  if (side_ == kServer) {
    auto listener = listen(context_, kPort);
    if (!listener) return error_of(listener);
    shared_.side[side_].listening = true;
    for (Lane& lane : lanes_) {
      auto request = listener->get_request(dev_.now() + kConnectPatience);
      if (!request) return error_of(request);
      auto c = request->accept(lane.qp, param);
      if (!c) return error_of(c);
      lane.connection = std::move(*c);
    }
  } else {
    const Time deadline = dev_.now() + kConnectPatience;
    while (!shared_.side[peer_].listening) {
      if (dev_.now() > deadline || !shared_.failure.empty()) return fail(Errc::kTimedOut, "the server does not listen");
      dev_.relax();
    }
    for (Lane& lane : lanes_) {
      auto c = verbs::connect(lane.qp, {kServerIp, kPort}, param);
      if (!c) return error_of(c);
      lane.connection = std::move(*c);
    }
  }
  shared_.progress = shared_.connected = dev_.now();
  return {};
}

bool Host::is_over() const {
  return std::ranges::all_of(lanes_, [](const Lane& l) { return l.completed == l.sends.size() && l.received == l.receives.size(); });
}

Result<void> Host::exchange() {
  while (!is_over()) {
    for (Lane& lane : lanes_) {
      if (auto r = post(lane); !r) return r;
    }
    const auto n = poll();
    if (!n) return error_of(n);
    if (auto r = *n == 0 ? progress() : post_receives(); !r) return r;
  }
  return {};
}

Result<void> Host::progress() {
  if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "the peer has failed");
  if (auto e = context_.get_async_event(0); e) {
    return fail(Errc::kConnectionLost, "event {} of {}: cause {}, peer's Terminate {:#06x}\n{}", static_cast<unsigned>(e->type), e->object, e->cause, e->peer_term, standing());
  }
  if (dev_.now() > shared_.progress + kPatience) return fail(Errc::kTimedOut, "no completion for {} us\n{}", kPatience / kUs, standing());
  return {};
}

std::string Host::standing() const {
  std::string s;
  for (const Lane& l : lanes_) {
    s += fmt::format("  qp {} {}: posted {} completed {} of {}, receives posted {} done {} of {}", l.number, kSideNames[side_], l.posted, l.completed, l.sends.size(),
                     l.receives_posted, l.received, l.receives.size());
    if (l.completed < l.posted) s += fmt::format("; waits for {}", l.sends[l.completed]->describe());
    s += "\n";
  }
  return s;
}

Sge Host::sge(const Lane& lane, const Piece& p, bool in_landing, bool pointer) const {
  const Region& region = in_landing ? lane.landing : source_;
  if (pointer) return {base::address_of(region.bytes().data() + p.offset), p.length, 0};
  return {(in_landing ? iova_of(lane.number) : kSourceIova) + p.offset, p.length, in_landing ? lane.mr.lkey() : source_mr_.lkey()};
}

// The next group of joined requests, if all of it fits.
Result<void> Host::post(Lane& lane) {
  if (lane.posted == lane.sends.size() || dev_.now() < lane.rest_until) return {};
  const Operation& first = *lane.sends[lane.posted];
  if (first.pause_ns != 0 && lane.rest_until == 0) {
    lane.rest_until = dev_.now() + first.pause_ns * kNs;
    return {};
  }
  size_t end = lane.posted + 1;
  while (end < lane.sends.size() && lane.sends[end]->joined) ++end;
  const std::span<const Operation* const> group(&lane.sends[lane.posted], end - lane.posted);
  const auto sends = static_cast<size_t>(std::ranges::count_if(group, [](const Operation* o) { return o->is_send(); }));
  if (end - lane.completed > plan_.shape[side_][lane.number].send_depth) return {};
  if (lane.sends_posted + sends > shared_.side[peer_].receives[lane.number]) return {};
  std::vector<std::vector<Sge>> sges(group.size());
  std::vector<SendWr> wrs;
  for (size_t k = 0; k < group.size(); ++k) {
    const Operation& o = *group[k];
    for (const Piece& p : o.local) sges[k].push_back(sge(lane, p, o.local_landing, o.is_inline));
    SendWr wr{.wr_id = o.number, .sg_list = sges[k], .opcode = o.is_send() ? IBV_WR_SEND : o.op == Op::kWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ};
    wr.send_flags = (o.signaled ? IBV_SEND_SIGNALED : 0u) | (o.fence ? IBV_SEND_FENCE : 0u) | (o.is_inline ? IBV_SEND_INLINE : 0u) |
                    (o.op == Op::kSendSolicited ? IBV_SEND_SOLICITED : 0u);
    if (!o.is_send()) {
      wr.remote_addr = (o.remote_landing ? iova_of(lane.number) : kSourceIova) + o.remote.offset;
      wr.rkey = o.remote_landing ? shared_.side[peer_].landing_rkey[lane.number] : shared_.side[peer_].source_rkey;
    }
    wrs.push_back(wr);
  }
  const auto r = lane.qp.post_send(wrs);
  if (!r) return fail(r.error->code, "post of {}: {}", group[r.accepted]->describe(), r.error->what);
  lane.posted = end;
  lane.sends_posted += sends;
  lane.rest_until = 0;
  shared_.posted += group.size();
  return {};
}

// As many as the queue takes. The peer hears of them when a register read behind the doorbells has been answered: then the device has them.
Result<void> Host::post_receives() {
  bool any = false;
  for (Lane& lane : lanes_) {
    const uint32_t depth = plan_.shape[side_][lane.number].recv_depth;
    while (lane.receives_posted < lane.receives.size() && lane.receives_posted - lane.received < depth) {
      const Operation& o = *lane.receives[lane.receives_posted];
      std::vector<Sge> sges;
      for (const Piece& p : o.receive) sges.push_back(sge(lane, p, true, false));
      const auto r = lane.qp.post_recv({.wr_id = o.number, .sg_list = sges});
      if (!r) return fail(r.error->code, "receive for {}: {}", o.describe(), r.error->what);
      ++lane.receives_posted;
      any = true;
    }
  }
  if (!any) return {};
  (void)dev_.read64(0, spec::kCountItemsOffset);
  for (const Lane& lane : lanes_) shared_.side[side_].receives[lane.number] = lane.receives_posted;
  return {};
}

Result<size_t> Host::poll() {
  size_t all = 0;
  for (Cq* cq : {&send_cq_, &recv_cq_}) {
    if (cq == &recv_cq_ && plan_.one_cq) break;
    std::array<Wc, 16> wcs;
    const auto n = cq->poll_cq(wcs);
    if (!n) return n;
    for (const Wc& wc : std::span(wcs).first(*n)) {
      if (auto r = take(wc); !r) return error_of(r);
    }
    all += *n;
  }
  return all;
}

Result<void> Host::take(const Wc& wc) {
  shared_.progress = dev_.now();
  ++shared_.completions;
  for (Lane& lane : lanes_) {
    if (lane.qp.qp_num() != wc.qp_num) continue;
    if (wc.status != IBV_WC_SUCCESS) {
      return fail(Errc::kConnectionLost, "qp {}: completion {} (vendor {}) of request {}\n{}", lane.number, to_string(wc.status), wc.vendor_err, wc.wr_id, standing());
    }
    return wc.opcode == IBV_WC_RECV ? take_receive(lane, wc) : take_send(lane, wc);
  }
  return fail(Errc::kProtocol, "completion of QP {}, which nobody has", wc.qp_num);
}

Result<void> Host::take_send(Lane& lane, const Wc& wc) {
  size_t next = lane.completed;
  while (next < lane.posted && !lane.sends[next]->signaled) ++next;
  if (next == lane.posted) return fail(Errc::kProtocol, "qp {}: completion of request {}, but none is under way that was to be signalled", lane.number, wc.wr_id);
  const Operation& o = *lane.sends[next];
  if (wc.wr_id != o.number || wc.opcode != completion_of(o) || wc.byte_len != o.length) {
    return fail(Errc::kProtocol, "qp {}: completion of request {} opcode {} byte_len {}, but the next is {}", lane.number, wc.wr_id, static_cast<unsigned>(wc.opcode),
                wc.byte_len, o.describe());
  }
  for (; lane.completed <= next; ++lane.completed) {
    const Operation& done = *lane.sends[lane.completed];
    if (auto r = ask(done); !r) return r;
    if (done.op != Op::kRead) continue;
    if (auto r = compare(lane, {done.local[0].offset, done.length}, done, "at its completion"); !r) return r;
  }
  return {};
}

Result<void> Host::ask(const Operation& op) const {
  const std::string wrong = shared_.also ? shared_.also(op) : "";
  if (wrong.empty()) return {};
  return fail(Errc::kProtocol, "{}: {}", op.describe(), wrong);
}

// The message has come, and with it every Write before it.
Result<void> Host::take_receive(Lane& lane, const Wc& wc) {
  if (lane.received == lane.receives_posted) return fail(Errc::kProtocol, "qp {}: a receive completes, but none is posted", lane.number);
  const Operation& o = *lane.receives[lane.received++];
  if (wc.wr_id != o.number || wc.byte_len != o.length) {
    return fail(Errc::kProtocol, "qp {}: receive {} of {} bytes, but the next is for {}", lane.number, wc.wr_id, wc.byte_len, o.describe());
  }
  for (const Piece& p : o.receive) {
    if (auto r = compare(lane, p, o, "at its receive"); !r) return r;
  }
  for (; lane.incoming[lane.checked_writes] != &o; ++lane.checked_writes) {
    const Operation& w = *lane.incoming[lane.checked_writes];
    if (w.op != Op::kWrite) continue;
    if (auto r = compare(lane, {w.remote.offset, w.length}, w, fmt::format("when #{} behind it has come", o.number)); !r) return r;
  }
  return {};
}

Result<void> Host::compare(const Lane& lane, const Piece& piece, const Operation& op, std::string_view when) {
  const auto is = lane.landing.bytes().subspan(piece.offset, piece.length);
  const auto expected = std::span(want_.landing[side_][lane.number]).subspan(piece.offset, piece.length);
  shared_.bytes_checked += piece.length;
  const auto [a, b] = std::ranges::mismatch(is, expected);
  if (a == is.end()) return {};
  size_t wrong = 0;
  for (size_t i = 0; i < is.size(); ++i) wrong += is[i] != expected[i] ? 1 : 0;
  const auto at = static_cast<size_t>(a - is.begin());
  if (!shared_.wrong) shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + piece.offset + at)};
  return fail(Errc::kProtocol, "memory of {} qp {} at {:#x} (byte {} of a piece of {}): {:02x}, should be {:02x}; {} bytes differ; {} {}", kSideNames[side_], lane.number,
              piece.offset + at, at, piece.length, *a, *b, wrong, when, op.describe());
}

Result<void> Host::compare_all() {
  Operation none;
  for (const Lane& lane : lanes_) {
    if (auto r = compare(lane, {0, static_cast<uint32_t>(lane.landing.size)}, none, "at the end; no operation:"); !r) return r;
  }
  if (!std::ranges::equal(source_.bytes(), want_.source[side_])) return fail(Errc::kProtocol, "memory of {}: the source region, which nobody writes, has changed", kSideNames[side_]);
  return {};
}

// The contexts and STag entries as the device holds them, at rest; in tandem each answer is compared with the model's.
Result<void> Host::look() {
  const auto ask = [&](spec::AdminOpcode opcode, uint32_t object) { return manager_->execute(dev_, opcode, object); };
  const auto region = [&](const Mr& mr) -> Result<void> {
    const auto rsp = ask(spec::AdminOpcode::kQueryMr, mr.lkey());
    if (!rsp) return error_of(rsp);
    const auto is = spec::AdminMrResult::unpack(rsp->result);
    if (is.stag == mr.lkey() && is.length == mr.length()) return {};
    return fail(Errc::kProtocol, "region {:#x} of {} bytes: query_mr says {:#x}, {} bytes", mr.lkey(), mr.length(), is.stag, is.length);
  };
  for (const Lane& lane : lanes_) {
    const auto rsp = ask(spec::AdminOpcode::kQueryQp, lane.qp.qp_num());
    if (!rsp) return error_of(rsp);
    const auto is = spec::AdminQpResult::unpack(rsp->result);
    // The server's may have seen the client leave.
    if (side_ == kClient && is.state != spec::QpState::kRts) return fail(Errc::kProtocol, "qp {}: query_qp says state {} at the end, with no error", lane.number, static_cast<unsigned>(is.state));
    if (auto r = region(lane.mr); !r) return r;
  }
  for (const Cq* cq : {&send_cq_, &recv_cq_}) {
    if (cq == &recv_cq_ && plan_.one_cq) break;
    const auto rsp = ask(spec::AdminOpcode::kQueryCq, cq->number());
    if (!rsp) return error_of(rsp);
    if (spec::AdminCqResult::unpack(rsp->result).overrun != 0) return fail(Errc::kProtocol, "CQ {}: query_cq says it has overrun", cq->number());
  }
  return region(source_mr_);
}

Result<void> Host::finish() {
  shared_.side[side_].done = true;
  while (!shared_.side[peer_].done) {
    const auto n = poll();  // there is nothing to come
    if (!n) return error_of(n);
    if (auto r = progress(); !r) return r;
  }
  for (const Time until = dev_.now() + kAfterwards; dev_.now() < until;) {
    if (const auto n = poll(); !n) return error_of(n);
  }
  if (auto r = compare_all(); !r) return r;
  if (auto r = look(); !r) return r;
  for (Lane& lane : lanes_) {
    if (side_ == kServer) {
      if (auto r = lane.connection.wait_disconnected(dev_.now() + kConnectPatience); !r) return r;
    }
    if (auto r = lane.connection.disconnect(kConnectPatience); !r) return r;
  }
  return {};
}

}  // namespace rnic::app::regress
