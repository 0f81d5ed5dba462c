// Commands that no driver gives: each has one error, and the device must refuse it for that error.
// Correct commands between them show that nothing else was wrong. A scene of the program in
// story.hpp: Story::refused() collects the attempts and executes them one after the other.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "gen/queues.hpp"
#include "gen/sizes.hpp"
#include "story.hpp"

namespace rnic::mutants {

using spec::AdminOpcode;

namespace {

// Numbers that exist and are free. The builds minimum and `stall` have 8 QPs, 8 CQs, 4 PDs, 16
// connections, 2 EQs, 2 vectors, 4 doorbell pages, 64 IRD slots, 64 ORD slots and 1024 page-list
// entries (docs/spec/sizes.yaml). A number that equals its count is therefore out of range. EQs 0
// and 1, CQ 0 and PD 0 are in use.
constexpr uint32_t kFreeQp = 7, kFreeCq = 7, kFreePd = 3, kFreeConn = 15;
constexpr uint16_t kRights = spec::kAccessLocalWrite | spec::kAccessRemoteWrite;

template <class Args>
std::vector<uint8_t> bytes_of(const Args& args) {
  std::vector<uint8_t> bytes(Args::kBytes);
  args.pack(bytes);
  return bytes;
}

struct Attempt {
  AdminOpcode op;
  uint32_t object = 0;
  std::vector<uint8_t> args{};
  std::optional<Errc> why = Errc::kInvalidArgument;  // empty: the command is correct
};

/// Adds copies of `good`, each with one field changed.
template <class Args>
void spoil(std::vector<Attempt>& all, AdminOpcode op, uint32_t object, const Args& good,
           std::initializer_list<std::function<void(Args&)>> ways,
           Errc why = Errc::kInvalidArgument) {
  for (const auto& way : ways) {
    Args bad = good;
    way(bad);
    all.push_back({op, object, bytes_of(bad), why});
  }
}

void rings(std::vector<Attempt>& all) {
  using A = spec::AdminRingArgs;
  const A good{.base = 0x1000, .log_size = 4, .reserved2 = {}};
  spoil<A>(all, AdminOpcode::kCreateCq, kFreeCq, good,
           {[](A& a) { a.base += 16; }, [](A& a) { a.log_size = spec::kMaxLogCq + 1; },
            [](A& a) { a.vector = 2; }, [](A& a) { a.page = 4; }, [](A& a) { a.reserved0 = 1; },
            [](A& a) { a.reserved1 = 1; }, [](A& a) { a.reserved2[39] = 1; }});
  spoil<A>(all, AdminOpcode::kCreateCq, kFreeCq, good, {[](A& a) { a.eqn = 2; }}, Errc::kNotFound);
  spoil<A>(all, AdminOpcode::kCreateCq, 0, good, {[](A&) {}}, Errc::kAlreadyExists);
  spoil<A>(all, AdminOpcode::kModifyCq, kFreeCq, good, {[](A&) {}}, Errc::kNotFound);
  spoil<A>(all, AdminOpcode::kCreateEq, 1, good, {[](A&) {}}, Errc::kAlreadyExists);
}

void queue_pairs(std::vector<Attempt>& all, const spec::AdminQpArgs& good) {
  using A = spec::AdminQpArgs;
  spoil<A>(all, AdminOpcode::kCreateQp, kFreeQp, good,
           {[](A& a) { a.sq_base += 32; }, [](A& a) { a.rq_base += 32; },
            [](A& a) { a.log_sq = spec::kMinLogRing - 1; },
            [](A& a) { a.log_sq = spec::kMaxLogRing + 1; },
            [](A& a) { a.log_rq = spec::kMinLogRing - 1; },
            [](A& a) { a.log_rq = spec::kMaxLogRing + 1; }, [](A& a) { a.page = 4; },
            [](A& a) { a.reserved0 = 1; }, [](A& a) { a.reserved1[0] = 1; }});
  spoil<A>(
      all, AdminOpcode::kCreateQp, kFreeQp, good,
      {[](A& a) { a.pd = 4; }, [](A& a) { a.pd = kFreePd; }, [](A& a) { a.send_cq = kFreeCq; },
       [](A& a) { a.send_cq = 8; }, [](A& a) { a.recv_cq = kFreeCq; }, [](A& a) { a.recv_cq = 8; }},
      Errc::kNotFound);
}

/// IRD and ORD are at most 32, the streaming bytes at most 532. A `to_state` of 0 is idle, 1 rts, 3
/// terminate: no command leads to 0 or 3.
void starts(std::vector<Attempt>& all) {
  using A = spec::AdminModifyArgs;
  const A good{.to_state = 1, .connection = kFreeConn, .ird = 1, .ord = 1, .reserved3 = {}};
  spoil<A>(
      all, AdminOpcode::kModifyQp, kFreeQp, good,
      {[](A& a) { a.to_state = 0; }, [](A& a) { a.to_state = 3; }, [](A& a) { a.connection = 16; },
       [](A& a) { a.ird = 33; }, [](A& a) { a.ord = 33; }, [](A& a) { a.ird_base = 64; },
       [](A& a) { a.ord_base = 64; }, [](A& a) { a.stream_length = 533; },
       [](A& a) { a.reserved0 = 1; }, [](A& a) { a.reserved1 = 1; }, [](A& a) { a.reserved2 = 1; },
       [](A& a) { a.reserved3[31] = 1; }});
  spoil<A>(all, AdminOpcode::kModifyQp, kFreeQp, good, {[](A&) {}},
           Errc::kNotFound);  // no such connection
}

/// `good` spans two whole pages of 4 KiB (`log_page` 12; 12 to 21 are allowed). Remote write needs
/// local write. Only a bound region names a QP.
void regions(std::vector<Attempt>& all, uint32_t slot, const spec::AdminMrArgs& good) {
  using A = spec::AdminMrArgs;
  spoil<A>(all, AdminOpcode::kCreateMr, slot, good,
           {[](A& a) { a.log_page = 11; }, [](A& a) { a.log_page = 22; },
            [](A& a) { a.rights = 0x8000; }, [](A& a) { a.rights = spec::kAccessRemoteWrite; },
            [](A& a) { a.length = 0; }, [](A& a) { a.first_offset = 4096; },
            [](A& a) { a.first_offset = 1; }, [](A& a) { ++a.length; }, [](A& a) { a.pages = 0; },
            [](A& a) { a.pages = 1; }, [](A& a) { a.pbl_base = 1023; }, [](A& a) { a.qpn = 1; },
            [](A& a) { a.reserved1 = 1; }, [](A& a) { a.reserved2 = 1; },
            [](A& a) { a.page_list += 8; }});  // its second entry is no page address
  spoil<A>(all, AdminOpcode::kCreateMr, slot, good,
           {[](A& a) { a.pd = 4; }, [](A& a) { a.pd = kFreePd; }}, Errc::kNotFound);
}

/// conn_send takes 1 to 1024 bytes, conn_give at least 1. A port has 16 bits.
void connections(std::vector<Attempt>& all) {
  const auto args = [](uint16_t length) {
    return bytes_of(spec::AdminConnArgs{.address = 0x1000, .length = length, .reserved0 = {}});
  };
  auto reserved = args(1);
  reserved.back() = 1;
  all.insert(all.end(), {{AdminOpcode::kConnGive, kFreeConn, args(0)},
                         {AdminOpcode::kConnSend, kFreeConn, args(0)},
                         {AdminOpcode::kConnSend, kFreeConn, args(1025)},
                         {AdminOpcode::kConnConnect, 0, reserved},
                         {AdminOpcode::kConnGive, 16, args(1)},
                         {AdminOpcode::kConnListen, 0x10000},
                         {AdminOpcode::kConnQuery, 16},
                         {AdminOpcode::kConnGive, kFreeConn, args(1), Errc::kNotFound},
                         {AdminOpcode::kConnSend, kFreeConn, args(1), Errc::kNotFound},
                         {AdminOpcode::kConnRelease, kFreeConn, {}, Errc::kNotFound}});
}

void objects(std::vector<Attempt>& all) {
  using enum AdminOpcode;
  for (const int unknown : {0x03, 0x0f, 0x39, 0x40})
    all.push_back({static_cast<AdminOpcode>(unknown), 0, {}, Errc::kNotSupported});
  all.insert(all.end(), {{kCreatePd, 4}, {kDestroyEq, 2}, {kDestroyCq, 8}, {kQueryQp, 8}});
  all.insert(all.end(), {{kDestroyPd, kFreePd, {}, Errc::kNotFound},
                         {kQueryCq, kFreeCq, {}, Errc::kNotFound},
                         {kDestroyPd, 0, {}, Errc::kBusy},
                         {kDestroyEq, 1, {}, Errc::kBusy},
                         {kDestroyCq, 0, {}, Errc::kBusy},
                         {kCreatePd, 0, {}, Errc::kAlreadyExists},
                         {kQueryQp, kFreeQp, {1}},  // takes no arguments: all bytes must be 0
                         {kQueryMr, 1, {}, Errc::kNotFound}});
}

}  // namespace

Result<void> Story::refused() {
  const auto list = context_.alloc(4096);
  if (!list) return error_of(list);
  // Two pages, and an address that is no page's: regions() lets a list begin one entry late.
  const std::array<uint64_t, 3> pages{buffer_.bus(0), buffer_.bus(4096), 24};
  for (size_t i = 0; i < pages.size(); ++i)
    base::store_le<uint64_t>(list->data() + 8 * i, pages[i]);
  const auto slot = manager_->take_stag_slot();
  if (!slot) return error_of(slot);
  const spec::AdminQpArgs qp{.sq_base = buffer_.bus(0),
                             .rq_base = buffer_.bus(4096),
                             .log_sq = 2,
                             .log_rq = 2,
                             .reserved1 = {}};
  const spec::AdminMrArgs mr{.log_page = 12,
                             .rights = kRights,
                             .length = 8192,
                             .pbl_base = 1000,
                             .page_list = list->bus(0),
                             .pages = 2};
  std::vector<Attempt> all;
  queue_pairs(all, qp);
  all.push_back({AdminOpcode::kCreateQp, kFreeQp, bytes_of(qp), std::nullopt});
  rings(all);
  starts(all);
  objects(all);
  connections(all);
  regions(all, *slot, mr);
  for (const uint8_t eqn : std::array<uint8_t, 2>{0, 1})
    all.push_back({AdminOpcode::kModifyCq, 0,
                   bytes_of(spec::AdminRingArgs{.eqn = eqn, .reserved2 = {}}), std::nullopt});
  all.push_back({AdminOpcode::kDestroyQp, kFreeQp, {}, std::nullopt});
  for (const Attempt& a : all) {
    const auto rsp = manager_->execute(dev_, a.op, a.object, a.args);
    ++shared_.checks;
    if (rsp ? a.why.has_value() : a.why != rsp.error().code)
      return fail(Errc::kProtocol, "{} of {} is answered: {}", to_string(a.op), a.object,
                  rsp ? "ok" : rsp.error().what);
  }
  return {};
}

}  // namespace rnic::mutants
