// The limit of a run: docs/simulator.md, Limits. The test doubles resources: twice the named one
// raises the rate, twice a little-used one does not.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "backend/device_rtl.hpp"
#include "run/child.hpp"
#include "run/limit_watch.hpp"
#include "run/run.hpp"
#include "support/seed.hpp"

namespace rnic::app {
namespace {

TEST(Growth, IsLinearBetweenItsPointsAndBounded) {
  Growth g;
  for (Time t = 0; t <= 1'000'000'000; t += 10'000) g.add(t, 2);
  EXPECT_NEAR(g.between(0, 1'000'000'000), 200'000, 10);
  EXPECT_NEAR(g.between(250'000'000, 500'000'000), 50'000, 300);
  EXPECT_EQ(Growth().between(0, 100), 0);
}

TEST(Level, IsItsMeanOverTheWindow) {
  Level l;
  l.change(0, 4);
  l.change(1'000'000, -2);
  l.change(3'000'000, -2);
  EXPECT_NEAR(l.mean(0, 4'000'000), (4 * 1 + 2 * 2) / 4.0, 0.1);
  Level still;
  still.change(10, 3);
  EXPECT_NEAR(still.mean(1'000, 2'000), 3, 1e-9);
}

using Settings = std::map<std::string, std::string>;

RunRequest request(const std::string& program, const Settings& settings, const char* kind) {
  RunRequest r;
  r.program = program;
  r.kind = {kind, kind};
  for (const auto& [name, value] : settings) r.config.set(name, value, "test");
  return r;
}

struct Measured {
  double rate = 0;                     // messages per second
  std::string by, next;                // the resource that limits the run; the next one
  std::map<std::string, double> uses;  // share of each resource that is used, by its name
};
std::optional<Measured> measure(const std::string& program, const Settings& settings,
                                const char* kind) {
  Outcome o;
  try {
    o = in_child([&] { return run(request(program, settings, kind)); });
  } catch (const Usage&) {
    return std::nullopt;  // the combination cannot run
  }
  if (o.status != kGood || !o.json.contains("limit")) {
    ADD_FAILURE() << program << " " << o.failure;
    return std::nullopt;
  }
  Measured m{.rate = o.json["msg_per_s"],
             .by = o.json["limit"]["by"],
             .next = o.json["limit"]["next"],
             .uses = {}};
  for (const auto& [name, use] : o.json["limit"]["uses"].items()) m.uses[name] = use;
  return m;
}

std::string text_of(const std::string& program, const Settings& settings) {
  std::string s = program;
  for (const auto& [name, value] : settings) s += " --set " + name + "=" + value;
  return s;
}

/// A run of a bandwidth program.
std::pair<std::string, Settings> draw(base::Rng& rng) {
  const char* const programs[] = {"write_bw", "send_bw", "read_bw"};
  const auto one_of = [&](std::initializer_list<const char*> all) {
    return std::string(all.begin()[rng.below(all.size())]);
  };
  std::pair<std::string, Settings> d{programs[rng.below(3)], {}};
  Settings& s = d.second;
  s["size"] = one_of({"8", "64", "200", "512", "1500", "4096", "16384", "65536"});
  s["qps"] = one_of({"1", "2", "4", "16"});
  s["threads"] = one_of({"1", "2", "4"});
  s["depth"] = one_of({"2", "8", "16", "64", "128"});
  s["link_gbps"] = one_of({"25", "100", "400"});
  s["pcie_gen"] = one_of({"3", "4", "5"});
  s["pcie_latency_ns"] = one_of({"300", "800", "2000"});
  if (d.first == "read_bw") s["rd_atomic"] = one_of({"1", "4", "16", "32"});
  s["count"] = std::stoull(s["size"]) > 8192 ? "60" : "400";
  return d;
}

/// The settings with twice of a resource; nullopt if no setting doubles only that resource.
std::optional<Settings> relaxed(const std::string& resource, const Settings& s,
                                const std::string& program) {
  Settings r = s;
  const auto twice = [&](const char* name, double most) -> std::optional<Settings> {
    const Config defaults;
    const double now = std::stod(r.contains(name) ? r[name] : defaults.find(name).value);
    if (now * 2 > most) return std::nullopt;
    r[name] = std::to_string(static_cast<uint64_t>(now * 2));
    return r;
  };
  const bool is_client = resource.starts_with("client ");
  const std::string side = is_client ? "client." : "server.";
  const std::string what = resource.substr(resource.find(' ') + 1);
  if (resource == "depth") return twice("depth", 1024);
  if (resource == "rd_atomic") return twice("rd_atomic", 32);
  if (what == "link") return twice("link_gbps", 1600);
  if (what == "pcie up" || what == "pcie down") {
    r[side + "pcie_gbps"] = std::to_string(
        2 *
        request(program, s, "model").config.platform(is_client ? kClient : kServer).pcie.gbps());
    return r;
  }
  if (what == "host threads") {
    for (const char* cost : {"post_ns", "poll_ns", "mmio_write_ns", "wc_ns"}) {
      const Config defaults;
      r[side + cost] = std::to_string(std::stoull(defaults.find(cost).value) / 2);
    }
    return r;
  }
  const bool is_of_device = what == "qp" || what == "tpt" || what == "cq" || what == "ddp tx" ||
                            what.starts_with("mpa ") || what.starts_with("host_if ");
  if (is_of_device) {
    r["clock_mhz"] = "644.53125";
    return r;
  }
  return std::nullopt;
}

/// A window: its use is full by construction, or close to it.
bool is_window(const std::string& resource) {
  return resource == "depth" || resource == "rd_atomic" || resource == "sq_window";
}

/// RNIC_LIMIT_POINTS, or a number that takes some seconds.
unsigned points_asked(unsigned otherwise) {
  const char* asked = std::getenv("RNIC_LIMIT_POINTS");
  return asked != nullptr ? static_cast<unsigned>(std::stoul(asked)) : otherwise;
}

TEST(Limit, TheNamedResourceLimits) {
  base::Rng rng = tb::test_rng();
  const unsigned n = points_asked(10);
  unsigned relaxed_named = 0, others = 0, wrong = 0;
  for (unsigned tries = 0; relaxed_named < n && tries < 5 * n; ++tries) {
    const auto [program, settings] = draw(rng);
    const auto m = measure(program, settings, "model");
    if (!m) continue;
    const auto more = relaxed(m->by, settings, program);
    if (!more) continue;
    const auto faster = measure(program, *more, "model");
    if (!faster) continue;
    ++relaxed_named;
    if (faster->rate < 1.02 * m->rate) {
      ++wrong;
      std::printf("not the limit: %s: %s; with twice of it %.3f M/s, before %.3f, then %s\n",
                  text_of(program, settings).c_str(), m->by.c_str(), faster->rate / 1e6,
                  m->rate / 1e6, faster->by.c_str());
    }
    // The first resource, by name, that is little used and can be doubled.
    for (const auto& [name, use] : m->uses) {
      // link_gbps sets both directions.
      const bool is_other_link = name.ends_with(" link") && m->by.ends_with(" link");
      if (is_window(name) || is_other_link || use > 0.4 || name == m->by) continue;
      const auto other = relaxed(name, settings, program);
      if (!other || other->contains("clock_mhz")) continue;
      const auto same = measure(program, *other, "model");
      if (!same) continue;
      ++others;
      if (std::abs(same->rate / m->rate - 1) > 0.03) {
        ++wrong;
        std::printf("a limit: %s: %s, use %.2f; with twice of it %.3f M/s, before %.3f (%s)\n",
                    text_of(program, settings).c_str(), name.c_str(), use, same->rate / 1e6,
                    m->rate / 1e6, m->by.c_str());
      }
      break;
    }
  }
  std::printf("%u limits and %u others doubled, %u not as expected\n", relaxed_named, others,
              wrong);
  EXPECT_GE(relaxed_named, n);
  EXPECT_GE(others, n / 2);
  EXPECT_LE(wrong, std::max(2U, (relaxed_named + others) / 20));
}

/// How many of `n` random points RTL and model explain alike.
TEST(Limit, RtlAndModelNameTheSame) {
  if (!sim::is_rtl_built()) GTEST_SKIP() << "built without the RTL";
  const unsigned n = points_asked(3);
  base::Rng rng = tb::test_rng();
  unsigned points = 0, same = 0;
  for (unsigned tries = 0; points < n && tries < 10 * n; ++tries) {
    auto [program, settings] = draw(rng);
    if (n < 100 && (std::stoull(settings["size"]) > 4096 || settings["qps"] == "16"))
      continue;  // minutes on RTL
    // The RTL takes a second per 300 KB: of all QPs 60 to 600 messages.
    const uint64_t all = std::clamp<uint64_t>(1'000'000 / std::stoull(settings["size"]), 60, 600);
    settings["count"] = std::to_string(std::max<uint64_t>(all / std::stoull(settings["qps"]), 20));
    settings["warmup"] = "10";
    const auto model = measure(program, settings, "model");
    if (!model) continue;
    const auto rtl = measure(program, settings, "rtl");
    if (!rtl) continue;
    ++points;
    same += model->by == rtl->by;
    if (model->by != rtl->by)
      std::printf("%s: model %s (then %s), RTL %s (then %s), %.3f and %.3f M/s\n",
                  text_of(program, settings).c_str(), model->by.c_str(), model->next.c_str(),
                  rtl->by.c_str(), rtl->next.c_str(), model->rate / 1e6, rtl->rate / 1e6);
  }
  std::printf("%u of %u points have the same limit\n", same, points);
  EXPECT_GE(points, n);
  EXPECT_GE(same * 100, points * (n >= 100 ? 95 : 66));
}

}  // namespace
}  // namespace rnic::app
