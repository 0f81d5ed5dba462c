// Every cycle that the model charges, in one place for calibration: one struct a unit. Cycles of a
// unit are its own; a FIFO between units is in the unit that it feeds. What the RTL fixes and the model has as settings: the clock,
// the width of the datapath.
#pragma once

#include "admin/admin_timing.hpp"
#include "atomic/atomic_timing.hpp"
#include "base/clock.hpp"
#include "cq/cq_timing.hpp"
#include "ddp/ddp_timing.hpp"
#include "host_if/host_timing.hpp"
#include "llp_if/llp_timing.hpp"
#include "mpa/mpa_timing.hpp"
#include "qp/qp_timing.hpp"
#include "rdmap/rdmap_timing.hpp"
#include "tpt/tpt_timing.hpp"

namespace rnic::model {

struct Timing {
  base::Clock clock;
  Datapath path;
  HostTiming host;
  AdminTiming admin;
  QpTiming qp;
  TptTiming tpt;
  AtomicTiming atomic;
  RdmapTiming rdmap;
  DdpTiming ddp;
  MpaTiming mpa;
  CqTiming cq;
  LlpTiming llp;
};

}  // namespace rnic::model
