// Errors and events, scene by scene. See story.hpp.
#include "story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gen/errors.hpp"
#include "gen/regs.hpp"

namespace rnic::mutants {

using namespace verbs;
using spec::Cause;

namespace {

constexpr const char* kSides[] = {"client", "server"};
constexpr uint64_t kReceives = 8192;  // the receives lie in our buffer from here on
constexpr uint32_t kServerIp = 0x0a000002;
constexpr uint16_t kPort = 4791;
constexpr uint64_t kHello = 9;  // wr_id of the client's empty Write
constexpr uint32_t kReceiveBytes = 64, kShortReceive = 16, kCqes = 8,  // so that the ring wraps
    kFewCqes = 2, kSends = 6;
constexpr uint32_t kAllRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                IBV_ACCESS_FLUSH_GLOBAL;
constexpr auto kFlushed = IBV_WC_WR_FLUSH_ERR;

struct Consequence {
  WrOpcode op;    // the damaged request
  Cause cause;    // the error that its receiver finds
  uint16_t term;  // the Terminate code that it sends: 0x1203 is 1/2/03 of docs/gen/errors.md
};
/// In the order of Damage (damage.hpp).
constexpr Consequence kConsequences[] = {
    {IBV_WR_SEND, Cause::kMpaCrc, 0x2002},
    {IBV_WR_SEND, Cause::kMpaCrc, 0x2002},
    {IBV_WR_RDMA_WRITE, Cause::kMpaMarker, 0x2003},
    {IBV_WR_RDMA_WRITE, Cause::kDdpTaggedVersion, 0x1104},
    {IBV_WR_RDMA_WRITE, Cause::kDdpTaggedVersion, 0x1104},
    {IBV_WR_SEND, Cause::kDdpUntaggedVersion, 0x1206},
    {IBV_WR_SEND, Cause::kDdpUntaggedQn, 0x1201},
    {IBV_WR_SEND, Cause::kDdpUntaggedMsn, 0x1203},
    {IBV_WR_SEND, Cause::kDdpUntaggedMo, 0x1204},
    {IBV_WR_RDMA_WRITE, Cause::kRdmapVersion, 0x0205},
    {IBV_WR_SEND, Cause::kRdmapOpcode, 0x0206},
    {IBV_WR_RDMA_READ, Cause::kRdmapLength, 0x0207},
    {IBV_WR_RDMA_WRITE, Cause::kDdpTaggedWrap, 0x1103},
    {IBV_WR_RDMA_READ, Cause::kDdpUntaggedNoBuffer, 0x1202},
    {IBV_WR_RDMA_READ, Cause::kRdmapStag, 0x0100},
    {IBV_WR_RDMA_READ, Cause::kRdmapStag, 0x0100},
    {IBV_WR_ATOMIC_WRITE, Cause::kRdmapOpcode, 0x0206},
};
static_assert(std::size(kConsequences) == static_cast<size_t>(Damage::kMany));

}  // namespace

std::string Scene::name() const {
  constexpr const char* kNames[] = {
      "solicited",     "no_right",     "no_receive", "too_long",     "read_bounds",  "read_no_stag",
      "bad_local_key", "abort",        "moved",      "other_pd",     "under_fire",   "overrun",
      "order",         "bad_payload",  "bad_fetch",  "bad_source",   "under_read",   "read_left",
      "lost",          "never",        "both",       "bad_ahead",    "flush",        "flush_right",
      "flush_bounds",  "flush_unread", "atomics",    "atomic_right", "atomic_align", "atomic_read",
      "invalidate",    "inv_unbound",  "inv_other",  "inv_gone",     "shared_end",   "registering",
      "refused"};
  return what == Case::kDamaged ? fmt::format("damaged: {}", name_of(damage))
                                : kNames[static_cast<size_t>(what)];
}

std::vector<Scene> errors_and_events() {
  std::vector<Scene> all;
  for (unsigned k = 0; k < static_cast<unsigned>(Case::kRefused); ++k)
    all.push_back({.what = static_cast<Case>(k)});
  return all;
}

std::vector<Scene> damages() {
  std::vector<Scene> all;
  for (unsigned d = 0; d < static_cast<unsigned>(Damage::kMany); ++d)
    all.push_back({Case::kDamaged, static_cast<Damage>(d)});
  return all;
}

std::vector<Scene> refusals() { return {{.what = Case::kRefused}}; }

void Story::run() {
  const auto r = body();
  if (!r && shared_.failure.empty())
    shared_.failure = fmt::format("{}, {}: {}", kSides[side_], now_.name(), r.error().what);
}

Result<void> Story::body() {
  if (auto r = cleared(); !r) return r;
  auto manager = Manager::open(dev_, {.seed = 3 + side_, .event_queues = 2});
  if (!manager) return error_of(manager);
  manager_ = std::move(*manager);
  if (auto r = open(); !r) return r;
  for (number_ = 0; number_ < scenes_.size(); ++number_) {
    now_ = scenes_[number_];
    // A damaged record is caused by the side whose device damages nothing. If that record travels
    // back (a Terminate, a response), the sides swap.
    const bool causes = now_.what == Case::kDamaged
                            ? (shared_.device[side_] == nullptr) != is_response_damaged()
                            : number_ % 2 == side_;
    // Every third scene pushes its WQEs. kBadFetch does not: a pushed WQE is not fetched, so its
    // fetch could not fail.
    if (auto r = act(causes, number_ % 3 == 0 && now_.what != Case::kBadFetch); !r) return r;
  }
  return {};
}

Result<void> Story::open() {
  auto context = Context::open(dev_, *manager_);
  if (!context) return error_of(context);
  context_ = std::move(*context);
  for (Pd* pd : {&pd_, &other_pd_}) {
    auto made = context_.alloc_pd();
    if (!made) return error_of(made);
    *pd = std::move(*made);
  }
  auto cq = context_.create_cq(kCqes);
  if (!cq) return error_of(cq);
  cq_ = std::move(*cq);
  auto buffer = context_.alloc(kBytes);
  if (!buffer) return error_of(buffer);
  buffer_ = *buffer;
  shared_.memory[side_] = buffer_.bytes();
  for (uint64_t i = 0; i < kBytes; ++i)
    buffer_.bytes()[i] = static_cast<uint8_t>(i * 7 + i / 256 + side_);
  const auto region = [&](Mr& mr, Pd& pd, uint32_t rights, uint32_t& key) -> Result<void> {
    auto made = pd.reg_mr_iova(buffer_, 0, kBytes, kIova, rights);
    if (!made) return error_of(made);
    mr = std::move(*made);
    key = mr.rkey();
    return {};
  };
  if (auto r = region(open_, pd_, kAllRights, shared_.open_key[side_]); !r) return r;
  if (auto r = region(closed_, pd_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
                      shared_.closed_key[side_]);
      !r)
    return r;
  if (auto r = region(other_, other_pd_, kAllRights, shared_.other_key[side_]); !r) return r;
  shared_.old_key[side_] = closed_.rkey();
  if (side_ == 1) {
    auto listener = listen(context_, kPort);
    if (!listener) return error_of(listener);
    listener_.emplace(std::move(*listener));
    shared_.listening = true;
  }
  return {};
}

/// Waits until the other side has also reached this step of the scene. A scene has 16 numbers:
/// steps 1, 2 and 15 are part of each, those between belong to its case.
Result<void> Story::meet(uint32_t step) {
  const uint32_t at = number_ * 16 + step;
  shared_.step[side_] = at;
  for (const Time deadline = dev_.now() + kPatience; shared_.step[1 - side_] < at; dev_.relax()) {
    if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "the peer has failed");
    if (dev_.now() > deadline)
      return fail(Errc::kTimedOut, "the peer does not come to step {}", step);
  }
  return {};
}

