// The base of rnic-sim's commands: child processes, device kinds, reports, the command that
// reproduces a failure.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "backend/rtl_pins.hpp"
#include "measure/results.hpp"
#include "output/files.hpp"
#include "output/name_lock.hpp"
#include "output/report.hpp"
#include "run/child.hpp"
#include "run/devices.hpp"
#include "run/failure_wave.hpp"
#include "run/latency_path.hpp"
#include "run/run_child.hpp"
#include "run/stream_watch.hpp"
#include "run/wire_use.hpp"
#include "run/write_watch.hpp"
#include "settings/config.hpp"
#include "settings/json_file.hpp"
#include "settings/words.hpp"
#include "support/folder.hpp"

namespace rnic::app {
namespace {

std::string usage_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Usage& e) {
    return e.what();
  }
  return "";
}

Outcome good(nlohmann::ordered_json json = {}) {
  return {.status = kGood, .json = std::move(json), .failure = ""};
}

TEST(InChild, GivesWhatTheBodyReturns) {
  const Outcome o = in_child([] {
    return Outcome{.status = kNoProgress, .json = {{"a", 7}}, .failure = "stuck\n"};
  });
  EXPECT_EQ(o.status, kNoProgress);
  EXPECT_EQ(o.json["a"], 7);
  EXPECT_EQ(o.failure, "stuck\n");
  EXPECT_GT(o.wall_s, 0);
  EXPECT_GT(o.peak_kib, 1000u);
}

TEST(InChild, TakesMoreThanAPipeHolds) {
  const Outcome o = in_child([] { return good({{"long", std::string(1'000'000, 'x')}}); });
  EXPECT_EQ(o.json["long"].get<std::string>().size(), 1'000'000u);
}

TEST(InChild, ExceptionIsAFailureWrongUseIsThrown) {
  const Outcome o = in_child([]() -> Outcome { throw std::runtime_error("it broke"); });
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_EQ(o.failure, "it broke\n");
  EXPECT_EQ(usage_of([] { (void)in_child([]() -> Outcome { throw Usage("not so"); }); }), "not so");
}

TEST(InChild, DeathIsAFailureWithItsSignal) {
  const Outcome o = in_child([]() -> Outcome {
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    return {};
  });
  EXPECT_EQ(o.status, kMismatch);
  EXPECT_NE(o.failure.find("signal 6"), std::string::npos) << o.failure;
  EXPECT_NE(in_child([]() -> Outcome { _exit(0); }).failure.find("without a result"),
            std::string::npos);
}

TEST(InChild, WhoTakesTooLongIsEnded) {
  const Outcome o = in_child(
      []() -> Outcome {
        for (;;) pause();
      },
      {.wall_s = 1});
  EXPECT_EQ(o.status, kNoProgress);
  EXPECT_NE(o.failure.find("too long"), std::string::npos) << o.failure;
  EXPECT_EQ(o.json.value("kind", "none"), "none");  // shrinking a failure compares its kind
}

TEST(Results, PartWithoutARowIsAnError) {
  Options o;
  Results r(o);
  r.part("logic", [&] { r.logic(); });
  EXPECT_EQ(r.status(), kGood);
  testing::internal::CaptureStderr();
  r.part("speed", [] {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "results: speed: nothing was measured, its tables have no row\n");
  EXPECT_EQ(r.status(), kMismatch);
}

TEST(Results, SpreadIsMedianLeastAndMost) {
  const Spread s = spread_of({3, 9, 1, 4, 5});
  EXPECT_EQ(s.least, 1);
  EXPECT_EQ(s.median, 4);
  EXPECT_EQ(s.most, 9);
}

TEST(InChildren, AreTakenInOrderAlthoughTheyEndInAnother) {
  std::vector<size_t> order;
  in_children(
      6, 3,
      [](size_t i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10 * (6 - i)));
        return good({{"i", i}});
      },
      [&](size_t i, Outcome o) {
        EXPECT_EQ(o.json["i"], i);
        order.push_back(i);
        return true;
      });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(InChildren, StopWhenToldTo) {
  size_t taken = 0;
  in_children(
      100, 2, [](size_t) { return good(); }, [&](size_t, Outcome) { return ++taken < 3; });
  EXPECT_EQ(taken, 3u);
}

