// conformance: prints docs/gen/conformance.md: each MUST and SHOULD of requirements.csv with the
// tests that show it.
//
//   conformance docs/spec .            reads requirements.csv, testplan.yaml, and the names of
//                                      tests from the sources below ./tb
//   conformance --check docs/spec .    compares instead; exit 1 if the page differs
//
// Refused with file, line and reason, exit 2:
//   - a requirement without an entry in the plan, unless its whole document comes later;
//   - an entry without a requirement, or of a document that comes later;
//   - a test that does not exist.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Requirement {
  std::string id, document, section, level, text;
  size_t line = 0;
};
/// An entry of testplan.yaml. kind: one of kKinds, which the page explains (page() below).
struct Entry {
  std::string kind, reason;
  std::vector<std::string> tests;
  int line = 0;
};
constexpr std::array<const char*, 4> kKinds = {"tests", "later", "none", "open"};

[[noreturn]] void wrong(const fs::path& file, size_t line, const std::string& what) {
  throw std::runtime_error(fmt::format("{}:{}: {}", file.string(), line, what));
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One line of a CSV. A field with a comma or a quote stands in quotes; a quote in it is doubled.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      out.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      out.emplace_back();
    else
      out.back() += line[i];
  }
  return out;
}

std::vector<Requirement> read_requirements(const fs::path& file) {
  std::vector<Requirement> all;
  std::istringstream in(contents(file));
  size_t n = 0;
  for (std::string line; std::getline(in, line);) {
    if (++n == 1) continue;  // the header
    const auto f = fields(line);
    if (f.size() != 8) wrong(file, n, fmt::format("{} fields, not 8", f.size()));
    if (f[3] == "MUST" || f[3] == "SHOULD") all.push_back({f[0], f[1], f[2], f[3], f[6], n});
  }
  return all;
}

/// The word at `at`, or empty. Blanks before it are skipped; `at` moves behind it and the blanks
/// after it.
std::string word_at(const std::string& text, size_t& at) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\n'; };
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  while (at < text.size() && is_blank(text[at])) ++at;
  const size_t begin = at;
  while (at < text.size() && is_word(text[at])) ++at;
  const std::string word = text.substr(begin, at - begin);
  while (at < text.size() && is_blank(text[at])) ++at;
  return word;
}

/// Suite.Name of every test below `folder`: TEST, TEST_F, TEST_P, TYPED_TEST.
std::set<std::string> tests_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& f : fs::recursive_directory_iterator(folder)) {
    if (f.path().extension() != ".cpp" && f.path().extension() != ".hpp") continue;
    const std::string text = contents(f.path());
    for (size_t at = text.find("TEST"); at != std::string::npos; at = text.find("TEST", at)) {
      at += 4;
      if (text.compare(at, 2, "_F") == 0 || text.compare(at, 2, "_P") == 0) at += 2;
      if (at >= text.size() || text[at] != '(') continue;
      const std::string suite = word_at(text, ++at);
      if (suite.empty() || at >= text.size() || text[at] != ',') continue;
      const std::string name = word_at(text, ++at);
      if (!name.empty() && at < text.size() && text[at] == ')') names.insert(suite + "." + name);
    }
  }
  return names;
}

struct Plan {
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> later;  // by document: why it is not planned yet
};

