// The table of a sweep: makes, reads, merges it. See table.hpp.
#include "sweep/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "settings/errors.hpp"
#include "settings/read_file.hpp"

namespace rnic::app::sweep {
namespace {

constexpr const char* kFirst[] = {"point", "points", "sweep"};
// The figures, unless a dimension has the same name. No setting is named "status", so it ends the
// dimensions.
constexpr const char* kFigures[] = {"status",
                                    "reason",
                                    "program",
                                    "client",
                                    "server",
                                    "seed",
                                    "size",
                                    "ops",
                                    "bytes",
                                    "sim_ns",
                                    "gbps",
                                    "msg_per_s",
                                    "wire_limit_gbps",
                                    "latency_min_ns",
                                    "latency_p50_ns",
                                    "latency_p99_ns",
                                    "latency_max_ns",
                                    "latency_cdf_ns",
                                    "path_host_ns",
                                    "path_pcie_ns",
                                    "path_link_ns",
                                    "path_device_ns",
                                    "limit",
                                    "limit_use",
                                    "next",
                                    "next_use",
                                    "model_error",
                                    "mismatches",
                                    "settings"};

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

/// A value inside an object of the run; empty if it is absent.
std::string inside(const nlohmann::ordered_json& run, const char* object, const char* key) {
  const auto it = run.find(object);
  if (it == run.end() || !it->is_object() || !it->contains(key)) return "";
  return text_of((*it)[key]);
}

/// The cell of a run in a column of kFigures.
std::string figure(const std::string& column, const Outcome& o) {
  const nlohmann::ordered_json& run = o.json;
  const bool is_good = o.status == kGood && !run.contains("refused");
  if (column == "status")
    return fmt::format(
        "{}", run.contains("refused") ? static_cast<int>(kWrongUse) : static_cast<int>(o.status));
  if (column == "reason") {
    if (run.contains("refused")) return run["refused"];
    return o.failure.substr(0, o.failure.find('\n'));
  }
  if (!is_good) return "";
  if (column == "settings") {
    std::string words;
    for (const auto& [name, value] : run[column].items())
      words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value.get<std::string>());
    return words;
  }
  if ((column == "gbps" || column == "msg_per_s") && !(run.value("sim_ns", 0.0) > 0)) return "";
  if (column == "latency_cdf_ns") {
    const std::string list = inside(run, "latency_ns", "cdf");
    if (list.empty()) return "";
    const auto cdf = nlohmann::json::parse(list);
    return fmt::format("{}", fmt::join(cdf.get<std::vector<double>>(), " "));
  }
  if (column.starts_with("latency_"))
    // latency_p50_ns is p50 of latency_ns: without the 8 letters before and the 3 after it.
    return inside(run, "latency_ns", column.substr(8, column.size() - 8 - 3).c_str());
  // path_host_ns is host_ns of path.
  if (column.starts_with("path_")) return inside(run, "path", column.substr(5).c_str());
  if (column == "limit") return inside(run, "limit", "by");
  if (column == "limit_use") return inside(run, "limit", "use");
  if (column == "next") return inside(run, "limit", "next");
  if (column == "next_use") return inside(run, "limit", "next_use");
  return run.contains(column) ? text_of(run[column]) : "";
}

/// The names in a settings cell whose values differ; names in `except` are skipped.
std::set<std::string> differing(const std::string& a, const std::string& b,
                                const std::vector<std::string>& except) {
  const auto words = [](const std::string& text) {
    std::set<std::string> all;
    for (size_t at = 0; at < text.size();) {
      const size_t blank = std::min(text.find(' ', at), text.size());
      if (blank > at) all.insert(text.substr(at, blank - at));
      at = blank + 1;
    }
    return all;
  };
  const auto in_a = words(a), in_b = words(b);
  std::set<std::string> names;
  const auto add = [&](const std::set<std::string>& from, const std::set<std::string>& other) {
    for (const std::string& w : from) {
      const std::string name = w.substr(0, w.find('='));
      if (!other.contains(w) && std::ranges::find(except, name) == except.end()) names.insert(name);
    }
  };
  add(in_a, in_b);
  add(in_b, in_a);
  return names;
}

/// "0-3, 7"
std::string listed(const std::vector<uint64_t>& points) {
  constexpr size_t kMost = 8;
  std::string out;
  size_t pieces = 0;
  for (size_t i = 0; i < points.size(); ++pieces) {
    size_t k = i;
    while (k + 1 < points.size() && points[k + 1] == points[k] + 1) ++k;
    if (pieces == kMost) return out + ", ...";
    out += fmt::format("{}{}", out.empty() ? "" : ", ", points[i]);
    if (k != i) out += fmt::format("-{}", points[k]);
    i = k + 1;
  }
  return out;
}

}  // namespace

