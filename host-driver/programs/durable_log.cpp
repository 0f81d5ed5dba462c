// durable_log: see durable_log.hpp. A method is one row of kMethods: the requests of an append, and
// the completion or reply that reports it durable.
#include "durable_log.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "common.hpp"
#include "rnic/crc32c.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint32_t kWord = 8;  // bytes of a checking Read, of a sequence, of the tail pointer
/// Work requests per append, at most.
constexpr uint32_t kRequests = 4;

uint32_t crc_of(std::span<const uint8_t> record, uint32_t length) {
  return crc32c(record.subspan(kRecordHead, length), crc32c(record.first(12)));
}

/// The data of a record follows from log and sequence; the constant mixes bits.
uint8_t data_byte(uint32_t log, uint64_t sequence, uint64_t place) {
  const uint64_t x = (uint64_t{log} << 40 ^ sequence << 20 ^ place / 8) * 0x9e3779b97f4a7c15;
  return static_cast<uint8_t>((x ^ x >> 29) >> 8 * (place % 8));
}

}  // namespace

RecoveredLog recover(std::span<const uint8_t> log) {
  RecoveredLog out;
  out.end = std::min<uint64_t>(kTailBytes, log.size());
  if (log.size() < kTailBytes) return out;
  const uint64_t tail = base::load_le<uint64_t>(log.data());
  for (uint64_t at = kTailBytes;;) {
    const auto rest = log.subspan(at);
    if (rest.size() < kRecordHead) break;
    const uint64_t sequence = base::load_le<uint64_t>(rest.data());
    const auto length = base::load_le<uint32_t>(&rest[8]);
    if (sequence != out.whole + 1 || length > rest.size() - kRecordHead) break;
    if (crc_of(rest, length) != base::load_le<uint32_t>(&rest[12])) break;
    out.whole++;
    at = std::min<uint64_t>(at + record_bytes(length), log.size());
    if (at - kTailBytes > tail) continue;  // after the tail pointer: counted, not returned
    out.records.push_back({sequence, rest.subspan(kRecordHead, length)});
    out.end = at;
  }
  out.is_damaged = tail != kNoTail && out.end - kTailBytes != tail;
  return out;
}

std::string log_name(uint32_t thread, uint32_t lane) {
  return fmt::format("log.{}.{}", thread, lane);
}

void fill_record(std::span<uint8_t> record, uint32_t length, uint32_t log, uint64_t sequence) {
  std::ranges::fill(record, uint8_t{0});
  base::store_le(record.data(), sequence);
  base::store_le(&record[8], length);
  for (uint32_t i = 0; i < length; i++) record[kRecordHead + i] = data_byte(log, sequence, i);
  base::store_le(&record[12], crc_of(record, length));
}

bool is_genuine(const LogRecord& record, uint32_t log) {
  for (uint64_t i = 0; i < record.data.size(); i++)
    if (record.data[i] != data_byte(log, record.sequence, i)) return false;
  return true;
}

namespace {

/// The client's view of the server's log.
struct FarLog {
  uint32_t rkey = 0;
  uint64_t addr = 0;
  uint64_t base = 0;  // records already in the log
};

class Client;

struct Method {
  LogMethodRow row;
  /// What reports an append durable: the completion of its last request, or a Send of the server.
  enum Acks : uint8_t { kCompletion, kReply } acks;
  bool flushes;  // the extensions are negotiated and the log has Flush access
  /// The work requests of append `index` of the lane. The caller signals the last one.
  void (*requests)(Client&, const Lane&, uint64_t index, std::vector<SendWr>&, std::vector<Sge>&);
};

Shape shape_of(const Params& p, const Method& method, bool is_client) {
  return {
      .lanes = p.qps,
      // 2 requests per append. Side doubles the send queue of a method that flushes: 4 requests.
      .window = kRequests / 2 * usable_depth(p),
      // Client: the record, and behind it the value of the tail pointer (point()).
      .slot_bytes = is_client ? static_cast<uint32_t>(record_bytes(p.size)) + kWord : kWord,
      .receives = method.acks == Method::kReply,
      .flushes = method.flushes};
}

uint64_t capacity_of(const Params& p) { return std::max(p.capacity, p.count); }

/// The appender.
class Client {
 public:
  Client(const Run& run, const Method& method)
      : side_(run, true, shape_of(run.params, method, true)),
        method_(method),
        depth_(run.params.pipelined ? usable_depth(run.params) : 1),
        states_(run.params.qps) {}

