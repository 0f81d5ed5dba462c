// Places in source texts. See source.hpp.
#include "source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

namespace rnic::mutants {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool opens(char c) { return c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == ')' || c == '}' || c == ']'; }

/// The bracket that matches the one at `at`, or npos.
size_t partner(const std::string& code, size_t at) {
  int depth = 0;
  for (size_t i = at; i < code.size(); ++i) {
    if (opens(code[i])) ++depth;
    if (closes(code[i]) && --depth == 0) return i;
  }
  return std::string::npos;
}

bool word_at(const std::string& code, size_t at, std::string_view word) {
  return code.compare(at, word.size(), word) == 0 && (at == 0 || !is_word(code[at - 1])) &&
         (at + word.size() >= code.size() || !is_word(code[at + word.size()]));
}

size_t skip_space(const std::string& code, size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  return at;
}

std::string one_line(std::string s) {
  std::string out;
  for (char c : s) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

/// Finds the places common to both languages: operators inside an expression.
class Finder {
 public:
  explicit Finder(const std::string& text) : text_(text), code_(code_of(text)) {}
  virtual ~Finder() = default;
  Finder(const Finder&) = delete;
  Finder& operator=(const Finder&) = delete;
  std::vector<Place> places;

 protected:
  std::string original(size_t from, size_t to) const { return text_.substr(from, to - from); }
  void add(size_t from, size_t to, std::string kind, std::string after, std::string switched) {
    places.push_back({from, to, std::move(kind), one_line(std::move(after)), std::move(switched)});
  }

  /// Faults of `term OPERATOR term`, where the tokens around it bind weaker than the operator.
  void operators(size_t from, size_t to) {
    static const std::regex kTerms(
        R"(([A-Za-z_][\w.:$]*(\[[^\[\]]*\])?) (==|!=|<|<=|>|>=|-) ([\w.:$']+(\[[^\[\]]*\])?))");
    for (auto it = matches(from, to, kTerms), end = std::sregex_iterator(); it != end; ++it) {
      const size_t a = from + static_cast<size_t>(it->position());
      const size_t b = a + static_cast<size_t>(it->length());
      if (!begins_term(a) || !ends_term(b)) continue;
      const std::string x = (*it)[1], op = (*it)[3], y = (*it)[4], was = original(a, b);
      const auto becomes = [&](const char* other) { return fmt::format("{} {} {}", x, other, y); };
      if (op == "-")
        add(a, b, "operands swapped", fmt::format("{} - {}", y, x),
            fmt::format("(@ ? {} - {} : {})", y, x, was));
      else if (op == "==" || op == "!=")
        add(a, b, "comparison inverted", becomes(op == "==" ? "!=" : "=="),
            fmt::format("(({}) != @)", was));
      else if (op.size() == 1)
        add(a, b, "border moved", becomes(op == "<" ? "<=" : ">="),
            fmt::format("(({}) || (@ && {} == {}))", was, x, y));
      else
        add(a, b, "border moved", becomes(op == "<=" ? "<" : ">"),
            fmt::format("(({}) && !(@ && {} == {}))", was, x, y));
    }
  }

  /// An expression `a && b` becomes `a || b`, and the reverse.
  void connective(size_t from, size_t to) {
    const size_t both = at_top(from, to, " && "), either = at_top(from, to, " || ");
    const size_t at = both != kNone ? both : either;
    if (at == kNone || (both != kNone && either != kNone) || at_top(from, to, " ? ") != kNone)
      return;
    const std::string was = original(from, to), other = original(from, at) +
                                                        (both != kNone ? " || (" : " && (") +
                                                        original(at + 4, to) + ")";
    add(from, to, both != kNone ? "and becomes or" : "or becomes and", other,
        fmt::format("(@ ? ({}) : ({}))", other, was));
  }

  static constexpr size_t kNone = std::string::npos;

  /// Index of the first occurrence outside all brackets.
  size_t at_top(size_t from, size_t to, std::string_view what) const {
    int depth = 0;
    for (size_t i = from; i + what.size() <= to; ++i) {
      if (opens(code_[i])) ++depth;
      if (closes(code_[i])) --depth;
      if (depth == 0 && code_.compare(i, what.size(), what) == 0) return i;
    }
    return kNone;
  }

  std::sregex_iterator matches(size_t from, size_t to, const std::regex& what) const {
    const auto begin = code_.begin();
    return {begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to),
            what};
  }

  bool begins_term(size_t at) const {
    const auto before = std::string_view(code_).substr(at >= 4 ? at - 4 : 0, 4);
    for (const char* mark : {"(", "&& ", "|| ", " = ", "<= ", "? ", ", "}) {
      if (before.ends_with(mark)) return true;
    }
    return false;
  }
  bool ends_term(size_t at) const {
    const size_t next = skip_space(code_, at);
    if (code_.compare(next, 2, "){") == 0) return false;  // a repeat count {(n){x}}: a constant
    return code_.compare(next, 2, "&&") == 0 || code_.compare(next, 2, "||") == 0 ||
           std::string_view(");?,:}").find(code_[next]) != std::string_view::npos;
  }

  const std::string& text_;
  const std::string code_;
};

class SvFinder final : public Finder {
 public:
  explicit SvFinder(const std::string& text) : Finder(text) {}
  /// Finds the places of assign, always_comb and always_ff; skips functions.
  void run() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (word_at(code_, i, "function"))
        i = code_.find("endfunction", i);
      else if (word_at(code_, i, "assign"))
        i = assignment(i + 6, code_.find(';', i));
      else if (word_at(code_, i, "always_comb") || word_at(code_, i, "always_ff"))
        i = block(i);
    }
  }

 private:
  // True if the unit has counters: items, busy, stalled.
  const bool has_counters_ = std::regex_search(code_, std::regex(R"(unit_count_t +count_o)"));

  /// True for a target that is unused, traced or only counted: no decision depends on it. Counters:
  /// tb/lib, counters_test.
  bool only_seen(std::string_view target) const {
    const auto names = [&](auto... name) { return ((target.find(name) != kNone) || ...); };
    return names("unused", "tap_", "count_o", "time_q") ||
           (has_counters_ && names("busy_q", "moved", "count_q"));
  }

  /// Handles `target = value;` with [at, end) up to the semicolon.
  /// Returns end.
  size_t assignment(size_t at, size_t end) {
    int depth = 0;
    for (size_t i = at; i < end; ++i) {
      if (opens(code_[i])) ++depth;
      if (closes(code_[i])) --depth;
      if (depth != 0 || code_[i] != '=') continue;
      const size_t from = skip_space(code_, i + 1);
      if (!only_seen(code_.substr(at, i - at))) value(from, end);
      break;
    }
    return end;
  }

  /// Faults of the value of an assignment.
  void value(size_t from, size_t to) {
    const std::string was = original(from, to);
    add(from, to, "lowest bit flipped", fmt::format("({}) ^ 1", was), fmt::format("({}) ^ @", was));
    connective(from, to);
    const size_t question = at_top(from, to, " ? ");
    if (question != kNone && code_.substr(from, question - from).find('{') == kNone) {
      const std::string condition = original(from, question);
      add(from, question, "branches swapped", fmt::format("!({})", condition),
          fmt::format("(!({}) == @)", condition));
    }
    inside(from, to);
  }

  /// Faults within an expression: operators, indices of bits, constants.
  void inside(size_t from, size_t to) {
    operators(from, to);
    static const std::regex kBit(R"(\w\[(\d+)\])");
    for (auto it = matches(from, to, kBit), end = std::sregex_iterator(); it != end; ++it) {
      const size_t a = from + static_cast<size_t>(it->position(1));
      const size_t b = a + static_cast<size_t>(it->length(1));
      const unsigned long is = std::stoul((*it)[1]), other = is == 0 ? 1 : is - 1;
      add(a, b, "bit index off by one", std::to_string(other),
          fmt::format("(@ ? {} : {})", other, is));
    }
    static const std::regex kLiteral(R"((\d+)'([dhb])([0-9a-fA-F]+))");
    for (auto it = matches(from, to, kLiteral), end = std::sregex_iterator(); it != end; ++it) {
      const size_t a = from + static_cast<size_t>(it->position());
      const size_t b = a + static_cast<size_t>(it->length());
      const unsigned long width = std::stoul((*it)[1]), base = (*it)[2] == "d"   ? 10
                                                               : (*it)[2] == "h" ? 16
                                                                                 : 2;
      const size_t next = skip_space(code_, b), before = code_.find_last_not_of(" \n", a - 1);
      // Excluded: a case label, an index, a part of another word.
      if (is_word(code_[a - 1]) || code_[before] == ';' || code_[next] == '{' ||
          in_brackets(a, from) || width > 32)
        continue;
      const unsigned long is = std::stoul((*it)[3], nullptr, static_cast<int>(base)),
                          most = width >= 32 ? 0xffffffffUL : (1UL << width) - 1;
      const std::string other = fmt::format("{}'d{}", width, is == most ? is - 1 : is + 1);
      add(a, b, "constant off by one", other, fmt::format("(@ ? {} : {})", other, original(a, b)));
    }
  }

  bool in_brackets(size_t at, size_t from) const {
    int depth = 0;
    for (size_t i = at; i-- > from;) {
      if (code_[i] == ']') ++depth;
      if (code_[i] == '[' && depth-- == 0) return true;
    }
    return false;
  }

  /// Handles the statements of always_comb or always_ff.
  size_t block(size_t at) {
    at = skip_space(code_, code_.find_first_of(" \n", at));
    if (code_[at] == '@') at = skip_space(code_, partner(code_, code_.find('(', at)) + 1);
    const size_t end = end_of(at);
    statements(at, end);
    return end;
  }

  /// The end of the statement at `at`.
  size_t end_of(size_t at) const {
    at = skip_space(code_, at);
    if (!word_at(code_, at, "begin")) return code_.find(';', at);
    int depth = 0;
    size_t end = at;
    for (; end < code_.size(); ++end) {
      if (word_at(code_, end, "begin")) ++depth;
      if (word_at(code_, end, "end") && --depth == 0) break;
    }
    return end;
  }

  void statements(size_t from, size_t to) {
    size_t target = from;  // where the left side of the next assignment begins
    for (size_t i = from; i < to; ++i) {
      if (word_at(code_, i, "if")) {
        const size_t open = code_.find('(', i), close = partner(code_, open);
        i = close;
        if (original(open + 1, close) == "!rst_ni")
          i = end_of(close + 1);  // values after reset: the random-state runs check those
        else
          condition(open + 1, close);
      } else if (word_at(code_, i, "for") || word_at(code_, i, "case")) {
        i = partner(code_, code_.find('(', i));
      } else if (opens(code_[i])) {
        i = partner(code_, i);
      } else if (code_[i] == '=') {
        const size_t end = code_.find(';', i);
        if (!only_seen(code_.substr(target, i - target))) value(skip_space(code_, i + 1), end);
        i = end;
      }
      if (code_[i] == ';' || code_[i] == '\n') target = i + 1;
    }
  }

  void condition(size_t from, size_t to) {
    const std::string was = original(from, to);
    // `!(go) == @` reads (!go) == @: with @ 0 it is go, with @ 1 it is !go.
    add(from, to, "condition inverted", fmt::format("!({})", was), fmt::format("!({}) == @", was));
    add(from, to, "condition always true", "1'b1", fmt::format("({}) || @", was));
    connective(from, to);
    inside(from, to);
  }
};

