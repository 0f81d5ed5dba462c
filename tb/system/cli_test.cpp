// The command line: rnic-sim itself, as a process.
//   - Wrong use prints one line and exits with status 2, before anything runs.
//   - A run writes the requested files.
//   - A failure ends with the command that reproduces it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rnic::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
Json json_of(const fs::path& file) { return Json::parse(text_of(file)); }
auto lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }
std::string last_line(const std::string& text) {
  if (text.empty()) return "";
  const size_t end = text.size() - 1, begin = text.rfind('\n', end - 1);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1));
}

struct Told {
  int status = -1;
  std::string out, err;
};

/// Runs in a separate folder, with some files to name.
class Cli : public testing::Test {
 protected:
  Cli() {
    std::string path = testing::TempDir() + "cli_XXXXXX";
    folder_ = mkdtemp(path.data());
    for (const auto& [name, text] :
         {std::pair{"empty", ""},
          {"some", "a few bytes"},
          {"good.json", R"({"preset": "gen3x16", )"
                        R"("settings": {"mtu": 9000, "size": "32", "client.pcie_mps": 128}})"},
          {"text.json", "no JSON"},
          {"lines.json", "{\n\"settings\": {},\n  x}\n"},
          {"wire.pcap", "\x4d\x3c\xb2\xa1 and more"},
          {"wire.pcapng", "\x0a\x0d\x0d\x0a and more"},
          {"list.json", "[1, 2]"},
          {"key.json", R"({"setings": {}})"},
          {"preset.json", R"({"preset": 4})"},
          {"preset_name.json", R"({"preset": "gen4x61"})"},
          {"settings.json", R"({"settings": 3})"},
          {"object.json", R"({"settings": {"mtu": {"a": 1}}})"},
          {"name.json", R"({"settings": {"mut": 1500}})"},
          {"qps.json", R"({"settings": {"qps": 2, "mtu": 9000}})"},
          {"rtl.json", R"({"settings": {"reset_seed": 3}})"},
          {"rtl_side.json", R"({"settings": {"client.reset_seed": 3}})"},
          // names that look like other sources of a setting
          {"default", R"({"settings": {"op": "read"}})"},
          {"preset gen3", R"({"settings": {"qps": 2}})"},
          {"range.json", R"({"settings": {"mtu": 3}})"}}) {
      std::ofstream(folder_ / name) << text;
    }
    EXPECT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    fs::create_directory(folder_ / "taken.seed3.txt");
    fs::create_symlink("pipe", folder_ / "link_to_pipe");
    fs::create_symlink("new", folder_ / "link_to_new");
    fs::create_symlink("link_to_new", folder_ / "link_to_link");
  }
  ~Cli() override { fs::remove_all(folder_); }

  /// `before`: the shell's commands in front of rnic-sim.
  Told run(std::string arguments, const std::string& before = "") const {
    for (size_t at; (at = arguments.find("@captures")) != std::string::npos;)
      arguments.replace(at, 9, RNIC_CAPTURES);
    const std::string command = "cd '" + folder_.string() + "' && " + before +
                                "'" RNIC_SIM "' >.out 2>.err </dev/null " + arguments;
    const int status = std::system(command.c_str());
    const int as_shell = WIFEXITED(status)     ? WEXITSTATUS(status)
                         : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                               : -1;
    return {as_shell, text_of(folder_ / ".out"), text_of(folder_ / ".err")};
  }
  fs::path file(const std::string& name) const { return folder_ / name; }
  /// The number of files and folders in the test's folder, without those of run().
  size_t files() const {
    size_t n = 0;
    for (const auto& e : fs::directory_iterator(folder_))
      n += e.path().filename().string().starts_with(".") ? 0 : 1;
    return n;
  }

  fs::path folder_;
};

/// A command line, and a part of what rnic-sim prints for it.
struct Row {
  const char *name, *arguments, *says;
};
void PrintTo(const Row& r, std::ostream* to) { *to << "rnic-sim " << r.arguments; }

// --- wrong use

class WrongUse : public Cli, public testing::WithParamInterface<Row> {};

TEST_P(WrongUse, IsOneLineAndStatusTwo) {
  const size_t before = files();
  const Told t = run(GetParam().arguments);
  EXPECT_EQ(t.status, 2) << t.err;
  EXPECT_EQ(t.out, "");
  EXPECT_EQ(lines_of(t.err), 1) << t.err;
  EXPECT_TRUE(t.err.starts_with("rnic-sim: ")) << t.err;
  EXPECT_NE(t.err.find(GetParam().says), std::string::npos) << t.err;
  EXPECT_EQ(files(), before) << "a file was left";
}

