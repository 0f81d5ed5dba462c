// Integers in bytes, at any alignment and in both byte orders; and the only reinterpret_cast of the
// repository.
//
//   store_be<uint32_t>(&frame[6], stag);      uint64_t to = load_be<uint64_t>(&frame[10]);
//   store_le(&cqe[0], value);
//   std::span<const uint8_t> raw = as_bytes(std::string_view("abc"));
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace rnic::base {

template <std::unsigned_integral T>
constexpr T byte_swap(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

static_assert(std::endian::native == std::endian::little);

template <std::unsigned_integral T>
T load_le(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <std::unsigned_integral T>
void store_le(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <std::unsigned_integral T>
T load_be(const uint8_t* at) {
  return byte_swap(load_le<T>(at));
}
template <std::unsigned_integral T>
void store_be(uint8_t* at, T value) {
  store_le(at, byte_swap(value));
}

// Text as bytes and back.
inline std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// Typed access to host memory.
template <class T>
T* pointer_at(void* memory) {
  return reinterpret_cast<T*>(memory);
}
inline uint64_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace rnic::base
