// Framing: converts FPDUs to ULPDUs and back. RFC 5044 section 4. RTL: rtl/mpa/mpa.sv
//
//   Mpa mpa(sizes, out);   mpa.control({QpOp::kStart, qpn, params});
//   mpa.enters(qpn, true);   mpa.rx.take(fpdu);   RxUlpdu u = mpa.rx.next();   // tx: the same
//
// An FPDU is the ULPDU's length, the ULPDU, zeros up to a multiple of 4, and a CRC32c. If
// negotiated, a marker is inserted at each stream position that is a multiple of 512.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gen/sizes.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

/// Bytes of an FPDU without markers: length field 2, ULPDU, pad to a multiple of 4, CRC 4.
constexpr uint32_t fpdu_bytes(uint32_t ulpdu) { return (2 + ulpdu + 3) / 4 * 4 + 4; }
/// The largest number of markers in such an FPDU.
constexpr uint32_t most_markers(uint32_t ulpdu) {
  constexpr uint32_t kBetween = spec::kMpaMarkerSpacing - spec::MpaMarker::kBytes;
  return (fpdu_bytes(ulpdu) + kBetween - 1) / kBetween;
}

class Mpa {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void qp_ack_mpa(const spec::QpAckMpa& ack) = 0;
  };

  class Rx {  // rx_fpdu -> rx_ulpdu: CRC, length, markers; a bad FPDU is reported as a cause
   public:
    using In = RxFpdu;
    using Out = RxUlpdu;
    explicit Rx(Mpa& mpa) : mpa_(mpa) {}
    void take(RxFpdu in);
    bool pending() const { return full_; }  // next() may be called
    RxUlpdu next();

   private:
    Mpa& mpa_;
    RxFpdu in_;
    bool full_ = false;
  };
  class Tx {  // tx_ulpdu -> tx_fpdu
   public:
    using In = TxUlpdu;
    using Out = TxFpdu;
    explicit Tx(Mpa& mpa) : mpa_(mpa) {}
    void take(TxUlpdu in);
    bool pending() const { return full_; }
    TxFpdu next();

   private:
    Mpa& mpa_;
    TxUlpdu in_;
    bool full_ = false;
  };

  Mpa(const spec::Sizes& sizes, Out& out) : rx(*this), tx(*this), out_(out), qps_(sizes.num_qps) {}
  Rx rx;
  Tx tx;

  void control(const spec::QpCtlMpa& ctl);  // an order of qp
  /// An FPDU (rx) or ULPDU of this QP is at an input: from now on stop and sync wait for it.
  void enters(uint16_t qpn, bool rx) { ++(rx ? qps_[qpn].rx : qps_[qpn].tx).inside; }
  std::string waiting_for() const;

 private:
  struct Qp {
    bool running = false, stopping = false;
    uint32_t orders = 0;  // stop, sync: not acknowledged yet
    bool use_crc = false, rx_markers = false, tx_markers = false;
    uint32_t rx_position = 0, tx_position = 0;  // in the stream since the first FPDU, modulo 512
    struct Way {
      // Items in flight; those of them for which the latest stop or sync waits.
      uint32_t inside = 0, awaited = 0;
    } rx, tx;
  };
  void leaves(uint16_t qpn, bool rx);
  void maybe_drained(uint16_t qpn);

  Out& out_;
  std::vector<Qp> qps_;
};

}  // namespace rnic::model
