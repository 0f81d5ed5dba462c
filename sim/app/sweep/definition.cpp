// Reads the options of a sweep, and makes the request of each point. See definition.hpp.
#include "sweep/definition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "backend/device_rtl.hpp"
#include "run/devices.hpp"
#include "settings/words.hpp"
#include "sweep/values.hpp"

namespace rnic::app::sweep {
namespace {

constexpr uint64_t kMostPoints = 1'000'000;  // without --yes
constexpr std::array kKinds = {"model", "rtl", "tandem"};

uint64_t seed_of(const std::string& text) {
  uint64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    throw Usage(
        fmt::format("--seed {}: a sweep wants whole numbers, so that it can be repeated", text));
  return n;
}

Dimension dimension(const std::string& name, std::vector<std::string> values) {
  Dimension d{.names = {name}, .values = {}};
  for (std::string& v : values) d.values.push_back({std::move(v)});
  return d;
}

/// Joins the dimensions that --link names into one.
void link(std::vector<Dimension>& all, const std::string& names) {
  std::optional<size_t> first;
  for (const std::string& name : values_of("--link", names)) {
    const auto it = std::ranges::find_if(
        all, [&](const Dimension& d) { return std::ranges::find(d.names, name) != d.names.end(); });
    if (it == all.end())
      throw Usage(fmt::format("--link {}: {} has no more than one value", names, name));
    const auto at = static_cast<size_t>(it - all.begin());
    if (!first) {
      first = at;
      continue;
    }
    if (at == *first) throw Usage(fmt::format("--link {}: {} is linked already", names, name));
    const size_t to = std::min(*first, at), from = std::max(*first, at);
    Dimension &a = all[to], &b = all[from];
    if (a.values.size() != b.values.size())
      throw Usage(fmt::format("--link {}: {} has {} values, {} has {}", names,
                              fmt::join(a.names, ","), a.values.size(), fmt::join(b.names, ","),
                              b.values.size()));
    a.names.insert(a.names.end(), b.names.begin(), b.names.end());
    for (size_t i = 0; i < a.values.size(); ++i)
      a.values[i].insert(a.values[i].end(), b.values[i].begin(), b.values[i].end());
    all.erase(all.begin() + static_cast<ptrdiff_t>(from));
    first = to;
  }
}

}  // namespace

Definition::Definition(const Options& o) {
  const TypedOptions& typed = o.typed;
  if (o.words.empty()) throw Usage("sweep: say a program (rnic-sim list programs)");
  std::vector<std::string> programs, known;
  for (const std::string& word : o.words) {
    for (const std::string& p : values_of("sweep", word)) {
      (void)program_of(p);  // throws Usage for an unknown program
      if (std::ranges::find(programs, p) != programs.end())
        throw Usage(fmt::format("sweep: {} is named twice", p));
      if (p == "file_copy") throw Usage("sweep: file_copy wants a file; run and copy have it");
      programs.push_back(p);
    }
  }
  std::vector<Dimension> all;
  const auto add = [&](const std::string& name, std::vector<std::string> values) {
    if (values.size() > 1) all.push_back(dimension(name, std::move(values)));
  };
  add("program", programs);
  base_.program = programs[0];

  const std::vector<std::string> presets = values_of("--preset", typed.preset);
  add("preset", presets);
  for (const std::string& p : presets) {
    Config c;
    if (!p.empty()) c.use_preset(p);
    for (const std::string& f : typed.configs) c.load(f);
    presets_.emplace(p, std::move(c));
  }
  const Config& config = presets_.at(presets[0]);
  for (const std::string& set : typed.sets) {
    const size_t eq = set.find('=');
    if (eq == std::string::npos || eq == 0)
      throw Usage(fmt::format("--set: \"{}\" is not NAME=VALUES", set));
    const std::string name = set.substr(0, eq);
    if (std::ranges::find(known, name) != known.end())
      throw Usage(fmt::format("--set {}: {} is set twice", set, name));
    known.push_back(name);
    std::vector<std::string> values = values_of(name, set.substr(eq + 1));
    // Throws Usage for a value that the setting does not take.
    for (const std::string& v : values) {
      Config scratch = config;
      scratch.set(name, v, "--set", Origin::kSet);
    }
    if (values.size() == 1) fixed_.emplace_back(name, values[0]);
    add(name, std::move(values));
  }
  const std::vector<std::string> seeds = values_of("--seed", typed.seed);
  for (const std::string& s : seeds) base_.seed = seed_of(s);  // throws Usage for a wrong one
  base_.seed = seed_of(seeds[0]);
  add("seed", seeds);

  const auto kinds = [&](const char* option, const std::string& text) {
    std::vector<std::string> values = values_of(option, text);
    for (const std::string& k : values) {
      if (std::ranges::find(kKinds, k) == kKinds.end())
        throw Usage(fmt::format("{} {}: no device \"{}\"; one of {}{}", option, text, k,
                                fmt::join(kKinds, ", "),
                                option == std::string_view("--server") ? ", same" : ""));
      has_rtl_ = has_rtl_ || has_rtl(k);
    }
    return values;
  };
  const std::vector<std::string> clients = kinds("--client", typed.client);
  const bool is_same = typed.server == "same";
  const std::vector<std::string> servers = is_same ? clients : kinds("--server", typed.server);
  base_.kind = {clients[0], servers[0]};
  add("client", clients);
  add("server", servers);
  for (const std::string& names : typed.links) link(all, names);
  if (is_same && clients.size() > 1) link(all, "client,server");
  if (has_rtl_ && !sim::is_rtl_built())
    throw Missing("this rnic-sim was built without the RTL; sweep models only");

  grid_ = Grid(std::move(all));
  if (grid_.size() > kMostPoints && !typed.yes)
    throw Usage(fmt::format(
        "sweep: {} points, more than a million; --yes runs them",
        grid_.size() == UINT64_MAX ? "more than 2^64" : fmt::format("{}", grid_.size())));
  if (grid_.size() == UINT64_MAX) throw Usage("sweep: more than 2^64 points");
  check(o);

  json_["programs"] = programs;
  json_["seed"] = base_.seed;
  json_["client"] = base_.kind[kClient];
  json_["server"] = base_.kind[kServer];
  json_["preset"] = presets[0];
  json_["dimensions"] = nlohmann::ordered_json::array();
  for (const Dimension& d : grid_.dimensions())
    json_["dimensions"].push_back({{"names", d.names}, {"values", d.values}});
  Config fixed = config;
  for (const auto& [name, value] : fixed_) fixed.set(name, value, "--set", Origin::kSet);
  json_["settings"] = settings_json(fixed);
}

/// Refuses settings that no program of the sweep uses.
void Definition::check(const Options& o) const {
  Options first = o;
  Grid::Point at = grid_.at(0);
  std::erase_if(at, [](const auto& dimension) { return dimension.first == "program"; });
  first.request = request(at);
  if (has_rtl_) first.request.kind = {"rtl", "rtl"};  // permits reset_seed if any point is RTL
  std::vector<std::string_view> used;
  const auto names = grid_.names();
  const bool is_many = std::ranges::find(names, "program") != names.end();
  for (const Dimension& d : grid_.dimensions()) {
    if (d.names[0] != "program") continue;
    for (const auto& v : d.values) {
      for (const std::string_view s : settings_of(program_of(v[0]))) used.push_back(s);
    }
  }
  if (!is_many) used = settings_of(program_of(base_.program));
  check_settings(first, is_many ? "sweep" : base_.program, used);
}

RunRequest Definition::request(uint64_t point) const { return request(grid_.at(point)); }

RunRequest Definition::request(const Grid::Point& at) const {
  RunRequest r = base_;
  const auto value_of = [&](const char* name) {
    return std::ranges::find(at, name, &std::pair<std::string, std::string>::first);
  };
  const auto preset = value_of("preset");
  r.config = preset == at.end() ? presets_.begin()->second : presets_.at(preset->second);
  for (const auto& [name, value] : fixed_) r.config.set(name, value, "--set", Origin::kSet);
  for (const auto& [name, value] : at) {
    if (name == "program") {
      r.program = value;
    } else if (name == "seed") {
      r.seed = seed_of(value);
    } else if (name == "client") {
      r.kind[kClient] = value;
    } else if (name == "server") {
      r.kind[kServer] = value;
    } else if (name != "preset") {
      r.config.set(name, value, "--set", Origin::kSet);
    }
  }
  if (value_of("program") != at.end()) check_used(at, r.program);
  return r;
}

void Definition::check_used(const Grid::Point& at, const std::string& program) const {
  const std::vector<std::string_view> used = settings_of(program_of(program));
  const Config defaults;
  const auto check = [&](const std::string& name, const std::string& value) {
    const bool is_own = defaults.all().end() != std::ranges::find_if(defaults.all(), [&](auto& s) {
                          return s.name == name && s.group == "program";
                        });
    if (is_own && std::ranges::find(used, name) == used.end())
      throw Usage(fmt::format("--set {}={}: {} does not use it", name, value, program));
  };
  for (const auto& [name, value] : fixed_) check(name, value);
  for (const auto& [name, value] : at) check(name, value);
}

std::string Definition::digest() const {
  uint64_t h = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : json_.dump()) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", h);
}

}  // namespace rnic::app::sweep
