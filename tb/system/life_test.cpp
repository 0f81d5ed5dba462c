// The steps of docs/life-of-a-write.md, life-of-a-send.md, life-of-a-flush.md, life-of-an-atomic.md
// and life-of-an-invalidation.md that are visible at the device's boundary happen in the page's
// order. On RTL every stream that a step of the page names moves in that order. The WQE is fetched
// from its ring, or pushed.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include "backend/observer.hpp"
#include "base/bytes.hpp"
#include "kernel/activity.hpp"
#include "support/seed.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kTarget = 0x10000000;
constexpr uint32_t kBytes = 300;

/// Something seen at a device's boundary: "doorbell", "read WQE", "llp_tx", ...
struct Step {
  std::string what;
  Time at = 0;
};

/// Transfers on a host's PCIe, named by their target.
class Watch final : public sim::PcieObserver {
 public:
  explicit Watch(std::vector<Step>& steps) : steps_(steps) {}
  struct Range {
    std::string name;
    uint64_t from = 0, to = 0;
  };
  std::vector<Range> ranges;
  bool on = false;
  void add(const std::string& name, const DmaBuffer& b) {
    for (const uint64_t page : b.pages()) ranges.push_back({name, page, page + b.page_size()});
  }

 private:
  void note(Time at, const std::string& what) {
    if (on) steps_.push_back({what, at});
  }
  std::string name(uint64_t address) const {
    for (const Range& r : ranges) {
      if (address >= r.from && address < r.to) return r.name;
    }
    return "elsewhere";
  }
  void on_mmio(Time at, const sim::Mmio& m) override {
    if (m.is_write && m.bar == 2) note(at, m.bytes == 64 ? "push" : "doorbell");
  }
  void on_read_issued(Time at, const sim::DmaRead& r) override {
    note(at, "read " + name(r.address));
  }
  void on_write_issued(Time at, const sim::DmaWrite& w) override {
    const bool msi =
        w.address >= sim::RootComplex::kMsiBase && w.address < sim::RootComplex::kMsiBase + 0x1000;
    note(at, msi ? std::string("MSI-X") : "write " + name(w.address));
  }
  std::vector<Step>& steps_;
};

/// The first cycle in which each stream of a device moved.
struct Streams final : sim::Observer {
  bool on = false;
  uint64_t now = 0;
  std::map<std::string, uint64_t> first;
  bool wants_streams() const override { return true; }
  void cycle(uint64_t n) override { now = n; }
  void streams(const sim::StreamStates& states) override {
    if (!on) return;
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i] == sim::kStreamFires) first.emplace(sim::kStreamNames[i].name, now);
    }
  }
};

/// The streams that each step of the page names after its arrow, in its order.
std::vector<std::pair<int, std::vector<std::string>>> steps_of(const std::string& page) {
  const std::string file = RNIC_DOCS "/" + page;
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + " cannot be read");
  // A step is a list item; its further lines are indented.
  std::vector<std::string> items;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  ") && !items.empty())
      items.back() += line.substr(line.find_first_not_of(' ') - 1);
    else
      items.push_back(line);
  }
  std::vector<std::pair<int, std::vector<std::string>>> steps;
  for (const std::string& line : items) {
    size_t at = line.find(" -> ");
    if (at == std::string::npos || std::isdigit(static_cast<unsigned char>(line[0])) == 0) continue;
    std::vector<std::string> named;
    while ((at = line.find('`', at)) != std::string::npos) {
      const size_t end = line.find('`', at + 1);
      const std::string word = line.substr(at + 1, end - at - 1);
      const bool is_stream = std::any_of(sim::kStreamNames.begin(), sim::kStreamNames.end(),
                                         [&](const auto& s) { return word == s.name; });
      if (is_stream) named.push_back(word);
      at = end + 1;
    }
    if (!named.empty()) steps.emplace_back(std::stoi(line), named);
  }
  return steps;
}