  Result<void> run() {
    const Params& p = side_.params();
    side_.messages = p.count;
    side_.length = [](uint64_t) { return kWord; };
    side_.introduction_bytes = kIntroduction;
    side_.on_introduced = [&](Lane& lane, std::span<const uint8_t> bytes) {
      states_[lane.number].log = {.rkey = base::load_be<uint32_t>(bytes.data()),
                                  .addr = base::load_be<uint64_t>(&bytes[8]),
                                  .base = base::load_be<uint64_t>(&bytes[16])};
    };
    side_.on_data = [&](Lane& lane, uint64_t upto) {
      State& s = states_[lane.number];
      s.is_waiting = false;
      if (method_.acks == Method::kCompletion && s.next == s.wrs.size()) acknowledge(lane, upto);
    };
    side_.on_receive = [&](Lane& lane, uint64_t index) {
      const uint64_t told = base::load_le<uint64_t>(side_.at(lane, side_.rx(index), kWord).data());
      if (told != sequence(lane, index)) side_.report().mismatches++;
      if (auto r = side_.post_receives(lane, 1); !r) failed_ = r;
      acknowledge(lane, index + 1);
    };
    if (auto r = side_.open(); !r) return r;
    for (const Lane& lane : side_.lanes)
      if (states_[lane.number].started.empty()) states_[lane.number].started.resize(depth_);
    if (auto r = side_.connect(); !r) return r;
    Report& report = side_.report();
    report.is_whole = true;
    report.of = uint64_t{p.count} * p.qps;
    report.start = side_.dev().now();
    auto all = [&] { return step() && report.ops == report.of; };
    if (auto r = side_.until("appends", [&] { return all() || !failed_; }); !r) return r;
    if (!failed_) return failed_;
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    return side_.disconnect();
  }

  // Requests that the methods use.
  /// A Write of the record.
  SendWr write(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = request(lane, IBV_WR_RDMA_WRITE, index, sge);
    sge = {lane.mr.addr() + side_.tx(index), bytes(), lane.mr.lkey()};
    wr.remote_addr = place(lane, index);
    return wr;
  }
  /// A Read of the record's last bytes.
  SendWr look(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = request(lane, IBV_WR_RDMA_READ, index, sge);
    sge = {lane.mr.addr() + side_.rx(index), kWord, lane.mr.lkey()};
    wr.remote_addr = place(lane, index) + bytes() - kWord;
    return wr;
  }
  /// A Send of the record's sequence.
  SendWr tell(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = request(lane, IBV_WR_SEND, index, sge);
    sge = {lane.mr.addr() + side_.tx(index), kWord, lane.mr.lkey()};
    return wr;
  }
  /// A Flush of the record to persistence.
  SendWr flush(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = request(lane, IBV_WR_FLUSH, index, sge);
    wr.remote_addr = place(lane, index);
    wr.flush_length = bytes();
    wr.flush_type = IBV_FLUSH_PERSISTENT;
    return wr;
  }
  /// The Atomic Write that moves the tail pointer after this record.
  SendWr point(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = request(lane, IBV_WR_ATOMIC_WRITE, index, sge);
    const auto value = side_.at(lane, side_.tx(index) + bytes(), kWord);
    base::store_le(value.data(), sequence(lane, index) * bytes());
    sge = {base::address_of(value.data()), kWord, 0};
    wr.send_flags |= IBV_SEND_INLINE;
    wr.remote_addr = states_[lane.number].log.addr;
    return wr;
  }
  /// A Flush of the tail pointer to persistence.
  SendWr flush_tail(const Lane& lane, uint64_t index, Sge& sge) const {
    SendWr wr = flush(lane, index, sge);
    wr.remote_addr = states_[lane.number].log.addr;
    wr.flush_length = kTailBytes;
    return wr;
  }
  // The server's introduction, in bytes: rkey 4, unused 4, address of the log 8, records in it 8.
  static constexpr uint32_t kIntroduction = 24;

 private:
  struct State {
    FarLog log;
    uint64_t appended = 0, acknowledged = 0;
    std::vector<Time> started;  // by index modulo depth
    // Requests of the appends being posted: all at once, or (pipelined=0) one at a time.
    std::vector<SendWr> wrs;
    std::vector<Sge> sges;
    size_t next = 0;          // first unposted request
    bool is_waiting = false;  // pipelined=0: for the completion of the request before it
  };