constexpr Row kWrong[] = {
    // commands and words
    {"no_command", "", "no command; one of list, explain, run"},
    {"command", "rnu write_lat", "no command \"rnu\", did you mean run?"},
    {"no_program", "run", "say one program"},
    {"two_programs", "run write_lat write_bw", "say one program"},
    {"program", "run write_latt", "no program \"write_latt\", did you mean write_lat?"},
    {"compare_program", "compare write_lat reed_lat", "did you mean read_lat?"},
    {"compare_twice", "compare write_lat read_lat write_lat", "compare: write_lat is named twice"},
    {"list_word", "list progams", "did you mean programs?"},
    {"list_words", "list programs presets", "list: say one"},
    {"explain_nothing", "explain", "say one setting or program"},
    {"explain_one_side", "explain server.mut", "no setting \"mut\", did you mean mtu?"},
    {"explain_not_one_sides", "explain client.mtu",
     "client.mtu: this setting is not one side's, it is mtu"},
    {"explain_setting", "explain mut", "no setting \"mut\", did you mean mtu?"},
    {"copy_word", "copy some", "--file FILE"},
    {"replay_nothing", "replay", "say one listing"},
    {"replay_no_name", "replay ''", "replay: say one listing"},
    {"replay_missing", "replay missing.json",
     "missing.json: cannot be read (No such file or directory)"},
    {"replay_folder", "replay .",
     ". is a folder; say one listing, a JSON file such as tb/vectors/captures/"},
    {"replay_no_json", "replay some",
     "some: not JSON: line 1, column 1: a value is wanted: a number, a text in quotes, true, "
     "false, null, [ or {; replay wants a pcap, or a listing, a JSON file such as "
     "tb/vectors/captures/"},
    {"replay_list", "replay list.json", "list.json is no listing, a JSON file"},
    {"replay_no_listing", "replay good.json", "good.json is no listing, a JSON file"},
    {"replay_pcap", "replay wire.pcap", "wire.pcap: a pcap that is cut short"},
    {"replay_pcapng", "replay wire.pcapng",
     "wire.pcapng: a pcapng; replay wants a pcap or a listing (JSON)"},
    {"replay_pipe", "replay pipe", "pipe: not a regular file"},
    {"replay_side", "replay @captures/rping-client-crc.json --side nobody",
     "--side \"nobody\": no such endpoint; there are initiator (tester) and responder (siw)"},
    {"replay_other_seat", "replay @captures/rping-client-crc.json --client rtl",
     "--client has no effect: our device takes the server's seat (siw), --server says what it is"},
    {"replay_other_seat_by_side",
     "replay @captures/rping-client-crc.json --side tester --server rtl",
     "--server has no effect: our device takes the client's seat (tester), --client"},
    {"regress_word", "regress write_lat", "takes no words"},
    {"results_part", "results timeing", "did you mean timing?"},
    // options
    {"option", "run write_lat --sett size=4", "no option --sett, did you mean --set?"},
    {"option_not_guessed", "run write_lat --quie", "no option --quie"},
    {"option_without_value", "run write_lat --set", "--set"},
    {"option_empty", "run write_lat --pcap ''", "--pcap \"\": a value is wanted"},
    {"option_empty_json", "run write_lat --json ''", "--json \"\": a value is wanted"},
    {"option_twice", "run write_lat --seed 1 --seed 2", "seed"},
    {"seed", "run write_lat --seed one", "a whole number, or random"},
    {"seed_negative", "run write_lat --seed=-1", "a whole number, or random"},
    {"jobs", "compare --jobs 0", "a number from 1 to 256"},
    {"backend", "run write_lat --client modle",
     "no backend \"modle\", did you mean model?; one of model, rtl, tandem"},
    {"backend_like_none", "run write_lat --client hw",
     "no backend \"hw\"; one of model, rtl, tandem"},
    {"preset", "run write_lat --preset gen4x61", "did you mean gen4x16?"},
    // options of other commands
    {"compare_client", "compare write_lat --client rtl",
     "compare: takes no --client (run, replay, regress, crash, sweep do)"},
    {"copy_server", "copy --server rtl", "copy: takes no --server"},
    {"results_client", "results --client rtl", "results: takes no --client"},
    {"results_pcap", "results --pcap x", "results: takes no --pcap"},
    {"results_junit", "results --junit x", "results: takes no --junit"},
    {"run_jobs", "run write_lat --jobs 2", "run: takes no --jobs"},
    {"run_side", "run write_lat --side siw", "run: takes no --side (replay does)"},
    {"run_page", "run write_lat --page x", "run: takes no --page (results does)"},
    {"replay_csv", "replay @captures/rping-client-crc.json --csv x", "replay: takes no --csv"},
    {"regress_csv", "regress --csv x", "regress: takes no --csv"},
    {"copy_stages", "copy --stages", "copy: takes no --stages"},
    {"compare_verbose", "compare --verbose", "compare: takes no --verbose"},
    {"list_json", "list --json x", "list: takes no --json"},
    {"list_set", "list --set size=4", "list: takes no --set"},
    {"timeline_of_compare", "compare write_lat --timeline t",
     "compare: takes no --timeline (run does)"},
    {"timeline_window", "run write_lat --timeline t@5", "--timeline t@5: the window is FROM..TO"},
    {"timeline_backwards", "run write_lat --timeline t@9..5", "the window ends before it begins"},
    {"timeline_scope", "run write_lat --timeline t:qp", "--timeline t:qp: the window is FROM..TO"},
    {"timeline_nowhere", "run write_lat --timeline nowhere/t", "--timeline nowhere/t"},
    {"timeline_output", "run write_lat --timeline -", "--timeline -: a file is wanted"},
    {"timeline_twice", "run write_lat --timeline t --pcap t", "t"},
    {"explain_of_bw", "run write_bw --explain",
     "--explain: write_bw has several messages outstanding; a _lat program or pingpong has one"},
    {"explain_of_threads", "run write_lat --set threads=2 --explain", "--explain: threads=2"},
    {"explain_of_compare", "compare write_lat --explain", "compare: takes no --explain (run does)"},
    {"stages_of_models", "run write_lat --set count=4 --stages", "--stages: no device here is RTL"},
    {"quiet_and_verbose", "run write_lat --quiet --verbose", "--quiet, --verbose: say one"},
    {"quiet_and_verbose_of_regress", "regress --verbose --quiet", "--quiet, --verbose: say one"},
    // with --print-config too
    {"print_program", "run write_latt --print-config",
     "no program \"write_latt\", did you mean write_lat?"},
    {"print_no_program", "run --print-config", "run: say one program"},
    {"print_setting", "run write_lat --set qps=4 --print-config", "write_lat does not use it"},
    {"print_backend", "run write_lat --client modle --print-config", "did you mean model?"},
    {"print_compare", "compare write_lat --set clock_mhz=250 --print-config",
     "clock_mhz: fixed when the RTL is built"},
    {"print_copy", "copy --file empty --print-config", "empty is empty"},
    {"print_replay", "replay list.json --print-config", "list.json is no listing"},
    {"print_regress", "regress --set ops=9 --set simple=mut --print-config", "did you mean mtu?"},
    {"print_results", "results timeing --print-config", "did you mean timing?"},
    // settings
    {"set_no_value", "run write_lat --set size", "is not NAME=VALUE"},
    {"set_unknown", "run write_lat --set siez=4", "no setting \"siez\", did you mean size?"},
    {"set_no_number", "run write_lat --set size=x", "size=x"},
    {"set_no_whole_number", "run write_lat --set size=1.5",
     "size=1.5: a whole number from 0 to 2147483648 is wanted\n"},
    {"set_above_without_unit", "run write_lat --set pcie_gen=6", "pcie_gen: 6 above 5\n"},
    {"set_above_with_unit", "run write_lat --set pcie_mps=8192",
     "pcie_mps: 8192 above 4096 bytes\n"},
    {"set_above", "run write_lat --set size=99999999999", "size=99999999999"},
    {"set_nan", "run write_lat --set link_gbps=nan",
     "link_gbps: \"nan\" is not a number from 1 to 1600"},
    {"set_inf", "run write_lat --set client.pcie_error=inf",
     "pcie_error: \"inf\" is not a number from 0 to 1"},
    {"set_below", "run write_lat --set mtu=10", "mtu"},
    {"set_qps", "run write_bw --set qps=1025",
     "write_bw: 1025 QPs are asked for (threads times qps), the client's device has 1024"},
    {"set_qps_of_threads", "run read_bw --set qps=5 --set threads=2 --set server.build=minimum",
     "10 QPs are asked for (threads times qps), the server's device has 8"},
    {"set_qps_of_compare", "compare write_lat write_bw --set qps=1025", "write_bw: 1025 QPs"},
    {"set_rd_atomic",
     "run read_lat --seed 303 --set size=8 --set count=18 --set threads=4 --set rd_atomic=32 --set "
     "build=minimum",
     "read_lat: rd_atomic=32 of 4 QPs (threads times qps) is too much for the client's device, "
     "which has 64 IRD slots in all; at most rd_atomic=21, or 2 QPs"},
    {"set_rd_atomic_of_a_qp", "run read_bw --set max_ird=4",
     "read_bw: rd_atomic=8 is too much for a QP of the client's device: max_ird is 4"},
    {"set_rd_atomic_of_a_side",
     "run read_bw --set qps=3 --set rd_atomic=32 --set server.build=minimum",
     "too much for the server's device"},
    {"set_nothing_written", "run write_bw --set size=0", "size 0 is nothing to wait for"},
    {"set_arena", "run write_bw --set arena_mib=16 --set size=16777216 --set depth=1 --set count=2",
     "the client has no room for what the settings ask for; ask for less, or more than "
     "arena_mib=16"},
    {"set_size_of_arena", "run read_bw --set size=2147483648 --set depth=1 --set count=1",
     "has no room for what the settings ask for; ask for less, or more than arena_mib=1024"},
    {"set_threads", "run write_lat --set build=minimum --set threads=8",
     "has no room for what the settings ask for; ask for less, or a larger num_pages of its "
     "device"},
    {"set_stags", "run frwr --set num_stags=64 --set qps=64",
     "ask for less, or a larger num_stags of its device"},
    {"set_page_list", "run frwr --set size=4194304 --set client.num_pbl=1024",
     "the client has no room for what the settings ask for; ask for less, or a larger num_pbl"},
    {"set_nothing", "run write_lat --set size=0", "size 0"},
    {"set_nothing_lent", "run mw_bind --set size=0", "mw_bind: size 0 is no memory"},
    {"set_completions", "run send_bw --set qps=600 --set count=20",
     "ask for less, or more threads (no memory: 600 QPs of a thread with 64 receives each"},
    {"set_build", "run write_lat --set build=small", "none of default, minimum, stall"},
    {"set_build_says_how", "run write_lat --set server.build=narrow_7",
     "narrow_7:SIZE=VALUE,SIZE=VALUE\" && cmake --build --preset release --target rnic-sim"},
    {"set_build_near", "run write_lat --set build=minimun", "did you mean minimum?"},
    {"set_build_of_regress", "regress --set build=small", "-DRNIC_BUILDS="},
    {"set_size_of_rtl_says_how", "run write_lat --client rtl --set num_qps=16",
     "choose a build (rnic-sim list builds)"},
    {"set_size_of_regress", "regress --set server.num_qps=2",
     "regress: num_qps=2 of the server's device is too small for random programs; they need 8"},
    {"set_ird_of_regress", "regress --set max_ird=4",
     "regress: max_ird=4 of the client's device is too small"},
    {"set_one_side_mtu", "run write_lat --set client.mtu=9000", "not one side's"},
    {"set_one_side_limit", "run write_lat --set server.time_limit_us=9", "not one side's"},
    {"set_one_side_program", "run write_lat --set client.size=9", "not one side's"},
    {"set_one_side_regress", "regress --set client.ops=9", "not one side's"},
    {"set_no_side", "run write_lat --set clinet.pcie_mps=128", "no setting \"clinet.pcie_mps\""},
    {"set_not_of_write_lat", "run write_lat --set qps=4",
     "write_lat does not use it (it uses size, count,"},
    {"set_not_of_read_lat", "run read_lat --set inline=10", "read_lat does not use it"},
    {"set_op_of_atomics", "run atomic_bw --set op=send",
     "atomic_bw: op=send: one of fetch_add, cmp_swap"},
    {"set_op_of_copy", "run file_copy --set op=fetch_add",
     "op=fetch_add: one of send, write, read"},
    {"set_op", "run atomic_lat --set op=xor",
     "one of send, write, read; atomics: fetch_add, cmp_swap"},
    {"set_addresses", "run atomic_bw --set addresses=two", "addresses=two: one of one, many"},
    {"set_method_of_lock", "run lock --set method=read", "lock: method=read: one of spin, ticket"},
    {"set_method_of_log", "run durable_log --set method=spin",
     "durable_log: method=spin: one of flush, flush_without_last, write_only, read, send"},
    {"set_not_of_write_bw", "run write_bw --set op=read", "write_bw does not use it"},
    {"set_of_regress", "run write_bw --set ops=5", "write_bw does not use it"},
    {"set_not_of_any", "compare write_lat read_lat --set qps=2", "compare does not use it"},
    {"set_by_copy", "copy --set op=read", "copy does not use it"},
    {"set_not_of_replay", "replay @captures/rping-client-crc.json --set size=4",
     "replay does not use it"},
    {"set_not_of_regress", "regress --set size=4",
     "regress does not use it (it uses ops, shrink, keep, simple)"},
    {"set_by_results", "results --set size=4", "results does not use it"},
    {"set_of_rtl", "run write_lat --set reset_seed=3", "no device that it is set for is RTL"},
    {"set_of_rtl_other_side", "run write_lat --server rtl --set client.reset_seed=3",
     "no device that it is set for is RTL"},
    {"set_size_of_rtl", "run write_lat --client rtl --set num_qps=16",
     "num_qps: fixed when the RTL is built"},
    {"set_clock", "run write_lat --set clock_mhz=fast", "clock_mhz: \"fast\" is not a number"},
    {"set_clock_nan", "run write_lat --set clock_mhz=nan", "clock_mhz: nan is not from 1 to 10000"},
    {"set_clock_zero", "run write_lat --set clock_mhz=0", "clock_mhz: 0 is not from 1 to 10000"},
    {"set_clock_digits", "run write_lat --set clock_mhz=9999.999999",
     "clock_mhz: 9999.999999 has too many digits"},
    {"set_clock_one_side", "run write_lat --set client.clock_mhz=250", "not one side's"},
    {"set_clock_of_rtl", "run write_lat --server rtl --set clock_mhz=250",
     "clock_mhz: fixed when the RTL is built"},
    {"set_clock_of_compare", "compare write_lat --set clock_mhz=250",
     "clock_mhz: fixed when the RTL is built"},
    {"set_size_no_power", "run write_lat --set num_qps=3", "num_qps: 3 is no power of two"},
    {"set_size_no_power_one_side", "run write_lat --set server.sq_window=5",
     "sq_window: 5 is no power of two"},
    {"set_path", "run write_lat --set datapath_bytes=48", "datapath_bytes: 48 is no power of two"},
    {"set_path_range", "run write_lat --set datapath_bytes=4",
     "datapath_bytes: 4 is not from 8 to 512"},
    {"set_path_of_tandem", "run write_lat --client tandem --set server.datapath_bytes=128",
     "datapath_bytes: fixed when the RTL is built"},
    {"regress_ops", "regress --set ops=0", "ops"},
    {"regress_keep", "regress --set ops=9 --set keep=x", "keep"},
    {"regress_simple", "regress --set ops=9 --set simple=mut", "did you mean mtu?"},
    // config files
    {"config_missing", "run write_lat --config missing.json",
     "missing.json: cannot be read (No such file or directory)"},
    {"config_folder", "run write_lat --config .", "cannot be read (Is a directory)"},
    {"config_empty", "run write_lat --config empty",
     "empty: not JSON: line 1, column 1: the file ends too early\n"},
    {"config_text", "run write_lat --config text.json",
     "text.json: not JSON: line 1, column 2: a value is wanted: a number, a text in quotes"},
    {"config_lines", "run write_lat --config lines.json",
     "lines.json: not JSON: line 3, column 3: a name in quotes is wanted\n"},
    {"config_list", "run write_lat --config list.json", "list.json: not a JSON object"},
    {"config_key", "run write_lat --config key.json",
     "key.json: line 1: unknown key \"setings\", did you mean settings?; there are preset, "
     "settings, sources"},
    {"config_preset", "run write_lat --config preset.json", "preset is not a string"},
    {"config_preset_name", "run write_lat --config preset_name.json",
     "preset_name.json: no preset \"gen4x61\", did you mean gen4x16?"},
    {"config_settings", "run write_lat --config settings.json", "settings is not an object"},
    {"config_object", "run write_lat --config object.json", "mtu is neither a number nor a string"},
    {"config_name", "run write_lat --config name.json",
     "name.json: no setting \"mut\", did you mean mtu?"},
    {"config_range", "run write_lat --config range.json", "range.json: mtu"},
    {"config_not_of_write_lat", "run write_lat --config qps.json",
     "qps.json: qps=2: write_lat does not use it (it uses size, count,"},
    {"config_named_default", "run write_lat --config default",
     "default: op=read: write_lat does not use it"},
    {"config_named_preset", "run write_lat --config 'preset gen3'",
     "preset gen3: qps=2: write_lat does not use it"},
    {"config_not_of_regress", "regress --config good.json",
     "good.json: size=32: regress does not use it"},
    {"config_of_rtl", "run write_lat --config rtl.json",
     "rtl.json: reset_seed=3: no device that it is set for is RTL"},
    {"config_of_rtl_one_side", "run write_lat --server rtl --config rtl_side.json",
     "rtl_side.json: client.reset_seed=3: no device that it is set for is RTL"},
    // input files
    {"file_none", "run file_copy", "--file FILE"},
    {"file_missing", "run file_copy --file missing",
     "missing: cannot be read (No such file or directory)"},
    {"file_folder", "copy --file .", "cannot be read (Is a directory)"},
    {"file_pipe", "run file_copy --file pipe", "pipe: not a regular file"},
    {"file_endless", "copy --file /dev/zero", "/dev/zero: not a regular file"},
    {"config_pipe", "run write_lat --config pipe", "pipe: not a regular file"},
    {"file_empty", "copy --file empty", "empty is empty"},
    {"file_of_no_copy", "run write_lat --file some", "write_lat: takes no --file (file_copy does)"},
    {"depth_missing", "results logic --depth missing", "missing: cannot be read"},
    {"depth_of_no_part", "results tests --depth some",
     "results: --depth some has no effect (logic and speed read it)"},
    {"ci_of_no_part", "results logic speed --ci some",
     "results: --ci some has no effect (tests reads it)"},
    {"plot_of_no_part", "results limit --plot some.svg",
     "results: --plot some.svg has no effect (bandwidth draws it)"},
    {"plot_other", "run write_lat --plot some.svg", "run: takes no --plot (results, sweep do)"},
    {"plot_output", "results bandwidth --plot -", "--plot -: a file is wanted"},
    {"depth_other", "results --depth some",
     "neither rtl/lint/sizes.txt nor what rtl/lint/depth.sh prints"},
    {"ci_other", "results tests --ci some", "not what tb/run.sh prints"},
    // output files
    {"pcap", "run write_lat --pcap /nonexistent/x",
     "--pcap /nonexistent/x: cannot be written (No such file or directory)"},
    {"pcap_folder", "run write_lat --pcap .", "cannot be written (Is a directory)"},
    {"tlp", "run write_lat --tlp /nonexistent/x", "--tlp /nonexistent/x: cannot be written"},
    {"json", "run write_lat --json /nonexistent/x", "--json /nonexistent/x: cannot be written"},
    {"csv", "compare --csv /nonexistent/x", "--csv /nonexistent/x: cannot be written"},
    {"junit", "regress --junit /nonexistent/x", "--junit /nonexistent/x: cannot be written"},
    {"plot", "results bandwidth --plot /nonexistent/x", "--plot /nonexistent/x: cannot be written"},
    {"page", "results --page /nonexistent/x", "--page /nonexistent/x: cannot be written"},
    {"copy_pcap", "copy --file some --pcap /nonexistent/x",
     "--pcap /nonexistent/x.send.rtl-rtl.pcap: cannot be written"},
    {"regress_pcap", "regress --set ops=300 --pcap /nonexistent/x",
     "--pcap /nonexistent/x.seed1.pcap: cannot be written"},
    {"regress_tlp_of_the_last_child", "regress --set ops=600 --pcap p --tlp taken",
     "--tlp taken.seed3.txt: cannot be written (Is a directory)"},
    {"replay_tlp", "replay @captures/rping-client-crc.json --tlp /nonexistent/x",
     "--tlp /nonexistent/x: cannot be written"},
    {"pcap_to_the_output", "run write_lat --pcap -",
     "--pcap -: a file is wanted (--json, --csv and --junit take the standard output)"},
    {"tlp_to_the_output", "regress --tlp -", "--tlp -: a file is wanted"},
    {"wave_to_the_output", "compare --wave -", "--wave -: a file is wanted"},
    {"json_pipe", "run write_lat --json pipe", "--json pipe: not a regular file"},
    {"tlp_pipe", "run write_lat --tlp pipe", "--tlp pipe: not a regular file"},
    {"pcap_pipe_by_link", "run write_lat --pcap link_to_pipe",
     "--pcap link_to_pipe: not a regular file"},
    // one file for two purposes
    {"csv_is_json_by_link", "run write_lat --json new --csv link_to_new",
     "--csv link_to_new: --json writes the same file"},
    {"json_is_pcap_by_links", "run write_lat --json link_to_new --pcap link_to_link",
     "--pcap link_to_link: --json writes the same file"},
    {"json_is_config", "run write_lat --config good.json --json good.json",
     "--json good.json: --config reads the same file"},
    {"csv_is_json", "run write_lat --json x --csv ./x", "--csv ./x: --json writes the same file"},
    {"pcap_is_file", "run file_copy --file some --pcap ../$(basename $PWD)/some",
     "some: --file reads the same file"},
    {"pcap_is_json", "run write_lat --json x --pcap x", "--pcap x: --json writes the same file"},
    {"tlp_is_pcap", "run write_lat --tlp x --pcap x", "--tlp x: --pcap writes the same file"},
    {"tlp_is_config", "run write_lat --config good.json --tlp good.json",
     "--tlp good.json: --config reads the same file"},
    {"wave_is_json", "run write_lat --client rtl --json w.client.fst --wave w.fst",
     "--wave w.client.fst: --json writes the same file"},
    {"copy_pcap_is_json", "copy --file some --json p.send.rtl-rtl.pcap --pcap p.pcap",
     "--pcap p.send.rtl-rtl.pcap: --json writes the same file"},
    {"copy_json_is_file", "copy --file some --json some",
     "--json some: --file reads the same file"},
    {"regress_tlp_is_junit", "regress --set ops=20 --junit x --tlp x",
     "--tlp x: --junit writes the same file"},
    {"replay_pcap_is_listing", "replay good.json --pcap good.json",
     "--pcap good.json: replay reads the same file"},
    {"results_page_is_depth", "results logic --depth some --page some",
     "--page some: --depth reads the same file"},
    // waveforms
    {"wave_of_models", "run write_lat --wave w.fst", "no device here is RTL"},
    {"wave_of_model_in_replay",
     "replay @captures/rping-client-crc.json --side siw --client model --server model --wave w.fst",
     "no device here is RTL"},
    {"wave_folder", "run write_lat --client rtl --wave /nonexistent/w.fst",
     "--wave /nonexistent/w.client.fst: cannot be written"},
    {"wave_no_file", "run write_lat --client rtl --wave @1..2", "no file is named"},
    {"wave_no_window", "run write_lat --client rtl --wave w@10", "the window is FROM..TO, in ns"},
    {"wave_no_number", "run write_lat --client rtl --wave w@a..b", "the window is FROM..TO, in ns"},
    {"wave_rest", "run write_lat --client rtl --wave w@10..20junk",
     "the window is FROM..TO, in ns"},
    {"wave_backwards", "run write_lat --client rtl --wave w@20..10", "ends before it begins"},
    {"wave_nothing", "run write_lat --client rtl --wave w@5..5", "or where it begins"},
    {"wave_unit", "run write_lat --client rtl --wave w@10..20:ddpp",
     "no unit \"ddpp\", did you mean ddp?"},
    {"wave_vcd", "run write_lat --client rtl --wave w.vcd", "waveforms are FST"},
};

