// The stages of a device, downstream first: the order in which the dispatcher steps the stages of
// one cycle.
//
// Why downstream first: room that a stage frees in a cycle is visible upstream in the same cycle,
// as with a combinational ready (sc/dispatcher.hpp). So a new stage goes after every stage that it
// feeds. Where two stages feed each other, the requests decide: kHostRd comes before kQpFetch,
// which requests reads of it, although the data of the reads flows the other way.
//
// The control stages (kTptCtl to kAdmin) come after the stages of the data path: a command or order
// finds that the items of its cycle have moved. Among the control stages, the unit that gives a
// command comes after the units that execute it. MMIO comes after admin, and so after all of them.
// kHostTags fails reads whose completions have not come in time. It is last, so that an MMIO write
// of cpl_timeout in the same cycle takes effect before it.
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
