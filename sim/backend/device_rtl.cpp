// Implements the Device interface with the RTL. One SC_METHOD per device steps the Verilated top
// once per clock period. Around the edge it converts items to beats and beats to items. It makes no
// decisions.
#include "backend/device_rtl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <optional>
#include <systemc>
#include <variant>
#include <vector>

#include "backend/observer.hpp"
#include "backend/rtl_pins.hpp"
#include "backend/rtl_wait_chain.hpp"
#include "backend/sq_progress.hpp"
#include "base/clock.hpp"

namespace rnic::sim {
namespace {

constexpr uint32_t kBeat = 64;
constexpr uint32_t kResetCycles = 8;
constexpr size_t kRecordsWaiting = 4;     // llp_rx records accepted ahead of the pins
constexpr size_t kTxHeadersAhead = 4;     // headers of llp_tx accepted before their beats
constexpr size_t kMmioWaiting = 8;        // register accesses accepted ahead of the pins
constexpr int32_t kShortOfCredit = 9216;  // bytes: a frame of MTU 9000 may not fit

/// Cuts one packet into beats for an input of the device.
struct Feeder {
  Payload data;
  uint32_t at = 0;
  bool done = true;
  void start(Payload p) {
    data = std::move(p);
    at = 0;
    done = false;
  }
  template <class Beat>
  void beat(Beat& b) const {
    const auto bytes = data.bytes();
    const uint32_t n = std::min<uint32_t>(kBeat, data.size() - at);
    b.keep = static_cast<uint8_t>(n);
    b.data.fill(0);
    if (n != 0) std::memcpy(b.data.data(), bytes.data() + at, n);
  }
  bool at_last() const { return at + kBeat >= data.size(); }
  void advance() {
    if (at_last()) {
      done = true;
      data = Payload();
    } else {
      at += kBeat;
    }
  }
};

/// Joins the beats of one packet from an output of the device.
struct Gatherer {
  Payload data;
  uint32_t at = 0;
  void start(uint32_t size) {
    data = Payload::make(size);
    at = 0;
  }
  /// Appends a beat. False: the packet has more bytes than its header announced.
  template <class Beat>
  bool take(const Beat& b) {
    if (at + b.keep > data.size()) return false;
    if (b.keep != 0) std::memcpy(data.writable().data() + at, b.data.data(), b.keep);
    at += b.keep;
    return true;
  }
};

class RtlDevice final : public sc_core::sc_module, public Device {
 public:
  SC_HAS_PROCESS(RtlDevice);
  RtlDevice(const RtlOptions& o, sc_core::sc_module_name name)
      : sc_module(name),
        options_(o),
        pins_(make_rtl_pins(o.build, o.reset_seed, o.stalls)),
        sizes_(sizes_of(o.build)) {
    pins_->want_commits = o.observer != nullptr;
    pins_->want_streams = o.observer != nullptr && o.observer->wants_streams();
    SC_METHOD(tick);
  }

