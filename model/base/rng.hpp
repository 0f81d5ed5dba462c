// Reproducible random numbers on every machine: xoshiro256** (Blackman and Vigna, 2018) seeded by
// splitmix64. The bounded draw is our own, because the standard distributions differ between
// libraries.
//
//   Rng rng(seed);   rng.below(6) + 1;   rng.between(64, 1500);   rng.percent(30);
//   rng.fill(buffer);
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rnic::base {

class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) {
    for (auto& word : s_) {  // splitmix64
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  constexpr uint64_t next() {
    const uint64_t result = std::rotl(s_[1] * 5, 7) * 9;
    const uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = std::rotl(s_[3], 45);
    return result;
  }

  /// 0 to bound - 1, each equally likely; 0 for a bound of 0.
  constexpr uint64_t below(uint64_t bound) {
    if (bound == 0) return 0;
    // 2^64 mod bound. As many of the smallest draws are rejected, so that each rest is equally
    // likely.
    const uint64_t reject = (0 - bound) % bound;
    uint64_t x = next();
    while (x < reject) x = next();
    return x % bound;
  }

  /// low to high, both included.
  constexpr uint64_t between(uint64_t low, uint64_t high) {
    const uint64_t span = high - low + 1;  // 0 if all 64-bit numbers are in range
    return span == 0 ? next() : low + below(span);
  }

  constexpr bool percent(unsigned chance) { return chance != 0 && below(100) < chance; }

  template <class T>
  constexpr const T& pick(std::span<const T> from) {
    return from[below(from.size())];
  }

  constexpr void fill(std::span<uint8_t> bytes) {
    for (auto& b : bytes) b = static_cast<uint8_t>(next() >> 56);
  }
  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> out(count);
    fill(out);
    return out;
  }

  /// An independent generator for one part, so that draws of one part do not shift those of
  /// another. The new generator depends on the seed, the name and the draws so far. Fork before the
  /// first draw, to depend on seed and name alone. Two forks of one name with no draw in between
  /// are equal.
  [[nodiscard]] constexpr Rng fork(std::string_view part) const { return Rng(s_[0] ^ hash(part)); }

  /// FNV-1a: the same hash of a name on every machine.
  static constexpr uint64_t hash(std::string_view text) {
    uint64_t h = 0xcbf29ce484222325;
    for (char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return h;
  }

 private:
  std::array<uint64_t, 4> s_{};
};

}  // namespace rnic::base
