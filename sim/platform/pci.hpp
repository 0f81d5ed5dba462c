// What the platform gives to the driver, with the names it needs in scope: include this, not
// rnic/pci_device.hpp.
#pragma once

#include "base/result.hpp"

namespace rnic {
using base::Result;
}

#include "rnic/pci_device.hpp"
