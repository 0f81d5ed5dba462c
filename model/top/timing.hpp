// All latencies of the model, in one place for calibration: one struct per unit. The cycles of a
// FIFO between two units count for the unit that it feeds. The clock and the width of the datapath,
// fixed in the RTL, are settings here.
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
