// The model's host_if with the interface of HostIfDut. The model handles whole packets and whole
// pieces of completions. This file splits write TLPs into beats, and joins beats of a completion to
// pieces and extents to groups. The next client on PCIe is chosen at random.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gen/sizes.hpp"
#include "gen/streams.hpp"
#include "host_if/host_if.hpp"
#include "host_if/root_port.hpp"
#include "support/paced_model.hpp"

namespace rnic::tb {

template <bool kMinimumBuild>
struct HostIfModelDut : PacedDut {
  static constexpr bool kIsRtl = false;
  static constexpr bool kMinimum = kMinimumBuild;
  static spec::Sizes sizes() { return kMinimum ? spec::Sizes::minimum() : spec::Sizes{}; }

  PacedIn<spec::MmioReq> mmio_req{*this, "mmio_req"};
  PacedOut<spec::MmioRsp> mmio_rsp{*this, "mmio_rsp"};
  PacedOut<spec::DmaRdReq> dma_rd_req{*this, "dma_rd_req"};
  PacedIn<spec::DmaRdRsp> dma_rd_rsp{*this, "dma_rd_rsp"};
  PacedOut<spec::DmaWr> dma_wr{*this, "dma_wr"};
  PacedOut<spec::QpDoorbell> qp_doorbell{*this, "qp_doorbell"};
  PacedOut<spec::CqDoorbell> cq_doorbell{*this, "cq_doorbell"};
  PacedOut<spec::EqDoorbell> eq_doorbell{*this, "eq_doorbell"};
  PacedOut<spec::AdminDoorbell> admin_doorbell{*this, "admin_doorbell"};
  PacedIn<spec::QpPurge> qp_purge{*this, "qp_purge"};
  PacedIn<spec::RdReq> sq_rd_req{*this, "sq_rd_req"};
  PacedOut<spec::RdHdr> sq_rd_hdr{*this, "sq_rd_hdr"};
  PacedPacketOut sq_rd{*this, "sq_rd"};
  PacedIn<spec::RdReq> rq_rd_req{*this, "rq_rd_req"};
  PacedOut<spec::RdHdr> rq_rd_hdr{*this, "rq_rd_hdr"};
  PacedPacketOut rq_rd{*this, "rq_rd"};
  PacedIn<spec::RdReq> admin_rd_req{*this, "admin_rd_req"};
  PacedOut<spec::RdHdr> admin_rd_hdr{*this, "admin_rd_hdr"};
  PacedPacketOut admin_rd{*this, "admin_rd"};
  PacedIn<spec::RegRdReq> reg_rd_req{*this, "reg_rd_req"};
  PacedOut<spec::RegRdHdr> reg_rd_hdr{*this, "reg_rd_hdr"};
  PacedPacketOut reg_rd{*this, "reg_rd"};
  PacedIn<spec::PayloadReq> payload_req{*this, "payload_req"};
  PacedIn<spec::Extent> tx_extent{*this, "tx_extent"};
  PacedOut<spec::PayloadHdr> payload_hdr{*this, "payload_hdr"};
  PacedPacketOut payload{*this, "payload"};
  PacedOut<spec::Retired> rd_retired{*this, "rd_retired"};
  PacedIn<spec::PlaceHdr> place_hdr{*this, "place_hdr"};
  PacedIn<spec::Extent> place_extent{*this, "place_extent"};
  PacedPacketIn place{*this, "place"};
  PacedOut<spec::PlaceDone> place_done{*this, "place_done"};
  PacedOut<spec::Retired> wr_retired{*this, "wr_retired"};
  PacedIn<spec::CqWr> cq_wr{*this, "cq_wr"};
  PacedIn<spec::AdminWr> admin_wr{*this, "admin_wr"};

  void configure(const spec::PcieCfg& cfg) { host_->set_pcie(cfg); }
  spec::DevCfg dev_cfg() const { return host_->cfg(); }
  void status(bool ready_all, bool fatal) {
    ready_ = ready_all;
    fatal_ = fatal;
  }
  void bad_doorbells(bool qp, bool cq) { bad_doorbells_ = unsigned{qp} + unsigned{cq}; }
  void unit_count(unsigned unit, const spec::UnitCount& count) { counts_.at(unit) = count; }
  ClientTap read_tap() const { return read_tap_; }
  ClientTap write_tap() const { return write_tap_; }
  uint64_t place_beats() const { return place_beats_; }

