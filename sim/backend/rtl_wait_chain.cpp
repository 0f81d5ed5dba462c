// Builds a graph of instances that wait for each other and prints its paths: see
// rtl_wait_chain.hpp. Edges come from streams that are held (valid, not ready), and from full
// queues.
#include "backend/rtl_wait_chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rnic::sim {
namespace {

using Snapshot = RtlSnapshot;
using Instance = RtlSnapshot::Instance;
using Stream = RtlSnapshot::Stream;

constexpr size_t kChains = 12, kStates = 16;  // at most so many lines of each kind
// Values beside the indices of instances: the far side of the device's ports, and no instance.
constexpr int kFromPins = -1, kToPins = -2, kNobody = -3;

class Chains {
 public:
  explicit Chains(const WaitChainQuery& q) : q_(q), all_(q.now.instances) {
    for (const Instance& i : all_) {
      depth_.push_back(i.parent < 0 ? 0 : depth_[i.parent] + 1);
      in_cell_.push_back(i.parent >= 0 && (in_cell_[i.parent] || all_[i.parent].is_cell));
    }
    if (q.idle != nullptr)
      for (const Instance& i : q.idle->instances) idle_[i.path] = &i;
    find_ends();
    for (size_t i = 0; i < all_.size(); ++i)
      if (!in_cell_[i]) find_edges(static_cast<int>(i));
    find_full_queues();
    // If a leaf and a queue inside it wait for each other, the queue is an input queue: it waits
    // for the leaf to take its items. The leaf does not wait for this queue: drop the leaf's edge.
    std::vector<Way> own;
    for (const auto& [way, stream] : edges_)
      if (way.second >= 0 && all_[way.second].parent == way.first &&
          edges_.contains({way.second, way.first}))
        own.push_back(way);
    for (const Way& way : own) edges_.erase(way);
  }

  std::vector<std::string> lines() {
    std::set<int> starts, reached;
    for (const auto& [way, stream] : edges_) {
      starts.insert(way.first);
      reached.insert(way.second);
    }
    for (const int start : starts)
      if (!reached.contains(start)) chain(start);
    while (!edges_.empty()) chain(edges_.begin()->first.first);  // cycles of waits
    if (more_ != 0) lines_.push_back(fmt::format("and {} more chains", more_));
    std::ranges::move(ends_, std::back_inserter(lines_));
    states();
    return std::move(lines_);
  }

 private:
  using Way = std::pair<int, int>;  // {waiting instance, awaited instance}

  /// The producer and the consumer of each wire: the innermost instance that has it as a port.
  void find_ends() {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (in_cell_[i]) continue;
      for (const Stream& s : all_[i].streams) {
        if (depth_[i] <= 1) pins_.insert(s.valid);  // TOP, and the top module
        if (!s.name.empty()) names_.try_emplace(s.valid, s.name);
        const auto [end, is_new] =
            (s.is_input ? consumer_ : producer_).try_emplace(s.valid, static_cast<int>(i));
        if (!is_new && depth_[i] > depth_[end->second]) end->second = static_cast<int>(i);
      }
    }
  }
  static int end_of(const std::map<Snapshot::Net, int>& ends, Snapshot::Net net) {
    const auto found = ends.find(net);
    return found == ends.end() ? kNobody : found->second;
  }

  void find_edges(int i) {
    for (const Stream& s : all_[i].streams) {
      if (!s.is_held() || held_when_idle(all_[i], s)) continue;
      int from = end_of(producer_, s.valid), to = end_of(consumer_, s.valid);
      if ((s.is_input ? to : from) != i) continue;  // an outer port of the same wire
      // If no instance has the wire as a port, the logic of the parent offers or accepts.
      const bool at_pins = pins_.contains(s.valid);
      if (from == kNobody) from = at_pins ? kFromPins : all_[i].parent;
      if (to == kNobody) to = at_pins ? kToPins : all_[i].parent;
      const auto name = names_.find(s.valid);
      edges_[{from, to}] = name == names_.end() ? "" : name->second;
    }
  }
  /// True if the stream is also held in an idle device: then it is no sign of a stall.
  bool held_when_idle(const Instance& i, const Stream& s) const {
    const Instance* idle = when_idle(i);
    const Stream* same = idle == nullptr ? nullptr : idle->stream(s.is_input, s.name);
    return same != nullptr && same->is_held();
  }
  const Instance* when_idle(const Instance& i) const {
    const auto found = idle_.find(i.path);
    return found == idle_.end() ? nullptr : found->second;
  }

  /// Logic that inspects a queue's ready before it makes an offer also waits for a full queue,
  /// though no stream is held. The queue's parent counts as waiting if it has a busy state, or if
  /// another instance waits for it.
  void find_full_queues() {
    std::set<int> waited_for;
    for (const auto& [way, stream] : edges_) waited_for.insert(way.second);
    for (size_t k = 0; k < all_.size(); ++k) {
      const int queue = static_cast<int>(k), up = all_[k].parent;
      if (up < 0 || !is_full(queue) || edges_.contains({queue, up})) continue;
      if (waited_for.contains(up) || !busy_states(all_[up]).empty()) edges_[{up, queue}];
    }
  }
  bool is_full(int i) const {
    if (in_cell_[i] || !all_[i].is_cell) return false;
    const Instance* idle = when_idle(all_[i]);
    return all_[i].stream(false, "")->is_held() && !all_[i].stream(true, "")->is_ready &&
           (idle == nullptr || idle->stream(true, "")->is_ready);
  }

