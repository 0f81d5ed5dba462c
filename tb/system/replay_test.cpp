// Captures of a foreign stack are replayed into a whole device, model and RTL, on either side. Its
// answers and its memory writes must equal the listing, which is the only reference. Each replay is
// a child process.
#include "replay/replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "replay/load.hpp"
#include "replay/make_plan.hpp"
#include "replay/player.hpp"
#include "run/run_child.hpp"
#include "support/folder.hpp"

namespace rnic::app {
namespace {

std::string path_of(const std::string& name) {
  return std::string(RNIC_CAPTURES) + "/" + name + ".json";
}

ReplayRequest request(const std::string& listing, const std::string& side,
                      const std::string& kind) {
  ReplayRequest r;
  r.listing = listing;
  r.side = side;
  r.kind = {kind, kind};
  return r;
}

Bytes bytes_of(const std::string& hex) {
  Bytes b;
  for (size_t i = 0; i < hex.size(); i += 2)
    b.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return b;
}

struct Case {
  const char *listing, *side, *kind;
  uint64_t answers;  // of our device, counted in the listing by hand
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string s = std::string(info.param.listing) + "_" + info.param.side + "_" + info.param.kind;
  for (char& c : s) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return s;
}

class ReplayTest : public testing::TestWithParam<Case> {};

TEST_P(ReplayTest, AnswersAndPlacesAsListed) {
  const ReplayRequest r = request(path_of(GetParam().listing), GetParam().side, GetParam().kind);
  const Outcome out = replay_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure << "reproduce: " << reproduce(r);
  ASSERT_TRUE(out.json.contains("answered"));
  EXPECT_EQ(out.json["answered"].get<uint64_t>(), GetParam().answers);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : {"model", "rtl", "tandem"}) {
    all.push_back({"rping-client-crc", "responder", kind, 21});
    all.push_back({"rping-client-crc", "initiator", kind, 16});
    all.push_back({"rping-server-crc", "initiator", kind, 16});
    all.push_back({"rping-server-crc", "responder", kind, 21});
    all.push_back({"op-recv-tagged", "siw", kind, 5});
    all.push_back({"op-recv-tagged", "tester", kind, 9});
    all.push_back({"op-send-tagged", "siw", kind, 9});
    all.push_back({"op-send-tagged", "tester", kind, 6});
    all.push_back({"wire-rping", "responder", kind, 18});
    all.push_back({"wire-rping", "initiator", kind, 14});
    all.push_back({"nfs-remote-invalidation", "siw", kind, 4});
    all.push_back({"nfs-revoked-key", "siw", kind, 5});
    all.push_back({"op-refused-invalidations", "siw", kind, 6});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Captures, ReplayTest, testing::ValuesIn(cases()), name_of);

class ReplayOnBoth : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, ReplayOnBoth, testing::Values("model", "rtl", "tandem"),
                         [](const auto& info) { return std::string(info.param); });

/// The last answer is a Terminate with this cause (layer/type/code); earlier ones are as listed.
void expect_terminate(const Outcome& out, const std::string& cause) {
  EXPECT_EQ(out.status, kMismatch);
  ASSERT_TRUE(out.json.contains("connections")) << out.failure;
  const auto& answers = out.json["connections"][0]["answers"];
  ASSERT_FALSE(answers.empty());
  for (size_t i = 0; i + 1 < answers.size(); ++i)
    EXPECT_TRUE(answers[i]["same"].get<bool>()) << answers[i];
  const std::string last = answers.back()["what"];
  EXPECT_TRUE(last.starts_with("terminate")) << last;
  EXPECT_NE(last.find("cause=" + cause), std::string::npos) << last;
}

size_t receives_of(const Outcome& out) {
  size_t n = 0;
  for (const auto& w : out.json["connections"][0]["written"])
    n += w["where"].get<std::string>().starts_with("receive") ? 1 : 0;
  return n;
}

/// All six Sends, two of which invalidate a region that siw has advertised.
TEST_P(ReplayOnBoth, SendsWithInvalidateArrive) {
  const Outcome out = replay_child(request(path_of("op-recv-sends"), "siw", GetParam()));
  EXPECT_EQ(out.status, kGood) << out.failure;
  EXPECT_EQ(receives_of(out), 6u);
}

/// The same, played into the side that sends them.
TEST_P(ReplayOnBoth, SendsWithInvalidateLeave) {
  const Outcome out = replay_child(request(path_of("op-recv-sends"), "tester", GetParam()));
  EXPECT_EQ(out.status, kGood) << out.failure;
}

/// The same listing without Invalidate, to reach the units after it: the empty Send and the Send of
/// three segments.
TEST_P(ReplayOnBoth, SendsWithoutInvalidateArriveWhole) {
  std::ifstream in(path_of("op-recv-sends"));
  auto j = nlohmann::json::parse(in);
  uint32_t taken = 0;
  nlohmann::json units = nlohmann::json::array();
  for (auto& u : j["units"]) {
    const auto name = u["decode"].value("/rdmap/name"_json_pointer, "");
    if (name.find("Invalidate") != std::string::npos) {
      ++taken;
      continue;
    }
    if (taken != 0) {
      Bytes fpdu = bytes_of(u["hex"]);
      // Renumbers the MSN without gaps.
      base::store_be(&fpdu[12], base::load_be<uint32_t>(&fpdu[12]) - taken);
      u["hex"] = hex_of(with_good_crc(fpdu));
    }
    units.push_back(u);
  }
  ASSERT_EQ(taken, 2u);
  j["units"] = units;
  const tb::Folder folder;
  const std::string path = folder / "sends.json";
  std::ofstream(path) << j.dump();
  const Outcome out = replay_child(request(path, "siw", GetParam()));
  EXPECT_EQ(out.status, kGood) << out.failure;
  EXPECT_EQ(receives_of(out), 4u);
}

/// A bad CRC stays bad although an STag before it is replaced: the device reports it (MPA: layer 2,
/// type 0, code 2).
TEST_P(ReplayOnBoth, BadCrcStaysBad) {
  std::ifstream in(path_of("op-recv-tagged"));
  auto j = nlohmann::json::parse(in);
  std::string hex = j["units"][2]["hex"];
  hex.back() = hex.back() == '0' ? '1' : '0';
  j["units"][2]["hex"] = hex;
  const tb::Folder folder;
  const std::string path = folder / "bad_crc.json";
  std::ofstream(path) << j.dump();
  expect_terminate(replay_child(request(path, "siw", GetParam())), "2/0/02");
}

// --- listings of other tools, made from ours by small edits

nlohmann::json listing_of(const std::string& name) {
  std::ifstream in(path_of(name));
  return nlohmann::json::parse(in);
}

Outcome play(const nlohmann::json& j, const std::string& side, const std::string& kind) {
  const tb::Folder folder;
  const std::string path = folder / "foreign.json";
  std::ofstream(path) << j.dump(1);
  return replay_child(request(path, side, kind));
}

/// Neither side requests a CRC, and each sender writes any value in its field.
nlohmann::json without_crc(const std::string& name, uint32_t left) {
  auto j = listing_of(name);
  for (auto& u : j["units"]) {
    Bytes b = bytes_of(u["hex"]);
    if (u["kind"] == "mpa") {
      b[16] &= 0xbf;
    } else {
      base::store_be(&b[b.size() - 4], left);
    }
    u["hex"] = hex_of(b);
  }
  return j;
}

TEST_P(ReplayOnBoth, ListingsWithoutCrcPlayAsThoseWith) {
  for (const char* name : {"rping-client-crc", "rping-server-crc"}) {
    for (const uint32_t left : {0u, 0xdeadbeefu}) {
      for (const char* side : {"initiator", "responder"}) {
        SCOPED_TRACE(fmt::format("{} as {}, {:#x}", name, side, left));
        const Outcome with = replay_child(request(path_of(name), side, GetParam()));
        const Outcome out = play(without_crc(name, left), side, GetParam());
        EXPECT_EQ(out.status, kGood) << out.failure;
        EXPECT_EQ(out.json["answered"], with.json["answered"]);
        EXPECT_EQ(out.json["checks"], with.json["checks"]);
      }
    }
  }
}

TEST(Replay, FindsChangedByteWithoutCrc) {
  auto j = without_crc("op-recv-tagged", 0);
  Bytes fpdu = bytes_of(j["units"][12]["hex"]);
  fpdu[16 + 50] ^= 0x20;
  j["units"][12]["hex"] = hex_of(fpdu);
  const Outcome out = play(j, "siw", "model");
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_NE(out.failure.find("payload byte 50"), std::string::npos) << out.failure;
}

/// Cut anywhere after start-up: the connection is still up, requests have no answer yet, messages
/// are incomplete.
TEST_P(ReplayOnBoth, ListingsThatEndWithTheConnectionUpPlay) {
  for (const char* name : {"op-recv-tagged", "op-send-tagged"}) {
    const auto whole = listing_of(name);
    const size_t step = std::string(GetParam()) == "model" ? 1 : 4;
    for (size_t n = 3; n < whole["units"].size(); n += step) {
      for (const char* side : {"siw", "tester"}) {
        SCOPED_TRACE(fmt::format("{} as {}, {} units", name, side, n));
        auto j = whole;
        j["units"].erase(j["units"].begin() + static_cast<std::ptrdiff_t>(n), j["units"].end());
        j["note"] = "";  // its sums are those of the whole run
        if (n % 3 == 0) j.erase("ended");
        if (n % 3 == 1) j["ended"] = nullptr;
        if (n % 3 == 2) j["ended"] = "still up";
        const Outcome out = play(j, side, GetParam());
        EXPECT_EQ(out.status, kGood) << out.failure;
        EXPECT_EQ(out.json["warnings"].size(), n % 3 == 2 ? 1u : 0u);
      }
    }
  }
}

/// The end of a listing never hides a Terminate.
TEST(Replay, WhatTheEndOfAListingDoesNotExplainIsADifference) {
  auto j = listing_of("op-recv-tagged");
  auto& units = j["units"];
  units.erase(units.begin() + 3, units.end());
  j["note"] = "";
  Bytes fpdu = bytes_of(units[2]["hex"]);
  fpdu.back() ^= 1;
  units[2]["hex"] = hex_of(fpdu);
  j["ended"] = "still up";
  expect_terminate(play(j, "siw", "model"), "2/0/02");
}

TEST_P(ReplayOnBoth, NotesRawBytesAndKeysOfAReaderPlay) {
  auto j = listing_of("rping-client-crc");
  j["notes"] = {"of mine"};
  j["tool"] = {{"name", "a reader's"}, {"units", 3}};
  auto units = nlohmann::json::array();
  for (auto& u : j["units"]) {
    u["seen_at"] = 12.5;
    u["raw"] = "00ff";
    if (units.size() % 3 == 0) u["kind"] = "raw";  // replay derives the kind from the bytes
    units.push_back(u);
    if (units.size() == 5) units.push_back({{"kind", "remark"}, {"text", "here it begins"}});
  }
  j["units"] = units;
  const Outcome out = play(j, "responder", GetParam());
  EXPECT_EQ(out.status, kGood) << out.failure;
  EXPECT_EQ(out.json["answered"], 21);
  std::string all;
  for (const auto& w : out.json["warnings"]) all += w.get<std::string>() + "\n";
  for (const char* what : {"unknown key \"notes\", did you mean note?", "unknown key \"tool\"",
                           "unknown key \"seen_at\"", "unknown key \"raw\"",
                           "a unit of kind \"remark\" is not played; mpa, fpdu and raw are"})
    EXPECT_NE(all.find(what), std::string::npos) << all;
  EXPECT_EQ(out.json["warnings"].size(), 5u) << all;  // each once
}

/// Raw bytes that are no FPDU go to the device unchanged: it reacts as RFC 5044 requires.
TEST(Replay, RawBytesOfThePeerGoToTheDevice) {
  auto j = listing_of("op-recv-tagged");
  auto& units = j["units"];
  units.erase(units.begin() + 3, units.end());
  j["note"] = "";
  Bytes fpdu = bytes_of(units[2]["hex"]);
  fpdu.resize(fpdu.size() - 4);  // shorter than its length field
  units[2]["hex"] = hex_of(fpdu);
  units[2]["kind"] = "raw";
  const Outcome out = play(j, "siw", "model");
  EXPECT_NE(out.status, kNoProgress) << out.failure;
  EXPECT_NE(out.status, kWrongUse) << out.failure;
}

/// Revision 2 with its S bit requires at least 4 bytes of private data (RFC 6581 section 6).
nlohmann::json refused_request() {
  auto j = listing_of("rping-client-crc");
  Bytes request = bytes_of(j["units"][0]["hex"]);
  request.resize(20 + 2);
  base::store_be<uint16_t>(&request[18], 2);
  j["units"][0]["hex"] = hex_of(request);
  return j;
}

TEST_P(ReplayOnBoth, ARequestThatIsRefusedIsAnsweredByAClose) {
  auto j = refused_request();
  auto& units = j["units"];
  units.erase(units.begin() + 1, units.end());
  j["ended"] = "closed by siw";
  const Outcome as_listed = play(j, "siw", GetParam());
  EXPECT_EQ(as_listed.status, kGood) << as_listed.failure;
  EXPECT_EQ(as_listed.json["checks"], 1);
  j.erase("ended");
  EXPECT_EQ(play(j, "responder", GetParam()).status, kGood);
  j["ended"] = "closed by tester";
  const Outcome other = play(j, "responder", GetParam());
  EXPECT_EQ(other.status, kMismatch);
  EXPECT_NE(other.failure.find("the listing says that tester closes"), std::string::npos)
      << other.failure;
}

TEST_P(ReplayOnBoth, ACloseWhereTheListingHasAReplyIsADifference) {
  const Outcome out = play(refused_request(), "siw", GetParam());
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_NE(out.failure.find(
                "our device closes the connection at unit 0, a Request that it does not take"),
            std::string::npos)
      << out.failure;
}

TEST_P(ReplayOnBoth, AGoodRequestIsTakenWhereTheListingCloses) {
  auto j = listing_of("rping-client-crc");
  j["units"].erase(j["units"].begin() + 1, j["units"].end());
  j["ended"] = "closed by siw";
  const Outcome out = play(j, "siw", GetParam());
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_NE(out.failure.find("our device goes on"), std::string::npos) << out.failure;
}

TEST_P(ReplayOnBoth, OurRequestIsClosedOrRejectedAsListed) {
  auto j = listing_of("rping-server-crc");
  auto& units = j["units"];
  units.erase(units.begin() + 2, units.end());
  for (const char* side : {"initiator", "responder"}) {
    auto rejected = j;
    Bytes reply = bytes_of(units[1]["hex"]);
    reply[16] = 0x30;  // rejects, with IRD and ORD 0, as our driver does
    reply[21] = reply[23] = 0;
    rejected["units"][1]["hex"] = hex_of(reply);
    rejected.erase("ended");
    const Outcome out = play(rejected, side, GetParam());
    EXPECT_EQ(out.status, kGood) << side << ": " << out.failure;
  }
  units.erase(units.begin() + 1, units.end());
  j["ended"] = "closed by tester";
  const Outcome out = play(j, "initiator", GetParam());
  EXPECT_EQ(out.status, kGood) << out.failure;
}

// --- Flush: captures of our own programs

/// The wire traffic of a program, on two models.
Listing capture_of(const std::string& program, std::vector<std::pair<std::string, std::string>> set,
                   const tb::Folder& folder) {
  RunRequest r;
  r.program = program;
  for (const auto& [name, value] : set) r.config.set(name, value, "test");
  r.pcap = folder / "wire.pcap";
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure;
  return load_listing(r.pcap);
}

nlohmann::json json_of(const Listing& l) {
  nlohmann::json j{
      {"units", nlohmann::json::array()},
      {"ended", l.initiator_closes.value() ? "closed by initiator" : "closed by responder"}};
  for (const Unit& u : l.units)
    j["units"].push_back({{"n", u.n},
                          {"connection", u.connection},
                          {"from", u.from_initiator ? "initiator" : "responder"},
                          {"kind", u.is_mpa ? "mpa" : "fpdu"},
                          {"hex", hex_of(u.bytes)}});
  return j;
}

size_t flushes_of(const Listing& l) {
  return static_cast<size_t>(std::ranges::count_if(l.units, [](const Unit& u) {
    const auto s = parse_fpdu(u.bytes);
    return !u.is_mpa && s && s->opcode == spec::RdmapOpcode::kFlushRequest;
  }));
}

/// Changes the Flush Request of a unit; false if it has none.
bool change_flush(Unit& u, const std::function<void(spec::FlushRequest&)>& change) {
  const auto s = parse_fpdu(u.bytes);
  if (u.is_mpa || !s || s->opcode != spec::RdmapOpcode::kFlushRequest) return false;
  auto f = spec::FlushRequest::unpack(s->payload);
  change(f);
  f.pack(std::span(u.bytes).subspan(2 + spec::kUntaggedHeaderBytes));
  u.bytes = with_good_crc(u.bytes);
  return true;
}

TEST_P(ReplayOnBoth, FlushOfACapturePlaysIntoEitherSide) {
  const tb::Folder folder;
  for (const auto& [program, setting] :
       {std::pair{"flush_lat", std::pair{"warmup", "2"}}, {"write_flush_bw", {"depth", "1"}}}) {
    const Listing l = capture_of(program, {{"count", "8"}, setting}, folder);
    EXPECT_GE(flushes_of(l), 8u);
    Listing persistent = l;  // the programs flush to visibility
    for (Unit& u : persistent.units)
      change_flush(u, [](auto& f) { f.flags = spec::kFlushPersistent; });
    for (const char* side : {"initiator", "responder"}) {
      SCOPED_TRACE(fmt::format("{} as {}", program, side));
      ReplayRequest r = request(folder / "wire.pcap", side, GetParam());
      r.seed = 9;  // STags differ from those of the capture
      const Outcome out = replay_child(r);
      EXPECT_EQ(out.status, kGood) << out.failure;
      EXPECT_GE(out.json["answered"].get<uint64_t>(), flushes_of(l) + 1);
      // As a listing, and cut within it: a Flush at the end of the cut has no answer.
      auto j = json_of(persistent);
      const Outcome whole = play(j, side, GetParam());
      EXPECT_EQ(whole.status, kGood) << whole.failure;
      j["units"].erase(j["units"].begin() + 4, j["units"].end());
      j.erase("ended");
      const Outcome cut = play(j, side, GetParam());
      EXPECT_EQ(cut.status, kGood) << cut.failure;
    }
  }
}

/// Replays a capture with its first Flush Request changed; returns the device's answer.
Outcome play_flush(const std::string& kind, const std::string& side,
                   const std::function<void(spec::FlushRequest&)>& change) {
  const tb::Folder folder;
  Listing l = capture_of("flush_lat", {{"count", "2"}, {"warmup", "1"}}, folder);
  for (Unit& u : l.units) {
    if (change_flush(u, change)) break;
  }
  return play(json_of(l), side, kind);
}

TEST_P(ReplayOnBoth, AnEmptyFlushIsAnOrderingPoint) {
  for (const char* side : {"initiator", "responder"}) {
    const Outcome out = play_flush(GetParam(), side, [](auto& f) { f.length = 0; });
    EXPECT_EQ(out.status, kGood) << side << ": " << out.failure;
  }
}

TEST_P(ReplayOnBoth, AFlushWithoutFlagsDrawsTerminate) {
  expect_terminate(play_flush(GetParam(), "responder", [](auto& f) { f.flags = 0; }), "0/2/07");
}

TEST(Replay, FindsChangedFlushResponse) {
  const tb::Folder folder;
  Listing l = capture_of("flush_lat", {{"count", "2"}, {"warmup", "1"}}, folder);
  for (Unit& u : l.units) {
    const auto s = parse_fpdu(u.bytes);
    if (u.is_mpa || !s || s->opcode != spec::RdmapOpcode::kFlushResponse) continue;
    base::store_be<uint32_t>(&u.bytes[12], s->msn + 1);
    u.bytes = with_good_crc(u.bytes);
    break;
  }
  const Outcome out = play(json_of(l), "responder", "model");
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_NE(out.failure.find("the MSN is 0x1, the listing has 0x2"), std::string::npos)
      << out.failure;
}

// --- Immediate Data: captures of our own programs

size_t immediates_of(const Listing& l) {
  return static_cast<size_t>(std::ranges::count_if(l.units, [](const Unit& u) {
    const auto s = parse_fpdu(u.bytes);
    return !u.is_mpa && s && is_immediate(s->opcode);
  }));
}

/// Write with Immediate, and Immediate Data alone. The whole capture plays into models; RTL gets
/// its first units.
TEST_P(ReplayOnBoth, ImmediateDataOfACapturePlaysIntoEitherSide) {
  constexpr std::ptrdiff_t kFirstUnits = 42;
  const tb::Folder folder;
  for (const char* program : {"write_imm_bw", "send_imm_lat"}) {
    const Listing l = capture_of(program, {{"count", "5"}, {"warmup", "1"}}, folder);
    EXPECT_GE(immediates_of(l), 6u);
    auto j = json_of(l);
    auto& units = j["units"];
    if (std::string(GetParam()) != "model" && units.size() > kFirstUnits) {
      units.erase(units.begin() + kFirstUnits, units.end());
      j.erase("ended");
    }
    for (const char* side : {"initiator", "responder"}) {
      SCOPED_TRACE(fmt::format("{} as {}", program, side));
      const Outcome out = play(j, side, GetParam());
      EXPECT_EQ(out.status, kGood) << out.failure;
      EXPECT_EQ(out.json["differences"].size(), 0u);
    }
  }
}

TEST(Replay, FindsChangedImmediateData) {
  const tb::Folder folder;
  const Listing l = capture_of("write_imm_bw", {{"count", "5"}, {"warmup", "1"}}, folder);
  // As sent: one byte of the message differs.
  const auto u = std::ranges::find_if(l.units, [](const Unit& x) {
    const auto s = parse_fpdu(x.bytes);
    return !x.is_mpa && s && is_immediate(s->opcode);
  });
  ASSERT_NE(u, l.units.end());
  Message listed, sent;
  ASSERT_TRUE(listed.add(u->bytes));
  Bytes changed = u->bytes;
  changed[2 + spec::kUntaggedHeaderBytes + 3] ^= 0x10;
  ASSERT_TRUE(sent.add(with_good_crc(changed)));
  ASSERT_EQ(differences(listed, sent).size(), 1u);
  EXPECT_TRUE(differences(listed, sent)[0].starts_with("payload byte 3 is "));
  // As received: the completion differs from the plan's.
  const Plan plan = make_plan(l, Endpoint::kResponder, 0);
  ASSERT_TRUE(plan.receives[0].immediate);
  EXPECT_EQ(plan.receives[0].immediate, immediate_of(listed));
  EXPECT_EQ(plan.receives[0].length, 64u);
  verbs::Wc wc;
  wc.opcode = verbs::IBV_WC_RECV_RDMA_WITH_IMM;
  wc.wc_flags = verbs::IBV_WC_WITH_IMM;
  wc.byte_len = 64;
  wc.imm = *plan.receives[0].immediate;
  EXPECT_TRUE(immediate_differences(plan.receives[0], wc).empty());
  verbs::Wc other = wc;
  other.imm ^= 0x1000;
  EXPECT_EQ(immediate_differences(plan.receives[0], other).size(), 1u);
  other = wc;
  other.byte_len = 0;
  EXPECT_EQ(immediate_differences(plan.receives[0], other).size(), 1u);
  other = wc;
  other.opcode = verbs::IBV_WC_RECV;
  other.wc_flags = 0;
  EXPECT_EQ(immediate_differences(plan.receives[0], other).size(), 1u);
}

TEST(Capture, WithAtomicsIsRefused) {
  const tb::Folder folder;
  for (const auto& [program, is] : {std::pair{"atomic_lat", "is an atomic_request: only"},
                                    {"atomic_write_lat", "is an atomic_write_request: only"}}) {
    (void)capture_of(program, {{"count", "1"}, {"warmup", "0"}}, folder);
    for (const char* side : {"initiator", "responder"}) {
      try {
        (void)replay_child(request(folder / "wire.pcap", side, "model"));
        ADD_FAILURE() << program << " is replayed";
      } catch (const Usage& e) {
        EXPECT_NE(std::string(e.what()).find(is), std::string::npos) << e.what();
      }
    }
  }
}

TEST(Capture, ThatCannotBeReadIsRefused) {
  const tb::Folder folder;
  (void)capture_of("flush_lat", {{"count", "1"}, {"warmup", "0"}}, folder);
  std::ifstream in(folder / "wire.pcap", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto said = [&](const std::string& bytes) {
    const std::string path = folder / "some.pcap";
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      const Listing l = load_listing(path);
      return l.warnings.empty() ? std::string() : l.warnings[0];
    } catch (const Usage& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(said(whole), "");
  // Records of the capture, by their start offsets.
  std::vector<size_t> records;
  for (size_t at = 24; at < whole.size();) {
    records.push_back(at);
    uint32_t bytes = 0;
    for (size_t k = 4; k-- > 0;) bytes = bytes << 8 | static_cast<uint8_t>(whole[at + 8 + k]);
    at += 16 + bytes;
  }
  ASSERT_GT(records.size(), 6u);
  const auto has = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  has(said(whole.substr(0, 20)), "a pcap that is cut short");
  has(said(whole.substr(0, whole.size() - 1)), "a pcap that is cut short");
  has(said(whole.substr(0, 24)), "no MPA start frame is in the capture");
  std::string other = whole;
  other[20] = 113;
  has(said(other), "a pcap of link type 113");
  has(said(whole.substr(0, 24) + whole.substr(records[1])), "its SYN is missing");
  std::string lost = whole.substr(0, records[5]) + whole.substr(records[6]);
  for (size_t k = 6; said(lost).empty() && k + 1 < records.size(); ++k)  // a record with data
    lost = whole.substr(0, records[k]) + whole.substr(records[k + 1]);
  has(said(lost), "bytes of a stream are missing or come later");
  std::string markers = whole;
  const size_t start = whole.find("MPA ID Req Frame");
  ASSERT_NE(start, std::string::npos);
  markers[start + 16] = static_cast<char>(markers[start + 16] | 0x80);
  has(said(markers), "a side asks for MPA markers");
}

/// The comparison detects one changed byte in a recorded answer.
TEST(Replay, FindsChangedByte) {
  std::ifstream in(path_of("op-recv-tagged"));
  auto j = nlohmann::json::parse(in);
  Bytes fpdu = bytes_of(j["units"][12]["hex"]);  // a Read Response of 100 bytes
  fpdu[16 + 50] ^= 0x20;
  j["units"][12]["hex"] = hex_of(with_good_crc(fpdu));
  const tb::Folder folder;
  const std::string path = folder / "changed.json";
  std::ofstream(path) << j.dump();
  const Outcome out = replay_child(request(path, "siw", "model"));
  EXPECT_EQ(out.status, kMismatch);
  ASSERT_EQ(out.json["differences"].size(), 1u) << out.failure;
  EXPECT_NE(out.json["differences"][0].get<std::string>().find("payload byte 50"),
            std::string::npos)
      << out.failure;
}

TEST(Remap, ExchangesTheDevicesStagAndRepairsTheCrc) {
  const Listing l = load_listing(path_of("rping-client-crc"));
  const std::map<uint32_t, uint32_t> stags{{0x5a331400, 0x01020304}, {0x11223300, 0x55667788}};
  // Unit 3: siw's Read Request. If siw is the device, its sink is replaced; the source is the
  // tester's.
  const Bytes ours = remap(l.units[3].bytes, stags, Mover::kDevice);
  Message m;
  ASSERT_TRUE(m.add(ours));
  EXPECT_TRUE(m.crc_good);
  EXPECT_EQ(read_request_of(m)->sink_stag, 0x01020304u);
  EXPECT_EQ(read_request_of(m)->source_stag, 0x11223300u);
  // If the tester is the device, the reverse.
  Message peers;
  ASSERT_TRUE(peers.add(remap(l.units[3].bytes, stags, Mover::kPeer)));
  EXPECT_EQ(read_request_of(peers)->sink_stag, 0x5a331400u);
  EXPECT_EQ(read_request_of(peers)->source_stag, 0x55667788u);
  EXPECT_EQ(remap(ours, {{0x01020304, 0x5a331400}}, Mover::kDevice), l.units[3].bytes);
  Bytes bad = l.units[4].bytes;
  bad.back() ^= 0x40;
  Message still_bad;
  ASSERT_TRUE(still_bad.add(remap(bad, stags, Mover::kPeer)));
  EXPECT_EQ(still_bad.head.stag, 0x01020304u);
  EXPECT_FALSE(still_bad.crc_good);
}

TEST(Remap, ExchangesTheStagOfAPeersFlush) {
  const tb::Folder folder;
  const Listing l = capture_of("flush_lat", {{"count", "1"}, {"warmup", "0"}}, folder);
  const auto u = std::ranges::find_if(l.units, [](const Unit& x) {
    const auto s = parse_fpdu(x.bytes);
    return !x.is_mpa && s && s->opcode == spec::RdmapOpcode::kFlushRequest;
  });
  ASSERT_NE(u, l.units.end());
  Message was, is;
  ASSERT_TRUE(was.add(u->bytes));
  const uint32_t stag = flush_request_of(was).value().sink_stag;
  ASSERT_TRUE(is.add(remap(u->bytes, {{stag, 0x01020304}}, Mover::kPeer)));
  EXPECT_TRUE(is.crc_good);
  EXPECT_EQ(flush_request_of(is).value().sink_stag, 0x01020304u);
  EXPECT_EQ(remap(u->bytes, {{stag, 0x01020304}}, Mover::kDevice), u->bytes);
}

/// Our device requests Flush, or grants it, if its frame in the listing does. The block of a
/// Request in a Reply is an echo.
TEST(Plan, TakesFlushFromOurFrame) {
  const std::string request = "4d504120494420526571204672616d65",
                    reply = "4d504120494420526570204672616d65";
  const auto plan = [&](const std::string& asked, const std::string& answered, const char* side) {
    const tb::Folder folder;
    const std::string head = "40010009";
    std::ofstream(folder / "l.json") << nlohmann::json{
        {"units",
         {{{"n", 1}, {"from", "initiator"}, {"kind", "mpa"}, {"hex", request + head + asked}},
          {{"n", 2}, {"from", "responder"}, {"kind", "mpa"}, {"hex", reply + head + answered}}}}};
    const Listing l = load_listing(folder / "l.json");
    return make_plan(l, side_of(l, side), 0);
  };
  // The block of decision 10 ("MNIC", version 1, flags, two zeros), then private data aa. Flags: 01
  // a Request with all extensions, 81 a Reply with them.
  const std::string asks = "4d4e494301010000aa", grants = "4d4e494301810000aa";
  for (const auto& [answered, flush] : {std::pair{grants, true}, {asks, false}}) {
    const Plan active = plan(asks, answered, "initiator"),
               passive = plan(asks, answered, "responder");
    EXPECT_TRUE(active.flush);
    EXPECT_EQ(active.private_data, bytes_of("aa"));
    EXPECT_EQ(passive.flush, flush);
    EXPECT_EQ(passive.private_data, bytes_of(flush ? "aa" : asks));
  }
  EXPECT_FALSE(plan(grants, grants, "initiator").flush);
  EXPECT_TRUE(plan("4d4e494301430000aa", grants, "initiator").flush) << "unknown flags";
}

TEST(Listing, PadOfTheForeignStackIsNotZero) {
  const Listing l = load_listing(path_of("op-recv-tagged"));
  Bytes fpdu = l.units[10].bytes;
  ASSERT_TRUE(parse_fpdu(fpdu)->crc_good);
  EXPECT_TRUE(clear_pad(fpdu));
  EXPECT_TRUE(parse_fpdu(fpdu)->crc_good);
  EXPECT_FALSE(clear_pad(fpdu));
}

TEST(Listing, SumsOfTheNoteAreThoseOfThePlan) {
  size_t noted = 0;
  for (const char* name : {"op-recv-tagged", "op-send-tagged", "op-recv-sends"}) {
    const Listing l = load_listing(path_of(name));
    for (const Region& r : make_plan(l, side_of(l, "siw"), 0).regions) {
      ASSERT_TRUE(r.noted) << name;
      EXPECT_EQ(fnv1a(r.after), *r.noted) << name;
      ++noted;
    }
  }
  EXPECT_EQ(noted, 21u);
}

TEST(Listing, WrongUseSaysWhat) {
  const auto message = [](const auto& f) {
    try {
      f();
    } catch (const Usage& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message([] { load_listing("nowhere.json"); }).find("cannot be read"),
            std::string::npos);
  const tb::Folder folder;
  const std::string path = folder / "empty.json";
  std::ofstream(path) << "{}";
  EXPECT_NE(message([&] { load_listing(path); }).find("is no listing"), std::string::npos);
  std::ofstream(path) << "{\n\"units\": []}";
  EXPECT_TRUE(message([&] {
                load_listing(path);
              }).ends_with("line 2: units is empty; Request and Reply are missing"));
  const Listing l = load_listing(path_of("rping-client-crc"));
  EXPECT_NE(message([&] { side_of(l, "testr"); }).find("did you mean tester?"), std::string::npos);
  EXPECT_EQ(side_of(l, ""), Endpoint::kResponder);
  Listing cut = l;
  for (Unit& u : cut.units) {
    if (u.is_mpa) u.bytes.resize(19);
  }
  EXPECT_EQ(message([&] { (void)make_plan(cut, Endpoint::kResponder, 0); }),
            fmt::format("replay: unit {}: 19 bytes; an MPA frame has at least 20", cut.units[1].n));
  EXPECT_EQ(side_of(l, "tester"), Endpoint::kInitiator);
}

// Each fault is in the last unit of a good listing, and is reported with its line.
TEST(Listing, WrongUnitIsToldWithItsLine) {
  const tb::Folder folder;
  const std::string path = folder / "wrong_unit.json";
  const auto told = [&](const std::string& fields) {
    std::ofstream(path) << R"({"note": "units", "capture": [{}, {}],
 "units": [
  {"n": 0, "from": "initiator", "kind": "mpa", "hex": "00", "decode": {"units": [1, 2]}},
  {"n": 1, "connection": 0,
   "from": "responder", "kind": "mpa", "hex": "00"},

  {)" << fields << "}\n]}\n";
    try {
      load_listing(path);
    } catch (const Usage& e) {
      const std::string head = "replay: " + path + ": line 7: ";
      const std::string text = e.what();
      EXPECT_TRUE(text.starts_with(head)) << text;
      return text.substr(std::min(head.size(), text.size()));
    }
    return std::string("nothing");
  };
  const std::string rest = R"(, "from": "initiator", "kind": "mpa", "hex": "00")";
  const std::string n = R"("n": 2)";
  EXPECT_EQ(told(n + rest), "nothing");
  EXPECT_EQ(told(n + rest + R"(, "connection": 1)"), "nothing");
  EXPECT_EQ(told(R"("n": 1)" + rest), "n is 1, as in line 4");
  EXPECT_EQ(told(R"("n": -2)" + rest), "n is -2; a whole number from 0 to 4294967295 is wanted");
  EXPECT_EQ(told(R"("n": 4294967296)" + rest),
            "n is 4294967296; a whole number from 0 to 4294967295 is wanted");
  EXPECT_EQ(told(R"("n": "2")" + rest),
            "n is \"2\"; a whole number from 0 to 4294967295 is wanted");
  EXPECT_EQ(told(R"("frame": 2)" + rest), "the unit has no \"n\"");
  EXPECT_EQ(told(n + rest + R"(, "conection": 1)"),
            "unknown key \"conection\", did you mean connection?; there are n, connection, from, "
            "kind, hex, decode, frame");
  for (const char* c : {"-1", "256", "4294967296", "1e3", "0.5", "null", "\"0\""})
    EXPECT_EQ(told(n + rest + R"(, "connection": )" + c),
              fmt::format("connection is {}; a whole number from 0 to 255 is wanted",
                          c == std::string("1e3") ? "1000.0" : c));
  EXPECT_EQ(told(n + rest + R"(, "connection": 2)"), "connection is 2, and no unit is of 1");
  const auto with_kind = [&](const char* kind, const char* hex) {
    return told(fmt::format(R"({}, "from": "initiator", "kind": {}, "hex": {})", n, kind, hex));
  };
  EXPECT_EQ(with_kind(R"("fdpu")", R"("00")"),
            "kind is \"fdpu\", did you mean fpdu?; mpa or fpdu is wanted");
  EXPECT_EQ(with_kind(R"("")", R"("00")"), "kind is \"\"; mpa or fpdu is wanted");
  EXPECT_EQ(with_kind("3", R"("00")"), "kind is no text");
  EXPECT_EQ(with_kind(R"("mpa")", "7"), "hex is no text");
  EXPECT_EQ(with_kind(R"("mpa")", R"("0x")"), "\"x\" is no hexadecimal digit");
  EXPECT_EQ(with_kind(R"("mpa")", R"("aAfF")"), "nothing");
  EXPECT_EQ(with_kind(R"("mpa")", R"("000")"), "an odd number of hexadecimal digits");
  EXPECT_EQ(with_kind(R"("fpdu")", R"("00")"), "unit 2 is no FPDU");
  EXPECT_EQ(told(n + R"(, "kind": "mpa", "hex": "00")"), "the unit has no \"from\"");
}

// Known keys must hold one of the two names, unknown keys are refused; each error is reported with
// its line.
TEST(Listing, WrongKeyIsToldWithItsLine) {
  const tb::Folder folder;
  const std::string path = folder / "wrong_key.json";
  std::optional<bool> initiator_closes;
  const auto told = [&](const std::string& field) {
    std::ofstream(path) << R"({"units": [
  {"n": 0, "from": "alice", "kind": "mpa", "hex": "00"},
  {"n": 1, "from": "bob", "kind": "mpa", "hex": "00"}],
 "initiator": "alice",
 )" << field << "}\n";
    try {
      initiator_closes = load_listing(path).initiator_closes;
    } catch (const Usage& e) {
      const std::string head = "replay: " + path + ": line 5: ";
      const std::string text = e.what();
      EXPECT_TRUE(text.starts_with(head)) << text;
      return text.substr(std::min(head.size(), text.size()));
    }
    return std::string("nothing");
  };
  EXPECT_EQ(told(R"("capture": "c", "note": "n", "name": "a name")"), "nothing");
  EXPECT_EQ(initiator_closes, std::nullopt);
  EXPECT_EQ(told(R"("ended": "closed by alice")"), "nothing");
  EXPECT_EQ(initiator_closes, true);
  EXPECT_EQ(told(R"("ended": "closed by bob")"), "nothing");
  EXPECT_EQ(initiator_closes, false);
  const std::string ways = R"(; "closed by alice" or "closed by bob" is wanted)";
  EXPECT_EQ(told(R"("ended": "closed by bop")"),
            R"(ended is "closed by bop", did you mean closed by bob?)" + ways);
  EXPECT_EQ(told(R"("ended": 3)"), "ended is no text");
  EXPECT_EQ(told(R"("name": 3)"), "name is no text");
  EXPECT_EQ(
      told(R"("endde": "closed by bob")"),
      "unknown key \"endde\", did you mean ended?; there are units, initiator, ended, memory, "
      "receives, expect, name, note, capture");
}

}  // namespace
}  // namespace rnic::app
