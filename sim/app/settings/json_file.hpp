// JSON that a user wrote. Errors are reported with line and column, and in our words. A key that
// occurs twice in an object is an error, since one of the two would be ignored.
//
//   const JsonLines l = read_json("rping.json", "; replay wants a listing");
//   l.json["units"][3] begins in l.element_lines["units"][3], its key in l.key_lines["units"]
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rnic::app {

struct JsonLines {
  nlohmann::json json;
  // Line numbers, counted from 1, by key of the outermost object: the line of the key, and of each
  // element if its value is a list.
  std::map<std::string, size_t> key_lines;
  std::map<std::string, std::vector<size_t>> element_lines;
};
/// Throws Usage with place and reason if the text is not JSON, or if a key occurs twice; `wanted`
/// is appended to the message.
JsonLines read_json(const std::string& path, const std::string& wanted = "");

}  // namespace rnic::app
