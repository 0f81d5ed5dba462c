// Facts that follow from a plan's steps. See replay/plan.hpp.
#include "replay/plan.hpp"

#include <fmt/format.h>

namespace rnic::app {

bool Step::is_request() const {
  return !is_mpa && !is_raw && !is_answer(message.head.opcode) &&
         message.head.opcode != spec::RdmapOpcode::kTerminate;
}

bool Plan::is_open_ended() const {
  size_t reads = 0;
  for (const Step& s : steps)
    reads += s.ours && !s.is_mpa && is_asking(s.message.head.opcode) ? 1 : 0;
  return reads > reads_answered || answers_beyond != 0 || whole_receives != receives.size();
}

bool Plan::is_write_with_immediate(size_t step) const {
  if (step + 1 >= steps.size()) return false;
  const auto is_ours = [](const Step& s) { return s.ours && !s.is_mpa && !s.is_raw; };
  const Step &write = steps[step], &immediate = steps[step + 1];
  return is_ours(write) && write.message.head.opcode == spec::RdmapOpcode::kRdmaWrite &&
         write.message.is_whole && is_ours(immediate) &&
         is_immediate(immediate.message.head.opcode);
}

uint64_t slot_of(uint64_t bytes) {
  constexpr uint64_t kMargin = 64;
  return (bytes + kMargin + 63) / 64 * 64;
}

std::string place_of(const Listing& l, const Step& s) {
  const std::string line = s.line != 0 ? fmt::format("line {}: ", s.line) : "";
  return fmt::format("replay: {}: {}unit {}", l.path, line, s.unit);
}

}  // namespace rnic::app
