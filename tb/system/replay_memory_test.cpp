// The keys memory, receives and expect of a listing: regions and receives of our device, and its
// reaction at the end. Each listing is typed by hand. Each replay is a child process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "replay/load.hpp"
#include "replay/make_plan.hpp"
#include "replay/replay.hpp"
#include "settings/errors.hpp"
#include "support/folder.hpp"

namespace rnic::app {
namespace {

using Json = nlohmann::json;

/// Bytes of hexadecimal digits; blanks are ignored.
Bytes bytes_of(std::string hex) {
  std::erase(hex, ' ');
  Bytes b;
  for (size_t i = 0; i < hex.size(); i += 2)
    b.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return b;
}

/// A ULPDU with its length, pad and CRC.
std::string fpdu(const std::string& ulpdu) {
  const Bytes u = bytes_of(ulpdu);
  Bytes b(2);
  base::store_be(b.data(), static_cast<uint16_t>(u.size()));
  b.insert(b.end(), u.begin(), u.end());
  b.resize((b.size() + 3) / 4 * 4 + 4);
  return hex_of(with_good_crc(b));
}

// Revision 2 with CRC, IRD 4 and ORD 4.
const std::string kRequest = "4d504120494420526571204672616d65 50020004 00040004";
const std::string kReply = "4d504120494420526570204672616d65 50020004 00040004";
const std::string kWrite = "c140 5a331400 0000000000001008";  // to offset 8 of kRegion
const std::string kText = "61626364";
const Json kRegion = {
    {"stag", "0x5a331400"}, {"base", 0x1000}, {"length", 64}, {"rights", {"remote_write"}}};

std::string send(unsigned msn, const std::string& payload = kText) {
  return fmt::format("4143 00000000 00000000 {:08x} 00000000 {}", msn, payload);
}
std::string send_inv(unsigned msn, const std::string& stag) {
  return fmt::format("4144 {} 00000000 {:08x} 00000000 {}", stag, msn, kText);
}
std::string immediate(unsigned msn, const std::string& opcode = "48",
                      const std::string& payload = "0102030405060708") {
  return fmt::format("41{} 00000000 00000000 {:08x} 00000000 {}", opcode, msn, payload);
}
/// A Terminate; `headers` are those that it repeats.
std::string terminate(const std::string& ctrl, const std::string& headers) {
  return fmt::format("4147 00000000 00000002 00000001 00000000 {} {}", ctrl, headers);
}

/// The peer is the initiator; our device is the responder.
class Script {
 public:
  explicit Script(uint32_t connections = 1) {
    for (uint32_t c = 0; c < connections; ++c) {
      add("peer", "mpa", hex_of(bytes_of(kRequest)), c);
      add("ours", "mpa", hex_of(bytes_of(kReply)), c);
    }
  }
  Script& peer(const std::string& ulpdu, uint32_t connection = 0) {
    return add("peer", "fpdu", fpdu(ulpdu), connection);
  }
  Script& ours(const std::string& ulpdu, uint32_t connection = 0) {
    return add("ours", "fpdu", fpdu(ulpdu), connection);
  }
  Script& key(const std::string& name, const Json& value) {
    json[name] = value;
    return *this;
  }
  Outcome play(const std::string& kind, const std::string& side = "ours") const {
    const tb::Folder folder;
    ReplayRequest r;
    r.listing = folder / "typed.json";
    std::ofstream(r.listing) << json.dump(1);
    r.side = side;
    r.kind = {kind, kind};
    return replay_child(r);
  }
  /// The listing so far.
  Json json = {{"initiator", "peer"}, {"ended", "closed by peer"}, {"units", Json::array()}};

