// The replay command. See replay.hpp.
#include "replay/replay.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "output/files.hpp"
#include "output/report.hpp"
#include "platform/simulation.hpp"
#include "replay/limits.hpp"
#include "replay/load.hpp"
#include "replay/make_plan.hpp"
#include "replay/player.hpp"
#include "run/captures.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"
#include "run/failure_wave.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

constexpr uint16_t kPort = 4791;  // of the first connection
constexpr size_t kBytesALine = 32;

/// The side whose options and settings our device has.
Side seat_of(Endpoint e) { return e == Endpoint::kInitiator ? kClient : kServer; }

std::string dump(std::span<const uint8_t> bytes) {
  std::string s;
  for (size_t at = 0; at < bytes.size(); at += kBytesALine) {
    s += fmt::format("        {:04x}  {}\n", at,
                     hex_of(bytes.subspan(at, std::min(kBytesALine, bytes.size() - at))));
  }
  return s;
}

/// A line for a played or received unit, with each byte of a received one.
std::string text_of(const Plan& plan, const Exchange& e) {
  const std::string unit =
      e.step == Exchange::kNoStep ? "-" : std::to_string(plan.steps[e.step].unit);
  const bool is_raw = e.step != Exchange::kNoStep && plan.steps[e.step].is_raw;
  const std::string what =
      e.message.fpdus.empty()
          ? fmt::format("{} bytes={}", is_raw ? "raw" : "MPA frame", e.mpa.size())
          : e.message.describe();
  std::string s = fmt::format("{:>4} {:>9} ns {:<10} {}{}\n", unit, e.at_ns,
                              e.ours ? plan.our_name : plan.peer_name, what,
                              !e.ours                 ? ""
                              : e.beyond              ? "  beyond the end of the listing"
                              : e.differences.empty() ? "  as listed"
                                                      : "  DIFFERS");
  if (e.step != Exchange::kNoStep && plan.steps[e.step].pad_cleared)
    s += "        compared with a pad of zeros: the listing's sender left something in it\n";
  for (const auto& d : e.differences) s += fmt::format("        {}\n", d);
  if (!e.ours) return s;
  if (e.message.fpdus.empty()) return s + dump(e.mpa);
  for (const Bytes& f : e.message.fpdus) s += dump(f);
  return s;
}

/// Passes the device's writes to the player of the current connection.
class Watch final : public sim::PcieObserver {
 public:
  void on_write(Time, const sim::DmaWrite& w, bool) override {
    if (player != nullptr) player->on_write(w);
  }
  ReplayPlayer* player = nullptr;
};

/// What a connection's replay gives: the report, differences, and counts of checks and of messages
/// of our device.
struct Played {
  std::string text;
  std::vector<std::string> differences;
  uint64_t checks = 0, answers = 0;
  std::optional<uint64_t> differs_at_ns;
  nlohmann::ordered_json json;
};

/// The verdict on one connection.
Played verdict(const Plan& plan, const std::vector<Exchange>& exchanges, const ReplayPlayer& player,
               bool done) {
  Played p;
  p.text = fmt::format("connection {}: our device is {}, the {}; {} plays\n", plan.connection,
                       plan.our_name, plan.side == Endpoint::kInitiator ? "initiator" : "responder",
                       plan.peer_name);
  for (const auto& [recorded, ours] : player.stags())
    p.text += fmt::format("  STag {:#010x} of the listing is {:#010x}\n", recorded, ours);
  for (const std::string& u : plan.left_out) p.text += fmt::format("  left out: {}\n", u);
  if (player.wrong_end()) p.differences.push_back(*player.wrong_end());
  size_t at = 0;
  auto& answers = p.json["answers"] = nlohmann::ordered_json::array();
  for (const Exchange& e : exchanges) {
    p.text += text_of(plan, e);
    if (e.step != Exchange::kNoStep) at = e.step + 1;
    if (!e.ours || e.beyond) continue;
    ++p.checks;
    ++p.answers;
    const std::string what = e.message.fpdus.empty() ? "mpa" : e.message.describe();
    answers.push_back(
        {{"unit", e.step == Exchange::kNoStep ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(plan.steps[e.step].unit)},
         {"what", what},
         {"same", e.differences.empty()}});
    if (!e.differences.empty() && !p.differs_at_ns) p.differs_at_ns = e.at_ns;
    for (const auto& d : e.differences) p.differences.push_back(fmt::format("{}: {}", what, d));
  }
  if (!done && at < plan.steps.size())
    p.differences.push_back(
        fmt::format("not played: unit {} and those after it", plan.steps[at].unit));
  p.text += "written:\n";
  auto& written = p.json["written"] = nlohmann::ordered_json::array();
  for (const Stored& s : player.stored()) {
    p.text += fmt::format("    {}\n", s.what) + dump(s.bytes);
    written.push_back({{"where", s.what}, {"hex", hex_of(s.bytes)}});
  }
  for (const auto& e : player.events()) p.text += fmt::format("  {}\n", e);
  p.differences.insert(p.differences.end(), player.wrong().begin(), player.wrong().end());
  p.json["events"] = player.events();
  p.checks += player.checks();
  return p;
}

}  // namespace