  uint32_t bytes() const { return static_cast<uint32_t>(record_bytes(side_.params().size)); }
  uint32_t log_of(const Lane& lane) const { return log_number(side_.run().thread, lane.number); }
  uint64_t sequence(const Lane& lane, uint64_t index) const {
    return states_[lane.number].log.base + index + 1;
  }
  uint64_t place(const Lane& lane, uint64_t index) const {
    return states_[lane.number].log.addr + kTailBytes + (sequence(lane, index) - 1) * bytes();
  }
  /// An unsignalled request: step() signals the last one of an append.
  SendWr request(const Lane& lane, WrOpcode opcode, uint64_t index, Sge& sge) const {
    SendWr wr = side_.request(lane, opcode, index, false, sge);
    wr.send_flags = 0;
    wr.rkey = states_[lane.number].log.rkey;
    return wr;
  }

  /// Posts as many appends as the depth allows. Returns false on an error.
  bool step() {
    for (Lane& lane : side_.lanes) {
      State& s = states_[lane.number];
      if (!post_next(lane)) return false;
      if (s.next < s.wrs.size() || s.is_waiting) continue;
      // A slot is free when its append is acknowledged and its own requests have completed: with
      // method send the reply may come first.
      const uint64_t done = std::min(s.acknowledged, lane.completed);
      const uint64_t n = std::min<uint64_t>(
          {depth_ - (s.appended - done), kBatch, side_.params().count - s.appended});
      if (n == 0) continue;
      s.wrs.clear();
      s.sges.clear();
      s.next = 0;
      for (uint64_t k = 0; k < n; k++) {
        const uint64_t index = s.appended++;
        fill_record(side_.at(lane, side_.tx(index), bytes()), side_.params().size, log_of(lane),
                    sequence(lane, index));
        s.started[index % depth_] = side_.dev().now();
        method_.requests(*this, lane, index, s.wrs, s.sges);
        s.wrs.back().send_flags |= IBV_SEND_SIGNALED;
      }
      // Only now: s.sges may have moved while it grew. A Flush has no SGE.
      for (size_t k = 0; k < s.wrs.size(); k++)
        s.wrs[k].sg_list = {&s.sges[k], s.wrs[k].opcode == IBV_WR_FLUSH ? size_t{0} : size_t{1}};
      if (!post_next(lane)) return false;
    }
    return true;
  }
  /// Posts the prepared requests: all, or (pipelined=0) the next one after its predecessor
  /// completed.
  bool post_next(Lane& lane) {
    State& s = states_[lane.number];
    if (s.next == s.wrs.size() || s.is_waiting) return true;
    std::span<SendWr> wrs = std::span(s.wrs).subspan(s.next);
    if (!side_.params().pipelined) {
      wrs = wrs.first(1);
      wrs[0].send_flags |= IBV_SEND_SIGNALED;
      s.is_waiting = true;
    }
    s.next += wrs.size();
    failed_ = side_.post(lane, wrs);
    return failed_.has_value();
  }

  /// The method's condition is met: acknowledges these appends to the caller.
  void acknowledge(const Lane& lane, uint64_t upto) {
    State& s = states_[lane.number];
    Report& r = side_.report();
    for (; s.acknowledged < upto; s.acknowledged++) {
      const uint64_t index = s.acknowledged;
      if (method_.acks == Method::kCompletion) compare_look(lane, index);
      r.end = side_.dev().now();
      r.acks.push_back({r.end, log_of(lane), sequence(lane, index)});
      r.latency.push_back(r.end - s.started[index % depth_]);
      r.began.push_back(s.started[index % depth_]);
      r.bytes += side_.params().size;
      r.done = ++r.ops;
    }
  }
  /// Method `read`: compares the bytes that look() has read with those that write() has sent.
  void compare_look(const Lane& lane, uint64_t index) {
    if (method_.row.name != "read") return;
    const auto sent = side_.at(lane, side_.tx(index) + bytes() - kWord, kWord),
               seen = side_.at(lane, side_.rx(index), kWord);
    side_.report().checks++;
    if (!std::ranges::equal(sent, seen)) side_.wrong(seen.data(), 1);
  }

