// Latencies of mpa in cycles. Each constant names its register stages.
#pragma once

#include "sc/datapath.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

struct MpaTiming {
  // crc32c, from the first beat on: the beats are already in the FIFO when llp_if sends the header.
  // The stages for position, markers (2) and length (2) run in parallel.
  Cycle rx_crc = 7;
  Cycle rx_store = 5;  // checked, committed, header FIFO, first beat read
  Cycle tx_frame =
      4;  // FIFO, header_put, zeros, stream_reg; the position is read while the header is ahead
  Cycle tx_marker = 1;  // mpa_tx_marker: inserts markers
  Cycle tx_crc = 8;     // FIFO, crc32c (7): the CRC follows the last beat
  Cycle tx_ahead = 5;   // tx_fpdu_hdr until the frame's first beat enters mpa_tx_marker
};

struct MpaRxTiming {
  MpaTiming t;
  Datapath path;
  // An FPDU has 6 bytes more than its ULPDU: length 2, CRC 4.
  Cycle occupancy(const RxUlpdu& u) const { return path.occupancy(u.hdr.length + 6U); }
  Cycle beats(const RxUlpdu& u) const { return path.beats(u.hdr.length); }
  /// Until the last beat, because an FPDU is stored whole.
  Cycle latency(const RxUlpdu& u) const {
    return path.beats(u.hdr.length + 6U) - 1 + t.rx_crc + t.rx_store;
  }
};
struct MpaTxTiming {
  MpaTiming t;
  Datapath path;
  Cycle occupancy(const TxFpdu& f) const { return path.occupancy(f.hdr.length); }
  Cycle beats(const TxFpdu& f) const { return path.beats(f.hdr.length); }
  /// Until the last beat, with which the LLP receives the record.
  Cycle latency(const TxFpdu& f) const {
    return t.tx_frame + t.tx_marker + t.tx_crc + beats(f) - 1;
  }
};

}  // namespace rnic::model