/// One scene. causes: this side causes the error. pushes: the QP pushes its WQEs.
Result<void> Story::act(bool causes, bool pushes) {
  if (now_.what == Case::kRefused) return refused();
  const bool overruns = now_.what == Case::kOverrun && !causes;
  Cq between, small;  // `between` uses up a number, so that the QP's CQ numbers differ above bit 0
  if (overruns) {
    auto one = context_.create_cq(kFewCqes);
    if (!one) return error_of(one);
    between = std::move(*one);
    auto few = context_.create_cq(kFewCqes);
    if (!few) return error_of(few);
    small = std::move(*few);
  }
  const bool shares = now_.what == Case::kSharedEnd && !causes;
  Srq srq;
  if (shares) {
    auto queue = pd_.create_srq({.max_wr = 8});
    if (!queue) return error_of(queue);
    srq = std::move(*queue);
  }
  auto made = pd_.create_qp({.send_cq = &cq_,
                             .recv_cq = overruns ? &small : &cq_,
                             .srq = shares ? &srq : nullptr,
                             .cap = {.max_send_wr = 8, .max_recv_wr = 8},
                             .push = pushes,
                             .privileged = now_.what == Case::kRegistering});
  if (!made) return error_of(made);
  Qp qp = std::move(*made);
  const bool none = now_.what == Case::kNoReceive && !causes;
  for (uint64_t k = 0; k < (none ? 0 : overruns || shares ? kSends : 2); ++k) {
    const Sge sge{kIova + kReceives + k * kReceiveBytes,
                  now_.what == Case::kTooLong ? kShortReceive : kReceiveBytes, open_.lkey()};
    const RecvWr wr{.wr_id = kReceive + k, .sg_list = {&sge, 1}};
    if (const auto r = shares ? srq.post_recv(wr) : qp.post_recv(wr); !r)
      return fail(r.error->code, "post_recv: {}", r.error->what);
  }
  if (auto r = meet(1); !r) return r;
  if (auto r = start(qp); !r) return r;
  if (now_.what == Case::kDamaged && shared_.device[side_] != nullptr)
    shared_.device[side_]->next = now_.damage;
  if (auto r = meet(2); !r) return r;
  if (auto r = causes ? trouble(qp) : suffer(qp); !r) return r;
  if (auto r = meet(15); !r) return r;
  if (auto r = qp.destroy(); !r || !overruns) return r;
  const uint32_t gone = small.number();
  qp = Qp();
  small = Cq();
  dev_.write64(2, 8 * static_cast<uint32_t>(spec::DoorbellKind::kCqArm),
               gone);  // arms a destroyed queue: the device must drop it
  return {};
}

/// Connects with private data, so that the frames of both sides have more than one beat. The client
/// speaks first, with an empty Write.
Result<void> Story::start(Qp& qp) {
  std::array<std::array<uint8_t, 100>, 2> data;
  for (size_t i = 0; i < data[0].size(); ++i) {
    data[0][i] = static_cast<uint8_t>(i + number_);
    data[1][i] = static_cast<uint8_t>(~i);
  }
  const auto heard = [&](std::span<const uint8_t> bytes) {
    return std::ranges::equal(bytes, data[1 - side_])
               ? Result<void>()
               : fail(Errc::kProtocol, "the peer's private data came otherwise");
  };
  const ConnParam param{.private_data = data[side_],
                        .responder_resources = 2,
                        .initiator_depth = 2,
                        .markers = now_.what == Case::kLost,
                        .flush = (now_.what >= Case::kFlush && now_.what <= Case::kAtomicRead) ||
                                 now_.damage == Damage::kOtherResponse,
                        .timeout = kPatience};
  if (side_ == 0) {
    auto c = connect(qp, {kServerIp, kPort}, param);
    if (!c) return error_of(c);
    if (auto r = heard(c->private_data()); !r) return r;
    if (auto r = post(qp, kHello, IBV_WR_RDMA_WRITE, 0); !r) return r;
    return completions({{kHello}});
  }
  auto request = listener_->get_request(dev_.now() + kPatience);
  if (!request) return error_of(request);
  if (auto r = heard(request->private_data()); !r) return r;
  auto c = request->accept(qp, param);
  return c ? Result<void>() : error_of(c);
}

