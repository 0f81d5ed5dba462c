// Draws and changes situations. See search_space.hpp.
#include "measure/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "settings/config.hpp"

namespace rnic::app::search {
namespace {

struct Values {
  const char* name;
  std::vector<std::string> values;
};

/// Values to draw of each setting: limits, and values of real machines.
const std::vector<Values>& all_values() {
  static const std::vector<Values> all = {
      // of programs
      {"size",
       {"1",    "7",    "8",    "32",   "64",   "65",   "100",   "255",   "256",    "512",
        "1000", "1461", "2048", "4096", "4097", "9000", "16384", "65536", "200000", "1000000"}},
      {"count", {"40", "100", "200", "400"}},
      {"warmup", {"20", "50", "200"}},
      {"depth", {"1", "2", "3", "4", "16", "63", "64", "128", "500"}},
      {"threads", {"1", "2", "4"}},
      {"qps", {"1", "2", "3", "4", "5", "8", "16", "64"}},
      {"both", {"0", "1"}},
      {"inline", {"0", "32", "96", "224"}},
      {"push", {"0", "1"}},
      {"rd_atomic", {"1", "2", "8", "16", "32"}},
      {"events", {"0", "1"}},
      {"op", {"fetch_add", "cmp_swap"}},
      {"type", {"1", "2"}},
      {"addresses", {"one", "many"}},
      {"mpa_crc", {"0", "1"}},
      {"mpa_markers", {"0", "1"}},
      {"mpa_revision", {"1", "2"}},
      // of the platform
      {"mtu", {"576", "1500", "4096", "9000"}},
      {"pcie_gen", {"3", "4", "5"}},
      {"pcie_lanes", {"8", "16"}},
      {"pcie_mps", {"128", "256", "512", "4096"}},
      {"pcie_mrrs", {"128", "512", "1024", "4096"}},
      {"pcie_rcb", {"64", "128"}},
      {"pcie_latency_ns", {"100", "400", "800", "2000"}},
      {"pcie_tags", {"16", "64", "256"}},
      {"pcie_reorder", {"0", "0.3"}},
      {"pcie_split", {"0", "0.5"}},
      {"pcie_relaxed", {"0", "0.3"}},
      {"pcie_posted_credits", {"2", "16", "256"}},
      {"pcie_nonposted_credits", {"2", "16", "256"}},
      {"link_gbps", {"10", "40", "100", "400"}},
      {"link_delay_ns", {"0", "100", "3000"}},
      {"link_tx_queue_bytes", {"600", "9216", "32768"}},
      {"llp_window_bytes", {"16384", "65536", "262144"}},
      {"poll_ns", {"5", "40", "200"}},
      {"post_ns", {"2", "15", "60"}},
      {"page_kib", {"4", "64", "2048"}},
      {"build", {"default", "default", "default", "minimum"}},
  };
  return all;
}

/// The values of a setting for this program. `op` has other values for the programs that lend
/// memory to the peer.
std::vector<std::string> values_of(const Values& v, const std::string& program) {
  const bool lends = program == "frwr" || program == "mw_bind";
  return lends && v.name == std::string_view("op") ? std::vector<std::string>{"write", "read"}
                                                   : v.values;
}

uint64_t number_of(const Situation& s, const std::string& name, uint64_t otherwise) {
  const auto it = s.set.find(name);
  return it == s.set.end() ? otherwise : std::stoull(it->second);
}

}  // namespace

RunRequest Situation::request(const RunRequest& base) const {
  RunRequest r = base;
  r.program = program;
  r.seed = seed;
  r.wave = "none";
  for (const auto& [name, value] : set) r.config.set(name, value, "search", Origin::kSet);
  return r;
}

std::string Situation::options() const {
  std::string text;
  for (const auto& [name, value] : set) text += fmt::format("--set {}={} ", name, value);
  return text + fmt::format("--seed {}", seed);
}

nlohmann::ordered_json Situation::json() const {
  return {{"program", program}, {"settings", set}, {"seed", seed}};
}

Situation Situation::from_json(const nlohmann::json& j) {
  return {j.at("program"), j.at("settings"), j.at("seed")};
}

Space::Space(std::vector<std::string> programs, std::vector<std::string> fixed)
    : programs_(std::move(programs)) {
  const auto is_fixed = [&](const std::string& name) {
    return std::ranges::find(fixed, name) != fixed.end();
  };
  const Config defaults;
  for (const std::string& program : programs_) {
    const auto own = settings_of(program_of(program));
    for (const Values& v : all_values()) {
      const bool is_programs = defaults.find(v.name).group == "program";
      if (is_fixed(v.name) ||
          (is_programs && std::ranges::find(own, std::string_view(v.name)) == own.end()))
        continue;
      rows_[program].push_back({v.name, values_of(v, program)});
    }
  }
}

void Space::draw_row(Situation& s, const Row& row, base::Rng& rng) {
  s.set[row.name] = row.values[rng.below(row.values.size())];
}

void Space::bound(Situation& s) {
  // Limits of one run, of all QPs and both directions together.
  constexpr uint64_t kMostBytes = 24ULL << 20, kMostMessages = 24'000;
  const auto lanes = [&] {
    return number_of(s, "threads", 1) * number_of(s, "qps", 1) * (1 + number_of(s, "both", 0));
  };
  while (lanes() > 128) s.set["qps"] = "4";  // with 4 threads and both directions: 32
  // The messages of warm-up and of count get half of the limits each, but at least 4. A message
  // below 64 bytes counts as 64 bytes.
  const uint64_t size = std::max<uint64_t>(number_of(s, "size", 64), 64);
  for (const char* what : {"warmup", "count"}) {
    const uint64_t most =
        std::max<uint64_t>(std::min(kMostBytes / size, kMostMessages) / lanes() / 2, 4);
    if (number_of(s, what, 1000) > most) s.set[what] = fmt::format("{}", most);
  }
}

Situation Space::draw(base::Rng& rng) const {
  Situation s;
  s.program = programs_[rng.below(programs_.size())];
  s.seed = 1 + rng.below(1000);
  const uint64_t share = 10 + rng.below(60);  // per cent of the settings: few or many of them
  for (const Row& row : rows_of(s.program)) {
    if (row.name == "size" || row.name == "both" || row.name == "threads" || row.name == "qps" ||
        rng.percent(static_cast<unsigned>(share)))
      draw_row(s, row, rng);
  }
  bound(s);
  return s;
}

Situation Space::change(const Situation& from, base::Rng& rng) const {
  Situation s = from;
  const auto& rows = rows_of(s.program);
  for (uint64_t n = 1 + rng.below(3); n != 0; --n) {
    const Row& row = rows[rng.below(rows.size())];
    if (rng.percent(30)) {
      s.set.erase(row.name);
    } else {
      draw_row(s, row, rng);
    }
  }
  if (rng.percent(20)) s.seed = 1 + rng.below(1000);
  bound(s);
  return s;
}

}  // namespace rnic::app::search
