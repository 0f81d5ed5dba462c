// The watchdog ends a run without progress. Its report names who waits for whom, from the program
// to the missing event. One test for each cause, on both kinds of device. Architecture 5.
#include <algorithm>

#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint32_t kBytes = 1 << 20;  // more than the peer's window
constexpr uint64_t kTarget = 0x10000000;

class Hang : public testing::TestWithParam<Kinds> {
 protected:
  bool is_model() const { return GetParam()[kClient].starts_with("model"); }
  bool is_tandem() const { return GetParam()[kClient].starts_with("tandem"); }

  /// The watchdog's report. host0 is the client, host1 the server.
  struct Report {
    std::string text;
    uint16_t number[2] = {};  // number of the connection, per side
    /// The part of the report on one side: its device and its waits.
    std::string of(Side side) const {
      const std::string head = side == kClient ? "\nhost0 " : "\nhost1 ";
      const size_t at = text.find(head);
      if (at == std::string::npos) return {};
      size_t end = text.size() - 1;  // of the last line
      for (const char* next : {"\nhost1/", "\nhost0: ", "\nhost1: "})
        end = std::min(end, text.find(next, at));
      return text.substr(at, end - at);
    }
    void says(Side side, const std::string& what) const {
      EXPECT_NE(of(side).find(what), std::string::npos)
          << what << " is not said of host" << side << " in:\n"
          << text;
    }
    void is_silent_of(Side side, const std::string& what) const {
      EXPECT_EQ(of(side).find(what), std::string::npos)
          << what << " is said of host" << side << " in:\n"
          << text;
    }
  };

  /// Connects two hosts, then starts `trouble`. Each host does its part and waits for something
  /// that never comes.
  template <class Trouble, class Client, class Server, class Expect>
  void hang(Trouble trouble, Client client, Server server, Expect expect) {
    in_child([&] {
      World w({.kind = GetParam(), .settings = {"watchdog_us=300"}});
      uint32_t key = 0;
      bool ready = false, troubled = false;
      Report report;
      const auto program = [&](Host& h, Side side, auto part) {
        h.open();
        Region data = h.region(kBytes, Host::kAll, kTarget);
        Endpoint& e = h.endpoint();
        if (side == kServer) key = data.mr.rkey();
        side == kClient ? h.connect(e) : h.accept(e);
        report.number[side] = e.number();
        if (side == kServer) ready = true;
        h.until("both", [&] { return ready; });
        if (side == kClient) {
          h.rest(20 * kUs);  // set-up traffic has ended
          trouble(w, report.number[kClient]);
          troubled = true;
        }
        h.until("the trouble", [&] { return troubled; });
        part(e, data, key);
        h.until(
            "what never comes", [&] { return w.failed || e.outstanding() == 0; }, 10 * kMs);
        if (e.outstanding() == 0)
          h.until(
              "the other", [&] { return w.failed; }, 10 * kMs);
      };
      const sim::RunResult r = w.try_run([&](Host& h) { program(h, kClient, client); },
                                         [&](Host& h) { program(h, kServer, server); });
      report.text = r.report;
      EXPECT_EQ(r.status, sim::RunStatus::kNoProgress) << r.report;
      EXPECT_LT(r.end, 2 * kMs);
      for (const char* line : {"no progress at", "host0/client: polls", "host1/server: polls"})
        EXPECT_NE(r.report.find(line), std::string::npos) << line << " is not in:\n" << r.report;
      for (const Side side : {kClient, kServer})
        report.says(side, side == kClient ? "host0 " + GetParam()[side].substr(0, 3)
                                          : "host1 " + GetParam()[side].substr(0, 3));
      expect(report);
    });
  }
  static void nothing(Endpoint&, Region&, uint32_t) {}
  static void write(Endpoint& e, Region& data, uint32_t key) {
    (void)e.write(data.sge(0, kBytes), key, kTarget);
  }
  static void read(Endpoint& e, Region& data, uint32_t key) {
    (void)e.read(data.sge(0, 1000), key, kTarget);
  }
  static void receive(Endpoint& e, Region& data, uint32_t) { (void)e.receive(data.sge(0, 1000)); }
  static void send(Endpoint& e, Region& data, uint32_t) { (void)e.send(data.sge(0, 1000)); }

  /// Model and RTL report, for a client whose Write is stuck, that its connection has no credit
  /// left.
  void lacks_credit(const Report& r) const {
    const std::string connection = "connection " + std::to_string(r.number[kClient]);
    if (is_model()) {
      r.says(kClient, "llp_if: QP ");
      r.says(kClient, "waits for the LLP's credit (" + connection + ": ");
      r.says(kClient, "wants to send a segment and waits for llp_if's grant");
      r.says(kClient, "issued WQEs, oldest index 0");
    } else {
      r.says(kClient, connection + " has ");
      r.says(kClient, " bytes of the LLP's credit left");
    }
    if (is_tandem()) r.says(kClient, "wants to send a segment and waits for llp_if's grant");
  }
  /// The server's device accepts no record: the client's bytes wait in the client's LLP, and
  /// records wait at the server's LLP port.
  void waits_for_the_server(const Report& r) const {
    lacks_credit(r);
    const std::string there = std::to_string(r.number[kServer]);
    r.says(kClient, "llp: connection " + std::to_string(r.number[kClient]) + ": ");
    r.says(kClient, " bytes wait for host1's device (its connection " + there + ")");
    r.says(kServer, " records wait for the device, the first on connection " + there);
  }
  /// The report has no wait except that this side may not send first.
  void only_listens(const Report& r) const {
    const std::string all = r.of(kServer);
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
    r.says(kServer, "no FPDU has come");
  }
};

