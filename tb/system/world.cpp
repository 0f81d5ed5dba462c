// See world.hpp.
#include "world.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "kernel/activity.hpp"
#include "tandem/device_tandem.hpp"

namespace rnic::tb {

using namespace verbs;

namespace {

constexpr uint16_t kPort = 4791;
constexpr const char* kSides[] = {"client", "server"};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

/// The build that a kind names after its family: minimum, stall; else default.
std::string build_of(const std::string& kind) {
  const size_t at = kind.find('_');
  return at == std::string::npos ? "default" : kind.substr(at + 1);
}
/// model, rtl or tandem.
std::string family_of(const std::string& kind) { return kind.substr(0, kind.find('_')); }

}  // namespace

// --- Tap ---

void Tap::inject(uint16_t connection, const Bytes& fpdu) {
  sim::Record r;
  r.connection = connection;
  r.data = Payload::copy_of(fpdu);
  sent.push_back({sim::kernel_now(), r});
  env_->llp_tx(std::move(r));
}

std::vector<Bytes> Tap::fpdus(uint16_t connection) const {
  std::vector<Bytes> all;
  for (const Seen& s : sent) {
    if (s.record.is_stream || s.record.connection != connection) continue;
    const auto b = s.record.data.bytes();
    all.emplace_back(b.begin(), b.end());
  }
  return all;
}

void Tap::llp_rx(sim::Record r) {
  if (keeps) taken.push_back({sim::kernel_now(), r});
  inner_->llp_rx(std::move(r));
}

void Tap::llp_credit(const spec::LlpCredit& credit) {
  auto c = credit;
  if (on_credit) on_credit(c);
  inner_->llp_credit(c);
}

void Tap::llp_event(const spec::LlpCtlEvt& event) {
  if (!on_event || on_event(event)) inner_->llp_event(event);
}

void Tap::llp_tx(sim::Record r) {
  if (on_tx && !on_tx(r)) return;
  if (!r.is_stream) {
    ++records_sent;
    bytes_sent += r.data.size();
  }
  if (keeps) sent.push_back({sim::kernel_now(), r});
  env_->llp_tx(std::move(r));
}

void Tap::llp_ctl(const spec::LlpCtlReq& req) {
  asked.push_back({sim::kernel_now(), sent.size(), req});
  env_->llp_ctl(req);
}

// --- Endpoint ---

namespace {
constexpr uint64_t kReceive = uint64_t{1} << 63;
}

std::vector<uint64_t> Endpoint::post(std::vector<SendWr> wrs) {
  std::vector<uint64_t> ids;
  for (SendWr& wr : wrs) {
    wr.wr_id = next_++;
    wr.send_flags |= IBV_SEND_SIGNALED;
    ids.push_back(wr.wr_id);
  }
  const auto r = qp.post_send(wrs);
  for (size_t i = 0; i < r.accepted; ++i) sends_.push_back(ids[i]);
  if (!r) fail("post_send: " + r.error->what);
  return ids;
}

uint64_t Endpoint::send(std::span<const Sge> sges, uint32_t flags) {
  return post({{.sg_list = sges, .opcode = IBV_WR_SEND, .send_flags = flags}})[0];
}
uint64_t Endpoint::send(const Sge& sge, uint32_t flags) { return send(std::span(&sge, 1), flags); }
uint64_t Endpoint::write(const Sge& from, uint32_t rkey, uint64_t to, uint32_t flags) {
  return post({{.sg_list = {&from, 1},
                .opcode = IBV_WR_RDMA_WRITE,
                .send_flags = flags,
                .remote_addr = to,
                .rkey = rkey}})[0];
}
uint64_t Endpoint::read(const Sge& to, uint32_t rkey, uint64_t from, uint32_t flags) {
  return post({{.sg_list = {&to, 1},
                .opcode = IBV_WR_RDMA_READ,
                .send_flags = flags,
                .remote_addr = from,
                .rkey = rkey}})[0];
}

uint64_t Endpoint::flush(uint32_t rkey, uint64_t to, uint32_t length, uint8_t type,
                         uint32_t flags) {
  return post({{.opcode = IBV_WR_FLUSH,
                .send_flags = flags,
                .remote_addr = to,
                .rkey = rkey,
                .flush_length = length,
                .flush_type = type}})[0];
}

uint64_t Endpoint::fetch_add(const Sge& sink, uint32_t rkey, uint64_t to, uint64_t add,
                             uint64_t mask, uint32_t flags) {
  return post({{.sg_list = {&sink, 1},
                .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                .send_flags = flags,
                .remote_addr = to,
                .rkey = rkey,
                .compare_add = add,
                .add_mask = mask}})[0];
}

uint64_t Endpoint::cmp_swap(const Sge& sink, uint32_t rkey, uint64_t to, const Swap& operands,
                            uint32_t flags) {
  return post({{.sg_list = {&sink, 1},
                .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                .send_flags = flags,
                .remote_addr = to,
                .rkey = rkey,
                .compare_add = operands.compare,
                .swap = operands.swap,
                .compare_mask = operands.compare_mask,
                .swap_mask = operands.swap_mask}})[0];
}

uint64_t Endpoint::atomic_write(uint32_t rkey, uint64_t to, uint64_t value, uint32_t flags) {
  const Sge from{std::bit_cast<uint64_t>(&value), sizeof value, 0};
  return post({{.sg_list = {&from, 1},
                .opcode = IBV_WR_ATOMIC_WRITE,
                .send_flags = flags | IBV_SEND_INLINE,
                .remote_addr = to,
                .rkey = rkey}})[0];
}

uint64_t Endpoint::receive(std::span<const Sge> sges) {
  const uint64_t id = kReceive | next_++;
  if (const auto r = qp.post_recv({.wr_id = id, .sg_list = sges}); !r)
    fail("post_recv: " + r.error->what);
  receives_.push_back(id);
  return id;
}

uint64_t SharedReceives::receive(const Sge& sge) {
  const uint64_t id = kReceive | next_++;
  if (const auto r = srq.post_recv({.wr_id = id, .sg_list = {&sge, 1}}); !r)
    fail("post_recv: " + r.error->what);
  posted_.insert(id);
  return id;
}

void SharedReceives::take(const Wc& wc) {
  if (posted_.erase(wc.wr_id) == 0)
    fail(fmt::format("qp {}: receive {:#x} of an SRQ completes ({}), but is not outstanding",
                     wc.qp_num, wc.wr_id, to_string(wc.status)));
}

void Endpoint::take(const Wc& wc) {
  if ((wc.wr_id & kReceive) != 0 && shared_ != nullptr) {
    shared_->take(wc);
    done.push_back(wc);
    return;
  }
  auto& queue = (wc.wr_id & kReceive) != 0 ? receives_ : sends_;
  if (queue.empty() || queue.front() != wc.wr_id) {
    fail(fmt::format("qp {}: request {:#x} completes ({}), but the oldest of its queue is {}",
                     wc.qp_num, wc.wr_id, to_string(wc.status),
                     queue.empty() ? std::string("none") : fmt::format("{:#x}", queue.front())));
  }
  queue.pop_front();
  done.push_back(wc);
}

bool Endpoint::completed(uint64_t id) const {
  return std::any_of(done.begin(), done.end(), [&](const Wc& wc) { return wc.wr_id == id; });
}

const Wc& Endpoint::wc(uint64_t id) const {
  const auto at =
      std::find_if(done.begin(), done.end(), [&](const Wc& wc) { return wc.wr_id == id; });
  if (at == done.end()) fail(fmt::format("request {:#x} has not completed", id));
  return *at;
}

// --- Host ---

Host::~Host() = default;

void Host::open(uint32_t cqe, ManagerSettings settings) {
  settings.seed = world.seed();
  manager = must(Manager::open(dev, settings), "manager");
  context = must(Context::open(dev, *manager), "context");
  pd = must(context.alloc_pd(), "protection domain");
  cq = must(context.create_cq(cqe), "completion queue");
}

Region Host::region(uint64_t bytes, uint32_t access, std::optional<uint64_t> iova) {
  Region r;
  r.buffer = must(context.alloc(bytes), "memory");
  r.mr = iova ? must(pd.reg_mr_iova(r.buffer, 0, bytes, *iova, access), "region")
              : must(pd.reg_mr(r.buffer, 0, bytes, access), "region");
  return r;
}

Region Host::region_of(Pd& owner, uint64_t bytes, uint32_t access) {
  Region r;
  r.buffer = must(context.alloc(bytes), "memory");
  r.mr = must(owner.reg_mr(r.buffer, 0, bytes, access), "region");
  return r;
}

Endpoint& Host::endpoint(QpCap cap, bool push, bool privileged) {
  Endpoint& e = endpoints_.emplace_back();
  e.qp = must(
      pd.create_qp(
          {.send_cq = &cq, .recv_cq = &cq, .cap = cap, .push = push, .privileged = privileged}),
      "QP");
  return e;
}

Endpoint& Host::endpoint(Cq& sends) {
  Endpoint& e = endpoints_.emplace_back();
  e.qp = must(pd.create_qp({.send_cq = &sends, .recv_cq = &cq, .cap = kCap}), "QP");
  return e;
}

Endpoint& Host::endpoint(SharedReceives& receives) {
  Endpoint& e = endpoints_.emplace_back();
  e.qp =
      must(pd.create_qp({.send_cq = &cq, .recv_cq = &cq, .srq = &receives.srq, .cap = kCap}), "QP");
  e.shared_ = &receives;
  return e;
}

SharedReceives& Host::shared_receives(const SrqInitAttr& attr) {
  SharedReceives& s = shared_.emplace_back();
  s.srq = must(pd.create_srq(attr), "SRQ");
  return s;
}

Result<Connection> Host::try_connect(Endpoint& e, ConnParam param) {
  until("the server to listen", [&] { return world.listening; });
  return verbs::connect(e.qp, {sim::host_address(kServer), kPort}, param);
}

void Host::connect(Endpoint& e, ConnParam param) {
  e.connection = must(try_connect(e, param), "connect");
  e.number_ = e.qp.core()->connection.value();
}

ConnRequest Host::next_request() {
  if (!listener_) listener_ = must(verbs::listen(context, kPort), "listen");
  world.listening = true;
  return must(listener_->get_request(dev.now() + 10 * kMs), "listen");
}

void Host::accept(Endpoint& e, ConnParam param) {
  auto request = next_request();
  e.connection = must(request.accept(e.qp, param), "accept");
  e.number_ = e.qp.core()->connection.value();
}

void Host::poll() {
  std::array<Wc, 32> wcs;
  const size_t n = must(cq.poll_cq(wcs), "poll_cq");
  for (const Wc& wc : std::span(wcs).first(n)) {
    // The newest QP of that number: a destroyed QP has released it.
    const auto e = std::find_if(endpoints_.rbegin(), endpoints_.rend(), [&](const Endpoint& each) {
      return each.qp.qp_num() == wc.qp_num;
    });
    if (e == endpoints_.rend()) fail(fmt::format("completion of QP {}", wc.qp_num));
    e->take(wc);
  }
}

void Host::until(const std::string& what, const std::function<bool()>& done, Time patience) {
  const Time deadline = dev.now() + patience;
  while (!done()) {
    if (world.failed) fail("the other side has failed");
    if (dev.now() > deadline)
      fail(fmt::format("{} us have passed in vain: {}", patience / kUs, what));
    if (cq.core() != nullptr) {
      poll();
    } else {
      dev.relax();
    }
  }
}

void Host::rest(Time how_long) {
  const Time end = dev.now() + how_long;
  until(
      "rest", [&] { return dev.now() >= end; }, how_long + kMs);
}

AsyncEvent Host::event(Time patience) {
  std::optional<AsyncEvent> found;
  until(
      "asynchronous event",
      [&] {
        if (auto e = context.get_async_event(0)) found = *e;
        return found.has_value();
      },
      patience);
  return *found;
}

bool Host::quiet() { return !context.get_async_event(0); }

// --- World ---

World::World(const WorldConfig& config) : seed_(config.seed) {
  config_.set("time_limit_us=20000", "test");
  for (const Side side : {kClient, kServer}) {
    config_.set(fmt::format("{}.build={}", kSides[side], build_of(config.kind[side])), "test");
  }
  for (const std::string& s : config.settings) config_.set(s, "test");
  sim::SimulationConfig sc;
  sc.platform = config_.platform();
  sc.side = {config_.platform(kClient), config_.platform(kServer)};
  sc.seed = config.seed;
  simulation_ = std::make_unique<sim::Simulation>(sc);
  for (const Side side : {kClient, kServer}) {
    std::unique_ptr<sim::Device> device;
    const std::string kind = family_of(config.kind[side]);
    if (kind == "model") {
      device = sim::make_model_device(config_.sizes(side), kSides[side], config_.timing(side));
    } else {
      sim::RtlOptions o;
      o.build = config_.build(side);
      o.stalls = {config_.stall_percent(side), 2 * config.seed + side};
      o.name = kSides[side];
      o.reset_seed = config_.reset_seed(side);
      o.observer = config.observer[side];
      if (const char* wave = std::getenv("RNIC_WAVE"))
        o.wave.file = fmt::format("{}.{}.fst", wave, kSides[side]);
      device = kind == "tandem" ? sim::make_tandem_device(o) : sim::make_rtl_device(o);
    }
    const std::string said = device->describe();
    const std::string build = build_of(config.kind[side]);
    EXPECT_TRUE(said.starts_with(kind)) << config.kind[side] << " is " << said;
    for (const char* b : {"minimum", "stall"})
      EXPECT_EQ(said.ends_with(fmt::format("({})", b)), build == b)
          << config.kind[side] << " is " << said;
    auto tap = std::make_unique<Tap>(std::move(device));
    taps_[side] = tap.get();
    in_tandem_ = in_tandem_ || kind == "tandem";
    simulation_->add_host(std::move(tap));
  }
  if (!config.pcap.empty()) simulation_->write_pcap(config.pcap);
}

sim::RunResult World::try_run(Program client, Program server) {
  const auto start = [&](Side side, Program program) {
    simulation_->start(side, kSides[side], [this, side, program](PciDevice& dev) {
      Host host(*this, side, dev);
      try {
        program(host);
      } catch (const std::exception&) {
        failed = true;
        throw;
      }
    });
  };
  start(kServer, std::move(server));
  start(kClient, std::move(client));
  return simulation_->run();
}

void World::run(Program client, Program server) {
  const auto result = try_run(std::move(client), std::move(server));
  EXPECT_TRUE(result.ok()) << result.report;
  if (!result.ok() || !in_tandem_) return;
  simulation_->settle(sim::kQuietNs);  // then no item may be left over
  for (const Tap* tap : taps_) EXPECT_EQ(tap->failure(), "");
}

// --- child processes ---

void in_child(const std::function<void()>& body, unsigned seconds) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    alarm(seconds);
    try {
      body();
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    FAIL() << "the run died of signal " << WTERMSIG(status) << " (" << strsignal(WTERMSIG(status))
           << ")";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0) << "what failed stands above";
}

// --- patterns ---

uint8_t pattern(uint64_t key, uint64_t at) {
  uint64_t x = (key * 0xd6e8feb86659fd93 ^ at >> 3) * 0x9e3779b97f4a7c15;
  x ^= x >> 29;
  return static_cast<uint8_t>(x >> 8 * (at & 7));
}

void fill(std::span<uint8_t> bytes, uint64_t key, uint64_t from) {
  for (uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(key, from + i);
}

uint64_t wrong(std::span<const uint8_t> bytes, uint64_t key, uint64_t from) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < bytes.size(); ++i) n += bytes[i] != pattern(key, from + i) ? 1 : 0;
  return n;
}

}  // namespace rnic::tb