  void reset() override {
    host_ = std::make_unique<model::HostIf>(sizes(), out_);
    configure({.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 2});
    born_ = now();
    status(false, false);
    bad_doorbells(false, false);
    responses_.clear();
    places_.clear();
    cqs_.clear();
    admins_.clear();
    fetches_.clear();
    tx_extents_ = {};
    place_extents_ = {};
    piece_.clear();
    accepted_ = left_ = {};
    writing_.reset();
    tlp_.reset();
    own_ = false;
  }
  void step() override {
    for (unsigned i = 0; i < bad_doorbells_; i++) host_->bar.dropped();
    mmio();
    if (qp_purge.offers()) host_->bar.purge(qp_purge.pop().qpn);
    if (now() % 512 == 0) host_->bar.tick();  // ages the halves of pushes
    take_writes();
    write();
    take_reads();
    read();
    completion();
    walk();
    give(model::Reader::kSq, sq_rd_hdr, sq_rd);
    give(model::Reader::kRq, rq_rd_hdr, rq_rd);
    give(model::Reader::kAdmin, admin_rd_hdr, admin_rd);
    give(model::Reader::kReg, reg_rd_hdr, reg_rd);
    give(model::Reader::kPayload, payload_hdr, payload);
  }

 private:
  using Reader = model::Reader;
  using Writer = model::Writer;
  using Counts = std::array<uint64_t, model::kWriters>;
  struct Out final : model::HostIf::Out {
    explicit Out(HostIfModelDut& dut) : d(dut) {}
    void qp_doorbell(const spec::QpDoorbell& db) override { d.qp_doorbell.push(db); }
    void cq_doorbell(const spec::CqDoorbell& db) override { d.cq_doorbell.push(db); }
    void eq_doorbell(const spec::EqDoorbell& db) override { d.eq_doorbell.push(db); }
    void admin_doorbell(const spec::AdminDoorbell& db) override { d.admin_doorbell.push(db); }
    void dev_cfg(const spec::DevCfg&) override {}  // the bench reads it
    void place_done(const spec::PlaceDone& done) override { d.place_done.push(done); }
    void word_done() override {}  // the words are tested on RTL (host_if_qn1_test)
    void retired(const spec::Retired& r) override {
      (d.accepting_ ? d.wr_retired : d.rd_retired).push(r);
    }
    void msix_unmasked() override {}  // write() polls each time
    uint64_t device_time() const override { return d.now() - d.born_; }
    bool ready() const override { return d.ready_; }
    bool fatal() const override { return d.fatal_; }
    spec::UnitCount unit_count(uint32_t unit) const override { return d.counts_.at(unit); }
    HostIfModelDut& d;
  };
  struct Response {
    uint64_t value = 0;
    Counts before{};  // writes accepted before this read, of each client: the response follows them
  };
  struct Extents {  // whole groups, and one still coming
    std::deque<model::ExtentList> whole;
    model::ExtentList coming;
    void add(PacedIn<spec::Extent>& in) {
      if (!in.offers()) return;
      const auto e = in.pop();
      coming.add(e);
      if (e.last != 0) whole.push_back(std::exchange(coming, {}));
    }
    model::ExtentList pop() {
      auto group = std::move(whole.front());
      whole.pop_front();
      return group;
    }
  };

  void mmio() {
    if (mmio_req.offers()) {
      const auto r = mmio_req.pop();
      model::MmioAccess m{.is_write = r.is_write != 0,
                          .bar = r.bar,
                          .bytes = r.bytes,
                          .offset = r.offset,
                          .value = 0,
                          .data = {}};
      std::memcpy(&m.value, r.data.data(), sizeof m.value);
      if (r.bytes == 64) m.data = Payload::copy_of(r.data);
      host_->bar.write(m);  // a read, too: it may be ordered after half a push
      if (!m.is_write) responses_.push({host_->bar.read(m.bar, m.offset, m.bytes), accepted_});
    }
    if (!responses_.ready() || !mmio_rsp.ready()) return;
    // The response waits until all writes that were accepted before its read have left.
    for (size_t w = 0; w < left_.size(); w++)
      if (left_[w] < responses_.front().before[w]) return;
    mmio_rsp.push({.data = responses_.pop().value});
  }