  void attach(DeviceEnv& env) override { env_ = &env; }
  void reset() override {
    reset_left_ = kResetCycles;
    mmio_.clear();
    mmio_told_.clear();
    pieces_.clear();
    records_.clear();
    events_.clear();
    credits_.clear();
    piece_feed_ = record_feed_ = Feeder{};
    tx_hdrs_.clear();
    tx_open_ = wr_open_ = false;
    records_in_ = records_done_ = reads_issued_ = 0;
    reads_ = {};
    credit_.assign(sizes_.num_conns, {});
    sq_.reset();
    before_.reset();
    pins_->in = RtlPins::In{};
    if (options_.observer != nullptr) options_.observer->reset();
  }
  void set_pcie(const spec::PcieCfg& cfg) override {
    pins_->pcie_cfg = cfg;
    if (options_.observer != nullptr) options_.observer->pcie(cfg);
  }
  bool can_mmio() const override { return mmio_.size() < kMmioWaiting; }
  void mmio(Mmio m) override {
    sq_.mmio(m);
    spec::MmioReq r;
    r.is_write = m.is_write;
    r.bar = m.bar;
    r.offset = m.offset;
    r.bytes = m.bytes;
    if (m.bytes == kBeat) {
      std::memcpy(r.data.data(), m.data.bytes().data(), kBeat);
    } else {
      for (unsigned i = 0; i < 8; ++i) r.data[i] = static_cast<uint8_t>(m.value >> (8 * i));
    }
    mmio_.push_back(r);
    if (options_.observer != nullptr) mmio_told_.push_back(std::move(m));
  }
  void dma_piece(DmaPiece p) override { pieces_.push_back(std::move(p)); }
  bool can_llp_rx() const override { return records_.size() < kRecordsWaiting; }
  void llp_rx(Record r) override {
    records_.push_back(std::move(r));
    ++records_in_;
  }
  void llp_event(const spec::LlpCtlEvt& e) override {
    events_.push_back({e, records_in_});
    using enum spec::LlpEvt;
    // The LLP counts a connection's credit from its beginning (stream llp_credit).
    const bool begins_or_ends = e.kind == kEstablished || e.kind == kIncoming ||
                                e.kind == kClosed || e.kind == kReset || e.kind == kFailed;
    if (begins_or_ends && e.connection < credit_.size()) credit_[e.connection] = {};
  }
  void llp_credit(const spec::LlpCredit& c) override {
    credits_.push_back(c);
    if (c.connection < credit_.size()) credit_[c.connection].limit = c.limit;
  }
  void wake() override {}  // ready is recomputed each cycle
  const spec::Sizes& sizes() const override { return sizes_; }
  std::string describe() const override { return "rtl" + suffix_of(options_.build); }
  std::string failure() const override { return failure_.empty() ? pins_->failure() : failure_; }
  void stands_still() override {
    if (wave_open_) return;  // two writers of one device's waveform would miss changes
    before_ = snapshot("before", [this](const std::string& file) { pins_->snapshot(file); });
    before_cycle_ = cycle_;
  }
  std::string waiting_for() const override {
    std::string w = work_requests();
    const StreamStates now = pins_->streams_now();
    for (size_t i = 0; i < now.size(); ++i) {
      const StreamName& s = kStreamNames[i];
      if (now[i] == kStreamValid)
        w += fmt::format("{}: {} is offered by {} and not taken by {}\n", options_.name, s.name,
                         s.from, s.to);
    }
    for (size_t i = 0; i < credit_.size(); ++i) {
      const auto left = static_cast<int32_t>(credit_[i].limit - credit_[i].sent);
      if (credit_[i].limit == 0 || left > kShortOfCredit) continue;
      w += fmt::format("{}: connection {} has {} bytes of the LLP's credit left\n", options_.name,
                       i, left);
    }
    const auto open =
        std::count_if(reads_.begin(), reads_.end(), [](const auto& r) { return r.has_value(); });
    if (open != 0) {
      const DmaRead& first = **std::min_element(
          reads_.begin(), reads_.end(),
          [](const auto& a, const auto& b) { return a && (!b || a->at < b->at); });
      w += fmt::format(
          "{}: {} DMA reads are not answered, the oldest with tag {} ({} bytes from {:#x}, for "
          "{})\n",
          options_.name, open, first.tag, first.length, first.address, to_string(first.client));
    }
    return w + inside();
  }
  uint64_t cycles() const override { return cycle_; }

 private:
  /// Reports send queues with work requests that have not completed.
  std::string work_requests() const {
    constexpr size_t kMany = 8;
    std::string w;
    const auto waiting = sq_.waiting();
    for (size_t i = 0; i < waiting.size() && i < kMany; ++i) {
      const auto& q = waiting[i];
      w += fmt::format("{}: QP {}: its SQ doorbell is at index {}, ", options_.name, q.qpn, q.rung);
      w += q.completed ? fmt::format("the last completion is of the WQE at {}\n", *q.completed)
                       : std::string("no WQE has completed\n");
    }
    if (waiting.size() > kMany)
      w += fmt::format("{}: and {} more QPs with WQEs that have not completed\n", options_.name,
                       waiting.size() - kMany);
    return w;
  }

  /// Reports which units, leaves and queues wait for each other.
  std::string inside() const {
    const auto now = snapshot("now", [this](const std::string& file) { pins_->snapshot(file); });
    if (!now) return {};
    // Long enough to clear every table after reset at one entry per cycle, with a margin.
    const uint64_t cycles =
        2 * std::max({sizes_.num_stags, sizes_.num_qps, sizes_.num_conns}) + 1000;
    const auto idle =
        snapshot("idle", [&](const std::string& file) { pins_->snapshot_idle(file, cycles); });
    std::string w;
    for (const std::string& line : wait_chain({.now = *now,
                                   .idle = idle ? &*idle : nullptr,
                                   .before = before_ ? &*before_ : nullptr,
                                   .before_cycle = before_cycle_}))
      w += fmt::format("{}: {}\n", options_.name, line);
    return w;
  }
  template <class Write>
  static std::optional<RtlSnapshot> snapshot(const char* name, Write write) {
    std::error_code ignored;
    std::string folder =
        (std::filesystem::temp_directory_path(ignored) / "rnic-snapshot-XXXXXX").string();
    if (ignored || mkdtemp(folder.data()) == nullptr) return {};
    const std::string file = fmt::format("{}/{}.fst", folder, name);
    write(file);
    auto s = RtlSnapshot::read(file);
    std::filesystem::remove_all(folder, ignored);
    return s;
  }