Table::Table(const std::string& digest, const Grid& grid)
    : columns_(std::begin(kFirst), std::end(kFirst)),
      dimensions_(grid.names()),
      points_(grid.size()),
      digest_(digest) {
  columns_.insert(columns_.end(), dimensions_.begin(), dimensions_.end());
  for (const char* f : kFigures) {
    if (std::ranges::find(dimensions_, f) == dimensions_.end()) columns_.emplace_back(f);
  }
}

void Table::add(uint64_t point, const Grid::Point& at, const Outcome& outcome) {
  CsvRow row{fmt::format("{}", point), fmt::format("{}", points_), digest_};
  for (const auto& [name, value] : at) row.push_back(value);
  for (size_t i = row.size(); i < columns_.size(); ++i) row.push_back(figure(columns_[i], outcome));
  rows_[point] = std::move(row);
}

std::string Table::csv() const {
  std::string out = csv_line(columns_);
  for (const auto& [point, row] : rows_) out += csv_line(row);
  return out;
}

Table Table::read(const std::string& file) {
  const std::vector<uint8_t> bytes = read_file(file);
  std::vector<CsvRow> lines = read_csv(file, std::string(bytes.begin(), bytes.end()));
  const auto refuse = [&](const std::string& why) {
    return Usage(fmt::format("{}: {}; sweep --csv writes such a file", file, why));
  };
  const auto last_first = std::end(kFirst);
  if (lines.empty() || lines[0].size() < std::size(kFirst) ||
      !std::equal(std::begin(kFirst), last_first, lines[0].begin()))
    throw refuse("not the table of a sweep");
  if (lines.size() == 1) throw refuse("no row");
  Table t;
  t.columns_ = lines[0];
  const auto status = std::ranges::find(t.columns_, kFigures[0]);
  const auto first = t.columns_.begin() + std::ssize(kFirst);
  if (status == t.columns_.end()) throw refuse("no column status");
  t.dimensions_.assign(first, status);
  for (const char* f : kFigures) {
    if (!t.has(f)) throw refuse(fmt::format("no column {}", f));
  }
  const auto whole = [&](const std::string& text) {
    uint64_t n = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
      throw refuse(fmt::format("\"{}\" is not the number of a point", text));
    return n;
  };
  t.points_ = whole(lines[1][1]);
  t.digest_ = lines[1][2];
  for (size_t i = 1; i < lines.size(); ++i) {
    const uint64_t point = whole(lines[i][0]);
    if (whole(lines[i][1]) != t.points_ || lines[i][2] != t.digest_ || point >= t.points_)
      throw refuse(fmt::format("row {} is of another sweep than row 1", i));
    if (!t.rows_.emplace(point, std::move(lines[i])).second)
      throw refuse(fmt::format("point {} occurs twice", point));
  }
  return t;
}

