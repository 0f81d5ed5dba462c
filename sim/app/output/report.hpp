// How results are shown: perftest's columns for a run, one table for many.
#pragma once

#include <cstdint>
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
