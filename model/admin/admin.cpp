// Executes commands, one after the other, in run(). Checks that change nothing: admin_check.cpp.
#include "admin/admin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.hpp"

namespace rnic::model {

using spec::AdminOpcode;

namespace {

constexpr uint32_t kChunk = 4096;     // largest read, in bytes
constexpr uint32_t kEntry = 8;        // bytes per page-list entry
constexpr uint32_t kListChunk = 512;  // bytes of the page list held at a time

/// The unit that executes a command. Opcodes are numbered by unit: EQs and CQs from 0x08, QPs 0x18,
/// regions 0x20, connections 0x30 (admin_opcode in docs/spec/queues.yaml).
Admin::Unit unit_of(AdminOpcode op) {
  const auto v = static_cast<uint8_t>(op);
  if (v >= 0x30) return Admin::Unit::kConn;
  if (v >= 0x20) return Admin::Unit::kTpt;
  return v >= 0x18 ? Admin::Unit::kQp : Admin::Unit::kCq;
}

}  // namespace

Admin::Admin(const spec::Sizes& sizes, Out& out)
    : sizes_(sizes),
      out_(out),
      pds_(sizes.num_pds),
      eqs_(sizes.num_eqs),
      cqs_(sizes.num_cqs),
      qps_(sizes.num_qps),
      ranges_(sizes),
      loop_(run()) {
  loop_.start();
}

void Admin::configure(const spec::DevCfg& cfg) {
  cfg_ = cfg;
  if (rung_.awaited()) rung_.give(true);  // commands may have waited for `enable`
}

void Admin::doorbell(const spec::AdminDoorbell& db) {
  // A doorbell with an index before the newest one is late: threads of a host may share the ring.
  const auto ahead = static_cast<int16_t>(static_cast<uint16_t>(db.index - producer_));
  if (ahead >= 0) producer_ = db.index;
  if (rung_.awaited()) rung_.give(true);
}

/// Fetches, checks and executes commands, and writes their responses. A failed read of the ring
/// ends the sequence until reset.
Task Admin::run() {
  for (;;) {
    if (next_ == producer_ || fatal_ || cfg_.enable == 0) {
      co_await rung_;
      continue;
    }
    waits_for_ = "a command";
    out_.admin_rd_req(
        read_of(place(cfg_.admin_cmd_base, spec::AdminCmd::kBytes, next_), spec::AdminCmd::kBytes));
    const MemData fetched = co_await data_;
    if (fetched.status != spec::RdStatus::kOk) {
      fatal_ = true;
      waits_for_ = nullptr;
      continue;
    }
    in_hand_ = true;
    const spec::AdminCmd cmd = spec::AdminCmd::unpack(fetched.data.bytes());
    const auto op = static_cast<AdminOpcode>(cmd.opcode);
    spec::Cmd to_unit{.opcode = op, .object = cmd.object, .args = cmd.args};
    spec::CmdRsp rsp{.status = check(cmd), .result = {}};
    bool ok = rsp.status == Status::kOk;

    // create_mr: the slot must be free before the page list is written. tpt takes a query_mr with
    // the arguments of a create_mr as a query of a slot, not of an STag.
    if (ok && op == AdminOpcode::kCreateMr) {
      waits_for_ = "tpt";
      out_.command(Unit::kTpt,
                   {.opcode = AdminOpcode::kQueryMr, .object = cmd.object, .args = cmd.args});
      rsp = co_await answer_;
      ok = rsp.status == Status::kNotFound;
      rsp = {.status = ok                          ? Status::kOk
                       : rsp.status == Status::kOk ? Status::kExists
                                                   : rsp.status,
             .result = {}};
    }

    // create_mr claims its page-list entries (admin_ranges), then reads its page list in chunks.
    // The whole list is checked before any part is written. A list of one chunk is read once. A
    // longer list is read twice: to check it, then to check again and write it. After kListPart
    // entries admin answers in_progress and keeps its position in kept_ (decision 6).
    bool claimed = false;  // this command has taken ranges, and releases them if it fails
    const auto mr = spec::AdminMrArgs::unpack(cmd.args);
    const bool has_list = op == AdminOpcode::kCreateMr && mr.fast == 0 && mr.window == 0;
    if (ok && op == AdminOpcode::kCreateMr) {
      const List list{cmd.cookie, cmd.object, mr.page_list, mr.pages, mr.pbl_base, mr.log_page};
      const uint64_t bytes = uint64_t{mr.pages} * kEntry;
      uint64_t at = 0;
      bool writes = bytes <= kListChunk;
      const Plan next = plan(list, has_list);
      if (next == Plan::kTurnAway) {
        rsp.status = Status::kInProgress;
        ok = false;
      } else if (next == Plan::kContinue) {
        at = kept_->at;
        writes = kept_->writes;
        kept_.reset();
        claimed = true;
      } else {
        const Ranges::Range pages{mr.pbl_base, mr.pages};
        claimed = claim(ranges_.claim_pages(cmd.object, pages), rsp);
        // The kept list may have claimed the same entries, and its owner may be gone: drop that
        // list and try again.
        if (!claimed && kept_) {
          forget();
          claimed = claim(ranges_.claim_pages(cmd.object, pages), rsp);
        }
        ok = claimed;
      }
      waits_for_ = "a page list";
      for (uint32_t entries_read = 0; ok && has_list && at < bytes;) {
        if (entries_read == spec::kListPart) {
          kept_ = {.list = list, .at = at, .writes = writes, .turned_away = 0};
          rsp.status = Status::kInProgress;
          ok = claimed = false;  // the ranges now belong to kept_: do not release them below
          break;
        }
        const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(kListChunk, bytes - at));
        out_.admin_rd_req(read_of(mr.page_list + at, part));
        const MemData chunk = co_await data_;
        if (chunk.status != spec::RdStatus::kOk) rsp.status = Status::kDmaError;
        const auto page = [&](uint32_t i) {
          return base::load_le<uint64_t>(&chunk.data.bytes()[size_t{i} * kEntry]);
        };
        const uint32_t entries = chunk.data.size() / kEntry;
        for (uint32_t i = 0; i < entries; ++i) {
          if ((page(i) & ((uint64_t{1} << mr.log_page) - 1)) != 0)
            rsp.status = Status::kBadArgument;
        }
        ok = rsp.status == Status::kOk;
        const uint32_t first = mr.pbl_base + static_cast<uint32_t>(at / kEntry);
        for (uint32_t i = 0; ok && writes && i < entries; ++i)
          out_.pbl_wr({.index = first + i, .address = page(i)});
        entries_read += kListChunk / kEntry;
        at += kListChunk;
        if (at >= bytes && !writes) {
          writes = true;
          at = 0;
        }
      }
    }

    // modify_qp to rts: the QP must be idle, its IRD and ORD slots must be free, and llp_if must
    // find the connection usable. Only then streaming bytes are sent and the command goes to qp.
    const auto modify = spec::AdminModifyArgs::unpack(cmd.args);
    const bool starts = op == AdminOpcode::kModifyQp &&
                        modify.to_state == static_cast<uint8_t>(spec::QpState::kRts);
    if (ok && starts) {
      waits_for_ = "qp";
      out_.command(Unit::kQp, {.opcode = AdminOpcode::kQueryQp, .object = cmd.object, .args = {}});
      rsp = co_await answer_;
      if (rsp.status == Status::kOk &&
          spec::AdminQpResult::unpack(rsp.result).state != spec::QpState::kIdle)
        rsp.status = Status::kBadState;
      ok = rsp.status == Status::kOk;
      rsp.result = {};
    }
    if (ok && starts)
      claimed = ok =
          claim(ranges_.claim_slots(static_cast<uint16_t>(cmd.object),
                                    {modify.ird_base, modify.ird}, {modify.ord_base, modify.ord}),
                rsp);
    if (ok && starts) {
      waits_for_ = "llp_if";
      out_.command(Unit::kConn, {.opcode = op, .object = modify.connection, .args = cmd.args});
      rsp = co_await answer_;
      ok = rsp.status == Status::kOk;
    }

    // conn_send: llp_if checks the connection and its credit before admin reads the bytes.
    const bool sends = op == AdminOpcode::kConnSend;
    if (ok && sends) {
      waits_for_ = "llp_if";
      out_.command(Unit::kConn, to_unit);
      rsp = {.status = (co_await answer_).status, .result = {}};
      ok = rsp.status == Status::kOk;
    }

    // Streaming bytes: admin reads all of them before it sends any.
    const auto conn = spec::AdminConnArgs::unpack(cmd.args);
    const uint32_t length = sends ? conn.length : starts ? modify.stream_length : 0U;
    if (ok && length != 0) {
      const uint64_t address = sends ? conn.address : modify.stream_address;
      rnic::Payload all = rnic::Payload::make(length);
      waits_for_ = "streaming bytes";
      for (uint32_t at = 0; at < length && ok; at += kChunk) {
        const uint32_t part = std::min(kChunk, length - at);
        out_.admin_rd_req(read_of(address + at, part));
        const MemData piece = co_await data_;
        ok = piece.status == spec::RdStatus::kOk;
        if (ok) std::memcpy(all.writable().data() + at, piece.data.bytes().data(), part);
      }
      if (ok) {
        const uint16_t connection = sends ? static_cast<uint16_t>(cmd.object) : modify.connection;
        out_.raw_tx({.connection = connection, .data = std::move(all)});
      } else {
        rsp = {.status = Status::kDmaError, .result = {}};
      }
    }

    // here: admin executes the command itself. A conn_send is done.
    const bool here =
        op == AdminOpcode::kNop || op == AdminOpcode::kCreatePd || op == AdminOpcode::kDestroyPd;
    if (ok && !here && !sends) {
      waits_for_ = "a unit's answer";
      out_.command(unit_of(op), to_unit);
      rsp = co_await answer_;
      ok = rsp.status == Status::kOk;
    }

    // After destroy_qp or modify_qp to error, query `cq`. Its response proves that the QP's
    // completions are written, because cq handles the query after them. The result is ignored.
    const bool ends = op == AdminOpcode::kDestroyQp ||
                      (op == AdminOpcode::kModifyQp &&
                       modify.to_state == static_cast<uint8_t>(spec::QpState::kError));
    if (ok && ends) {
      waits_for_ = "the QP's completions";
      out_.command(Unit::kCq, {.opcode = AdminOpcode::kQueryCq, .object = 0, .args = {}});
      (void)co_await answer_;
    }

    // create_qp fails if one of its CQs has overrun, since such a CQ accepts no completions. admin
    // queries the CQs after qp has created the QP, so that a later overrun finds the QP. If one has
    // overrun, admin destroys the QP again.
    const auto qp = spec::AdminQpArgs::unpack(cmd.args);
    const std::array<uint16_t, 2> cqs = {qp.send_cq, qp.recv_cq};
    for (size_t i = 0; ok && op == AdminOpcode::kCreateQp && i < cqs.size(); ++i) {
      waits_for_ = "cq";
      out_.command(Unit::kCq, {.opcode = AdminOpcode::kQueryCq, .object = cqs[i], .args = {}});
      const spec::CmdRsp asked = co_await answer_;
      if (spec::AdminCqResult::unpack(asked.result).overrun == 0) continue;
      waits_for_ = "qp";
      spec::CmdRsp undone;
      do {
        out_.command(Unit::kQp,
                     {.opcode = AdminOpcode::kDestroyQp, .object = cmd.object, .args = {}});
        undone = co_await answer_;
      } while (undone.status == Status::kInProgress);
      rsp = {.status = Status::kBadState, .result = {}};
      ok = false;
    }

    if (ok && op == AdminOpcode::kConnGive) {
      waits_for_ = "streaming bytes of the peer";
      const RawBytes raw = co_await raw_;
      ok = !raw.ended;
      rsp = {.status = ok ? Status::kOk : Status::kBadState, .result = {}};
      spec::AdminGiveResult{.length = static_cast<uint16_t>(raw.data.size())}.pack(rsp.result);
      for (uint32_t at = 0; at < raw.data.size(); at += 64) {
        const auto part = raw.data.slice(at, 64);
        spec::AdminWr wr{
            .address = conn.address + at, .length = static_cast<uint8_t>(part.size()), .data = {}};
        std::memcpy(wr.data.data(), part.bytes().data(), part.size());
        out_.admin_wr(wr);
      }
    }
    if (ok && op == AdminOpcode::kDestroyMr)
      out_.walked(ranges_.release_pages(spec::AdminDestroyMrResult::unpack(rsp.result).slot));
    if (claimed && !ok && op == AdminOpcode::kCreateMr)
      out_.walked(ranges_.release_pages(cmd.object));
    if ((ok && op == AdminOpcode::kDestroyQp) || (claimed && !ok && starts))
      out_.walked(ranges_.release_slots(static_cast<uint16_t>(cmd.object)));
    if (ok) commit(cmd, rsp);
    respond(cmd, rsp);
    waits_for_ = nullptr;
  }
}

