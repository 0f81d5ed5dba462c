// Draws faults of the trace and applies one. See trace.hpp.
#include "trace.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/rng.hpp"

namespace rnic::mutants {
namespace {

using Action = TraceFault::Action;

struct Kind {
  std::string_view name;
  uint32_t bits = 0;  // of its fields
};

constexpr uint32_t kFirstByte = 8;  // bits of the first byte of a beat, which is always valid
constexpr std::string_view kWritten = "beat of dma_wr", kSent = "beat of llp_tx";
constexpr Kind kOutputs[] = {{kWritten, kFirstByte}, {kSent, kFirstByte}};

/// Every kind of commit. Its valid bit is above its fields: kValidBit is the number of their bits.
template <size_t... I>
std::vector<Kind> kinds_of(std::index_sequence<I...>) {
  return {{std::variant_alternative_t<I, spec::AnyCommit>::kName,
           static_cast<uint32_t>(std::variant_alternative_t<I, spec::AnyCommit>::kValidBit)}...};
}
const std::vector<Kind>& kinds() {
  static const auto all =
      kinds_of(std::make_index_sequence<std::variant_size_v<spec::AnyCommit>>{});
  return all;
}

std::string_view name_of(const spec::AnyCommit& c) {
  return std::visit([](const auto& x) { return x.kName; }, c);
}

template <class T>
T with_bit_flipped(const T& item, uint32_t bit) {
  auto words = item.to_words();
  words[bit / 32] ^= uint32_t{1} << bit % 32;
  return T::from_words(words.data());
}

}  // namespace

Fault TraceFault::describe(uint32_t number) const {
  constexpr std::array kKinds = {"dropped", "doubled", "one later", "bit changed"};
  constexpr std::array kAfter = {"nothing", "twice", "after the next", "bit {} flipped"};
  const auto i = static_cast<size_t>(action);
  Fault f{.number = number, .layer = Layer::kTrace, .file = "trace"};
  f.kind = kKinds[i];
  f.before = fmt::format("{}, number {}", what, nth);
  f.after = action == Action::kBit ? fmt::format("bit {} flipped", bit) : kAfter[i];
  return f;
}

std::vector<TraceFault> trace_faults(uint64_t seed, uint32_t drawn) {
  // By hand: kind of commit or output, action, which one of its kind, which bit.
  std::vector<TraceFault> all = {
      {"qp_retire", Action::kDrop, 3},   {"rdmap_op", Action::kDouble, 5},
      {"tpt_check", Action::kLater, 2},  {"llp_grant", Action::kBit, 4, 0},
      {"ddp_segment", Action::kDrop, 6}, {kWritten, Action::kBit, 9, 3},
      {kSent, Action::kBit, 5},
  };
  base::Rng rng = base::Rng(seed).fork("trace");
  for (uint32_t k = 0; k < drawn; ++k) {
    const uint64_t n = rng.below(kinds().size() + std::size(kOutputs));
    const bool is_output = n >= kinds().size();
    const Kind& kind = is_output ? kOutputs[n - kinds().size()] : kinds()[n];
    all.push_back({.what = kind.name,
                   .action = is_output ? Action::kBit : static_cast<Action>(rng.below(4)),
                   .nth = static_cast<uint32_t>(rng.between(1, 4)),
                   .bit = static_cast<uint32_t>(rng.below(kind.bits))});
  }
  return all;
}

template <class T>
void TraceSpoiler::edit(sim::PinOut<T>& pin) {
  if (!pin.fired() || ++seen_ != fault_.nth) return;
  pin.item = with_bit_flipped(pin.item, fault_.bit);
  was_reached = true;
}

void TraceSpoiler::edit(std::vector<spec::AnyCommit>& commits, sim::RtlPins::Out& pins) {
  if (fault_.what == kWritten) return edit(pins.dma_wr);
  if (fault_.what == kSent) return edit(pins.llp_tx);
  std::vector<spec::AnyCommit> out;
  for (const spec::AnyCommit& c : commits) {
    const bool is_kind = name_of(c) == fault_.what;
    const bool hit = is_kind && ++seen_ == fault_.nth;
    was_reached = was_reached || hit;
    if (!hit || fault_.action == Action::kDouble) out.push_back(c);
    if (is_kind && !hit) out.insert(out.end(), held_.begin(), held_.end()), held_.clear();
    if (!hit) continue;
    if (fault_.action == Action::kDouble) out.push_back(c);
    if (fault_.action == Action::kLater) held_.push_back(c);
    if (fault_.action == Action::kBit)
      out.push_back(std::visit(
          [this](const auto& x) -> spec::AnyCommit { return with_bit_flipped(x, fault_.bit); }, c));
  }
  commits = std::move(out);
}

}  // namespace rnic::mutants
