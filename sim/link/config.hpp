// Settings of the link and of the transport on it. They are a part of PlatformConfig
// (platform/config.hpp); platform/config.cpp has their names, bounds and meanings.
#pragma once

#include <cstdint>

namespace rnic::sim {

struct LinkConfig {
  double link_gbps = 100;
  uint64_t link_delay_ns = 100;
  uint64_t mtu = 1500;
  uint64_t link_tx_queue_bytes = 32768;
  uint64_t llp_window_bytes = 262144;
  uint64_t llp_narrow_connections = 0;
  uint64_t llp_timeout_us = 1000;
};

}  // namespace rnic::sim
