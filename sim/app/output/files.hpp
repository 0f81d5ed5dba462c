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

}  // namespace rnic::app
