// The device: its units and the edges between them, as in rtl/gen/rnic.sv; edges.cpp lists them.
//
//   Dispatcher clock;   Rnic a(sizes, timing, clock, world);   a.mmio(...);
//   while (clock.next() <= limit) clock.step();
//
//   mmio -> host_if -doorbells-> qp -wqe-> rdmap -message-> ddp -tx_ulpdu-> mpa -tx_fpdu-> llp_if
//             |   |  ^           |           |              |  ^                           |  |
//     dma_rd <+   |  |           +- checks --+---- tpt -----+  +- rx_ulpdu- mpa <-rx_fpdu--+  |
//     dma_wr <+   |  +-cq_wr- cq <-cqe_req- qp <-rx_done, wr_done-            llp_tx, llp_rx <-+
//                 +- payload, place - ddp          admin -> qp, cq, tpt, llp_if
//                 +- qn1_rd, word_wr - atomic <-atomic_req, atomic_rsp- rdmap
#pragma once

#include <string>

#include "admin/admin_unit.hpp"
#include "atomic/atomic_unit.hpp"
#include "cq/cq_unit.hpp"
#include "ddp/ddp_unit.hpp"
#include "host_if/host_unit.hpp"
#include "llp_if/llp_unit.hpp"
#include "mpa/mpa_unit.hpp"
#include "qp/qp_unit.hpp"
#include "rdmap/rdmap_unit.hpp"
#include "top/units.hpp"
#include "tpt/tpt_unit.hpp"

namespace rnic::model {

class Rnic {
 public:
  /// `tap`: observes the items that cross between units; outlives this object. Null: no observer.
  Rnic(const spec::Sizes& sizes, const Timing& timing, Dispatcher& clock, Surroundings& world,
       StreamTap* tap = nullptr);
  ~Rnic();
  Rnic(const Rnic&) = delete;
  Rnic& operator=(const Rnic&) = delete;

  // The boundary. Before a call, the dispatcher's time must be the present: Dispatcher::set_now().
  // can_*: whether the next call of that kind is accepted.
  void set_pcie(const spec::PcieCfg& cfg) { host_.set_pcie(cfg); }
  bool can_mmio() const { return host_.can_mmio(); }
  void mmio(MmioAccess m) { host_.access(std::move(m)); }
  void dma_piece(ReadPiece p) { host_.piece(std::move(p)); }
  bool can_llp_rx() const { return llp_.can_receive(); }
  void llp_rx(LlpRecord r) { llp_.receive(std::move(r)); }
  void llp_event(const spec::LlpCtlEvt& e) { llp_.event(e); }
  void llp_credit(const spec::LlpCredit& c) { llp_.credit(c); }
  /// The surroundings accept requests or records again after a can_...() of theirs was false.
  void wake() {
    host_.wake();
    llp_.wake();
  }

  const spec::Sizes& sizes() const { return sizes_; }
  uint64_t cycles() const { return units_.now() - units_.born; }  // since reset
  /// Which unit waits for which, one line each; empty if nothing is outstanding.
  std::string waiting_for() const;

 private:
  /// Connects each output to its input (edges.cpp).
  void connect();

  spec::Sizes sizes_;
  Timing timing_;
  Units units_;
  TptUnit tpt_;
  AtomicUnit atomic_;
  RdmapUnit rdmap_;
  DdpUnit ddp_;
  QpUnit qp_;
  CqUnit cq_;
  MpaUnit mpa_;
  LlpUnit llp_;
  HostUnit host_;
  AdminUnit admin_;
};

}  // namespace rnic::model