  /// The state machines of an instance that are not in the state of an idle device.
  std::vector<std::string> busy_states(const Instance& i) const {
    std::vector<std::string> busy;
    const Instance* idle = when_idle(i);
    for (size_t k = 0; k < i.states.size(); ++k) {
      const Snapshot::State& s = i.states[k];
      if (idle != nullptr && k < idle->states.size() && idle->states[k].value == s.value) continue;
      busy.push_back(fmt::format("{} {}", s.signal, s.value));
    }
    return busy;
  }

  /// The path of an instance and its state.
  std::string shown(int i) {
    if (i < 0) return "pins";
    said_.insert(i);
    const Instance& it = all_[i];
    std::vector<std::string> facts;
    if (it.is_cell) {
      if (is_full(i)) facts.emplace_back("full");
      const auto held = it.number("count_o"), room = it.number("Depth");
      if (held && room) facts.push_back(fmt::format("{} of {} words", *held, *room));
    } else {
      facts = busy_states(it);
      // The QP that it works on; 16 bits or more, so that no flag of this name is taken.
      for (const char* name : {"qpn_q", "qpn"}) {
        const auto qpn = it.values.find(name);
        if (qpn == it.values.end() || qpn->second.size() < 16) continue;
        facts.push_back(fmt::format("QP {}", it.number(name).value_or(0)));
        break;
      }
    }
    if (facts.empty()) return it.path;
    return fmt::format("{} ({})", it.path, fmt::join(facts, ", "));
  }

  /// Follows a chain from a waiting instance along the first that it waits for, then along the
  /// others.
  void chain(int from) {
    std::string line = shown(from);
    told_.insert(from);
    std::vector<int> forks;
    bool moves = !is_unchanged(from);
    for (int at = from;;) {
      const auto next = edges_.lower_bound({at, kNobody});  // kNobody is the least second number
      if (next == edges_.end() || next->first.first != at) {
        end(at);
        break;
      }
      const int to = next->first.second;
      line += next->second.empty() ? " -> " : fmt::format(" -{}-> ", next->second);
      line += shown(to);
      moves = moves || !is_unchanged(to);
      edges_.erase(next);
      forks.push_back(at);
      if (!told_.insert(to).second) break;  // reported above, or a cycle
      at = to;
    }
    if (lines_.size() < kChains) {
      lines_.push_back(line + (moves ? "" : since()));
    } else {
      ++more_;
    }
    for (const int fork : forks) {
      const auto rest = edges_.lower_bound({fork, kNobody});
      if (rest != edges_.end() && rest->first.first == fork) chain(fork);
    }
  }

  /// For the last instance of a chain, which does not wait for an output: reports the inputs that
  /// it could wait for.
  void end(int i) {
    if (i < 0) return;
    const Instance& it = all_[i];
    std::vector<std::string> missing, empty;
    for (const Stream& s : it.streams)
      if (s.is_input && s.is_ready && !s.is_valid && !s.name.empty()) missing.push_back(s.name);
    for (const Instance& q : all_) {
      if (q.parent != i || !q.is_cell) continue;
      // is_ours: no instance has the queue's output as a port, so logic of this instance reads it.
      const Stream& out = *q.stream(false, "");
      const bool is_ours = end_of(consumer_, out.valid) == kNobody && !pins_.contains(out.valid);
      if (is_ours && !out.is_valid) empty.push_back(q.path.substr(it.path.size() + 1));
    }
    std::string line = it.path + " ends the chain";
    if (!missing.empty()) line += fmt::format("; it would take {}", fmt::join(missing, ", "));
    if (!empty.empty()) line += fmt::format("; empty in it: {}", fmt::join(empty, ", "));
    if (std::ranges::find(ends_, line) == ends_.end()) ends_.push_back(line);
  }

  /// True if all signals of the instance have the values of the snapshot `before`.
  bool is_unchanged(int i) const {
    if (q_.before == nullptr) return false;
    if (i < 0) return true;
    const Instance* then = q_.before->find(all_[i].path);
    return then != nullptr && then->values == all_[i].values;
  }
  std::string since() const {
    return fmt::format(", unchanged since cycle {} or before", q_.before_cycle);
  }

  /// The instances that no line has mentioned and that are not idle.
  void states() {
    size_t more = 0;
    for (size_t i = 0, told = 0; i < all_.size(); ++i) {
      if (in_cell_[i] || said_.contains(static_cast<int>(i)) || busy_states(all_[i]).empty())
        continue;
      if (told++ < kStates) {
        const int at = static_cast<int>(i);
        lines_.push_back(shown(at) + " is not idle" + (is_unchanged(at) ? since() : ""));
      } else {
        ++more;
      }
    }
    if (more != 0) lines_.push_back(fmt::format("and {} more that are not idle", more));
  }

  const WaitChainQuery& q_;
  const std::vector<Instance>& all_;
  // By instance: levels below the top; inside a cell, which counts as a whole.
  std::vector<size_t> depth_;
  std::vector<bool> in_cell_;
  std::map<std::string, const Instance*> idle_;  // by path
  std::map<Snapshot::Net, int> producer_, consumer_;
  std::set<Snapshot::Net> pins_;
  std::map<Snapshot::Net, std::string> names_;  // of streams, from a port
  std::map<Way, std::string> edges_;            // with the stream's name
  std::set<int> told_, said_;                   // reported in a chain; reported anywhere
  std::vector<std::string> lines_, ends_;
  size_t more_ = 0;
};

}  // namespace

std::vector<std::string> wait_chain(const WaitChainQuery& query) { return Chains(query).lines(); }

}  // namespace rnic::sim
