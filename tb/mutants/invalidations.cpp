// Invalidations by the peer and by the local send queue: valid ones in both directions at the same
// time, and wrong ones. See story.hpp. Codes of Terminates, as in story.cpp: 0x0109 STag of another
// stream; 0x0209 STag unknown, invalid or shared; 0x1100 STag of a Write invalid.
#include <algorithm>

#include "gen/errors.hpp"
#include "story.hpp"

namespace rnic::mutants {

using namespace verbs;
using spec::Cause;

namespace {

constexpr auto kFlushed = IBV_WC_WR_FLUSH_ERR;
constexpr uint32_t kLent = RNIC_ACCESS_REMOTE_INVALIDATE | IBV_ACCESS_LOCAL_WRITE |
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

/// Registers the buffer for access through this QP only.
Result<Mr> Story::lend(Qp& qp) { return qp.reg_mr_iova(buffer_, 0, kBytes, kIova, kLent); }

/// Both sides run this at the same time. The peer writes to the lent region, invalidates it, and
/// writes once more, with Immediate Data and SE. The two receives complete in this order, the first
/// names the region, and the written bytes are in memory. Then the QP invalidates five more regions
/// itself, after a Write: more at a time than tpt takes.
Result<void> Story::invalidate_each_other(Qp& qp) {
  constexpr unsigned kOwn = 5;
  auto lent = lend(qp);
  if (!lent) return error_of(lent);
  std::vector<Mr> own;
  for (unsigned i = 0; i < kOwn; ++i) {
    auto one = lend(qp);
    if (!one) return error_of(one);
    own.push_back(std::move(*one));
  }
  shared_.lent_key[side_] = lent->rkey();
  if (auto r = meet(3); !r) return r;
  const uint32_t key = shared_.lent_key[1 - side_];
  if (auto r = post(qp, 1, IBV_WR_RDMA_WRITE, 8000, key, kLand); !r) return r;
  if (auto r = post(qp, 2, IBV_WR_SEND_WITH_INV, 20, key); !r) return r;
  if (auto r = post(qp, 3, IBV_WR_RDMA_WRITE_WITH_IMM, 20, shared_.open_key[1 - side_], 0,
                    IBV_SEND_SOLICITED);
      !r)
    return r;
  if (auto r = completions(
          {{1}, {2}, {3}, {.id = kReceive, .invalidated = lent->rkey()}, {.id = kReceive + 1}});
      !r)
    return r;
  if (!std::ranges::equal(buffer_.bytes().subspan(kLand, 8000),
                          shared_.memory[1 - side_].subspan(96, 8000)))  // post()'s source
    return fail(Errc::kProtocol, "reported as invalidated before the Write ahead of it is there");
  if (auto r = meet(4); !r) return r;
  if (auto r = post(qp, 4, IBV_WR_RDMA_WRITE, 8000, shared_.open_key[1 - side_], kLand); !r)
    return r;
  std::vector<SendWr> wrs;
  for (const Mr& mr : own) wrs.push_back({.opcode = IBV_WR_LOCAL_INV, .rkey = mr.rkey()});
  wrs.back().wr_id = 5;
  wrs.back().send_flags = IBV_SEND_SIGNALED;
  const auto posted = qp.post_send(wrs);
  if (!posted) return fail(posted.error->code, "post of an invalidation: {}", posted.error->what);
  if (auto r = completions({{4}, {5}}); !r) return r;
  if (auto r = lent->dereg(); !r) return r;
  for (Mr& mr : own)
    if (auto r = mr.dereg(); !r) return r;
  return {};
}

/// Invalidates an STag that the peer may not invalidate: one that is not bound to a QP, or one that
/// is bound to another QP.
Result<void> Story::invalidate_wrongly(Qp& qp) {
  const bool unbound = now_.what == Case::kInvUnbound;
  if (auto r = meet(4); !r) return r;
  if (auto r = post(qp, 1, IBV_WR_SEND_WITH_INV, 20,
                    unbound ? shared_.open_key[1 - side_] : shared_.lent_key[1 - side_]);
      !r)
    return r;
  // 0/2/09: shared by streams; 0/1/09: of another stream (docs/gen/errors.md).
  return terminated(unbound ? 0x0209 : 0x0109, {{1, IBV_WC_SUCCESS, kFlushed}});
}

/// The other side of invalidate_wrongly: the Send is not delivered, its receive is flushed.
Result<void> Story::keep_region() {
  const bool unbound = now_.what == Case::kInvUnbound;
  auto made = pd_.create_qp({.send_cq = &cq_,
                             .recv_cq = &cq_,
                             .cap = {.max_send_wr = 8, .max_recv_wr = 8},
                             .push = false});
  if (!made) return error_of(made);
  Qp other = std::move(*made);
  auto lent = lend(other);
  if (!lent) return error_of(lent);
  shared_.lent_key[side_] = lent->rkey();
  if (auto r = meet(4); !r) return r;
  if (auto r = completions({{kReceive, kFlushed, kFlushed}, {kReceive + 1, kFlushed, kFlushed}});
      !r)
    return r;
  if (auto r = fatal(
          static_cast<uint32_t>(unbound ? Cause::kRdmapInvStag : Cause::kRdmapInvProtected), 0);
      !r)
    return r;
  if (auto r = lent->dereg(); !r) return r;
  return other.destroy();
}

/// Invalidates the STag that the peer has lent. After the peer has received the report, writes
/// through it.
Result<void> Story::write_too_late(Qp& qp) {
  if (auto r = meet(4); !r) return r;
  const uint32_t key = shared_.lent_key[1 - side_];
  if (auto r = post(qp, 1, IBV_WR_SEND_WITH_INV, 20, key); !r) return r;
  if (auto r = completions({{1}}); !r) return r;
  if (auto r = meet(5); !r) return r;
  if (auto r = post(qp, 2, IBV_WR_RDMA_WRITE, 100, key); !r) return r;
  return terminated(0x1100, {{2, IBV_WC_SUCCESS, kFlushed}});
}

/// The other side of write_too_late.
Result<void> Story::refuse_late(Qp& qp) {
  auto lent = lend(qp);
  if (!lent) return error_of(lent);
  shared_.lent_key[side_] = lent->rkey();
  if (auto r = meet(4); !r) return r;
  if (auto r = completions({{.id = kReceive, .invalidated = lent->rkey()}}); !r) return r;
  if (auto r = meet(5); !r) return r;
  if (auto r = completions({{kReceive + 1, kFlushed, kFlushed}}); !r) return r;
  if (auto r = fatal(static_cast<uint32_t>(Cause::kDdpTaggedStag), 0); !r) return r;
  return lent->dereg();
}

}  // namespace rnic::mutants
