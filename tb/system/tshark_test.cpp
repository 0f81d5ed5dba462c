// A foreign dissector reads the captures of whole devices. tshark parses every segment as an FPDU,
// CRCs and checksums are correct, and nothing is malformed. Opcodes, lengths, STags, TOs, QNs, MSNs
// and MOs match the program's work requests: the test computes them from the RFCs and from the
// hosts' MPA private data. R5040-3.1-01 to 04, 5.1 to 5.4 wire formats, R5040-6.1-02. Rejects and
// Terminates too.
//
// tshark counts one marker too many in an FPDU that ends where a marker would follow. The lengths
// avoid that case; Markers.StandWhereTheyShould checks it without tshark.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "programs.hpp"
#include "support/folder.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

constexpr uint32_t kMessages = 5, kControl = 64;
constexpr uint64_t kDepth =
    32;  // slots of a lane's buffer; a quarter exceeds kMessages: no credit is given

/// Output of a tshark run, by lines. A missing or failing tshark is a failure.
std::vector<std::string> tshark(const std::string& path, const std::string& options) {
  std::vector<std::string> lines;
  const std::string command =
      "tshark -n -r " + path +
      " -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE"
      // Payload is a pattern: its decoding by upper protocols does not matter.
      " --disable-protocol rpcordma --disable-protocol smb_direct " +
      options + " 2>/dev/null";
  std::FILE* p = popen(command.c_str(), "r");
  if (p == nullptr) throw std::runtime_error("no pipe to tshark");
  std::string text;
  std::array<char, 65536> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), p)) > 0;)
    text.append(buffer.data(), n);
  const int status = pclose(p);
  if (status != 0) throw std::runtime_error(fmt::format("{}: status {}", command, status));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

enum Field {
  kSource,
  kBytes,
  kIpSum,
  kTcpSum,
  kReset,
  kSeverity,
  kMalformed,
  kAnalysis,
  kPayload,
  kPrivate,
  kMarkerFlag,
  kCrcFlag,
  kUlpdu,
  kTagged,
  kLast,
  kDv,
  kRv,
  kOpcode,
  kStag,
  kTo,
  kQn,
  kMsn,
  kMo,
  kSinkStag,
  kSinkTo,
  kReadSize,
  kSrcStag,
  kSrcTo,
  kFields
};
constexpr const char* kNames[kFields] = {
    "ip.src",
    "tcp.len",
    "ip.checksum.status",
    "tcp.checksum.status",
    "tcp.flags.reset",
    "_ws.expert.severity",
    "_ws.malformed",
    "tcp.analysis.flags",
    "tcp.payload",
    "iwarp_mpa.privatedata",
    "iwarp_mpa.marker_flag",
    "iwarp_mpa.crc_flag",
    "iwarp_mpa.ulpdulength",
    "iwarp_ddp.tagged_flag",
    "iwarp_ddp.last_flag",
    "iwarp_ddp.dv",
    "iwarp_rdma.version",
    "iwarp_rdma.opcode",
    "iwarp_ddp.stag",
    "iwarp_ddp.tagged_offset",
    "iwarp_ddp.qn",
    "iwarp_ddp.msn",
    "iwarp_ddp.mo",
    "iwarp_rdma.sinkstag",
    "iwarp_rdma.sinkto",
    "iwarp_rdma.rdmardsz",
    "iwarp_rdma.srcstag",
    "iwarp_rdma.srcto",
};
using Row = std::array<std::string, kFields>;

std::vector<Row> rows_of(const std::string& path) {
  std::string options = "-T fields -E separator=/s -E quote=d";
  for (const char* name : kNames) options += std::string(" -e ") + name;
  std::vector<Row> rows;
  for (const std::string& line : tshark(path, options)) {
    Row row;
    size_t at = 0;
    for (std::string& field : row) {  // "a" "" "b"; an empty field may have no quotes
      if (at < line.size() && line[at] == '"') {
        const size_t end = line.find('"', at + 1);
        field = line.substr(at + 1, end - at - 1);
        at = end + 1;
      }
      ++at;
    }
    rows.push_back(row);
  }
  return rows;
}

