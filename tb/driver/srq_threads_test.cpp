// Shared receive queues on two fakes back to back: the device keeps the rules of queues.yaml for
// tags, order and limit, and several threads of a host post to one SRQ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "driver/driver_fixture.hpp"
#include "driver/loop_world.hpp"
#include "support/seed.hpp"

namespace rnic::tb {
namespace {

using testing::IsEmpty;

constexpr uint16_t kPort = 4791;
constexpr uint32_t kBytes = 16;  // of a message: number of the QP and of the message, 8 each

struct Setting {
  bool one_cq = false;  // all threads poll one CQ
  uint32_t receives = 8;
  uint32_t endless = 0;     // length of the first message of QP 0, which never ends; 0: none
  uint64_t messages = 400;  // of each QP
};

/// Host 0: threads that post to one SRQ, each with a QP. Host 1: a thread that sends.
class Threads {
 public:
  static constexpr unsigned kThreads = 3;

  explicit Threads(const Setting& setting) : s_(setting), world_(test_seed()) {
    for (unsigned t = 0; t < kThreads; t++)
      world_.add(0, [this, t](PciDevice& dev) {
        if (t == 0) open(dev);
        while (!is_open_) dev.relax();
        receive(dev, t);
        if (++done_; t != 0) return;
        while (done_ != kThreads || !is_sent_) dev.relax();
        close(dev);
      });
    world_.add(1, [this](PciDevice& dev) { send(dev); });
    world_.device(0).endless = s_.endless;
  }
  LoopDevice& device() { return world_.device(0); }

  void run() {
    world_.run();
    for (const unsigned host : {0u, 1u}) EXPECT_THAT(world_.device(host).violations, IsEmpty());
    EXPECT_THAT(world_.device(0).srqs, IsEmpty());
    EXPECT_THAT(world_.device(0).qps, IsEmpty());
  }
  uint64_t flushed() const { return flushed_; }
  const std::vector<uint64_t>& received() const { return received_; }

 private:
  // Opens the device of host 0, posts all receives, and accepts one connection for each thread.
  void open(PciDevice& dev) {
    manager_ = must(Manager::open(dev, {.seed = 1}));
    ctx_ = must(Context::open(dev, *manager_));
    pd_ = must(ctx_.alloc_pd());
    buffer_ = must(ctx_.alloc(uint64_t{s_.receives} * 64));
    mr_ = must(pd_.reg_mr_iova(buffer_, 0, buffer_.size(), 0, IBV_ACCESS_LOCAL_WRITE));
    srq_ = must(pd_.create_srq({.max_wr = s_.receives, .srq_limit = s_.receives}));
    for (unsigned t = 0; t < kThreads; t++)
      if (t == 0 || !s_.one_cq)
        cqs_.push_back(must(ctx_.create_cq(
            4 * s_.receives, 0, s_.one_cq ? 0u : uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED})));
    posted_.assign(s_.receives, 0);
    for (uint32_t slot = 0; slot < s_.receives; slot++) post(slot);
    auto listener = must(listen(ctx_, kPort));
    for (unsigned t = 0; t < kThreads; t++) {
      Cq& cq = cqs_[s_.one_cq ? 0 : t];
      qps_.push_back(must(pd_.create_qp({.send_cq = &cq, .recv_cq = &cq, .srq = &srq_})));
      auto request = must(listener.get_request(dev.now() + 100 * kMs));
      connections_.push_back(must(request.accept(qps_.back(), {})));
    }
    received_.assign(kThreads, 0);
    is_open_ = true;
  }
  // Posts a receive with slot `slot` of the buffer, 64 bytes; its wr_id is the slot.
  void post(uint64_t slot) {
    EXPECT_FALSE(posted_[slot]) << slot;
    posted_[slot] = 1;
    const Sge sge{slot * 64, kBytes, mr_.lkey()};
    const auto r = srq_.post_recv({.wr_id = slot, .sg_list = {&sge, 1}});
    RNIC_CHECK(bool(r), "{}", r.error->what);
  }
  // Checks a received message and posts its slot again.
  void take(const Wc& wc) {
    ASSERT_LT(wc.wr_id, s_.receives);
    EXPECT_TRUE(std::exchange(posted_[wc.wr_id], uint8_t{0})) << "receive " << wc.wr_id << " twice";
    if (wc.status == IBV_WC_WR_FLUSH_ERR) {
      flushed_++;
      return;
    }
    ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
    const uint8_t* bytes = buffer_.data() + wc.wr_id * 64;
    const auto qp = base::load_le<uint64_t>(bytes), number = base::load_le<uint64_t>(bytes + 8);
    ASSERT_LT(qp, kThreads);
    EXPECT_EQ(wc.qp_num, qps_[qp].qp_num());
    if (!s_.one_cq) {
      EXPECT_EQ(number, received_[qp]) << "in order";
    }
    received_[qp]++;
    post(wc.wr_id);
    total_++;  // the sender may send another one
  }
  // Messages that end, of all QPs.
  uint64_t all() const { return (kThreads - (s_.endless != 0 ? 1 : 0)) * s_.messages; }
  // Whether thread t has no message left to receive.
  bool is_over(unsigned t) const {
    if (s_.one_cq) return total_ == all();
    return received_[t] == (t == 0 && s_.endless != 0 ? 0 : s_.messages);
  }
  // Takes the SRQ's limit event, if any, and arms the limit again.
  void look_for_limit() {
    const auto e = ctx_.get_async_event(0);
    if (!e) return;
    EXPECT_EQ(e->type, IBV_EVENT_SRQ_LIMIT_REACHED);
    EXPECT_EQ(e->object, srq_.number());
    limits_++;
    must(srq_.modify({.srq_limit = s_.receives}));
  }
  // Thread t of host 0.
  void receive(PciDevice& dev, unsigned t) {
    std::vector<Wc> wcs(3);
    while (!is_over(t)) {
      const size_t n = must(cqs_[s_.one_cq ? 0 : t].poll_cq(wcs));
      for (size_t i = 0; i < n; i++) take(wcs[i]);
      if (t == 0) look_for_limit();
      dev.relax();
    }
  }
  // Destroys the QPs before the SRQ, so that no receive is outstanding.
  void close(PciDevice& dev) {
    EXPECT_EQ(errc(srq_.destroy()), Errc::kBusy);
    look_for_limit();
    EXPECT_GT(limits_, 0u);
    if (s_.endless != 0) {
      EXPECT_EQ(flushed_, 0u);
      must(qps_[0].modify(IBV_QPS_ERR));
      std::vector<Wc> wcs(4);
      const Time deadline = dev.now() + kMs;
      while (flushed_ == 0 && dev.now() < deadline) {
        const size_t n = must(cqs_[0].poll_cq(wcs));
        for (size_t i = 0; i < n; i++) take(wcs[i]);
      }
      EXPECT_EQ(flushed_, 1u) << "the receive that it had taken, and no other";
    }
    connections_.clear();
    for (Qp& qp : qps_) must(qp.destroy());
    must(srq_.destroy());
    qps_.clear();
    cqs_.clear();
    must(mr_.dereg());
    srq_ = Srq();
    mr_ = Mr();
    pd_ = Pd();
    ctx_ = Context();
    manager_.reset();
    is_closed_ = true;
  }

