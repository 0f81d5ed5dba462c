// Checks and writes the files of a command. See files.hpp.
#include "output/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "output/name_lock.hpp"
#include "settings/errors.hpp"

namespace rnic::app {

namespace fs = std::filesystem;

namespace {

/// The file that opening `path` creates: the target of a link, even if it does not exist.
fs::path made_by(const std::string& path) {
  constexpr unsigned kMostLinks = 40;  // the kernel's limit
  std::error_code none;
  fs::path p = fs::absolute(path, none);
  for (unsigned i = 0; i < kMostLinks && !fs::exists(p, none) && fs::is_symlink(p, none); ++i)
    p = p.parent_path() / fs::read_symlink(p, none);
  return p;
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code none;
  if (fs::exists(a, none) && fs::exists(b, none))
    return fs::equivalent(a, b, none) && !fs::is_other(a, none);  // /dev/null may be named twice
  return fs::weakly_canonical(made_by(a), none) == fs::weakly_canonical(made_by(b), none);
}

/// True if `path` names an open file descriptor of this process. A pipe that is open in this way
/// already has a reader.
bool is_open_already(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/self/fd/");
}

}  // namespace

void Files::check() const {
  for (size_t i = 0; i < written.size(); ++i) {
    const auto refuse = [&](const Named& other, const char* does) {
      if (is_same_file(written[i].path, other.path))
        throw Usage(fmt::format("{} {}: {} {} the same file", written[i].option, written[i].path,
                                other.option, does));
    };
    for (const Named& r : read) refuse(r, "reads");
    for (size_t k = 0; k < i; ++k) refuse(written[k], "writes");
  }
}

void check_writable(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code none;
  const fs::path made = made_by(path);
  const bool was_there = fs::exists(made, none);
  // Opening a pipe without a reader blocks.
  if (was_there && fs::is_other(made, none) && !fs::is_character_file(made, none) &&
      !is_open_already(path))
    throw Usage(fmt::format("{} {}: not a regular file", option, path));
  const auto need = [&](bool can) {
    if (!can)
      throw Usage(fmt::format("{} {}: cannot be written ({})", option, path, std::strerror(errno)));
  };
  const auto open_and_close = [&] {
    std::FILE* f = std::fopen(path.c_str(), "a");
    need(f != nullptr);
    std::fclose(f);
  };
  // Checked before the name is locked: if two runs name a file that cannot be created, both report
  // that it cannot be written.
  if (was_there) {
    open_and_close();
  } else {
    need(access(made.parent_path().c_str(), W_OK | X_OK) == 0);
  }
  if (!is_open_already(path) && !fs::is_other(made, none) && !hold_name(made))
    throw Missing(fmt::format("{} {}: is being written by another run", option, path));
  if (was_there) return;
  open_and_close();
  fs::remove(made, none);
}

void check_room(const std::string& option, const std::string& path) {
  constexpr uint64_t kLeast = 1 << 20;
  std::error_code none;
  const fs::space_info space = fs::space(fs::absolute(path, none).parent_path(), none);
  if (!none && space.capacity != 0 && space.available < kLeast)
    throw Missing(
        fmt::format("{} {}: the disk is full ({} bytes are left)", option, path, space.available));
}

std::string write_files(int status, const std::function<void()>& write) {
  try {
    write();
  } catch (const Missing& e) {
    if (status == 0) throw;
    return fmt::format("{}\n", e.what());
  }
  return "";
}

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  // Writes a temporary file in the same folder and renames it. The old file stays until the new one
  // is whole, and no reader sees a half-written file.
  std::error_code none, error;
  const fs::path target = fs::weakly_canonical(made_by(path), none),
                 beside = target.parent_path() /
                          fmt::format(".{}.{}", target.filename().string(), getpid());
  const bool was_there = fs::exists(target, none);
  const bool may_replace =
      !is_open_already(path) && (!was_there || fs::is_regular_file(target, none));
  std::FILE* f = may_replace ? std::fopen(beside.c_str(), "wx") : nullptr;
  // If f is null, `path` is a device, a pipe or a file descriptor, or its folder accepts no new
  // file. Then write into `path` itself.
  const bool replaces = f != nullptr;
  if (!replaces) f = std::fopen(path.c_str(), "w");
  if (f == nullptr)
    throw Missing(fmt::format("{}: cannot be written ({})", path, std::strerror(errno)));
  const bool is_written = std::fwrite(text.data(), 1, text.size(), f) == text.size();
  const bool is_whole = std::fclose(f) == 0 && is_written;
  if (is_whole && !replaces) return;
  if (is_whole) {
    if (was_there) fs::permissions(beside, fs::status(target, none).permissions(), none);
    fs::rename(beside, target, error);
    if (!error) return;
  }
  if (replaces) fs::remove(beside, none);
  throw Missing(fmt::format("{}: cannot be written to its end (is the disk full?)", path));
}

}  // namespace rnic::app
