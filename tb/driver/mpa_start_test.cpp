// MPA start-up frames, good and bad, typed by hand from RFC 5044 section 7.1 and RFC 6581 (C-24,
// C-40). Also the results of the negotiation. After the key: flags (80 M markers, 40 C CRC, 20 R
// reject, 10 S IRD and ORD follow), revision, length of what follows (2 bytes), [IRD, ORD, 2 bytes
// each,] private data.
#include "mpa_start.hpp"

#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

const std::string kReq = "4d 50 41 20 49 44 20 52 65 71 20 46 72 61 6d 65 ";  // MPA ID Req Frame
const std::string kRep = "4d 50 41 20 49 44 20 52 65 70 20 46 72 61 6d 65 ";  // MPA ID Rep Frame

Result<StartFrame> request(const std::string& rest) {
  return parse(hex(kReq + rest), StartKind::kRequest);
}
Result<StartFrame> reply(const std::string& rest) {
  return parse(hex(kRep + rest), StartKind::kReply);
}

TEST(MpaStart, RequestOfRevision1) {
  const Bytes data = hex("aa bb");
  EXPECT_BYTES(encode(must(make_request(
                   {.crc = true, .revision = 1, .ird = 8, .ord = 8, .private_data = data}))),
               kReq + "40 01 00 02 aa bb");
  EXPECT_BYTES(encode(must(make_request({.markers = true, .crc = false, .revision = 1}))),
               kReq + "80 01 00 00");
}

TEST(MpaStart, RequestOfRevision2CarriesIrdAndOrd) {
  const Bytes data = hex("aa");
  EXPECT_BYTES(encode(must(make_request(
                   {.crc = true, .revision = 2, .ird = 16, .ord = 5, .private_data = data}))),
               kReq + "50 02 00 05 00 10 00 05 aa");
}

TEST(MpaStart, ReplyAgrees) {
  const Bytes data = hex("01 02 03");
  const auto a = must(answer_request(must(request("c0 01 00 00")),
                                     {.crc = false, .ird = 4, .ord = 4, .private_data = data}));
  EXPECT_BYTES(encode(a.reply),
               kRep + "40 01 00 03 01 02 03");  // the peer requests CRC: both use it
  EXPECT_TRUE(a.agreed.use_crc);
  EXPECT_TRUE(a.agreed.tx_markers);  // the peer wants to receive markers
  EXPECT_FALSE(a.agreed.rx_markers);
  EXPECT_EQ(a.agreed.ird, 4u);
}

TEST(MpaStart, ReplyOfRevision2HonoursWhatItCan) {
  // The peer has IRD 3, ORD 100; we have 16 and 16.
  const auto a = must(answer_request(must(request("10 02 00 04 00 03 00 64")),
                                     {.markers = true, .crc = false, .ird = 16, .ord = 16}));
  EXPECT_BYTES(encode(a.reply), kRep + "90 02 00 04 00 10 00 03");
  EXPECT_EQ(a.agreed.ird, 16u);
  EXPECT_EQ(a.agreed.ord, 3u);
  EXPECT_FALSE(a.agreed.use_crc);
  EXPECT_TRUE(a.agreed.rx_markers);
  const auto few =
      must(answer_request(must(request("10 02 00 04 00 20 00 02")), {.ird = 16, .ord = 16}));
  EXPECT_EQ(few.agreed.ird, 2u);
  EXPECT_EQ(few.agreed.ord, 16u);
}

TEST(MpaStart, NoNegotiationIs3fff) {
  const auto a =
      must(answer_request(must(request("10 02 00 04 3f ff 3f ff")), {.ird = 7, .ord = 9}));
  EXPECT_EQ(a.agreed.ird, 7u);
  EXPECT_EQ(a.agreed.ord, 9u);
  const auto b = must(conclude(must(reply("10 02 00 04 3f ff 3f ff")), {.ird = 7, .ord = 9}));
  EXPECT_EQ(b.ord, 9u);
}

TEST(MpaStart, PeerToPeerChoosesWriteThenRead) {
  const auto rtr = [](const std::string& words) {
    return answer_request(must(request("10 02 00 04 " + words)), {.ird = 4, .ord = 4});
  };
  // RFC 6581: A 8000, peer-to-peer, and B 4000, RTR by a Send, in the first word; C 8000, RTR by a
  // Write, and D 4000, RTR by a Read, in the second.
  EXPECT_BYTES(encode(must(rtr("c0 08 c0 08")).reply), kRep + "50 02 00 04 80 04 80 04");
  EXPECT_BYTES(encode(must(rtr("80 08 40 08")).reply), kRep + "50 02 00 04 80 04 40 04");
  // The peer offers only RTR messages that we do not send: refused with code 07 (C-43).
  EXPECT_EQ(errc(rtr("c0 08 00 08")), Errc::kRefused);
  EXPECT_BYTES(encode(must(rtr("00 08 c0 08")).reply),
               kRep + "50 02 00 04 00 04 00 04");  // without A no RTR message is chosen
  // An RTR Read takes one of the IRD, even if the peer announces that it never sends Reads.
  EXPECT_EQ(must(rtr("80 08 40 00")).agreed.ird, 1u);
}

