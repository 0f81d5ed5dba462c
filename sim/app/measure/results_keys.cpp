// The part of results about Immediate Data, fast registration and memory windows. See results.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.hpp"
#include "measure/results.hpp"

namespace rnic::app {
namespace {

std::string millions(double rate) { return fmt::format("{:.3f} M/s", rate / 1e6); }
double latency(const Outcome& o) { return number(o.json["latency_ns"], "avg"); }

/// A run of a program in which a key (an STag) is opened, used by the peer and invalidated.
struct Cycle {
  const char *program, *what;
  unsigned size, qps, count;
};
constexpr std::array kCycles = {Cycle{"frwr", "fast registration", 65536, 1, 32},
                                Cycle{"frwr", "fast registration", 65536, 8, 8},
                                Cycle{"frwr", "fast registration", 64, 1, 32},
                                Cycle{"frwr", "fast registration", 64, 64, 8},
                                Cycle{"mw_bind", "memory window", 64, 1, 32},
                                Cycle{"mw_bind", "memory window", 64, 64, 8}};
constexpr double kGoal = 5e6;           // registrations and invalidations a second, each
constexpr unsigned kSegmentCycles = 4;  // that qp_parse and rdmap need for a small message

}  // namespace

// A Write with Immediate is two messages. The cycle of a key: our side opens the key through the
// send queue and sends it; the peer uses it for a Write and invalidates it by a Send.
void Results::keys() {
  const Settings many{"size=64", "threads=4", "qps=2", "depth=64", "warmup=64", "count=500"};
  std::vector<RunRequest> requests;
  for (const char* program : {"write_imm_bw", "send_bw"})
    for (const char* kind : {"rtl", "model"}) requests.push_back(request(program, kind, many));
  for (const Cycle& c : kCycles)
    for (const char* kind : {"rtl", "model"}) {
      requests.push_back(request(c.program, kind,
                                 {fmt::format("size={}", c.size), fmt::format("qps={}", c.qps),
                                  fmt::format("count={}", c.count), "warmup=2"}));
      requests.back().path = c.qps == 1;
    }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;

  // outs: 0 and 1 write_imm_bw, 2 and 3 send_bw, from 4 on kCycles; each on RTL, then on models.
  const auto rate = [&](size_t i) { return number(outs[i].json, "msg_per_s"); };
  const double bound = 1e12 / base::kPsPerCycle / (2 * kSegmentCycles);
  figure("Writes with Immediate, 64 B, 8 QPs in 4 threads, RTL", millions(rate(0)),
         fmt::format("{:.1f} M/s: two messages of {} cycles each", bound / 1e6, kSegmentCycles),
         rate(0) >= 0.98 * bound);
  section("Writes with Immediate, 8 QPs in 4 threads, 64 bytes",
          markdown({{"program", "messages of each", "RTL", "model", "error"},
                    {"write_imm_bw", "2", millions(rate(0)), millions(rate(1)),
                     fmt::format("{:+.1f} %", 100 * (rate(1) / rate(0) - 1))},
                    {"send_bw", "1", millions(rate(2)), millions(rate(3)),
                     fmt::format("{:+.1f} %", 100 * (rate(3) / rate(2) - 1))}}));

  std::vector<std::vector<std::string>> rows{
      {"program", "bytes", "QPs", "RTL, a cycle", "model", "error", "RTL, cycles of all QPs"}};
  for (size_t i = 0; i < kCycles.size(); ++i) {
    const Cycle& c = kCycles[i];
    const double rtl = latency(outs[4 + 2 * i]), model = latency(outs[5 + 2 * i]);
    const double all = c.qps * 1e9 / rtl;
    const bool is_rate = c.qps == 64;
    rows.push_back({c.program, fmt::format("{}", c.size), fmt::format("{}", c.qps),
                    fmt::format("{:.2f} us", rtl / 1000), fmt::format("{:.2f} us", model / 1000),
                    fmt::format("{:+.1f} %", 100 * (model / rtl - 1)), millions(all)});
    figure(fmt::format("{} of {} bytes opened, written by the peer, invalidated: {} QP{}, RTL",
                       c.what, c.size, c.qps, c.qps == 1 ? "" : "s"),
           fmt::format("{:.2f} us, {}", rtl / 1000, millions(all)),
           is_rate ? millions(kGoal) : "printed",
           is_rate ? std::optional(all >= kGoal) : std::nullopt);
  }
  section("Keys that change hands",
          fmt::format("Each QP has one key at a time. Its cycle: open the key through the send "
                      "queue, send it, the peer writes and returns it by Send with "
                      "Invalidate.\n\n{}",
                      markdown(rows)));
  for (size_t i = 0; i < kCycles.size(); ++i) {
    const Cycle& c = kCycles[i];
    if (c.qps != 1) continue;
    for (size_t k : {4 + 2 * i, 5 + 2 * i}) check_path(outs[k]);
    path_section(fmt::format("{} of {} bytes, 1 QP", c.program, c.size), outs[4 + 2 * i],
                 outs[5 + 2 * i]);
  }
}

}  // namespace rnic::app