 private:
  struct TimedEvent {
    spec::LlpCtlEvt event;
    uint64_t after_records;  // not before the device has accepted this many records
  };

  /// One clock cycle: inputs and readies, the edge, then what the edge transferred.
  void tick() {
    auto& in = pins_->in;
    auto& out = pins_->out;
    pins_->rst_n = reset_left_ == 0;
    if (reset_left_ == 0) {
      offer(in);
      out.mmio_rsp.ready = true;
      out.dma_rd_req.ready = env_->can_dma_read();
      // A credit is for a whole TLP: beats after the first need none.
      out.dma_wr.ready = wr_open_ || env_->can_dma_write();
      out.llp_tx_hdr.ready = tx_hdrs_.size() < kTxHeadersAhead && env_->can_llp_tx();
      out.llp_tx.ready = true;
      out.llp_ctl_req.ready = true;
    } else {
      --reset_left_;
    }
    wave();
    pins_->cycle();
    ++cycle_;
    if (pins_->rst_n) collect(in, out);
    if (failure_.empty()) {
      failure_ = pins_->failure();
      if (!failure_.empty()) sc_core::sc_pause();
    }
    if (options_.end_asked != nullptr && *options_.end_asked != 0) sc_core::sc_pause();
    next_trigger(sc_core::sc_time::from_value(base::time_of_cycle(cycle_)) -
                 sc_core::sc_time_stamp());
  }

  /// Puts the next item or beat on each input that has no offer.
  void offer(RtlPins::In& in) {
    if (!in.mmio_req.valid && !mmio_.empty()) {
      in.mmio_req.set(mmio_.front());
      mmio_.pop_front();
    }
    if (!in.dma_rd_rsp.valid) {
      if (piece_feed_.done && !pieces_.empty()) {
        piece_ = std::move(pieces_.front());
        pieces_.pop_front();
        piece_feed_.start(piece_.data);
      }
      if (!piece_feed_.done) {
        spec::DmaRdRsp b;
        b.tag = piece_.tag;
        b.status = piece_.status;
        b.piece_last = piece_feed_.at_last();
        b.is_last = b.piece_last && piece_.is_last;
        piece_feed_.beat(b);
        in.dma_rd_rsp.set(b);
      }
    }
    if (!in.llp_rx_hdr.valid && record_feed_.done && !in.llp_rx.valid && !records_.empty()) {
      record_ = std::move(records_.front());
      records_.pop_front();
      const Record& r = record_;
      spec::LlpRxHdr h;
      h.connection = r.connection;
      h.is_stream = r.is_stream;
      h.length = r.data.size();
      in.llp_rx_hdr.set(h);
      record_feed_.start(r.data);
    }
    if (!in.llp_rx.valid && !record_feed_.done) {
      spec::LlpRx b;
      b.last = record_feed_.at_last();
      b.error = b.last && record_.error;
      record_feed_.beat(b);
      in.llp_rx.set(b);
    }
    if (!in.llp_ctl_evt.valid && !events_.empty() &&
        records_done_ >= events_.front().after_records) {
      in.llp_ctl_evt.set(events_.front().event);
      events_.pop_front();
    }
    if (!in.llp_credit.valid && !credits_.empty()) {
      in.llp_credit.set(credits_.front());
      credits_.pop_front();
    }
  }

