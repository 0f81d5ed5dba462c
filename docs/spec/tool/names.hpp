// What a name in the description may be, and a set of names that refuses a second use.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "spec.hpp"

namespace specgen {

/// Refuses what is not snake_case or is a reserved word of SystemVerilog or C++.
void check_word(const std::string& name, const Place& at);

class Names {  // one namespace: what was declared where
 public:
  void add(const std::string& name, const Place& at, const std::string& what) {
    auto [it, fresh] = seen_.try_emplace(name, at);
    if (!fresh)
      throw SpecError(at, fmt::format("duplicate name '{}' ({}), first at {}:{}", name, what,
                                      it->second.file, it->second.line));
  }

 private:
  std::map<std::string, Place> seen_;
};

}  // namespace specgen
