// The follower on a hand-written life of a device (script.hpp). It accepts that life, and reports
// each single change of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "gen/regs.hpp"
#include "script.hpp"

namespace rnic::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Script whole() {
  Script s;
  s.set_up();
  s.send();
  s.push_write();
  s.receive_write();
  s.receive_send();
  s.answer_read();
  s.read();
  s.send();
  s.close();
  return s;
}

Script failing() {
  Script s;
  s.set_up();
  s.receive_write();
  s.refused_write();
  return s;
}

Script registering() {
  Script s;
  s.set_up();
  s.register_memory();
  return s;
}

/// The payload with a bit of byte `at` flipped, as a copy: the original's bytes may be shared.
Payload changed(const Payload& p, uint32_t at) {
  Payload out = Payload::copy_of(p.bytes());
  out.writable()[at] ^= 0x10;
  return out;
}

TEST(Follower, SetsUp) {
  Script s;
  s.set_up();
  EXPECT_THAT(s.run(), IsEmpty());
}

/// Records: two Sends, the push, the Read Response, the Read Request. Placed: a Write, a Send, a
/// Read Response. Completions: two Sends, receive, Read. Events and interrupts: the connection, its
/// end, the QP's end. Requests: RDMA mode, FIN. Admin: 7 responses of 32 bytes. Issued: two Sends,
/// push, Read.
TEST(Follower, FollowsALife) {
  EXPECT_THAT(whole().run([](const Follower& f) {
    EXPECT_EQ(f.tally().count(Kind::kRecords).compared, 5U);
    EXPECT_EQ(f.tally().count(Kind::kPlacedBytes).compared, 64U + 10 + 32);
    EXPECT_EQ(f.tally().count(Kind::kCompletions).compared, 4U);
    EXPECT_EQ(f.tally().count(Kind::kEvents).compared, 3U);
    EXPECT_EQ(f.tally().count(Kind::kInterrupts).compared, 3U);
    EXPECT_EQ(f.tally().count(Kind::kRequests).compared, 2U);
    EXPECT_EQ(f.tally().count(Kind::kRegisters).compared, 1U);
    EXPECT_EQ(f.tally().count(Kind::kAdminBytes).compared, 7U * 32);
    EXPECT_EQ(f.tally().commits().at("qp_issue"), 4U);
    EXPECT_THAT(f.waiting_for(), IsEmpty());
  }),
              IsEmpty());
}

/// Extents are retired one by one: the first extent of a segment may have an older epoch than the
/// second.
TEST(Follower, ARegionGoesBetweenTheExtentsOfASegment) {
  Script s;
  s.set_up();
  s.destroy_while_sending();
  EXPECT_THAT(s.run(), IsEmpty());
}

TEST(FollowerDiffers, ARegionGoesBeforeItsEpochHasEnded) {
  Script s;
  s.set_up();
  s.destroy_while_sending();
  s["the change of the first destroy"].commit<spec::TptChangeCommit>().waits = 0;
  EXPECT_THAT(s.run(), HasSubstr("RTL has destroyed region"));
}

TEST(Follower, RegistersMemory) { EXPECT_THAT(registering().run(), IsEmpty()); }

TEST(FollowerDiffers, Registration) {
  // of_reg: 1 begun, 2 refused, 3 open, 4 given up.
  const auto with = [](const char* label, uint8_t of_reg) {
    Script s = registering();
    s[label].commit<spec::TptChangeCommit>().of_reg = of_reg;
    return s.run();
  };
  EXPECT_THAT(with("the claim", 2), HasSubstr("RTL refuses it; model does not"));
  EXPECT_THAT(with("the opening", 4), HasSubstr("RTL gives up / model: qpn=3"));
  EXPECT_THAT(with("the claim", 3), HasSubstr("RTL opens region 7; model has no registration"));

  Script s = registering();
  s["the claim"].commit<spec::TptChangeCommit>().slot = 6;
  EXPECT_THAT(s.run(), HasSubstr("RTL claims region 6 for QP 3"));

  s = registering();
  s["the read of the registration's list"].as<DmaRead>().address += 8;
  EXPECT_THAT(s.run(), HasSubstr("page list at 0xd000: RTL never read it"));

  s = registering();
  Payload& list = s["the bytes of the registration's list"].as<DmaPiece>().data;
  list = changed(list, 1);  // the first page is not aligned
  list.writable()[1] = 1;
  EXPECT_THAT(s.run(), HasSubstr("RTL opens the region / model:"));

  s = registering();
  s.swap("the end of the registration", "the opening");
  EXPECT_THAT(s.run(), HasSubstr("RTL took a finished Read; model has none"));
}

