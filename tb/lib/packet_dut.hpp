// The packet cells of rtl/lib, all connected: a cell that a test does not use stays idle. See
// packet_bench.sv.
#pragma once

#include "VPacketBench.h"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"
#include "word.hpp"

namespace rnic::tb {

struct PacketDut : RtlDut<VPacketBench> {
  PacketIn fifo_in = RNIC_PACKET_IN(*this, fifo);
  PacketOut fifo_out = RNIC_PACKET_OUT(*this, fifo);

  PacketIn take_in = RNIC_PACKET_IN(*this, take);
  StreamOut<spec::Beat> take_head = RNIC_OUT(*this, take_head, spec::Beat);
  StreamIn<Word<6>> take_cut = RNIC_WORD_IN(*this, take_cut, 6);
  PacketOut take_out = RNIC_PACKET_OUT(*this, take);

  StreamIn<spec::Beat> put_header = RNIC_IN(*this, put_header, spec::Beat);
  PacketIn put_in = RNIC_PACKET_IN(*this, put);
  PacketOut put_out = RNIC_PACKET_OUT(*this, put);

  StreamIn<spec::Beat> shift_in = RNIC_IN(*this, shift, spec::Beat);
  StreamOut<spec::Beat> shift_out = RNIC_OUT(*this, shift, spec::Beat);

  PacketIn crc_in = RNIC_PACKET_IN(*this, crc);
  StreamOut<Word<32>> crc_out = RNIC_WORD_OUT(*this, crc, 32);
};

/// A random packet length: around beats and their edges, at times any length.
inline size_t some_length(base::Rng& rng, size_t limit) {
  static constexpr size_t kEdges[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193};
  const size_t n = rng.percent(50) ? kEdges[rng.below(std::size(kEdges))] : rng.below(limit + 1);
  return std::min(n, limit);
}

}  // namespace rnic::tb
