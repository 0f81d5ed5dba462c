// rnic-sim: the command line of the simulator. Parses options; dispatch() calls the command's
// function, for example in commands.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <new>
#include <random>
#include <sstream>
#include <system_error>

#include "commands.hpp"
#include "measure/crash.hpp"
#include "measure/results.hpp"
#include "measure/search.hpp"
#include "output/files.hpp"
#include "regress/regress.hpp"
#include "replay/replay.hpp"
#include "run/child.hpp"
#include "settings/errors.hpp"
#include "settings/read_file.hpp"
#include "settings/words.hpp"
#include "sweep/sweep.hpp"

namespace po = boost::program_options;
using namespace rnic::app;  // permitted in a main

namespace {

constexpr const char* kVersion = "rnic-sim 0.1 (MnemoNIC)";
constexpr const char* kHead =
    "usage: rnic-sim COMMAND [WORDS] [options]\n"
    "  list [programs|settings|presets|builds]\n"
    "                                     what there is, with default, unit and meaning\n"
    "  explain SETTING|PROGRAM            one setting; a program with its settings\n"
    "  run PROGRAM                        one program on one pairing of devices\n"
    "  compare [PROGRAM...]               programs on all four pairings of model and RTL: "
    "mismatches, timing error\n"
    "  copy                               a file by Send, Write and Read on all four pairings and "
    "in tandem (--file FILE; else /bin/bash)\n"
    "  replay LISTING                     a capture (listing or pcap) played into a device: all "
    "that it answers and writes, compared\n"
    "  regress                            random host programs, compared with their plan; shrinks "
    "what fails\n"
    "  search [PROGRAM...]                draws programs and settings, climbs towards disagreement "
    "of RTL and model; smallest commands\n"
    "  crash PROGRAM                      the power fails at every instant of a run: what its "
    "recovery finds (--set "
    "method=all: every method)\n"
    "  sweep PROGRAM...                   a program at every combination of values: --set "
    "size=8..65536*2 --set qps=1,8 --csv FILE\n"
    "                                     --plot FILE.svg; sweep --merge FILE... joins the parts "
    "of "
    "--shard K/N\n"
    "  results [PART...]                  measure the figures of docs/gen/results.md (--page "
    "FILE); parts: limit, small, goals,\n"
    "                                     bandwidth, stages, flush, atomics, keys, timing, speed, "
    "logic, tests; all of them about ten minutes\n"
    "exit status: 0 all checks held, 1 a mismatch or failed check, 2 wrong use, 3 no progress, 4 "
    "something missing or an output\n"
    "that cannot be written to its end, 130 and 143 interrupted (Ctrl-C, SIGTERM)\n\n";
const std::vector<std::string> kCommands = {"list",   "explain", "run",     "compare",
                                            "copy",   "replay",  "regress", "results",
                                            "search", "crash",   "sweep"};

struct OptionRow {
  const char* name;
  enum class Kind { kValue, kList, kFlag } kind;
  const char* default_value;  // nullptr: none
  const char* commands;       // the commands that accept it
  const char* doc;
};
using enum OptionRow::Kind;
constexpr const char* kRuns = "run compare copy replay regress";
constexpr const char* kAllThatRun = "run compare copy replay regress results search crash sweep";
constexpr const char* kSettings =
    "explain run compare copy replay regress results search crash sweep";
constexpr OptionRow kOptions[] = {
    {"client", kValue, "model", "run replay regress crash sweep",
     "device of the client: model, rtl, or tandem (rtl checked by model); sweep: a list of them"},
    {"server", kValue, "model", "run replay regress crash sweep",
     "device of the server; sweep: a list, or same (the client's, its default)"},
    {"set", kList, nullptr, kSettings,
     "NAME=VALUE, client.NAME=VALUE, server.NAME=VALUE; sweep: VALUE,VALUE or FROM..TO, "
     "FROM..TO+STEP, FROM..TO*FACTOR"},
    {"config", kList, nullptr, kSettings,
     "JSON file of settings; several are laid one over the other"},
    {"preset", kValue, nullptr, kSettings, "a named machine (list presets)"},
    {"print-config", kFlag, nullptr, kAllThatRun, "show what holds and why, run nothing"},
    {"seed", kValue, "1", kAllThatRun, "a number, or random"},
    {"file", kValue, nullptr, "run compare copy", "what file_copy copies"},
    {"side", kValue, nullptr, "replay",
     "replay: the endpoint that our device takes: initiator, responder, siw, tester"},
    {"json", kValue, nullptr, kAllThatRun, "results as JSON to this file (- for the output)"},
    {"csv", kValue, nullptr, "run compare copy sweep", "results as CSV"},
    {"junit", kValue, nullptr, "run compare copy replay regress crash",
     "a test case for each run, as JUnit's XML"},
    {"jobs", kValue, "1", "compare copy regress results search crash sweep", "runs at a time"},
    {"page", kValue, nullptr, "results",
     "results: the page in Markdown to this file; else to the output"},
    {"plot", kValue, nullptr, "results sweep",
     "drawn by gnuplot, as SVG to this file; results: bandwidth against message size"},
    {"x", kValue, nullptr, "sweep", "sweep --plot: the dimension along the x axis"},
    {"y", kValue, nullptr, "sweep",
     "sweep --plot: a column of --csv (gbps, msg_per_s, latency_p50_ns, ...), or percentiles, cdf, "
     "time"},
    {"by", kValue, nullptr, "sweep",
     "sweep --plot: the dimension with a line per value; without it two dimensions are a heat map"},
    {"link", kList, nullptr, "sweep", "sweep: NAME,NAME: dimensions that change together"},
    {"shard", kValue, nullptr, "sweep", "sweep: K/N: only every N-th point, from the K-th on"},
    {"merge", kFlag, nullptr, "sweep", "sweep: joins the CSV files that are named"},
    {"state", kValue, nullptr, "sweep",
     "sweep: file of the finished points, from which the same command continues (default: the "
     "CSV's name and .state)"},
    {"timeout", kValue, "0", "sweep", "sweep: seconds that a point may take; 0: no limit"},
    {"yes", kFlag, nullptr, "sweep", "sweep: also more than a million points"},
    {"depth", kValue, nullptr, "results",
     "results: rtl/lint/sizes.txt, or a file of what depth.sh has printed"},
    {"ci", kValue, nullptr, "results",
     "results: file of what tb/run.sh has printed, from a clean clone with a cold cache"},
    {"pcap", kValue, nullptr, kRuns, "the wire, for Wireshark"},
    {"tlp", kValue, nullptr, kRuns, "each PCIe request, a line each"},
    {"wave", kValue, nullptr, kRuns,
     "FILE[@FROM..TO][:UNIT] waveform of the RTL, FROM and TO in ns, of one unit alone; without it "
     "a failing run on RTL writes one around its failure, unless none"},
    {"quiet", kFlag, nullptr, kAllThatRun, "only failures"},
    {"verbose", kFlag, nullptr, "run regress", "everything that is known of the run"},
    {"stages", kFlag, nullptr, "run",
     "run: how long each stage of an RTL device takes, and which of its streams wait"},
    {"timeline", kValue, nullptr, "run",
     "run: FILE[@FROM..TO] threads, PCIe, units, QPs and link over time, FROM and TO in ns, for "
     "ui.perfetto.dev or chrome://tracing"},
    {"explain", kFlag, nullptr, "run",
     "run: the message with the median latency, unit by unit (programs with one message at a "
     "time)"},
    {"version", kFlag, nullptr, "", ""},
    {"help", kFlag, nullptr, "", "this text"},
};

po::options_description describe() {
  po::options_description d("options");
  for (const OptionRow& o : kOptions) {
    if (o.kind == kFlag) {
      d.add_options()(std::string_view(o.name) == "help" ? "help,h" : o.name, o.doc);
    } else if (o.kind == kList) {
      d.add_options()(o.name, po::value<std::vector<std::string>>()->composing(), o.doc);
    } else if (o.default_value != nullptr) {
      d.add_options()(o.name, po::value<std::string>()->default_value(o.default_value), o.doc);
    } else {
      d.add_options()(o.name, po::value<std::string>(), o.doc);
    }
  }
  return d;
}

/// Throws Usage for an option that this command does not use, or that has no value.
void check_options(const std::string& command, const po::variables_map& vm) {
  for (const OptionRow& o : kOptions) {
    if (vm.count(o.name) == 0 || vm[o.name].defaulted()) continue;
    std::istringstream all(o.commands);
    std::vector<std::string> takers;
    for (std::string c; all >> c;) takers.push_back(c);
    if (std::ranges::find(takers, command) != takers.end()) {
      if (o.kind == kValue && vm[o.name].as<std::string>().empty())
        throw Usage(fmt::format("--{} \"\": a value is wanted", o.name));
      continue;
    }
    throw Usage(fmt::format("{}: takes no --{} ({} {})", command, o.name, fmt::join(takers, ", "),
                            takers.size() == 1 ? "does" : "do"));
  }
}

/// The message for an unknown option, with the nearest existing one.
std::string explain_option(const std::string& given, const po::options_description& d) {
  std::vector<std::string> names;
  for (const auto& o : d.options()) names.push_back("--" + o->long_name());
  return fmt::format("no option {}{} (rnic-sim --help)", given, nearest(given, names));
}

/// The value of an option as a number from `low` to `high`. Otherwise throws Usage, which says what
/// is wanted.
uint64_t number_of(const char* option, const std::string& text, uint64_t low, uint64_t high,
                   const char* wanted) {
  uint64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size() || n < low ||
      n > high)
    throw Usage(fmt::format("--{} \"{}\": {}", option, text, wanted));
  return n;
}