TEST(FollowerDiffers, ADestroyThatFreesARegistration) {
  Script s = registering();
  // The destroy comes between claim and opening of the registration.
  const size_t to = s.at("the opening"), from = s.at("the payload in registered memory") + 1,
               end = s.at("the change of the registered region") + 1;
  std::rotate(s.steps.begin() + static_cast<std::ptrdiff_t>(to),
              s.steps.begin() + static_cast<std::ptrdiff_t>(from),
              s.steps.begin() + static_cast<std::ptrdiff_t>(end));
  EXPECT_THAT(s.run(), HasSubstr("or registers it"));
}

TEST(Follower, FollowsAnErrorAndItsFlush) { EXPECT_THAT(failing().run(), IsEmpty()); }

Script refusing_while_closing() {
  Script s;
  s.set_up();
  s.refuse_while_closing();
  return s;
}

/// The row of a QP in qp_state holds one error. The RTL chooses which error, and how often it is
/// reported.
TEST(Follower, FollowsAnErrorInPlaceOfNothingLeft) {
  EXPECT_THAT(refusing_while_closing().run(), IsEmpty());
}

/// The error may set the bit once more (Followed::is_overtaken), but not twice more.
TEST(Follower, FollowsAnErrorThatIsToldTwice) {
  Script s = refusing_while_closing();
  const auto at = static_cast<std::ptrdiff_t>(s.at("qp hears of the error"));
  s.steps.insert(
      s.steps.begin() + at + 1,
      {"once more", spec::AnyCommit{spec::QpStateCommit{.qpn = Script::kQp, .bits = 1}}});
  EXPECT_THAT(s.run(), IsEmpty());
  s.steps.insert(
      s.steps.begin() + at + 2,
      {"and again", spec::AnyCommit{spec::QpStateCommit{.qpn = Script::kQp, .bits = 1}}});
  EXPECT_THAT(s.run(), HasSubstr("qp_state: QP 3: events: RTL 0x1 / model 0x0"));
}

TEST(Follower, FollowsAnErrorBehindNothingLeft) {
  Script s = refusing_while_closing();
  const auto at = static_cast<std::ptrdiff_t>(s.at("qp hears of the error"));
  s.steps.insert(
      s.steps.begin() + at,
      {{"rdmap has ended",
        spec::AnyCommit{spec::QpStateCommit{.qpn = Script::kQp, .bits = 1, .nothing_left = 1}}},
       {"FIN is ordered", spec::AnyCommit{spec::LlpRuleCommit{
                              .source = 5, .connection = Script::kConn, .qpn = Script::kQp}}},
       {"FIN", spec::LlpCtlReq{.op = spec::LlpOp::kHalfClose, .connection = Script::kConn}}});
  EXPECT_THAT(s.run(), IsEmpty());
}

TEST(FollowerDiffers, NothingLeftThatIsAnError) {
  Script s = failing();
  s["qp hears of the error"].commit<spec::QpStateCommit>().nothing_left = 1;
  EXPECT_THAT(s.run(), HasSubstr("qp_state: QP 3: RTL has nothing left / model qpn=3"));
}

TEST(Follower, FollowsAReset) {
  Script s;
  s.set_up();
  Follower f(spec::Sizes{});
  f.reset();
  EXPECT_THAT(f.end(), IsEmpty());
}

// --- single changes

TEST(FollowerDiffers, WrongByteOfARecord) {
  Script s = whole();
  auto& r = s["the record of the Send"].as<RecordOut>().r;
  r.data = changed(r.data, 30);
  EXPECT_THAT(s.run(), AllOf(HasSubstr("connection 2, QP 3: record, byte 30 of 124: RTL 0x"),
                             HasSubstr("/ model 0x"), HasSubstr("device cycle")));
}

TEST(FollowerDiffers, RecordCutShort) {
  Script s = whole();
  auto& r = s["the record of the Send"].as<RecordOut>().r;
  r.data = r.data.slice(0, 120);
  EXPECT_THAT(s.run(), HasSubstr("RTL 120 bytes / model 124"));
}

TEST(FollowerDiffers, RecordMissing) {
  Script s = whole();
  s.drop("the record of the push");
  EXPECT_THAT(s.run(),
              HasSubstr("qp_retire: QP 3: RTL took a sent work request; model has none there"));
}

