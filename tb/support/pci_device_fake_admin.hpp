// PciDeviceFake: registers and admin commands. Only pci_device_fake.hpp includes it.
#pragma once

namespace rnic::tb {

inline void PciDeviceFake::power_on() {
  config_.clear();
  config_[0x00] = 0x00011d9b;  // device and vendor
  config_[0x04] = 0x00100000;  // has capabilities
  config_[0x34] = 0x40;        // the first capability
  config_[0x40] = 0x00000011;  // MSI-X, the last capability
  regs_.clear();
  cqs.clear();
  eqs.clear();
  qps.clear();
  mrs.clear();
  fetched_ = answered_ = 0;
  pending_ = 0;
  regs_[spec::kMagicOffset] = 0x43494e4d;    // "MNIC"
  regs_[spec::kVersionOffset] = 0x00010000;  // 1.0
  regs_[spec::kCapClockKhzOffset] = 322266;  // 322.266 MHz
  const std::pair<uint32_t, uint32_t> caps[] = {{spec::kCapNumQpsOffset, sizes_.num_qps},
                                                {spec::kCapNumCqsOffset, sizes_.num_cqs},
                                                {spec::kCapNumEqsOffset, sizes_.num_eqs},
                                                {spec::kCapNumPdsOffset, sizes_.num_pds},
                                                {spec::kCapNumPagesOffset, sizes_.num_pages},
                                                {spec::kCapNumStagsOffset, sizes_.num_stags},
                                                {spec::kCapNumPblOffset, sizes_.num_pbl},
                                                {spec::kCapNumConnsOffset, sizes_.num_conns},
                                                {spec::kCapNumVectorsOffset, sizes_.num_vectors},
                                                {spec::kCapIrdSlotsOffset, sizes_.ird_slots},
                                                {spec::kCapOrdSlotsOffset, sizes_.ord_slots},
                                                {spec::kCapMaxIrdOffset, sizes_.max_ird},
                                                {spec::kCapMaxOrdOffset, sizes_.max_ord},
                                                {spec::kCapSqWindowOffset, sizes_.sq_window}};
  for (const auto& [offset, value] : caps) regs_[offset] = value;
  for (uint32_t v = 0; v < spec::kMsixControlCount; v++)
    regs_[spec::kMsixControlOffset + v * spec::kMsixControlStride] = 1;  // masked
}

inline void PciDeviceFake::bar0(uint32_t offset, uint64_t value) {
  regs_[offset] = value;
  if (offset >= spec::kEqConsumerOffset &&
      offset < spec::kEqConsumerOffset + 4 * spec::kEqConsumerCount) {
    consumed("eq", eq_consumer_[offset], static_cast<uint16_t>(value));
    return;
  }
  if (offset != spec::kAdminDoorbellOffset) return;
  need_before("admin doorbell");
  need_order(rung_in_order_, "admin doorbell");
  const auto log = static_cast<unsigned>(reg(spec::kAdminLogSizeOffset));
  const auto ahead = static_cast<uint16_t>(value - fetched_);
  if (ahead > (1u << log))
    violations.push_back(fmt::format("admin doorbell goes from {} to {}", fetched_, value));
  for (; static_cast<uint16_t>(fetched_) != static_cast<uint16_t>(value); fetched_++) {
    const uint64_t slot = fetched_ & ((1u << log) - 1);
    const uint8_t* where =
        at(reg(spec::kAdminCmdBaseOffset) + slot * spec::AdminCmd::kBytes, spec::AdminCmd::kBytes);
    const auto cmd = spec::AdminCmd::unpack(std::span(where, spec::AdminCmd::kBytes));
    commands.push_back(cmd);
    spec::AdminRsp rsp;
    const auto refused = refuse.find(static_cast<spec::AdminOpcode>(cmd.opcode));
    if (refused != refuse.end()) {
      rsp.status = refused->second;
    } else {
      rsp = answer(cmd);
    }
    rsp.cookie = cmd.cookie;
    rsp.opcode = cmd.opcode;
    rsp.object = cmd.object;
    held_.push_back(rsp);
  }
  if (!hold) release();
}

inline spec::AdminRsp PciDeviceFake::answer(const spec::AdminCmd& cmd) {
  using Op = spec::AdminOpcode;
  using St = spec::AdminStatus;
  spec::AdminRsp rsp;
  const uint32_t n = cmd.object;
  const auto conn = [&]() -> Conn* {
    const auto it = conns.find(static_cast<uint16_t>(n));
    if (it == conns.end()) rsp.status = St::kNotFound;
    return it == conns.end() ? nullptr : &it->second;
  };
  const auto gone_from = [&](auto& table) {  // destroys object n
    if (table.erase(n) == 0) rsp.status = St::kNotFound;
  };
  switch (static_cast<Op>(cmd.opcode)) {
    case Op::kCreateEq:
    case Op::kCreateCq: {
      const auto a = args_of<spec::AdminRingArgs>(cmd);
      auto& table = static_cast<Op>(cmd.opcode) == Op::kCreateEq ? eqs : cqs;
      if (table.contains(n))
        rsp.status = St::kExists;
      else
        table[n] = {.base = a.base, .log = a.log_size, .eqn = a.eqn, .vector = a.vector};
      consumer_[n] = 0;
      break;
    }
    case Op::kDestroyCq:
      gone_from(cqs);
      break;
    case Op::kCreateQp:
      qps[n] = {.args = args_of<spec::AdminQpArgs>(cmd)};
      break;
    case Op::kDestroyQp:
      gone_from(qps);
      break;
    case Op::kModifyQp: {
      const auto a = args_of<spec::AdminModifyArgs>(cmd);
      FakeQp& q = qps.at(n);
      q.status.state = static_cast<spec::QpState>(a.to_state);
      if (q.status.state == spec::QpState::kRts) {
        q.modify = a;
        Conn& c = conns.at(a.connection);
        c.info.has_qp = 1;
        if (a.stream_length != 0) {
          const uint8_t* from = at(a.stream_address, a.stream_length);
          c.out.insert(c.out.end(), from, from + a.stream_length);
        }
      } else {  // closes and drains at once
        q.status.state = spec::QpState::kError;
        q.status.drained = 1;
        if (auto it = conns.find(q.modify.connection);
            it != conns.end() && it->second.info.has_qp != 0) {
          it->second.info.state = spec::ConnState::kClosed;
          it->second.info.has_qp = 0;
        }
      }
      break;
    }
    case Op::kQueryQp:
      qps.at(n).status.pack(rsp.result);
      break;
    case Op::kCreateMr: {
      FakeMr m{.args = args_of<spec::AdminMrArgs>(cmd)};
      m.is_open = m.args.fast == 0 && m.args.window == 0;
      m.log_page = m.args.log_page;
      if (m.args.window != 0 &&
          m.args !=
              spec::AdminMrArgs{.pd = m.args.pd, .key = m.args.key, .window = m.args.window}) {
        rsp.status = St::kBadArgument;
        break;
      }
      for (uint32_t i = 0; m.is_open && i < m.args.pages; i++)
        m.pages.push_back(base::load_le<uint64_t>(at(m.args.page_list + 8 * i, 8)));
      // The upper 24 bits of an STag: here the slot plus 1, so that no STag is 0.
      spec::AdminMrResult r{.stag = (n + 1) << 8 | m.args.key,
                            .pd = m.args.pd,
                            .rights = m.args.rights,
                            .length = m.args.length};
      mrs[r.stag] = std::move(m);
      r.pack(rsp.result);
      break;
    }
    case Op::kDestroyMr:
      // A registration or a bind may have changed the key (`fast`, window): any key names the STag.
      if (windows_of(n) != 0)
        rsp.status = St::kInUse;
      else if (std::erase_if(mrs, [&](const auto& mr) {
                 const bool has_keys = mr.second.args.fast != 0 || mr.second.args.window != 0;
                 return mr.first == n || (has_keys && is_same(mr.first, n));
               }) == 0)
        rsp.status = St::kNotFound;
      break;
    case Op::kConnListen:
      listening.push_back(static_cast<uint16_t>(n));
      break;
    case Op::kConnUnlisten:
      std::erase(listening, n);
      break;
    case Op::kConnConnect: {
      const auto a = args_of<spec::AdminConnArgs>(cmd);
      const uint16_t c = next_conn();
      conns[c].info = {.connection = c,
                       .state = spec::ConnState::kConnecting,
                       .mss = 1460,
                       .peer_address = a.peer_address,
                       .peer_port = a.peer_port};
      conns[c].info.pack(rsp.result);
      break;
    }
    case Op::kConnQuery:
      if (Conn* c = conn()) {
        c->info.waiting = static_cast<uint16_t>(c->in.size() + c->told_twice);
        c->info.pack(rsp.result);
      }
      break;
    case Op::kConnGive:
      if (Conn* c = conn()) {
        const auto a = args_of<spec::AdminConnArgs>(cmd);
        if (c->in.size() + std::exchange(c->told_twice, 0) < a.length) {
          rsp.status = St::kBadArgument;
          break;
        }
        const size_t count = std::min<size_t>(a.length, c->in.size());
        for (size_t i = 0; i < count; i++) {
          *at(a.address + i) = c->in.front();
          c->in.pop_front();
        }
        spec::AdminGiveResult{.length = static_cast<uint16_t>(count)}.pack(rsp.result);
      }
      break;
    case Op::kConnSend:
      if (Conn* c = conn()) {
        const auto a = args_of<spec::AdminConnArgs>(cmd);
        const uint8_t* from = at(a.address, a.length);
        c->out.insert(c->out.end(), from, from + a.length);
      }
      break;
    case Op::kConnClose:
      if (Conn* c = conn()) c->info.state = spec::ConnState::kLocalClosed;
      break;
    case Op::kConnAbort:
      if (Conn* c = conn()) c->info.state = spec::ConnState::kReset;
      break;
    case Op::kConnRelease:
      if (conn() != nullptr) conns.erase(static_cast<uint16_t>(n));
      break;
    default:
      break;
  }
  return rsp;
}

}  // namespace rnic::tb
