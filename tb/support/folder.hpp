// A folder for the files of one test. Each folder has a unique name, because tests run in parallel,
// also tests of two trees. The destructor removes it unless the test has failed.
//
//   const tb::Folder folder;
//   std::ofstream(folder / "wrong.json") << "{";
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace rnic::tb {

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "rnic_XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw std::filesystem::filesystem_error("no folder for a test", name,
                                              {errno, std::generic_category()});
    path_ = name;
  }
  ~Folder() {
    std::error_code none;
    if (testing::Test::HasFailure()) {
      std::fprintf(stderr, "files: %s\n", path_.c_str());
    } else {
      std::filesystem::remove_all(path_, none);
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace rnic::tb
