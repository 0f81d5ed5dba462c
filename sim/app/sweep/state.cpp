// The finished points of a sweep in a file. See state.hpp.
#include "sweep/state.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "output/files.hpp"
#include "settings/errors.hpp"

namespace rnic::app::sweep {

using nlohmann::ordered_json;

State::State(std::string path, const ordered_json& definition) : path_(std::move(path)) {
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    throw Usage(fmt::format("--state {}: not a regular file", path_));
  check_writable("--state", path_);
  // The first line is the definition; then a line for each point.
  const std::string head = definition.dump() + "\n";
  std::string text;
  if (std::ifstream in(path_, std::ios::binary); in)
    text.assign(std::istreambuf_iterator<char>(in), {});
  const bool is_fresh = head.starts_with(text);  // empty, or cut short by a crash
  if (!is_fresh && !text.starts_with(head))
    throw Usage(
        fmt::format("--state {}: not of this sweep and this build of rnic-sim; remove the file, or "
                    "name another one",
                    path_));
  size_t whole = head.size();  // bytes of whole lines
  for (size_t end; !is_fresh && (end = text.find('\n', whole)) != std::string::npos;
       whole = end + 1)
    lines_.push_back(text.substr(whole, end - whole));
  if (!is_fresh) std::filesystem::resize_file(path_, whole);
  file_.reset(std::fopen(path_.c_str(), is_fresh ? "w" : "a"));
  if (!file_) throw Missing(fmt::format("{}: cannot be written ({})", path_, std::strerror(errno)));
  if (is_fresh) std::fputs(head.c_str(), file_.get());
  std::fflush(file_.get());
}

void State::each(const std::function<void(uint64_t, Outcome)>& take) const {
  for (const std::string& line : lines_) {
    try {
      const ordered_json j = ordered_json::parse(line);
      Outcome o;
      o.status = static_cast<ExitStatus>(j.at("status").get<int>());
      o.failure = j.at("failure");
      o.json = j.at("run");
      take(j.at("point").get<uint64_t>(), std::move(o));
    } catch (const nlohmann::json::exception& e) {
      throw Usage(fmt::format("--state {}: not written by sweep ({})", path_, e.what()));
    }
  }
}

void State::add(uint64_t point, const Outcome& outcome) {
  const std::string line = ordered_json{{"point", point},
                                        {"status", static_cast<int>(outcome.status)},
                                        {"failure", outcome.failure},
                                        {"run", outcome.json}}
                               .dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
                           "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0)
    throw Missing(fmt::format("{}: cannot be written to its end (is the disk full?)", path_));
}

void State::remove() {
  file_.reset();
  std::error_code none;
  std::filesystem::remove(path_, none);
}

}  // namespace rnic::app::sweep
