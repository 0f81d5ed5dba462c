// The bench framework on a module that echoes its inputs, and on a model of it: one typed suite, as
// in the benches of units.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "VEcho.h"
#include "gen/iwarp.hpp"
#include "support/model_dut.hpp"
#include "support/packet_port.hpp"
#include "support/rtl_dut.hpp"
#include "support/stream_port.hpp"

namespace {

using namespace rnic;  // NOLINT: a test
using tb::each_pace;
using tb::Pace;

struct EchoRtl : tb::RtlDut<VEcho> {
  tb::StreamIn<spec::DdpUntagged> in = RNIC_IN(*this, hdr, spec::DdpUntagged);
  tb::StreamOut<spec::DdpUntagged> out = RNIC_OUT(*this, hdr, spec::DdpUntagged);
  tb::StreamIn<spec::MpaLength> len_in = RNIC_IN(*this, len, spec::MpaLength);
  tb::StreamOut<spec::MpaLength> len_out = RNIC_OUT(*this, len, spec::MpaLength);
  tb::PacketIn packet_in = RNIC_PACKET_IN(*this, pkt);
  tb::PacketOut packet_out = RNIC_PACKET_OUT(*this, pkt);

  // mischief_i: a bit for each rule that echo.sv breaks. 1: an assertion fails; 2: valid is
  // withdrawn; 4: the payload changes; 8: beats of packets are empty.
  EchoRtl() { top().mischief_i = 0; }
};

struct EchoModel : tb::ModelDut {
  tb::ModelIn<spec::DdpUntagged> in{*this, "hdr"};
  tb::ModelOut<spec::DdpUntagged> out{*this, "hdr"};
  tb::ModelIn<spec::MpaLength> len_in{*this, "len"};
  tb::ModelOut<spec::MpaLength> len_out{*this, "len"};
  tb::ModelPacketIn packet_in{*this, "pkt"};
  tb::ModelPacketOut packet_out{*this, "pkt"};

  bool step() override {
    return move(in, out) || move(len_in, len_out) || move(packet_in, packet_out);
  }

 private:
  template <class In, class Out>
  static bool move(In& from, Out& to) {
    if (from.empty()) return false;
    to.push(from.pop());
    return true;
  }
};

template <class D>
struct SupportTest : testing::Test {
  D dut;
};
using Duts = testing::Types<EchoRtl, EchoModel>;
TYPED_TEST_SUITE(SupportTest, Duts);

TYPED_TEST(SupportTest, MessagesComeBackInOrder) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    auto rng = tb::test_rng();
    std::vector<spec::DdpUntagged> sent;
    for (uint32_t i = 0; i < 200; i++) {
      spec::DdpUntagged h;
      h.is_last = 1;
      h.opcode = spec::RdmapOpcode::kSend;
      h.msn = i;
      h.mo = static_cast<uint32_t>(rng.next());
      sent.push_back(h);
      this->dut.in.put(h);
      this->dut.len_in.put({.ulpdu_length = static_cast<uint16_t>(i * 300)});
    }
    EXPECT_EQ(this->dut.out.take(), sent[0]);
    sent.erase(sent.begin());
    EXPECT_EQ(this->dut.out.take_all(), sent);
    for (uint32_t i = 0; i < 200; i++)
      EXPECT_EQ(this->dut.len_out.take().ulpdu_length, static_cast<uint16_t>(i * 300));
    EXPECT_FALSE(this->dut.out.try_take());
  });
}

TYPED_TEST(SupportTest, PacketsOfEveryLength) {
  each_pace([&](Pace pace) {
    this->dut.restart(pace);
    auto rng = tb::test_rng();
    std::vector<tb::Packet> sent;
    for (size_t n : {0, 1, 63, 64, 65, 127, 128, 129, 1500}) {
      sent.push_back({rng.bytes(n), rng.percent(30)});
      this->dut.packet_in.put(sent.back());
    }
    EXPECT_EQ(this->dut.packet_out.take_packet(), sent[0]);
    sent.erase(sent.begin());
    EXPECT_EQ(this->dut.packet_out.take_all(), sent);
  });
}

TEST(SupportRtlTest, OneWordACycle) {
  EchoRtl dut;
  dut.reset();
  const auto start = dut.now();
  for (uint32_t i = 0; i < 100; i++) dut.in.put({.msn = i});
  for (uint32_t i = 0; i < 100; i++) EXPECT_EQ(dut.out.take().msn, i);
  EXPECT_LE(dut.now() - start, 102U);
}

TEST(SupportRtlTest, FalseAssertionIsFound) {
  EchoRtl dut;
  dut.cycles(3);
  EXPECT_FALSE(dut.take_error());
  dut.top().mischief_i = 1;
  dut.cycles(2);
  EXPECT_TRUE(dut.take_error());
}

TEST(SupportRtlTest, MonitorsFindABrokenHandshake) {
  EchoRtl dut;
  dut.reset();
  dut.out.stall(100);
  dut.in.put({.msn = 1});
  dut.cycles(4);
  dut.top().mischief_i = 2;
  // echo takes valid back in every second cycle.
  EXPECT_NONFATAL_FAILURE(while (dut.now() % 2 == 0) dut.cycle(); dut.cycle(), "taken back");
  dut.reset();
  dut.in.put({.msn = 1});
  dut.top().mischief_i = 4;
  dut.cycles(2);
  EXPECT_NONFATAL_FAILURE(dut.cycle(), "payload changed");
}

TEST(SupportRtlTest, MonitorsFindAHoleInAPacket) {
  EchoRtl dut;
  dut.reset();
  dut.top().mischief_i = 8;
  dut.packet_in.put_packet(tb::test_rng().bytes(128));
  EXPECT_NONFATAL_FAILURE(dut.cycles(3), "not the last");
}

TEST(SupportRtlTest, AHangIsAFailure) {
  EchoRtl dut;
  EXPECT_NONFATAL_FAILURE((void)dut.out.take(50), "nothing came");
  EXPECT_FALSE(dut.packet_out.try_take_packet(50));
}

TEST(SupportBaseTest, RngIsTheSameEverywhere) {
  base::Rng rng(1);
  EXPECT_EQ(rng.next(), 0xb3f2af6d0fc710c5U);
  EXPECT_EQ(rng.next(), 0x853b559647364ceaU);
  for (int i = 0; i < 1000; i++) {
    const auto v = rng.between(5, 9);
    EXPECT_TRUE(v >= 5 && v <= 9);
  }
  EXPECT_EQ(base::Rng::hash("a"), 0xaf63dc4c8601ec8cU);  // FNV-1a's published value
}

}  // namespace
