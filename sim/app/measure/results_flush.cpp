// The part of results about RDMA Flush. See results.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "durable_log.hpp"
#include "link/wire_limit.hpp"
#include "measure/results.hpp"

namespace rnic::app {
namespace {

double latency_of(const nlohmann::ordered_json& run) { return number(run["latency_ns"], "avg"); }
double device_of(const nlohmann::ordered_json& run) { return number(run["path"], "device_ns"); }
std::string millions(double rate) { return fmt::format("{:.3f}", rate / 1e6); }

}  // namespace

void Results::flush() {
  flush_against_read();
  flush_log();
  flush_pipelined();
  flush_rate();
}

void Results::flush_against_read() {
  constexpr std::array kSizes = {"64", "4096"};
  constexpr std::array kBy = {"by_read=0", "by_read=1"};
  std::vector<RunRequest> requests;
  for (const char* size : kSizes) {
    for (const char* by : kBy) {
      for (const char* kind : {"rtl", "model"}) {
        requests.push_back(
            request("flush_lat", kind, {fmt::format("size={}", size), by, "count=64", "warmup=8"}));
        requests.back().path = true;
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;
  for (const Outcome& o : outs) check_path(o);
  std::vector<std::vector<std::string>> rows{{"posted together", "size", "RTL, ns", "host", "PCIe",
                                              "link", "devices", "devices, cycles",
                                              "model, devices, cycles", "error"}};
  std::vector<TimingCase> errors;
  for (size_t s = 0; s < kSizes.size(); ++s) {
    const nlohmann::ordered_json* of[2][2];  // by Flush, by Read; RTL, model
    for (size_t by = 0; by < 2; ++by) {
      for (size_t kind = 0; kind < 2; ++kind) of[by][kind] = &outs[s * 4 + by * 2 + kind].json;
      const auto &rtl = *of[by][0], &model = *of[by][1], &path = rtl["path"];
      TimingCase c{.program = by == 0 ? "Write + Flush" : "Write + Read",
                   .size = kSizes[s],
                   .qps = "1",
                   .is_latency = true,
                   .is_alone = true,
                   .limit = ""};
      c.take(rtl, model);
      errors.push_back(c);
      rows.push_back({c.program, c.size, one_digit(latency_of(rtl)),
                      one_digit(number(path, "host_ns")), one_digit(number(path, "pcie_ns")),
                      one_digit(number(path, "link_ns")), one_digit(c.rtl),
                      one_digit(cycles(c.rtl)), one_digit(cycles(c.model)),
                      fmt::format("{:+.1f} %", 100 * c.error())});
    }
    const double flush = latency_of(*of[0][0]), read = latency_of(*of[1][0]),
                 more = cycles(device_of(*of[0][0]) - device_of(*of[1][0]));
    figure(fmt::format("Write + Flush against Write + Read, {} B, RTL", kSizes[s]),
           fmt::format("{:.0f} ns against {:.0f} ns; in the devices {:+.1f} cycles", flush, read,
                       more),
           "not slower", flush <= read && more <= 0,
           fmt::format("the devices take {:.1f} cycles for the Flush and {:.1f} for the Read",
                       cycles(device_of(*of[0][0])), cycles(device_of(*of[1][0]))));
  }
  const auto& flush = outs[0].json;
  const auto& path = flush["path"];
  figure("flush_lat 64 B, RTL",
         fmt::format("{:.0f} ns: hosts {:.0f}, PCIe {:.0f}, link {:.0f}, devices {:.0f} ({:.0f} "
                     "cycles)",
                     latency_of(flush), number(path, "host_ns"), number(path, "pcie_ns"),
                     number(path, "link_ns"), device_of(flush), cycles(device_of(flush))),
         "printed", std::nullopt);
  error_figure("Write with Flush or Read, latency of the devices alone", errors, true);
  section("Write + Flush against Write + Read",
          "One at a time, averages of 64, without the platform's share where it says devices. "
          "The Read is of the message's last 8 bytes.\n\n" +
              markdown(rows));
  path_section("flush_lat, 64 B", outs[0], outs[1]);
}

namespace {

constexpr uint32_t kAppend = 64;  // bytes
constexpr uint32_t kAhead = 64;   // outstanding appends of a QP, if it does not wait for each
constexpr uint32_t kOrd = 16;

/// The number of requests of an append that take an ORD slot. "flush": two Flushes and the Atomic
/// Write of the log's tail. "flush_without_last": without the second Flush.
unsigned slots(std::string_view method) {
  if (method == "flush") return 3;
  if (method == "flush_without_last") return 2;
  return method == "read" ? 1 : 0;
}

/// Bytes that the client sends on the wire for an append: the Write of the record and its following
/// requests. Their payloads: 20 bytes of a Flush Request, 24 of an Atomic Write, 28 of a Read
/// Request, 8 of a Send.
uint64_t wire_bytes(std::string_view method) {
  const auto frame = [](uint64_t ulpdu) { return sim::frame_bytes(sim::fpdu_bytes(ulpdu)); };
  constexpr uint64_t kTagged = 14, kUntagged = 18;  // DDP headers with RDMAP's octet
  const uint64_t write = frame(kTagged + programs::record_bytes(kAppend));
  const uint64_t flush = frame(kUntagged + 20), tail = frame(kUntagged + 24);
  if (method == "flush") return write + flush + tail + flush;
  if (method == "flush_without_last") return write + flush + tail;
  if (method == "read") return write + frame(kUntagged + 28);
  if (method == "send") return write + frame(kUntagged + 8);
  return write;
}

}  // namespace

// Bounds. If the client waits for each append, an append takes the crossings of PCIe and link on
// its critical path. Overlapping appends are bounded by the link. Flushes and Reads are bounded by
// ORD: each holds its ORD slot for the round trip on the link and the read at the peer.
void Results::flush_log() {
  struct Case {
    std::string method;
    unsigned qps;
    bool is_ahead;
  };
  std::vector<Case> cases;
  std::vector<RunRequest> requests;
  for (const programs::LogMethodRow& m : programs::log_methods()) {
    for (const bool ahead : {false, true}) {
      for (const unsigned qps : {1u, 8u}) {
        cases.push_back({std::string(m.name), qps, ahead});
        for (const char* kind : {"rtl", "model"}) {
          requests.push_back(
              request("durable_log", kind,
                      {fmt::format("size={}", kAppend), fmt::format("method={}", m.name),
                       fmt::format("depth={}", ahead ? kAhead : 1), fmt::format("threads={}", qps),
                       fmt::format("rd_atomic={}", kOrd), ahead ? "count=1000" : "count=64"}));
          requests.back().path = qps == 1 && !ahead;
        }
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;
  std::vector<std::vector<std::string>> rows{{"method", "appends", "QPs, a thread each", "RTL, M/s",
                                              "model, M/s", "error", "bound, M/s", "of the bound",
                                              "bounded by"}};
  double crossings = 0, slot = 0;  // in ns: of an append, of an ORD slot
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const auto &rtl = outs[2 * i].json, &model = outs[2 * i + 1].json;
    if (rtl.contains("path")) {
      check_path(outs[2 * i]);
      const auto& path = rtl["path"];
      crossings = number(path, "pcie_ns") + number(path, "link_ns");
      slot = number(path, "link_ns");
      for (const auto& s : path["steps"])
        slot += s["side"] == "server" && s["kind"] == "pcie" ? s["ns"].get<double>() : 0;
    }
    const double link = options_.request.config.platform().link.link_gbps * 1e9 / 8 /
                        static_cast<double>(wire_bytes(c.method));
    double bound = link;
    std::string by = "link";
    const auto also = [&](double other, const char* name) {
      if (other < bound) bound = other, by = name;
    };
    if (!c.is_ahead) also(c.qps * 1e9 / crossings, "round trips of PCIe and link");
    if (const unsigned n = slots(c.method); c.is_ahead && n != 0)
      also(c.qps * kOrd * 1e9 / slot / n, "ORD times the round trip of link and peer's PCIe");
    const double rate = number(rtl, "msg_per_s"), of_model = number(model, "msg_per_s");
    rows.push_back({c.method, c.is_ahead ? fmt::format("up to {} ahead", kAhead) : "one at a time",
                    fmt::format("{}", c.qps), millions(rate), millions(of_model),
                    fmt::format("{:+.1f} %", 100 * (of_model / rate - 1)), millions(bound),
                    fmt::format("{:.0f} %", 100 * rate / bound), by});
    if (c.method == "flush")
      figure(fmt::format("durable_log, {} B appends a second by Flush, {} QP, {}, RTL", kAppend,
                         c.qps, rows.back()[1]),
             millions(rate) + " M/s",
             fmt::format("printed; bound {} M/s ({})", millions(bound), by), std::nullopt);
  }
  section(
      "durable_log: appends of 64 bytes",
      fmt::format("Whole runs. ORD is {}. `flush` is Write, Flush, Atomic Write, Flush. `send` "
                  "waits for the peer's CPU too, which takes "
                  "{} ns for an append; `write_only` promises nothing.\n\n{}",
                  kOrd, options_.request.config.platform().host.pmem_persist_ns, markdown(rows)));
}

void Results::flush_pipelined() {
  std::vector<RunRequest> requests;
  for (const char* pipelined : {"pipelined=1", "pipelined=0"}) {
    for (const char* kind : {"rtl", "model"})
      requests.push_back(request(
          "durable_log", kind,
          {fmt::format("size={}", kAppend), "method=flush", "depth=1", "count=64", pipelined}));
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;
  // 0, 1: pipelined on RTL, on models. 2, 3: not pipelined, likewise.
  const auto rate = [&](size_t i) { return number(outs[i].json, "msg_per_s"); };
  const double ratio = rate(0) / rate(2);
  figure("durable_log, flush: requests of an append posted at once, against a wait after each, RTL",
         fmt::format("{:.2f}x: {} M/s against {} M/s (model: {:.2f}x)", ratio, millions(rate(0)),
                     millions(rate(2)), rate(1) / rate(3)),
         "2x", ratio >= 2);
}

void Results::flush_rate() {
  constexpr double kWanted = 40e6;
  std::vector<RunRequest> requests;
  struct Qps {
    unsigned of_thread, threads;
    unsigned all() const { return of_thread * threads; }
  };
  constexpr std::array kQps = {Qps{1, 1}, Qps{64, 1}, Qps{16, 4}};
  for (const char* size : {"8", "64"}) {
    for (const Qps& q : kQps) {
      for (const char* kind : {"rtl", "model"}) {
        requests.push_back(
            request("write_flush_bw", kind,
                    {fmt::format("size={}", size), fmt::format("threads={}", q.threads),
                     fmt::format("qps={}", q.of_thread), "depth=16", "rd_atomic=4", "count=60",
                     "warmup=16"}));
        requests.back().streams = requests.back().wires = true;
      }
    }
  }
  const std::vector<Outcome> outs = run(requests, options_.jobs);
  if (std::ranges::any_of(outs, [](const Outcome& o) { return o.status != kGood; })) return;
  std::vector<std::vector<std::string>> rows{
      {"size", "QPs x threads", "RTL, M/s", "cycles each", "ns each of a QP", "model, M/s", "error",
       "wire limit, M/s", "fullest wire", "client: what waits", "server: what waits"}};
  const nlohmann::ordered_json* best = nullptr;
  std::string fullest_of_best;
  for (size_t i = 0; i < outs.size(); i += 2) {
    const auto &rtl = outs[i].json, &model = outs[i + 1].json;
    const double rate = number(rtl, "msg_per_s"), of_model = number(model, "msg_per_s");
    std::string fullest;
    double most = 0;
    for (const auto& [name, share] : rtl["wires"].items()) {
      if (share.get<double>() <= most) continue;
      most = share;
      fullest = fmt::format("{} {:.1f} %", name, 100 * most);
    }
    const Qps& q = kQps[i / 2 % kQps.size()];
    const double limit = number(rtl, "wire_limit_gbps") * 1e9 / 8 / number(rtl, "size");
    rows.push_back({fmt::format("{}", rtl["size"].get<uint64_t>()),
                    fmt::format("{} x {}", q.of_thread, q.threads), millions(rate),
                    fmt::format("{:.2f}", cycles(1e9 / rate)),
                    fmt::format("{:.0f}", q.all() * 1e9 / rate), millions(of_model),
                    fmt::format("{:+.1f} %", 100 * (of_model / rate - 1)), millions(limit), fullest,
                    waiting(rtl["streams"]["client"], 3), waiting(rtl["streams"]["server"], 3)});
    if (best == nullptr || rate > number(*best, "msg_per_s")) {
      best = &rtl;
      fullest_of_best = fullest;
    }
  }
  figure("Writes with a Flush each, 64 QPs, RTL",
         fmt::format("{:.2f} M/s ({} B), {:.2f} cycles each", number(*best, "msg_per_s") / 1e6,
                     (*best)["size"].get<uint64_t>(), cycles(1e9 / number(*best, "msg_per_s"))),
         "40 M/s", number(*best, "msg_per_s") >= kWanted,
         fmt::format("the fullest wire is {}; what waits most: client {}; server {}",
                     fullest_of_best, waiting((*best)["streams"]["client"], 3),
                     waiting((*best)["streams"]["server"], 3)));
  section("Flushes a second, 1 and 64 QPs",
          fmt::format("A read takes PCIe {} ns there and back. A single QP whose Flushes follow "
                      "each other no faster has one read-back in flight at the peer.\n\n{}",
                      options_.request.config.platform().pcie.pcie_latency_ns, markdown(rows)));
}

}  // namespace rnic::app