 private:
  Script& add(const std::string& from, const std::string& kind, const std::string& hex,
              uint32_t connection) {
    json["units"].push_back({{"n", json["units"].size()},
                             {"connection", connection},
                             {"from", from},
                             {"kind", kind},
                             {"hex", hex}});
    return *this;
  }
};

Json with(Json object, const Json& fields) {
  object.update(fields);
  return object;
}
Json only_one(const Json& object) { return Json::array({object}); }
/// The key expect: a Terminate with this layer, type and code; or an end of this kind.
Json cause(unsigned layer, unsigned etype, unsigned code) {
  return {{"kind", "terminate"}, {"layer", layer}, {"etype", etype}, {"code", code}};
}
Json only(const char* kind) { return {{"kind", kind}}; }

void expect_good(const Outcome& out) { EXPECT_EQ(out.status, kGood) << out.failure; }
void expect_mismatch(const Outcome& out, const std::string& what) {
  EXPECT_EQ(out.status, kMismatch);
  EXPECT_NE(out.failure.find(what), std::string::npos) << out.failure;
}

class ReplayMemory : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, ReplayMemory, testing::Values("model", "rtl", "tandem"),
                         [](const auto& info) { return std::string(info.param); });

/// The Terminate repeats the listing's STag, not the device's. RFC 5041 section 8.2.
TEST_P(ReplayMemory, AWriteWithAKeyOfAnotherDomainDrawsTerminate) {
  Script s;
  s.peer(kWrite + kText).ours(terminate("1102 c000 0012", kWrite));
  s.key("memory", only_one(with(kRegion, {{"domain", 1}}))).key("expect", cause(1, 1, 2));
  expect_good(s.play(GetParam()));
  s.key("memory", only_one(kRegion));
  expect_mismatch(s.play(GetParam()),
                  "expects Terminate 1/1/02 (ddp_tagged_assoc) of our device; it was nothing");
}

TEST_P(ReplayMemory, AnAllowedWriteIsPlaced) {
  Script s;
  s.peer(kWrite + kText).key("memory", only_one(kRegion)).key("expect", only("nothing"));
  const Outcome out = s.play(GetParam());
  expect_good(out);
  EXPECT_NE(out.json.dump().find("to=0x1008 bytes=4"), std::string::npos) << out.json.dump(1);
}

/// The STag is bound to connection 1, whose peer may use it.
TEST_P(ReplayMemory, AnStagOfAnotherConnectionDrawsTerminate) {
  Script s(2);
  s.peer(kWrite + kText, 0).peer(kWrite + kText, 1);
  s.key("memory", only_one(with(kRegion, {{"connection", 1}})));
  s.key("expect", {cause(1, 1, 2), only("nothing")});
  expect_good(s.play(GetParam()));
  s.key("expect", {cause(1, 1, 2), only("close")});
  expect_mismatch(s.play(GetParam()), "expects a close of our device; it was nothing");
}

/// A Write beyond the end, and messages after it, are not placed; earlier messages are.
TEST_P(ReplayMemory, AWriteOutOfBoundsDrawsTerminate) {
  Script s;
  s.peer(kWrite + kText).peer("c140 5a331400 000000000000103e" + kText).peer(kWrite + "65656565");
  s.key("memory", only_one(kRegion)).key("expect", cause(1, 1, 1));
  expect_good(s.play(GetParam()));
}

/// The Terminate repeats the Read Request with the listing's STag. RFC 5040 section 4.8.
TEST_P(ReplayMemory, AReadWithoutTheRightDrawsTerminate) {
  const std::string ddp = "4141 00000000 00000001 00000001 00000000",
                    read = "00000007 0000000000000000 00000004 5a331400 0000000000001000";
  Script s;
  s.peer(ddp + read).ours(terminate("0102 e000 002e", ddp + read)).key("memory", only_one(kRegion));
  expect_good(s.play(GetParam()));
  s.key("memory", only_one(with(kRegion, {{"rights", {"remote_read"}}})));
  expect_mismatch(s.play(GetParam()), "the listing has terminate");
}

TEST_P(ReplayMemory, ASendLongerThanItsReceiveDrawsTerminate) {
  Script s;
  s.peer(send(1)).peer(send(2));
  s.key("receives", {{{"length", 4}}, {{"length", 3}}}).key("expect", cause(1, 2, 5));
  expect_good(s.play(GetParam()));
  s.key("receives", {{{"length", 4}}, {{"length", 4}}});
  expect_mismatch(s.play(GetParam()),
                  "expects Terminate 1/2/05 (ddp_untagged_too_long) of our device; it was nothing");
}

TEST_P(ReplayMemory, AReceiveIsPostedAfterItsUnit) {
  Script s;
  s.peer(send(1)).peer(send(2)).peer(send(3));  // units 2, 3 and 4
  const Json first = {{"length", 8}}, second = {{"length", 4}, {"after", 2}},
             late = {{"length", 4}, {"after", 4}};
  s.key("receives", {late, second, first, {{"length", 4}, {"after", 3}}});
  s.key("expect", only("nothing"));
  expect_good(s.play(GetParam()));  // one more than there are Sends
  s.key("receives", {first, second, late}).key("expect", cause(1, 2, 2));
  expect_good(s.play(GetParam()));
  s.key("receives", Json::array());
  expect_good(s.play(GetParam()));
}

TEST_P(ReplayMemory, AnInvalidatedRegionRefusesAWrite) {
  const Json region =
      with(kRegion, {{"rights", {"remote_write", "remote_invalidate"}}, {"connection", 0}});
  Script s;
  s.peer(kWrite + kText).peer(send_inv(1, "5a331400")).key("memory", only_one(region));
  s.key("expect", only("nothing"));
  expect_good(s.play(GetParam()));
  // The receive after the Send delays the Write until the STag is invalid.
  s.key("receives", {{{"length", 4}}, {{"length", 4}, {"after", 3}}});
  s.peer(kWrite + "65656565").key("expect", cause(1, 1, 0));
  expect_good(s.play(GetParam()));
}

/// The device may place or refuse a Write that it receives before the invalidation is complete
/// (A-51). The listing says which end it expects.
TEST_P(ReplayMemory, AWriteRightAfterItsInvalidationMayBePlaced) {
  Script s;
  s.peer(kWrite + kText).peer(send_inv(1, "5a331400")).peer(kWrite + "65656565");
  s.key("memory", only_one(with(kRegion, {{"rights", {"remote_write", "remote_invalidate"}},
                                          {"connection", 0}})));
  s.key("expect", only("nothing"));
  const Outcome placed = s.play(GetParam());
  s.key("expect", cause(1, 1, 0));
  const Outcome refused = s.play(GetParam());
  EXPECT_NE(placed.status == kGood, refused.status == kGood) << placed.failure << refused.failure;
  const Outcome& other = placed.status == kGood ? refused : placed;
  EXPECT_EQ(other.json["differences"].size(), 1u) << other.failure;  // the end alone
}

/// If the device refuses the Write to the region that is being invalidated, it places no later one.
/// Otherwise the Write to the second region is compared.
TEST_P(ReplayMemory, WhatFollowsAWriteRightAfterItsInvalidationIsCompared) {
  Script s;
  s.peer(send_inv(1, "5a331400")).peer(kWrite + kText);
  s.peer("c140 00000007 0000000000001000" + kText).peer("c140 00000008 0000000000001000" + kText);
  s.key("memory",
        {with(kRegion, {{"rights", {"remote_write", "remote_invalidate"}}, {"connection", 0}}),
         with(kRegion, {{"stag", 7}})});
  s.key("expect", cause(1, 1, 0));  // of the third Write, or of the first one
  expect_good(s.play(GetParam()));
}

/// The Write arrives long after the Send, without anything that orders it after the invalidation.
TEST_P(ReplayMemory, AWriteAfterItsInvalidationMayBeRefused) {
  constexpr unsigned kBetween = 60;
  Script s;
  s.peer(kWrite + kText).peer(send_inv(1, "5a331400"));
  for (unsigned k = 0; k < kBetween; ++k) s.peer(send(2 + k, std::string(2000, '0')));
  s.peer(kWrite + "65656565");
  s.key("memory", only_one(with(kRegion, {{"rights", {"remote_write", "remote_invalidate"}},
                                          {"connection", 0}})));
  s.key("expect", cause(1, 1, 0));
  expect_good(s.play(GetParam()));
}

/// Immediate Data reports the length of the Write before it, with or without a Solicited Event; it
/// needs a receive, but no buffer.
TEST_P(ReplayMemory, ImmediateDataIsInTheCompletion) {
  Script s;
  s.peer(kWrite + kText).peer(immediate(1)).peer(immediate(2)).peer(kWrite + kText);
  s.peer(send(3)).peer(immediate(4, "49")).peer(kWrite + "65656565").peer(immediate(5, "49"));
  s.key("memory", only_one(kRegion)).key("expect", only("nothing"));
  const auto has = [](const Outcome& out, const std::string& what) {
    EXPECT_NE(out.json["connections"][0]["written"].dump().find(what), std::string::npos) << what;
  };
  const Outcome out = s.play(GetParam());
  expect_good(out);
  has(out, "receive 0 immediate=0x0102030405060708 length=4");
  has(out, "receive 1 immediate=0x0102030405060708 length=0");
  has(out, "receive 3 immediate=0x0102030405060708 length=0");
  has(out, "receive 4 immediate=0x0102030405060708 length=4");
  const Json none = {{"length", 0}}, four = {{"length", 4}};
  s.key("receives", {none, none, four, none, none});
  expect_good(s.play(GetParam()));
  s.key("receives", {none, none, four, none}).key("expect", cause(1, 2, 2));
  expect_good(s.play(GetParam()));
}

/// Our device posts a Write with Immediate, and Immediate Data alone.
TEST_P(ReplayMemory, ImmediateDataIsPosted) {
  Script s;
  s.peer(kWrite + kText).peer(immediate(1, "49")).peer(immediate(2)).peer(send(3));
  s.peer(kWrite + kText).peer(send(4)).peer(immediate(5, "49")).peer(kWrite + "65656565");
  s.peer(immediate(6)).key("expect", only("close"));
  const Outcome out = s.play(GetParam(), "peer");
  expect_good(out);
  EXPECT_EQ(out.json["answered"], 10);
}

/// RFC 7306 section 6.
TEST_P(ReplayMemory, ImmediateDataOfAnotherLengthDrawsTerminate) {
  Script s;
  s.peer(immediate(1)).peer(immediate(2, "48", "01020304")).key("expect", cause(0, 2, 7));
  expect_good(s.play(GetParam()));
}

/// RFC 5040 section 7.2, ambiguity A-14.
TEST_P(ReplayMemory, AnStagThatMayNotBeInvalidatedDrawsTerminate) {
  Script s;
  s.peer(send_inv(1, "5a331400"));
  s.key("memory", only_one(with(kRegion, {{"connection", 0}}))).key("expect", cause(0, 1, 9));
  expect_good(s.play(GetParam()));
  s.key("memory", Json::array()).key("expect", cause(0, 2, 9));
  expect_good(s.play(GetParam()));
}

TEST_P(ReplayMemory, ATerminateOfThePeerIsAnsweredByAClose) {
  Script s;
  s.peer(terminate("0000 0000", "")).key("expect", only("close"));
  expect_good(s.play(GetParam()));
  s.key("expect", only("terminate"));
  expect_mismatch(s.play(GetParam()), "expects a Terminate of our device; it was a close");
}

/// The foreign listing with the regions that siw's program had.
TEST_P(ReplayMemory, AForeignListingPlaysWithItsRegions) {
  Script s;
  std::ifstream in(std::string(RNIC_CAPTURES) + "/op-recv-sends.json");
  s.json = Json::parse(in);
  const tb::Folder folder;
  std::ofstream(folder / "l.json") << s.json.dump();
  const Listing l = load_listing(folder / "l.json");
  Json memory = Json::array();
  for (const Region& r : make_plan(l, side_of(l, "siw"), 0).regions) {
    memory.push_back({{"stag", r.stag},
                      {"base", r.base},
                      {"length", r.before.size()},
                      {"rights", {"remote_read"}}});
    if (r.stag == 0x56e56c00 || r.stag == 0x8e2a0800)  // units 4 and 5
      memory.back().update({{"rights", {"remote_invalidate"}}, {"connection", 0}});
  }
  ASSERT_EQ(memory.size(), 7u);
  s.key("memory", memory).key("expect", only("nothing"));
  expect_good(s.play(GetParam(), "siw"));
  for (Json& m : s.json["memory"]) m["rights"] = {"remote_read"};
  s.key("expect", cause(0, 1, 9));
  expect_good(s.play(GetParam(), "siw"));
}

// --- the committed listings with the three keys; replay_test plays them on each kind of device

Script committed(const std::string& name) {
  Script s;
  std::ifstream in(std::string(RNIC_CAPTURES) + "/" + name + ".json");
  s.json = Json::parse(in);
  return s;
}

TEST(ReplayCommitted, ReturnedReplyChunksPlayOnlyAsExpected) {
  const Script s = committed("nfs-remote-invalidation");
  const std::string end = "expects nothing of our device; it was ";
  Script t = s;
  t.key("expect", cause(1, 1, 0));
  expect_mismatch(t.play("model", "siw"),
                  "expects Terminate 1/1/00 (ddp_tagged_stag) of our device; it was nothing");
  t.key("expect", only("close"));
  expect_mismatch(t.play("model", "siw"), "expects a close of our device; it was nothing");
  t = s;
  t.json["memory"][0]["rights"] = {"remote_write"};
  expect_mismatch(t.play("model", "siw"), end + "Terminate 0/1/09");
  t.json["memory"][0]["rights"] = {"remote_read"};
  expect_mismatch(t.play("model", "siw"), end + "Terminate 1/1/00");
  t = s;
  t.json["memory"][0]["length"] = 99;
  expect_mismatch(t.play("model", "siw"), end + "Terminate 1/1/01");
  t = s;
  t.json["receives"][1]["length"] = 47;
  expect_mismatch(t.play("model", "siw"), end + "Terminate 1/2/05");
  t.json["receives"].erase(1);
  t.json["receives"].erase(1);
  expect_mismatch(t.play("model", "siw"), end + "Terminate 1/2/02");
}

TEST(ReplayCommitted, AReturnedReplyChunkThatIsWrittenAgainDrawsTerminate) {
  Script s = committed("nfs-revoked-key");
  s.key("expect", cause(1, 1, 2));
  expect_mismatch(
      s.play("model", "siw"),
      "expects Terminate 1/1/02 (ddp_tagged_assoc) of our device; it was Terminate 1/1/00");
  s.key("expect", only("nothing"));
  expect_mismatch(s.play("model", "siw"), "expects nothing of our device; it was Terminate 1/1/00");
}

TEST(ReplayCommitted, RefusedInvalidationsPlayOnlyAsExpected) {
  const Script s = committed("op-refused-invalidations");
  const Outcome out = s.play("model", "siw");
  expect_good(out);
  const std::array<std::string, 3> causes = {"0/1/09", "0/2/09", "0/1/09"};
  const std::array<size_t, 3> delivered = {2, 3, 2};  // the refused Send is not
  for (size_t c = 0; c < causes.size(); ++c) {
    SCOPED_TRACE(fmt::format("connection {}", c));
    size_t receives = 0;
    for (const auto& w : out.json["connections"][c]["written"])
      receives += w["where"].get<std::string>().starts_with("receive") ? 1 : 0;
    EXPECT_EQ(receives, delivered[c]);
    Script t = s;
    t.json["expect"][c] = only("nothing");
    expect_mismatch(t.play("model", "siw"),
                    "expects nothing of our device; it was Terminate " + causes[c]);
    t.json["expect"][c] = cause(0, c == 1 ? 1 : 2, 9);
    expect_mismatch(t.play("model", "siw"), "of our device; it was Terminate " + causes[c]);
  }
}

TEST(ReplayExpect, WhatDoesNotComeIsADifference) {
  Script s;
  s.peer(kWrite + kText).key("memory", only_one(kRegion));
  for (const char* kind : {"terminate", "close"}) {
    s.key("expect", only(kind));
    expect_mismatch(s.play("model"), "of our device; it was nothing");
  }
  s.key("memory", Json::array());
  s.key("expect", {{"kind", "terminate"}, {"layer", 1}});
  expect_good(s.play("model"));
  for (const Json& wrong : {cause(0, 1, 0), cause(1, 2, 0), cause(1, 1, 1)}) {
    s.key("expect", wrong);
    expect_mismatch(s.play("model"), "of our device; it was Terminate 1/1/00");
  }
  s.key("expect", only("nothing"));
  expect_mismatch(s.play("model"), "expects nothing of our device; it was Terminate 1/1/00");
}

/// The first difference is the reason, with its name; so is the event.
TEST(ReplayExpect, TheReasonComesFirst) {
  Script s;
  s.peer(kWrite + kText).peer(send(1)).key("memory", Json::array()).key("expect", only("nothing"));
  s.key("receives", {{{"length", 4}, {"after", 2}}});
  const auto differences = [](const Outcome& out) {
    EXPECT_EQ(out.status, kMismatch);
    return out.json["differences"].get<std::vector<std::string>>();
  };
  const std::string terminate =
      "terminate qn=2 msn=1 cause=1/1/00 (ddp_tagged_stag): our device sends it; the listing has "
      "none here";
  const std::string rest = "not played: unit 3 and those after it";
  const Outcome out = s.play("model");
  EXPECT_EQ(differences(out),
            (std::vector<std::string>{"the end: the listing expects nothing of our device; it was "
                                      "Terminate 1/1/00 (ddp_tagged_stag)",
                                      terminate, rest}));
  const std::string event =
      "asynchronous event IBV_EVENT_QP_ACCESS_ERR: ddp_tagged_stag (Tagged: STag invalid, or "
      "without "
      "the right to be written.)";
  const auto events = out.json["connections"][0]["events"].get<std::vector<std::string>>();
  EXPECT_NE(std::ranges::find(events, event), events.end()) << out.json["connections"][0]["events"];
  s.json.erase("expect");
  EXPECT_EQ(differences(s.play("model")), (std::vector<std::string>{terminate, rest}));
}

TEST(ReplayExpect, ATerminateOfThePeerIsNamed) {
  Script s;
  s.peer("4147 00000000 00000002 00000001 00000000 1102 0000").key("expect", only("close"));
  const Outcome out = s.play("model");
  expect_good(out);
  EXPECT_NE(out.json["connections"][0]["events"].dump().find(
                "asynchronous event IBV_EVENT_QP_FATAL: peer_terminate (The peer sent a Terminate; "
                "none is sent back.), the peer's Terminate 1/1/02 (ddp_tagged_assoc)"),
            std::string::npos)
      << out.json["connections"][0]["events"];
}

TEST(ReplayExpect, ACloseOfTheProgramIsAClose) {
  Script s;
  s.peer(send(1)).key("ended", "closed by ours").key("expect", only("close"));
  expect_good(s.play("model"));
  s.key("expect", only("nothing"));
  expect_mismatch(s.play("model"), "expects nothing of our device; it was a close");
}

/// An STag that the listing does not have as a region is unknown to the device, even if it equals
/// an STag that the device allocated.
TEST(ReplayExpect, AnUnlistedStagIsNeverAKeyOfTheDevice) {
  Script s;
  s.peer(kWrite + kText).key("memory", only_one(with(kRegion, {{"stag", 7}})));
  s.key("expect", cause(1, 1, 0));
  const Outcome out = s.play("model");
  expect_good(out);
  const std::string text = out.json["text"];
  const std::string stag = text.substr(text.find("is 0x") + 5, 8);  // the device's
  s.json["units"].erase(2);
  s.peer("c140" + stag + "0000000000001008" + kText);
  expect_good(s.play("model"));
}

std::string told(const std::string& listing) {
  const tb::Folder folder;
  const std::string path = folder / "typed.json";
  std::ofstream(path) << listing;
  try {
    const Listing l = load_listing(path);
    (void)make_plan(l, side_of(l, "ours"), 0);
  } catch (const Usage& e) {
    const std::string text = e.what(), head = "replay: " + path + ": ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  }
  return "nothing";
}

/// Why replay refuses a listing with this key in line 2 and its value from line 3 on; "nothing": it
/// does not.
std::string told_of(const std::string& key, const std::string& value) {
  Script s(2);
  s.peer(send(1)).peer("0143 00000000 00000000 00000002 00000000" + kText);
  s.peer("4143 00000000 00000000 00000002 00000004" + kText);  // units 4, 5 and 6
  const std::string rest = s.json.dump();
  return told(fmt::format("{{\n\"{}\":\n{},\n{}", key, value, rest.substr(1)));
}

TEST(ReplayKeys, AnImpossibleRegionIsRefused) {
  const auto said = [](const std::string& field, const std::string& value) {
    Json region = kRegion;
    if (value.empty()) {
      region.erase(field);
    } else {
      region[field] = Json::parse(value);
    }
    const std::string text = told_of("memory", "[" + region.dump() + "]");
    const std::string head = "line 3: memory: ";
    EXPECT_TRUE(text == "nothing" || text.starts_with(head)) << text;
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  for (const auto& [field, value] : {std::pair{"stag", "7"},
                                     {"stag", "\"5a331400\""},
                                     {"base", "\"0xffffffffffffffc0\""},
                                     {"rights", "[]"},
                                     {"domain", "15"},
                                     {"connection", "1"}})
    EXPECT_EQ(said(field, value), "nothing") << field;
  for (const char* field : {"stag", "base", "length", "rights"})
    EXPECT_EQ(said(field, ""), fmt::format("\"{}\" is missing", field));
  const std::string hex = "is wanted, or its hexadecimal text";
  EXPECT_EQ(said("stag", "4294967296"),
            "stag is 4294967296; a whole number from 0 to 4294967295 " + hex);
  EXPECT_EQ(said("stag", R"("0xfg")"),
            "stag is \"0xfg\"; a whole number from 0 to 4294967295 " + hex);
  EXPECT_EQ(said("stag", R"("")"), "stag is \"\"; a whole number from 0 to 4294967295 " + hex);
  EXPECT_EQ(said("base", "-1"), "base is -1; a whole number from 0 to 18446744073709551615 " + hex);
  EXPECT_EQ(said("length", "0"), "length is 0; a whole number from 1 to 16777216 " + hex);
  EXPECT_EQ(said("length", "16777217"),
            "length is 16777217; a whole number from 1 to 16777216 " + hex);
  EXPECT_EQ(said("base", R"("0xffffffffffffffc1")"),
            "base 0xffffffffffffffc1 and length 64 wrap at 2^64");
  const auto needs_0x = [](const char* key, const char* value) {
    return fmt::format(
        "{} is {}; a text needs 0x, since it is hexadecimal; write a decimal number "
        "without quotes",
        key, value);
  };
  EXPECT_EQ(said("length", "\"64\""), needs_0x("length", "\"64\""));
  EXPECT_EQ(said("length", "\"0x40\""), "nothing");
  EXPECT_EQ(said("domain", "\"1\""), needs_0x("domain", "\"1\""));
  EXPECT_EQ(said("connection", "\"0\""), needs_0x("connection", "\"0\""));
  EXPECT_EQ(said("rights", "3"), "rights is 3, no list");
  EXPECT_EQ(said("rights", R"(["remote_wirte"])"),
            "rights has \"remote_wirte\", did you mean remote_write?; there are flush_global, "
            "flush_persistent, remote_invalidate, remote_read, remote_write");
  EXPECT_EQ(said("domain", "16"), "domain is 16; a whole number from 0 to 15 " + hex);
  EXPECT_EQ(said("connection", "2"), "connection is 2; a whole number from 0 to 1 " + hex);
  EXPECT_EQ(said("rigths", "[]"),
            "unknown key \"rigths\", did you mean rights?; there are stag, base, length, rights, "
            "domain, connection");
  EXPECT_EQ(said("rights", R"(["remote_invalidate"])"),
            "remote_invalidate needs \"connection\": the device lets a peer invalidate only an "
            "STag that is bound to its stream");
  EXPECT_EQ(told_of("memory", kRegion.dump()), "line 2: memory is no list");
  EXPECT_EQ(told_of("memory", "[3]"), "line 3: memory: 3 is no object");
  EXPECT_EQ(told_of("memory", "[" + kRegion.dump() + ",\n" + kRegion.dump() + "]"),
            "line 4: memory: stag is 0x5a331400, as in line 3");
  EXPECT_EQ(told_of("memory", "[" + with(kRegion, {{"domain", 1}, {"connection", 0}}).dump() + "]"),
            "line 3: memory: an STag that is bound to a connection is of domain 0, that of its QP");
}

TEST(ReplayKeys, AnImpossibleReceiveIsRefused) {
  const std::string hex = "is wanted, or its hexadecimal text";
  EXPECT_EQ(told_of("receives", R"([{"length": 0, "after": 4}])"), "nothing");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "after": 6}])"), "nothing");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "connection": 1, "after": 3}])"), "nothing");
  EXPECT_EQ(told_of("receives", R"([{"length": "0x4", "after": "0x4"}])"), "nothing");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "after": "4"}])"),
            "line 3: receives: after is \"4\"; a text needs 0x, since it is hexadecimal; write a "
            "decimal number without quotes");
  EXPECT_EQ(told_of("receives", "null"), "line 2: receives is no list");
  EXPECT_EQ(told_of("receives", "4"), "line 2: receives is no list");
  EXPECT_EQ(told_of("receives", "[{}]"), "line 3: receives: \"length\" is missing");
  EXPECT_EQ(told_of("receives", "[{\"length\": 4},\n {\"length\": -1}]"),
            "line 4: receives: length is -1; a whole number from 0 to 16777216 " + hex);
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "connection": 2}])"),
            "line 3: receives: connection is 2; a whole number from 0 to 1 " + hex);
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "after": 9}])"),
            "line 3: receives: after is 9; connection 0 has no such unit");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "connection": 1, "after": 4}])"),
            "line 3: receives: after is 4; connection 1 has no such unit");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "after": 5}])"),
            "line 3: receives: after is 5, which does not end a message");
  EXPECT_EQ(told_of("receives", R"([{"length": 4, "afer": 4}])"),
            "line 3: receives: unknown key \"afer\", did you mean after?; there are connection, "
            "length, after");
}

