// What the plans of a regression have drawn, and what none of them has.
//
//   Coverage c;   c.count(plan);   ...   c.empty()
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "regress/plan.hpp"

namespace rnic::app::regression {

/// How often each class was drawn.
class Coverage {
 public:
  /// `given`: settings that the user has set, of which nothing is drawn.
  /// minimum: of plans for the minimum build on one side.
  explicit Coverage(std::set<std::string> given = {}, bool minimum = false)
      : given_(std::move(given)), minimum_(minimum) {}
  void count(const regress::Plan& plan);
  std::string table() const;
  nlohmann::ordered_json json() const;
  /// Cells that can be drawn and were not. Classes of settings, of ends and of their combinations are asked for from kPlansForSettings on.
  std::vector<std::string> empty() const;
  static constexpr uint64_t kPlansForSettings = 40;  // the rarest is in a fourth of them

 private:
  using Cells = std::map<std::string, uint64_t>;
  void count_settings(const regress::Plan& plan);
  void count_lives(const regress::Plan& plan);
  static bool is_beyond_minimum(const std::string& row, const std::string& column);
  std::set<std::string> given_;
  bool minimum_ = false;
  std::map<std::string, std::map<std::string, Cells>> cells_;  // group -> row -> column
  std::map<std::string, Cells> settings_;  // setting -> class -> plans, or their sides or QPs
  uint64_t plans_ = 0;
};

}  // namespace rnic::app::regression
