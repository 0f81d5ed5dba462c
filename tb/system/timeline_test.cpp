// --explain and --timeline, on model and RTL. The rows of --explain add up to the message's
// latency, name the same units and links on both kinds, and agree with --stages. A timeline is read
// back: slices of a track do not overlap, and every arrow starts and ends at one.
// docs/simulator.md, Timeline and explain
#include "run/timeline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.hpp"
#include "run/run_child.hpp"
#include "settings/errors.hpp"
#include "support/folder.hpp"

namespace rnic::app {
namespace {

using Json = nlohmann::ordered_json;

struct Case {
  const char* program;
  std::vector<const char*> settings;
};

RunRequest request(const Case& c, const char* client, const char* server) {
  RunRequest r;
  r.program = c.program;
  r.kind = {client, server};
  for (const char* s : {"count=9", "warmup=2"}) r.config.set(s, "test");
  for (const char* s : c.settings) r.config.set(s, "test");
  return r;
}

std::string usage_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Usage& e) {
    return e.what();
  }
  return "";
}

int64_t ps(const Json& ns) { return std::llround(ns.get<double>() * 1000); }

Json explain(const Case& c, const char* client, const char* server, bool stages = false) {
  RunRequest r = request(c, client, server);
  r.explain = true;
  r.streams = stages;
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure;
  return out.json;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string s = info.param.program;
  for (const char* word : info.param.settings) s += std::string("_") + word;
  for (char& c : s) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return s;
}

class Explain : public testing::TestWithParam<Case> {};

