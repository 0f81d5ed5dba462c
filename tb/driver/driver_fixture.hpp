// Shared by the driver's tests: a fake device with a manager, a context, a PD, a CQ and ready-made
// QPs on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rnic/connection.hpp"
#include "rnic/manager.hpp"
#include "rnic/verbs.hpp"
#include "support/pci_device_fake.hpp"

namespace rnic::tb {

using namespace rnic::verbs;
using Bytes = std::vector<uint8_t>;

/// Converts "02 0a ff" to bytes.
inline Bytes hex(const std::string& text) {
  Bytes out;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    out.push_back(static_cast<uint8_t>(std::stoul(word, nullptr, 16)));
  return out;
}
inline std::string to_hex(std::span<const uint8_t> bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i++)
    out += fmt::format("{}{:02x}", i % 16 == 0 ? "\n" : " ", bytes[i]);
  return out;
}
#define EXPECT_BYTES(actual, text) \
  EXPECT_EQ(rnic::tb::to_hex(actual), rnic::tb::to_hex(rnic::tb::hex(text)))

/// The value of a result; an error ends the test program.
template <class T>
T must(Result<T> r) {
  RNIC_CHECK(r.has_value(), "{}", r.error().what);
  return std::move(*r);
}
inline void must(const Result<void>& r) { RNIC_CHECK(r.has_value(), "{}", r.error().what); }

/// The error's code; none on success.
template <class T>
std::optional<Errc> errc(const Result<T>& r) {
  return r ? std::nullopt : std::optional(r.error().code);
}
inline std::optional<Errc> errc(const PostResult& r) {
  return r ? std::nullopt : std::optional(r.error->code);
}

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    manager = must(Manager::open(dev, {.seed = 1, .admin_timeout = 50 * kUs}));
    ctx = must(Context::open(dev, *manager));
    pd = must(ctx.alloc_pd());
    cq = must(ctx.create_cq(64));
  }
  ~DriverTest() override { EXPECT_THAT(dev.violations, testing::IsEmpty()); }

  /// A QP that is not connected, with `cq` as both its CQs.
  Qp make_qp(QpCap cap = {}, bool push = false, bool sig_all = false) {
    return must(pd.create_qp(
        {.send_cq = &cq, .recv_cq = &cq, .cap = cap, .sq_sig_all = sig_all, .push = push}));
  }
  /// A QP connected to a peer that the test plays.
  Qp rts_qp(QpCap cap = {}, bool push = false, bool sig_all = false) {
    Qp qp = make_qp(cap, push, sig_all);
    play_peer();
    connections.push_back(must(connect(qp, must(Address::resolve("10.0.0.2", 4791)), {})));
    dev.on_wait = nullptr;
    dev.calls.clear();
    return qp;
  }
  /// Plays a peer that accepts every connection and answers its Request with a matching Reply.
  void play_peer() {
    dev.on_wait = [this] {
      for (auto& [n, c] : dev.conns) {
        if (c.info.state == spec::ConnState::kConnecting)
          dev.set_state(n, spec::ConnState::kEstablished);
        // The Request has come: 20 bytes, and private data.
        if (c.info.has_qp == 0 && c.info.passive == 0 && c.out.size() >= 20) {
          Bytes reply = c.out;
          reply[9] = 'p';  // Req -> Rep
          c.out.clear();
          dev.stream(n, reply);
        }
      }
    };
  }
  /// The bytes of a QP's send ring from `unit` on.
  std::span<const uint8_t> sq(const Qp& qp, uint32_t unit, uint32_t units = 1) {
    const auto& q = dev.qps.at(qp.qp_num());
    return {dev.at(q.args.sq_base + 64 * unit, size_t{64} * units), size_t{64} * units};
  }
  /// Polls `cq` once, for at most this many completions.
  std::vector<Wc> poll(size_t most = 16) {
    std::vector<Wc> wcs(most);
    wcs.resize(must(cq.poll_cq(wcs)));
    return wcs;
  }
  /// The device writes a CQE of this QP to `cq`. index: as in queues.yaml (cqe).
  void finish(const Qp& qp, uint16_t index, spec::WcStatus status = spec::WcStatus::kSuccess,
              bool is_recv = false, uint32_t byte_len = 0) {
    dev.cqe(cq.number(), {.qpn = qp.qp_num(),
                          .opcode = is_recv ? spec::WcOpcode::kRecv : spec::WcOpcode::kSend,
                          .byte_len = byte_len,
                          .index = index,
                          .status = status,
                          .is_recv = is_recv});
  }

  PciDeviceFake dev;
  std::unique_ptr<Manager> manager;
  Context ctx;
  Pd pd;
  Cq cq;
  std::vector<Connection> connections;
};

}  // namespace rnic::tb