/// Posts a request whose local bytes are centred on byte 4096 of our buffer, so that they cross a
/// page. `at`: where in the peer's region.
Result<void> Story::post(Qp& qp, uint64_t id, WrOpcode op, uint32_t length, uint32_t rkey,
                         uint64_t at, uint32_t flags) {
  const bool bad = now_.what == Case::kBadLocalKey && id == 1;
  const Sge sge{kIova + 4096 - length / 2, length, bad ? open_.lkey() ^ 0x100 : open_.lkey()};
  const auto r = qp.post_send({.wr_id = id,
                               .sg_list = {&sge, 1},
                               .opcode = op,
                               .send_flags = IBV_SEND_SIGNALED | flags,
                               .remote_addr = kIova + at,
                               .rkey = rkey});
  return r ? Result<void>() : fail(r.error->code, "post of request {}: {}", id, r.error->what);
}

/// Posts a Flush of bytes of the peer's open region.
Result<void> Story::flush(Qp& qp, uint64_t id, uint32_t length, uint64_t at, PlacementType type) {
  const auto r = qp.post_send({.wr_id = id,
                               .opcode = IBV_WR_FLUSH,
                               .send_flags = IBV_SEND_SIGNALED,
                               .remote_addr = kIova + at,
                               .rkey = shared_.open_key[1 - side_],
                               .flush_length = length,
                               .flush_type = static_cast<uint8_t>(type)});
  return r ? Result<void>() : fail(r.error->code, "post of Flush {}: {}", id, r.error->what);
}

/// Waits for these completions, each once; those of the same queue in this order.
Result<void> Story::completions(std::vector<Wanted> wanted) {
  const auto is_receive = [](uint64_t id) { return id >= kReceive; };
  const Time deadline = dev_.now() + kPatience;
  while (!wanted.empty()) {
    std::array<Wc, 4> wcs;
    const auto n = cq_.poll_cq(wcs);
    if (!n) return error_of(n);
    for (const Wc& wc : std::span(wcs).first(*n)) {
      const auto w = std::ranges::find_if(
          wanted, [&](const Wanted& x) { return is_receive(x.id) == is_receive(wc.wr_id); });
      if (w == wanted.end() || w->id != wc.wr_id ||
          w->invalidated != ((wc.wc_flags & IBV_WC_WITH_INV) != 0 ? wc.invalidated_rkey : 0) ||
          (w->status != wc.status && w->or_status != wc.status && w->or_third != wc.status)) {
        return fail(Errc::kProtocol, "completion {} of request {}, but {} is next",
                    to_string(wc.status), wc.wr_id, w == wanted.end() ? 0 : w->id);
      }
      wanted.erase(w);
      ++shared_.checks;
    }
    if (*n != 0) continue;
    if (!shared_.failure.empty()) return fail(Errc::kConnectionLost, "the peer has failed");
    if (dev_.now() > deadline)
      return fail(Errc::kTimedOut, "request {} does not complete", wanted[0].id);
  }
  return {};
}

/// The QP's one event reports the cause of its end.
Result<void> Story::fatal(uint32_t cause, uint16_t peer_term) {
  const auto e = context_.get_async_event(dev_.now() + kPatience);
  if (!e) return error_of(e);
  ++shared_.checks;
  if (e->cause != cause || e->peer_term != peer_term) {
    return fail(Errc::kProtocol,
                "the QP ended with cause {}, Terminate {:#06x}; should be {}, {:#06x}", e->cause,
                e->peer_term, cause, peer_term);
  }
  return {};
}

/// Expects the peer's Terminate with this code (see Consequence). The wanted requests complete, and
/// the receives are flushed.
Result<void> Story::terminated(uint16_t code, std::vector<Wanted> wanted) {
  wanted.insert(wanted.end(), {{kReceive, kFlushed, kFlushed}, {kReceive + 1, kFlushed, kFlushed}});
  if (auto r = completions(std::move(wanted)); !r) return r;
  return fatal(static_cast<uint32_t>(Cause::kPeerTerminate), code);
}

