// Formats results: perftest's columns for one run, one table for many.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace rnic::app {

/// Header and line of one run.
std::string text_of(const nlohmann::ordered_json& run);
/// For a run with `streams`: where its RTL devices spent time.
std::string stages_of(const nlohmann::ordered_json& run);
/// The counts of devices in tandem (tandem_json), a line per side.
std::string tandem_text(const nlohmann::ordered_json& tandem);
/// Columns padded to their widest cell, the first left, the others right.
std::string table(const std::vector<std::vector<std::string>>& rows);
/// The content of a run's `latency_ns`: minimum, median, 99th percentile, maximum and mean; null
/// without a sample. `has_cdf`: and "cdf", the 101 quantiles from 0 to 100 %.
nlohmann::ordered_json latency_json(std::vector<uint64_t> samples_ps, bool has_cdf = false);
/// The median latency in ns; 0 without a sample.
double median_latency(const nlohmann::ordered_json& run);
/// A case of --junit: one per run.
struct TestCase {
  std::string name;
  double seconds = 0;
  std::string failure;  // empty: passed
};
/// The cases as JUnit's XML, in one test suite of this name.
std::string junit(const std::string& suite, const std::vector<TestCase>& cases);
/// A line per run. The columns have the names of the run's JSON. A cell is empty if the run lacks
/// the value or has not measured it. The column of settings holds name=value, separated by blanks.
std::string csv(const std::vector<nlohmann::ordered_json>& runs);

}  // namespace rnic::app