TEST(ReplayKeys, AnImpossibleExpectationIsRefused) {
  const std::string hex = "is wanted, or its hexadecimal text";
  EXPECT_EQ(told_of("expect", R"({"kind": "terminate", "code": "0x0a"})"), "nothing");
  EXPECT_EQ(told_of("expect", R"([{"kind": "close"}, {"kind": "nothing"}])"), "nothing");
  EXPECT_EQ(told_of("expect", R"({"kind": "terminate", "code": "10"})"),
            "line 2: expect: code is \"10\"; a text needs 0x, since it is hexadecimal; write a "
            "decimal number without quotes");
  EXPECT_EQ(told_of("expect", "null"), "line 2: expect: null is no object");
  EXPECT_EQ(told_of("expect", "3"), "line 2: expect: 3 is no object");
  EXPECT_EQ(told_of("expect", "{}"), "line 2: expect: \"kind\" is missing");
  EXPECT_EQ(told_of("expect", R"({"kind": "terminat"})"),
            "line 2: expect: kind is \"terminat\", did you mean terminate?; there are close, "
            "nothing, terminate");
  EXPECT_EQ(told_of("expect", R"({"kind": "close", "layer": 1})"),
            "line 2: expect: layer, etype and code are of kind \"terminate\" only");
  for (const auto& [key, most] : {std::pair{"layer", 2}, {"etype", 2}, {"code", 255}})
    EXPECT_EQ(told_of("expect", Json{{"kind", "terminate"}, {key, most + 1}}.dump()),
              fmt::format("line 2: expect: {} is {}; a whole number from 0 to {} {}", key, most + 1,
                          most, hex));
  EXPECT_EQ(told_of("expect", R"([{"kind": "close"}])"),
            "line 2: expect has 1 objects; 2, one a connection, are wanted");
  EXPECT_EQ(told_of("expct", "[]"),
            "line 2: unknown key \"expct\", did you mean expect?; there are units, initiator, "
            "ended, memory, receives, expect, name, note, capture");
}

