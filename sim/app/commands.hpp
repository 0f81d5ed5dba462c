// The commands of rnic-sim; each returns the exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run.hpp"

namespace rnic::app {

struct Options {
  std::vector<std::string> words;  // after the command
  RunRequest request;
  std::string json, csv, junit;
  bool quiet = false, verbose = false, print_config = false;
  std::string side;   // replay: the endpoint our device takes
  std::string page, depth;  // results: where the page goes; what rtl/lint/depth.sh has printed
  unsigned jobs = 1;
};

int list_command(const Options& o);
int explain_command(const Options& o);
int run_command(Options& o);
int compare_command(Options& o);
int copy_command(Options& o);  // the main job: a file by Send, Write and Read on every pairing
int results_command(Options& o);  // the figures of docs/gen/results.md, results.hpp

}  // namespace rnic::app
