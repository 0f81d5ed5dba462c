// PCIe interface: registers and doorbells, reads for six clients, writes for four, MSI-X.
// Architecture 3.1 and 3.2. RTL: rtl/host_if/host_if.sv
//
//   HostIf h(sizes, out);   h.bar.write(m);   uint64_t v = h.bar.read(bar, offset, bytes);
//   h.rd.ask(Reader::kSq, read);   auto tlp = h.rd.next(Reader::kSq);
//   if (auto q = h.rd.arrived(p)) h.rd.piece(*q);          h.rd.take(Reader::kSq);
//   h.wr.put(place);               auto w = h.wr.next(Writer::kPlace);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "gen/queues.hpp"
#include "gen/regs.hpp"
#include "gen/sizes.hpp"
#include "host_if/read_shares.hpp"
#include "sc/ring.hpp"
#include "stream/packets.hpp"

namespace rnic::model {

enum class Writer : uint8_t { kPlace, kCq, kAdmin, kWord };
inline constexpr size_t kWriters = 4;

struct MmioAccess {  // mmio_req
  bool is_write = false;
  uint8_t bar = 0, bytes = 8;
  uint32_t offset = 0;
  uint64_t value = 0;
  rnic::Payload data;  // of 64 bytes
};
struct ReadTlp {  // dma_rd_req
  uint8_t tag = 0;
  MemRead read;
};
struct ReadPiece {  // dma_rd_rsp
  uint8_t tag = 0;
  spec::RdStatus status{};
  bool is_last = false;
  rnic::Payload data;
};
struct WriteTlp {  // dma_wr
  Purpose purpose{};
  uint16_t qpn = 0;
  uint64_t address = 0;
  rnic::Payload data;
  bool ends = false;  // the last of its packet
};

class HostIf {
 public:
  struct Out {
    virtual ~Out() = default;
    virtual void qp_doorbell(const spec::QpDoorbell& db) = 0;
    virtual void cq_doorbell(const spec::CqDoorbell& db) = 0;
    virtual void eq_doorbell(const spec::EqDoorbell& db) = 0;
    virtual void admin_doorbell(const spec::AdminDoorbell& db) = 0;
    virtual void dev_cfg(const spec::DevCfg& cfg) = 0;
    virtual void place_done(const spec::PlaceDone& done) = 0;
    virtual void retired(const spec::Retired& r) = 0;  // an extent of a read or write is unused
    virtual void word_done() = 0;                      // the oldest word_wr was sent
    virtual void cpl_timeout_changed() {}              // the register was written
    virtual void msix_unmasked() = 0;                  // wr.pending_interrupt() may return one
    // State of other units that registers show.
    virtual uint64_t device_time() const = 0;  // cycles since reset
    virtual bool ready() const = 0;
    virtual bool fatal() const = 0;
    virtual spec::UnitCount unit_count(uint32_t unit) const = 0;  // unit: row of count_items
  };

  class Bar {
   public:
    Bar(HostIf& h, const spec::Sizes& sizes) : h_(h), sizes_(sizes) {}
    void write(const MmioAccess& m);                                   // a register or a doorbell
    uint64_t read(uint8_t bar, uint32_t offset, uint8_t bytes) const;  // a register; else 0
    /// Called every HostTiming::push_tick cycles while waiting(). Ends the halves of pushed WQEs
    /// that have seen an earlier tick: a first half counts as a plain doorbell, a second half is
    /// dropped.
    void tick();
    bool waiting() const;  // a half waits for its other half
    /// Ends one half as tick() does, at a time that the caller chooses (tandem).
    void give_up(uint16_t page, uint16_t qpn, uint16_t index);
    /// qp_purge: discards the halves of this QP's pushes at destroy_qp.
    void purge(uint16_t qpn);
    void dropped() { ++dropped_; }  // called for doorbells that qp or cq reject

