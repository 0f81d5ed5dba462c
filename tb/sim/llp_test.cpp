// sim/llp: two endpoints with scripted devices. Opening, streaming, FPDUs, closed window, markers,
// closing, abort, connection numbers.
//
// A device's `order` has one character for each item that the LLP gives it: r a record, s streaming
// bytes, or the number of an event (llp_evt in docs/spec/streams.yaml): 0 assigned, 1 incoming, 2
// established, 3 failed, 4 waiting, 5 peer_closed, 6 closed, 7 reset, 8 mss.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fake_device.hpp"
#include "fpdus.hpp"
#include "platform/simulation.hpp"
#include "support/seed.hpp"

namespace rnic::sim {
namespace {

using spec::LlpEvt;
using spec::LlpOp;

class LlpTest : public testing::Test {
 protected:
  void build(const LinkConfig& link = {}, unsigned hosts = 2) {
    SimulationConfig c;
    c.platform.link = link;
    c.platform.host.arena_mib = 16;
    c.seed = tb::test_seed();
    sim = std::make_unique<Simulation>(c);
    for (unsigned h = 0; h < hosts; ++h) {
      auto owned = std::make_unique<FakeDevice>();
      dev[h] = owned.get();
      sim->add_host(std::move(owned));
    }
  }
  void ctl(unsigned h, LlpOp op, uint16_t conn = 0, uint16_t length = 0) {
    spec::LlpCtlReq r;
    r.op = op;
    r.connection = conn;
    r.length = length;
    dev[h]->env->llp_ctl(r);
  }
  void listen(unsigned h, uint16_t port, LlpOp op = LlpOp::kListen) {
    spec::LlpCtlReq r;
    r.op = op;
    r.port = port;
    dev[h]->env->llp_ctl(r);
  }
  void connect(unsigned h, unsigned to, uint16_t port, uint16_t cookie = 7) {
    spec::LlpCtlReq r;
    r.op = LlpOp::kConnect;
    r.address = host_address(to);
    r.port = port;
    r.cookie = cookie;
    dev[h]->env->llp_ctl(r);
  }
  void rdma(unsigned h, bool rx_markers = false) {
    spec::LlpCtlReq r;
    r.op = LlpOp::kRdmaMode;
    r.rx_markers = rx_markers;
    dev[h]->env->llp_ctl(r);
  }
  void tx(unsigned h, const std::vector<uint8_t>& bytes, bool is_stream = false) {
    Record r;
    r.is_stream = is_stream;
    r.data = Payload::copy_of(bytes);
    dev[h]->env->llp_tx(std::move(r));
  }
  void open() {
    listen(1, 5000);
    connect(0, 1, 5000);
    run_ns(1000);
    for (auto* d : dev) {
      if (d != nullptr) d->order.clear();
    }
  }
  void run_ns(uint64_t ns) { sim->settle(ns); }
  static std::vector<uint8_t> bytes_of(const Record& r) {
    return {r.data.bytes().begin(), r.data.bytes().end()};
  }

  std::unique_ptr<Simulation> sim;
  FakeDevice* dev[2] = {};
};

TEST_F(LlpTest, Opens) {
  build();
  listen(1, 5000);
  connect(0, 1, 5000, 99);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "028");  // assigned, established, mss
  EXPECT_EQ(dev[1]->order, "18");   // incoming, mss
  const auto& assigned = dev[0]->events[0].item;
  EXPECT_EQ(assigned.cookie, 99);
  EXPECT_EQ(assigned.connection, 0);
  EXPECT_EQ(dev[0]->events[2].item.length, 1460);
  const auto& incoming = dev[1]->events[0].item;
  EXPECT_EQ(incoming.address, host_address(0));
  EXPECT_EQ(incoming.local_port, 5000);
  EXPECT_EQ(incoming.port, dev[0]->events[1].item.local_port);
  for (auto* d : dev) {
    ASSERT_EQ(d->credits.size(), 1u);
    EXPECT_EQ(d->credits[0].item.limit, 262144u);
  }
}

TEST_F(LlpTest, NobodyListens) {
  build();
  connect(0, 1, 5000);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "03");
}

