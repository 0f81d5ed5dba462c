// JSON that a user wrote: what is wrong in it is said with its line and column, and in our words. An object that has a key twice
// is wrong too: one of the two would not count.
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
  std::vector<size_t> lines;                // where each element of the list begins, counted from 1
  std::map<std::string, size_t> key_lines;  // of each key of the outermost object
};
/// With the lines of one of the lists that the outermost object has. Throws Usage with the place where the text is not JSON, and why;
/// `wanted` is added. Also of a key that stands twice.
JsonList read_json_list(const std::string& path, const std::string& list,
                        const std::string& wanted = "");

}  // namespace rnic::app
