// What a run is made of, by name: settings with their default, unit and meaning, in layers (default, preset, config files,
// --set), each value with its source.
//
//   Config c;
//   c.use_preset("gen3x16");  c.load("my.json");  c.set("mtu", "9000", "--set", Origin::kSet);   every mistake throws Usage
//   c.program() -> Params, c.platform(kServer), c.sizes(kServer)
#pragma once

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
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

/// The kind of a value's source, in the order of the layers; its name, which may be any file's, is beside it.
enum class Origin : uint8_t { kDefault, kPreset, kFile, kSet, kCommand };

struct Setting {
  std::string name, value, default_value, unit, doc, source = "default";
  Origin origin = Origin::kDefault;
  bool is_own() const { return origin > Origin::kPreset; }  // not the machine's
  std::string group;  // platform, program, model, device, regress
};
/// client.NAME and server.NAME exist: not for a program, the link or the run, which both sides share.
bool is_one_sides(const Setting& s);

class Config {
 public:
  Config();

  /// That of the command line, whatever a config file says.
  void use_preset(const std::string& name);
  void load(const std::string& file);  // JSON: {"preset": ..., "settings": {...}}
  /// `name` alone sets both sides, `client.name` and `server.name` one (platform and device settings).
  void set(const std::string& name, const std::string& value, const std::string& source,
           Origin origin = Origin::kCommand);
  void set(const std::string& assignment, const std::string& source,
           Origin origin = Origin::kCommand);  // NAME=VALUE

  sim::PlatformConfig platform(Side side) const;
  sim::PlatformConfig platform() const;  // what is common: link, run
  /// With the program's own defaults, where another one's are listed.
  programs::Params params(const programs::Program* program = nullptr) const;
  spec::Sizes sizes(Side side) const;  // of a model; starts from the build's
  model::Timing timing(
      Side side) const;  // of a model: its clock, which both sides share, and its datapath's width
  sim::RtlBuild build(Side side) const;
  bool is_small(Side side) const;  ///< build minimum or stall: few QPs, CQs, PDs and STags
  uint32_t stall_percent(Side side) const;
  uint64_t reset_seed(Side side) const;
  /// Names of a model's settings that were changed: the RTL cannot follow them.
  std::vector<std::string> changed_of_model() const;

  const std::string& preset() const { return preset_; }
  const std::vector<Setting>& all() const { return settings_; }
  const Setting& find(const std::string& name) const;  // throws Usage with the nearest name
  std::vector<Setting> overrides() const;              // of one side alone
  /// A config file that says the same, with the source of each value that is not the default.
  std::string print() const;
  /// The words that make this configuration, for the reproduce line: without the settings that `program` (none: no program) does not
  /// have.
  std::string as_options(const programs::Program* program = nullptr) const;

 private:
  Setting& at(const std::string& name);
  std::string value(const std::string& name, Side side) const;
  void lay_preset(const std::string& name);
  void check(const Setting& s, const std::string& value) const;

  std::vector<Setting> settings_;
  std::map<std::string, size_t> index_;
  std::array<std::map<std::string, Setting>, 2> side_;
  std::string preset_ = "gen4x16";
  bool is_preset_fixed_ = false;
};

/// Throws Usage with the nearest name.
const programs::Program& program_of(const std::string& name);
/// Names of a program's settings.
std::vector<std::string_view> settings_of(const programs::Program& program);

}  // namespace rnic::app