/// The part of the side that causes the error. Codes of the Terminates (docs/gen/errors.md):
///   0x0000  local catastrophic error    0x1100  STag of a Write invalid, or without the right
///   0x0100  source STag invalid         0x1102  STag of a Write of another PD
///   0x0101  range out of bounds         0x1202  no receive
///   0x0102  no right to the range       0x1205  Send longer than its receive
///   0x0207  source unreadable, or word unreadable or unaligned
///   0x020a  read-back of a Flush failed
Result<void> Story::trouble(Qp& qp) {
  const unsigned peer = 1 - side_;
  // left: success or flushed, as the error may overtake it; lost: flushed; done: this status.
  const Wanted left1{1, IBV_WC_SUCCESS, kFlushed}, left2{2, IBV_WC_SUCCESS, kFlushed},
      left3{3, IBV_WC_SUCCESS, kFlushed}, lost2{2, kFlushed, kFlushed};
  const Wanted receive1{kReceive, kFlushed, kFlushed}, receive2{kReceive + 1, kFlushed, kFlushed};
  const auto done = [](uint64_t id, WcStatus s = IBV_WC_SUCCESS) { return Wanted{id, s, s}; };
  switch (now_.what) {
    case Case::kSolicited:
      // A doorbell of this QP in page 1, which is another owner's: the device must drop it.
      dev_.write64(2, 4096, qp.qp_num() | uint64_t{3} << 32);
      return solicited(qp, true);
    case Case::kNoRight:
      if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 100, shared_.closed_key[peer]); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_SEND, 20); !r) return r;
      return terminated(0x1100, {left1, left2});
    case Case::kNoReceive:
      if (auto r = post(qp, 1, IBV_WR_SEND, 20); !r) return r;
      return terminated(0x1202, {left1});
    case Case::kTooLong:
      if (auto r = post(qp, 1, IBV_WR_SEND, kShortReceive + 1); !r) return r;
      return terminated(0x1205, {left1});
    case Case::kReadBounds:
      if (auto r = post(qp, 1, IBV_WR_RDMA_READ, 200, shared_.open_key[peer], kBytes - 199); !r)
        return r;
      if (auto r = post(qp, 2, IBV_WR_SEND, 20, 0, 0, IBV_SEND_FENCE); !r) return r;
      return terminated(0x0101, {done(1, IBV_WC_REM_ACCESS_ERR), lost2});
    case Case::kReadNoStag:
      if (auto r = post(qp, 1, IBV_WR_RDMA_READ, 200, shared_.open_key[peer]); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_RDMA_READ, 200, shared_.open_key[peer] ^ 1); !r) return r;
      return terminated(0x0100, {done(1), done(2, IBV_WC_REM_ACCESS_ERR)});
    case Case::kBadLocalKey:
      if (auto r = post(qp, 1, IBV_WR_SEND, 20); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_SEND, 20); !r) return r;
      if (auto r = completions({done(1, IBV_WC_LOC_PROT_ERR), lost2, receive1, receive2}); !r)
        return r;
      return fatal(static_cast<uint32_t>(Cause::kLocalCatastrophic), 0);
    case Case::kAbort:
      for (uint64_t id = 1; id <= 3; ++id) {
        if (auto r = post(qp, id, IBV_WR_RDMA_WRITE, 3000, shared_.open_key[peer]); !r) return r;
      }
      if (auto r = qp.modify(IBV_QPS_ERR); !r) return r;
      return completions({left1, left2, left3, receive1, receive2});
    case Case::kMoved:
      if (auto r = meet(4); !r) return r;
      if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 100, shared_.closed_key[peer]); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_RDMA_READ, 100, shared_.closed_key[peer]); !r) return r;
      if (auto r = completions({done(1), done(2)}); !r) return r;
      if (auto r = post(qp, 3, IBV_WR_RDMA_WRITE, 100, shared_.old_key[peer]); !r) return r;
      return terminated(0x1100, {left3});
    case Case::kOtherPd:
      if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 100, shared_.other_key[peer]); !r) return r;
      return terminated(0x1102, {left1});
    case Case::kUnderFire:
      if (auto r = meet(4); !r) return r;
      for (uint64_t id = 1; id <= 6; ++id) {
        if (auto r = post(qp, id, IBV_WR_RDMA_WRITE, 8000, shared_.other_key[peer], 8 * id); !r)
          return r;
      }
      return terminated(0x1100, {left1,
                                 left2,
                                 left3,
                                 {4, IBV_WC_SUCCESS, kFlushed},
                                 {5, IBV_WC_SUCCESS, kFlushed},
                                 {6, IBV_WC_SUCCESS, kFlushed}});
    case Case::kOverrun: {
      std::vector<Wanted> sent;
      for (uint64_t id = 1; id <= kSends; ++id) {
        if (auto r = post(qp, id, IBV_WR_SEND, 20); !r) return r;
        sent.push_back({id, IBV_WC_SUCCESS, kFlushed});
      }
      return terminated(0, std::move(sent));
    }
    case Case::kOrder: {
      if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 8000, shared_.open_key[peer]); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_RDMA_READ, 200, shared_.open_key[peer], 7800); !r) return r;
      if (auto r = post(qp, 3, IBV_WR_RDMA_WRITE, 50, shared_.open_key[peer]); !r) return r;
      // The Read fetches the last 200 bytes that the first Write places. post() has sent that Write
      // from byte 96 on; the Read's sink begins at 4096 - 100.
      const std::vector<uint8_t> sent(buffer_.data() + 96 + 7800, buffer_.data() + 96 + 8000);
      if (auto r = completions({done(1), done(2), done(3)}); !r) return r;
      return std::equal(sent.begin(), sent.end(), buffer_.data() + 4096 - 100)
                 ? Result<void>()
                 : fail(Errc::kProtocol, "the Read did not bring what the Write before it wrote");
    }
    case Case::kBadPayload:
    case Case::kBadFetch: {
      const bool fetch = now_.what == Case::kBadFetch;
      shared_.spoil(side_, fetch ? 0 : buffer_.bus(4096), fetch ? ~0ULL : buffer_.bus(4096) + 64, 1,
                    false);
      if (auto r = post(qp, 1, IBV_WR_SEND, 40); !r) return r;
      if (auto r = post(qp, 2, IBV_WR_SEND, 20); !r) return r;
      if (auto r = completions({done(1, IBV_WC_FATAL_ERR), lost2, receive1, receive2}); !r)
        return r;
      return fatal(static_cast<uint32_t>(Cause::kLocalCatastrophic), 0);
    }
    case Case::kBadSource:
      if (auto r = meet(4); !r) return r;
      if (auto r = post(qp, 1, IBV_WR_RDMA_READ, 200, shared_.open_key[peer]); !r) return r;
      return terminated(0x0207, {done(1, kFlushed)});
    case Case::kUnderRead: {
      if (auto r = meet(4); !r) return r;
      std::vector<Wanted> reads;
      for (uint64_t id = 1; id <= 6; ++id) {
        if (auto r = post(qp, id, IBV_WR_RDMA_READ, 8000, shared_.other_key[peer]); !r) return r;
        reads.push_back({id, IBV_WC_SUCCESS, kFlushed, IBV_WC_REM_ACCESS_ERR});
      }
      return terminated(0x0100, std::move(reads));
    }
    case Case::kReadLeft:
      return leave(qp);
    case Case::kLost: {
      std::vector<Wanted> sent;
      for (uint64_t id = 1; id <= 6; ++id) {
        if (auto r = post(qp, id, IBV_WR_RDMA_WRITE, 8000, shared_.open_key[peer],
                          id == 6 ? kLand : 8 * id);
            !r)
          return r;
        sent.push_back(done(id));
      }
      if (auto r = completions(std::move(sent)); !r) return r;
      if (auto r = qp.modify(IBV_QPS_ERR); !r) return r;
      return completions({receive1, receive2});
    }
    case Case::kNever:
      return never_answered(qp);
    case Case::kBoth:
      return each_other(qp);
    case Case::kBadAhead:
      for (uint64_t id = 1; id <= 3; ++id) {
        if (auto r = post(qp, id, IBV_WR_SEND, 20); !r) return r;
        if (auto r = completions({done(id)}); !r) return r;
        if (auto r = meet(3 + static_cast<uint32_t>(id)); !r) return r;
      }
      return {};
    case Case::kFlush:
      return flush_each_other(qp);
    case Case::kFlushRight:
      if (auto r = flush(qp, 1, 100, kLand, IBV_FLUSH_PERSISTENT); !r) return r;
      return terminated(0x0102, {done(1, IBV_WC_REM_ACCESS_ERR)});
    case Case::kFlushBounds:
      if (auto r = flush(qp, 1, 200, kBytes - 200); !r) return r;
      if (auto r = flush(qp, 2, 200, kBytes - 199); !r) return r;
      return terminated(0x0101, {done(1), done(2, IBV_WC_REM_ACCESS_ERR)});
    case Case::kFlushUnread:
      if (auto r = meet(4); !r) return r;
      if (auto r = flush(qp, 1, 200, kLand); !r) return r;
      if (auto r = flush(qp, 2, 200, kLand + 64); !r) return r;
      return terminated(0x020a, {done(1, IBV_WC_REM_OP_ERR), lost2});
    case Case::kAtomics:
      return atomics(qp);
    case Case::kInvalidate:
      return invalidate_each_other(qp);
    case Case::kInvUnbound:
    case Case::kInvOther:
      return invalidate_wrongly(qp);
    case Case::kInvGone:
      return write_too_late(qp);
    case Case::kSharedEnd:
      return send_after_error(qp);
    case Case::kRegistering:
      return end_while_registering(qp);
    case Case::kAtomicRight:
    case Case::kAtomicAlign:
    case Case::kAtomicRead: {
      const bool right = now_.what == Case::kAtomicRight;
      const uint64_t at = kLand + (now_.what == Case::kAtomicAlign ? 4 : 0);
      if (auto r = meet(4); !r) return r;
      if (auto r = atomic(qp, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, at, {.data = 1},
                          right ? shared_.closed_key[peer] : 0);
          !r)
        return r;
      if (auto r = atomic(qp, 2, IBV_WR_ATOMIC_WRITE, kLand, {}); !r) return r;
      return terminated(right ? 0x0102 : 0x0207,
                        {done(1, right ? IBV_WC_REM_ACCESS_ERR : IBV_WC_REM_OP_ERR), lost2});
    }
    case Case::kDamaged:
      return damaged_trouble(qp);
    default:
      return {};
  }
}

