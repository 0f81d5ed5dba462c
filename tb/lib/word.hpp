// A stream item whose payload is a plain vector of up to 64 bits, for the benches of the cells.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "support/stream_port.hpp"

namespace rnic::tb {

template <size_t W>
struct Word {
  uint64_t value = 0;

  static constexpr std::string_view kName = "word";
  static constexpr size_t kBits = W;
  static constexpr uint64_t kMask = W == 64 ? ~uint64_t{0} : (uint64_t{1} << W) - 1;
  using Words = std::array<uint32_t, (W + 31) / 32>;
  friend bool operator==(const Word&, const Word&) = default;

  [[nodiscard]] Words to_words() const {
    Words w{};
    for (size_t i = 0; i < w.size(); i++) w[i] = static_cast<uint32_t>(value >> (32 * i));
    return w;
  }
  static Word from_words(const uint32_t* w) {
    Word out;
    for (size_t i = 0; i < (W + 31) / 32; i++) out.value |= uint64_t{w[i]} << (32 * i);
    out.value &= kMask;
    return out;
  }
  [[nodiscard]] std::string describe() const { return fmt::format("{:#x}", value); }
};

template <size_t W>
void PrintTo(const Word<W>& w, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << w.describe();
}

using Word16 = Word<16>;

inline std::vector<Word16> random_words(base::Rng& rng, size_t count) {
  std::vector<Word16> out(count);
  for (auto& w : out) w.value = rng.next() & Word16::kMask;
  return out;
}

/// Queues all items at a StreamIn.
template <class In, class Items>
void put_all(In& in, const Items& items) {
  for (const auto& item : items) in.put(item);
}

}  // namespace rnic::tb

#define RNIC_WORD_IN(dut, name, width) RNIC_IN(dut, name, ::rnic::tb::Word<width>)
#define RNIC_WORD_OUT(dut, name, width) RNIC_OUT(dut, name, ::rnic::tb::Word<width>)