size_t Table::index(const std::string& column) const {
  return static_cast<size_t>(std::ranges::find(columns_, column) - columns_.begin());
}
bool Table::has(const std::string& column) const { return index(column) < columns_.size(); }
const std::string& Table::cell(const CsvRow& row, const std::string& column) const {
  return row.at(index(column));
}
std::optional<double> Table::number(const CsvRow& row, const std::string& column) const {
  const std::string& text = cell(row, column);
  double v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return std::nullopt;
  return v;
}
std::vector<std::string> Table::values(const std::string& column) const {
  std::vector<std::string> all;
  for (const auto& [point, row] : rows_) {
    if (std::ranges::find(all, cell(row, column)) == all.end()) all.push_back(cell(row, column));
  }
  return all;
}

void Table::compare_devices() {
  const bool is_dimension = std::ranges::find(dimensions_, "client") != dimensions_.end();
  if (!is_dimension) return;
  const auto key = [&](const CsvRow& row) {
    std::string k;
    for (const std::string& d : dimensions_) {
      if (d != "client" && d != "server") k += cell(row, d) + '\n';
    }
    return k;
  };
  const auto kinds = [&](const CsvRow& row) {
    return cell(row, "client") + "-" + cell(row, "server");
  };
  std::map<std::string, const CsvRow*> rtl;
  for (const auto& [point, row] : rows_) {
    if (kinds(row) == "rtl-rtl") rtl[key(row)] = &row;
  }
  for (auto& [point, row] : rows_) {
    std::string& error = row[index("model_error")];
    error.clear();
    const auto it = rtl.find(key(row));
    if (it == rtl.end() || kinds(row) != "model-model") continue;
    const char* what = number(row, "latency_p50_ns") ? "latency_p50_ns" : "msg_per_s";
    const auto of_model = number(row, what), of_rtl = number(*it->second, what);
    if (of_model && of_rtl && *of_rtl != 0)
      error = fmt::format("{:.2f}", 100 * (*of_model / *of_rtl - 1));
  }
}

Table merged(const std::vector<std::string>& files) {
  std::optional<Table> whole;
  std::map<uint64_t, std::string> from;  // the file of each point
  for (const std::string& file : files) {
    Table part = Table::read(file);
    if (!whole) {
      whole.emplace(part);
      for (const auto& [point, row] : part.rows_) from[point] = file;
      continue;
    }
    if (part.digest_ != whole->digest_ || part.columns_ != whole->columns_ ||
        part.points_ != whole->points_) {
      std::string what = "different sweeps";
      if (part.dimensions_ != whole->dimensions_) {
        what = fmt::format("different dimensions: {}, and {}", fmt::join(whole->dimensions_, ", "),
                           fmt::join(part.dimensions_, ", "));
      } else if (const auto names = differing(whole->cell(whole->rows_.begin()->second, "settings"),
                                              part.cell(part.rows_.begin()->second, "settings"),
                                              whole->dimensions_);
                 !names.empty()) {
        what = fmt::format("different settings: {}", fmt::join(names, ", "));
      } else if (part.points_ != whole->points_) {
        what = fmt::format("sweeps of {} and of {} points", whole->points_, part.points_);
      }
      throw Usage(fmt::format("--merge {} {}: {}", files[0], file, what));
    }
    std::vector<uint64_t> twice;
    std::string other;
    for (auto& [point, row] : part.rows_) {
      if (const auto it = from.find(point); it != from.end()) {
        if (twice.empty()) other = it->second;
        twice.push_back(point);
        continue;
      }
      from[point] = file;
      whole->rows_.emplace(point, std::move(row));
    }
    if (!twice.empty())
      throw Usage(fmt::format("--merge {} {}: both have point {}", other, file, listed(twice)));
  }
  std::vector<uint64_t> absent;
  uint64_t n_absent = whole->points_ - whole->rows_.size();
  for (uint64_t p = 0; p < whole->points_ && absent.size() < 1000 && n_absent != 0; ++p) {
    if (!from.contains(p)) absent.push_back(p);
  }
  if (n_absent != 0)
    throw Usage(fmt::format("--merge {}: {} of {} points are missing: {}", fmt::join(files, " "),
                            n_absent, whole->points_, listed(absent)));
  whole->compare_devices();
  return std::move(*whole);
}

}  // namespace rnic::app::sweep