/// Both sides run this at the same time. When a Flush completes, the peer's memory holds the data
/// of the Write before it. In the second round the Flush has an empty range, and the same must
/// hold. At the end two requests follow a Flush on QN 1: an empty Flush, then a Read. The Read
/// fetches the placed bytes that came from its own sink, so it changes nothing.
Result<void> Story::flush_each_other(Qp& qp) {
  const uint32_t key = shared_.open_key[1 - side_];
  const auto land = buffer_.bytes().subspan(kLand, 8000);
  const auto sent = buffer_.bytes().subspan(96, 8000);  // where post() sends 8000 bytes from
  for (const bool again : {false, true}) {
    std::ranges::fill(land, static_cast<uint8_t>(again ? 0xa5 : 0x5a));
    const uint32_t step = again ? 6 : 4;
    if (auto r = meet(step); !r) return r;
    if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 8000, key, kLand); !r) return r;
    if (auto r = flush(qp, 2, again ? 0 : 8000, kLand); !r) return r;
    if (auto r = completions({{1}, {2}}); !r) return r;
    if (!std::ranges::equal(sent, shared_.memory[1 - side_].subspan(kLand, 8000)))
      return fail(Errc::kProtocol, "a Flush completed before the Write ahead of it was placed");
    if (auto r = meet(step + 1); !r) return r;
  }
  if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 8000, key, kLand); !r) return r;
  if (auto r = flush(qp, 2, 8000, kLand); !r) return r;
  if (auto r = flush(qp, 3, 0, kLand); !r) return r;
  if (auto r = post(qp, 4, IBV_WR_RDMA_READ, 40, key, kLand + 4096 - 20 - 96); !r) return r;
  return completions({{1}, {2}, {3}, {4}});
}

