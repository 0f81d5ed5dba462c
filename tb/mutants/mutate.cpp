// mutate: writes copies of sources with disabled faults; a run enables one by its number. One build
// has many faults.
//
//   mutate --seed 1 --draw 3 --places tb/mutants/places.txt --root . --out BUILD
//   rtl/mpa/mpa_tx_crc.sv ... model/cq/cq.cpp ...
//
//   BUILD/rtl/mpa_tx_crc.sv, BUILD/model/cq/cq.cpp ...   the copies
//   BUILD/rtl/rnic_mutant_pkg.sv                         the variable that selects an RTL fault
//   BUILD/faults.cpp                                     built_faults() of faults.hpp
//
//   mutate --awake 'MSN not advanced' --places tb/mutants/places.txt --root . --out BUILD
//
//   BUILD/rtl/ddp_rx_header.sv                           the file of one fault by hand, enabled
//
// By hand: places.txt. Drawn: from each file, --draw of the places that source.hpp finds, different
// kinds first. Fails if a text of places.txt is not in its file exactly once: `all` runs mutate, so
// an edit of the RTL that loses a fault fails the build, not only `tb/run.sh mutants`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/rng.hpp"
#include "source.hpp"

namespace {

using namespace rnic::mutants;  // NOLINT: a main, not a header
namespace fs = std::filesystem;

struct HandMade {
  std::string name, file{}, text{}, becomes{};
  unsigned line = 0;
};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && contents(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Records of four lines, each a key and the rest of its line; # starts a comment.
std::vector<HandMade> read_places(const fs::path& path) {
  std::vector<HandMade> all;
  std::istringstream in(contents(path));
  unsigned number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space),
                      rest = space == std::string::npos
                                 ? ""
                                 : line.substr(line.find_first_not_of(' ', space));
    if (key == "fault")
      all.push_back({.name = rest, .line = number});
    else if (all.empty())
      throw std::runtime_error(
          fmt::format("{}:{}: \"{}\" before the first fault", path.string(), number, key));
    else if (key == "file")
      all.back().file = rest;
    else if (key == "text")
      all.back().text = rest;
    else if (key == "becomes")
      all.back().becomes = rest;
    else
      throw std::runtime_error(
          fmt::format("{}:{}: no key \"{}\"; there are fault, file, text, becomes", path.string(),
                      number, key));
  }
  return all;
}