TEST(FollowerDiffers, RecordStillMissingAtTheEnd) {
  Script s;
  s.set_up();
  s.send();
  s.steps.resize(s.at("the record of the Send"));
  EXPECT_THAT(
      s.run(),
      AllOf(HasSubstr("left over"),
            HasSubstr("connection 2: 1 records to be sent, the oldest of QP 3, 124 bytes")));
}

TEST(FollowerDiffers, RecordTwice) {
  Script s = whole();
  s.twice("the record of the Send");
  EXPECT_THAT(s.run(), HasSubstr("RTL sent a record of 124 bytes"));
}

TEST(FollowerDiffers, WrongPlacedByte) {
  Script s = whole();
  auto& w = s["the payload of a Write"].as<DmaWrite>();
  w.data = changed(w.data, 63);
  EXPECT_THAT(s.run(),
              HasSubstr("QP 3: placed payload, byte 63 of its segment, at 0x10003f: RTL 0x"));
}

TEST(FollowerDiffers, WrongPlacedAddress) {
  Script s = whole();
  s["the payload of a Send"].as<DmaWrite>().address += 1;
  EXPECT_THAT(s.run(),
              HasSubstr("RTL wrote 10 bytes at 0x100101; model places 10 there at 0x100100"));
}

TEST(FollowerDiffers, PlacedTwice) {
  Script s = whole();
  s.twice("the payload of a Write");
  EXPECT_THAT(s.run(), HasSubstr("RTL placed 64 bytes at 0x100000; model places nothing now"));
}

TEST(FollowerDiffers, NeverPlaced) {
  Script s;
  s.set_up();
  s.receive_write();
  s.drop("the payload of a Write");
  EXPECT_THAT(
      s.run(),
      AllOf(HasSubstr("left over"),
            HasSubstr(
                "1 packets to be placed, the oldest of QP 3 at 0x100000, 0 of 64 bytes written")));
}

TEST(FollowerDiffers, PlacedInPiecesIsTheSame) {
  Script s = whole();
  const DmaWrite w = s["the payload of a Write"].as<DmaWrite>();
  s.twice("the payload of a Write");
  const size_t at = s.at("the payload of a Write");
  s.steps[at].as<DmaWrite>().data = w.data.slice(0, 24);
  s.steps[at + 1].as<DmaWrite>().data = w.data.slice(24);
  s.steps[at + 1].as<DmaWrite>().address += 24;
  EXPECT_THAT(s.run(), IsEmpty());
}

TEST(FollowerDiffers, CompletionTooMany) {
  Script s = whole();
  s.twice("the CQE of the receive");
  EXPECT_THAT(s.run(), HasSubstr("QP 3: RTL wrote a completion at"));
}

TEST(FollowerDiffers, CompletionWrong) {
  Script s = whole();
  auto& w = s["the CQE of the Read"].as<DmaWrite>();
  auto e = spec::Cqe::unpack(w.data.bytes());
  e.byte_len = 31;
  w.data = Payload::make(spec::Cqe::kBytes);
  e.pack(w.data.writable());
  EXPECT_THAT(s.run(), AllOf(HasSubstr("CQ 0: completion: RTL at 0x6040"), HasSubstr("byte_len=31"),
                             HasSubstr("byte_len=32")));
}

TEST(FollowerDiffers, TimestampRunsBackwards) {
  Script s = whole();
  auto& w = s["the CQE of the Read"].as<DmaWrite>();
  auto e = spec::Cqe::unpack(w.data.bytes());
  e.timestamp = 5;
  w.data = Payload::make(spec::Cqe::kBytes);
  e.pack(w.data.writable());
  EXPECT_THAT(s.run(), HasSubstr("runs backwards: 5 after 1001"));
}

TEST(FollowerDiffers, CompletionNotWritten) {
  Script s;
  s.set_up();
  s.send();
  s.drop("the CQE of the Send");
  EXPECT_THAT(s.run(), HasSubstr("1 completions to be written, the oldest of CQ 0"));
}

TEST(FollowerDiffers, CommitDropped) {
  Script s = whole();
  s.drop("the verdict on a Write");
  EXPECT_THAT(s.run(), HasSubstr("RTL placed 64 bytes at 0x100000; model places nothing now"));
}

TEST(FollowerDiffers, CommitDoubled) {
  Script s = whole();
  s.twice("the issue of the Send");
  EXPECT_THAT(s.run(),
              HasSubstr("qp_issue: QP 3: RTL issued a work request; model has none posted"));
}

