// What the command line says, as every command gets it.
#pragma once

#include <array>
#include <string>
#include <string_view>
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
/// For --print-config: a command calls it where it would begin, so that what it refuses is refused here too.
int print_config(const Options& o);

}  // namespace rnic::app
