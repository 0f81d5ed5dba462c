// Fields of packed vectors at compile-time positions; the generated structs of model/gen use them.
//
//   std::array<uint32_t, 2> w{};
//   put_bits<12, 40>(w.data(), value);             // w[51:12] = value
//   uint64_t v = get_bits<12, 40>(w.data());
//
// A vector is an array of 32-bit words with bit 0 in word 0, as Verilator's wide ports. put_* needs
// a field that is zero: it sets bits and clears none.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace rnic::base {

static_assert(std::endian::native == std::endian::little, "words are copied to bytes as they are");

template <unsigned Width>
inline constexpr uint64_t kMask = Width >= 64 ? ~uint64_t{0} : (uint64_t{1} << Width) - 1;

template <unsigned Lsb, unsigned Width>
constexpr void put_bits(uint32_t* w, uint64_t value) {
  static_assert(Width >= 1 && Width <= 64);
  constexpr unsigned kShift = Lsb % 32;
  value &= kMask<Width>;
  w += Lsb / 32;
  w[0] |= static_cast<uint32_t>(value << kShift);
  if constexpr (kShift + Width > 32) w[1] |= static_cast<uint32_t>(value >> (32 - kShift));
  if constexpr (kShift + Width > 64) w[2] |= static_cast<uint32_t>(value >> (64 - kShift));
}

template <unsigned Lsb, unsigned Width>
constexpr uint64_t get_bits(const uint32_t* w) {
  static_assert(Width >= 1 && Width <= 64);
  constexpr unsigned kShift = Lsb % 32;
  w += Lsb / 32;
  uint64_t value = w[0] >> kShift;
  if constexpr (kShift + Width > 32) value |= static_cast<uint64_t>(w[1]) << (32 - kShift);
  if constexpr (kShift + Width > 64) value |= static_cast<uint64_t>(w[2]) << (64 - kShift);
  return value & kMask<Width>;
}

/// Puts a vector of Width bits into a vector, for nested structs. Done: bits that are put already
/// (recursion).
template <unsigned Lsb, unsigned Width, unsigned Done = 0>
constexpr void put_words(uint32_t* w, const uint32_t* from) {
  if constexpr (Done < Width) {
    constexpr unsigned kPart = Width - Done < 32 ? Width - Done : 32;
    put_bits<Lsb + Done, kPart>(w, from[Done / 32]);
    put_words<Lsb, Width, Done + kPart>(w, from);
  }
}

template <unsigned Lsb, unsigned Width>
constexpr std::array<uint32_t, (Width + 31) / 32> get_words(const uint32_t* w) {
  std::array<uint32_t, (Width + 31) / 32> out{};
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((out[I] = static_cast<uint32_t>(
          get_bits<Lsb + 32 * I, (Width - 32 * I < 32 ? unsigned{Width - 32 * I} : 32U)>(w))),
     ...);
  }
  (std::make_index_sequence<(Width + 31) / 32>{});
  return out;
}

/// A field of whole bytes, for fields of more than 64 bits. Byte 0 has the field's lowest bits.
template <unsigned Lsb, unsigned Width>
inline void put_bytes(uint32_t* w, const uint8_t* from) {
  static_assert(Width % 8 == 0);
  if constexpr (Lsb % 8 == 0) {
    std::memcpy(static_cast<uint8_t*>(static_cast<void*>(w)) + Lsb / 8, from, Width / 8);
  } else {
    std::array<uint32_t, (Width + 31) / 32> whole{};
    std::memcpy(whole.data(), from, Width / 8);
    put_words<Lsb, Width>(w, whole.data());
  }
}

template <unsigned Lsb, unsigned Width>
inline void get_bytes(const uint32_t* w, uint8_t* to) {
  static_assert(Width % 8 == 0);
  if constexpr (Lsb % 8 == 0) {
    std::memcpy(to, static_cast<const uint8_t*>(static_cast<const void*>(w)) + Lsb / 8, Width / 8);
  } else {
    const auto whole = get_words<Lsb, Width>(w);
    std::memcpy(to, whole.data(), Width / 8);
  }
}

/// A whole vector as Bytes little-endian bytes, for host memory: byte 0 holds bits 7:0.
template <size_t Bytes>
inline void words_to_bytes_little(const uint32_t* w, std::span<uint8_t> out) {
  std::memcpy(out.first(Bytes).data(), w, Bytes);
}
template <size_t Bytes>
inline void bytes_little_to_words(std::span<const uint8_t> in, uint32_t* w) {
  std::memcpy(w, in.first(Bytes).data(), Bytes);
}

/// A whole vector as Bytes bytes in network order, for the wire: byte 0 holds the top bits. The
/// second function needs words that are zero.
template <size_t Bytes>
inline void words_to_bytes_big(const uint32_t* w, std::span<uint8_t> out) {
  for (size_t i = 0; i < Bytes; i++) {
    const size_t b = Bytes - 1 - i;
    out[i] = static_cast<uint8_t>(w[b / 4] >> (8 * (b % 4)));
  }
}
template <size_t Bytes>
inline void bytes_big_to_words(std::span<const uint8_t> in, uint32_t* w) {
  for (size_t i = 0; i < Bytes; i++) {
    const size_t b = Bytes - 1 - i;
    w[b / 4] |= static_cast<uint32_t>(in[i]) << (8 * (b % 4));
  }
}

/// Hex text for a log line: all bytes of up to 16, else the first 8, the last 4 and the length.
inline std::string short_hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  auto add = [&](std::span<const uint8_t> part) {
    for (uint8_t b : part) {
      out += kDigits[b >> 4];
      out += kDigits[b & 15];
    }
  };
  if (bytes.size() <= 16) {
    add(bytes);
    return out;
  }
  add(bytes.first(8));
  out += "..";
  add(bytes.last(4));
  return out + "(" + std::to_string(bytes.size()) + ")";
}

}  // namespace rnic::base