  /// Collects the transfers of this edge: joins beats to items, reports them to the observer, then
  /// passes them to the platform.
  void collect(RtlPins::In& in, RtlPins::Out& out) {
    std::optional<DmaWrite> write = out.dma_wr.fired() ? write_beat(out.dma_wr.item) : std::nullopt;
    std::optional<DmaRead> read;
    if (out.dma_rd_req.fired()) {
      const auto& r = out.dma_rd_req.item;
      read = DmaRead{.tag = r.tag,
                     .address = r.address,
                     .length = r.length,
                     .relaxed = r.relaxed != 0,
                     .no_alloc = r.no_alloc != 0,
                     .client = asked_by<spec::DmaRdReqCommit>()};
    }
    if (out.llp_tx_hdr.fired()) tx_hdrs_.push_back(out.llp_tx_hdr.item);
    std::optional<Record> record = out.llp_tx.fired() ? record_beat(out.llp_tx.item) : std::nullopt;

    const bool piece_moved = in.dma_rd_rsp.take_fired();
    const Moved moved{.mmio = in.mmio_req.take_fired(),
                      .piece = piece_moved && piece_feed_.at_last(),
                      .record = in.llp_rx_hdr.take_fired(),
                      .event = in.llp_ctl_evt.take_fired(),
                      .credit = in.llp_credit.take_fired()};
    // The device has given up a read (dma_rd_timeout): nothing waits for its completions.
    for (const auto& c : pins_->commits)
      if (const auto* late = std::get_if<spec::DmaRdTimeoutCommit>(&c)) reads_[late->tag].reset();
    if (piece_moved) {
      if (piece_feed_.at_last() && piece_.is_last) reads_[piece_.tag].reset();
      piece_feed_.advance();
    }
    if (in.llp_rx.take_fired()) {
      record_feed_.advance();
      if (record_feed_.done) ++records_done_;
    }
    if (options_.observer != nullptr) tell(*options_.observer, write, record, read, moved);

    if (out.mmio_rsp.fired()) env_->mmio_response(out.mmio_rsp.item.data);
    if (read) {
      reads_[read->tag] = Asked{*read, reads_issued_++};
      env_->dma_read(*read);
    }
    if (write) sq_.written(*write);
    if (write) env_->dma_write(std::move(*write));
    if (record) {
      if (record->connection < credit_.size())
        credit_[record->connection].sent += record->data.size();
      env_->llp_tx(std::move(*record));
    }
    if (out.llp_ctl_req.fired()) env_->llp_ctl(out.llp_ctl_req.item);
  }

  struct Moved {  // whole items that reached the device
    bool mmio, piece, record, event, credit;
  };
  /// Makes the calls of one cycle, in the order of observer.hpp.
  void tell(Observer& o, const std::optional<DmaWrite>& write, const std::optional<Record>& record,
            const std::optional<DmaRead>& read, const Moved& moved) {
    o.cycle(cycle_ - 1);  // tick() has already counted this cycle
    if (pins_->want_streams) o.streams(pins_->streams);
    for (const auto& c : pins_->commits) o.commit(c);
    if (write) o.dma_write(*write);
    if (record) o.llp_tx(*record);
    if (pins_->out.llp_ctl_req.fired()) o.llp_ctl(pins_->out.llp_ctl_req.item);
    if (pins_->out.mmio_rsp.fired()) o.mmio_response(pins_->out.mmio_rsp.item.data);
    if (read) o.dma_read(*read);
    if (moved.mmio) {
      o.mmio(mmio_told_.front());
      mmio_told_.pop_front();
    }
    if (moved.piece) o.dma_piece(piece_);
    if (moved.record) o.llp_rx(record_);
    if (moved.event) o.llp_event(pins_->in.llp_ctl_evt.item);
    if (moved.credit) o.llp_credit(pins_->in.llp_credit.item);
    if (pins_->out.dma_wr.valid && !pins_->out.dma_wr.ready) o.dma_write_waits();
    o.cycle_done();
  }

  // The commits number the clients of reads and of writes separately (docs/spec/commits.yaml). Most
  // numbers are those of enum Client: reads 0 to 3, writes 4 to 7. The others are mapped here.
  static Client client_of(const spec::DmaRdReqCommit& c) {
    return c.client == 4   ? Client::kQn1
           : c.client == 5 ? Client::kReg
                           : static_cast<Client>(c.client);
  }
  static Client client_of(const spec::DmaWrCommit& c) {
    return c.client == 3 ? Client::kWord : static_cast<Client>(c.client);
  }

  /// The client of the DMA request or beat that was accepted at this edge.
  template <class Commit>
  Client asked_by() {
    for (const auto& c : pins_->commits)
      if (const auto* found = std::get_if<Commit>(&c)) return client_of(*found);
    fail(std::string(Commit::kName) + " was accepted and its commit is missing");
    return Client::kUnknown;
  }

  std::optional<DmaWrite> write_beat(const spec::DmaWr& b) {
    if (!wr_open_) wr_.start(b.length);
    wr_open_ = true;
    if (!wr_.take(b)) fail("dma_wr: more bytes than its length");
    if (!b.last) return std::nullopt;
    if (wr_.at != b.length) fail("dma_wr: fewer bytes than its length");
    wr_open_ = false;
    return DmaWrite{.address = b.address,
                    .data = std::move(wr_.data),
                    .relaxed = b.relaxed != 0,
                    .no_alloc = b.no_alloc != 0,
                    .client = asked_by<spec::DmaWrCommit>()};
  }