/// Posts the request that the other device gets damaged, or one with a wrong key, whose Terminate
/// then comes back damaged. Or posts an Atomic Write, whose response comes back damaged: this side
/// detects the error.
Result<void> Story::damaged_trouble(Qp& qp) {
  const Consequence& c = kConsequences[static_cast<size_t>(now_.damage)];
  if (now_.damage == Damage::kOtherResponse) {
    if (auto r = atomic(qp, 1, c.op, kLand, {}); !r) return r;
    if (auto r = completions({{1, kFlushed, kFlushed},
                              {kReceive, kFlushed, kFlushed},
                              {kReceive + 1, kFlushed, kFlushed}});
        !r)
      return r;
    return fatal(static_cast<uint32_t>(c.cause), 0);
  }
  const uint32_t key = shared_.open_key[1 - side_] ^ (hears_terminate() ? 1 : 0);
  if (auto r = post(qp, 1, c.op, 40, key); !r) return r;
  return terminated(c.term, {{1, IBV_WC_SUCCESS, kFlushed}});
}

/// Some of the device's reads get no completion. They fail after the completion timeout; the others
/// complete.
Result<void> Story::never_answered(Qp& qp) {
  constexpr uint32_t kTimeout = 2000;  // device cycles
  // The number of payload tags of the minimum build. One read more would spoil a read of the next
  // scene.
  constexpr uint32_t kReads = 3;
  const uint32_t before = dev_.read32(0, spec::kCplTimeoutOffset);
  dev_.write32(0, spec::kCplTimeoutOffset, kTimeout);
  shared_.spoil(side_, buffer_.bus(0), buffer_.bus(kReceives), kReads, true);
  if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 8000, shared_.open_key[1 - side_]); !r) return r;
  if (auto r = post(qp, 2, IBV_WR_SEND, 20); !r) return r;
  if (auto r = completions({{1, IBV_WC_FATAL_ERR, IBV_WC_FATAL_ERR},
                            {2, kFlushed, kFlushed},
                            {kReceive, kFlushed, kFlushed},
                            {kReceive + 1, kFlushed, kFlushed}});
      !r)
    return r;
  (void)dev_.wait(0, dev_.now() + 4 * kShort);  // until all reads have timed out
  dev_.write32(0, spec::kCplTimeoutOffset, before);
  return fatal(static_cast<uint32_t>(Cause::kLocalCatastrophic), 0);
}

/// Both sides run this at the same time. A device either detects the peer's error, or first
/// receives the report of its own error. The other failure changes nothing.
Result<void> Story::each_other(Qp& qp) {
  if (auto r = meet(3); !r) return r;
  (void)dev_.wait(0, (dev_.now() / kShort + 2) * kShort);  // both sides post at the same time
  if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 100, shared_.closed_key[1 - side_]); !r) return r;
  if (auto r = completions({{1, IBV_WC_SUCCESS, kFlushed},
                            {kReceive, kFlushed, kFlushed},
                            {kReceive + 1, kFlushed, kFlushed}});
      !r)
    return r;
  const auto e = context_.get_async_event(dev_.now() + kPatience);
  if (!e) return error_of(e);
  const bool finds = e->cause == static_cast<uint32_t>(Cause::kDdpTaggedStag) && e->peer_term == 0,
             hears =
                 e->cause == static_cast<uint32_t>(Cause::kPeerTerminate) && e->peer_term == 0x1100;
  if (!finds && !hears)
    return fail(Errc::kProtocol, "the QP ended with cause {}, Terminate {:#06x}", e->cause,
                e->peer_term);
  (void)dev_.wait(0, dev_.now() + kShort);
  if (context_.get_async_event(dev_.now())) return fail(Errc::kProtocol, "the QP ended twice");
  return {};
}

