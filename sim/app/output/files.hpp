// Files that a command writes: checked before a long run, written whole or not at all.
//
//   Files f;   f.written.push_back({"--json", "out.json"});   f.check();
//   check_writable("--json", "out.json");   ... the run ...   write_file("out.json", text);
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rnic::app {

/// The files that options name.
struct Files {
  struct Named {
    std::string option, path;
  };
  std::vector<Named> read, written;
  /// Throws Usage if a written file is also read, or is written for another option.
  void check() const;
};
/// Checks a file before a long run. Throws Usage, naming the option, if it cannot be written.
/// Throws Missing while another run writes it; else locks its name for this run. Leaves an existing
/// file unchanged, and creates none.
void check_writable(const std::string& option, const std::string& path);
/// Throws Missing, naming the option, if the disk has no room for a waveform (1 MiB). The library
/// that writes waveforms does not check.
void check_room(const std::string& option, const std::string& path);
/// Writes a whole file, or throws Missing and leaves the old file unchanged. Errors of the standard
/// output are checked when the program ends.
void write_file(const std::string& path, const std::string& text);
/// Calls `write`. If the run has failed already (`status` is not 0), returns the message of a
/// Missing as a line instead of throwing it.
std::string write_files(int status, const std::function<void()>& write);

}  // namespace rnic::app