  Side side_;
  const Method& method_;
  const uint64_t depth_;
  std::vector<State> states_;
  Result<void> failed_;
};

/// Requests of an append with a tail pointer, except the Flush of the pointer.
void record_and_pointer(Client& c, const Lane& lane, uint64_t i, std::vector<SendWr>& wrs,
                        std::vector<Sge>& s) {
  wrs.push_back(c.write(lane, i, s.emplace_back()));
  wrs.push_back(c.flush(lane, i, s.emplace_back()));
  wrs.push_back(c.point(lane, i, s.emplace_back()));
}

// Rows: {name, sentence, waits, has_tail}, acks, flushes, requests.
constexpr Method kMethods[] = {
    {{"flush", "the second Flush of Write, Flush, Atomic Write of the tail pointer, Flush", true,
      true},
     Method::kCompletion,
     true,
     [](Client& c, const Lane& lane, uint64_t i, std::vector<SendWr>& wrs, std::vector<Sge>& s) {
       record_and_pointer(c, lane, i, wrs, s);
       wrs.push_back(c.flush_tail(lane, i, s.emplace_back()));
     }},
    {{"flush_without_last", "the Atomic Write of Write, Flush, Atomic Write of the tail pointer",
      true, true},
     Method::kCompletion,
     true,
     record_and_pointer},
    {{"write_only", "the Write's completion", false, false},
     Method::kCompletion,
     false,
     [](Client& c, const Lane& lane, uint64_t i, std::vector<SendWr>& wrs, std::vector<Sge>& s) {
       wrs.push_back(c.write(lane, i, s.emplace_back()));
     }},
    {{"read", "a Read of its last bytes, posted after the Write", true, false},
     Method::kCompletion,
     false,
     [](Client& c, const Lane& lane, uint64_t i, std::vector<SendWr>& wrs, std::vector<Sge>& s) {
       wrs.push_back(c.write(lane, i, s.emplace_back()));
       wrs.push_back(c.look(lane, i, s.emplace_back()));
     }},
    {{"send", "the answer of the peer's CPU to a Send after the Write", true, false},
     Method::kReply,
     false,
     [](Client& c, const Lane& lane, uint64_t i, std::vector<SendWr>& wrs, std::vector<Sge>& s) {
       wrs.push_back(c.write(lane, i, s.emplace_back()));
       wrs.push_back(c.tell(lane, i, s.emplace_back()));
     }},
};

/// The log's owner. With method `send` it persists and replies; otherwise it only observes.
class Server {
 public:
  Server(const Run& run, const Method& method)
      : side_(run, false, shape_of(run.params, method, false)),
        method_(method),
        logs_(run.params.qps) {}

  Result<void> run() {
    const Params& p = side_.params();
    side_.messages = p.count;
    side_.length = [](uint64_t) { return kWord; };
    side_.introduction_bytes = Client::kIntroduction;
    side_.on_introduce = [&](const Lane& lane, std::span<uint8_t> bytes) {
      const Log& log = logs_[lane.number];
      base::store_be(bytes.data(), log.mr.rkey());
      base::store_be(&bytes[8], log.mr.addr());
      base::store_be(&bytes[16], log.base);
    };
    side_.on_receive = [&](Lane& lane, uint64_t index) { due_.push_back({&lane, index}); };
    if (auto r = side_.open(); !r) return r;
    for (const Lane& lane : side_.lanes)
      if (auto r = open_log(lane); !r) return r;
    if (auto r = side_.connect(); !r) return r;
    auto all_came = [&] {
      serve();
      return !failed_ || std::ranges::all_of(side_.lanes, &Lane::control_came);
    };
    if (auto r = side_.until("client's last message", all_came, Side::kOnlooker); !r) return r;
    if (!failed_) return failed_;
    for (const Lane& lane : side_.lanes) look_at(lane);
    for (Lane& lane : side_.lanes)
      if (auto r = side_.send_control(lane); !r) return r;
    if (auto r = side_.wait_control(); !r) return r;
    return side_.disconnect();
  }

 private:
  struct Log {
    DmaBuffer buffer;
    Mr mr;
    uint64_t base = 0;  // records found at the start
  };
  uint32_t bytes() const { return static_cast<uint32_t>(record_bytes(side_.params().size)); }

