// One thread of one host's part of a plan. See regress_host.hpp.
#include "regress_host.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "gen/errors.hpp"
#include "gen/regs.hpp"

namespace rnic::app::regress {

using namespace verbs;
using spec::Cause;

namespace {

constexpr uint64_t kSourceIova = uint64_t{1} << 44, kSmallIova = uint64_t{1} << 45;
constexpr uint32_t kServerIp = 0x0a000002, kSmallBytes = kPage,
                   kAccess =
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr uint16_t kPort = 4791;
constexpr Time kPatience = 3 * kMs, kConnectPatience = 20 * kMs, kAfterwards = 5 * kUs,
               kLook = 2 * kUs, kSleep = 5 * kUs, kEventPatience = 30 * kUs;
constexpr uint64_t kSpareId = 600'000, kOtherId = 700'000, kAgeId = 2'000'000;

WcOpcode completion_of(const Operation& o) {
  return o.is_send() ? IBV_WC_SEND : o.op == Op::kWrite ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ;
}

struct OfFault {
  Cause cause;         // at the peer's device; of a local one at the device of who posts it
  uint16_t terminate;  // layer, type and code that the other side is sent
  WcStatus offender;   // completion of what is wrong
  WcStatus receive;    // completion of the first spare receive
};
OfFault of(Fault f) {
  constexpr auto kFlushed = IBV_WC_WR_FLUSH_ERR;
  switch (f) {
    case Fault::kWriteKey:
    case Fault::kWriteStale:
    case Fault::kWriteRights:
      return {Cause::kDdpTaggedStag, 0x1100, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteDomain:
      return {Cause::kDdpTaggedAssoc, 0x1102, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteBounds:
      return {Cause::kDdpTaggedBounds, 0x1101, IBV_WC_SUCCESS, kFlushed};
    case Fault::kWriteWrap:
      return {Cause::kDdpTaggedWrap, 0x1103, IBV_WC_SUCCESS, kFlushed};
    case Fault::kReadKey:
      return {Cause::kRdmapStag, 0x0100, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadRights:
      return {Cause::kRdmapRights, 0x0102, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadDomain:
      return {Cause::kRdmapAssoc, 0x0103, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadBounds:
      return {Cause::kRdmapBounds, 0x0101, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kReadWrap:
      return {Cause::kRdmapWrap, 0x0104, IBV_WC_REM_ACCESS_ERR, kFlushed};
    case Fault::kNoReceive:
      return {Cause::kDdpUntaggedNoBuffer, 0x1202, IBV_WC_SUCCESS, kFlushed};
    case Fault::kTooLong:
      return {Cause::kDdpUntaggedTooLong, 0x1205, IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR};
    case Fault::kReceiveKey:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR};
    case Fault::kLocalKey:
    case Fault::kLocalBounds:
    case Fault::kLocalDomain:
    case Fault::kLocalSink:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_LOC_PROT_ERR, kFlushed};
    case Fault::kCqOverflow:
      return {Cause::kLocalCatastrophic, 0x0000, IBV_WC_SUCCESS, kFlushed};
  }
  return {};
}

std::optional<EventType> event_of(Cause cause) {
  for (const auto& row : spec::kCauses) {
    if (row.cause == cause && row.user_sees == "IBV_EVENT_QP_ACCESS_ERR")
      return IBV_EVENT_QP_ACCESS_ERR;
  }
  return IBV_EVENT_QP_FATAL;
}

}  // namespace

void Host::run() {
  auto r = body();
  own_.hosts[thread_] = nullptr;
  std::erase_if(own_.owner, [&](const auto& entry) { return entry.second == this; });
  if (r && shared_.failure.empty()) return;
  if (!r && shared_.failure.empty()) {
    shared_.failure = fmt::format("{} thread {}: {}", kSideNames[side_], thread_, r.error().what);
    shared_.failed_at = dev_.now();
  }
  // A device that fails may answer nothing any more: its queues stay as they are until this process ends.
  struct Left {
    std::unique_ptr<Manager> manager;
    Context context;
    std::vector<std::array<Cq, 2>> cqs;
    std::vector<Domain> domains;
    std::optional<Listener> listener;
    std::deque<Lane> lanes;
  };
  new Left{std::move(manager_), std::move(context_),  std::move(cqs_),
           std::move(domains_), std::move(listener_), std::move(lanes_)};
}

Result<void> Host::body() {
  for (uint32_t q = 0; q < plan_.qps; ++q) {
    if (!plan_.uses(q) || plan_.thread(side_, q) != thread_) continue;
    Lane& lane = lanes_.emplace_back();
    lane.number = q;
    lane.life = &plan_.life[q];
    for (const Operation& o : plan_.ops) {
      if (o.qp != q) continue;
      (o.side == side_ ? lane.sends : lane.incoming).push_back(&o);
      if (o.side != side_ && o.is_send()) lane.receives.push_back(&o);
    }
  }
  if (lanes_.empty() && thread_ != 0) {
    ++own_.done;
    ++own_.left;
    return {};
  }
  if (auto r = open(); !r) return r;
  const auto everyone_is_done = [&] {
    return own_.done == shape_.threads && shared_.side[peer_].done == plan_.host[peer_].threads;
  };
  for (bool told = false; !everyone_is_done();) {
    bool moved = false;
    for (Lane& lane : lanes_) {
      const auto before = std::tuple(lane.phase, lane.posted, lane.receives_posted);
      if (auto r = step(lane); !r) return r;
      moved = moved || before != std::tuple(lane.phase, lane.posted, lane.receives_posted);
    }
    if (auto r = accept(); !r) return r;
    const auto n = poll();
    if (!n) return error_of(n);
    if (!told && all_over()) {
      told = true;
      dev_.before_shared();
      ++own_.done;
    }
    if (*n != 0 || moved) continue;
    if (auto r = progress(); !r) return r;
    if (auto r = sleep(); !r) return r;
  }
  for (const Time until = dev_.now() + kAfterwards;
       dev_.now() < until;) {  // there is nothing to come
    if (const auto n = poll(); !n) return error_of(n);
  }
  if (auto r = take_events(); !r) return r;
  if (!lanes_.empty() && !std::ranges::equal(source_.bytes(), want_.source[side_]))
    return fail(Errc::kProtocol,
                "memory of {}: the source region, which nobody writes, has changed",
                kSideNames[side_]);
  if (!lanes_.empty() && std::ranges::any_of(small_.bytes(), [](uint8_t b) { return b != 0; }))
    return fail(Errc::kProtocol, "memory of {}: a region that nobody may write has changed",
                kSideNames[side_]);
  for (const auto& pair : shape_.shared_cq&& thread_ == 0 ? own_.cqs : cqs_) {
    for (const Cq& cq : pair) {
      if (cq.core() == nullptr) continue;
      const auto rsp = own_.manager->execute(dev_, spec::AdminOpcode::kQueryCq, cq.number());
      if (!rsp) return error_of(rsp);
      if (spec::AdminCqResult::unpack(rsp->result).overrun != 0)
        return fail(Errc::kProtocol, "CQ {}: query_cq says it has overrun", cq.number());
    }
  }
  lanes_.clear();
  listener_.reset();
  domains_.clear();
  cqs_.clear();
  context_ = Context();
  dev_.before_shared();
  ++own_.left;
  if (thread_ != 0) return {};
  while (own_.left != shape_.threads) {
    dev_.relax();
    if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "another thread has failed");
  }
  own_.cqs.clear();
  own_.context = Context();
  manager_.reset();
  return {};
}

bool Host::all_over() const {
  return std::ranges::all_of(lanes_, [](const Lane& l) { return l.phase == Phase::kOver; });
}

Result<void> Host::open_queues(Context& context, std::vector<std::array<Cq, 2>>& cqs, bool of_all) {
  for (uint32_t c = 0; c < shape_.cqs; ++c) {
    uint32_t sends = 8, receives = 8;
    for (uint32_t q = 0; q < plan_.qps; ++q) {
      if (!plan_.uses(q) || (!of_all && plan_.thread(side_, q) != thread_) ||
          plan_.life[q].cq[side_] % shape_.cqs != c)
        continue;
      sends += plan_.shape[side_][q].send_depth + 8;
      receives += plan_.shape[side_][q].recv_depth + 8;
    }
    auto& pair = cqs.emplace_back();
    const uint32_t flags = of_all ? 0u : uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
    const uint32_t vectors = context.query_device().num_comp_vectors;
    for (uint32_t k = 0; k < (plan_.one_cq ? 1u : 2u); ++k) {
      auto cq = context.create_cq(plan_.one_cq ? sends + receives
                                  : k == 0     ? sends
                                               : receives,
                                  (thread_ + 2 * c + k) % vectors, flags);
      if (!cq) return error_of(cq);
      pair[k] = std::move(*cq);
    }
  }
  return {};
}

Result<void> Host::open() {
  if (thread_ == 0) {
    auto manager = Manager::open(dev_, settings_);
    if (!manager) return error_of(manager);
    manager_ = std::move(*manager);
    if (shape_.shared_cq) {
      auto context = Context::open(dev_, *manager_);
      if (!context) return error_of(context);
      own_.context = *context;
      if (auto r = open_queues(own_.context, own_.cqs, true); !r) return r;
    }
    dev_.before_shared();
    own_.manager = manager_.get();
  }
  while (own_.manager == nullptr) {
    dev_.relax();
    if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "another thread has failed");
  }
  if (lanes_.empty()) return {};
  if (shape_.shared_cq) {
    context_ = own_.context;
  } else {
    auto context = Context::open(dev_, *own_.manager);
    if (!context) return error_of(context);
    context_ = std::move(*context);
    if (auto r = open_queues(context_, cqs_, false); !r) return r;
  }
  for (Region* region : {&source_, &small_}) {
    const bool is_source = region == &source_;
    const uint64_t at = is_source ? plan_.source_at[side_] : 0,
                   size = is_source ? want_.source[side_].size() : kSmallBytes;
    auto buffer = context_.alloc(at + size);
    if (!buffer) return error_of(buffer);
    *region = {*buffer, at, size};
  }
  std::ranges::copy(want_.source[side_], source_.bytes().begin());
  for (uint32_t k = 0; k < shape_.pds; ++k) {
    auto pd = context_.alloc_pd();
    if (!pd) return error_of(pd);
    Domain& d = domains_.emplace_back();
    d.pd = std::move(*pd);
    auto source =
        open_region(d.pd, source_, kSourceIova, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    if (!source) return error_of(source);
    d.source = std::move(*source);
    auto small =
        open_region(d.pd, small_, kSmallIova, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!small) return error_of(small);
    d.unreadable = std::move(*small);
  }
  if (side_ == kClient) return {};
  auto listener = listen(context_, static_cast<uint16_t>(kPort + thread_));
  if (!listener) return error_of(listener);
  listener_.emplace(std::move(*listener));
  return {};
}

Result<Mr> Host::open_region(const Pd& pd, Region& region, uint64_t iova, uint32_t access) {
  Pd owner = pd;
  auto mr = owner.reg_mr_iova(region.buffer, region.at, region.size, iova, access);
  if (mr && region.at != 0 && mr->page_size() < region.buffer.page_size())
    return fail(
        Errc::kProtocol,
        "region at {:#x}: the memory has pages of {} bytes, the driver registers pages of {}", iova,
        region.buffer.page_size(), mr->page_size());
  return mr;
}

Result<void> Host::open_lane(Lane& lane) {
  const uint32_t q = lane.number;
  const Life& life = *lane.life;
  const auto& start = shared_.start.landing[side_][q];
  auto buffer = context_.alloc(plan_.landing_at[side_][q] + start.size());
  if (!buffer) return error_of(buffer);
  lane.landing = {*buffer, plan_.landing_at[side_][q], start.size()};
  std::ranges::copy(start, lane.landing.bytes().begin());
  auto mr = open_region(domain(lane).pd, lane.landing, plan_.iova(side_, q),
                        kAccess | (life.base[side_] == Base::kZero ? IBV_ACCESS_ZERO_BASED : 0u));
  if (!mr) return error_of(mr);
  lane.mr = std::move(*mr);
  Published& p = mine(lane);
  if (life.end == End::kFault && life.fault == Fault::kWriteStale && life.who != side_) {
    auto stale = open_region(domain(lane).pd, small_, kSmallIova, kAccess);
    if (!stale) return error_of(stale);
    p.stale = stale->rkey();
    if (auto r = stale->dereg(); !r) return r;
  }
  const QpShape& h = plan_.shape[side_][q];
  auto& pair = (shape_.shared_cq ? own_.cqs : cqs_)[life.cq[side_] % shape_.cqs];
  Cq* const receives = plan_.one_cq ? pair.data() : &pair[1];
  if (overflows(lane)) {
    auto cq = context_.create_cq(kOverflowCqe);
    if (!cq) return error_of(cq);
    lane.own_cq = std::move(*cq);
  }
  auto qp = domain(lane).pd.create_qp(
      {.send_cq = overflows(lane) ? &lane.own_cq : pair.data(),
       .recv_cq = receives,
       .cap = {.max_send_wr = overflows(lane) ? 2 * kOverflowSends : h.send_depth,
               .max_recv_wr = h.recv_depth,
               .max_send_sge = h.max_sge,
               .max_recv_sge = 3,
               .max_inline_data = h.max_inline},
       .push = h.push});
  if (!qp) return error_of(qp);
  lane.qp = std::move(*qp);
  dev_.before_shared();
  own_.owner[lane.qp.qp_num()] = this;
  lane.phase = Phase::kOpen;
  if (auto r = post_receives(lane); !r) return r;
  p.landing = lane.mr.rkey();
  p.source = domain(lane).source.rkey();
  p.unreadable = domain(lane).unreadable.rkey();
  p.foreign = domains_[(life.pd[side_] + 1) % domains_.size()].source.rkey();
  p.ready = true;
  shared_.progress = dev_.now();
  return {};
}

Result<void> Host::connect(Lane& lane) {
  const std::array<uint8_t, 1> name{static_cast<uint8_t>(lane.number)};
  const auto port = static_cast<uint16_t>(kPort + plan_.thread(kServer, lane.number));
  auto c = verbs::connect(lane.qp, {kServerIp, port},
                          {.private_data = name,
                           .responder_resources = plan_.ird[side_],
                           .initiator_depth = plan_.ord[side_],
                           .markers = plan_.markers,
                           .crc = plan_.crc,
                           .timeout = kConnectPatience});
  if (!c) return fail(c.error().code, "qp {}: {}", lane.number, c.error().what);
  lane.connection = std::move(*c);
  lane.phase = Phase::kRunning;
  mine(lane).connected = true;
  shared_.progress = dev_.now();
  if (shared_.connected == 0) shared_.connected = dev_.now();
  return {};
}

Result<void> Host::accept() {
  if (!listener_ ||
      std::ranges::none_of(lanes_, [](const Lane& l) { return l.phase == Phase::kOpen; }))
    return {};
  const Hold hold(*this);
  auto request = listener_->get_request(0);
  if (!request) {
    if (listener_->bad_requests() == 0) return {};
    return fail(Errc::kProtocol, "a connection was closed before its MPA Request was whole");
  }
  const auto name = request->private_data();
  const auto lane = std::ranges::find_if(
      lanes_, [&](const Lane& l) { return name.size() == 1 && l.number == name[0]; });
  if (lane == lanes_.end() || lane->phase != Phase::kOpen)
    return fail(Errc::kProtocol,
                "thread {}: a request to connect that is not of any of its QPs: {}\n{}", thread_,
                fmt::join(name, " "), standing());
  auto c = request->accept(lane->qp, {.responder_resources = plan_.ird[side_],
                                      .initiator_depth = plan_.ord[side_],
                                      .markers = plan_.markers,
                                      .crc = plan_.crc,
                                      .timeout = kConnectPatience});
  if (!c) return fail(c.error().code, "qp {}: {}", lane->number, c.error().what);
  lane->connection = std::move(*c);
  lane->phase = Phase::kRunning;
  mine(*lane).connected = true;
  shared_.progress = dev_.now();
  return {};
}

Result<void> Host::progress() {
  if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "another thread has failed");
  if (auto r = take_events(); !r) return r;
  if (dev_.now() > shared_.progress + kPatience)
    return fail(Errc::kTimedOut, "no completion for {} us\n{}", kPatience / kUs, standing());
  return {};
}

// An armed queue says that it has completions: a thread that has seen one come without an event has found a fault.
Result<void> Host::sleep() {
  if (!shape_.armed || cqs_.empty() || all_over()) return {};
  Cq& cq = cqs_[0][0];
  if (!is_armed_) {
    if (auto r = cq.req_notify_cq(); !r) return r;
    is_armed_ = true;
    return {};  // polls once more
  }
  auto event = cq.get_cq_event(dev_.now() + kSleep);
  if (!event && event.error().code == Errc::kTimedOut) {
    std::array<Wc, 1> one;
    const auto n = cq.poll_cq(one);
    if (!n) return error_of(n);
    if (*n == 0) return {};
    event = cq.get_cq_event(dev_.now() + kEventPatience);
    if (!event)
      return fail(event.error().code,
                  "a completion of request {} has come, and no event of the armed CQ {} in {} us",
                  one[0].wr_id, cq.number(), kEventPatience / kUs);
    is_armed_ = false;
    ++shared_.events;
    return take(one[0]);
  }
  is_armed_ = false;
  ++shared_.events;
  return event;
}

Result<void> Host::take_events() {
  if (context_.core() == nullptr) return {};
  for (;;) {
    auto e = [&] {
      const Hold hold(*this);
      return context_.get_async_event(0);
    }();
    if (!e) return {};
    shared_.progress = dev_.now();
    Host* owner = this;
    if (e->type != IBV_EVENT_CQ_ERR) {
      const auto found = own_.owner.find(e->object);
      if (found == own_.owner.end())
        return fail(Errc::kProtocol, "event {} of QP {}, which nobody has: cause {}",
                    static_cast<unsigned>(e->type), e->object, e->cause);
      owner = found->second;
    }
    bool is_known = false;
    for (uint32_t t = 0; t < shape_.threads && !is_known; ++t) {
      if (e->type == IBV_EVENT_CQ_ERR) owner = own_.hosts[t];
      if (owner == nullptr) continue;
      for (Lane& lane : owner->lanes_) {
        if (lane.phase == Phase::kWaiting || lane.phase == Phase::kOver) continue;
        if (e->type == IBV_EVENT_CQ_ERR) {
          if (lane.own_cq.core() == nullptr || lane.own_cq.number() != e->object ||
              lane.phase != Phase::kDraining)
            continue;
          lane.cq_failed = true;
        } else {
          if (lane.qp.qp_num() != e->object) continue;
          lane.events.push_back(*e);
          const bool is_planned = !lane.life->closes();
          if (!is_planned) {
            return fail(Errc::kConnectionLost,
                        "qp {}: event {}: cause {}, peer's Terminate {:#06x}\n{}", lane.number,
                        static_cast<unsigned>(e->type), e->cause, e->peer_term, standing());
          }
        }
        is_known = true;
        break;
      }
    }
    if (!is_known)
      return fail(Errc::kProtocol, "event {} of {}: cause {}, of nothing that is in use\n{}",
                  static_cast<unsigned>(e->type), e->object, e->cause, standing());
  }
}

std::string Host::standing() const {
  static constexpr std::array kPhases = {"waiting", "open",     "running",
                                         "ending",  "draining", "over"};
  std::string s;
  for (const Lane& l : lanes_) {
    s += fmt::format(
        "  qp {} {} thread {} {}: posted {} completed {} of {}, receives posted {} done {} of {}, "
        "outstanding {} and {}",
        l.number, kSideNames[side_], thread_, kPhases[static_cast<size_t>(l.phase)], l.posted,
        l.completed, l.sends.size(), l.receives_posted, l.receives_done, l.receives.size(),
        l.sent.size(), l.received.size());
    if (!l.sent.empty() && l.sent.front().op != nullptr)
      s += fmt::format("; waits for {}", l.sent.front().op->describe());
    s += "\n";
  }
  return s;
}

Sge Host::sge(const Lane& lane, const Piece& p, bool in_landing, bool pointer) const {
  const Region& region = in_landing ? lane.landing : source_;
  if (pointer) return {base::address_of(region.bytes().data() + p.offset), p.length, 0};
  return {(in_landing ? plan_.iova(side_, lane.number) : kSourceIova) + p.offset, p.length,
          in_landing ? lane.mr.lkey() : domain(lane).source.lkey()};
}

// --- a lane's phases

Result<void> Host::step(Lane& lane) {
  const Life& life = *lane.life;
  switch (lane.phase) {
    case Phase::kWaiting: {
      const auto before = plan_.before(lane.number);
      if (before && !own_.lane[*before].over) return {};
      const Hold hold(*this);
      return open_lane(lane);
    }
    case Phase::kOpen: {
      if (side_ == kServer || !theirs(lane).ready) return {};
      const Hold hold(*this);
      return connect(lane);
    }
    case Phase::kRunning: {
      if (auto r = post(lane); !r) return r;
      if (auto r = post_receives(lane); !r) return r;
      const bool prepared =
          lane.spares_posted == life.spare[side_] && lane.receives_posted == lane.receives.size();
      const bool quiet = prepared && lane.completed == lane.sends.size() &&
                         lane.receives_done == lane.receives.size();
      mine(lane).prepared = prepared;
      mine(lane).quiet = quiet;
      const Published& other = theirs(lane);
      if (!is_victim_of(lane)) {
        if (!quiet || !other.quiet) return {};
      } else if (life.who == side_) {
        if (!other.connected) return {};
        if (life.end == End::kAbort && lane.posted * 100 < lane.sends.size() * life.after)
          return {};
        if (life.end == End::kFault && (!other.prepared || lane.completed != lane.sends.size()))
          return {};
      } else if (!other.is_ending) {
        return {};
      }
      lane.phase = Phase::kEnding;
      shared_.progress = dev_.now();
      return {};
    }
    case Phase::kEnding: {
      const bool first = lane.life->end == End::kBothClose ||
                         (lane.life->end == End::kClientCloses && side_ == kClient) ||
                         (lane.life->end == End::kServerCloses && side_ == kServer);
      if (life.closes() && !first && lane.looked && !theirs(lane).is_ending) return {};
      const Hold hold(*this);
      return end(lane);
    }
    case Phase::kDraining: {
      if (!is_drained(lane) || dev_.now() < lane.look_at) return {};
      const Hold hold(*this);
      return drain(lane);
    }
    case Phase::kOver:
      return {};
  }
  return {};
}

Result<void> Host::end(Lane& lane) {
  const Life& life = *lane.life;
  const auto leave = [&](QpState to) -> Result<void> {
    auto r = lane.qp.modify(to);
    if (!r && r.error().code != Errc::kBadState) return r;  // it may have left RTS meanwhile
    return {};
  };
  const bool other_ends = theirs(lane).is_ending;
  if (!is_victim_of(lane) && !other_ends && !lane.looked) {
    lane.looked = true;
    if (auto r = compare_all(lane); !r) return r;
    if (auto r = look(lane); !r) return r;
  }
  const bool first = life.end == End::kBothClose ||
                     (life.end == End::kClientCloses && side_ == kClient) ||
                     (life.end == End::kServerCloses && side_ == kServer);
  if (life.closes() && !first && !other_ends) return {};
  mine(lane).is_ending = true;  // before the device is told: the peer may see it at once
  if (life.closes()) {
    if (auto r = leave(IBV_QPS_SQD); !r) return r;
  } else if (life.who == side_ && life.end == End::kAbort) {
    if (auto r = leave(IBV_QPS_ERR); !r) return r;
  } else if (life.who == side_) {
    if (auto r = post_wrong(lane); !r) return r;
  }
  lane.phase = Phase::kDraining;
  shared_.progress = dev_.now();
  return {};
}

// Nothing is to come any more. Of requests that are not signalled nobody hears when they were complete before the end.
bool Host::is_drained(const Lane& lane) const {
  if (!lane.received.empty()) return false;
  if (overflows(lane)) return lane.cq_emptied;
  return std::ranges::all_of(lane.sent,
                             [&](const Posted& p) { return !p.signaled && is_cut(lane, false); });
}

Result<void> Host::drain(Lane& lane) {
  const Life& life = *lane.life;
  lane.look_at = dev_.now() + kLook;
  const auto info = lane.qp.query();
  if (!info) return error_of(info);
  if (!info->drained && info->state != IBV_QPS_INIT) return {};
  if (!overflows(lane) && !lane.sent.empty()) {  // complete, or its flush has still to be polled
    if (lane.drained_at == 0) lane.drained_at = dev_.now();
    if (dev_.now() < lane.drained_at + kAfterwards) return {};
  }
  if (life.late && !life.closes() && !lane.late_posted && !overflows(lane)) {
    lane.late_posted = true;
    const Sge from = sge(lane, {(1 + lane.number * 2 + side_) * kPage, 8}, false, false);
    return post_one(lane, Kind::kLate,
                    {.wr_id = kOtherId + 50,
                     .sg_list = {&from, 1},
                     .opcode = IBV_WR_SEND,
                     .send_flags = IBV_SEND_SIGNALED});
  }
  return finish(lane, *info);
}

Result<void> Host::finish(Lane& lane, const QpInfo& info) {
  if (auto r = take_events(); !r) return r;
  const Expected want = expected(lane);
  const bool as_planned = want.event
                              ? lane.events.size() == 1 && lane.events[0].type == *want.event &&
                                    lane.events[0].cause == want.cause &&
                                    lane.events[0].peer_term == want.peer_term
                              : lane.events.empty();
  if (!as_planned) {
    std::string is;
    for (const AsyncEvent& e : lane.events)
      is += fmt::format(" event {} cause {} Terminate {:#06x};", static_cast<unsigned>(e.type),
                        e.cause, e.peer_term);
    return fail(Errc::kProtocol,
                "qp {}: its end should bring {}, but brought:{} query_qp: state {} cause {} "
                "Terminate {:#06x}\n{}",
                lane.number,
                want.event
                    ? fmt::format("event {} cause {} Terminate {:#06x}",
                                  static_cast<unsigned>(*want.event), want.cause, want.peer_term)
                    : "no event",
                is, to_string(info.state), info.cause, info.peer_term, standing());
  }
  if (overflows(lane) && lane.overflowed != kOverflowRing) {
    return fail(Errc::kProtocol,
                "qp {}: its CQ of {} entries had {} completions when it overflowed", lane.number,
                kOverflowRing, lane.overflowed);
  }
  if (auto r = compare_all(lane); !r) return r;
  dev_.before_shared();
  own_.owner.erase(lane.qp.qp_num());
  lane.phase = Phase::kOver;
  if (auto r = lane.qp.destroy(); !r)
    return fail(r.error().code, "qp {}: destroy: {}", lane.number, r.error().what);
  lane.connection = Connection();
  lane.qp = Qp();
  lane.own_cq = Cq();
  if (auto r = lane.mr.dereg(); !r)
    return fail(r.error().code, "qp {}: dereg: {}", lane.number, r.error().what);
  if (auto r = compare_all(lane); !r) return r;  // drained: nothing has been written since
  lane.mr = Mr();
  lane.landing = {};
  dev_.before_shared();
  mine(lane).over = true;
  ++shared_.lives;
  shared_.progress = dev_.now();
  return {};
}

Host::Expected Host::expected(const Lane& lane) const {
  const Life& life = *lane.life;
  if (life.closes()) return {};
  const bool is_mine = life.who == side_;
  if (life.end == End::kAbort) {
    if (is_mine) return {};
    return {static_cast<uint32_t>(Cause::kLlpLost), IBV_EVENT_QP_FATAL, 0};
  }
  const OfFault f = of(life.fault);
  if (is_found_locally(life.fault) == is_mine)
    return {static_cast<uint32_t>(f.cause), event_of(f.cause), 0};
  return {static_cast<uint32_t>(Cause::kPeerTerminate), IBV_EVENT_QP_FATAL, f.terminate};
}

// --- posting

// The next group of joined requests, if all of it fits.
Result<void> Host::post(Lane& lane) {
  if (lane.send_failed) return {};
  if (lane.life->aged && lane.life->who == side_ && lane.aged < kAge) return age(lane);
  if (lane.posted == lane.sends.size() || dev_.now() < lane.rest_until) return {};
  const Operation& first = *lane.sends[lane.posted];
  if (first.pause_ns != 0 && lane.rest_until == 0) {
    lane.rest_until = dev_.now() + first.pause_ns * kNs;
    return {};
  }
  size_t end = lane.posted + 1;
  while (end < lane.sends.size() && lane.sends[end]->joined) ++end;
  const std::span<const Operation* const> group(&lane.sends[lane.posted], end - lane.posted);
  const auto sends = static_cast<size_t>(
      std::ranges::count_if(group, [](const Operation* o) { return o->is_send(); }));
  if (lane.sent.size() + group.size() > plan_.shape[side_][lane.number].send_depth) return {};
  if (lane.sends_posted + sends > theirs(lane).receives) return {};
  std::vector<std::vector<Sge>> sges(group.size());
  std::vector<SendWr> wrs;
  for (size_t k = 0; k < group.size(); ++k) {
    const Operation& o = *group[k];
    for (const Piece& p : o.local) sges[k].push_back(sge(lane, p, o.local_landing, o.is_inline));
    SendWr wr{.wr_id = o.number,
              .sg_list = sges[k],
              .opcode = o.is_send()          ? IBV_WR_SEND
                        : o.op == Op::kWrite ? IBV_WR_RDMA_WRITE
                                             : IBV_WR_RDMA_READ};
    wr.send_flags = (o.signaled ? IBV_SEND_SIGNALED : 0u) | (o.fence ? IBV_SEND_FENCE : 0u) |
                    (o.is_inline ? IBV_SEND_INLINE : 0u) |
                    (o.op == Op::kSendSolicited ? IBV_SEND_SOLICITED : 0u);
    if (!o.is_send()) {
      wr.remote_addr =
          (o.remote_landing ? plan_.iova(peer_, lane.number) : kSourceIova) + o.remote.offset;
      wr.rkey = o.remote_landing ? theirs(lane).landing : theirs(lane).source;
    }
    wrs.push_back(wr);
    lane.sent.push_back({o.number, Kind::kPlanned, &o, o.signaled});
  }
  lane.posted = end;
  lane.sends_posted += sends;
  lane.rest_until = 0;
  shared_.posted += group.size();
  const auto r = lane.qp.post_send(wrs);
  if (!r)
    return fail(r.error->code, "post of {}: {}", group[r.accepted]->describe(), r.error->what);
  return {};
}

Result<void> Host::age(Lane& lane) {
  const uint32_t batch =
      std::min({kAgeBatch, kAge - lane.aged, plan_.shape[side_][lane.number].send_depth / 2});
  if (lane.sent.size() + batch > plan_.shape[side_][lane.number].send_depth) return {};
  const std::vector<Sge> empty(plan_.shape[side_][lane.number].max_sge,
                               sge(lane, {0, 0}, false, false));
  std::vector<SendWr> wrs;
  for (uint32_t k = 0; k < batch; ++k) {
    const bool signaled = k + 1 == batch;
    wrs.push_back({.wr_id = kAgeId + lane.aged++,
                   .sg_list = empty,
                   .opcode = IBV_WR_RDMA_WRITE,
                   .send_flags = signaled ? IBV_SEND_SIGNALED : 0u,
                   .remote_addr = plan_.iova(peer_, lane.number),
                   .rkey = theirs(lane).landing});
    lane.sent.push_back({wrs.back().wr_id, Kind::kAging, nullptr, signaled});
  }
  const auto r = lane.qp.post_send(wrs);
  if (!r)
    return fail(r.error->code, "qp {}: post of an empty Write: {}", lane.number, r.error->what);
  return {};
}

Result<void> Host::post_one(Lane& lane, Kind kind, const SendWr& wr) {
  lane.sent.push_back({wr.wr_id, kind, nullptr, true});
  const auto r = lane.qp.post_send(wr);
  if (!r)
    return fail(r.error->code, "qp {}: post of request {}: {}", lane.number, wr.wr_id,
                r.error->what);
  return {};
}

// What ends the life, and requests behind it that must not be carried out. A Read is the first of them: what comes behind it completes in
// order, so that none of them is complete before the end is known.
Result<void> Host::post_wrong(Lane& lane) {
  const Life& life = *lane.life;
  const Published& other = theirs(lane);
  const uint64_t target = plan_.iova(peer_, lane.number),
                 target_end = target + plan_.landing_bytes[peer_][lane.number];
  const uint32_t sink = plan_.landing_bytes[side_][lane.number] - kSinkFromEnd;
  const uint32_t own =
      (1 + lane.number * 2 + side_) * kPage;  // bytes that no other such request has
  const bool is_read = life.fault >= Fault::kReadKey && life.fault <= Fault::kReadWrap;
  const uint32_t length = is_read || life.fault == Fault::kLocalSink
                              ? std::min(life.length, kSinkFromEnd / 2)
                              : life.length;
  Sge local = is_read || life.fault == Fault::kLocalSink ? sge(lane, {sink, length}, true, false)
                                                         : sge(lane, {own, length}, false, false);
  SendWr wr{.wr_id = kOtherId,
            .sg_list = {&local, 1},
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
            .remote_addr = target,
            .rkey = other.landing};
  if (is_read || life.fault == Fault::kLocalSink) wr.opcode = IBV_WR_RDMA_READ;
  const bool is_odd = life.length % 2 != 0;
  switch (life.fault) {
    case Fault::kWriteKey:
      wr.rkey = is_odd ? other.landing ^ 0x5a : other.landing ^ 0x1000;
      break;
    case Fault::kWriteStale:
      wr.rkey = other.stale, wr.remote_addr = kSmallIova;
      break;
    case Fault::kWriteRights:
      wr.rkey = other.source, wr.remote_addr = kSourceIova;
      break;
    case Fault::kWriteDomain:
      wr.rkey = other.foreign, wr.remote_addr = kSourceIova;
      break;
    case Fault::kReadKey:
      wr.rkey = is_odd ? other.source ^ 0x5a : other.source ^ 0x1000, wr.remote_addr = kSourceIova;
      break;
    case Fault::kReadRights:
      wr.rkey = other.unreadable, wr.remote_addr = kSmallIova;
      break;
    case Fault::kReadDomain:
      wr.rkey = other.foreign, wr.remote_addr = kSourceIova;
      break;
    case Fault::kWriteBounds:
    case Fault::kReadBounds:
      // Behind the last byte, or before the first; where that would wrap the other one.
      wr.remote_addr =
          (is_odd || target == 0) && target_end != 0 && target_end + length > target_end
              ? target_end - length + 1
              : target - 1;
      break;
    case Fault::kWriteWrap:
    case Fault::kReadWrap:
      wr.remote_addr = -uint64_t{length} + 1;
      break;
    case Fault::kNoReceive:
    case Fault::kTooLong:
    case Fault::kReceiveKey:
      wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kLocalKey:
      local.lkey ^= 0x5a;
      if (is_odd) wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kLocalBounds:
      local.addr = kSourceIova + kSourceBytes - length + 1;
      if (is_odd) wr.opcode = IBV_WR_SEND;
      break;
    case Fault::kLocalDomain:
      local.lkey = domains_[(life.pd[side_] + 1) % domains_.size()].source.lkey();
      break;
    case Fault::kLocalSink:
      local.lkey ^= 0x5a;
      break;
    case Fault::kCqOverflow: {
      if (auto r = lane.own_cq.req_notify_cq(); !r) return r;  // the device knows that it is empty
      for (uint32_t k = 0; k < kOverflowSends; ++k) {
        if (auto r = post_one(lane, Kind::kOverflow,
                              {.wr_id = kOtherId + 100 + k,
                               .sg_list = {},
                               .opcode = IBV_WR_RDMA_WRITE,
                               .send_flags = IBV_SEND_SIGNALED,
                               .remote_addr = target,
                               .rkey = other.landing});
            !r)
          return r;
      }
      return {};
    }
  }
  if (auto r = post_one(lane, Kind::kOffender, wr); !r) return r;
  const Sge into = sge(lane, {sink, 8}, true, false),
            from = sge(lane, {own + kPage / 2, 8}, false, false);
  if (auto r = post_one(lane, Kind::kBehind,
                        {.wr_id = kOtherId + 1,
                         .sg_list = {&into, 1},
                         .opcode = IBV_WR_RDMA_READ,
                         .send_flags = IBV_SEND_SIGNALED,
                         .remote_addr = kSourceIova,
                         .rkey = other.source});
      !r)
    return r;
  if (is_read)
    return {};  // the peer checks it when its response is due, and so may place what comes behind it before
  if (auto r = post_one(lane, Kind::kBehind,
                        {.wr_id = kOtherId + 2,
                         .sg_list = {&from, 1},
                         .opcode = IBV_WR_RDMA_WRITE,
                         .send_flags = IBV_SEND_SIGNALED,
                         .remote_addr = target_end - kSinkFromEnd,
                         .rkey = other.landing});
      !r)
    return r;
  return post_one(lane, Kind::kBehind,
                  {.wr_id = kOtherId + 3,
                   .sg_list = {&from, 1},
                   .opcode = IBV_WR_SEND,
                   .send_flags = IBV_SEND_SIGNALED});
}

// As many as the queue takes, then those that nobody uses. The peer hears of them when a register read behind the doorbells has been
// answered: then the device has them.
Result<void> Host::post_receives(Lane& lane) {
  const Life& life = *lane.life;
  if (lane.receive_failed ||
      (life.receives_late[side_] && (lane.phase == Phase::kOpen || dev_.now() < lane.refill_at)))
    return {};
  const uint32_t depth = plan_.shape[side_][lane.number].recv_depth;
  bool any = false;
  while (lane.received.size() < depth) {
    std::vector<Sge> sges;
    uint64_t id = 0;
    const Operation* op = nullptr;
    if (lane.receives_posted < lane.receives.size()) {
      op = lane.receives[lane.receives_posted++];
      id = op->number;
      for (const Piece& p : op->receive) sges.push_back(sge(lane, p, true, false));
    } else if (lane.spares_posted < life.spare[side_]) {
      const auto at = plan_.landing_bytes[side_][lane.number] - kSpareFromEnd +
                      static_cast<uint32_t>(lane.spares_posted) * kSpareStep;
      id = kSpareId + lane.spares_posted;
      sges.push_back(sge(lane, {at, kSpareBytes}, true, false));
      if (life.end == End::kFault && life.fault == Fault::kReceiveKey && life.who != side_ &&
          lane.spares_posted == 0)
        sges[0].lkey ^= 0x5a;
      ++lane.spares_posted;
    } else {
      break;
    }
    lane.received.push_back({id, op == nullptr ? Kind::kSpare : Kind::kPlanned, op, true});
    const auto r = lane.qp.post_recv({.wr_id = id, .sg_list = sges});
    if (!r) return fail(r.error->code, "qp {}: receive {}: {}", lane.number, id, r.error->what);
    any = true;
  }
  if (!any) return {};
  (void)dev_.read64(0, spec::kCountItemsOffset);
  mine(lane).receives = lane.receives_posted;
  return {};
}

// --- completions

// All that a thread takes goes through the inbox of the QP's thread: of a shared CQ another thread may have taken what came before.
Result<size_t> Host::poll() {
  if (context_.core() == nullptr) {
    dev_.relax();
    return 0;
  }
  std::array<Wc, 16> wcs;
  const auto give = [&](Cq& cq) -> Result<void> {
    const auto n = cq.poll_cq(wcs);
    if (!n) return error_of(n);
    for (const Wc& wc : std::span(wcs).first(*n)) {
      const auto owner = own_.owner.find(wc.qp_num);
      if (owner == own_.owner.end())
        return fail(Errc::kProtocol, "completion of QP {}, which nobody has", wc.qp_num);
      owner->second->inbox_.push_back(wc);
    }
    return {};
  };
  for (auto& pair : shape_.shared_cq ? own_.cqs : cqs_) {
    for (Cq& cq : pair) {
      if (cq.core() == nullptr) continue;
      if (auto r = give(cq); !r) return error_of(r);
    }
  }
  for (Lane& lane : lanes_) {
    if (lane.own_cq.core() == nullptr || (lane.phase == Phase::kDraining && !lane.cq_failed))
      continue;
    if (auto r = give(lane.own_cq); !r) {
      if (!lane.cq_failed) return error_of(r);
      lane.cq_emptied = true;
    }
  }
  size_t all = 0;
  for (; !inbox_.empty(); ++all) {
    const Wc wc = inbox_.front();
    inbox_.pop_front();
    if (auto r = take(wc); !r) return error_of(r);
  }
  return all;
}

Result<void> Host::take(const Wc& wc) {
  shared_.progress = dev_.now();
  for (Lane& lane : lanes_) {
    if (lane.phase == Phase::kWaiting || lane.phase == Phase::kOver ||
        lane.qp.qp_num() != wc.qp_num)
      continue;
    ++shared_.completions;
    return wc.opcode == IBV_WC_RECV ? take_receive(lane, wc) : take_send(lane, wc);
  }
  return fail(Errc::kProtocol, "completion of QP {}, which nobody has", wc.qp_num);
}

bool Host::is_cut(const Lane& lane, bool receives) const {
  if (!is_victim_of(lane)) return false;
  return lane.life->end == End::kAbort || (lane.life->who == side_) == receives;
}

// Of a request that the end of the life is about. What is planned succeeds, up to where the peer may be cut short.
WcStatus Host::status_of(const Lane& lane, Kind kind, bool receive) const {
  const Life& life = *lane.life;
  switch (kind) {
    case Kind::kPlanned:
    case Kind::kAging:
      return IBV_WC_SUCCESS;
    case Kind::kOffender:
      return of(life.fault).offender;
    case Kind::kOverflow:
      return IBV_WC_SUCCESS;
    case Kind::kBehind:
    case Kind::kLate:
      return IBV_WC_WR_FLUSH_ERR;
    case Kind::kSpare:
      break;
  }
  const bool is_first = receive && lane.received.front().id == kSpareId;
  return life.end == End::kFault && life.who != side_ && is_first ? of(life.fault).receive
                                                                  : IBV_WC_WR_FLUSH_ERR;
}

Result<void> Host::take_send(Lane& lane, const Wc& wc) {
  size_t next = 0;
  if (wc.status != IBV_WC_WR_FLUSH_ERR) {
    while (next < lane.sent.size() && !lane.sent[next].signaled &&
           (wc.status == IBV_WC_SUCCESS || lane.sent[next].id != wc.wr_id))
      ++next;
  }
  if (next >= lane.sent.size())
    return fail(
        Errc::kProtocol,
        "qp {}: completion {} of request {}, but none is outstanding that was to be signalled\n{}",
        lane.number, to_string(wc.status), wc.wr_id, standing());
  const Posted p = lane.sent[next];
  const std::string name = p.op != nullptr ? p.op->describe() : fmt::format("request {}", p.id);
  if (wc.wr_id != p.id)
    return fail(Errc::kProtocol, "qp {}: completion {} of request {} opcode {}, but the next is {}",
                lane.number, to_string(wc.status), wc.wr_id, static_cast<unsigned>(wc.opcode),
                name);
  const bool may_flush =
      (p.kind == Kind::kPlanned || p.kind == Kind::kAging) && is_cut(lane, false);
  const WcStatus want = status_of(lane, p.kind, false);
  const bool flushed_as_cut = wc.status == IBV_WC_WR_FLUSH_ERR && may_flush;
  if (wc.status == IBV_WC_SUCCESS ? lane.send_failed || want != IBV_WC_SUCCESS
                                  : wc.status != want && !flushed_as_cut) {
    return fail(Errc::kConnectionLost, "qp {}: completion {} (vendor {}) of {}{}\n{}", lane.number,
                to_string(wc.status), wc.vendor_err, name,
                lane.send_failed ? ", behind one that has failed"
                                 : fmt::format(", should be {}", to_string(want)),
                standing());
  }
  if (wc.status != IBV_WC_SUCCESS) {
    lane.send_failed = true;
    lane.sent.pop_front();  // those before it, unsignalled, were complete
    for (size_t k = 0; k < next; ++k) lane.sent.pop_front();
    return {};
  }
  if (p.op != nullptr && (wc.opcode != completion_of(*p.op) || wc.byte_len != p.op->length)) {
    return fail(Errc::kProtocol,
                "qp {}: completion of request {} opcode {} byte_len {}, but the next is {}",
                lane.number, wc.wr_id, static_cast<unsigned>(wc.opcode), wc.byte_len, name);
  }
  for (size_t k = 0; k <= next; ++k) {
    const Posted done = lane.sent.front();
    lane.sent.pop_front();
    if (auto r = succeed(lane, done, wc); !r) return r;
  }
  return {};
}

Result<void> Host::succeed(Lane& lane, const Posted& p, const Wc&) {
  if (p.kind == Kind::kOverflow) ++lane.overflowed;
  if (p.op == nullptr) return {};
  ++lane.completed;
  if (auto r = ask(*p.op); !r) return r;
  if (p.op->op != Op::kRead) return {};
  return compare(lane, {p.op->local[0].offset, p.op->length}, *p.op, "at its completion");
}

Result<void> Host::ask(const Operation& op) const {
  const std::string wrong = shared_.also ? shared_.also(op) : "";
  if (wrong.empty()) return {};
  return fail(Errc::kProtocol, "{}: {}", op.describe(), wrong);
}

// The message has come, and with it every Write before it.
Result<void> Host::take_receive(Lane& lane, const Wc& wc) {
  if (lane.received.empty())
    return fail(Errc::kProtocol, "qp {}: a receive completes ({} of {}), but none is posted",
                lane.number, to_string(wc.status), wc.wr_id);
  const Posted p = lane.received.front();
  const WcStatus want = status_of(lane, p.kind, true);
  const std::string name = p.op != nullptr ? p.op->describe() : fmt::format("receive {}", p.id);
  if (wc.wr_id != p.id)
    return fail(Errc::kProtocol, "qp {}: receive {} completes with {}, but the next is for {}",
                lane.number, wc.wr_id, to_string(wc.status), name);
  const bool flushed_as_cut =
      wc.status == IBV_WC_WR_FLUSH_ERR && p.kind == Kind::kPlanned && is_cut(lane, true);
  if (wc.status == IBV_WC_SUCCESS ? lane.receive_failed || want != IBV_WC_SUCCESS
                                  : wc.status != want && !flushed_as_cut) {
    return fail(Errc::kConnectionLost, "qp {}: receive completes with {} (vendor {}), for {}{}\n{}",
                lane.number, to_string(wc.status), wc.vendor_err, name,
                lane.receive_failed ? ", behind one that has failed"
                                    : fmt::format(", should be {}", to_string(want)),
                standing());
  }
  lane.received.pop_front();
  lane.refill_at = dev_.now() + (1 + wc.wr_id % 3) * kUs;
  if (wc.status != IBV_WC_SUCCESS) {
    lane.receive_failed = true;
    return {};
  }
  const Operation& o = *p.op;
  ++lane.receives_done;
  if (wc.byte_len != o.length)
    return fail(Errc::kProtocol, "qp {}: receive {} of {} bytes, but the next is for {}",
                lane.number, wc.wr_id, wc.byte_len, o.describe());
  for (const Piece& piece : o.receive) {
    if (auto r = compare(lane, piece, o, "at its receive"); !r) return r;
  }
  for (; lane.incoming[lane.checked_writes] != &o; ++lane.checked_writes) {
    const Operation& w = *lane.incoming[lane.checked_writes];
    if (w.op != Op::kWrite) continue;
    if (auto r = compare(lane, {w.remote.offset, w.length}, w,
                         fmt::format("when #{} behind it has come", o.number));
        !r)
      return r;
  }
  return {};
}

// --- memory and contexts

Result<void> Host::compare(const Lane& lane, const Piece& piece, const Operation& op,
                           std::string_view when) {
  const auto is = lane.landing.bytes().subspan(piece.offset, piece.length);
  const auto expected =
      std::span(want_.landing[side_][lane.number]).subspan(piece.offset, piece.length);
  shared_.bytes_checked += piece.length;
  const auto [a, b] = std::ranges::mismatch(is, expected);
  if (a == is.end()) return {};
  size_t wrong = 0;
  for (size_t i = 0; i < is.size(); ++i) wrong += is[i] != expected[i] ? 1 : 0;
  const auto at = static_cast<size_t>(a - is.begin());
  if (!shared_.wrong)
    shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + piece.offset + at)};
  return fail(Errc::kProtocol,
              "memory of {} qp {} at {:#x} (byte {} of a piece of {}): {:02x}, should be {:02x}; "
              "{} bytes differ; {} {}",
              kSideNames[side_], lane.number, piece.offset + at, at, piece.length, *a, *b, wrong,
              when, op.describe());
}

// Where requests may have been cut short, each byte is as it was at first, or as it was to become.
Result<void> Host::compare_all(const Lane& lane) {
  const Operation none;
  if (!is_victim_of(lane))
    return compare(lane, {0, static_cast<uint32_t>(lane.landing.size)}, none,
                   "at the end; no operation:");
  const auto is = lane.landing.bytes();
  const auto& want = want_.landing[side_][lane.number];
  const auto& start = shared_.start.landing[side_][lane.number];
  for (size_t i = 0; i < is.size(); ++i) {
    if (is[i] == want[i] || is[i] == start[i]) continue;
    if (!shared_.wrong) shared_.wrong = Place{side_, lane.landing.buffer.bus(lane.landing.at + i)};
    return fail(Errc::kProtocol,
                "memory of {} qp {} at {:#x}: {:02x}, should be {:02x}, or {:02x} as at first",
                kSideNames[side_], lane.number, i, is[i], want[i], start[i]);
  }
  return {};
}

// The QP's context and the STag entry as the device holds them, at rest; in tandem each answer is compared with the model's.
Result<void> Host::look(const Lane& lane) {
  const auto qp = own_.manager->execute(dev_, spec::AdminOpcode::kQueryQp, lane.qp.qp_num());
  if (!qp) return error_of(qp);
  const auto state = spec::AdminQpResult::unpack(qp->result).state;
  if (state != spec::QpState::kRts && !theirs(lane).is_ending)
    return fail(Errc::kProtocol, "qp {}: query_qp says state {} before its end", lane.number,
                static_cast<unsigned>(state));
  const auto rsp = own_.manager->execute(dev_, spec::AdminOpcode::kQueryMr, lane.mr.lkey());
  if (!rsp) return error_of(rsp);
  const auto is = spec::AdminMrResult::unpack(rsp->result);
  if (is.stag == lane.mr.lkey() && is.length == lane.mr.length()) return {};
  return fail(Errc::kProtocol, "region {:#x} of {} bytes: query_mr says {:#x}, {} bytes",
              lane.mr.lkey(), lane.mr.length(), is.stag, is.length);
}

void start_hosts(sim::Simulation& simulation, const Plan& plan, const Memory& want,
                 Shared& shared) {
  // An interrupt that another thread of the host has taken costs a waiter no longer than this.
  constexpr Time kRecheck = 5 * kUs;
  for (const Side side : {kServer, kClient}) {
    const HostShape& h = plan.host[side];
    verbs::ManagerSettings manager;
    manager.seed = plan.seed;
    manager.log_eq = h.log_eq;
    manager.event_queues = h.event_queues;
    manager.recheck = kRecheck;
    for (uint32_t thread = 0; thread < h.threads; ++thread) {
      const std::string name =
          h.threads == 1 ? kSideNames[side] : fmt::format("{}-{}", kSideNames[side], thread);
      simulation.start(side, name, [&plan, &want, &shared, side, thread, manager](PciDevice& dev) {
        Host(dev, plan, want, side, thread, manager, shared).run();
      });
    }
  }
}

}  // namespace rnic::app::regress
