// One thread of one host's part of a plan. See regress/host.hpp.
#include "regress/host.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "gen/regs.hpp"

namespace rnic::app::regress {

using namespace verbs;

namespace {

// kServerIp: 10.0.0.2, the address of the second host (sim::host_address).
constexpr uint32_t kServerIp = 0x0a000002, kSmallBytes = kPage,
                   kAccess =
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr uint16_t kPort = 4791;  // of the server's thread 0; thread k listens at kPort + k
// In this order: how long all threads may wait for a completion, a connection may take, a thread
// with an armed CQ sleeps, and the event of a completion may take.
constexpr Time kPatience = 3 * kMs, kConnectPatience = 20 * kMs, kSleep = 5 * kUs,
               kEventPatience = 30 * kUs;

}  // namespace

void Host::run() {
  auto r = body();
  own_.hosts[thread_] = nullptr;
  std::erase_if(own_.owner, [&](const auto& entry) { return entry.second == this; });
  if (r && shared_.failure.empty()) return;
  if (!r && shared_.failure.empty()) {
    shared_.failure = fmt::format("{} thread {}: {}", kSideNames[side_], thread_, r.error().what);
    shared_.is_stuck = r.error().code == Errc::kTimedOut;
    shared_.failed_at = dev_.now();
  }
  // A failed device may no longer respond. Its queues are therefore leaked until this process ends.
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
      if (o.side != side_ && o.takes_receive()) lane.receives.push_back(&o);
    }
  }
  // A thread without lives is done. Thread 0 still opens and closes the device for the others.
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
      dev_.before_shared();  // other threads read `done`: see PciDevice::before_shared()
      ++own_.done;
    }
    if (*n != 0 || moved) continue;
    if (auto r = progress(); !r) return r;
    if (auto r = sleep(); !r) return r;
  }
  for (const Time until = dev_.now() + kAfterwards;
       dev_.now() < until;) {  // nothing may arrive now
    if (const auto n = poll(); !n) return error_of(n);
  }
  if (auto r = take_events(); !r) return r;
  if (!lanes_.empty() && !std::ranges::equal(source_.bytes(), want_.source[side_]))
    return fail(Errc::kProtocol,
                "memory of {}: the source region, which nothing writes, has changed",
                kSideNames[side_]);
  if (!lanes_.empty() && std::ranges::any_of(small_.bytes(), [](uint8_t b) { return b != 0; }))
    return fail(Errc::kProtocol, "memory of {}: the region that no operation writes has changed",
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
  if (thread_ == 0) {
    if (auto r = count_bad_reads(); !r) return r;
  }
  for (Domain& d : domains_)
    if (auto r = close_srq(d); !r) return r;
  lanes_.clear();
  listener_.reset();
  domains_.clear();
  cqs_.clear();
  context_ = Context();
  dev_.before_shared();
  ++own_.left;
  if (thread_ != 0) return {};
  // The manager and the shared CQs must outlive the queues of all threads.
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
    // 8 more entries, and 8 for each QP: requests and receives beside the planned ones.
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
    dev_.write32(0, spec::kCplTimeoutOffset, kCplTimeout);
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
    if (auto r = open_srq(k); !r) return r;
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
  const uint64_t bytes = plan_.landing_at[side_][q] + start.size();
  auto buffer = life.persistent[side_] ? dev_.persistent(fmt::format("qp{}", q), bytes)
                                       : context_.alloc(bytes);
  if (!buffer) return error_of(buffer);
  lane.landing = {*buffer, plan_.landing_at[side_][q], start.size()};
  std::ranges::copy(start, lane.landing.bytes().begin());
  const uint32_t access = kAccess | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL |
                          (life.persistent[side_] ? IBV_ACCESS_FLUSH_PERSISTENT : 0u) |
                          (life.base[side_] == Base::kZero ? IBV_ACCESS_ZERO_BASED : 0u);
  const bool has_windows =
      std::ranges::any_of(plan_.loans[side_][q], [](Loan kind) { return kind != Loan::kFast; });
  auto mr = open_region(domain(lane).pd, lane.landing, plan_.iova(side_, q),
                        access | (has_windows ? uint32_t{IBV_ACCESS_MW_BIND} : 0u));
  if (!mr) return error_of(mr);
  lane.mr = std::move(*mr);
  lane.access = access;
  Published& p = mine(lane);
  if (life.end == End::kFault && life.fault == Fault::kWriteStale && life.who != side_) {
    auto stale = open_region(domain(lane).pd, small_, kSmallIova, kAccess);
    if (!stale) return error_of(stale);
    p.stale = stale->rkey();
    if (auto r = stale->dereg(); !r) return r;
  }
  if (life.end == End::kFault && life.who != side_ &&
      (life.fault == Fault::kSourceRead || life.fault == Fault::kFlushRead ||
       life.fault == Fault::kAtomicRead))
    spoil(lane, buffer->bus(lane.landing.at + start.size() - kUnreadFromEnd), kUnreadFromEnd);
  const QpShape& h = plan_.shape[side_][q];
  auto& pair = (shape_.shared_cq ? own_.cqs : cqs_)[life.cq[side_] % shape_.cqs];
  Cq* const receives = plan_.one_cq ? pair.data() : &pair[1];
  if (overflows(lane)) {
    auto cq = context_.create_cq(kOverflowCqe);
    if (!cq) return error_of(cq);
    lane.own_cq = std::move(*cq);
  }
  // The operands of an atomic need kAtomicInline bytes of its WQE.
  const bool has_atomics =
      std::ranges::any_of(lane.sends, [](const Operation* o) { return o->fetches(); }) ||
      (life.end == End::kFault && (is_of_atomic(life.fault) || life.fault == Fault::kAtomicOff));
  auto qp = domain(lane).pd.create_qp(
      {.send_cq = overflows(lane) ? &lane.own_cq : pair.data(),
       .recv_cq = receives,
       .srq = life.shares[side_] ? &domain(lane).srq : nullptr,
       .cap = {.max_send_wr = overflows(lane) ? 2 * kOverflowSends : h.send_depth,
               .max_recv_wr = h.recv_depth,
               .max_send_sge = h.max_sge,
               .max_recv_sge = 3,
               .max_inline_data =
                   has_atomics ? std::max(h.max_inline, kAtomicInline) : h.max_inline},
       .push = h.push,
       .privileged = !plan_.loans[side_][q].empty()});  // only such a QP may post reg_mr
  if (!qp) return error_of(qp);
  lane.qp = std::move(*qp);
  for (uint32_t k = 0; k < plan_.keys[side_][q]; ++k) {
    auto key = lane.qp.reg_mr_iova(lane.landing.buffer, lane.landing.at, lane.landing.size,
                                   plan_.iova(side_, q), access | RNIC_ACCESS_REMOTE_INVALIDATE);
    if (!key) return error_of(key);
    p.keys.push_back(key->rkey());
    lane.keys.push_back(std::move(*key));
  }
  if (auto r = open_loans(lane); !r) return r;
  dev_.before_shared();
  own_.owner[lane.qp.qp_num()] = this;
  lane.phase = Phase::kOpen;
  if (auto r = post_receives(lane); !r) return r;
  p.landing = lane.mr.rkey();
  p.memory = lane.landing.bytes();
  p.source = domain(lane).source.rkey();
  p.unreadable = domain(lane).unreadable.rkey();
  p.foreign = domains_[(life.pd[side_] + 1) % domains_.size()].source.rkey();
  p.ready = true;
  shared_.progress = dev_.now();
  return {};
}

