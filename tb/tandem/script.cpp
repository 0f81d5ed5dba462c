// The parts of a Script. See script.hpp. In the WQEs: opcode 0 Write, 2 Send, 4 Read, 32 fast
// registration; flags 2 signaled, 8 inline (docs/spec/queues.yaml).
#include "script.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "gen/regs.hpp"
#include "script_bytes.hpp"

namespace rnic::sim {

size_t Script::at(const std::string& label) const {
  const auto it = std::ranges::find(steps, label, &Step::label);
  RNIC_CHECK(it != steps.end(), "no step \"{}\"", label);
  return static_cast<size_t>(it - steps.begin());
}

std::string Script::run() const {
  return run([](const Follower&) {});
}

std::string Script::run(std::function<void(const Follower&)> look) const {
  Follower f(spec::Sizes{});
  uint64_t n = 100;
  for (const Step& s : steps) {
    f.cycle(n += s.cycles);
    for (uint64_t i = 0; i < s.waited; ++i) f.dma_write_waits();
    std::visit(
        [&f](const auto& w) {
          using T = std::decay_t<decltype(w)>;
          if constexpr (std::is_same_v<T, spec::AnyCommit>) f.commit(w);
          if constexpr (std::is_same_v<T, DmaWrite>) f.dma_write(w);
          if constexpr (std::is_same_v<T, DmaRead>) f.dma_read(w);
          if constexpr (std::is_same_v<T, DmaPiece>) f.dma_piece(w);
          if constexpr (std::is_same_v<T, Mmio>) f.mmio(w);
          if constexpr (std::is_same_v<T, RecordOut>) f.llp_tx(w.r);
          if constexpr (std::is_same_v<T, RecordIn>) f.llp_rx(w.r);
          if constexpr (std::is_same_v<T, Response>) f.mmio_response(w.value);
          if constexpr (std::is_same_v<T, spec::LlpCtlEvt>) f.llp_event(w);
          if constexpr (std::is_same_v<T, spec::LlpCredit>) f.llp_credit(w);
          if constexpr (std::is_same_v<T, spec::LlpCtlReq>) f.llp_ctl(w);
          if constexpr (std::is_same_v<T, spec::PcieCfg>) f.pcie(w);
        },
        s.what);
    if (!f.failure().empty()) return "at \"" + s.label + "\": " + f.failure();
  }
  look(f);
  return f.end();
}

// --- parts of steps

void Script::write32(uint32_t offset, uint32_t value) {
  add("register",
      Mmio{.is_write = true, .bar = 0, .offset = offset, .bytes = 4, .value = value, .data = {}});
}
void Script::write64(uint32_t offset, uint64_t value) {
  add("register",
      Mmio{.is_write = true, .bar = 0, .offset = offset, .bytes = 8, .value = value, .data = {}});
}

void Script::doorbell(std::string label, spec::DoorbellKind kind, uint32_t object, uint32_t index,
                      bool is_qp) {
  add("register", Mmio{.is_write = true,
                       .bar = 2,
                       .offset = static_cast<uint32_t>(kind) * 8,
                       .bytes = 8,
                       .value = uint64_t{index} << 32 | object,
                       .data = {}});
  if (is_qp) {
    commit(std::move(label), spec::QpDoorbellCommit{.kind = kind,
                                                    .qpn = static_cast<uint16_t>(object),
                                                    .index = static_cast<uint16_t>(index),
                                                    .accepted = 1});
  } else {
    commit(std::move(label),
           spec::CqOpCommit{.op = 0, .cqn = static_cast<uint16_t>(object), .qpn = 0});
  }
}

void Script::read_of(Client client, uint64_t address, Bytes b, const std::string& label) {
  const uint8_t tag = tag_++;
  const auto length = static_cast<uint16_t>(b.size());
  if (client == Client::kSqFetch)
    commit("the fetch " + label, spec::SqFetchCommit{.address = address, .length = length});
  if (client == Client::kRqFetch)
    commit("the fetch " + label, spec::RqFetchCommit{.address = address, .length = length});
  add("the read " + label, DmaRead{.tag = tag,
                                   .address = address,
                                   .length = static_cast<uint32_t>(b.size()),
                                   .client = client});
  add("the bytes " + label, DmaPiece{.tag = tag, .is_last = true, .data = payload(b)});
}

void Script::command(const std::string& name, spec::AdminOpcode op, uint32_t object,
                     const std::array<uint8_t, 56>& args, const std::function<void()>& unit,
                     const std::array<uint8_t, 16>& result, spec::AdminStatus status) {
  const uint16_t n = commands_++;
  write32(spec::kAdminDoorbellOffset, commands_);
  read_of(Client::kAdmin, kCmdRing + 64U * n,
          packed(spec::AdminCmd{
              .opcode = static_cast<uint8_t>(op), .cookie = n, .object = object, .args = args}),
          "of " + name);
  unit();
  const spec::AdminRsp rsp{.cookie = n,
                           .status = status,
                           .opcode = static_cast<uint8_t>(op),
                           .object = object,
                           .result = result,
                           .phase = 1};
  add("the answer to " + name, DmaWrite{.address = kRspRing + 32U * n,
                                        .data = payload(packed(rsp)),
                                        .client = Client::kAdminWrite});
}

void Script::check(std::string label, uint8_t client, uint64_t to, uint32_t length, uint16_t rights,
                   bool last) {
  commit(std::move(label), spec::TptCheckCommit{.client = client,
                                                .stag = stag_,
                                                .tagged_offset = to,
                                                .length = length,
                                                .pd = 0,
                                                .qpn = kQp,
                                                .rights = rights,
                                                .last = last});
}

void Script::issue(const std::string& name, const Bytes& unit) {
  const uint64_t address = kSq + 64U * (sq_ % 16U);
  ++sq_;
  doorbell("the doorbell of " + name, spec::DoorbellKind::kSq, kQp, sq_, true);
  read_of(Client::kSqFetch, address, unit, "of the WQE of " + name);
}

void Script::segment(const std::string& name, spec::TxSource source, const Bytes& ulpdu,
                     const std::function<void()>& payload_reads) {
  const bool is_term = source == spec::TxSource::kTerm;
  commit("the grant of " + name,
         spec::LlpGrantCommit{.qpn = kQp, .is_term = is_term, .mulpdu = kMulpdu});
  commit("the segment of " + name,
         spec::DdpSegmentCommit{.qpn = kQp, .source = source, .nothing = 0});
  payload_reads();
  commit("the ULPDU of " + name, spec::DdpUlpduCommit{.qpn = kQp});
  add("the record of " + name, RecordOut{{.connection = kConn, .data = payload(fpdu(ulpdu))}});
}

void Script::received(const std::string& name, const Bytes& ulpdu,
                      const std::function<void()>& before) {
  add("the record of " + name, RecordIn{{.connection = kConn, .data = payload(fpdu(ulpdu))}});
  commit("the way of " + name, spec::LlpRxCommit{.connection = kConn, .way = 0, .qpn = kQp});
  commit("the entry of " + name, spec::DdpRxCommit{.qpn = kQp});
  before();
  commit("the verdict on " + name, spec::RdmapOpCommit{.op = 4, .qpn = kQp});
}

void Script::completion(const std::string& name, const spec::Cqe& entry) {
  spec::Cqe e = entry;
  e.qpn = kQp;
  e.phase = (cqes_ / 16) % 2 == 0;
  e.timestamp = 1000U + cqes_;
  commit("the completion of " + name, spec::CqOpCommit{.op = 2, .cqn = 0, .qpn = kQp});
  add("the CQE of " + name,
      DmaWrite{
          .address = kCq + 32U * (cqes_ % 16U), .data = payload(packed(e)), .client = Client::kCq});
  ++cqes_;
}

void Script::event(const std::string& name, spec::EqeType kind, uint32_t object) {
  commit("the event of " + name, spec::CqEventCommit{.kind = static_cast<uint8_t>(kind),
                                                     .object = static_cast<uint16_t>(object)});
  const spec::Eqe e{.kind = kind, .object = object, .phase = 1};
  add("the EQE of " + name,
      DmaWrite{.address = kEq + 16U * eqes_++, .data = payload(packed(e)), .client = Client::kCq});
  add("the interrupt of " + name,
      DmaWrite{.address = kMsi, .data = payload({7, 0, 0, 0}), .client = Client::kMsix});
}

Bytes Script::bytes(uint64_t address, uint32_t n) const {
  Bytes b(n);
  for (uint32_t i = 0; i < n; ++i) b[i] = static_cast<uint8_t>((address + i) * 7 + 3);
  return b;
}

// --- the device's life

void Script::set_up() {
  StagOut out;
  model::Tpt tpt(spec::Sizes{}, out);  // only permutes
  tpt.set_key(0);
  stag_ = tpt.permute(kSlot) << 8 | 0x21;

  add("pcie", spec::PcieCfg{.bus_master = 1, .msix_enable = 1, .mps = 1, .mrrs = 1});
  write64(spec::kAdminCmdBaseOffset, kCmdRing);
  write64(spec::kAdminRspBaseOffset, kRspRing);
  write32(spec::kAdminLogSizeOffset, 6);
  write64(spec::kMsixAddressOffset, kMsi);
  write64(spec::kMsixAddressOffset + 8, 7);  // data 7, unmasked
  write32(spec::kDevCtrlOffset, 1);
  add("a register read", Mmio{.is_write = false,
                              .bar = 0,
                              .offset = spec::kAdminRspBaseOffset,
                              .bytes = 8,
                              .data = {}});
  add("its answer", Response{kRspRing});

  using Op = spec::AdminOpcode;
  const auto nothing = [] {};
  command("create_pd", Op::kCreatePd, 0, {}, nothing);
  command("create_eq", Op::kCreateEq, 0, args_of(spec::AdminRingArgs{.base = kEq, .log_size = 6}),
          nothing);
  command("create_cq", Op::kCreateCq, 0, args_of(spec::AdminRingArgs{.base = kCq, .log_size = 4}),
          [&] { commit("the command on the CQ", spec::CqOpCommit{.op = 1, .cqn = 0, .qpn = 0}); });
  create_region("", kSlot, stag_, 4, {kPage0, kPage1});
  command("create_qp", Op::kCreateQp, kQp,
          args_of(spec::AdminQpArgs{
              .pd = 0, .sq_base = kSq, .rq_base = kRq, .log_sq = 4, .log_rq = 4, .privileged = 1}),
          [&] {
            commit("the new QP", spec::QpStateCommit{.is_cmd = 1, .qpn = kQp});
            commit("qp's answer", spec::QpAnswerCommit{.qpn = kQp});
            commit("the look at the CQ of sends", spec::CqOpCommit{.op = 1, .cqn = 0, .qpn = 0});
            commit("the look at the CQ of receives", spec::CqOpCommit{.op = 1, .cqn = 0, .qpn = 0});
          });

  add("the connection comes", spec::LlpCtlEvt{.kind = spec::LlpEvt::kIncoming,
                                              .connection = kConn,
                                              .address = 0x0a000001,
                                              .port = 1000,
                                              .local_port = 4791});
  commit("llp_if hears of the connection",
         spec::LlpRuleCommit{.source = 2, .connection = kConn, .qpn = 0});
  event("the connection", spec::EqeType::kConnection, kConn);
  add("its MSS", spec::LlpCtlEvt{.kind = spec::LlpEvt::kMss, .connection = kConn, .length = kMss});
  commit("llp_if hears of the MSS",
         spec::LlpRuleCommit{.source = 2, .connection = kConn, .qpn = 0});
  add("credit", spec::LlpCredit{.connection = kConn, .limit = 100000});

  const spec::AdminModifyArgs rts{
      .to_state = 1, .use_crc = 1, .persist = 1, .connection = kConn, .ird = 4, .ord = 4};
  command("modify_qp to rts", Op::kModifyQp, kQp, args_of(rts), [&] {
    commit("admin asks for the state", spec::QpStateCommit{.is_cmd = 1, .qpn = kQp});
    commit("the look for admin", spec::QpRetireCommit{.op = 4, .qpn = kQp});
    commit("qp's answer", spec::QpAnswerCommit{.qpn = kQp});
    commit("admin asks for the connection",
           spec::LlpRuleCommit{.source = 6, .connection = kConn, .qpn = 0});
    commit("the QP starts", spec::QpStateCommit{.is_cmd = 1, .qpn = kQp});
    commit("ddp starts", spec::DdpCtlCommit{.op = spec::QpOp::kStart, .qpn = kQp});
    commit("ddp has started", spec::DdpAckCommit{.op = spec::QpOp::kStart, .qpn = kQp});
    commit("rdmap starts", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
    commit("llp_if starts", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
    add("RDMA mode",
        spec::LlpCtlReq{.op = spec::LlpOp::kRdmaMode, .connection = kConn, .use_crc = 1});
    commit("the QP has started", spec::QpAnswerCommit{.qpn = kQp});
  });
}

void Script::create_region(const std::string& name, uint32_t slot, uint32_t stag, uint32_t pbl_base,
                           const std::vector<uint64_t>& pages) {
  const uint64_t length = 4096 * pages.size();
  const spec::AdminMrArgs mr{.pd = 0,
                             .key = static_cast<uint8_t>(stag & 0xff),
                             .log_page = 12,
                             .rights = kRights,
                             .base_to = kTo,
                             .length = length,
                             .first_offset = 0,
                             .pbl_base = pbl_base,
                             .page_list = kList,
                             .pages = static_cast<uint32_t>(pages.size())};
  std::array<uint8_t, 16> result{};
  spec::AdminMrResult{.stag = stag, .pd = 0, .rights = kRights, .length = length}.pack(result);
  const auto at = static_cast<uint16_t>(slot);
  command(
      "create_mr" + name, spec::AdminOpcode::kCreateMr, slot, args_of(mr),
      [&] {
        commit("the look at the slot" + name, spec::TptChangeCommit{.slot = at});
        Bytes list(8 * pages.size());
        for (size_t i = 0; i < pages.size(); ++i) base::store_le<uint64_t>(&list[8 * i], pages[i]);
        read_of(Client::kAdmin, kList, list, "of the page list" + name);
        commit("the new region" + name, spec::TptChangeCommit{.slot = at});
      },
      result);
}

void Script::destroy_region(const std::string& name, uint32_t slot, uint32_t stag, bool waits) {
  std::array<uint8_t, 16> result{};
  if (!waits)
    spec::AdminDestroyMrResult{.stag = stag, .pd = 0, .slot = static_cast<uint16_t>(slot)}.pack(
        result);
  command(
      name, spec::AdminOpcode::kDestroyMr, stag, {},
      [&] {
        commit("the change of " + name,
               spec::TptChangeCommit{.slot = static_cast<uint16_t>(slot), .waits = uint8_t{waits}});
      },
      result, waits ? spec::AdminStatus::kInProgress : spec::AdminStatus::kOk);
}

void Script::destroy_while_sending() {
  constexpr uint32_t kOther = kSlot + 1;
  StagOut out;
  const model::Tpt tpt(spec::Sizes{}, out);
  const uint32_t other = tpt.permute(kOther) << 8 | 0x22;
  create_region(" 2", kOther, other, 6, {kPage1});
  const uint16_t index = sq_;
  const spec::SqWqe w{.opcode = 2, .flags = 2, .units = 1, .num_sge = 2, .length = 30};
  issue("the Send",
        joined(joined(packed(w), packed(spec::WqeSge{.address = kTo, .length = 10, .lkey = stag_})),
               packed(spec::WqeSge{.address = kTo + 4096, .length = 20, .lkey = stag_})));
  check("the key of the Send", 2, kTo, 10, 0, false);
  check("the second key of the Send", 2, kTo + 4096, 20, 0, true);
  commit("the issue of the Send", spec::QpIssueCommit{.qpn = kQp});
  commit("the Send at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  const Bytes data = joined(bytes(kPage0, 10), bytes(kPage1, 20));
  segment("the Send", spec::TxSource::kSq, untagged(3, 0, msn_out_[0]++, data), [&] {
    check("the lookup of the Send", 1, kTo, 10, 0, false);
    destroy_region("the first destroy", kOther, other, true);
    check("the second lookup of the Send", 1, kTo + 4096, 20, 0, true);
    read_of(Client::kPayload, kPage0, bytes(kPage0, 10), "of the first page");
    destroy_region("the second destroy", kOther, other, false);
    read_of(Client::kPayload, kPage1, bytes(kPage1, 20), "of the second page");
  });
  commit("the end of the Send", spec::QpRetireCommit{.op = 0, .qpn = kQp, .slot = window_++});
  completion("the Send", {.opcode = spec::WcOpcode::kSend, .byte_len = 30, .index = index});
}

void Script::send() {
  const uint16_t index = sq_;
  const uint64_t to = kTo + 4096 - 40;  // 40 bytes on the first page, 60 on the second
  const spec::SqWqe w{.opcode = 2, .flags = 2, .units = 1, .num_sge = 1, .length = 100};
  issue("the Send",
        joined(joined(packed(w), packed(spec::WqeSge{.address = to, .length = 100, .lkey = stag_})),
               Bytes(16)));
  check("the key of the Send", 2, to, 100, 0, true);
  commit("the issue of the Send", spec::QpIssueCommit{.qpn = kQp});
  commit("the Send at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  const Bytes data = joined(bytes(kPage0 + 4096 - 40, 40), bytes(kPage1, 60));
  segment("the Send", spec::TxSource::kSq, untagged(3, 0, msn_out_[0]++, data), [&] {
    check("the lookup of the Send", 1, to, 100, 0, true);
    read_of(Client::kPayload, kPage0 + 4096 - 40, bytes(kPage0 + 4096 - 40, 40),
            "of the first page");
    read_of(Client::kPayload, kPage1, bytes(kPage1, 60), "of the second page");
  });
  commit("the end of the Send", spec::QpRetireCommit{.op = 0, .qpn = kQp, .slot = window_++});
  completion("the Send", {.opcode = spec::WcOpcode::kSend, .byte_len = 100, .index = index});
}

void Script::push_write() {
  const Bytes data{1, 2, 3, 4, 5};
  ++sq_;
  spec::SqWqe w{.opcode = 0,
                .flags = 8,
                .units = 1,
                .num_sge = 0,
                .length = 5,
                .remote_address = 0x7000,
                .rkey = 0x1234};
  w.ring = {.object = kQp, .index = sq_};
  Bytes unit = joined(packed(w), data);
  unit.resize(64);
  add("the push", Mmio{.is_write = true,
                       .bar = 2,
                       .offset = spec::kPushOffset,
                       .bytes = 64,
                       .data = payload(unit)});
  commit("the doorbell of the push",
         spec::QpDoorbellCommit{
             .kind = spec::DoorbellKind::kPush, .qpn = kQp, .index = sq_, .accepted = 1});
  commit("the copy of the push",
         spec::QpPushCommit{.qpn = kQp, .first = static_cast<uint16_t>(sq_ - 1), .units = 1});
  commit("the issue of the push", spec::QpIssueCommit{.qpn = kQp});
  commit("the push at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  segment("the push", spec::TxSource::kSq, tagged(0, 0x1234, 0x7000, data), [] {});
  commit("the end of the push", spec::QpRetireCommit{.op = 0, .qpn = kQp, .slot = window_++});
}

void Script::receive_write() {
  const Bytes data = bytes(1, 64);
  received("a Write", tagged(0, stag_, kTo, data),
           [&] { check("the lookup of a Write", 0, kTo, 64, spec::kAccessRemoteWrite, true); });
  add("the payload of a Write",
      DmaWrite{.address = kPage0, .data = payload(data), .client = Client::kPlace});
}

void Script::receive_send() {
  const uint16_t index = rq_++;
  doorbell("the doorbell of the receive", spec::DoorbellKind::kRq, kQp, rq_, true);
  const spec::RqWqe w{.num_sge = 1, .sge0 = {.address = kTo + 256, .length = 64, .lkey = stag_}};
  read_of(Client::kRqFetch, kRq + 64U * index, packed(w), "of the receive WQE");
  const Bytes data = bytes(2, 10);
  received("a Send of the peer", untagged(5, 0, msn_in_[0]++, data), [&] {
    commit("the receive WQE", spec::QpRqTakeCommit{.qpn = kQp, .result = spec::RqTake::kOk});
    check("the lookup of a Send", 0, kTo + 256, 10, spec::kAccessLocalWrite, true);
  });
  add("the payload of a Send",
      DmaWrite{.address = kPage0 + 256, .data = payload(data), .client = Client::kPlace});
  commit("the end of the receive", spec::QpRetireCommit{.op = 2, .qpn = kQp});
  completion("the receive", {.opcode = spec::WcOpcode::kRecv,
                             .byte_len = 10,
                             .index = index,
                             .is_recv = 1,
                             .solicited = 1});
}

void Script::answer_read() {
  Bytes request(spec::ReadRequest::kBytes);
  spec::ReadRequest{.sink_stag = 0x55,
                    .sink_to = 0x9000,
                    .read_size = 16,
                    .source_stag = stag_,
                    .source_to = kTo + 8}
      .pack(request);
  received("a Read Request", untagged(1, 1, msn_in_[1]++, request), [] {});
  check("the key of the response", 3, kTo + 8, 16, spec::kAccessRemoteRead, true);
  commit("the response", spec::RdmapResponseCommit{.qpn = kQp});
  segment("the response", spec::TxSource::kResp, tagged(2, 0x55, 0x9000, bytes(kPage0 + 8, 16)),
          [&] {
            check("the lookup of the response", 1, kTo + 8, 16, spec::kAccessRemoteRead, true);
            read_of(Client::kPayload, kPage0 + 8, bytes(kPage0 + 8, 16), "of the response");
            commit("the free slot of the response", spec::RdmapOpCommit{.op = 6, .qpn = kQp});
          });
}

void Script::answer_empty_flush() {
  Bytes request(spec::FlushRequest::kBytes);
  spec::FlushRequest{
      .sink_stag = stag_, .length = 0, .sink_to = kTo + 16, .flags = spec::kFlushVisible}
      .pack(request);
  received("a Flush Request", untagged(0xc, 1, msn_in_[1]++, request), [] {});
  check("the key of the Flush", 3, kTo + 16, 0, spec::kAccessFlushGlobal, true);
  commit("the response to the Flush", spec::RdmapResponseCommit{.qpn = kQp});
  segment("the Flush Response", spec::TxSource::kResp, untagged(0xd, 3, msn_out_[3]++, {}),
          [&] { commit("the free slot of the Flush", spec::RdmapOpCommit{.op = 6, .qpn = kQp}); });
}

void Script::read() {
  const uint16_t index = sq_;
  const uint64_t to = kTo + 512;
  const spec::SqWqe w{.opcode = 4,
                      .flags = 2,
                      .units = 1,
                      .num_sge = 1,
                      .length = 32,
                      .remote_address = 0xbeef,
                      .rkey = 0x99};
  issue("the Read",
        joined(joined(packed(w), packed(spec::WqeSge{.address = to, .length = 32, .lkey = stag_})),
               Bytes(16)));
  check("the key of the Read", 2, to, 32, spec::kAccessLocalWrite, true);
  commit("the issue of the Read", spec::QpIssueCommit{.qpn = kQp});
  commit("the Read at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  Bytes request(spec::ReadRequest::kBytes);
  spec::ReadRequest{
      .sink_stag = stag_, .sink_to = to, .read_size = 32, .source_stag = 0x99, .source_to = 0xbeef}
      .pack(request);
  segment("the Read", spec::TxSource::kSq, untagged(1, 1, msn_out_[1]++, request), [] {});
  const Bytes data = bytes(3, 32);
  received("a Read Response", tagged(2, stag_, to, data), [&] {
    check("the lookup of a Read Response", 0, to, 32, spec::kAccessLocalWrite, true);
  });
  add("the payload of a Read Response",
      DmaWrite{.address = kPage0 + 512, .data = payload(data), .client = Client::kPlace});
  commit("the end of the Read", spec::QpRetireCommit{.op = 1, .qpn = kQp, .slot = window_++});
  completion("the Read", {.opcode = spec::WcOpcode::kRdmaRead, .byte_len = 32, .index = index});
}

void Script::register_memory() {
  constexpr uint16_t kKept = kSlot + 2;
  constexpr uint64_t kFirst = 0x9000, kPages = 0xd000;  // TO of the first byte; page list
  StagOut out;
  const model::Tpt tpt(spec::Sizes{}, out);
  const uint32_t kept = tpt.permute(kKept) << 8 | 0x30, stag = kept + 1;
  std::array<uint8_t, 16> result{};
  spec::AdminMrResult{.stag = kept}.pack(result);
  command(
      "create_mr for registrations", spec::AdminOpcode::kCreateMr, kKept,
      args_of(spec::AdminMrArgs{.key = 0x30, .log_page = 1, .pbl_base = 8, .pages = 2, .fast = 1}),
      [&] {
        commit("the look at the kept slot", spec::TptChangeCommit{.slot = kKept});
        commit("the kept STag", spec::TptChangeCommit{.slot = kKept});
      },
      result);

  const uint16_t index = sq_;
  const uint8_t slot = window_++;
  const spec::SqWqe w{.opcode = 32,
                      .flags = 2 | 8,
                      .units = 1,
                      .length = 32,
                      .remote_address = kFirst,
                      .rkey = stag};
  issue("the registration", joined(packed(w), packed(spec::RegOperands{.page_list = kPages,
                                                                       .length = 8000,
                                                                       .first_offset = 16,
                                                                       .pages = 2,
                                                                       .rights = kRights,
                                                                       .log_page = 12})));
  commit("the issue of the registration", spec::QpIssueCommit{.qpn = kQp});
  commit("the registration at rdmap", spec::RdmapOpCommit{.op = 7, .qpn = kQp});
  const auto change = [&](uint8_t of_reg) {
    return spec::TptChangeCommit{.slot = kKept, .qpn = kQp, .wqe = slot, .of_reg = of_reg};
  };
  commit("the claim", change(1));
  Bytes list(16);
  base::store_le<uint64_t>(&list[0], kPage1);
  base::store_le<uint64_t>(&list[8], kPage0);
  read_of(Client::kReg, kPages, list, "of the registration's list");
  commit("the opening", change(3));
  commit("the end of the registration", spec::QpRetireCommit{.op = 1, .qpn = kQp, .slot = slot});
  completion("the registration",
             {.opcode = spec::WcOpcode::kRegMr, .byte_len = 32, .index = index});

  const Bytes data = bytes(7, 48);
  received("a Write to registered memory", tagged(0, stag, kFirst, data), [&] {
    commit("the lookup of the Write to registered memory",
           spec::TptCheckCommit{.client = 0,
                                .stag = stag,
                                .tagged_offset = kFirst,
                                .length = 48,
                                .qpn = kQp,
                                .rights = spec::kAccessRemoteWrite,
                                .last = 1});
  });
  add("the payload in registered memory",
      DmaWrite{.address = kPage1 + 16, .data = payload(data), .client = Client::kPlace});

  spec::AdminDestroyMrResult{.stag = stag, .slot = kKept}.pack(result);
  command(
      "destroy of the registered region", spec::AdminOpcode::kDestroyMr, kept + 9, {},
      [&] { commit("the change of the registered region", spec::TptChangeCommit{.slot = kKept}); },
      result);
}

void Script::refused_write() {
  doorbell("the doorbell of the receive to be flushed", spec::DoorbellKind::kRq, kQp, ++rq_, true);
  const Bytes ulpdu = tagged(0, stag_, kTo + 8192 - 4, bytes(5, 8));
  received("the refused Write", ulpdu, [&] {
    check("the lookup of the refused Write", 0, kTo + 8192 - 4, 8, spec::kAccessRemoteWrite, true);
  });
  commit("qp hears of the error", spec::QpStateCommit{.qpn = kQp, .bits = 1});
  // RFC 5040 section 4.8: DDP layer, tagged buffer error, base or bounds; with the length and the
  // DDP header.
  Bytes text{0x11, 0x01, 0xc0, 0x00, 0, 0};
  base::store_be<uint16_t>(&text[4], static_cast<uint16_t>(ulpdu.size()));
  text.insert(text.end(), ulpdu.begin(), ulpdu.begin() + 14);
  commit("the Terminate at ddp", spec::DdpDropCommit{.qpn = kQp, .is_term = 1});
  segment("the Terminate", spec::TxSource::kTerm, untagged(7, 2, 1, text), [] {});
  commit("the Terminate has left",
         spec::LlpRuleCommit{.source = 0, .connection = kConn, .qpn = kQp});
  add("FIN", spec::LlpCtlReq{.op = spec::LlpOp::kHalfClose, .connection = kConn});
  commit("qp hears that it has left", spec::QpStateCommit{.qpn = kQp, .bits = 16});
  commit("rdmap stops", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
  commit("llp_if stops", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
  commit("ddp stops", spec::DdpCtlCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("ddp has stopped", spec::DdpAckCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("the flush", spec::QpRetireCommit{.op = 6, .qpn = kQp});
  completion("the flush", {.opcode = spec::WcOpcode::kRecv,
                           .index = rq_,
                           .status = spec::WcStatus::kWrFlushErr,
                           .is_recv = 1});
  event("the error", spec::EqeType::kQp, kQp);
}

void Script::ask_close() {
  command("modify_qp to closing", spec::AdminOpcode::kModifyQp, kQp,
          args_of(spec::AdminModifyArgs{.to_state = 2}), [&] {
            commit("the close begins", spec::QpStateCommit{.is_cmd = 1, .qpn = kQp});
            commit("qp's answer", spec::QpAnswerCommit{.qpn = kQp});
          });
  commit("the queue is empty", spec::QpStateCommit{.qpn = kQp, .bits = 32});
  commit("the look of the close", spec::QpRetireCommit{.op = 4, .qpn = kQp});
  commit("the close goes on", spec::QpStateCommit{.again = 1, .qpn = kQp, .bits = 32});
  commit("rdmap is asked to end", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
}

void Script::close() {
  ask_close();
  commit("rdmap has ended", spec::QpStateCommit{.qpn = kQp, .bits = 1, .nothing_left = 1});
  commit("FIN is ordered", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
  add("FIN", spec::LlpCtlReq{.op = spec::LlpOp::kHalfClose, .connection = kConn});
  add("the peer's FIN", spec::LlpCtlEvt{.kind = spec::LlpEvt::kClosed, .connection = kConn});
  commit("llp_if hears of the peer's FIN",
         spec::LlpRuleCommit{.source = 2, .connection = kConn, .qpn = kQp});
  commit("qp hears of the peer's FIN", spec::QpStateCommit{.qpn = kQp, .bits = 4});
  commit("llp_if stops", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
  event("the connection's end", spec::EqeType::kConnection, kConn);
  commit("ddp stops", spec::DdpCtlCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("ddp has stopped", spec::DdpAckCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("rdmap stops", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
  commit("the flush", spec::QpRetireCommit{.op = 6, .qpn = kQp});
  event("the QP's end", spec::EqeType::kQp, kQp);
}

void Script::refuse_while_closing() {
  ask_close();
  received("the refused Write", tagged(0, stag_, kTo + 8192 - 4, bytes(5, 8)), [&] {
    check("the lookup of the refused Write", 0, kTo + 8192 - 4, 8, spec::kAccessRemoteWrite, true);
  });
  commit("qp hears of the error", spec::QpStateCommit{.qpn = kQp, .bits = 1});
  commit("rdmap stops", spec::RdmapOpCommit{.op = 0, .qpn = kQp});
  commit("llp_if stops", spec::LlpRuleCommit{.source = 5, .connection = kConn, .qpn = kQp});
  add("abort", spec::LlpCtlReq{.op = spec::LlpOp::kAbort, .connection = kConn});
  commit("ddp stops", spec::DdpCtlCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("ddp has stopped", spec::DdpAckCommit{.op = spec::QpOp::kStop, .qpn = kQp});
  commit("the flush", spec::QpRetireCommit{.op = 6, .qpn = kQp});
  event("the QP's end", spec::EqeType::kQp, kQp);
}

}  // namespace rnic::sim