/// Steps `from` to `to` in the page's order: each begins when or after the step before it has
/// begun, and the streams that it names move then or later. Streams of `absent` must not move at
/// all. At least `least` streams must have been checked, so that an unread page is noticed.
void expect_order(const std::string& page, const Streams& seen, int from, int to, int least,
                  const std::vector<std::string>& absent = {}) {
  uint64_t begun = 0;
  int checked = 0;
  for (const auto& [step, names] : steps_of(page)) {
    if (step < from || step > to) continue;
    std::optional<uint64_t> begins;
    for (const std::string& name : names) {
      const auto at = seen.first.find(name);
      if (std::find(absent.begin(), absent.end(), name) != absent.end()) {
        EXPECT_EQ(at, seen.first.end()) << "step " << step << ": " << name;
        continue;
      }
      ASSERT_NE(at, seen.first.end()) << "step " << step << ": " << name << " never moved";
      EXPECT_GE(at->second, begins.value_or(begun)) << "step " << step << ": " << name;
      if (!begins) begins = at->second;
      ++checked;
    }
    if (begins) begun = *begins;
  }
  EXPECT_GE(checked, least);
}

struct Param {
  bool push;
  Kinds kind;
};
class Life : public testing::TestWithParam<Param> {};

TEST_P(Life, StepsComeInThePagesOrder) {
  in_child([] {
    const auto [push, kind] = GetParam();
    const bool is_model = kind == kModel || kind == kModelMinimum;
    std::array<Streams, 2> streams;
    World w({.kind = kind, .observer = {&streams[kClient], &streams[kServer]}});
    std::vector<Step> steps;
    Watch requester(steps), responder(steps);
    w.simulation().observe(kClient, requester);
    w.simulation().observe(kServer, responder);
    bool ready = false, done = false, there = false;
    uint32_t key = 0;
    w.tap(kClient).on_tx = [&](sim::Record&) {
      if (requester.on) steps.push_back({"llp_tx", sim::kernel_now()});
      return true;
    };
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          fill(data.buffer.bytes(), 1);
          Endpoint& e = h.endpoint(Host::kCap, push);
          h.connect(e);
          h.until("the server", [&] { return ready; });
          requester.add("WQE", e.qp.core()->sq);
          requester.add("payload", data.buffer);
          requester.add("CQE", h.cq.core()->ring.memory);
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = true;
          const uint64_t id = e.write(data.sge(64, kBytes), key, kTarget + 7);
          must(h.cq.req_notify_cq(), "arm");
          must(h.cq.get_cq_event(h.dev.now() + kMs), "event");
          h.until_complete(e, "Write");
          EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
          h.until("the bytes", [&] { return there; });
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = false;
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096, Host::kAll, kTarget);
          key = data.mr.rkey();
          responder.add("placed", data.buffer);
          Endpoint& e = h.endpoint();
          h.accept(e);
          ready = true;
          h.until("the bytes",
                  [&] { return *data.at(7 + kBytes - 1) == pattern(1, 64 + kBytes - 1); });
          EXPECT_EQ(wrong({data.at(7), kBytes}, 1, 64), 0u);
          there = true;
          h.until("the end", [&] { return done; });
          EXPECT_TRUE(e.done.empty());  // step 26: software gets no completion
          h.follow_disconnect(e);
        });
    for (const auto& s : w.tap(kServer).taken) {
      if (s.record.is_stream || s.record.data.size() < kBytes) continue;
      steps.push_back({"llp_rx", s.at});
    }
    const auto find = [&](const std::string& what, bool last = false) -> std::optional<Time> {
      std::optional<Time> t;
      for (const Step& s : steps) {
        if (s.what == what && (!t || (last ? s.at > *t : s.at < *t))) t = s.at;
      }
      return t;
    };
    // Steps of the page. Requester: 2, 5, 12, 15, and 17 twice. Responder: 15, 19, 26.
    std::vector<std::vector<std::string>> chains = {
        {push ? "push" : "doorbell", "read WQE", "read payload", "llp_tx", "write CQE", "MSI-X"},
        {"llp_tx", "llp_rx", "write placed"}};
    if (push) chains[0].erase(chains[0].begin() + 1);
    EXPECT_EQ(find("read WQE").has_value(), !push);
    for (const auto& chain : chains) {
      std::optional<Time> before;
      for (const std::string& what : chain) {
        const auto at = find(what);
        ASSERT_TRUE(at) << what << " was not seen";
        if (before) {
          EXPECT_GE(*at, *before) << what;
        }
        // On RTL each takes at least one cycle (102400/33 ps).
        if (before && !is_model && what != "llp_rx") {
          EXPECT_GE(*at, *before + 3000) << what;
        }
        before = find(what, true);
      }
    }
    if (kind == kRtl) {
      expect_order(
          "life-of-a-write.md", streams[kClient], 1, 18, 14,
          push ? std::vector<std::string>{"sq_rd_req", "sq_rd"} : std::vector<std::string>{});
      expect_order("life-of-a-write.md", streams[kServer], 19, 26, 14);
    }
    EXPECT_FALSE(find("read elsewhere"));
    EXPECT_FALSE(find("write payload"));
  });
}