/// Why replay refuses the listing (the place, the limit and the setting) or why it fails; "nothing"
/// if it plays. Played with its default settings, unless `set` has others.
std::string refused(const Json& listing, const std::vector<std::string>& set = {}) {
  const tb::Folder folder;
  ReplayRequest r;
  r.listing = folder / "large.json";
  std::ofstream(r.listing) << listing.dump(1);
  r.side = "ours";
  for (const std::string& s : set) r.config.set(s, "test");
  try {
    const Outcome out = replay_child(r);
    return out.status == kGood ? "nothing" : out.failure;
  } catch (const Usage& e) {
    const std::string text = e.what(), head = "replay: " + r.listing + ": ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  }
}

TEST(ReplayLimits, MoreRegionsThanTheDeviceHasAreRefused) {
  Script s;
  s.peer(send(1));
  const auto with_regions = [&](unsigned n, uint64_t length, uint64_t last) {
    Json memory = Json::array();
    for (unsigned k = 0; k < n; ++k)
      memory.push_back(with(kRegion, {{"stag", k << 8}, {"length", k + 1 == n ? last : length}}));
    s.key("memory", memory);
  };
  with_regions(62, 64, 64);
  EXPECT_EQ(refused(s.json, {"num_stags=64"}), "nothing");
  with_regions(63, 64, 64);
  EXPECT_EQ(refused(s.json, {"num_stags=64"}),
            "line 501: memory: 63 regions, at most 62 are possible: the device has num_stags=64, "
            "and replay takes 2 itself; have fewer, or a model with a larger num_stags");
  constexpr uint64_t kMiB = 1 << 20;
  with_regions(17, kMiB, kMiB);
  EXPECT_EQ(refused(s.json, {"arena_mib=16"}),
            "line 133: memory: the regions have 17 MiB; the host has arena_mib=16: have fewer or "
            "smaller regions, or --set arena_mib=33");
  EXPECT_EQ(refused(s.json, {"arena_mib=33"}), "nothing");
  EXPECT_EQ(
      refused(s.json, {"num_pbl=4096"}),
      "line 125: memory: the regions have 4354 pages; the device has num_pbl=4096: have fewer "
      "or smaller regions, larger pages (page_kib), or a model with a larger num_pbl");
  // The driver needs some memory itself.
  with_regions(16, kMiB, kMiB - 0x3000);
  const std::string text = refused(s.json, {"arena_mib=16"});
  EXPECT_TRUE(text.starts_with("connection 0: region: no 1012 KiB in pages of 4096; ")) << text;
  EXPECT_TRUE(
      text.ends_with("; have fewer or smaller regions, receives and messages, or set a "
                     "larger size of the device or of arena_mib=16"))
      << text;
}

TEST(ReplayLimits, MoreReceivesThanTheDeviceHasAreRefused) {
  Script s;
  s.peer(send(1));
  const auto with_receives = [&](unsigned n) {
    Json receives = Json::array();
    for (unsigned k = 0; k < n; ++k) receives.push_back({{"length", 4}});
    s.key("receives", receives);
  };
  with_receives(32766);
  EXPECT_EQ(refused(s.json), "nothing");
  with_receives(32767);
  EXPECT_EQ(refused(s.json),
            "line 98303: receives: 32767 receives and 0 requests of ours; a completion queue has "
            "32768 entries, 2 of them for replay: have fewer, in more connections");
  s.key("receives", {{{"length", 4}}, {{"length", 16 << 20}}});
  EXPECT_EQ(refused(s.json, {"arena_mib=16"}),
            "line 8: receives: regions (0 MiB), receives (16 MiB) and payloads of ours (0 MiB) do "
            "not fit; the host has arena_mib=16: have fewer or shorter receives, or --set "
            "arena_mib=33");
}

/// The driver has no work request for these messages of our device.
TEST(ReplayKeys, AMessageThatCannotBePostedIsRefused) {
  const auto of = [](const std::string& ulpdu) {
    Script s;
    s.peer(send(1)).ours(ulpdu);
    return told(s.json.dump(1));
  };
  const std::string rest = "; leave it out, or let our device be peer (--side)";
  EXPECT_EQ(of(immediate(1)), "nothing");
  EXPECT_EQ(
      of(immediate(1, "49", "01020304")),
      "line 26: unit 3: this immediate_se of ours cannot be posted: it has 4 bytes, not 8" + rest);
  EXPECT_EQ(
      of("4141 00000000 00000001 00000001 00000000 5a331400"),
      "line 26: unit 3: this read_request of ours cannot be posted: it has 4 bytes, not 28" + rest);
  EXPECT_EQ(of("414c 00000000 00000001 00000001 00000000 5a331400"),
            "line 26: unit 3: this flush_request of ours cannot be posted: it has 4 bytes, not 20" +
                rest);
  EXPECT_EQ(of("414a 00000000 00000001 00000001 00000000 5a331400"),
            "line 26: unit 3: this atomic_request of ours cannot be posted: the driver has no work "
            "request for it" +
                rest);
}

/// Our device cannot send a Read Request that names a sink it does not have.
TEST(ReplayKeys, ASinkOutsideMemoryIsRefused) {
  Script s;
  s.ours(
      "4141 00000000 00000001 00000001 00000000 "
      "5a331400 0000000000001000 00000004 00000007 0000000000000000");
  const auto with_memory = [&](const Json& memory) {
    const std::string text = told(s.key("memory", memory).json.dump());
    return text.substr(std::min(text.size(), text.find("unit")));
  };
  EXPECT_EQ(with_memory(only_one(kRegion)), "");
  const std::string refused =
      "unit 2: our Read Request stores 4 bytes at 0x1000 of STag 0x5a331400; no region of memory "
      "lets our QP do so";
  EXPECT_EQ(with_memory(Json::array()), refused);
  EXPECT_EQ(with_memory(only_one(with(kRegion, {{"domain", 1}}))), refused);
  EXPECT_EQ(with_memory(only_one(with(kRegion, {{"base", 0x1001}}))), refused);
}

}  // namespace
}  // namespace rnic::app