TEST(FollowerDiffers, EveryCommitDroppedIsReported) {
  for (const Script& life : {whole(), failing(), registering()}) {
    for (size_t i = 0; i < life.steps.size(); ++i) {
      if (!std::holds_alternative<spec::AnyCommit>(life.steps[i].what)) continue;
      Script s = life;
      s.steps.erase(s.steps.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_THAT(s.run(), Not(IsEmpty())) << life.steps[i].label;
    }
  }
}

TEST(FollowerDiffers, EveryStepDoubledIsReported) {
  for (const Script& life : {whole(), failing(), registering()}) {
    for (size_t i = 0; i < life.steps.size(); ++i) {
      const auto& what = life.steps[i].what;
      const bool idempotent = std::holds_alternative<Mmio>(what) ||
                              std::holds_alternative<spec::PcieCfg>(what) ||
                              std::holds_alternative<spec::LlpCredit>(what);
      if (idempotent) continue;
      Script s = life;
      s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(i), life.steps[i]);
      EXPECT_THAT(s.run(), Not(IsEmpty())) << life.steps[i].label;
    }
  }
}

TEST(FollowerDiffers, RecordThatCameIsNeverTaken) {
  Script s;
  s.set_up();
  s.receive_write();
  s.steps.resize(s.at("the way of a Write"));
  EXPECT_THAT(s.run(), HasSubstr("1 received records wait for llp_if"));
}

TEST(FollowerDiffers, DoorbellIsNeverTaken) {
  Script s;
  s.set_up();
  s.send();
  s.steps.resize(s.at("the doorbell of the Send"));
  EXPECT_THAT(s.run(), HasSubstr("1 doorbells wait for qp, the first of QP 3"));
}

/// Soon after the first Send retired, the RTL refuses the doorbell of a second Send, although the
/// ring has room.
TEST(FollowerDiffers, DoorbellIsRefused) {
  Script s;
  s.set_up();
  s.send();
  const size_t before = s.steps.size();
  s.send();
  const auto bell =
      std::find_if(s.steps.begin() + static_cast<std::ptrdiff_t>(before), s.steps.end(),
                   [](const Step& x) { return x.label == "the doorbell of the Send"; });
  ASSERT_NE(bell, s.steps.end());
  bell->commit<spec::QpDoorbellCommit>().accepted = 0;
  s.steps.erase(bell + 1, s.steps.end());
  EXPECT_THAT(s.run(), HasSubstr("qp_doorbell: QP 3: index 2: RTL refused it; model takes it"));
}

/// A slot that no completion has reported free to the driver may still be in use in the RTL.
TEST(Follower, FollowsARefusalBeforeTheCompletion) {
  constexpr uint16_t kIndex = 16 + 1;  // the ring is full, with one WQE retired
  for (const bool is_told : {false, true}) {
    Script s;
    s.set_up();
    s.send();
    const auto at = s.steps.begin() +
                    static_cast<std::ptrdiff_t>(s.at("the CQE of the Send") + (is_told ? 1 : 0));
    s.steps.insert(
        at, {{"ring", Mmio{.is_write = true,
                           .bar = 2,
                           .offset = 0,
                           .bytes = 8,
                           .value = uint64_t{kIndex} << 32 | Script::kQp,
                           .data = {}}},
             {"refusal", spec::AnyCommit{spec::QpDoorbellCommit{.kind = spec::DoorbellKind::kSq,
                                                                .qpn = Script::kQp,
                                                                .index = kIndex,
                                                                .accepted = 0}}}});
    if (is_told) {
      EXPECT_THAT(s.run(), HasSubstr("RTL refused it; model takes it"));
    } else {
      EXPECT_THAT(s.run(), IsEmpty());
    }
  }
}

