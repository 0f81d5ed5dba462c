// Cuts a TCP byte stream into FPDUs by the MPA length field, independent of segment boundaries. It
// handles markers if the peer sends them. An FPDU keeps the markers inside it and a marker directly
// before it (RFC 5044 section 4.3). FpduFinder checks nothing: the RNIC makes all checks.
//
//   FpduFinder finder(with_markers);
//   finder.push(segment, [&](Payload fpdu) { ... });   // no copy if the segment has the whole FPDU
//   finder.rest()                                      // bytes of an incomplete FPDU
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/payload.hpp"

namespace rnic::sim {

class FpduFinder {
 public:
  FpduFinder() = default;
  explicit FpduFinder(bool with_markers) : markers_(with_markers) {}

  /// Takes the next bytes of the stream and calls emit(fpdu) for each FPDU that they complete.
  template <class Emit>
  void push(const Payload& bytes, Emit&& emit) {
    uint32_t at = 0;
    while (at < bytes.size()) {
      const uint32_t left = bytes.size() - at;
      if (partial_.empty() && left >= head()) {
        const uint32_t whole = length(bytes.bytes().data() + at);
        if (left >= whole) {
          advance(whole);
          emit(bytes.slice(at, whole));
          at += whole;
          continue;
        }
      }
      const uint32_t want = partial_.size() < head() ? head() : length(partial_.data());
      const uint32_t take = std::min(left, want - static_cast<uint32_t>(partial_.size()));
      const auto from = bytes.bytes().subspan(at, take);
      partial_.insert(partial_.end(), from.begin(), from.end());
      at += take;
      if (partial_.size() >= head() && partial_.size() == length(partial_.data())) {
        advance(static_cast<uint32_t>(partial_.size()));
        const Payload whole = Payload::copy_of(partial_);
        partial_.clear();
        emit(whole);
      }
    }
  }

  const std::vector<uint8_t>& rest() const { return partial_; }

 private:
  static constexpr uint32_t kSpacing = 512, kMarker = 4;  // of markers: distance, size; in bytes

  /// Bytes of the FPDU after which its length is known: the length field, and a marker before it if
  /// the FPDU begins at a marker's position.
  uint32_t head() const { return (markers_ && position_ == 0 ? kMarker : 0) + 2; }
  void advance(uint32_t bytes) { position_ = (position_ + bytes) % kSpacing; }

  /// Bytes of the FPDU in the stream, markers included. Its first head() bytes are read.
  uint32_t length(const uint8_t* fpdu) const {
    const uint32_t ulpdu = base::load_be<uint16_t>(fpdu + head() - 2);
    uint32_t left = (2 + ulpdu + 3) / 4 * 4 + 4;  // length field, ULPDU, pad; CRC
    if (!markers_) return left;
    uint32_t at = position_;  // walks over runs of FPDU bytes and the markers before them
    while (left > 0) {
      if (at % kSpacing == 0) at += kMarker;
      const uint32_t run = std::min(left, kSpacing - at % kSpacing);
      at += run;
      left -= run;
    }
    return at - position_;
  }

  bool markers_ = false;
  uint32_t position_ = 0;         // of the current FPDU's first byte, modulo the spacing
  std::vector<uint8_t> partial_;  // of the current FPDU, from earlier segments
};

}  // namespace rnic::sim