// A port either has a listener or not: one unlisten ends any number of listens.
TEST_F(LlpTest, ListenTwiceIsOnce) {
  build();
  listen(1, 5000);
  listen(1, 5000);
  listen(1, 5000, LlpOp::kUnlisten);
  connect(0, 1, 5000);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "03");
  EXPECT_EQ(sim->llp(1).failure(), "");
}

// No host answers: the LLP gives up after llp_timeout_us, 1000 by default.
TEST_F(LlpTest, NobodyThere) {
  build({}, 1);
  connect(0, 1, 5000);
  run_ns(900'000);
  EXPECT_EQ(dev[0]->order, "0");
  run_ns(200'000);
  EXPECT_EQ(dev[0]->order, "03");
}

// 0xffff: no number was free, the connect is refused.
TEST_F(LlpTest, NumbersRunOutAndComeBackOnlyWhenReleased) {
  build();
  listen(1, 5000);
  const uint32_t all = dev[0]->size.num_conns;
  for (uint32_t i = 0; i <= all; ++i) connect(0, 1, 5000);
  run_ns(100'000);
  uint32_t refused = 0;
  for (const auto& [at, e] : dev[0]->events)
    refused += e.kind == LlpEvt::kAssigned && e.connection == 0xffff;
  EXPECT_EQ(refused, 1u);
  ctl(0, LlpOp::kAbort, 3);
  run_ns(1000);
  connect(0, 1, 5000);
  run_ns(1000);
  EXPECT_EQ(dev[0]->events.back().item.connection, 0xffff);
  ctl(0, LlpOp::kReleased, 3);
  connect(0, 1, 5000);
  run_ns(1000);
  const auto& e = dev[0]->events;
  const auto assigned = std::find_if(
      e.rbegin(), e.rend(), [](const auto& x) { return x.item.kind == LlpEvt::kAssigned; });
  EXPECT_EQ(assigned->item.connection, 3);
}

TEST_F(LlpTest, StreamingBytesWaitUntilGiven) {
  build();
  open();
  tx(0, {1, 2, 3, 4, 5}, true);
  tx(0, {6, 7}, true);
  run_ns(1000);
  EXPECT_EQ(dev[1]->order, "44");
  EXPECT_EQ(dev[1]->events.back().item.length, 7);
  EXPECT_TRUE(dev[1]->records.empty());
  ctl(1, LlpOp::kGive, 0, 6);
  run_ns(1);
  ASSERT_EQ(dev[1]->records.size(), 1u);
  EXPECT_TRUE(dev[1]->records[0].item.is_stream);
  EXPECT_EQ(bytes_of(dev[1]->records[0].item), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(dev[1]->order, "44s4");
  EXPECT_EQ(dev[1]->events.back().item.length, 1);
}

// The device may request more bytes than wait, if its request has crossed an event of the LLP: the
// LLP still answers each request.
TEST_F(LlpTest, EachGiveIsAnswered) {
  build();
  open();
  tx(0, {1, 2, 3}, true);
  run_ns(1000);
  ctl(1, LlpOp::kGive, 0, 5);
  ctl(1, LlpOp::kGive, 0, 2);
  run_ns(1);
  ASSERT_EQ(dev[1]->records.size(), 2u);
  EXPECT_EQ(bytes_of(dev[1]->records[0].item), (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_TRUE(dev[1]->records[1].item.is_stream);
  EXPECT_EQ(dev[1]->records[1].item.data.size(), 0u);
  EXPECT_EQ(dev[1]->events.back().item.length, 0);
}

TEST_F(LlpTest, RdmaModeBeginsWithTheNextByte) {
  build();
  open();
  const auto first = fpdu(20, 0x11);
  tx(0, {9, 9, 9}, true);
  tx(0, first);  // the peer has not entered RDMA mode yet
  run_ns(1000);
  ctl(1, LlpOp::kGive, 0, 3);
  rdma(1);
  run_ns(1000);
  tx(0, fpdu(33, 0x22));
  run_ns(1000);
  ASSERT_EQ(dev[1]->records.size(), 3u);
  EXPECT_EQ(bytes_of(dev[1]->records[1].item), first);
  EXPECT_EQ(bytes_of(dev[1]->records[2].item), fpdu(33, 0x22));
  EXPECT_FALSE(dev[1]->records[2].item.is_stream);
}

// A record of one segment takes the time of its bytes on the wire plus link_delay_ns, which is 100.
TEST_F(LlpTest, Timing) {
  build();
  open();
  rdma(1);
  run_ns(1000);
  const Time t0 = kernel_now();
  tx(0, fpdu(78, 1));  // 84 bytes: 162 on the wire, 12.96 ns
  tx(0, fpdu(78, 2));
  run_ns(1000);
  ASSERT_EQ(dev[1]->records.size(), 2u);
  EXPECT_EQ(dev[1]->records[0].at, t0 + 12'960 + 100'000);
  EXPECT_EQ(dev[1]->records[1].at, t0 + 25'920 + 100'000);
}

// The output equals the input, FPDU by FPDU, for all sizes, with and without markers.
TEST_F(LlpTest, FpdusAnyAlignment) {
  LinkConfig link;
  link.mtu = 600;  // most FPDUs take several segments
  build(link);
  open();
  rdma(1, true);
  base::Rng rng = tb::test_rng();
  std::vector<std::vector<uint8_t>> sent;
  uint32_t position = 0;
  for (int i = 0; i < 60; ++i) {
    auto f = fpdu(static_cast<uint16_t>(rng.between(0, 1800)), static_cast<uint8_t>(i + 1));
    sent.push_back(with_markers(f, position % 512));
    position += static_cast<uint32_t>(sent.back().size());
    tx(0, sent.back());
  }
  run_ns(100'000);
  ASSERT_EQ(dev[1]->records.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    EXPECT_EQ(bytes_of(dev[1]->records[i].item), sent[i]) << i;
  EXPECT_EQ(sim->llp(0).failure(), "");
}

TEST_F(LlpTest, AClosedWindowOpensWhenTheDeviceTakes) {
  LinkConfig link;
  link.llp_window_bytes = 1024;  // the LLP's least is one segment and term_credit, 128 bytes
  build(link);
  open();
  rdma(1);
  EXPECT_EQ(dev[0]->credits.back().item.limit, 1588u);  // 1460 + 128
  dev[1]->takes_llp = false;
  tx(0, fpdu(1442, 1));  // 1448 bytes
  run_ns(100'000);
  EXPECT_EQ(dev[0]->credits.size(), 1u);
  EXPECT_TRUE(dev[1]->records.empty());
  dev[1]->takes_llp = true;
  run_ns(500);
  EXPECT_EQ(dev[1]->records.size(), 1u);
  ASSERT_EQ(dev[0]->credits.size(), 2u);
  EXPECT_EQ(dev[0]->credits.back().item.limit, 1588u + 1448u);
  tx(0, fpdu(1442, 1));
  tx(0, fpdu(1442, 1));
  EXPECT_NE(sim->llp(0).failure().find("beyond its credit"), std::string::npos);
}

// A sender that uses its credit to the last byte never gets stuck, whatever the window. An FPDU has
// 984 bytes: length 2, ULPDU 978, CRC 4.
TEST_F(LlpTest, CreditKeepsComing) {
  for (const uint64_t window : {2000, 30'000, 262'144}) {
    SCOPED_TRACE(window);
    LinkConfig link;
    link.llp_window_bytes = window;
    build(link);
    open();
    rdma(1);
    uint32_t limit = dev[0]->credits.back().item.limit, sent = 0, count = 0;
    auto go = [&] {
      while (count < 3000 && dev[0]->env->can_llp_tx() && limit - sent >= 984) {
        tx(0, fpdu(978, 1));
        sent += 984;
        ++count;
      }
    };
    dev[0]->on_wake = go;
    for (int i = 0; i < 40'000 && dev[1]->records.size() < 3000; ++i) {
      limit = dev[0]->credits.back().item.limit;
      go();
      run_ns(20);
    }
    EXPECT_EQ(dev[1]->records.size(), 3000u);
    EXPECT_EQ(sim->llp(0).failure(), "");
    sim.reset();
  }
}

TEST_F(LlpTest, TheWireRunsFull) {
  build();
  open();
  rdma(1);
  const auto f = fpdu(78, 1);
  uint64_t sent = 0;
  dev[0]->on_wake = [&] {
    for (; sent < 3000 && dev[0]->env->can_llp_tx(); ++sent) tx(0, f);
  };
  run_ns(10);
  const Time t0 = kernel_now();
  dev[0]->on_wake();
  run_ns(100'000);
  ASSERT_EQ(dev[1]->records.size(), 3000u);
  const double rate =
      3000 / (static_cast<double>(dev[1]->records.back().at - t0 - 100'000) * 1e-12);
  EXPECT_NEAR(rate / 1e6, 77.16, 0.02);  // 100 Gb/s at 162 bytes of the wire each
}

TEST_F(LlpTest, ClosesInOrder) {
  build();
  open();
  rdma(1);
  tx(0, fpdu(100, 1));
  ctl(0, LlpOp::kHalfClose);
  dev[1]->takes_llp = false;
  run_ns(1000);
  EXPECT_EQ(dev[1]->order, "");
  dev[1]->takes_llp = true;
  run_ns(100);
  EXPECT_EQ(dev[1]->order, "r5");
  EXPECT_EQ(dev[0]->order, "");
  tx(1, fpdu(10, 3), true);  // the other direction is still open
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "4");
  ctl(1, LlpOp::kHalfClose);
  run_ns(1000);
  EXPECT_EQ(dev[1]->order, "r56");
  EXPECT_EQ(dev[0]->order, "456");
  ctl(0, LlpOp::kReleased);
  ctl(1, LlpOp::kReleased);
  connect(0, 1, 5000);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "456028");
}

TEST_F(LlpTest, FinInsideAnFpdu) {
  build();
  open();
  rdma(1);
  auto f = fpdu(100, 1);
  f.resize(40);
  tx(0, f);
  ctl(0, LlpOp::kHalfClose);
  run_ns(1000);
  EXPECT_EQ(dev[1]->order, "r5");
  EXPECT_TRUE(dev[1]->records[0].item.error);
  EXPECT_EQ(bytes_of(dev[1]->records[0].item), f);
}

TEST_F(LlpTest, AbortResetsBoth) {
  build();
  open();
  ctl(0, LlpOp::kAbort);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "7");
  EXPECT_EQ(dev[1]->order, "7");
  tx(1, {1, 2}, true);  // raced with the reset: dropped
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "7");
}

TEST_F(LlpTest, BytesOfADeadConnectionDoNotReachItsSuccessor) {
  build();
  open();
  tx(0, {1, 2, 3}, true);  // in flight
  ctl(1, LlpOp::kAbort);
  ctl(1, LlpOp::kReleased);
  for (uint32_t i = 0; i < dev[1]->size.num_conns; ++i)
    connect(1, 1, 5000);  // the number is reused
  run_ns(10'000);
  EXPECT_EQ(dev[1]->order.find('4'), std::string::npos) << dev[1]->order;
}

TEST_F(LlpTest, Loopback) {
  build({}, 1);
  listen(0, 80);
  connect(0, 0, 80);
  run_ns(1000);
  EXPECT_EQ(dev[0]->order, "02818");
  Record r;
  r.connection = 0;
  r.is_stream = true;
  r.data = Payload::copy_of(std::vector<uint8_t>{5});
  dev[0]->env->llp_tx(std::move(r));
  run_ns(1000);
  EXPECT_EQ(dev[0]->events.back().item.kind, LlpEvt::kWaiting);
  EXPECT_EQ(dev[0]->events.back().item.connection, 1);
}

TEST_F(LlpTest, DeviceResetResetsItsConnections) {
  build();
  open();
  sim->root_complex(0).reset();
  run_ns(1000);
  EXPECT_EQ(dev[1]->order, "7");
  EXPECT_EQ(dev[0]->order, "");
}

// As in NobodyThere, the LLP gives up after 1000 us.
TEST_F(LlpTest, APeerThatIsGoneIsFoundByTimeOut) {
  build();
  open();
  sim->remove(0);
  run_ns(500'000);
  EXPECT_EQ(dev[1]->order, "");
  run_ns(600'000);
  EXPECT_EQ(dev[1]->order, "3");
}

}  // namespace
}  // namespace rnic::sim