/// An error and the loss of the connection are handled together. The error wins, and the device
/// waits for no Terminate.
TEST(FollowerDiffers, EventsAreDecidedInTheWrongOrder) {
  const auto script = [](Step next) {
    Script s = failing();
    const auto at = s.steps.begin() + static_cast<std::ptrdiff_t>(s.at("qp hears of the error"));
    s.steps.erase(at, s.steps.end());
    s.steps.push_back(
        {"reset", spec::LlpCtlEvt{.kind = spec::LlpEvt::kReset, .connection = Script::kConn}});
    s.steps.push_back(
        {"llp_if hears of it", spec::AnyCommit{spec::LlpRuleCommit{
                                   .source = 2, .connection = Script::kConn, .qpn = Script::kQp}}});
    s.steps.push_back({"qp hears of both",
                       // bit 0: an error, bit 3: the loss of the connection
                       spec::AnyCommit{spec::QpStateCommit{.qpn = Script::kQp, .bits = 1 | 8}}});
    s.steps.push_back(std::move(next));
    return s.run();
  };
  EXPECT_THAT(
      script({"rdmap stops", spec::AnyCommit{spec::RdmapOpCommit{.op = 0, .qpn = Script::kQp}}}),
      Not(HasSubstr("at \"")));
  EXPECT_THAT(script({"rdmap hears of the loss",
                      spec::AnyCommit{spec::RdmapOpCommit{.op = 1, .qpn = Script::kQp}}}),
              HasSubstr("rdmap_op: QP 3: RTL took a fault of qp; model has none"));
}

TEST(FollowerDiffers, OtherSegmentSize) {
  Script s = whole();
  s["the grant of the Send"].commit<spec::LlpGrantCommit>().mulpdu = Script::kMulpdu - 4;
  EXPECT_THAT(s.run(), HasSubstr("llp_grant: QP 3: segment size: RTL 1450 / model 1454"));
}

TEST(FollowerDiffers, GrantWithoutCredit) {
  Script s = whole();
  s["credit"].as<spec::LlpCredit>().limit = 1400;
  EXPECT_THAT(
      s.run(),
      HasSubstr(
          "llp_grant: QP 3: RTL grants; model must wait: llp_if: QP 3 waits for the LLP's credit"));
}

TEST(FollowerDiffers, OtherSource) {
  Script s = whole();
  s["the segment of the Send"].commit<spec::DdpSegmentCommit>().source = spec::TxSource::kResp;
  EXPECT_THAT(s.run(),
              HasSubstr("ddp_segment: QP 3: RTL sends a segment of resp; model may send sq"));
}

TEST(FollowerDiffers, LookUpOfAnotherPlace) {
  Script s = whole();
  s["the lookup of the Send"].commit<spec::TptCheckCommit>().tagged_offset += 8;
  EXPECT_THAT(s.run(), HasSubstr("tpt_check: QP 3: lookup for a segment to be sent: RTL"));
}

TEST(FollowerDiffers, LookUpWithOtherRights) {
  Script s = whole();
  s["the lookup of a Write"].commit<spec::TptCheckCommit>().rights = spec::kAccessLocalWrite;
  EXPECT_THAT(s.run(), HasSubstr("tpt_check: lookup for a received segment: RTL"));
}

TEST(FollowerDiffers, PayloadNeverRead) {
  Script s = whole();
  s.drop("the bytes of the second page");
  s.drop("the read of the second page");
  EXPECT_THAT(s.run(), HasSubstr("ddp_ulpdu: QP 3: RTL sends a segment of 100 bytes of payload: "
                                 "RTL never read 60 bytes from 0x300000"));
}

TEST(FollowerDiffers, OtherPayloadRead) {
  Script s = whole();
  auto& p = s["the bytes of the second page"].as<DmaPiece>();
  p.data = changed(p.data, 0);
  EXPECT_THAT(s.run(), HasSubstr("record, byte 60 of 124"));
}

/// The bytes of another buffer are read and discarded; the sent bytes are correct.
TEST(FollowerDiffers, PayloadOfAnotherBufferIsReadForNothing) {
  Script s = whole();
  const auto at = static_cast<std::ptrdiff_t>(s.at("the bytes of the second page"));
  s.steps.insert(s.steps.begin() + at + 1,
                 {{"read for nothing", DmaRead{.tag = 200,
                                               .address = Script::kPage1 + 2048,
                                               .length = 16,
                                               .client = Client::kPayload}},
                  {"its bytes", DmaPiece{.tag = 200, .is_last = true, .data = Payload::make(16)}}});
  EXPECT_THAT(
      s.run(),
      HasSubstr(
          "payload: 16 bytes from 0x300800 are read; from 0x300800 on they are of no segment"));
}

TEST(FollowerDiffers, PayloadReadTwice) {
  Script s = whole();
  Step again = s["the read of the second page"];
  again.as<DmaRead>().tag = 200;
  const auto at = static_cast<std::ptrdiff_t>(s.at("the bytes of the second page"));
  s.steps.insert(s.steps.begin() + at + 1, again);
  EXPECT_THAT(s.run(), HasSubstr("or have been read for it"));
}

