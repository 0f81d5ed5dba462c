// Names of Terminates and events. See replay/names.hpp.
#include "replay/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gen/errors.hpp"

namespace rnic::app {
namespace {

std::string name_of(verbs::EventType type) {
  switch (type) {
    case verbs::IBV_EVENT_CQ_ERR:
      return "IBV_EVENT_CQ_ERR";
    case verbs::IBV_EVENT_QP_FATAL:
      return "IBV_EVENT_QP_FATAL";
    case verbs::IBV_EVENT_QP_REQ_ERR:
      return "IBV_EVENT_QP_REQ_ERR";
    case verbs::IBV_EVENT_QP_ACCESS_ERR:
      return "IBV_EVENT_QP_ACCESS_ERR";
    case verbs::IBV_EVENT_DEVICE_FATAL:
      return "IBV_EVENT_DEVICE_FATAL";
    case verbs::IBV_EVENT_SRQ_LIMIT_REACHED:
      return "IBV_EVENT_SRQ_LIMIT_REACHED";
  }
  return fmt::format("event {}", static_cast<uint32_t>(type));
}

}  // namespace

std::string cause_of_terminate(uint32_t layer, uint32_t etype, uint32_t code) {
  const auto row = std::ranges::find_if(spec::kCauses, [&](const spec::CauseRow& r) {
    return r.cause != spec::Cause::kNone && r.layer == layer && r.etype == etype && r.code == code;
  });
  return row == spec::kCauses.end() ? "" : std::string(row->name);
}

std::string name_of_terminate(uint32_t layer, uint32_t etype, uint32_t code) {
  const std::string cause = cause_of_terminate(layer, etype, code);
  return fmt::format("Terminate {:x}/{:x}/{:02x}{}", layer, etype, code,
                     cause.empty() ? "" : fmt::format(" ({})", cause));
}

std::string text_of(const verbs::AsyncEvent& e) {
  const spec::CauseRow& row = spec::cause_row(static_cast<spec::Cause>(e.cause));
  std::string s = fmt::format("{}: {} ({})", name_of(e.type), row.name, row.doc);
  // Layer and type have 4 bits each, the code has 8.
  if (e.peer_term != 0)
    s += fmt::format(", the peer's {}", name_of_terminate(e.peer_term >> 12, e.peer_term >> 8 & 15u,
                                                          e.peer_term & 255u));
  return s;
}

}  // namespace rnic::app
