// Comma-separated values (RFC 4180). See csv.hpp.
#include "output/csv.hpp"

#include <fmt/format.h>

#include "settings/errors.hpp"

namespace rnic::app {

std::string csv_line(const CsvRow& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::vector<CsvRow> read_csv(const std::string& name, const std::string& text) {
  std::vector<CsvRow> rows;
  size_t at = 0, line = 1;
  while (at < text.size()) {
    const size_t first_line = line;
    CsvRow row(1);
    bool is_quoted = false;
    for (bool is_over = false; !is_over; ++at) {
      if (at == text.size()) {
        if (is_quoted) throw Usage(fmt::format("{}: line {}: a quote is not closed", name, line));
        break;
      }
      const char c = text[at];
      if (c == '\n') ++line;
      if (is_quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {  // "" is a quote
        row.back() += '"';
        ++at;
      } else if (c == '"') {
        is_quoted = !is_quoted;
      } else if (!is_quoted && c == ',') {
        row.emplace_back();
      } else if (!is_quoted && (c == '\n' || c == '\r')) {
        is_over = c == '\n';
      } else {
        row.back() += c;
      }
    }
    if (!rows.empty() && row.size() != rows[0].size())
      throw Usage(fmt::format("{}: line {}: {} cells, the first line has {}", name, first_line,
                              row.size(), rows[0].size()));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rnic::app
