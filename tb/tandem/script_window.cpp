// Memory windows in the life of a device: bound, refused, closed. In the WQEs: opcode 7 local
// invalidation, 8 bind; flags 2 signaled, 8 inline; length 32 bytes of bind_operands. of_reg of
// tpt_change: 2 an invalidation is refused, 5 bound, 6 a bind is refused, 7 an open window is
// closed before its bind is tried again. Each bind has the next key: kept + 1, kept + 2, ...
#include "script.hpp"
#include "script_bytes.hpp"

namespace rnic::sim {
namespace {

constexpr uint16_t kWindow = Script::kSlot + 3;  // the window's slot in the STag table
constexpr uint64_t kFirst = 0x9000;              // TO of the window's first byte

}  // namespace

uint32_t Script::create_window() {
  StagOut out;
  const model::Tpt tpt(spec::Sizes{}, out);
  const uint32_t kept = tpt.permute(kWindow) << 8 | 0x40;
  std::array<uint8_t, 16> result{};
  spec::AdminMrResult{.stag = kept}.pack(result);
  command(
      "create_mr for a window", spec::AdminOpcode::kCreateMr, kWindow,
      args_of(spec::AdminMrArgs{.key = 0x40, .window = 1}),
      [&] {
        commit("the look at the window's slot", spec::TptChangeCommit{.slot = kWindow});
        commit("the window", spec::TptChangeCommit{.slot = kWindow});
      },
      result);
  return kept;
}

uint8_t Script::post_bind(const std::string& name, uint32_t stag, const spec::BindOperands& o) {
  const spec::SqWqe w{.opcode = 8,
                      .flags = 2 | 8,
                      .units = 1,
                      .length = 32,
                      .remote_address = kFirst,
                      .rkey = stag};
  issue(name, joined(packed(w), packed(o)));
  commit("the issue of " + name, spec::QpIssueCommit{.qpn = kQp});
  commit(name + " at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  return window_++;
}

void Script::change_window(std::string label, uint8_t slot, uint8_t of_reg) {
  commit(std::move(label),
         spec::TptChangeCommit{.slot = kWindow, .qpn = kQp, .wqe = slot, .of_reg = of_reg});
}

void Script::bound(const std::string& name, uint8_t slot, uint16_t index) {
  change_window("the change of " + name, slot, 5);
  commit("the end of " + name, spec::QpRetireCommit{.op = 1, .qpn = kQp, .slot = slot});
  completion(name, {.opcode = spec::WcOpcode::kBindMw, .byte_len = 32, .index = index});
}

// 150 bytes: 96 to the end of the region's first page, 54 to the next.
void Script::write_through_window(const std::string& name, uint32_t stag,
                                  const std::function<void()>& between) {
  const Bytes data = bytes(9, 150);
  received(name, tagged(0, stag, kFirst, data), [&] {
    commit("the lookup of " + name, spec::TptCheckCommit{.client = 0,
                                                         .stag = stag,
                                                         .tagged_offset = kFirst,
                                                         .length = 150,
                                                         .qpn = kQp,
                                                         .rights = spec::kAccessRemoteWrite,
                                                         .last = 1});
  });
  between();
  add("the first payload of " + name, DmaWrite{.address = kPage0 + 4000,
                                               .data = payload({data.begin(), data.begin() + 96}),
                                               .client = Client::kPlace});
  add("the last payload of " + name, DmaWrite{.address = kPage1,
                                              .data = payload({data.begin() + 96, data.end()}),
                                              .client = Client::kPlace});
}

void Script::bind_window() {
  const uint32_t kept = create_window();
  const spec::BindOperands range{
      .address = kTo + 4000, .length = 200, .lkey = stag_, .rights = spec::kAccessRemoteWrite};
  const auto bind = [&](const std::string& name, uint32_t stag, const spec::BindOperands& o) {
    const uint16_t index = sq_;
    const uint8_t slot = post_bind(name, stag, o);
    bound(name, slot, index);
  };
  bind("the bind", kept + 1, range);
  write_through_window("a Write to the window", kept + 1, [] {});

  command(
      "the destroy of a region in use", spec::AdminOpcode::kDestroyMr, stag_, {},
      [&] { commit("the refusal to destroy", spec::TptChangeCommit{.slot = kSlot}); }, {},
      spec::AdminStatus::kInUse);

  // A Write that was looked up before the close is placed before the second bind takes effect.
  const uint16_t index = sq_;
  const uint8_t slot = post_bind("the second bind", kept + 2, range);
  write_through_window("a Write with the old key", kept + 1,
                       [&] { change_window("the close for the second bind", slot, 7); });
  bound("the second bind", slot, index);
  write_through_window("a Write with the new key", kept + 2, [] {});

  const uint16_t last = sq_;
  const uint8_t last_slot = post_bind("the unbinding", kept + 3, {});
  change_window("the close for the unbinding", last_slot, 7);
  bound("the unbinding", last_slot, last);

  std::array<uint8_t, 16> result{};
  spec::AdminDestroyMrResult{.stag = kept + 3, .slot = kWindow}.pack(result);
  command(
      "the destroy of the window", spec::AdminOpcode::kDestroyMr, kept, {},
      [&] { commit("the change of the destroyed window", spec::TptChangeCommit{.slot = kWindow}); },
      result);
  spec::AdminDestroyMrResult{.stag = stag_, .slot = kSlot}.pack(result);
  command(
      "the destroy of its region", spec::AdminOpcode::kDestroyMr, stag_, {},
      [&] { commit("the change of its region", spec::TptChangeCommit{.slot = kSlot}); }, result);
}

// Bytes 8000 to 8192 of a region of 8192 bytes: one too many. rights 2: remote write.
void Script::refuse_bind() {
  const uint32_t kept = create_window();
  const uint8_t slot =
      post_bind("the refused bind", kept + 1,
                {.address = kTo + 8000, .length = 193, .lkey = stag_, .rights = 2});
  change_window("the refusal", slot, 6);
  fail_locally("the refused bind", slot, spec::WcOpcode::kBindMw, 32);
}

void Script::refuse_invalidation() {
  const uint32_t kept = create_window();
  const uint16_t index = sq_;
  const uint8_t bind =
      post_bind("the bind", kept + 1, {.address = kTo, .length = 8192, .lkey = stag_, .rights = 2});
  bound("the bind", bind, index);

  const uint8_t slot = window_++;
  issue("the invalidation",
        joined(packed(spec::SqWqe{.opcode = 7, .flags = 2, .units = 1, .rkey = stag_}), Bytes(32)));
  commit("the key of the invalidation",
         spec::TptCheckCommit{
             .client = 2, .stag = stag_, .qpn = kQp, .rights = 0, .invalidate = 1, .last = 1});
  commit("the issue of the invalidation", spec::QpIssueCommit{.qpn = kQp});
  commit("the invalidation at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  commit("the refusal",
         spec::TptChangeCommit{.slot = kSlot, .of_sq = 1, .qpn = kQp, .wqe = slot, .of_reg = 2});
  fail_locally("the invalidation", slot, spec::WcOpcode::kLocalInv, 0);
}

void Script::fail_locally(const std::string& name, uint8_t slot, spec::WcOpcode opcode,
                          uint32_t length) {
  commit("rdmap hears of the refusal", spec::RdmapOpCommit{.op = 3, .qpn = kQp});
  commit("qp hears of the error", spec::QpStateCommit{.qpn = kQp, .bits = 1});
  commit("the mark", spec::QpRetireCommit{.op = 5, .qpn = kQp, .slot = slot});
  // RFC 5040 section 4.8: RDMAP layer, local catastrophic error; no header.
  commit("the Terminate at ddp", spec::DdpDropCommit{.qpn = kQp, .is_term = 1});
  segment("the Terminate", spec::TxSource::kTerm, untagged(7, 2, 1, Bytes(4)), [] {});
  commit("the Terminate has left",
         spec::LlpRuleCommit{.source = 0, .connection = kConn, .qpn = kQp});
  add("FIN", spec::LlpCtlReq{.op = spec::LlpOp::kHalfClose, .connection = kConn});
  commit("qp hears that it has left", spec::QpStateCommit{.qpn = kQp, .bits = 16});
  commit("rdmap stops", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
  commit("llp_if stops", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
  commit("ddp stops", spec::DdpCtlCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("ddp has stopped", spec::DdpAckCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("the flush", spec::QpRetireCommit{.op = 6, .qpn = kQp});
  completion(name, {.opcode = opcode,
                    .byte_len = length,
                    .index = static_cast<uint16_t>(sq_ - 1),
                    .status = spec::WcStatus::kMwBindErr});
  event("the error", spec::EqeType::kQp, kQp);
}

}  // namespace rnic::sim
