// Settings of a run by name, each with default, unit and meaning. They come in layers (default,
// preset, config files, --set), and each value keeps its source.
//
//   Config c;
//   c.use_preset("gen3x16");  c.load("my.json");   // every mistake throws Usage
//   c.set("mtu", "9000", "--set", Origin::kSet);
//   c.params() -> Params, c.platform(kServer), c.sizes(kServer)
#pragma once

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/rtl_pins.hpp"
#include "gen/sizes.hpp"
#include "platform/config.hpp"
#include "programs.hpp"
#include "settings/errors.hpp"
#include "settings/side.hpp"
#include "top/timing.hpp"

namespace rnic::app {

/// The kind of a value's source, in the order of the layers: a later one replaces an earlier one.
/// kCommand: a command sets the value for its own runs (crash, the plan of regress).
/// Setting::source names the source itself, such as a file.
enum class Origin : uint8_t { kDefault, kPreset, kFile, kSet, kCommand };

struct Setting {
  std::string name, value, default_value, unit, doc, source = "default";
  Origin origin = Origin::kDefault;
  bool is_own() const { return origin > Origin::kPreset; }  // by a file, --set or the command
  std::string group;  // platform, program, model, device, regress, search, crash
};
/// True if client.NAME and server.NAME exist. False for shared settings: clock_mhz and those of a
/// program, the link or the run.
bool is_one_sides(const Setting& s);

class Config {
 public:
  Config();

  /// The preset of the command line; it overrides that of a config file.
  void use_preset(const std::string& name);
  void load(const std::string& file);  // JSON: {"preset": ..., "settings": {...}}
  /// `name` sets both sides; `client.name` and `server.name` set only one (platform and device
  /// settings).
  void set(const std::string& name, const std::string& value, const std::string& source,
           Origin origin = Origin::kCommand);
  void set(const std::string& assignment, const std::string& source,
           Origin origin = Origin::kCommand);  // NAME=VALUE

  sim::PlatformConfig platform(Side side) const;
  sim::PlatformConfig platform() const;  // without overrides: for the shared parts link and run
  /// The parameters of `program`, with its own defaults where other programs have others. Null: the
  /// defaults of programs::Params.
  programs::Params params(const programs::Program* program = nullptr) const;
  spec::Sizes sizes(Side side) const;  // of the build, with the changes that a model may have
  // Of a model: its clock, which both sides share, and the width of its datapath.
  model::Timing timing(Side side) const;
  sim::RtlBuild build(Side side) const;
  /// True if a table is smaller than in the build default: few QPs, CQs, PDs or STags.
  bool is_small(Side side) const;
  /// The first table that is smaller than in the build minimum; else null.
  const spec::SizeRow* below_minimum(Side side) const;
  /// Of RTL: how often the stall build holds each stream back, in per cent.
  uint32_t stall_percent(Side side) const;
  /// Of RTL: the seed of the registers' state before reset. 0: all registers are zero.
  uint64_t reset_seed(Side side) const;
  /// The names of the changed settings that only models support: they are fixed in the RTL.
  std::vector<std::string> changed_of_model() const;

  const std::string& preset() const { return preset_; }
  const std::vector<Setting>& all() const { return settings_; }
  const Setting& find(const std::string& name) const;  // throws Usage with the nearest name
  std::vector<Setting> overrides() const;              // for one side
  /// A config file with the same settings, and with the source of each value that is not the
  /// default. Omits a default that other programs do not share: the file is valid for each program.
  std::string print() const;
  /// The options that make this configuration, for the reproduce line. Omits the settings that
  /// `program` (null: no program) does not have.
  std::string as_options(const programs::Program* program = nullptr) const;

 private:
  Setting& at(const std::string& name);
  std::string value(const std::string& name, Side side) const;  // the override, or the shared value
  void lay_preset(const std::string& name);
  void check(const Setting& s, const std::string& value) const;  // throws Usage

  std::vector<Setting> settings_;
  std::map<std::string, size_t> index_;                 // in settings_, by name
  std::array<std::map<std::string, Setting>, 2> side_;  // overrides for one side
  std::string preset_ = "gen4x16";
  bool is_preset_fixed_ = false;  // by use_preset()
};

/// Throws Usage with the nearest name.
const programs::Program& program_of(const std::string& name);
/// Names of a program's settings.
std::vector<std::string_view> settings_of(const programs::Program& program);

}  // namespace rnic::app
