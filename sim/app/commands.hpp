// The commands of rnic-sim; each returns the exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"

namespace rnic::app {

struct Options {
  std::vector<std::string> words;  // after the command
  RunRequest request;
  std::string json, csv, junit;
  bool quiet = false, verbose = false, print_config = false;
  bool tells() const {
    return !quiet && json != "-";
  }                  // tables on the output; with --json - the JSON stands there alone
  std::string side;  // replay: the endpoint our device takes
  std::array<bool, 2> is_kind_given{};  // --client, --server
  std::string page, plot;               // results: where the page and the plot go
  std::string depth, ci;  // results: what rtl/lint/depth.sh and tb/run.sh have printed
  unsigned jobs = 1;
};

/// Throws Usage for a setting given with --set or --config that has no effect on this command: one of the programs' or of regress that
/// is not in `used`, or of RTL alone where no device is RTL. A file may have all settings, as --print-config writes it: one at its
/// default is not looked at.
void check_settings(const Options& o, const std::string& command,
                    const std::vector<std::string_view>& used);
/// Throws Usage with the nearest name.
const programs::Program& program_of(const std::string& name);
/// Names of a program's settings.
std::vector<std::string_view> settings_of(const programs::Program& program);

/// For --print-config: a command calls it where it would begin, so that what it refuses is refused here too.
int print_config(const Options& o);

int list_command(const Options& o);
int explain_command(const Options& o);
int run_command(Options& o);
int compare_command(Options& o);
int copy_command(Options& o);     // the main job: a file by Send, Write and Read on every pairing
int results_command(Options& o);  // the figures of docs/gen/results.md, measure/results.hpp

}  // namespace rnic::app