   private:
    void write_register(uint32_t offset, uint64_t value, uint64_t mask);
    uint64_t register64(uint32_t offset) const;
    void doorbell(const MmioAccess& m);
    struct Half {  // one half of a pushed WQE of two units
      // is_aged: the half has seen a tick; the next tick ends it.
      bool is_valid = false, is_second = false, is_aged = false;
      spec::QpDoorbell push;  // page, QP and index identify the WQE
      bool is_of(const spec::QpDoorbell& w) const {
        return is_valid && push.page == w.page && push.qpn == w.qpn && push.index == w.index;
      }
    };
    void half(const MmioAccess& m, uint32_t page);
    void before_doorbell(uint16_t page, uint16_t qpn);
    void ring_alone(Half& h);
    HostIf& h_;
    spec::Sizes sizes_;
    uint64_t dropped_ = 0;
    std::array<Half, 4> halves_;  // halves whose other half has not arrived
  };

  class Rd {
   public:
    Rd(HostIf& h, const spec::Sizes& sizes);
    /// Whether ask() may be called: each earlier read of this client has sent all its requests.
    /// host_if_gather opens one packet at a time.
    bool can_ask(Reader r) const;
    void ask(Reader r, const MemRead& read);
    void ask(PayloadFetch fetch);  // of Reader::kPayload
    /// Whether next() may be called for the client's oldest unsent request: the placements of its
    /// watermark are done, and a tag and buffer space are free. Without DMA it needs neither of
    /// these two, because next() refuses the read.
    bool has_next(Reader r) const;
    /// The next request, cut at extents, 4 KiB and MRRS. Length 0: the read was refused.
    ReadTlp next(Reader r);
    /// A completion arrives. Returns its valid part: nothing if its tag is not outstanding, the end
    /// of the read with an error if its length is wrong.
    std::optional<ReadPiece> arrived(ReadPiece p);
    /// Called every half of cpl_timeout while watching(). Returns an end with an error for each
    /// request that has timed out.
    std::vector<ReadPiece> walk();
    bool watching() const { return watched_ != 0; }  // a tag is open or held
    /// Processes the valid part of a completion, in the order of arrival.
    void piece(const ReadPiece& p);
    Reader reader(uint8_t tag) const { return tags_[tag].reader; }
    bool whole(Reader r) const;  // the client's oldest read has ended: take() returns it
    PayloadData take(Reader r);  // returns that read, and frees its space
    uint64_t errors() const { return errors_; }
    uint64_t unexpected() const { return unexpected_; }
    uint64_t malformed() const { return malformed_; }
    uint64_t timed_out() const { return timed_out_; }
    std::string waiting_for() const;

   private:
    friend class HostIf;
    struct Job {
      Purpose purpose{};
      uint16_t qpn = 0;
      uint32_t total = 0, issued = 0, open = 0;      // bytes, bytes requested; open requests
      bool reserved = false, has_watermark = false;  // reserved: the read has its buffer space
      uint64_t watermark = 0;
      uint32_t extent = 0, extent_offset = 0;  // where the next request begins
      ExtentList extents;
      spec::RdStatus status{};
      uint32_t bad_at = UINT32_MAX;  // offset of the first failed request
      rnic::Payload data;
    };
    /// Tag state towards PCIe. kHeld: the read has failed, but its completion may still arrive. The
    /// tag is reused after its last completion, or after further walks (kHeldAges).
    enum class TagState : uint8_t { kFree, kOpen, kHeld };
    struct Tag {
      Reader reader{};
      uint32_t serial = 0, offset = 0;  // its Job; where its next bytes go in Job::data
      uint32_t left = 0;                // bytes that have not arrived
      uint8_t age = 0;                  // walks since the tag was opened, or held
      TagState state = TagState::kFree;
      bool busy = false;      // piece() has not processed the request's end
      bool ends = false;      // the last request of its packet
      bool is_given = false;  // the tag is in given_: not reused before it leaves given_
    };
    void set(uint8_t tag, TagState state);
    void give_back(size_t reader);  // moves tags from given_ to free_tags_
    const Ring<Job>& jobs(Reader r) const { return jobs_[static_cast<size_t>(r)]; }
    Ring<Job>& jobs(Reader r) { return jobs_[static_cast<size_t>(r)]; }
    bool placed(uint64_t watermark) const;
    void refuse(Job& j);