INSTANTIATE_TEST_SUITE_P(Each, WrongUse, testing::ValuesIn(kWrong),
                         [](const auto& info) { return info.param.name; });

// --- correct use

class GoodUse : public Cli, public testing::WithParamInterface<Row> {};

TEST_P(GoodUse, SaysItOnTheOutputAndNothingElse) {
  const Told t = run(GetParam().arguments);
  EXPECT_EQ(t.status, 0) << t.err;
  EXPECT_EQ(t.err, "");
  EXPECT_NE(t.out.find(GetParam().says), std::string::npos) << t.out;
}

constexpr Row kGoodUse[] = {
    {"version", "--version", "rnic-sim "},
    {"help", "--help", "usage: rnic-sim COMMAND"},
    {"help_of_replay", "--help", "a capture (listing or pcap) played into a device"},
    {"help_in_short", "-h", "usage: rnic-sim COMMAND"},
    {"help_of_a_command", "run --help", "exit status: 0 all checks held"},
    {"list", "list", "settings of the program:"},
    {"list_programs", "list programs", "write_lat "},
    {"list_atomics", "list programs", "atomic_write_lat "},
    {"explain_op", "explain op", "fetch_add, cmp_swap"},
    {"list_presets", "list presets", "gen4x16 "},
    {"list_builds", "list builds", "minimum      every table and FIFO at its smallest"},
    {"explain_build", "explain build", "default (the normal sizes); minimum (every table"},
    {"explain", "explain pcie_mps", "--set client.pcie_mps=VALUE"},
    {"explain_power", "explain num_qps",
     "Default 1024, minimum 8, stall 8, a power of two; model only."},
    {"size_of_any_number", "run write_lat --set count=4 --set rd_tags=12", "t_typical[usec]"},
    {"explain_one_side", "explain client.pcie_mps", "pcie_mps: Largest payload"},
    {"explain_now_one_side", "explain pcie_mps --set server.pcie_mps=128",
     "server  128 bytes (--set)\n"},
    {"explain_now", "explain mtu --set mtu=9000", "now     9000 bytes (--set)"},
    {"run", "run write_lat --set count=4", "t_typical[usec]"},
    {"run_verbose", "run write_bw --set count=40 --verbose", "\"wire_limit_gbps\""},
    {"run_json_to_the_output", "run send_bw --set count=40 --json -", "\"msg_per_s\""},
    {"run_seed", "run pingpong --set count=4 --seed random", "seed "},
    {"run_preset_and_config", "run write_lat --config good.json --set count=4", "32"},
    {"run_file", "run file_copy --file some --set op=read", "BW average[Gb/sec]"},
    {"replay", "replay @captures/rping-client-crc.json", " 0 differences"},
    {"replay_either_seat", "replay @captures/rping-client-crc.json --client rtl --server model",
     " on model as siw (responder): "},
    {"replay_its_seat", "replay @captures/rping-client-crc.json --server rtl --set build=minimum",
     " on rtl as siw (responder): "},
    {"regress", "regress --set ops=60", "60 operations"},
    {"results_logic", "results logic tests", "| logic depth, size | not given"},
    {"quiet", "run write_lat --set count=4 --quiet", ""},
};

INSTANTIATE_TEST_SUITE_P(Each, GoodUse, testing::ValuesIn(kGoodUse),
                         [](const auto& info) { return info.param.name; });

TEST_F(Cli, QuietSaysNothing) {
  for (const char* c : {"run write_lat --set count=4 --quiet", "regress --set ops=20 --quiet",
                        "replay @captures/rping-client-crc.json --quiet"})
    EXPECT_EQ(run(c).out, "") << c;
}

// So that `rnic-sim ... --json - | jq` works.
TEST_F(Cli, JsonOnTheOutputStandsThereAlone) {
  for (const char* c :
       {"run write_lat --set count=4",
        "run write_lat --server rtl --set build=minimum --set count=4 --verbose --stages",
        "run write_bw --set count=40 --quiet", "regress --set ops=20 --verbose",
        "replay @captures/rping-client-crc.json", "results logic tests",
        "compare write_lat --set count=2"}) {
    const Told t = run(std::string(c) + " --json -");
    EXPECT_EQ(t.status, 0) << c << t.err;
    EXPECT_TRUE(Json::accept(t.out)) << c << t.out;
  }
  EXPECT_TRUE(Json::accept(run("run write_lat --set count=4 --json /dev/stdout").out));
}

TEST_F(Cli, ExplainOffersOneSideOnlyWhereThereIsOne) {
  for (const char* name : {"mtu", "link_gbps", "llp_window_bytes", "time_limit_us", "size", "ops"})
    EXPECT_EQ(run(std::string("explain ") + name).out.find("client."), std::string::npos) << name;
}

TEST_F(Cli, NullDeviceMayBeNamedTwice) {
  EXPECT_EQ(
      run("run write_lat --set count=4 --json /dev/null --pcap /dev/null --tlp /dev/null").status,
      0);
  EXPECT_EQ(run("run file_copy --file some --pcap some.pcap --json some.json --quiet").status, 0);
}

// Checking the output path does not create the target of a dangling link.
TEST_F(Cli, OutputGoesWhereItsLinkLeads) {
  const Told refused = run("run write_lat --json link_to_link --pcap /nonexistent/x");
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_FALSE(fs::exists(file("new")));
  ASSERT_EQ(run("run write_lat --set count=4 --json link_to_link --quiet").status, 0);
  EXPECT_TRUE(fs::is_symlink(file("link_to_link")) && fs::is_symlink(file("link_to_new")));
  EXPECT_EQ(json_of(file("new"))["program"], "write_lat");
}

TEST_F(Cli, OutputMayBeThePipeOfAReader) {
  for (const char* where : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const std::string command =
        std::string("'" RNIC_SIM "' run write_lat --set count=4 --quiet --csv ") + where +
        " 2>&1 | cat >'" + file("out").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(text_of(file("out")).starts_with("program,client,server")) << text_of(file("out"));
  }
}

TEST_F(Cli, PrintedConfigIsAConfig) {
  const Told first = run(
      "run write_bw --config good.json --set size=128 --set server.pcie_mrrs=1024 --print-config");
  ASSERT_EQ(first.status, 0) << first.err;
  std::ofstream(file("again.json")) << first.out;
  const Told second = run("run write_bw --config again.json --print-config");
  ASSERT_EQ(second.status, 0) << second.err;
  const Json a = Json::parse(first.out), b = Json::parse(second.out);
  EXPECT_EQ(a["preset"], "gen3x16");
  EXPECT_EQ(a["settings"]["size"], "128");
  EXPECT_EQ(a["settings"]["mtu"], "9000");
  EXPECT_EQ(a["settings"]["client.pcie_mps"], "128");
  EXPECT_EQ(a["sources"]["size"], "--set");
  EXPECT_EQ(a["sources"]["mtu"], "good.json");
  EXPECT_EQ(a["settings"], b["settings"]);
  EXPECT_EQ(a["preset"], b["preset"]);
  EXPECT_EQ(run("run write_bw --config again.json --set count=40").status,
            0);  // it contains all settings, also those of other programs
}