TEST(FollowerDiffers, AdminReadsForNothing) {
  Script s = whole();
  s.steps.push_back(
      {"read for nothing",
       DmaRead{.tag = 200, .address = Script::kList, .length = 8, .client = Client::kAdmin}});
  s.steps.push_back({"its bytes", DmaPiece{.tag = 200, .is_last = true, .data = Payload::make(8)}});
  EXPECT_THAT(s.run(), HasSubstr("admin: 8 bytes from 0xc000 were read for nothing"));
}

TEST(FollowerDiffers, WqeNeverRead) {
  Script s = whole();
  s.drop("the bytes of the WQE of the Read");
  s.drop("the read of the WQE of the Read");
  EXPECT_THAT(s.run(), HasSubstr("qp: QP 3: send queue at 0x8080: RTL never read it"));
}

TEST(FollowerDiffers, VerdictBeforeTheReceiveWqe) {
  Script s = whole();
  s.swap("the receive WQE", "the verdict on a Send of the peer");
  EXPECT_THAT(s.run(), HasSubstr("RTL has taken no receive WQE for it"));
}

TEST(FollowerDiffers, WrongOrderOfTwoRecords) {
  Script s = whole();
  s.swap("the record of the Send", "the record of the push");
  EXPECT_THAT(s.run(), HasSubstr("connection 2, QP 3: record, byte"));
}

TEST(FollowerDiffers, NoReceiveWqeFound) {
  Script s = whole();
  s["the receive WQE"].cycles = 7;  // the RTL need not see a doorbell up to 6 cycles old
  s["the receive WQE"].commit<spec::QpRqTakeCommit>().result = spec::RqTake::kEmpty;
  EXPECT_THAT(s.run(), HasSubstr("qp_rq_take: QP 3: RTL's result is empty, the model's is ok"));
}

TEST(FollowerDiffers, AnotherQp) {
  Script s = whole();
  s["the ULPDU of the Send"].commit<spec::DdpUlpduCommit>().qpn = 4;
  EXPECT_THAT(s.run(), HasSubstr("ddp_ulpdu: RTL took a segment of QP 4; model's next is of QP 3"));
}

TEST(FollowerDiffers, EventInvented) {
  Script s = whole();
  s.twice("the event of the connection");
  EXPECT_THAT(s.run(),
              HasSubstr("cq_event: RTL writes an event connection of 2; model has none pending"));
}

TEST(FollowerDiffers, InterruptMissing) {
  Script s = whole();
  s.drop("the interrupt of the QP's end");
  EXPECT_THAT(s.run(), HasSubstr("vector 0: 1 interrupts to be sent"));
}

TEST(FollowerDiffers, InterruptBeforeItsEvent) {
  Script s = whole();
  s.swap("the EQE of the connection", "the interrupt of the connection");
  EXPECT_THAT(s.run(), HasSubstr("no vector with that message has an event to tell"));
}

/// An interrupt of a masked vector is correct only if it was in flight when the mask was written.
TEST(FollowerDiffers, InterruptOfAMaskedVector) {
  for (const auto& [cycles, waited, good] :
       {std::tuple{1, 0, true}, {5000, 0, false}, {5000, 4990, true}}) {
    Script s = whole();
    const auto at =
        s.steps.begin() + static_cast<std::ptrdiff_t>(s.at("the interrupt of the QP's end"));
    at->cycles = static_cast<uint64_t>(cycles);
    at->waited = static_cast<uint64_t>(waited);
    s.steps.insert(at, {.label = "the mask",
                        .what = Mmio{.is_write = true,
                                     .bar = 0,
                                     .offset = spec::kMsixControlOffset,
                                     .bytes = 4,
                                     .value = 1,
                                     .data = {}}});
    EXPECT_THAT(s.run(), good ? testing::Matcher<std::string>(IsEmpty())
                              : HasSubstr("its vector is masked since cycle"))
        << cycles << ", " << waited;
  }
}

/// The mask is valid from the write that set it, not from a later write that repeats it.
TEST(FollowerDiffers, InterruptOfAVectorThatIsMaskedAgain) {
  Script s = whole();
  const auto mask = [](uint64_t cycles) {
    return Step{.label = "the mask",
                .what = Mmio{.is_write = true,
                             .bar = 0,
                             .offset = spec::kMsixControlOffset,
                             .bytes = 4,
                             .value = 1,
                             .data = {}},
                .cycles = cycles};
  };
  const auto at = s.steps.insert(
      s.steps.begin() + static_cast<std::ptrdiff_t>(s.at("the interrupt of the QP's end")),
      mask(5000));
  s.steps.insert(at, mask(1));
  EXPECT_THAT(s.run(), HasSubstr("its vector is masked since cycle"));
}