/// What a create_mr does first. At most one long page list is kept (kept_), with its ranges.
/// A create_mr that repeats the kept command continues the list. Other long lists are answered
/// in_progress. After kListPatience such answers, or for a create_mr of the same slot, the kept
/// list is given up.
Admin::Plan Admin::plan(const List& list, bool has_list) {
  if (!kept_) return Plan::kClaim;
  if (has_list && kept_->list == list) return Plan::kContinue;
  const bool is_long = has_list && uint64_t{list.pages} * kEntry > kListChunk;
  const bool is_old = kept_->turned_away == spec::kListPatience;
  if (kept_->list.slot == list.slot || (is_long && is_old)) {
    forget();
    return Plan::kClaim;
  }
  if (!is_long) return Plan::kClaim;
  ++kept_->turned_away;
  return Plan::kTurnAway;
}

/// Gives up the kept list: releases its ranges.
void Admin::forget() {
  out_.walked(ranges_.release_pages(kept_->list.slot));
  kept_.reset();
}

bool Admin::claim(const Ranges::Walk& walk, spec::CmdRsp& rsp) {
  out_.walked(walk);
  rsp = {.status = walk.ok ? Status::kOk : Status::kInUse, .result = {}};
  return walk.ok;
}

void Admin::respond(const spec::AdminCmd& cmd, const spec::CmdRsp& rsp) {
  spec::AdminWr wr{.address = place(cfg_.admin_rsp_base, spec::AdminRsp::kBytes, next_),
                   .length = spec::AdminRsp::kBytes,
                   .data = {}};
  spec::AdminRsp{.cookie = cmd.cookie,
                 .status = rsp.status,
                 .opcode = cmd.opcode,
                 .object = cmd.object,
                 .result = rsp.result,
                 .phase = (next_ >> cfg_.admin_log_size & 1) == 0}  // 1 on the first pass
      .pack(wr.data);
  out_.admin_wr(wr);
  ++next_;
  in_hand_ = false;
  ++answered_;
}

