// Wraps a device and hands it records that no correct peer sends: one field is wrong. The CRC is
// correct, unless it is the damaged field. So the check of that field must reject the record.
//
//   Damaging device(std::move(inner));
//   device.next = Damage::kMsn;         the next segment that carries bytes
//   device.passes = 1;                  one more record passes; later ones stay in the transport
#pragma once

#include <optional>
#include <vector>

#include "support/device_around.hpp"

namespace rnic::mutants {

enum class Damage : uint8_t {
  kCrc,            // a bit of the ULPDU changed, the CRC unchanged
  kRecordError,    // the transport reports the record as damaged
  kLength,         // the length field is 4 bytes too large
  kTaggedShort,    // 10 bytes of ULPDU: an incomplete header
  kTaggedVersion,  // DDP version 2
  kUntaggedVersion,
  kQn,             // queue 3
  kMsn,            // one too high
  kMo,             // one byte too high
  kRdmapVersion,   // RDMAP version 2
  kOpcode,         // 15
  kReadLength,     // a Read Request of 32 bytes
  kWrap,           // TO near 2^64
  kManyReads,      // the Read Request repeated, with the next MSNs
  kTermNoLength,   // a Terminate without the length of its segment (M bit cleared)
  kTermNoHeader,   // a Terminate without an RDMAP header (R bit cleared)
  kOtherResponse,  // an Atomic Write Response with the opcode of a Flush Response
  kMany,
};
const char* name_of(Damage d);

/// The damaged records made from one record; usually one.
std::vector<sim::Record> damaged(const sim::Record& r, Damage d);

class Damaging final : public tb::DeviceAround {
 public:
  using DeviceAround::DeviceAround;
  std::optional<Damage> next;
  std::optional<uint32_t> passes;  // number of records still accepted; empty: unlimited

  bool can_llp_rx() const override { return passes != 0U && inner_->can_llp_rx(); }
  void llp_rx(sim::Record r) override;
};

}  // namespace rnic::mutants
