// How results are shown: perftest's columns for a run, one table for many.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rnic::app {

/// Header and line of one run.
std::string text_of(const nlohmann::ordered_json& run);
/// Of a run with `streams`: where the time of its RTL devices went.
std::string stages_of(const nlohmann::ordered_json& run);
/// What devices in tandem have followed and compared (tandem_json), a line a side.
std::string tandem_text(const nlohmann::ordered_json& tandem);
/// Columns padded to their widest cell, the first left, the others right.
std::string table(const std::vector<std::vector<std::string>>& rows);
/// What a run's `latency_ns` holds: the least, the middle, that below which 99 of 100 are, the largest, the mean; null without a sample.
nlohmann::ordered_json latency_json(std::vector<uint64_t> samples_ps);
/// The middle of the distribution, in ns; 0 if there is none.
double median_latency(const nlohmann::ordered_json& run);
/// The files that options name.
struct Files {
  struct Named {
    std::string option, path;
  };
  std::vector<Named> read, written;
  /// Throws Usage if one that is written is also read, or written for another option.
  void check() const;
};
/// Throws Usage, naming the option, if a file cannot be written, and Missing while another run writes it (its name is then this run's);
/// leaves what is there, and nothing where nothing was. Before a long run, not after it.
void check_writable(const std::string& option, const std::string& path);
/// Throws Missing, naming the option, if there is no room for a waveform: the library that writes one does not look.
void check_room(const std::string& option, const std::string& path);
/// Writes a whole file, or throws Missing and leaves what was there. What goes to the standard output is looked at when the program ends.
void write_file(const std::string& path, const std::string& text);
/// Calls `write`. Of a run that has failed already, the Missing that it throws is no more than a line to say.
std::string write_files(int status, const std::function<void()>& write);
/// What --junit holds: a case for each run.
struct TestCase {
  std::string name;
  double seconds = 0;
  std::string failure;  // empty: passed
};
std::string junit(const std::string& suite, const std::vector<TestCase>& cases);
/// A line for each run; the columns are named as in its JSON, and what a run has not, or has not measured, is left empty. Its
/// settings are in one column, name=value with blanks between.
std::string csv(const std::vector<nlohmann::ordered_json>& runs);

}  // namespace rnic::app