  /// Keeps the intact records and clears the bytes after them. Otherwise an old record there could
  /// become valid again when new records are appended up to it.
  Result<void> open_log(const Lane& lane) {
    const Params& p = side_.params();
    Log& log = logs_[lane.number];
    const std::string name = log_name(side_.run().thread, lane.number);
    auto buffer = side_.dev().persistent(name, kTailBytes + capacity_of(p) * bytes());
    if (!buffer) return error_of(buffer);
    log.buffer = *buffer;
    const RecoveredLog old = recover(log.buffer.bytes());
    log.base = old.records.size();
    if (old.is_damaged)
      return fail(Errc::kBadState, "{}: damaged: its tail pointer is {}, whole records are {}",
                  name, base::load_le<uint64_t>(log.buffer.data()), old.whole);
    if (old.end != kTailBytes + log.base * bytes())
      return fail(Errc::kBadState, "{}: holds {} records of another size in {} bytes (set size)",
                  name, log.base, old.end - kTailBytes);
    if (log.base + p.count > capacity_of(p))
      return fail(Errc::kBadState, "{}: holds {} of {} records, no room for {} (set capacity)",
                  name, log.base, capacity_of(p), p.count);
    const auto rest = log.buffer.bytes().subspan(old.end);
    if (std::ranges::any_of(rest, [](uint8_t b) { return b != 0; })) {
      std::ranges::fill(rest, uint8_t{0});
      side_.dev().pmem_persist(rest);
    }
    const auto pointer = log.buffer.bytes().first(kTailBytes);
    const uint64_t tail = method_.row.has_tail ? old.end - kTailBytes : kNoTail;
    if (base::load_le<uint64_t>(pointer.data()) != tail) {
      base::store_le(pointer.data(), tail);
      side_.dev().pmem_persist(pointer);
    }
    uint32_t access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (method_.flushes) access |= IBV_ACCESS_FLUSH_PERSISTENT;
    auto mr = side_.pd().reg_mr(log.buffer, access);
    if (!mr) return error_of(mr);
    log.mr = std::move(*mr);
    return {};
  }

  /// Method `send`: persists the records of the Sends that have arrived, then replies.
  void serve() {
    for (const auto& [lane, index] : std::exchange(due_, {})) {
      const uint64_t told = base::load_le<uint64_t>(side_.at(*lane, side_.rx(index), kWord).data());
      const Log& log = logs_[lane->number];
      if (told != log.base + index + 1) side_.report().mismatches++;
      side_.dev().pmem_persist(
          log.buffer.bytes().subspan(kTailBytes + (log.base + index) * bytes(), bytes()));
      base::store_le(side_.at(*lane, side_.tx(index), kWord).data(), told);
      Sge sge;
      const SendWr wr = side_.request(*lane, IBV_WR_SEND, index, true, sge);
      if (auto r = side_.post_receives(*lane, 1); !r) failed_ = r;
      if (auto r = side_.post(*lane, std::span(&wr, 1)); !r) failed_ = r;
      if (!failed_) return;
    }
  }

  /// At the end: the log holds all records, each as the client appended it.
  void look_at(const Lane& lane) {
    const Log& log = logs_[lane.number];
    Report& r = side_.report();
    const RecoveredLog all = recover(log.buffer.bytes());
    const uint64_t wanted = log.base + side_.params().count;
    for (const LogRecord& record : all.records) {
      r.checks++;
      if (!is_genuine(record, log_number(side_.run().thread, lane.number)))
        side_.wrong(record.data.data(), 1);
    }
    if (all.records.size() != wanted) side_.wrong(log.buffer.data() + all.end, 1);
  }

  Side side_;
  const Method& method_;
  std::vector<Log> logs_;
  std::vector<std::pair<Lane*, uint64_t>> due_;  // Sends that await a reply
  Result<void> failed_;
};

}  // namespace

std::span<const LogMethodRow> log_methods() {
  static const std::vector<LogMethodRow> rows = [] {
    std::vector<LogMethodRow> r;
    for (const Method& m : kMethods) r.push_back(m.row);
    return r;
  }();
  return rows;
}

std::string log_method_names() {
  std::string names;
  for (const Method& m : kMethods) {
    if (!names.empty()) names += ", ";
    names += m.row.name;
  }
  return names;
}

void durable_log(const Run& run, bool is_client) {
  guarded(run, [&]() -> Result<void> {
    const auto method =
        std::ranges::find(kMethods, run.params.method, [](const Method& m) { return m.row.name; });
    if (method == std::end(kMethods))
      return fail(Errc::kInvalidArgument, "durable_log: method \"{}\"", run.params.method);
    if (is_client) return Client(run, *method).run();
    return Server(run, *method).run();
  });
}

}  // namespace rnic::programs
