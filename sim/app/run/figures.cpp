// Fills the JSON of a run with its figures, key by key. See figures.hpp.
#include "run/figures.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "link/wire_limit.hpp"
#include "output/report.hpp"
#include "run/counters.hpp"
#include "run/devices.hpp"

namespace rnic::app {
namespace {

std::string sha256(std::span<const uint8_t> bytes) {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256(bytes.data(), bytes.size(), digest);
  std::string hex;
  for (const uint8_t byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

/// The operation whose wire limit bounds the program.
sim::WireOp wire_op(const RunRequest& r, const programs::Params& p) {
  const std::string what = r.program == "file_copy" ? p.op : r.program;
  if (what.starts_with("atomic") || what == "lock") return sim::WireOp::kAtomic;
  if (what.find("imm") != std::string::npos)
    return what.starts_with("write") ? sim::WireOp::kWriteImm : sim::WireOp::kSend;
  return what.find("flush") != std::string::npos ? sim::WireOp::kWriteFlush
         : what.starts_with("write")             ? sim::WireOp::kWrite
         : what.starts_with("read")              ? sim::WireOp::kRead
                                                 : sim::WireOp::kSend;
}

/// The rates of one direction, in its own window.
nlohmann::ordered_json rate_json(const programs::Report& r) {
  const double ns = r.end > r.start ? static_cast<double>(r.end - r.start) / kNs : 0;
  return {{"ops", r.ops},
          {"bytes", r.bytes},
          {"sim_ns", ns},
          {"gbps", ns > 0 ? static_cast<double>(r.bytes) * 8 / ns : 0},
          {"msg_per_s", ns > 0 ? static_cast<double>(r.ops) / ns * 1e9 : 0}};
}

/// How evenly the messages of a steady window arrived at one side.
nlohmann::ordered_json fairness_json(const programs::Report& side) {
  return {{"longest_gap_ns", side.longest_gap / kNs}, {"least", side.least}, {"most", side.most}};
}

void add_request(const Setup& s, nlohmann::ordered_json& j) {
  j["program"] = s.request.program;
  j["client"] = s.request.kind[kClient];
  j["server"] = s.request.kind[kServer];
  j["seed"] = s.request.seed;
  j["settings"] = settings_json(s.request.config);
  j["size"] = s.params.size;
}

/// The rates of the client; of a steady window also how the messages arrived.
void add_rates(const Setup& s, const Verdict& v, nlohmann::ordered_json& j) {
  const programs::Report &client = v.reports[kClient], &server = v.reports[kServer];
  const auto rate = rate_json(client);
  j["ops"] = rate["ops"];
  j["bytes"] = rate["bytes"];
  j["checks"] = v.checks;
  j["sim_ns"] = rate["sim_ns"];
  j["gbps"] = rate["gbps"];
  j["msg_per_s"] = rate["msg_per_s"];
  if (server.ops != 0) j["back"] = rate_json(server);  // both=1: the other direction
  if (client.latency.empty()) {
    j["window"] = client.is_whole ? "whole" : "steady";
    if (!client.is_whole && server.most != 0) j["arrivals"]["server"] = fairness_json(server);
    if (!client.is_whole && client.most != 0) j["arrivals"]["client"] = fairness_json(client);
  }
  const auto limit = sim::wire_limit(wire_op(s.request, s.params), s.params.size,
                                     s.config.platform.link.mtu, s.config.platform.link.link_gbps);
  j["wire_limit_gbps"] = limit.payload_gbps;
}

void add_latency(const Setup& s, const Verdict& v, nlohmann::ordered_json& j) {
  j["latency_ns"] = latency_json(v.reports[kClient].latency, s.request.cdf);
  j["half_round_trip"] = s.program.half_round_trip;
  j["mismatches"] = v.mismatches;
  if (s.params.srq_limit != 0)
    for (const Side side : {kClient, kServer})
      j["limit_events"][kSideNames[side]] = v.reports[side].limit_events;
}

void add_devices(Setup& s, const Ending& ending, nlohmann::ordered_json& j) {
  uint64_t rtl_cycles = 0;
  for (const Side side : {kClient, kServer}) {
    if (has_rtl(s.request.kind[side])) rtl_cycles += s.simulation.device(side).cycles();
  }
  j["rtl_cycles"] = rtl_cycles;
  if (auto tandem = tandem_json(s.simulation); !tandem.is_null()) j["tandem"] = std::move(tandem);
  j["sim_end_ns"] = static_cast<double>(ending.result.end) / kNs;
  for (const Side side : {kClient, kServer})
    j["pcie"][kSideNames[side]] = pcie_json(s.simulation.root_complex(side).counters());
}

}  // namespace

void add_figures(Setup& setup, const Ending& ending, const Verdict& verdict,
                 nlohmann::ordered_json& j) {
  add_request(setup, j);
  add_rates(setup, verdict, j);
  add_latency(setup, verdict, j);
  if (!setup.request.file.empty()) {
    j["sha256_sent"] = sha256(setup.request.file);
    j["sha256_received"] = sha256(received_file(setup, verdict));
  }
  setup.watches.add_figures(j, verdict.reports[kClient], setup.program);
  add_devices(setup, ending, j);
}

void add_cost(const Setup& setup, const Ending& ending, nlohmann::ordered_json& j) {
  j["wall_s"] = ending.wall_s;
  if (const auto us = setup.cost.us()) j["cpu_us_per_message"] = *us;
  // Counts cycles of the clock that both devices share, once.
  const double done = kcycles(ending.result.end, setup.request.config.timing(kClient).clock);
  j["kcycles_per_s"] = ending.wall_s > 0 ? done / ending.wall_s : 0;
}

}  // namespace rnic::app
