// Records that no peer of ours would send, on their way to a device: one field is wrong, and the
// CRC is right again unless it is what is wrong. So each check of a header is asked to say no.
//
//   Damaging device(std::move(inner));
//   device.next = Damage::kMsn;                     the next segment that carries bytes
//   device.passes = 1;                              one more record comes, what is behind it stays in the transport
#pragma once

#include <optional>
#include <vector>

#include "support/device_around.hpp"

namespace rnic::mutants {

enum class Damage : uint8_t {
  kCrc,            // a bit of the ULPDU changed, the CRC not
  kRecordError,    // the transport says that the record is damaged
  kLength,         // the length field says 4 bytes more
  kTaggedShort,    // 10 bytes of ULPDU: no whole header
  kTaggedVersion,  // DDP version 2
  kUntaggedVersion,
  kQn,            // queue 3
  kMsn,           // the one after the next
  kMo,            // one byte on
  kRdmapVersion,  // RDMAP version 2
  kOpcode,        // 15
  kReadLength,    // a Read Request of 32 bytes
  kWrap,          // TO near 2^64
  kManyReads,     // the Read Request again and again, with the next MSNs
  kTermNoLength,  // a Terminate that does not say the length of the segment it carries,
  kTermNoHeader,  // or says that it carries no RDMAP header
  kMany,
};
const char* name_of(Damage d);

/// What becomes of a record: usually one, made from it.
std::vector<sim::Record> damaged(const sim::Record& r, Damage d);

class Damaging final : public tb::DeviceAround {
 public:
  using DeviceAround::DeviceAround;
  std::optional<Damage> next;
  std::optional<uint32_t> passes;  // so many records may come, then none until this is empty again

  bool can_llp_rx() const override { return passes != 0U && inner_->can_llp_rx(); }
  void llp_rx(sim::Record r) override;
};

}  // namespace rnic::mutants