  // The thread of host 1.
  void send(PciDevice& dev) {
    auto manager = must(Manager::open(dev, {.seed = 2}));
    auto ctx = must(Context::open(dev, *manager));
    auto pd = must(ctx.alloc_pd());
    auto cq = must(ctx.create_cq(64));
    std::vector<Qp> qps;
    std::vector<Connection> connections;
    const auto to = must(Address::resolve("10.0.0.2", kPort));
    for (unsigned t = 0; t < kThreads; t++) {
      qps.push_back(must(pd.create_qp(
          {.send_cq = &cq, .recv_cq = &cq, .cap = {.max_inline_data = 32}, .sq_sig_all = true})));
      auto c = connect(qps.back(), to, {});
      for (; !c && c.error().code == Errc::kRefused; c = connect(qps.back(), to, {})) dev.relax();
      connections.push_back(must(std::move(c)));
    }
    while (!is_open_) dev.relax();
    std::vector<Wc> wcs(8);
    uint64_t sent = 0, complete = 0;
    const auto one = [&](unsigned t, uint64_t number, uint32_t bytes) {
      std::array<uint8_t, 32> data{};
      base::store_le<uint64_t>(data.data(), t);
      base::store_le<uint64_t>(&data[8], number);
      const Sge sge{base::address_of(data.data()), bytes, 0};
      const auto r = qps[t].post_send({.sg_list = {&sge, 1}, .send_flags = IBV_SEND_INLINE});
      RNIC_CHECK(bool(r), "{}", r.error->what);
      sent++;
    };
    const auto drain = [&] {
      for (const size_t n = must(cq.poll_cq(wcs)); const Wc& wc : std::span(wcs).first(n)) {
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        complete++;
      }
    };
    // A message that finds no receive would end its connection: at most `room` messages are
    // outstanding.
    const uint64_t room = s_.receives - (s_.endless != 0 ? 1 : 0);
    if (s_.endless != 0) one(0, 0, s_.endless);
    while (complete != sent) drain();
    const uint64_t before = sent;
    for (uint64_t i = 0; i < s_.messages; i++)
      for (unsigned t = s_.endless != 0 ? 1 : 0; t < kThreads; t++) {
        while (sent - before - total_ >= room || sent - complete > 32) drain();
        one(t, i, kBytes);
      }
    while (complete != sent) drain();
    is_sent_ = true;
    while (!is_closed_) dev.relax();
    connections.clear();
    qps.clear();
  }

  Setting s_;
  LoopWorld world_;
  std::unique_ptr<Manager> manager_;
  Context ctx_;
  Pd pd_;
  DmaBuffer buffer_;
  Mr mr_;
  Srq srq_;
  std::vector<Cq> cqs_;
  std::vector<Qp> qps_;
  std::vector<Connection> connections_;
  std::vector<uint8_t> posted_;     // by slot: 1 while its receive is posted
  std::vector<uint64_t> received_;  // messages, by QP
  uint64_t total_ = 0, flushed_ = 0, limits_ = 0;
  unsigned done_ = 0;
  bool is_open_ = false, is_sent_ = false, is_closed_ = false;
};

TEST(SrqThreads, EachPollsItsOwnCq) {
  Threads t({.receives = 5});
  t.run();
  EXPECT_THAT(t.received(), testing::Each(400u));
}

TEST(SrqThreads, AllPollOneCq) {
  Threads t({.one_cq = true, .receives = 8});
  t.run();
  EXPECT_THAT(t.received(), testing::Each(400u));
}

TEST(SrqThreads, AMessageThatNeverEndsKeepsOneReceiveUntilItsQpFails) {
  for (const uint32_t receives : {2u, 4u, 8u}) {
    SCOPED_TRACE(receives);
    Threads t({.receives = receives, .endless = 24, .messages = 100});
    t.run();
    EXPECT_EQ(t.flushed(), 1u);
    EXPECT_THAT(t.received(), testing::ElementsAre(0u, 100u, 100u));
  }
}

}  // namespace
}  // namespace rnic::tb