/// The part of the text between <<< and >>>, or all of it. Empty unless the source contains the
/// text exactly once.
std::optional<Place> place_of(const HandMade& h, const std::string& source, Language language) {
  std::string text = h.text;
  for (size_t at; (at = text.find("\\n")) != std::string::npos;) text.replace(at, 2, "\n");
  size_t from = 0, to = text.size();
  if (const size_t a = text.find("<<<"), b = text.find(">>>");
      a != std::string::npos && b != std::string::npos) {
    from = a;
    to = b - 3;
    text.erase(b, 3).erase(a, 3);
  }
  const size_t at = source.find(text);
  if (text.empty() || at == std::string::npos || source.find(text, at + 1) != std::string::npos)
    return std::nullopt;
  const std::string was = text.substr(from, to - from);
  Place p{at + from, at + to, "by hand", h.becomes, ""};
  if (was.ends_with(';')) {
    p.switched = language == Language::kCpp
                     ? fmt::format("{{ if (@) {{ {} }} else {{ {} }} }}", h.becomes, was)
                     : fmt::format("begin if (@) begin {} end else begin {} end end",
                                   h.becomes == ";" ? "" : h.becomes, was);
  } else {
    p.switched = fmt::format("(@ ? ({}) : ({}))", h.becomes, was);
  }
  return p;
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

bool overlap(const Place& a, const Place& b) { return a.from < b.to && b.from < a.to; }

class Mutate {
 public:
  Mutate(uint64_t seed, unsigned draw, fs::path root, fs::path out, fs::path places)
      : seed_(seed),
        draw_(draw),
        root_(std::move(root)),
        out_(std::move(out)),
        places_file_(std::move(places)),
        by_hand_(read_places(places_file_)) {}

  /// Writes the mutated copy of one source file.
  void file(const std::string& name) {
    seen_.insert(name);
    const bool is_rtl = name.ends_with(".sv");
    const Language language = is_rtl ? Language::kSystemVerilog : Language::kCpp;
    const std::string source = contents(root_ / name);
    std::vector<Numbered> chosen;
    for (const HandMade& h : by_hand_) {
      if (h.file != name) continue;
      if (const auto p = place_of(h, source, language))
        add(chosen, *p, name, source, h.name);
      else
        lost_ += fmt::format("\n  line {}: fault {}: {}", h.line, h.name, h.file);
    }
    for (const Place& p : drawn(name, find_places(source, language), chosen))
      add(chosen, p, name, source, "");
    std::string text = apply(source, chosen, language);
    if (!is_rtl) text = "#include \"mutants/faults.hpp\"\n" + text;
    write(out_ / (is_rtl ? "rtl/" + fs::path(name).filename().string() : name), text);
  }

  /// After all files: checks that each fault by hand has its place, then writes the package and
  /// faults.cpp.
  void finish() {
    for (const HandMade& h : by_hand_) {
      if (!seen_.contains(h.file))
        throw std::runtime_error(fmt::format("{}:{}: fault {}: {} is not among the files",
                                             places_file_.string(), h.line, h.name, h.file));
    }
    if (!lost_.empty())
      throw std::runtime_error(
          fmt::format("{}: the text of a fault must be in its file exactly once; not so:{}",
                      places_file_.string(), lost_));
    write(out_ / "rtl/rnic_mutant_pkg.sv",
          "// Printed by tb/mutants/mutate: which fault of the RTL is awake. Set from outside "
          "before the first cycle; 0: none.\n"
          "package rnic_mutant_pkg;\n  logic [31:0] selected /*verilator "
          "public_flat_rw*/;\nendpackage\n");
    write(out_ / "faults.cpp",
          fmt::format("// Printed by tb/mutants/mutate.\n#include \"mutants/faults.hpp\"\n\n"
                      "namespace rnic::mutants {{\n\nuint64_t built_seed() {{ return {}; }}\n\n"
                      "const std::vector<Fault>& built_faults() {{\n"
                      "  static const std::vector<Fault> all = {{\n{}  }};\n  return all;\n}}\n\n"
                      "}}  // namespace rnic::mutants\n",
                      seed_, table_));
  }
  uint32_t count() const { return number_; }

 private:
  /// Gives the place the next number and a row of the table. name: the file; hand: the fault's name
  /// in places.txt, empty if it is drawn.
  void add(std::vector<Numbered>& chosen, const Place& p, const std::string& name,
           const std::string& source, const std::string& hand) {
    for (const Numbered& n : chosen) {
      if (overlap(n.place, p))
        throw std::runtime_error(
            fmt::format("{}: fault {} overlaps another of {}", places_file_.string(), hand, name));
    }
    chosen.push_back({p, ++number_});
    table_ +=
        fmt::format("      {{{}, Layer::{}, {}, {}, {}, {}, {}, {}, {}}},\n", number_,
                    name.ends_with(".sv") ? "kRtl" : "kModel", hand.empty() ? "false" : "true",
                    quoted(hand), quoted(name), line_of(source, p.from), quoted(p.kind),
                    quoted(source.substr(p.from, p.to - p.from)), quoted(p.after));
  }

  /// Draws up to draw_ of all places of a file, different kinds first, away from those by hand.
  std::vector<Place> drawn(const std::string& name, std::vector<Place> all,
                           const std::vector<Numbered>& chosen) const {
    rnic::base::Rng rng = rnic::base::Rng(seed_).fork(name);
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng.below(i)]);
    std::vector<Place> some;
    std::set<std::string> kinds;
    for (const bool any_kind : {false, true}) {
      for (const Place& p : all) {
        const bool free =
            std::ranges::none_of(some, [&](const Place& q) { return overlap(p, q); }) &&
            std::ranges::none_of(chosen, [&](const Numbered& n) { return overlap(p, n.place); });
        if (some.size() >= draw_ || !free || (!any_kind && kinds.contains(p.kind))) continue;
        some.push_back(p);
        kinds.insert(p.kind);
      }
    }
    return some;
  }

  uint64_t seed_;
  unsigned draw_;
  fs::path root_, out_, places_file_;
  std::vector<HandMade> by_hand_;
  std::set<std::string> seen_;
  uint32_t number_ = 0;
  std::string table_, lost_;
};

/// Writes the file of one fault by hand, with the fault permanently enabled (no switch).
void write_awake(const std::string& name, const fs::path& places, const fs::path& root,
                 const fs::path& out) {
  for (const HandMade& h : read_places(places)) {
    if (h.name != name) continue;
    std::string source = contents(root / h.file);
    const auto p = place_of(h, source, Language::kSystemVerilog);
    if (!h.file.ends_with(".sv") || !p)
      throw std::runtime_error(
          fmt::format("{}:{}: fault {}: its text is not in its RTL file exactly once",
                      places.string(), h.line, name));
    write(out / "rtl" / fs::path(h.file).filename(),
          source.replace(p->from, p->to - p->from, h.becomes));
    return;
  }
  throw std::runtime_error(fmt::format("{}: no fault {}", places.string(), name));
}

int run(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options = {{"--seed", "1"}, {"--draw", "3"}, {"--places", ""},
                                                {"--root", "."}, {"--out", ""},   {"--awake", ""}};
  std::vector<std::string> files;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--"))
      files.push_back(words[i]);
    else if (options.contains(words[i]) && i + 1 < words.size())
      options[words[i]] = words[i + 1], ++i;
    else
      throw std::runtime_error(fmt::format(
          "no option {}; mutate --seed N --draw N --places FILE --root DIR --out DIR FILE...",
          words[i]));
  }
  if (!options["--awake"].empty() && !options["--out"].empty()) {
    write_awake(options["--awake"], options["--places"], options["--root"], options["--out"]);
    return 0;
  }
  if (options["--out"].empty() || files.empty())
    throw std::runtime_error("--out and files are needed");
  std::ranges::sort(files);  // numbers depend only on this order
  Mutate m(std::stoull(options["--seed"]), static_cast<unsigned>(std::stoul(options["--draw"])),
           options["--root"], options["--out"], options["--places"]);
  for (const auto& f : files) m.file(f);
  m.finish();
  fmt::print("{} faults in {} files\n", m.count(), files.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "mutate: " << e.what() << '\n';
    return 2;
  }
}
