// The example of host-driver/README.md, compiled and run. The test checks that the page shows the
// lines from [readme] to [/readme] as they are here, and that docs/simulator.md shows the server of
// sim/examples/hello.cpp.
#include <fstream>

#include "driver/driver_fixture.hpp"

namespace rnic::tb {
namespace {

using namespace rnic::verbs;

Result<void> send_hello(PciDevice& dev) {
  // [readme]
  auto manager = Manager::open(dev, {.seed = 1}).value();  // find, reset and set up the device
  auto ctx = Context::open(dev, *manager).value();
  auto pd = ctx.alloc_pd().value();
  auto cq = ctx.create_cq(16).value();
  auto qp = pd.create_qp({.send_cq = &cq, .recv_cq = &cq}).value();
  auto buffer = ctx.alloc(64).value();
  auto mr = pd.reg_mr(buffer, IBV_ACCESS_LOCAL_WRITE).value();
  auto connection = connect(qp, Address::resolve("10.0.0.2", 4791).value(), {}).value();
  std::ranges::copy(std::string_view("hello"), buffer.data());
  const Sge sge{mr.addr(), 5, mr.lkey()};
  (void)qp.post_send({.wr_id = 7, .sg_list = {&sge, 1}, .send_flags = IBV_SEND_SIGNALED});
  std::array<Wc, 1> wc;
  while (cq.poll_cq(wc).value() == 0) continue;  // wc[0].wr_id is 7
  return connection.disconnect();
  // [/readme]
}

TEST_F(DriverTest, ReadmeSendsAMessage) {
  PciDeviceFake other;
  other.on_wait = [&] {
    for (auto& [n, c] : other.conns) {
      if (c.info.state == spec::ConnState::kConnecting)
        other.set_state(n, spec::ConnState::kEstablished);
      if (c.info.has_qp == 0 && c.out.size() >= 20) {
        Bytes reply = c.out;
        reply[9] = 'p';  // Req -> Rep
        c.out.clear();
        other.stream(n, reply);
      }
    }
  };
  bool done = false;
  other.on_relax = [&] {
    if (other.qps.empty() || other.qps.at(0).sq_producer == 0 || std::exchange(done, true)) return;
    other.cqe(0, {.qpn = 0, .byte_len = 5, .index = 0});
  };
  EXPECT_TRUE(send_hello(other));
  EXPECT_TRUE(done);
  EXPECT_THAT(other.violations, testing::IsEmpty());
}

/// The lines of a file between the first line `from` and the next line `to`, without indentation.
std::string between(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const auto text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (text == to && inside) break;
    if (inside) out += text + "\n";
    if (text == from) inside = true;
  }
  return out;
}

TEST(Readme, ShowsWhatIsCompiled) {
  const auto code = between("tb/driver/readme_test.cpp", "// [readme]", "// [/readme]");
  EXPECT_FALSE(code.empty());
  EXPECT_EQ(between("host-driver/README.md", "```cpp", "```"), code);
}

TEST(Readme, TheSimulatorsPageShowsTheExample) {
  const auto code = between("sim/examples/hello.cpp", "// [server]", "// [/server]");
  EXPECT_FALSE(code.empty());
  EXPECT_EQ(between("docs/simulator.md", "```cpp", "```"), code);
}

}  // namespace
}  // namespace rnic::tb
