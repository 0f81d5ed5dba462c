// A call that cannot be executed returns an error by value, at once and without side effects.
//
//   Result<Cq> create_cq(uint32_t depth) {
//     if (depth > kMax) return fail(Errc::kInvalidArgument, "cq: depth {} above {}", depth, kMax);
//     ...
//   }
//   if (auto cq = create_cq(n); !cq) report(cq.error().what);
//
// The only file that names the underlying library, tl::expected.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rnic::base {

enum class Errc : uint8_t {
  kInvalidArgument,  // the argument is never valid (valid in another state: kBadState)
  kNoMemory,         // no table entry, identifier or host memory left (a ring that will drain:
                     // kQueueFull)
  kQueueFull,        // a work queue is full now; retry after polling
  kBadState,         // the object's state does not allow this call
  kNotFound,         // no object of this number or name
  kAlreadyExists,    // an object with this number or name exists
  kBusy,             // still used by another object, which must be destroyed first
  kNotSupported,     // unsupported by this device or platform, for any argument
  kPermission,       // not permitted for this user or with these rights
  kTimedOut,         // no response in time; the operation may still have happened
  kConnectionLost,   // the peer or the transport is gone
  kRefused,          // the peer refused
  kDeviceError,      // the device reported an error or does not respond: it must be reset
  kProtocol,         // the received bytes violate the protocol
};

constexpr std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
      return "invalid argument";
    case Errc::kNoMemory:
      return "no memory";
    case Errc::kQueueFull:
      return "queue full";
    case Errc::kBadState:
      return "bad state";
    case Errc::kNotFound:
      return "not found";
    case Errc::kAlreadyExists:
      return "already exists";
    case Errc::kBusy:
      return "busy";
    case Errc::kNotSupported:
      return "not supported";
    case Errc::kPermission:
      return "permission";
    case Errc::kTimedOut:
      return "timed out";
    case Errc::kConnectionLost:
      return "connection lost";
    case Errc::kRefused:
      return "refused";
    case Errc::kDeviceError:
      return "device error";
    case Errc::kProtocol:
      return "protocol";
  }
  return "unknown";
}

/// The errno that verbs would return.
constexpr int to_errno(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
      return EINVAL;
    case Errc::kNoMemory:
      return ENOMEM;
    case Errc::kQueueFull:
      return ENOMEM;
    case Errc::kBadState:
      return EINVAL;
    case Errc::kNotFound:
      return ENOENT;
    case Errc::kAlreadyExists:
      return EEXIST;
    case Errc::kBusy:
      return EBUSY;
    case Errc::kNotSupported:
      return EOPNOTSUPP;
    case Errc::kPermission:
      return EACCES;
    case Errc::kTimedOut:
      return ETIMEDOUT;
    case Errc::kConnectionLost:
      return ECONNRESET;
    case Errc::kRefused:
      return ECONNREFUSED;
    case Errc::kDeviceError:
      return EIO;
    case Errc::kProtocol:
      return EPROTO;
  }
  return EIO;
}

struct Error {
  Errc code;
  std::string what;  // names the object and the values
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Errc code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

}  // namespace rnic::base