/// The correct bytes at a wrong address.
TEST(FollowerDiffers, WrongAddress) {
  for (const auto& [label, by, why] :
       {std::tuple{"the CQE of the Read", spec::Cqe::kBytes, "CQ 0: completion: RTL at 0x6060"},
        {"the EQE of the connection", spec::Eqe::kBytes, "event entry: RTL at 0x50"},
        {"the answer to create_mr", spec::AdminRsp::kBytes,
         "admin: byte 0 of 32 written at 0x3080"},
        {"the interrupt of the connection", size_t{4}, "no vector with that message"}}) {
    Script s = whole();
    s[label].as<DmaWrite>().address += by;
    EXPECT_THAT(s.run(), HasSubstr(why)) << label;
  }
}

TEST(FollowerDiffers, InterruptWithOtherData) {
  Script s = whole();
  auto& w = s["the interrupt of the connection"].as<DmaWrite>();
  w.data = changed(w.data, 0);
  EXPECT_THAT(s.run(), HasSubstr("no vector with that message has an event to tell"));
}

TEST(FollowerDiffers, AnswerOfAdmin) {
  Script s = whole();
  auto& w = s["the answer to create_mr"].as<DmaWrite>();
  w.data = changed(w.data, 9);
  EXPECT_THAT(s.run(), AllOf(HasSubstr("admin: byte 9 of 32 written at 0x3060: RTL 0x11 at 0x3069"),
                             HasSubstr("the RTL's answer: cookie=3")));
}

TEST(FollowerDiffers, RequestToTheTransport) {
  Script s = whole();
  s["RDMA mode"].as<spec::LlpCtlReq>().use_crc = 0;
  EXPECT_THAT(s.run(), HasSubstr("request to the LLP: RTL op=rdma_mode"));
}

TEST(FollowerDiffers, RegisterRead) {
  Script s = whole();
  s["its answer"].as<Response>().value = 1;
  EXPECT_THAT(s.run(), HasSubstr("register 0x28 of BAR 0: RTL 0x1 / model 0x3000"));
}

/// qp_retire may still have the report of a Send in its queue when the last unit has stopped.
TEST(Follower, ASendRetiresBetweenTheLastStopAndTheFlush) {
  Script s;
  s.set_up();
  s.send();
  s.refused_write();
  const auto at = [&s](const char* label) {
    return s.steps.begin() + static_cast<std::ptrdiff_t>(s.at(label));
  };
  std::rotate(at("the end of the Send"), at("the CQE of the Send") + 1, at("the flush"));
  EXPECT_THAT(s.run(), IsEmpty());
}

TEST(FollowerDiffers, FlushBeforeAllUnitsHaveStopped) {
  Script s = failing();
  s.swap("ddp stops", "the flush");
  EXPECT_THAT(
      s.run(),
      HasSubstr(
          "RTL flushes; in the model not all units have stopped: qp: QP 3 waits for ddp to stop"));
}

/// The failing life with one more Write of the peer, which is in mpa when the error is found.
Script failing_with_more(const std::string& entry_before, const std::string& verdict_before) {
  Script s = failing();
  const auto put = [&](const std::string& before, const std::string& like, const char* label) {
    Step copy = s[like];
    copy.label = label;
    s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(s.at(before)), copy);
  };
  put("qp hears of the error", "the record of a Write", "the record of one more");
  put("qp hears of the error", "the way of a Write", "the way of one more");
  put(entry_before, "the entry of a Write", "the entry of one more");
  put(verdict_before, "the verdict on a Write", "the verdict on one more");
  return s;
}

TEST(Follower, StopsBehindWhatIsInside) {
  EXPECT_THAT(failing_with_more("ddp stops", "ddp has stopped").run(), IsEmpty());
}

TEST(Follower, StopsBeforeWhatComesBehindIt) {
  for (const char* verdict : {"ddp has stopped", "the flush"})
    EXPECT_THAT(failing_with_more("ddp has stopped", verdict).run(), IsEmpty()) << verdict;
  EXPECT_THAT(failing_with_more("the flush", "the event of the error").run(), IsEmpty());
}