/// One Flush on an otherwise idle stream.
TEST_P(Life, AFlushDoesWhatItsPageSays) {
  in_child([] {
    const auto [push, kind] = GetParam();
    std::array<Streams, 2> streams;
    World w({.kind = kind, .observer = {&streams[kClient], &streams[kServer]}});
    std::vector<Step> steps;
    Watch requester(steps), responder(steps);
    w.simulation().observe(kClient, requester);
    w.simulation().observe(kServer, responder);
    bool ready = false, done = false;
    uint32_t key = 0;
    for (const Side side : {kClient, kServer}) {
      w.tap(side).on_tx = [&, side](sim::Record&) {
        if (requester.on)
          steps.push_back({side == kClient ? "request" : "response", sim::kernel_now()});
        return true;
      };
    }
    w.run(
        [&](Host& h) {
          h.open();
          Endpoint& e = h.endpoint(Host::kCap, push);
          h.connect(e, {.flush = true});
          h.until("the server", [&] { return ready; });
          requester.add("WQE", e.qp.core()->sq);
          requester.add("CQE", h.cq.core()->ring.memory);
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = true;
          const uint64_t id = e.flush(key, kTarget + 7, kBytes);
          h.until_complete(e, "Flush");
          EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = false;
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096, Host::kAll | IBV_ACCESS_FLUSH_GLOBAL, kTarget);
          key = data.mr.rkey();
          responder.add("range", data.buffer);
          Endpoint& e = h.endpoint();
          h.accept(e, {.flush = true});
          ready = true;
          h.until("the end", [&] { return done; });
          EXPECT_TRUE(e.done.empty());
          h.follow_disconnect(e);
        });
    // Steps 2, 5, 11, 21, 24, 30.
    std::vector<std::string> chain = {
        push ? "push" : "doorbell", "read WQE", "request", "read range", "response", "write CQE"};
    if (push) chain.erase(chain.begin() + 1);
    Time before = 0;
    for (const std::string& what : chain) {
      const auto at = std::ranges::find_if(steps, [&](const Step& s) { return s.what == what; });
      ASSERT_NE(at, steps.end()) << what << " was not seen";
      EXPECT_EQ(std::ranges::count_if(steps, [&](const Step& s) { return s.what == what; }), 1)
          << what;
      EXPECT_GE(at->at, before) << what;
      before = at->at;
    }
    EXPECT_TRUE(std::ranges::none_of(steps, [](const Step& s) { return s.what == "write range"; }));
    if (kind == kRtl) {
      const std::string page = "life-of-a-flush.md";
      expect_order(
          page, streams[kClient], 1, 11, push ? 13 : 15,
          push ? std::vector<std::string>{"sq_rd_req", "sq_rd"} : std::vector<std::string>{});
      expect_order(page, streams[kServer], 12, 24, 23);
      expect_order(page, streams[kClient], 25, 31, 9);
    }
  });
}