class CppFinder final : public Finder {
 public:
  explicit CppFinder(const std::string& text) : Finder(text) {}
  void run() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (word_at(code_, i, "constexpr")) i = end_of_constant(i);
      if (word_at(code_, i, "static_assert")) i = code_.find(';', i);
      if (word_at(code_, i, "if")) condition(i);
      if (word_at(code_, i, "return")) returned(i + 6);
      if (std::isdigit(static_cast<unsigned char>(code_[i])) != 0 && !is_word(code_[i - 1]))
        constant(i);
    }
  }

 private:
  void condition(size_t at) {
    const size_t open = skip_space(code_, at + 2);
    if (code_[open] != '(') return;  // if constexpr
    const size_t from = open + 1, to = partner(code_, open);
    const std::string was = original(from, to);
    static const std::regex kDeclares(R"(^(const )?(auto|[A-Z]\w*)[ &*]+\w+ = )");
    if (was.find(';') != std::string::npos || std::regex_search(was, kDeclares)) return;
    add(from, to, "condition inverted", fmt::format("!({})", was),
        fmt::format("static_cast<bool>({}) != @", was));
    connective(from, to);
    operators(from, to);
  }

  void returned(size_t at) {
    const size_t from = skip_space(code_, at), to = code_.find(';', from);
    const std::string was = original(from, to);
    if (was == "true" || was == "false") {
      add(from, to, "returned value changed", was == "true" ? "false" : "true",
          fmt::format("({}) != @", was));
    }
  }

  /// The end of a constant, or of a function that computes constants.
  size_t end_of_constant(size_t at) const {
    const size_t mark = code_.find_first_of(";{", at);
    return code_[mark] == ';' ? mark : partner(code_, mark);
  }

  /// A number that is compared, added or assigned.
  void constant(size_t at) {
    static const std::regex kBefore(R"( ([+\-<>]=?|[<>!=]=|=) $)");
    size_t end = at;
    while (is_word(code_[end])) ++end;
    const std::string digits = original(at, end), before = original(at - 4, at);
    if (digits.find_first_not_of("0123456789") != kNone || !std::regex_search(before, kBefore) ||
        std::string_view(";) ").find(code_[end]) == kNone)
      return;
    const std::string other = std::to_string(std::stoul(digits) + 1);
    add(at, end, "constant off by one", other, fmt::format("(@ ? {} : {})", other, digits));
  }
};

}  // namespace

