// sim/link/pcap as tshark reads it: handshake, MPA Request and Reply, Writes, Sends split over
// segments, FIN. Checksums are right, nothing is malformed, every FPDU is dissected.
#include "link/pcap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "base/bytes.hpp"
#include "fake_device.hpp"
#include "platform/simulation.hpp"
#include "support/folder.hpp"

namespace rnic::sim {
namespace {

uint32_t crc32c(std::span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

/// A tagged (RDMA Write) or untagged (Send) segment, typed from RFC 5041 section 4 and RFC 5040
/// section 4.
std::vector<uint8_t> fpdu(bool is_write, bool is_last, uint32_t msn, uint32_t mo,
                          const std::vector<uint8_t>& payload) {
  std::vector<uint8_t> f(2 + (is_write ? 14 : 18), 0);
  // T, L and DV 1; then RV 1 and the opcode, 0 Write or 3 Send.
  f[2] = static_cast<uint8_t>((is_write ? 0x80 : 0) | (is_last ? 0x40 : 0) | 0x01);
  f[3] = is_write ? 0x40 : 0x43;
  if (is_write) {
    base::store_be<uint32_t>(&f[4], 0x1234);
    base::store_be<uint64_t>(&f[8], 0x1000 + mo);
  } else {
    base::store_be<uint32_t>(&f[12], msn);
    base::store_be<uint32_t>(&f[16], mo);
  }
  f.insert(f.end(), payload.begin(), payload.end());
  base::store_be<uint16_t>(f.data(), static_cast<uint16_t>(f.size() - 2));
  while (f.size() % 4 != 0) f.push_back(0);
  const uint32_t crc = crc32c(f);
  f.resize(f.size() + 4);
  base::store_le<uint32_t>(&f[f.size() - 4], crc);
  return f;
}

/// Payload that tshark takes for no known protocol.
std::vector<uint8_t> text(size_t size) {
  std::vector<uint8_t> t(size);
  for (size_t i = 0; i < size; ++i) t[i] = static_cast<uint8_t>(0xf0 - i % 16);
  return t;
}

/// An MPA Request or Reply without private data, by its key.
std::vector<uint8_t> mpa_start(const char* key) {
  std::vector<uint8_t> f(20, 0);
  std::copy_n(base::as_bytes(key).data(), 16, f.data());
  f[16] = 0x40;  // CRC
  f[17] = 1;     // revision
  return f;
}

/// Returns the lines that tshark prints about the capture `path`; none if it cannot be started.
std::vector<std::string> tshark(const std::string& path, const std::string& options) {
  std::vector<std::string> lines;
  std::FILE* p =
      popen(("tshark -r " + path + " -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE " +
             options + " 2>/dev/null")
                .c_str(),
            "r");
  if (p == nullptr) return lines;
  std::array<char, 1024> line{};
  while (std::fgets(line.data(), line.size(), p) != nullptr) {
    std::string s = line.data();
    if (!s.empty() && s.back() == '\n') s.pop_back();
    lines.push_back(s);
  }
  pclose(p);
  return lines;
}

TEST(Pcap, TsharkDissectsAWholeSession) {
  ASSERT_EQ(std::system("tshark --version > /dev/null 2>&1"), 0) << "tshark is missing";
  SimulationConfig c;
  c.platform.host.arena_mib = 16;
  Simulation sim(c);
  std::array<FakeDevice*, 2> dev{};
  for (auto& d : dev) {
    auto owned = std::make_unique<FakeDevice>();
    d = owned.get();
    sim.add_host(std::move(owned));
  }
  const tb::Folder folder;
  const std::string path = folder / "wire.pcap";
  sim.write_pcap(path);
  auto ctl = [&](unsigned h, spec::LlpOp op, uint16_t length = 0) {
    spec::LlpCtlReq r;
    r.op = op;
    r.port = 5000;
    r.address = host_address(1);
    r.length = length;
    dev[h]->env->llp_ctl(r);
    sim.settle(1000);
  };
  auto tx = [&](unsigned h, const std::vector<uint8_t>& bytes, bool is_stream) {
    Record r;
    r.is_stream = is_stream;
    r.data = Payload::copy_of(bytes);
    dev[h]->env->llp_tx(std::move(r));
    sim.settle(1000);
  };
  ctl(1, spec::LlpOp::kListen);
  ctl(0, spec::LlpOp::kConnect);
  tx(0, mpa_start("MPA ID Req Frame"), true);
  ctl(1, spec::LlpOp::kGive, 20);
  tx(1, mpa_start("MPA ID Rep Frame"), true);
  ctl(0, spec::LlpOp::kGive, 20);
  ctl(0, spec::LlpOp::kRdmaMode);
  ctl(1, spec::LlpOp::kRdmaMode);
  // 43 bytes: tshark takes a shorter Send for RPC.
  tx(0, fpdu(false, true, 1, 0, text(43)), false);
  for (uint32_t i = 0; i < 20; ++i)
    tx(0, fpdu(true, true, 0, i * 64, std::vector<uint8_t>(64, 7)), false);
  tx(1, fpdu(false, false, 1, 0, text(1436)), false);
  tx(1, fpdu(false, true, 1, 1436, text(101)), false);
  tx(0, fpdu(false, true, 2, 0, text(4000)),
     false);  // three segments, which tshark's MPA dissector does not reassemble
  ctl(0, spec::LlpOp::kHalfClose);
  ctl(1, spec::LlpOp::kHalfClose);
  // The Request, a Send, 20 Writes, the long Send.
  EXPECT_EQ(dev[1]->records.size(), 1u + 1 + 20 + 1);
  sim.settle(10);
  std::fflush(nullptr);

  for (const char* bad :
       {"_ws.malformed", "ip.checksum.status==0", "tcp.checksum.status==0",
        "tcp.analysis.flags && !tcp.analysis.window_update", "tcp.analysis.ack_lost_segment"}) {
    const auto lines = tshark(path, std::string("-Y '") + bad + "'");
    EXPECT_TRUE(lines.empty()) << bad << ": " << lines.front();
  }
  auto count = [&](const std::string& filter) {
    return tshark(path, "-Y '" + filter + "'").size();
  };
  EXPECT_EQ(count("tcp.flags.syn==1"), 2u);
  EXPECT_EQ(count("tcp.flags.fin==1"), 2u);
  EXPECT_EQ(count("iwarp_mpa.req"), 1u);
  EXPECT_EQ(count("iwarp_mpa.rep"), 1u);
  // 20 Writes; three FPDUs of Sends, without the long one, which is not reassembled.
  EXPECT_EQ(count("iwarp_ddp.tagged"), 20u);
  EXPECT_EQ(count("iwarp_ddp.untagged"), 3u);
  EXPECT_EQ(count("iwarp_mpa.crc_check"), 23u);
  EXPECT_EQ(count("iwarp_mpa.bad_length"), 0u);
  const auto fields = tshark(path,
                             "-Y 'iwarp_ddp.tagged' -T fields -e ip.src -e ip.dst -e tcp.dstport "
                             "-e iwarp_ddp.tagged_offset -e frame.len");
  ASSERT_EQ(fields.size(), 20u);
  // The second Write. Its frame: headers 14 + 20 + 20, FPDU 84.
  EXPECT_EQ(fields[1], "10.0.0.1\t10.0.0.2\t5000\t0x0000000000001040\t138");
}

TEST(Pcap, AFileThatCannotBeWrittenSaysSo) {
  EXPECT_THROW(Pcap("no/such/folder/x.pcap"), std::runtime_error);
}

}  // namespace
}  // namespace rnic::sim