// Programs differ in the defaults of `op` and `method`: the file is valid for each.
TEST_F(Cli, PrintedConfigOfEachProgramIsAConfig) {
  for (const char* program : {"frwr", "mw_bind", "atomic_lat", "atomic_bw", "lock", "send_bw"}) {
    const Told printed = run(std::string("run ") + program + " --print-config");
    ASSERT_EQ(printed.status, 0) << printed.err;
    std::ofstream(file("again.json")) << printed.out;
    const Told t = run(std::string("run ") + program + " --config again.json --set count=4");
    EXPECT_EQ(t.status, 0) << t.err;
  }
}

TEST_F(Cli, ExplainsAProgram) {
  const Told t = run("explain frwr");
  EXPECT_EQ(t.status, 0) << t.err;
  EXPECT_NE(t.out.find("frwr: The client registers memory"), std::string::npos) << t.out;
  EXPECT_NE(t.out.find("\n  op           write "), std::string::npos) << t.out;
  EXPECT_NE(t.out.find("\n  rd_atomic    8 "), std::string::npos) << t.out;
  EXPECT_EQ(run("run frwr --help").out, t.out);
  EXPECT_EQ(run("run frwrr --help").status, 2);
  EXPECT_NE(run("explain op").out.find("default fetch_add in atomic_bw\n"), std::string::npos);
}

TEST_F(Cli, PrintsLimitEvents) {
  const Told t = run("run srq_pingpong --set srq_limit=4 --set count=20 --json j");
  const Json events = json_of(file("j"))["limit_events"];
  EXPECT_GT(events["client"], 0);
  EXPECT_NE(t.out.find("queues: client " + events["client"].dump() + ", server " +
                       events["server"].dump() + "\n"),
            std::string::npos)
      << t.out;
}

// Precedence: --preset over a file's preset, a later file's over an earlier one's, and every
// setting over all presets.
TEST_F(Cli, PresetLiesUnderAllSettings) {
  std::ofstream(file("slow.json"))
      << R"({"preset": "gen3x16", "settings": {"pcie_latency_ns": 1234}})";
  std::ofstream(file("fast.json")) << R"({"preset": "gen5x16"})";
  const auto printed = [&](const std::string& words) {
    return Json::parse(run("run write_lat " + words + " --print-config").out);
  };
  for (const auto& [words, preset, gen, latency] :
       {std::tuple{"--config slow.json", "gen3x16", "3", "1234"},
        {"--preset gen5x16 --config slow.json", "gen5x16", "5", "1234"},
        {"--preset gen4x16 --config slow.json", "gen4x16", "4", "1234"},
        {"--config slow.json --config fast.json", "gen5x16", "5", "1234"},
        {"--config fast.json --config slow.json --set pcie_gen=4", "gen3x16", "4", "1234"}}) {
    const Json j = printed(words);
    EXPECT_EQ(j["preset"], preset) << words;
    EXPECT_EQ(j["settings"]["pcie_gen"], gen) << words;
    EXPECT_EQ(j["settings"]["pcie_latency_ns"], latency) << words;
    EXPECT_EQ(j["sources"]["pcie_latency_ns"], "slow.json") << words;
  }
  EXPECT_FALSE(printed("--preset gen4x16 --config slow.json")["sources"].contains("pcie_gen"));
  EXPECT_EQ(printed("--config slow.json --config fast.json")["sources"]["pcie_gen"],
            "preset gen5x16");
}

// A file name is never mistaken for a kind of source.
TEST_F(Cli, ConfigMayHaveAnyName) {
  std::ofstream(file("default")) << R"({"settings": {"size": 64, "mtu": 9000}})";
  std::ofstream(file("preset x")) << R"({"settings": {"mtu": 9000}})";
  const Told t =
      run("run send_bw --config default --set client.pcie_error_status=3 --set "
          "client.pcie_error_nth=60");
  EXPECT_EQ(t.status, 1) << t.err;
  EXPECT_NE(last_line(t.err).find(" --set size=64 "), std::string::npos) << t.err;
  EXPECT_NE(last_line(t.err).find(" --set mtu=9000 "), std::string::npos) << t.err;
  const Told printed = run("run write_bw --config default --print-config");
  EXPECT_EQ(Json::parse(printed.out)["sources"]["mtu"], "default");
  const Told regressed =
      run("regress --config 'preset x' --set ops=40 --set client.pcie_error_status=3 --set "
          "client.pcie_error_nth=60 --set shrink=0");
  EXPECT_NE(last_line(regressed.err).find(" --set mtu=9000 "), std::string::npos) << regressed.err;
}

// The message never has the wording of the library that reads the file.
TEST_F(Cli, WhatIsNoJsonIsToldWithItsPlaceAndWhy) {
  for (const auto& [text, says] :
       {std::pair{R"({"settings": {"mtu" 1500}})", "line 1, column 24: a colon is wanted"},
        {"{\"settings\": {\n \"mtu\": 1500\n \"size\": 4}}",
         "line 3, column 7: a comma or } is wanted"},
        {"{\"settings\": [1 2]}", "line 1, column 17: a comma or ] is wanted"},
        {"{\"settings\": {\"mtu\": 1500,\n}}", "line 2, column 1: a name in quotes is wanted"},
        {"{\"settings\": {\"mtu\": 15x}}", "line 1, column 24: a comma or } is wanted"},
        {"{\"settings\": {\"mtu\": \n1e999}}", "line 2, column 6: the number is too large"},
        {"{\"settings\": {\"mtu\": -}}", "column 23: a digit is wanted"},
        {"{\"settings\": {\"mtu\": \"15", "a text in quotes has no end"},
        {"{\"settings\": {\"mtu\": \"15\n\"}}",
         "line 1, column 25: a line ends, or another control character stands, in a text in "
         "quotes"},
        {"{\"settings\": {\"m\\tu\\x\": 4}}", "no such character is written with a backslash"},
        {"{\"settings\": {\"\xff\": 4}}", "a byte is no UTF-8"},
        {"{}\n}", "line 2, column 1: there is text after the end"},
        {"{\"settings\": {}", "line 1, column 16: the file ends too early"}}) {
    std::ofstream(file("wrong.json")) << text;
    const Told t = run("run write_lat --config wrong.json");
    EXPECT_EQ(t.status, 2) << text;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_TRUE(t.err.starts_with("rnic-sim: wrong.json: not JSON: line ")) << t.err;
    EXPECT_NE(t.err.find(says), std::string::npos) << t.err;
    EXPECT_EQ(t.err.find("json.exception"), std::string::npos) << t.err;
  }
}

// If one object repeats a name, one of the values would be ignored. Two objects may have the same
// name, and text may repeat it.
TEST_F(Cli, KeyThatIsSaidTwiceIsRefusedWithItsLines) {
  const std::string unit = R"({"n": 0, "from": "initiator", "kind": "mpa", "hex": "00"})";
  for (const auto& [command, text, says] :
       {std::tuple{"run write_lat --config",
                   std::string(R"({"settings": {"mtu": 1500, "mtu": 9000}})"),
                   "line 1: \"mtu\" is said twice, first in line 1"},
        {"run write_lat --config", "{\"settings\": {\n\"mtu\": 1500,\n\n\"m\\u0074u\": 1500}}",
         "line 4: \"mtu\" is said twice, first in line 2"},
        {"run write_lat --config", "{\"settings\": {},\n\"settings\": {\"mtu\": 9000}}",
         "line 2: \"settings\" is said twice, first in line 1"},
        {"explain mtu --config",
         "{\"settings\": {},\"preset\": \"gen3x16\", \n\"preset\": \"gen4x16\"}",
         "line 2: \"preset\" is said twice, first in line 1"},
        {"replay", "{\"units\": [],\n\"units\": [" + unit + "]}",
         "line 2: \"units\" is said twice, first in line 1"},
        {"replay", "{\"units\": [" + unit + ",\n{\"n\": 1, \"kind\": \"mpa\",\n\"n\": 2}]}",
         "line 3: \"n\" is said twice, first in line 2"}}) {
    std::ofstream(file("twice.json")) << text;
    const Told t = run(std::string(command) + " twice.json");
    EXPECT_EQ(t.status, 2) << text;
    EXPECT_EQ(t.err, std::string("rnic-sim: twice.json: ") + says + "\n");
  }
  std::ofstream(file("once.json"))
      << R"({"preset": "gen3x16", )"
         R"("settings": {"mtu": "9000", "client.pcie_mps": 128, "server.pcie_mps": 128}, )"
         R"("sources": {"mtu": "mtu"}})";
  EXPECT_EQ(run("run write_lat --config once.json --print-config").status, 0);
}

TEST_F(Cli, ConfigOfEachCommandIsPrintedAndNothingRuns) {
  for (const char* c :
       {"run write_lat", "compare", "copy --file some", "replay @captures/rping-client-crc.json",
        "regress", "results timing", "crash durable_log"}) {
    const Told t = run(std::string(c) + " --set mtu=9000 --print-config");
    EXPECT_EQ(t.status, 0) << c << t.err;
    EXPECT_EQ(t.err, "");
    EXPECT_EQ(Json::parse(t.out)["settings"]["mtu"], "9000") << c;
  }
}

