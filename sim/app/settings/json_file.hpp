// JSON that a user wrote. Errors are reported with line and column, and in our words. A key that
// occurs twice in an object is an error, since one of the two would be ignored.
//
//   const JsonList l = read_json_list("rping.json", "units", "; replay wants a listing");
//   l.json["units"][3] begins in l.lines[3], the list itself in l.key_lines["units"]
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rnic::app {

struct JsonList {
  nlohmann::json json;
  std::vector<size_t> lines;                // the line of each list element, counted from 1
  std::map<std::string, size_t> key_lines;  // of each key of the outermost object
};
/// Reads the file and records the lines of `list`, a list in the outermost object. Throws Usage
/// with place and reason if the text is not JSON, or if a key occurs twice; `wanted` is appended to
/// the message.
JsonList read_json_list(const std::string& path, const std::string& list,
                        const std::string& wanted = "");

}  // namespace rnic::app
