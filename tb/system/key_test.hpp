// Fixture of the tests of keys: the client makes memory accessible and sends the key. The server
// uses the key, then invalidates it or sends an answer.
#pragma once

#include "base/bytes.hpp"
#include "world.hpp"

namespace rnic::tb {

class KeyTest : public testing::TestWithParam<Kinds> {
 protected:
  using SendWr = verbs::SendWr;
  using Sge = verbs::Sge;
  using ConnParam = verbs::ConnParam;
  bool ready = false, server_done = false, client_done = false;

  /// A Send whose data is the key. Fills the first 4 bytes of `r`, and `sge`, to which the result
  /// points.
  static SendWr tell(const Region& r, Sge& sge, uint32_t key) {
    base::store_be(r.at(0), key);
    sge = r.sge(0, 4);
    return {.sg_list = {&sge, 1}, .opcode = verbs::IBV_WR_SEND};
  }
  static SendWr send_inv(uint32_t key, uint32_t flags = 0) {
    return {.opcode = verbs::IBV_WR_SEND_WITH_INV, .send_flags = flags, .rkey = key};
  }
  static SendWr local_inv(uint32_t key) { return {.opcode = verbs::IBV_WR_LOCAL_INV, .rkey = key}; }
  /// The key that arrives in the receive posted last.
  static uint32_t told(Host& h, Endpoint& e, const Region& r) {
    h.until("a key", [&] { return e.receives_outstanding() == 0; });
    return base::load_be<uint32_t>(r.at(0));
  }

  /// The passive side sends nothing before the first FPDU of the active side (RFC 5044 7.1.2).
  static void greet(Host& h, Endpoint& e, const ConnParam& param = {}) {
    h.connect(e, param);
    (void)e.send(std::span<const Sge>{});
    h.until_complete(e, "the greeting");
    e.done.clear();
  }
  /// The receives are posted before the peer can send.
  static void be_greeted(Host& h, Endpoint& e, const std::vector<Sge>& receives = {},
                         const ConnParam& param = {}) {
    (void)e.receive(std::span<const Sge>{});
    for (const Sge& sge : receives) (void)e.receive(sge);
    h.accept(e, param);
    h.until("the greeting", [&] { return !e.done.empty(); });
    e.done.clear();
  }
  static void expect_success(const Endpoint& e) {
    for (const verbs::Wc& wc : e.done)
      EXPECT_EQ(wc.status, verbs::IBV_WC_SUCCESS)
          << "request " << wc.wr_id << ", opcode " << wc.opcode;
  }
  // The client disconnects first. Each side then waits for the end of the other.
  void end_client(Host& h, Endpoint& e) {
    must(e.connection.disconnect(), "disconnect");
    client_done = true;
    h.until("the server's end", [&] { return server_done; });
  }
  void end_server(Host& h, Endpoint& e) {
    h.follow_disconnect(e);
    server_done = true;
    h.until("the client's end", [&] { return client_done; });
  }
};

}  // namespace rnic::tb