/// The LLP's limit does not advance.
TEST_P(Hang, ReportNamesTheConnectionThatHasNoCredit) {
  std::optional<uint32_t> last;
  hang(
      [&](World& w, uint16_t number) {
        w.tap(kClient).on_credit = [&last, number](spec::LlpCredit& c) {
          if (c.connection != number) return;
          c.limit = last.value_or(c.limit);
          last = c.limit;
        };
      },
      write, nothing,
      [this](const Report& r) {
        lacks_credit(r);
        r.says(kServer, "nothing is held up");
      });
}

/// The peer's device accepts no record: its window fills, then the credit is used up.
TEST_P(Hang, ReportNamesThePeerThatTakesNoRecords) {
  hang([](World& w, uint16_t) { w.tap(kServer).takes_records = false; }, write, nothing,
       [this](const Report& r) { waits_for_the_server(r); });
}

/// The peer's host accepts no posted write: received data cannot be placed, which stalls every
/// stage back to the Write.
TEST_P(Hang, ReportNamesTheHostThatTakesNoWrites) {
  hang([](World& w, uint16_t) { w.tap(kServer).takes_writes = false; }, write, nothing,
       [this](const Report& r) {
         waits_for_the_server(r);
         if (is_model()) {
           r.says(kServer, "host_if: waits for posted credit");
           r.says(kServer, "segments wait to be placed");
           r.says(kServer, "place: ");
         } else {
           r.says(kServer, "dma_wr is offered by host_if and not taken by pcie");
           // The same chain by leaf and queue, from pins to pins, and the work request that started
           // it.
           r.says(kServer, " -dma_wr-> pins");
           r.says(kServer, "server: ddp.u_rx");
           r.says(kServer, " (full, ");
           r.says(kServer, ", unchanged since cycle ");
           r.says(kClient, "its SQ doorbell is at index 1, no WQE has completed");
           r.says(kServer, "rx_ulpdu is offered by mpa and not taken by ddp");
           r.says(kServer, "llp_rx is offered by llp and not taken by llp_if");
         }
       });
}

/// A completion of the peer's host is lost: its device cannot answer a Read, and the reader waits.
TEST_P(Hang, ReportNamesTheReadThatIsNotAnswered) {
  hang(
      [](World& w, uint16_t) {
        w.tap(kServer).on_read = [](const sim::DmaRead& r) {
          return r.client != sim::Client::kPayload;
        };
      },
      read, nothing,
      [this](const Report& r) {
        if (is_model()) {
          r.says(kServer, "host_if: payload read of QP ");
          r.says(kServer, "(1000 bytes) waits for ");
          r.says(kServer, "ddp: the oldest segment waits for its payload from host_if");
          r.says(kClient, "issued WQEs, oldest index 0");
        } else {
          r.says(kServer, " DMA reads are not answered, the oldest with tag ");
          r.says(kServer, ", for payload)");
        }
        if (is_model() || is_tandem()) r.says(kClient, "waits for 1 responses of the peer");
        r.is_silent_of(kClient, "credit");
        r.is_silent_of(kServer, "credit");
      });
}

/// The host accepts no read: a work request is posted, and not fetched.
TEST_P(Hang, ReportNamesTheHostThatTakesNoReads) {
  hang([](World& w, uint16_t) { w.tap(kClient).takes_reads = false; }, write, nothing,
       [this](const Report& r) {
         if (is_model()) {
           r.says(kClient, "host_if: waits for non-posted credit");
           r.says(kClient, "waits for a WQE fetch");
         } else {
           r.says(kClient, "dma_rd_req is offered by host_if and not taken by pcie");
         }
         only_listens(r);
       });
}

/// The passive side posts first. It may send nothing before the active side has (RFC 5044 section
/// 7.1.2), and the active side waits.
TEST_P(Hang, ReportNamesTheSideThatMayNotSendFirst) {
  hang([](World&, uint16_t) {}, receive, send,
       [this](const Report& r) {
         const std::string connection = "connection " + std::to_string(r.number[kServer]);
         r.says(kServer, "llp: " + connection +
                             ": no FPDU has come yet; before one does, this side, which was "
                             "called, may send none (RFC 5044 section 7.1.2)");
         if (is_model())
           r.says(kServer, "waits for the first FPDU of the peer (" + connection + ": ");
         if (is_model() || is_tandem())
           r.says(kServer, "wants to send a segment and waits for llp_if's grant");
         r.says(kClient, "nothing is held up");
         r.is_silent_of(kClient, "no FPDU has come");
       });
}

/// Each program waits for the other: no device has work, and the report blames none.
TEST_P(Hang, ReportBlamesNoDeviceForTheProgram) {
  hang([](World&, uint16_t) {}, receive, receive,
       [this](const Report& r) {
         r.says(kClient, "nothing is held up");
         only_listens(r);
       });
}

INSTANTIATE_TEST_SUITE_P(All, Hang,
                         testing::Values(kModel, kRtl, kModelMinimum, kTandemMinimum, kTandemStall),
                         name_of_kinds);

}  // namespace
}  // namespace rnic::tb