/// The expected fields of a segment.
struct Expected {
  bool tagged = false, last = false;
  unsigned opcode = 0;
  uint32_t stag = 0;
  uint64_t to = 0;
  uint32_t qn = 0, msn = 0, mo = 0;
  uint32_t payload = 0;
  std::optional<std::array<uint64_t, 5>> read{};  // sink STag and TO, size, source STag and TO
};

// From private data: key, lane, address, slots of both kinds (host-driver/programs/common.cpp). In
// the capture the 4 bytes of IRD and ORD (RFC 6581) precede them.
struct Peer {
  uint32_t rkey = 0;
  uint64_t address = 0;
  uint64_t slots = 0;
};
Peer peer_of(const std::string& private_data) {
  const Bytes b = hex(private_data);
  if (b.size() != 28) throw std::runtime_error("private data: " + private_data);
  return {base::load_be<uint32_t>(&b[4]), base::load_be<uint64_t>(&b[12]),
          uint64_t{base::load_be<uint32_t>(&b[20])} + base::load_be<uint32_t>(&b[24])};
}

struct Param {
  const char* program;
  uint32_t mtu, size;
  bool crc, markers;
  Kinds kind;
};

/// The segments of the program's work requests, by sender.
std::array<std::vector<Expected>, 2> expected(const Param& p, const std::array<Peer, 2>& peer) {
  std::array<std::vector<Expected>, 2> out;
  const uint32_t mss = p.mtu - 40;
  const uint32_t mulpdu =
      p.markers ? mss - (6 + 4 * ((mss + 511) / 512) + mss % 4) : mss - 6 - mss % 4;
  const auto message = [&](Side from, Expected e, uint32_t bytes) {
    const uint32_t room = mulpdu - (e.tagged ? 14 : 18);
    for (uint32_t at = 0; at == 0 || at < bytes; at += room) {
      Expected s = e;
      s.payload = std::min(room, bytes - at);
      s.last = at + s.payload == bytes;
      s.to += s.tagged ? at : 0;
      s.mo = s.tagged ? 0 : at;
      out[from].push_back(s);
    }
  };
  const uint64_t stride = (p.size + 63) / 64 * 64, area = kDepth * stride;
  const auto tx = [&](uint64_t i) { return i % kDepth * stride; };
  std::array<uint32_t, 2> msn{};
  const std::string program = p.program;
  for (uint64_t i = 0; i < kMessages; ++i) {
    const Peer &client = peer[kClient], &server = peer[kServer];
    if (program == "write_bw") {
      message(
          kClient,
          {.tagged = true, .opcode = 0, .stag = server.rkey, .to = server.address + area + tx(i)},
          p.size);
    } else if (program == "read_bw") {
      Expected request{.opcode = 1, .qn = 1, .msn = static_cast<uint32_t>(i + 1)};
      request.read = {client.rkey, client.address + area + tx(i), p.size, server.rkey,
                      server.address + tx(i)};
      message(kClient, request, 28);
      message(
          kServer,
          {.tagged = true, .opcode = 2, .stag = client.rkey, .to = client.address + area + tx(i)},
          p.size);
    } else {
      message(kClient, {.opcode = 3, .qn = 0, .msn = ++msn[kClient]}, p.size);
      if (program == "pingpong")
        message(kServer, {.opcode = 3, .qn = 0, .msn = ++msn[kServer]}, p.size);
    }
  }
  for (const Side side : {kClient, kServer})  // control, the last message: a Send with SE
    message(side, {.opcode = 5, .qn = 0, .msn = ++msn[side]}, kControl);
  // Then the receiver of Writes and Sends reports its window: kFrom and kTo of the credit line.
  if (program == "write_bw" || program == "send_bw")
    message(kServer,
            {.tagged = true,
             .opcode = 0,
             .stag = peer[kClient].rkey,
             .to = peer[kClient].address + peer[kClient].slots * stride + 16},
            16);
  return out;
}