/// The part of the other side, whose device detects the error or reports it.
Result<void> Story::suffer(Qp& qp) {
  Cause cause = Cause::kNone;
  WcStatus first = kFlushed;  // of the first receive
  switch (now_.what) {
    case Case::kSolicited:
      return solicited(qp, false);
    case Case::kMoved:
      if (auto r = move_region(); !r) return r;
      cause = Cause::kDdpTaggedStag;
      break;
    case Case::kUnderFire:
      if (auto r = close_region(); !r) return r;
      cause = Cause::kDdpTaggedStag;
      break;
    case Case::kUnderRead:
      if (auto r = close_region(); !r) return r;
      cause = Cause::kRdmapStag;
      break;
    case Case::kReadLeft:
      if (auto r = see_write(); !r) return r;
      cause = Cause::kLlpLost;
      break;
    case Case::kLost:
    case Case::kRegistering:
      cause = Cause::kLlpLost;
      break;
    case Case::kSharedEnd:
      return keep_receives(qp);
    case Case::kOverrun:
      return overrun();
    case Case::kOrder:
      return {};
    case Case::kBoth:
      return each_other(qp);
    case Case::kFlush:
      return flush_each_other(qp);
    case Case::kFlushRight:
      cause = Cause::kRdmapRights;
      break;
    case Case::kFlushBounds:
      cause = Cause::kRdmapBounds;
      break;
    case Case::kFlushUnread:
      shared_.spoil(side_, buffer_.bus(kLand), buffer_.bus(kLand) + 64, 1, false);
      if (auto r = meet(4); !r) return r;
      cause = Cause::kFlushFailed;
      break;
    case Case::kAtomics:
      return atomics(qp);
    case Case::kInvalidate:
      return invalidate_each_other(qp);
    case Case::kInvUnbound:
    case Case::kInvOther:
      return keep_region();
    case Case::kInvGone:
      return refuse_late(qp);
    case Case::kAtomicRight:
    case Case::kAtomicAlign:
    case Case::kAtomicRead: {
      const uint64_t before = word(kLand);
      if (now_.what == Case::kAtomicRead)
        shared_.spoil(side_, buffer_.bus(kLand), buffer_.bus(kLand) + 64, 1, false);
      if (auto r = meet(4); !r) return r;
      if (auto r =
              completions({{kReceive, kFlushed, kFlushed}, {kReceive + 1, kFlushed, kFlushed}});
          !r)
        return r;
      if (word(kLand) != before)
        return fail(Errc::kProtocol, "an atomic that was refused has changed its word");
      return fatal(static_cast<uint32_t>(now_.what == Case::kAtomicRight ? Cause::kRdmapRights
                                                                         : Cause::kRdmapLength),
                   0);
    }
    case Case::kBadAhead: {
      if (auto r = completions({{kReceive}}); !r) return r;
      (void)dev_.wait(0, dev_.now() + kShort);
      shared_.spoil(side_, 0, ~0ULL, 1,
                    false);  // the device's next read is that of the third receive
      const Sge sge{kIova + kReceives, kReceiveBytes, open_.lkey()};
      if (const auto r = qp.post_recv({.wr_id = kReceive + 2, .sg_list = {&sge, 1}}); !r)
        return fail(r.error->code, "post_recv: {}", r.error->what);
      if (auto r = meet(4); !r) return r;
      if (auto r = completions({{kReceive + 1}}); !r) return r;
      (void)dev_.wait(0, dev_.now() + kShort);
      if (auto r = meet(5); !r) return r;
      if (auto r = completions({{kReceive + 2}}); !r) return r;
      return meet(6);
    }
    case Case::kNever:
    case Case::kBadPayload:
    case Case::kBadFetch:
      cause = Cause::kPeerTerminate;
      break;
    case Case::kBadSource:
      shared_.spoil(side_, buffer_.bus(0), buffer_.bus(0) + 64, 1, false);
      if (auto r = meet(4); !r) return r;
      cause = Cause::kRdmapLength;
      break;
    case Case::kTooLong:
      cause = Cause::kDdpUntaggedTooLong;
      first = IBV_WC_LOC_LEN_ERR;
      break;
    case Case::kDamaged:
      if (now_.damage == Damage::kOtherResponse) {
        if (auto r =
                completions({{kReceive, kFlushed, kFlushed}, {kReceive + 1, kFlushed, kFlushed}});
            !r)
          return r;
        return fatal(static_cast<uint32_t>(Cause::kPeerTerminate),
                     kConsequences[static_cast<size_t>(now_.damage)].term);
      }
      cause = kConsequences[static_cast<size_t>(now_.damage)].cause;
      break;
    default: {
      // In the order of Case, up to kOtherPd. kNone: a case that is handled above.
      constexpr Cause kCauses[] = {
          Cause::kNone,        Cause::kDdpTaggedStag, Cause::kDdpUntaggedNoBuffer, Cause::kNone,
          Cause::kRdmapBounds, Cause::kRdmapStag,     Cause::kPeerTerminate,       Cause::kLlpLost,
          Cause::kNone,        Cause::kDdpTaggedAssoc};
      cause = kCauses[static_cast<size_t>(now_.what)];
    }
  }
  if (now_.what != Case::kNoReceive) {
    if (auto r = completions({{kReceive, first, first}, {kReceive + 1, kFlushed, kFlushed}}); !r)
      return r;
  }
  if (auto r = fatal(static_cast<uint32_t>(cause), 0); !r || now_.what != Case::kLost) return r;
  return std::ranges::equal(shared_.memory[1 - side_].subspan(4096 - 4000, 8000),
                            buffer_.bytes().subspan(kLand, 8000))
             ? Result<void>()
             : fail(Errc::kProtocol,
                    "the loss of the peer is reported before its last Write is there");
}

/// Two Reads, a Write after each. The device receives only the first Read's response, so the first
/// Read and Write retire. The QP is ended when the peer has seen the second Write: that Write is
/// done, but an incomplete Read precedes it in the queue.
Result<void> Story::leave(Qp& qp) {
  const uint32_t key = shared_.open_key[1 - side_];
  if (auto r = meet(3); !r) return r;
  shared_.let_in(side_, 1);
  if (auto r = post(qp, 1, IBV_WR_RDMA_READ, 40, key); !r) return r;
  if (auto r = post(qp, 2, IBV_WR_RDMA_WRITE, 50, key); !r) return r;
  if (auto r = post(qp, 3, IBV_WR_RDMA_READ, 40, key); !r) return r;
  if (auto r = post(qp, 4, IBV_WR_RDMA_WRITE, 50, key, kLand); !r) return r;
  if (auto r = completions({{1}, {2}}); !r) return r;
  if (auto r = meet(4); !r) return r;
  if (auto r = qp.modify(IBV_QPS_ERR); !r) return r;
  shared_.let_in(side_, std::nullopt);
  return completions({{3, kFlushed, kFlushed},
                      {4, kFlushed, kFlushed},
                      {kReceive, kFlushed, kFlushed},
                      {kReceive + 1, kFlushed, kFlushed}});
}

/// Waits for the Write to kLand. It polls the Write's last byte: no Read of leave() changes its
/// source.
Result<void> Story::see_write() {
  const volatile uint8_t& there = buffer_.bytes()[kLand + 49];
  const uint8_t sent = shared_.memory[1 - side_][4096 + 24];  // last of 50 bytes around 4096
  buffer_.bytes()[kLand + 49] = static_cast<uint8_t>(~sent);
  if (auto r = meet(3); !r) return r;
  for (const Time deadline = dev_.now() + kPatience; there != sent; dev_.relax()) {
    if (dev_.now() > deadline) return fail(Errc::kTimedOut, "a Write does not come");
  }
  return meet(4);
}

