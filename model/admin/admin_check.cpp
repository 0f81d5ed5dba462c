// Checks of a command before it goes to its unit, in this order: opcode, object's number,
// existence, references to other objects (PD, CQ, EQ, SRQ), arguments.
#include <algorithm>

#include "admin/admin.hpp"

namespace rnic::model {

using spec::AdminOpcode;

namespace {

constexpr uint32_t kMostStreaming = 532;  // bytes of an MPA Reply: 20, and 512 of private data
constexpr uint32_t kMostSent = 1024;      // bytes per conn_send (admin_judge: SendMax)

template <class Bytes>
bool zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

constexpr bool aligned(uint64_t address, uint64_t to) { return address % to == 0; }

/// base and log describe a work queue of 2^log units of 64 bytes.
constexpr bool is_queue(uint64_t base, uint8_t log) {
  return aligned(base, 64) && log >= spec::kMinLogRing && log <= spec::kMaxLogRing;
}

}  // namespace

Admin::Status Admin::check_object(const spec::AdminCmd& cmd) const {
  const uint32_t o = cmd.object;
  // must: the object has to exist; fresh: it must not.
  const auto must = [](bool in_range, bool there) {
    return !in_range ? Status::kBadObject : there ? Status::kOk : Status::kNotFound;
  };
  const auto fresh = [](bool in_range, bool there) {
    return !in_range ? Status::kBadObject : there ? Status::kExists : Status::kOk;
  };
  const auto exists = [o](const auto& table) { return o < table.size() && table[o].exists; };
  const bool is_srq = o < qps_.size() && qps_[o].is_srq;
  switch (static_cast<AdminOpcode>(cmd.opcode)) {
    case AdminOpcode::kCreatePd:
      return fresh(o < pds_.size(), exists(pds_));
    case AdminOpcode::kDestroyPd:
      return must(o < pds_.size(), exists(pds_));
    case AdminOpcode::kCreateEq:
      return fresh(o < eqs_.size(), exists(eqs_));
    case AdminOpcode::kDestroyEq:
      return must(o < eqs_.size(), exists(eqs_));
    case AdminOpcode::kCreateCq:
      return fresh(o < cqs_.size(), exists(cqs_));
    case AdminOpcode::kQueryCq:
    case AdminOpcode::kModifyCq:
    case AdminOpcode::kDestroyCq:
      return must(o < cqs_.size(), exists(cqs_));
    case AdminOpcode::kCreateQp:
    case AdminOpcode::kCreateSrq:
      return fresh(o < qps_.size(), exists(qps_));
    case AdminOpcode::kModifyQp:
    case AdminOpcode::kQueryQp:
    case AdminOpcode::kDestroyQp:
      return must(o < qps_.size(), exists(qps_) && !is_srq);
    case AdminOpcode::kModifySrq:
    case AdminOpcode::kDestroySrq:
      return must(o < qps_.size(), is_srq);
    case AdminOpcode::kCreateMr:
      return must(o < sizes_.num_stags, true);
    case AdminOpcode::kConnListen:
    case AdminOpcode::kConnUnlisten:
      return must(o <= 0xffff, true);
    case AdminOpcode::kConnQuery:
    case AdminOpcode::kConnGive:
    case AdminOpcode::kConnSend:
    case AdminOpcode::kConnClose:
    case AdminOpcode::kConnAbort:
    case AdminOpcode::kConnRelease:
      return must(o < sizes_.num_conns, true);
    default:
      return Status::kOk;  // nop, connect; commands on regions by STag, which tpt checks
  }
}

Admin::Status Admin::check(const spec::AdminCmd& cmd) const {
  const auto op = static_cast<AdminOpcode>(cmd.opcode);
  const bool known = std::find(spec::kAllAdminOpcode.begin(), spec::kAllAdminOpcode.end(), op) !=
                     spec::kAllAdminOpcode.end();
  if (!known || cmd.flags != 0) return Status::kBadOpcode;
  if (const Status s = check_object(cmd); s != Status::kOk) return s;
  const auto ring = spec::AdminRingArgs::unpack(cmd.args);
  switch (op) {
    case AdminOpcode::kCreateEq:
      return check_ring(ring, true);
    case AdminOpcode::kCreateCq:
      return check_ring(ring, false);
    case AdminOpcode::kModifyCq:
      if (ring.eqn >= eqs_.size() || !eqs_[ring.eqn].exists) return Status::kNotFound;
      return ring.reserved0 == 0 && ring.reserved1 == 0 && zero(ring.reserved2)
                 ? Status::kOk
                 : Status::kBadArgument;
    case AdminOpcode::kCreateQp:
      return check_qp(spec::AdminQpArgs::unpack(cmd.args));
    case AdminOpcode::kCreateSrq:
      return check_srq(spec::AdminSrqArgs::unpack(cmd.args));
    case AdminOpcode::kModifySrq: {
      const auto a = spec::AdminLimitArgs::unpack(cmd.args);
      return a == spec::AdminLimitArgs{.limit = a.limit} ? Status::kOk : Status::kBadArgument;
    }
    case AdminOpcode::kModifyQp:
      return check_modify(spec::AdminModifyArgs::unpack(cmd.args));
    case AdminOpcode::kCreateMr:
      return check_mr(spec::AdminMrArgs::unpack(cmd.args));
    case AdminOpcode::kConnConnect:
    case AdminOpcode::kConnGive:
    case AdminOpcode::kConnSend: {
      const auto a = spec::AdminConnArgs::unpack(cmd.args);
      const bool sized = op == AdminOpcode::kConnConnect ||
                         (a.length != 0 && (op != AdminOpcode::kConnSend || a.length <= kMostSent));
      return zero(a.reserved0) && sized ? Status::kOk : Status::kBadArgument;
    }
    default:
      break;
  }
  if (op == AdminOpcode::kDestroyPd && pds_[cmd.object].uses != 0) return Status::kInUse;
  if (op == AdminOpcode::kDestroyEq && eqs_[cmd.object].uses != 0) return Status::kInUse;
  if (op == AdminOpcode::kDestroyCq && cqs_[cmd.object].uses != 0) return Status::kInUse;
  if (op == AdminOpcode::kDestroySrq && qps_[cmd.object].uses != 0) return Status::kInUse;
  return zero(cmd.args) ? Status::kOk : Status::kBadArgument;
}

/// Arguments of create_eq (is_eq) or create_cq.
Admin::Status Admin::check_ring(const spec::AdminRingArgs& a, bool is_eq) const {
  if (!is_eq && (a.eqn >= eqs_.size() || !eqs_[a.eqn].exists)) return Status::kNotFound;
  const uint64_t entry = is_eq ? spec::Eqe::kBytes : spec::Cqe::kBytes;
  const bool good = aligned(a.base, entry) && a.log_size <= spec::kMaxLogCq &&
                    a.page < sizes_.num_pages && a.vector < sizes_.num_vectors &&
                    a.reserved0 == 0 && a.reserved1 == 0 && zero(a.reserved2);
  return good ? Status::kOk : Status::kBadArgument;
}

Admin::Status Admin::check_qp(const spec::AdminQpArgs& a) const {
  const auto cq = [this](uint16_t n) { return n < cqs_.size() && cqs_[n].exists; };
  const bool has_srq = a.has_srq != 0;
  if (a.pd >= pds_.size() || !pds_[a.pd].exists || !cq(a.send_cq) || !cq(a.recv_cq) ||
      (has_srq && (a.srq >= qps_.size() || !qps_[a.srq].is_srq)))
    return Status::kNotFound;
  const bool receives = has_srq ? qps_[a.srq].pd == a.pd && a.rq_base == 0 && a.log_rq == 0
                                : is_queue(a.rq_base, a.log_rq) && a.srq == 0;
  const bool good = a.page < sizes_.num_pages && is_queue(a.sq_base, a.log_sq) && receives &&
                    a.reserved0 == 0 && zero(a.reserved1) && a.reserved2 == 0;
  return good ? Status::kOk : Status::kBadArgument;
}

Admin::Status Admin::check_srq(const spec::AdminSrqArgs& a) const {
  if (a.pd >= pds_.size() || !pds_[a.pd].exists) return Status::kNotFound;
  const auto used = spec::AdminSrqArgs{
      .pd = a.pd, .page = a.page, .base = a.base, .log_size = a.log_size};  // all others reserved
  const bool good = a == used && a.page < sizes_.num_pages && is_queue(a.base, a.log_size);
  return good ? Status::kOk : Status::kBadArgument;
}

Admin::Status Admin::check_modify(const spec::AdminModifyArgs& a) const {
  const auto to = static_cast<spec::QpState>(a.to_state);
  if (a.reserved0 != 0 || a.reserved1 != 0 || a.reserved2 != 0 || !zero(a.reserved3))
    return Status::kBadArgument;
  // The other fields have a meaning only for rts.
  if (to == spec::QpState::kClosing || to == spec::QpState::kError) return Status::kOk;
  const bool good =
      to == spec::QpState::kRts && a.connection < sizes_.num_conns && a.ird <= sizes_.max_ird &&
      a.ord <= sizes_.max_ord && uint32_t{a.ird_base} + a.ird <= sizes_.ird_slots &&
      uint32_t{a.ord_base} + a.ord <= sizes_.ord_slots && a.stream_length <= kMostStreaming;
  return good ? Status::kOk : Status::kBadArgument;
}

Admin::Status Admin::check_mr(const spec::AdminMrArgs& a) const {
  if (a.pd >= pds_.size() || !pds_[a.pd].exists) return Status::kNotFound;
  if (a.window != 0) {  // a memory window, not bound yet
    const auto rest = spec::AdminMrArgs{.pd = a.pd, .key = a.key, .window = a.window};
    return a == rest && a.window != 3 ? Status::kOk : Status::kBadArgument;
  }
  if (a.fast != 0) {  // an STag for fast registrations: 2^log_page page-list entries, no memory
    const bool good = a.log_page < 32 && a.pages == uint32_t{1} << a.log_page &&
                      uint64_t{a.pbl_base} + a.pages <= sizes_.num_pbl && a.rights == 0 &&
                      a.qpn == 0 && a.base_to == 0 && a.length == 0 && a.first_offset == 0 &&
                      a.page_list == 0 && a.bound == 0 && a.reserved1 == 0 && a.reserved2 == 0;
    return good ? Status::kOk : Status::kBadArgument;
  }
  // No peer may invalidate a region to which windows are bound (decision 15).
  constexpr uint16_t kNotBoth = spec::kAccessMwBind | spec::kAccessRemoteInvalidate;
  const bool rights =
      (a.rights & ~uint32_t{spec::kAccessMask}) == 0 && (a.rights & kNotBoth) != kNotBoth &&
      ((a.rights & spec::kAccessRemoteWrite) == 0 || (a.rights & spec::kAccessLocalWrite) != 0);
  // A remote invalidation needs an STag that belongs to one stream (RFC 5040 section 8.1.1).
  const bool binding = a.bound != 0 ? a.qpn < sizes_.num_qps
                                    : a.qpn == 0 && (a.rights & spec::kAccessRemoteInvalidate) == 0;
  if (!rights || !binding || a.log_page < 12 || a.log_page > 21) return Status::kBadArgument;
  const uint64_t page = uint64_t{1} << a.log_page;
  const bool good = a.first_offset < page && a.length >= 1 && a.length <= uint64_t{1} << 48 &&
                    a.first_offset + a.length <= a.pages * page &&
                    uint64_t{a.pbl_base} + a.pages <= sizes_.num_pbl && a.reserved1 == 0 &&
                    a.reserved2 == 0;
  return good ? Status::kOk : Status::kBadArgument;
}

}  // namespace rnic::model
