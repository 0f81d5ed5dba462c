// The points that a sweep has finished, in a file: a sweep that was interrupted, or has died,
// continues where it was. One line of JSON per point, written as soon as the point has ended.
//
//   State state("w.csv.state", definition);     // throws Usage if the file is another sweep's
//   state.each([&](uint64_t point, Outcome o) { ... });
//   state.add(4, outcome);   ...   state.remove();   // all points are in the table
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "run/outcome.hpp"

namespace rnic::app::sweep {

class State {
 public:
  /// Opens or creates the file. `definition`: all that decides the points, compared as a whole.
  /// Drops an incomplete last line, as a crash leaves it.
  State(std::string path, const nlohmann::ordered_json& definition);
  /// Calls `take` for each finished point of an earlier run.
  void each(const std::function<void(uint64_t, Outcome)>& take) const;
  /// Appends a finished point. Throws Missing if the disk is full.
  void add(uint64_t point, const Outcome& outcome);
  /// Deletes the file: all points are in the written table.
  void remove();

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string path_;
  std::vector<std::string> lines_;  // of an earlier run, one per point
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace rnic::app::sweep