  void take_writes() {
    place_extents_.add(place_extent);
    if (place_hdr.offers() && place.offers() && !place_extents_.whole.empty() && !places_.full()) {
      const auto hdr = place_hdr.pop();
      const Packet p = place.pop();
      EXPECT_EQ(hdr.length, p.bytes.size());
      places_.push({.extents = place_extents_.pop(), .data = Payload::copy_of(p.bytes)});
      place_beats_ += (p.bytes.size() + 63) / 64;
      accepted_[0]++;
    }
    if (cq_wr.offers() && !cqs_.full()) cqs_.push(cq_wr.pop()), accepted_[1]++;
    if (admin_wr.offers() && !admins_.full()) admins_.push(admin_wr.pop()), accepted_[2]++;
  }
  /// Starts the next packet of this client, or for kCq a pending interrupt. Returns false if the
  /// client has none.
  bool begin(Writer w) {
    if (w == Writer::kWord) return false;  // its words are tested on RTL
    if (w == Writer::kPlace) {
      if (!places_.ready()) return false;
      host_->wr.put(places_.pop());
    } else if (w == Writer::kAdmin) {
      if (!admins_.ready()) return false;
      host_->wr.put(admins_.pop());
    } else if (!cqs_.empty() || cq_wr.offers()) {  // a pending message comes after cq's items
      if (!cqs_.ready()) return false;
      host_->wr.put(cqs_.pop());
    } else {
      const auto message = host_->wr.pending_interrupt();
      if (!message) return false;
      host_->wr.put(*message);
      own_ = true;
    }
    return true;
  }
  void write() {
    const auto first = static_cast<uint32_t>(rng_.below(model::kWriters));
    for (uint32_t i = 0; !writing_ && i < model::kWriters; i++) {
      const auto w = static_cast<Writer>((first + i) % model::kWriters);
      if (begin(w)) writing_ = w;
    }
    if (!writing_) return;
    if (!tlp_) {
      if (!dma_wr.takes()) return;  // the TLP is decided when it is sent
      tlp_ = host_->wr.next(*writing_);
      sent_ = 0;
    }
    // Without a TLP the packet writes nothing: a masked interrupt, bus master off.
    if (tlp_ && !beat_left()) return;
    tlp_.reset();
    accepting_ = true;
    host_->wr.accepted(*writing_);
    accepting_ = false;
    if (host_->wr.busy(*writing_)) return;
    if (!std::exchange(own_, false)) left_[static_cast<size_t>(*writing_)]++;
    writing_.reset();
  }
  /// Sends a beat of the TLP, if the root accepts it. Returns true for the last beat.
  bool beat_left() {
    if (!dma_wr.takes()) return false;
    const auto rest = tlp_->data.bytes().subspan(sent_);
    const auto n = std::min<size_t>(64, rest.size());
    spec::DmaWr w{.address = tlp_->address,
                  .length = static_cast<uint16_t>(tlp_->data.size()),
                  .last = n == rest.size(),
                  .keep = static_cast<uint8_t>(n)};
    std::copy_n(rest.begin(), n, w.data.begin());
    write_tap_ = {true, tap(tlp_->purpose)};
    dma_wr.give(w);
    sent_ += n;
    return w.last != 0;
  }
  /// The client as tap_dma_wr of the RTL numbers it.
  static unsigned tap(model::Purpose p) {
    return p == model::Purpose::kPlace  ? 4
           : p == model::Purpose::kCq   ? 5
           : p == model::Purpose::kMsix ? 6
                                        : 7;
  }