TEST_F(Cli, FilesOfARun) {
  const Told t =
      run("run write_bw --set count=100 --set size=4096 --json j --csv c --junit x --pcap p --tlp "
          "t --quiet");
  ASSERT_EQ(t.status, 0) << t.err;
  const Json j = json_of(file("j"));
  for (const char* key : {"program", "client", "server", "seed", "settings", "ops", "bytes",
                          "sim_ns", "gbps", "msg_per_s", "latency_ns", "mismatches", "rtl_cycles",
                          "wall_s", "kcycles_per_s", "units", "pcie"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  EXPECT_GE(j["ops"], 100);
  EXPECT_GT(j["pcie"]["client"]["payload"]["read_bytes"], 100 * 4096);
  EXPECT_GT(j["pcie"]["server"]["place"]["write_bytes"], 100 * 4096);
  EXPECT_EQ(lines_of(text_of(file("c"))), 2);
  EXPECT_NE(text_of(file("x")).find("tests=\"1\" failures=\"0\""), std::string::npos);
  EXPECT_GT(fs::file_size(file("p")), 100u * 4096);
  EXPECT_NE(text_of(file("t")).find("payload"), std::string::npos);
}

// Compares each column with the JSON field of the same name and run. No two of these figures are
// equal, so that swapped columns show. One of the runs fails.
TEST_F(Cli, ColumnsOfTheCsvAreTheFieldsOfTheJson) {
  for (const auto& [arguments, status] :
       {std::pair{"run write_bw --set count=100 --set size=4096 --seed 7", 0},
        {"run read_lat --set count=20 --set size=48 --seed 9 --server rtl --set build=minimum", 0},
        {"compare send_lat --set count=12 --set size=100", 0},
        {"run send_lat --set count=20 --set client.pcie_error_status=3 --set "
         "client.pcie_error_nth=60",
         1}}) {
    ASSERT_EQ(run(std::string(arguments) + " --json j --csv c --quiet").status, status)
        << arguments;
    Json runs = json_of(file("j"));
    if (!runs.is_array()) runs = Json::array({runs});
    const auto split = [](const std::string& line) {
      std::vector<std::string> cells;
      std::istringstream in(line + ",");
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      return cells;
    };
    const auto settings_of = [](const Json& j) {
      std::string words;
      for (const auto& [name, value] : j["settings"].items())
        words += (words.empty() ? "" : " ") + name + "=" + value.get<std::string>();
      return words;
    };
    std::istringstream lines(text_of(file("c")));
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> columns = split(line);
    EXPECT_EQ(columns, split("program,client,server,seed,size,ops,bytes,sim_ns,gbps,msg_per_s,"
                             "latency_p50_ns,mismatches,status,settings"));
    for (const Json& j : runs) {
      ASSERT_TRUE(std::getline(lines, line)) << arguments;
      const std::vector<std::string> cells = split(line);
      ASSERT_EQ(cells.size(), columns.size()) << line;
      for (size_t k = 0; k < columns.size(); ++k) {
        const Json& l = j["latency_ns"];
        const bool is_rate = columns[k] == "gbps" || columns[k] == "msg_per_s";
        const Json want = columns[k] == "settings"         ? Json(settings_of(j))
                          : columns[k] == "latency_p50_ns" ? (l.is_null() ? Json("") : l["p50"])
                          : is_rate && j.at("sim_ns") == 0 ? Json("")
                                                           : j.at(columns[k]);
        if (want.is_string()) {
          EXPECT_EQ(cells[k], want) << columns[k];
        } else {
          EXPECT_EQ(std::stod(cells[k]), want.get<double>()) << columns[k] << " of " << line;
        }
      }
      EXPECT_EQ(cells[12], std::to_string(status)) << line;
    }
    EXPECT_FALSE(std::getline(lines, line)) << line;
  }
}

// Rows of several runs in one table are distinguishable; a value that was not measured is not 0.
TEST_F(Cli, RowOfTheCsvSaysItsSettings) {
  const auto row = [&](const std::string& arguments) {
    EXPECT_LE(run(arguments + " --csv c --quiet").status, 3);
    return last_line(text_of(file("c")));
  };
  EXPECT_TRUE(row("run write_lat --set count=4").ends_with(",0,0,count=4"));
  EXPECT_TRUE(row("run write_lat --set count=4 --set size=64").ends_with(",0,0,count=4"));
  EXPECT_TRUE(row("run write_lat --config good.json --set count=4").find(",0,0,size=32 count=4 ") !=
              std::string::npos);
  EXPECT_TRUE(row("run write_lat --config good.json --set count=4")
                  .ends_with(" mtu=9000 client.pcie_mps=128"));
  EXPECT_TRUE(row("run send_lat").ends_with(",0,0,"));
  EXPECT_NE(row("run write_bw --set count=40").find(",,0,0,count=40"), std::string::npos);
  EXPECT_EQ(row("run write_bw --set time_limit_us=1"),
            "write_bw,model,model,1,64,0,0,0.0,,,,0,3,time_limit_us=1");
}

// One operation at a time: each starts about when the previous one ends. Their sum is the measured
// time.
TEST_F(Cli, LatenciesAddUpToTheMeasuredTime) {
  for (const auto& [program, divisor] :
       {std::pair{"write_lat", 2}, {"send_lat", 2}, {"read_lat", 1}}) {
    for (const uint64_t count : {1, 40}) {
      ASSERT_EQ(run(std::string("run ") + program +
                    " --set size=300 --set count=" + std::to_string(count) + " --json j --quiet")
                    .status,
                0)
          << program;
      const Json j = json_of(file("j"));
      const Json& l = j["latency_ns"];
      EXPECT_EQ(j["ops"], count) << program;
      EXPECT_EQ(j["bytes"], 300 * count) << program;
      EXPECT_EQ(j["half_round_trip"], divisor == 2) << program;
      EXPECT_NEAR(l["avg"].get<double>() * divisor * static_cast<double>(count),
                  j["sim_ns"].get<double>(), 0.001 * j["sim_ns"].get<double>())
          << program;
      const std::vector<double> rising = {l["min"], l["p50"], l["p99"], l["max"]};
      EXPECT_TRUE(std::ranges::is_sorted(rising)) << l;
      EXPECT_GT(rising[0], 1000) << "two PCIe transfers and a wire take more than a microsecond";
      EXPECT_TRUE(l["avg"] >= l["min"] && l["avg"] <= l["max"]) << l;
      EXPECT_TRUE(count != 1 || l["min"] == l["max"]) << l;
    }
  }
}

// The example of docs/simulator.md.
TEST_F(Cli, StagesAreToldOfEachSideAndEachPath) {
  const Told t =
      run("run write_lat --client rtl --server rtl --set push=1 --set inline=64 --set count=24 "
          "--set warmup=4 --stages");
  EXPECT_EQ(t.status, 0) << t.err;
  for (const char* says :
       {"client: push_to_wire, ", "client: wire_to_host, ", "server: push_to_wire, ",
        "server: wire_to_host, ", "client: no stream moved or waited",
        "server: no stream moved or waited", "push taken (pcie to host_if)"}) {
    EXPECT_NE(t.out.find(says), std::string::npos) << says << t.out;
  }
  const Told busy =
      run("run write_bw --client rtl --server model --set size=4096 --set count=64 --stages");
  EXPECT_EQ(busy.status, 0) << busy.err;
  EXPECT_NE(busy.out.find("client: stream "), std::string::npos) << busy.out;
  EXPECT_NE(busy.out.find("llp_tx_hdr "), std::string::npos) << busy.out;
}

TEST_F(Cli, ResultsNamesTheLimitOfDepthSh) {
  std::ifstream script(RNIC_CAPTURES "/../../../rtl/lint/depth.sh");
  std::string line, limit;
  while (std::getline(script, line))
    if (line.starts_with("limit=")) limit = line.substr(6);
  ASSERT_FALSE(limit.empty());
  const Told told = run("results logic --depth " RNIC_CAPTURES "/../../../rtl/lint/sizes.txt");
  EXPECT_NE(told.out.find("; depth.sh accepts " + limit + ".\n"), std::string::npos) << told.out;
}

TEST_F(Cli, ResultsSayHowManyOperationsTheirStagesAreOf) {
  ASSERT_EQ(run("results stages --page page.md --json j --quiet").status, 0);
  EXPECT_EQ(json_of(file("j"))["runs"][0]["ops"], 24);
  EXPECT_NE(text_of(file("page.md")).find("`write_lat`, 24 operations after 4 of warm-up; "),
            std::string::npos);
}

// The model also reports bytes by purpose. An RTL device reports which unit each of its units
// stalled for.
TEST_F(Cli, JsonSaysWhatPcieWasForAndWhoStalledForWhom) {
  ASSERT_EQ(run("compare write_bw --set count=64 --set size=8192 --set depth=8 --json j --csv c "
                "--jobs 2 --quiet")
                .status,
            0);
  const Json all = json_of(file("j"));
  ASSERT_EQ(all.size(), 4u);
  for (const Json& j : all) {
    EXPECT_EQ(j["pcie"]["client"]["payload"]["read_bytes"],
              all[0]["pcie"]["client"]["payload"]["read_bytes"]);
    EXPECT_EQ(j["pcie"]["server"]["place"]["write_bytes"],
              all[0]["pcie"]["server"]["place"]["write_bytes"]);
    EXPECT_EQ(j["units"]["client"]["llp_if"].contains("stalled_for"), j["client"] == "rtl");
  }
  EXPECT_GT(all[0]["units"]["client"]["llp_if"]["stalled_for"]["llp"], 0.1);  // the wire is full
  EXPECT_EQ(lines_of(text_of(file("c"))), 5);
}

TEST_F(Cli, CompareTellsErrorsAndSpeedUp) {
  const Told t = run("compare write_lat --set count=4 --set size=8 --jobs 2");
  ASSERT_EQ(t.status, 0) << t.err;
  EXPECT_NE(t.out.find("speed-up\n"), std::string::npos) << t.out;
  EXPECT_NE(t.out.find("Speed-up: of the CPU time of a message"), std::string::npos) << t.out;
  for (const char* pairing : {"rtl-rtl", "model-model", "model-rtl", "rtl-model"})
    EXPECT_NE(t.out.find(pairing), std::string::npos) << t.out;
}

TEST_F(Cli, WhatCannotGoOnHidesNoFailureBeforeIt) {
  for (const char* capture : {"p.read_lat.rtl-rtl.pcap", "p.read_lat.model-model.pcap"})
    fs::create_symlink("/dev/full", file(capture));
  const Told t =
      run("compare write_lat read_lat --set count=150 --set warmup=0 --set push=1 --set "
          "client.pcie_error_status=3 --set client.pcie_error_nth=100 "
          "--pcap p --wave none --json j");
  EXPECT_EQ(t.status, 1) << t.err;
  EXPECT_NE(t.err.find(".pcap: cannot be written to its end"), std::string::npos) << t.err;
  EXPECT_TRUE(last_line(t.err).starts_with("reproduce: rnic-sim run write_lat ")) << t.err;
  EXPECT_EQ(json_of(file("j")).size(), 4u);
}

TEST_F(Cli, FilesOfARegressionAreEachChilds) {
  const Told t =
      run("regress --set ops=260 --jobs 2 --json j --junit x --pcap p.pcap --tlp t --quiet");
  ASSERT_EQ(t.status, 0) << t.err;
  for (const char* name : {"p.seed1.pcap", "p.seed2.pcap", "t.seed1.txt", "t.seed2.txt"})
    EXPECT_GT(fs::file_size(file(name)), 1000u) << name;
  const Json j = json_of(file("j"));
  EXPECT_EQ(j["program"], "regress");
  EXPECT_EQ(j["ops"], 260);
  EXPECT_EQ(j["plans"].size(), 2u);
  EXPECT_GT(j["drawn"]["operation x size"]["write"]["64"], 0);
  EXPECT_GT(j["drawn"]["settings"]["qps"].size(), 0u);
  EXPECT_NE(text_of(file("x")).find("tests=\"2\" failures=\"0\""), std::string::npos);
}

TEST_F(Cli, FilesOfAReplay) {
  const Told t =
      run("replay @captures/rping-client-crc.json --json j --junit x --pcap p --tlp t --quiet");
  ASSERT_EQ(t.status, 0) << t.err;
  EXPECT_EQ(json_of(file("j"))["program"], "replay");
  for (const char* name : {"x", "p", "t"}) EXPECT_GT(fs::file_size(file(name)), 100u) << name;
}

TEST_F(Cli, WaveIsOfTheWindowAndTheUnit) {
  const std::string command =
      "run write_lat --client rtl --set build=minimum --set count=2 --set warmup=0 --wave ";
  ASSERT_EQ(run(command + "all.fst@0..4000").status, 0);
  ASSERT_EQ(run(command + "unit@0..4000:cq").status, 0);
  ASSERT_EQ(run(command + "other.fst@0..4000:host_if").status, 0);
  const auto all = fs::file_size(file("all.client.fst")),
             cq = fs::file_size(file("unit.client.fst")),
             host_if = fs::file_size(file("other.client.fst"));
  EXPECT_GT(cq, 1000u);
  EXPECT_LT(cq + host_if, all);
  EXPECT_FALSE(fs::exists(file("all.server.fst")));
  const Told late = run(command + "late.fst@900000000..");
  EXPECT_EQ(late.status, 0);
  EXPECT_NE(late.err.find("not written, the run ended before"), std::string::npos) << late.err;
}

// --- failures

// The last line reproduces the failure, with all its settings.
TEST_F(Cli, FailureIsStatusOneAndItsLastLineRepeatsIt) {
  std::ofstream(file("more.json")) << R"({"settings": {"qps": 1, "depth": 32, "mtu": 9000}})";
  const Told t =
      run("run send_lat --config more.json --set count=20 --set client.pcie_error_status=3 --set "
          "client.pcie_error_nth=60 --seed 5 --json j --junit x");
  EXPECT_EQ(t.status, 1) << t.err;
  const std::string again = last_line(t.err);
  ASSERT_TRUE(
      again.starts_with("reproduce: rnic-sim run send_lat --client model --server model --seed 5 "))
      << t.err;
  EXPECT_EQ(again.find("qps"), std::string::npos)
      << again;  // at its default: send_lat does not have it
  EXPECT_NE(again.find("--set depth=32"), std::string::npos) << again;
  const Told second = run(again.substr(std::string("reproduce: rnic-sim ").size()));
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.err, t.err);
  EXPECT_EQ(json_of(file("j"))["status"], 1);
  EXPECT_NE(text_of(file("x")).find("failures=\"1\""), std::string::npos);
}

TEST_F(Cli, LastLineOfAFailureIsGoodForAShell) {
  std::ofstream(file("it's a file")) << std::string(5000, 'x');
  const Told t =
      run("run file_copy --file \"it's a file\" --set client.pcie_error_status=3 --set "
          "client.pcie_error_nth=60");
  EXPECT_EQ(t.status, 1) << t.err;
  const std::string again = last_line(t.err);
  ASSERT_TRUE(again.ends_with(" --file 'it'\\''s a file'")) << t.err;
  EXPECT_EQ(run(again.substr(std::string("reproduce: rnic-sim ").size())).err, t.err);
}

// The power of the server fails at every event of a run. The last line cuts the power in a real
// run, and confirms the result.
TEST_F(Cli, CrashFindsTheMethodThatLosesRecords) {
  const Told t =
      run("crash durable_log --set method=all --set count=40 --set link_delay_ns=1000 --seed 3 "
          "--jobs 2 "
          "--json j --junit x");
  EXPECT_EQ(t.status, 1) << t.err;
  // A heading and 20 rows: 5 methods, 2 domains, writes held back or not.
  EXPECT_EQ(lines_of(t.out), 21) << t.out;
  const Json all = json_of(file("j"));
  ASSERT_EQ(all.size(), 20u);
  for (const Json& one : all) {
    EXPECT_EQ(one["acknowledged"], 40);
    const bool is_held = one["pcie_posted_hold_ns"] != 0;
    if (!is_held) {
      EXPECT_GE(one["images"], 40);
    }
    const bool is_local = one["method"] == "write_only",
               is_last_left_out = one["method"] == "flush_without_last",
               loses = is_local || is_last_left_out;
    EXPECT_EQ(one["lost"] > 0, is_local || (is_last_left_out && is_held)) << one.dump();
    EXPECT_EQ(one.contains("lost_after"), !is_local);
    if (!is_held) {
      EXPECT_EQ(one.value("lost_after", 0) > 0, is_last_left_out) << one.dump();
    }
    EXPECT_EQ(one["points_with_loss"] > 0, loses) << one.dump();
    EXPECT_EQ(one["points_with_damage"], 0) << one.dump();
    EXPECT_EQ(one["status"], loses ? 1 : 0);
    EXPECT_EQ(one.value("least_appends", 0) != 0, loses);
  }
  EXPECT_NE(text_of(file("x")).find("tests=\"20\" failures=\"8\""), std::string::npos);
  EXPECT_NE(t.err.find("the tail pointer is lost"), std::string::npos) << t.err;
  const std::string again = last_line(t.err);
  ASSERT_TRUE(again.starts_with("reproduce: rnic-sim run durable_log ")) << t.err;
  const Told cut = run(again.substr(std::string("reproduce: rnic-sim ").size()));
  EXPECT_EQ(cut.status, 1) << cut.err;
  EXPECT_NE(cut.err.find("1 of 1 acknowledged records are lost"), std::string::npos) << cut.err;
  EXPECT_NE(cut.out.find("power of the server failed at "), std::string::npos) << cut.out;
}

TEST_F(Cli, CrashAtSoManyInstants) {
  for (const char* spread : {"random", "even"}) {
    const Told t = run(std::string("crash durable_log --set method=read --set count=200 --set "
                                   "instants=200 --json - --set spread=") +
                       spread);
    EXPECT_EQ(t.status, 0) << t.err;
    const Json j = Json::parse(t.out);
    EXPECT_LE(j["points"], 200);
    EXPECT_GE(j["points"], 195);
    EXPECT_GE(j["images"], 50) << j.dump();
  }
}

// Requests more instants than the run has picoseconds.
TEST_F(Cli, CrashSaysThatItTookFewerInstants) {
  const std::string crash = "crash durable_log --set method=read --set count=1 --set instants=";
  const Told few = run(crash + "20");
  EXPECT_EQ(few.status, 0) << few.err;
  EXPECT_EQ(few.out.find("instants"), std::string::npos) << few.out;
  const Told many = run(crash + "200000 --set spread=random --json j");
  EXPECT_EQ(many.status, 0) << many.err;
  const auto points = json_of(file("j"))["points"].get<uint64_t>();
  EXPECT_LT(points, 200'000u);
  EXPECT_NE(many.out.find("read under adr: " + std::to_string(points) +
                          " instants, not 200000: the others repeat one of these"),
            std::string::npos)
      << many.out;
}

// A run that does not end says so in the JSON as well, not that records are lost.
TEST_F(Cli, CrashWritesTheStatusOfARunThatFails) {
  const Told t =
      run("crash durable_log --set method=read --set count=1 --set time_limit_us=3 --json j");
  EXPECT_EQ(t.status, 3) << t.err;
  EXPECT_EQ(json_of(file("j"))["status"], 3);
}

TEST_F(Cli, CrashRefusesWhatItCannotDo) {
  for (const auto& [words, why] :
       {std::pair{"crash", "durable_log is the one with a recovery"},
        {"crash write_lat", "durable_log is the one with a recovery"},
        {"crash durable_log --set instants=0", "neither every nor a number"},
        {"crash durable_log --set spread=odd", "none of random, even"},
        {"crash durable_log --set power_fail_ns=5", "run cuts the power at one"},
        {"crash durable_log --set server.pmem_image=p", "keeps its images to itself"},
        {"crash durable_log --set method=hope",
         "method=hope: no such method; one of flush, flush_without_last, write_only, read, send; "
         "crash: all"},
        {"run durable_log --set method=hope",
         "one of flush, flush_without_last, write_only, read, send; crash: all"},
        {"crash durable_log --set server.domain=ddr", "is none of: eadr adr none"},
        {"run durable_log --set method=all",
         "crash alone takes it; one of flush, flush_without_last, write_only, read, send"},
        {"run write_lat --set instants=5", "write_lat does not use it"},
        {"regress --set power_fail_ns=5", "has no plan for it"}}) {
    const Told t = run(words);
    EXPECT_EQ(t.status, 2) << words << t.err;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_NE(t.err.find(why), std::string::npos) << words << ": " << t.err;
  }
  EXPECT_FALSE(fs::exists(file("p")));
}

// A run that measured nothing prints no table: a table of zeros would look like a result.
TEST_F(Cli, RunThatEndsBeforeItsWindowHasNoTable) {
  const Told t = run("run write_lat --set timeout_us=1 --set count=2");
  EXPECT_EQ(t.status, 3) << t.err;
  EXPECT_EQ(t.out, "write_lat: client model, server model, seed 1\nnothing was measured\n");
}

// One message takes 84 us on this wire.
TEST_F(Cli, TimeOutNamesItsSetting) {
  const std::string command =
      "run write_bw --set size=1048576 --set count=2 --set depth=1 --set warmup=0 --set "
      "timeout_us=";
  const Told t = run(command + "60");
  EXPECT_EQ(t.status, 3) << t.err;
  EXPECT_NE(
      t.err.find("without progress; if its messages take longer than that, --set timeout_us=N"),
      std::string::npos)
      << t.err;
  EXPECT_EQ(run(command + "2000").status, 0);
}

TEST_F(Cli, NoProgressIsStatusThree) {
  const Told t = run("run write_bw --set time_limit_us=30");
  EXPECT_EQ(t.status, 3) << t.err;
  EXPECT_NE(t.err.find("simulated time limit at 30"), std::string::npos) << t.err;
  EXPECT_NE(
      t.err.find(
          "\na run is ended after time_limit_us=30; if link or PCIe are that slow, --set more\n"),
      std::string::npos)
      << t.err;
  EXPECT_TRUE(last_line(t.err).starts_with("reproduce: rnic-sim run write_bw ")) << t.err;
}

TEST_F(Cli, SlowLinkOrPcieIsToldWhichSettingsEndIt) {
  const Told pcie =
      run("run write_lat --set pcie_latency_ns=1000000 --set watchdog_us=100 --set count=4");
  EXPECT_EQ(pcie.status, 3) << pcie.err;
  EXPECT_NE(pcie.err.find("if nothing moves for watchdog_us=100, or after time_limit_us=10000000"),
            std::string::npos)
      << pcie.err;
  const std::string slow =
      "run write_lat --set link_delay_ns=2000000 --set watchdog_us=100000 --set timeout_us=100000 "
      "--set count=2 --set warmup=0";
  const Told link = run(slow);
  EXPECT_NE(link.status, 0);
  EXPECT_NE(link.err.find("--set llp_timeout_us=N"), std::string::npos) << link.err;
  const Told waits = run(slow + " --set llp_timeout_us=100000");
  EXPECT_EQ(waits.status, 0) << waits.err;
}

TEST_F(Cli, RegressionThatFailsIsStatusOneAndItsLastLineRepeatsIt) {
  const Told t =
      run("regress --set ops=60 --set client.pcie_error_status=3 --set client.pcie_error_nth=160 "
          "--set shrink=3");
  EXPECT_EQ(t.status, 1) << t.err;
  const std::string again = last_line(t.err);
  ASSERT_TRUE(again.starts_with("reproduce: rnic-sim regress ")) << t.err;
  EXPECT_NE(
      run(again.substr(std::string("reproduce: rnic-sim ").size()) + " --set shrink=0").status,
      0);  // 1, or 3 if the smaller plan hangs
}

// The shell limits the address space to 8 GB.
TEST_F(Cli, MemoryThatTheMachineDoesNotGiveIsStatusFour) {
  const Told t = run("run write_lat --set arena_mib=65536", "ulimit -v 8000000; ");
  EXPECT_EQ(t.status, 4) << t.err;
  EXPECT_EQ(t.err,
            "rnic-sim: host memory of 65536 MiB (arena_mib): mmap: Cannot allocate memory\n");
}

// /dev/full accepts no byte: every kind of output reports the error. A lost standard error is none.
TEST_F(Cli, OutputThatCannotBeWrittenToItsEndIsStatusFour) {
  for (const auto& [arguments, says] :
       {std::pair{"run write_lat --set count=4 --json /dev/full",
                  "/dev/full: cannot be written to its end"},
        {"run write_lat --set count=4 --quiet --csv /dev/full",
         "/dev/full: cannot be written to its end"},
        {"run write_lat --set count=4 --junit /dev/full",
         "/dev/full: cannot be written to its end"},
        {"run write_lat --set count=4 --pcap /dev/full",
         "--pcap /dev/full: cannot be written to its end"},
        {"run write_lat --set count=4 --tlp /dev/full",
         "--tlp /dev/full: cannot be written to its end"},
        {"replay @captures/rping-client-crc.json --tlp /dev/full",
         "--tlp /dev/full: cannot be written to its end"},
        {"regress --set ops=20 --pcap /dev/full", "--pcap /dev/full: cannot be written to its end"},
        {"regress --set ops=20 --json /dev/full", "/dev/full: cannot be written to its end"},
        {"results logic tests --page /dev/full", "/dev/full: cannot be written to its end"},
        {"run write_lat --set count=4 >/dev/full",
         "the standard output cannot be written to its end"},
        {"run write_lat --set count=4 --json - >/dev/full",
         "the standard output cannot be written to its end"},
        {"list >/dev/full", ""}}) {
    const Told t = run(arguments);
    EXPECT_EQ(t.status, 4) << arguments << t.err;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_NE(t.err.find(says), std::string::npos) << arguments << t.err;
  }
  EXPECT_EQ(run("run write_lat --set count=4 2>/dev/full").status, 0);
  EXPECT_EQ(run("run nothing 2>/dev/full").status, 2);
}

// Uses a disk of 128 KiB, mounted for the command; skipped if mounting is not allowed.
TEST_F(Cli, WaveformOnAFullDiskIsStatusFourAndAFailureIsToldWithoutIt) {
  fs::create_directory(file("full"));
  if (std::system("unshare -rm mount -t tmpfs none /mnt 2>/dev/null") != 0)
    GTEST_SKIP() << "no file system can be mounted here";
  const auto on_full = [&](const std::string& arguments) {
    std::ofstream(file("do")) << "mount -t tmpfs -o size=128k none full && cd full && '" RNIC_SIM
                                 "' "
                              << arguments << "\n";
    return run("--version >/dev/null; unshare -rm sh do >.out 2>.err");
  };
  const Told wave = on_full("run write_lat --client rtl --set count=2 --wave w.fst");
  EXPECT_EQ(wave.status, 4) << wave.err;
  EXPECT_EQ(lines_of(wave.err), 1) << wave.err;
  EXPECT_NE(wave.err.find("--wave w.client.fst: the disk is full"), std::string::npos) << wave.err;
  const Told failure = on_full(
      "run write_bw --client rtl --set build=minimum --set size=4096 --set count=20 --set "
      "client.pcie_error_status=3 --set client.pcie_error_nth=60");
  EXPECT_EQ(failure.status, 1) << failure.err;
  EXPECT_NE(failure.err.find("waveform write_bw-seed1.client.fst: the disk is full"),
            std::string::npos)
      << failure.err;
  EXPECT_TRUE(last_line(failure.err).starts_with("reproduce: rnic-sim run write_bw "))
      << failure.err;
}

// A folder already has the name of the waveform.
TEST_F(Cli, FailureIsToldAlthoughItsWaveformCannotBeWritten) {
  fs::create_directory(file("write_bw-seed1.client.fst"));
  const Told t =
      run("run write_bw --client rtl --set build=minimum --set size=4096 --set count=20 --set "
          "client.pcie_error_status=3 --set client.pcie_error_nth=60");
  EXPECT_EQ(t.status, 1) << t.err;
  EXPECT_NE(t.err.find("waveform write_bw-seed1.client.fst: cannot be written (Is a directory)"),
            std::string::npos)
      << t.err;
  EXPECT_TRUE(last_line(t.err).starts_with("reproduce: rnic-sim run write_bw ")) << t.err;
}

// A failed run remains failed if its files cannot be written.
TEST_F(Cli, FailureIsToldAlthoughItsFilesCannotBeWritten) {
  const std::string failing =
      "run send_lat --set count=20 --set client.pcie_error_status=3 --set client.pcie_error_nth=60";
  const Told plain = run(failing), full = run(failing + " --json /dev/full --pcap /dev/full");
  EXPECT_EQ(plain.status, 1) << plain.err;
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_EQ(last_line(full.err), last_line(plain.err));
  EXPECT_EQ(lines_of(full.err), lines_of(plain.err) + 2) << full.err;
}

// --- concurrent runs, and interrupted runs

// A file is refused while another run writes it. The test starts that run first and ends it
// afterwards.
TEST_F(Cli, FileThatAnotherRunWritesIsRefused) {
  fs::create_symlink("p", file("link"));
  const std::string other =
      "cd '" + folder_.string() +
      "' && { timeout 200 '" RNIC_SIM
      "' run write_bw --server rtl --set build=minimum --set count=100000000 --pcap p --tlp t "
      "--json j "
      "--wave w.fst@0..9000000000 >other.out 2>&1 & other=$!; echo $other >other.pid; while [ ! -s "
      "p ] && kill -0 $other; do sleep 0.05; done; }";
  ASSERT_EQ(std::system(other.c_str()), 0);
  for (const auto& [arguments, says] :
       {std::pair{"run write_lat --set count=2 --pcap p", "--pcap p: "},
        {"run write_lat --set count=2 --pcap link", "--pcap link: "},
        {"run write_lat --set count=2 --csv ./t", "--csv ./t: "},
        {"regress --set ops=20 --json j", "--json j: "},
        {"run write_lat --set count=2 --server rtl --wave w.fst", "--wave w.server.fst: "},
        {"results logic tests --page j", "--page j: "}}) {
    const Told t = run(arguments);
    EXPECT_EQ(t.status, 4) << arguments << t.err;
    EXPECT_EQ(t.err, std::string("rnic-sim: ") + says + "is being written by another run\n");
    EXPECT_GT(fs::file_size(file("p")), 24u);
    EXPECT_FALSE(fs::exists(file("j")));
  }
  EXPECT_EQ(run("--version && kill $(cat other.pid)").status, 0)
      << "it has ended by itself: " << text_of(file("other.out"));
  Told later;
  for (int tries = 0; tries < 100 && later.status != 0; ++tries)
    later =
        run("run write_lat --set count=2 --pcap p --tlp t --json j --quiet; status=$?; sleep 0.1; "
            "exit $status");
  EXPECT_EQ(later.status, 0) << later.err;
}

// If a file cannot exist, no run writes it: runs that start at the same time all report that.
TEST_F(Cli, FileThatCannotBeIsNotHeldByAnotherRun) {
  fs::create_directory(file("a_folder"));
  for (const char* name : {"nowhere/x", "a_folder"}) {
    const std::string one = std::string("'" RNIC_SIM "' results --page $PWD/") + name + " 2>>told";
    ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && rm -f told; for i in $(seq 60); do " +
                           one + " & done; wait")
                              .c_str()),
              0);
    const std::string told = text_of(file("told"));
    EXPECT_EQ(lines_of(told), 60);
    EXPECT_EQ(told.find("another run"), std::string::npos) << told;
  }
}