TEST(MpaStart, Revision2WithoutSIsPlain) {
  const auto f = must(request("40 02 00 04 00 10 00 10"));
  EXPECT_FALSE(f.enhanced);
  EXPECT_EQ(f.private_data.size(), 4u);
  EXPECT_BYTES(encode(must(answer_request(f, {.ird = 1, .ord = 1})).reply), kRep + "40 02 00 00");
}

TEST(MpaStart, SIsReservedInRevision1) { EXPECT_FALSE(must(request("50 01 00 00")).enhanced); }

TEST(MpaStart, ConcludeUsesTheReply) {
  const StartOffer own{.crc = false, .revision = 2, .ird = 8, .ord = 8};
  const auto a = must(conclude(must(reply("d0 02 00 04 00 05 00 03")), own));
  EXPECT_TRUE(a.use_crc);
  EXPECT_TRUE(a.tx_markers);
  EXPECT_EQ(a.ord, 5u);
  EXPECT_EQ(a.ird, 8u);
  EXPECT_EQ(errc(conclude(must(reply("50 02 00 04 00 05 00 09")), own)),
            Errc::kProtocol);  // the peer's ORD 9 exceeds our IRD 8
  EXPECT_EQ(errc(conclude(must(reply("60 02 00 00")), own)), Errc::kRefused);
  EXPECT_EQ(errc(conclude(must(reply("40 01 00 00")), own)), Errc::kProtocol);
  EXPECT_EQ(errc(conclude(must(reply("50 02 00 04 80 05 80 03")), own)),
            Errc::kProtocol);  // we never offer peer-to-peer
}

TEST(MpaStart, BadFrames) {
  EXPECT_EQ(errc(request("40 00 00 00")), Errc::kProtocol);  // revision 0
  EXPECT_EQ(errc(request("40 03 00 00")), Errc::kProtocol);
  EXPECT_EQ(errc(request("60 01 00 00")), Errc::kProtocol);           // R in a Request
  EXPECT_EQ(errc(request("50 02 00 03 00 00 00")), Errc::kProtocol);  // S with less than 4 bytes
  EXPECT_EQ(errc(request("40 01 00 02 aa")), Errc::kProtocol);
  EXPECT_EQ(errc(request("40 01 00")), Errc::kProtocol);
  EXPECT_EQ(errc(parse(hex(kRep + "40 01 00 00"), StartKind::kRequest)),
            Errc::kProtocol);  // the wrong key
  EXPECT_EQ(errc(parse_header(hex("4d 50 41 20 49 44 20 72 65 71 20 46 72 61 6d 65 40 01 00 00"),
                              StartKind::kRequest)),
            Errc::kProtocol);
}

TEST(MpaStart, PrivateDataUpTo512) {
  EXPECT_EQ(must(parse_header(hex(kReq + "40 01 02 00"), StartKind::kRequest)), 512u);
  EXPECT_EQ(errc(parse_header(hex(kReq + "40 01 02 01"), StartKind::kRequest)), Errc::kProtocol);
  const Bytes data(513);
  const auto offer = [&](uint8_t revision, size_t n) {
    return make_request({.revision = revision, .private_data = std::span(data).first(n)});
  };
  EXPECT_TRUE(offer(1, 512));
  EXPECT_EQ(errc(offer(1, 513)), Errc::kInvalidArgument);
  EXPECT_TRUE(offer(2, 508));
  EXPECT_EQ(errc(offer(2, 509)), Errc::kInvalidArgument);
  EXPECT_EQ(errc(offer(3, 0)), Errc::kInvalidArgument);
}

TEST(MpaStart, RejectKeepsRevisionAndForm) {
  const Bytes why = hex("77");
  EXPECT_BYTES(encode(must(make_reject(must(request("40 01 00 00")), why))),
               kRep + "60 01 00 01 77");
  EXPECT_BYTES(encode(must(make_reject(must(request("10 02 00 04 00 08 00 08")), why))),
               kRep + "30 02 00 05 00 00 00 00 77");
}

