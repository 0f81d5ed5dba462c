// The definition of a sweep: its dimensions, and the run of each point. Built from the options as
// typed.
//
//   const Definition d(options);        // throws Usage: unknown names, wrong values
//   d.grid().size();  app::run(d.request(3))
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/options.hpp"
#include "sweep/grid.hpp"

namespace rnic::app::sweep {

class Definition {
 public:
  explicit Definition(const Options& o);
  const Grid& grid() const { return grid_; }
  /// Throws Usage for a combination that cannot run.
  RunRequest request(uint64_t point) const;
  RunRequest request(const Grid::Point& at) const;
  bool has_rtl_devices() const { return has_rtl_; }
  /// All that decides the rows of the sweep.
  const nlohmann::ordered_json& json() const { return json_; }
  /// FNV-1a sum of json() in 16 hexadecimal digits.
  std::string digest() const;

 private:
  /// Refuses settings that no program of the sweep uses.
  void check(const Options& o) const;
  /// Refuses a setting that the program of this point does not use.
  void check_used(const Grid::Point& at, const std::string& program) const;

  RunRequest base_;
  std::map<std::string, Config> presets_;  // the base configuration under each preset
  std::vector<std::pair<std::string, std::string>> fixed_;  // settings with one value
  Grid grid_{{}};
  nlohmann::ordered_json json_;
  bool has_rtl_ = false;
};

}  // namespace rnic::app::sweep
