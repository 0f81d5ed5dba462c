// One model device with its memory, driven without a driver: registers, admin ring, work queues.
// See bench.hpp.
#include "bench.hpp"

#include <algorithm>
#include <cstring>

namespace rnic::tb {

using spec::AdminOpcode;
using spec::AdminStatus;

namespace {
constexpr uint32_t kAdminLog = 4, kEqLog = 6;  // log2 of the entries of these rings
constexpr uint32_t kPage = 4096;
constexpr uint32_t offset_of(spec::DoorbellKind kind) { return 8 * static_cast<uint32_t>(kind); }
}  // namespace

Bytes hex(std::string_view text) {
  Bytes out;
  int nibble = -1;
  for (const char c : text) {
    const int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (v < 0) continue;
    if (nibble < 0) {
      nibble = v;
    } else {
      out.push_back(static_cast<uint8_t>(nibble * 16 + v));
      nibble = -1;
    }
  }
  return out;
}

Side::Side(Clock& clock, const Options& o, std::string name)
    : clock_(clock), options_(o), name_(std::move(name)), rng_(base::Rng::hash(name_) ^ o.seed) {
  reset();
}

void Side::reset() {
  rnic_.reset();
  rnic_ = std::make_unique<model::Rnic>(options_.sizes, model::Timing{}, clock_.dispatcher, *this);
  // Encoded: mps 1 is 256 bytes, mrrs 2 is 512. dma_write() and dma_read() check these limits.
  rnic_->set_pcie(
      {.bus_master = 1, .msix_enable = 1, .msix_mask = 0, .mps = 1, .mrrs = 2, .rcb128 = 0});
}

uint64_t Side::alloc(uint64_t size, uint64_t align) {
  next_free_ = (next_free_ + align - 1) / align * align;
  const uint64_t at = next_free_;
  next_free_ += size;
  EXPECT_LE(next_free_, kMemory);
  return at;
}

void Side::fill(uint64_t at, size_t n, uint64_t seed) {
  base::Rng r(seed);
  for (size_t i = 0; i < n; ++i) memory[at + i] = static_cast<uint8_t>(r.next());
}

// --- registers

void Side::access(model::MmioAccess m) {
  clock_.run([&] { return rnic_->can_mmio(); });
  clock_.dispatcher.set_now(clock_.now());
  rnic_->mmio(std::move(m));
}
void Side::write32(uint32_t offset, uint32_t value) {
  access({.is_write = true, .bar = 0, .bytes = 4, .offset = offset, .value = value, .data = {}});
}
void Side::write64(uint8_t bar, uint32_t offset, uint64_t value) {
  access({.is_write = true, .bar = bar, .bytes = 8, .offset = offset, .value = value, .data = {}});
}
void Side::write_push(uint32_t offset, std::span<const uint8_t> data) {
  access({.is_write = true,
          .bar = 2,
          .bytes = 64,
          .offset = offset,
          .value = 0,
          .data = rnic::Payload::copy_of(data)});
}
uint64_t Side::read(uint32_t offset, uint8_t bytes) {
  access({.is_write = false, .bar = 0, .bytes = bytes, .offset = offset, .value = 0, .data = {}});
  EXPECT_TRUE(clock_.run([&] { return !responses_.empty(); })) << "no answer to a register read";
  if (responses_.empty()) return ~uint64_t{0};
  const uint64_t v = responses_.front();
  responses_.pop_front();
  return v;
}

// --- commands

void Side::start() {
  admin_cmd_ = {.base = alloc(64ULL << kAdminLog), .log = kAdminLog};
  admin_rsp_ = {.base = alloc(32ULL << kAdminLog), .log = kAdminLog};
  write64(0, spec::kStagKeyOffset, 0x0123456789abcdef);
  write64(0, spec::kAdminCmdBaseOffset, admin_cmd_.base);
  write64(0, spec::kAdminRspBaseOffset, admin_rsp_.base);
  write32(spec::kAdminLogSizeOffset, kAdminLog);
  for (uint32_t v = 0; v < 2; ++v) {  // MSI-X vectors; an entry of the table has 16 bytes
    write64(0, spec::kMsixAddressOffset + 16 * v, kMsiAddress);
    write32(spec::kMsixDataOffset + 16 * v, v);
    write32(spec::kMsixControlOffset + 16 * v, 0);
  }
  write32(spec::kDevCtrlOffset, 1);
  EXPECT_EQ(command(AdminOpcode::kCreatePd, 0).status, AdminStatus::kOk);
  eq_ = {.base = alloc(16ULL << kEqLog), .log = kEqLog};
  EXPECT_EQ(
      command(AdminOpcode::kCreateEq, 0, spec::AdminRingArgs{.base = eq_.base, .log_size = kEqLog})
          .status,
      AdminStatus::kOk);
}

spec::AdminRsp Side::command(AdminOpcode op, uint32_t object, const std::array<uint8_t, 56>& args) {
  const uint16_t i = admin_cmd_.producer++;
  const uint32_t mask = (1U << kAdminLog) - 1;
  spec::AdminCmd{.opcode = static_cast<uint8_t>(op),
                 .flags = 0,
                 .cookie = static_cast<uint16_t>(i * 3),
                 .object = object,
                 .args = args}
      .pack(std::span(memory).subspan(admin_cmd_.base + 64ULL * (i & mask), 64));
  write32(spec::kAdminDoorbellOffset, admin_cmd_.producer);
  const uint64_t at = admin_rsp_.base + 32ULL * (i & mask);
  const uint8_t phase = (i >> kAdminLog & 1) == 0;
  spec::AdminRsp rsp;
  EXPECT_TRUE(clock_.run([&] {
    rsp = spec::AdminRsp::unpack(std::span(memory).subspan(at, 32));
    return rsp.phase == phase;
  })) << name_
      << ": no answer to " << to_string(op) << "\n"
      << rnic_->waiting_for();
  EXPECT_EQ(rsp.cookie, static_cast<uint16_t>(i * 3));
  EXPECT_EQ(rsp.opcode, static_cast<uint8_t>(op));
  return rsp;
}

Mr Side::reg(uint64_t length, uint16_t rights, uint16_t pd) {
  return reg_at(alloc((length + kPage - 1) / kPage * kPage), length, rights, pd);
}

Mr Side::reg_at(uint64_t buffer, uint64_t length, uint16_t rights, uint16_t pd, uint64_t first_to) {
  const uint32_t pages = static_cast<uint32_t>((length + kPage - 1) / kPage);
  const uint64_t list = alloc(8ULL * pages);
  const uint64_t to = first_to + buffer;  // the TO differs from the bus address
  for (uint32_t i = 0; i < pages; ++i)
    base::store_le<uint64_t>(&memory[list + 8ULL * i], buffer + uint64_t{i} * kPage);
  const auto rsp = command(AdminOpcode::kCreateMr, next_slot_,
                           spec::AdminMrArgs{.pd = pd,
                                             .key = static_cast<uint8_t>(next_slot_ * 7 + 1),
                                             .log_page = 12,
                                             .rights = rights,
                                             .base_to = to,
                                             .length = length,
                                             .first_offset = 0,
                                             .pbl_base = next_pbl_,
                                             .page_list = list,
                                             .pages = pages});
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  ++next_slot_;
  next_pbl_ += pages;
  const uint32_t stag = spec::AdminMrResult::unpack(rsp.result).stag;
  return {.address = to, .length = length, .stag = stag};
}

uint32_t Side::reg_fast(uint8_t log_pages, uint16_t pd) {
  const auto rsp = command(AdminOpcode::kCreateMr, next_slot_,
                           spec::AdminMrArgs{.pd = pd,
                                             .key = static_cast<uint8_t>(next_slot_ * 7 + 1),
                                             .log_page = log_pages,
                                             .pbl_base = next_pbl_,
                                             .pages = uint32_t{1} << log_pages,
                                             .fast = 1});
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  ++next_slot_;
  next_pbl_ += uint32_t{1} << log_pages;
  return spec::AdminMrResult::unpack(rsp.result).stag;
}

uint16_t Side::create_cq(uint8_t log) {
  const uint16_t n = next_cq_++;
  cq_[n] = {.base = alloc(32ULL << log), .log = log};
  EXPECT_EQ(
      command(AdminOpcode::kCreateCq, n, spec::AdminRingArgs{.base = cq_[n].base, .log_size = log})
          .status,
      AdminStatus::kOk);
  return n;
}

QpHandle Side::create_qp(const QpSetup& s) {
  QpHandle q{.qpn = next_qp_++, .cqn = create_cq(s.log_cq)};
  sq_[q.qpn] = {.base = alloc(64ULL << s.log_sq), .log = s.log_sq};
  if (!s.srq) rq_[q.qpn] = {.base = alloc(64ULL << s.log_rq), .log = s.log_rq};
  EXPECT_EQ(command(AdminOpcode::kCreateQp, q.qpn,
                    spec::AdminQpArgs{.pd = s.pd,
                                      .page = 0,
                                      .send_cq = q.cqn,
                                      .recv_cq = q.cqn,
                                      .sq_base = sq_[q.qpn].base,
                                      .rq_base = s.srq ? 0 : rq_[q.qpn].base,
                                      .log_sq = s.log_sq,
                                      .log_rq = s.srq ? uint8_t{0} : s.log_rq,
                                      .privileged = s.privileged,
                                      .has_srq = s.srq.has_value(),
                                      .srq = s.srq.value_or(0)})
                .status,
            AdminStatus::kOk);
  return q;
}

uint16_t Side::create_srq(uint16_t pd, uint8_t log) {
  const uint16_t n = next_qp_++;
  rq_[n] = {.base = alloc(64ULL << log), .log = log};
  EXPECT_EQ(command(AdminOpcode::kCreateSrq, n,
                    spec::AdminSrqArgs{.pd = pd, .page = 0, .base = rq_[n].base, .log_size = log})
                .status,
            AdminStatus::kOk);
  return n;
}

spec::AdminQpResult Side::query(uint16_t qpn) {
  const auto rsp = command(AdminOpcode::kQueryQp, qpn);
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  return spec::AdminQpResult::unpack(rsp.result);
}
spec::AdminConnResult Side::connection(uint16_t number) {
  const auto rsp = command(AdminOpcode::kConnQuery, number);
  EXPECT_EQ(rsp.status, AdminStatus::kOk);
  return spec::AdminConnResult::unpack(rsp.result);
}

// --- work

uint16_t Side::put_send(uint16_t qpn, spec::SqWqe w, const std::vector<spec::WqeSge>& sges,
                        const Bytes& data) {
  Ring& r = sq_[qpn];
  // 32 bytes of header; then inline data, or SGEs of 16 bytes. What does not fit `units` is cut.
  const size_t body = (w.flags & kInline) != 0 ? data.size() : sges.size() * 16;
  if (w.units == 0) w.units = static_cast<uint8_t>((32 + body + 63) / 64);
  if (w.num_sge == 0 && (w.flags & kInline) == 0) w.num_sge = static_cast<uint8_t>(sges.size());
  if (w.length == 0) {
    w.length = static_cast<uint32_t>(data.size());
    for (const auto& s : sges) w.length += s.length;
  }
  w.ring = {.object = qpn, .flags = 0, .index = static_cast<uint16_t>(r.producer + w.units)};
  Bytes raw(64ULL * w.units);
  w.pack(raw);
  if ((w.flags & kInline) != 0 && !data.empty()) {
    std::memcpy(&raw[32], data.data(), std::min(data.size(), raw.size() - 32));
  } else if ((w.flags & kInline) == 0) {
    for (size_t i = 0; i < sges.size() && 48 + 16 * i <= raw.size(); ++i)
      sges[i].pack(std::span(raw).subspan(32 + 16 * i, 16));
  }
  const uint16_t index = r.producer;
  for (size_t i = 0; i < w.units; ++i) {
    const uint64_t at = r.base + 64ULL * ((index + i) & ((1U << r.log) - 1));
    std::memcpy(&memory[at], &raw[64 * i], 64);
  }
  last_wqe_[qpn] = index;
  r.producer = static_cast<uint16_t>(r.producer + w.units);
  return index;
}

void Side::put_one(uint16_t qpn, spec::SqWqe w, const spec::WqeSge& s) {
  Ring& r = sq_[qpn];
  w.units = 1;
  w.num_sge = 1;
  w.length = s.length;
  uint8_t* const at = &memory[r.base + 64ULL * (r.producer++ & ((1U << r.log) - 1))];
  w.pack({at, 32});
  s.pack({at + 32, 16});
}

void Side::ring_sq(uint16_t qpn) {
  write64(2, offset_of(spec::DoorbellKind::kSq), uint64_t{sq_[qpn].producer} << 32 | qpn);
}

void Side::push(uint16_t qpn) {
  const Ring& r = sq_[qpn];
  const uint16_t first = last_wqe_[qpn], units = static_cast<uint16_t>(r.producer - first);
  const auto unit = [&](uint16_t i) {
    return &memory[r.base + 64ULL * ((first + i) & ((1U << r.log) - 1))];
  };
  // sq_wqe.ring (byte 24) is copied to the last 8 bytes of the second half: the halves pair by it.
  if (units == 2) std::copy_n(unit(0) + 24, 8, unit(1) + 56);
  for (uint16_t i = 0; i < units; ++i) {
    const uint64_t at = r.base + 64ULL * ((first + i) & ((1U << r.log) - 1));
    write_push(0x100 + 64U * i, std::span(memory).subspan(at, 64));
  }
}

uint16_t Side::post_recv(uint16_t qpn, const std::vector<spec::WqeSge>& sges, uint16_t tag) {
  Ring& r = rq_[qpn];
  spec::RqWqe w;
  w.num_sge = static_cast<uint8_t>(sges.size());
  w.tag = tag;
  if (!sges.empty()) w.sge0 = sges[0];
  if (sges.size() > 1) w.sge1 = sges[1];
  if (sges.size() > 2) w.sge2 = sges[2];
  w.pack(std::span(memory).subspan(r.base + 64ULL * (r.producer & ((1U << r.log) - 1)), 64));
  const uint16_t index = r.producer++;
  write64(2, offset_of(spec::DoorbellKind::kRq), uint64_t{r.producer} << 32 | qpn);
  return index;
}

std::optional<spec::Cqe> Side::poll(uint16_t cqn) {
  Ring& r = cq_[cqn];
  const auto e = spec::Cqe::unpack(
      std::span(memory).subspan(r.base + 32ULL * (r.consumer & ((1U << r.log) - 1)), 32));
  if (e.phase != ((r.consumer >> r.log & 1) == 0)) return std::nullopt;
  ++r.consumer;
  write64(2, offset_of(spec::DoorbellKind::kCq), uint64_t{r.consumer} << 32 | cqn);
  return e;
}

spec::Cqe Side::wait(uint16_t cqn) {
  std::optional<spec::Cqe> e;
  EXPECT_TRUE(clock_.run([&] { return (e = poll(cqn)).has_value(); }))
      << name_ << ": no completion\n"
      << rnic_->waiting_for() << "peer:\n"
      << peer_->rnic_->waiting_for();
  return e.value_or(spec::Cqe{.status = static_cast<spec::WcStatus>(0xff)});
}

std::optional<spec::Eqe> Side::poll_event() {
  const auto e = spec::Eqe::unpack(
      std::span(memory).subspan(eq_.base + 16ULL * (eq_.consumer & ((1U << kEqLog) - 1)), 16));
  if (e.phase != ((eq_.consumer >> kEqLog & 1) == 0)) return std::nullopt;
  ++eq_.consumer;
  write32(spec::kEqConsumerOffset, eq_.consumer);
  return e;
}

void Side::arm(uint16_t cqn, bool solicited) {  // bit 24: flag 0 of the doorbell
  write64(2, offset_of(spec::DoorbellKind::kCqArm),
          uint64_t{cq_[cqn].consumer} << 32 | (solicited ? 1U << 24 : 0) | cqn);
}

}  // namespace rnic::tb
