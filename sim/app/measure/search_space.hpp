// The situations that rnic-sim search draws: a program, its settings that are not at their default,
// and a seed.
//
//   Space space({"read_bw"}, {"mtu"});   // the user has set mtu
//   Situation s = space.draw(rng);       // space.change(s, rng) draws a situation near s
//   s.request(base)                      // the run; the caller sets its kinds of devices
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "run/run.hpp"

namespace rnic::app::search {

struct Situation {
  std::string program;
  std::map<std::string, std::string> set;  // settings: name, value
  uint64_t seed = 1;
  auto operator<=>(const Situation&) const = default;

  /// `base` with this program, these settings and this seed. Throws Usage for a wrong value.
  RunRequest request(const RunRequest& base) const;
  /// "--set qps=4 --set size=64 --seed 3"
  std::string options() const;
  nlohmann::ordered_json json() const;
  static Situation from_json(const nlohmann::json& j);
};

class Space {
 public:
  /// Settings in `fixed` are the user's and are not drawn.
  Space(std::vector<std::string> programs, std::vector<std::string> fixed);
  Situation draw(base::Rng& rng) const;
  /// Draws one to three settings anew or resets them to their default. In 20 % of the calls it also
  /// changes the seed.
  Situation change(const Situation& from, base::Rng& rng) const;

 private:
  struct Row {
    std::string name;
    std::vector<std::string> values;
  };
  const std::vector<Row>& rows_of(const std::string& program) const { return rows_.at(program); }
  static void draw_row(Situation& s, const Row& row, base::Rng& rng);
  /// Reduces the numbers of QPs and of messages if the run would take minutes on RTL.
  static void bound(Situation& s);
  std::vector<std::string> programs_;
  std::map<std::string, std::vector<Row>> rows_;  // by program
};

}  // namespace rnic::app::search
