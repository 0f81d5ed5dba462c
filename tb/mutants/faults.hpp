// The faults, each asleep until its number is chosen. mutate prints those of RTL and model when it
// writes the sources in which they sleep (faults.cpp in the build folder); trace.hpp makes those of
// what the RTL tells.
//
//   for (const Fault& f : built_faults()) if (f.layer == Layer::kRtl) ...
//   chosen().rtl = f.number;                         before a device is made; 0: as the sources say
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
  bool by_hand = false;  // of places.txt; else drawn
  std::string name{};    // by hand: what is wrong; drawn: empty
  std::string file{};
  uint32_t line = 0;
  std::string kind{}, before{}, after{};
};

/// Of RTL and model, in the order of their numbers; and the seed that drew them.
const std::vector<Fault>& built_faults();
uint64_t built_seed();

/// One of the trace: of a kind of commit, or of an output of the device, the nth (from 1) is not as
/// the RTL said.
struct TraceFault {
  enum class Action : uint8_t {
    kDrop,
    kDouble,
    kLater,
    kBit
  };  // kLater: behind the next of its kind
  std::string_view what;
  Action action = Action::kDrop;
  uint32_t nth = 1;
  uint32_t bit = 0;

  Fault describe(uint32_t number) const;
};

/// What the run that follows has wrong.
struct Chosen {
  uint32_t rtl = 0, model = 0;
  bool has_trace = false;
  TraceFault trace{};
  bool with_sleepers = false;  // the RTL in which faults sleep, though none is woken
};
Chosen& chosen();

/// The mutated model asks this at each place. Only the follower's copy is ever wrong: it is set
/// while the device in tandem tells a cycle, and no longer.
inline uint32_t model_selected = 0;
/// A fault of model or trace has had its chance: its place was reached.
inline bool was_reached = false;
/// By the number of a fault in the model: x if a run without faults has reached its place. Empty: not
/// recorded.
inline std::string places_reached;
inline bool is(uint32_t number) {
  if (number < places_reached.size()) places_reached[number] = 'x';
  if (model_selected != number) return false;
  was_reached = true;
  return true;
}

/// All that the pins and commits of this process's device did, folded into one number: equal runs,
/// equal numbers.
inline uint64_t pins_fold = 0;
/// RTL with sleeping faults is part of this program.
bool has_rtl_faults();

}  // namespace rnic::mutants
