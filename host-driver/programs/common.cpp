// Common code of the programs: see common.hpp.
#include "common.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {

constexpr uint64_t kSharedIova = uint64_t{1} << 52;  // of the SRQ's slots: above the lanes' buffers
constexpr uint32_t kIntroduction = 24;  // rkey, lane, address of the buffer, its tx and rx slots

/// 8 bits: what; 16: lane; 40: index.
uint64_t wr_id_of(What what, const Lane& lane, uint64_t index) {
  return static_cast<uint64_t>(what) << 56 | uint64_t{lane.number} << 40 | (index & 0xffffffffff);
}

}  // namespace

uint32_t usable_depth(const Params& p) {
  const uint64_t fits = (uint64_t{64} << 20) / std::max<uint64_t>(p.size, 64);
  return static_cast<uint32_t>(std::clamp<uint64_t>(fits, 1, std::max(p.depth, 1u)));
}

// The odd constants here and in word_of() only mix bits.
uint64_t Side::key(bool from_client, const Lane& lane, uint64_t index) const {
  const uint64_t who =
      uint64_t{from_client ? 1u : 2u} << 32 | uint64_t{run_.thread} << 16 | lane.number;
  return (who * 0xd6e8feb86659fd93 ^ index) * 0xbf58476d1ce4e5b9;
}

namespace {
/// The pattern's 8 bytes from 8 * number on.
uint64_t word_of(uint64_t key, uint64_t number) {
  const uint64_t x = (key + number) * 0x9e3779b97f4a7c15;
  return x ^ x >> 29;
}
}  // namespace

uint8_t Side::byte_of(uint64_t key, uint64_t place) {
  return static_cast<uint8_t>(word_of(key, place / 8) >> 8 * (place % 8));
}

