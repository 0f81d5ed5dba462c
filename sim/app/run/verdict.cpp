// Judges a simulated run. See verdict.hpp.
#include "run/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "rnic/crc32c.hpp"

namespace rnic::app {
namespace {

bool has_code(const programs::Report& report, base::Errc code) {
  return report.error.starts_with(base::to_string(code));
}

/// Collects the failures of one run. Each step may add lines to `out.failure`.
class Judge {
 public:
  Judge(Setup& setup, const Ending& ending, Outcome& out) : s_(setup), ending_(ending), out_(out) {}
  Verdict judge();

 private:
  void say(const std::string& line) { out_.failure += line + "\n"; }
  /// Adds a failure that the checks of the program cannot see.
  void fail(const std::string& line) {
    say(line);
    out_.status = std::max(out_.status, kMismatch);
  }
  const programs::Report& client() const { return v_.reports[kClient]; }
  const programs::Report& server() const { return v_.reports[kServer]; }
  const programs::Report& first() const { return v_.reports[first_side_]; }

  void forgive_power_failure();
  void find_first();
  void report_programs();
  void report_limits();
  void report_devices();
  std::string setting_of_room() const;
  void refuse_settings() const;
  void locate_failure();
  void judge_durable_log();
  void judge_copy();

  Setup& s_;
  const Ending& ending_;
  Outcome& out_;
  Verdict v_;
  Side first_side_ = kServer;   // the side that failed first; server if none did
  bool gave_up_ = false;        // the first failure: no progress for timeout_us
  bool only_programs_ = false;  // if anything has failed, only programs have
};

Verdict Judge::judge() {
  for (const Side side : {kClient, kServer}) {
    v_.reports[side] = programs::merge(s_.reports[side]);
    v_.checks += v_.reports[side].checks;
    v_.mismatches += v_.reports[side].mismatches;
  }
  forgive_power_failure();
  find_first();
  report_programs();
  report_limits();
  report_devices();
  refuse_settings();
  if (v_.checks == 0 && out_.failure.empty() && !ending_.power_failed_at)
    say("nothing was checked");
  if (!out_.failure.empty()) {
    out_.status =
        ending_.result.is_stuck() || (gave_up_ && only_programs_) ? kNoProgress : kMismatch;
    locate_failure();
  }
  if (s_.request.program == "durable_log") judge_durable_log();
  if (!s_.request.file.empty()) judge_copy();
  return std::move(v_);
}

/// After a power failure programs stop, and their peers report errors. These are no failures of the
/// run.
void Judge::forgive_power_failure() {
  for (const Side side : {kClient, kServer}) {
    programs::Report& report = v_.reports[side];
    if (!ending_.power_failed_at || report.failed_at < *ending_.power_failed_at) continue;
    if (report.error.empty()) continue;
    out_.json["after_power_failure"][kSideNames[side]] = report.error;
    report.error.clear();
    report.failed_at = 0;
  }
}

void Judge::find_first() {
  const bool is_clients = client().failed_at != 0 &&
                          (server().failed_at == 0 || client().failed_at <= server().failed_at);
  first_side_ = is_clients ? kClient : kServer;
  gave_up_ = has_code(first(), base::Errc::kTimedOut);
}

void Judge::report_programs() {
  const sim::RunResult& result = ending_.result;
  // After a power failure the other host is stuck, since its peer is silent. That is no failure.
  const bool is_left = ending_.power_failed_at && result.is_stuck();
  if (!result.ok() && !is_left) {
    say(result.report);
    out_.failure += limits_of(result, s_.config.platform.run);
  }
  for (const auto& f : result.failures) say(fmt::format("{} {}", f.program, f.what));
  for (const Side side : {kClient, kServer}) {
    const programs::Report& report = v_.reports[side];
    if (!report.error.empty())
      say(fmt::format("{} ({}): {}", kSideNames[side], report.stage, report.error));
  }
}

/// Names the time-outs that may be too short for the settings.
void Judge::report_limits() {
  if (gave_up_)
    say(
        fmt::format("a side gives up after timeout_us={} without progress; if its messages take "
                    "longer than that, --set timeout_us=N",
                    s_.params.timeout_us));
  const std::string no_peer = fmt::format(": {}", spec::to_string(spec::ConnState::kFailed));
  if (client().error.ends_with(no_peer) || server().error.ends_with(no_peer))
    say(
        fmt::format("the LLP gives up a peer that does not answer for llp_timeout_us={}; if the "
                    "link is that slow, --set llp_timeout_us=N",
                    s_.config.platform.link.llp_timeout_us));
}

void Judge::report_devices() {
  bool device_differs = false;
  for (const Side side : {kClient, kServer}) {
    const std::string f = s_.simulation.device(side).failure();
    if (!f.empty()) say(f);
    device_differs = device_differs || !f.empty();
  }
  if (v_.mismatches != 0) say(fmt::format("{} bytes arrived wrong", v_.mismatches));
  only_programs_ = v_.mismatches == 0 && !device_differs && ending_.result.failures.empty();
}

/// The setting that enlarges or shares out the resource that the driver's error reports as used up.
std::string Judge::setting_of_room() const {
  struct Room {
    std::string_view words, setting;
  };
  constexpr std::array kRooms = {
      Room{"page-list entries", "num_pbl"}, Room{"page list", "num_pbl"},
      Room{"STag slots", "num_stags"},      Room{"queue pairs", "num_qps"},
      Room{"completion queues", "num_cqs"}, Room{"doorbell pages", "num_pages"},
      Room{"protection domains", "num_pds"}};
  if (first().error.find("max_cqe") != std::string::npos) return "more threads";
  for (const Room& r : kRooms) {
    if (first().error.find(r.words) == std::string::npos) continue;
    return fmt::format("a larger {} of its device (list settings)", r.setting);
  }
  return fmt::format("more than arena_mib={} of host memory",
                     s_.config.side[first_side_]->host.arena_mib);
}

/// Throws Usage if the settings, not a fault, made the program fail.
void Judge::refuse_settings() const {
  if (!only_programs_) return;
  const std::string& program = s_.request.program;
  const char* const name = kSideNames[first_side_];
  if (first().stage == "open" && has_code(first(), base::Errc::kNoMemory))
    throw Usage(fmt::format(
        "{}: the {} has no room for what the settings ask for; ask for less, or {} ({})", program,
        name, setting_of_room(), first().error));
  if (first().stage == "connect" && has_code(first(), base::Errc::kNoMemory))
    throw Usage(fmt::format(
        "{}: the {}'s device cannot connect all QPs; ask for fewer (threads times qps), or for "
        "less "
        "than rd_atomic={} ({})",
        program, name, s_.params.rd_atomic, first().error));
  // The settings forbid what the server opens: the image of an earlier run does not fit this run,
  // or the domain lacks the right. Other errors of "open" are failures of the run.
  constexpr std::array kForbidden = {base::Errc::kBadState, base::Errc::kInvalidArgument,
                                     base::Errc::kNotSupported};
  if (!ending_.power_failed_at && server().stage == "open" &&
      std::ranges::any_of(kForbidden, [&](base::Errc e) { return has_code(server(), e); }))
    throw Usage(
        fmt::format("{}: the server cannot open what it needs: {}", program, server().error));
}

/// Adds where and when the run failed, for failure_wave.hpp.
void Judge::locate_failure() {
  const Time at = first().failed_at != 0 ? first().failed_at : ending_.result.end;
  out_.json["failed_at_ns"] = at / kNs;
  if (first().wrong_bus != 0)
    out_.json["wrong"] = {{"side", first_side_}, {"bus", first().wrong_bus}};
  s_.watches.add_last_write(out_.json, at);
}

/// Recovers the logs of durable_log from the durable bytes, and compares them with the client's
/// acknowledged appends.
void Judge::judge_durable_log() {
  sim::Simulation& simulation = s_.simulation;
  const std::string& domain = s_.config.side[kServer]->host.domain;
  std::vector<programs::Ack> acks = client().acks;
  if (const auto at = simulation.power_failed(kClient))  // threads run ahead of the simulation
    std::erase_if(acks, [&](const programs::Ack& a) { return a.at > *at; });
  const sim::PmemImage image = simulation.memory(kServer).pmem().image();
  const LogVerdict v = judge_log(acks, image);
  out_.json["log"] = {{"method", s_.params.method},
                      {"domain", domain},
                      {"acknowledged", v.acknowledged},
                      {"recovered", v.recovered},
                      {"lost", v.lost},
                      {"damaged", v.damaged},
                      {"image_crc32c", crc32c(sim::pack_image(image))}};
  // Without a power failure, this is the state that a failure at the end would leave.
  const bool keeps_nothing = domain == "none";
  if (v.lost != 0 && (keeps_nothing || simulation.power_failed(kServer)))
    fail(fmt::format("{} of {} acknowledged records are lost{}", v.lost, v.acknowledged,
                     keeps_nothing ? "; domain=none keeps nothing" : ""));
  if (v.damaged != 0)
    fail(fmt::format("{} logs have a tail pointer that names bytes that are no whole records",
                     v.damaged));
  s_.watches.add_crash(out_.json, acks, s_.params.method);
}

void Judge::judge_copy() {
  if (out_.status != kGood || received_file(s_, v_) == s_.request.file) return;
  fail("the SHA-256 of the copy is not that of the file");
}

}  // namespace

Verdict judge(Setup& setup, const Ending& ending, Outcome& out) {
  return Judge(setup, ending, out).judge();
}

const std::vector<uint8_t>& received_file(const Setup& setup, const Verdict& verdict) {
  const auto& client = verdict.reports[kClient].file;
  const auto& server = verdict.reports[kServer].file;
  const bool is_fetched = setup.request.program == "file_copy" && setup.params.op == "read";
  return is_fetched || server.empty() ? client : server;
}

}  // namespace rnic::app
