// specgen: prints the facts of docs/spec/*.yaml into the places that need them.
//
//   specgen docs/spec .            writes rtl/gen, model/gen, docs/gen, sim/backend/gen below "."
//   specgen --check docs/spec .    compares instead; exit 1 names the first file that differs
//
// Anything wrong in the description is "file:line: reason" and exit 2. It prints types, constants,
// conversions, names, tables and the wires of the top, never behaviour. Read (read.cpp), check
// (check.cpp, check_top.cpp, words.cpp), print (print_*.cpp).
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "text.hpp"

namespace {

using namespace specgen;  // NOLINT: a main, not a header

std::vector<std::pair<std::string, std::string>> print_all(const Spec& spec) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"rtl/gen/iwarp_pkg.sv", print_iwarp_pkg(spec)},
      {"rtl/gen/regs_pkg.sv", print_regs_pkg(spec)},
      {"rtl/gen/rnic_pkg.sv", print_rnic_pkg(spec)},
      {"rtl/gen/crc32c_pkg.sv", print_crc32c_pkg()},
      {"rtl/gen/crc32c_beat.sv", print_crc32c_beat()},
      {"rtl/gen/crc32c_advance.sv", print_crc32c_advance()},
      {"sim/backend/gen/commit_taps.hpp", print_commit_taps(spec)},
      {"sim/backend/gen/stream_taps.hpp", print_stream_taps(spec)},
  };
  if (!spec.top.units.empty()) out.emplace_back("rtl/gen/rnic.sv", print_top(spec));
  for (const auto& unit : spec_units()) {
    out.emplace_back("model/gen/" + (unit == "registers" ? std::string("regs") : unit) + ".hpp",
                     print_cpp(spec, unit));
    out.emplace_back("docs/gen/" + (unit == "iwarp" ? std::string("wire-formats") : unit) + ".md",
                     print_markdown(spec, unit));
  }
  return out;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int run(bool check, const std::string& spec_dir, const std::filesystem::path& root) {
  Spec spec = read_spec(spec_dir);
  check_spec(spec);
  for (const auto& [name, text] : print_all(spec)) {
    const auto path = root / name;
    const bool same = std::filesystem::exists(path) && contents(path) == text;
    if (same) continue;
    if (check) {
      std::cerr << path.string() << ": is not what specgen prints from " << spec_dir
                << "; run specgen " << spec_dir << ' ' << root.string() << '\n';
      return 1;
    }
    std::filesystem::create_directories(path.parent_path());
    const auto fresh =
        path.string() +
        ".new";  // renamed at the end: a build that runs meanwhile never reads half a file
    std::ofstream(fresh, std::ios::binary) << text;
    std::filesystem::rename(fresh, path);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string(argv[1]) == "--check";
  if (argc != (check ? 4 : 3)) {
    std::cerr << "usage: specgen [--check] SPECDIR OUTROOT\n";
    return 2;
  }
  try {
    return run(check, argv[argc - 2], argv[argc - 1]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
