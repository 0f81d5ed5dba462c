// Counts the classes that the plans of a regression have drawn, and lists those that none has.
//
//   Coverage c;   c.count(plan);   ...   c.empty()
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "regress/plan.hpp"

namespace rnic::app::regress {

/// How often each class was drawn.
class Coverage {
 public:
  /// `given`: settings that the user has set; their classes are not drawn. `minimum`: the plans are
  /// for the minimum build on at least one side.
  explicit Coverage(std::set<std::string> given = {}, bool minimum = false)
      : given_(std::move(given)), minimum_(minimum) {}
  void count(const regress::Plan& plan);
  std::string table() const;
  nlohmann::ordered_json json() const;
  /// Cells that can be drawn and were not. Classes of settings, of ends and of their combinations
  /// are required only after kPlansForSettings plans.
  std::vector<std::string> empty() const;
  // Of 40 consecutive seeds one has an aged life (kAgedPlans).
  static constexpr uint64_t kPlansForSettings = 40;

 private:
  using Cells = std::map<std::string, uint64_t>;
  void count_settings(const regress::Plan& plan);
  void count_lives(const regress::Plan& plan);
  /// True for cells that plans for the minimum build cannot fill.
  static bool is_beyond_minimum(const std::string& row, const std::string& column);
  std::set<std::string> given_;
  bool minimum_ = false;
  std::map<std::string, std::map<std::string, Cells>> cells_;  // group -> row -> column
  std::map<std::string, Cells> settings_;  // setting -> class -> number of plans, sides or QPs
  uint64_t plans_ = 0;
};

}  // namespace rnic::app::regress
