// The settings of a run: where each value comes from, and what it becomes. See config.hpp.
#include "settings/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "backend/device_rtl.hpp"
#include "backend/rtl_builds.hpp"
#include "link/wire_limit.hpp"
#include "settings/json_file.hpp"
#include "settings/words.hpp"

namespace rnic::app {
namespace {

// Bounds of the settings that, besides the sizes, a model has and the RTL does not: clock_mhz, and
// datapath_bytes.
constexpr double kLeastMhz = 1, kMostMhz = 10000;
constexpr uint32_t kLeastPath = 8, kMostPath = 512;

// The sizes that limit what a random program (regress) uses of a device.
constexpr std::array kTables = {
    &spec::Sizes::num_qps,   &spec::Sizes::num_cqs,   &spec::Sizes::num_pds,
    &spec::Sizes::num_pages, &spec::Sizes::num_stags, &spec::Sizes::num_pbl,
    &spec::Sizes::num_conns, &spec::Sizes::ird_slots, &spec::Sizes::ord_slots,
    &spec::Sizes::max_ird,   &spec::Sizes::max_ord,
};

/// Parses a whole number from `min` to `max`. Throws Usage, naming the setting.
uint64_t whole(const std::string& name, const std::string& text, uint64_t min, uint64_t max) {
  uint64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size()) {
    throw Usage(fmt::format("{}: \"{}\" is not a whole number", name, text));
  }
  if (v < min || v > max)
    throw Usage(fmt::format("{}: {} is not from {} to {}", name, text, min, max));
  return v;
}

/// Parses clock_mhz. Returns Hz. Throws Usage.
uint64_t clock_of(const std::string& text) {
  double mhz = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), mhz);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    throw Usage(fmt::format("clock_mhz: \"{}\" is not a number", text));
  if (!(mhz >= kLeastMhz && mhz <= kMostMhz))
    throw Usage(fmt::format("clock_mhz: {} is not from {} to {}", text, kLeastMhz, kMostMhz));
  const base::Clock clock(static_cast<uint64_t>(std::llround(mhz * 1e6)));
  if (!clock.is_exact())
    throw Usage(fmt::format("clock_mhz: {} has too many digits: three decimals always fit", text));
  return clock.hz();
}

/// Parses datapath_bytes. Throws Usage.
uint32_t width_of(const std::string& text) {
  const uint64_t bytes = whole("datapath_bytes", text, kLeastPath, kMostPath);
  if (!std::has_single_bit(bytes))
    throw Usage(fmt::format("datapath_bytes: {} is no power of two", bytes));
  return static_cast<uint32_t>(bytes);
}