// hold_name() locks a file, not a word: runs that fail in two folders write waveforms of the same
// name and do not disturb each other. Two child processes: the first holds w.fst in `here`; the
// second asks for w.fst in `there` and `here`.
TEST(HoldName, IsOfThePlaceAndNotOfTheWord) {
  const tb::Folder here, there;
  const auto wait_for = [&](const char* name) {
    while (!std::filesystem::exists(here / name))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  const auto hold_in = [](const tb::Folder& folder) {
    std::filesystem::current_path(folder.path());
    return hold_name("w.fst");
  };
  nlohmann::ordered_json first, second;
  in_children(
      2, 2,
      [&](size_t i) {
        if (i == 0) {
          const bool is_held = hold_in(here);
          std::ofstream(here / "held") << "";
          wait_for("asked");
          return good({{"is_held", is_held}});
        }
        wait_for("held");
        const bool there_too = hold_in(there), here_too = hold_in(here);
        std::ofstream(here / "asked") << "";
        return good({{"there_too", there_too}, {"here_too", here_too}});
      },
      [&](size_t i, const Outcome& o) {
        (i == 0 ? first : second) = o.json;
        return true;
      });
  EXPECT_EQ(first["is_held"], true);
  EXPECT_EQ(second["there_too"], true);
  EXPECT_EQ(second["here_too"], false);
}

// A short word matches a name only if most of its letters agree.
TEST(Nearest, IsSaidOfWordsThatAreAlike) {
  for (const auto& [wanted, name] : {std::pair{"modle", "model"},
                                     {"rnu", "run"},
                                     {"mut", "mtu"},
                                     {"write_latt", "write_lat"},
                                     {"rite_la", "write_lat"}})
    EXPECT_EQ(nearest(wanted, {name, "a_long_word"}), std::string(", did you mean ") + name + "?");
  for (const auto& [wanted, name] :
       {std::pair{"hw", "rtl"}, {"x", "y"}, {"hw", "qp"}, {"abc", "def"}, {"abxyz", "abcde"}})
    EXPECT_EQ(nearest(wanted, {name}), "") << wanted;
}

TEST(Devices, UnknownKindAndFixedSizesAreRefused) {
  Config c;
  EXPECT_NE(usage_of([&] {
              check_kinds({"modle", "rtl"}, c);
            }).find("did you mean model?"),
            std::string::npos);
  for (const auto& kind : device_kinds())
    EXPECT_EQ(usage_of([&] { check_kinds({kind, kind}, c); }), "");
  c.set("num_qps=16", "test");
  EXPECT_NE(usage_of([&] { check_kinds({"model", "rtl"}, c); }).find("fixed"), std::string::npos);
  EXPECT_EQ(usage_of([&] { check_kinds({"model", "model"}, c); }), "");
}

TEST(Devices, WaveWindowIsRead) {
  Config c;
  EXPECT_NE(usage_of([&] { (void)make_device("rtl", kClient, c, 1, "w.fst@10"); }).find("FROM..TO"),
            std::string::npos);
  EXPECT_NE(
      usage_of([&] { (void)make_device("rtl", kClient, c, 1, "w.fst@a..b"); }).find("FROM..TO"),
      std::string::npos);
}

// All statistics of 1, 2, ... 201 ns in any order, and of the same with one outlier, are known.
TEST(Latency, IsOfTheSortedSamples) {
  std::vector<Time> samples;
  for (Time k = 0; k < 201; ++k) samples.push_back((k * 77 % 201 + 1) * kNs);
  const auto l = latency_json(samples);
  EXPECT_EQ(l["min"], 1.0);
  EXPECT_EQ(l["p50"], 101.0);
  EXPECT_EQ(l["p99"], 199.0);
  EXPECT_EQ(l["max"], 201.0);
  EXPECT_EQ(l["avg"], 101.0);
  samples.push_back(10000 * kNs);
  const auto far = latency_json(samples);
  EXPECT_EQ(far["p50"], 101.0);
  EXPECT_EQ(far["p99"], 199.0);
  EXPECT_EQ(far["max"], 10000.0);
  EXPECT_NEAR(far["avg"], (201 * 101.0 + 10000) / 202, 1e-6);
  EXPECT_EQ(latency_json({1500})["p99"], 1.5);
  EXPECT_TRUE(latency_json({}).is_null());
}

TEST(Csv, CellIsQuotedWhereItHasToBe) {
  const std::vector<nlohmann::ordered_json> runs = {
      {{"program", "a,b"},
       {"gbps", 0.0},
       {"latency_ns", nullptr},
       {"settings", {{"size", "64"}, {"keep", "3,17"}}}},
      {{"program", "say \"it\""},
       {"sim_ns", 4.0},
       {"gbps", 2.5},
       {"msg_per_s", 0.0},
       {"latency_ns", {{"p50", 0.5}}},
       {"settings", nlohmann::ordered_json::object()}}};
  const std::string text = csv(runs);
  EXPECT_NE(text.find("\n\"a,b\",,,,,,,,,,,,,\"size=64 keep=3,17\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\"say \"\"it\"\"\",,,,,,,4.0,2.5,0.0,0.5,,,\n"), std::string::npos)
      << text;
}

TEST(Junit, HasACaseForEachRun) {
  const std::string x =
      junit("a<b", {{"one", 1.5, ""}, {"two & \"three\"", 0.25, "first\nsecond <x>\n"}});
  EXPECT_NE(x.find("<testsuite name=\"a&lt;b\" tests=\"2\" failures=\"1\" time=\"1.750\">"),
            std::string::npos)
      << x;
  EXPECT_NE(x.find("name=\"one\" time=\"1.500\"/>"), std::string::npos) << x;
  EXPECT_NE(x.find("name=\"two &amp; &quot;three&quot;\""), std::string::npos) << x;
  EXPECT_NE(x.find("<failure message=\"first\">first\nsecond &lt;x&gt;\n</failure>"),
            std::string::npos)
      << x;
}

TEST(FailureWave, StandsAroundTheTimeOfTheFailure) {
  const auto before = std::filesystem::current_path();
  const tb::Folder folder;
  std::filesystem::current_path(folder.path());
  RunRequest r;
  r.program = "write_bw";
  r.kind = {"rtl", "model"};
  for (const char* s :
       {"size=4096", "count=20", "client.pcie_error_status=3", "client.pcie_error_nth=60"})
    r.config.set(s, "test");
  const Outcome o = run_child(r);
  ASSERT_TRUE(o.json.contains("failed_at_ns")) << o.failure;
  const uint64_t at = o.json["failed_at_ns"];
  const std::string said = failure_wave(r, o);
  EXPECT_NE(
      said.find(fmt::format("write_bw-seed1.client.fst from {} to {} ns", at - 2000, at + 500)),
      std::string::npos)
      << said;
  EXPECT_GT(std::filesystem::file_size("write_bw-seed1.client.fst"), 10'000u);
  r.wave = "none";
  EXPECT_EQ(failure_wave(r, o), "");
  std::filesystem::current_path(before);
}

TEST(WriteWatch, FindsTheLastWriteBefore) {
  WriteWatch w(0x1010);
  for (const auto& [at, address] :
       {std::pair<Time, uint64_t>{5, 0x1000}, {7, 0x1011}, {9, 0x1010}, {20, 0x1000}}) {
    sim::DmaWrite d;
    d.address = address;
    d.data = Payload::make(32);
    w.on_write(at, d, true);
  }
  EXPECT_EQ(w.last_before(4), 0u);
  EXPECT_EQ(w.last_before(8), 5u);
  EXPECT_EQ(w.last_before(19), 9u);
  EXPECT_EQ(w.last_before(20), 20u);
}

/// The index of a stream by its name.
size_t stream(const std::string& name) {
  for (size_t i = 0; i < sim::kStreamNames.size(); ++i)
    if (name == sim::kStreamNames[i].name) return i;
  throw std::runtime_error(name);
}

TEST(StreamWatch, TellsStepsOfAMessageAndSharesOfCycles) {
  StreamWatch w;
  uint64_t now = 0;
  const auto edge = [&](const std::vector<std::string>& fire,
                        const std::vector<std::string>& wait = {}) {
    sim::StreamStates s{};
    for (const auto& f : fire) s[stream(f)] = sim::kStreamFires;
    for (const auto& f : wait) s[stream(f)] = sim::kStreamValid;
    w.cycle(now++);
    w.streams(s);
  };
  for (int message = 0; message < 3; ++message) {
    sim::Mmio push;
    push.is_write = true;
    push.bytes = 64;
    for (int unit = 0; unit < 2; ++unit) {  // the path starts with the second half of the push
      edge({"mmio_req"});
      w.mmio(push);
    }
    edge({});
    edge({"qp_doorbell"}, {"tx_want"});
    edge({"tx_want"});
    edge({"llp_tx"});
    edge({"llp_tx"});  // its second beat
    edge({"llp_rx"});
    edge({"llp_rx"});
    edge({});
    edge({"rx_ulpdu_hdr"});
    edge({"dma_wr"});
  }
  while (now % 256 != 1) edge({});
  const auto send = w.send_path(0, kMs);
  ASSERT_EQ(send.size(), 4u);
  EXPECT_EQ(send[0].messages, 3u);
  EXPECT_EQ(send[1].what, "qp_doorbell (host_if to qp)");
  EXPECT_EQ(send[1].cycles, 2);
  EXPECT_EQ(send[3].what, "llp_tx (llp_if to llp)");
  EXPECT_EQ(send[3].since_start, 4);
  const auto receive = w.receive_path(0, kMs);
  ASSERT_EQ(receive.size(), 3u);
  EXPECT_EQ(receive[1].cycles, 2);
  EXPECT_EQ(receive[2].since_start, 3);
  const auto use = w.use(0, kMs);
  EXPECT_EQ(use[stream("tx_want")].moved, 3 / 256.0);
  EXPECT_EQ(use[stream("tx_want")].waited, 3 / 256.0);
  EXPECT_EQ(use[stream("llp_tx")].moved, 6 / 256.0);
  EXPECT_EQ(use[stream("llp_tx")].waited, 0);
}

// The responder's path ends on the wire. The requester's path ends with res_done: its next request
// belongs to another message.
TEST(StreamWatch, TellsTheWayOfAnAtomic) {
  for (const bool asks : {false, true}) {
    StreamWatch w;
    uint64_t now = 0;
    const auto edge = [&](const char* name) {
      sim::StreamStates s{};
      if (*name != 0) s[stream(name)] = sim::kStreamFires;
      w.cycle(now++);
      w.streams(s);
    };
    for (int message = 0; message < 3; ++message) {
      for (const char* s : {"atomic_req", "qn1_xlate", "", "word_wr", "dma_wr", "atomic_rsp"})
        edge(s);
      if (asks) edge("res_done");
      for (const char* s : {"tx_message_hdr", "llp_tx"}) edge(s);
    }
    const auto steps = w.atomic_path(0, kMs);
    ASSERT_EQ(steps.size(), asks ? 6u : 7u);
    EXPECT_EQ(steps[0].messages, 3u);
    EXPECT_EQ(steps[2].what, "word_wr (atomic to host_if)");
    EXPECT_EQ(steps[2].cycles, 2);
    EXPECT_EQ(steps.back().what, asks ? "res_done (rdmap to qp)" : "llp_tx (llp_if to llp)");
    EXPECT_EQ(steps.back().since_start, asks ? 6 : 7);
  }
}

TEST(WireUse, IsBytesOverWhatFits) {
  WireUse use({sim::PcieConfig{}, sim::PcieConfig{}}, 100);
  sim::Frame f;
  f.from = kServer;
  f.data = Payload::make(1460);
  for (int i = 1; i <= 10; ++i)
    use.link().frame(static_cast<Time>(i) * 246'080,
                     f);  // 1538 bytes take twice as long at half the rate
  const auto share = use.share(0, 2'460'800);
  EXPECT_NEAR(share.at("server link"), 0.5, 1e-9);
  EXPECT_EQ(share.at("client link"), 0);
  sim::DmaWrite w;
  w.data = Payload::make(256);
  use.pcie(kClient).on_write_issued(1000, w);
  EXPECT_NEAR(use.share(0, 100'000).at("client pcie up"),
              280 * 8 / (sim::PcieConfig{}.gbps() * 100), 1e-9);
}

// nlohmann's parse with a callback took 16 times as long for 4 times the elements.
TEST(JsonFile, TakesTimeInProportionToALongList) {
  const tb::Folder folder;
  const auto seconds = [&](size_t elements) {
    const std::string file = folder / "list.json";
    {
      std::ofstream out(file);
      out << R"({"receives": [)";
      for (size_t i = 0; i < elements; ++i) out << (i == 0 ? "" : ",\n") << R"({"length": 4})";
      out << "]}";
    }
    double least = 1e9;
    for (int run = 0; run < 3; ++run) {
      const auto from = std::chrono::steady_clock::now();
      EXPECT_EQ(read_json(file, "").element_lines.at("receives").size(), elements);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
      least = std::min(least, took.count());
    }
    return least;
  };
  EXPECT_LT(seconds(16'000) / seconds(4'000), 8);
}

TEST(Results, LogicIsReadFromWhatDepthPrints) {
  Options o;
  const tb::Folder folder;
  o.depth = folder / "depth.txt";
  std::ofstream(o.depth)
      << "unit              LUT6     flops  levels  memories  memory bits  seconds\n"
         "tpt              20491     15822      13       106       759686       66\n"
         "    u_msix.data                                                       64 x 32    read 3 "
         "(1 sync) write 1\n"
         "    FAIL 13 LUT levels, at most 12: from \\u_tpt.u_entry.offset_q [2] to "
         "\\u_tpt.u_entry.end_q [9]\n"
         "rnic            300000    200000      12       106       759686       66\n";
  Results r(o);
  r.logic();
  EXPECT_NE(r.page().find("| logic depth | 13 LUT6 levels (tpt) | no path above 8 LUT6 levels | "
                          "**no** |"),
            std::string::npos)
      << r.page();
  EXPECT_NE(r.page().find("| size of the chip | 300000 LUT6 | 65000 LUT6 | **no** |"),
            std::string::npos)
      << r.page();
  EXPECT_NE(
      r.page().find(
          "- logic depth (13 LUT6 levels (tpt), wanted no path above 8 LUT6 levels): tpt: 13 LUT "
          "levels, at most 12: from \\u_tpt.u_entry.offset_q [2] to \\u_tpt.u_entry.end_q [9], "
          "tpt 13, rnic 12; depth.sh accepts 11.\n"),
      std::string::npos)
      << r.page();
  EXPECT_EQ(r.json()["figures"][0]["reached"], false);
  std::ofstream(o.depth) << "# unit       LUT6   flops  memory bits  levels  hash\n"
                            "host_if     29647   21278       906149      10  edaf50d483229456\n"
                            "rnic       119568   94703     70213259      11  bb355d117df8cc31\n";
  Results table(o);
  table.logic();
  EXPECT_NE(table.page().find("- size of the chip (119568 LUT6, wanted 65000 LUT6): 1.84 times the "
                              "goal; the largest units, of the chip: host_if 25 %.\n"),
            std::string::npos)
      << table.page();
  EXPECT_NE(table.page().find("| host_if | 29647 | 21278 | 906149 | 10 |"), std::string::npos);
  std::ofstream(o.depth) << "nothing of the kind\n";
  EXPECT_NE(usage_of([&] { r.logic(); }).find("depth.sh"), std::string::npos);
}

// A doorbell, a WQE, a payload and a frame to the peer; a frame back and a completion.
TEST(LatencyPath, WalksFromThePollToThePost) {
  const sim::PcieConfig pcie;
  const sim::LinkConfig link;
  LatencyPath p({pcie, pcie}, link);
  const Time crossing = pcie.pcie_latency_ns * kNs / 4, begin = 1'000'000;
  auto& client = p.pcie(kClient);
  Time t = begin + 35 * kNs + crossing;
  sim::Mmio doorbell;
  doorbell.is_write = true;
  doorbell.bar = 2;
  client.on_mmio(t, doorbell);
  const auto read = [&](sim::Client who, uint8_t tag, Time device) {
    t += device;
    client.on_read_issued(t, {.tag = tag, .length = 64, .client = who});
    t += 800 * kNs;
    client.on_completion(t, {.tag = tag, .is_last = true, .data = {}});
  };
  const auto frame = [&](uint8_t from, Time device, uint32_t bytes) {
    sim::Frame f;
    f.from = from;
    f.to = from == kClient ? kServer : kClient;
    f.data = Payload::make(bytes);
    t += device + sim::Link(link).duration(sim::frame_bytes(bytes)) + link.link_delay_ns * kNs;
    p.link().frame(t, f);
  };
  read(sim::Client::kSqFetch, 1, 50 * kNs);
  read(sim::Client::kPayload, 2, 60 * kNs);
  client.on_read_issued(t - 2, {.tag = 9, .length = 64, .client = sim::Client::kRqFetch});
  client.on_completion(t + 1, {.tag = 9, .data = {}});  // a receive's fetch: not on the path
  frame(kClient, 70 * kNs, 100);
  frame(kServer, 80 * kNs, 60);
  sim::DmaWrite cqe;
  cqe.data = Payload::make(32);
  cqe.client = sim::Client::kCq;
  t += 90 * kNs;
  client.on_write_issued(t, cqe);
  t += 300 * kNs;
  client.on_write(t, cqe, true);
  const Time end = t + 17 * kNs;
  const auto steps = p.steps(begin, end);
  ASSERT_EQ(steps.size(), 13u);
  std::array<Time, 4> of{};
  Time at = begin;
  for (const auto& s : steps) {
    EXPECT_EQ(s.from, at) << s.what;
    at = s.to;
    of[s.kind] += s.to - s.from;
  }
  EXPECT_EQ(at, end);
  EXPECT_EQ(of[LatencyPath::kDevice], (50 + 60 + 70 + 80 + 90) * kNs);
  EXPECT_EQ(steps[2].what, "doorbell to sq_fetch read");
  EXPECT_EQ(steps[8].side, kServer);
  EXPECT_TRUE(p.steps(begin - 5'000'000, begin - 1).empty());
  const auto json = p.json({{begin, end}, {begin - 9, begin - 5}}, 1);
  EXPECT_EQ(json["samples"], 2);
  EXPECT_EQ(json["walked"], 1);
}

// The device's share scales with its clock, the platform's does not; together with the host's they
// are the latency. Of a long message, a device handles a part while other pieces are on PCIe or on
// the link. At both clocks a device accepts beats at least as fast as PCIe delivers them. At 250
// MHz the device's own pass over 4 KiB would be the longer one, and its share more than twice that
// at 500 MHz.
TEST(LatencyPath, SharesOfARunAreItsLatency) {
  for (const char* program : {"write_lat", "send_lat", "read_lat", "flush_lat"}) {
    for (const auto& [size, hidden] : {std::pair{"size=64", 0.06}, {"size=4096", 0.1}}) {
      std::array<double, 2> device{}, platform{};
      for (const bool slow : {false, true}) {
        RunRequest r;
        r.program = program;
        r.path = true;
        for (const char* s :
             {size, "count=20", "warmup=4", slow ? "clock_mhz=500" : "clock_mhz=1000"})
          r.config.set(s, "test");
        const Outcome o = run_child(r);
        ASSERT_EQ(o.status, kGood) << o.failure;
        const auto& path = o.json["path"];
        EXPECT_EQ(path["samples"], 20) << program;
        ASSERT_EQ(path["walked"], 20) << program;
        device[slow] = path["device_ns"];
        platform[slow] = path["pcie_ns"].get<double>() + path["link_ns"].get<double>();
        EXPECT_NEAR(device[slow] + platform[slow] + path["host_ns"].get<double>(),
                    o.json["latency_ns"]["avg"].get<double>(), 0.1)
            << program;
      }
      EXPECT_NEAR(device[1], 2 * device[0], hidden * device[1]) << program << " " << size;
      EXPECT_NEAR(platform[1], platform[0], 0.04 * platform[0]) << program << " " << size;
    }
  }
}

TEST(Results, TimingRowsSayHowManyOperationsWereMeasured) {
  const auto run = [](double gbps, const nlohmann::ordered_json& latency) {
    return nlohmann::ordered_json{{"ops", 128}, {"gbps", gbps}, {"latency_ns", latency}};
  };
  TimingCase latency{
      .program = "read_lat", .size = "64", .qps = "8", .is_latency = true, .limit = ""};
  latency.take(run(1, {{"avg", 2000.0}}), run(1, {{"avg", 2100.0}}));
  TimingCase rate{.program = "read_bw", .size = "64", .qps = "1", .limit = ""};
  rate.take(run(50, nullptr), run(40, nullptr));
  EXPECT_EQ(markdown(rows_of({latency, rate}, false)),
            "| program | size | MTU | QPs | ways | operations | RTL | model | error |\n"
            "|---|---|---|---|---|---|---|---|---|\n"
            "| read_lat | 64 | 1500 | 8 | one | 128 | 2000 ns | 2100 ns | +5.0 % |\n"
            "| read_bw | 64 | 1500 | 1 | one | 128 | 50.000 Gb/s | 40.000 Gb/s | -20.0 % |\n\n");
  TimingCase alone{.program = "read_lat",
                   .size = "64",
                   .qps = "1",
                   .is_latency = true,
                   .is_alone = true,
                   .limit = ""};
  const auto with_path = [&](double device) {
    auto j = run(1, {{"avg", 2000.0}});
    j["path"]["device_ns"] = device;
    return j;
  };
  alone.take(with_path(500), with_path(505));
  EXPECT_NE(markdown(rows_of({alone}, false)).find("| 500.0 ns | 505.0 ns | +1.0 % | 1500 ns |"),
            std::string::npos);
  TimingCase both{.program = "read_bw", .size = "64", .qps = "1", .is_both = true, .limit = ""};
  auto two = run(50, nullptr);
  two["back"] = {{"ops", 100}, {"gbps", 10.0}};
  both.take(two, two);
  EXPECT_EQ(both.rtl, 60);
  EXPECT_EQ(both.operations, 228u);
}

TEST(Results, TimeOfTheTestsIsReadFromWhatTheyPrint) {
  Options o;
  const tb::Folder folder;
  o.ci = folder / "ci.txt";
  std::ofstream(o.ci) << "[run] step lint\nlint: 99 modules clean\n[run] step lint passed in 25 "
                         "s\n[run] step build passed in 1500 s\n[run] step system passed in 900 "
                         "s\n[run] 2425 s in all\n3 passed, 0 failed\n";
  Results slow(o);
  slow.tests();
  EXPECT_NE(slow.page().find("| tb/run.sh from a clean clone, cold cache | 40.4 min | under 40 min "
                             "on 2 cores | **no** |"),
            std::string::npos)
      << slow.page();
  EXPECT_NE(slow.page().find("the longest steps are build 1500 s, system 900 s, lint 25 s"),
            std::string::npos)
      << slow.page();
  EXPECT_NE(slow.page().find("| build | 1500 |"), std::string::npos) << slow.page();
  std::ofstream(o.ci) << "[run] step lint FAILED after 25 s\n[run] 30 s in all\n";
  Results failed(o);
  failed.tests();
  EXPECT_EQ(failed.json()["figures"][0]["reached"], false);
  EXPECT_NE(failed.page().find("failed: lint"), std::string::npos) << failed.page();
}

// A doorbell waits while qp clears its tables: the stream from host_if to qp is valid and not
// ready.
TEST(RtlPins, ShowStreamsBetweenUnits) {
  const auto pins = sim::make_rtl_pins(sim::RtlBuild::kDefault, 0);
  pins->rst_n = false;
  for (int i = 0; i < 8; ++i) pins->cycle();
  pins->rst_n = true;
  spec::MmioReq ring;
  ring.is_write = true;
  ring.bar = 2;
  ring.bytes = 8;
  const size_t doorbell = stream("qp_doorbell");
  pins->in.mmio_req.set(ring);
  while (!pins->in.mmio_req.take_fired()) pins->cycle();
  int waited = 0, fired = 0;
  pins->want_streams = true;
  for (int i = 0; i < 3000 && fired == 0; ++i) {
    pins->cycle();
    waited += pins->streams[doorbell] == sim::kStreamValid ? 1 : 0;
    fired += pins->streams[doorbell] == sim::kStreamFires ? 1 : 0;
    if (waited == 1 && fired == 0) {
      EXPECT_EQ(pins->streams_now()[doorbell], sim::kStreamValid);
    }
  }
  EXPECT_GT(waited, 0);
  EXPECT_EQ(fired, 1);
}

}  // namespace
}  // namespace rnic::app
