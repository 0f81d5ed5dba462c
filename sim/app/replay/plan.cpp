// Questions about a plan. See replay/plan.hpp.
#include "replay/plan.hpp"

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

}  // namespace rnic::app