  void take_reads() {
    const auto ask = [this](Reader r, PacedIn<spec::RdReq>& in) {
      if (!in.offers() || !host_->rd.can_ask(r)) return;
      const auto q = in.pop();
      host_->rd.ask(r, {.address = q.address, .length = q.length});
    };
    ask(Reader::kSq, sq_rd_req);
    ask(Reader::kRq, rq_rd_req);
    ask(Reader::kAdmin, admin_rd_req);
    ask(Reader::kReg, reg_rd_req);
    tx_extents_.add(tx_extent);
    if (payload_req.offers() && !tx_extents_.whole.empty() && !fetches_.full())
      fetches_.push({.hdr = payload_req.pop(), .extents = tx_extents_.pop()});
    if (fetches_.ready() && host_->rd.can_ask(Reader::kPayload)) host_->rd.ask(fetches_.pop());
  }
  void read() {
    if (!dma_rd_req.takes()) return;
    const auto first = static_cast<uint32_t>(rng_.below(model::kReaders));
    for (uint32_t i = 0; i < model::kReaders; i++) {
      const uint32_t r = (first + i) % model::kReaders;
      if (!host_->rd.has_next(static_cast<Reader>(r))) continue;
      const auto tlp = host_->rd.next(static_cast<Reader>(r));
      if (tlp.read.length == 0) return;  // refused
      read_tap_ = {true, r};
      return dma_rd_req.give({.tag = tlp.tag,
                              .address = tlp.read.address,
                              .length = static_cast<uint16_t>(tlp.read.length)});
    }
  }
  void completion() {
    if (!dma_rd_rsp.offers()) return;
    const auto beat = dma_rd_rsp.pop();
    const bool good = beat.status == spec::RdStatus::kOk;
    if (good) piece_.insert(piece_.end(), beat.data.begin(), beat.data.begin() + beat.keep);
    if (beat.piece_last == 0) return;
    const auto counts = host_->rd.arrived({.tag = beat.tag,
                                           .status = beat.status,
                                           .is_last = beat.is_last != 0,
                                           .data = Payload::copy_of(piece_)});
    if (counts) host_->rd.piece(*counts);
    piece_.clear();
  }
  /// Ends reads that have timed out.
  void walk() {
    // A walk every half time-out, but not more often than in the RTL, where one takes rd_tags
    // cycles.
    const uint64_t tick = std::max<uint64_t>(host_->cpl_timeout() / 2, sizes().rd_tags);
    if (host_->cpl_timeout() == 0 || now() % tick != 0) return;
    for (const auto& ended : host_->rd.walk()) host_->rd.piece(ended);
  }
  /// Puts the oldest whole packet of a read client on its streams.
  template <class Hdr>
  void give(Reader r, PacedOut<Hdr>& hdr, PacedPacketOut& data) {
    if (!host_->rd.whole(r) || !hdr.ready() || !data.ready()) return;
    const auto d = host_->rd.take(r);
    if constexpr (std::same_as<Hdr, spec::PayloadHdr>) {
      hdr.push(d.hdr);
    } else {
      hdr.push({.status = d.hdr.status, .length = static_cast<uint16_t>(d.hdr.length)});
    }
    data.push(to_packet(d.data.bytes()));
  }

  Out out_{*this};
  base::Rng rng_ = test_rng("host_if");
  std::unique_ptr<model::HostIf> host_;
  PacedFifo<Response> responses_{*this, "responses", sizes().fifo_depth};
  PacedFifo<model::Place> places_{*this, "places", sizes().fifo_depth};
  PacedFifo<spec::CqWr> cqs_{*this, "cqs", sizes().fifo_depth};
  PacedFifo<spec::AdminWr> admins_{*this, "admins", sizes().fifo_depth};
  PacedFifo<model::PayloadFetch> fetches_{*this, "fetches", sizes().fifo_depth};
  Extents tx_extents_, place_extents_;
  std::vector<uint8_t> piece_;  // the piece that is coming
  Counts accepted_{}, left_{};  // packets, by client
  std::optional<Writer> writing_;
  std::optional<model::WriteTlp> tlp_;
  size_t sent_ = 0;         // bytes of tlp_ sent
  bool accepting_ = false;  // inside wr.accepted(): retired() reports a write's extent
  bool own_ = false;        // the write is host_if's own: a pending interrupt
  ClientTap read_tap_, write_tap_;
  uint64_t place_beats_ = 0, born_ = 0;
  bool ready_ = false, fatal_ = false;
  unsigned bad_doorbells_ = 0;
  std::array<spec::UnitCount, spec::kCountItemsCount> counts_{};
};

}  // namespace rnic::tb
