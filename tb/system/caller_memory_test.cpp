// Regions over memory that the program owns: malloc, mmap, the stack; any alignment, several pages,
// several regions over the same bytes. Architecture 13 (PciDevice::map).
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "base/bytes.hpp"
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

/// Pages allocated by mmap.
class Pages {
 public:
  explicit Pages(size_t bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("mmap");
    all = {static_cast<uint8_t*>(p), bytes};
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(all.data(), all.size()); }
  std::span<uint8_t> all;
};

class CallerMemory : public testing::TestWithParam<Kinds> {};

TEST_P(CallerMemory, WriteSendAndRead) {
  in_child([&] {
    World w({.kind = GetParam()});
    struct {
      uint32_t landing_key = 0, source_key = 0;
      uint64_t landing = 0, source = 0;
      bool ready = false;
    } peer;
    bool done = false;
    w.run(
        [&](Host& h) {
          h.open();
          std::vector<uint8_t> heap(60'000);
          const Pages pages(40'000);
          const auto source = std::span(heap).subspan(5, 50'003);
          const auto sink = pages.all.subspan(4090, 30'000);
          fill(source, 1);
          const Mr from = must(h.pd.reg_mr(source, Host::kAll), "heap");
          const Mr also = must(h.pd.reg_mr(source.subspan(1000), 0), "the same bytes again");
          const Mr to = must(h.pd.reg_mr(sink, IBV_ACCESS_LOCAL_WRITE), "pages");
          EXPECT_EQ(from.addr(), base::address_of(source.data()));
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return peer.ready; });
          std::vector<uint64_t> ids;
          ids.push_back(
              e.write({from.addr() + 7, 41'001, from.lkey()}, peer.landing_key, peer.landing + 3));
          ids.push_back(e.send(Sge{also.addr() + 1, 20'001, also.lkey()}));
          ids.push_back(
              e.read({to.addr() + 1, 29'000, to.lkey()}, peer.source_key, peer.source + 11));
          h.until_complete(e, "Write, Send and Read");
          for (const uint64_t id : ids) EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS) << id;
          EXPECT_EQ(wrong(sink.subspan(1, 29'000), 2, 11), 0u);
          EXPECT_EQ(sink[0], 0);
          EXPECT_EQ(sink[29'001], 0);
          EXPECT_EQ(wrong(source, 1), 0u);
          done = true;
          must(e.connection.disconnect(), "disconnect");
        },
        [&](Host& h) {
          h.open();
          std::vector<uint8_t> heap(40'000), rest(30'000);
          std::array<uint8_t, 3000> stack{};
          const Pages pages(50'000);
          fill(heap, 2);
          const Mr source = must(h.pd.reg_mr(heap, IBV_ACCESS_REMOTE_READ), "heap");
          const Mr landing = must(h.pd.reg_mr(pages.all, Host::kAll), "pages");
          const Mr first = must(h.pd.reg_mr(stack, IBV_ACCESS_LOCAL_WRITE), "stack");
          const Mr second = must(h.pd.reg_mr(rest, IBV_ACCESS_LOCAL_WRITE), "heap");
          Endpoint& e = h.endpoint();
          const std::array<Sge, 2> inbox{Sge{first.addr() + 9, 2001, first.lkey()},
                                         Sge{second.addr() + 4001, 25'000, second.lkey()}};
          const uint64_t id = e.receive(inbox);
          h.accept(e);
          peer = {landing.rkey(), source.rkey(), landing.addr(), source.addr(), true};
          h.until_complete(e, "receive");
          EXPECT_EQ(e.wc(id).byte_len, 20'001u);
          EXPECT_EQ(wrong(pages.all.subspan(3, 41'001), 1, 7), 0u);
          EXPECT_EQ(pages.all[2], 0);
          EXPECT_EQ(pages.all[3 + 41'001], 0);
          EXPECT_EQ(wrong(std::span(stack).subspan(9, 2001), 1, 1001), 0u);
          EXPECT_EQ(wrong(std::span(rest).subspan(4001, 18'000), 1, 3002), 0u);
          EXPECT_EQ(rest[4000], 0);
          h.until("the client", [&] { return done; });
          h.follow_disconnect(e);
        });
  });
}

/// A deregistered region releases the memory: the peer's old key reaches nothing.
TEST_P(CallerMemory, IsTheCallersAgainAfterDereg) {
  in_child([&] {
    World w({.kind = GetParam()});
    uint32_t key = 0;
    uint64_t address = 0, pages = 0;
    bool ready = false, written = false;
    w.run(
        [&](Host& h) {
          h.open();
          Region data = h.region(4096);
          Endpoint& e = h.endpoint();
          h.connect(e);
          h.until("the server", [&] { return ready; });
          (void)e.write(data.sge(0, 100), key, address);
          (void)h.event();
          h.until_complete(e, "what was posted");
          written = true;
        },
        [&](Host& h) {
          h.open();
          std::vector<uint8_t> heap(10'000, 7);
          Endpoint& e = h.endpoint();
          const uint64_t before = w.simulation().memory(kServer).pages_in_use();
          Mr mr = must(h.pd.reg_mr(heap, Host::kAll), "heap");
          pages = w.simulation().memory(kServer).pages_in_use() - before;
          key = mr.rkey();
          address = mr.addr();
          h.accept(e);
          must(mr.dereg(), "dereg");
          EXPECT_EQ(w.simulation().memory(kServer).pages_in_use(), before);
          ready = true;
          (void)h.event();
          h.until("the client", [&] { return written; });
          EXPECT_EQ(std::ranges::count(heap, 7), 10'000);
        });
    EXPECT_GE(pages, 3u);
  });
}

/// Every PCIe request of a run has the same time and address, wherever malloc has placed the
/// memory.
TEST_P(CallerMemory, RunsRepeatWhereverItLies) {
  constexpr uint64_t kBytes = 100'000, kTarget = 0x10000000;
  struct Result {
    uint64_t hash, length;
  };
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  const auto results = static_cast<Result*>(shared);  // written by the children
  const auto run = [&](uint64_t moved, uint64_t seed, Result& result) {
    in_child([&] {
      World w({.kind = GetParam(), .seed = seed});
      char* text = nullptr;
      size_t size = 0;
      std::FILE* out = open_memstream(&text, &size);
      w.simulation().write_tlp(out);
      uint32_t key = 0;
      bool ready = false, done = false;
      const auto place = [&](std::vector<uint8_t>& heap) {
        heap.resize(kBytes + 16 + moved);
        const uint64_t to_16 = (16 - base::address_of(heap.data()) % 16) % 16;
        return std::span(heap).subspan(to_16 + moved, kBytes);
      };
      w.run(
          [&](Host& h) {
            h.open();
            std::vector<uint8_t> heap;
            const auto span = place(heap);
            fill(span, 3);
            const Mr mr = must(h.pd.reg_mr_iova(span, kTarget, Host::kAll), "heap");
            Endpoint& e = h.endpoint();
            h.connect(e);
            h.until("the server", [&] { return ready; });
            for (uint32_t i = 0; i < 10; ++i)
              (void)e.write({kTarget + 1000 * i, 5000, mr.lkey()}, key, kTarget + 9'777 * i);
            h.until_complete(e, "Writes");
            done = true;
            must(e.connection.disconnect(), "disconnect");
          },
          [&](Host& h) {
            h.open();
            std::vector<uint8_t> heap;
            const Mr mr = must(h.pd.reg_mr_iova(place(heap), kTarget, Host::kAll), "heap");
            key = mr.rkey();
            Endpoint& e = h.endpoint();
            h.accept(e);
            ready = true;
            h.until("the client", [&] { return done; });
            h.follow_disconnect(e);
          });
      std::fclose(out);
      result = {base::Rng::hash({text, size}), size};
      std::free(text);
    });
  };
  uint64_t n = 0;
  for (const uint64_t moved : {0u, 16u, 2064u, 4096u}) run(moved, 7, results[n++]);
  run(0, 8, results[n]);
  EXPECT_GT(results[0].length, 10'000u);
  for (uint64_t i = 1; i < n; ++i) {
    EXPECT_EQ(results[i].hash, results[0].hash) << i;
    EXPECT_EQ(results[i].length, results[0].length) << i;
  }
  EXPECT_NE(results[n].hash, results[0].hash);
  munmap(shared, 4096);
}

INSTANTIATE_TEST_SUITE_P(Pairings, CallerMemory, testing::Values(kModel, kTandem), name_of_kinds);

}  // namespace
}  // namespace rnic::tb
