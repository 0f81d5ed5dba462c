// Connections: admin's commands and events of the transport. Architecture 3.3 and 7.
#include "llp_if/llp_if.hpp"

namespace rnic::model {

using spec::AdminOpcode;
using spec::AdminStatus;
using spec::ConnState;
using spec::LlpEvt;
using spec::LlpOp;
using spec::LlpQpEvt;

void LlpIf::command(const spec::ConnCmd& cmd, bool no_credit) {
  spec::CmdRsp rsp;
  if (const auto status = execute(cmd, rsp, no_credit)) {
    rsp.status = *status;
    out_.conn_cmd_rsp(rsp);
  }
}

uint16_t LlpIf::bytes_of(const spec::ConnCmd& cmd) {
  if (cmd.opcode == AdminOpcode::kConnSend) return spec::AdminConnArgs::unpack(cmd.args).length;
  if (cmd.opcode != AdminOpcode::kModifyQp) return 0;
  return spec::AdminModifyArgs::unpack(cmd.args).stream_length;
}

spec::AdminConnResult LlpIf::result_of(uint16_t connection) const {
  const Conn& c = conns_[connection];
  return {.connection = connection,
          .state = c.state,
          .passive = c.passive,
          .has_qp = c.has_qp,
          .waiting = c.waiting,
          .mss = c.mss,
          .peer_address = c.peer_address,
          .peer_port = c.peer_port,
          .local_port = c.local_port};
}

/// Returns the status, or an empty value if the transport has to respond first.
std::optional<AdminStatus> LlpIf::execute(const spec::ConnCmd& cmd, spec::CmdRsp& rsp,
                                          bool no_credit) {
  const auto args = spec::AdminConnArgs::unpack(cmd.args);
  switch (cmd.opcode) {
    case AdminOpcode::kConnListen:
    case AdminOpcode::kConnUnlisten:
      if (cmd.object > UINT16_MAX) return AdminStatus::kBadObject;
      out_.llp_ctl_req(
          {.op = cmd.opcode == AdminOpcode::kConnListen ? LlpOp::kListen : LlpOp::kUnlisten,
           .port = static_cast<uint16_t>(cmd.object)});
      return AdminStatus::kOk;
    case AdminOpcode::kConnConnect:
      connects_ = true;
      connecting_ = {.op = LlpOp::kConnect,
                     .address = args.peer_address,
                     .port = args.peer_port,
                     .cookie = static_cast<uint16_t>(connecting_.cookie + 1)};
      out_.llp_ctl_req(connecting_);
      return std::nullopt;
    default:
      break;
  }
  const uint32_t connection = cmd.object;
  if (connection >= conns_.size() || conns_[connection].state == ConnState::kFree)
    return AdminStatus::kNotFound;
  const auto number = static_cast<uint16_t>(connection);
  Conn& c = conns_[number];
  // Streaming bytes without credit are refused (no_credit). They would block the streaming bytes of
  // other connections, which share one path.
  const uint16_t bytes = bytes_of(cmd);
  const auto if_credit =
      bytes != 0 && (no_credit || !has_room(c, bytes)) ? AdminStatus::kNoCredit : AdminStatus::kOk;
  switch (cmd.opcode) {
    case AdminOpcode::kConnQuery:
      result_of(number).pack(rsp.result);
      return AdminStatus::kOk;
    case AdminOpcode::kConnGive:
      if (c.has_qp || !c.open()) return AdminStatus::kBadState;
      if (args.length == 0 || args.length > c.waiting) return AdminStatus::kBadArgument;
      c.waiting = static_cast<uint16_t>(c.waiting - args.length);
      giving_ = number;
      out_.llp_ctl_req({.op = LlpOp::kGive, .connection = number, .length = args.length});
      return AdminStatus::kOk;
    case AdminOpcode::kConnSend:
      return c.talks() && !c.has_qp ? if_credit : AdminStatus::kBadState;
    case AdminOpcode::kConnClose:
      if (!c.talks() || c.has_qp) return AdminStatus::kBadState;
      half_close(number);
      return AdminStatus::kOk;
    case AdminOpcode::kConnAbort:
      c.waiting = 0;
      request(LlpOp::kAbort, number);
      return AdminStatus::kOk;
    case AdminOpcode::kConnRelease:
      if (c.has_qp || !c.ended()) return AdminStatus::kInUse;
      c = {};
      request(LlpOp::kReleased, number);
      return AdminStatus::kOk;
    case AdminOpcode::kModifyQp:  // admin checks it before it starts a QP on this connection
      return c.state == ConnState::kEstablished && !c.has_qp ? if_credit : AdminStatus::kBadState;
    default:
      return AdminStatus::kBadOpcode;
  }
}

/// Sends our FIN, at most once. No record follows the FIN.
void LlpIf::half_close(uint16_t connection) {
  Conn& c = conns_[connection];
  if (!c.talks()) return;
  c.fin = true;
  if (c.state == ConnState::kEstablished) c.state = ConnState::kLocalClosed;
  request(LlpOp::kHalfClose, connection);
}

/// Initializes a new connection. Its credit and segment size may have arrived earlier.
LlpIf::Conn& LlpIf::begin(uint16_t connection) {
  Conn& c = conns_[connection];
  c.passive = c.has_qp = c.fin = false;
  c.waiting = 0;
  return c;
}

/// The connection delivers no more bytes: ends an outstanding conn_give, so that admin does not
/// wait forever.
void LlpIf::ended(uint16_t connection, ConnState state) {
  Conn& c = conns_[connection];
  if (c.open()) c.state = state;
  c.waiting = 0;
  if (giving_ != connection) return;
  giving_.reset();
  out_.give_ended(connection);
}

/// Streaming bytes have waited too long for credit: aborts their connection.
void LlpIf::abandon(const RawBytes& raw) {
  Conn& c = conns_[raw.connection];
  c.waiting = 0;
  if (c.open()) request(LlpOp::kAbort, raw.connection);
}

void LlpIf::event(const spec::LlpCtlEvt& e) {
  if (e.kind == LlpEvt::kAssigned) {
    if (!connects_ || e.cookie != connecting_.cookie) return;
    connects_ = false;
    spec::CmdRsp rsp;
    if (e.connection < conns_.size()) {
      Conn& c = begin(e.connection);
      c.state = ConnState::kConnecting;
      c.peer_address = connecting_.address;
      c.peer_port = connecting_.port;
      c.local_port = e.local_port;
      result_of(e.connection).pack(rsp.result);
    } else {
      rsp.status = AdminStatus::kNoResource;
    }
    return out_.conn_cmd_rsp(rsp);
  }
  if (e.connection >= conns_.size()) return;
  Conn& c = conns_[e.connection];
  switch (e.kind) {
    case LlpEvt::kIncoming:
      begin(e.connection);
      c.state = ConnState::kEstablished;
      c.passive = true;
      c.peer_address = e.address;
      c.peer_port = e.port;
      c.local_port = e.local_port;
      return tell(e.connection, std::nullopt);
    case LlpEvt::kEstablished:
      if (c.state == ConnState::kConnecting) c.state = ConnState::kEstablished;
      if (e.local_port != 0) c.local_port = e.local_port;
      return tell(e.connection, std::nullopt);
    case LlpEvt::kFailed:
      ended(e.connection, ConnState::kFailed);
      return tell(e.connection, LlpQpEvt::kLost);
    case LlpEvt::kWaiting:
      if (c.open()) c.waiting = e.length;
      return tell(e.connection, std::nullopt);
    case LlpEvt::kPeerClosed:
      if (c.state == ConnState::kEstablished) c.state = ConnState::kPeerClosed;
      return tell(e.connection, LlpQpEvt::kPeerClosed);
    case LlpEvt::kClosed:
      ended(e.connection, ConnState::kClosed);
      return tell(e.connection, LlpQpEvt::kClosed);
    case LlpEvt::kReset:
      ended(e.connection, ConnState::kReset);
      return tell(e.connection, LlpQpEvt::kLost);
    case LlpEvt::kMss:
      c.mss = e.length;
      if (c.has_qp) resize(c.qpn);
      return;
    default:
      return;
  }
}

}  // namespace rnic::model