    HostIf& h_;
    std::array<Ring<Job>, kReaders> jobs_;
    // Serial numbers, which count the reads of a client: of the job at the front of jobs_, of the
    // job whose requests are being sent.
    std::array<uint32_t, kReaders> head_{}, issue_{};
    std::array<Ring<uint8_t>, kReaders> free_tags_;  // the tag that is free for longest is next
    std::array<Ring<uint8_t>, kReaders> given_;      // in order of use; tags return in this order
    std::vector<Tag> tags_;
    uint32_t space_ = 0;  // free buffer space, in beats, for payload packets
    uint64_t errors_ = 0, unexpected_ = 0, malformed_ = 0, timed_out_ = 0;
    uint32_t watched_ = 0;  // tags that are open or held
  };

  class Wr {
   public:
    explicit Wr(HostIf& h) : h_(h) {}
    // Begins a packet of one client, which must not be busy().
    void put(Place p);
    void put(const spec::CqWr& w);
    void put(const spec::AdminWr& w);
    void put(const spec::WordWr& w);
    bool busy(Writer w) const { return job_[static_cast<size_t>(w)].busy; }
    /// The next TLP of this client's packet; nothing if the packet writes nothing (a masked
    /// interrupt, bus master off).
    std::optional<WriteTlp> next(Writer w);
    /// The result of next() was sent, or was nothing. After the packet's last one: reports
    /// place_done and the retired extents, or word_done.
    void accepted(Writer w);
    /// The MSI-X message of the lowest pending vector that is not masked. It stays pending until
    /// next() has read its table row.
    std::optional<spec::CqWr> pending_interrupt();

   private:
    friend class HostIf;
    struct Job {
      bool busy = false;
      Purpose purpose{};
      uint16_t qpn = 0;
      uint8_t vector = 0;
      uint64_t address = 0;
      uint32_t offset = 0, extent = 0, extent_offset = 0;
      ExtentList extents;
      rnic::Payload data;
    };
    void read_row(Job& j);               // of the MSI-X table
    bool masked(uint32_t vector) const;  // by its row or by the PCIe configuration
    HostIf& h_;
    std::array<Job, kWriters> job_;
  };

  HostIf(const spec::Sizes& sizes, Out& out, uint32_t clock_khz = base::kNominalClock.khz())
      : bar(*this, sizes), rd(*this, sizes), wr(*this), out_(out), clock_khz_(clock_khz) {
    msix_.resize(sizes.num_vectors);
  }
  Bar bar;
  Rd rd;
  Wr wr;

  void set_pcie(const spec::PcieCfg& cfg);
  bool dma_enabled() const { return pcie_.bus_master != 0 && cfg_.enable != 0; }
  const spec::DevCfg& cfg() const { return cfg_; }
  uint64_t placed() const { return placed_; }            // placed packets since reset
  uint32_t cpl_timeout() const { return cpl_timeout_; }  // cycles; 0: none

 private:
  struct Vector {
    uint64_t address = 0;
    uint32_t data = 0;
    bool mask = true, pending = false;
  };
  uint32_t mps() const { return 128U << pcie_.mps; }
  uint32_t mrrs() const { return 128U << pcie_.mrrs; }

  Out& out_;
  uint32_t cpl_timeout_ = 0x01000000;  // reset value of the register: 52 ms
  uint32_t clock_khz_;                 // value of the clock register
  spec::PcieCfg pcie_;
  spec::DevCfg cfg_;
  std::vector<Vector> msix_;
  uint64_t placed_ = 0;  // placed packets since reset
};

}  // namespace rnic::model
