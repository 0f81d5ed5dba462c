// The stages of a device, downstream first: the order in which the dispatcher steps the stages of
// one cycle.
#pragma once

#include <cstdint>

namespace rnic::model {

enum class StageNo : uint32_t {
  kHostWr,
  kHostMmioRsp,
  kLlpCtlOut,
  kLlpTx,
  kMpaTx,
  kDdpOut,
  kHostRd,
  kDdpSegment,
  kDdpSched,
  kRdmapTx,
  kQpIssue,
  kQpFetch,
  kCqWrite,
  kAtomic,
  kQpRetire,
  kDdpRx,
  kMpaRx,
  kLlpRx,
  kTptCtl,
  kTptRegister,
  kMpaCtl,
  kDdpCtl,
  kRdmapCtl,
  kLlpCtl,
  kQpCtl,
  kCqCtl,
  kAdmin,
  kHostMmio,
  kHostTags,
};

}  // namespace rnic::model
