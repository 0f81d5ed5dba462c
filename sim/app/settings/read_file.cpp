// Reads a file whole. See read_file.hpp.
#include "settings/read_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "settings/errors.hpp"

namespace rnic::app {

std::vector<uint8_t> read_file(const std::string& path) {
  // Opening a pipe without a writer blocks, and some devices have no end.
  if (std::error_code none; std::filesystem::is_other(path, none))
    throw Usage(fmt::format("{}: not a regular file; copy what it gives to one", path));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"),
                                                           std::fclose);
  if (!in) throw Usage(fmt::format("{}: cannot be read ({})", path, std::strerror(errno)));
  std::vector<uint8_t> all;
  std::array<uint8_t, 65536> some;
  while (const size_t n = std::fread(some.data(), 1, some.size(), in.get()))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  if (std::ferror(in.get()) != 0)
    throw Usage(fmt::format("{}: cannot be read ({})", path, std::strerror(errno)));
  return all;
}

}  // namespace rnic::app