// A side requests Flush by 8 bytes before the private data (decision 10). Flush is on if both sides
// request it. A side that does not request it sends no such bytes, and none are sent in a Reply to
// such a Request.
TEST(MpaStart, FlushIsOnIfBothSidesAsk) {
  const Bytes data = hex("aa");
  const auto offer = [&](bool flush) {
    return StartOffer{.ird = 8, .ord = 8, .flush = flush, .private_data = data};
  };
  EXPECT_BYTES(encode(must(make_request(offer(true)))),
               kReq + "50 02 00 0d 00 08 00 08 4d 4e 49 43 01 01 00 00 aa");
  EXPECT_BYTES(encode(must(make_request(offer(false)))), kReq + "50 02 00 05 00 08 00 08 aa");
  for (const bool asked : {false, true}) {
    for (const bool wanted : {false, true}) {
      const auto frame = must(parse(encode(must(make_request(offer(asked)))), StartKind::kRequest));
      EXPECT_EQ(frame.private_data, data);
      const auto answer = must(answer_request(frame, offer(wanted)));
      EXPECT_EQ(answer.agreed.flush, asked && wanted);
      EXPECT_BYTES(encode(answer.reply),
                   kRep + (!asked   ? "50 02 00 05 00 08 00 08 aa"
                           : wanted ? "50 02 00 0d 00 08 00 08 4d 4e 49 43 01 81 00 00 aa"
                                    : "50 02 00 05 00 08 00 08 aa"));
      auto reply = must(parse(encode(answer.reply), StartKind::kReply));
      take_extension(reply, offer(asked));
      EXPECT_EQ(must(conclude(reply, offer(asked))).flush, asked && wanted);
      EXPECT_EQ(reply.private_data, data);
    }
  }
  // Another key or version, the bit of a Reply, reserved bytes, or too short: the bytes belong to
  // the ULP.
  for (const char* text :
       {"4d 4e 49 44 01 01 00 00", "4d 4e 49 43 02 01 00 00", "4d 4e 49 43 01 01 00 01",
        "4d 4e 49 43 01 81 00 00", "4d 4e 49 43 01 01 01 00", "4d 4e 49 43 01 01 00"}) {
    const Bytes bytes = hex(text);
    const auto frame = must(request(bytes.size() == 8 ? std::string("40 01 00 08 ") + text
                                                      : std::string("40 01 00 07 ") + text));
    EXPECT_FALSE(frame.extension);
    EXPECT_EQ(frame.private_data, bytes);
  }
  const Bytes much(512);
  EXPECT_TRUE(
      make_request({.revision = 1, .flush = true, .private_data = std::span(much).first(504)}));
  EXPECT_EQ(errc(make_request(
                {.revision = 1, .flush = true, .private_data = std::span(much).first(505)})),
            Errc::kInvalidArgument);
}

/// The result of a Reply with this private data for a client that requests Flush.
struct Concluded {
  bool flush = false;
  Bytes private_data{};
};
Concluded concluded(const std::string& private_data) {
  const StartOffer own{.revision = 1, .flush = true};
  const size_t bytes = hex(private_data).size();
  auto f = must(reply(fmt::format("40 01 00 {:02x} {}", bytes, private_data)));
  take_extension(f, own);
  return {must(conclude(f, own)).flush, f.private_data};
}

// A peer that echoes private data returns our Request's block, which lacks the bit of a Reply.
TEST(MpaStart, AnEchoAgreesOnNothing) {
  const Bytes data = hex("aa");
  const auto sent =
      encode(must(make_request({.revision = 1, .flush = true, .private_data = data})));
  EXPECT_BYTES(sent, kReq + "40 01 00 09 4d 4e 49 43 01 01 00 00 aa");
  const auto echo = concluded("4d 4e 49 43 01 01 00 00 aa");
  EXPECT_FALSE(echo.flush);
  EXPECT_BYTES(echo.private_data, "4d 4e 49 43 01 01 00 00 aa");
  const auto answer = concluded("4d 4e 49 43 01 81 00 00 aa");
  EXPECT_TRUE(answer.flush);
  EXPECT_EQ(answer.private_data, data);
}

// Flag bits of later extensions: a side without them still agrees on Flush, and answers only with
// the flags it knows.
TEST(MpaStart, IgnoresUnknownFlags) {
  for (unsigned flags = 0; flags < 0x80; ++flags) {
    const bool flush = (flags & 1) != 0;
    const auto f = must(request(fmt::format("40 01 00 09 4d 4e 49 43 01 {:02x} 00 00 aa", flags)));
    ASSERT_TRUE(f.extension) << flags;
    EXPECT_EQ(f.extension->flush, flush) << flags;
    EXPECT_EQ(f.private_data, hex("aa"));
    const auto a = must(answer_request(f, {.ird = 1, .ord = 1, .flush = true}));
    EXPECT_EQ(a.agreed.flush, flush);
    EXPECT_BYTES(encode(a.reply),
                 kRep + fmt::format("40 01 00 08 4d 4e 49 43 01 {:02x} 00 00", 0x80 | (flags & 1)));
    const auto c = concluded(fmt::format("4d 4e 49 43 01 {:02x} 00 00", 0x80 | flags));
    EXPECT_EQ(c.flush, flush) << flags;
    EXPECT_TRUE(c.private_data.empty()) << flags;
  }
}

}  // namespace
}  // namespace rnic::tb