Plan read_plan(const fs::path& file, const std::set<std::string>& tests) {
  Plan plan;
  YAML::Node root;
  try {
    root = YAML::LoadFile(file.string());
  } catch (const YAML::Exception& e) {
    wrong(file, static_cast<size_t>(e.mark.line + 1), e.msg);
  }
  for (const auto& part : root) {
    const auto name = part.first.Scalar();
    if (name != "later" && name != "requirements")
      wrong(file, static_cast<size_t>(part.first.Mark().line + 1), "unknown key '" + name + "'");
  }
  for (const auto& d : root["later"]) plan.later[d.first.Scalar()] = d.second.Scalar();
  for (const auto& r : root["requirements"]) {
    const auto line = static_cast<size_t>(r.first.Mark().line + 1);
    const std::string id = r.first.Scalar();
    if (plan.entries.contains(id)) wrong(file, line, "duplicate name '" + id + "'");
    Entry& e = plan.entries[id];
    e.line = static_cast<int>(line);
    if (!r.second.IsMap()) wrong(file, line, id + ": not a map");
    for (const auto& kv : r.second) {
      const std::string key = kv.first.Scalar();
      if (key == "note") {
        e.reason = kv.second.Scalar();
        continue;
      }
      if (std::ranges::find(kKinds, key) == kKinds.end() || !e.kind.empty())
        wrong(file, line,
              fmt::format("{}: '{}'; it has one of {}, and a note", id, key,
                          fmt::join(kKinds, ", ")));
      e.kind = key;
      if (key != "tests") {
        e.reason = kv.second.Scalar();
        continue;
      }
      for (const auto& t : kv.second) {
        if (!tests.contains(t.Scalar()))
          wrong(file, line, fmt::format("{}: there is no test {}", id, t.Scalar()));
        e.tests.push_back(t.Scalar());
      }
    }
    if (e.kind.empty() || (e.kind == "tests" ? e.tests.empty() : e.reason.empty()))
      wrong(file, line, id + ": says nothing");
  }
  return plan;
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string shown_by(const Entry& e) {
  if (e.kind != "tests")
    return fmt::format("*{}*: {}", e.kind == "none" ? "no test" : e.kind, cell(e.reason));
  std::string out;
  for (const auto& t : e.tests) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", t);
  return e.reason.empty() ? out : out + ": " + cell(e.reason);
}

std::string page(const fs::path& spec, const fs::path& root) {
  const fs::path csv = spec / "requirements.csv", yaml = spec / "testplan.yaml";
  const auto all = read_requirements(csv);
  const Plan plan = read_plan(yaml, tests_of(root / "tb"));
  std::vector<std::string> documents;
  std::map<std::string, std::map<std::string, size_t>> counts;
  std::set<std::string> known;
  for (const auto& r : all) {
    known.insert(r.id);
    if (std::ranges::find(documents, r.document) == documents.end())
      documents.push_back(r.document);
    const auto it = plan.entries.find(r.id);
    // Exactly one of the two: the requirement has an entry, or its document comes later.
    if ((it == plan.entries.end()) != plan.later.contains(r.document)) {
      wrong(csv, r.line,
            fmt::format("{} {} in {}", r.id,
                        it == plan.entries.end() ? "is missing"
                                                 : "is of a document that comes later, and stands",
                        yaml.string()));
    }
    ++counts[r.document][it == plan.entries.end() ? "later" : it->second.kind];
  }
  for (const auto& [id, e] : plan.entries) {
    if (!known.contains(id))
      wrong(yaml, static_cast<size_t>(e.line), id + " is no MUST or SHOULD of " + csv.string());
  }
  std::string out =
      "<!-- Printed by conformance from docs/spec/requirements.csv and testplan.yaml; do not edit. "
      "-->\n# Conformance\n\n"
      "Each MUST and SHOULD of `docs/spec/requirements.csv` and the tests that show it. *later*:\n"
      "its subject is not built yet. *no test*: the requirement does not apply to the device, or\n"
      "holds by construction. *open*: it applies, and no test shows it.\n\n"
      "| document | MUST and SHOULD | with tests | no test | later | open "
      "|\n|---|---|---|---|---|---|\n";
  for (const auto& d : documents) {
    auto& c = counts[d];
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", d,
                       c["tests"] + c["none"] + c["later"] + c["open"], c["tests"], c["none"],
                       c["later"], c["open"]);
  }
  for (const auto& d : documents) {
    out += fmt::format("\n## {}\n\n", d);
    if (const auto it = plan.later.find(d); it != plan.later.end()) {
      out += it->second + "\n";
      continue;
    }
    out += "| id | level | requirement | shown by |\n|---|---|---|---|\n";
    for (const auto& r : all) {
      if (r.document == d)
        out += fmt::format("| {} | {} | {} | {} |\n", r.id, r.level, cell(r.text),
                           shown_by(plan.entries.at(r.id)));
    }
  }
  return out;
}

int run(bool check, const fs::path& spec, const fs::path& root) {
  const fs::path file = root / "docs/gen/conformance.md";
  const std::string text = page(spec, root);
  if (fs::exists(file) && contents(file) == text) return 0;
  if (check) {
    std::cerr << fmt::format("{}: is not what conformance prints from {}; run conformance {} {}\n",
                             file.string(), spec.string(), spec.string(), root.string());
    return 1;
  }
  std::ofstream(file, std::ios::binary) << text;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string(argv[1]) == "--check";
  if (argc != (check ? 4 : 3)) {
    std::cerr << "usage: conformance [--check] SPECDIR ROOT\n";
    return 2;
  }
  try {
    return run(check, argv[argc - 2], argv[argc - 1]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