// A results file is complete, or unchanged: on a disk of 8 KiB, if it can be mounted.
TEST_F(Cli, FileThatCannotBeReplacedStaysAsItWas) {
  fs::create_directory(file("full"));
  if (std::system("unshare -rm mount -t tmpfs none /mnt 2>/dev/null") != 0)
    GTEST_SKIP() << "no file system can be mounted here";
  std::ofstream(file("do"))
      << "mount -t tmpfs -o size=8k none full && cd full && printf earlier >j && '" RNIC_SIM
         "' run write_lat --set count=2 --quiet --json j; "
         "status=$?; cat j >../kept; ls -A >../names; exit $status\n";
  const Told t = run("--version >/dev/null; unshare -rm sh do >.out 2>.err");
  EXPECT_EQ(t.status, 4) << t.err;
  EXPECT_NE(t.err.find("j: cannot be written to its end"), std::string::npos) << t.err;
  EXPECT_EQ(text_of(file("kept")), "earlier");
  EXPECT_EQ(text_of(file("names")), "j\n");
}

TEST_F(Cli, FileThatIsReplacedKeepsItsLinkAndItsMode) {
  std::ofstream(file("j")) << "an earlier run's";
  fs::permissions(file("j"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("j", file("to_j"));
  ASSERT_EQ(run("run write_lat --set count=2 --quiet --json to_j").status, 0);
  EXPECT_TRUE(fs::is_symlink(file("to_j")));
  EXPECT_EQ(json_of(file("j"))["status"], 0);
  EXPECT_EQ(fs::status(file("j")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Cli, WaveformsOfAnEarlierFailureStay) {
  const std::string failing =
      "run write_bw --client rtl --set build=minimum --set size=4096 --set count=20 --set "
      "client.pcie_error_status=3 --set client.pcie_error_nth=";
  const Told first = run(failing + "60");
  EXPECT_NE(first.err.find("waveform: write_bw-seed1.client.fst from "), std::string::npos)
      << first.err;
  const std::string kept = text_of(file("write_bw-seed1.client.fst"));
  EXPECT_GT(kept.size(), 10'000u);
  const Told second = run(failing + "61");
  EXPECT_NE(second.err.find("waveform: write_bw-seed1-2.client.fst from "), std::string::npos)
      << second.err;
  EXPECT_GT(fs::file_size(file("write_bw-seed1-2.client.fst")), 10'000u);
  EXPECT_TRUE(text_of(file("write_bw-seed1.client.fst")) == kept);
}

/// For run(): sends SIGTERM once this file is not empty (a shell's background job may ignore
/// SIGINT).
std::string ended_when(const std::string& name) {
  return "us=$$; (while [ ! -s " + name +
         " ] && kill -0 $us; do sleep 0.05; done; kill -TERM $us) & exec ";
}

TEST_F(Cli, InterruptedRunsLeaveWhatHasEnded) {
  const Told t =
      run("compare write_lat write_bw --set count=60 --jobs 1 --pcap p --json j --csv c --junit x "
          "--quiet",
          ended_when("p.write_lat.model-rtl.pcap"));
  EXPECT_EQ(t.status, 128 + SIGTERM) << t.err;
  EXPECT_NE(t.err.find("interrupted after "), std::string::npos) << t.err;
  const Json j = json_of(file("j"));
  ASSERT_EQ(j.size(), 8u);
  for (size_t k = 0; k < 8; ++k) {
    const bool ended = !j[k].contains("incomplete");
    EXPECT_EQ(j[k]["status"], ended ? 0 : 128 + SIGTERM) << j[k];
    EXPECT_EQ(j[k].contains("gbps"), ended);
    EXPECT_TRUE(ended || k >= 2) << j[k];
  }
  EXPECT_EQ(j[7]["program"], "write_bw");
  EXPECT_EQ(j[7]["incomplete"], true);
  const std::string csv = text_of(file("c"));
  EXPECT_EQ(lines_of(csv), 9);
  EXPECT_EQ(last_line(csv), "write_bw,rtl,model,1,,,,,,,,,143,count=60");
  EXPECT_NE(text_of(file("x")).find("tests=\"8\""), std::string::npos);
  EXPECT_NE(text_of(file("x")).find("<failure message=\"interrupted before its end\">"),
            std::string::npos);
}

/// The end time of the waveforms in a file, which its writer fills in last. The header is a type, a
/// length, first and last time.
uint64_t end_of_wave(const fs::path& file) {
  const std::string bytes = text_of(file);
  uint64_t end = 0;
  for (size_t at = 17; at < 25 && bytes.size() >= 25; ++at)
    end = end << 8 | static_cast<uint8_t>(bytes[at]);
  return end;
}

// An unclosed waveform cannot be read, and leaves a second file beside it.
TEST_F(Cli, InterruptedRunClosesItsWaveforms) {
  const Told t =
      run("run write_bw --client tandem --server rtl --set build=minimum --set count=100000000 "
          "--wave w.fst",
          ended_when("w.server.fst.hier"));
  EXPECT_EQ(t.status, 128 + SIGTERM) << t.err;
  for (const char* name : {"w.client.fst", "w.server.fst"}) {
    EXPECT_GT(end_of_wave(file(name)), 0u) << name;
    EXPECT_FALSE(fs::exists(file(name + std::string(".hier"))));
  }
  const Told several =
      run("compare write_bw --set build=minimum --set count=1000000 --jobs 2 --wave v.fst",
          ended_when("v.write_bw.rtl-rtl.client.fst.hier"));
  EXPECT_EQ(several.status, 128 + SIGTERM) << several.err;
  EXPECT_GT(end_of_wave(file("v.write_bw.rtl-rtl.client.fst")), 0u);
  EXPECT_FALSE(fs::exists(file("v.write_bw.rtl-rtl.client.fst.hier")));
}

TEST_F(Cli, InterruptedRegressionLeavesWhatHasEnded) {
  const Told t = run("regress --set ops=1000000 --tlp t --json j --junit x --quiet --jobs 2",
                     ended_when("t.seed4.txt"));
  EXPECT_EQ(t.status, 128 + SIGTERM) << t.err;
  const Json j = json_of(file("j"));
  EXPECT_EQ(j["incomplete"], true);
  EXPECT_EQ(j["status"], 128 + SIGTERM);
  EXPECT_GE(j["plans"].size(), 2u);
  EXPECT_EQ(j["ops"], 250 * j["plans"].size());
  for (const Json& plan : j["plans"]) EXPECT_EQ(plan["status"], 0) << plan;
  EXPECT_EQ(t.err, "interrupted after " + std::to_string(j["ops"].get<int>()) +
                       " of 1000000 operations\n");
  EXPECT_NE(text_of(file("x")).find("failures=\"1\""), std::string::npos);
  EXPECT_NE(text_of(file("x")).find("<failure message=\"interrupted after "), std::string::npos);
}

TEST_F(Cli, RunThatDiedHasARowOfItsOwn) {
  const Told t = run("run write_bw --set count=100000000 --pcap p --json j --csv c --junit x",
                     // The shell execs rnic-sim, so $us is rnic-sim's process. The waiting subshell
                     // is detached, so the only child of $us is the run.
                     "us=$$; ( (while [ ! -s p ] && kill -0 $us; do sleep 0.05; done; kill -SEGV "
                     "$(cat /proc/$us/task/$us/children)) & ); exec ");
  EXPECT_EQ(t.status, 1) << t.err;
  EXPECT_NE(t.err.find("the run died of signal 11"), std::string::npos) << t.err;
  const Json j = json_of(file("j"));
  EXPECT_EQ(j["incomplete"], true);
  EXPECT_EQ(j["status"], 1);
  EXPECT_EQ(last_line(text_of(file("c"))), "write_bw,model,model,1,,,,,,,,,1,count=100000000");
}

// No run has finished: the results of an earlier run are not overwritten.
TEST_F(Cli, InterruptedRunAloneLeavesNoResult) {
  std::ofstream(file("j")) << "an earlier run's";
  const Told t = run("run write_bw --set count=100000000 --pcap p --json j", ended_when("p"));
  EXPECT_EQ(t.status, 128 + SIGTERM) << t.err;
  EXPECT_EQ(text_of(file("j")), "an earlier run's");
}

// --- the main use

TEST_F(Cli, CopyMovesTheFileOnAllPairingsAndInTandem) {
  std::ofstream(file("data")) << std::string(5000, 'x') << "the end";
  const Told t = run("copy --file data --set size=2048 --jobs 2 --pcap p --json j");
  EXPECT_EQ(t.status, 0) << t.err;
  EXPECT_NE(t.out.find("SHA-256 of the file and of every copy: "), std::string::npos) << t.out;
  for (const char* op : {"\nsend ", "\nwrite ", "\nread "}) {
    size_t rows = 0;
    for (size_t at = t.out.find(op); at != std::string::npos; at = t.out.find(op, at + 1)) ++rows;
    EXPECT_EQ(rows, 5u) << op << t.out;
  }
  for (const char* pairing :
       {"rtl-rtl", "model-model", "model-rtl", "rtl-model", "tandem-tandem"}) {
    EXPECT_NE(t.out.find(pairing), std::string::npos) << t.out;
    EXPECT_GT(fs::file_size(file(std::string("p.read.") + pairing + ".pcap")), 5000u);
  }
  EXPECT_NE(t.out.find("differences: 0"), std::string::npos) << t.out;
  EXPECT_EQ(json_of(file("j")).size(), 27u);
  // Progress in a pipe: one line for the plan, and one for each run.
  EXPECT_EQ(lines_of(t.err), 1 + 27) << t.err;
  EXPECT_NE(t.err.find("copy: 27 of 27, read_lat "), std::string::npos) << t.err;
}

TEST_F(Cli, CopyThatFailsIsStatusOne) {
  std::ofstream(file("data")) << std::string(5000, 'x');
  const Told t =
      run("copy --file data --set size=2048 --set build=minimum --set timeout_us=2000 --set "
          "client.pcie_error_status=3 --set client.pcie_error_nth=60 --wave none --jobs 2");
  EXPECT_EQ(t.status, 1) << t.err;
  EXPECT_NE(t.err.find(": FAILED, "), std::string::npos) << t.err;
  EXPECT_TRUE(last_line(t.err).starts_with("reproduce: rnic-sim run ")) << t.err;
}

// --- sim/run.sh, in a copy of the repository that cannot install or build

class RunScript : public Cli {
 protected:
  void make_tree(const std::string& name) {
    tree_ = name;
    for (const char* f : {"sim/run.sh", "tb/run.sh", "tb/support/setup.sh", "sim/app/rnic_sim.cpp",
                          "sim/app/settings/config.cpp", "sim/platform/config.cpp",
                          "host-driver/programs/programs.cpp", "model/gen/sizes.hpp"}) {
      const fs::path to = folder_ / name / f;
      fs::create_directories(to.parent_path());
      fs::copy_file(fs::path(RNIC_CAPTURES) / "../../.." / f, to);
    }
    std::ofstream(folder_ / name / "tb/support/setup.sh", std::ios::app)
        << "setup_packages() { echo installing; exit 99; }\n";
  }
  Told call(const std::string& words, const std::string& before = "") const {
    const std::string command = "cd '" + folder_.string() + "' && " + before + " bash '" + tree_ +
                                "'/" + words + " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / ".out"),
            text_of(folder_ / ".err")};
  }
  std::string tree_;
};

TEST_F(RunScript, RefusesBeforeItInstalls) {
  make_tree("tree");
  for (const auto& [words, says] :
       {std::pair{"''", "name of the file is empty"},
        {"missing", "missing: not a file that can be read"},
        {".", "not a file that can be read"},
        {"empty", "empty: is empty"},
        {"some good.json", "one FILE"},
        {"--quiet some", "one FILE"},
        {"some --file good.json", "--file"},
        {"some --pcap x", "copy.*.pcap"},
        {"some --sett mtu=9000", "no option --sett; there are: --set "},
        {"some --client rtl", "no option --client"},
        {"some '--.*'", "no option"},
        {"-q", "no option -q"},
        {"some --json", "--json wants a value"},
        {"some --json --quiet", "--json wants a value"},
        {"some --csv=", "--csv wants a value"},
        {"some --json nowhere/j", "--json nowhere/j: there is no folder nowhere"},
        {"some --junit=/nonexistent/x", "--junit /nonexistent/x: there is no folder /nonexistent"},
        {"some --wave nowhere/w.fst@1..2:qp", "there is no folder nowhere"},
        {"some --csv taken.seed3.txt", "--csv taken.seed3.txt: is a folder"},
        {"some --config missing.json", "--config missing.json: not a file that can be read"},
        {"some --config good.json --config=taken.seed3.txt",
         "--config taken.seed3.txt: not a file that can be read"},
        {"some --seed one", "--seed one: a whole number, or random, is wanted"},
        {"some --seed=-1", "--seed -1: a whole number"},
        {"some --jobs 0", "--jobs 0: a number from 1 to 256 is wanted"},
        {"some --jobs 257", "--jobs 257: a number from 1 to 256 is wanted"},
        {"some --jobs 1000000000000000000000", "a number from 1 to 256 is wanted"},
        {"some --jobs=two", "--jobs two: a number from 1 to 256 is wanted"},
        {"some --set mtu", "--set mtu: is not NAME=VALUE"},
        {"some --set =9000", "--set =9000: is not NAME=VALUE"},
        {"some --set mut=9000", "--set mut=9000: no setting mut;"},
        {"some --set client.siez=4", "no setting siez;"},
        {"some --set 'm.u=9000'", "no setting m.u;"},
        {"some --set client.=4", "no setting ;"},
        {"some --preset gen4", "no preset gen4; there are: gen4x16 "},
        {"some --quiet=1", "--quiet takes no value"},
        {"some --models", "--models: it stands before all others"},
        {"--models missing", "missing: not a file that can be read"},
        {"--models some --pcap x", "build-models/copy.*.pcap"}}) {
    const Told t = call(std::string("sim/run.sh ") + words);
    EXPECT_EQ(t.status, 2) << words << t.out;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_NE(t.err.find(says), std::string::npos) << t.err;
  }
}

TEST_F(RunScript, TakesWhatCopyTakes) {
  make_tree("tree");
  for (const char* words : {"", "--models", "--models some --quiet", "some",
                            "some --quiet --set mtu=9000 --set=size=4096 --json - --csv=c --seed 7 "
                            "--jobs 2 --wave none",
                            "--seed random --json=- --wave w.fst@1..2",
                            "--config good.json --preset gen3x16 --junit x --tlp t"}) {
    EXPECT_EQ(call(std::string("sim/run.sh ") + words).status, 99)
        << words << text_of(file(".err"));
  }
  EXPECT_EQ(call("sim/run.sh some --help").status, 0);
}

// sim/run.sh reads the names of settings from the sources, before anything is built. It must refuse
// no existing name. 99: setup_packages() of make_tree(), the script has accepted its arguments.
TEST_F(RunScript, KnowsEachSetting) {
  make_tree("tree");
  std::istringstream listed(run("list settings").out);
  std::string words;
  size_t names = 0;
  for (std::string line; std::getline(listed, line);) {
    if (!line.starts_with("  ")) continue;
    words += " --set server." + line.substr(2, line.find(' ', 2) - 2) + "=1";
    ++names;
  }
  EXPECT_GT(names, 80u);
  EXPECT_EQ(call("sim/run.sh some" + words).status, 99) << text_of(file(".err"));
}

// The scripts of rtl/, in the repository.
TEST_F(Cli, ScriptsOfTheRtlSayWhatTheyTake) {
  const auto call = [&](const std::string& words) {
    const int status = std::system(("cd '" + folder_.string() +
                                    "' && timeout 20 sh '" RNIC_CAPTURES "'/../../../rtl/" + words +
                                    " >.out 2>.err </dev/null")
                                       .c_str());
    return Told{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(file(".out")),
                text_of(file(".err"))};
  };
  for (const auto& [script, first, last] :
       {std::tuple{"lint/lint.sh", "lint.sh [--quick] [path...]: ", "all is clean."},
        {"lint/depth.sh", "depth.sh [--top MODULE]...   ", "into the table with --update."},
        {"formal/prove.sh",
         "prove.sh [cell...]: ", "Logs stay in RNIC_PROVE_DIR when that is set."}}) {
    for (const char* option : {" --help", " -h"}) {
      const Told t = call(script + std::string(option));
      EXPECT_EQ(t.status, 0) << t.err;
      EXPECT_TRUE(t.out.starts_with(first)) << t.out;
      EXPECT_TRUE(last_line(t.out).ends_with(last)) << t.out;
    }
  }
  for (const char* words :
       {"lint/depth.sh --top", "lint/depth.sh --top --help", "lint/depth.sh --tpo rnic",
        "lint/lint.sh --fast", "formal/prove.sh --all"}) {
    const Told t = call(words);
    EXPECT_EQ(t.status, 2) << words;
    EXPECT_EQ(t.out, "");
    EXPECT_TRUE(t.err.starts_with("usage: ") && lines_of(t.err) == 1) << t.err;
  }
}

TEST_F(RunScript, InterruptedBuildHasTheStatusThatTheHelpSays) {
  make_tree("tree");
  fs::create_directory(file("tree/build-release"));
  std::ofstream(file("tree/build-release/build.ninja")) << "";
  std::ofstream(file("tree/tb/support/setup.sh"), std::ios::app) << "setup_packages() { :; }\n";
  fs::create_directory(file("bin"));
  std::ofstream(file("bin/ninja")) << "#!/bin/sh\necho builds >&3\nexec sleep 60\n";
  fs::permissions(file("bin/ninja"), fs::perms::owner_all);
  for (const char* script : {"sim/run.sh", "tb/run.sh build"}) {
    for (const auto& [signal, status] : {std::pair{"INT", 128 + SIGINT}, {"TERM", 128 + SIGTERM}}) {
      const std::string before =
          std::string(
              "exec 3>started; us=$$; (while [ ! -s started ]; do sleep 0.05; done; kill -") +
          signal + " $us) & exec env PATH=\"$PWD/bin:$PATH\"";
      const Told t = call(script, before);
      EXPECT_EQ(t.status, status) << script << t.err;
    }
    const Told help = call(std::string(script) + " --help");
    EXPECT_NE(help.out.find("130, 143"), std::string::npos) << help.out;
  }
}

TEST_F(RunScript, PathWithASpaceIsSaidAtOnce) {
  make_tree("a tree");
  for (const char* script : {"sim/run.sh", "tb/run.sh"}) {
    const Told t = call(script);
    EXPECT_EQ(t.status, 4) << t.err;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_NE(t.err.find("no path with a space"), std::string::npos) << t.err;
  }
}

// The test may run as root, whom file modes do not stop from writing. So it makes a path unusable
// by a file where a folder must be, or the reverse.
TEST_F(RunScript, BuildFolderThatCannotBeWrittenIsSaidAtOnce) {
  make_tree("tree");
  for (const char* taken : {"tree/build-release/run.lock", "tree/build-release"}) {
    fs::remove_all(file("tree/build-release"));
    if (taken == std::string("tree/build-release")) {
      std::ofstream(file(taken)) << "a file";
    } else {
      fs::create_directories(file(taken));
    }
    const Told t = call("sim/run.sh");
    EXPECT_EQ(t.status, 4) << t.err;
    EXPECT_EQ(lines_of(t.err), 1) << t.err;
    EXPECT_NE(t.err.find("/tree/build-release cannot be written"), std::string::npos) << t.err;
  }
}

TEST_F(RunScript, OnlyOneRunIsUnderWay) {
  make_tree("tree");
  fs::create_directory(file("tree/build-release"));
  const Told t = call("sim/run.sh", "flock tree/build-release/run.lock");
  EXPECT_EQ(t.status, 4) << t.err;
  EXPECT_EQ(lines_of(t.err), 1) << t.err;
  EXPECT_NE(t.err.find("another run is under way in "), std::string::npos) << t.err;
  EXPECT_EQ(call("sim/run.sh").status, 99);
}

}  // namespace
}  // namespace rnic::app