TEST(FollowerDiffers, StopAcknowledgedBeforeWhatIsInside) {
  EXPECT_THAT(failing_with_more("ddp stops", "the flush").run(),
              HasSubstr("ddp_ack: QP 3: RTL acknowledges; in the model it has not stopped: ddp: an "
                        "order to QP 3 waits for 0 segments out and 1 in"));
}

/// A response whose header mpa has not accepted yet.
Script stopping_with_a_response(const std::string& leaves_before) {
  Script s;
  s.set_up();
  s.answer_read();
  const size_t at = s.at("the ULPDU of the response");
  const Step ulpdu = s.steps[at];
  s.steps.resize(at);
  s.refuse_while_closing();
  s.steps.insert(s.steps.begin() + static_cast<std::ptrdiff_t>(s.at(leaves_before)), ulpdu);
  return s;
}

TEST(Follower, StopsBehindWhatMpaHasTaken) {
  EXPECT_THAT(stopping_with_a_response("ddp has stopped").run(), IsEmpty());
}

TEST(FollowerDiffers, StopAcknowledgedBeforeMpaHasTakenASegment) {
  EXPECT_THAT(stopping_with_a_response("the flush").run(),
              HasSubstr("ddp_ack: QP 3: RTL acknowledges; in the model it has not stopped: ddp: an "
                        "order to QP 3 waits for 1 segments out and 0 in"));
}

Script flushed() {
  Script s;
  s.set_up();
  s.receive_write();
  s.answer_empty_flush();
  s.answer_read();
  return s;
}

TEST(Follower, FollowsAnEmptyFlush) { EXPECT_THAT(flushed().run(), IsEmpty()); }

/// RFC 5040 section 5.5, rule 12: a Flush of length 0 is final once all placements before it are
/// written.
TEST(FollowerDiffers, EmptyFlushIsFinalBeforeAWriteIsPlaced) {
  Script s = flushed();
  const size_t placed = s.at("the payload of a Write");
  const size_t freed = s.at("the free slot of the Flush");
  std::rotate(s.steps.begin() + static_cast<std::ptrdiff_t>(placed),
              s.steps.begin() + static_cast<std::ptrdiff_t>(placed) + 1,
              s.steps.begin() + static_cast<std::ptrdiff_t>(freed) + 1);
  EXPECT_THAT(s.run(),
              AllOf(HasSubstr("at \"the free slot of the Flush\""),
                    HasSubstr("rdmap_op: QP 3: RTL frees the responder's slot; model's response is "
                              "not all scheduled, or its Flush Response not final")));
}

TEST(FollowerDiffers, EventOfAQpThatNeverHappened) {
  Script s = whole();
  s["qp hears of the peer's FIN"].commit<spec::QpStateCommit>().bits = 12;
  EXPECT_THAT(s.run(), HasSubstr("qp_state: QP 3: events: RTL 0xc / model 0x4"));
}

TEST(FollowerDiffers, FinLookedAtBeforeWhatCameBeforeIt) {
  Script s;
  s.set_up();
  s.receive_write();
  const size_t verdict = s.at("the verdict on a Write");
  s.steps.resize(verdict);
  s.steps.push_back({"FIN of the peer", spec::LlpCtlEvt{.kind = spec::LlpEvt::kPeerClosed,
                                                        .connection = Script::kConn}});
  s.steps.push_back(
      {"llp_if hears", spec::AnyCommit{spec::LlpRuleCommit{
                           .source = 2, .connection = Script::kConn, .qpn = Script::kQp}}});
  s.steps.push_back(
      {"qp hears", spec::AnyCommit{spec::QpStateCommit{.qpn = Script::kQp, .bits = 2}}});
  s.steps.push_back({"look", spec::AnyCommit{spec::QpRetireCommit{.op = 4, .qpn = Script::kQp}}});
  s.steps.push_back(
      {"again", spec::AnyCommit{spec::QpStateCommit{.again = 1, .qpn = Script::kQp, .bits = 2}}});
  EXPECT_THAT(s.run(),
              HasSubstr("RTL looks at the peer's FIN; a segment before it has no verdict yet"));
}

TEST(FollowerDiffers, CompletionsThatWereNeverComparedFail) {
  Tally t;
  t.made(Kind::kCompletions);
  EXPECT_THAT(t.never_compared(), HasSubstr("1 completions came out and none was compared"));
}

}  // namespace
}  // namespace rnic::sim
