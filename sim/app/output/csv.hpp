// Tables as comma-separated values (RFC 4180).
//
//   text += csv_line({"size", "gbps"});
//   const std::vector<CsvRow> rows = read_csv("w.csv", text);
#pragma once

#include <string>
#include <vector>

namespace rnic::app {

using CsvRow = std::vector<std::string>;

/// One line with its end. Cells are in quotes where necessary.
std::string csv_line(const CsvRow& cells);
/// The lines of `text`. Throws Usage, with `name` and the line, if the quotes do not match or a
/// line has not as many cells as the first one.
std::vector<CsvRow> read_csv(const std::string& name, const std::string& text);

}  // namespace rnic::app
