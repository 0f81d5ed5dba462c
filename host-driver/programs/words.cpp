// Common code of the programs that change 8-byte words by FetchAdd, CmpSwap and Atomic Write: see
// words.hpp.
#include "words.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace rnic::programs {

using namespace verbs;

namespace {
constexpr uint64_t kPoison = 0xdeadbeefdeadbeef;  // content of a sink until its response arrives
}  // namespace

Words::Words(const Run& run, bool is_client, uint32_t lanes, uint32_t window)
    : side_(run, is_client,
            {.lanes = lanes, .window = window, .slot_bytes = kWord, .atomics = true}),
      is_client_(is_client) {
  side_.length = [](uint64_t) { return kWord; };
  // Each side sends 16 bytes when a lane connects. The server's hold rkey and address of the shared
  // words; the client's are not used.
  side_.introduction_bytes = 16;
  side_.on_introduce = [this](const Lane&, std::span<uint8_t> bytes) {
    if (is_client_) return;
    base::store_be(&bytes[0], mr_.rkey());
    base::store_be(&bytes[8], mr_.addr());
  };
  side_.on_introduced = [this](Lane&, std::span<const uint8_t> bytes) {
    shared_ = {base::load_be<uint32_t>(&bytes[0]), base::load_be<uint64_t>(&bytes[8])};
  };
}

Result<void> Words::start(uint64_t own, uint64_t shared) {
  if (auto r = side_.open(); !r) return r;
  if (!is_client_) {
    auto buffer = side_.run().session.common(side_.dev(), kShared * kLine, [&](DmaBuffer& b) {
      for (uint32_t k = 0; k < kShared; k++) base::store_le(b.data() + k * kLine, shared);
    });
    if (!buffer) return error_of(buffer);
    memory_ = *buffer;
    // The IOVA after those of the lanes: lane n has (n + 1) << 32 (common.cpp).
    auto mr =
        side_.pd().reg_mr_iova(memory_, 0, memory_.size(), uint64_t{side_.shape().lanes + 1} << 32,
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    if (!mr) return error_of(mr);
    mr_ = std::move(*mr);
    for (const Lane& lane : side_.lanes)
      for (uint64_t k = 0; k < side_.rx_slots(); k++) base::store_le(own_word(lane, k), own);
  }
  if (auto r = side_.connect(); !r) return r;
  for (const Lane& lane : side_.lanes)
    if (!lane.connection.has_flush())
      return fail(Errc::kNotSupported, "the peer does not agree to atomics");
  return {};
}

Result<void> Words::finish() {
  if (!is_client_) {
    auto came = [&] { return std::ranges::all_of(side_.lanes, &Lane::control_came); };
    if (auto r = side_.until("client's last message", came, Side::kOnlooker); !r) return r;
    side_.dev().after_phase_bit();  // then the words may be read: the last message has completed
  }
  for (Lane& lane : side_.lanes)
    if (auto r = side_.send_control(lane); !r) return r;
  if (auto r = side_.wait_control(); !r) return r;
  return side_.disconnect();
}

Result<void> Words::meet() {
  side_.dev().before_shared();  // the session is shared by the threads of this host
  side_.run().session.finish();
  auto all = [&] {
    side_.dev().before_shared();
    return side_.run().session.is_finished();
  };
  return side_.until("other threads", all, Side::kOnlooker);
}

uint8_t* Words::own_word(const Lane& lane, uint64_t slot) const {
  return side_.at(lane, side_.rx(slot), kWord).data();
}

void Words::expect(const uint8_t* word, uint64_t value) {
  side_.report().checks++;
  if (base::load_le<uint64_t>(word) != value) side_.wrong(word, kWord);
}

FarWord Words::far_shared(uint32_t number) const {
  return {shared_.rkey, shared_.addr + number * kLine};
}

FarWord Words::far_own(const Lane& lane, uint64_t slot) const {
  return {lane.rkey, lane.remote + side_.far_rx(lane, slot)};
}

SendWr Words::request(const Lane& lane, WrOpcode opcode, uint64_t index, FarWord at, bool signaled,
                      Sge& sge) {
  SendWr wr = side_.request(lane, opcode, index, signaled, sge);
  wr.send_flags = signaled ? IBV_SEND_SIGNALED : 0u;
  wr.remote_addr = at.addr;
  wr.rkey = at.rkey;
  if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_ATOMIC_WRITE) {
    wr.send_flags |= IBV_SEND_INLINE;
    return wr;  // the operand is inline: post() sets the SGE
  }
  sge = {lane.mr.addr() + side_.rx(index), kWord, lane.mr.lkey()};
  base::store_le(own_word(lane, index), kPoison);
  return wr;
}

Result<void> Words::post(Lane& lane, WrOpcode opcode, FarWord at, uint64_t compare_add,
                         uint64_t swap, bool signaled) {
  Sge sge;
  SendWr wr = request(lane, opcode, lane.posted, at, signaled, sge);
  if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_ATOMIC_WRITE)
    sge = {base::address_of(&compare_add), kWord, 0};
  wr.sg_list = {&sge, 1};
  wr.compare_add = compare_add;
  wr.swap = swap;
  return side_.post(lane, std::span(&wr, 1));
}

uint64_t Words::brought(const Lane& lane) const {
  return base::load_le<uint64_t>(own_word(lane, lane.posted - 1));
}

}  // namespace rnic::programs
