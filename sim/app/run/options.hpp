// The parsed command line, as every command gets it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace rnic::app {

/// The options of sweep as typed: a value may be a list or a range.
struct TypedOptions {
  std::string preset, client, server, seed;
  std::vector<std::string> configs, sets, links;
  std::string shard, state, x, y, by;  // shard: K/N; x, y, by: of the plot
  unsigned timeout_s = 0;              // of a point; 0: none
  bool merge = false, yes = false;
};

struct Options {
  std::vector<std::string> words;  // after the command
  RunRequest request;
  TypedOptions typed;  // only of sweep, which has no `request`
  std::string json, csv, junit;
  bool quiet = false, verbose = false, print_config = false;
  // True if the command prints tables to the standard output. With `--json -` only the JSON goes
  // there.
  bool tells() const { return !quiet && json != "-"; }
  std::string side;                     // replay: the endpoint that our device replaces
  std::array<bool, 2> is_kind_given{};  // --client, --server
  std::string page;                     // results: path of the page
  std::string plot;                     // results, sweep: path of the plot
  // results: files with the output of rtl/lint/depth.sh and of tb/run.sh
  std::string depth, ci;
  unsigned jobs = 1;
};

/// Throws Usage for a setting given with --set or --config that has no effect on this command: a
/// setting of the programs, regress, search or crash that is not in `used`, or `reset_seed` if no
/// device that it is set for is RTL. A file may hold all settings, as --print-config writes it: a
/// setting of a file at its default value is ignored.
void check_settings(const Options& o, const std::string& command,
                    const std::vector<std::string_view>& used);
/// For --print-config. A command calls it where its work would begin, so that --print-config
/// refuses what the command refuses.
int print_config(const Options& o);

}  // namespace rnic::app