  std::optional<Record> record_beat(const spec::LlpTx& b) {
    if (tx_hdrs_.empty()) {
      fail("llp_tx: bytes without a header");
      return std::nullopt;
    }
    const spec::LlpTxHdr& h = tx_hdrs_.front();
    if (!tx_open_) tx_.start(h.length);
    tx_open_ = true;
    if (!tx_.take(b)) fail("llp_tx: more bytes than its length");
    if (!b.last) return std::nullopt;
    if (tx_.at != h.length) fail("llp_tx: fewer bytes than its length");
    Record r;
    r.connection = h.connection;
    r.is_stream = h.is_stream != 0;
    r.data = std::move(tx_.data);
    tx_open_ = false;
    tx_hdrs_.pop_front();
    return r;
  }

  void fail(const std::string& what) {
    if (failure_.empty())
      failure_ = options_.name + ": " + what + " (cycle " + std::to_string(cycle_) + ")";
  }

  void wave() {
    if (options_.wave.file.empty()) return;
    const uint64_t now = base::time_of_cycle(cycle_);
    if (!wave_open_ && now >= options_.wave.from_ps && now <= options_.wave.to_ps) {
      pins_->open_wave(options_.wave.file, options_.wave.unit);
      wave_open_ = true;
    } else if (wave_open_ && now > options_.wave.to_ps) {
      pins_->close_wave();
      wave_open_ = false;
    }
  }

  RtlOptions options_;
  std::unique_ptr<RtlPins> pins_;
  spec::Sizes sizes_;
  DeviceEnv* env_ = nullptr;
  uint64_t cycle_ = 0;
  uint32_t reset_left_ = kResetCycles;
  std::deque<spec::MmioReq> mmio_;
  std::deque<DmaPiece> pieces_;
  std::deque<Record> records_;
  std::deque<TimedEvent> events_;
  std::deque<spec::LlpCredit> credits_;
  DmaPiece piece_;
  Feeder piece_feed_, record_feed_;
  Record record_;                               // the record on the pins
  std::deque<Mmio> mmio_told_;                  // for the observer: those in mmio_ and on the pins
  uint64_t records_in_ = 0, records_done_ = 0;  // since reset: from the LLP, and over the pins
  struct Asked : DmaRead {
    uint64_t at;  // sequence number of the read
  };
  std::array<std::optional<Asked>, 256> reads_;  // by tag, outstanding; only for waiting_for()
  uint64_t reads_issued_ = 0;
  struct Credit {  // bytes of records
    uint32_t limit = 0, sent = 0;
  };
  std::vector<Credit> credit_ =
      std::vector<Credit>(sizes_.num_conns);  // by connection; only for waiting_for()
  SqProgress sq_;                             // only for waiting_for(), like the next two
  std::optional<RtlSnapshot> before_;         // when the watchdog first found no progress
  uint64_t before_cycle_ = 0;
  // The DMA write (wr_) and the LLP record (tx_) whose beats the device is sending. *_open_: the
  // device has sent their first beat, but not the last.
  Gatherer wr_, tx_;
  bool wr_open_ = false, tx_open_ = false;
  std::deque<spec::LlpTxHdr> tx_hdrs_;  // of the record in transfer, and of those after it
  bool wave_open_ = false;
  std::string failure_;
};

}  // namespace

bool is_rtl_built() { return true; }

std::unique_ptr<Device> make_rtl_device(const RtlOptions& options) {
  return std::make_unique<RtlDevice>(options, sc_core::sc_gen_unique_name(options.name.c_str()));
}

#define RNIC_BUILD(name, ...) std::unique_ptr<RtlPins> make_rtl_pins_##name(uint64_t seed);
#include "rtl_builds.inc"
#undef RNIC_BUILD

std::unique_ptr<RtlPins> make_rtl_pins(RtlBuild build, uint64_t seed, const Stalls& stalls) {
  switch (build) {
    case RtlBuild::kDefault:
      return make_rtl_pins_default(seed);
    case RtlBuild::kMinimum:
      return make_rtl_pins_minimum(seed);
    case RtlBuild::kStall:
      return make_rtl_pins_stall(seed, stalls);
  }
  // The builds of RNIC_BUILDS, in the order of rtl_builds().
  static const std::vector<std::unique_ptr<RtlPins> (*)(uint64_t)> others = {
#define RNIC_BUILD(name, ...) make_rtl_pins_##name,
#include "rtl_builds.inc"
#undef RNIC_BUILD
  };
  return others.at(static_cast<size_t>(build) - 1 - static_cast<size_t>(RtlBuild::kStall))(seed);
}

}  // namespace rnic::sim