std::string reproduce(const ReplayRequest& r) {
  return fmt::format("rnic-sim replay {}{} --client {} --server {} --seed {}{}", quoted(r.listing),
                     r.side.empty() ? "" : " --side " + quoted(r.side), r.kind[0], r.kind[1],
                     r.seed, r.config.as_options());
}

Outcome replay(const ReplayRequest& r) {
  check_kinds(r.kind, r.config);
  const Listing listing = load_listing(r.listing);
  const Endpoint side = side_of(listing, r.side);
  const Side seat = seat_of(side);
  check_wave(r.wave, {r.kind[seat], r.kind[seat]});
  const Room room{r.config.sizes(seat), r.config.platform(seat).host};
  refuse_large_memory(listing, room);
  std::vector<Plan> plans;
  for (uint32_t c = 0; c < listing.connections; ++c) {
    plans.push_back(make_plan(listing, side, c));
    refuse_large_plan(listing, plans.back(), room);
  }

  // Our device is host 0 and the peer host 1, whichever seat (client or server) our device has.
  sim::SimulationConfig sc;
  sc.platform = r.config.platform();
  sc.side = {r.config.platform(seat), r.config.platform(seat == kClient ? kServer : kClient)};
  sc.seed = r.seed;
  sim::Simulation simulation(sc);
  simulation.add_host(make_device(r.kind[seat], seat, r.config, r.seed, r.wave));
  auto owned = std::make_unique<ReplayPeer>();
  ReplayPeer& peer = *owned;
  simulation.add_host(std::move(owned));
  Captures captures(simulation, r.pcap, r.tlp);

  Watch watch;
  simulation.observe(0, watch);
  std::vector<Played> played;
  std::optional<std::string> too_large;
  verbs::ManagerSettings settings;
  settings.seed = r.seed;
  simulation.start(0, "replay", [&](PciDevice& dev) {
    auto manager = verbs::Manager::open(dev, settings);
    if (!manager) throw std::runtime_error("open: " + manager.error().what);
    auto context = verbs::Context::open(dev, **manager);
    if (!context) throw std::runtime_error("open: " + context.error().what);
    for (const Plan& plan : plans) {
      ReplayPlayer player(plan, peer);
      watch.player = &player;
      std::optional<std::string> broken;
      try {
        player.run(dev, *context, static_cast<uint16_t>(kPort + plan.connection));
      } catch (const NoRoom& e) {
        too_large = fmt::format("connection {}: {}", plan.connection, e.what());
        return;
      } catch (const std::runtime_error& e) {
        broken = e.what();
      }
      watch.player = nullptr;
      played.push_back(verdict(plan, peer.exchanges(), player, peer.done()));
      auto& differences = played.back().differences;
      if (broken) differences.insert(differences.begin(), *broken);
    }
  });
  const sim::RunResult result = simulation.run();
  if (too_large)
    throw Usage(
        fmt::format("replay: {}: {}; have fewer or smaller regions, receives and messages, "
                    "or set a larger size of the device or of arena_mib={}",
                    listing.path, *too_large, room.host.arena_mib));
  if (result.ok()) (void)rest_in_tandem(simulation, 1);  // failure() reports items left over

  Outcome out;
  const auto say = [&](const std::string& line) { out.failure += line + "\n"; };
  if (!result.ok()) say(result.report);
  out.failure += limits_of(result, sc.platform.run);
  for (const auto& f : result.failures) say(fmt::format("{} {}", f.program, f.what));
  if (const std::string f = simulation.device(0).failure(); !f.empty()) say(f);
  auto& j = out.json;
  j["listing"] = listing.name;
  j["side"] = side == Endpoint::kInitiator ? "initiator" : "responder";
  j["name"] = listing.names[side == Endpoint::kInitiator ? 0 : 1];
  j["device"] = r.kind[seat];
  j["seed"] = r.seed;
  j["settings"] = settings_json(r.config);
  uint64_t checks = 0, answers = 0;
  std::string text;
  std::vector<std::string> differences;
  std::optional<uint64_t> differs_at_ns;
  for (Played& p : played) {
    if (!differs_at_ns) differs_at_ns = p.differs_at_ns;
    checks += p.checks;
    answers += p.answers;
    text += p.text;
    differences.insert(differences.end(), p.differences.begin(), p.differences.end());
    j["connections"].push_back(std::move(p.json));
  }
  for (const auto& d : differences) say(d);
  captures.finish(out);
  if (checks == 0 && out.failure.empty()) say("nothing was checked");
  if (!out.failure.empty()) {
    out.status = result.is_stuck() ? kNoProgress : kMismatch;
    j["failed_at_ns"] = differs_at_ns.value_or(result.end / kNs);
  }
  j["checks"] = checks;
  j["answered"] = answers;
  j["differences"] = differences;
  j["warnings"] = listing.warnings;
  j["sim_end_ns"] = static_cast<double>(result.end) / kNs;
  j["rtl_cycles"] = has_rtl(r.kind[seat]) ? simulation.device(0).cycles() : 0;
  j["status"] = static_cast<int>(out.status);
  j["text"] = text;
  return out;
}