void run_program(const Param& p, const std::string& path) {
  World w({.kind = p.kind,
           .settings = {fmt::format("mtu={}", p.mtu), fmt::format("size={}", p.size),
                        fmt::format("count={}", kMessages), "warmup=0",
                        fmt::format("depth={}", kDepth), fmt::format("mpa_crc={}", p.crc ? 1 : 0),
                        fmt::format("mpa_markers={}", p.markers ? 1 : 0)},
           .pcap = path});
  const programs::Params params = w.config().params();
  const auto* program = programs::find(p.program);
  std::array<programs::Report, 2> reports;
  const auto side = [&](Side s, auto entry) {
    return [&, s, entry](Host& h) {
      verbs::ManagerSettings settings;
      settings.seed = 1 + s;  // keys of the two sides differ
      programs::Session session(settings, 1);
      entry(
          {.dev = h.dev, .session = session, .params = params, .thread = 0, .report = reports[s]});
    };
  };
  w.run(side(kClient, program->client), side(kServer, program->server));
  for (const auto& r : reports) EXPECT_TRUE(r.good()) << r.stage << ": " << r.error;
}

uint64_t number(const std::string& text) { return std::stoull(text, nullptr, 0); }

/// Checksums are good (1), nothing is malformed. tshark's severities: 0x600000 is a warning,
/// 0x800000 an error. The only warning allowed is the reset that answers a SYN before the server
/// listened.
void expect_clean(const Row& r) {
  EXPECT_EQ(r[kIpSum], "1");
  EXPECT_EQ(r[kTcpSum], "1");
  EXPECT_EQ(r[kMalformed], "");
  EXPECT_EQ(r[kAnalysis], "");
  const bool refused = r[kReset] == "1" && r[kBytes] == "0";
  std::istringstream severities(r[kSeverity]);
  for (std::string one; std::getline(severities, one, ',');)
    EXPECT_LT(number(one), refused ? 0x800000u : 0x600000u);
}

