// A device made of the RTL: beats on one side, items on the other, one clock.
//
//   auto dev = make_rtl_device({.build = RtlBuild::kMinimum, .name = "server"});
//   dev->attach(env);
#pragma once

#include <csignal>
#include <memory>
#include <string>

#include "backend/device.hpp"
#include "backend/rtl_builds.hpp"
#include "backend/rtl_pins.hpp"

namespace rnic::sim {

class Observer;  // backend/observer.hpp

struct WaveWindow {  ///< times in simulated picoseconds
  std::string file;  ///< empty: no waveform is written
  uint64_t from_ps = 0, to_ps = UINT64_MAX;
  std::string unit;  ///< only this unit of the top; empty: all
};

struct RtlOptions {
  RtlBuild build = RtlBuild::kDefault;
  Stalls stalls;  ///< of the build `stall`
  std::string name = "rtl";
  uint64_t reset_seed = 0;  ///< 0: registers start at zero; else from random state
  WaveWindow wave;
  const volatile std::sig_atomic_t* end_asked = nullptr;  ///< nonzero: the simulation pauses
  Observer* observer = nullptr;  ///< receives all events of the RTL; outlives the device
};

/// False in a build without the RTL (rtl_absent.cpp); then make_rtl_device throws.
bool is_rtl_built();
std::unique_ptr<Device> make_rtl_device(const RtlOptions& options);

}  // namespace rnic::sim
