// Reads JSON. See json_file.hpp.
#include "settings/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#include "settings/errors.hpp"
#include "settings/read_file.hpp"

namespace rnic::app {
namespace {

/// Iterates over the text for the parser; `taken` counts the bytes that the parser has read.
class Reader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = uint8_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const uint8_t*;
  using reference = const uint8_t&;

  Reader(const uint8_t* at, size_t& taken) : at_(at), taken_(&taken) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  Reader operator++(int) {
    const Reader before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Reader& r) const { return at_ == r.at_; }
  bool operator!=(const Reader& r) const { return at_ != r.at_; }

 private:
  const uint8_t* at_;
  size_t* taken_;
};

/// Our words for the parser's messages. The first entry that a message contains applies.
constexpr std::array<std::array<std::string_view, 2>, 12> kReasons = {{
    {"unexpected end of input", "the file ends too early"},
    {"missing closing quote", "a text in quotes has no end"},
    {"control character", "a line ends, or another control character stands, in a text in quotes"},
    {"ill-formed UTF-8", "a byte is no UTF-8"},
    {"forbidden character after backslash", "no such character is written with a backslash"},
    {"'\\u' must be", "four hexadecimal digits must follow \\u"},
    {"surrogate", "one half of a surrogate pair stands alone"},
    {"invalid number", "a digit is wanted"},
    {"number overflow", "the number is too large"},
    {"; expected ':'", "a colon is wanted"},
    {"; expected string literal", "a name in quotes is wanted"},
    {"; expected end of input", "there is text after the end"},
}};

std::string reason_of(std::string_view message) {
  for (const auto& [theirs, ours] : kReasons) {
    if (message.find(theirs) != std::string_view::npos) return std::string(ours);
  }
  for (const char bracket : {'}', ']'}) {
    if (message.ends_with(fmt::format("; expected '{}'", bracket)))
      return fmt::format("a comma or {} is wanted", bracket);
  }
  return "a value is wanted: a number, a text in quotes, true, false, null, [ or {";
}

/// The line of a byte offset, counted from 1. Offsets must not decrease between calls.
class Lines {
 public:
  explicit Lines(std::span<const uint8_t> text) : text_(text) {}
  size_t of(size_t at) {
    const size_t to = std::min(at, text_.size());
    const auto between = text_.subspan(counted_, to - counted_);
    line_ += static_cast<size_t>(std::ranges::count(between, '\n'));
    counted_ = to;
    return line_;
  }

 private:
  std::span<const uint8_t> text_;
  size_t counted_ = 0, line_ = 1;
};

/// Notes lines and refuses names that are said twice. Called for each part of the text, when the
/// parser has just read its byte `taken - 1`. A depth is the number of open objects and lists.
class LineNotes : public nlohmann::json_sax<nlohmann::json> {
 public:
  LineNotes(const std::string& path, std::span<const uint8_t> text, const size_t& taken,
            JsonLines& out)
      : path_(path), lines_(text), taken_(taken), out_(out) {}

  bool null() override { return begins(); }
  bool boolean(bool) override { return begins(); }
  bool number_integer(number_integer_t) override { return begins(); }
  bool number_unsigned(number_unsigned_t) override { return begins(); }
  bool number_float(number_float_t, const string_t&) override { return begins(); }
  bool string(string_t&) override { return begins(); }
  bool binary(binary_t&) override { return begins(); }
  bool start_object(size_t) override {
    keys_.emplace_back();
    return opens();
  }
  bool start_array(size_t) override { return opens(); }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& key) override {
    const size_t line = lines_.of(taken_ - 1);
    const auto [first, is_new] = keys_.back().try_emplace(key, line);
    if (!is_new)
      throw Usage(fmt::format("{}: line {}: {} is said twice, first in line {}", path_, line,
                              nlohmann::json(key).dump(), first->second));
    if (depth_ == kDepthOfKeys) {
      out_.key_lines[key] = line;
      outermost_ = key;
    }
    return true;
  }
  // The parser passes its exception by its base class; the caller catches the derived one.
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& e) override {
    if (const auto* wrong = dynamic_cast<const nlohmann::json::parse_error*>(&e)) throw *wrong;
    throw e;
  }

 private:
  // Of keys of the outermost object, and of elements of a list in it.
  static constexpr int kDepthOfKeys = 1, kDepthOfElements = 2;

  bool begins() {
    if (depth_ == kDepthOfElements) out_.element_lines[outermost_].push_back(lines_.of(taken_ - 1));
    return true;
  }
  bool opens() {
    begins();
    ++depth_;
    return true;
  }

  const std::string& path_;
  Lines lines_;
  const size_t& taken_;
  JsonLines& out_;
  int depth_ = 0;
  std::vector<std::map<std::string, size_t>> keys_;  // per open object, with lines
  std::string outermost_;                            // the current key of the outermost object
};

}  // namespace

// Two passes: nlohmann's parse with a callback takes quadratic time in the length of a list.
JsonLines read_json(const std::string& path, const std::string& wanted) {
  const std::vector<uint8_t> text = read_file(path);
  JsonLines l;
  size_t taken = 0;
  LineNotes notes(path, text, taken, l);
  const auto refuse = [&](size_t at, std::string_view why) {
    const std::span before = std::span(text).first(std::min(at, text.size()));
    const auto line = std::ranges::find(before.rbegin(), before.rend(), '\n');
    throw Usage(fmt::format("{}: not JSON: line {}, column {}: {}{}", path, Lines(text).of(at),
                            1 + (line - before.rbegin()), reason_of(why), wanted));
  };
  try {
    nlohmann::json::sax_parse(Reader(text.data(), taken), Reader(text.data() + text.size(), taken),
                              &notes);
    l.json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    refuse(std::max<size_t>(e.byte, 1) - 1, e.what());
  } catch (const nlohmann::json::exception& e) {  // a number that no type can hold
    refuse(taken - 1, e.what());
  }
  return l;
}

}  // namespace rnic::app