void Side::fill(std::span<uint8_t> bytes, uint64_t key) {
  for (uint64_t i = 0; i < bytes.size(); i += 8) {
    std::array<uint8_t, 8> word{};
    base::store_le(word.data(), word_of(key, i / 8));
    std::copy_n(word.begin(), std::min<uint64_t>(8, bytes.size() - i),
                bytes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

uint64_t Side::imm_of(uint64_t key) { return word_of(key, UINT64_MAX); }

Side::Difference Side::differing(std::span<const uint8_t> bytes, uint64_t key,
                                 uint64_t first_word) {
  Difference d;
  for (uint64_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t expected = word_of(key, first_word + i / 8);
    if (bytes.size() - i >= 8 && base::load_le<uint64_t>(&bytes[i]) == expected) continue;
    for (uint64_t b = i; b < std::min<uint64_t>(i + 8, bytes.size()); b++)
      if (bytes[b] != static_cast<uint8_t>(expected >> 8 * (b - i)))
        if (d.bytes++ == 0) d.first = b;
  }
  return d;
}

uint64_t Side::matching(std::span<const uint8_t> bytes, uint64_t key) {
  // Binary search: bytes arrive in order.
  const auto is_there = [&](uint64_t word) {
    const uint64_t at = word * 8;
    return differing(bytes.subspan(at, std::min<uint64_t>(8, bytes.size() - at)), key, word)
               .bytes == 0;
  };
  uint64_t low = 0, high = (bytes.size() + 7) / 8;  // words below low have arrived
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (is_there(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::min<uint64_t>(low * 8, bytes.size());
}

void Side::check(std::span<const uint8_t> bytes, uint64_t key) {
  report().checks++;
  const Difference d = differing(bytes, key);
  if (d.bytes != 0) wrong(bytes.data() + d.first, d.bytes);
}

void Side::wrong(const uint8_t* first, uint64_t bytes) {
  Report& r = report();
  r.mismatches += bytes;
  if (r.failed_at != 0) return;
  r.failed_at = dev().now();
  for (const Lane& lane : lanes) {
    const uint8_t* begin = lane.buffer.data();
    if (first >= begin && first < begin + lane.buffer.size())
      r.wrong_bus = lane.buffer.bus(static_cast<uint64_t>(first - begin));
  }
  if (shared_.size() != 0 && first >= shared_.data() && first < shared_.data() + shared_.size())
    r.wrong_bus = shared_.bus(static_cast<uint64_t>(first - shared_.data()));
}

Result<void> Side::open() {
  report().stage = "open";
  auto manager = run_.session.enter(dev());
  if (!manager) return error_of(manager);
  auto context = Context::open(dev(), **manager);
  if (!context) return error_of(context);
  context_ = std::move(*context);
  auto pd = context_.alloc_pd();
  if (!pd) return error_of(pd);
  pd_ = std::move(*pd);
  kept_slots_ = kept_slots();
  // Completions of all requests and receives of a lane; 2 * kBatch: credits, marks, control.
  const uint32_t wanted = shape_.lanes * (shape_.window + rx_slots() + 2 * kBatch) + shape_.srq_wr;
  const DeviceAttr& attr = context_.query_device();
  if (shape_.receives && uint64_t{shape_.lanes} * rx_slots() > attr.max_cqe)
    return fail(Errc::kNoMemory,
                "{} QPs of a thread with {} receives each; a completion queue has max_cqe={} "
                "entries",
                shape_.lanes, rx_slots(), attr.max_cqe);
  auto cq = context_.create_cq(std::min(wanted, attr.max_cqe), run_.thread % attr.num_comp_vectors);
  if (!cq) return error_of(cq);
  cq_ = std::move(*cq);
  if (shape_.srq_wr != 0)
    if (auto r = open_srq(); !r) return r;
  lanes.resize(shape_.lanes);
  for (uint32_t i = 0; i < shape_.lanes; i++) {
    lanes[i].number = i;
    if (auto r = open_lane(lanes[i]); !r) return r;
  }
  return {};
}

// One slot per message, limited so that a lane's buffer stays within kLaneBytes (the host maps
// larger ones differently), a host's buffers within kHostBytes, and its regions within half of the
// device's page lists. At least the window. Messages that need a receive get at most three windows,
// and no more than the receive queue (max_recv_wr: one more, for control) and the CQ can hold.
uint32_t Side::kept_slots() const {
  const bool is_received = shape_.kept == Shape::kReceived;
  if (shape_.all != 0 && !is_received)
    return static_cast<uint32_t>(std::max<uint64_t>(shape_.all, shape_.window));
  const uint64_t lanes = uint64_t{params().threads} * shape_.lanes;
  const uint64_t listed = context_.query_device().max_mr_size >> 21 << 12;  // bytes, in 4-KiB pages
  const uint64_t others = (uint64_t{shape_.window} + 1) * stride() + 256;
  const uint64_t room =
      std::min({kLaneBytes - std::min(kLaneBytes, others), kHostBytes / lanes, listed / 2 / lanes});
  const DeviceAttr& attr = context_.query_device();
  const uint64_t completions = attr.max_cqe / shape_.lanes, requests = shape_.window + 2 * kBatch;
  const uint64_t most = is_received
                            ? std::min({uint64_t{3} * shape_.window, uint64_t{attr.max_qp_wr} - 1,
                                        completions - std::min(completions, requests)})
                            : messages;
  return static_cast<uint32_t>(std::max<uint64_t>(shape_.window, std::min(room / stride(), most)));
}

Result<void> Side::open_lane(Lane& lane) {
  auto buffer = context_.alloc(buffer_bytes());
  if (!buffer) return error_of(buffer);
  lane.buffer = *buffer;
  // An address that is the same in every run, and readable in a capture.
  const uint64_t iova = uint64_t{lane.number + 1} << 32;
  uint32_t access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (shape_.flushes) access |= IBV_ACCESS_FLUSH_GLOBAL;
  if (shape_.atomics) access |= IBV_ACCESS_REMOTE_ATOMIC;
  auto mr = pd_.reg_mr_iova(lane.buffer, 0, buffer_bytes(), iova, access);
  if (!mr) return error_of(mr);
  lane.mr = std::move(*mr);
  const bool takes_two = shape_.flushes || shape_.immediate == Shape::kAfterWrite;
  // kBatch more requests: credits, marks, control. Inline: 48 bytes of atomics' operands, or the
  // two words of write_window().
  const QpCap cap{.max_send_wr = (takes_two ? 2 : 1) * shape_.window + kBatch,
                  .max_recv_wr = (shape_.receives ? rx_slots() : kMarks) + 1,
                  .max_send_sge = 1,
                  .max_recv_sge = 1,
                  .max_inline_data = std::max(params().inline_bytes, shape_.atomics ? 48u : 16u)};
  auto qp = pd_.create_qp({.send_cq = &cq_,
                           .recv_cq = &cq_,
                           .srq = shape_.srq_wr != 0 ? &srq_ : nullptr,
                           .cap = cap,
                           .push = params().push,
                           .privileged = shape_.registers});
  if (!qp) return error_of(qp);
  lane.qp = std::move(*qp);
  if (shape_.srq_wr != 0) return {};
  // One more than the outstanding data. A peer whose requests are complete sends its control
  // message without a credit, possibly before this side has polled the receives that have arrived.
  const uint64_t receives =
      std::min<uint64_t>(shape_.receives ? rx_slots() + 1 : kMarks, receives_expected() + 1);
  return post_receives(lane, static_cast<uint32_t>(receives));
}

Result<void> Side::open_srq() {
  const uint64_t bytes = shape_.srq_wr * shared_stride();
  auto buffer = context_.alloc(bytes);
  if (!buffer) return error_of(buffer);
  shared_ = *buffer;
  auto mr = pd_.reg_mr_iova(shared_, 0, bytes, kSharedIova, IBV_ACCESS_LOCAL_WRITE);
  if (!mr) return error_of(mr);
  shared_mr_ = std::move(*mr);
  auto srq = pd_.create_srq({.max_wr = shape_.srq_wr, .srq_limit = params().srq_limit});
  if (!srq) return error_of(srq);
  srq_ = std::move(*srq);
  return post_shared(0, shape_.srq_wr);
}

Result<void> Side::post_shared(uint32_t first, uint32_t n) {
  const auto bytes = static_cast<uint32_t>(shared_stride());
  std::array<RecvWr, kBatch> wrs;
  std::array<Sge, kBatch> sges;
  for (uint32_t k = 0; k < n; k += kBatch) {
    const uint32_t part = std::min(n - k, kBatch);
    for (uint32_t i = 0; i < part; i++) {
      const uint64_t slot = uint64_t{first} + k + i;
      sges[i] = {shared_mr_.addr() + slot * bytes, bytes, shared_mr_.lkey()};
      wrs[i] = {.wr_id = static_cast<uint64_t>(What::kReceive) << 56 | slot,
                .sg_list = {&sges[i], 1}};
    }
    auto r = srq_.post_recv(std::span(wrs).first(part));
    if (!r) return tl::unexpected<Error>(*r.error);
  }
  return {};
}

bool Side::is_shared(const Wc& wc) const {
  return shape_.srq_wr != 0 && static_cast<What>(wc.wr_id >> 56) == What::kReceive;
}

Result<Lane*> Side::lane_of(const Wc& wc) {
  if (!is_shared(wc)) return &lanes[wc.wr_id >> 40 & 0xffff];
  const auto of_qp = [&](const Lane& l) { return l.qp.qp_num() == wc.qp_num; };
  const auto lane = std::ranges::find_if(lanes, of_qp);
  if (lane == lanes.end())
    return fail(Errc::kDeviceError, "receive {}: completion of qp {}", wc.wr_id & 0xffffffffff,
                wc.qp_num);
  return &*lane;
}

// A receive of the SRQ has completed: its wr_id names the slot. The slot is posted again before
// on_receive, so that the peer's next message finds a receive.
Result<void> Side::take_shared(Lane& lane, const Wc& wc) {
  const auto slot = static_cast<uint32_t>(wc.wr_id);
  const uint64_t index = lane.received;
  const bool is_control = index == messages;
  const uint32_t wanted = is_control ? kControl : length_of(index);
  if (wc.byte_len != wanted) report().mismatches++;
  const auto bytes = shared_.bytes().subspan(slot * shared_stride(), wanted);
  if (is_control) {
    std::ranges::copy(bytes, at(lane, control_in(), kControl).begin());
    lane.control_came = true;
  } else {
    check(bytes, key(!is_client_, lane, index));
  }
  if (auto r = post_shared(slot, 1); !r || is_control) return r;
  lane.received = index + 1;
  if (on_receive) on_receive(lane, index);
  return {};
}

std::vector<uint8_t> Side::introduction(const Lane& lane) const {
  std::vector<uint8_t> out(kIntroduction + introduction_bytes);
  base::store_be(&out[0], lane.mr.rkey());
  base::store_be(&out[4], lane.number);
  base::store_be(&out[8], lane.mr.addr());
  base::store_be(&out[16], tx_slots());
  base::store_be(&out[20], rx_slots());
  if (on_introduce) on_introduce(lane, std::span(out).subspan(kIntroduction));
  return out;
}

Result<void> Side::introduced(Lane& lane) {
  const auto data = lane.connection.private_data();
  if (data.size() != kIntroduction + introduction_bytes ||
      base::load_be<uint32_t>(&data[4]) != lane.number)
    return fail(Errc::kProtocol, "lane {}: the peer introduces itself with {} bytes", lane.number,
                data.size());
  lane.rkey = base::load_be<uint32_t>(&data[0]);
  lane.remote = base::load_be<uint64_t>(&data[8]);
  lane.tx_slots = base::load_be<uint32_t>(&data[16]);
  lane.rx_slots = base::load_be<uint32_t>(&data[20]);
  if (lane.tx_slots == 0 || lane.rx_slots == 0)
    return fail(Errc::kProtocol, "lane {}: the peer has no slots", lane.number);
  if (on_introduced) on_introduced(lane, data.subspan(kIntroduction));
  return {};
}

// Waits in steps of 50 us. The request never arrives if another thread of the client failed before
// it connected. The client then closes its connections, and another thread of this host detects
// that.
Result<ConnRequest> Side::await_request(Listener& listener, Time deadline) {
  for (;;) {
    auto request = listener.get_request(std::min(deadline, dev().now() + 50 * kUs));
    if (request || request.error().code != Errc::kTimedOut || dev().now() >= deadline)
      return request;
    if (run_.session.is_failed()) return fail(Errc::kConnectionLost, "another thread has failed");
  }
}

Result<void> Side::connect() {
  report().stage = "connect";
  const Params& p = params();
  const Time timeout = p.timeout_us * kUs;
  const auto port = static_cast<uint16_t>(p.port + run_.thread);
  ConnParam param{.responder_resources = p.rd_atomic,
                  .initiator_depth = p.rd_atomic,
                  .markers = p.markers,
                  .crc = p.crc,
                  .flush = shape_.flushes || shape_.atomics,
                  .revision = p.mpa_revision,
                  .timeout = timeout};
  if (is_client_) {
    const Time deadline = dev().now() + timeout;
    for (Lane& lane : lanes) {
      const auto data = introduction(lane);
      param.private_data = data;
      auto c = verbs::connect(lane.qp, {p.server_ip, port}, param);
      while (!c && c.error().code == Errc::kRefused && dev().now() < deadline &&
             !run_.session.is_failed()) {  // the server may not listen yet
        (void)dev().wait(0, dev().now() + 20 * kUs);
        c = verbs::connect(lane.qp, {p.server_ip, port}, param);
      }
      if (!c) return error_of(c);
      lane.connection = std::move(*c);
      if (auto r = introduced(lane); !r) return r;
    }
  } else {
    auto listener = verbs::listen(context_, port);
    if (!listener) return error_of(listener);
    for (Lane& lane : lanes) {
      auto request = await_request(*listener, dev().now() + timeout);
      if (!request) return error_of(request);
      const auto data = introduction(lane);
      param.private_data = data;
      auto c = request->accept(lane.qp, param);
      if (!c) return error_of(c);
      lane.connection = std::move(*c);
      if (auto r = introduced(lane); !r) return r;
    }
  }
  run_.session.arrive();
  progress_ = dev().now();
  auto all = [&] { return run_.session.is_assembled(); };
  if (auto r = until("other threads", all, kOnlooker); !r) return r;
  report().stage = "run";
  return {};
}

Result<void> Side::post_receives(Lane& lane, uint32_t n) {
  std::array<RecvWr, kBatch> wrs;
  std::array<Sge, kBatch> sges;
  for (uint32_t left = n; left != 0;) {
    uint32_t k = 0;
    for (; k < std::min(left, kBatch) && next_receive(lane, lane.receives + k, sges[k]); k++)
      wrs[k] = {.wr_id = wr_id_of(What::kReceive, lane, lane.receives + k),
                .sg_list = {&sges[k], 1}};
    if (k == 0) break;
    auto r = lane.qp.post_recv(std::span(wrs).first(k));
    if (!r) return tl::unexpected<Error>(*r.error);
    lane.receives += k;
    left -= k;
  }
  return {};
}

// Returns false after the last receive, the one of the control message.
bool Side::next_receive(const Lane& lane, uint64_t n, Sge& sge) const {
  const uint64_t data = receives_expected();
  const bool is_control = n == data, is_mark = n < data && !shape_.receives;
  const uint64_t place = is_control || is_mark ? control_in() : rx(n);
  const uint32_t bytes = is_control ? kControl : is_mark ? 0 : shape_.slot_bytes;
  sge = {lane.mr.addr() + place, bytes, lane.mr.lkey()};
  return n <= data;
}

SendWr Side::request(const Lane& lane, WrOpcode opcode, uint64_t index, bool signaled,
                     Sge& sge) const {
  const bool is_read = opcode == IBV_WR_RDMA_READ;
  const uint32_t size = length_of(index);
  const bool in_wqe = !is_read && size <= params().inline_bytes;
  const uint64_t place = is_read ? rx(index) : tx(index);
  sge = {lane.mr.addr() + place, size, lane.mr.lkey()};
  if (in_wqe) sge.addr = base::address_of(lane.buffer.data() + place);
  SendWr wr{.wr_id = wr_id_of(What::kData, lane, index), .sg_list = {&sge, 1}, .opcode = opcode};
  wr.imm = imm_of(key(is_client_, lane, index));
  if (opcode == RNIC_WR_IMM) {
    wr.sg_list = {};
    wr.send_flags = signaled ? IBV_SEND_SIGNALED : 0u;
    return wr;
  }
  wr.send_flags = (signaled ? IBV_SEND_SIGNALED : 0u) | (in_wqe ? IBV_SEND_INLINE : 0u);
  wr.remote_addr = lane.remote + (is_read ? far_tx(lane, index) : far_rx(lane, index));
  wr.rkey = lane.rkey;
  return wr;
}

SendWr Side::flush_of(const SendWr& write, bool signaled) {
  uint32_t length = 0;
  for (const Sge& sge : write.sg_list) length += sge.length;
  return {.wr_id = write.wr_id,
          .opcode = IBV_WR_FLUSH,
          .send_flags = signaled ? IBV_SEND_SIGNALED : 0u,
          .remote_addr = write.remote_addr,
          .rkey = write.rkey,
          .flush_length = length,
          .flush_type = IBV_FLUSH_GLOBAL};
}

Result<void> Side::post(Lane& lane, std::span<const SendWr> wrs) {
  auto r = lane.qp.post_send(wrs);
  if (!r) return tl::unexpected<Error>(*r.error);
  lane.posted += static_cast<uint64_t>(
      std::ranges::count_if(wrs, [](const SendWr& wr) { return wr.opcode != IBV_WR_FLUSH; }));
  return {};
}

Result<void> Side::arrival(const Lane& lane, uint64_t index, uint8_t mark) {
  const auto bytes = at(lane, rx(index), params().size);
  const volatile uint8_t& last = bytes.back();
  // Every 256th poll calls pump(), which detects a failure or a time-out.
  for (uint64_t polls = 1; last != mark; polls++) {
    if (polls % 256 != 0) {
      dev().relax();
    } else if (auto n = pump(); !n) {
      return error_of(n);
    }
  }
  dev().after_phase_bit();
  alive();
  check(bytes.first(bytes.size() - 1), key(!is_client_, lane, index));
  return {};
}

Result<void> Side::write_credit(Lane& lane, Word word, uint64_t count) {
  (word == Word::kTaken ? lane.told : lane.told_filled) = count;
  return write_words(lane, word, std::span(&count, 1));
}

Result<void> Side::write_window(Lane& lane, Time from, Time to) {
  return write_words(lane, Word::kFrom, std::array{from, to});
}

Result<void> Side::write_words(Lane& lane, Word first, std::span<const uint64_t> values) {
  const uint64_t offset = static_cast<uint64_t>(first) * 8;
  const auto place = at(lane, credit_out() + offset, values.size() * 8);
  for (size_t i = 0; i < values.size(); i++) base::store_le(&place[i * 8], values[i]);
  const Sge sge{base::address_of(place.data()), static_cast<uint32_t>(place.size()), 0};
  auto r = lane.qp.post_send({.wr_id = wr_id_of(What::kCredit, lane, values[0]),
                              .sg_list = {&sge, 1},
                              .opcode = IBV_WR_RDMA_WRITE,
                              .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
                              .remote_addr = lane.remote + far_credit_in(lane) + offset,
                              .rkey = lane.rkey});
  if (!r) return tl::unexpected<Error>(*r.error);
  lane.credits_out++;
  return {};
}

uint64_t Side::credit(const Lane& lane, Word word) {
  const uint64_t place = credit_in() + static_cast<uint64_t>(word) * 8;
  const auto count = base::load_le<uint64_t>(at(lane, place, 8).data());
  if (count != 0) dev().after_phase_bit();
  return count;
}

Result<void> Side::give_back(Lane& lane, uint64_t taken, uint32_t slots) {
  if (given_back(lane, slots) || lane.credits_out != 0) return {};
  if (taken - lane.told < mark_step(slots)) return {};
  return write_credit(lane, Word::kTaken, taken);
}

Result<void> Side::send_mark(Lane& lane) {
  const Sge nothing{lane.mr.addr(), 0, lane.mr.lkey()};
  auto r = lane.qp.post_send({.wr_id = wr_id_of(What::kMark, lane, lane.marks),
                              .sg_list = {&nothing, 1},
                              .opcode = IBV_WR_SEND});
  if (!r) return tl::unexpected<Error>(*r.error);
  lane.marks++;
  return {};
}

Result<void> Side::offer(Lane& lane) {
  if (lane.filled < messages) {
    // While no slot is filled, the peer has taken none.
    const uint64_t taken = lane.filled == 0 ? 0 : credit(lane, Word::kTaken);
    for (const uint64_t upto = std::min(messages, taken + tx_slots()); lane.filled < upto;
         lane.filled++)
      on_offer(lane, lane.filled, at(lane, tx(lane.filled), length_of(lane.filled)));
  }
  if (lane.filled <= tx_slots() || lane.filled == lane.told_filled || lane.credits_out != 0)
    return {};
  return write_credit(lane, Word::kFilled, lane.filled);
}

Result<void> Side::take(const Wc& wc) {
  const auto found = lane_of(wc);
  if (!found) return error_of(found);
  Lane& lane = **found;
  const uint64_t index = wc.wr_id & 0xffffffffff;
  if (wc.status != IBV_WC_SUCCESS)
    return fail(Errc::kConnectionLost, "lane {}, request {}: {} (vendor {})", lane.number, index,
                to_string(wc.status), wc.vendor_err);
  if (is_shared(wc)) return take_shared(lane, wc);
  switch (static_cast<What>(wc.wr_id >> 56)) {
    case What::kData:
      lane.completed = index + 1;
      if (on_data) on_data(lane, lane.completed);
      break;
    case What::kReceive:
      if (index == receives_expected()) {
        lane.control_came = true;
        break;
      }
      if (wc.byte_len !=
          (shape_.receives && shape_.immediate != Shape::kAlone ? length_of(index) : 0))
        report().mismatches++;
      if (shape_.immediate != Shape::kNoImmediate) {
        report().checks++;
        if ((wc.wc_flags & IBV_WC_WITH_IMM) == 0 || wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
            wc.imm != imm_of(key(!is_client_, lane, index)))
          report().mismatches += sizeof wc.imm;
      }
      lane.received = index + 1;
      lane.invalidated = (wc.wc_flags & IBV_WC_WITH_INV) != 0 ? wc.invalidated_rkey : 0;
      if (on_receive) on_receive(lane, index);
      break;
    case What::kControlSent:
      lane.control_done = true;
      break;
    case What::kCredit:
      lane.credits_out--;
      break;
    case What::kMark:
      break;
  }
  return {};
}

// Async events: a limit event is counted, any other is a failure. The failure's time is recorded
// here, before the session is left: leaving takes time, and the peer then fails at a later time.
Result<void> Side::look_for_events() {
  while (auto e = context_.get_async_event(0)) {
    if (e->type == IBV_EVENT_SRQ_LIMIT_REACHED) {
      report().limit_events++;
      if (auto r = srq_.modify({.srq_limit = params().srq_limit}); !r) return r;
      continue;
    }
    report().fails(dev().now());
    return fail(Errc::kConnectionLost, "{} of {}", to_string(*e), e->object);
  }
  return {};
}

Result<void> Side::look_for_failure() {
  if (auto r = look_for_events(); !r) return r;
  if (run_.session.is_failed()) return fail(Errc::kConnectionLost, "another thread has failed");
  const uint64_t us = patience_ * params().timeout_us;
  if (dev().now() > progress_ + us * kUs) {
    report().fails(dev().now());
    return fail(Errc::kTimedOut, "nothing has happened for {} us", us);
  }
  return {};
}

Result<size_t> Side::pump() {
  if (shape_.kept == Shape::kOffered && on_offer && messages > tx_slots())
    for (Lane& lane : lanes)
      if (auto r = offer(lane); !r) return error_of(r);
  std::array<Wc, 32> wcs;
  const auto n = cq_.poll_cq(wcs);
  if (!n) return n;
  if (*n == 0) {
    if (on_pump) on_pump(0);
    if (++idle_ % 256 == 0)  // not at each empty poll: the check costs host time
      if (auto r = look_for_failure(); !r) return error_of(r);
    return n;
  }
  progress_ = dev().now();
  for (const Wc& wc : std::span(wcs).first(*n))
    if (auto r = take(wc); !r) return error_of(r);
  if (shape_.srq_wr != 0 && params().srq_limit != 0)
    if (auto r = look_for_events(); !r) return error_of(r);
  if (on_pump) on_pump(*n);
  return n;
}

Result<size_t> Side::pump_events() {
  if (auto r = cq_.req_notify_cq(); !r) return error_of(r);
  auto n = pump();  // completions that arrived before the arming
  if (!n || *n != 0) return n;
  if (auto r = cq_.get_cq_event(dev().now() + params().timeout_us * kUs); !r) return error_of(r);
  return pump();
}

Result<void> Side::until(std::string_view what, const std::function<bool()>& done,
                         uint64_t patience) {
  patience_ = patience;
  while (!done()) {
    if (auto n = pump(); !n) return fail(n.error().code, "{}: {}", what, n.error().what);
  }
  patience_ = 1;
  progress_ = dev().now();
  return {};
}

Result<void> Side::send_control(Lane& lane) {
  if (std::exchange(lane.control_sent, true)) return {};
  fill(at(lane, control_out(), kControl), key(is_client_, lane, UINT64_MAX));
  const Sge sge{lane.mr.addr() + control_out(), kControl, lane.mr.lkey()};
  auto r = lane.qp.post_send({.wr_id = wr_id_of(What::kControlSent, lane, 0),
                              .sg_list = {&sge, 1},
                              .opcode = IBV_WR_SEND,
                              .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED});
  if (!r) return tl::unexpected<Error>(*r.error);
  return {};
}

Result<void> Side::wait_control() {
  auto r = until("last message", [&] {
    return std::ranges::all_of(lanes,
                               [](const Lane& l) { return l.control_done && l.control_came; });
  });
  if (!r) return r;
  for (const Lane& lane : lanes)
    check(at(lane, control_in(), kControl), key(!is_client_, lane, UINT64_MAX));
  return {};
}

Result<void> Side::disconnect() {
  report().stage = "disconnect";
  const Time timeout = params().timeout_us * kUs;
  for (Lane& lane : lanes) {
    if (!is_client_)
      if (auto r = lane.connection.wait_disconnected(dev().now() + timeout); !r) return r;
    if (auto r = lane.connection.disconnect(timeout); !r) return r;
  }
  return {};
}

void guarded(const Run& run, const std::function<Result<void>()>& body) {
  const auto result = body();
  if (result) {
    run.report.stage = "done";
  } else {
    run.report.follows = run.session.is_failed();
    run.session.fail();
    run.report.error = fmt::format("{}: {}", to_string(result.error().code), result.error().what);
    run.report.fails(run.dev.now());
  }
  run.session.leave(run.dev, run.thread);
}

}  // namespace rnic::programs
