// Imports the names of base/result.hpp into namespace rnic, for the driver's API.
//
//   Result<Cq> cq = context.create_cq(64);
//   if (!cq) return error_of(cq);
#pragma once

#include "base/result.hpp"

namespace rnic {
using base::Errc;
using base::Error;
using base::fail;
using base::Result;

/// Passes the error of another call on: `if (!pd) return error_of(pd);`
template <class T>
[[nodiscard]] tl::unexpected<Error> error_of(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}
}  // namespace rnic