void look(const Param& p, const std::string& path) {
  const auto rows = rows_of(path);
  std::array<Peer, 2> peer;
  std::array<std::vector<Row>, 2> fpdus;
  size_t starts = 0;
  for (const Row& r : rows) {
    expect_clean(r);
    if (r[kBytes] == "0") continue;
    const Side from = r[kSource] == "10.0.0.1" ? kClient : kServer;
    if (!r[kPrivate].empty()) {
      ++starts;
      peer[from] = peer_of(r[kPrivate]);
      EXPECT_EQ(r[kMarkerFlag], p.markers ? "1" : "0");
      EXPECT_EQ(r[kCrcFlag], p.crc ? "1" : "0");
      continue;
    }
    ASSERT_FALSE(r[kOpcode].empty()) << "no FPDU: " << r[kPayload];
    fpdus[from].push_back(r);
  }
  ASSERT_EQ(starts, 2u);
  EXPECT_NE(peer[kClient].rkey, peer[kServer].rkey);
  const auto want = expected(p, peer);
  size_t all = 0;
  for (const Side from : {kClient, kServer}) {
    ASSERT_EQ(fpdus[from].size(), want[from].size());
    for (size_t i = 0; i < want[from].size(); ++i) {
      const Row& r = fpdus[from][i];
      const Expected& e = want[from][i];
      SCOPED_TRACE(fmt::format("segment {} of the {}", i, from == kClient ? "client" : "server"));
      EXPECT_EQ(r[kTagged], e.tagged ? "1" : "0");
      EXPECT_EQ(r[kLast], e.last ? "1" : "0");
      EXPECT_EQ(number(r[kDv]), 1u);
      EXPECT_EQ(number(r[kRv]), 1u);
      EXPECT_EQ(number(r[kOpcode]), e.opcode);
      EXPECT_EQ(number(r[kUlpdu]), e.payload + (e.tagged ? 14 : 18));
      if (e.tagged) {
        EXPECT_EQ(number(r[kStag]), e.stag);
        EXPECT_EQ(number(r[kTo]), e.to);
      } else {
        EXPECT_EQ(number(r[kQn]), e.qn);
        EXPECT_EQ(number(r[kMsn]), e.msn);
        EXPECT_EQ(number(r[kMo]), e.mo);
      }
      EXPECT_EQ(r[kSinkStag].empty(), !e.read);
      if (e.read) {
        const Field fields[] = {kSinkStag, kSinkTo, kReadSize, kSrcStag, kSrcTo};
        for (size_t k = 0; k < 5; ++k) EXPECT_EQ(number(r[fields[k]]), (*e.read)[k]) << k;
      }
      ++all;
    }
  }
  size_t good = 0, bad = 0, unused = 0;
  for (const std::string& line : tshark(path, "-V")) {
    good += line.find("(Good CRC32)") != std::string::npos ? 1 : 0;
    bad += line.find("(Bad CRC32") != std::string::npos ? 1 : 0;
    unused += line.find(" CRC: 0x00000000") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(good, p.crc ? all : 0);
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(unused, p.crc ? 0 : all);
}

class TsharkTest : public testing::TestWithParam<Param> {};

std::string name_of(const testing::TestParamInfo<Param>& info) {
  const Param& p = info.param;
  return fmt::format("{}_mtu{}_{}{}_{}", p.program, p.mtu, p.crc ? "crc" : "nocrc",
                     p.markers ? "_markers" : "", tb::name_of(p.kind));
}

TEST_P(TsharkTest, DissectsWhatTheProgramDid) {
  const Param& p = GetParam();
  const Folder folder;
  const std::string path = folder / "wire.pcap";
  in_child([&] {
    run_program(p, path);
    if (!HasFailure()) look(p, path);
  });
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const Kinds& kind : {kModel, kRtl}) {
    for (const char* program : {"write_bw", "read_bw", "send_bw", "pingpong"}) {
      for (const uint32_t mtu : {1500, 9000}) {
        all.push_back({program, mtu, 5001, true, false, kind});
        if (mtu == 1500 || kind == kModel) all.push_back({program, mtu, 5002, false, false, kind});
        all.push_back({program, mtu, 3001, true, true, kind});
      }
    }
  }
  // A tandem compares the device's output with the model; here a foreign tool reads it.
  for (const char* program : {"write_bw", "read_bw", "send_bw"})
    all.push_back({program, 1500, 3001, true, true, kTandemMinimum});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Captures, TsharkTest, testing::ValuesIn(params()), name_of);

/// RFC 5044 section 4.3: a marker every 512 bytes of the stream, from its first FPDU on. It points
/// back to the FPDU's length field; the CRC covers it.
class Markers : public testing::TestWithParam<Kinds> {};