TEST_P(Explain, RowsAddUpToTheLatencyOnBothKinds) {
  std::vector<std::string> places[2];
  const char* kinds[2] = {"model", "rtl"};
  for (size_t k = 0; k < 2; ++k) {
    const Json e = explain(GetParam(), kinds[k], kinds[k])["explain"];
    ASSERT_TRUE(e.contains("rows")) << e;
    int64_t at = 0;
    for (const auto& row : e["rows"]) {
      EXPECT_EQ(ps(row["start_ns"]), at) << kinds[k] << " " << row;
      EXPECT_GE(ps(row["ns"]), 0) << kinds[k] << " " << row;
      at += ps(row["ns"]);
      places[k].push_back(fmt::format("{} {} {}", row["side"].get<std::string>(),
                                      row["where"].get<std::string>(),
                                      row["what"].get<std::string>()));
    }
    EXPECT_EQ(at, ps(e["latency_ns"]) * e["times"].get<int64_t>()) << kinds[k];
  }
  EXPECT_EQ(places[0], places[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Explain,
    testing::Values(Case{"write_lat", {"size=64"}}, Case{"write_lat", {"size=4096"}},
                    Case{"write_lat", {"size=64", "push=1", "inline=64"}},
                    Case{"send_lat", {"size=64"}}, Case{"read_lat", {"size=64"}},
                    Case{"flush_lat", {"size=64"}}, Case{"atomic_lat", {}},
                    Case{"atomic_write_lat", {}}, Case{"pingpong", {"size=256"}}),
    name_of);

/// Where the cycles of --stages belong: the unit that sends on the stream.
std::map<std::string, double> by_unit(const Json& steps) {
  std::map<std::string, double> sums;
  for (size_t i = 1; i < steps.size(); ++i) {
    const std::string what = steps[i]["what"];
    const size_t unit = what.find('(') + 1;
    sums[what.substr(unit, what.find(' ', unit) - unit)] += steps[i]["cycles"].get<double>();
  }
  return sums;
}

// The client's doorbell to its first frame, and the server's frame to its memory.
TEST(Explain, AgreesWithTheStagesOfTheRtl) {
  const Json j = explain({"write_lat", {"size=64", "push=1", "inline=64"}}, "rtl", "rtl", true);
  const auto& rows = j["explain"]["rows"];
  std::map<std::string, double> send, receive;
  for (const auto& row : rows) {
    const std::string where = row["where"];
    const bool is_device = where != "host" && where != "doorbell" && where != "pcie" &&
                           where != "wire" && where != "placement" && where != "completion";
    if (where == "placement") break;
    if (!is_device) continue;
    auto& sums = row["side"] == "client" ? send : receive;
    sums[where] += row["ns"].get<double>() * 1000 / base::kPsPerCycle;
  }
  const auto sent = by_unit(j["stages"]["client"]["push_to_wire"]),
             received = by_unit(j["stages"]["server"]["wire_to_host"]);
  ASSERT_FALSE(sent.empty());
  ASSERT_FALSE(received.empty());
  // A device step begins when the TLP or frame arrives, --stages with its beat: up to 2 cycles.
  // The row of llp_if lasts until the frame's first bit, its stage until the first beat on llp_tx.
  for (const auto& [unit, cycles] : sent) {
    if (unit == "llp_if") {
      EXPECT_GE(send[unit], cycles);
    } else {
      EXPECT_NEAR(send[unit], cycles, 2.01) << unit;
    }
  }
  for (const auto& [unit, cycles] : received) {
    // --stages has no stream between llp_if and mpa: both are in the row of mpa.
    const double own = receive[unit] + (unit == "mpa" ? receive["llp_if"] : 0);
    EXPECT_NEAR(own, cycles, 2.01) << unit;
  }
}

TEST(Explain, RefusesProgramsWithSeveralMessagesOutstanding) {
  RunRequest r = request({"write_bw", {}}, "model", "model");
  r.explain = true;
  EXPECT_EQ(usage_of([&] { check(r); }),
            "--explain: write_bw has several messages outstanding; a _lat program or pingpong has "
            "one");
  r = request({"write_lat", {"threads=2"}}, "model", "model");
  r.explain = true;
  EXPECT_NE(usage_of([&] { check(r); }).find("--explain: threads=2"), std::string::npos);
}

// --- timeline

using TrackId = std::pair<int, int>;  // process, thread

struct Slice {
  std::string name;
  int64_t from = 0, to = 0;  // ps
};
struct Arrow {
  std::string ph;
  TrackId track;
  int64_t at = 0;
};
struct Read {
  std::map<TrackId, std::string> names;
  std::map<TrackId, std::vector<Slice>> tracks;
  std::map<uint64_t, std::vector<Arrow>> arrows;

  std::vector<Slice> slices_of(int pid, const std::string& prefix) const {
    std::vector<Slice> all;
    for (const auto& [id, slices] : tracks) {
      if (id.first == pid && names.at(id).starts_with(prefix))
        all.insert(all.end(), slices.begin(), slices.end());
    }
    return all;
  }
};

int64_t ps_of_us(const Json& us) { return std::llround(us.get<double>() * 1e6); }

Read read(const Json& trace) {
  Read r;
  for (const auto& e : trace["traceEvents"]) {
    const std::string ph = e["ph"];
    const TrackId id{e["pid"].get<int>(), e.value("tid", 0)};
    if (ph == "M") {
      if (e["name"] == "thread_name") r.names[id] = e["args"]["name"].get<std::string>();
    } else if (ph == "X") {
      const int64_t from = ps_of_us(e["ts"]);
      r.tracks[id].push_back({e["name"].get<std::string>(), from, from + ps_of_us(e["dur"])});
    } else {
      r.arrows[e["id"].get<uint64_t>()].push_back({ph, id, ps_of_us(e["ts"])});
    }
  }
  return r;
}

struct TimelineRun {
  Read read;
  Json json;
};

TimelineRun timeline(const Case& c, const char* client, const char* server,
                     const std::string& window = "") {
  const tb::Folder folder;
  RunRequest r = request(c, client, server);
  r.timeline = folder / "t.json" + window;
  const Outcome out = run_child(r);
  EXPECT_EQ(out.status, kGood) << out.failure;
  std::ifstream in(folder / "t.json");
  return {read(Json::parse(in)), out.json};
}

void expect_sound(const Read& r) {
  for (const auto& [id, slices] : r.tracks) {
    ASSERT_TRUE(r.names.contains(id));
    int64_t end = 0;
    for (const Slice& s : slices) {
      EXPECT_GE(s.to, s.from) << r.names.at(id) << " " << s.name;
      EXPECT_GE(s.from, end) << r.names.at(id) << " " << s.name;
      end = s.to;
    }
  }
  for (const auto& [id, arrows] : r.arrows) {
    ASSERT_GE(arrows.size(), 2u) << id;
    for (size_t i = 0; i < arrows.size(); ++i) {
      const Arrow& a = arrows[i];
      EXPECT_EQ(a.ph, i == 0 ? "s" : i + 1 == arrows.size() ? "f" : "t") << id;
      if (i != 0) {
        EXPECT_GE(a.at, arrows[i - 1].at) << id;
      }
      const auto& slices = r.tracks.at(a.track);
      EXPECT_TRUE(std::ranges::any_of(slices, [&](const Slice& s) { return s.from == a.at; }))
          << id << ": no slice begins at the arrow on " << r.names.at(a.track);
    }
  }
}

/// The names of the tracks that have slices, without the QPs', which depend on how many requests
/// are outstanding at a time.
std::set<std::string> used(const Read& r) {
  std::set<std::string> all;
  for (const auto& [id, slices] : r.tracks) {
    if (!slices.empty() && !r.names.at(id).starts_with("QP"))
      all.insert(fmt::format("{} {}", id.first, r.names.at(id)));
  }
  return all;
}

class TimelineTest : public testing::TestWithParam<Case> {};

TEST_P(TimelineTest, SlicesDoNotOverlapAndArrowsEndOnBothKinds) {
  std::set<std::string> names[2];
  const char* kinds[2] = {"model", "rtl"};
  for (size_t k = 0; k < 2; ++k) {
    const TimelineRun t = timeline(GetParam(), kinds[k], kinds[k]);
    expect_sound(t.read);
    names[k] = used(t.read);
    const auto requests = t.read.slices_of(1, "QP");
    EXPECT_GE(requests.size(), 9u) << kinds[k];
    EXPECT_GE(t.read.arrows.size(), requests.size()) << kinds[k];
    EXPECT_FALSE(t.json["timeline"].contains("lost_from_ns"));
    // Post, doorbell, frame; then the placement or the CQE, if the request has one.
    for (const auto& [id, arrows] : t.read.arrows) EXPECT_GE(arrows.size(), 3u) << id;
    EXPECT_FALSE(t.read.slices_of(1, "thread").empty());
  }
  EXPECT_EQ(names[0], names[1]);
}

INSTANTIATE_TEST_SUITE_P(Programs, TimelineTest,
                         testing::Values(Case{"write_lat", {"size=64"}},
                                         Case{"write_bw", {"size=4096", "qps=2"}},
                                         Case{"write_bw", {"size=64", "mpa_markers=1"}},
                                         Case{"send_bw", {"size=64"}},
                                         Case{"read_bw", {"size=4096"}}, Case{"atomic_lat", {}},
                                         Case{"flush_lat", {"size=64", "push=1"}}),
                         name_of);

TEST(Timeline, ChangesNothingAndKeepsToItsWindow) {
  const Case c{"write_lat", {"size=64"}};
  const Outcome plain = run_child(request(c, "model", "rtl"));
  const TimelineRun all = timeline(c, "model", "rtl");
  EXPECT_EQ(plain.json["sim_end_ns"], all.json["sim_end_ns"]);
  EXPECT_EQ(plain.json["latency_ns"], all.json["latency_ns"]);

  const auto end = static_cast<int64_t>(plain.json["sim_end_ns"].get<double>());
  const int64_t from = end / 2, to = from + end / 8;
  const TimelineRun part = timeline(c, "model", "rtl", fmt::format("@{}..{}", from, to));
  expect_sound(part.read);
  size_t slices = 0;
  for (const auto& [id, all_of_track] : part.read.tracks) {
    slices += all_of_track.size();
    for (const Slice& s : all_of_track) {
      EXPECT_GE(s.to, from * 1000);
      EXPECT_LT(s.from, to * 1000);
    }
  }
  EXPECT_GT(slices, 0u);
  EXPECT_LT(part.json["timeline"]["events"], all.json["timeline"]["events"]);
}

/// Room for 5 events; 4 slices and the two ends of an arrow fill it. The slices at 100 and 200 are
/// lost, so the timeline ends at 100. Then a cut at 30 leaves the slices at 0, 10 and 20, and only
/// one end of the arrow, which is therefore not drawn.
TEST(Timeline, EndsWhereItsMemoryEnds) {
  TraceEvents trace(0, UINT64_MAX, 5);
  const auto track = trace.track(kClient, TraceEvents::kHost, "thread");
  std::vector<TraceEvents::Slice> kept;
  for (Time t = 0; t < 4; ++t) kept.push_back(trace.slice(track, "s", 10 * t, 10 * t + 5));
  trace.flow({kept[0], kept[3]});
  EXPECT_TRUE(trace.is_full());
  EXPECT_EQ(trace.slice(track, "s", 100, 105), TraceEvents::kNone);
  EXPECT_EQ(trace.slice(track, "s", 200, 205), TraceEvents::kNone);
  EXPECT_EQ(trace.lost_from(), 100u);
  trace.cut(30);  // another record lost events earlier
  const Read r = read(Json::parse(trace.json()));
  expect_sound(r);
  EXPECT_EQ(r.tracks.at({1, 1}).size(), 3u);
  EXPECT_TRUE(r.arrows.empty());  // the arrow's end, at 30, is cut off
}

TEST(Timeline, SlicesOfATrackBeginWhereTheOneBeforeEnds) {
  TraceEvents trace(0, UINT64_MAX, 100);
  const auto track = trace.track(kServer, TraceEvents::kPcie, "PCIe up");
  trace.slice(track, "a", 0, 10);
  trace.slice(track, "b", 9, 20);  // moved to begin at 10
  trace.slice(track, "c", 5, 8);   // moved to 20, with no length
  const Read r = read(Json::parse(trace.json()));
  expect_sound(r);
  EXPECT_EQ(r.tracks.at({2, 1}).size(), 3u);
}

TEST(Timeline, WindowIsParsedLikeThatOfAWaveform) {
  EXPECT_EQ(timeline_window("t.json").file, "t.json");
  EXPECT_EQ(timeline_window("t.json@5..").from, 5000u);
  EXPECT_EQ(timeline_window("a@b/t.json@5..7").to, 7000u);
  EXPECT_EQ(timeline_window("a@b/t.json@5..7").file, "a@b/t.json");
  for (const char* wrong : {"t@5", "t@5..5", "t@x..7", "t:qp", "@1..2", "folder/"})
    EXPECT_TRUE(usage_of([&] { (void)timeline_window(wrong); }).starts_with("--timeline "))
        << wrong;
}

}  // namespace
}  // namespace rnic::app
