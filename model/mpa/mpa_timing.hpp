// Cycles of mpa. Each constant names the register stages it stands for.
#pragma once

#include "sc/datapath.hpp"
#include "top/packets.hpp"

namespace rnic::model {

struct MpaTiming {
  Cycle rx_crc = 4;     // CRC of a beat, folding, comparison
  Cycle rx_strip = 2;   // markers out; length off
  Cycle rx_store = 2;   // commit in the store, first beat out
  Cycle tx_frame = 2;   // length on, realignment
  Cycle tx_marker = 1;  // markers in
  Cycle tx_crc = 3;     // CRC of a beat, its place behind the last
};

struct MpaRxTiming {
  MpaTiming t;
  Datapath path;
  Cycle occupancy(const RxUlpdu& u) const { return path.occupancy(u.hdr.length + 6U); }
  /// Behind the last beat, since an FPDU is stored whole.
  Cycle latency(const RxUlpdu& u) const {
    return path.beats(u.hdr.length + 6U) + t.rx_crc + t.rx_strip + t.rx_store;
  }
};
struct MpaTxTiming {
  MpaTiming t;
  Datapath path;
  Cycle occupancy(const TxFpdu& f) const { return path.occupancy(f.hdr.length); }
  Cycle latency(const TxFpdu&) const { return t.tx_frame + t.tx_marker + t.tx_crc; }
};

}  // namespace rnic::model
