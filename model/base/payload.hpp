// Bytes by reference: a slice of a pooled, reference-counted buffer. Units, platform and link pass
// handles. The creator writes the bytes once, before it shares them.
//
//   Payload p = Payload::copy_of(bytes);
//   Payload tail = p.slice(14);
//   std::span<const uint8_t> b = tail.bytes();
//
// Single-threaded, as the simulator is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace rnic {

class Payload {
 public:
  Payload() = default;
  Payload(const Payload& o) : buf_(o.buf_), off_(o.off_), len_(o.len_) {
    if (buf_ != nullptr) ++buf_->refs;
  }
  Payload(Payload&& o) noexcept
      : buf_(std::exchange(o.buf_, nullptr)),
        off_(std::exchange(o.off_, 0)),
        len_(std::exchange(o.len_, 0)) {}
  Payload& operator=(Payload o) noexcept {
    std::swap(buf_, o.buf_);
    std::swap(off_, o.off_);
    std::swap(len_, o.len_);
    return *this;
  }
  ~Payload() { drop(); }  // the last reference returns the buffer to its pool

  /// A new buffer of `size` bytes with undefined contents. Fill it through writable() before
  /// sharing it.
  static Payload make(uint32_t size) {
    Payload p;
    if (size == 0) return p;
    p.buf_ = take(size);
    p.len_ = size;
    return p;
  }
  static Payload copy_of(std::span<const uint8_t> bytes) {
    Payload p = make(static_cast<uint32_t>(bytes.size()));
    if (!bytes.empty()) std::memcpy(p.writable().data(), bytes.data(), bytes.size());
    return p;
  }

  uint32_t size() const { return len_; }
  bool empty() const { return len_ == 0; }
  std::span<const uint8_t> bytes() const {
    return buf_ == nullptr ? std::span<const uint8_t>{}
                           : std::span<const uint8_t>{buf_->data.data() + off_, len_};
  }
  /// Only for the creator: ends the program if the buffer is shared.
  std::span<uint8_t> writable() {
    if (buf_ == nullptr) return {};
    RNIC_CHECK(buf_->refs == 1, "a shared payload is written");
    return {buf_->data.data() + off_, len_};
  }
  /// `count` bytes from byte `from` on, or up to the end if fewer are left. Shares the buffer.
  Payload slice(uint32_t from, uint32_t count = UINT32_MAX) const {
    RNIC_CHECK(from <= len_, "slice beyond the end");
    Payload p(*this);
    p.off_ += from;
    p.len_ = std::min(count, len_ - from);
    return p;
  }

 private:
  struct Buffer {
    std::vector<uint8_t> data;
    uint32_t refs = 0;
    uint32_t klass = 0;
  };
  // A pool for each size class: class k has buffers of 64 << k bytes, the last class also larger.
  static constexpr uint32_t kClasses = 18;

  static std::vector<Buffer*>* pools() {
    static std::array<std::vector<Buffer*>, kClasses> p;
    return p.data();
  }
  static Buffer* take(uint32_t size) {
    uint32_t k = 0;
    while (k + 1 < kClasses && (64u << k) < size) ++k;
    auto& pool = pools()[k];
    Buffer* b = nullptr;
    if (!pool.empty()) {
      b = pool.back();
      pool.pop_back();
    } else {
      b = new Buffer;  // lives in the pool for the whole run
      b->klass = k;
    }
    if (b->data.size() < size) b->data.resize(std::max(size, 64u << k));
    b->refs = 1;
    return b;
  }
  void drop() {
    if (buf_ != nullptr && --buf_->refs == 0) pools()[buf_->klass].push_back(buf_);
    buf_ = nullptr;
  }

  Buffer* buf_ = nullptr;
  uint32_t off_ = 0;
  uint32_t len_ = 0;
};

}  // namespace rnic
