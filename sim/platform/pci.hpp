// The PciDevice interface with the names that it needs in scope: include this file, not
// rnic/pci_device.hpp.
#pragma once

#include "base/result.hpp"

namespace rnic {
using base::Result;
}

#include "rnic/pci_device.hpp"
