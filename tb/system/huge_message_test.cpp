// The longest message, 2^31 bytes, as Write and as Read between models. The page list repeats two
// pages of 2 MiB, so that only two exist. The test counts the bytes at the target, and checks the
// two pages byte by byte. R5040-4.4 (RDMARDSZ), architecture 4 (max_message).
#include "world.hpp"

namespace rnic::tb {
namespace {

using namespace verbs;

constexpr uint64_t kMessage = uint64_t{1} << 31, kPage = 2 << 20, kTarget = 0x10000000;

/// A region of `bytes` whose pages are alternately those of `two`.
Region repeated(Host& h, const DmaBuffer& two, uint64_t bytes, uint64_t iova) {
  std::vector<uint64_t> pages;
  for (uint64_t at = 0; at < bytes; at += kPage) pages.push_back(two.bus(at % two.size()));
  Region r;
  // Only its bus addresses are used; of the bytes that it spans only two pages exist.
  r.buffer = DmaBuffer({two.data(), bytes}, kPage, pages, {});
  r.mr = must(h.pd.reg_mr_iova(r.buffer, 0, bytes, iova, Host::kAll), "region");
  return r;
}

/// Counts the payload bytes that a device writes to host memory.
struct Placed final : sim::PcieObserver {
  uint64_t bytes = 0;
  void on_write_issued(Time, const sim::DmaWrite& w) override {
    if (w.client == sim::Client::kPlace) bytes += w.data.size();
  }
};

class Huge : public testing::TestWithParam<bool> {};

TEST_P(Huge, MessageOfTwoToTheThirtyOneBytes) {
  const bool is_read = GetParam();
  in_child(
      [is_read] {
        World w({.kind = kModel,
                 .settings = {"mtu=65535", "mpa_crc=0", "pcie_mps=4096", "pcie_mrrs=4096",
                              "huge_from_mib=2", "link_gbps=1600", "pcie_gbps=4000",
                              "time_limit_us=1000000", "llp_window_bytes=4194304"}});
        w.tap(kClient).keeps = w.tap(kServer).keeps = false;
        Placed placed;
        w.simulation().observe(is_read ? kClient : kServer, placed);
        uint32_t key = 0;
        bool ready = false, done = false;
        ConnParam param;
        param.crc = false;
        const Side from = is_read ? kServer : kClient;
        const auto pages = [&](Host& h) {
          auto two = must(h.dev.alloc(2 * kPage, MemoryKind::kScattered), "pages");
          EXPECT_EQ(two.page_size(), kPage);
          if (h.side == from) fill(two.bytes(), 1);
          return two;
        };
        w.run(
            [&](Host& h) {
              h.open();
              const DmaBuffer two = pages(h);
              const Region all = repeated(h, two, kMessage, kTarget);
              Endpoint& e = h.endpoint();
              h.connect(e, param);
              h.until("the server", [&] { return ready; });
              const Sge sge{kTarget, static_cast<uint32_t>(kMessage), all.mr.lkey()};
              const uint64_t id = is_read ? e.read(sge, key, kTarget) : e.write(sge, key, kTarget);
              const uint64_t last = e.send(Sge{kTarget, 64, all.mr.lkey()}, IBV_SEND_FENCE);
              h.until(
                  "2^31 bytes", [&] { return e.outstanding() == 0; }, 900 * kMs);
              EXPECT_EQ(e.wc(id).status, IBV_WC_SUCCESS);
              EXPECT_EQ(e.wc(id).byte_len, kMessage);
              EXPECT_EQ(e.wc(last).status, IBV_WC_SUCCESS);
              if (is_read) {
                EXPECT_EQ(wrong(two.bytes(), 1), 0u);
              }
              h.until(
                  "the server's look", [&] { return done; }, 100 * kMs);
              must(e.connection.disconnect(), "disconnect");
            },
            [&](Host& h) {
              h.open();
              const DmaBuffer two = pages(h);
              const Region all = repeated(h, two, kMessage, kTarget);
              Region landing = h.region(64);
              key = all.mr.rkey();
              Endpoint& e = h.endpoint();
              (void)e.receive(landing.sge(0, 64));
              h.accept(e, param);
              ready = true;
              h.until(
                  "the last word", [&] { return e.outstanding() == 0; }, 900 * kMs);
              if (!is_read) {
                EXPECT_EQ(wrong(two.bytes(), 1), 0u);
              }
              done = true;
              must(e.connection.wait_disconnected(h.dev.now() + 100 * kMs), "end");
              must(e.connection.disconnect(), "disconnect");
            });
        EXPECT_EQ(placed.bytes, kMessage + (is_read ? 0 : 64));
        // A record carries less than 64 KiB.
        EXPECT_GT(w.tap(from).records_sent, kMessage / 65535);
      },
      280);
}

INSTANTIATE_TEST_SUITE_P(Operations, Huge, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Read" : "Write"; });

}  // namespace
}  // namespace rnic::tb