const sim::SettingRow<sim::PlatformConfig>* platform_row(std::string_view name) {
  for (const auto& row : sim::platform_settings()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const spec::SizeRow* size_row(std::string_view name) {
  for (const auto& row : spec::kSizes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// The builds of RNIC_BUILDS in this rnic-sim, as the option gives them.
std::string builds_option() {
  std::string option;
  for (const sim::BuildRow& row : sim::rtl_builds()) {
    if (row.given.empty()) continue;
    option += fmt::format("{}:{};", row.name, row.given);
  }
  std::erase(option, ' ');
  return option;
}

/// The message about a build that this rnic-sim does not have.
std::string no_build(const std::string& name) {
  std::vector<std::string> names;
  for (const sim::BuildRow& row : sim::rtl_builds()) names.emplace_back(row.name);
  const std::string what = fmt::format("build: \"{}\" is none of {}{}", name,
                                       fmt::join(names, ", "), nearest(name, names));
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, is_of_name)) return what;
  const char* preset = sim::is_rtl_built() ? "release" : "models";
  return fmt::format(
      "{}; this makes it: cmake --preset {} -DRNIC_BUILDS=\"{}{}:SIZE=VALUE,SIZE=VALUE\" && "
      "cmake --build --preset {} --target rnic-sim",
      what, preset, builds_option(), name, preset);
}

}  // namespace

bool is_one_sides(const Setting& s) {
  if (s.name == "clock_mhz") return false;
  const bool is_common = s.name.starts_with("link_") || s.name.starts_with("llp_") ||
                         s.name == "mtu" || s.name == "watchdog_us" || s.name == "time_limit_us";
  return s.group == "device" || s.group == "model" || (s.group == "platform" && !is_common);
}

Config::Config() {
  const auto add = [&](std::string group, std::string_view name, std::string value,
                       std::string_view unit, std::string_view doc) {
    if (index_.contains(std::string(name))) return;  // a setting that another program has too
    index_[std::string(name)] = settings_.size();
    settings_.push_back({std::string(name), value, value, std::string(unit), std::string(doc),
                         "default", Origin::kDefault, std::move(group)});
  };
  for (const auto& p : programs::all()) {
    for (const auto& row : p.settings)
      add("program", row.name, std::string(row.default_value), row.unit, row.sentence);
  }
  for (const auto& row : sim::platform_settings())
    add("platform", row.name, row.default_text(), row.unit, row.doc);
  std::vector<std::string> builds;
  for (const sim::BuildRow& row : sim::rtl_builds())
    builds.push_back(fmt::format("{} ({})", row.name, row.doc));
  add("device", "build", "default", "",
      fmt::format("Build of the device: {}. cmake -DRNIC_BUILDS makes others.",
                  fmt::join(builds, "; ")));
  add("device", "stall_percent", "20", "%",
      "How often the build stall holds each stream of the RTL back; drawn from the run's seed.");
  add("device", "reset_seed", "0", "",
      "State that the RTL's registers have before reset: 0 zeros, else random from this seed.");
  add("regress", "ops", "2000", "operations", "How many operations regress draws.");
  add("regress", "shrink", "120", "s",
      "Wall time that may be spent on making a plan that fails smaller.");
  add("regress", "keep", "", "",
      "Of a shrunk plan: numbers of the operations that stay, 3,17-20; none: only the closing "
      "Sends.");
  add("regress", "simple", "", "", "Of a shrunk plan: what is made simple, mtu,push.");
  add("search", "seconds", "300", "s",
      "Wall time of search, a third of it for making anomalies smaller.");
  add("search", "finds", "0", "",
      "Ends search early when so many situations exceed anomaly; 0: none do.");
  add("search", "anomaly", "5", "%",
      "How far model and RTL may be apart before search calls it an anomaly.");
  add("search", "state", "", "",
      "File that search resumes from, if it exists, and leaves all its situations in.");
  add("crash", "instants", "every", "",
      "Failures of the power that crash looks at: after every event, or this many.");
  add("crash", "spread", "random", "", "Of that many: random (from the seed), or even.");
  add("model", "clock_mhz", "322.265625", "MHz",
      "Clock of the models, both sides'; the RTL's is fixed. Model only.");
  add("model", "datapath_bytes", "64", "bytes",
      "Width of the datapath, a power of two; the RTL's is fixed. Model only.");
  for (const auto& row : spec::kSizes) {
    add("model", row.name, "build", row.unit,
        fmt::format("{} Default {}, minimum {}, stall {}{}; model only.", row.doc, row.value,
                    row.minimum, row.stall, row.power_of_two ? ", a power of two" : ""));
  }
}

Setting& Config::at(const std::string& name) {
  const auto it = index_.find(name);
  if (it == index_.end()) {
    std::vector<std::string> names;
    for (const auto& s : settings_) names.push_back(s.name);
    throw Usage(fmt::format("no setting \"{}\"{}", name, nearest(name, names)));
  }
  return settings_[it->second];
}

const Setting& Config::find(const std::string& name) const {
  return const_cast<Config*>(this)->at(name);
}

void Config::check(const Setting& s, const std::string& value) const {
  const auto must = [](const auto& r) {
    if (!r) throw Usage(r.error().what);
  };
  if (const auto* row = platform_row(s.name)) {
    sim::PlatformConfig scratch;
    must(row->set(scratch, value));
  } else if (s.group == "program") {
    programs::Params scratch;
    must(programs::set(scratch, s.name, value));
  } else if (s.name == "build") {
    if (!sim::find_build(value)) throw Usage(no_build(value));
  } else if (s.name == "stall_percent") {
    whole(s.name, value, 0, 95);
  } else if (s.name == "reset_seed") {
    whole(s.name, value, 0, INT32_MAX);
  } else if (s.name == "clock_mhz") {
    clock_of(value);
  } else if (s.name == "datapath_bytes") {
    width_of(value);
  } else if (const auto* size = size_row(s.name); size != nullptr && value != "build") {
    const uint64_t n = whole(s.name, value, size->min, size->max);
    if (size->power_of_two && !std::has_single_bit(n))
      throw Usage(fmt::format("{}: {} is no power of two", s.name, n));
  }
}

void Config::set(const std::string& name, const std::string& value, const std::string& source,
                 Origin origin) {
  for (unsigned side = 0; side < 2; ++side) {
    const std::string prefix = std::string(kSideNames[side]) + ".";
    if (!name.starts_with(prefix)) continue;
    const Setting& base = at(name.substr(prefix.size()));
    if (!is_one_sides(base)) {
      throw Usage(fmt::format("{}: this setting is not one side's, set {}", name, base.name));
    }
    check(base, value);
    Setting own = base;
    own.value = value;
    own.source = source;
    own.origin = origin;
    side_[side][base.name] = own;
    return;
  }
  Setting& s = at(name);
  check(s, value);
  s.value = value;
  s.source = source;
  s.origin = origin;
}

void Config::set(const std::string& assignment, const std::string& source, Origin origin) {
  const size_t eq = assignment.find('=');
  if (eq == std::string::npos || eq == 0)
    throw Usage(fmt::format("{}: \"{}\" is not NAME=VALUE", source, assignment));
  set(assignment.substr(0, eq), assignment.substr(eq + 1), source, origin);
}

void Config::use_preset(const std::string& name) {
  lay_preset(name);
  is_preset_fixed_ = true;
}

/// Sets the values of a preset, below those of all files and of --set. The preset of the command
/// line stays: a later one, of a file, only has its name checked.
void Config::lay_preset(const std::string& name) {
  const auto preset = sim::preset(name);
  if (!preset) {
    std::vector<std::string> names;
    for (const auto& p : sim::platform_presets()) names.emplace_back(p.name);
    throw Usage(
        fmt::format("no preset \"{}\"{} (rnic-sim list presets)", name, nearest(name, names)));
  }
  if (is_preset_fixed_) return;
  preset_ = name;
  for (const auto& row : sim::platform_settings()) {
    Setting& s = at(std::string(row.name));
    if (s.is_own()) continue;
    s.value = row.text(*preset);
    s.origin = s.value == s.default_value ? Origin::kDefault : Origin::kPreset;
    s.source = s.origin == Origin::kDefault ? "default" : "preset " + name;
  }
}

void Config::load(const std::string& file) {
  const JsonLines read = read_json(file);
  const nlohmann::json& j = read.json;
  if (!j.is_object()) throw Usage(fmt::format("{}: not a JSON object", file));
  if (j.contains("preset")) {
    if (!j["preset"].is_string()) throw Usage(fmt::format("{}: preset is not a string", file));
    try {
      lay_preset(j["preset"]);
    } catch (const Usage& e) {
      throw Usage(fmt::format("{}: {}", file, e.what()));
    }
  }
  for (const auto& [key, value] : j.items()) {
    if (key == "preset" || key == "sources") continue;
    if (key != "settings")
      throw Usage(fmt::format("{}: line {}: unknown key {}{}; there are preset, settings, sources",
                              file, read.key_lines.at(key), nlohmann::json(key).dump(),
                              nearest(key, {"preset", "settings", "sources"})));
    if (!value.is_object()) throw Usage(fmt::format("{}: settings is not an object", file));
    for (const auto& [name, v] : value.items()) {
      if (v.is_object() || v.is_array() || v.is_null())
        throw Usage(fmt::format("{}: {} is neither a number nor a string", file, name));
      try {
        set(name, v.is_string() ? v.get<std::string>() : v.dump(), file, Origin::kFile);
      } catch (const Usage& e) {
        throw Usage(fmt::format("{}: {}", file, e.what()));
      }
    }
  }
}

std::string Config::value(const std::string& name, Side side) const {
  const auto it = side_[side].find(name);
  return it != side_[side].end() ? it->second.value : find(name).value;
}

sim::PlatformConfig Config::platform(Side side) const {
  sim::PlatformConfig c;
  for (const auto& row : sim::platform_settings()) {
    if (auto r = row.set(c, value(std::string(row.name), side)); !r) throw Usage(r.error().what);
  }
  return c;
}

sim::PlatformConfig Config::platform() const {
  sim::PlatformConfig c;
  for (const auto& row : sim::platform_settings()) {
    if (auto r = row.set(c, find(std::string(row.name)).value); !r) throw Usage(r.error().what);
  }
  return c;
}

programs::Params Config::params(const programs::Program* program) const {
  programs::Params p;
  // Settings of the same name may have another default in this program: the row of Config has the
  // default of the first program that has the setting.
  if (program != nullptr) {
    for (const auto& row : program->settings)
      if (find(std::string(row.name)).default_value != row.default_value)
        if (auto r = programs::set(p, row.name, row.default_value); !r) throw Usage(r.error().what);
    if (program->bytes != 0) p.size = program->bytes;
  }
  for (const auto& s : settings_) {
    if (s.group != "program" || !s.is_own()) continue;
    if (auto r = programs::set(p, s.name, s.value); !r) throw Usage(r.error().what);
  }
  const auto mtu = static_cast<uint32_t>(platform().link.mtu);
  p.mulpdu = static_cast<uint32_t>(sim::mulpdu(mtu - sim::kIpTcpHeaders, p.markers));
  return p;
}

sim::RtlBuild Config::build(Side side) const {
  return sim::find_build(value("build", side)).value();
}
bool Config::is_small(Side side) const {
  const spec::Sizes own = sizes(side);
  return std::ranges::any_of(kTables, [&](auto t) { return own.*t < spec::Sizes{}.*t; });
}
const spec::SizeRow* Config::below_minimum(Side side) const {
  const spec::Sizes own = sizes(side);
  for (const auto& row : spec::kSizes) {
    if (std::ranges::count(kTables, row.member) != 0 && own.*row.member < row.minimum) return &row;
  }
  return nullptr;
}
uint32_t Config::stall_percent(Side side) const {
  return static_cast<uint32_t>(whole("stall_percent", value("stall_percent", side), 0, 95));
}
uint64_t Config::reset_seed(Side side) const {
  return whole("reset_seed", value("reset_seed", side), 0, INT32_MAX);
}

spec::Sizes Config::sizes(Side side) const {
  spec::Sizes sizes = sim::sizes_of(build(side));
  for (const auto& row : spec::kSizes) {
    const std::string v = value(std::string(row.name), side);
    if (v != "build")
      sizes.*row.member = static_cast<uint32_t>(whole(std::string(row.name), v, row.min, row.max));
  }
  return sizes;
}

model::Timing Config::timing(Side side) const {
  model::Timing t;
  t.clock = base::Clock(clock_of(find("clock_mhz").value));
  t.path.bytes = width_of(value("datapath_bytes", side));
  return t;
}

std::vector<std::string> Config::changed_of_model() const {
  std::vector<std::string> names;
  for (const Side side : {kClient, kServer}) {
    const model::Timing t = timing(side);
    if (t.clock != base::kNominalClock) names.emplace_back("clock_mhz");
    if (t.path.bytes != model::Datapath{}.bytes) names.emplace_back("datapath_bytes");
  }
  for (const auto& row : spec::kSizes) {
    const std::string name(row.name);
    if (value(name, kClient) != "build" || value(name, kServer) != "build") names.push_back(name);
  }
  return names;
}

std::vector<Setting> Config::overrides() const {
  std::vector<Setting> all;
  for (unsigned side = 0; side < 2; ++side) {
    for (auto [name, s] : side_[side]) {
      s.name = fmt::format("{}.{}", kSideNames[side], name);
      all.push_back(s);
    }
  }
  return all;
}

namespace {

/// True for `op` and `method`: their default is that of the program, not that of Config's row.
bool has_several_defaults(const Setting& s) {
  for (const auto& p : programs::all())
    for (const auto& row : p.settings)
      if (row.name == s.name && row.default_value != s.default_value) return true;
  return false;
}

}  // namespace

std::string Config::print() const {
  nlohmann::ordered_json j;
  j["preset"] = preset_;
  for (const auto& s : settings_) {
    if (s.group == "model" && s.value == "build") continue;
    if (s.group == "program" && !s.is_own() && has_several_defaults(s)) continue;
    j["settings"][s.name] = s.value;
    if (s.origin != Origin::kDefault) j["sources"][s.name] = s.source;
  }
  for (const auto& s : overrides()) {
    j["settings"][s.name] = s.value;
    j["sources"][s.name] = s.source;
  }
  return j.dump(2);
}

std::string Config::as_options(const programs::Program* program) const {
  std::string words;
  if (preset_ != "gen4x16") words += " --preset " + preset_;
  const auto is_used = [&](const Setting& s) {
    if (s.group == "program")
      return program != nullptr &&
             std::ranges::find(program->settings, s.name, &programs::SettingRow::name) !=
                 program->settings.end();
    return s.group != "regress" && s.group != "search" && s.group != "crash";
  };
  for (const auto& s : settings_) {
    if (!is_used(s)) continue;
    if (s.is_own()) words += fmt::format(" --set {}", quoted(s.name + "=" + s.value));
  }
  for (const auto& s : overrides())
    words += fmt::format(" --set {}", quoted(s.name + "=" + s.value));
  return words;
}

const programs::Program& program_of(const std::string& name) {
  if (const auto* p = programs::find(name)) return *p;
  std::vector<std::string> names;
  for (const auto& p : programs::all()) names.emplace_back(p.name);
  throw Usage(
      fmt::format("no program \"{}\"{} (rnic-sim list programs)", name, nearest(name, names)));
}

std::vector<std::string_view> settings_of(const programs::Program& program) {
  std::vector<std::string_view> names;
  for (const auto& row : program.settings) names.push_back(row.name);
  return names;
}

}  // namespace rnic::app