/// One FetchAdd on an otherwise idle stream.
TEST_P(Life, AnAtomicDoesWhatItsPageSays) {
  in_child([] {
    const auto [push, kind] = GetParam();
    std::array<Streams, 2> streams;
    World w({.kind = kind, .observer = {&streams[kClient], &streams[kServer]}});
    std::vector<Step> steps;
    Watch requester(steps), responder(steps);
    w.simulation().observe(kClient, requester);
    w.simulation().observe(kServer, responder);
    bool ready = false, done = false;
    uint32_t key = 0;
    for (const Side side : {kClient, kServer}) {
      w.tap(side).on_tx = [&, side](sim::Record&) {
        if (requester.on)
          steps.push_back({side == kClient ? "request" : "response", sim::kernel_now()});
        return true;
      };
    }
    w.run(
        [&](Host& h) {
          h.open();
          Region sink = h.region(4096);
          Endpoint& e = h.endpoint(Host::kCap, push);
          h.connect(e, {.flush = true});
          h.until("the server", [&] { return ready; });
          requester.add("WQE", e.qp.core()->sq);
          requester.add("CQE", h.cq.core()->ring.memory);
          requester.add("sink", sink.buffer);
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = true;
          const uint64_t id = e.fetch_add(sink.sge(64, 8), key, kTarget + 8, 5);
          h.until_complete(e, "FetchAdd");
          EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
          EXPECT_EQ(base::load_le<uint64_t>(sink.at(64)), 37u);
          h.rest(2 * kUs);
          requester.on = responder.on = streams[kClient].on = streams[kServer].on = false;
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          Region data = h.region(4096, Host::kAll | IBV_ACCESS_REMOTE_ATOMIC, kTarget);
          base::store_le<uint64_t>(data.at(8), 37);
          key = data.mr.rkey();
          responder.add("word", data.buffer);
          Endpoint& e = h.endpoint();
          h.accept(e, {.flush = true});
          ready = true;
          h.until("the end", [&] { return done; });
          EXPECT_EQ(base::load_le<uint64_t>(data.at(8)), 42u);
          EXPECT_TRUE(e.done.empty());
          h.follow_disconnect(e);
        });
    // Steps 2, 5, 11, 20, 23, 28, 34, 36.
    std::vector<std::string> chain = {push ? "push" : "doorbell",
                                      "read WQE",
                                      "request",
                                      "read word",
                                      "write word",
                                      "response",
                                      "write sink",
                                      "write CQE"};
    if (push) chain.erase(chain.begin() + 1);
    Time before = 0;
    for (const std::string& what : chain) {
      const auto at = std::ranges::find_if(steps, [&](const Step& s) { return s.what == what; });
      ASSERT_NE(at, steps.end()) << what << " was not seen";
      EXPECT_EQ(std::ranges::count_if(steps, [&](const Step& s) { return s.what == what; }),
                what == "push" ? 2 : 1)  // the WQE of an atomic has two units, pushed one by one
          << what;
      EXPECT_GE(at->at, before) << what;
      before = at->at;
    }
    if (kind == kRtl) {
      const std::string page = "life-of-an-atomic.md";
      expect_order(
          page, streams[kClient], 1, 11, push ? 13 : 15,
          push ? std::vector<std::string>{"sq_rd_req", "sq_rd"} : std::vector<std::string>{});
      expect_order(page, streams[kServer], 12, 28, 27);
      expect_order(page, streams[kClient], 29, 36, 16);
    }
  });
}

