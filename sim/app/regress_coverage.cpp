// What the plans of a regression have drawn. See regress.hpp.
#include <fmt/format.h>

#include "regress.hpp"
#include "report.hpp"

namespace rnic::app::regression {

using namespace regress;

namespace {

template <size_t N>
std::vector<std::string> names(const std::array<const char*, N>& from) {
  return {from.begin(), from.end()};
}
const std::vector<std::string> kFlags = {"inline", "push", "fence", "joined", "signaled", "silent"};
const std::vector<std::string> kMtus = {"1500", "9000"};

struct Group {
  std::string name;
  std::vector<std::string> rows, columns;
};
const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"operation x size", names(kOpNames), names(kSizeNames)},          {"operation x SGEs", names(kOpNames), names(kSgeNames)},
      {"operation x page border", names(kOpNames), names(kCrossingNames)}, {"operation x MTU", names(kOpNames), kMtus},
      {"operation x how", names(kOpNames), kFlags},                       {"size x SGEs", names(kSizeNames), names(kSgeNames)},
      {"size x page border", names(kSizeNames), names(kCrossingNames)},   {"size x MTU", names(kSizeNames), kMtus},
      {"size x how", names(kSizeNames), kFlags},
  };
  return all;
}

/// Of what can be drawn at all: a Read has one SGE and no inline data, short data crosses nothing, long data crosses always, inline data
/// has at most 224 bytes, and there is one large operation in a child.
bool is_possible(const std::string& row, const std::string& column) {
  const bool is_long = row == "4K+-1" || row == "MULPDU" || row == "MULPDU+1" || row == "-64K" || row == "large";
  if (row == "read" && (column == "inline" || (column != "1" && std::find(kSgeNames.begin(), kSgeNames.end(), column) != kSgeNames.end()))) return false;
  if (row == "0" && (column == "touches" || column == "crosses")) return false;
  if (row == "1" && column == "crosses") return false;
  if (is_long && column == "inline") return false;
  if ((row == "4K+-1" || row == "-64K") && column == "inside") return false;
  return row != "large";
}

}  // namespace

void Coverage::count(const Plan& plan) {
  for (const Operation& o : plan.ops) {
    if (o.closing) continue;
    const std::string op = kOpNames[static_cast<size_t>(o.op)], size = kSizeNames[static_cast<size_t>(o.size_class)];
    const std::string sge = kSgeNames[static_cast<size_t>(o.sge_class())], border = kCrossingNames[static_cast<size_t>(o.crossing())];
    const std::string mtu = fmt::format("{}", plan.mtu);
    ++cells_["operation x size"][op][size];
    for (const auto& [group, row] : {std::pair{"operation", op}, {"size", size}}) {
      const std::string g = group;
      ++cells_[g + " x SGEs"][row][sge];
      ++cells_[g + " x page border"][row][border];
      ++cells_[g + " x MTU"][row][mtu];
      auto& how = cells_[g + " x how"][row];
      for (const auto& [on, name] : {std::pair{o.is_inline, "inline"}, {o.push, "push"}, {o.fence, "fence"}, {o.joined, "joined"}, {o.signaled, "signaled"}, {!o.signaled, "silent"}}) {
        if (on) ++how[name];
      }
    }
  }
}

std::string Coverage::table() const {
  std::string s;
  for (const Group& g : groups()) {
    std::vector<std::vector<std::string>> rows{{g.name}};
    rows[0].insert(rows[0].end(), g.columns.begin(), g.columns.end());
    const auto group = cells_.find(g.name);
    for (const std::string& row : g.rows) {
      rows.push_back({row});
      for (const std::string& column : g.columns) {
        uint64_t n = 0;
        if (group != cells_.end() && group->second.contains(row) && group->second.at(row).contains(column)) n = group->second.at(row).at(column);
        rows.back().push_back(n == 0 && !is_possible(row, column) ? "-" : fmt::format("{}", n));
      }
    }
    s += app::table(rows) + "\n";
  }
  return s;
}

std::vector<std::string> Coverage::empty(bool both_mtus) const {
  std::vector<std::string> missing;
  for (const Group& g : groups()) {
    if (!both_mtus && g.columns == kMtus) continue;
    for (const std::string& row : g.rows) {
      for (const std::string& column : g.columns) {
        const bool needed = g.name == "operation x size" ? column != "large" || row == "send" : is_possible(row, column);
        if (!needed) continue;
        const auto group = cells_.find(g.name);
        if (group == cells_.end() || !group->second.contains(row) || !group->second.at(row).contains(column)) missing.push_back(fmt::format("{}: {} {}", g.name, row, column));
      }
    }
  }
  return missing;
}

}  // namespace rnic::app::regression
