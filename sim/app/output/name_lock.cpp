// Held names. See name_lock.hpp.
//
// What holds a name is a socket that is bound to it in Linux' abstract name space. A lock on the file itself would be gone when the
// library that writes waveforms removes the file and makes a new one, and a file made for the lock alone would be left behind by a run
// that is killed.
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

constexpr size_t kMostHeld =
    400;  // each is an open file; of more children of `regress` the first ones stand for all
constexpr size_t kTail = 60;  // of the path is said for those who look (ss -x)

}  // namespace

bool hold_name(const std::filesystem::path& file) {
  static std::set<std::string> held;
  std::error_code none;
  // Absolute first: what begins with a name that is not there yet would stay as it is.
  const std::string path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(file, none), none).string();
  if (held.contains(path) || held.size() >= kMostHeld) return true;
  const std::string name = fmt::format("rnic-sim {:016x} {}", std::hash<std::string>()(path),
                                       path.substr(path.size() - std::min(path.size(), kTail)));
  sockaddr_un address{};  // its path begins with a zero: no file
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;  // nobody is kept from working where there are no sockets
  if (bind(fd, static_cast<const sockaddr*>(static_cast<const void*>(&address)), length) == 0) {
    held.insert(path);
    return true;
  }
  const bool is_taken = errno == EADDRINUSE;
  close(fd);
  return !is_taken;
}

}  // namespace rnic::app
