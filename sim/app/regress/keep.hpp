// The settings that select a part of a plan: --set keep=3,17-20 and --set simple=mtu,push.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rnic::app::regress {

/// The value of the setting keep for these numbers: "3,17-20"; "none" for an empty set.
std::string text_of_keep(const std::set<uint32_t>& numbers);
/// Parses the value of the setting keep. Throws Usage.
std::set<uint32_t> numbers_of_keep(const std::string& keep);
/// The words of a comma-separated list.
std::vector<std::string> words_of(const std::string& list);
/// Parses a whole number from `low` to `high`. Throws Usage, naming the setting.
uint64_t whole_number(const std::string& setting, const std::string& text, uint64_t low,
                      uint64_t high);

}  // namespace rnic::app::regress