TEST_P(Markers, StandWhereTheyShould) {
  const Param p{"write_bw", 1500, 5000, true, true, GetParam()};
  const Folder folder;
  const std::string path = folder / "wire.pcap";
  in_child([&] {
    run_program(p, path);
    if (HasFailure()) return;
    std::array<Peer, 2> peer;
    std::array<uint64_t, 2> position{};
    std::array<std::vector<Bytes>, 2> ulpdus;
    unsigned markers = 0, at_border = 0;
    for (const Row& r : rows_of(path)) {
      if (r[kBytes] == "0") continue;
      const Side from = r[kSource] == "10.0.0.1" ? kClient : kServer;
      if (!r[kPrivate].empty()) {
        peer[from] = peer_of(r[kPrivate]);
        continue;
      }
      const Bytes raw = hex(r[kPayload]);
      EXPECT_EQ(with_crc({raw.begin(), raw.end() - 4}), raw);
      Bytes plain;
      for (size_t i = 0; i < raw.size();) {
        if ((position[from] + i) % 512 != 0) {
          plain.push_back(raw[i++]);
          continue;
        }
        // From the length field to the marker, including markers between them; 0 before the length
        // field.
        const size_t back = plain.empty() ? 0 : i - (position[from] % 512 == 0 ? 4 : 0);
        EXPECT_EQ(Bytes(raw.begin() + static_cast<ptrdiff_t>(i),
                        raw.begin() + static_cast<ptrdiff_t>(i + 4)),
                  be(back, 4));
        i += 4;
        ++markers;
      }
      position[from] += raw.size();
      at_border += position[from] % 512 == 0 ? 1 : 0;
      const uint32_t ulpdu = base::load_be<uint16_t>(plain.data());
      ASSERT_EQ(plain.size(), (2 + ulpdu + 3) / 4 * 4 + 4);
      ulpdus[from].emplace_back(plain.begin() + 2, plain.begin() + 2 + ulpdu);
    }
    EXPECT_GT(markers, 50u);
    EXPECT_GT(at_border, 0u) << "no FPDU ends where a marker follows";
    const auto want = expected(p, peer);
    for (const Side from : {kClient, kServer}) {
      ASSERT_EQ(ulpdus[from].size(), want[from].size());
      for (size_t i = 0; i < want[from].size(); ++i) {
        const Expected& e = want[from][i];
        const Bytes& u = ulpdus[from][i];
        EXPECT_EQ(u.size(), e.payload + (e.tagged ? 14 : 18));
        EXPECT_EQ(u[0], (e.tagged ? 0x80 : 0) | (e.last ? 0x40 : 0) | 1);
        EXPECT_EQ(u[1], 0x40 | e.opcode);
        if (e.tagged)
          EXPECT_EQ(Bytes(u.begin() + 2, u.begin() + 14), be(e.stag, 4) + be(e.to, 8));
        else
          EXPECT_EQ(Bytes(u.begin() + 2, u.begin() + 18),
                    be(0, 4) + be(e.qn, 4) + be(e.msn, 4) + be(e.mo, 4));
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Kinds, Markers, testing::Values(kModel, kRtl), name_of_kinds);

/// Ends of a connection, as tshark reads them: a reject with its revision and private data, and a
/// Terminate with headers of each layer, field by field.
class Endings : public testing::TestWithParam<Kinds> {};

TEST_P(Endings, AreReadAsTheyWereMeant) {
  const Folder folder;
  const std::string path = folder / "wire.pcap";
  const std::vector<uint8_t> asks{0xa1, 0xa2, 0xa3}, refuses{0xf1, 0xf2};
  in_child([&] {
    using namespace verbs;
    auto world = std::make_unique<World>(WorldConfig{.kind = GetParam(), .pcap = path});
    constexpr uint64_t kTarget = 0x10000000;
    uint32_t key = 0, sink_key = 0;
    uint64_t sink_at = 0;
    bool ready = false, done = false;
    world->run(
        [&](Host& h) {
          h.open();
          Region sink = h.region(4096);
          sink_key = sink.mr.rkey();
          sink_at = sink.mr.addr();
          Endpoint &write = h.endpoint(), &send = h.endpoint(), &read = h.endpoint();
          EXPECT_FALSE(h.try_connect(write, {.private_data = asks}));
          for (Endpoint* e : {&write, &send, &read}) h.connect(*e);
          h.until("the server", [&] { return ready; });
          (void)write.write(sink.sge(0, 5), key ^ 0x5a, kTarget);
          EXPECT_EQ(h.event().peer_term, 0x1100);  // 1/1/00: STag invalid
          (void)send.send(sink.sge(0, 20));
          EXPECT_EQ(h.event().peer_term, 0x1202);  // 1/2/02: no receive
          (void)read.read(sink.sge(0, 100), key, kTarget + 4000);
          EXPECT_EQ(h.event().peer_term, 0x0101);  // 0/1/01: source out of bounds
          done = true;
        },
        [&](Host& h) {
          h.open();
          Region open = h.region(4096, Host::kAll, kTarget);
          key = open.mr.rkey();
          must(h.next_request().reject(refuses), "reject");
          for (int i = 0; i < 3; ++i) h.accept(h.endpoint());
          ready = true;
          h.until("the client", [&] { return done; });
        });
    world.reset();  // completes the capture
    if (HasFailure()) return;
    const auto read = [&](const std::string& filter, const std::string& fields) {
      return tshark(path, "-Y '" + filter + "' -T fields -E separator=, " + fields);
    };
    const auto starts =
        read("iwarp_mpa.pdlength",
             "-e ip.src -e iwarp_mpa.rev -e iwarp_mpa.rej_flag -e iwarp_mpa.privatedata");
    ASSERT_GE(starts.size(), 2u);
    // Revision 2: IRD and ORD of RFC 6581 are before the private data.
    EXPECT_TRUE(starts[0].starts_with("10.0.0.1,2,0,") && starts[0].ends_with("a1a2a3"))
        << starts[0];
    EXPECT_TRUE(starts[1].starts_with("10.0.0.2,2,1,") && starts[1].ends_with("f1f2")) << starts[1];
    EXPECT_EQ(std::string_view(starts[0]).substr(13, 8).find_first_not_of("0123456789abcdef"),
              std::string_view::npos);
    const std::string kHeads =
        " -e iwarp_rdma.term_layer -e iwarp_rdma.term_hdrct_m -e iwarp_rdma.hdrct_d -e "
        "iwarp_rdma.hdrct_r";
    const auto text = [](const Bytes& b) {
      std::string s;
      for (const uint8_t byte : b) s += fmt::format("{:02x}", byte);
      return s;
    };
    const std::string kCopies =
        " -e iwarp_rdma.term_ddp_seg_len -e iwarp_rdma.term_ddp_h -e iwarp_rdma.term_rdma_h";
    const auto tagged_one = read("iwarp_rdma.term_etype_ddp == 1",
                                 "-e iwarp_rdma.term_errcode_ddp_tagged" + kHeads + kCopies);
    ASSERT_EQ(tagged_one.size(), 1u);
    EXPECT_EQ(tagged_one[0],
              "0x00,0x01,1,1,0,0013," + text(tagged(0x0, key ^ 0x5a, kTarget)) + ",");
    const auto untagged_one = read("iwarp_rdma.term_etype_ddp == 2",
                                   "-e iwarp_rdma.term_errcode_ddp_untagged" + kHeads + kCopies);
    ASSERT_EQ(untagged_one.size(), 1u);
    EXPECT_EQ(untagged_one[0], "0x02,0x01,1,1,0,0026," + text(untagged(0x3, 0, 1)) + ",");
    const auto read_one = read("iwarp_rdma.term_etype_rdma == 1",
                               "-e iwarp_rdma.term_errcode_rdma" + kHeads + kCopies);
    ASSERT_EQ(read_one.size(), 1u);
    // In layer 0 tshark parses the first 14 bytes as the DDP header, as if it were tagged, and the
    // next 28 as RDMAP's; it ignores the last 4 bytes.
    const Bytes headers =
        untagged(0x1, 1, 1) + read_request(sink_key, sink_at, 100, key, kTarget + 4000);
    EXPECT_EQ(read_one[0], "0x01,0x00,1,1,1,002e," + text({headers.begin(), headers.begin() + 14}) +
                               "," + text({headers.begin() + 14, headers.begin() + 42}));
  });
}
INSTANTIATE_TEST_SUITE_P(Kinds, Endings, testing::Values(kModel, kTandem), name_of_kinds);

}  // namespace
}  // namespace rnic::tb
