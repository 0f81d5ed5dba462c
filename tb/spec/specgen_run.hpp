// The fixture of specgen's tests: runs it on a temporary folder, with the sample or with files that
// a test writes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rnic::tb {

namespace fs = std::filesystem;

/// The exit status and the output of a run.
struct Outcome {
  int status;
  std::string text;
};

inline Outcome run_specgen(const std::string& arguments) {
  FILE* pipe = popen((std::string(RNIC_SPECGEN) + " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
    text += buffer.data();
  return {WEXITSTATUS(pclose(pipe)), text};
}

inline std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

class SpecgenTest : public testing::Test {
 protected:
  SpecgenTest() : dir_(fs::temp_directory_path() / ("specgen_test." + std::to_string(getpid()))) {
    fs::remove_all(dir_);
    fs::create_directories(dir_ / "spec");
    sample_ = read_file("tb/spec/samples/iwarp.yaml");
  }
  ~SpecgenTest() override { fs::remove_all(dir_); }

  // Writes spec/iwarp.yaml.
  void write(const std::string& text) const { std::ofstream(dir_ / "spec" / "iwarp.yaml") << text; }
  // Runs specgen on the temporary folder `spec`; its files go to `out`.
  [[nodiscard]] Outcome print() const {
    return run_specgen((dir_ / "spec").string() + " " + (dir_ / "out").string());
  }

  /// Expects that the sample with `from` replaced by `to` is refused for this reason. The error
  /// must name the line of `to`, or the line that is `lines_before` in front of it.
  void refused(const std::string& from, const std::string& to, const std::string& reason,
               int lines_before = 0) const {
    SCOPED_TRACE(from + " -> " + to);
    const auto at = sample_.find(from);
    ASSERT_NE(at, std::string::npos);
    auto text = sample_;
    text.replace(at, from.size(), to);
    write(text);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') -
        lines_before;
    const auto got = print();
    EXPECT_EQ(got.status, 2);
    EXPECT_THAT(got.text, testing::StartsWith((dir_ / "spec" / "iwarp.yaml").string() + ":" +
                                              std::to_string(line) + ": "));
    EXPECT_THAT(got.text, testing::HasSubstr(reason));
  }

  fs::path dir_;
  std::string sample_;
};

}  // namespace rnic::tb
