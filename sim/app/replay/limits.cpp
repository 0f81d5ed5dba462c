// What a listing may ask for. See replay/limits.hpp. The sums leave out what the driver itself
// takes; the player reports what these checks let pass (NoRoom).
#include "replay/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rnic/verbs_types.hpp"
#include "settings/errors.hpp"

namespace rnic::app {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kOwnRegions = 2;      // payloads of our messages; receives
constexpr uint64_t kOwnCompletions = 2;  // set_up() in player.cpp adds 1 to sends and to receives
constexpr uint64_t kMostCompletions = uint64_t{1} << spec::kMaxLogCq;
constexpr uint64_t kSpareMib = 16;  // for the driver, in a suggested arena_mib

struct Need {
  size_t line = 0;  // 0: inferred from the units
  uint64_t bytes = 0;
  bool is_persistent = false;
};

/// The start of an error message: the line of the listing, or the connection if there is no line.
std::string place(const Listing& l, size_t line, const char* key, uint32_t connection) {
  return line != 0 ? fmt::format("replay: {}: line {}: {}: ", l.path, line, key)
                   : fmt::format("replay: {}: connection {}: ", l.path, connection);
}

uint64_t rounded(uint64_t bytes, uint64_t page) { return (bytes + page - 1) / page * page; }

uint64_t page_of(const sim::HostConfig& host, uint64_t bytes) {
  constexpr uint64_t kHuge = 2 * kMiB;
  return bytes >= host.huge_from_mib * kMiB ? kHuge : host.page_kib << 10;
}

/// Host memory of a buffer.
uint64_t arena_of(const sim::HostConfig& host, uint64_t bytes) {
  return rounded(bytes, page_of(host, bytes));
}

/// Entries of the device's page lists. 1 if the region may be one run on the bus: persistent memory
/// is, and scattered memory has runs of up to `scatter_pages` pages.
uint64_t entries_of(const sim::HostConfig& host, const Need& n) {
  const uint64_t pages = arena_of(host, n.bytes) / page_of(host, n.bytes);
  return n.is_persistent || pages <= host.scatter_pages ? 1 : pages;
}

/// What regions take of the host and of the device.
struct Sum {
  uint64_t arena = 0, persistent = 0, entries = kOwnRegions;
  void add(const sim::HostConfig& host, const Need& n) {
    (n.is_persistent ? persistent : arena) += n.is_persistent ? n.bytes : arena_of(host, n.bytes);
    entries += entries_of(host, n);
  }
};

std::string larger_arena(uint64_t bytes) {
  return fmt::format("--set arena_mib={}", (bytes + kMiB - 1) / kMiB + kSpareMib);
}

void refuse_regions(const Listing& l, const std::vector<Need>& needs, const Room& room,
                    uint32_t connection) {
  const auto at = [&](const Need& n) { return place(l, n.line, "memory", connection); };
  const uint64_t stags = room.sizes.num_stags;
  if (needs.size() + kOwnRegions > stags) {
    const uint64_t most = stags > kOwnRegions ? stags - kOwnRegions : 0;
    throw Usage(
        fmt::format("{}{} regions, at most {} are possible: the device has num_stags={}, and "
                    "replay takes {} itself; have fewer, or a model with a larger num_stags",
                    at(needs[most]), needs.size(), most, stags, kOwnRegions));
  }
  Sum all, here;  // here: up to the region at which the message points
  for (const Need& n : needs) all.add(room.host, n);
  for (const Need& n : needs) {
    here.add(room.host, n);
    if (here.arena > room.host.arena_mib * kMiB)
      throw Usage(fmt::format(
          "{}the regions have {} MiB; the host has arena_mib={}: have fewer or smaller "
          "regions, or {}",
          at(n), (all.arena + kMiB - 1) / kMiB, room.host.arena_mib, larger_arena(all.arena)));
    if (here.persistent > room.host.pmem_bytes)
      throw Usage(
          fmt::format("{}the regions with flush_persistent have {} bytes; the host has "
                      "pmem_bytes={}: have fewer or smaller regions, or a larger pmem_bytes",
                      at(n), all.persistent, room.host.pmem_bytes));
    if (here.entries > room.sizes.num_pbl)
      throw Usage(
          fmt::format("{}the regions have {} pages; the device has num_pbl={}: have fewer or "
                      "smaller regions, larger pages (page_kib), or a model with a larger num_pbl",
                      at(n), all.entries, room.sizes.num_pbl));
  }
}

/// Lines of the connection's receives, in the order of the listing; empty: they are inferred.
std::vector<size_t> lines_of_receives(const Listing& l, uint32_t connection) {
  std::vector<size_t> lines;
  if (!l.receives) return lines;
  for (const ListedReceive& r : *l.receives) {
    if (r.connection == connection) lines.push_back(r.line);
  }
  return lines;
}

}  // namespace

void refuse_large_memory(const Listing& l, const Room& room) {
  if (!l.memory) return;
  std::vector<Need> needs;
  for (const ListedRegion& r : *l.memory)
    needs.push_back({r.line, r.length, (r.access & verbs::IBV_ACCESS_FLUSH_PERSISTENT) != 0});
  refuse_regions(l, needs, room, 0);
}

void refuse_large_plan(const Listing& l, const Plan& p, const Room& room) {
  std::vector<Need> needs;
  uint64_t arena = 0, payloads = 0, receives = 0, requests = 0;
  for (const Region& r : p.regions) {
    needs.push_back({0, r.before.size(), (r.access & verbs::IBV_ACCESS_FLUSH_PERSISTENT) != 0});
    if (!needs.back().is_persistent) arena += arena_of(room.host, r.before.size());
  }
  // refuse_large_memory() has checked the regions of the key `memory`.
  if (!l.memory) refuse_regions(l, needs, room, p.connection);

  for (const Step& s : p.steps) {
    if (!s.ours || !s.is_request()) continue;
    ++requests;
    payloads += slot_of(s.message.payload.size());
  }
  const std::vector<size_t> lines = lines_of_receives(l, p.connection);
  const auto at = [&](uint64_t k) {
    const size_t line = lines.empty() ? 0 : lines[std::min<uint64_t>(k, lines.size() - 1)];
    return place(l, line, "receives", p.connection);
  };
  if (p.posts.size() + requests + kOwnCompletions > kMostCompletions) {
    const uint64_t rest = kMostCompletions - kOwnCompletions;
    const uint64_t most = rest > requests ? rest - requests : 0;
    throw Usage(
        fmt::format("{}{} receives and {} requests of ours; a completion queue has {} entries, {} "
                    "of them for replay: have fewer, in more connections",
                    at(most), p.posts.size(), requests, kMostCompletions, kOwnCompletions));
  }
  const uint64_t regions = arena;
  arena += arena_of(room.host, payloads);
  uint64_t overflow = p.posts.size();  // the first receive that does not fit
  for (size_t k = 0; k < p.posts.size(); ++k) {
    receives += slot_of(p.posts[k].length);
    if (arena + receives > room.host.arena_mib * kMiB) overflow = std::min<uint64_t>(overflow, k);
  }
  arena += arena_of(room.host, receives);
  if (arena > room.host.arena_mib * kMiB)
    throw Usage(
        fmt::format("{}regions ({} MiB), receives ({} MiB) and payloads of ours ({} MiB) do not "
                    "fit; the host has arena_mib={}: have fewer or shorter receives, or {}",
                    at(overflow), regions / kMiB, receives / kMiB, payloads / kMiB,
                    room.host.arena_mib, larger_arena(arena)));
}

}  // namespace rnic::app