/// Armed for solicited completions: a plain Send causes no event. The solicited Send after it
/// causes one, when the vectors are unmasked. Armed for any completion after a third Send: the
/// event is immediate.
Result<void> Story::solicited(Qp& qp, bool causes) {
  if (causes) {
    if (auto r = meet(4); !r) return r;
    if (auto r = post(qp, 1, IBV_WR_SEND, 30); !r) return r;
    if (auto r = meet(5); !r) return r;
    if (auto r = post(qp, 2, IBV_WR_SEND, 40, 0, 0, IBV_SEND_SOLICITED); !r) return r;
    if (auto r = completions({{1}, {2}}); !r) return r;
    if (auto r = meet(6); !r) return r;
    if (auto r = post(qp, 3, IBV_WR_SEND, 40); !r) return r;
    return completions({{3}});
  }
  if (auto r = cq_.req_notify_cq(true); !r) return r;
  if (auto r = meet(4); !r) return r;
  if (auto e = cq_.get_cq_event(dev_.now() + kShort); e || e.error().code != Errc::kTimedOut)
    return fail(Errc::kProtocol, "an event for a Send that was not solicited");
  mask(true);
  if (auto r = meet(5); !r) return r;
  (void)dev_.wait(0, dev_.now() + 2 * kShort);
  if (dev_.read64(0, spec::kMsixPendingOffset) == 0)
    return fail(Errc::kProtocol, "no message waits for its vector to be unmasked");
  mask(false);
  if (auto e = cq_.get_cq_event(dev_.now() + kPatience); !e) return e;
  if (auto r = completions({{kReceive}, {kReceive + 1}}); !r) return r;
  const auto sent = shared_.memory[1 - side_].subspan(4096 - 20, 40);
  if (!std::ranges::equal(sent, buffer_.bytes().subspan(kReceives + kReceiveBytes, 40)))
    return fail(Errc::kProtocol, "the solicited Send brought other bytes");
  const Sge sge{kIova + kReceives, kReceiveBytes, open_.lkey()};
  if (const auto r = qp.post_recv({.wr_id = kReceive, .sg_list = {&sge, 1}}); !r)
    return fail(r.error->code, "post_recv: {}", r.error->what);
  if (auto r = meet(6); !r) return r;
  (void)dev_.wait(0, dev_.now() + kShort);  // the Send has arrived
  if (auto r = cq_.req_notify_cq(false); !r) return r;
  if (auto e = cq_.get_cq_event(dev_.now() + kPatience); !e) return e;
  return completions({{kReceive}});
}

/// The queue reports its overrun, and the QP ends because of it.
Result<void> Story::overrun() {
  const auto e = context_.get_async_event(dev_.now() + kPatience);
  if (!e) return error_of(e);
  if (e->type != IBV_EVENT_CQ_ERR) return fail(Errc::kProtocol, "an event of {} first", e->object);
  return fatal(static_cast<uint32_t>(Cause::kLocalCatastrophic), 0);
}

/// After a reset the table of vectors is zero, and all vectors are masked.
Result<void> Story::cleared() {
  constexpr uint32_t kCommand = 0x04, kMemory = 1U << 1;  // configuration space
  dev_.config_write(kCommand, dev_.config_read(kCommand) | kMemory);
  for (uint32_t v = 0; v < 2; ++v) {
    // A vector is four words: address low and high, data, control. Bit 0 of control masks it.
    for (uint32_t word = 0; word < 4; ++word) {
      const uint32_t at = spec::kMsixAddressOffset + v * spec::kMsixAddressStride + 4 * word;
      if (const uint32_t is = dev_.read32(0, at); is != (word == 3 ? 1 : 0))
        return fail(Errc::kProtocol, "word {} of vector {} is {:#x} after reset", word, v, is);
    }
  }
  return {};
}

/// Masks or unmasks both vectors.
void Story::mask(bool on) {
  for (uint32_t v = 0; v < 2; ++v)
    dev_.write32(0, spec::kMsixAddressOffset + v * spec::kMsixAddressStride + 12, on ? 1 : 0);
}

/// Closes the region without write access and registers its slot again, with another key and all
/// rights.
Result<void> Story::move_region() {
  if (auto r = closed_.dereg(); !r) return r;
  auto again = pd_.reg_mr_iova(buffer_, 0, kBytes, kIova, kAllRights);
  if (!again) return error_of(again);
  closed_ = std::move(*again);
  shared_.closed_key[side_] = closed_.rkey();
  return meet(4);
}

/// Closes a region while Writes or Reads arrive. After the device has reported the region as
/// closed, none of its bytes changes.
Result<void> Story::close_region() {
  if (auto r = other_.dereg(); !r) return r;
  auto again = pd_.reg_mr_iova(buffer_, 0, kBytes, kIova, kAllRights);
  if (!again) return error_of(again);
  other_ = std::move(*again);
  shared_.other_key[side_] = other_.rkey();
  if (auto r = meet(4); !r) return r;
  (void)dev_.wait(0, dev_.now() + kShort / 4);
  if (auto r = other_.dereg(); !r) return r;
  const std::vector<uint8_t> then(buffer_.data(), buffer_.data() + kReceives);
  (void)dev_.wait(0, dev_.now() + kShort);
  ++shared_.checks;
  return std::equal(then.begin(), then.end(), buffer_.data())
             ? Result<void>()
             : fail(Errc::kProtocol, "a region was written to after it was closed");
}

}  // namespace rnic::mutants
