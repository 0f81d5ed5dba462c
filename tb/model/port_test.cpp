// Ports between the units: which input an item reaches, and what an unconnected or twice connected
// port reports. out.to(...) connects an output port: to a queue of the consumer, or to one of its
// functions. push(item, cycle): the item is visible there from this cycle on. A queue of the test
// holds 2 items.
#include "sc/port.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace rnic::tb {
namespace {

using model::Call;
using model::Cycle;
using model::Output;
using model::Queue;

struct Idle final : model::Stage {
  void step() override {}
};

struct Unit {
  std::vector<std::string> seen;  // "item@cycle"
  Queue<int> in{"in", 2};
  void take(int item, Cycle at) { seen.push_back(std::to_string(item) + "@" + std::to_string(at)); }
  void count_and_push(int item, Cycle at) {
    take(item, at);
    in.push(item, at);
  }
  int doubled(int x) const { return 2 * x; }
};

class PortTest : public testing::Test {
 protected:
  PortTest() {
    stage.attach(clock, clock.add_lane(), 0);
    unit.in.feeds(stage);
  }
  model::Dispatcher clock;
  Idle stage;
  model::PortList ports;
  Unit unit;
};

TEST_F(PortTest, ReachesItsQueueAndSeesItsCredit) {
  Output<int> out{ports, "a.out_o"};
  out.to(unit.in);
  out.push(7, 3);
  EXPECT_FALSE(out.full());
  out.push(8, 4);
  EXPECT_TRUE(out.full());
  EXPECT_EQ(out.size(), 2U);
  EXPECT_EQ(unit.in.visible_at(), 3U);
  EXPECT_EQ(unit.in.front(), 7);
}

TEST_F(PortTest, MergesIntoAQueueOfSeveralStreams) {
  Queue<std::variant<int, std::string>> in("merged", 2);
  in.feeds(stage);
  Output<int> a{ports, "a.out_o"};
  Output<std::string> b{ports, "b.out_o"};
  a.to(in);
  b.to(in);
  b.push("word", 1);
  a.push(7, 2);
  EXPECT_EQ(std::get<std::string>(in.front()), "word");
  EXPECT_EQ(in.size(), 2U);
}

TEST_F(PortTest, ReachesAFunctionOfTheConsumer) {
  Output<int> out{ports, "a.out_o"}, counted{ports, "a.counted_o"};
  Call<int(int)> call{ports, "a.call_o"};
  out.to<&Unit::take>(unit);
  counted.to<&Unit::count_and_push>(unit, unit.in);  // its size and credit are those of unit.in
  call.to<&Unit::doubled>(unit);
  out.push(7, 3);
  counted.push(8, 4);
  EXPECT_EQ(unit.seen, (std::vector<std::string>{"7@3", "8@4"}));
  EXPECT_EQ(counted.size(), 1U);
  EXPECT_EQ(call(21), 42);
}

TEST_F(PortTest, NamesThePortThatIsNotConnected) {
  Output<int> out{ports, "a.out_o"};
  Call<int(int)> call{ports, "a.call_o"};
  out.to(unit.in);
  EXPECT_DEATH(ports.check(), "port a.call_o is not connected");
  call.to<&Unit::doubled>(unit);
  ports.check();
}

TEST_F(PortTest, NamesThePortThatIsConnectedTwice) {
  Output<int> out{ports, "a.out_o"};
  out.to(unit.in);
  EXPECT_DEATH(out.to<&Unit::take>(unit), "port a.out_o is connected twice");
}

}  // namespace
}  // namespace rnic::tb
