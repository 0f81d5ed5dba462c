// Spellings shared by the printers: camel("sq_wqe") is "SqWqe", sv_item(op, "send_se") is
// "OpSendSe".
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <string>

#include "spec.hpp"

namespace specgen {

inline std::string camel(const std::string& snake) {
  std::string out;
  bool up = true;
  for (char c : snake) {
    if (c == '_') {
      up = true;
    } else {
      out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      up = false;
    }
  }
  return out;
}

// The names of an item in SystemVerilog and C++. An enum with `verbs` keeps libibverbs' names.
inline std::string sv_item(const Enum& e, const Item& i) {
  return e.verbs ? i.name : e.prefix + camel(i.name);
}
inline std::string cpp_item(const Enum& e, const Item& i) {
  return e.verbs ? i.name : "k" + camel(i.name);
}

inline std::string sv_range(unsigned bits) {
  return bits == 1 ? "" : fmt::format("[{}:0] ", bits - 1);
}

/// The smallest C++ integer that holds so many bits.
inline std::string cpp_uint(unsigned bits) {
  return bits <= 8 ? "uint8_t" : bits <= 16 ? "uint16_t" : bits <= 32 ? "uint32_t" : "uint64_t";
}

inline uint64_t mask(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// A C++ string literal.
inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

/// "// text" in lines of at most 100 columns, indented.
inline std::string comment(const std::string& text, const std::string& indent = "",
                           const std::string& mark = "// ") {
  std::string out, line;
  auto flush = [&] {
    if (!line.empty()) out += indent + mark + line + "\n";
    line.clear();
  };
  std::string word;
  for (size_t i = 0; i <= text.size(); i++) {
    if (i < text.size() && text[i] != ' ' && text[i] != '\n') {
      word += text[i];
      continue;
    }
    if (word.empty()) continue;
    if (!line.empty() && indent.size() + mark.size() + line.size() + 1 + word.size() > 100) flush();
    line += (line.empty() ? "" : " ") + word;
    word.clear();
  }
  flush();
  return out;
}

inline constexpr const char* kFirstLine = "// Printed by specgen from docs/spec; do not edit.\n";

}  // namespace specgen