/// One Send on an otherwise idle stream, or one Send with Invalidate of a region that the receiver
/// lends.
void one_send(const Param& param, bool invalidates) {
  const auto [push, kind] = param;
  std::array<Streams, 2> streams;
  World w({.kind = kind, .observer = {&streams[kClient], &streams[kServer]}});
  std::vector<Step> steps;
  Watch sender(steps), receiver(steps);
  w.simulation().observe(kClient, sender);
  w.simulation().observe(kServer, receiver);
  bool ready = false, done = false, delivered = false;
  uint32_t key = 0;
  w.tap(kClient).on_tx = [&](sim::Record&) {
    if (sender.on) steps.push_back({"llp_tx", sim::kernel_now()});
    return true;
  };
  w.run(
      [&](Host& h) {
        h.open();
        Region data = h.region(4096);
        Endpoint& e = h.endpoint(Host::kCap, push);
        h.connect(e);
        h.until("the server", [&] { return ready; });
        sender.add("WQE", e.qp.core()->sq);
        sender.add("payload", data.buffer);
        sender.add("CQE", h.cq.core()->ring.memory);
        h.rest(2 * kUs);
        sender.on = receiver.on = streams[kClient].on = streams[kServer].on = true;
        const Sge from = data.sge(64, kBytes);
        const auto ids = e.post({{.sg_list = {&from, 1},
                                  .opcode = invalidates ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
                                  .rkey = key}});
        h.until_complete(e, "Send");
        EXPECT_EQ(e.wc(ids[0]).status, IBV_WC_SUCCESS);
        h.until("its receive", [&] { return delivered; });
        h.rest(2 * kUs);
        sender.on = receiver.on = streams[kClient].on = streams[kServer].on = false;
        done = true;
        must(e.connection.disconnect(), "disconnect");
      },
      [&](Host& h) {
        h.open();
        Region data = h.region(4096);
        Region memory = h.region(4096);
        Endpoint& e = h.endpoint();
        const uint64_t id = e.receive(data.sge(0, 1024));
        h.accept(e);
        const Mr lent =
            must(e.qp.reg_mr(memory.buffer, IBV_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_INVALIDATE),
                 "a bound region");
        receiver.add("placed", data.buffer);
        receiver.add("receive CQE", h.cq.core()->ring.memory);
        if (invalidates) key = lent.rkey();
        ready = true;
        h.until("the Send", [&] { return e.receives_outstanding() == 0; });
        EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
        EXPECT_EQ(e.wc(id).byte_len, kBytes);
        EXPECT_EQ((e.wc(id).wc_flags & IBV_WC_WITH_INV) != 0, invalidates);
        if (invalidates) {
          EXPECT_EQ(e.wc(id).invalidated_rkey, key);
        }
        delivered = true;
        h.until("the end", [&] { return done; });
        h.follow_disconnect(e);
      });
  // Of either page: steps 2, 5, 10, 12, 21, and the last write. The sender's completion may come
  // before or after the receiver's.
  std::vector<std::string> chain = {
      push ? "push" : "doorbell", "read WQE", "read payload", "llp_tx", "write placed",
      "write receive CQE"};
  if (push) chain.erase(chain.begin() + 1);
  Time before = 0;
  for (const std::string& what : chain) {
    const auto at = std::ranges::find_if(steps, [&](const Step& s) { return s.what == what; });
    ASSERT_NE(at, steps.end()) << what << " was not seen";
    EXPECT_GE(at->at, before) << what;
    before = at->at;
  }
  if (kind == kRtl) {
    const std::string page = invalidates ? "life-of-an-invalidation.md" : "life-of-a-send.md";
    expect_order(
        page, streams[kClient], 1, 13, push ? 18 : 20,
        push ? std::vector<std::string>{"sq_rd_req", "sq_rd"} : std::vector<std::string>{});
    expect_order(page, streams[kServer], 14, invalidates ? 27 : 24, invalidates ? 21 : 19);
  }
}

TEST_P(Life, ASendDoesWhatItsPageSays) {
  in_child([] { one_send(GetParam(), false); });
}
TEST_P(Life, ASendWithInvalidateDoesWhatItsPageSays) {
  in_child([] { one_send(GetParam(), true); });
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const Kinds& kind : {kModel, kRtl, kTandem, kModelMinimum, kTandemMinimum, kTandemStall}) {
    for (const bool push : {false, true}) all.push_back({push, kind});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Ways, Life, testing::ValuesIn(params()), [](const auto& info) {
  return (info.param.push ? "push_" : "fetch_") + name_of(info.param.kind);
});

}  // namespace
}  // namespace rnic::tb