Outcome replay_child(const ReplayRequest& r) {
  return in_child([&] { return replay(r); });
}

int replay_command(const Options& o, const std::string& side) {
  if (o.words.size() != 1 || o.words[0].empty())
    throw Usage("replay: say one listing, a JSON file (tb/vectors/captures), or one pcap");
  check_settings(o, "replay", {});
  ReplayRequest r;
  r.listing = o.words[0];
  r.side = side;
  r.kind = o.request.kind;
  r.config = o.request.config;
  r.seed = o.request.seed;
  r.pcap = o.request.pcap;
  r.tlp = o.request.tlp;
  r.wave = o.request.wave;
  check_kinds(r.kind, r.config);
  Files files = o.request.files;
  files.read.push_back({"replay", r.listing});
  check_files(std::move(files), r.pcap, r.tlp, r.wave, r.kind);
  const Listing listing = load_listing(r.listing);
  const Side seat = seat_of(side_of(listing, r.side)), other = seat == kClient ? kServer : kClient;
  if (o.is_kind_given[other] && !o.is_kind_given[seat])
    throw Usage(fmt::format(
        "replay: --{} has no effect: our device takes the {}'s seat ({}), --{} says what it is",
        kSideNames[other], kSideNames[seat], listing.names[seat], kSideNames[seat]));
  if (o.print_config) return print_config(o);
  if (!o.quiet)
    for (const std::string& w : listing.warnings) fmt::print(stderr, "{}\n", w);
  const Outcome out = replay_child(r);
  if (o.tells() && out.json.contains("text")) {
    const auto& j = out.json;
    fmt::print(
        "{}{} on {} as {} ({}): {} messages of our device compared, {} checks, {} differences\n",
        j["text"].get<std::string>(), j["listing"].get<std::string>(),
        j["device"].get<std::string>(), j["name"].get<std::string>(), j["side"].get<std::string>(),
        j["answered"].get<uint64_t>(), j["checks"].get<uint64_t>(), j["differences"].size());
  }
  const std::string lost = write_files(out.status, [&] {
    if (!o.json.empty()) {
      nlohmann::ordered_json j{{"program", "replay"}};
      j.update(out.json);
      j.erase("text");
      j["wall_s"] = out.wall_s;
      write_file(o.json, j.dump(2) + "\n");
    }
    if (!o.junit.empty())
      write_file(o.junit, junit("rnic-sim replay", {{reproduce(r), out.wall_s, out.failure}}));
  });
  std::fflush(stdout);
  if (out.status == kGood) return kGood;
  std::string wave;
  if (r.wave.empty() && out.json.contains("failed_at_ns")) {
    std::array<std::string, 2> kind{"model", "model"};
    kind[out.json["side"] == "initiator" ? kClient : kServer] = out.json["device"];
    const std::string name = fmt::format("replay-{}", out.json["listing"].get<std::string>());
    wave = failure_wave(name, kind, out, [&r](const std::string& file, const auto&) {
      ReplayRequest again = r;
      again.wave = file;
      again.pcap = again.tlp = "";
      return replay(again);
    });
  }
  fmt::print(stderr, "{}{}{}reproduce: {}\n", lost, out.failure, wave, reproduce(r));
  return out.status;
}

}  // namespace rnic::app
