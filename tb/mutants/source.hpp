// Finds the places where a source text can be changed safely: bounds of expressions that the text
// shows without further analysis. It reads SystemVerilog in the style of rtl/ (style guide, section
// 5), and C++ in the style of model/.
//
//   for (const Place& p : find_places(text, Language::kSystemVerilog)) ...
//   apply(text, {{p, 7}}, language)            the text with p switched by number 7
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rnic::mutants {

enum class Language : uint8_t { kSystemVerilog, kCpp };

struct Place {
  size_t from = 0, to = 0;  // in the text
  std::string kind;
  std::string after;  // the mutated text, for the report
  // The text that replaces it, with both variants; apply() writes "this number is chosen" for @.
  std::string switched;
};

struct Numbered {
  Place place;
  uint32_t number = 0;
};

/// The text with comments, strings and macro calls blanked out; offsets stay the same.
std::string code_of(std::string_view text);
std::vector<Place> find_places(const std::string& text, Language language);
std::string apply(const std::string& text, std::vector<Numbered> places, Language language);
uint32_t line_of(const std::string& text, size_t at);

}  // namespace rnic::mutants
