// The faults, all disabled; a run enables one by its number. mutate generates the list of the
// faults of RTL and model, with the sources that contain them (faults.cpp in the build folder).
// trace.hpp creates the faults of the trace, that is, of the RTL's commits and outputs.
//
//   for (const Fault& f : built_faults()) if (f.layer == Layer::kRtl) ...
//   chosen().rtl = f.number;                         before a device is created; 0: no fault
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rnic::mutants {

enum class Layer : uint8_t { kRtl, kModel, kTrace };
inline constexpr const char* kLayerNames[] = {"rtl", "model", "trace"};

struct Fault {
  uint32_t number = 0;
  Layer layer = Layer::kRtl;
  bool by_hand = false;  // from places.txt; otherwise drawn
  std::string name{};    // by hand: the fault's description; drawn: empty
  std::string file{};
  uint32_t line = 0;
  std::string kind{}, before{}, after{};
};

/// The faults of RTL and model, in the order of their numbers; and the seed that drew them.
const std::vector<Fault>& built_faults();
uint64_t built_seed();

/// A fault of the trace: the nth (from 1) commit of a kind, or item of an output of the device,
/// differs from the RTL.
struct TraceFault {
  enum class Action : uint8_t {
    kDrop,
    kDouble,
    kLater,
    kBit
  };  // kLater: moved after the next commit of its kind
  std::string_view what;
  Action action = Action::kDrop;
  uint32_t nth = 1;
  uint32_t bit = 0;

  Fault describe(uint32_t number) const;
};

/// The faults that the next run enables.
struct Chosen {
  uint32_t rtl = 0, model = 0;
  bool has_trace = false;
  TraceFault trace{};
  bool with_sleepers = false;  // use the RTL with faults compiled in, also with no fault enabled
};
Chosen& chosen();

/// Number of the enabled fault of the model; 0: none. The mutated model checks it at each place.
/// Pins::cycle() (pins.cpp) sets it, and Watch::cycle_done() (runs.cpp) resets it. So only the
/// follower's copy of the model is ever wrong, never the peer's model.
inline uint32_t model_selected = 0;
/// The place of the enabled fault of model or trace was reached.
inline bool was_reached = false;
/// Set by a run without faults: for each number of a fault in the model, x if the run has reached
/// its place. Empty: not recorded.
inline std::string places_reached;
/// Called at each place of the mutated model: true if the place's fault is enabled now.
inline bool is(uint32_t number) {
  if (number < places_reached.size()) places_reached[number] = 'x';
  if (model_selected != number) return false;
  was_reached = true;
  return true;
}

/// A hash of all pins and commits of this process's device: equal runs have equal hashes.
inline uint64_t pins_fold = 0;
/// True if this program contains RTL with faults.
bool has_rtl_faults();

}  // namespace rnic::mutants
