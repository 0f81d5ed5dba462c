// A QP ends while the device still works for it: on receives of an SRQ, on a registration of the
// send queue. See story.hpp.
#include <vector>

#include "core.hpp"  // of the driver: the address of a region's page list
#include "gen/errors.hpp"
#include "gen/regs.hpp"
#include "story.hpp"

namespace rnic::mutants {

using namespace verbs;
using spec::Cause;

namespace {

constexpr auto kFlushed = IBV_WC_WR_FLUSH_ERR;

}  // namespace

/// Sends a Read Request that the peer must refuse, and Sends after it.
Result<void> Story::send_after_error(Qp& qp) {
  constexpr uint64_t kSends = 5;
  if (auto r = meet(4); !r) return r;
  std::vector<Wanted> wanted{{1, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR}};
  if (auto r = post(qp, 1, IBV_WR_RDMA_READ, 40, shared_.open_key[1 - side_] ^ 1); !r) return r;
  for (uint64_t id = 2; id < 2 + kSends; ++id) {
    if (auto r = post(qp, id, IBV_WR_SEND, 8); !r) return r;
    wanted.push_back({id, kFlushed, IBV_WC_SUCCESS});
  }
  return terminated(0x0100, std::move(wanted));  // 0/1/00: the source STag is invalid
}

/// The other side of send_after_error. The QP takes its receives from an SRQ. Its Terminate waits
/// for Writes that are posted before, and the Sends arrive meanwhile. They take a receive at most
/// (docs/limitations.md), and complete none with success.
Result<void> Story::keep_receives(Qp& qp) {
  const uint32_t key = shared_.open_key[1 - side_];
  for (uint64_t id = 1; id <= 3; ++id)
    if (auto r = post(qp, id, IBV_WR_RDMA_WRITE, 8000, key); !r) return r;
  if (auto r = meet(4); !r) return r;
  if (auto r = fatal(static_cast<uint32_t>(Cause::kRdmapStag), 0); !r) return r;
  (void)dev_.wait(0, dev_.now() + kShort);
  unsigned taken = 0;
  for (;;) {
    std::array<Wc, 4> wcs;
    const auto n = cq_.poll_cq(wcs);
    if (!n) return error_of(n);
    if (*n == 0) break;
    for (const Wc& wc : std::span(wcs).first(*n)) {
      if (wc.wr_id < kReceive) continue;
      ++taken;
      if (wc.status != kFlushed)
        return fail(Errc::kProtocol, "a failed QP completes receive {}: {}", wc.wr_id,
                    to_string(wc.status));
    }
  }
  ++shared_.checks;
  return taken <= 1 ? Result<void>()
                    : fail(Errc::kProtocol, "a failed QP takes {} receives of its SRQ", taken);
}

/// Ends the QP while it reads a page list. The read gets no completion, so the registration ends by
/// timeout: nothing of it may come after the QP's end.
Result<void> Story::end_while_registering(Qp& qp) {
  constexpr uint32_t kTimeout = 2000;  // device cycles
  constexpr uint32_t kPage = 4096;
  const uint32_t before = dev_.read32(0, spec::kCplTimeoutOffset);
  dev_.write32(0, spec::kCplTimeoutOffset, kTimeout);
  auto mr = pd_.alloc_mr(1);
  if (!mr) return error_of(mr);
  const SgRange page{.buffer = buffer_, .addr = 0, .length = kPage};
  if (auto r = mr->map_mr_sg({&page, 1}, kPage); !r) return r;
  const DmaBuffer& list = mr->core()->list;
  shared_.spoil(side_, list.bus(0), list.bus(0) + 8, 1, true);
  const auto posted = qp.post_send({.wr_id = 1,
                                    .opcode = IBV_WR_REG_MR,
                                    .send_flags = IBV_SEND_SIGNALED,
                                    .mr = &*mr,
                                    .key = mr->rkey(),
                                    .access = IBV_ACCESS_LOCAL_WRITE});
  if (!posted) return fail(posted.error->code, "post of a registration: {}", posted.error->what);
  (void)dev_.wait(0, dev_.now() + kShort / 2);  // the list is being read, and not yet given up
  if (auto r = qp.modify(IBV_QPS_ERR); !r) return r;
  if (auto r = completions({{1, kFlushed, IBV_WC_FATAL_ERR},
                            {kReceive, kFlushed, kFlushed},
                            {kReceive + 1, kFlushed, kFlushed}});
      !r)
    return r;
  dev_.write32(0, spec::kCplTimeoutOffset, before);
  return mr->dereg();
}

}  // namespace rnic::mutants
