// The stages of a device, downstream first: the order in which the dispatcher steps the stages of
// one cycle.
//
// Why downstream first: room that a stage frees in a cycle is visible upstream in the same cycle,
// as with a combinational ready (sc/dispatcher.hpp). So a new stage goes after every stage that it
// feeds. Where two stages feed each other, requests decide: kHostRd comes before kQpFetch, which
// requests the reads, although the data flows back.
//
// The control stages (kTptCtl to kAdmin) come after the stages of the data path: a command or order
// of a cycle finds that the items of this cycle have moved. Among them, too, the unit that gives a
// command comes after those that execute it; MMIO comes after admin, and so after all of them.
// kHostTags fails reads whose completions have not come in time. It is last, so an MMIO write of
// cpl_timeout has its effect first.
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
