// The part of results about FetchAdd and CmpSwap. See results.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "measure/results.hpp"

namespace rnic::app {
namespace {

std::string millions(double rate) { return fmt::format("{:.3f} M/s", rate / 1e6); }

struct Case {
  const char *addresses, *op;
  unsigned qps, threads;
  double wanted = 0;  // M/s; 0: not a goal
  unsigned all() const { return qps * threads; }
  bool is_hot() const { return std::string_view(addresses) == "one"; }
};

}  // namespace

// A QP has one outstanding atomic at its peer: the next one starts when the old value of the
// previous one has crossed the peer's PCIe. On one address, each also waits until the store of its
// predecessor is in the posted queue.
void Results::atomics() {
  const std::vector<Case> cases{{"many", "fetch_add", 1, 1, 0.9}, {"many", "fetch_add", 8, 1, 7.5},
                                {"many", "fetch_add", 16, 4, 40}, {"many", "cmp_swap", 16, 4},
                                {"one", "fetch_add", 1, 1},       {"one", "fetch_add", 8, 1},
                                {"one", "cmp_swap", 8, 1}};
  std::vector<RunRequest> requests;
  for (const Case& c : cases) {
    for (const char* kind : {"rtl", "model"})
      requests.push_back(
          request("atomic_bw", kind,
                  {fmt::format("addresses={}", c.addresses), fmt::format("op={}", c.op),
                   fmt::format("qps={}", c.qps), fmt::format("threads={}", c.threads), "depth=16",
                   "rd_atomic=8", "count=100", "warmup=16"}));
  }
  requests.push_back(request("atomic_lat", "rtl", {"count=64", "warmup=8"}));
  requests.back().path = true;
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;
  // The round trip of a read of 8 bytes at the peer: the longest PCIe step of the server on the
  // critical path of atomic_lat.
  const auto& path = outs.back().json["path"];
  check_path(outs.back());
  double round_trip = 0;
  for (const auto& s : path["steps"])
    if (s["side"] == "server" && s["kind"] == "pcie")
      round_trip = std::max(round_trip, s["ns"].get<double>());
  std::vector<std::vector<std::string>> rows{{"addresses", "operation", "QPs x threads", "RTL",
                                              "model", "error", "ns each of a QP or address",
                                              "of them PCIe"}};
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const double rtl = number(outs[2 * i].json, "msg_per_s"),
                 model = number(outs[2 * i + 1].json, "msg_per_s");
    const double ns = (c.is_hot() ? 1 : c.all()) * 1e9 / rtl;
    rows.push_back({c.addresses, c.op, fmt::format("{} x {}", c.qps, c.threads), millions(rtl),
                    millions(model), fmt::format("{:+.1f} %", 100 * (model / rtl - 1)),
                    fmt::format("{:.0f}", ns), fmt::format("{:.0f} %", 100 * round_trip / ns)});
    if (c.wanted != 0)
      figure(fmt::format("FetchAdds on different addresses, {} QP, RTL", c.all()), millions(rtl),
             fmt::format("{:.1f} M/s", c.wanted), rtl >= c.wanted * 1e6,
             fmt::format("a QP has one at its peer at a time: {:.0f} ns each, {:.0f} of them the "
                         "read over PCIe",
                         ns, round_trip));
    if (c.is_hot() && c.all() == 8 && std::string_view(c.op) == "fetch_add")
      figure("FetchAdds on one address, 8 QP, RTL: each against a read over PCIe",
             fmt::format("{:.2f}x: {:.0f} ns, {:.0f} ns", ns / round_trip, ns, round_trip), "1.2x",
             ns <= 1.2 * round_trip);
  }
  section(
      "Atomics a second",
      fmt::format("A QP has one atomic at its peer: the next one begins when the old value of "
                  "the one before has come over the peer's PCIe, {:.0f} ns there and back.\n\n{}",
                  round_trip, markdown(rows)));
}

}  // namespace rnic::app