// Allocates the STags of loans, with room for the longest of their registrations.
Result<void> Host::open_loans(Lane& lane) {
  const auto& kinds = plan_.loans[side_][lane.number];
  std::vector<uint64_t> pages(kinds.size(), 1);
  for (const Operation* o : lane.sends) {
    if (o->op != Op::kRegMr) continue;
    const uint64_t from = (lane.landing.at + o->range.offset) / kPage,
                   to = (lane.landing.at + o->range.offset + o->range.length - 1) / kPage;
    pages[o->loan - 1] = std::max(pages[o->loan - 1], to - from + 1);
  }
  for (size_t k = 0; k < kinds.size(); ++k) {
    Lane::Loan& loan = lane.loans.emplace_back();
    if (kinds[k] != Loan::kFast) {
      auto mw =
          domain(lane).pd.alloc_mw(kinds[k] == Loan::kWindow1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
      if (!mw) return error_of(mw);
      loan.mw = std::move(*mw);
      continue;
    }
    auto mr = domain(lane).pd.alloc_mr(static_cast<uint32_t>(pages[k]));
    if (!mr) return error_of(mr);
    loan.mr = std::move(*mr);
  }
  mine(lane).loans.resize(kinds.size());
  return {};
}

Result<void> Host::connect(Lane& lane) {
  // accept() of the server finds the QP of the plan by the private data.
  const std::array<uint8_t, 1> name{static_cast<uint8_t>(lane.number)};
  const auto port = static_cast<uint16_t>(kPort + plan_.thread(kServer, lane.number));
  auto c = verbs::connect(lane.qp, {kServerIp, port},
                          {.private_data = name,
                           .responder_resources = plan_.ird[side_],
                           .initiator_depth = plan_.ord[side_],
                           .markers = plan_.markers,
                           .crc = plan_.crc,
                           .flush = lane.life->asks_flush[side_],
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
                                      .flush = lane->life->asks_flush[side_],
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

// Arms the first CQ, or waits up to kSleep for its event. A completion whose event does not follow
// within kEventPatience is an error.
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
    if (e->type == IBV_EVENT_SRQ_LIMIT_REACHED) {
      const auto limit = own_.limits.find(e->object);
      if (limit == own_.limits.end() || !limit->second)
        return fail(Errc::kProtocol, "limit event of SRQ {}, whose limit is not armed", e->object);
      limit->second = false;
      continue;
    }
    Host* owner = this;
    if (e->type != IBV_EVENT_CQ_ERR) {
      const auto found = own_.owner.find(e->object);
      if (found == own_.owner.end())
        return fail(Errc::kProtocol, "event {} of QP {}, which does not exist: cause {}",
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

void start_hosts(sim::Simulation& simulation, const Plan& plan, const Memory& want,
                 Shared& shared) {
  // The maximum delay of a waiter whose interrupt another thread of the host has taken.
  constexpr Time kRecheck = 5 * kUs;
  shared.spoil = [&simulation](Side side, const sim::ReadFault& f) {
    simulation.root_complex(side).add_fault(f);
  };
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
