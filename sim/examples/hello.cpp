// Two hosts and a message: the minimum of a host program that runs on the simulator.
//
//   hello [model]    models on both sides
//   hello rtl        the RTL on both sides
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "backend/device_model.hpp"
#include "backend/device_rtl.hpp"
#include "platform/simulation.hpp"
#include "rnic/connection.hpp"
#include "rnic/manager.hpp"
#include "rnic/verbs.hpp"

namespace {

using namespace rnic;
using namespace rnic::verbs;

constexpr uint16_t kPort = 4791;

/// Returns the value. It throws an error, for brevity; the error ends the run, which reports it.
template <class T>
T must(Result<T> r) {
  if (!r) throw std::runtime_error(r.error().what);
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}
void must(const PostResult& r) {
  if (!r) throw std::runtime_error(r.error->what);
}

/// The objects that each side needs before it connects.
struct Side {
  explicit Side(PciDevice& device) : dev(device) {}
  PciDevice& dev;
  std::unique_ptr<Manager> manager = must(Manager::open(dev, {.seed = 1}));
  Context ctx = must(Context::open(dev, *manager));
  Pd pd = must(ctx.alloc_pd());
  Cq cq = must(ctx.create_cq(16));
  Qp qp = must(pd.create_qp({.send_cq = &cq, .recv_cq = &cq}));
  DmaBuffer buffer = must(ctx.alloc(64));
  Mr mr = must(pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE));

  /// Polls until one request has completed.
  Wc completion() {
    std::array<Wc, 1> wc;
    while (must(cq.poll_cq(wc)) == 0) continue;  // each poll costs simulated time
    if (wc[0].status != IBV_WC_SUCCESS) throw std::runtime_error("a request has failed");
    return wc[0];
  }
};

// [server]
void server(PciDevice& dev) {
  Side side(dev);
  const Sge sge{side.mr.addr(), 64, side.mr.lkey()};
  must(side.qp.post_recv({.wr_id = 1, .sg_list = {&sge, 1}}));
  auto listener = must(listen(side.ctx, kPort));
  auto request = must(listener.get_request(dev.now() + 10 * kMs));  // waits for the client
  auto connection = must(request.accept(side.qp, {}));
  fmt::print("server: connected to {}\n", to_string(connection.peer()));
  const Wc wc = side.completion();
  const std::string_view text(reinterpret_cast<const char*>(side.buffer.data()), wc.byte_len);
  fmt::print("server: received \"{}\" at {} ns\n", text, dev.now() / kNs);
  must(connection.wait_disconnected(dev.now() + 10 * kMs));
  must(connection.disconnect());
}
// [/server]

void client(PciDevice& dev) {
  Side side(dev);
  std::ranges::copy(std::string_view("hello"), side.buffer.data());
  const auto address = must(Address::resolve("10.0.0.2", kPort));  // host 1
  auto tried = connect(side.qp, address, {});
  while (!tried && tried.error().code == Errc::kRefused) {  // no listener there yet
    (void)dev.wait(0, dev.now() + 20 * kUs);
    tried = connect(side.qp, address, {});
  }
  auto connection = must(std::move(tried));
  const Sge sge{side.mr.addr(), 5, side.mr.lkey()};
  must(side.qp.post_send({.wr_id = 7, .sg_list = {&sge, 1}, .send_flags = IBV_SEND_SIGNALED}));
  (void)side.completion();
  fmt::print("client: sent 5 bytes\n");
  must(connection.disconnect());
}

std::unique_ptr<sim::Device> device(bool is_rtl, const std::string& name) {
  if (!is_rtl) return sim::make_model_device({}, name);
  sim::RtlOptions options;
  options.name = name;
  return sim::make_rtl_device(options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "model";
  const bool is_rtl = kind == "rtl";
  if (argc > 2 || (kind != "model" && !is_rtl)) {
    fmt::print(stderr, "usage: hello [model|rtl]\n");
    return 2;
  }
  sim::Simulation simulation({.platform = *sim::preset("gen4x16"), .side = {}, .seed = 1});
  simulation.add_host(device(is_rtl, "client"));  // host 0: 10.0.0.1
  simulation.add_host(device(is_rtl, "server"));  // host 1: 10.0.0.2
  simulation.start(1, "server", server);
  simulation.start(0, "client", client);
  const auto result = simulation.run();
  for (const auto& f : result.failures) fmt::print(stderr, "{}: {}\n", f.program, f.what);
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", result.report);
    return 1;
  }
  fmt::print("both have returned at {} ns\n", result.end / kNs);
  return 0;
}