/// Changes admin's tables after the unit has answered ok.
void Admin::commit(const spec::AdminCmd& cmd, const spec::CmdRsp& rsp) {
  const uint32_t o = cmd.object;
  switch (static_cast<AdminOpcode>(cmd.opcode)) {
    case AdminOpcode::kCreatePd:
      pds_[o] = {.exists = true};
      break;
    case AdminOpcode::kDestroyPd:
      pds_[o] = {};
      break;
    case AdminOpcode::kCreateEq:
      eqs_[o] = {.exists = true};
      break;
    case AdminOpcode::kDestroyEq:
      eqs_[o] = {};
      break;
    case AdminOpcode::kCreateCq: {
      const uint8_t eqn = spec::AdminRingArgs::unpack(cmd.args).eqn;
      cqs_[o] = {.exists = true, .uses = 0, .eqn = eqn};
      ++eqs_[eqn].uses;
      break;
    }
    case AdminOpcode::kModifyCq:
      --eqs_[cqs_[o].eqn].uses;
      cqs_[o].eqn = spec::AdminRingArgs::unpack(cmd.args).eqn;
      ++eqs_[cqs_[o].eqn].uses;
      break;
    case AdminOpcode::kDestroyCq:
      --eqs_[cqs_[o].eqn].uses;
      cqs_[o] = {};
      break;
    case AdminOpcode::kCreateQp: {
      const auto a = spec::AdminQpArgs::unpack(cmd.args);
      qps_[o] = {.exists = true,
                 .has_srq = a.has_srq != 0,
                 .pd = a.pd,
                 .send_cq = a.send_cq,
                 .recv_cq = a.recv_cq,
                 .srq = a.srq};
      ++pds_[a.pd].uses;
      ++cqs_[a.send_cq].uses;
      ++cqs_[a.recv_cq].uses;
      if (a.has_srq != 0) ++qps_[a.srq].uses;
      break;
    }
    case AdminOpcode::kDestroyQp:
      --pds_[qps_[o].pd].uses;
      --cqs_[qps_[o].send_cq].uses;
      --cqs_[qps_[o].recv_cq].uses;
      if (qps_[o].has_srq) --qps_[qps_[o].srq].uses;
      qps_[o] = {};
      break;
    case AdminOpcode::kCreateSrq: {
      const uint16_t pd = spec::AdminSrqArgs::unpack(cmd.args).pd;
      qps_[o] = {.exists = true, .is_srq = true, .pd = pd};
      ++pds_[pd].uses;
      break;
    }
    case AdminOpcode::kDestroySrq:
      --pds_[qps_[o].pd].uses;
      qps_[o] = {};
      break;
    case AdminOpcode::kCreateMr:
      ++pds_[spec::AdminMrArgs::unpack(cmd.args).pd].uses;
      break;
    case AdminOpcode::kDestroyMr:
      --pds_[spec::AdminDestroyMrResult::unpack(rsp.result).pd].uses;
      break;
    default:
      break;
  }
}

std::string Admin::waiting_for() const {
  if (fatal_) return "admin: stopped, a ring access failed\n";
  return waits_for_ == nullptr ? std::string{}
                               : fmt::format("admin: command {} waits for {}\n", next_, waits_for_);
}

}  // namespace rnic::model
