// Locks of file names. See name_lock.hpp.
//
// A socket bound to the name in Linux's abstract name space holds the name.
// - A lock on the file itself would be lost: the library that writes waveforms removes the file and
//   creates a new one.
// - A lock file would be left over by a run that is killed.
#include "output/name_lock.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <set>
#include <string>

namespace rnic::app {
namespace {

// A held name is an open socket, and a process may open only so many files. After kMostHeld names,
// hold_name() returns true without a lock, as with many children of `regress`.
constexpr size_t kMostHeld = 400;
constexpr size_t kTail = 60;  // last characters of the path, shown by `ss -x`

}  // namespace

bool hold_name(const std::filesystem::path& file) {
  static std::set<std::string> held;
  std::error_code none;
  // Make it absolute first: weakly_canonical() returns a relative path if its first part does not
  // exist.
  const std::string path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(file, none), none).string();
  if (held.contains(path) || held.size() >= kMostHeld) return true;
  const std::string name = fmt::format("rnic-sim {:016x} {}", std::hash<std::string>()(path),
                                       path.substr(path.size() - std::min(path.size(), kTail)));
  sockaddr_un address{};  // a path with a leading zero: abstract, no file
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;  // without sockets, work without locks
  if (bind(fd, static_cast<const sockaddr*>(static_cast<const void*>(&address)), length) == 0) {
    held.insert(path);
    return true;
  }
  const bool is_taken = errno == EADDRINUSE;
  close(fd);
  return !is_taken;
}

}  // namespace rnic::app