std::string code_of(std::string_view text) {
  std::string code(text);
  for (size_t i = 0; i < code.size(); ++i) {
    const size_t begin = i;
    if (code.compare(i, 2, "//") == 0) {
      i = std::min(code.find('\n', i), code.size());
    } else if (code.compare(i, 2, "/*") == 0) {
      i = std::min(code.find("*/", i), code.size() - 2) + 2;
    } else if (code[i] == '"') {
      for (++i; i < code.size() && code[i] != '"'; ++i) i += code[i] == '\\' ? 1 : 0;
      ++i;
    } else if (code[i] == '`') {  // a macro with its arguments, a directive with its line
      const size_t open = code.find_first_of("(\n", i);
      i = code[open] == '(' ? partner(code, open) + 1 : open;
    } else {
      continue;
    }
    for (size_t k = begin; k < i; ++k) code[k] = code[k] == '\n' ? '\n' : ' ';
    --i;
  }
  return code;
}

std::vector<Place> find_places(const std::string& text, Language language) {
  if (language == Language::kSystemVerilog) {
    SvFinder f(text);
    f.run();
    return std::move(f.places);
  }
  CppFinder f(text);
  f.run();
  return std::move(f.places);
}

std::string apply(const std::string& text, std::vector<Numbered> places, Language language) {
  std::ranges::sort(
      places, [](const Numbered& a, const Numbered& b) { return a.place.from > b.place.from; });
  std::string out = text;
  for (const auto& [place, number] : places) {
    const std::string is = language == Language::kSystemVerilog
                               ? fmt::format("(rnic_mutant_pkg::selected == 32'd{})", number)
                               : fmt::format("rnic::mutants::is({})", number);
    std::string now;
    for (const char c : place.switched) {
      if (c == '@')
        now += is;
      else
        now += c;
    }
    out.replace(place.from, place.to - place.from, now);
  }
  return out;
}

uint32_t line_of(const std::string& text, size_t at) {
  return static_cast<uint32_t>(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace rnic::mutants