int dispatch(const std::string& command, Options& o) {
  if (command == "list") return list_command(o);
  if (command == "explain") return explain_command(o);
  if (command == "run") return run_command(o);
  if (command == "compare") return compare_command(o);
  if (command == "copy") return copy_command(o);
  if (command == "replay") return replay_command(o, o.side);
  if (command == "regress") return regress_command(o);
  if (command == "search") return search_command(o);
  if (command == "crash") return crash_command(o);
  if (command == "sweep") return sweep_command(o);
  return results_command(o);
}

int rnic_main(int argc, char** argv) {
  const po::options_description visible = describe();
  po::options_description all;
  all.add(visible).add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positions;
  positions.add("words", -1);
  po::variables_map vm;
  try {
    po::store(
        po::command_line_parser(argc, argv)
            .options(all)
            .positional(positions)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        vm);
  } catch (const po::unknown_option& e) {
    throw Usage(explain_option(e.get_option_name(), visible));
  } catch (const po::error& e) {
    throw Usage(fmt::format("{} (rnic-sim --help)", e.what()));
  }
  if (vm.count("help") != 0) {
    // "run write_lat --help" explains the program, as "explain write_lat" does.
    if (const auto words = vm.count("words") != 0 ? vm["words"].as<std::vector<std::string>>()
                                                  : std::vector<std::string>();
        words.size() == 2 && words[0] == "run") {
      Options program;
      program.words = {std::string(program_of(words[1]).name)};
      return explain_command(program);
    }
    std::ostringstream text;
    text << kHead << visible;
    fmt::print("{}", text.str());
    return kGood;
  }
  if (vm.count("version") != 0) {
    fmt::print("{}\n", kVersion);
    return kGood;
  }
  if (vm.count("words") == 0)
    throw Usage(
        "no command; one of list, explain, run, compare, copy, replay, regress, results, search, "
        "crash, sweep (rnic-sim --help)");

  Options o;
  o.words = vm["words"].as<std::vector<std::string>>();
  const std::string command = o.words[0];
  o.words.erase(o.words.begin());
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end()) {
    throw Usage(
        fmt::format("no command \"{}\"{} (rnic-sim --help)", command, nearest(command, kCommands)));
  }
  check_options(command, vm);
  const auto text = [&](const char* name) {
    return vm.count(name) != 0 ? vm[name].as<std::string>() : std::string();
  };
  const auto list = [&](const char* name) {
    return vm.count(name) != 0 ? vm[name].as<std::vector<std::string>>()
                               : std::vector<std::string>();
  };
  if (command == "sweep") {
    o.typed = {.preset = text("preset"),
               .client = text("client"),
               .server = vm["server"].defaulted() ? "same" : text("server"),
               .seed = text("seed"),
               .configs = list("config"),
               .sets = list("set"),
               .links = list("link"),
               .shard = text("shard"),
               .state = text("state"),
               .x = text("x"),
               .y = text("y"),
               .by = text("by"),
               .timeout_s = static_cast<unsigned>(
                   number_of("timeout", text("timeout"), 0, 1'000'000, "a number of seconds")),
               .merge = vm.count("merge") != 0,
               .yes = vm.count("yes") != 0};
  } else {
    if (vm.count("preset") != 0) o.request.config.use_preset(text("preset"));
    if (vm.count("config") != 0) {
      for (const auto& f : list("config")) o.request.config.load(f);
    }
    if (vm.count("set") != 0) {
      for (const auto& s : vm["set"].as<std::vector<std::string>>())
        o.request.config.set(s, "--set", Origin::kSet);
    }
    o.request.kind = {text("client"), text("server")};
    o.is_kind_given = {!vm["client"].defaulted(), !vm["server"].defaulted()};
    o.request.seed = text("seed") == "random" ? std::random_device{}() & 0x7fffffff
                                              : number_of("seed", text("seed"), 0, UINT64_MAX,
                                                          "a whole number, or random");
  }
  o.jobs = static_cast<unsigned>(number_of("jobs", text("jobs"), 1, 256, "a number from 1 to 256"));
  if (vm.count("file") != 0) {
    o.request.file_name = text("file");
    o.request.file = read_file(o.request.file_name);
  }
  o.request.pcap = text("pcap");
  o.request.tlp = text("tlp");
  o.request.wave = text("wave");
  o.request.timeline = text("timeline");
  o.side = text("side");
  o.json = text("json") == "/dev/stdout" ? "-" : text("json");
  o.csv = text("csv");
  o.junit = text("junit");
  o.depth = text("depth");
  o.ci = text("ci");
  o.page = text("page");
  o.plot = text("plot");
  o.request.streams = vm.count("stages") != 0;
  o.request.explain = vm.count("explain") != 0;
  o.quiet = vm.count("quiet") != 0;
  o.verbose = vm.count("verbose") != 0;
  o.print_config = vm.count("print-config") != 0;
  if (o.quiet && o.verbose) throw Usage("--quiet, --verbose: say one of them");
  Files& files = o.request.files;
  for (const auto& f : list("config")) files.read.push_back({"--config", f});
  for (const char* name : {"depth", "ci"}) {
    if (!text(name).empty()) files.read.push_back({fmt::format("--{}", name), text(name)});
  }
  for (const char* name : {"json", "csv", "junit", "page", "plot"}) {
    if (!text(name).empty())
      files.written.push_back(
          {fmt::format("--{}", name), std::string_view(name) == "json" ? o.json : text(name)});
  }
  for (const char* name : {"pcap", "tlp", "wave", "plot", "timeline"}) {
    if (text(name) == "-")
      throw Usage(fmt::format(
          "--{} -: a file is wanted (--json, --csv and --junit take the standard output)", name));
  }
  files.check();
  for (const Files::Named& f : files.written) check_writable(f.option, f.path);
  return dispatch(command, o);
}

}  // namespace

int main(int argc, char** argv) {
  // The final message must not throw: the disk of the error output may be full, too.
  const auto end = [](int status, const std::string& why) {
    std::fputs(fmt::format("rnic-sim: {}\n", why).c_str(), stderr);
    return status;
  };
  int status = kGood;
  try {
    status = rnic_main(argc, argv);
  } catch (const Ended& e) {
    status = e.status;
  } catch (const Interrupted& i) {  // so that a shell's loop ends, too
    std::fflush(stdout);
    std::signal(i.signal, SIG_DFL);
    std::raise(i.signal);
    return i.status();
  } catch (const Usage& e) {
    return end(kWrongUse, e.what());
  } catch (const Missing& e) {
    return end(kMissing, e.what());
  } catch (const std::system_error& e) {  // also: an output's disk is full
    return end(kMissing, e.what());
  } catch (const std::bad_alloc&) {
    return end(kMissing, "this machine has not the memory for it");
  } catch (const std::exception& e) {
    return end(kMismatch, e.what());
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return end(status == kGood ? kMissing : status,
             "the standard output cannot be written to its end (is the disk full?)");
}
