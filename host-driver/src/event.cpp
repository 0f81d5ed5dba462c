// Manager: event queues, and the owners of connections. An event only names an object; the driver
// then queries its state.
#include <algorithm>

#include "base/log.hpp"
#include "gen/regs.hpp"
#include "rnic/manager.hpp"

namespace rnic::verbs {

namespace {
auto& log = base::logger("driver");

void set_flag(std::vector<uint8_t>& flags, uint32_t number) {
  if (number < flags.size()) flags[number] = 1;
}
}  // namespace

void Manager::drain_events(PciDevice& dev, unsigned eqn) {
  EventQueue& eq = eqs_[eqn];
  dev.before_shared();
  while (eq.ring.ready()) {
    const uint32_t at = eq.ring.consumer;
    dev.after_phase_bit();
    dev.before_shared();
    if (eq.ring.consumer != at) continue;  // another thread took this entry
    const auto e = spec::Eqe::unpack(eq.ring.at(at));
    eq.ring.consumer++;
    switch (e.kind) {
      case spec::EqeType::kCompletion:
        set_flag(cq_event, e.object);
        break;
      case spec::EqeType::kCqError:
        set_flag(cq_error, e.object);
        break;
      case spec::EqeType::kQp:
        set_flag(qp_event, e.object);
        break;
      case spec::EqeType::kConnection:
        set_flag(conn_event, e.object);
        if (e.object < tracked_.size() && tracked_[e.object] == 0)
          unknown_.push_back(static_cast<uint16_t>(e.object));
        break;
      default:
        RNIC_LOG_WARN(log, "eq {}: unknown event {}", eqn, e.describe());
    }
  }
  // One thread at a time writes the consumer index, as in ring_admin(). That thread repeats the
  // write until it has written the latest index, so this one may leave.
  if (eq.telling) return;
  eq.telling = true;
  while (eq.told != eq.ring.consumer) {
    eq.told = eq.ring.consumer;
    dev.write32(0, spec::kEqConsumerOffset + eqn * spec::kEqConsumerStride, eq.told & 0xffff);
    dev.before_shared();
  }
  eq.telling = false;
}

Result<spec::AdminConnResult> Manager::query_connection(PciDevice& dev, uint16_t connection) {
  // Clear before the query: later events set it again.
  if (connection < conn_event.size()) conn_event[connection] = 0;
  auto rsp = execute(dev, spec::AdminOpcode::kConnQuery, connection);
  if (!rsp) return error_of(rsp);
  return spec::AdminConnResult::unpack(rsp->result);
}

// Sorts connections that events named and that have no owner: those on a listening port go to its
// queue.
void Manager::sort_unknown(PciDevice& dev) {
  dev.before_shared();
  while (!unknown_.empty()) {
    const uint16_t connection = unknown_.front();
    unknown_.pop_front();
    if (tracked_[connection] != 0) continue;
    const auto info = query_connection(dev, connection);
    if (!info || info->passive == 0 || info->has_qp != 0 || tracked_[connection] != 0) continue;
    if (info->state != spec::ConnState::kEstablished && info->state != spec::ConnState::kPeerClosed)
      continue;
    const auto listener = incoming_.find(info->local_port);
    if (listener == incoming_.end()) continue;
    track_connection(connection);
    listener->second.push_back(connection);
  }
}

std::deque<uint16_t>& Manager::incoming(PciDevice& dev, uint16_t port) {
  sort_unknown(dev);
  return incoming_[port];
}

void Manager::remove_listener(PciDevice& dev, uint16_t port) {
  dev.before_shared();
  const auto it = incoming_.find(port);
  if (it == incoming_.end()) return;
  const auto left = std::move(it->second);
  incoming_.erase(it);
  for (const uint16_t connection : left) {
    (void)execute(dev, spec::AdminOpcode::kConnAbort, connection);
    retire_connection(dev, connection);
  }
}

void Manager::retire_connection(PciDevice& dev, uint16_t connection) {
  Retired r{.connection = connection, .deadline = dev.now() + settings_.linger};
  if (!try_release(dev, r)) retired_.push_back(r);
}

// Returns true once the connection needs no more work.
bool Manager::try_release(PciDevice& dev, Retired& r) {
  const auto info = query_connection(dev, r.connection);
  if (!info) return info.error().code == Errc::kNotFound;
  switch (info->state) {
    case spec::ConnState::kFree:
      tracked_[r.connection] = 0;
      return true;
    case spec::ConnState::kClosed:
    case spec::ConnState::kReset:
    case spec::ConnState::kFailed: {
      // Clear before the command: after it the number may return as a new connection.
      tracked_[r.connection] = 0;
      if (execute(dev, spec::AdminOpcode::kConnRelease, r.connection)) return true;
      tracked_[r.connection] = 1;
      return false;
    }
    default:
      break;
  }
  if (!r.aborted && dev.now() >= r.deadline) {
    r.aborted = true;
    (void)execute(dev, spec::AdminOpcode::kConnAbort, r.connection);
  }
  return false;
}

void Manager::sweep_retired(PciDevice& dev) {
  dev.before_shared();
  for (size_t i = 0; i < retired_.size();) {
    const uint16_t connection = retired_[i].connection;
    if (conn_event[connection] == 0 && dev.now() < retired_[i].deadline) {
      i++;
      continue;
    }
    // Removed from the list while commands run: another thread may sweep as well.
    Retired r = retired_[i];
    retired_.erase(retired_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!try_release(dev, r)) {
      r.deadline = dev.now() + settings_.linger;
      retired_.push_back(r);
      break;  // the connection is the last entry now; the next sweep checks it
    }
  }
}

}  // namespace rnic::verbs
