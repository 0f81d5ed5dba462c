// sim/llp/fpdu_finder: it finds the same FPDUs in a byte stream however the stream is cut into
// segments, with and without markers.
#include "llp/fpdu_finder.hpp"

#include <gtest/gtest.h>

#include "fpdus.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

TEST(FpduFinder, AnySegments) {
  base::Rng rng = tb::test_rng();
  for (const bool markers : {false, true}) {
    std::vector<uint8_t> stream;
    std::vector<std::vector<uint8_t>> want, got;
    for (int i = 0; i < 200; ++i) {
      auto f = fpdu(static_cast<uint16_t>(rng.below(i % 10 == 0 ? 65536 : 300)),
                    static_cast<uint8_t>(i));
      if (markers) f = with_markers(f, static_cast<uint32_t>(stream.size() % 512));
      want.push_back(f);
      stream.insert(stream.end(), f.begin(), f.end());
    }
    FpduFinder finder(markers);
    for (size_t at = 0; at < stream.size();) {
      const size_t n = std::min<size_t>(rng.between(1, 1500), stream.size() - at);
      finder.push(Payload::copy_of({stream.data() + at, n}),
                  [&](const Payload& p) { got.emplace_back(p.bytes().begin(), p.bytes().end()); });
      at += n;
    }
    EXPECT_EQ(got, want);
    EXPECT_TRUE(finder.rest().empty());
  }
}

}  // namespace
}  // namespace rnic::sim
